"""Paired tests of all pairs of systems on the same test items (Berg-Kirkpatrick et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.resampling import bootstrap, resamples
from rankeval_pd.stats.resampling.lattice import DrawnSum, Lattice, SignedSum, lattice
from rankeval_pd.stats.resampling.metrics import Score
from rankeval_pd.stats.significance.adjust import adjust

METHODS = ("auto", "exact", "monte-carlo")
ENUMERATED = 20  # up to so many items, every swap is looked at


@dataclass(frozen=True)
class Items:
    """What systems did on test items, and how it becomes a score."""

    statistics: FloatArray  #: (system, item, statistic)
    cluster: IntArray | None  #: the number of each item's cluster
    score: Score
    sign: float  #: -1 where smaller scores are better
    linear: str | None  #: "mean" or "sum" of the first statistic, where an exact law may exist

    @property
    def drawn(self) -> FloatArray:
        """The statistics of what is drawn: of items, or summed over clusters."""
        if self.cluster is None:
            return self.statistics
        systems, _, width = self.statistics.shape
        summed = np.zeros((systems, int(self.cluster.max()) + 1, width))
        np.add.at(summed.swapaxes(0, 1), self.cluster, self.statistics.swapaxes(0, 1))
        return summed

    def unit(self) -> float | None:
        """Return how much one unit of the first statistic adds to the score, if it is constant."""
        if self.linear == "sum":
            return 1.0
        if self.linear is None:
            return None
        below = self.statistics[..., 1]
        if not (below == below.flat[0]).all() or below.flat[0] == 0.0:
            return None
        return 1.0 / float(below[0].sum())


class Options(NamedTuple):
    """What is asked."""

    n_resamples: int
    event: str
    method: str
    ci: str
    adjust: str | None
    alpha: float
    level: float
    seed: resamples.Seed
    keep_order: bool  #: whether a pair's order stays although its gain is negative


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


class _Row(NamedTuple):
    """What a test says of one pair."""

    error: float
    low: float
    high: float
    p: float
    ordered: float  #: p with the better system first, whatever the order of the pair
    hits: int  #: resamples in which the event happened; -1 where p is exact


Step = Callable[[int], object]


def quiet(count: int) -> None:
    """Show no progress."""


# -------------------------------------------------------------------------------------- bootstrap


def paired_bootstrap(
    items: Items,
    pairs: IntArray,
    options: Options,
    step: Step = quiet,
    scores: FloatArray | None = None,
) -> Pairs:
    """Return the paired bootstrap of all pairs from one matrix of counts.

    Parameters
    ----------
    items : Items
    pairs : array (pair, 2)
        The numbers of the systems.
    options : Options
    step : callable
        Told how many resamples were done.
    scores : array (system, resample), optional
        Scores that were resampled before, the larger the better.
    """
    theta, pairs, swapped = _oriented(items, pairs, options)
    drawn = items.drawn
    lattices = _lattices(items, pairs, options)
    students: list[tuple[float, FloatArray] | None] = [None] * len(pairs)
    if scores is None and (options.adjust == "max-t" or None in lattices):
        studentised = pairs if options.ci == "studentised" else None
        scores, errors = _bootstrap_scores(items, drawn, studentised, options, step)
        if errors is not None:
            once, sums = np.ones((1, drawn.shape[1])), drawn.sum(axis=1)[np.newaxis]
            own = bootstrap.standard_errors(once, sums, drawn, items.score, pairs)[:, 0]
            students = list(zip(own.tolist(), errors, strict=True))
    scores = np.empty((len(theta), 0)) if scores is None else scores
    without = items.sign * resamples.leave_one_out(drawn, items.score)
    scale = np.fmax(np.abs(theta), np.fmax.reduce(np.abs(scores), axis=1, initial=0.0))
    centred = items.cluster is None and items.unit() is not None
    rows = []
    for k, (a, b) in enumerate(pairs):
        gain, lean = theta[a] - theta[b], without[a] - without[b]
        on = lattices[k]
        if on is not None:
            rows.append(_drawn_row(on, items.unit() or 1.0, gain, lean, options))
            continue
        gains = scores[a] - scores[b]
        size = max(scale[a], scale[b])
        hits = bootstrap.happened(gains, gain, options.event, size, centred=centred)
        turned = hits
        if gain < 0.0:
            turned = bootstrap.happened(-gains, -gain, options.event, size, centred=centred)
        low, high = bootstrap.interval(
            options.ci, gain, gains, level=options.level, scale=size, without=lean,
            student=students[k],
        )  # fmt: skip
        p, ordered = (
            bootstrap.monte_carlo(count, options.n_resamples, options.event)
            for count in (hits, turned)
        )
        rows.append(_Row(_sd(gains), low, high, p, ordered, hits))

    def deviations(k: int) -> FloatArray:
        a, b = pairs[k]
        return np.asarray((scores[a] - scores[b]) - (theta[a] - theta[b]))

    return _table(items, theta, pairs, swapped, rows, options, deviations, scores.shape[1])


def _bootstrap_scores(
    items: Items, drawn: FloatArray, pairs: IntArray | None, options: Options, step: Step
) -> tuple[FloatArray, FloatArray | None]:
    """Return scores (system, resample), the larger the better, and the pairs' standard errors."""
    n = drawn.shape[1]
    chunks = resamples.count_chunks(n, options.n_resamples, options.seed)
    if pairs is None:
        found = resamples.resampled_scores(drawn, items.score, chunks, options.n_resamples, step)
        return items.sign * found, None
    errors = np.empty((len(pairs), options.n_resamples))
    scores = np.empty((len(drawn), options.n_resamples))
    flat = resamples.for_sums(_flat(drawn), n)
    for rows, weights in _filled(chunks):
        sums = resamples.weighted_sums(weights, flat).reshape(-1, len(drawn), drawn.shape[2])
        scores[:, rows] = items.score(sums).T
        errors[:, rows] = bootstrap.standard_errors(weights, sums, drawn, items.score, pairs)
        step(len(weights))
    return items.sign * scores, errors


