"""Plans with seeds, published accuracies, Wilcoxon's test, exact laws of right and wrong."""

from __future__ import annotations

import itertools
from pathlib import Path

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import rankeval_pd
from rankeval_pd.doors.item_tables import item_roles, read_items
from rankeval_pd.stats import bootstrap as lattice
from rankeval_pd.stats import differences
from rankeval_pd.stats import differences as mixed_t
from rankeval_pd.stats import items as test_items
from rankeval_pd.stats import ranks as signed_ranks
from rankeval_pd.stats import two_by_two as unconditional

SIMULATED = pd.read_csv(Path(__file__).parent / "simulations" / "boards.csv")
PARTS = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / 3.0), "n_seeds": 3}


def trained(seeds: int = 3, systems: int = 3, n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Return systems of several trainings, columns (system, seed)."""
    rng = np.random.default_rng(seed)
    columns = pd.MultiIndex.from_product(
        [[f"s{k}" for k in range(systems)], range(seeds)], names=["system", "seed"]
    )
    own = (
        np.repeat(rng.normal(size=(n, systems)), seeds, axis=1)
        + np.arange(systems).repeat(seeds) / 2.0
    )
    return pd.DataFrame(own + 0.1 * rng.normal(size=systems * seeds), columns=columns)


# ------------------------------------------------------------------------- the test with seeds


@given(st.floats(0.0, 8.0), st.floats(0.0, 1.0), st.floats(1.0, 1000.0), st.floats(1.0, 20.0))
def test_a_tail_is_where_its_critical_value_is_the_statistic(t, share, freedom, few):
    p = float(mixed_t.mixed_tail(np.array([t]), share, freedom, few)[0])
    assert 0.0 < p <= 0.5
    critical = (1 - share) * stats.t.isf(p, freedom) + share * stats.t.isf(p, few)
    assert critical == pytest.approx(t, rel=1e-6, abs=1e-6)
    other = float(mixed_t.mixed_tail(np.array([-t]), share, freedom, few)[0])
    assert other == pytest.approx(1.0 - p)


def test_a_tail_is_found_whatever_the_degrees_of_freedom():
    """SciPy's quantile of t is undefined or negative for some tails below 1e-109."""
    few = np.linspace(1.0, 40.0, 200_001)
    found = mixed_t.mixed_tail(np.full(few.shape, 0.3), 0.9, 99.0, few)
    assert (np.diff(found) <= 1e-12).all()
    assert (found > 0.3).all()


def test_a_pair_with_seeds_by_hand():
    """Two parts, of items and of seeds, and the mean of their critical values."""
    data = trained()
    found = data.rankeval(seeds="seed").paired_bootstrap("s1", "s0", details=True, skewness=False)
    row = found.iloc[0]
    means = data.T.groupby("system").mean().T
    d = means["s1"] - means["s0"]
    scores = data.mean().unstack()  # noqa: PD010
    squares = scores.loc[["s1", "s0"]].var(axis=1) / 3
    of_items = d.var() / 80
    total = of_items + squares.sum()
    few = 2 * squares.sum() ** 2 / (squares**2).sum()
    share, t = squares.sum() / total, d.mean() / np.sqrt(total)

    def beyond(log_p: float) -> float:
        tail = np.exp(log_p)
        return (1 - share) * stats.t.isf(tail, 79) + share * stats.t.isf(tail, few) - t

    p = np.exp(optimize.brentq(beyond, -30.0, np.log(0.5), xtol=1e-13))
    assert row["p_value"] == pytest.approx(2 * p, rel=1e-9)
    critical = (1 - share) * stats.t.isf(0.025, 79) + share * stats.t.isf(0.025, few)
    half = critical * np.sqrt(total)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((d.mean() - half, d.mean() + half))
    assert row["gain_se_seeds"] ** 2 == pytest.approx(squares.sum())
    assert row["gain_se_items"] ** 2 == pytest.approx(d.var(ddof=0) / 80)
    assert row["gain_se"] ** 2 == pytest.approx(row["gain_se_items"] ** 2 + squares.sum())
    assert (row["n_seeds"], row["n_resamples"], bool(row["exact"])) == (3, 0, True)
    pooled = data.rankeval(seeds="seed", seed_variance="pooled").paired_bootstrap(
        "s1", "s0", details=True
    )
    assert pooled["gain_se_seeds"][0] ** 2 == pytest.approx(2 * scores.var(axis=1).mean() / 3)
    assert pooled.attrs["seed_variance"] == "pooled"
    words = rankeval_pd.in_words(pooled)
    assert "The variance between seeds is pooled over all 3 systems." in words
    assert "pooled" not in rankeval_pd.in_words(found)
    with pytest.raises(ValueError, match=r"seed_variance='pooled' .* Pass the seed column"):
        data["s0"].rankeval.paired_bootstrap(seed_variance="pooled")


def test_ranks_say_that_three_seeds_limit_them():
    data = trained(systems=4)
    data += np.random.default_rng(1).normal(size=12) / 3.0
    table = data.rankeval(seeds="seed").system_ranks()
    words = rankeval_pd.in_words(table)
    assert "With 3 training seeds, the intervals for gains are" in words
    assert (
        f"{table.attrs['seed_widening']:.1f} times as wide as intervals from the items alone"
        in words
    )
    many = trained(seeds=40, systems=4).rankeval(seeds="seed").system_ranks()
    assert "were used: their" not in rankeval_pd.in_words(many)
    assert "Welch" in rankeval_pd.in_words(table, methods=True)
    with pytest.warns(rankeval_pd.RankevalWarning, match="two training runs give a poor estimate"):
        trained(seeds=2).rankeval(seeds="seed").system_ranks()


def test_max_t_of_seeds_agrees_with_its_intervals():
    for seed in range(8):
        data = trained(systems=4, n=40, seed=seed)
        table = data.rankeval(seeds="seed").paired_bootstrap(adjust="max-t", details=True)
        out = (table["ci_low"] > 0.0) | (table["ci_high"] < 0.0)
        assert (out == (table["p_adjusted"] <= 0.05)).all()
        assert (table["p_adjusted"] >= table["p_value"] - 1e-12).all()
        assert (table["ci_low"] <= table["ci_low_alone"]).all()


def test_the_sentence_names_tasks_and_clusters():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(96, 2)), columns=["a", "b"]).assign(
        task=np.repeat(np.arange(8), 12), passage=np.arange(96) // 3
    )
    table = data.rankeval.paired_bootstrap(strata="task", groups="passage")
    said = (
        "The score is the macro average over 8 strata (task). The items are clustered by passage."
    )
    assert said in rankeval_pd.in_words(table)


