"""
Which measure is best, and who is tied?
=======================================

The precision of all measures at one n, and the ranks that each may have.

Function: :func:`rankeval_pd.plotting.measure_ranks`.
"""

import rankeval_pd

quality = {"G2": 1.5, "t": 1.4, "X2": 0.9, "f": 0.7}
df = rankeval_pd.datasets.simulate_candidates(5_000, quality=quality, rng=1)

# %%

df.rankeval.plot.measure_ranks(500)
