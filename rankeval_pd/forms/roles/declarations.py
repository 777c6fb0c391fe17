"""What a question takes, its roles in signature and docstring, and what a call costs."""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import xarray as xr

from rankeval_pd.errors import check_count
from rankeval_pd.forms.roles.options import Short, with_options
from rankeval_pd.forms.roles.roles import MEANINGS, Roles, default_of

# ----------------- What is declared above a question: its capabilities, and its roles, spelled out

Function = TypeVar("Function", bound=Callable[..., Any])

NO_EFFECT = "no effect here."
NO_CONCLUSION = "no effect here: nothing is concluded from single rows."

# --------------- The capabilities of a question: what it takes. Nothing else says so a second time

IN_MEMORY = "it needs the data in memory. Compute the columns in use, ddf[[...]].compute().rankeval"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a question takes; written above its function, as a decorator.

    ``answer`` reads it, and so do the overview, ``dir()``, the accessor of Dask DataFrames and the
    accessor of heads.
    """

    rankings: str = ""  #: the heading of the overview under which rankings have it, if they do
    items: str = ""  #: that of systems over items
    pairs: str = ""  #: that of a table of pairs
    scores: bool = True  #: it needs measures, not N and N+ alone
    lists: bool = False  #: it has a row for each list: with ties="blocks", where a block ends
    any_rows: bool = False  #: how many rows it has depends on the data
    any_ties: bool = False  #: it has an answer for each method of counting ties
    ends: bool = False  #: it has one for lists that end before the candidates do: missing="absent"
    #: it has one for candidates or items that belong together, groups=, or draws no conclusion
    clusters: bool = False
    crossed: bool = False  #: it has one for two crossed factors
    #: it has one for a head; a Dask DataFrame collects the head, of N and N+ alone without scores
    heads: bool = False
    counts: bool = False  #: it needs N and N+ alone: groups of any size are asked together
    n_keys: int = 1  #: how many orders of equal scores it takes
    by_groups: bool = False  #: a Dask DataFrame answers for groups that a worker holds each: by=
    sums: bool = False  #: workers add up the items of a Dask DataFrame
    short: Short = ""  #: the columns of its short table; "" if that has all of them
    own_rows: bool = False  #: it returns rows of the data: all columns, and their attrs
    dask: str = IN_MEMORY  #: else, why a Dask DataFrame has no answer, and what to do

    def __call__(self, function: Function) -> Function:
        """Give the capabilities to the function, and let it heed the options of the session."""
        asked = with_options(function, self.short, noted=not self.own_rows)
        asked.capabilities = self  # type: ignore[attr-defined]
        return asked


def can(function: Any, **differences: Any) -> Capabilities:
    """Return the capabilities of a function; ``differences`` are those of one call."""
    capabilities: Capabilities = function.capabilities
    return replace(capabilities, **differences)


def declared(accessor: type) -> dict[str, tuple[Callable[..., Any], Capabilities]]:
    """Return the questions of an accessor's class body and their capabilities, in its order."""
    questions = {
        name: inspect.unwrap(x, stop=lambda function: hasattr(function, "capabilities"))
        for name, x in vars(accessor).items()
        if callable(x)
    }
    return {name: (x, can(x)) for name, x in questions.items() if hasattr(x, "capabilities")}


# ------------------------- The roles of a function, spelled out in its signature and its docstring


def with_roles(function: Function) -> Function:
    """Spell out the roles that ``**roles`` stands for: completion and ``help`` then show them.

    Type checkers read them from ``Unpack[...]``, which this leaves as it is.
    """
    return with_roles_and({})(function)


def with_roles_but(*idle: str, **said: str) -> Callable[[Function], Function]:
    """Spell out roles as :func:`with_roles` does, and say which have no effect, or which one."""
    return with_roles_and({}, {**dict.fromkeys(idle, NO_EFFECT), **said})


def with_roles_and(
    others: Mapping[str, Any], said: Mapping[str, str] | None = None
) -> Callable[[Function], Function]:
    """Spell out roles, and other keywords of the same group, whose defaults are given.

    A default that is given for a role is the function's own, and what is said of a role takes the
    place of what it means elsewhere.
    """
    meanings = {**MEANINGS, **(said or {})}

    def spelled_out(function: Function) -> Function:
        signature = inspect.signature(function)
        *parameters, rest = signature.parameters.values()
        group = re.search(r"Unpack\[(\w+)\]", str(rest.annotation))
        if group is None:
            raise TypeError(f"{function.__name__} has no **roles: Unpack[...]")
        kinds = function.__globals__[group[1]].__annotations__
        known = {p.name for p in parameters}
        defaults = {
            **others,
            **{
                role: others.get(role, default_of(role, items="metric" in kinds))
                for role in MEANINGS
            },
        }
        keywords = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=getattr(kinds[name], "__forward_arg__", kinds[name]),
            )
            for name, default in defaults.items()
            if name in kinds and name not in known
        ]
        function.__signature__ = signature.replace(parameters=[*parameters, *keywords])  # type: ignore[attr-defined]
        roles = [p.name for p in keywords if p.name in meanings]
        function.__doc__ = _described(function.__doc__, {role: meanings[role] for role in roles})
        return function

    return spelled_out


def _described(text: str | None, roles: Mapping[str, str]) -> str | None:
    """Return a docstring with the names and meanings of the roles in the place of ``**roles``."""
    if text is None:
        return None
    # in a list with parameters that are explained elsewhere: the roles get an entry of their own
    text = re.sub(
        r"(?m)^(    \S.*?), \*\*roles\n((?:        .*\n)+)",
        r"\1\n\2    **roles\n        Which column is what.\n",
        text,
        count=1,
    )
    meanings = "\n".join(_line(role, meaning) for role, meaning in roles.items())
    found = re.search(r"(?m)^    \*\*roles[^\n]*\n((?:        .*\n|\n(?=        ))*)", text)
    if found is None:
        return text
    entry = f"    {', '.join(roles)} : roles, optional\n{found[1].rstrip()}\n\n{meanings}\n"
    return text[: found.start()] + entry + text[found.end() :]


@cache  # the same roles in many docstrings
def _line(role: str, meaning: str) -> str:
    return textwrap.fill(
        f"* ``{role}``: {meaning}", width=100, initial_indent=" " * 8, subsequent_indent=" " * 10
    )


# ---------------- What a call costs: data are read once, and memory is checked before it is needed

# ---------------------------- Data that several questions are asked of in one call are let in once

Form = TypeVar("Form")
_Read = tuple[Any, Roles, bool, Any]  # the data, their roles, whether scores were read; the form

_let_in: ContextVar[list[_Read] | None] = ContextVar("let_in", default=None)


@contextmanager
def one_reading() -> Iterator[None]:
    """Keep what was let in until the end of the block, for further questions of the same data."""
    before = _let_in.set([])
    try:
        yield
    finally:
        _let_in.reset(before)


def cached_reading(read: Callable[..., Form]) -> Callable[..., Form]:
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


# ------------------------------------ What an answer would take in memory, said before it is tried

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
