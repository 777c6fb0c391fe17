"""Random numbers that belong to a candidate: a function of seed, resample and the candidate's key.

A part of the data that holds all lists asked for then draws the same numbers as the whole, and
neither the order of the rows nor the other candidates play a part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray

Keys = np.ndarray[Any, np.dtype[np.uint64]]
Bits = np.ndarray[Any, np.dtype[np.uint8]]
WORD = 64  #: resamples that one hash holds the bits of
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mix(x: Keys) -> Keys:
    """Return splitmix64 of x: every bit of the input changes half of the bits of the output."""
    x = x + _STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def words(keys: Keys, seed: int, start: int, stop: int) -> Keys:
    """Return 64 fair bits for each key and 64 resamples, the first in the lowest bit.

    ``start`` is a multiple of :data:`WORD`. (key, word)
    """
    blocks = np.arange(start // WORD, -(-stop // WORD), dtype=np.uint64)
    return mix(_seeded(keys, seed, 0)[:, np.newaxis] + mix(blocks))


def coins(keys: Keys, seed: int, start: int, stop: int) -> Bits:
    """Return one fair bit, 0 or 1, for each key and resample: (key, resample).

    ``start`` is a multiple of :data:`WORD`. O(keys x resamples / 64) hashes.
    """
    drawn = words(keys, seed, start, stop)
    octets = np.ascontiguousarray(drawn, dtype="<u8").view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=stop - start)


def normals(keys: Keys, seed: int, start: int, stop: int) -> FloatArray:
    """Return one standard normal number for each key and resample: (key, resample).

    ``start`` is even: two numbers come from one pair of hashes (Box and Muller 1958).
    """
    pairs = np.arange(start // 2, -(-stop // 2), dtype=np.uint64)
    first, second = (
        mix(_seeded(keys, seed, stream)[:, np.newaxis] + mix(pairs)) >> np.uint64(11)
        for stream in (1, 2)
    )
    radius = np.sqrt(-2.0 * np.log((first + np.uint64(1)) * 2.0**-53))
    angle = second * (2.0**-53 * 2.0 * np.pi)
    values = np.empty((keys.size, 2 * pairs.size))
    values[:, 0::2], values[:, 1::2] = radius * np.cos(angle), radius * np.sin(angle)
    return values[:, : stop - start]


def _seeded(keys: Keys, seed: int, stream: int) -> Keys:
    own = mix(np.array([seed % 2**64], dtype=np.uint64)) + np.uint64(stream)
    return mix(keys ^ mix(own))


def other_order(keys: Keys, seed: int, number: int) -> Keys:
    """Return keys that put candidates in another order: of each number, 1 or more, its own."""
    return _seeded(keys, seed, 2 + number)


def by_position(size: int) -> Keys:
    """Return keys for candidates that have none but their place."""
    place: IntArray = np.arange(size)
    return mix(place.astype(np.uint64))
