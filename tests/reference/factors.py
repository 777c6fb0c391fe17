"""How often tests at 5% find equal systems different, with training seeds and with strata.

Writes factors.csv. Seeds: two ways of training that are equal, whose trainings differ by as much as
1.75 standard errors of a gain (a point of accuracy on 5,000 items). Strata: gains that are far from
0, their mean being 0, or .25. ``rejected`` is the share of tests that find a difference, and
``holds_0`` that of intervals that hold 0.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from rankeval_pd.decisions import gains as paired_gains
from rankeval_pd.doors.item_tables import ItemDesign, crossed, find_metric
from rankeval_pd.roles import Roles
from rankeval_pd.stats.items import Items, PairOptions

N, SEED_SD, NOISE = 100, 0.07, 0.2
SIZES, EFFECTS = np.array([10, 20, 30, 40]), np.array([1.2, -0.6, 0.4, -0.3])
OPTIONS = PairOptions(
    999, "wild", "auto", "wild", None, 0.05, 0.95, 0, keep_order=True, skewness=True
)
PAIR = np.array([[0, 1]])


def items(values: np.ndarray, seeds: bool = False, strata=None, average: str = "macro"):
    """Return the inner form of (system, seed, item)."""
    metric = find_metric(Roles(), [None], one_level=True)
    full = np.stack([values, np.ones_like(values)], axis=-1)
    labels = list(range(values.shape[1])) if seeds else None
    beside = ItemDesign(None, strata, average, labels, "raise")
    there = np.ones(values.shape[:2], dtype=bool)
    return crossed(full, there, metric, ["a", "b"], None, beside)


def asked(drawn: Items, number: int, event: str) -> tuple[bool, bool]:
    """Return whether the test rejects, and whether the interval holds 0."""
    options = replace(OPTIONS, seed=number, event=event)
    if event != "wild":
        options = replace(options, ci="percentile")
    row = paired_gains.bootstrapped_pairs(drawn, PAIR, options)
    return bool(row["p_two_sided"][0] <= 0.05), bool(row["ci_low"][0] <= 0.0 <= row["ci_high"][0])


def trained(rng: np.random.Generator, seeds: int) -> np.ndarray:
    """Return scores (system, seed, item) of two ways of training that are equal."""
    shape = (2, seeds, N)
    return (
        rng.normal(size=(1, 1, N))
        + SEED_SD * rng.normal(size=(2, seeds, 1))
        + NOISE * rng.normal(size=(2, 1, N))
        + NOISE * rng.normal(size=shape)
    )


def of_seeds(seeds: int, sets: int, event: str, *, told: bool) -> tuple[float, float]:
    """Return size and coverage; ``told`` says whether the test knows of the seeds."""
    rng = np.random.default_rng(100 + seeds)
    found = []
    for number in range(sets):
        values = trained(rng, seeds)
        values = values if told else values.mean(axis=1, keepdims=True)
        found.append(asked(items(values, seeds=told), number, event))
    rejected, covered = np.mean(found, axis=0)
    return float(rejected), float(covered)


def of_strata(average: str, sets: int, event: str, gain: float, *, told: bool):
    """Return how often a gain (0: none) is found where strata differ, and the coverage of 0."""
    rng = np.random.default_rng(7)
    strata = np.repeat(np.arange(SIZES.size), SIZES)
    weight = SIZES / SIZES.mean() if average == "micro" else np.ones(SIZES.size)
    effects = EFFECTS - (EFFECTS * weight).mean() + gain
    found = []
    for number in range(sets):
        noise = rng.normal(size=(2, 1, strata.size)) / np.sqrt(2.0)
        noise[0, 0] += effects[strata]
        drawn = items(noise, strata=strata if told else None, average=average)
        found.append(asked(drawn, number, event))
    rejected, covered = np.mean(found, axis=0)
    return float(rejected), float(covered)


def main(sets: int = 2000) -> None:
    """Write the table."""
    rows = []
    for event in ("wild", "recentred"):
        for told, counts in ((False, (1, 5)), (True, (2, 3, 5, 10))):
            for seeds in counts:
                name = f"{seeds} seeds" + ("" if told else ", averaged, not said")
                rows.append((event, name, 0.0, *of_seeds(seeds, sets, event, told=told)))
        for average in ("macro", "micro"):
            for gain in (0.0, 0.25):
                found = of_strata(average, sets, event, gain, told=True)
                rows.append((event, f"strata, {average}", gain, *found))
        for gain in (0.0, 0.25):
            found = of_strata("micro", sets, event, gain, told=False)
            rows.append((event, "strata, not said", gain, *found))
    columns = ["event", "setting", "gain", "rejected", "holds_0"]
    table = pd.DataFrame(rows, columns=columns)
    table.round(4).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
