"""Areas under curves, their variances, and early retrieval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import differences
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.clusters import between, positives_variance, simpson_number
from rankeval_pd.stats.proportions import Limits, p_of_t, t_of, z_of
from rankeval_pd.stats.ranking import Blocks, Ranking, inverse, sums_before

# ---------------------------------------------- The area under the ROC curve, and DeLong's variance
#
# A pair of a positive and a negative with the same score counts one half.
#
# References: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Comparing the areas under
# two or more correlated receiver operating characteristic curves, Biometrics 44. X. Sun and W. Xu
# (2014), Fast implementation of DeLong's algorithm: ranks instead of all pairs. R. G. Newcombe
# (2006), Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part
# 2, Statistics in Medicine 25.

# the first five are the smallest with which intervals of grouped candidates cover, and tests hold
# their level, in all settings of tests/simulations/cluster_areas.csv and dependence.csv
LEAST = 4.0  # class degrees of freedom below which the smaller class determines the total
ALONE = 0.7  # smallest power with sufficient coverage; with 1, 1.4 times as wide
_RARE = 0.02  # part of Newcombe's variance that areas near 1 get
_MOVED = 0.1  # factor for the variance of the true positives; with 0.2 up to 1.35 times as wide
_ENOUGH = 8  # clusters; with more, one large cluster made tests liberal
_HALVINGS = 60  # a bracket of length 2 shrinks to 2e-18, less than a rounding error near 1
_ROUNDING = 1e-14  # smaller deviations of placements from the mean are rounding errors
# degrees of freedom per effective candidate; chosen in average_precision.csv
AP_FREEDOM, AP_GAP_FREEDOM = 2.0, 3.5


class Influence(NamedTuple):
    """A value of rankings, and the influence of each candidate; candidates on the last axis.

    For the area under the ROC curve, the influences are placements: the fraction of the other class
    that is on the correct side. For all other values, they have a mean of 0 in each class, and are
    0 for absent candidates.
    """

    value: FloatArray
    influence: FloatArray
    gold: BoolArray
    present: BoolArray
    chance: Any = None  #: the value averaged over all permutations of the labels
    #: for average precision, the mean of (tp - 1) / (n - 1), unbiased given n for Poisson counts,
    #: with 0 at rank 1
    corrected: Any = None
    #: its change per unit of the logit of the prevalence, which varies if clusters are resampled
    drift: Any = None
    untied: Any = 1.0  #: factor by which ties reduce the variance of an area of one half
    better: FloatArray | None = None  #: (2, ...): positives and negatives of the better of 2 scores
    least: Any = 0.0  #: for average precision, the smallest possible value in the population


def placements(ranking: Ranking) -> Influence:
    """Return the area under the ROC curve (NaN if a class is empty) and the placements."""
    at = Blocks.of(ranking)
    tp = at.tp
    positive = at.positive
    negative = at.total - at.positive
    # (..., rank): twice the negatives, and twice the true positives, above the middle of the block
    worse = at.around(np.minimum(np.arange(tp.shape[-1]), at.total) - tp)
    wrong = np.where(at.true, worse, 0).sum(axis=-1)  # twice the value, an integer
    with silent_division():
        beaten = 1.0 - 0.5 * worse / negative
        ahead = 0.5 * at.around(tp) / positive
        area = 1.0 - wrong / (2.0 * positive[..., 0] * negative[..., 0])
        # sum over blocks that contain positives: a sum over positives, each divided by the block's
        first, last = at.at_edges(tp)
        size = (at.end - at.start) * 1.0
        cubes = np.where(at.true, (size**3 - size) / (last - first), 0.0).sum(axis=-1)
        untied = 1.0 - cubes / (at.total[..., 0] ** 3.0 - at.total[..., 0])
    # two blocks, both with positives: the first block ends where the last one begins
    edge = np.where(at.true & (at.start == 0), at.end, 0).max(axis=-1, initial=0)
    last = np.where(at.true & (at.end == at.total), at.start, 0).max(axis=-1, initial=0)
    two_valued = (edge == last) & (edge > 0)
    place = np.where(two_valued, edge, 0)[..., np.newaxis]
    true = np.take_along_axis(tp, place, axis=-1)[..., 0]
    return Influence(
        area,
        at.by_candidate(np.where(at.true, beaten, ahead)),
        ranking.gold,
        ranking.present,
        chance=np.where(np.isnan(area), np.nan, 0.5),
        untied=untied,
        better=np.where(two_valued, np.stack([true, edge - true]), np.nan),
    )


class AreaSpread(NamedTuple):
    """The variance of an area, or of the difference between two areas."""

    variance: FloatArray  #: DeLong's, NaN if a class has fewer than two candidates
    freedom: FloatArray  #: Welch (1938), Satterthwaite (1946), or the smaller class
    positive: AnyArray  #: number of true positives, or effective number of their clusters
    negative: AnyArray
    n_groups: IntArray | None = None  #: clusters in the class with fewer, if clusters are sampled
    clusters: int = 0  #: smallest number of clusters over the rows
    moved: FloatArray | float = 0.0  #: extra variance of a difference, relative to its square
    untied: FloatArray | float = 1.0  #: see :class:`Influence`
    better: FloatArray | None = None
    fourth: FloatArray | float = 0.0  #: the sum of the squared terms of the variance

    @property
    def error(self) -> FloatArray:
        """The standard error."""
        return np.sqrt(self.variance)

    @property
    def least_freedom(self) -> FloatArray:
        """The number of candidates, or clusters, in the smaller class minus one."""
        if self.n_groups is not None:
            return self.freedom
        return np.minimum(self.positive, self.negative) - 1.0

    def uneven_freedom(self, times: float) -> FloatArray:
        """Return the smallest degrees of freedom, at most so many times Simpson's number."""
        with silent_division():
            return np.asarray(np.fmin(self.least_freedom, times * self.variance**2 / self.fourth))

    @property
    def counted(self) -> dict[str, AnyArray]:
        """The column with the number of clusters, if any."""
        if self.n_groups is None:
            return {}
        return {"n_groups": self.n_groups}

    def at(self, area: FloatArray) -> FloatArray:
        """Return Newcombe's variance at an area, reduced to account for ties."""
        return self.untied * newcombe_variance(area, self.positive, self.negative)


