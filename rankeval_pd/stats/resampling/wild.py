"""The wild bootstrap with the null hypothesis imposed: signs of items' contributions are drawn.

A score is written as a sum of what each item (or cluster) adds to it, exactly for means and sums,
by linearisation for every other metric. If two systems are equal, what an item adds to their gain
is as likely to speak for the one as for the other: its sign is random (Wu 1986, Liu 1988; Cameron,
Gelbach and Miller 2008 for clusters). With the gain moved to any other value, the same signs tell
which values are not rejected: they lie between quantiles of the gain on random subsets (Hartigan
1969), so that the p-value and the interval are two views of one law.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import total
from rankeval_pd.stats.resampling import factors, resamples
from rankeval_pd.stats.resampling.asked import AnyItems, Items, Options, Step
from rankeval_pd.stats.resampling.bootstrap import gradients

_EVERY = 2**16  # so many subsets are always looked at, all of them
LINEARISED = 1e-8  # of the largest contribution: the accuracy of numeric derivatives
WHOLE = 1e-10  # the same, where they are not derived


class Contributions(NamedTuple):
    """What every item, or cluster, adds to the score of every system, the larger the better."""

    values: FloatArray  #: (system, drawn)
    weights: FloatArray  #: (drawn,): what it adds to a shift of the score
    unit: float  #: so much does 1 in ``values`` add to the score
    accuracy: float  #: of ``values``, relative


def contributions(items: Items) -> Contributions:
    """Return what items, or clusters, add to the scores, so that it sums to the scores."""
    drawn = items.drawn
    sizes: FloatArray = np.ones(drawn.shape[1])
    if items.cluster is not None:
        sizes = np.bincount(items.cluster).astype(float)
    unit = items.unit()
    if unit is not None:
        return Contributions(items.sign * drawn[..., 0], sizes, unit, WHOLE)
    plain = _linearised(items, drawn, sizes)
    if items.drawn_strata is not None:
        plain = plain._replace(
            values=factors.within_strata(plain.values, plain.weights, items.drawn_strata)
        )
    return plain if items.seeds is None else _with_seeds(plain, items.seeds)


def _linearised(items: Items, drawn: FloatArray, sizes: FloatArray) -> Contributions:
    """Return contributions to any metric, by its derivatives."""
    weights = mean_weights(drawn) if items.linear == "mean" else sizes
    added = first_order(drawn, gradients(items.totals, items.score))
    about = items.score(items.totals) - total(added)
    values = items.sign * (added + weights / float(total(weights)) * about[:, np.newaxis])
    return Contributions(values, weights, 1.0, LINEARISED)


def mean_weights(drawn: FloatArray) -> FloatArray:
    """Return the mean of the second statistic over the systems, added up in their order."""
    summed = np.zeros(drawn.shape[1])
    for own in drawn[..., 1]:
        summed += own
    return summed / len(drawn)


def first_order(drawn: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return statistics (system, drawn, statistic) times slopes (system, statistic), summed."""
    added = np.zeros(drawn.shape[:2])
    for k in range(drawn.shape[2]):  # in this order, whatever the shape
        added += drawn[..., k] * slopes[:, k, np.newaxis]
    return added


def _with_seeds(parts: Contributions, seeds: factors.Seeds) -> Contributions:
    """Return the contributions with two more for each system: its seeds' error, and its opposite.

    They sum to 0, and their squares to the variance that the seeds bring.
    """
    half = np.diag(seeds.error) / np.sqrt(2.0)
    none = np.zeros(2 * len(half))
    return parts._replace(
        values=np.concatenate([parts.values, half, -half], axis=1),
        weights=np.concatenate([parts.weights, none]),
    )


class Subsets(NamedTuple):
    """Sums of contributions over subsets of the items: those whose sign is turned."""

    values: FloatArray  #: (system, subset)
    weights: FloatArray  #: (subset,)
    every: bool  #: whether these are all subsets, each once


