"""The paired bootstrap and approximate randomization of all pairs of systems."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.resampling import bootstrap_tests
from rankeval_pd.stats.resampling.gain_tables import (
    Pairs,
    Rows,
    as_each_p_says,
    as_p_says,
    lattices_of,
    no_rows,
    oriented,
    row_sd,
    sd,
    table,
)
from rankeval_pd.stats.resampling.item_draws import Draws, draws_of
from rankeval_pd.stats.resampling.lattice import DrawnSum, Lattice, SignedSum
from rankeval_pd.stats.resampling.resamples import swaps_every
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, quiet
from rankeval_pd.stats.significance.adjust import check_enough, with_resamples

# ---------- The paired bootstrap of all pairs of systems (Berg-Kirkpatrick et al. 2012, section 2)

PROPORTIONS = {"tango": differences.tango, "newcombe": differences.paired_newcombe}


def paired_bootstrap(
    items: AnyItems,
    pairs: IntArray,
    options: PairOptions,
    step: Step = quiet,
    *,
    draws: Draws | None = None,
) -> Pairs:
    """Return the paired bootstrap of all pairs from the same draws.

    Parameters
    ----------
    items : Items, or what is known of them
    pairs : array (pair, 2)
        The numbers of the systems.
    options : Options
    step : callable
        Told how many resamples were done.
    draws : Draws, optional
        What was drawn before, of these pairs in this order: then intervals are not asked for.
    """
    options = with_resamples(options, len(pairs))
    if options.method == "exact" and items.seeds is not None:
        raise ValueError(
            "method='exact': with seeds= the law of other trainings is drawn. Give method='auto'."
        )
    theta, pairs, swapped = oriented(items, pairs, options)
    if options.ci in PROPORTIONS and not items.binary:
        raise ValueError(
            f"ci={options.ci!r} is an interval of paired proportions: every item has to be right"
            " or wrong, 0 or 1, with metric='accuracy' or 'mean' and without groups=. Give"
            " ci='wild', or leave ci out."
        )
    if not options.ci and not items.binary:
        options = options._replace(ci=bootstrap_tests.DUAL[options.event])
    asked = draws is None
    draws = draws or draws_of(items, pairs, options, step)
    signs = options.event == "wild"
    lattices = lattices_of(draws, options, range(len(pairs)), signs=signs)
    every = signs and bootstrap_tests.looks_at_every(items, options)
    if not every and (options.adjust == "max-t" or None in lattices):
        check_enough(options, len(pairs))
    rows = no_rows(len(pairs))
    scattered = np.array([on is None for on in lattices], dtype=bool)
    together = scattered & signs
    for block in bootstrap_tests.blocks(np.flatnonzero(together), items.n_drawn):
        rows.put(block, *_wild_p(draws, block))
    alone = _law_p if signs else _resampled_p
    for k in np.flatnonzero(~together).tolist():
        rows.put(k, *alone(draws, k, lattices[k]))
    if asked:
        _put_limits(draws, lattices, scattered, rows)
    simultaneous = None
    if options.adjust == "max-t":
        simultaneous = _wild_max_t(draws) if signs else _resampled_max_t(draws)
    return table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


_Found = tuple[float, float, float, int]  # standard error, p, p of the better first, hits
_AllFound = tuple[FloatArray, FloatArray, FloatArray, IntArray]


def _law_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return the wild bootstrap of one pair by its exact law."""
    assert on is not None
    which = np.array([k])
    gain, error = float(draws.gains(which)[0]), float(draws.linear_errors(which)[0])
    law, total = SignedSum(on.multiples, on.times), on.total
    p = law.tail(total)
    return error, p, law.tail(-total) if gain < 0.0 else p, -1


def _wild_p(draws: Draws, which: IntArray) -> _AllFound:
    """Return the wild bootstrap of some pairs, their null hypotheses imposed."""
    sums, room, error = draws.turned(which), draws.room(which), draws.linear_errors(which)
    worse = draws.gains(which) < 0.0
    hits = bootstrap_tests.reached(sums, room)
    better = hits.copy()
    better[worse] = bootstrap_tests.reached(-sums[worse], room[worse])
    size = sums.shape[1]
    if draws.subsets.every:
        return error, hits / size, better / size, np.full(which.size, -1)
    p, ordered = (
        bootstrap_tests.monte_carlo(count, size, draws.options.event) for count in (hits, better)
    )
    return error, p, ordered, better


