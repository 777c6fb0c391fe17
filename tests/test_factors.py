"""Strata, training seeds, a baseline, ratings with holes: against definitions and loops."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import rankeval_pd
from rankeval_pd.doors.item_tables import item_roles, read_items
from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats import items as test_items
from rankeval_pd.stats.item_gains import Draws
from rankeval_pd.stats.items import Items, quiet

REFERENCE = Path(__file__).parent / "simulations"
_spec = importlib.util.spec_from_file_location("factors_study", REFERENCE / "factors.py")
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)

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
    rng = np.random.default_rng(2)
    gold = rng.integers(1, 6, 120)
    found = {}
    for system in SYSTEMS:
        guess = rng.integers(1, 7, 120)
        found |= {
            (system, "correct"): rng.integers(0, np.minimum(gold, guess) + 1),
            (system, "guess"): guess,
            (system, "gold"): gold,
        }
    return pd.DataFrame(found).set_axis(pd.Index(TASKS, name="task"), axis=0)


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
    level = scores.set_index("task", append=True)
    again = level.rankeval(strata="task", average="micro").paired_bootstrap("x", "y")
    pd.testing.assert_frame_equal(again, micro)


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


def test_all_items_of_a_stratum_are_equally_often_drawn():
    strata = np.array([1, 0, 0, 1, 0])
    counts = np.concatenate(list(resamples.count_chunks(5, 4000, 3, strata)))
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=4 * np.sqrt(0.67 / 4000))
    assert set(counts[:, 0] + counts[:, 3]) == {2.0}


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


def test_contributions_within_strata_keep_the_sum_and_vary_within():
    rng = np.random.default_rng(6)
    strata = np.repeat([0, 1], [5, 9])
    values = rng.normal(size=(2, 14)) + 10.0 * strata
    found = test_items.within_strata(values, np.ones(14), strata)
    np.testing.assert_allclose(found.sum(axis=1), values.sum(axis=1))
    for part in (found[:, :5], found[:, 5:]):
        np.testing.assert_allclose(part.mean(axis=1), values.mean(axis=1))
    same = test_items.within_strata(np.ones((1, 14)) * strata, np.ones(14), strata)
    np.testing.assert_allclose(same, 9 / 14)  # nothing varies within


def test_one_stratum_is_none_but_for_the_t_factor(scores):
    alone = scores.assign(task="all")
    strata = alone.rankeval.paired_bootstrap(strata="task", event="zero", ci="percentile")
    assert strata["score_a"].tolist() == pytest.approx(
        scores[SYSTEMS].rankeval.paired_bootstrap()["score_a"].tolist()
    )


def test_groups_within_strata(scores):
    data = scores.assign(doc=np.arange(120) // 5)
    numbers = inner(data, strata="task", groups="doc")
    assert (
        numbers.drawn_strata.tolist() == [1] * 4 + [0] * 6 + [2] * 14
        or len(numbers.drawn_strata) == 24
    )
    found = data.rankeval.paired_bootstrap("x", "y", strata="task", groups="doc", n_resamples=199)
    means = scores.groupby("task")[SYSTEMS].mean().mean()
    assert found["gain"][0] == pytest.approx(means["x"] - means["y"])
    crossing = scores.assign(doc=np.arange(120) % 30)
    with pytest.raises(ValueError, match="strata and groups: a group spans several strata"):
        crossing.rankeval.paired_bootstrap(strata="task", groups="doc")


def test_strata_of_every_event_and_interval(scores, parts):
    for event in ("recentred", "strict", "zero", "bias-corrected", "studentised", "wild"):
        for data, metric in ((scores, "mean"), (parts, "f1")):
            row = data.rankeval.paired_bootstrap(
                "x", "y", strata="task", metric=metric, event=event, n_resamples=199
            ).iloc[0]
            assert row["ci_low"] < row["gain"] < row["ci_high"]
            assert not row["exact"]
    together = scores.rankeval.paired_bootstrap(strata="task", adjust="max-t", n_resamples=199)
    assert (together["p_adjusted"] >= together["p_value"]).all()


def test_strata_of_a_dataset(scores):
    ds = xr.Dataset(
        {"score": (("item", "system"), scores[SYSTEMS]), "task": ("item", TASKS)},
        {"system": SYSTEMS},
    )
    found = ds.rankeval.paired_bootstrap(strata="task").to_dataframe().reset_index()
    wanted = scores.rankeval.paired_bootstrap(strata="task")
    pd.testing.assert_frame_equal(found[list(wanted)], wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"strata": "tusk"}, KeyError, r"strata: no column 'tusk'.*Did you mean 'task'"),
        ({"strata": "one"}, ValueError, r"1 of 120 strata|strata have fewer than two items"),
        ({"average": "macro"}, ValueError, r"average='macro'.*there are none.*strata="),
        ({"strata": "task", "average": "mean"}, ValueError, r"average='mean' is not one of"),
        ({"strata": "hole"}, ValueError, r"strata='hole' has 1 missing values"),
        ({"strata": "task", "method": "exact"}, ValueError, r"method='exact'"),
    ],
)
def test_impossible_strata(scores, keywords, error, message):
    data = scores.assign(one=[f"s{k}" for k in range(120)], hole=[None, *TASKS[1:]])
    with pytest.raises(error, match=message):
        data.rankeval.paired_bootstrap(**keywords)


# ------------------------------------------------------------------------------------------- seeds


def test_seeds_in_columns_rows_levels_and_dimensions_are_one(trainings):
    wanted = trainings.rankeval.paired_bootstrap(seeds="seed", n_resamples=499)
    assert wanted.attrs["seeds"] == "seed"
    assert wanted["score_a"][0] == pytest.approx(
        trainings.T.groupby("system").mean().T.mean().max()
    )
    turned = trainings.swaplevel(axis=1)
    rows = trainings.stack("seed", future_stack=True)  # noqa: PD013
    for same in (turned, rows, rows.reset_index("seed"), rows.sample(frac=1, random_state=0)):
        found = same.rankeval.paired_bootstrap(seeds="seed", n_resamples=499)
        pd.testing.assert_frame_equal(found, wanted)
    ds = xr.Dataset(
        {"score": (("item", "system", "seed"), trainings.to_numpy().reshape(60, 2, 4))},
        {"system": ["a", "b"], "seed": [1, 2, 3, 4]},
    )
    found = ds.rankeval.paired_bootstrap(seeds="seed", n_resamples=499)
    assert list(found.sizes) == ["pair"]
    table = found.to_dataframe().reset_index()[list(wanted)]
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)
    ranks = trainings.rankeval.system_ranks(seeds="seed", n_resamples=499)
    assert ranks["value"].max() == wanted["score_a"][0]


def test_roles_beside_seeds(trainings):
    doc = pd.Index(np.repeat(np.arange(20), 3), name="doc")
    levelled = trainings.set_index(doc, append=True)
    wanted = levelled.rankeval.paired_bootstrap(seeds="seed", groups="doc", n_resamples=199)
    rows = levelled.stack("seed", future_stack=True).reset_index(["seed", "doc"])  # noqa: PD013
    found = rows.rankeval.paired_bootstrap(seeds="seed", groups="doc", n_resamples=199)
    pd.testing.assert_frame_equal(found, wanted)
    assert found["n_groups"][0] == 20
    odd = rows.copy()
    odd.iloc[0, list(odd).index("doc")] = 3
    with pytest.raises(ValueError, match="with the same by, groups and strata"):
        odd.rankeval.paired_bootstrap(seeds="seed", groups="doc")


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
    with pytest.warns(rankeval_pd.RankevalWarning, match="two training runs"):
        tasks = more.rankeval.paired_bootstrap(**ask, strata="task")
    assert tasks["gain"].notna().all()


def test_draws_of_seeds_are_of_the_t_law(trainings):
    """What is drawn beside the items has the variance and the tails of the mean of four."""
    items = inner(trainings, seeds="seed")
    means = trainings.mean().unstack()  # noqa: PD010
    np.testing.assert_allclose(items.seeds.error, means.std(axis=1) / 2)
    options = replace(study.OPTIONS, n_resamples=20_000)
    draws = Draws(items, study.PAIR, options, quiet)
    gone = Draws(
        Items(items.statistics, None, items.score, 1.0, None),
        study.PAIR,
        options,
        quiet,
    )
    added = (items.seeds.error[study.PAIR] ** 2).sum(axis=1)
    np.testing.assert_allclose(draws.own_errors**2, gone.own_errors**2 + added)
    noise = draws.scores - gone.scores
    for drawn, error in zip(noise, items.seeds.error, strict=True):
        assert stats.kstest(drawn / error, stats.t(3).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(noise)[0, 1]) < 0.05
    own = bootstrap_tests.contributions(items)[0]
    np.testing.assert_allclose(own.sum(axis=1), items.score(items.statistics.sum(axis=1)))
    both = draws.spread.error[0] ** 2
    assert both == pytest.approx(gone.spread.error[0] ** 2 + added[0])


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"seeds": "sead"}, KeyError, r"sead"),
        ({"seeds": "seed", "method": "exact"}, ValueError, r"method='exact': with seeds="),
        ({"seeds": ["seed"]}, TypeError, r"seeds=\['seed'\]: pass the name of one column"),
    ],
)
def test_impossible_seeds(trainings, keywords, error, message):
    with pytest.raises(error, match=message):
        trainings.rankeval.paired_bootstrap(**keywords)


def test_what_one_seed_cannot_show(trainings):
    one = trainings.drop(columns=[("a", 1), ("a", 2), ("a", 3)])
    with pytest.raises(ValueError, match=r"a single training run of 'a' cannot show"):
        one.rankeval.paired_bootstrap(seeds="seed")
    with pytest.raises(
        ValueError, match=r"do not account for variation between training runs.*paired_bootstrap"
    ):
        trainings.rankeval.paired_permutation(seeds="seed")
    rows = trainings.stack("seed", future_stack=True).reset_index("seed")  # noqa: PD013
    with pytest.raises(ValueError, match=r"each seed needs every item once.*set_index"):
        rows.reset_index(drop=True).rankeval.paired_bootstrap(seeds="seed")
    with pytest.raises(ValueError, match=r"each seed needs every item once"):
        rows.iloc[1:].rankeval.paired_bootstrap(seeds="seed")
    with pytest.raises(ValueError, match=r"seeds='seed' names a column.*unstack"):
        rows.rankeval.gain_by_size([10, 20], seeds="seed")
    sizes = trainings.rankeval.gain_by_size([40, 60], seeds="seed", n_resamples=99)
    assert sizes["size"].tolist() == [40, 60]


@pytest.mark.filterwarnings("ignore:.* repeated labels:rankeval_pd.RankevalWarning")
def test_seeds_that_are_not_said_make_equal_trainings_differ():
    """A short run of the committed study: 45 % where 5 % are meant, and at most 5 % with seeds."""
    blind = study.of_seeds(1, 150, "wild", told=False)[0]
    told = study.of_seeds(4, 150, "wild", told=True)
    assert blind > 0.3
    assert told[0] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert told[1] == pytest.approx(1.0 - told[0], abs=0.02)


def test_the_committed_study():
    table = pd.read_csv(REFERENCE / "factors.csv").set_index(["event", "setting", "gain"])
    size = table.xs("wild")["rejected"].xs(0.0, level="gain")
    assert size["1 seeds, averaged, not said"] > 0.4
    told = size[[f"{k} seeds" for k in (2, 3, 5, 10)] + ["strata, macro", "strata, micro"]]
    assert (told <= 0.06).all()
    power = table.xs("wild")["rejected"].xs(0.25, level="gain")
    assert power["strata, micro"] > power["strata, not said"] + 0.05


# ---------------------------------------------------------------------------------------- baseline


def test_a_baseline_is_always_the_second(scores):
    data = scores[SYSTEMS]
    for ask in ("paired_bootstrap", "paired_permutation"):
        found = getattr(data.rankeval, ask)(baseline="y", n_resamples=499)
        assert found["system_a"].tolist() == ["x", "z"]
        assert found["system_b"].tolist() == ["y", "y"]
        np.testing.assert_allclose(found["gain"], data[["x", "z"]].mean() - data["y"].mean())
        for name, row in zip("xz", found.itertuples(index=False), strict=True):
            one = getattr(data.rankeval, ask)(name, "y", n_resamples=499).iloc[0]
            assert row.p_one_sided == one["p_one_sided"]
            assert (row.ci_low, row.ci_high) == (one["ci_low"], one["ci_high"])
    sizes = data.rankeval.gain_by_size([60, 120], baseline="y", n_resamples=99)
    assert sizes["system_b"].unique().tolist() == ["y"]
    ds = xr.Dataset({"score": (("item", "system"), data)}, {"system": SYSTEMS})
    named = ds.rankeval.paired_bootstrap(baseline="y", n_resamples=99)
    assert named["system_b"].to_numpy().tolist() == ["y", "y"]


def test_a_family_of_a_baseline_is_the_others(scores):
    found = scores[SYSTEMS].rankeval.paired_bootstrap(baseline="y", adjust="bonferroni")
    np.testing.assert_allclose(found["p_adjusted"], np.minimum(1, 2 * found["p_two_sided"]))


def test_impossible_baselines(scores):
    data = scores[SYSTEMS]
    with pytest.raises(KeyError, match="baseline: no column 'q'"):
        data.rankeval.paired_bootstrap(baseline="q")
    for keywords in ({"a": "x"}, {"a": "x", "b": "z"}, {"a": "y"}):
        with pytest.raises(ValueError, match=r"baseline='y' with a or b"):
            data.rankeval.paired_bootstrap(**keywords, baseline="y")


# ------------------------------------------------------------------------------- ratings with holes


def test_ratings_with_holes(scores):
    data = scores[SYSTEMS].copy()
    rng = np.random.default_rng(4)
    for name in SYSTEMS:
        data.loc[rng.random(120) < 0.2, name] = np.nan
    with pytest.raises(ValueError, match=r"For missing ratings, pass missing='ratio'"):
        data.rankeval.paired_bootstrap()
    found = data.rankeval.paired_bootstrap("x", "y", missing="ratio", event="zero", n_resamples=300)
    assert found["gain"][0] == pytest.approx(data["x"].mean() - data["y"].mean())
    assert found.attrs["missing"] == "ratio"
    drawn = rankeval_pd.resample_counts(120, 300)
    means = {k: drawn @ data[k].fillna(0) / (drawn @ data[k].notna()) for k in "xy"}
    assert found["gain_se"][0] == pytest.approx(np.std(means["x"] - means["y"]))
    full = scores[SYSTEMS]
    same = full.rankeval.paired_bootstrap(missing="ratio")
    pd.testing.assert_frame_equal(same, full.rankeval.paired_bootstrap())
    assert data.isna().any().any()  # the user's frame is as it was


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
    data = scores[SYSTEMS].copy()
    data.iloc[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"missing='ratio' with metric='sum'"):
        data.rankeval.paired_bootstrap(missing="ratio", metric="sum")
    with pytest.raises(ValueError, match=r"missing='last' applies only to rankings"):
        data.rankeval.paired_bootstrap(missing="last")
    data["y"] = np.nan
    with pytest.raises(ValueError, match=r"system 'y' has no score for any item"):
        data.rankeval.paired_bootstrap(missing="ratio")
    ranking = scores.assign(gold=[True, False] * 60)
    with pytest.raises(ValueError, match=r"missing='ratio', .* applies only to systems"):
        ranking.rankeval.nbest_precision([1], missing="ratio", exclude=None)
    for role in ("strata", "seeds"):
        with pytest.raises(ValueError, match=rf"{role}='task' applies only to systems"):
            ranking.rankeval.nbest_precision([1], **{role: "task"})
