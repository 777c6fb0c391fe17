"""Simulate simultaneous intervals and the family-wise error of max-t for all pairs of systems."""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.stats.item_gains import draws_of
from rankeval_pd.stats.items import quiet
from tests.simulations import study

SCORES = ("normal", "0/1", "[0, 1]")


class Setting(NamedTuple):
    systems: int
    items: int
    scores: str  #: "normal", "0/1" or "[0, 1]"
    correlation: float  #: of two systems' latent scores
    spread: float  #: best less worst skill, in sd of the latent difference of two


class Found(NamedTuple):
    covered: float  #: all true gains lie within their intervals
    errs: float  #: of samples in which some pair of equal systems is significant
    contradicting: int  #: rows whose interval excludes 0 while p_adjusted is above alpha


def settings():
    """Return all settings; of 0/1 at 30 items equal systems only. SKEWED come last."""
    every = itertools.product((8, 20), (30, 300), SCORES, (0.3, 0.6, 0.9), (0.0, 0.5))
    return [
        *(x for x in map(Setting._make, every) if x[1:3] != (30, "0/1") or not x.spread),
        *SKEWED,
    ]


#: few items, at the end of the scale for the best systems alone: skewed differences
SKEWED = [Setting(systems, 30, "[0, 1]", 0.9, 1.1) for systems in (8, 20)]


def drawn(setting, rng):
    """Return scores (system, item) and their expectations (system,)."""
    best = setting.spread * np.sqrt(2.0 - 2.0 * setting.correlation)
    skill = np.linspace(0.0, best, setting.systems)
    shared = rng.standard_normal(setting.items) * np.sqrt(setting.correlation)
    own = rng.standard_normal((setting.systems, setting.items))
    latent = skill[:, np.newaxis] + shared + own * np.sqrt(1.0 - setting.correlation)
    if setting.scores == "normal":
        return latent, skill
    if setting.scores == "0/1":
        return (latent > 0.0).astype(float), ndtr(skill)
    return ndtr(1.5 * latent), ndtr(1.5 * skill / np.sqrt(1.0 + 1.5**2))


def simulate(setting, samples):
    """Return how often all intervals hold the true gain, and how often a true null is rejected."""
    rng = np.random.default_rng([0, *map(ord, repr(setting))])
    pairs = study.every_pair(setting.systems)
    covered = errs = contradicting = 0
    for _ in range(samples):
        scores, mean = drawn(setting, rng)
        options = study.options(
            adjust="max-t", seed=int(rng.integers(2**31)), n_resamples=499, method="monte-carlo"
        )
        items = study.of_mean(scores)
        draws = draws_of(items, pairs, options, quiet)  # given: no intervals of each pair alone
        found = bootstrapped_pairs(items, pairs, options, draws=draws)
        gain = mean[pairs[:, 0]] - mean[pairs[:, 1]]
        holds = (found["ci_low"] <= gain) & (gain <= found["ci_high"])
        # a limit may end at a gain of 0 that the test rejects: that is not covered
        covered += bool((holds & ~((gain == 0.0) & (found["p_adjusted"] <= 0.05))).all())
        errs += bool((found["p_adjusted"][gain == 0.0] <= 0.05).any())
        outside = (found["ci_low"] > 0.0) | (found["ci_high"] < 0.0)
        contradicting += int((outside & (found["p_adjusted"] > 0.05)).sum())
    return Found(covered / samples, errs / samples, contradicting)


def rows(samples=2_000):
    for setting in settings():
        yield [*setting, *simulate(setting, samples), samples]