# ------------------------------------------------------------------------------------- plans


def test_power_without_seeds_is_that_of_the_noncentral_t():
    for n in (5, 30, 400):
        parts = mixed_t.Parts(1.0, n - 1.0)
        for gain in (0.5, 2.0, 3.5):
            found = parts.power(gain, parts.edges(0.025), 2)
            edge = stats.t.isf(0.025, n - 1)
            wanted = stats.nct.sf(edge, n - 1, gain) + stats.nct.cdf(-edge, n - 1, gain)
            assert found == pytest.approx(wanted, abs=2e-4 if n < 10 else 1e-5)


def test_power_with_seeds_is_that_of_the_test():
    rng = np.random.default_rng(3)
    parts = mixed_t.Parts(1.0, 399.0, 0.8, 2.0)
    a, b, c = (rng.chisquare(f, 200_000) / f for f in (2, 2, 399))
    seeds = 0.4 * (a + b)
    few = 2 * (a + b) ** 2 / (a * a + b * b)
    edge = mixed_t.critical_of(0.025, seeds / (seeds + c), 399, few) * np.sqrt(seeds + c)
    for gain in (0.0, 3.0, 5.0):
        drawn = gain + np.sqrt(1.8) * rng.normal(size=200_000)
        wanted = float(np.mean(np.abs(drawn) > edge))
        assert parts.power(gain, parts.edges(0.025), 2) == pytest.approx(wanted, abs=0.005)


