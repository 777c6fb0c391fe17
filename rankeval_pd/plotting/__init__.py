"""Pictures of the tables that the methods return.

Each function takes tables (DataFrames, or Datasets of the same), draws them on ``ax`` or on a new
figure, and returns the Axes, or an array of them. Nothing is computed here but positions on the
paper. Colours are told apart by the colour-blind, and lines by their dashes in grey.
"""

from __future__ import annotations

from rankeval_pd.plotting.bounds import random_bound
from rankeval_pd.plotting.canvas import shown
from rankeval_pd.plotting.curves import det, gain, lift, precision_recall, roc
from rankeval_pd.plotting.distribution import random_cdf
from rankeval_pd.plotting.nbest import precision
from rankeval_pd.plotting.pairs import comparison
from rankeval_pd.plotting.repeated import repetition
from rankeval_pd.plotting.systems import calibration, confidence, gain_by_size, pairs, system_ranks

__all__ = [
    "calibration",
    "comparison",
    "confidence",
    "det",
    "gain",
    "gain_by_size",
    "lift",
    "pairs",
    "precision",
    "precision_recall",
    "random_bound",
    "random_cdf",
    "repetition",
    "roc",
    "shown",
    "system_ranks",
]
