"""Test pairs of systems on the same test items (Berg-Kirkpatrick et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Unpack, get_args

import numpy as np

from rankeval_pd.decisions.gains import over_groups, with_systems
from rankeval_pd.decisions.verdicts import Rows
from rankeval_pd.doors.dask import ItemNeeds
from rankeval_pd.doors.items import resampling_bar, tabulate_items
from rankeval_pd.errors import check_choice, check_flag, check_margin, warn
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
from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.resampling import paired_gains, swapped_gains
from rankeval_pd.stats.resampling.bootstrap_tests import DUAL, EVENTS, INTERVALS
from rankeval_pd.stats.resampling.gain_tables import Pairs, margin_p
from rankeval_pd.stats.resampling.signed_ranks import signed_rank_pairs
from rankeval_pd.stats.resampling.t_tests import t_pairs
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step
from rankeval_pd.stats.significance.equivalence import margin_name
from rankeval_pd.systems.system_ranks import Families, check_size, options_of, relations
from rankeval_pd.systems.table_notes import GroupFacts, TableNotes

PAIR_COLUMNS: tuple[str, ...] = (
    "system_a", "system_b", "score_a", "score_b", "gain", "gain_se", "ci_low", "ci_high",
    "p_value", "p_two_sided", "p_stderr", "p_adjusted", "confidence", "undecided", "exact",
    "n_items", "n_resamples", "p_one_sided", "leaning", "ci_low_alone", "ci_high_alone",
)  # fmt: skip
OF_FAMILY = ("p_adjusted", "ci_low_alone", "ci_high_alone")  # columns only with adjust=

OF_SEEDS = ("gain_se_items", "gain_se_seeds", "n_seeds")  # columns only with seeds=


@Capabilities(
    items="Is a system's gain real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior",
    layout="pair",
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
    """Test all pairs of systems with the paired bootstrap.

    Parameters
    ----------
    data : DataFrame or Dataset
        A DataFrame with one row per test item and one column per system, or two-level columns
        (system, statistic). A Dataset requires the dimensions item and system, and one variable per
        statistic. Dask DataFrames and lazy Datasets chunked by item give bit-identical results.
    a, b : names of systems, optional
        Systems to compare, in this order. Pass only ``a`` to compare one system with every other
        system. By default all pairs are compared.
    baseline : name of a system, optional
        System to compare with all other systems, reported as system_b. The gain is above 0 if the
        other system is better. Use ``baseline`` instead of ``a`` and ``b``.
    n_resamples : int, optional
        Number b of resamples. The default is at least 10,000 and depends on the family of tests,
        ``adjust``, ``alpha`` and ``level``. Berg-Kirkpatrick et al. (2012) use a million.
    event : {"wild", "recentred", "strict", "zero", "bias-corrected", "studentised"}
        Event whose probability is the one-sided p-value. "wild" is the wild bootstrap. This event
        multiplies each item's (or cluster's) contribution to the gain by a random sign, and counts
        sums that reach the gain δ. All other events resample items and use the resampled gains δ*.
        Events from Berg-Kirkpatrick et al. (2012) are "recentred" δ* ≥ 2δ, "strict" δ* > 2δ
        (figure 1), "zero" δ* ≤ 0, and "bias-corrected" δ* − mean δ* ≥ δ for metrics with biased
        resampled gains. "studentised" is (δ* − δ)/se* ≥ δ/se, for skewed differences.
    method : {"auto", "exact", "monte-carlo"}
        "auto" computes the exact distribution if possible, and draws resamples otherwise.
    ci : {None, "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"}
        Kind of interval for the gain. By default, the interval matches ``event``. For "wild", the
        interval contains the gains that the test does not reject. For 0/1 items without ``groups``,
        the default is Tango's score interval. "tango" and "newcombe" are score intervals for paired
        proportions. Every interval includes 0 if p_adjusted (or p_value) is above 1 − level.
    families : mapping, sequence or callable, optional
        Family of each system, by name or in system order. The column ``relation`` is then "same"
        or "different". A function of two names that returns the relation also works.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis for ``p_value``. "greater" means that system_a is better, as in
        Berg-Kirkpatrick et al. (2012). One-sided tests give one-sided intervals.
    margin : float, optional
        Largest gain that is negligible in practice. With a margin, the result contains
        ``p_equivalence``, the p-value for a gain within ±margin. With "greater" or "less", it
        contains ``p_noninferior`` instead, for a gain above -margin or below margin.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment for the number of pairs. "max-t" compares each statistic with the largest
        statistic over all pairs in the same resamples. The intervals are then simultaneous.
        "max-t-stepdown" (Romano and Wolf) has more power and the same intervals. Both methods
        always use resamples.
    adjust_over : {"all", "group"}
        Whether all groups of ``by`` (Dataset: all batch dimensions) form one family, or each group
        is a separate family. "max-t" adjusts for the pairs within a group, and Bonferroni's method
        (a step-down method with "max-t-stepdown") adjusts for the groups.
    alpha : float
        Significance level for ``undecided`` and for the default ``n_resamples``. The exact test
        with a margin has the most power at this level.
    level : float
        Confidence level of the intervals, including the Monte Carlo interval.
    skewness : bool
        Whether "wild" corrects for skewed differences. By default, the p-value is the maximum of
        the p-values from random signs and from Hall's (1992) transformed t statistic. The interval
        then contains the gains that at least one of the tests does not reject. False uses only
        random signs.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        ``metric``: the metric, with the following statistics per item. mean (default), sum, rouge:
        one column; ratio: numerator, denominator; accuracy: correct[, total]; precision: correct,
        guess; recall: correct, gold; f1: correct, guess, gold; aer: sure, guess, correct_sure,
        correct_possible; bleu: sys_len, ref_len, correct_1 … correct_4, total_1 … total_4; chrf:
        hyp_i, ref_i, match_i for each order i. You can also pass a function f(S), S[..., statistic]
        → [...], where S contains the summed statistics in column order and undefined results are
        inf or NaN. ``higher_is_better``: by default the direction of the metric. ``groups``:
        clusters (documents) to resample; two crossed factors such as ``["item", "annotator"]`` use
        a t test. ``weight="group"``: use the mean of the cluster means. ``by``: domains to test
        separately. ``measures``: the systems. ``rng``: seed. ``dim``: the dimension of the items.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair, coordinates system_a and system_b). The better
        system comes first unless you pass both names or a baseline.

        * ``system_a``, ``system_b``, ``score_a``, ``score_b``;
        * ``gain``: improvement of system_a over system_b; if lower is better, the sign is reversed;
        * ``gain_se``: standard error of the gain by linearization, or the standard deviation of δ*;
          ``ci_low``, ``ci_high``: interval for the gain, infinite (or the end of the metric's
          range) if there are too few items, NaN without variation;
        * ``p_value``: p-value for ``alternative``. Two-sided p-values are min(1, 2 p_one_sided).
          With "max-t", the p-value comes from the pair's t statistic in the same resamples;
          ``p_two_sided``; ``p_stderr``: Monte Carlo standard error of p_value (of p_adjusted for
          "max-t");
        * ``p_adjusted``: only with ``adjust``, at least p_value. Matching intervals are
          simultaneous with "max-t", Bonferroni's with "holm" and "bonferroni", and Benjamini and
          Yekutieli's (2005) within groups with "bh" and "by";
        * ``p_equivalence`` or ``p_noninferior``: only with ``margin``, unadjusted;
        * ``confidence`` = 1 − p_one_sided;
        * ``undecided``: whether the Monte Carlo interval for ``p_adjusted`` (``p_value`` without
          ``adjust``) contains alpha, in which case you need more resamples;
        * ``exact``: whether p_value comes from an exact distribution, without Monte Carlo error;
        * ``n_items``; ``n_resamples``: number of resamples for p_value, 0 if exact;
        * ``p_one_sided``: p-value in the direction of the gain; ``leaning``: the system with the
          better score; ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval, only with
          ``adjust``;
        * ``relation``: only with ``families``; ``n_groups``: only with ``groups``;
          ``gain_se_items``, ``gain_se_seeds``, ``n_seeds``: parts of the standard error, only with
          ``seeds``.

    Warns
    -----
    RankevalWarning
        If at most 30 items have skewed or constant scores, if a system has fewer than 10 guesses
        (below 5, p is NaN), if there are too few items or groups for significance, if gains are
        resampled from fewer than 30 items or 20 groups, or if scores do not vary.

    Raises
    ------
    ValueError
        If an item is missing for a system, there is only one system or item, a count is negative,
        no exact distribution exists for ``method="exact"``, or there are too few resamples for
        adjusted p-values below alpha.

    Notes
    -----
    If differences are symmetric, the error rate of "wild" is at most the nominal level for any
    number of items or groups. The smallest two-sided p-value for n items is 2^(1−n), so p-values
    from five items never reach 0.05. The events in Berg-Kirkpatrick et al. (2012) are too liberal
    with few items. With ``seeds``, "wild" is a t test (see :func:`needed_seeds`). For ratios of
    sums between 0 and 1 (precision, recall, F1, AER, ratio) without ``groups``, "wild" needs no
    resamples. The test then uses the distribution of a difference between two dependent
    proportions (Storer and Kim 1990; Kosinski 2013), or McNemar's test for recall, and keeps the
    nominal level for 10 or more guesses. "wild" linearizes scores with derivatives at the sums,
    which is exact for means, sums and accuracy. All pairs share the same signs. All other events
    use the counts of :func:`resample_counts` with the same seed. Items (or clusters) are sorted by
    label, so the order of rows does not affect results. Monte Carlo p-values are (s + 1)/(b + 1),
    or s/b for "strict". An exact p-value of 0 is replaced by 2^−n. Resamples with an undefined
    metric count against the alternative.

    Exact distributions are available for mean, sum and accuracy if all differences are multiples of
    one step and their sum has at most a million values near the mean. Events that resample items
    have exact distributions only without ``groups``. For up to 16 items or groups (20 with
    method="exact"), "wild" enumerates all sign patterns.

    For 0/1 items without ``groups``, "wild" is McNemar's exact test. With up to 200 such items,
    "wild" is an unconditional test whose p-value is at most McNemar's. For 100,000 items or
    more, draws come from a normal distribution.

    "max-t" uses t statistics. Events other than "wild" compute the standard error in every
    resample. The "max-t" interval contains the gains whose t statistic is at most the critical
    value, and excludes 0 if and only if p_adjusted is at most 1 − level. The better system comes
    first, so for equal systems the one-sided p-value is at most 0.05 in 10% of samples. Use
    "greater" only if the direction was fixed beforehand.

    Each block of 1,000 resamples requires a matrix product of items x systems. For a Dask
    DataFrame, each worker needs memory for up to three copies of its items. Dask DataFrames do not
    support ``groups``, ``strata``, ``seeds``, ``by``, "studentised", "bca" or resampled max-t.

    References
    ----------
    T. Berg-Kirkpatrick, D. Burkett, D. Klein (2012), figure 1, section 2.2 and footnotes 2 to 5. C.
    F. J. Wu (1986); A. C. Cameron, J. Gelbach, D. Miller (2008: wild bootstrap; 2011: crossed
    factors). J. Hartigan (1969): intervals. T. Tango (1998); R. G. Newcombe (1998), method 10. P.
    Hall (1992), On the removal of skewness by transformation. B. Phipson, G. Smyth (2010): p-values
    above 0. B. Efron (1987): BCa. J. Romano, M. Wolf (2005): step-down method.

    Examples
    --------
    One system is better on one of fifty items:

    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_bootstrap()
      system_a system_b  score_a  score_b  gain    ci_low   ci_high   p_value
    0      new      old     0.02      0.0  0.02 -0.052775  0.104954  0.942115

    The following call runs the test in Berg-Kirkpatrick et al. (2012):

    >>> df.rankeval.paired_bootstrap(event="recentred", alternative="greater")
      system_a system_b  score_a  score_b  gain  ci_low  ci_high   p_value
    0      new      old     0.02      0.0  0.02   -0.02      inf  0.264229
    """
    check_choice("event", event, EVENTS)
    check_choice("ci", ci, (None, *INTERVALS))
    check_flag("skewness", skewness)
    options = options_of(
        roles,
        n_resamples,
        method=method,
        adjust=adjust,
        alpha=alpha,
        level=level,
        event=event,
        ci=_agreeing(event, ci),
        keep_order=not (b is None and baseline is None),
        alternative=alternative,
        skewness=event == "wild" and skewness,
    )
    named = ("event", "ci", "alternative", "adjust", "alpha", "level")
    notes = _notes_on_pairs(options, roles, named, adjust_over, a, b, baseline, margin)
    return _tabulate_pairs(
        data,
        roles,
        paired_gains.paired_bootstrap,
        notes,
        a=a,
        b=b,
        baseline=baseline,
        families=families,
        progress=progress,
    )


@Capabilities(
    items="Is a system's gain real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior",
    layout="pair",
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
    """Test all pairs of systems with approximate randomization.

    Parameters
    ----------
    data, a, b, baseline, n_resamples, families, alternative, margin, adjust, adjust_over
        As in :func:`paired_bootstrap`.
    test : {"swaps", "t", "wilcoxon"}
        "swaps" exchanges the outputs of the two systems on randomly chosen items. "t" is the paired
        t test, which needs no draws. "wilcoxon" is the signed-rank test. The signed-rank test
        reports the Hodges-Lehmann estimate (the median of pairwise means of the differences) as
        ``gain``, with matching limits.
    alpha, level, skewness, progress
        As in :func:`paired_bootstrap`. With ``skewness=False``, the test uses only swaps.
    **roles
        As in :func:`paired_bootstrap`. With ``groups``, whole clusters are swapped.
    method : {"auto", "exact", "monte-carlo"}
        "auto" uses the exact distribution if possible. Exact distributions are available for mean,
        sum and accuracy if all differences are multiples of one step. With at most 20 items (or
        clusters), all swaps are enumerated for any metric.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap`, with the same warnings. ``p_one_sided`` is the
        probability of a gain at least this large for systems that are exchangeable on each item.
        If Hall's statistic (for ratios, the distribution of ratios) gives a larger p-value, the
        larger p-value is reported. ``gain_se`` is the standard deviation of the gain under swaps,
        which assumes a true gain of 0. ``ci_low`` and ``ci_high`` are the gain minus the quantiles
        of the gain under swaps. This interval agrees with the test but is too wide for large
        gains, so report the interval from :func:`paired_bootstrap`.

    Notes
    -----
    The test is exact for the sharp null hypothesis that the two systems' outputs are exchangeable
    on these items (Riezler and Maxwell 2005). For 0/1 items, the test is McNemar's exact test.
    Monte Carlo p-values are (s + 1)/(b + 1), and all pairs share the same swaps. "wilcoxon" drops
    zero differences, uses mean ranks for ties, and is exact for up to a million values of the rank
    sum. If most differences are 0, as is common with accuracy, the "wilcoxon" gain is 0.

    For each trial and pair, the test computes two scores and needs 8 bytes of memory.

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
    if test == "wilcoxon" and margin is not None:
        raise ValueError(
            f"margin={margin!r} with test='wilcoxon': only the test of means supports a margin."
            " Omit test."
        )
    options = options_of(
        roles,
        n_resamples,
        method=method,
        adjust=adjust,
        alpha=alpha,
        level=level,
        event="recentred",
        ci="basic",
        keep_order=not (b is None and baseline is None),
        alternative=alternative,
        skewness=skewness,
    )
    named = ("alternative", "adjust", "alpha", "level")
    notes = _notes_on_pairs(options, roles, named, adjust_over, a, b, baseline, margin)
    result = _tabulate_pairs(
        data,
        roles,
        _KERNELS[test],
        notes,
        a=a,
        b=b,
        baseline=baseline,
        families=families,
        progress=progress,
    )
    if test != "swaps":
        result.attrs["test"] = test
    if test == "wilcoxon" and ((result["gain"] == 0.0) & (result["p_value"] <= alpha)).any():
        warn(
            "test='wilcoxon': most differences are 0, so the Hodges-Lehmann gain is 0 even though"
            " the test is significant. Omit test to compare the means."
        )
    return result


_Kernel = Callable[[AnyItems, IntArray, PairOptions, Step], Pairs]
_KERNELS: dict[str, _Kernel] = {
    "swaps": swapped_gains.paired_permutation,
    "t": t_pairs,
    "wilcoxon": signed_rank_pairs,
}


def mean_test(test: str) -> Callable[..., Any]:
    """Return a function that tests pairs of means by resampling or t tests."""
    if test == "t":
        return partial(paired_permutation, test="t")
    return paired_bootstrap


def _agreeing(event: str, ci: str | None) -> str:
    """Return the kind of interval, or "" if it depends on the items."""
    if ci is None and event != "wild":
        return DUAL[event]
    return ci or ""


def _notes_on_pairs(
    options: PairOptions,
    roles: Mapping[str, Any],
    named: tuple[str, ...],
    adjust_over: str,
    a: Hashable,
    b: Hashable,
    baseline: Hashable,
    margin: float | None,
) -> TableNotes:
    """Return the notes on a table of pairs, with the system that others are compared with."""
    one = baseline
    if b is None and baseline is None:
        one = a
    more = {"margin": check_margin(margin)}
    return TableNotes(options, roles, named, adjust_over, more, one)


def _tabulate_pairs(
    data: Data,
    roles: Mapping[str, Any],
    kernel: _Kernel,
    notes: TableNotes,
    *,
    a: Hashable,
    b: Hashable,
    baseline: Hashable,
    families: Families | None,
    progress: bool | None,
) -> Data:
    """Return the table of all pairs of systems in all groups."""
    relate = finish = None
    if families is not None:
        relate = partial(relations, families)
    if notes.over_all:
        finish = partial(over_groups, how=notes.options)
    with resampling_bar(data, progress, notes.options.n_resamples) as step:
        return tabulate_items(
            data,
            roles,
            partial(_pairs_of_group, kernel=kernel, notes=notes, step=step),
            _columns_of_pairs(notes, related=families is not None),
            record=notes.record,
            a=a,
            b=b,
            baseline=baseline,
            relate=relate,
            finish=finish,
            needs=partial(_sums_for_pairs, kernel, notes),
        )


def _columns_of_pairs(notes: TableNotes, *, related: bool) -> tuple[str, ...]:
    """Return the columns of a table of pairs."""
    columns = list(PAIR_COLUMNS)
    if related:
        columns.append("relation")
    if notes.roles.get("seeds") is not None:
        columns += OF_SEEDS
    if notes.more["margin"] is not None:
        after = columns.index("p_adjusted") + 1
        columns.insert(after, margin_name(notes.options.alternative))
    if notes.options.adjust is None:
        columns = [name for name in columns if name not in OF_FAMILY]
    return notes.columns(columns)


def _pairs_of_group(
    items: AnyItems,
    pairs: IntArray,
    n_groups: int,
    *,
    kernel: _Kernel,
    notes: TableNotes,
    step: Step,
) -> tuple[Rows, GroupFacts]:
    """Return one row per pair of systems, and the facts of the group."""
    options = notes.settled(len(pairs), n_groups)
    check_size(kernel, items, len(pairs), options)
    table = kernel(items, pairs, options, step)
    flat = np.isfinite(table.gain) & np.isnan(table.ci_low)
    interval = ""
    if "ci" in notes.named:
        interval = options.ci or DUAL[options.event]
        if items.binary:
            interval = options.ci or "tango"
    facts = notes.facts(items, pairs, options, table.n_resamples, flat, interval)
    rows = with_systems(table._asdict(), pairs)
    margin = notes.more["margin"]
    if margin is not None:
        alternative = options.alternative
        p = margin_p(items, pairs, table, margin, alternative, options.alpha)
        rows[margin_name(alternative)] = p
    return rows, facts


def _sums_for_pairs(kernel: _Kernel, notes: TableNotes, n_pairs: int) -> ItemNeeds:
    """Return which sums the test needs when items are distributed across workers."""
    options = notes.settled(n_pairs, 1)
    if kernel is swapped_gains.paired_permutation:
        return ItemNeeds(options, swaps=True)
    return ItemNeeds(options, signs="wild" in (options.event, options.ci))
