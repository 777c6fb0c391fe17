"""Create tables and Datasets of results, adjust p-values, and average groups."""
