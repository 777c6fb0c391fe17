"""Compute association measures for candidates from their 2x2 contingency tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import errors
from rankeval_pd.doors import Data, check_data
from rankeval_pd.errors import listed, shown
from rankeval_pd.options import Capabilities
from rankeval_pd.roles import CONTINGENCY, MARGINS, as_names, frame_column, with_columns
from rankeval_pd.stats import AnyArray, FloatArray
from rankeval_pd.stats.contingency import COUNT_MEASURES, MEASURES, Cells
from rankeval_pd.tables import Options, listed_in, plain

_CELLS: tuple[str, ...] = ("O11", "O12", "O21", "O22")


@Capabilities(
    rankings="Queries, 2x2 tables",
    own_rows=True,
    clusters=True,
    dask=(
        "this method works row by row. Call"
        " ddf.map_partitions(rankeval_pd.with_association_measures, ['G2'])"
    ),
)
def with_association_measures(
    data: Data,
    measures: str | Sequence[str] | None = None,
    *,
    margins: Sequence[str | int] | None = None,
    alpha: float = 0.001,
    adjust: Literal["bonferroni"] | None = "bonferroni",
) -> Data:
    """Add a score column for each association measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates, each with the counts of a 2x2 contingency table.
    measures : str, sequence of str or None
        Names of measures, which become column names. None adds all measures. The page on
        association measures gives their formulas:

        * tests: ``"G2"`` (log-likelihood ratio), ``"X2"``, ``"X2_yates"``, ``"t"``, ``"z"``,
          ``"z_yates"``, ``"neglog10_fisher"``, ``"neglog10_poisson"``, ``"poisson_stirling"``;
        * information: ``"MI"``, ``"MI2"``, ``"MI3"``, ``"local_MI"``, ``"average_MI"``, ``"NPMI"``;
        * effect sizes: ``"log_odds_ratio"``, ``"log_odds_ratio_discounted"``,
          ``"log_relative_risk"``, ``"liddell"``, ``"min_sensitivity"``, ``"gmean"``, ``"dice"``,
          ``"logDice"``, ``"jaccard"``, ``"deltaP_forward"`` (from the first word to the second),
          ``"deltaP_backward"``; ``"LRC"`` (conservative log ratio): the limit closest to 0 of the
          confidence interval for log2((O11/R1) / (O21/R2)), or 0 if the interval contains 0;
        * ``"f"``: frequency O11.
    margins : sequence of 4 names, or of 3 names and a number, optional
        Columns with f (the frequency of the pair), f1 and f2 (the frequencies of the two words),
        and the sample size N as a column or a number, for example ``("f", "f1", "f2", 10**9)``. By
        default, the columns ``O11`` (both words), ``O12`` (only the first word), ``O21`` (only the
        second word) and ``O22`` (neither word) contain the counts. ``measures=None`` omits measures
        that share a name with a margin column.
    alpha : float
        Significance level for ``"LRC"``, whose interval has a confidence level of 1 - alpha.
    adjust
        "bonferroni" makes the intervals for ``"LRC"`` simultaneous by dividing alpha by the number
        of contingency tables. None uses alpha for each interval. If you process the data in parts,
        pass None and divide alpha yourself.

    Returns
    -------
    DataFrame or Dataset
        A copy of the data with the new columns at the end, as float64. A measure is NaN if its
        formula gives 0/0; for example, t and MI are NaN if O11 and E11 are 0. A measure is infinite
        if its formula divides by 0 or takes the logarithm of 0. ``attrs["margins"]`` lists the
        input counts except f. Other methods never treat the listed counts as measures.

    Notes
    -----
    Word pairs that attract each other rank first, and pairs that repel each other rank last. G2,
    X2, X2_yates and average_MI have no direction, so they receive the sign of O11 - E11. P-values
    are one-sided. The measures local_MI and poisson_stirling are meant for O11 > E11. These two
    measures are 0 if O11 = 0, and negative if O11 is small.

    P-values are computed on the log scale, so -log10 p has a relative accuracy of 1e-12 even for p
    below 1e-308. The cost is O(N). Fisher's p takes one second for a million contingency tables;
    all other measures are faster.

    References
    ----------
    Evert (2004), An on-line repository of association measures, http://www.collocations.de/AM/ (the
    formulas). The page on association measures gives the source of each measure.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"O11": [30, 2], "O12": [20, 48], "O21": [10, 38], "O22": [940, 912]})
    >>> df.rankeval.with_association_measures(["G2", "t", "MI"])
       O11  O12  O21  O22          G2         t        MI
    0   30   20   10  940  157.615225  5.112077  3.906891
    1    2   48   38  912    0.000000  0.000000  0.000000
    """
    check_data(data)
    names: list[Any] = list(MEASURES)
    if measures is not None:
        names = as_names(measures, ())
    if not names:
        raise ValueError(
            f"measures={measures!r} is empty. Pass one or more of"
            f" {listed(MEASURES, most=len(MEASURES))}, or None for all measures."
        )
    for name in names:
        if not isinstance(name, str) or name not in MEASURES:
            hint = errors.near_miss(name, MEASURES, 0.7)
            if meant := _MEASURE_ALIASES.get(str(name).lower().translate(_NO_SIGNS)):
                hint = f" This measure is called {meant!r} here."
            known = listed(MEASURES)
            hint = hint or f" Pass one or more of {known}, or None for all measures."
            raise ValueError(f"measures={shown(name)[:20]} is not a known measure.{hint}")
    errors.check_share("alpha", alpha)
    present = data.columns if isinstance(data, pd.DataFrame) else data.variables
    counts: Sequence[str | int] = _CELLS
    role = "cells"
    if margins is not None:
        counts = _checked_margins(margins)
        role = "margins"
        if measures is None:
            names = [name for name in names if name not in counts]
    for name in names:
        if name in present:
            raise ValueError(
                f"measures: data has a column {name!r}, which the result would overwrite. Rename or"
                " drop this column."
            )
    cells = _CELLS
    columns = [_counts(data, name, role, present) for name in counts]
    own = counts
    if margins is not None:
        own = counts[1:]  # f can also serve as a measure
        cells = tuple(f"{name} of margins" for name in _CELLS)
        both, first, second, total = columns
        columns = [both, first - both, second - both, total - first - second + both]
    size = len(data)
    if isinstance(data, xr.Dataset):
        size = math.prod(xr.broadcast(*columns)[0].shape)
    options: Options = {"cells": cells, "tail": alpha / 2.0}
    if adjust is not None:
        options["tail"] /= max(size, 1)
    if isinstance(data, pd.DataFrame):
        scores = {x: _measure_scores(*columns, measure=x, **options) for x in map(str, names)}
        return _note_margins(with_columns(data, scores), own)
    computed = {
        name: xr.apply_ufunc(
            _measure_scores,
            *columns,
            kwargs={"measure": name, **options},
            dask="parallelized",
            output_dtypes=[float],
            keep_attrs=False,
        )
        for name in map(str, names)
    }
    return _note_margins(data.assign(computed), own)


def _note_margins(result: Data, counts: Sequence[Any]) -> Data:
    """Record in the attrs which columns are counts rather than measures."""
    own: list[str] = [x for x in counts if isinstance(x, str) and x not in CONTINGENCY]
    if own:
        result.attrs[MARGINS] = plain([*listed_in(result.attrs, MARGINS), *own])
    return result


def _checked_margins(margins: Any) -> Sequence[str | int]:
    """Return the columns f, f1 and f2, and N as a column or a number."""
    known = isinstance(margins, Sequence) and len(margins) == 4
    if not known or not all(isinstance(x, str) for x in margins[:3]):
        raise ValueError(
            f"margins={shown(margins)}: pass the columns that contain f, f1 and f2, and N as a"
            " number or a column."
        )
    if not isinstance(margins[3], str):
        errors.check_number("margins: N", margins[3])
    return tuple(margins)


def _counts(data: Data, name: str | int, role: str, present: Any) -> Any:
    """Return counts as float64, because differences of other dtypes could wrap around."""
    if not isinstance(name, str):
        return float(name)
    if name not in present:
        advice = ""
        if role == "cells":
            advice = " For pair and word frequencies, pass margins=('f', 'f1', 'f2', 'N')."
        raise errors.unknown_name(role, name, [*data], advice)
    values: Any = data[name]
    if isinstance(data, pd.DataFrame):
        values = frame_column(data, name, role)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        raise TypeError(
            f"{role}: {name!r} has dtype {values.dtype}, but frequencies must be numbers. Convert"
            " this column with pd.to_numeric, or pass other columns as margins=..."
        )
    if isinstance(data, xr.Dataset):
        return values.astype(float)
    return pd.Series(values.to_numpy(dtype=float, na_value=np.nan), values.index)


# names used in other packages, in lowercase without punctuation, and the measures
_NO_SIGNS = str.maketrans("", "", "-_ .")
_MEASURE_ALIASES = {
    alias: name
    for alias, _, name in (
        pair.partition(":")
        for pair in (
            "pmi:MI pmi2:MI2 pmi3:MI3 npmi:NPMI ll:G2 llr:G2 loglikelihood:G2 likelihoodratio:G2"
            " chi2:X2 chisq:X2 chisquared:X2 tscore:t studentt:t zscore:z freq:f frequency:f"
            " oddsratio:log_odds_ratio deltap:deltaP_forward"
        ).split()
    )
}


def _measure_scores(
    *observed: AnyArray, measure: str, cells: Sequence[str], tail: float
) -> FloatArray:
    tables = [np.asarray(cell, dtype=float) for cell in observed]
    for name, cell in zip(cells, tables, strict=True):
        wrong = ~np.isfinite(cell) | (cell < 0)
        if wrong.any():
            raise ValueError(
                f"cells: {name!r} is negative or not finite in {int(wrong.sum())} of {cell.size}"
                f" tables, for example {cell[wrong][0]}. Correct the frequencies; if O12 or O21 is"
                " negative, f1 or f2 does not include the pair, and if O22 is, N is too small."
            )
    empty = sum(tables) == 0
    if np.any(empty):
        raise ValueError(
            f"cells: all four cells are 0 in {int(np.sum(empty))} of {np.size(empty)} tables. Drop"
            " these rows."
        )
    for name, cell in zip(cells, tables, strict=True):
        broken = cell != np.floor(cell)
        if measure in COUNT_MEASURES and broken.any():
            raise ValueError(
                f"cells: {name!r} is not a whole number in {int(broken.sum())} of {cell.size}"
                f" tables, for example {cell[broken][0]}, but {measure!r} needs counts. Pass"
                " counts, or omit this measure."
            )
    if measure == "LRC":
        return MEASURES[measure](Cells(*tables), tail=tail)
    return MEASURES[measure](Cells(*tables))
