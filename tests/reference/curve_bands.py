"""Coverage of the bands and intervals of curves, in 2,000 samples of each setting.

Scores are normal with unit variance, ``shift`` higher for true positives, cut into ``steps`` values
if that is above 0 (with ties="expected"). "band" is the share of samples whose 95% simultaneous
band contains the true curve at every list that it covers, "each" the mean coverage of single
intervals at these lists, "width" the mean width of the band.

Run: python tests/reference/curve_bands.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from rankeval_pd.curves.shapes import lists_of
from rankeval_pd.stats import bands as curve_bands
from rankeval_pd.stats.ranking import Ranking

SAMPLES = 2000
SETTINGS = [  # candidates, share of true positives, shift, steps
    (120, 0.4, 1.0, 0),
    (300, 0.15, 1.0, 0),
    (200, 0.5, 1.5, 0),
    (1000, 0.05, 1.0, 0),
    (1000, 0.05, 2.0, 0),
    (1000, 0.05, 3.0, 0),
    (1000, 0.1, 0.0, 0),
    (1000, 0.3, 1.0, 0),
    (1000, 0.1, 1.0, 5),
    (1000, 0.1, 1.0, 2),
]
TARGET = Path(__file__).with_suffix(".csv")
SPACES = ("roc", "gain", "precision_recall")


def population(shift: float, steps: int) -> tuple[Any, Any]:
    """Return the shares of others and of true positives above each threshold, from the highest."""
    if not steps:
        cuts = np.linspace(12.0, -9.0, 40_001)
        return norm.sf(cuts), norm.sf(cuts - shift)
    cuts = norm.ppf(np.arange(1, steps) / steps)[::-1]
    return tuple(np.r_[0.0, norm.sf(cuts - mean), 1.0] for mean in (0.0, shift))  # type: ignore[return-value]


def one(setting: tuple[int, float, float, int], samples: int = SAMPLES) -> list[dict[str, Any]]:
    """Return a row for each curve."""
    size, prior, shift, steps = setting
    rng = np.random.default_rng(20261124)
    others, true = population(shift, steps)
    found: dict[str, list[tuple[float, ...]]] = {space: [] for space in SPACES}
    for sample in range(samples):
        gold = rng.random(size) < prior
        score = rng.normal(size=size) + shift * gold
        if steps:
            score = np.digitize(score, norm.ppf(np.arange(1, steps) / steps)).astype(float)
        ranking = Ranking.of(score, gold, np.ones(size, dtype=bool))
        lists = lists_of(ranking, np.arange(1, size + 1), "expected" if steps else "shared")
        recall = lists.tp / lists.positive
        fpr = (lists.n - lists.tp) / (size - lists.positive)
        above = np.interp(recall, true, others)
        truth = {
            "roc": np.interp(fpr, others, true),
            "gain": np.interp(lists.n / size, prior * true + (1 - prior) * others, true),
            "precision_recall": prior * recall / (prior * recall + (1 - prior) * above),
        }
        for space in SPACES:
            inside = curve_bands.covered(space, lists)
            if inside.any():
                some, at = lists.chosen(inside), truth[space][inside]
                level = curve_bands.band_level(space, some, 0.95, sample)
                low, high = curve_bands.curve_limits(space, some, level)
                alone = curve_bands.curve_limits(space, some, 0.95)
                each = np.mean((alone[0] <= at + 1e-12) & (at <= alone[1] + 1e-12))
                held = np.all((low <= at + 1e-12) & (at <= high + 1e-12))
                found[space].append((float(held), float(each), float(np.mean(high - low))))
    names = dict(zip(("candidates", "prior", "shift", "steps"), setting, strict=True))
    return [
        {
            **names, "curve": space, "samples": len(rows),
            **dict(zip(("band", "each", "width"), np.mean(rows, axis=0).round(4), strict=True)),
        }
        for space, rows in found.items()
    ]  # fmt: skip


if __name__ == "__main__":
    rows: list[dict[str, Any]] = []
    for setting in SETTINGS:
        rows += one(setting)
        print(*rows[-3:], sep="\n", flush=True)
        with TARGET.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
