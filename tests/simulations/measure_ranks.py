"""Joint coverage of the ranks of twelve nearly equal measures, by simulation.

The quality of the measures is 1, or rises in steps to 1 + ``spread``. All are right together where
every true rank is between its limits.
"""

from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd import measure_ranks

FORM = {"digits": None}
MEASURES = 12


def simulated(total, quality, rng):
    gold = rng.random(total) < 0.2
    common = rng.normal(size=total)
    scores = {
        f"m{k}": q * gold + np.sqrt(0.5) * (common + rng.normal(size=total))
        for k, q in enumerate(quality)
    }
    return pd.DataFrame({**scores, "gold": gold})


def covered(table, quality):
    """Whether all ranks are: a measure has one from those better to those no worse."""
    value = table["measure"].map({f"m{k}": q for k, q in enumerate(quality)}).to_numpy()
    first = 1 + (value[np.newaxis] > value[:, np.newaxis]).sum(axis=-1)
    last = (value[np.newaxis] >= value[:, np.newaxis]).sum(axis=-1)
    return bool(((table["rank_low"] <= first) & (last <= table["rank_high"])).all())


def rows(samples=400):
    kinds = (
        ({"kind": "ap"}, 5 * samples // 2), ({"kind": "roc"}, samples), ({"n": [100]}, samples // 4)
    )  # fmt: skip
    for spread, (asked, times) in product((0.0, 0.05), kinds):
        quality = 1.0 + spread * np.linspace(0, 1, MEASURES)
        rng = np.random.default_rng(5)
        right = [
            covered(measure_ranks(simulated(500, quality, rng), **asked), quality)
            for _ in range(times)
        ]
        rate = float(np.mean(right))
        error = stats.sem(right) if 0 < rate < 1 else 1 / times
        yield {
            "spread": spread, "asked": str(asked), "repetitions": times, "all_ranks_cover": rate,
            "se": round(float(error), 4),
        }  # fmt: skip
