"""Decide comparisons: adjusted p-values, intervals that agree with them, the better measure, ties.

Every comparison goes through :func:`decide`. The table has one row per test, with ``p_value``, the
columns of its :class:`Interval`, and the numbers of group, pair and list size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd import stats
from rankeval_pd.decisions.families import adjusted_p, family_levels, numbered
from rankeval_pd.errors import progress_bar, warn
from rankeval_pd.stats import AnyArray, FloatArray, IntArray, Limits
from rankeval_pd.tables import GROUP, PAIR, PLACE, STANDS, Rows

TIE_ENDS = ("tie_low", "tie_high")
P_ENDS = ("p_tie_low", "p_tie_high")
TIE_COLUMNS = (*TIE_ENDS, *P_ENDS, "tie_decides")
UNCUT = ("uncut_below", "uncut_above")  # the nearest n at which no list ends inside a tie
REGIONS = ("tp_only_a", "tp_only_b", "n_only_a", "n")
_MULTIPLES = ("difference", "ci_low", "ci_high", "ci_low_alone", "ci_high_alone", *TIE_ENDS)
SWAPPED = ("max-t", "max-t-stepdown")  # adjustments that use random swaps
_ROWS = 1 << 16  # number of rows per step, small enough to fit in the cache
_NO_ERROR = 1e-300  # of equal lists, whose band has no width
_LEAST_LEVEL = 1e-6  # lowest level of a two-sided interval of which only one limit is used


class Interval(NamedTuple):
    """Store a function from columns and ``level=`` to two-sided limits, and the columns."""

    limits: Callable[..., Limits]
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Options that a decision needs."""

    adjust: str | None  #: adjustment of the p-values, or None
    adjust_over: str = "all"  #: rows that form a family: "all", "n" or "group"
    alternative: str
    alpha: float  #: significance level
    level: float  #: confidence level of the intervals
    margin: float | None = None  #: largest negligible difference

    @property
    def swapped(self) -> bool:
        """Return whether the tests use random swaps."""
        return self.adjust in SWAPPED


