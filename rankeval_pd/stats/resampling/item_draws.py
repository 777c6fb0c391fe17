"""Draws of items, from this process or from the workers that store the items."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, cast

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.exact_sums import ExactSums
from rankeval_pd.stats.resampling import bootstrap_tests, resamples
from rankeval_pd.stats.resampling.lattice import Lattice, lattice, off_lattice
from rankeval_pd.stats.resampling.metric_sums import (
    ContributionLevel,
    ContributionSpread,
    RatioForm,
    contribution_spread,
    leans,
    sums_of_squares,
)
from rankeval_pd.stats.resampling.ratio_gains import RatioGains, ratio_sums
from rankeval_pd.stats.resampling.seed_gains import SeedGains
from rankeval_pd.stats.resampling.test_items import (
    AnyItems,
    Items,
    PairOptions,
    Step,
    better_counts,
    nearly_normal,
    quiet,
    scores_of,
    signs_rank,
    studentises,
)

# ------------------------------- Draws of items, shared by all pairs and computed on first use


class Draws:
    """Draws of items, computed on first use."""

    def __init__(self, items: AnyItems, pairs: IntArray, options: PairOptions, step: Step) -> None:
        self.items, self.pairs, self.options, self.step = items, pairs, options, step
        self.theta = scores_of(items)

    @property
    def there(self) -> Items:
        """The items, in memory."""
        assert isinstance(self.items, Items)
        return self.items

    @cached_property
    def drawn(self) -> FloatArray:
        """The statistics of the drawn units: (system, drawn, statistic)."""
        return self.there.drawn

    def lattices(self, which: IntArray, *, drawn: bool) -> list[Lattice | None]:
        """Return the lattices for the pairs' differences, by item or by ``drawn`` unit."""
        if self.items.binary:
            return self._binary_lattices(which)
        values = self.items.sign * (self.drawn if drawn else self.there.statistics)[..., 0]
        result: list[Lattice | None] = [None] * which.size
        for block in bootstrap_tests.blocks(np.arange(which.size), values.shape[1]):
            a, b = self.pairs[which[block]].T
            differences = values[a] - values[b]
            for row in np.flatnonzero(~off_lattice(differences)).tolist():
                result[block[row]] = lattice(differences[row])
        return result

    def _binary_lattices(self, which: IntArray) -> list[Lattice | None]:
        up, down = better_counts(self.items, self.pairs[which])
        times, n = np.stack([down, self.items.n_items - up - down, up], axis=1), np.arange(-1, 2)
        return [Lattice(1.0, n[row > 0], row[row > 0]) for row in times]

    @cached_property
    def parts(self) -> bootstrap_tests.Contributions:
        """The contributions of items, or clusters, to the scores."""
        return bootstrap_tests.contributions(self.there)

    @cached_property
    def subsets(self) -> bootstrap_tests.Subsets:
        """The sums of contributions over subsets of the items."""
        if nearly_normal(self.items.binary, self.items.n_items, self.options):
            return self._normal_subsets()
        return bootstrap_tests.subset_sums(self.parts, self.there, self.options, self.step)

    @cached_property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        return ContributionLevel.of(self.parts.values, self.parts.weights)

    @cached_property
    def spread(self) -> ContributionSpread:
        """The variation of scores and gains due to items and seeds: (system,) and (pair,)."""
        found, seeds = self.item_spread, self.items.seeds
        if seeds is None:
            return found
        added = (seeds.error / self.unit) ** 2
        pairs = added[self.pairs].sum(axis=1)
        raw = found.raw + pairs if found.raw.size else found.raw
        return found._replace(systems=found.systems + added, pairs=found.pairs + pairs, raw=raw)

    @cached_property
    def item_spread(self) -> ContributionSpread:
        """The variation of the items' contributions: (system,) and (pair,)."""
        if self.items.binary:
            return self._binary_spread
        parts, raw = self.parts, self.options.simultaneous
        summed = sums_of_squares(parts.values, parts.weights, self.level, self.pairs, raw=raw)
        return contribution_spread(summed, len(parts.values), len(self.pairs))

    @property
    def _binary_spread(self) -> ContributionSpread:
        """The variation of 0/1 items, computed from counts."""
        n, right = float(self.items.n_items), self.items.totals[:, 0]
        better, worse = (x.astype(float) for x in better_counts(self.items, self.pairs))

        def powers(up: FloatArray, down: FloatArray, power: int) -> FloatArray:
            mean = (up - down) / n
            away = up * (1.0 - mean) ** power + down * (-1.0 - mean) ** power
            return np.asarray(away + (n - up - down) * (-mean) ** power)

        none = 0.0 * right
        cubes = self.items.sign * powers(right, none, 3) / 8.0, powers(better, worse, 3) / 8.0
        return ContributionSpread(
            powers(right, none, 2), powers(better, worse, 2), *cubes, better + worse
        )

    @property
    def unit(self) -> float:
        """The change in the score per unit of contribution."""
        return self.parts.unit

    @property
    def factor(self) -> float:
        """The factor that converts sum(contributions) / sum(weights) to a score."""
        return self.unit * self.level.weight

    @cached_property
    def moved(self) -> FloatArray:
        """The sums of the swapped statistics: (trial, system, statistic)."""
        n, systems, width = self.drawn.shape[1], len(self.drawn), self.drawn.shape[2]
        every = resamples.swaps_every(n, self.options.method)
        size = 2**n if every else self.options.n_resamples
        chunks = (
            resamples.all_swaps(n) if every else resamples.swap_chunks(n, size, self.options.seed)
        )
        columns = resamples.whole_columns(resamples.statistic_columns(self.drawn), n)
        result = np.empty((size, systems, width))
        for rows, swaps in resamples.chunk_slices(chunks):
            result[rows] = resamples.weighted_sums(swaps, columns).reshape(-1, systems, width)
            self.step(len(swaps))
        return result

    @cached_property
    def scores(self) -> FloatArray:
        """Resampled scores (system, resample), oriented so that larger is better."""
        return self._resampled[0]

    @property
    def ranked_scores(self) -> FloatArray:
        """Resampled scores for ranks: (system, resample)."""
        plain = self.items.seeds is None and self.parametric is None and not self.items.binary
        if not plain or not signs_rank(self.items.n_drawn, self.options):
            return self.scores
        moved = self.subsets.weights / self.level.weight * self.level.sums[:, np.newaxis]
        return self.theta[:, np.newaxis] + 2.0 * self.unit * (moved - self.subsets.values)

    @cached_property
    def errors(self) -> FloatArray:
        """The standard error of each pair's gain in each resample: (pair, resample)."""
        result = self._resampled[1]
        assert result is not None
        return result

    @cached_property
    def own_errors(self) -> FloatArray:
        """The standard error of each pair's gain, computed as for resamples: (pair,)."""
        once, sums = np.ones((1, self.drawn.shape[1])), self.drawn.sum(axis=1)[np.newaxis]
        return np.asarray(self._with_seeds(self._errors_of(once, sums))[:, 0])

    def _errors_of(self, weights: AnyArray, sums: FloatArray) -> FloatArray:
        """Return standard errors (pair, resample) for weights (resample, item)."""
        unit = self.items.unit()
        if unit is not None:
            return bootstrap_tests.mean_errors(weights, self.drawn[..., 0], self.pairs, unit)
        return bootstrap_tests.standard_errors(
            weights, sums, self.drawn, self.items.score, self.pairs, self.there.drawn_strata
        )

    @cached_property
    def _together(self) -> FloatArray:
        """The number of items that both systems answer correctly: (system, system)."""
        every = np.arange(self.items.n_systems)
        pairs = np.stack(np.meshgrid(every, every, indexing="ij"), axis=-1).reshape(-1, 2)
        return self.items.both_right(pairs).reshape(every.size, every.size)

    def _normal_subsets(self) -> bootstrap_tests.Subsets:
        """Return normally distributed sums over random subsets of 0/1 items."""
        sums = np.append(self.items.sign * self.items.totals[:, 0], self.items.n_items)
        squares = np.block([[self._together, sums[:-1, np.newaxis]], [sums]])
        drawn = resamples.normal_draws(sums / 2.0, squares / 4.0, *self._size)
        self.step(len(drawn))
        return bootstrap_tests.Subsets(drawn[:, :-1].T, drawn[:, -1], every=False)

    @property
    def _size(self) -> tuple[int, resamples.Seed]:
        return self.options.n_resamples, self.options.seed

    def _normal_scores(self) -> FloatArray:
        """Return normally distributed scores for resamples of 0/1 items."""
        n = self.items.n_items
        spread = (self._together / n - np.outer(self.theta, self.theta)) / n
        return resamples.normal_draws(self.theta, spread, *self._size).T

    @cached_property
    def _resampled(self) -> tuple[FloatArray, FloatArray | None]:
        if nearly_normal(self.items.binary, self.items.n_items, self.options):
            return self._normal_scores(), None
        return self._drawn_scores()

    def _drawn_scores(self) -> tuple[FloatArray, FloatArray | None]:
        items, drawn, options = self.there, self.drawn, self.options
        n = drawn.shape[1]
        strata = items.drawn_strata
        chunks = resamples.count_chunks(n, options.n_resamples, options.seed, strata)
        if not studentises(options):
            result = resamples.resampled_scores(
                drawn, items.score, chunks, options.n_resamples, self.step
            )
            return items.sign * result + self.trained, None
        errors = np.empty((len(self.pairs), options.n_resamples))
        scores = np.empty((len(drawn), options.n_resamples))
        flat = resamples.whole_columns(resamples.statistic_columns(drawn), n)
        for rows, weights in resamples.chunk_slices(chunks):
            sums = resamples.weighted_sums(weights, flat).reshape(-1, len(drawn), drawn.shape[2])
            scores[:, rows] = items.score(sums).T
            errors[:, rows] = self._errors_of(weights, sums)
            self.step(len(weights))
        return items.sign * scores + self.trained, self._with_seeds(errors)

    @cached_property
    def trained(self) -> FloatArray | float:
        """The deviations of scores in other training runs, (system, resample); 0 without seeds."""
        seeds, options = self.items.seeds, self.options
        if seeds is None:
            return 0.0
        t = resamples.t_draws(seeds.freedom, options.n_resamples, options.seed)
        return np.asarray(seeds.error[:, np.newaxis] * t.T)

    def _with_seeds(self, errors: FloatArray) -> FloatArray:
        """Return standard errors (pair, ...) including the variation across seeds."""
        if self.items.seeds is None:
            return errors
        variance = (self.items.seeds.error[self.pairs] ** 2).sum(axis=1)
        return np.asarray(np.sqrt(errors**2 + variance[:, np.newaxis]))

    @cached_property
    def scale(self) -> FloatArray:
        """The scale of each system's scores, for tests of equality."""
        largest = np.fmax.reduce(np.abs(self.scores), axis=1, initial=0.0)
        return np.asarray(np.fmax(np.abs(self.theta), largest))

    @cached_property
    def without(self) -> FloatArray:
        """The leave-one-out scores for each item or cluster."""
        return self.items.sign * resamples.leave_one_out(self.drawn, self.items.score)

    def gains(self, which: AnyArray) -> FloatArray:
        """Return the gains for some pairs: (pair,)."""
        a, b = self.pairs[which].T
        return np.asarray(self.theta[a] - self.theta[b])

    def turned(self, which: AnyArray) -> FloatArray:
        """Return sums of contributions over subsets with flipped signs: (pair, subset)."""
        a, b = self.pairs[which].T
        return np.asarray(self.subsets.values[a] - self.subsets.values[b])

    def room_of(self, systems: AnyArray) -> FloatArray:
        """Return the largest sum of a system's contributions that can be a rounding error."""
        return np.asarray(self.accuracy * self.level.sizes[systems])

    def room(self, which: AnyArray) -> FloatArray:
        """Return the largest sum of contributions that can be a rounding error: (pair,)."""
        return np.asarray(self.room_of(self.pairs[which]).max(axis=1))

    @property
    def accuracy(self) -> float:
        """The accuracy of contributions, relative to the largest contribution."""
        return self.parts.accuracy

    def linear_errors(self, which: AnyArray) -> FloatArray:
        """Return the standard errors of gains by linearization: (pair,)."""
        error = np.sqrt(self.spread.pairs[which])
        return np.where(error > self.room(which), self.unit * error, 0.0)

    @property
    def error_parts(self) -> tuple[FloatArray, FloatArray] | None:
        """The parts of the standard errors due to items and due to seeds: (pair,)."""
        seeds = self.items.seeds
        if seeds is None:
            return None
        of_seeds = np.sqrt((seeds.error[self.pairs] ** 2).sum(axis=1))
        return self.unit * np.sqrt(self.item_spread.pairs), of_seeds

    @cached_property
    def leans(self) -> FloatArray:
        """The skewness of contributions divided by the square root of the sample size: (pair,)."""
        return leans(self.spread.pairs, self.spread.cubes, self.level, self.pairs)

    @cached_property
    def parametric(self) -> RatioGains | SeedGains | None:
        """The parametric tests for seeds or for ratios of sums; None for other data.

        Ratios must lie between 0 and 1. These tests do not need draws; draws are only used for the
        correlation between pairs.
        """
        items, form = self.items, self.items.ratio_form
        if items.seeds is not None:
            skewed, spread = self.options.skewness, self.item_spread
            lean = leans(self.spread.systems, spread.system_cubes, self.level,
                         np.arange(items.n_systems)[:, np.newaxis])  # fmt: skip
            both = (lean, self.leans) if skewed else (0.0 * lean, 0.0 * self.leans)
            square = (self.unit * self.student_factor) ** 2
            return SeedGains(
                self.theta, self.pairs, items.seeds, (square * spread.systems,
                square * spread.pairs), both, items.n_drawn - 1.0,
            )  # fmt: skip
        if form is None or not self.options.skewness:
            return None
        found = RatioGains(items.totals, self._ratio_sums(form), form, self.pairs, items.sign)
        return found if found.bounded else None

    def _ratio_sums(self, form: RatioForm) -> ExactSums:
        return ratio_sums(self.there.statistics, form, self.pairs)

    @property
    def student_factor(self) -> float:
        """Return the factor that converts sqrt(sum of squares) to a standard error."""
        return float(np.sqrt(self.items.n_drawn / (self.items.n_drawn - 1.0)))


