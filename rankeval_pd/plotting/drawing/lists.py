"""Precision curves, chance beside them, and repeated samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import (
    BAND_DASHES,
    GREY,
    XLABELS,
    Canvas,
    check_columns,
    check_marks,
    check_options,
    check_relevant,
    draw_marks,
    is_log,
    percent,
    positions,
    sparse,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.legends import panel_size, place_legend
from rankeval_pd.plotting.drawing.panels import (
    MOST,
    end,
    given_panels,
    looks,
    new_panels,
    one_of,
    picture,
)
from rankeval_pd.plotting.drawing.scales import in_percent, set_ticks, write_above

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes


# ------------------- Precision curves with their intervals and bands (Evert 2004, figures 1 and 2)

_KINDS = {
    "clopper-pearson": "Clopper-Pearson", "wilson": "Wilson", "jeffreys": "Jeffreys",
    "midp": "mid-p", "blaker": "Blaker", "student": "Student's",
}  # fmt: skip
REFERENCES = ("random", "ideal")


NEEDED = ("measure", "n", "precision", "lift", "ci_low", "ci_high")
BANDED = 4  # measures whose bands can be told apart
BARRED = 12  # measures whose bars can
_BAR = 2.6  # points that a bar needs to be told from the next


def banded(
    names: Sequence[Hashable], highlighted: Sequence[Hashable], *, few: bool, barred: int = BARRED
) -> list[Hashable]:
    """Return the measures that get bands unless asked: those chosen, or all where they are few.

    Where the n are few, bars stand side by side, and more can be told apart.
    """
    if highlighted:
        return list(highlighted)
    return list(names) if len(names) <= (barred if few else BANDED) else []


@picture(NEEDED, "nbest_precision")
def draw_precision(
    canvas: Canvas,
    table: pd.DataFrame,
    band: pd.DataFrame | None = None,
    *,
    x: str = "n",
    log: bool | None = None,
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    intervals: bool | None = None,
    bands: bool | None = None,
) -> None:
    """Draw the precision of n-best lists, its intervals and bands, and the baseline."""
    ax = canvas.ax
    if band is not None:
        band = table_of(band, ("measure", "n", "band_low", "band_high"), "precision_band")
        _check_same_lists(table, band)
    references, relevant, mark = checked(table, x, mark, relevant, reference)
    names = list(table["measure"].drop_duplicates())
    few = sparse(table["n"].nunique())
    barred = min(BARRED, int(0.68 * panel_size(ax)[0] / (_BAR * max(table["n"].nunique(), 1))))
    chosen = banded(names, canvas.look.highlighted, few=few, barred=barred)
    alone = names if intervals else [] if intervals is False else chosen
    together = names if bands else [] if bands is False else chosen
    logarithmic = x != "recall" and is_log(log, table["n"])
    for number, measure in enumerate(names):
        rows = table[table["measure"] == measure]
        rows = rows.assign(x=positions(rows, x))
        if few and (alone or together):
            rows = rows.assign(x=beside(rows["x"], number, len(names), log=logarithmic))
        curve = thinned(rows)
        canvas.curve(measure, curve["x"], curve["precision"])
        if measure in alone:
            _draw_band(canvas, measure, curve, ("ci_low", "ci_high"), simultaneous=False)
        if band is not None and measure in together:
            wide = band[band["measure"] == measure].merge(rows[["n", "x"]], on="n").sort_values("n")
            _draw_band(canvas, measure, wide, ("band_low", "band_high"), simultaneous=True)
        draw_marks(ax, rows, "precision", mark, x, first=number == 0)
    canvas.across(x, log=logarithmic)
    if "random" in references:
        draw_baseline(ax, table)
    if relevant:
        _draw_relevant(ax, table, relevant)
    if "ideal" in references:
        draw_ideal(ax, table, x)
    if len(table):
        _name_bands(canvas, table, band if together else None, alone=bool(alone))
        if not (alone or together) and intervals is bands is None:
            canvas.note(f"no bands ({len(names)} measures; highlight=… has them)")
    canvas.upwards_in_percent()
    canvas.finish(ylabel="precision", xlabel=XLABELS[x])


def checked(
    table: pd.DataFrame, x: str, mark: Any, relevant: Any, reference: Any
) -> tuple[list[str], float, list[int]]:
    """Return the curves to compare with, the relevant gain and the marks, or say what is wrong."""
    references: list[Any] = [reference]
    if reference is None or reference is False:
        references = []
    elif np.iterable(reference) and not isinstance(reference, str):
        references = list(reference)
    check_options(x, references, REFERENCES)
    return references, check_relevant(relevant), check_marks(mark, table["n"])


def beside(x: pd.Series[Any], number: int, count: int, *, log: bool) -> pd.Series[Any]:
    """Return places moved a little, so that the bars of several names stand side by side."""
    if count < 2 or len(x) < 2:
        return x
    at = np.log(x.to_numpy(dtype=float)) if log else x.to_numpy(dtype=float)
    ordered = np.sort(at)
    step = min(0.5 * np.min(np.diff(ordered)) / count, 0.015 * (ordered[-1] - ordered[0]))
    at = at + step * (number - 0.5 * (count - 1))
    return pd.Series(np.exp(at) if log else at, index=x.index)


def _check_same_lists(table: pd.DataFrame, band: pd.DataFrame) -> None:
    """Raise a ValueError where the band is not one of the lists of the table."""
    pairs = table[["measure", "n"]].drop_duplicates()
    common = pairs.merge(band[["measure", "n"]].drop_duplicates())
    if len(band) > len(common) or set(common["measure"]) != set(pairs["measure"]):
        raise ValueError(
            "band has other measures or other n than table. Give the precision_band of the same"
            " data, measures and n."
        )


def _draw_band(
    canvas: Canvas,
    measure: Hashable,
    rows: pd.DataFrame,
    limits: tuple[str, str],
    *,
    simultaneous: bool,
) -> None:
    low, high = limits
    interval = rows["x"], rows[low], rows[high]
    look: dict[str, Any] = {"color": canvas.look.colour(canvas.ax, measure)}
    if sparse(len(rows)):
        thick = 4.0 if len(canvas.look.order) <= BANDED else 2.0
        wide = {"linewidth": 1.2 if thick > 2.0 else 0.7, "alpha": 0.5}
        look |= wide if simultaneous else {"linewidth": thick, "alpha": 0.6}
        canvas.ax.vlines(*interval, **canvas.look.band(measure, **look))
    else:
        look |= {"alpha": 0.1 if simultaneous else 0.22, "linewidth": 0}
        canvas.ax.fill_between(*interval, **canvas.look.band(measure, **look))


def _name_bands(
    canvas: Canvas, table: pd.DataFrame, band: pd.DataFrame | None, *, alone: bool
) -> None:
    names = [(_interval_name(table), 0.35, 4.0)] if alone else []
    if band is not None and len(band):
        names.append((_band_name(table, band), 0.14, 1.2))
    for name, alpha, width in names:
        if sparse(table["n"].nunique()):  # as the bars are drawn
            canvas.ax.plot([], [], color=GREY, alpha=0.6, linewidth=width, label=name)
        else:
            canvas.ax.fill_between([], [], color=GREY, alpha=alpha, linewidth=0, label=name)


def _interval_name(table: pd.DataFrame) -> str:
    attrs = table.attrs
    ci, level = attrs.get("ci"), attrs.get("level")
    kind = f"{percent(level)} {_KINDS.get(ci, ci)} interval" if ci and level else "interval"
    phi = f", phi\u00a0=\u00a0{attrs['phi']:.3g}" if attrs.get("phi", 1.0) != 1.0 else ""
    target = ", of the n-best list" if attrs.get("target") == "nbest" else ""
    target = ", over queries" if attrs.get("average") else target
    return f"{kind}{phi}{target}, pointwise"


def _band_name(table: pd.DataFrame, band: pd.DataFrame) -> str:
    level = band.attrs.get("level")
    short = " (too narrow above 90\u00a0%)" if (table["precision"] > 0.9).any() else ""
    return f"{percent(level) + ' ' if level else ''}sup-t band, all n together{short}"


def sizes_of(table: pd.DataFrame) -> tuple[float, float]:
    """Return how many candidates and true positives there are; NaN where no row tells."""
    check_columns(table, ("recall",), "nbest_precision")
    told = table[(table["precision"] > 0) & (table["recall"] > 0)]
    if told.empty:
        return np.nan, np.nan
    row = told.iloc[0]
    positive = row["n"] * row["precision"] / row["recall"]
    return float(positive * row["lift"] / row["precision"]), float(positive)


def draw_ideal(ax: Axes, table: pd.DataFrame, x: str) -> None:
    """Draw the precision of an order with all true positives first."""
    total, positive = sizes_of(table)
    n = np.unique(table["n"].to_numpy())
    result = np.minimum(n, positive)
    across = {"n": n, "share": n / total, "recall": result / positive}[x]
    ax.plot(across, result / n, color=GREY, linewidth=1, linestyle=(0, (6, 2)), label="ideal order")


def _draw_relevant(ax: Axes, table: pd.DataFrame, relevant: float) -> None:
    """Draw a line at the least gain over the baseline that is relevant."""
    shares = (table["precision"] / table["lift"]).dropna()
    if len(shares):
        name = f"relevant: baseline + {100 * relevant:.3g} points"
        ax.axhline(
            float(shares.iloc[0]) + relevant, color=GREY, linewidth=1, linestyle=(0, (1, 1)),
            label=name,
        )  # fmt: skip


def draw_baseline(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the precision of a random choice, N+/N, which is precision over lift.

    Averages over queries have none: each query has its own, and their lists end at different n.
    """
    if "n_queries" in table:
        return
    shares = (table["precision"] / table["lift"]).round(12).dropna()
    for number, share in enumerate(shares.drop_duplicates()):
        name = f"baseline, {100 * share:.2f}\u00a0%" if number == 0 else None
        ax.axhline(share, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label=name)


