"""Evaluate and compare n-best lists (Evert 2004)."""
