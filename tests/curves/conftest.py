"""What the tests of curves and areas share."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import strategies as st

from rankeval_pd import datasets

#: scores with many ties, and labels
SCORED = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15)
QUIET = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")  # of few, below chance


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    quality = {"good": 1.5, "fair": 1.0, "poor": 0.3}
    return datasets.simulate_candidates(300, decimals=1, baseline=0.2, quality=quality)