def area_spread(placement: FloatArray, gold: BoolArray, present: BoolArray) -> AreaSpread:
    """Return DeLong's variance from the placements, with one term per class."""
    parts, sizes = [], []
    fourth: Any = 0.0
    for group in (gold & present, ~gold & present):
        size = group.sum(axis=-1)
        inside = np.where(group, placement, 0.0)
        with silent_division():
            mean = (inside.sum(axis=-1) / size)[..., np.newaxis]
            far = np.where(group, np.abs(inside - mean), 0.0)
            # unequal placements differ by at least 1 / (2 N)
            far = np.where(far.max(axis=-1, keepdims=True, initial=0.0) < _ROUNDING, 0.0, far)
            times = size * np.where(size > 1, size - 1.0, np.nan)
            far **= 2
            parts.append(far.sum(axis=-1) / times)
            fourth += (far**2).sum(axis=-1) / times**2
        sizes.append(size)
    return AreaSpread(
        parts[0] + parts[1], freedom_of(parts, sizes), sizes[0], sizes[1], fourth=fourth
    )


def freedom_of(parts: Sequence[FloatArray] | FloatArray, sizes: Any) -> FloatArray:
    """Return Welch-Satterthwaite degrees of freedom for the sum of the classes' variances.

    With variances of 0 or fewer than 5 candidates in a class, the smaller class determines them,
    because a few placements can be equal by chance.
    """
    (a, b), (n, m) = parts, sizes
    total = a + b
    least = np.minimum(n, m) - 1.0
    with silent_division():
        freedom = total**2 / (a**2 / (n - 1.0) + b**2 / (m - 1.0))
    return np.asarray(np.where((total == 0.0) | (least < LEAST), least, freedom))


def cluster_spread(
    placement: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray,
    drift: FloatArray | None = None,
    *,
    alone: bool = False,
) -> AreaSpread:
    """Return the variance of an area, or of a difference, from cluster totals of placements.

    Totals are divided by the square root of 1 - h, where h is the cluster's fraction of the class
    (Bell and McCaffrey). The degrees of freedom are Simpson's number of clusters in the more uneven
    class minus 1, but at least 4, and more for a difference, whose totals are symmetric. Average
    precision changes by ``drift`` per unit of the logit of the prevalence; its totals are divided
    by 1 - h (or a power of it if ``alone``), with at least 6 degrees of freedom. A sample may lack
    the few clusters on the wrong side, so an area ``alone`` gets a part of Newcombe's variance for
    single candidates.
    """
    placement, gold, present, cluster = np.broadcast_arrays(placement, gold, present, cluster)
    shape = placement.shape[:-1]
    variance = np.full(shape, np.nan)
    freedom = np.full(shape, np.nan)
    effective = np.full((2, *shape), np.nan)
    n_groups = np.zeros(shape, dtype=np.int64)
    clusters = np.iinfo(np.int64).max
    moved = np.zeros(shape)
    for row in np.ndindex(shape):
        here = present[row]
        true = gold[row][present[row]]
        if true.any() and not true.all():
            number = np.unique(cluster[row][here], return_inverse=True)[1]
            own = None
            if drift is not None:
                own = float(np.broadcast_to(drift, shape)[row])
            result = _cluster_variance(placement[row][here], true, number, own, alone)
            variance[row], freedom[row], effective[slice(None), *row], n_groups[row] = result
            clusters = min(clusters, int(number.max()) + 1)
            moved[row] = _MOVED * positives_variance(np.bincount(number), np.bincount(number, true))
    # if all ranks are correct or tied, the variance is 0; count each cluster as one candidate
    known = variance > 0.0
    positive = np.where(known, (gold & present).sum(axis=-1), effective[0])
    negative = np.where(known, (~gold & present).sum(axis=-1), effective[1])
    return AreaSpread(variance, freedom, positive, negative, n_groups, clusters, moved)


