"""The table of all pairs of systems, and the arithmetic of studies of pairs."""

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
from rankeval_pd.stats.resampling.test_items import AnyItems, Items, PairOptions, better_counts
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, MaxT, adjust, interval_levels
from rankeval_pd.stats.significance.equivalence import mean_p, of_margin, paired_p

# ------------------------------ The table of all pairs of systems: order, exact laws, and columns

_WHOLE = 2**53  # up to here float64 holds every whole number
METHODS = ("auto", "exact", "monte-carlo")
Limits = tuple[FloatArray, FloatArray]


class Pairs(NamedTuple):
    """The rows of the table, one per pair."""

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
    n_groups: IntArray  #: 0 without groups
    p_one_sided: FloatArray  #: in the direction of the gain
    ci_low_alone: FloatArray
    ci_high_alone: FloatArray
    family_p: FloatArray  #: to be adjusted over groups of the data; max-t's is already over pairs
    family_low: FloatArray  #: the limits of its Monte-Carlo interval
    family_high: FloatArray
    gain_se_items: FloatArray  #: NaN without seeds, like the next
    gain_se_seeds: FloatArray
    n_seeds: IntArray  #: for the system with fewer


class Rows(NamedTuple):
    """The results of a test for the pairs."""

    error: FloatArray
    p: FloatArray
    ordered: FloatArray  #: p with the better system first, whatever the order of the pair
    drawn: BoolArray  #: whether p is a share of resamples
    low: FloatArray
    high: FloatArray
    least: FloatArray  #: lower bounds of p and ordered by Hall's statistic; NaN without such a test
    least_ordered: FloatArray

    def p_values(self) -> tuple[FloatArray, FloatArray]:
        """Return p and ordered, both with an allowance for skewness."""
        return np.fmax(self.p, self.least), np.fmax(self.ordered, self.least_ordered)

    def put(self, which: int | IntArray, *values: Any) -> None:
        """Enter the results of one or more pairs: the first columns, in order."""
        for column, value in zip(self, values, strict=False):
            column[which] = value


def no_rows(pairs: int) -> Rows:
    """Return rows without results."""
    error, p, ordered, low, high, *least = np.full((7, pairs), np.nan)
    return Rows(error, p, ordered, np.zeros(pairs, dtype=bool), low, high, *least)


def allow_for_skewness(rows: Rows, draws: Draws) -> None:
    """Enter Hall's p-values, one-sided for the pairs' order and for the sign of the gain.

    Ratios of sums use their own distribution.
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
    """Return the p-values of ratios, one-sided for the pairs' order and for the gain's sign."""
    assert draws.parametric is not None
    up, down = (np.where(draws.parametric.few, np.nan, tail) for tail in draws.parametric.tails)
    return up, np.where(draws.gains(np.arange(up.size)) < 0.0, down, up)


def skewed_limits(found: Limits, draws: Draws, options: PairOptions) -> Limits:
    """Return limits that also contain gains not rejected by Hall's test, or the test of ratios."""
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
    """Return scores (larger is better), pairs with the better system first, and swapped pairs."""
    theta = items.sign * items.score(items.totals)
    swapped = theta[pairs[:, 0]] < theta[pairs[:, 1]]
    if options.keep_order:
        swapped = np.zeros_like(swapped)
    turned = swapped != (options.alternative == "less")  # the test asks whether the other is better
    return theta, np.where(turned[:, np.newaxis], pairs[:, ::-1], pairs), swapped


