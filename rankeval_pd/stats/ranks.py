"""All pairs of measures or systems: tests, ranks and letters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import areas, swaps
from rankeval_pd.stats._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    silent_division,
    unended,
)
from rankeval_pd.stats.bands import critical_value
from rankeval_pd.stats.bootstrap import MOST_POINTS, SignedSum
from rankeval_pd.stats.clusters import query_share_limits
from rankeval_pd.stats.families import level_of_each
from rankeval_pd.stats.gains import (
    Tested,
    as_p_says,
    crossed_errors,
    no_tests,
    oriented,
    student_limits,
)
from rankeval_pd.stats.item_gains import Draws
from rankeval_pd.stats.items import AnyItems, Items, PairOptions, Step, leans, quiet, scores_of
from rankeval_pd.stats.proportions import (
    Limits,
    clopper_pearson,
    p_of_t,
    t_of,
    widened_by_skewness,
    z_of,
)
from rankeval_pd.stats.ranking import Ranking

# ---- Tests for all pairs of areas, with the joint distribution of their differences

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


def columns_of_tests(families: Sequence[str]) -> list[str]:
    """Return the columns (..., pair, n) of the tests of all pairs.

    ``difference``, its ``error``, ``freedom`` (inf: normal) and ``p_value`` at a single n; and,
    with each family's ending, the simultaneous ``p_family``, half the width of its intervals,
    ``margin``, and the number of draws, ``drawn``.
    """
    return [*_TESTED, *(f"{name}{family}" for family in families for name in _DRAWN)]


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
    student: bool = False,
    cluster: IntArray | None = None,
    drift: FloatArray | None = None,
    **drawing: Any,
) -> dict[str, FloatArray]:
    """Test all pairs of areas, using the candidates' influences.

    With ``joint``, ``p_family`` is the probability that the largest standardized difference in the
    family reaches the observed one, in Student's joint distribution with the smaller class minus 1
    degrees of freedom. A single pair has ``compare_area``'s p-value, with Welch's degrees of
    freedom or, with ``student``, the family's. With ``cluster``, whole clusters are sampled
    (``drift`` is for average precision). If rankings differ but the variance is 0, the standard
    error is infinite.

    ``drawing`` is for :func:`_joint_tests`; see :func:`columns_of_tests` for the columns.
    """
    count = value.shape[-1]
    batch = value.shape[:-1]
    left, right = all_pairs(count)
    families = {"": np.arange(left.size)}
    if baseline is not None:
        families[BASELINE] = with_one(count, baseline)
    if not joint:
        families = {}
    shape = *batch, left.size, 1
    columns = {name: np.full(shape, np.nan) for name in columns_of_tests([*families])}
    gold, present = (np.broadcast_to(x, influence.shape) for x in (gold, present))
    for row in np.ndindex(batch):
        shared = None
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
            classes = np.asarray(gold[row].any(axis=0)), np.asarray(present[row].all(axis=0)), group
            moves, gaps = None, None
            if drift is not None:
                moves = drift[row]
                gaps = drift[row][left] - drift[row][right]
            each = areas.cluster_spread(influence[row], *classes, moves).variance
            apart = influence[row][left] - influence[row][right]
            between = areas.cluster_spread(apart, *classes, gaps)
            covariance = np.diag(each)
            parts = [between.variance]
            shared = between.freedom
            together = 0.5 * (each[left] + each[right] - between.variance)
            covariance[left, right], covariance[right, left] = together, together
            least = float(np.nan_to_num(shared, nan=1.0).min(initial=np.inf))
        own = np.diag(covariance)
        variance = np.where(parts[-1] <= _ZERO * (own[left] + own[right]), 0.0, parts[-1])
        difference = value[row][left] - value[row][right]
        error = np.sqrt(variance)
        with silent_division():
            z = np.abs(np.where((difference == 0.0) & (error == 0.0), 0.0, difference / error))
        z = np.where(np.isinf(z), np.nan, z)
        for k in np.flatnonzero(error == 0.0):
            two = [left[k], right[k]]
            a, b = score[row][two][:, present[row][two].all(axis=0)]
            a, b = (np.unique(x, return_inverse=True)[1] for x in (a, b))
            if not np.array_equal(a, b):
                error[k] = np.inf
        freedom = np.full(z.shape, least)
        if shared is not None:
            freedom = shared
        elif not student:
            freedom = areas.freedom_of(parts[:2], sizes)
            both = value[row][left], value[row][right]
            freedom = areas.difference_freedom(freedom, both, sizes)
        freedom = np.fmax(freedom, 1.0)
        tested = difference, error, freedom, p_of_t(z, freedom, "two-sided")
        for name, values in zip(_TESTED, tested, strict=True):
            columns[name][row][:, 0] = values
        if count > 1 and np.isfinite(covariance).all():
            for family, pairs in families.items():
                sides = left[pairs], right[pairs]
                common = z[pairs], variance[pairs], covariance, sides, least, level
                p, critical, n_drawn = _joint_tests(*common, **drawing)
                drawn = p, critical * error[pairs], n_drawn
                for name, values in zip(_DRAWN, drawn, strict=True):
                    columns[f"{name}{family}"][row][pairs, 0] = values
    return columns


def _covariances(
    influence: FloatArray, gold: BoolArray, present: BoolArray
) -> tuple[list[FloatArray], list[int]]:
    """Return covariances of mean influences over positives and negatives, and class sizes."""
    ranked = present.all(axis=0)
    label = gold.any(axis=0)
    shape = (influence.shape[0], influence.shape[0])
    groups = ranked & label, ranked & ~label
    sizes = [int(group.sum()) for group in groups]
    covariances = [np.full(shape, np.nan), np.full(shape, np.nan)]
    for side, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        if size > 1:
            covariances[side] = np.cov(influence[:, group]).reshape(shape) / size
    return covariances, sizes


def _joint_tests(
    z: FloatArray,
    variance: FloatArray,
    covariance: FloatArray,
    sides: tuple[IntArray, IntArray],
    freedom: float,
    level: float,
    *,
    n_resamples: int,
    most: int,
    seed: int,
) -> tuple[FloatArray, float, FloatArray]:
    """Return the pairs' p-values, their common critical value, and the number of draws.

    The draws come from Student's joint distribution of all areas. P-values near alpha get more.
    """
    rng = np.random.default_rng(seed)
    drawn = np.empty(0)
    draws = n_resamples
    roots, vectors = np.linalg.eigh(covariance)
    scale = np.sqrt(np.maximum(roots, 0.0))
    while True:
        blocks = [drawn]
        for start in range(drawn.size, draws, _AT_ONCE):
            size = min(_AT_ONCE, draws - start)
            areas = (rng.standard_normal((size, roots.size)) * scale) @ vectors.T
            with silent_division():
                each = np.abs(areas[:, sides[0]] - areas[:, sides[1]]) / np.sqrt(variance)
            spread = np.sqrt(rng.chisquare(freedom, size) / freedom)
            blocks.append(np.where(variance > 0, each, 0.0).max(axis=-1) / spread)
        drawn = np.concatenate(blocks)
        p = np.where(np.isnan(z), np.nan, swaps.exceedance(z, drawn))
        count = np.full(p.shape, float(draws))
        near = swaps.monte_carlo_error(p, p, count, alpha=1.0 - level)[1]
        if draws >= most or not near.any():
            break
        draws = min(4 * draws, most)
    alone = float(t_of(max(freedom, 1), level))
    return p, max(critical_value(drawn, level), alone), count


# ---- Scores of systems with intervals, tests of all pairs, and resampled ranks


_FEW = 50  # items up to which the interval of a mean in a known range is Gaffke's
_HALVES = 2.0 ** -np.array([3, 8, 14])
_ABOUT = np.array([*-_HALVES, 0.0, *_HALVES])  # parts of a bracket, about the crossing of a chord
_ROUNDS = 16  # three or four are usual
_TINY = np.finfo(float).tiny
_NARROW = 1e-8  # part of the range in which the distribution is a straight line
_LEANS = 0.28  # chosen for warnings where coverage is too low in tests/simulations/scores.csv
_SMALL = 4  # items of a stratum that rarely agree; chosen like _LEANS


class SystemScores(NamedTuple):
    """The scores of systems and their intervals: each (system,)."""

    theta: FloatArray  #: larger is better, as in the intervals
    together: Limits  #: simultaneous for all systems
    alone: Limits
    interval: str  #: kind of interval
    skewed: bool  #: whether items are too few for scores so skewed, or those of a stratum


def scores_with_limits(draws: Draws, test: str) -> SystemScores:
    """Return the scores with intervals, which need no draws."""
    count, level = draws.items.n_systems, draws.options.level
    each = level_of_each(level, count * draws.options.n_alike)
    interval, (together, alone) = _score_limits(draws, test, np.array([each, level]))
    skewed = interval == "hall" and count > 2 and abs(np.mean(_leans(draws))) > _LEANS
    return SystemScores(
        draws.theta, together, alone, interval, bool(skewed or _may_agree(draws.items))
    )


def _may_agree(items: AnyItems) -> bool:
    """Return whether a stratum has few items, right or wrong, so that all may agree by chance."""
    if not isinstance(items, Items) or items.strata is None:
        return False
    sizes = np.bincount(items.strata)
    if sizes.min() >= _SMALL or sizes.max() <= 2 * sizes.min():
        return False
    most = items.n_items / (sizes.size * sizes)  # in a mean of strata
    return bool(np.isin(items.statistics[..., 0] / most[items.strata], (0.0, 1.0)).all())


def _score_limits(draws: Draws, test: str, levels: FloatArray) -> tuple[str, Iterable[Any]]:
    """Return the kind of interval, and the systems' intervals by level; larger is better."""
    items = draws.items
    each = [replace(draws.options, level=level) for level in levels.tolist()]
    if isinstance(items, Items) and items.factors is not None:
        errors = crossed_errors(items)
        limits = np.array([student_limits(draws.theta, *errors, options) for options in each])
        least, most = np.sort([0.0, items.sign * items.most])
        if np.isfinite(items.most):
            limits = np.clip(limits, least, most)
        return "student", limits
    if test == "t":
        error, freedom = draws.student_factor * _errors(draws), items.n_items - 1.0
        return "t", [student_limits(draws.theta, error, freedom, options) for options in each]
    if items.seeds is not None and draws.parametric is not None:
        return "student", map(draws.parametric.score_limits, levels.tolist())
    few = isinstance(items, Items) and items.linear == "mean" and items.n_items <= _FEW
    few &= items.n_groups == 0 and items.unit is not None  # neither groups, strata nor weights
    if items.binary:
        right = items.totals[:, 0]
        interval = "clopper-pearson"
        size = np.full(right.shape, items.n_items)
        found = [clopper_pearson(right, size, level) for level in levels.tolist()]
    elif draws.parametric is not None:
        interval = "korn-graubard"
        found = [draws.parametric.score_limits(level) for level in levels.tolist()]
    elif few and np.isfinite(items.most):
        values = items.statistics[..., 0] / items.statistics[..., 1]
        interval = "gaffke"
        found = [*zip(*gaffke(values, items.most, levels), strict=True)]
    else:
        hall = [_hall_limits(draws, level) for level in levels.tolist()]
        return hall[0][0], [limits for _, limits in hall]
    return interval, np.sort(items.sign * np.array(found), axis=1)


