"""
One difference for a range of n
===============================

The mean difference of two curves, tested once. The small ticks are the differences at each n.

Function: :func:`rankeval_pd.plotting.mean_difference`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.mean_difference("X2", "f", range(100, 1001, 10), n_resamples=999)
