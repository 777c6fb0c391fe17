"""Every method of odd data: the answer of plain ones, an empty one, or an error of our own."""

from __future__ import annotations

import gzip
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.accessors import methods_of
from tests.tools.fuzz.__main__ import is_clear

from tests.questions import ARGUMENTS, ASKED, CELLS, OTHER, PARTLY, FRAME  # isort: skip

MEASURES = ["a", "b", "c"]
PAIRS = ("gain_threshold", "calibration")
METHODS = sorted({*methods_of("rankings"), *methods_of("items"), *PAIRS})
ITEMS = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)), columns=MEASURES)
OWN: dict[str, Any] = {
    "per_query": ((["P@3", "AP"],), {"by": "query"}),
    "summary": (([5, 10],), {}),
    "with_association_measures": ((["G2", "t"],), {}),
}
PARTLY_JUDGED = ("plan_annotation", "annotation_sheet")


def data_of(method: str) -> pd.DataFrame:
    """Return plain data for a method."""
    if method == "with_association_measures":
        return pd.DataFrame({name: [value, value + 3] for name, value in CELLS.items()})
    if method in PAIRS:
        return ITEMS.rankeval.paired_bootstrap(n_resamples=50)
    if method not in ASKED and method not in OWN:
        return ITEMS
    # 16 bits hold the scores
    data = FRAME[["gold", "other", "half", "query"]].assign(**FRAME[MEASURES].astype("f2"))
    data = data[[*MEASURES, "gold", "other", "half", "query"]].astype(dict.fromkeys(MEASURES, "f8"))
    return data.assign(gold=PARTLY) if method in PARTLY_JUDGED else data


def ask(method: str, data: pd.DataFrame) -> Any:
    """Ask a question of data."""
    args, options = OWN.get(method) or ASKED.get(method) or ARGUMENTS[method]
    options = {k: v for k, v in options.items() if k != "relation" and k != "families"}
    if method in PARTLY_JUDGED:
        options = {"gold": "gold", **{k: v for k, v in options.items() if k != "gold"}}
    if method in ASKED or method in ("per_query", "summary"):
        options = {"gold": "gold", "measures": MEASURES, **options}
    if method == "with_judgements":
        options.pop("measures")
    if method == "calibration":
        args = (OTHER,)
    return getattr(data.rankeval, method)(*args, **options)


def readonly(data: pd.DataFrame) -> pd.DataFrame:
    """Return the frame on arrays that may not be written."""
    columns = {}
    for name, column in data.items():
        values = column.to_numpy().copy()
        values.setflags(write=False)
        columns[name] = values
    result = pd.DataFrame(columns, index=data.index, copy=False)
    result.attrs = data.attrs
    return result


def cast(data: pd.DataFrame, kinds: str, to: Callable[[pd.Series], Any]) -> pd.DataFrame:
    """Return the frame with the columns of these kinds in another form."""
    changed = {x: to(c) for x, c in data.items() if getattr(c.dtype, "kind", "O") in kinds}
    return data.assign(**changed)


ARROW = {"b": "bool[pyarrow]", "i": "int64[pyarrow]", "f": "double[pyarrow]", "O": "str"}
NULLABLE = {"b": "boolean", "i": "Int64", "f": "Float64", "O": "string"}


def of_types(data: pd.DataFrame, types: dict[str, str]) -> pd.DataFrame:
    """Return the frame in other dtypes for the same values."""
    pytest.importorskip("pyarrow")
    kinds = {x: getattr(t, "kind", "O") for x, t in data.dtypes.items()}
    return data.astype({x: types.get(kind, "str") for x, kind in kinds.items()})


