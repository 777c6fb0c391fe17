"""Gains on items: ratios, seeds, and draws of items."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from rankeval_pd.stats import bootstrap
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.bootstrap import Lattice, lattice
from rankeval_pd.stats.differences import (
    critical_of,
    mixed_tail,
    of_margin,
    paired_limits,
    paired_margin_p,
    restricted_share,
)
from rankeval_pd.stats.items import (
    AnyItems,
    ContributionLevel,
    ContributionSpread,
    ExactSums,
    Items,
    PairOptions,
    RatioForm,
    Seeds,
    Step,
    WholeColumns,
    better_counts,
    exact_sums,
    leans,
    nearly_normal,
    scores_of,
    sums_of_squares,
)
from rankeval_pd.stats.proportions import (
    Limits,
    clopper_pearson,
    t_of,
    transformed,
    widened_by_skewness,
    z_of,
)
from rankeval_pd.stats.two_by_two import paired_tails

# -------------------------------------------------------------------------------------------------
# Tests and intervals for differences between ratios of sums, such as precision values.
#
# A ratio of sums between 0 and 1 is modeled as the proportion of correct answers among n answers.
# If every numerator is 0 or 1 and every denominator is 1, n is the sum of the denominators.
# Otherwise n is the effective number of answers that gives the variance of the ratio. The
# covariance of two systems is modeled as a number of shared answers. If the true ratios are equal,
# the difference is
#
#     X / n_a − Y / n_b + Z (1 / n_a − 1 / n_b),
#
# where X, Y and Z are binomial counts of correct answers. X counts answers given only by the first
# system, Y those given only by the second, and Z shared answers. Tail probabilities are computed at
# the pooled ratio (Storer and Kim 1990 for independent answers; Kosinski 2013 for the variance of
# dependent answers). For other differences, tail probabilities are computed at the most likely
# ratios with this difference.

# chosen for the size of the tests in tests/simulations/ratios.csv
FEW_ANSWERS = 10  #: minimum number of guesses for which the error rate of the test is at most alpha
LEAST_ANSWERS = 5  #: number of guesses below which there is no test
_LARGE = 100.0  # n p (1 - p) above which a normal distribution is accurate to 1% in the tails
_ROOM = 1e-7  # sums that differ by less than this fraction of an answer are equal


def ratio_sums(values: FloatArray, form: RatioForm, pairs: IntArray) -> ExactSums:
    """Return the sums over items needed for :class:`RatioGains`."""
    above = values @ form.above
    below = values @ form.below
    wholes = [values[..., k] ** 2 for k in form.wholes]
    outside = (above < 0.0) | (above > below)
    broken = sum(values[..., k] != np.rint(values[..., k]) for k in form.wholes)
    simple = ((above == 0.0) | (above == below)) & ((below == 0.0) | (below == 1.0))
    own = [*wholes, below**2, 1.0 * outside, 1.0 * ~simple, 1.0 * broken]
    sums = [exact_sums(np.asarray(rows)) for rows in own]
    systems = np.arange(len(values))
    for a, b in [*zip(systems, systems, strict=True), *pairs.tolist()]:
        x = above[a]
        y = below[a]
        u = above[b]
        v = below[b]
        sums.append(exact_sums(np.stack([x * u, x * v, y * u, y * v])))
    return ExactSums(*map(np.concatenate, zip(*sums, strict=True)))


class ParametricGains:
    """Tests and intervals for gains whose distribution is known without draws."""

    few: BoolArray  #: (pair,): whether a system has too few guesses for any test
    tails: Any  #: the gain's two tail probabilities if the systems are equally good: (pair,)

    def limits(self, level: float) -> Limits:
        """Return the interval of gains that are not rejected: (pair,)."""
        raise NotImplementedError

    @cached_property
    def statistics(self) -> FloatArray:
        """The normal quantiles of the p-values; 0 if there is no test: (pair,)."""
        from scipy.special import ndtri

        up, down = self.tails
        found = np.where(up < down, -ndtri(np.minimum(up, 0.5)), ndtri(np.minimum(down, 0.5)))
        return np.where(self.few, 0.0, found)

    def limits_at(self, statistic: float) -> Limits:
        """Return the limits of gains whose abs(statistic) is at most this value: (pair,)."""
        from scipy.special import ndtr

        if np.isnan(statistic):  # a score in the family is undefined
            return np.full(self.few.size, np.nan), np.full(self.few.size, np.nan)
        return self.limits(1.0 - 2.0 * float(ndtr(-statistic)))


class RatioGains(ParametricGains):
    """Tests and intervals for differences between ratios."""

    def __init__(
        self, totals: FloatArray, summed: ExactSums, form: RatioForm, pairs: IntArray, sign: float
    ) -> None:
        """Store the sums of the statistics (system, statistic) and of :func:`ratio_sums`."""
        systems = len(totals)
        wholes = len(form.wholes)
        own, products = np.split(summed.rounded(), [(wholes + 4) * systems])
        *squares, outside, several, broken = own.reshape(wholes + 4, systems)
        products = products.reshape(-1, 4)
        self._pairs = pairs if sign > 0.0 else pairs[:, ::-1]
        self._own, self._both = products[:systems], products[systems:]
        if sign < 0.0:
            self._both = self._both[:, [0, 2, 1, 3]]
        self._below = totals @ form.below
        with silent_division():
            self.share = totals @ form.above / self._below
            # guesses are counts; for other denominators, use the number that gives the same
            # variance
            answers = [
                np.where(broken == 0.0, totals[:, k], totals[:, k] ** 2 / x)
                for k, x in zip(form.wholes, squares, strict=False)
            ]
            items = self._below**2 / squares[-1]
            variance = self._products(self._own, self.share, self.share)
            size = self.share * (1.0 - self.share) * self._below**2 / variance
        # : (system,): effective number of answers, from the variance of the ratio
        self.size = np.where((variance > 1e-12 * self._below) & (size > 0.0), size, items)
        # : (system,): number of guesses, or effective number of answers in the denominator
        self.answers: FloatArray = np.nan_to_num(np.min(answers, axis=0))
        self.few = self.answers[self._pairs].min(axis=1) < LEAST_ANSWERS
        #: whether all numerators are between 0 and their denominators
        self.bounded = not outside.any() and bool((totals[:, form.wholes] >= 0.0).all())
        self._simple = several == 0.0
        # : degrees of freedom of an estimated variance; infinite for binomial variances
        self._freedom = np.where(
            self._simple, np.inf, np.maximum(np.fmin(items, self.answers) - 1.0, 1.0)
        )

    @staticmethod
    def _products(sums: FloatArray, a: Any, b: Any) -> FloatArray:
        """Return sums of products of residuals, which are numerator - ratio * denominator."""
        xu, xv, yu, yv = sums.T
        return np.asarray(xu - b * xv - a * yu + a * b * yv)

    @cached_property
    def tails(self) -> Limits:
        """The gain's two tail probabilities if the systems are equally good: (pair,)."""
        up, down = np.full((2, len(self._pairs)), np.nan)
        same, counts = self._same_items
        up[same], down[same] = paired_tails(*counts), paired_tails(*counts[[1, 0, 2]])
        for k in self._other_pairs:
            up[k], down[k] = self._law(k).tails(0.0)
        return up, down

    @cached_property
    def _same_items(self) -> tuple[IntArray, IntArray]:
        """The pairs that answer the same items once; the items only one gets right, and all."""
        (xu, xv, yu, yv), (a, b) = self._both.T, self._pairs.T
        same = (self._below[a] == yv) & (self._below[b] == yv) & self._simple[a] & self._simple[b]
        counts = np.stack([xv - xu, yu - xu, yv]).astype(np.int64)
        known = np.flatnonzero(same & (yv > 0.0))
        return known, counts[:, known]

    @property
    def paired(self) -> bool:
        """Whether all pairs are right or wrong on the same items, as with recall."""
        return self._same_items[0].size == len(self._pairs)

    @property
    def _other_pairs(self) -> IntArray:
        """The other pairs with defined ratios."""
        known = np.flatnonzero(np.isfinite(self.share[self._pairs]).all(axis=1))
        return np.setdiff1d(known, self._same_items[0])

    def _law(self, k: int) -> _Law:
        pair = self._pairs[k]
        share, size = self.share[pair], self.size[pair]
        pooled = float(share @ size / size.sum())
        product = float(self._products(self._both[k], pooled, pooled)) / self._below[pair].prod()
        varies = pooled * (1.0 - pooled)
        shared = 0.0
        if varies > 1e-12:
            shared = product * size.prod() / varies
        (p_a, p_b), (n_a, n_b) = share.tolist(), size.tolist()
        return _Law(p_a, p_b, n_a, n_b, shared, float(self._freedom[pair].min()))

    def limits(self, level: float) -> Limits:
        """Return the interval of gains that are not rejected, within [-1, 1]: (pair,)."""
        low, high = np.full((2, len(self._pairs)), np.nan)
        same, (better, worse, n) = self._same_items
        low[same], high[same] = paired_limits(better, worse, n, level)
        for k in self._other_pairs:
            low[k], high[k] = self._law(k).limits(level)
        return low, high

    def margin_p(self, margin: float, alternative: str, alpha: float) -> FloatArray:
        """Return the p-value of the margin test by the law of the tests and intervals: (pair,)."""
        p = np.full(len(self._pairs), np.nan)
        same, counts = self._same_items
        for k, (better, worse, n) in zip(same, counts.T.tolist(), strict=True):
            p[k] = paired_margin_p(better, worse, n, margin, alternative, alpha)
        for k in self._other_pairs:
            law = self._law(k)
            up, down = law.tails(-margin)[0], law.tails(margin)[1]
            p[k] = of_margin(alternative, {1.0: up, -1.0: down}.__getitem__)
        return np.where(self.few, np.nan, p)

    def score_limits(self, level: float) -> Limits:
        """Return the interval for each ratio (Korn and Graubard 1998)."""
        size = self.size * (z_of(level) / t_of(self._freedom, level)) ** 2
        return clopper_pearson(self.share * size, size, level)


