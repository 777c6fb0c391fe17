"""Decide: families and adjustment, intervals that agree with the test, better, ties."""
