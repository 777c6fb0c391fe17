"""Resamples of test items as counts for all systems, and random swaps of two systems.

Draws are generated in blocks of :data:`BLOCK` resamples. Each block has its own child seed, so the
draws depend only on the seed and the number of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.metric_sums import Score, WholeColumns

BLOCK = 1000  # number of resamples per child seed; changing this number changes all draws
_COUNTS_IN_MEMORY = 8_000_000  # number of cells (resample, item) drawn in one call of the generator
_DRAWN_BYTES = 2**25  # bytes of counts (uint8) per chunk: 32 MB
_CACHED_COUNTS = 2**18  # counts (uint8) that fit into the processor's cache: 256 kB
_UINT16_ITEMS = 2**16  # up to this number of items, an item number fits into two bytes
_SWAP_KEY = (1,)  # added to the spawn key of a block, because swaps are drawn separately
ENUMERATED = 20  # up to this number of items, all 2^20 swaps are enumerated

Seed = int | Sequence[int]


def entropy(rng: int | np.random.Generator | None) -> Seed:
    """Return a seed: the given int, four numbers from a generator, or fresh entropy."""
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
    """Yield how often each item occurs in each resample: small integers (resample, item).

    A resample consists of ``n_items`` items drawn with replacement, so its counts are multinomial.
    ``strata`` contains the stratum number of each item, and each stratum is then resampled
    separately.
    """
    if strata is not None:
        yield from _stratified_counts(strata, n_resamples, seed)
        return
    for block in range(-(-n_resamples // BLOCK)):
        rng = block_generator(seed, block)
        left = min(BLOCK, n_resamples - block * BLOCK)
        for rows in draw_sizes(n_items, left):
            yield drawn_counts(rng, n_items, rows)


def block_generator(seed: Seed, block: int) -> np.random.Generator:
    """Return the generator for the counts of a block of resamples."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def draw_sizes(n_items: int, n_resamples: int) -> list[int]:
    """Return how many resamples to draw in each call, with up to 32 MB of counts."""
    most = max(1, _DRAWN_BYTES // n_items)
    # NumPy draws 16-bit integers from 32-bit words and discards the rest of a word at the end of a
    # call. Split only between calls, because otherwise the draws would differ.
    if n_items <= _UINT16_ITEMS:
        step = _call_size(n_items)
        most = max(step, most // step * step)
    return [min(most, n_resamples - start) for start in range(0, n_resamples, most)]


def drawn_counts(rng: np.random.Generator, n_items: int, n_resamples: int) -> AnyArray:
    """Return the counts for the next resamples in a block, (resample, item): 7 ns per draw."""
    counts = np.zeros((n_resamples, n_items), dtype=np.uint8)
    dtype = np.uint16 if n_items <= _UINT16_ITEMS else np.uint32
    step = _call_size(n_items) if n_items <= _UINT16_ITEMS else 1
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        drawn = rng.integers(0, n_items, size=(rows, n_items), dtype=dtype)
        _count_draws(drawn, counts[start : start + rows])
    # a count above 255 would wrap around and reduce the sum of the resample
    if (counts.sum(axis=1, dtype=np.int64) == n_items).all():
        return counts
    raise OverflowError(
        "an item was drawn more than 255 times, which has a probability below 1e-500"
    )


def _count_draws(drawn: AnyArray, counts: AnyArray) -> None:
    """Count drawn items in place, for as many resamples at a time as fit into the cache."""
    size, n_items = drawn.shape
    step = max(1, _CACHED_COUNTS // n_items)
    for start in range(0, size, step):
        # flat positions (resample, item); np.add.at counts repeated positions, unlike +=
        places = drawn[start : start + step].astype(np.intp)
        places += n_items * np.arange(len(places))[:, np.newaxis]
        np.add.at(counts[start : start + step].reshape(-1), places.reshape(-1), np.uint8(1))


def _stratified_counts(strata: IntArray, n_resamples: int, seed: Seed) -> Iterator[AnyArray]:
    """Yield counts (resample, item) for items drawn within strata."""
    # sort items by stratum; for each position, find the start and the size of the stratum
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    most = np.repeat(sizes, sizes)
    n = strata.size
    for rng, size in _generator_calls(n, n_resamples, seed, ()):
        drawn = order[start + rng.integers(0, most, size=(size, n))]
        counts = np.empty((size, n), dtype=np.float32)
        for row, items in enumerate(drawn):
            counts[row] = np.bincount(items, minlength=n)
        yield counts


def t_draws(freedom: FloatArray, n_resamples: int, seed: Seed) -> FloatArray:
    """Return draws from t distributions, (resample, system), from children (block, 5)."""
    systems = freedom.size
    parts = [
        rng.standard_t(freedom, size=(size, systems))
        for rng, size in _generator_calls(systems, n_resamples, seed, (5,))
    ]
    return np.concatenate(parts)


def normal_draws(
    mean: FloatArray, covariance: FloatArray, n_resamples: int, seed: Seed
) -> FloatArray:
    """Return normal draws, (resample, column), from the same child seeds as :func:`t_draws`."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    parts = [
        rng.standard_normal((size, mean.size))
        for rng, size in _generator_calls(mean.size, n_resamples, seed, (5,))
    ]
    return np.asarray(mean + np.concatenate(parts) @ root.T)


def swap_chunks(n_items: int, n_resamples: int, seed: Seed) -> Iterator[AnyArray]:
    """Yield chunks (trial, item) with 1 for swapped items and 0 for all other items."""
    # each trial has ``width`` random bytes with one bit per item
    width, few = -(-n_items // 8), _DRAWN_BYTES if n_items > _UINT16_ITEMS else 0
    together: list[AnyArray] = []
    for rng, size in _generator_calls(n_items, n_resamples, seed, _SWAP_KEY):
        bits = np.frombuffer(rng.bytes(size * width), dtype=np.uint8).reshape(size, width)
        together.append(np.unpackbits(bits, axis=1, count=n_items))
        if sum(part.size for part in together) >= few:  # matrix products with few rows are slow
            yield np.concatenate(together)
            together = []
    if together:
        yield np.concatenate(together)


def swaps_of(n_items: int, first: int, last: int, block: int, size: int, seed: Seed) -> AnyArray:
    """Return which items from first to last - 1 are swapped in a block's first trials.

    The result contains columns of :func:`swap_chunks`, packed as (trial, byte) with eight items per
    byte, from ``first`` rounded down to a multiple of 8. Draws for all other items are skipped.
    """
    width, step = -(-n_items // 8), _call_size(n_items)
    start, stop = first // 8, -(-last // 8)
    child = np.random.SeedSequence(seed, spawn_key=(block, *_SWAP_KEY))
    drawn = np.empty((size, stop - start), dtype=np.uint8)
    for trial in range(size):
        chunk, row = divmod(trial, step)
        # ``rng.bytes`` consumes whole 4-byte words in each call, and PCG64 can skip 8-byte words
        begun = chunk * 4 * -(-step * width // 4)
        place = begun + row * width + start
        rng = np.random.PCG64(child)
        words = rng.advance(place // 8).random_raw(-(-(place % 8 + stop - start) // 8))
        octets = np.asarray(words, dtype="<u8").view(np.uint8)
        drawn[trial] = octets[place % 8 :][: stop - start]
    return drawn


def swaps_every(n_items: int, method: str) -> bool:
    """Return whether all swaps are enumerated for this number of items."""
    return n_items <= ENUMERATED and method != "monte-carlo"


def all_swaps(n_items: int) -> Iterator[AnyArray]:
    """Yield every subset of the items once, in the same form as :func:`swap_chunks`."""
    total = 2**n_items
    step = max(1, _COUNTS_IN_MEMORY // n_items)
    powers = np.arange(n_items)
    for start in range(0, total, step):
        # the bits of the numbers 0, 1, ... encode the subsets: (trial, item)
        numbers = np.arange(start, min(total, start + step))[:, np.newaxis]
        yield ((numbers >> powers) & 1).astype(np.uint8)


def _generator_calls(
    n_items: int, n_resamples: int, seed: Seed, purpose: tuple[int, ...]
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator and the number of resamples to draw in the next call."""
    step = _call_size(n_items)
    for block in range(-(-n_resamples // BLOCK)):
        child = np.random.SeedSequence(seed, spawn_key=(block, *purpose))
        rng = np.random.default_rng(child)
        for start in range(0, min(BLOCK, n_resamples - block * BLOCK), step):
            yield rng, min(step, BLOCK - start, n_resamples - block * BLOCK - start)


def _call_size(n_items: int) -> int:
    """Return the number of resamples per call, which depends only on the number of items."""
    return max(1, min(BLOCK, _COUNTS_IN_MEMORY // n_items))


def all_counts(n_items: int, n_resamples: int, seed: Seed) -> IntArray:
    """Return all counts from :func:`count_chunks` as one int64 array (resample, item)."""
    result = np.empty((n_resamples, n_items), dtype=np.int64)
    filled = 0
    for chunk in count_chunks(n_items, n_resamples, seed):
        result[filled : filled + len(chunk)] = chunk
        filled += len(chunk)
    return result


def weighted_sums(weights: AnyArray, values: WholeColumns) -> FloatArray:
    """Return weights @ values (resample, column), independent of the item order.

    ``values`` (item, column) come from :func:`whole_columns`.
    """
    return values.weighted(weights)


def whole_columns(values: FloatArray, largest_weight: float) -> WholeColumns:
    """Return values (item, column) as integers with exact weighted sums.

    ``largest_weight`` is the largest sum of weights in a resample.
    """
    return WholeColumns(values, np.abs(values).max(axis=0, initial=0.0), largest_weight)


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
        Function from sums (..., statistic) to scores (...).
    chunks : iterator of arrays (resample, item)
        Weights of the items.
    n_resamples : int
    step : callable
        Called with the number of finished resamples.
    """
    systems, items, statistics = values.shape
    # one matrix product for all systems and statistics: (resample, item) @ (item, column)
    columns = whole_columns(statistic_columns(values), items)
    result = np.empty((systems, n_resamples))
    for rows, weights in chunk_slices(chunks):
        sums = weighted_sums(weights, columns).reshape(-1, systems, statistics)
        result[:, rows] = score(sums).T
        step(len(weights))
    return result


def chunk_slices(chunks: Iterator[AnyArray]) -> Iterator[tuple[slice, AnyArray]]:
    """Yield the slice of resamples in each chunk, and the chunk."""
    start = 0
    for chunk in chunks:
        yield slice(start, start + len(chunk)), chunk
        start += len(chunk)


def statistic_columns(values: FloatArray) -> FloatArray:
    """Reshape (system, item, statistic) to (item, column), ordered by system and statistic."""
    return np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)


def leave_one_out(values: FloatArray, score: Score) -> FloatArray:
    """Return the leave-one-out scores of every system: (system, item)."""
    return score(values.sum(axis=1, keepdims=True) - values)
