"""Curves, their bands and those of chance: scikit-learn, counting by hand, published formulas."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import rankeval_pd
from rankeval_pd import RankevalWarning, isolines, random_band
from rankeval_pd.curves.shapes import lists_of
from rankeval_pd.stats import bands as curve_bands
from rankeval_pd.stats.ranking import Ranking
from tests.conftest import candidates, examples

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

HEIGHT = {
    "precision_recall": "precision", "det": "fnr", "gain": "tpr", "lift": "lift", "roc": "tpr",
}  # fmt: skip


@pytest.fixture(scope="module")
def df():
    return rankeval_pd.datasets.simulate_candidates(1_000)


# -------------------------------------------------------------------------- the points of a curve


@pytest.mark.parametrize("space", RATES)
def test_every_point_counted_by_hand(space):
    df = candidates(1, 24)
    N, P = len(df), int(df["gold"].sum())
    first = 1 if space in ("precision_recall", "lift") else 0
    for ties in ("shared", "expected", "best", "worst"):
        data = df.rankeval(key="id", measures=["a", "b", "c"], ties=ties)
        found = getattr(data, space)()
        lists = data.nbest_precision().set_index(["measure", "n"])
        assert list(found.columns) == ["measure", "n", "threshold", *COLUMNS[space]]
        wanted = [(m, n) for m in "abc" for n in range(first, N + 1)]
        assert list(zip(found["measure"], found["n"], strict=True)) == wanted
        assert found["n"].dtype == np.int64
        for row in found.itertuples(index=False):
            tp = lists["tp"][row.measure, row.n] if row.n else 0
            assert row[3:] == pytest.approx(RATES[space](tp, row.n, N, P), rel=1e-13, abs=1e-15)
            assert row.threshold == (lists["threshold"][row.measure, row.n] if row.n else np.inf)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: 0 < sum(g for _, g in rows) < len(rows)
    )
)
@settings(max_examples=examples(40))
def test_the_ends_of_ties_are_scikit_learns_points(rows):
    """scikit-learn's roc_curve, precision_recall_curve and det_curve."""
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score.astype(float), "gold": gold}).rankeval
    roc, pr, det = (
        curve().drop_duplicates("threshold", keep="last")
        for curve in (df.roc, df.precision_recall, df.det)
    )
    fpr, tpr, thresholds = metrics.roc_curve(gold, score, drop_intermediate=False)
    np.testing.assert_allclose(roc[["fpr", "tpr"]].T, [fpr, tpr], atol=1e-15)
    np.testing.assert_array_equal(roc["threshold"], thresholds)
    precision, recall, thresholds = metrics.precision_recall_curve(gold, score)
    # scikit-learn's points begin at the end of the list, and it adds (1, 0) to them
    wanted = [precision[:-1], recall[:-1]]
    np.testing.assert_allclose(pr[::-1][["precision", "recall"]].T, wanted, atol=1e-15)
    np.testing.assert_array_equal(pr[::-1]["threshold"], thresholds)
    fpr, fnr, thresholds = metrics.det_curve(gold, score)
    known = np.isfinite(thresholds)  # scikit-learn leaves out the flat ends
    found = det.set_index("threshold").loc[thresholds[known]]
    np.testing.assert_allclose(found[["fpr", "fnr"]].T, [fpr[known], fnr[known]], atol=1e-15)


def _under(curve):
    return np.trapezoid(curve["tpr"], curve["fpr"])


@given(st.integers(0, 10_000), st.integers(4, 40))
def test_the_curve_that_is_drawn_has_the_area_that_is_reported(seed, size):
    rng = np.random.default_rng(seed)
    gold = np.arange(size) % 3 == 0
    df = pd.DataFrame({"neighbors": (rng.integers(0, 4, size) + gold) / 4, "gold": gold})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "area: a class has", RankevalWarning)
        assert _under(df.rankeval.roc()) == pytest.approx(df.rankeval.area().loc[0, "area"])


def test_a_constant_score_draws_the_diagonal():
    gold = np.random.default_rng(0).random(100) < 0.3
    df = pd.DataFrame({"same": 1.0, "gold": gold})
    assert df.rankeval.precision_recall()["precision"].to_numpy() == pytest.approx(gold.mean())
    assert _under(df.rankeval(ties="shared").roc()) != pytest.approx(0.5, abs=1e-3)


def test_ties_are_expected_in_curves_unless_given(frame):
    lists = frame.rankeval.nbest_precision()
    shared = frame.rankeval(ties="shared").precision_recall()
    assert (shared["precision"] == lists["precision"]).all()
    assert (frame.rankeval.precision_recall()["precision"] != lists["precision"]).any()


