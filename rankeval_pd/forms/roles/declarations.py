"""Declare capabilities and roles of questions, and check the memory of calls."""

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

# ------------------------------------ The decorators of a question: its capabilities and its roles

Function = TypeVar("Function", bound=Callable[..., Any])

NO_EFFECT = "Has no effect."
NO_CONCLUSION = "Has no effect, because single rows support no conclusion."

# ------------------------------------- The capabilities of a question, declared only once

IN_MEMORY = (
    "the method needs all data in memory. Compute the columns you use,"
    " ddf[[...]].compute().rankeval"
)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of a question, a decorator of its function.

    Read by ``answer``, the overview, ``dir()``, and the accessors of Dask DataFrames and heads.
    """

    rankings: str = ""  #: its heading in the overview of rankings, if any
    items: str = ""  #: its heading for systems over items
    pairs: str = ""  #: its heading for a table of pairs
    scores: bool = True  #: it needs measures, not N and N+ alone
    lists: bool = False  #: it has a row for each list, with ties="blocks" for each end of a block
    any_rows: bool = False  #: its number of rows depends on the data
    any_ties: bool = False  #: it allows each method of counting ties
    ends: bool = False  #: it allows lists that end before the candidates do: missing="absent"
    #: it allows clusters of candidates or items, groups=, or draws no conclusion
    clusters: bool = False
    crossed: bool = False  #: it allows two crossed factors
    #: it allows a head, which a Dask DataFrame collects, only N and N+ without scores
    heads: bool = False
    counts: bool = False  #: it needs only N and N+, so groups of any size go together
    n_keys: int = 1  #: the number of orders of equal scores
    by_groups: bool = False  #: it allows groups of a Dask DataFrame that each fit a worker: by=
    sums: bool = False  #: workers sum the items of a Dask DataFrame
    short: Short = ""  #: the columns of its short table; "" for all
    own_rows: bool = False  #: it returns rows of the data with all columns and attrs
    dask: str = IN_MEMORY  #: why a Dask DataFrame cannot answer, and advice

    def __call__(self, function: Function) -> Function:
        """Attach the capabilities to the function, and make it follow the session's options."""
        asked = with_options(function, self.short, noted=not self.own_rows)
        asked.capabilities = self  # type: ignore[attr-defined]
        return asked


def can(function: Any, **differences: Any) -> Capabilities:
    """Return the capabilities of a function, with the ``differences`` of one call."""
    capabilities: Capabilities = function.capabilities
    return replace(capabilities, **differences)


def declared(accessor: type) -> dict[str, tuple[Callable[..., Any], Capabilities]]:
    """Return an accessor's questions in order of definition, with their capabilities."""
    questions = {
        name: inspect.unwrap(x, stop=lambda function: hasattr(function, "capabilities"))
        for name, x in vars(accessor).items()
        if callable(x)
    }
    return {name: (x, can(x)) for name, x in questions.items() if hasattr(x, "capabilities")}


# ------------------------- The roles of a function, spelled out in its signature and its docstring


def with_roles(function: Function) -> Function:
    """Spell out the roles of ``**roles`` for completion and ``help``.

    ``Unpack[...]`` remains for type checkers.
    """
    return with_roles_and({})(function)


def with_roles_but(*idle: str, **said: str) -> Callable[[Function], Function]:
    """Spell out roles as :func:`with_roles` does, and document roles with another effect."""
    return with_roles_and({}, {**dict.fromkeys(idle, NO_EFFECT), **said})


