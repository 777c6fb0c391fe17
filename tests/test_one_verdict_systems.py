"""No row about systems contradicts itself: intervals, p-values, letters agree with what decides."""

from __future__ import annotations

import importlib.util
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.decisions.ranks import rank_limits
from rankeval_pd.stats.bootstrap import EVENTS
from rankeval_pd.stats.items import ADJUSTMENTS

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
ADJUST = (None, *ADJUSTMENTS, "max-t", "max-t-stepdown")
FAST = range(12)
# RANKEVAL_PD_TABLES=2000 asks of as many random tables; .ci/run has ten minutes for everything
TABLES = int(os.environ.get("RANKEVAL_PD_TABLES", "40"))
MANY = pytest.param(range(12, 12 + TABLES), marks=pytest.mark.full, id="many")
_spec = importlib.util.spec_from_file_location(
    "family_intervals", Path(__file__).parent / "simulations" / "family_intervals.py"
)
assert _spec is not None
assert _spec.loader is not None
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)


def systems_over_items(rng: np.random.Generator) -> pd.DataFrame:
    """Return systems of any quality over few items, right or wrong, graded or real."""
    count, size = int(rng.integers(2, 6)), int(rng.integers(6, 40))
    scores = rng.normal(rng.uniform(0.0, 1.0, count), 1.0, (size, count))
    scores += rng.exponential() * rng.normal(size=(size, 1))
    kind = rng.integers(4)
    if kind == 0:
        scores = (scores > rng.normal()).astype(float)
    elif kind == 1:
        scores = scores.round(int(rng.integers(2)))
    if rng.random() < 0.1:
        scores[:, 1] = scores[:, 0]
    return pd.DataFrame(scores, columns=list("abcde")[:count])


def asked(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    """Return any options of a test of pairs."""
    chosen = {
        "adjust": ADJUST[rng.integers(len(ADJUST))],
        "alternative": ("two-sided", "greater", "less")[rng.integers(3)],
        "level": float(rng.choice([0.8, 0.95])),
        "n_resamples": 399,
        "rng": int(rng.integers(100)),
    }
    if rng.random() < 0.3:
        chosen["baseline"] = "a"
    return {**chosen, "alpha": 0.2, "details": True, **more}


def check(found: pd.DataFrame, asked: dict[str, Any]) -> None:
    """Assert that the rows of a table of pairs agree with themselves."""
    adjusted, level = asked["adjust"] is not None, asked["level"]
    for name in ("p_adjusted", "ci_low_alone", "ci_high_alone"):
        assert (name in found) == adjusted, asked
    p = found["p_adjusted" if adjusted else "p_value"]
    for low, high, decides in [
        ("ci_low", "ci_high", p),
        *([("ci_low_alone", "ci_high_alone", found["p_value"])] if adjusted else []),
    ]:
        outside = (found[low] > 0.0) | (found[high] < 0.0)
        assert not (outside & (decides > 1.0 - level + 1e-12)).any(), (asked, found.T)
        assert not (found[low] > found[high]).any(), asked
        ends = {"greater": found[high] >= 1.0, "less": found[low] <= -1.0}
        end = ends.get(asked["alternative"])
        assert end is None or end[found[low].notna()].all(), (asked, found.T)
    if adjusted:
        assert (found["p_adjusted"] >= found["p_value"]).all(), (asked, found.T)
        assert found.attrs["family"]
    assert (found["leaning"].isna() == (found["gain"] == 0.0)).all()
    favored = found["system_a"].where(found["gain"] > 0.0, found["system_b"])
    assert (found["leaning"] == favored)[found["gain"] != 0.0].all()
    if asked["alternative"] == "two-sided" and not str(asked["adjust"]).startswith("max-t"):
        two_sided = np.minimum(1.0, 2.0 * found["p_one_sided"])
        np.testing.assert_allclose(found["p_value"], two_sided, rtol=1e-12)


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_no_row_of_the_bootstrap_contradicts_itself(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        data = systems_over_items(rng)
        kinds = (None, "wild", "bca", "percentile", "basic", "studentised")
        options = asked(rng, event=EVENTS[rng.integers(len(EVENTS))], ci=kinds[rng.integers(6)])
        check(data.rankeval.paired_bootstrap(**options), options)


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_no_row_of_the_permutation_contradicts_itself(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 2])
        data, options = systems_over_items(rng), asked(rng)
        check(data.rankeval.paired_permutation(**options), options)


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_letters_ranks_and_pairs_say_the_same(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 3])
        data, adjust = systems_over_items(rng), ADJUST[rng.integers(len(ADJUST))]
        how: dict[str, Any] = {"adjust": adjust, "level": 0.8, "n_resamples": 399, "details": True}
        ranks = data.rankeval.system_ranks(alpha=0.2, **how).set_index("system")
        pairs = data.rankeval.paired_bootstrap(alpha=0.2, **how)
        verdict = data.rankeval(metric="mean").summary(**how)
        p = pairs["p_value" if adjust is None else "p_adjusted"]
        for row, decides in zip(pairs.itertuples(), p, strict=True):
            shared = {*ranks["letters"][row.system_a]} & {*ranks["letters"][row.system_b]}
            assert bool(shared) == (decides > 0.2), (how, pairs.T)
        apart = pairs[p <= 0.2]
        for name in ranks.index:
            assert ranks["rank_low"][name] == 1 + (apart["system_b"] == name).sum()
            assert ranks["rank_high"][name] == len(ranks) - (apart["system_a"] == name).sum()
        assert verdict["letters"].tolist() == ranks["letters"].loc[verdict["system"]].tolist()
        outside = (verdict["difference_low"] > 0.0) | (verdict["difference_high"] < 0.0)
        of_difference = verdict["p_value" if adjust is None else "p_adjusted"]
        assert not (outside & (of_difference > 0.2 + 1e-12)).any()


