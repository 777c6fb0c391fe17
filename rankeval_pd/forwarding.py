"""Turn functions into methods that fill in the data and roles."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import argument_check
from rankeval_pd.forms.lazy.frame_heads import ROWS, ask_groups, groups_of, whole_groups
from rankeval_pd.forms.lazy.heads import lower_of
from rankeval_pd.forms.lazy.outlines import curves
from rankeval_pd.forms.out.tables import family_of
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import only_pair
from rankeval_pd.forms.rankings.values import check_n, check_not_above
from rankeval_pd.forms.roles.declarations import Capabilities, can
from rankeval_pd.forms.roles.options import as_asked, session_defaults, with_order
from rankeval_pd.forms.roles.roles import RankingRoles, Roles
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, interval_levels
from rankeval_pd.stats.significance.adjust import adjust as adjusted

# -------------------------------------------------------------------------------------------------
# Turn a function into a method with data and roles filled in. The method keeps the signature,
# types and docstring.

Held = TypeVar("Held", pd.DataFrame, xr.Dataset)
Held_co = TypeVar("Held_co", pd.DataFrame, xr.Dataset, covariant=True)
P = ParamSpec("P")
Drawn = TypeVar("Drawn")
Drawn_co = TypeVar("Drawn_co", covariant=True)


class Holder(Protocol[Held_co]):
    """Store data and the roles of their columns."""

    @property
    def _data(self) -> Held_co: ...

    @property
    def _roles(self) -> Mapping[str, Any]: ...


class Question(Protocol[P]):
    """Describe a function that returns a result of the data's type."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Data:
        """Return the answer."""
        ...


class Method(Generic[P]):
    """Describe the result of :func:`method` to type checkers."""

    def __get__(self, accessor: Holder[Held], owner: Any = None) -> Callable[P, Held]:
        """Return the function with the data of the accessor filled in."""
        raise TypeError("for type checkers only")


class FrameMethod(Generic[P]):
    """Describe the result of :func:`frame_method` to type checkers."""

    def __get__(self, accessor: Holder[Any], owner: Any = None) -> Callable[P, pd.DataFrame]:
        """Return the function with the data of the accessor filled in."""
        raise TypeError("for type checkers only")


class Picture(Protocol[P, Drawn_co]):
    """Describe a function that draws data."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Drawn_co:
        """Return the axes."""
        ...


class PlotMethod(Generic[P, Drawn]):
    """Describe the result of :func:`plot_method` to type checkers."""

    def __get__(self, plots: Holder[Held], owner: Any = None) -> Callable[P, Drawn]:
        """Return the function with the data of the plots filled in."""
        raise TypeError("for type checkers only")


def method(question: Question[P]) -> Method[P]:
    """Turn the function into an accessor method."""
    return cast(Method[P], _forwarding(question))


def frame_method(
    question: Callable[Concatenate[pd.DataFrame, P], pd.DataFrame],
) -> FrameMethod[P]:
    """Turn a function for DataFrames into a method. The function rejects Datasets."""
    return cast(FrameMethod[P], _forwarding(question))


def plot_method(picture: Picture[P, Drawn]) -> PlotMethod[P, Drawn]:
    """Turn a drawing function into a method of an accessor's plots."""
    return cast(PlotMethod[P, Drawn], _forwarding(picture))


def _forwarding(function: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)
    data, *others = signature.parameters.values()
    takes = {p.name for p in others}

    def forwarded(self: Holder[Any], *args: Any, **kwargs: Any) -> Any:
        held = self._roles
        if "metric" not in takes and "gold" not in takes:  # the function accepts only some roles
            held = {name: value for name, value in held.items() if name in takes}
        return function(self._data, *args, **{**held, **kwargs})

    forwarded.__name__ = function.__name__
    forwarded.__qualname__ = function.__qualname__
    forwarded.__module__ = function.__module__
    forwarded.__doc__ = without_parameter(function.__doc__, data.name)
    forwarded.__annotations__ = {
        name: given for name, given in function.__annotations__.items() if name != data.name
    }
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    forwarded.__signature__ = signature.replace(parameters=[itself, *others])  # type: ignore[attr-defined]
    forwarded.__wrapped__ = function  # type: ignore[attr-defined]
    return forwarded


def without_parameter(text: str | None, name: str) -> str | None:
    """Remove one parameter from a NumPy docstring."""
    if text is None:
        return None
    text = re.sub(rf"(?m)^(    ){name}, (?=\S)", r"\1", text, count=1)
    return re.sub(rf"(?m)^    {name}( :.*)?\n(?:        .*\n|\n(?=        ))*", "", text, count=1)


# -------------------------------------------------------------------------------------------------
# Create the methods of the Dask accessor, which first collect a head or groups.


