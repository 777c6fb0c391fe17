"""What is declared above a question: its capabilities, and its roles, spelled out."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from rankeval_pd.forms.roles.roles import MEANINGS, default_of

Function = TypeVar("Function", bound=Callable[..., Any])

NO_EFFECT = "no effect here."

# -------------------------------------------------------------------------------------------------
# The capabilities of a question: what it takes. Nothing else says so a second time.

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
    clusters: bool = False  #: it has one for candidates that belong together: groups=
    #: it has one for a head; a Dask DataFrame collects the head, of N and N+ alone without scores
    heads: bool = False
    counts: bool = False  #: it needs N and N+ alone: groups of any size are asked together
    n_keys: int = 1  #: how many orders of equal scores it takes
    by_groups: bool = False  #: a Dask DataFrame answers for groups that a worker holds each: by=
    sums: bool = False  #: workers add up the items of a Dask DataFrame
    dask: str = IN_MEMORY  #: else, why a Dask DataFrame has no answer, and what to do

    def __call__(self, function: Function) -> Function:
        """Give the capabilities to the function."""
        function.capabilities = self  # type: ignore[attr-defined]
        return function


def can(function: Any, **differences: Any) -> Capabilities:
    """Return the capabilities of a function; ``differences`` are those of one call."""
    capabilities: Capabilities = function.capabilities
    return replace(capabilities, **differences)


def declared(accessor: type) -> dict[str, tuple[Callable[..., Any], Capabilities]]:
    """Return the questions of an accessor's class body and their capabilities, in its order."""
    questions = {name: inspect.unwrap(x) for name, x in vars(accessor).items() if callable(x)}
    return {name: (x, can(x)) for name, x in questions.items() if hasattr(x, "capabilities")}


# -------------------------------------------------------------------------------------------------
# The roles of a function, spelled out in its signature and its docstring.


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
