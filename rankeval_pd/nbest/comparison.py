"""Is A better than B? Difference regions and their test (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_flag, warn_of_thresholds
from rankeval_pd.forms.out.averages import Average
from rankeval_pd.forms.out.tables import adjusted_together
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import (
    Pair,
    PairRanks,
    ask_pairs,
    only_pair,
    pair_names,
    with_better,
)
from rankeval_pd.forms.rankings.values import Sizes, check_n, those
from rankeval_pd.forms.roles.declarations import Capabilities, can, check_needed, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    Alternative,
    ComparedShare,
    DifferenceInterval,
    FamilyAdjustment,
    ListSizes,
    Names,
    RankingRoles,
    RegionTest,
    Roles,
    Target,
)
from rankeval_pd.nbest.acceptance_sets import check_threshold, compare_thresholds
from rankeval_pd.nbest.difference_regions import DECIDED, REGION_TYPES, RegionOptions, region_tests
from rankeval_pd.nbest.grouped_lists import (
    check_clustered,
    check_joined,
    cluster_contrasts,
    compare_joined,
)  # fmt: skip
from rankeval_pd.nbest.precision import LEAST
from rankeval_pd.nbest.recall import precision_as
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.differences import DIFFERENCE_INTERVALS, agree_with_test
from rankeval_pd.stats.intervals.proportions import z_of
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.rankings.ranking import nbest_regions
from rankeval_pd.stats.significance.fisher import sample_odds_ratio

NBEST_COLUMNS = ("measure_a", "measure_b", "n", *REGION_TYPES, *DECIDED, "cuts_tie")
DRAWN = ("p_stderr", "undecided")  # with adjust="max-t", behind the others
COMPARED = ("precision", "recall", "lift")
_MOST_SWAPS = 1e15


@Capabilities(rankings="Is A better than B?", lists=True, ends=True, clusters=True, heads=True)
@with_roles
def compare(
    data: Data,
    a: Hashable = None,
    b: Names = None,
    n: ListSizes = None,
    *,
    of: ComparedShare = "precision",
    threshold: Mapping[Hashable, Any] | None = None,
    test: RegionTest | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    ci: DifferenceInterval = "score",
    target: Target = "region",
    phi: float = 1.0,
    combine: bool = False,
    average: Average | None = None,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare two measures, or all pairs, by the candidates that only one of them accepts.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair; ``b`` may be a list. ``a`` alone: a against each other measure. Neither:
        all pairs.
    n : int, sequence of int, range or None
        Sizes of the n-best lists; None is every n from 1 to the number of candidates.
    of : {"precision", "recall", "lift"}
        What is compared of n-best lists. tp / N+ (recall) and (tp / n) / (N+ / N) (lift, or
        enrichment factor) are precision times n / N+, or N / N+: so are the difference and its
        interval, and the test is the same.
    threshold : mapping, optional
        Compare acceptance sets instead: from each measure to a threshold, or to a list of them
        that are compared one by one.
    test : {None, "fisher", "midp", "mcnemar", "boschloo", "barnard", "score"}
        What ``p_value`` is; None is "fisher", and with ``phi`` above 1 "score". Fisher's exact
        test is the paper's; its size is below the level, far below where the regions are small.
        Mid-p is closer to it, and may exceed it slightly.
        Boschloo's and Barnard's tests are exact and more powerful than Fisher's; they take
        milliseconds for each n, which must be given. McNemar's asks which measure is right more
        often, whether it accepts or rejects; it has little power where positives are rare. The
        score test is the only one that knows of ``phi``: of counts divided by it, with half of
        Yates' correction.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better than b.
    alpha : float
        A row is significant where p <= alpha.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment for the number of tests, all rows (groups, pairs and n). "max-t" holds for
        all n asked for together and knows that neighbouring n are nearly the same test: the labels
        of the two rankings are swapped at random, candidate by candidate, and what counts is the
        largest difference over all n. Over pairs and groups a step-down in Holm's way is put on
        top: a pair counts until it is significant at every n.
    adjust_over : {"all", "group"}
        Whether the rows of all groups of ``by`` (of a Dataset, of all batch dimensions) are one
        family, or those of each group are one of their own.
    n_resamples : int, optional
        Number of swaps of "max-t"; by default 999, or as many as let the smallest adjusted p-value
        be a tenth of alpha (of more than 50 pairs, 500 / alpha swaps or as many as let it be half
        of alpha). Where they decide by chance, ``undecided`` says so.
    level : float
        Confidence level of the interval of the difference.
    ci : {"score", "newcombe", "agresti-caffo", "miettinen-nurminen", "delta"}
        Interval of the difference of the two regions, times n_only / n. "score" is Miettinen and
        Nurminen's with half a continuity correction, and reaches to 0 wherever the test of the row
        does not reject at 1 - ``level``: it covers at least the level, and no row contradicts
        itself. The next three fall to .8 near the ends, and may exclude 0 at p > .05. With
        ``threshold``, "score" is put together from the Clopper-Pearson limits of both sets, and
        reaches to 0 likewise; "delta" is the delta method, which is too narrow where a set or what
        only one of them has is small.
    target : {"region", "nbest"}
        What the interval is one of. "region" is the paper's: the two lists are acceptance regions
        with fixed thresholds. "nbest" adds the variance of the thresholds, and takes the normal
        approximation of :func:`difference_band` in place of ``ci``. It reaches to 0 where the test
        does not reject, and may hold 0 where it does.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`: how many times as much as binomial
        counts the true positives vary. It widens the interval, and the test is the score test;
        phi is taken as known. ``p_mid`` is NaN.
    combine : bool
        Whether to combine the groups of ``by`` (of a Dataset, all batch dimensions) into one exact
        test for each n, that of Cochran, Mantel and Haenszel: each group is a stratum.
    average : {None, "macro", "micro"}
        One row for all groups: "macro" has the means over groups, "micro" the sums of true
        positives over the sums of n, both with Student's interval and test over the groups.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n, coordinates measure_a and
        measure_b):

        * ``measure_a``, ``measure_b``, ``n``;
        * ``precision_a``, ``precision_b`` (or ``recall_a``, ``recall_b``; ``lift_a``, ``lift_b``),
          ``difference`` of the two, and its limits ``ci_low``, ``ci_high``;
        * ``overlap``: candidates in both lists; ``n_only_a``, ``n_only_b``: in one only (the
          difference regions); ``tp_only_a``, ``tp_only_b``: true positives among these;
        * ``odds_ratio``: (tp_only_a fp_only_b) / (fp_only_a tp_only_b), NaN for 0/0;
        * ``p_value``: of ``test``; ``p_mid``: Fisher's mid-p; ``p_adjusted``: NaN without
          ``adjust``;
        * ``significant``: p_adjusted, or without ``adjust`` p_value, is at most alpha;
        * ``better``: the measure that the difference favours, significant or not; NaN at 0;
        * ``cuts_tie``: whether one of the two lists leaves out candidates with the score of its
          last one, so that the order of equal scores matters: see :func:`tie_sensitivity`;
        * with "max-t" only, ``p_stderr``: Monte-Carlo standard error of p_adjusted;
          ``undecided``: the 95 % Monte-Carlo interval of p_adjusted holds alpha, so that other
          draws may decide otherwise: draw more.

        With ``combine`` the counts are sums over the groups, and ``n_groups``, ``n_left_out``, the
        groups with and without lists of n, come last; with ``average`` the same two are
        ``n_queries``, ``n_missing``. Under ``missing="absent"`` lists that end early are filled
        up with candidates of their own that are not relevant.

        With ``threshold``, ``n_a`` and ``n_b`` replace ``n``, ``recall_a`` and ``recall_b`` come
        last in the place of ``cuts_tie`` (Dataset: dimensions pair and cut), and ``better``
        follows the precision in the two difference regions.

    Warns
    -----
    RankevalWarning
        With target="region", if the difference of two lists, of regions of 10 candidates or more,
        varies more than 1.5 times as much as that of regions with fixed thresholds: intervals of
        lists as different as .93 and .4 at n near N+ covered the lists' difference in .63 to .85.
        If acceptance sets differ in size by more than 10 %: "better" then has no meaning, and is
        NaN (Evert's footnote 13).

    Notes
    -----
    The two-sided test takes all tables that are at most as likely as the observed one, up to a
    relative 1e-7, as R does. n-best lists have difference regions of equal size, so that the test
    is twice one tail, at most 1. With an empty region, or with no or only true positives in both,
    p_value and p_mid are 1. The tests of neighbouring n are of nearly the same candidates: a run
    of significant n is not so many pieces of evidence.

    Cost: one sort per measure, O(N) counting per pair for every n together, and for each n a
    series of some standard deviations of the hypergeometric distribution; half a second for every n
    of 100,000 candidates, most of them for the intervals. Errors are below 1e-11 relative. "max-t"
    takes, for each swap and pair, O(n) of the few n asked for, and O(N) for every n: 0.02 s for
    1,999 swaps and 3 n, 0.8 s for every n of 5,000 candidates. Its null hypothesis is that, given
    the gold label, the two ranks of every candidate may be exchanged. The draws are the same for
    all pairs and groups: a function of ``rng``, the swap and the candidate's tie key alone, so that
    candidates that no list can reach change no number.

    References
    ----------
    Evert (2004), section 3.3, figure 3, footnote 13. O. Miettinen and M. Nurminen (1985),
    Comparative analysis of two rates. R. G. Newcombe (1998), Interval estimation for the difference
    between independent proportions, method 10. G. Y. Zou and A. Donner (2008), Construction of
    confidence limits about effect measures.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "G2": [6, 5, 4, 3, 2, 1],
    ...         "t": [1, 2, 3, 4, 5, 6],
    ...         "gold": [True, True, True, False, False, False],
    ...     }
    ... )
    >>> found = df.rankeval.compare("G2", "t", n=3)
    >>> found[["measure_a", "measure_b", "n", "difference", "p_value", "better"]]
      measure_a measure_b  n  difference  p_value better
    0        G2         t  3         1.0      0.1     G2
    """
    sizes = check_n(n)
    check_choice("of", of, COMPARED)
    if of != "precision" and threshold is not None:
        raise ValueError(
            f"of={of!r} with threshold: two acceptance sets differ in size too, and their test is"
            " one of precision. Leave of out: recall_a and recall_b are columns there; or give n."
        )
    check_flag("combine", combine)
    if combine or average is not None:
        only = {
            "of": (of, "precision"), "threshold": (threshold, None), "test": (test, None),
            "ci": (ci, "score"),
            "target": (target, "region"), "phi": (phi, 1.0), "n_resamples": (n_resamples, None),
        }  # fmt: skip
        check_joined(combine, average, sizes, only)
        return compare_joined(
            data, a, b, None if sizes is None else np.asarray(sizes), roles, average=average,
            alternative=alternative, alpha=alpha, adjust=adjust, level=level,
        )  # fmt: skip
    clustered = Roles.of(roles).groups is not None
    if clustered:
        check_clustered(test, ci, phi, threshold)
        test = None
    options = RegionOptions.of(
        test=test, alternative=alternative, ci=ci, level=level, target=target, phi=phi,
        adjust=adjust, adjust_over=adjust_over, alpha=alpha, n_resamples=n_resamples,
        progress=progress, seed=0,
    )  # fmt: skip
    if threshold is not None:
        check_threshold(n, threshold, options)
        finish = partial(_decide, options=options)
        able = can(compare, lists=False)
        return compare_thresholds(data, a, b, threshold, options, finish, roles, able)
    if test in ("boschloo", "barnard") and n is None:
        raise ValueError(
            f"test={test!r} and n=None: this test takes milliseconds for each n. Give the n that"
            " matter, or take test='midp', which is nearly as powerful."
        )
    check_choice("ci", ci, DIFFERENCE_INTERVALS)
    options = options._replace(test="cluster", ci="cluster") if clustered else options
    return _compare_lists(data, a, b, sizes, of, options, roles)


