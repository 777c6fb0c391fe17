"""Rankings of which a part is judged: sums over lists and regions, and average precision."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import t_of
from rankeval_pd.stats.intervals.partly_judged import Design
from rankeval_pd.stats.rankings import ranking


def up_to(parts: FloatArray, rank: IntArray, listed: BoolArray, n: IntArray) -> FloatArray:
    """Return the sums over the candidates of rank 1 to n: (candidate, part) -> (n, part)."""
    sums = np.zeros((parts.shape[0] + 1, parts.shape[1]))
    sums[rank] = np.where(listed[:, np.newaxis], parts, 0.0)  # ranks are each candidate's own
    np.cumsum(sums, axis=0, out=sums)
    result: FloatArray = sums[np.minimum(n, parts.shape[0])]
    return result


def shared_up_to(
    parts: FloatArray, ranks: tuple[IntArray, IntArray], listed: BoolArray, n: IntArray
) -> FloatArray:
    """Return the sums over the candidates in both lists of n: from the larger rank on."""
    sums = np.zeros((parts.shape[0] + 1, parts.shape[1]))
    np.add.at(sums, np.maximum(*ranks)[listed], parts[listed])
    np.cumsum(sums, axis=0, out=sums)
    result: FloatArray = sums[np.minimum(n, parts.shape[0])]
    return result


def windows_of(score: FloatArray, present: BoolArray, ends: AnyArray) -> IntArray:
    """Return in which window the best rank of each candidate lies: (..., measure, candidate).

    The windows end at these ranks, and the last one at the last rank of all.
    """
    rank = ranking.restricted_ranks(ranking.order(score, present), present)
    best = np.where(present, rank, np.iinfo(np.int64).max).min(axis=-2)
    result: IntArray = np.searchsorted(ends, best, side="left")
    return result


def average_precision(
    score: FloatArray,
    true: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    design: Design,
) -> tuple[float, float, float]:
    """Return average precision, estimated, and its limits, of candidates in falling order.

    As inferred average precision (Yilmaz and Aslam 2006), weighted by inverse probabilities: the
    precision at each judged positive is 1 for itself and the estimate for the others of its list;
    Horvitz and Thompson's adds up the others' weights instead. Equal scores are one block.
    """
    low, high = average_precision_bounds(score, true, judged)
    weights = _weights(judged, probability, stratum, design)
    if weights is None or not (judged & true).any():
        return np.nan, low, high
    weight, chosen = weights
    total = np.array([score.size])
    end = ranking.blocks(score[np.newaxis], total)[1][0]
    hit = judged & true
    mass, positive = (_at_ends(weight * x, end) for x in (judged, hit))
    others, seen = positive - weight * hit, mass - weight * judged
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(seen > 0, others / seen, 0.0)
    of_others = others if design.estimator == "horvitz-thompson" else share * (end - 1)
    precision = (1.0 + of_others) / end
    whole = float((weight * hit).sum())
    value = float((weight * precision)[hit].sum() / whole)
    if design.unjudged == "bounds":
        return value, low, high
    lists = np.where(hit, weight / end, 0.0)
    influence = np.where(hit, precision - value, 0.0)
    if design.estimator == "horvitz-thompson":
        influence = influence + hit * (_from_on(lists, score) - lists)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where((seen > 0) & hit, lists * (end - 1) / seen, 0.0)
        told, taken = (_from_on(x, score) - x for x in (each, each * share))
        influence = influence + np.where(hit, told, 0.0) - taken
    error = np.sqrt(_variance(weight, chosen, influence, judged, stratum, design)) / whole
    return (value, *_limits(value, error, int(hit.sum()), (low, high), design.level))


def _weights(
    judged: BoolArray, probability: FloatArray, stratum: IntArray, design: Design
) -> tuple[FloatArray, FloatArray] | None:
    """Return the weight of each candidate and the rate of its stratum; None if one is unseen."""
    if not design.strata or design.estimator == "horvitz-thompson":
        return 1.0 / probability, probability
    size = np.bincount(stratum, minlength=design.strata)
    seen = np.bincount(stratum[judged], minlength=design.strata)
    if (seen[size > 0] == 0).any():
        return None
    rate = (seen / np.maximum(size, 1))[stratum]
    return 1.0 / rate, rate


def _at_ends(values: FloatArray, end: IntArray) -> FloatArray:
    """Return the sum of the values up to the end of each one's block."""
    result: FloatArray = np.cumsum(values)[end - 1]
    return result


