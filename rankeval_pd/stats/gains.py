"""Gains of pairs of systems: tables, bootstrap, permutation, crossed factors, studies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankeval_pd.stats import bootstrap, differences, items
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.bootstrap import MOST_POINTS, DrawnSum, Lattice, SignedSum, check_enough
from rankeval_pd.stats.clusters import of_both_factors
from rankeval_pd.stats.differences import mean_p, of_margin, paired_margin_p
from rankeval_pd.stats.families import MaxT, level_of_each, max_t, simultaneous_limits
from rankeval_pd.stats.item_gains import Draws, RatioGains, draws_of
from rankeval_pd.stats.items import (
    AnyItems,
    Items,
    PairOptions,
    Step,
    better_counts,
    quiet,
    scores_of,
    swaps_every,
)
from rankeval_pd.stats.proportions import (
    Limits,
    held_back_t,
    t_of,
    transformed,
    widened_by_skewness,
)
from rankeval_pd.stats.two_by_two import paired_tails, rejects

# ---- Tests of pairs, for which :mod:`rankeval_pd.decisions.gains` decides, and their exact laws

_WHOLE = 2**53  # float64 represents every integer up to this value


class PairTests(NamedTuple):
    """Test results for the pairs, each (pair,)."""

    error: FloatArray
    p: FloatArray
    ordered: FloatArray  #: p with the better system first, independent of the order of the pair
    drawn: BoolArray  #: whether p is a proportion of resamples
    low: FloatArray
    high: FloatArray
    least: FloatArray  #: lower bounds from Hall's statistic, or NaN
    least_ordered: FloatArray

    @property
    def doubled(self) -> FloatArray:
        """Two-sided p-values, without the correction for skewness."""
        return np.minimum(1.0, 2.0 * self.ordered)

    def put(self, which: int | IntArray, *values: Any) -> None:
        """Store the results for one or more pairs in the first columns, in order."""
        for column, value in zip(self, values, strict=False):
            column[which] = value


def no_tests(pairs: int) -> PairTests:
    """Return empty results."""
    error, p, ordered, low, high, *least = np.full((7, pairs), np.nan)
    return PairTests(error, p, ordered, np.zeros(pairs, dtype=bool), low, high, *least)


class Tested(NamedTuple):
    """The tests of all pairs, and what the decisions need in addition."""

    items: AnyItems
    options: PairOptions  #: with the kind of interval that the items allow
    theta: FloatArray  #: (system,): larger is better
    pairs: IntArray  #: (pair, 2): the second system is better under the null hypothesis, or equal
    swapped: BoolArray
    rows: PairTests
    every: bool  #: whether all possible draws are enumerated
    limits_at: Callable[[PairOptions], Limits] | None = None  #: returns intervals at a level
    largest: MaxT | None = None
    together: Limits | None = None  #: limits that agree with ``largest``
    parts: Limits | None = None  #: standard errors due to items and seeds
    estimate: FloatArray | None = None  #: gains that are not the differences of the scores


def allow_for_skewness(rows: PairTests, draws: Draws) -> None:
    """Store Hall's one-sided p-values: for a > b and in the direction of the gain."""
    from scipy import special

    gain = draws.gain
    error = draws.spread.error * draws.student_factor
    varies = error > 0.0
    t = np.where(varies, gain, 0.0) / np.where(varies, error, 1.0)
    lean = draws.spread.lean
    freedom = draws.items.n_drawn - 1.0
    up = special.stdtr(freedom, -transformed(t, lean))
    down = special.stdtr(freedom, -transformed(-t, -lean))
    rows.least[varies] = up[varies]
    rows.least_ordered[varies] = np.where(gain < 0.0, down, up)[varies]


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
    items, unit = draws.items, draws.items.unit
    chosen = np.array([*which], dtype=np.int64)
    listed: list[Lattice | None] = [None] * chosen.size
    wanted = options.method != "monte-carlo" and unit is not None
    if wanted and (signs or not items.n_groups):
        listed = draws.lattices(chosen, drawn=signs)
        for k, on in enumerate(listed):
            if on is not None and (on.reach > _WHOLE or (signs and on.signed_points > MOST_POINTS)):
                listed[k] = None
    return listed


