"""Paired tests of all pairs of systems on the same test items (Berg-Kirkpatrick et al. 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import paired_proportions
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.resampling import bootstrap, resamples, wild
from rankeval_pd.stats.resampling.asked import Items as Items
from rankeval_pd.stats.resampling.asked import Options as Options
from rankeval_pd.stats.resampling.asked import Step as Step
from rankeval_pd.stats.resampling.asked import quiet as quiet
from rankeval_pd.stats.resampling.lattice import DrawnSum, Lattice, SignedSum, lattice
from rankeval_pd.stats.resampling.resamples import ENUMERATED
from rankeval_pd.stats.significance.adjust import adjust

METHODS = ("auto", "exact", "monte-carlo")
LEAST = 10_000  # resamples, unless another number is given
_DECIDING = 10  # so many resamples are to be expected beyond the edge of a decision


class Pairs(NamedTuple):
    """The rows of the table, one per pair."""

    swapped: BoolArray
    score_a: FloatArray
    score_b: FloatArray
    gain: FloatArray
    gain_se: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    p_value: FloatArray
    p_two_sided: FloatArray
    p_stderr: FloatArray
    p_adjusted: FloatArray
    confidence: FloatArray
    undecided: BoolArray
    exact: BoolArray
    n_items: IntArray
    n_resamples: IntArray
    n_groups: IntArray  #: 0 without groups
    family_p: FloatArray  #: what is adjusted over groups of the data; of max-t, over pairs already
    family_low: FloatArray  #: the limits of its Monte-Carlo interval
    family_high: FloatArray


class _Row(NamedTuple):
    """What a test says of one pair."""

    error: float
    low: float
    high: float
    p: float
    ordered: float  #: p with the better system first, whatever the order of the pair
    hits: int  #: resamples in which the event happened, that order; -1 where p is exact


def needed_resamples(options: Options, n_pairs: int) -> int:
    """Return the least number of resamples of which one p-value could be at most alpha."""
    if options.adjust == "max-t":
        return _whole(options.n_alike / options.alpha) - 1
    tests, family = 1.0, n_pairs * options.n_alike
    if options.adjust is not None:
        tests = float(family)
    if options.adjust == "by":
        tests *= float((1.0 / np.arange(1, family + 1)).sum())
    return _whole(2.0 * tests / options.alpha) - 1


def _whole(draws: float) -> int:
    """Return so many draws, rounding left aside; at most what no memory holds, and is refused."""
    return int(min(np.ceil(draws * (1.0 - 1e-12)), 2.0**62))


def settled(options: Options, n_pairs: int) -> Options:
    """Return the options with as many resamples as family, adjustment, alpha and level need."""
    if options.n_resamples:
        return options
    deciding = _DECIDING * (needed_resamples(options, n_pairs) + 1)
    limiting = int(np.ceil(_DECIDING * 2.0 / (1.0 - options.level) * (1.0 - 1e-12)))
    return options._replace(n_resamples=max(LEAST, deciding, limiting))


def _check_enough(options: Options, n_pairs: int) -> None:
    """Raise a ValueError where no adjusted p-value could be significant with so few resamples."""
    needed = needed_resamples(options, n_pairs)
    if options.adjust is None or options.n_resamples >= needed:
        return
    alike = options.n_alike
    factor = f"{alike}" if options.adjust == "max-t" else f"{2 * n_pairs * alike}"
    in_groups = "" if alike == 1 else f" in each of {alike} groups (adjust_over='all')"
    if options.adjust == "by":
        factor += " (1 + 1/2 + ...)"
    raise ValueError(
        f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g} with"
        f" adjust={options.adjust!r}: the smallest adjusted p-value of {n_pairs}"
        f" pair{'s'[: n_pairs != 1]}{in_groups} is {factor}/(n_resamples + 1). Give"
        f" n_resamples={needed} or more, or None for as many as are needed."
    )


# ------------------------------------------------------------------------------------------- draws


def studentises(options: Options) -> bool:
    """Whether standard errors of every pair in every resample are needed."""
    together = options.adjust == "max-t" and options.event != "wild"
    return together or "studentised" in (options.event, options.ci)


class Draws:
    """What is drawn of the items, when it is first needed."""

    def __init__(self, items: Items, pairs: IntArray, options: Options, step: Step) -> None:
        self.items, self.pairs, self.options, self.step = items, pairs, options, step
        self.drawn = items.drawn
        self.theta = items.sign * items.score(items.statistics.sum(axis=1))

    @cached_property
    def parts(self) -> wild.Contributions:
        """What items, or clusters, add to the scores."""
        return wild.contributions(self.items)

    @cached_property
    def subsets(self) -> wild.Subsets:
        """The sums of these over subsets of the items."""
        return wild.subset_sums(self.parts, self.items, self.options, self.step)

    @cached_property
    def scores(self) -> FloatArray:
        """Resampled scores (system, resample), the larger the better."""
        return self._resampled[0]

    @cached_property
    def errors(self) -> FloatArray:
        """The standard error of every pair's gain in every resample, (pair, resample)."""
        result = self._resampled[1]
        assert result is not None
        return result

    @cached_property
    def own_errors(self) -> FloatArray:
        """The standard error of every pair's gain, (pair,), as those of resamples are found."""
        once, sums = np.ones((1, self.drawn.shape[1])), self.drawn.sum(axis=1)[np.newaxis]
        result = bootstrap.standard_errors(
            once, sums, self.drawn, self.items.score, self.pairs, self.items.drawn_strata
        )
        return np.asarray(self._with_seeds(result)[:, 0])

    @cached_property
    def _resampled(self) -> tuple[FloatArray, FloatArray | None]:
        items, drawn, options = self.items, self.drawn, self.options
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
        flat = resamples.for_sums(resamples.flat(drawn), n)
        for rows, weights in resamples.placed(chunks):
            sums = resamples.weighted_sums(weights, flat).reshape(-1, len(drawn), drawn.shape[2])
            scores[:, rows] = items.score(sums).T
            errors[:, rows] = bootstrap.standard_errors(
                weights, sums, drawn, items.score, self.pairs, strata
            )
            self.step(len(weights))
        return items.sign * scores + self.trained, self._with_seeds(errors)

    @cached_property
    def trained(self) -> FloatArray | float:
        """How far the scores of other trainings would lie, (system, resample); 0 without seeds."""
        seeds, options = self.items.seeds, self.options
        if seeds is None:
            return 0.0
        t = resamples.t_draws(seeds.freedom, options.n_resamples, options.seed)
        return np.asarray(seeds.error[:, np.newaxis] * t.T)

    def _with_seeds(self, errors: FloatArray) -> FloatArray:
        """Return standard errors (pair, ...) with those of the systems' seeds."""
        if self.items.seeds is None:
            return errors
        variance = (self.items.seeds.error[self.pairs] ** 2).sum(axis=1)
        return np.asarray(np.sqrt(errors**2 + variance[:, np.newaxis]))

    @cached_property
    def scale(self) -> FloatArray:
        """The scale of each system's scores, on which equality is judged."""
        largest = np.fmax.reduce(np.abs(self.scores), axis=1, initial=0.0)
        return np.asarray(np.fmax(np.abs(self.theta), largest))

    @cached_property
    def without(self) -> FloatArray:
        """The scores without each item, or cluster, in turn."""
        return self.items.sign * resamples.leave_one_out(self.drawn, self.items.score)

    def turned(self, a: int, b: int) -> FloatArray:
        """Return the sums of a pair's contributions over the subsets whose sign is turned."""
        return np.asarray(self.subsets.values[a] - self.subsets.values[b])

    def own(self, a: int, b: int) -> FloatArray:
        """Return what the items, or clusters, add to the gain of a pair."""
        return np.asarray(self.parts.values[a] - self.parts.values[b])

    def room(self, a: int, b: int) -> float:
        """Return up to which size a sum of a pair's contributions is rounding alone."""
        size = max(np.abs(self.parts.values[k]).max(initial=0.0) for k in (a, b))
        return self.parts.accuracy * float(size)

    def linear_error(self, a: int, b: int) -> float:
        """Return the standard error of a pair's gain by linearisation."""
        own, weights = self.own(a, b), self.parts.weights
        rest = own - weights * (own.sum() / weights.sum())
        error = float(np.sqrt((rest**2).sum()))
        return self.parts.unit * error if error > self.room(a, b) else 0.0


