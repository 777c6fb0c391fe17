"""
What a random list reaches at one n
===================================

The distribution of the number of true positives in a random list, with the bounds in use.

Function: :func:`rankeval_pd.plotting.random_cdf`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.random_cdf(100, [0.5, 0.05])
