"""Comparisons with random rankings (Macskassy 2005)."""
