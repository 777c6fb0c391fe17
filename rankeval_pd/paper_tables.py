"""Format results as a table for a paper, with intervals, marks and a caption."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from rankeval_pd import words
from rankeval_pd.errors import check_attrs, check_count, check_kind, checked_call
from rankeval_pd.stats import BoolArray, rejects
from rankeval_pd.tables import Attrs
from rankeval_pd.words import Tables, numbers, vocabulary
from rankeval_pd.words.numbers import Unit
from rankeval_pd.words.rows import estimate_of

Target = Literal["latex", "markdown"]
UnitIn = Callable[[pd.DataFrame, str], Unit]
_STARS = (0.05, 0.01, 0.001)
_KEYS = ("n", "share", "size", "metric", "p", "alpha")  # additional key columns
_SETS = ("acceptance_precision", "choose_threshold")  # tables with several rates in a row
#: columns with an interval; the first such column in a table is used
_ESTIMATES = "value precision recall area difference gain lift agreement threshold"


class Cell(NamedTuple):
    """Store a cell: the text, the superscript, and whether the text is bold."""

    text: str
    bold: bool = False
    raised: str = ""


class Grid(NamedTuple):
    """Store a table: a header, rows of cells, and the parts of its caption and of its note."""

    header: list[str]
    rows: list[list[Cell]]
    captions: list[str]
    notes: list[str]

    @property
    def said(self) -> dict[str, str]:
        """Return the caption and the note, if there are any."""
        said = {"caption": "".join(self.captions), "note": " ".join(self.notes)}
        return {name: text for name, text in said.items() if text}


class Format(TypedDict, total=False):
    """Options of a table."""

    rows: Literal["groups"] | None
    percent: bool | None
    digits: int | None
    stars: bool
    caption: str | None


@overload
def paper_table(table: Tables, to: None = None, **options: Unpack[Format]) -> pd.DataFrame: ...
@overload
def paper_table(table: Tables, to: Target, **options: Unpack[Format]) -> str: ...


@checked_call
def paper_table(
    table: Tables,
    to: Target | None = None,
    *,
    rows: Literal["groups"] | None = None,
    percent: bool | None = None,
    digits: int | None = None,
    stars: bool = False,
    caption: str | None = None,
) -> pd.DataFrame | str:
    r"""Format the result of a method as a table for a paper.

    Parameters
    ----------
    table : DataFrame, Dataset, or a list or mapping of these
        The result of a method, with or without ``details=True``. Several tables become columns
        side by side, with the names in a mapping as headers. Rows of your own data, as from
        :func:`difference_region`, are no result: format them with pandas, ``rows.to_latex()``.
    to : {None, "latex", "markdown"}
        Output format. None returns a DataFrame of strings, for ``.to_html()`` or ``.to_excel()``.
        LaTeX output needs the package booktabs.
    rows : {None, "groups"}
        Rows of the table: the measures or pairs (default), or the groups in ``by``.
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
        look like "30.4 [26.4, 34.6]". The best of several values in a column is bold. A note
        explains letters and stars. For a DataFrame, ``attrs`` contains the caption and the note.

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
    if digits is not None:
        check_count("digits", digits, 0)
    check_kind("caption", caption, str | None, "text")
    grids, named = [], words.named_tables(table)
    for name, one in named:
        frame, attrs = words.result_frame(one), one.attrs
        check_attrs(attrs)
        if not len(frame):
            raise ValueError("table has no rows. Pass a table with at least one row.")
        unit_in = partial(_cell_unit, attrs=attrs, percent=percent, digits=digits)
        grid = _cell_grid(frame, attrs, unit_in, rows=rows, stars=stars)
        if not name and len(named) > 1:
            name = vocabulary.called(attrs)[0]
        grids.append((name, grid))
    grid = _side_by_side(grids)
    if caption is not None:
        grid = grid._replace(captions=[caption])
    if to is None:
        return _strings(grid)
    return _WRITERS[to](grid)