def decision_columns(how: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the decision columns for the middle and for the end of a table."""
    middle: tuple[str, ...] = ("significant", "better")
    end: tuple[str, ...] = ("leaning",)
    if how.margin is not None:
        middle = (stats.margin_name(how.alternative), *middle)
    if how.adjust is not None:
        middle = ("p_adjusted", *middle)
        end += ("ci_low_alone", "ci_high_alone")
    return middle, end


def decide(
    table: Rows,
    names: Sequence[Hashable],
    *,
    how: Decision,
    interval: Interval,
    towards: str = "difference",
) -> Rows:
    """Add intervals, adjusted p-values and decisions to the rows of all groups.

    Decisions rest on p_adjusted, or on p_value if p-values are not adjusted. An interval includes
    0 if the p-value is above 1 - level. With max-t, the table has ``p_swaps``, ``drawn`` and
    ``margin``, half the width of the simultaneous band. ``names`` are the measures. The sign of the
    column ``towards`` shows which measure is better.
    """
    if how.margin is not None:
        table[stats.margin_name(how.alternative)] = _p_of_margin(table, how, how.margin, interval)
    p = table["p_value"]
    low, high = limits_with_test(table, p, np.full(p.size, how.level), how, interval)
    if how.adjust is not None:
        table["ci_low_alone"], table["ci_high_alone"] = low, high
        family = Family.of(table, how)
        p = table["p_adjusted"] = family.adjusted(how.adjust)
        if how.swapped:
            low, high = _band(table, (low, high), family.adjusted("max-t"), how)
        else:
            low, high = limits_with_test(
                table, p, family.levels(how.adjust, how.level), how, interval
            )
        for name in P_ENDS:
            if name in table:
                table[name] = adjusted_p(table[name], how.adjust, family.families, family.pairs)
    table["ci_low"], table["ci_high"] = low, high
    table["significant"] = stats.rejects(p, how.alpha)
    # "leaning" is the first measure if the sign is above 0, and the second if it is below 0
    sign = np.sign(table[towards])
    a = table["measure_a"]
    b = table["measure_b"]
    leaning = table["leaning"] = np.where(sign > 0, a, np.where(sign < 0, b, -1))
    table["better"] = np.where(table["significant"], leaning, -1)
    if "p_tie_low" in table:  # whether another order of equal scores changes the decision
        own = np.nan_to_num(sign) * table["significant"]
        differs = np.zeros(p.shape, dtype=bool)
        for name, p_name in zip(TIE_ENDS, P_ENDS, strict=True):
            differs |= np.sign(table[name]) * stats.rejects(table[p_name], how.alpha) != own
        table["tie_decides"] = differs & table["cuts_tie"]
        if table["tie_decides"].any():
            _warn_of_ties(table, names)
    if "times" in table:  # recall or lift
        for name in _MULTIPLES:
            if name in table:
                table[name] = np.clip(table[name], -table["most"], table["most"]) * table["times"]
    if "drawn" in table:
        table["p_stderr"] = stats.monte_carlo_error(
            table["p_swaps"], p, table["drawn"], alpha=how.alpha
        )[0]
    return table


class Family(NamedTuple):
    """Rows whose tests are adjusted together."""

    p_value: FloatArray  #: (row): with max-t, simultaneous over the list sizes of a pair
    once: FloatArray  #: (row): NaN for repeated tests and for identical rankings
    families: IntArray  #: (row)
    pairs: IntArray  #: (row): number of the pair within all groups
    stands: IntArray | None  #: (row): the row of the same two rankings, or -1 if they are equal

    @classmethod
    def of(cls, table: Rows, how: Decision) -> Family:
        """Return the families of a table."""
        group, pair = table[GROUP], table[PAIR]
        families = np.zeros(group.size, dtype=np.int64)
        if how.adjust_over == "group":
            families = group
        elif how.adjust_over == "n":
            families = table.get(PLACE, families)
        p = table["p_value"]
        if how.swapped:
            p = table["p_swaps"]
        once, stands = p, None
        if STANDS in table:  # the row of the first pair with the same two rankings
            keys = [table[name].tolist() for name in (GROUP, PLACE) if name in table]
            rows = {key: k for k, key in enumerate(zip(*keys, pair.tolist(), strict=True))}
            wanted = zip(*keys, table[STANDS].tolist(), strict=True)
            stands = np.array([rows.get(key, -1) for key in wanted], dtype=np.int64)
            once = np.where(stands == np.arange(stands.size), p, np.nan)
        if group.any():
            pair = numbered(group, pair)
        return cls(p, once, families, pair, stands)

    def _shared(self, values: FloatArray, own: FloatArray) -> FloatArray:
        """Copy values to all rows with the same two rankings."""
        if self.stands is None:
            return values
        return np.where(self.stands < 0, own, values[np.maximum(self.stands, 0)])

    def adjusted(self, method: str) -> FloatArray:
        """Return the adjusted p-value of each row."""
        return self._shared(adjusted_p(self.once, method, self.families, self.pairs), self.p_value)

    def levels(self, method: str, level: float) -> FloatArray:
        """Return the confidence level of each row's interval."""
        values = family_levels(self.once, method, self.families, level)
        return self._shared(values, np.full(values.shape, level))


# ---- Intervals


def limits_with_test(
    table: Rows, p: FloatArray, levels: FloatArray, how: Decision, interval: Interval
) -> Limits:
    """Return limits at the given levels, including 0 if the test is not significant.

    A one-sided interval has one limit at the two-sided level 2 * level - 1, and its other limit is
    the end of the range. The interval [0, 0] for two equal lists is not changed. Rows with a level
    of NaN have no limits.
    """
    if how.alternative != "two-sided":
        levels = np.maximum(2.0 * levels - 1.0, _LEAST_LEVEL)
    low, high = np.full((2, p.size), np.nan)
    table["rejects"] = stats.rejects(p, 1.0 - how.level)
    with progress_bar(total=p.size, what="intervals of differences", unit="rows") as advance:
        for start in range(0, p.size, _ROWS):
            some = levels[start : start + _ROWS]
            for level in np.unique(some[~np.isnan(some)]).tolist():
                rows = start + np.flatnonzero(some == level)
                columns = []
                for name in interval.columns:
                    columns.append(table[name][rows])
                limits = interval.limits(*columns, level=level)
                if "shared" in table:
                    limits = _over_positives(table, rows, limits, stats.z_of(level))
                low[rows], high[rows] = limits
            advance(some.size)
    varies = ~np.isnan(low) & ((low != 0.0) | (high != 0.0))
    most = table.get("most", np.ones(p.size))
    if how.alternative == "greater":
        high[varies] = most[varies]
    if how.alternative == "less":
        low[varies] = -most[varies]
    return stats.agree_with_test(low, high, p, how.alternative, how.level)


def _over_positives(table: Rows, rows: Any, limits: Limits, z: float | FloatArray) -> Limits:
    """Return limits for a difference in recall or lift, in which N+ varies too."""
    names = ("difference", "of_positives", "shared", "most")
    difference, variance, covariance, most = (table[name][rows] for name in names)
    return stats.limits_over(difference, limits, z**2 * variance, z**2 * covariance, most)


def _band(table: Rows, alone: Limits, p: FloatArray, how: Decision) -> Limits:
    """Return simultaneous limits, at least as wide as the individual interval."""
    difference, margin = table["difference"], table["margin"]
    limits = difference - margin, difference + margin
    if "shared" in table:
        z = margin / np.maximum(table["error"], _NO_ERROR)
        limits = _over_positives(table, slice(None), limits, z)
    most = table.get("most", 1.0)
    low = np.minimum(alone[0], np.maximum(limits[0], -most))
    high = np.maximum(alone[1], np.minimum(limits[1], most))
    return stats.agree_with_test(low, high, p, how.alternative, how.level)


# ---- Margins (equivalence)


def _p_of_margin(table: Rows, how: Decision, margin: float, interval: Interval) -> FloatArray:
    """Return the unadjusted p-value for the margin of each row.

    The p-value is exact for two regions. For other comparisons, the p-value agrees with the
    interval.
    """
    margins = np.full(len(table["p_value"]), margin)
    if "times" in table:
        margins = margins / table["times"]
    if interval.columns[:4] != REGIONS:
        columns = [table[name] for name in interval.columns]
        return stats.interval_p(
            lambda level: interval.limits(*columns, level=level), margins, how.alternative
        )
    different = np.column_stack([margins, *(table[name] for name in REGIONS)])
    rows, back = np.unique(different, axis=0, return_inverse=True)
    p_values = []
    for share, a, b, only, n in rows.tolist():
        if not share > 0.0:  # recall and lift are undefined without true positives
            p_values.append(np.nan)
            continue
        scaled = share * n / only if only else np.inf  # the margin in the regions
        counted = (int(a), int(b), int(only))
        p_values.append(stats.regions_margin_p(*counted, scaled, how.alternative, how.alpha))
    return np.array(p_values, dtype=float)[back.ravel()]


# ---- Decisions that depend on the order of equal scores


def _warn_of_ties(table: Rows, names: Sequence[Hashable]) -> None:
    """Warn once about decisions that depend on the order of equal scores."""
    deciding = np.flatnonzero(table["tie_decides"])
    first = deciding[0]
    pair = [names[int(table[name][first])] for name in ("measure_a", "measure_b")]
    sizes = [table[name][first] for name in ("n", *UNCUT) if name in table]
    warn_of_rows([(*pair, *sizes)], deciding.size, combined="n_left_out" in table)


def warn_of_rows(rows: list[tuple[Any, ...]], count: int, *, combined: bool = False) -> None:
    """Warn about rows (two measures, n, nearest n that splits no tie)."""
    a, b, n, *uncut = rows[0]
    more, average = "", ""
    if count > 1:
        more = f" (and in {count - 1:,} more comparisons)"
    near = " or ".join(f"n={int(x)}" for x in uncut if x)
    if near:
        near = f", or {near}, at which no list ends inside a tie"
    if combined:
        average = "average='macro' and "
    warn(
        f"ties='shared': at n={int(n)}, the order of equal scores determines whether {a!r} and"
        f" {b!r} differ significantly{more}. Pass {average}ties='expected', which averages all"
        f" orders{near}."
    )


# ---- Intervals for the difference of two lists or sets: columns in, two-sided limits out


def _of_regions(*columns: AnyArray, level: float) -> Limits:
    """Return the wider of the limits for regions and for lists with this error, or NaN.

    If the test rejects and the wider limit includes 0, the limit for regions is kept.
    """
    tp_a, tp_b, only, n, error, rejects = columns
    low, high = stats.corrected_score(tp_a, only, tp_b, only, level)
    part = only / n
    center = (tp_a - tp_b) / n
    half = stats.z_of(level) * error
    low = np.where(only == 0, 0.0, low * part)
    high = np.where(only == 0, 0.0, high * part)
    wide_low = np.maximum(center - half, -1.0)
    wide_high = np.minimum(center + half, 1.0)
    keep_low = rejects & (wide_low <= 0.0)
    keep_high = rejects & (wide_high >= 0.0)
    low = np.where(keep_low & (low > 0.0), low, np.fmin(low, wide_low))
    return low, np.where(keep_high & (high < 0.0), high, np.fmax(high, wide_high))


OF_REGIONS = Interval(_of_regions, (*REGIONS, "error_of_lists", "rejects"))
"""The interval for a difference of lists, from their difference regions."""


def _of_error(*columns: FloatArray, level: float) -> Limits:
    """Return difference ± quantile times standard error.

    With no degrees of freedom, the limits are the ends of the range. If all queries or candidates
    have the same difference, the interval allows for unseen differences.
    """
    difference, error, freedom, reach, only = columns
    known = freedom > 0
    margin = stats.quantile_of(np.where(known, freedom, 1.0), level) * error
    margin = np.where(known, margin, np.where(error > 0, 2.0, 0.0 * error))
    alike = stats.alike_share(np.minimum(freedom + 1.0, only), level)
    share = np.where((error == 0.0) & (only > 0), alike, 1.0)
    margin = margin + (1.0 - share) * reach
    around = share * difference
    return np.maximum(around - margin, -reach), np.minimum(around + margin, reach)


OF_ERROR = Interval(_of_error, ("difference", "error", "freedom", "reach", "n_only_a"))
"""The interval for a difference with a known standard error, limited to ±``reach``."""


def _cluster_range(*columns: FloatArray, level: float) -> Limits:
    """Return limits for true differences d within t sqrt(error^2 + moved d^2).

    For d = 0, the criterion is the same as the test. As in Fieller's interval, a limit is the end
    of the range if the test does not exclude the largest possible difference.
    """
    difference, error, freedom, reach, moved = columns
    known = freedom > 0
    t = stats.quantile_of(np.where(known, freedom, 1.0), level)
    half = t * error
    more = t * t * np.where(known, moved, 0.0)
    ends = difference - half, difference + half
    low, high = stats.limits_over(difference, ends, more, 0.0, reach)
    most = np.where(~known & (error > 0.0), reach, np.nan)
    most = np.where((difference == 0.0) & (error == 0.0), 0.0, most)  # the lists are identical
    low = np.where(np.isnan(most), low, -most)
    high = np.where(np.isnan(most), high, most)
    return np.maximum(low, -reach), np.minimum(high, reach)


OF_CLUSTERS = Interval(_cluster_range, ("difference", "error", "freedom", "reach", "moved"))
"""The interval for a difference between lists whose candidates are clustered."""


def _of_paired(*columns: AnyArray, level: float) -> Limits:
    """Return limits that agree with the unconditional test; NaN without candidates."""
    only_a, only_b, n = columns
    low, high = stats.paired_limits(only_a, only_b, np.maximum(n, 1), level)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


OF_PAIRED = Interval(_of_paired, ("tp_only_a", "tp_only_b", "of_all"))
"""The interval for two proportions of the same candidates."""


OF_ONLY = Interval(stats.corrected_score, ("tp_only_a", "n_only_a", "tp_only_b", "n_only_b"))
"""The interval for the precision of the two regions that only one of two sets contains."""


OF_SETS = Interval(
    stats.set_difference,
    ("tp_overlap", "tp_only_a", "tp_only_b", "overlap", "n_only_a", "n_only_b"),
)
"""The interval for a difference in precision of two acceptance sets."""


OF_F1 = Interval(stats.f1_law, (*OF_SETS.columns, "of_all"))
"""The interval for a difference in F1 of two acceptance sets."""
