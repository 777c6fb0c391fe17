"""Turn functions into methods that fill in the data and roles."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

import pandas as pd
import xarray as xr

from rankeval_pd.forms.rankings.candidates import Data

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
