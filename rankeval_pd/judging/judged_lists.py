"""What do the judged candidates say about lists of which a part is not judged?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data
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
    rankings="Only a part is judged",
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
    """Return the precision of n-best lists of which only a part of the candidates is judged.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, missing where a candidate was not
        judged. In a Dataset, what has neither a label nor a score is padding.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    unjudged : {"estimate", "bounds"}
        "estimate": those judged are a random sample. "bounds": nothing is known of the others; the
        limits are the precision if none, and if all of them are true positives.
    judged_with : name, float or values, optional
        The probability with which each candidate was chosen to be judged: a column, a Series or an
        array, or one number for all. Unless given, each list is a random sample of its candidates.
    windows : int or sequence of int, optional
        In place of probabilities, last ranks of windows, ``[100, 500]``: the candidates whose best
        rank by the measures asked is up to 100, then up to 500, and the others, are judged at
        a rate each, which is found from the data.
    estimator : {"ratio", "horvitz-thompson"}
        "ratio": the share of true positives among those judged, within each window or group of
        equal probability. "horvitz-thompson": the sum of inverse probabilities by n, without bias
        but of a larger variance, and possibly above 1; it needs judged_with. Its limits allow for
        a true positive of the least probability of all, and are wide where some are small.
    level : float
        Confidence level of the interval of "estimate".
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates in the list, and true positives among
        them; ``precision``: estimated, NaN where none is judged; ``ci_low``, ``ci_high``: limits of
        the precision of the whole list, which are always among those of "bounds"; ``tied``:
        candidates left out of the list although their score is the last one in it;
        ``n_unjudged``: candidates of the list without a judgment.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a role cannot be filled, a probability is not in (0, 1], or who was chosen for certain
        is not judged.

    Notes
    -----
    The interval is the exact one of a finite population, from the hypergeometric distribution: with
    every candidate judged it is the precision itself, as :func:`nbest_precision` has it. It says
    what is not known for want of judgements, not how the list would vary with other candidates. To
    drop the candidates that were not judged changes the rankings and is no estimate of anything: of
    the list of 500 of Evert's data it gives 19.8 % where the precision is 30.4 %.

    Of several windows or probabilities (12 at the most), the exact intervals of the parts are put
    together (MOVER, Zou and Donner 2008); a part of a list without judgements is taken to be as
    the others, its limits from none to all. More probabilities are weights, and the interval
    is Clopper and Pearson's for as many judgements as the weighted ones are worth (Korn and
    Graubard 1998). Horvitz and Thompson's estimator has gamma limits (Fay and Feuer 1997).

    A sample that is random in the whole data is so in each list; one that was drawn from the pool
    of several lists is so in each as long as each candidate of the pool had the same chance. The
    sheets of :func:`annotation_sheet` are none: they say nothing of what two lists share, and are
    for :func:`judged_difference`. Of data in memory, each list of up to eight n is looked at (its
    top against the rest; what another list has too against what not), and a
    :class:`RankevalWarning` says where Fisher's test finds those judged no random sample, at a
    level of .001 for all together. A small sample that was chosen otherwise goes unnoticed.
    Cost: as :func:`nbest_precision`, and a search over the counts.

    With ``groups`` those judged are a sample of whole groups, of documents for example, and the
    variance is that between the totals of judged groups: 0 if every candidate is judged, too large
    if some of every group are. The interval is Wilson's for as many judgements as have this
    variance, with Student's t. Whether they are a random sample is not looked at.

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
    rankings="Only a part is judged",
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
    """Return the recall of n-best lists where only a part of the candidates is judged.

    Parameters
    ----------
    data, n, unjudged, judged_with, windows, estimator, level, progress, **roles
        As in :func:`judged_precision`; without judged_with and windows, those judged are a random
        sample of the list, and of what is not in it.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates in the list, and true positives among
        them; ``recall`` of the list, estimated, NaN where neither it nor the rest has a judged true
        positive; ``ci_low``, ``ci_high``; ``tied``.

    Notes
    -----
    Recall is the share T / (T + U) of the true positives in the list and outside of it, each
    estimated from those judged there; a warning as that of :func:`judged_precision` says where they
    are plainly no random sample. Its limits are where those of (1 - r) T - r U, which put the
    intervals of T and U together, are 0 (Donner and Zou 2012). All judged, they are the recall.

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
    rankings="Only a part is judged",
    any_ties=True,
    clusters=True,
    short="measure average_precision ci_low ci_high n_judged n_unjudged",
)
@with_roles_but(
    "ties",
    key="no effect here, but where windows cut equal scores.",
    label="no effect here, but where windows cut equal scores.",
    rng="no effect here, but where windows cut equal scores.",
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
    """Return the average precision of rankings of which only a part of the candidates is judged.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, **roles
        As in :func:`judged_precision`; without judged_with and windows, those judged are a random
        sample of all candidates. Equal scores are one block, in whatever order.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``; ``n_judged``, ``tp_judged``;
        ``average_precision``, NaN where no true positive is judged, or a window not at all;
        ``ci_low``, ``ci_high``: with "bounds" the least and the largest that the unjudged allow.

    Notes
    -----
    Inferred average precision (Yilmaz and Aslam 2006): the mean over the judged true positives,
    weighted by inverse probabilities, of the estimated precision of the list that ends where each
    stands: 1 for itself, and the share of true positives among the others of the list that are
    judged (of "horvitz-thompson" their weights). All judged, it is ``area("ap")``.

    With ``groups`` see :func:`judged_precision`. The judged candidates are examined as there. Where
    they are no random sample at a level of one in a million, the call raises a ValueError.

    The interval has the outer limits of two, symmetric for the logit, with Student's quantile for
    as many true positives as are judged, less one. One is around the estimate, the other around the
    same where each positive counts among the others of its list as far as it may have been missed.
    The standard error comes from the influences of the judged candidates. With windows or several
    probabilities the lower limit allows for true positives that were missed where few candidates
    are judged. In simulations of pools by depth, and of 4 judged true positives or more, it covered
    0.93 or more (``tests/reference/second_audit_rankings.csv``). O(N log N) for each measure.

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
    rankings="Only a part is judged",
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
    """Return the difference of the precisions of two lists of which only a part is judged.

    Parameters
    ----------
    data, unjudged, judged_with, windows, estimator, level, progress, **roles
        As in :func:`judged_precision`; without judged_with and windows, those judged in each
        difference region are a random sample of it. The ranks of windows are those by a and b.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``n_only``: candidates in each difference region; ``n_judged_a``, ``n_judged_b``,
        ``tp_judged_a``, ``tp_judged_b``: judged ones in either, and true positives among them;
        ``difference`` of the precisions of the two lists, NaN where in a region none is judged,
        with ``ci_low``, ``ci_high``; ``cuts_tie``: whether one of the lists leaves out candidates
        with the score of its last one; ``n_judged``, ``n_unjudged``: of both regions.

    Notes
    -----
    A candidate in both lists, or in neither, says nothing about the difference: with T_a and T_b
    true positives in the regions it is (T_a - T_b) / n, estimated from those judged there. The
    interval puts the exact intervals of T_a and T_b together (MOVER, Zou and Donner 2008). It is
    one of these two lists, for what is not judged of them: with both regions judged it is the
    difference itself, of no width, and does not say whether another sample would show one. That is
    the question of Fisher's test, which :func:`plan_annotation` plans for: ``compare_for(
    tp_judged_a, n_judged_a, tp_judged_b, n_judged_b, overlap=0)``, with one rate in each region,
    has its p-value. It asks for more, so that it can find no difference where the interval of these
    lists has one. A :class:`RankevalWarning` reports judged candidates that are clearly no random
    sample of the regions, as in :func:`judged_precision`. In simulations with a fifth of Evert's
    data judged, intervals of precision and difference covered as promised
    (``tests/reference/partly_judged.csv``).

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
    pair = only_pair(data, a, b, roles)
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
    """Ask for the precision or the recall of the lists of every measure."""
    design, chosen = sample.design(), Roles.of(sample.roles)

    def question(inner: xr.Dataset, asked_n: IntArray) -> xr.Dataset:
        beside = sample.beside(inner)
        inner = warn_if_chosen(sample, inner, beside, asked_n, rest=columns is RECALL)
        lists = inner.sizes["measure"] * asked_n.size
        with drawing_bar(inner, progress, draws=lists, what=_WHAT, unit="lists") as advance:
            return ask_measures(
                inner, list_columns, {**columns, "exists": bool}, along={"n": asked_n},
                beside=beside,
                options={
                    "design": design, "n": asked_n, "every": sizes is None, "ties": chosen.ties,
                    "recall": columns is RECALL, "advance": advance,
                },
            )  # fmt: skip

    able = can(judged_recall if columns is RECALL else judged_precision)
    return ask_sample(sample, question, ("measure", "n", *columns), able, n=sizes)