def _side_by_side(grids: list[tuple[str, Grid]]) -> Grid:
    """Join tables by the names of their rows."""
    if len(grids) == 1 and not grids[0][0]:
        return grids[0][1]
    first = grids[0][1].header[0]
    header, parts = [first], []
    for name, grid in grids:
        if grid.header[0] != first:
            raise ValueError(
                f"table: one has rows for {first!r} and another for {grid.header[0]!r}. Pass"
                " tables with the same kind of rows."
            )
        own = grid.header[1:]
        if name and len(own) == 1:
            own = [name]
        elif name:
            own = [f"{name}, {text}" for text in own]
        header += own
        parts.append({row[0].text: row[1:] for row in grid.rows})
    if len(dict(grids)) < len(grids):
        raise ValueError(
            "table: several tables have the same quantity. Pass a mapping from a header for each"
            " table to the tables."
        )
    rows = []
    for label in dict.fromkeys(label for part in parts for label in part):
        lacking = ([Cell("–")] * (len(grid.header) - 1) for _, grid in grids)
        cells = [part.get(label, empty) for part, empty in zip(parts, lacking, strict=True)]
        rows.append([Cell(label), *itertools.chain(*cells)])
    notes = dict.fromkeys(itertools.chain(*(grid.notes for _, grid in grids)))
    return Grid(header, rows, _captions_together(grids), [*notes])


def _captions_together(grids: list[tuple[str, Grid]]) -> list[str]:
    """Return the captions of tables, with what holds for all tables said once."""
    every = [grid.captions for _, grid in grids]
    if all(parts == every[0] for parts in every):
        return every[0]
    same = [part for part in every[0][1:] if all(part in parts for parts in every)]
    said = []
    for name, grid in grids:
        own = "".join(part for part in grid.captions if part not in same)
        said.append(f"{name}: {own}.")
    if len(same) > 1:
        said.append(f"All columns: {''.join(same).lstrip(',; ')}")
    return [" ".join(said)]


# ---- From a table to a grid of cells


def _cell_grid(
    frame: pd.DataFrame, attrs: Attrs, unit_in: UnitIn, *, rows: str | None, stars: bool
) -> Grid:
    """Return cells with one row per name, pair or group, and one column per key."""
    first = vocabulary.first_of(frame, ("measure", "measure_a", "system", "system_a"))
    estimate = _estimate_of(frame, attrs)
    if not first or not estimate or attrs["method"] in _SETS:
        return _plain_grid(frame, attrs, unit_in)
    names = [first]
    if first.endswith("_a"):
        names.append(f"{first[:-1]}b")
    groups = list(frame.columns[: list(frame.columns).index(first)])
    keys = [*groups, *(x for x in _KEYS if x in frame and x not in groups and x != estimate)]
    keys = [x for x in keys if x in ("n", "metric") or (frame[x] != frame[x].iloc[0]).any()]
    if {"n", "share"} <= {*keys}:  # one of them determines the other
        keys.remove({"enrichment": "n"}.get(attrs["method"], "share"))
    if frame.duplicated([*keys, *names]).any():
        return _plain_grid(frame, attrs, unit_in)
    of_rows = names
    if rows == "groups":
        if not groups:
            raise ValueError("rows='groups' needs a table with groups. Pass by=... to the method.")
        of_rows = groups
        keys = [*(x for x in keys if x not in groups), "_name"]
        frame = frame.assign(_name=_labels(frame[names]))
    p = vocabulary.first_of(frame, vocabulary.P_VALUES)
    if stars and not p:
        raise ValueError(
            "stars=True needs a column 'p_adjusted' or 'p_value'. Pass the"
            " table with details=True, or with a baseline."
        )
    parts: list[tuple[Any, pd.DataFrame]] = [((), frame)]
    if keys:
        by_size = vocabulary.first_of(keys, ("n", "share", "size")) or keys[:0]
        ordered = frame.sort_values(by_size, kind="stable")
        parts = list(ordered.groupby(keys, sort=False, observed=True))
    paired = estimate in ("difference", "gain")
    layout = _Layout(estimate, p, attrs, stars, len(parts) == 1)
    labels = list(dict.fromkeys(_labels(frame[of_rows])))
    header = [_heading(of_rows[0], attrs)]
    if len(of_rows) == 2 and of_rows == names:
        header = ["Comparison"]
    columns: list[list[Cell]] = []
    for values, part in parts:
        where = ", ".join(_key(k, v) for k, v in zip(keys, values, strict=True))
        part = part.set_axis(_labels(part[of_rows])).reindex(labels)
        for name, heading, cells in _columns_of(part, layout, unit_in):
            if not where or (layout.alone and (paired or name != estimate)):
                header.append(heading)
            elif name == estimate:
                header.append(where)
            else:
                header.append(f"{where}, {heading}")
            columns.append(cells)
    rows_of_cells = [list(row) for row in zip(map(Cell, labels), *columns, strict=True)]
    lettered = not stars and "letters" in frame
    cells = [cell for row in rows_of_cells for cell in row]
    shown = any("[" in cell.text for cell in cells)
    unit = unit_in(frame, estimate)
    caption = _caption(frame, estimate, attrs, unit, lettered=lettered, limits=shown)
    notes = _note(attrs, cells, lettered=lettered)
    if not lettered and _has_wider(frame, p, attrs):
        notes.append("An interval that contains 0 was not computed from the test.")
    return Grid(header, rows_of_cells, caption, notes)


