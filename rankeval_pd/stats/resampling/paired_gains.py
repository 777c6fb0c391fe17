"""The paired bootstrap of all pairs of systems (Berg-Kirkpatrick et al. 2012, section 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.resampling import bootstrap_tests
from rankeval_pd.stats.resampling.crossed_gains import crossed_pairs
from rankeval_pd.stats.resampling.gain_tables import (
    Limits,
    Pairs,
    Rows,
    allow_for_skewness,
    as_p_says,
    family_options,
    is_undecided,
    lattices_of,
    no_rows,
    oriented,
    ratio_p,
    sd,
    skewed_limits,
    table,
)
from rankeval_pd.stats.resampling.item_draws import Draws, draws_of
from rankeval_pd.stats.resampling.lattice import DrawnSum, Lattice, SignedSum
from rankeval_pd.stats.resampling.test_items import (
    AnyItems,
    Items,
    PairOptions,
    Step,
    better_counts,
    quiet,
)
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.adjust import (
    MaxT,
    check_enough,
    level_of_each,
    max_t,
    simultaneous_limits,
    with_resamples,
)
from rankeval_pd.stats.significance.unconditional import paired_tails

PROPORTIONS = ("tango", "newcombe")  # intervals for paired proportions


def paired_bootstrap(
    items: AnyItems,
    pairs: IntArray,
    options: PairOptions,
    step: Step = quiet,
    *,
    draws: Draws | None = None,
) -> Pairs:
    """Test all pairs with the paired bootstrap, using the same draws for each pair.

    Parameters
    ----------
    items : Items, or known facts about the items
    pairs : array (pair, 2)
        Numbers of the systems.
    options : Options
    step : callable
        Called with the number of new resamples.
    draws : Draws, optional
        Earlier draws for these pairs, in the same order. With ``draws``, no intervals are returned.
    """
    if isinstance(items, Items) and items.factors is not None:
        return crossed_pairs(items, pairs, options)
    options = with_resamples(options, len(pairs))
    if options.method == "exact" and items.seeds is not None:
        raise ValueError(
            "method='exact': with seeds=, the test is a t test, which has no exact version. Pass"
            " method='auto'."
        )
    _, pairs, swapped = oriented(items, pairs, options)
    if options.ci in PROPORTIONS and not items.binary:
        raise ValueError(
            f"ci={options.ci!r} is an interval for paired proportions: every item must be 0 or 1,"
            " with metric='accuracy' or 'mean' and without groups=. Pass ci='wild', or omit ci."
        )
    if not options.ci and not items.binary:
        options = options._replace(ci=bootstrap_tests.DUAL[options.event])
    limits = draws is None
    draws = draws or draws_of(items, pairs, options, step)
    found = _tested(draws, pairs, swapped, options, limits=limits)
    while _goes_on(found, items, options):
        options = options._replace(n_resamples=2 * options.n_resamples)
        draws = draws_of(items, pairs, options, step)
        found = _tested(draws, pairs, swapped, options, limits=limits)
    return found


_MOST_NUMBERS = 2**25  # limit on resampled gains (pairs x draws) for additional draws


def _goes_on(found: Pairs, items: AnyItems, options: PairOptions) -> bool:
    """Return whether a pair with a p-value near alpha needs more draws."""
    size = 2 * options.n_resamples
    many = found.gain.size * size > _MOST_NUMBERS
    if size > options.most or many or not isinstance(items, Items):
        return False
    if options.n_alike == 1:
        return bool(found.undecided.any())
    low, high = (options.n_alike * side for side in (found.family_low, found.family_high))
    return bool(is_undecided(low, high, options.alpha).any())


def _tested(
    draws: Draws, pairs: IntArray, swapped: BoolArray, options: PairOptions, *, limits: bool
) -> Pairs:
    """Return the tests from these draws as a table; ``limits`` adds intervals."""
    items, theta, asked = draws.items, draws.theta, limits
    signs = options.event == "wild"
    ratios = draws.parametric if signs else None
    lattices = lattices_of(draws, options, range(len(pairs)), signs=signs)
    every = signs and bootstrap_tests.looks_at_every(items, options)
    if not every and (options.simultaneous or (None in lattices and ratios is None)):
        check_enough(options, len(pairs))
    rows = no_rows(len(pairs))
    scattered = np.array([on is None for on in lattices], dtype=bool)
    together = scattered & signs & (ratios is None)
    for block in bootstrap_tests.blocks(np.flatnonzero(together), items.n_drawn):
        rows.put(block, *_wild_p(draws, block))
    alone = _law_p if signs else _resampled_p
    counted = signs and items.binary and not together.any()
    if counted:
        rows.put(np.arange(len(pairs)), *_counted_p(draws))
    elif ratios is not None:
        rows.put(np.arange(len(pairs)), draws.linear_errors(np.arange(len(pairs))), *ratio_p(draws))
    else:
        for k in np.flatnonzero(~together).tolist():
            rows.put(k, *alone(draws, k, lattices[k]))
    largest, family = None, None
    allows = allows_for_skewness(items, options) and ratios is None
    if allows:
        allow_for_skewness(rows, draws)

    def limits_at(options: PairOptions) -> Limits:
        own = draws.parametric if items.seeds is not None else ratios
        if own is not None and options.ci == "wild":
            return own.limits(options.two_tailed)
        found = _limits(draws, lattices, scattered, rows, options)
        return skewed_limits(found, draws, options) if allows and options.ci == "wild" else found

    if asked:
        rows.low[:], rows.high[:] = limits_at(options)
    if options.simultaneous:
        largest = _wild_max_t(draws) if signs else _resampled_max_t(draws)
        family = _of_largest(draws, largest, rows)
    elif options.adjust is not None and asked:
        family = limits_at(family_options(rows, options))
    return table(
        items, theta, pairs, swapped, rows, options, family, largest, every=every,
        parts=draws.error_parts,
    )  # fmt: skip


def allows_for_skewness(items: AnyItems, options: PairOptions) -> bool:
    """Return whether to correct for skewness; this is unnecessary for 0/1 items."""
    return options.skewness and not items.binary


_Found = tuple[float, float, float, bool]  # error, p, p with the better system first, whether drawn
_AllFound = tuple[FloatArray, FloatArray, FloatArray, bool]


def _law_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Return wild bootstrap results for one pair from the exact distribution."""
    assert on is not None
    which = np.array([k])
    gain, error = float(draws.gains(which)[0]), float(draws.linear_errors(which)[0])
    law = SignedSum(on.multiples, on.times)
    p, other = (law.tail(total) for total in (on.total, -on.total))
    return error, p, other if gain < 0.0 else p, False