def test_thresholds_of_small_scores_begin_at_minus_infinity(frame):
    found = frame.rankeval(measures="c", lower_is_better="c").roc()
    wanted = frame.assign(c=-frame["c"]).rankeval(measures="c").roc()
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


def test_a_batch_dimension_may_have_the_name_of_another_result_s_column():
    rng = np.random.default_rng(2)
    dims = ("p", "candidate")
    a, gold = rng.integers(0, 4, (2, 12)).astype(float), rng.random((2, 12)) < 0.5
    ds = xr.Dataset({"a": (dims, a), "gold": (dims, gold)}, coords={"p": [10, 20]})
    one = ds.sel(p=20, drop=True).rankeval.roc()
    xr.testing.assert_equal(ds.rankeval.roc().sel(p=20, drop=True), one)
    usual = ds.rename(p="query").rankeval.random_band()
    xr.testing.assert_equal(ds.rankeval.random_band().rename(by_p="query"), usual)


# ------------------------------------------------------------------------------ lists of given n


def test_lift_and_gain_take_n(df):
    gain, lift = df.rankeval.gain([50, 200]), df.rankeval.lift([50, 200])
    pd.testing.assert_frame_equal(gain, lift, check_like=True)
    lists = df.rankeval(details=True).nbest_precision([50, 200])
    np.testing.assert_array_equal(gain["tpr"], lists["recall"])
    np.testing.assert_allclose(lift["lift"], lists["lift"])
    assert gain.attrs["ties"] == "shared"


def test_lists_of_given_n_follow_the_ties():
    tied = pd.DataFrame({"s": [2, 2, 2, 2, 1, 1], "gold": [True, False, False, True, False, True]})
    assert tied.rankeval(ties="expected").lift(1)["lift"].tolist() == [1.0]
    for ties in ("shared", "best", "worst"):
        call = tied.rankeval(ties=ties, details=True)
        assert call.gain(3)["tpr"].tolist() == call.nbest_precision(3)["recall"].tolist()


def test_deciles_are_one_call_and_one_table(df):
    found = df.rankeval(measures="good").gain("deciles", interval="pointwise")
    assert found["share"].tolist() == pytest.approx(np.arange(1, 11) / 10)
    assert list(found.columns) == [
        "measure", "n", "threshold", "share", "tpr", "lift", "ci_low", "ci_high",
    ]  # fmt: skip
    assert found.iloc[-1][["tpr", "lift", "ci_low", "ci_high"]].tolist() == [1.0] * 4


def test_lists_of_fractions_are_rounded_up(frame, ragged):
    fractions = [0.1, 0.05, 1, 1 / 3]
    found = frame.rankeval(measures=["a", "c"], ties="expected").lift(fractions)
    assert found["n"].tolist() == [3, 2, 30, 10] * 2
    assert found["share"].tolist() == fractions * 2
    every = frame.rankeval(measures=["a", "c"]).lift().set_index(["measure", "n"])
    keys = list(zip(found["measure"], found["n"], strict=True))
    for column in ("threshold", "lift"):
        assert found[column].tolist() == every.loc[keys, column].tolist()
    grouped = ragged.rankeval(by="query", measures="a").lift(0.3)
    sizes = ragged.groupby("query").size()
    assert grouped["n"].tolist() == np.ceil(0.3 * sizes - 1e-9).astype(int).tolist()


# ----------------------------------------------------------------------------- confidence limits


@pytest.mark.parametrize("curve", HEIGHT)
def test_limits_hold_the_curve(df, curve):
    plain = getattr(df.rankeval, curve)()
    for interval in ("pointwise", "simultaneous"):
        found = getattr(df.rankeval, curve)(interval=interval)
        assert [*plain.columns, "ci_low", "ci_high"] == list(found.columns)
        pd.testing.assert_frame_equal(found[list(plain.columns)], plain)
        known = found.dropna()
        assert len(known) > 500
        height = known[HEIGHT[curve]]
        assert (known["ci_low"] <= height + 1e-12).all()
        assert (height <= known["ci_high"] + 1e-12).all()