def _has_wider(frame: pd.DataFrame, p: str, attrs: Attrs) -> bool:
    """Return whether the interval of a significant difference contains 0."""
    name = vocabulary.first_of(frame, ("difference", "gain"))
    low, high = _interval_columns(frame, name)
    if not p or not name or not low:
        return False
    sure = rejects(frame[p], vocabulary.alpha_of(attrs))
    return bool((sure & (frame[low] <= 0.0) & (frame[high] >= 0.0)).any())


class _Layout(NamedTuple):
    """Store what all columns of a table share."""

    estimate: str
    p: str
    attrs: Attrs
    stars: bool
    alone: bool  #: whether there is only one set of columns


def _columns_of(
    part: pd.DataFrame, layout: _Layout, unit_in: UnitIn
) -> Iterator[tuple[str, str, list[Cell]]]:
    """Return the columns for one set of keys: the estimate, a difference, and a p-value."""
    estimate, p, attrs, stars, alone = layout
    unit = unit_in(part, estimate)
    paired = estimate in ("difference", "gain")
    best: Iterable[bool] = repeat(False)
    if not paired:
        best = _are_best(part[estimate], attrs)
    marks = _marks(part, p, stars=stars or (paired and not alone))
    yield estimate, _heading(estimate, attrs, unit), _cells(part, estimate, unit, best, marks)
    against = "difference" in part and estimate == "value" and "letters" not in part
    if against:  # there is no difference between the baseline and itself
        part["difference"] = part["difference"].where(part.index != str(attrs.get("baseline")))
        heading = _heading("difference", attrs, unit)
        yield "difference", heading, _cells(part, "difference", unit_in(part, "difference"))
    if p and (paired or against) and alone and not stars:
        least = vocabulary.least_p(attrs)
        yield p, "p", [Cell(numbers.p_cell(x, least=least)) for x in part[p]]
    for name in vocabulary.known(part, vocabulary.MARGIN_P):
        yield name, _heading(name, attrs), [Cell(numbers.p_cell(x)) for x in part[name]]


def _estimate_of(frame: pd.DataFrame, attrs: Attrs) -> str:
    """Return the column to show: the quantity in the record, a value or a difference."""
    for name in vocabulary.known(frame, ["value", "difference", "gain", estimate_of(attrs)]):
        marked = _interval_columns(frame, name)[0] or name in ("value", "difference", "gain")
        if marked and pd.api.types.is_float_dtype(frame[name]):
            return name
    return ""


def _are_best(column: pd.Series, attrs: Attrs) -> BoolArray:
    """Return whether each value is better than another; equal values can differ by rounding."""
    values = column.to_numpy(dtype=float)
    extreme = {True: np.fmin, False: np.fmax}[vocabulary.is_lower_better(attrs)]
    best: BoolArray = np.isclose(values, extreme.reduce(values), rtol=1e-12, atol=0.0)
    return best & bool((~best & ~np.isnan(values)).any())


def _labels(names: pd.DataFrame) -> list[str]:
    """Return the label of each row: a name, or a pair of names."""
    return [" vs. ".join(map(str, row)) for row in names.itertuples(index=False)]


def _cell_unit(
    part: pd.DataFrame, name: str, *, attrs: Attrs, percent: bool | None, digits: int | None
) -> Unit:
    """Return the unit of a column, which is percent for proportions and differences."""
    if percent is None:
        percent = name.removesuffix("_low") in vocabulary.IN_PERCENT
        if name == "ci_low":  # of a chosen threshold
            percent = attrs.get("aim") in vocabulary.SHARES
        if name in ("value", "difference", "gain", "score_a", "score_b"):
            percent = vocabulary.called(attrs)[1]
    low = _interval_columns(part, name)[0]
    return numbers.column_unit(part, name, low, percent=percent, digits=digits)


def _interval_columns(frame: pd.DataFrame, name: str) -> tuple[str, str]:
    """Return the names of the interval columns, or "" without an interval."""
    starts = [name, vocabulary.RATES.get(name, name)]
    if name not in vocabulary.RATES and not (name == "difference" and "value" in frame):
        starts += ["ci", "band"]
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
        return part["letters"].fillna("").tolist()
    return [""] * len(part)


