"""Samples, lists and rankings of candidates that are judged in part."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd import doors, errors
from rankeval_pd.decisions import PAIR, Rows
from rankeval_pd.doors import Candidates, Data
from rankeval_pd.lists.groups import warn_of_few
from rankeval_pd.options import Capabilities, can, with_roles_and
from rankeval_pd.roles import (
    JudgedRoles,
    ListSizes,
    PartlyJudged,
    Roles,
    are_values,
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
    silent_division,
)
from rankeval_pd.stats import judged as judged_sums
from rankeval_pd.stats.judged import (
    MOST_STRATA,
    Design,
    JudgedClusters,
    JudgedSample,
    Total,
    windows_of,
)

# ---- The sample of partly judged data, with probabilities and strata


Estimator = Literal["ratio", "horvitz-thompson"]


class JudgingScheme(NamedTuple):
    """Store how candidates were selected for judging."""

    unjudged: str = "estimate"
    judged_with: Any = None
    windows: Any = None  #: the last rank of each window; a sorted list once checked
    estimator: str = "ratio"
    level: float = 0.95

    def checked(self) -> JudgingScheme:
        """Return the checked options."""
        errors.check_choice("unjudged", self.unjudged, get_args(PartlyJudged))
        errors.check_choice("estimator", self.estimator, get_args(Estimator))
        level = errors.check_share("level", self.level)
        if self.judged_with is not None and self.windows is not None:
            raise ValueError(
                f"windows={self.windows!r} with judged_with: both define judging rates. Pass only"
                " one of them."
            )
        if self.estimator == "horvitz-thompson" and self.judged_with is None:
            raise ValueError(
                "estimator='horvitz-thompson' divides by known judging probabilities. Pass"
                " the probability column, judged_with=..., or one rate for all candidates, such as"
                " judged_with=0.2."
            )
        windows = self.windows
        if windows is not None and not isinstance(windows, Iterable):
            windows = [windows]
        if windows is not None:
            windows = sorted({errors.check_count("windows", end) for end in windows})
        return self._replace(level=level, windows=windows)

    @classmethod
    def from_keywords(
        cls, unjudged: str, options: Mapping[str, Any]
    ) -> tuple[JudgingScheme, dict[str, Any]]:
        """Return the scheme and the column roles among the keywords."""
        own = {name: options[name] for name in cls._fields if name in options}
        roles = {name: x for name, x in options.items() if name not in own}
        return cls(unjudged, **own), roles


class PartlyJudgedRoles(JudgedRoles, total=False):
    """Keywords of a scheme, and column roles."""

    judged_with: Any
    windows: int | Sequence[int] | None
    estimator: Estimator
    level: float


_SCHEME = JudgingScheme()._asdict()
del _SCHEME["unjudged"]  # a role of queries has this name


@dataclass(frozen=True, eq=False)
class Sample:
    """Store data with the gold label "judged and true", and who was judged."""

    data: pd.DataFrame
    roles: dict[str, Any]
    gold: Hashable
    judged: BoolArray  #: (row)
    probability: FloatArray  #: (row): of being selected for judging
    scheme: JudgingScheme
    ties: str

    @cached_property
    def kinds(self) -> FloatArray:
        """Return the distinct probabilities."""
        return np.unique(self.probability)

    @cached_property
    def design(self) -> Design:
        """Return the design, with strata if there are few distinct probabilities."""
        scheme, heaviest = self.scheme, 0.0
        if scheme.judged_with is None:
            strata = len(scheme.windows or []) + 1
        else:
            strata = self.kinds.size * (self.kinds.size <= MOST_STRATA)
            heaviest = 1.0 / float(self.probability[~self.judged].min(initial=np.inf))
        return Design(strata, scheme.unjudged, scheme.estimator, scheme.level, heaviest)

    def of(
        self,
        candidates: Candidates,
        n: IntArray | None = None,
        advance: Callable[[int], object] = errors.nothing_moves,
    ) -> Judgments:
        """Return what is known about the judgments of the candidates, and the lists of interest."""
        probability = self.probability[candidates.row]
        if self.scheme.windows is not None:
            ends = np.array(self.scheme.windows)
            stratum = windows_of(candidates.score, candidates.present, ends)
        else:
            stratum = np.searchsorted(self.kinds, probability)
        return Judgments(
            judged=self.judged[candidates.row][:, np.newaxis],
            probability=probability[:, np.newaxis],
            stratum=stratum[:, np.newaxis],
            cluster=candidates.clusters,
            design=self.design,
            n=candidates.sizes(n),
            asked=n,
            ties=self.ties,
            advance=advance,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgments:
    """Store who was judged, the same for all measures: (group, 1, candidate), and the lists."""

    judged: BoolArray
    probability: FloatArray  #: of being selected for judging
    stratum: IntArray
    cluster: IntArray | None = None
    design: Design
    n: IntArray  #: sizes of the lists
    asked: IntArray | None  #: the requested sizes; None means every n
    ties: str = "shared"
    advance: Callable[[int], object] = errors.nothing_moves  #: moves the progress bar by some lists

    def arrays(self, ranking: Ranking) -> JudgedSample:
        """Return judged flags, labels, probabilities and strata of every ranking."""
        known: tuple[Any, ...] = self.judged, ranking.gold, self.probability, self.stratum
        return JudgedSample(*(np.broadcast_to(x, ranking.score.shape) for x in known))

    def clusters(self, ranking: Ranking) -> Iterator[tuple[tuple[int, ...], JudgedClusters]]:
        """Yield the place and the clusters of each ranking, if clusters widen the limits."""
        if self.cluster is None or self.design.unjudged == "bounds":
            return
        sample, present = self.arrays(ranking), ranking.present
        cluster = np.broadcast_to(self.cluster, present.shape)
        for row in np.ndindex(present.shape[:-1]):
            part = JudgedClusters.of(sample.at(row), cluster[row], present[row], self.design)
            warn_of_few(np.unique(part.cluster[part.sample.judged]).size)
            yield row, part

    def total(self, sums: FloatArray) -> Total:
        """Estimate the true positives in each list, one block of list sizes at a time."""
        parts = []
        for start in range(0, max(sums.shape[-2], 1), _TOGETHER):
            block = sums[..., start : start + _TOGETHER, :]
            parts.append(self.design.total(block))
            self.advance(block[..., 0].size)
        return Total(*(np.concatenate(x, axis=-1) for x in zip(*parts, strict=True)))


def read_sample(data: Any, roles: Mapping[str, Any], scheme: JudgingScheme) -> Sample:
    """Return the data with the gold label "judged and true", and the sample."""
    doors.check_data(data)
    scheme = scheme.checked()
    chosen = Roles.of(roles)
    frame = doors.with_levels(data, chosen)
    doors.refuse_each(chosen, "candidates judged in part")
    frame, chosen, *_ = doors.one_label(frame, chosen)
    gold = find_gold(frame, chosen)
    truth = doors.gold_values(
        frame_column(frame, gold, "gold"), gold, chosen.positive, chosen.min_grade
    )
    judged = ~np.isnan(truth)
    frame, probability = _with_probability(frame, scheme.judged_with, judged)
    frame = frame.copy()
    frame[gold] = truth == 1.0
    settled = replace(chosen, gold=gold, agreement="majority", positive=None, min_grade=None)
    kept = {name: getattr(settled, name) for name in (*roles, "gold")}
    return Sample(frame, kept, gold, judged, probability, scheme, chosen.ties)


def _with_probability(
    data: pd.DataFrame, rate: Any, judged: BoolArray
) -> tuple[pd.DataFrame, FloatArray]:
    """Separate the probabilities from the data, and check them."""
    if rate is None:
        return data, np.ones(len(data))
    if isinstance(rate, int | float | np.integer | np.floating) and not isinstance(rate, bool):
        probability = np.full(len(data), errors.check_share("judged_with", rate, one=True))
    elif are_values(rate):
        if isinstance(rate, pd.Series) and rate.index.is_unique:
            rate = rate.reindex(data.index)
        if np.ndim(rate) != 1:
            raise ValueError(
                f"judged_with has values of shape {np.shape(rate)}: pass one probability per "
                "candidate, or the name of a column."
            )
        probability = np.asarray(rate, dtype=float)
    elif not isinstance(rate, Hashable) or rate not in data.columns:
        raise errors.unknown_name("judged_with", rate, data.columns)
    else:
        column = frame_column(data, rate, "judged_with")
        data, probability = data.drop(columns=rate), column.to_numpy(dtype=float, na_value=np.nan)
    if probability.size != judged.size:
        raise ValueError(
            f"judged_with has values of shape {probability.shape} for {judged.size}"
            " candidates: pass one value per candidate, the name of a column, or one rate for all."
        )
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
    return data, probability


def check_frame(candidates: object) -> None:
    """Raise a TypeError unless the candidates are a DataFrame."""
    if hasattr(candidates, "data_vars"):
        raise TypeError(
            "candidates is a Dataset, but plans and sheets need a DataFrame with one row per "
            "candidate. Convert the Dataset: data.to_dataframe().reset_index()."
        )
    if not isinstance(candidates, pd.DataFrame):
        raise errors.no_table(
            "candidates", candidates, "a pandas DataFrame with one row per candidate"
        )


def counts_of(sums: FloatArray) -> IntArray:
    """Count the candidates, judged candidates and true positives in each set: (3, ...)."""
    return np.moveaxis(np.rint(sums[..., :3]).astype(np.int64), -1, 0)


# ---- Test whether the judged candidates in a list are a random sample

_LEVEL = 1e-3  # joint level for all 2x2 tables in a call
_REFUSED = 1e-6  # level at which nonrandom samples raise an error
_NEAR = 2.5  # in standard deviations; tables closer to the mean cannot be significant
_LISTS = 8  # largest number of list sizes to test
_TOPS = (2, 10)  # the top half and the top tenth of a list


class _Table(NamedTuple):
    """Store judged and total counts for a part of each list and for the rest."""

    part: str  #: description of the part
    #: (4, ..., measure [, other measure]): judged and all candidates in the part, and in the rest
    counts: IntArray
    n: int

    def p_values(self) -> AnyArray:
        """Return Fisher's p-value for tables far from the mean, and 1 for other tables."""
        judged, size, judged_else, size_else = self.counts
        total, drawn = size + size_else, judged + judged_else
        with silent_division():
            share = size / total
            spread = drawn * share * (1 - share) * (total - drawn) / (total - 1)
            far = np.abs(judged - drawn * share) / np.sqrt(spread) > _NEAR
        result = np.ones(size.shape)
        if far.any():
            judged, size, judged_else, size_else = self.counts[:, far]
            test = fisher_test(judged, size, judged_else, size_else, "two-sided")
            result[far] = test.p_value
        return result


