"""Makes a method of a function: data and roles filled in; signature, types and docstring kept."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

import pandas as pd
import xarray as xr

from rankeval_pd.forms.rankings import Data

Held = TypeVar("Held", pd.DataFrame, xr.Dataset)
Held_co = TypeVar("Held_co", pd.DataFrame, xr.Dataset, covariant=True)
P = ParamSpec("P")
Drawn = TypeVar("Drawn")
Drawn_co = TypeVar("Drawn_co", covariant=True)


class Holder(Protocol[Held_co]):
    """What holds data and the roles of their columns: an accessor, or its plots."""

    @property
    def _data(self) -> Held_co: ...

    @property
    def _roles(self) -> Mapping[str, Any]: ...


class Question(Protocol[P]):
    """A function of data: of a frame a frame, of a Dataset a Dataset."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Data:
        """Return the answer."""
        ...


class Method(Generic[P]):
    """What :func:`method` makes, as a type checker sees it."""

    def __get__(self, accessor: Holder[Held], owner: Any = None) -> Callable[P, Held]:
        """Return the function of the data that the accessor holds."""
        raise TypeError("for type checkers only")


class FrameMethod(Generic[P]):
    """What :func:`frame_method` makes, as a type checker sees it."""

    def __get__(self, accessor: Holder[Any], owner: Any = None) -> Callable[P, pd.DataFrame]:
        """Return the function of the data that the accessor holds."""
        raise TypeError("for type checkers only")


class Picture(Protocol[P, Drawn_co]):
    """A function that draws data."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Drawn_co:
        """Return where it is drawn."""
        ...


class PlotMethod(Generic[P, Drawn]):
    """What :func:`plot_method` makes, as a type checker sees it."""

    def __get__(self, plots: Holder[Held], owner: Any = None) -> Callable[P, Drawn]:
        """Return the function of the data that the plots hold."""
        raise TypeError("for type checkers only")


def method(question: Question[P]) -> Method[P]:
    """Return the function as a method of what holds its data and the roles of the columns."""
    return cast(Method[P], _forwarding(question))


def frame_method(
    question: Callable[Concatenate[pd.DataFrame, P], pd.DataFrame],
) -> FrameMethod[P]:
    """Return a function of DataFrames alone as a method; it refuses Datasets itself."""
    return cast(FrameMethod[P], _forwarding(question))


def plot_method(picture: Picture[P, Drawn]) -> PlotMethod[P, Drawn]:
    """Return the function that draws as a method of what holds the data."""
    return cast(PlotMethod[P, Drawn], _forwarding(picture))


def _forwarding(function: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)
    data, *others = signature.parameters.values()
    takes = {p.name for p in others}

    def forwarded(self: Holder[Any], *args: Any, **kwargs: Any) -> Any:
        held = self._roles
        if "metric" not in takes and "gold" not in takes:  # of the roles, only some are taken
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
    """Return a docstring of numpy's style without one parameter of the list."""
    if text is None:
        return None
    text = re.sub(rf"(?m)^(    ){name}, (?=\S)", r"\1", text, count=1)
    return re.sub(rf"(?m)^    {name}( :.*)?\n(?:        .*\n|\n(?=        ))*", "", text, count=1)