def _wild_max_t(draws: Draws) -> FloatArray:
    """Return p-values adjusted for all pairs: the same signs for all, each pair studentised.

    Signs leave the sum of squares as it is, so that the t statistic of every draw rises with its
    gain over the root of that sum.
    """
    a, b = draws.pairs.T
    gains, scale = draws.level.sums[a] - draws.level.sums[b], np.sqrt(draws.spread.raw)
    nothing = scale <= draws.room(np.arange(len(draws.pairs)))
    gains, scale = np.where(nothing, 0.0, gains), np.where(nothing, 1.0, scale)

    def t_star(which: IntArray) -> FloatArray:
        moved = gains[which, np.newaxis] - 2.0 * draws.turned(which)
        return np.asarray(moved / scale[which, np.newaxis])

    size = draws.subsets.weights.size
    return bootstrap_tests.max_t(t_star, gains / scale, size, every=draws.subsets.every)


def _resampled_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return the paired bootstrap of one pair by one of the events of section 2.2."""
    items, options = draws.items, draws.options
    a, b = draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if on is not None:
        error = on.step * (items.unit() or 1.0)
        error *= on.spread
        p = _drawn_chance(on.multiples, on.times, options.event)
        ordered = _drawn_chance(-on.multiples, on.times, options.event) if gain < 0.0 else p
        return error, p, ordered, -1
    gains = draws.scores[a] - draws.scores[b]
    size = float(max(draws.scale[a], draws.scale[b]))

    def count(sign: float) -> int:
        if options.event == "studentised":
            room = 1e-12 * size
            t = bootstrap_tests.studentised(np.array(gain), float(draws.own_errors[k]), room)
            t_star = bootstrap_tests.studentised(gains - gain, draws.errors[k], room)
            return bootstrap_tests.beyond(sign * t_star, sign * float(t))
        centred = items.n_groups == 0 and items.unit() is not None
        return bootstrap_tests.happened(
            sign * gains, sign * gain, options.event, size, centred=centred
        )

    hits = count(1.0)
    better = count(-1.0) if gain < 0.0 else hits
    p, ordered = (bootstrap_tests.monte_carlo(x, gains.size, options.event) for x in (hits, better))
    return sd(gains), p, ordered, better


def _resampled_max_t(draws: Draws) -> FloatArray:
    """Return p-values adjusted for all pairs, each resample studentised by its own error."""
    gains = draws.theta[draws.pairs[:, 0]] - draws.theta[draws.pairs[:, 1]]

    room = 1e-12 * draws.scale[draws.pairs].max(axis=1)

    def t_star(which: IntArray) -> FloatArray:
        a, b = draws.pairs[which].T
        moved = draws.scores[a] - draws.scores[b] - gains[which, np.newaxis]
        return bootstrap_tests.studentised(moved, draws.errors[which], room[which, np.newaxis])

    t = bootstrap_tests.studentised(gains, draws.own_errors, room)
    return bootstrap_tests.max_t(t_star, t, draws.options.n_resamples)


def _put_limits(
    draws: Draws, lattices: list[Lattice | None], scattered: BoolArray, rows: Rows
) -> None:
    """Put the intervals of all gains into the rows."""
    options = draws.options
    doubled = np.minimum(1.0, 2.0 * rows.ordered)
    together = np.zeros_like(scattered)
    if options.ci == "wild":  # what is on a lattice is to say the same as its exact law
        together = scattered if options.event == "wild" else ~together
    for block in bootstrap_tests.blocks(np.flatnonzero(together), draws.items.n_drawn):
        rows.low[block], rows.high[block] = _wild_limits(draws, block, rows.error[block])
    for k in np.flatnonzero(~together).tolist():
        rows.low[k], rows.high[k] = _interval(
            draws, k, lattices[k], float(rows.error[k]), float(doubled[k])
        )


def _wild_limits(draws: Draws, which: IntArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the gains that random signs do not reject."""
    subsets = draws.subsets
    low, high = bootstrap_tests.limits(
        draws.turned(which), subsets.weights, draws.factor, every=subsets.every,
        level=draws.options.level, room=draws.room(which),
    )  # fmt: skip
    varies = error > 0.0  # if not, the items say nothing of how far the gain could be
    return np.where(varies, low, np.nan), np.where(varies, high, np.nan)