def _hall_limits(draws: Draws, level: float) -> tuple[str, Limits]:
    """Return Hall's limits, and Korn and Graubard's if they are wider and the range is known.

    Groups of unequal size count as the number of equal groups with the same variance.
    """
    items = draws.items
    n = float(draws.items.n_drawn)
    if items.n_groups:
        weights = draws.parts.weights
        n = max(float(weights.sum() ** 2 / (weights @ weights)), 2.0)
    error = _errors(draws) * np.sqrt(n / (n - 1.0))
    freedom = items.n_drawn - 1.0
    # far out in the tails, few degrees of freedom would be too few
    own = max(draws.options.level, 0.5)
    critical = t_of(freedom, level) * t_of(n - 1.0, own) / t_of(freedom, own)
    about = draws.theta - critical * error, draws.theta + critical * error
    lean = _leans(draws) * n / items.n_drawn  # unequal groups are skewed in one sample only
    found = widened_by_skewness(about, draws.theta, error, lean, critical)
    low, high = (np.where(error > 0.0, limit, np.nan) for limit in found)
    if not np.isfinite(items.most):
        return "hall", (low, high)
    share = items.sign * draws.theta / items.most
    count = np.full(error.shape, n)
    limits = items.most * np.array(query_share_limits(share, error / items.most, count, level))
    least, most = np.sort(items.sign * limits, axis=0)
    return "hall, korn-graubard", (np.fmin(low, least), np.fmax(high, most))


