"""Estimates for lists with unjudged candidates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.grids import few_or
from rankeval_pd.forms.rankings.kernel_calls import ask_measures, only_pair, with_names
from rankeval_pd.forms.rankings.values import Shares, Sizes, check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.forms.roles.roles import JudgedRoles, ListSizes, PartlyJudged, Roles
from rankeval_pd.judging.judged_rankings import (
    LazySample,
    ask_sample,
    average_columns,
    find_sample,
    list_columns,
    region_columns,
)
from rankeval_pd.judging.samples import JudgingScheme, Sample, warn_if_chosen
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import IntArray

Estimator = Literal["ratio", "horvitz-thompson"]
_WHAT = "lists judged in part"
PRECISION: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "precision": float, "ci_low": float,
    "ci_high": float, "tied": np.int64, "n_unjudged": np.int64,
}  # fmt: skip
RECALL: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "recall": float, "ci_low": float,
    "ci_high": float, "tied": np.int64, "n_unjudged": np.int64,
}  # fmt: skip
DIFFERENCE: dict[str, type] = {
    "n_only": np.int64, "n_judged_a": np.int64, "n_judged_b": np.int64, "tp_judged_a": np.int64,
    "tp_judged_b": np.int64, "difference": float, "ci_low": float, "ci_high": float,
    "cuts_tie": bool, "n_judged": np.int64, "n_unjudged": np.int64,
}  # fmt: skip
AVERAGE: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "average_precision": float, "ci_low": float,
    "ci_high": float, "n_unjudged": np.int64,
}  # fmt: skip


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure n precision ci_low ci_high n_judged n_unjudged",
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
        Candidates with a score for each measure and a gold label, missing where a candidate was not
        judged. In a Dataset, entries without label and score are padding.
    n : int, sequence of int, range or None
        Sizes of the lists. By default every n, or a grid of n as in :func:`precision_band`.
    unjudged : {"estimate", "bounds"}
        "estimate": the judged candidates are a random sample. "bounds": no assumption; the limits
        are the precision if none, or all, of the unjudged candidates are true positives.
    judged_with : name, float or values, optional
        Probability that each candidate was selected for judging: a column, Series or array, or one
        number for all. By default each list is judged at random.
    windows : int or sequence of int, optional
        Instead of probabilities, the last ranks of windows. With ``[100, 500]``, judging rates are
        estimated separately for candidates whose best rank by any measure is up to 100, up to 500,
        or beyond.
    estimator : {"ratio", "horvitz-thompson"}
        "ratio": the share of true positives among judged candidates, within each window or group of
        equal probability. "horvitz-thompson": the sum of inverse probabilities divided by n,
        unbiased but more variable, and possibly above 1; it needs judged_with. Its limits allow for
        a true positive of the smallest probability, and are wide if some are small.
    level : float
        Confidence level of the interval of "estimate".
    progress : bool, optional
        Whether to show a progress bar. By default one appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates in the list, and true positives among
        them; ``precision``: the estimate, NaN without judged candidates; ``ci_low``, ``ci_high``:
        limits of the precision of the whole list, always within "bounds"; ``tied``: excluded
        candidates with the last score; ``n_unjudged``: unjudged candidates in the list.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a role cannot be filled, a probability is not in (0, 1], or a candidate with probability
        1 is not judged.

    Notes
    -----
    The interval is exact for a finite population, from the hypergeometric distribution, and shrinks
    to the precision of :func:`nbest_precision` once all candidates are judged. It reflects missing
    judgments, not the variation between samples of candidates. Do not drop unjudged candidates:
    that changes the rankings (for Evert's list of 500 it gives 19.8% instead of 30.4%).

    For several windows or probabilities (12 at most), the exact intervals of the parts are combined
    (MOVER, Zou and Donner 2008); a part without judgments gets the estimate of the others and
    limits from none to all. With more probabilities, these are weights, and the interval is Clopper
    and Pearson's for the effective number of judgments (Korn and Graubard 1998). Horvitz and
    Thompson's estimator has gamma limits (Fay and Feuer 1997). A random sample of the whole data,
    or of a pool of lists, is random in each list. Sheets of :func:`annotation_sheet` are not, as
    they exclude shared candidates; use :func:`judged_difference` for them. For data in memory,
    Fisher's tests compare the judging rates within each list of up to eight n (top against rest,
    shared against other candidates), and a :class:`RankevalWarning` reports a sample that is not
    random, at a level of 0.001 for all tests. Small selected samples go unnoticed. Cost: the same
    as :func:`nbest_precision`, plus a search over the counts.

    With ``groups``, whole groups such as documents are assumed to be sampled for judging. The
    variance is between the totals of judged groups, and 0 if every candidate is judged. The judged
    candidates of a partly judged group are assumed to be a random sample of it. The interval is
    Wilson's for the effective number of judgments, with Student's t. Randomness is not tested.

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
    asked = JudgingScheme(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    sample = find_sample(data, roles, asked, in_chunks=not isinstance(sizes, Shares))
    result: Data = _of_lists(sample, sizes, PRECISION, progress)
    return result


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure n recall ci_low ci_high n_judged n_unjudged",
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
        As in :func:`judged_precision`; without judged_with and windows, judged candidates are a
        random sample inside and outside the list.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates in the list, and true positives among
        them; ``recall`` of the list, estimated, NaN without any judged true positive; ``ci_low``,
        ``ci_high``; ``tied``.

    Notes
    -----
    Recall is T / (T + U) for T true positives inside and U outside the list, each estimated from
    the judged candidates there; a warning as in :func:`judged_precision` reports samples that are
    clearly not random. Its limits r are where the limits of (1 - r) T - r U, combined from the
    intervals of T and U, are 0 (Donner and Zou 2012).

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
    asked = JudgingScheme(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    sample = find_sample(data, roles, asked, in_chunks=not isinstance(sizes, Shares))
    result: Data = _of_lists(sample, sizes, RECALL, progress)
    return result


@Capabilities(
    rankings="What to judge, and how?",
    any_ties=True,
    clusters=True,
    short="measure average_precision ci_low ci_high n_judged n_unjudged",
)
@with_roles_but(
    "ties",
    key="no effect here, unless windows cut equal scores.",
    label="no effect here, unless windows cut equal scores.",
    rng="no effect here, unless windows cut equal scores.",
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
        As in :func:`judged_precision`; without judged_with and windows, judged candidates are a
        random sample of all candidates. Equal scores are one block.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``; ``n_judged``, ``tp_judged``;
        ``average_precision``, NaN if no true positive, or no candidate of a window, is judged;
        ``ci_low``, ``ci_high``: with "bounds" the smallest and largest possible value.

    Notes
    -----
    This is inferred average precision (Yilmaz and Aslam 2006): the mean over the judged true
    positives, weighted by inverse probabilities, of the estimated precision at their ranks. This
    precision counts the positive itself, and the share of true positives among the other judged
    candidates above it (weighted for "horvitz-thompson"). With all candidates judged it is
    ``area("ap")``. With ``groups`` see :func:`judged_precision`. Randomness is tested in the same
    way; a sample that is not random at a level of one in a million raises a ValueError. The
    interval has the outer limits of two logit intervals with Student's quantile for the judged true
    positives minus one: around the estimate, and around a value that allows for missed positives.
    The standard error comes from the influences of the judged candidates. With windows or several
    probabilities the lower limit allows for true positives missed among sparsely judged candidates.
    In simulations of pools by depth with 4 judged true positives or more, it covered 0.93 or more
    (``tests/reference/second_audit_rankings.csv``). Cost: O(N log N) per measure.

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
    asked = JudgingScheme(unjudged, judged_with, windows, estimator, level)
    sample = find_sample(data, roles, asked)
    design = sample.design()

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        beside, options = sample.beside(inner), {"design": design}
        inner = warn_if_chosen(sample, inner, beside, None)
        result = ask_measures(inner, average_columns, AVERAGE, beside=beside, options=options)
        return result.assign(exists=xr.ones_like(result["n_judged"], dtype=bool))

    answered: Data = ask_sample(
        sample, question, ("measure", *AVERAGE), can(judged_average_precision)
    )
    return answered


@Capabilities(
    rankings="What to judge, and how?",
    lists=True,
    ends=True,
    clusters=True,
    short="measure_a measure_b n difference ci_low ci_high n_judged n_unjudged",
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
    """Return the difference of the precisions of two partly judged lists.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, progress, **roles
        As in :func:`judged_precision`; without judged_with and windows, judged candidates are a
        random sample of each difference region. Windows use ranks by a and b.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``n_only``: candidates in each difference region; ``n_judged_a``, ``n_judged_b``,
        ``tp_judged_a``, ``tp_judged_b``: judged candidates in each, and true positives among them;
        ``difference`` of the precisions of the two lists, NaN if a region has no judged candidates,
        with ``ci_low``, ``ci_high``; ``cuts_tie``: whether a list excludes candidates with its last
        score; ``n_judged``, ``n_unjudged``: of both regions.

    Notes
    -----
    With T_a and T_b true positives in the difference regions, the difference is (T_a - T_b) / n,
    estimated from the judged candidates there. The interval combines the exact intervals of T_a and
    T_b (MOVER, Zou and Donner 2008). It reflects only the unjudged candidates of these two lists
    and shrinks to a point once all are judged, so it does not show whether another sample would
    differ. Fisher's test, which :func:`plan_annotation` plans for, does: ``compare_for(
    tp_judged_a, n_judged_a, tp_judged_b, n_judged_b, overlap=0)``, returns its p-value if each
    region has one judging rate. It may find no difference although the interval excludes 0. A
    :class:`RankevalWarning` reports judged candidates that are clearly not a random sample of the
    regions, as in :func:`judged_precision`. In simulations with a fifth of Evert's data judged,
    intervals of precision and difference held their level (``tests/reference/partly_judged.csv``).

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
    asked = JudgingScheme(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    pair = only_pair(data, a, b, roles, one=True)
    sample = find_sample(data, pair, asked, in_chunks=not isinstance(sizes, Shares))
    design, chosen = sample.design(), Roles.of(sample.roles)

    def question(inner: xr.Dataset, asked_n: IntArray) -> xr.Dataset:
        beside = sample.beside(inner)
        inner = warn_if_chosen(sample, inner, beside, asked_n, regions=True)
        with drawing_bar(
            inner, progress, draws=2 * asked_n.size, what=_WHAT, unit="lists"
        ) as advance:
            computed = xr.apply_ufunc(
                region_columns,
                inner["score"],
                inner["gold"],
                inner["present"],
                *beside,
                kwargs={
                    "design": design, "n": asked_n, "every": sizes is None, "ties": chosen.ties,
                    "ends": inner.attrs["ends"], "advance": advance,
                },
                input_core_dims=[["measure", "candidate"], ["candidate"], ["measure", "candidate"]]
                + [["candidate"]] * len(beside),
                output_core_dims=[["pair", "n"]] * (len(DIFFERENCE) + 1),
                dask="parallelized",
                dask_gufunc_kwargs={"output_sizes": {"pair": 1, "n": asked_n.size}},
                output_dtypes=[*DIFFERENCE.values(), bool],
            )  # fmt: skip
        names = [*DIFFERENCE, "exists"]
        result = with_names(tables.as_columns(names, computed), [(a, b)])
        return result.assign_coords(n=("n", asked_n))

    columns = ("measure_a", "measure_b", "n", *DIFFERENCE)
    answered: Data = ask_sample(sample, question, columns, can(judged_difference), n=sizes)
    return answered


def _of_lists(
    sample: Sample | LazySample, sizes: Sizes, columns: dict[str, type], progress: bool | None
) -> Any:
    """Compute the precision or the recall of the lists of every measure."""
    design, chosen = sample.design(), Roles.of(sample.roles)
    noted: dict[str, Any] = {}

    def question(inner: xr.Dataset, asked_n: IntArray) -> xr.Dataset:
        beside = sample.beside(inner)
        few = few_or(sizes, asked_n, chosen.ties, noted)
        asked_n = asked_n if few is None else few
        inner = warn_if_chosen(sample, inner, beside, asked_n, rest=columns is RECALL)
        lists = inner.sizes["measure"] * asked_n.size
        with drawing_bar(inner, progress, draws=lists, what=_WHAT, unit="lists") as advance:
            return ask_measures(
                inner, list_columns, {**columns, "exists": bool}, along={"n": asked_n},
                beside=beside,
                options={
                    "design": design, "n": asked_n, "every": few is None, "ties": chosen.ties,
                    "recall": columns is RECALL, "advance": advance,
                },
            )  # fmt: skip

    able = can(judged_recall if columns is RECALL else judged_precision)
    named = ("measure", "n", *columns)
    return ask_sample(sample, question, named, able, n=sizes, noted=noted)