_IN_SETS = np.array([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0]])  # of each kind of candidate
_GOLD = np.array([1, 1, 1, 0, 0, 0, 1])


def f1_law(*counts: AnyArray, level: float | None = None) -> Limits:
    """Return tails of equal F1, or limits, for true positives and sizes of regions, and N+."""
    columns = np.broadcast_arrays(*counts)
    found = np.full((2, *columns[0].shape), np.nan)
    kinds = np.stack([_IN_SETS * _GOLD, _IN_SETS, np.stack([_GOLD, _GOLD])], axis=-1)
    form, pair = resamples.RATIO_FORMS[resamples.f1], np.array([[0, 1]])
    for row in np.ndindex(columns[0].shape):
        tp, n, positive = np.split(np.array([x[row] for x in columns], dtype=np.int64), [3, 6])
        if not n.sum() * positive.sum():
            continue
        values = kinds.repeat([*tp, *(n - tp), *(positive - tp.sum())], axis=1) * 1.0
        sums = ratio_sums(values, form, pair)
        gains = RatioGains(values.sum(axis=1), sums, form, pair, 1.0)
        if not gains.few[0]:
            limits = gains.tails if level is None else gains.limits(level)
            found[0][row], found[1][row] = limits[0][0], limits[1][0]
    return found[0], found[1]


