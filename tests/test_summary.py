"""One table with what a verdict needs, and its sentences."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    gold = rng.random(600) < 0.2
    common = rng.normal(size=600)
    scores = {
        name: quality * gold + common + rng.normal(size=600)
        for name, quality in [("w", -0.4), ("x", 2.5), ("y", 2.4), ("z", 1.0)]
    }
    return pd.DataFrame({**scores, "gold": gold})


def test_the_parts_are_those_of_the_single_methods(candidates):
    table = candidates.rankeval.summary(100)
    ranks = candidates.rankeval.measure_ranks(100)
    assert table["measure"].tolist() == ranks["measure"].tolist()
    for name in ("value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best"):
        assert table[name].tolist() == ranks[name].tolist()
    best = table["measure"][0]
    pairs = candidates.rankeval.compare(n=100, adjust="max-t", target="nbest")
    assert pairs.attrs["n_resamples"] == table.attrs["n_resamples"]
    pairs = pairs.set_index(["measure_a", "measure_b"])
    for _, row in table.iloc[1:].iterrows():
        forth = (row["measure"], best) in pairs.index
        pair = pairs.loc[(row["measure"], best) if forth else (best, row["measure"])]
        sign = 1 if forth else -1
        assert row["difference"] == pytest.approx(sign * pair["difference"])
        assert row["p_adjusted"] == pair["p_adjusted"]
        wanted = (pair["ci_low"], pair["ci_high"]) if forth else (-pair["ci_high"], -pair["ci_low"])
        assert (row["difference_low"], row["difference_high"]) == pytest.approx(wanted)
    chance = candidates.rankeval.random_test(100).set_index("measure")["p_value"]
    wanted = [chance[name] * 4 <= 0.05 for name in table["measure"]]
    assert table["better_than_chance"].tolist() == wanted
    assert not all(wanted)


def test_baseline(candidates):
    table = candidates.rankeval.summary(100, baseline="z").set_index("measure")
    assert table.loc["z", "difference"] == 0
    assert np.isnan(table.loc["z", "p_adjusted"])
    value = table["value"]
    assert table["difference"].to_numpy() == pytest.approx((value - value["z"]).to_numpy())
    with pytest.raises(KeyError, match="baseline: no column 'q'"):
        candidates.rankeval.summary(100, baseline="q")


def test_without_n_the_whole_ranking(candidates):
    table = candidates.rankeval.summary()
    wanted = candidates.rankeval.measure_ranks(kind="ap")
    assert table["value"].tolist() == wanted["value"].tolist()
    found = xr.Dataset.from_dataframe(candidates.rename_axis("candidate")).rankeval.summary()
    assert found["value"].to_series().to_dict() == table.set_index("measure")["value"].to_dict()


def test_systems():
    rng = np.random.default_rng(1)
    ease = rng.normal(size=200)
    quality = {"a": 0.0, "b": 1.0, "c": 0.9}
    items = pd.DataFrame({s: ease + q + rng.normal(size=200) for s, q in quality.items()})
    items = items.rename_axis(columns="system")
    table = items.rankeval(metric="mean").summary()
    pairs = items.rankeval.paired_bootstrap(metric="mean", adjust="max-t", progress=False)
    assert table["system"][0] == "b"
    worst = table.set_index("system").loc["a"]
    pair = pairs[(pairs["system_a"] == "b") & (pairs["system_b"] == "a")].iloc[0]
    assert worst["difference"] == -pair["gain"]
    assert worst["p_adjusted"] == pair["p_adjusted"]
    assert (worst["difference_low"], worst["difference_high"]) == (
        -pair["ci_high"],
        -pair["ci_low"],
    )
    text = rankeval_pd.in_words(table)
    assert text.startswith("b has the highest mean (")
    with pytest.raises(ValueError, match="have no n-best lists"):
        items.rankeval(metric="mean").summary(5)


def test_every_number_is_the_tables(candidates):
    table = candidates.rankeval.summary([50, 100])
    text = rankeval_pd.in_words(table)
    assert len(text.split("\n\n")) == 2
    for n, paragraph in zip((50, 100), text.split("\n\n"), strict=True):
        part = table[table["n"] == n]
        allowed = {
            f"{100 * x:.1f}" for x in part[["value", "ci_low", "ci_high"]].to_numpy().ravel()
        }
        allowed |= {f"{100 * abs(x):.1f}" for x in part["difference"]}
        allowed |= {f"{x:.2g}" for x in part["p_adjusted"].dropna()} | {str(n), "95"}
        assert set(re.findall(r"\d+(?:\.\d+)?", paragraph)) <= allowed
        assert f"precision at n = {n}" in paragraph
    assert "cannot be told apart from y" in text or "cannot be told apart from x" in text
    assert "Not shown to be better than chance: w." in text


def test_words_say_no_more_than_the_table():
    """Equal values share the first sentence, and who is worse is not said to be so of the best."""
    table = pd.DataFrame({
        "measure": ["a", "b", "c", "d"], "n": 100, "value": [0.4, 0.4, 0.3, 0.1],
        "ci_low": [0.3, 0.3, 0.2, 0.0], "ci_high": [0.5, 0.5, 0.4, 0.2], "rank_low": [1, 1, 1, 4],
        "rank_high": [3, 4, 4, 4], "difference": [0.0, 0.0, -0.1, -0.3],
        "p_adjusted": [np.nan, 1.0, 0.2, 0.06], "tied_for_best": [True, True, True, False],
    })  # fmt: skip
    text = rankeval_pd.in_words(table)
    assert text == (
        "a and b have the highest precision at n = 100 (40.0 %, interval 30.0 to 50.0 %). They"
        " cannot be told apart from c. d is significantly worse than at least one other. c is 10.0"
        " points behind (p = 0.2)."
    )
    table["rank_low"], table["rank_high"] = [1, 1, 3, 3], [2, 2, 4, 4]
    assert "They are significantly better than c and d." in rankeval_pd.in_words(table)


def test_other_tables(candidates):
    text = rankeval_pd.in_words(candidates.rankeval.measure_ranks(kind="roc"))
    assert "has the largest area under the ROC curve" in text
    with pytest.raises(ValueError, match="table has no columns ci_low"):
        rankeval_pd.in_words(pd.DataFrame({"measure": ["a"], "value": [1]}))
    with pytest.raises(TypeError, match="of type int"):
        rankeval_pd.in_words(3)


def test_metrics_of_queries_have_a_paragraph_each():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "query": np.repeat(np.arange(60), 20),
            "document": np.tile([f"d{x}" for x in range(20)], 60),
            "grade": rng.random(1200) < 0.2,
            "old": rng.normal(size=1200),
        }
    )
    frame["new"] = frame["old"] + frame["grade"]
    table = frame.rankeval.summary(["AP", "P@5"], baseline="old")
    value, gap = table.loc[1, ["value", "difference"]]
    p = table.loc[1, "p_adjusted"]
    texts = rankeval_pd.in_words(table).split("\n\n")
    assert texts[0] == (
        f"new has the highest mean AP ({value:.4g}, 95 % interval {table.loc[1, 'ci_low']:.4g} to"
        f" {table.loc[1, 'ci_high']:.4g}). It is significantly better than old. new is {gap:.4g}"
        f" ahead of old (p = {p:.2g})."
    )
    assert texts[1].startswith("new has the highest mean P@5 (")
    few = frame[frame["query"] < 4]
    with pytest.warns(rankeval_pd.RankevalWarning, match="4 items"):
        found = few.rankeval.summary(["AP", "P@5"])
    assert all(", no 95 % interval)." in text for text in rankeval_pd.in_words(found).split("\n\n"))


def test_the_least_p_value_is_said_to_be_the_least():
    df = rankeval_pd.datasets.simulate_candidates(
        2_000, quality={"a": 3.0, "b": 2.9, "c": 0.1}, rng=1
    )
    table = df.rankeval.summary(200, baseline="c")
    least = 3 / (table.attrs["n_resamples"] + 1)
    assert table["p_adjusted"].min() == pytest.approx(least)
    assert f"ahead of c (p ≤ {least:.2g})" in rankeval_pd.in_words(table)
    more = df.rankeval.summary(200, baseline="c", n_resamples=4_999)
    assert more["p_adjusted"].min() == pytest.approx(3 / 5_000)
    assert more.attrs["n_resamples"] == 4_999
    items = pd.DataFrame(np.random.default_rng(0).normal([0.0, 0.1, 0.9], size=(40, 3)))
    few = items.rankeval(metric="mean").summary(n_resamples=99)
    assert few["p_adjusted"].min() in np.arange(1, 101) / 100


def test_ties_that_lists_cut_are_told():
    scores = {"fine": np.sqrt(np.arange(40)), "coarse": np.arange(40) // 10}
    frame = pd.DataFrame({**scores, "gold": np.arange(40) % 3 > 0})
    for table in (frame.rankeval.summary([12, 20]), frame.rankeval.measure_ranks([12, 20])):
        assert table.columns[-1] == "tied"
        told = table.set_index(["measure", "n"])["tied"]
        assert told.to_dict() == {
            ("fine", 12): 0, ("coarse", 12): 8, ("fine", 20): 0, ("coarse", 20): 0
        }  # fmt: skip
    words = rankeval_pd.in_words(frame.rankeval.summary([12, 20])).split("\n\n")
    assert "A list cuts equal scores (coarse): 8 candidates are left out" in words[0]
    assert "equal scores" not in words[1]
    assert "tied" not in frame.rankeval.summary()


def test_comparisons_in_words(candidates):
    """Every number is the table's; the better one comes first, and the adjusted p-value counts."""
    table = candidates.rankeval.compare(n=[50, 100], adjust="holm", target="nbest")
    texts = rankeval_pd.in_words(table).split("\n\n")
    assert len(texts) == len(table)
    for text, row in zip(texts, table.itertuples(), strict=True):
        turned = row.difference < 0
        a, b = (row.measure_b, row.measure_a) if turned else (row.measure_a, row.measure_b)
        low, high = (-row.ci_high, -row.ci_low) if turned else (row.ci_low, row.ci_high)
        first, second = sorted([row.precision_a, row.precision_b], reverse=True)
        more = f"{100 * abs(row.difference):.1f} points"
        more = f"{more} more" if row.difference else f"a difference of {more}"
        assert text.startswith(
            f"At n = {row.n} the precision of {a} is {100 * first:.1f} %, that of {b}"
            f" {100 * second:.1f} %: {more} ("
        )
        assert f"(95 % interval {100 * low:.1f} to {100 * high:.1f} points, p" in text
        assert " adjusted (holm)). " in text
        assert ("not significant at 5 %" in text) == (not row.significant)
    row = table.loc[table["difference"].idxmin()]
    assert row["difference"] < 0
    one = candidates.rankeval.compare(
        row["measure_a"], row["measure_b"], row["n"], alternative="greater", target="nbest"
    )
    assert f"of {row['measure_a']} is" in rankeval_pd.in_words(one)  # as it was asked, not turned
    assert " points less (" in rankeval_pd.in_words(one)
    assert "one-sided (greater)" in rankeval_pd.in_words(one)
    with pytest.warns(rankeval_pd.RankevalWarning):  # no true positive
        none = candidates.assign(gold=False).rankeval.compare_area()
    assert "cannot be compared: one of them has no value." in rankeval_pd.in_words(none)
    area = candidates.rankeval.compare_area()
    assert "he area under the ROC curve of " in rankeval_pd.in_words(area)


