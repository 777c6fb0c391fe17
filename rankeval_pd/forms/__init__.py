"""Convert data to the internal forms, and results back to tables."""
