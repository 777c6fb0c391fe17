"""What do the judged candidates say about lists of which a part is not judged?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import Question, answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures, only_pair, with_names
from rankeval_pd.forms.rankings.list_sizes import Shares, Sizes, check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.forms.roles.roles import ListSizes, PartlyJudged, RankingRoles, Roles
from rankeval_pd.judging.lazy_samples import LazySample, find_sample
from rankeval_pd.judging.samples import Asked, Sample, counts_of, quietly, warn_if_chosen
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import judged_sums, ranking
from rankeval_pd.stats.rankings import judged_sums as totals

Estimator = Literal["ratio", "horvitz-thompson"]
_WHAT = "lists judged in part"
_TOGETHER = 20_000  # lists between two steps of a progress bar
PRECISION: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "precision": float, "ci_low": float,
    "ci_high": float, "tied": np.int64,
}  # fmt: skip
RECALL: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "recall": float, "ci_low": float,
    "ci_high": float, "tied": np.int64,
}  # fmt: skip
DIFFERENCE: dict[str, type] = {
    "n_only": np.int64, "n_judged_a": np.int64, "n_judged_b": np.int64, "tp_judged_a": np.int64,
    "tp_judged_b": np.int64, "difference": float, "ci_low": float, "ci_high": float,
    "cuts_tie": bool,
}  # fmt: skip
AVERAGE: dict[str, type] = {
    "n_judged": np.int64, "tp_judged": np.int64, "average_precision": float, "ci_low": float,
    "ci_high": float,
}  # fmt: skip


@Capabilities(rankings="Only a part is judged", lists=True, ends=True)
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
    **roles: Unpack[RankingRoles],
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
        candidates left out of the list although their score is the last one in it.

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
    >>> rankeval_pd.judged_precision(partly, 100).round(2)
      measure    n  n_judged  tp_judged  precision  ci_low  ci_high  tied
    0    good  100        30         17       0.57    0.41     0.71     0
    1    fair  100        32         10       0.31    0.19     0.46     0
    """
    asked = Asked(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    sample = find_sample(data, roles, asked, in_chunks=not isinstance(sizes, Shares))
    result: Data = _of_lists(sample, sizes, PRECISION, progress)
    return result


@Capabilities(rankings="Only a part is judged", lists=True, ends=True)
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
    **roles: Unpack[RankingRoles],
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
    >>> rankeval_pd.judged_recall(partly, 100, measures="good").round(2)
      measure    n  n_judged  tp_judged  recall  ci_low  ci_high  tied
    0    good  100        30         17    0.59    0.45     0.71     0
    """
    asked = Asked(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    sample = find_sample(data, roles, asked, in_chunks=not isinstance(sizes, Shares))
    result: Data = _of_lists(sample, sizes, RECALL, progress)
    return result


@Capabilities(rankings="Only a part is judged", any_ties=True)
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
    **roles: Unpack[RankingRoles],
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

    Those judged are looked at as :func:`judged_precision` does.

    The interval is symmetric for the logit, with Student's quantile for as many true positives as
    are judged, less one; its standard error is that of the sum of the influences of the judged. It
    is of large samples; with few judged true positives that stand at the top it is too short
    (``tests/reference/partly_judged.csv``). O(N log N) for each measure.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> partly.rankeval.judged_average_precision(measures="good").round(2)
      measure  n_judged  tp_judged  average_precision  ci_low  ci_high
    0    good       303         29               0.61    0.46     0.74
    """
    asked = Asked(unjudged, judged_with, windows, estimator, level)
    sample = find_sample(data, roles, asked)
    design = sample.design()

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        beside, options = sample.beside(inner), {"design": design}
        warn_if_chosen(sample, inner, beside, None)
        result = ask_measures(inner, _average_precision, AVERAGE, beside=beside, options=options)
        return result.assign(exists=xr.ones_like(result["n_judged"], dtype=bool))

    answered: Data = _answered(
        sample, question, ("measure", *AVERAGE), can(judged_average_precision)
    )
    return answered


@Capabilities(rankings="Only a part is judged", lists=True, ends=True)
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
    **roles: Unpack[RankingRoles],
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
        with the score of its last one.

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
    lists has one. In simulations with a fifth of Evert's data judged,
    intervals of precision and difference covered as promised
    (``tests/reference/partly_judged.csv``).

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> found = rankeval_pd.judged_difference(partly, "good", "fair", 100)
    >>> found[["n", "n_only", "difference", "ci_low", "ci_high"]].round(2)
         n  n_only  difference  ci_low  ci_high
    0  100      63        0.24    0.08     0.37
    """
    asked = Asked(unjudged, judged_with, windows, estimator, level)
    sizes = check_n(n)
    pair = only_pair(data, a, b, roles)
    sample = find_sample(data, pair, asked, in_chunks=not isinstance(sizes, Shares))
    design, chosen = sample.design(), Roles.of(sample.roles)

    def question(inner: xr.Dataset, asked_n: IntArray) -> xr.Dataset:
        with drawing_bar(
            inner, progress, draws=2 * asked_n.size, what=_WHAT, unit="lists"
        ) as advance:
            computed = xr.apply_ufunc(
                _of_regions,
                inner["score"],
                inner["gold"],
                inner["present"],
                *sample.beside(inner),
                kwargs={
                    "design": design, "n": asked_n, "every": sizes is None, "ties": chosen.ties,
                    "ends": inner.attrs["ends"], "advance": advance,
                },
                input_core_dims=[["measure", "candidate"], ["candidate"], ["measure", "candidate"]]
                + [["candidate"]] * 3,
                output_core_dims=[["pair", "n"]] * (len(DIFFERENCE) + 1),
                dask="parallelized",
                dask_gufunc_kwargs={"output_sizes": {"pair": 1, "n": asked_n.size}},
                output_dtypes=[*DIFFERENCE.values(), bool],
            )  # fmt: skip
        names = [*DIFFERENCE, "exists"]
        result = with_names(tables.as_columns(names, computed), [(a, b)])
        return result.assign_coords(n=("n", asked_n))

    columns = ("measure_a", "measure_b", "n", *DIFFERENCE)
    answered: Data = _answered(sample, question, columns, can(judged_difference), n=sizes)
    return answered


def _of_lists(
    sample: Sample | LazySample, sizes: Sizes, columns: dict[str, type], progress: bool | None
) -> Any:
    """Ask for the precision or the recall of the lists of every measure."""
    design, chosen = sample.design(), Roles.of(sample.roles)

    def question(inner: xr.Dataset, asked_n: IntArray) -> xr.Dataset:
        beside = sample.beside(inner)
        warn_if_chosen(sample, inner, beside, asked_n, rest=columns is RECALL)
        lists = inner.sizes["measure"] * asked_n.size
        with drawing_bar(inner, progress, draws=lists, what=_WHAT, unit="lists") as advance:
            return ask_measures(
                inner, _list_columns, {**columns, "exists": bool}, along={"n": asked_n},
                beside=beside,
                options={
                    "design": design, "n": asked_n, "every": sizes is None, "ties": chosen.ties,
                    "ends": inner.attrs["ends"], "recall": columns is RECALL, "advance": advance,
                },
            )  # fmt: skip

    able = can(judged_recall if columns is RECALL else judged_precision)
    return _answered(sample, question, ("measure", "n", *columns), able, n=sizes)


def _answered(
    sample: Sample | LazySample,
    question: Question,
    columns: tuple[str, ...],
    able: Capabilities,
    n: Sizes = None,
) -> Any:
    """Ask the question of a sample, whose labels may all be alike."""
    # a sample that is here stands beside all rankings, so none of them can be asked alone
    read = sample.reader() if isinstance(sample, LazySample) else None
    attrs = sample.asked.attrs
    return quietly(
        sample.gold,
        lambda: answer(
            sample.data, sample.roles, question, columns, able, n=n, read=read, attrs=attrs
        ),
    )


def _list_columns(
    score: FloatArray,
    true: BoolArray,
    present: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    *,
    design: totals.Design,
    n: IntArray,
    every: bool,
    ties: str,
    ends: bool,
    recall: bool,
    advance: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    """Return the columns (..., n) of the lists, and which there are."""
    lists = ranking.nbest(score, true, present, None if every else n, ties, ends=ends)
    rank = ranking.restricted_ranks(ranking.order(score, present), present)
    listed = present & ~np.isnan(score) if ends else present
    shape = np.broadcast_shapes(*(x.shape for x in (score, true, listed, judged, stratum)))
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape)
        for x in (judged, true, probability, stratum, rank, listed, present)
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
    _, seen, tp = counts_of(sums)
    tied = np.broadcast_to(lists.tied, seen.shape)
    if not recall:
        return (seen, tp, *found / n, tied, np.broadcast_to(lists.exists, seen.shape))
    rest = design.total(every_one - sums)
    share = totals.share_of(found, rest)
    if design.unjudged == "bounds":
        share = totals.Total(share.estimate, *totals.share_bounds(found, rest))
    return (seen, tp, *share, tied, np.broadcast_to(lists.exists, seen.shape))


def _in_blocks(
    design: totals.Design, sums: FloatArray, advance: Callable[[int], object]
) -> totals.Total:
    """Return the true positives of the lists, n by n: (..., n, part) -> (..., n)."""
    found = []
    for start in range(0, max(sums.shape[-2], 1), _TOGETHER):
        block = sums[..., start : start + _TOGETHER, :]
        found.append(design.total(block))
        advance(block[..., 0].size)
    return totals.Total(*(np.concatenate(x, axis=-1) for x in zip(*found, strict=True)))


def _width(design: Any, of_each: Sequence[AnyArray]) -> int:
    """Return how many numbers a design adds up, where there may be no ranking to add them up of."""
    return int(design.parts(*(np.zeros(0, dtype=x.dtype) for x in of_each)).shape[-1])


def _of_regions(
    score: FloatArray,
    true: BoolArray,
    present: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    *,
    design: totals.Design,
    n: IntArray,
    every: bool,
    ties: str,
    ends: bool,
    advance: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    """Return the columns (..., pair, n) of the two difference regions, and which rows there are."""
    both: BoolArray = np.asarray(present.all(axis=-2))
    exists = n <= both.sum(axis=-1)[..., np.newaxis]
    ranks: list[IntArray] = []
    listed: list[BoolArray] = []
    for side in (0, 1):
        own = score[..., side, :]
        if ties != "shared":
            cut = ranking.nbest(own, true, both, None if every else n, ties, ends=ends)
            exists = exists & cut.exists
        ranks.append(ranking.restricted_ranks(ranking.order(own, both), both))
        listed.append(both & ~np.isnan(own) if ends else both)
    shape = np.broadcast_shapes(ranks[0].shape, true.shape, judged.shape, stratum.shape)
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape) for x in (judged, true, probability, stratum, *ranks, *listed)
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
    found = totals.difference(a, b)
    if design.unjudged == "bounds":
        found = totals.Total(found.estimate, a.low - b.high, a.high - b.low)
    only = n - counts_of(shared)[0]
    (_, seen_a, tp_a), (_, seen_b, tp_b) = counts_of(of_a), counts_of(of_b)
    cut_a, cut_b = (ranking.cut_ties(score[..., side, :], ranks[side], both, n) for side in (0, 1))
    rows = (x[..., np.newaxis, :] for x in (cut_a | cut_b, exists))
    cuts_tie, there = (np.broadcast_to(x, only.shape) for x in rows)
    return (only, seen_a, seen_b, tp_a, tp_b, *found / n, cuts_tie, there)


def _average_precision(
    score: FloatArray,
    true: BoolArray,
    present: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    *,
    design: totals.Design,
) -> tuple[AnyArray, ...]:
    """Return the columns (...) of average precision."""
    positions = ranking.order(score, present)
    shape = np.broadcast_shapes(*(x.shape for x in (positions, true, judged, stratum)))
    arrays: list[AnyArray] = [
        np.broadcast_to(x, shape)
        for x in (positions, present, score, true, judged, probability, stratum)
    ]
    result = np.empty((5, *shape[:-1]))
    for row in np.ndindex(shape[:-1]):
        order, here, *of_each = (x[row] for x in arrays)
        order = order[: int(here.sum())]
        own, hit, seen, rate, part = (x[order] for x in of_each)
        found = judged_sums.average_precision(own, hit, seen, rate, part, design)
        result[(slice(None), *row)] = (seen.sum(), (seen & hit).sum(), *found)
    return (*result[:2].astype(np.int64), *result[2:])
