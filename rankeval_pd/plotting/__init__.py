"""Pictures of the tables that the methods return.

Each function takes data and asks what it draws, or takes a table that is there (a DataFrame, or a
Dataset of the same); draws it on ``ax`` or on a new figure, and returns the Axes, or an array of
them. Colours are told apart by the colour-blind, and lines by their dashes in grey.
"""

from __future__ import annotations

from rankeval_pd.plotting.chance import random_bound, random_cdf
from rankeval_pd.plotting.cutoffs import det, gain, lift, precision_recall, roc
from rankeval_pd.plotting.differences import critical_difference, paired_differences
from rankeval_pd.plotting.drawing.canvas import shown
from rankeval_pd.plotting.drawing.legends import shared_legend
from rankeval_pd.plotting.estimates import area, mean_difference, odds_ratios, tie_sensitivity
from rankeval_pd.plotting.paired import (
    calibration,
    confidence,
    gain_by_size,
    pairs,
    system_ranks,
)
from rankeval_pd.plotting.rankings import comparison, precision, repetition

__all__ = [
    "area",
    "calibration",
    "comparison",
    "confidence",
    "critical_difference",
    "det",
    "gain",
    "gain_by_size",
    "lift",
    "mean_difference",
    "odds_ratios",
    "paired_differences",
    "pairs",
    "precision",
    "precision_recall",
    "random_bound",
    "random_cdf",
    "repetition",
    "roc",
    "shared_legend",
    "shown",
    "system_ranks",
    "tie_sensitivity",
]


def __dir__() -> list[str]:
    return sorted(__all__)
