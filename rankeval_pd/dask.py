"""Register ``.rankeval`` for Dask DataFrames, for rankings larger than memory.

``import rankeval_pd.dask`` registers the accessor. If you import ``dask.dataframe`` first, ``import
rankeval_pd`` also registers the accessor.

>>> import dask.dataframe as dd, rankeval_pd.dask
>>> df = rankeval_pd.datasets.simulate_candidates(1_000)
>>> ddf = dd.from_pandas(df, npartitions=4)
>>> head = ddf.rankeval.head(100)
>>> head.compare("good", "fair", n=[50, 100])
  measure_a measure_b    n  difference    ci_low   ci_high   p_value better
0      good      fair   50        0.24  0.063691  0.391806  0.008935   good
1      good      fair  100        0.17  0.066170  0.267585  0.001550   good
"""

from __future__ import annotations

from importlib import import_module

from rankeval_pd.doors.heads import ROWS
from rankeval_pd.registration import registered

__all__ = ["ROWS"]

_extensions = import_module("dask.dataframe.extensions")
_extensions.register_dataframe_accessor("rankeval")(registered("DaskAccessor", "dask_accessors"))