class _Law(NamedTuple):
    """The distribution of a difference between two proportions; see the module docstring."""

    share_a: float
    share_b: float
    size_a: float
    size_b: float
    shared: float
    freedom: float

    def tails(self, gain: float) -> FloatArray:
        """Return both tail probabilities of the difference for a given true gain."""
        n_a, n_b = (max(1, round(x)) for x in (self.size_a, self.size_b))
        gap = abs(gain)
        if gain == 0.0:
            p_a = p_b = (self.share_a * n_a + self.share_b * n_b) / (n_a + n_b)
        elif gain > 0.0:
            p_b = float(restricted_share(gap, self.share_b * n_b, n_b, self.share_a * n_a, n_a))
            p_a = p_b + gap
        else:
            p_a = float(restricted_share(gap, self.share_a * n_a, n_a, self.share_b * n_b, n_b))
            p_b = p_a + gap
        most = min(n_a, n_b)
        shared = min(max(self.shared, -most), most)
        whole = int(np.floor(shared + 1e-9))
        rest = shared - whole
        result = self._tails(n_a, n_b, whole, p_a, p_b)
        if rest > 1e-9:
            result = (1.0 - rest) * result + rest * self._tails(n_a, n_b, whole + 1, p_a, p_b)
        if np.isfinite(self.freedom):
            from scipy.special import ndtri, stdtr

            quantile = ndtri(np.clip(result, 0.0, 1.0))
            return np.asarray(stdtr(self.freedom, quantile), dtype=float)
        return np.minimum(result, 1.0)

    def _tails(self, n_a: int, n_b: int, shared: int, p_a: float, p_b: float) -> FloatArray:
        if shared >= 0:
            return self._weighted(n_a, n_b, shared, p_a, p_b, 1.0 / n_a - 1.0 / n_b)
        # a shared answer is correct for only one system: average the cases for symmetric tails
        weights = 1.0 / n_a + 1.0 / n_b, -1.0 / n_a - 1.0 / n_b
        found = [self._weighted(n_a, n_b, -shared, p_a, p_b, weight) for weight in weights]
        return 0.5 * (found[0] + found[1])

    def _weighted(
        self, n_a: int, n_b: int, both: int, p_a: float, p_b: float, weight: float
    ) -> FloatArray:
        """Return the tails if each shared answer has this weight in the difference."""
        p = (n_a * p_a + n_b * p_b) / (n_a + n_b)
        sizes = (n_a - both, n_b - both, both)
        shares = (p_a, p_b, p)
        weights = 1.0 / n_a, -1.0 / n_b, weight
        gap = self.share_a - self.share_b - both * (p_a / n_a - p_b / n_b - p * weight)
        if min(n * p * (1.0 - p) for n in (n_a, n_b)) > _LARGE:
            return _nearly_normal(gap, sizes, shares, weights, 0.5 / math.lcm(n_a, n_b))
        (x, of_x), (y, of_y), (z, of_z) = (
            _likely_counts(n, share) for n, share in zip(sizes, shares, strict=True)
        )
        # up to this y, the difference is at least as large as observed
        bound = n_b * (x[:, np.newaxis] / n_a + weight * z - gap) - y[0]
        below = np.concatenate([[0.0], np.cumsum(of_y)])
        reach = [np.floor(bound + _ROOM) + 1.0, np.ceil(bound - _ROOM)]
        at = [below[np.clip(r, 0, of_y.size).astype(np.int64)] for r in reach]
        return np.array([of_x @ at[0] @ of_z, of_x @ (1.0 - at[1]) @ of_z])

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of gains not rejected, consistent with both tails at 0."""
        tail = (1.0 - level) / 2.0
        return self._limit(0, -1.0, tail), self._limit(1, 1.0, tail)

    def _limit(self, which: int, outside: float, tail: float) -> float:
        """Return the gain between the estimate and ``outside`` at which the test has this tail."""
        from scipy.optimize import brentq

        def beyond(gain: float) -> float:
            return float(self.tails(gain)[which]) - tail

        inside = self.share_a - self.share_b
        if inside * outside < 0.0:
            if beyond(0.0) > 0.0:
                inside = 0.0
            else:
                outside = 0.0
        if inside == outside or beyond(outside) >= 0.0:
            return outside
        if beyond(inside) <= 0.0:
            return inside
        return float(brentq(beyond, inside, outside, xtol=1e-9, rtol=1e-9))


def _likely_counts(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Return the counts with probabilities above about 1e-13, and the probabilities."""
    from scipy.special import gammaln

    if n == 0 or p <= 0.0:
        return np.zeros(1), np.ones(1)
    if p >= 1.0:
        return np.array([float(n)]), np.ones(1)
    reach = 8.0 * np.sqrt(n * p * (1.0 - p)) + 12.0
    k = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1.0)
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return k, np.exp(ways + k * np.log(p) + (n - k) * np.log1p(-p))


