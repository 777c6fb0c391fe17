"""Tests for all pairs of measures, adjusted for a family, and possible ranks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.bands import critical_value
from rankeval_pd.stats.intervals.differences import agree_with_test
from rankeval_pd.stats.intervals.proportions import quantile_of, t_of
from rankeval_pd.stats.rankings import area_gaps, roc_areas, swaps
from rankeval_pd.stats.significance.adjust import adjust as adjusted
from rankeval_pd.stats.significance.adjust import interval_levels, rejects, step_down
from rankeval_pd.stats.significance.letters import letters

# If no test makes a type I error, the rank of a measure is at least 1 plus the number of
# significantly better measures. The rank is at most the number of measures minus the number of
# significantly worse measures (Mogstad, Romano, Shaikh and Wilhelm 2024).

_ZERO = 1e-12  # a variance below this fraction of the areas' variances is a rounding error
_AT_ONCE = 20_000  # number of draws for all areas in memory


def pairs(count: int) -> list[tuple[int, int]]:
    """Return all pairs of measure indices."""
    return list(itertools.combinations(range(count), 2))


def with_one(count: int, baseline: int) -> list[int]:
    """Return the indices of the pairs that include the baseline."""
    return [number for number, pair in enumerate(pairs(count)) if baseline in pair]


class Family(NamedTuple):
    """Results from draws for simultaneously tested pairs: (..., pair, n); NaN for others."""

    p_value: FloatArray  #: simultaneous over all n, or over all pairs of areas
    margin: FloatArray  #: half the width of the family's simultaneous intervals
    drawn: FloatArray


class PairTests(NamedTuple):
    """The test results for all pairs: (..., pair, n)."""

    measures: int  #: number of measures
    difference: FloatArray
    error: FloatArray  #: standard error of the difference
    freedom: FloatArray  #: degrees of freedom of Student's t; inf means normal
    p_value: FloatArray  #: p-value for the pair at a single n
    families: tuple[Family, ...]  #: family of all pairs, and family of pairs with the baseline

    @classmethod
    def empty(cls, batch: tuple[int, ...], count: int, sizes: int, families: int = 0) -> PairTests:
        """Return an empty table of pairs."""
        shape = (*batch, count * (count - 1) // 2, sizes)

        def nothing(number: int) -> list[FloatArray]:
            return [np.full(shape, np.nan) for _ in range(number)]

        drawn = tuple(Family(*nothing(3)) for _ in range(families))
        difference, error, freedom, p_value = nothing(4)
        return cls(count, difference, error, freedom, p_value, drawn)


class Decision(NamedTuple):
    """Options for ranks and for the adjustment."""

    adjust: str | None
    each: bool  #: whether each n is a separate family
    areas: bool  #: whether the draws are already simultaneous over all pairs
    level: float


def of_influences(
    value: FloatArray,
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    how: Decision,
    *,
    score: FloatArray,
    baseline: int | None,
    n_resamples: int,
    most: int,
    seed: int,
    student: bool = False,
    cluster: IntArray | None = None,
    drift: FloatArray | None = None,
) -> PairTests:
    """Test all pairs of areas, using the candidates' influences.

    With "max-t", the adjusted p-value is the probability that the largest standardized difference
    in the family is at least as large as the observed one. The joint distribution is Student's,
    with the size of the smaller class minus 1 as degrees of freedom. For a single pair, the p-value
    equals ``compare_area``'s. The degrees of freedom are Welch's or, with ``student``, the
    family's. There is no test if a class has only one candidate. With ``cluster``, variances and
    degrees of freedom are computed from whole clusters; with ``drift``, for average precision. If
    the scores give different rankings but the variance is 0, the standard error is infinite.
    """
    count = value.shape[-1]
    batch = value.shape[:-1]
    chosen = pairs(count)
    asked = [list(range(len(chosen)))]
    asked += [] if baseline is None else [with_one(count, baseline)]
    swapped = how.adjust is not None and how.adjust.startswith("max-t")
    result = PairTests.empty(batch, count, 1, len(asked) if swapped else 0)
    left, right = (np.array([pair[side] for pair in chosen], dtype=int) for side in (0, 1))
    gold, present = (np.broadcast_to(x, influence.shape) for x in (gold, present))
    for row in np.ndindex(batch):
        shared: FloatArray | None = None
        sizes: list[int] = []
        if cluster is None:
            of_classes, sizes = _covariances(influence[row], gold[row], present[row])
            covariance = of_classes[0] + of_classes[1]
            parts = [
                np.diag(x)[left] + np.diag(x)[right] - 2.0 * x[left, right]
                for x in (*of_classes, covariance)
            ]
            least = min(sizes) - 1.0
        else:
            group = np.broadcast_to(cluster, (*batch, cluster.shape[-1]))[row]
            covariance, parts, shared = _of_clusters(
                influence[row], gold[row], present[row], group, (left, right),
                None if drift is None else drift[row],
            )  # fmt: skip
            least = float(np.nan_to_num(shared, nan=1.0).min(initial=np.inf))
        own = np.diag(covariance)
        variance = np.where(parts[-1] <= _ZERO * (own[left] + own[right]), 0.0, parts[-1])
        difference = value[row][left] - value[row][right]
        error = np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(np.where((difference == 0.0) & (error == 0.0), 0.0, difference / error))
        z = np.where(np.isinf(z), np.nan, z)
        for k in np.flatnonzero(error == 0.0):
            a, b = (score[row][side][present[row][[*chosen[k]]].all(axis=0)] for side in chosen[k])
            a, b = (np.unique(x, return_inverse=True)[1] for x in (a, b))
            if not np.array_equal(a, b):
                error[k] = np.inf
        freedom = np.full(z.shape, least)
        if shared is not None:
            freedom = shared
        elif not student:
            freedom = roc_areas.freedom_of(parts[:2], sizes)
            both = value[row][left], value[row][right]
            freedom = area_gaps.difference_freedom(freedom, both, sizes)
        freedom = np.fmax(freedom, 1.0)
        columns = difference, error, freedom, p_of(z, freedom)
        for array, column in zip(result[1:5], columns, strict=True):
            array[row][:, 0] = column
        if swapped and count > 1 and np.isfinite(covariance).all():
            joint = _Joint(z, covariance, variance, error, (left, right), least, how.level)
            for family, these in zip(result.families, asked, strict=True):
                found = joint.decided(these, n_resamples, most, seed)
                for array, column in zip(family, found, strict=True):
                    array[row][these, 0] = column
    return result


def p_of(z: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return two-sided p-values of t statistics, or of z if ``freedom`` is infinite."""
    from scipy import special

    normal = special.erfc(z / np.sqrt(2.0))
    student = 2.0 * special.stdtr(np.where(np.isinf(freedom), 1.0, freedom), -z)
    return np.asarray(np.where(np.isinf(freedom), normal, student), dtype=float)


