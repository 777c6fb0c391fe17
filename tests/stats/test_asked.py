"""What is known of test items before anything is drawn."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats.resampling import asked, metrics


def test_right_or_wrong_is_one_of_one():
    statistics = np.ones((2, 9, 2))
    statistics[0, ::2, 0] = 0.0
    items = asked.Items(statistics, None, metrics.ratio, 1.0, "mean")
    assert items.binary
    statistics = statistics.copy()
    statistics[..., 1] = 2.0  # one of two, of every item: no count of right ones
    assert not asked.Items(statistics, None, metrics.ratio, 1.0, "mean").binary
    assert asked.Items(statistics, None, metrics.ratio, 1.0, "mean").unit() == 1 / 18