def _nearly_normal(
    gap: float,
    sizes: tuple[int, int, int],
    shares: tuple[float, float, float],
    weights: tuple[float, float, float],
    room: float,
) -> FloatArray:
    """Return both tails from the normal distribution with a skewness term.

    ``room`` is half the step between possible differences, because tails include the observed
    difference.
    """
    from scipy.special import ndtr

    n, p, w = (np.array(x, dtype=float) for x in (sizes, shares, weights))
    variance = float((w**2 * n * p * (1.0 - p)).sum())
    away = gap - float((w * n * p).sum())
    if variance == 0.0:  # there is no variation at the ends of the range
        return np.array([away <= room, away >= -room], dtype=float)
    skewness = float((w**3 * n * p * (1.0 - p) * (1.0 - 2.0 * p)).sum()) / variance**1.5
    z = (away + np.array([-room, room])) / np.sqrt(variance)
    most = 0.5 * np.maximum(np.abs(z), 1.0)  # far out in the tail, this term could change the sign
    z -= np.clip((z * z - 1.0) * skewness / 6.0, -most, most)
    return np.array([ndtr(-z[0]), ndtr(z[1])])


# ---- Tests and intervals for gains between systems trained with several seeds


class SeedGains(ParametricGains):
    """Tests and intervals for the gain of each pair of systems with training seeds."""

    def __init__(
        self,
        theta: FloatArray,
        pairs: IntArray,
        seeds: Seeds,
        items: tuple[FloatArray, FloatArray],
        lean: tuple[FloatArray, FloatArray],
        freedom: float,
    ) -> None:
        """Store scores (larger is better), and the variances and skewness from items.

        ``items`` and ``lean`` contain one array for systems and one array for pairs.
        """
        self._theta, self._seeds, self._items, self._lean = theta, seeds, items, lean
        self._gain, self._freedom = theta[pairs[:, 0]] - theta[pairs[:, 1]], freedom
        squares = seeds.error**2
        self._of_pairs = seeds.freedom_of(pairs), squares[pairs].sum(axis=1)
        self._of_systems = seeds.freedom, squares
        self.few = np.zeros(len(pairs), dtype=bool)
        self.n_systems, self.fewest = theta.size, int(seeds.trained.min())

    @cached_property
    def tails(self) -> Limits:
        """The gain's two tail probabilities if the systems are equally good: (pair,)."""
        variance = self._items[1] + self._of_pairs[1]
        t = self._gain / np.sqrt(np.where(variance > 0.0, variance, np.inf))
        lean = self._lean[1]

        def tail(side: float) -> FloatArray:
            other = transformed(side * t, side * lean)
            both = (
                mixed_tail(x, self._share(1), self._freedom, self._of_pairs[0])
                for x in (side * t, other)
            )
            return np.where(variance > 0.0, np.fmax(*both), 1.0)

        return tail(1.0), tail(-1.0)

    def _share(self, which: int) -> FloatArray:
        """Return the fraction of the variance due to seeds, for systems (0) or pairs (1)."""
        of_items = self._items[which]
        of_seeds = (self._of_systems, self._of_pairs)[which][1]
        total = of_items + of_seeds
        return of_seeds / np.where(total > 0.0, total, 1.0)

    def limits(self, level: float) -> Limits:
        """Return the interval of gains that are not rejected: (pair,); NaN without variation."""
        return self._limits(level, 1, self._gain)

    def score_limits(self, level: float) -> Limits:
        """Return the interval for each system's score; larger is better."""
        return self._limits(level, 0, self._theta)

    def _limits(self, level: float, which: int, about: FloatArray) -> Limits:
        freedom, of_seeds = (self._of_systems, self._of_pairs)[which]
        error = np.sqrt(self._items[which] + of_seeds)
        critical = critical_of((1.0 - level) / 2.0, self._share(which), self._freedom, freedom)
        found = about - critical * error, about + critical * error
        found = widened_by_skewness(found, about, error, self._lean[which], critical)
        low, high = (np.where(error > 0.0, limit, np.nan) for limit in found)
        return low, high

    def widening(self, level: float) -> float:
        """Return the median ratio of interval widths with seeds to those without seeds."""
        share = self._share(1)
        with np.errstate(divide="ignore"):
            wider = critical_of((1.0 - level) / 2.0, share, self._freedom, self._of_pairs[0])
            wider = wider / np.sqrt(1.0 - share) / t_of(self._freedom, level)
        return float(np.median(wider))


