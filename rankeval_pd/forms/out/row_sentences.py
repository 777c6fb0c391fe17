"""Write a sentence for each row of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms.out.phrases import (
    NOUNS,
    SENTENCES,
    SHARES,
    Unit,
    alpha_of,
    called,
    join,
    known,
    level_of,
    p_cell,
    p_text,
    percent_of,
    unit_of,
)

MOST = 8  # largest number of rows for which each row gets a sentence

Attrs = Mapping[Any, Any]
Row = dict[Any, Any]

_WITH_P = ("p_value", "p_dispersion")  # columns printed as p = 0.03 instead of 0.03
_PLAIN = ("p", "alpha")  # options printed unchanged


def row_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write a sentence for each row of a table, and shorten long tables."""
    if {"measure", "metric", "value"} <= {*frame}:
        means = frame.groupby(["metric", "measure"], sort=False, observed=True)["value"]
        frame = means.agg(["mean", "count"]).reset_index()
        frame = frame.rename(columns={"mean": "value", "count": "queries"})
    if "n_pairs" in frame:
        frame = frame[frame["n_pairs"] > 0]
    if not len(frame):
        yield "The table has no rows with data."
        return
    own = next((x for x in reversed(_GROUPED) if x in frame), None)
    before = list(frame.columns[: list(frame.columns).index(own)]) if own else []
    if "ci_low_best" in frame:  # the best precision at each n was selected from the data
        highest = frame.groupby([*before, "n"], sort=False)["precision"].transform("max")
        frame = frame.drop(columns="recall").assign(_chosen=frame["precision"] == highest)
    sentence = next(
        (text for needed, text in SENTENCES
         if any({*columns.split()} <= {*frame} for columns in needed.split("|"))), None,
    )  # fmt: skip
    units = {name: _unit(frame, name, attrs) for name in frame if _is_number(frame[name])}
    shown = ends_of(frame)
    for row in shown.to_dict("records"):
        where = "".join(f"For {name} {row[name]}: " for name in before if name not in units)
        yield where + _row(row, units, sentence, attrs)
    left = len(frame) - len(shown)
    if left:
        yield f"The table has {left:,} more rows."
    if "p_value" in frame and frame["p_value"].count() > 1 and "adjust" not in attrs:
        yield "The p-values are unadjusted."


_GROUPED = ("measure", "measure_a")  # the first columns after the group columns


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _unit(frame: pd.DataFrame, name: Any, attrs: Attrs) -> Unit:
    """Return the unit of a column, with enough decimals for the interval."""
    if pd.api.types.is_integer_dtype(frame[name]):
        return Unit(percent=False, decimals=0)
    if name == "expected":
        return Unit(percent=False, decimals=2)
    low, high = _limits(frame, name)
    widths: Any = frame[high] - frame[low] if high in frame else []
    percent = name in (*SHARES, "share", "expected_agreement", "sd_observed", "sd_expected")
    percent |= name in ("difference", "gain") and called(attrs)[1]
    return unit_of(frame[name], widths, percent=percent)


def _limits(columns: Any, name: Any) -> tuple[str, str]:
    """Return the columns with the confidence limits of an estimate, or ""."""
    estimates = [x for x in _ESTIMATES if x in columns]
    for start in (str(name), "ci", "band"):
        if f"{start}_low" in columns and name in estimates[:1]:
            return f"{start}_low", f"{start}_high"
    return "", ""


_ESTIMATES = (
    "average_precision", "area", "value", "gain", "agreement", "precision", "recall", "lift",
    "threshold",
)  # fmt: skip


