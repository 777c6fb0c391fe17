"""Test items, training seeds, strata, and the options for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.exact_sums import exact_total
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.resampling import resamples
from rankeval_pd.stats.resampling.metric_sums import RATIO_FORMS, RatioForm, Score

# ------------------------------------------------------ The test items and the options for a test

Step = Callable[[int], object]


def quiet(count: int) -> None:
    """Show no progress."""


class AnyItems(Protocol):
    """Interface to the data for a test over items; see :class:`Items`."""

    @property
    def score(self) -> Score:
        """The metric."""
        ...

    @property
    def sign(self) -> float:
        """-1 if smaller scores are better."""
        ...

    @property
    def ratio_form(self) -> RatioForm | None:
        """The score as a ratio of sums over independently drawn items, if possible."""
        ...

    @property
    def seeds(self) -> Seeds | None:
        """The variation between training runs of the systems."""
        ...

    @property
    def totals(self) -> FloatArray:
        """The sums over all items: (system, statistic)."""
        ...

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        ...

    @property
    def n_items(self) -> int:
        """The number of items."""
        ...

    @property
    def n_groups(self) -> int:
        """The number of clusters, or 0 if items are drawn one by one."""
        ...

    @property
    def n_drawn(self) -> int:
        """The number of drawn units: items, or clusters."""
        ...

    @property
    def binary(self) -> bool:
        """Whether every item is either correct or wrong."""
        ...

    def unit(self) -> float | None:
        """Return the change in the score per unit of the first statistic, if it is constant."""
        ...

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of 0/1 items that both systems answer correctly: (pair,)."""
        ...


@dataclass(frozen=True)
class Items:
    """System results on test items, and the scoring function."""

    statistics: FloatArray  #: (system, item, statistic)
    cluster: IntArray | None  #: cluster number of each item
    score: Score
    sign: float  #: -1 if smaller scores are better
    linear: str | None  #: "mean" or "sum" of the first statistic if an exact distribution may exist
    strata: IntArray | None = None  #: stratum number of each item; items are drawn within strata
    seeds: Seeds | None = None  #: variation between training runs
    factors: tuple[IntArray, IntArray] | None = None  #: levels of two crossed factors

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        return len(self.statistics)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return int(self.statistics.shape[1])

    @property
    def n_groups(self) -> int:
        """The number of clusters, or 0 if items are drawn one by one."""
        levels = [self.cluster] if self.factors is None else self.factors
        return min(0 if x is None else int(x.max()) + 1 for x in levels)

    @property
    def n_drawn(self) -> int:
        """The number of drawn units: items, or clusters."""
        return self.n_items if self.cluster is None else self.n_groups

    @property
    def totals(self) -> FloatArray:
        """The sums over all items, (system, statistic), with a single rounding."""
        return self._totals

    @cached_property
    def _totals(self) -> FloatArray:
        return exact_total(np.moveaxis(self.statistics, 1, 2))

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of 0/1 items that both systems answer correctly: (pair,)."""
        if len(pairs) > self.n_systems or "_both" in self.__dict__:
            return self._both[pairs[:, 0], pairs[:, 1]]
        right = self.statistics[..., 0]
        return np.array([float(right[a] @ right[b]) for a, b in pairs.tolist()])

    @cached_property
    def _both(self) -> FloatArray:
        return sums_of_products(self.statistics[..., 0])

    @property
    def drawn(self) -> FloatArray:
        """The statistics of the drawn units, which are items or sums over clusters."""
        if self.cluster is None:
            return self.statistics
        systems, _, width = self.statistics.shape
        summed = np.zeros((systems, int(self.cluster.max()) + 1, width))
        np.add.at(summed.swapaxes(0, 1), self.cluster, self.statistics.swapaxes(0, 1))
        return summed

    @property
    def drawn_strata(self) -> IntArray | None:
        """The stratum number of each drawn unit, which is an item or a cluster."""
        if self.cluster is None or self.strata is None:
            return self.strata
        values = np.empty(int(self.cluster.max()) + 1, dtype=np.int64)
        values[self.cluster] = self.strata
        return values

    @property
    def ratio_form(self) -> RatioForm | None:
        """The score as a ratio of sums over individually drawn items, if possible."""
        plain = self.linear is None and self.cluster is None and self.strata is None
        return RATIO_FORMS.get(self.score) if plain else None

    def unit(self) -> float | None:
        """Return the change in the score per unit of the first statistic, or None.

        The result is None if the change is not constant, that is, if the sum over items does not
        determine the score.
        """
        return self._unit

    @cached_property
    def _unit(self) -> float | None:
        if self.strata is not None or self.seeds is not None:
            return None
        if self.linear == "sum":
            return 1.0
        if self.linear is None:
            return None
        below = self.statistics[..., 1]
        if not (below == below.flat[0]).all() or below.flat[0] == 0.0:
            return None
        return 1.0 / float(self.totals[0, 1])

    @property
    def binary(self) -> bool:
        """Whether every item is either correct or wrong, which allows exact distributions."""
        return self._binary

    @cached_property
    def _binary(self) -> bool:
        return (
            self.linear == "mean"
            and self.cluster is None
            and self.strata is None
            and self.seeds is None
            and bool((self.statistics[..., 1] == 1.0).all())
            and differences.are_binary(self.statistics[..., 0])
        )


def better_counts(items: AnyItems, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of 0/1 items on which each system is better: (pair,)."""
    both = items.both_right(pairs)
    one, other = ((items.totals[side, 0] - both).astype(np.int64) for side in pairs.T)
    return (one, other) if items.sign > 0.0 else (other, one)


