"""Envelopes with equal local levels for random rankings.

The probability of reaching the boundary for a level t is a step function of t. The steps are at the
tail probabilities P(X_n >= i), and a million candidates have tens of millions of steps. Because one
evaluation is expensive, the search starts at a level predicted by a model, estimates the heights of
the steps, and closes the bracket from both ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.boundary import boundary_probability
from rankeval_pd.stats.random_model.random_counts import critical_counts, largest_tail

_EQUAL = 1e-12  # probabilities within this relative difference count as equal
_MOST_STEPS = 2**14  # number of highest steps that are listed; all other steps count as a slope
_MARGIN = 0.03  # relative error allowed for a guess
_LEAST_ASIDE = 1e-4  # minimum fraction of the bracket by which a trial exceeds the guess
_CORRELATION_TIME = 0.3  # list sizes further apart than this log-odds time are independent


class Envelope(NamedTuple):
    """Counts that a random ranking reaches at any n with a probability of at most alpha."""

    counts: FloatArray  #: one count for each n
    local_level: float  #: largest P(X_n >= count) over all n


def envelope(
    alpha: float,
    n: FloatArray,
    population: Population,
    step: Callable[[int], object] = lambda _: None,
) -> Envelope:
    """Return the envelope with equal local levels for distinct list sizes n in any order.

    The count at n is min{i: P(X_n >= i) <= t} with the same t for all n. t is the largest level for
    which the probability of reaching a count at any n is at most alpha. This t lies between alpha /
    (number of list sizes) and alpha. ``step`` is called for every t that is tried.
    """
    if n.size == 0:
        return Envelope(n.copy(), math.nan)
    unsorted, n = n, np.sort(n)
    search = _LevelSearch(alpha, n, population, step)
    best = search.largest_level()
    local_level = math.exp(largest_tail(best.log_t, n, population))
    return Envelope(best.counts[np.searchsorted(n, unsorted)], local_level)


class _LevelTrial(NamedTuple):
    """A level, its boundary, and the probability that a random ranking reaches the boundary."""

    log_t: float
    counts: FloatArray
    reached: float


class _LevelSearch:
    """The search for the largest level at which the boundary's probability is <= alpha."""

    def __init__(
        self,
        alpha: float,
        n: FloatArray,
        population: Population,
        step: Callable[[int], object],
    ) -> None:
        self.alpha, self.n, self.population, self.step = alpha, n, population, step
        self.time = _log_odds_time(n, population)
        self.heights = _step_heights(n, self.time, population)

    def at(self, log_t: float) -> _LevelTrial:
        """Try a level."""
        counts = critical_counts(np.array([log_t]), self.n, self.population)
        (reached,) = boundary_probability(counts, self.n, self.population)
        self.step(1)
        return _LevelTrial(log_t, counts[0], float(reached))

    def holds(self, tried: _LevelTrial) -> bool:
        """Return whether the boundary for a level is reached with probability <= alpha."""
        return tried.reached <= self.alpha * (1.0 + _EQUAL)

    def largest_level(self) -> _LevelTrial:
        """Close the bracket from both ends."""
        low, high = self.bracket()
        behind = 0  # consecutive moves of the nearer end: the guess falls short
        while high is not None:
            log_t = self.between(low, high, _MARGIN * 4.0**behind)
            if log_t is None:
                break
            middle = self.at(log_t)
            # a trial from the nearer end that lands just beyond the level moves the other end
            share = _share_below(self.alpha, low.reached, high.reached)
            far_end_moved = self.holds(middle) == (share >= 0.5)
            behind = 0 if far_end_moved else behind + 1
            low, high = (middle, high) if self.holds(middle) else (low, middle)
        return low

    def bracket(self) -> tuple[_LevelTrial, _LevelTrial | None]:
        """Return a level that satisfies the condition, and one that does not (None if all do).

        Trials start at the level of the model and move toward the desired level by the distance
        that the model predicts, or at least twice the previous distance.
        """
        lowest, highest = math.log(self.alpha) - math.log(self.n.size), math.log(self.alpha)
        here = self.at(min(max(self.likely_level(0.0), lowest), highest))
        step = 0.0
        while not (self.holds(here) and here.log_t == highest):
            up = self.holds(here)
            # the factor by which the model's hazard is off, and the corrected level for alpha
            off = _log_hazard(here.reached) - math.log(self.hazard(-_normal_quantile(here.log_t)))
            way = abs(self.likely_level(off) - here.log_t) if math.isfinite(off) else 0.5
            step = max((1.0 + _MARGIN) * way, 2.0 * step, _LEAST_ASIDE)
            there = self.at(min(max(here.log_t + (step if up else -step), lowest), highest))
            if there.log_t == lowest or self.holds(there) != up:
                return (here, there) if up else (there, here)
            here = there
        return here, None

    def between(self, low: _LevelTrial, high: _LevelTrial, margin: float) -> float | None:
        """Return a level just beyond the predicted level, as seen from the nearer end.

        Return None if there is no step between the two ends.
        """
        # position of alpha between the hazards of the two ends, shifted by the margin
        share = _share_below(self.alpha, low.reached, high.reached)
        aside = max(min(share, 1.0 - share), _LEAST_ASIDE) * margin
        upwards = share < 0.5
        share = min(max(share + (aside if upwards else -aside), 0.0), 1.0)
        tails, heights, rest = self.steps(low, high)
        known = np.cumsum(heights)
        if rest:  # many small steps are not listed, so add their hazard as a slope
            slope = rest * (tails - low.log_t) / (high.log_t - low.log_t)
            levels = [low.log_t, *np.repeat(tails, 2), high.log_t]
            at = np.stack([known - heights + slope, known + slope], axis=1).reshape(-1)
            whole = rest + heights.sum()
            log_t = float(np.interp(share * whole, [0.0, *at, whole], levels))
            return log_t if low.log_t < log_t < high.log_t else (low.log_t + high.log_t) / 2.0
        if tails.size < 2:  # the last step is the boundary for the higher level
            return None
        wanted = share * float(known[-1])
        if upwards:
            place = int(np.searchsorted(known, wanted, "left"))
        else:
            place = int(np.searchsorted(known, wanted, "right")) - 1
        return float(tails[min(max(place, 0), tails.size - 2)])

    def steps(self, low: _LevelTrial, high: _LevelTrial) -> tuple[FloatArray, FloatArray, float]:
        """Return the steps between two levels, their heights, and the total of the rest.

        The heights are in an arbitrary unit. Equal tail probabilities form a single step.
        """
        # number of counts between the two boundaries at each n: (n)
        many = (low.counts - high.counts).astype(np.int64)
        whole = float((many * self.heights).sum())
        listed = np.flatnonzero(many)
        if many.sum() > _MOST_STEPS:
            listed = listed[np.argsort(-self.heights[listed], kind="stable")]
            listed = np.sort(listed[np.cumsum(many[listed]) <= _MOST_STEPS])
        # one entry for each listed step: n, and the count above the lower boundary
        times = many[listed]
        at = np.repeat(listed, times)
        above = np.arange(at.size) - np.repeat(np.cumsum(times) - times, times)
        tails = self.population.tails(high.counts[at] + above, self.n[at]).ge
        # steps in ascending order; equal tails are added up
        order = np.argsort(tails)
        tails, heights = tails[order], self.heights[at[order]]
        new = np.diff(tails, prepend=low.log_t) > _EQUAL
        which = np.cumsum(new)
        sums = np.bincount(which, heights, minlength=1)[1:].astype(float)
        rest = whole - float(self.heights[at].sum()) if listed.size < np.count_nonzero(many) else 0
        return tails[new], sums, float(rest)

    def likely_level(self, off: float) -> float:
        """Return the log t at which the model, corrected by ``off``, has the probability alpha."""
        from scipy import special

        wanted = -math.log1p(-self.alpha) / math.exp(off)
        # bisection: the hazard decreases as the boundary c (in standard deviations) increases
        low, high = 0.0, 40.0
        while high - low > 1e-6:
            c = (low + high) / 2.0
            low, high = (c, high) if self.hazard(c) > wanted else (low, c)
        return float(special.log_ndtr(-low))

    def hazard(self, c: float) -> float:
        """Return the approximate number of upward crossings of c by a Brownian bridge.

        X_n is modeled as a Brownian bridge in time n / N. After standardization, on the time scale
        log(n / (N - n)) / 2, a bridge is an Ornstein-Uhlenbeck process, which crosses c about T c
        phi(c) times in a time T.
        """
        above = math.erfc(c / math.sqrt(2.0)) / 2.0
        time = float(self.time[-1] - self.time[0])
        return above + time * c * math.exp(-c * c / 2.0) / math.sqrt(2.0 * math.pi)


