"""Thresholds of gains, sizes, calibration: the papers' figures, and simulated systems."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rankeval_pd
from rankeval_pd.systems.studies import CALIBRATION_COLUMNS, PAPER_BINS, THRESHOLD_COLUMNS
from tests.systems.conftest import OF_PAIRS

# most tables here are short
pytestmark = pytest.mark.filterwarnings("ignore:the window contains:rankeval_pd.RankevalWarning")


def systems(seed: int, items: int = 400, count: int = 12, spread: float = 0.05) -> pd.DataFrame:
    """Return what systems of slightly different skill get right."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(items, 1))
    skill = np.linspace(0, spread * 4, count)
    found = (rng.normal(size=(items, count)) + ease + skill > 0).astype(int)
    return pd.DataFrame(found, columns=[f"s{k:02}" for k in range(count)])


def table(p: list[float], gain: list[float], **columns) -> pd.DataFrame:
    """Return a table of pairs with these p-values and gains."""
    size = len(p)
    pairs = pd.DataFrame({
        "system_a": [f"a{k}" for k in range(size)], "system_b": [f"b{k}" for k in range(size)],
        "gain": gain, "gain_se": np.linspace(1.0, 2.0, size), "p_value": p, "n_items": 100,
        **columns,
    })  # fmt: skip
    pairs.attrs["alternative"] = "greater"
    return pairs


# ------------------------------------------------------------------------------- gain_threshold


def test_47_pairs_have_no_upper_limit_which_needs_72_and_the_41st_gain_is_the_lower():
    gains = np.random.default_rng(0).permutation(np.arange(1.0, 48.0))
    data = table([0.05] * 47, gains)
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"contains 47 pairs.*all_pairs\.$"):
        found = data.rankeval.gain_threshold(ci="order").iloc[0]
    with pytest.warns(rankeval_pd.RankevalWarning, match="made with details=True"):
        data.drop(columns="gain_se").rankeval.gain_threshold()
    assert found["n_pairs"] == 47
    assert found["threshold_low"] == 41.0
    assert found["threshold_high"] == np.inf
    assert found["threshold"] == np.quantile(gains, 0.95)
    for pairs, high in [(71, np.inf), (72, 72.0), (100, 100.0)]:
        data = table([0.05] * pairs, np.arange(1.0, pairs + 1))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = data.rankeval.gain_threshold(ci="order")
        assert (found["threshold_high"][0], len(told)) == (high, pairs < 72)


def test_the_window_holds_its_ends_and_may_be_empty():
    data = table([0.03, 0.04, 0.05, 0.06, 0.07], [1.0, 2, 3, 4, 5])
    found = data.rankeval.gain_threshold().iloc[0]
    assert found["n_pairs"] == 3
    assert found["threshold"] == np.quantile([2, 3, 4], 0.95)
    z = stats.norm.isf(0.05)
    assert found["threshold_all_pairs"] == pytest.approx(z * np.quantile(data["gain_se"], 0.95))
    empty = data.rankeval.gain_threshold(window=(0.2, 0.3)).iloc[0]
    assert empty["n_pairs"] == 0
    assert empty[["threshold", "threshold_low", "threshold_high"]].isna().all()
    assert empty["threshold_all_pairs"] == pytest.approx(
        stats.norm.isf(0.25) * np.quantile(data["gain_se"], 0.95)
    )


def test_a_two_sided_window_is_of_two_sided_p_values():
    data = table([0.05, 0.025, 0.024, 0.976], [1.0, 2.0, 3.0, -4.0])
    found = data.rankeval.gain_threshold(alternative="two-sided")
    assert found.attrs["alternative"] == "two-sided"
    assert found["n_pairs"][0] == 3
    assert found["threshold"][0] == np.quantile([2.0, 3.0, 4.0], 0.95)  # whichever stood first
    z = stats.norm.isf(0.025)
    assert found["threshold_all_pairs"][0] == pytest.approx(z * np.quantile(data["gain_se"], 0.95))
    one = data.rankeval.gain_threshold()
    assert (one["n_pairs"][0], one["threshold"][0], one.attrs["alternative"]) == (1, 1.0, "greater")
    with pytest.raises(ValueError, match=r"alternative='less' is not one of"):
        data.rankeval.gain_threshold(alternative="less")
    both = data.assign(p_value=np.array([0.1, 0.05, 0.048, 0.048]))
    both.attrs["alternative"] = "two-sided"
    pd.testing.assert_frame_equal(both.rankeval.gain_threshold(), one)
    del both.attrs["alternative"]
    with pytest.raises(ValueError, match=r"whether p_value is one-sided"):
        both.rankeval.gain_threshold()
    both.attrs["adjust"] = "max-t"
    with pytest.raises(ValueError, match=r"adjusted by max-t"):
        both.rankeval.gain_threshold()
    short = data.drop(columns=["gain_se", "n_items"])
    pd.testing.assert_frame_equal(
        short.rankeval.gain_threshold(), one.drop(columns="threshold_all_pairs")
    )


