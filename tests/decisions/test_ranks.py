"""Ranks, letters and comparisons with a baseline tell one story."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.decisions import SWAPPED
from rankeval_pd.decisions.ranks import RankOptions, rank_columns
from tests.decisions.random_tables import SEEDS, check, options, random_candidates

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def check_ranks(table: pd.DataFrame, count: int) -> None:
    """Assert that letters and ranks tell one story: apart if, and only if, no letter is shared."""
    letters = [set(x) for x in table["letters"]]
    assert all(letters)
    better = [0] * count
    for i, j in itertools.combinations(range(count), 2):
        if not letters[i] & letters[j]:
            better[j] += 1
            assert table["value"].iloc[i] > table["value"].iloc[j]
    assert table["rank_low"].tolist() == [1 + x for x in better]
    assert (table["tied_for_best"] == (table["rank_low"] == 1)).all()


@SEEDS
def test_letters_and_ranks_of_summaries_agree(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        df, asked = random_candidates(rng), options(rng, swapped=True)
        asked.pop("alternative", None)
        n = None if rng.random() < 0.3 else [5, 9]
        over = {"adjust_over": str(rng.choice(["n", "group"]))} if asked["adjust"] else {}
        baseline = None if rng.random() < 0.5 else "b"
        call = df.rankeval(measures=["a", "b", "c"])
        found = call.summary(n, baseline=baseline, **asked, **over)
        ours = found.drop(columns=["ci_low_alone", "ci_high_alone"]).rename(
            columns={f"difference_{x}_alone": f"ci_{x}_alone" for x in ("low", "high")}
        )
        ours.attrs = found.attrs
        check(ours, asked, ("difference", "difference_low", "difference_high"))
        assert ("letters" in found) == (baseline is None)
        what: dict[str, Any] = {"kind": "roc"} if n is None else {"n": n}
        ranked = call.measure_ranks(**what, **asked, **over)
        tables = [ranked] if baseline is not None else [ranked, found]
        for table, size in itertools.product(tables, [None] if n is None else n):
            check_ranks(table if size is None else table[table["n"] == size], 3)


def test_what_is_shown_with_a_baseline_is_its_family():
    """As `compare` says it of the same comparisons, of the same draws."""
    rng = np.random.default_rng(4)
    gold, qualities = rng.random(400) < 0.2, {"a": 1, "b": 1.3, "c": 0.4, "d": 0.9}
    df = pd.DataFrame({x: q * gold + rng.normal(size=400) for x, q in qualities.items()})
    df["gold"] = gold
    for adjust in ("max-t", "max-t-stepdown", "holm"):
        draws = {"n_resamples": 299} if adjust in SWAPPED else {}
        table = df.rankeval.summary([40, 80], baseline="a", adjust=adjust, **draws)
        pairs = df.rankeval.compare(
            "a", n=[40, 80], adjust=adjust, adjust_over="n", target="nbest", **draws
        )
        both = table.merge(pairs, left_on=["measure", "n"], right_on=["measure_b", "n"])
        assert len(both) == 6
        for ours, theirs in (("p_adjusted_x", "p_adjusted_y"), ("p_value_x", "p_value_y")):
            np.testing.assert_allclose(both[ours], both[theirs], rtol=1e-12)
        np.testing.assert_allclose(both["difference_low"], -both["ci_high_y"], atol=1e-12)
        assert table.attrs["family"] == pairs.attrs["family"] == "3 comparisons with a at each n"
        ranks = df.rankeval.summary([40, 80], adjust=adjust, **draws).set_index(["measure", "n"])
        mine = table.set_index(["measure", "n"])["rank_low"]
        assert mine.sort_index().equals(ranks["rank_low"].sort_index())


# ---- Ranks from the tests of pairs, by hand


def ranked_as(adjust, level):
    alpha = round(1.0 - level, 12)
    return RankOptions(adjust=adjust, adjust_over="n", alpha=alpha, level=level)


def test_ranks_that_decisions_leave_open():
    """Of three measures the first and the last are told apart; at alpha itself, too."""
    value, p = np.array([[0.9], [0.7], [0.5]]), np.array([[0.06], [0.05], [0.5]])
    gaps, error = np.array([[0.2], [0.4], [0.2]]), np.full((3, 1), 0.3 / stats.norm.ppf(0.975))
    endless = np.full((3, 1), np.inf)
    tests = {"difference": gaps, "error": error, "freedom": endless, "p_value": p}
    found = rank_columns(value, tests, ranked_as(None, 0.95))
    assert_array_equal(found["rank"][:, 0], [1, 2, 3])
    assert_array_equal(found["rank_low"][:, 0], [1, 1, 2])
    assert_array_equal(found["rank_high"][:, 0], [2, 3, 3])
    assert_array_equal(found["tied_for_best"][:, 0], [True, True, False])
    assert_allclose(found["difference"][:, 0], [0, -0.2, -0.4], atol=1e-15)
    assert_allclose(found["difference_low"][1:, 0], [-0.5, -0.7])
    assert_allclose(found["difference_high"][1:, 0], [0.1, -0.1], atol=1e-15)
    assert_array_equal(found["p_adjusted"][:, 0], [np.nan, 0.06, 0.05])
    assert_array_equal(found["letters"][:, 0], ["a", "ab", "b"])


def test_a_family_of_the_comparisons_with_one_measure():
    """Bonferroni's factor is 2 of the two pairs with the last measure, 3 of all pairs."""
    value, p = np.array([[0.9], [0.7], [0.5]]), np.array([[0.5], [0.02], [0.001]])
    gaps, error = np.array([[0.2], [0.4], [0.2]]), np.full((3, 1), 0.1)
    freedom = np.full((3, 1), 5.0)
    tests = {"difference": gaps, "error": error, "freedom": freedom, "p_value": p}
    how = ranked_as("bonferroni", 0.95)
    for baseline, factor in ((2, 2), (None, 3)):
        found = rank_columns(value, tests, how, baseline)
        half = stats.t.ppf(1 - 0.025 / factor, 5) * 0.1
        wanted = {2: [factor * 0.02, factor * 0.001, np.nan], None: [np.nan, 1.0, factor * 0.02]}
        assert_allclose(found["p_adjusted"][:, 0], wanted[baseline])
        gap = {2: (0, 0.4), None: (2, -0.4)}[baseline]
        low, high = gap[1] - half, gap[1] + half
        if factor * 0.02 > 0.05:
            low, high = min(low, 0), max(high, 0)
        assert_allclose(found["difference_low"][gap[0], 0], low)
        assert_allclose(found["difference_high"][gap[0], 0], high)
        assert_array_equal(found["rank_low"][:, 0], [1, 1, 2])  # of all pairs, whatever is shown


@SEEDS
def test_letters_are_the_decisions_of_comparisons(seeds):
    """Two measures share a letter if, and only if, a test of the same family does not reject."""
    for seed in seeds:
        rng = np.random.default_rng([9, seed])
        df, adjust = random_candidates(rng), ["holm", "bonferroni", "bh", None][seed % 4]
        if rng.random() < 0.4:  # areas of 1 and 0
            df["a"], df["b"] = 9.0 * df["gold"] + df["c"] / 99, df["c"] / 99 - 9.0 * df["gold"]
        if rng.random() < 0.4:
            df.loc[::7, "c"] = np.nan
        call = df.rankeval(measures=["a", "b", "c"], missing="drop")
        asked: list[dict[str, Any]] = [{"n": 6}, {"kind": "roc"}, {"kind": "ap"}]
        for what in asked:
            compare = call.compare if "n" in what else call.compare_area
            pairs = compare(**what, adjust=adjust)
            letters = call.measure_ranks(**what, adjust=adjust).set_index("measure")["letters"]
            sides = pairs[["measure_a", "measure_b"]].itertuples(index=False)
            shared = [bool({*letters[a]} & {*letters[b]}) for a, b in sides]
            assert shared == pairs["better"].isna().tolist(), (seed, what, adjust)
