"""Curves over all cut-offs: scikit-learn on tied data, counting by hand, chance beside them."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import rankeval_pd
from rankeval_pd import RankevalWarning, isolines, random_band

RATES = {
    "roc": lambda tp, n, N, P: ((n - tp) / (N - P), tp / P),
    "precision_recall": lambda tp, n, N, P: (tp / n, tp / P),
    "det": lambda tp, n, N, P: ((n - tp) / (N - P), 1 - tp / P),
    "gain": lambda tp, n, N, P: (n / N, tp / P),
    "lift": lambda tp, n, N, P: (n / N, tp / n * N / P),
}
COLUMNS = {
    "roc": ["fpr", "tpr"],
    "precision_recall": ["precision", "recall"],
    "det": ["fpr", "fnr"],
    "gain": ["share", "tpr"],
    "lift": ["share", "lift"],
}


# --------------------------------------------------------------------------------------- the curves


@pytest.mark.parametrize("space", RATES)
@pytest.mark.parametrize("ties", ["shared", "expected", "best", "worst"])
def test_every_point_counted_by_hand(tied, space, ties):
    data = tied.rankeval(key="id", measures=["a", "b", "c"], ties=ties)
    found = getattr(data, space)()
    N, P = len(tied), int(tied["gold"].sum())
    first = 1 if space in ("precision_recall", "lift") else 0
    lists = data.nbest_precision().set_index(["measure", "n"])
    assert list(found.columns) == ["measure", "n", "threshold", *COLUMNS[space]]
    wanted = [(m, n) for m in "abc" for n in range(first, N + 1)]
    assert list(zip(found["measure"], found["n"], strict=True)) == wanted
    assert found["n"].dtype == np.int64
    for row in found.itertuples(index=False):
        tp = lists["tp"][row.measure, row.n] if row.n else 0
        assert row[3:] == pytest.approx(RATES[space](tp, row.n, N, P), rel=1e-13, abs=1e-15)
        assert row.threshold == (lists["threshold"][row.measure, row.n] if row.n else np.inf)


@pytest.mark.full
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: 0 < sum(g for _, g in rows) < len(rows)
    )
)
def test_blocks_are_scikit_learns_points(rows):
    """scikit-learn's roc_curve, precision_recall_curve and det_curve."""
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score.astype(float), "gold": gold})
    fpr, tpr, thresholds = metrics.roc_curve(gold, score, drop_intermediate=False)
    found = df.rankeval(ties="blocks").roc()
    np.testing.assert_allclose(found["fpr"], fpr, atol=1e-15)
    np.testing.assert_allclose(found["tpr"], tpr, atol=1e-15)
    np.testing.assert_array_equal(found["threshold"], thresholds)
    precision, recall, thresholds = metrics.precision_recall_curve(gold, score)
    found = df.rankeval(ties="blocks").precision_recall()
    # scikit-learn's points begin at the end of the list, and it adds (1, 0) to them
    np.testing.assert_allclose(found["precision"], precision[:-1][::-1], atol=1e-15)
    np.testing.assert_allclose(found["recall"], recall[:-1][::-1], atol=1e-15)
    np.testing.assert_array_equal(found["threshold"], thresholds[::-1])
    fpr, fnr, thresholds = metrics.det_curve(gold, score)
    found = df.rankeval(ties="blocks").det().set_index("threshold")
    shared = thresholds[np.isfinite(thresholds)]  # scikit-learn leaves out the flat ends
    known = np.isfinite(thresholds)
    np.testing.assert_allclose(found["fpr"][shared], fpr[known], atol=1e-15)
    np.testing.assert_allclose(found["fnr"][shared], fnr[known], atol=1e-15)


def test_small_scores_that_are_better(frame):
    found = frame.rankeval(measures="c", lower_is_better="c").roc()
    wanted = frame.assign(c=-frame["c"]).rankeval(measures="c").roc()
    pd.testing.assert_series_equal(found["tpr"], wanted["tpr"])
    assert found["threshold"].to_numpy() == pytest.approx(-wanted["threshold"].to_numpy())
    assert found["threshold"][0] == -np.inf


def test_ties_that_may_not_be_cut(frame):
    with pytest.raises(ValueError, match=r"ties='error': "):
        frame.rankeval(ties="error").roc()
    unique = frame.assign(u=range(30)).rankeval(measures="u", ties="error")
    assert len(unique.roc()) == 31


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("gold", [True, False])
def test_one_class_only(gold):
    df = pd.DataFrame({"a": [3.0, 2, 1], "gold": gold})
    roc, lift = df.rankeval.roc(), df.rankeval.lift()
    assert roc["fpr"].isna().all() == gold
    assert roc["tpr"].isna().all() != gold
    assert lift["lift"].isna().all() != gold
    assert df.head(0).rankeval.roc().empty


