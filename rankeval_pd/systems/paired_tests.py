"""Paired tests of systems over test items (Berg-Kirkpatrick et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack, get_args

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_flag, check_margin, warn
from rankeval_pd.forms.items.item_answers import Finish, ItemQuestion, answer_items
from rankeval_pd.forms.lazy.item_sums import ItemNeeds
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    Alternative,
    Event,
    FamilyAdjustment,
    GainInterval,
    ItemRoles,
    LawMethod,
    PermutationTest,
)
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling import paired_gains, swapped_gains
from rankeval_pd.stats.resampling.bootstrap_tests import DUAL, EVENTS, INTERVALS
from rankeval_pd.stats.resampling.gain_tables import Pairs, is_undecided, margin_p, reaching
from rankeval_pd.stats.resampling.signed_ranks import signed_rank_pairs
from rankeval_pd.stats.resampling.t_tests import t_pairs
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions
from rankeval_pd.stats.significance.equivalence import margin_name
from rankeval_pd.systems.system_ranks import (
    Families,
    check_size,
    of_all_groups,
    options_of,
    relation_of,
    resampling_bar,
)
from rankeval_pd.systems.table_notes import TableNotes

PAIR_COLUMNS: tuple[str, ...] = (
    "system_a", "system_b", "score_a", "score_b", "gain", "gain_se", "ci_low", "ci_high",
    "p_value", "p_two_sided", "p_stderr", "p_adjusted", "confidence", "undecided", "exact",
    "n_items", "n_resamples", "p_one_sided", "leaning", "ci_low_alone", "ci_high_alone",
)  # fmt: skip
OF_FAMILY = ("p_adjusted", "ci_low_alone", "ci_high_alone")  # with adjust= only

OF_SEEDS = ("gain_se_items", "gain_se_seeds", "n_seeds")  # with seeds= only

_PAIR_DTYPES = (
    bool, *[float] * 11, bool, bool, *[np.int64] * 3, *[float] * 8, np.int64,
)  # fmt: skip


@Capabilities(
    items="Is the gain of a system real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior",
)
@with_roles
def paired_bootstrap(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    skewness: bool = True,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs of systems by the paired bootstrap.

    Parameters
    ----------
    data : DataFrame or Dataset
        One row per test item and one column per system, or two-level columns (system, statistic); a
        Dataset with the dimensions item and system and one variable per statistic. A Dask
        DataFrame, or a lazy Dataset in chunks of items, gives bit-identical results.
    a, b : names of systems, optional
        With both, this pair, in this order. With ``a`` alone, a against every other system. By
        default, all pairs.
    baseline : name of a system, optional
        Compare each other system with this one, which is system_b in every row. The gain is above 0
        if the other system is better. Replaces ``a`` and ``b``.
    n_resamples : int, optional
        Number of resamples, b. By default as many as the family of tests, ``adjust``, ``alpha`` and
        ``level`` need, at least 10,000. Berg-Kirkpatrick et al. (2012) draw a million.
    event : {"wild", "recentred", "strict", "zero", "bias-corrected", "studentised"}
        Event whose probability is the one-sided p-value. "wild" is the wild bootstrap: each item's
        (with ``groups`` each cluster's) contribution to the gain gets a random sign, and the sum
        reaches the gain δ. The other events draw items and count resampled gains δ*. From
        Berg-Kirkpatrick et al. (2012): "recentred" δ* ≥ 2δ; "strict" δ* > 2δ, as in figure 1;
        "zero" δ* ≤ 0; "bias-corrected" δ* − mean δ* ≥ δ, for metrics whose resampled gains are not
        centered at δ. "studentised": (δ* − δ)/se* ≥ δ/se, for skewed differences.
    method : {"auto", "exact", "monte-carlo"}
        "auto" computes the exact distribution if it can, and draws otherwise.
    ci : {None, "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"}
        Interval of the gain. None matches ``event``: for "wild" it contains the gains that the test
        does not reject, and for 0/1 items without ``groups`` it is Tango's score interval. "tango"
        and "newcombe" are score intervals of paired proportions. Every interval includes 0 if the
        deciding p-value is above 1 − level.
    families : mapping, sequence or callable, optional
        Family of each system, by name or in order, which makes ``relation`` "same" or "different".
        Or a function of two names that returns the relation.
    alternative : {"two-sided", "greater", "less"}
        Alternative of ``p_value``: the two differ, system_a is better, or it is worse.
        Berg-Kirkpatrick et al. (2012) test "greater". A one-sided test has a one-sided interval.
    margin : float, optional
        Largest gain that does not matter. Adds ``p_equivalence``, the test that the gain is within
        ±margin, or with "greater" ``p_noninferior``, the test that it is above -margin (with
        "less": below margin).
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment for the number of pairs. "max-t" compares each pair with the largest statistic of
        all pairs in the same draws, and gives simultaneous intervals. "max-t-stepdown" (Romano and
        Wolf) finds more differences, with the same intervals. Both always resample.
    adjust_over : {"all", "group"}
        Whether all groups of ``by`` (Dataset: all batch dimensions) are one family, or each group
        is one. "max-t" covers the pairs of a group; Bonferroni's method (with "max-t-stepdown" a
        step-down) covers the groups.
    alpha : float
        Significance level for ``undecided`` and for the choice of ``n_resamples``. The exact test
        with a margin is most powerful at this level.
    level : float
        Confidence level of the intervals, including the Monte Carlo interval.
    skewness : bool
        Whether "wild" allows for skewed differences, True by default. The p-value is then the
        larger of two, from random signs and from Hall's (1992) transformed t statistic. The
        interval contains the gains that at least one of the tests does not reject. False uses
        random signs only.
    progress : bool, optional
        Whether to show a progress bar. By default one appears after two seconds.
    **roles
        ``metric``, with its statistics per item: mean (default), sum, rouge: one column; ratio:
        numerator, denominator; accuracy: correct[, total]; precision: correct, guess; recall:
        correct, gold; f1: correct, guess, gold; aer: sure, guess, correct_sure, correct_possible;
        bleu: sys_len, ref_len, correct_1 … correct_4, total_1 … total_4; chrf: hyp_i, ref_i,
        match_i of each order i; or a function f(S) of statistics summed over items, in the order of
        the columns, S[..., statistic] → [...], inf and NaN are undefined. ``higher_is_better``:
        by default the metric's own direction. ``groups``: clusters (documents) to draw whole; two
        crossed factors, ``["item", "annotator"]``, use a t test. ``weight="group"``: the mean over
        clusters of their means. ``by``: domains, each tested alone. ``measures``: the systems.
        ``rng``: seed. ``dim``: the dimension of the items.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair, coordinates system_a and system_b), ordered so
        that gain ≥ 0 unless both names or a baseline are given:

        * ``system_a``, ``system_b``, ``score_a``, ``score_b``;
        * ``gain``: improvement of system_a over system_b, with the sign reversed if lower is
          better;
        * ``gain_se``: its standard error by linearization, or the standard deviation of δ*;
          ``ci_low``, ``ci_high``: interval of the gain, infinite (or the end of the metric's range)
          if there are too few items for a limit, NaN if nothing varies;
        * ``p_value``: for ``alternative``; two-sided it is min(1, 2 p_one_sided), with "max-t" the
          tail of this pair's t statistic over the same draws; ``p_two_sided``; ``p_stderr``: Monte
          Carlo standard error of p_value, with "max-t" of p_adjusted;
        * ``p_adjusted``, with ``adjust``: never below p_value. The interval matches it:
          simultaneous with "max-t", Bonferroni's with "holm" and "bonferroni", Benjamini and
          Yekutieli's (2005) within groups with "bh" and "by";
        * ``p_equivalence`` or ``p_noninferior``, with ``margin``: never adjusted;
        * ``confidence`` = 1 − p_one_sided;
        * ``undecided``: the Monte Carlo interval of the p-value that decides, ``p_adjusted`` or
          without ``adjust`` ``p_value``, contains alpha: draw more resamples;
        * ``exact``: p_value is computed from its distribution, without Monte Carlo error;
        * ``n_items``; ``n_resamples``: draws behind p_value, 0 if exact;
        * ``p_one_sided``: in the direction of the gain; ``leaning``: the favored system; with
          ``adjust`` ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval;
        * ``relation``, with ``families``; ``n_groups``, with ``groups``; with ``seeds``
          ``gain_se_items``, ``gain_se_seeds``: the parts of the standard error, ``n_seeds``.

    Warns
    -----
    RankevalWarning
        If up to 30 items are skewed, or all have one score; if a system has fewer than 10 guesses
        (below 5 there is no test, and p is NaN); if items or groups are too few for significance;
        for resampled gains below 30 items or 20 groups; if nothing varies.

    Raises
    ------
    ValueError
        If an item is missing for a system; if there is only one system or item; if a count is
        negative; if ``method="exact"`` has no exact distribution; if there are too few resamples
        for an adjusted p-value to reach alpha.

    Notes
    -----
    "wild" holds its level for any number of items or groups if differences are symmetric. n items
    allow no two-sided p below 2^(1−n), so five items never reach 0.05. The events of
    Berg-Kirkpatrick et al. (2012) are too liberal for few items. With ``seeds`` "wild" is a t test,
    see :func:`needed_seeds`. For ratios of sums between 0 and 1 (precision, recall, F1, AER, ratio)
    without ``groups``, "wild" does not resample but uses the distribution of the difference of two
    dependent shares (Storer and Kim 1990; Kosinski 2013), and for recall McNemar's test. It holds
    its level from 10 guesses. "wild" linearizes the score: exactly for means, sums and accuracy, by
    derivatives at the sums for other metrics. All pairs share the same signs. All events except
    "wild" share one matrix of counts, :func:`resample_counts` of the same seed, with items (with
    ``groups`` clusters) in the order of their labels, so the order of rows does not matter. Monte
    Carlo p-values are (s + 1)/(b + 1), for "strict" s/b; an exact p of 0 becomes 2^−n. A resample
    with an undefined metric counts against the alternative.

    Exact distributions exist for mean, sum and accuracy if the items' differences are multiples of
    one step and their sum has at most a million values near its mean: for "wild", and without
    ``groups`` for events that draw items. Up to 16 items or groups (20 with method="exact"), "wild"
    enumerates all signs.

    For 0/1 items without ``groups``, "wild" is McNemar's exact test, up to 200 items an
    unconditional test with a p never larger. From 100,000 items on, draws are normal.

    "max-t" uses t statistics: for "wild" with the same signs for all pairs, for the other events
    with the standard error of every resample. Its interval contains the gains with a t statistic up
    to the critical value, and excludes 0 if and only if p_adjusted is at most 1 − level. Pairs are
    ordered by gain, so the one-sided p of equal systems is at most 0.05 in 10% of samples. Use
    "greater" only if the direction was fixed beforehand.

    Cost: a matrix product, items x systems, for each block of 1,000 resamples. For a Dask DataFrame
    a worker holds its items up to three times; ``groups``, ``strata``, ``seeds``, ``by``,
    "studentised", "bca" and max-t of draws are not supported.

    References
    ----------
    T. Berg-Kirkpatrick, D. Burkett, D. Klein (2012), figure 1, section 2.2 and footnotes 2 to 5. C.
    F. J. Wu (1986); A. C. Cameron, J. Gelbach, D. Miller (2008: wild bootstrap; 2011: crossed
    factors). J. Hartigan (1969): interval. T. Tango (1998); R. G. Newcombe (1998), method 10. P.
    Hall (1992), On the removal of skewness by transformation. B. Phipson, G. Smyth (2010): p is
    never 0. B. Efron (1987): BCa. J. Romano, M. Wolf (2005): step-down.

    Examples
    --------
    One win in fifty items:

    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_bootstrap()
      system_a system_b  score_a  score_b  gain    ci_low   ci_high   p_value
    0      new      old     0.02      0.0  0.02 -0.052775  0.104954  0.942115

    The test of Berg-Kirkpatrick et al. (2012):

    >>> df.rankeval.paired_bootstrap(event="recentred", alternative="greater")
      system_a system_b  score_a  score_b  gain  ci_low  ci_high   p_value
    0      new      old     0.02      0.0  0.02   -0.02      inf  0.264229
    """
    check_choice("event", event, EVENTS)
    check_choice("ci", ci, (None, *INTERVALS))
    check_flag("skewness", skewness)
    options = options_of(
        roles, n_resamples, method=method, adjust=adjust, alpha=alpha, level=level,
        event=event, ci=_agreeing(event, ci), keep_order=not (b is None and baseline is None),
        alternative=alternative, skewness=event == "wild" and skewness,
    )  # fmt: skip
    said = ("event", "ci", "alternative", "adjust", "alpha", "level")
    return _ask_pairs(
        paired_gains.paired_bootstrap, data, a, b, options, adjust_over, families, progress, roles,
        said, baseline, margin,
    )  # fmt: skip


