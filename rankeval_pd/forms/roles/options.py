"""Options of a session, and the short tables that methods return by default."""

from __future__ import annotations

import functools
import inspect
import json
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import argument_check, check_flag, check_share, checked_call
from rankeval_pd.forms.roles.roles import LONG
from rankeval_pd.progress import BEGUN

Function = TypeVar("Function", bound=Callable[..., Any])
Table = TypeVar("Table", pd.DataFrame, xr.Dataset)

_FILLED = ("alpha", "level", "progress")  # options that are defaults of keywords
_settings: dict[str, Any] = {}  # per process: notebooks run each cell in its own context
_whole: ContextVar[bool] = ContextVar("whole", default=False)
_details: ContextVar[bool] = ContextVar("details", default=False)

#: columns added by a keyword, after the short table's own
_ADDED = ("share", "relation", "tp_sd", "n_groups", "n_queries", "n_missing")
_IF_TRUE = ("tie_decides",)  # flags shown if true in some row
_SHORT_LIST = 20  # names that fit into attrs


class set_options:
    """Set options for the session, or for a block.

    Parameters
    ----------
    details : bool, optional
        True makes every method return all columns, as ``details=True`` does for one call. The
        default is a short table that prints on one screen.
    progress : bool, optional
        Default of ``progress=``: whether to show progress bars.
    alpha : float, optional
        Default of ``alpha=``, the level of significance.
    level : float, optional
        Default of ``level=``, the confidence level of intervals.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> with rankeval_pd.set_options(details=True):
    ...     len(df.rankeval.nbest_precision(50).columns)
    12
    >>> len(df.rankeval.nbest_precision(50).columns)
    8
    """

    @checked_call
    def __init__(
        self,
        *,
        details: bool | None = None,
        progress: bool | None = None,
        alpha: float | None = None,
        level: float | None = None,
    ) -> None:
        given = {"details": details, "progress": progress, "alpha": alpha, "level": level}
        given = {name: value for name, value in given.items() if value is not None}
        for name, value in given.items():
            if name in ("alpha", "level"):
                check_share(name, value)
            else:
                check_flag(name, value)
        self._before = dict(_settings)
        _settings.update(given)

    def __enter__(self) -> None:
        """Keep the options until the end of the block."""

    def __exit__(self, *_: object) -> None:
        _settings.clear()
        _settings.update(self._before)


@contextmanager
def whole_tables() -> Iterator[None]:
    """Make calls within the block return all columns, with their keywords unchanged."""
    before = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(before)


def details_wanted() -> bool:
    """Return whether all columns are wanted; else expensive ones can be skipped."""
    return _details.get()


Short = str | Mapping[str, str] | Callable[[pd.DataFrame], pd.DataFrame]