def dask_method(question: Callable[..., Any], able: Capabilities) -> Any:
    """Return the Dask method that the capabilities permit, or None."""
    if able.heads:
        return of_head(question)
    if able.by_groups:
        return by_groups(question)
    return method(question) if able.sums else None


def of_head(question: Callable[..., Any]) -> Any:
    """Return a method that collects the head, or only N and N+."""
    signature = inspect.signature(question)
    data, *others = signature.parameters.values()
    n_max = inspect.Parameter("n_max", inspect.Parameter.KEYWORD_ONLY, default=None)
    check = argument_check(question, closed=True)

    @functools.wraps(question)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        longest = keywords.pop("n_max", None)
        keywords = {**self._roles, **keywords}
        check((None, *args), keywords)
        given = signature.bind(None, *args, **keywords).arguments
        given = {k: x for k, x in given.items() if k not in known and k != data.name}
        roles = {name: x for name, x in keywords.items() if name in known}
        if roles.get("by") is not None:
            return _of_groups(self._data, question, given, roles)
        if "a" in given and "b" in given:
            roles = only_pair(self._data._meta, given["a"], given["b"], roles)
        whole = self(**roles)
        keys = given.get("n_keys", signature.parameters["n_keys"].default) if ordered else 1
        sizes = given.get("n")
        pooled = "pool" in signature.parameters and whole._roles.get("missing") == "absent"
        head = whole._up_to(sizes, longest, keys) if scores or pooled else whole._counts()
        return with_order(question(head._data, **given, **head._roles), self._data, keywords)

    ordered, scores = "n_keys" in signature.parameters, can(question).scores
    known = RankingRoles.__annotations__ | {"ties": None}
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    asked.__signature__ = signature.replace(parameters=[itself, *others, n_max])  # type: ignore[attr-defined]
    asked.__doc__ = without_parameter(question.__doc__, data.name)
    return asked


def by_groups(question: Callable[..., Any]) -> Any:
    """Return a method that requires groups."""
    whole = of_head(question)

    @functools.wraps(whole)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        if {**self._roles, **keywords}.get("by") is None:
            raise ValueError(
                f"{question.__name__} requires all candidates of a ranking in memory. Pass by=..."
                " for groups that each fit on one worker."
            )
        return whole(self, *args, **keywords)

    asked.__signature__ = whole.__signature__  # type: ignore[attr-defined]
    return asked


def of_turns(
    question: Callable[..., Any], of_all: Callable[..., pd.DataFrame], own: Mapping[str, Any]
) -> Any:
    """Return a method that works on groups, a head, or the turning points of a curve.

    ``of_all`` takes the turning points of the curve and the options. ``own`` contains the method's
    default roles.
    """
    whole = of_head(question)
    signature, check = inspect.signature(question), argument_check(question, closed=True)
    known = RankingRoles.__annotations__ | {"ties": None}

    @functools.wraps(whole)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        longest = keywords.pop("n_max", None)
        check((None, *args), {**self._roles, **keywords})
        given = signature.bind(None, *args, **{**self._roles, **keywords}).arguments
        roles = {**own, **{k: x for k, x in given.items() if k in known}}
        listed = given.get("n") is not None or longest is not None
        if given.get("n") is not None and not can(question).heads and roles.get("by") is None:
            raise ValueError(f"n={given['n']!r} {_REFUSED['n']}")
        if listed or roles.get("by") is not None:
            return whole(self, *args, n_max=longest, **keywords)
        chosen = Roles.of(roles)
        options = {k: x for k, x in given.items() if k not in known and x is not None}
        for name in sorted({"average", "interval"} & set(options)):
            raise ValueError(f"{name}={options[name]!r} {_REFUSED[name]}")
        table = of_all(curves(self._data, chosen), ties=chosen.ties, **options)
        told = {**self._roles, **keywords}
        return as_asked(table, question.__name__, can(question).short, told, self._data)

    asked.__signature__ = whole.__signature__  # type: ignore[attr-defined]
    asked.__doc__ = f"{whole.__doc__ or ''}{_TURNS}"
    return asked


_REFUSED = {
    "average": "combines groups, but there are none. Pass the group column with by=...",
    "n": (
        "needs the ranking in memory. ddf.rankeval.nbest_precision([0.01]) returns the lift of"
        " lists that contain a given share of the candidates."
    ),
    "interval": (
        "needs the ranking in memory. ddf.rankeval.head(n_max).nbest_precision(n) returns the"
        " intervals for recall and lift at each n."
    ),
}
_TURNS = """

For a whole Dask DataFrame, the table contains only the lists at which the slope of the curve
changes. These lists end just before or just after a true positive, or a block of equal scores with
true positives. Between these lists, the curve is a straight line. The method makes two passes over
the data, or three passes with ties="shared". Only true positives are sorted, and must fit in the
memory of one worker.
"""


