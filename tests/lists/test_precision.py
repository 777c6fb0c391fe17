"""Precision of n-best lists, its intervals and bands."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

import rankeval_pd
from rankeval_pd import RankevalWarning, datasets
from tests.lists.by_hand import check_rates

KRENN = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq"]}
SIZES = [100, 500, 800, 1000, 1250, 1500, 2000]
PERCENT = {
    "log.like": [42.00, 30.40, 29.00, 27.10, 26.48, 25.33, 23.35],
    "t.score": [38.00, 30.20, 30.38, 28.10, 26.24, 24.80, 21.95],
    "chisq": [25.00, 24.60, 23.62, 23.90, 25.04, 25.00, 23.30],
}


# ---------------------------------------------------------------------------- The published figures


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


# ------------------------------------------------------------------------------- Every list by hand


@pytest.mark.parametrize(
    ("ci", "level"), [("clopper-pearson", 0.95), ("wilson", 0.9), ("jeffreys", 0.99)]
)
def test_every_list_counted_by_hand(tied, ci, level):
    roles = {"measures": ["c", "a", "b"], "key": "id", "lower_is_better": "c"}
    found = rankeval_pd.nbest_precision(tied, ci=ci, level=level, target="region", **roles)
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
        check_rates(row, chosen, rows, ci, level)


# ---------------------------------------------------------------------------------------- Intervals


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson", "jeffreys"])
def test_interval_of_published_numbers_is_the_method_s(tied, ci):
    found = tied.rankeval(measures="a").nbest_precision(ci=ci, level=0.8, target="region")
    wanted = rankeval_pd.precision_interval(found["tp"], found["n"], ci=ci, level=0.8)
    assert found["ci_low"].to_numpy() == pytest.approx(wanted.ci_low, rel=1e-14, abs=1e-300)
    assert found["ci_high"].to_numpy() == pytest.approx(wanted.ci_high, rel=1e-14)


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson", "jeffreys"])
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
        (-1, 5, "tp=-1: pass whole numbers"),
        (1.5, 5, "tp=1.5: pass whole numbers"),
        (np.nan, 5, "tp=nan: pass whole numbers"),
        (True, 5, "tp=True: pass whole numbers"),
        (3, np.inf, "n=inf: pass whole numbers"),
        (6, 5, "tp=6: pass whole numbers from 0 to 5"),
    ],
)
def test_impossible_published_numbers(tp, n, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rankeval_pd.precision_interval(tp, n)


def test_the_interval_of_the_best_of_several_measures():
    """Bonferroni over the measures: Clopper and Pearson's at 1 - 0.05 / 3, by SciPy."""
    simulated = rankeval_pd.datasets.simulate_candidates(600)
    simulated["poor"] = simulated["fair"].shift(3, fill_value=0.0)
    found = simulated.rankeval.nbest_precision([20, 60], target="region").query("n == 60")
    measures = found["measure"].nunique()
    tail = 0.025 / measures
    low = beta.ppf(tail, found["tp"], 61 - found["tp"])
    np.testing.assert_allclose(found["ci_low_best"], low, rtol=1e-9)
    high = beta.isf(tail, found["tp"] + 1, 60 - found["tp"])
    np.testing.assert_allclose(found["ci_high_best"], high, rtol=1e-9)
    alone = simulated.rankeval.nbest_precision(60, measures="good", target="region")
    assert alone["ci_low_best"].tolist() == alone["ci_low"].tolist() == [found["ci_low"].max()]


def test_overdispersion_divides_the_counts(frame):
    assert rankeval_pd.precision_interval(40, 100, phi=2.0) == (
        rankeval_pd.precision_interval(20, 50)
    )
    lists = frame.rankeval.nbest_precision([5, 9], phi=2.5, target="region")
    sets = frame.rankeval.acceptance_precision({"a": 2, "b": 1}, phi=2.5)
    for found, n in ((lists, "n"), (sets, "n_accepted")):
        tp, fp = found["tp"] / 2.5, (found[n] - found["tp"]) / 2.5
        np.testing.assert_allclose(found["ci_low"], beta.ppf(0.025, tp, fp + 1), rtol=1e-10)
        np.testing.assert_allclose(found["ci_high"], beta.isf(0.025, tp + 1, fp), rtol=1e-10)