def _covariances(
    influence: FloatArray, gold: BoolArray, present: BoolArray
) -> tuple[list[FloatArray], list[int]]:
    """Return covariances of mean influences over positives and negatives, and class sizes."""
    here, label = present.all(axis=0), gold.any(axis=0)
    shape = (influence.shape[0], influence.shape[0])
    groups = here & label, here & ~label
    sizes = [int(group.sum()) for group in groups]
    found = [
        np.cov(influence[:, group]).reshape(shape) / size if size > 1 else np.full(shape, np.nan)
        for group, size in zip(groups, sizes, strict=True)
    ]
    return found, sizes


def _of_clusters(
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray,
    sides: tuple[IntArray, IntArray],
    drift: FloatArray | None,
) -> tuple[FloatArray, list[FloatArray], FloatArray]:
    """Return covariances of areas, variances of differences, and degrees of freedom."""
    here, label = np.asarray(present.all(axis=0)), np.asarray(gold.any(axis=0))

    def spread(values: FloatArray, moves: FloatArray | None) -> roc_areas.AreaSpread:
        return roc_areas.cluster_spread(values, label, here, cluster, moves).spread

    left, right = sides
    moves = None if drift is None else drift[left] - drift[right]
    own, apart = spread(influence, drift), spread(influence[left] - influence[right], moves)
    covariance = np.diag(own.variance)
    both = 0.5 * (own.variance[sides[0]] + own.variance[sides[1]] - apart.variance)
    covariance[sides], covariance[sides[::-1]] = both, both
    return covariance, [apart.variance], apart.freedom


