"""Tests for all pairs of areas, with the joint distribution of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.bands import critical_value
from rankeval_pd.stats.intervals.proportions import t_of
from rankeval_pd.stats.rankings import area_gaps, roc_areas, swaps

_ZERO = 1e-12  # a variance below this fraction of the areas' variances is a rounding error
_AT_ONCE = 20_000  # number of draws for all areas in memory
BASELINE = "_baseline"  # ending of columns for the family of pairs with the baseline
_TESTED = ("difference", "error", "freedom", "p_value")
_DRAWN = ("p_family", "margin", "drawn")


def all_pairs(count: int) -> tuple[IntArray, IntArray]:
    """Return the numbers of the first and the second measure of each pair."""
    a, b = np.triu_indices(count, 1)
    return a, b


def with_one(count: int, baseline: int) -> IntArray:
    """Return the numbers of the pairs that include the baseline."""
    a, b = all_pairs(count)
    return np.flatnonzero((a == baseline) | (b == baseline))


def empty_tests(
    shape: tuple[int, ...], families: Sequence[str] = (), more: Sequence[str] = ()
) -> dict[str, FloatArray]:
    """Return named columns of NaN (..., pair, n) for the tests of all pairs.

    The columns are ``difference``, its standard ``error``, degrees of ``freedom`` of Student's t
    (inf means normal), and ``p_value`` of the pair at a single n. For each family (the ending of
    its columns), ``p_family`` is simultaneous over all n, or over all pairs of areas; ``margin`` is
    half the width of the family's simultaneous intervals; ``drawn`` is the number of draws.
    """
    drawn = [f"{name}{family}" for family in families for name in _DRAWN]
    return {name: np.full(shape, np.nan) for name in (*_TESTED, *drawn, *more)}


def of_influences(
    value: FloatArray,
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    *,
    score: FloatArray,
    baseline: int | None,
    joint: bool,
    level: float,
    n_resamples: int,
    most: int,
    seed: int,
    student: bool = False,
    cluster: IntArray | None = None,
    drift: FloatArray | None = None,
) -> dict[str, FloatArray]:
    """Test all pairs of areas, using the candidates' influences.

    With ``joint``, ``p_family`` is the probability that the largest standardized difference
    in the family is at least as large as the observed one. The joint distribution is Student's,
    with the size of the smaller class minus 1 as degrees of freedom. For a single pair, the p-value
    equals ``compare_area``'s. The degrees of freedom are Welch's or, with ``student``, the
    family's. There is no test if a class has only one candidate. With ``cluster``, variances and
    degrees of freedom are computed from whole clusters; with ``drift``, for average precision. If
    the scores give different rankings but the variance is 0, the standard error is infinite.

    The result has the columns of :func:`empty_tests`, (..., pair, 1).
    """
    count = value.shape[-1]
    batch = value.shape[:-1]
    left, right = all_pairs(count)
    families = {"": np.arange(left.size)}
    if baseline is not None:
        families[BASELINE] = with_one(count, baseline)
    if not joint:
        families = {}
    columns = empty_tests((*batch, left.size, 1), [*families])
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
                influence[row],
                gold[row],
                present[row],
                group,
                (left, right),
                None if drift is None else drift[row],
            )
            least = float(np.nan_to_num(shared, nan=1.0).min(initial=np.inf))
        own = np.diag(covariance)
        variance = np.where(parts[-1] <= _ZERO * (own[left] + own[right]), 0.0, parts[-1])
        difference = value[row][left] - value[row][right]
        error = np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(np.where((difference == 0.0) & (error == 0.0), 0.0, difference / error))
        z = np.where(np.isinf(z), np.nan, z)
        for k in np.flatnonzero(error == 0.0):
            sides = [left[k], right[k]]
            a, b = score[row][sides][:, present[row][sides].all(axis=0)]
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
        tested = difference, error, freedom, p_of(z, freedom)
        for name, values in zip(_TESTED, tested, strict=True):
            columns[name][row][:, 0] = values
        if count > 1 and np.isfinite(covariance).all():
            law = _Joint(z, covariance, variance, error, (left, right), least, level)
            for family, pairs in families.items():
                drawn = law.decided(pairs, n_resamples, most, seed)
                for name, values in zip(_DRAWN, drawn, strict=True):
                    columns[f"{name}{family}"][row][pairs, 0] = values
    return columns


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
    ranked, label = present.all(axis=0), gold.any(axis=0)
    shape = (influence.shape[0], influence.shape[0])
    groups = ranked & label, ranked & ~label
    sizes = [int(group.sum()) for group in groups]
    covariances = [np.full(shape, np.nan), np.full(shape, np.nan)]
    for side, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        if size > 1:
            covariances[side] = np.cov(influence[:, group]).reshape(shape) / size
    return covariances, sizes


def _of_clusters(
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray,
    sides: tuple[IntArray, IntArray],
    drift: FloatArray | None,
) -> tuple[FloatArray, list[FloatArray], FloatArray]:
    """Return covariances of areas, variances of differences, and degrees of freedom."""
    classes = np.asarray(gold.any(axis=0)), np.asarray(present.all(axis=0)), cluster
    left, right = sides
    moves = None if drift is None else drift[left] - drift[right]
    own = roc_areas.cluster_spread(influence, *classes, drift).spread
    apart = roc_areas.cluster_spread(influence[left] - influence[right], *classes, moves).spread
    covariance = np.diag(own.variance)
    both = 0.5 * (own.variance[left] + own.variance[right] - apart.variance)
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
        self, pairs: IntArray, draws: int, most: int, seed: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p-values and margins, with enough draws to resolve p-values near alpha."""
        rng, drawn = np.random.default_rng(seed), np.empty(0)
        while True:
            blocks = [drawn]
            for start in range(drawn.size, draws, _AT_ONCE):
                blocks.append(self._largest(pairs, min(_AT_ONCE, draws - start), rng))
            drawn = np.concatenate(blocks)
            p = np.where(np.isnan(self.z[pairs]), np.nan, swaps.exceedance(self.z[pairs], drawn))
            count = np.full(p.shape, float(draws))
            alpha = 1.0 - self.level
            if draws >= most or not swaps.monte_carlo_error(p, p, count, alpha=alpha)[1].any():
                break
            draws = min(4 * draws, most)
        alone = float(t_of(max(self.freedom, 1), self.level))
        factor = max(critical_value(drawn, self.level), alone)
        return p, factor * self.error[pairs], count

    def _largest(self, pairs: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the largest standardized difference in each draw."""
        roots, vectors = np.linalg.eigh(self.covariance)
        drawn = rng.standard_normal((size, roots.size)) * np.sqrt(np.maximum(roots, 0.0))
        areas = drawn @ vectors.T
        left, right = (side[pairs] for side in self.sides)
        variance = self.variance[pairs]
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.abs(areas[:, left] - areas[:, right]) / np.sqrt(variance)
        spread = np.sqrt(rng.chisquare(self.freedom, size) / self.freedom)
        largest: FloatArray = np.where(variance > 0, each, 0.0).max(axis=-1) / spread
        return largest
