"""Honest statistics for rankings: a ``.rankeval`` accessor for DataFrames and Datasets.

``import rankeval_pd`` registers the accessor; the same methods are functions here, with the data
as their first argument. Their list is ``__init__.pyi``; each is loaded when first asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import lazy_loader
import pandas as pd
import xarray as xr

from rankeval_pd.registration import registered

__version__ = "0.1.0"

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return a public name, or a module of this package, as if all of it were loaded."""
    if name not in __all__ and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    try:
        return _public(name)
    except AttributeError as error:
        if name.startswith("_") or name in __all__:
            raise
        overview = import_module(f"{__name__}.overview")
        said = overview.not_there(name, "public name", __all__, overview.SYNONYMS)
        said += f" {overview.TABLES}" if said.endswith("is meant?") else ""
        raise AttributeError(said, name=name) from error


pd.api.extensions.register_dataframe_accessor("rankeval")(registered("FrameAccessor"))
xr.register_dataset_accessor("rankeval")(registered("DatasetAccessor"))

if "dask.dataframe" in sys.modules:  # it is slow to load, and never loaded by this import
    import_module("rankeval_pd.dask")
