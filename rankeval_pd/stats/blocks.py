"""Sums of blocks of items, from which workers draw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats import bootstrap, items
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.bootstrap import (
    Lattice,
    NumberCounts,
    count_numbers,
    gradients,
    has_no_lattice,
    lattice_of,
)
from rankeval_pd.stats.item_gains import Draws, ratio_sums
from rankeval_pd.stats.items import (
    RATIO_FORMS,
    AnyItems,
    ContributionLevel,
    ContributionSpread,
    ExactSums,
    PairOptions,
    RatioForm,
    Score,
    WholeColumns,
    exact_sums,
    nearly_normal,
    quiet,
    sums_of_products,
    sums_of_squares,
)

# ---- Contributions to all sums from blocks of items that are distributed over workers
#
# All sums are exact or integers, so the blocks and the order of addition do not matter: they equal
# those in :class:`rankeval_pd.stats.item_gains.Draws`. Statistics are (system, item, statistic).

Positions = slice | IntArray  #: positions of a block's items in the order of all labels


class ItemStatistics(NamedTuple):
    """Statistics for some items."""

    own: FloatArray  #: (system, item, statistic)
    ones: bool  #: whether the last statistic, the number of items, is omitted

    @property
    def statistics(self) -> FloatArray:
        """All statistics: (system, item, statistic)."""
        if not self.ones:
            return self.own
        return np.concatenate([self.own, np.ones((*self.own.shape[:2], 1))], axis=2)


class Facts(NamedTuple):
    """Sums and common properties of the items in a block."""

    sums: ExactSums  #: sums of the statistics, (system x statistic,)
    sizes: FloatArray  #: (system, statistic): largest absolute numbers
    below: tuple[float, float]  #: smallest and largest second statistic
    both: IntArray | None  #: (system, system): items that both answer correctly, if all are 0 or 1

    def plus(self, other: Facts) -> Facts:
        """Return the combined properties of both blocks."""
        least, largest = zip(self.below, other.below, strict=True)
        both = None
        if self.both is not None and other.both is not None:
            both = self.both + other.both
        return Facts(
            self.sums.plus(other.sums),
            np.maximum(self.sizes, other.sizes),
            (min(least), max(largest)),
            both,
        )


def facts_of(block: ItemStatistics) -> Facts:
    """Return the properties of the items in a block."""
    values = block.statistics
    systems, n_items, width = values.shape
    rows = np.moveaxis(values, 1, 2).reshape(systems * width, n_items)
    below = (np.inf, -np.inf)
    if width > 1 and n_items:
        below = float(values[..., 1].min()), float(values[..., 1].max())
    both = None
    if below in ((1.0, 1.0), (np.inf, -np.inf)):
        first = values[..., 0]
        if ((first == 0.0) | (first == 1.0)).all():
            both = sums_of_products(first).astype(np.int64)
    return Facts(
        exact_sums(rows),
        np.abs(rows).max(axis=1, initial=0.0).reshape(systems, width),
        below,
        both,
    )


class ItemTotals(NamedTuple):
    """The metric, and the totals of all items, which every block needs."""

    n_items: int
    score: Score
    sign: float
    linear: str | None
    totals: FloatArray  #: (system, statistic)
    sizes: FloatArray


# ---- contributions


class Linear(NamedTuple):
    """Linearized contributions of items to a metric that is not a sum over items."""

    slopes: FloatArray  #: (system, statistic)
    about: FloatArray  #: (system,): remainder, divided among all items
    weight: float


def first_sums(block: ItemStatistics, known: ItemTotals) -> ExactSums:
    """Return the sums of linearized contributions and of weights."""
    values = block.statistics
    slopes = gradients(known.totals, known.score)
    return exact_sums(
        np.vstack([bootstrap.first_order(values, slopes), _item_weights(values, known.linear)])
    )


def _item_weights(values: FloatArray, linear: str | None) -> FloatArray:
    if linear == "mean":
        return bootstrap.mean_weights(values)
    return np.ones(values.shape[1])


def block_contributions(
    block: ItemStatistics, known: ItemTotals, linear: Linear | None
) -> tuple[FloatArray, FloatArray]:
    """Return contributions (system, item) and weights for the items in a block."""
    sign = known.sign
    if linear is None:
        return sign * block.own[..., 0], np.ones(block.own.shape[1])
    values = block.statistics
    weights = _item_weights(values, known.linear)
    added = bootstrap.first_order(values, linear.slopes)
    return sign * (added + weights / linear.weight * linear.about[:, np.newaxis]), weights


class ContributionSums(NamedTuple):
    """Sums and largest values of contributions, followed by those of weights."""

    sums: ExactSums
    sizes: FloatArray

    def plus(self, other: ContributionSums) -> ContributionSums:
        """Return the combined sums and maxima."""
        return ContributionSums(self.sums.plus(other.sums), np.maximum(self.sizes, other.sizes))

    @property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        summed = self.sums.rounded()
        return ContributionLevel(summed[:-1], self.sizes[:-1], float(summed[-1]))


def added_of(block: ItemStatistics, known: ItemTotals, linear: Linear | None) -> ContributionSums:
    """Return the sums and largest values of contributions and weights."""
    rows = np.vstack(block_contributions(block, known, linear))
    return ContributionSums(exact_sums(rows), np.abs(rows).max(axis=1, initial=0.0))


def squares_of(
    block: ItemStatistics,
    known: ItemTotals,
    linear: Linear | None,
    level: ContributionLevel,
    pairs: IntArray,
    raw: bool,
) -> ExactSums:
    """Return the sums of squared contributions and of squared pair differences."""
    own, weights = block_contributions(block, known, linear)
    return sums_of_squares(own, weights, level, pairs, raw=raw)


def ratio_sums_of(block: ItemStatistics, form: RatioForm, pairs: IntArray) -> ExactSums:
    """Return the sums needed for tests of ratios."""
    return ratio_sums(block.statistics, form, pairs)


# ---- exact distributions


class Laws(NamedTuple):
    """The differences for each pair; None if they cannot lie on a lattice."""

    pairs: tuple[NumberCounts | None, ...]
    n_items: int

    def plus(self, other: Laws) -> Laws:
        """Return the combined differences from both blocks."""
        together = []
        for own, more in zip(self.pairs, other.pairs, strict=True):
            both = None
            if own is not None and more is not None:
                both = own.plus(more)
                if has_no_lattice(both.values, self.n_items):
                    both = None
            together.append(both)
        return Laws(tuple(together), self.n_items)


def laws_of(block: ItemStatistics, known: ItemTotals, pairs: IntArray) -> Laws:
    """Return each pair's differences."""
    better = known.sign * block.own[..., 0]
    counts = [count_numbers(better[a] - better[b], known.n_items) for a, b in pairs]
    return Laws(tuple(counts), known.n_items)


