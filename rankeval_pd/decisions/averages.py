"""Average results over groups."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Literal, NamedTuple

import numpy as np

from rankeval_pd.stats import AnyArray, BoolArray, FloatArray, IntArray, clusters
from rankeval_pd.tables import GROUP, PAIR, Rows

# ---- Average rows over groups, such as queries, as means or as ratios of sums

KEYS = ("measure", PAIR, "n")  # what rows of different groups have in common


class GroupCells(NamedTuple):
    """Rows arranged by key (measure or pair, and n) and group."""

    keys: Rows  #: (key): the columns of KEYS, and the names of a pair
    row: IntArray  #: (key, group): the row, or -1 if the group has none

    @classmethod
    def of(cls, table: Rows, n_groups: int) -> GroupCells:
        """Arrange the rows of all groups."""
        names = [name for name in KEYS if name in table]
        number = np.zeros(table[GROUP].size, dtype=np.int64)  # rises with all columns in turn
        for name in names:
            number = number * (table[name].max(initial=0) + 1) + table[name]
        _, first, key = np.unique(number, return_index=True, return_inverse=True)
        row = np.full((first.size, n_groups), -1, dtype=np.int64)
        row[key, table[GROUP]] = np.arange(number.size)
        kept = [*names, *(x for x in ("measure_a", "measure_b") if x in table)]
        return cls({name: table[name][first] for name in kept}, row)

    @property
    def exists(self) -> BoolArray:
        """Return whether each group has a row: (key, group)."""
        return self.row >= 0

    def of_column(self, values: AnyArray) -> FloatArray:
        """Return the values by key and group, NaN if a group has no row."""
        return np.where(self.exists, values[self.row].astype(float), np.nan)

    def held(self) -> GroupCells:
        """Return the cells in which lists that end early keep the last row of their measure."""
        measure = self.keys["measure"]
        place = np.arange(measure.size)[:, np.newaxis]
        last = np.maximum.accumulate(np.where(self.exists, place, -1), axis=0)
        row = np.take_along_axis(self.row, np.maximum(last, 0), axis=0)
        first = np.searchsorted(measure, measure)[:, np.newaxis]
        return GroupCells(self.keys, np.where(last >= first, row, -1))

    def sums(self, values: AnyArray) -> AnyArray:
        """Return sums over groups, of the same type as the values."""
        totals: AnyArray = np.where(self.exists, values[self.row], 0).sum(axis=-1)
        return totals.astype(values.dtype)


class GroupAverage(NamedTuple):
    """The average of a quantity over groups, and the test of this average."""

    value: FloatArray
    p_value: FloatArray
    n_queries: IntArray
    se: FloatArray

    def limits(self, level: float) -> dict[str, FloatArray]:
        """Return the confidence limits for an average of proportions."""
        low, high = clusters.query_share_limits(self.value, self.se, self.n_queries, level=level)
        return {"ci_low": low, "ci_high": high}


def over_groups(
    above: FloatArray, below: FloatArray | None = None, alternative: str = "two-sided"
) -> GroupAverage:
    """Return the mean of ``above`` over groups, or a ratio of sums if ``below`` is given.

    The groups are the last axis, and NaN marks groups without a value.
    """
    if below is None:
        below = np.where(np.isnan(above), np.nan, 1.0)
    # contiguous arrays, so that sums always follow group order
    over, under = (np.ascontiguousarray(x) for x in np.broadcast_arrays(above, below))
    means = clusters.query_ratio(over, under)
    return GroupAverage(means.value, clusters.t_test(means, alternative), means.n, means.se)


def average_lists(
    lists: Rows, n_groups: int, *, average: str, level: float, of: str = "precision"
) -> Rows:
    """Average n-best lists over groups, at each n, with limits ``of`` one of the rates."""
    cells = GroupCells.of(lists, n_groups)
    names = ("precision", "recall", "lift", "tp", "positive", "total", "drawn", "n")
    *rates, tp, positive, total, drawn, n = (cells.of_column(lists[name]) for name in names)
    if average == "macro":
        precision, recall, lift = map(over_groups, rates)
    else:
        precision = over_groups(tp, n)
        recall = over_groups(np.where(positive > 0, tp, np.nan), positive)
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = over_groups(tp, n * drawn / total)
    limited = {"precision": precision, "recall": recall}[of]
    return {
        **cells.keys,
        "tp": cells.sums(lists["tp"]),
        "precision": precision.value,
        "recall": recall.value,
        "lift": lift.value,
        **limited.limits(level),
        "n_queries": limited.n_queries,
        "n_missing": (~cells.exists).sum(axis=-1),
    }


def average_areas(areas: Rows, n_groups: int, *, average: str, level: float) -> Rows:
    """Average areas over groups, for each measure."""
    cells = GroupCells.of(areas, n_groups)
    area, chance = (cells.of_column(areas[name]) for name in ("area", "chance"))
    known = ~np.isnan(area)
    weight = None
    times = np.ones(area.shape)
    if average == "micro":
        weight = times = np.where(known, cells.of_column(areas["weight"]), np.nan)
    result = over_groups(area * times, weight)
    return {
        **cells.keys,
        "area": result.value,
        "chance": over_groups(np.where(known, chance, np.nan) * times, weight).value,
        **result.limits(level),
        "se": result.se,
        "n_queries": result.n_queries,
        "n_missing": (~known).sum(axis=-1),
    }


_RATES = {
    "fpr": ("false", "others"),
    "tpr": ("tp", "positive"),
    "recall": ("tp", "positive"),
    "precision": ("tp", "n"),
}
"""The numerator and denominator of a rate."""


def average_curves(
    curves: Rows, n_groups: int, *, average: str, rates: tuple[str, str], level: float
) -> Rows:
    """Average curves over groups, at each n."""
    cells = GroupCells.of(curves, n_groups)
    held = cells.held()
    n, tp, positive, others = (
        held.of_column(curves[name]) for name in ("n", "tp", "positive", "others")
    )
    n, positive, others = (np.where(x > 0, x, np.nan) for x in (n, positive, others))
    judged = "precision"
    if judged not in rates:  # like an ROC area, an ROC curve needs both classes
        judged = "tpr"
        empty = np.isnan(positive) | np.isnan(others)
        positive, others = (np.where(empty, np.nan, x) for x in (positive, others))
    counts = {"n": n, "tp": tp, "false": held.of_column(curves["n"]) - tp}
    counts |= {"positive": positive, "others": others}
    averages = {}
    for rate in rates:
        above, below = (counts[name] for name in _RATES[rate])
        if average == "macro":
            averages[rate] = over_groups(above / below)
        else:
            averages[rate] = over_groups(above, below)
    of_groups = averages[judged]
    return {
        **cells.keys,
        **{rate: x.value for rate, x in averages.items()},
        **of_groups.limits(level),
        "n_queries": of_groups.n_queries,
        "n_missing": n_groups - of_groups.n_queries,
    }


# ---- Check whether results can be averaged or combined over groups

Average = Literal["macro", "micro"]


def check_groups(names: Collection[Hashable]) -> None:
    """Raise a ValueError if there are no groups to combine."""
    if len(names) == 0:
        raise ValueError(
            "average= and combine=True combine groups, but there are none. Pass the name of the"
            " group column as by=..., or add a group dimension to the Dataset."
        )
