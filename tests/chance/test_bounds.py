"""Bounds for each n, and for all n together, and crossovers: fractions, all orders, SciPy."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc
from scipy.stats import binom, hypergeom

from rankeval_pd import RankevalWarning, random_bound, random_bound_for, random_pvalue
from tests.chance.conftest import tail
from tests.conftest import candidates

# ------------------------------------------------------------------------------ bounds for each n


def _check_bound(row: pd.Series, total: int, positive: int) -> None:
    n, p = int(row["n"]), Fraction(str(float(row["p"])))
    tails = {i: tail(i, n, total, positive) for i in range(-1, n + 3)}
    assert row["expected"] == pytest.approx(n * positive / total, rel=1e-14)
    if p == 1:
        lowest = max(n - (total - positive), 0)
        assert (row["discrete"], row["critical"]) == (lowest, lowest)
        return
    counts = range(min(n, positive) + 2)
    assert row["discrete"] == min(i for i in counts if tails[i] < p)
    assert row["critical"] == min(i for i in counts if tails[i - 1] <= p)
    # the interpolated tail is a line between neighbouring counts
    above = max(i for i in range(-1, n + 1) if tails[i] > p)
    x = above + (tails[above] - p) / (tails[above] - tails[above + 1])
    assert row["interpolated"] == pytest.approx(float(max(x, 0)), rel=1e-10, abs=1e-12)
    if (x := row["parametric"]) > 0 and positive < total:
        assert betainc(x + 1, n - x, positive / total) == pytest.approx(float(p), rel=1e-8)


@pytest.mark.parametrize(("total", "positive"), [(30, 9), (7, 0), (7, 7), (12, 1), (12, 5)])
def test_bounds_are_the_exact_ones(total, positive):
    levels = [0.5, 0.05, 0.3, 1e-3, 1]
    gold = pd.DataFrame({"gold": np.arange(total) < positive})
    found = gold.rankeval.random_bound(levels)
    asked = [(p, n) for p in levels for n in range(1, total + 1)]
    assert list(zip(found["p"], found["n"], strict=True)) == asked
    for _, row in found.iterrows():
        _check_bound(row, total, positive)
    published = random_bound_for(levels, n_candidates=total, n_positive=positive)
    pd.testing.assert_frame_equal(found, published)


def test_a_tail_equal_to_p_is_critical_and_no_count_may_be():
    # P(X >= 1) is 3/10, up to rounding
    found = random_bound_for(0.3, 1, n_candidates=10, n_positive=3).loc[0]
    assert (found["critical"], found["discrete"]) == (1, 1)
    assert found["interpolated"] == pytest.approx(0.0, abs=1e-12)
    none = random_bound_for(1e-3, [1, 2, 5], n_candidates=10, n_positive=2)
    assert none["critical"].tolist() == [2, 3, 3]


def test_an_infinite_population_has_the_bounds_of_its_prior():
    df = pd.DataFrame({"gold": [True, False, False, False]})
    found = df.rankeval.random_bound(0.05, [3, 50], population="infinite")
    pd.testing.assert_frame_equal(found, random_bound_for(0.05, [3, 50], prior=0.25))
    n, c = found["n"], found["critical"]
    assert (binom.sf(c - 1, n, 0.25) <= 0.05).all()
    assert (binom.sf(c - 2, n, 0.25) > 0.05).all()
    with pytest.raises(ValueError, match=r"n=50 exceeds the number of candidates, 4"):
        df.rankeval.random_bound(0.05, 50)


def test_errors_of_bounds():
    candidates = {"n_candidates": 3, "n_positive": 2}
    for keywords, message in (
        ({"n": 5}, r"pass both numbers"),
        ({"prior": 0.5}, r"n=None needs a finite number of candidates"),
        ({"n": 5, "prior": 2.0}, r"prior=2.0: pass numbers from 0 to 1"),
        ({"n": 5, "prior": 0.5, "n_positive": 2}, r"prior=0.5: pass both numbers"),
        ({"n": 5, **candidates}, r"n=5 exceeds .* 3"),
        ({"n": 5, **candidates, "n_positive": 4}, r"n_positive=4 exceeds n_candidates=3"),
        ({"n": 5, **candidates, "n_candidates": 3.5}, r"n_candidates=3.5 is of type float"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            random_bound_for(0.05, **keywords)


# ----------------------------------------------------------------- all n together


def _reaches(total: int, positive: int, bound: dict[int, float]) -> Fraction:
    """Return the share of all orders that have as many positives as the bound at some n."""
    orders = list(itertools.combinations(range(total), positive))
    hits = sum(any(bisect_left(order, n) >= c for n, c in bound.items()) for order in orders)
    return Fraction(hits, len(orders))


@pytest.mark.parametrize(
    ("total", "positive", "n"),
    [(12, 5, None), (9, 8, None), (10, 1, range(2, 8)), (9, 4, [3, 9, 5])],
)
def test_bounds_for_all_n_together_counted_by_hand(total, positive, n):
    df = pd.DataFrame({"gold": np.arange(total) < positive})
    levels, sizes = [0.05, 0.3, 0.9], list(n or range(1, total + 1))
    found = df.rankeval.random_bound(levels, n, simultaneous=True)
    asked = [(alpha, size) for alpha in levels for size in sizes]
    assert list(zip(found["p"], found["n"], strict=True)) == asked
    for alpha, rows in found.groupby("p"):
        counts = dict(zip(rows["n"], rows["critical"], strict=True))
        tails = [float(tail(c - 1, m, total, positive)) for m, c in counts.items()]
        assert rows["local_level"].to_numpy() == pytest.approx(max(tails), rel=1e-12)
        assert _reaches(total, positive, counts) <= Fraction(str(alpha))
        # one level for all n, and the next level is too much
        below = {m: tail(c - 2, m, total, positive) for m, c in counts.items() if c > 0}
        level = min(below.values(), default=1)
        if level < 1:
            wider = {m: c - (below.get(m) == level) for m, c in counts.items()}
            assert _reaches(total, positive, wider) > Fraction(str(alpha))
        critical = df.rankeval.random_bound(max(*tails, 1e-9), sizes)["critical"]
        assert (rows["critical"].to_numpy() == critical).all() or max(tails) == 0


@pytest.mark.full
def test_bounds_for_all_n_of_5102_candidates():
    df = pd.DataFrame({"gold": np.arange(5102) < 566})
    for n, level in ((None, 0.00157), (range(1, 2001), 0.0034), (range(100, 2001), 0.00483)):
        found = df.rankeval.random_bound(0.05, n, simultaneous=True)
        assert found["local_level"].iloc[0] == pytest.approx(level, rel=0.01)
        critical = df.rankeval.random_bound(found["local_level"].iloc[0], n)["critical"]
        assert (found["critical"] == critical).all()


# ------------------------------------------------------------------------------------- crossovers


def test_crossovers_counted_by_hand():
    df, total = candidates(1, 17), 17
    roles, levels = {"key": "id", "measures": ["a", "b", "c"]}, [0.3, 0.05, 0.9]
    tp = df.rankeval(**roles).nbest_precision().set_index(["measure", "n"])["tp"]
    every = df.rankeval.random_bound(levels).set_index(["p", "n"])
    for bound in ("critical", "discrete", "interpolated", "parametric"):
        found = df.rankeval(**roles).crossovers(levels, bound=bound)
        wanted = []
        for measure, p in itertools.product("abc", levels):
            above = [tp[measure, n] >= every[bound][p, n] for n in range(1, total)]
            for reached, run in itertools.groupby(range(1, total), lambda n, a=above: a[n - 1]):
                run = list(run)
                if reached and len(run) > 1:
                    wanted.append((measure, p, run[0], run[-1], tp[measure, run[0]]))
        assert list(found.itertuples(index=False, name=None)) == wanted
        assert list(found.columns) == ["measure", "p", "n_first", "n_last", "tp_first"]
        assert wanted


def test_a_measure_that_never_drops_again():
    df = pd.DataFrame({"a": np.arange(10, 0, -1) / 2, "gold": [True] * 2 + [False] * 8})
    found = df.rankeval.crossovers(1.0, bound="discrete")
    assert found.to_numpy().tolist() == [["a", 1.0, 1, 9, 1]]
    assert df.rankeval.crossovers(1e-9).empty
    assert df.head(1).rankeval.crossovers(1.0).empty


# --------------------------------------------------------------------------- distribution, figure 1


def test_figure_1():
    df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    found = df.rankeval.random_bound(0.5, 20).loc[0]
    printed = (found["discrete"], round(found["interpolated"], 4), round(found["parametric"], 4))
    assert printed == (4, 3.4254, 3.3961)
    table = df.rankeval.random_cdf(20).set_index("tp")
    for kind in ("interpolated", "parametric"):  # each meets 1 - p at its bound
        assert np.interp(found[kind], table.index, table[kind]) == pytest.approx(0.5, abs=1e-4)
    assert table["discrete"][3.0] < 0.5 < table["discrete"][4.0]


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_distribution_functions(population):
    df = pd.DataFrame({"gold": np.arange(11) < 4})
    found = df.rankeval.random_cdf([3, 8], population=population)
    size = {"n_candidates": 11, "n_positive": 4, "population": population}
    for n, rows in found.groupby("n"):
        tp = rows["tp"].to_numpy()
        assert tp[0] == -1
        assert tp[-1] == min(n, 8)  # of 8, four standard deviations are not all
        assert np.diff(tp) == pytest.approx(1 / 20)
        for kind in ("discrete", "interpolated", "parametric"):
            above = tp + 1 if kind != "discrete" else np.floor(tp + 1e-9) + 1
            tail = random_pvalue(above, n, **size, method=kind)
            np.testing.assert_allclose(rows[kind], 1 - tail, rtol=1e-13, atol=1e-15)
        law = hypergeom(11, 4, n) if population == "finite" else binom(n, 4 / 11)
        np.testing.assert_allclose(
            rows["discrete"], law.cdf(np.floor(tp + 1e-9)), rtol=1e-9, atol=1e-12
        )


# ---------------------------------------------------------------------------- groups and extremes


@pytest.mark.filterwarnings("ignore:.* groups have fewer than n:rankeval_pd.RankevalWarning")
def test_pools_of_many_sizes_count_what_each_measure_scores(ragged):
    frame = ragged.reset_index(drop=True)
    frame.loc[::7, "a"] = np.nan
    asked = {"by": "query", "missing": "drop", "n": [2, 5]}
    with pytest.warns(RankevalWarning, match="evaluates 'a' without"):
        found = random_bound(frame, 0.05, measures="a", **asked)
    expected = random_bound(frame.dropna(subset=["a"]), 0.05, [2, 5], by="query")
    pd.testing.assert_frame_equal(found, expected)
    with (
        pytest.warns(RankevalWarning, match="evaluates 'a' without"),
        pytest.raises(ValueError, match="the measures score different candidates"),
    ):
        random_bound(frame, 0.05, measures=["a", "b"], **asked)


def test_bounds_of_many_endless_supplies_are_those_of_each(ragged):
    """Of many n, the bounds are walked from one n to the next."""
    levels = [0.5, 1e-12, 1.0]
    asked = {"by": "query", "population": "infinite"}
    found = random_bound(ragged, levels, [1, 15, 60], **asked)
    every = random_bound(ragged, levels, range(1, 61), **asked)
    walked = every[every["n"].isin([1, 15, 60])].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, walked, check_exact=False, rtol=1e-8, atol=1e-9)
    prior = ragged.loc[ragged["query"] == "q2", "gold"].mean()
    alone = random_bound_for(levels, [1, 15, 60], prior=prior)
    part = found.loc[found["query"] == "q2", alone.columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, alone)


@pytest.mark.parametrize("least", [1e-306, 5e-324])
def test_levels_down_to_the_last_number(df, least):
    bound = df.rankeval.random_bound(least)
    together = df.rankeval.random_bound(least, simultaneous=True)
    most = np.minimum(bound["n"], df["gold"].sum())
    assert (bound["critical"] == most + 1).all()
    assert not bound["attainable"].any()
    assert not together["attainable"].any()  # all forty in one order: 1.6e-11 at least
    data = pd.DataFrame({"gold": [True] * 300 + [False] * 300}).rankeval
    every, some = data.random_bound(least).set_index("n"), data.random_bound(least, n=[200, 290])
    assert every.loc[[200, 290], "critical"].tolist() == some["critical"].tolist()
