"""Thresholds that keep what they promise after the search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import ranks as rank_tests
from rankeval_pd.stats.ranking import Ranking


def _all_of(score, gold) -> Ranking:
    return Ranking.of(score, gold, np.ones(gold.size, dtype=bool))


def _limit(tp: int, n: int, alpha: float) -> float:
    """Clopper and Pearson's lower limit, by SciPy."""
    return stats.beta.ppf(alpha, tp, n - tp + 1) if tp else 0.0


@given(st.integers(0, 10_000), st.integers(1, 120))
def test_the_sequences_one_by_one(seed, size):
    """Every sequence walked through as it is described."""
    rng = np.random.default_rng(seed)
    score, gold = rng.integers(0, 80, size), rng.random(size) < rng.uniform(0.5, 1)
    sets = rank_tests.sets_of(_all_of(score.astype(float), gold))
    count = 1
    while True:
        least = int(np.ceil(np.log(0.05 / count) / np.log(0.6)))
        if least * 2**count > size:
            break
        count += 1
    best = None
    for k in range(count):
        for position, (n, tp) in enumerate(zip(sets.n, sets.tp, strict=True)):
            if n < least * 2**k:
                continue
            if _limit(int(tp), int(n), 0.05 / count) < 0.6:
                break
            best = max(position, -1 if best is None else best)
    found, low, _ = rank_tests.guaranteed_precision(sets, 0.6, 0.95)
    assert found == best
    if best is not None:
        assert low == pytest.approx(_limit(int(sets.tp[best]), int(sets.n[best]), 0.05 / count))


def test_recall_is_the_limit_of_an_order_statistic():
    """Of 100 positives, the best 87 give at least .8 with 95 % confidence, and 86 do not."""
    assert stats.binom.sf(86, 100, 0.8) <= 0.05 < stats.binom.sf(85, 100, 0.8)
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"m": rng.normal(size=1_000), "gold": np.arange(1_000) < 100})
    row = df.rankeval.choose_threshold(recall=0.8).iloc[0]
    positives = df.loc[df["gold"], "m"].sort_values(ascending=False)
    assert row["threshold"] == positives.iloc[86]
    assert (row["tp"], row["recall"]) == (87, 0.87)
    assert row["n_accepted"] == (df["m"] >= row["threshold"]).sum()
    assert row["ci_low"] == pytest.approx(_limit(87, 100, 0.05))


def test_lower_is_better_groups_and_datasets():
    rng = np.random.default_rng(0)
    gold = rng.random(800) < 0.4
    df = pd.DataFrame({"up": rng.normal(size=800) + 3 * gold, "gold": gold})
    df["down"], df["half"] = -df["up"], np.arange(800) % 2
    table = df.rankeval(lower_is_better="down").choose_threshold(
        precision=0.9, by="half", measures=["up", "down"]
    )
    up, down = (table[table["measure"] == name].reset_index(drop=True) for name in ("up", "down"))
    assert (up["threshold"] == -down["threshold"]).all()
    assert (up["n_accepted"] == down["n_accepted"]).all()
    assert (up["ci_low"] >= 0.9).all()
    assert table.attrs["family"] == "2 measures"  # which share 1 - level
    one = df[df["half"] == 0].rankeval.choose_threshold(
        precision=0.9, measures="up", level=0.975
    ).iloc[0]  # fmt: skip
    assert one["threshold"] == up["threshold"][0]
    ds = xr.Dataset.from_dataframe(df[["up", "gold"]].rename_axis("candidate"))
    whole = df.rankeval.choose_threshold(precision=0.9, measures="up").iloc[0]
    assert float(ds.rankeval.choose_threshold(precision=0.9)["threshold"][0]) == whole["threshold"]


def test_nothing_to_promise():
    df = pd.DataFrame({"m": np.sqrt(np.arange(21.0)), "gold": np.arange(21) > 0})
    with pytest.warns(rankeval_pd.RankevalWarning, match="needs at least 29 correct candidates"):
        row = df.rankeval.choose_threshold(precision=0.9).iloc[0]  # 20 of 20 may be .86
    assert np.isnan(row["threshold"])
    assert row["n_accepted"] == 0
    with pytest.warns(rankeval_pd.RankevalWarning, match="true positive"):
        none = df.assign(gold=False).rankeval.choose_threshold(recall=0.5).iloc[0]
    assert np.isnan(none["ci_low"])
    with pytest.raises(ValueError, match="pass exactly one of these"):
        df.rankeval.choose_threshold()
    with pytest.raises(ValueError, match="pass exactly one of these"):
        rankeval_pd.choose_threshold(df, precision=0.9, recall=0.8)


@pytest.mark.full
def test_promises_are_kept():
    """As the simulation of tests/simulations, shorter: the plain choice breaks a fifth of them."""
    rng = np.random.default_rng(3)
    broken = {"chosen": 0, "plain": 0}
    for _ in range(200):
        gold = rng.random(1_000) < 0.5
        # the truth is .5 at every threshold
        sets = rank_tests.sets_of(_all_of(rng.normal(size=1_000), gold))
        broken["chosen"] += rank_tests.guaranteed_precision(sets, 0.5001, 0.95)[0] is not None
        low = stats.beta.ppf(0.05, sets.tp, sets.n - sets.tp + 1)
        broken["plain"] += bool((low >= 0.5001).any())
    assert broken["chosen"] <= 20
    assert broken["plain"] >= 40


def test_the_promise_of_the_best_looking_measure_is_kept():
    rng = np.random.default_rng(5)
    gold = np.arange(300) < 90
    scores = rng.normal(size=(300, 8, 300)) + 1.5 * gold
    dims = ("sample", "measure", "candidate")
    ds = xr.Dataset({"score": (dims, scores), "gold": ("candidate", gold)})
    ds = ds.assign_coords(measure=list("abcdefgh"))
    table = ds.rankeval.choose_threshold(recall=0.8)
    best = table["precision"].argmax("measure")
    recall = stats.norm.sf(table["threshold"].isel(measure=best) - 1.5)
    assert (recall < 0.8).mean() <= 0.06  # .31 of promises that hold each alone
