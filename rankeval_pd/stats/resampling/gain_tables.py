"""The table of all pairs of systems, and helper functions for tests of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson, t_of
from rankeval_pd.stats.resampling import bootstrap_tests
from rankeval_pd.stats.resampling.item_draws import Draws
from rankeval_pd.stats.resampling.lattice import MOST_POINTS, Lattice
from rankeval_pd.stats.resampling.resamples import ENUMERATED
from rankeval_pd.stats.resampling.test_items import (
    AnyItems,
    Items,
    PairOptions,
    better_counts,
    scores_of,
)
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, MaxT, adjust, interval_levels
from rankeval_pd.stats.significance.equivalence import mean_p, of_margin, paired_p

# ------------------------------ The table of all pairs of systems: order, exact tests, and columns

_WHOLE = 2**53  # float64 represents every integer up to this value
METHODS = ("auto", "exact", "monte-carlo")
Limits = tuple[FloatArray, FloatArray]


class Pairs(NamedTuple):
    """The rows of the table, with one row per pair."""

    swapped: BoolArray
    score_a: FloatArray
    score_b: FloatArray
    gain: FloatArray
    gain_se: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    p_value: FloatArray
    p_two_sided: FloatArray
    p_stderr: FloatArray
    p_adjusted: FloatArray
    confidence: FloatArray
    undecided: BoolArray
    exact: BoolArray
    n_items: IntArray
    n_resamples: IntArray
    n_groups: IntArray  #: number of groups, or 0
    p_one_sided: FloatArray  #: one-sided p-value in the direction of the gain
    ci_low_alone: FloatArray
    ci_high_alone: FloatArray
    family_p: FloatArray  #: p to adjust over groups; with max-t, adjusted over pairs
    family_low: FloatArray  #: limits of the Monte Carlo interval
    family_high: FloatArray
    gain_se_items: FloatArray  #: NaN if there are no seeds, as in the next field
    gain_se_seeds: FloatArray
    n_seeds: IntArray  #: number of seeds for the system with fewer seeds


class Rows(NamedTuple):
    """Test results for the pairs."""

    error: FloatArray
    p: FloatArray
    ordered: FloatArray  #: p with the better system first, independent of the order of the pair
    drawn: BoolArray  #: whether p is a proportion of resamples
    low: FloatArray
    high: FloatArray
    least: FloatArray  #: lower bounds from Hall's statistic, or NaN
    least_ordered: FloatArray

    def p_values(self) -> tuple[FloatArray, FloatArray]:
        """Return ``p`` and ``ordered``, both corrected for skewness."""
        return np.fmax(self.p, self.least), np.fmax(self.ordered, self.least_ordered)

    def put(self, which: int | IntArray, *values: Any) -> None:
        """Store the results for one or more pairs in the first columns, in order."""
        for column, value in zip(self, values, strict=False):
            column[which] = value


def no_rows(pairs: int) -> Rows:
    """Return empty rows."""
    error, p, ordered, low, high, *least = np.full((7, pairs), np.nan)
    return Rows(error, p, ordered, np.zeros(pairs, dtype=bool), low, high, *least)


def allow_for_skewness(rows: Rows, draws: Draws) -> None:
    """Store Hall's one-sided p-values: for a > b and in the direction of the gain.

    Ratios of sums use the distribution from ``ratio_gains`` instead.
    """
    every = np.arange(len(draws.pairs))
    if draws.parametric is not None:
        rows.least[:], rows.least_ordered[:] = ratio_p(draws)
        rows.p[draws.parametric.few] = rows.ordered[draws.parametric.few] = np.nan
        return
    gain, error = draws.gains(every), draws.linear_errors(every) * draws.student_factor
    varies = error > 0.0
    t, lean = np.where(varies, gain, 0.0) / np.where(varies, error, 1.0), draws.leans
    freedom = draws.items.n_drawn - 1.0
    up, down = (skewness.upper_tail(side * t, side * lean, freedom) for side in (1.0, -1.0))
    rows.least[varies] = up[varies]
    rows.least_ordered[varies] = np.where(gain < 0.0, down, up)[varies]


def ratio_p(draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return one-sided p-values for ratios: for a > b and in the gain's direction."""
    assert draws.parametric is not None
    up, down = (np.where(draws.parametric.few, np.nan, tail) for tail in draws.parametric.tails)
    return up, np.where(draws.gains(np.arange(up.size)) < 0.0, down, up)


