"""What is asked of systems over test items: the items, and the options of a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import total
from rankeval_pd.stats.intervals import paired_proportions
from rankeval_pd.stats.resampling import factors, resamples
from rankeval_pd.stats.resampling.metrics import Score

Step = Callable[[int], object]


def quiet(count: int) -> None:
    """Show no progress."""


class AnyItems(Protocol):
    """What a test has to know of systems over items beside what is drawn: see :class:`Items`."""

    @property
    def score(self) -> Score:
        """The metric."""
        ...

    @property
    def sign(self) -> float:
        """-1 where smaller scores are better."""
        ...

    @property
    def seeds(self) -> factors.Seeds | None:
        """How far the systems' trainings vary."""
        ...

    @property
    def totals(self) -> FloatArray:
        """The sums over all items, (system, statistic)."""
        ...

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        ...

    @property
    def n_items(self) -> int:
        """How many items there are."""
        ...

    @property
    def n_groups(self) -> int:
        """How many clusters there are, 0 if items are drawn one by one."""
        ...

    @property
    def n_drawn(self) -> int:
        """How many are drawn: items, or clusters."""
        ...

    @property
    def binary(self) -> bool:
        """Whether every item is right or wrong, on its own."""
        ...

    def unit(self) -> float | None:
        """Return how much one unit of the first statistic adds to the score, if constant."""
        ...

    def cells(self, a: int, b: int) -> paired_proportions.Counts:
        """Return how often both systems are right, the first alone, the second alone, neither."""
        ...


@dataclass(frozen=True)
class Items:
    """What systems did on test items, and how it becomes a score."""

    statistics: FloatArray  #: (system, item, statistic)
    cluster: IntArray | None  #: the number of each item's cluster
    score: Score
    sign: float  #: -1 where smaller scores are better
    linear: str | None  #: "mean" or "sum" of the first statistic, where an exact law may exist
    strata: IntArray | None = None  #: the number of each item's stratum, within which it is drawn
    seeds: factors.Seeds | None = None  #: how far the systems' trainings vary

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.statistics)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.statistics.shape[1])

    @property
    def n_groups(self) -> int:
        """How many clusters there are, 0 if items are drawn one by one."""
        return 0 if self.cluster is None else int(self.cluster.max()) + 1

    @property
    def n_drawn(self) -> int:
        """How many are drawn: items, or clusters."""
        return self.n_items if self.cluster is None else self.n_groups

    @property
    def totals(self) -> FloatArray:
        """The sums over all items, (system, statistic): exact ones, rounded once."""
        return self._totals

    @cached_property
    def _totals(self) -> FloatArray:
        return total(np.moveaxis(self.statistics, 1, 2))

    def cells(self, a: int, b: int) -> paired_proportions.Counts:
        """Return how often both systems are right, the first alone, the second alone, neither."""
        return paired_proportions.cells(*self.statistics[[a, b], :, 0])

    @property
    def drawn(self) -> FloatArray:
        """The statistics of what is drawn: of items, or summed over clusters."""
        if self.cluster is None:
            return self.statistics
        systems, _, width = self.statistics.shape
        summed = np.zeros((systems, int(self.cluster.max()) + 1, width))
        np.add.at(summed.swapaxes(0, 1), self.cluster, self.statistics.swapaxes(0, 1))
        return summed

    @property
    def drawn_strata(self) -> IntArray | None:
        """The number of the stratum of what is drawn: of each item, or cluster."""
        if self.cluster is None or self.strata is None:
            return self.strata
        values = np.empty(int(self.cluster.max()) + 1, dtype=np.int64)
        values[self.cluster] = self.strata
        return values

    def unit(self) -> float | None:
        """Return how much one unit of the first statistic adds to the score, if it is constant.

        It is None where the law of the sum over items is not all there is to the score.
        """
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
        """Whether every item is right or wrong, on its own: then exact laws are known."""
        return (
            self.linear == "mean"
            and self.cluster is None
            and self.strata is None
            and self.seeds is None
            and bool((self.statistics[..., 1] == 1.0).all())
            and paired_proportions.are_binary(self.statistics[..., 0])
        )


class Options(NamedTuple):
    """What is asked."""

    n_resamples: int  #: 0: as many as are needed, see :func:`paired.settled`
    event: str
    method: str
    ci: str  #: "": the one that agrees with the p-value
    adjust: str | None
    alpha: float
    level: float
    seed: resamples.Seed
    keep_order: bool  #: whether a pair's order stays although its gain is negative
    n_alike: int = 1  #: groups of the data, this one among them, whose tests are one family
