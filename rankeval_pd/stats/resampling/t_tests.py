"""Paired t tests for all pairs of systems, and the possible ranks, without resampling."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import t_of
from rankeval_pd.stats.rankings.rank_tests import Ranks, any_of_system, rank_limits
from rankeval_pd.stats.resampling.gain_tables import (
    Limits,
    Pairs,
    family_options,
    no_rows,
    oriented,
    table,
)
from rankeval_pd.stats.resampling.test_items import (
    AnyItems,
    Items,
    PairOptions,
    Step,
    quiet,
    scores_of,
)
from rankeval_pd.stats.significance.adjust import level_of_each

_TOGETHER = 4_000_000  # number of differences in memory at a time


def t_pairs(items: AnyItems, pairs: IntArray, options: PairOptions, _: Step = quiet) -> Pairs:
    """Return paired t tests for all pairs, with limits that agree with the tests."""
    single = isinstance(items, Items) and items.linear == "mean" and items.cluster is None
    if not isinstance(items, Items) or not single or items.unit() is None:
        raise ValueError(
            "test='t' supports only items in memory, with metric='mean' or 'accuracy' and without"
            " groups, strata or seeds. Omit test, or call paired_bootstrap."
        )
    if options.simultaneous:
        raise ValueError(
            f"test='t' with adjust={options.adjust!r}: without draws, the largest of several"
            " t statistics has no known distribution. Pass adjust='holm'."
        )
    from scipy.special import stdtr

    theta, pairs, swapped = oriented(items, pairs, options)
    gain, freedom = theta[pairs[:, 0]] - theta[pairs[:, 1]], items.n_items - 1.0
    rows = no_rows(len(pairs))
    rows.error[:] = error = _errors(items, pairs)
    varies = error > 0.0
    t = np.divide(gain, error, where=varies, out=np.zeros_like(gain))
    up, down = stdtr(freedom, -t), stdtr(freedom, t)  # without variance, p is 1/2
    rows.p[:], rows.ordered[:] = up, np.where(gain < 0.0, down, up)

    def limits_at(options: PairOptions) -> Limits:
        half = t_of(freedom, options.two_tailed) * np.where(varies, error, np.nan)
        return gain - half, gain + half

    rows.low[:], rows.high[:] = limits_at(options)
    family = None if options.adjust is None else limits_at(family_options(rows, options))
    return table(items, theta, pairs, swapped, rows, options, family, None, every=True)


def _errors(items: Items, pairs: IntArray) -> FloatArray:
    """Return the standard error of each pair's gain; rounding errors are treated as 0."""
    values = items.statistics[..., 0]
    result = np.empty(len(pairs))
    step = max(1, _TOGETHER // max(items.n_items, 1))
    for start in range(0, len(pairs), step):
        a, b = pairs[start : start + step].T
        spread = (values[a] - values[b]).std(axis=1, ddof=1) if items.n_items > 1 else np.nan
        scale = np.abs(values[a]).max(axis=1, initial=0.0)
        flat = spread <= 1e-14 * scale
        result[start : start + step] = np.where(flat, 0.0, spread) / np.sqrt(items.n_items)
    return result


def t_ranks(items: AnyItems, options: PairOptions, ranks: str, step: Step = quiet) -> Ranks:
    """Return the possible ranks after t tests of all pairs, and t intervals for the scores."""
    if ranks != "simultaneous" or options.ci:
        raise ValueError(
            f"test='t' with ranks={ranks!r}, ci={options.ci!r}: this test draws no resamples and"
            " returns only t intervals. Omit ranks and ci, or omit test."
        )
    systems = items.n_systems
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    tested = t_pairs(items, pairs, options, step)
    theta = scores_of(items)
    rank = 1 + (theta[:, np.newaxis] > theta).sum(axis=0)
    p = tested.p_value if options.adjust is None else tested.p_adjusted
    open_ = rank_limits(rank, p, options.alpha)
    assert isinstance(items, Items)
    error = items.statistics[..., 0].std(axis=1, ddof=1) / np.sqrt(items.n_items)
    error = np.where(error > 0.0, error, np.nan)
    shared = level_of_each(options.level, systems * options.n_alike)
    value = items.sign * theta
    half, alone = (t_of(items.n_items - 1.0, level) * error for level in (shared, options.level))
    return Ranks(
        value, value - half, value + half, value - alone, value + alone,
        rank, open_.low, open_.high, np.full(systems, np.nan), open_.low == 1,
        np.full(systems, items.n_groups), open_.letters,
        any_of_system(tested.undecided, systems), np.zeros(systems, dtype=np.int64),
        tested.family_p, tested.family_low, tested.family_high,
    )  # fmt: skip
