"""Pointwise intervals and simultaneous bands for curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.errors import check_choice, warn
from rankeval_pd.forms.rankings.values import Shares, Sizes, check_n
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import curve_bands
from rankeval_pd.stats.intervals.bands import edge_precision
from rankeval_pd.stats.intervals.curve_bands import CurveLists
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.rankings.ranking import Ranking

INTERVALS = (None, "pointwise", "simultaneous")
RANGE = (
    f"lists that contain at least {curve_bands.ENDS} candidates of a class and leave out at"
    f" least {curve_bands.ENDS}"
)


def sizes_of(n: Any) -> Sizes:
    """Return the requested list sizes; "deciles" means the fractions 0.1, 0.2, ..., 1."""
    if isinstance(n, str) and n == "deciles":
        return Shares(np.arange(1, 11) / 10.0)
    values = list(n) if np.iterable(n) and not isinstance(n, str) else [n]
    several = any(isinstance(x, float | np.floating) and 0.0 < x <= 1.0 for x in values)
    if several and all(x == 1 or check_n(x) is not None for x in values):
        inside = [x for x in values if x != 1]
        check_n(inside or [0.5])
        return Shares(np.array(list(dict.fromkeys(float(x) for x in values))))
    return check_n(n)


def check_interval(interval: str | None, average: str | None, roles: Roles) -> None:
    """Raise a ValueError if intervals for single rankings are not available."""
    check_choice("interval", interval, INTERVALS)
    if interval is None:
        return
    if average is not None:
        raise ValueError(
            f"interval={interval!r} with average={average!r}: the average over groups has its own"
            " interval, ci_low and ci_high. Omit interval."
        )
    if roles.ends:
        raise ValueError(
            f"interval={interval!r} with missing='absent': lists that end early have no thresholds"
            " beyond their last candidate. Pass missing='last'."
        )


def lists_of(ranking: Ranking, n: IntArray, ties: str) -> CurveLists:
    """Return the data for the intervals along one ranking's curve; ``n`` increases from 1."""
    found, here = ranking.nbest(n, ties), int(ranking.here)
    edge = edge_precision(ranking.cumulated(ties), n, np.array(here))
    inside = n - found.block.above
    cut = (inside < found.block.size) & (ties == "expected")
    size, tp_block, above, tp_above = (
        np.where(cut, x, y).astype(float)
        for x, y in (
            (found.block.size, 1.0),
            (found.block.tp, 0.0),
            (found.block.above, n),
            (found.block.tp_above, found.tp),
        )
    )
    counts = (x.astype(float) for x in (n, found.tp))
    positive = int(ranking.size.positive)
    return CurveLists._make([*counts, edge, above, tp_above, size, tp_block, here, positive])


def limits(
    ranking: Ranking, n: IntArray, exists: BoolArray, space: str, ties: str, interval: str,
    level: float, seed: int, *, alone: bool,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the limits for the height of a curve (..., n); NaN if undefined.

    If ``alone`` is True, there is only one group, and a class too small for a band raises an error.
    """
    shape = exists.shape
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    few = []
    for row in np.ndindex(shape[:-1]):
        positive, total = int(ranking.size.positive[row]), int(ranking.here[row])
        least = min(positive, total - positive)
        mine = np.broadcast_to(n, shape)[row]
        rising, back = np.unique(mine, return_inverse=True)
        asked = np.isin(rising, mine[exists[row]]) & (rising > 0)
        if interval == "simultaneous" and least < curve_bands.LEAST:
            few.append((positive, total - positive))
            continue
        if not least or not asked.any():
            continue
        lists = lists_of(ranking.row(row), rising[asked], ties)
        inside, each = np.ones(lists.n.size, dtype=bool), level
        if interval == "simultaneous":
            inside = curve_bands.covered(space, lists)
            if not inside.any():
                continue
            lists = lists.chosen(inside)
            each = curve_bands.band_level(space, lists, level, seed)
        at = np.flatnonzero(asked)[inside]
        found = np.full((2, rising.size), np.nan)
        found[:, at] = curve_bands.curve_limits(space, lists, each)
        if space != "precision_recall" and interval == "pointwise":
            found[:, rising == total] = 1.0  # the list of all candidates contains all positives
        if space == "det":
            found = 1.0 - found[::-1]
        if space == "lift":
            of_all, true = (x[row] for x in ranking.retrieved)
            rarest = clopper_pearson(true, of_all, each)[0]  # the lowest plausible prevalence
            found = found * (positive * np.divide(of_all, true) / np.maximum(rising, 1))
            found = np.minimum(found, 1.0 / rarest)
        low[row], high[row] = found[:, back]
    if few:
        _too_few(few, alone)
    return low, high


def _too_few(few: list[tuple[int, int]], alone: bool) -> None:
    positive, others = min(few, key=min)
    text = (
        f"interval='simultaneous': a band needs {curve_bands.LEAST} or more candidates in each"
        f" class, but there are {positive:,} true positives and {others:,} other candidates"
    )
    if alone:
        raise ValueError(f"{text}. Pass interval='pointwise', or report the area.")
    warn(
        f"{text} in one of the groups, so the limits for that group are NaN. Pass"
        " interval='pointwise' for that group."
    )
