"""Datasets: dimensions, coordinates, padding and lazy batches, as the frame that they equal."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

CUTS = {"a": [0, 2, 4], "b": 1, "c": [0.25, -0.3]}
SETS = {
    "a": "a", "b": "b", "thresholds": {"a": [1, 3], "b": [-1, -3]}, "lower_is_better": "b",
}  # fmt: skip
LISTS = {"adjust": "holm", "n": [9, 4]}


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame, **options: Any) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, **options)


def as_table(result: xr.Dataset, columns: list[str]) -> pd.DataFrame:
    found = result.to_dataframe().reset_index()
    assert set(columns) <= set(found.columns) <= {*columns, "pair", "cut", "row"}
    return found[columns]


def _padded(ragged: pd.DataFrame) -> xr.Dataset:
    """Return the queries as a dimension: what a query lacks has no gold and no scores."""
    indexed = ragged.astype({"gold": float}).set_index("query", append=True).swaplevel()
    return xr.Dataset.from_dataframe(indexed)


def batches(**sizes: int) -> xr.Dataset:
    """Return random rankings of these sizes."""
    rng = np.random.default_rng(1)
    shape = tuple(sizes.values())
    scores = {name: (tuple(sizes), rng.random(shape)) for name in ("x", "y")}
    return xr.Dataset(scores | {"gold": (tuple(sizes), rng.random(shape) < 0.5)})


def _refused(*_args, **_how):
    raise AssertionError("computed")


# ------------------------------------------------------------------ the frame that a Dataset equals


@pytest.mark.parametrize(("method", "keywords"), [("compare_thresholds", SETS), ("compare", LISTS)])
def test_a_comparison_in_a_dataset_has_the_dtypes_and_facts_of_the_frame_s(frame, method, keywords):
    """That all methods have the numbers is walked in test_properties.py."""
    frame = frame.assign(b=-frame["a"].sample(frac=1, random_state=3).to_numpy())
    ds = xr.Dataset.from_dataframe(frame)
    wanted = getattr(frame.rankeval, method)(**keywords)
    found = getattr(ds.rankeval, method)(**keywords)
    assert isinstance(found, xr.Dataset)
    table = as_table(found, list(wanted.columns))
    assert_same(table, wanted, check_dtype=False)
    for name in wanted:  # the same dtypes but those of names
        if wanted[name].dtype.kind in "bif":
            assert table[name].dtype == wanted[name].dtype, name
    assert json.loads(found.attrs.pop("columns")) == [*found.variables]
    counted = {"n_candidates", "n_rankings"}  # a lazy Dataset does not know them
    assert found.attrs == {k: x for k, x in wanted.attrs.items() if k not in counted}


def test_acceptance_sets_of_list_sizes_lie_along_n(frame):
    found = xr.Dataset.from_dataframe(frame).rankeval.acceptance_precision(n=[4, 9])
    assert found.sizes["n"] == 2
    assert "cut" not in found.sizes
    assert found["n"].to_numpy().tolist() == [4, 9]


def test_thresholds_of_different_numbers_in_a_dataset(frame):
    wanted = frame.rankeval.acceptance_precision(CUTS)
    ds = xr.Dataset.from_dataframe(frame).rankeval.acceptance_precision(CUTS)
    found = as_table(ds, list(wanted.columns)).dropna(subset=["threshold"]).reset_index(drop=True)
    assert_same(found, wanted, check_dtype=False)


def test_without_a_coordinate_the_label_is_the_position(frame):
    ds = xr.Dataset.from_dataframe(frame).drop_vars("candidate")
    wanted = frame.reset_index(drop=True).rankeval.compare()
    assert_same(as_table(ds.rankeval.compare(), list(wanted.columns)), wanted, check_dtype=False)


@pytest.mark.parametrize("key", [False, True])
def test_gold_may_lack_the_batch(frame, key):
    others = frame.assign(**{m: frame[m].sample(frac=1, random_state=5).to_numpy() for m in "abc"})
    ds = xr.concat(
        [xr.Dataset.from_dataframe(x.drop(columns="gold")) for x in (frame, others)],
        dim=pd.Index(["q", "r"], name="query"),
    ).assign(gold=("candidate", frame["gold"]))
    ident = np.arange(30)[::-1]
    roles = {"measures": ["a", "b", "c"], "key": "ident" if key else None}
    found = ds.assign(ident=("candidate", ident)).rankeval.compare(**roles)
    found = found.to_dataframe().reset_index()
    both = pd.concat([x.assign(query=q, ident=ident) for q, x in (("q", frame), ("r", others))])
    wanted = both.rankeval.compare(by="query", **roles)
    assert_same(found[wanted.columns], wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("gold", "score"),
    [("boolean", "Float64"), ("bool[pyarrow]", "double[pyarrow]"), ("Int64", "Int64")],
)
def test_nullable_columns_in_a_dataset(frame, gold, score):
    plain = frame.assign(a=frame["a"].round(), b=frame["b"].round(), c=(frame["c"] * 10).round())
    data = plain.astype({"gold": int}).astype({"gold": gold, **dict.fromkeys("abc", score)})
    if gold == "bool[pyarrow]":
        data["gold"] = plain["gold"].astype(gold)
    found = xr.Dataset.from_dataframe(data).rankeval(measures=["a", "b", "c"], gold="gold")
    wanted = plain.rankeval.compare()
    assert_same(as_table(found.compare(), list(wanted.columns)), wanted, check_dtype=False)


@pytest.mark.parametrize("gold", ["Int64", "bool[pyarrow]", "object", "boolean"])
def test_padding_of_nullable_columns(gold):
    data = pd.DataFrame({"a": [3.0, 2.0, 1.0], "gold": [True, False, True]})
    labels = pd.array([1, 0, None], dtype="Int64" if gold == "Int64" else "boolean").astype(gold)
    frame = pd.DataFrame({"a": [3.0, 2.0, np.nan], "gold": labels})
    frame = frame.rename_axis("candidate")
    found = xr.Dataset.from_dataframe(frame).rankeval(gold="gold", measures="a").nbest_precision()
    wanted = data.iloc[:2].rankeval.nbest_precision()
    table = as_table(found, list(wanted.columns))
    assert_same(table.iloc[:2], wanted, check_dtype=False)
    assert table.iloc[2].drop(["measure", "n"]).isna().all()


@pytest.mark.parametrize("method", ["random_bound", "isolines"])
def test_labels_that_break_no_ties_where_scores_play_no_part(method):
    """A frame with them is answered: so is a Dataset."""
    labels = np.empty(4, dtype=object)
    labels[:] = [frozenset({k}) for k in range(4)]
    values = {"x": np.arange(4.0), "gold": np.array([True, False, True, False])}
    ds = xr.Dataset(
        {name: ("candidate", column) for name, column in values.items()},
        coords={"candidate": labels},
    )
    found = getattr(ds.rankeval, method)(n=[1, 2]).to_dataframe().reset_index()
    wanted = getattr(pd.DataFrame(values, index=labels).rankeval, method)(n=[1, 2])
    names = [name for name in wanted if name in found]
    pd.testing.assert_frame_equal(found[names], wanted[names], check_dtype=False)


def test_swapped_bytes_in_several_chunks():
    """Ties at the end of a part's head, one of which is kept."""
    scores = np.repeat([1.0, 2.0], 25).astype(">f8")
    ds = xr.Dataset(
        {"x": ("candidate", scores), "gold": ("candidate", np.arange(50) % 3 == 0)},
        coords={"candidate": [f"c{k}" for k in range(50)]},
    )
    found = ds.chunk(candidate=30).rankeval.random_test([1]).compute()
    xr.testing.assert_allclose(found, ds.rankeval.random_test([1]))