# -------------------------------------------------------------------------------------- bootstrap


def paired_bootstrap(
    items: Items,
    pairs: IntArray,
    options: Options,
    step: Step = quiet,
    *,
    draws: Draws | None = None,
) -> Pairs:
    """Return the paired bootstrap of all pairs from the same draws.

    Parameters
    ----------
    items : Items
    pairs : array (pair, 2)
        The numbers of the systems.
    options : Options
    step : callable
        Told how many resamples were done.
    draws : Draws, optional
        What was drawn before, of these pairs in this order: then intervals are not asked for.
    """
    options = settled(options, len(pairs))
    if options.method == "exact" and items.seeds is not None:
        raise ValueError(
            "method='exact': with seeds= the law of other trainings is drawn. Give method='auto'."
        )
    theta, pairs, swapped = _oriented(items, pairs, options)
    if options.ci in PROPORTIONS and not items.binary:
        raise ValueError(
            f"ci={options.ci!r} is an interval of paired proportions: every item has to be right"
            " or wrong, 0 or 1, with metric='accuracy' or 'mean' and without groups=. Give"
            " ci='wild', or leave ci out."
        )
    if not options.ci and not items.binary:
        options = options._replace(ci=bootstrap.DUAL[options.event])
    asked = draws is None
    draws = draws or Draws(items, pairs, options, step)
    signs = options.event == "wild"
    lattices = _lattices(items, pairs, options, draws.drawn if signs else None)
    every = signs and wild.looks_at_every(items, options)
    if not every and (options.adjust == "max-t" or None in lattices):
        _check_enough(options, len(pairs))
    test = _wild_p if signs else _resampled_p
    rows = []
    for k in range(len(pairs)):
        error, p, ordered, hits = test(draws, k, lattices[k])
        low = high = np.nan
        if asked:
            low, high = _interval(draws, k, lattices[k], error, min(1.0, 2.0 * ordered))
        rows.append(_Row(error, low, high, p, ordered, hits))
    simultaneous = None
    if options.adjust == "max-t":
        simultaneous = _wild_max_t(draws) if signs else _resampled_max_t(draws)
    return _table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