def _cluster_variance(
    placement: FloatArray, gold: BoolArray, cluster: IntArray, drift: float | None, alone: bool
) -> tuple[float, float, list[float], int]:
    """Return the variance, degrees of freedom, and effective and actual cluster counts."""
    size = int(cluster.max()) + 1
    power = 1.0
    least = 6.0
    if drift is None:
        power, least = 0.5, LEAST
    elif alone:
        power = ALONE
    totals = np.zeros(size)
    counts = []
    for one, sign in ((gold, 1.0), (~gold, -1.0)):
        count = np.bincount(cluster[one], minlength=size).astype(float)
        far = placement[one] - placement[one].mean() + sign * (drift or 0.0)
        total = np.bincount(cluster[one], weights=far, minlength=size) / count.sum()
        rest = np.maximum(1.0 - count / count.sum(), 0.5 / np.maximum(count, 1.0))
        totals += total / rest**power
        counts.append(count)
    effective = [float(count.sum() ** 2 / (count**2).sum()) for count in counts]
    n_groups = min(int((count > 0).sum()) for count in counts)
    variance = float(((totals - totals.mean()) ** 2).sum())
    if variance < _ROUNDING**2:
        return 0.0, min(effective) - 1.0, effective, n_groups
    if alone and drift is None:
        area = placement[gold].mean()
        few = effective[0]
        near = (area * few + 1.0) / (few + 2.0)
        rare = _RARE * (2.0 * area - 1.0) ** 6
        variance += float(rare * newcombe_variance(near, *effective))
    even = min(float(simpson_number(count)) for count in counts) - 1.0
    freedom = max(even, min(least, 2.0 * n_groups - 1.0, size - 1.0))
    if drift is None and not alone:
        freedom = float(between(freedom, min(size, 2 * n_groups, _ENOUGH) - 1.0))
    return variance, freedom, effective, n_groups


def delong(area: FloatArray, found: AreaSpread, level: float) -> tuple[FloatArray, ...]:
    """Return DeLong's limits, area ± z se, and p for a test of area = 1/2; NaN if se is 0."""
    error = np.where(found.error > 0.0, found.error, np.nan)
    half = z_of(level) * error
    low, high = np.clip((area - half, area + half), 0.0, 1.0)
    return low, high, 2.0 * scipy.special.ndtr(-np.abs(area - 0.5) / error)


def newcombe_limits(area: FloatArray, found: AreaSpread, level: float) -> Limits:
    """Return limits for the areas within z standard deviations of the observed area.

    The variance is Newcombe's (2006, method 5, exponential scores), reduced for ties. If DeLong's
    is larger at the observed area, all variances are multiplied by the ratio, and z is Student's t
    with DeLong's degrees of freedom, as always with clusters.
    """
    ratio, normal, freedom = _newcombe_law(area, found)
    scale = ratio * np.where(normal, z_of(level), t_of(freedom, level)) ** 2
    # bisection between the area (distance 0) and both ends of [0, 1]: (end, ...)
    inside = np.stack([area, area])
    outside = np.stack([np.zeros(np.shape(area)), np.ones(np.shape(area))])
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        with silent_division():
            within = (area - middle) ** 2 <= scale * found.at(middle)
        inside = np.where(within, middle, inside)
        outside = np.where(within, outside, middle)
    low, high = np.where(np.isnan(found.variance), np.nan, inside)
    return low, high


def _newcombe_law(area: FloatArray, found: AreaSpread) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Return the factor for Newcombe's variance, whether z is normal, and Student's freedom."""
    with silent_division():
        ratio = found.variance / found.at(area)
    larger = ratio > 1.0
    normal = ~larger & (found.n_groups is None)
    return np.where(larger, ratio, 1.0), normal, np.maximum(found.freedom, 1.0)


def newcombe_variance(area: FloatArray, positive: Any, negative: Any) -> FloatArray:
    """Return the variance at an area by Newcombe's method 5 (exponential scores)."""
    with silent_division():
        half = 0.5 * (positive + negative) - 1.0
        spread = 1.0 + half * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))
        variance: FloatArray = area * (1.0 - area) * spread / (positive * negative)
    return variance


