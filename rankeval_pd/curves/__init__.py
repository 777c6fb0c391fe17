"""Curves over all cutoffs, and the quality of whole rankings."""
