"""Check whether results fit in memory before they are computed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rankeval_pd.errors import check_count

_NUMBER = 8  # bytes
_SMALL = 100_000  # number of values that fit into any memory
_ENDLESS = 2.0**1000  # larger than any memory, but smaller than the largest float64


def check_memory(numbers: float, what: str, less: str) -> None:
    """Raise a MemoryError if the numbers for ``what`` do not fit in memory.

    ``less`` explains how to reduce the numbers. If the available memory is unknown, nothing is
    checked.
    """
    if numbers < _SMALL:
        return
    there, numbers = free_memory(), min(numbers, _ENDLESS)
    if there is not None and numbers * _NUMBER > there:
        raise MemoryError(
            f"{what}: this needs {_size_in_words(numbers * _NUMBER)} of memory, but"
            f" {_size_in_words(there)} is available. {less}"
        )


def check_draws(argument: str, value: object, for_each: int = 1) -> int:
    """Check that draws fit in memory, and return the number of draws."""
    draws = check_count(argument, value)
    check_memory(
        2 * for_each * draws,  # the drawn and the sorted values
        f"{argument}={draws} requires {draws} draws in memory at once",
        f"Pass fewer, {argument}=...",
    )
    return draws


def check_needed(draws: int, edge: str) -> int:
    """Check that the draws for a family fit in memory, and return their number.

    ``edge`` describes the required level as ``alpha=...`` or ``level=...``.
    """
    check_memory(
        2.0 * draws,  # the drawn and the sorted values
        f"{edge} with n_resamples=None requires {draws:,} draws in memory at once",
        f"Pass a value that requires fewer draws: {edge.split('=')[0]}=...",
    )
    return draws


def check_table(rows: int, what: str, columns: int = 12) -> None:
    """Raise a MemoryError if a table would have too many rows."""
    check_memory(
        rows * (3.0 * columns + 5.0),  # values, rows with names, and table
        f"{what} would give a table with {rows:,} rows",
        "Pass fewer measures, or only the list sizes that you need: n=...",
    )


def free_memory() -> int | None:
    """Return the bytes available to this process, or None if unknown."""
    known = [size for size in (_of_machine(), _of_process()) if size is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _of_process() -> int | None:
    """Return the remaining address space, or None if there is no limit."""
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):
        return limit
    return max(limit - pages * os.sysconf("SC_PAGE_SIZE"), 0)


def _size_in_words(size: float) -> str:
    if size >= 2.0**100:
        return f"{size / 2**30:.1e} GB"
    return f"{size / 2**30:,.1f} GB" if size >= 2**30 else f"{size / 2**20:,.0f} MB"
