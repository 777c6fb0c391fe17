"""Format results as a table for a paper, with intervals, marks and a caption."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import words
from rankeval_pd.errors import check_attrs, check_count, check_flag, checked_call
from rankeval_pd.stats import BoolArray
from rankeval_pd.words import Attrs, Unit

Target = Literal["latex", "markdown"]
UnitIn = Callable[[pd.DataFrame, str], Unit]
_STARS = (0.05, 0.01, 0.001)
_KEYS = ("n", "share", "size", "metric", "p", "alpha", "threshold")  # additional key columns
#: columns with an interval; the first such column in a table is used
_ESTIMATES = "value precision recall area difference gain lift agreement threshold"


class Cell(NamedTuple):
    """Store a cell: the text, the superscript, and whether the text is bold."""

    text: str
    bold: bool = False
    raised: str = ""


class Grid(NamedTuple):
    """Store a table: a header, rows of cells, a caption and a note."""

    header: list[str]
    rows: list[list[Cell]]
    caption: str
    note: str


class Format(TypedDict, total=False):
    """Options of a table."""

    percent: bool | None
    digits: int | None
    stars: bool
    caption: str | None


@overload
def paper_table(
    table: pd.DataFrame | xr.Dataset, to: None = None, **options: Unpack[Format]
) -> pd.DataFrame: ...
@overload
def paper_table(table: pd.DataFrame | xr.Dataset, to: Target, **options: Unpack[Format]) -> str: ...


@checked_call
def paper_table(
    table: pd.DataFrame | xr.Dataset,
    to: Target | None = None,
    *,
    percent: bool | None = None,
    digits: int | None = None,
    stars: bool = False,
    caption: str | None = None,
) -> pd.DataFrame | str:
    r"""Format the result of a method as a table for a paper.

    Parameters
    ----------
    table : DataFrame or Dataset
        The result of any method, with or without ``details=True``.
    to : {None, "latex", "markdown"}
        Output format. None returns a DataFrame of strings, for ``.to_html()`` or ``.to_excel()``.
        LaTeX output needs the package booktabs.
    percent : bool, optional
        Whether to show values in percent. By default, only precision, recall and accuracy are shown
        in percent.
    digits : int, optional
        Number of decimals. By default, the number depends on the width of the intervals in each
        column, and is limited to three significant digits.
    stars : bool
        Whether to show p-values as stars instead of letters.
    caption : str, optional
        Caption of the table. The default is one sentence with the quantity, the intervals, the test
        and the family of tests. Pass "" for a table without a caption.

    Returns
    -------
    DataFrame or str
        Rows are measures, systems, runs or pairs; columns are list sizes, metrics and groups. Cells
        look like "30.4 [26.4, 34.6]". The best value in each column is bold. A note explains
        letters and stars. For a DataFrame, ``attrs`` contains the caption and the note.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> table = df.rankeval.summary([50, 100])
    >>> rankeval_pd.paper_table(table)
                          n = 50              n = 100
    measure
    good     64.0 [45.8, 79.7] a  49.0 [36.0, 62.1] a
    fair     40.0 [24.5, 57.1] b  32.0 [21.7, 43.7] b
    >>> print(rankeval_pd.paper_table(table, "markdown", caption=""))
    | measure | n = 50 | n = 100 |
    | --- | ---: | ---: |
    | good | **64.0 \[45.8, 79.7\]**<sup>a</sup> | **49.0 \[36.0, 62.1\]**<sup>a</sup> |
    | fair | 40.0 \[24.5, 57.1\]<sup>b</sup> | 32.0 \[21.7, 43.7\]<sup>b</sup> |
    """
    check_flag("percent", percent, none=True)
    check_flag("stars", stars)
    if digits is not None:
        check_count("digits", digits, 0)
    frame = words.result_frame(table)
    attrs = table.attrs
    check_attrs(attrs)
    if not len(frame):
        raise ValueError("table has no rows. Pass a table with at least one row.")
    unit_in = partial(_cell_unit, attrs=attrs, percent=percent, digits=digits)
    grid = _cell_grid(frame, attrs, unit_in, stars=stars)
    if caption is not None:
        grid = grid._replace(caption=caption)
    if to is None:
        return _strings(grid)
    return _WRITERS[to](grid)


# ---- From a table to a grid of cells


def _cell_grid(frame: pd.DataFrame, attrs: Attrs, unit_in: UnitIn, *, stars: bool) -> Grid:
    """Return cells with one row per name or pair, and one column per key."""
    first = words.first_of(frame, ("measure", "measure_a", "system", "system_a"))
    estimate = _estimate_of(frame)
    if not first or not estimate:
        return _plain_grid(frame, attrs, unit_in)
    paired = first.endswith("_a")
    names = [first]
    header = [_heading(first, attrs)]
    if paired:
        names = [first, f"{first[:-1]}b"]
        header = ["Comparison"]
    groups = list(frame.columns[: list(frame.columns).index(first)])
    keys = [*groups, *(x for x in _KEYS if x in frame and x not in groups and x != estimate)]
    keys = [x for x in keys if x in ("n", "metric") or (frame[x] != frame[x].iloc[0]).any()]
    keys = [x for x in keys if x != "n" or "share" not in keys]
    if frame.duplicated([*keys, *names]).any():
        return _plain_grid(frame, attrs, unit_in)
    p = words.first_of(frame, words.P_VALUES)
    if stars and not p:
        raise ValueError(
            "stars=True needs a column 'p_adjusted' or 'p_value'. Pass the"
            " table with details=True, or with a baseline."
        )
    parts: list[tuple[Any, pd.DataFrame]] = [((), frame)]
    if keys:
        parts = list(frame.groupby(keys, sort=False, observed=True))
    one = len(parts) == 1
    against_base = "difference" in frame and estimate == "value" and "letters" not in frame
    if against_base and not stars and not one:
        estimate = "difference"
    labels = _labels(frame[names].drop_duplicates())
    columns: list[list[Cell]] = []
    unit = None
    part = frame
    marks = _marks(frame, p, stars=stars)
    for values, part in parts:
        part = part.set_axis(_labels(part[names])).reindex(labels)
        if against_base:  # there is no difference between the baseline and itself
            part["difference"] = part["difference"].where(part.index != str(attrs.get("baseline")))
        unit = unit_in(part, estimate)
        best: Iterable[bool] = repeat(False)
        if not paired and estimate != "difference":
            best = _are_best(part[estimate], attrs)
        marks = _marks(part, p, stars=stars or (paired and not one))
        columns.append(_cells(part, estimate, unit, best, marks))
        header.append(", ".join(_key(k, v) for k, v in zip(keys, values, strict=True)))
    if one and (paired or not keys):
        header[-1] = _heading(estimate, attrs, unit)
    if one and against_base and unit:
        columns.append(_cells(part, "difference", unit, marks=marks))
        header.append(_heading("difference", attrs, unit))
    if one and p and (paired or against_base) and not stars:
        columns.append([Cell(words.p_cell(x, least=words.least_p(attrs))) for x in part[p]])
        header.append("p")
    rows = [list(row) for row in zip(map(Cell, labels), *columns, strict=True)]
    lettered = not stars and "letters" in frame
    cells = [cell for row in rows for cell in row]
    shown = any("[" in cell.text for cell in cells)
    caption = _caption(frame, estimate, attrs, unit, lettered=lettered, limits=shown)
    return Grid(header, rows, caption, _note(attrs, cells, lettered=lettered))


def _estimate_of(frame: pd.DataFrame) -> str:
    """Return the column to show: the first with an interval, or with a value or a difference."""
    for name in words.known(frame, _ESTIMATES.split()):
        marked = _interval_columns(frame, name)[0] or name in ("value", "difference", "gain")
        if marked and pd.api.types.is_float_dtype(frame[name]):
            return name
    return ""


def _are_best(column: pd.Series, attrs: Attrs) -> BoolArray:
    """Return whether each value is the best one; equal values can differ by rounding."""
    values = column.to_numpy(dtype=float)
    extreme = {True: np.fmin, False: np.fmax}[words.is_lower_better(attrs)]
    best: BoolArray = np.isclose(values, extreme.reduce(values), rtol=1e-12, atol=0.0)
    return best


def _labels(names: pd.DataFrame) -> list[str]:
    """Return the label of each row: a name, or a pair of names."""
    return [" vs. ".join(map(str, row)) for row in names.itertuples(index=False)]


def _cell_unit(
    part: pd.DataFrame, name: str, *, attrs: Attrs, percent: bool | None, digits: int | None
) -> Unit:
    """Return the unit of a column, which is percent for proportions and differences."""
    if percent is None:
        percent = name in words.SHARES
        if name in ("value", "difference", "gain", "score_a", "score_b"):
            percent = words.called(attrs)[1]
    low = _interval_columns(part, name)[0]
    return words.column_unit(part, name, low, percent=percent, digits=digits)


def _interval_columns(frame: pd.DataFrame, name: str) -> tuple[str, str]:
    """Return the names of the interval columns, or "" without an interval."""
    starts = [name, "ci", "band"]
    if name == "difference" and "value" in frame:
        starts = [name]
    for start in starts:
        if f"{start}_low" in frame and f"{start}_high" in frame:
            return f"{start}_low", f"{start}_high"
    return "", ""


def _cells(
    part: pd.DataFrame,
    name: str,
    unit: Unit,
    best: Iterable[bool] = repeat(False),
    marks: Iterable[str] = repeat(""),
) -> list[Cell]:
    """Return values with their intervals."""
    low, high = _interval_columns(part, name)
    cells = []
    for row, is_best, mark in zip(part.to_dict("records"), best, marks, strict=False):
        if pd.isna(row[name]):
            cells.append(Cell("–"))
            continue
        text = unit.number(row[name])
        if low and pd.notna(row[low]):
            left = {-np.inf: "("}.get(row[low], "[")
            right = {np.inf: ")"}.get(row[high], "]")
            text += f" {left}{unit.number(row[low])}, {unit.number(row[high])}{right}"
        cells.append(Cell(text, bool(is_best), mark))
    return cells


def _marks(part: pd.DataFrame, p: str, *, stars: bool) -> list[str]:
    """Return the letters or stars for the cells."""
    if stars and p:
        return ["*" * sum(x <= level for level in _STARS) for x in part[p]]
    if "letters" in part:
        return [x if isinstance(x, str) else "" for x in part["letters"]]
    return [""] * len(part)


def _plain_grid(frame: pd.DataFrame, attrs: Attrs, unit_in: UnitIn) -> Grid:
    """Return the columns, with each interval in the same cell as its estimate."""
    columns, header = [], []
    estimates = _ESTIMATES.split()
    taken = False
    limits = {x for name in words.known(frame, estimates) for x in _interval_columns(frame, name)}
    for name in frame:
        column = frame[name]
        if name in limits:
            continue
        header.append(_heading(name, attrs))
        if not pd.api.types.is_float_dtype(column):
            columns.append([Cell(_key(None, x)) for x in column])
        elif str(name).startswith("p_") or name in ("p", "alpha"):
            columns.append([Cell(words.p_cell(x)) for x in column])
        else:
            unit = unit_in(frame, str(name))
            shown = frame[[name]]
            if name in estimates and not taken:
                shown = frame
                taken = bool(_interval_columns(frame, str(name))[0])
            columns.append(_cells(shown, str(name), unit))
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Grid(header, rows, _caption(frame, None, attrs, None, lettered=False, limits=False), "")


# ---- Headings, caption, note

_HEADINGS = {
    "ci": "",
    "measure_a": "A",
    "measure_b": "B",
    "system_a": "A",
    "system_b": "B",
    "tp": "true positives",
    "p_value": "p",
    "p_adjusted": "adjusted p",
    "tpr": "TPR",
    "fpr": "FPR",
}


def _heading(name: Hashable, attrs: Attrs, unit: Unit | None = None) -> str:
    text = _HEADINGS.get(str(name), str(name).replace("_", " "))
    if name == "value":
        text = words.called(attrs)[0]
    if unit is None or not unit.percent:
        return text
    if name in ("difference", "gain"):
        return f"{text} (points)"
    return f"{text} (%)"


def _key(name: Hashable | None, value: Any) -> str:
    """Return a value as text, with the column's name before a number."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        text = f"{value:,}"
    elif isinstance(value, float | np.floating):
        text = f"{value:.4g}"
    else:
        return str(value)
    if name is None:
        return text
    return f"{name} = {text}"


