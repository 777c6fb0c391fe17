"""Load or simulate example data sets."""

from __future__ import annotations

from rankeval_pd.datasets.docstring_search import load_docstring_search
from rankeval_pd.datasets.krenn import load_krenn_ppv
from rankeval_pd.datasets.simulation import simulate_candidates, true_precision
from rankeval_pd.datasets.terms import load_terms

__all__ = [
    "load_docstring_search",
    "load_krenn_ppv",
    "load_terms",
    "simulate_candidates",
    "true_precision",
]
