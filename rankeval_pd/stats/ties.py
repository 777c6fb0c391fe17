"""What the orders of tied candidates can change: lists and tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats import distributions, swaps
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.proportions import p_of_t
from rankeval_pd.stats.ranking import NBest, Ranking, Regions, edge_precision
from rankeval_pd.stats.two_by_two import score_test

# -------- Means and ranges over all tie orders for two lists that end inside blocks of equal scores
#
# A list of size n contains j of the m candidates in its last block of equal scores. On average over
# the orderings, each of these has a weight of j / m, those above 1, and those below 0.

TAIL = 0.025  # fraction of the tie orders in each tail
_Z = 1.959963984540054  # normal quantile for TAIL
_FEW = 3.0  # standard deviation above which the distribution over tie orders is treated as normal
_NONE = 1e-9  # smaller numbers of candidates are rounding errors


def ranking_alone(side: Ranking, at: tuple[Any, ...], present: BoolArray) -> Ranking:
    """Return one ranking of a batch, restricted to the candidates in a mask."""
    order = side.order[at]
    compact = np.cumsum(present) - 1
    return Ranking.of(
        side.score[at][present],
        side.gold[at][present],
        present[present],
        ends=side.ends,
        whole=side.whole and side.whole.of(at[-1]),
        positions=compact[order[present[order]]],
    )


class Ends(NamedTuple):
    """Store the effect of random tie orders on lists that split a tie (..., n)."""

    low: IntArray  #: the 2.5% quantile of the difference in true positives
    high: IntArray
    only: IntArray  #: mean number of candidates in only one list
    positive: IntArray  #: total number of true positives in the two difference regions
    below: IntArray  #: nearest n that splits no tie, or 0 if no such n exists
    above: IntArray

    @property
    def tables(self) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Return the table of the two regions at both limits over tie orders."""
        only = self.only
        for gap in (self.low, self.high):
            tp_b = (self.positive - gap + 1) // 2  # the sum is odd if the difference is odd
            yield np.clip(tp_b + gap, 0, only), only, np.clip(tp_b, 0, only), only

    def statistics(self) -> FloatArray:
        """Return the swap statistic (limit, n) at both limits."""
        none = np.zeros_like(self.only)
        at_ends = []
        for tp_a, only, tp_b, _ in self.tables:
            at_ends.append(swaps.region_statistic(Regions(none, none, tp_a, tp_b), only))
        return np.stack(at_ends)


