"""Errors and warnings of this package, and checks of plain arguments.

Every error message has four parts: the argument, what it got, what is allowed, what to do next.
"""

from __future__ import annotations

import difflib
import math
import sys
import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray


class RankevalWarning(UserWarning):
    """A result that is easily misread: the only warning that this package gives.

    Examples
    --------
    Turn these warnings, and no others, into errors:

    >>> import warnings
    >>> import rankeval_pd
    >>> warnings.filterwarnings("error", category=rankeval_pd.RankevalWarning)  # doctest: +SKIP
    """


_hushed_beginnings: ContextVar[tuple[str, ...]] = ContextVar("unsaid", default=())


@contextmanager
def hushed(beginning: str = "") -> Iterator[None]:
    """Suppress RankevalWarnings that begin so, inside questions that serve another question.

    The filters of the process are unchanged, because all its threads share them.
    """
    before = _hushed_beginnings.set((*_hushed_beginnings.get(), beginning))
    try:
        yield
    finally:
        _hushed_beginnings.reset(before)


def warn(message: str) -> None:
    """Give a RankevalWarning at the line of the user's code that led here."""
    if message.startswith(_hushed_beginnings.get()):
        return
    # walk up to the first frame outside this package and the libraries that call it back
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("rankeval_pd.", "xarray.", "dask.", "numpy.")
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RankevalWarning, stacklevel=level)


class UnknownNameError(KeyError):
    """A name that the data do not have."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message, in quotes and on one line
        return str(self.args[0])


def unknown_name(role: str, name: object, known: Iterable[Hashable]) -> UnknownNameError:
    """Return the error for a column that does not exist, with the nearest name that does."""
    names = list(known)
    return UnknownNameError(
        f"{role}: no column {shown(name)}; there are {listed(names)}.{near_miss(name, names)}"
        " Give the name of one of these."
    )


def is_known(name: object, known: Iterable[Hashable]) -> bool:
    """Return whether a name is among others; unhashable objects are not."""
    try:
        return name in set(known)  # a set finds pd.NA by its hash; in a list it equals nothing
    except TypeError:
        return False


def shown(value: object) -> str:
    """Return a value as text, a NumPy number as the plain number."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def near_miss(name: object, known: Iterable[object]) -> str:
    """Return a hint with the nearest name; one that differs only in case comes first."""
    names = [str(x) for x in known]
    near = [x for x in names if x.lower() == str(name).lower()]
    near = near or difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def listed(names: Iterable[object], most: int = 12) -> str:
    """Return names as text; only the first few of many."""
    names = list(names)
    text = ", ".join(shown(x) for x in names[:most])
    return f"{text}, ... ({len(names)} in all)" if len(names) > most else text or "none"


def brief(values: object) -> str:
    """Return a number, or the first few of many, as text."""
    array = np.asarray(values)
    if array.ndim == 0:
        return shown(array.item())
    return f"[{listed(array.ravel().tolist())}]" if array.size else "[]"


def check_choice(argument: str, value: object, allowed: Iterable[str | None]) -> None:
    """Raise a ValueError unless ``value`` is one of ``allowed``."""
    choices = list(allowed)
    if not any(
        value is choice or (isinstance(value, str) and value == choice) for choice in choices
    ):
        raise ValueError(
            f"{argument}={shown(value)} is not one of {listed(choices)}. Give one of these."
        )


def check_share(argument: str, value: object, *, one: bool = False) -> float:
    """Return ``value`` as a float in (0, 1), or in (0, 1] where ``one`` is allowed."""
    allowed = "(0, 1]" if one else "(0, 1)"
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: give a number"
            f" in {allowed}."
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (0.0 < number < 1.0 or (one and number == 1.0)):
        hint = f" {number:g} % is {number / 100:g}." if 1.0 < number <= 100.0 else ""
        raise ValueError(
            f"{argument}={shown(value)} is outside {allowed}: give a number in it.{hint}"
        )
    return number


