"""Resampling of items, with tests and intervals for gains."""
