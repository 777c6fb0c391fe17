"""Joint coverage of the ranks of twelve nearly equal measures, by simulation.

The precision of the measures at n lies between ``precision`` and .01 above it, in steps. All are
right together where every true rank is between its limits. Writes measure_ranks.csv beside itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd import measure_ranks

MEASURES = 12


def simulated(total: int, quality: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    gold = rng.random(total) < 0.2
    common = rng.normal(size=total)
    scores = {
        f"m{k}": q * gold + np.sqrt(0.5) * (common + rng.normal(size=total))
        for k, q in enumerate(quality)
    }
    return pd.DataFrame({**scores, "gold": gold})


def covered(table: pd.DataFrame, quality: np.ndarray) -> bool:
    """Whether all ranks are: a measure has one from those better to those no worse."""
    value = table["measure"].map({f"m{k}": q for k, q in enumerate(quality)}).to_numpy()
    first = 1 + (value[np.newaxis] > value[:, np.newaxis]).sum(axis=-1)
    last = (value[np.newaxis] >= value[:, np.newaxis]).sum(axis=-1)
    return bool(((table["rank_low"] <= first) & (last <= table["rank_high"])).all())


def main(repetitions: int = 400) -> None:
    rows = []
    for spread in (0.0, 0.05):
        quality = 1.0 + spread * np.linspace(0, 1, MEASURES)
        for asked in ({"kind": "ap"}, {"kind": "roc"}, {"n": [100]}):
            rng = np.random.default_rng(5)
            times = repetitions // 4 if "n" in asked else repetitions
            times = 5 * repetitions // 2 if asked.get("kind") == "ap" else times
            right = [
                covered(
                    measure_ranks(simulated(500, quality, rng), **asked, progress=False),
                    quality,
                )
                for _ in range(times)
            ]
            rate = float(np.mean(right))
            error = stats.sem(right) if 0 < rate < 1 else 1 / times
            rows.append(
                {"spread": spread, "asked": str(asked), "repetitions": times,
                 "all_ranks_cover": rate, "se": round(float(error), 4)}
            )  # fmt: skip
            print(rows[-1], flush=True, file=sys.stderr)
    pd.DataFrame(rows).to_csv(Path(__file__).with_name("measure_ranks.csv"), index=False)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