def test_a_band_is_wider_than_an_interval_and_ends_where_it_says(df):
    call = df.rankeval(measures="good")
    alone, band = (call.roc(interval=kind) for kind in ("pointwise", "simultaneous"))
    inside = band["ci_low"].notna()
    positive, others = df["gold"].sum(), (~df["gold"]).sum()
    tp, fp = band["tpr"] * positive, band["fpr"] * others
    least, most = np.minimum(tp, fp), np.minimum(positive - tp, others - fp)
    assert inside.tolist() == ((least > 4.5) & (most > 4.5)).tolist()
    assert (band["ci_low"] <= alone["ci_low"] + 1e-12)[inside].all()
    assert (band["ci_high"] >= alone["ci_high"] - 1e-12)[inside].all()
    assert "5 candidates of a class" in band.attrs["range"]


def test_det_and_lift_are_roc_and_gain_turned(df):
    roc, det, gain, lift = (
        getattr(df.rankeval, name)(interval="pointwise").query("n > 0").reset_index()
        for name in ("roc", "det", "gain", "lift")
    )
    np.testing.assert_allclose(det["ci_low"], 1.0 - roc["ci_high"])
    # no lift exceeds one over the prevalence
    most = 1.0 / stats.beta.ppf(0.025, df["gold"].sum(), (~df["gold"]).sum() + 1)
    np.testing.assert_allclose(lift["ci_high"], np.minimum(gain["ci_high"] / gain["share"], most))


def test_few_of_a_class_have_no_band(df):
    few = df.sort_values("gold", ascending=False).iloc[60:].reset_index(drop=True)
    with pytest.warns(RankevalWarning, match=r"needs 30 or more .* 29 true positives and 911"):
        assert few.rankeval.roc(interval="simultaneous")["ci_low"].isna().all()
    assert few.rankeval.roc(interval="pointwise")["ci_low"].notna().any()
    both = pd.concat([df.assign(q=0), few.assign(q=1)], ignore_index=True)
    with pytest.warns(RankevalWarning, match="limits of 2 rankings are NaN"):
        found = both.rankeval(by="q").gain(interval="simultaneous")
    assert found.groupby("q")["ci_low"].count().tolist()[1] == 0


def test_intervals_that_have_no_place(df):
    by = df.assign(q=np.arange(1_000) % 2).rankeval(by="q")
    with pytest.raises(ValueError, match="interval= cannot stand beside average="):
        by.roc(average="macro", interval="pointwise")


def test_variance_of_roc_is_that_of_the_formula():
    """Hsieh and Turnbull (1996): t (1 - t) / P + r^2 u (1 - u) / Q, r the ratio of densities."""
    rng = np.random.default_rng(1)
    gold = rng.random(800) < 0.3
    ranking = Ranking.of(rng.normal(size=800) + gold, gold, np.ones(800, dtype=bool))
    lists = lists_of(ranking, np.arange(1, 801), "shared")
    found = curve_bands._effective("roc", lists)[300]
    positive, others = gold.sum() + 4.0, (~gold).sum() + 4.0
    t, u = (lists.tp[300] + 2) / positive, (301 - lists.tp[300] + 2) / others
    odds = -curve_bands._influence("roc", lists)[2][300]
    variance = t * (1 - t) + odds**2 * others / positive * u * (1 - u)
    assert found == pytest.approx(gold.sum() * t * (1 - t) / variance, rel=1e-12)


def test_limits_of_precision_by_hand():
    """SciPy's Poisson limits at two order statistics of the true positives, added as squares."""
    gold = np.zeros(60, dtype=bool)
    gold[[2, 4, 7, 9, 12, 16, 24, 32, 43, 57]] = True  # beside 4 true positives: 6 to 8 others
    df = pd.DataFrame({"a": -np.arange(60.0), "gold": gold})
    row = df.rankeval.precision_recall(interval="pointwise").query("n == 10").iloc[0]
    place = np.arange(12)
    above = [0, 2, 3, 5, 6, 8, 11, 18, 25, 35, 48, 50]
    middle, z = np.arcsin(np.sqrt(4.5 / 11)), stats.norm.ppf(0.975)
    center = np.log(np.interp(4.5, place, above) + 0.5)
    for sign, name in ((1, "ci_low"), (-1, "ci_high")):
        fp = np.interp(11 * np.sin(middle + sign * z / 2 / 11**0.5) ** 2, place, above)
        tail = 0.975 if sign > 0 else 0.025
        count = stats.gamma.ppf(tail, fp + (sign > 0))
        parts = np.log(fp + 0.5) - center, np.log(count) - np.log(fp + 0.5)
        apart = np.sqrt(sum(x**2 for x in parts) + z**2 * (1 / 10 + 1 / 50))
        assert row[name] == pytest.approx(4 / (4 + np.exp(center + sign * apart)), rel=1e-9)


