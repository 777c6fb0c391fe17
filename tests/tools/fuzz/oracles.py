"""What any answer has to be: the input as it was, shares within 0 and 1, the naive computation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from tests.tools.fuzz.data import Call, Case

SHARES = (
    "precision", "recall", "tpr", "fpr", "p_value", "p_mid", "p_adjusted", "confidence", "area",
    "precision_a", "precision_b", "agreement",
)  # fmt: skip
LIMITS = (
    ("ci_low", "ci_high"), ("band_low", "band_high"), ("rank_low", "rank_high"),
    ("phi_low", "phi_high"),
)  # fmt: skip
_CLOSE = 1e-9


def fingerprint(data: pd.DataFrame | xr.Dataset) -> object:
    """Return what must not change: values, types, labels, order, attrs."""
    if isinstance(data, xr.Dataset):
        return [
            (repr(name), x.dims, str(x.dtype), repr(x.attrs), _content(x))
            for name, x in data.variables.items()
        ], repr(data.attrs)
    columns = [
        (str(data.dtypes.iloc[k]), [repr(x) for x in data.iloc[:, k]]) for k in range(data.shape[1])
    ]
    labels = [repr(x) for x in (*data.index, *data.columns)]
    return columns, labels, repr(data.attrs), data.flags.allows_duplicate_labels


def _content(variable: Any) -> object:
    return "lazy" if variable.chunks is not None else [repr(x) for x in variable.to_numpy().flat]


def table_of(result: Any) -> pd.DataFrame:
    """Return a result as a table."""
    if isinstance(result, xr.Dataset):
        bare = result.compute()
        frame = bare.to_dataframe() if bare.dims else pd.DataFrame([bare.to_pandas()])
        return frame.reset_index()
    return pd.DataFrame(result)


def implausible(table: pd.DataFrame, asked: Call) -> Iterator[str]:
    """Yield what no table of results can hold."""
    for name in SHARES:
        if name in table:
            found = _numbers(table, name)
            if ((found < 0.0) | (found > 1.0)).any():
                yield f"{name} outside [0, 1]"
    for low, high in LIMITS:
        if low in table and high in table:
            first, last = _numbers(table, low), _numbers(table, high)
            if (first > last + _CLOSE).any():
                yield f"{low} above {high}"
            if (np.isnan(first) != np.isnan(last)).any():
                yield f"one of {low} and {high} is NaN"
    if {"tp", "n", "precision"} <= set(table.columns) and not asked.options.get("average"):
        size = "n_accepted" if "n_accepted" in table else "n"  # sets cut no equal scores
        shares = _numbers(table, "tp") / np.maximum(_numbers(table, size), 1.0)
        if (np.abs(shares - _numbers(table, "precision")) > _CLOSE).any():
            yield "precision is not tp / n"
    if {"precision_a", "precision_b", "difference"} <= set(table.columns):
        gap = _numbers(table, "precision_a") - _numbers(table, "precision_b")
        if (np.abs(gap - _numbers(table, "difference")) > _CLOSE).any():
            yield "difference is not precision_a - precision_b"


def wrong(table: pd.DataFrame, case: Case, asked: Call) -> Iterator[str]:
    """Yield where a frame of ordinary numbers has another answer by the naive computation."""
    simple = set(asked.options) <= {"n", "level", "rng", "alternative"}
    if not (isinstance(case.data, pd.DataFrame) and case.plain and simple and len(case.data)):
        return
    gold = case.data["gold"].to_numpy(dtype=bool) if case.form == "ranking" else None
    for _, row in table.iloc[:: max(1, len(table) // 5)].iterrows():
        if asked.method in ("nbest_precision", "random_test") and gold is not None:
            yield from _wrong_list(row, case.data[row["measure"]].to_numpy(dtype=float), gold)
        if asked.method == "compare" and row["test"] == "fisher" if "test" in row else False:
            yield from _wrong_fisher(row)
        if asked.method == "area" and gold is not None and 0 < gold.sum() < gold.size:
            score = case.data[row["measure"]].to_numpy(dtype=float)
            known = stats.mannwhitneyu(score[gold], score[~gold]).statistic
            if abs(known / (gold.sum() * (~gold).sum()) - row["area"]) > _CLOSE:
                yield "area is not that of Mann and Whitney"


def _wrong_list(row: Any, score: Any, gold: Any) -> Iterator[str]:
    n = int(row["n"])
    threshold = np.sort(score)[::-1][n - 1]
    above, at = score > threshold, score == threshold
    room = n - above.sum()
    least = (gold & above).sum() + max(0, room - (at & ~gold).sum())
    most = (gold & above).sum() + min(room, (at & gold).sum())
    if not least <= row["tp"] <= most:
        yield f"tp={row['tp']} of the {n}-best list is not within {least} and {most}"
    if "p_value" in row:
        known = stats.hypergeom.sf(row["tp"] - 1, gold.size, gold.sum(), n)
        if abs(known - row["p_value"]) > 1e-8 + 1e-6 * known:
            yield f"p_value={row['p_value']} is not {known}"


def _wrong_fisher(row: Any) -> Iterator[str]:
    counts = [[row[f"tp_only_{x}"], row[f"n_only_{x}"] - row[f"tp_only_{x}"]] for x in "ab"]
    known = stats.fisher_exact(counts).pvalue
    if abs(known - row["p_value"]) > 1e-8:
        yield f"p_value={row['p_value']} of {counts} is not {known}"


def differ(one: pd.DataFrame, other: pd.DataFrame) -> str | None:
    """Return how two tables differ, None where they agree but for rounding."""
    if one.shape != other.shape or [*map(repr, one)] != [*map(repr, other)]:
        return f"{one.shape} and {other.shape}"
    for k, name in enumerate(one):
        try:
            a, b = (x.iloc[:, k].to_numpy(dtype=float, na_value=np.nan) for x in (one, other))
        except (TypeError, ValueError):
            if [*map(repr, one.iloc[:, k])] != [*map(repr, other.iloc[:, k])]:
                return f"column {name!r}"
            continue
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.abs(a - b) <= 1e-9 * np.abs(a)) | (np.isnan(a) & np.isnan(b))
        if not same.all():
            return f"column {name!r}"
    return None


def _numbers(table: pd.DataFrame, name: str) -> Any:
    return table[name].to_numpy(dtype=float, na_value=np.nan)
