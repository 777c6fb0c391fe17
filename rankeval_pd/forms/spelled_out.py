"""The roles of a function, spelled out in its signature and its docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from rankeval_pd.forms.roles import MEANINGS, AnyRoles, ItemRoles, RankingRoles, default_of

Function = TypeVar("Function", bound=Callable[..., Any])

_GROUPS: dict[str, Any] = {
    "RankingRoles": RankingRoles, "ItemRoles": ItemRoles, "AnyRoles": AnyRoles,
}  # fmt: skip


def with_roles(function: Function) -> Function:
    """Spell out the roles that ``**roles`` stands for: completion and ``help`` then show them.

    Type checkers read them from ``Unpack[...]``, which this leaves as it is.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    group = re.search(r"Unpack\[(\w+)\]", str(parameters[-1].annotation))
    if group is None:
        raise TypeError(f"{function.__name__} has no **roles: Unpack[...]")
    name = group[1]
    known = {p.name for p in parameters}
    kinds = _GROUPS[name].__annotations__
    roles = {
        role: getattr(kinds[role], "__forward_arg__", kinds[role])
        for role in MEANINGS
        if role in kinds and role not in known
    }
    spelled = [
        inspect.Parameter(
            role,
            inspect.Parameter.KEYWORD_ONLY,
            default=default_of(role, name),
            annotation=annotation,
        )
        for role, annotation in roles.items()
    ]
    function.__signature__ = signature.replace(parameters=[*parameters[:-1], *spelled])  # type: ignore[attr-defined]
    function.__doc__ = _described(function.__doc__, list(roles))
    return function


def _described(text: str | None, roles: list[str]) -> str | None:
    """Return a docstring with the names and meanings of the roles in the place of ``**roles``."""
    if text is None:
        return None
    meanings = "\n".join(
        textwrap.fill(
            f"* ``{role}``: {MEANINGS[role]}",
            width=100,
            initial_indent=" " * 8,
            subsequent_indent=" " * 10,
        )
        for role in roles
    )
    # in a list with parameters that are explained elsewhere: the roles get an entry of their own
    text = re.sub(
        r"(?m)^(    \S.*?), \*\*roles\n((?:        .*\n)+)",
        r"\1\n\2    **roles\n        Which column is what.\n",
        text,
        count=1,
    )
    found = re.search(r"(?m)^    \*\*roles[^\n]*\n((?:        .*\n|\n(?=        ))*)", text)
    if found is None:
        return text
    entry = f"    {', '.join(roles)} : roles, optional\n{found[1].rstrip()}\n\n{meanings}\n"
    return text[: found.start()] + entry + text[found.end() :]
