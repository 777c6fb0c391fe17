"""Swapping what two systems did on an item: approximate randomization of all pairs."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling import bootstrap
from rankeval_pd.stats.resampling.asked import AnyItems, Options, Step, quiet
from rankeval_pd.stats.resampling.draws import draws_of
from rankeval_pd.stats.resampling.enough import check_enough, settled
from rankeval_pd.stats.resampling.lattice import Lattice, SignedSum
from rankeval_pd.stats.resampling.pairs import (
    Pairs,
    Row,
    as_p_says,
    lattices_of,
    oriented,
    sd,
    table,
)
from rankeval_pd.stats.resampling.resamples import swaps_every

_TOGETHER = 4_000_000  # sums that are scored together


def paired_permutation(
    items: AnyItems, pairs: IntArray, options: Options, step: Step = quiet
) -> Pairs:
    """Return the approximate randomization test of all pairs, with the same swaps for all."""
    if items.seeds is not None:
        raise ValueError(
            "seeds: swapping what two systems did on an item says nothing of other trainings. Give"
            " paired_bootstrap, or the scores of one training each."
        )
    options = settled(options, len(pairs))
    theta, pairs, swapped = oriented(items, pairs, options)
    draws = draws_of(items, pairs, options, step)
    lattices = lattices_of(draws, options, range(len(pairs)), signs=True)
    every = swaps_every(items.n_drawn, options.method)
    if options.adjust == "max-t" or None in lattices:
        if not every:
            check_enough(options, len(pairs))
        gains = _swapped_gains(items, pairs, draws.moved)
    else:
        gains = np.empty((len(pairs), 0))
    rows = []
    for k, (a, b) in enumerate(pairs):
        gain = float(theta[a] - theta[b])
        on = lattices[k]
        if on is not None:
            rows.append(_signed_row(on, items.unit() or 1.0, gain, options))
            continue
        largest = float(np.fmax.reduce(np.abs(gains[k])))
        scale = max(abs(float(theta[a])), abs(float(theta[b])), largest)
        hits = _reached(gains[k], gain, scale)
        turned = _reached(-gains[k], -gain, scale) if gain < 0.0 else hits
        p, ordered = (
            count / gains.shape[1]
            if every
            else bootstrap.monte_carlo(count, gains.shape[1], "recentred")
            for count in (hits, turned)
        )
        tails = (1.0 - options.level) / 2.0, (1.0 + options.level) / 2.0
        low, high = (float(x) for x in bootstrap.quantiles(gains[k], tails))
        limits = as_p_says(
            (gain - high, gain - low), gain, min(1.0, 2.0 * ordered), gain - gains[k], options
        )
        rows.append(_varying(sd(gains[k]), *limits, p, ordered, -1 if every else turned))
    simultaneous = None
    if options.adjust == "max-t":
        error = np.array([row.error for row in rows])
        unit = np.where(error > 0.0, error, 1.0)
        simultaneous = bootstrap.max_t(
            lambda k: np.asarray(gains[k] / unit[k]),
            (theta[pairs[:, 0]] - theta[pairs[:, 1]]) / unit,
            gains.shape[1],
            every=every,
        )
    return table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


def _varying(error: float, low: float, high: float, p: float, ordered: float, hits: int) -> Row:
    """Return the row; where nothing varies, the items say nothing of an interval."""
    limits = (low, high) if error > 0.0 else (np.nan, np.nan)
    return Row(error, *limits, p, ordered, hits)


def _reached(gains: FloatArray, gain: float, scale: float) -> int:
    """Return in how many trials the gain is at least the observed one, or undefined."""
    return int(gains.size - np.count_nonzero(gains < gain - 1e-12 * scale))


def _swapped_gains(items: AnyItems, pairs: IntArray, moved: FloatArray) -> FloatArray:
    """Return the gain of every pair in every trial, (pair, trial), from the sums that are swapped.

    ``moved`` has them, (trial, system, statistic).
    """
    totals, (size, _, width) = items.totals, moved.shape
    result = np.empty((len(pairs), size))
    step = max(1, _TOGETHER // (size * width))
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        a, b = pairs[block, 0], pairs[block, 1]
        for first in range(0, size, _TOGETHER // width):
            rows = slice(first, first + _TOGETHER // width)
            change = moved[rows, b] - moved[rows, a]
            gains = items.score(totals[a] + change) - items.score(totals[b] - change)
            result[block, rows] = items.sign * gains.T
    return result


def _signed_row(on: Lattice, unit: float, gain: float, options: Options) -> Row:
    """Return the exact sign-flip test of one pair."""
    law = SignedSum(on.multiples, on.times)
    size = on.step * unit
    limits = bootstrap.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=np.float64),
        law.law,
        level=options.level,
        without=np.empty(0),
    )
    error = size * on.size
    total = on.total
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the law is symmetric
    result = as_p_says(
        (gain - limits[1], gain - limits[0]), gain, min(1.0, 2.0 * ordered),
        np.asarray(gain - size * law.values, dtype=np.float64), options,
    )  # fmt: skip
    return _varying(error, *result, p, ordered, -1)
