"""Intervals and simultaneous bands for ROC, DET, precision-recall, gain and lift curves.

If the candidates are a sample, a curve varies with the candidates in the lists and with the ends of
the lists. Let y be the label of a candidate, and w = 1 if the list of size n contains the
candidate. If the list contains a fraction f of a block of tied candidates, w = f for this block.
Let ``edge`` be the proportion of true positives around the end of the list. The influence of a
candidate is 1 / N+ times

    y (a + b w) + (1 - y) (d + c w),

where t = tp / N+, u = fp / (N - N+), s = n / N, r = edge / (1 - edge), and

    t at fixed u         a = -t                  b = 1                 c = -r       d = r u
    t at fixed s         a = edge s - t          b = 1 - edge          c = -edge    d = edge s
    logit precision at t a = 1 - tp / (r fp)     b = N+ / (r fp)       c = -N+ / fp d = 0

(Hsieh and Turnbull 1996; Ash and Hughes-Oliver 2022). The limits are Clopper-Pearson
limits for the number of candidates that gives this variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.intervals.bands import critical_value
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson

LEAST = 30  #: minimum number of candidates in each class for a simultaneous band
ENDS = 5  #: minimum number of candidates of a class inside and outside the lists in a band
DRAWS = 1000
_POINTS = 200  # number of lists searched for the largest deviation
_BETWEEN = 0.5826
_ADDED = 2.0  # candidates of each class added at both ends, so that no variance is 0 by chance
_RATIO = 0.5  # minimum variance, in units of the binomial variance


class CurveLists(NamedTuple):
    """The lists of one ranking, shortest first, and the sizes of both classes."""

    n: FloatArray
    tp: FloatArray
    edge: FloatArray  #: proportion of true positives around the end
    above: FloatArray  #: candidates above the block of tied scores at the end of the list, or n
    tp_above: FloatArray
    size: FloatArray  #: candidates in this block, at least 1
    tp_block: FloatArray
    total: int
    positive: int

    def chosen(self, which: AnyArray) -> CurveLists:
        """Return the selected lists."""
        return CurveLists._make([*(x[which] for x in self[:7]), *self[7:]])


class _Influence(NamedTuple):
    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray


def _odds(space: str, x: CurveLists) -> FloatArray:
    """Return the odds of a true positive at the end of the list, shifted to widen limits."""
    width = np.maximum(40.0, x.n**0.8)  # window of :func:`bands.edge_precision`
    error = np.sqrt(x.edge * (1.0 - x.edge) / width)
    edge = x.edge - error if space == "precision_recall" else x.edge + error
    edge = np.clip(edge, 0.1 / width, 1.0 - 0.1 / width)
    return np.asarray(edge / (1.0 - edge), dtype=float)


def _influence(space: str, x: CurveLists) -> _Influence:
    """Return the influences on N+ times the curve height, with ``_ADDED`` at the ends."""
    positive, negative = x.positive + 2.0 * _ADDED, x.total - x.positive + 2.0 * _ADDED
    tp, fp = x.tp + _ADDED, x.n - x.tp + _ADDED
    odds = _odds(space, x)
    if space in ("roc", "det"):
        return _Influence(-tp / positive, np.ones_like(tp), -odds, odds * fp / negative)
    if space == "precision_recall":
        return _Influence(1.0 - tp / (odds * fp), positive / (odds * fp), -positive / fp, 0.0 * fp)
    share = (tp + fp) / (positive + negative)  # the edge
    d = x.edge * share
    return _Influence(d - tp / positive, 1.0 - x.edge, -x.edge, d)


def _effective(space: str, x: CurveLists) -> FloatArray:
    """Return the effective number of candidates for the variance of the curve height."""
    a, b, c, d = _influence(space, x)
    inside = (x.n - x.above) / x.size
    positive, negative = x.positive + 2.0 * _ADDED, x.total - x.positive + 2.0 * _ADDED
    tp, fp = x.tp_above + _ADDED, x.above - x.tp_above + _ADDED
    fp_block = x.size * (inside > 0) - x.tp_block
    variance = (
        (a + b) ** 2 * tp
        + (a + b * inside) ** 2 * x.tp_block
        + a**2 * (positive - tp - x.tp_block)
        + (c + d) ** 2 * fp
        + (d + c * inside) ** 2 * fp_block
        + d**2 * (negative - fp - fp_block)
    )
    listed, false = x.tp + _ADDED, x.n - x.tp + _ADDED
    if space == "precision_recall":
        ratio = variance / positive**2 * listed * false / (listed + false)
        size = x.n
    else:
        ratio = variance * positive / (listed * (positive - listed))
        size = np.full_like(x.n, float(x.positive))
    return size / np.maximum(ratio, _RATIO)


def curve_limits(space: str, x: CurveLists, level: float) -> Limits:
    """Return pointwise limits for the height of a curve at each list size.

    ``space`` is "roc" or "det" (at a fixed false positive rate), "gain" or "lift" (at a fixed
    fraction of the candidates) or "precision_recall" (at fixed recall). For "det" and "lift", the
    function returns limits for recall.
    """
    size = _effective(space, x)
    share = x.tp / np.maximum(x.n, 1.0) if space == "precision_recall" else x.tp / x.positive
    low, high = clopper_pearson(share * size, size, level)
    if space == "precision_recall":
        return _alike(x.tp, low, high)
    return _alike(x.n - x.tp, low, high) if space in ("roc", "det") else (low, high)


def _alike(across: FloatArray, low: FloatArray, high: FloatArray) -> Limits:
    """Return the outermost limits of the lists at the same position on the x axis."""
    first = np.flatnonzero(np.diff(across, prepend=-1.0) > 0.0)
    times = np.diff(np.append(first, across.size))
    low, high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
    return np.repeat(low, times), np.repeat(high, times)


def covered(space: str, x: CurveLists) -> AnyArray:
    """Return whether each list is part of a simultaneous band."""
    negative, fp = x.total - x.positive, x.n - x.tp
    inside = (x.tp >= ENDS) & (x.tp <= x.positive - ENDS)
    if space in ("roc", "det"):
        inside &= (fp >= ENDS) & (fp <= negative - ENDS)
    return inside & (min(x.positive, negative) >= LEAST)


def band_level(space: str, x: CurveLists, level: float, seed: int) -> float:
    """Return the level of pointwise intervals that are simultaneous over the lists (sup-t).

    If each influence is multiplied by a standard normal number, the sums vary like the whole curve.
    """
    from scipy import special

    every, x = x.n.size, _some(x)
    a, b, c, d = (v[:, np.newaxis] for v in _influence(space, x))
    inside = ((x.n - x.above) / x.size)[:, np.newaxis]
    end = x.above + np.where(inside[:, 0] > 0, x.size, 0.0)
    edges, back = np.unique(np.concatenate([x.above, end]), return_inverse=True)
    tp = np.zeros(edges.size)
    tp[back] = np.concatenate([x.tp_above, x.tp_above + x.tp_block * (inside[:, 0] > 0)])
    counts = [
        np.diff(y, prepend=-_ADDED, append=last + _ADDED)
        for y, last in ((tp, x.positive), (edges - tp, x.total - x.positive))
    ]
    drawn = np.random.default_rng(seed).standard_normal((2, edges.size + 1, DRAWS))
    first, last = back[: x.n.size], back[x.n.size :]
    z = np.zeros((x.n.size, DRAWS))
    for size, normal, (whole, listed) in zip(counts, drawn, ((a, b), (d, c)), strict=True):
        sums = np.cumsum(np.sqrt(np.maximum(size, 0.0))[:, np.newaxis] * normal, axis=0)
        within = sums[first] + inside * (sums[last] - sums[first])
        z += whole * sums[-1] + listed * within
    scale = np.sqrt(np.mean(z**2, axis=1))[:, np.newaxis]
    z /= np.where(scale > 0.0, scale, np.inf)
    factor = critical_value(np.abs(z).max(axis=0, initial=0.0), level)
    if x.n.size < every:  # Siegmund's correction for the lists between two points
        factor += _BETWEEN * float(np.sqrt(np.mean(np.diff(z, axis=0) ** 2)))
    return 1.0 - 2.0 * float(special.ndtr(-factor))


def _some(x: CurveLists) -> CurveLists:
    """Return at most ``_POINTS`` lists, evenly spaced on the logit scales of both classes."""
    if x.n.size <= _POINTS:
        return x
    middle = 0.5 * (x.tp / x.positive + (x.n - x.tp) / (x.total - x.positive))
    middle = np.clip(middle, 1e-9, 1.0 - 1e-9)
    scale = np.log(middle / (1.0 - middle))
    kept = np.unique(np.searchsorted(scale, np.linspace(scale[0], scale[-1], _POINTS)))
    kept = kept[kept < x.n.size]
    return x.chosen(kept)