# ---- Draws of items, from this process or from the workers that store the items


_EVERY = 2**16  # largest number of subsets that are always enumerated


class Draws:
    """Draws of items, shared by all pairs and computed on first use."""

    def __init__(self, items: AnyItems, pairs: IntArray, options: PairOptions, step: Step) -> None:
        self.pairs, self.options, self.step = pairs, options, step
        # a subclass for items on workers overrides all that needs the items in memory
        self.items = cast(Items, items)
        self.theta = scores_of(items)  #: (system,): larger is better
        self.gain = self.theta[pairs[:, 0]] - self.theta[pairs[:, 1]]
        #: converts sqrt(sum of squares) to a standard error
        self.student_factor = float(np.sqrt(items.n_drawn / (items.n_drawn - 1.0)))
        #: whether to enumerate all subsets of the items or clusters
        self.every = items.seeds is None and options.method != "monte-carlo"
        self.every &= items.n_drawn < max(_EVERY, options.n_resamples).bit_length()
        #: whether to correct for skewness, which is unnecessary for 0/1 items
        self.corrects = options.skewness and not items.binary

    def lattices(self, which: IntArray, *, drawn: bool) -> list[Lattice | None]:
        """Return the lattices for the pairs' differences, by item or by ``drawn`` unit."""
        if self.items.binary:
            return self._binary_lattices(which)
        values = self.items.drawn if drawn else self.items.statistics
        values = self.items.sign * values[..., 0]
        found = []
        for a, b in self.pairs[which]:
            found.append(lattice(values[a] - values[b]))
        return found

    def _binary_lattices(self, which: IntArray) -> list[Lattice | None]:
        up, down = better_counts(self.items, self.pairs[which])
        times = np.stack([down, self.items.n_items - up - down, up], axis=1)
        n = np.arange(-1, 2)
        return [Lattice(1.0, n[row > 0], row[row > 0]) for row in times]

    @cached_property
    def parts(self) -> bootstrap.Contributions:
        """The contributions of items, or clusters, to the scores."""
        return bootstrap.contributions(self.items)

    @cached_property
    def subsets(self) -> bootstrap.Subsets:
        """The sums of contributions over the same subsets of the items for all systems.

        Contributions from seeds are multiplied by normal draws, because these draws are used only
        for the correlation between pairs.
        """
        items, options, parts = self.items, self.options, self.parts
        if nearly_normal(items.binary, items.n_items, options):
            return self._normal_subsets()
        columns = np.vstack([parts.values, parts.weights]).T
        sums = resamples.swapped_sums(columns, options, self.step, every=self.every).T
        if items.seeds is not None:
            z = resamples.t_draws(np.full(items.n_systems, 1e12), options)
            sums[:-1] += (items.seeds.error / parts.unit)[:, np.newaxis] * z.T / 2.0
        return bootstrap.Subsets(sums[:-1], sums[-1], self.every)

    @cached_property
    def level(self) -> ContributionLevel:
        """The sums and the largest absolute values of the contributions."""
        parts = self.parts
        summed = exact_sums(np.vstack([parts.values, parts.weights])).rounded()
        sizes = np.abs(parts.values).max(axis=1, initial=0.0)
        weight = float(summed[-1])
        room = parts.accuracy * sizes
        return ContributionLevel(summed[:-1], sizes, weight, parts.unit, room)

    @cached_property
    def spread(self) -> ContributionSpread:
        """The variation of scores and gains due to items and seeds: (system,) and (pair,)."""
        found, seeds, level = self.item_spread, self.items.seeds, self.level
        if seeds is not None:
            added = (seeds.error / level.unit) ** 2
            pairs = added[self.pairs].sum(axis=1)
            raw = found.raw
            if raw.size:
                raw = raw + pairs
            found = found._replace(
                systems=found.systems + added, pairs=found.pairs + pairs, raw=raw
            )
        room = level.room[self.pairs].max(axis=1)
        error = np.sqrt(found.pairs)
        error = np.where(error > room, level.unit * error, 0.0)
        lean = leans(found.pairs, found.cubes, level, self.pairs)
        return found._replace(room=room, error=error, lean=lean)

    @cached_property
    def item_spread(self) -> ContributionSpread:
        """The variation of the items' contributions: (system,) and (pair,)."""
        if self.items.binary:
            return self._binary_spread
        parts, raw = self.parts, self.options.simultaneous
        summed = sums_of_squares(parts.values, parts.weights, self.level, self.pairs, raw=raw)
        sizes = [len(parts.values), len(self.pairs)] * 2
        return ContributionSpread(*np.split(summed.rounded(), np.cumsum(sizes)))

    @property
    def _binary_spread(self) -> ContributionSpread:
        """The variation of 0/1 items, computed from counts."""
        n, right = float(self.items.n_items), self.items.totals[:, 0]
        better, worse = np.array(better_counts(self.items, self.pairs), dtype=float)

        def powers(up: FloatArray, down: FloatArray, power: int) -> FloatArray:
            mean = (up - down) / n
            away = up * (1.0 - mean) ** power + down * (-1.0 - mean) ** power
            return away + (n - up - down) * (-mean) ** power

        none = 0.0 * right
        cubes = self.items.sign * powers(right, none, 3) / 8.0, powers(better, worse, 3) / 8.0
        return ContributionSpread(
            powers(right, none, 2), powers(better, worse, 2), *cubes, better + worse
        )

    @cached_property
    def moved(self) -> FloatArray:
        """The sums of the swapped statistics: (trial, system, statistic)."""
        systems, n, width = self.items.drawn.shape
        every = resamples.swaps_every(n, self.options.method)
        columns = resamples.statistic_columns(self.items.drawn)
        sums = resamples.swapped_sums(columns, self.options, self.step, every=every)
        return sums.reshape(-1, systems, width)

    def _normal_subsets(self) -> bootstrap.Subsets:
        """Return normally distributed sums over random subsets of 0/1 items."""
        items, size = self.items, self.items.n_systems
        sums = np.append(items.sign * items.totals[:, 0], items.n_items)
        together = items.both_right(np.argwhere(np.ones((size, size)))).reshape(size, size)
        squares = np.block([[together, sums[:-1, np.newaxis]], [sums]])
        drawn = resamples.normal_draws(sums / 2.0, squares / 4.0, self.options)
        self.step(len(drawn))
        return bootstrap.Subsets(drawn[:, :-1].T, drawn[:, -1], every=False)

    @cached_property
    def scores(self) -> FloatArray:
        """Resampled scores (system, resample), oriented so that larger is better."""
        scores = self.items.sign * self._drawn_scores()
        seeds = self.items.seeds
        if seeds is None:
            return scores
        trained = resamples.t_draws(seeds.freedom, self.options).T
        return scores + seeds.error[:, np.newaxis] * trained

    def _drawn_scores(self) -> FloatArray:
        items, drawn, options = self.items, self.items.drawn, self.options
        chunks = resamples.count_chunks(
            drawn.shape[1], options.n_resamples, options.seed, items.drawn_strata
        )
        scores = np.empty((len(drawn), options.n_resamples))
        whole = WholeColumns(resamples.statistic_columns(drawn), drawn.shape[1])
        start = 0
        for weights in chunks:
            sums = whole.floats(whole.sums(weights)).reshape(-1, len(drawn), drawn.shape[2])
            scores[:, start : start + len(weights)] = items.score(sums).T
            self.step(len(weights))
            start += len(weights)
        return scores

    @cached_property
    def scale(self) -> FloatArray:
        """The scale of each system's scores, for tests of equality."""
        largest = np.fmax.reduce(np.abs(self.scores), axis=1, initial=0.0)
        return np.fmax(np.abs(self.theta), largest)

    def turned(self, which: AnyArray | int) -> FloatArray:
        """Return sums of contributions over subsets with flipped signs: (pair, subset)."""
        a, b = self.pairs[which].T
        return np.asarray(self.subsets.values[a] - self.subsets.values[b])

    @cached_property
    def parametric(self) -> RatioGains | SeedGains | None:
        """The parametric tests for seeds or for ratios of sums; None for other data.

        Ratios must lie between 0 and 1. These tests do not need draws; draws are only used for the
        correlation between pairs.
        """
        items, form = self.items, self.items.ratio_form
        if items.seeds is not None:
            skewed, spread = self.options.skewness, self.item_spread
            own = np.arange(items.n_systems)[:, np.newaxis]
            lean = leans(self.spread.systems, spread.system_cubes, self.level, own)
            both = (lean, self.spread.lean) if skewed else (0.0 * lean, 0.0 * self.spread.lean)
            square = (self.level.unit * self.student_factor) ** 2
            return SeedGains(
                self.theta,
                self.pairs,
                items.seeds,
                (square * spread.systems, square * spread.pairs),
                both,
                items.n_drawn - 1.0,
            )
        if form is None or not self.options.skewness:
            return None
        found = RatioGains(items.totals, self._ratio_sums(form), form, self.pairs, items.sign)
        if not found.bounded:
            return None
        return found

    def _ratio_sums(self, form: RatioForm) -> ExactSums:
        return ratio_sums(self.items.statistics, form, self.pairs)