def _counted_p(draws: Draws) -> _AllFound:
    """Test all pairs on correct/wrong items, with more power than random signs."""
    every, (better, worse) = np.arange(len(draws.pairs)), better_counts(draws.items, draws.pairs)
    p, other = (paired_tails(*x, draws.items.n_items) for x in ((better, worse), (worse, better)))
    ordered = np.where(draws.gains(every) < 0.0, other, p)
    return draws.linear_errors(every), p, ordered, False


def _wild_p(draws: Draws, which: IntArray) -> _AllFound:
    """Return wild bootstrap results for some pairs under the null hypothesis."""
    sums, room, error = draws.turned(which), draws.room(which), draws.linear_errors(which)
    worse = draws.gains(which) < 0.0
    hits = bootstrap_tests.reached(sums, room)
    better = hits.copy()
    better[worse] = bootstrap_tests.reached(-sums[worse], room[worse])
    size = sums.shape[1]
    if draws.subsets.every:
        return error, hits / size, better / size, False
    p, ordered = (
        bootstrap_tests.monte_carlo(count, size, draws.options.event) for count in (hits, better)
    )
    return error, p, ordered, True


def _wild_max_t(draws: Draws) -> MaxT:
    """Return max-t results with the same signs for all pairs and studentized gains.

    Random signs do not change the sum of squares, so the t statistic in a draw is an increasing
    function of the gain divided by the square root of this sum.
    """
    a, b = draws.pairs.T
    gains, scale = draws.level.sums[a] - draws.level.sums[b], np.sqrt(draws.spread.raw)
    nothing = scale <= draws.room(np.arange(len(draws.pairs)))
    gains, scale = np.where(nothing, 0.0, gains), np.where(nothing, 1.0, scale)
    t = gains / scale
    if allows_for_skewness(draws.items, draws.options):
        t = held_back(draws, t, alone=True)

    def t_star(which: IntArray) -> FloatArray:
        moved = gains[which, np.newaxis] - 2.0 * draws.turned(which)
        return np.asarray(moved / scale[which, np.newaxis])

    about = np.sqrt(draws.spread.pairs)
    about = np.where(about <= draws.room(np.arange(len(draws.pairs))), np.inf, about)

    def centered(which: IntArray) -> FloatArray:
        shift = draws.subsets.weights / draws.level.weight
        moved = gains[which, np.newaxis] * shift - draws.turned(which)
        return np.asarray(2.0 * moved / about[which, np.newaxis])

    subsets = draws.subsets
    return largest_of(draws, t_star, t, subsets.weights.size, subsets.every, centered)


