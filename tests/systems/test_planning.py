"""Plans of items and seeds, and accuracies as published: the noncentral t, enumeration, SciPy."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import differences, two_by_two
from tests.conftest import examples
from tests.systems.conftest import trained

PILOT = {
    "gain_se": 0.025, "n_items": 400, "gain_se_seeds": 0.03 * np.sqrt(2.0 / 3.0), "n_seeds": 3
}  # fmt: skip

# ----------------------------------------------------------------------------- plans without seeds


def test_detectable_gain_and_needed_items_agree():
    ask = {"power": 0.9, "alpha": 0.01}
    for alternative, tail in (("two-sided", 0.005), ("greater", 0.01)):
        pilot = {"gain_se": 0.3, "n_items": 1000}
        gain = rankeval_pd.detectable_gain(pilot, 2500, alternative=alternative, **ask)
        error = 0.3 * np.sqrt(0.4) * np.sqrt(2500 / 2499)
        power = stats.nct.sf(stats.t.isf(tail, 2499), 2499, gain / error)
        assert power == pytest.approx(0.9, abs=1e-5)
        needed = rankeval_pd.needed_items(gain * 1.0001, 0.3, 1000, alternative=alternative, **ask)
        assert needed == 2500
    for z, keywords in ((2.801585, {}), (2.486475, {"alternative": "greater"})):
        np.testing.assert_allclose(
            rankeval_pd.detectable_gain(np.array([0.1, 0.2]), 1_000_000, **keywords),
            0.1 * np.array([1, 2]) * z,
            rtol=1e-5,
        )


def test_a_plan_for_a_two_sided_test_needs_more():
    """The least numbers of topics with a power of 80 %: one topic fewer falls short."""
    one, two = (
        rankeval_pd.needed_items(0.025, 0.0281, 100, alternative=side)
        for side in ("greater", "two-sided")
    )
    assert (one, two) == (784, 995)
    effect = 0.025 / (0.0281 * np.sqrt(100))
    for items, level in ((one, 0.05), (two, 0.025)):
        powers = [
            stats.nct.sf(stats.t.isf(level, n - 1), n - 1, effect * np.sqrt(n - 1))
            for n in (items - 1, items)
        ]
        assert powers[0] < 0.8 <= powers[1]


@pytest.mark.parametrize("n", [260, 20])
def test_the_power_of_the_test_of_accuracy_is_enumerated(n):
    """All tables of 20 items, and McNemar's test of 260."""
    gain, differ, total = 0.25, 0.5, 0.0
    up, down = (differ + gain) / 2, (differ - gain) / 2
    for only_b in range(n + 1):
        only_a = np.arange(n + 1 - only_b)
        other = np.full(only_a.size, only_b)
        p = np.minimum(
            two_by_two.paired_tails(only_a, other, n), two_by_two.paired_tails(other, only_a, n)
        )
        rest = stats.binom.pmf(only_a, n - only_b, up / (1 - down))
        total += float((stats.binom.pmf(only_b, n, down) * rest)[2 * p <= 0.05].sum())
    found = differences.accuracy_power(gain, differ, n, 0.025, 2)
    assert found == pytest.approx(total, abs=1e-6)


# -------------------------------------------------------------------------------- plans with seeds


def test_power_with_seeds_is_that_of_the_test():
    rng = np.random.default_rng(3)
    parts = differences.Parts(1.0, 399.0, 0.8, 2.0)
    a, b, c = (rng.chisquare(f, 200_000) / f for f in (2, 2, 399))
    seeds = 0.4 * (a + b)
    few = 2 * (a + b) ** 2 / (a * a + b * b)
    edge = differences.critical_of(0.025, seeds / (seeds + c), 399, few) * np.sqrt(seeds + c)
    for gain in (0.0, 3.0, 5.0):
        drawn = gain + np.sqrt(1.8) * rng.normal(size=200_000)
        wanted = float(np.mean(np.abs(drawn) > edge))
        assert parts.power(gain, parts.edges(0.025), 2) == pytest.approx(wanted, abs=0.005)


