"""Is A better than B? Difference regions and their test (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.measure_pairs import (
    Pair,
    PairRanks,
    ask_pairs,
    only_pair,
    pair_names,
)
from rankeval_pd.forms.n import check_n
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.nbest.acceptance_sets import check_threshold, compare_sets, of_pair
from rankeval_pd.nbest.region_tests import DECIDED, REGION_TYPES, Options, tested
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.rankings import ranking, swaps
from rankeval_pd.stats.significance.adjust import adjust as adjusted
from rankeval_pd.stats.significance.adjust import step_down

NBEST_COLUMNS = ("measure_a", "measure_b", "n", *REGION_TYPES, *DECIDED)
THRESHOLD_COLUMNS = (
    "measure_a", "measure_b", "n_a", "n_b", *REGION_TYPES, *DECIDED, "recall_a", "recall_b",
)  # fmt: skip


@with_roles
def compare(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: Any = None,
    *,
    threshold: Mapping[Hashable, Any] | None = None,
    test: str = "fisher",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    adjust: str | None = None,
    n_resamples: int = 999,
    level: float = 0.95,
    ci: str = "newcombe",
    target: str = "region",
    phi: float = 1.0,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare two measures, or all pairs, by the candidates that only one of them accepts.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair. ``a`` alone: a against each other measure. Neither: all pairs.
    n : int, sequence of int, range or None
        Sizes of the n-best lists; None is every n from 1 to the number of candidates.
    threshold : mapping, optional
        Compare acceptance sets instead: from each measure to a threshold, or to a list of them
        that are compared one by one.
    test : {"fisher", "midp", "mcnemar", "boschloo", "barnard"}
        What ``p_value`` is. Fisher's exact test is the paper's; its size is below the level, far
        below where the regions are small. Mid-p is closer to it, and may exceed it slightly.
        Boschloo's and Barnard's tests are exact and more powerful than Fisher's; they take
        milliseconds for each n, which must be given. McNemar's asks which measure is right more
        often, whether it accepts or rejects; it has little power where positives are rare.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better than b.
    alpha : float
        A row is significant where p <= alpha.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment for the number of tests: all rows (pairs and n) of one group. "max-t" holds for
        all n asked for together and knows that neighbouring n are nearly the same test: the labels
        of the two rankings are swapped at random, candidate by candidate, and what counts is the
        largest difference over all n. Over the pairs, Holm's step-down is put on top.
    n_resamples : int
        Number of swaps of "max-t".
    level : float
        Confidence level of the interval of the difference.
    ci : {"newcombe", "agresti-caffo", "miettinen-nurminen"}
        Interval of the difference of the two regions, times n_only / n. With ``threshold`` the
        delta method is used.
    target : {"region", "nbest"}
        What the interval is one of. "region" is the paper's: the two lists are acceptance regions
        with fixed thresholds. "nbest" adds the variance of the thresholds, and takes the normal
        approximation of :func:`difference_band` in place of ``ci``.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`: how many times as much as binomial
        counts the true positives vary. It widens the interval; p-values are not changed.
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
        * ``precision_a``, ``precision_b``, ``difference`` = precision_a - precision_b, and its
          limits ``ci_low``, ``ci_high``;
        * ``overlap``: candidates in both lists; ``n_only_a``, ``n_only_b``: in one only (the
          difference regions); ``tp_only_a``, ``tp_only_b``: true positives among these;
        * ``odds_ratio``: (tp_only_a fp_only_b) / (fp_only_a tp_only_b), NaN for 0/0;
        * ``p_value``: of ``test``; ``p_mid``: Fisher's mid-p; ``p_adjusted``: NaN without
          ``adjust``;
        * ``significant``: p_adjusted, or without ``adjust`` p_value, is at most alpha;
        * ``better``: the measure that the difference favours, significant or not; NaN at 0.

        With ``threshold``, ``n_a`` and ``n_b`` replace ``n``, ``recall_a`` and ``recall_b`` come
        last (Dataset: dimensions pair and cut), and ``better`` follows the precision in the two
        difference regions.

    Warns
    -----
    RankevalWarning
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
    series of some standard deviations of the hypergeometric distribution; below a second for
    every n of 100,000 candidates. Errors are below 1e-11 relative. "max-t" takes O(N) for each
    swap and pair, half a second for 999 swaps of 5,000 candidates. Its null hypothesis is that,
    given the gold label, the two ranks of every candidate may be exchanged. The draws are the same
    for all pairs and groups, and for the same ``rng`` whatever the order of the rows.

    References
    ----------
    Evert (2004), section 3.3, figure 3, footnote 13. R. G. Newcombe (1998), Interval estimation
    for the difference between independent proportions, method 10.

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
    options = Options.of(
        test=test, alternative=alternative, ci=ci, level=level, target=target, phi=phi,
        adjust=adjust, alpha=alpha, n_resamples=n_resamples, progress=progress, seed=0,
    )  # fmt: skip
    if test in ("boschloo", "barnard") and n is None and threshold is None:
        raise ValueError(
            f"test={test!r} and n=None: this test takes milliseconds for each n. Give the n that"
            " matter, or take test='midp', which is nearly as powerful."
        )
    if threshold is not None:
        check_threshold(n, threshold, options)
        threshold = of_pair(data, threshold, a, b)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    options = options._replace(seed=chosen.draws if adjust == "max-t" else 0)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        if threshold is None:
            result = _compare_lists(inner, pairs, sizes, chosen.ties, options)
        else:
            result = compare_sets(inner, pairs, threshold, options)
        return _decide(result, options)

    return answer(
        data,
        only_pair(data, a, b, roles),
        question,
        NBEST_COLUMNS if threshold is None else THRESHOLD_COLUMNS,
        n=sizes,
        cuts_lists=threshold is None,
        attrs=options.noted(),
    )


def _compare_lists(
    inner: xr.Dataset,
    pairs: list[Pair],
    n: IntArray | None,
    ties: str,
    options: Options,
) -> xr.Dataset:
    columns = {**REGION_TYPES, "leaning": float}
    if options.adjust != "max-t":
        return ask_pairs(
            inner, pairs, _list_columns, columns, n=n, ties=ties, options={"options": options}
        )
    _check_enough(len(pairs), options)
    draws = len(pairs) * options.n_resamples
    with drawing_bar(inner, options.progress, draws=draws, what="swapping labels") as advance:
        return ask_pairs(
            inner,
            pairs,
            _swapped_columns,
            {**columns, "p_swaps": float},
            n=n,
            ties=ties,
            options={"options": options, "advance": advance},
        )


def _check_enough(n_pairs: int, options: Options) -> None:
    """Raise a ValueError where no statistic could be significant with so few draws."""
    needed = int(np.ceil(n_pairs / options.alpha * (1.0 - 1e-12))) - 1
    if options.n_resamples < needed:
        raise ValueError(
            f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g}: the smallest"
            f" p-value of {n_pairs} pair{'s'[: n_pairs > 1]} is {n_pairs}/(n_resamples + 1). Give"
            f" n_resamples={needed} or more."
        )


def _list_columns(lists: PairRanks, n: IntArray, *, options: Options) -> tuple[AnyArray, ...]:
    r = ranking.nbest_regions(lists.a, lists.b, lists.gold, n)
    only = n - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    difference = (tp_only_a - tp_only_b) / n
    if options.target == "nbest":
        low, high = _nbest_limits(lists, n, only, (tp_only_a, tp_only_b), difference, options)
    else:
        tp_a, tp_b, size = (x / options.phi for x in (tp_only_a, tp_only_b, only))
        low, high = DIFFERENCE_INTERVALS[options.ci](tp_a, size, tp_b, size, options.level)
        low, high = low * (only / n), high * (only / n)
    low, high = (np.where(only == 0, 0.0, limit) for limit in (low, high))
    p_values = tested(tp_only_a, only, tp_only_b, only, options, lists.exists)
    precision = r.tp_a / n, r.tp_b / n
    counts = r.overlap, only, only, tp_only_a, tp_only_b
    return (*precision, difference, low, high, *counts, *p_values, np.sign(difference))


def _nbest_limits(
    lists: PairRanks,
    n: IntArray,
    only: IntArray,
    tp_only: tuple[IntArray, IntArray],
    difference: FloatArray,
    options: Options,
) -> tuple[FloatArray, FloatArray]:
    """Return difference -+ z se, the thresholds of both lists being as random as the labels."""
    spread = bands.difference_spread(lists.a, lists.b, lists.gold, lists.present, n, only, tp_only)
    margin = z_of(options.level) * np.sqrt(options.phi * spread.variance) / n
    return np.maximum(difference - margin, -1.0), np.minimum(difference + margin, 1.0)


def _swapped_columns(
    lists: PairRanks, n: IntArray, *, options: Options, advance: Callable[[int], object]
) -> tuple[AnyArray, ...]:
    """Return the columns and the p-values that hold for all n of a pair together."""
    p_swaps = np.full((*lists.a.shape[:-1], n.size), np.nan)
    for row in np.ndindex(lists.a.shape[:-1]):
        asked = lists.exists[row]
        if not asked.any():
            continue
        a, b, gold = lists.of(row)
        drawn = swaps.largest_statistics(
            a, b, gold, n[asked], options.alternative,
            n_resamples=options.n_resamples, seed=options.seed, advance=advance,
        )  # fmt: skip
        observed = swaps.region_statistic(ranking.nbest_regions(a, b, gold, n[asked]), n[asked])
        p_swaps[(*row, asked)] = swaps.exceedance(swaps.sided(observed, options.alternative), drawn)
    return (*_list_columns(lists, n, options=options), p_swaps)


def _decide(result: xr.Dataset, options: Options) -> xr.Dataset:
    """Add the adjusted p-value, whether it is significant, and which measure is better."""
    p_value = result["p_value"].where(result["exists"])
    if options.adjust is None:
        p_adjusted, decisive = xr.full_like(p_value, np.nan), p_value
    else:
        simultaneous = options.adjust == "max-t"
        given = result["p_swaps"] if simultaneous else p_value
        family = [d for d in p_value.dims if d in ("pair", "n", "cut")]
        single = given.chunk(dict.fromkeys(family, -1)) if given.chunks else given
        p_adjusted = xr.apply_ufunc(
            step_down if simultaneous else _adjust_family,
            single,
            kwargs={} if simultaneous else {"method": options.adjust},
            input_core_dims=[family],
            output_core_dims=[family],
            dask="parallelized",
            output_dtypes=[float],
        )
        decisive = p_adjusted
    better = xr.apply_ufunc(
        _better,
        result["leaning"],
        xr.DataArray(np.arange(result.sizes["pair"]), dims="pair"),
        kwargs={side: result[f"measure_{side}"].to_numpy() for side in "ab"},
        dask="parallelized",
        output_dtypes=[object],
    )
    significant = decisive <= options.alpha
    return result.assign(p_adjusted=p_adjusted, significant=significant, better=better)


def _adjust_family(p_values: FloatArray, *, method: str) -> FloatArray:
    flat = p_values.reshape(*p_values.shape[:-2], -1)
    return adjusted(flat, method).reshape(p_values.shape)


def _better(leaning: FloatArray, pair: IntArray, *, a: AnyArray, b: AnyArray) -> AnyArray:
    names = np.where(leaning > 0, a[pair], b[pair]).astype(object)
    names[~(np.abs(leaning) > 0)] = np.nan
    return names