def as_p_says(
    found: tuple[Any, Any], gain: Any, p_two_sided: Any, near: FloatArray, options: PairOptions
) -> Limits:
    """Return limits from draws, adjusted to agree with the p-values for a gain of 0: (pair,).

    If 0 is rejected, a limit on the wrong side of 0 is replaced by the nearest drawn score
    ``near``, (pair, trial).
    """
    low, high = found
    kept = np.logical_not(rejects(p_two_sided, 1.0 - options.two_tailed))
    above = np.minimum(np.where(near > 0.0, near, np.inf).min(axis=-1), gain)
    below = np.maximum(np.where(near < 0.0, near, -np.inf).max(axis=-1), gain)
    low = np.where((gain > 0.0) & (low <= 0.0), above, low)
    high = np.where((gain < 0.0) & (high >= 0.0), below, high)
    low, high = np.fmin(low, high), np.fmax(low, high)
    with_0 = np.minimum(found[0], 0.0), np.maximum(found[1], 0.0)
    return np.where(kept, with_0[0], low), np.where(kept, with_0[1], high)


def row_sd(gains: FloatArray) -> FloatArray:
    """Return the standard deviation of the defined gains in each row."""
    result = np.asarray(gains.std(axis=1))
    for k in np.flatnonzero(np.isnan(result)):
        known = gains[k][~np.isnan(gains[k])]
        if known.size:
            result[k] = known.std()
    return result


# ---- Tests of equivalence and non-inferiority


def margin_p(
    items: AnyItems, pairs: IntArray, gain: FloatArray, margin: float, options: PairOptions
) -> FloatArray:
    """Return the p-value of the margin test for each pair; NaN without variation.

    The p-value is exact for 0/1 items. Ratios have the law of their intervals. For other metrics,
    the test is based on the mean contribution of an item (or group) to the gain. Seeds increase the
    variance of this mean.
    """
    alternative, alpha = options.alternative, options.alpha
    if items.binary:
        p = partial(paired_margin_p, n=items.n_items, margin=margin, alternative=alternative)
        counts = np.stack(better_counts(items, pairs), axis=1).tolist()
        return np.array([p(better, worse, alpha=alpha) for better, worse in counts])
    if not isinstance(items, Items):
        raise ValueError(
            f"margin={margin:g}: a test with a margin needs the items in memory unless all values"
            " are 0 or 1. Call .compute() first."
        )
    own = Draws(items, pairs, options, quiet).parametric
    if isinstance(own, RatioGains):
        return own.margin_p(margin, alternative, alpha)
    n, (shares, weights, room) = items.n_drawn, _centered_shares(items, pairs)
    squares = (shares**2).sum(axis=1)
    cubes = (shares**3).sum(axis=1)
    squares[np.sqrt(squares) <= room] = np.nan
    skewness, freedom = np.sqrt(n) * cubes / squares**1.5, n - 1.0
    variance = np.where(squares > 0.0, (shares**2 / (1.0 - weights)).sum(axis=1), np.nan)
    error, seeds = np.sqrt(variance), None
    if items.seeds is not None:
        of_seeds = (items.seeds.error[pairs] ** 2).sum(axis=1)
        total = variance + of_seeds
        seeds = of_seeds / total, items.seeds.freedom_of(pairs)
        skewness, error = skewness * (variance / total) ** 1.5, np.sqrt(total)

    def above(sign: float) -> FloatArray:
        return mean_p((sign * gain + margin) / error, sign * skewness, n, freedom, seeds)

    return np.asarray(of_margin(alternative, above))


def _centered_shares(items: Items, pairs: IntArray | None) -> tuple[FloatArray, FloatArray, float]:
    """Return centered contributions to the gains (pair, drawn), weights, and a rounding error.

    Without pairs, the contributions are those to the scores of the systems.
    """
    parts = bootstrap.contributions(items)
    values = parts.values * parts.unit
    weights = parts.weights / parts.weights.sum()
    shares = values
    if pairs is not None:
        shares = values[pairs[:, 0]] - values[pairs[:, 1]]
    room = parts.accuracy * float(np.abs(values).max())
    return shares - weights * shares.sum(axis=1, keepdims=True), weights, room


