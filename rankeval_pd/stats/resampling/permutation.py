"""Swapping what two systems did on an item: approximate randomization of all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling import bootstrap, resamples
from rankeval_pd.stats.resampling.asked import Items, Options, Step, quiet
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
from rankeval_pd.stats.resampling.resamples import ENUMERATED


def paired_permutation(
    items: Items, pairs: IntArray, options: Options, step: Step = quiet
) -> Pairs:
    """Return the approximate randomization test of all pairs, with the same swaps for all."""
    if items.seeds is not None:
        raise ValueError(
            "seeds: swapping what two systems did on an item says nothing of other trainings. Give"
            " paired_bootstrap, or the scores of one training each."
        )
    options = settled(options, len(pairs))
    theta, pairs, swapped = oriented(items, pairs, options)
    drawn = items.drawn
    lattices = lattices_of(items, pairs, options, drawn)
    n = drawn.shape[1]
    every = n <= ENUMERATED and options.method != "monte-carlo"
    if options.adjust == "max-t" or None in lattices:
        if not every:
            check_enough(options, len(pairs))
        chunks = (
            resamples.all_swaps(n)
            if every
            else resamples.swap_chunks(n, options.n_resamples, options.seed)
        )
        gains = _swapped_gains(
            items, drawn, pairs, chunks, 2**n if every else options.n_resamples, step
        )
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


def _swapped_gains(
    items: Items,
    drawn: FloatArray,
    pairs: IntArray,
    chunks: Iterator[AnyArray],
    size: int,
    step: Step,
) -> FloatArray:
    """Return the gain of every pair in every trial, (pair, trial)."""
    flat = resamples.for_sums(resamples.flat(drawn), drawn.shape[1])
    totals = drawn.sum(axis=1)
    result = np.empty((len(pairs), size))
    for rows, swaps in resamples.placed(chunks):
        moved = resamples.weighted_sums(swaps, flat).reshape(-1, len(drawn), drawn.shape[2])
        width = max(1, 4_000_000 // (len(swaps) * drawn.shape[2]))
        for start in range(0, len(pairs), width):
            block = slice(start, start + width)
            a, b = pairs[block, 0], pairs[block, 1]
            change = moved[:, b] - moved[:, a]
            gains = items.score(totals[a] + change) - items.score(totals[b] - change)
            result[block, rows] = items.sign * gains.T
        step(len(swaps))
    return result


def _signed_row(on: Lattice, unit: float, gain: float, options: Options) -> Row:
    """Return the exact sign-flip test of one pair."""
    law = SignedSum(on.multiples)
    size = on.step * unit
    limits = bootstrap.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=np.float64),
        law.law,
        level=options.level,
        without=np.empty(0),
    )
    error = size * float(np.sqrt((on.multiples.astype(float) ** 2).sum()))
    total = int(on.multiples.sum())
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the law is symmetric
    result = as_p_says(
        (gain - limits[1], gain - limits[0]), gain, min(1.0, 2.0 * ordered),
        np.asarray(gain - size * law.values, dtype=np.float64), options,
    )  # fmt: skip
    return _varying(error, *result, p, ordered, -1)