_FEW_GROUPS = 10  # with fewer groups, the correlation between gain and size is unknown
_FEW = 30  # skewness is checked up to this number of items
_SKEWED = 1.4, 0.02  # increase per item
_TAIL = 1.5  # start of the tail, in standard deviations from the mean
_AGAINST = 0.9  # standard errors between 0 and the mean of items outside the tail


def skewed(items: AnyItems, pairs: IntArray, options: PairOptions) -> bool:
    """Return whether a pair has few, skewed items, or a system has a constant extreme score.

    Tests are liberal if a few large gains balance small losses on all other items, or vice versa. A
    sample may lack the items with large gains. A tail is harmless if the other gains average about
    0, for example if some queries differ strongly in both directions. If a system has the same
    score on all items, its rare failures or successes are missing from the sample.
    """
    if not isinstance(items, Items) or items.n_groups or items.n_drawn > _FEW or items.binary:
        return False
    draws = Draws(items, pairs, options, quiet)
    every = np.arange(len(pairs))
    varies = draws.linear_errors(every) > 0.0
    skewness = np.abs(draws.leans) * np.sqrt(items.n_drawn)
    low, high = draws.parts.values.min(axis=1), draws.parts.values.max(axis=1)
    flat = (low == high) & ((low == low.min()) | (high == high.max()))
    most = _SKEWED[0] + _SKEWED[1] * items.n_drawn
    most += 0.1 * np.log(len(pairs))  # among many pairs, some are skewed by chance
    lopsided = (skewness > most) & _against_the_tail(draws, np.sign(draws.leans))
    return bool((varies & (lopsided | flat[pairs].any(axis=1))).any())


