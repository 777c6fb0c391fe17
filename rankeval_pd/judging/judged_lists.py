"""Estimate results for lists with unjudged candidates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Literal, Unpack

import pandas as pd

from rankeval_pd.decisions.verdicts import PAIR
from rankeval_pd.doors.pairs import only_pair
from rankeval_pd.doors.rankings import (
    Candidates,
    RankingQuestion,
    Rows,
    measure_rows,
    rows_of,
    tabulate,
    with_pairs,
)
from rankeval_pd.forms.rankings.candidates import Data, above_door
from rankeval_pd.forms.rankings.grids import few_or
from rankeval_pd.forms.rankings.values import Sizes, check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.forms.roles.roles import JudgedRoles, ListSizes, PartlyJudged, Roles
from rankeval_pd.judging.judged_rankings import average_columns, list_columns, region_columns
from rankeval_pd.judging.samples import (
    JudgingScheme,
    Judgments,
    Sample,
    quietly,
    read_sample,
    warn_if_chosen,
)
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.rankings.ranking import Ranking

Estimator = Literal["ratio", "horvitz-thompson"]
_WHAT = "lists judged in part"
_LIST_COLUMNS = ("n_judged", "tp_judged", "{}", "ci_low", "ci_high", "tied", "n_unjudged")
_DIFFERENCE_COLUMNS = (
    "measure_a",
    "measure_b",
    "n",
    "n_only",
    "n_judged_a",
    "n_judged_b",
    "tp_judged_a",
    "tp_judged_b",
    "difference",
    "ci_low",
    "ci_high",
    "cuts_tie",
    "n_judged",
    "n_unjudged",
)
_AVERAGE_COLUMNS = (
    "measure",
    "n_judged",
    "tp_judged",
    "average_precision",
    "ci_low",
    "ci_high",
    "n_unjudged",
)


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure n precision ci_low ci_high n_judged n_unjudged",
    layout="measure n",
)
@with_roles
def judged_precision(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Any = None,
    windows: int | Sequence[int] | None = None,
    estimator: Estimator = "ratio",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the precision of partly judged n-best lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label. Unjudged candidates have a
        missing label. In a Dataset, entries with neither a label nor a score are padding.
    n : int, sequence of int, range or None
        Sizes of the lists. The default is every n, or a grid of sizes as in :func:`precision_band`.
    unjudged : {"estimate", "bounds"}
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
    estimator : {"ratio", "horvitz-thompson"}
        "ratio" uses the proportion of true positives among judged candidates, within each window or
        group with equal probabilities. "horvitz-thompson" divides the sum of inverse probabilities
        by n and requires ``judged_with``. The Horvitz-Thompson estimate is unbiased but more
        variable, and can exceed 1. The limits allow for a true positive with the smallest
        probability, so small probabilities give wide limits.
    level : float
        Confidence level of the interval for "estimate".
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
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
    scheme, sizes = JudgingScheme(unjudged, judged_with, windows, estimator, level), check_n(n)
    sample = read_sample(data, roles, scheme)
    table = _judged_lists(sample, sizes, "precision", can(judged_precision), progress)
    return above_door(table, data)


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure n recall ci_low ci_high n_judged n_unjudged",
    layout="measure n",
)
@with_roles
def judged_recall(
    data: Data,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Any = None,
    windows: int | Sequence[int] | None = None,
    estimator: Estimator = "ratio",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the recall of partly judged n-best lists.

    Parameters
    ----------
    data, n, unjudged, judged_with, windows, estimator, level, progress, **roles
        As in :func:`judged_precision`. Without ``judged_with`` and ``windows``, judged candidates
        are assumed to be random samples from inside and outside the list.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates and judged true positives in the list;
        ``recall``: the estimate, or NaN without judged true positives; ``ci_low``, ``ci_high``;
        ``tied``.

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
    scheme, sizes = JudgingScheme(unjudged, judged_with, windows, estimator, level), check_n(n)
    sample = read_sample(data, roles, scheme)
    table = _judged_lists(sample, sizes, "recall", can(judged_recall), progress)
    return above_door(table, data)


@Capabilities(
    rankings="What to judge, and how?",
    any_ties=True,
    clusters=True,
    short="measure average_precision ci_low ci_high n_judged n_unjudged",
    layout="measure",
)
@with_roles_but(
    "ties",
    key="Ignored unless a window ends inside a tie.",
    label="Ignored unless a window ends inside a tie.",
    rng="Ignored unless a window ends inside a tie.",
)
def judged_average_precision(
    data: Data,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Any = None,
    windows: int | Sequence[int] | None = None,
    estimator: Estimator = "ratio",
    level: float = 0.95,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the average precision of partly judged rankings.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, **roles
        As in :func:`judged_precision`. Without ``judged_with`` and ``windows``, judged candidates
        are assumed to be a random sample from all candidates. Equal scores form one block.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``; ``n_judged``, ``tp_judged``;
        ``average_precision``: NaN without judged true positives, or if a window has no judged
        candidate; ``ci_low``, ``ci_high``: confidence limits, or with "bounds" the smallest and
        largest possible values.

    Notes
    -----
    The estimate is inferred average precision (Yilmaz and Aslam 2006): the mean estimated precision
    at the ranks of judged true positives, weighted by inverse probabilities. The precision at a
    rank is estimated from the true positive at this rank and the proportion of true positives among
    judged candidates at better ranks. "horvitz-thompson" weights this proportion. If all candidates
    are judged, the estimate equals ``area("ap")``. For ``groups`` and tests of randomness, see
    :func:`judged_precision`. If randomness is rejected at a level of one in a million, a ValueError
    is raised. Each limit is the wider of the limits from two logit intervals. One interval is
    centered on the estimate, and the other on a value that allows for missed positives. The
    standard error comes from the influence of each judged candidate. The degrees of freedom are the
    number of judged true positives minus one. With windows or several probabilities, the lower
    limit allows for missed true positives among sparsely judged candidates. In simulations with
    depth pooling and at least 4 judged true positives, coverage was 0.93 or more
    (``tests/reference/second_audit_rankings.csv``). The cost is O(N log N) per measure.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> partly.rankeval.judged_average_precision(measures="good")
      measure  average_precision    ci_low   ci_high  n_judged  n_unjudged
    0    good           0.607596  0.461621  0.766358       303         697
    """
    scheme = JudgingScheme(unjudged, judged_with, windows, estimator, level)
    sample = read_sample(data, roles, scheme)
    design = sample.design()

    def question(candidates: Candidates, _: IntArray | None) -> Rows:
        warn_if_chosen(sample, candidates, None)
        judgments = sample.of(candidates)
        return measure_rows(
            candidates, lambda ranking, _: average_columns(ranking, judgments, design=design)
        )

    table = _tabulated(sample, question, _AVERAGE_COLUMNS, can(judged_average_precision))
    return above_door(table, data)


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure_a measure_b n difference ci_low ci_high n_judged n_unjudged",
    layout="pair n",
)
@with_roles
def judged_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    unjudged: PartlyJudged = "estimate",
    judged_with: Any = None,
    windows: int | Sequence[int] | None = None,
    estimator: Estimator = "ratio",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return the difference in precision between two partly judged lists.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, progress, **roles
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
    differences had at least the nominal coverage (``tests/reference/partly_judged.csv``).

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
    scheme, sizes = JudgingScheme(unjudged, judged_with, windows, estimator, level), check_n(n)
    sample = read_sample(data, only_pair(data, a, b, roles, one=True), scheme)
    design, ties = sample.design(), Roles.of(sample.roles).ties

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        lists = candidates.sizes(n)
        warn_if_chosen(sample, candidates, lists, regions=True)
        [sides] = candidates.sides([(a, b)])
        present = candidates.present[:, sides]
        both = present[:, :1] & present[:, 1:]
        of_a, of_b = (candidates.rankings([side]).among(both) for side in sides.tolist())
        total = 2 * lists.size * len(candidates.group)
        with progress_bar(progress, total=total, what=_WHAT, unit="lists") as advance:
            columns = region_columns(
                of_a,
                of_b,
                sample.of(candidates),
                design=design,
                n=lists,
                every=n is None,
                ties=ties,
                advance=advance,
            )
        table = rows_of(columns, candidates, PAIR, [0], {"n": lists})
        return with_pairs(table, candidates, [(a, b)], "two-sided")

    table = _tabulated(sample, question, _DIFFERENCE_COLUMNS, can(judged_difference), n=sizes)
    return above_door(table, data)