# ---- Tests of pairs of systems with two crossed factors, such as item and annotator


def refuse_crossed(items: object, what: str) -> None:
    """Raise a ValueError for options that are not available with two crossed factors."""
    if isinstance(items, Items) and items.factors is not None:
        raise ValueError(
            f"groups contains two crossed factors, but {what} draws whole groups of one factor."
            " Call paired_bootstrap with event='wild' and adjust='holm' or None, or name one"
            " factor."
        )


def crossed_tests(items: Items, pairs: IntArray, options: PairOptions) -> Tested:
    """Test all pairs with Student's t, using the variance for two crossed factors."""
    from scipy import special

    if options.event != "wild" or options.ci not in ("", "wild") or options.simultaneous:
        refuse_crossed(items, f"event={options.event!r}, ci={options.ci!r}, {options.adjust!r}")
    theta, pairs, swapped = oriented(items, pairs, options)
    error, freedom = crossed_errors(items, pairs)
    rows = no_tests(len(pairs))
    gain = theta[pairs[:, 0]] - theta[pairs[:, 1]]
    varies = error > 0.0
    t = np.where(varies, gain, 0.0) / np.where(varies, error, 1.0)
    rows.error[:] = error
    rows.p[:] = np.where(varies, special.stdtr(freedom, -t), 1.0)
    rows.ordered[:] = np.where(varies, special.stdtr(freedom, -np.abs(t)), 1.0)
    limits_at = partial(student_limits, gain, error, freedom)
    rows.low[:], rows.high[:] = limits_at(options)
    return Tested(items, options, theta, pairs, swapped, rows, True, limits_at)


def crossed_errors(items: Items, pairs: IntArray | None = None) -> tuple[FloatArray, float]:
    """Return the standard error of each gain, or of each score, and the degrees of freedom.

    The centered contributions of the items are summed over the levels of each factor and over the
    cells; see :func:`rankeval_pd.stats.clusters.of_both_factors`. The variance from the sums u for
    G levels is G / (G - 1) sum of u^2. The degrees of freedom for t are the smaller effective
    number of levels minus 1.
    """
    added, weights, room = _centered_shares(replace(items, cluster=None, factors=None), pairs)
    added[np.abs(added) <= room] = 0.0
    freedom, variances = np.inf, []
    assert items.cluster is not None
    assert items.factors is not None
    for levels in (*items.factors, items.cluster):
        size = np.bincount(levels, weights)
        sums = np.stack([np.bincount(levels, row) for row in added])
        variances.append((sums**2).sum(axis=1) * size.size / (size.size - 1.0))
        if levels is not items.cluster:
            freedom = min(freedom, 1.0 / float(size @ size) - 1.0)
    return np.sqrt(of_both_factors(variances)), freedom


def student_limits(
    gain: FloatArray, error: FloatArray, freedom: float, options: PairOptions
) -> Limits:
    """Return Student's limits for the gains; NaN without variation."""
    half = t_of(freedom, options.two_tailed) * np.where(error > 0.0, error, np.nan)
    return gain - half, gain + half


# ---- The paired bootstrap of all pairs of systems (Berg-Kirkpatrick et al. 2012, section 2)


