"""Tests against random lists: exact fractions, SciPy, all orders, published means, pools."""

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

import rankeval_pd
from rankeval_pd import RankevalWarning, random_pvalue, random_test
from rankeval_pd.stats import random_model
from tests.chance.conftest import tail
from tests.conftest import candidates

STOCKS = {"n_candidates": 16769, "n_positive": 3123}

# ----------------------------------------------------------------------- p-values of given counts


@pytest.mark.parametrize(
    ("total", "positive"),
    [pytest.param(12, 6, marks=pytest.mark.full), (7, 1), (1, 0), (2, 2), (4, 2)],
)
def test_pvalues_are_the_exact_fractions(total, positive):
    size = {"n_candidates": total, "n_positive": positive}
    for n in range(total + 1):
        for tp in range(-1, n + 2):
            at_least, above = tail(tp - 1, n, total, positive), tail(tp, n, total, positive)
            assert random_pvalue(tp, n, **size) == pytest.approx(float(at_least), rel=1e-12)
            # between whole counts: the discrete tail is a step, the interpolated one a line
            for rest in (0.25, 0.5, 1.0):
                found = random_pvalue(tp + rest, n, **size)
                assert found == pytest.approx(float(above), rel=1e-12)
                line = (1 - rest) * at_least + Fraction(rest) * above
                found = random_pvalue(tp + rest, n, **size, method="interpolated")
                assert found == pytest.approx(float(line), rel=1e-12)


def test_parametric_is_the_incomplete_beta_function():
    for x in (0.0, 0.3, 1.0, 4.7, 7.9):
        wanted = betainc(x + 1, 8 - x, 3123 / 16769)
        found = random_pvalue(x + 1, 8, **STOCKS, method="parametric")
        assert found == pytest.approx(wanted, rel=1e-10)
    for tp in range(9):  # at whole counts, the binomial tail
        found = random_pvalue(tp, 8, prior=0.2, method="parametric")
        assert found == pytest.approx(binom.sf(tp - 1, 8, 0.2), rel=1e-10)


def test_an_infinite_population_and_a_prior_are_binomial():
    for tp in (0, 2, 5, 20):
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
    wanted = hypergeom.sf([[0], [1]], [10, 20, 30], 3, [3, 4, 5])
    assert found == pytest.approx(wanted, rel=1e-12)
    assert type(random_pvalue(np.int64(1), 2, prior=0.5)) is float
    assert random_pvalue(1, 2, prior=[0.5, 0.25]) == pytest.approx([0.75, 1 - 0.75**2], rel=1e-14)