def _of_groups(
    ddf: Any, question: Callable[..., Any], given: dict[str, Any], roles: dict[str, Any]
) -> pd.DataFrame:
    """Apply a function to the groups in ``by``, with each group in one partition."""
    chosen = Roles.of(roles)
    given = {**session_defaults(question), **given}  # the workers do not know the options
    usual = inspect.signature(question).parameters.get("adjust_over")
    adjust, over = given.get("adjust"), given.get("adjust_over", usual and usual.default)
    # a family is one group or all groups, but ranks are always compared within a group
    across = adjust is not None and usual is not None and usual.default == "all" and over != "group"
    over_all = across and over == "all" and adjust in ADJUSTMENTS and _has_p_values(question)
    for option in ("combine", "average"):
        if given.get(option):
            raise ValueError(
                f"{option}={given[option]!r} requires all groups on one worker. Omit"
                f" {option}, and average the group rows."
            )
    if across and not over_all:
        raise ValueError(
            f"adjust={adjust!r}, adjust_over={over!r} require all groups on one worker. Pass"
            " adjust_over='group', or adjust='holm' in compare."
        )
    meta, measures, frames, named, by = groups_of(ddf, chosen)
    frames, each, largest = whole_groups(frames, named, by, meta)
    sizes = check_n(given.get("n"))
    decided = {"measures": measures, "lower_is_better": lower_of(chosen, measures), "exclude": None}
    label = {"label": None} if roles.get("label") is ROWS else {}
    plain = {**roles, **decided, **label}
    if isinstance(sizes, np.ndarray):
        check_not_above(sizes, largest)

    def ask_at(level: float | None) -> pd.DataFrame:
        def ask(frame: pd.DataFrame, here: int) -> pd.DataFrame | None:
            options = dict(given)
            if isinstance(sizes, np.ndarray):
                options["n"] = sizes[sizes <= here]
                if not options["n"].size:
                    return None
            if over_all:
                options["adjust"] = None
            if level is not None:
                options["level"] = level
            table: pd.DataFrame = question(frame, **options, **{**plain, "details": True})
            return table

        return ask_groups(frames, ask, by, each, largest)

    table = ask_at(None)
    table = _as_family(table, given, ask_at) if over_all else table
    return as_asked(table, question.__name__, can(question).short, {**given, **roles}, ddf)


def _as_family(
    table: pd.DataFrame, given: dict[str, Any], ask_at: Callable[[float], pd.DataFrame]
) -> pd.DataFrame:
    """Adjust the p-values over all groups, and compute intervals in a second pass."""
    adjust, level = str(given["adjust"]), given.get("level", 0.95)
    p = table["p_value"].to_numpy()
    held = adjusted(p, adjust)
    together = interval_levels(p, adjust, level)
    columns = list(table.columns)
    place = columns.index("p_mid" if "p_mid" in columns else "p_value") + 1
    alone = {f"{name}_alone": table[name] for name in ("ci_low", "ci_high") if name in table}
    if together.size and alone:
        wider = ask_at(float(together.max()))
        table = table.assign(ci_low=wider["ci_low"], ci_high=wider["ci_high"])
    table.insert(place, "p_adjusted", held)
    alpha = given.get("alpha", 0.05 if "significant" in table else round(1.0 - level, 12))
    sure = held <= alpha
    if "tie_decides" in table:
        differs = np.zeros(len(table), dtype=bool)
        for end in ("low", "high"):
            at_end = table[f"p_tie_{end}"] = adjusted(table[f"p_tie_{end}"].to_numpy(), adjust)
            towards = np.sign(table[f"tie_{end}"]) * (at_end <= alpha)
            differs |= (towards != np.sign(table["difference"]) * sure).to_numpy()
        table["tie_decides"] = table["cuts_tie"] & differs
    if "significant" in table:
        table["significant"] = sure
    result = table.assign(better=table["leaning"].where(sure), **alone)
    first = columns.index("measure_a")
    pairs, groups = (
        len(table[x].drop_duplicates()) for x in (columns[first:][:2], columns[:first])
    )
    one = given.get("a") if given.get("b") is None else None
    sizes = table["n"].nunique() if given.get("n") is not None else int("n" not in table)
    result.attrs |= {
        "adjust": adjust, "adjust_over": "all", "level": level,
        "family": family_of(pairs, one, sizes=sizes, groups=groups),
    }  # fmt: skip
    return result


def _has_p_values(question: Callable[..., Any]) -> bool:
    """Return whether each row contains one test instead of a series of tests."""
    return question.__name__ != "significant_ranges"