def widening(draws: Draws) -> FloatArray:
    """Return the increase in the sum of squares per squared distance from the gain."""
    a, b = draws.pairs.T
    sums = draws.level.sums[a] - draws.level.sums[b]
    moved = np.abs(sums) > draws.room(np.arange(len(draws.pairs)))
    result = np.full(sums.size, 1.0 / draws.items.n_drawn)
    result[moved] = (draws.spread.raw - draws.spread.pairs)[moved] / sums[moved] ** 2
    return result


def held_back(draws: Draws, t: FloatArray, *, alone: bool = False) -> FloatArray:
    """Return the sign or swap statistics, or Hall's statistic if it rejects less often.

    For ratios, the normal quantiles of the p-values are used instead of Hall's statistic. If
    ``alone`` is True, these quantiles are returned even if they reject more often.
    """
    if draws.parametric is not None:
        own = draws.parametric.statistics
        return own if alone else np.sign(own) * np.minimum(np.abs(own), np.abs(t))
    every = np.arange(t.size)
    error = draws.linear_errors(every)
    own = np.where(error > 0.0, draws.gains(every), 0.0) / np.where(error > 0.0, error, 1.0)
    two_sided, more = draws.options.tails == 2, widening(draws)
    other = skewness.held_back(own, draws.leans, two_sided=two_sided)
    # signs do not change the squares about 0 in the denominator of the statistic
    own, other = (x / np.sqrt(1.0 + more * x**2) for x in (own, other))
    return np.where(own != 0.0, t * other / np.where(own != 0.0, own, 1.0), t)


def largest_of(
    draws: Draws,
    t_star: Callable[[IntArray], FloatArray],
    t: FloatArray,
    size: int,
    every: bool,
    centered: Callable[[IntArray], FloatArray] | None = None,
) -> MaxT:
    """Return max-t results for a family that can include several groups."""
    options = draws.options
    return max_t(
        t_star, t, size, level=level_of_each(options.level, options.n_alike),
        two_sided=options.tails == 2, every=every, centered=centered,
    )  # fmt: skip


def _of_largest(draws: Draws, largest: MaxT, rows: Rows) -> Limits:
    """Return limits for the gains that the max-t test does not reject."""
    every = np.arange(len(draws.pairs))
    gain, error = draws.gains(every), rows.error
    if draws.options.event == "wild" and draws.parametric is not None:
        return draws.parametric.limits_at(largest.critical)
    added, lean = np.zeros(len(draws.pairs)), None
    if draws.options.event == "wild":
        added = widening(draws)
        if allows_for_skewness(draws.items, draws.options):
            lean = draws.leans
    else:
        error = draws.own_errors
    return with_proportions(
        draws, simultaneous_limits(gain, error, largest.critical, added, lean), error
    )