_Found = tuple[float, float, float, int]  # standard error, p, p of the better first, hits


def _wild_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return the wild bootstrap of one pair, its null hypothesis imposed."""
    a, b = draws.pairs[k]
    gain, error = draws.theta[a] - draws.theta[b], draws.linear_error(a, b)
    if on is not None:
        law, total = SignedSum(on.multiples), int(on.multiples.sum())
        p = law.tail(total)
        return error, p, law.tail(-total) if gain < 0.0 else p, -1
    sums, room = draws.turned(a, b), draws.room(a, b)
    hits = wild.reached(sums, room)
    better = wild.reached(-sums, room) if gain < 0.0 else hits
    if draws.subsets.every:
        return error, hits / sums.size, better / sums.size, -1
    p, ordered = (
        bootstrap.monte_carlo(count, sums.size, draws.options.event) for count in (hits, better)
    )
    return error, p, ordered, better


def _wild_max_t(draws: Draws) -> FloatArray:
    """Return p-values adjusted for all pairs: the same signs for all, each pair studentised.

    Signs leave the sum of squares as it is, so that the t statistic of every draw rises with its
    gain over the root of that sum.
    """
    gains, scale = np.empty(len(draws.pairs)), np.empty(len(draws.pairs))
    for k, (a, b) in enumerate(draws.pairs):
        own = draws.own(a, b)
        gains[k], scale[k] = own.sum(), np.sqrt((own**2).sum())
        if scale[k] <= draws.room(a, b):
            gains[k], scale[k] = 0.0, 1.0

    def t_star(k: int) -> FloatArray:
        return np.asarray((gains[k] - 2.0 * draws.turned(*draws.pairs[k])) / scale[k])

    size = draws.subsets.weights.size
    return bootstrap.max_t(t_star, gains / scale, size, every=draws.subsets.every)


def _resampled_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return the paired bootstrap of one pair by one of the events of section 2.2."""
    items, options = draws.items, draws.options
    a, b = draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if on is not None:
        error = on.step * (items.unit() or 1.0)
        error *= float(np.sqrt(on.multiples.size) * on.multiples.std())
        p = _drawn_chance(on.multiples, options.event)
        ordered = _drawn_chance(-on.multiples, options.event) if gain < 0.0 else p
        return error, p, ordered, -1
    gains = draws.scores[a] - draws.scores[b]
    size = float(max(draws.scale[a], draws.scale[b]))

    def count(sign: float) -> int:
        if options.event == "studentised":
            room = 1e-12 * size
            t = bootstrap.studentised(np.array(gain), float(draws.own_errors[k]), room)
            t_star = bootstrap.studentised(gains - gain, draws.errors[k], room)
            return bootstrap.beyond(sign * t_star, sign * float(t))
        centred = items.cluster is None and items.unit() is not None
        return bootstrap.happened(sign * gains, sign * gain, options.event, size, centred=centred)

    hits = count(1.0)
    better = count(-1.0) if gain < 0.0 else hits
    p, ordered = (bootstrap.monte_carlo(x, gains.size, options.event) for x in (hits, better))
    return _sd(gains), p, ordered, better


