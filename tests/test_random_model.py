"""The random model: the paper's table 2, and exact fractions on small populations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc
from scipy.stats import binom, hypergeom

from rankeval_pd import random_bound_for, random_pvalue

STOCKS = {"n_candidates": 16769, "n_positive": 3123}
TABLE_2 = {
    0.1: ([2, 3, 6, 24], [1.72, 2.99, 5.59, 23.18]),
    0.001: ([4, 6, 10, 31], [3.84, 5.88, 9.40, 30.91]),
}
P_VALUES = {
    5: {2: ".048", 0: ".643", 4: "2.2e-04"},
    10: {5: ".004", 3: ".098", 4: ".025"},
    20: {8: ".006", 9: ".001", 6: ".063"},
    100: {32: "4.1e-04", 45: "3.3e-10", 39: "5.1e-07"},
}


# ------------------------------------------------------------------------------------- the paper


@pytest.mark.parametrize("p", TABLE_2)
def test_table_2_bounds(p):
    found = random_bound_for(p, [5, 10, 20, 100], **STOCKS)
    discrete, interpolated = TABLE_2[p]
    assert found["discrete"].tolist() == discrete
    assert found["interpolated"].round(2).tolist() == interpolated
    assert found["expected"].to_numpy() == pytest.approx(found["n"] * 3123 / 16769, rel=1e-14)


@pytest.mark.parametrize(("n", "tp"), [(n, tp) for n, row in P_VALUES.items() for tp in row])
def test_table_2_p_values(n, tp):
    printed = P_VALUES[n][tp]
    found = random_pvalue(tp, n, **STOCKS, strict=True)
    shown = f"{found:.1e}" if "e" in printed else f"{found:.3f}".lstrip("0")
    assert shown == printed
    assert found == pytest.approx(hypergeom.sf(tp, 16769, 3123, n), rel=1e-9)


def test_rare_positives():
    rare = {"n_candidates": 1_000_000, "n_positive": 100}
    found = random_pvalue(1, 10, **rare)
    assert found == pytest.approx(0.00099955461595902, rel=1e-13)
    assert random_pvalue(1, 10, **rare, strict=True) == pytest.approx(4.45e-7, rel=2e-3)


# -------------------------------------------------------------------------------- p-values by hand


def _tail(i: int, n: int, total: int, positive: int) -> Fraction:
    """Return P(X > i) of a random list of n."""
    counts = range(max(i + 1, 0), min(n, positive) + 1)
    ways = sum(math.comb(positive, j) * math.comb(total - positive, n - j) for j in counts)
    return Fraction(ways, math.comb(total, n))


SMALL = [(total, positive) for total in (1, 2, 7, 12) for positive in {0, 1, total // 2, total}]


@pytest.mark.parametrize(("total", "positive"), SMALL)
def test_pvalues_are_the_exact_fractions(total, positive):
    size = {"n_candidates": total, "n_positive": min(positive, total)}
    positive = size["n_positive"]
    for n in range(total + 1):
        for tp in range(-1, n + 2):
            at_least, above = _tail(tp - 1, n, total, positive), _tail(tp, n, total, positive)
            assert random_pvalue(tp, n, **size) == pytest.approx(float(at_least), rel=1e-12)
            strict = random_pvalue(tp, n, **size, strict=True)
            assert strict == pytest.approx(float(above), rel=1e-12)
            # between whole counts: the discrete tail is a step, the interpolated one a line
            for rest in (0.25, 0.5):
                x = tp + rest
                for keyword in (True, False):
                    found = random_pvalue(x, n, **size, strict=keyword)
                    assert found == pytest.approx(float(above), rel=1e-12)
                line = (1 - rest) * above + Fraction(rest) * _tail(tp + 1, n, total, positive)
                found = random_pvalue(x, n, **size, method="interpolated", strict=True)
                assert found == pytest.approx(float(line), rel=1e-12)
                found = random_pvalue(x + 1, n, **size, method="interpolated")
                assert found == pytest.approx(float(line), rel=1e-12)


@pytest.mark.parametrize("tp", [0, 1, 3, 8])
def test_interpolated_is_discrete_at_whole_counts(tp):
    for strict in (True, False):
        found = random_pvalue(tp, 8, **STOCKS, method="interpolated", strict=strict)
        assert found == random_pvalue(tp, 8, **STOCKS, strict=strict)


@pytest.mark.parametrize("x", [0.0, 0.3, 1.0, 4.7, 7.9])
def test_parametric_is_the_incomplete_beta_function(x):
    wanted = betainc(x + 1, 8 - x, 3123 / 16769)
    found = random_pvalue(x, 8, **STOCKS, method="parametric", strict=True)
    assert found == pytest.approx(wanted, rel=1e-10)
    assert random_pvalue(x + 1, 8, **STOCKS, method="parametric") == found


def test_parametric_at_whole_counts_is_the_binomial_tail():
    for tp in range(9):
        found = random_pvalue(tp, 8, prior=0.2, method="parametric")
        assert found == pytest.approx(binom.sf(tp - 1, 8, 0.2), rel=1e-10)


@pytest.mark.parametrize("tp", [0, 2, 5, 20])
def test_infinite_population_and_prior(tp):
    wanted = binom.sf(tp - 1, 20, 0.25)
    assert random_pvalue(tp, 20, prior=0.25) == pytest.approx(wanted, rel=1e-10)
    found = random_pvalue(tp, 20, n_candidates=8, n_positive=2, population="infinite")
    assert found == pytest.approx(wanted, rel=1e-10)


def test_log_is_finite_where_the_p_value_underflows():
    size = {"n_candidates": 20_000, "n_positive": 2_000}
    assert random_pvalue(2000, 2000, **size) == 0.0
    # one list of all there are
    wanted = math.log10(math.comb(20_000, 2_000))
    found = random_pvalue(2000, 2000, **size, log=True)
    assert found == pytest.approx(-wanted, rel=1e-12)
    found = random_pvalue(2000, 2000, prior=0.1, log=True)
    assert found == pytest.approx(-2000, rel=1e-12)
    assert random_pvalue(0, 5, **size, log=True) == 0.0
    assert random_pvalue(6, 5, **size, log=True) == -math.inf


def test_pvalues_broadcast_and_scalars_give_floats():
    found = random_pvalue([[1], [2]], [3, 4, 5], n_candidates=[10, 20, 30], n_positive=3)
    assert found.shape == (2, 3)
    for row, tp in enumerate([1, 2]):
        for column, (n, total) in enumerate([(3, 10), (4, 20), (5, 30)]):
            one = random_pvalue(tp, n, n_candidates=total, n_positive=3)
            assert found[row, column] == one
    assert type(random_pvalue(np.int64(1), 2, prior=0.5)) is float
    assert random_pvalue(1, 2, prior=[0.5, 0.25]) == pytest.approx([0.75, 1 - 0.75**2], rel=1e-14)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, r"n_candidates=None, n_positive=None: give both"),
        ({"n_candidates": 9}, r"n_positive=None: give both"),
        ({"n_candidates": 9, "prior": 0.5}, r"prior=0.5 stands in the place"),
        ({"prior": 1.5}, r"prior=1.5: a share of positives is a number from 0 to 1"),
        ({"n_candidates": 9, "n_positive": 10}, r"n_positive=10: neither n nor n_positive"),
        ({"n_candidates": 2, "n_positive": 1}, r"n=3, n_candidates=2.*'infinite' allows any n"),
        ({"n_candidates": 9, "n_positive": -1}, r"n_positive=-1: give counts"),
        ({"n_candidates": 9.5, "n_positive": 1}, r"n_candidates=9.5: give counts"),
        ({"prior": 0.5, "method": "exact"}, r"method='exact' is not one of 'discrete'"),
        ({"prior": 0.5, "population": "big"}, r"population='big' is not one of 'finite'"),
    ],
)
def test_errors_of_random_pvalue(keywords, message):
    with pytest.raises(ValueError, match=message):
        random_pvalue(1, 3, **keywords)


@pytest.mark.parametrize(("tp", "n"), [(np.nan, 3), (1, -3), (1, 2.5), (np.inf, 3)])
def test_impossible_counts(tp, n):
    with pytest.raises(ValueError, match=r"whole number"):
        random_pvalue(tp, n, prior=0.5)


# ---------------------------------------------------------------------------------- bounds by hand


def _check_bound(row: pd.Series, total: int, positive: int) -> None:
    n, p = int(row["n"]), Fraction(str(float(row["p"])))
    counts = range(min(n, positive) + 2)
    tails = {i: _tail(i, n, total, positive) for i in range(-1, n + 3)}
    assert row["expected"] == pytest.approx(n * positive / total, rel=1e-14)
    if p < 1:
        assert row["discrete"] == min(i for i in counts if tails[i] < p)
        # the interpolated tail is a line between neighbouring counts
        above = max(i for i in range(-1, n + 1) if tails[i] > p)
        x = above + (tails[above] - p) / (tails[above] - tails[above + 1])
        assert row["interpolated"] == pytest.approx(float(max(x, 0)), rel=1e-10, abs=1e-12)
        assert row["critical"] == min(i for i in counts if tails[i - 1] <= p)
    else:
        lowest = max(n - (total - positive), 0)
        assert (row["discrete"], row["critical"]) == (lowest, lowest)
    if row["parametric"] > 0 and positive < total and p < 1:
        x = row["parametric"]
        found = betainc(x + 1, n - x, positive / total)
        assert found == pytest.approx(float(p), rel=1e-8)
    elif p < 1:
        share = Fraction(positive, total)
        assert row["parametric"] == (n if positive == total else 0)
        assert positive == total or 1 - (1 - share) ** n <= p


@pytest.mark.parametrize(("total", "positive"), [(12, 5), (12, 1), (30, 9), (7, 0), (7, 7)])
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


def test_where_no_count_is_significant():
    found = random_bound_for(1e-3, [1, 2, 5], n_candidates=10, n_positive=2)
    assert found["critical"].tolist() == [2, 3, 3]


def test_a_tail_equal_to_p():
    # P(X >= 1) is 3/10, up to rounding
    found = random_bound_for(0.3, 1, n_candidates=10, n_positive=3).loc[0]
    assert (found["critical"], found["discrete"]) == (1, 1)
    assert found["interpolated"] == pytest.approx(0.0, abs=1e-12)


def test_every_n_is_the_same_as_chosen_n():
    size = {"n_candidates": 3000, "n_positive": 400}
    every = random_bound_for([0.05, 1e-6], **size).set_index(["p", "n"])
    chosen = random_bound_for([0.05, 1e-6], [1, 17, 500, 1234, 2999, 3000], **size)
    chosen = chosen.set_index(["p", "n"])
    every = every.loc[chosen.index]
    counts = ["discrete", "critical"]
    pd.testing.assert_frame_equal(every[counts], chosen[counts])
    pd.testing.assert_frame_equal(every, chosen, rtol=1e-8, atol=1e-9)


def test_critical_and_discrete_keep_their_promise():
    found = random_bound_for(0.05, range(1, 301), n_candidates=5102, n_positive=566)
    n, c, d = (found[x].to_numpy() for x in ("n", "critical", "discrete"))
    law = {"M": 5102, "n": 566, "N": n}
    assert (hypergeom.sf(c - 1, **law) <= 0.05).all()
    assert (hypergeom.sf(c - 2, **law) > 0.05).all()
    assert (hypergeom.sf(d, **law) < 0.05).all()
    assert (hypergeom.sf(d - 1, **law) >= 0.05).all()


def test_infinite_population():
    df = pd.DataFrame({"gold": [True, False, False, False]})
    found = df.rankeval.random_bound(0.05, [3, 50], population="infinite")
    assert found["n"].tolist() == [3, 50]
    pd.testing.assert_frame_equal(found, random_bound_for(0.05, [3, 50], prior=0.25))
    for _, row in found.iterrows():
        c = row["critical"]
        assert binom.sf(c - 1, row["n"], 0.25) <= 0.05 < binom.sf(c - 2, row["n"], 0.25)
    with pytest.raises(ValueError, match=r"n=50 is above the number of candidates, 4"):
        df.rankeval.random_bound(0.05, 50)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n": 5}, r"give both numbers"),
        ({"prior": 0.5}, r"n=None: an infinite population has no last n"),
        ({"n": 5, "prior": 2.0}, r"prior=2.0 is outside"),
        ({"n": 5, "prior": 0.5, "n_positive": 2}, r"prior=0.5 stands in the place"),
        ({"n": 5, "n_candidates": 3, "n_positive": 2}, r"n=5 is above .* 3"),
        ({"n": 5, "n_candidates": 3, "n_positive": 4}, r"n_positive=4 of n_candidates=3"),
        ({"n": 5, "n_candidates": 3.5, "n_positive": 4}, r"n_candidates=3.5: give a whole"),
        ({"n": 1, "n_candidates": 3, "n_positive": 1, "population": "all"}, r"population='all'"),
    ],
)
def test_errors_of_random_bound_for(keywords, message):
    with pytest.raises(ValueError, match=message):
        random_bound_for(0.05, **keywords)


# --------------------------------------------------------------------------------------- the test


def test_random_test_counted_by_hand(tied):
    found = tied.rankeval(key="id", measures=["a", "b", "c"]).random_test()
    rows = tied.to_dict("records")
    total, positive = len(rows), int(tied["gold"].sum())
    wanted = [(m, n) for m in "abc" for n in range(1, total + 1)]
    assert list(zip(found["measure"], found["n"], strict=True)) == wanted
    for _, row in found.iterrows():
        ranked = sorted(rows, key=lambda r: (-r[row["measure"]], r["id"]))
        n, tp = row["n"], sum(r["gold"] for r in ranked[: row["n"]])
        assert row["tp"] == tp
        assert row["expected"] == pytest.approx(n * positive / total, rel=1e-14)
        assert row["lift"] == pytest.approx(tp * total / (n * positive), rel=1e-14)
        at_least, above = _tail(tp - 1, n, total, positive), _tail(tp, n, total, positive)
        assert row["p_value"] == pytest.approx(float(at_least), rel=1e-11)
        assert row["p_strict"] == pytest.approx(float(above), rel=1e-11)
        assert row["p_mid"] == pytest.approx(float((at_least + above) / 2), rel=1e-11)
        log = math.log10(at_least)
        assert row["log10_p"] == pytest.approx(log, rel=1e-11, abs=1e-12)
    assert found["p_adjusted"].isna().all()


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_random_test_is_random_pvalue_at_its_own_tp(tied, population):
    found = tied.rankeval(measures="b").random_test(population=population)
    size = {"n_candidates": len(tied), "n_positive": int(tied["gold"].sum())}
    size["population"] = population
    tp, n = found["tp"], found["n"]
    assert found["p_value"].to_numpy() == pytest.approx(random_pvalue(tp, n, **size), rel=1e-13)
    strict = random_pvalue(tp, n, **size, strict=True)
    assert found["p_strict"].to_numpy() == pytest.approx(strict, rel=1e-13)
    log = random_pvalue(tp, n, **size, log=True)
    assert found["log10_p"].to_numpy() == pytest.approx(log, rel=1e-13, abs=1e-15)


def test_reaching_the_critical_bound_is_being_significant(tied):
    test = tied.rankeval(measures=["a", "b", "c"]).random_test().set_index(["measure", "n"])
    bound = tied.rankeval.random_bound(0.5).set_index("n")
    assert {True, False} == set(test["p_value"] <= 0.5)
    critical = bound["critical"].loc[test.index.get_level_values("n")].to_numpy()
    assert ((test["tp"] >= critical) == (test["p_value"] <= 0.5)).all()


def test_krenn_against_chance(krenn):
    roles = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq", "freq"]}
    found = krenn.rankeval(**roles).random_test([100, 500, 2000])
    assert found["expected"].to_numpy() == pytest.approx(found["n"] * 566 / 5102, rel=1e-14)
    wanted = hypergeom.sf(found["tp"] - 1, 5102, 566, found["n"])
    assert found["p_value"].to_numpy() == pytest.approx(wanted, rel=1e-8)
    assert (found["p_value"] < 1e-3).all()
