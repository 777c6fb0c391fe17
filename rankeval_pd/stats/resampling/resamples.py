"""Resamples of test items: counts that all systems share, and random swaps of two systems.

Everything is drawn in blocks of :data:`BLOCK`, each from its own child of one seed, so that the
numbers depend on the seed and on the number of items alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.metrics import Score

BLOCK = 1000  # resamples that are drawn from one child of the seed
_ROOM = 8_000_000  # counts that are in memory together
_SINGLE = 2.0**24  # whole numbers that float32 tells apart
ENUMERATED = 20  # up to so many items, every swap can be looked at

Seed = int | Sequence[int]


def entropy(rng: int | np.random.Generator | None) -> Seed:
    """Return the seed that a whole number is, that a generator gives, or a fresh one."""
    if isinstance(rng, np.random.Generator):
        return [int(x) for x in rng.integers(0, 2**32, size=4)]
    if rng is None:
        fresh = np.random.SeedSequence().entropy
        assert isinstance(fresh, int)
        return fresh
    return int(rng)


def count_chunks(
    n_items: int, n_resamples: int, seed: Seed, strata: IntArray | None = None
) -> Iterator[AnyArray]:
    """Yield how often each item is in each resample, float32 (resamples, items), in chunks.

    A resample is ``n_items`` items drawn with replacement: its counts are multinomial. With the
    number of each item's stratum, as many are drawn of each stratum as it has.
    """
    if strata is not None:
        yield from _stratified(strata, n_resamples, seed)
        return
    dtype = np.uint16 if n_items <= 2**16 else np.uint32
    for rng, size in _chunks(n_items, n_resamples, seed, ()):
        drawn = rng.integers(0, n_items, size=(size, n_items), dtype=dtype)
        counts = np.empty((size, n_items), dtype=np.float32)
        for row, items in enumerate(drawn):
            counts[row] = np.bincount(items, minlength=n_items)
        yield counts


def _stratified(strata: IntArray, n_resamples: int, seed: Seed) -> Iterator[AnyArray]:
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    most = np.repeat(sizes, sizes)
    n = strata.size
    for rng, size in _chunks(n, n_resamples, seed, ()):
        drawn = order[start + rng.integers(0, most, size=(size, n))]
        counts = np.empty((size, n), dtype=np.float32)
        for row, items in enumerate(drawn):
            counts[row] = np.bincount(items, minlength=n)
        yield counts


def t_draws(freedom: FloatArray, n_resamples: int, seed: Seed) -> FloatArray:
    """Return draws of t distributions, (resample, system)."""
    systems = freedom.size
    parts = [
        rng.standard_t(freedom, size=(size, systems))
        for rng, size in _chunks(systems, n_resamples, seed, (5,))
    ]
    return np.concatenate(parts)


def swap_chunks(n_items: int, n_resamples: int, seed: Seed) -> Iterator[AnyArray]:
    """Yield which items are swapped in each trial, float32 0 or 1 (trials, items), in chunks."""
    width = -(-n_items // 8)
    for rng, size in _chunks(n_items, n_resamples, seed, (1,)):
        bits = np.frombuffer(rng.bytes(size * width), dtype=np.uint8).reshape(size, width)
        yield np.unpackbits(bits, axis=1, count=n_items).astype(np.float32)


def all_swaps(n_items: int) -> Iterator[AnyArray]:
    """Yield every subset of the items once, as :func:`swap_chunks` does."""
    total = 2**n_items
    step = max(1, _ROOM // n_items)
    powers = np.arange(n_items)
    for start in range(0, total, step):
        numbers = np.arange(start, min(total, start + step))[:, np.newaxis]
        yield ((numbers >> powers) & 1).astype(np.float32)


def _chunks(
    n_items: int, n_resamples: int, seed: Seed, purpose: tuple[int, ...]
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield generators and how many resamples to draw from them next."""
    step = max(1, min(BLOCK, _ROOM // n_items))  # depends on the items only: so do the numbers
    for block in range(-(-n_resamples // BLOCK)):
        child = np.random.SeedSequence(seed, spawn_key=(block, *purpose))
        rng = np.random.default_rng(child)
        for start in range(0, min(BLOCK, n_resamples - block * BLOCK), step):
            yield rng, min(step, BLOCK - start, n_resamples - block * BLOCK - start)


def counts(n_items: int, n_resamples: int, seed: Seed) -> IntArray:
    """Return the counts of :func:`count_chunks`, all of them, as whole numbers."""
    result = np.empty((n_resamples, n_items), dtype=np.int64)
    filled = 0
    for chunk in count_chunks(n_items, n_resamples, seed):
        result[filled : filled + len(chunk)] = chunk
        filled += len(chunk)
    return result


def weighted_sums(weights: AnyArray, values: AnyArray) -> FloatArray:
    """Return weights @ values, exact where both are whole numbers.

    ``values`` (items, columns) come from :func:`for_sums`.
    """
    return np.asarray(weights.astype(values.dtype, copy=False) @ values, dtype=float)


def for_sums(values: FloatArray, largest_weight: float) -> AnyArray:
    """Return values as float32 where their weighted sums are exact in it, which is faster.

    ``largest_weight`` is the most that the weights of a resample sum to.
    """
    bound = float(np.abs(values).max(initial=0.0)) * largest_weight
    whole = bound < _SINGLE and bool((values == np.rint(values)).all())
    return values.astype(np.float32) if whole else values


def resampled_scores(
    values: FloatArray,
    score: Score,
    chunks: Iterator[AnyArray],
    n_resamples: int,
    step: Callable[[int], object],
) -> FloatArray:
    """Return the score of every system in every resample, (system, resample).

    Parameters
    ----------
    values : array (system, item, statistic)
    score : callable
        From sums (..., statistic) to scores (...).
    chunks : iterator of arrays (resamples, item)
        The weights of the items.
    n_resamples : int
    step : callable
        Told how many resamples were done.
    """
    systems, items, statistics = values.shape
    columns = for_sums(flat(values), items)
    result = np.empty((systems, n_resamples))
    for rows, weights in placed(chunks):
        sums = weighted_sums(weights, columns).reshape(-1, systems, statistics)
        result[:, rows] = score(sums).T
        step(len(weights))
    return result


def placed(chunks: Iterator[AnyArray]) -> Iterator[tuple[slice, AnyArray]]:
    """Yield chunks with the places of their resamples among all."""
    start = 0
    for chunk in chunks:
        yield slice(start, start + len(chunk)), chunk
        start += len(chunk)


def flat(values: FloatArray) -> FloatArray:
    """Return (system, item, statistic) as (item, columns)."""
    return np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)


def leave_one_out(values: FloatArray, score: Score) -> FloatArray:
    """Return the score of every system without each item in turn, (system, item)."""
    return score(values.sum(axis=1, keepdims=True) - values)