def _caption(
    frame: pd.DataFrame,
    estimate: str | None,
    attrs: Attrs,
    unit: Unit | None,
    *,
    lettered: bool,
    limits: bool,
) -> str:
    """Return a caption with the quantity, sizes, intervals and test."""
    noun = str(estimate or attrs.get("method", "results")).replace("_", " ")
    gaps = estimate in ("difference", "gain")
    if estimate in ("value", "difference", "gain", "area"):
        noun = "mean metrics" if "metric" in frame else words.called(attrs)[0]
        if gaps and "baseline" in attrs:
            noun = f"difference from {attrs['baseline']} in {noun}"
        elif gaps:
            noun = f"difference in {noun}"
    text = noun[0].upper() + noun[1:]
    if unit is not None and unit.percent:
        text += {True: " (points)", False: " (%)"}[gaps]
    if "n" in frame:
        text += f" at n = {words.sizes_text(frame['n'].tolist())}"
    for name, items in (("n_items", "items"), ("n_queries", "queries")):
        if name in attrs:
            text += f" on {attrs[name]:,} {items}"
    if limits:
        against = "difference" in frame and not lettered
        kind = words.intervals_of(attrs, gaps=gaps or against)
        side = "one-sided " * (attrs.get("alternative", "two-sided") != "two-sided")
        text += f", with {side}{words.level_of(attrs)} {kind} intervals".replace("  ", " ")
        text += " of the differences" * (against and not gaps)
    tested = lettered or bool(words.known(frame, ("p_value", "p_adjusted")))
    if tested and len(frame) > 1 and attrs.get("family") != "1 pair":
        text += f"; tests {words.adjustment(attrs) or 'unadjusted'}"
    return f"{text}."


