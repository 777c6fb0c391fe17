"""What test items are crossed with or nested in: training seeds of the systems, strata of items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.metrics import Score


class Seeds(NamedTuple):
    """How far the scores of systems vary between trainings that differ in their seed only.

    The mean score of R trainings, less that of all possible ones, by its standard error, has the t
    distribution with R - 1 degrees of freedom, if scores of trainings are normal. Draws are from
    this law: the mean of R trainings drawn again from R has a variance of (R - 1)/R of theirs, and
    a normal law, and with three to five seeds that says far too little.
    """

    error: FloatArray  #: (system,): standard error of the mean over seeds
    freedom: FloatArray  #: (system,)


def seeds_of(scores: FloatArray) -> Seeds:
    """Return what the scores of the trainings say, (system, seed), NaN where there is none."""
    count = (~np.isnan(scores)).sum(axis=1)
    mean = np.nansum(scores, axis=1, keepdims=True) / count[:, np.newaxis]
    variance = np.nansum((scores - mean) ** 2, axis=1) / (count - 1)
    return Seeds(np.sqrt(variance / count), count - 1.0)


def mean_of_strata(score: Score, strata: int) -> Score:
    """Return the mean over strata of a score, from sums (..., stratum x statistic)."""

    def averaged(sums: AnyArray) -> FloatArray:
        return np.asarray(score(sums.reshape(*sums.shape[:-1], strata, -1)).mean(axis=-1))

    return averaged


def mean_of_seeds(score: Score, seeds: int) -> Score:
    """Return the mean over seeds of a score, from sums (..., seed x statistic).

    The last statistic of each seed is above 0 where the system has a training of this seed.
    """

    def averaged(sums: AnyArray) -> FloatArray:
        apart = sums.reshape(*sums.shape[:-1], seeds, -1)
        there = apart[..., -1] > 0.0
        result = np.where(there, score(apart[..., :-1]), 0.0)
        return np.asarray(result.sum(axis=-1) / there.sum(axis=-1))

    return averaged


def in_strata(values: FloatArray, strata: IntArray) -> FloatArray:
    """Return statistics (..., item, statistic) with a place of their own for each stratum."""
    count, width = int(strata.max()) + 1, values.shape[-1]
    apart = np.zeros((*values.shape[:-1], count, width))
    apart[..., np.arange(strata.size), strata, :] = values
    return apart.reshape(*values.shape[:-1], count * width)


def in_seeds(values: FloatArray, there: BoolArray) -> FloatArray:
    """Return (system, seed, item, statistic) as (system, item, seed x statistic).

    Where a system has no training of a seed, all is 0, the last statistic too.
    """
    systems, seeds, items, width = values.shape
    filled = np.zeros((systems, seeds, items, width + 1))
    filled[there, :, :width] = values[there]
    filled[there, :, width] = 1.0
    return np.moveaxis(filled, 1, 2).reshape(systems, items, seeds * (width + 1))


def within_strata(values: FloatArray, weights: FloatArray, strata: IntArray) -> FloatArray:
    """Return contributions (system, drawn) that differ within strata only; their sum stays.

    What a stratum differs by from all is no chance where items are drawn within strata. A stratum
    of n has n - 1 degrees of freedom, for which its deviations are enlarged; and all by as much as
    the 97.5 % quantile of the t distribution is above the normal one, with the degrees of freedom
    of Welch and Satterthwaite.
    """
    from scipy.special import ndtri, stdtrit

    sizes = np.bincount(strata).astype(float)
    summed = np.stack([np.bincount(strata, row) for row in values])
    own = summed / np.bincount(strata, weights)
    level = weights * (values.sum(axis=1) / weights.sum())[:, np.newaxis]
    apart = (values - weights * own[:, strata]) * np.sqrt(sizes / (sizes - 1.0))[strata]
    variance = np.bincount(strata, (apart**2).sum(axis=0))
    if not variance.any():
        return np.asarray(level + apart)
    freedom = variance.sum() ** 2 / (variance**2 / (sizes - 1.0)).sum()
    return np.asarray(level + apart * (stdtrit(freedom, 0.975) / ndtri(0.975)))
