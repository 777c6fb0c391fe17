"""Every method with a valid call, and its data in every form: what the walks go over."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import xarray as xr

import rankeval_pd
import rankeval_pd.dask
from rankeval_pd.accessors import Accessor, methods_of
from rankeval_pd.options import declared
from tests.conftest import examples
from tests.questions import ASKED, CELLS, FRAME, OTHER, PARTLY

MEASURES = ["a", "b", "c"]
QUESTIONS = {name: question for name, (question, _) in declared(Accessor).items()}
METHODS = [*QUESTIONS]
RANKINGS = [name for name in METHODS if name in methods_of("rankings")]
PAIRS = [name for name in METHODS if name in methods_of("pairs")]
ITEMS = [name for name in METHODS if name not in RANKINGS + PAIRS]
OF_FRAMES = ("plan_annotation", "annotation_sheet", "with_judgements")
CELLED = "with_association_measures"
SAMPLES = ("repetition", "repetition_samples", "unpaired_area")  # by= is what they compare
RANKED = [name for name in RANKINGS if name not in (*OF_FRAMES, CELLED)]
PARTLY_JUDGED = [name for name in RANKED if name.startswith("judged")]

RANKING = FRAME[[*MEASURES, "gold", "other", "query", "half", "ident"]].assign(partly=PARTLY)
SCORES = pd.DataFrame(
    np.random.default_rng(0).normal(size=(48, 3)), columns=MEASURES, index=RANKING.index
)
SYSTEMS = SCORES.assign(query=RANKING["query"])
TABLES = pd.DataFrame({name: [value, value + 3] for name, value in CELLS.items()})

KEYS = (
    "query", "measure", "measure_a", "measure_b", "system", "system_a", "system_b", "n", "n_items",
    "p", "share", "metric", "statistic",
)  # fmt: skip
Arguments = tuple[tuple[Any, ...], dict[str, Any]]
OWN: dict[str, Arguments] = {
    "summary": (([5, 10],), {}),
    "acceptance_precision": (({"a": 3, "b": 2, "c": 0.5},), {}),
    "tie_sensitivity": (("a", "b", [5, 10]), {"n_keys": 4}),
    "significant_ranges": ((), {"n": range(1, 12), "alpha": 0.99}),
    "plan_annotation": (("a", "b", 10), {"gold": "partly", "alpha": 0.6}),
    "annotation_sheet": (("a", "b", 10), {"gold": "partly"}),
    "with_judgements": ((FRAME[["gold"]][:3],), {"gold": "gold"}),
    "per_query": ((["P@3", "AP"],), {"by": "query", "undefined": "zero"}),
    "paired_bootstrap": ((), {"n_resamples": 99}),
    "paired_permutation": ((), {"n_resamples": 99}),
    "system_ranks": ((), {"n_resamples": 99}),
    "gain_by_size": (([8, 12],), {"n_resamples": 99}),
    "population_calibration": ((12,), {"n_test_sets": 4, "n_resamples": 50, "bins": [0.1, 0.9]}),
    "gain_threshold": ((), {"window": (0.01, 0.99)}),
    "calibration": ((OTHER,), {"bins": [0.01, 0.99]}),
    CELLED: ((["G2", "t"],), {}),
}


def call(name: str) -> Arguments:
    """Return the arguments of a method, and its keywords with its roles."""
    args, options = OWN.get(name) or ASKED[name]
    roles: dict[str, Any] = {}
    if name in RANKED:
        gold = "partly" if name in PARTLY_JUDGED else "gold"
        roles = {"gold": gold, "measures": MEASURES}
    elif name in ITEMS:
        roles = {"measures": MEASURES}
    return args, {**roles, **options}


def data_of(name: str) -> pd.DataFrame:
    """Return the data of a method as a frame."""
    if name == CELLED:
        return TABLES
    if name in RANKINGS:
        return RANKING
    return SYSTEMS if name in ITEMS else pairs().copy()


@cache
def pairs() -> pd.DataFrame:
    """Return the pairs of the systems."""
    with rankeval_pd.set_options(details=True, progress=False):
        return SCORES.rankeval.paired_bootstrap(n_resamples=50)


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of a method after its data."""
    _, *others = inspect.signature(QUESTIONS[name]).parameters.items()
    return dict(others)


