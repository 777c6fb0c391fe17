"""Define the errors and warnings of this package, and check simple arguments.

Every error message names the argument, its value, the allowed values, and the next step.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from rankeval_pd.stats import FloatArray
from rankeval_pd.tables import Attrs, Keywords, Options, as_list

AnyFunction = Callable[..., Any]

#: what to do if a Dask DataFrame cannot answer
COMPUTE = "Compute the columns that you use, ddf[[...]].compute().rankeval"


class RankevalWarning(UserWarning):
    """Warn about a result that is easily misinterpreted.

    Examples
    --------
    RankevalWarning is the only warning category in this package. The following line turns each
    RankevalWarning into an error:

    >>> import warnings
    >>> import rankeval_pd
    >>> warnings.filterwarnings("error", category=rankeval_pd.RankevalWarning)  # doctest: +SKIP
    """


def no_table(argument: str, given: object, wanted: str) -> TypeError:
    """Return the error for an object that is not a table."""
    way = next((line for name, line in _WAYS.items() if hasattr(given, name)), "")
    home = type(given).__module__.split(".")[0].lstrip("_")
    name = type(given).__name__
    if home not in ("builtins", "numpy", "pandas", "xarray"):
        name = f"{home}.{name}"
    advice = ""
    if way:
        advice = f" Convert it: {argument}.{way}."
    if (argument, way) == ("table", "to_frame()"):  # a row of a result
        advice = " To keep a row a table, select it as result.iloc[[0]]."
    return TypeError(f"{argument} is of type {name}: pass {wanted}.{advice}")


def check_kind(argument: str, given: object, kind: Any, wanted: str) -> None:
    """Raise a TypeError unless an argument is of the kind."""
    if not isinstance(given, kind):
        raise no_table(argument, given, wanted)


def check_attrs(attrs: Attrs) -> None:
    """Raise an error unless the attrs of a table record how the table was made."""
    if "method" not in attrs:
        raise ValueError(
            "table has no attrs that record how it was made. Rows of your data, as from"
            " difference_region, have none: format them with pandas, x.to_latex(). If x is a result"
            " that lost its attrs, attach those of the result: x.attrs = table.attrs."
        )


_WAYS = {  # method name: call that returns a DataFrame or a Dataset
    "to_dataset": "to_dataset(dim='measure')", "to_dataframe": "to_dataframe().reset_index()",
    "to_pandas": "to_pandas()", "toPandas": "toPandas()", "df": "df()",
    "collect": "collect().to_pandas()", "to_frame": "to_frame()",
}  # fmt: skip


_hushed_beginnings: ContextVar[tuple[str, ...]] = ContextVar("unsaid", default=())


@contextmanager
def hushed(*beginnings: str) -> Iterator[None]:
    """Suppress RankevalWarnings that begin with these texts, or all, in a thread-safe way."""
    before = _hushed_beginnings.set((*_hushed_beginnings.get(), *(beginnings or [""])))
    try:
        yield
    finally:
        _hushed_beginnings.reset(before)


#: the last warnings, with the start of the outermost call, which issues each text once
_said: deque[tuple[float, str]] = deque(maxlen=1000)


def warn(message: str) -> None:
    """Issue a RankevalWarning that points to the user's code, once in a call."""
    if message.startswith(_hushed_beginnings.get()):
        return
    if (begun := BEGUN.get()) is not None:
        if (begun, message) in _said:
            return
        _said.append((begun, message))
    # find the first frame outside this package and outside libraries that call the package
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("rankeval_pd.", "xarray.", "dask.", "numpy.")
    ):
        frame = frame.f_back
        level = level + 1
    warnings.warn(message, RankevalWarning, stacklevel=level)


