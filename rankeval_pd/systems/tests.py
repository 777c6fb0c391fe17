"""Test the differences between systems on the same items, and rank the systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from rankeval_pd.decisions import (
    GROUP,
    Rows,
    bootstrapped_pairs,
    family_of,
    over_all_groups,
    pairs_tested_once,
    ranked_systems,
    ranks_of,
)
from rankeval_pd.doors import Data, Families, rows_at, tabulate_items
from rankeval_pd.errors import (
    check_count,
    check_margin,
    check_memory,
    check_share,
    warn,
)
from rankeval_pd.options import Capabilities, with_roles
from rankeval_pd.roles import (
    AdjustOver,
    Alternative,
    Event,
    FamilyAdjustment,
    GainInterval,
    ItemRoles,
    LawMethod,
    MeanTest,
    PermutationTest,
    Roles,
)
from rankeval_pd.stats import (
    AnyItems,
    IntArray,
    Items,
    PairOptions,
    Step,
    items,
    margin_name,
    quiet,
    signed_rank_tests,
    t_tests,
)
from rankeval_pd.stats.bootstrap import DUAL, with_resamples
from rankeval_pd.stats.gains import margin_p, swapped_tests
from rankeval_pd.stats.item_gains import (
    FEW_ANSWERS,
    LEAST_ANSWERS,
    RatioGains,
    SeedGains,
    draws_of,
    moves_with_size,
    skewed,
    uneven,
)

# ---- Collect attributes and warnings for tables from resampled items

FEW_ITEMS, FEW_GROUPS, FEW_LEVELS = 30, 20, 10  # a warning is issued below these numbers


class GroupFacts(NamedTuple):
    """Describe the items and the tests of one group."""

    n_items: int
    n_items_low: int  #: items that the system with the fewest scores has
    n_drawn: int  #: items, or clusters
    n_levels: Mapping[str, int]  #: of each of two crossed factors, or empty
    n_resamples: int
    test: str  #: name of the test with this event
    interval: str  #: kind of interval, or "" if the table does not name it
    flat: bool  #: whether an interval is undefined because there is no variation
    skewed: bool
    undecided: bool  #: whether more draws could change a decision at alpha
    moves_with_size: bool  #: whether gains depend on the sizes of clusters
    uneven: bool  #: whether ratios with very different denominators are swapped
    answers: float  #: fewest guesses made by any system, or inf for other metrics
    n_strata: int  #: 0 without strata
    n_seeds: int  #: seeds of the system with the fewest, or 0 without seeds
    seed_widening: float  #: how much seeds widen intervals for gains
    n_systems: int


_Kernel = Callable[..., Rows]


@dataclass(kw_only=True)
class TestPlan:
    """A question about systems on the same items, with the options of the call."""

    options: PairOptions
    roles: Mapping[str, Any]
    kernel: _Kernel  #: tests the pairs of a group, or ranks its systems
    named: Sequence[str]  #: the options that become attrs
    more: Mapping[str, Any]  #: further attrs
    adjust_over: str
    a: Hashable = None
    b: Hashable = None
    baseline: Hashable = None
    families: Families | None = None
    least: int = 2

    def __post_init__(self) -> None:
        """Derive what the tests need from the options."""
        #: whether the tests of all groups are one family
        self.over_all = self.options.adjust is not None and self.adjust_over == "all"
        #: whether the tests draw random signs
        self.signs = "event" not in self.named or self.options.event == "wild"
        #: whether two factors group the items
        self.crossed = isinstance(self.roles.get("groups"), list)

    def settled(self, n_pairs: int, n_groups: int, n_systems: int = 0) -> PairOptions:
        """Return options with enough resamples for the family of tests, if they fit in memory."""
        options = self.options
        if self.over_all:
            options = replace(options, n_alike=n_groups)
        options = with_resamples(options, n_pairs)
        rows, what = n_systems, "systems"
        if self.kernel is _swapped_pairs:
            rows, what = n_pairs, "pairs"
        check_memory(
            2 * rows * options.n_resamples,
            f"{rows:,} {what} each require {options.n_resamples:,} numbers in memory",
            "Pass baseline=... to compare with one system, measures=... to select fewer systems, or"
            " a smaller n_resamples or larger alpha to draw fewer resamples.",
        )
        return options

    def facts_of(
        self, options: PairOptions, items: AnyItems, pairs: IntArray, rows: Rows, interval: str
    ) -> GroupFacts:
        """Return the facts of a group, given the rows of its tests and the kind of interval."""
        drawn = replace(options, n_resamples=int(rows["n_resamples"].max(initial=0)))
        draws = draws_of(items, pairs, drawn, quiet)
        own = draws.parametric
        answers, lopsided, seeds = np.inf, False, (0, 1.0, 0)
        if isinstance(own, RatioGains):
            answers = float(own.answers[pairs].min(initial=np.inf))
        elif len(pairs):
            lopsided = skewed(draws)
        if isinstance(own, SeedGains):
            seeds = own.fewest, round(own.widening(options.level), 2), own.n_systems
        if interval == "wild" and (self.crossed or (seeds[0] and self.signs)):
            interval = "student"
        elif interval == "wild" and isinstance(own, RatioGains):
            interval = "proportions"
            if own.paired and not self.options.simultaneous:
                interval = "tango"
        n_strata = 0
        if isinstance(items, Items) and items.strata is not None:
            n_strata = int(items.strata.max()) + 1
        levels = {}
        if isinstance(items, Items) and items.factors is not None:
            sizes = (int(factor.max()) + 1 for factor in items.factors)
            levels = dict(zip(self.roles["groups"], sizes, strict=True))
        scored = items.n_items
        if isinstance(items, Items) and self.roles.get("missing") == "ratio":
            scored = int((items.statistics[..., -1] > 0.0).sum(axis=1).min())
        by_item = items.n_groups > 0 and self.roles.get("weight") != "group"
        known = rows["gain"] if "gain" in rows else rows["value"]
        return GroupFacts(
            n_items=items.n_items,
            n_items_low=scored,
            n_drawn=items.n_drawn,
            n_levels=levels,
            n_resamples=drawn.n_resamples,
            test=self._test_of(own, items),
            interval=interval,
            flat=bool((np.isfinite(known) & np.isnan(rows["ci_low"])).any()),
            skewed=lopsided or ("skewed" in rows and bool(rows["skewed"].any())),
            undecided=bool(rows["undecided"].any()),
            moves_with_size=by_item and moves_with_size(items, pairs),
            uneven=self.kernel is _swapped_pairs and uneven(items, pairs),
            answers=answers,
            n_strata=n_strata,
            n_seeds=seeds[0],
            seed_widening=seeds[1],
            n_systems=seeds[2],
        )

    def _test_of(self, own: RatioGains | SeedGains | None, items: AnyItems) -> str:
        """Return the name of the test with the event, which depends on the items."""
        if self.crossed:
            return "crossed"
        if isinstance(own, SeedGains):
            return "seeds"
        if self.kernel is _swapped_pairs:
            return {True: "mcnemar", False: "permutation"}[items.binary]
        if self.options.event != "wild":
            return self.options.event
        binary = items.binary
        if isinstance(own, RatioGains):
            if self.options.simultaneous or not own.paired:
                return "proportions"
            binary = True
        if binary and not self.options.simultaneous:
            return "unconditional"
        if self.options.skewness and not binary:
            return "hall"
        return "wild"

    def attrs(self, facts: Sequence[GroupFacts], n_pairs: int) -> dict[str, Any]:
        """Warn about few items or groups, or no variation, and return the attrs of a table."""
        options = self.options
        every: Any = GroupFacts._make(zip(*facts, strict=True))  # each fact of all groups
        _warn_of_few(every, self)
        most = max(every.n_resamples)
        one_family = n_pairs == 1 or options.adjust is not None
        if one_family and any(every.undecided) and not options.n_resamples:
            warn(
                f"A decision at alpha={options.alpha:g} depends on the {most:,} random draws. Pass"
                f" n_resamples={10 * most} or more."
            )
        attrs: dict[str, Any] = {}
        for name in self.named:
            attrs[name] = getattr(options, name)
        if options.adjust is not None:
            attrs["adjust_over"] = self.adjust_over
        if "event" in attrs or self.kernel is _swapped_pairs:
            attrs["test"] = ", ".join(sorted({*every.test}))
        attrs |= {"seed": options.seed, **self.more}
        attrs["n_resamples"] = most or None  # exact: no draws
        if every.n_strata[-1]:
            attrs["n_strata"] = every.n_strata[-1]
        attrs["n_items"] = None  # each row shows the number for its group
        if len({*every.n_items}) == 1:
            attrs["n_items"] = every.n_items[0]
            if min(every.n_items_low) < every.n_items[0]:
                attrs["n_items_low"] = min(every.n_items_low)
        if self.crossed:
            if len({*map(_sizes_of, every.n_levels)}) == 1:
                attrs["n_levels"] = _sizes_of(every.n_levels[0])
        elif self.roles.get("groups") is not None and len({*every.n_drawn}) == 1:
            attrs["n_groups"] = every.n_drawn[0]
        if every.n_seeds[-1]:
            attrs["n_seeds"] = min(every.n_seeds)
            attrs["seed_widening"] = max(1.0, *every.seed_widening)
            attrs["n_systems"] = every.n_systems[-1]
        attrs.pop("ci", None)
        intervals = {*every.interval} - {""}
        if intervals:
            attrs["ci"] = ", ".join(sorted(intervals))
        if options.adjust is not None:
            one = self.a  # the system that is compared with all other systems
            if self.b is not None or self.baseline is not None:
                one = self.baseline
            attrs["family"] = family_of(n_pairs, one, groups=len(facts), over=[self.adjust_over])
        return attrs


def _sizes_of(levels: Mapping[str, int]) -> str:
    """Return the numbers of levels of crossed factors as text."""
    return " × ".join(f"{size:,} {name}" for name, size in levels.items())


def _warn_of_few(every: Any, plan: TestPlan) -> None:
    """Warn once about few items, guesses or seeds, missing intervals, and large groups."""
    few, what, groups = FEW_ITEMS, "items", plan.roles.get("groups")
    if groups is not None:
        few, what = FEW_GROUPS, f"groups of {groups!r}"
    alpha, fewest, texts = plan.options.alpha, min(every.n_drawn), []
    needed = int(np.ceil(1.0 - np.log2(alpha)))  # two-sided p is at least 2^(1-n)
    why = ""
    if plan.crossed:
        levels = every.n_levels[every.n_drawn.index(fewest)]
        few_of, other = sorted(levels, key=levels.__getitem__)
        if fewest < FEW_LEVELS:
            texts.append(
                f"{_sizes_of(levels)}: with fewer than {FEW_LEVELS} levels of {few_of!r}, even"
                f" large gains may not be significant. Pass groups={other!r}, and restrict the"
                f" claim to these levels of {few_of!r}; see 'few raters' on the page on groups."
            )
    elif plan.signs and "alpha" in plan.named and fewest < needed:
        why = f"with fewer than {needed} {what}, no two-sided test can be significant at {alpha:g}"
    elif not plan.signs and fewest < few:
        why = (
            f"with fewer than {few} {what}, resampled gains vary too little, so tests are too"
            " liberal"
        )
    elif any(every.skewed):
        why = (
            "scores or differences are skewed, a stratum is very small, or all scores of a system"
            " are equal, so results may be unreliable"
        )
        if not plan.options.skewness:
            why += "; the default of paired_bootstrap corrects for skewness"
    if why:
        texts.append(f"{fewest} {what}: {why}. Use more data; see the page on paired tests.")
    answers = min(every.answers)
    why = f"with fewer than {FEW_ANSWERS}, the test may be unreliable"
    if answers < LEAST_ANSWERS:
        why = f"with fewer than {LEAST_ANSWERS}, there is no test and p_value is NaN"
    if answers < FEW_ANSWERS - 1e-9:
        texts.append(
            f"A system's ratio is based on only {answers:.3g} guesses (or answers): {why}."
            " Use more items, or a system that guesses more often."
        )
    if any(every.flat):
        texts.append(
            "No interval (NaN): all items are equal or have the same difference, so the variation"
            " between items is unknown. For an interval, score items 0 or 1, as"
            " from_predictions(..., 'accuracy') does, and pass metric='accuracy' without groups."
        )
    if any(every.uneven):
        texts.append(
            "The denominators (such as guesses) of two ratios differ more than twofold, so swaps"
            " may reject equal ratios. Call paired_bootstrap."
        )
    if any(every.moves_with_size):
        texts.append(
            f"groups: the gain depends on group size in {groups!r}, and a few"
            " large groups dominate, so the test and the interval may be unreliable. Pass"
            " weight='group' for the mean over groups, or split large groups."
        )
    if min(every.n_seeds) in (1, 2):
        texts.append(
            "seeds: two training runs give a poor estimate of the variation between runs, so only"
            " large gains can be significant. Train with five seeds; needed_seeds returns the"
            " number for a given gain."
        )
    if texts:
        warn(" ".join(texts))


# ---- Rank systems

RANK_COLUMNS = (
    "system", "value", "ci_low", "ci_high", "rank", "rank_low", "rank_high",
    "tied_for_best", "letters", "ci_low_alone", "ci_high_alone",
)  # fmt: skip


@Capabilities(
    items="Who is best?",
    clusters=True,
    sums=True,
    short="system value ci_low ci_high rank_low rank_high letters",
    details="rank tied_for_best ci_low_alone ci_high_alone",
    layout="system",
    quantity="score",
)
@with_roles
def system_ranks(
    data: Data,
    *,
    test: MeanTest = "bootstrap",
    n_resamples: int | None = None,
    adjust: FamilyAdjustment | Literal["auto"] | None = "auto",
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Rank systems and quantify the uncertainty due to the choice of test items.

    Parameters
    ----------
    data, n_resamples, **roles
        As in :func:`paired_bootstrap`.
    test
        Test for all pairs. "t" is the paired t test with t intervals for scores and needs no draws.
    adjust
        Adjustment for testing all pairs. "auto" means "max-t", or "holm" with ``test="t"`` and with
        two crossed factors in ``groups``. With None, "bh" or "by", rank limits are not
        simultaneous. "max-t-stepdown" has more power than "max-t".
    adjust_over
        Whether ranks are simultaneous across all groups or within each group.
    alpha
        Significance level of the tests. Rank limits have the confidence level 1 - alpha.
    level

    Returns
    -------
    DataFrame or Dataset
        One row per system, sorted by rank (Dataset: dimension system, in the order of the data):
        ``system``, ``value`` (the score); ``ci_low``, ``ci_high``: interval for the score,
        simultaneous for all systems (Bonferroni); ``ci_low_alone``, ``ci_high_alone``: the
        unadjusted interval; ``rank``: 1 for the best system, equal scores
        share the better rank, and undefined scores (NaN) are last; ``rank_low``: 1 + the number of
        significantly better systems; ``rank_high``: the number of systems minus the number of
        significantly worse systems; ``tied_for_best``: True if no system is significantly
        better; ``letters``: two systems share a letter if and only if they do not differ
        significantly; ``n_groups``: only with ``groups``. A single system has a value and an
        interval, but no rank and no letter.

    Warns
    -----
    RankevalWarning
        In the same situations as :func:`paired_bootstrap`, if a score has no interval, if the
        scores of several systems are too skewed for their number, or if items are right or wrong
        and a stratum with fewer than 4 items is less than half as large as another.

    Notes
    -----
    :func:`paired_bootstrap` tests all pairs with the same ``adjust``. A system ranks above another
    system if ``p_adjusted`` ≤ alpha. With probability at least 1 - alpha, all true ranks lie
    between ``rank_low`` and ``rank_high`` (Mogstad et al.). Without ``n_resamples``, drawing
    continues while a decision about a pair depends on the draws, up to eight times the initial
    number or 33 million gains in total.

    The interval for the score of 0/1 items without ``groups`` is exact binomial (Clopper and
    Pearson). The interval for up to 50 independent values of a metric between 0 and 1 is Gaffke's
    (2005). Otherwise, it is Hall's (1992) t interval, widened to Korn and Graubard's if the range
    of the metric is known. No interval leaves this range. With two crossed factors, tests and
    intervals use Student's t, as in :func:`paired_bootstrap`.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91,
    https://doi.org/10.1093/restud/rdad006.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> right = {"x": [1] * 36 + [0] * 4, "y": [1] * 35 + [0] * 4 + [1], "z": [0] * 30 + [1] * 10}
    >>> df = pd.DataFrame(right)
    >>> df.rankeval.system_ranks()
      system  value    ci_low   ci_high  rank_low  rank_high letters
    0      x   0.90  0.731280  0.979935         1          2       a
    1      y   0.90  0.731280  0.979935         1          2       a
    2      z   0.25  0.107394  0.446622         3          3       b
    """
    options = options_of(
        roles,
        n_resamples,
        method="auto",
        adjust=adjustment_of(test, adjust, roles.get("groups")),
        alpha=alpha,
        level=level,
        event="wild",
        ci="",
        keep_order=True,
        skewness=True,
    )
    more = {"intervals": "simultaneous"}
    if test == "t":
        more["test"] = test
    plan = RankPlan(
        options=options,
        roles=roles,
        kernel=partial(ranks_of, test=test),
        named=("event", "adjust", "alpha", "level"),
        more=more,
        adjust_over=adjust_over,
        least=1,
    )
    return tabulate_items(data, plan)


