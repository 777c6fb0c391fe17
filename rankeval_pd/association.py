"""Association measures: scores of collocation candidates from their 2x2 contingency tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.candidates import Data, check_data, frame_column
from rankeval_pd.errors import check_choice, unknown_name
from rankeval_pd.roles import as_names
from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.contingency import MEASURES


def with_association_measures(
    data: Data,
    measures: str | Sequence[str],
    cells: Sequence[str] = ("O11", "O12", "O21", "O22"),
) -> Data:
    """Return the data with association measures added, one column of scores for each.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates, one 2x2 contingency table each.
    measures : str or sequence of str
        Names of measures, which become names of columns:

        * ``"G2"``: log-likelihood ratio 2 sum O log(O/E), negative where O11 < E11;
        * ``"X2"``: Pearson's chi-squared statistic, negative where O11 < E11;
        * ``"t"``: t-score (O11 - E11) / sqrt(O11), -inf at O11 = 0;
        * ``"MI"``: mutual information log2(O11 / E11), -inf at O11 = 0;
        * ``"f"``: frequency O11.
    cells : sequence of 4 names
        Columns of the observed frequencies O11 (both words), O12 (the first word without the
        second), O21 (the second without the first) and O22 (neither).

    Returns
    -------
    DataFrame or Dataset
        A copy of the data with the new columns last, float64. NaN where a measure is undefined:
        t and MI where O11 and E11 are 0.

    Raises
    ------
    ValueError
        If a column of a measure's name is there already; if a cell is negative, missing or
        infinite, or if all four are 0.

    Notes
    -----
    G2 and X2 do not say in which direction the words depart from independence: their sign is that
    of O11 - E11, so that attraction ranks first and repulsion last. O(N).

    References
    ----------
    S. Evert (2004), An on-line repository of association measures. T. Dunning (1993), Accurate
    methods for the statistics of surprise and coincidence. K. Church et al. (1991), Using
    statistics in lexical analysis. K. Church and P. Hanks (1990), Word association norms.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"O11": [30, 2], "O12": [20, 48], "O21": [10, 38], "O22": [940, 912]})
    >>> df.rankeval.with_association_measures(["G2", "t", "MI"]).round(2)
       O11  O12  O21  O22      G2     t    MI
    0   30   20   10  940  157.62  5.11  3.91
    1    2   48   38  912    0.00  0.00  0.00
    """
    check_data(data)
    names = as_names(measures, ())
    for name in names:
        check_choice("measures", name, MEASURES)
    if len(cells) != 4:
        raise ValueError(
            f"cells={tuple(cells)!r}: give four names, those of O11, O12, O21 and O22."
        )
    present = data.columns if isinstance(data, pd.DataFrame) else data.variables
    for name in names:
        if name in present:
            raise ValueError(
                f"measures: data has a column {name!r} already, and it is not overwritten. Rename"
                f" or drop it first."
            )
    if isinstance(data, pd.DataFrame):
        observed = [_numbers(frame_column(data, cell, "cells"), cell) for cell in cells]
        scores = {name: _scores(*observed, measure=name, cells=cells) for name in map(str, names)}
        return data.assign(**scores)
    for cell in cells:
        if cell not in data.variables:
            raise unknown_name("cells", cell, data.data_vars)
    return data.assign(
        {
            name: xr.apply_ufunc(
                _scores,
                *(data[cell] for cell in cells),
                kwargs={"measure": name, "cells": cells},
                dask="parallelized",
                output_dtypes=[float],
                keep_attrs=False,
            )
            for name in map(str, names)
        }
    )


def _numbers(values: pd.Series, cell: str) -> FloatArray:
    if not pd.api.types.is_numeric_dtype(values.dtype):
        raise TypeError(
            f"cells: {cell!r} has dtype {values.dtype}, and frequencies are numbers. Convert it, as"
            " by pd.to_numeric, or name the columns of the four cells: cells=..."
        )
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _scores(*observed: AnyArray, measure: str, cells: Sequence[str]) -> FloatArray:
    tables = [np.asarray(cell, dtype=np.float64) for cell in observed]
    for name, cell in zip(cells, tables, strict=True):
        wrong = ~np.isfinite(cell) | (cell < 0)
        if wrong.any():
            raise ValueError(
                f"cells: {name!r} is {cell[wrong][0]} in {int(wrong.sum())} of {cell.size} tables,"
                " and a frequency is a finite number of 0 or more. If O12 or O21 is negative, were"
                " the words' own frequencies smaller than that of the pair?"
            )
    empty = sum(tables) == 0
    if np.any(empty):
        raise ValueError(
            f"cells: {int(np.sum(empty))} tables are inconsistent: all four cells are 0, and a"
            " table counts at least one pair. Drop these rows."
        )
    return MEASURES[measure](*tables)