@Capabilities(
    items="Is the gain of a system real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior",
)
@with_roles
def paired_permutation(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    test: PermutationTest = "swaps",
    n_resamples: int | None = None,
    method: LawMethod = "auto",
    families: Families | None = None,
    baseline: Hashable = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    skewness: bool = True,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs of systems by approximate randomization.

    Parameters
    ----------
    data, a, b, baseline, n_resamples, families, alternative, margin, adjust, adjust_over
        As in :func:`paired_bootstrap`.
    test : {"swaps", "t", "wilcoxon"}
        "swaps" exchanges the outputs of both systems on random items. "t" is the paired t test,
        without draws. "wilcoxon" is the signed-rank test; ``gain`` and its limits are then Hodges
        and Lehmann's, the median of the means of two differences, instead of score_a - score_b.
    alpha, level, skewness, progress
        As in :func:`paired_bootstrap`. With ``skewness=False`` only swaps decide.
    **roles
        As in :func:`paired_bootstrap`; with ``groups`` whole clusters are swapped.
    method : {"auto", "exact", "monte-carlo"}
        "auto" is exact if possible: for mean, sum and accuracy with differences that are whole
        multiples of one step, and by all swaps for any metric with at most 20 items (or clusters).

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap`, with its warnings. ``p_one_sided`` is the
        probability of a gain this large for systems exchangeable on each item, or the p-value of
        Hall's statistic (for ratios, of their distribution) if larger; ``gain_se`` is the standard
        deviation of the gain under swaps, as if the true gain were 0; ``ci_low`` and ``ci_high``
        are the gain minus the quantiles of the gain under swaps. This interval agrees with the
        test, but is too wide for large gains: report the interval of :func:`paired_bootstrap`.

    Notes
    -----
    The test is exact for the sharp null hypothesis that the two systems' outputs are exchangeable
    on these items (Riezler and Maxwell 2005). For 0/1 items it is McNemar's exact test. Monte Carlo
    p-values are (s + 1)/(b + 1); all pairs share the swaps. "wilcoxon" drops differences of 0,
    gives ties their mean rank, and is exact up to a million values of the rank sum. If most
    differences are 0, as for accuracy, its gain is 0.

    Cost: two scores, and 8 bytes of memory, per trial and pair.

    References
    ----------
    E. Noreen (1989), Computer intensive methods. A. Yeh (2000). S. Riezler, J. Maxwell (2005).
    F. Wilcoxon (1945); J. Hodges, E. Lehmann (1963), Estimates of location based on rank tests.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_permutation()
      system_a system_b  score_a  score_b  gain  ci_low  ci_high  p_value
    0      new      old     0.02      0.0  0.02     0.0     0.04      1.0
    """
    check_flag("skewness", skewness)
    check_choice("test", test, get_args(PermutationTest))
    kernels: dict[str, Any] = {"t": t_pairs, "wilcoxon": signed_rank_pairs}
    kernel, signed = kernels.get(test, swapped_gains.paired_permutation), test == "wilcoxon"
    if signed and margin is not None:
        raise ValueError(
            f"margin={margin!r} with test='wilcoxon': only the test of means supports a margin."
            " Omit test."
        )
    options = options_of(
        roles, n_resamples, method=method, adjust=adjust, alpha=alpha, level=level,
        event="recentred", ci="basic", keep_order=not (b is None and baseline is None),
        alternative=alternative, skewness=skewness,
    )  # fmt: skip
    said = ("alternative", "adjust", "alpha", "level")
    result: Data = _ask_pairs(
        kernel, data, a, b, options, adjust_over, families, progress, roles, said, baseline, margin
    )
    result.attrs |= {} if test == "swaps" else {"test": test}
    lazy = isinstance(result, xr.Dataset) and result.chunks
    if signed and not lazy and ((result["gain"] == 0.0) & (result["p_value"] <= alpha)).any():
        warn(
            "test='wilcoxon': most differences are 0, so the Hodges-Lehmann gain is 0 although the"
            " test is significant. Omit test to test the mean."
        )
    return result


def mean_test(test: str) -> Callable[..., Any]:
    """Return the function that tests means of pairs, by resampling or by the t test."""
    return partial(paired_permutation, test="t") if test == "t" else paired_bootstrap


def _agreeing(event: str, ci: str | None) -> str:
    """Return the given interval or the event's own; "" if it depends on the items."""
    if ci is not None:
        return ci
    return "" if event == "wild" else DUAL[event]


def _ask_pairs(
    test: Callable[..., Pairs],
    data: Data,
    a: Hashable,
    b: Hashable,
    options: PairOptions,
    adjust_over: str,
    families: Families | None,
    progress: bool | None,
    roles: Mapping[str, Any],
    said: Sequence[str],
    baseline: Hashable,
    margin: float | None,
) -> Data:
    columns: tuple[str, ...] = (*PAIR_COLUMNS, *(() if families is None else ("relation",)))
    columns += () if roles.get("seeds") is None else OF_SEEDS
    asked = check_margin(margin)
    own: list[str] = [] if asked is None else [margin_name(options.alternative)]
    after: int = columns.index("p_adjusted") + 1
    columns = (*columns[:after], *own, *columns[after:])
    if options.adjust is None:
        columns = tuple(name for name in columns if name not in OF_FAMILY)
    made = TableNotes(options, roles, said, adjust_over)
    made.attrs["margin"] = asked
    with resampling_bar(data, progress, options.n_resamples, "resampling items") as step:

        def ask(items: AnyItems, pairs: IntArray, groups: int) -> Sequence[AnyArray]:
            settled = made.settled(options, len(pairs), groups)
            check_size(test, items, len(pairs), settled)
            computed: Pairs = test(items, pairs, settled, step)
            drawn = settled._replace(n_resamples=int(computed.n_resamples.max(initial=0)))
            flat = np.isfinite(computed.gain) & np.isnan(computed.ci_low)
            made.see(items, pairs, drawn, flat)
            if "ci" in said:
                made.see_interval(options.ci or ("tango" if items.binary else DUAL[options.event]))
            if asked is None:
                return computed
            sides = options.alternative, options.alpha
            return [*computed, margin_p(items, pairs, computed, asked, *sides)]

        finish = _over_groups(options) if made.over_all else None
        question = ItemQuestion(
            ask, (*Pairs._fields, *own), (*_PAIR_DTYPES, *[float] * len(own)), "pair",
            finish=finish, spread=lambda n_pairs: _spread(test, made.settled(options, n_pairs, 1)),
            family=partial(made.family, one=a if b is None and baseline is None else baseline),
        )  # fmt: skip
        relate = None if families is None else relation_of(families)
        result: Data = answer_items(
            data, roles, question, made.columns(columns), a=a, b=b, baseline=baseline,
            relate=relate, attrs=made.attrs,
        )  # fmt: skip
    return made.finished(result)


def _spread(test: Callable[..., Pairs], options: PairOptions) -> ItemNeeds:
    """Return the needs of the test from items spread over workers."""
    if test is swapped_gains.paired_permutation:
        return ItemNeeds(options, swaps=True)
    return ItemNeeds(options, signs="wild" in (options.event, options.ci))


def _over_groups(options: PairOptions) -> Finish:
    """Return the function that adjusts the tests of all groups as one family."""

    def finish(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        computed = (
            of_all_groups(results, name, options, batch)
            for name in ("family_p", "family_low", "family_high")
        )
        return [
            _as_one_family(result, p, is_undecided(low, high, options.alpha), options.level)
            for result, p, low, high in zip(results, *computed, strict=True)
        ]

    return finish


def _as_one_family(
    result: xr.Dataset, p_adjusted: xr.DataArray, undecided: xr.DataArray, level: float
) -> xr.Dataset:
    """Return the rows with p-values of the whole family, and matching intervals."""
    low, high = xr.apply_ufunc(
        lambda low, high, p: reaching((low, high), p, level),
        result["ci_low"],
        result["ci_high"],
        p_adjusted,
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[float, float],
    )
    return result.assign(p_adjusted=p_adjusted, undecided=undecided, ci_low=low, ci_high=high)
