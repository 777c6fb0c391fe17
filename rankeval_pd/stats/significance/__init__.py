"""Tests of two proportions, of fit and dispersion, and their adjustment for many."""