# ----------------------------------------------------------------------- dimensions and coordinates


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_dimensions_of_results(frame):
    ds = xr.Dataset.from_dataframe(frame).expand_dims(query=["q", "r"])
    sizes = {
        "nbest_precision": ({"n": [3, 9]}, "tp", ("query", "measure", "n")),
        "acceptance_precision": ({"threshold": CUTS}, "tp", ("query", "measure", "cut")),
        "compare": ({"n": [3, 9]}, "p_value", ("query", "pair", "n")),
        "random_bound": ({"p": [0.05, 0.5], "n": [3, 9]}, "critical", ("query", "p", "n")),
        "random_test": ({"n": [3, 9]}, "p_value", ("query", "measure", "n")),
        "significant_ranges": ({"alpha": 0.9}, "p_max", ("row",)),
    }
    for method, (keywords, name, dims) in sizes.items():
        found = getattr(ds.rankeval, method)(**keywords)
        assert found[name].dims == dims, method
    compared = ds.rankeval.compare(n=3)
    assert compared["measure_a"].dims == compared["measure_b"].dims == ("pair",)
    assert {"measure_a", "measure_b"} <= set(compared.coords)


def test_a_dimension_measure_is_split(frame):
    ds = xr.Dataset.from_dataframe(frame)
    scores = xr.concat([ds[m] for m in "abc"], dim=pd.Index(list("abc"), name="measure"))
    stacked = xr.Dataset({"score": scores.transpose("candidate", "measure"), "gold": ds["gold"]})
    found = stacked.rankeval.acceptance_precision(CUTS)
    xr.testing.assert_identical(found, ds.rankeval.acceptance_precision(CUTS))


