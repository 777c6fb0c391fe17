"""The area under the ROC curve, DeLong's variance, and outlines of rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.cluster_totals import between, positives_variance, simpson_number
from rankeval_pd.stats.intervals.proportions import Limits, t_of, z_of
from rankeval_pd.stats.rankings.ranking import Blocks, Ranking

# ------------------------------------------------------------------ The area and DeLong's variance
#
# A pair of a positive and a negative with the same score counts one half.
#
# References: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Comparing the areas under
# two or more correlated receiver operating characteristic curves, Biometrics 44. X. Sun and W. Xu
# (2014), Fast implementation of DeLong's algorithm: ranks instead of all pairs. R. G. Newcombe
# (2006), Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part
# 2, Statistics in Medicine 25.

LEAST = 4.0  # class degrees of freedom below which the smaller class determines the total
ALONE = 0.7  # smallest power with sufficient coverage; with 1, 1.4 times as wide
_RARE = 0.02  # sufficient in simulations for areas near 1
_MOVED = 0.1  # factor for the variance of the true positives; with 0.2 up to 1.35 times as wide
_ENOUGH = 8  # clusters; with more, one large cluster made tests liberal
_ROUNDING = 1e-14  # smaller deviations of placements from the mean are rounding errors


class Placements(NamedTuple):
    """Placements of positives among negatives, and of negatives among positives."""

    area: FloatArray  #: mean of the placements in either class
    # : (..., candidate): fraction of the other class that is on the correct side
    placement: FloatArray
    gold: BoolArray
    present: BoolArray
    untied: FloatArray  #: factor by which ties reduce the variance at an area of one half
    # : positives and negatives with the better of two scores; NaN unless there are two scores
    better: tuple[FloatArray, FloatArray]


def placements(ranking: Ranking) -> Placements:
    """Return the area under the ROC curve and the placements in O(N log N).

    The area is NaN if a class is empty.
    """
    at = Blocks.of(ranking)
    # (..., rank from 0): true positives and negatives up to each rank
    tp, fp = at.tp, np.minimum(np.arange(at.tp.shape[-1]), at.total) - at.tp
    positive, negative = at.positive, at.total - at.positive
    # (..., rank): twice the negatives, and twice the true positives, above the middle of the block
    worse, better = (at.around(counts) for counts in (fp, tp))
    with np.errstate(divide="ignore", invalid="ignore"):
        beaten, ahead = 1.0 - 0.5 * worse / negative, 0.5 * better / positive
    placed = np.empty(at.true.shape)
    np.put_along_axis(placed, at.positions, np.where(at.true, beaten, ahead), axis=-1)
    wrong = np.where(at.true, worse, 0).sum(axis=-1)  # twice the value, an integer
    with np.errstate(divide="ignore", invalid="ignore"):
        area = 1.0 - wrong / (2.0 * positive[..., 0] * negative[..., 0])
        # sum over blocks that contain positives: a sum over positives, each divided by the block's
        first, last = (np.take_along_axis(at.tp, x, axis=-1) for x in (at.start, at.end))
        size = (at.end - at.start) * 1.0
        cubes = np.where(at.true, (size**3 - size) / (last - first), 0.0).sum(axis=-1)
        untied = _untied(cubes, at.total[..., 0])
    # two blocks, both with positives: the first block ends where the last one begins
    two = np.where(at.true, at.start, -1).max(axis=-1, initial=0)
    edge = np.where(at.true, at.end, at.true.shape[-1]).min(axis=-1, initial=at.true.shape[-1])
    ends = np.where(at.true, at.end, 0).max(axis=-1, initial=0) == at.total[..., 0]
    starts = np.where(at.true, at.start, 1).min(axis=-1, initial=1) == 0
    two_valued = (two == edge) & starts & ends & (edge > 0)
    place = np.where(two_valued, edge, 0)[..., np.newaxis]
    true = np.take_along_axis(at.tp, place, axis=-1)[..., 0]
    of_true, of_others = (np.where(two_valued, x, np.nan) for x in (true, edge - true))
    return Placements(area, placed, ranking.gold, ranking.present, untied, (of_true, of_others))


def _untied(cubes: Any, total: Any) -> FloatArray:
    """Return Mann and Whitney's tie correction from the blocks that contain positives."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1.0 - cubes / (total**3.0 - total))


