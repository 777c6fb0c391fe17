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


@pytest.fixture(scope="module")
def counted(tenths) -> list[int]:
    """What pandas counts, which differs from the counts of float64."""
    found = [int((tenths[name] >= cut).sum()) for name, cut in THRESHOLDS.items()]
    assert found[0] > (tenths["s"].astype(float) >= 0.7).sum()
    return found


@pytest.mark.parametrize("dtype", ["Float32", "float16", pd.SparseDtype("float32"), "float32"])
def test_a_narrow_score_reaches_a_threshold_of_its_dtype(tenths, counted, dtype):
    df = tenths.astype({"s": dtype, "t": dtype})[["s", "t", "gold"]]
    found = df.rankeval.acceptance_precision(THRESHOLDS)
    assert found["n_accepted"].tolist() == counted
    assert found["threshold"].tolist() == [0.7, 0.3]
    both = df.rankeval.compare_thresholds("s", "t", THRESHOLDS)
    assert both[["n_a", "n_b"]].to_numpy().tolist() == [counted]
    few = df.rankeval(measures="s", lower_is_better=True).acceptance_precision(0.7)
    assert few["n_accepted"].tolist() == [int((tenths["s"] <= 0.7).sum())]
    assert df.rankeval(measures="s").acceptance_precision(1e9)["n_accepted"].tolist() == [0]
    chosen = df.rankeval(measures="s").choose_threshold(recall=0.8).iloc[0]
    again = df.rankeval(measures="s").acceptance_precision(chosen["threshold"])
    assert again["n_accepted"].tolist() == [chosen["n_accepted"]]


def test_a_float64_column_keeps_its_own_comparison(tenths, counted):
    wide = tenths[["s", "gold"]].astype({"s": float})
    (found,) = wide.rankeval.acceptance_precision(0.7)["n_accepted"]
    assert found == (wide["s"] >= 0.7).sum() < counted[0]


@QUIET
@pytest.mark.full
def test_datasets_and_dask_count_narrow_scores_as_pandas_does(tenths, counted):
    flat = xr.Dataset({name: ("candidate", tenths[name]) for name in ("s", "t", "gold")})
    for ds in (flat, flat.chunk(candidate=50)):
        found = ds.rankeval.acceptance_precision(THRESHOLDS)["n_accepted"]
        assert found.to_numpy().ravel().tolist() == counted
    ddf = dd.from_pandas(tenths[["s", "t", "gold"]], npartitions=3)
    assert ddf.rankeval.acceptance_precision(THRESHOLDS)["n_accepted"].tolist() == counted
    grouped = tenths[["s", "gold", "q"]]
    for table in (grouped, dd.from_pandas(grouped, npartitions=3)):
        of_each = table.rankeval(by="q").acceptance_precision(0.7)["n_accepted"]
        assert of_each.sum() == counted[0]


@QUIET
def test_repetition_counts_narrow_scores(tenths, counted):
    df = tenths[["s", "gold", "q"]]
    assert df.rankeval(by="q").repetition_samples(0.7)["n_accepted"].sum() == counted[0]
    assert df.rankeval(by="q").repetition(0.7)["n_mean"].tolist() == [counted[0] / 4]
    ds = xr.Dataset(
        {x: (("q", "candidate"), tenths[x].to_numpy().reshape(4, 100)) for x in ("s", "gold")}
    )
    for each in (ds, ds.chunk(q=1)):
        assert each.rankeval.repetition(0.7)["n_mean"].to_numpy() == counted[0] / 4


@pytest.mark.parametrize("dtype", ["Float32", "float64", "float32"])
def test_a_narrow_grade_reaches_the_lowest_grade(tenths, dtype):
    wanted = int((tenths["t"] >= 0.7).sum())
    grades = tenths["t"].astype(dtype).round(1)
    df = pd.DataFrame({"s": tenths["s"], "gold": grades})
    ddf = dd.from_pandas(df, npartitions=3)
    assert ddf.rankeval(min_grade=0.7).nbest_precision([400])["tp"].tolist() == [wanted]
    frames = [df]
    if dtype != "Float32":
        frames += [xr.Dataset({name: ("candidate", x) for name, x in df.items()})]
    for each in frames:
        found = each.rankeval(min_grade=0.7).nbest_recall([400])["tp"]
        assert found.to_numpy().ravel().tolist() == [wanted]
    queries = pd.DataFrame(
        {"query": tenths["q"], "document": np.arange(400), "run": tenths["s"], "grade": grades}
    )
    found = queries.rankeval(min_grade=0.7, details=True).per_query(["P@100"])
    assert found["value"].sum() * 100 == pytest.approx(wanted)
