"""Numerical kernels for arrays, using only NumPy and SciPy.

The candidate axis is the last axis of the inputs, and new axes are the last axes of the outputs, so
every kernel works with :func:`xarray.apply_ufunc`. Kernels do not depend on measures, labels or
frames. SciPy is imported only inside the functions that need it, because importing it would double
the time of ``import rankeval_pd``.
"""