def _compare_lists(
    data: Data, a: Hashable, b: Names, sizes: Sizes, of: str, options: RegionOptions, roles: Any
) -> Data:
    """Compare n-best lists: each n by its own test, or all n together by swaps of the labels."""
    chosen = Roles.of(roles)
    swapped: bool = options.adjust == "max-t"
    options = options._replace(seed=chosen.swaps if swapped else 0)
    noted = {**options.noted(), **({} if of == "precision" else {"of": of})}
    types: dict[str, type] = {**REGION_TYPES, "leaning": float, "cuts_tie": bool}
    columns: tuple[str, ...] = (*NBEST_COLUMNS, *(DRAWN if swapped else ()))
    if options.test == "cluster":
        types["n_groups"], columns = np.int64, (*columns, "n_groups")

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        pairs, n = pair_names(inner, a, b), those(sizes, asked)
        if swapped:
            groups = max(1, inner.attrs["n_groups"]) if options.adjust_over == "all" else 1
            noted["n_resamples"] = _enough(len(pairs) * groups, options)
            drawing = options._replace(n_resamples=noted["n_resamples"])
            result = _of_all_n(inner, pairs, types, n, chosen.ties, drawing)
        else:
            result = _of_each_n(inner, pairs, types, n, chosen.ties, options)
        return with_better(result if of == "precision" else precision_as(result, inner, of))

    return answer(
        data, only_pair(data, a, b, roles), question,
        tuple(name.replace("precision", of) for name in columns), can(compare), n=sizes,
        finish=partial(_decide, options=options), attrs=noted,
    )  # fmt: skip