def with_two_scores(
    found: AreaSpread, level: float, limits: Limits, p_value: FloatArray
) -> tuple[FloatArray, ...]:
    """Return Miettinen-Nurminen limits and p for two values: area = (1 + difference) / 2."""
    if found.better is None or np.isnan(found.better[0]).all():
        return *limits, p_value
    a, b = found.better
    two = ~(np.isnan(a) | np.isnan(found.variance))
    x = np.where(two, a, 1.0)
    n = np.where(two, found.positive, 1.0)
    y = np.where(two, b, 1.0)
    m = np.where(two, found.negative, 1.0)
    low, high = differences.miettinen_nurminen(x, n, y, m, level)
    tail = 2.0 * scipy.special.ndtr(-np.abs(differences.difference_score(x, n, y, m, 0.0)))
    low = np.where(two, 0.5 + 0.5 * low, limits[0])
    high = np.where(two, 0.5 + 0.5 * high, limits[1])
    return low, high, np.where(two, tail, p_value)


def p_of_half(area: FloatArray, found: AreaSpread) -> FloatArray:
    """Return the two-sided p-value for area = 1/2, consistent with Newcombe's limits."""
    ratio, normal, freedom = _newcombe_law(area, found)
    with silent_division():
        scale = np.sqrt(ratio * found.at(np.full(np.shape(area), 0.5)))
        statistic = np.abs(area - 0.5) / scale
    p_value = p_of_t(statistic, np.where(normal, np.inf, freedom), "two-sided")
    return np.where(np.isnan(found.variance), np.nan, p_value)


# ----------------------------------------------------------------------------- Outlines of rankings
#
# An outline contains the scores of the true positives and the numbers of negatives between them.
# These O(N+) numbers suffice for curves, the area under the ROC curve and its variance.


class Outline(NamedTuple):
    """One ranking, given by the distinct scores of its true positives: (score)."""

    tp: IntArray  #: number of true positives with each score
    tied: IntArray  #: number of negatives with this score
    between: IntArray  #: negatives between successive scores; last, below all

    @property
    def positive(self) -> int:
        """N+."""
        return int(self.tp.sum())

    @property
    def negative(self) -> int:
        """N - N+."""
        return int(self.tied.sum() + self.between.sum())


class RankingOutline(NamedTuple):
    """The outline of the ranking by a measure."""

    measure: Hashable
    scores: FloatArray  #: (score) ascending negated scores of the true positives
    outline: Outline
    unscored: int  #: number of candidates without a score
    unscored_true: int  #: number of true positives without a score


def outline_area(outline: Outline) -> tuple[float, AreaSpread]:
    """Return the results of :func:`placements` and :func:`area_spread` for an outline."""
    positive, negative = outline.positive, outline.negative
    # negatives above each score of true positives; twice the number of discordant pairs
    above = np.cumsum(outline.between[:-1]) + np.cumsum(outline.tied) - outline.tied
    wrong = int((outline.tp * (2 * above + outline.tied)).sum())
    tp_up_to = np.concatenate([[0], np.cumsum(outline.tp)])
    with silent_division():
        value = float(1.0 - np.float64(wrong) / (2.0 * positive * negative))
        beaten = 1.0 - 0.5 * (2 * above + outline.tied) / negative
        ahead = 0.5 * np.concatenate([2 * tp_up_to, tp_up_to[1:] + tp_up_to[:-1]]) / positive
        # (score) placements of the positives, and (between, tied) placements of the negatives
        others = np.concatenate([outline.between, outline.tied])
        parts, _ = np.transpose([_class_terms(beaten, outline.tp), _class_terms(ahead, others)])
        block = (outline.tp + outline.tied) * 1.0
        total = np.float64(positive + negative)
        untied = 1.0 - (block**3 - block).sum() / (total**3.0 - total)
    sizes = np.array([positive, negative], dtype=float)
    better = np.full(2, np.nan)
    if outline.tp.size == 2 and not outline.between.any():
        better = np.array([outline.tp[0], outline.tied[0]], dtype=float)
    freedom = freedom_of(parts, sizes)
    variance = parts[0] + parts[1]
    spread = AreaSpread(variance, freedom, sizes[0], sizes[1], untied=untied, better=better)
    return value, spread


def joined_spreads(spreads: Sequence[AreaSpread]) -> AreaSpread:
    """Return the variances of several areas as one array."""
    columns: dict[str, Any] = {}
    for name in "variance freedom positive negative untied better".split():
        columns[name] = np.array([getattr(x, name) for x in spreads]).T
    return AreaSpread(**columns)


class OutlinePrecision(NamedTuple):
    """Average precision of one ranking, or of several, with equal scores as one block."""

    value: Any
    corrected: Any  #: see :class:`Influence`
    least: Any
    variance: Any  #: the variance of the mean influences
    fourth: Any  #: see :class:`AreaSpread`
    chance: Any


