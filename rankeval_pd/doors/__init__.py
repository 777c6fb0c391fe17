"""Turn containers of data into arrays: the only modules that know Dask, pandas and xarray."""