def of_session(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of a session that a method takes by keyword."""
    known = parameters(name)
    by_keyword = inspect.Parameter.KEYWORD_ONLY
    return {x: v for x, v in options.items() if x in known and known[x].kind is by_keyword}


def keywords(name: str) -> dict[str, Any]:
    """Return the call of a method by keyword."""
    args, options = call(name)
    return {**dict(zip(parameters(name), args, strict=False)), **options}


def ask(name: str, data: Any = None, **options: Any) -> Any:
    """Return the answer of a method, to its own data if no others are given."""
    data = data_of(name) if data is None else data
    return getattr(data.rankeval, name)(**{**keywords(name), **options})


def answered(name: str, data: Any = None, **options: Any) -> Any:
    """Return the answer of a call, or its error."""
    try:
        return ask(name, data, **options)
    except Exception as error:  # the errors are what is looked at
        return error


def ignored(name: str) -> list[str]:
    """Return the roles that have no effect, as the docstring says."""
    return re.findall(r"\* ``(\w+)``: Ignored", str(QUESTIONS[name].__doc__))


def forms(name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the data of a method in each form but a plain frame, with the options of the form."""
    if name not in (*RANKED, *ITEMS) or name in (*SAMPLES, "per_query"):
        return
    options = {"measures": None} if name in ITEMS else {}
    whole = dataset(name, queries(name, short=False))
    yield whole, options
    yield whole.chunk(query=1), options
    yield data_of(name), {"by": "query"}
    lazy = dask.dataframe.from_pandas(data_of(name), npartitions=2)
    yield lazy, {}
    yield lazy, {"by": "query"}


def queries(name: str, *, short: bool = True) -> pd.DataFrame:
    """Return the data of a method with labels that recur in its queries, some of them shorter."""
    data = data_of(name)
    data = data.set_axis(data.groupby("query").cumcount().rename("item"))
    if name in RANKINGS:
        data = data.rename_axis("candidate")
        data = data.iloc[[*range(13), *range(16, 47)]] if short else data
    return data


def dataset(name: str, data: pd.DataFrame) -> xr.Dataset:
    """Return a frame as a Dataset, with its queries, if it has any, along a dimension."""
    inner = "candidate" if name in RANKINGS else "item"
    grouped = "query" in data
    data = data.rename_axis(inner)
    data = data.set_index("query", append=True).swaplevel() if grouped else data
    if name in RANKINGS:
        return data.to_xarray()
    scores = data[MEASURES].to_xarray().to_dataarray("system")
    return scores.to_dataset(name="score")


def table_of(found: xr.Dataset, wanted: pd.DataFrame) -> pd.DataFrame:
    """Return a Dataset as the table it should be, without the padding of lists that are short."""
    table = found.to_dataframe().reset_index()
    assert {*wanted} <= {*table} <= {*wanted, "pair", "cut", "row"}
    keys = [name for name in KEYS if name in wanted]
    if not wanted.duplicated(keys).any():
        return wanted[keys].merge(table, how="left", validate="1:1")[[*wanted]]
    held = [name for name in wanted if name in found.data_vars]
    rows = table.dropna(subset=held, how="all")[[*wanted]]
    return rows.sort_values(keys, kind="stable", ignore_index=True)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return arguments, or a table, in which measures have other names."""
    if isinstance(value, pd.DataFrame):
        return value.rename(columns=names)
    if isinstance(value, dict):
        return {renamed(key, names): renamed(x, names) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(renamed(x, names) for x in value)
    return names.get(value, value) if isinstance(value, str) else value


def assert_equal(found: Any, wanted: Any, *, of: str, exact: bool = False, **how: Any) -> None:
    """Raise, with the name of the method, unless two tables are equal, but for last digits."""
    close: dict[str, Any] = {"check_exact": True} if exact else {"rtol": 1e-9, "atol": 1e-12}
    pd.testing.assert_frame_equal(found, wanted, obj=of, check_dtype=exact, **close, **how)


def some(names: Sequence[str], first: int) -> Sequence[str]:
    """Return the methods, in the quick run every fourth one from a first one on."""
    return names if examples(40) >= 40 else names[first::4]


def without(names: Iterable[str], *gone: str) -> list[str]:
    """Return the methods but those for which a property has no meaning."""
    assert {*gone} <= {*METHODS}
    return [name for name in names if name not in gone]