def warn_if_chosen(
    sample: Sample,
    candidates: Candidates,
    n: IntArray | None,
    *,
    rest: bool = False,
    regions: bool = False,
) -> None:
    """Warn if judged candidates are clearly not a random sample of lists, or of regions.

    Samples with a judging scheme and sampled groups are not tested. For average precision, n is
    None, and strong evidence against randomness raises a ValueError.
    """
    known = (sample.scheme.judged_with, sample.scheme.windows, sample.roles.get("groups"))
    if sample.scheme.unjudged != "estimate" or any(x is not None for x in known):
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
    own, part = candidates.measures[place[-1]], table.part
    if "{}" in part:  # pairs of measures
        own, part = candidates.measures[place[-2]], part.format(repr(own))
    in_part, size, other, left = (int(x[place]) for x in table.counts)
    where, do = f"the list of {own!r}", "call judged_difference"
    if regions:
        where = f"the candidates found only in the list of {own!r}"
        do = "judge a random sheet (annotation_sheet)"
    message = (
        f"The judged candidates are not a random sample of {where} at n = {table.n}: {in_part} of"
        f" {size} candidates {part} are judged, compared with {other} of the other {left}."
        f" Estimates can be far off: {do}, or pass windows=[...], judged_with=... or"
        " unjudged='bounds'."
    )
    if n is None and min(smallest) * number < _REFUSED:
        raise ValueError(message)
    errors.warn(message)


