"""Tests of pairs of systems with two crossed factors, such as item and annotator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.intervals.cluster_totals import of_both_factors
from rankeval_pd.stats.intervals.proportions import t_of
from rankeval_pd.stats.resampling import bootstrap_tests
from rankeval_pd.stats.resampling.gain_tables import (
    Limits,
    Pairs,
    family_options,
    no_rows,
    oriented,
    table,
)
from rankeval_pd.stats.resampling.test_items import Items, PairOptions


def refuse_crossed(items: object, what: str) -> None:
    """Raise a ValueError for options that are not available with two crossed factors."""
    if isinstance(items, Items) and items.factors is not None:
        raise ValueError(
            f"groups contains two crossed factors, but {what} draws whole groups of one factor."
            " Call paired_bootstrap with event='wild' and adjust='holm' or None, or name one"
            " factor."
        )


def crossed_pairs(items: Items, pairs: IntArray, options: PairOptions) -> Pairs:
    """Test all pairs with Student's t, using the variance for two crossed factors.

    The centered contributions of the items to the gain are summed over the levels of each factor
    and over the cells; see :func:`rankeval_pd.stats.intervals.cluster_totals.of_both_factors`. The
    variance from the sums u for G levels is G / (G - 1) sum of u^2. The degrees of freedom for t
    are the smaller effective number of levels minus 1.
    """
    from scipy import special

    assert items.factors is not None
    if options.event != "wild" or options.ci not in ("", "wild") or options.simultaneous:
        refuse_crossed(items, f"event={options.event!r}, ci={options.ci!r}, {options.adjust!r}")
    theta, pairs, swapped = oriented(items, pairs, options)
    parts = bootstrap_tests.contributions(replace(items, cluster=None, factors=None))
    weights = parts.weights / parts.weights.sum()
    values = parts.values * parts.unit
    added = values[pairs[:, 0]] - values[pairs[:, 1]]
    added = added - weights * added.sum(axis=1, keepdims=True)
    added[np.abs(added) <= parts.accuracy * np.abs(values).max()] = 0.0  # rounding error
    freedom, variances = np.inf, []
    assert items.cluster is not None
    for levels in (*items.factors, items.cluster):
        size = np.bincount(levels, weights)
        sums = np.stack([np.bincount(levels, row) for row in added])
        variances.append((sums**2).sum(axis=1) * size.size / (size.size - 1.0))
        if levels is not items.cluster:
            freedom = min(freedom, 1.0 / float(size @ size) - 1.0)
    error, rows = np.sqrt(of_both_factors(variances)), no_rows(len(pairs))
    gain, varies = theta[pairs[:, 0]] - theta[pairs[:, 1]], error > 0.0
    t = np.where(varies, gain, 0.0) / np.where(varies, error, 1.0)
    rows.error[:] = error
    rows.p[:] = np.where(varies, special.stdtr(freedom, -t), 1.0)
    rows.ordered[:] = np.where(varies, special.stdtr(freedom, -np.abs(t)), 1.0)

    def limits_at(level: float) -> Limits:
        half = np.where(varies, t_of(freedom, level) * error, np.nan)
        return gain - half, gain + half

    rows.low[:], rows.high[:] = limits_at(options.two_tailed)
    family = None
    if options.adjust is not None:
        family = limits_at(family_options(rows, options).two_tailed)
    return table(items, theta, pairs, swapped, rows, options, family, None, every=True)