def _flat(values: FloatArray) -> FloatArray:
    """Return (system, item, statistic) as (item, columns)."""
    return np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)


def _filled(chunks: Iterator[AnyArray]) -> Iterator[tuple[slice, AnyArray]]:
    """Yield chunks with the places of their resamples among all."""
    start = 0
    for chunk in chunks:
        yield slice(start, start + len(chunk)), chunk
        start += len(chunk)


def _drawn_row(on: Lattice, unit: float, gain: float, lean: FloatArray, options: Options) -> _Row:
    """Return the exact paired bootstrap of one pair."""
    law = DrawnSum(on.multiples)
    p = _drawn_chance(on.multiples, options.event)
    ordered = _drawn_chance(-on.multiples, options.event) if gain < 0.0 else p
    size = on.step * unit
    error = size * float(np.sqrt(on.multiples.size) * on.multiples.std())
    low, high = bootstrap.law_interval(
        options.ci,
        gain,
        np.asarray(size * law.values),
        law.law,
        level=options.level,
        without=lean,
    )
    return _Row(error, low, high, p, ordered, -1)


def _drawn_chance(multiples: IntArray, event: str) -> float:
    """Return the chance of the event of section 2.2."""
    total = int(multiples.sum())
    if event == "strict":
        return DrawnSum(multiples).tail(2 * total + 1)
    if event == "zero":
        return DrawnSum(-multiples).tail(0)
    # the mean of the resampled gains is the gain: there is no bias to correct
    return DrawnSum(multiples).tail(2 * total)


# ------------------------------------------------------------------------------------- permutation


