"""Decide gains of systems: the leading system, tests of all groups as one family, and ranks.

The rows of a group follow one another, with one row per pair or per system.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankeval_pd.decisions.families import adjusted_p
from rankeval_pd.decisions.verdicts import GROUP, Rows
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.gains import is_undecided, reaching
from rankeval_pd.stats.items import PairOptions
from rankeval_pd.stats.ranks import any_of_system, rank_limits

FAMILY = ("family_p", "family_low", "family_high")  # p-values, and limits of Monte Carlo intervals


def with_systems(columns: Mapping[str, AnyArray], pairs: IntArray) -> Rows:
    """Add the numbers of the two systems of each pair, and of the leading system."""
    swapped, gain = columns["swapped"], columns["gain"]
    first = np.where(swapped, pairs[:, 1], pairs[:, 0])
    second = np.where(swapped, pairs[:, 0], pairs[:, 1])
    leaning = np.where(gain > 0.0, first, np.where(gain < 0.0, second, -1))
    return {**columns, "system_a": first, "system_b": second, "leaning": leaning}


def over_groups(rows: Rows, *, how: PairOptions) -> Rows:
    """Adjust the tests of all groups as one family, with intervals that agree with them."""
    p, undecided = _in_one_family(rows, rows[GROUP], how)
    low, high = reaching((rows["ci_low"], rows["ci_high"]), p, how.level)
    return {**rows, "p_adjusted": p, "undecided": undecided, "ci_low": low, "ci_high": high}


def _in_one_family(rows: Rows, group: IntArray, how: PairOptions) -> tuple[FloatArray, BoolArray]:
    """Return adjusted p-values, and whether more draws could change a decision: (pair)."""
    assert how.adjust is not None
    families = np.zeros(group.size, dtype=np.int64)
    # with max-t, p-values are already simultaneous over the pairs of a group
    p, low, high = (adjusted_p(rows[name], how.adjust, families, group) for name in FAMILY)
    return p, is_undecided(low, high, how.alpha)


def ranks_over_groups(rows: Rows, *, how: PairOptions, simultaneous: bool) -> Rows:
    """Adjust the tests of all groups as one family, and rank the systems of each group.

    The columns ``FAMILY`` have one value per pair, and the other columns one value per system.
    """
    n_groups = int(rows[GROUP][-1]) + 1
    group = np.repeat(np.arange(n_groups), rows["family_p"].size // n_groups)
    p, undecided = _in_one_family(rows, group, how)
    p, undecided = p.reshape(n_groups, -1), undecided.reshape(n_groups, -1)
    rank = rows["rank"].reshape(n_groups, -1)
    limits = [rank_limits(rank[k], p[k], how.alpha) for k in range(n_groups)]
    low = np.concatenate([x.low for x in limits])
    result = {
        **rows,
        "tied_for_best": low == 1,
        "letters": np.concatenate([x.letters for x in limits]),
        "undecided": np.concatenate([any_of_system(x, rank.shape[1]) for x in undecided]),
    }
    if simultaneous:
        result |= {"rank_low": low, "rank_high": np.concatenate([x.high for x in limits])}
    return result