class RankPlan(TestPlan):
    """A table with one row per system."""

    @property
    def columns(self) -> list[str]:
        """Return the columns of the table."""
        return [*RANK_COLUMNS, *["n_groups"] * (self.roles.get("groups") is not None)]

    def answer(
        self, items: AnyItems, pairs: IntArray, n_groups: int, step: Step
    ) -> tuple[Rows, GroupFacts]:
        """Return one row per system, and the facts of the group."""
        options = self.settled(len(pairs), n_groups, items.n_systems)
        rows = self.kernel(items, options, step)
        if not len(pairs):  # a single system has no tests
            self.options, self.named = replace(options, adjust=None), ["level"]
            if options.n_alike == 1:
                self.more = {}
        return rows, self.facts_of(options, items, pairs, rows, str(rows.pop("interval")[0]))

    def finish(self, rows: Rows) -> Rows:
        """Rank the systems of all groups, and sort the systems of each group by rank."""
        if not rows["pair_p"].size:  # a single system has no rank
            return {name: values for name, values in rows.items() if name != "rank"}
        rows = ranked_systems(rows, how=self.options, over_all=self.over_all)
        return rows_at(rows, np.lexsort([rows["rank"], rows[GROUP]]))


# ---- Options and memory for tables from resampled items, and relations between systems