class UnknownNameError(KeyError):
    """Report a name that does not exist in the data."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message, in quotes and on one line
        return str(self.args[0])


def unknown_name(
    role: str, name: object, known: Iterable[Hashable], more: str = ""
) -> UnknownNameError:
    """Return the error for an unknown column, with a suggestion."""
    names = list(known)
    advice = near_miss(name, names)
    if isinstance(name, list):
        advice = " Pass one name here, and several as measures=[...]."
    if not advice or len(names) <= 6:
        advice += f" The known names are {listed(names, most=6)}."
    return UnknownNameError(f"{role}: no column {shown(name)}.{advice}{more}")


def is_known(name: object, known: Iterable[Hashable]) -> bool:
    """Return whether a name is known; unhashable objects are always unknown."""
    try:
        if not isinstance(known, set):
            known = set(known)  # a set finds pd.NA by hash, but a list compares by ==
        return name in known
    except TypeError:
        return False


def check_known(role: str, names: Iterable[object], known: Iterable[Hashable]) -> None:
    """Raise an error for the first of the names that is unknown."""
    columns = set(known)
    for name in names:
        if not is_known(name, columns):
            raise unknown_name(role, name, known)


_LONGEST = 48  # characters of a value in an error


def shown(value: object, most: int = _LONGEST) -> str:
    """Return a value as text, without NumPy's type names, data, or more than a line."""
    if isinstance(value, np.generic):
        value = value.item()
    if shape := getattr(value, "shape", ()):
        return f"<{type(value).__name__} of shape {shape}>"
    text = repr(value)
    if len(text) > most:
        text = f"{text[:most]}..."
    return text


#: options that readers may expect, alone or after the name of a method: what to do instead
GONE = {
    **dict.fromkeys(
        ("choose_threshold npv", "choose_threshold specificity"),
        "Pass a mapping, of={'specificity': 0.9, 'npv': 0.95}, with one or two of them.",
    ),
    "baseline": "Compare it with all others: compare(a), compare_area(a), summary(baseline=a).",
    "compare_area of": "Pass kind='roc' or kind='ap'.",
    "measure_ranks of": "Pass kind='roc' or kind='ap'.",
    "compare ci": "The interval agrees with the test, and target= says what it covers.",
    "compare thresholds": "Acceptance sets: compare_thresholds(a, b, {measure: threshold}).",
    "compare_thresholds threshold": "Pass thresholds=..., a number or {measure: number}.",
    "compare threshold": "Acceptance sets: compare_thresholds(a, b, {measure: threshold}).",
    "interpolated_precision groups": "To use groups=, call per_query(metric, wide=True).",
    "pairs kind": "Pass the result of compare_area() to the plot.",
    "paired_permutation margin": "Swaps know no margin: pass it to paired_bootstrap.",
    "unpaired_area kind": "The samples are compared by ROC area: call area('ap', by=...) for each.",
    "unpaired_area test": "The areas are compared by Welch's t test.",
    **dict.fromkeys(
        ("line_kw", "band_kw", "marker_kw", "mark", "f_scores"),
        "Change the Axes that the plot returns, as in ax.axvline(100).",
    ),
}
# keyword in other packages, without underscores: keyword in this package
_KEYWORDS = {
    "ascending": "lower_is_better", "clusters": "groups", "color": "colors", "conf": "level",
    "confidence": "level", "confidencelevel": "level", "correction": "adjust", "cutoff": "n",
    "greaterisbetter": "higher_is_better", "groupby": "by", "iterations": "n_resamples", "k": "n",
    "labels": "gold", "nboot": "n_resamples", "nbootstrap": "n_resamples", "poslabel": "positive",
    "query": "by", "randomstate": "rng", "seed": "rng", "top": "n",
    "topk": "n", "topn": "n", "truth": "gold", "yscore": "measures", "ytrue": "gold",
}  # fmt: skip


def unknown_keyword(name: str, known: Iterable[object], more: str = "") -> TypeError:
    """Return the error for an unknown keyword, with a suggestion."""
    if name in GONE:
        more = f" {GONE[name]}"
    near = near_miss(name, known, cutoff=0.7)
    if meant := _KEYWORDS.get(name.lower().replace("_", "")):
        near = f" Did you mean {meant!r}?"
    advice = more or near or " Call help() on the method to list its options."
    return TypeError(f"Unknown keyword {name!r}.{advice}")


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_DATA = ("data", "candidates")  # methods fill in this argument
_TABLE = "a pandas DataFrame or an xarray Dataset; from_scores(y_true, scores) creates one"