class TiedLists:
    """The lists of two rankings of the same candidates, (n), with weights for tied scores."""

    def __init__(self, a: Ranking, b: Ranking, n: IntArray) -> None:
        self.n, self.gold, self.pair = n, a.gold, (a, b)
        self.lists: tuple[NBest, ...] = a.nbest(n), b.nbest(n)
        self.shares = [(n - x.block.above) / x.block.size for x in self.lists]

    @property
    def cut_off(self) -> bool:
        """Whether only the top ranks are available, so that the last blocks can be incomplete."""
        whole = self.pair[0].whole
        return whole is not None and whole.reach < whole.total

    @cached_property
    def levels(self) -> list[list[IntArray]]:
        """For each ranking, the n at which each weight first exceeds 0 and first reaches 1."""
        edges = [[np.take(x, side.ranks - 1) for x in side.blocks] for side in self.pair]
        return [[start + 1, end] for start, end in edges]

    def _reached(self, *levels: IntArray) -> IntArray:
        """Count the candidates that have reached all of these levels: (label, n)."""
        level = np.maximum.reduce(levels)
        near = level <= self.n.max(initial=0)
        each = np.bincount(
            2 * level[near] + self.gold[near], minlength=2 * self.n.max(initial=0) + 2
        )
        return np.cumsum(each.reshape(-1, 2), axis=0)[self.n].T

    @cached_property
    def counts(self) -> IntArray:
        """The numbers of candidates by state in a and b (out, partly in, in), label and n."""
        found = np.zeros((4, 4, 2, self.n.size), dtype=np.int64)
        a, b = ([np.zeros_like(of[0]), *of] for of in self.levels)
        for x, y in itertools.product(range(3), range(3)):
            found[x, y] = self._reached(a[x], b[y])
        counts = found[:3, :3] - found[1:, :3] - found[:3, 1:] + found[1:, 1:]
        counts[0, 0] = 0  # in neither list
        return counts

    @cached_property
    def weights(self) -> tuple[FloatArray, FloatArray]:
        """The weight of each state in a and in b: (state a, state b, 1, n)."""
        a, b = (np.stack([0.0 * f, f, 1.0 + 0.0 * f]) for f in self.shares)
        return a[:, np.newaxis, np.newaxis], b[np.newaxis, :, np.newaxis]

    def summed(self, values: FloatArray, label: int | None = None) -> FloatArray:
        """Return the sum of a value (state, state, 1, n) over candidates, optionally by label."""
        counts = self.counts
        if label is not None:
            counts = counts[:, :, [label]]
        return np.asarray((counts * values).sum(axis=(0, 1, 2)))

    @cached_property
    def differ(self) -> FloatArray:
        """The weight in a minus the weight in b for each state."""
        return self.weights[0] - self.weights[1]

    @cached_property
    def tp(self) -> list[FloatArray]:
        """The mean number of true positives in each list."""
        blocks = [x.block for x in self.lists]
        return [x.tp_above + f * x.tp for x, f in zip(blocks, self.shares, strict=True)]

    @cached_property
    def only(self) -> FloatArray:
        """The size of each difference region: the total weight in only one of the lists."""
        return self.summed(np.maximum(self.differ, 0.0))

    @cached_property
    def tp_only(self) -> list[FloatArray]:
        """The number of true positives in each difference region."""
        return [self.summed(np.maximum(x, 0.0), 1) for x in (self.differ, -self.differ)]

    @cached_property
    def edges(self) -> list[FloatArray]:
        """The precision around the end of each list."""
        total = np.array([self.gold.size])
        return [edge_precision(x.cumulated("expected"), self.n, total) for x in self.pair]

    def effective(self) -> list[FloatArray]:
        """Return the effective number of whole candidates in each region (Kish 1965)."""
        of_each = (self.summed(np.maximum(x, 0.0) ** 2) for x in (self.differ, -self.differ))
        return [np.where(x > 0, self.only**2 / np.where(x > 0, x, 1.0), 0.0) for x in of_each]

    def p(self, alternative: str) -> FloatArray:
        """Return the p-values for the difference; 1 for equal lists.

        The larger of the score test's, for small counts, and a normal one's, for random thresholds.
        """
        some = self.only > _NONE
        size = np.maximum(self.only, _NONE)
        tp_a, tp_b = (np.clip(tp / size, 0.0, 1.0) for tp in self.tp_only)
        a, b = (np.where(some, x, 1.0) for x in self.effective())
        score = score_test(tp_a * a, a, tp_b * b, b, alternative)
        z = (self.tp[0] - self.tp[1]) / self.n / np.where(some, self.error(), 1.0)
        normal = p_of_t(z, np.inf, alternative)
        return np.where(some, np.minimum(np.maximum(score, normal), 1.0), 1.0)

    def error(self) -> FloatArray:
        """Return the standard error as in ``difference_spread``, with influences times weights."""
        edges, total = self.edges, self.gold.size
        label = np.arange(2.0)[:, np.newaxis]
        influence = sum(
            sign * w * (label - edge)
            for sign, w, edge in zip((1.0, -1.0), self.weights, edges, strict=True)
        )
        drift = (self.tp[0] - self.tp[1]) / self.n - (edges[0] - edges[1])
        squares = self.summed(np.square(influence)) - self.n**2 / total * drift**2
        # candidates added to a list get the mean weight of the list
        usual = (self.summed(w**2 + 0.0 * self.differ) / self.n for w in self.weights)
        added = sum(
            (x * (1.0 - edge)) ** 2 + (x * edge) ** 2 for x, edge in zip(usual, edges, strict=True)
        )
        return np.where(self.only > _NONE, np.sqrt(squares + added) / self.n, 0.0)

    # ------------------------------------------------------------------ The range over tie orders

    def ends(self) -> Ends:
        """Return the range of the true-positive difference over tie orders, and the regions' means.

        The 2.5% and 97.5% quantiles of each list are hypergeometric, and combined like errors.
        """
        low, high = zip(*(_points(x, self.n) for x in self.lists), strict=True)
        a, b = self.tp
        up = self._share * np.hypot(high[0] - a, b - low[1])
        down = self._share * np.hypot(a - low[0], high[1] - b)
        ends = np.rint([a - b - down, a - b + up, *self.regions]).astype(np.int64)
        return Ends(ends[0], ends[1], ends[2], ends[3], *self.uncut())

    def spread_of_orders(self) -> FloatArray:
        """Return the standard deviation of the true-positive difference over tie orders."""
        a, b = (x.block.tp_sd(self.n) for x in self.lists)
        return self._share * np.hypot(a, b)

    @cached_property
    def _blocks(self) -> tuple[FloatArray, FloatArray]:
        """The mean number of candidates in both lists, and in both blocks: (label, n)."""
        (f, g), (some_a, all_a), (some_b, all_b) = self.shares, *self.levels
        whole, of_a, of_b = (
            self._reached(*x) for x in ((all_a, all_b), (all_a, some_b), (some_a, all_b))
        )
        # the top ranks contain every listed candidate, and thus a known fraction of both blocks
        listed = np.minimum(*(x.ranks for x in self.pair)) if self.cut_off else some_a
        seen = self._reached(some_a, some_b, listed) - of_a - of_b + whole
        both = seen / (np.maximum(f, g) if self.cut_off else 1.0)
        shared = whole + (of_a - whole) * g + (of_b - whole) * f + both * np.minimum(f, g)
        return shared, both

    @property
    def regions(self) -> tuple[FloatArray, FloatArray]:
        """The mean region size and mean true positives in the two regions, over tie orders."""
        shared, (a, b) = self._blocks[0], self.tp
        return self.n - shared.sum(axis=0), a + b - 2.0 * shared[1]

    @cached_property
    def _share(self) -> FloatArray:
        return np.sqrt(self._own_variance(self._blocks[1].sum(axis=0)))

    def _own_variance(self, both: FloatArray) -> FloatArray:
        """Return the relative variance of the difference if the lists share a tie order.

        The result is relative to the variance with a separate tie order for each list. ``both``
        is the number of candidates in both blocks.
        """
        blocks = [x.block for x in self.lists]
        r, s = (x.tp / x.size for x in blocks)
        f, g = self.shares
        rate = (r + s) / 2.0  # variance from the candidates in both blocks
        labels = rate * (1.0 - r) * (1.0 - s) + (1.0 - rate) * r * s
        common = both * labels * (np.minimum(f, g) - f * g)
        alone = sum(
            x.size * y * (1.0 - y) * z * (1.0 - z)
            for x, y, z in zip(blocks, (r, s), (f, g), strict=True)
        )
        share = 1.0 - 2.0 * common / np.where(alone > 0.0, alone, 1.0)
        return np.where(share > 1e-12, share, 0.0)

    def uncut(self) -> tuple[IntArray, IntArray]:
        """Return the nearest smaller and larger n that split no block in either list; 0 if none."""
        rank = np.arange(1, self.gold.size + 1)
        whole = self.pair[0].whole
        end = (self.pair[0].blocks[1] == rank) & (self.pair[1].blocks[1] == rank)
        if self.cut_off and whole is not None:
            end &= rank < whole.reach
        below = np.concatenate([[0], np.maximum.accumulate(np.where(end, rank, 0))])
        nearest = np.where(end, rank, rank.size + 1)
        above = np.minimum.accumulate(nearest[::-1])[::-1]
        return below[self.n], np.where(above > rank.size, 0, above)[self.n - 1]