def adjustment_of(test: str | None, adjust: str | None, groups: Any = None) -> str | None:
    """Return the adjustment, by default max-t, or Holm's method without random signs.

    Two crossed factors in ``groups`` have t tests, too.
    """
    if isinstance(adjust, str) and adjust == "auto":  # pd.NA is rejected with other invalid options
        adjust = "max-t"
        if test == "t" or isinstance(groups, list):
            adjust = "holm"
    return adjust


def options_of(
    roles: Mapping[str, Any],
    n_resamples: int | None,
    *,
    alpha: float,
    level: float,
    alternative: str = "two-sided",
    **options: Any,
) -> PairOptions:
    """Check and return the options."""
    return PairOptions(
        n_resamples=0 if n_resamples is None else check_count("n_resamples", n_resamples),
        alpha=check_share("alpha", alpha),
        level=check_share("level", level),
        seed=items.entropy(Roles.of({"rng": roles.get("rng", 0)}).rng),
        alternative=alternative,
        **options,
    )


# ---- Test pairs of systems on the same test items (Berg-Kirkpatrick et al. 2012)

PAIR_COLUMNS = (
    "system_a", "system_b", "score_a", "score_b", "gain", "gain_se", "ci_low", "ci_high",
    "p_value", "p_two_sided", "p_stderr", "p_adjusted", "confidence", "exact",
    "n_items", "n_resamples", "p_one_sided", "leaning", "ci_low_alone", "ci_high_alone",
)  # fmt: skip
_NAMED = ("alternative", "adjust", "alpha", "level")  # options that become attrs
OF_FAMILY = ("p_adjusted", "ci_low_alone", "ci_high_alone")  # columns only with adjust=

