"""What is known of test items before anything is drawn."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats import items as metric_sums
from rankeval_pd.stats import items as test_items


def test_right_or_wrong_is_one_of_one():
    statistics = np.ones((2, 9, 2))
    statistics[0, ::2, 0] = 0.0
    items = test_items.Items(statistics, None, metric_sums.ratio, 1.0, "mean")
    assert items.binary
    statistics = statistics.copy()
    statistics[..., 1] = 2.0  # one of two, of every item: no count of right ones
    assert not test_items.Items(statistics, None, metric_sums.ratio, 1.0, "mean").binary
    assert test_items.Items(statistics, None, metric_sums.ratio, 1.0, "mean").unit == 1 / 18