@pytest.mark.parametrize("space", RATES)
def test_datasets_give_what_frames_give(frame, space):
    ds = xr.Dataset.from_dataframe(frame)
    for ties in ("shared", "blocks"):
        wanted = getattr(frame.rankeval(ties=ties), space)()
        found = getattr(ds.rankeval(ties=ties), space)()
        assert found[COLUMNS[space][1]].dims == (("measure", "n") if ties == "shared" else ("row",))
        table = found.to_dataframe().reset_index()
        pd.testing.assert_frame_equal(table[list(wanted.columns)], wanted)
    lazy = getattr(ds.chunk({"candidate": 7}).rankeval, space)()
    assert lazy["threshold"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), getattr(ds.rankeval, space)())


def test_groups(ragged):
    found = ragged.rankeval(by="query").gain()
    parts = [part.rankeval(by="query").gain() for _, part in ragged.groupby("query")]
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_measures_that_lack_candidates(frame):
    holed = frame.assign(b=frame["b"].where(frame["b"] > 0))
    found = holed.rankeval(missing="drop", measures=["a", "b"]).roc()
    wanted = holed.dropna().rankeval(measures="b").roc()
    kept = found[found["measure"] == "b"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, wanted)


# ----------------------------------------------------------------------------------- enrichment


def test_enrichment_at_fractions(frame):
    found = frame.rankeval(measures=["a", "c"], ties="expected").lift([0.1, 0.05, 1, 1 / 3])
    assert found["n"].tolist() == [3, 2, 30, 10] * 2
    every = frame.rankeval(measures=["a", "c"]).lift().set_index(["measure", "n"])
    keys = list(zip(found["measure"], found["n"], strict=True))
    assert found["share"].tolist() == [0.1, 0.05, 1.0, 1 / 3] * 2
    for column in ("threshold", "lift"):
        assert found[column].tolist() == every.loc[keys, column].tolist()
    ds = xr.Dataset.from_dataframe(frame[["a", "c", "gold"]])
    data = ds.rankeval(ties="expected").lift([0.1, 0.05, 1, 1 / 3])
    assert data["lift"].dims == ("measure", "share")
    table = data.to_dataframe(dim_order=["measure", "share"]).reset_index()
    pd.testing.assert_frame_equal(table[list(found.columns)], found)


def test_enrichment_of_groups_of_different_sizes(ragged):
    found = ragged.rankeval(by="query", measures="a").lift(0.3)
    sizes = ragged.groupby("query").size()
    assert found["n"].tolist() == np.ceil(0.3 * sizes - 1e-9).astype(int).tolist()


@pytest.mark.parametrize("n", [0, 1.5, [0.1, -1], "quartiles"])
def test_sizes_that_are_none(frame, n):
    with pytest.raises((ValueError, TypeError), match="n="):
        frame.rankeval.lift(n)


# ------------------------------------------------------------------------------------ chance


@pytest.mark.parametrize("space", RATES)
@pytest.mark.parametrize("bound", ["critical", "discrete", "interpolated", "parametric"])
def test_bands_are_the_bounds(frame, space, bound):
    found = frame.rankeval.random_band(space, [0.3, 0.01], bound=bound)
    table = frame.rankeval.random_bound([0.3, 0.01])
    assert list(found.columns) == ["p", "n", *COLUMNS[space]]
    N, P = len(frame), int(frame["gold"].sum())
    fewest, most = np.maximum(table["n"] - (N - P), 0), np.minimum(table["n"], P)
    counts = table[bound].where(table[bound].between(fewest, most))
    x, y = RATES[space](counts.to_numpy(float), table["n"].to_numpy(), N, P)
    np.testing.assert_allclose(found[COLUMNS[space][0]], x, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found[COLUMNS[space][1]], y, rtol=1e-13, atol=1e-15)
    assert counts.isna().any() == (bound != "discrete")


def test_simultaneous_bands_are_the_envelope(frame):
    found = frame.rankeval.random_band("gain", 0.2, range(3, 20), simultaneous=True)
    counts = frame.rankeval.random_envelope(0.2, range(3, 20))["envelope"]
    np.testing.assert_allclose(found["tpr"], counts / frame["gold"].sum(), rtol=1e-14)
    with pytest.raises(ValueError, match=r"bound='discrete' with simultaneous=True"):
        frame.rankeval.random_band(simultaneous=True, bound="discrete")


def test_bands_of_groups_and_datasets(ragged):
    found = ragged.rankeval(by="query").random_band("det", 0.2)
    parts = [
        part.rankeval(by="query").random_band("det", 0.2) for _, part in ragged.groupby("query")
    ]
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    one = ragged[ragged["query"] == "q1"].drop(columns="query")
    ds = xr.Dataset.from_dataframe(one.reset_index(drop=True).rename_axis("candidate"))
    data = ds.rankeval.random_band("det", [0.2, 0.1], [2, 5])
    assert data["fnr"].dims == ("p", "n")
    wanted = one.rankeval.random_band("det", [0.2, 0.1], [2, 5])
    table = data.to_dataframe().reset_index()
    pd.testing.assert_frame_equal(table[list(wanted.columns)], wanted)