def bootstrap_tests(
    items: AnyItems,
    pairs: IntArray,
    options: PairOptions,
    step: Step = quiet,
    *,
    draws: Draws | None = None,
    limits: bool = True,
) -> Tested:
    """Test all pairs with the paired bootstrap, using the same draws for each pair.

    ``draws`` are earlier draws for these pairs, in the same order. Without ``limits``, there are no
    intervals.
    """
    if isinstance(items, Items) and items.factors is not None:
        return crossed_tests(items, pairs, options)
    theta, pairs, swapped = oriented(items, pairs, options)
    if options.ci == "tango" and not items.binary:
        raise ValueError(
            "ci='tango' is an interval for paired proportions: every item must be 0 or 1, with"
            " metric='accuracy' or 'mean' and without groups=. Pass ci='wild', or omit ci."
        )
    if not options.ci and not items.binary:
        options = replace(options, ci=bootstrap.DUAL[options.event])
    draws = draws or draws_of(items, pairs, options, step)
    signs = options.event == "wild"
    ratios = None
    if signs:
        ratios = draws.parametric
    lattices = lattices_of(draws, options, range(len(pairs)), signs=signs)
    every = signs and draws.every
    if not every and (options.simultaneous or (None in lattices and ratios is None)):
        check_enough(options, len(pairs))
    rows = no_tests(len(pairs))
    together = np.zeros(len(pairs), dtype=bool)  # tested with the same random signs
    if signs and ratios is None:
        for k, on in enumerate(lattices):
            together[k] = on is None
    for block in bootstrap.pair_blocks(np.flatnonzero(together), items.n_drawn):
        rows.put(block, *_wild_p(draws, block))
    if signs and items.binary and not together.any():
        rows.put(np.arange(len(pairs)), *_counted_p(draws))
    elif ratios is not None:
        up, down = np.where(ratios.few, np.nan, ratios.tails)
        in_order = np.where(draws.gain < 0.0, down, up)
        rows.put(np.arange(len(pairs)), draws.spread.error, up, in_order)
    else:
        alone = _law_p if signs else _resampled_p
        for k in np.flatnonzero(~together).tolist():
            rows.put(k, *alone(draws, k, lattices[k]))
    if draws.corrects and ratios is None:
        allow_for_skewness(rows, draws)
    limits_at = partial(_gain_limits, draws, lattices, rows)
    found = Tested(items, options, theta, pairs, swapped, rows, every)
    if items.seeds is not None:
        of_items = draws.level.unit * np.sqrt(draws.item_spread.pairs)
        of_seeds = np.sqrt((items.seeds.error[draws.pairs] ** 2).sum(axis=1))
        found = found._replace(parts=(of_items, of_seeds))
    if limits:
        rows.low[:], rows.high[:] = limits_at(options)
        found = found._replace(limits_at=limits_at)
    if not options.simultaneous:
        return found
    largest = _wild_max_t(draws)
    return found._replace(largest=largest, together=_of_largest(draws, largest, rows))


_Found = tuple[Any, ...]  # the first columns of PairTests, for one or more pairs


