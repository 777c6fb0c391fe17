"""How often tests on samples show the sign of the population, where systems are nearly equal.

Writes agreement.csv: by the spread of the systems' skill, the tests with p in each bin, how many of
them agree with the population, and what the flat prior and the estimated one expect.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd  # noqa: F401, registers .rankeval

ITEMS, SYSTEMS, SIZE, SETS = 4000, 16, 400, 30
SPREADS = (0.0, 0.02, 0.04, 0.08)
BINS = (0.01, 0.04, 0.06, 0.2)


def population(spread: float) -> pd.DataFrame:
    """Return what systems of normal skill get right; items differ in how easy they are."""
    rng = np.random.default_rng(3)
    ease, skill = rng.normal(size=(ITEMS, 1)), rng.normal(size=SYSTEMS) * spread
    return pd.DataFrame(rng.normal(size=(ITEMS, SYSTEMS)) + ease + skill > 0).add_prefix("s")


def main() -> None:
    """Write the table."""
    rows = []
    for spread in SPREADS:
        flat, estimated = (
            population(spread).rankeval.population_calibration(
                SIZE, n_test_sets=SETS, bins=BINS, prior=prior
            )
            for prior in ("flat", "estimated")
        )
        found = flat.rename(columns={"expected_agreement": "flat"})
        found = found.assign(spread=spread, estimated=estimated["expected_agreement"])
        rows.append(
            found[["spread", "p_low", "p_high", "n_pairs", "agreement", "flat", "estimated"]]
        )
    table = pd.concat(rows).round(4)
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main()
