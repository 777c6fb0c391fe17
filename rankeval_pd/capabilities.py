"""Declare capabilities and roles of functions."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

from rankeval_pd.options import with_options
from rankeval_pd.roles import MEANINGS, Roles, default_of
from rankeval_pd.tables import Short

# ------------------------------------ Decorators that declare the capabilities and roles of a
# function

Function = TypeVar("Function", bound=Callable[..., Any])

NO_EFFECT = "Ignored."
NO_CONCLUSION = "Ignored, because the table contains no tests or intervals."

# ------------------------------------- The capabilities of a function

IN_MEMORY = (
    "this method needs all data in memory. Compute the columns that you use,"
    " ddf[[...]].compute().rankeval"
)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Declare the capabilities of the decorated function.

    The function ``answer``, the overview, ``dir()`` and the accessors for Dask DataFrames and heads
    use the capabilities.
    """

    rankings: str = ""  #: heading in the overview for rankings, or ""
    items: str = ""  #: heading in the overview for systems scored on items
    pairs: str = ""  #: heading in the overview for tables of pairs
    scores: bool = True  #: whether measures are needed in addition to N and N+
    #: whether the result has one row per list, or one per block end if ties="blocks"
    lists: bool = False
    any_rows: bool = False  #: whether the number of rows depends on the data
    any_ties: bool = False  #: whether all values of ties are supported
    ends: bool = False  #: whether lists can end early (missing="absent")
    #: whether clusters (groups=) are supported or irrelevant
    clusters: bool = False
    crossed: bool = False  #: whether two crossed factors are supported
    #: whether a head of a Dask DataFrame is sufficient, or N and N+ without scores
    heads: bool = False
    #: whether N and N+ are sufficient; if so, groups of all sizes are processed together
    counts: bool = False
    n_keys: int = 1  #: how many different orders of tied candidates are used
    #: whether by= is supported for a Dask DataFrame if each group fits in memory
    by_groups: bool = False
    sums: bool = False  #: whether workers sum the items of a Dask DataFrame
    short: Short = ""  #: the columns of the short table, or "" for all columns
    quantity: str = ""  #: what the result measures, unless the options say so
    #: whether the result contains rows of the data with all columns and attrs
    own_rows: bool = False
    #: the dimensions of the result for a Dataset after those of the groups; a mapping contains them
    #: for a form or keyword. "row" keeps the rows, "data" returns rows of the data, "cut" numbers
    #: the rows, and "" leaves Datasets to the function
    layout: str | Mapping[str, str] = ""
    pooled: bool = False  #: whether all groups together make one result
    dask: str = IN_MEMORY  #: why Dask DataFrames are not supported, and what to do instead

    def __call__(self, function: Function) -> Function:
        """Attach the capabilities, and apply the session's options to the function."""
        of_dataset = None
        if self.layout:
            of_dataset = partial(_answer_dataset, function, self)
        asked = with_options(
            function,
            self.short,
            quantity=self.quantity,
            noted=not self.own_rows,
            of_dataset=of_dataset,
        )
        asked.capabilities = self  # type: ignore[attr-defined]
        return asked

    def layout_of(self, options: Mapping[str, Any], form: str) -> tuple[str, ...]:
        """Return the dimensions of the result for a Dataset, for these keywords and this form."""
        blocks = self.lists and str(options.get("ties")) == "blocks" and options.get("n") is None
        if blocks or self.any_rows:
            return ("row",)
        if isinstance(self.layout, str):
            return tuple(self.layout.split())
        special = (x for x in self.layout if x == form or options.get(x) is not None)
        return tuple(self.layout[next(special, "")].split())


def _answer_dataset(
    function: Callable[..., Any], able: Capabilities, *args: Any, **keywords: Any
) -> Any:
    """Answer a Dataset at its door, which is loaded when it is needed."""
    from rankeval_pd.doors.datasets import answer_dataset

    return answer_dataset(function, able, args, keywords)