@pytest.mark.parametrize(("quality", "total"), [(6.0, 400), (8.0, 90)])
def test_the_upper_limit_allows_for_other_numbers_of_positives(quality, total):
    """Lists with all positives, or only positives: Clopper and Pearson's of N+ / N, by SciPy."""
    df = datasets.simulate_candidates(total, baseline=0.2, quality={"x": quality})
    positive = int(df["gold"].sum())
    n = [positive // 2, positive - 3, positive + 3, 2 * positive]
    limits = binomtest(positive, total).proportion_ci(method="exact")
    lists, recall = df.rankeval.nbest_precision(n), df.rankeval.nbest_recall(n)
    most = np.minimum(lists["precision"] / positive * total * limits.high, 1.0)
    assert (lists["ci_high"][2:] >= most[2:] * (1 - 1e-12)).all()
    assert lists["ci_high"][2] == pytest.approx(most[2], rel=1e-12)
    most = np.minimum(recall["recall"] * positive / total / limits.low, 1.0)
    assert (recall["ci_high"][:2] >= most[:2] * (1 - 1e-12)).all()
    assert recall["ci_high"][1] == pytest.approx(most[1], rel=1e-12)
    grouped = df.assign(g=np.arange(total)).rankeval(groups="g")
    with_groups = grouped.nbest_precision(n)["ci_high"]
    assert with_groups[2] == pytest.approx(lists["ci_high"][2], abs=0.03)


# ---------------------------------------------------------------------------- Ways of counting ties


@pytest.fixture(scope="module")
def freq(krenn):
    return krenn.set_index(["PP", "verb"]).rankeval(gold="is.colloc", measures="freq")


def test_krenn_frequency(freq):
    n = [500, 1000, 2000]
    found = freq(ties="expected").nbest_precision(n)
    assert found["tp"].round(3).tolist() == [114.5, 191.615, 324.182]
    assert found["tp_sd"].round(3).tolist() == [0.5, 0.677, 0.968]
    assert freq(ties="best").nbest_precision(n)["tp"].tolist() == [115, 195, 326]
    assert freq(ties="worst").nbest_precision(n)["tp"].tolist() == [114, 191, 322]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=10)