def argument_check(
    function: AnyFunction, first: int | None = None, *, closed: bool | None = None
) -> Callable[[Sequence[Any], Keywords], None]:
    """Return a function that checks the arguments of a call.

    The check finds arguments that are missing, unknown, or passed without a keyword. ``first``
    limits the check to the first few required arguments. ``closed`` means that the signature lists
    all keywords. The default is True for signatures without ``**keywords``.
    """
    parameters = inspect.signature(function).parameters
    needed = [x for x, p in parameters.items() if p.default is p.empty and p.kind in _NAMED]
    spelled = [f"{x}=..." if parameters[x].kind is _NAMED[1] else x for x in needed if x != "self"]
    filled_in = f", or as a method without {needed[0]}" if {*needed[:1]} & {*_DATA} else ""
    if closed is None:
        closed = not function.__code__.co_flags & inspect.CO_VARKEYWORDS
    unnamed = [x for x, p in parameters.items() if p.kind in (_NAMED[0], p.POSITIONAL_ONLY)]
    endless = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def check(args: Sequence[Any], keywords: Keywords) -> None:
        name = function.__name__ if function.__name__ != "__init__" else type(args[0]).__name__
        named = {**dict(zip(unnamed, args, strict=False)), **keywords}
        data = named.get(filled_in and needed[0])
        if first is None and isinstance(data, np.ndarray | Sequence):  # as in other packages
            raise no_table(needed[0], data, _TABLE)
        if len(args) > len(unnamed) and not endless:
            call = f"{name}({', '.join(x for x in unnamed if x != 'self')}){filled_in}"
            extra = shown(args[len(unnamed)])
            raise TypeError(
                f"{extra} must be passed by keyword: call {call}, and pass other arguments as"
                " name=value."
            )
        lacking = {*needed[len(args) : first]} - keywords.keys()
        if lacking:
            call = f"{name}({', '.join(spelled)}){filled_in}"
            missing = listed(x for x in needed if x in lacking)
            raise TypeError(f"{missing} must be given: call {call}.")
        for option in keywords:
            gone = GONE.get(f"{name} {option}", "")
            if option not in parameters and (closed or gone):
                raise unknown_keyword(option, parameters, f" {gone}".rstrip())
        for option, values in choices_of(function).items():
            if option in named:
                check_choice(option, named[option], values)
        for option, none in flags_of(function).items():
            if option in named:
                check_flag(option, named[option], none=none)

    return check


@functools.cache
def choices_of(function: AnyFunction) -> dict[str, tuple[str | None, ...]]:
    """Return the values of the options whose annotations list them, with ``Literal``."""
    choices = {}
    for option, annotation in function.__annotations__.items():
        parts = parts_of(annotation, function)
        values = [value for part in parts for value in get_args(part)]
        if values and all(get_origin(x) is Literal or x is NoneType for x in parts):
            choices[option] = (*[None] * (NoneType in parts), *values)
    return choices


@functools.cache
def flags_of(function: AnyFunction) -> dict[str, bool]:
    """Return the options that are True or False, and whether None is allowed."""
    kinds = {name: {*parts_of(x, function)} for name, x in function.__annotations__.items()}
    flags = {name: kind for name, kind in kinds.items() if {bool} <= kind <= {bool, NoneType}}
    return {name: NoneType in kind for name, kind in flags.items()}


def parts_of(annotation: Any, function: AnyFunction) -> tuple[Any, ...]:
    """Return the kinds that an annotation of a function joins with ``|``, or none if unknown."""
    try:
        kind = eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation
    except NameError:  # what only type checkers import
        return ()
    if get_origin(kind) in (Union, UnionType):
        return get_args(kind)
    return (kind,)


Function = TypeVar("Function", bound=AnyFunction)


def checked_call(function: Function) -> Function:
    """Make a public function raise this package's errors for invalid arguments."""
    check = argument_check(function)

    @functools.wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        check(args, keywords)
        return function(*args, **keywords)

    return cast(Function, checked)


def near_miss(name: object, known: Iterable[object], cutoff: float = 0.5) -> str:
    """Return a hint with the nearest name, preferring names that differ only in case."""
    names = [str(x) for x in known]
    near = [x for x in names if x.lower() == str(name).lower()]
    near = near or difflib.get_close_matches(str(name), names, n=1, cutoff=cutoff)
    if not near:
        return ""
    return f" Did you mean {near[0]!r}?"


def listed(names: Iterable[object], most: int = 12) -> str:
    """Return the first few names as text."""
    names = list(names)
    text = ", ".join(shown(x) for x in names[:most])
    if len(names) > most:
        text += f", ... ({len(names)} in all)"
    return text or "none"


