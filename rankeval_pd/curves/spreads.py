"""What an area, or a difference of areas, varies by, and how many candidates that rests on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.errors import warn
from rankeval_pd.nbest.clustered import warn_of_few
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import areas

_FEW = 10  # candidates of a class, below which the intervals are known to fall short


class Found(NamedTuple):
    """What an area varies by, from the influence of every candidate on it."""

    spread: areas.Spread
    positive: AnyArray  #: true positives, or groups of them that count as much
    negative: AnyArray
    groups: tuple[IntArray, ...]  #: where candidates belong together, how many groups there are

    @property
    def error(self) -> FloatArray:
        """The standard error."""
        return np.sqrt(self.spread.variance)

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom: one less than the smaller class has candidates, or groups show."""
        if self.spread.of_squares is not None:
            return np.minimum(self.spread.freedom, self.spread.of_squares)
        return np.asarray(np.minimum(self.positive, self.negative) - 1.0)


def spread_of(
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray | None,
    *,
    what: str = "area",
    warns: bool = True,
) -> Found:
    """Return what varies, of candidates or of whole groups of them; say where these are few."""
    positive, negative = _classes(gold, present)
    if cluster is None:
        if warns:
            _warn_if_few(positive, negative, what)
        return Found(areas.spread(influence, gold, present), positive, negative, ())
    result = areas.cluster_spread(influence, gold, present, cluster)
    if warns:
        warn_of_few(result.n_groups[result.n_groups > 0])
    # where all stand right, or all alike, groups show no variance: each counts as one candidate
    known = result.spread.variance > 0.0
    few, many = result.effective
    positive, negative = np.where(known, positive, few), np.where(known, negative, many)
    return Found(result.spread, positive, negative, (result.n_groups,))


def found_of(spread: areas.Spread, positive: IntArray, negative: IntArray) -> Found:
    """Return the same where the variance is known; say where a class is small."""
    _warn_if_few(positive, negative, "area")
    return Found(spread, positive, negative, ())


def _classes(gold: BoolArray, present: BoolArray) -> tuple[IntArray, IntArray]:
    """Return how many true positives there are, and how many other candidates."""
    gold, present = np.broadcast_arrays(gold, present)
    return (gold & present).sum(axis=-1), (~gold & present).sum(axis=-1)


def _warn_if_few(positive: IntArray, negative: IntArray, what: str) -> None:
    least = np.minimum(positive, negative)
    few = (least > 1) & (least < _FEW)  # of fewer than two there is no interval
    if few.any():
        warn(
            f"{what}: a class has {int(least[few].min())} candidates, and from fewer than {_FEW}"
            " the interval, or the test, may hold its level less well than it says. Read it as a"
            " rough one, or pool groups."
        )


def p_of_t(statistic: FloatArray, freedom: FloatArray | float, alternative: str) -> FloatArray:
    """Return the p-value of Student's t, or with endless freedom of the normal distribution."""
    from scipy import special

    far = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    tail = special.ndtr(far) if np.isscalar(freedom) else special.stdtr(freedom, far)
    return np.asarray(2.0 * tail if alternative == "two-sided" else tail, dtype=float)