def _of_each_n(
    inner: xr.Dataset, pairs: list[Pair], types: dict[str, type], n: IntArray | None, ties: str,
    options: RegionOptions,
) -> xr.Dataset:  # fmt: skip
    with drawing_bar(
        inner, options.progress, draws=len(pairs), what="comparing lists", unit="pairs"
    ) as advance:
        return ask_pairs(
            inner, pairs, _list_columns, types, n=n, ties=ties, options={"options": options},
            advance=advance,
        )  # fmt: skip


def _of_all_n(
    inner: xr.Dataset, pairs: list[Pair], types: dict[str, type], n: IntArray | None, ties: str,
    options: RegionOptions,
) -> xr.Dataset:  # fmt: skip
    draws = len(pairs) * (options.n_resamples or 0)
    with drawing_bar(inner, options.progress, draws=draws, what="swapping labels") as advance:
        return ask_pairs(
            inner, pairs, _swapped_columns, {**types, "p_swaps": float, "drawn": float}, n=n,
            ties=ties, options={"options": options, "advance": advance},
        )  # fmt: skip


def _enough(n_tests: int, options: RegionOptions) -> int:
    """Return how many draws there are, or refuse: of so few no statistic could be significant."""
    if n_tests / options.alpha > _MOST_SWAPS:
        raise ValueError(
            f"alpha={options.alpha:g}: no test by draws is significant at it, unless there are more"
            f" than {_MOST_SWAPS:.0e} of them. Give a larger alpha."
        )
    if options.n_resamples is None:
        return check_needed(swaps.enough_swaps(n_tests, options.alpha), f"alpha={options.alpha!r}")
    needed = swaps.least_swaps(n_tests, options.alpha)
    if options.n_resamples < needed:
        what = "pairs, counted in every group," if options.adjust_over == "all" else "pairs"
        raise ValueError(
            f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g}: the smallest"
            f" p-value of {n_tests} {what if n_tests > 1 else 'pair'} is {n_tests}/(n_resamples +"
            f" 1). Give n_resamples={needed} or more, or leave it out."
        )
    return options.n_resamples