def with_options(function: Function, short: Short = "", *, noted: bool = True) -> Function:
    """Make a public function follow the options and return its short table.

    Public functions that it calls return all columns, with their keywords unchanged.

    Parameters
    ----------
    function : callable
    short : str, mapping or callable
        The columns of the short table in order; columns that a call lacks are skipped. A mapping
        has them by the deciding keyword, and under "" for calls without it. A callable shortens
        the whole table.
    noted : bool
        Whether ``attrs`` record how the table was made.
    """
    parameters = inspect.signature(function).parameters
    # a plot needs no argument beside a finished table
    check = argument_check(function, 1 if hasattr(function, "draws_tables") else None)
    filled = [x for x in _FILLED if x in parameters and parameters[x].kind is _KEYWORD]

    @functools.wraps(function)
    def asked(*args: Any, details: bool | None = None, **keywords: Any) -> Any:
        check_flag("details", details, none=True)
        check(args, keywords)
        if any(keywords.get(role) is not None for role in LONG):
            from rankeval_pd.forms.roles.long_frames import widened

            first = args[0] if args else keywords.pop("data")
            data, keywords = widened(first, keywords)
            args = (data, *args[1:])
        if _whole.get():
            return function(*args, **keywords)
        defaults = {name: _settings[name] for name in filled if name in _settings}
        before = _details.set(bool(_settings.get("details") if details is None else details))
        begun = BEGUN.set(time.monotonic())
        try:
            with whole_tables():
                result = function(*args, **{**defaults, **keywords})
        finally:
            BEGUN.reset(begun)
            _details.reset(before)
        if not (noted and isinstance(result, pd.DataFrame | xr.Dataset)):
            return result
        told = {**keywords, "details": details}
        data = args[0] if args else None
        return as_asked(result, function.__name__, short, told, data)  # type: ignore[type-var]

    return asked  # type: ignore[return-value]


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def as_asked(
    result: Table, method: str, short: Short, keywords: Mapping[str, Any], data: Any
) -> Table:
    """Shorten a whole table as keywords and options ask, and record how it was made."""
    details = keywords.get("details")
    everything = _settings.get("details", False) if details is None else details
    if isinstance(result, pd.DataFrame) and callable(short):
        result = result if everything else short(result)
    elif isinstance(result, pd.DataFrame) and short and not (everything or callable(short)):
        by_keyword = {"": short} if isinstance(short, str) else short
        deciding = next((x for x in by_keyword if _is_given(keywords.get(x))), "")
        shortened = _shortened(result, by_keyword[deciding].split())
        cut = next((x for x in ("tied", "cuts_tie") if x in result and x not in shortened), None)
        if cut is not None and (result[cut] > 0).any():
            shortened.attrs["n_ending_in_tie"] = int((result[cut] > 0).sum())
        result = shortened
    result.attrs = _noted(result.attrs, method, keywords)
    if isinstance(result, xr.Dataset):  # Zarr and netCDF 3 reorder them
        result.attrs["columns"] = json.dumps([*result.variables], default=str)
    return with_order(result, data, keywords)


def _is_given(value: Any) -> bool:
    """Return whether a keyword is given; 0 may be a name."""
    return value is not None and value is not False


def _shortened(table: pd.DataFrame, short: Sequence[str]) -> pd.DataFrame:
    """Return the columns of the groups, of the short table in its order, and of keywords."""
    if not short:
        return table
    columns = list(table.columns)
    first = min((columns.index(name) for name in short if name in columns), default=0)
    added = (*_ADDED, *(name for name in _IF_TRUE if name in table and table[name].any()))
    shown = [name for name in (*short, *added) if name in columns[first:]]
    return table[[*columns[:first], *dict.fromkeys(shown)]]


def with_order(result: Table, data: Any, keywords: Mapping[str, Any]) -> Table:
    """Record all measures of the data, so measures keep their colors in a table of some."""
    data = getattr(data, "_meta", data)  # of a Dask DataFrame
    result.attrs.pop("order", None)
    some = "measure_a" in result or ("measure" in result and keywords.get("measures") is not None)
    if some and isinstance(data, pd.DataFrame | xr.Dataset):
        from rankeval_pd.forms.roles.columns import measures_of

        order = plain(measures_of(data, keywords))
        result.attrs = {**({} if order is None else {"order": order}), **result.attrs}
    return result


_ROLES = (
    "gold", "agreement", "by", "key", "groups", "strata", "seeds", "missing", "ties", "unjudged",
    "undefined", "metric", "baseline",
)  # fmt: skip


def _noted(
    attrs: Mapping[Any, Any], method: str, keywords: Mapping[str, Any]
) -> dict[Hashable, Any]:
    """Return how a table was made, in values that Parquet and netCDF can hold."""
    roles = {name: keywords[name] for name in _ROLES if name in keywords}
    noted = {**roles, **attrs, "method": method, "version": sys.modules["rankeval_pd"].__version__}
    as_notes = {str(name): plain(value) for name, value in noted.items()}
    return {name: value for name, value in as_notes.items() if value is not None}


def plain(value: Any) -> Any:
    """Return a number or text, a short list as JSON, None for anything else.

    netCDF 3 cannot store lists of texts, nor netCDF 4 a list of one text.
    """
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple) and 0 < len(value) <= _SHORT_LIST:
        return json.dumps(value, default=str)
    return None