def brief(values: object) -> str:
    """Return the first few numbers as text."""
    array = np.asarray(values, dtype=object)
    if array.ndim == 0:
        return shown(array.item())
    if not array.size:
        return "[]"
    return f"[{listed(array.ravel().tolist(), most=4)}]"


def check_choice(argument: str, value: object, allowed: Iterable[str | None]) -> None:
    """Raise a ValueError unless ``value`` is one of ``allowed``."""
    choices = list(allowed)
    if not isinstance(value, str | None) or value not in choices:
        raise ValueError(
            f"{argument}={shown(value)} is not one of {listed(choices)}. Pass one of these values."
        )


def refuse_combinations(
    options: Mapping[str, object], table: Sequence[tuple[str, str, str]]
) -> None:
    """Refuse the first pair of options in ``table`` that were both passed.

    Each row names two options and says what to do instead.
    """
    for option, other, advice in table:
        if options.get(option) is not None and options.get(other) is not None:
            raise ValueError(f"{option}= cannot stand beside {other}=. {advice}")


def check_one(**given: object) -> None:
    """Raise a ValueError unless exactly one of the options was passed."""
    if sum(value is not None for value in given.values()) != 1:
        passed = ", ".join(f"{name}={shown(value)}" for name, value in given.items())
        names = " and ".join(f"{name}=..." for name in given)
        raise ValueError(f"{passed}: pass exactly one of {names}.")


def _as_float(argument: str, value: Any, allowed: str) -> float:
    """Return a number as a float, which is infinite if the number is too large."""
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: pass {allowed}."
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_share(argument: str, value: object, *, one: bool = False) -> float:
    """Return ``value`` as a float in (0, 1), or in (0, 1] with ``one``."""
    allowed = "(0, 1]" if one else "(0, 1)"
    number = _as_float(argument, value, f"a number in {allowed}")
    if not (0.0 < number < 1.0 or (one and number == 1.0)):
        hint = ""
        if 1.0 < number <= 100.0:
            hint = f" {number:g}% is {number / 100:g}."
        raise ValueError(
            f"{argument}={shown(value)} is outside {allowed}: pass a number in this range.{hint}"
        )
    return number


def check_shares(argument: str, given: object, *, one: bool = False) -> FloatArray:
    """Return the distinct numbers in (0, 1), in the original order."""
    shares = as_list(given)
    if not shares:
        raise ValueError(f"{argument}={shown(given)} is empty: pass at least one number.")
    return np.array(list(dict.fromkeys(check_share(argument, x, one=one) for x in shares)))


def check_shapes(**given: object) -> list[FloatArray]:
    """Return numbers as float arrays that can be broadcast together."""
    check_together(**given)
    return [np.asarray(values, dtype=float) for values in given.values()]


def check_together(**given: object) -> None:
    """Raise a ValueError unless the arrays can be broadcast together."""
    try:
        arrays = [np.asarray(values) for values in given.values()]
    except ValueError as error:
        raise ValueError(
            f"{', '.join(given)}: at least one of these is not numeric ({error}). Pass numbers."
        ) from None
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        shapes = listed(x.shape for x in arrays)
        raise ValueError(
            f"{', '.join(given)} have the shapes {shapes}, which do not broadcast. Pass numbers"
            " or arrays of the same shape."
        ) from None


def check_flag(argument: str, value: object, *, none: bool = False) -> None:
    """Raise a TypeError unless a value is True, False or an allowed None."""
    if not isinstance(value, (bool, np.bool_)) and not (none and value is None):
        allowed = "True or False"
        if none:
            allowed = "True, False or None"
        raise TypeError(f"{argument}={shown(value)}: pass {allowed}.")


def check_count(argument: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: pass a whole number of"
            f" at least {least}."
        )
    if value < least:
        raise ValueError(f"{argument}={shown(value)}: pass a whole number of at least {least}.")
    return int(value)


def check_number(argument: str, value: object) -> float:
    """Return a finite number as a float."""
    number = _as_float(argument, value, "a number")
    if not math.isfinite(number):
        raise ValueError(f"{argument}={shown(value)}: pass a finite number.")
    return number


_LARGEST_PHI = 1e6  # with a larger overdispersion, lists contain no information