class AreaSpread(NamedTuple):
    """The variance of an area, or of the difference between two areas (DeLong)."""

    variance: FloatArray  #: NaN if a class has fewer than two candidates
    freedom: FloatArray  #: Welch (1938), Satterthwaite (1946), or the smaller class
    clustered: bool = False  #: whether whole clusters are sampled
    untied: FloatArray | float = 1.0  #: see :class:`Placements`
    better: tuple[FloatArray, FloatArray] | None = None


def area_spread(placement: FloatArray, gold: BoolArray, present: BoolArray) -> AreaSpread:
    """Return DeLong's variance with degrees of freedom, from the placements.

    The variance is a sum with one term per class.
    """
    placement, gold, present = np.broadcast_arrays(placement, gold, present)
    parts, sizes = [], []
    for group in (gold & present, ~gold & present):
        size = group.sum(axis=-1)
        inside = np.where(group, placement, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (inside.sum(axis=-1) / size)[..., np.newaxis]
            far = np.where(group, np.abs(inside - mean), 0.0)
            # equal placements differ only by rounding errors, unequal placements by at least 1 / (2
            # N)
            far = np.where(far.max(axis=-1, keepdims=True, initial=0.0) < _ROUNDING, 0.0, far)
            squares = (far**2).sum(axis=-1)
            parts.append(squares / (size * np.where(size > 1, size - 1.0, np.nan)))
        sizes.append(size)
    return AreaSpread(parts[0] + parts[1], freedom_of(parts, sizes))


def freedom_of(parts: Sequence[FloatArray], sizes: Sequence[Any]) -> FloatArray:
    """Return Welch-Satterthwaite degrees of freedom for the sum of the classes' variances.

    If both variances are 0, or if a class has fewer than 5 candidates, the smaller class determines
    the degrees of freedom. The reason is that a few placements can be equal by chance, which gives
    a variance of 0.
    """
    total, least = parts[0] + parts[1], np.minimum(*sizes) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = sum(part**2 / (size - 1.0) for part, size in zip(parts, sizes, strict=True))
        freedom: FloatArray = np.where((total == 0.0) | (least < LEAST), least, total**2 / weighted)
    return freedom


class ClusteredSpread(NamedTuple):
    """The variance of an area, or of an area difference, for samples of whole clusters."""

    spread: AreaSpread
    n_groups: IntArray  #: number of clusters in the class with fewer clusters
    effective: FloatArray  #: (class, ...): effective number of clusters in each class
    clusters: int  #: smallest number over the rows
    moved: FloatArray  #: extra variance of a difference, relative to its square


def cluster_spread(
    placement: FloatArray, gold: BoolArray, present: BoolArray, cluster: IntArray,
    drift: FloatArray | None = None, *, alone: bool = False,
) -> ClusteredSpread:  # fmt: skip
    """Return the variance of an area, or of a difference, from cluster totals of placements.

    The totals in a class are divided by the square root of 1 - h, where h is the fraction of the
    class in the cluster (Bell and McCaffrey). The degrees of freedom are one less than Simpson's
    number of clusters in the more uneven class (see ``cluster_totals``), but at least 4. A
    difference has more degrees of freedom, because the totals are symmetric if the measures are
    equal. Average precision also depends on the prevalence, with a slope of ``drift`` per unit of
    the logit. Its totals are divided by 1 - h (or a power of it if ``alone``), with at least 6
    degrees of freedom. Both minimums assume enough clusters. Near 0 or 1, few clusters have
    candidates on the wrong side, and a sample may lack these clusters. For an area ``alone``, a
    fraction of Newcombe's variance for one candidate per cluster is therefore added.
    """
    placement, gold, present, cluster = np.broadcast_arrays(placement, gold, present, cluster)
    shape = placement.shape[:-1]
    variance, freedom = np.full(shape, np.nan), np.full(shape, np.nan)
    effective, n_groups = np.full((2, *shape), np.nan), np.zeros(shape, dtype=np.int64)
    by = None if drift is None else np.broadcast_to(drift, shape)
    clusters, moved = np.iinfo(np.int64).max, np.zeros(shape)
    for row in np.ndindex(shape):
        here, true = present[row], gold[row][present[row]]
        if true.any() and not true.all():
            number = np.unique(cluster[row][here], return_inverse=True)[1]
            own = None if by is None else float(by[row])
            result = _cluster_variance(placement[row][here], true, number, own, alone)
            variance[row], freedom[row], effective[(slice(None), *row)], n_groups[row] = result
            clusters = min(clusters, int(number.max()) + 1)
            moved[row] = _MOVED * positives_variance(np.bincount(number), np.bincount(number, true))
    spread = AreaSpread(variance, freedom, clustered=True)
    return ClusteredSpread(spread, n_groups, effective, clusters, moved)


def _cluster_variance(
    placement: FloatArray, gold: BoolArray, cluster: IntArray, drift: float | None, alone: bool
) -> tuple[float, float, list[float], int]:
    """Return the variance, degrees of freedom, and effective and actual cluster counts."""
    size = int(cluster.max()) + 1
    power = 0.5 if drift is None else ALONE if alone else 1.0
    totals, counts = np.zeros(size), []
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
        area, few = placement[gold].mean(), effective[0]
        near = (area * few + 1.0) / (few + 2.0)
        rare = _RARE * (2.0 * area - 1.0) ** 6
        variance += float(rare * newcombe_variance(near, *effective))
    even = min(float(simpson_number(count)) for count in counts) - 1.0
    least = min(LEAST if drift is None else 6.0, 2.0 * n_groups - 1.0, size - 1.0)
    freedom = max(even, least)
    if drift is None and not alone:
        freedom = float(between(freedom, min(size, 2 * n_groups, _ENOUGH) - 1.0))
    return variance, freedom, effective, n_groups


def delong_limits(area: FloatArray, found: AreaSpread, level: float) -> Limits:
    """Return DeLong's interval, area ± z se clipped to [0, 1]; NaN without variation."""
    half = z_of(level) * np.sqrt(np.where(found.variance == 0.0, np.nan, found.variance))
    return np.clip(area - half, 0.0, 1.0), np.clip(area + half, 0.0, 1.0)


def delong_logit_limits(area: FloatArray, found: AreaSpread, level: float) -> Limits:
    """Return DeLong's interval on the scale of log(area / (1 - area)); NaN at 0 and 1."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        center = np.log(area / (1.0 - area))
        half = z_of(level) * np.sqrt(found.variance) / (area * (1.0 - area))
        low, high = special.expit(center - half), special.expit(center + half)
    return low, high


def newcombe_limits(
    area: FloatArray, found: AreaSpread, positive: IntArray | FloatArray,
    negative: IntArray | FloatArray, level: float,
) -> Limits:  # fmt: skip
    """Return limits for the areas within z standard deviations of the observed area.

    The variance at each area follows Newcombe's method 5 (2006), which assumes exponential scores.
    The variance is reduced to account for ties. At one half, the result is Mann and Whitney's
    variance. If DeLong's variance at the observed area is larger, all variances are multiplied by
    the ratio, and z is the quantile of Student's t with DeLong's degrees of freedom. With clusters,
    Student's t is always used.
    """
    at_once = _NewcombeModel.of(area, found, positive, negative)
    scale = at_once.ratio * np.where(at_once.normal, z_of(level), t_of(at_once.freedom, level)) ** 2

    def limit(end: float) -> FloatArray:
        # bisection between the area (distance 0) and an end of [0, 1]
        inside, outside = np.array(area, dtype=float), np.full(np.shape(area), end)
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            with np.errstate(divide="ignore", invalid="ignore"):
                within = (area - middle) ** 2 <= scale * at_once.model(middle)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return np.where(np.isnan(found.variance), np.nan, inside)

    return limit(0.0), limit(1.0)


class _NewcombeModel(NamedTuple):
    """The variance at each possible area, and the distribution for the observed area."""

    positive: IntArray | FloatArray
    negative: IntArray | FloatArray
    ratio: FloatArray  #: factor applied to the model's variance, 1 or more
    normal: BoolArray  #: whether the distribution is normal instead of Student's
    freedom: FloatArray
    untied: FloatArray | float

    @classmethod
    def of(
        cls, area: FloatArray, found: AreaSpread, positive: IntArray | FloatArray,
        negative: IntArray | FloatArray,
    ) -> _NewcombeModel:  # fmt: skip
        freedom, one = found.freedom, np.ones(1)
        plain = cls(positive, negative, one, one > 0.0, freedom, found.untied)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = found.variance / plain.model(area)
            larger = ratio > 1.0
        return plain._replace(
            ratio=np.where(larger, ratio, 1.0),
            normal=~larger & (not found.clustered),
            freedom=np.maximum(freedom, 1.0),
        )

    def model(self, at: FloatArray) -> FloatArray:
        """Return the variance at an area by Newcombe's method 5."""
        return self.untied * newcombe_variance(at, self.positive, self.negative)


def newcombe_variance(area: FloatArray, positive: Any, negative: Any) -> FloatArray:
    """Return the variance at an area by Newcombe's method 5 (exponential scores)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = 0.5 * (positive + negative) - 1.0
        spread = 1.0 + half * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))
        variance: FloatArray = area * (1.0 - area) * spread / (positive * negative)
    return variance


def with_two_scores(
    found: AreaSpread, sizes: tuple[Any, Any], level: float, limits: Limits, p_value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Miettinen and Nurminen's limits and p-value for two-valued scores.

    If the scores have two values, the area is (1 + d) / 2, where d is the difference between
    two proportions, and Mann and Whitney's test is the score test for d = 0.
    """
    from scipy import special

    if found.better is None or np.isnan(found.better[0]).all():
        return *limits, p_value
    counts = [np.where(np.isnan(found.variance), np.nan, x) for x in found.better]
    two = ~np.isnan(counts[0])
    x, n, y, m = (np.where(two, z, 1.0) for z in (counts[0], sizes[0], counts[1], sizes[1]))
    ends = differences.miettinen_nurminen(x, n, y, m, level)
    tail = 2.0 * special.ndtr(-np.abs(differences.difference_score(x, n, y, m, 0.0)))
    low, high = (
        np.where(two, 0.5 + 0.5 * end, limit) for end, limit in zip(ends, limits, strict=True)
    )
    return low, high, np.where(two, tail, p_value)


def p_of_half(
    area: FloatArray, found: AreaSpread, positive: IntArray, negative: IntArray, ci: str
) -> FloatArray:
    """Return the two-sided p-value for a test of area = 1/2, consistent with ``ci``.

    The p-value is NaN if the interval is NaN or if there is no variation.
    """
    from scipy import special

    far, half = np.abs(area - 0.5), np.full(np.shape(area), 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        if ci == "newcombe":
            at_once = _NewcombeModel.of(area, found, positive, negative)
            statistic = far / np.sqrt(at_once.ratio * at_once.model(half))
            student = special.stdtr(at_once.freedom, -statistic)
            tail = np.where(at_once.normal, special.ndtr(-statistic), student)
        else:
            error = np.sqrt(found.variance)
            if ci == "logit":
                far, error = np.abs(special.logit(area)), error / (area * (1.0 - area))
            known = error > 0.0
            tail = np.where(known, special.ndtr(-far / np.where(known, error, 1.0)), np.nan)
    p_value: FloatArray = np.where(np.isnan(found.variance), np.nan, 2.0 * tail)
    return p_value


# ---------------------------------------------------------------------------- Outlines of rankings
#
# An outline contains the scores of the true positives and the numbers of negatives between them.
# These O(N+) numbers are sufficient to compute curves, the area under the ROC curve and its
# variance.


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


def _outline_blocks(outline: Outline) -> tuple[IntArray, IntArray]:
    """Return the numbers of candidates above, and at or above, each true positive score."""
    size = outline.tp + outline.tied
    end = np.cumsum(outline.between[:-1] + size)
    return end - size, end


def outline_area(outline: Outline) -> tuple[float, AreaSpread]:
    """Return the area under the ROC curve and DeLong's variance with degrees of freedom.

    The results equal those of :func:`placements` and :func:`area_spread` for individual candidates.
    """
    positive, negative = outline.positive, outline.negative
    # negatives above each score of true positives; twice the number of discordant pairs
    above = np.cumsum(outline.between[:-1]) + np.cumsum(outline.tied) - outline.tied
    wrong = int((outline.tp * (2 * above + outline.tied)).sum())
    tp_up_to = np.concatenate([[0], np.cumsum(outline.tp)])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(1.0 - np.float64(wrong) / (2.0 * positive * negative))
        beaten = 1.0 - 0.5 * (2 * above + outline.tied) / negative
        ahead = 0.5 * np.concatenate([2 * tp_up_to, tp_up_to[1:] + tp_up_to[:-1]]) / positive
        # (score) placements of the positives, and (between, tied) placements of the negatives
        parts = [
            _class_variance(beaten, outline.tp),
            _class_variance(ahead, np.concatenate([outline.between, outline.tied])),
        ]
    sizes = np.float64(positive), np.float64(negative)
    both = [np.array(part) for part in parts]
    block = (outline.tp + outline.tied) * 1.0
    untied = _untied((block**3 - block).sum(), positive + negative)
    two = outline.tp.size == 2 and not outline.between.any()
    one, other = (np.array(float(x[0]) if two else np.nan) for x in (outline.tp, outline.tied))
    freedom = freedom_of(both, sizes)
    return value, AreaSpread(both[0] + both[1], freedom, False, untied, (one, other))


class OutlinePrecision(NamedTuple):
    """Average precision of one ranking, with equal scores as one block."""

    value: float
    corrected: float  #: see :class:`rankeval_pd.stats.rankings.early.Influence`
    variance: float  #: the variance of the mean influences
    chance: float


def outline_precision(
    outline: Outline, inverse_ends: float, unscored: int, *, unscored_true: bool, ends: bool
) -> OutlinePrecision:
    """Return average precision with its variance and chance level.

    The results equal those of :func:`rankeval_pd.stats.rankings.early.influences`.
    ``inverse_ends`` is the sum of 1 / n over the scored candidates, where n is the end of the
    candidate's block. ``unscored`` candidates are the last block, which contains a positive if
    ``unscored_true``. If ``ends``, no list contains them.
    """
    positive, negative = outline.positive, outline.negative
    total = positive + negative
    _, n = _outline_blocks(outline)
    tp, true = np.cumsum(outline.tp), outline.tp.astype(float)
    inside = np.ones(n.size, dtype=bool)
    if ends and unscored_true:
        inside[-1] = False
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(inside, tp / n, 0.0)
        others = np.where(n <= 1, 1.0, (tp - 1.0) / (n - 1.0))
        value = (true * precision).sum() / np.float64(positive)
        corrected = (true * np.where(inside, others, 0.0)).sum() / np.float64(positive)
        # contribution of a candidate to the lists of the positives at or below its rank
        weight = np.where(inside, true / n.astype(float) ** 2, 0.0)
        gained = np.cumsum((weight * (n - tp))[::-1])[::-1]
        lost = np.append(
            np.cumsum((weight * tp)[::-1])[::-1] * negative / np.float64(positive), 0.0
        )
        scale = positive / (positive - 1.0) if positive > 1 else np.nan
        share = (positive - 1.0) / max(total - 1.0, 1.0)
    variance = _class_variance((precision - value + gained) * scale, outline.tp)
    variance += _class_variance(
        np.concatenate([-lost, -lost[:-1]]) * scale,
        np.concatenate([outline.between, outline.tied]),
    )
    lists = total
    if ends:
        lists -= unscored
    elif unscored:
        inverse_ends += unscored / total
    chance = np.nan
    if positive:
        chance = ((1.0 - share) * inverse_ends + share * lists) / total
    return OutlinePrecision(float(value), float(corrected), float(variance), chance)


def _class_variance(placement: FloatArray, times: IntArray) -> float:
    """Return one class's part of the variance; ``times`` is the count of each placement."""
    size = float(times.sum())
    if size < 2.0:
        return np.nan
    mean = (placement * times).sum() / size
    far = np.where(times > 0, np.abs(placement - mean), 0.0)
    squares = 0.0 if far.max(initial=0.0) < _ROUNDING else float((times * far**2).sum())
    return squares / (size * (size - 1.0))
