"""Rankings, lists and random numbers of candidates against plain Python loops."""

from __future__ import annotations

import warnings
from itertools import permutations
from math import isnan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import ranking
from rankeval_pd.stats.ranking import (
    Ranking,
    Size,
    difference_spread,
    edge_precision,
    nbest_spread,
    same_order,
    stands_for,
)
from tests.stats.test_bands import influences

SCORES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan])
CUTS = np.array([-np.inf, -1.0, 0.0, 0.7, 2.0, np.inf, np.nan])


@st.composite
def batches(draw, scores=1, fewest=0):
    """Return score arrays (batch, candidate), gold (candidate), present (batch, candidate)."""
    shape = draw(st.integers(1, 3)), draw(st.integers(fewest, 9))
    found = [draw(arrays(float, shape, elements=SCORES)) for _ in range(scores)]
    gold = draw(arrays(bool, shape[1:]))
    present = draw(arrays(bool, shape) | st.just(np.ones(shape, bool)))
    return *found, gold, present


def place(score, present, i):
    """By descending score, NaN after every score; who is absent comes after all."""
    missing = isnan(score[i])
    return not present[i], missing, 0.0 if missing else -score[i]


def plain_order(score, present, places=None):
    places = range(len(score)) if places is None else places
    return sorted(places, key=lambda i: place(score, present, i))


def same(x, y):
    return x == y or (isnan(x) and isnan(y))


# ---- Orders and lists


@given(batches())
def test_order_and_ranks(batch):
    """sorted() with a key, and list.index for the ranks."""
    score, _, present = batch
    found_ranks = Ranking.of(score, present, present)
    for row, found in enumerate(found_ranks.order):
        expected = plain_order(score[row], present[row])
        assert found.tolist() == expected
        ranks = [expected.index(i) + 1 for i in range(len(expected))]
        assert found_ranks.ranks[row].tolist() == ranks


@given(batches())
def test_ranks_among_fewer(batch):
    """Without who is absent, who follows in the old order."""
    score, _, present = batch
    everyone = np.ones_like(present)
    whole = Ranking.of(score, everyone, everyone)
    found = whole.among(present).ranks
    for row, old in enumerate(whole.order):
        new = [*old[present[row, old]], *old[~present[row, old]]]
        assert found[row, new].tolist() == list(range(1, len(new) + 1))


@given(batches())
def test_lists_cut_from_the_sorted_list(batch):
    """Counted one by one, n above N included."""
    score, gold, present = batch
    lists = Ranking.of(score, gold, present)
    found = lists.nbest(np.arange(1, score.shape[1] + 3))
    for row, scores in enumerate(score):
        ordered = [i for i in plain_order(scores, present[row]) if present[row, i]]
        assert lists.size.total[row] == len(ordered)
        assert lists.size.positive[row] == gold[ordered].sum()
        assert found.exists[row].sum() == len(ordered)
        for k, last in enumerate(ordered):
            assert found.exists[row, k]
            assert found.tp[row, k] == sum(gold[i] for i in ordered[: k + 1])
            assert same(found.threshold[row, k], scores[last])
            rest = ordered[k + 1 :]
            assert found.tied[row, k] == sum(same(scores[i], scores[last]) for i in rest)


@given(batches())
def test_blocks_of_equal_scores(batch):
    """Candidates with a higher score, and with at least the same, by comparing all pairs."""
    score, _, present = batch
    everyone = np.ones_like(present)
    ranked = Ranking.of(score, everyone, everyone).scores_by_rank
    starts, ends = ranking.block_edges(ranked)
    for row, start, end in zip(ranked, starts, ends, strict=True):
        assert start.tolist() == [min(j for j, y in enumerate(row) if same(x, y)) for x in row]
        assert end.tolist() == [max(j + 1 for j, y in enumerate(row) if same(x, y)) for x in row]


@given(batches(fewest=1))
def test_ties_over_all_orders(batch):
    """Mean, standard deviation, most and least true positives over every order of equal scores."""
    score, gold, present = (x[..., :6] for x in batch)
    ranked, n = Ranking.of(score[:1], gold, present[:1]), np.arange(1, gold.size + 1)
    expected, best, worst = (ranked.nbest(n, ties) for ties in ("expected", "best", "worst"))
    sd = expected.block.tp_sd(n)
    orders = permutations(np.flatnonzero(present[0]))
    orders = [plain_order(score[0], present[0], places) for places in orders]
    for k in range(present[0].sum()):
        counts = np.array([sum(gold[i] for i in order[: k + 1]) for order in orders])
        assert expected.tp[0, k] == pytest.approx(counts.mean(), abs=1e-12)
        assert sd[0, k] == pytest.approx(counts.std(), abs=1e-7)
        assert (best.tp[0, k], worst.tp[0, k]) == (counts.max(), counts.min())


