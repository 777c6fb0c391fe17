"""What a call costs: data are read once, and memory is checked before it is needed."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import xarray as xr

from rankeval_pd.errors import check_count
from rankeval_pd.forms.roles.roles import Roles

# -------------------------------------------------------------------------------------------------
# Data that several questions are asked of in one call are let in once.

Form = TypeVar("Form")
_Read = tuple[Any, Roles, bool, Any]  # the data, their roles, whether scores were read; the form

_let_in: ContextVar[list[_Read] | None] = ContextVar("let_in", default=None)


@contextmanager
def let_in_once() -> Iterator[None]:
    """Keep what was let in until the end of the block, for further questions of the same data."""
    before = _let_in.set([])
    try:
        yield
    finally:
        _let_in.reset(before)


def kept_once(read: Callable[..., Form]) -> Callable[..., Form]:
    """Make a reader of data look first whether these data with these roles were let in before."""

    @functools.wraps(read)
    def reading(data: Any, roles: Roles, *, scored: bool = True) -> Form:
        let_in = _let_in.get()
        if let_in is None:
            return read(data, roles, scored=scored)
        for earlier, their_roles, with_scores, form in let_in:
            # where all take part, what has scores serves a question of the gold label alone
            enough = with_scores == scored or (with_scores and roles.missing != "drop")
            if earlier is data and enough and _same(their_roles, roles):
                known: Form = form
                return known
        form = read(data, roles, scored=scored)
        let_in.append((data, roles, scored, form))
        return form

    return reading


def _same(one: Roles, other: Roles) -> bool:
    """Return whether these are the same roles: the same objects, as in one call they are."""
    return all(
        (a := getattr(one, field.name)) is (b := getattr(other, field.name))
        or (isinstance(a, str | int) and type(a) is type(b) and a == b)
        for field in fields(Roles)
    )


# -------------------------------------------------------------------------------------------------
# What an answer would take in memory, said before it is tried.

_NUMBER = 8  # bytes
_SMALL = 10_000  # numbers of a table that is not worth a look at the memory
_ENDLESS = 2.0**1000  # more than any memory, and less than the largest float64


def check_memory(numbers: float, what: str, less: str) -> None:
    """Raise a MemoryError where ``what`` holds more numbers than there is memory for.

    ``less`` says how to ask for less. Where the system does not say what there is, nothing is
    checked.
    """
    there, numbers = free_memory(), min(numbers, _ENDLESS)
    if there is not None and numbers * _NUMBER > there:
        raise MemoryError(
            f"{what}, which take {_shown(numbers * _NUMBER)} of memory, and {_shown(there)} are"
            f" there. {less}"
        )


def check_draws(argument: str, value: object, for_each: int = 1) -> int:
    """Return a number of draws, of each of which so many numbers are kept."""
    draws = check_count(argument, value)
    check_memory(
        2 * for_each * draws,  # as they are drawn, and sorted
        f"{argument}={draws} draws are kept together",
        f"Give fewer, {argument}=...",
    )
    return draws


def check_needed(draws: int, edge: str) -> int:
    """Return as many draws as a family needs, of each of which a number is kept.

    ``edge`` is what they are to reach, ``alpha=...`` or ``level=...``.
    """
    check_memory(
        2.0 * draws,  # as they are drawn, and sorted
        f"{edge} needs {draws:,} draws, n_resamples=None, that are kept together",
        f"Give one that fewer draws reach, {edge.split('=')[0]}=...",
    )
    return draws


def check_rows(inner: xr.Dataset, rows: int, columns: int, what: str) -> None:
    """Raise a MemoryError where a table of all batches would have more rows than can be held.

    What is lazy is not yet computed, and may be computed in parts.
    """
    every = rows * (inner["gold"].size // max(inner.sizes["candidate"], 1))
    if every * columns < _SMALL or any(x.chunks is not None for x in inner.variables.values()):
        return
    check_memory(
        every * (3.0 * columns + 5.0),  # as computed, as rows with their names, as a table
        f"{what} make a table of {every:,} rows",
        "Give the sizes of lists that matter, n=..., or fewer measures.",
    )


def free_memory() -> int | None:
    """Return the bytes that this process may yet have, None where that is not known."""
    known = [size for size in (_of_machine(), _of_process()) if size is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _of_process() -> int | None:
    """Return what is left under the limit on the address space, if there is one."""
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


def _shown(size: float) -> str:
    if size >= 2.0**100:
        return f"{size / 2**30:.1e} GB"
    return f"{size / 2**30:,.1f} GB" if size >= 2**30 else f"{size / 2**20:,.0f} MB"