def test_comparisons_of_a_dataset_in_words(candidates):
    """As of the frame: the numbers are the same, and coordinates name groups and pairs."""
    names = candidates.rankeval.measure_ranks(50)["measure"].tolist()
    values = candidates[names].to_numpy()
    data = xr.Dataset(
        {"score": (("candidate", "measure"), values), "gold": ("candidate", candidates["gold"])},
        coords={"measure": names},
    )
    frame = candidates[[*names, "gold"]].rankeval
    for method, options in [("compare", {"n": [50, 100], "target": "nbest"}), ("compare_area", {})]:
        found = rankeval_pd.in_words(getattr(data.rankeval, method)(**options)).split("\n\n")
        wanted = rankeval_pd.in_words(getattr(frame, method)(**options)).split("\n\n")
        assert sorted(found) == sorted(wanted)


def test_pairs_of_systems_in_words():
    """Of swapped systems no interval is quoted; less is better where the metric says so."""
    values = np.random.default_rng(3).random((40, 2)) * [1.0, 0.8]
    call = pd.DataFrame(values, columns=["x", "y"]).rankeval(metric="mean", higher_is_better=False)
    row = call.paired_bootstrap().iloc[0]
    text = rankeval_pd.in_words(call.paired_bootstrap())
    best, other = (row["system_a"], row["system_b"])[:: 1 if row["gain"] > 0 else -1]
    assert text.startswith(f"The mean of {best} is ")
    assert f"that of {other} " in text
    assert f": a gain of {abs(row['gain']):.4g} (95 % interval " in text
    assert "interval" not in rankeval_pd.in_words(call.paired_permutation())


def test_lists_that_are_worse_than_chance_say_so(candidates):
    """As areas do: distances that nobody turned round look like a measure that fails."""
    names = candidates.rankeval.measure_ranks(50)["measure"].tolist()
    distance = candidates.assign(distance=-candidates[names[0]])[[names[0], "distance", "gold"]]
    for method, argument in [("summary", 200), ("measure_ranks", 200), ("enrichment", 0.5)]:
        with pytest.warns(rankeval_pd.RankevalWarning, match="1 of 2 lists have fewer .*lower_is_"):
            getattr(distance.rankeval, method)(argument)
    turned = distance.rankeval(lower_is_better=["distance"])
    first, second = turned.summary(200)["value"]
    assert first == second