def check_margin(margin: object, **undefined: bool) -> float:
    """Return the equivalence margin, a finite number above 0.

    ``undefined`` maps each option that rules out an equivalence test to whether the option is set.
    """
    value = check_number("margin", margin)
    if not value > 0.0:
        raise ValueError(
            f"margin={value:g}: pass the smallest difference that matters, a number above 0."
        )
    for option, given in undefined.items():
        if given:
            raise ValueError(
                f"margin={value:g} with {option}: no test with a margin controls the error rate in"
                " this case. Omit one of the two."
            )
    return value


_EXACT = 2**53 - 1  # float64 represents all whole numbers up to this number
#: what NumPy would convert to numbers
_NAMES = (str, bytes, bool, np.bool_, complex, np.complexfloating, np.datetime64, np.timedelta64)


def check_numbers(
    argument: str,
    given: object,
    least: float,
    most: Any = np.inf,
    *,
    above: bool = False,
    whole: bool = False,
    infinite: bool = False,
    missing: bool = False,
) -> FloatArray:
    """Return floats if every number is in this range, and, if ``whole``, a whole number.

    With ``above``, numbers must be greater than ``least``; ``missing`` allows NaN.
    """
    kind = "whole " * whole + "numbers"
    allowed = f"{kind} of at least {least:g}"
    if least == -np.inf:
        allowed = f"finite {kind}"
    elif above:
        allowed = f"{kind} above {least:g}"
    if np.less(most, np.inf).all():
        allowed = f"{kind} from {least:g} to {brief(most)}"
    elif whole:
        most = _EXACT
        allowed += " and below 2**53"
    elif infinite:
        allowed += ", or inf"
    values: FloatArray | None = None
    with suppress(TypeError, ValueError, OverflowError):
        plain = np.asarray(given)
        named = plain.dtype.kind not in "iuf" and any(isinstance(x, _NAMES) for x in plain.flat)
        if given is not None and not named:
            values = plain.astype(float)
    if values is None:
        raise TypeError(f"{argument}={brief(given)}: pass {allowed}.")
    wrong = (values < least) | (values > most)
    if above:
        wrong |= values == least
    if whole:
        wrong |= values != np.floor(values)
    if not infinite:
        wrong |= np.isinf(values)
    undefined = np.isnan(values)
    if not missing and undefined.any():
        lacking: object = np.nan
        if values.ndim:
            lacking = f"{int(undefined.sum())} missing numbers"
        raise ValueError(f"{argument}={lacking}: pass {allowed}, and drop undefined values.")
    if (wrong & ~undefined).any():
        raise ValueError(f"{argument}={brief(given)}: pass {allowed}.")
    return values


def check_phi(value: object) -> float:
    """Return an overdispersion as a float, or raise an error if it is below 1."""
    number = _as_float("phi", value, "a number of at least 1")
    if not 1.0 <= number <= _LARGEST_PHI:
        raise ValueError(
            f"phi={shown(value)}: pass a number from 1 to {_LARGEST_PHI:g}. If the estimate "
            "is below 1, pass 1."
        )
    return number


_NUMBER = 8  # bytes
_SMALL = 100_000  # number of values that fit into any memory
_ENDLESS = 2.0**1000  # larger than any memory, but smaller than the largest float64


def check_memory(numbers: float, what: str, less: str) -> None:
    """Raise a MemoryError if the numbers for ``what`` do not fit in memory.

    ``less`` explains how to reduce the numbers. If the available memory is unknown, nothing is
    checked.
    """
    if numbers < _SMALL:
        return
    there = free_memory()
    numbers = min(numbers, _ENDLESS)
    if there is not None and numbers * _NUMBER > there:
        raise MemoryError(
            f"{what}: this needs {_size_in_words(numbers * _NUMBER)} of memory, but"
            f" {_size_in_words(there)} is available. {less}"
        )


def check_draws(argument: str, value: object, for_each: int = 1) -> int:
    """Check that draws fit in memory, and return the number of draws."""
    draws = check_count(argument, value)
    check_memory(
        2 * for_each * draws,  # the drawn and the sorted values
        f"{argument}={draws} requires {draws} draws in memory at once",
        f"Pass fewer, {argument}=...",
    )
    return draws


