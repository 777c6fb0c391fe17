"""Decide ranks: adjusted tests of all pairs, limits for ranks, letters, differences from one.

If no test makes a type I error, the rank of a measure is at least 1 plus the number of
significantly better measures. The rank is at most the number of measures minus the number of
significantly worse measures (Mogstad, Romano, Shaikh and Wilhelm 2024).

Arrays of pairs have the axes (..., pair, n), in the order of ``np.triu_indices``, and arrays of
measures have the axes (..., measure, n). Tests are the named columns of
:func:`rankeval_pd.stats.ranks.columns_of_tests`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd import stats
from rankeval_pd.decisions.families import adjusted_p, family_levels
from rankeval_pd.decisions.verdicts import Decision
from rankeval_pd.stats import AnyArray, BoolArray, FloatArray, IntArray, letters, rejects
from rankeval_pd.tables import Columns


@dataclass(frozen=True, kw_only=True)
class RankOptions(Decision):
    """The criterion that ranks measures, and the options of its tests."""

    alternative: str = "two-sided"
    n: Any = None  #: list sizes, if precision ranks the measures
    kind: str | None = None  #: the area, if areas rank the measures
    n_resamples: int | None = None
    baseline: Hashable = None

    @property
    def each(self) -> bool:
        """Return whether each n is a separate family."""
        return self.adjust_over == "n"


class AdjustedTests(NamedTuple):
    """The tests for some pairs, adjusted for those pairs: (..., pair, n)."""

    p_adjusted: FloatArray
    half: FloatArray  #: half the width of the simultaneous interval


def adjusted_tests(
    tests: Mapping[str, FloatArray],
    how: RankOptions,
    *,
    chosen: IntArray | None = None,
    stands: IntArray | None = None,
    family: str = "",
) -> AdjustedTests:
    """Return p-values and intervals, adjusted for the chosen pairs (by default all pairs).

    ``stands`` contains, for each pair, the first pair with the same two rankings. The two pairs
    share one test. If the two rankings are equal, the value is -1 and there is no test. ``family``
    is the ending of the columns with draws for the chosen pairs.
    """
    columns = dict(tests)
    if chosen is not None:
        columns = {name: values[..., chosen, :] for name, values in tests.items()}
        if stands is not None:
            stands = stands[chosen]
    p = columns["p_value"]
    error = columns["error"]
    freedom = columns["freedom"]
    if how.adjust is None or not p.size:
        return AdjustedTests(p, stats.quantile_of(freedom, how.level) * error)
    drawn = p
    if how.swapped:
        drawn = columns[f"p_family{family}"]
    once = drawn
    first = np.zeros(0, dtype=np.intp)
    if stands is not None:
        _, first, back = np.unique(stands, return_index=True, return_inverse=True)
        first = first[back]
        repeated = (first != np.arange(first.size)) | (stands < 0)
        once = np.where(repeated[:, np.newaxis], np.nan, drawn)
    families, pairs, place = np.indices((int(np.prod(p.shape[:-2])), *p.shape[-2:])).reshape(3, -1)
    if how.each:
        families = families * p.shape[-1] + place
    if not how.swapped:
        held = adjusted_p(once.ravel(), how.adjust, families, pairs).reshape(p.shape)
        levels = family_levels(once.ravel(), how.adjust, families, how.level)
        half = stats.quantile_of(freedom, levels.reshape(p.shape)) * error
    else:
        held = drawn
        if how.kind is None:  # draws for areas are already simultaneous over all pairs
            held = adjusted_p(once.ravel(), how.adjust, families, pairs).reshape(p.shape)
        # ratio of Student's t to the normal, and of draws to a formula
        held = np.fmax(held, p)
        half = columns[f"margin{family}"]
    if stands is None:
        return AdjustedTests(held, half)
    held, half = (x[..., first, :] for x in (held, half))
    alike = (stands < 0)[:, np.newaxis]
    return AdjustedTests(np.where(alike, p, held), np.where(alike, 0.0, half))


# ---- Ranks, letters and differences


def rank_columns(
    value: FloatArray,
    tests: Mapping[str, FloatArray],
    how: RankOptions,
    baseline: int | None = None,
    stands: IntArray | None = None,
) -> Columns:
    """Return the possible ranks, and each measure's difference from a reference.

    The ranks are derived from all pairwise tests. With a baseline, each measure is compared with
    the baseline, adjusting for these comparisons. Without a baseline, each measure is compared with
    the best observed measure, adjusting for all pairs.
    """
    count = value.shape[-2]
    every = adjusted_tests(tests, how, stands=stands)
    shown, chosen = every, None
    known = np.where(np.isnan(value), -np.inf, value)
    reference = np.argmax(known, axis=-2)
    if baseline is not None:
        reference = np.full_like(reference, baseline)
        chosen = stats.with_one(count, baseline)
        shown = adjusted_tests(tests, how, chosen=chosen, stands=stands, family=stats.BASELINE)
    below = np.tri(count, k=-1, dtype=bool)[..., np.newaxis]
    difference = _matrix(tests["difference"], count)
    difference = np.where(below, 0.0 - difference, difference)
    decisive = rejects(_matrix(every.p_adjusted, count, 1.0), how.alpha)
    limits = _possible_ranks(known, decisive & (difference < 0))
    higher = known[..., np.newaxis, :, :] > known[..., :, np.newaxis, :]
    columns = {
        "rank": 1 + higher.sum(axis=-2),
        "rank_low": limits.low,
        "rank_high": limits.high,
        "tied_for_best": limits.low == 1,
        "difference": _beside(reference, difference),
        "letters": limits.letters.astype(str),  # also pandas' dtype of strings without rows
    }
    alone = stats.quantile_of(tests["freedom"], how.level) * tests["error"]
    itself = np.arange(count)[:, np.newaxis] == reference[..., np.newaxis, :]
    for ending, name, p, half, pairs in (
        ("_alone", "p_value", tests["p_value"], alone, None),
        ("", "p_adjusted", shown.p_adjusted, shown.half, chosen),
    ):
        p_beside = _beside(reference, _matrix(p, count, 1.0, pairs))
        margin = _beside(reference, _matrix(half, count, 0.0, pairs))
        low = np.maximum(columns["difference"] - margin, -1.0)
        high = np.minimum(columns["difference"] + margin, 1.0)
        low, high = stats.agree_with_test(low, high, p_beside, "two-sided", how.level)
        columns[f"difference_low{ending}"], columns[f"difference_high{ending}"] = low, high
        columns[name] = np.where(itself, np.nan, p_beside)
    return columns


class RankLimits(NamedTuple):
    """The possible ranks given all pairwise tests: (..., measure, n)."""

    low: IntArray
    high: IntArray
    letters: AnyArray  #: two measures share a letter if and only if they do not differ


def _possible_ranks(value: FloatArray, better: BoolArray) -> RankLimits:
    """Return ranks and letters; ``better`` (..., i, j, n) says that j is better than i."""
    told_apart = better | np.swapaxes(better, -3, -2)
    names = np.full(value.shape, "", dtype=object)
    for *row, k in np.ndindex(*value.shape[:-2], value.shape[-1]):
        order = np.argsort(-value[*row, slice(None), k], kind="stable")
        apart = told_apart[*row, slice(None), slice(None), k]
        names[*row, order, k] = letters(apart[np.ix_(order, order)])
    low = 1 + better.sum(axis=-2)
    high = value.shape[-2] - better.sum(axis=-3)
    return RankLimits(low, high, names)


def rank_limits(rank: IntArray, p_values: FloatArray, alpha: float) -> RankLimits:
    """Return the possible ranks of systems, each (..., system).

    Parameters
    ----------
    rank : array (..., system)
    p_values : array (..., pair)
        One p-value for each pair, in the order of ``np.triu_indices``; NaN if a score is undefined.
    alpha : float
    """
    sure = np.isnan(p_values) | rejects(p_values, alpha)
    sure = _matrix(sure[..., np.newaxis], rank.shape[-1]) > 0.0
    better = (rank[..., :, np.newaxis] > rank[..., np.newaxis, :])[..., np.newaxis] & sure
    low, high, named = _possible_ranks(-rank[..., np.newaxis].astype(float), better)
    return RankLimits(low[..., 0], high[..., 0], named[..., 0])


def _matrix(
    values: AnyArray, count: int, itself: float = 0.0, chosen: IntArray | None = None
) -> FloatArray:
    """Return values of all or the chosen pairs as a matrix (..., measure, measure, n)."""
    a, b = stats.all_pairs(count)
    if chosen is not None:
        a, b = a[chosen], b[chosen]
    matrix = np.full((*values.shape[:-2], count, count, values.shape[-1]), itself)
    matrix[..., a, b, :] = values
    matrix[..., b, a, :] = values
    return matrix


def _beside(reference: IntArray, matrix: FloatArray) -> FloatArray:
    """Return the column for the reference measure at each n."""
    at = reference[..., np.newaxis, np.newaxis, :]
    at = np.broadcast_to(at, (*matrix.shape[:-2], 1, matrix.shape[-1]))
    return np.take_along_axis(matrix, at, axis=-2)[..., 0, :]


def of_measures(pairs: BoolArray, count: int) -> BoolArray:
    """Return, for each measure, whether a pair with this measure has the property."""
    return np.asarray((_matrix(pairs, count) > 0).any(axis=-2))


def beats_chance(p_value: FloatArray, tests: int, how: RankOptions) -> BoolArray:
    """Return whether each test against chance is significant, with Bonferroni's correction."""
    return np.asarray(rejects(p_value * tests, 1.0 - how.level))


# ---- Decisions that depend on the order of equal scores


def order_decides(tests: Mapping[str, FloatArray], how: RankOptions) -> BoolArray:
    """Return whether the order of equal scores can change a decision: (..., pair, n).

    The columns with the endings ``_tie_low`` and ``_tie_high`` have the test for the two extreme
    orders, or NaN if no list splits a tie.
    """
    difference = tests["difference"]
    differs = np.zeros(difference.shape, dtype=bool)
    if np.isnan(tests["difference_tie_low"]).all():
        return differs
    own = np.sign(difference) * rejects(adjusted_tests(tests, how).p_adjusted, how.alpha)
    for ending in ("_tie_low", "_tie_high"):
        moved = dict(tests)
        untied = np.isnan(tests[f"difference{ending}"])
        for name in ("difference", "p_value", "p_family"):
            if name in tests:
                moved[name] = np.where(untied, tests[name], tests[f"{name}{ending}"])
        p = adjusted_tests(moved, how).p_adjusted
        differs |= np.sign(moved["difference"]) * rejects(p, how.alpha) != own
    return differs & ~np.isnan(difference)