def check_shares(argument: str, given: object, *, one: bool = False) -> FloatArray:
    """Return a number in (0, 1), or several, each once, in the order asked for."""
    several = list(given) if np.iterable(given) and not isinstance(given, str) else [given]
    if not several:
        raise ValueError(f"{argument}={given!r} is empty: give a number, or several.")
    return np.array(list(dict.fromkeys(check_share(argument, x, one=one) for x in several)))


def check_shapes(**given: object) -> list[FloatArray]:
    """Return numbers as arrays of floats of shapes that go together."""
    check_together(**given)
    return [np.asarray(values, dtype=float) for values in given.values()]


def check_together(**given: object) -> None:
    """Raise a ValueError unless the shapes of several arrays go together."""
    try:
        arrays = [np.asarray(values) for values in given.values()]
    except ValueError as error:
        raise ValueError(f"{', '.join(given)}: one is no array ({error}). Give numbers.") from None
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        shapes = listed(x.shape for x in arrays)
        raise ValueError(
            f"{', '.join(given)} have the shapes {shapes}, which do not go together: give numbers,"
            " or arrays of one shape."
        ) from None


def check_flag(argument: str, value: object, *, none: bool = False) -> None:
    """Raise a TypeError unless a value is True or False, or None where that is allowed."""
    if not isinstance(value, (bool, np.bool_)) and not (none and value is None):
        allowed = "True, False or None" if none else "True or False"
        raise TypeError(f"{argument}={value!r}: give {allowed}.")


def check_count(argument: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: give a whole number of"
            f" {least} or more."
        )
    if value < least:
        raise ValueError(f"{argument}={shown(value)}: give a whole number of {least} or more.")
    return int(value)


def check_number(argument: str, value: object) -> float:
    """Return a finite number as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: give a number."
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{argument}={shown(value)}: give a finite number.")
    return number


_LARGEST_PHI = 1e6  # a larger overdispersion leaves no information in any list


def check_margin(margin: object, **undefined: bool) -> float | None:
    """Return the margin of a test of equivalence, None or a finite number above 0.

    ``undefined`` are options with which there is no such test, and whether they are given.
    """
    if margin is None:
        return None
    value = check_number("margin", margin)
    if not value > 0.0:
        raise ValueError(
            f"margin={value:g}: give the smallest difference that matters, a number above 0."
        )
    for option, given in undefined.items():
        if given:
            raise ValueError(
                f"margin={value:g} with {option}: no test with a margin holds its level here. Leave"
                f" one of the two out."
            )
    return value


def check_at_least_one(argument: str, value: object) -> float:
    """Return an overdispersion as a float of 1 or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{argument}={shown(value)} is of type {type(value).__name__}: give a number"
            " of 1 or more."
        )
    if not 1.0 <= value <= _LARGEST_PHI:
        raise ValueError(
            f"{argument}={shown(value)}: give a number from 1 to {_LARGEST_PHI:g}. An estimate"
            " below 1 is no reason for an interval narrower than the binomial one: give 1. It is at"
            " most the size of a list, whose candidates are then all alike."
        )
    return float(value)


_RATIO = 1.5  # of variances, from which on the interval of the region misleads about the list


def warn_of_thresholds(ratio: FloatArray, n: IntArray, exists: BoolArray, what: str) -> None:
    """Say where n-best lists vary far more than regions with a fixed threshold do."""
    if (ratio[exists] > _RATIO).any():
        worst = int(np.argmax(np.where(exists, ratio, 0.0)))
        warn(
            f"target='region': at n={int(n.ravel()[worst])} the {what} varies"
            f" {ratio.ravel()[worst]:.2g} times as much as that of a region with a fixed threshold,"
            f" which is what the interval is of (more than {_RATIO:g} times at"
            f" {int((ratio[exists] > _RATIO).sum())} of {int(exists.sum())} lists). For the list,"
            " give target='nbest'."
        )
