"""P-values and intervals from resampled gains, and the wild bootstrap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import exact_total
from rankeval_pd.stats.resampling import resamples, test_items
from rankeval_pd.stats.resampling.metric_sums import Score
from rankeval_pd.stats.resampling.test_items import AnyItems, Items, PairOptions, Step

# -------------------------------------------------------------------------------------------------
# P-values for events, intervals and simultaneous p-values from resampled gains.
#
# ``gains`` holds the gain for one pair in each resample, or NaN where the metric is undefined.
# An undefined resample is treated conservatively: it counts as part of the event, and it lies
# beyond both limits of an interval.

EVENTS = ("wild", "recentred", "strict", "zero", "bias-corrected", "studentised")
INTERVALS = ("wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe")
# : For each event, the interval that excludes 0 if the p-value is significant.
DUAL = {
    "wild": "wild", "recentred": "basic", "strict": "basic", "bias-corrected": "basic",
    "zero": "percentile", "studentised": "studentised",
}  # fmt: skip
_TOGETHER = 2**18  # number of values in a block of pairs that fits into the processor's cache
EQUAL = 1e-12  # tolerance for equal gains, relative to the scale of the score


def blocks(which: IntArray, width: int) -> Iterator[IntArray]:
    """Yield blocks of pairs, given the number of values per pair."""
    size = max(1, _TOGETHER // max(width, 1))
    for start in range(0, which.size, size):
        yield which[start : start + size]


def happened(
    gains: FloatArray, gain: float, event: str, scale: float, *, centered: bool = False
) -> int:
    """Count the resamples in which the event from section 2.2 occurred.

    Pass ``centered`` if the mean of the resampled gains is known to equal the gain.
    """
    room = EQUAL * scale
    if event == "strict":
        inside = gains <= 2.0 * gain + room
    elif event == "zero":
        inside = gains > room
    elif event == "bias-corrected":
        known = gains[~np.isnan(gains)]
        center = gain if centered else known.mean() if known.size else np.nan
        inside = gains - center < gain - room
    else:
        inside = gains < 2.0 * gain - room
    return int(gains.size - np.count_nonzero(inside))  # NaN is treated as outside


def beyond(t_star: FloatArray, t: float) -> int:
    """Count resamples with centered studentized gains at least as large as observed."""
    room = EQUAL * max(abs(t), 1.0) if np.isfinite(t) else 0.0
    return int(t_star.size - np.count_nonzero(t_star < t - room))  # NaN is counted


@overload
def monte_carlo(hits: int, n_resamples: int, event: str) -> float: ...
@overload
def monte_carlo(hits: IntArray, n_resamples: int, event: str) -> FloatArray: ...


def monte_carlo(hits: int | IntArray, n_resamples: int, event: str) -> float | FloatArray:
    """Return p = (s + 1)/(b + 1), or p = s/b as printed in figure 1 of the paper."""
    return hits / n_resamples if event == "strict" else (hits + 1) / (n_resamples + 1)


# ---------------------------------------------------------------------------------------- intervals


def interval(
    kind: str,
    theta: float,
    samples: FloatArray,
    *,
    level: float,
    scale: float,
    without: FloatArray,
    student: tuple[float, FloatArray] | None = None,
) -> tuple[float, float]:
    """Return the limits of an interval for theta from resampled values.

    Parameters
    ----------
    kind : {"bca", "percentile", "basic", "studentised"}
    theta : float
    samples : array (resample,)
    level, scale : float
        Confidence level, and scale for tests of equality.
    without : array (item,)
        Leave-one-out values of theta, used for the acceleration in BCa.
    student : tuple, optional
        Standard errors of theta and of the value in each resample.
    """
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    if kind == "studentised":
        assert student is not None
        error, errors = student
        low, high = quantiles(studentised(samples - theta, errors, EQUAL * scale), tails)
        return (theta, theta) if error == 0.0 else (theta - high * error, theta - low * error)
    if kind == "bca":
        below = np.count_nonzero(samples < theta - EQUAL * scale)
        above = np.count_nonzero(samples > theta + EQUAL * scale)
        share = below / samples.size + (samples.size - below - above) / samples.size / 2.0
        tails = accelerated(tails, share, without)
    low, high = quantiles(samples, tails)
    return (2.0 * theta - high, 2.0 * theta - low) if kind == "basic" else (low, high)


def accelerated(
    tails: tuple[float, float], share_below: float, without: FloatArray
) -> tuple[float, float]:
    """Return the BCa tails (Efron 1987), corrected for bias and acceleration.

    ``share_below`` is the proportion of resamples below the estimate plus half of the proportion of
    ties. If the correction is undefined, the tails of the percentile interval are returned.
    """
    from scipy.special import ndtr, ndtri

    lean = without.mean() - without
    spread = float((lean**2).sum())
    if not (0.0 < share_below < 1.0) or not spread > 0.0:
        return tails
    acceleration = float((lean**3).sum()) / (6.0 * spread**1.5)
    bias, z = float(ndtri(share_below)), float(-ndtri(tails[0]))
    moved = [bias - z, bias + z]
    if any(1.0 - acceleration * z <= 0.0 for z in moved):
        return tails
    low, high = (float(ndtr(bias + z / (1.0 - acceleration * z))) for z in moved)
    return low, high


def quantiles(samples: FloatArray, shares: tuple[float, float]) -> tuple[float, float]:
    """Return two linearly interpolated quantiles; NaN values lie beyond both."""
    size = samples.size
    ranks = [share * (size - 1) for share in shares]
    needed = sorted({int(k) for rank in ranks for k in (np.floor(rank), np.ceil(rank))})
    undefined = int(np.isnan(samples).sum())
    listed = []
    for rank, missing in zip(ranks, (-np.inf, np.inf), strict=True):
        filled = np.where(np.isnan(samples), missing, samples) if undefined else samples
        ordered = np.partition(filled, needed)
        low, high = ordered[int(np.floor(rank))], ordered[int(np.ceil(rank))]
        part = rank - np.floor(rank)
        finite = np.isfinite(low) and np.isfinite(high)
        between = low + part * (high - low) if finite else (low if np.isinf(low) else high)
        listed.append(float(low if part == 0.0 else between))
    return listed[0], listed[1]


def row_quantiles(
    samples: FloatArray, shares: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return :func:`quantiles` for each row."""
    ranks = [share * (samples.shape[1] - 1) for share in shares]
    needed = sorted({int(k) for rank in ranks for k in (np.floor(rank), np.ceil(rank))})
    ordered = np.partition(samples, needed, axis=1)
    listed = []
    for rank in ranks:
        low, high = ordered[:, int(np.floor(rank))], ordered[:, int(np.ceil(rank))]
        part = rank - np.floor(rank)
        with np.errstate(invalid="ignore"):  # infinite values are handled below
            listed.append(low if part == 0.0 else low + part * (high - low))
    below, above = listed
    for k in np.flatnonzero(~np.isfinite(samples).all(axis=1)):
        below[k], above[k] = quantiles(samples[k], shares)
    return below, above