def with_roles_and(
    others: Mapping[str, Any], said: Mapping[str, str] | None = None
) -> Callable[[Function], Function]:
    """Spell out roles, and other keywords of the same group with their defaults.

    The function's own defaults and texts replace the usual ones.
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
    """Return a docstring with names and meanings of the roles in place of ``**roles``."""
    if text is None:
        return None
    # roles that share an entry with other parameters get their own
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


# ------------------------------------------- Several questions of one call read the data only once

Form = TypeVar("Form")
_Read = tuple[Any, Roles, bool, Any]  # the data, their roles, whether scores were read; the form

_let_in: ContextVar[list[_Read] | None] = ContextVar("let_in", default=None)


@contextmanager
def one_reading() -> Iterator[None]:
    """Cache the data that are read, for further questions in the block."""
    before = _let_in.set([])
    try:
        yield
    finally:
        _let_in.reset(before)


def cached_reading(read: Callable[..., Form]) -> Callable[..., Form]:
    """Make a reader reuse data that were read before with the same roles."""

    @functools.wraps(read)
    def reading(data: Any, roles: Roles, *, scored: bool = True) -> Form:
        let_in = _let_in.get()
        if let_in is None:
            return read(data, roles, scored=scored)
        for earlier, their_roles, with_scores, form in let_in:
            # unless candidates are dropped, data with scores also serve questions on gold alone
            enough = with_scores == scored or (with_scores and roles.missing != "drop")
            if earlier is data and enough and _same(their_roles, roles):
                known: Form = form
                return known
        form = read(data, roles, scored=scored)
        let_in.append((data, roles, scored, form))
        return form

    return reading


def _same(one: Roles, other: Roles) -> bool:
    """Return whether the roles are the same, as identical objects of one call."""
    return all(
        (a := getattr(one, field.name)) is (b := getattr(other, field.name))
        or (isinstance(a, str | int) and type(a) is type(b) and a == b)
        for field in fields(Roles)
    )


# ---------------------------------------------------------------------- Memory needed by an answer

_NUMBER = 8  # bytes
_SMALL = 10_000  # numbers in a table that needs no check
_ENDLESS = 2.0**1000  # more than any memory, and less than the largest float64


def check_memory(numbers: float, what: str, less: str) -> None:
    """Raise a MemoryError if the numbers of ``what`` do not fit into the available memory.

    ``less`` advises how to reduce them. Without known available memory there is no check.
    """
    there, numbers = free_memory(), min(numbers, _ENDLESS)
    if there is not None and numbers * _NUMBER > there:
        raise MemoryError(
            f"{what}: this needs {_shown(numbers * _NUMBER)} of memory, but {_shown(there)} is"
            f" available. {less}"
        )


def check_draws(argument: str, value: object, for_each: int = 1) -> int:
    """Return a number of draws after checking that they fit into memory."""
    draws = check_count(argument, value)
    check_memory(
        2 * for_each * draws,  # as they are drawn, and sorted
        f"{argument}={draws} draws are held in memory at once",
        f"Pass fewer, {argument}=...",
    )
    return draws


def check_needed(draws: int, edge: str) -> int:
    """Return a family's number of draws after checking that they fit into memory.

    ``edge`` is the level that they must reach, ``alpha=...`` or ``level=...``.
    """
    check_memory(
        2.0 * draws,  # as they are drawn, and sorted
        f"{edge} with n_resamples=None needs {draws:,} draws, held in memory at once",
        f"Pass a value that needs fewer draws, {edge.split('=')[0]}=...",
    )
    return draws


def check_rows(inner: xr.Dataset, rows: int, columns: int, what: str) -> None:
    """Raise a MemoryError if a table of all batches in memory would have too many rows.

    Lazy data may be computed in parts.
    """
    every = rows * (inner["gold"].size // max(inner.sizes["candidate"], 1))
    if every * columns < _SMALL or any(x.chunks is not None for x in inner.variables.values()):
        return
    check_memory(
        every * (3.0 * columns + 5.0),  # as computed, as rows with their names, as a table
        f"{what} make a table of {every:,} rows",
        "Pass only the list sizes you need, n=..., or fewer measures.",
    )


def free_memory() -> int | None:
    """Return the bytes still available to this process, or None if unknown."""
    known = [size for size in (_of_machine(), _of_process()) if size is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _of_process() -> int | None:
    """Return the rest below the limit on the address space, if any."""
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
