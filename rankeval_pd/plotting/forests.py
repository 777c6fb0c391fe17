"""Draw intervals in rows, matrices of pairs, systems and samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.canvas import (
    LINE,
    THIN,
    Canvas,
    interval_header,
    interval_kind,
    pairs_kind,
    tell,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Ink,
    compact,
    contrast,
    cycle,
    digits_for,
    font,
    in_percent,
    in_points,
    interval,
    mix,
    number,
    panel_size,
    plainly,
    set_chosen_ticks,
    set_ticks,
    settle,
    shortened,
    small,
    wide,
)
from rankeval_pd.plotting.panels import (
    MOST,
    by_n,
    given_panels,
    looks,
    one_of,
    picture,
    table_of,
    tidy,
)
from rankeval_pd.stats.families import letters as letters_of
from rankeval_pd.stats.families import rejects
from rankeval_pd.stats.items import WRITTEN
from rankeval_pd.words import alpha_of, letter_sets, p_cell, percent_of

# -------------------------------------------------------------------------------------------------
# Forest plots, with a dot, an interval, numbers and tie bars in each row.

_ROW, _DENSE = 0.24, 0.155  # row height in inches: default, and for more than 24 rows
_MANY = 24
_MOST = 60  # rows on a page; if there are more, the worst share a row
_THIN_ROW = 7.6  # row height in points below which the last rows are combined
_LANE = 6.0  # distance in points between two tie bars
_LANES = 8  # largest number of bars side by side; more ties are written as letters


class Forest(NamedTuple):
    """The contents of a forest plot, with rows from best to worst."""

    names: Sequence[Any]
    value: Any  #: (row,)
    low: Any  #: (row,); NaN without an interval
    high: Any
    accent: Any  #: (row,): whether the row is highlighted
    label: str  #: axis label
    header: str  #: header of the value column
    ticks: Any = plainly
    scale: float = 1.0  #: 100 for percent and percentage points
    unit: str = ""
    signed: bool = False
    columns: Sequence[tuple[str, list[str]]] = ()  #: additional text columns
    letters: Sequence[str] = ()
    references: Mapping[float, str] = {}
    level: float | None = None


def draw_forest(canvas: Canvas, forest: Forest) -> None:
    """Draw a dot and an interval for each name, with numbers and tie bars on the right.

    If there is not enough room, only the first and the highlighted rows are drawn, and the
    remaining values are ticks in a single row.
    """
    forest, rest = _folded(canvas, forest)
    ax, look, count = canvas.ax, canvas.look, len(forest.names)
    y, out = np.arange(count), Ink.of(canvas.ax, outside=True)
    accent = np.asarray(forest.accent, dtype=bool)
    if look.highlighted:
        accent = np.array([name in look.highlighted for name in forest.names], dtype=bool)
    shades = {True: canvas.ink.accent, False: canvas.ink.plain}
    colors = [shades[x] for x in accent]
    if look.colors is not None:
        colors = [look.color(ax, name) for name in forest.names]
    ax.set_yscale("linear")  # a row is not a number
    for at, name in forest.references.items():
        canvas.upright(at)
        ax.annotate(
            name,
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            ha="center",
            textcoords="offset points",
            fontsize=font(ax, "note"),
            color=out.note,
        )
    value, low, high = (np.asarray(x, dtype=float) for x in (forest.value, forest.low, forest.high))
    known = np.isfinite(low + high)
    if known.any():
        bars = {"color": [c for c, k in zip(colors, known, strict=True) if k], "linewidth": 1.4}
        ax.hlines(y[known], low[known], high[known], **look.band(None, **bars, zorder=2))
    size, letters = 22, font(ax, "name")
    if count > _MANY:
        size, letters = 9, LEAST
    elif small(ax):
        size = 14
    dots = look.mark(None, color=colors, markersize=size, zorder=3, linewidth=0)
    dots["s"] = dots.pop("markersize")
    ax.scatter(value, y, **dots)
    if rest.size:
        muted = {"color": canvas.ink.reference, "markersize": 4, "zorder": 3, "label": "_more"}
        ax.plot(rest, np.full(rest.size, count), "|", **muted)
        canvas.tell(f"Ticks in the last row: the values of {rest.size:,} more rows.")
    ax.set_ylim(count + (rest.size > 0) - 0.4, -0.6)
    left = _write_row_names(canvas, forest.names, accent, letters, rest.size)
    canvas.frame(xlabel=forest.label)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=4, labelsize=letters)
    set_ticks(ax.xaxis, forest.ticks, 5.0)
    canvas.reserve_top()
    _Columns(canvas, letters, left).write(forest)


def _folded(canvas: Canvas, forest: Forest) -> tuple[Forest, Any]:
    """Return the rows that fit, and the values of the remaining rows."""
    room = int((panel_size(canvas.ax)[1] - 48.0) / _THIN_ROW)
    count, most = len(forest.names), max(3, min(_MOST, room))
    if count <= most:
        return forest, np.empty(0)
    marked = [k for k, x in enumerate(forest.names) if x in canvas.look.highlighted][: most - 1]
    best = [k for k in range(count) if k not in marked][: most - 1 - len(marked)]
    kept = sorted([*best, *marked])
    rows: dict[str, Any] = {
        name: np.asarray(x)[kept]
        for name in ("value", "low", "high", "accent")
        if len(x := getattr(forest, name))
    }
    rows["names"] = [forest.names[k] for k in kept]
    rows["letters"] = [forest.letters[k] for k in kept if forest.letters]
    columns = [(title, [texts[k] for k in kept]) for title, texts in forest.columns]
    rest = np.delete(np.asarray(forest.value, dtype=float), kept)
    return forest._replace(**rows, columns=columns), rest


def _write_row_names(
    canvas: Canvas, names: Sequence[Any], accent: Any, size: float, more: int
) -> float:
    """Write the row names; return the width of the names."""
    ax, out = canvas.ax, Ink.of(canvas.ax, outside=True)
    room = 0.28 * panel_size(ax)[0]
    if ax.figure.get_layout_engine() is None:  # the layout reserves no space on the left
        room = min(room, ax.bbox.x0 * 72.0 / ax.figure.dpi - 8.0)
    texts = [shortened(canvas.text(name), size, room) for name in names]
    shades = {True: out.text(out.accent), False: out.fg}
    colors = [shades[bool(x)] for x in accent]
    if more:
        texts, colors = [*texts, f"{more:,} more"], [*colors, out.note]
    ax.set_yticks(range(len(texts)), texts)
    for tick, color in zip(ax.get_yticklabels(), colors, strict=True):
        tick.set_color(color)
    return max((wide(text, size) for text in texts), default=0.0) + 4.0


class _Columns:
    """Columns of text and bars to the right of the rows, with headers."""

    def __init__(self, canvas: Canvas, size: float, left: float) -> None:
        self.canvas, self.ax, self.size = canvas, canvas.ax, size
        self.ink = Ink.of(canvas.ax, outside=True)
        self.at = 8.0
        figure, width = canvas.ax.figure, panel_size(canvas.ax)[0]
        self.room = width - left - max(0.30 * width, 60.0) - 14.0
        if figure.get_layout_engine() is None:  # the layout reserves no space
            self.room = (figure.bbox.x1 - canvas.ax.bbox.x1) * 72.0 / figure.dpi

    def write(self, forest: Forest) -> None:
        """Write the columns that fit: first value, rank and ties, then the interval."""
        lanes, columns = _lanes(forest.letters), list(forest.columns)
        if len(lanes) > _LANES:
            lanes, columns = [], [*columns, ("tied", _letter_runs(forest.letters))]
        tied = _LANE * max((k for k, _ in lanes), default=0) + 12.0
        if lanes and tied <= self.room:
            self.room -= tied
        else:
            lanes = []
        value, limits = _values_and_limits(forest)
        wanted = [(forest.header, value), *columns, (interval_header(forest.level), limits)]
        kept = []
        for title, texts in wanted:  # the interval is the first column to be omitted
            needed = self._width(title, texts) + 10.0
            if texts and needed <= self.room:
                kept.append((title, texts))
                self.room -= needed
        if any(title == "tied" for title, _ in kept):
            self.canvas.tell("Rows that share a letter do not differ significantly.")
        elif forest.letters and not lanes and len({*forest.letters}) < len(forest.letters):
            self.canvas.tell(
                "The 'letters' column of the table shows which rows do not differ significantly."
            )
        if kept and kept[-1][1] is limits:
            kept.insert(1, kept.pop())
        for title, texts in kept:
            color = self.ink.fg
            if texts is limits:
                color = self.ink.note
            self._add(title, texts, color)
        if lanes:
            self._bars(lanes)

    def _width(self, title: str, texts: list[str]) -> float:
        return max([wide(title, max(LEAST, self.size - 1.0)), *(wide(x, self.size) for x in texts)])

    def _add(self, title: str, texts: list[str], color: Any) -> None:
        self.at += self._width(title, texts)
        for k, text in enumerate(texts):
            self._write(text, k, "data", color, ha="right", va="center_baseline")
        self._head(title, "right")
        self.at += 10.0

    def _head(self, title: str, ha: str) -> None:
        size = max(LEAST, self.size - 1.0)
        self._write(
            title, 1, "axes fraction", self.ink.note, up=3, ha=ha, va="bottom", fontsize=size
        )

    def _write(
        self, text: str, y: float, unit: str, color: Any, *, up: float = 0.0, **look: Any
    ) -> None:
        self.ax.annotate(
            text,
            (1, y),
            xycoords=("axes fraction", unit),
            xytext=(self.at, up),
            color=color,
            textcoords="offset points",
            annotation_clip=unit == "data",
            **{"fontsize": self.size, **look},
        )

    def _bars(self, lanes: list[tuple[int, list[int]]]) -> None:
        """Draw a vertical bar for each letter, with dots if there are gaps between its rows."""
        from matplotlib.transforms import ScaledTranslation, blended_transform_factory

        base = blended_transform_factory(self.ax.transAxes, self.ax.transData)
        gaps = False
        for lane, rows in lanes:
            right = (self.at + 3.0 + _LANE * lane) / 72.0
            shift = ScaledTranslation(right, 0, self.ax.figure.dpi_scale_trans)
            look: dict[str, Any] = {
                "transform": base + shift,
                "clip_on": False,
                "color": self.ink.fg,
                "label": "_tied",
                "scalex": False,
                "scaley": False,
            }
            ends = [rows[0] - 0.28, rows[-1] + 0.28]
            self.ax.plot([1, 1], ends, linewidth=1.2, solid_capstyle="butt", **look)
            if rows != list(range(rows[0], rows[-1] + 1)):
                gaps = True
                self.ax.plot([1] * len(rows), rows, "o", markersize=2.6, **look)
        self._head("tied", "left")
        dots = "; a bar with dots connects only the rows with a dot" * gaps
        self.canvas.tell(f"Bars on the right connect rows that do not differ significantly{dots}.")


def _values_and_limits(forest: Forest) -> tuple[list[str], list[str]]:
    """Return values and intervals as text with the same number of decimals."""
    value, low, high = (
        forest.scale * np.asarray(x, dtype=float) for x in (forest.value, forest.low, forest.high)
    )
    widths, known = (x[np.isfinite(x)] for x in (high - low, value))
    typical = 0.04
    if len(widths):
        typical = float(np.median(widths))
    elif len(known):
        typical = float(np.ptp(known)) / 4.0 or typical
    digits, signed = digits_for(typical), forest.signed
    texts = [number(x, digits, signed=signed) + forest.unit for x in value]
    if not len(widths):
        return texts, []
    ends = zip(low, high, strict=True)
    limits = [interval(a, b, digits, signed=signed) + forest.unit for a, b in ends]
    return texts, np.where(np.isfinite(low + high), limits, "–").tolist()


def _letter_runs(letters: Sequence[str]) -> list[str]:
    """Return the letters for each row; shorten runs to the first and last letter."""
    own = letter_sets(letters)
    order = sorted({x for row in own for x in row}, key=lambda x: (len(x), x))
    texts = []
    for row in own:
        runs: list[list[int]] = []
        for k in (k for k, x in enumerate(order) if x in row):
            if not runs or k > runs[-1][-1] + 1:
                runs.append([])
            runs[-1].append(k)
        parts: list[str] = []
        for run in runs:
            part = [order[k] for k in run]
            if len(part) > 2:
                part = [f"{part[0]}–{part[-1]}"]
            parts += part
        texts.append(" ".join(parts))
    return texts


def _lanes(letters: Sequence[str]) -> list[tuple[int, list[int]]]:
    """Return the rows and the lane of each letter, without overlap within a lane."""
    rows: dict[str, list[int]] = {}
    for k, own in enumerate(letter_sets(letters)):
        for letter in own:
            rows.setdefault(letter, []).append(k)
    ends: list[int] = []
    found = []
    for group in sorted((x for x in rows.values() if len(x) > 1), key=lambda x: (x[0], x[-1])):
        lane = next((k for k, end in enumerate(ends) if end < group[0]), len(ends))
        ends[lane : lane + 1] = [group[-1]]
        found.append((lane, group))
    return found


def rows_high(table: pd.DataFrame | None) -> tuple[float, float]:
    """Return the figure size that is needed for the rows."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    count, row = 0, _ROW
    if table is not None:
        count = len(table)
    if count > _MANY:
        row = _DENSE
    needed = 1.0 + min(count, _MOST) * row
    return (width, float(np.clip(needed, 0.45 * height, max(needed, 0.45 * height))))