@settings(max_examples=examples(40))
@given(st.integers(2, 40), st.integers(2, 300), st.floats(0, 4), st.sampled_from([0, 2, 30]))
def test_limits_of_precision_do_not_jump(positives, others, shift, steps):
    rng = np.random.default_rng(positives * others)
    gold = np.arange(positives + others) < positives
    score = rng.normal(size=gold.size) + shift * gold
    if steps:
        score = np.round(score * steps / 10)
    df = pd.DataFrame({"a": score, "gold": gold})
    for ties in ("expected", "shared"):
        found = df.rankeval(ties=ties).precision_recall(interval="pointwise")
        low, high, precision = (found[x] for x in ("ci_low", "ci_high", "precision"))
        assert (low >= 0).all()
        assert (high <= 1).all()
        assert (low <= precision + 1e-12).all()
        assert (precision <= high + 1e-12).all()
        assert (low[found["recall"] > 0] > 1e-6).all()
        # with one more true positive, and the others up to the next, less than an e-fold change
        at = found[found["recall"] > 0].groupby("recall")["ci_low"].first()
        assert (np.abs(np.diff(np.log(at))) < 2.0).all()


def test_pictures_say_whose_limits_they_show(df):
    call = df.rankeval(measures="good")
    ax = call.plot.det(interval="simultaneous", level=0.9)
    assert "90% confidence limits, for all points together" in rankeval_pd.plotting.caption(ax)
    assert ax.collections
    again = rankeval_pd.plotting.det(call.det(interval="pointwise"))
    assert "for each point separately" in rankeval_pd.plotting.caption(again)


# ----------------------------------------------------------------------------- chance and isolines


@pytest.mark.parametrize("space", RATES)
def test_bands_are_the_bounds(frame, space):
    table = frame.rankeval.random_bound([0.5, 0.01])
    N, P = len(frame), int(frame["gold"].sum())
    fewest, most = np.maximum(table["n"] - (N - P), 0), np.minimum(table["n"], P)
    for bound in ("critical", "discrete", "interpolated", "parametric"):
        found = frame.rankeval.random_band(space, [0.5, 0.01], bound=bound)
        assert list(found.columns) == ["p", "n", *COLUMNS[space]]
        counts = table[bound].where(table[bound].between(fewest, most))
        wanted = RATES[space](counts.to_numpy(float), table["n"].to_numpy(), N, P)
        np.testing.assert_allclose(found[COLUMNS[space]].T, wanted, rtol=1e-13, atol=1e-15)
        assert counts.isna().any() == (bound != "discrete")


def test_simultaneous_bands_are_the_simultaneous_bounds(frame):
    asked = {"p": 0.2, "n": range(3, 20), "simultaneous": True}
    found, bounds = (
        frame.rankeval.random_band("gain", **asked),
        frame.rankeval.random_bound(**asked),
    )
    tp = bounds["critical"].where(bounds["critical"] <= bounds["n"])
    np.testing.assert_allclose(found["tpr"], tp / frame["gold"].sum(), rtol=1e-14)


def test_isolines_counted_by_hand(frame):
    N, P = len(frame), int(frame["gold"].sum())
    for space, rates in RATES.items():
        found = frame.rankeval.isolines([25, 4], space)
        wanted = [
            (n, *rates(tp, n, N, P))
            for n in (25, 4)
            for tp in range(max(0, n - (N - P)), min(n, P) + 1)
        ]
        np.testing.assert_allclose(found.to_numpy(float), wanted, rtol=1e-13, atol=1e-15)
        assert list(found.columns) == ["n", *COLUMNS[space]]


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_errors_of_bands_and_isolines(frame):
    holed = frame.assign(b=frame["b"].where(frame["b"] > 0))
    for ask in (random_band, isolines):
        with pytest.raises(ValueError, match=r"the measures score different candidates"):
            ask(holed, n=3, missing="drop")
    with pytest.raises(ValueError, match=r"n=None: lines for every n would cover the plot"):
        frame.rankeval.isolines(None)
    with pytest.raises(ValueError, match=r"bound='discrete' with simultaneous=True"):
        frame.rankeval.random_band(simultaneous=True, bound="discrete")


def test_limits_with_groups_are_elsewhere():
    df = rankeval_pd.datasets.simulate_candidates(60).assign(patient=[*range(20)] * 3)
    with pytest.raises(ValueError, match=r"interval= cannot .* groups=. .* see nbest_recall"):
        df.rankeval(groups="patient").roc(interval="pointwise")