def _interval(
    draws: Draws, k: int, on: Lattice | None, error: float, p_two_sided: float
) -> tuple[float, float]:
    """Return the interval of the gain of one pair."""
    items, options = draws.items, draws.options
    kind, (a, b) = options.ci, draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if kind in PROPORTIONS or not kind:
        counts = items.cells(a, b)
        low, high = PROPORTIONS[kind or "tango"](counts, options.level)
        if items.sign < 0.0:
            low, high = -high, -low
        if not kind and p_two_sided > 1.0 - options.level:  # the exact test is the more cautious
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high
    if not error > 0.0:
        return np.nan, np.nan  # nothing varies: the items say nothing of how far the gain could
    if kind == "wild":
        which, subsets = np.array([k]), draws.subsets
        lowest, highest = _wild_limits(draws, which, np.array([error]))
        result = float(lowest[0]), float(highest[0])
        if on is not None and not subsets.every and options.event == "wild":
            near = draws.factor * draws.turned(which)[0] / np.maximum(subsets.weights, 1.0)
            result = as_p_says(result, gain, p_two_sided, near, options)
        return result
    lean = draws.without[a] - draws.without[b] if kind == "bca" else np.empty(0)
    if options.event == "wild":  # an exact law of signs is not that of items drawn again
        drawn_again = options._replace(
            method="auto" if options.method == "exact" else options.method
        )
        on = lattices_of(draws, drawn_again, [k], signs=False)[0]
    if on is not None and kind != "studentised":
        law, step = DrawnSum(on.multiples, on.times), on.step * (items.unit() or 1.0)
        gains = np.asarray(step * law.values, dtype=np.float64)
        result = bootstrap_tests.law_interval(
            kind, gain, gains, law.law, level=options.level, without=lean
        )
        return _of_event(result, gain, p_two_sided, gains, options)
    gains = draws.scores[a] - draws.scores[b]
    student = None
    if kind == "studentised":
        student = float(draws.own_errors[k]), draws.errors[k]
    result = bootstrap_tests.interval(
        kind, gain, gains, level=options.level,
        scale=float(max(draws.scale[a], draws.scale[b])), without=lean, student=student,
    )  # fmt: skip
    return _of_event(result, gain, p_two_sided, gains, options)


def _of_event(
    found: tuple[float, float],
    gain: float,
    p_two_sided: float,
    gains: FloatArray,
    options: PairOptions,
) -> tuple[float, float]:
    """Return the limits; those of the event's own interval say of 0 what its p-value says.

    They differ where the number of resamples beyond 0 is at the edge, and by rounding.
    """
    if options.ci != bootstrap_tests.DUAL[options.event]:
        return found
    near = gains if options.ci == "percentile" else 2.0 * gain - gains
    return as_p_says(found, gain, p_two_sided, near, options)


def _drawn_chance(multiples: IntArray, times: IntArray, event: str) -> float:
    """Return the chance of the event of section 2.2.

    The law may give 0, for a few items that differ by much the same. No test of n items is so sure:
    the least that their signs can say is 2^-n. Figure 1 to the letter stays as it is.
    """
    law = DrawnSum(multiples, times)
    total = int(times @ multiples)
    if event == "strict":
        return law.tail(2 * total + 1)
    # the mean of the resampled gains is the gain: there is no bias to correct
    turned = event == "zero"
    result = DrawnSum(-multiples, times).tail(0) if turned else law.tail(2 * total)
    return result if result > 0.0 else float(2.0**-law.n)


# ---------------- Swapping what two systems did on an item: approximate randomization of all pairs

_SUMS_TOGETHER = 4_000_000  # sums that are scored together


def paired_permutation(
    items: AnyItems, pairs: IntArray, options: PairOptions, step: Step = quiet
) -> Pairs:
    """Return the approximate randomization test of all pairs, with the same swaps for all."""
    if items.seeds is not None:
        raise ValueError(
            "seeds: swapping what two systems did on an item says nothing of other trainings. Give"
            " paired_bootstrap, or the scores of one training each."
        )
    options = with_resamples(options, len(pairs))
    theta, pairs, swapped = oriented(items, pairs, options)
    draws = draws_of(items, pairs, options, step)
    lattices = lattices_of(draws, options, range(len(pairs)), signs=True)
    every = swaps_every(items.n_drawn, options.method)
    if options.adjust == "max-t" or None in lattices:
        if not every:
            check_enough(options, len(pairs))
        gains = _swapped_gains(items, pairs, draws.moved)
    else:
        gains = np.empty((len(pairs), 0))
    rows = no_rows(len(pairs))
    scattered = np.array([on is None for on in lattices], dtype=bool)
    for k in np.flatnonzero(~scattered).tolist():
        a, b = pairs[k]
        unit = items.unit() or 1.0
        rows.put(k, *_signed_row(lattices[k], unit, float(theta[a] - theta[b]), options))
    for block in bootstrap_tests.blocks(np.flatnonzero(scattered), gains.shape[1]):
        rows.put(block, *_swapped_rows(gains[block], theta[pairs[block]], options, every=every))
    simultaneous = None
    if options.adjust == "max-t":
        error = np.where(rows.error > 0.0, rows.error, 1.0)
        simultaneous = bootstrap_tests.max_t(
            lambda which: np.asarray(gains[which] / error[which, np.newaxis]),
            (theta[pairs[:, 0]] - theta[pairs[:, 1]]) / error,
            gains.shape[1],
            every=every,
        )
    return table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


