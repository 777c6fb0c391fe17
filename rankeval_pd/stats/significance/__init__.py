"""Tests of proportions, fit and dispersion, and adjustment for multiple testing."""