def order_ends(gap: Any, variance: Any, summed: Any, total: Any) -> list[Any]:
    """Return the differences in several groups when the sum is at its ``TAIL`` quantiles, integers.

    For a normal sum, a group deviates from its mean ``gap`` in proportion to its variance.
    """
    reach = _Z * np.sqrt(total)
    share = variance / (total + (total == 0.0))
    return [gap + share * (np.rint(summed + x) - summed) for x in (-reach, reach)]


def _points(lists: NBest, n: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the ``TAIL`` quantiles of a list's true positives over tie orders."""
    size, tp, taken = distributions.broadcast_floats(
        lists.block.size, lists.block.tp, n - lists.block.above
    )
    mean = taken * tp / size
    sd = lists.block.tp_sd(n)
    low = np.rint(mean - _Z * sd)
    high = np.rint(mean + _Z * sd)
    few = (sd > 0.0) & (sd < _FEW)
    if few.any():
        size, tp, taken, mean, sd = (x[few] for x in (size, tp, taken, mean, sd))
        high[few] = _upper_point(size, tp, taken, mean + _Z * sd)
        low[few] = taken - _upper_point(size, size - tp, taken, taken - mean + _Z * sd)
    above = lists.block.tp_above.astype(float)
    return above + low, above + high


def _upper_point(
    size: FloatArray, tp: FloatArray, taken: FloatArray, guess: FloatArray
) -> FloatArray:
    """Return the smallest count exceeded with a probability of at most ``TAIL``."""

    def enough(count: FloatArray, these: IntArray) -> BoolArray:
        above = distributions.tails(count, size[these], tp[these], taken[these]).gt
        return np.exp(above) <= TAIL

    return distributions.first_near(enough, *distributions.support(size, tp, taken), guess)