def test_the_name_of_the_dimension(frame):
    ds = xr.Dataset.from_dataframe(frame)
    found = ds.rename(candidate="document").rankeval(dim="document").acceptance_precision(CUTS)
    xr.testing.assert_identical(found, ds.rankeval.acceptance_precision(CUTS))
    with pytest.raises(ValueError, match=r"data has no dimension 'candidate', only 'document'"):
        ds.rename(candidate="document").rankeval.nbest_precision()
    with pytest.raises(ValueError, match=r"dim='document' names a dimension of a Dataset"):
        frame.rankeval.nbest_precision(dim="document")


def test_a_gold_label_along_the_measures():
    ds = xr.Dataset(
        {
            "score": (("candidate", "measure"), np.zeros((4, 2))),
            "gold": (("candidate", "measure"), np.zeros((4, 2), dtype=bool)),
        },
        coords={"measure": ["x", "y"]},
    )
    with pytest.raises(ValueError, match="dimension 'measure'"):
        ds.rankeval.nbest_precision(1)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("name", ["tp", "score", "measure", "n"])
def test_scalar_coordinates_of_any_name(name, lazy):
    plain = batches(q=2, candidate=60)
    data = plain.assign_coords({name: 5})
    data = data.chunk() if lazy else data
    for ask in (
        lambda ds: ds.rankeval.nbest_precision([3, 5])["precision"],
        lambda ds: ds.rankeval.compare("x", "y", 3)["p_value"],
        lambda ds: ds.rankeval.roc()["tpr"],
        lambda ds: ds.rankeval.area()["area"],
    ):
        np.testing.assert_array_equal(ask(data).to_numpy(), ask(plain).to_numpy())


def test_by_is_not_for_datasets():
    ds = batches(candidate=5)
    with pytest.raises(
        ValueError,
        match=r"by='query' is for DataFrames, but a Dataset stores groups along",
    ):
        ds.rankeval.nbest_precision(by="query")


# --------------------------------------------- difference regions, whose rows are those of the data


@pytest.mark.filterwarnings("ignore:1 of 3 groups:rankeval_pd.RankevalWarning")
def test_the_padded_difference_region(ragged):
    wanted = ragged.rankeval.difference_region("a", "b", 6, by="query")
    found = _padded(ragged).rankeval.difference_region("a", "b", 6).to_dataframe().reset_index()
    columns = ["query", "candidate", "list", "rank_a", "rank_b"]
    order = {"by": ["query", "candidate"], "ignore_index": True}
    assert_same(
        found[columns].sort_values(**order),
        wanted.reset_index()[columns].sort_values(**order),
        check_dtype=False,
    )


def test_a_region_of_variables_that_only_pandas_has():
    rng = np.random.default_rng(0)
    text = pd.array([f"c{k}" for k in range(12)], dtype="string")
    data = xr.Dataset({name: ("candidate", rng.random(12)) for name in ("x", "y")})
    data = data.assign(gold=("candidate", rng.random(12) < 0.5), word=("candidate", text))
    region = data.rankeval.difference_region("x", "y", 4)
    plain = data.assign(word=("candidate", np.arange(12))).rankeval.difference_region("x", "y", 4)
    assert list(region["word"].to_numpy()) == [f"c{k}" for k in plain["word"].to_numpy()]
    assert list(region.data_vars) == list(plain.data_vars)
    with pytest.raises(TypeError, match="b="):
        data.rankeval.difference_region("x", ["y"], 4)


# -------------------------------------------------------- batches without candidates, short batches


@pytest.mark.parametrize("lazy", [False, True])
def test_no_batch_and_no_candidate(lazy):
    none, empty = batches(q=0, candidate=5), batches(q=2, candidate=0)
    if lazy:
        none, empty = none.chunk(), empty.chunk()
    for ask in (lambda r: r.nbest_precision(2), lambda r: r.difference_region("x", "y", 2)):
        with pytest.raises(ValueError, match="data has no group, measure or system along 'q'"):
            ask(none.rankeval)
    assert empty.rankeval.nbest_precision().sizes == {"q": 2, "measure": 2, "n": 0}