def test_every_order_of_equal_scores(seed, size):
    """All permutations are used as the key."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"a": rng.integers(0, 3, size).astype(float), "gold": rng.random(size) < 0.5})
    df["gold"] = df["gold"].astype(bool)
    orders = pd.concat(
        df.assign(id=np.array(order), number=number)
        for number, order in enumerate(permutations(range(size)))
    )
    keyed = orders.rankeval(key="id", measures="a", by="number").nbest_precision()
    counts = keyed["tp"].to_numpy().reshape(-1, size)
    for ties, wanted in (
        ("expected", counts.mean(axis=0)),
        ("best", counts.max(axis=0)),
        ("worst", counts.min(axis=0)),
    ):
        found = df.rankeval(ties=ties, measures="a").nbest_precision()
        assert found["tp"].to_numpy() == pytest.approx(wanted, abs=1e-12)
        assert found["precision"].to_numpy() == pytest.approx(wanted / found["n"], abs=1e-12)
    sd = df.rankeval(ties="expected", measures="a").nbest_precision()["tp_sd"]
    assert sd.to_numpy() == pytest.approx(counts.std(axis=0), abs=1e-7)


def test_the_interval_of_a_mean_count_has_beta_quantiles():
    """Beta quantiles of a count that is not whole."""
    df = pd.DataFrame({"a": [3, 2, 2, 2, 1.0], "gold": [True, True, False, False, False]})
    found = df.rankeval(ties="expected").nbest_precision(3, target="region").iloc[0]
    tp = 1 + 2 / 3
    assert found["tp"] == pytest.approx(tp)
    assert found["ci_low"] == pytest.approx(beta.ppf(0.025, tp, 3 - tp + 1), rel=1e-10)
    assert found["ci_high"] == pytest.approx(beta.ppf(0.975, tp + 1, 3 - tp), rel=1e-10)


def test_missing_scores_are_one_block():
    df = pd.DataFrame(
        {"a": [3.0, np.nan, np.nan, 2.0, np.nan], "gold": [True, True, False, False, True]}
    )
    found = df.rankeval(missing="last", ties="expected").nbest_precision([3, 4])
    assert found["tp"].tolist() == pytest.approx([1 + 2 / 3, 1 + 4 / 3])


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_only_lists_of_one_measure_count_ties_otherwise(tied, ties):
    call = tied.rankeval(ties=ties)
    for ask in (
        lambda: call.difference_region("a", "b", 3),
        lambda: call.tie_sensitivity("a", "b", 3),
        lambda: call.precision_band(3),
        lambda: call.acceptance_precision({"a": 1}),
    ):
        with pytest.raises(ValueError, match=f"ties='{ties}' is supported only by nbest_precision"):
            ask()


# ------------------------------------------------------------------------- Bands for all n together


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("size", [1, 2, 9])
def test_bands_of_no_and_of_only_true_positives_are_within_the_range(size):
    for gold in (False, True):
        df = pd.DataFrame({"a": np.arange(size) // 2, "b": np.sin(np.arange(size)), "gold": gold})
        single = df.rankeval(measures=["a", "b"]).precision_band(n_resamples=20)
        assert len(single) == 2 * size
        assert single["precision"].between(single["band_low"], single["band_high"]).all()
        assert (single["band_low"] >= 0).all()
        assert (single["band_high"] <= 1).all()
        pair = df.rankeval(measures=["a", "b"]).difference_band("a", "b", n_resamples=20)
        assert pair["difference"].between(pair["band_low"], pair["band_high"]).all()
        assert (pair.loc[pair["n"] == size, ["band_low", "band_high"]] == 0).all(axis=None)


def test_one_list_is_a_pointwise_interval():
    """With a single n, the band is the interval of the n-best list at the level asked for."""
    df = datasets.simulate_candidates(2_000, rng=1)
    band = df.rankeval.precision_band(300, n_resamples=40_000, measures="good")
    interval = df.rankeval.nbest_precision(300, target="nbest", measures="good")
    for side in ("low", "high"):
        assert band[f"band_{side}"][0] == pytest.approx(interval[f"ci_{side}"][0], abs=1.5e-3)
    pair = df.rankeval.difference_band("good", "fair", 300, n_resamples=40_000)
    compared = df.rankeval.compare("good", "fair", 300, target="nbest")
    for side in ("low", "high"):
        assert pair[f"band_{side}"][0] == pytest.approx(compared[f"ci_{side}"][0], abs=1.5e-3)


def test_lists_without_true_positives():
    """The band is never narrower than an interval at each n."""
    df = pd.DataFrame({"a": np.arange(300, 0, -1.0), "gold": False})
    df.loc[220:250, "gold"] = True
    df["b"] = df["a"].where(df["a"] < 200, df["a"] % 100)  # a head of other candidates
    n = [10, 20, 50]
    band = df.rankeval.precision_band(n, measures="a")
    interval = df.rankeval.nbest_precision(n, measures="a", target="nbest")
    assert (band["band_low"] == 0).all()
    assert (band["band_high"] > interval["ci_high"] * (1 - 1e-9)).all()
    pair = df.rankeval.difference_band("a", "b", n)
    compared = df.rankeval.compare("a", "b", n, target="nbest")
    assert (pair["band_high"] >= compared["ci_high"] * (1 - 1e-9)).all()


def test_precise_lists_give_a_warning():
    df = datasets.simulate_candidates(400, baseline=0.4, quality={"a": 3.0, "b": 2.5})
    said = r"precision reaches .* coverage of the band may be too low"
    with pytest.warns(RankevalWarning, match=said):
        df.rankeval.precision_band([20, 100])
    with pytest.warns(RankevalWarning, match=said):
        df.rankeval.difference_band("a", "b", [20, 100])


def test_too_few_draws(frame):
    call = frame.rankeval
    for ask in (
        lambda **o: call.precision_band([20], **o),
        lambda **o: call.difference_band("a", "b", [20], **o),
    ):
        with pytest.raises(ValueError, match=r"n_resamples=18 is too small for .*=19 or more"):
            ask(n_resamples=18)
        with pytest.raises(ValueError, match=r"level=0.9999: .* n_resamples=9999 or more"):
            ask(level=0.9999)


def test_a_generator_goes_on(frame):
    """The same lists, other draws; None is fresh entropy."""
    generator = np.random.default_rng(5)
    bands = [
        frame.rankeval(rng=rng).precision_band([5, 9, 20], n_resamples=99)
        for rng in (generator, generator, None, None)
    ]
    assert len({tuple(band["band_high"]) for band in bands}) == 4
    assert len({tuple(band["precision"]) for band in bands}) == 1
