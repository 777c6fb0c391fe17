"""Intervals and simultaneous bands of curves: ROC, DET, precision-recall, gain and lift.

If the candidates are a sample, a curve varies with the candidates in its lists and with the ends of
the lists. Let y be the label, w = 1 inside the list of n (f inside a block of equal scores of which
the list takes the share f), and ``edge`` the share of true positives around its end. The influence
of a candidate is

    y (a + b w) + (1 - y) (d + c w),

with, for t = tp / N+, u = fp / (N - N+), s = n / N, r = edge / (1 - edge),

    t at fixed u         a = -t                  b = 1                 c = -r       d = r u
    t at fixed s         a = edge s - t          b = 1 - edge          c = -edge    d = edge s
    logit precision at t a = 1 - tp / (r fp)     b = N+ / (r fp)       c = -N+ / fp d = 0

times 1 / N+ (Hsieh and Turnbull 1996; Ash and Hughes-Oliver 2022). Limits are Clopper and Pearson's
for the number of candidates with this variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.intervals.bands import critical_value
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson

LEAST = 30  #: candidates of either class from which a simultaneous band is drawn
ENDS = 5  #: candidates of a class to either side of every list that it covers
DRAWS = 1000
_POINTS = 200  # lists among which the largest deviation is sought
_BETWEEN = 0.5826
_ADDED = 2.0  # candidates of either class at both ends, so that no variance is 0 by chance
_RATIO = 0.5  # least variance, in units of the binomial one


class CurveLists(NamedTuple):
    """Lists of one ranking, the shortest first, and the classes of the ranking."""

    n: FloatArray
    tp: FloatArray
    edge: FloatArray  #: share of true positives around the end
    above: FloatArray  #: candidates above the block of equal scores that the list cuts, else n
    tp_above: FloatArray
    size: FloatArray  #: candidates of this block, at least 1
    tp_block: FloatArray
    total: int
    positive: int

    def chosen(self, which: AnyArray) -> CurveLists:
        """Return some of the lists."""
        return CurveLists._make([*(x[which] for x in self[:7]), *self[7:]])


class _Influence(NamedTuple):
    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray


def _odds(space: str, x: CurveLists) -> FloatArray:
    """Return the odds of a true positive around the end, moved by their error to the wider side."""
    width = np.maximum(40.0, x.n**0.8)  # of :func:`bands.edge_precision`
    error = np.sqrt(x.edge * (1.0 - x.edge) / width)
    edge = x.edge - error if space == "precision_recall" else x.edge + error
    edge = np.clip(edge, 0.1 / width, 1.0 - 0.1 / width)
    return np.asarray(edge / (1.0 - edge), dtype=float)


def _influence(space: str, x: CurveLists) -> _Influence:
    """Return the influences on N+ times the height of the curve, ``_ADDED`` at the ends."""
    positive, negative = x.positive + 2.0 * _ADDED, x.total - x.positive + 2.0 * _ADDED
    tp, fp = x.tp + _ADDED, x.n - x.tp + _ADDED
    odds = _odds(space, x)
    if space in ("roc", "det"):
        return _Influence(-tp / positive, np.ones_like(tp), -odds, odds * fp / negative)
    if space == "precision_recall":
        return _Influence(1.0 - tp / (odds * fp), positive / (odds * fp), -positive / fp, 0.0 * fp)
    share = (tp + fp) / (positive + negative)  # the edge itself
    d = x.edge * share
    return _Influence(d - tp / positive, 1.0 - x.edge, -x.edge, d)


def _effective(space: str, x: CurveLists) -> FloatArray:
    """Return the number of candidates whose share varies as much as the height of the curve."""
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
    """Return the limits of the height of a curve at each list alone.

    ``space`` is "roc" or "det" (at fixed false positive rate), "gain" or "lift" (at fixed share) or
    "precision_recall" (at fixed recall). "det" and "lift" have the limits of recall.
    """
    size = _effective(space, x)
    share = x.tp / np.maximum(x.n, 1.0) if space == "precision_recall" else x.tp / x.positive
    low, high = clopper_pearson(share * size, size, level)
    if space == "precision_recall":
        return _alike(x.tp, low, high)
    return _alike(x.n - x.tp, low, high) if space in ("roc", "det") else (low, high)


def _alike(across: FloatArray, low: FloatArray, high: FloatArray) -> Limits:
    """Return the outer limits of the lists with the same place on the axis across."""
    first = np.flatnonzero(np.diff(across, prepend=-1.0) > 0.0)
    times = np.diff(np.append(first, across.size))
    low, high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
    return np.repeat(low, times), np.repeat(high, times)


def covered(space: str, x: CurveLists) -> AnyArray:
    """Return which lists a simultaneous band covers."""
    negative, fp = x.total - x.positive, x.n - x.tp
    inside = (x.tp >= ENDS) & (x.tp <= x.positive - ENDS)
    if space in ("roc", "det"):
        inside &= (fp >= ENDS) & (fp <= negative - ENDS)
    return inside & (min(x.positive, negative) >= LEAST)


def band_level(space: str, x: CurveLists, level: float, seed: int) -> float:
    """Return the level of single intervals that hold at all these lists together (sup-t).

    The sums of the influences, each times a standard normal number, vary as the whole curve does.
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
    if x.n.size < every:  # the lists between two points: Siegmund's correction
        factor += _BETWEEN * float(np.sqrt(np.mean(np.diff(z, axis=0) ** 2)))
    return 1.0 - 2.0 * float(special.ndtr(-factor))


def _some(x: CurveLists) -> CurveLists:
    """Return at most ``_POINTS`` of the lists, evenly spaced on a logit scale of both classes."""
    if x.n.size <= _POINTS:
        return x
    middle = 0.5 * (x.tp / x.positive + (x.n - x.tp) / (x.total - x.positive))
    middle = np.clip(middle, 1e-9, 1.0 - 1e-9)
    scale = np.log(middle / (1.0 - middle))
    kept = np.unique(np.searchsorted(scale, np.linspace(scale[0], scale[-1], _POINTS)))
    kept = kept[kept < x.n.size]
    return x.chosen(kept)