def test_systems_drawn_with_replacement_written_out():
    """Every pair stands there as often as its two systems were drawn, the product of the two."""
    rng = np.random.default_rng(4)
    a, b = np.triu_indices(9, 1)
    gains = rng.exponential(size=a.size)
    data = table([0.05] * a.size, gains).assign(system_a=a, system_b=b)
    found = data.rankeval.gain_threshold(quantile=0.8, n_resamples=60, rng=7).iloc[0]
    drawn = []
    for counts in rankeval_pd.resample_counts(9, 60, rng=7):
        times = counts[pd.factorize(np.r_[a, b])[0].reshape(2, -1)].prod(axis=0)
        drawn.append(np.quantile(np.repeat(gains, times), 0.8, method="inverted_cdf"))
    low, high = np.quantile(drawn, [0.025, 0.975])
    ordered = data.rankeval.gain_threshold(ci="order", quantile=0.8).iloc[0]
    wanted = min(low, ordered["threshold_low"]), max(high, ordered["threshold_high"])
    assert wanted != tuple(ordered[["threshold_low", "threshold_high"]])
    np.testing.assert_allclose(found[["threshold_low", "threshold_high"]].astype(float), wanted)


def test_drawn_systems_never_narrow_an_interval():
    """Two pairs have no upper limit, and four of four no lower limit of 1."""
    two = table([0.05] * 2, [1.0, 2.0]).rankeval.gain_threshold(ci="systems").iloc[0]
    assert two["threshold_high"] == np.inf
    rng = np.random.default_rng(0)
    skill = np.array([0.2, 0.4, 0.6, 0.8])
    here, there = (pd.DataFrame((rng.random((400, 4)) < skill).astype(int)) for _ in range(2))
    for ci in ("systems", "clopper-pearson"):
        row = here.rankeval.paired_bootstrap().rankeval.calibration(
            there, bins=[0.0, 0.01], ci=ci
        ).iloc[0]  # fmt: skip
        assert (row["n_pairs"], row["agreement"], row["ci_high"]) == (6, 1.0, 1.0)
        assert row["ci_low"] == pytest.approx(0.025 ** (1 / 6))


def test_a_row_for_each_relation_and_group():
    data = table([0.05] * 4, [1.0, 2.0, 3.0, 4.0], relation=["same", "different"] * 2)
    found = data.rankeval.gain_threshold()
    assert list(found.columns) == list(THRESHOLD_COLUMNS)
    assert found["relation"].tolist() == ["same", "different"]
    assert found["n_pairs"].tolist() == [2, 2]
    grouped = data.copy()
    grouped.insert(0, "domain", ["x", "x", "y", "y"])
    found = grouped.rankeval.gain_threshold()
    assert list(found.columns) == ["domain", *THRESHOLD_COLUMNS]
    assert found["domain"].tolist() == ["x", "x", "y", "y"]
    assert table([0.05], [1.0]).rankeval.gain_threshold()["relation"].isna().all()


def test_more_items_than_there_can_be(items):
    with pytest.raises(MemoryError, match=r"n_items=9223372036854775808 requires.*Pass a smaller"):
        items.rankeval.population_calibration(2**63, n_test_sets=2, n_resamples=20)
    with pytest.raises(MemoryError, match=r"n_test_sets=10{400} requires.*Pass a smaller"):
        items.rankeval.population_calibration(2, n_test_sets=10**400, n_resamples=20)