@given(batches(scores=2))
def test_acceptance_sets(batch):
    """score >= threshold, one by one; NaN neither accepts nor is accepted."""
    a, b, gold, present = batch
    cuts_a, cuts_b = np.tile(CUTS, (a.shape[0], 1)), np.tile(CUTS[::-1], (a.shape[0], 1))
    found = Ranking.of(a, gold, present).accepted(cuts_a)
    both = ranking.accepted_regions(a, b, gold, present, cuts_a, cuts_b)
    for row, column in np.ndindex(cuts_a.shape):
        sets = [
            {i for i in range(a.shape[1]) if present[row, i] and x[row, i] >= cuts[row, column]}
            for x, cuts in ((a, cuts_a), (b, cuts_b))
        ]
        sets.append(sets[0] & sets[1])
        sizes = [len(s) for s in sets]
        true = [sum(bool(gold[i]) for i in s) for s in sets]
        assert [x[row, column] for x in found] == [sizes[0], true[0]]
        assert [x[row, column] for x in both] == sizes + true


@given(batches(scores=2, fewest=1))
def test_regions_of_two_lists(batch):
    a, b, gold, present = batch
    both = [Ranking.of(x, gold, present) for x in (a, b)]
    total = present.sum(axis=-1)
    n = np.arange(1, a.shape[1] + 3)
    # who is absent is no positive
    found = ranking.nbest_regions(*(x.ranks for x in both), gold & present, n)
    for row, column in np.ndindex(a.shape[0], n.size):
        if n[column] > total[row]:
            continue
        in_a, in_b = (set(x.order[row, : n[column]].tolist()) for x in both)
        assert found.overlap[row, column] == len(in_a & in_b)
        assert found.tp_overlap[row, column] == sum(gold[i] for i in in_a & in_b)
        assert found.tp_a[row, column] == sum(gold[i] for i in in_a)
        assert found.tp_b[row, column] == sum(gold[i] for i in in_b)


def test_no_candidates_and_no_lists():
    none, yes, n = np.empty((2, 0)), np.empty((2, 0), bool), np.array([1, 2])
    found = Ranking.of(none, yes, yes).nbest(n)
    assert found.tp.shape == found.exists.shape == (2, 2)
    assert not found.exists.any()
    assert not ranking.nbest_regions(none.astype(int), none.astype(int), yes, n).overlap.any()
    score, true = np.ones((2, 4)), np.ones((2, 4), bool)
    assert Ranking.of(score, true, true).nbest(np.empty(0, int)).tp.shape == (2, 0)
    assert Ranking.of(score, true, true).accepted(np.empty((2, 0))).tp.shape == (2, 0)
    assert ranking.accepted_regions(score, score, true, true, *[np.empty((2, 0))] * 2)[0].size == 0


# ---- Influences on lists


def test_variances_of_lists_and_of_their_differences_are_sums_of_squared_influences():
    """Exactly with the share around rank n, and up to the shrinkage of order 1/n with its own."""
    rng = np.random.default_rng(1)
    gold = rng.random(20_000) < 0.2
    score = gold * 1.0 + rng.normal(size=20_000)
    noisy = score + 0.4 * rng.normal(size=20_000)
    a, b = (stats.rankdata(-x, method="ordinal").astype(int) for x in (score, noisy))
    n = np.array([500, 3_000, 12_000])
    in_a, in_b = a <= n[:, None], b <= n[:, None]
    only = in_a & ~in_b, in_b & ~in_a
    tp_only = tuple((x & gold).sum(axis=-1) for x in only)
    size = np.array(gold.size)
    single = nbest_spread(np.concatenate([[0], gold[np.argsort(a)].cumsum()]), n, size)
    both = Size(size, np.array(gold.sum()))
    pair = difference_spread(a, b, gold, both, n, only[0].sum(axis=-1), tp_only)
    for k, (cut, edge_a, edge_b) in enumerate(zip(n, pair.edge_a, pair.edge_b, strict=True)):
        phi = influences(gold, a, cut, single.edge[k])
        assert single.influence[k] == pytest.approx((phi**2).sum(), rel=1e-9)
        phi = influences(gold, a, cut, edge_a) - influences(gold, b, cut, edge_b)
        assert pair.influence[k] == pytest.approx((phi**2).sum(), rel=1e-9)
        assert pair.variance[k] == pytest.approx((phi**2).sum(), rel=0.02)
        raw = (in_a[k] * (gold - edge_a)).mean() - (in_b[k] * (gold - edge_b)).mean()
        assert pair.center[k] == pytest.approx(raw, abs=1e-12)