SAME: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "read-only": readonly,
    "flags": lambda data: data.set_flags(allows_duplicate_labels=False),
    "float32": lambda data: cast(data, "f", lambda x: x.astype("f4")),
    "float16": lambda data: cast(data, "f", lambda x: x.astype("f2")),
    "Arrow": lambda data: of_types(data, ARROW),
    "nullable": lambda data: of_types(data, NULLABLE),
    "sparse": lambda data: cast(data, "f", lambda x: pd.arrays.SparseArray(x.to_numpy())),
    "objects": lambda data: cast(data, "fb", lambda x: x.astype(object)),
    "lists beside": lambda data: data.assign(words=pd.Series([["w"]] * len(data), data.index)),
    "float16 in by": lambda data: cast(data, "iu", lambda x: x.astype("f2")),
    "a view": lambda data: pd.concat([data, data])[: len(data)],
}
OTHERS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "empty": lambda data: data.iloc[:0],
    "one row": lambda data: data.iloc[:1],
    "two rows": lambda data: data.iloc[:2],
    "infinite": lambda data: cast(data, "f", lambda x: x.where(x > x.iloc[0], np.inf)),
    "lists": lambda data: cast(data, "f", lambda x: pd.Series([[1.0]] * len(x), x.index)),
    "text": lambda data: cast(data, "f", lambda x: x.astype(str)),
    "no columns": lambda data: data[[]],
}