def can(function: Any, **differences: Any) -> Capabilities:
    """Return the capabilities of a function, with changes for one call."""
    capabilities: Capabilities = function.capabilities
    return replace(capabilities, **differences)


def declared(accessor: type) -> dict[str, tuple[Callable[..., Any], Capabilities]]:
    """Return the functions of an accessor in order, with their capabilities."""
    questions = {
        name: inspect.unwrap(x, stop=lambda function: hasattr(function, "capabilities"))
        for name, x in vars(accessor).items()
        if callable(x)
    }
    return {name: (x, can(x)) for name, x in questions.items() if hasattr(x, "capabilities")}


# ------------------------- Roles of a function in the signature and the docstring


def with_roles(function: Function) -> Function:
    """List the keywords of ``**roles`` for completion and ``help``.

    Type checkers still use ``Unpack[...]``.
    """
    return with_roles_and({})(function)


def with_roles_but(*idle: str, **said: str) -> Callable[[Function], Function]:
    """List roles as in :func:`with_roles`, and replace some descriptions."""
    return with_roles_and({}, {**dict.fromkeys(idle, NO_EFFECT), **said})


def with_roles_and(
    others: Mapping[str, Any], said: Mapping[str, str] | None = None
) -> Callable[[Function], Function]:
    """Add roles and related keywords, with their defaults, to signature and docstring.

    The function's own defaults and descriptions take precedence.
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
        defaults = dict(others)
        for role in MEANINGS:
            defaults.setdefault(role, default_of(role, items="metric" in kinds))
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
        function.__doc__ = _with_meanings(
            function.__doc__, {role: meanings[role] for role in roles}
        )
        return function

    return spelled_out


def _with_meanings(text: str | None, roles: Mapping[str, str]) -> str | None:
    """Replace ``**roles`` in a docstring with the names and meanings of the roles."""
    if text is None:
        return None
    # if roles share an entry with another parameter, give the roles their own entry
    text = re.sub(
        r"(?m)^(    \S.*?), \*\*roles\n((?:        .*\n)+)",
        r"\1\n\2    **roles\n        Column roles.\n",
        text,
        count=1,
    )
    meanings = "\n".join(_line(role, meaning) for role, meaning in roles.items())
    found = re.search(r"(?m)^    \*\*roles[^\n]*\n((?:        .*\n|\n(?=        ))*)", text)
    if found is None:
        return text
    entry = f"    {', '.join(roles)} : roles, optional\n{found[1].rstrip()}\n\n{meanings}\n"
    return text[: found.start()] + entry + text[found.end() :]


@cache  # many docstrings contain the same roles
def _line(role: str, meaning: str) -> str:
    return textwrap.fill(
        f"* ``{role}``: {meaning}", width=100, initial_indent=" " * 8, subsequent_indent=" " * 10
    )


# ------------------------------------------- Read the data once for several functions in one call

Reading = tuple[Any, Roles, bool, Any]  # the data, the roles, whether scores were read, the form
READINGS: ContextVar[list[Reading] | None] = ContextVar("READINGS", default=None)


@contextmanager
def one_reading() -> Iterator[None]:
    """Cache the data for all functions called in the block."""
    before = READINGS.set([])
    try:
        yield
    finally:
        READINGS.reset(before)


def earlier_reading(readings: list[Reading], data: Any, roles: Roles, *, scored: bool) -> Any:
    """Return the form of the same data that was read with the same roles, or None."""
    for earlier, their_roles, with_scores, form in readings:
        # data with scores can also be used without scores, unless candidates are dropped
        enough = with_scores == scored or (with_scores and roles.missing != "drop")
        if earlier is not data or not enough:
            continue
        both = zip(vars(their_roles).values(), vars(roles).values(), strict=True)
        if all(
            a is b or (isinstance(a, str | int) and type(a) is type(b) and a == b) for a, b in both
        ):
            return form
    return None
