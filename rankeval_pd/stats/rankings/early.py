"""Measures of early retrieval: average precision, BEDROC and partial ROC areas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import t_of
from rankeval_pd.stats.rankings.ranking import Blocks, Ranking, inverse

# -------------------------------------------------------------- Average precision and its variance
#
# Average precision is the mean over the positives of P = tp / n, the precision of the list that
# ends at the positive. Equal scores form one block. If the numbers N+ and N- of positives and
# negatives are fixed, tp / N+ and fp / N- are proportions in two samples, and the derivatives of P
# are N+ fp / n^2 and -N- tp / n^2. The influence of a positive is therefore its own P minus the
# mean, plus its contribution to the lists of the positives at or below its rank. The influence of a
# negative is its negative contribution to the same lists.
#
# The mean over all orderings of tied scores uses the same sums, because at each rank of a block
# with m candidates and t positives, t / m positives are expected.


class Influence(NamedTuple):
    """Average precision and the influence of each candidate; candidates on the last axis."""

    value: FloatArray
    influence: FloatArray
    """An array (..., candidate) with mean 0 in each class, and 0 for absent candidates.

    The influences include a factor N+ / (N+ - 1), which controls the error rate of the tests but
    does not make the variance unbiased. The variance is 1.3 to 2 times the true variance with 5
    positives, and 1.0 to 1.6 times with 15. Without the factor, the ratio is 0.84 to 1.5. Intervals
    for one average precision then cover 93.5% or more, but the error rates of two-sample tests at
    5% reach 7.3% (``tests/reference/average_precision.csv``, ``unpaired.csv``).
    """
    gold: BoolArray
    present: BoolArray
    corrected: FloatArray
    """The mean of (tp - 1) / (n - 1), which excludes each positive from its own precision.

    Given n, this mean is unbiased if the counts of both classes above a score are Poisson.
    """
    drift: FloatArray
    """The change in the value per unit of the logit of the proportion of positives.

    The influences assume fixed class sizes. If clusters are resampled, class sizes also vary.
    """


def influences(ranking: Ranking, *, ties: str = "blocks") -> Influence:
    """Return average precision and the influences in O(N log N); NaN without positives.

    If ``ties`` is "expected", the result is the mean over all orderings of tied scores. Otherwise
    each score forms one block. In an incomplete ranking, a positive without a score contributes a
    precision of 0.
    """
    at = _RankedLists.of(ranking, ties)
    positive, negative = at.positive, at.negative
    share = np.where(at.inside, at.share, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # precision at each rank, with and without the positive at this rank: (..., rank)
        precision = np.where(at.inside, at.tp / at.n, 0.0)
        others = np.where(at.inside, (at.tp - 1.0) / (at.n - 1.0), 0.0)
        others = np.where(at.inside & (at.n <= 1), 1.0, others)
        value = (share * precision).sum(axis=-1, keepdims=True) / positive
        corrected = (share * others).sum(axis=-1, keepdims=True) / positive
        # contribution of a candidate to the lists of the positives at or below its rank
        gained = at.from_own_on(share * positive * (at.n - at.tp) / at.n**2) / positive
        lost = at.from_own_on(share * negative * at.tp / at.n**2) / positive
        drift = np.where(at.true, gained, 0.0).sum(axis=-1) / positive[..., 0]
        own = at.of_block(precision) / at.size
        of_positive = _center_class(own - value + gained, at.true, positive)
        of_other = _center_class(-lost, at.here & ~at.true, negative)
        scale = positive / np.where(positive > 1, positive - 1.0, np.nan)
    ranked = np.where(at.here, np.where(at.true, of_positive, of_other) * scale, 0.0)
    influence = np.empty(ranked.shape)
    np.put_along_axis(influence, at.positions, ranked, axis=-1)
    of_all = value[..., 0], influence, ranking.gold, ranking.present, corrected[..., 0], drift
    return Influence(*of_all)


def chance_average_precision(ranking: Ranking, *, ties: str = "blocks") -> FloatArray:
    """Return the average precision averaged over all permutations of the labels.

    Given a positive, every other candidate is a positive with probability (N+ - 1) / (N - 1). The
    result is NaN without positives.
    """
    at = _RankedLists.of(ranking, ties)
    total = ranking.here
    share = (at.positive - 1.0) / np.maximum(total - 1.0, 1.0)[..., np.newaxis]
    expected = (1.0 + (at.n - 1.0) * share) / at.n
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(at.inside, expected, 0.0).sum(axis=-1) / total
    return np.where(at.positive[..., 0] > 0, mean, np.nan)


class _RankedLists(NamedTuple):
    """The candidates by rank, and the list that determines the precision at each rank.

    All fields are (..., rank) unless noted otherwise.
    """

    positions: IntArray
    true: BoolArray
    here: BoolArray
    inside: BoolArray  #: whether the ranking reaches this rank
    n: IntArray  #: size of the list, 1 or more
    tp: FloatArray  #: true positives in the list, given one at this rank
    share: FloatArray  #: expected true positives at this rank: 0 or 1, or t / m in a tie
    reach: FloatArray  #: fraction of the block's lists that contain the candidate
    start: IntArray  #: candidates above the block
    end: IntArray  #: candidates above or in the block
    positive: IntArray  #: N+, (..., 1)
    negative: IntArray

    @classmethod
    def of(cls, ranking: Ranking, ties: str) -> _RankedLists:
        at = Blocks.of(ranking)
        true, total, start, end = at.true, at.total, at.start, at.end
        counts, positive = at.tp, at.positive
        listed = ranking.eligible.sum(axis=-1)[..., np.newaxis]
        rank = np.arange(1, true.shape[-1] + 1)
        before, after = (np.take_along_axis(counts, edge, axis=-1) for edge in (start, end))
        # each block corresponds to a single list, which ends with the block
        n, tp, share = np.maximum(end, 1), after.astype(float), true.astype(float)
        reach = np.ones(true.shape)
        if ties == "expected":
            # a list ends at each rank of a block, where t / m positives are expected. Given a
            # positive there, (t - 1) / (m - 1) positives are expected at each earlier rank
            size = np.maximum(end - start, 1)
            there = (after - before) / size
            ahead = (rank - start - 1) * (after - before - 1) / np.maximum(size - 1, 1)
            n, tp, share = np.broadcast_to(rank, true.shape), before + 1.0 + ahead, there
            reach = (rank - start) / size
        return cls(
            at.positions, true, at.here, rank <= listed, n, tp, share, reach, start, end, positive,
            total - positive,
        )  # fmt: skip

    @property
    def size(self) -> IntArray:
        size: IntArray = np.maximum(self.end - self.start, 1)
        return size

    def of_block(self, values: FloatArray) -> FloatArray:
        """Return, for each rank, the sum of the values over the rank's block."""
        sums = _sums_before(values)
        first, last = (np.take_along_axis(sums, x, axis=-1) for x in (self.start, self.end))
        total: FloatArray = last - first
        return total

    def from_own_on(self, values: FloatArray) -> FloatArray:
        """Return, for each rank, the sum over the lists that contain its candidate.

        The sum includes every list that ends below the candidate's block, and a fraction ``reach``
        of the lists that end inside the block.
        """
        values = np.where(self.inside, values, 0.0)
        below = _sums_before(values[..., ::-1])[..., ::-1]
        later: FloatArray = np.take_along_axis(below, self.end, axis=-1)
        return later + self.of_block(values * self.reach)