# chosen for warnings if, and only if, tests are liberal: of tests with Hall's correction in
# tests/simulations/skewness.csv, of others in swaps.csv
_FEW = 30  # with Hall's correction, skewness is checked up to this number of items
_SKEWED = 1.4, 0.02  # largest skewness that needs no warning, and its increase per item
_TAIL = 1.5  # start of the tail, in standard deviations from the mean
_AGAINST = 0.9  # standard errors between 0 and the mean of items outside the tail
_LEAN = 0.12  # skewness over the root of the number of items, below which skewness is harmless
_ASIDE = 0.5  # distance of the median from the middle of the range, in half ranges
_L_SKEWNESS = 0.028, 0.385  # harmless L-skewness for one item, times their root, and at most
_ROUNDED = 2**16  # up to this many gains, rounded sums come before exact sums
_PER_PAIR = 0.1  # increase of limits per log(pairs): some pairs are skewed by chance


def skewed(draws: Draws) -> bool:
    """Return whether a pair has skewed gains, or a system has a constant extreme score.

    Tests are liberal if a few large gains balance small losses on all other items, or vice versa. A
    sample may lack the items with large gains. If a system has the same extreme score on all items,
    its rare failures or successes are missing from the sample.
    """
    items, pairs = draws.items, draws.pairs
    if not isinstance(items, Items) or items.n_groups or items.binary:
        return False
    few = items.n_drawn <= _FEW
    skewness = draws.options.skewness
    if skewness and not few:
        return False
    against = _tails_against_the_rest if skewness else _tails_against_the_median
    found = against(draws, _PER_PAIR * np.log(len(pairs)))
    if few:
        low = draws.parts.values.min(axis=1)
        high = draws.parts.values.max(axis=1)
        flat = (low == high) & ((low == low.min()) | (high == high.max()))
        found |= flat[pairs].any(axis=1)
    return bool(found.any() and (found & (draws.spread.error > 0.0)).any())