def _law_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return wild bootstrap results for one pair from the exact distribution."""
    assert on is not None
    law = SignedSum(on.multiples, on.times)
    p = ordered = law.tail(on.total)
    if draws.gain[k] < 0.0:
        ordered = law.tail(-on.total)
    return float(draws.spread.error[k]), p, ordered, False


def _counted_p(draws: Draws) -> _Found:
    """Test all pairs on correct/wrong items, with more power than random signs."""
    better, worse = better_counts(draws.items, draws.pairs)
    n_items = draws.items.n_items
    p = paired_tails(better, worse, n_items)
    other = paired_tails(worse, better, n_items)
    return draws.spread.error, p, np.where(draws.gain < 0.0, other, p), False


def _wild_p(draws: Draws, which: IntArray) -> _Found:
    """Return wild bootstrap results for some pairs under the null hypothesis."""
    sums = draws.turned(which)
    error = draws.spread.error[which]
    room = draws.spread.room[which, np.newaxis]
    worse = draws.gain[which] < 0.0
    size = sums.shape[1]
    # subsets for which gains with flipped signs are at least as large, or undefined
    hits = size - np.count_nonzero(sums > room, axis=1)
    better = hits.copy()
    better[worse] = size - np.count_nonzero(sums[worse] < -room[worse], axis=1)
    if draws.subsets.every:
        return error, hits / size, better / size, False
    p = bootstrap.monte_carlo(hits, size, draws.options.event)
    return error, p, bootstrap.monte_carlo(better, size, draws.options.event), True


def _wild_max_t(draws: Draws) -> MaxT:
    """Return max-t results with the same signs for all pairs and studentized gains.

    Random signs do not change the sum of squares, so the t statistic in a draw is an increasing
    function of the gain divided by the square root of this sum.
    """
    a, b = draws.pairs.T
    gains, scale = draws.level.sums[a] - draws.level.sums[b], np.sqrt(draws.spread.raw)
    nothing = scale <= draws.spread.room
    gains, scale = np.where(nothing, 0.0, gains), np.where(nothing, 1.0, scale)
    t = gains / scale
    if draws.corrects:
        t = held_back(draws, t)

    def t_star(which: IntArray) -> FloatArray:
        moved = gains[which, np.newaxis] - 2.0 * draws.turned(which)
        return moved / scale[which, np.newaxis]

    about = np.sqrt(draws.spread.pairs)
    about = np.where(about <= draws.spread.room, np.inf, about)

    def centered(which: IntArray) -> FloatArray:
        shift = draws.subsets.weights / draws.level.weight
        moved = gains[which, np.newaxis] * shift - draws.turned(which)
        return 2.0 * moved / about[which, np.newaxis]

    subsets = draws.subsets
    return largest_of(draws, t_star, t, subsets.weights.size, subsets.every, centered)


def widening(draws: Draws) -> FloatArray:
    """Return the increase in the sum of squares per squared distance from the gain."""
    a, b = draws.pairs.T
    sums = draws.level.sums[a] - draws.level.sums[b]
    moved = np.abs(sums) > draws.spread.room
    result = np.full(sums.size, 1.0 / draws.items.n_drawn)
    result[moved] = (draws.spread.raw - draws.spread.pairs)[moved] / sums[moved] ** 2
    return result


def held_back(draws: Draws, t: FloatArray) -> FloatArray:
    """Return the sign statistics, or Hall's statistic if it rejects less often.

    For ratios, these are the normal quantiles of the p-values.
    """
    if draws.parametric is not None:
        return draws.parametric.statistics
    varies = draws.spread.error > 0.0
    own = np.where(varies, draws.gain, 0.0) / np.where(varies, draws.spread.error, 1.0)
    two_sided = draws.options.tails == 2
    more = widening(draws)
    other = held_back_t(own, draws.spread.lean, two_sided=two_sided)
    # signs do not change the squares about 0 in the denominator of the statistic
    own, other = (x / np.sqrt(1.0 + more * x**2) for x in (own, other))
    return np.where(own != 0.0, t * other / np.where(own != 0.0, own, 1.0), t)


def largest_of(
    draws: Draws,
    t_star: Callable[[IntArray], FloatArray],
    t: FloatArray,
    size: int,
    every: bool,
    centered: Callable[[IntArray], FloatArray] | None = None,
) -> MaxT:
    """Return max-t results for a family that can include several groups."""
    options = draws.options
    return max_t(
        t_star,
        t,
        size,
        level=level_of_each(options.level, options.n_alike),
        two_sided=options.tails == 2,
        every=every,
        centered=centered,
    )


def _of_largest(draws: Draws, largest: MaxT, rows: PairTests) -> Limits:
    """Return limits for the gains that the max-t test does not reject."""
    if draws.parametric is not None:
        return draws.parametric.limits_at(largest.critical)
    lean = None
    if draws.corrects:
        lean = draws.spread.lean
    limits = simultaneous_limits(draws.gain, rows.error, largest.critical, widening(draws), lean)
    return with_proportions(draws, limits, rows.error)


def with_proportions(draws: Draws, limits: Limits, error: FloatArray) -> Limits:
    """Return simultaneous limits; Tango-Bonferroni limits for pairs without variation."""
    items, options = draws.items, draws.options
    low, high = (np.where(error > 0.0, limit, np.nan) for limit in limits)
    if items.binary:
        share = (1.0 - options.two_tailed) / (len(draws.pairs) * options.n_alike)
        flat = ~(error > 0.0)
        counts = better_counts(items, draws.pairs[flat])
        low[flat], high[flat] = differences.tango_limits(*counts, items.n_items, 1.0 - share)
    return low, high


def _resampled_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Test one pair with the paired bootstrap and an event from section 2.2."""
    items, options = draws.items, draws.options
    (a, b), gain = draws.pairs[k], float(draws.gain[k])
    if on is not None:
        error = on.step * (items.unit or 1.0)
        error *= on.spread
        p = ordered = _drawn_chance(on.multiples, on.times, options.event)
        if gain < 0.0:
            ordered = _drawn_chance(-on.multiples, on.times, options.event)
        return error, p, ordered, False
    gains = draws.scores[a] - draws.scores[b]
    size = float(max(draws.scale[a], draws.scale[b]))
    count = partial(bootstrap.happened, event=options.event, scale=size)
    hits = better = count(gains, gain)
    if gain < 0.0:
        better = count(-gains, -gain)
    p, ordered = (bootstrap.monte_carlo(x, gains.size, options.event) for x in (hits, better))
    return row_sd(gains[np.newaxis])[0], p, ordered, True