# ---------------------------------------------------------------- Tables drawn as forests

#: the numbers of a forest: whether they are proportions
_FORMATS: Mapping[bool, dict[str, Any]] = {
    True: {"header": "precision", "ticks": in_percent, "scale": 100.0, "unit": "%"},
    False: {"header": "value"},
}
_AREAS = {"roc": "area under the ROC curve", "ap": "average precision"}
_SHORT = {"roc": "AUC", "ap": "AP"}


@picture(("measure", "area", "chance"), "area", own="y")
def draw_area(canvas: Canvas, table: pd.DataFrame, *, sort: bool = True) -> None:
    """Draw each measure's area and interval, and the chance level."""
    if sort:
        table = table.sort_values("area", ascending=False, kind="stable")
    kind = str(table.attrs.get("kind"))
    nothing = pd.Series(np.nan, index=table.index)
    chances = table["chance"].dropna().round(9).unique()
    digits = 2
    if kind != "roc":
        digits = digits_for(0.5 * float(np.min(chances, initial=0.04)))
    draw_forest(
        canvas,
        Forest(
            list(table["measure"]),
            table["area"],
            table.get("ci_low", nothing),
            table.get("ci_high", nothing),
            np.zeros(len(table)),
            _AREAS.get(kind, "area"),
            _SHORT.get(kind, "area"),
            level=table.attrs.get("level"),
            references={float(x): f"random {number(float(x), digits)}" for x in chances},
        ),
    )
    if "ci_low" in table:
        canvas.tell(f"Lines: {interval_kind(table.attrs, 'separately for each measure')}.")
    canvas.tell("Vertical line: random order.")


