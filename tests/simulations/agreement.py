"""How often tests on samples show the sign of the population, where systems are nearly equal.

By the spread of the systems' skill: the tests with p in each bin, how many of them agree with the
population, and what the flat prior and the estimated one expect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tests.simulations import study

ITEMS, SYSTEMS, SIZE, SETS = 4000, 16, 400, 30
BINS = (0.01, 0.04, 0.06, 0.2)
NAMES = ["spread", "p_low", "p_high", "n_pairs", "agreement", "flat", "estimated"]


def population(spread: float) -> pd.DataFrame:
    """Return what systems of normal skill get right; items differ in how easy they are."""
    rng = np.random.default_rng(3)
    ease, skill = rng.normal(size=(ITEMS, 1)), rng.normal(size=SYSTEMS) * spread
    return pd.DataFrame(rng.normal(size=(ITEMS, SYSTEMS)) + ease + skill > 0).add_prefix("s")


def rows() -> Iterator[dict[str, Any]]:
    for spread in (0.0, 0.02, 0.04, 0.08):
        asked = population(spread).rankeval
        flat, estimated = (
            asked.population_calibration(SIZE, n_test_sets=SETS, bins=BINS, prior=prior)
            for prior in ("flat", "estimated")
        )
        found = flat.rename(columns={"expected_agreement": "flat"}).assign(spread=spread)
        yield from found.assign(estimated=estimated["expected_agreement"]).to_dict("records")


if __name__ == "__main__":
    study.write(__file__, rows, NAMES)
