"""Every result is saved in every format, read again, and written and drawn as before."""

from __future__ import annotations

import importlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.accessors import methods_of
from rankeval_pd.tables import rows_in
from tests.questions import ARGUMENTS, ASKED, FRAME, OTHER

pytestmark = [
    pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning"),
    pytest.mark.filterwarnings("ignore:The (codec|dtype) .* is currently not part:UserWarning"),
]

MEASURES = ["a", "b", "c"]
ROLES = {"gold": "gold", "measures": MEASURES}
ITEMS = pd.DataFrame(np.random.default_rng(0).integers(0, 2, size=(60, 3)), columns=list("abc"))
OWN_ROWS = (  # what they return are rows of the data
    "annotation_sheet", "with_judgements", "with_association_measures", "difference_region",
)  # fmt: skip
OF_FRAMES = ("plan_annotation", "annotation_sheet", "with_judgements")
OWN = {  # arguments of a method on top of those that the other walks have
    "per_query": ((["P@3", "AP"],), {}),
    "summary": (([5, 10],), {}),
    "with_association_measures": ((["G2", "t"],), {"margins": ["f", "f1", "f2", "N"]}),
}
RANKINGS = [*methods_of("rankings")]
SYSTEMS = [name for name in methods_of("items") if name != "summary"]
PAIRS = [*methods_of("pairs")]
# the plots that draw the table of a method, where the names differ
DRAWN = {
    "nbest_precision": "precision",
    "compare": "pairs",
    "summary": "measure_ranks",
    "paired_permutation": "confidence",
    "paired_bootstrap": "pairs",
    "population_calibration": "calibration",
    "repetition_samples": "repetition",
    "compare_area": "pairs",
}


def stacked(data: pd.DataFrame, dim: str, size: int) -> xr.Dataset:
    """Return candidates as a Dataset with one batch dimension."""
    values = {
        x: ((dim, "candidate"), data[x].to_numpy().reshape(size, -1)) for x in (*MEASURES, "gold")
    }
    return xr.Dataset(values, coords={dim: [f"{dim} {k}" for k in range(size)]})


def asked(form: str, name: str, of: str) -> Any:
    """Return the result of a method of this form, of rankings, items or pairs."""
    if of != "rankings":
        args, options = ARGUMENTS[name]
        args, options = (OTHER,) if name == "calibration" else args, dict(options)
        options.pop("relation", None)
        data: Any = ITEMS
        if form == "Dataset":
            data, *args = (
                x.rename_axis("item").to_xarray().to_dataarray("system").to_dataset(name="value")
                if isinstance(x, pd.DataFrame)
                else x
                for x in (ITEMS, *args)
            )
        data = data.rankeval.paired_bootstrap(n_resamples=50) if of == "pairs" else data
        return getattr(data.rankeval, name)(*args, **options)
    args, options = OWN.get(name) or ASKED[name]
    options = {**(ROLES if name not in OF_FRAMES else {}), **options}
    if name == "with_association_measures":
        data = pd.DataFrame({"f": [30, 2], "f1": [50, 50], "f2": [40, 40], "N": [1000, 1000]})
        data = data if form == "frame" else data.rename_axis("candidate").to_xarray()
        return getattr(data.rankeval, name)(*args, **(OWN[name][1]))
    columns = [*MEASURES, "gold", "other", "half", "query"]
    data = FRAME[columns[:5]]
    if name in OF_FRAMES:
        data = data.assign(gold=options.pop("gold", data["gold"]))
    if "by" in options or name == "per_query":
        by = options.pop("by", "query")
        if form == "frame":
            data, options = FRAME[[*MEASURES, "gold", by]], {**options, "by": by}
        else:
            data = stacked(FRAME.sort_values(by, kind="stable"), by, FRAME[by].nunique())
    elif form == "Dataset":
        data = data.rename_axis("candidate").to_xarray()
    return getattr(data.rankeval, name)(*args, **options)


CASES = [
    pytest.param(form, name, of, id=f"{form}-{name}-{of}")
    for of, names in (("rankings", RANKINGS), ("items", SYSTEMS), ("pairs", PAIRS))
    for name in names
    for form in ("frame", "Dataset")
    if form == "frame" or name not in OF_FRAMES
]