# --------------------- What a random ranking reaches, beside the measures' curves (Macskassy 2005)


@picture(("p", "n", "expected", "critical"), "random_bound")
def draw_random_bound(
    canvas: Canvas,
    bound: pd.DataFrame,
    precision: pd.DataFrame | None = None,
    envelope: pd.DataFrame | None = None,
    *,
    log: bool | None = None,
) -> None:
    """Draw the precision that is significantly above a random ranking's, and the measures' own."""
    ax = canvas.ax
    positive = np.inf
    if precision is not None:
        needed = ("measure", "n", "precision", "recall", "lift")
        curves = table_of(precision, needed, "nbest_precision")
        _, positive = sizes_of(curves)
        for measure in curves["measure"].drop_duplicates():
            rows = thinned(curves[curves["measure"] == measure])
            canvas.curve(measure, rows["n"], rows["precision"])
        draw_baseline(ax, curves)
    for number, (p, rows) in enumerate(bound.groupby("p", sort=False)):
        name = f"chance p\u00a0≤\u00a0{p:g}, each n alone"
        _draw_counts(canvas, rows, "critical", name, number, "black", positive)
    if envelope is not None:
        wider = table_of(envelope, ("alpha", "n", "envelope"), "random_envelope")
        for number, (p, rows) in enumerate(wider.groupby("alpha", sort=False)):
            name = f"chance p\u00a0≤\u00a0{p:g}, all n together"
            _draw_counts(canvas, rows, "envelope", name, number, "0.55", positive)
    if precision is None and len(bound):
        prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0])
        ax.axhline(
            prior, color=GREY, linewidth=1, linestyle=(0, (2, 2)),
            label=f"baseline, {100 * prior:.2f}\u00a0%",
        )  # fmt: skip
    canvas.across("n", log=is_log(log, bound["n"]))
    canvas.upwards_in_percent()
    canvas.finish(xlabel=XLABELS["n"], ylabel="precision")


