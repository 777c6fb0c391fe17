"""Plots of the tables that this package returns.

Each function takes either data, from which the table is computed, or a finished table (DataFrame or
Dataset). The plot is drawn on ``ax`` or on a new figure, and the function returns the Axes or an
array of Axes. The default colors are safe for color-blind readers, and dashes distinguish gray
lines.
"""

from __future__ import annotations

import lazy_loader

_HOMES = {
    "canvas": "caption shared_legend",
    "curves": "det gain lift precision_recall roc",
    "forests": "area measure_ranks repetition system_ranks",
    "lists": "comparison precision random_bound random_cdf tie_sensitivity",
    "systems": "calibration confidence gain_by_size interpolated_precision paired_differences pairs"
    " queries",
}
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, None, {home: names.split() for home, names in _HOMES.items()}
)
