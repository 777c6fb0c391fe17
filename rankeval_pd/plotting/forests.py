"""Plot estimates with intervals in rows, and precision over repeated samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.curves import areas
from rankeval_pd.doors import Data
from rankeval_pd.lists import measure_ranks as measure_verdicts
from rankeval_pd.lists.repetition import repetition as repetition_of
from rankeval_pd.lists.repetition import repetition_samples
from rankeval_pd.options import one_reading
from rankeval_pd.plotting.canvas import (
    ABOVE,
    BESIDE,
    LINE,
    Canvas,
    interval_header,
    interval_kind,
    joined,
    pairs_kind,
    write,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Look,
    compact,
    cut_text,
    cut_texts,
    font,
    in_percent,
    interval_text,
    mixed_color,
    number,
    panel_size,
    plainly,
    set_ticks,
    small,
    wide,
)
from rankeval_pd.plotting.panels import (
    MOST,
    by_n,
    given_panels,
    grid_of,
    is_table,
    plot_of,
    table_of,
    tidy,
)
from rankeval_pd.stats import AnyArray
from rankeval_pd.systems import tests
from rankeval_pd.tables import Attrs
from rankeval_pd.words.numbers import letter_sets, percent_of, unit_of
from rankeval_pd.words.vocabulary import alpha_of, called, first_of, noun_of

# ---- A dot, an interval, numbers and tie bars in each row
_ROW, _DENSE = 0.24, 0.155  # row height in inches: default, and for more than 24 rows
_MANY = 24
_MOST = 60  # rows on a page; if there are more, the worst share a row
_THIN_ROW = 7.6  # row height in points below which the last rows are combined
_LANE = 6.0  # distance in points between two tie bars
_LANES = 8  # largest number of bars side by side


_ESTIMATES = ["value", "low", "high"]


def draw_forest(
    canvas: Canvas,
    rows: pd.DataFrame,
    label: str,
    header: str,
    level: float | None,
    *,
    references: Mapping[float, str] = {},
    percent: bool = False,
) -> list[str]:
    """Draw a dot and an interval for each name, with numbers and tie bars on the right.

    The rows are sorted from best to worst. They have the columns name, value, low, high, accent
    (whether the row is highlighted), rank if there are ranks, and letters if there are ties. If
    there is not enough room, only the first and the highlighted rows are drawn, and the remaining
    values are ticks in a single row. The titles of the columns that fit are returned.
    """
    ax = canvas.ax
    look = canvas.look
    ink = canvas.ink
    rest = np.empty(0)
    most = max(3, min(_MOST, int((panel_size(ax)[1] - 48.0) / _THIN_ROW)))
    if len(rows) > most:  # the rows that fit, and the values of the remaining rows
        marked = [k for k, x in enumerate(rows["name"]) if x in look.highlighted][: most - 1]
        best = [k for k in range(len(rows)) if k not in marked][: most - 1 - len(marked)]
        kept = sorted([*best, *marked])
        rest = np.delete(rows["value"].to_numpy(dtype=float), kept)
        rows = rows.iloc[kept]
    count = len(rows)
    y = np.arange(count)
    out = canvas.out
    names = rows["name"].tolist()
    accent = rows["accent"].to_numpy(dtype=bool)
    if look.highlighted:
        accent = np.array([name in look.highlighted for name in names], dtype=bool)
    colors = np.where(accent, ink.accent, ink.plain).tolist()
    if look.colors is not None:
        colors = [look.color(ax, name) for name in names]
    ax.set_yscale("linear")  # a row is not a number
    for at, name in references.items():
        ax.axvline(at, label="_rule", **canvas.gray)
        if canvas.alone or ax is ax.figure.axes[0]:  # the same in each panel
            write(ax, name, (at, 1.0), (0, 2), xycoords=ABOVE, ha="center", color=out.note)
    value, low, high = rows[_ESTIMATES].to_numpy(dtype=float).T
    known = np.isfinite(high - low)
    if known.any():
        shown = [c for c, k in zip(colors, known, strict=True) if k]
        ax.hlines(y[known], low[known], high[known], color=shown, linewidth=1.4, zorder=2)
    size = 22
    letters = font(ax, "name")
    if count > _MANY:
        size, letters = 9, LEAST
    elif small(ax):
        size = 14
    ax.scatter(value, y, color=colors, s=size, zorder=3, linewidth=0)
    if rest.size:
        muted = {"color": ink.reference, "markersize": 4, "zorder": 3, "label": "_more"}
        ax.plot(rest, np.full(rest.size, count), "|", **muted)
        canvas.tell(f"Ticks in the last row: the values of {rest.size:,} more rows.")
    ax.set_ylim(count + (rest.size > 0) - 0.4, -0.6)

    # names of the rows
    width = panel_size(ax)[0]
    room = 0.28 * width
    if ax.figure.get_layout_engine() is None:  # the layout reserves no space on the left
        room = min(room, ax.bbox.x0 * 72.0 / ax.figure.dpi - 8.0)
    texts = cut_texts(map(canvas.text, names), letters, room)
    shades = np.where(accent, out.text(out.accent), out.fg).tolist()
    if rest.size:
        texts = [*texts, f"{rest.size:,} more"]
        shades = [*shades, out.note]
    ax.set_yticks(range(len(texts)), texts)
    for tick, shade in zip(ax.get_yticklabels(), shades, strict=True):
        tick.set_color(shade)
    canvas.frame(xlabel=label)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=4, labelsize=letters)
    set_ticks(ax.xaxis, in_percent if percent else plainly, 5.0)
    canvas.reserve_top()

    left = max((wide(text, letters) for text in texts), default=0.0)
    room = width - left - max(0.30 * width, 60.0) - 18.0
    if ax.figure.get_layout_engine() is None:  # the layout reserves no space
        room = (ax.figure.bbox.x1 - ax.bbox.x1) * 72.0 / ax.figure.dpi
    texts, limits = _values_and_limits(rows, percent=percent)
    columns = {header: texts}
    if "rank" in rows:
        columns["rank"] = rows["rank"].tolist()
    columns[interval_header(level)] = limits  # the first to be omitted
    return _write_columns(canvas, columns, list(rows.get("letters", ())), letters, room)


def _write_columns(
    canvas: Canvas,
    columns: Mapping[str, list[str]],
    letters: list[str],
    size: float,
    room: float,
) -> list[str]:
    """Write the columns that fit beside the rows, and bars for ties; return the titles."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    ax = canvas.ax
    ink = canvas.out
    head = max(LEAST, size - 1.0)
    *_, limits = columns.values()
    lanes = _lanes(letters)
    tied = _LANE * max((k + 2 for k, _ in lanes), default=0)
    if tied > room or len(lanes) > _LANES:
        lanes = []
        canvas.tell(
            "The 'letters' column of the table shows which rows do not differ significantly."
        )
    room -= tied * bool(lanes)
    kept = []
    for title, texts in columns.items():
        width = max([wide(title, head), *(wide(x, size) for x in texts)])
        if texts and width + 10.0 <= room:
            kept.append((title, texts, width))
            room -= width + 10.0
    if kept and kept[-1][1] is limits:
        kept.insert(1, kept.pop())

    heading = {"fontsize": head, "color": ink.note, "va": "bottom"}
    heading |= {"xycoords": "axes fraction", "annotation_clip": False}
    cell = {"xycoords": BESIDE, "fontsize": size, "annotation_clip": True}
    at = 8.0
    for title, texts, width in kept:
        at += width
        color = ink.note if texts is limits else ink.fg
        for k, text in enumerate(texts):
            look = {"ha": "right", "va": "center_baseline", "color": color, **cell}
            write(ax, text, (1, k), (at, 0), **look)
        write(ax, title, (1, 1), (at, 3), ha="right", **heading)
        at += 10.0
    if lanes:
        write(ax, "n.s.", (1, 1), (at, 3), ha="left", **heading)
        # a bar for each letter, with dots if there are gaps between its rows
        base = blended_transform_factory(ax.transAxes, ax.transData)
        bar = {"clip_on": False, "color": ink.fg, "label": "_tied"}
        bar |= {"scalex": False, "scaley": False}
        gaps = False
        for lane, group in lanes:
            aside = (at + 3.0 + _LANE * lane) / 72.0
            bar["transform"] = base + ScaledTranslation(aside, 0, ax.figure.dpi_scale_trans)
            ends = [group[0] - 0.28, group[-1] + 0.28]
            ax.plot([1, 1], ends, linewidth=1.2, solid_capstyle="butt", **bar)
            if group != list(range(group[0], group[-1] + 1)):
                gaps = True
                ax.plot([1] * len(group), group, "o", markersize=2.6, **bar)
        dots = "; a bar with dots connects only the rows with a dot" * gaps
        canvas.tell(f"Bars on the right connect rows that do not differ significantly{dots}.")
    return [title for title, *_ in kept]


