"""The paired bootstrap of all pairs of systems (Berg-Kirkpatrick et al. 2012, section 2)."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals import paired_proportions
from rankeval_pd.stats.resampling import bootstrap, wild
from rankeval_pd.stats.resampling.asked import AnyItems, Options, Step, quiet
from rankeval_pd.stats.resampling.draws import Draws, draws_of
from rankeval_pd.stats.resampling.enough import check_enough, settled
from rankeval_pd.stats.resampling.lattice import DrawnSum, Lattice, SignedSum
from rankeval_pd.stats.resampling.pairs import (
    Pairs,
    Row,
    as_p_says,
    lattices_of,
    oriented,
    sd,
    table,
)

PROPORTIONS = {"tango": paired_proportions.tango, "newcombe": paired_proportions.newcombe}


def paired_bootstrap(
    items: AnyItems,
    pairs: IntArray,
    options: Options,
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
    options = settled(options, len(pairs))
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
        options = options._replace(ci=bootstrap.DUAL[options.event])
    asked = draws is None
    draws = draws or draws_of(items, pairs, options, step)
    signs = options.event == "wild"
    lattices = lattices_of(draws, options, range(len(pairs)), signs=signs)
    every = signs and wild.looks_at_every(items, options)
    if not every and (options.adjust == "max-t" or None in lattices):
        check_enough(options, len(pairs))
    test = _wild_p if signs else _resampled_p
    rows = []
    for k in range(len(pairs)):
        error, p, ordered, hits = test(draws, k, lattices[k])
        low = high = np.nan
        if asked:
            low, high = _interval(draws, k, lattices[k], error, min(1.0, 2.0 * ordered))
        rows.append(Row(error, low, high, p, ordered, hits))
    simultaneous = None
    if options.adjust == "max-t":
        simultaneous = _wild_max_t(draws) if signs else _resampled_max_t(draws)
    return table(items, theta, pairs, swapped, rows, options, simultaneous, every=every)


_Found = tuple[float, float, float, int]  # standard error, p, p of the better first, hits


def _wild_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return the wild bootstrap of one pair, its null hypothesis imposed."""
    a, b = draws.pairs[k]
    gain, error = draws.theta[a] - draws.theta[b], draws.linear_error(k)
    if on is not None:
        law, total = SignedSum(on.multiples, on.times), on.total
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
    a, b = draws.pairs.T
    gains, scale = draws.level.sums[a] - draws.level.sums[b], np.sqrt(draws.spread.raw)
    nothing = scale <= [draws.room(*pair) for pair in draws.pairs]
    gains, scale = np.where(nothing, 0.0, gains), np.where(nothing, 1.0, scale)

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
        error *= on.spread
        p = _drawn_chance(on.multiples, on.times, options.event)
        ordered = _drawn_chance(-on.multiples, on.times, options.event) if gain < 0.0 else p
        return error, p, ordered, -1
    gains = draws.scores[a] - draws.scores[b]
    size = float(max(draws.scale[a], draws.scale[b]))

    def count(sign: float) -> int:
        if options.event == "studentised":
            room = 1e-12 * size
            t = bootstrap.studentised(np.array(gain), float(draws.own_errors[k]), room)
            t_star = bootstrap.studentised(gains - gain, draws.errors[k], room)
            return bootstrap.beyond(sign * t_star, sign * float(t))
        centred = items.n_groups == 0 and items.unit() is not None
        return bootstrap.happened(sign * gains, sign * gain, options.event, size, centred=centred)

    hits = count(1.0)
    better = count(-1.0) if gain < 0.0 else hits
    p, ordered = (bootstrap.monte_carlo(x, gains.size, options.event) for x in (hits, better))
    return sd(gains), p, ordered, better


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
        subsets, room, sums = draws.subsets, draws.room(a, b), draws.turned(a, b)
        factor = draws.factor
        result = wild.limits(
            sums, subsets.weights, factor, every=subsets.every, level=options.level, room=room
        )
        if on is not None and not subsets.every and options.event == "wild":
            near = factor * sums / np.maximum(subsets.weights, 1.0)
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