def skewed_limits(found: Limits, draws: Draws, options: PairOptions) -> Limits:
    """Widen limits to include gains not rejected by Hall's test or by the ratio test."""
    if draws.parametric is not None:
        own = draws.parametric.limits(options.two_tailed)
        return np.fmin(found[0], own[0]), np.fmax(found[1], own[1])
    every = np.arange(len(draws.pairs))
    error = draws.linear_errors(every) * draws.student_factor
    critical = t_of(draws.items.n_drawn - 1.0, options.two_tailed)
    return skewness.reaching(found, draws.gains(every), error, draws.leans, critical)


def oriented(
    items: AnyItems, pairs: IntArray, options: PairOptions
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return scores (larger is better), pairs with the better system first, and swaps."""
    theta = scores_of(items)
    swapped = theta[pairs[:, 0]] < theta[pairs[:, 1]]
    if options.keep_order:
        swapped = np.zeros_like(swapped)
    turned = swapped != (options.alternative == "less")  # test whether the other system is better
    return theta, np.where(turned[:, np.newaxis], pairs[:, ::-1], pairs), swapped


def lattices_of(
    draws: Draws, options: PairOptions, which: Iterable[int], *, signs: bool
) -> list[Lattice | None]:
    """Return the lattice for each pair's differences; None if not found or not needed.

    Positive differences favor the first system, and the gain is the sum of the differences times
    the unit. With ``signs``, items are swapped or receive random signs. Otherwise items are drawn
    individually.
    """
    items, bootstraps = draws.items, not signs
    unit = items.unit()
    asked = np.array([*which], dtype=np.int64)
    listed: list[Lattice | None] = [None] * asked.size
    if wants_lattices(options, unit, clusters=items.n_groups > 0, signs=signs):
        listed = [
            None
            if on is None or on.reach > _WHOLE or (signs and on.signed_points > MOST_POINTS)
            else on
            for on in draws.lattices(asked, drawn=signs)
        ]
    small = signs and items.n_drawn <= ENUMERATED
    if options.method == "exact" and None in listed and not small:
        raise ValueError(_why_not_exact(items, options, bootstraps=bootstraps, unit=unit))
    return listed


def wants_lattices(
    options: PairOptions, unit: float | None, *, clusters: bool, signs: bool
) -> bool:
    """Return whether to look for lattices, which allow exact distributions."""
    if not signs and (clusters or options.event == "studentised"):
        return False
    return options.method != "monte-carlo" and unit is not None


def _why_not_exact(
    items: AnyItems, options: PairOptions, *, bootstraps: bool, unit: float | None
) -> str:
    if bootstraps and items.n_groups:
        reason = "groups= draws clusters of varying sizes, which have no exact distribution"
    elif unit is None:
        reason = (
            "an exact distribution exists for the metrics mean, sum and accuracy, if every item"
            " has the same total"
        )
    elif bootstraps and options.event == "studentised":
        reason = "event='studentised' needs the standard error of every resample"
    else:
        reason = (
            "the differences for at least one pair are not multiples of a common step, or their"
            " sum has more than a million possible values"
        )
    also = "" if bootstraps else f", or for at most {ENUMERATED} items"
    return (
        f"method='exact': {reason}{also}. Pass method='auto', which resamples if there is no exact"
        " distribution."
    )


def as_p_says(
    found: tuple[float, float],
    gain: float,
    p_two_sided: float,
    near: FloatArray,
    options: PairOptions,
) -> tuple[float, float]:
    """Return limits that agree with the p-value for a gain of 0."""
    rejected = p_two_sided <= (1.0 - options.two_tailed) * (1.0 + 1e-12)
    return bootstrap_tests.agreeing(found, gain, rejected=rejected, near=near)


def as_each_p_says(
    found: tuple[FloatArray, FloatArray],
    gain: FloatArray,
    p_two_sided: FloatArray,
    near: FloatArray,
    options: PairOptions,
) -> tuple[FloatArray, FloatArray]:
    """Return :func:`as_p_says` for many pairs: (pair,), near (pair, trial)."""
    low, high = (limit.copy() for limit in found)
    rejected = p_two_sided <= (1.0 - options.two_tailed) * (1.0 + 1e-12)
    wrong = np.where(
        rejected,
        (gain > 0.0) & (low <= 0.0) | (gain < 0.0) & (high >= 0.0),
        (low > 0.0) | (high < 0.0),
    )
    for k in np.flatnonzero(wrong):
        low[k], high[k] = bootstrap_tests.agreeing(
            (float(low[k]), float(high[k])), float(gain[k]),
            rejected=bool(rejected[k]), near=near[k],
        )  # fmt: skip
    return low, high


def row_sd(gains: FloatArray) -> FloatArray:
    """Return :func:`sd` of each row."""
    result = np.asarray(gains.std(axis=1))
    for k in np.flatnonzero(np.isnan(result)):
        result[k] = sd(gains[k])
    return result


def sd(gains: FloatArray) -> float:
    """Return the standard deviation of the gains that are defined."""
    known = gains[~np.isnan(gains)]
    return float(known.std()) if known.size else np.nan


def family_options(rows: Rows, options: PairOptions) -> PairOptions:
    """Return the options with the level for each interval in a family of tests.

    The results of tests in other groups are not yet known, and these tests count as not rejected.
    The intervals for false discovery rates are therefore wider.
    """
    p, ordered = rows.p_values()
    own = options.sided(p, np.minimum(1.0, 2.0 * ordered))
    family = np.concatenate([own, np.ones((options.n_alike - 1) * own.size)])
    level = float(interval_levels(family, str(options.adjust), options.level)[0])
    return options._replace(level=level)


def table(
    items: AnyItems,
    theta: FloatArray,
    pairs: IntArray,
    swapped: BoolArray,
    rows: Rows,
    options: PairOptions,
    together: Limits | None,
    largest: MaxT | None,
    *,
    every: bool,
    parts: Limits | None = None,
) -> Pairs:
    """Build the table from results for each pair and for all pairs jointly.

    ``together`` contains simultaneous limits, ``largest`` the results of max-t, and ``parts`` the
    standard errors due to items and seeds.
    """
    of_items, of_seeds = np.full((2, len(pairs)), np.nan) if parts is None else parts
    count = (
        np.zeros(items.n_systems, dtype=np.int64) if items.seeds is None else items.seeds.trained
    )
    gain = theta[pairs[:, 0]] - theta[pairs[:, 1]]
    undefined = np.isnan(gain)
    error, low, high, p, ordered = (
        np.where(undefined, np.nan, column)
        for column in (rows.error, rows.low, rows.high, *rows.p_values())
    )
    draws, drawn = options.n_resamples, rows.drawn
    doubled = np.minimum(1.0, 2.0 * ordered)
    untested = np.isnan(p)
    own = family = options.sided(p, doubled)
    drawn_p, tails = (rows.ordered, 2.0) if options.tails == 2 else (rows.p, 1.0)
    least = options.sided(rows.least, np.minimum(1.0, 2.0 * rows.least_ordered))
    if largest is not None:
        own, family = (np.where(untested, np.nan, x) for x in (largest.alone, largest.single))
        if options.adjust == "max-t-stepdown":
            family = np.where(untested, np.nan, largest.down)
        drawn, drawn_p, tails = np.full(gain.size, not every), family, 1.0
        least = np.full(gain.size, np.nan)
    with np.errstate(invalid="ignore"):
        p_stderr = tails * np.sqrt(drawn_p * (1.0 - drawn_p) / draws) * drawn
        hits = np.rint(np.nan_to_num(drawn_p) * (draws + (options.event != "strict")))
    hits = np.maximum(hits - (options.event != "strict"), 0.0)
    listed = [family]
    for side in _clopper_pearson(hits, draws, options.level):
        reached = np.fmax(np.minimum(1.0, tails * side), least)
        reached = np.where(np.isnan(family), np.nan, reached)
        listed.append(np.where(drawn, reached, family))
    p_stderr = np.where(listed[1] < listed[2], p_stderr, p_stderr * 0.0)  # use Hall's p
    adjusted, low_p, high_p = (_adjusted(x, options.adjust) for x in listed)
    decides = own if options.adjust is None else adjusted
    undecided = is_undecided(low_p, high_p, options.alpha)
    alone = reaching((low, _above(high, options)), own, options.level)
    shown = alone
    if together is not None:
        low, high = (np.where(undefined, np.nan, limit) for limit in together)
        shown = reaching((low, _above(high, options)), decides, options.level)
    first, second = items.sign * theta[pairs[:, 0]], items.sign * theta[pairs[:, 1]]
    if options.alternative == "less":  # tests whether the second is better
        first, second, gain = second, first, -gain
        shown, alone = ((-limits[1], -limits[0]) for limits in (shown, alone))
    return Pairs(
        swapped, first, second, gain, error, *shown, own, doubled, p_stderr, adjusted,
        1.0 - ordered, undecided, ~drawn, np.full(len(pairs), items.n_items),
        np.where(drawn, draws, 0), np.full(len(pairs), items.n_groups), ordered, *alone, listed[0],
        listed[1], listed[2], of_items, of_seeds, count[pairs].min(axis=1),
    )  # fmt: skip


def _above(high: FloatArray, options: PairOptions) -> FloatArray:
    """Return the upper limit, which is infinite for a one-sided interval."""
    return high if options.tails == 2 else np.where(np.isnan(high), np.nan, np.inf)


def reaching(limits: tuple[Any, Any], p_value: Any, level: float) -> tuple[Any, Any]:
    """Widen limits to include 0 if the reported p-value exceeds 1 - level."""
    kept = ~(p_value <= (1.0 - level) * (1.0 + 1e-12))  # True if p is NaN
    low, high = limits
    return np.where(kept & (low > 0.0), 0.0, low), np.where(kept & (high < 0.0), 0.0, high)


def _clopper_pearson(hits: AnyArray, draws: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Return Monte Carlo intervals for p-values; distinct counts are computed once."""
    counts, back = np.unique(hits, return_inverse=True)
    low, high = clopper_pearson(counts, np.array(draws), level)
    return low[back], high[back]


def is_undecided(low: Any, high: Any, alpha: float) -> Any:
    """Return whether the Monte Carlo interval of a p-value contains alpha."""
    return (low < alpha) & (alpha < high)


def _adjusted(p_values: FloatArray, method: str | None) -> FloatArray:
    """Adjust p-values for all pairs, unless the method is max-t or None."""
    return adjust(p_values, method) if method in ADJUSTMENTS else p_values


# ------------------------------------------------------ Tests of equivalence and non-inferiority


def margin_p(
    items: AnyItems, pairs: IntArray, found: Pairs, margin: float, alternative: str, alpha: float
) -> FloatArray:
    """Return the p-value of the margin test for each pair; NaN without variation.

    The p-value is exact for 0/1 items. For other metrics, the test is based on the mean
    contribution of an item (or group) to the gain. Seeds increase the variance of this mean.
    """
    pairs = np.where(found.swapped[:, np.newaxis], pairs[:, ::-1], pairs)
    if items.binary:

        def exact(*only: int) -> float:
            def not_worse(sign: float) -> float:
                first, second = only if sign > 0.0 else only[::-1]
                return paired_p(first, second, items.n_items, margin, alpha)

            return float(of_margin(alternative, not_worse))

        return np.array(
            [exact(*only) for only in np.stack(better_counts(items, pairs), 1).tolist()]
        )
    if not isinstance(items, Items):
        raise ValueError(
            f"margin={margin:g}: a test with a margin needs the items in memory unless all values"
            " are 0 or 1. Call .compute() first."
        )
    n, parts = items.n_drawn, bootstrap_tests.contributions(items)
    values, weights = parts.values * parts.unit, parts.weights / parts.weights.sum()
    shares = values[pairs[:, 0]] - values[pairs[:, 1]]
    shares = shares - weights * shares.sum(axis=1, keepdims=True)
    squares, cubes = ((shares**power).sum(axis=1) for power in (2, 3))
    squares[np.sqrt(squares) <= parts.accuracy * np.abs(values).max()] = np.nan  # rounding
    skewness, freedom = np.sqrt(n) * cubes / squares**1.5, n - 1.0
    variance = np.where(squares > 0.0, (shares**2 / (1.0 - weights)).sum(axis=1), np.nan)
    error, seeds = np.sqrt(variance), None
    if items.seeds is not None:
        of_seeds = (items.seeds.error[pairs] ** 2).sum(axis=1)
        total = variance + of_seeds
        seeds = of_seeds / total, items.seeds.freedom_of(pairs)
        skewness, error = skewness * (variance / total) ** 1.5, np.sqrt(total)

    def above(sign: float) -> FloatArray:
        return mean_p((sign * found.gain + margin) / error, sign * skewness, n, freedom, seeds)

    return np.asarray(of_margin(alternative, above))