def with_proportions(draws: Draws, limits: Limits, error: FloatArray) -> Limits:
    """Return simultaneous limits; Tango-Bonferroni limits for pairs without variation."""
    items, options = draws.items, draws.options
    low, high = (np.where(error > 0.0, limit, np.nan) for limit in limits)
    if items.binary:
        share = (1.0 - options.two_tailed) / (len(draws.pairs) * options.n_alike)
        flat = ~(error > 0.0)
        counts = better_counts(items, draws.pairs[flat])
        low[flat], high[flat] = differences.tango_limits(*counts, items.n_items, 1.0 - share)
    return low, high


def _resampled_p(draws: Draws, k: int, on: Lattice | None) -> _Found:
    """Test one pair with the paired bootstrap and an event from section 2.2."""
    items, options = draws.items, draws.options
    a, b = draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if on is not None:
        error = on.step * (items.unit() or 1.0)
        error *= on.spread
        p = _drawn_chance(on.multiples, on.times, options.event)
        ordered = _drawn_chance(-on.multiples, on.times, options.event) if gain < 0.0 else p
        return error, p, ordered, False
    gains = draws.scores[a] - draws.scores[b]
    size = float(max(draws.scale[a], draws.scale[b]))

    def count(sign: float) -> int:
        if options.event == "studentised":
            room = 1e-12 * size
            t = bootstrap_tests.studentised(np.array(gain), float(draws.own_errors[k]), room)
            t_star = bootstrap_tests.studentised(gains - gain, draws.errors[k], room)
            return bootstrap_tests.beyond(sign * t_star, sign * float(t))
        centered = items.n_groups == 0 and items.unit() is not None
        return bootstrap_tests.happened(
            sign * gains, sign * gain, options.event, size, centered=centered
        )

    hits = count(1.0)
    better = count(-1.0) if gain < 0.0 else hits
    p, ordered = (bootstrap_tests.monte_carlo(x, gains.size, options.event) for x in (hits, better))
    return sd(gains), p, ordered, True


def _resampled_max_t(draws: Draws) -> MaxT:
    """Return max-t results, with each resample studentized by its own standard error."""
    gains = draws.theta[draws.pairs[:, 0]] - draws.theta[draws.pairs[:, 1]]

    room = 1e-12 * draws.scale[draws.pairs].max(axis=1)

    def t_star(which: IntArray) -> FloatArray:
        a, b = draws.pairs[which].T
        moved = draws.scores[a] - draws.scores[b] - gains[which, np.newaxis]
        return bootstrap_tests.studentised(moved, draws.errors[which], room[which, np.newaxis])

    t = bootstrap_tests.studentised(gains, draws.own_errors, room)
    return largest_of(draws, t_star, t, draws.options.n_resamples, every=False)


def _limits(
    draws: Draws,
    lattices: list[Lattice | None],
    scattered: BoolArray,
    rows: Rows,
    options: PairOptions,
) -> Limits:
    """Return the intervals for all gains at the levels in the options."""
    if options.ci in ("", "tango"):
        counts = better_counts(draws.items, draws.pairs)
        return differences.tango_limits(*counts, draws.items.n_items, options.two_tailed)
    doubled = np.minimum(1.0, 2.0 * rows.ordered)
    low, high = np.full((2, scattered.size), np.nan)
    together = np.zeros_like(scattered)
    if options.ci == "wild":  # on a lattice, agree with the exact distribution
        together = scattered if options.event == "wild" else ~together
    for block in bootstrap_tests.blocks(np.flatnonzero(together), draws.items.n_drawn):
        low[block], high[block] = _wild_limits(draws, block, rows.error[block], options)
    for k in np.flatnonzero(~together).tolist():
        low[k], high[k] = _interval(
            draws, k, lattices[k], float(rows.error[k]), float(doubled[k]), options
        )
    return low, high