def _resampled_max_t(draws: Draws) -> FloatArray:
    """Return p-values adjusted for all pairs, each resample studentised by its own error."""
    gains = draws.theta[draws.pairs[:, 0]] - draws.theta[draws.pairs[:, 1]]

    def room(k: int) -> float:
        return 1e-12 * float(draws.scale[draws.pairs[k]].max())

    def t_star(k: int) -> FloatArray:
        a, b = draws.pairs[k]
        moved = draws.scores[a] - draws.scores[b] - gains[k]
        return bootstrap.studentised(moved, draws.errors[k], room(k))

    t = [
        float(bootstrap.studentised(gains[k], float(draws.own_errors[k]), room(k)))
        for k in range(len(gains))
    ]
    return bootstrap.max_t(t_star, np.array(t), draws.options.n_resamples)


def _interval(
    draws: Draws, k: int, on: Lattice | None, error: float, p_two_sided: float
) -> tuple[float, float]:
    """Return the interval of the gain of one pair."""
    items, options = draws.items, draws.options
    kind, (a, b) = options.ci, draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if kind in PROPORTIONS or not kind:
        counts = paired_proportions.cells(*items.statistics[[a, b], :, 0])
        low, high = PROPORTIONS[kind or "tango"](counts, options.level)
        if items.sign < 0.0:
            low, high = -high, -low
        if not kind and p_two_sided > 1.0 - options.level:  # the exact test is the more cautious
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high
    if not error > 0.0:
        return np.nan, np.nan  # nothing varies: the items say nothing of how far the gain could
    if kind == "wild":
        subsets, room, sums = draws.subsets, draws.room(a, b), draws.turned(a, b)
        factor = draws.parts.factor
        result = wild.limits(
            sums, subsets.weights, factor, every=subsets.every, level=options.level, room=room
        )
        if on is not None and not subsets.every and options.event == "wild":
            near = factor * sums / np.maximum(subsets.weights, 1.0)
            result = _as_p_says(result, gain, p_two_sided, near, options)
        return result
    lean = draws.without[a] - draws.without[b]
    if options.event == "wild":  # an exact law of signs is not that of items drawn again
        drawn_again = options._replace(
            method="auto" if options.method == "exact" else options.method
        )
        on = _lattices(items, draws.pairs[[k]], drawn_again)[0]
    if on is not None and kind != "studentised":
        law, step = DrawnSum(on.multiples), on.step * (items.unit() or 1.0)
        gains = np.asarray(step * law.values, dtype=np.float64)
        result = bootstrap.law_interval(
            kind, gain, gains, law.law, level=options.level, without=lean
        )
        return _of_event(result, gain, p_two_sided, gains, options)
    gains = draws.scores[a] - draws.scores[b]
    student = None
    if kind == "studentised":
        student = float(draws.own_errors[k]), draws.errors[k]
    result = bootstrap.interval(
        kind, gain, gains, level=options.level,
        scale=float(max(draws.scale[a], draws.scale[b])), without=lean, student=student,
    )  # fmt: skip
    return _of_event(result, gain, p_two_sided, gains, options)


