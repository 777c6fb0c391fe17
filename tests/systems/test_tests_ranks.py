"""Ranks of systems: by hand, against the significant pairs, and where scores tie or are missing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats import level_of_each
from rankeval_pd.systems.tests import RANK_COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore:.*No interval:rankeval_pd.errors.RankevalWarning")


def test_ranks_of_all_groups_have_the_letters_of_the_family():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal([0.0, 0.3, 0.9], 1.0, size=(80, 3)), columns=list("abc"))
    data["domain"] = np.repeat(["x", "y"], 40)
    for over, word in (("all", "in all 2 groups"), ("group", "in each group")):
        ask = {"by": "domain", "adjust_over": over, "details": True, "n_resamples": 9_999}
        ranks = rankeval_pd.system_ranks(data, **ask)
        pairs = rankeval_pd.paired_bootstrap(data, adjust="max-t", **ask)
        assert ranks.attrs["family"] == pairs.attrs["family"] == f"all 3 pairs {word}"
        named = ranks.set_index(["domain", "system"])["letters"]
        for row in pairs.itertuples():
            both = (set(named[row.domain, x]) for x in (row.system_a, row.system_b))
            assert bool(set.intersection(*both)) == (row.p_adjusted > 0.05)


def test_large_tables_of_right_and_wrong_draw_from_the_normal_law(monkeypatch):
    rng = np.random.default_rng(9)
    right = pd.DataFrame(rng.random((3_000, 4)) < [0.6, 0.61, 0.62, 0.64], columns=list("abcd"))
    ask = right.rankeval(metric="accuracy")
    drawn = ask.system_ranks(details=True)
    monkeypatch.setattr(resamples, "_NORMAL_ITEMS", 1_000)
    normal = ask.system_ranks(details=True)
    assert normal["letters"].tolist() == drawn["letters"].tolist()
    pairs = ask.paired_bootstrap(adjust="max-t", details=True)
    monkeypatch.setattr(resamples, "_NORMAL_ITEMS", 10**9)
    again = ask.paired_bootstrap(adjust="max-t", details=True)
    np.testing.assert_allclose(pairs["p_adjusted"], again["p_adjusted"], atol=0.02)
    np.testing.assert_allclose(pairs["ci_low"], again["ci_low"], atol=0.002)


def test_ranks_of_equal_systems_and_where_lower_is_better():
    data = pd.DataFrame({"x": [1, 0, 1] * 5, "y": [1, 0, 1] * 5, "z": [0] * 15})
    found = data.rankeval.system_ranks(n_resamples=200)
    assert list(found.columns) == list(RANK_COLUMNS)
    assert found["rank"].tolist() == [1, 1, 3]
    assert found["tied_for_best"].tolist() == [True, True, False]
    turned = data.rankeval(higher_is_better=False).system_ranks(n_resamples=200)
    assert turned[["system", "rank"]].to_numpy().tolist() == [["z", 1], ["x", 2], ["y", 2]]
    assert (turned["ci_low"] <= turned["value"]).all()
    assert (turned["value"] <= turned["ci_high"]).all()
    constant = pd.DataFrame({"a": [2.5] * 40, "b": [1.5] * 40, "c": [1.5] * 40})
    with pytest.warns(rankeval_pd.RankevalWarning, match="No interval"):
        found = constant.rankeval.system_ranks(n_resamples=200)
    assert found["rank"].tolist() == [1, 2, 2]
    assert found["tied_for_best"].tolist() == [True, False, False]
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)


@pytest.mark.filterwarnings("ignore:A system's ratio is based on:rankeval_pd.RankevalWarning")
def test_a_system_without_a_score_ranks_last():
    def ranks(**correct):
        parts = {
            name: pd.DataFrame({"correct": right, "guess": [int(any(right))] * 6})
            for name, right in correct.items()
        }
        data = pd.concat(parts, axis=1)
        return data.rankeval.system_ranks(metric="precision", n_resamples=200)

    none = [0] * 6
    found = ranks(none=none, less=[1, 0, 0, 1, 0, 0], some=[1, 0, 1, 1, 0, 1])
    assert found["rank"].tolist() == [1, 2, 3]
    assert (found["rank_low"] <= found["rank"]).all()
    assert (found["rank"] <= found["rank_high"]).all()
    last = found.iloc[2]
    assert (last["system"], last["tied_for_best"]) == ("none", False)
    assert np.isnan(last["value"])
    found = ranks(x=none, y=none)
    assert found[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 2]] * 2


def summed(sums):
    """Return the mean of three rates, added from the first to the last."""
    rates = sums[..., :3] / sums[..., 3:]
    return (rates[..., 0] + rates[..., 1] + rates[..., 2]) / 3.0


@pytest.mark.filterwarnings("ignore:10 items. scores or differences are skewed")
def test_scores_that_differ_only_by_rounding_are_equal():
    """Rates of .1, .2 and .3 in different orders, and those of a worse system."""
    columns = {}
    for system, counts in {
        "x": (1, 2, 3),
        "y": (3, 2, 1),
        "z": (2, 3, 1),
        "low": (1, 1, 1),
    }.items():
        for name, count in zip("uvw", counts, strict=True):
            columns[system, name] = np.roll(np.repeat([1, 0], [count, 10 - count]), len(columns))
        columns[system, "n"] = np.ones(10, dtype=int)
    items = pd.DataFrame(columns)
    scores = [summed(items[system].sum().to_numpy()) for system in ("x", "y", "z")]
    assert len(set(scores)) == 2  # 0.2 and 0.20000000000000004
    ranks = items.rankeval.system_ranks(metric=summed, details=True, n_resamples=200)
    assert ranks["rank"].tolist() == [1, 1, 1, 4]
    assert ranks["value"].tolist()[:3] == [min(scores)] * 3
    assert "x, y, and z have the highest" in rankeval_pd.in_words(ranks)
    pairs = items.rankeval.paired_bootstrap(metric=summed, n_resamples=200, details=True)
    assert pairs.loc[pairs["system_b"] != "low", "gain"].tolist() == [0.0] * 3


def test_limits_for_all_systems_are_those_of_one_at_the_shared_level():
    rng = np.random.default_rng(2)
    right = pd.DataFrame(rng.random((60, 3)) < [0.5, 0.6, 0.7], columns=list("abc"))
    found = right.rankeval.system_ranks(details=True)
    alone = right.rankeval.system_ranks(level=level_of_each(0.95, 3), details=True)
    for end in ("low", "high"):
        assert_allclose(found[f"ci_{end}"], alone[f"ci_{end}_alone"], rtol=1e-12)
    assert (found["ci_low"] < found["ci_low_alone"]).all()


# ---- What a metric can be, and a single system


def of_queries(values, metric="P@10"):
    frame = pd.DataFrame(values)
    frame.attrs["metric"] = metric
    return frame


@pytest.mark.filterwarnings("ignore:.*skewed")
def test_no_interval_leaves_what_the_metric_can_be():
    rng = np.random.default_rng(1)
    rare = np.where(rng.random((10, 2)) < 0.3, rng.random((10, 2)), 0.0)
    for values, metric, interval, most in (
        (rare, "P@10", "gaffke", 1.0), (rare, "DCG@10", "hall", np.inf),
        (100.0 * rare, "P@10", "hall", np.inf), (rare, "loss", "hall", np.inf),
        (np.tile(rare, (6, 1)), "map", "hall, korn-graubard", 1.0),
        (100.0 * (rare > 0.0), None, "gaffke", 100.0),
    ):  # fmt: skip
        found = of_queries(values, metric).rankeval(measures=[0, 1]).system_ranks(details=True)
        assert found.attrs["interval"] == interval, metric
        assert (found["ci_high"] <= most).all()
        if (metric != "loss" and values.max() <= 1.0) or most == 100.0:
            assert (found["ci_low"] >= 0.0).all()
    right = pd.DataFrame((rng.random((20, 3)) < 0.9) * 1.0, columns=list("abc"))
    task = right.assign(task=np.repeat(["x", "y", "z"], [5, 12, 3]))
    for role in ("strata", "groups"):
        found = task.rankeval(**{role: "task"}).system_ranks()
        assert found.attrs["interval"] == "hall, korn-graubard"
        assert ((found["ci_low"] >= 0.0) & (found["ci_high"] <= 1.0)).all()
    always = right.assign(a=1.0, doc=np.arange(20) % 8).rankeval(groups="doc").system_ranks()
    limits = always.set_index("system").loc["a", ["ci_low", "ci_high"]]
    assert_allclose(limits.tolist(), [(0.025 / 3) ** (1 / limits_of_groups(20, 8)), 1.0])


def limits_of_groups(items, groups):
    """Return the number of equal groups that are worth as much as these."""
    sizes = np.bincount(np.arange(items) % groups)
    return sizes.sum() ** 2 / (sizes @ sizes)


def test_errors_have_the_mirror_image_of_the_limits_of_right_answers():
    values = np.random.default_rng(2).random((12, 2))
    right = of_queries(values).rankeval(measures=[0, 1]).system_ranks(details=True)
    wrong = of_queries(1.0 - values).rankeval(measures=[0, 1], higher_is_better=False)
    turned = wrong.system_ranks(details=True)
    for name, other in (("ci_low", "ci_high"), ("ci_high_alone", "ci_low_alone")):
        assert_allclose(right[name], 1.0 - turned[other], atol=1e-8)


@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_a_single_system_has_a_value_and_an_interval(test):
    values = np.random.default_rng(3).random(12)
    one = of_queries(values[:, np.newaxis], "nDCG@10")
    both = of_queries(np.stack([values, values**2], axis=1), "nDCG@10")
    for data, roles in (
        (one, {}), (one.assign(g=list("xy") * 6), {"by": "g"}),
        (one.assign(g=list("xyz") * 4), {"strata": "g"}),
        (one.assign(g=list("xyz") * 4), {"groups": "g"}),
    )[: 2 if test == "t" else 4]:  # fmt: skip
        ask = {"test": test, "details": True, "adjust_over": "group"}
        found = data.rankeval(measures=[0], **roles).system_ranks(**ask)
        pair = both.assign(**data[[*roles.values()]]).rankeval(measures=[0, 1], **roles)
        wanted = pair.system_ranks(**ask)
        wanted = wanted[wanted["system"] == 0].reset_index()
        for end in ("low", "high"):
            if "strata" not in roles:  # the variances of all systems weigh the strata
                assert_allclose(found[f"ci_{end}"], wanted[f"ci_{end}_alone"], rtol=1e-9)
        assert found["value"].tolist() == wanted["value"].tolist()
        assert not {"rank_low", "letters", "tied_for_best"} & {*found}
        assert not {"adjust", "family", "alpha", "event"} & {*found.attrs}
        said = rankeval_pd.in_words(found)
        assert " for 0 (95% interval " in said
        assert "interval" in said
        summary = data.rankeval(measures=[0], **roles).summary(test=test)
        assert {"rank_low", "letters", "difference", "p_value"}.isdisjoint(summary)
        assert "[" in str(rankeval_pd.paper_table(summary))


def test_scores_beside_t_tests_have_scipys_intervals():
    values = np.random.default_rng(6).random((12, 2))
    found = pd.DataFrame(values).rankeval(measures=[0]).system_ranks(test="t")
    wanted = stats.t.interval(0.95, 11, values[:, 0].mean(), stats.sem(values[:, 0]))
    assert_allclose(found.loc[0, ["ci_low", "ci_high"]].tolist(), wanted)


def test_one_run_has_means_with_intervals_and_a_picture():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"query": np.repeat(range(12), 20), "document": [*range(20)] * 12})
    frame["grade"], frame["bm25"] = (rng.random(240) < 0.3).astype(int), rng.random(240)
    found = frame.rankeval.summary(["P@10", "DCG@5"])
    assert {"rank_low", "letters", "difference", "p_value"}.isdisjoint(found)
    assert found.attrs["interval"] == "gaffke, hall"
    means = frame.rankeval.per_query(["P@10"], wide=True)
    alone = means.rankeval.system_ranks()
    assert_allclose(found.loc[0, ["ci_low", "ci_high"]].tolist(), alone.iloc[0, 2:4].tolist())
    assert "The mean P@10 is 0.217 for bm25 (95% interval " in rankeval_pd.in_words(found)
    ax = means.rankeval.plot.system_ranks()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["bm25"]
    assert "rank" not in [text.get_text() for text in ax.texts]


def test_scores_too_skewed_for_their_number_are_said():
    rng = np.random.default_rng(5)
    for draw, told in ((rng.lognormal, True), (rng.normal, False)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            frame = pd.DataFrame(draw(size=(50, 8))).add_prefix("s")
            frame.rankeval.system_ranks(n_resamples=999)
        assert any("scores or differences are skewed" in str(x.message) for x in found) == told


@pytest.mark.parametrize(
    ("sizes", "right", "told"),
    [
        ((5, 12, 3), True, True),
        ((12, 12, 12, 3), True, True),  # all three may be right or wrong by chance
        ((5, 12, 3), False, False),
        ((12, 12, 4), True, False),
        ((6, 6, 3), True, False),
        ((3,) * 10, True, False),
    ],
)
def test_a_very_small_stratum_of_items_right_or_wrong_is_said(sizes, right, told):
    rng = np.random.default_rng(6)
    values = rng.normal(size=(sum(sizes), 4)).clip(-1.0, 1.0)  # some are 1
    values = np.where(right, values < 0.8, values)
    frame = pd.DataFrame(values).add_prefix("s").assign(task=np.repeat(range(len(sizes)), sizes))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        frame.rankeval(strata="task").system_ranks(n_resamples=99)
        frame.rankeval(strata="task", average="micro").system_ranks(n_resamples=99)
    assert sum("a stratum is very small" in str(x.message) for x in found) == told
