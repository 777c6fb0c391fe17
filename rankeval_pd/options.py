"""Define the options of a session, and the choices that hold for a whole call."""

from __future__ import annotations

import functools
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

import pandas as pd
import xarray as xr

from rankeval_pd.errors import (
    COMPUTE,
    DETAILS,
    AnyFunction,
    UnknownNameError,
    argument_check,
    check_flag,
    check_share,
    checked_call,
    held,
    parts_of,
)
from rankeval_pd.roles import (
    LONG,
    MEANINGS,
    Roles,
    default_of,
    measures_of,
    widened,
    with_usual_roles,
)
from rankeval_pd.tables import (
    FrameOrDataset,
    Keywords,
    Options,
    Short,
    as_list,
    plain,
    record,
    shortened,
)

Function = TypeVar("Function", bound=Callable[..., Any])
Table = TypeVar("Table", pd.DataFrame, xr.Dataset)

FILLED = ("alpha", "level")  # options that set defaults for keywords
# options of the session are global, because notebooks run each cell in a new context
_session: dict[set_options, None] = {}
#: the options of open blocks, and whether each is a block or a call inside a block
_blocks: ContextVar[tuple[tuple[set_options, bool], ...]] = ContextVar("blocks", default=())
_SETTINGS = {"details": False, "progress": None}  # without set_options


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
        for name in {*FILLED} & {*given}:
            check_share(name, given[name])
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


def settings(details: bool | None = None, progress: bool | None = None) -> Options:
    """Return the options of the session, overridden by those of open blocks and of a call."""
    check_flag("details", details, none=True)
    check_flag("progress", progress, none=True)
    values: Options = dict(_SETTINGS)
    for options in _session:
        values.update(options._given)
    for options, _ in _blocks.get():
        values.update(options._given)
    for name, given in (("details", details), ("progress", progress)):
        if given is not None:
            values[name] = bool(given)
    return values


def session_defaults(function: AnyFunction) -> Options:
    """Return the defaults that the session options set for keywords of a public function."""
    values = settings()
    filled: list[str] = function.filled  # type: ignore[attr-defined]
    return {name: values[name] for name in filled if name in values}


def with_options(
    function: Function,
    able: Capabilities | None = None,
    of_dataset: AnyFunction | None = None,
) -> Function:
    """Make a public function use the session options and return a short table.

    Public functions called inside this function return all columns and ignore session options.
    ``of_dataset`` answers a Dataset; by default, ``function`` does.
    """
    able = able or Capabilities()
    declare_options(function)
    noted = not able.own_rows
    parameters = inspect.signature(function).parameters
    check = argument_check(function)
    long = {*LONG} & {*parameters}
    # columns that are added to the user's rows are scores, which no option changes
    filled = [x for x in FILLED if noted and x in parameters and parameters[x].kind is _KEYWORD]

    @functools.wraps(function)
    def asked(
        *args: Any, details: bool | None = None, progress: bool | None = None, **keywords: Any
    ) -> Any:
        choices = settings(details, progress)
        check(args, keywords)
        if long:
            args, keywords = in_wide_form(args, keywords, long)
        data = args[0] if args else keywords.get("data")
        ask: AnyFunction = function
        if of_dataset is not None and isinstance(data, xr.Dataset):
            ask = of_dataset
        inside = DETAILS.get()
        if inside is not None:
            result = ask(*args, **keywords)
        else:
            for name in filled:
                if name in choices:
                    keywords.setdefault(name, choices[name])
            with held(details=choices["details"], progress=choices["progress"]):
                result = ask(*args, **keywords)
        if not (noted and isinstance(result, FrameOrDataset)):
            return result
        result.attrs = record(result.attrs, function.__name__, able.laws, keywords)
        if inside is not None:
            return result
        return leaving(result, able, keywords, data, details=choices["details"])

    asked.filled = filled  # type: ignore[attr-defined]
    return asked  # type: ignore[return-value]


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def in_wide_form(args: Any, keywords: Options, taken: Iterable[str] = LONG) -> tuple[Any, Options]:
    """Return the arguments of a call, with a long frame as a wide frame."""
    data = args[0] if args else keywords.get("data")
    data, roles = with_usual_roles(data, keywords, taken)
    if all(roles.get(role) is None for role in LONG):
        return args, keywords
    data, roles = widened(data, {name: x for name, x in roles.items() if args or name != "data"})
    return (data, *args[1:]), roles