def _of_event(
    found: tuple[float, float],
    gain: float,
    p_two_sided: float,
    gains: FloatArray,
    options: Options,
) -> tuple[float, float]:
    """Return the limits; those of the event's own interval say of 0 what its p-value says.

    They differ where the number of resamples beyond 0 is at the edge, and by rounding.
    """
    if options.ci != bootstrap.DUAL[options.event]:
        return found
    near = gains if options.ci == "percentile" else 2.0 * gain - gains
    return _as_p_says(found, gain, p_two_sided, near, options)


def _as_p_says(
    found: tuple[float, float],
    gain: float,
    p_two_sided: float,
    near: FloatArray,
    options: Options,
) -> tuple[float, float]:
    rejected = p_two_sided <= (1.0 - options.level) * (1.0 + 1e-12)
    return wild.agreeing(found, gain, rejected=rejected, near=near)


PROPORTIONS = {"tango": paired_proportions.tango, "newcombe": paired_proportions.newcombe}


def _drawn_chance(multiples: IntArray, event: str) -> float:
    """Return the chance of the event of section 2.2.

    The law may give 0, for a few items that differ by much the same. No test of n items is so sure:
    the least that their signs can say is 2^-n. Figure 1 to the letter stays as it is.
    """
    total = int(multiples.sum())
    if event == "strict":
        return DrawnSum(multiples).tail(2 * total + 1)
    # the mean of the resampled gains is the gain: there is no bias to correct
    turned = event == "zero"
    result = DrawnSum(-multiples).tail(0) if turned else DrawnSum(multiples).tail(2 * total)
    return result if result > 0.0 else float(2.0**-multiples.size)


# ------------------------------------------------------------------------------------- permutation


def paired_permutation(
    items: Items, pairs: IntArray, options: Options, step: Step = quiet
) -> Pairs:
    """Return the approximate randomization test of all pairs, with the same swaps for all."""
    if items.seeds is not None:
        raise ValueError(
            "seeds: swapping what two systems did on an item says nothing of other trainings. Give"
            " paired_bootstrap, or the scores of one training each."
        )
    options = settled(options, len(pairs))
    theta, pairs, swapped = _oriented(items, pairs, options)
    drawn = items.drawn
    lattices = _lattices(items, pairs, options, drawn)
    n = drawn.shape[1]
    every = n <= ENUMERATED and options.method != "monte-carlo"
    if options.adjust == "max-t" or None in lattices:
        if not every:
            _check_enough(options, len(pairs))
        chunks = (
            resamples.all_swaps(n)
            if every
            else resamples.swap_chunks(n, options.n_resamples, options.seed)
        )
        gains = _swapped_gains(
            items, drawn, pairs, chunks, 2**n if every else options.n_resamples, step
        )
    else:
        gains = np.empty((len(pairs), 0))
    rows = []
    for k, (a, b) in enumerate(pairs):
        gain = float(theta[a] - theta[b])
        on = lattices[k]
        if on is not None:
            rows.append(_signed_row(on, items.unit() or 1.0, gain, options))
            continue
        largest = float(np.fmax.reduce(np.abs(gains[k])))
        scale = max(abs(float(theta[a])), abs(float(theta[b])), largest)
        hits = _reached(gains[k], gain, scale)
        turned = _reached(-gains[k], -gain, scale) if gain < 0.0 else hits
        p, ordered = (
            count / gains.shape[1]
            if every
            else bootstrap.monte_carlo(count, gains.shape[1], "recentred")
            for count in (hits, turned)
        )
        tails = (1.0 - options.level) / 2.0, (1.0 + options.level) / 2.0
        low, high = (float(x) for x in bootstrap.quantiles(gains[k], tails))
        limits = _as_p_says(
            (gain - high, gain - low), gain, min(1.0, 2.0 * ordered), gain - gains[k], options
        )
        rows.append(_varying(_sd(gains[k]), *limits, p, ordered, -1 if every else turned))
    simultaneous = None
    if options.adjust == "max-t":
        error = np.array([row.error for row in rows])
        unit = np.where(error > 0.0, error, 1.0)
        simultaneous = bootstrap.max_t(
            lambda k: np.asarray(gains[k] / unit[k]),
            (theta[pairs[:, 0]] - theta[pairs[:, 1]]) / unit,
            gains.shape[1],
            every=every,
        )
    return _table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