def test_plans_take_rows_tables_and_parts():
    data = trained(systems=3)
    table = data.rankeval(seeds="seed").paired_bootstrap(details=True)
    parts = {x: table[x].to_numpy() for x in ("n_items", "gain_se_seeds", "n_seeds")}
    parts["gain_se"] = table["gain_se_items"].to_numpy()
    gains = rankeval_pd.detectable_gain(table)
    assert gains.tolist() == rankeval_pd.detectable_gain(parts).tolist()
    assert rankeval_pd.detectable_gain(table.iloc[1]) == gains[1]
    assert (rankeval_pd.detectable_gain(table, n_seeds=10) < gains).all()
    assert (rankeval_pd.detectable_gain(table, 10_000) < gains).all()
    assert rankeval_pd.needed_seeds(gains[0] * 0.9, table.iloc[0]) > 3
    assert rankeval_pd.needed_seeds(gains[0] * 1.001, table.iloc[0]) <= 3
    assert rankeval_pd.needed_items(gains[0] * 1.001, table.iloc[0]) <= 80
    pooled = data.rankeval(seeds="seed", seed_variance="pooled").paired_bootstrap(details=True)
    row = pooled.iloc[0]
    assert rankeval_pd.detectable_gain(row) < rankeval_pd.detectable_gain({**row})


def test_plans_of_rows_of_accuracy_use_its_test():
    right = pd.DataFrame({"a": [1, 1, 0, 1] * 50, "b": [1, 0, 0, 1] * 50})
    ask, differ = right.rankeval(metric="accuracy"), 0.25
    found, same = (
        rankeval_pd.needed_items(0.2, table.iloc[0])
        for table in (ask.paired_bootstrap(details=True), ask.paired_permutation(details=True))
    )
    error = np.sqrt((differ - 0.25**2) / 200)
    near = rankeval_pd.needed_items(0.2, error, 200, metric="accuracy")
    assert found == same
    assert differences.accuracy_power(0.2, differ, found, 0.025, 2) >= 0.8
    assert abs(near - found) <= 0.3 * found  # it knows no gain of the items at hand