def outline_precision(
    ranking: RankingOutline, inverse_ends: float, *, ends: bool
) -> OutlinePrecision:
    """Return the results of :func:`influences` for an outline, with the chance level.

    ``inverse_ends`` is the sum of 1 / (end of the block) over the scored candidates. The others are
    the last block, which no list contains if ``ends``.
    """
    outline, unscored = ranking.outline, ranking.unscored
    positive, negative = outline.positive, outline.negative
    total = positive + negative
    n = np.cumsum(outline.between[:-1] + outline.tp + outline.tied)
    tp = np.cumsum(outline.tp)
    true = outline.tp.astype(float)
    inside = np.ones(n.size, dtype=bool)
    if ends and ranking.unscored_true:
        inside[-1] = False
    with silent_division():
        precision = np.where(inside, tp / n, 0.0)
        others = np.where(n > 1, (tp - 1.0) / (n - 1.0), 0.0)
        value = (true * precision).sum() / np.float64(positive)
        corrected = (true * np.where(inside, others, 0.0)).sum() / np.float64(positive)
        # contribution of a candidate to the lists of the positives at or below its rank
        weight = np.where(inside, true / n.astype(float) ** 2, 0.0)
        gained = np.cumsum((weight * (n - tp))[::-1])[::-1]
        lost = np.append(
            np.cumsum((weight * tp)[::-1])[::-1] * negative / np.float64(positive), 0.0
        )
        scale = np.nan
        if positive > 1:
            scale = positive / (positive - 1.0)
        share = (positive - 1.0) / max(total - 1.0, 1.0)
    negatives = np.concatenate([outline.between, outline.tied])
    variance, fourth = np.add(
        _class_terms((precision - value + gained) * scale, outline.tp),
        _class_terms(np.concatenate([-lost, -lost[:-1]]) * scale, negatives),
    )
    lists = total
    if ends:
        lists -= unscored
    elif unscored:
        inverse_ends += unscored / total
    chance = np.nan
    if positive:
        chance = ((1.0 - share) * inverse_ends + share * lists) / total
    least = float(least_precision(np.array(positive), np.array(negative), ends=ends))
    return OutlinePrecision(float(value), float(corrected), least, variance, fourth, chance)


def _class_terms(placement: FloatArray, times: IntArray) -> Any:
    """Return one class's part of the variance and of its squared terms, from counts."""
    size = float(times.sum())
    if size < 2.0:
        return np.nan, np.nan
    mean = (placement * times).sum() / size
    far = np.where(times > 0, np.abs(placement - mean), 0.0)
    if far.max(initial=0.0) < _ROUNDING:
        far *= 0.0
    squares = far**2 / (size * (size - 1.0))
    return times @ squares, times @ squares**2


# ------------------------------- Intervals for differences between two areas on the same candidates

# chosen for the coverage and width of differences in tests/simulations/area_laws.csv
_UNSEEN = 0.4  # extreme candidates to add per class; with 0.35 a margin test had a size of 0.06
_NORMAL = 0.85, 0.95  # mean area: Student's t up to the first, normal from the second on


def difference_freedom(
    freedom: FloatArray, areas: tuple[FloatArray, FloatArray], sizes: Sequence[Any]
) -> FloatArray:
    """Return the degrees of freedom for an area difference, increased for areas near 1.

    There, few placements determine the difference and its error, so a normal test is conservative.
    """
    far = np.abs(0.5 * (areas[0] + areas[1]) - 0.5) + 0.5
    student, normal = _NORMAL
    with np.errstate(invalid="ignore"):
        more = freedom / np.clip((normal - far) / (normal - student), 1e-6, 1.0)
    return np.where(np.minimum(*sizes) <= LEAST, freedom, more)