@pytest.mark.parametrize("seeds", [range(6), MANY])
def test_no_row_of_other_sizes_or_of_queries_contradicts_itself(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 4])
        options = asked(rng)
        options.pop("baseline", None)
        sizes = systems_over_items(rng).rankeval.gain_by_size([4, 6], **options)
        for _, rows in sizes.groupby("size"):
            rows.attrs = sizes.attrs
            check(rows, options)
        grades = pd.DataFrame({"query": np.repeat(range(20), 6), "grade": rng.integers(0, 3, 120)})
        grades["document"] = [*range(6)] * 20
        for name in "abc":
            grades[name] = grades["grade"] * rng.exponential() + rng.normal(size=120)
        adjust = ADJUST[rng.integers(len(ADJUST))]
        found = grades.rankeval(by="query", gold="grade", measures=[*"abc"]).summary(
            ["nDCG@3", "AP"], baseline="a" if rng.random() < 0.5 else None, adjust=adjust,
            level=0.8, n_resamples=399, details=True,
        )  # fmt: skip
        assert ("p_adjusted" in found) == (adjust is not None)
        if adjust is not None:
            assert not (found["p_adjusted"] < found["p_value"]).any()
        outside = (found["difference_low"] > 0.0) | (found["difference_high"] < 0.0)
        decides = found["p_value" if adjust is None else "p_adjusted"]
        assert not (outside & (decides > 0.2 + 1e-12)).any(), (seed, adjust, found.T)


def test_a_step_down_is_between_its_pair_and_the_single_step():
    """And a pair alone has the p-value of the test without adjustment, but for draws."""
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal([0.0, 0.3, 0.5, 0.6], 1.0, size=(60, 4)), columns=list("abcd"))
    ask: dict[str, Any] = {"n_resamples": 20_000, "details": True}
    alone, single, down = (
        data.rankeval.paired_bootstrap(adjust=how, **ask)
        for how in (None, "max-t", "max-t-stepdown")
    )
    np.testing.assert_allclose(single["p_value"], alone["p_value"], atol=0.015)
    np.testing.assert_array_equal(single["p_value"], down["p_value"])
    assert (down["p_value"] <= down["p_adjusted"]).all()
    assert (down["p_adjusted"] <= single["p_adjusted"] + 1e-12).all()
    assert (down["p_adjusted"] > 1.2 * down["p_value"]).sum() >= 4
    assert (down["p_adjusted"] < single["p_adjusted"]).sum() >= 3


