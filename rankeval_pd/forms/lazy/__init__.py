"""Process lazy data: Dask DataFrames, and Datasets in chunks."""