def gaffke(values: FloatArray, most: float, levels: FloatArray) -> Limits:
    """Return Gaffke's (2005) limits (level, row) for means of values (row, item) in 0 to ``most``.

    The lower limit is a quantile of a random mean of the values and 0, with weights that are
    uniform on the simplex. For values 0 and 1, the limits are Clopper and Pearson's.
    """
    both = np.vstack([values, most - values])
    knots = np.tile(np.sort(np.pad(both.T, ((1, 0), (0, 0))), axis=0), levels.size)
    tail = np.repeat((1.0 - levels) / 2.0, len(both))
    wanted = scipy.special.ndtri(tail)
    low = knots[0]
    high = knots[-1]
    at_low, at_high = np.zeros_like(low), np.ones_like(high)
    # start with the quantile of Cornish and Fisher
    mean = knots.mean(axis=0)
    square, cube = (((knots - mean) ** power).mean(axis=0) for power in (2, 3))
    bend = (wanted**2 - 1.0) * cube / np.maximum(square, _TINY) / (3.0 * len(knots) + 6.0)
    guess = mean + wanted * np.sqrt(square / (len(knots) + 1.0)) + bend
    for _ in range(_ROUNDS):
        points = np.clip(guess + (high - low) * _ABOUT[:, np.newaxis], low, high)
        share = _positive_share(points - knots[:, np.newaxis])
        below = share < tail
        low = np.where(below, points, low).max(axis=0)
        high = np.where(below, high, points).min(axis=0)
        at_low = np.where(below, share, at_low).max(axis=0)
        at_high = np.where(below, at_high, share).min(axis=0)
        guess = low + (high - low) * (tail - at_low) / (at_high - at_low)
        if (high - low <= _NARROW * knots[-1]).all():
            break
    least, above = guess.reshape(levels.size, 2, -1).swapaxes(0, 1)
    return least, most - above


