"""Example data: built from installed packages, downloaded, or simulated."""

from __future__ import annotations

from rankeval_pd.datasets.docstring_corpora import load_docstring_search, load_docstring_terms
from rankeval_pd.datasets.krenn import load_krenn_ppv
from rankeval_pd.datasets.simulation import simulate_candidates, true_precision

__all__ = [
    "load_docstring_search",
    "load_docstring_terms",
    "load_krenn_ppv",
    "simulate_candidates",
    "true_precision",
]