def law_interval(
    kind: str,
    theta: float,
    values: FloatArray,
    chances: FloatArray,
    *,
    level: float,
    without: FloatArray,
) -> tuple[float, float]:
    """Return interval limits from the exact distribution of resampled values."""
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    at = int(np.argmin(np.abs(values - theta)))
    if kind == "bca":
        share = float(chances[:at].sum() + chances[at] / 2.0)
        tails = accelerated(tails, share, without)
    # each limit is read from its own side, so a mirrored distribution gives a mirrored interval
    low = float(values[int(np.argmax(np.cumsum(chances) >= tails[0] * (1.0 - 1e-12)))])
    last = int(np.argmax(np.cumsum(chances[::-1]) >= (1.0 - tails[1]) * (1.0 - 1e-12)))
    high = float(values[values.size - 1 - last])
    return (2.0 * theta - high, 2.0 * theta - low) if kind == "basic" else (low, high)


# ----------------------------------------------------------------------------------------- errors


def gradients(sums: FloatArray, score: Score) -> FloatArray:
    """Return central-difference derivatives of the score for each sum: (..., statistic).

    A sum of 0 would also be 0 in similar data, so the derivative is set to 0.
    """
    result = np.zeros_like(sums)
    for k in range(sums.shape[-1]):
        step = 1e-6 * np.abs(sums[..., k])
        up, down = sums.copy(), sums.copy()
        up[..., k] += step
        down[..., k] -= step
        width = up[..., k] - down[..., k]
        with np.errstate(divide="ignore", invalid="ignore"):
            result[..., k] = np.where(width > 0.0, (score(up) - score(down)) / width, 0.0)
    return result


