"""Test data and draws for items that are distributed over workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import ExactSums
from rankeval_pd.stats.resampling import bootstrap_tests, test_items
from rankeval_pd.stats.resampling.blocks import ContributionSums, ItemTotals, Laws, Linear
from rankeval_pd.stats.resampling.item_draws import Draws
from rankeval_pd.stats.resampling.lattice import Lattice, lattice_of
from rankeval_pd.stats.resampling.metric_sums import (
    ContributionLevel,
    ContributionSpread,
    RatioForm,
    Score,
    contribution_spread,
)
from rankeval_pd.stats.resampling.test_items import PairOptions, nearly_normal, quiet


@dataclass(frozen=True)
class RemoteFacts:
    """Known properties and draws for items that are distributed over workers."""

    known: ItemTotals
    laws: Laws
    linear: Linear | None
    added: ContributionSums | None
    squares: ExactSums | None
    signed: FloatArray | None  #: (resample, system and weight)
    swapped: FloatArray | None  #: (trial, system x statistic)
    counted: FloatArray | None  #: (resample, system x statistic)
    ratio_sums: ExactSums | None

    seeds: test_items.Seeds | None = None

    @property
    def score(self) -> Score:
        """The metric."""
        return self.known.plan.score

    @property
    def sign(self) -> float:
        """-1 if smaller scores are better, else 1."""
        return self.known.plan.sign

    @property
    def ratio_form(self) -> RatioForm | None:
        """The score as a ratio of sums."""
        return self.known.plan.ratio_form

    @property
    def totals(self) -> FloatArray:
        """The sums over all items: (system, statistic)."""
        return self.known.totals

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        return len(self.known.totals)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.known.plan.n_items

    @property
    def n_groups(self) -> int:
        """The number of groups, which is 0 because items are drawn individually."""
        return 0

    @property
    def n_drawn(self) -> int:
        """The number of drawn items."""
        return self.n_items

    @property
    def binary(self) -> bool:
        """Whether every item is correct or wrong."""
        return self.known.both is not None

    def unit(self) -> float | None:
        """Return the change in the score per unit of the first statistic, if it is constant."""
        return self.known.unit

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of items that both systems answer correctly: (pair,)."""
        assert self.known.both is not None
        return self.known.both[pairs[:, 0], pairs[:, 1]].astype(float)

    def draws(self, pairs: IntArray, options: PairOptions) -> Draws:
        """Return the draws."""
        return GatheredDraws(self, pairs, options)


class GatheredDraws(Draws):
    """Draws for items that are distributed over workers."""

    def __init__(self, gathered: RemoteFacts, pairs: IntArray, options: PairOptions) -> None:
        super().__init__(gathered, pairs, options, quiet)
        self._gathered = gathered
        planned = gathered.known.plan.pairs
        places = {tuple(sorted(pair)): k for k, pair in enumerate(planned.tolist())}
        self._place = np.array([places[tuple(sorted(pair))] for pair in pairs.tolist()])
        self._turned = (planned[self._place] != pairs).any(axis=1)

    def lattices(self, which: IntArray, *, drawn: bool) -> list[Lattice | None]:
        """Return the lattices for the pairs' differences."""
        if self.items.binary:
            return self._binary_lattices(which)
        return [self._lattice(k) for k in which.tolist()]

    def _lattice(self, k: int) -> Lattice | None:
        found = self._gathered.laws.pairs[self._place[k]]
        if found is None:
            return None
        return lattice_of(found.negative() if self._turned[k] else found)

    @cached_property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        assert self._gathered.added is not None
        return self._gathered.added.level

    @cached_property
    def item_spread(self) -> ContributionSpread:
        """The variation of the items' contributions: (system,) and (pair,)."""
        if self.items.binary:
            return self._binary_spread
        assert self._gathered.squares is not None
        planned = len(self._gathered.known.plan.pairs)
        found = contribution_spread(self._gathered.squares, self.items.n_systems, planned)
        cubes = found.cubes[self._place] * np.where(self._turned, -1.0, 1.0)
        return found._replace(
            pairs=found.pairs[self._place], cubes=cubes,
            raw=found.raw[self._place] if found.raw.size else found.raw,
        )  # fmt: skip

    def _ratio_sums(self, form: RatioForm) -> ExactSums:
        found = self._gathered.ratio_sums
        assert found is not None
        own = found.wholes.size - 4 * len(self._gathered.known.plan.pairs)
        order = np.where(self._turned[:, np.newaxis], [0, 2, 1, 3], np.arange(4))
        order += own + 4 * self._place[:, np.newaxis]
        at = np.concatenate([np.arange(own), order.ravel()])
        return ExactSums(found.wholes[at], found.undefined[at])

    @property
    def unit(self) -> float:
        """The change in the score per unit of contribution."""
        return self._gathered.known.unit or 1.0

    @property
    def accuracy(self) -> float:
        """The accuracy of contributions, relative to the largest contribution."""
        return (
            bootstrap_tests.WHOLE if self._gathered.linear is None else bootstrap_tests.LINEARISED
        )

    @cached_property
    def subsets(self) -> bootstrap_tests.Subsets:
        """The sums of contributions over subsets of the items."""
        if nearly_normal(self.items.binary, self.items.n_items, self.options):
            return self._normal_subsets()
        signed = self._gathered.signed
        assert signed is not None
        return bootstrap_tests.Subsets(signed[:, :-1].T, signed[:, -1], every=False)

    @cached_property
    def moved(self) -> FloatArray:
        """The sums of the swapped statistics: (trial, system, statistic)."""
        assert self._gathered.swapped is not None
        return self._gathered.swapped.reshape(-1, *self.items.totals.shape)

    def _drawn_scores(self) -> tuple[FloatArray, FloatArray | None]:
        counted = self._gathered.counted
        assert counted is not None
        scores = self.items.score(counted.reshape(-1, *self.items.totals.shape))
        return self.items.sign * scores.T + self.trained, None
