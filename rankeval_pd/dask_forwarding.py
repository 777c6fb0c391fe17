"""Makes methods of a Dask DataFrame's accessor: a head, or groups, are collected and asked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms.answers import check_not_above
from rankeval_pd.forms.dask_frames import ROWS, groups_of
from rankeval_pd.forms.dask_groups import ask_groups, together
from rankeval_pd.forms.dask_outlines import curves
from rankeval_pd.forms.heads import lower_of
from rankeval_pd.forms.measure_pairs import only_pair
from rankeval_pd.forms.n import check_n
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forwarding import without_parameter
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.adjust import adjust as adjusted


def of_head(question: Callable[..., Any], *, counts: bool = False) -> Any:
    """Return a method that collects the head which the question needs, and asks it.

    ``counts``: the question is about N and N+ alone.
    """
    signature = inspect.signature(question)
    data, *others = signature.parameters.values()
    n_max = inspect.Parameter("n_max", inspect.Parameter.KEYWORD_ONLY, default=None)

    @functools.wraps(question)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        longest = keywords.pop("n_max", None)
        keywords = {**self._roles, **keywords}
        given = signature.bind(None, *args, **keywords).arguments
        given = {k: x for k, x in given.items() if k not in known and k != data.name}
        roles = {name: x for name, x in keywords.items() if name in known}
        if roles.get("by") is not None:
            return _of_groups(self._data, question, given, roles)
        if "a" in given and "b" in given:
            roles = only_pair(self._data._meta, given["a"], given["b"], roles)
        whole = self(**roles)
        keys = given.get("n_keys", signature.parameters["n_keys"].default) if ordered else 1
        head = whole._counts() if counts else whole._up_to(given.get("n"), longest, keys)
        return question(head._data, **given, **head._roles)

    ordered = "n_keys" in signature.parameters
    known = RankingRoles.__annotations__ | {"ties": None}
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    asked.__signature__ = signature.replace(parameters=[itself, *others, n_max])  # type: ignore[attr-defined]
    asked.__doc__ = without_parameter(question.__doc__, data.name)
    return asked


def by_groups(question: Callable[..., Any]) -> Any:
    """Return a method that is asked of groups alone."""
    whole = of_head(question)

    @functools.wraps(whole)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        if {**self._roles, **keywords}.get("by") is None:
            raise ValueError(
                f"{question.__name__} takes all candidates of a ranking together, which no machine"
                " holds: it can be asked of groups, by=..., each of which a worker holds."
            )
        return whole(self, *args, **keywords)

    asked.__signature__ = whole.__signature__  # type: ignore[attr-defined]
    return asked


def of_turns(
    question: Callable[..., Any], of_all: Callable[..., pd.DataFrame], own: Mapping[str, Any]
) -> Any:
    """Return a method that is asked of groups, of a head, or of all ranks where a curve turns.

    ``of_all`` takes what is known of these and the options; ``own`` are roles that differ from what
    is otherwise taken.
    """
    whole = of_head(question)
    signature = inspect.signature(question)
    known = RankingRoles.__annotations__ | {"ties": None}

    @functools.wraps(whole)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        longest = keywords.pop("n_max", None)
        given = signature.bind(None, *args, **{**self._roles, **keywords}).arguments
        roles = {**own, **{k: x for k, x in given.items() if k in known}}
        listed = given.get("n") is not None or longest is not None
        if listed or roles.get("by") is not None:
            return whole(self, *args, n_max=longest, **keywords)
        chosen = Roles.of(roles)
        options = {k: x for k, x in given.items() if k not in known and x is not None}
        for name in sorted({"average", "fractions"} & set(options)):
            raise ValueError(f"{name}={options[name]!r} {_REFUSED[name]}")
        return of_all(curves(self._data, chosen), ties=chosen.ties, **options)

    asked.__signature__ = whole.__signature__  # type: ignore[attr-defined]
    asked.__doc__ = f"{whole.__doc__ or ''}{_TURNS}"
    return asked


_REFUSED = {
    "average": "combines groups, and there are none. Name the column that holds them, by=...",
    "fractions": (
        "asks for lists of any length, and no machine holds the ranking. The lift of lists that are"
        " shares of it is a column of ddf.rankeval.nbest_precision([0.01])."
    ),
}
_TURNS = """

Of a whole Dask DataFrame there are the rows of lists at which the curve turns: those that end
before a true positive, or a block of equal scores that has some, and with it. Between them the
true positives are as many, or on a straight line. Two passes over the data, three with
ties="shared"; nothing is sorted but the true positives, which a worker holds.
"""


def _of_groups(
    ddf: Any, question: Callable[..., Any], given: dict[str, Any], roles: dict[str, Any]
) -> pd.DataFrame:
    """Ask a question of the groups of ``by``, each in one partition."""
    chosen = Roles.of(roles)
    adjust = given.get("adjust")
    over_all = adjust in ADJUSTMENTS and given.get("adjust_over", "all") == "all"
    for option in ("combine", "average"):
        if given.get(option):
            raise ValueError(
                f"{option}={given[option]!r} puts all groups together, and they are spread over the"
                " workers. Ask for the groups, and average their rows."
            )
    if adjust == "max-t" and given.get("adjust_over", "all") == "all" and "adjust_over" in (
        inspect.signature(question).parameters
    ):  # fmt: skip
        raise ValueError(
            "adjust='max-t' takes the smallest p-values of all groups together, and they are spread"
            " over the workers. Give adjust_over='group', or adjust='holm'."
        )
    meta, measures, frames, named, by = groups_of(ddf, chosen)
    frames, each, largest = together(frames, named, by, meta)
    sizes = check_n(given.get("n"))
    decided = {"measures": measures, "lower_is_better": lower_of(chosen, measures), "exclude": None}
    label = {"label": None} if roles.get("label") is ROWS else {}
    plain = {**roles, **decided, **label}
    if isinstance(sizes, np.ndarray):
        check_not_above(sizes, largest)

    def ask(frame: pd.DataFrame, here: int) -> pd.DataFrame | None:
        options = dict(given)
        if isinstance(sizes, np.ndarray):
            options["n"] = sizes[sizes <= here]
            if not options["n"].size:
                return None
        if over_all:
            options["adjust"] = None
        table: pd.DataFrame = question(frame, **options, **plain)
        return table

    table = ask_groups(frames, ask, by, each, largest)
    if over_all:
        table["p_adjusted"] = adjusted(table["p_value"].to_numpy(), str(adjust))
        if "significant" in table:
            table["significant"] = table["p_adjusted"] <= given.get("alpha", 0.05)
        table.attrs["adjust"] = adjust
    return table
