"""Pictures of the tables that the methods return.

Each function takes a table (a DataFrame, or a Dataset of the same), draws it on ``ax`` or on a
new figure, and returns the Axes. Nothing is computed here but positions on the paper. Colours
are told apart by the colour-blind, and lines by their dashes in grey.
"""

from __future__ import annotations

from rankeval_pd.plotting.bounds import random_bound
from rankeval_pd.plotting.nbest import precision
from rankeval_pd.plotting.pairs import comparison

__all__ = ["comparison", "precision", "random_bound"]
