"""Plots of the tables that this package returns.

Each function takes either data, from which the table is computed, or a finished table (DataFrame or
Dataset). The plot is drawn on ``ax`` or on a new figure, and the function returns the Axes or an
array of Axes. The default colors are safe for color-blind readers, and dashes distinguish gray
lines.
"""

from __future__ import annotations

import lazy_loader

_HOMES = {
    "canvas": "caption",
    "chance": (
        "area mean_difference odds_ratios random_bound random_cdf recall_band tie_sensitivity"
    ),
    "cutoffs": "det gain lift precision_recall roc",
    "item_differences": "critical_difference paired_differences",
    "legends": "shared_legend",
    "measures": "comparison measure_ranks precision repetition",
    "queries": "interpolated_precision queries",
    "systems_over_items": "calibration confidence gain_by_size pairs system_ranks",
    "tables": "shown",
}
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, None, {home: names.split() for home, names in _HOMES.items()}
)