def _center_class(values: FloatArray, group: BoolArray, size: IntArray) -> FloatArray:
    """Return the values minus the mean over a class."""
    centered: FloatArray = values - (
        np.where(group, values, 0.0).sum(axis=-1, keepdims=True) / size
    )
    return centered


def _sums_before(values: FloatArray) -> FloatArray:
    """Return the sums of the values before each rank, and the total: (..., rank + 1)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def ap_logit_limits(
    found: Influence,
    error: FloatArray,
    freedom: FloatArray | IntArray,
    positive: FloatArray | IntArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return :func:`ap_limits` from an :class:`Influence`."""
    return ap_limits(found.value, found.corrected, error, freedom, positive, level)


def ap_limits(
    value: FloatArray,
    corrected: FloatArray,
    error: FloatArray,
    freedom: FloatArray | IntArray,
    positive: FloatArray | IntArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits for average precision: the outer limits of two intervals.

    Both intervals are symmetric on the logit scale and use Student's quantile. The first is
    centered at the value, and the second at a value in which no positive contributes to its own
    precision. If all positives are ranked first, the variance is 0, and the lower limit is the
    limit for ``positive`` successes in ``positive`` trials.
    """
    return ap_limits_at(
        value, corrected, error, positive, student_quantile(freedom, level), 0.5 - 0.5 * level
    )


def ap_limits_at(
    value: FloatArray,
    corrected: FloatArray,
    error: FloatArray,
    positive: FloatArray | IntArray,
    quantile: FloatArray,
    tail: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """Return :func:`ap_limits` at the quantile of Student's t with this tail probability."""
    low, high = _limits_around(value, quantile * error)
    lower, higher = _limits_around(corrected, quantile * error)
    with np.errstate(divide="ignore", invalid="ignore"):
        # the Clopper-Pearson lower limit for k out of k: p^k = (1 - level) / 2
        alone = tail ** (1.0 / positive)
    first = value == 1.0
    known = ~np.isnan(error)
    low, high = np.where(first, alone, np.fmin(low, lower)), np.fmax(high, higher)
    return (
        np.where(known, low, np.nan),
        np.where(known, np.where(first, 1.0, high), np.nan),
    )


def _limits_around(value: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return value ± half, computed on the logit scale by the delta method."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds = np.log(value) - np.log1p(-value)
        margin = half / (value * (1.0 - value))
        return 1.0 / (1.0 + np.exp(margin - odds)), 1.0 / (1.0 + np.exp(-margin - odds))


def student_quantile(freedom: FloatArray | IntArray, level: float) -> FloatArray:
    """Return Student's two-sided quantile, with at least one degree of freedom."""
    return t_of(np.maximum(freedom, 1.0), level)


# -------------------------------------------------------------------- BEDROC and partial ROC areas
#
# Both statistics are means over two samples of fixed size, the positives and the negatives. The
# variances are computed from the candidates' influences.
#
# References: J.-F. Truchon and C. I. Bayly (2007), Evaluating virtual screening methods: good and
# bad metrics for the "early recognition" problem, Journal of Chemical Information and Modeling 47.
# L. E. Dodd and M. S. Pepe (2003), Partial AUC estimation and regression, Biometrics 59. D. K.
# McClish (1989), Analyzing a portion of the ROC curve, Medical Decision Making 9.


class EarlyShare(NamedTuple):
    """A value between 0 and 1, and the influence of each candidate on the last axis."""

    share: FloatArray
    influence: FloatArray  #: influences with mean 0 in each class; 0 for absent candidates
    gold: BoolArray
    present: BoolArray


def _by_candidate(at: Blocks, of_positive: FloatArray, of_other: FloatArray) -> FloatArray:
    """Return influences, centered in each class: (..., rank) -> (..., candidate)."""
    result = np.zeros(of_positive.shape)
    for group, values in ((at.true, of_positive), (at.here & ~at.true, of_other)):
        size = np.maximum(group.sum(axis=-1, keepdims=True), 1)
        mean = np.where(group, values, 0.0).sum(axis=-1, keepdims=True) / size
        result = np.where(group, values - mean, result)
    influence = np.empty(result.shape)
    np.put_along_axis(influence, at.positions, result, axis=-1)
    return influence


class Bedroc(NamedTuple):
    """BEDROC, which is linear in the positives' mean weight, and its mean under chance."""

    early: EarlyShare
    chance: FloatArray


_ROUNDING = 1e-13  # one misplaced candidate among millions changes the mean weight by more


def bedroc(ranking: Ranking, alpha: float) -> Bedroc:
    """Return BEDROC with influences in O(N log N); NaN if a class is empty.

    The candidate at rank r has a weight of exp(-alpha r / N). Candidates with equal scores get the
    mean of their weights.
    """
    at = Blocks.of(ranking)
    size = np.maximum(at.total, 1)
    start, end = at.start, np.maximum(at.end, at.start + 1)
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
        value, chance = np.clip((mean - worst) * scale, 0.0, 1.0), (every - worst) * scale
        # each candidate moves lower candidates down by one rank. The factor is between the changes
        # if a candidate is left out or repeated, and gives a perfect ranking a variance of 0
        lost = 2.0 * np.tanh(0.5 * alpha / size)
        moved = _sums_below(np.where(at.true, weight, 0.0), at) * lost
        of_positive = (weight - moved) * scale
        of_other = -moved * (at.total - at.positive) / at.positive * scale
        influence = _by_candidate(at, of_positive, of_other)
    for end, exact in ((best, 1.0), (worst, 0.0)):  # rounding must not move the ends of the scale
        at_end = np.isclose(mean, end, rtol=_ROUNDING, atol=0.0) & ~np.isnan(value)
        value = np.where(at_end, exact, value)
    early = EarlyShare(value[..., 0], influence, ranking.gold, ranking.present)
    return Bedroc(early, chance[..., 0])


def _sums_below(values: FloatArray, at: Blocks) -> FloatArray:
    """Return, for each rank, the sum of values below the block plus half the block's sum."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values[..., ::-1], axis=-1, out=sums[..., 1:])
    below = sums[..., ::-1]
    half: FloatArray = 0.5 * at.around(below)
    return half


def partial_area(ranking: Ranking, most: float) -> EarlyShare:
    """Return the mean true positive rate over false positive rates from 0 to ``most``.

    Blocks of equal scores are straight segments of the curve, as in scikit-learn. The cost is O(N
    log N). The result is NaN if a class is empty.
    """
    at = Blocks.of(ranking)
    negative = at.total - at.positive
    tp_first, tp_last = (np.take_along_axis(at.tp, x, axis=-1) for x in (at.start, at.end))
    with np.errstate(divide="ignore", invalid="ignore"):
        # (..., rank): false and true positive rates at the start and at the end of the block, and
        # the fraction of the block inside the range
        low, high = (at.start - tp_first) / negative, (at.end - tp_last) / negative
        rate, later = tp_first / at.positive, tp_last / at.positive
        width = np.where(high > low, high - low, 1.0)
        inside = np.where(high > low, np.clip((most - low) / width, 0.0, 1.0), 1.0 * (low < most))
        # influence of a positive: the fraction of the range in which the positive is found
        found = np.where(high <= most, most - 0.5 * (low + high), 0.5 * inside**2 * width)
        found = np.where(low >= most, 0.0, found) / most
        value = np.where(at.true, found, 0.0).sum(axis=-1, keepdims=True) / at.positive
        # influence of a negative: the positives above it minus the positives at the end of the
        # range
        reached = np.where(at.here & (low <= most), rate + inside * (later - rate), 0.0)
        last = reached.max(axis=-1, keepdims=True, initial=0.0)
        behind = inside * (rate + 0.5 * inside * (later - rate) - last) / most
        influence = _by_candidate(at, found, behind)
    known = (at.positive > 0) & (negative > 0)
    value = np.where(known, value, np.nan)[..., 0]
    return EarlyShare(value, influence, ranking.gold, ranking.present)


def area_between(ranking: Ranking, least: float, most: float) -> EarlyShare:
    """Return the mean true positive rate over false positive rates between two limits."""
    found = partial_area(ranking, most)
    if least == 0.0:
        return found
    below, width = partial_area(ranking, least), most - least
    share, influence = (
        (most * x - least * y) / width
        for x, y in ((found.share, below.share), (found.influence, below.influence))
    )
    return found._replace(share=share, influence=influence)


def found_early(ranking: Ranking, share: float) -> EarlyShare:
    """Return the recall of a list with this fraction of the candidates.

    A block split by the end of the list counts fractionally. A candidate above the end of the list
    pushes one candidate out. The expected loss of positives is the precision around the
    end of the list, estimated between half and 1.5 times the list size (Jiang and Zhao 2015).
    """
    at = Blocks.of(ranking)
    size = np.ceil(share * at.total - 1e-9)
    ends = [np.clip(np.rint(x * size), 0, at.total).astype(np.int64) for x in (0.5, 1.5)]
    first, last = (np.take_along_axis(at.tp, x, axis=-1) for x in ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.clip((size - at.start) / np.maximum(at.end - at.start, 1), 0.0, 1.0)
        local = (last - first) / (ends[1] - ends[0])
        value = np.where(at.true, inside, 0.0).sum(axis=-1, keepdims=True) / at.positive
        others = local * (at.total - at.positive) / at.positive
        influence = _by_candidate(at, inside * (1.0 - local), -inside * others)
    known = (at.positive > 0) & (at.total > at.positive)
    return EarlyShare(
        np.where(known, value, np.nan)[..., 0], influence, ranking.gold, ranking.present
    )


def with_end_pairs(ranking: Ranking) -> Ranking:
    """Return the ranking with a true positive and a negative added at each end.

    The lower end is after the last score and before candidates without a score. No sorting is
    needed, because ranks increase by two, or by four for candidates without scores.
    """
    shape = (*ranking.score.shape[:-1], 2)
    pair = np.broadcast_to(np.array([True, False]), shape)
    top, bottom, here = np.full(shape, np.inf), np.full(shape, -np.inf), np.ones(shape, dtype=bool)
    scored = (ranking.present & ~np.isnan(ranking.score)).sum(axis=-1)[..., np.newaxis]
    own = ranking.ranks + np.where(ranking.ranks <= scored, 2, 4)
    first = np.broadcast_to(np.array([1, 2]), shape)
    return Ranking.of(
        np.concatenate([top, ranking.score, bottom], axis=-1),
        np.concatenate([pair, ranking.gold, pair], axis=-1),
        np.concatenate([here, ranking.present, here], axis=-1),
        positions=inverse(np.concatenate([first, own, scored + 2 + first], axis=-1)),
    )


_FAR = 4.0  # limits this far away on the logit scale multiply the odds by 55


def logit_limits(
    share: FloatArray,
    error: FloatArray,
    freedom: FloatArray | IntArray,
    positive: FloatArray | IntArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits that are symmetric on the logit scale, using Student's quantile.

    If the value is 0 or 1, the variance is 0. The limits are then the exact limits for no
    successes, or only successes, in ``positive`` trials. Near 0 and 1, where the logit scale
    multiplies the standard error by any factor, the limits are those of the arcsine scale.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds, spread = np.log(share) - np.log1p(-share), np.sqrt(share * (1.0 - share))
        quantile = student_quantile(freedom, level)
        half = quantile * error / spread**2
        low, high = 1.0 / (1.0 + np.exp(half - odds)), 1.0 / (1.0 + np.exp(-half - odds))
        # no share varies by more than its spread; on the arcsine scale, this is half a radian
        turn = 0.5 * quantile * np.minimum(error / spread, 1.0)
        angle, far = np.arcsin(np.sqrt(share)), half > _FAR
        low = np.where(far, np.maximum(low, np.sin(np.maximum(angle - turn, 0.0)) ** 2), low)
        most = np.sin(np.minimum(angle + turn, 0.5 * np.pi)) ** 2
        high = np.where(far, np.minimum(high, most), high)
        alone = (0.5 - 0.5 * level) ** (1.0 / positive)
    low = np.where(share >= 1.0, alone, np.where(share <= 0.0, 0.0, low))
    high = np.where(share <= 0.0, 1.0 - alone, np.where(share >= 1.0, 1.0, high))
    known = ~np.isnan(error) & ~np.isnan(share)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)