def _gain_limits(
    draws: Draws, lattices: list[Lattice | None], rows: PairTests, options: PairOptions
) -> Limits:
    """Return the intervals for all gains at the levels in the options."""
    items = draws.items
    signs = options.event == "wild"
    parametric = None
    if signs or items.seeds is not None:
        parametric = draws.parametric
    if parametric is not None and options.ci == "wild":
        return parametric.limits(options.two_tailed)
    if options.ci in ("", "tango"):
        counts = better_counts(items, draws.pairs)
        found = differences.tango_limits(*counts, items.n_items, options.two_tailed)
        near = np.array([[1.0, -1.0]]) / items.n_items
        return as_p_says(found, draws.gain, rows.doubled, near, options)
    low, high = np.full((2, len(lattices)), np.nan)
    varies = rows.error > 0.0  # without variation, the variance is unknown
    if options.ci != "wild":
        for k, on in enumerate(lattices):
            if varies[k]:
                low[k], high[k] = _gain_interval(draws, k, on, float(rows.doubled[k]), options)
        return low, high
    subsets = draws.subsets
    factor = draws.level.unit * draws.level.weight
    for block in bootstrap.pair_blocks(np.flatnonzero(varies), items.n_drawn):
        low[block], high[block] = bootstrap.limits(
            draws.turned(block),
            subsets.weights,
            factor,
            every=subsets.every,
            level=options.two_tailed,
            room=draws.spread.room[block],
        )
    for k in np.flatnonzero(varies).tolist():
        # on a lattice, agree with the exact distribution
        if signs and lattices[k] is not None and not subsets.every:
            near = factor * draws.turned(k) / np.maximum(subsets.weights, 1.0)
            found = (low[k], high[k])
            gain = draws.gain[k]
            low[k], high[k] = as_p_says(found, gain, rows.doubled[k], near, options)
    if draws.corrects:  # include gains that Hall's test does not reject
        error = draws.spread.error * draws.student_factor
        critical = t_of(items.n_drawn - 1.0, options.two_tailed)
        return widened_by_skewness((low, high), draws.gain, error, draws.spread.lean, critical)
    return low, high


def _gain_interval(
    draws: Draws, k: int, on: Lattice | None, p_two_sided: float, options: PairOptions
) -> tuple[Any, Any]:
    """Return the interval for the gain of one pair from resampled or exact gains."""
    items, kind, (a, b) = draws.items, options.ci, draws.pairs[k]
    gain = float(draws.gain[k])
    if options.event == "wild":
        on = lattices_of(draws, options, [k], signs=False)[0]
    if on is not None:
        law = DrawnSum(on.multiples, on.times)
        step = on.step * (items.unit or 1.0)
        gains = np.asarray(step * law.values, dtype=float)
        result = bootstrap.law_interval(kind, gain, gains, law.law, level=options.two_tailed)
    else:
        gains = draws.scores[a] - draws.scores[b]
        result = bootstrap.interval(kind, gain, gains, level=options.two_tailed)
    if kind != bootstrap.DUAL[options.event]:
        return result
    # the interval and the p-value can disagree because of rounding, or if the number of resamples
    # beyond 0 is exactly at the critical value
    if kind != "percentile":
        gains = 2.0 * gain - gains
    return as_p_says(result, gain, p_two_sided, gains, options)


def _drawn_chance(multiples: IntArray, times: IntArray, event: str) -> float:
    """Return the probability of the event in section 2.2.

    With only a few items and similar differences, the resampled probability can be 0. The result
    is therefore at least 2^-n, the smallest p-value from random signs of n items. The literal
    event in figure 1 is not changed.
    """
    law = DrawnSum(multiples, times)
    total = int(times @ multiples)
    if event == "strict":
        return law.tail(2 * total + 1)
    if event == "zero":
        law = DrawnSum(-multiples, times)
        total = 0
    result = law.tail(2 * total)
    return result or float(2.0**-law.n)


