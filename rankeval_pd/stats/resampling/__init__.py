"""Resampled items: counts, metrics, laws, tests and intervals of gains."""