def paired_permutation(
    items: Items, pairs: IntArray, options: Options, step: Step = quiet
) -> Pairs:
    """Return the approximate randomization test of all pairs, with the same swaps for all."""
    theta, pairs, swapped = _oriented(items, pairs, options)
    drawn = items.drawn
    lattices = _lattices(items, pairs, options, drawn)
    n = drawn.shape[1]
    every = n <= ENUMERATED and options.method != "monte-carlo"
    if options.adjust == "max-t" or None in lattices:
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
        gain = theta[a] - theta[b]
        on = lattices[k]
        if on is not None:
            rows.append(_signed_row(on, items.unit() or 1.0, gain, options))
            continue
        scale = max(abs(theta[a]), abs(theta[b]), float(np.fmax.reduce(np.abs(gains[k]))))
        hits = _reached(gains[k], gain, scale)
        turned = _reached(-gains[k], -gain, scale) if gain < 0.0 else hits
        p, ordered = (
            count / gains.shape[1]
            if every
            else bootstrap.monte_carlo(count, gains.shape[1], "recentred")
            for count in (hits, turned)
        )
        tails = (1.0 - options.level) / 2.0, (1.0 + options.level) / 2.0
        low, high = bootstrap.quantiles(gains[k], tails)
        rows.append(_Row(_sd(gains[k]), gain - high, gain - low, p, ordered, -1 if every else hits))
    return _table(items, theta, pairs, swapped, rows, options, lambda k: gains[k], gains.shape[1])


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
    flat = resamples.for_sums(_flat(drawn), drawn.shape[1])
    totals = drawn.sum(axis=1)
    result = np.empty((len(pairs), size))
    for rows, swaps in _filled(chunks):
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
        np.asarray(size * law.values),
        law.law,
        level=options.level,
        without=np.empty(0),
    )
    error = size * float(np.sqrt((on.multiples.astype(float) ** 2).sum()))
    total = int(on.multiples.sum())
    p = law.tail(total)
    ordered = law.tail(-total) if gain < 0.0 else p  # the law is symmetric
    return _Row(error, gain - limits[1], gain - limits[0], p, ordered, -1)


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
    ``drawn`` are the statistics of what is swapped; without it, items are drawn one by one.
    """
    bootstraps = drawn is None
    drawn = items.statistics if drawn is None else drawn
    unit = items.unit()
    wanted = options.method != "monte-carlo" and unit is not None
    if bootstraps and (items.cluster is not None or options.ci == "studentised"):
        wanted = False
    better = items.sign * drawn[..., 0]
    found = [lattice(better[a] - better[b]) if wanted else None for a, b in pairs]
    small = not bootstraps and drawn.shape[1] <= ENUMERATED
    if options.method == "exact" and None in found and not small:
        raise ValueError(_why_not_exact(items, options, bootstraps=bootstraps, unit=unit))
    return found


def _why_not_exact(items: Items, options: Options, *, bootstraps: bool, unit: float | None) -> str:
    if bootstraps and items.cluster is not None:
        reason = "groups= draws clusters, whose sizes vary, and there is no exact law for that"
    elif unit is None:
        reason = (
            "the law is exact for the metrics mean, sum and accuracy, every item having the same"
            " total"
        )
    elif bootstraps and options.ci == "studentised":
        reason = "ci='studentised' needs the standard error of every resample"
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
    deviations: Callable[[int], FloatArray],
    drawn: int,
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
    n_resamples = np.where(exact, 0, options.n_resamples)
    with np.errstate(invalid="ignore"):
        p_stderr = np.where(exact, 0.0 * p, np.sqrt(p * (1.0 - p) / options.n_resamples))
    doubled = np.minimum(1.0, 2.0 * ordered)
    adjusted = np.full(len(pairs), np.nan)
    if options.adjust == "max-t":
        simultaneous = bootstrap.max_t(deviations, gain, error, drawn)
        # the pair's own p-value is another one: doubled, not of the absolute gain
        adjusted = np.maximum(simultaneous, doubled)
    elif options.adjust is not None:
        adjusted = adjust(doubled, options.adjust)
    below, above = clopper_pearson(
        np.maximum(hits, 0), np.array(options.n_resamples), options.level
    )
    undecided = ~exact & ~undefined & (below < options.alpha) & (options.alpha < above)
    return Pairs(
        swapped, items.sign * theta[a], items.sign * theta[b], gain, error, low, high, p, doubled,
        p_stderr, adjusted, 1.0 - p, undecided, exact,
        np.full(len(pairs), items.statistics.shape[1]), n_resamples,
    )  # fmt: skip


# -------------------------------------------------------------------------------------------- ranks


class Ranks(NamedTuple):
    """The rows of the table of ranks, one per system."""

    score: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    p_best: FloatArray
    tied_for_best: BoolArray


def system_ranks(items: Items, options: Options, step: Step = quiet) -> Ranks:
    """Return the ranks of systems and how sure they are, from the resamples that all share.

    Tied for best is who no test tells apart from the best.
    """
    drawn = items.drawn
    systems = len(drawn)
    theta = items.sign * items.score(items.statistics.sum(axis=1))
    scores, _ = _bootstrap_scores(items, drawn, None, options, step)
    without = items.sign * resamples.leave_one_out(drawn, items.score)
    limits = np.array([
        bootstrap.interval(
            options.ci, theta[k], scores[k], level=options.level,
            scale=float(np.fmax.reduce(np.abs(scores[k]), initial=abs(theta[k]))),
            without=without[k],
        )
        for k in range(systems)
    ])  # fmt: skip
    low, high, p_best = _resampled_ranks(scores, options.level)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    tested = paired_bootstrap(items, pairs, options._replace(ci="percentile"), scores=scores)
    p = tested.p_two_sided if options.adjust is None else tested.p_adjusted
    best = np.flatnonzero(theta == np.fmax.reduce(theta))
    tied = np.isin(np.arange(systems), best)
    for pair, chance in zip(pairs, p, strict=True):
        if np.isin(pair, best).any() and chance > options.alpha:
            tied[pair] = True
    ci_low, ci_high = limits.T if items.sign > 0 else -limits[:, ::-1].T
    known = np.where(np.isnan(theta), -np.inf, theta)  # who has no score comes last
    rank = 1 + (known[:, np.newaxis] < known).sum(axis=1)
    return Ranks(items.sign * theta, ci_low, ci_high, rank, low, high, p_best, tied)


def _resampled_ranks(scores: FloatArray, level: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the limits of each system's rank, and how often it is best, ties shared.

    Where its score is undefined, a system ranks last and is not best.
    """
    systems, size = scores.shape
    low, high = np.empty(systems, dtype=np.int64), np.empty(systems, dtype=np.int64)
    best = np.empty(systems)
    known = np.where(np.isnan(scores), -np.inf, scores)
    room = 1e-12 * np.abs(np.nan_to_num(scores)).max(axis=0)
    top = known.max(axis=0) - room
    winners = np.maximum((known >= top).sum(axis=0), 1)
    tail = (1.0 - level) / 2.0
    for k in range(systems):
        better = np.zeros(size, dtype=np.int64)
        for other in range(systems):
            better += known[other] > known[k] + room
        share = np.cumsum(np.bincount(better + 1, minlength=systems + 1)) / size
        low[k] = int(np.argmax(share > tail))
        high[k] = int(np.argmax(share >= 1.0 - tail))
        wins = (known[k] >= top) & ~np.isnan(scores[k])
        best[k] = float((wins / winners).mean())
    return low, high, best
