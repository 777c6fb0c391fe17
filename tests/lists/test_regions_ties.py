"""Verdicts on lists that cut equal scores: means over orders, and what the order decides."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats import multitest

import rankeval_pd
from rankeval_pd import RankevalWarning, in_words
from rankeval_pd.stats.ranking import Ranking
from rankeval_pd.stats.ties import TiedLists
from rankeval_pd.stats.two_by_two import score_test, stratified_exact_test
from tests.conftest import examples

ORDER = "ties='shared'.*order of equal scores determines"
SHOWN = ["precision_a", "precision_b", "difference"]


def drawn(size=60, values=4, seed=0, quality=0.0):
    rng = np.random.default_rng(seed)
    gold = rng.random(size) < 0.4
    gold[:2] = True, False
    a, b = rng.integers(0, values, (2, size)).astype(float)
    return pd.DataFrame({"a": a + quality * gold, "b": b, "gold": gold})


def lists_of(df, n):
    here = np.ones(len(df), dtype=bool)
    sides = (Ranking.of(df[x].to_numpy(float), df["gold"].to_numpy(), here) for x in "ab")
    return TiedLists(*sides, np.asarray(n))


def shares(scores, n):
    """Return the share of each candidate in the list of n, from the definition."""
    above = (scores[:, np.newaxis] < scores).sum(axis=1)
    size = (scores[:, np.newaxis] == scores).sum(axis=1)
    return np.clip((n - above) / size, 0.0, 1.0)


def order_of(df, name, keys):
    """Return the candidates of each order, best first; equal scores by key."""
    return np.lexsort((keys, np.broadcast_to(-df[name].to_numpy(), keys.shape)))


# ---------------------------------------------------------------------------- Means over all orders


@given(st.integers(0, 10_000))
@settings(max_examples=4)
def test_means_over_every_order_of_eight(seed):
    df = drawn(8, 3, seed)
    table = df.rankeval(ties="expected").compare("a", "b", details=True)
    keys, gold = np.array(list(permutations(range(8)))), df["gold"].to_numpy()
    a, b = (
        np.cumsum(gold[order_of(df, name, keys)], axis=1).mean(axis=0) / np.arange(1, 9)
        for name in "ab"
    )
    for name, wanted in zip(SHOWN, (a, b, a - b), strict=True):
        assert_allclose(table[name], wanted, atol=1e-12)


def test_points_over_random_orders():
    """The central 95% of the differences of random orders, where both lists cut blocks."""
    df, n = drawn(200, 5, 3, 0.5), np.array([7, 30, 90, 150])
    keys, gold = np.random.default_rng(1).random((4_000, 200)), df["gold"].to_numpy()
    tp = [np.cumsum(gold[order_of(df, name, keys)], axis=1)[:, n - 1] for name in "ab"]
    low, high = np.quantile((tp[0] - tp[1]) / n, [0.025, 0.975], axis=0)
    with pytest.warns(RankevalWarning, match=ORDER):
        shared = df.rankeval.compare("a", "b", n, details=True)
    assert (np.abs(shared["tie_low"] - low) <= 2.5 / n).all()
    assert (np.abs(shared["tie_high"] - high) <= 2.5 / n).all()


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 6))
@settings(max_examples=examples(30))
def test_regions_are_those_of_shares(seed, size, values):
    df, n = drawn(size, values, seed), np.arange(1, size + 1)
    found, gold = lists_of(df, n), df["gold"].to_numpy()
    for k in n:
        a, b = (shares(df[x].to_numpy(), k) for x in "ab")
        gap = a - b
        at = k - 1
        assert found.only[at] == pytest.approx(np.maximum(gap, 0).sum(), abs=1e-9)
        for side, sign in enumerate((1, -1)):
            part = np.maximum(sign * gap, 0.0)
            assert found.tp_only[side][at] == pytest.approx(part[gold].sum(), abs=1e-9)
            if found.only[at] > 1e-9:
                whole = part.sum() ** 2 / (part**2).sum()
                assert found.effective()[side][at] == pytest.approx(whole)


@pytest.mark.parametrize("larger", ["score", "normal"])
def test_the_larger_p_value_of_two(larger):
    df, n = (drawn(120, 4, 2, 1.0), 25) if larger == "score" else (drawn(120, 2, 22), 90)
    found = lists_of(df, [n])
    gap = shares(df["a"].to_numpy(), n) - shares(df["b"].to_numpy(), n)
    parts = [np.maximum(sign * gap, 0.0) for sign in (1, -1)]
    sizes = [part.sum() ** 2 / (part**2).sum() for part in parts]
    rates = [part[df["gold"]].sum() / part.sum() for part in parts]
    for side in ("two-sided", "greater", "less"):
        score = score_test(rates[0] * sizes[0], sizes[0], rates[1] * sizes[1], sizes[1], side)
        z = gap[df["gold"]].sum() / n / found.error()[0]
        normal = {"two-sided": 2 * stats.norm.sf(abs(z)), "greater": stats.norm.sf(z)}
        wanted = max(float(score), normal.get(side, stats.norm.cdf(z)))
        assert side != "two-sided" or (wanted > score) == (larger == "normal")
        assert found.p(side)[0] == pytest.approx(wanted, rel=1e-9)


def test_without_ties_means_are_the_lists():
    df = rankeval_pd.datasets.simulate_candidates(300)
    shared = df.rankeval.compare("good", "fair", [20, 60], details=True)
    counts = (shared[x] for x in ("tp_only_a", "n_only_a", "tp_only_b", "n_only_b"))
    shared["p_value"] = score_test(*counts, "two-sided")
    means = df.rankeval(ties="expected").compare("good", "fair", [20, 60], details=True)
    same = [*SHOWN, "overlap", "n_only_a", "n_only_b", "tp_only_a", "tp_only_b", "odds_ratio"]
    for name in same:
        assert_allclose(means[name], shared[name], rtol=1e-12, err_msg=name)
    assert (means["p_value"] >= shared["p_value"] - 1e-12).all()
    assert_allclose(means["p_value"], shared["p_value"], rtol=0.5, atol=0.02)


def test_one_candidate_against_a_block():
    """Swaps of shares alone would call this significant, whatever the label of the candidate."""
    df = pd.DataFrame({"a": np.arange(400.0), "b": 0.0, "gold": np.arange(400) % 3 == 0})
    row = df.rankeval(ties="expected").compare("a", "b", 1).iloc[0]
    assert row["p_value"] > 0.2


@pytest.mark.parametrize("adjust", [None, "holm"])
def test_ranks_by_means_follow_the_comparisons(adjust):
    df = drawn(200, 4, 6, 1.0).assign(c=np.random.default_rng(1).normal(size=200))
    call = df.rankeval(ties="expected")
    ranks = call.measure_ranks(40, adjust=adjust, details=True).set_index("measure")
    pairs = call.compare(n=40, adjust=adjust, details=True)
    assert_allclose(ranks.loc[pairs["measure_a"], "value"], pairs["precision_a"])
    for name in ranks.index:
        worse = pairs[pairs["significant"] & (pairs["better"] != name)]
        count = (worse[["measure_a", "measure_b"]] == name).any(axis=1).sum()
        assert ranks.loc[name, "rank_low"] == 1 + count
    assert not ranks["tie_decides"].any()
    table = call.summary(40, adjust=adjust, details=True)
    assert_allclose(table.set_index("measure")["value"], ranks["value"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"test": "fisher"}, "ties= cannot stand beside test="),
        ({"adjust": "max-t"}, r"ties='expected' with adjust='max-t': .* adjust='holm'"),
        ({"groups": "b"}, "ties= cannot stand beside groups="),
        ({"combine": True, "by": "b"}, "ties= cannot stand beside combine="),
    ],
)
def test_what_means_have_no_version_of(given, said):
    with pytest.raises(ValueError, match=said):
        drawn().rankeval(ties="expected").compare("a", "b", 10, **given)


# --------------------------------------------------------------------------- Does the order decide?


@pytest.fixture(scope="module")
def one_score():
    """420 candidates with one score, beside a measure of some quality."""
    rng = np.random.default_rng(0)
    gold = rng.random(420) < 0.3
    scores = rng.normal(size=420) + 0.7 * gold
    return pd.DataFrame({"one": 0.0, "g": scores, "gold": gold})


def test_one_score_of_420(one_score):
    with pytest.warns(RankevalWarning, match=ORDER) as told:
        found = one_score.rankeval.compare("g", "one", [50, 420], details=True)
    assert len(told) == 1
    said = str(told[0].message)
    assert said.endswith(
        "at n=50, the order of equal scores determines whether 'g' and 'one' differ significantly."
        " Pass ties='expected', which averages all orders, or n=420, at which no list ends"
        " inside a tie."
    )
    row = found.iloc[0]
    assert found["tie_decides"].tolist() == [True, False]
    assert row["p_tie_low"] > 0.05 > row["p_tie_high"]
    tp = stats.hypergeom(420, one_score["gold"].sum(), 50)
    ends = row["precision_a"] - np.array([tp.ppf(0.975), tp.ppf(0.025)]) / 50
    assert_allclose(row[["tie_low", "tie_high"]].astype(float), ends, atol=1e-12)
    assert (
        "The order of equal scores determines this result: over random tie-breaking orders, the"
        " difference is" in in_words(found)
    )
    with pytest.warns(RankevalWarning, match=ORDER):
        short = one_score.rankeval.compare("g", "one", [50, 420], details=False)
    assert list(short.columns)[-1] == "tie_decides"
    assert "The order of equal scores determines this result: other orders" in in_words(short)
    means = one_score.rankeval(ties="expected").compare("g", "one", [50, 420], details=True)
    assert "the results are means over all tie-breaking orders" in in_words(means)
    assert "tie_decides" not in means


@pytest.mark.parametrize("adjust", ["holm", "max-t", None])
def test_one_score_in_a_summary(one_score, adjust):
    with pytest.warns(RankevalWarning, match=ORDER) as told:
        table = one_score.rankeval.summary([50, 420], adjust=adjust)
    assert len(told) == 1
    assert table["tie_decides"].tolist() == (table["n"] == 50).tolist()
    assert "can change the results of tests that involve g and one" in in_words(table)


@pytest.mark.filterwarnings("ignore:ties=.shared:rankeval_pd.RankevalWarning")
def test_ends_by_swaps_agree_with_those_of_the_test(one_score):
    asked = {"n": [20, 50, 100, 400], "details": True}
    alone = one_score.rankeval.compare("g", "one", **asked)
    stepped = one_score.rankeval.compare("g", "one", adjust="holm", **asked)
    swapped = {"adjust": "max-t", "adjust_over": "n", "n_resamples": 9999}
    each = one_score.rankeval.compare("g", "one", **swapped, **asked)
    for name in ("p_tie_low", "p_tie_high"):
        clear = alone[name] < 0.5
        assert_allclose(each.loc[clear, name], alone.loc[clear, name], atol=0.05)
        assert (each.loc[~clear, name] > 0.05).all()
        wanted = multitest.multipletests(alone[name], method="holm")[1]
        assert_allclose(stepped[name], wanted, rtol=1e-12)


def test_the_same_blocks_leave_no_doubt():
    """Lists that cut the same block take the same candidates of it, whatever the order."""
    df = drawn(100, 2, 3).assign(b=lambda x: 2.0 * x["a"])
    found = df.rankeval.compare("a", "b", [10, 80], details=True)  # a warning is an error
    assert found["cuts_tie"].all()
    assert not found["tie_decides"].any()
    assert_allclose(found[["tie_low", "tie_high"]], 0.0)


@given(st.integers(0, 10_000))
@settings(max_examples=examples(15))
def test_nothing_is_said_where_no_block_is_cut(seed):
    df = drawn(60, 4, seed, 1.0)
    ends = np.intersect1d(*(df[x].value_counts().sort_index()[::-1].cumsum() for x in "ab"))
    found = df.rankeval.compare("a", "b", ends.tolist(), details=True)
    assert not found[["cuts_tie", "tie_decides"]].any(axis=None)
    assert_allclose(found["tie_low"], found["difference"])
    assert_allclose(found["p_tie_high"], found["p_value"])


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 39))
@settings(max_examples=examples(60))
def test_points_of_one_list_are_hypergeometric(size, tp, taken):
    tp, taken = min(tp, size), min(taken, size)
    gold = np.arange(size) < tp
    df = pd.DataFrame({"a": 0.0, "b": -np.arange(size, dtype=float), "gold": gold})
    low, high, *_ = lists_of(df, [taken]).ends()
    law, other = stats.hypergeom(size, tp, taken), min(taken, tp)
    if taken < size:
        assert low[0] == law.ppf(0.025) - other
        assert high[0] == law.ppf(0.975) - other


def test_large_blocks_are_as_exact_as_small_ones():
    gold = np.arange(40_000) % 3 == 0
    df = pd.DataFrame({"a": 0.0, "b": -np.arange(40_000.0), "gold": gold})
    n = np.array([100, 5_000, 20_000])
    low, high, *_ = lists_of(df, n).ends()
    law, other = stats.hypergeom(40_000, gold.sum(), n), np.cumsum(gold)[n - 1]
    assert_allclose(low, law.ppf(0.025) - other, atol=1)
    assert_allclose(high, law.ppf(0.975) - other, atol=1)


def test_uncut_sizes():
    df = pd.DataFrame({"a": [3, 2, 2, 2, 1, 1.0], "b": [6, 5, 4, 3, 2, 1.0], "gold": [1, 0] * 3})
    below, above = lists_of(df.assign(gold=df["gold"] == 1), [2, 3, 5]).uncut()
    assert below.tolist() == [1, 1, 4]
    assert above.tolist() == [4, 4, 6]


@pytest.mark.full
def test_a_head_says_nearly_the_same():
    """It counts by its lists the candidates of both blocks, of which it has some."""
    frames = pytest.importorskip("dask.dataframe")
    pytest.importorskip("rankeval_pd.dask")

    df, n = drawn(3_000, 4, 5).assign(b=lambda x: np.where(x.index % 3, x["a"], x["b"])), [100, 300]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)
        whole = df.rankeval.compare("a", "b", n, details=True)
        head = frames.from_pandas(df, npartitions=4).rankeval.head(300)
        found = head.compare("a", "b", n, details=True)
    for name in (*SHOWN, "p_value", "ci_low", "cuts_tie"):
        assert_allclose(found[name], whole[name], err_msg=name)
    for name in ("tie_low", "tie_high"):
        assert (np.abs(found[name] - whole[name]) <= 4.0 / np.array(n)).all()
    with pytest.raises(ValueError, match="a head from a Dask DataFrame"):
        head(ties="expected").compare("a", "b", 100)


# ------------------------------------------------------------------------------ All groups together


def in_groups(groups=12, size=40, values=4, seed=1):
    frames = [drawn(size, values, 100 * seed + k).assign(query=k) for k in range(groups)]
    df = pd.concat(frames, ignore_index=True)
    df["a"] += df["gold"] & (np.random.default_rng(seed).random(len(df)) < 0.3)
    return df


JOINED = ({"combine": True}, {"average": "macro"}, {"average": "micro"})


def over_orders(df, n, draws, rng):
    """Return true positives of both lists, and of what both have, of each order: (draw, query)."""
    found = []
    for _, one in df.groupby("query"):
        gold, keys = one["gold"].to_numpy(), rng.random((draws, len(one)))
        a, b = (np.argsort(order_of(one, name, keys), axis=1) < n for name in "ab")
        found.append([(x & gold).sum(axis=1) for x in (a, b, a & b)] + [n - (a & b).sum(axis=1)])
    return np.moveaxis(np.array(found), 0, -1)


@pytest.mark.parametrize("how", JOINED)
@pytest.mark.filterwarnings("ignore:ties=.shared:rankeval_pd.RankevalWarning")
def test_ends_over_all_groups_are_those_of_random_orders(how):
    df, n = in_groups(), 13
    tp_a, tp_b, tp_both, only = over_orders(df, n, 4_000, np.random.default_rng(5))
    gap = (tp_a - tp_b).mean(axis=1) / n
    asked = df.rankeval(by="query", measures=["a", "b"])
    row = asked.compare("a", "b", n, **how, details=True).iloc[0]
    inside = (gap >= row["tie_low"] - 1e-9) & (gap <= row["tie_high"] + 1e-9)
    assert 0.93 <= inside.mean() <= 0.975
    if "average" in how:
        # Student's test of the differences of the groups, with their spread in this order
        each = asked.compare("a", "b", n, details=True)["difference"].to_numpy()
        error = each.std(ddof=1) / np.sqrt(each.size)
        for end in ("low", "high"):
            p = 2 * stats.t.sf(abs(row[f"tie_{end}"]) / error, each.size - 1)
            assert row[f"p_tie_{end}"] == pytest.approx(p, rel=1e-9)
        means = df.rankeval(by="query", measures=["a", "b"], ties="expected")
        mean = means.compare("a", "b", n, **how, details=True).iloc[0]
        assert mean["difference"] == pytest.approx(gap.mean(), abs=4 * gap.std() / np.sqrt(4_000))
        assert "tie_low" not in mean.index
    else:
        p = [
            stratified_exact_test(a - both, b - both, size, "two-sided").p_value
            for a, b, both, size in zip(
                tp_a[:400], tp_b[:400], tp_both[:400], only[:400], strict=True
            )
        ]
        ends = np.quantile(np.log(p), [0.025, 0.975])
        found = sorted(np.log([row["p_tie_low"], row["p_tie_high"]]))
        assert_allclose(found, ends, atol=0.35 * np.ptp(ends))


@pytest.mark.parametrize("how", JOINED)
def test_verdicts_over_all_groups_say_where_order_decides(how):
    asked = in_groups(30, 40, 4, 2).rankeval(by="query", measures=["a", "b"])
    with pytest.warns(RankevalWarning, match=f"{ORDER}.*ties='expected'"):
        table = asked.compare("a", "b", range(1, 40), **how, details=True)
    p = table[["p_tie_low", "p_tie_high"]] <= 0.05
    towards = np.sign(table[["tie_low", "tie_high"]].to_numpy()) * p.to_numpy()
    own = np.sign(table["difference"]) * table["significant"]
    differs = (towards != own.to_numpy()[:, np.newaxis]).any(axis=1)
    assert table["tie_decides"].tolist() == (differs & table["cuts_tie"]).tolist()
    assert 0 < differs.sum() < 39
    at = table[table["tie_decides"]].iloc[[0]]
    at.attrs = table.attrs
    assert (
        "The order of equal scores determines this result: over random tie-breaking orders, the"
        " difference is" in in_words(at)
    )