def _positive_share(values: FloatArray) -> FloatArray:
    """Return how often a random mean of falling values (item, row) is positive (Varsi 1973).

    Weights are exponential. The sum of a positive and a negative term is an exponential variable of
    the same size and sign as one of the terms. The other term is thus removed: the sums of the
    first i positive and j negative terms are computed together for all i + j.
    """
    up = np.maximum(values[values.max(axis=(1, 2)) > 0.0], 0.0)
    down = np.maximum(-values[values.min(axis=(1, 2)) < 0.0], _TINY)  # no sum is 0
    n_up, n_down = len(up), len(down)
    share = np.ones((n_up + 1, *values.shape[1:]))
    share[0] = 0.0
    for total in range(2, n_up + n_down + 1):
        first = max(1, total - n_down)
        last = min(total - 1, n_up)
        own = up[first - 1 : last]
        other = down[n_down - total + first : n_down - total + last + 1]
        before = share[first - 1 : last]
        here = share[first : last + 1]
        step = here - before
        step *= own / (own + other)
        np.add(before, step, out=here)
    return np.asarray(share[-1])


def _errors(draws: Draws) -> FloatArray:
    """Return the standard error of each score by linearization, or 0 if there is no variation."""
    error = np.sqrt(draws.spread.systems)
    varies = error > draws.level.room
    return np.where(varies & ~np.isnan(draws.theta), draws.level.unit * error, 0.0)