def standard_errors(
    weights: FloatArray,
    sums: FloatArray,
    values: FloatArray,
    score: Score,
    pairs: IntArray,
    strata: IntArray | None = None,
) -> FloatArray:
    """Return the delta-method standard error of each pair's gain in each resample.

    Parameters
    ----------
    weights : array (resample, item)
    sums : array (resample, system, statistic)
    values : array (system, item, statistic)
    score : callable
    pairs : array (pair, 2)
    strata : array (item,), optional
        Stratum of each item. Items vary only within strata.

    Returns
    -------
    array (pair, resample)
    """
    slopes = gradients(sums, score)
    result = np.empty((len(pairs), len(weights)))
    step = max(1, 4_000_000 // (values.shape[0] * values.shape[1]))
    members: list[Any] = [slice(0, weights.shape[1])]  # the items of each stratum
    if strata is not None:
        members = [np.flatnonzero(strata == k) for k in range(int(strata.max()) + 1)]
    for start in range(0, len(weights), step):
        rows = slice(start, start + step)
        w = weights[rows].astype(float)
        influence = np.einsum("bmk,mik->bmi", slopes[rows], values, optimize=True)
        for own in members:
            total = w[:, own].sum(axis=1)[:, np.newaxis, np.newaxis]
            influence[..., own] -= (influence[..., own] @ w[:, own, np.newaxis]) / total
        products = (influence * w[:, np.newaxis, :]) @ influence.transpose(0, 2, 1)
        squares = np.einsum("bmm->bm", products)
        a, b = pairs[:, 0], pairs[:, 1]
        both = squares[:, a] + squares[:, b]
        variance = both - 2.0 * products[:, a, b]
        variance[variance <= 1e-12 * both] = 0.0
        result[:, rows] = np.sqrt(variance).T
    return result


def mean_errors(
    weights: FloatArray, values: FloatArray, pairs: IntArray, unit: float
) -> FloatArray:
    """Return :func:`standard_errors` for gains that are sums of differences times a unit.

    ``values`` are (system, item). The function uses one matrix product for all pairs instead of one
    for each resample.
    """
    centered = values - values.mean(axis=1, keepdims=True)
    squares = (centered**2).sum(axis=1)
    w, total = weights.astype(float), weights.sum(axis=1, dtype=float)
    result = np.empty((len(pairs), len(weights)))
    for block in blocks(np.arange(len(pairs)), values.shape[1]):
        a, b = pairs[block].T
        gains = (centered[a] - centered[b]).T
        variance = w @ gains**2 - (w @ gains) ** 2 / total[:, np.newaxis]
        variance[variance <= 1e-12 * (squares[a] + squares[b])] = 0.0
        result[block] = unit * np.sqrt(variance).T
    return result


def studentised(
    differences: FloatArray, errors: FloatArray | float, room: float | FloatArray
) -> FloatArray:
    """Return differences divided by standard errors; 0 for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = differences / errors
    return np.where((np.abs(differences) <= room) & (np.asarray(errors) == 0.0), 0.0, t)


# -------------------------------------------------------------------------------------------------
# The wild bootstrap under the null hypothesis draws random signs for the items' contributions.
#
# A score is a sum of contributions from items or clusters. For means and sums, this is exact; every
# other metric is linearized. If two systems are equally good, an item's contribution to the gain is
# equally likely to favor either system, so the sign is random (Wu 1986, Liu 1988; Cameron, Gelbach
# and Miller 2008 for clusters). The same signs can be used to test any other value of the gain. The
# values that are not rejected lie between quantiles of the gain on random subsets (Hartigan 1969),
# so the p-value and the interval come from one distribution.

_EVERY = 2**16  # largest number of subsets that are always enumerated
LINEARISED = 1e-8  # accuracy of numeric derivatives, relative to the largest contribution
WHOLE = 1e-10  # accuracy without numeric derivatives


class Contributions(NamedTuple):
    """The contributions of items, or clusters, to the score of each system."""

    values: FloatArray  #: (system, drawn)
    weights: FloatArray  #: (drawn,): contribution to a shift of the score
    unit: float  #: contribution to the score per unit of ``values``
    accuracy: float  #: relative accuracy of ``values``


def contributions(items: Items) -> Contributions:
    """Return contributions of items, or clusters, that sum to the scores."""
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
            values=test_items.within_strata(plain.values, plain.weights, items.drawn_strata)
        )
    return plain


def _linearised(items: Items, drawn: FloatArray, sizes: FloatArray) -> Contributions:
    """Return contributions to any metric, computed from its derivatives."""
    weights = mean_weights(drawn) if items.linear == "mean" else sizes
    added = first_order(drawn, gradients(items.totals, items.score))
    about = items.score(items.totals) - exact_total(added)
    values = items.sign * (added + weights / float(exact_total(weights)) * about[:, np.newaxis])
    return Contributions(values, weights, 1.0, LINEARISED)


def mean_weights(drawn: FloatArray) -> FloatArray:
    """Return the mean of the second statistic over systems, summed in a fixed order."""
    summed = np.zeros(drawn.shape[1])
    for own in drawn[..., 1]:
        summed += own
    return summed / len(drawn)


def first_order(drawn: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the sum of statistics (system, drawn, statistic) times slopes."""
    added = np.zeros(drawn.shape[:2])
    for k in range(drawn.shape[2]):  # the order of summation does not depend on the shape
        added += drawn[..., k] * slopes[:, k, np.newaxis]
    return added


class Subsets(NamedTuple):
    """Sums of contributions over random subsets of items with flipped signs."""

    values: FloatArray  #: (system, subset)
    weights: FloatArray  #: (subset,)
    every: bool  #: whether every subset occurs exactly once


def looks_at_every(items: AnyItems, options: PairOptions) -> bool:
    """Return whether to enumerate all subsets of the items or clusters."""
    drawn = items.n_drawn
    if options.method == "monte-carlo" or items.seeds is not None:
        return False
    return 2**drawn <= max(_EVERY, options.n_resamples) or (
        options.method == "exact" and drawn <= resamples.ENUMERATED
    )


def subset_sums(parts: Contributions, items: Items, options: PairOptions, step: Step) -> Subsets:
    """Return the sums for all systems over the same random subsets, or over every subset.

    Contributions from seeds are multiplied by normal draws, because these draws are used only for
    the correlation between pairs.
    """
    n = parts.weights.size
    every = looks_at_every(items, options)
    size = 2**n if every else options.n_resamples
    chunks = resamples.all_swaps(n) if every else resamples.swap_chunks(n, size, options.seed)
    flat = resamples.whole_columns(np.vstack([parts.values, parts.weights]).T, n)
    sums = np.empty((len(parts.values) + 1, size))
    for rows, turned in resamples.chunk_slices(chunks):
        sums[:, rows] = resamples.weighted_sums(turned, flat).T
        step(len(turned))
    if items.seeds is not None:
        endless = np.full(items.n_systems, 1e12)
        z = resamples.t_draws(endless, size, options.seed)
        sums[:-1] += (items.seeds.error / parts.unit)[:, np.newaxis] * z.T / 2.0
    return Subsets(sums[:-1], sums[-1], every)


def reached(sums: FloatArray, room: FloatArray) -> IntArray:
    """Count the subsets for which gains with flipped signs are at least as large as the gains.

    Undefined ``sums`` (pair, subset) are counted. ``room`` is (pair,).
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
    """Return the range of scores not rejected by random signs at 1 - level.

    ``sums`` are (pair, subset), ``weights`` are (subset,), and ``room`` and the limits are (pair,).

    A score s is rejected as too low if the proportion of subsets with a score of at most s is at
    most (1 - level) / 2. One is added to both counts unless all subsets are enumerated. The empty
    subset is compatible with any score. With few items, a limit can be infinite.
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
        if most > last:  # at very low levels, every score is rejected: return the middle
            most = last = (scores.shape[1] - 1) // 2
        low, high = np.partition(scores, [most, last], axis=1)[:, [most, last]].T
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def agreeing(
    found: tuple[float, float], gain: float, *, rejected: bool, near: FloatArray
) -> tuple[float, float]:
    """Return limits from draws, adjusted to agree with the exact p-value for a gain of 0.

    If 0 is rejected, a limit on the wrong side of 0 is replaced by the nearest drawn score
    ``near``.
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
