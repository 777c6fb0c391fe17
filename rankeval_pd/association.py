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
from rankeval_pd.errors import listed
from rankeval_pd.options import Capabilities
from rankeval_pd.roles import CONTINGENCY, MARGINS, as_names, frame_column, with_columns
from rankeval_pd.stats import AnyArray, FloatArray
from rankeval_pd.stats.contingency import COUNT_MEASURES, MEASURES, Cells
from rankeval_pd.tables import listed_in, plain

_CELLS = ("O11", "O12", "O21", "O22")


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
        Names of measures, which become column names. None adds all measures. The formulas use the
        margins R1 = O11 + O12 and C1 = O11 + O21, and the expected frequency E11 = R1 C1 / N:

        * tests: ``"G2"`` log-likelihood ratio 2 sum O ln(O/E); ``"X2"`` Pearson's chi-squared
          statistic, ``"X2_yates"`` with Yates's correction; ``"t"`` (O11 - E11) / sqrt(O11);
          ``"z"`` (O11 - E11) / sqrt(E11), ``"z_yates"`` with Yates's correction;
          ``"neglog10_fisher"`` and ``"neglog10_poisson"``, -log10 of P(X >= O11) given the margins
          and for X ~ Poisson(E11); ``"poisson_stirling"`` O11 (ln O11 - ln E11 - 1);
        * information: ``"MI"``, ``"MI2"``, ``"MI3"`` log2 of O11/E11, O11²/E11, O11³/E11;
          ``"local_MI"`` O11 log2(O11/E11); ``"average_MI"`` sum O log2(O/E);
        * effect sizes: ``"log_odds_ratio"`` ln(O11 O22 / (O12 O21)),
          ``"log_odds_ratio_discounted"`` the log odds ratio with 1/2 added to each cell;
          ``"log_relative_risk"`` ln((O11/C1) / (O12/C2)); ``"liddell"`` O11/C1 - O12/C2;
          ``"min_sensitivity"`` min(O11/R1, O11/C1); ``"gmean"`` O11 / sqrt(R1 C1); ``"dice"`` 2 O11
          / (R1 + C1); ``"jaccard"`` O11 / (O11 + O12 + O21); ``"deltaP_forward"`` O11/R1 - O21/R2,
          from the first word to the second, ``"deltaP_backward"`` O11/C1 - O12/C2, from the second
          word to the first, which equals Liddell's measure; ``"LRC"`` conservative log ratio: the
          confidence limit closest to 0 for log2((O11/R1) / (O21/R2)), or 0 if the confidence
          interval contains 0;
        * ``"logDice"`` 14 + log2(dice); ``"NPMI"`` ln(O11/E11) / -ln(O11/N), from -1 to 1;
        * ``"f"`` frequency O11.
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

    Raises
    ------
    ValueError
        If the data already contain a column named after a measure; if a cell is negative, missing
        or infinite; if all four cells are 0; if a p-value is requested and a cell is not a whole
        number.

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
    Evert (2004), An on-line repository of association measures (the formulas).
    logDice: P. Rychly (2008), A lexicographer-friendly association score. NPMI: G. Bouma (2009),
    Normalized (pointwise) mutual information in collocation extraction. LRC: A. Hardie (2014),
    Log ratio, an informal introduction; S. Evert (2022), Measuring keyness. Delta P: L. Allan
    (1980); S. Th. Gries (2013), 50-something years of work on collocations. The page on association
    measures gives the source of each measure.

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
            known = listed(MEASURES, len(MEASURES))
            hint = hint or f" Pass one or more of {known}, or None for all measures."
            raise ValueError(f"measures={name!r} is not a known measure.{hint}")
    errors.check_share("alpha", alpha)
    present = data.columns if isinstance(data, pd.DataFrame) else data.variables
    counts: Sequence[str | int] = _CELLS
    role = "cells"
    if margins is not None:
        counts, role = _checked_margins(margins), "margins"
        if measures is None:
            names = [name for name in names if name not in counts]
    for name in names:
        if name in present:
            raise ValueError(
                f"measures: data has a column {name!r}, which the result would overwrite. Rename or"
                " drop this column."
            )
    cells, columns, own = _CELLS, [_counts(data, name, role, present) for name in counts], counts
    if margins is not None:
        own = counts[1:]  # f can also serve as a measure
        cells = tuple(f"{name} of margins" for name in _CELLS)
        both, first, second, total = columns
        columns = [both, first - both, second - both, total - first - second + both]
    size = len(data)
    if isinstance(data, xr.Dataset):
        size = math.prod(xr.broadcast(*columns)[0].shape)
    options: dict[str, Any] = {"cells": cells, "tail": alpha / 2.0}
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
            f"margins={margins!r}: pass the columns that contain f, f1 and f2, and N as a number or"
            " a column."
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
        return values.astype(np.float64)
    return pd.Series(values.to_numpy(dtype=np.float64, na_value=np.nan), values.index)


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
    tables = [np.asarray(cell, dtype=np.float64) for cell in observed]
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