# ---- Approximate randomization tests for all pairs of systems, by swapping item results

_SUMS_TOGETHER = 4_000_000  # number of sums scored at a time


def swapped_tests(
    items: AnyItems, pairs: IntArray, options: PairOptions, step: Step = quiet
) -> Tested:
    """Return approximate randomization tests for all pairs, using the same swaps."""
    refuse_crossed(items, "swapping")
    if items.seeds is not None:
        raise ValueError(
            "seeds: swaps of two systems' results do not account for variation between training"
            " runs. Use paired_bootstrap, or pass the scores of one training run per system."
        )
    theta, pairs, swapped = oriented(items, pairs, options)
    draws = draws_of(items, pairs, options, step)
    lattices = lattices_of(draws, options, range(len(pairs)), signs=True)
    every = swaps_every(items.n_drawn, options.method)
    if options.simultaneous or None in lattices:
        if not every:
            check_enough(options, len(pairs))
        gains = _swapped_gains(items, pairs, draws.moved)
    else:
        gains = np.empty((len(pairs), 0))
    scattered = np.array([on is None for on in lattices], dtype=bool)
    both = theta[pairs]

    def rows_at(options: PairOptions) -> PairTests:
        rows = no_tests(len(pairs))
        for k in np.flatnonzero(~scattered).tolist():
            unit, gain = items.unit or 1.0, float(both[k, 0] - both[k, 1])
            rows.put(k, *_signed_row(lattices[k], unit, gain, options))
        for block in bootstrap.pair_blocks(np.flatnonzero(scattered), gains.shape[1]):
            rows.put(block, *_swapped_rows(gains[block], both[block], options, every=every))
        return rows

    def limits_at(options: PairOptions) -> Limits:
        rows = rows_at(options)
        return rows.low, rows.high

    rows = rows_at(options)
    found = Tested(items, options, theta, pairs, swapped, rows, every, limits_at)
    if not options.simultaneous:
        return found
    error = np.where(rows.error > 0.0, rows.error, 1.0)
    t_star = gains / error[:, np.newaxis]
    largest = largest_of(draws, t_star.__getitem__, draws.gain / error, gains.shape[1], every)
    limits = simultaneous_limits(draws.gain, rows.error, largest.critical)
    return found._replace(largest=largest, together=with_proportions(draws, limits, rows.error))


def _swapped_rows(
    gains: FloatArray, theta: FloatArray, options: PairOptions, *, every: bool
) -> _Found:
    """Return the results for gains (pair, trial) and scores ``theta`` (pair, 2)."""
    gain = theta[:, 0] - theta[:, 1]
    trials = gains.shape[1]
    scale = np.fmax(np.abs(theta).max(axis=1), np.fmax.reduce(np.abs(gains), axis=1))
    hits = _trials_reaching(gains, gain, scale)
    turned = hits.copy()
    worse = gain < 0.0
    turned[worse] = _trials_reaching(-gains[worse], -gain[worse], scale[worse])
    event = "recentred"
    if every:
        event = "strict"  # no count is added
    p, ordered = (bootstrap.monte_carlo(count, trials, event) for count in (hits, turned))
    tails = (1.0 - options.two_tailed) / 2.0, (1.0 + options.two_tailed) / 2.0
    below, above = bootstrap.row_quantiles(gains, tails)
    limits = gain - above, gain - below
    doubled = np.minimum(1.0, 2.0 * ordered)
    low, high = as_p_says(limits, gain, doubled, gain[:, np.newaxis] - gains, options)
    error = row_sd(gains)
    varies = error > 0.0  # no interval without variation among the items
    low = np.where(varies, low, np.nan)
    high = np.where(varies, high, np.nan)
    return error, p, ordered, not every, low, high


def _trials_reaching(gains: FloatArray, gain: FloatArray, scale: FloatArray) -> IntArray:
    """Count trials whose gain is undefined or at least as large as the observed gain."""
    fewer = gains < (gain - 1e-12 * scale)[:, np.newaxis]
    return np.asarray(gains.shape[1] - np.count_nonzero(fewer, axis=1))


