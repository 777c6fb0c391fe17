"""How often tests at 5% find equal systems different, with training seeds and with strata.

Seeds: two ways of training that are equal, whose trainings differ by as much as 1.75 standard
errors of a gain (a point of accuracy on 5,000 items). Strata: gains that are far from 0, their mean
being 0, or .25. ``rejected`` is the share of tests that find a difference, and ``holds_0`` that of
intervals that hold 0.
"""

from dataclasses import replace

import numpy as np

from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.doors.item_tables import ItemDesign, crossed, find_metric
from rankeval_pd.roles import Roles
from tests.simulations import study
from tests.simulations.study import PAIR

N, SEED_SD, NOISE = 100, 0.07, 0.2
SIZES, EFFECTS = np.array([10, 20, 30, 40]), np.array([1.2, -0.6, 0.4, -0.3])
OPTIONS = study.options(ci="wild")
NAMES = ["event", "setting", "gain", "rejected", "holds_0"]


def items(values, seeds=False, strata=None, average="macro"):
    metric = find_metric(Roles(), [None], one_level=True)
    full = np.stack([values, np.ones_like(values)], axis=-1)
    labels = list(range(values.shape[1])) if seeds else None
    beside = ItemDesign(None, strata, average, labels, "raise")
    there = np.ones(values.shape[:2], dtype=bool)
    return crossed(full, there, metric, ["a", "b"], None, beside)


def asked(drawn, number, event):
    ci = "wild" if event == "wild" else "percentile"
    row = bootstrapped_pairs(drawn, PAIR, replace(OPTIONS, seed=number, event=event, ci=ci))
    return bool(row["p_two_sided"][0] <= 0.05), bool(row["ci_low"][0] <= 0.0 <= row["ci_high"][0])


def trained(rng, seeds):
    """Return scores (system, seed, item) of two ways of training that are equal."""
    shape = (2, seeds, N)
    return (
        rng.normal(size=(1, 1, N))
        + SEED_SD * rng.normal(size=(2, seeds, 1))
        + NOISE * rng.normal(size=(2, 1, N))
        + NOISE * rng.normal(size=shape)
    )


def of_seeds(seeds, sets, event, *, told):
    """Return size and coverage; ``told`` says whether the test knows of the seeds."""
    rng = np.random.default_rng(100 + seeds)
    found = []
    for number in range(sets):
        values = trained(rng, seeds)
        values = values if told else values.mean(axis=1, keepdims=True)
        found.append(asked(items(values, seeds=told), number, event))
    rejected, covered = np.mean(found, axis=0)
    return float(rejected), float(covered)


def of_strata(average, sets, event, gain, *, told):
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


def rows(samples=2_000):
    for event in ("wild", "recentred"):
        for told, counts in ((False, (1, 5)), (True, (2, 3, 5, 10))):
            for seeds in counts:
                name = f"{seeds} seeds" + ("" if told else ", averaged, not said")
                yield event, name, 0.0, *of_seeds(seeds, samples, event, told=told)
        for average, told in (("macro", True), ("micro", True), ("micro", False)):
            for gain in (0.0, 0.25):
                name = f"strata, {average if told else 'not said'}"
                yield event, name, gain, *of_strata(average, samples, event, gain, told=told)