def _tails_against_the_rest(draws: Draws, more: float) -> BoolArray:
    """Return which pairs are too skewed for Hall's correction: the tail opposes other gains.

    A tail is harmless if the other gains average about 0, for example if some queries differ
    strongly in both directions.
    """
    n, lean = draws.items.n_drawn, draws.spread.lean
    a, b = draws.pairs.T
    gains = np.sign(lean)[:, np.newaxis] * (draws.parts.values[a] - draws.parts.values[b])
    about = gains - gains.mean(axis=1, keepdims=True)
    rest = about <= _TAIL * about.std(axis=1, keepdims=True)
    count = np.maximum(rest.sum(axis=1), 1)  # False if a score is undefined
    mean = np.where(rest, gains, 0.0).sum(axis=1) / count
    squares = np.where(rest, (gains - mean[:, np.newaxis]) ** 2, 0.0).sum(axis=1)
    against = mean < -_AGAINST * np.sqrt(squares / np.maximum(count - 1, 1) / count)
    return np.asarray(against & (np.abs(lean) * np.sqrt(n) > _SKEWED[0] + _SKEWED[1] * n + more))


def _symmetric(draws: Draws) -> bool:
    """Return whether no pair is skewed, by sums that are rounded and thus faster than exact."""
    weights = draws.parts.weights
    if len(draws.pairs) * weights.size > _ROUNDED:
        return False
    gains = np.diff(draws.parts.values[draws.pairs], axis=1)[:, 0]  # (pair, item)
    gains -= gains.sum(axis=1, keepdims=True) * weights / weights.sum()
    with np.errstate(all="ignore"):  # the exact sums do not overflow
        squares, cubes = ((gains**power).sum(axis=1) for power in (2, 3))
        return bool((np.abs(cubes) < 0.99 * _LEAN * squares**1.5).all())


