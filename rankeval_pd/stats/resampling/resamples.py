"""Resamples of test items: counts that all systems share, and random swaps of two systems.

Everything is drawn in blocks of :data:`BLOCK`, each from its own child of one seed, so that the
numbers depend on the seed and on the number of items alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.metric_sums import Score, WholeColumns

BLOCK = 1000  # resamples that are drawn from one child of the seed
_ROOM = 8_000_000  # counts that are in memory together
_COUNTS = 2**25  # bytes of counts that are drawn together
_CACHED = 2**18  # counts that are counted together
_SMALL = 2**16  # up to so many items, two bytes tell them apart
_SWAPS = (1,)  # what the children of the seed that draw swaps are called
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
    """Yield how often each item is in each resample, small whole numbers (resamples, items).

    A resample is ``n_items`` items drawn with replacement: its counts are multinomial. With the
    number of each item's stratum, as many are drawn of each stratum as it has.
    """
    if strata is not None:
        yield from _stratified(strata, n_resamples, seed)
        return
    for block in range(-(-n_resamples // BLOCK)):
        rng = block_generator(seed, block)
        left = min(BLOCK, n_resamples - block * BLOCK)
        for rows in units(n_items, left):
            yield drawn_counts(rng, n_items, rows)


def block_generator(seed: Seed, block: int) -> np.random.Generator:
    """Return what draws the counts of a block of resamples."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def units(n_items: int, n_resamples: int) -> list[int]:
    """Return how many resamples of a block are drawn at a time: so many counts take 32 MB."""
    most = max(1, _COUNTS // n_items)
    if n_items <= _SMALL:  # their generator keeps no rest from one call to the next
        step = _step(n_items)
        most = max(step, most // step * step)
    return [min(most, n_resamples - start) for start in range(0, n_resamples, most)]


def drawn_counts(rng: np.random.Generator, n_items: int, n_resamples: int) -> AnyArray:
    """Return the counts of the next resamples of a block (resamples, items): 7 ns a draw."""
    counts = np.zeros((n_resamples, n_items), dtype=np.uint8)
    dtype = np.uint16 if n_items <= _SMALL else np.uint32
    step = _step(n_items) if n_items <= _SMALL else 1
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        drawn = rng.integers(0, n_items, size=(rows, n_items), dtype=dtype)
        _count(drawn, counts[start : start + rows])
    if (counts.sum(axis=1, dtype=np.int64) == n_items).all():
        return counts
    raise OverflowError("an item was drawn more than 255 times, at a chance below 1e-500")


def _count(drawn: AnyArray, counts: AnyArray) -> None:
    """Count what was drawn, some resamples at a time: their counts are in the cache."""
    size, n_items = drawn.shape
    step = max(1, _CACHED // n_items)
    for start in range(0, size, step):
        places = drawn[start : start + step].astype(np.intp)
        places += n_items * np.arange(len(places))[:, np.newaxis]
        np.add.at(counts[start : start + step].reshape(-1), places.reshape(-1), np.uint8(1))


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
    """Yield which items are swapped in each trial, 0 or 1 (trials, items), in chunks."""
    width, few = -(-n_items // 8), _COUNTS if n_items > _SMALL else 0
    together: list[AnyArray] = []
    for rng, size in _chunks(n_items, n_resamples, seed, _SWAPS):
        bits = np.frombuffer(rng.bytes(size * width), dtype=np.uint8).reshape(size, width)
        together.append(np.unpackbits(bits, axis=1, count=n_items))
        if sum(part.size for part in together) >= few:  # products of few rows are slow
            yield np.concatenate(together)
            together = []
    if together:
        yield np.concatenate(together)


def swaps_of(n_items: int, first: int, last: int, block: int, size: int, seed: Seed) -> AnyArray:
    """Return which of the items from first to before last are swapped in a block's first trials.

    The columns of :func:`swap_chunks`, packed, eight items in a byte: the first byte has the item
    ``first`` rounded down to a multiple of 8. What is drawn for other items is leapt over.
    """
    width, step = -(-n_items // 8), _step(n_items)
    start, stop = first // 8, -(-last // 8)
    child = np.random.SeedSequence(seed, spawn_key=(block, *_SWAPS))
    drawn = np.empty((size, stop - start), dtype=np.uint8)
    for trial in range(size):
        chunk, row = divmod(trial, step)
        begun = chunk * 4 * -(-step * width // 4)  # each chunk takes whole words of 4 bytes
        place = begun + row * width + start
        rng = np.random.PCG64(child)
        words = rng.advance(place // 8).random_raw(-(-(place % 8 + stop - start) // 8))
        octets = np.asarray(words, dtype="<u8").view(np.uint8)
        drawn[trial] = octets[place % 8 :][: stop - start]
    return drawn


def swaps_every(n_items: int, method: str) -> bool:
    """Return whether every swap of so many items is looked at."""
    return n_items <= ENUMERATED and method != "monte-carlo"


def all_swaps(n_items: int) -> Iterator[AnyArray]:
    """Yield every subset of the items once, as :func:`swap_chunks` does."""
    total = 2**n_items
    step = max(1, _ROOM // n_items)
    powers = np.arange(n_items)
    for start in range(0, total, step):
        numbers = np.arange(start, min(total, start + step))[:, np.newaxis]
        yield ((numbers >> powers) & 1).astype(np.uint8)


def _chunks(
    n_items: int, n_resamples: int, seed: Seed, purpose: tuple[int, ...]
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield generators and how many resamples to draw from them next."""
    step = _step(n_items)
    for block in range(-(-n_resamples // BLOCK)):
        child = np.random.SeedSequence(seed, spawn_key=(block, *purpose))
        rng = np.random.default_rng(child)
        for start in range(0, min(BLOCK, n_resamples - block * BLOCK), step):
            yield rng, min(step, BLOCK - start, n_resamples - block * BLOCK - start)


def _step(n_items: int) -> int:
    """Return how many resamples are drawn by one call: it depends on the items alone."""
    return max(1, min(BLOCK, _ROOM // n_items))


def counts(n_items: int, n_resamples: int, seed: Seed) -> IntArray:
    """Return the counts of :func:`count_chunks`, all of them, as whole numbers."""
    result = np.empty((n_resamples, n_items), dtype=np.int64)
    filled = 0
    for chunk in count_chunks(n_items, n_resamples, seed):
        result[filled : filled + len(chunk)] = chunk
        filled += len(chunk)
    return result


def weighted_sums(weights: AnyArray, values: WholeColumns) -> FloatArray:
    """Return weights @ values, the same however items are ordered: (resample, column).

    ``values`` (items, columns) come from :func:`for_sums`.
    """
    return values.weighted(weights)


def for_sums(values: FloatArray, largest_weight: float) -> WholeColumns:
    """Return values (items, columns) as whole numbers, whose weighted sums are exact.

    ``largest_weight`` is the most that the weights of a resample sum to.
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