def _wild_limits(draws: Draws, which: IntArray, error: FloatArray, options: PairOptions) -> Limits:
    """Return limits for the gains that the random sign test does not reject."""
    subsets = draws.subsets
    low, high = bootstrap_tests.limits(
        draws.turned(which), subsets.weights, draws.factor, every=subsets.every,
        level=options.two_tailed, room=draws.room(which),
    )  # fmt: skip
    varies = error > 0.0  # without variation, the variance is unknown
    return np.where(varies, low, np.nan), np.where(varies, high, np.nan)


def _interval(
    draws: Draws,
    k: int,
    on: Lattice | None,
    error: float,
    p_two_sided: float,
    options: PairOptions,
) -> tuple[float, float]:
    """Return the interval for the gain of one pair."""
    items = draws.items
    kind, (a, b) = options.ci, draws.pairs[k]
    gain = float(draws.theta[a] - draws.theta[b])
    if kind == "newcombe":
        [both], [up], [down] = (
            x.astype(int).tolist()
            for x in (items.both_right(draws.pairs[[k]]), *better_counts(items, draws.pairs[[k]]))
        )
        cells = both, up, down, items.n_items - both - up - down
        return differences.paired_newcombe(cells, options.two_tailed)
    if not error > 0.0:
        return np.nan, np.nan  # without variation, the variance is unknown
    if kind == "wild":
        which, subsets = np.array([k]), draws.subsets
        lowest, highest = _wild_limits(draws, which, np.array([error]), options)
        result = float(lowest[0]), float(highest[0])
        if on is not None and not subsets.every and options.event == "wild":
            near = draws.factor * draws.turned(which)[0] / np.maximum(subsets.weights, 1.0)
            result = as_p_says(result, gain, p_two_sided, near, options)
        return result
    lean = draws.without[a] - draws.without[b] if kind == "bca" else np.empty(0)
    if options.event == "wild":  # "exact" applies only to random signs
        drawn_again = options._replace(
            method="auto" if options.method == "exact" else options.method
        )
        on = lattices_of(draws, drawn_again, [k], signs=False)[0]
    if on is not None and kind != "studentised":
        law, step = DrawnSum(on.multiples, on.times), on.step * (items.unit() or 1.0)
        gains = np.asarray(step * law.values, dtype=np.float64)
        result = bootstrap_tests.law_interval(
            kind, gain, gains, law.law, level=options.two_tailed, without=lean
        )
        return _of_event(result, gain, p_two_sided, gains, options)
    gains = draws.scores[a] - draws.scores[b]
    student = None
    if kind == "studentised":
        student = float(draws.own_errors[k]), draws.errors[k]
    result = bootstrap_tests.interval(
        kind, gain, gains, level=options.two_tailed,
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
    """Return limits that agree with the event's p-value for a gain of 0.

    The event's interval and the p-value can disagree because of rounding, or if the number of
    resamples beyond 0 is exactly at the critical value.
    """
    if options.ci != bootstrap_tests.DUAL[options.event]:
        return found
    near = gains if options.ci == "percentile" else 2.0 * gain - gains
    return as_p_says(found, gain, p_two_sided, near, options)


def _drawn_chance(multiples: IntArray, times: IntArray, event: str) -> float:
    """Return the probability of the event in section 2.2.

    With only a few items and similar differences, the resampled probability can be 0. The result
    is therefore at least 2^-n, the smallest p-value from random signs of n items. The literal
    event in figure 1 is not changed.
    """
    law = DrawnSum(multiples, times)
    total = int(times @ multiples)
    if event == "strict":
        return law.tail(2 * total + 1)
    # the mean of the resampled gains equals the gain, so no bias correction is needed
    turned = event == "zero"
    result = DrawnSum(-multiples, times).tail(0) if turned else law.tail(2 * total)
    return result if result > 0.0 else float(2.0**-law.n)
