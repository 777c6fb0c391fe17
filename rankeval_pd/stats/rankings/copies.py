"""Find measures with identical rankings, and candidates in several groups."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

_LOOKED_AT = 256  # number of candidates checked before all candidates are compared
_LEAST = 10  # with fewer candidates, two measures can be equal by chance
_ROUNDING = 1e-12  # relative difference below which scores count as equal


def same_order(score: FloatArray) -> IntArray:
    """Return, for each measure, the first measure with the same ranking: (measure).

    Scores that differ only by rounding count as equal. No sorting is needed if a few candidates
    show that two measures differ.
    """
    count, size = score.shape
    result = np.arange(count)
    if count < 2 or size < _LEAST:
        return result
    few = score[:, :: -(-size // _LOOKED_AT)]
    first: dict[bytes, list[int]] = {}
    for k in range(count):
        order = np.argsort(few[k], kind="stable")
        places = np.empty(order.size, dtype=np.int64)
        places[order] = np.concatenate([[0], np.cumsum(_steps(few[k][order]))])
        alike = first.setdefault(places.tobytes(), [])
        same = next((i for i in alike if _alike(score[i], score[k])), None)
        if same is None:
            alike.append(k)
        else:
            result[k] = same
    return result


def _steps(ordered: FloatArray) -> BoolArray:
    """Return whether the next score is different; NaN comes last."""
    low, high = ordered[:-1], ordered[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(high - low) <= _ROUNDING * np.abs(high)
    return np.asarray(~((low == high) | close | (np.isnan(low) & np.isnan(high))))


def _alike(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two measures have the same ranking with at least two scores."""
    if (np.isnan(one) != np.isnan(other)).any():
        return False
    order = np.argsort(one, kind="stable")
    there = other[order]
    up = _steps(one[order])
    with np.errstate(invalid="ignore"):
        down = there[1:] < there[:-1]
    apart = _steps(there)
    return bool(up.any() and (up == apart).all() and not (down & apart).any())


def stands_for(a: IntArray, b: IntArray, *, ordered: bool) -> IntArray:
    """Return, for each pair, the first pair with the same two rankings; -1 if the two are equal.

    With ``ordered``, as in one-sided tests, a pair differs from the reversed pair.
    """
    first: dict[tuple[int, int], int] = {}
    result = []
    for place, key in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        low, high = key if ordered else sorted(key)
        result.append(-1 if low == high else first.setdefault((low, high), place))
    return np.array(result, dtype=np.int64)


_SHARE = 0.2  # minimum fraction of candidates that are repeated in another group


def again_in_groups(score: FloatArray, number: IntArray, label: AnyArray) -> BoolArray | None:
    """Return the candidates that also occur in another group with the same label and scores.

    ``score`` is (measure, candidate), ``number`` is the number of the group, and ``label`` is a
    hash that is unique within a group. If no label occurs in two groups, only the scores are
    compared. The result is None if too few candidates are repeated, or if the scores are so coarse
    that they are equal by chance.
    """
    few = np.unique(score[0, :: max(number.size // _LOOKED_AT, 1)])
    place = np.minimum(np.searchsorted(few, score[0]), few.size - 1)
    if (few[place] == score[0]).sum() < (1.0 + _SHARE / 2.0) * few.size:  # too few repeated
        return None
    bits = np.zeros(number.size, dtype=np.uint64)
    for row in score:
        bits = bits * np.uint64(0x9E3779B97F4A7C15) + (row + 0.0).view(np.uint64)
    sizes = np.bincount(number).astype(float)
    pairs = float((sizes * (sizes - 1.0)).sum())
    if (sizes > 0).sum() < 2 or pairs == 0.0 or number.size < 2 * _LEAST:
        return None
    mixed = bits * np.uint64(0xD6E8FEB86659FD93)
    within = np.unique(mixed + number.astype(np.uint64), return_counts=True)[1]
    chance = (float((within * (within - 1.0)).sum()) + 3.0) / pairs  # probability of equal scores
    known = _repeated(label)
    if known.mean() >= _SHARE:
        again = _repeated(mixed + label)
        enough = again.sum() >= 0.9 * known.sum() and chance <= 0.1
    else:
        again = _repeated(bits)  # within a group, scores rarely repeat by chance
        enough = again.mean() >= 0.9 and chance * number.size <= 0.5
    return again if enough and again.sum() >= _LEAST else None


def _repeated(values: AnyArray) -> BoolArray:
    """Return whether each value occurs more than once."""
    _, where, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(count[where] > 1)
