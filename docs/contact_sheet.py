"""Draw every plot in many settings on contact sheets, to be looked at.

``python docs/contact_sheet.py FOLDER`` writes PNG files, one page for some twenty pictures. The
settings (names, candidates, size, alone or in a grid, colour or grey) are chosen so that all pairs
of them occur for each plot; a picture's title says its settings.
"""

from __future__ import annotations

import io
import itertools
import sys
import warnings
from functools import cache
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rankeval_pd.errors import RankevalWarning

mpl.use("Agg")

SETTINGS = {
    "names": (2, 5, 12),
    "size": (20, 5_102, 200_000),
    "inches": ((6.4, 4.8), (3.15, 2.36)),
    "grid": (False, True),
    "grey": (False, True),
}
NAMES = ["G2", "t-score", "f", "X2 (Yates)", "MI", "Dice", "log-likelihood ratio", "_z", "$MI^3$",
         "odds ratio 90%", "Jaccard", "a name that is far too long for any legend"]  # fmt: skip


@cache
def candidates(names: int, size: int) -> pd.DataFrame:
    rng = np.random.default_rng(names)
    gold = rng.random(size) < (0.3 if size < 100 else 0.1)
    gold[:3] = [True, False, True]
    skill = np.linspace(1.6, 0.3, names)
    scores = {NAMES[k]: rng.normal(size=size) + skill[k] * gold for k in range(names)}
    return pd.DataFrame({**scores, "gold": gold})


@cache
def items(systems: int, size: int) -> pd.DataFrame:
    rng = np.random.default_rng(systems)
    easy = rng.normal(size=(min(size, 3000), 1))
    right = easy + rng.normal(size=(len(easy), systems)) < np.linspace(0.9, 0.1, systems)
    named = [*NAMES, *(f"system {k}" for k in range(60))][:systems]
    return pd.DataFrame(right, columns=named)


def _few(size: int) -> list[int]:
    return [5, 10, 15] if size < 100 else [100, 300, 1000, 2000]


