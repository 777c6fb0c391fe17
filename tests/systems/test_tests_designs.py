"""Strata, seeds, a baseline, holes, means over groups: against definitions and loops."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.api import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

import rankeval_pd
from rankeval_pd.doors.item_tables import item_roles, read_items
from rankeval_pd.stats import bootstrap, differences
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats.item_gains import Draws
from rankeval_pd.stats.items import Items, PairOptions, quiet
from tests.systems.conftest import counts_of, trained

TASKS = np.repeat(["qa", "mt", "nli"], [20, 30, 70])
SYSTEMS = ["x", "y", "z"]


@pytest.fixture
def scores() -> pd.DataFrame:
    """Three systems on 120 items of three tasks."""
    rng = np.random.default_rng(1)
    shift = pd.Series(TASKS).map({"qa": 2.0, "mt": -1.0, "nli": 0.0}).to_numpy()
    values = rng.normal(size=(120, 3)) + shift[:, np.newaxis] * [1, 0, 0]
    return pd.DataFrame(values, columns=SYSTEMS).assign(task=TASKS)


@pytest.fixture
def parts() -> pd.DataFrame:
    """Correct of guess of gold of the same systems and items, columns (system, statistic)."""
    named = counts_of(2, 120).rename(columns={"s0": "x", "s1": "y", "s2": "z"})
    return named.set_axis(pd.Index(TASKS, name="task"), axis=0)


@pytest.fixture
def trainings() -> pd.DataFrame:
    """Two systems of four trainings each on 60 items, columns (system, seed)."""
    rng = np.random.default_rng(3)
    columns = pd.MultiIndex.from_product([["a", "b"], [1, 2, 3, 4]], names=["system", "seed"])
    values = rng.normal(size=(60, 8)) + rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=8)
    return pd.DataFrame(values, columns=columns).rename_axis("item")


def inner(frame: pd.DataFrame, **roles) -> Items:
    """Return the inner form of all items."""
    table = read_items(frame, item_roles(roles))
    return table.items(table.members[0])


# ------------------------------------------------------------------------------------------ strata


def test_macro_is_the_mean_over_strata_and_micro_of_all_items(scores):
    means = scores.groupby("task").mean().mean()
    found = scores.rankeval.system_ranks(strata="task").set_index("system")
    np.testing.assert_allclose(found["value"], means[found.index])
    assert (found["ci_low"] < found["value"]).all()
    assert (found["value"] < found["ci_high"]).all()
    pairs = scores.rankeval.paired_bootstrap("x", "y", strata="task")
    assert pairs["gain"][0] == pytest.approx(means["x"] - means["y"])
    assert (pairs.attrs["strata"], pairs.attrs["average"]) == ("task", "macro")
    micro = scores.rankeval.paired_bootstrap("x", "y", strata="task", average="micro")
    assert micro["gain"][0] == pytest.approx(scores["x"].mean() - scores["y"].mean())
    assert micro.attrs["average"] == "micro"


def test_macro_of_f1_is_the_mean_of_the_strata(parts):
    def f1(part: pd.DataFrame) -> pd.Series:
        sums = part.sum().unstack()  # noqa: PD010
        return 2 * sums["correct"] / (sums["guess"] + sums["gold"])

    wanted = pd.concat([f1(part) for _, part in parts.groupby("task")], axis=1).mean(axis=1)
    roles = {"strata": "task", "metric": "f1"}
    for ask in (rankeval_pd.paired_bootstrap, rankeval_pd.paired_permutation):
        found = ask(parts, "x", "y", n_resamples=99, **roles)
        assert found["score_a"][0] == pytest.approx(wanted["x"])
        assert found["gain"][0] == pytest.approx(wanted["x"] - wanted["y"])


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_resamples_are_drawn_within_strata(scores, average):
    """The paper's event in a loop: so many items of each task, and the score of each resample."""
    ask = {"event": "recentred", "ci": "percentile", "n_resamples": 300}
    row = scores.rankeval.paired_bootstrap("x", "y", strata="task", average=average, **ask).iloc[0]
    numbers = pd.factorize(pd.Series(TASKS), sort=True)[0]
    sizes = np.bincount(numbers)
    gains = []
    difference = (scores["x"] - scores["y"]).to_numpy()
    for counts in np.concatenate(list(resamples.count_chunks(120, 300, 0, numbers))):
        np.testing.assert_array_equal(np.bincount(numbers, counts), sizes)
        means = np.bincount(numbers, counts * difference) / sizes
        gains.append(means.mean() if average == "macro" else means @ sizes / 120)
    assert row["gain_se"] == pytest.approx(np.std(gains))
    hits = np.count_nonzero(np.array(gains) >= 2 * row["gain"])
    assert row["p_one_sided"] == pytest.approx((hits + 1) / 301)