def _values_and_limits(rows: pd.DataFrame, *, percent: bool) -> tuple[list[str], list[str]]:
    """Return values and intervals as text, with the decimals of tables and sentences."""
    scale, unit = (100.0, "%") if percent else (1.0, "")
    value, low, high = scale * rows[_ESTIMATES].to_numpy(dtype=float).T
    digits = unit_of(value, high - low, percent=False).decimals
    texts = [number(x, digits) + unit for x in value]
    known = np.isfinite(high - low)
    if not known.any():
        return texts, []
    ends = zip(low, high, strict=True)
    limits = [interval_text(a, b, digits) + unit for a, b in ends]
    return texts, np.where(known, limits, "–").tolist()


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


def rows_high(table: Sized) -> tuple[float, float]:
    """Return the figure size that is needed for the rows."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    row = _DENSE if len(table) > _MANY else _ROW
    return width, max(1.0 + min(len(table), _MOST) * row, 0.45 * height)


# ---- Areas, ranks and mean differences

_SHORT = {"roc": "AUC", "ap": "AP"}
RANKED = "measure value ci_low ci_high rank_low rank_high"


@plot_of(areas.area, "measure area chance", own="y", size=rows_high)
def area(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the area under the curve for each measure, with an interval.

    Notes
    -----
    Each row is a measure. The dot marks the measure's area, and the line shows the interval.
    Both are printed on the right. The vertical gray line marks the mean area for a random order.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval.plot.area().get_xlabel()
    'area under the ROC curve'
    """
    table = table.sort_values("area", ascending=False, kind="stable")
    kind = str(table.attrs.get("kind"))
    chances = table["chance"].dropna().round(9).unique()
    digits = unit_of(chances, [], percent=False).decimals
    rows = pd.DataFrame({"name": table["measure"], "value": table["area"], "accent": False})
    rows["low"], rows["high"] = table.get("ci_low", np.nan), table.get("ci_high", np.nan)
    references = {float(x): f"random {number(float(x), digits)}" for x in chances}
    label = called(table.attrs)[0]
    header = _SHORT.get(kind, "area")
    draw_forest(canvas, rows, label, header, table.attrs.get("level"), references=references)
    if "ci_low" in table:
        canvas.tell(f"Lines: {interval_kind(table.attrs, 'separately for each measure')}.")
    canvas.tell("Vertical line: random order.")