B = {"n_resamples": 300}
RANKINGS = {
    "precision": lambda p, N: p.precision(n_resamples=100),
    "precision_few": lambda p, N: p.precision(_few(N), n_resamples=100),
    "comparison": lambda p, N: p.comparison(n=None if N < 9999 else range(100, 9000, 100),
                                            n_resamples=None if N < 99 else 1319,
                                            simultaneous=N < 99),
    "random_bound": lambda p, N: p.random_bound([0.05, 0.001]),
    "random_cdf": lambda p, N: p.random_cdf(min(N, 100) // 2, [0.5, 0.05]),
    "roc": lambda p, N: p.roc(bands=0.05),
    "precision_recall": lambda p, N: p.precision_recall(f_scores=[0.2, 0.4]),
    "det": lambda p, N: p.det(bands=0.05),
    "lift": lambda p, N: p.lift(enrichment=0.1),
    "gain": lambda p, N: p.gain(log=True),
    "area": lambda p, N: p.area(),
    "measure_ranks": lambda p, N: p.measure_ranks(min(N // 4, 500)),
    "pairs_of_measures": lambda p, N: p.pairs(kind="ap"),
    "critical_difference_of_measures": lambda p, N: p.critical_difference(kind="ap"),
    "odds_ratios": lambda p, N: p.odds_ratios("G2", "t-score", _few(N)),
    "tie_sensitivity": lambda p, N: p.tie_sensitivity("G2", "t-score", _few(N), n_keys=5),
    "mean_difference": lambda p, N: p.mean_difference("G2", "t-score", range(5, min(N, 2000)),
                                                      n_resamples=99),
}  # fmt: skip
ITEMS = {
    "confidence": lambda p, N: p.confidence(**B),
    "pairs": lambda p, N: p.pairs(**B),
    "system_ranks": lambda p, N: p.system_ranks(**B),
    "gain_by_size": lambda p, N: p.gain_by_size([10, 20] if N < 100 else [100, 300, 1000, 2000],
                                                **B),
    "critical_difference": lambda p, N: p.critical_difference(n_resamples=999),
    "paired_differences": lambda p, N: p.paired_differences("G2", "t-score", **B),
}  # fmt: skip


def draw(name: str, setting: dict[str, object], ax: object = None) -> object:
    """Draw one plot in one setting on a figure of its own, or on an Axes."""
    names, size = int(setting["names"]), int(setting["size"])  # type: ignore[call-overload]
    if name == "repetition":
        frame = candidates(names, max(size // 10, 400)).assign(
            part=lambda x: np.arange(len(x)) % 20
        )
        return frame.rankeval(by="part").plot.repetition(n=10, ax=ax)
    if name == "calibration":
        pairs = items(names, size).rankeval.paired_bootstrap(**B)
        return pairs.rankeval.plot.calibration(items(names, size), ax=ax, n_resamples=99)
    if name in RANKINGS:
        return RANKINGS[name](Given(candidates(names, size).rankeval.plot, ax), size)
    return ITEMS[name](Given(items(names, size).rankeval.plot, ax), size)


class Given:
    """Plots that all draw on one Axes."""

    def __init__(self, plots: object, ax: object) -> None:
        self.plots, self.ax = plots, ax

    def __getattr__(self, name: str) -> object:
        return lambda *args, **options: getattr(self.plots, name)(*args, **options, ax=self.ax)


PLOTS = [*RANKINGS, *ITEMS, "calibration", "repetition"]


def covering() -> list[dict[str, object]]:
    """Return settings in which all pairs of values occur, found greedily."""
    every = [dict(zip(SETTINGS, values, strict=True)) for values in
             itertools.product(*SETTINGS.values())]  # fmt: skip

    def pairs(setting: dict[str, object]) -> set[object]:
        return set(itertools.combinations(setting.items(), 2))

    open_ = set().union(*map(pairs, every))
    chosen = []
    while open_:
        best = max(every, key=lambda setting: len(pairs(setting) & open_))
        chosen.append(best)
        open_ -= pairs(best)
    return chosen


def one(name: str, setting: dict[str, object]) -> np.ndarray:
    """Return a picture as an array of pixels."""
    with plt.rc_context({"figure.figsize": setting["inches"], "figure.dpi": 110}):
        if name == "repetition":
            panels = draw(name, setting)
            figure = panels[0].figure
        elif setting["grid"]:
            figure, axes = plt.subplots(2, 2, figsize=(6.4, 4.8), layout="constrained")
            for ax in axes.ravel():
                draw(name, setting, ax)
        else:
            figure = draw(name, setting).figure
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        plt.close(figure)
    buffer.seek(0)
    pixels = plt.imread(buffer)[..., :3]
    return pixels.mean(axis=-1, keepdims=True).repeat(3, -1) if setting["grey"] else pixels


def sheet(name: str, folder: Path) -> None:
    """Draw all settings of a plot on one page."""
    pictures = [(setting, one(name, setting)) for setting in covering()]
    width = 3
    rows = -(-len(pictures) // width)
    page, axes = plt.subplots(rows, width, figsize=(7 * width, 5.4 * rows), layout="constrained")
    for ax in axes.ravel():
        ax.axis("off")
    for ax, (setting, pixels) in zip(axes.ravel(), pictures, strict=False):
        ax.imshow(pixels)
        inches = "x".join(map(str, setting["inches"]))  # type: ignore[call-overload]
        words = [f"{setting['names']} names", f"N={setting['size']}", inches]
        words += [word for word in ("grid", "grey") if setting[word]]
        ax.set_title(" · ".join(words), fontsize=9)
    page.suptitle(name)
    page.savefig(folder / f"{name}.png", dpi=70)
    plt.close(page)


def main() -> None:
    warnings.simplefilter("ignore", RankevalWarning)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "contact_sheets")
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or PLOTS:
        sheet(name, folder)
        print(folder / f"{name}.png", flush=True)


if __name__ == "__main__":
    main()