def test_what_strata_differ_by_is_no_chance(scores):
    """The error is that within tasks: the t test of a stratified mean."""
    row = scores.rankeval.paired_bootstrap("x", "y", strata="task").iloc[0]
    difference = (scores["x"] - scores["y"]).groupby(scores["task"])
    variances = (difference.var() / difference.size()).to_numpy()
    error = np.sqrt(variances.sum()) / 3
    freedom = variances.sum() ** 2 / (variances**2 / (difference.size().to_numpy() - 1)).sum()
    t = stats.t(freedom, row["gain"], error)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(t.interval(0.95), abs=0.1 * error)
    blind = scores.drop(columns="task").rankeval.paired_bootstrap("x", "y").iloc[0]
    micro = scores.rankeval.paired_bootstrap("x", "y", strata="task", average="micro").iloc[0]
    assert micro["gain"] == pytest.approx(blind["gain"])
    assert micro["gain_se"] < 0.9 * blind["gain_se"]


def test_groups_within_strata(scores):
    data = scores.assign(doc=np.arange(120) // 5)
    numbers = inner(data, strata="task", groups="doc")
    assert sorted(np.bincount(numbers.drawn_strata)) == [4, 6, 14]
    found = data.rankeval.paired_bootstrap("x", "y", strata="task", groups="doc", n_resamples=199)
    means = scores.groupby("task")[SYSTEMS].mean().mean()
    assert found["gain"][0] == pytest.approx(means["x"] - means["y"])
    crossing = scores.assign(doc=np.arange(120) % 30)
    with pytest.raises(ValueError, match="strata and groups: a group spans several strata"):
        crossing.rankeval.paired_bootstrap(strata="task", groups="doc")
    words = rankeval_pd.in_words(found)
    assert "Scores are macro averages over strata (task)." in words
    assert "Rows with the same doc were treated as a cluster." in words


def test_impossible_strata(scores):
    for keywords, error, message in [
        ({"strata": "one"}, ValueError, r"1 of 120 strata|strata have fewer than two items"),
        ({"average": "macro"}, ValueError, r"average='macro' has no meaning.*strata="),
        ({"strata": "hole"}, ValueError, r"strata='hole' has 1 missing values"),
    ]:
        data = scores.assign(one=[f"s{k}" for k in range(120)], hole=[None, *TASKS[1:]])
        with pytest.raises(error, match=message):
            data.rankeval.paired_bootstrap(**keywords)


# ------------------------------------------------------------------------------------------- seeds


def test_seeds_in_columns_rows_levels_and_dimensions_are_one(trainings):
    ask = {"seeds": "seed", "n_resamples": 99}
    wanted = trainings.rankeval.paired_bootstrap(**ask)
    assert wanted.attrs["seeds"] == "seed"
    assert wanted["score_a"][0] == pytest.approx(trainings.mean().groupby("system").mean().max())
    turned = trainings.swaplevel(axis=1)
    pd.testing.assert_frame_equal(turned.rankeval.paired_bootstrap(**ask), wanted)
    rows = trainings.stack("seed", future_stack=True)  # noqa: PD013
    with pytest.raises(ValueError, match=r"'seed' is not a level of the columns.*unstack\(\)"):
        rows.rankeval.paired_bootstrap(**ask)
    ds = xr.Dataset(
        {"score": (("item", "system", "seed"), trainings.to_numpy().reshape(60, 2, 4))},
        {"system": ["a", "b"], "seed": [1, 2, 3, 4]},
    )
    found = ds.rankeval.paired_bootstrap(**ask)
    assert list(found.sizes) == ["pair"]
    table = found.to_dataframe().reset_index()[list(wanted)]
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)