def test_a_pair_without_an_item_that_differs_has_an_interval_of_the_family():
    right = np.random.default_rng(0).random((40, 3)) < 0.6
    data = pd.DataFrame(right, columns=list("abc")).assign(d=right[:, 0])
    found = data.rankeval.paired_bootstrap(adjust="max-t", details=True)
    row = found[(found["gain"] == 0.0) & (found["gain_se"] == 0.0)].iloc[0]
    z = 2.6382572735  # the normal quantile of 1 - 0.05 / 12, for six pairs
    assert row["ci_high"] == pytest.approx(z**2 / (40 + z**2), rel=1e-8)  # Tango (1998), b = c = 0
    assert row["ci_low"] == -row["ci_high"]


def test_draws_go_on_until_a_pair_near_alpha_is_decided():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal([0.0, 0.37, 0.6], 1.0, size=(60, 3)), columns=list("abc"))
    once = data.rankeval.paired_bootstrap(adjust="max-t", n_resamples=10_000, details=True)
    near = float(once["p_adjusted"].iloc[np.argmin(np.abs(once["p_adjusted"] - 0.2))])
    assert 0.001 < near < 0.999
    close = data.rankeval.paired_bootstrap(adjust="max-t", alpha=near, details=True)
    assert close["n_resamples"].max() == 80_000  # the limit: eight times as many
    easy = data.rankeval.paired_bootstrap(adjust="max-t", alpha=near / 3, details=True)
    assert easy["n_resamples"].max() <= 20_000 or easy["undecided"].any()
    ranks = data.rankeval.system_ranks(alpha=near, details=True)
    assert ranks.attrs["n_resamples"] == 80_000
    assert (ranks["undecided"].any()) == close["undecided"].any()


def test_ranks_of_all_groups_have_the_letters_of_the_family():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal([0.0, 0.3, 0.9], 1.0, size=(80, 3)), columns=list("abc"))
    data["domain"] = np.repeat(["x", "y"], 40)
    for over, word in (
        ("all", "all 3 pairs in all 2 groups"),
        ("group", "all 3 pairs in each group"),
    ):
        ask = {"by": "domain", "adjust_over": over, "details": True, "n_resamples": 9_999}
        ranks = rankeval_pd.system_ranks(data, **ask)
        pairs = rankeval_pd.paired_bootstrap(data, adjust="max-t", **ask)
        assert ranks.attrs["family"] == pairs.attrs["family"] == word
        named = ranks.set_index(["domain", "system"])["letters"]
        for row in pairs.itertuples():
            both = (set(named[row.domain, x]) for x in (row.system_a, row.system_b))
            assert bool(set.intersection(*both)) == (row.p_adjusted > 0.05)


def test_rank_limits_name_ties():
    p = np.array([0.5, 0.01, 0.3])  # of the first and second, first and third, second and third
    found = rank_limits(np.array([2, 1, 3]), p, 0.05)
    assert found.letters.tolist() == ["a", "ab", "b"]
    assert (found.low.tolist(), found.high.tolist()) == ([1, 1, 2], [2, 3, 3])


def test_simultaneous_intervals_where_gains_differ_much():
    """Without a second reference about each gain, .84 of the samples are covered."""
    found = study.simulate(study.Setting(20, 30, "normal", 0.9, 9.0), 60)
    assert found.covered >= 0.88
    assert found.contradicting == 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("systems", "items", "scores"), [*itertools.product((8, 20), (30, 300), study.SCORES)]
)
def test_simultaneous_coverage_and_family_wise_error(systems, items, scores):
    samples = 400 if systems == 8 else 200
    equal = study.Setting(systems, items, scores, 0.6, 0.0)
    ahead = [equal._replace(spread=0.5)] if (items, scores) != (30, "0/1") else []
    skewed = [x for x in study.SKEWED if x[:3] == equal[:3]]
    for setting in [equal, *ahead, *skewed]:
        found = study.simulate(setting, samples)
        room = 3.0 * np.sqrt(0.05 * 0.95 / samples)
        assert found.covered >= 0.95 - room
        assert found.errs <= 0.05 + room
        assert found.contradicting == 0


def test_the_table_of_simultaneous_intervals_keeps_the_promise():
    table = pd.read_csv(Path(__file__).parent / "simulations" / "family_intervals.csv")
    assert (table["samples"] >= 2_000).all()
    assert (table["covered"] >= 0.94).all()
    assert (table["errs"] <= 0.06).all()
    assert (table["contradicting"] == 0).all()
    assert len(table) == len(study.settings())