OF_SEEDS = ("gain_se_items", "gain_se_seeds", "n_seeds")  # columns only with seeds=


@Capabilities(
    items="Is a system's gain real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior",
    details="gain_se gain_se_items gain_se_seeds n_seeds p_one_sided p_two_sided p_stderr"
    " confidence exact leaning n_items n_resamples ci_low_alone"
    " ci_high_alone",
    layout="pair",
    quantity="gain",
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
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs of systems with the paired bootstrap.

    Parameters
    ----------
    data : DataFrame or Dataset
        A DataFrame with one row per test item and one column per system, or two-level columns
        (system, statistic). A Dataset requires the dimensions item and system, and one variable per
        statistic. Dask DataFrames and lazy Datasets chunked by item give bit-identical results.
    a, b
    baseline : name of a system, optional
        System to compare with all other systems, reported as system_b, in place of ``a`` and ``b``.
    n_resamples
        Number b of resamples. The default is at least 10,000 and depends on the family of tests,
        ``alpha`` and ``level``. Berg-Kirkpatrick et al. (2012) use a million.
    event
        Event whose probability is the one-sided p-value. "wild" is the wild bootstrap. This event
        multiplies each item's (or cluster's) contribution to the gain by a random sign, and counts
        sums that reach the gain δ. All other events resample items and use the resampled gains δ*.
        Events from Berg-Kirkpatrick et al. (2012) are "recentred" δ* ≥ 2δ, "strict" δ* > 2δ
        (figure 1), and "zero" δ* ≤ 0.
    method
        "auto" computes the exact distribution if possible, and draws resamples otherwise.
    ci
        Kind of interval for the gain. By default, the interval matches ``event``. For "wild", the
        interval contains the gains that the test does not reject. For 0/1 items without ``groups``,
        the default is Tango's score interval, "tango". Every interval includes 0 if p_adjusted (or
        p_value) is above 1 − level.
    families
    alternative
        Alternative hypothesis for ``p_value``. "greater" means that system_a is better, as in
        Berg-Kirkpatrick et al. (2012). One-sided tests give one-sided intervals.
    margin : float, optional
        Largest gain that is negligible in practice. With a margin, the result contains
        ``p_equivalence``, the p-value for a gain within ±margin. With "greater" or "less", it
        contains ``p_noninferior`` instead, for a gain above -margin or below margin.
    adjust
        Adjustment for the number of pairs. "max-t" compares each statistic with the largest
        statistic over all pairs in the same resamples. The intervals are then simultaneous.
        "max-t-stepdown" (Romano and Wolf) has more power and the same intervals.
    adjust_over
        Whether all groups of ``by`` (Dataset: all batch dimensions) form one family, or each group
        is a separate family. "max-t" adjusts for the pairs within a group, and Bonferroni's method
        (a step-down method with "max-t-stepdown") adjusts for the groups.
    alpha
    level
    skewness
        Whether "wild" corrects for skewed differences. By default, the p-value is the maximum of
        the p-values from random signs and from Hall's (1992) transformed t statistic. The interval
        then contains the gains that at least one of the tests does not reject. False uses only
        random signs.
    **roles
        ``metric``: the metric, with the following statistics per item. mean (default), sum, rouge:
        one column; ratio: numerator, denominator; accuracy: correct[, total]; precision: correct,
        guess; recall: correct, gold; f1: correct, guess, gold; aer: sure, guess, correct_sure,
        correct_possible; bleu: sys_len, ref_len, correct_1 … correct_4, total_1 … total_4; chrf:
        hyp_i, ref_i, match_i for each order i. You can also pass a function f(S), S[..., statistic]
        → [...], where S contains the summed statistics in column order and undefined results are
        inf or NaN. ``higher_is_better``: by default the direction of the metric. ``groups``:
        clusters (documents) to resample; two crossed factors such as ``["item", "annotator"]``,
        each with at least 10 levels, use a t test. ``weight="group"``: use the mean of the cluster
        means. ``by``: domains to test separately. ``measures``: the systems. ``rng``: seed.
        ``dim``: the dimension of the items.

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
        If an item is missing for a system, if there is only one system or item, if a count is
        negative, or if there are too few resamples for adjusted p-values below alpha.

    Notes
    -----
    If differences are symmetric, the error rate of "wild" is at most the nominal level for any
    number of items or groups. The smallest two-sided p-value for n items is 2^(1−n), so p-values
    from five items never reach 0.05. The events in Berg-Kirkpatrick et al. (2012) are too liberal
    with few items. All pairs share the same signs or resamples, and the order of rows does not
    matter. Monte Carlo p-values are (s + 1)/(b + 1), or s/b for "strict". Resamples with an
    undefined metric count against the alternative.

    "wild" linearizes scores with derivatives at the sums, which is exact for means, sums and
    accuracy. For up to 16 items or groups, it enumerates all sign patterns. For 0/1 items without
    ``groups``, it is an unconditional exact test: p is the largest probability, over all rates of
    discordant items, of counts ordered by the smaller of McNemar's mid-p and the score statistic's
    p-value (with more than 2,000 discordant items, McNemar's p-value). With ``seeds``, it is a t
    test (see :func:`needed_seeds`). For ratios of sums between 0 and 1 (precision, recall, F1, AER,
    ratio) without ``groups``, it is the distribution of a difference between two dependent
    proportions (Storer and Kim 1990; Kosinski 2013), which needs 10 or more
    guesses. ``attrs["test"]`` names the test.

    Exact distributions are available for mean, sum and accuracy if all differences are multiples of
    one step and their sum has at most a million values near the mean. Events that resample items
    have exact distributions only without ``groups``; a p-value of 0 is replaced by 2^−n.

    "max-t" requires the "wild" event. Its interval contains the gains whose t statistic is at most
    the critical value, and excludes 0 if and only if p_adjusted is at most 1 − level. The better
    system comes first, so for equal systems the one-sided p-value is at most 0.05 in 10% of
    samples. Use "greater" only if the direction was fixed beforehand. Dask DataFrames do not
    support ``groups``, ``strata``, ``seeds`` or ``by``.

    References
    ----------
    * Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
      figure 1, section 2.2 and footnotes 2 to 5.
    * Wu (1986), Annals of Statistics 14, https://doi.org/10.1214/aos/1176350142: wild bootstrap.
    * Cameron, Gelbach and Miller (2008), Review of Economics and Statistics 90,
      https://doi.org/10.1162/rest.90.3.414: wild bootstrap of clusters.
    * Cameron, Gelbach and Miller (2011), J. of Business and Economic Statistics 29,
      https://doi.org/10.1198/jbes.2010.07136: crossed factors.
    * Hartigan (1969), J. of the American Statistical Association 64: intervals.
    * Hall (1992), J. of the Royal Statistical Society B 54: skewness.
    * Suissa and Shuster (1991), Biometrics 47, and Tango (1998), Statistics in Medicine 17,
      https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C891::AID-SIM780%3E3.0.CO;2-B:
      right-or-wrong items.
    * Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9,
      https://doi.org/10.2202/1544-6115.1585.
    * Romano and Wolf (2005), Econometrica 73, https://doi.org/10.1111/j.1468-0262.2005.00615.x:
      step-down.

    Examples
    --------
    One system is better on one of fifty items:

    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_bootstrap()
      system_a system_b  score_a  score_b  gain    ci_low   ci_high   p_value
    0      new      old     0.02      0.0  0.02 -0.052775  0.104954  0.533219

    The following call runs the test in Berg-Kirkpatrick et al. (2012):

    >>> df.rankeval.paired_bootstrap(event="recentred", alternative="greater")
      system_a system_b  score_a  score_b  gain  ci_low  ci_high   p_value
    0      new      old     0.02      0.0  0.02   -0.02      1.0  0.264229
    """
    shown: str = ci or ""  # the interval depends on the items
    if ci is None and event != "wild":
        shown = DUAL[event]
    options = options_of(
        roles,
        n_resamples,
        method=method,
        adjust=adjust,
        alpha=alpha,
        level=level,
        event=event,
        ci=shown,
        keep_order=b is not None or baseline is not None,
        alternative=alternative,
        skewness=event == "wild" and skewness,
    )
    if options.simultaneous and event != "wild":
        raise ValueError(
            f"adjust={adjust!r} with event={event!r}: max-t draws random signs. Omit event, or pass"
            " adjust='holm'."
        )
    if margin is not None:
        margin = check_margin(margin)
    plan = PairPlan(
        options=options,
        roles=roles,
        kernel=bootstrapped_pairs,
        named=("event", "ci", *_NAMED),
        more={"margin": margin},
        adjust_over=adjust_over,
        a=a,
        b=b,
        baseline=baseline,
        families=families,
    )
    return tabulate_items(data, plan)


@Capabilities(
    items="Is a system's gain real?",
    sums=True,
    clusters=True,
    short="system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted",
    details="gain_se p_one_sided p_two_sided p_stderr confidence exact leaning n_items"
    " n_resamples ci_low_alone ci_high_alone",
    layout="pair",
    quantity="gain",
    interval="permutation",
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
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs of systems with approximate randomization.

    Parameters
    ----------
    data, a, b, baseline, n_resamples, families, alternative, adjust, adjust_over
        As in :func:`paired_bootstrap`.
    test
        "swaps" exchanges the outputs of the two systems on randomly chosen items. "t" is the paired
        t test, which needs no draws. "wilcoxon" is the signed-rank test. The signed-rank test
        reports the Hodges-Lehmann estimate (the median of pairwise means of the differences) as
        ``gain``, with matching limits.
    alpha, level
        As in :func:`paired_bootstrap`.
    **roles
        As in :func:`paired_bootstrap`. With ``groups``, whole clusters are swapped.
    method
        "auto" uses the exact distribution if possible. With at most 20 items (or clusters), all
        swaps are enumerated for any metric.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap`. ``p_one_sided`` is the probability of a gain at
        least this large for systems that are exchangeable on each item. ``gain_se`` is the standard
        deviation of the gain under swaps, which assumes a true gain of 0. ``ci_low`` and
        ``ci_high`` are the gain minus the quantiles of the gain under swaps. This interval agrees
        with the test but is too wide for large gains, so report the interval from
        :func:`paired_bootstrap`.

    Warns
    -----
    RankevalWarning
        If gains are so skewed that the test rejects equal systems too often (the median is near one
        end of the range, and 0 on its other side), if the denominators of two ratios differ more
        than twofold, or if there are too few items for significance.

    Notes
    -----
    The test is exact for the sharp null hypothesis that the two systems' outputs are exchangeable
    on these items (Riezler and Maxwell 2005). For 0/1 items, the test is McNemar's exact test.
    Two-sided p-values are twice the smaller one-sided p-value, as in SciPy. All pairs share the
    same swaps.

    The p-values equal those from SciPy's ``permutation_test(permutation_type="samples")``,
    ``binomtest``, ``ttest_rel`` and ``wilcoxon(method="exact")``, and of sacrebleu's approximate
    randomization. "wilcoxon" drops zero differences, uses mean ranks for ties, and is exact for up
    to a million values of the rank sum, also with ties. If most differences are 0, as is common
    with accuracy, the "wilcoxon" gain is 0.

    References
    ----------
    * Noreen (1989), Computer intensive methods for testing hypotheses, Wiley.
    * Yeh (2000), COLING, https://aclanthology.org/C00-2137.
    * Riezler and Maxwell (2005), ACL workshop on evaluation measures,
      https://aclanthology.org/W05-0908.
    * Wilcoxon (1945), Biometrics Bulletin 1, https://doi.org/10.2307/3001968.
    * Hodges and Lehmann (1963), Annals of Mathematical Statistics 34,
      https://doi.org/10.1214/aoms/1177704172.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_permutation()
      system_a system_b  score_a  score_b  gain  ci_low  ci_high  p_value
    0      new      old     0.02      0.0  0.02     0.0     0.04      1.0
    """
    options = options_of(
        roles,
        n_resamples,
        method=method,
        adjust=adjust,
        alpha=alpha,
        level=level,
        event="recentred",
        ci="basic",
        keep_order=b is not None or baseline is not None,
        alternative=alternative,
    )
    plan = PairPlan(
        options=options,
        roles=roles,
        kernel=_KERNELS[test],
        named=_NAMED,
        more={"margin": None},
        adjust_over=adjust_over,
        a=a,
        b=b,
        baseline=baseline,
        families=families,
    )
    result = tabulate_items(data, plan)
    if test != "swaps":
        result.attrs |= {"test": test, "interval": _INTERVALS[test]}
    if test == "wilcoxon" and ((result["gain"] == 0.0) & (result["p_value"] <= alpha)).any():
        warn(
            "test='wilcoxon': most differences are 0, so the Hodges-Lehmann gain is 0 even though"
            " the test is significant. Omit test to compare the means."
        )
    return result


_INTERVALS = {"t": "student", "wilcoxon": "hodges-lehmann"}
_swapped_pairs: _Kernel = partial(pairs_tested_once, swapped_tests)
_KERNELS: dict[str, _Kernel] = {
    "swaps": _swapped_pairs,
    "t": partial(pairs_tested_once, t_tests),
    "wilcoxon": partial(pairs_tested_once, signed_rank_tests),
}


def mean_test(test: str) -> Callable[..., Any]:
    """Return a function that tests pairs of means by resampling or t tests."""
    if test == "t":
        return partial(paired_permutation, test="t")
    return paired_bootstrap


class PairPlan(TestPlan):
    """A table with one row per pair of systems."""

    @property
    def columns(self) -> list[str]:
        """Return the columns of the table."""
        columns = [*PAIR_COLUMNS]
        if self.more["margin"] is not None:
            columns.insert(columns.index("p_adjusted") + 1, margin_name(self.options.alternative))
        if self.options.adjust is None:
            for name in OF_FAMILY:
                columns.remove(name)
        if self.families is not None:
            columns.append("relation")
        if self.roles.get("seeds") is not None:
            columns += OF_SEEDS
        if self.roles.get("groups") is not None:
            columns.append("n_groups")
        return columns

    def answer(
        self, items: AnyItems, pairs: IntArray, n_groups: int, step: Step
    ) -> tuple[Rows, GroupFacts]:
        """Return one row per pair of systems, and the facts of the group."""
        options = self.settled(len(pairs), n_groups, items.n_systems)
        rows = self.kernel(items, pairs, options, step)
        interval = ""
        if "ci" in self.named:
            interval = options.ci or ("tango" if items.binary else DUAL[options.event])
        facts = self.facts_of(options, items, pairs, rows, interval)
        margin, alternative = self.more["margin"], options.alternative
        if margin is not None:
            shown = np.stack([rows["system_a"], rows["system_b"]], axis=1)
            p = margin_p(items, shown, rows["gain"], margin, options)
            rows[margin_name(alternative)] = p
        return rows, facts

    def finish(self, rows: Rows) -> Rows:
        """Adjust the tests of all groups if they are one family."""
        if self.over_all:
            return over_all_groups(rows, how=self.options)
        return rows