def test_statistics_of_seeds(parts):
    """F1 of each training, and their mean; a system with fewer trainings too."""
    ask = {"seeds": "seed", "metric": "f1", "n_resamples": 99}
    more = pd.concat({1: parts, 2: parts.iloc[::-1].set_axis(parts.index), 5: parts}, axis=1)
    more.columns.names = ["seed", "system", "statistic"]
    more = more.drop(columns=[(5, "y")])
    more[1, "x", "correct"] = 0
    items = inner(more, seeds="seed", metric="f1")
    sums = parts.sum().unstack()  # noqa: PD010
    f1 = 2 * sums["correct"] / (sums["guess"] + sums["gold"])
    found = items.score(items.statistics.sum(axis=1))
    assert found == pytest.approx([f1["x"] * 2 / 3, f1["y"], f1["z"]])
    assert items.seeds.freedom.tolist() == [2.0, 1.0, 2.0]
    error = np.std([0.0, f1["x"], f1["x"]], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(items.seeds.error, [error, 0.0, 0.0], atol=1e-12)
    with pytest.warns(rankeval_pd.RankevalWarning, match="two training runs"):
        table = more.rankeval.paired_bootstrap(**ask)
    assert table["gain"].notna().all()
    assert table["ci_low"].notna().all()


def test_draws_of_seeds_are_of_the_t_law(trainings):
    """What is drawn beside the items has the variance and the tails of the mean of four."""
    items = inner(trainings, seeds="seed")
    means = trainings.mean().unstack()  # noqa: PD010
    np.testing.assert_allclose(items.seeds.error, means.std(axis=1) / 2)
    options = PairOptions(20_000, "wild", "auto", "wild", None, 0.05, 0.95, 0, True)
    pair = np.array([[0, 1]])
    draws = Draws(items, pair, options, quiet)
    gone = Draws(Items(items.statistics, None, items.score, 1.0, None), pair, options, quiet)
    added = (items.seeds.error[pair] ** 2).sum(axis=1)
    noise = draws.scores - gone.scores
    for drawn, error in zip(noise, items.seeds.error, strict=True):
        assert stats.kstest(drawn / error, stats.t(3).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(noise)[0, 1]) < 0.05
    own = bootstrap.contributions(items)[0]
    np.testing.assert_allclose(own.sum(axis=1), items.score(items.statistics.sum(axis=1)))
    both = draws.spread.error[0] ** 2
    assert both == pytest.approx(gone.spread.error[0] ** 2 + added[0])


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
    with pytest.raises(ValueError, match=r"seed_variance='pooled' .* Pass the column as seeds="):
        data["s0"].rankeval.paired_bootstrap(seed_variance="pooled")


@given(st.floats(0.0, 8.0), st.floats(0.0, 1.0), st.floats(1.0, 1000.0), st.floats(1.0, 20.0))
def test_a_tail_is_where_its_critical_value_is_the_statistic(t, share, freedom, few):
    p = float(differences.mixed_tail(np.array([t]), share, freedom, few)[0])
    assert 0.0 < p <= 0.5
    critical = (1 - share) * stats.t.isf(p, freedom) + share * stats.t.isf(p, few)
    assert critical == pytest.approx(t, rel=1e-6, abs=1e-6)
    other = float(differences.mixed_tail(np.array([-t]), share, freedom, few)[0])
    assert other == pytest.approx(1.0 - p)


@pytest.mark.filterwarnings("ignore:A decision at alpha")
def test_max_t_of_seeds_agrees_with_its_intervals():
    for seed in range(4):
        data = trained(systems=4, n=40, seed=seed)
        table = data.rankeval(seeds="seed").paired_bootstrap(adjust="max-t", details=True)
        out = (table["ci_low"] > 0.0) | (table["ci_high"] < 0.0)
        assert (out == (table["p_adjusted"] <= 0.05)).all()
        assert (table["p_adjusted"] >= table["p_value"] - 1e-12).all()
        assert (table["ci_low"] <= table["ci_low_alone"]).all()


def test_ranks_say_that_three_seeds_limit_them():
    data = trained(systems=4)
    data += np.random.default_rng(1).normal(size=12) / 3.0
    table = data.rankeval(seeds="seed").system_ranks()
    words = rankeval_pd.in_words(table)
    assert "With 3 seeds, the intervals for gains are" in words
    assert f"{table.attrs['seed_widening']:.1f} times as wide as intervals from the items" in words
    many = trained(seeds=40, systems=4).rankeval(seeds="seed").system_ranks()
    assert "were used: their" not in rankeval_pd.in_words(many)
    assert "Welch" in rankeval_pd.in_words(table, methods=True)
    assert "several runs with different seeds (column seed)" in rankeval_pd.in_words(
        table, methods=True
    )
    with pytest.warns(rankeval_pd.RankevalWarning, match="two training runs give a poor estimate"):
        trained(seeds=2).rankeval(seeds="seed").system_ranks()


def test_what_one_seed_cannot_show(trainings):
    one = trainings.drop(columns=[("a", 1), ("a", 2), ("a", 3)])
    ask, of = rankeval_pd.paired_bootstrap, {"seeds": "seed"}
    for call, message in (
        (lambda: ask(one, **of), "'a' has a single training run"),
        (lambda: ask(trainings, **of, event="zero", adjust="max-t"), "max-t draws random signs"),
        (lambda: rankeval_pd.paired_permutation(trainings, **of), "do not account for variation"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"seeds=\['seed'\] is not the name of one column"):
        ask(trainings, seeds=["seed"])
    sizes = trainings.rankeval.gain_by_size([40, 60], seeds="seed", n_resamples=99)
    assert sizes["size"].tolist() == [40, 60]


# ---------------------------------------------------------------------------------------- baseline


def test_a_baseline_is_always_the_second_and_its_family_the_others(scores):
    data = scores[SYSTEMS]
    for ask in (data.rankeval.paired_bootstrap, data.rankeval.paired_permutation):
        found = ask(baseline="y", adjust="bonferroni", n_resamples=499)
        assert found["system_a"].tolist() == ["x", "z"]
        assert found["system_b"].tolist() == ["y", "y"]
        np.testing.assert_allclose(found["gain"], data[["x", "z"]].mean() - data["y"].mean())
        np.testing.assert_allclose(found["p_adjusted"], np.minimum(1, 2 * found["p_two_sided"]))
        for name, row in zip("xz", found.itertuples(index=False), strict=True):
            one = ask(name, "y", n_resamples=499).iloc[0]
            assert row.p_one_sided == one["p_one_sided"]
            assert (row.ci_low_alone, row.ci_high_alone) == (one["ci_low"], one["ci_high"])
    sizes = data.rankeval.gain_by_size([60, 120], baseline="y", n_resamples=99)
    assert sizes["system_b"].unique().tolist() == ["y"]
    with pytest.raises(KeyError, match="baseline: no column 'q'"):
        data.rankeval.paired_bootstrap(baseline="q")
    for keywords in ({"a": "x"}, {"a": "x", "b": "z"}, {"a": "y"}):
        with pytest.raises(ValueError, match=r"baseline= cannot stand beside a="):
            data.rankeval.paired_bootstrap(**keywords, baseline="y")


# ------------------------------------------------------------------------------- ratings with holes


def test_ratings_with_holes(scores):
    data = scores[SYSTEMS].copy()
    rng = np.random.default_rng(4)
    for name in SYSTEMS:
        data.loc[rng.random(120) < 0.2, name] = np.nan
    with pytest.raises(ValueError, match=r"for ratings, pass missing='ratio'"):
        data.rankeval.paired_bootstrap()
    found = data.rankeval.paired_bootstrap("x", "y", missing="ratio", event="zero", n_resamples=300)
    assert found["gain"][0] == pytest.approx(data["x"].mean() - data["y"].mean())
    assert found.attrs["missing"] == "ratio"
    rated = data.dropna(how="all")
    drawn = rankeval_pd.resample_counts(len(rated), 300)
    means = {k: drawn @ rated[k].fillna(0) / (drawn @ rated[k].notna()) for k in "xy"}
    assert found["gain_se"][0] == pytest.approx(np.std(means["x"] - means["y"]))
    ask = scores[SYSTEMS].rankeval.paired_bootstrap
    pd.testing.assert_frame_equal(ask(missing="ratio"), ask())


@pytest.mark.filterwarnings("ignore:.* repeated labels:rankeval_pd.RankevalWarning")
def test_ratings_with_holes_in_strata_and_statistics(scores, parts):
    data = scores.copy()
    data.loc[:4, "x"] = np.nan
    found = data.rankeval.system_ranks(strata="task", missing="ratio", n_resamples=99)
    wanted = data.groupby("task").mean().mean()
    np.testing.assert_allclose(found["value"], wanted[found["system"]])
    holes = parts.astype(float)
    holes.iloc[3, 0] = np.nan
    row = holes.rankeval.paired_bootstrap("x", "y", metric="f1", missing="ratio", n_resamples=99)
    sums = parts.iloc[np.delete(np.arange(120), 3)].sum().unstack()  # noqa: PD010
    assert row["score_a"][0] == pytest.approx(
        2 * sums.loc["x", "correct"] / (sums.loc["x", "guess"] + sums.loc["x", "gold"])
    )


def test_impossible_holes(scores):
    one, every = scores[SYSTEMS].copy(), scores[SYSTEMS].assign(y=np.nan)
    one.iloc[0, 0] = np.nan
    for data, keywords, message in (
        (one, {"missing": "ratio", "metric": "sum"}, "metric='sum' must not grow"),
        (one, {"missing": "last"}, "missing='last' is not one of 'raise', 'ratio'"),
        (every, {"missing": "ratio"}, "needs a score of every system"),
    ):
        with pytest.raises(ValueError, match=message):
            data.rankeval.paired_bootstrap(**keywords)
    ranking = scores.assign(gold=[True, False] * 60).rankeval
    for role, value in (("strata", "task"), ("seeds", "task")):
        with pytest.raises(ValueError, match=rf"{role}='{value}'.* applies only to systems"):
            ranking.nbest_precision([1], **{role: value}, exclude=None)


# ------------------------------------------------------------------ means over groups, annotators


def moving(rng, groups):
    """Return a gain that grows with the size of its group, its mean over items truly 0."""
    size = np.maximum(np.rint(np.exp(rng.normal(2.0, 1.0, groups))), 1).astype(int)
    cluster = np.repeat(np.arange(groups), size)
    gain = (size[cluster] - 33.6) / 12.2 + rng.normal(size=cluster.size)
    return pd.DataFrame({"new": gain, "old": 0.0, "doc": cluster})


def test_a_gain_that_moves_with_the_size_of_groups_is_said():
    items = moving(np.random.default_rng(1), 40)
    asked = items.rankeval(measures=["new", "old"], groups="doc")
    with pytest.warns(
        rankeval_pd.RankevalWarning, match="depends on group size in .*weight='group'"
    ):
        asked.paired_bootstrap()
    found = asked.paired_bootstrap("new", "old", weight="group")  # no warning
    means = items.groupby("doc")["new"].mean()
    np.testing.assert_allclose(found["gain"], means.mean(), rtol=1e-12)
    assert "mean score over groups is" in rankeval_pd.in_words(found)
    equal = items.assign(doc=np.arange(len(items)) // 5)
    assert "mean score over items is" in rankeval_pd.in_words(
        equal.rankeval(measures=["new", "old"], groups="doc").paired_bootstrap("new", "old")
    )


def test_weight_is_refused_where_it_has_no_meaning(frame):
    with pytest.raises(ValueError, match="weight='group' applies only to systems scored on test"):
        frame.rankeval.compare("a", "b", 5, weight="group")
    items = moving(np.random.default_rng(1), 40)
    for roles in ({}, {"groups": "doc", "metric": "sum"}):
        with pytest.raises(ValueError, match="the mean over groups needs"):
            items.rankeval(measures=["new", "old"], weight="group", **roles).paired_bootstrap()


def test_items_that_several_judge_are_not_taken_for_independent_without_a_word():
    rng = np.random.default_rng(8)
    item, annotator = np.divmod(np.arange(30 * 12), 12)
    gain = rng.normal(size=30)[item] + rng.normal(size=12)[annotator]
    rows = pd.DataFrame({"new": gain + rng.normal(size=360), "old": 0.0})
    rows["annotator"], rows.index = annotator, pd.Index(item, name="item")
    asked = rows.rankeval(measures=["new", "old"])
    alone, both = (
        asked.paired_bootstrap("new", "old", groups=groups, n_resamples=199).iloc[0]
        for groups in ("item", ["item", "annotator"])
    )
    assert both["gain_se"] > 1.2 * alone["gain_se"]
    with pytest.warns(
        rankeval_pd.RankevalWarning, match=r"330 repeated labels.*groups=\['item', 'annotator'\]"
    ):
        asked.paired_bootstrap("new", "old")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked.paired_bootstrap("new", "old", groups="item")


def test_ranks_with_two_crossed_factors():
    """statsmodels' standard errors for two clusters, and paired_bootstrap's tests."""
    rng = np.random.default_rng(4)
    segment, rater = np.divmod(np.arange(40 * 12), 12)
    systems = list("abcd")
    rows = pd.DataFrame(
        {
            name: mean + rng.normal(size=40)[segment] + rng.normal(size=12)[rater] / 2
            for name, mean in zip(systems, (1.0, 0.9, 0.5, -1.0), strict=True)
        }
    )
    rows += rng.normal(size=rows.shape)
    asked = rows.assign(segment=segment, rater=rater).rankeval(groups=["segment", "rater"])
    found = asked.system_ranks(details=True).set_index("system")
    for name in systems:
        fitted = OLS(rows[name], np.ones(len(rows))).fit()
        [[variance]] = cov_cluster_2groups(fitted, segment, rater)[0]
        half = stats.t.ppf(0.975, 11) * np.sqrt(variance)
        wanted = rows[name].mean() - half, rows[name].mean() + half
        limits = found.loc[name, ["ci_low_alone", "ci_high_alone"]]
        assert limits.tolist() == pytest.approx(wanted, rel=1e-9)
    pairs = asked.paired_bootstrap(adjust="holm")
    sure = pairs[pairs["p_adjusted"] <= 0.05]
    for name in systems:
        assert found.loc[name, "rank_low"] == 1 + (sure["system_b"] == name).sum()
        assert found.loc[name, "rank_high"] == 4 - (sure["system_a"] == name).sum()
    assert (found.attrs["test"], found.attrs["interval"], found.attrs["adjust"]) == (
        *("crossed", "student", "holm"),
    )
    leading = found.index[found["rank_low"] == 1].tolist()
    assert len(leading) > 1
    words = rankeval_pd.in_words(asked.system_ranks())
    assert "With 95% confidence, any of" in words
    assert all(f" {name}" in words.split("any of")[1] for name in leading)
    assert "any of" not in rankeval_pd.in_words(asked.system_ranks(adjust=None))
    right = (rows > 0).assign(segment=segment, rater=rater)
    shares = right.rankeval(groups=["segment", "rater"], metric="accuracy").system_ranks()
    assert shares["ci_low"].ge(0).all()
    assert shares["ci_high"].le(1).all()
    assert asked.summary()["value"].tolist() == found["value"].tolist()
    with pytest.raises(ValueError, match="two crossed factors"):
        asked.system_ranks(adjust="max-t")


def test_few_raters_are_no_second_factor():
    """With one factor or both, the variance agrees with the mean squares of an ANOVA."""
    rng = np.random.default_rng(5)
    gain = 0.6 + rng.normal(0, 0.6, (60, 1)) + rng.normal(0, 0.05, 3) + rng.normal(0, 0.6, (60, 3))
    segment, rater = np.divmod(np.arange(180), 3)
    rows = pd.DataFrame({"new": gain.ravel(), "old": 0.0, "segment": segment, "rater": rater})
    asked = rows.rankeval(measures=["new", "old"], details=True)
    told = r"60 segment × 3 rater: .*fewer than 10 levels of 'rater'.*Pass groups='segment'.*'few"
    with pytest.warns(rankeval_pd.RankevalWarning, match=told):
        both = asked.paired_bootstrap("new", "old", groups=["segment", "rater"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        means = asked.paired_bootstrap("new", "old", groups="segment")
        alone = asked.paired_bootstrap("new", "old")
    of_segments = gain.mean(axis=1).var(ddof=1) / 60
    of_raters = gain.mean(axis=0).var(ddof=1) / 3
    cells = gain.var(ddof=1) / 180
    wanted = max(of_segments + of_raters - cells, of_segments, of_raters)
    assert wanted == of_segments  # the lower bound
    assert both["gain_se"].item() ** 2 == pytest.approx(wanted, rel=1e-9)
    assert means["gain_se"].item() ** 2 == pytest.approx(of_segments, rel=0.02)
    assert alone["gain_se"].item() < 0.9 * means["gain_se"].item()
    text = rankeval_pd.in_words(both, methods=True)
    assert "Rows with the same segment or rater were treated as a cluster." in text
    assert "The data contain 60 segment × 3 rater." in text
    caption = rankeval_pd.paper_table(both, "latex")
    assert r"clustered by segment and rater (60 segment $\times$ 3 rater)" in caption
    assert "clustered by segment (60 clusters)" in rankeval_pd.paper_table(means, "latex")


def test_holm_can_be_less_conservative_than_max_t():
    """Bonferroni's method cannot; an interval of Holm's method can contain 0."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(rng.normal([1.0, 0.75, 0.5, 0.0], 1.0, (100, 4)), columns=list("abcd"))
    adjusted = {
        adjust: rows.rankeval.paired_bootstrap(adjust=adjust, skewness=False)
        for adjust in ("holm", "bonferroni", "max-t")
    }
    p = pd.concat({name: table["p_adjusted"] for name, table in adjusted.items()}, axis=1)
    assert (p["holm"] < p["max-t"]).any()
    assert (p["bonferroni"] > 0.95 * p["max-t"]).all()
    holm = adjusted["holm"]
    wide = (holm["p_adjusted"] <= 0.05) & (holm["ci_low"] <= 0.0)
    assert wide.any()
    said = "An interval that contains 0 was not computed from the test."
    assert said in rankeval_pd.paper_table(holm, "latex")
    assert said not in rankeval_pd.paper_table(adjusted["max-t"], "latex")