def check_needed(draws: int, edge: str) -> int:
    """Check that the draws for a family fit in memory, and return their number.

    ``edge`` describes the required level as ``alpha=...`` or ``level=...``.
    """
    check_memory(
        2.0 * draws,  # the drawn and the sorted values
        f"{edge} with n_resamples=None requires {draws:,} draws in memory at once",
        f"Pass a value that requires fewer draws: {edge.split('=')[0]}=...",
    )
    return draws


def check_table(rows: int, what: str) -> None:
    """Raise a MemoryError if a table would have too many rows."""
    check_memory(
        41.0 * rows,  # twelve columns in values, rows with names, and table; and names
        f"{what} would give a table with {rows:,} rows",
        "Pass fewer measures, or only the list sizes that you need: n=...",
    )


def free_memory() -> int | None:
    """Return the bytes available to this process, or None if unknown."""
    known = [size for size in (_of_machine(), _of_process()) if size is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _of_process() -> int | None:
    """Return the remaining address space, or None if there is no limit."""
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


def _size_in_words(size: float) -> str:
    if size >= 2.0**100:
        return f"{size / 2**30:.1e} GB"
    return f"{size / 2**30:,.1f} GB" if size >= 2**30 else f"{size / 2**20:,.0f} MB"


_INSIDE = ContextVar("_INSIDE", default=False)  # whether an outer bar counts the work
#: start time of the outermost call
BEGUN: ContextVar[float | None] = ContextVar("BEGUN", default=None)
#: the choice of the outermost call: True shows bars at once, None after two seconds, False never
SHOWN: ContextVar[bool | None] = ContextVar("SHOWN", default=None)
_DELAY = 2.0  # seconds


@contextmanager
def progress_bar(
    *, total: int | None, what: str, unit: str, alone: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances the bar by a given number of units.

    The outermost call chooses whether bars are shown (:data:`SHOWN`). Without a total, the bar
    shows only a count. With ``alone``, no bar appears inside another bar, and the wait starts with
    the outermost call.
    """
    shown = SHOWN.get()
    if total == 0 or shown is False or (alone and _INSIDE.get()):
        yield nothing_moves
        return
    since = time.monotonic()
    if alone:
        since = BEGUN.get() or since
    bar = _LateBar(since, {"total": total, "desc": what, "unit": f" {unit}"})
    if shown:
        bar.open()
    inside = _INSIDE.set(True)
    try:
        yield bar.advance
    finally:
        _INSIDE.reset(inside)
        if bar.bar is not None:
            bar.bar.close()


@dataclass
class _LateBar:
    """Count units, and open tqdm's bar when the wait is over."""

    since: float
    labels: Options
    count: int = 0
    bar: Any = None  #: tqdm's bar, once it is open

    def open(self) -> None:
        self.bar = _bar()(leave=False, mininterval=0.5, initial=self.count, **self.labels)

    def advance(self, units: int) -> None:
        self.count += units
        if self.bar is not None:
            self.bar.update(units)
        elif time.monotonic() >= self.since + _DELAY:
            self.open()


def _bar() -> Any:
    """Return tqdm's widget bar in notebooks and its text bar elsewhere.

    ``tqdm.auto`` is not used because it warns if widgets are missing. A warning filter
    would affect all threads.
    """
    if "ipykernel" in sys.modules and find_spec("ipywidgets"):
        from tqdm import notebook

        return notebook.tqdm
    from tqdm import std

    return std.tqdm


def nothing_moves(_: int) -> None:
    """Do nothing instead of advancing a progress bar."""


#: whether the outermost call wants all columns, or None outside a call
DETAILS: ContextVar[bool | None] = ContextVar("details", default=None)


@contextmanager
def held(*, details: bool, progress: bool | None, begun: float | None = None) -> Iterator[None]:
    """Hold the choices of the outermost call for all calls in the block, on a worker too.

    Public functions that are called in the block return all columns and ignore session options.
    A worker is told when the call has ``begun``.
    """
    start = begun or time.monotonic()
    before = DETAILS.set(details), SHOWN.set(progress), BEGUN.set(start)
    try:
        yield
    finally:
        DETAILS.reset(before[0])
        SHOWN.reset(before[1])
        BEGUN.reset(before[2])


def details_wanted() -> bool:
    """Return whether all columns are requested, including expensive columns."""
    return bool(DETAILS.get())