def _draw_counts(
    canvas: Canvas,
    rows: pd.DataFrame,
    column: str,
    name: str,
    number: int,
    colour: str,
    positive: float,
) -> None:
    """Draw counts as precision, where a list can have as many."""
    rows = thinned(rows)
    most = np.minimum(rows["n"], positive if np.isfinite(positive) else rows["n"])
    possible = rows[column] <= most + 1e-6
    if "attainable" in rows:  # without curves nothing else tells how many true positives there are
        possible &= rows["attainable"].astype(bool)
    share = (rows[column] / rows["n"]).where(possible)
    dash = BAND_DASHES[number % len(BAND_DASHES)]
    look = {"color": colour, "linewidth": 1, "linestyle": dash, "label": name}
    canvas.ax.plot(rows["n"], share, **canvas.look.band(None, **look))


# ------------ Precision over repeated samples beside what the model expects (Evert 2004, figure 4)


def draw_repetition(table: Any, samples: Any, **options: Any) -> npt.NDArray[Any]:
    """Draw how precision is distributed over samples, one panel a measure."""
    table = table_of(
        table, ("measure", "threshold", "precision", "sd_expected", "sd_ratio"), "repetition"
    )
    needed = ("measure", "threshold", "n_accepted", "precision")
    samples = table_of(samples, needed, "repetition_samples", grouped=True)
    thresholds = samples.drop_duplicates(["measure", "threshold"]).set_index("measure")["threshold"]
    if not thresholds.reindex(table["measure"]).equals(table.set_index("measure")["threshold"]):
        raise ValueError(
            "samples are not those of table: their measures or thresholds differ. Give repetition"
            " and repetition_samples of the same data, with the same threshold or n."
        )
    ax, wrap, look = looks(options)
    look.check_names(table["measure"].tolist())
    panels = _panels(ax, len(table), wrap)
    high = 0.0
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        result = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        high = max(high, _draw(Canvas(panel, look, alone=False), result.to_numpy(), row))
    _share(panels, high)
    if len(panels) > 1:
        end(panels, look, ours=ax is None)
    elif len(panels):
        place_legend(panels[0], look.legend)
        if look.title is not None:
            panels[0].set_title(look.title)
    return panels