@pytest.mark.parametrize("lazy", [False, True])
def test_lists_longer_than_some_batches(lazy):
    data = batches(q=2, candidate=6)
    data["gold"] = data["gold"].astype(float)
    data["gold"][1, 4:] = data["x"][1, 4:] = data["y"][1, 4:] = np.nan
    asked = data.chunk() if lazy else data
    table = asked.rankeval.nbest_precision([3, 6]).compute()
    assert np.isnan(table["precision"].to_numpy()).tolist() == [
        [[False] * 2] * 2,
        [[False, True]] * 2,
    ]
    with pytest.raises(ValueError, match="n=9 exceeds the number of candidates, 6"):
        asked.rankeval.nbest_precision([3, 9])


def test_joined_groups_none_of_which_has_a_list_so_long():
    """Lazily, divisions are of when it is computed."""
    rng = np.random.default_rng(0)
    padding = np.where(np.arange(30) < np.array([[20], [9]]), 0.0, np.nan)
    values = rng.random((3, 2, 30))
    values[2] = values[2] < 0.4
    pairs = zip(("x", "y", "gold"), values + padding, strict=True)
    ds = xr.Dataset({name: (("query", "candidate"), x) for name, x in pairs})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        found = ds.chunk(query=1).rankeval.compare(combine=True).compute()
    assert np.isnan(found["precision_a"].sel(n=[25, 30])).all()
    assert (~np.isnan(found["precision_a"].sel(n=9))).all()


# ------------------------------------------------------------------------------------- lazy batches


def test_lazy_scores_that_are_no_numbers_are_refused_at_once():
    pytest.importorskip("dask")
    data = batches(q=2, candidate=6)
    lazy = data.assign(x=data["x"] + 1j).chunk({"q": 1})
    with pytest.raises(TypeError, match="'x' has dtype complex128"):
        lazy.rankeval.nbest_precision(2, measures=["x"])
    none = data.chunk({"q": 1}).rankeval.acceptance_precision({"x": []}, measures=["x"])
    assert none["tp"].sizes["cut"] == 0


@pytest.mark.full
def test_partly_judged_lists_of_lazy_batches():
    pytest.importorskip("dask")
    data = batches(q=3, candidate=20)
    data = data.assign(gold=data["gold"].where(data["x"] < 0.7))
    lazy = data.chunk({"q": 2, "candidate": 7})
    for ask in (
        lambda x: x.rankeval.judged_precision([0.1, 0.5]),
        lambda x: x.assign(rate=("candidate", np.full(20, 0.7))).rankeval.judged_precision(
            [2, 5], judged_with="rate", measures=["x", "y"]
        ),
        lambda x: x.rankeval.judged_precision(None),
    ):
        xr.testing.assert_identical(ask(lazy).compute(), ask(data))


@pytest.mark.parametrize("kind", ["intervals", "texts"])
def test_groups_that_dask_does_not_know(kind):
    names = pd.interval_range(0, 6) if kind == "intervals" else [f"c{k}" for k in range(6)]
    rng = np.random.default_rng(0)
    ds = xr.Dataset(
        {
            "x": (("query", "doc"), rng.random((3, 6))),
            "gold": (("query", "doc"), rng.random((3, 6)) < 0.5),
        },
        coords={"doc": ("doc", pd.Index(names, dtype=None if kind == "intervals" else object))},
    )
    roles = {"dim": "doc", "groups": "doc"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        found = ds.chunk(query=1).rankeval.nbest_precision([2], **roles).compute()
        xr.testing.assert_identical(found, ds.rankeval.nbest_precision([2], **roles))


def test_a_dimension_of_one_variable_alone_is_asked_about():
    rng = np.random.default_rng(0)
    ds = xr.Dataset(
        {
            "X": (("candidate", "feature"), rng.random((30, 4))),
            "a": ("candidate", rng.random(30)),
            "gold": ("candidate", rng.random(30) < 0.5),
        }
    )
    for data in (ds, ds.chunk(candidate=10)):
        with pytest.raises(ValueError, match=r"'X' has the dimension 'feature', .*exclude='X'"):
            data.rankeval.area()
    assert ds.rankeval.area(exclude="X")["measure"].to_numpy().tolist() == ["a"]
    assert ds.rankeval.area(measures=["X", "a"]).sizes == {"feature": 4, "measure": 2}
    assert ds.drop_vars("a").rankeval.area().sizes == {"feature": 4, "measure": 1}
