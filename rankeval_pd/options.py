"""Define session options, and the short tables that methods return by default."""

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
from rankeval_pd.progress import BEGUN, SHOWN
from rankeval_pd.roles import LONG

Function = TypeVar("Function", bound=Callable[..., Any])
Table = TypeVar("Table", pd.DataFrame, xr.Dataset)

_FILLED = ("alpha", "level")  # options that set defaults for keywords
# options of the session are global, because notebooks run each cell in a new context
_session: dict[set_options, None] = {}
#: the options of open blocks, and whether each is a block or a call inside a block
_blocks: ContextVar[tuple[tuple[set_options, bool], ...]] = ContextVar("blocks", default=())
_whole: ContextVar[bool] = ContextVar("whole", default=False)
_details: ContextVar[bool] = ContextVar("details", default=False)

#: columns that a keyword adds to the short table
_ADDED = ("share", "relation", "tp_sd", "n_groups", "n_queries", "n_missing")
_IF_TRUE = ("tie_decides",)  # flags that are shown only if at least one value is True
_SHORT_LIST = 20  # largest number of names to store in attrs


class set_options:
    """Set options for a session or a ``with`` block.

    A block applies only to its own thread or asyncio task.

    Parameters
    ----------
    details : bool, optional
        Whether methods return all columns, as in a call with ``details=True``. By default, methods
        return a short table that fits on one screen.
    progress : bool, optional
        Default for ``progress=``, which controls progress bars.
    alpha : float, optional
        Default for ``alpha=``, the significance level.
    level : float, optional
        Default for ``level=``, the confidence level of intervals.

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
        self._given = given
        if blocks := _blocks.get():
            _blocks.set((*blocks, (self, False)))
        else:
            _session[self] = None

    def __enter__(self) -> None:
        """Use the options until the end of the block, only in this thread or task."""
        _session.pop(self, None)
        others = [x for x in _blocks.get() if x != (self, False)]
        _blocks.set((*others, (self, True)))

    def __exit__(self, *_: object) -> None:
        _session.pop(self, None)
        blocks = _blocks.get()
        mine = [place for place, (options, _) in enumerate(blocks) if options is self]
        if mine:
            _blocks.set(blocks[: mine[-1]])


def _settings() -> dict[str, Any]:
    """Return the options of the session, overridden by those of open blocks."""
    every = [*_session, *(options for options, _ in _blocks.get())]
    return {name: value for options in every for name, value in options._given.items()}


def session_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults that the session options set for keywords of a public function."""
    settings = _settings()
    return {name: settings[name] for name in function.filled if name in settings}  # type: ignore[attr-defined]


@contextmanager
def whole_tables() -> Iterator[None]:
    """Return all columns from calls in the block, ignoring session options."""
    before = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(before)


@contextmanager
def held(*, details: bool, progress: bool | None) -> Iterator[None]:
    """Hold the choices of the outermost call for the calls in the block, on a worker too."""
    before = _details.set(details), SHOWN.set(progress), BEGUN.set(time.monotonic())
    try:
        with whole_tables():
            yield
    finally:
        _details.reset(before[0])
        SHOWN.reset(before[1])
        BEGUN.reset(before[2])


def bars_wanted(progress: bool | None) -> bool | None:
    """Return the choice of a call about progress bars, by its argument or the session options."""
    check_flag("progress", progress, none=True)
    if progress is None:
        progress = _settings().get("progress")
    return progress


def details_wanted() -> bool:
    """Return whether all columns are requested, including expensive columns."""
    return _details.get()


Short = str | Mapping[str, str] | Callable[[pd.DataFrame], pd.DataFrame]


