"""Sums of swapped ranks, beside swaps one by one."""

from __future__ import annotations

import numpy as np
import pytest

from rankeval_pd.stats import ranking as swap_draws
from rankeval_pd.stats import swaps
from tests.stats.test_swaps import plain


@pytest.mark.parametrize("most", [3, 25])
def test_sums_of_swapped_ranks(most):
    """Beside swaps one by one, and the lists that they make."""
    rng = np.random.default_rng(most)
    a, b, gold = rng.permutation(25) + 1, rng.permutation(25) + 1, rng.random(25) < 0.4
    keys = swap_draws.by_position(25)
    n = np.arange(1, most + 1)
    weight = np.zeros(26)
    weight[: most + 1] = np.append(
        np.cumsum((1.0 / n)[::-1])[::-1][:1], np.cumsum(1.0 / n[::-1])[::-1]
    )
    found = swaps.Swaps(a, b, gold, keys, n_resamples=70, seed=5).sums(weight, most)
    for draw, swap in enumerate(swap_draws.coins(keys, 5, 0, 70).T.astype(bool)):
        counts = np.array(plain(a, b, gold, swap, n))
        assert found[draw] == pytest.approx(((counts[:, 2] - counts[:, 3]) / n).sum(), abs=1e-12)
