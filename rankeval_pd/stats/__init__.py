"""Kernels: arrays in, arrays out, NumPy and SciPy only.

The candidate axis comes last in, new axes come last out, so every kernel fits
:func:`xarray.apply_ufunc`. A kernel knows nothing of measures, labels or frames. SciPy is imported
inside the functions that need it: it would double the time of ``import rankeval_pd``.
"""
