"""Roles of columns: which column is what, and what is odd about it."""