def test_power_of_accuracy_is_enumerated():
    """All tables of 30 items, and McNemar's test of 260."""
    gain, differ = 0.25, 0.5
    for n in (30, 260):
        up, down = (differ + gain) / 2, (differ - gain) / 2
        total = 0.0
        for only_b in range(n + 1):
            only_a = np.arange(n + 1 - only_b)
            other = np.full(only_a.size, only_b)
            p = np.minimum(
                unconditional.paired_tails(only_a, other, n),
                unconditional.paired_tails(other, only_a, n),
            )
            mass = stats.binom.pmf(only_b, n, down) * stats.binom.pmf(
                only_a, n - only_b, up / (1 - down)
            )
            total += float(mass[2 * p <= 0.05].sum())
        found = mixed_t.accuracy_power(gain, differ, n, 0.025, 2)
        assert found == pytest.approx(total, abs=1e-6)


def test_plans_take_rows_tables_and_parts():
    data = trained(systems=3)
    table = data.rankeval(seeds="seed").paired_bootstrap(details=True)
    parts = {
        "gain_se_seeds": table["gain_se_seeds"].to_numpy(),
        "n_seeds": table["n_seeds"].to_numpy(),
    }
    gains = rankeval_pd.detectable_gain(table)
    again = rankeval_pd.detectable_gain(
        table["gain_se_items"].to_numpy(), table["n_items"].to_numpy(), **parts
    )
    assert gains.tolist() == again.tolist()
    assert rankeval_pd.detectable_gain(table.iloc[1]) == gains[1]
    more = rankeval_pd.detectable_gain(table, n_seeds_new=10)
    assert (more < gains).all()
    assert (rankeval_pd.detectable_gain(table, n_items_new=10_000) < gains).all()
    needed = rankeval_pd.needed_seeds(gains[0] * 0.9, table.iloc[0])
    assert needed > 3
    assert rankeval_pd.needed_seeds(gains[0] * 1.001, table.iloc[0]) <= 3
    assert rankeval_pd.needed_items(gains[0] * 1.001, table.iloc[0]) <= 80
    pooled = data.rankeval(seeds="seed", seed_variance="pooled").paired_bootstrap(details=True)
    alone = rankeval_pd.detectable_gain(
        pooled["gain_se_items"][0], 80, gain_se_seeds=pooled["gain_se_seeds"][0], n_seeds=3
    )
    assert rankeval_pd.detectable_gain(pooled.iloc[0]) < alone
    right = pd.DataFrame({"a": [1, 1, 0, 1] * 50, "b": [1, 0, 0, 1] * 50})
    ask = right.rankeval(metric="accuracy")
    rows = [ask.paired_bootstrap(details=True), ask.paired_permutation(details=True)]
    differ = 0.25
    wanted = rankeval_pd.needed_items(
        0.1, np.sqrt((differ - 0.25**2) / 200), 200, metric="accuracy"
    )
    found = [rankeval_pd.needed_items(0.1, table.iloc[0]) for table in rows]
    assert found[0] == found[1]
    n = found[0]
    assert mixed_t.accuracy_power(0.1, differ, n, 0.025, 2) >= 0.8
    assert abs(wanted - n) <= 0.3 * n  # it knows no gain of the items at hand


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: rankeval_pd.needed_items(0.03, 0.025, 400, **PARTS),
         r"gain=0.03: with 3 seeds, no test set can detect .* Add seeds; needed_seeds"),
        (lambda: rankeval_pd.needed_seeds(0.03, 0.025, 400, **PARTS),
         r"with 400 items, no number of seeds is sufficient. Add items; needed_items"),
        (lambda: rankeval_pd.needed_seeds(0.1, 0.025, 400), "variance between seeds is missing"),
        (lambda: rankeval_pd.detectable_gain(0.1, 9, n_seeds=3), "gain_se_seeds and n_seeds"),
        (lambda: rankeval_pd.detectable_gain(0.1, 9, **PARTS, n_seeds_new=1), "n_seeds_new=1"),
        (lambda: rankeval_pd.detectable_gain(0.1, 9, metric="f1"), "metric='f1'"),
        (lambda: rankeval_pd.detectable_gain(pd.Series({"gain": 1.0})), "details=True"),
        (lambda: rankeval_pd.detectable_gain(pd.Series({"gain_se": 1.0}), 9), "a row or table"),
    ],
)  # fmt: skip
def test_plans_that_no_study_fulfils(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_power_of_plans_is_as_promised():
    """The committed study: within .03 of .80, but for the last seed, which comes whole."""
    rows = SIMULATED[SIMULATED["what"] == "power"]
    assert len(rows) >= 17
    assert (rows["samples"] == 2_000).all()
    whole = rows["call"].isin(["needed_seeds"])
    error = np.sqrt(0.8 * 0.2 / 2_000)
    assert (np.abs(rows.loc[~whole, "found"] - 0.8) <= 0.03).all()
    assert (rows.loc[whole, "found"] >= 0.8 - 3 * error).all()


def test_sizes_with_seeds_and_warnings_as_promised():
    rows = SIMULATED[SIMULATED["what"] == "size"]
    ranks = rows[rows["call"] == "system_ranks"]
    assert len(ranks) == 12
    assert (ranks["found"] <= 0.06).all()
    few = ranks["setting"].str.startswith("2 seeds")
    assert (ranks.loc[few, "warned"] == 1.0).all()
    assert (ranks.loc[~few, "warned"] <= 0.1).all()


# ------------------------------------------------------------------------ published accuracies


def bounds(a: int, b: int, n: int) -> tuple[float, float]:
    """Return the smallest and the largest p-value over all overlaps, by SciPy."""
    values = []
    for both in range(max(0, a + b - n), min(a, b) + 1):
        differ = a + b - 2 * both
        values.append(stats.binomtest(a - both, differ).pvalue if differ else 1.0)
    return min(values), max(values)


def test_the_accuracies_of_the_issue():
    found = rankeval_pd.compare_accuracies(356, 344, 500).iloc[0]
    assert (found["p_low"], found["p_high"]) == pytest.approx(bounds(356, 344, 500))
    assert (round(found["p_low"], 4), round(found["p_high"], 3)) == (0.0005, 0.525)
    rates = rankeval_pd.compare_accuracies(0.712, 0.688, 500).iloc[0]
    assert rates.tolist() == found.tolist()
    rounded = rankeval_pd.compare_accuracies(0.71, 0.69, 500).iloc[0]
    assert rounded["p_low"] < found["p_low"]
    assert rounded["p_high"] > found["p_high"]
    known = rankeval_pd.compare_accuracies(356, 344, 500, both=340).iloc[0]
    assert known["p_low"] == known["p_high"] == pytest.approx(stats.binomtest(16, 20).pvalue)
    words = rankeval_pd.in_words(rankeval_pd.compare_accuracies(356, 344, 500))
    assert "The gain is 2.4 points (95% interval −4.4 to 9.2 points)" in words
    assert "This number determines whether" in words


@settings(max_examples=60)
@given(st.integers(1, 40), st.data())
def test_bounds_hold_all_overlaps(n, data):
    a, b = (data.draw(st.integers(0, n)) for _ in range(2))
    found = rankeval_pd.compare_accuracies(a, b, n).iloc[0]
    assert (found["p_low"], found["p_high"]) == pytest.approx(bounds(a, b, n))
    low, high = [], []
    for both in range(max(0, a + b - n), min(a, b) + 1):
        row = rankeval_pd.compare_accuracies(a, b, n, both=both).iloc[0]
        assert found["p_low"] - 1e-12 <= row["p_low"] == row["p_high"] <= found["p_high"] + 1e-12
        limits = differences.tango((both, a - both, b - both, n - a - b + both), 0.95)
        assert row["ci_low"] <= limits[0] + 1e-9
        assert limits[1] <= row["ci_high"] + 1e-9
        low.append(row["ci_low"])
        high.append(row["ci_high"])
        assert (row["p_low"] <= 0.05) or row["ci_low"] <= 0.0 <= row["ci_high"]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((min(low), max(high)))


@pytest.mark.parametrize(
    ("given", "keywords", "error", "message"),
    [
        ((0.8423, 0.81, 500), {}, ValueError, "no count out of 500.*nearest is 421, 0.842"),
        ((84.2, 81, 500), {}, ValueError, "84.2% is 0.842"),
        ((501, 3, 500), {}, ValueError, "from 0 to 500"),
        ((-1, 3, 500), {}, ValueError, "from 0 to 500"),
        ((356, 344, 500), {"both": 100}, ValueError, "have 200 to 344 correct items"),
        (("many", 3, 500), {}, TypeError, "correct_a='many'"),
        ((3, 3, 0), {}, ValueError, "n_items=0"),
        ((3, 3, 5), {"alternative": "more"}, ValueError, "alternative='more'"),
    ],
)
def test_impossible_accuracies(given, keywords, error, message):
    with pytest.raises(error, match=message):
        rankeval_pd.compare_accuracies(*given, **keywords)


def test_decimals_say_how_a_rate_was_printed():
    two = rankeval_pd.compare_accuracies(0.84, 0.81, 1_000, decimals=2)["p_high"][0]
    three = rankeval_pd.compare_accuracies(0.84, 0.81, 1_000, decimals=3)["p_high"][0]
    assert two > three == pytest.approx(bounds(840, 810, 1_000)[1])
    side = rankeval_pd.compare_accuracies(356, 344, 500, alternative="greater").iloc[0]
    assert side["p_high"] == pytest.approx(bounds(356, 344, 500)[1] / 2)
    assert np.isinf(side["ci_high"])
    assert "compare_for" in rankeval_pd.compare_accuracies.__doc__
    assert "compare_accuracies" in rankeval_pd.compare_for.__doc__


# ----------------------------------------------------------------------------- Wilcoxon's test


def wilcoxon(d, **keywords) -> pd.Series:
    data = pd.DataFrame({"a": np.asarray(d, dtype=float), "b": 0.0})
    return data.rankeval.paired_permutation(
        "a", "b", test="wilcoxon", details=True, **keywords
    ).iloc[0]


def walsh(d) -> np.ndarray:
    return np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])


