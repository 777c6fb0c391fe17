"""Plots of odds ratios and p-values over n, and of the distribution for random lists."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from rankeval_pd.plotting.canvas import THIN, XLABELS, Canvas, interval_kind
from rankeval_pd.plotting.numbers import compact, plainly, rate_text, set_ticks
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import is_log, table_of

_MANY = 100  # with more values of n per pair, p-values are drawn as a band

# ------------ Pairs of measures over n: odds ratios, and p-values for several tie-breaking orders


def _by_pair(canvas: Canvas, table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the rows for each pair of measures."""
    named = table[["measure_a", "measure_b"]].drop_duplicates().to_numpy(dtype=object)
    labels = {(a, b): f"{canvas.text(a)} : {canvas.text(b)}" for a, b in named}
    canvas.look = replace(canvas.look, labels=labels, order=list(labels))
    groups = table.groupby(["measure_a", "measure_b"], sort=False, dropna=False)
    return {pair: rows.sort_values("n").assign(x=rows["n"]) for pair, rows in groups}


@picture(("measure_a", "measure_b", "n", "odds_ratio_mle", "ci_low", "ci_high"), "odds_ratios")
def draw_odds_ratios(canvas: Canvas, table: pd.DataFrame, *, log: bool | None = None) -> None:
    """Draw the odds ratio for the two difference regions over n, on a logarithmic scale."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    estimates = table[["odds_ratio_mle", "ci_low", "ci_high"]].to_numpy(dtype=float)
    inside = estimates[np.isfinite(estimates) & (estimates > 0.0)]
    low, high = (float(inside.min()), float(inside.max())) if inside.size else (0.1, 10.0)
    low, high = min(low, 0.5) / 1.5, max(high, 2.0) * 1.5
    ax.set_yscale("log")
    canvas.limits("y", low, high)
    pairs = _by_pair(canvas, table)
    means = {pair: float(rows["odds_ratio_mle"].mean()) for pair, rows in pairs.items()}
    canvas.choose(means, "odds ratios")
    canvas.across("n", log=logarithmic)
    for pair, rows in pairs.items():
        odds = rows["odds_ratio_mle"]
        known = np.isfinite(odds) & (odds > 0.0)  # lines do not extend to 0 or infinity
        canvas.curve(pair, rows["n"], odds.where(known))
        for beyond, edge, sign in ((np.isposinf(odds), high, "^"), (odds == 0.0, low, "v")):
            if beyond.any():  # an unclipped line without points is drawn in the corner
                look = {"color": canvas.color(pair), "marker": sign, "markersize": 6}
                ax.plot(rows["n"][beyond], np.full(beyond.sum(), edge), clip_on=False,
                        linestyle="none", label=f"_{sign}", **look)  # fmt: skip
        pairs[pair] = rows.assign(
            low=rows["ci_low"].clip(low, high), high=rows["ci_high"].clip(low, high)
        )
    canvas.across("n", log=logarithmic)
    canvas.uncertainty(
        pairs, "low", "high", interval_kind(table.attrs, ("exact, separately at each n"))
    )
    canvas.rule(1.0, "no difference")
    if not np.isfinite(estimates).all() or (estimates == 0.0).any():
        canvas.tell(
            "Triangles: odds ratios of 0 or infinity, from a region without true or false"
            " positives."
        )
    canvas.limits("y", low, high)
    canvas.upwards(plainly)
    if len(table) and table["n"].min() < table["n"].max():
        canvas.limits("x", high=float(table["n"].max()) * 1.02)
    canvas.finish(xlabel=XLABELS["n"], ylabel="odds ratio")


@picture(("measure_a", "measure_b", "n", "p_min", "p_median", "p_max"), "tie_sensitivity")
def draw_tie_sensitivity(
    canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05, log: bool | None = None
) -> None:
    """Draw the range of the p-value over different tie-breaking orders."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    p = table[["p_min", "p_max"]].to_numpy(dtype=float)
    least = max(float(np.min(p[p > 0.0], initial=1.0)), 1e-300)
    ax.set_yscale("log")
    pairs = _by_pair(canvas, table)
    canvas.choose({pair: -float(rows["p_median"].mean()) for pair, rows in pairs.items()}, "rank")
    canvas.across("n", log=logarithmic)
    for place, (pair, rows) in enumerate(pairs.items()):
        low, middle, high = (rows[f"p_{x}"].clip(lower=least) for x in ("min", "median", "max"))
        if len(rows) > _MANY:
            canvas.band(pair, rows["n"], low, high)
        else:
            canvas.bars(pair, rows["n"], low, high, place=place, count=len(pairs))
        size = {"marker": "o", "markersize": 4 if len(rows) <= 100 else 2, "markeredgewidth": 0}
        canvas.curve(pair, rows["n"], middle, linestyle="none", **size)
    keys = table.attrs.get("n_keys")
    orders = f"{keys} orders of equal scores" if keys else "the orders of equal scores"
    canvas.tell(
        f"Dots: the median p-value over {orders}; bars: the range from the smallest to the largest."
    )
    if (p == 0.0).any():
        canvas.tell(f"Marks at the bottom edge: p below {least:.0e}.")
    canvas.rule(alpha, f"p = {alpha:g}")
    bottom, top = ax.get_ylim()
    canvas.limits("y", bottom, min(top, 1.3))
    canvas.upwards(plainly, 5.0)
    canvas.across("n", log=logarithmic)
    canvas.finish(xlabel=XLABELS["n"], ylabel="p-value")