_EQUAL = 1e-12  # closer scores, relative to their size, differ only by rounding


def scores_of(items: AnyItems) -> FloatArray:
    """Return each system's score, oriented so that larger is better; equal scores do not differ.

    Scores from sums in different orders can differ in the last digit. Such scores all become the
    smallest of them.
    """
    scores: FloatArray = items.sign * items.score(items.totals)
    order = np.argsort(scores)
    ranked = scores[order]
    near = np.diff(ranked) <= _EQUAL * np.abs(ranked[1:])
    first = np.where(np.append(False, near), 0, np.arange(ranked.size))
    scores[order] = ranked[np.maximum.accumulate(first)]
    return scores


def sums_of_products(right: FloatArray) -> FloatArray:
    """Return the sums of products (system, system) for integers (system, item)."""
    result = np.zeros((len(right), len(right)))
    for start in range(0, right.shape[1], 2**16):
        part = np.ascontiguousarray(right[:, start : start + 2**16])
        result += part @ part.T
    return result


class PairOptions(NamedTuple):
    """The options for a test."""

    n_resamples: int  #: number of resamples; 0 means as many as needed, see :func:`paired.settled`
    event: str
    method: str
    ci: str  #: kind of interval; "" is the interval that agrees with the p-value
    adjust: str | None
    alpha: float
    level: float
    seed: resamples.Seed
    keep_order: bool  #: whether the order of a pair is fixed even if the gain is negative
    n_alike: int = 1  #: number of groups in the family of tests, including this one
    alternative: str = "two-sided"
    most: int = 0  #: maximum number of draws if a pair in an adjusted family is undecided
    skewness: bool = False  #: whether sign and swap tests and intervals correct for skewness

    @property
    def simultaneous(self) -> bool:
        """Whether one statistic covers all pairs."""
        return self.adjust in ("max-t", "max-t-stepdown")

    @property
    def tails(self) -> int:
        """The number of tails of the test."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def two_tailed(self) -> float:
        """The level of the two-sided interval with the same limits."""
        return max(1.0 - 2.0 / self.tails * (1.0 - self.level), 1e-9)

    def sided(self, one: FloatArray, two: FloatArray) -> FloatArray:
        """Return p-values for the alternative, from one-sided and two-sided p-values."""
        return two if self.tails == 2 else one


def studentises(options: PairOptions) -> bool:
    """Whether standard errors are needed for each pair in each resample."""
    together = options.simultaneous and options.event != "wild"
    return together or "studentised" in (options.event, options.ci)


_NORMAL_ITEMS = 100_000  # sums over at least this many items are nearly normal


def nearly_normal(binary: bool, n_items: int, options: PairOptions) -> bool:
    """Return whether sums of 0/1 items are drawn from a normal distribution."""
    many = binary and n_items >= _NORMAL_ITEMS
    return many and options.method != "monte-carlo" and not studentises(options)


def signs_rank(n_drawn: int, options: PairOptions) -> bool:
    """Return whether the signs drawn for the tests also determine the possible ranks.

    With many items, scores from signs and from resampling have the same distribution, and
    resampling takes three times as long.
    """
    by_signs = options.event == "wild" and options.ci in ("", "wild")
    return n_drawn >= _NORMAL_ITEMS and by_signs and options.method != "monte-carlo"


# -------------------------------------------------------------------------------------------------
# Training seeds (crossed with items) and strata (sets of items)


class Seeds(NamedTuple):
    """The variation of the systems' scores between training runs with different seeds.

    If the scores of training runs are normal, the standardized mean of R runs has a t distribution
    with R - 1 degrees of freedom, and draws come from this distribution. Resampled means of R runs
    have only (R - 1)/R of the variance and a normal distribution, which is far too narrow with
    three to five seeds.
    """

    error: FloatArray  #: (system,): standard error of the mean over seeds
    freedom: FloatArray  #: (system,): degrees of freedom; equal if the systems share a variance
    trained: IntArray  #: (system,): number of training runs
    pooled: bool = False

    def freedom_of(self, pairs: IntArray) -> FloatArray:
        """Return the degrees of freedom for the difference between two means: (pair,).

        Welch's formula is used with the smaller number of training runs for both systems. If the
        larger number were used, tests would be liberal when the system with fewer runs varies more.
        """
        if self.pooled:
            return self.freedom[pairs[:, 0]]
        squares = self.error[pairs] ** 2
        total, fourth = squares.sum(axis=1), (squares**2).sum(axis=1)
        equal = np.where(fourth > 0.0, total**2 / np.where(fourth > 0.0, fourth, 1.0), 1.0)
        return np.asarray(equal * self.freedom[pairs].min(axis=1))


def seeds_of(scores: FloatArray, *, pooled: bool = False) -> Seeds:
    """Return the variation of scores (system, seed), which are NaN for missing runs."""
    count = (~np.isnan(scores)).sum(axis=1)
    mean = np.nansum(scores, axis=1, keepdims=True) / count[:, np.newaxis]
    squares, freedom = np.nansum((scores - mean) ** 2, axis=1), count - 1.0
    if pooled:
        squares, freedom = (np.full(count.shape, x.sum()) for x in (squares, freedom))
    return Seeds(np.sqrt(squares / freedom / count), freedom, count, pooled)


def mean_of_strata(score: Score, strata: int) -> Score:
    """Return the mean score over strata from sums (..., stratum x statistic)."""

    def averaged(sums: AnyArray) -> FloatArray:
        return np.asarray(score(sums.reshape(*sums.shape[:-1], strata, -1)).mean(axis=-1))

    return averaged


def mean_of_seeds(score: Score, seeds: int) -> Score:
    """Return the mean score over seeds from sums (..., seed x statistic).

    The last statistic for each seed is positive if the system has a training run with this seed.
    """

    def averaged(sums: AnyArray) -> FloatArray:
        apart = sums.reshape(*sums.shape[:-1], seeds, -1)
        there = apart[..., -1] > 0.0
        result = np.where(there, score(apart[..., :-1]), 0.0)
        return np.asarray(result.sum(axis=-1) / there.sum(axis=-1))

    return averaged


def in_strata(values: FloatArray, strata: IntArray) -> FloatArray:
    """Return statistics (..., item, statistic) with separate columns for each stratum."""
    count, width = int(strata.max()) + 1, values.shape[-1]
    apart = np.zeros((*values.shape[:-1], count, width))
    apart[..., np.arange(strata.size), strata, :] = values
    return apart.reshape(*values.shape[:-1], count * width)


def in_seeds(values: FloatArray, there: BoolArray) -> FloatArray:
    """Return (system, seed, item, statistic) as (system, item, seed x statistic).

    If a training run is missing, all statistics are 0, including the last.
    """
    systems, seeds, items, width = values.shape
    filled = np.zeros((systems, seeds, items, width + 1))
    filled[there, :, :width] = values[there]
    filled[there, :, width] = 1.0
    return np.moveaxis(filled, 1, 2).reshape(systems, items, seeds * (width + 1))


def within_strata(values: FloatArray, weights: FloatArray, strata: IntArray) -> FloatArray:
    """Return contributions (system, drawn) centered within strata, with the same sum.

    Differences between strata are not random if items are drawn within strata. Deviations in a
    stratum of n items are enlarged to correct for n - 1 degrees of freedom. All deviations are
    multiplied by the ratio of two 97.5% quantiles, the t quantile with Welch-Satterthwaite degrees
    of freedom and the normal quantile.
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