def area_difference_limits(
    areas: tuple[FloatArray, FloatArray],
    variances: tuple[FloatArray, ...],
    freedom: FloatArray,
    sizes: tuple[AnyArray, AnyArray],
    level: float,
    moved: AnyArray | float = 0.0,
) -> Limits:
    """Return limits for the difference between two areas that agree with Student's test.

    ``variances`` are of both areas and of the difference. A small sample lacks the few candidates
    with extreme scores: the variance of 0.4 candidates per class, reduced by the correlation, times
    true / (true - observed), is added for each true difference. If the test rejects 0, it gives the
    limit nearer to 0, shifted toward 0 by ``moved`` (see :class:`AreaSpread`).
    """
    gap = areas[0] - areas[1]
    variance = variances[2]
    t = student_quantile(freedom, level)
    positive = sizes[0] * 1.0
    negative = sizes[1] * 1.0
    with silent_division():
        swapped = 2.0 / (positive * negative) ** 2  # the variance if one pair is reversed
        apart = (variance + swapped) / (variances[0] + variances[1] + swapped)
        unseen = apart * (_UNSEEN / positive + _UNSEEN / negative) ** 2
        own = t * np.sqrt(variance)
    # bisection from the observed difference to the largest one, or 0 if 0 is rejected: (side, ...)
    side = np.array([-1.0, 1.0]).reshape(2, *(1,) * own.ndim)
    excluded = (own > 0.0) & (own < -side * gap)
    inside = 0.0 * own
    outside = np.where(excluded, np.abs(gap), 2.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        share = np.where(variance > 0.0, np.maximum(1.0 + side * gap / middle, 0.0), 1.0)
        extra = share * unseen + moved * (gap + side * middle) ** 2
        within = middle**2 <= t**2 * (variance + extra)
        inside = np.where(within, middle, inside)
        outside = np.where(within, outside, middle)
    return np.maximum(gap - inside[0], -1.0), np.minimum(gap + inside[1], 1.0)


def have_same_order(first: Ranking, second: Ranking) -> BoolArray:
    """Return whether both scores give the same ranking, including ties."""
    place = np.take_along_axis(second.ranks, first.order, axis=-1) - 1
    start = np.take_along_axis(second.blocks[0], place, axis=-1)
    inside = np.arange(start.shape[-1]) < first.here[..., np.newaxis]
    same: BoolArray = ((start == first.blocks[0]) | ~inside).all(axis=-1)
    return same


# --------------------------------------------------------------- Average precision and its variance
#
# Average precision is the mean over the positives of P = tp / n, the precision of the list that
# ends at the positive, with equal scores as one block. Given N+ and N-, tp / N+ and fp / N- are
# proportions in two samples, and the derivatives of P are N+ fp / n^2 and -N- tp / n^2. The
# influence of a positive is its own P minus the mean, plus its contribution to the lists of the
# positives at or below its rank; that of a negative is its negative contribution to the same lists.
#
# With the factor N+ / (N+ - 1), the variance is 1.3 to 2 times the true one with 5 positives, and
# 1.0 to 1.6 times with 15. Without it, the ratio is 0.84 to 1.5, and the error rates of two-sample
# tests at 5% reach 7.3% (``tests/simulations/average_precision.csv``).


def influences(ranking: Ranking) -> Influence:
    """Return average precision and the influences in O(N log N); NaN without positives.

    Each score is one block. A positive without a score contributes a precision of 0.
    """
    at = Blocks.of(ranking)
    # whether the ranking reaches each rank, and a true positive there
    inside = np.arange(1, at.true.shape[-1] + 1) <= ranking.eligible.sum(axis=-1)[..., np.newaxis]
    listed = at.true & inside
    n = np.maximum(at.end, 1.0)  # the list that ends with the rank's block
    positive = at.positive
    negative = at.total - at.positive
    # given a positive, every other candidate is a positive with this probability
    random = (positive - 1.0) / np.maximum(at.total - 1.0, 1.0)
    with silent_division():
        chance = np.where(inside, random + (1.0 - random) / n, 0.0).sum(axis=-1)
        chance = np.where(positive[..., 0] > 0, chance / at.total[..., 0], np.nan)
        # precision at each rank, with and without the positive at this rank: (..., rank)
        tp = at.at_edges(at.tp)[1]
        corrected = np.where(listed & (n > 1.0), (tp - 1.0) / (n - 1.0), 0.0).sum(axis=-1)
        corrected /= positive[..., 0]
        precision = np.where(inside, tp / n, 0.0)
        value = np.where(listed, precision, 0.0).sum(axis=-1, keepdims=True) / positive
        # contribution of a candidate to the lists of the positives at or below its rank
        gained = _from_own_block_on(at, listed / n * (1.0 - precision))
        drift = np.where(at.true, gained, 0.0).sum(axis=-1) / positive[..., 0]
        lost = _from_own_block_on(at, listed / n * precision) * (-negative / positive)
        gained += precision - value  # and its own precision
        influence = _by_candidate(at, gained, lost)
        influence *= positive / np.where(positive > 1, positive - 1.0, np.nan)
    return Influence(
        value[..., 0],
        np.where(ranking.present, influence, 0.0),
        ranking.gold,
        ranking.present,
        chance,
        corrected,
        drift,
        least=least_precision(positive[..., 0], negative[..., 0], ends=ranking.ends),
    )


def least_precision(positive: AnyArray, negative: AnyArray, *, ends: bool) -> FloatArray:
    """Return the average precision of a population whose negatives all come first.

    It is 0 if the ranking ends, since it may end before the first positive.
    """
    with silent_division():
        others = np.true_divide(negative, positive)
        return np.asarray((1.0 - others * np.log1p(1.0 / others)) * (not ends))


def _from_own_block_on(at: Blocks, values: FloatArray) -> FloatArray:
    """Return, for each rank, the sum of the values from the rank's block on."""
    return at.at_edges(sums_before(values[..., ::-1])[..., ::-1])[0]


def precision_terms(
    found: Influence | OutlinePrecision, by: AreaSpread, times: float = AP_FREEDOM
) -> Any:
    """Return what :func:`ap_limits` needs; with clusters, the prevalence varies, too."""
    least = found.least * (by.n_groups is None)
    fewer = np.minimum(by.positive, by.negative)
    return found.value, found.corrected, least, by.error, by.uneven_freedom(times), fewer


def ap_limits(
    value: FloatArray,
    corrected: FloatArray,
    least: FloatArray,
    error: FloatArray,
    freedom: AnyArray,
    fewer: AnyArray,
    *,
    level: float,
) -> Limits:
    """Return limits for average precision, between the least possible value and 1.

    The lower limit is also a limit around a value in which no positive contributes to its own
    precision. ``fewer`` is the number of candidates in the smaller class.
    """
    reach = student_quantile(freedom, level) * error / (1.0 - least)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = (value - least) / (1.0 - least)
        without = (corrected - least) / (1.0 - least)
        low = np.minimum(_moved(share, -reach), _moved(np.maximum(without, 0.0), -reach))
        low, high = _with_ends((low, _moved(share, reach)), share, error, fewer, level)
    return least + (1.0 - least) * low, least + (1.0 - least) * high


def _moved(share: FloatArray, reach: FloatArray) -> FloatArray:
    """Return a share moved by this much, on the logit scale by the delta method."""
    odds = np.log(share) - np.log1p(-share) + reach / (share * (1.0 - share))
    return 1.0 / (1.0 + np.exp(-odds))


def _with_ends(
    limits: Limits, share: FloatArray, error: FloatArray, count: AnyArray, level: float
) -> Limits:
    """Return limits that are exact for ``count`` trials at 0 and 1, and NaN if unknown."""
    nothing = 0.0 * error
    alone = (0.5 - 0.5 * level) ** (1.0 / count) + nothing
    low = np.where(share >= 1.0, alone, np.where(share <= 0.0, nothing, limits[0]))
    high = np.where(share <= 0.0, 1.0 - alone, np.where(share >= 1.0, 1.0 + nothing, limits[1]))
    return low, high


def student_quantile(freedom: AnyArray, level: float) -> FloatArray:
    """Return Student's two-sided quantile, with at least one degree of freedom."""
    return t_of(np.maximum(freedom, 1.0), level)


# --------------------------------------------------------------------- BEDROC and partial ROC areas
#
# Both are means over two samples of fixed size, the positives and the negatives.
#
# References: J.-F. Truchon and C. I. Bayly (2007), Evaluating virtual screening methods: good and
# bad metrics for the "early recognition" problem, Journal of Chemical Information and Modeling 47.
# L. E. Dodd and M. S. Pepe (2003), Partial AUC estimation and regression, Biometrics 59. D. K.
# McClish (1989), Analyzing a portion of the ROC curve, Medical Decision Making 9.


def _by_candidate(at: Blocks, of_positive: FloatArray, of_other: FloatArray) -> FloatArray:
    """Return influences, centered in each class: (..., rank) -> (..., candidate)."""
    result = np.where(at.true, of_positive, of_other)
    result[~at.here] = 0.0
    for group in (at.true, at.here & ~at.true):
        size = np.maximum(group.sum(axis=-1, keepdims=True), 1)
        mean = np.where(group, result, 0.0).sum(axis=-1, keepdims=True) / size
        np.subtract(result, mean, out=result, where=group)
    return at.by_candidate(result)


_EARLY_ROUNDING = 1e-13  # one misplaced candidate among millions changes the mean weight by more


def bedroc_influence(ranking: Ranking, alpha: float) -> Influence:
    """Return BEDROC, a mean weight exp(-alpha r / N) of ranks r; NaN if a class is empty."""
    at = Blocks.of(ranking)
    size = np.maximum(at.total, 1)
    start = at.start
    end = np.maximum(at.end, at.start + 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # the mean weight of a block is a geometric series: (..., rank)
        step = np.expm1(alpha / size)
        falls = np.exp(-alpha * start / size) * -np.expm1(-alpha * (end - start) / size)
        weight = falls / step / (end - start)
        share = at.positive / size
        every = -np.expm1(-alpha) / step / size  # mean weight of all candidates
        mean = np.where(at.true, weight, 0.0).sum(axis=-1, keepdims=True) / at.positive
        # weight if all positives come first; exp(-alpha N- / N) times this weight if they come last
        best = -np.expm1(-alpha * share) / step / at.positive
        worst = best * np.exp(-alpha * (1.0 - share))
        scale = np.where((share > 0.0) & (share < 1.0), 1.0 / (best - worst), np.nan)
        value = np.clip((mean - worst) * scale, 0.0, 1.0)
        chance = (every - worst) * scale
        # a factor between the changes if a candidate is left out and if it is repeated
        lost = 2.0 * np.tanh(0.5 * alpha / size)
        below = sums_before(np.where(at.true, weight, 0.0)[..., ::-1])[..., ::-1]
        moved = 0.5 * at.around(below) * lost  # with half of the block
        of_positive = (weight - moved) * scale
        of_other = -moved * (at.total - at.positive) / at.positive * scale
        influence = _by_candidate(at, of_positive, of_other)
    for end, exact in ((best, 1.0), (worst, 0.0)):  # rounding must not move the ends of the scale
        at_end = np.isclose(mean, end, rtol=_EARLY_ROUNDING, atol=0.0) & ~np.isnan(value)
        value = np.where(at_end, exact, value)
    return Influence(value[..., 0], influence, ranking.gold, ranking.present, chance[..., 0])


def area_up_to(ranking: Ranking, most: float) -> Influence:
    """Return the mean true positive rate up to a false positive rate; ties are segments."""
    at = Blocks.of(ranking)
    negative = at.total - at.positive
    tp_first, tp_last = at.at_edges(at.tp)
    with silent_division():
        # (..., rank): rates at the start and at the end of the block, and its fraction in the range
        low = (at.start - tp_first) / negative
        high = (at.end - tp_last) / negative
        rate = tp_first / at.positive
        later = tp_last / at.positive
        width = np.where(high > low, high - low, 1.0)
        inside = np.where(high > low, np.clip((most - low) / width, 0.0, 1.0), 1.0 * (low < most))
        # influence of a positive: the fraction of the range in which the positive is found
        found = np.where(high <= most, most - 0.5 * (low + high), 0.5 * inside**2 * width)
        found = np.where(low >= most, 0.0, found) / most
        value = np.where(at.true, found, 0.0).sum(axis=-1, keepdims=True) / at.positive
        # influence of a negative: the positives above it minus those at the end of the range
        reached = np.where(at.here & (low <= most), rate + inside * (later - rate), 0.0)
        last = reached.max(axis=-1, keepdims=True, initial=0.0)
        behind = inside * (rate + 0.5 * inside * (later - rate) - last) / most
        influence = _by_candidate(at, found, behind)
    known = (at.positive > 0) & (negative > 0)
    value = np.where(known, value, np.nan)[..., 0]
    chance = np.where(np.isnan(value), np.nan, 0.5)  # of the standardized area
    return Influence(value, influence, ranking.gold, ranking.present, chance)


def with_end_pairs(ranking: Ranking) -> Ranking:
    """Return the ranking with a true positive and a negative added at each end.

    The lower end is before candidates without a score. Nothing is sorted: ranks move by 2 or 4.
    """
    shape = (*ranking.score.shape[:-1], 2)
    pair = np.broadcast_to(np.array([True, False]), shape)
    top = np.full(shape, np.inf)
    bottom = np.full(shape, -np.inf)
    here = np.ones(shape, dtype=bool)
    scored = (ranking.present & ~np.isnan(ranking.score)).sum(axis=-1)[..., np.newaxis]
    own = ranking.ranks + np.where(ranking.ranks <= scored, 2, 4)
    first = np.broadcast_to(np.array([1, 2]), shape)
    return Ranking.of(
        np.concatenate([top, ranking.score, bottom], axis=-1),
        np.concatenate([pair, ranking.gold, pair], axis=-1),
        np.concatenate([here, ranking.present, here], axis=-1),
        positions=inverse(np.concatenate([first, own, scored + 2 + first], axis=-1) - 1),
    )


def early_limits(
    share: FloatArray, error: FloatArray, freedom: AnyArray, positive: AnyArray, level: float
) -> Limits:
    """Return the inner limits of the logit and arcsine scales, using Student's quantile.

    Near 0 and 1, the logit scale multiplies the error by any factor, and the arcsine scale reaches
    the ends. No share varies by more than its spread, which is half a radian.
    """
    quantile = student_quantile(freedom, level)
    reach = quantile * error
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = 0.5 * np.minimum(reach / np.sqrt(share * (1.0 - share)), quantile)
        angle = np.arcsin(np.sqrt(share))
        limits = (
            np.maximum(np.sin(np.maximum(angle - turn, 0.0)) ** 2, _moved(share, -reach)),
            np.minimum(np.sin(np.minimum(angle + turn, 0.5 * np.pi)) ** 2, _moved(share, reach)),
        )
        return _with_ends(limits, share, error, positive, level)