def test_the_edge_of_a_list_is_the_share_around_its_rank():
    gold = np.zeros(1_000, dtype=int)
    gold[380:420] = 1
    tp = np.concatenate([[0], gold.cumsum()])
    n = np.array([400, 1_000, 5])
    half = [max(20, int(0.5 * x**0.8)) for x in n]
    wanted = []
    for size, h in zip(n, half, strict=True):
        window = gold[max(size - h, 0) : size + h]
        wanted.append((window.sum() + 1) / (window.size + 2))
    assert edge_precision(tp, n, np.array([1_000])).tolist() == pytest.approx(wanted)


def test_the_shrunken_precision_is_agresti_and_coulls():
    """(t + 2) / (n + 4), and the effective size never above n."""
    gold = np.array([1, 1, 1, 1, 0] + [1] * 5 + [0] * 30)
    tp = np.concatenate([[0], gold.cumsum()])
    n = np.array([5, 10, 40])
    spread = nbest_spread(tp, n, np.array(40))
    assert_array_equal(spread.precision, (tp[n] + 2.0) / (n + 4.0))
    binomial = spread.precision * (1.0 - spread.precision)
    beyond = (1.0 - n / 40) * (spread.precision - spread.edge) ** 2
    assert_allclose(spread.variance / binomial, 1.0 + beyond / binomial, rtol=1e-14)
    assert_allclose(spread.effective(n), n * binomial / spread.variance, rtol=1e-14)
    less = spread._replace(variance=0.5 * binomial)  # less than binomial: still n candidates
    assert_array_equal(less.effective(n), n)


# ---- Random numbers that belong to a candidate


def test_splitmix():
    """The first values of the reference generator from the seeds 0 and 1234567."""
    assert int(ranking.mix(np.array([0], dtype=np.uint64))[0]) == 0xE220A8397B1DCDAF
    assert int(ranking.mix(np.array([1234567], dtype=np.uint64))[0]) == 6457827717110365317


def test_a_number_depends_on_seed_resample_and_key_alone():
    keys = ranking.by_position(50)
    for draw in (ranking.coins, ranking.normals):
        whole = draw(keys, 3, 0, 200)
        assert (draw(keys[20:30], 3, 128, 200) == whole[20:30, 128:]).all()
        assert (draw(keys[::-1], 3, 0, 64) == whole[::-1, :64]).all()
        assert (draw(keys, 4, 0, 200) != whole).mean() > 0.4


def test_coins_are_fair_and_independent():
    bits = ranking.coins(ranking.by_position(2_000), 1, 0, 640).astype(float)
    assert abs(bits.mean() - 0.5) < 4 * 0.5 / np.sqrt(bits.size)
    centered = 2 * bits - 1
    for shifted in (centered[1:] * centered[:-1], centered[:, 1:] * centered[:, :-1]):
        assert abs(shifted.mean()) < 4 / np.sqrt(shifted.size)
    for axis in (0, 1):
        sums = centered.sum(axis=axis) / np.sqrt(bits.shape[axis])
        assert stats.kstest(sums, "norm").pvalue > 1e-3


def test_normals_are_normal():
    found = ranking.normals(ranking.by_position(1_000), 1, 0, 101)
    assert found.shape == (1_000, 101)
    assert stats.kstest(found.ravel(), "norm").pvalue > 1e-3
    assert abs((found[:, 1:] * found[:, :-1]).mean()) < 4 / np.sqrt(found.size)


# ---- Copies: measures that rank alike, pairs that stand for others


@given(st.integers(0, 10_000), st.integers(10, 400))
def test_measures_rank_alike_only_if_every_pair_of_candidates_is_ordered_alike(seed, size):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 9, size).astype(float)
    one[:2] = 0, 1
    scores = np.stack([one, np.exp(one), 1.0 - one, one + 1e-15 * one, rng.normal(size=size)])
    np.testing.assert_array_equal(same_order(scores), [0, 0, 2, 0, 4])
    moved = np.exp(one)
    moved[0] = moved[1]
    assert same_order(np.stack([one, moved])).tolist() == [0, 1]
    assert same_order(np.stack([one * 0.0, one * 0.0])).tolist() == [0, 1]
    holes = np.where(rng.random(size) < 0.2, np.nan, one)
    holes[:3] = np.nan, 0, 1
    assert same_order(np.stack([holes, 2.0 * holes, one])).tolist() == [0, 0, 2]