def _leans(draws: Draws) -> FloatArray:
    every = np.arange(draws.items.n_systems)[:, np.newaxis]
    return leans(draws.spread.systems, draws.spread.system_cubes, draws.level, every)


# ---- Thresholds whose precision or recall is guaranteed despite a search over all thresholds


class Sets(NamedTuple):
    """The acceptance sets of one ranking, smallest first, which never split equal scores."""

    threshold: FloatArray
    n: IntArray
    tp: IntArray
    positive: int  #: total number of true positives
    others: int  #: total number of negatives
    groups: IntArray | None = None  #: number of groups in each set, with clusters only
    weigh: Callable[[float], FloatArray] | None = None
    """Returns a candidate's weight in a set, or in all positives, at a confidence level."""

    def low(self, size: AnyArray, level: float) -> FloatArray:
        """Return the lower limit for the proportion tp / size at this confidence level."""
        weight: FloatArray | float = 1.0
        if self.weigh is not None:
            weight = self.weigh(level)
        return clopper_pearson(self.tp * weight, size * weight, level)[0]

    def rejected(self) -> Sets:
        """Return the sets that the thresholds reject, smallest first, with negatives as right."""
        n = (self.positive + self.others - self.n)[::-1]
        right = (self.others - self.n + self.tp)[::-1]
        some = n > 0
        return Sets(self.threshold[::-1][some], n[some], right[some], self.others, self.positive)


class Promise(NamedTuple):
    """The chosen set with a guaranteed lower limit, or None, NaN and the reason.

    Each set between the chosen one and ``end`` has the guarantee, with its limit in ``lows``.
    """

    chosen: int | None = None
    low: float = math.nan
    why: str = ""
    end: int = 0
    lows: FloatArray = np.empty(0)


def sets_of(ranking: Ranking) -> Sets:
    """Return the acceptance sets that one ranking's scores allow."""
    scored = int((ranking.present & ~np.isnan(ranking.score)).sum())
    ranked, tp = ranking.scores_by_rank[:scored], ranking.tp[: scored + 1]  # tp also at rank 0
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[:scored])
    positive = int(tp[-1])
    return Sets(ranked[ends], ends + 1, tp[ends + 1], positive, int(ranking.here) - positive)


def guaranteed_precision(sets: Sets, wanted: float, level: float) -> Promise:
    """Return the largest set with a guaranteed precision.

    Tests start at the smallest size that could pass, and at 2, 4, 8, ... times it, and continue
    with larger sets until one fails. The level is divided among these sequences.
    """
    if not sets.n.size:
        return Promise(why="no candidate has a score")
    reach = sets.n
    if sets.groups is not None:
        reach = sets.groups
    alpha = 1.0 - level
    most = int(reach[-1])
    sequences = 1
    while True:  # the smallest size that could pass depends on the number of sequences
        least = math.ceil(math.log(alpha / sequences) / math.log(wanted))
        starts = least * 2 ** np.arange(sequences)
        if least * 2**sequences > most:
            break
        sequences += 1
    low = sets.low(sets.n, 1.0 - 2.0 * alpha / sequences)
    passed = low >= wanted
    failures = np.append(np.flatnonzero(~passed), sets.n.size)
    first = np.searchsorted(reach, starts)
    last = failures[np.searchsorted(failures, first)] - 1
    reached = last[(last >= first) & (first < sets.n.size)]
    if not reached.size:
        if least > most:
            why = (
                f"a guarantee needs at least {least} correct candidates, but there are only {most}"
                " candidates"
            )
        else:
            first = np.minimum(first, sets.n.size - 1)
            why = (
                f"the first sets tested, of {sets.n[first[0]]:,} to {sets.n[first[-1]]:,}"
                f" candidates, have lower confidence limits of at most {low[first].max():.3g}"
            )
        return Promise(why=f"{why}. Request a lower precision")
    chosen = int(reached.max())
    start = int(first[last == chosen].min())
    return Promise(chosen, float(low[chosen]), "", start, low)