def _tails_against_the_median(draws: Draws, more: float) -> BoolArray:
    """Return which pairs are too skewed for tests without Hall's correction.

    The median gain is near one end of the range, and 0 is on its other side. Long tails on both
    sides are harmless.
    """
    if _symmetric(draws):
        return np.zeros(len(draws.pairs), dtype=bool)
    n = draws.items.n_drawn
    found = np.abs(draws.spread.lean) > _LEAN
    a, b = draws.pairs[found].T
    gains = np.sort(draws.parts.values[a] - draws.parts.values[b], axis=1)
    low = gains[:, 0]
    median = np.median(gains, axis=1)
    high = gains[:, -1]
    aside = (low + high - 2.0 * median) / np.where(high > low, high - low, 1.0)
    place = (np.arange(n) + 0.5) / n
    second = 2.0 * place - 1.0
    third = 6.0 * place * (place - 1.0) + 1.0
    least = min(_L_SKEWNESS[0] * n**0.5, _L_SKEWNESS[1]) * (gains @ second)
    against = (aside * median < 0.0) & (np.abs(aside) > _ASIDE + more)
    found[found] = against & (np.abs(gains @ third) > least)
    return found


_TWOFOLD = 2.0  # chosen for warnings if, and only if, swaps are liberal in ratios.csv


def uneven(items: AnyItems, pairs: IntArray) -> bool:
    """Return whether the denominators of two ratios differ greatly, so swaps are liberal."""
    if items.ratio_form is None:
        return False
    below = (items.totals @ items.ratio_form.below)[pairs]
    return bool((below.max(axis=1) > _TWOFOLD * below.min(axis=1)).any())


# chosen for the warnings of "moving" groups in tests/simulations/dependence.csv
_FEW_GROUPS = 10  # with fewer groups, the correlation between gain and size is unknown
_UNEVEN = 1.4  # ratio of groups to effective groups above which a few groups dominate the mean
_MOVES = 0.05  # p-value for the correlation between the size and the mean gain of a group


def moves_with_size(items: AnyItems, pairs: IntArray) -> bool:
    """Return whether the sizes of clusters differ greatly and correlate with the gain of a pair.

    In this case, a few large clusters dominate the mean over items, and a sample may lack such
    clusters. Two crossed factors have no such sizes.
    """
    assert isinstance(items, Items)
    if items.factors is not None:
        return False
    from scipy import special

    parts = bootstrap.contributions(items)
    size = parts.weights[: items.n_groups]
    n = items.n_groups
    # uses the clusters' degrees of freedom; weighted groups all have the same size
    if n < _FEW_GROUPS or n * (size @ size) <= _UNEVEN * size.sum() ** 2:
        return False
    mean = (parts.values[:, :n] / size)[pairs]
    gain = mean[:, 0] - mean[:, 1]
    gain = gain - gain.mean(axis=1, keepdims=True)
    size = size - size.mean()
    scale = np.sqrt((gain**2).sum(axis=1) * (size @ size))
    r = np.clip(gain @ size / np.where(scale > 0.0, scale, 1.0), -1.0 + 1e-12, 1.0 - 1e-12)
    p = 2.0 * special.stdtr(n - 2.0, -np.abs(r) * np.sqrt((n - 2.0) / (1.0 - r**2)))
    return bool((p <= _MOVES / len(pairs)).any())


def draws_of(items: AnyItems, pairs: IntArray, options: PairOptions, step: Step) -> Draws:
    """Return the draws of the items, computed on first use or by the workers."""
    if isinstance(items, Items):
        return Draws(items, pairs, options, step)
    return cast(Draws, cast(Any, items).draws(pairs, options))
