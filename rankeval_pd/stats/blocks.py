"""Sums of blocks of items, from which workers draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

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
    signs_rank,
    sums_of_products,
    sums_of_squares,
)

# ----------------- Contributions to all sums from blocks of items that are distributed over workers
#
# All sums are exact or integers, so the blocks and the order of addition do not matter: they equal
# those in :class:`rankeval_pd.stats.item_gains.Draws`. Statistics are (system, item, statistic).

Positions = slice | IntArray  #: positions of a block's items in the order of all labels


class Plan(NamedTuple):
    """A planned computation over the items, and the required data."""

    n_items: int
    score: Score
    sign: float
    linear: str | None
    options: PairOptions
    pairs: IntArray  #: (pair, 2), all requested pairs in any order
    signs: bool  #: whether contributions to the scores and random signs are needed
    swaps: bool  #: whether sums over swapped items are needed
    ranked: bool  #: whether resampled scores are always needed

    @property
    def adds(self) -> bool:
        """Whether contributions to the scores are needed."""
        return self.signs or self.options.skewness

    @property
    def ratio_form(self) -> RatioForm | None:
        """The score as a ratio of sums, or None if it is not such a ratio."""
        if self.linear is not None:
            return None
        return RATIO_FORMS.get(self.score)


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

    items: int
    sums: ExactSums  #: sums of the statistics, (system x statistic,)
    sizes: FloatArray  #: (system, statistic): largest absolute numbers
    below: tuple[float, float]  #: smallest and largest second statistic
    both: (
        IntArray | None
    )  #: (system, system): number of items that both systems answer correctly, if all are 0 or 1

    def plus(self, other: Facts) -> Facts:
        """Return the combined properties of both blocks."""
        least, largest = zip(self.below, other.below, strict=True)
        both = None
        if self.both is not None and other.both is not None:
            both = self.both + other.both
        return Facts(
            self.items + other.items,
            self.sums.plus(other.sums),
            np.maximum(self.sizes, other.sizes),
            (min(least), max(largest)),
            both,
        )


def facts_of(block: ItemStatistics) -> Facts:
    """Return the properties of the items in a block."""
    values = block.statistics
    systems, items, width = values.shape
    rows = np.moveaxis(values, 1, 2).reshape(systems * width, items)
    below = (np.inf, -np.inf)
    if width > 1 and items:
        below = float(values[..., 1].min()), float(values[..., 1].max())
    both = None
    if below in ((1.0, 1.0), (np.inf, -np.inf)):
        first = values[..., 0]
        if ((first == 0.0) | (first == 1.0)).all():
            both = sums_of_products(first).astype(np.int64)
    return Facts(
        items,
        exact_sums(rows),
        np.abs(rows).max(axis=1, initial=0.0).reshape(systems, width),
        below,
        both,
    )


class ItemTotals(NamedTuple):
    """Sums and common properties of all items, and the plan of the computation."""

    plan: Plan
    totals: FloatArray  #: (system, statistic)
    sizes: FloatArray
    unit: float | None
    both: IntArray | None

    @property
    def theta(self) -> FloatArray:
        """The scores, oriented so that larger is better."""
        return self.plan.sign * self.plan.score(self.totals)


def known_of(facts: Facts, plan: Plan) -> ItemTotals:
    """Return the properties of all items."""
    if facts.items != plan.n_items:
        raise RuntimeError(
            f"{plan.n_items:,} items were counted, but {facts.items:,} were read: the files"
            " changed, or were split differently. Give the files an index, or read them again."
        )
    totals = facts.sums.rounded().reshape(facts.sizes.shape)
    unit = None
    if plan.linear == "sum":
        unit = 1.0
    if plan.linear == "mean" and facts.below[0] == facts.below[1] != 0.0:
        unit = 1.0 / float(totals[0, 1])
    both = None
    if plan.linear == "mean" and facts.below == (1.0, 1.0):
        both = facts.both
    return ItemTotals(plan, totals, facts.sizes, unit, both)


# ---------------------------------------------------------------------------------- contributions


class Linear(NamedTuple):
    """Linearized contributions of items to a metric that is not a sum over items."""

    slopes: FloatArray  #: (system, statistic)
    about: FloatArray  #: (system,): remainder, divided among all items
    weight: float


def first_sums(block: ItemStatistics, known: ItemTotals) -> ExactSums | None:
    """Return the sums of linearized contributions and of weights."""
    if not known.plan.adds or known.unit is not None:
        return None
    values = block.statistics
    slopes = gradients(known.totals, known.plan.score)
    return exact_sums(
        np.vstack([bootstrap.first_order(values, slopes), _item_weights(values, known.plan.linear)])
    )


def linear_of(summed: ExactSums | None, known: ItemTotals) -> Linear | None:
    """Return the derivatives for linearized contributions; None if not needed."""
    if summed is None:
        return None
    found = summed.rounded()
    about = known.plan.score(known.totals) - found[:-1]
    return Linear(gradients(known.totals, known.plan.score), about, float(found[-1]))


def _item_weights(values: FloatArray, linear: str | None) -> FloatArray:
    if linear == "mean":
        return bootstrap.mean_weights(values)
    return np.ones(values.shape[1])


def block_contributions(
    block: ItemStatistics, known: ItemTotals, linear: Linear | None
) -> tuple[FloatArray, FloatArray]:
    """Return contributions (system, item) and weights for the items in a block."""
    sign = known.plan.sign
    if linear is None:
        return sign * block.own[..., 0], np.ones(block.own.shape[1])
    values = block.statistics
    weights = _item_weights(values, known.plan.linear)
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


def added_of(
    block: ItemStatistics, known: ItemTotals, linear: Linear | None
) -> ContributionSums | None:
    """Return the sums and largest values of contributions and weights."""
    if not known.plan.adds:
        return None
    rows = np.vstack(block_contributions(block, known, linear))
    return ContributionSums(exact_sums(rows), np.abs(rows).max(axis=1, initial=0.0))


def squares_of(
    block: ItemStatistics, known: ItemTotals, linear: Linear | None, added: ContributionSums | None
) -> ExactSums | None:
    """Return the sums of squared contributions and of squared pair differences."""
    if added is None:
        return None
    own, weights = block_contributions(block, known, linear)
    raw = known.plan.options.simultaneous
    return sums_of_squares(own, weights, added.level, known.plan.pairs, raw=raw)


def ratio_sums_of(block: ItemStatistics, known: ItemTotals) -> ExactSums | None:
    """Return the sums needed for tests of ratios."""
    form = known.plan.ratio_form
    if form is None or not known.plan.options.skewness:
        return None
    return ratio_sums(block.statistics, form, known.plan.pairs)


# ---------------------------------------------------------------------------- exact distributions


class Laws(NamedTuple):
    """The differences for each pair; None if they cannot lie on a lattice."""

    pairs: tuple[NumberCounts | None, ...]

    @classmethod
    def merged(cls, parts: Sequence[Laws], n_items: int) -> Self:
        """Return the combined differences from all blocks."""
        by_pair = zip(*(laws.pairs for laws in parts), strict=True)
        return cls(tuple(_together(own, n_items) for own in by_pair))


def _together(parts: Sequence[NumberCounts | None], n_items: int) -> NumberCounts | None:
    found = parts[0]
    for part in parts[1:]:
        if found is None or part is None:
            return None
        found = found.plus(part)
    if found is None or has_no_lattice(found.values, n_items):
        return None
    return found


def laws_of(block: ItemStatistics, known: ItemTotals) -> Laws:
    """Return each pair's differences; None if there is no exact distribution."""
    plan = known.plan
    wanted = known.unit is not None and plan.options.method != "monte-carlo"
    if not wanted or block.own.shape[1] == 0:
        empty = None
        if wanted:
            empty = NumberCounts(np.empty(0), np.empty(0, dtype=np.int64))
        return Laws((empty,) * len(plan.pairs))
    better = plan.sign * block.own[..., 0]
    return Laws(tuple(count_numbers(better[a] - better[b], plan.n_items) for a, b in plan.pairs))