def _row(row: Row, units: Mapping[Any, Unit], sentence: str | None, attrs: Attrs) -> str:
    """Write a row as a sentence, or as a list of labeled numbers."""
    texts: dict[Any, Any] = {name: value for name, value in row.items() if name not in units}
    for name, unit in units.items():
        whole = isinstance(row[name], int | np.integer)
        texts[name] = f"{row[name]:,}" if whole else unit.value(row[name])
        bin_of = name in ("p_low", "p_high") and "n_pairs" in row
        if math.isnan(row[name]) and name not in _WITH_P:
            texts[name] = _NONE
        elif name in _PLAIN or bin_of or (name == "threshold" and "n_pairs" not in row):
            texts[name] = f"{row[name]:.4g}"
        elif name in _WITH_P:
            texts[name] = p_text(row[name])
        elif str(name).startswith("p_") and name not in ("p_best", "p_stderr"):
            texts[name] = p_cell(row[name])
        elif name in ("difference", "gain"):
            texts[name] = texts[name].replace("%", " points")
        low, high = _limits(row, name)
        if low:
            ends = (float(row[low]), float(row.get(high, math.inf)))
            written = unit.gaps if name == "gain" else unit.limits
            limits = "not available" if math.isnan(ends[0]) else written(*ends)
            texts["least"] = unit.value(ends[0])
            texts["ci"] = f"{level_of(attrs)} interval {limits}"
            texts["band"] = f"simultaneous {level_of(attrs)} band {limits}"
    if "gain" in row and "p_low" in row:
        texts["verdict"] = _bounded(row, alpha_of(attrs))
    texts |= {"noun": called(attrs)[0], "level": level_of(attrs)}
    end = " The list ends inside a tie." if row.get("tied") else ""
    if row.get("_chosen") and row["ci_low_best"] < row["ci_low"]:
        limits = units["precision"].limits(row["ci_low_best"], row["ci_high_best"])
        end = f" After correction for the choice of measure, the interval is {limits}.{end}"
    if "n_accepted" in row and texts.get("threshold") == _NONE:
        return f"No threshold for {row['measure']} reaches the requested value."
    if sentence is not None:
        text = _ONE.sub(r"1 \1", sentence.format_map(_Known(texts))) + end
        for unknown, told in _UNKNOWN:
            text = re.sub(unknown, told, text)
        return text
    who = f"{row['measure']}: " if "measure" in row else ""
    parts = [
        f"{NOUNS.get(x, str(x).replace('_', ' '))} = {texts[x]}"
        + (f" ({texts['ci']})" if _limits(row, x)[0] else "")
        for x in units
        if not str(x).endswith(("_low", "_high"))
    ]
    return f"{who}{join(parts, most=12)}.{end}"


_ONE = re.compile(r"\b1 ((?:judged )?(?:true positive|candidate|gain|judgment|pair|sample))s\b")


def _bounded(row: Row, alpha: float) -> str:
    """Return the conclusion that the bounds on a p-value allow."""
    at = f"significant at the {percent_of(alpha)} level"
    if row["p_low"] == row["p_high"]:
        return f"The gain is {'' if row['p_high'] <= alpha else 'not '}{at}."
    if row["p_high"] <= alpha:
        return f"The gain is {at} in both cases."
    if row["p_low"] > alpha:
        return f"The gain cannot be {at}."
    return f"This number determines whether the gain is {at}."


class _Known(dict[Any, Any]):
    """Provide the numbers in a row. A missing column yields "not available"."""

    def __missing__(self, name: str) -> str:
        return _NONE


_NONE = "not available"
#: text to omit if the estimate is missing
_UNKNOWN = (
    (rf"is estimated at {_NONE}( \([^)]*\))?", "cannot be estimated"),
    (rf"({_NONE}) \(\d[^)]*\)", r"\1"),
    (
        r"The p-value lies between (\S+) and \1, depending on the number of items .* correctly",
        r"The p-value is \1",
    ),
    (rf", {_NONE} times( the chance level| as many as expected by chance \([^)]*\))", ""),
)


def ends_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return all rows, or for long tables the first and last rows for a few measures."""
    if len(frame) <= MOST:
        return frame
    names = known(frame, ("measure", "measure_a", "measure_b", "system_a", "system_b", "metric"))
    if not names:
        return frame.iloc[[0, -1]]
    number = frame.groupby(names, sort=False, observed=True).ngroup()
    ends = frame[~number.duplicated() | ~number.duplicated(keep="last")]
    return ends.iloc[:MOST]