def netcdf(engine: str) -> Callable[..., Any]:
    def saved(table: xr.Dataset, path: Path) -> xr.Dataset:
        importlib.import_module("netCDF4" if engine == "netcdf4" else engine)
        table.to_netcdf(path, engine=engine)  # type: ignore[call-overload]
        return xr.load_dataset(path, engine=engine)

    return saved


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


def arrow(kind: str) -> Callable[..., Any]:
    def saved(table: pd.DataFrame, path: Path) -> pd.DataFrame:
        importlib.import_module("pyarrow")
        getattr(table, f"to_{kind}")(path)
        read: pd.DataFrame = getattr(pd, f"read_{kind}")(path)
        return read

    return saved


FORMATS: dict[str, dict[str, Callable[..., Any]]] = {
    "Dataset": {
        "netCDF 3": netcdf("scipy"),
        "netCDF 4": netcdf("netcdf4"),
        "h5netcdf": netcdf("h5netcdf"),
        "Zarr": zarr,
        "JSON": lambda x, path: xr.Dataset.from_dict(json.loads(json.dumps(x.to_dict()))),
        "pickle": lambda x, path: pickle.loads(pickle.dumps(x)),
    },
    "frame": {
        "Parquet": arrow("parquet"),
        "Feather": arrow("feather"),
        "JSON": with_attrs,
        "pickle": lambda x, path: pickle.loads(pickle.dumps(x)),
    },
}


def shown(table: Any, name: str) -> dict[str, Any]:
    """Return what is written and drawn of a table, or the error that refuses it."""

    def of(show: Callable[..., Any]) -> Any:
        try:
            return show()
        except (ValueError, TypeError) as error:
            return type(error).__name__

    found = {
        "words": of(lambda: rankeval_pd.in_words(table)),
        "methods": of(lambda: rankeval_pd.in_words(table, methods=True)),
        "paper": of(lambda: rankeval_pd.paper_table(table, "markdown")),
    }
    plot = DRAWN.get(name, name)
    if plot in plotting.__all__:
        figure = plt.figure()
        drawn = of(lambda: getattr(plotting, plot)(table))
        for ax in np.atleast_1d(drawn).ravel() if not isinstance(drawn, str) else []:
            figure = ax.figure
            lines = [line.get_xydata().tolist() for line in ax.lines]
            found |= {f"text of {ax}": [t.get_text() for t in figure.findobj(plt.Text)]}
            found |= {f"lines of {ax}": [str(np.array(x).round(9).tolist()) for x in lines]}
        found["plot"] = drawn if isinstance(drawn, str) else "drawn"
        plt.close("all")
    return found


def plain(rows: Any) -> list[list[str]]:
    """Return the user's rows as texts, what is missing as one."""
    rows = rows_in(rows) if isinstance(rows, xr.Dataset) else rows
    texts = rows.astype(object).where(rows.notna().to_numpy(), "missing").map(str)
    texts = texts[sorted(texts)]  # the user's own variables: Zarr has them in another order
    return [[*map(str, texts)], *texts.to_numpy().tolist()]


@pytest.mark.parametrize(("form", "name", "of"), CASES)
def test_a_result_is_saved_and_comes_back(form, name, of, tmp_path):
    table = asked(form, name, of)
    before = {} if name in OWN_ROWS else shown(table, name)
    tried = 0
    for number, (what, saved) in enumerate(FORMATS[form].items()):
        try:
            again = saved(table, tmp_path / str(number))
        except ImportError:
            continue  # the engine is not installed
        tried += 1
        if what == "Feather" and table.attrs and not again.attrs:
            assert int(importlib.import_module("pyarrow").__version__.split(".")[0]) < 26
            continue  # older ones lose what tells how a table was made
        assert {k: str(v) for k, v in again.attrs.items()} == {
            k: str(v) for k, v in table.attrs.items()
        }, what
        if name in OWN_ROWS:
            assert plain(again) == plain(table), what
        else:
            assert shown(again, name) == before, what
    assert tried >= (3 if form == "Dataset" else 2)