class Needs(NamedTuple):
    """The needed draws."""

    signs: bool
    swaps: bool
    counts: bool


def needs_of(known: ItemTotals, laws: Laws) -> Needs:
    """Return the draws that are needed in addition to exact distributions."""
    plan, options = known.plan, known.plan.options
    exact = all(law is not None and lattice_of(law) is not None for law in laws.pairs)
    drawn = not exact or options.simultaneous
    if plan.swaps:
        return Needs(False, drawn, False)
    if nearly_normal(known.both is not None, plan.n_items, options):
        return Needs(False, False, False)
    by_signs = options.event == "wild"
    interval = options.ci or ("" if known.both is not None else "wild")
    plain = known.both is None and (plan.ratio_form is None or not options.skewness)
    ranked = plan.ranked and not (plain and signs_rank(plan.n_items, options))
    return Needs(
        plan.signs and ((by_signs and drawn) or interval == "wild"),
        False,
        ranked or (not by_signs and drawn) or (interval in _DRAWN and not exact),
    )


_DRAWN = ("basic", "percentile")

# ------------------------------------------------------------------------------------------ draws


def swapped_block_sums(
    block: ItemStatistics,
    positions: Positions,
    known: ItemTotals,
    number: int,
    linear: Linear | None = None,
    added: ContributionSums | None = None,
) -> FloatArray:
    """Return sums over the swapped items in a block, as integers (level, resample, column).

    Columns are statistics, or with ``added`` contributions and weights, whose signs are random.
    """
    n, options = known.plan.n_items, known.plan.options
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
        items.statistic_columns(block.statistics), known.plan.n_items, known.sizes.reshape(-1)
    )


