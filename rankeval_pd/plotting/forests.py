"""Forest plots, with a dot, an interval, numbers and tie bars in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.out.phrases import alpha_of, letter_sets, p_cell, percent_of
from rankeval_pd.plotting.canvas import Canvas, interval_kind, pairs_kind
from rankeval_pd.plotting.ink import Ink
from rankeval_pd.plotting.numbers import (
    LEAST,
    digits_for,
    font,
    in_percent,
    in_points,
    interval,
    number,
    panel_size,
    plainly,
    set_ticks,
    shortened,
    small,
    wide,
)
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import by_n, table_of, tidy
from rankeval_pd.stats.resampling.metric_sums import WRITTEN
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.letters import letters as letters_of

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
    colors = [canvas.ink.accent if x else canvas.ink.plain for x in accent]
    if look.colors is not None:
        colors = [look.color(ax, name) for name in forest.names]
    ax.set_yscale("linear")  # a row is not a number
    for at, name in forest.references.items():
        canvas.upright(at)
        ax.annotate(
            name, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), ha="center",
            textcoords="offset points", fontsize=font(ax, "note"), color=out.note,
        )  # fmt: skip
    value, low, high = (np.asarray(x, dtype=float) for x in (forest.value, forest.low, forest.high))
    known = np.isfinite(low + high)
    if known.any():
        bars = {"color": [c for c, k in zip(colors, known, strict=True) if k], "linewidth": 1.4}
        ax.hlines(y[known], low[known], high[known], **look.band(None, **bars, zorder=2))
    size = (14 if small(ax) else 22) if count <= _MANY else 9
    dots = look.mark(None, color=colors, markersize=size, zorder=3, linewidth=0)
    dots["s"] = dots.pop("markersize")
    ax.scatter(value, y, **dots)
    if rest.size:
        muted = {"color": canvas.ink.reference, "markersize": 4, "zorder": 3, "label": "_more"}
        ax.plot(rest, np.full(rest.size, count), "|", **muted)
        canvas.tell(f"Ticks in the last row: the values of {rest.size:,} more rows.")
    ax.set_ylim(count + (rest.size > 0) - 0.4, -0.6)
    letters = font(ax, "name") if count <= _MANY else LEAST
    left = _name_rows(canvas, forest.names, accent, letters, rest.size)
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
        name: np.asarray(x)[kept] for name in ("value", "low", "high", "accent")
        if len(x := getattr(forest, name))
    }  # fmt: skip
    rows["names"] = [forest.names[k] for k in kept]
    rows["letters"] = [forest.letters[k] for k in kept] if forest.letters else ()
    columns = [(title, [texts[k] for k in kept]) for title, texts in forest.columns]
    rest = np.delete(np.asarray(forest.value, dtype=float), kept)
    return forest._replace(**rows, columns=columns), rest


def _name_rows(canvas: Canvas, names: Sequence[Any], accent: Any, size: float, more: int) -> float:
    """Write the row names; return the width of the names."""
    ax, out = canvas.ax, Ink.of(canvas.ax, outside=True)
    room = 0.28 * panel_size(ax)[0]
    if ax.figure.get_layout_engine() is None:  # the layout reserves no space on the left
        room = min(room, ax.bbox.x0 * 72.0 / ax.figure.dpi - 8.0)
    texts = [shortened(canvas.text(name), size, room) for name in names]
    colors = [out.text(out.accent) if x else out.fg for x in accent]
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
            lanes, columns = [], [*columns, ("tied", _runs(forest.letters))]
        tied = _LANE * max(k for k, _ in lanes) + 12.0 if lanes else 0.0
        lanes, self.room = (lanes, self.room - tied) if tied <= self.room else ([], self.room)
        value, limits = _numbers(forest)
        level = percent_of(forest.level) if forest.level else "confidence"
        wanted = [(forest.header, value), *columns, (f"{level} interval", limits)]
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
            self._add(title, texts, self.ink.note if texts is limits else self.ink.fg)
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
            text, (1, y), xycoords=("axes fraction", unit), xytext=(self.at, up), color=color,
            textcoords="offset points", annotation_clip=unit == "data",
            **{"fontsize": self.size, **look},
        )  # fmt: skip

    def _bars(self, lanes: list[tuple[int, list[int]]]) -> None:
        """Draw a vertical bar for each letter, with dots if there are gaps between its rows."""
        from matplotlib.transforms import ScaledTranslation, blended_transform_factory

        base = blended_transform_factory(self.ax.transAxes, self.ax.transData)
        gaps = False
        for lane, rows in lanes:
            right = (self.at + 3.0 + _LANE * lane) / 72.0
            shift = ScaledTranslation(right, 0, self.ax.figure.dpi_scale_trans)
            look: dict[str, Any] = {
                "transform": base + shift, "clip_on": False, "color": self.ink.fg,
                "label": "_tied", "scalex": False, "scaley": False,
            }  # fmt: skip
            ends = [rows[0] - 0.28, rows[-1] + 0.28]
            self.ax.plot([1, 1], ends, linewidth=1.2, solid_capstyle="butt", **look)
            if rows != list(range(rows[0], rows[-1] + 1)):
                gaps = True
                self.ax.plot([1] * len(rows), rows, "o", markersize=2.6, **look)
        self._head("tied", "left")
        dots = "; a bar with dots connects only the rows with a dot" * gaps
        self.canvas.tell(f"Bars on the right connect rows that do not differ significantly{dots}.")


def _numbers(forest: Forest) -> tuple[list[str], list[str]]:
    """Return values and intervals as text with the same number of decimals."""
    value, low, high = (
        forest.scale * np.asarray(x, dtype=float) for x in (forest.value, forest.low, forest.high)
    )
    widths, found = (x[np.isfinite(x)] for x in (high - low, value))
    typical = float(np.median(widths)) if len(widths) else 0.04
    if not len(widths) and len(found):
        typical = float(np.ptp(found)) / 4.0 or 0.04
    digits, signed = digits_for(typical), forest.signed
    texts = [number(x, digits, signed=signed) + forest.unit for x in value]
    limits = [
        interval(a, b, digits, signed=signed) + forest.unit if np.isfinite(a + b) else "–"
        for a, b in zip(low, high, strict=True)
    ]
    return texts, limits if len(widths) else []


def _runs(letters: Sequence[str]) -> list[str]:
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
        parts = [[order[k] for k in run] for run in runs]
        texts.append(" ".join(f"{x[0]}–{x[-1]}" if len(x) > 2 else " ".join(x) for x in parts))
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
    count = 0 if table is None else len(table)
    needed = 1.0 + min(count, _MOST) * (_ROW if count <= _MANY else _DENSE)
    return (width, float(np.clip(needed, 0.45 * height, max(needed, 0.45 * height))))


# ---------------------------------------------------------------- Tables drawn as forests

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
    digits = 2 if kind == "roc" else digits_for(0.5 * float(np.min(chances, initial=0.04)))
    draw_forest(canvas, Forest(
        list(table["measure"]), table["area"], table.get("ci_low", nothing),
        table.get("ci_high", nothing), np.zeros(len(table)),
        _AREAS.get(kind, "area"), _SHORT.get(kind, "area"), level=table.attrs.get("level"),
        references={float(x): f"random {number(float(x), digits)}" for x in chances},
    ))  # fmt: skip
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
    texts = [
        "" if not np.isfinite(a + b) else f"{a:.0f}" if a == b else f"{a:.0f}–{b:.0f}"
        for a, b in ranks
    ]
    tied = table["tied_for_best"] if "tied_for_best" in table else table["rank_low"] == 1
    draw_forest(canvas, Forest(
        list(table[name]), table["value"], table["ci_low"], table["ci_high"],
        tied.to_numpy(dtype=bool), label, "precision" if shares else "value",
        in_percent if shares else plainly, 100.0 if shares else 1.0, "%" if shares else "",
        columns=[("rank", texts)], level=attrs.get("level"),
        letters=list(table["letters"]) if "letters" in table else (),
    ))  # fmt: skip
    one = "measure" if name == "measure" else "system"
    together = attrs.get("intervals") == "simultaneous"
    scope = f"for all {one}s together" if together else f"separately for each {one}"
    canvas.tell(f"Lines: {interval_kind(attrs, scope)}.")
    percentile = attrs.get("ranks") not in (None, "simultaneous")
    how = (
        "bootstrap percentiles, unadjusted"
        if percentile
        else pairs_kind(attrs, len(table) * (len(table) - 1) // 2)
    )
    level = percent_of(attrs.get("level", 0.95) if percentile else 1.0 - alpha_of(attrs))
    canvas.tell(f"Rank: {level} interval for the rank{f', {how}' if how else ''}.")
    canvas.tell(f"Colored {one}s: no other {one} is significantly better.")


def what_of(attrs: Mapping[Any, Any]) -> str:
    """Return the name of the ranking criterion."""
    kind = attrs.get("kind")
    if kind is not None:
        return _AREAS.get(str(kind), "value")
    if "metric" in attrs:
        metric = WRITTEN.get(attrs["metric"], attrs["metric"])
        return f"mean {metric} over queries" if metric else "mean over queries"
    return f"precision, n = {attrs['n']:,}" if attrs.get("n") else "precision of the n-best list"


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
    "mean_difference", own="y",
)  # fmt: skip
def draw_mean_difference(
    canvas: Canvas, table: pd.DataFrame, differences: pd.DataFrame | None = None
) -> None:
    """Draw mean differences in precision with intervals, and the difference at each n."""
    ax = canvas.ax
    several = len(table[["measure_a", "measure_b"]].drop_duplicates()) > 1
    names, p = [], []
    for y, row in enumerate(table.to_dict("records")):
        pair = f"{canvas.text(row['measure_a'])} − {canvas.text(row['measure_b'])}"
        names.append(pair if several or len(table) == 1 else f"{row['n_first']:,}")
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
            found, np.full(len(found), y + 0.3), "|", color=canvas.ink.muted, markersize=5,
            zorder=1.5, label="_at each n",
        )  # fmt: skip
    attrs = table.attrs
    first, last = (int(table[c].iloc[0]) if len(table) else 0 for c in ("n_first", "n_last"))
    single = f", n = {first:,} to {last:,}" if len(table) == 1 else ""
    excludes = ((table["ci_low"] > 0) | (table["ci_high"] < 0)).to_numpy(dtype=bool)
    draw_forest(canvas, Forest(
        names, table["difference"], table["ci_low"], table["ci_high"], excludes,
        f"mean difference in precision (points){single}", "points", in_points, 100.0, signed=True,
        columns=[("p", p)] if any(p) else (), references={0.0: ""}, level=attrs.get("level"),
    ))  # fmt: skip
    canvas.tell(f"Lines: {interval_kind(attrs, 'separately for each row')}.")
    if differences is not None:
        canvas.tell("Ticks below a row: differences at each n. Dots: mean differences.")


draw_mean_difference.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap with adjust=...", own="y",
)  # fmt: skip
def draw_critical_difference(canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05) -> None:
    """Draw systems by score, with bars that connect indistinguishable systems."""
    attrs = table.attrs
    scores: dict[Any, float] = {}
    for side in "ab":
        scores |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    higher = bool(attrs.get("higher_is_better", True))
    order = sorted(scores, key=lambda name: -scores[name] if higher else scores[name])
    p = table["p_adjusted" if "p_adjusted" in table else "p_value"].to_numpy(dtype=float)
    place = {name: k for k, name in enumerate(order)}
    apart = np.zeros((len(order), len(order)), dtype=bool)
    for a, b, chance in zip(table["system_a"], table["system_b"], p, strict=True):
        apart[place[a], place[b]] = apart[place[b], place[a]] = rejects(chance, alpha)
    letters = letters_of(apart)
    value = np.array([scores[name] for name in order])
    shares = "what" in attrs and attrs.get("kind") is None
    nothing = np.full(len(order), np.nan)
    draw_forest(canvas, Forest(
        order, value, nothing, nothing,
        ~apart[0] if len(order) else [], score_of(attrs), "precision" if shares else "value",
        in_percent if shares else plainly, 100.0 if shares else 1.0, "%" if shares else "",
        letters=letters,
    ))  # fmt: skip
    how = pairs_kind(attrs, len(table))
    canvas.tell(f"Tests at {percent_of(alpha)}{f', {how}' if how else ''}.")
    canvas.tell("Colored systems do not differ significantly from the best.")


def _systems_high(table: pd.DataFrame | None) -> tuple[float, float]:
    """Return the figure size for one row per system."""
    both = [] if table is None else [*table["system_a"], *table["system_b"]]
    return rows_high(pd.DataFrame(index=range(len(dict.fromkeys(both)))))


draw_critical_difference.__wrapped__.figure_size = _systems_high  # type: ignore[attr-defined]
