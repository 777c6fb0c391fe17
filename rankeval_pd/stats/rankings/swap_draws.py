"""Draw randomly swapped rankings from slots and each candidate's random numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

# -------------------------------------------------------------------------------------------------
# The slots of two rankings, and the lists of swapped rankings for each draw.
#
# Each rank has two slots, one for a and one for b. In each draw, every slot is assigned to the
# first or the second swapped ranking.

_MANY = 16_000  # largest number of lists: twice this number plus one fits in 16 bits


class Slots(NamedTuple):
    """The slots in rank order, with one slot for a and one for b at each rank."""

    candidate: IntArray  #: (slot)
    from_a: BoolArray  #: (slot)
    a: IntArray  #: slot of each candidate's rank in a
    b: IntArray

    @classmethod
    def of(cls, rank_a: IntArray, rank_b: IntArray) -> Slots:
        """Return the slots of two rankings whose ranks run from 1 without gaps."""
        candidates = np.arange(rank_a.size)
        of_a, of_b = np.empty_like(candidates), np.empty_like(candidates)
        of_a[rank_a - 1], of_b[rank_b - 1] = candidates, candidates  # (rank): the candidate
        candidate = np.empty(2 * rank_a.size, dtype=np.int64)
        # at each rank, the candidate with the earlier key has the first slot
        candidate[0::2], candidate[1::2] = np.minimum(of_a, of_b), np.maximum(of_a, of_b)
        from_a = np.empty(candidate.size, dtype=bool)
        from_a[0::2], from_a[1::2] = of_a <= of_b, of_a > of_b
        a = 2 * (rank_a - 1) + (of_b[rank_a - 1] < candidates)
        b = 2 * (rank_b - 1) + (of_a[rank_b - 1] <= candidates)
        return cls(candidate, from_a, a, b)


class Walk(NamedTuple):
    """The slots up to the end of the largest list, which are visited once for each draw.

    Each draw takes a few passes over arrays that hold one or two bytes per slot. For a million
    candidates, the walk takes a quarter of the time needed to compute the ranks for 64 draws. The
    walk uses less than a gigabyte of memory.
    """

    sizes: IntArray  #: sizes of the lists, increasing
    half: int  #: number of ranks used after the largest list
    reach: int  #: slots
    keys: Keys  #: (slot)
    from_a: BoolArray  #: (slot)
    later: IntArray  #: later slot of each candidate with both slots within reach
    earlier: IntArray  #: earlier slot of the same candidates
    later_true: IntArray  #: whether the candidate is a true positive
    true: IntArray  #: slots of true positives

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
        """Count the overlap and its true positives, and those in each list: (4, draw, list).

        Return None if a list ends after these slots. ``stop`` is at most one word after ``start``.
        """
        result = np.empty((4, stop - start, self.sizes.size), dtype=np.int64)
        bits = words(self.keys, seed, start, stop)[:, 0]  # (slot): a draw in each bit
        # the first ranking gets the a slots of unswapped and the b slots of swapped candidates
        bits[self.from_a] = ~bits[self.from_a]
        for draw in range(stop - start):
            one = self._of_draw((bits & np.uint64(1)).astype(bool))
            if one is None:
                return None
            result[:, draw] = one
            bits >>= np.uint64(1)  # move the next draw to the lowest bit
        return result

    def _of_draw(self, first: BoolArray) -> IntArray | None:
        """Return the counts if the first ranking has these slots and the second all other slots."""
        lists = self.sizes.size
        numbers = np.arange(lists + 1, dtype=self.later_true.dtype)
        listed = []  # first list of each slot, if this ranking has the slot
        for own in (first, ~first):
            slots = np.flatnonzero(own)
            if slots.size < self.sizes[-1]:
                return None
            ends = slots[self.sizes - 1] + 1
            listed.append(np.repeat(numbers, np.diff(ends, prepend=0, append=self.reach)))
        # (slot): first list; one number encodes both list and label, so a single count suffices
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


class TrueSlots(NamedTuple):
    """The first slots, used for sums over the ranks of true positives."""

    keys: Keys  #: (slot)
    flip: Keys  #: (slot): all bits set for a slot of a, none for a slot of b
    true: IntArray  #: slots of true positives

    @classmethod
    def of(cls, slots: Slots, gold: BoolArray, keys: Keys, reach: int) -> TrueSlots:
        """Return the first ``reach`` slots."""
        candidate = slots.candidate[:reach]
        flip = np.uint64(0) - slots.from_a[:reach].astype(np.uint64)
        return cls(keys[candidate], flip, np.flatnonzero(gold[candidate]))

    def sums(
        self, weight: FloatArray, most: int, seed: int, start: int, stop: int, *, whole: bool
    ) -> FloatArray | None:
        """Return the total weight in the first ranking minus the second: (draw).

        ``weight`` is indexed by rank from 0, and ``stop`` is at most one word after ``start``.
        Return None if a list of size ``most`` ends outside the slots, unless ``whole`` is True.
        """
        # (slot): one bit for each draw, set if the first ranking has the slot
        bits = words(self.keys, seed, start, stop)[:, 0] ^ self.flip
        octets = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
        place, sums = (self.true + 1).astype(np.int32), np.empty(stop - start)
        own = np.zeros(-(-self.keys.size // 8) * 8, dtype=np.uint8)  # (slot), one draw, 0 or 1
        before = np.zeros(own.size // 8 + 1, dtype=np.int32)  # per eight slots
        octet = octets[:, 0]
        for draw in range(stop - start):
            if draw % 8 == 0:
                octet = octets[:, draw // 8].copy()
            np.bitwise_and(octet, 1, out=own[: octet.size])
            octet >>= 1
            # each byte of the product is a running sum over the bytes of eight slots
            within = (own.view("<u8") * np.uint64(0x0101010101010101)).view(np.uint8)
            np.cumsum(within[7::8], dtype=np.int32, out=before[1:])
            if not whole and min(before[-1], octet.size - before[-1]) < most:
                return None
            up_to = before.take(self.true >> 3)
            up_to += within.take(self.true)
            first = own.take(self.true)
            ranks = (2 * up_to - place) * first + (place - up_to)  # in either ranking
            sums[draw] = weight.take(ranks) @ (2.0 * first - 1.0)
        return sums


# -------------------------------------------------------------------------------------------------
# A candidate's random numbers depend only on the seed, the resample and the candidate's key.
#
# Draws from a part of the data that contains all requested lists are therefore equal to draws from
# the full data. The row order and the other candidates have no effect.

Keys = np.ndarray[Any, np.dtype[np.uint64]]
Bits = np.ndarray[Any, np.dtype[np.uint8]]
WORD = 64  #: number of resamples whose bits are in one hash
_CACHED = 20_000  # hashes, or pairs of normal numbers, that fit into the cache
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mix(x: Keys) -> Keys:
    """Return splitmix64 of x, in which each input bit changes half of the output bits."""
    x = x + _STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def words(keys: Keys, seed: int, start: int, stop: int) -> Keys:
    """Return words of 64 fair bits for each key, from resample ``start`` to ``stop``.

    The result is (key, word), with the first resample of each word in the lowest bit.
    """
    blocks = mix(np.arange(start // WORD, -(-stop // WORD), dtype=np.uint64))  # rounded up
    result = np.empty((keys.size, blocks.size), dtype=np.uint64)
    width = max(1, _CACHED // max(1, blocks.size))
    for begin in range(0, keys.size, width):
        part = slice(begin, begin + width)
        result[part] = mix(_seeded(keys[part], seed, 0)[:, np.newaxis] + blocks)
    return result


def coins(keys: Keys, seed: int, start: int, stop: int) -> Bits:
    """Return one fair bit, 0 or 1, for each key and resample: (key, resample).

    The cost is O(keys x resamples / 64) hashes.
    """
    drawn = words(keys, seed, start, stop)
    # little-endian bytes, so the lowest bits come first on every machine
    octets = np.ascontiguousarray(drawn, dtype="<u8").view(np.uint8)
    before = start % WORD
    bits = np.unpackbits(octets, axis=-1, bitorder="little", count=stop - start + before)
    return bits[:, before:]


def normals(keys: Keys, seed: int, start: int, stop: int) -> FloatArray:
    """Return one standard normal number for each key and resample: (key, resample).

    ``start`` must be even, because each pair of hashes yields two numbers (Box and Muller 1958).
    """
    pairs = np.arange(start // 2, -(-stop // 2), dtype=np.uint64)
    values = np.empty((keys.size, 2 * pairs.size))
    width = max(1, _CACHED // max(1, pairs.size))
    for begin in range(0, keys.size, width):
        part = slice(begin, begin + width)
        first, second = (
            mix(_seeded(keys[part], seed, stream)[:, np.newaxis] + mix(pairs)) >> np.uint64(11)
            for stream in (1, 2)
        )
        # 53 bits fill a float's mantissa; adding one avoids taking the logarithm of 0
        radius = np.sqrt(-2.0 * np.log((first + np.uint64(1)) * 2.0**-53))
        angle = second * (2.0**-53 * 2.0 * np.pi)
        values[part, 0::2], values[part, 1::2] = radius * np.cos(angle), radius * np.sin(angle)
    return values[:, : stop - start]


def _seeded(keys: Keys, seed: int, stream: int) -> Keys:
    own = mix(np.array([seed % 2**64], dtype=np.uint64)) + np.uint64(stream)
    return mix(keys ^ mix(own))


def other_order(keys: Keys, seed: int, number: int) -> Keys:
    """Return keys that order the candidates differently for each number >= 1."""
    return _seeded(keys, seed, 2 + number)


def by_position(size: int) -> Keys:
    """Return keys based on positions for candidates without keys."""
    place: IntArray = np.arange(size)
    return mix(place.astype(np.uint64))
