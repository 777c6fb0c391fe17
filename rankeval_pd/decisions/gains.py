"""Decide gains of systems: families of pairs, limits that agree, the leading system, and ranks.

The rows of a group follow one another, with one row per pair or per system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankeval_pd import stats
from rankeval_pd.decisions.families import adjusted_p, family_levels
from rankeval_pd.decisions.ranks import rank_limits
from rankeval_pd.stats import (
    AnyItems,
    FloatArray,
    IntArray,
    Items,
    Limits,
    PairOptions,
    Step,
    quiet,
)
from rankeval_pd.stats.bootstrap import with_resamples
from rankeval_pd.stats.gains import (
    PairTests,
    Tested,
    bootstrap_tests,
)
from rankeval_pd.stats.item_gains import Draws, draws_of
from rankeval_pd.tables import GROUP, Rows

_MOST_NUMBERS = 2**25  # limit on resampled gains (pairs x draws) for additional draws

# ---- The pairs of one group


def bootstrapped_pairs(
    items: AnyItems,
    pairs: IntArray,
    options: PairOptions,
    step: Step = quiet,
    *,
    draws: Draws | None = None,
) -> Rows:
    """Return the paired bootstrap of all pairs, with more draws while these decide about a pair.

    With earlier ``draws`` for these pairs, no intervals are returned.
    """
    options = with_resamples(options, len(pairs))
    limits = draws is None
    repeatable = isinstance(items, Items) and items.factors is None
    while True:
        tested = bootstrap_tests(items, pairs, options, step, draws=draws, limits=limits)
        rows = decided_pairs(tested, pairs)
        size = 2 * options.n_resamples
        possible = repeatable and size <= options.most and len(pairs) * size <= _MOST_NUMBERS
        if not possible or not rows["undecided"].any():
            return rows
        options = replace(options, n_resamples=size)
        draws = None


def pairs_tested_once(
    kernel: Callable[..., Tested],
    items: AnyItems,
    pairs: IntArray,
    options: PairOptions,
    step: Step = quiet,
) -> Rows:
    """Return the tests of all pairs from a kernel that draws at most once."""
    options = with_resamples(options, len(pairs))
    return decided_pairs(kernel(items, pairs, options, step), pairs)


def decided_pairs(found: Tested, pairs: IntArray) -> Rows:
    """Return the rows of a group: adjusted p-values, limits that agree, the leading system."""
    items = found.items
    options = found.options
    theta = found.theta
    tests = found.rows
    a, b = found.pairs.T
    gain = theta[a] - theta[b]
    undefined = np.isnan(gain)
    if found.estimate is not None:
        gain = found.estimate
    p = np.fmax(tests.p, tests.least)
    ordered = np.fmax(tests.ordered, tests.least_ordered)
    columns = [tests.error, tests.low, tests.high, p, ordered]
    error, low, high, p, ordered = np.where(undefined, np.nan, columns)
    doubled = np.minimum(1.0, 2.0 * ordered)
    own = doubled if options.tails == 2 else p
    # the p-values to adjust, their Monte Carlo intervals and Monte Carlo errors
    shares = tests.p
    least = tests.least
    tails = 1.0
    drawn = tests.drawn
    draws = options.n_resamples
    family, largest = own, found.largest
    if largest is not None:
        family = largest.down if options.adjust == "max-t-stepdown" else largest.single
        family = np.where(np.isnan(own), np.nan, family)
        own = np.where(np.isnan(p), np.nan, largest.alone)
        shares = family
        least = np.full(family.size, np.nan)
        drawn = np.full(family.size, not found.every)
    elif options.tails == 2:
        shares = tests.ordered
        least = np.minimum(1.0, 2.0 * tests.least_ordered)
        tails = 2.0
    added = int(options.event != "strict")  # one is added to the counts
    with np.errstate(invalid="ignore"):
        p_stderr = tails * np.sqrt(shares * (1.0 - shares) / draws) * drawn
        hits = np.maximum(np.rint(np.nan_to_num(shares) * (draws + added)) - added, 0.0)
    family_low = family_high = family
    if np.any(drawn):
        counts, back = np.unique(hits, return_inverse=True)
        limits = np.array(stats.clopper_pearson(counts, np.array(draws), options.level))[:, back]
        limits = np.fmax(np.minimum(1.0, tails * limits), least)
        limits = np.where(np.isnan(family), np.nan, limits)
        family_low, family_high = np.where(drawn, limits, family)
    p_stderr = np.where(family_low < family_high, p_stderr, p_stderr * 0.0)  # use Hall's p
    group = np.zeros(own.size, dtype=np.int64)
    adjusted = _in_one_family(family, group, options)
    least = _in_one_family(family_low, group, options)
    most = _in_one_family(family_high, group, options)
    if options.n_alike > 1:  # the tests of other groups are not yet known
        least = options.n_alike * family_low
        most = options.n_alike * family_high
    # limits that agree with the p-value, and with the adjusted p-value
    intervals = [(low, high, own)]
    together = found.together
    if together is None and options.adjust is not None and found.limits_at is not None:
        together = found.limits_at(_at_family_level(tests, options))
    if together is not None:
        decides = own if options.adjust is None else adjusted
        intervals.append((*np.where(undefined, np.nan, together), decides))
    agreeing = []
    for low, high, decides in intervals:
        if options.tails == 1:
            high = np.where(np.isnan(high), np.nan, np.inf)
        decides = np.where(np.isnan(decides), 1.0, decides)
        agreeing.append(stats.agree_with_test(low, high, decides, "two-sided", options.level))
    alone = agreeing[0]
    shown = agreeing[-1]
    first = items.sign * theta[a]
    second = items.sign * theta[b]
    if options.alternative == "less":  # tests whether the second is better
        first, second, gain = second, first, -gain
        shown = _negative(shown)
        alone = _negative(alone)
    better, worse = np.where(found.swapped, pairs[:, ::-1].T, pairs.T)
    of_items, of_seeds = np.full((2, gain.size), np.nan) if found.parts is None else found.parts
    seeds = np.zeros(items.n_systems, dtype=np.int64)
    if items.seeds is not None:
        seeds = items.seeds.trained
    return {
        "system_a": better,
        "system_b": worse,
        "leaning": np.where(gain > 0.0, better, np.where(gain < 0.0, worse, -1)),
        "score_a": first,
        "score_b": second,
        "gain": gain,
        "gain_se": error,
        "ci_low": shown[0],
        "ci_high": shown[1],
        "p_value": own,
        "p_two_sided": doubled,
        "p_stderr": p_stderr,
        "p_adjusted": adjusted,
        "confidence": 1.0 - ordered,
        "undecided": (least < options.alpha) & (options.alpha < most),
        "exact": ~drawn,
        "n_items": np.full(gain.size, items.n_items),
        "n_resamples": np.where(drawn, options.n_resamples, 0),
        "n_groups": np.full(gain.size, items.n_groups),
        "p_one_sided": ordered,
        "ci_low_alone": alone[0],
        "ci_high_alone": alone[1],
        "family_p": family,
        "gain_se_items": of_items,
        "gain_se_seeds": of_seeds,
        "n_seeds": np.minimum(seeds[a], seeds[b]),
    }


def _at_family_level(tests: PairTests, options: PairOptions) -> PairOptions:
    """Return the options with the level for each interval in a family of tests.

    The results of tests in other groups are not yet known, and these tests count as not rejected.
    The intervals for false discovery rates are therefore wider.
    """
    own = np.fmax(tests.p, tests.least)
    if options.tails == 2:
        own = np.minimum(1.0, 2.0 * np.fmax(tests.ordered, tests.least_ordered))
    p = np.concatenate([own, np.ones((options.n_alike - 1) * own.size)])
    everyone = np.zeros(p.size, dtype=np.int64)
    levels = family_levels(p, str(options.adjust), everyone, options.level)
    return replace(options, level=float(levels[0]))


def _negative(limits: Limits) -> Limits:
    return -limits[1], -limits[0]


# ---- The systems of one group

_OF_PAIRS = ("p_value", "p_adjusted", "family_p")


def ranks_of(
    items: AnyItems, options: PairOptions, step: Step = quiet, *, test: str = "bootstrap"
) -> Rows:
    """Return one row per system, with the columns of pairs that decide about ranks."""
    systems = np.arange(items.n_systems)
    pairs = np.stack(stats.all_pairs(items.n_systems), axis=1)
    draws = draws_of(items, pairs, options, step)
    found = stats.scores_with_limits(draws, test)
    tested = dict.fromkeys([*_OF_PAIRS, "n_resamples", "undecided"], np.zeros(0))
    if len(pairs) and test == "t":
        tested = pairs_tested_once(stats.t_tests, items, pairs, options, step)
    elif len(pairs):
        tested = bootstrapped_pairs(items, pairs, options, draws=draws)
    # systems with too few guesses are not tested
    untested = np.isnan(tested["p_value"]) & np.isfinite(found.theta[pairs]).all(axis=1)
    p, adjusted, family = (np.where(untested, 1.0, tested[name]) for name in _OF_PAIRS)
    known = np.where(np.isnan(found.theta), -np.inf, found.theta)  # without a score: last
    together, alone = found.together, found.alone
    if items.sign < 0.0:
        together = _negative(together)
        alone = _negative(alone)
    every = {
        "interval": found.interval,
        "skewed": found.skewed,
        "n_groups": items.n_groups,
        "n_resamples": int(tested["n_resamples"].max(initial=0)),
        "undecided": tested["undecided"].any(),
    }
    return {
        "system": systems,
        "value": items.sign * found.theta,
        "ci_low": together[0],
        "ci_high": together[1],
        "ci_low_alone": alone[0],
        "ci_high_alone": alone[1],
        "rank": 1 + (known[:, np.newaxis] > known).sum(axis=0),
        **{name: np.full(systems.size, fact) for name, fact in every.items()},
        "pair_p": p if options.adjust is None else adjusted,
        "family_p": family,
    }


# ---- All groups


def over_all_groups(rows: Rows, *, how: PairOptions) -> Rows:
    """Adjust the tests of all groups as one family, with intervals that agree with them."""
    p = _in_one_family(rows["family_p"], rows[GROUP], how)
    low, high = stats.reaching((rows["ci_low"], rows["ci_high"]), p, how.level)
    return {**rows, "p_adjusted": p, "ci_low": low, "ci_high": high}


def _in_one_family(p: FloatArray, group: IntArray, how: PairOptions) -> FloatArray:
    """Return adjusted p-values: (pair)."""
    if how.adjust is None:
        return p
    # with max-t, p-values are already simultaneous over the pairs of a group
    return adjusted_p(p, how.adjust, np.zeros(group.size, dtype=np.int64), group)


def ranked_systems(rows: Rows, *, how: PairOptions, over_all: bool) -> Rows:
    """Rank the systems of each group; ``over_all`` adjusts all groups as one family.

    The columns of pairs have one value per pair, and the other columns one value per system.
    """
    n_groups = int(rows[GROUP][-1]) + 1
    rows = dict(rows)
    p = rows.pop("pair_p")
    family = rows.pop("family_p")
    if over_all:
        p = _in_one_family(family, np.repeat(np.arange(n_groups), p.size // n_groups), how)
    rank = rows["rank"].reshape(n_groups, -1)
    found = rank_limits(rank, p.reshape(n_groups, -1), how.alpha)
    low = found.low.ravel()
    high = found.high.ravel()
    return {
        "rank_low": low,
        "rank_high": high,
        **rows,
        "tied_for_best": low == 1,
        "letters": found.letters.ravel(),
    }