def lattices_of(
    draws: Draws, options: PairOptions, which: Iterable[int], *, signs: bool
) -> list[Lattice | None]:
    """Return the lattice of each pair's differences, None if there is none or none is wanted.

    Positive differences favor the first system, and their sum times the unit is the gain. With
    ``signs``, items are swapped or get a random sign; otherwise they are drawn one by one.
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
    """Return whether exact distributions are wanted, of differences on a lattice."""
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
            "the differences of some pair are not multiples of one step, or their sum has more than"
            " a million possible values"
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
    """Return limits that agree with the p-value about a gain of 0."""
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
    """Return the standard deviation of the defined gains."""
    known = gains[~np.isnan(gains)]
    return float(known.std()) if known.size else np.nan


def family_options(rows: Rows, options: PairOptions) -> PairOptions:
    """Return the options with the level of each interval of a family of tests.

    Tests in other groups of the family are unknown here and count as not rejected, which widens
    intervals for false discovery rates.
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
    """Return the table from a test's results for each pair and for all together.

    ``together`` are simultaneous limits, ``largest`` the results of max-t, and ``parts`` the
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
    p_stderr = np.where(listed[1] < listed[2], p_stderr, p_stderr * 0.0)  # Hall's p decides
    adjusted, low_p, high_p = (_adjusted(x, options.adjust) for x in listed)
    decides = own if options.adjust is None else adjusted
    undecided = is_undecided(low_p, high_p, options.alpha)
    alone = reaching((low, _above(high, options)), own, options.level)
    shown = alone
    if together is not None:
        low, high = (np.where(undefined, np.nan, limit) for limit in together)
        shown = reaching((low, _above(high, options)), decides, options.level)
    first, second = items.sign * theta[pairs[:, 0]], items.sign * theta[pairs[:, 1]]
    if options.alternative == "less":  # the second was tested to be better than the first
        first, second, gain = second, first, -gain
        shown, alone = ((-limits[1], -limits[0]) for limits in (shown, alone))
    return Pairs(
        swapped, first, second, gain, error, *shown, own, doubled, p_stderr, adjusted,
        1.0 - ordered, undecided, ~drawn, np.full(len(pairs), items.n_items),
        np.where(drawn, draws, 0), np.full(len(pairs), items.n_groups), ordered, *alone, listed[0],
        listed[1], listed[2], of_items, of_seeds, count[pairs].min(axis=1),
    )  # fmt: skip


def _above(high: FloatArray, options: PairOptions) -> FloatArray:
    """Return the upper limit; a one-sided interval has none."""
    return high if options.tails == 2 else np.where(np.isnan(high), np.nan, np.inf)


def reaching(limits: tuple[Any, Any], p_value: Any, level: float) -> tuple[Any, Any]:
    """Return limits that exclude 0 only if the deciding p-value is at most 1 - level."""
    kept = ~(p_value <= (1.0 - level) * (1.0 + 1e-12))  # and where nothing is tested
    low, high = limits
    return np.where(kept & (low > 0.0), 0.0, low), np.where(kept & (high < 0.0), 0.0, high)


def _clopper_pearson(hits: AnyArray, draws: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the Monte Carlo intervals of p-values: many pairs share few counts."""
    counts, back = np.unique(hits, return_inverse=True)
    low, high = clopper_pearson(counts, np.array(draws), level)
    return low[back], high[back]


def is_undecided(low: Any, high: Any, alpha: float) -> Any:
    """Return whether the Monte Carlo interval of a p-value contains alpha."""
    return (low < alpha) & (alpha < high)


def _adjusted(p_values: FloatArray, method: str | None) -> FloatArray:
    """Return p-values adjusted for all pairs; max-t's are already, and without method none is."""
    return adjust(p_values, method) if method in ADJUSTMENTS else p_values


# ---------------------------------- Is the gain of a pair within the margin, or above its negative?


def margin_p(
    items: AnyItems, pairs: IntArray, found: Pairs, margin: float, alternative: str, alpha: float
) -> FloatArray:
    """Return the p-value of the margin of each pair, NaN if items or groups do not vary.

    It is exact for items that are right or wrong. For other metrics, the test is of the mean
    contribution of an item, or group, to the gain; seeds add to its variance.
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
    squares[np.sqrt(squares) <= parts.accuracy * np.abs(values).max()] = np.nan  # rounding alone
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
