"""Random numbers that belong to a candidate."""

from __future__ import annotations

import numpy as np
from scipy import stats

from rankeval_pd.stats import ranking as swap_draws


def test_splitmix():
    """The first values of the reference generator from the seeds 0 and 1234567."""
    assert int(swap_draws.mix(np.array([0], dtype=np.uint64))[0]) == 0xE220A8397B1DCDAF
    assert int(swap_draws.mix(np.array([1234567], dtype=np.uint64))[0]) == 6457827717110365317


def test_a_number_depends_on_seed_resample_and_key_alone():
    keys = swap_draws.by_position(50)
    for draw in (swap_draws.coins, swap_draws.normals):
        whole = draw(keys, 3, 0, 200)
        assert (draw(keys[20:30], 3, 128, 200) == whole[20:30, 128:]).all()
        assert (draw(keys[::-1], 3, 0, 64) == whole[::-1, :64]).all()
        assert (draw(keys, 4, 0, 200) != whole).mean() > 0.4


def test_coins_are_fair_and_independent():
    bits = swap_draws.coins(swap_draws.by_position(2_000), 1, 0, 640).astype(float)
    assert abs(bits.mean() - 0.5) < 4 * 0.5 / np.sqrt(bits.size)
    centered = 2 * bits - 1
    for shifted in (centered[1:] * centered[:-1], centered[:, 1:] * centered[:, :-1]):
        assert abs(shifted.mean()) < 4 / np.sqrt(shifted.size)
    for axis in (0, 1):
        sums = centered.sum(axis=axis) / np.sqrt(bits.shape[axis])
        assert stats.kstest(sums, "norm").pvalue > 1e-3


def test_normals_are_normal():
    found = swap_draws.normals(swap_draws.by_position(1_000), 1, 0, 101)
    assert found.shape == (1_000, 101)
    assert stats.kstest(found.ravel(), "norm").pvalue > 1e-3
    assert abs((found[:, 1:] * found[:, :-1]).mean()) < 4 / np.sqrt(found.size)