draw_area.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]

RANKED = ("measure", "value", "ci_low", "ci_high", "rank_low", "rank_high")


def draw_measure_ranks(table: pd.DataFrame | xr.Dataset, **look: Any) -> Any:
    """Draw each measure's value, interval and ranks in one panel per n or metric."""
    frame = tidy(table, RANKED, "measure_ranks")
    frame = frame.drop(columns=["row"], errors="ignore")
    return _draw_measure_ranks(by_n(frame, "measure"), **look)


@picture(RANKED, "measure_ranks", own="y")
def _draw_measure_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    table = table.sort_values("value", ascending=False, kind="stable")
    shares = table.attrs.get("kind") is None and "metric" not in table.attrs
    _draw_ranks(canvas, table, "measure", what_of(table.attrs), shares=shares)


_draw_measure_ranks.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


@picture(("system", "value", "ci_low", "ci_high", "rank_low", "rank_high"), "system_ranks", own="y")
def draw_system_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the score of each system with its interval and rank limits."""
    best = "rank" if "rank" in table else "rank_low"
    table = table.sort_values(best, kind="stable")
    _draw_ranks(canvas, table, "system", score_of(table.attrs), shares=False)


draw_system_ranks.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


def _draw_ranks(
    canvas: Canvas, table: pd.DataFrame, name: str, label: str, *, shares: bool
) -> None:
    """Draw values with intervals, ranks and ties."""
    attrs = table.attrs
    ranks = table[["rank_low", "rank_high"]].to_numpy(dtype=float)
    tied = table.get("tied_for_best", table["rank_low"] == 1)
    draw_forest(
        canvas,
        Forest(
            list(table[name]),
            table["value"],
            table["ci_low"],
            table["ci_high"],
            tied.to_numpy(dtype=bool),
            label,
            **_FORMATS[shares],
            columns=[("rank", [_rank_text(*limits) for limits in ranks])],
            level=attrs.get("level"),
            letters=list(table.get("letters", ())),
        ),
    )
    scope = f"separately for each {name}"
    if attrs.get("intervals") == "simultaneous":
        scope = f"for all {name}s together"
    canvas.tell(f"Lines: {interval_kind(attrs, scope)}.")
    how = pairs_kind(attrs, len(table) * (len(table) - 1) // 2)
    level = 1.0 - alpha_of(attrs)
    if attrs.get("ranks") not in (None, "simultaneous"):
        how, level = "bootstrap percentiles, unadjusted", attrs.get("level", 0.95)
    ranked = ", ".join(filter(None, [f"{percent_of(level)} interval for the rank", how]))
    canvas.tell(f"Rank: {ranked}.")
    canvas.tell(f"Colored {name}s: no other {name} is significantly better.")


def _rank_text(low: float, high: float) -> str:
    """Format the limits of a rank, such as 2–4; return "" if they are not known."""
    if not np.isfinite(low + high):
        return ""
    if low == high:
        return f"{low:.0f}"
    return f"{low:.0f}–{high:.0f}"


def what_of(attrs: Mapping[Any, Any]) -> str:
    """Return the name of the ranking criterion."""
    kind = attrs.get("kind")
    if kind is not None:
        return _AREAS.get(str(kind), "value")
    if "metric" in attrs:
        metric = WRITTEN.get(attrs["metric"], attrs["metric"])
        return " ".join(filter(None, ["mean", metric, "over queries"]))
    if attrs.get("n"):
        return f"precision, n = {attrs['n']:,}"
    return "precision of the n-best list"


def score_of(attrs: Mapping[Any, Any]) -> str:
    """Return the name of the scores, which is the metric if the table contains it."""
    if "what" in attrs:  # tables of measures
        return str(attrs["what"])
    metric = attrs.get("metric")
    if metric in (None, "mean", "sum"):
        return str(attrs.get("of", "score"))
    return str(WRITTEN.get(metric, metric))


def gain_of(attrs: Mapping[Any, Any]) -> str:
    """Return the unit of the gain, which is the metric if the table contains it."""
    return f"gain in {score_of(attrs)}"


@picture(
    ("measure_a", "measure_b", "n_first", "n_last", "difference", "ci_low", "ci_high"),
    "mean_difference",
    own="y",
)
def draw_mean_difference(
    canvas: Canvas, table: pd.DataFrame, differences: pd.DataFrame | None = None
) -> None:
    """Draw mean differences in precision with intervals, and the difference at each n."""
    ax = canvas.ax
    several = len(table[["measure_a", "measure_b"]].drop_duplicates()) > 1
    names, p = [], []
    for y, row in enumerate(table.to_dict("records")):
        pair = f"{canvas.text(row['measure_a'])} − {canvas.text(row['measure_b'])}"
        names.append(pair)
        if len(table) > 1 and not several:
            names[-1] = f"n = {row['n_first']:,} to {row['n_last']:,}"
        p.append(p_cell(float(row.get("p_value", np.nan))))
        if differences is None:
            continue
        needed = ("measure_a", "measure_b", "n", "difference")
        result = table_of(differences, needed, "compare")
        same = (result["measure_a"] == row["measure_a"]) & (result["measure_b"] == row["measure_b"])
        inside = result["n"].between(row["n_first"], row["n_last"])
        found = result.loc[same & inside, "difference"].to_numpy(dtype=float)
        found = found[np.linspace(0, len(found) - 1, min(len(found), 200)).astype(int)]
        ax.plot(
            found,
            np.full(len(found), y + 0.3),
            "|",
            color=canvas.ink.muted,
            markersize=5,
            zorder=1.5,
            label="_at each n",
        )
    attrs = table.attrs
    label = "mean difference in precision (points)"
    if len(table) == 1:
        first, last = (int(table[c].iloc[0]) for c in ("n_first", "n_last"))
        label += f", n = {first:,} to {last:,}"
    excludes = ((table["ci_low"] > 0) | (table["ci_high"] < 0)).to_numpy(dtype=bool)
    draw_forest(
        canvas,
        Forest(
            names,
            table["difference"],
            table["ci_low"],
            table["ci_high"],
            excludes,
            label,
            "points",
            in_points,
            100.0,
            signed=True,
            columns=[("p", p)] * any(p),
            references={0.0: ""},
            level=attrs.get("level"),
        ),
    )
    canvas.tell(f"Lines: {interval_kind(attrs, 'separately for each row')}.")
    if differences is not None:
        canvas.tell("Ticks below a row: differences at each n. Dots: mean differences.")


draw_mean_difference.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap with adjust=...",
    own="y",
)
def draw_critical_difference(canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05) -> None:
    """Draw systems by score, with bars that connect indistinguishable systems."""
    attrs = table.attrs
    scores: dict[Any, float] = {}
    for side in "ab":
        scores |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    sign = -1.0
    if not attrs.get("higher_is_better", True):
        sign = 1.0
    order = sorted(scores, key=lambda name: sign * scores[name])
    p = table.get("p_adjusted", table["p_value"]).to_numpy(dtype=float)
    place = {name: k for k, name in enumerate(order)}
    apart = np.zeros((len(order), len(order)), dtype=bool)
    for a, b, chance in zip(table["system_a"], table["system_b"], p, strict=True):
        apart[place[a], place[b]] = apart[place[b], place[a]] = rejects(chance, alpha)
    letters = letters_of(apart)
    value = np.array([scores[name] for name in order])
    shares = "what" in attrs and attrs.get("kind") is None
    nothing = np.full(len(order), np.nan)
    draw_forest(
        canvas,
        Forest(
            order,
            value,
            nothing,
            nothing,
            ~apart[:1].ravel(),
            score_of(attrs),
            **_FORMATS[shares],
            letters=letters,
        ),
    )
    how = pairs_kind(attrs, len(table))
    tests = ", ".join(filter(None, [f"Tests at {percent_of(alpha)}", how]))
    canvas.tell(f"{tests}.")
    canvas.tell("Colored systems do not differ significantly from the best.")


def _systems_high(table: pd.DataFrame | None) -> tuple[float, float]:
    """Return the figure size for one row per system."""
    if table is None:
        return rows_high(None)
    systems = {*table["system_a"], *table["system_b"]}
    return rows_high(pd.DataFrame(index=range(len(systems))))


draw_critical_difference.__wrapped__.figure_size = _systems_high  # type: ignore[attr-defined]


# -------------------------------------------------------------------------------------------------
# Plots that show all pairs of systems as cells in a triangle.

_CELL = 20.0  # size in points of a cell that has room for a number
_SIDE = 0.66  # fraction of the panel for the cells


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap",
    own="xy",
)
def draw_pairs(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw a triangle of all pairs, with significant gains in color."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm, to_hex
    from matplotlib.patches import Rectangle

    ax, ink = canvas.ax, Ink.of(canvas.ax, outside=True)
    names = table[["system_a", "system_b"]].astype(object)
    names = names.where(names.notna(), "nan")  # NaN is not equal to NaN
    table = table.assign(system_a=names["system_a"], system_b=names["system_b"])
    systems = by_wins(table)
    width, height = panel_size(ax)
    named = max(3, int(_SIDE * min(width, height) / (1.12 * LEAST)))
    count = min(len(systems), named)  # the last row represents the remaining systems
    place = {name: min(k, count - 1) for k, name in enumerate(systems)}
    folded = 0
    if len(systems) > count:
        folded = len(systems) - count + 1
    alpha = float(table.attrs.get("alpha", 0.05))
    p = table.get("p_adjusted", table["p_value"]).to_numpy(dtype=float)
    hue = cycle(canvas.look.colors)[0]
    scale = LinearSegmentedColormap.from_list(
        "gain", [mix(hue, ink.bg, 0.22), ink.line(hue), mix(ink.fg, hue, 0.55)]
    )
    told = rejects(p, alpha)
    most = 1.0
    if told.any():
        most = float(table["gain"].abs()[told].max())
    norm, pale = PowerNorm(0.5, 0.0, most or 1.0), mix(ink.fg, ink.bg, 0.08)
    cell = _SIDE * min(width, height) / max(count, 1)
    digits = digits_for(0.5 * most)
    shares = "what" in table.attrs and table.attrs.get("kind") is None
    size = font(ax, "note")
    cells, faces = [], []
    pairs: dict[tuple[int, int], tuple[float, bool]] = {}
    for a, b, gain, apart in zip(
        table["system_a"], table["system_b"], table["gain"], told, strict=True
    ):
        i, j = place[a], place[b]
        if i > j:
            i, j, gain = j, i, -gain
        if i != j and not np.isnan(gain):  # gain over the remaining systems, and its significance
            least, before = pairs.get((i, j), (np.inf, True))
            pairs[i, j] = min(gain, least), bool(apart) and before
    for (i, j), (gain, apart) in pairs.items():
        cells.append(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94))
        face = pale
        if apart:
            face = to_hex(scale(norm(abs(gain))))
        faces.append(face)
        text = _gain_text(gain, digits, shares=shares)
        if wide(text, size) <= cell - 3.0 and cell >= _CELL * 0.7:
            shade = max((ink.fg, ink.bg), key=lambda c: contrast(c, faces[-1]))
            look = {"color": shade, "ha": "center", "va": "center", "fontsize": size}
            ax.text(j + 0.5, i + 0.5, text, **canvas.look.mark(None, **look))
    drawn = PatchCollection(cells, linewidth=0)
    drawn.set_facecolor(faces or ["none"])
    drawn.set(**canvas.look.band(None))
    ax.add_collection(drawn)
    ax.patch.set_visible(False)
    ax.set(xscale="linear", yscale="linear", xlim=(0, max(count, 1)), ylim=(max(count, 1), 0))
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1.0)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    shown = [canvas.text(name) for name in systems[: count - (folded > 0)]]
    if folded:
        shown.append(f"{folded:,} more")
    _name_diagonal(canvas, shown, cell, ink)
    if told.any():
        _scale_bar(canvas, scale, norm, table, ink, shares=shares)
    if canvas.look.title is not None and canvas.alone:
        ax.set_title(canvas.look.title, loc="left", fontsize=font(ax, "label"))
    condition = ", ".join(filter(None, [f"p ≤ {alpha:g}", pairs_kind(table.attrs, len(table))]))
    canvas.tell(
        f"Color: {_what(table.attrs)} of the row over the column, if {condition}; pale gray: not"
        f" significant at {percent_of(alpha)}."
    )
    if folded:
        canvas.tell(
            f"Last column: the smallest gain over {folded:,} more systems, in color if all gains"
            " are significant."
        )


def _what(attrs: Any) -> str:
    if "what" not in attrs:
        return gain_of(attrs)
    if attrs.get("kind") is None:
        return f"difference in {attrs['what']} (points)"
    return f"difference in {attrs['what']}"


def _gain_text(gain: float, digits: int, *, shares: bool) -> str:
    """Format a gain, in percentage points if the scores are proportions."""
    if shares:
        return number(100 * gain, max(digits - 2, 0))
    return number(gain, digits)


def _name_diagonal(canvas: Canvas, names: list[str], cell: float, ink: Ink) -> None:
    """Write the row names on the diagonal, to the left of the cells."""
    ax = canvas.ax
    size = font(ax, "name")
    if cell < 1.15 * size:
        size = LEAST
    width = panel_size(ax)[0]
    for k, name in enumerate(names):
        ax.annotate(
            shortened(name, size, k * cell + 0.22 * width),
            (k + 1, k + 0.5),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=size,
            color=ink.fg,
            annotation_clip=True,
        )


def _scale_bar(
    canvas: Canvas, scale: Any, norm: Any, table: pd.DataFrame, ink: Ink, *, shares: bool
) -> None:
    """Draw the color scale in the empty corner."""
    from matplotlib.cm import ScalarMappable

    ax: Any = canvas.ax
    size = font(ax, "note")
    inset = ax.inset_axes([0.0, 0.10, 0.30, 0.03])
    bar = ax.figure.colorbar(ScalarMappable(norm, scale), cax=inset, orientation="horizontal")
    bar.outline.set_visible(False)
    digits = digits_for(0.5 * norm.vmax)
    ticks = [0.0, norm.vmax]
    if panel_size(ax)[0] >= 283:
        ticks.insert(1, 0.25 * norm.vmax)
    texts = [_gain_text(gain, digits, shares=shares) for gain in ticks]
    bar.set_ticks(ticks, labels=texts, fontsize=size)
    inset.tick_params(length=0, labelcolor=ink.fg)
    inset.minorticks_off()
    inset.set_xlim(0.0, norm.vmax)
    words = _what(table.attrs).replace("difference in ", "difference,\n")
    inset.annotate(
        "gray: not distinguished",
        (0, 0),
        xycoords="axes fraction",
        xytext=(0, -2.4 * size),
        textcoords="offset points",
        va="center",
        fontsize=size,
        color=ink.note,
    )
    inset.set_title(
        words.replace("gain in ", "gain in\n"), fontsize=size, loc="left", color=ink.note, pad=4
    )


def figure_size(table: pd.DataFrame | None) -> tuple[float, float]:
    """Return a figure size with room for the cells of many systems."""
    from matplotlib import rcParams

    height = rcParams["figure.figsize"][1]
    count = 2
    if table is not None:
        count = len(set(table["system_a"]) | set(table["system_b"]))
    needed = 1.6 + 0.22 * min(count, 40)
    return (max(1.15 * height, needed + 0.6), max(height, needed))


draw_pairs.__wrapped__.figure_size = figure_size  # type: ignore[attr-defined]


def by_wins(table: pd.DataFrame) -> list[Any]:
    """Sort the systems by the number of systems that they beat, largest first."""
    ahead = pd.concat(
        [
            pd.Series(np.sign(table["gain"].to_numpy()), index=table["system_a"]),
            pd.Series(-np.sign(table["gain"].to_numpy()), index=table["system_b"]),
        ]
    )
    wins = ahead.groupby(level=0, sort=False).sum()
    return wins.sort_values(ascending=False, kind="stable").index.tolist()


# -------------------------------------------------------------------------------------------------
# Plots that compare systems on test items, as in Berg-Kirkpatrick et al. (2012).

_CROWD = 300  # more points than this are drawn in a pale color
_LEVEL = 0.95
_LEVELS = (0.95, 0.5, 0.99, 0.999, 0.9, 0.9999, 0.99999, 0.75)
_FEWEST_DRAWS = 1e5  # largest confidence shown: one contradiction in this number of draws


@picture(("system_a", "system_b", "gain", "confidence"), "paired_bootstrap")
def draw_confidence(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Plot gain against confidence, 1 - p, for every pair of systems."""
    ax, ink = canvas.ax, canvas.ink
    table = table.assign(p=1.0 - table["confidence"].to_numpy(dtype=float))
    exact = len(table) > 0 and "exact" in table and bool(table["exact"].all())
    draws = float(table.attrs.get("n_resamples") or 0.0)
    least = 1.0 / _FEWEST_DRAWS
    if draws and not exact:
        least = 1.0 / (draws + 1.0)
    relations = _relations(table)
    several = len(relations) > 1
    positive = table["gain"][table["gain"] > 0]
    lowest = 1e-3
    if len(positive):
        lowest = 0.5 * float(positive.min())
    for name, rows in relations:
        y = -np.log10(rows["p"].clip(lower=least).to_numpy(dtype=float))
        sure = rows["confidence"].to_numpy(dtype=float) >= _LEVEL
        full = rows["p"].to_numpy(dtype=float) <= least * (1.0 + 1e-6)
        x = rows["gain"].clip(lower=lowest).to_numpy(dtype=float)
        own = ink.accent
        if several:
            own = canvas.color(name)
        for which, color in ((~sure, ink.plain), (sure, own)):
            for at, sign, size in ((which & ~full, "o", 4.5), (which & full, "^", 5.5)):
                look = {
                    "marker": sign,
                    "markersize": size,
                    "color": color,
                    "linestyle": "none",
                    "markeredgecolor": ink.bg,
                    "markeredgewidth": 0.6,
                    "zorder": 3,
                    "label": "_pairs",
                }
                ax.plot(x[at], y[at], **canvas.look.mark(name, **look))
        if several:
            canvas.curve(name, [], [], label=f"{canvas.text(name)} ({len(rows)})")
    canvas.rule(-np.log10(1.0 - _LEVEL))
    ax.set_xscale("log")
    if not len(positive):
        canvas.limits("x", 0.001, 1.0)
    if len(positive):
        left = lowest
        if not (table["gain"] <= 0).any():
            left = lowest * 1.5
        canvas.limits("x", left, 1.3 * float(positive.max()))
    heights = [*-np.log10(table["p"].clip(lower=least)), 1.6]
    if (table["p"] <= least * (1.0 + 1e-6)).any():
        heights.insert(0, -np.log10(least))
    bottom = 0.15
    if len(table):
        bottom = min(bottom, -np.log10(max(float(table["p"].max()), least)))
    canvas.limits("y", bottom, 1.09 * float(max(heights)))
    if thresholds is not None:
        _draw_thresholds(canvas, thresholds, [name for name, _ in relations])
    texts = [percent_of(c) for c in _LEVELS]
    set_chosen_ticks(ax.yaxis, [-np.log10(1.0 - c) for c in _LEVELS], texts)
    set_ticks(ax.xaxis, plainly, 5.0)
    _note_confidence(canvas, table, least, exact=exact)
    canvas.meet = True
    canvas.finish(xlabel=gain_of(table.attrs), ylabel="confidence (1 − p, one-sided)")