def _list_columns(lists: PairRanks, n: IntArray, *, options: RegionOptions) -> tuple[AnyArray, ...]:
    r = lists.regions(n)
    only = n - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    difference = (tp_only_a - tp_only_b) / n
    groups: tuple[IntArray, ...] = ()
    tables = tp_only_a, only, tp_only_b, only
    if options.test == "cluster":
        low, high, p_value, n_groups = cluster_contrasts(
            lists, n, target=options.target, level=options.level, alternative=options.alternative
        )
        p_values = sample_odds_ratio(*tables), p_value, np.full_like(p_value, np.nan)
        groups = (n_groups,)
    else:
        p_values = region_tests(*tables, options, lists.exists)
        low, high = _limits(lists, n, tables, difference, p_values[1], options)
    low, high = (np.where(only == 0, 0.0, limit) for limit in (low, high))
    precision = r.tp_a / n, r.tp_b / n
    counts = r.overlap, only, only, tp_only_a, tp_only_b
    return (
        *precision, difference, low, high, *counts, *p_values, np.sign(difference),
        lists.a.cuts_tie(n) | lists.b.cuts_tie(n), *groups,
    )  # fmt: skip


def _limits(
    lists: PairRanks,
    n: IntArray,
    tables: tuple[IntArray, IntArray, IntArray, IntArray],
    difference: FloatArray,
    p_value: FloatArray,
    options: RegionOptions,
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the difference, the candidates being independent."""
    tp_only_a, only, tp_only_b, _ = tables
    if options.target == "nbest":
        low, high = _nbest_limits(lists, n, only, (tp_only_a, tp_only_b), difference, options)
        return agree_with_test(low, high, p_value, options.alternative, options.level)
    _warn_if_thresholds_matter(lists, n, only, (tp_only_a, tp_only_b))
    tp_a, tp_b, size = (x / options.phi for x in (tp_only_a, tp_only_b, only))
    low, high = DIFFERENCE_INTERVALS[options.ci](tp_a, size, tp_b, size, options.level)
    low, high = low * (only / n), high * (only / n)
    if options.ci == "score":
        low, high = agree_with_test(low, high, p_value, options.alternative, options.level)
    return low, high


def _warn_if_thresholds_matter(
    lists: PairRanks, n: IntArray, only: IntArray, tp_only: tuple[IntArray, IntArray]
) -> None:
    """Say where the difference of the lists varies far more than that of two fixed regions."""
    exists = lists.exists & (only >= LEAST)
    if exists.any():
        spread = bands.difference_spread(*lists.ranks, lists.gold, lists.total, n, only, tp_only)
        shares = ((tp + 1.0) / (only + 2.0) for tp in tp_only)
        regions = (only + 2.0) * sum(share * (1.0 - share) for share in shares)
        ratio, sizes = spread.variance / regions, np.broadcast_to(n, only.shape)
        warn_of_thresholds(ratio, sizes, exists, "difference of the n-best lists")


def _nbest_limits(
    lists: PairRanks,
    n: IntArray,
    only: IntArray,
    tp_only: tuple[IntArray, IntArray],
    difference: FloatArray,
    options: RegionOptions,
) -> tuple[FloatArray, FloatArray]:
    """Return difference -+ z se, the thresholds of both lists being as random as the labels."""
    spread = bands.difference_spread(*lists.ranks, lists.gold, lists.total, n, only, tp_only)
    margin = z_of(options.level) * np.sqrt(options.phi * spread.variance) / n
    return np.maximum(difference - margin, -1.0), np.minimum(difference + margin, 1.0)


def _swapped_columns(
    lists: PairRanks, n: IntArray, *, options: RegionOptions, advance: Callable[[int], object]
) -> tuple[AnyArray, ...]:
    """Return the columns and the p-values that hold for all n of a pair together."""
    p_swaps = np.full(lists.exists.shape, np.nan)
    for row in np.ndindex(p_swaps.shape[:-1]):
        asked = lists.exists[row]
        if not asked.any():
            continue
        a, b, gold = lists.of(row)
        drawn = swaps.largest_statistics(
            a, b, gold, n[asked], options.alternative, lists.draws_of(row),
            n_resamples=options.n_resamples or 0, seed=options.seed, advance=advance,
        )  # fmt: skip
        observed = swaps.region_statistic(nbest_regions(a, b, gold, n[asked]), n[asked])
        p_swaps[(*row, asked)] = swaps.exceedance(swaps.sided(observed, options.alternative), drawn)
    drawn_swaps = np.full(p_swaps.shape, float(options.n_resamples or 0))
    return (*_list_columns(lists, n, options=options), p_swaps, drawn_swaps)


def _decide(
    results: list[xr.Dataset], batch: list[Hashable], options: RegionOptions
) -> list[xr.Dataset]:
    """Add the adjusted p-value and whether it is significant, all groups being known."""
    bare = [result["p_value"].where(result["exists"]) for result in results]
    if options.adjust is None:
        return [
            result.assign(
                p_adjusted=xr.full_like(p.variable, np.nan), significant=p.variable <= options.alpha
            )
            for result, p in zip(results, bare, strict=True)
        ]
    simultaneous = options.adjust == "max-t"
    given = [result["p_swaps"] for result in results] if simultaneous else bare
    computed = adjusted_together(given, options.adjust, batch=batch, over=options.adjust_over)
    decided = [
        result.assign(p_adjusted=p, significant=p <= options.alpha)
        for result, p in zip(results, computed, strict=True)
    ]
    return [_with_error(result, options.alpha) for result in decided] if simultaneous else decided


def _with_error(result: xr.Dataset, alpha: float) -> xr.Dataset:
    """Add the standard error of the adjusted p-value, and whether other draws may decide else."""
    error, undecided = xr.apply_ufunc(
        swaps.monte_carlo_error,
        result["p_swaps"],
        result["p_adjusted"],
        result["drawn"],
        kwargs={"alpha": alpha},
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[float, bool],
    )
    return result.assign(p_stderr=error, undecided=undecided)
