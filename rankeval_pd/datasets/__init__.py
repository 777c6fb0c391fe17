"""Load or simulate example data sets."""

from __future__ import annotations

from rankeval_pd.datasets.collocations import load_krenn_ppv, load_terms
from rankeval_pd.datasets.search import load_docstring_search
from rankeval_pd.datasets.simulation import simulate_candidates, true_precision

__all__ = [
    "load_docstring_search",
    "load_krenn_ppv",
    "load_terms",
    "simulate_candidates",
    "true_precision",
]