def _judged_lists(
    sample: Sample, sizes: Sizes, quantity: str, able: Capabilities, progress: bool | None
) -> pd.DataFrame:
    """Estimate the precision or recall of lists for every measure."""
    design, ties = sample.design(), Roles.of(sample.roles).ties
    noted: dict[str, Any] = {}
    recall = quantity == "recall"

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        few = few_or(sizes, candidates.sizes(n), ties, noted)
        lists = candidates.sizes(few)
        warn_if_chosen(sample, candidates, lists, rest=recall)
        total = len(candidates.group) * len(candidates.measures) * lists.size
        with progress_bar(progress, total=total, what=_WHAT, unit="lists") as advance:
            kernel = partial(
                _list_columns_of,
                judgments=sample.of(candidates),
                quantity=quantity,
                design=design,
                n=lists,
                every=few is None,
                ties=ties,
                recall=recall,
                advance=advance,
            )
            return measure_rows(candidates, kernel, {"n": lists})

    columns = ("measure", "n", *(name.format(quantity) for name in _LIST_COLUMNS))
    return _tabulated(sample, question, columns, able, n=sizes, noted=noted)


def _list_columns_of(
    ranking: Ranking, _: Candidates, *, judgments: Judgments, quantity: str, **options: Any
) -> dict[str, AnyArray]:
    """Return the columns of lists, with the estimate named after the quantity."""
    columns = list_columns(ranking, judgments, **options)
    return {**columns, quantity: columns.pop("estimate")}


def _tabulated(
    sample: Sample,
    question: RankingQuestion,
    columns: tuple[str, ...],
    able: Capabilities,
    n: Sizes = None,
    noted: dict[str, Any] | None = None,
) -> pd.DataFrame:
    """Ask the question for a sample, and note the scheme in ``attrs``."""
    attrs = {} if noted is None else noted  # the question can add entries
    attrs.update(sample.scheme.attrs)
    result: pd.DataFrame = quietly(
        sample.gold,
        partial(tabulate, sample.data, sample.roles, question, columns, able, n=n, attrs=attrs),
    )
    return result
