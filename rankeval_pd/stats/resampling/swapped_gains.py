"""Approximate randomization tests for all pairs of systems, by swapping item results."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling import bootstrap_tests
from rankeval_pd.stats.resampling.crossed_gains import refuse_crossed
from rankeval_pd.stats.resampling.gain_tables import (
    Limits,
    Pairs,
    Rows,
    allow_for_skewness,
    as_each_p_says,
    as_p_says,
    family_options,
    lattices_of,
    no_rows,
    oriented,
    row_sd,
    skewed_limits,
    table,
)
from rankeval_pd.stats.resampling.item_draws import draws_of
from rankeval_pd.stats.resampling.lattice import Lattice, SignedSum
from rankeval_pd.stats.resampling.paired_gains import (
    allows_for_skewness,
    held_back,
    largest_of,
    widening,
    with_proportions,
)
from rankeval_pd.stats.resampling.resamples import swaps_every
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, quiet
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.adjust import (
    check_enough,
    simultaneous_limits,
    with_resamples,
)

_SUMS_TOGETHER = 4_000_000  # number of sums scored at a time


def paired_permutation(
    items: AnyItems, pairs: IntArray, options: PairOptions, step: Step = quiet
) -> Pairs:
    """Return approximate randomization tests for all pairs, using the same swaps."""
    refuse_crossed(items, "swapping")
    if items.seeds is not None:
        raise ValueError(
            "seeds: swaps of two systems' results do not account for variation between training"
            " runs. Use paired_bootstrap, or pass the scores of one training run per system."
        )
    options = with_resamples(options, len(pairs))
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

    def rows_at(options: PairOptions) -> Rows:
        rows = no_rows(len(pairs))
        for k in np.flatnonzero(~scattered).tolist():
            unit, gain = items.unit() or 1.0, float(both[k, 0] - both[k, 1])
            rows.put(k, *_signed_row(lattices[k], unit, gain, options))
        for block in bootstrap_tests.blocks(np.flatnonzero(scattered), gains.shape[1]):
            rows.put(block, *_swapped_rows(gains[block], both[block], options, every=every))
        return rows

    rows = rows_at(options)
    allows = allows_for_skewness(items, options)

    def limits_at(rows: Rows, options: PairOptions) -> Limits:
        found = rows.low, rows.high
        return skewed_limits(found, draws, options) if allows else found

    rows.low[:], rows.high[:] = limits_at(rows, options)
    if allows:
        allow_for_skewness(rows, draws)
    largest, limits = None, None
    if options.simultaneous:
        gain, error = both[:, 0] - both[:, 1], np.where(rows.error > 0.0, rows.error, 1.0)
        t = held_back(draws, gain / error) if allows else gain / error
        largest = largest_of(
            draws, lambda which: np.asarray(gains[which] / error[which, np.newaxis]), t,
            gains.shape[1], every,
        )  # fmt: skip
        limits = simultaneous_limits(gain, rows.error, largest.critical)
        if draws.parametric is not None:
            own = draws.parametric.limits_at(largest.critical)
            limits = np.fmin(limits[0], own[0]), np.fmax(limits[1], own[1])
        elif allows:
            left = np.maximum(1.0 - largest.critical**2 * widening(draws), 0.0)
            with np.errstate(divide="ignore"):
                critical = largest.critical / np.sqrt(left)
            linear = draws.linear_errors(np.arange(len(pairs)))
            limits = skewness.reaching(limits, gain, linear, draws.leans, critical)
        if draws.parametric is None:
            limits = with_proportions(draws, limits, rows.error)
    elif options.adjust is not None:
        wider = family_options(rows, options)
        limits = limits_at(rows_at(wider), wider)
    return table(items, theta, pairs, swapped, rows, options, limits, largest, every=every)


_Row = tuple[float, float, float, bool, float, float]  # columns as in Rows
_Columns = tuple[FloatArray, FloatArray, FloatArray, bool, FloatArray, FloatArray]


def _swapped_rows(
    gains: FloatArray, theta: FloatArray, options: PairOptions, *, every: bool
) -> _Columns:
    """Return the results for gains (pair, trial) and scores ``theta`` (pair, 2)."""
    gain, trials = theta[:, 0] - theta[:, 1], gains.shape[1]
    scale = np.fmax(np.abs(theta).max(axis=1), np.fmax.reduce(np.abs(gains), axis=1))
    hits = _reached(gains, gain, scale)
    turned, worse = hits.copy(), gain < 0.0
    turned[worse] = _reached(-gains[worse], -gain[worse], scale[worse])
    p, ordered = (
        count / trials if every else bootstrap_tests.monte_carlo(count, trials, "recentred")
        for count in (hits, turned)
    )
    tails = (1.0 - options.two_tailed) / 2.0, (1.0 + options.two_tailed) / 2.0
    below, above = bootstrap_tests.row_quantiles(gains, tails)
    limits = gain - above, gain - below
    doubled = np.minimum(1.0, 2.0 * ordered)
    low, high = as_each_p_says(limits, gain, doubled, gain[:, np.newaxis] - gains, options)
    error = row_sd(gains)
    varies = error > 0.0  # no interval without variation among the items
    low, high = np.where(varies, low, np.nan), np.where(varies, high, np.nan)
    return error, p, ordered, not every, low, high


def _reached(gains: FloatArray, gain: FloatArray, scale: FloatArray) -> IntArray:
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


def _signed_row(on: Lattice | None, unit: float, gain: float, options: PairOptions) -> _Row:
    """Return the exact sign-flip test for one pair."""
    assert on is not None
    law = SignedSum(on.multiples, on.times)
    size = on.step * unit
    limits = bootstrap_tests.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=np.float64),
        law.law,
        level=options.two_tailed,
        without=np.empty(0),
    )
    error = size * on.size
    total = on.total
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the distribution is symmetric
    result = as_p_says(
        (gain - limits[1], gain - limits[0]), gain, min(1.0, 2.0 * ordered),
        np.asarray(gain - size * law.values, dtype=np.float64), options,
    )  # fmt: skip
    low, high = result if error > 0.0 else (np.nan, np.nan)
    return error, p, ordered, False, low, high