def _against_the_tail(draws: Draws, side: FloatArray) -> AnyArray:
    """Return whether gains outside the tail have the opposite sign, for each pair."""
    a, b = draws.pairs.T
    gains = side[:, np.newaxis] * (draws.parts.values[a] - draws.parts.values[b])
    about = gains - gains.mean(axis=1, keepdims=True)
    rest = about <= _TAIL * about.std(axis=1, keepdims=True)
    count = np.maximum(rest.sum(axis=1), 1)  # False if a score is undefined
    mean = np.where(rest, gains, 0.0).sum(axis=1) / count
    squares = np.where(rest, (gains - mean[:, np.newaxis]) ** 2, 0.0).sum(axis=1)
    return np.asarray(mean < -_AGAINST * np.sqrt(squares / np.maximum(count - 1, 1) / count))


_UNEVEN = 1.4  # ratio of groups to effective groups above which a few groups dominate the mean
_MOVES = 0.05  # p-value for the correlation between the size and the mean gain of a group


def moves_with_size(items: AnyItems, pairs: IntArray) -> bool:
    """Return whether cluster sizes differ greatly and correlate with the gain of a pair.

    In this case, a few large clusters dominate the mean over items, and a sample may lack such
    clusters.
    """
    if not isinstance(items, Items) or items.cluster is None or items.factors is not None:
        return False
    from scipy import special

    parts = bootstrap_tests.contributions(items)
    size, n = parts.weights[: items.n_groups], items.n_groups
    # uses the clusters' degrees of freedom; weighted groups all have the same size
    if n < _FEW_GROUPS or n * (size @ size) <= _UNEVEN * size.sum() ** 2:
        return False
    mean = (parts.values[:, :n] / size)[pairs]
    gain = mean[:, 0] - mean[:, 1]
    gain, size = gain - gain.mean(axis=1, keepdims=True), size - size.mean()
    scale = np.sqrt((gain**2).sum(axis=1) * (size @ size))
    r = np.clip(gain @ size / np.where(scale > 0.0, scale, 1.0), -1.0 + 1e-12, 1.0 - 1e-12)
    p = 2.0 * special.stdtr(n - 2.0, -np.abs(r) * np.sqrt((n - 2.0) / (1.0 - r**2)))
    return bool((p <= _MOVES / len(pairs)).any())


class RemoteItems(AnyItems, Protocol):
    """Items that are distributed over workers, and draws of these items."""

    def draws(self, pairs: IntArray, options: PairOptions) -> Draws:
        """Return the draws."""
        ...


def draws_of(items: AnyItems, pairs: IntArray, options: PairOptions, step: Step) -> Draws:
    """Return the draws of the items, computed on first use or by the workers."""
    if isinstance(items, Items):
        return Draws(items, pairs, options, step)
    return cast(RemoteItems, items).draws(pairs, options)
