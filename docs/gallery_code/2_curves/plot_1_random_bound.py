"""
Better than chance?
===================

What a random ranking reaches at each n, and at all n together, with the measures' own
precision.

Function: :func:`rankeval_pd.plotting.random_bound`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.random_bound([0.05, 0.001], range(20, 2001), measures=["X2", "f"])
