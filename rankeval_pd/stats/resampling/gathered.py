"""Items that are spread over workers, as a test sees them: what is known, and what was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import Sums
from rankeval_pd.stats.intervals.paired_proportions import Counts
from rankeval_pd.stats.resampling import factors, wild
from rankeval_pd.stats.resampling.asked import Options, quiet
from rankeval_pd.stats.resampling.blocks import Added, Known, Laws, Linear
from rankeval_pd.stats.resampling.draws import Draws
from rankeval_pd.stats.resampling.lattice import Lattice, lattice_of
from rankeval_pd.stats.resampling.metrics import Score
from rankeval_pd.stats.resampling.spread import Level, Spread, spread_of


@dataclass(frozen=True)
class Gathered:
    """What is known of items that are spread over workers, and what was drawn of them there."""

    known: Known
    laws: Laws
    linear: Linear | None
    added: Added | None
    squares: Sums | None
    signed: FloatArray | None  #: (resample, system and weight)
    swapped: FloatArray | None  #: (trial, system x statistic)
    counted: FloatArray | None  #: (resample, system x statistic)

    seeds: factors.Seeds | None = None

    @property
    def score(self) -> Score:
        """The metric."""
        return self.known.plan.score

    @property
    def sign(self) -> float:
        """-1 where smaller scores are better."""
        return self.known.plan.sign

    @property
    def totals(self) -> FloatArray:
        """The sums over all items, (system, statistic)."""
        return self.known.totals

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.known.totals)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.known.plan.n_items

    @property
    def n_groups(self) -> int:
        """0: items are drawn one by one."""
        return 0

    @property
    def n_drawn(self) -> int:
        """How many are drawn."""
        return self.n_items

    @property
    def binary(self) -> bool:
        """Whether every item is right or wrong."""
        return self.known.both is not None

    def unit(self) -> float | None:
        """Return how much one unit of the first statistic adds to the score, if constant."""
        return self.known.unit

    def cells(self, a: int, b: int) -> Counts:
        """Return how often both systems are right, the first alone, the second alone, neither."""
        assert self.known.both is not None
        both, right_a, right_b = (int(self.known.both[i, j]) for i, j in ((a, b), (a, a), (b, b)))
        return both, right_a - both, right_b - both, self.n_items - right_a - right_b + both

    def draws(self, pairs: IntArray, options: Options) -> Draws:
        """Return what was drawn."""
        return GatheredDraws(self, pairs, options)


class GatheredDraws(Draws):
    """What was drawn of items that are spread over workers."""

    def __init__(self, gathered: Gathered, pairs: IntArray, options: Options) -> None:
        super().__init__(gathered, pairs, options, quiet)
        self._gathered = gathered
        planned = gathered.known.plan.pairs
        places = {tuple(sorted(pair)): k for k, pair in enumerate(planned.tolist())}
        self._place = np.array([places[tuple(sorted(pair))] for pair in pairs.tolist()])
        self._turned = (planned[self._place] != pairs).any(axis=1)

    def lattices(self, which: IntArray, *, drawn: bool) -> list[Lattice | None]:
        """Return the lattices of pairs' differences."""
        return [self._lattice(k) for k in which.tolist()]

    def _lattice(self, k: int) -> Lattice | None:
        found = self._gathered.laws.pairs[self._place[k]]
        if found is None:
            return None
        return lattice_of(found.negative() if self._turned[k] else found)

    @cached_property
    def level(self) -> Level:
        """How large the contributions are."""
        assert self._gathered.added is not None
        return self._gathered.added.level

    @cached_property
    def spread(self) -> Spread:
        """How far they are spread, (system,) and (pair,)."""
        assert self._gathered.squares is not None
        planned = len(self._gathered.known.plan.pairs)
        found = spread_of(self._gathered.squares, self.items.n_systems, planned)
        raw = found.raw[self._place] if found.raw.size else found.raw
        return Spread(found.systems, found.pairs[self._place], raw)

    @property
    def unit(self) -> float:
        """How much 1 in a contribution adds to the score."""
        return self._gathered.known.unit or 1.0

    @property
    def accuracy(self) -> float:
        """How exact contributions are, relative to the largest."""
        return wild.WHOLE if self._gathered.linear is None else wild.LINEARISED

    @cached_property
    def subsets(self) -> wild.Subsets:
        """The sums of contributions over subsets of the items."""
        signed = self._gathered.signed
        assert signed is not None
        return wild.Subsets(signed[:, :-1].T, signed[:, -1], every=False)

    @cached_property
    def moved(self) -> FloatArray:
        """The sums of the statistics that are swapped, (trial, system, statistic)."""
        assert self._gathered.swapped is not None
        return self._gathered.swapped.reshape(-1, *self.items.totals.shape)

    @cached_property
    def _resampled(self) -> tuple[FloatArray, FloatArray | None]:
        counted = self._gathered.counted
        assert counted is not None
        scores = self.items.score(counted.reshape(-1, *self.items.totals.shape))
        return self.items.sign * scores.T + self.trained, None