def _by_criterion(data: Any) -> Any:
    """Return ranks of measures with n or the metric as a group; other data stay as they are."""
    if not is_table(data, RANKED):
        return data
    frame = tidy(data, RANKED, "measure_ranks").drop(columns=["row"], errors="ignore")
    return by_n(frame, "measure")


@plot_of(measure_verdicts.measure_ranks, RANKED, prepared=_by_criterion, own="y", size=rows_high)
def measure_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the value of each measure with its interval and rank.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.measure_ranks`, or its result, with a panel for each n; or
        the result of :func:`rankeval_pd.summary` for candidates.

    Notes
    -----
    Each dot marks a measure's value, and each line shows its unadjusted interval. The numbers
    on the right are the value, the interval and the rank limits. A bar on the right connects
    measures that do not differ significantly and therefore share a letter in the ``letters``
    column. A measure is in color if no other measure is significantly better. Two measures with
    overlapping intervals can still differ significantly, because both rank the same candidates.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> ax = df.rankeval.plot.measure_ranks(50)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts][-3:]
    ('precision, n = 50', ['1', '2', 'rank'])
    """
    table = table.sort_values("value", ascending=False, kind="stable")
    shares = table.attrs.get("kind") is None and "metric" not in table.attrs
    _draw_ranks(canvas, table, "measure", what_of(table.attrs), shares=shares)


@plot_of(
    tests.system_ranks,
    "system value ci_low ci_high",
    forms=["items"],
    own="y",
    size=rows_high,
)
def system_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the score of each system with its interval and rank.

    Notes
    -----
    Each dot marks a system's score, and each line shows its unadjusted interval. The
    numbers on the right are the score, the interval and the rank limits. A bar on the right
    connects systems that do not differ significantly. A system is in color if no other system is
    significantly better.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.system_ranks().get_xlabel()
    'mean score'
    """
    best = first_of(table, ("rank", "rank_low", "system"))
    table = table.sort_values(best, kind="stable")
    _draw_ranks(canvas, table, "system", score_of(table.attrs), shares=False)


def _draw_ranks(
    canvas: Canvas, table: pd.DataFrame, name: str, label: str, *, shares: bool
) -> None:
    """Draw values with intervals, ranks and ties."""
    attrs = table.attrs
    header = "precision" if shares else "value"
    rows = pd.DataFrame({"name": table[name], "value": table["value"]})
    rows["low"], rows["high"] = table["ci_low"], table["ci_high"]
    rows["accent"], ranked = True, "rank_low" in table  # a single system has no rank
    if ranked:
        rows["accent"] = table.get("tied_for_best", table["rank_low"] == 1)
        limits = table[["rank_low", "rank_high"]].to_numpy(dtype=float)
        rows["rank"] = [_rank_text(*x) for x in limits]
    if "letters" in table:
        rows["letters"] = table["letters"]
    written = draw_forest(canvas, rows, label, header, attrs.get("level"), percent=shares)
    noun = noun_of(attrs)
    scope = f"separately for each {noun}"
    if attrs.get("intervals") == "simultaneous":
        scope = f"for all {noun}s together"
    canvas.tell(f"Lines: {interval_kind(attrs, scope)}.")
    if not ranked:
        return
    how = pairs_kind(attrs, len(table) * (len(table) - 1) // 2)
    level = 1.0 - alpha_of(attrs)
    if "rank" in written:
        canvas.tell(f"Rank: {joined(f'{percent_of(level)} interval for the rank', how)}.")
    canvas.tell(f"Colored {noun}s: no other {noun} is significantly better.")


def _rank_text(low: float, high: float) -> str:
    """Format the limits of a rank, such as 2–4; return "" if they are not known."""
    if not np.isfinite(high - low):
        return ""
    if low == high:
        return f"{low:.0f}"
    return f"{low:.0f}–{high:.0f}"


def what_of(attrs: Attrs) -> str:
    """Return the name of the ranking criterion."""
    name = called(attrs)[0]
    if "metric" in attrs:
        return " ".join(filter(None, ["mean", name, "over queries"]))
    if attrs.get("n"):
        name += f", n = {attrs['n']:,}"
    return name


def score_of(attrs: Attrs) -> str:
    """Return the name of the scores; tables of measures contain it."""
    return str(attrs.get("what") or called(attrs)[0])


def gain_of(attrs: Attrs) -> str:
    """Return the unit of the gain, which is the metric if the table contains it."""
    return f"gain in {score_of(attrs)}"


# ---- Precision over repeated samples and the binomial model (Evert 2004, figure 4)
_FEW = 12  # fewer samples are drawn as dots


def _with_samples(data: Data, *args: Any, **asked: Any) -> tuple[Any, Any]:
    """Return the variation over samples, and the samples."""
    with one_reading():
        return repetition_of(data, *args, **asked), repetition_samples(data, *args, **asked)


@plot_of(
    repetition_of,
    "measure threshold precision sd_expected sd_observed",
    tables=_with_samples,
    whole=True,
    clusters=False,
)
def repetition(place: tuple[Any, Look], table: Any, samples: Any = None, /) -> AnyArray:
    """Draw the distribution of precision over samples, with one panel per measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.repetition`, or its result, followed by that of
        :func:`rankeval_pd.repetition_samples` for the same measures.

    Returns
    -------
    array of Axes

    Notes
    -----
    Each panel is a histogram of the precision over samples, or dots for fewer than twelve. The
    colored curve is a normal distribution with the observed standard deviation. The gray curve is a
    normal distribution with the standard deviation of the binomial model (Evert 2004, Eq. 4). All
    panels have the same scales, and each panel shows the ratio of observed to expected variation.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"G2": rng.random(900), "gold": rng.random(900) < 0.3})
    >>> df["sample"] = np.arange(900) % 9
    >>> axes = df.rankeval(by="sample").plot.repetition(n=20)
    >>> len(axes)
    1
    """
    ax, look = place
    table = table_of(table, "measure threshold precision sd_expected sd_observed", "repetition")
    rows = "measure threshold n_accepted precision"
    samples = tidy(samples, rows, "repetition_samples")
    thresholds = samples.drop_duplicates(["measure", "threshold"]).set_index("measure")["threshold"]
    if not thresholds.reindex(table["measure"]).equals(table.set_index("measure")["threshold"]):
        raise ValueError(
            "samples and table differ in their measures or thresholds. Pass repetition and"
            " repetition_samples for the same data, with the same threshold or n."
        )
    count = len(table)
    if count > MOST:
        raise ValueError(
            f"there are {count} measures, but a figure has at most {MOST} panels. Choose some: "
            "data.rankeval(measures=[...])."
        )
    if ax is not None:
        panels = given_panels(ax, count, "measures")
    elif count < 2:
        panels = grid_of(1, 1, None)[:count]
    else:
        columns = 1 + (count > 6)
        size = max(6.4, 3.1 * columns), 1.7 * -(-count // columns) + 0.4
        panels = grid_of(count, columns, size, sharex=True, sharey=True)
    found = samples["precision"].dropna()
    edges = np.array([0.0, 1.0])
    high = 0.0
    if len(found):  # the same bins in all panels
        bins = max(8, min(40, round(2.5 * len(found) ** (1.0 / 3.0))))
        step = max(np.ptp(found), 0.01) / bins
        first = max(found.min() - 2.5 * step, 0.0)
        edges = np.arange(first, min(found.max() + 2.5 * step, 1.0) + step, step)
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        mine = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        canvas = Canvas(panel, look, "repetition", alone=False)
        high = max(high, _draw_samples(canvas, mine.to_numpy(dtype=float), row, edges))
    for panel in panels:
        share = min(0.5, 4.2 * font(panel, "note") / (0.62 * panel_size(panel)[1]))
        top = high / (1.0 - share * _tall(panel))  # the lines of text are above the histogram
        panel.set_ylim(0.0, 1.05 * top or 1.0)
        panel.set_xlim(edges[0], min(edges[-1], 1.0))
        set_ticks(panel.xaxis, in_percent, 5.0)
        set_ticks(panel.yaxis, compact, 3.0)
        last = ax is not None or panel.get_subplotspec().is_last_row()
        panel.set_xlabel("precision of the sample" * last, fontsize=font(panel, "label"))
    if len(panels) and look.title is not None:
        panels[0].figure.suptitle(look.title, fontsize=font(panels[0], "label") + 1.0)
    return panels


def _tall(panel: Any) -> bool:
    """Return whether a panel has room for three lines of text."""
    width, height = panel_size(panel)
    return width > 200 and height > 110


def _draw_samples(canvas: Canvas, found: AnyArray, row: pd.Series[Any], edges: Any) -> float:
    """Draw one measure's samples with two normal curves; return the largest height."""
    panel, measure, ink = canvas.ax, row["measure"], canvas.ink
    color = canvas.color(measure)
    marks = "Columns"
    if found.size < _FEW:
        marks = "Dots"
        counts = np.ones(1)
        canvas.dots(found, np.full(found.size, 0.5), color, markersize=5, label="samples", zorder=4)
    else:
        bars = {"color": mixed_color(color, ink.bg, 0.38), "edgecolor": ink.bg, "linewidth": 0.8}
        counts, _, _ = panel.hist(found, bins=edges, **bars, label="samples")
    across = np.linspace(edges[0], edges[-1], 400)
    wide = edges[1] - edges[0]
    high = float(np.max(counts, initial=0.0))
    for sd, shade, width, name in (
        (float(row["sd_expected"]), ink.line(ink.gray(0.7)), 1.1, "expected by the model"),
        (float(row["sd_observed"]), color, LINE, "observed"),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):  # no curve without variation
            z = (across - float(row["precision"])) / sd
            height = found.size * wide * np.exp(-0.5 * z**2) / (sd * np.sqrt(2.0 * np.pi))
        panel.plot(across, height, color=shade, linewidth=width, label=name, zorder=3)
        high = max(high, float(np.nanmax(height, initial=0.0)))
    canvas.frame(ylabel="samples")
    canvas.tell(
        f"{marks}: samples. Colored curve: normal distribution with the standard deviation of the"
        " samples. Gray curve: normal distribution with the standard deviation of the binomial"
        " model."
    )
    variance = f"variance {row['phi']:.1f} times the model's"
    if "phi_low" in row:
        variance += f" ({interval_text(row['phi_low'], row['phi_high'], 1)})"
    own = ink.text(color)
    lines = [
        (f"{found.size:,} samples vary by {100 * row['sd_observed']:.1f} points (sd)", own),
        (f"the model expects {100 * row['sd_expected']:.1f} points", ink.note),
        (variance, ink.fg),
    ]
    size = font(panel, "note")
    name = cut_text(canvas.text(measure), font(panel, "name"), 0.6 * panel_size(panel)[0])
    shade = canvas.out.text(color)
    panel.set_title(name, fontsize=font(panel, "name"), loc="left", color=shade)
    start, va = -2, "top"
    if not _tall(panel):
        lines = lines[2:]
        start = 2
        va = "bottom"
    place = {"xycoords": "axes fraction", "ha": "right", "va": va}
    for k, (text, shade) in enumerate(lines):
        place["weight"] = "bold" if text is variance else "normal"
        write(panel, text, (1, 1), (0, start - 1.35 * size * k), color=shade, **place)
    return high