def test_errors_of_random_pvalue():
    nine = {"n_candidates": 9, "n_positive": 1}
    for keywords, message in (
        ({}, r"n_candidates=None, n_positive=None, prior=None: pass both"),
        ({"n_candidates": 9}, r"n_positive=None, prior=None: pass both"),
        ({"n_candidates": 9, "prior": 0.5}, r"prior=0.5: pass both"),
        ({"prior": 1.5}, r"prior=1.5: pass numbers from 0 to 1"),
        ({**nine, "n_positive": 10}, r"n_positive=10 exceeds"),
        ({**nine, "n_candidates": 2}, r"n=3 exceeds n_candidates=2.*pass population='infinite'"),
        ({**nine, "n_positive": -1}, r"n_positive=-1: pass whole numbers of at least 0"),
        ({**nine, "n_candidates": 9.5}, r"n_candidates=9.5: pass whole numbers of at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            random_pvalue(1, 3, **keywords)
    for tp, n in ((np.nan, 3), (1, -3), (1, 2.5), (np.inf, 3), (1, np.inf)):
        with pytest.raises(ValueError, match=r"whole number|finite number"):
            random_pvalue(tp, n, prior=0.5)


# --------------------------------------------------------------------------- means of some queries


def test_reviewers_of_the_hypertext_papers():
    """Table 3 tests the mean of 15 reviewers as one list of 10: .079, and not 1.6e-5."""
    papers = {"n_candidates": 117, "n_positive": 47, "n_queries": 15}
    assert random_pvalue(85 / 15, 10, **papers) == pytest.approx(1.5935e-5, rel=5e-5)
    assert random_pvalue(86 / 15, 10, **papers) == pytest.approx(7.4383e-6, rel=5e-5)
    assert random_pvalue(5.7, 10, **papers) == random_pvalue(86 / 15, 10, **papers)
    one = [tail(i - 1, 10, 117, 47) - tail(i, 10, 117, 47) for i in range(11)]
    law = one
    for _ in range(14):
        law = np.convolve(law, one)
    found = random_pvalue(5.65, 10, **papers)
    assert found == pytest.approx(float(sum(law[85:])), rel=1e-13)


def test_queries_of_their_own_sizes():
    sizes = {"n_candidates": [5, 8, 6], "n_positive": [2, 3, 0], "n_queries": 3}
    found = random_pvalue([0, 2 / 3, 1, 5 / 3, 2], [2, 3, 1], **sizes)
    laws = (hypergeom(5, 2, 2).pmf(range(3)), hypergeom(8, 3, 3).pmf(range(4)))
    tails = np.cumsum(np.convolve(*laws)[::-1])[::-1]
    assert found == pytest.approx([*tails[[0, 2, 3, 5]], 0.0], rel=1e-12)
    assert type(random_pvalue(1.0, [2, 3, 1], **sizes)) is float


def test_mean_of_one_query_is_its_count_or_the_next_above():
    size = {"n_candidates": 200, "n_positive": 40}
    for mean, tp in ((0, 0), (3, 3), (9, 9), (20, 20), (21, 21), (3.2, 4), (3 + 1e-10, 3)):
        found = random_pvalue(mean, 20, **size, n_queries=1)
        assert found == pytest.approx(random_pvalue(tp, 20, **size), rel=1e-12)


def test_errors_of_means():
    for keywords, message in (
        ({"n_queries": 0}, r"n_queries=0: pass a whole number of at least 1"),
        ({"n_queries": 3, "n": [5, 6]}, r"n has 2 values for n_queries=3. Pass one value"),
        ({"n_queries": 3, "n_positive": 200}, r"n_positive=200 exceeds"),
    ):
        given = {"n": 10, "n_candidates": 117, "n_positive": 47, **keywords}
        with pytest.raises(ValueError, match=message):
            random_pvalue(1.5, **given)


# ------------------------------------------------------------------------------ the test of a list


def test_random_test_counted_by_hand():
    df = candidates(1, 24)
    found = df.rankeval(key="id", measures=["a", "b", "c"]).random_test()
    total, positive = len(df), int(df["gold"].sum())
    wanted = [(m, n) for m in "abc" for n in range(1, total + 1)]
    assert list(zip(found["measure"], found["n"], strict=True)) == wanted
    for _, row in found.iterrows():
        n, ranked = row["n"], df.sort_values([row["measure"], "id"], ascending=[False, True])
        tp = ranked["gold"].head(n).sum()
        assert row["tp"] == tp
        assert row["expected"] == pytest.approx(n * positive / total, rel=1e-14)
        assert row["lift"] == pytest.approx(tp * total / (n * positive), rel=1e-14)
        at_least, above = (tail(i, n, total, positive) for i in (tp - 1, tp))
        assert row["p_value"] == pytest.approx(float(at_least), rel=1e-11)
        assert row["p_strict"] == pytest.approx(float(above), rel=1e-11)
        assert row["p_mid"] == pytest.approx(float((at_least + above) / 2), rel=1e-11)
        assert row["log10_p"] == pytest.approx(math.log10(at_least), rel=1e-11, abs=1e-12)
    assert "p_adjusted" not in found


# ------------------------------------------------------------------------- adjusted for all n


def test_adjusted_for_all_n_by_all_orders(frame):
    small = frame.iloc[:12]
    found = small.rankeval(measures=["a", "b"]).random_test([2, 4, 7], adjust="envelope")
    total, positive = len(small), int(small["gold"].sum())
    orders = list(itertools.combinations(range(total), positive))
    tails = {(n, i): tail(i - 1, n, total, positive) for n in (2, 4, 7) for i in range(n + 1)}
    smallest = [min(tails[n, bisect_left(order, n)] for n in (2, 4, 7)) for order in orders]
    for _, row in found.iterrows():
        p = tails[row["n"], row["tp"]]
        wanted = sum(s <= p for s in smallest) / len(smallest)
        assert row["p_adjusted"] == pytest.approx(wanted, rel=1e-12)


def test_adjusted_p_values_and_bounds_for_all_n_together_agree(frame):
    found = frame.rankeval.random_test(range(1, 30), adjust="envelope")
    for alpha in (0.05, 0.4, 0.8):
        bound = frame.rankeval.random_bound(alpha, range(1, 30), simultaneous=True)
        counts = bound.set_index("n")["critical"].loc[found["n"]]
        inside = found["tp"].to_numpy() >= counts.to_numpy()
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
    found = holed.rankeval(missing="drop", measures=["a", "b"]).random_test(adjust="envelope")
    wanted = holed.dropna(subset="b").rankeval(measures="b").random_test(adjust="envelope")
    found = found[found["measure"] == "b"]
    assert len(found) == len(wanted) < 30
    for column in ("p_value", "p_adjusted"):
        np.testing.assert_allclose(found[column], wanted[column], rtol=1e-12)


def test_the_worst_ranking_is_not_significant():
    df = pd.DataFrame({"a": np.arange(1000) / 2, "gold": np.arange(1000) < 150})
    for n in (None, [500], [900], range(880, 1001, 20)):
        found = df.rankeval.random_test(n, adjust="envelope")
        assert (found["p_adjusted"] == 1).all()


@pytest.mark.parametrize("shift", [0.2, 3.0])
def test_rounded_p_values_are_never_below_the_exact_ones(monkeypatch, shift):
    rng = np.random.default_rng(1)
    df = rankeval_pd.datasets.simulate_candidates(400, quality={"a": shift})
    df["a"] += rng.normal(size=400) * 0.1
    found = df.rankeval.random_test(adjust="envelope")
    monkeypatch.setattr(random_model, "EVERY", 400)
    monkeypatch.setattr(rankeval_pd.chance.random_tests, "EVERY", 400)
    exact = df.rankeval.random_test(adjust="envelope")
    assert "p_adjusted" not in exact.attrs
    assert found.attrs["p_adjusted"] == "rounded up"
    assert "rounded up" in rankeval_pd.in_words(found)
    mine, other = found["p_adjusted"], exact["p_adjusted"]
    assert (mine >= other * (1 - 1e-12)).all()
    assert (mine > other * (1 + 1e-12)).any()
    assert (mine <= other + 0.005).all()
    assert found.sort_values("p_value")["p_adjusted"].is_monotonic_increasing
    tiny = found[found["p_value"] < 1e-6 / 400]  # summed over the lists
    assert (len(tiny) > 20) == (shift == 3.0)
    assert (tiny["p_adjusted"] <= 400 * tiny["p_value"] * (1 + 1e-12)).all()
    for alpha in (0.1, 0.05, 0.01, 0.001):
        assert ((mine <= alpha) == (other <= alpha)).all()
    assert (mine >= found["p_value"]).all()


# -------------------------------------------------------------------------------- groups combined


@pytest.mark.filterwarnings("ignore:.* groups have fewer than n:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("population", ["infinite", "finite"])
def test_groups_combined_by_hand(ragged, population):
    asked = ragged.rankeval(by="query", measures=["a", "c"])
    each = asked.random_test([1, 4, 9], population=population)
    found = asked.random_test([1, 4, 9], combine=True, population=population)
    expected = [c for c in each.columns if c != "query"]
    assert list(found.columns) == [*expected, "n_groups", "n_left_out"]
    sizes = ragged.groupby("query")["gold"].agg(["size", "sum"])
    for _, row in found.iterrows():
        rows = each[(each["measure"] == row["measure"]) & (each["n"] == row["n"])]
        law, tp = np.array([1.0]), row["tp"]
        for total, positive in sizes.loc[rows["query"]].itertuples(index=False):
            one = binom(row["n"], positive / total)
            if population == "finite":
                one = hypergeom(total, positive, row["n"])
            law = np.convolve(law, one.pmf(np.arange(row["n"] + 1)))
        assert tp == rows["tp"].sum()
        assert row["expected"] == pytest.approx(rows["expected"].sum(), rel=1e-14)
        assert row["p_value"] == pytest.approx(law[tp:].sum(), rel=1e-10)
        assert row["p_strict"] == pytest.approx(law[tp + 1 :].sum(), rel=1e-10)
        assert row["p_mid"] == pytest.approx(law[tp:].sum() - law[tp] / 2, rel=1e-10)
        assert row["log10_p"] == pytest.approx(math.log10(law[tp:].sum()), rel=1e-9, abs=1e-12)
        assert row["lift"] == pytest.approx(tp / rows["expected"].sum(), rel=1e-14)


def test_all_batches_of_a_dataset_are_combined():
    rng = np.random.default_rng(5)
    dims, shape = ("year", "query", "candidate"), (2, 3, 8)
    ds = xr.Dataset({"a": (dims, rng.normal(size=shape)), "gold": (dims, rng.random(shape) < 0.4)})
    found = ds.rankeval.random_test([2, 5], combine=True)
    assert found["p_value"].dims == ("measure", "n")
    df = ds.to_dataframe().reset_index()
    wanted = df.rankeval(by=["year", "query"], measures="a").random_test([2, 5], combine=True)
    # labels of candidates recur in the frame; without ties the order is the same
    part = found.to_dataframe().reset_index()
    pd.testing.assert_frame_equal(part[wanted.columns], wanted)


def test_a_combination_needs_groups(frame):
    for data in (frame, xr.Dataset.from_dataframe(frame)):
        with pytest.raises(ValueError, match=r"combine=True combine groups, but there are none"):
            data.rankeval.random_test(5, combine=True)
    with pytest.raises(ValueError, match=r"combine= cannot stand beside adjust="):
        frame.rankeval(by="b").random_test(5, combine=True, adjust="envelope")


def test_combined_rows_say_how_many_groups_they_are_about():
    """One query has two documents, so that n = 3 is about the other alone: tp falls from 2 to 1."""
    df = pd.DataFrame({"a": [9.0, 8, 7, 6, 5], "gold": [1, 0, 1, 0, 0], "query": [*"11222"]})
    found = df.rankeval(by="query").random_test([2, 3], combine=True)
    shown = found[["n", "tp", "n_groups", "n_left_out"]]
    assert shown.to_numpy().tolist() == [[2, 2, 2, 0], [3, 1, 1, 1]]


# ----------------------------------------- pools: what was retrieved, all, or a larger collection
ROLES = {
    "gold": "grade", "min_grade": 1, "by": "query", "key": "document", "missing": "absent",
}  # fmt: skip


def runs(seed, depths, queries=4, documents=9):
    """Return judged documents, and runs that retrieve as many of them as ``depths`` says."""
    rng = np.random.default_rng(seed)
    query, document = np.divmod(np.arange(queries * documents), documents)
    grade = (rng.random(query.size) < 0.4) | (document == 0)
    rows = pd.DataFrame({"query": query, "document": document, "grade": grade.astype(int)})
    for name, depth in depths.items():
        score = np.full((queries, documents), np.nan)
        for q in range(queries):
            chosen = rng.permutation(documents)[: max(1, depth - q % 2)]
            score[q, chosen] = rng.random(chosen.size)
        rows[name] = score.ravel()
    return rows


def enumerated(frame, run, n):
    """Return P(tp of all queries >= the run's) over all orders of what it retrieved."""
    law, observed = {0: Fraction(1)}, 0
    for _, rows in frame.dropna(subset=run).groupby("query"):
        grades = rows.sort_values(run, ascending=False)["grade"].tolist()
        observed += sum(grades[:n])
        lists = [sum(c) for c in itertools.combinations(grades, min(n, len(grades)))]
        fresh = {}
        for (tp, p), more in itertools.product(law.items(), lists):
            fresh[tp + more] = fresh.get(tp + more, 0) + p / len(lists)
        law = fresh
    return float(sum(p for tp, p in law.items() if tp >= observed))


def asked(frame, n, **options):
    return frame.rankeval(**ROLES).random_test(n, combine=True, details=True, **options)


@pytest.mark.parametrize("seed", range(3))
def test_orders_of_what_was_retrieved_are_enumerated(seed):
    deep, other = np.random.default_rng(seed).permutation(np.arange(4, 10))[:2]
    frame = runs(seed, {"deep": int(deep), "other": int(other)})
    for n in (1, 2, 3):
        found = asked(frame, n).set_index("measure")
        for run in ("deep", "other"):
            assert found.loc[run, "p_value"] == pytest.approx(enumerated(frame, run, n), rel=1e-10)


def test_a_list_of_all_that_was_retrieved_says_nothing():
    """Ten documents of each query, 4.1 of them relevant in whatever order."""
    rng = np.random.default_rng(0)
    query, document = np.divmod(np.arange(25_000), 500)
    retrieved = document < 10
    frame = pd.DataFrame({"query": query, "document": document})
    frame["grade"] = (rng.random(25_000) < np.where(retrieved, 0.41, 0.01)).astype(int)
    frame["run"] = np.where(retrieved, rng.random(25_000), np.nan)
    accessor = frame.rankeval(**ROLES)
    with pytest.warns(RankevalWarning, match="100% of the lists at n = 10 contain every retrieved"):
        table = accessor.random_test(10, combine=True)
    assert table["p_value"].tolist() == [1.0]
    assert table["lift"].tolist() == [pytest.approx(1.0)]
    said = "the value for a random order of the candidates that each measure retrieved."
    assert f"The chance level is {said}" in rankeval_pd.in_words(table)
    of_all = accessor.random_test(10, combine=True, pool="all", details=True)
    assert of_all["log10_p"].iloc[0] < -100
    assert of_all["n_pool"].iloc[0] == 25_000
    of_web = accessor.random_test(10, combine=True, pool=10**6)
    assert "a collection of 1,000,000 candidates" in rankeval_pd.in_words(of_web)


def test_bounds_and_bands_of_each_run():
    frame = runs(3, {"a": 8, "b": 5}, queries=1)
    accessor = frame.rankeval(**{**ROLES, "by": None, "exclude": "query"})
    for run in ("a", "b"):
        known = frame.loc[frame[run].notna(), ["document", "grade", run]]
        alone = known.rankeval(gold="grade", min_grade=1, measures=run, key="document")
        for ask, options in (
            ("random_bound", {"p": 0.3, "n": [2, 3]}),
            ("random_bound", {"p": 0.3, "n": [2, 3], "simultaneous": True}),
            ("random_band", {"space": "roc", "p": 0.3, "n": [2, 3]}),
            ("crossovers", {"p": 0.5}),
        ):
            mine, its = (getattr(x, ask)(**options) for x in (accessor, alone))
            mine = mine[mine["measure"] == run].reset_index(drop=True)
            pd.testing.assert_frame_equal(mine[[*its.columns]], its, check_dtype=False)
    assert "measure" not in accessor.random_bound(0.3, [2, 3], pool="all")
    expected = accessor.random_bound(0.3, 2, pool=900)["expected"].iloc[0]
    assert expected == pytest.approx(2 * frame["grade"].sum() / 900)


def test_the_lift_of_a_run_has_the_chance_of_its_own_pool():
    frame = runs(4, {"a": 8, "b": 5}, queries=1)
    accessor = frame.rankeval(**{**ROLES, "by": None, "exclude": "query"})
    tested = accessor.random_test(2)["lift"].tolist()
    for ask in (accessor.nbest_precision, accessor.nbest_recall):
        assert ask(2)["lift"].tolist() == pytest.approx(tested)
    with pytest.raises(ValueError, match="of='lift' with missing='absent'"):
        accessor.compare("a", "b", 2, of="lift")


def test_pools_that_are_none():
    frame = runs(0, {"a": 9})
    for asked, message in (
        ({"pool": "mine"}, "pool='mine' is not one of 'retrieved', 'all'"),
        ({"pool": 3}, "pool=3 is smaller than the number of candidates"),
        ({"pool": 2**53}, "a finite collection, below 2\\*\\*53"),
    ):
        with pytest.raises(ValueError, match=message):
            frame.rankeval(**ROLES).random_test(2, **asked)
    with pytest.raises(ValueError, match="Pass missing='absent'"):  # where lists end is known
        frame.rankeval(**{**ROLES, "missing": "raise"}).random_bound(0.05, 2, pool="retrieved")


@pytest.mark.parametrize("combine", [False, True])
def test_a_pool_is_drawn_from_its_collection(ragged, combine):
    asked = {"n": 5, "by": "query", "measures": ["a", "b"], "combine": combine}
    found = random_test(ragged, pool=100, **asked)
    more = [
        pd.DataFrame({"query": q, "a": -1e9, "b": -1e9, "gold": False}, index=range(100 - size))
        for q, size in ragged.groupby("query").size().items()
    ]
    pd.testing.assert_frame_equal(found, random_test(pd.concat([ragged, *more]), **asked))
    assert found.attrs["pool"] == 100
    with pytest.raises(ValueError, match="size of a finite collection"):
        random_test(ragged, pool=700, population="infinite", **asked)