def looks_at_every(items: AnyItems, options: Options) -> bool:
    """Return whether all subsets of the items, or clusters, are looked at."""
    drawn = items.n_drawn
    if options.method == "monte-carlo" or items.seeds is not None:
        return False
    return 2**drawn <= max(_EVERY, options.n_resamples) or (
        options.method == "exact" and drawn <= resamples.ENUMERATED
    )


def subset_sums(parts: Contributions, items: Items, options: Options, step: Step) -> Subsets:
    """Return the sums of all systems over the same random subsets, or over every subset.

    What seeds add gets no sign, but a factor of the t distribution: see :class:`factors.Seeds`.
    """
    systems = len(parts.values)
    n = parts.weights.size - (0 if items.seeds is None else 2 * systems)
    every = looks_at_every(items, options)
    size = 2**n if every else options.n_resamples
    chunks = resamples.all_swaps(n) if every else resamples.swap_chunks(n, size, options.seed)
    flat = resamples.for_sums(np.vstack([parts.values, parts.weights]).T[:n], n)
    sums = np.empty((len(parts.values) + 1, size))
    for rows, turned in resamples.placed(chunks):
        sums[:, rows] = resamples.weighted_sums(turned, flat).T
        step(len(turned))
    if items.seeds is not None:
        t = resamples.t_draws(items.seeds.freedom, size, options.seed)
        sums[:-1] += (items.seeds.error / parts.unit)[:, np.newaxis] * t.T / 2.0
    return Subsets(sums[:-1], sums[-1], every)


def reached(sums: FloatArray, room: FloatArray) -> IntArray:
    """Return for how many subsets the gains with these signs turned are at least the gains.

    ``sums`` (pair, subset) that are undefined count against the claim; ``room`` is (pair,).
    """
    return np.asarray(sums.shape[-1] - np.count_nonzero(sums > room[..., np.newaxis], axis=-1))


def limits(
    sums: FloatArray,
    weights: FloatArray,
    factor: float,
    *,
    every: bool,
    level: float,
    room: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest scores that the signs do not reject at 1 - level.

    ``sums`` are (pair, subset), ``weights`` (subset,), ``room`` and what is returned (pair,).

    A score s is rejected as too low where so few subsets have a score of at most s that their
    share, with one added to both counts unless these are all subsets, is at most half of that. The
    empty subset has any score. With few items there is no limit: that is infinite.
    """
    undefined = np.isnan(sums).any(axis=1)
    added = 0 if every else 1
    filled = weights > 0.0
    used = sums[:, filled]
    scores = factor * used / weights[filled]
    scores[np.abs(used) <= room[:, np.newaxis]] = 0.0
    tail = (1.0 - level) / 2.0 * (weights.size + added)
    most = int(np.floor(tail * (1.0 + 1e-12))) - added - int(np.count_nonzero(~filled))
    if most < 0:
        low, high = np.full((2, len(sums)), [[-np.inf], [np.inf]])
    else:
        last = scores.shape[1] - 1 - most
        if most > last:  # at the least levels every score is rejected: the middle is what remains
            most = last = (scores.shape[1] - 1) // 2
        low, high = np.partition(scores, [most, last], axis=1)[:, [most, last]].T
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def agreeing(
    found: tuple[float, float], gain: float, *, rejected: bool, near: FloatArray
) -> tuple[float, float]:
    """Return limits from draws that say of a gain of 0 what its exact p-value says.

    ``near`` are the drawn scores: where 0 is rejected, the limit is the one nearest to it.
    """
    low, high = found
    if not rejected:
        return min(low, 0.0), max(high, 0.0)
    if gain > 0.0 and low <= 0.0:
        low = float(near[near > 0.0].min(initial=gain))
        high = max(low, high)
    if gain < 0.0 and high >= 0.0:
        high = float(near[near < 0.0].max(initial=gain))
        low = min(low, high)
    return low, high