def test_every_candidate_is_looked_at_before_two_measures_rank_alike():
    one = np.arange(2_000.0)
    swapped, tied, rounded = one.copy(), one.copy(), one.copy()
    swapped[[1, 2]] = swapped[[2, 1]]  # two that a look at every eighth candidate misses
    tied[1] = tied[2]
    rounded[1] = rounded[2] * (1.0 + 1e-15)
    assert same_order(np.stack([one, swapped, tied, rounded])).tolist() == [0, 1, 2, 2]


def test_a_pair_stands_for_those_with_the_same_two_rankings():
    a, b = np.array([0, 0, 1, 0, 1, 0]), np.array([1, 0, 0, 1, 2, 2])
    assert stands_for(a, b, ordered=False).tolist() == [0, -1, 0, 0, 4, 5]
    assert stands_for(a, b, ordered=True).tolist() == [0, -1, 2, 0, 4, 5]


# ---- One sort of scores for each measure and call


SIZE = 12_007  # more than any number of lists, draws or groups below
MEASURES = ["G2", "t", "f"]


def _candidates() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    gold = rng.random(SIZE) < 0.3
    scores = {m: np.round(rng.normal(size=SIZE) + gold, 2) for m in MEASURES}
    return pd.DataFrame({**scores, "gold": gold, "group": rng.integers(0, 50, SIZE)})


@pytest.fixture
def sorts(monkeypatch):
    """Count the rows of scores that are sorted: float arrays of as many values as candidates."""
    rows = []

    def counting(name):
        plain = getattr(np, name)

        def counted(values, *args, **kwargs):
            for array in values if name == "lexsort" else [values]:
                array = np.asarray(array)
                if array.dtype.kind == "f" and array.ndim and array.shape[-1] >= SIZE:
                    rows.append(array.size // array.shape[-1])
            return plain(values, *args, **kwargs)

        monkeypatch.setattr(np, name, counted)

    for name in ("argsort", "sort", "lexsort", "partition", "argpartition"):
        counting(name)
    return rows


@pytest.mark.parametrize(
    ("name", "arguments", "each"),
    [
        ("nbest_precision", {"n": 100}, 1),
        ("nbest_precision", {"n": 100, "ties": "expected"}, 1),
        ("nbest_precision", {"n": 100, "groups": "group"}, 1),
        ("nbest_recall", {"n": 100}, 1),
        ("precision_band", {"n": 100, "n_resamples": 99}, 1),
        ("precision_band", {"n": 100, "of": "recall"}, 1),
        ("difference_band", {"n": 100, "n_resamples": 99}, 1),
        ("compare", {"n": 100}, 1),
        ("compare", {"n": 100, "adjust": "max-t"}, 1),
        ("compare_thresholds", {"thresholds": 0.5}, 0),
        ("measure_ranks", {"kind": "roc"}, 1),
        ("crossovers", {"p": 0.05}, 1),
        ("choose_threshold", {"recall": 0.5}, 1),
        ("roc", {}, 1),
        ("area", {"kind": "roc"}, 1),
        ("bedroc", {}, 1),
        ("judged_difference", {"a": "G2", "b": "t", "n": 100}, 1),
    ],
)
def test_scores_are_sorted_once(name, arguments, each, sorts):
    """Of each measure that is asked, whatever the lists, intervals, bands and pairs."""
    method = getattr(_candidates().rankeval, name)
    measures = ["G2", "t"] if "a" in arguments else MEASURES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        method(gold="gold", measures=measures, **arguments)
    assert sum(sorts) == each * len(measures)


@pytest.mark.parametrize("name", ["judged_precision", "judged_recall"])
def test_a_look_at_who_is_judged_sorts_no_more(name, sorts):
    """Who is judged is compared along the ranking, which the estimate then takes over."""
    df = _candidates()
    judged = np.random.default_rng(2).random(SIZE) < 0.5
    df["gold"] = df["gold"].astype(float).where(judged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        getattr(df.rankeval, name)(gold="gold", measures=MEASURES, n=100)
    assert sum(sorts) == len(MEASURES)
