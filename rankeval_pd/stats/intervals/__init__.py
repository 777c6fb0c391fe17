"""Intervals and bands of precision, of differences and of odds ratios."""