def test_a_plan_that_no_study_fulfils_is_refused():
    for ask, message in [
        (lambda: rankeval_pd.needed_items(0.03, PILOT),
         r"gain=0.03: with 3 seeds, no test set can detect .* Plan at least \d+ seeds, n_seeds="),
        (lambda: rankeval_pd.needed_seeds(0.03, PILOT),
         r"with 400 items, no number of seeds is sufficient. Plan more than [\d,]+ items"),
        (lambda: rankeval_pd.needed_items(1, 0.02, 400, metric="accuracy"),
         "gain=1: accuracy ranges from 0 to 1, so that one point is 0.01"),
        (lambda: rankeval_pd.needed_items(2, _area_row()), "gain=2: area ranges from 0 to 1"),
        (lambda: rankeval_pd.needed_items(2, AREA), "gain=2: area ranges from 0 to 1"),
        (lambda: rankeval_pd.needed_items(0.1, {"ap": 0.5, "prevalence": 0.1}),
         r"only an AUC can be assumed.* pass a row of a pilot: area\('ap', details=True\)"),
        (lambda: rankeval_pd.needed_items(0.1, {"area": 0.8}),
         "assumed, as {'area': 0.8, 'prevalence': 0.1}"),
        (lambda: rankeval_pd.needed_items(0.1, AREA | {"area": 1.0}), "area=1.0 is outside"),
        (lambda: rankeval_pd.needed_items(0.1, AREA | {"prevalence": [0.1, 10]}),
         "prevalence=10.0 is outside .* 10% is 0.1"),
        (lambda: rankeval_pd.needed_seeds(0.1, AREA, 400), "variance between seeds is missing"),
        (lambda: rankeval_pd.needed_items(0.1, _accepted(), metric="accuracy"),
         "metric='accuracy' is not one of 'precision', "),
        (lambda: rankeval_pd.needed_items(2, _accepted(), metric="npv"), "npv ranges from 0 to 1"),
        (lambda: rankeval_pd.needed_items(0.1, _accepted(), metric="npv"), "details=True"),
        (lambda: rankeval_pd.needed_seeds(0.1, 0.025, 400), "variance between seeds is missing"),
        (lambda: rankeval_pd.detectable_gain(PILOT, n_seeds=1), "n_seeds=1: pass"),
        (lambda: rankeval_pd.detectable_gain(0.1, 9, n_seeds=4), "no variance between seeds"),
        (lambda: rankeval_pd.detectable_gain(pd.Series({"gain": 1.0})), "details=True"),
        (lambda: rankeval_pd.needed_items(0.1, PILOT, 9), "a row or table"),
        (lambda: rankeval_pd.detectable_gain(0.3, 1000, power=80), "power=80 is outside"),
        (lambda: rankeval_pd.detectable_gain(0.3, 9, power=0.05), "0.05: .* must exceed alpha"),
        (lambda: rankeval_pd.needed_items(0.1, 0.3, 9, alternative="less"),
         "alternative='less' is not one of 'two-sided', 'greater'"),
        (lambda: rankeval_pd.needed_items(1e-12, 0.01, 1000), "requires more than 1e.15 items"),
        (lambda: rankeval_pd.needed_items([0.1, 0.0], 0.01, 1000), r"gain=\[0.1, 0.0\]: pass"),
        (lambda: rankeval_pd.needed_items(0.1, np.nan, 1000), "gain_se=nan: .*drop"),
        (lambda: rankeval_pd.needed_items(0.1, 0.01, -5), "n_items=-5: pass numbers above 0"),
        (lambda: rankeval_pd.detectable_gain(-1, 10), "gain_se=-1: pass numbers of at least 0"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            ask()

    with pytest.raises(TypeError, match=r"n_items is missing. Pass the number of candidates"):
        rankeval_pd.detectable_gain(AREA, power=None)


AREA = {"area": 0.8, "prevalence": 0.1}


def _accepted() -> pd.Series:
    pilot = rankeval_pd.datasets.simulate_candidates(1_000)
    return pilot.rankeval.acceptance_precision(1.0, details=False).iloc[0]


def _area_row(method: str = "area", *args: str) -> pd.Series:
    pilot = rankeval_pd.datasets.simulate_candidates(1_000)
    return getattr(pilot.rankeval, method)(*args, details=True).iloc[0]


@pytest.mark.parametrize("asked", [("area",), ("area", "ap"), ("compare_area", "good", "fair")])
def test_the_size_for_the_width_and_the_power_of_areas(asked):
    """The normal formulas: N (z se / half)^2, and N ((z + z of the power) se / difference)^2."""
    row, z = _area_row(*asked), stats.norm.ppf([0.975, 0.8])
    size = rankeval_pd.needed_items(0.01, row, power=None)
    assert size == pytest.approx(1_000 * (z[0] * row["se"] / 0.01) ** 2, rel=0.01)
    size = rankeval_pd.needed_items(0.02, row)
    assert size == pytest.approx(1_000 * (z.sum() * row["se"] / 0.02) ** 2, rel=0.01)
    half = rankeval_pd.detectable_gain(row, 4_000, power=None)
    assert half == pytest.approx(z[0] * row["se"] / 2, rel=0.01)


@pytest.mark.parametrize(("share", "half"), [(0.9, 0.05), (0.5, 0.03), (0.8, 0.01)])
def test_the_size_for_the_width_of_a_proportion(share, half):
    """Wald's formula, z^2 p (1 - p) / half^2, and Student's quantile for that size."""
    size = rankeval_pd.needed_items(half, (share * (1 - share)) ** 0.5, 1, power=None)
    wald = stats.norm.ppf(0.975) ** 2 * share * (1 - share) / half**2
    assert (
        wald <= size <= 1 + wald * (stats.t.ppf(0.975, wald - 1) / stats.norm.ppf(0.975)) ** 2 + 1
    )


def hanley_mcneil(area: float, positive: float, negative: float) -> float:
    """Return the standard error by the formula of Hanley and McNeil (1982)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (positive - 1) * (q1 - area**2) + (negative - 1) * (q2 - area**2)
    return float(np.sqrt(variance / positive / negative))


def half_width(n: int) -> float:
    """Return the mean half of Student's interval for a known standard error of 1."""
    chi = stats.chi(n - 1).mean() / np.sqrt(n - 1)
    return float(stats.t.ppf(0.975, n - 1) * chi * np.sqrt(n / (n - 1)))


@pytest.mark.parametrize(("power", "published"), [(0.8, 652), (0.9, 897), (0.95, 1131)])
def test_the_variance_of_an_assumed_area_gives_the_published_sizes(power, published):
    """Hanley and McNeil (1982), table III: cases in each class for areas of 0.70 and 0.75."""
    n = 10_000_000
    error = {
        area: rankeval_pd.detectable_gain({"area": area, "prevalence": 0.5}, n, power=None)
        / stats.norm.ppf(0.975)
        for area in (0.7, 0.75)
    }
    first, both = (n / 2 * x for x in (error[0.7] ** 2, error[0.7] ** 2 + error[0.75] ** 2))
    z = stats.norm.ppf([0.95, power])
    size = (z[0] * np.sqrt(2 * first) + z[1] * np.sqrt(both)) ** 2 / 0.05**2
    assert size == pytest.approx(published, rel=0.003)  # their quantiles have two decimal places


@pytest.mark.parametrize("area", [0.5, 0.75, 0.95])
@pytest.mark.parametrize("prevalence", [0.05, 0.5, 0.9])
def test_the_size_for_the_width_of_an_assumed_area(area, prevalence):
    assumed, halves = {"area": area, "prevalence": prevalence}, [0.1, 0.02]
    for half, n in zip(halves, rankeval_pd.needed_items(halves, assumed, power=None), strict=True):
        widths = [
            half_width(k) * hanley_mcneil(area, prevalence * k, (1 - prevalence) * k)
            for k in (n, n - 1)
        ]
        assert widths[0] <= half * (1 + 1e-6)
        assert widths[1] > half * (1 - 1e-6)


@pytest.mark.parametrize("of", ["precision", "recall", "specificity", "npv", "f1", "youden"])
def test_the_size_for_the_width_of_a_rate_from_a_pilot(of):
    """Twice the pilot's width needs a quarter of its candidates, up to Student's quantile."""
    pilot = rankeval_pd.datasets.simulate_candidates(1_000)
    row = pilot.rankeval.acceptance_precision(1.0, details=True).iloc[0]
    name = {"precision": "ci", "specificity": "spec"}.get(of, of)
    half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2
    ask = {"metric": of, "power": None}
    assert rankeval_pd.needed_items(half, row, **ask) == pytest.approx(1_000, abs=5)
    assert rankeval_pd.needed_items(2 * half, row, **ask) == pytest.approx(250, abs=5)
    if of == "precision":
        assert rankeval_pd.needed_items(half, row, power=None) == pytest.approx(1_000, abs=5)
    patients = pilot.assign(patient=np.arange(1_000) // 10).rankeval(groups="patient")
    if of != "youden":  # which has no limits between groups
        row = patients.acceptance_precision(1.0, details=True).iloc[0]
        half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2
        assert rankeval_pd.needed_items(half, row, **ask) == pytest.approx(1_000, rel=0.1)


@pytest.mark.parametrize(
    ("share", "half", "ratio"), [(0.9, 0.05, 1.05), (0.5, 0.1, 1.02), (0.98, 0.05, 1.4)]
)
def test_width_plans_are_approximate_where_few_errors_are_expected(share, half, ratio):
    """The mean width of Clopper and Pearson's interval, enumerated: 14, 50 and 0.7 errors."""
    n = rankeval_pd.needed_items(half, (share * (1 - share)) ** 0.5, 1, power=None)
    tp = np.arange(n + 1)
    low = np.nan_to_num(stats.beta.ppf(0.025, tp, n - tp + 1))
    high = np.nan_to_num(stats.beta.ppf(0.975, tp + 1, n - tp), nan=1.0)
    mean = stats.binom.pmf(tp, n, share) @ (high - low) / 2
    assert mean / half == pytest.approx(ratio, abs=0.07)


def test_each_way_out_of_an_impossible_plan_is_one():
    with pytest.raises(ValueError, match="Plan at least") as refused:
        rankeval_pd.needed_items(0.03, PILOT)
    seeds = int(re.search(r"at least (\d+) seeds", str(refused.value)).group(1))
    assert rankeval_pd.needed_items(0.03, PILOT, n_seeds=seeds) > 400
    with pytest.raises(ValueError, match="no test set"):
        rankeval_pd.needed_items(0.03, PILOT, n_seeds=seeds - 1)
    with pytest.raises(ValueError, match="Plan more than") as refused:
        rankeval_pd.needed_seeds(0.03, PILOT)
    items = int(
        re.search(r"more than ([\d,]+) items", str(refused.value)).group(1).replace(",", "")
    )
    assert rankeval_pd.needed_seeds(0.03, PILOT, 2 * items) > 3


# ------------------------------------------------------------------------------ compare_accuracies


def bounds(a: int, b: int, n: int) -> tuple[float, float]:
    """Return the smallest and the largest p-value over all overlaps."""
    both = np.arange(max(0, a + b - n), min(a, b) + 1)
    tails = [two_by_two.paired_tails(x - both, y - both, n) for x, y in ((a, b), (b, a))]
    values = np.minimum(1.0, 2.0 * np.min(tails, axis=0))
    return float(values.min()), float(values.max())


def test_published_accuracies_bound_the_p_value():
    found = rankeval_pd.compare_accuracies(356, 344, 500).iloc[0]
    assert (found["p_low"], found["p_high"]) == pytest.approx(bounds(356, 344, 500))
    assert (round(found["p_low"], 4), round(found["p_high"], 3)) == (0.0003, 0.533)
    rates = rankeval_pd.compare_accuracies(0.712, 0.688, 500).iloc[0]
    assert rates.tolist() == found.tolist()
    rounded = rankeval_pd.compare_accuracies(0.71, 0.69, 500).iloc[0]
    assert rounded["p_low"] < found["p_low"]
    assert rounded["p_high"] > found["p_high"]
    known = rankeval_pd.compare_accuracies(356, 344, 500, both=340).iloc[0]
    assert known["p_low"] == known["p_high"] == 2.0 * two_by_two.paired_tails(16, 4, 500)
    words = rankeval_pd.in_words(rankeval_pd.compare_accuracies(356, 344, 500))
    assert "The gain is 2.4 points (95% interval −4.4 to 9.2 points)" in words
    assert "The published numbers do not determine whether" in words


@settings(max_examples=examples(40))
@given(st.integers(1, 16), st.data())
def test_the_bounds_are_the_least_and_the_largest_of_all_overlaps(n, data):
    a, b = (data.draw(st.integers(0, n)) for _ in range(2))
    found = rankeval_pd.compare_accuracies(a, b, n).iloc[0]
    assert (found["p_low"], found["p_high"]) == pytest.approx(bounds(a, b, n))
    low, high = [], []
    for both in range(max(0, a + b - n), min(a, b) + 1):
        row = rankeval_pd.compare_accuracies(a, b, n, both=both).iloc[0]
        assert found["p_low"] - 1e-12 <= row["p_low"] == row["p_high"] <= found["p_high"] + 1e-12
        limits = differences.tango_limits(np.array([a - both]), np.array([b - both]), n, 0.95)
        assert row["ci_low"] <= limits[0] + 1e-9
        assert limits[1] <= row["ci_high"] + 1e-9
        low.append(row["ci_low"])
        high.append(row["ci_high"])
        assert (row["p_low"] <= 0.05) or row["ci_low"] <= 0.0 <= row["ci_high"]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((min(low), max(high)))


def test_accuracies_that_no_count_gives_are_refused():
    for counts, keywords, error, message in [
        ((0.8423, 0.81, 500), {}, ValueError, "no count out of 500.*nearest is 421, 0.842"),
        ((84.2, 81, 500), {}, ValueError, "84.2% is 0.842"),
        ((501, 3, 500), {}, ValueError, "from 0 to 500"),
        ((-1, 3, 500), {}, ValueError, "from 0 to 500"),
        ((356, 344, 500), {"both": 100}, ValueError, "have 200 to 344 correct items"),
        (("many", 3, 500), {}, TypeError, "correct_a='many'"),
        ((3, 3, 0), {}, ValueError, "n_items=0"),
        ((3, 3, 5), {"alternative": "more"}, ValueError, "alternative='more'"),
    ]:
        with pytest.raises(error, match=message):
            rankeval_pd.compare_accuracies(*counts, **keywords)


def test_decimals_say_how_a_rate_was_printed():
    two = rankeval_pd.compare_accuracies(0.84, 0.81, 1_000, decimals=2)["p_high"][0]
    three = rankeval_pd.compare_accuracies(0.84, 0.81, 1_000, decimals=3)["p_high"][0]
    assert two > three == pytest.approx(bounds(840, 810, 1_000)[1])
    side = rankeval_pd.compare_accuracies(356, 344, 500, alternative="greater").iloc[0]
    assert side["p_high"] == pytest.approx(bounds(356, 344, 500)[1] / 2)
    assert np.isinf(side["ci_high"])


def test_a_pilot_of_areas_is_named_and_its_adjustment_is_not_planned():
    pilot = rankeval_pd.datasets.simulate_candidates(300, quality={"a": 1, "b": 1, "c": 0.5})
    call = pilot.rankeval
    with pytest.raises(ValueError, match="no column gain_se or, for areas, se"):
        rankeval_pd.needed_items(0.05, call.area(details=False))
    plain = rankeval_pd.needed_items(0.05, call.compare_area(details=True))
    holm = call.compare_area(adjust="holm", details=True)
    with pytest.warns(rankeval_pd.RankevalWarning, match="adjusted for all 3 pairs, but"):
        adjusted = rankeval_pd.needed_items(0.05, holm)
    assert (adjusted == plain).all()
    one = call.compare_area("a", "b", adjust="holm", details=True)
    assert rankeval_pd.needed_items(0.05, one) == plain[0]