def _region_tables(
    candidates: Candidates, judged: BoolArray, n: IntArray | None, *, rest: bool, regions: bool
) -> Iterator[_Table]:
    """Yield tables that compare top and lower ranks, or shared and other candidates."""
    present, rank = candidates.present, candidates.rankings().ranks
    whole = int(present.sum(axis=-1).max(initial=0))
    sizes = np.array([whole]) if n is None else n[n <= whole]
    if sizes.size > _LISTS:
        sizes = sizes[np.unique(np.geomspace(1, sizes.size, _LISTS).astype(int)) - 1]
    if not rest and n is not None:  # do not test candidates below the longest list
        near = (rank <= sizes.max(initial=0)).reshape(-1, rank.shape[-1]).any(axis=0)
        judged, present, rank = judged[..., near], present[..., near], rank[..., near]
    for size in sizes.tolist():
        listed = present & (rank <= size)
        if regions:
            listed = listed & ~listed[..., ::-1, :]
        tops = [(listed, size // part, "of the best {}") for part in _TOPS]
        if rest:
            middle = (size + whole) // 2
            tops.append((present & ~listed, middle, "outside the list up to rank {}"))
        for among, end, text in tops:
            inside, below = among & (rank <= end), among & (rank > end)
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

_TOGETHER = 20_000  # number of lists between progress bar updates


def judged_list_columns(
    ranking: Ranking, judgments: Judgments, quantity: str
) -> dict[str, AnyArray]:
    """Return the columns (..., n) for the precision or recall of lists."""
    design, n, ranks, eligible = judgments.design, judgments.n, ranking.ranks, ranking.eligible
    lists = ranking.nbest(judgments.asked, judgments.ties)
    sample = judgments.arrays(ranking)
    inside, whole = [], []
    for row in np.ndindex(ranks.shape[:-1]):
        parts = design.parts(sample.at(row))
        inside.append(judged_sums.up_to(parts, ranks[row], eligible[row], n))
        whole.append(parts[ranking.present[row]].sum(axis=0))
    sums = _stacked(inside, ranks)
    positives = judgments.total(sums)
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
        share, part_of = positives / n, np.broadcast_to(n.astype(float), judged.shape)
        low, high = judged_sums.possible_totals(sums)
        bounds = low / n, high / n
    for row, part in judgments.clusters(ranking):
        listed, of_row = [(ranks[row], eligible[row])], (share.estimate[row], part_of[row])
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


def region_columns(of_a: Ranking, of_b: Ranking, judgments: Judgments) -> dict[str, AnyArray]:
    """Return the columns (..., n) for the difference regions of two rankings."""
    design, n, sides = judgments.design, judgments.n, (of_a, of_b)
    exists = n <= of_a.here[..., np.newaxis]
    if judgments.ties != "shared":
        for side in sides:
            exists = exists & side.nbest(judgments.asked, judgments.ties).exists
    sample, sums = judgments.arrays(of_a), []
    for row in np.ndindex(of_a.ranks.shape[:-1]):
        parts = design.parts(sample.at(row))
        ranks, listed = [x.ranks[row] for x in sides], [x.eligible[row] for x in sides]
        shared = judged_sums.up_to(parts, np.maximum(*ranks), listed[0] & listed[1], n)
        in_each = [judged_sums.up_to(parts, *x, n) for x in zip(ranks, listed, strict=True)]
        sums.append(np.array([in_each[0] - shared, in_each[1] - shared, shared]))
    only_a, only_b, both = np.moveaxis(_stacked(sums, of_a.ranks), -3, 0)
    regions = only_a, only_b
    a, b = (judgments.total(region) for region in regions)
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


# ---- Estimate results for lists with unjudged candidates

_LIST_COLUMNS = "measure n n_judged tp_judged {} ci_low ci_high tied n_unjudged"
_HEADING = "What to judge, and how?"
_OF_LISTS: Any = {"rankings": _HEADING, "ends": True, "clusters": True}
_DIFFERENCE_COLUMNS = (
    "measure_a measure_b n n_only n_judged_a n_judged_b tp_judged_a tp_judged_b difference ci_low"
    " ci_high cuts_tie n_judged n_unjudged"
)


@Capabilities(
    **_OF_LISTS,
    short="measure n precision ci_low ci_high n_judged n_unjudged",
    details="tp_judged tied",
    layout="measure n",
    quantity="precision",
    interval="hypergeometric",
)
@with_roles_and(_SCHEME)
def judged_precision(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    **options: Unpack[PartlyJudgedRoles],
) -> Data:
    """Return the precision of partly judged n-best lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label. Unjudged candidates have a
        missing label. In a Dataset, entries with neither a label nor a score are padding.
    n : int, sequence of int, range or None
        Sizes of the lists. The default is every n, or a grid of sizes as in :func:`precision_band`.
    unjudged
        "estimate" assumes that the judged candidates are a random sample. "bounds" makes no
        assumption. The lower limit counts all unjudged candidates as false positives, and the upper
        limit counts all of them as true positives.
    judged_with : name, float or values, optional
        Probability that each candidate was selected for judging: a column, Series or array, or one
        number for all candidates. By default, the judged candidates are treated as a random sample
        from each list.
    windows : int or sequence of int, optional
        Ranks at which windows end, as an alternative to ``judged_with``. With ``[100, 500]``,
        judging rates are estimated separately for candidates whose best rank across measures is 1
        to 100, 101 to 500, or above 500.
    estimator
        "ratio" uses the proportion of true positives among judged candidates, within each window or
        group with equal probabilities. "horvitz-thompson" divides the sum of inverse probabilities
        by n and requires ``judged_with``. The Horvitz-Thompson estimate is unbiased but more
        variable, and can exceed 1. The limits allow for a true positive with the smallest
        probability, so small probabilities give wide limits.
    level : float
        Confidence level of the interval for "estimate".
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates and judged true positives in the list;
        ``precision``: the estimate, or NaN without judged candidates; ``ci_low``, ``ci_high``:
        limits for the precision of the whole list, always within the limits from "bounds";
        ``tied``: excluded candidates tied with the last candidate; ``n_unjudged``: unjudged
        candidates in the list.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a column for a role is missing, a probability is not in (0, 1], or a candidate with
        probability 1 is not judged.

    Notes
    -----
    The interval is exact for a finite population (hypergeometric distribution). Once all candidates
    are judged, the interval shrinks to the precision from :func:`nbest_precision`. The interval
    reflects missing judgments, not the variation between samples of candidates. Do not drop
    unjudged candidates, because dropping them changes the rankings.

    With up to 12 windows or distinct probabilities, the exact intervals for the parts are combined
    (MOVER, Zou and Donner 2008). For a part without judgments, the estimate comes from the other
    parts, and the limits are 0 and 1. With more than 12 probabilities, judgments are weighted by
    inverse probabilities. In this case the interval is Clopper and Pearson's for the effective
    number of judgments (Korn and Graubard 1998). For the Horvitz-Thompson estimator, gamma limits
    are used (Fay and Feuer 1997). A random sample from all the data or from a pool of lists is
    random in each list. Sheets from :func:`annotation_sheet` are not random samples from the lists
    because shared candidates are excluded. Use :func:`judged_difference` for such sheets. For
    in-memory data with at most eight list sizes, Fisher's tests compare judging rates between the
    top and the rest of each list, and between shared and other candidates. A
    :class:`RankevalWarning` reports samples that are not random, at a joint level of 0.001. The
    tests do not detect small nonrandom samples. The cost is ranking plus a search over the counts.

    With ``groups``, whole groups such as documents must be sampled for judging. The variance is
    computed from the totals for judged groups, and is 0 if every candidate is judged. In a partly
    judged group, judged candidates must be a random sample from the group. The interval is Wilson's
    interval for the effective number of judgments, with Student's t. Randomness is not tested.

    References
    ----------
    J. P. Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations.
    D. G. Horvitz and D. J. Thompson (1952), A generalization of sampling without replacement from
    a finite universe.

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
    return _judged_lists(data, n, unjudged, options, "precision", can(judged_precision))


@Capabilities(
    **_OF_LISTS,
    short="measure n recall ci_low ci_high n_judged n_unjudged",
    details="tp_judged tied",
    layout="measure n",
    quantity="recall",
    interval="mover",
)
@with_roles_and(_SCHEME)
def judged_recall(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    **options: Unpack[PartlyJudgedRoles],
) -> Data:
    """Return the recall of partly judged n-best lists.

    Parameters
    ----------
    data, n, unjudged, judged_with, windows, estimator, level, **roles
        As in :func:`judged_precision`. Without ``judged_with`` and ``windows``, judged candidates
        are assumed to be random samples from inside and outside the list.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, as in :func:`judged_precision`, with ``recall``: the estimate, or
        NaN without judged true positives.

    Notes
    -----
    With T true positives inside the list and U true positives outside, recall is T / (T + U). T and
    U are estimated from the judged candidates. The limits are the values r for which a combined
    interval for (1 - r) T - r U ends at 0 (Donner and Zou 2012). As in :func:`judged_precision`, a
    warning reports samples that are clearly not random.

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
    return _judged_lists(data, n, unjudged, options, "recall", can(judged_recall))


@Capabilities(
    **_OF_LISTS,
    short="measure_a measure_b n difference ci_low ci_high n_judged n_unjudged",
    details="n_only n_judged_a n_judged_b tp_judged_a tp_judged_b cuts_tie",
    layout="pair n",
    quantity="precision",
    interval="mover",
)
@with_roles_and(_SCHEME)
def judged_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    **options: Unpack[PartlyJudgedRoles],
) -> Data:
    """Return the difference in precision between two partly judged lists.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, **roles
        As in :func:`judged_precision`. Without ``judged_with`` and ``windows``, judged candidates
        are assumed to be a random sample from each difference region. Windows use the ranks from a
        and b.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``n_only``: candidates in each difference region; ``n_judged_a``, ``n_judged_b``,
        ``tp_judged_a``, ``tp_judged_b``: judged candidates and judged true positives in each
        region; ``difference``: difference in precision between the lists, or NaN if a region has no
        judged candidates; ``ci_low``, ``ci_high``; ``cuts_tie``: whether a list excludes candidates
        with the list's last score; ``n_judged``, ``n_unjudged``: total counts in the two regions.

    Notes
    -----
    With T_a and T_b true positives in the difference regions, the difference is (T_a - T_b) / n.
    T_a and T_b are estimated from the judged candidates in the regions. The interval combines the
    exact intervals for T_a and T_b (MOVER, Zou and Donner 2008). The interval reflects only the
    unjudged candidates, and shrinks to a point once all candidates are judged. To generalize to
    other samples, use Fisher's test as in :func:`plan_annotation`. If the judging rate is constant
    within each region, ``compare_for(tp_judged_a, n_judged_a, tp_judged_b, n_judged_b, overlap=0)``
    returns the p-value. Fisher's test can be nonsignificant even if the interval excludes 0. As in
    :func:`judged_precision`, a :class:`RankevalWarning` reports judged candidates that are clearly
    not a random sample. In simulations with a fifth of Evert's data judged, intervals for
    differences had at least the nominal coverage (``tests/simulations/partly_judged.csv``).

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> rankeval_pd.judged_difference(partly, "good", "fair", 100)
      measure_a measure_b    n  difference    ci_low   ci_high  n_judged  n_unjudged
    0      good      fair  100    0.241579  0.077623  0.374333        40          86
    """
    (scheme, roles), sizes = JudgingScheme.from_keywords(unjudged, options), doors.check_n(n)
    sample = read_sample(data, doors.only_pair(data, a, b, roles, one=True), scheme)

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        candidates, lists = candidates.in_order(), candidates.sizes(n)
        warn_if_chosen(sample, candidates, lists, regions=True)
        [sides] = candidates.sides([(a, b)])
        present = candidates.present[:, sides]
        both = present[:, :1] & present[:, 1:]
        of_a, of_b = (candidates.rankings([side]).among(both) for side in sides.tolist())
        total = 2 * lists.size * len(candidates.group)
        with errors.progress_bar(total=total, what="lists judged in part", unit="lists") as advance:
            columns = region_columns(of_a, of_b, sample.of(candidates, n, advance))
        table = doors.rows_of(columns, candidates, PAIR, [0], {"n": lists})
        return doors.with_pairs(table, candidates, [(a, b)], "two-sided")

    able = can(judged_difference)
    return _sample_table(data, sample, question, _DIFFERENCE_COLUMNS, able, n=sizes)


def _judged_lists(
    data: Data,
    n: ListSizes,
    unjudged: str,
    options: Mapping[str, Any],
    quantity: str,
    able: Capabilities,
) -> Data:
    """Estimate the precision or recall of lists for every measure."""
    (scheme, roles), sizes = JudgingScheme.from_keywords(unjudged, options), doors.check_n(n)
    sample = read_sample(data, roles, scheme)

    def question(candidates: Candidates, n: IntArray | None) -> doors.Answer:
        few, facts = doors.few_or(sizes, candidates.sizes(n))
        candidates, lists = candidates.in_order(), candidates.sizes(few)
        warn_if_chosen(sample, candidates, lists, rest=quantity == "recall")
        total = len(candidates.group) * len(candidates.measures) * lists.size
        with errors.progress_bar(total=total, what="lists judged in part", unit="lists") as advance:
            judgments = sample.of(candidates, few, advance)
            rows = doors.measure_rows(
                candidates, lists, lambda x, _, n: judged_list_columns(x, judgments, quantity)
            )
        return rows, facts

    columns = _LIST_COLUMNS.format(quantity)
    return _sample_table(data, sample, question, columns, able, n=sizes)


def _sample_table(
    data: Data,
    sample: Sample,
    question: doors.RankingQuestion,
    columns: str,
    able: Capabilities,
    n: doors.Sizes = None,
) -> Data:
    """Ask the question for a sample, and note the scheme in ``attrs``."""
    with errors.hushed(f"gold={sample.gold!r}"):  # equal labels are valid in samples
        attrs = {x: getattr(sample.scheme, x) for x in ("unjudged", "estimator", "level")}
        names = columns.split()
        table = doors.tabulate(sample.data, sample.roles, question, names, able, n=n, attrs=attrs)
    return doors.above_door(table, data)
