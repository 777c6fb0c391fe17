"""Define the options of a session, and the choices that hold for a whole call."""

from __future__ import annotations

import functools
import inspect
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

import pandas as pd
import xarray as xr

from rankeval_pd.errors import argument_check, check_flag, check_share, checked_call
from rankeval_pd.progress import BEGUN, SHOWN
from rankeval_pd.roles import LONG, measures_of, widened
from rankeval_pd.tables import Short, plain, record, shortened

Function = TypeVar("Function", bound=Callable[..., Any])
Table = TypeVar("Table", pd.DataFrame, xr.Dataset)

FILLED = ("alpha", "level")  # options that set defaults for keywords
# options of the session are global, because notebooks run each cell in a new context
_session: dict[set_options, None] = {}
#: the options of open blocks, and whether each is a block or a call inside a block
_blocks: ContextVar[tuple[tuple[set_options, bool], ...]] = ContextVar("blocks", default=())
#: whether the outermost call wants all columns, or None outside a call
_details: ContextVar[bool | None] = ContextVar("details", default=None)
_SETTINGS = {"details": False, "progress": None}  # without set_options
LONG_ROLES = frozenset(LONG)


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


def settings(details: bool | None = None, progress: bool | None = None) -> dict[str, Any]:
    """Return the options of the session, overridden by those of open blocks and of a call."""
    check_flag("details", details, none=True)
    check_flag("progress", progress, none=True)
    values: dict[str, Any] = dict(_SETTINGS)
    for options in _session:
        values.update(options._given)
    for options, _ in _blocks.get():
        values.update(options._given)
    for name, given in (("details", details), ("progress", progress)):
        if given is not None:
            values[name] = bool(given)
    return values


def session_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults that the session options set for keywords of a public function."""
    values = settings()
    filled: list[str] = function.filled  # type: ignore[attr-defined]
    return {name: values[name] for name in filled if name in values}


@contextmanager
def held(*, details: bool, progress: bool | None) -> Iterator[None]:
    """Hold the choices of the outermost call for all calls in the block, on a worker too.

    Public functions that are called in the block return all columns and ignore session options.
    """
    before = _details.set(details), SHOWN.set(progress), BEGUN.set(time.monotonic())
    try:
        yield
    finally:
        _details.reset(before[0])
        SHOWN.reset(before[1])
        BEGUN.reset(before[2])


def details_wanted() -> bool:
    """Return whether all columns are requested, including expensive columns."""
    return bool(_details.get())


def with_options(
    function: Function,
    short: Short = "",
    *,
    quantity: str = "",
    noted: bool = True,
    of_dataset: Callable[..., Any] | None = None,
) -> Function:
    """Make a public function use the session options and return a short table.

    Public functions called inside this function return all columns and ignore session options.
    ``short`` is described in :mod:`rankeval_pd.tables`, and missing columns are skipped.
    ``quantity`` is what the table measures, unless the options say so. ``noted`` says whether
    ``attrs`` describe how the table was computed. ``of_dataset`` answers a Dataset; by default,
    ``function`` does.
    """
    parameters = inspect.signature(function).parameters
    check = argument_check(function)
    # columns that are added to the user's rows are scores, which no option changes
    filled = [x for x in FILLED if noted and x in parameters and parameters[x].kind is _KEYWORD]

    @functools.wraps(function)
    def asked(
        *args: Any, details: bool | None = None, progress: bool | None = None, **keywords: Any
    ) -> Any:
        choices = settings(details, progress)
        check(args, keywords)
        if not LONG_ROLES.isdisjoint(keywords):
            args, keywords = in_wide_form(args, keywords)
        data = args[0] if args else keywords.get("data")
        ask: Callable[..., Any] = function
        if of_dataset is not None and isinstance(data, xr.Dataset):
            ask = of_dataset
        inside = _details.get()
        if inside is not None:
            result = ask(*args, **keywords)
        else:
            for name in filled:
                if name in choices:
                    keywords.setdefault(name, choices[name])
            with held(details=choices["details"], progress=choices["progress"]):
                result = ask(*args, **keywords)
        if not (noted and isinstance(result, pd.DataFrame | xr.Dataset)):
            return result
        result.attrs = record(result.attrs, function.__name__, quantity, keywords)
        if inside is not None:
            return result
        if short and not choices["details"] and isinstance(result, pd.DataFrame):
            result = shortened(result, short, keywords)
        if isinstance(result, xr.Dataset):  # Zarr and netCDF 3 change the order of variables
            result.attrs["columns"] = json.dumps([*result.variables], default=str)
        return with_order(cast("Any", result), data, keywords)

    asked.filled = filled  # type: ignore[attr-defined]
    return asked  # type: ignore[return-value]


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def in_wide_form(args: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the arguments of a call with a long frame as those of a wide frame."""
    if all(keywords.get(role) is None for role in LONG):
        return args, keywords
    if not args:
        args = (keywords.pop("data"),)
    data, keywords = widened(args[0], keywords)
    return (data, *args[1:]), keywords


def with_order(result: Table, data: Any, keywords: Mapping[str, Any]) -> Table:
    """Record all measures, so that each measure keeps its color in partial tables."""
    data = getattr(data, "_meta", data)  # the template of a Dask DataFrame
    result.attrs.pop("order", None)
    some = "measure_a" in result or ("measure" in result and keywords.get("measures") is not None)
    if some and isinstance(data, pd.DataFrame | xr.Dataset):
        order = plain(measures_of(data, keywords))
        if order is not None:
            result.attrs = {"order": order, **result.attrs}
    return result


def as_asked(
    result: pd.DataFrame, question: Callable[..., Any], keywords: Mapping[str, Any], data: Any
) -> pd.DataFrame:
    """Shorten a table of a Dask DataFrame as the options request, and record how it was made."""
    able = question.capabilities  # type: ignore[attr-defined]
    full = keywords.get("details")
    if full is None:
        full = settings()["details"]
    if able.short and not full:
        result = shortened(result, able.short, keywords)
    result.attrs = record(result.attrs, question.__name__, able.quantity, keywords)
    return with_order(result, data, keywords)