def _varying(error: float, low: float, high: float, p: float, ordered: float, hits: int) -> _Row:
    """Return the row; where nothing varies, the items say nothing of an interval."""
    limits = (low, high) if error > 0.0 else (np.nan, np.nan)
    return _Row(error, *limits, p, ordered, hits)


def _reached(gains: FloatArray, gain: float, scale: float) -> int:
    """Return in how many trials the gain is at least the observed one, or undefined."""
    return int(gains.size - np.count_nonzero(gains < gain - 1e-12 * scale))


def _swapped_gains(
    items: Items,
    drawn: FloatArray,
    pairs: IntArray,
    chunks: Iterator[AnyArray],
    size: int,
    step: Step,
) -> FloatArray:
    """Return the gain of every pair in every trial, (pair, trial)."""
    flat = resamples.for_sums(resamples.flat(drawn), drawn.shape[1])
    totals = drawn.sum(axis=1)
    result = np.empty((len(pairs), size))
    for rows, swaps in resamples.placed(chunks):
        moved = resamples.weighted_sums(swaps, flat).reshape(-1, len(drawn), drawn.shape[2])
        width = max(1, 4_000_000 // (len(swaps) * drawn.shape[2]))
        for start in range(0, len(pairs), width):
            block = slice(start, start + width)
            a, b = pairs[block, 0], pairs[block, 1]
            change = moved[:, b] - moved[:, a]
            gains = items.score(totals[a] + change) - items.score(totals[b] - change)
            result[block, rows] = items.sign * gains.T
        step(len(swaps))
    return result


def _signed_row(on: Lattice, unit: float, gain: float, options: Options) -> _Row:
    """Return the exact sign-flip test of one pair."""
    law = SignedSum(on.multiples)
    size = on.step * unit
    limits = bootstrap.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=np.float64),
        law.law,
        level=options.level,
        without=np.empty(0),
    )
    error = size * float(np.sqrt((on.multiples.astype(float) ** 2).sum()))
    total = int(on.multiples.sum())
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the law is symmetric
    result = _as_p_says(
        (gain - limits[1], gain - limits[0]), gain, min(1.0, 2.0 * ordered),
        np.asarray(gain - size * law.values, dtype=np.float64), options,
    )  # fmt: skip
    return _varying(error, *result, p, ordered, -1)


# ------------------------------------------------------------------------------------------ common