class _Joint(NamedTuple):
    """Student's joint distribution of all area differences."""

    z: FloatArray
    covariance: FloatArray
    variance: FloatArray
    error: FloatArray
    sides: tuple[IntArray, IntArray]
    freedom: float
    level: float

    def decided(
        self, these: list[int], draws: int, most: int, seed: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p-values and margins, with enough draws to resolve p-values near alpha."""
        rng, drawn = np.random.default_rng(seed), np.empty(0)
        while True:
            blocks = [drawn]
            for start in range(drawn.size, draws, _AT_ONCE):
                blocks.append(self._largest(these, min(_AT_ONCE, draws - start), rng))
            drawn = np.concatenate(blocks)
            p = np.where(np.isnan(self.z[these]), np.nan, swaps.exceedance(self.z[these], drawn))
            count = np.full(p.shape, float(draws))
            alpha = 1.0 - self.level
            if draws >= most or not swaps.monte_carlo_error(p, p, count, alpha=alpha)[1].any():
                break
            draws = min(4 * draws, most)
        alone = float(t_of(max(self.freedom, 1), self.level))
        factor = max(critical_value(drawn, self.level), alone)
        return p, factor * self.error[these], count

    def _largest(self, these: list[int], size: int, rng: np.random.Generator) -> FloatArray:
        """Return the largest standardized difference in each draw."""
        roots, vectors = np.linalg.eigh(self.covariance)
        drawn = rng.standard_normal((size, roots.size)) * np.sqrt(np.maximum(roots, 0.0))
        areas = drawn @ vectors.T
        left, right = (side[these] for side in self.sides)
        variance = self.variance[these]
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.abs(areas[:, left] - areas[:, right]) / np.sqrt(variance)
        spread = np.sqrt(rng.chisquare(self.freedom, size) / self.freedom)
        largest: FloatArray = np.where(variance > 0, each, 0.0).max(axis=-1) / spread
        return largest


class Decided(NamedTuple):
    """The tests for some pairs, adjusted for those pairs: (..., pair, n)."""

    p_adjusted: FloatArray
    half: FloatArray  #: half the width of the simultaneous interval
    undecided: BoolArray


def decided(
    tested: PairTests,
    how: Decision,
    family: int = 0,
    of: list[int] | None = None,
    stands: IntArray | None = None,
) -> Decided:
    """Return p-values and intervals, adjusted for the pairs ``of`` (by default all pairs).

    ``stands`` contains, for each pair, the first pair with the same two rankings. The two pairs
    share one test. If the two rankings are equal, the value is -1 and there is no test.
    """
    if stands is not None and how.adjust is not None:
        these = list(range(stands.size)) if of is None else of
        first: dict[int, int] = {}
        for k in these:
            first.setdefault(int(stands[k]), k)
        alike = stands[these] < 0
        distinct = [k for value, k in first.items() if value >= 0] or these
        once = decided(tested, how, family, distinct)
        place = {int(stands[k]): number for number, k in enumerate(distinct)}
        where = [place.get(int(stands[k]), 0) for k in these]
        p, half, open_ = (x[..., where, :] for x in once)
        off = alike[:, np.newaxis]
        own = tested.p_value[..., these, :]
        return Decided(
            np.where(off, own, p), np.where(off, 0.0 * half, half), np.where(off, False, open_)
        )
    here: Any = slice(None) if of is None else of
    p, error, freedom = (x[..., here, :] for x in (tested.p_value, tested.error, tested.freedom))
    sure = np.zeros(p.shape, dtype=bool)
    if how.adjust is None or not p.size:
        return Decided(p, quantile_of(freedom, how.level) * error, sure)
    if not how.adjust.startswith("max-t"):
        held, levels = (
            _of_families(p, how.each, compute)
            for compute in (
                lambda x: adjusted(x, str(how.adjust)),
                lambda x: interval_levels(x, str(how.adjust), how.level),
            )
        )
        return Decided(held, quantile_of(freedom, levels) * error, sure)
    found = Family(*(x[..., here, :] for x in tested.families[family]))
    count = 1.0
    if not how.areas:
        lists = ~np.isnan(found.p_value)
        count = (lists if how.each else lists.any(axis=-1, keepdims=True)).sum(
            axis=-2, keepdims=True
        )
    held = np.minimum(count * found.p_value, 1.0)
    if how.adjust == "max-t-stepdown" and not how.areas:
        held = _of_families(found.p_value, how.each, _stepped(p.shape[-2]))
    held = np.fmax(held, p)  # ratio of Student's t to the normal, and of draws to a formula
    undecided = swaps.monte_carlo_error(found.p_value, held, found.drawn, alpha=1.0 - how.level)[1]
    return Decided(held, found.margin, undecided)


def _stepped(count: int) -> Callable[[FloatArray], FloatArray]:
    """Return a function that applies a step-down adjustment: (family, pair and n)."""

    def over(flat: FloatArray) -> FloatArray:
        pair = np.repeat(np.arange(count), flat.shape[-1] // count)
        return np.stack([step_down(row, pair) for row in flat])

    return over


def _of_families(
    p_value: FloatArray, each: bool, compute: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Apply ``compute`` to all tests in each family: (..., pair, n)."""
    if each:
        turned = np.swapaxes(p_value, -1, -2)
        flat = compute(turned.reshape(-1, turned.shape[-1]))
        return np.swapaxes(flat.reshape(turned.shape), -1, -2)
    flat = compute(p_value.reshape(-1, math.prod(p_value.shape[-2:])))
    return flat.reshape(p_value.shape)


class RankTable(NamedTuple):
    """Ranks and differences for every measure: (..., measure, n)."""

    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    tied_for_best: BoolArray
    difference: FloatArray  #: difference from the baseline or from the best measure
    difference_low: FloatArray
    difference_high: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    difference_low_alone: FloatArray
    difference_high_alone: FloatArray
    letters: AnyArray
    undecided: BoolArray


def decide(
    value: FloatArray,
    tested: PairTests,
    how: Decision,
    baseline: int | None,
    stands: IntArray | None = None,
) -> RankTable:
    """Return the possible ranks, and each measure's difference from a reference.

    The ranks are derived from all pairwise tests. With a baseline, each measure is compared with
    the baseline, adjusting for these comparisons. Without a baseline, each measure is compared with
    the best observed measure, adjusting for all pairs.
    """
    count, alpha = tested.measures, round(1.0 - how.level, 12)
    every = decided(tested, how, stands=stands)
    of = None if baseline is None else with_one(count, baseline)
    shown = every if of is None else decided(tested, how, 1, of, stands)
    matrix = _Matrices(count, tested.difference.shape)
    difference = matrix.of(tested.difference, signed=True)
    p, open_ = matrix.of(every.p_adjusted, 1.0), matrix.of(every.undecided, 0.0) > 0
    decisive = rejects(p, alpha)
    better = (decisive & (difference < 0)).sum(axis=-2)
    worse = (decisive & (difference > 0)).sum(axis=-2)
    known = np.where(np.isnan(value), -np.inf, value)
    rank = 1 + (known[..., np.newaxis, :, :] > known[..., :, np.newaxis, :]).sum(axis=-2)
    reference = np.argmax(known, axis=-2)
    if baseline is not None:
        reference = np.full_like(reference, baseline)
    own = quantile_of(tested.freedom, how.level) * tested.error
    gap, p_own, p_held, half_own, half = (
        matrix.beside(reference, x)
        for x in (
            difference,
            matrix.of(tested.p_value, 1.0),
            matrix.of(shown.p_adjusted, 1.0, of=of),
            matrix.of(own),
            matrix.of(shown.half, of=of),
        )
    )
    itself = np.arange(count)[:, np.newaxis] == reference[..., np.newaxis, :]
    alone, limits = (
        agree_with_test(
            np.maximum(gap - x, -1.0), np.minimum(gap + x, 1.0), p, "two-sided", how.level
        )
        for x, p in ((half_own, p_own), (half, p_held))
    )
    return RankTable(
        rank, 1 + better, count - worse, better == 0, gap, *limits,
        np.where(itself, np.nan, p_own), np.where(itself, np.nan, p_held), *alone,
        _letters(known, decisive & (difference != 0)), np.asarray(open_.any(axis=-2)),
    )  # fmt: skip


class _Matrices(NamedTuple):
    """Values for pairs as matrices (..., measure, measure, n)."""

    measures: int
    shape: tuple[int, ...]

    def of(
        self, values: Any, itself: float = 0.0, *, signed: bool = False, of: list[int] | None = None
    ) -> FloatArray:
        """Return the matrix of values for the pairs ``of`` (by default all pairs)."""
        matrix = np.full((*self.shape[:-2], self.measures, self.measures, self.shape[-1]), itself)
        chosen = pairs(self.measures)
        for number, k in enumerate(range(len(chosen)) if of is None else of):
            a, b = chosen[k]
            matrix[..., a, b, :] = values[..., number, :]
            matrix[..., b, a, :] = (
                0.0 - values[..., number, :] if signed else values[..., number, :]
            )
        return matrix

    def beside(self, reference: IntArray, matrix: FloatArray) -> FloatArray:
        """Return the column for the reference measure at each n."""
        at = reference[..., np.newaxis, np.newaxis, :]
        at = np.broadcast_to(at, (*matrix.shape[:-2], 1, matrix.shape[-1]))
        return np.take_along_axis(matrix, at, axis=-2)[..., 0, :]


def _letters(value: FloatArray, told_apart: BoolArray) -> AnyArray:
    """Return the letters for each measure: (..., measure, n)."""
    result = np.full(value.shape, "", dtype=object)
    for row in np.ndindex(value.shape[:-2]):
        for k in range(value.shape[-1]):
            order = np.argsort(-value[(*row, slice(None), k)], kind="stable")
            apart = told_apart[row][:, :, k][np.ix_(order, order)]
            result[(*row, order, k)] = letters(apart)
    return result