def leaving(
    result: Any, able: Capabilities, keywords: Keywords, data: Any, *, details: bool
) -> Any:
    """Return the short table unless all columns are wanted.

    The attrs list all measures, so that each measure keeps its color in partial tables.
    """
    if isinstance(result, xr.Dataset):  # Zarr and netCDF 3 change the order of variables
        result.attrs["columns"] = json.dumps([*result.variables], default=str)
    elif able.short and not details:
        table = shortened(result, able.short, keywords)
        result = ShortTable(table)
        result.attrs = table.attrs
    if not isinstance(data, FrameOrDataset):
        data = getattr(data, "_meta", data)  # the template of a Dask DataFrame
    result.attrs.pop("order", None)
    some = "measure_a" in result or ("measure" in result and keywords.get("measures") is not None)
    if some and isinstance(data, FrameOrDataset):
        order = plain(measures_of(data, keywords))
        if order is not None:
            result.attrs = {"order": order, **result.attrs}
    return result


def as_asked(
    result: pd.DataFrame, question: AnyFunction, keywords: Keywords, data: Any
) -> pd.DataFrame:
    """Shorten a table of a Dask DataFrame as the options request, and record how it was made."""
    able = can(question)
    result.attrs = record(result.attrs, question.__name__, able.laws, keywords)
    details = settings(keywords.get("details"))["details"]
    table: pd.DataFrame = leaving(result, able, keywords, data, details=details)
    return table


class ShortTable(pd.DataFrame):
    """A short table, which tells how to get a column that it leaves out."""

    @property
    def _constructor(self) -> type[ShortTable]:
        return ShortTable

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            method = str(self.attrs.get("method"))
            question = getattr(import_module("rankeval_pd"), method, None)
            able = getattr(question, "capabilities", Capabilities())
            for name in able.details.split():
                if name in as_list(key) and name not in self:
                    raise UnknownNameError(
                        f"{name!r} is not in the short table of {method}. Call"
                        f" {method}(..., details=True) for all columns."
                    ) from None
            raise


# ------------------------------------ Decorators that declare the capabilities and roles of a
# function


NO_EFFECT = "Ignored."
NO_CONCLUSION = "Ignored, because the table contains no tests or intervals."

# ------------------------------------- The capabilities of a function

IN_MEMORY = f"this method needs all data in memory. {COMPUTE}"


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
    #: whether by= is supported for a Dask DataFrame if each group fits in memory
    by_groups: bool = False
    sums: bool = False  #: whether workers sum the items of a Dask DataFrame
    short: Short = ""  #: the columns of the short table, or "" for all columns
    details: str = ""  #: the columns that details=True adds, some with other options only
    #: what the result measures, its test, and its interval, unless the options say so
    quantity: str = ""
    test: str = ""
    interval: str = ""
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
        asked = with_options(function, self, of_dataset)
        asked.capabilities = self  # type: ignore[attr-defined]
        return asked

    @cached_property
    def laws(self) -> dict[str, str]:
        """Return what the record says of every call."""
        laws = {"quantity": self.quantity, "test": self.test, "interval": self.interval}
        laws["noun"] = {True: "system", False: "measure"}[bool(self.items and not self.rankings)]
        return {name: law for name, law in laws.items() if law}

    def layout_of(self, options: Keywords, form: str) -> tuple[str, ...]:
        """Return the dimensions of the result for a Dataset, for these keywords and this form."""
        if self.any_rows:
            return ("row",)
        if isinstance(self.layout, str):
            return tuple(self.layout.split())
        special = (x for x in self.layout if x == form or options.get(x) is not None)
        return tuple(self.layout[next(special, "")].split())


def _answer_dataset(function: AnyFunction, able: Capabilities, *args: Any, **keywords: Any) -> Any:
    """Answer a Dataset at its door, which is loaded when it is needed."""
    from rankeval_pd.doors.datasets import answer_dataset

    return answer_dataset(function, able, args, keywords)


def can(function: Any, **differences: Any) -> Capabilities:
    """Return the capabilities of a function, with changes for one call."""
    capabilities: Capabilities = function.capabilities
    return replace(capabilities, **differences)


def declared(accessor: type) -> dict[str, tuple[AnyFunction, Capabilities]]:
    """Return the functions of an accessor in order, with their capabilities."""
    questions = {
        name: inspect.unwrap(x, stop=lambda function: hasattr(function, "capabilities"))
        for name, x in vars(accessor).items()
        if callable(x)
    }
    return {name: (x, can(x)) for name, x in questions.items() if hasattr(x, "capabilities")}


# ------------------------- Options, which are declared once for all functions that take them

