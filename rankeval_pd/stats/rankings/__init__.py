"""Rankings, n-best lists, ties, areas, and random swaps between two rankings."""