def with_options(function: Function, short: Short = "", *, noted: bool = True) -> Function:
    """Make a public function use the session options and return a short table.

    Public functions called inside this function return all columns and ignore session options.

    Parameters
    ----------
    function : callable
    short : str, mapping or callable
        The ordered columns of the short table. Missing columns are skipped. A mapping contains the
        columns for each keyword that selects columns, and the key "" for all other calls. A
        callable returns the short table.
    noted : bool
        Whether ``attrs`` describe how the table was computed.
    """
    parameters = inspect.signature(function).parameters
    # a plot of a finished table needs no other arguments
    check = argument_check(function, 1 if hasattr(function, "draws_tables") else None)
    # columns that are added to the user's rows are scores, which no option changes
    filled = [x for x in _FILLED if noted and x in parameters and parameters[x].kind is _KEYWORD]

    @functools.wraps(function)
    def asked(
        *args: Any, details: bool | None = None, progress: bool | None = None, **keywords: Any
    ) -> Any:
        check_flag("details", details, none=True)
        shown = bars_wanted(progress)
        check(args, keywords)
        if any(keywords.get(role) is not None for role in LONG):
            from rankeval_pd.roles import widened

            if not args:
                args = (keywords.pop("data"),)
            data, keywords = widened(args[0], keywords)
            args = (data, *args[1:])
        if _whole.get():
            return function(*args, **keywords)
        defaults = {}
        if not hasattr(function, "draws_tables"):
            defaults = session_defaults(asked)
        with held(details=_in_full(details), progress=shown):
            result = function(*args, **{**defaults, **keywords})
        if not (noted and isinstance(result, pd.DataFrame | xr.Dataset)):
            return result
        told = {**keywords, "details": details}
        data = next(iter(args), None)
        return as_asked(result, function.__name__, short, told, data)  # type: ignore[type-var]

    asked.filled = filled  # type: ignore[attr-defined]
    return asked  # type: ignore[return-value]


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def as_asked(
    result: Table, method: str, short: Short, keywords: Mapping[str, Any], data: Any
) -> Table:
    """Shorten a table as the options request, and record how the table was computed."""
    if isinstance(result, pd.DataFrame) and not _in_full(keywords.get("details")):
        result = _in_short(result, short, keywords)
    result.attrs = _attrs_with_options(result.attrs, method, keywords)
    if isinstance(result, xr.Dataset):  # Zarr and netCDF 3 change the order of variables
        result.attrs["columns"] = json.dumps([*result.variables], default=str)
    return with_order(result, data, keywords)


def _in_full(details: bool | None) -> bool:
    """Return whether a table has all columns, by the argument or the session options."""
    if details is None:
        details = _settings().get("details", False)
    return bool(details)


def _in_short(table: pd.DataFrame, short: Short, keywords: Mapping[str, Any]) -> pd.DataFrame:
    """Return the short table, with a note on lists that end inside a tie."""
    if not short:
        return table
    if callable(short):
        return short(table)
    if isinstance(short, str):
        short = {"": short}
    deciding = next((x for x in short if _is_given(keywords.get(x))), "")
    shortened = _shortened(table, short[deciding].split())
    cut = next((x for x in ("tied", "cuts_tie") if x in table and x not in shortened), None)
    if cut is not None and (table[cut] > 0).any():
        shortened.attrs["n_ending_in_tie"] = int((table[cut] > 0).sum())
    return shortened


def _is_given(value: Any) -> bool:
    """Return whether a keyword was passed. The value 0 can be a name."""
    return value is not None and value is not False


def _shortened(table: pd.DataFrame, short: Sequence[str]) -> pd.DataFrame:
    """Return the group, short-table and keyword columns in order."""
    if not short:
        return table
    columns = list(table.columns)
    first = min((columns.index(name) for name in short if name in columns), default=0)
    added = (*_ADDED, *(name for name in _IF_TRUE if name in table and table[name].any()))
    shown = [name for name in (*short, *added) if name in columns[first:]]
    return table[[*columns[:first], *dict.fromkeys(shown)]]


def with_order(result: Table, data: Any, keywords: Mapping[str, Any]) -> Table:
    """Record all measures, so that each measure keeps its color in partial tables."""
    data = getattr(data, "_meta", data)  # the template of a Dask DataFrame
    result.attrs.pop("order", None)
    some = "measure_a" in result or ("measure" in result and keywords.get("measures") is not None)
    if some and isinstance(data, pd.DataFrame | xr.Dataset):
        from rankeval_pd.roles import measures_of

        order = plain(measures_of(data, keywords))
        if order is not None:
            result.attrs = {"order": order, **result.attrs}
    return result


_ROLES = (
    "gold",
    "agreement",
    "by",
    "key",
    "groups",
    "strata",
    "seeds",
    "missing",
    "ties",
    "unjudged",
    "undefined",
    "metric",
    "baseline",
)


def _attrs_with_options(
    attrs: Mapping[Any, Any], method: str, keywords: Mapping[str, Any]
) -> dict[Hashable, Any]:
    """Describe how a table was computed, using types for Parquet and netCDF."""
    roles = {name: keywords[name] for name in _ROLES if name in keywords}
    noted = {**roles, **attrs, "method": method, "version": sys.modules["rankeval_pd"].__version__}
    as_notes = {str(name): plain(value) for name, value in noted.items()}
    return {name: value for name, value in as_notes.items() if value is not None}


def plain(value: Any) -> Any:
    """Return numbers and text unchanged, short lists as JSON, and None for other values.

    netCDF 3 cannot store lists of strings, and netCDF 4 cannot store a list of one string.
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