def _note_confidence(canvas: Canvas, table: pd.DataFrame, least: float, *, exact: bool) -> None:
    """Write the number of significant pairs and the highest possible confidence."""
    ax, ink = canvas.ax, canvas.ink
    note: dict[str, Any] = {"fontsize": font(ax, "note"), "textcoords": "offset points"}
    sure = int((table["confidence"] >= _LEVEL).sum())
    ax.annotate(
        f"{sure} of {len(table)} pairs",
        (0.0, -np.log10(1.0 - _LEVEL)),
        xytext=(4, 3),
        xycoords=("axes fraction", "data"),
        ha="left",
        color=ink.text(ink.accent),
        **note,
    )
    canvas.tell(
        "Dots: pairs of systems, with the gain of the better system. A confidence of"
        f" {percent_of(_LEVEL)} corresponds to a one-sided, unadjusted p of 0.05."
    )
    if (table["p"] <= least * (1.0 + 1e-6)).any():
        limit = f"the gain is above 0 in all {round(1 / least - 1):,} resamples"
        if exact:
            limit = f"p ≤ {least:.2g}"
        canvas.tell(f"Triangles: {limit}.")
    if (table["gain"] <= 0).any():
        canvas.tell("Gains of 0 or below are drawn at the left edge.")


def _relations(table: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if "relation" not in table:
        return [(None, table)]
    return [(name, table[table["relation"] == name]) for name in table["relation"].unique()]


def _draw_thresholds(canvas: Canvas, thresholds: pd.DataFrame, relations: list[Any]) -> None:
    """Draw gain thresholds, and their intervals as bars at the bottom."""
    ax, ink = canvas.ax, canvas.ink
    needed = ("relation", "threshold", "threshold_low", "threshold_high")
    result = table_of(thresholds, needed, "gain_threshold").dropna(subset=["threshold"])
    low, high = ax.get_xlim()
    most = high
    if len(result):
        most = float(result["threshold"].max())
    canvas.limits("x", low, max(high, 1.3 * most))
    for index, row in enumerate(result[list(needed)].to_numpy(dtype=object)):
        relation, threshold, least, largest = row
        color, width, shade = ink.reference, THIN, ink.note
        if relation in relations and len(relations) > 1:
            color, width = canvas.color(relation), 1.2
            shade = ink.text(color)
        line = {"color": color, "linewidth": width, "zorder": 1.2}
        ax.axvline(threshold, **canvas.look.line(relation, **line, label="_threshold"))
        bar = {"color": color, "linewidth": 3, "alpha": 0.5, "label": "_interval"}
        place = {"transform": ax.get_xaxis_transform(), "zorder": 1.2}
        end = min(float(largest), float(ax.get_xlim()[1]))
        height = 0.02 + 0.03 * index
        ax.hlines(
            height,
            max(float(least), float(ax.get_xlim()[0])),
            end,
            **place,
            **canvas.look.band(relation, **bar),
        )
        text = f"threshold\n{threshold:.2g}"
        aside, ha = 4, "left"
        if np.log(threshold / ax.get_xlim()[0]) > 0.7 * np.log(np.divide(*ax.get_xlim()[::-1])):
            aside, ha = -4, "right"
        ax.annotate(
            text,
            (threshold, 0.04 + 0.03 * len(result)),
            xycoords=("data", "axes fraction"),
            xytext=(aside, 4 + 2.4 * font(ax, "note") * index),
            textcoords="offset points",
            va="bottom",
            ha=ha,
            fontsize=font(ax, "note"),
            color=shade,
        )
    if len(result):
        kind = interval_kind(thresholds.attrs, "separately for each threshold")
        canvas.tell(f"Vertical lines: gains worth reporting. Bars at the bottom: {kind}.")


# ----------------------------------------------------------- Gains and the size of the test set


@picture(("size", "system_a", "gain", "p_value"), "gain_by_size")
def draw_gain_by_size(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Draw gains and gain thresholds against the size of the test set."""
    ax, ink = canvas.ax, canvas.ink
    drawn = table[table["gain"] > 0.0]
    significant = drawn["p_value"] <= 0.05
    faint = 0.8
    if len(drawn) > _CROWD:
        faint = 0.3
    for rows, color, aside in (
        (drawn[~significant], ink.reference, 0.96),
        (drawn[significant], ink.accent, 1.04),
    ):
        look = {
            "linestyle": "none",
            "marker": "o",
            "markersize": 3.5,
            "color": color,
            "alpha": faint,
            "markeredgewidth": 0,
            "label": "_pairs",
        }
        ax.plot(rows["size"] * aside, rows["gain"], **canvas.look.mark(None, **look))
    side = "two-sided"
    if table.attrs.get("alternative") in ("greater", "less"):
        side = "one-sided"
    canvas.tell(f"Dots: pairs of systems, in color if p ≤ 0.05 ({side}, unadjusted).")
    ax.set_xscale("log")
    ax.set_yscale("log")
    if drawn.empty:
        canvas.tell("No gain is above 0.")
        canvas.limits("y", 0.001, 1.0)
    settle(ax)
    if len(table):
        ends = table["size"].min(), table["size"].max()
        canvas.limits("x", ends[0] / 1.15, 1.15 * ends[1])
    if thresholds is not None:
        _draw_sizes(canvas, thresholds)
    sizes = sorted(table["size"].unique())
    order = [*sizes[:1], *sizes[-1:], *sizes[1:-1]]
    set_chosen_ticks(ax.xaxis, order, [f"{size:,}" for size in order])
    set_ticks(ax.yaxis, plainly, 5.0)
    canvas.finish(xlabel="test items", ylabel=gain_of(table.attrs))


def _draw_sizes(canvas: Canvas, thresholds: pd.DataFrame) -> None:
    """Draw the thresholds against size, with intervals and the square-root law."""
    ax = canvas.ax
    needed = ("size", "relation", "threshold", "threshold_low")
    result = table_of(thresholds, needed, "gain_threshold").sort_values("size")
    without = result[result["threshold"].isna()]
    result = result.dropna(subset=["threshold"])
    low, high = (float(limit) for limit in ax.get_ylim())
    most = high
    if len(result):
        most = 1.15 * float(result["threshold"].max())
    canvas.limits("y", low, max(high, most))
    high = float(ax.get_ylim()[1])
    beyond = result[:0]
    if "threshold_high" in result:
        beyond = result[result["threshold_high"] > high]
    for place, relation in enumerate(result["relation"].unique()):
        rows, name = result, "threshold"
        if not pd.isna(relation):
            rows, name = result[result["relation"] == relation], relation
        last = rows.iloc[-1]
        law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
        look = {"color": canvas.ink.reference, "linewidth": THIN, "zorder": 1}
        ax.plot(rows["size"], law, label="_square-root law", **look)
        if place == 0:
            canvas.tell("Thin gray line: a square-root law through the value for the largest size.")
        canvas.curve(name, rows["size"], rows["threshold"], linewidth=LINE)
        lower = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
        canvas.bars(name, rows["size"], lower, rows["threshold_high"].clip(upper=high))
        canvas.limits("y", high=high)
    if len(result):
        kind = interval_kind(thresholds.attrs, "separately for each size")
        canvas.tell(f"Line: gains worth reporting, with {kind}.")
    if len(beyond):
        look = {"color": canvas.ink.plain, "markersize": 5, "label": "_beyond"}
        ax.plot(beyond["size"], np.full(len(beyond), high), "^", clip_on=False, **look)
        canvas.tell("Triangles: the interval extends above the panel.")
    if len(without):
        named = ", ".join(f"{size:,}" for size in sorted(without["size"].unique()))
        canvas.tell(f"There is no threshold at {named} items because no pair is near p = 0.05.")


# ------------------------------------------------------------------- Gains on other items


@picture(("p_low", "p_high", "agreement", "ci_low", "ci_high", "expected_agreement"), "calibration")
def draw_calibration(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the observed and expected rates of sign agreement with other data."""
    ax, ink = canvas.ax, canvas.ink
    table = table.sort_values("p_low")
    at = (table["p_low"].clip(lower=1e-6) * table["p_high"]) ** 0.5
    known = table["agreement"].notna()
    expected = {"color": ink.reference, "linewidth": THIN, "zorder": 1, "label": "expected"}
    ax.plot(at, table["expected_agreement"], **canvas.look.line(None, **expected))
    ends = table["expected_agreement"][known].dropna()
    if len(ends):
        ax.annotate(
            "expected",
            (at[ends.index[-1]], ends.iloc[-1]),
            xytext=(-6, -4),
            va="top",
            ha="right",
            textcoords="offset points",
            fontsize=font(ax, "note"),
            color=ink.note,
        )
    bars = {"color": ink.accent, "linewidth": 1.1, "alpha": 0.75, "zorder": 2.6}
    ax.vlines(
        at[known], table["ci_low"][known], table["ci_high"][known], **canvas.look.band(None, **bars)
    )
    dots = {"color": ink.accent, "marker": "o", "linestyle": "none", "markersize": 5, "zorder": 3}
    ax.plot(at, table["agreement"], **canvas.look.mark(None, **dots, label="observed"))
    ax.set_xscale("log")
    if known.any():  # whole bins
        lowest = table["p_low"].where(table["p_low"] > 0.0, 0.7 * at)[known].min()
        canvas.limits("x", lowest / 1.05, 1.05 * table["p_high"][known].max())
    edges = sorted({*table["p_low"], *table["p_high"]} - {0.0})
    order = [x for k in (4, 2, 1) for x in edges[::-k]]
    order = list(dict.fromkeys([*edges[:1], *order]))
    set_chosen_ticks(ax.xaxis, order, [f"{edge:.3g}" for edge in order])
    if not known.any():
        ax.set_ylim(0.0, 1.0)
        canvas.tell("No bin contains a pair of systems.")
    elif "n_pairs" in table:
        _count_bins(canvas, at[known], table["n_pairs"][known])
    low, high = ax.get_ylim()
    canvas.limits("y", low - 0.08 * (high - low), high)  # room for a name below the last point
    canvas.upwards()
    canvas.tell(
        "Dots: proportion of pairs that keep the sign of the gain, with"
        f" {interval_kind(table.attrs, 'separately for each bin')}.",
        "Gray line: the proportion expected for other items from the same distribution.",
    )
    canvas.finish(xlabel="one-sided p (edges of bins)", ylabel="pairs that keep their sign")


def _count_bins(canvas: Canvas, at: pd.Series[Any], counts: pd.Series[Any]) -> None:
    """Write the number of pairs above each bin without overlap."""
    ax, size = canvas.ax, font(canvas.ax, "note")
    low, high = np.log(ax.get_xlim())
    last, scale = -np.inf, 0.68 * panel_size(ax)[0] / (high - low)
    for place, count in zip(at, counts, strict=True):
        text = f"{int(count):,}"
        here, half = float(np.log(place)) * scale, 0.5 * wide(text, size) + 2.0
        if np.isfinite(here) and here - half > last:
            last = here + half
            ax.annotate(
                text,
                (place, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                ha="center",
                textcoords="offset points",
                fontsize=size,
                color=Ink.of(ax, outside=True).note,
            )
    canvas.reserve_top()
    canvas.tell("Numbers at the top: pairs in each bin.")


# -------------------------------------------------------------------------------------------------
# Plots of single values: per-item gains, and precision over repeated samples.

# ------------------------------------------------------ Per-item gains of one system over another

DIFFERENCES = ("item", "gain", "system_a", "system_b")
_BARS = 400  # more bars than this are drawn as an area, which looks the same
_NAMED = 3  # number of items named on each side


@picture(DIFFERENCES, "plot.paired_differences")
def draw_paired_differences(
    canvas: Canvas, table: pd.DataFrame, whole: pd.DataFrame | None = None
) -> None:
    """Draw the sorted gains of one system over another on each item, and the mean gain."""
    ax, look, ink = canvas.ax, canvas.look, canvas.ink
    found = table.dropna(subset=["gain"]).sort_values("gain", ascending=False, kind="stable")
    gains = found["gain"].to_numpy(dtype=float)
    a, b = (table[f"system_{side}"].iloc[0] for side in "ab")
    x = np.arange(1, gains.size + 1)
    for name, better in ((a, gains > 0), (b, gains < 0)):
        bar = {"color": canvas.color(name), "linewidth": 0, "label": f"{canvas.text(name)} better"}
        if gains.size <= _BARS:
            ax.bar(x[better], gains[better], width=0.9, **look.band(name, **bar))
        else:
            heights = np.where(better, gains, 0.0)
            ax.fill_between(x, 0.0, heights, step="mid", **look.band(name, **bar))
    height = float(np.abs(gains).max(initial=0.0)) or 1.0
    ax.axhline(0.0, color=ink.reference, linewidth=0.8, zorder=1, label="_no difference")
    most = gains.size * 1.06
    if whole is not None and len(whole):
        _draw_mean(canvas, whole, gains.size, height)
    canvas.limits("x", 0.0, max(most, 1.5))
    canvas.limits("y", -1.08 * height, 1.08 * height)
    unit = str(table.attrs.get("unit", "items"))
    numbered = pd.api.types.is_integer_dtype(found["item"]) and unit != "queries"
    if not numbered and not small(ax):
        _name_items(canvas, found["item"].astype(str).to_list(), gains, height)
    for name, count, corner, ha, va in (
        (a, (gains > 0).sum(), (0.94, 0.97), "right", "top"),
        (b, (gains < 0).sum(), (0.03, 0.03), "left", "bottom"),
    ):
        short = shortened(canvas.text(name), font(ax, "name"), 0.4 * panel_size(ax)[0])
        ax.text(
            *corner,
            f"{short} better: {count:,}",
            ha=ha,
            va=va,
            transform=ax.transAxes,
            fontsize=font(ax, "name"),
            color=ink.text(canvas.color(name)),
            bbox={"facecolor": ink.bg, "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
        )
    equal = np.count_nonzero(gains == 0)
    set_ticks(ax.xaxis, compact, 5.0)
    set_ticks(ax.yaxis, plainly, 5.0)
    label = f"{unit}, sorted by gain"
    if equal:
        label += f" ({equal:,} equal)"
    canvas.frame(xlabel=label, ylabel=gain_of(table.attrs))
    ax.spines["bottom"].set_visible(False)


def _draw_mean(canvas: Canvas, whole: pd.DataFrame, count: int, height: float) -> None:
    """Draw the overall gain with its interval on the right."""
    ax, ink, row = canvas.ax, canvas.ink, whole.iloc[0]
    low, high, gain = (float(row[c]) for c in ("ci_low", "ci_high", "gain"))
    at = count * 1.035
    limits = np.clip([low, high], -1.08 * height, 1.08 * height)
    if np.isfinite(low + high):
        ax.vlines(at, *limits, color=ink.fg, linewidth=1.4, clip_on=False, label="_interval")
    dot = {"color": ink.fg, "marker": "o", "markersize": 5, "linestyle": "none", "label": "_gain"}
    ax.plot([at], [gain], clip_on=False, **canvas.look.line(None, **dot))
    digits = 3
    if np.isfinite(high - low):
        digits = digits_for(high - low)
    said = f"gain {number(gain, digits)}"
    if np.isfinite(low) or np.isfinite(high):
        said += f"\n({interval(low, high, digits)})"
    end, aside, ha, va = gain, (6, 0), "left", "center"
    if small(ax):  # above the bars of losses if there is room
        end, aside, ha, va = max(gain, 0.0), (-8, 3), "right", "bottom"
    ax.annotate(
        said,
        (at, end),
        xytext=aside,
        textcoords="offset points",
        va=va,
        ha=ha,
        fontsize=font(ax, "note"),
        color=Ink.of(ax, outside=True).fg,
        annotation_clip=True,
    )
    kind = interval_kind(whole.attrs, "separately for each pair")
    canvas.tell(f"Dot and line on the right: the gain over all items with {kind}.")


def _name_items(canvas: Canvas, names: list[str], gains: Any, height: float) -> None:
    """Label items with large gains and losses, and draw leader lines to their bars."""
    ax, size, count = canvas.ax, font(canvas.ax, "note"), len(names)
    room = 0.3 * panel_size(ax)[0]
    for k in range(min(_NAMED, count // 4)):
        for place, sign in ((k, 1), (count - 1 - k, -1)):
            if np.sign(gains[place]) != sign:
                continue
            y = height * (1.0 - 0.13 * k)
            above = int(np.count_nonzero(sign * gains > y - 0.08 * height))
            beside = max(0.075 * count, above)
            x, ha = 1 + beside, "left"
            if sign < 0:
                x, ha = count - beside, "right"
            line = {
                "arrowstyle": "-",
                "lw": 0.5,
                "color": canvas.ink.reference,
                "shrinkA": 1,
                "shrinkB": 0,
            }
            ax.annotate(
                shortened(names[place], size, room),
                (place + 1, gains[place]),
                xytext=(x, sign * y),
                fontsize=size,
                color=canvas.ink.fg,
                va="center",
                ha=ha,
                arrowprops=line,
            )


# ------------ Precision over repeated samples and the binomial model (Evert 2004, figure 4)


def draw_repetition(table: Any, samples: Any, **options: Any) -> npt.NDArray[Any]:
    """Draw the distribution of precision over samples, in one stacked panel per measure."""
    table = table_of(
        table, ("measure", "threshold", "precision", "sd_expected", "sd_observed"), "repetition"
    )
    needed = ("measure", "threshold", "n_accepted", "precision")
    samples = table_of(samples, needed, "repetition_samples", grouped=True)
    thresholds = samples.drop_duplicates(["measure", "threshold"]).set_index("measure")["threshold"]
    if not thresholds.reindex(table["measure"]).equals(table.set_index("measure")["threshold"]):
        raise ValueError(
            "samples and table differ in their measures or thresholds. Pass repetition and"
            " repetition_samples for the same data, with the same threshold or n."
        )
    ax, wrap, look = looks(options)
    look.check_names(table["measure"].tolist())
    panels = _stacked_panels(ax, len(table), wrap)
    found = samples["precision"].dropna()
    edges = _edges(found)
    high = 0.0
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        mine = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        canvas = Canvas(panel, look, alone=False)
        high = max(high, _draw_samples(canvas, mine.to_numpy(dtype=float), row, edges))
    for panel in panels:
        share = min(0.5, 4.2 * font(panel, "note") / (0.62 * panel_size(panel)[1]))
        top = high / (1.0 - share * _tall(panel))  # the lines of text are above the histogram
        bottom = {"log": 0.5}.get(panel.get_yscale(), 0.0)
        panel.set_ylim(bottom, 1.05 * top or 1.0)
        if panel.get_xscale() == "linear":
            panel.set_xlim(edges[0], edges[-1])
        set_ticks(panel.xaxis, in_percent, 5.0)
        set_ticks(panel.yaxis, compact, 3.0)
        label = ""
        if ax is not None or panel.get_subplotspec().is_last_row():
            label = "precision of the sample"
        panel.set_xlabel(label, fontsize=font(panel, "label"))
    if len(panels):
        tell(
            panels[0],
            "Columns: samples. Colored curve: normal distribution with the standard deviation of"
            " the samples. Gray curve: normal distribution with the standard deviation of the"
            " binomial model.",
        )
        if look.title is not None:
            panels[0].figure.suptitle(look.title, fontsize=font(panels[0], "label") + 1.0)
    return panels


def _tall(panel: Any) -> bool:
    """Return whether a panel has room for three lines of text."""
    width, height = panel_size(panel)
    return width > 200 and height > 110


def _edges(found: pd.Series[Any]) -> Any:
    """Return the bin edges, which are the same in all panels."""
    if found.empty:
        return np.array([0.0, 1.0])
    low, high = float(found.min()), float(found.max())
    room = max(high - low, 0.01)
    wide = room / max(8, min(40, round(2.5 * len(found) ** (1.0 / 3.0))))
    start = low - 2.5 * wide
    count = int(np.ceil((high + 2.5 * wide - start) / wide))
    return start + wide * np.arange(count + 1)


def _stacked_panels(ax: Any, count: int, wrap: int | None) -> npt.NDArray[Any]:
    """Return the given Axes, one per measure, or the stacked Axes of a new figure."""
    import matplotlib.pyplot as plt

    if count > MOST:
        raise ValueError(
            f"there are {count} measures, but a figure has at most {MOST} panels. Choose some: "
            "data.rankeval(measures=[...])."
        )
    if ax is not None:
        return given_panels(ax, count, "measures")
    if count < 2:
        return np.array([one_of(None)], dtype=object)[:count]
    wide = int(wrap or 1 + (count > 6))
    rows = -(-count // wide)
    figure, fresh = plt.subplots(
        rows,
        wide,
        figsize=(max(6.4, 3.1 * wide), 1.7 * rows + 0.4),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for spare in fresh.ravel()[count:]:
        figure.delaxes(spare)
    return np.asarray(fresh.ravel()[:count])


def _draw_samples(
    canvas: Canvas, found: npt.NDArray[Any], row: pd.Series[Any], edges: Any
) -> float:
    """Draw one measure's samples with two normal curves; return the largest height."""
    panel, look, measure, ink = canvas.ax, canvas.look, row["measure"], canvas.ink
    color = canvas.color(measure)
    bars = {"color": mix(color, ink.bg, 0.38), "edgecolor": ink.bg, "linewidth": 0.8}
    counts, _, _ = panel.hist(found, bins=edges, **look.band(measure, **bars, label="samples"))
    across = np.linspace(edges[0], edges[-1], 400)
    wide, high = edges[1] - edges[0], float(np.max(counts, initial=0.0))
    for sd, shade, width, name in (
        (float(row["sd_expected"]), ink.line(ink.gray(0.7)), 1.1, "expected by the model"),
        (float(row["sd_observed"]), color, LINE, "observed"),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):  # no curve without variation
            z = (across - float(row["precision"])) / sd
            height = found.size * wide * np.exp(-0.5 * z**2) / (sd * np.sqrt(2.0 * np.pi))
        line: dict[str, Any] = {
            "color": shade,
            "linewidth": width,
            "label": name,
        }
        panel.plot(across, height, **look.line(measure, **line, zorder=3))
        high = max(high, float(np.nanmax(height, initial=0.0)))
    canvas.frame(ylabel="samples")
    variance = f"variance {row['phi']:.1f} times the model's"
    if "phi_low" in row:
        variance += f" ({interval(row['phi_low'], row['phi_high'], 1)})"
    own = ink.text(color)
    lines = [
        (f"{found.size:,} samples vary by {100 * row['sd_observed']:.1f} points (sd)", own),
        (f"the model expects {100 * row['sd_expected']:.1f} points", ink.note),
        (variance, ink.fg),
    ]
    size = font(panel, "note")
    name = shortened(canvas.text(measure), font(panel, "name"), 0.6 * panel_size(panel)[0])
    panel.set_title(
        name,
        fontsize=font(panel, "name"),
        loc="left",
        color=Ink.of(panel, outside=True).text(color),
    )
    start, va = -2, "top"
    if not _tall(panel):
        lines, start, va = lines[2:], 2, "bottom"
    for k, (text, shade) in enumerate(lines):
        panel.annotate(
            text,
            (1, 1),
            xycoords="axes fraction",
            xytext=(0, start - 1.35 * size * k),
            textcoords="offset points",
            ha="right",
            va=va,
            fontsize=size,
            color=shade,
        )
    return high