# ---- draws


def swapped_block_sums(
    block: ItemStatistics,
    positions: Positions,
    known: ItemTotals,
    options: PairOptions,
    number: int,
    linear: Linear | None = None,
    added: ContributionSums | None = None,
) -> FloatArray:
    """Return sums over the swapped items in a block, as integers (level, resample, column).

    Columns are statistics, or with ``added`` contributions and weights, whose signs are random.
    """
    n = known.n_items
    columns = columns_of(block, known)
    if added is not None:
        rows = np.vstack(block_contributions(block, known, linear))
        columns = WholeColumns(rows.T, n, added.sizes)
    size = min(items.BLOCK, options.n_resamples - number * items.BLOCK)
    if not isinstance(positions, slice):
        return columns.sums(items.swaps_of(n, 0, n, number, size, options.seed), positions)
    first, last = positions.start, positions.stop
    packed = items.swaps_of(n, first, last, number, size, options.seed)
    return columns.sums(packed, np.arange(first % 8, first % 8 + last - first))


def columns_of(block: ItemStatistics, known: ItemTotals) -> WholeColumns:
    """Return the statistics of a block, prepared for weighted sums."""
    return WholeColumns(
        items.statistic_columns(block.statistics), known.n_items, known.sizes.reshape(-1)
    )


def next_counts(
    rng: np.random.Generator, n_items: int, size: int, _after: object
) -> tuple[AnyArray, np.random.Generator]:
    """Return how often each item occurs in the next resamples, and the generator after them."""
    return items.drawn_counts(rng, n_items, size), rng


def counted_sums(own: WholeColumns, counts: AnyArray, positions: Positions) -> FloatArray:
    """Return the sums over the drawn items in a block, as integers (level, resample, column)."""
    return own.sums(np.ascontiguousarray(counts[:, positions]))


# ---- Test data and draws for items that are distributed over workers


