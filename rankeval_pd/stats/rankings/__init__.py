"""Orders, n-best lists, ties, areas, and swaps of two rankings."""