def _normal_quantile(log_t: float) -> float:
    from scipy import special

    return min(float(special.ndtri_exp(log_t)), 0.0)


def _log_hazard(p: float) -> float:
    """Return log(-log(1 - p)), the log rate of a Poisson process with probability p."""
    if 0.0 < p < 1.0:
        return math.log(-math.log1p(-p))
    return math.inf if p else -math.inf


def _share_below(wanted: float, low: float, high: float) -> float:
    """Return how far a probability lies between two others, on the log-rate scale."""
    first, wanted, last = (_log_hazard(p) for p in (low, wanted, high))
    if not (first < last and math.isfinite(last - first)):
        return 0.5
    return min(max((wanted - first) / (last - first), 0.0), 1.0)


def _log_odds_time(n: FloatArray, population: Population) -> FloatArray:
    """Return the time scale on which X_n resembles an Ornstein-Uhlenbeck process."""
    time: FloatArray = np.log(n) / 2.0
    if isinstance(population, Finite):
        time -= np.log(np.maximum(population.total - n, 1.0)) / 2.0
    return time


def _step_heights(n: FloatArray, time: FloatArray, population: Population) -> FloatArray:
    """Return the approximate effect of changing each count by one, in a common unit.

    Moving the boundary by one standard deviation has the same effect over equal time spans. The
    result converts standard deviations of X_n to counts.
    """
    gaps = np.minimum(np.diff(time), _CORRELATION_TIME)
    around = np.append(gaps, _CORRELATION_TIME) + np.insert(gaps, 0, _CORRELATION_TIME)
    prior = population.prior
    variance = n * prior * (1.0 - prior)
    if isinstance(population, Finite):
        variance = variance * (1.0 - n / population.total)
    heights: FloatArray = around / np.sqrt(variance + 0.25)
    return heights
