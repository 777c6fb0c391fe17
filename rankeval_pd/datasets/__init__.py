"""Data to start with."""

from __future__ import annotations

from rankeval_pd.datasets.docstring_terms import load_docstring_terms

__all__ = ["load_docstring_terms"]
