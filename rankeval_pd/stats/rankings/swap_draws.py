"""The draws of swapped rankings: places side by side, and numbers that belong to a candidate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

# -------------------------------------------------------------------------------------------------
# The places of two rankings side by side, and the lists of swapped rankings, draw by draw.
#
# There are two slots for each rank, that of a and that of b, and a swap gives each slot to the
# first ranking or to the second.

_MANY = 16_000  # lists whose numbers, twice and one more, still fit 16 bits: less than 2**15


class Slots(NamedTuple):
    """The places in the order of ranks, two for each rank: that of a, and that of b."""

    candidate: IntArray  #: (slot)
    from_a: BoolArray  #: (slot)
    a: IntArray  #: the slot of each candidate's rank in a
    b: IntArray

    @classmethod
    def of(cls, rank_a: IntArray, rank_b: IntArray) -> Slots:
        """Return the slots of two rankings, ranks from 1 without gaps."""
        candidates = np.arange(rank_a.size)
        of_a, of_b = np.empty_like(candidates), np.empty_like(candidates)
        of_a[rank_a - 1], of_b[rank_b - 1] = candidates, candidates  # (rank): who has it
        candidate = np.empty(2 * rank_a.size, dtype=np.int64)
        # the two slots of a rank: first that of the candidate whose key comes first
        candidate[0::2], candidate[1::2] = np.minimum(of_a, of_b), np.maximum(of_a, of_b)
        from_a = np.empty(candidate.size, dtype=bool)
        from_a[0::2], from_a[1::2] = of_a <= of_b, of_a > of_b
        a = 2 * (rank_a - 1) + (of_b[rank_a - 1] < candidates)
        b = 2 * (rank_b - 1) + (of_a[rank_b - 1] <= candidates)
        return cls(candidate, from_a, a, b)


class Walk(NamedTuple):
    """The slots up to the end of the largest list, walked through once for each draw.

    The lists of one draw take a few passes over arrays of one byte or two for each slot: of a
    million candidates a quarter of what the ranks of 64 draws together take, and no gigabyte.
    """

    sizes: IntArray  #: of the lists, rising
    half: int  #: how many ranks behind the largest list are looked at
    reach: int  #: slots
    keys: Keys  #: (slot)
    from_a: BoolArray  #: (slot)
    later: IntArray  #: the later slot of each candidate that has both within reach,
    earlier: IntArray  #: and its earlier one
    later_true: IntArray  #: whether it is a true positive
    true: IntArray  #: the slots of true positives

    @classmethod
    def of(cls, slots: Slots, gold: BoolArray, keys: Keys, sizes: IntArray, half: int) -> Walk:
        """Return the walk for lists of these sizes."""
        reach = min(2 * (int(sizes[-1]) + half), slots.candidate.size)
        candidate, place = slots.candidate[:reach], np.arange(reach)
        mate = slots.a[candidate] + slots.b[candidate] - place
        later = np.flatnonzero(mate < place)
        kind: Any = np.int16 if sizes.size < _MANY else np.int32
        return cls(
            sizes, half, reach, keys[candidate], slots.from_a[:reach], later, mate[later],
            gold[candidate[later]].astype(kind), np.flatnonzero(gold[candidate]),
        )  # fmt: skip

    def counts(self, seed: int, start: int, stop: int) -> IntArray | None:
        """Return overlap, its true positives and those of both lists; (4, draw, list).

        ``stop`` is at most a word behind ``start``. None: a list ends outside the reach.
        """
        result = np.empty((4, stop - start, self.sizes.size), dtype=np.int64)
        bits = words(self.keys, seed, start, stop)[:, 0]  # (slot): a draw in each bit
        # the first ranking has a slot of a unless it is swapped, one of b if it is
        bits[self.from_a] = ~bits[self.from_a]
        for draw in range(stop - start):
            one = self._of_draw((bits & np.uint64(1)).astype(bool))
            if one is None:
                return None
            result[:, draw] = one
            bits >>= np.uint64(1)  # the next draw in the lowest bit
        return result

    def _of_draw(self, first: BoolArray) -> IntArray | None:
        """Return the counts where the first ranking has these slots, and the second the others."""
        lists = self.sizes.size
        numbers = np.arange(lists + 1, dtype=self.later_true.dtype)
        listed = []  # the first list that a slot is in, were it this ranking's
        for own in (first, ~first):
            slots = np.flatnonzero(own)
            if slots.size < self.sizes[-1]:
                return None
            ends = slots[self.sizes - 1] + 1
            listed.append(np.repeat(numbers, np.diff(ends, prepend=0, append=self.reach)))
        # (slot): the first list it is in; one number for list and label, so that one count does
        begin = np.where(first, *listed)
        both = 2 * np.maximum(begin[self.later], begin[self.earlier]) + self.later_true
        sides = 2 * begin[self.true] + first[self.true]
        (false, true), (second_true, first_true) = (
            np.bincount(kinds, minlength=2 * lists + 2)[: 2 * lists].reshape(lists, 2).T
            for kinds in (both, sides)
        )
        counted = np.array([false + true, true, first_true, second_true], dtype=np.int64)
        result: IntArray = np.cumsum(counted, axis=1)
        return result


# -------------------------------------------------------------------------------------------------
# Random numbers that belong to a candidate: a function of seed, resample and the candidate's key.
#
# A part of the data that holds all lists asked for then draws the same numbers as the whole, and
# neither the order of the rows nor the other candidates play a part.

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
    blocks = np.arange(start // WORD, -(-stop // WORD), dtype=np.uint64)  # rounded up
    return mix(_seeded(keys, seed, 0)[:, np.newaxis] + mix(blocks))


def coins(keys: Keys, seed: int, start: int, stop: int) -> Bits:
    """Return one fair bit, 0 or 1, for each key and resample: (key, resample).

    ``start`` is a multiple of :data:`WORD`. O(keys x resamples / 64) hashes.
    """
    drawn = words(keys, seed, start, stop)
    # little-endian bytes, so that the bits come out lowest first on every machine
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
    # 53 bits fill a float's mantissa; one is added, for the logarithm of 0 is none
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