def _plain_grid(frame: pd.DataFrame, attrs: Attrs, unit_in: UnitIn) -> Grid:
    """Return the columns, with each interval in the same cell as its estimate."""
    columns, header = [], []
    estimates = [*vocabulary.known(frame, _ESTIMATES.split()), *vocabulary.RATES]
    limits = {name: _interval_columns(frame, name) for name in estimates if name in frame}
    taken: set[str] = set()
    for estimate, ends in limits.items():
        if ends[0] in taken:  # the first estimate has the interval
            limits[estimate] = "", ""
        taken.update(filter(None, ends))
    for name in frame:
        column = frame[name]
        if name in taken:
            continue
        unit = None
        exact = name == "threshold" and not any(limits["threshold"])  # it decides what is accepted
        if exact or not pd.api.types.is_float_dtype(column):
            columns.append([Cell(_key(None, x)) for x in column])
        elif str(name).startswith("p_") or name in ("p", "alpha"):
            columns.append([Cell(numbers.p_cell(x)) for x in column])
        else:
            unit = unit_in(frame, str(name))
            shown = frame[[name, *filter(None, limits.get(str(name), ()))]]
            columns.append(_cells(shown, str(name), unit))
        header.append(_heading(name, attrs, unit))
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Grid(
        header, rows, _caption(frame, None, attrs, None, lettered=False, limits=len(taken) // 2), []
    )


# ---- Headings, caption, note


def _heading(name: Hashable, attrs: Attrs, unit: Unit | None = None) -> str:
    text = vocabulary.HEADINGS.get(str(name), str(name).replace("_", " "))
    if name == "measure":
        text = vocabulary.noun_of(attrs)
    if name in ("value", "area"):
        text = vocabulary.called(attrs)[0].removesuffix(" over items")  # as in the caption
    if unit is None or not unit.percent:
        return text
    if name in ("difference", "gain", *vocabulary.SPREADS):
        return f"{text} (points)"
    return f"{text} (%)"


def _key(name: Hashable | None, value: Any) -> str:
    """Return a value as text, with the column's name before a number."""
    if name == "_name":
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        text = f"{value:,}"
    elif isinstance(value, float | np.floating):
        text = f"{value:.4g}".replace("-", "−").replace("nan", "–")
    else:
        return str(value)
    if name is None:
        return text
    return f"{name} = {text}"


#: what a caption says after the quantity, if it is known
_PARTS = {
    "n_items": " on {n_items:,} items",
    "n_queries": " on {n_queries:,} queries",
    "n_queries_low": " (at least {n_queries_low:,} for each metric)",
    "n_items_low": " (at least {n_items_low:,} for each {noun})",
    "limits": ", with {limits}",
    "candidates": "; {candidates:,} candidates{dropped}",
    "over": "; {over}",
    "combined": "; groups of {combined} combined",
    "clusters": "; clustered by {clusters}",
    "n_groups": " ({n_groups:,} clusters)",
    "n_levels": " ({n_levels})",
    "n_test_sets": "; {n_test_sets:,} random test sets of {size:,} items",
    "signature": "; sacrebleu signature {signature}",
    "seeds": "; several seeds ({seeds})",
    "tests": "; tests {tests}",
    "within": "; margin of {within}",
    "drawn": "; {drawn}",
}


def _caption(
    frame: pd.DataFrame,
    estimate: str | None,
    attrs: Attrs,
    unit: Unit | None,
    *,
    lettered: bool,
    limits: int,
) -> list[str]:
    """Return the parts of a caption: the quantity and sizes, the items, intervals and tests.

    ``limits`` is the number of columns with intervals, of which the record names one kind.
    """
    aim = vocabulary.called({"quantity": attrs.get("aim")})[0]
    title = vocabulary.TITLES.get(attrs["method"], estimate or attrs["method"])
    noun = title.replace("_", " ").format_map({**attrs, "aim": aim})
    gaps = estimate in ("difference", "gain")
    if estimate in ("value", "difference", "gain", estimate_of(attrs)):
        noun = vocabulary.called(attrs)[0].removesuffix(" over items")  # their number follows
        if attrs["method"] == "per_query":
            noun = "metrics of each query"
        elif "metric" in frame:
            noun = f"mean {numbers.join(frame['metric'].unique(), noun='metrics')}"
        if gaps and "baseline" in attrs:
            noun = f"difference from {attrs['baseline']} in {noun}"
        elif gaps:
            noun = f"difference in {noun}"
        if attrs.get("test") == "wilcoxon":
            noun = noun.replace("difference in mean", "difference in")
            noun = f"Hodges–Lehmann estimate of the {noun}"
    text = noun[0].upper() + noun[1:]
    if unit is not None and unit.percent:
        text += {True: " (points)", False: " (%)"}[gaps]
    text += numbers.at_sizes(frame)
    told = {
        **attrs,
        "noun": vocabulary.noun_of(attrs),
        "clusters": vocabulary.listed_of(attrs, "groups"),
        "combined": vocabulary.listed_of(attrs, "by") * bool(attrs.get("combine")),
        "over": vocabulary.over_of(attrs),
        "drawn": vocabulary.drawn_of(attrs),
    }
    if vocabulary.known(frame, vocabulary.MARGIN_P):
        told["within"] = vocabulary.margin_of(attrs, percent=bool(unit and unit.percent))
    if attrs.get("quantity") == "area" and "n_candidates" in attrs:
        told["candidates"] = attrs["n_candidates"]
        dropped = attrs.get("missing") == "drop"
        told["dropped"] = " (those without a score omitted)" * dropped
    if limits:
        against = "difference" in frame and not lettered
        kind = vocabulary.intervals_of(attrs) * (limits == 1 or attrs["method"] in _SETS)
        words = [vocabulary.level_of(attrs), *kind.split(), "intervals"]
        words += vocabulary.target_of(attrs).split() * (limits == 1)
        named = vocabulary.with_youden(" ".join(words), frame, attrs)
        told["limits"] = named + " of the differences" * (against and not gaps)
        if vocabulary.are_bounds(attrs):
            told["limits"] = "the limits for any labels of the unjudged candidates"
    tested = lettered or bool(vocabulary.known(frame, ("p_value", "p_adjusted")))
    if tested and len(frame) > 1 and attrs.get("family") != "1 pair":
        told["tests"] = vocabulary.adjustment(attrs) or "unadjusted"
    return [text, *(said.format_map(told) for x, said in _PARTS.items() if told.get(x)), "."]


def _note(attrs: Attrs, cells: list[Cell], *, lettered: bool) -> list[str]:
    """Return the sentences that explain bold type, letters and stars."""
    said = []
    if any(cell.bold for cell in cells):
        said.append(f"Bold marks the {vocabulary.extreme_of(attrs)} value.")
    if lettered:
        said.append(
            "Values in a column that share a letter do not differ significantly at the"
            f" {numbers.percent_of(vocabulary.alpha_of(attrs))} level."
        )
    if any(cell.raised.startswith("*") for cell in cells):
        text = (
            f"*, **, ***: {'adjusted ' * bool(vocabulary.adjustment(attrs))}p ≤ 0.05, 0.01, 0.001"
        )
        if "baseline" in attrs:
            text += f" for the difference from {attrs['baseline']}"
        how = vocabulary.TESTS.get(str(attrs.get("test")), "")
        said.append(f"{text}{f' ({how})' * bool(how)}.")
    return said


# ---- Writers


def _strings(grid: Grid) -> pd.DataFrame:
    rows = [[f"{cell.text} {cell.raised}".rstrip() for cell in row] for row in grid.rows]
    result = pd.DataFrame(rows, columns=grid.header)
    if len({*grid.header}) == len(grid.header):
        result = result.set_index(grid.header[0])
    result.attrs.update(grid.said)
    return result


_LATEX = str.maketrans(
    {
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
        "|": "$|$",
        "×": r"$\times$",
    }
)


def _as_latex(text: str) -> str:
    return text.translate(_LATEX)


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
    if "caption" in grid.said:
        said = rf"\caption{{{_as_latex(' '.join(grid.said.values()))}}}"
        lines = [r"\begin{table}", r"\centering", said, *lines, r"\end{table}"]
    return "\n".join(lines)


def _as_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


def _markdown(grid: Grid) -> str:
    marks = _as_markdown, "**{}**", "<sup>{}</sup>"
    rows = [list(map(_as_markdown, grid.header)), ["---", *["---:"] * (len(grid.header) - 1)]]
    rows += [[_marked(cell, *marks) for cell in row] for row in grid.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if "caption" in grid.said:
        lines = [_as_markdown(" ".join(grid.said.values())), "", *lines]
    return "\n".join(lines)


_WRITERS = {"latex": _latex, "markdown": _markdown}
