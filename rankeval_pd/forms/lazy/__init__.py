"""Lazy data: Dask DataFrames, and Datasets in chunks."""