def _oriented(
    items: Items, pairs: IntArray, options: Options
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return the systems' scores, the larger the better, and the pairs with the better one first.

    Last comes where a pair's order was changed.
    """
    theta = items.sign * items.score(items.statistics.sum(axis=1))
    swapped = theta[pairs[:, 0]] < theta[pairs[:, 1]]
    if options.keep_order:
        swapped = np.zeros_like(swapped)
    return theta, np.where(swapped[:, np.newaxis], pairs[:, ::-1], pairs), swapped


def _lattices(
    items: Items, pairs: IntArray, options: Options, drawn: FloatArray | None = None
) -> list[Lattice | None]:
    """Return the lattice of every pair's differences, None where there is none or none is wanted.

    Differences are those of the first system's favour: the gain is their sum, times the unit.
    ``drawn`` are the statistics of what is swapped, or gets a random sign; without it, items are
    drawn one by one.
    """
    bootstraps = drawn is None
    drawn = items.statistics if drawn is None else drawn
    unit = items.unit()
    wanted = options.method != "monte-carlo" and unit is not None
    if bootstraps and (items.cluster is not None or options.event == "studentised"):
        wanted = False
    better = items.sign * drawn[..., 0]
    listed = [lattice(better[a] - better[b]) if wanted else None for a, b in pairs]
    small = not bootstraps and drawn.shape[1] <= ENUMERATED
    if options.method == "exact" and None in listed and not small:
        raise ValueError(_why_not_exact(items, options, bootstraps=bootstraps, unit=unit))
    return listed


def _why_not_exact(items: Items, options: Options, *, bootstraps: bool, unit: float | None) -> str:
    if bootstraps and items.cluster is not None:
        reason = "groups= draws clusters, whose sizes vary, and there is no exact law for that"
    elif unit is None:
        reason = (
            "the law is exact for the metrics mean, sum and accuracy, every item having the same"
            " total"
        )
    elif bootstraps and options.event == "studentised":
        reason = "event='studentised' needs the standard error of every resample"
    else:
        reason = (
            "the items' differences of some pair are no whole multiples of one step, or their sum"
            " has more than a million possible values"
        )
    also = "" if bootstraps else f", or for at most {ENUMERATED} items"
    return (
        f"method='exact': {reason}{also}. Give method='auto', which resamples where there is no"
        " exact law."
    )


def _sd(gains: FloatArray) -> float:
    known = gains[~np.isnan(gains)]
    return float(known.std()) if known.size else np.nan


def _table(
    items: Items,
    theta: FloatArray,
    pairs: IntArray,
    swapped: BoolArray,
    rows: list[_Row],
    options: Options,
    simultaneous: FloatArray | None,
    *,
    every: bool,
) -> Pairs:
    a, b = pairs[:, 0], pairs[:, 1]
    gain = theta[a] - theta[b]
    undefined = np.isnan(gain)
    error, low, high, p, ordered = (
        np.where(undefined, np.nan, np.array([getattr(row, name) for row in rows], dtype=float))
        for name in ("error", "low", "high", "p", "ordered")
    )
    hits = np.array([row.hits for row in rows], dtype=np.int64)
    exact = hits < 0
    draws = options.n_resamples
    n_resamples = np.where(exact, 0, draws)
    with np.errstate(invalid="ignore"):
        p_stderr = np.where(exact, 0.0 * p, np.sqrt(p * (1.0 - p) / draws))
    doubled = np.minimum(1.0, 2.0 * ordered)
    if simultaneous is not None:
        simultaneous = np.where(undefined, np.nan, simultaneous)
    below, above = clopper_pearson(np.maximum(hits, 0), np.array(draws), options.level)
    listed = [_of_all_pairs(doubled, simultaneous)]
    for number, limit in enumerate((below, above)):
        side = np.where(exact, doubled, np.where(undefined, np.nan, np.minimum(1.0, 2.0 * limit)))
        together = simultaneous
        if simultaneous is not None and not every:
            reached = np.rint(np.nan_to_num(simultaneous) * (draws + 1)) - 1.0
            together = clopper_pearson(np.maximum(reached, 0.0), np.array(draws), options.level)[
                number
            ]
            together = np.where(np.isnan(simultaneous), np.nan, together)
        listed.append(_of_all_pairs(side, together))
    adjusted, *sides = (_adjusted(x, options.adjust) for x in listed)
    low_p, high_p = listed[1:] if options.adjust is None else sides
    undecided = is_undecided(low_p, high_p, options.alpha)
    groups = 0 if items.cluster is None else int(items.cluster.max()) + 1
    return Pairs(
        swapped, items.sign * theta[a], items.sign * theta[b], gain, error, low, high, p, doubled,
        p_stderr, adjusted, 1.0 - p, undecided, exact,
        np.full(len(pairs), items.statistics.shape[1]), n_resamples, np.full(len(pairs), groups),
        *listed,
    )  # fmt: skip


def is_undecided(low: Any, high: Any, alpha: float) -> Any:
    """Return whether the Monte-Carlo interval of a p-value holds alpha."""
    return (low < alpha) & (alpha < high)


def _of_all_pairs(doubled: FloatArray, simultaneous: FloatArray | None) -> FloatArray:
    """Return the p-values that hold for all pairs together, where there are such, or each alone."""
    if simultaneous is None:
        return doubled
    # the pair's own p-value is another one: doubled, not of the absolute gain
    return np.asarray(np.maximum(simultaneous, doubled))


def _adjusted(p_values: FloatArray, method: str | None) -> FloatArray:
    """Return two-sided p-values adjusted for all pairs, NaN without an adjustment."""
    if method is None:
        return np.full(p_values.size, np.nan)
    return p_values if method == "max-t" else adjust(p_values, method)
