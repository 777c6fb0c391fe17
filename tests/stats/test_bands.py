"""Variances and bands against influences written out, and against repeated sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.stats import bands
from rankeval_pd.stats import ranking as swap_draws
from rankeval_pd.stats.ranking import difference_spread, edge_precision, nbest_spread


def influences(gold, rank, n, edge):
    """Return, for every candidate, its influence on n times the precision of the list of n."""
    inside = rank <= n
    raw = (gold - edge) * inside
    return raw - raw.mean()


def test_variance_is_the_sum_of_squared_influences():
    """Up to the shrinkage of the precision, of order 1/n."""
    rng = np.random.default_rng(0)
    gold = rng.random(20_000) < np.linspace(0.8, 0.0, 20_000)
    rank, n = np.arange(1, 20_001), np.array([500, 3_000, 12_000, 20_000])
    spread = nbest_spread(np.concatenate([[0], gold.cumsum()]), n, np.array(20_000))
    for column, size in enumerate(n):
        squares = (influences(gold, rank, size, spread.edge[column]) ** 2).sum()
        assert size * spread.variance[column] == pytest.approx(squares, rel=0.02)


@pytest.mark.parametrize("size", [40, 100, 999, 1000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_a_critical_value_is_that_of_the_test_that_counts_the_data_as_a_draw(size, level):
    """Beyond it p = (1 + draws that reach it)/(1 + draws) is at most 1 - level, and not at it."""
    draws = np.sort(10.0 + np.random.default_rng(size).exponential(size=size))
    value = bands.critical_value(draws, level)
    p = [(1 + np.count_nonzero(draws >= x)) / (size + 1) for x in (value + 1e-9, value)]
    assert p[0] <= 1.0 - level + 1e-12 < p[1]


def test_difference_variance_is_the_sum_of_squared_influences():
    rng = np.random.default_rng(1)
    gold = rng.random(20_000) < 0.2
    score = gold * 1.0 + rng.normal(size=20_000)
    noisy = score + 0.4 * rng.normal(size=20_000)
    a, b = (stats.rankdata(-x, method="ordinal") for x in (score, noisy))
    n = np.array([500, 3_000, 12_000])
    in_a, in_b = a <= n[:, None], b <= n[:, None]
    only = (in_a & ~in_b).sum(axis=-1)
    tp_only = (in_a & ~in_b & gold).sum(axis=-1), (in_b & ~in_a & gold).sum(axis=-1)
    here = np.ones(20_000, bool)
    spread = difference_spread(a, b, gold, here.sum(axis=-1), n, only, tp_only)
    for column, size in enumerate(n):
        phi = influences(gold, a, size, spread.edge_a[column]) - influences(
            gold, b, size, spread.edge_b[column]
        )
        assert spread.variance[column] == pytest.approx((phi**2).sum(), rel=0.02)
        raw = (in_a[column] * (gold - spread.edge_a[column])).sum() - (
            in_b[column] * (gold - spread.edge_b[column])
        ).sum()
        assert spread.center[column] == pytest.approx(raw / 20_000, abs=1e-12)


def test_edge_is_the_share_around_the_rank():
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


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_cells_keep_every_sum(seed, size):
    """The candidates of each list and label are in the cells that the list has."""
    rng = np.random.default_rng(seed)
    gold = rng.random(size) < 0.5
    ranks = tuple(rng.permutation(size) + 1 for _ in range(2))
    n = np.unique(rng.integers(1, size + 1, 4))
    found = bands.cells(gold, ranks, n)
    assert found.size.sum() == size
    for first, rank in zip(found.first, ranks, strict=True):
        for column, limit in enumerate(n):
            inside = first <= column
            assert found.size[inside].sum() == limit
            assert found.tp[inside].sum() == gold[rank <= limit].sum()


def test_the_largest_deviation_is_that_of_multipliers_per_candidate():
    """Distribution against a plain loop with one multiplier per candidate."""
    rng = np.random.default_rng(4)
    gold = rng.random(300) < 0.3
    a, b = rng.permutation(300) + 1, rng.permutation(300) + 1
    n = np.array([20, 60, 61, 250])
    edges = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.35, 0.3, 0.25, 0.2])
    phi = np.array(
        [
            influences(gold, a, size, x) - influences(gold, b, size, y)
            for size, x, y in zip(n, *edges, strict=True)
        ]
    )
    raw = [
        ((a <= s) * (gold - x) - (b <= s) * (gold - y)).mean()
        for s, x, y in zip(n, *edges, strict=True)
    ]
    squares = (phi**2).sum(axis=-1)
    wanted = np.abs(rng.standard_normal((20_000, 300)) @ phi.T / np.sqrt(squares)).max(axis=-1)
    found = bands.largest(
        bands.cells(gold, (a, b), n), edges, np.array(raw), squares, n_resamples=20_000, seed=9
    )
    assert stats.ks_2samp(found, wanted).pvalue > 1e-3
    assert bands.critical_value(found, 0.95) == pytest.approx(np.quantile(wanted, 0.95), rel=0.02)


def test_one_list_needs_the_normal_quantile():
    gold = np.arange(500) % 4 == 0
    n, edge = np.array([100]), np.array([0.25])
    spread = influences(gold, np.arange(1, 501), 100, 0.25)
    found = bands.largest(
        bands.cells(gold, (np.arange(1, 501),), n),
        (edge,),
        np.array([0.0]),
        np.array([(spread**2).sum()]),
        n_resamples=40_000,
        seed=0,
    )
    assert bands.critical_value(found, 0.95) == pytest.approx(1.96, abs=0.03)


def test_sums_of_squared_influences():
    """Those of the kernels, no candidate added, against influences written out."""
    rng = np.random.default_rng(3)
    gold = rng.random(200) < 0.3
    a, b = rng.permutation(200) + 1, rng.permutation(200) + 1
    n = np.array([5, 40, 120, 200])
    tp = np.concatenate([[0], gold[np.argsort(a)].cumsum()])
    single = nbest_spread(tp, n, np.array(200))
    in_a, in_b = a <= n[:, None], b <= n[:, None]
    only = (in_a & ~in_b).sum(axis=-1)
    tp_only = (in_a & ~in_b & gold).sum(axis=-1), (in_b & ~in_a & gold).sum(axis=-1)
    pair = difference_spread(a, b, gold, np.array(200), n, only, tp_only)
    for column, size in enumerate(n):
        phi = influences(gold, a, size, single.edge[column])
        assert single.influence[column] == pytest.approx((phi**2).sum(), abs=1e-9)
        phi = influences(gold, a, size, pair.edge_a[column]) - influences(
            gold, b, size, pair.edge_b[column]
        )
        assert pair.influence[column] == pytest.approx((phi**2).sum(), abs=1e-9)


def test_labels_that_do_not_vary_need_the_normal_quantile():
    """Where no list has a true positive, or each candidate is one, the draws say nothing."""
    for gold in (np.zeros(50, bool), np.ones(50, bool)):
        n = np.array([50])
        cells = bands.cells(gold, (np.arange(1, 51),), n)
        edge = np.array([float(gold[0])])
        found = bands.largest(cells, (edge,), np.zeros(1), np.zeros(1), n_resamples=99, seed=0)
        assert (found == 0).all()
        assert bands.critical_value(found, 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_quantile_counts_the_data_as_a_draw():
    draws = np.arange(1.0, 20.0) + 9
    assert bands.draws_needed(0.95) == 19
    assert bands.draws_needed(0.99) == 99
    assert bands.critical_value(draws, 0.95) == 28.0
    assert bands.critical_value(draws, 0.9) == 27.0


def test_blocks_of_draws_change_no_number(monkeypatch):
    gold = np.arange(60) % 3 == 0
    n, edge = np.array([10, 30]), np.array([0.3, 0.4])
    given = bands.cells(gold, (np.arange(1, 61),), n), (edge,), edge / 10, edge * 10
    once = bands.largest(*given, n_resamples=50, seed=1)
    monkeypatch.setattr(bands, "_BLOCK", 30)
    assert bands.largest(*given, n_resamples=50, seed=1).tolist() == once.tolist()


def test_shortened_lists():
    """A list whose threshold does not matter (n = N) keeps its size."""
    gold = np.arange(400) % 3 == 0
    tp = np.concatenate([[0], gold.cumsum()])
    spread = nbest_spread(tp, np.array([50, 400]), np.array(400))
    size = spread.effective(np.array([50, 400]))
    assert size[1] == 400
    assert 0 < size[0] <= 50


def test_the_shrunken_precision_is_agresti_and_coulls():
    """(t + 2) / (n + 4), and the effective size never above n."""
    gold = np.array([1, 1, 1, 1, 0] + [1] * 5 + [0] * 30)
    tp = np.concatenate([[0], gold.cumsum()])
    n = np.array([5, 10, 40])
    spread = nbest_spread(tp, n, np.array(40))
    np.testing.assert_array_equal(spread.precision, (tp[n] + 2.0) / (n + 4.0))
    binomial = spread.precision * (1.0 - spread.precision)
    beyond = (1.0 - n / 40) * (spread.precision - spread.edge) ** 2
    np.testing.assert_allclose(spread.ratio, 1.0 + beyond / binomial, rtol=1e-14)
    np.testing.assert_allclose(spread.effective(n), n / spread.ratio, rtol=1e-14)
    less = spread._replace(variance=0.5 * binomial)  # less than binomial: still n candidates
    np.testing.assert_array_equal(less.effective(n), n)


def test_a_head_that_holds_the_lists_draws_the_same():
    """The multipliers of candidates in no list are drawn together: only their number counts."""
    rng = np.random.default_rng(2)
    gold, rank = rng.random(3_000) < 0.3, rng.permutation(3_000) + 1
    keys = swap_draws.by_position(3_000)
    n = np.array([100, 150, 900])
    whole = bands.cells(gold, (rank,), n, keys)
    head = np.flatnonzero(rank <= 900)
    order = head[np.argsort(keys[head] % 7, kind="stable")]
    part = bands.cells(gold[order], (rank[order],), n, keys[order])
    inside = whole.listed
    assert (part.size == whole.size[inside]).all()
    found = [cells.multipliers(3, 64, 200) for cells in (whole, part)]
    np.testing.assert_allclose(found[0][inside], found[1], rtol=0, atol=1e-9)
    variance = whole.multipliers(1, 0, 20_000).var(axis=-1) / whole.size
    np.testing.assert_allclose(variance, 1.0, atol=5 * np.sqrt(2 / 20_000))
