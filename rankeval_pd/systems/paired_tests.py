"""Is the gain of a system real? Paired tests over test items (Berg-Kirkpatrick et al. 2012)."""

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
OF_FAMILY = ("p_adjusted", "ci_low_alone", "ci_high_alone")  # only there with adjust=

OF_SEEDS = ("gain_se_items", "gain_se_seeds", "n_seeds")  # only there with seeds=

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
    """Test by the paired bootstrap whether a system is better than another, for all pairs.

    Parameters
    ----------
    data : DataFrame or Dataset
        One row per test item and one column per system, or two-level columns (system, statistic);
        a Dataset with the dimensions item and system and one variable per statistic. Also a Dask
        DataFrame, or a lazy Dataset in chunks of items: the numbers are the same, bit for bit.
    a, b : names of systems, optional
        Both: this pair, in this order. ``a`` alone: a and each other system. Neither: all pairs.
    baseline : name of a system, optional
        Each other system against this one, which is system_b in every row: gain is above 0 where
        the other is better, and p_value small. Instead of ``a`` and ``b``.
    n_resamples : int, optional
        b, the number of resamples. None: as many as the family of tests, ``adjust``, ``alpha`` and
        ``level`` need, at least 10,000; the paper's is a million.
    event : {"wild", "recentred", "strict", "zero", "bias-corrected", "studentised"}
        What the one-sided p-value is the chance of. "wild": the wild bootstrap under the null
        hypothesis: what each item (with ``groups`` each cluster) adds to the gain gets a random
        sign, and the gain is reached. The others draw items and count resampled gains δ*, δ being
        the gain. The paper's: "recentred" δ* ≥ 2δ; "strict" δ* > 2δ, figure 1 to the letter; "zero"
        δ* ≤ 0; "bias-corrected" δ* − mean δ* ≥ δ, for metrics whose resampled gains are not centred
        at δ. "studentised": (δ* − δ)/se* ≥ δ/se, for skewed differences.
    method : {"auto", "exact", "monte-carlo"}
        "auto" computes the distribution itself where it can, and draws elsewhere.
    ci : {None, "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"}
        Interval of the gain. None takes the one that agrees with ``event``. For "wild" it contains
        the gains that the test does not reject; for items that are right or wrong (0 or 1, without
        ``groups``) it is Tango's score interval. "tango" and "newcombe" are score intervals of
        paired proportions. No interval excludes 0 if the p-value that decides is above 1 − level:
        it then reaches to 0.
    families : mapping, sequence or callable, optional
        A label per system (by name, or in the order of the systems): pairs are "same" or
        "different" in the column ``relation``. Or a function of two names that gives the relation.
    alternative : {"two-sided", "greater", "less"}
        What ``p_value`` tests: that the two differ, that system_a is better, or that it is worse.
        Berg-Kirkpatrick et al. (2012) test "greater". A one-sided test has a one-sided interval.
    margin : float, optional
        Largest gain that does not matter. Adds ``p_equivalence``: whether the gain is within
        -+ margin. With "greater" the column is ``p_noninferior``: whether it is above -margin. With
        "less" it is below margin.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment for the number of pairs. "max-t" compares each pair with the largest statistic
        of all pairs in the same draws, and gives simultaneous intervals. "max-t-stepdown" (Romano
        and Wolf) finds more, and has the intervals of "max-t". Both always resample.
    adjust_over : {"all", "group"}
        Whether the pairs of all groups (of ``by``; in a Dataset of all batch dimensions) are one
        family, or those of each. "max-t" covers the pairs of a group; over groups, Bonferroni's
        method (with "max-t-stepdown" a step-down) is added.
    alpha : float
        The level at which ``undecided`` is judged, for which ``n_resamples`` is chosen, and at
        which the exact test with a margin is most powerful.
    level : float
        Confidence level of the intervals, that of the Monte-Carlo error too.
    skewness : bool
        Whether "wild" allows for skewed differences, True by default. The p-value is then the
        larger of two: that of random signs, and that of Hall's (1992) transformed t statistic. The
        interval contains the gains that either test keeps. False: random signs alone.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
    **roles
        ``metric``, and the statistics per item that it takes: mean (default), sum, rouge: one
        column; ratio: numerator, denominator; accuracy: correct[, total]; precision: correct,
        guess; recall: correct, gold; f1: correct, guess, gold; aer: sure, guess, correct_sure,
        correct_possible; bleu: sys_len, ref_len, correct_1 … correct_4, total_1 … total_4; chrf:
        hyp_i, ref_i, match_i of each order i; or a function f(S) of statistics summed over items,
        in the order of the columns, S[..., statistic] → [...], inf and NaN being undefined.
        ``higher_is_better``: None takes the metric's own. ``groups``: the clusters (documents) that
        are drawn whole; two crossed factors, ``["item", "annotator"]``, have a t test.
        ``weight="group"``: the mean over clusters of their means. ``by``: domains, each tested
        alone. ``measures``: the systems. ``rng``: seed. ``dim``: the dimension of the items.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair, coordinates system_a and system_b), ordered so
        that gain ≥ 0 unless both names or a baseline are given:

        * ``system_a``, ``system_b``, ``score_a``, ``score_b``;
        * ``gain``: improvement of system_a over system_b, the sign turned where lower is better;
        * ``gain_se``: its standard error, by linearisation; of the paper's events the standard
          deviation of δ*; ``ci_low``, ``ci_high``: interval of the gain, infinite (or the end of
          the metric's range) if so few items set no limit, NaN if nothing varies;
        * ``p_value``: of ``alternative``; two-sided it is min(1, 2 p_one_sided). With "max-t" it is
          the tail of the t statistic of this pair over the same draws; ``p_two_sided``;
          ``p_stderr``: Monte Carlo standard error of p_value, with "max-t" of p_adjusted;
        * ``p_adjusted``, with ``adjust``: never below p_value. The interval agrees with it:
          simultaneous with "max-t", Bonferroni's with "holm" and "bonferroni", Benjamini and
          Yekutieli's (2005) with "bh" and "by", where a rejection in another group does not count;
        * ``p_equivalence`` or ``p_noninferior``, with ``margin``: of each pair alone, unadjusted;
        * ``confidence`` = 1 − p_one_sided;
        * ``undecided``: the Monte Carlo interval of the p-value that decides, ``p_adjusted`` or
          without ``adjust`` ``p_value``, contains alpha: draw more resamples;
        * ``exact``: p_value is computed from its distribution and has no Monte-Carlo error;
        * ``n_items``; ``n_resamples``: draws behind p_value, 0 where exact;
        * ``p_one_sided``: in the direction of the gain; ``leaning``: the system that the gain
          favors; with ``adjust`` ``ci_low_alone``, ``ci_high_alone``: interval of this pair alone;
        * ``relation``, with ``families``; ``n_groups``, with ``groups``; with ``seeds``
          ``gain_se_items``, ``gain_se_seeds``: the parts of the standard error, ``n_seeds``.

    Warns
    -----
    RankevalWarning
        If up to 30 items are skewed, or all have one score; if a system has fewer than 10 guesses
        (below 5 nothing is tested, and p is NaN); if so few items or groups allow no significant
        result; for the paper's events below 30 items, or 20 groups; if nothing varies.

    Raises
    ------
    ValueError
        If an item is missing for a system; if there is one system or one item; if a count is
        negative; if ``method="exact"`` and there is no exact distribution; if no adjusted p-value
        could reach alpha with so few resamples.

    Notes
    -----
    "wild" holds its level at any number of items or groups if differences are symmetric. n items
    allow no two-sided p below 2^(1−n): with five nothing is significant at .05. The paper's events
    are too liberal for few items. With ``seeds`` "wild" is a t test, see :func:`needed_seeds`.

    For ratios of sums between 0 and 1 (precision, recall, F1, AER, ratio), drawn item by item,
    "wild" is no resampling but the law of the difference of two dependent shares (Storer and Kim
    1990; Kosinski 2013), and for recall McNemar's test. It holds its level from 10 guesses.

    The score is linearised for "wild": exact for means, sums and accuracy; every other metric by
    its derivatives at the sums. All pairs share the same signs, and all events but "wild" one
    matrix of counts, :func:`resample_counts` of the same seed, whose columns are the items (with
    ``groups`` the clusters) in the order of their labels: the order of the rows changes no number.
    Monte-Carlo p-values are (s + 1)/(b + 1), those of "strict" s/b; an exact p that would be 0 is
    2^−n. A resample in which the metric is undefined counts against the claim.

    Exact distributions exist for mean, sum and accuracy if the items' differences are multiples of
    one step and their sum has at most a million values near its mean: for "wild", and without
    ``groups`` for the paper's events. Up to 16 items or groups (20 with method="exact"), "wild"
    looks at all signs.

    For items that are 0 or 1, without ``groups``, "wild" is McNemar's exact test, up to 200 items
    an unconditional one, whose p is never larger. From 100,000 of them on, what is drawn has the
    normal law.

    "max-t" uses t statistics: for "wild" with the same signs for all pairs, for the other events
    with the standard error of every resample. Its interval excludes 0 if and only if p_adjusted is
    at most 1 − level: it contains the gains whose t statistic is not above the critical value.

    Pairs are ordered by gain: the one-sided p of equal systems is at most 0.05 in 10% of samples.
    Use "greater" only if the direction was fixed before.

    Cost: for each block of 1,000 resamples a matrix product, items x systems. Of a Dask DataFrame
    a worker holds its items up to three times; ``groups``, ``strata``, ``seeds``, ``by``,
    "studentised", "bca" and max-t of draws are refused there.

    References
    ----------
    T. Berg-Kirkpatrick, D. Burkett, D. Klein (2012), figure 1, section 2.2 and footnotes 2 to 5.
    C. F. J. Wu (1986); A. C. Cameron, J. Gelbach, D. Miller (2008: wild bootstrap; 2011: crossed
    factors). J. Hartigan (1969): its interval. T. Tango (1998); R. G. Newcombe (1998), method 10.
    P. Hall (1992), On the removal of skewness by transformation. B. Phipson, G. Smyth (2010): p is
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
    """Test all pairs of systems by approximate randomization: swap what they did on random items.

    Parameters
    ----------
    data, a, b, baseline, n_resamples, families, alternative, margin, adjust, adjust_over
        As in :func:`paired_bootstrap`.
    test : {"swaps", "t", "wilcoxon"}
        "t" is the paired t test: nothing is drawn. "wilcoxon" is the signed-rank test. ``gain``
        and its limits are then those of Hodges and Lehmann, the median of the means of two
        differences, and no longer score_a - score_b.
    alpha, level, skewness, progress
        As in :func:`paired_bootstrap`. With ``skewness=False`` only the swaps decide.
    **roles
        As in :func:`paired_bootstrap`; with ``groups`` whole clusters are swapped.
    method : {"auto", "exact", "monte-carlo"}
        "auto" is exact where it can be: for mean, sum and accuracy whose differences are whole
        multiples of one step, and for any metric with at most 20 items (or clusters), when all
        swaps are looked at.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap`, with its warnings. ``p_one_sided`` is the chance of
        such a gain if the two systems are exchangeable on each item, or the p-value of Hall's
        statistic, or of ratios that of their law, if that is larger; ``gain_se`` the standard
        deviation of the gain under swaps, as if the true gain were 0;
        ``ci_low`` and ``ci_high`` the gain less the quantiles of the gain under swaps. Both hold 0
        or not as the test says, and are the wider the larger the gain is beside its spread: quote
        the interval of :func:`paired_bootstrap`.

    Notes
    -----
    The test is exact for the sharp null hypothesis that the two systems' outputs are exchangeable
    on these very items (Riezler and Maxwell 2005). For 0/1 items it is McNemar's exact test.
    Monte-Carlo p-values are (s + 1)/(b + 1); the swaps are the same for all pairs.
    "wilcoxon" drops differences of 0, gives equal sizes their mean rank, and has the exact law up
    to a million values of the sum of ranks. Where most differences are 0, as for accuracy, its
    gain is 0.

    Cost: two scores per pair and trial; 8 bytes per trial and pair are kept.

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
            f"margin={margin!r} with test='wilcoxon': a margin is tested for means. Leave test out."
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
            " test finds a difference. Leave test out, which tests the mean."
        )
    return result


def mean_test(test: str) -> Callable[..., Any]:
    """Return the function that tests means of pairs so: by resampling, or by the t test."""
    return partial(paired_permutation, test="t") if test == "t" else paired_bootstrap


def _agreeing(event: str, ci: str | None) -> str:
    """Return the interval asked for, or the event's own; "" where that depends on the items."""
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
    """Return what the test needs of items that are spread over workers."""
    if test is swapped_gains.paired_permutation:
        return ItemNeeds(options, swaps=True)
    return ItemNeeds(options, signs="wild" in (options.event, options.ci))


def _over_groups(options: PairOptions) -> Finish:
    """Return what adjusts the tests of all groups as one family."""

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
    """Return the rows with p-values of the whole family, and intervals that agree with them."""
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
