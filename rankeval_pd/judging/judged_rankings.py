"""Estimate results for partly judged rankings, using sums over lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankeval_pd.judging.samples import Judgments, counts_of
from rankeval_pd.nbest.grouped_lists import warn_of_few
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import judged_sums
from rankeval_pd.stats.rankings.judged_clusters import JudgedClusters
from rankeval_pd.stats.rankings.judged_sums import Design, Total
from rankeval_pd.stats.rankings.ranking import Ranking

_TOGETHER = 20_000  # number of lists between progress bar updates


def _rows_of_sample(
    judgments: Judgments, ranking: Ranking, *others: AnyArray
) -> tuple[AnyArray, ...]:
    """Return judged flags, labels, probabilities, strata and other arrays in one shape."""
    known = judgments.judged, ranking.gold, judgments.probability, judgments.stratum
    shape = np.broadcast_shapes(ranking.score.shape, *(x.shape for x in known))
    return tuple(np.broadcast_to(x, shape) for x in (*known, *others))


def list_columns(
    ranking: Ranking,
    judgments: Judgments,
    *,
    design: Design,
    n: IntArray,
    every: bool,
    ties: str,
    recall: bool,
    advance: Callable[[int], object],
) -> dict[str, AnyArray]:
    """Return the columns (..., n) for the precision or recall of lists."""
    lists = ranking.nbest(None if every else n, ties)
    arrays = _rows_of_sample(judgments, ranking, ranking.ranks, ranking.eligible, ranking.present)
    rows = arrays[0].shape[:-1]
    inside, whole = [], []
    for row in np.ndindex(rows):
        *sample, ranks, in_list, here = (x[row] for x in arrays)
        parts = design.parts(*sample)
        inside.append(judged_sums.up_to(parts, ranks, in_list, n))
        whole.append(parts[here].sum(axis=0))
    sums = np.reshape(inside, (*rows, n.size, _width(design, arrays[:4])))
    every_one = np.reshape(whole, (*rows, 1, sums.shape[-1]))
    positives = _in_blocks(design, sums, advance)
    size, judged, tp = counts_of(sums)
    sure = design._replace(unjudged="bounds")
    if recall:
        rest = design.total(every_one - sums)
        share = judged_sums.share_of(positives, rest)
        bounds = judged_sums.share_bounds(sure.total(sums), sure.total(every_one - sums))
        if design.unjudged == "bounds":
            share = Total(share.estimate, *bounds)
        part_of = positives.estimate + rest.estimate
    else:
        share, part_of = positives / n, np.broadcast_to(n.astype(float), judged.shape)
        bounds = (sure.total(sums) / n)[1:]
    if judgments.cluster is not None and design.unjudged != "bounds":
        cluster = np.broadcast_to(judgments.cluster, arrays[0].shape)
        for row in np.ndindex(rows):
            *sample, ranks, in_list, here = (x[row] for x in arrays)
            part = JudgedClusters.of(sample, cluster[row], here, design)
            warn_of_few(part.everyone)
            limits = part.list_limits(
                ranks, in_list, n, share.estimate[row], part_of[row], recall=recall
            )
            for own, limit in zip(share[1:], limits, strict=True):
                own[row] = np.clip(limit, *(end[row] for end in bounds))
    return {
        "n_judged": judged,
        "tp_judged": tp,
        "estimate": share.estimate,
        "ci_low": share.low,
        "ci_high": share.high,
        "tied": np.broadcast_to(lists.tied, judged.shape),
        "n_unjudged": size - judged,
        "exists": np.broadcast_to(lists.exists, judged.shape),
    }


def _in_blocks(design: Design, sums: FloatArray, advance: Callable[[int], object]) -> Total:
    """Estimate the true positives in each list, one block of list sizes at a time."""
    parts = []
    for start in range(0, max(sums.shape[-2], 1), _TOGETHER):
        block = sums[..., start : start + _TOGETHER, :]
        parts.append(design.total(block))
        advance(block[..., 0].size)
    return Total(*(np.concatenate(x, axis=-1) for x in zip(*parts, strict=True)))


def _width(design: Design, sample: Sequence[AnyArray]) -> int:
    """Return the number of sums that a design computes, even for empty data."""
    return int(design.parts(*(np.zeros(0, dtype=x.dtype) for x in sample)).shape[-1])


def region_columns(
    of_a: Ranking,
    of_b: Ranking,
    judgments: Judgments,
    *,
    design: Design,
    n: IntArray,
    every: bool,
    ties: str,
    advance: Callable[[int], object],
) -> dict[str, AnyArray]:
    """Return the columns (..., n) for the difference regions of two rankings."""
    exists = n <= of_a.here[..., np.newaxis]
    if ties != "shared":
        for side in (of_a, of_b):
            exists = exists & side.nbest(None if every else n, ties).exists
    arrays = _rows_of_sample(
        judgments, of_a, of_a.ranks, of_b.ranks, of_a.eligible, of_b.eligible, of_a.present
    )
    rows = arrays[0].shape[:-1]
    regions = []
    for row in np.ndindex(rows):
        *sample, rank_a, rank_b, in_a, in_b, _ = (x[row] for x in arrays)
        parts = design.parts(*sample)
        shared = judged_sums.shared_up_to(parts, (rank_a, rank_b), in_a & in_b, n)
        only_a = judged_sums.up_to(parts, rank_a, in_a, n) - shared
        only_b = judged_sums.up_to(parts, rank_b, in_b, n) - shared
        regions.append([only_a, only_b, shared])
    sums = np.reshape(regions, (*rows, 3, n.size, _width(design, arrays[:4])))
    only_a, only_b, shared = (sums[..., k, :, :] for k in range(3))
    a, b = (_in_blocks(design, region, advance) for region in (only_a, only_b))
    sure: list[Total] = []
    if judgments.cluster is not None and design.unjudged == "estimate":
        sure = [design._replace(unjudged="bounds").total(region) for region in (only_a, only_b)]
        sizes = [np.maximum(region[..., 0], 1.0) for region in (only_a, only_b)]
        cluster = np.broadcast_to(judgments.cluster, arrays[0].shape)
        for row in np.ndindex(rows):
            *sample, rank_a, rank_b, in_a, in_b, here = (x[row] for x in arrays)
            part = JudgedClusters.of(sample, cluster[row], here, design)
            warn_of_few(part.everyone)
            shares = a.estimate[row] / sizes[0][row], b.estimate[row] / sizes[1][row]
            limits = part.region_limits((rank_a, rank_b), (in_a, in_b), n, shares)
            for total, size, bounds, ends in zip((a, b), sizes, sure, limits, strict=True):
                for own, limit in zip(total[1:], ends, strict=True):
                    # clip only the difference limits to the possible range
                    known = bounds.low[row] == bounds.high[row]
                    own[row] = np.where(known, bounds.low[row], limit * size[row])
    difference = _difference(a, b, sure, design) / n
    (size_a, judged_a, tp_a), (size_b, judged_b, tp_b) = counts_of(only_a), counts_of(only_b)
    n_only = n - counts_of(shared)[0]
    return {
        "n_only": n_only,
        "n_judged_a": judged_a,
        "n_judged_b": judged_b,
        "tp_judged_a": tp_a,
        "tp_judged_b": tp_b,
        "difference": difference.estimate,
        "ci_low": difference.low,
        "ci_high": difference.high,
        "cuts_tie": np.broadcast_to(of_a.cuts_tie(n) | of_b.cuts_tie(n), n_only.shape),
        "n_judged": judged_a + judged_b,
        "n_unjudged": size_a + size_b - judged_a - judged_b,
        "exists": np.broadcast_to(exists, n_only.shape),
    }


def _difference(a: Total, b: Total, sure: Sequence[Total], design: Design) -> Total:
    """Return the difference of two totals, within the possible range if known."""
    difference = judged_sums.difference(a, b)
    if design.unjudged == "bounds":
        return Total(difference.estimate, a.low - b.high, a.high - b.low)
    if not sure:
        return difference
    least, most = sure[0].low - sure[1].high, sure[0].high - sure[1].low
    low, high = (np.clip(x, least, most) for x in difference[1:])
    return Total(difference.estimate, low, high)


def average_columns(
    ranking: Ranking, judgments: Judgments, *, design: Design
) -> dict[str, AnyArray]:
    """Return the columns (...) for average precision."""
    arrays = _rows_of_sample(judgments, ranking, ranking.order, ranking.present, ranking.score)
    shape = arrays[0].shape
    names = ("n_judged", "tp_judged", "n_unjudged")
    counts = {name: np.empty(shape[:-1], dtype=np.int64) for name in names}
    averages = {x: np.empty(shape[:-1]) for x in ("average_precision", "ci_low", "ci_high")}
    for row in np.ndindex(shape[:-1]):
        *sample, order, here, score = (x[row] for x in arrays)
        order = order[: int(here.sum())]
        judged, hit, rate, stratum = (x[order] for x in sample)
        of_sample = score[order], hit, judged, rate, stratum
        cluster = None
        if judgments.cluster is not None:
            cluster = np.broadcast_to(judgments.cluster, shape)[row][order]
            warn_of_few(np.unique(cluster[judged]).size)
        value, *limits = judged_sums.average_precision(*of_sample, design, cluster)
        # clip limits to possible values
        if cluster is not None and design.unjudged != "bounds":
            sure = design._replace(unjudged="bounds")
            _, least, most = judged_sums.average_precision(*of_sample, sure, None)
            limits = list(np.clip(limits, np.fmin(least, value), np.fmax(most, value)))
        for name, x in zip(averages, (value, *limits), strict=True):
            averages[name][row] = x
        number = judged.sum()
        for name, count in zip(
            names, (number, (judged & hit).sum(), order.size - number), strict=True
        ):
            counts[name][row] = count
    return counts | averages
