"""Ranges of n with a significant difference."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

KRENN = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq", "freq"]}


def test_krenn_significant_ranges(krenn):
    sizes = range(100, 2001)
    table = krenn.rankeval(**KRENN).compare("log.like", "chisq", sizes)
    significant = table.loc[table["p_value"] < 0.05, "n"].tolist()
    assert significant == [*range(100, 1269), 1366, 1367]
    found = krenn.rankeval(**KRENN).significant_ranges("log.like", "chisq", sizes)
    runs = found[["better", "n_first", "n_last", "n_tests"]].to_numpy().tolist()
    assert runs == [["log.like", 100, 1268, 1169], ["log.like", 1366, 1367, 2]]
    p = table.set_index("n")["p_value"]
    assert found["p_max"].tolist() == [p.loc[100:1268].max(), p.loc[1366:1367].max()]


@pytest.mark.full
@given(st.integers(0, 10**6))
@settings(max_examples=examples(20))
def test_short_ranges_are_runs_joined_over_close_gaps(seed):
    """Every n printed 105 fragments; gaps that end within 1.05 times n are joined, and counted."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(rng.normal(size=(400, 3)).cumsum(axis=0) * 0.05, columns=list("abc"))
    df["gold"] = rng.random(400) < 0.3
    ask = {"n": range(40, 400, int(rng.integers(1, 4))), "alpha": 0.4}
    runs, short = (df.rankeval.significant_ranges(**ask, details=x) for x in (True, False))
    rows = df.rankeval.compare(**ask)
    assert short["n_tests"].sum() == runs["n_tests"].sum() == rows["significant"].sum()
    for one in short.itertuples():
        pair = (rows["measure_a"] == one.measure_a) & (rows["measure_b"] == one.measure_b)
        inside = rows[pair & rows["n"].between(one.n_first, one.n_last)]
        assert set(inside["better"].dropna()) == {one.better}
        counts = inside["significant"].sum(), (~inside["significant"]).sum()
        assert counts == (one.n_tests, one.n_gaps)
        assert one.p_max == inside.loc[inside["significant"], "p_value"].max()
    for one, two in itertools.pairwise(short.itertuples(index=False)):
        assert one[:3] != two[:3] or two.n_first > 1.05 * one.n_last
    starts = runs.iloc[1:][(runs[list(runs)[:3]] == runs[list(runs)[:3]].shift()).all(axis=1)[1:]]
    gaps = rows.groupby(["measure_a", "measure_b"])["n"].apply(list)
    for one in starts.itertuples():
        before = runs.loc[one.Index - 1, "n_last"]
        n = gaps[one.measure_a, one.measure_b]
        assert one.n_before == sum(before < x < one.n_first for x in n)


def test_neighbours_are_neighbours_among_the_n_asked_for():
    df = pd.DataFrame({"a": range(40, 0, -1), "b": range(40), "gold": [True] * 12 + [False] * 28})
    found = df.rankeval.significant_ranges("a", "b", [30, 5, 20, 39])
    assert found[["n_first", "n_last", "n_tests"]].to_numpy().tolist() == [[5, 30, 3]]
    for n in (2, 39):
        assert df.rankeval.significant_ranges("a", "b", n).empty