_Row = tuple[float, float, float, int, float, float]  # as of Rows
_Columns = tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray, FloatArray]


def _swapped_rows(
    gains: FloatArray, theta: FloatArray, options: PairOptions, *, every: bool
) -> _Columns:
    """Return what the trials say of pairs: gains (pair, trial), theta (pair, 2)."""
    gain, trials = theta[:, 0] - theta[:, 1], gains.shape[1]
    scale = np.fmax(np.abs(theta).max(axis=1), np.fmax.reduce(np.abs(gains), axis=1))
    hits = _reached(gains, gain, scale)
    turned, worse = hits.copy(), gain < 0.0
    turned[worse] = _reached(-gains[worse], -gain[worse], scale[worse])
    p, ordered = (
        count / trials if every else bootstrap_tests.monte_carlo(count, trials, "recentred")
        for count in (hits, turned)
    )
    tails = (1.0 - options.level) / 2.0, (1.0 + options.level) / 2.0
    below, above = bootstrap_tests.row_quantiles(gains, tails)
    limits = gain - above, gain - below
    doubled = np.minimum(1.0, 2.0 * ordered)
    low, high = as_each_p_says(limits, gain, doubled, gain[:, np.newaxis] - gains, options)
    error = row_sd(gains)
    varies = error > 0.0  # if not, the items say nothing of an interval
    low, high = np.where(varies, low, np.nan), np.where(varies, high, np.nan)
    return error, p, ordered, np.full(turned.size, -1) if every else turned, low, high


def _reached(gains: FloatArray, gain: FloatArray, scale: FloatArray) -> IntArray:
    """Return in how many trials the gains are at least the observed ones, or undefined."""
    fewer = gains < (gain - 1e-12 * scale)[:, np.newaxis]
    return np.asarray(gains.shape[1] - np.count_nonzero(fewer, axis=1))


def _swapped_gains(items: AnyItems, pairs: IntArray, moved: FloatArray) -> FloatArray:
    """Return the gain of every pair in every trial, (pair, trial), from the sums that are swapped.

    ``moved`` has them, (trial, system, statistic).
    """
    totals, (size, _, width) = items.totals, moved.shape
    result = np.empty((len(pairs), size))
    step = max(1, _SUMS_TOGETHER // (size * width))
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        a, b = pairs[block, 0], pairs[block, 1]
        for first in range(0, size, _SUMS_TOGETHER // width):
            rows = slice(first, first + _SUMS_TOGETHER // width)
            change = moved[rows, b] - moved[rows, a]
            gains = items.score(totals[a] + change) - items.score(totals[b] - change)
            result[block, rows] = items.sign * gains.T
    return result


def _signed_row(on: Lattice | None, unit: float, gain: float, options: PairOptions) -> _Row:
    """Return the exact sign-flip test of one pair."""
    assert on is not None
    law = SignedSum(on.multiples, on.times)
    size = on.step * unit
    limits = bootstrap_tests.law_interval(
        "percentile",
        0.0,
        np.asarray(size * law.values, dtype=np.float64),
        law.law,
        level=options.level,
        without=np.empty(0),
    )
    error = size * on.size
    total = on.total
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the law is symmetric
    result = as_p_says(
        (gain - limits[1], gain - limits[0]), gain, min(1.0, 2.0 * ordered),
        np.asarray(gain - size * law.values, dtype=np.float64), options,
    )  # fmt: skip
    low, high = result if error > 0.0 else (np.nan, np.nan)
    return error, p, ordered, -1, low, high
