"""The random model: exact fractions on small populations, SciPy, counting all orders."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import betainc
from scipy.stats import binom, hypergeom

from rankeval_pd import random_bound_for, random_pvalue, random_pvalue_mean

STOCKS = {"n_candidates": 16769, "n_positive": 3123}


# ------------------------------------------------------------------------------------- the paper


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


SMALL = [
    pytest.param(total, positive, marks=pytest.mark.full if total > 7 else ())
    for total in (1, 2, 7, 12)
    for positive in sorted({0, 1, total // 2, total})
]


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
        ({}, r"n_candidates=None, n_positive=None: pass both"),
        ({"n_candidates": 9}, r"n_positive=None: pass both"),
        ({"n_candidates": 9, "prior": 0.5}, r"prior=0.5 replaces"),
        ({"prior": 1.5}, r"prior=1.5: pass the share of positives, a number from 0 to 1"),
        ({"n_candidates": 9, "n_positive": 10}, r"n_positive=10: n and n_positive"),
        (
            {"n_candidates": 2, "n_positive": 1},
            r"n=3, n_candidates=2.*To allow any n, pass population='infinite'",
        ),
        ({"n_candidates": 9, "n_positive": -1}, r"n_positive=-1: pass counts"),
        ({"n_candidates": 9.5, "n_positive": 1}, r"n_candidates=9.5: pass counts"),
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
    with pytest.raises(ValueError, match=r"n=50 exceeds the number of candidates, 4"):
        df.rankeval.random_bound(0.05, 50)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n": 5}, r"pass both numbers"),
        ({"prior": 0.5}, r"n=None needs a finite number of candidates"),
        ({"n": 5, "prior": 2.0}, r"prior=2.0 is outside"),
        ({"n": 5, "prior": 0.5, "n_positive": 2}, r"prior=0.5 replaces"),
        ({"n": 5, "n_candidates": 3, "n_positive": 2}, r"n=5 exceeds .* 3"),
        ({"n": 5, "n_candidates": 3, "n_positive": 4}, r"n_positive=4 of n_candidates=3"),
        ({"n": 5, "n_candidates": 3.5, "n_positive": 4}, r"n_candidates=3.5: pass a whole"),
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
    assert "p_adjusted" not in found


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


# ------------------------------------------------------------------- all n together: the envelope


def _reaches(total: int, positive: int, bound: dict[int, float]) -> Fraction:
    """Return the share of all orders that have as many positives as the bound at some n."""
    orders = list(itertools.combinations(range(total), positive))
    hits = sum(any(bisect_left(order, n) >= c for n, c in bound.items()) for order in orders)
    return Fraction(hits, len(orders))


@pytest.mark.parametrize(("total", "positive"), [(12, 5), (10, 1), (9, 8)])
@pytest.mark.parametrize("n", [None, [3, 9, 5], range(2, 8)])
def test_envelope_counted_by_hand(total, positive, n):
    levels = [0.05, 0.3, 0.9]
    df = pd.DataFrame({"gold": np.arange(total) < positive})
    found = df.rankeval.random_envelope(levels, n)
    sizes = list(n or range(1, total + 1))
    asked = [(alpha, size) for alpha in levels for size in sizes]
    assert list(zip(found["alpha"], found["n"], strict=True)) == asked
    for alpha, rows in found.groupby("alpha"):
        counts = dict(zip(rows["n"], rows["envelope"], strict=True))
        tails = [float(_tail(c - 1, m, total, positive)) for m, c in counts.items()]
        assert rows["local_level"].to_numpy() == pytest.approx(max(tails), rel=1e-12)
        assert _reaches(total, positive, counts) <= Fraction(str(alpha))
        # one level for all n, and the next level is too much
        below = {m: _tail(c - 2, m, total, positive) for m, c in counts.items() if c > 0}
        level = min(below.values(), default=1)
        if level < 1:
            wider = {m: c - (below.get(m) == level) for m, c in counts.items()}
            assert _reaches(total, positive, wider) > Fraction(str(alpha))
        critical = df.rankeval.random_bound(max(*tails, 1e-9), sizes)["critical"]
        assert (rows["envelope"].to_numpy() == critical).all() or max(tails) == 0


@pytest.mark.full
def test_envelope_of_5102_candidates():
    df = pd.DataFrame({"gold": np.arange(5102) < 566})
    for n, level in ((None, 0.00157), (range(1, 2001), 0.0034), (range(100, 2001), 0.00483)):
        found = df.rankeval.random_envelope(0.05, n)
        assert found["local_level"].iloc[0] == pytest.approx(level, rel=0.01)
        critical = df.rankeval.random_bound(found["local_level"].iloc[0], n)["critical"]
        assert (found["envelope"] == critical).all()


def test_envelope_of_groups_and_of_a_dataset(ragged):
    found = ragged.rankeval(by="query").random_envelope([0.2, 0.05], [2, 6, 9])
    parts = []
    for query, part in ragged.groupby("query"):
        fits = [n for n in (2, 6, 9) if n <= len(part)]
        parts.append(part.rankeval(by="query").random_envelope([0.2, 0.05], fits))
        assert (parts[-1]["query"] == query).all()
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    gold = np.arange(24).reshape(2, 12) % 5 == 0
    ds = xr.Dataset({"gold": (("query", "candidate"), gold)})
    result = ds.rankeval.random_envelope([0.2, 0.05], [2, 6])
    assert dict(result["envelope"].sizes) == {"query": 2, "alpha": 2, "n": 2}
    for query in range(2):
        one = pd.DataFrame({"gold": gold[query]}).rankeval.random_envelope([0.2, 0.05], [2, 6])
        part = result.isel(query=query).to_dataframe().reset_index()
        pd.testing.assert_frame_equal(part[one.columns], one)


@pytest.mark.parametrize("alpha", [0, 1, 5])
def test_levels_of_the_envelope(alpha):
    with pytest.raises(ValueError, match=rf"alpha={alpha} is outside \(0, 1\)"):
        pd.DataFrame({"gold": [True, False]}).rankeval.random_envelope(alpha)


def test_adjusted_for_all_n_by_all_orders(tied):
    small = tied.iloc[:12]
    found = small.rankeval(key="id", measures=["a", "b"]).random_test([2, 4, 7], adjust="envelope")
    total, positive = len(small), int(small["gold"].sum())
    orders = list(itertools.combinations(range(total), positive))
    tails = {(n, i): _tail(i - 1, n, total, positive) for n in (2, 4, 7) for i in range(n + 1)}
    smallest = [min(tails[n, bisect_left(order, n)] for n in (2, 4, 7)) for order in orders]
    for _, row in found.iterrows():
        p = tails[row["n"], row["tp"]]
        wanted = sum(s <= p for s in smallest) / len(smallest)
        assert row["p_adjusted"] == pytest.approx(wanted, rel=1e-12)


def test_adjusted_p_values_and_the_envelope_agree(frame):
    found = frame.rankeval.random_test(range(1, 30), adjust="envelope")
    for alpha in (0.05, 0.4, 0.8):
        counts = frame.rankeval.random_envelope(alpha, range(1, 30)).set_index("n")["envelope"]
        inside = found["tp"].to_numpy() >= counts.loc[found["n"]].to_numpy()
        assert (inside == (found["p_adjusted"] <= alpha)).all()
    assert (found["p_adjusted"] >= found["p_value"]).all()
    alone = frame.rankeval.random_test(7, adjust="envelope")
    assert alone["p_adjusted"].to_numpy() == pytest.approx(alone["p_value"], rel=1e-12)


def test_adjusted_in_an_endless_population(frame):
    n = [1, 2, 4]
    found = frame.rankeval(measures="a").random_test(n, adjust="envelope", population="infinite")
    z = frame["gold"].mean()
    p = {(m, i): binom.sf(i - 1, m, z) for m in n for i in range(m + 1)}
    for _, row in found.iterrows():
        limit = row["p_value"] * (1 + 1e-9)
        wanted = 0.0
        for labels in itertools.product([0, 1], repeat=4):
            if min(p[m, sum(labels[:m])] for m in n) <= limit:
                wanted += z ** sum(labels) * (1 - z) ** (4 - sum(labels))
        assert row["p_adjusted"] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_adjusted_where_measures_differ_in_candidates(frame):
    holed = frame.assign(b=frame["b"].where(frame["b"] < 3))
    roles = {"missing": "drop", "measures": ["a", "b"]}
    found = holed.rankeval(**roles).random_test(adjust="envelope").set_index("measure")
    kept = holed.dropna(subset="b")
    wanted = kept.rankeval(measures="b").random_test(adjust="envelope")
    assert len(wanted) < 30
    np.testing.assert_allclose(found.loc["b", "p_adjusted"], wanted["p_adjusted"], rtol=1e-12)
    np.testing.assert_allclose(found.loc["b", "p_value"], wanted["p_value"], rtol=1e-12)


def test_krenn_simultaneously(krenn):
    roles = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq", "freq"]}
    found = krenn.rankeval(**roles).random_test(range(100, 2001, 20), adjust="envelope")
    smallest = found.groupby("measure")[["p_value", "p_adjusted"]].min()
    assert (smallest["p_adjusted"] < 1e-15).all()
    assert smallest.loc["log.like", "p_value"] < 1e-110
    ratio = smallest["p_adjusted"] / smallest["p_value"]
    assert ratio.between(10, 96).all()  # more than some independent tests, less than 96


# ------------------------------------------------------------------------------- queries together


def test_reviewers_of_the_hypertext_papers():
    """Table 3 tests the mean of 15 reviewers as one list of 10: .079."""
    papers = {"n_candidates": 117, "n_positive": 47, "n_queries": 15}
    assert random_pvalue_mean(85 / 15, 10, **papers) == pytest.approx(1.5935e-5, rel=5e-5)
    assert random_pvalue_mean(86 / 15, 10, **papers) == pytest.approx(7.4383e-6, rel=5e-5)
    assert random_pvalue_mean(5.7, 10, **papers) == random_pvalue_mean(86 / 15, 10, **papers)
    found = random_pvalue_mean(5.7, 10, **papers, decimals=1)
    assert found == random_pvalue_mean(85 / 15, 10, **papers)
    law = [Fraction(1)]
    for _ in range(15):
        one = [_tail(i - 1, 10, 117, 47) - _tail(i, 10, 117, 47) for i in range(11)]
        law = [
            sum(law[i - j] * p for j, p in enumerate(one) if 0 <= i - j < len(law))
            for i in range(len(law) + 10)
        ]
    assert found == pytest.approx(float(sum(law[85:])), rel=1e-13)


def test_queries_of_their_own_sizes():
    sizes = {"n_candidates": [5, 8, 6], "n_positive": [2, 3, 0], "n_queries": 3}
    found = random_pvalue_mean([0, 2 / 3, 1, 5 / 3, 2], [2, 3, 1], **sizes)
    tails = []
    for s in (0, 2, 3, 5, 6):
        tails.append(
            sum(
                (_tail(i - 1, 2, 5, 2) - _tail(i, 2, 5, 2)) * _tail(s - i - 1, 3, 8, 3)
                for i in range(3)
            )
        )
    assert found == pytest.approx([float(p) for p in tails], rel=1e-13)
    one = random_pvalue_mean(1.0, [2, 3, 1], **sizes)
    assert type(one) is float
    assert one == found[2]


def test_mean_of_one_query_is_its_count():
    size = {"n_candidates": 200, "n_positive": 40}
    for tp in (0, 3, 9, 20, 21):
        found = random_pvalue_mean(tp, 20, **size, n_queries=1)
        assert found == pytest.approx(random_pvalue(tp, 20, **size), rel=1e-12)
    # a mean that is no whole number of counts: the next above
    assert random_pvalue_mean(3.2, 20, **size, n_queries=1) == random_pvalue_mean(
        4, 20, **size, n_queries=1
    )
    assert random_pvalue_mean(3 + 1e-10, 20, **size, n_queries=1) == random_pvalue_mean(
        3, 20, **size, n_queries=1
    )


@pytest.mark.parametrize(
    ("mean", "queries", "decimals", "smallest"),
    [(5.7, 15, 1, 85), (5.7, 15, 2, None), (0.33, 3, 2, 1), (2, 4, 0, 6), (5.65, 20, 2, 113)],
)
def test_printed_means(mean, queries, decimals, smallest):
    size = {"n_candidates": 117, "n_positive": 47, "n_queries": queries}
    if smallest is None:
        with pytest.raises(
            ValueError, match=r"n_queries=15 .*no counts .*nearest means are 5.66667 and"
        ):
            random_pvalue_mean(mean, 10, **size, decimals=decimals)
    else:
        found = random_pvalue_mean(mean, 10, **size, decimals=decimals)
        assert found == random_pvalue_mean(smallest / queries, 10, **size)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n_queries": 0}, r"n_queries=0: a mean needs at least one query"),
        ({"n_queries": 2.0}, r"n_queries=2.0: pass a whole number"),
        ({"n_queries": 3, "n": [5, 6]}, r"n has 2 values for n_queries=3. Pass one value"),
        ({"n_queries": 3, "n_positive": 200}, r"n_positive=\[200, 200, 200\]: n and n_positive"),
        ({"n_queries": 3, "decimals": 0}, r"mean_tp=1.5 has more decimal places than decimals=0"),
        ({"n_queries": 3, "decimals": -1}, r"decimals=-1: pass a whole number"),
    ],
)
def test_errors_of_random_pvalue_mean(keywords, message):
    given = {"n": 10, "n_candidates": 117, "n_positive": 47, **keywords}
    with pytest.raises(ValueError, match=message):
        random_pvalue_mean(1.5, **given)


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_groups_combined_by_hand(ragged, population):
    roles = {"by": "query", "measures": ["a", "c"]}
    each = ragged.rankeval(**roles).random_test([1, 4, 9], population=population)
    found = ragged.rankeval(**roles).random_test([1, 4, 9], combine=True, population=population)
    assert list(zip(found["measure"], found["n"], strict=True)) == [
        (m, n) for m in "ac" for n in (1, 4, 9)
    ]
    expected = [c for c in each.columns if c != "query"]
    assert list(found.columns) == [*expected, "n_groups", "n_left_out"]
    sizes = ragged.groupby("query")["gold"].agg(["size", "sum"])
    for _, row in found.iterrows():
        rows = each[(each["measure"] == row["measure"]) & (each["n"] == row["n"])]
        assert row["tp"] == rows["tp"].sum()
        assert row["expected"] == pytest.approx(rows["expected"].sum(), rel=1e-14)
        law = np.array([1.0])
        for total, positive in sizes.loc[rows["query"]].itertuples(index=False):
            counts = np.arange(row["n"] + 1)
            one = (
                hypergeom.pmf(counts, total, positive, row["n"])
                if population == "finite"
                else binom.pmf(counts, row["n"], positive / total)
            )
            law = np.convolve(law, one)
        tp = row["tp"]
        assert row["p_value"] == pytest.approx(law[tp:].sum(), rel=1e-10)
        assert row["p_strict"] == pytest.approx(law[tp + 1 :].sum(), rel=1e-10)
        assert row["p_mid"] == pytest.approx(law[tp:].sum() - law[tp] / 2, rel=1e-10)
        assert row["log10_p"] == pytest.approx(math.log10(law[tp:].sum()), rel=1e-9, abs=1e-12)
        assert row["lift"] == pytest.approx(tp / rows["expected"].sum(), rel=1e-14)
    assert "p_adjusted" not in found


def test_all_batches_of_a_dataset_combined():
    rng = np.random.default_rng(5)
    shape = (2, 3, 8)
    ds = xr.Dataset(
        {
            "a": (("year", "query", "candidate"), rng.normal(size=shape)),
            "gold": (("year", "query", "candidate"), rng.random(shape) < 0.4),
        }
    )
    found = ds.rankeval.random_test([2, 5], combine=True)
    assert found["p_value"].dims == ("measure", "n")
    df = ds.to_dataframe().reset_index()
    wanted = df.rankeval(by=["year", "query"], measures="a").random_test([2, 5], combine=True)
    # labels of candidates recur in the frame; without ties the order is the same
    part = found.to_dataframe().reset_index()
    pd.testing.assert_frame_equal(part[wanted.columns], wanted)
    lazy = ds.chunk({"year": 1}).rankeval.random_test([2, 5], combine=True)
    assert lazy["p_value"].chunks is not None
    xr.testing.assert_allclose(lazy.compute(), found)


def test_no_group_gives_no_row(ragged):
    found = ragged.head(0).rankeval(by="query").random_test(combine=True)
    assert found.empty
    whole = ragged.rankeval(by="query").random_test([1], combine=True)
    assert list(found.columns) == list(whole.columns)


@pytest.mark.parametrize("n", [None, [500], [900], range(880, 1001, 20)])
def test_the_worst_ranking_is_not_significant(n):
    df = pd.DataFrame({"a": np.arange(1000) / 2, "gold": np.arange(1000) < 150})
    found = df.rankeval.random_test(n, adjust="envelope")
    assert (found["p_adjusted"] == 1).all()


def test_a_combination_needs_groups(frame):
    for data in (frame, xr.Dataset.from_dataframe(frame)):
        with pytest.raises(ValueError, match=r"combine=True combine groups, but there are none"):
            data.rankeval.random_test(5, combine=True)
    with pytest.raises(ValueError, match=r"combine=True with adjust='envelope'"):
        frame.rankeval(by="b").random_test(5, combine=True, adjust="envelope")
    with pytest.raises(ValueError, match=r"adjust='holm' is not one of None, 'envelope'"):
        frame.rankeval.random_test(5, adjust="holm")


# --------------------------------------------------------------------------------------- crossovers


@pytest.mark.parametrize("bound", ["critical", "discrete", "interpolated", "parametric"])
@pytest.mark.parametrize("contiguous", [1, 2, 4])
def test_crossovers_counted_by_hand(tied, bound, contiguous):
    roles = {"key": "id", "measures": ["a", "b", "c"]}
    levels, total = [0.3, 0.05, 0.9], len(tied)
    found = tied.rankeval(**roles).crossovers(levels, contiguous=contiguous, bound=bound)
    precision = tied.rankeval(**roles).nbest_precision().set_index(["measure", "n"])
    bounds = tied.rankeval.random_bound(levels).set_index(["p", "n"])[bound]
    wanted = []
    for measure, p in itertools.product("abc", levels):
        above = [precision["tp"][measure, n] >= bounds[p, n] for n in range(1, total)]
        for reached, run in itertools.groupby(range(1, total), lambda n, a=above: a[n - 1]):
            run = list(run)
            if reached and len(run) >= contiguous:
                wanted.append((measure, p, run[0], run[-1], precision["tp"][measure, run[0]]))
    assert list(found.itertuples(index=False, name=None)) == wanted
    assert list(found.columns) == ["measure", "p", "n_first", "n_last", "tp_first"]
    assert wanted


def test_a_measure_that_never_drops_again():
    df = pd.DataFrame({"a": np.arange(10, 0, -1) / 2, "gold": [True] * 2 + [False] * 8})
    found = df.rankeval.crossovers(1.0, bound="discrete")
    assert found.to_numpy().tolist() == [["a", 1.0, 1, 9, 1]]
    assert df.rankeval.crossovers(1e-9).empty
    assert df.head(1).rankeval.crossovers(1.0).empty


def test_crossovers_of_groups_and_of_a_dataset(ragged):
    found = ragged.rankeval(by="query").crossovers([0.5, 0.2], contiguous=1)
    parts = [
        part.rankeval(by="query").crossovers([0.5, 0.2], contiguous=1)
        for _, part in ragged.groupby("query")
    ]
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    data = xr.concat(
        [
            xr.Dataset.from_dataframe(
                part.drop(columns="query").head(5).reset_index(drop=True).rename_axis("candidate")
            )
            for _, part in ragged.groupby("query")
        ],
        pd.Index(["q1", "q2", "q3"], name="query"),
    )
    result = data.rankeval.crossovers(0.9, contiguous=1)
    assert set(result.dims) == {"row"}
    frame = data.to_dataframe().reset_index().set_index("candidate")
    wanted = frame.rankeval(by="query").crossovers(0.9, contiguous=1)
    assert len(wanted)
    columns = result.to_dataframe()[list(wanted.columns)]
    pd.testing.assert_frame_equal(columns, wanted.rename_axis("row"), check_dtype=False)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"contiguous": 0}, r"contiguous=0: pass a whole number of at"),
        ({"bound": "exact"}, r"bound='exact' is not one of 'critical', 'discrete'"),
        ({"p": 0}, r"p=0 is outside \(0, 1\]"),
    ],
)
def test_errors_of_crossovers(frame, keywords, message):
    with pytest.raises(ValueError, match=message):
        frame.rankeval.crossovers(**keywords)


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
            tail = random_pvalue(tp, n, **size, method=kind, strict=True)
            np.testing.assert_allclose(rows[kind], 1 - tail, rtol=1e-13, atol=1e-15)
        law = hypergeom(11, 4, n) if population == "finite" else binom(n, 4 / 11)
        np.testing.assert_allclose(
            rows["discrete"], law.cdf(np.floor(tp + 1e-9)), rtol=1e-9, atol=1e-12
        )


def test_distribution_of_groups_and_of_a_dataset(ragged):
    found = ragged.rankeval(by="query").random_cdf([4, 9])
    assert found.groupby("query")["n"].unique().map(list).to_dict() == {
        "q1": [4, 9],
        "q2": [4, 9],
        "q3": [4],
    }
    part = ragged[ragged["query"] == "q1"]
    one = part.rankeval.random_cdf([4, 9])
    kept = found.loc[found["query"] == "q1", one.columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, one)
    ds = xr.Dataset.from_dataframe(part.reset_index(drop=True).rename_axis("candidate"))
    data = ds[["gold"]].rankeval.random_cdf([4, 9])
    pd.testing.assert_frame_equal(data.to_dataframe()[list(one.columns)], one, check_names=False)


# ------------------------------------------------------------------------------------ tied scores


def test_envelope_at_the_ends_of_blocks(krenn):
    """332 blocks of equal frequency: a level of .002565 and a size of .04991."""
    data = krenn.rankeval(gold="is.colloc", measures="freq", ties="blocks")
    test = data.random_test(adjust="envelope")
    assert len(test) == 332
    found = krenn.rankeval(gold="is.colloc").random_envelope(0.05, test["n"].tolist())
    assert found["local_level"].iloc[0] == pytest.approx(0.002565, rel=0.01)
    inside = test["tp"].to_numpy() >= found["envelope"].to_numpy()
    assert (inside == (test["p_adjusted"] <= 0.05)).all()


def test_blocks_of_each_measure_are_its_own_family(tied):
    roles = {"ties": "blocks", "measures": ["a", "b"]}
    found = tied.rankeval(**roles).random_test(adjust="envelope")
    for measure, rows in found.groupby("measure"):
        alone = tied.rankeval(measures=measure).random_test(rows["n"].tolist(), adjust="envelope")
        np.testing.assert_array_equal(rows["p_adjusted"], alone["p_adjusted"])


def test_ties_that_have_no_count(tied):
    for keywords in ({"adjust": "envelope"}, {"combine": True, "by": "b"}):
        with pytest.raises(ValueError, match=r"ties='expected' with combine="):
            tied.rankeval(ties="expected").random_test(3, **keywords)
    best = tied.rankeval(ties="best", by="b", measures="a").random_test(3, combine=True)
    worst = tied.rankeval(ties="worst", by="b", measures="a").random_test(3, combine=True)
    assert best.loc[0, "tp"] >= worst.loc[0, "tp"]
    assert best.loc[0, "p_value"] <= worst.loc[0, "p_value"]


def test_combined_where_n_is_every_n(ragged):
    found = ragged.rankeval(by="query", measures="c").random_test(combine=True)
    assert found["n"].tolist() == list(range(1, 13))
    some = ragged.rankeval(by="query", measures="c").random_test([1, 9, 12], combine=True)
    pd.testing.assert_frame_equal(found[found["n"].isin([1, 9, 12])].reset_index(drop=True), some)
    blocks = ragged.rankeval(by="query", measures="a", ties="blocks")
    each, together = blocks.random_test(), blocks.random_test(combine=True)
    sizes = ragged.groupby("query").size()
    counts = each.groupby("n")["tp"].agg(["size", "sum"])
    # only where a block ends in every group that has n candidates
    whole = counts[counts["size"] == [int((sizes >= n).sum()) for n in counts.index]]
    assert together.set_index("n")["tp"].to_dict() == whole["sum"].to_dict()
    assert 0 < len(whole) < len(counts)


def test_combined_rows_say_how_many_groups_they_are_about():
    """One query has two documents, so that n = 3 is about the other alone: tp falls from 2 to 1."""
    df = pd.DataFrame(
        {
            "a": [9.0, 8, 7, 6, 5],
            "gold": [True, False, True, False, False],
            "query": ["one", "one", "two", "two", "two"],
        }
    )
    found = df.rankeval(by="query").random_test([2, 3], combine=True)
    assert list(found.columns[-2:]) == ["n_groups", "n_left_out"]
    assert found[["n", "tp", "n_groups", "n_left_out"]].to_numpy().tolist() == [
        [2, 2, 2, 0],
        [3, 1, 1, 1],
    ]
    assert "n_groups" not in df.rankeval(by="query").random_test([2])
