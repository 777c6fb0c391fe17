"""The sizes of lists that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.stats._types import IntArray


def check_n(n: Any) -> IntArray | None:
    """Return the list sizes asked for, each once, in the order asked for; None is every n."""
    if n is None:
        return None
    if isinstance(n, range) or (isinstance(n, np.ndarray) and n.ndim == 1 and n.dtype.kind in "iu"):
        sizes = np.array(n, dtype=np.int64)
        first = sizes[sizes < 1][:1].tolist()
    else:
        values = [n] if isinstance(n, str) or not np.iterable(n) else list(n)
        first = [_check_whole(value) for value in values if _check_whole(value) < 1][:1]
        sizes = np.array([int(value) for value in values], dtype=np.int64)
    if first:
        raise ValueError(
            f"n={first[0]!r}: a list has 1 candidate or more. Give whole numbers from 1 to the"
            " number of candidates, or None for every n."
        )
    _, kept = np.unique(sizes, return_index=True)
    return sizes[np.sort(kept)]


def _check_whole(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    hint = f" Write {int(value)}." if whole else ""
    raise TypeError(
        f"n={value!r} is of type {type(value).__name__}: the size of a list is a whole number, 1"
        f" or more, or None for every n.{hint}"
    )