def _note(attrs: Attrs, cells: list[Cell], *, lettered: bool) -> str:
    """Return the note that explains bold type, letters and stars."""
    said = []
    if any(cell.bold for cell in cells):
        said.append(f"Bold marks the {words.extreme_of(attrs)} value.")
    if lettered:
        said.append(
            "Values in a column that share a letter do not differ significantly at the"
            f" {words.percent_of(words.alpha_of(attrs))} level."
        )
    if any(cell.raised.startswith("*") for cell in cells):
        text = f"*, **, ***: {'adjusted ' * bool(words.adjustment(attrs))}p ≤ 0.05, 0.01, 0.001"
        if "baseline" in attrs:
            text += f", against {attrs['baseline']}"
        if words.least_p(attrs):
            text += f" ({attrs['n_resamples']:,} draws)"
        said.append(f"{text}.")
    return " ".join(said)


# ---- Writers


def _strings(grid: Grid) -> pd.DataFrame:
    rows = [[f"{cell.text} {cell.raised}".rstrip() for cell in row] for row in grid.rows]
    result = pd.DataFrame(rows, columns=grid.header)
    if len({*grid.header}) == len(grid.header):
        result = result.set_index(grid.header[0])
    result.attrs.update({k: getattr(grid, k) for k in ("caption", "note") if getattr(grid, k)})
    return result