@pytest.mark.parametrize("n", [6, 9, 25, 48])
def test_the_signed_rank_test_is_scipys(n):
    d = np.random.default_rng(n).normal(0.3, 1.0, n)
    row, averages = wilcoxon(d), walsh(d)
    assert row["p_value"] == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)
    assert row["gain"] == pytest.approx(np.median(averages))
    for side in ("greater", "less"):
        wanted = stats.wilcoxon(d, method="exact", alternative=side).pvalue
        assert wilcoxon(d, alternative=side)["p_value"] == pytest.approx(wanted, rel=1e-9)
    # as in R: the limits are Walsh averages, as many from the ends as the law allows
    law = np.array([1.0])
    for rank in range(1, n + 1):
        law = np.convolve(law, np.r_[0.5, np.zeros(rank - 1), 0.5])
    k = int((np.cumsum(law) <= 0.025).sum())
    if k:
        assert (row["ci_low"], row["ci_high"]) == (averages[k - 1], averages[-k])
    else:
        assert np.isinf(row["ci_low"])


def test_the_signed_rank_test_with_ties_is_enumerated():
    d = np.array([-2, -1, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4.0])
    moved = d[d != 0]
    ranks = stats.rankdata(np.abs(moved))
    observed = (np.sign(moved) * ranks).sum()
    sums = [np.dot(s, ranks) for s in itertools.product([-1, 1], repeat=moved.size)]
    p = 2 * np.mean(np.array(sums) >= observed - 1e-9)
    row = wilcoxon(d)
    assert row["p_value"] == pytest.approx(p, rel=1e-12)
    assert row["gain"] == np.median(walsh(d))


