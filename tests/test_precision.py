"""Precision of n-best lists and acceptance sets: the paper's figures, and a count by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binomtest

import rankeval_pd

KRENN = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq"]}
SIZES = [100, 500, 800, 1000, 1250, 1500, 2000]
PERCENT = {
    "log.like": [42.00, 30.40, 29.00, 27.10, 26.48, 25.33, 23.35],
    "t.score": [38.00, 30.20, 30.38, 28.10, 26.24, 24.80, 21.95],
    "chisq": [25.00, 24.60, 23.62, 23.90, 25.04, 25.00, 23.30],
}


def test_published_interval():
    found = rankeval_pd.precision_interval(200, 500)
    assert found.ci_low == pytest.approx(0.356761372060110, rel=1e-14)
    assert found.ci_high == pytest.approx(0.444428200757038, rel=1e-14)


@pytest.mark.parametrize("measure", PERCENT)
def test_krenn_precision(krenn, measure):
    found = krenn.rankeval(**KRENN).nbest_precision(SIZES).set_index(["measure", "n"]).loc[measure]
    assert (100 * found["precision"]).round(2).tolist() == PERCENT[measure]
    assert found["lift"].to_numpy() == pytest.approx(found["precision"] * 5102 / 566, rel=1e-14)
    assert found["recall"].to_numpy() == pytest.approx(found["tp"] / 566, rel=1e-14)


def test_krenn_baseline(krenn):
    everything = krenn.rankeval(**KRENN).nbest_precision(len(krenn))
    assert everything["tp"].tolist() == [566] * 3
    assert everything["precision"].to_numpy() == pytest.approx(566 / 5102, rel=1e-15)
    assert everything["precision"].round(7).tolist() == [0.1109369] * 3
    assert everything[["recall", "lift"]].eq(1.0).all(axis=None)
    assert everything["tied"].tolist() == [0] * 3


def test_krenn_lower_limits_are_above_the_baseline(krenn):
    found = krenn.rankeval(**KRENN).nbest_precision(range(100, 2001))
    assert len(found) == 3 * 1901
    assert (found["ci_low"] > 566 / 5102).all()
    assert (found["ci_low"] < found["precision"]).all()
    assert (found["precision"] < found["ci_high"]).all()


def _limits(tp: int, n: int, ci: str, level: float) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    if ci == "jeffreys":
        low, high = beta.ppf([(1 - level) / 2, (1 + level) / 2], tp + 0.5, n - tp + 0.5)
        return (low if tp else 0.0), (high if tp < n else 1.0)
    method = "exact" if ci == "clopper-pearson" else "wilson"
    found = binomtest(tp, n).proportion_ci(level, method)
    return found.low, found.high


def _check(row: pd.Series, chosen: list[dict], rows: list[dict], ci: str, level: float) -> None:
    """Check tp, precision, recall, lift and limits of a row of the candidates it stands for."""
    n, tp = len(chosen), sum(r["gold"] for r in chosen)
    total, positive = len(rows), sum(r["gold"] for r in rows)
    assert row["tp"] == tp
    assert row["precision"] == pytest.approx(tp / n if n else np.nan, rel=1e-14, nan_ok=True)
    assert row["recall"] == pytest.approx(tp / positive, rel=1e-14)
    lift = tp / n * total / positive if n else np.nan
    assert row["lift"] == pytest.approx(lift, rel=1e-14, nan_ok=True)
    limits = row["ci_low"], row["ci_high"]
    assert limits == pytest.approx(_limits(tp, n, ci, level), rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(
    ("ci", "level"), [("clopper-pearson", 0.95), ("wilson", 0.9), ("jeffreys", 0.99)]
)
def test_every_list_counted_by_hand(tied, ci, level):
    roles = {"measures": ["c", "a", "b"], "key": "id", "lower_is_better": "c"}
    found = rankeval_pd.nbest_precision(tied, ci=ci, level=level, **roles)
    rows = tied.to_dict("records")
    wanted = [(m, n) for m in "cab" for n in range(1, len(rows) + 1)]
    assert list(zip(found["measure"], found["n"], strict=True)) == wanted
    assert found["tied"].any()
    for _, row in found.iterrows():
        m, sign = row["measure"], 1 if row["measure"] == "c" else -1
        ranked = sorted(rows, key=lambda r: (sign * r[m], r["id"]))
        chosen = ranked[: row["n"]]
        assert row["threshold"] == chosen[-1][m]
        assert row["tied"] == sum(r[m] == chosen[-1][m] for r in ranked[row["n"] :])
        _check(row, chosen, rows, ci, level)


@pytest.mark.parametrize(("ci", "level"), [("clopper-pearson", 0.9), ("wilson", 0.95)])
def test_every_acceptance_set_counted_by_hand(tied, ci, level):
    cuts = {"a": [3, 9, -1, 2.5], "c": [0.2, -9], "b": 0}
    found = rankeval_pd.acceptance_precision(
        tied, cuts, ci=ci, level=level, lower_is_better="c", measures=["a", "b", "c"]
    )
    asked = [("a", 3), ("a", 9), ("a", -1), ("a", 2.5), ("b", 0), ("c", 0.2), ("c", -9)]
    assert list(zip(found["measure"], found["threshold"], strict=True)) == asked
    rows = tied.to_dict("records")
    for _, row in found.iterrows():
        m, cut = row["measure"], row["threshold"]
        chosen = [r for r in rows if (r[m] <= cut if m == "c" else r[m] >= cut)]
        assert row["n_accepted"] == len(chosen)
        _check(row, chosen, rows, ci, level)
    empty = found[found["n_accepted"] == 0]
    assert len(empty) == 2
    assert empty["precision"].isna().all()
    assert empty[["ci_low", "ci_high"]].to_numpy().tolist() == [[0.0, 1.0]] * 2


def test_a_number_is_the_threshold_of_the_only_measure(frame):
    one = frame[["a", "gold"]]
    pd.testing.assert_frame_equal(
        one.rankeval.acceptance_precision(3), one.rankeval.acceptance_precision({"a": 3.0})
    )


def test_threshold_inf_and_nan_scores():
    df = pd.DataFrame({"a": [np.inf, 1.0, np.nan, -np.inf], "gold": [True, False, True, True]})
    found = df.rankeval.acceptance_precision({"a": [np.inf, 1, -np.inf]}, missing="last")
    assert found["n_accepted"].tolist() == [1, 2, 3]
    assert found["tp"].tolist() == [1, 1, 2]


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson", "jeffreys", "midp"])
def test_interval_of_published_numbers_is_the_method_s(tied, ci):
    found = tied.rankeval(measures="a").nbest_precision(ci=ci, level=0.8)
    wanted = rankeval_pd.precision_interval(found["tp"], found["n"], ci=ci, level=0.8)
    assert found["ci_low"].to_numpy() == pytest.approx(wanted.ci_low, rel=1e-14, abs=1e-300)
    assert found["ci_high"].to_numpy() == pytest.approx(wanted.ci_high, rel=1e-14)


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson", "jeffreys", "midp"])
def test_intervals_at_the_ends(ci):
    assert rankeval_pd.precision_interval(0, 0, ci=ci) == (0.0, 1.0)
    assert rankeval_pd.precision_interval(0, 7, ci=ci).ci_low == 0.0
    assert rankeval_pd.precision_interval(7, 7, ci=ci).ci_high == 1.0
    low, high = rankeval_pd.precision_interval([0, 3, 7], 7, ci=ci)
    mirrored = rankeval_pd.precision_interval([7, 4, 0], 7, ci=ci)
    assert low == pytest.approx(1 - mirrored.ci_high, rel=1e-10, abs=1e-15)
    assert high == pytest.approx(1 - mirrored.ci_low, rel=1e-10, abs=1e-15)


def test_interval_of_scalars_is_floats_and_of_arrays_broadcasts():
    assert all(type(x) is float for x in rankeval_pd.precision_interval(np.int64(3), 7.0))
    assert rankeval_pd.precision_interval([[1], [2]], [3, 4, 5]).ci_low.shape == (2, 3)


@pytest.mark.parametrize(
    ("tp", "n", "message"),
    [
        (-1, 5, "tp=-1: pass counts"),
        (1.5, 5, "tp=1.5: pass counts"),
        (np.nan, 5, "tp=nan: pass counts"),
        ("3", 5, "tp='3': pass counts"),
        (True, 5, "tp=True: pass counts"),
        (3, np.inf, "n=inf: pass counts"),
        (6, 5, "tp=6 exceeds n=5"),
    ],
)
def test_impossible_published_numbers(tp, n, message):
    with pytest.raises(ValueError, match=message):
        rankeval_pd.precision_interval(tp, n)


# --------------------------------------------------------------------------------- local precision


def test_local_precision_by_hand(tied):
    """Windows cut from the sorted frame, one by one."""
    ranked = tied.sort_values(["c", "id"], ascending=[False, True], kind="stable")
    found = tied.rankeval(key="id", measures="c").local_precision(6)
    assert found["n"].tolist() == list(range(3, len(tied) - 2))
    for row in found.itertuples():
        inside = ranked["gold"].iloc[row.n - 3 : row.n + 3]
        assert row.precision == inside.mean()
        low, high = rankeval_pd.precision_interval(int(inside.sum()), 6)
        assert (row.ci_low, row.ci_high) == (low, high)


def test_local_precision_of_the_whole(frame):
    found = frame.rankeval(measures=["a", "c"]).local_precision(30, ci="wilson", level=0.8)
    assert found["n"].tolist() == [15, 15]
    assert found["precision"].tolist() == [frame["gold"].mean()] * 2


def test_local_precision_of_groups(ragged):
    found = ragged.rankeval(by="query", measures="a").local_precision(8)
    assert found.groupby("query")["n"].agg(list).to_dict() == {"q1": [4, 5, 6, 7, 8], "q2": [4, 5]}


@pytest.mark.parametrize(
    ("window", "error", "message"),
    [
        (7, ValueError, "window=7 is odd.*Pass 8"),
        (0, ValueError, "window=0: pass a whole number of at least 2"),
        (4.0, TypeError, "window=4.0 is of type float"),
        (32, ValueError, "window=32 exceeds the number of candidates"),
    ],
)
def test_wrong_windows(frame, window, error, message):
    with pytest.raises(error, match=message):
        frame.rankeval.local_precision(window)


def test_the_interval_of_the_best_of_several_measures():
    """Bonferroni over the measures: Clopper and Pearson's at 1 - 0.05 / 3, by SciPy."""
    simulated = rankeval_pd.datasets.simulate_candidates(600)
    simulated["poor"] = simulated["fair"].shift(3, fill_value=0.0)
    found = simulated.rankeval.nbest_precision([20, 60]).query("n == 60")
    measures = found["measure"].nunique()
    tail = 0.025 / measures
    low = beta.ppf(tail, found["tp"], 61 - found["tp"])
    np.testing.assert_allclose(found["ci_low_best"], low, rtol=1e-9)
    high = beta.isf(tail, found["tp"] + 1, 60 - found["tp"])
    np.testing.assert_allclose(found["ci_high_best"], high, rtol=1e-9)
    alone = simulated.rankeval.nbest_precision(60, measures="good")
    assert alone["ci_low_best"].tolist() == alone["ci_low"].tolist() == [found["ci_low"].max()]
    words = rankeval_pd.in_words(found)
    assert words.count("correction for the choice of measure, the interval is") == 1
    assert "Allowing" not in rankeval_pd.in_words(alone)
