"""The sizes of lists that are asked for: whole numbers, or shares of the candidates."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray

_NEARLY = 1e-9  # a share of the candidates that is a whole number but for rounding is that number
_LARGEST = 2**62
_MOST = 10**9


class Shares(NamedTuple):
    """Sizes of lists as shares of the candidates, each once, in the order asked for."""

    values: FloatArray

    def of(self, total: int) -> IntArray:
        """Return the least n of which each is at least this share of ``total``, 1 or more."""
        return np.array([least_n(share, total) for share in self.values], dtype=np.int64)


Sizes = IntArray | Shares | None


def least_n(share: float, total: int) -> int:
    """Return the least n >= share * total, and 1 at least."""
    return max(math.ceil(share * total - _NEARLY), 1)


def those(sizes: Sizes, asked: IntArray) -> IntArray | None:
    """Return the list sizes of one group, None where every n was asked for."""
    return None if sizes is None else asked


def check_n(n: Any) -> Sizes:
    """Return the list sizes asked for, each once, in the order asked for; None is every n.

    Floats between 0 and 1 are shares of the candidates.
    """
    if n is None:
        return None
    if isinstance(n, range) and len(n) > _MOST:
        raise ValueError(
            f"n={n!r} asks for {len(n):,} lists of every measure, which no memory holds. Give"
            " fewer n, or None for every n there is."
        )
    if isinstance(n, range) or (isinstance(n, np.ndarray) and n.ndim == 1 and n.dtype.kind in "iu"):
        if len(n) and max(int(max(n)), -int(min(n))) > _LARGEST:
            return check_n(list(n))
        sizes = np.array(n, dtype=np.int64)
        first = sizes[sizes < 1][:1].tolist()
    else:
        values = [n] if isinstance(n, str | bytes | bytearray) or not np.iterable(n) else list(n)
        shares = [value for value in values if _is_share(value)]
        if shares:
            return _shares(values, len(shares))
        first = [value for value in map(_check_whole, values) if value < 1][:1]
        for above in (value for value in map(_check_whole, values) if value > _LARGEST):
            raise ValueError(
                f"n={above} is above the number of candidates that any data have. Give whole"
                " numbers from 1 to the number of candidates, or None for every n there is."
            )
        sizes = np.array([max(int(value), 0) for value in values], dtype=np.int64)
    if not sizes.size:
        raise ValueError(
            f"n={n!r} asks for no list. Give whole numbers from 1 to the number of candidates, or"
            " None for every n."
        )
    if first:
        raise ValueError(
            f"n={first[0]!r}: a list has 1 candidate or more. Give whole numbers from 1 to the"
            " number of candidates, shares of the candidates between 0 and 1, or None for every n."
        )
    _, kept = np.unique(sizes, return_index=True)
    return sizes[np.sort(kept)]


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and 0.0 < float(value) < 1.0


def _shares(values: list[Any], count: int) -> Shares:
    if count < len(values):
        other = next(value for value in values if not _is_share(value))
        raise TypeError(
            f"n={values!r} has shares of the candidates, between 0 and 1, and {other!r}, which is"
            " none. Give whole numbers, or shares, not both."
        )
    return Shares(np.array(list(dict.fromkeys(float(value) for value in values))))


def _check_whole(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    hint = f" Write {int(value)}." if whole else ""
    raise TypeError(
        f"n={value!r} is of type {type(value).__name__}: the size of a list is a whole number, 1"
        " or more, a share of the candidates as a float between 0 and 1, or None for every n."
        f"{hint}"
    )