def sums_by_enumeration(d) -> float:
    """Return the two-sided p-value from the law of the signed ranks, without zeros."""
    moved = d[np.abs(d) > 1e-9]
    ranks = np.rint(2 * stats.rankdata(np.abs(moved.round(9)))).astype(int)
    law = np.array([1.0])
    for rank in ranks:
        law = np.convolve(law, np.r_[0.5, np.zeros(rank - 1), 0.5])
    place = int(ranks[moved > 0].sum())
    return min(1.0, 2 * min(law[place:].sum(), law[: place + 1].sum()))


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_differences_of_0_end_the_search_and_leave_p_as_it_is():
    """The search for the median of the averages halved its way to 0 without an end."""
    a, b = [1] * 20 + [0] * 4 + [1] * 6, [1] * 20 + [1] * 4 + [0] * 6
    df = pd.DataFrame({"a": a, "b": b})
    row = df.rankeval.paired_permutation(test="wilcoxon", metric="accuracy").iloc[0]
    assert row["p_value"] == pytest.approx(stats.binomtest(6, 10).pvalue)
    assert row["gain"] == 0
    assert row["ci_low"] <= 0 <= row["ci_high"]
    rng = np.random.default_rng(4)
    for n, zeros in ((20, 0.8), (60, 0.5), (500, 0.5), (500, 0.9)):
        for real in (False, True):
            d = rng.normal(size=n) if real else rng.integers(-3, 4, n).astype(float)
            d = np.where(rng.random(n) < zeros, 0.0, d)
            for x in (d, -d, 1e-9 * d):
                row = wilcoxon(x)
                scale = np.abs(x).max()
                assert row["p_value"] == pytest.approx(sums_by_enumeration(x / scale), rel=1e-9)
                averages = walsh(x)
                assert row["gain"] == pytest.approx(np.median(averages), abs=1e-11 * scale)
                assert np.isin(
                    np.round([row["ci_low"], row["ci_high"]], 20), averages.round(20)
                ).all()
    noisy = np.where(rng.random(400) < 0.5, 0.1 + 0.2 - 0.3, rng.normal(size=400))
    row = wilcoxon(noisy)  # the zeros are rounding errors of 5.6e-17
    wanted = stats.wilcoxon(noisy.round(12), zero_method="wilcox").pvalue
    assert row["p_value"] == pytest.approx(wanted, abs=0.01)