#: what an option means, in every docstring that lists its name alone
OPTIONS = {
    "data": "Candidates with a score for each measure and a gold label.",
    "a": "First measure or system. Pass only ``a`` to compare it with every other one. By default"
    " all pairs are compared.",
    "b": "Second measure or system.",
    "n": "Sizes of the lists, or sizes as fractions of the candidates. None means every n from 1 to"
    " the number of candidates.",
    "ci": 'Kind of interval for each proportion. "clopper-pearson" (as in Evert 2004) has at least'
    " the nominal coverage, and the others have it on average.",
    "level": "Confidence level of the intervals.",
    "alpha": "Significance level of the tests: a difference is significant if p ≤ alpha.",
    "alternative": '"greater" tests whether a is better than b, and "less" whether a is worse.'
    " One-sided tests give one-sided intervals.",
    "adjust": "Adjustment of p-values and intervals for all tests in a family.",
    "n_resamples": "Number of resamples or random swaps. By default, there are enough for decisions"
    " at the level of the family.",
    "families": 'Family of each system, by name. The column ``relation`` is then "same" or'
    ' "different". A function of two names that returns the relation also works.',
    "power": "Probability of detecting the difference, above alpha.",
    "phi": "Overdispersion for lists of n candidates, at least 1: 1 + (n - 1) * icc, with ``icc``"
    " from :func:`repetition`. Larger values widen the interval.",
    "pool": 'Candidates from which a random list is drawn. "retrieved" means those that the measure'
    ' retrieved in each group, and "all" those in the data. Pass a number for a'
    " collection of this size that contains no other true positives. The default is"
    """ "retrieved" with ``missing="absent"`` and "all" otherwise.""",
    "population": "Whether a list is drawn from these candidates (hypergeometric distribution) or"
    " from an infinite population with the same prevalence (binomial distribution)."
    ' "infinite" allows n above N.',
}
_KINDS = {"Data": "DataFrame or Dataset", "Hashable": "name"}
_PARAMETERS = "    Parameters\n    ----------\n"
# the names, and the text below them
_ENTRY = re.compile(r"(?m)^    (\w+(?:, \w+)*)\n((?:        .*\n|\n(?=        ))*)")


def as_written(text: str | None) -> str:
    """Return a docstring indented as in the source, which Python 3.13 no longer keeps."""
    first, line, rest = (text or "").partition("\n")
    if re.search(r"(?m)^\S", rest):
        rest = textwrap.indent(rest, "    ")
    return first + line + rest


def declare_options(function: Function) -> Function:
    """Fill in what a docstring leaves to the declarations: the kinds and meanings of options.

    An entry without a kind gets the kind of its annotation, and an entry without a text the meaning
    in :data:`OPTIONS`.
    """
    before, title, after = as_written(function.__doc__).partition(_PARAMETERS)
    entries, end, others = after.partition("\n    Returns\n")
    declared_entry = partial(_declared_entry, function)
    function.__doc__ = before + title + _ENTRY.sub(declared_entry, entries) + end + others
    return function


def _declared_entry(function: AnyFunction, entry: re.Match[str]) -> str:
    """Return an entry of a docstring with the kinds and meanings of its options."""
    names = entry[1].split(", ")
    text = entry[2]
    parameters = inspect.signature(function).parameters
    kinds = [_kind(function, parameters.get(name)) for name in names]
    if text and len({*kinds}) > 1:  # "As in" another function
        return entry[0]
    if text:
        return f"    {entry[1]}{kinds[0]}\n{text}"
    entries = []
    for name, kind in zip(names, kinds, strict=True):
        entries.append(f"    {name}{kind}\n{_indented(OPTIONS[name])}\n")
    return "".join(entries)


def _kind(function: AnyFunction, parameter: inspect.Parameter | None) -> str:
    """Return the kind of an option, such as `` : {"greater", "less"}``, or ""."""
    if parameter is None:
        return ""
    parts = parts_of(parameter.annotation, function)
    if not parts:
        return ""
    values = []
    others = []
    for part in parts:
        if get_origin(part) is Literal:
            values += [f'"{value}"' for value in get_args(part)]
        elif part is not NoneType:
            name = getattr(part, "__name__", "object")
            others.append(_KINDS.get(name, name))
    none = NoneType in parts
    if values:
        others.insert(0, f"{{{', '.join(['None'] * none + values)}}}")
    optional = ", optional" * (none and not values)
    return f" : {' or '.join(others)}{optional}"


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
    others: Keywords, said: Mapping[str, str] | None = None
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
        function.__doc__ = with_meanings(function.__doc__, {role: meanings[role] for role in roles})
        return function

    return spelled_out


def with_meanings(text: str | None, roles: Mapping[str, str]) -> str | None:
    """Replace ``**roles`` in a docstring with the names and meanings of the roles."""
    if text is None:
        return None
    text = as_written(text)
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


@cache
def _indented(meaning: str) -> str:
    indent = " " * 8
    return textwrap.fill(meaning, width=100, initial_indent=indent, subsequent_indent=indent)


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