def _swapped_gains(items: AnyItems, pairs: IntArray, moved: FloatArray) -> FloatArray:
    """Return the gain for each pair in each trial, (pair, trial), from the swapped sums.

    ``moved`` contains the swapped sums, (trial, system, statistic).
    """
    totals, (size, _, width) = items.totals, moved.shape
    result = np.empty((len(pairs), size))
    step = max(1, _SUMS_TOGETHER // (size * width))
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        a, b = pairs[block, 0], pairs[block, 1]
        for first in range(0, size, _SUMS_TOGETHER // width):
            rows = slice(first, first + _SUMS_TOGETHER // width)
            change = moved[rows, b] - moved[rows, a]
            gains = items.score(totals[a] + change) - items.score(totals[b] - change)
            result[block, rows] = items.sign * gains.T
    return result


def _signed_row(on: Lattice | None, unit: float, gain: float, options: PairOptions) -> _Found:
    """Return the exact sign-flip test for one pair."""
    assert on is not None
    law = SignedSum(on.multiples, on.times)
    size = on.step * unit
    limits = bootstrap.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=float),
        law.law,
        level=options.two_tailed,
    )
    error = size * on.size
    p = ordered = law.tail(on.total)
    if gain < 0.0:
        ordered = law.tail(-on.total)  # the distribution is symmetric
    if error == 0.0:
        return error, p, ordered, False, np.nan, np.nan
    found = (gain - limits[1], gain - limits[0])
    near = gain - size * law.values.astype(float)
    low, high = as_p_says(found, gain, min(1.0, 2.0 * ordered), near, options)
    return error, p, ordered, False, low, high


# ---- Functions for studies of pairs of systems: thresholds and agreement


def order_limits(values: FloatArray, quantile: float, level: float) -> tuple[float, float]:
    """Return a distribution-free interval for a quantile from two order statistics.

    If there are too few values, the lower limit is 0 (the smallest possible gain), or the upper
    limit is infinite.
    """
    from scipy.special import bdtr

    ordered = np.sort(values)
    n = ordered.size
    below = bdtr(np.arange(n), n, quantile)  # P(at most this many values lie below the quantile)
    tail = (1.0 - level) / 2.0
    first = np.flatnonzero(below <= tail)
    last = np.flatnonzero(below >= 1.0 - tail)
    low, high = 0.0, np.inf
    if first.size:
        low = float(ordered[first[-1]])
    if last.size:
        high = float(ordered[last[0]])
    return low, high


def pair_weights(pairs: IntArray, n_resamples: int, seed: items.Seed) -> FloatArray:
    """Return how often each pair occurs if systems are drawn with replacement.

    ``pairs`` (pair, 2) contains the numbers of the systems. The result is (resample, pair).
    """
    systems = int(pairs.max()) + 1
    counts = np.concatenate(list(items.count_chunks(systems, n_resamples, seed))).astype(float)
    return np.asarray(counts[:, pairs[:, 0]] * counts[:, pairs[:, 1]])


def weighted_quantiles(values: FloatArray, weights: FloatArray, quantile: float) -> FloatArray:
    """Return the quantile of the values for each row of weights; NaN if all weights are 0."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[:, order], axis=1)
    total = running[:, -1:]
    place = np.argmax(running >= quantile * total, axis=1)
    return np.where(total[:, 0] > 0.0, values[order][place], np.nan)


def wider(limits: tuple[float, float], others: tuple[float, float]) -> tuple[float, float]:
    """Return limits that contain both intervals; the second replaces undefined limits."""
    return float(np.fmin(limits[0], others[0])), float(np.fmax(limits[1], others[1]))


def percentile_limits(samples: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentile interval of the defined samples."""
    known = samples[~np.isnan(samples)]
    if not known.size:
        return np.nan, np.nan
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def agreement(p: ArrayLike, n_items: ArrayLike, n_items_other: ArrayLike) -> FloatArray:
    """Return how often a gain has the same sign on other items from the same distribution.

    Given a gain g with standard error s, the true gain is normal with mean g and variance s².
    """
    from scipy.special import ndtr, ndtri

    noise = np.sqrt(1.0 + np.true_divide(n_items, n_items_other))
    return np.asarray(ndtr(-ndtri(np.asarray(p, dtype=float)) / noise))
