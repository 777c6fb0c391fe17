"""What the tests of plots share."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def two() -> pd.DataFrame:
    """600 candidates, one good measure and one that is hardly better than chance."""
    rng = np.random.default_rng(7)
    gold = rng.random(600) < 0.2
    return pd.DataFrame(
        {"good": rng.normal(size=600) + 1.5 * gold, "poor": rng.normal(size=600), "gold": gold}
    )


@pytest.fixture(scope="session")
def seven() -> pd.DataFrame:
    """Seven systems of slightly different skill on 300 items."""
    return systems_on_items(0)


def systems_on_items(seed: int, size: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    right = rng.random((size, 7)) < np.linspace(0.6, 0.75, 7)
    return pd.DataFrame(right, columns=[f"system {k}" for k in range(7)])