CountDraws = tuple[AnyArray | None, np.random.Generator]  #: the next counts, and their generator


def next_counts(
    before: CountDraws | None, known: ItemTotals, number: int, size: int, _after: object
) -> CountDraws:
    """Return how often each item occurs in the next resamples of a block."""
    rng = items.block_generator(known.plan.options.seed, number)
    if before is not None:
        rng = before[1]
    return items.drawn_counts(rng, known.plan.n_items, size), rng


def generator_of(drawn: CountDraws) -> CountDraws:
    """Return the generator for the next counts, after all previous draws."""
    return None, drawn[1]


def of_items(drawn: CountDraws, positions: Positions) -> AnyArray:
    """Return the counts for the items in a block."""
    assert drawn[0] is not None
    return np.ascontiguousarray(drawn[0][:, positions])


def one_after_another(
    parts: Sequence[FloatArray], sizes: FloatArray, *, n_items: int
) -> FloatArray | None:
    """Return the sums for all resamples (resample, column), joined from successive parts."""
    if not parts:
        return None
    columns = WholeColumns(np.empty((0, sizes.size)), n_items, sizes)
    return columns.floats(np.concatenate(parts, axis=1))


# ---------------------------------- Test data and draws for items that are distributed over workers


@dataclass(eq=False)
class RemoteFacts(items.AnyItems):
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

    seeds: items.Seeds | None = None

    def __post_init__(self) -> None:
        """Set the facts that the plan has."""
        plan = self.known.plan
        self.score, self.sign, self.n_systems = plan.score, plan.sign, len(self.known.totals)
        self.n_items, self.n_drawn = plan.n_items, plan.n_items
        self.n_groups = 0  # items are drawn one by one
        self.totals, self.unit = self.known.totals, self.known.unit
        self.ratio_form, self.binary = plan.ratio_form, self.known.both is not None

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
        if self._turned[k]:
            found = NumberCounts(-found.values[::-1], found.times[::-1])
        return lattice_of(found)

    @cached_property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        assert self._gathered.added is not None
        found, accuracy = self._gathered.added.level, bootstrap.WHOLE
        if self._gathered.linear is not None:
            accuracy = bootstrap.LINEARISED
        unit = self._gathered.known.unit or 1.0
        return found._replace(unit=unit, room=accuracy * found.sizes)

    @cached_property
    def item_spread(self) -> ContributionSpread:
        """The variation of the items' contributions: (system,) and (pair,)."""
        if self.items.binary:
            return self._binary_spread
        assert self._gathered.squares is not None
        sizes = [self.items.n_systems, len(self._gathered.known.plan.pairs)] * 2
        squares = self._gathered.squares.rounded()
        found = ContributionSpread(*np.split(squares, np.cumsum(sizes)))
        cubes = found.cubes[self._place] * np.where(self._turned, -1.0, 1.0)
        raw = found.raw
        if raw.size:
            raw = raw[self._place]
        return found._replace(pairs=found.pairs[self._place], cubes=cubes, raw=raw)

    def _ratio_sums(self, form: RatioForm) -> ExactSums:
        found = self._gathered.ratio_sums
        assert found is not None
        own = found.wholes.size - 4 * len(self._gathered.known.plan.pairs)
        order = np.where(self._turned[:, np.newaxis], [0, 2, 1, 3], np.arange(4))
        order += own + 4 * self._place[:, np.newaxis]
        at = np.concatenate([np.arange(own), order.ravel()])
        return ExactSums(found.wholes[at], found.undefined[at])

    @cached_property
    def subsets(self) -> bootstrap.Subsets:
        """The sums of contributions over subsets of the items."""
        if nearly_normal(self.items.binary, self.items.n_items, self.options):
            return self._normal_subsets()
        signed = self._gathered.signed
        assert signed is not None
        return bootstrap.Subsets(signed[:, :-1].T, signed[:, -1], every=False)

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
