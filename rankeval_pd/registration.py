"""Register accessors with pandas, xarray and Dask, and load each accessor on first use."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any


def registered(accessor: str, module: str = "accessors") -> Any:  # type checkers see a class
    """Return a stand-in that loads an accessor on first use."""
    return _Registered(accessor, module)


def register_with_dask() -> None:
    """Register the accessor of Dask DataFrames once."""
    dask = import_module("dask.dataframe")
    if not hasattr(dask.DataFrame, "rankeval"):
        accessor = registered("DaskAccessor", "dask")
        dask.extensions.register_dataframe_accessor("rankeval")(accessor)


class _Registered:
    """Load the module of an accessor class on first use."""

    def __init__(self, accessor: str, module: str) -> None:
        self._name, self._module = accessor, module

    @cached_property
    def _accessor(self) -> Any:
        return getattr(import_module(f"rankeval_pd.{self._module}"), self._name)

    def __call__(self, data: Any) -> Any:
        """Return the accessor for the data."""
        return self._accessor(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._accessor, name)

    def __dir__(self) -> list[str]:
        return dir(self._accessor)

    def __repr__(self) -> str:
        return repr(self._accessor)
