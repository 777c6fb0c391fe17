"""Intervals and bands for precision, differences and odds ratios."""