def guaranteed_recall(sets: Sets, wanted: float, level: float) -> Promise:
    """Return the smallest set with a guaranteed recall: one sequence, as recall only falls."""
    if not sets.n.size or not sets.positive:
        return Promise(why="no true positive has a score")
    total = np.full(sets.tp.shape, sets.positive)
    low = np.zeros(sets.tp.shape)
    if level > 0.5:
        low = sets.low(total, 2.0 * level - 1.0)
    passed = np.flatnonzero(low >= wanted)
    if not passed.size:
        why = (
            f"with all {sets.positive} true positives found, the lower confidence limit is"
            f" {low[-1]:.3g}"
        )
        return Promise(why=f"{why}. Request a lower recall, or judge more candidates")
    return Promise(int(passed[0]), float(low[passed[0]]), "", sets.n.size - 1, low)


def guaranteed_youden(sets: Sets, _: float, level: float) -> Promise:
    """Return the set with the largest Youden's J, and a lower limit valid for all sets."""
    if not sets.n.size or not sets.positive or not sets.others:
        return Promise(why="J requires candidates in both classes")
    index = sets.tp / sets.positive - (sets.n - sets.tp) / sets.others
    chosen = int(np.argmax(index))
    margin = math.sqrt(-0.5 * math.log(1.0 - level) * (1.0 / sets.positive + 1.0 / sets.others))
    low = float(index[chosen]) - margin
    if low <= 0.0:
        best = f"{index[chosen]:.3g}"
        why = (
            f"the largest J is {best}, but a search over all thresholds can reach {margin:.3g} by"
            " chance"
        )
        return Promise(why=f"{why}. Judge more candidates")
    return Promise(chosen, low, "", chosen)


# ---- Wilcoxon's signed-rank test for all pairs, with Hodges-Lehmann estimates and limits

_EQUAL = 1e-12  # relative to the largest difference; closer differences share a rank
_MOST_PARTS = 200  # every second step halves the bracket, which ends at 1e-24 of the largest mean


def signed_rank_tests(
    items: AnyItems, pairs: IntArray, options: PairOptions, _: Step = quiet
) -> Tested:
    """Return signed-rank tests for all pairs; the gain is the median Walsh average.

    Differences of 0 are dropped (Wilcoxon 1945), and equal absolute differences get the mean rank.
    The null distribution is exact, over random signs of the ranks. If the sum has more than a
    million values, it is SciPy's normal approximation.
    """
    items = _items_in_memory(items, options, "wilcoxon")
    theta = scores_of(items)
    values = items.sign * items.statistics[..., 0]
    scale = np.abs(values).max(axis=1)
    sorted_ = [np.sort(values[a] - values[b]) for a, b in pairs]
    n, room = items.n_items, _EQUAL * scale[pairs].max(axis=1)
    gain = np.array([hodges_lehmann(x) for x in sorted_])
    gain[np.abs(gain) <= room] = 0.0
    swapped = (gain < 0.0) & (not options.keep_order)
    turned = swapped != (options.alternative == "less")
    pairs = np.where(turned[:, np.newaxis], pairs[:, ::-1], pairs)
    for k in np.flatnonzero(turned).tolist():
        sorted_[k] = -sorted_[k][::-1]
    gain = np.where(turned, -gain, gain)
    rows = no_tests(len(pairs))
    for k, x in enumerate(sorted_):
        up, down = signed_rank_tails(x, float(room[k]))
        rows.put(k, np.nan, up, min(up, down))  # a gain of 0 has no sign, but the ranks may differ

    near = np.array([_next_to_0(x, float(r)) for x, r in zip(sorted_, room, strict=True)])

    def limits_at(options: PairOptions) -> Limits:
        first = _first_walsh(n, options.two_tailed)
        ends = [(-np.inf, np.inf)] * len(sorted_)
        if first >= 1:
            last = n * (n + 1) // 2 + 1 - first
            ends = [(walsh_average(x, first), walsh_average(x, last)) for x in sorted_]
        low, high = np.array(ends).reshape(-1, 2).T
        flat = np.array([x[0] == x[-1] for x in sorted_], dtype=bool)
        low, high = np.where(flat, np.nan, low), np.where(flat, np.nan, high)
        return as_p_says((low, high), gain, rows.doubled, near, options)

    rows.low[:], rows.high[:] = limits_at(options)
    with np.errstate(invalid="ignore"):
        rows.error[:] = (rows.high - rows.low) / (2.0 * z_of(options.two_tailed))
    return Tested(items, options, theta, pairs, swapped, rows, True, limits_at, estimate=gain)


