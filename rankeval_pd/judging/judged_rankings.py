"""Evaluate partly judged rankings chunk by chunk, using sums over lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankeval_pd.forms.rankings.answers import RankingQuestion, answer
from rankeval_pd.forms.rankings.values import Sizes
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.judging.samples import (
    Sample,
    counts_of,
    quietly,
)
from rankeval_pd.nbest.grouped_lists import warn_of_few
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import judged_sums
from rankeval_pd.stats.rankings.judged_clusters import JudgedClusters
from rankeval_pd.stats.rankings.judged_sums import Design
from rankeval_pd.stats.rankings.ranking import Ranking

# ------------------ Samples from lazy, partly judged rankings are read chunk by chunk


def ask_sample(
    sample: Sample,
    question: RankingQuestion,
    columns: tuple[str, ...],
    able: Capabilities,
    n: Sizes = None,
    noted: dict[str, Any] | None = None,
) -> Any:
    """Apply ``question`` to a sample, and add ``noted`` to ``attrs``."""
    attrs = {} if noted is None else noted  # ``question`` can add entries
    attrs.update(sample.asked.attrs)
    return quietly(
        sample.gold,
        lambda: answer(sample.data, sample.roles, question, columns, able, n=n, attrs=attrs),
    )


# -------------------------------------------------------------------------------------------------
# Kernels that sum over the judged candidates of a list, of two regions, or of a ranking.

_TOGETHER = 20_000  # number of lists between progress bar updates


def list_columns(
    ranking: Ranking,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    cluster: IntArray | None = None,
    *,
    design: Design,
    n: IntArray,
    every: bool,
    ties: str,
    recall: bool,
    advance: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    """Return the columns (..., n) for lists, and a mask of existing lists."""
    lists = ranking.nbest(None if every else n, ties)
    shape = np.broadcast_shapes(ranking.score.shape, judged.shape, stratum.shape)
    of_ranking = ranking.ranks, ranking.eligible, ranking.present
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape) for x in (judged, ranking.gold, probability, stratum, *of_ranking)
    ]
    inside, whole = [], []
    for row in np.ndindex(shape[:-1]):
        *of_each, ranks, in_list, here = (x[row] for x in arrays)
        parts = design.parts(*of_each)
        inside.append(judged_sums.up_to(parts, ranks, in_list, n))
        whole.append(parts[here].sum(axis=0))
    sums = np.reshape(inside, (*shape[:-1], n.size, _width(design, arrays[:4])))
    every_one = np.reshape(whole, (*shape[:-1], 1, sums.shape[-1]))
    found = _in_blocks(design, sums, advance)
    size, seen, tp = counts_of(sums)
    beside = size - seen, np.broadcast_to(lists.exists, seen.shape)
    tied = np.broadcast_to(lists.tied, seen.shape)
    sure = design._replace(unjudged="bounds")
    if recall:
        rest = design.total(every_one - sums)
        share = judged_sums.share_of(found, rest)
        bounds = judged_sums.share_bounds(sure.total(sums), sure.total(every_one - sums))
        if design.unjudged == "bounds":
            share = judged_sums.Total(share.estimate, *bounds)
        part_of = found.estimate + rest.estimate
    else:
        share, part_of = found / n, np.broadcast_to(n.astype(float), seen.shape)
        bounds = (sure.total(sums) / n)[1:]
    if cluster is None or design.unjudged == "bounds":
        return (seen, tp, *share, tied, *beside)
    for row in np.ndindex(shape[:-1]):
        *of_each, ranks, in_list, here = (x[row] for x in arrays)
        part = JudgedClusters.of(of_each, np.broadcast_to(cluster, shape)[row], here, design)
        warn_of_few(part.everyone)
        given = n, share.estimate[row], part_of[row]
        limits = part.list_limits(ranks, in_list, *given, recall=recall)
        for own, limit in zip(share[1:], limits, strict=True):
            own[row] = np.clip(limit, *(end[row] for end in bounds))
    return (seen, tp, *share, tied, *beside)


def _in_blocks(
    design: Design, sums: FloatArray, advance: Callable[[int], object]
) -> judged_sums.Total:
    """Estimate the true positives in each list, one block of list sizes at a time."""
    found = []
    for start in range(0, max(sums.shape[-2], 1), _TOGETHER):
        block = sums[..., start : start + _TOGETHER, :]
        found.append(design.total(block))
        advance(block[..., 0].size)
    return judged_sums.Total(*(np.concatenate(x, axis=-1) for x in zip(*found, strict=True)))


def _width(design: Any, of_each: Sequence[AnyArray]) -> int:
    """Return the number of sums that a design computes, even for empty data."""
    return int(design.parts(*(np.zeros(0, dtype=x.dtype) for x in of_each)).shape[-1])


def region_columns(
    score: FloatArray,
    true: BoolArray,
    present: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    cluster: IntArray | None = None,
    *,
    design: Design,
    n: IntArray,
    every: bool,
    ties: str,
    ends: bool,
    advance: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    """Return the columns (..., pair, n) for difference regions, and a row mask."""
    both: BoolArray = np.asarray(present.all(axis=-2))
    exists = n <= both.sum(axis=-1)[..., np.newaxis]
    pair = [Ranking.of(score[..., side, :], true, both, ends=ends) for side in (0, 1)]
    if ties != "shared":
        for side in pair:
            exists = exists & side.nbest(None if every else n, ties).exists
    shape = np.broadcast_shapes(pair[0].score.shape, judged.shape, stratum.shape)
    of_pair = *(side.ranks for side in pair), *(side.eligible for side in pair)
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape) for x in (judged, true, probability, stratum, *of_pair)
    ]
    regions = []
    for row in np.ndindex(shape[:-1]):
        *of_each, rank_a, rank_b, in_a, in_b = (x[row] for x in arrays)
        parts = design.parts(*of_each)
        shared = judged_sums.shared_up_to(parts, (rank_a, rank_b), in_a & in_b, n)
        of_a, of_b = (
            judged_sums.up_to(parts, rank, there, n) - shared
            for rank, there in ((rank_a, in_a), (rank_b, in_b))
        )
        regions.append([of_a, of_b, shared])
    sums = np.reshape(regions, (*shape[:-1], 3, 1, n.size, _width(design, arrays[:4])))
    of_a, of_b, shared = (sums[..., k, :, :, :] for k in range(3))
    a, b = (_in_blocks(design, region, advance) for region in (of_a, of_b))
    sure: list[judged_sums.Total] = []
    if cluster is not None and design.unjudged == "estimate":
        sure = [design._replace(unjudged="bounds").total(region) for region in (of_a, of_b)]
        size = [np.maximum(region[..., 0], 1.0) for region in (of_a, of_b)]
        for row in np.ndindex(shape[:-1]):
            *of_each, rank_a, rank_b, in_a, in_b = (x[row] for x in arrays)
            part = JudgedClusters.of(
                of_each, np.broadcast_to(cluster, shape)[row], both[row], design
            )
            warn_of_few(part.everyone)
            at = (*row, 0)
            shares = a.estimate[at] / size[0][at], b.estimate[at] / size[1][at]
            limits = part.region_limits((rank_a, rank_b), (in_a, in_b), n, shares)
            for total, many, bounds, ends_at in zip((a, b), size, sure, limits, strict=True):
                for own, limit in zip(total[1:], ends_at, strict=True):
                    # clip only the difference limits to the possible range
                    known = bounds.low[at] == bounds.high[at]
                    own[at] = np.where(known, bounds.low[at], limit * many[at])
    found = judged_sums.difference(a, b)
    if design.unjudged == "bounds":
        found = judged_sums.Total(found.estimate, a.low - b.high, a.high - b.low)
    elif sure:
        least, most = sure[0].low - sure[1].high, sure[0].high - sure[1].low
        low, high = (np.clip(x, least, most) for x in found[1:])
        found = judged_sums.Total(found.estimate, low, high)
    only = n - counts_of(shared)[0]
    (size_a, seen_a, tp_a), (size_b, seen_b, tp_b) = counts_of(of_a), counts_of(of_b)
    seen = seen_a + seen_b
    cut_a, cut_b = (side.cuts_tie(n) for side in pair)
    rows = (x[..., np.newaxis, :] for x in (cut_a | cut_b, exists))
    cuts_tie, there = (np.broadcast_to(x, only.shape) for x in rows)
    return (
        only,
        seen_a,
        seen_b,
        tp_a,
        tp_b,
        *found / n,
        cuts_tie,
        seen,
        size_a + size_b - seen,
        there,
    )


def average_columns(
    ranking: Ranking,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    cluster: IntArray | None = None,
    *,
    design: Design,
) -> tuple[AnyArray, ...]:
    """Return the columns (...) for average precision."""
    shape = np.broadcast_shapes(ranking.score.shape, judged.shape, stratum.shape)
    of_ranking = ranking.order, ranking.present, ranking.score, ranking.gold
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape) for x in (*of_ranking, judged, probability, stratum)
    ]
    result = np.empty((6, *shape[:-1]))
    for row in np.ndindex(shape[:-1]):
        order, here, *of_each = (x[row] for x in arrays)
        order = order[: int(here.sum())]
        own, hit, seen, rate, part = (x[order] for x in of_each)
        together = None
        if cluster is not None:
            together = np.broadcast_to(cluster, shape)[row][order]
            warn_of_few(np.unique(together[seen]).size)
        found = judged_sums.average_precision(own, hit, seen, rate, part, design, together)
        # clip limits to possible values
        if together is not None and design.unjudged != "bounds":
            sure = design._replace(unjudged="bounds")
            value, *limits = found
            _, least, most = judged_sums.average_precision(own, hit, seen, rate, part, sure, None)
            least, most = np.fmin(least, value), np.fmax(most, value)
            low, high = (float(np.clip(x, least, most)) for x in limits)
            found = value, low, high
        counts = seen.sum(), (seen & hit).sum()
        result[(slice(None), *row)] = (*counts, *found, order.size - counts[0])
    return (*result[:2].astype(np.int64), *result[2:5], result[5].astype(np.int64))
