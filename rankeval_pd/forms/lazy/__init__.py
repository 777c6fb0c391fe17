"""Process lazy data: Dask DataFrames and chunked Datasets."""