_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "∞": r"$\infty$",
    "≤": r"$\leq$",
    "<": "$<$",
    ">": "$>$",
    "–": "--",
}


def _as_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _marked(cell: Cell, escape: Callable[[str], str], bold: str, raised: str) -> str:
    """Return the text of a cell, with its bold type and superscript."""
    text = escape(cell.text)
    if cell.bold:
        text = bold.format(text)
    if cell.raised:
        text += raised.format(escape(cell.raised))
    return text


def _latex(grid: Grid) -> str:
    marks = _as_latex, r"\textbf{{{}}}", r"\textsuperscript{{{}}}"
    rows = [" & ".join(_marked(cell, *marks) for cell in row) + r" \\" for row in grid.rows]
    header = " & ".join(map(_as_latex, grid.header)) + r" \\"
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(grid.header) - 1)}}}", r"\toprule", header]
    lines += [r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    if grid.caption:
        said = rf"\caption{{{_as_latex(f'{grid.caption} {grid.note}'.strip())}}}"
        lines = [r"\begin{table}", r"\centering", said, *lines, r"\end{table}"]
    return "\n".join(lines)


def _as_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


def _markdown(grid: Grid) -> str:
    marks = _as_markdown, "**{}**", "<sup>{}</sup>"
    rows = [list(map(_as_markdown, grid.header)), ["---", *["---:"] * (len(grid.header) - 1)]]
    rows += [[_marked(cell, *marks) for cell in row] for row in grid.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if grid.caption:
        lines = [_as_markdown(f"{grid.caption} {grid.note}".strip()), "", *lines]
    return "\n".join(lines)


_WRITERS = {"latex": _latex, "markdown": _markdown}
