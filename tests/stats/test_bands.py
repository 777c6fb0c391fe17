"""Bands against multipliers of single candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from rankeval_pd.stats import bands, ranking


def influences(gold, rank, n, edge):
    """Return, for every candidate, its influence on n times the precision of the list of n."""
    raw = (gold - edge) * (rank <= n)
    return raw - raw.mean()


@pytest.mark.parametrize("size", [40, 100, 999, 1000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_a_critical_value_is_that_of_the_test_that_counts_the_data_as_a_draw(size, level):
    """Beyond it p = (1 + draws that reach it)/(1 + draws) is at most 1 - level, and not at it."""
    draws = np.sort(10.0 + np.random.default_rng(size).exponential(size=size))
    value = bands.critical_value(draws, level)
    p = [(1 + np.count_nonzero(draws >= x)) / (size + 1) for x in (value + 1e-9, value)]
    assert p[0] <= 1.0 - level + 1e-12 < p[1]


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_cells_keep_every_sum(seed, size):
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
    rng = np.random.default_rng(4)
    gold = rng.random(300) < 0.3
    a, b = rng.permutation(300) + 1, rng.permutation(300) + 1
    n = np.array([20, 60, 61, 250])
    edges = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.35, 0.3, 0.25, 0.2])
    lists = list(zip(n, *edges, strict=True))
    phi = [influences(gold, a, s, x) - influences(gold, b, s, y) for s, x, y in lists]
    raw = [((a <= s) * (gold - x) - (b <= s) * (gold - y)).mean() for s, x, y in lists]
    squares = np.square(phi).sum(axis=-1)
    drawn = rng.standard_normal((20_000, 300)) @ np.transpose(phi)
    wanted = np.abs(drawn / np.sqrt(squares)).max(axis=-1)
    cells = bands.cells(gold, (a, b), n)
    sums = bands.Sums(cells, edges, np.array(raw), squares)
    found = bands.largest(sums, n_resamples=20_000, seed=9)
    assert stats.ks_2samp(found, wanted).pvalue > 1e-3
    assert bands.critical_value(found, 0.95) == pytest.approx(np.quantile(wanted, 0.95), rel=0.02)


def test_labels_that_do_not_vary_need_the_normal_quantile():
    """Where no list has a true positive, or each candidate is one, the draws say nothing."""
    for gold in (np.zeros(50, bool), np.ones(50, bool)):
        n = np.array([50])
        cells = bands.cells(gold, (np.arange(1, 51),), n)
        edge = np.array([float(gold[0])])
        sums = bands.Sums(cells, (edge,), np.zeros(1), np.zeros(1))
        found = bands.largest(sums, n_resamples=99, seed=0)
        assert (found == 0).all()
        assert bands.rare_values(sums, [0.95], 0) == pytest.approx(1.959964, abs=1e-6)
        assert bands.critical_value(found, 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_blocks_of_draws_change_no_number(monkeypatch):
    gold = np.arange(60) % 3 == 0
    n, edge = np.array([10, 30]), np.array([0.3, 0.4])
    cells = bands.cells(gold, (np.arange(1, 61),), n)
    sums = bands.Sums(cells, (edge,), edge / 10, edge * 10)
    once = bands.largest(sums, n_resamples=50, seed=1)
    rare = bands.rare_values(sums, [0.99], 1)
    monkeypatch.setattr(bands, "_BLOCK", 30)
    assert bands.largest(sums, n_resamples=50, seed=1).tolist() == once.tolist()
    assert bands.rare_values(sums, [0.99], 1) == pytest.approx(rare, rel=1e-12)


def differing_lists(n, size=400):
    """Return the sums of two random rankings with their exact squared influences."""
    rng = np.random.default_rng(4)
    gold = rng.random(size) < 0.3
    a, b = rng.permutation(size) + 1, rng.permutation(size) + 1
    edges = np.linspace(0.4, 0.1, n.size), np.linspace(0.35, 0.2, n.size)
    lists = list(zip(n, *edges, strict=True))
    phi = [influences(gold, a, s, x) - influences(gold, b, s, y) for s, x, y in lists]
    raw = [((a <= s) * (gold - x) - (b <= s) * (gold - y)).mean() for s, x, y in lists]
    cells = bands.cells(gold, (a, b), n)
    return bands.Sums(cells, edges, np.array(raw), np.square(phi).sum(axis=-1)), np.array(phi)


@pytest.mark.parametrize("level", [0.99, 0.9986, 0.9999])
def test_rare_values_of_two_lists_are_those_of_the_normal_law(level):
    """The probability that both |Z| are at most c, integrated by SciPy."""
    sums, phi = differing_lists(np.array([100, 130]))
    [value] = bands.rare_values(sums, [level], 3)
    correlation = np.corrcoef(phi)[0, 1]

    def within(x):
        """Return the density of the first and the probability of the second, given the first."""
        ends = (np.array([-value, value]) - correlation * x) / np.sqrt(1.0 - correlation**2)
        return stats.norm.pdf(x) * np.diff(stats.norm.cdf(ends))[0]

    inside = integrate.quad(within, -value, value, epsabs=1e-12)[0]
    assert 1.0 - inside == pytest.approx(1.0 - level, rel=0.06)


@pytest.mark.full
def test_rare_values_are_those_of_many_plain_draws():
    sums, _ = differing_lists(np.arange(20, 200))
    drawn = bands.largest(sums, n_resamples=200_000, seed=1)
    levels = [0.99, 0.9986]
    found = [bands.rare_values(sums, levels, seed) for seed in range(8)]
    # the plain draws know the tail probabilities to 2% and 6%, the mean of the others to 3%
    for value, level in zip(np.transpose(found), levels, strict=True):
        shares = [(drawn > one).mean() for one in value]
        assert np.mean(shares) == pytest.approx(1.0 - level, rel=0.15)
        assert np.std(shares) < 0.15 * (1.0 - level)


def test_a_head_that_holds_the_lists_draws_the_same():
    """The multipliers of candidates in no list are drawn together: only their number counts."""
    rng = np.random.default_rng(2)
    gold, rank = rng.random(3_000) < 0.3, rng.permutation(3_000) + 1
    keys = ranking.by_position(3_000)
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


# ---- Multipliers of large bands


def test_a_sum_of_normals_is_one_normal():
    gold = np.arange(600) % 3 == 0
    cells = bands.cells(gold, (np.arange(1, 601),), np.array([5, 100, 400]))
    drawn = cells.multipliers(1, 0, 20_000, at_once=True)
    assert drawn.std(axis=1) == pytest.approx(np.sqrt(cells.size), rel=0.03)
    assert stats.kstest(drawn[0] / np.sqrt(cells.size[0]), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 0.04
    parts = [cells.multipliers(1, start, start + 2, at_once=True) for start in range(0, 10, 2)]
    assert (np.concatenate(parts, axis=1) == drawn[:, :10]).all()


def test_the_variance_of_recall_is_the_sum_of_squared_influences():
    rng = np.random.default_rng(0)
    gold, n, edge = rng.random(50) < 0.3, np.array([5, 20, 40]), np.array([0.6, 0.2, 0.05])
    tp, positive = gold.cumsum()[n - 1], np.array(gold.sum())
    found = bands.spread(tp, n, np.array(50), positive, edge, added=0)
    listed = np.arange(50) < n[:, None]
    moved = gold * (listed - (tp / positive)[:, None]) - edge[:, None] * (listed - n[:, None] / 50)
    np.testing.assert_allclose(found.variance, (moved**2).sum(axis=1) / positive, rtol=1e-12)
