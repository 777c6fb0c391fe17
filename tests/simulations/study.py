"""What the simulations share: draws whose truth is known, and shares."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import special, stats

from rankeval_pd.stats.items import METRICS, Items, PairOptions
from rankeval_pd.stats.ranking import Ranking

ROOM = 1e-12  # of rounding
PAIR = np.array([[0, 1]])


def settings(table, *columns):
    """Return the settings of a table, in its order: the distinct values of these columns."""
    found = pd.read_csv(Path(__file__).with_name(f"{table}.csv"), usecols=columns)[[*columns]]
    return [*found.drop_duplicates().itertuples(index=False, name=None)]


def covers(low, high, truth):
    return (low <= truth + ROOM) & (truth - ROOM <= high)


def held(found, truth):
    """Return how often the intervals of a table hold the truth."""
    return float(covers(found["ci_low"], found["ci_high"], truth).mean())


def rejected(found):
    """Return how often the tests of a table reject at 5%."""
    return float((found["p_value"] <= 0.05).mean())


def error(share, count):
    return np.sqrt(share * (1 - share) / count)


def just(value, low, high, truth):
    """Return how many times as wide each interval must be to hold the truth."""
    side = np.where(value > truth, value - low, high - value)
    return np.abs(value - truth) / np.maximum(side, ROOM)


def warned(calls):
    told = []
    for call in calls:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        told.append(bool(found))
    return float(np.mean(told))


def together(rng, cluster, icc):
    """Return normal values of which a cluster shares this part of the variance."""
    shared = rng.normal(size=cluster.max() + 1)[cluster]
    return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)


def upper_quarter(values):
    """Return which values are true positives: a quarter of the population."""
    return values > stats.norm.ppf(0.75)


def dataset(scores, gold):
    """Return repeated samples: scores (sample, candidate), and labels, which may be the same."""
    dims = ("sample", "candidate")
    return xr.Dataset(
        {**{name: (dims, x) for name, x in scores.items()}, "gold": (dims[2 - gold.ndim :], gold)}
    )


def correlated(
    rng, gold, samples, shifts, rho,
    spread = 1.0,
):  # fmt: skip
    """Return samples of measures a, b: positives are shifted, and spread so much more."""
    common = rng.standard_normal((samples, gold.shape[-1]))
    wide = np.where(gold, spread, 1.0)
    scores = {}
    for name, shift in zip("ab", shifts, strict=True):
        own = rng.standard_normal(common.shape)
        scores[name] = shift * gold + wide * (rho**0.5 * common + (1 - rho) ** 0.5 * own)
    return dataset(scores, gold)


def alike(rng, shape, shifts):
    """Return scores of measures that share half of their variance, and are so much higher."""
    common = rng.normal(size=shape)
    return [np.sqrt(0.5) * (common + rng.normal(size=shape)) + shift for shift in shifts]


def ranking(score, gold):
    return Ranking.of(score, gold, np.ones(gold.shape, dtype=bool))


def beyond(cut, quality, prevalence):
    """Return the share of true positives, and of others, above a score of the population."""
    return prevalence * special.ndtr(quality - cut), (1 - prevalence) * special.ndtr(-cut)


def options(
    event = "wild", ci = "", adjust = None, seed = 0, *,
    n_resamples = 999, method = "auto", skewness = True,
):  # fmt: skip
    """Return the options of the paired tests, of which the defaults are those of the package."""
    return PairOptions(
        n_resamples, event, method, ci, adjust, 0.05, 0.95, seed, keep_order=True,
        skewness=skewness,
    )  # fmt: skip


def of_mean(values, cluster=None, weight=1.0, **beside):
    """Return items (system, item) with the mean as metric."""
    both = np.stack([values, np.ones_like(values)], axis=-1) * np.asarray(weight)[..., np.newaxis]
    return Items(both, cluster, METRICS["mean"].score, 1.0, "mean", **beside)


def in_pairs(first, second):
    """Return the values (set, item) of two systems as systems 2k and 2k + 1."""
    return np.stack([first, second], axis=1).reshape(2 * len(first), -1)


def every_pair(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1)