def _panels(ax: Any, count: int, wrap: int | None) -> npt.NDArray[Any]:
    """Return the axes given, one a measure, or those of a new figure."""
    if count > MOST:
        raise ValueError(
            f"there are {count} measures, and a picture has {MOST} panels at the most. Choose some:"
            " data.rankeval(measures=[...])."
        )
    if ax is not None:
        return given_panels(ax, count, "measures")
    return np.array([one_of(None)], dtype=object)[:count] if count < 2 else new_panels(count, wrap)


def _share(panels: npt.NDArray[Any], high: float) -> None:
    """Give all panels the limits that show what is in any of them."""
    ends = np.array([panel.get_xlim() for panel in panels]).reshape(-1, 2)
    for panel in panels:
        panel.set_xlim(ends[:, 0].min(), ends[:, 1].max())
        least = 0.5 if panel.get_yscale() == "log" else 0.0  # half a sample has no bar
        panel.set_ylim(least, 1.05 * high or 1.0)


def _draw(canvas: Canvas, found: npt.NDArray[Any], row: pd.Series[Any]) -> float:
    """Draw the samples of one measure and the normal distribution that the model expects.

    Return how high they are.
    """
    panel, look, measure = canvas.ax, canvas.look, row["measure"]
    bars = max(5, round(2.0 * found.size ** (1.0 / 3.0)))
    bar = {"alpha": 0.45, "edgecolor": "white", "label": f"{found.size} samples"}
    filled = look.band(measure, color=canvas.colour(measure), **bar)
    counts, edges, _ = panel.hist(found, bins=bars, **filled)
    mean, sd = float(row["precision"]), float(row["sd_expected"])
    low, high = min(edges[0], mean - 3.5 * sd), max(edges[-1], mean + 3.5 * sd)
    across = np.linspace(max(low, 0.0), min(high, 1.0), 300)
    with np.errstate(divide="ignore", invalid="ignore"):  # no spread, no curve
        density = np.exp(-0.5 * ((across - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    curve = {"color": "black", "linewidth": 1.2, "label": "expected by the model"}
    height = density * found.size * (edges[1] - edges[0])
    panel.plot(across, height, **look.rule(measure, **curve))
    line = {"color": GREY, "linewidth": 1, "linestyle": (0, (2, 2)), "label": "pooled precision"}
    panel.axvline(mean, **look.mark(measure, **line))
    set_ticks(panel.xaxis, in_percent, 5.0)
    said = f"sd {row['sd_ratio']:.2f} × the model's {100 * sd:.2g} points"
    canvas.finish(ylabel="samples", xlabel="precision of the sample")
    font = min(float(panel.xaxis.label.get_fontsize()), 9.0)
    # the name is the title, as in every panel, and what was found stands below it
    panel.set_title(canvas.text(measure), fontsize=font + 0.5)
    write_above(panel, said, fontsize=0.75 * font, color=GREY)
    return float(max(np.max(counts, initial=0.0), height.max(initial=0.0)))