def test_odd_tables_of_pairs_and_options_of_thresholds_are_named(items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=99).assign(relation="")
    for options, message in (
        ({"window": (0.06, 0.04)}, "window"), ({"window": (0.04, 2)}, "window"),
        ({"window": "ab"}, "pass 2 increasing"), ({"window": 0.05}, "pass 2 increasing"),
        ({"quantile": 10**400}, "quantile="),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            pairs.rankeval.gain_threshold(**options)
    for ask in (items.rankeval.gain_threshold, lambda: items.rankeval.calibration(items)):
        with pytest.raises(ValueError, match=r"no columns 'system_a'.*paired_bootstrap"):
            ask()
    with pytest.raises(ValueError, match=r"the columns 'gain' of the table of pairs do not"):
        pairs.assign(gain="x").rankeval.gain_threshold()
    with pytest.raises(TypeError, match="higher_is_better=<NA>"):
        pairs.rankeval.calibration(items, higher_is_better=pd.NA)
    with pytest.raises(TypeError, match="bins"):
        items.rankeval.population_calibration(5, bins=[[0.1, 0.2]])
    for name in ("relation", "system_b", "gain"):
        twice = pd.concat([pairs, pairs[[name]]], axis=1)
        twice.attrs = pairs.attrs
        with pytest.raises(ValueError, match=f"the columns '{name}' of the table"):
            twice.rankeval.calibration(items)


def test_dtypes_repeated_labels_and_gains_that_are_missing_in_tables_of_pairs(items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=99)
    wide = {"window": (1e-9, 0.999)}
    wanted = pairs.rankeval.gain_threshold(**wide)
    for same in (pairs.convert_dtypes(), pairs.set_axis([0, 0, 1])):
        pd.testing.assert_frame_equal(same.rankeval.gain_threshold(**wide), wanted)
    lacking = pairs.assign(gain=np.nan).rankeval.gain_threshold(**wide).loc[0]
    assert lacking["n_pairs"] == 0
    assert lacking[["threshold", "threshold_low", "threshold_high"]].isna().all()
    some = pairs.assign(gain=pairs["gain"].where(np.arange(len(pairs)) > 0))
    pd.testing.assert_frame_equal(
        some.rankeval.gain_threshold(**wide).drop(columns="threshold_all_pairs"),
        pairs.iloc[1:].rankeval.gain_threshold(**wide).drop(columns="threshold_all_pairs"),
    )


# -------------------------------------------------------------------------- expected_agreement

TABLE_1 = {  # Berg-Kirkpatrick et al. (2012): section 23's p against the agreement on section 22
    "printed": [0.97, 0.92, 0.92, 0.88, 0.87, 0.83],
    "section 22": [0.970, 0.958, 0.943, 0.921, 0.890, 0.846],
    "section 24": [0.959, 0.946, 0.929, 0.905, 0.873, 0.828],
}


def test_expected_agreement_of_table_1():
    """2,416 sentences against 1,700 and 1,346, at the geometric middle of each bin."""
    p = np.sqrt(np.array(PAPER_BINS[:-1]) * PAPER_BINS[1:])
    for section, size in (("section 22", 1700), ("section 24", 1346)):
        found = rankeval_pd.expected_agreement(p, 2416, size)
        np.testing.assert_array_equal(found.round(3), TABLE_1[section])
    # read as 1 - p, section 22 lost 9 points in the mean; as a replicate, not one
    expected = rankeval_pd.expected_agreement(p, 2416, 1700)
    lost = (1 - p) - TABLE_1["printed"]
    assert lost.mean() > 0.07
    assert np.mean(expected - TABLE_1["printed"]) < 0.3 * lost.mean()


def test_expected_agreement_is_the_share_of_replicates():
    """True gains under a flat prior: those with p near .05 keep their sign."""
    rng = np.random.default_rng(5)
    size = 2_000_000
    true = rng.uniform(-30, 30, size)
    here, there = (true + rng.normal(size=size) * s for s in (1.0, np.sqrt(100 / 60)))
    near = np.abs(here - stats.norm.isf(0.05)) < 0.02
    for other, signs in ((60, there), (np.inf, true)):
        wanted = rankeval_pd.expected_agreement(0.05, 100, other)
        assert np.mean(signs[near] > 0) == pytest.approx(wanted, abs=2.0 / np.sqrt(near.sum()))


def test_expected_agreement_at_the_limits():
    ask = rankeval_pd.expected_agreement
    assert ask(0.05, 100, np.inf) == pytest.approx(0.95)
    assert isinstance(ask(0.05, 1, 1), float)
    assert ask([0.0, 1.0], 9, 9).tolist() == [1.0, 0.0]
    assert np.isnan(ask(np.nan, 9, 9))
    assert ask(pd.Series([0.1, 0.2]), 100, np.inf).tolist() == pytest.approx([0.9, 0.8])
    for arguments, message in (
        ((0.05, 100, 0), "n_items_other=0: .* or inf"),
        ((0.05, 0, 100), "n_items=0"),
        ((2, 100, 100), "p=2: pass numbers from 0 to 1"),
        (([-0.1, 0.1], 9, 9), "p=.-0.1, 0.1.: pass"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(*arguments)
    with pytest.raises(TypeError, match="p='small': pass numbers"):
        ask("small", 100, 100)


# ------------------------------------------------------------------------------------- calibration


def test_a_bin_holds_its_upper_edge_and_not_its_lower():
    here = table([0.01, 0.05, 0.05, 0.2], [1.0, 1.0, 1.0, 1.0]).assign(
        system_a=list("pqrs"), system_b="z"
    )
    there = pd.DataFrame({"p": [1, 1], "q": [1, 1], "r": [0, 0], "s": [0, 0], "z": [0, 1]})
    found = here.rankeval.calibration(
        there, bins=[0.01, 0.05, 0.2], metric="mean", higher_is_better=True
    )
    assert found["n_pairs"].tolist() == [2, 1]
    assert found["agreement"].tolist() == [0.5, 0.0]


def test_calibration_counts_signs():
    here, there = systems(6, count=10), systems(7, count=10)
    pairs = here.rankeval.paired_bootstrap(ci="percentile")
    found = pairs.rankeval.calibration(there, bins=[0.001, 0.05, 0.3])
    assert list(found.columns) == list(CALIBRATION_COLUMNS)
    score = there.mean()
    for row in found.itertuples():
        inside = pairs[(pairs["p_one_sided"] > row.p_low) & (pairs["p_one_sided"] <= row.p_high)]
        inside = inside[inside["gain"] > 0]
        kept = [
            score[a] > score[b] for a, b in zip(inside["system_a"], inside["system_b"], strict=True)
        ]
        assert row.n_pairs == len(inside) > 0
        assert row.agreement == np.mean(kept)
        low, high = stats.binomtest(sum(kept), len(kept)).proportion_ci()
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high), rel=1e-9, abs=1e-12)
        expected = rankeval_pd.expected_agreement(inside["p_one_sided"].to_numpy(), 400, 400)
        assert row.expected_agreement == pytest.approx(expected.mean())
    drawn = pairs.rankeval.calibration(there, bins=[0.001, 0.05, 0.3], ci="systems")
    assert (drawn["ci_low"] <= drawn["agreement"]).all()
    assert (drawn["agreement"] <= drawn["ci_high"]).all()


def test_calibration_of_an_empty_bin_and_of_unknown_systems():
    ask = systems(6, count=4).rankeval.paired_bootstrap(ci="percentile").rankeval.calibration
    row = ask(systems(7, count=4), bins=[1e-9, 2e-9]).iloc[0]
    assert (row["n_pairs"], row["ci_low"], row["ci_high"]) == (0, 0.0, 1.0)
    assert row[["agreement", "expected_agreement"]].isna().all()
    with pytest.raises(KeyError, match="other: no column 's03'"):
        ask(systems(7, count=3))
    for bins in ([0.1], [0.2, 0.1], [-1, 0.5]):
        with pytest.raises(ValueError, match="bins"):
            ask(systems(7, count=4), bins=bins)


def test_calibration_keeps_the_direction_of_the_pairs():
    here, there = 1 - systems(6, count=10), 1 - systems(7, count=10)
    for test in ("paired_bootstrap", "paired_permutation"):
        wanted = getattr((1 - here).rankeval, test)().rankeval.calibration(1 - there)
        pairs = getattr(here.rankeval(higher_is_better=False), test)()
        assert pairs.attrs["higher_is_better"] == 0
        for keywords in ({}, {"higher_is_better": False}, {"metric": "mean"}):
            found = pairs.rankeval.calibration(there, **keywords)
            pd.testing.assert_frame_equal(found, wanted)
        for keywords in ({"higher_is_better": True}, {"metric": "accuracy"}):
            with pytest.raises(ValueError, match="lower scores are better"):
                pairs.rankeval.calibration(there, **keywords)


def test_calibration_keeps_the_metric_of_the_pairs():
    here, there = systems(6, count=10), systems(7, count=10)
    found = here.rankeval.paired_permutation(metric="sum").rankeval.calibration(there)
    wanted = here.rankeval.paired_permutation().rankeval.calibration(there)
    pd.testing.assert_frame_equal(found, wanted)

    def mean(S):
        return S[..., 0]

    lost = here.rankeval.paired_permutation()
    lost.attrs = {}
    for keywords, lacking in (
        ({}, "metric=... and higher_is_better=..."),
        ({"metric": "mean"}, "Pass higher_is_better=..."),
        ({"higher_is_better": True}, "Pass metric=..."),
    ):
        with pytest.raises(ValueError, match=f"lost its attrs.*{lacking}"):
            lost.rankeval.calibration(there, **keywords)
    for keywords in ({"metric": "mean", "higher_is_better": True}, {"metric": "accuracy"}):
        again = lost.rankeval.calibration(there, **keywords)
        pd.testing.assert_frame_equal(again, wanted, check_exact=True)
    pairs = here.rankeval.paired_bootstrap(metric=mean, n_resamples=99)
    with pytest.raises(ValueError, match="does not record metric, because the metric is a"):
        pairs.rankeval.calibration(there)
    given = pairs.rankeval.calibration(there, metric=mean, bins=[0.001, 0.05, 0.3])
    assert given["n_pairs"].sum() > 0


def test_test_sets_of_a_population_are_of_all_pairs():
    ask = systems(8, items=60, count=4).rankeval.population_calibration
    found = ask(30, n_test_sets=3, bins=[0.0, 1.0])
    assert 0 < found["n_pairs"].item() <= 3 * 6
    assert 0.0 < found["expected_agreement"].item() < 1.0
    said = f"On 3 random test sets of 30 items, there are {found['n_pairs'].item()} gains with one"
    assert rankeval_pd.in_words(found).startswith(said)
    assert "from 3 random test sets of 30" in rankeval_pd.in_words(found, methods=True)
    caption = rankeval_pd.paper_table(found).attrs["caption"]
    assert "by one-sided p-value" in caption
    assert "3 random test sets of 30 items" in caption
    for role in ("by", "groups"):
        with pytest.raises(ValueError, match=f"{role}='s00'"):
            ask(30, **{role: "s00"})


# ------------------------------------------------------------------------------------ gain_by_size


def test_sizes_are_prefixes_in_the_order_of_the_rows():
    data = systems(9, items=90, count=4).sample(frac=1, random_state=0)
    found = data.rankeval.gain_by_size([30, 90], ci="percentile")
    assert list(found.columns) == ["size", *OF_PAIRS]
    for size, part in found.groupby("size"):
        wanted = data.iloc[:size].rankeval.paired_bootstrap(ci="percentile")
        same = part.drop(columns="size").reset_index(drop=True)
        pd.testing.assert_frame_equal(same, wanted)
    thresholds = found.rankeval.gain_threshold()
    assert thresholds["size"].tolist() == [30, 90]


def test_so_many_items_of_each_domain():
    data = systems(10, items=160, count=4).assign(domain=["b", "a", "a", "a"] * 40)
    found = data.rankeval(by="domain").gain_by_size([30, 80], ci="percentile")
    assert list(found.columns[:2]) == ["domain", "size"]
    assert found[["domain", "size"]].drop_duplicates().to_numpy().tolist() == [
        ["a", 30], ["a", 80], ["b", 30],  # b has 40
    ]  # fmt: skip
    part = found[(found["domain"] == "a") & (found["size"] == 30)].drop(columns=["domain", "size"])
    alone = data[data["domain"] == "a"].iloc[:30].drop(columns="domain")
    wanted = alone.rankeval.paired_bootstrap(ci="percentile")
    pd.testing.assert_frame_equal(part.reset_index(drop=True), wanted)


def test_impossible_sizes():
    for sizes in [[], [1], [401], [0], [2.5], [True], "many"]:
        with pytest.raises((ValueError, TypeError), match="sizes"):
            systems(1).rankeval.gain_by_size(sizes)