class RemoteItems(AnyItems):
    """Items that are distributed over workers.

    ``workers`` (:class:`rankeval_pd.doors.dask.Blocks`) return sums over all blocks of items.
    """

    seeds = None
    n_groups = 0  # items are drawn one by one

    def __init__(self, workers: Any, score: Score, sign: float, linear: str | None) -> None:
        self.workers, self.score, self.sign = workers, score, sign
        facts: Facts = workers.total(facts_of)
        self.n_items = self.n_drawn = workers.n_items
        self.totals = facts.sums.rounded().reshape(facts.sizes.shape)
        self.n_systems = len(self.totals)
        self.known = ItemTotals(self.n_items, score, sign, linear, self.totals, facts.sizes)
        self.ratio_form, self.unit, self._both = None, None, None
        if linear is None:
            self.ratio_form = RATIO_FORMS.get(score)
        if linear == "sum":
            self.unit = 1.0
        if linear == "mean" and facts.below[0] == facts.below[1] != 0.0:
            self.unit = 1.0 / float(self.totals[0, 1])
        if linear == "mean" and facts.below == (1.0, 1.0):
            self._both = facts.both
        self.binary = self._both is not None
        self._ratios: dict[bytes, ExactSums] = {}

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of items that both systems answer correctly: (pair,)."""
        assert self._both is not None
        return self._both[pairs[:, 0], pairs[:, 1]].astype(float)

    def draws(self, pairs: IntArray, options: PairOptions) -> Draws:
        """Return the draws."""
        return RemoteDraws(self, pairs, options)

    def ratio_sums(self, form: RatioForm, pairs: IntArray) -> ExactSums:
        """Return the sums needed for tests of ratios, which the workers add only once."""
        key = pairs.tobytes()
        if key not in self._ratios:
            self._ratios[key] = self.workers.total(ratio_sums_of, form=form, pairs=pairs)
        return self._ratios[key]


class RemoteDraws(Draws):
    """Draws for items that are distributed over workers."""

    def __init__(self, remote: RemoteItems, pairs: IntArray, options: PairOptions) -> None:
        super().__init__(remote, pairs, options, quiet)
        self._remote, self._known, self._workers = remote, remote.known, remote.workers

    def lattices(self, which: IntArray, *, drawn: bool) -> list[Lattice | None]:
        """Return the lattices for the pairs' differences."""
        if self.items.binary:
            return self._binary_lattices(which)
        pairs = self.pairs[which]
        result: list[Lattice | None] = []
        for law in self._workers.total(laws_of, known=self._known, pairs=pairs).pairs:
            lattice = None
            if law is not None:
                lattice = lattice_of(law)
            result.append(lattice)
        return result

    @cached_property
    def _linear(self) -> Linear | None:
        """The derivatives for linearized contributions, or None for sums over items."""
        if self.items.unit is not None:
            return None
        known = self._known
        summed = self._workers.total(first_sums, known=known).rounded()
        about = known.score(known.totals) - summed[:-1]
        return Linear(gradients(known.totals, known.score), about, float(summed[-1]))

    @cached_property
    def _added(self) -> ContributionSums:
        added: ContributionSums = self._workers.total(
            added_of, known=self._known, linear=self._linear
        )
        return added

    @cached_property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        found, accuracy = self._added.level, bootstrap.WHOLE
        if self._linear is not None:
            accuracy = bootstrap.LINEARISED
        return found._replace(unit=self.items.unit or 1.0, room=accuracy * found.sizes)

    @cached_property
    def item_spread(self) -> ContributionSpread:
        """The variation of the items' contributions: (system,) and (pair,)."""
        if self.items.binary:
            return self._binary_spread
        squares = self._workers.total(
            squares_of,
            known=self._known,
            linear=self._linear,
            level=self._added.level,
            pairs=self.pairs,
            raw=self.options.simultaneous,
        )
        sizes = [self.items.n_systems, len(self.pairs)] * 2
        return ContributionSpread(*np.split(squares.rounded(), np.cumsum(sizes)))

    @cached_property
    def subsets(self) -> bootstrap.Subsets:
        """The sums of contributions over subsets of the items."""
        if nearly_normal(self.items.binary, self.items.n_items, self.options):
            return self._normal_subsets()
        parts = self._workers.swapped(
            known=self._known, options=self.options, linear=self._linear, added=self._added
        )
        signed = self._floats(parts, self._added.sizes)
        return bootstrap.Subsets(signed[:, :-1].T, signed[:, -1], every=False)

    @cached_property
    def moved(self) -> FloatArray:
        """The sums of the swapped statistics: (trial, system, statistic)."""
        parts = self._workers.swapped(known=self._known, options=self.options)
        return self._floats(parts, self._known.sizes)

    def _drawn_scores(self) -> FloatArray:
        parts = self._workers.counted(self._known, self.options)
        return self.items.score(self._floats(parts, self._known.sizes)).T

    def _floats(self, parts: Sequence[FloatArray], sizes: FloatArray) -> FloatArray:
        """Return the sums for all resamples (resample, ...), joined from successive parts."""
        columns = WholeColumns(np.empty((0, sizes.size)), self.items.n_items, sizes.reshape(-1))
        return columns.floats(np.concatenate(parts, axis=1)).reshape(-1, *sizes.shape)

    def _ratio_sums(self, form: RatioForm) -> ExactSums:
        return self._remote.ratio_sums(form, self.pairs)
