"""Thresholds meet float32 columns as in pandas: 0.7 is reached by a float32 score of 0.7."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd.dask  # noqa: F401

QUIET = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


THRESHOLDS = {"s": 0.7, "t": 0.3}


@pytest.fixture(scope="module")
def tenths() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    scores = {name: rng.integers(0, 11, 400).astype(np.float32) / np.float32(10) for name in "st"}
    return pd.DataFrame({**scores, "gold": rng.random(400) < 0.4, "q": np.arange(400) // 100})


def counted(tenths: pd.DataFrame) -> list[int]:
    """Return what pandas counts, which differs from the counts of float64."""
    found = [int((tenths[name] >= cut).sum()) for name, cut in THRESHOLDS.items()]
    wide = [int((tenths[name].astype(float) >= cut).sum()) for name, cut in THRESHOLDS.items()]
    assert found[0] > wide[0]
    return found


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float16", pd.SparseDtype("float32")])
def test_acceptance_sets_of_frames(tenths, dtype):
    wanted = counted(tenths)
    df = tenths.astype({"s": dtype, "t": dtype})[["s", "t", "gold"]]
    found = df.rankeval.acceptance_precision(THRESHOLDS)
    assert found["n_accepted"].tolist() == wanted
    assert found["threshold"].tolist() == [0.7, 0.3]
    both = df.rankeval.compare("s", "t", threshold=THRESHOLDS)
    assert both[["n_a", "n_b"]].to_numpy().tolist() == [wanted]
    few = df.rankeval(measures="s", lower_is_better=True).acceptance_precision(0.7)
    assert few["n_accepted"].tolist() == [int((tenths["s"] <= 0.7).sum())]
    assert df.rankeval(measures="s").acceptance_precision(1e9)["n_accepted"].tolist() == [0]
    chosen = df.rankeval(measures="s").choose_threshold(recall=0.8).iloc[0]
    again = df.rankeval(measures="s").acceptance_precision(chosen["threshold"])
    assert again["n_accepted"].tolist() == [chosen["n_accepted"]]


def test_a_float64_column_keeps_its_own_comparison(tenths):
    wide = tenths[["s", "gold"]].astype({"s": float})
    found = wide.rankeval.acceptance_precision(0.7)["n_accepted"].tolist()
    assert found == [int((wide["s"] >= 0.7).sum())]
    assert found[0] < counted(tenths)[0]


@QUIET
def test_acceptance_sets_of_datasets_and_dask(tenths):
    wanted = counted(tenths)
    flat = xr.Dataset({name: ("candidate", tenths[name]) for name in ("s", "t", "gold")})
    for ds in (flat, flat.chunk(candidate=50)):
        found = ds.rankeval.acceptance_precision(THRESHOLDS)["n_accepted"]
        assert found.to_numpy().ravel().tolist() == wanted
        assert ds.rankeval.compare("s", "t", threshold=THRESHOLDS)["n_b"].to_numpy() == wanted[1]
    ddf = dd.from_pandas(tenths[["s", "t", "gold"]], npartitions=3)
    found = ddf.rankeval.acceptance_precision(THRESHOLDS)
    assert found["n_accepted"].tolist() == wanted
    assert found["threshold"].tolist() == [0.7, 0.3]
    grouped = tenths[["s", "gold", "q"]]
    for table in (grouped, dd.from_pandas(grouped, npartitions=3)):
        of_each = table.rankeval(by="q").acceptance_precision(0.7)["n_accepted"]
        assert of_each.sum() == wanted[0]


@QUIET
def test_repetition(tenths):
    wanted = counted(tenths)[0]
    df = tenths[["s", "gold", "q"]]
    samples = df.rankeval(by="q").repetition_samples(0.7)
    assert samples["n_accepted"].sum() == wanted
    assert samples["threshold"].tolist() == [0.7] * 4
    assert df.rankeval(by="q").repetition(0.7)["n_mean"].tolist() == [wanted / 4]
    ds = xr.Dataset(
        {x: (("q", "candidate"), tenths[x].to_numpy().reshape(4, 100)) for x in ("s", "gold")}
    )
    for each in (ds, ds.chunk(q=1)):
        found = each.rankeval.repetition(0.7)
        assert found["n_mean"].to_numpy() == wanted / 4
        assert found["threshold"].to_numpy() == 0.7


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float64"])
def test_lowest_grade(tenths, dtype):
    wanted = int((tenths["t"] >= 0.7).sum())
    assert wanted > int((tenths["t"].astype(float) >= 0.7).sum())
    grades = tenths["t"].astype(dtype).round(1)
    df = pd.DataFrame({"s": tenths["s"], "gold": grades})
    assert df.rankeval(min_grade=0.7).nbest_recall([400])["tp"].tolist() == [wanted]
    ddf = dd.from_pandas(df, npartitions=3)
    assert ddf.rankeval(min_grade=0.7).nbest_precision([400])["tp"].tolist() == [wanted]
    if dtype != "Float32":
        ds = xr.Dataset({name: ("candidate", x) for name, x in df.items()})
        assert ds.rankeval(min_grade=0.7).nbest_recall([400])["tp"].to_numpy() == wanted
    queries = pd.DataFrame(
        {"query": tenths["q"], "document": np.arange(400), "run": tenths["s"], "grade": grades}
    )
    found = queries.rankeval(min_grade=0.7, details=True).per_query(["P@100"])
    assert found["value"].sum() * 100 == pytest.approx(wanted)