def test_many_items_have_the_normal_law_of_ranks():
    d = np.random.default_rng(5).normal(0.02, 1.0, 6_000)
    row = wilcoxon(d)
    assert row["p_value"] == pytest.approx(stats.wilcoxon(d, correction=True).pvalue, rel=0.01)
    assert row["ci_low"] < row["gain"] < row["ci_high"]


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40), st.integers(1, 10**6))
def test_walsh_averages_are_those_of_the_list(d, which):
    ordered = np.sort(np.array(d, dtype=float))
    averages = walsh(ordered)
    which = (which - 1) % averages.size + 1
    assert signed_ranks.walsh_average(ordered, which) == averages[which - 1]
    assert signed_ranks.hodges_lehmann(ordered) == np.median(averages)


def test_what_wilcoxons_test_says_and_refuses():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal([0, 0.3, 0.8], size=(40, 3)), columns=list("abc"))
    table = data.rankeval.paired_permutation("c", "a", test="wilcoxon")
    words = rankeval_pd.in_words(table)
    assert words.startswith("C scores")
    assert "(Hodges–Lehmann estimate; 95% interval" in words
    assert "Wilcoxon's signed-rank test" in rankeval_pd.in_words(table, methods=True)
    holm = data.rankeval.paired_permutation(test="wilcoxon", adjust="holm", details=True)
    assert (holm["p_adjusted"] >= holm["p_value"]).all()
    assert (holm["ci_low"] <= holm["ci_low_alone"]).all()
    ds = xr.Dataset({"x": (("item", "system"), data)}, {"system": list("abc")})
    found = ds.rankeval.paired_permutation(test="wilcoxon").to_dataframe()["p_value"]
    plain = data.rankeval.paired_permutation(test="wilcoxon")["p_value"]
    assert found.tolist() == plain.tolist()
    few = data.assign(doc=np.arange(40) // 2)
    for keywords, message in (
        ({"groups": "doc"}, "supports only items in memory"),
        ({"metric": "sum"}, "supports only items in memory"),
        ({"adjust": "max-t"}, "signed ranks have no t statistic"),
        ({"margin": 0.1}, "only the test of means supports a margin"),
    ):
        with pytest.raises(ValueError, match=message):
            few.rankeval(measures=list("abc")).paired_permutation(test="wilcoxon", **keywords)
    with pytest.warns(rankeval_pd.RankevalWarning, match="most differences are 0"):
        wilcoxon([0.0] * 30 + [1.0] * 9)


# ------------------------------------------------------------------------- exact at any size


def upper(n: int, p: mp.mpf, least: int) -> mp.mpf:
    """Return P(Binomial(n, p) >= least), by adding up its terms."""
    if least <= 0:
        return mp.mpf(1)
    log = mp.loggamma(n + 1) - mp.loggamma(least + 1) - mp.loggamma(n - least + 1)
    term = mp.e ** (log + least * mp.log(p) + (n - least) * mp.log(1 - p))
    total = mp.mpf(0)
    while term > total * mp.mpf(10) ** -25 or least < n * p:
        total += term
        term *= mp.mpf(n - least) / (least + 1) * p / (1 - p)
        least += 1
    return total


@pytest.mark.parametrize(
    ("n", "plus", "minus", "edge"),
    [(1_000, 20, 10, 60), (10**5, 30, 10, 60), (10**7, 40, 15, 100), (10**7, 40, 15, 150)],
)
def test_tails_of_drawn_sums_are_those_of_mpmath(n, plus, minus, edge):
    with mp.workdps(40):
        p, q = mp.mpf(plus) / n, mp.mpf(minus) / n
        term, wanted = (1 - q) ** n, mp.mpf(0)
        for k in range(int(minus + 14 * minus**0.5) + 50):
            wanted += term * upper(n - k, p / (1 - q), edge + k)
            term *= mp.mpf(n - k) / (k + 1) * q / (1 - q)
        law = lattice.DrawnSum(np.array([-1, 0, 1]), np.array([minus, n - plus - minus, plus]))
        assert abs(law.tail(edge) / wanted - 1) < 1e-10


@pytest.mark.parametrize(("differ", "total"), [(1_000, 200), (10**6, 8_000), (4 * 10**6, 20_000)])
def test_tails_of_signs_are_those_of_mpmath(differ, total):
    with mp.workdps(40):
        wanted = upper(differ, mp.mpf(1) / 2, (differ + total) // 2)
        law = lattice.SignedSum(np.array([1]), np.array([differ]))
        assert abs(law.tail(total) / wanted - 1) < 1e-10


def test_tango_of_many_pairs_is_that_of_each():
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 40, (2, 50))
    low, high = differences.tango_limits(a, b, 100.0, 0.9)
    for k in range(50):
        cells = (0, int(a[k]), int(b[k]), 100 - int(a[k] + b[k]))
        assert (low[k], high[k]) == differences.tango(cells, 0.9)
        for limit, z in ((low[k], 1.6448536), (high[k], -1.6448536)):
            if -1.0 < limit < 1.0 and a[k] + b[k]:
                score = differences.paired_score(a[k], b[k], 100.0, float(limit))
                assert float(score) == pytest.approx(z, abs=1e-4)


def test_counts_say_of_right_and_wrong_what_their_sums_do():
    """Spread and lattices from counts, against the same items on which 0 and 1 are 0 and 2."""
    rng = np.random.default_rng(8)
    right = pd.DataFrame(rng.random((60, 3)) < [0.5, 0.6, 0.8], columns=list("abc"))
    for better in (True, False):
        roles = {"metric": "mean", "higher_is_better": better}
        exact = right.rankeval(**roles).paired_permutation(details=True)
        twice = (2.0 * right).rankeval(**roles).paired_permutation(details=True, skewness=False)
        assert exact["p_value"].tolist() == pytest.approx(twice["p_value"].tolist(), rel=1e-9)
        assert (2 * exact["gain_se"]).tolist() == pytest.approx(twice["gain_se"].tolist())


def test_large_tables_of_right_and_wrong_draw_from_the_normal_law(monkeypatch):
    rng = np.random.default_rng(9)
    right = pd.DataFrame(rng.random((3_000, 4)) < [0.6, 0.61, 0.62, 0.64], columns=list("abcd"))
    ask = right.rankeval(metric="accuracy")
    drawn = ask.system_ranks(details=True)
    monkeypatch.setattr(test_items, "_NORMAL_ITEMS", 1_000)
    normal = ask.system_ranks(details=True)
    assert normal["letters"].tolist() == drawn["letters"].tolist()
    np.testing.assert_allclose(normal["p_best"], drawn["p_best"], atol=0.02)
    pairs = ask.paired_bootstrap(adjust="max-t", details=True)
    monkeypatch.setattr(test_items, "_NORMAL_ITEMS", 10**9)
    items = read_items(right, item_roles({"metric": "accuracy"}))
    assert items.items(items.members[0]).binary
    again = ask.paired_bootstrap(adjust="max-t", details=True)
    np.testing.assert_allclose(pairs["p_adjusted"], again["p_adjusted"], atol=0.02)
    np.testing.assert_allclose(pairs["ci_low"], again["ci_low"], atol=0.002)
