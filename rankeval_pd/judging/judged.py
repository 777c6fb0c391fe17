"""Samples, lists and rankings of candidates that are judged in part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import doors, errors
from rankeval_pd.decisions import PAIR, Rows
from rankeval_pd.doors import Candidates, Data
from rankeval_pd.lists.groups import warn_of_few
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import (
    JudgedRoles,
    ListSizes,
    PartlyJudged,
    Roles,
    find_gold,
    frame_column,
)
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Ranking,
    fisher_test,
)
from rankeval_pd.stats import judged as judged_sums
from rankeval_pd.stats.judged import (
    MOST_STRATA,
    Design,
    JudgedClusters,
    JudgedSample,
    Total,
)
from rankeval_pd.tables import Columns, Keywords, Options

# ---- The sample of partly judged data, with probabilities


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Store data with the gold label "judged and true", and who was judged."""

    data: pd.DataFrame
    roles: Options
    gold: Hashable
    judged: BoolArray  #: (row)
    probability: FloatArray  #: (row): of being selected for judging
    known: bool  #: whether the probabilities are known, or the judged are a random sample
    unjudged: str
    level: float
    ties: str
    n_tied_votes: int | None  #: candidates excluded because the votes of annotators are tied

    @cached_property
    def kinds(self) -> FloatArray:
        """Return the distinct probabilities, which are strata if they are few."""
        return np.unique(self.probability)

    def of(self, candidates: Candidates, n: IntArray | None = None) -> Judgments:
        """Return what is known about the judgments of the candidates, and the lists of interest."""
        probability = self.probability[candidates.row][:, np.newaxis]
        strata = self.kinds.size * (self.kinds.size <= MOST_STRATA)
        return Judgments(
            judged=self.judged[candidates.row][:, np.newaxis],
            probability=probability,
            stratum=np.searchsorted(self.kinds, probability),
            cluster=candidates.clusters,
            design=Design(strata, self.unjudged, self.level),
            asked=n,
            ties=self.ties,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgments:
    """Store who was judged, the same for all measures: (group, 1, candidate), and the lists."""

    judged: BoolArray
    probability: FloatArray  #: of being selected for judging
    stratum: IntArray
    cluster: IntArray | None = None
    design: Design
    asked: IntArray | None  #: sizes of the lists; None means every n
    ties: str = "shared"

    def arrays(self, ranking: Ranking) -> JudgedSample:
        """Return judged flags, labels, probabilities and strata of every ranking."""
        known: tuple[Any, ...] = self.judged, ranking.gold, self.probability, self.stratum
        return JudgedSample(*(np.broadcast_to(x, ranking.score.shape) for x in known))

    def clusters(self, ranking: Ranking) -> Iterator[tuple[tuple[int, ...], JudgedClusters]]:
        """Yield the place and the clusters of each ranking, if clusters widen the limits."""
        if self.cluster is None or self.design.unjudged == "bounds":
            return
        sample = self.arrays(ranking)
        present = ranking.present
        cluster = np.broadcast_to(self.cluster, present.shape)
        for row in np.ndindex(present.shape[:-1]):
            part = JudgedClusters.of(sample.at(row), cluster[row], present[row], self.design)
            warn_of_few(np.unique(part.cluster[part.sample.judged]).size)
            yield row, part


def read_sample(
    data: Any,
    roles: Keywords,
    unjudged: str = "estimate",
    judged_with: Hashable = None,
    level: float = 0.95,
) -> Sample:
    """Return the data with the gold label "judged and true", and the sample."""
    doors.check_data(data)
    level = errors.check_share("level", level)
    chosen = Roles.of(roles)
    frame = doors.with_levels(data, chosen)
    doors.refuse_each(chosen, "candidates judged in part")
    label_of_all = doors.one_label(frame, chosen)
    (frame, _), chosen = label_of_all.of_frame(), label_of_all.roles
    gold = find_gold(frame, chosen)
    truth = doors.gold_values(frame, gold, chosen)
    judged = ~np.isnan(truth)
    probability = np.ones(len(frame))
    if judged_with is not None:
        column = frame_column(frame, judged_with, "judged_with")
        probability = column.to_numpy(dtype=float, na_value=np.nan)
        _check_probability(probability, judged)
        frame = frame.drop(columns=judged_with)
    frame = frame.copy()
    frame[gold] = truth == 1.0
    settled = replace(chosen, gold=gold, agreement="majority", positive=None, min_grade=None)
    return Sample(
        data=frame,
        roles={name: getattr(settled, name) for name in (*roles, "gold")},
        gold=gold,
        judged=judged,
        probability=probability,
        known=judged_with is not None,
        unjudged=unjudged,
        level=level,
        ties=chosen.ties,
        n_tied_votes=len(label_of_all.data) - len(frame) or None,
    )


def _check_probability(probability: FloatArray, judged: BoolArray) -> None:
    """Raise a ValueError for candidates that could not be judged, or should have been."""
    wrong = ~((probability > 0.0) & (probability <= 1.0))
    if wrong.any():
        raise ValueError(
            f"judged_with: {int(wrong.sum())} candidates have no judging probability in (0, 1]. If"
            " these candidates could not be judged, pass unjudged='bounds' without judged_with."
        )
    sure = ~judged & (probability == 1.0)
    if sure.any():
        raise ValueError(
            f"judged_with: {int(sure.sum())} candidates with judging probability 1 have no"
            " judgment. Judge these candidates, or pass the true probabilities."
        )


def check_frame(candidates: object) -> None:
    """Raise a TypeError unless the candidates are a DataFrame."""
    wanted = "a pandas DataFrame with one row per candidate"
    errors.check_kind("candidates", candidates, pd.DataFrame, wanted)


def counts_of(sums: FloatArray) -> IntArray:
    """Count the candidates, judged candidates and true positives in each set: (3, ...)."""
    return np.moveaxis(np.rint(sums[..., :3]).astype(np.int64), -1, 0)


# ---- Test whether the judged candidates in a list are a random sample

_LEVEL = 1e-3  # joint level for all 2x2 tables in a call
_LISTS = 8  # largest number of list sizes to test
_TOPS = (2, 10)  # the top half and the top tenth of a list


class _Table(NamedTuple):
    """Store judged and total counts for a part of each list and for the rest."""

    part: str  #: description of the part
    #: (4, ..., measure [, other measure]): judged and all candidates in the part, and in the rest
    counts: IntArray
    n: int

    def p_values(self) -> AnyArray:
        """Return Fisher's p-values."""
        judged, size, judged_else, size_else = self.counts
        test = fisher_test(judged, size, judged_else, size_else, "two-sided")
        return np.asarray(test.p_value)


def warn_if_chosen(
    sample: Sample,
    candidates: Candidates,
    n: IntArray,
    *,
    rest: bool = False,
    regions: bool = False,
) -> None:
    """Warn if judged candidates are clearly not a random sample of lists, or of regions.

    Samples with known probabilities and sampled groups are not tested.
    """
    drawn = sample.known or sample.roles.get("groups") is not None
    if drawn or sample.unjudged != "estimate":
        return
    if sample.judged.all() or not candidates.measures:
        return
    judged = sample.judged[candidates.row][:, np.newaxis] & candidates.present
    tables = [*_region_tables(candidates, judged, n, rest=rest, regions=regions)]
    tests = [table.p_values() for table in tables]
    number = sum(p.size for p in tests)
    smallest = [float(p.min(initial=1.0)) for p in tests]
    if not smallest or min(smallest) * number >= _LEVEL:
        return
    worst = int(np.argmin(smallest))
    table, p_values = tables[worst], tests[worst]
    place = tuple(map(int, np.unravel_index(int(p_values.argmin()), p_values.shape)))
    own = candidates.measures[place[-1]]
    part = table.part
    if "{}" in part:  # pairs of measures
        own, part = candidates.measures[place[-2]], part.format(repr(own))
    in_part, size, other, left = (int(x[place]) for x in table.counts)
    where = f"the list of {own!r}"
    do = "call judged_difference"
    if regions:
        where = f"the candidates found only in the list of {own!r}"
        do = "judge a random sheet (annotation_sheet)"
    errors.warn(
        f"The judged candidates are not a random sample of {where} at n = {table.n}: {in_part} of"
        f" {size} candidates {part} are judged, compared with {other} of the other {left}."
        f" Estimates can be far off: {do}, or pass judged_with=... or unjudged='bounds'."
    )


def _region_tables(
    candidates: Candidates, judged: BoolArray, n: IntArray, *, rest: bool, regions: bool
) -> Iterator[_Table]:
    """Yield tables that compare top and lower ranks, or shared and other candidates."""
    present = candidates.present
    rank = candidates.rankings().ranks
    whole = int(present.sum(axis=-1).max(initial=0))
    sizes = n[n <= whole]
    if sizes.size > _LISTS:
        sizes = sizes[np.unique(np.geomspace(1, sizes.size, _LISTS).astype(int)) - 1]
    if not rest:  # do not test candidates below the longest list
        near = (rank <= sizes.max(initial=0)).reshape(-1, rank.shape[-1]).any(axis=0)
        judged = judged[..., near]
        present = present[..., near]
        rank = rank[..., near]
    for size in sizes.tolist():
        listed = present & (rank <= size)
        if regions:
            listed = listed & ~listed[..., ::-1, :]
        tops = [(listed, size // part, "of the best {}") for part in _TOPS]
        if rest:
            middle = (size + whole) // 2
            tops.append((present & ~listed, middle, "outside the list up to rank {}"))
        for among, end, text in tops:
            inside = among & (rank <= end)
            below = among & (rank > end)
            of_each = inside & judged, inside, below & judged, below
            yield _Table(text.format(end), np.array([x.sum(axis=-1) for x in of_each]), size)
        if len(candidates.measures) > 1 and not regions:
            # (2, ..., measure, other measure): judged and all candidates that two lists share
            both = np.array([listed & judged, listed], dtype=float)
            shared = np.rint(both @ both[1].swapaxes(-1, -2))
            left = both.sum(axis=-1, keepdims=True) - shared
            counts = np.concatenate([shared, left]).astype(np.int64)
            yield _Table("shared with the list of {}", counts, size)


# ---- Estimate results for partly judged rankings, using sums over lists


def judged_list_columns(
    ranking: Ranking,
    _: Candidates | None,
    *,
    n: IntArray,
    judgments: Judgments,
    quantity: str,
) -> Columns:
    """Return the columns (..., n) for the precision or recall of lists."""
    design = judgments.design
    ranks = ranking.ranks
    eligible = ranking.eligible
    lists = ranking.nbest(judgments.asked, judgments.ties)
    sample = judgments.arrays(ranking)
    inside, whole = [], []
    for row in np.ndindex(ranks.shape[:-1]):
        parts = design.parts(sample.at(row))
        inside.append(judged_sums.up_to(parts, ranks[row], eligible[row], n))
        whole.append(parts[ranking.present[row]].sum(axis=0))
    sums = _stacked(inside, ranks)
    positives = design.total(sums)
    size, judged, tp = counts_of(sums)
    if quantity == "recall":
        outside = _stacked(whole, ranks)[..., np.newaxis, :] - sums
        rest = design.total(outside)
        bounds = judged_sums.share_bounds(sums, outside)
        share = judged_sums.share_of(positives, rest)
        if design.unjudged == "bounds":
            share = Total(share.estimate, *bounds)
        part_of = positives.estimate + rest.estimate
    else:
        share = positives / n
        part_of = np.broadcast_to(n.astype(float), judged.shape)
        low, high = judged_sums.possible_totals(sums)
        bounds = low / n, high / n
    for row, part in judgments.clusters(ranking):
        listed = [(ranks[row], eligible[row])]
        of_row = (share.estimate[row], part_of[row])
        limits = part.limits(listed, n, *of_row, recall=quantity == "recall")
        for own, limit in zip(share[1:], limits, strict=True):
            own[row] = np.clip(limit, bounds[0][row], bounds[1][row])
    return {
        "n_judged": judged,
        "tp_judged": tp,
        quantity: share.estimate,
        "ci_low": share.low,
        "ci_high": share.high,
        "tied": np.broadcast_to(lists.tied, judged.shape),
        "n_unjudged": size - judged,
        "exists": np.broadcast_to(lists.exists, judged.shape),
    }


def _stacked(sums: Sequence[FloatArray], ranks: IntArray) -> FloatArray:
    """Return the sums of every ranking as one array: (..., sum)."""
    return np.reshape(sums, (*ranks.shape[:-1], *sums[0].shape))


def region_columns(of_a: Ranking, of_b: Ranking, judgments: Judgments, n: IntArray) -> Columns:
    """Return the columns (..., n) for the difference regions of two rankings."""
    design = judgments.design
    sides = (of_a, of_b)
    exists = n <= of_a.here[..., np.newaxis]
    if judgments.ties != "shared":
        for side in sides:
            exists = exists & side.nbest(judgments.asked, judgments.ties).exists
    sample = judgments.arrays(of_a)
    sums = []
    for row in np.ndindex(of_a.ranks.shape[:-1]):
        parts = design.parts(sample.at(row))
        ranks = [x.ranks[row] for x in sides]
        listed = [x.eligible[row] for x in sides]
        shared = judged_sums.up_to(parts, np.maximum(*ranks), listed[0] & listed[1], n)
        in_each = [judged_sums.up_to(parts, *x, n) for x in zip(ranks, listed, strict=True)]
        sums.append(np.array([in_each[0] - shared, in_each[1] - shared, shared]))
    only_a, only_b, both = np.moveaxis(_stacked(sums, of_a.ranks), -3, 0)
    regions = only_a, only_b
    a, b = (design.total(region) for region in regions)
    (least_a, most_a), (least_b, most_b) = (judged_sums.possible_totals(x) for x in regions)
    for row, part in judgments.clusters(of_a):
        lists = [(side.ranks[row], side.eligible[row]) for side in sides]
        for total, region in ((a, only_a), (b, only_b)):
            size = np.maximum(region[row][:, 0], 1.0)
            limits = part.limits(lists, n, total.estimate[row] / size, size)
            least, most = judged_sums.possible_totals(region[row])
            for own, limit in zip(total[1:], limits, strict=True):
                # clip only the difference limits to the possible range
                own[row] = np.where(least == most, least, limit * size)
            lists.reverse()
    difference = judged_sums.total_difference(a, b)
    possible = least_a - most_b, most_a - least_b
    if design.unjudged == "bounds":
        difference = Total(difference.estimate, *possible)
    elif judgments.cluster is not None:
        low, high = (np.clip(x, *possible) for x in difference[1:])
        difference = Total(difference.estimate, low, high)
    difference = difference / n
    (size_a, judged_a, tp_a), (size_b, judged_b, tp_b) = map(counts_of, regions)
    n_only = n - counts_of(both)[0]
    p_value = fisher_test(tp_a, judged_a, tp_b, judged_b, "two-sided").p_value
    known = (np.minimum(judged_a, judged_b) > 0) | (n_only == 0)
    return {
        "n_only": n_only,
        "n_judged_a": judged_a,
        "n_judged_b": judged_b,
        "tp_judged_a": tp_a,
        "tp_judged_b": tp_b,
        "difference": difference.estimate,
        "ci_low": difference.low,
        "ci_high": difference.high,
        "p_value": np.where(known, p_value, np.nan),
        "cuts_tie": np.broadcast_to(of_a.cuts_tie(n) | of_b.cuts_tie(n), n_only.shape),
        "n_judged": judged_a + judged_b,
        "n_unjudged": size_a + size_b - judged_a - judged_b,
        "exists": np.broadcast_to(exists, n_only.shape),
    }


# ---- Estimate results for lists with unjudged candidates

_LIST_COLUMNS = "measure n n_judged tp_judged {} ci_low ci_high tied n_unjudged"
_OF_LISTS: Any = {"rankings": "What to judge, and how?", "ends": True, "clusters": True}
_DIFFERENCE_COLUMNS = (
    "measure_a measure_b n n_only n_judged_a n_judged_b tp_judged_a tp_judged_b difference ci_low"
    " ci_high p_value cuts_tie n_judged n_unjudged"
)


@Capabilities(
    **_OF_LISTS,
    short="measure n precision ci_low ci_high n_judged n_unjudged",
    details="tp_judged tied",
    layout="measure n",
    quantity="precision",
    interval="hypergeometric",
)
@with_roles
def judged_precision(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Hashable = None,
    level: float = 0.95,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the precision of partly judged n-best lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates. Unjudged candidates have a missing gold label. In a Dataset, entries with
        neither a label nor a score are padding.
    n : int, sequence of int, range or None
        Sizes of the lists. The default is every n, or a grid of sizes as in :func:`precision_band`.
    unjudged
        "estimate" assumes that the judged candidates are a random sample. "bounds" makes no
        assumption. The lower limit counts all unjudged candidates as false positives, and the upper
        limit counts all of them as true positives.
    judged_with : name, optional
        Column with the probability that each candidate was selected for judging. By default, the
        judged candidates are treated as a random sample from each list.
    level
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``precision``: the estimate, or NaN without judged candidates; ``ci_low``, ``ci_high``:
        limits for the precision of the whole list, always within the limits from "bounds";
        ``n_judged`` and ``n_unjudged``: judged and unjudged candidates in the list.
        ``details=True`` adds ``tp_judged``: judged true positives; ``tied``: excluded candidates
        tied with the last candidate.

    Notes
    -----
    The interval is exact for a finite population (hypergeometric distribution). Once all candidates
    are judged, the interval shrinks to the precision from :func:`nbest_precision`. The interval
    reflects missing judgments, not the variation between samples of candidates. Do not drop
    unjudged candidates, because dropping them changes the rankings.

    The estimate is the proportion of true positives among judged candidates with equal
    probabilities. With up to 12 distinct probabilities, the exact intervals for the parts are
    combined (MOVER, Zou and Donner 2008). For a part without judgments, the estimate comes from the
    other parts, and the limits are 0 and 1. With more than 12 probabilities, judgments are weighted
    by inverse probabilities, and the interval is Clopper and Pearson's for the effective number of
    judgments (Korn and Graubard 1998).

    Sheets from :func:`annotation_sheet` exclude shared candidates, so they are not random samples
    from the lists: use :func:`judged_difference`. For at most eight list sizes, Fisher's tests
    compare judging rates between the top and the rest of each list, and between shared and other
    candidates. A warning reports samples that are not random, at a joint level of 0.001.

    With ``groups``, whole groups such as documents must be sampled for judging. The variance is
    computed from the totals for judged groups, and is 0 if every candidate is judged. In a partly
    judged group, judged candidates must be a random sample from the group. The interval is Wilson's
    interval for the effective number of judgments, with Student's t. Randomness is not tested.

    References
    ----------
    Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations, The
    American Statistician 41.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> rankeval_pd.judged_precision(partly, 100)
      measure    n  precision  ci_low  ci_high  n_judged  n_unjudged
    0    good  100   0.566667    0.41     0.71        30          70
    1    fair  100   0.312500    0.19     0.46        32          68
    """
    return _judged_lists(data, n, roles, can(judged_precision), unjudged, judged_with, level)


@Capabilities(
    **_OF_LISTS,
    short="measure n recall ci_low ci_high n_judged n_unjudged",
    details="tp_judged tied",
    layout="measure n",
    quantity="recall",
    interval="mover",
)
@with_roles
def judged_recall(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Hashable = None,
    level: float = 0.95,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the recall of partly judged n-best lists.

    Parameters
    ----------
    data, n, unjudged, judged_with, level, **roles
        As in :func:`judged_precision`. Without ``judged_with``, judged candidates are assumed to be
        random samples from inside and outside the list.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, as in :func:`judged_precision`, with ``recall``: the estimate, or
        NaN without judged true positives.

    Notes
    -----
    With T true positives inside the list and U outside, recall is T / (T + U). The limits are the
    values r for which a combined interval for (1 - r) T - r U ends at 0 (Donner and Zou 2012).

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> rankeval_pd.judged_recall(partly, 100, measures="good")
      measure    n    recall    ci_low   ci_high  n_judged  n_unjudged
    0    good  100  0.588885  0.447553  0.711724        30          70
    """
    return _judged_lists(data, n, roles, can(judged_recall), unjudged, judged_with, level)


@Capabilities(
    **_OF_LISTS,
    short="measure_a measure_b n difference ci_low ci_high p_value n_judged n_unjudged",
    details="n_only n_judged_a n_judged_b tp_judged_a tp_judged_b cuts_tie",
    layout="pair n",
    quantity="precision",
    interval="mover",
)
@with_roles
def judged_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Hashable = None,
    level: float = 0.95,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the difference in precision between two partly judged lists.

    Parameters
    ----------
    data, unjudged, judged_with, level, **roles
        As in :func:`judged_precision`. Without ``judged_with``, judged candidates are assumed to be
        a random sample from each difference region.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``difference``: difference in precision between the lists, or NaN if a region has no judged
        candidates; ``ci_low``, ``ci_high``; ``p_value``: Fisher's exact test of the judged
        candidates, only for a random sample without ``groups``; ``n_judged``, ``n_unjudged``:
        counts in the two difference regions. ``details=True`` adds ``n_only``: candidates in each
        region; ``n_judged_a``, ``n_judged_b``, ``tp_judged_a``, ``tp_judged_b``: judged candidates
        and judged true positives in each region; ``cuts_tie``: whether a list excludes candidates
        with the list's last score.

    Notes
    -----
    With T_a and T_b true positives in the difference regions, the difference is (T_a - T_b) / n.
    The interval combines the exact intervals for T_a and T_b (MOVER, Zou and Donner 2008). It
    reflects only the unjudged candidates, and shrinks to a point once all candidates are judged.
    The p-value generalizes to other samples of candidates, as in :func:`plan_annotation`, so the
    interval can exclude 0 although the test does not reject. As in :func:`judged_precision`, a
    warning reports judged candidates that are clearly not a random sample. In simulations with a
    fifth of Evert's data judged, the coverage of 95% intervals for differences was at least 0.957
    (``tests/simulations/partly_judged.csv``). With ``by``, there is a row per group. The means of
    ``ci_low`` and ``ci_high`` over groups with ``unjudged="bounds"`` bound the mean difference in
    these groups.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> found = rankeval_pd.judged_difference(partly, "good", "fair", 100)
    >>> found.drop(columns=["measure_a", "measure_b"])
         n  difference    ci_low   ci_high   p_value  n_judged  n_unjudged
    0  100    0.241579  0.077623  0.374333  0.017113        40          86
    """
    paired = doors.only_pair(data, a, b, roles, one=True)
    sample = read_sample(data, paired, unjudged, judged_with, level)
    question = partial(_rows_of_regions, sample=sample, pair=(a, b))
    columns = _DIFFERENCE_COLUMNS
    test: str | None = "fisher"
    if sample.known or unjudged == "bounds" or sample.roles.get("groups") is not None:
        columns, test = columns.replace(" p_value", ""), None
    able = can(judged_difference)
    return _judged(data, sample, doors.check_n(n), question, columns, able, test)


def _rows_of_regions(
    candidates: Candidates, n: IntArray | None, *, sample: Sample, pair: tuple[Hashable, Hashable]
) -> Rows:
    """Estimate the difference between two lists."""
    candidates, lists = candidates.in_order(), candidates.sizes(n)
    warn_if_chosen(sample, candidates, lists, regions=True)
    [sides] = candidates.sides([pair])
    present = candidates.present[:, sides]
    both = present[:, :1] & present[:, 1:]
    of_a, of_b = (candidates.rankings([side]).among(both) for side in sides.tolist())
    columns = region_columns(of_a, of_b, sample.of(candidates, n), lists)
    table = doors.rows_of(columns, candidates, PAIR, [0], {"n": lists})
    return doors.with_pairs(table, candidates, [pair], "two-sided")


def _rows_of_judged_lists(
    candidates: Candidates,
    n: IntArray | None,
    *,
    sample: Sample,
    quantity: str,
    sizes: doors.Sizes,
) -> doors.Answer:
    """Estimate the precision or recall of lists for every measure."""
    few, facts = doors.few_or(sizes, candidates.sizes(n))
    candidates, lists = candidates.in_order(), candidates.sizes(few)
    warn_if_chosen(sample, candidates, lists, rest=quantity == "recall")
    how: Any = {"judgments": sample.of(candidates, few), "quantity": quantity}
    return doors.measure_rows(candidates, lists, judged_list_columns, **how), facts


def _judged_lists(data: Data, n: ListSizes, roles: Keywords, able: Capabilities, *how: Any) -> Data:
    """Estimate the precision or recall of lists for every measure."""
    sample = read_sample(data, roles, *how)
    quantity = able.quantity
    sizes = doors.check_n(n)
    question = partial(_rows_of_judged_lists, sample=sample, quantity=quantity, sizes=sizes)
    return _judged(data, sample, sizes, question, _LIST_COLUMNS.format(quantity), able)


def _judged(
    data: Data,
    sample: Sample,
    n: doors.Sizes,
    question: doors.RankingQuestion,
    columns: str,
    able: Capabilities,
    test: str | None = None,
) -> Data:
    """Ask the question for a sample, and note what was assumed in ``attrs``."""
    attrs = {
        "unjudged": sample.unjudged,
        "level": sample.level,
        "test": test,
        "target": "unjudged",
        "n_tied_votes": sample.n_tied_votes,
    }
    names = columns.split()
    with errors.hushed(f"gold={sample.gold!r}"):  # equal labels are valid in samples
        table = doors.tabulate(sample.data, sample.roles, question, names, able, n=n, attrs=attrs)
    return doors.above_door(table, data)
