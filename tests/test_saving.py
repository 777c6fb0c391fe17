"""Results of every method are saved in every format, read again, and told and drawn as before."""

from __future__ import annotations

import importlib
import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import plotting
from tests.plotting.seen import named, written
from tests.questions import ASKED, FRAME
from tests.test_tables import ITEMS, OF_ITEMS, RESULTS, of_rankings

pytestmark = [
    pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning"),
    pytest.mark.filterwarnings("ignore:The (codec|dtype) .* is currently not part:UserWarning"),
]

#: with groups, or of frames only
OF_FRAMES = ("plan_annotation", "repetition", "repetition_samples", "unpaired_area")
DRAWN = {"nbest_precision": "precision", "compare": "comparison", "paired_bootstrap": "pairs"}
DRAWN |= {name: name for name in ("system_ranks", "area", "roc", "random_bound", "calibration")}


def netcdf(table: xr.Dataset, path: Path, engine: Any) -> xr.Dataset:
    importlib.import_module("netCDF4" if engine == "netcdf4" else engine)
    table.to_netcdf(path, engine=engine)
    return xr.load_dataset(path, engine=engine)


def zarr(table: xr.Dataset, path: Path) -> xr.Dataset:
    importlib.import_module("zarr")
    table.to_zarr(path, consolidated=False, zarr_format=2)
    return xr.open_zarr(path, consolidated=False).load()


def with_attrs(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Save as the page of the documentation does: JSON has no place for attrs of its own."""
    path.write_text(json.dumps({"attrs": table.attrs, "table": table.to_dict("list")}, default=str))
    known = json.loads(path.read_text())
    result = pd.DataFrame(known["table"])
    result.attrs = known["attrs"]
    return result


def arrow(table: pd.DataFrame, path: Path, kind: str) -> pd.DataFrame:
    importlib.import_module("pyarrow")
    getattr(table, f"to_{kind}")(path)
    read: pd.DataFrame = getattr(pd, f"read_{kind}")(path)
    return read


def pickled(table: Any, _: Path) -> Any:
    return pickle.loads(pickle.dumps(table))


FORMATS: dict[str, dict[str, Callable[..., Any]]] = {
    "Dataset": {
        "netCDF 3": partial(netcdf, engine="scipy"),
        "netCDF 4": partial(netcdf, engine="netcdf4"),
        "h5netcdf": partial(netcdf, engine="h5netcdf"),
        "Zarr": zarr,
        "JSON": lambda x, path: xr.Dataset.from_dict(json.loads(json.dumps(x.to_dict()))),
        "pickle": pickled,
    },
    "frame": {
        "Parquet": partial(arrow, kind="parquet"),
        "Feather": partial(arrow, kind="feather"),
        "JSON": with_attrs,
        "pickle": pickled,
    },
}


def result(form: str, name: str) -> Any:
    """Return the table of a method of a frame, or its Dataset of a Dataset."""
    if name in OF_ITEMS:
        scores = ITEMS.rename_axis("item").to_xarray().to_dataarray("system")
        data = ITEMS if form == "frame" else scores.to_dataset(name="value")
        return OF_ITEMS[name](data.rankeval)
    if form == "frame":
        return of_rankings(name)
    args, options = ASKED[name]
    data = FRAME[["a", "b", "c", "gold", "other"]].rename_axis("candidate").to_xarray()
    roles = {"gold": "gold", "measures": ["a", "b", "c"]}
    return getattr(data.rankeval, name)(*args, **roles | options)


SHOWS = (
    rankeval_pd.in_words,
    partial(rankeval_pd.in_words, methods=True),
    partial(rankeval_pd.paper_table, to="markdown"),
)


def shown(table: Any, name: str) -> list[Any]:
    """Return what is told and drawn of a table, or the error that refuses it."""
    found = []
    for show in SHOWS:
        try:
            found.append(show(table))
        except (ValueError, TypeError) as error:
            found.append(type(error))
    if name in DRAWN:
        ax = getattr(plotting, DRAWN[name])(table)
        found += [named(ax), written(ax), [str(x.get_xydata().round(9).tolist()) for x in ax.lines]]
    return found


CASES = [
    *(("frame", name) for name in (*RESULTS, *OF_ITEMS)),
    *(("Dataset", name) for name in (*RESULTS, *OF_ITEMS) if name not in OF_FRAMES),
]


@pytest.mark.parametrize(("form", "name"), CASES)
def test_a_result_is_saved_and_comes_back(form, name, tmp_path):
    table = result(form, name)
    before, tried = shown(table, name), 0
    for number, (what, saved) in enumerate(FORMATS[form].items()):
        try:
            again = saved(table, tmp_path / str(number))
        except ImportError:
            continue  # the engine is not installed
        tried += 1
        if what == "Feather" and table.attrs and not again.attrs:
            assert int(importlib.import_module("pyarrow").__version__.split(".")[0]) < 26
            continue  # older ones lose what tells how a table was made
        texts = [{k: str(v) for k, v in x.attrs.items()} for x in (again, table)]
        assert texts[0] == texts[1], what
        assert shown(again, name) == before, what
    assert tried >= (3 if form == "Dataset" else 2)
