"""A row agrees with itself: interval, test, adjustment and Monte-Carlo error of comparisons."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest

import rankeval_pd
from rankeval_pd.stats.differences import corrected_score, newcombe, overlap_difference
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test, score_test
from tests.conftest import examples

REFERENCE = Path(__file__).parent / "simulations"


def _tables(size: int) -> tuple[np.ndarray, ...]:
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    return a, np.full(a.shape, size), b, np.full(a.shape, size)


# --------------------------------------------------------------------- interval and test of lists


@pytest.mark.parametrize("size", [1, 2, 3, 6, 11, 25])
def test_zero_is_inside_where_fishers_test_does_not_reject(size):
    tables = _tables(size)
    p = fisher_test(*tables, "two-sided").p_value
    low, high = agree_with_test(*corrected_score(*tables, 0.95), p, "two-sided", 0.95)
    assert (((low <= 0) & (high >= 0)) == (p > 0.05)).all()
    bare = newcombe(*_tables(2), 0.95)
    assert bare[0][2, 0] > 0.05  # at p = 1/3


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_least_coverage_by_enumeration(size):
    grid = np.array([0.001, 0.02, 0.1, 0.3, 0.45, 0.5, 0.62, 0.8, 0.97, 0.999])
    tables = _tables(size)
    p = fisher_test(*tables, "two-sided").p_value
    low, high = agree_with_test(*corrected_score(*tables, 0.95), p, "two-sided", 0.95)
    for a, b in itertools.product(grid, grid):
        law = np.outer(stats.binom.pmf(range(size + 1), size, a), stats.binom.pmf(
            range(size + 1), size, b))  # fmt: skip
        held = (low <= a - b + 1e-12) & (a - b - 1e-12 <= high)
        assert law[held].sum() >= 0.95


def test_the_committed_enumeration():
    table = pd.read_csv(REFERENCE / "differences.csv")
    ours = table[table["ci"] == "score"]
    assert (ours["least"] >= ours["level"]).all()
    assert ours[["without_0_not_rejected", "with_0_rejected"]].eq(0).all(axis=None)
    assert table[table["ci"] == "newcombe"]["least"].min() < 0.8


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_rows_agree(alternative):
    df = rankeval_pd.datasets.simulate_candidates(300, decimals=1)
    found = df.rankeval.compare(alternative=alternative)
    one_sided = {"greater": found["ci_low"] > 0, "less": found["ci_high"] < 0}
    apart = one_sided.get(alternative, (found["ci_low"] > 0) | (found["ci_high"] < 0))
    assert not (apart & (found["p_value"] > 0.05)).any()
    assert apart.any() or alternative == "less"
    same = found["n_only_a"] == 0
    assert found.loc[same, ["ci_low", "ci_high"]].eq(0).all(axis=None)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
@settings(max_examples=examples(60))
def test_the_score_test_and_its_interval_agree(n_a, n_b, data):
    tp_a = data.draw(st.integers(0, n_a))
    tp_b = data.draw(st.integers(0, n_b))
    phi = data.draw(st.sampled_from([1.0, 2.5]))
    table = [np.array([x / phi]) for x in (tp_a, n_a, tp_b, n_b)]
    p = score_test(*table, "two-sided")[0]
    bare = corrected_score(*table, 0.9)
    low, high = agree_with_test(*bare, np.array([p]), "two-sided", 0.9)
    assert low[0] <= 0 <= high[0] or p <= 0.1
    if bare[0][0] > 0 or bare[1][0] < 0:
        assert p < 0.15  # nearly the same without
    sides = [score_test(*table, side)[0] for side in ("greater", "less")]
    assert min(1.0, 2 * min(sides)) == pytest.approx(p, rel=1e-12)


# ------------------------------------------------------------------------------- acceptance sets


def test_the_delta_method_collapsed():
    """Two and two candidates: no width, or an interval far from 0, at p = 1."""
    two, three = np.array([2]), np.array([3])
    low, high = overlap_difference((two, two * 0, three * 0), (two, two * 0, three * 0 + 1), 0.95)
    assert low[0] < -0.2 or high[0] > 0.2
    low, high = overlap_difference(
        (two * 0, two, three), (two * 0, two, three), 0.95
    )  # 2/2 and 3/3
    assert low[0] < -0.6
    assert high[0] > 0.6


def test_the_committed_coverage_of_sets():
    table = pd.read_csv(REFERENCE / "sets.csv")
    assert table[table["ci"] == "score"]["coverage"].min() > 0.945
    assert table[table["ci"] == "delta"]["coverage"].min() < 0.5


@pytest.mark.parametrize(("expected", "precision"), [((2, 2, 2), 0.5), ((10, 3, 3), 0.4)])
def test_coverage_of_small_sets(expected, precision):
    rng = np.random.default_rng(3)
    n = rng.poisson(np.array(expected)[:, np.newaxis], (3, 3000))
    n = n[:, (n[0] + n[1] > 1) & (n[0] + n[2] > 1) & (n[1] + n[2] > 0)]
    tp = rng.binomial(n, precision)
    low, high = overlap_difference(tuple(tp), tuple(n), 0.95)
    assert ((low <= 0) & (high >= 0)).mean() > 0.945


def test_rows_of_sets_agree():
    df = rankeval_pd.datasets.simulate_candidates(150, decimals=1)
    cuts = {"good": [0.5, 1, 1.5, 2, 2.5], "fair": [0.5, 1, 1.5, 2, 2.5]}
    with pytest.warns(rankeval_pd.RankevalWarning):
        found = df.rankeval.compare("good", "fair", threshold=cuts)
    apart = (found["ci_low"] > 0) | (found["ci_high"] < 0)
    assert not (apart & (found["p_value"] > 0.05)).any()


# ---------------------------------------------------------------------------------------- phi


def test_phi_reaches_the_p_value():
    df = rankeval_pd.datasets.simulate_candidates(500)
    plain = df.rankeval.compare("good", "fair", [50, 100, 200])
    found = df.rankeval.compare("good", "fair", [50, 100, 200], phi=6)
    assert found.attrs["test"] == "score"
    assert (found["p_value"] > plain["p_value"]).all()
    assert found["p_mid"].isna().all()
    inside = (found["ci_low"] <= 0) & (found["ci_high"] >= 0)
    assert (inside == (found["p_value"] > 0.05)).all()
    d, t_a, t_b = (found[c] / 6 for c in ("n_only_a", "tp_only_a", "tp_only_b"))
    pooled = (t_a + t_b) / (2 * d)
    sd = np.sqrt(pooled * (1 - pooled) * 2 / d * 2 * d / (2 * d - 1))
    z = (np.abs(t_a - t_b) / d - 0.5 / d) / sd
    np.testing.assert_allclose(found["p_value"], 2 * stats.norm.sf(z), rtol=1e-12)


def test_root_phi_in_the_interval_of_the_list():
    df = rankeval_pd.datasets.simulate_candidates(500)
    ask = {"a": "good", "b": "fair", "n": [60, 100], "target": "nbest"}
    narrow, wide = df.rankeval.compare(**ask), df.rankeval.compare(**ask, phi=4)
    for found in (narrow, wide):
        found["half"] = found["ci_high"] - found["difference"]
    np.testing.assert_allclose(wide["half"], 2 * narrow["half"], rtol=1e-12)


def test_root_phi_in_the_delta_method():
    df = rankeval_pd.datasets.simulate_candidates(500)
    ask = {"a": "good", "b": "fair", "threshold": {"good": 1.0, "fair": 1.0}, "ci": "delta"}
    narrow, wide = df.rankeval.compare(**ask).loc[0], df.rankeval.compare(**ask, phi=4).loc[0]
    ratio = (wide["ci_high"] - wide["difference"]) / (narrow["ci_high"] - narrow["difference"])
    assert ratio == pytest.approx(2.0, rel=1e-12)


# ------------------------------------------------------------------------------------- families


@pytest.fixture(scope="module")
def queries() -> pd.DataFrame:
    """Queries of two sizes, in which no measure says anything."""
    rng = np.random.default_rng(8)
    sizes = rng.choice([30, 40], 50)
    number = np.repeat(np.arange(50), sizes)
    return pd.DataFrame(
        {
            "query": number,
            "a": rng.normal(size=number.size),
            "b": rng.normal(size=number.size),
            "gold": rng.random(number.size) < 0.4,
        }
    )


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", ["holm", "bh"])
def test_all_groups_are_one_family(queries, method):
    call = queries.rankeval(by="query")
    found = call.compare("a", "b", [5, 10, 15], adjust=method)
    name = {"holm": "holm", "bh": "fdr_bh"}[method]
    wanted = multitest.multipletests(found["p_value"], method=name)[1]
    np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
    area = call.compare_area("a", "b", adjust=method)
    wanted = multitest.multipletests(area["p_value"], method=name)[1]
    np.testing.assert_allclose(area["p_adjusted"], wanted, rtol=1e-12)
    alone = call.compare("a", "b", [5, 10, 15], adjust=method, adjust_over="group")
    one = alone[alone["query"] == 7]
    wanted = multitest.multipletests(one["p_value"], method=name)[1]
    np.testing.assert_allclose(one["p_adjusted"], wanted, rtol=1e-12)


def test_a_lazy_dataset_is_one_family(queries):
    part = queries[queries["query"] < 6].assign(candidate=lambda d: d.groupby("query").cumcount())
    ds = xr.Dataset.from_dataframe(part.set_index(["query", "candidate"]))
    eager = ds.rankeval.compare("a", "b", [5, 10], adjust="holm").compute()
    lazy = ds.chunk(query=2).rankeval.compare("a", "b", [5, 10], adjust="holm")
    assert lazy["p_adjusted"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), eager)
    wanted = multitest.multipletests(eager["p_value"].to_numpy().ravel(), method="holm")[1]
    np.testing.assert_allclose(eager["p_adjusted"].to_numpy().ravel(), wanted, rtol=1e-12)


def test_swaps_over_groups_and_pairs(queries):
    few = queries[queries["query"] < 4]
    call = few.rankeval(by="query")
    alone = call.compare("a", "b", [5, 10], adjust="max-t", adjust_over="group")
    found = call.compare("a", "b", [5, 10], adjust="max-t")
    assert found.attrs["n_resamples"] == 999
    ordered = alone.sort_values("p_adjusted", kind="stable")
    last = ordered["query"].drop_duplicates(keep="last").index
    waiting = [np.isin(last, ordered.index[k:]).sum() for k in range(len(ordered))]
    step = np.maximum.accumulate(ordered["p_adjusted"].to_numpy() * waiting).clip(max=1)
    assert max(waiting) == 4
    np.testing.assert_allclose(found["p_adjusted"][ordered.index], step, rtol=1e-12)


def test_as_many_swaps_as_the_family_needs(queries):
    part = queries[queries["query"] < 30]
    found = part.rankeval(by="query").compare("a", "b", 5, adjust="max-t")
    assert found.attrs["n_resamples"] == 5999  # 30 tests at .05, ten times
    with pytest.raises(ValueError, match=r"30 pairs in all groups.*n_resamples=599"):
        part.rankeval(by="query").compare("a", "b", 5, adjust="max-t", n_resamples=598)


# --------------------------------------------------------------------------- Monte-Carlo errors


def test_error_of_the_swaps():
    df = rankeval_pd.datasets.simulate_candidates(400)
    found = df.rankeval.compare("good", "fair", range(20, 200, 20), adjust="max-t", n_resamples=999)
    behind = ["tie_decides", "p_stderr", "undecided", "leaning", "ci_low_alone", "ci_high_alone"]
    assert list(found.columns[-6:]) == behind
    p = found["p_adjusted"]
    np.testing.assert_allclose(found["p_stderr"], np.sqrt(p * (1 - p) / 999), rtol=1e-12)
    hits = np.round(p * 1000) - 1
    low = stats.beta.ppf(0.025, hits, 1000 - hits)
    high = stats.beta.ppf(0.975, hits + 1, 999 - hits)
    wanted = (np.nan_to_num(low) < 0.05) & (high > 0.05)
    assert found["undecided"].tolist() == wanted.tolist()
    mean = df.rankeval.mean_difference("good", "fair", range(20, 200, 20), n_resamples=999)
    p = mean.loc[0, "p_value"]
    assert mean.loc[0, "p_stderr"] == pytest.approx(np.sqrt(p * (1 - p) / 999))
    assert not {"p_stderr", "undecided"} & set(df.rankeval.compare("good", "fair", 20).columns)


def test_undecided_ends_of_runs():
    df = rankeval_pd.datasets.simulate_candidates(1_000)
    ask = {"a": "good", "b": "fair", "n": range(50, 301), "adjust": "max-t"}
    runs, table = df.rankeval.significant_ranges(**ask), df.rankeval.compare(**ask).set_index("n")
    for run in runs.itertuples():
        first = table["undecided"].get(run.n_first - 1, False) or table["undecided"][run.n_first]
        last = table["undecided"][run.n_last] or table["undecided"].get(run.n_last + 1, False)
        assert run.undecided_ends == ["none", "first", "last", "both"][first + 2 * last]
    assert set(runs["undecided_ends"]) - {"none"}


def test_draws_have_a_stream_of_their_own():
    roles = rankeval_pd.roles.Roles(rng=3)
    assert roles.swaps != roles.seed
    assert roles.swaps == rankeval_pd.roles.Roles(rng=3).swaps
    assert roles.swaps != rankeval_pd.roles.Roles(rng=4).swaps


# ---------------------------------------------------------------------------------------- ties


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_lists_that_cut_ties():
    df = rankeval_pd.datasets.simulate_candidates(60, decimals=0)
    found = df.rankeval.compare("good", "fair").set_index("n")["cuts_tie"]
    for n, cut in found.items():
        wanted = False
        for name in ("good", "fair"):
            ranked = df[name].sort_values(ascending=False).to_numpy()
            wanted |= n < 60 and ranked[n - 1] == ranked[n]
        assert cut == wanted
    assert {True, False} == set(found)
    blocks = df.rankeval(ties="blocks").compare("good", "fair")
    assert not blocks["cuts_tie"].any()