# ------------------- The distribution of a random list's true positives (Macskassy 2005, figure 1)

_LAWS = ("discrete", "interpolated", "parametric")


@picture(("n", "tp", *_LAWS), "random_cdf")
def draw_random_cdf(canvas: Canvas, table: pd.DataFrame, bound: pd.DataFrame | None = None) -> None:
    """Draw distribution functions of the number of true positives in a random list."""
    sizes = table["n"].drop_duplicates().tolist()
    if len(sizes) > 1:
        raise ValueError(
            f"table has {len(sizes)} list sizes, but a plot shows only one. Choose a size:"
            f" table[table['n'] == {sizes[0]}]."
        )
    ax = canvas.ax
    canvas.look = replace(canvas.look, order=_LAWS)
    for law in _LAWS:
        step = {"drawstyle": "steps-post"} if law == "discrete" else {}
        canvas.curve(law, table["tp"], table[law], marker="none", **step)
    if bound is not None and sizes:
        rows = table_of(bound, ("p", "n", *_LAWS), "random_bound")
        found = rows.loc[rows["n"] == sizes[0], ["p", *_LAWS]].to_numpy(dtype=float)
        for p, *bounds in found:
            look = canvas.look.band(None, color=canvas.ink.reference, linewidth=THIN, zorder=1)
            ax.axhline(1.0 - p, **look)
            for law, at in zip(_LAWS, bounds, strict=True):
                mark = {"color": canvas.color(law), "marker": "o", "markersize": 5, "zorder": 4}
                mark |= {"markeredgecolor": canvas.ink.bg, "label": f"_{law}"}
                ax.plot(at, 1.0 - p, linestyle="none", **canvas.look.mark(law, **mark))
            canvas.values(f"bound, {rate_text(p)}", {
                law: f"{at:.4g}" for law, at in zip(_LAWS, bounds, strict=True)
            })  # fmt: skip
        canvas.tell("Dots: the bounds, where each distribution function reaches 1 − p.")
    size = f" {sizes[0]:,}" if sizes else ""
    canvas.meet = True
    ax.set_ylim(0.0, 1.02)
    canvas.upwards()

    set_ticks(ax.xaxis, compact, 4.0)
    canvas.finish(xlabel=f"true positives among the first{size}", ylabel="P(as many or fewer)")