@pytest.mark.parametrize("space", RATES)
def test_isolines_counted_by_hand(frame, space):
    found = frame.rankeval.isolines([25, 4], space)
    N, P = len(frame), int(frame["gold"].sum())
    wanted = [
        (n, *RATES[space](tp, n, N, P))
        for n in (25, 4)
        for tp in range(max(0, n - (N - P)), min(n, P) + 1)
    ]
    np.testing.assert_allclose(found.to_numpy(float), np.array(wanted), rtol=1e-13, atol=1e-15)
    assert list(found.columns) == ["n", *COLUMNS[space]]
    data = xr.Dataset.from_dataframe(frame).rankeval.isolines([25, 4], space)
    pd.testing.assert_frame_equal(
        data.to_dataframe()[list(found.columns)], found, check_names=False
    )


def test_every_curve_meets_its_isolines(frame):
    curve = frame.rankeval(ties="shared").roc()
    points = set(frame.rankeval.isolines([5, 12]).round(12).itertuples(index=False, name=None))
    for row in curve[curve["n"].isin([5, 12])].round(12).itertuples(index=False):
        assert (row.n, row.fpr, row.tpr) in points


def test_isolines_of_groups(ragged):
    found = ragged.rankeval(by="query").isolines(3)
    assert found["query"].drop_duplicates().tolist() == ["q1", "q2", "q3"]
    with pytest.raises(ValueError, match=r"n=None: lines for every n would cover the plot"):
        ragged.rankeval(by="query").isolines(None)


def test_no_space_of_that_name(frame):
    for ask in (lambda: frame.rankeval.isolines(3, "pr"), lambda: frame.rankeval.random_band("pr")):
        with pytest.raises(ValueError, match=r"space='pr' is not one of 'roc', 'precision_recall'"):
            ask()


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_measures_of_different_candidates_have_no_common_band(frame):
    holed = frame.assign(b=frame["b"].where(frame["b"] > 0))
    for ask in (random_band, isolines):
        with pytest.raises(ValueError, match=r"the measures score different candidates"):
            ask(holed, n=3, missing="drop")


def test_a_batch_dimension_may_have_the_name_of_another_result_s_column():
    rng = np.random.default_rng(2)
    ds = xr.Dataset(
        {
            "a": (("p", "candidate"), rng.integers(0, 4, (2, 12)).astype(float)),
            "gold": (("p", "candidate"), rng.random((2, 12)) < 0.5),
        },
        coords={"p": [10, 20]},
    )
    found = ds.rankeval(ties="blocks").roc().to_dataframe()
    assert found["p"].unique().tolist() == [10, 20]
    one = ds.sel(p=20, drop=True).rankeval(ties="blocks").roc().to_dataframe()
    kept = found.loc[found["p"] == 20, list(one.columns)].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, one, check_names=False)
    usual = ds.rename(p="query").rankeval.random_band()
    xr.testing.assert_equal(ds.rankeval.random_band().rename(by_p="query"), usual)


# ------------------------------------------------------------------------------- ties unless given


def _under(curve):
    return np.trapezoid(curve["tpr"], curve["fpr"])


@given(st.integers(0, 10_000), st.integers(4, 40))
def test_the_curve_that_is_drawn_has_the_area_that_is_reported(seed, size):
    """Of few scores, as of neighbors that vote: .8242 was drawn, .8294 reported."""
    rng = np.random.default_rng(seed)
    gold = np.arange(size) % 3 == 0
    df = pd.DataFrame({"neighbors": (rng.integers(0, 4, size) + gold) / 4, "gold": gold})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "area: a class has", RankevalWarning)
        assert _under(df.rankeval.roc()) == pytest.approx(df.rankeval.area().loc[0, "area"])


def test_a_constant_score_draws_the_diagonal():
    gold = np.random.default_rng(0).random(100) < 0.3
    df = pd.DataFrame({"same": 1.0, "gold": gold})
    assert _under(df.rankeval.roc()) == pytest.approx(0.5)
    assert df.rankeval.precision_recall()["precision"].to_numpy() == pytest.approx(gold.mean())
    shared = df.rankeval(ties="shared")
    assert _under(shared.roc()) != pytest.approx(0.5, abs=1e-3)


def test_what_is_given_goes_before_the_default_of_curves(frame):
    lists = frame.rankeval.nbest_precision()
    shared = frame.rankeval(ties="shared").precision_recall()
    assert (shared["precision"] == lists["precision"]).all()
    for function, default in ((rankeval_pd.roc, "expected"), (rankeval_pd.compare, "shared")):
        assert inspect.signature(function).parameters["ties"].default == default