def answered(method: str, data: pd.DataFrame) -> Any:
    """Return the answer or the error, and raise where another package warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = ask(method, data)
        except Exception as error:
            found = error
    foreign = [x for x in caught if not issubclass(x.category, rankeval_pd.RankevalWarning)]
    assert [f"{x.category.__name__}: {x.message}" for x in foreign] == []
    return found


@pytest.mark.parametrize("kind", SAME)
@pytest.mark.parametrize("method", METHODS)
def test_data_in_another_form(method, kind):
    plain = data_of(method)
    wanted = answered(method, plain)
    if isinstance(wanted, Exception):
        raise wanted
    found = answered(method, SAME[kind](plain))
    if kind == "lists beside" and not isinstance(found, Exception):
        found = found.drop(columns="words", errors="ignore")
    if isinstance(found, Exception):
        assert is_clear(found), repr(found)
        assert kind in ("lists beside", "objects"), repr(found)
        return
    pd.testing.assert_frame_equal(
        found.astype(object).astype(str), wanted.astype(object).astype(str), check_flags=False
    ) if kind in ("flags", "read-only", "a view") else None
    assert list(found.columns) == list(wanted.columns)
    assert len(found) == len(wanted)
    for name in wanted:
        if getattr(wanted[name].dtype, "kind", "O") in "fi" and kind not in ("float16", "float32"):
            np.testing.assert_allclose(
                found[name].to_numpy(dtype=float, na_value=np.nan),
                wanted[name].to_numpy(dtype=float, na_value=np.nan),
                rtol=1e-12, err_msg=str(name),
            )  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("method", METHODS)
def test_data_that_hold_little_or_odd_things(method, kind):
    found = answered(method, OTHERS[kind](data_of(method)))
    if isinstance(found, Exception):
        assert is_clear(found), repr(found)
        assert len(str(found)) > 30
    else:
        assert isinstance(found, pd.DataFrame)


# -------------------------------------------------------------------------------------------------
# What was met by an error of another package, by one without the name, or by a wrong answer.


@pytest.mark.parametrize("method", ["judged_difference", "plan_annotation", "annotation_sheet"])
def test_one_measure_of_two(method):
    data = FRAME[MEASURES].assign(gold=PARTLY)
    with pytest.raises(TypeError, match="b=None: pass one measure"):
        getattr(data.rankeval, method)("a", None, 10)


def test_a_sheet_of_what_is_all_judged_is_empty():
    sheet = FRAME[[*MEASURES, "gold"]].rankeval.annotation_sheet("a", "b", 10)
    assert (len(sheet), list(sheet)) == (0, ["gold"])


def test_labels_and_groups_of_lists():
    data = FRAME[["a", "gold"]].assign(words=[[k % 9] for k in range(48)])
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"39 of 48 rows repeat .* \[0\], \[1\]"):
        found = data.rankeval(label="words").nbest_precision(5)
    assert len(found) == 1
    with pytest.raises(TypeError, match=r"groups='words' has labels .* \[0\].*astype\(str\)"):
        data.rankeval(groups="words").nbest_precision(5)


def test_groups_of_sixteen_bits():
    data = FRAME[["a", "gold", "half"]].astype({"half": "f2"})
    found = data.rankeval(by="half", measures="a").nbest_precision(5)
    assert found["half"].tolist() == [0.0, 1.0]
    assert found["half"].dtype == np.float32


def owners() -> dict[str, Any]:
    """Return what has public functions and methods."""
    found = {"rankeval_pd": rankeval_pd, "plotting": plotting, "datasets": rankeval_pd.datasets}
    for name, data in {"rankings": FRAME, "Dataset": FRAME.to_xarray(), "items": ITEMS}.items():
        found[name], found[f"{name}, plot"] = data.rankeval, data.rankeval.plot
    return found


def needed_arguments(owner: Any) -> dict[str, list[str]]:
    """Return the arguments without a default of each public function or method."""
    asked = {}
    for name in getattr(owner, "__all__", dir(owner)):
        if callable(getattr(owner, name)) and name != "RankevalWarning":
            parameters = inspect.signature(getattr(owner, name)).parameters.values()
            named = [x for x in parameters if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)]
            asked[name] = [x.name for x in named if x.default is x.empty]
    return asked


@pytest.mark.parametrize("owner", owners())
def test_arguments_that_are_missing_are_named(owner):
    owner = owners()[owner]
    asked = {name: needed for name, needed in needed_arguments(owner).items() if needed}
    for name, needed in asked.items():
        for gone in needed:
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                getattr(owner, name)(**{x: FRAME for x in needed if x != gone})
        with pytest.raises(TypeError, match=f"'{needed[0]}'.* must be given: call {name}"):
            getattr(owner, name)()
    assert asked


@pytest.mark.parametrize("owner", owners())
def test_arguments_without_a_name_are_refused(owner):
    owner = owners()[owner]
    for name in needed_arguments(owner):
        parameters = inspect.signature(getattr(owner, name)).parameters.values()
        if not any(x.kind is x.VAR_POSITIONAL for x in parameters):
            unnamed = sum(x.kind is x.POSITIONAL_OR_KEYWORD for x in parameters)
            with pytest.raises(TypeError, match=rf"^17 must be passed by keyword: call {name}\("):
                getattr(owner, name)(*[FRAME] * unnamed, 17)


def test_a_call_without_arguments_shows_the_whole_call():
    with pytest.raises(
        TypeError,
        match=r"^'n' must be given: call random_cdf\(data, n\), or as a method without data\.$",
    ):
        FRAME.rankeval.random_cdf()
    with pytest.raises(
        TypeError, match=r"^'quality' must be given: call .*\(share, quality=\.\.\.\)\.$"
    ):
        rankeval_pd.datasets.true_precision(0.1)


def test_arguments_of_dask_that_are_missing_are_named():
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    owner = dd.from_pandas(FRAME[["a", "b", "gold"]], npartitions=2).rankeval
    asked = {name: needed for name, needed in needed_arguments(owner).items() if needed}
    assert {"head", "mean_difference", "isolines"} <= set(asked)
    for name, needed in asked.items():
        for gone in needed:
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                getattr(owner, name)(**{x: 5 for x in needed if x != gone})
    with pytest.raises(TypeError, match=r"Unknown keyword 'confidence'. Did you mean 'level'"):
        owner.area(confidence=0.9)


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: rankeval_pd.compare_for(1, 2, 1, 2, conf=0.9), "level"),
        (lambda: rankeval_pd.set_options(detail=True), "details"),
        (lambda: rankeval_pd.datasets.simulate_candidates(random_state=1), "rng"),
        (lambda: rankeval_pd.precision_interval(1, 2, confidence=0.9), "level"),
    ],
)
def test_unknown_keywords_of_functions_without_data(ask, meant):
    with pytest.raises(TypeError, match=rf"Unknown keyword .* Did you mean '{meant}'\?"):
        ask()


def test_a_file_of_gzip_that_ends_early(tmp_path):
    lines = "\n".join(f"q1 Q0 d{k} {k} {1 / (k + 1)} run" for k in range(1_000))
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(lines.encode())[:500])
    with pytest.raises(
        ValueError, match=rf"{path.name} is not a complete gzip file.*Copy it again"
    ):
        rankeval_pd.read_trec(path)


def test_a_file_of_parquet_that_ends_early(tmp_path):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("pyarrow")
    import dask.dataframe as dd

    import rankeval_pd.dask

    for number in range(3):
        FRAME[["a", "gold"]].reset_index(drop=True).to_parquet(tmp_path / f"{number}.parquet")
    path = tmp_path / "1.parquet"
    path.write_bytes(path.read_bytes()[:300])
    ddf = dd.read_parquet(tmp_path)
    for ask in (lambda r: r.nbest_precision(5), lambda r: r.area(), lambda r: r.head(5)):
        with pytest.raises(
            ValueError, match=r"A partition of data cannot be read: .*part\.compute\(\)"
        ):
            ask(ddf.rankeval(label=rankeval_pd.dask.ROWS))


def test_errors_of_pairs_with_repeated_labels():
    """Their errors were taken several times each."""
    pairs = ITEMS.rankeval.paired_bootstrap(n_resamples=50)
    twice = pairs.set_axis([0, 0, 1])
    pd.testing.assert_frame_equal(
        twice.rankeval.gain_threshold(window=(0.01, 0.99)),
        pairs.rankeval.gain_threshold(window=(0.01, 0.99)),
    )


@pytest.mark.parametrize("value", [pd.NA, np.array([[1, 2]]), ["estimate"]])
def test_a_choice_that_is_no_text(value):
    with pytest.raises((TypeError, ValueError), match=r"unjudged=.* is not one of None"):
        FRAME[["a", "gold"]].rankeval.nbest_precision(5, unjudged=value)


# -------------------------------------------------------------------------------------------------
# The typed door.


def test_the_typed_door_is_the_accessor():
    data = FRAME[["a", "b", "gold"]]
    ds = data.rename_axis("candidate").to_xarray()
    door = rankeval_pd.rankeval(data, gold="gold", measures="a")
    assert isinstance(door, rankeval_pd.FrameAccessor)
    pd.testing.assert_frame_equal(
        door.nbest_precision(5), data.rankeval(gold="gold", measures="a").nbest_precision(5)
    )
    assert isinstance(rankeval_pd.rankeval(ds), rankeval_pd.DatasetAccessor)
    assert rankeval_pd.rankeval(ds).area().identical(ds.rankeval.area())
    with pytest.raises(TypeError, match="goald"):
        rankeval_pd.rankeval(data, goald="gold")


def test_the_typed_door_of_dask_frames():
    dd = pytest.importorskip("dask.dataframe")
    ddf = dd.from_pandas(FRAME[["a", "gold"]], npartitions=2)
    found = rankeval_pd.rankeval(ddf, gold="gold").nbest_precision(5)
    assert found["tp"].tolist() == FRAME[["a", "gold"]].rankeval.nbest_precision(5)["tp"].tolist()


@pytest.mark.parametrize(
    ("package", "make", "way"),
    [
        ("pyarrow", lambda p, df: p.table(df), "to_pandas()"),
        ("polars", lambda p, df: p.from_pandas(df), "to_pandas()"),
        ("polars", lambda p, df: p.from_pandas(df).lazy(), "collect().to_pandas()"),
        ("duckdb", lambda p, df: p.sql("select 1 as a, true as gold"), "df()"),
        ("xarray", lambda p, df: df["a"].to_xarray(), "to_dataset(dim='measure')"),
        ("pandas", lambda p, df: df["a"], "to_frame()"),
    ],
    ids=["Arrow", "polars", "polars, lazy", "DuckDB", "DataArray", "Series"],
)
def test_tables_of_other_packages_are_refused_with_the_line_that_converts_them(package, make, way):
    table = make(pytest.importorskip(package), FRAME[["a", "gold"]])
    for ask in (
        rankeval_pd.rankeval,
        rankeval_pd.paired_bootstrap,
        lambda data: rankeval_pd.nbest_precision(data, 5),
        rankeval_pd.plotting.roc,
        lambda data: rankeval_pd.plan_annotation(data, "a", "b", 5),
    ):
        with pytest.raises(TypeError) as refused:
            ask(table)
        assert str(refused.value).endswith(f".{way}.")