def _items_in_memory(items: AnyItems, options: PairOptions, test: str) -> Items:
    """Return the items for a test without draws, or raise a ValueError."""
    single = isinstance(items, Items) and items.linear == "mean" and items.cluster is None
    if not isinstance(items, Items) or not single or items.unit is None:
        raise ValueError(
            f"test={test!r} supports only items in memory, with metric='mean' or 'accuracy' and"
            " without groups, strata or seeds. Omit test, or call paired_bootstrap."
        )
    if options.simultaneous:
        raise ValueError(
            f"test={test!r} with adjust={options.adjust!r}: without draws, the largest of several"
            " statistics has no known distribution. Pass adjust='holm'."
        )
    return items


def signed_rank_tails(differences: FloatArray, room: float = 0.0) -> tuple[float, float]:
    """Return the one-sided p-values for differences above 0 and below 0."""
    moved = differences[np.abs(differences) > room]
    if not moved.size:
        return 1.0, 1.0
    sizes = np.abs(moved)
    order = np.argsort(sizes)  # absolute values that differ only by rounding are tied
    step = np.cumsum(np.diff(sizes[order], prepend=0.0) > room)
    level = np.empty(step.size, dtype=np.int64)
    level[order] = step
    ranks = np.rint(2.0 * scipy.stats.rankdata(level)).astype(np.int64)  # doubled to get integers
    total = int((np.sign(moved).astype(np.int64) * ranks).sum())
    if int(ranks.sum()) <= 2 * MOST_POINTS:
        distinct, times = np.unique(ranks, return_counts=True)
        unit = int(np.gcd.reduce(distinct))
        law = SignedSum(distinct // unit, times)
        return law.tail(total // unit), law.tail(-total // unit)
    test: Any = partial(scipy.stats.wilcoxon, np.sign(moved) * (1.0 + level), correction=True)
    up, down = (test(alternative=x, method="asymptotic").pvalue for x in ("greater", "less"))
    return float(up), float(down)


@lru_cache(maxsize=64)
def _first_walsh(n: int, level: float) -> int:
    """Return the rank of the Walsh average at the lower limit; 0 if there is no limit."""
    tail = (1.0 - level) / 2.0
    most = n * (n + 1) // 2
    if most <= MOST_POINTS:
        ranks = np.arange(1, n + 1)
        law = SignedSum(ranks)
        chances = np.cumsum(law.law)  # distribution of the sum of positive ranks, starting at 0
        return int(np.count_nonzero(chances <= tail * (1.0 + 1e-12)))
    spread = np.sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0)
    return max(0, int(np.floor(most / 2.0 + 0.5 - z_of(level) * spread)))


def hodges_lehmann(ordered: FloatArray) -> float:
    """Return the median of all pairwise means, including each number with itself."""
    count = ordered.size * (ordered.size + 1) // 2
    middle = walsh_average(ordered, (count + 1) // 2)
    if count % 2:
        return middle
    return (middle + walsh_average(ordered, count // 2 + 1)) / 2.0


def _partners(ordered: FloatArray, most: float) -> IntArray:
    """Return the first position after each number at which their mean exceeds ``most``."""
    found = np.searchsorted(ordered, 2.0 * most - ordered[::-1], "right")[::-1]
    return np.maximum(found, np.arange(ordered.size))


def _count_means(ordered: FloatArray, most: float) -> int:
    """Count the pairs of numbers with a mean of at most ``most``."""
    return int((_partners(ordered, most) - np.arange(ordered.size)).sum())


def _next_to_0(ordered: FloatArray, room: float) -> tuple[float, float]:
    """Return the largest mean below 0 and the smallest mean above 0; 0 if none."""
    below = _count_means(ordered, -2.0 * room)
    above = _count_means(ordered, room) + 1
    last = ordered.size * (ordered.size + 1) // 2
    low = high = 0.0
    if below:
        low = walsh_average(ordered, below)
    if above <= last:
        high = walsh_average(ordered, above)
    return low, high


def walsh_average(ordered: FloatArray, which: int) -> float:
    """Return the Walsh average at this position by counting means, in the time of 20 sorts."""
    n = ordered.size
    place = np.arange(ordered.size)
    low = float(ordered[0])
    high = float(ordered[-1])
    below = _count_means(ordered, low)
    reached = n * (n + 1) // 2
    if below >= which:
        return low
    halve, least = False, _EQUAL**2 * max(abs(low), abs(high))  # near 0, no distance is relative
    for _ in range(_MOST_PARTS):
        wide = high - low > max(_EQUAL * max(abs(low), abs(high)), least)
        if not wide or reached - below <= 4 * n:
            break
        part = 0.5
        if not halve:
            part = min(max((which - below) / (reached - below), 0.01), 0.99)
        middle = low + part * (high - low)
        halve = not halve
        count = _count_means(ordered, middle)
        if count >= which:
            high, reached = middle, count
        else:
            low, below = middle, count
    else:
        raise unended("a Walsh average", _MOST_PARTS)
    start = _partners(ordered, low)
    stop = _partners(ordered, high)
    if reached - below > 4 * n:  # many equal means
        there = start < stop
        return float(((ordered[there] + ordered[start[there]]) / 2.0).min())
    first = np.repeat(place, stop - start)
    ends = np.cumsum(stop - start)
    second = np.arange(first.size) - np.repeat(ends - (stop - start), stop - start)
    means = (ordered[first] + ordered[second + start[first]]) / 2.0
    return float(np.partition(means, which - 1 - below)[which - 1 - below])


# ---- Paired t tests for all pairs of systems, and the possible ranks, without resampling


def t_tests(items: AnyItems, pairs: IntArray, options: PairOptions, _: Step = quiet) -> Tested:
    """Return paired t tests for all pairs, with limits that agree with the tests."""
    items = _items_in_memory(items, options, "t")
    theta, pairs, swapped = oriented(items, pairs, options)
    gain = theta[pairs[:, 0]] - theta[pairs[:, 1]]
    freedom = items.n_items - 1.0
    rows = no_tests(len(pairs))
    rows.error[:] = error = _errors_of_t_tests(items, pairs)
    varies = error > 0.0
    t = np.divide(gain, error, where=varies, out=np.zeros_like(gain))
    up, down = scipy.special.stdtr(freedom, np.stack([-t, t]))  # without variance, p is 1/2
    rows.p[:], rows.ordered[:] = up, np.where(gain < 0.0, down, up)
    limits_at = partial(student_limits, gain, error, freedom)
    rows.low[:], rows.high[:] = limits_at(options)
    return Tested(items, options, theta, pairs, swapped, rows, True, limits_at)


def _errors_of_t_tests(items: Items, pairs: IntArray) -> FloatArray:
    """Return the standard error of each pair's gain; rounding errors are treated as 0."""
    values = items.statistics[..., 0]
    spread = np.full(len(pairs), np.nan)
    if items.n_items > 1:
        spread = np.array([(values[a] - values[b]).std(ddof=1) for a, b in pairs])
    flat = spread <= 1e-14 * np.abs(values[pairs[:, 0]]).max(axis=1, initial=0.0)
    return np.asarray(np.where(flat, 0.0, spread) / np.sqrt(items.n_items))