def _from_on(values: FloatArray, score: FloatArray) -> FloatArray:
    """Return the sum of the values from the first candidate of each one's block on."""
    start = ranking.blocks(score[np.newaxis], np.array([score.size]))[0][0]
    below = np.cumsum(values[::-1])[::-1]
    result: FloatArray = below[start]
    return result


def _variance(
    weight: FloatArray,
    rate: FloatArray,
    influence: FloatArray,
    judged: BoolArray,
    stratum: IntArray,
    design: Design,
) -> float:
    """Return the variance of the weighted sum of influences, as the sample was drawn."""
    drawn = np.where(judged, (1.0 - rate) * (weight * influence) ** 2, 0.0)
    if not design.strata or design.estimator == "horvitz-thompson":
        return float(drawn.sum())
    total = 0.0
    for number in range(design.strata):
        inside = judged & (stratum == number)
        count = int(inside.sum())
        if count > 1:
            squares = float(np.var(influence[inside], ddof=1))
            total += float((1.0 - rate[inside][0]) * weight[inside][0] ** 2) * count * squares
        else:
            total += float(drawn[inside].sum())
    return total


def _limits(
    value: float, error: float, positives: int, sure: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return limits symmetric for the logit, with Student's quantile, within what is possible."""
    from scipy import special

    if not (error > 0.0 and 0.0 < value < 1.0):
        return sure
    middle = np.log(value / (1.0 - value))
    half = t_of(max(positives - 1, 1), level) * error / (value * (1.0 - value))
    low, high = special.expit([middle - half, middle + half])
    return float(np.clip(low, *sure)), float(np.clip(high, *sure))


def average_precision_bounds(
    score: FloatArray, true: BoolArray, judged: BoolArray
) -> tuple[float, float]:
    """Return the least and the largest average precision that the unjudged allow; falling order.

    With k of them positive it is largest for the first k, least for the last k: it rises with every
    positive that changes places with a higher-ranked negative. All k are tried, in O(N).
    """
    if judged.all():
        value = _plain(score, true)
        return value, value
    hit, open_ = judged & true, ~judged
    start, end = (x[0] for x in ranking.blocks(score[np.newaxis], np.array([score.size])))
    inverse = 1.0 / end
    above = _at_ends(hit.astype(float), end)  # judged positives up to the end of the block
    known = float((above * inverse)[hit].sum())
    helped = np.cumsum(np.where(hit, inverse, 0.0)[::-1])[::-1][start]
    count = np.arange(1, int(open_.sum()) + 1)
    positives = int(hit.sum())
    first, last = np.flatnonzero(open_), np.flatnonzero(open_)[::-1]
    # each adds its own precision, and to every positive at or below it 1 / n
    block = np.concatenate([[True], end[first][1:] != end[first][:-1]])
    of_block = count - np.maximum.accumulate(np.where(block, count, 0))  # chosen before in it
    most = (above[first] + count) * inverse[first] + helped[first] + of_block * inverse[first]
    added = np.concatenate([[0.0], np.cumsum(inverse[last])[:-1]])
    block = np.concatenate([[True], end[last][1:] != end[last][:-1]])
    of_block = count - np.maximum.accumulate(np.where(block, count, 0))
    least = (above[last] + 1 + of_block) * inverse[last] + helped[last] + added
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = [np.concatenate([[known], known + np.cumsum(x)]) for x in (least, most)]
        low, high = (x / (positives + np.arange(count.size + 1)) for x in sums)
    return float(np.nanmin(low)), float(np.nanmax(high))


def _plain(score: FloatArray, true: BoolArray) -> float:
    """Return average precision of candidates in falling order that are all judged."""
    if not true.any():
        return np.nan
    end = ranking.blocks(score[np.newaxis], np.array([score.size]))[1][0]
    return float((_at_ends(true.astype(float), end) / end)[true].sum() / true.sum())
