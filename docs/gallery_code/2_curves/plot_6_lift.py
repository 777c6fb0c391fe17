"""
Lift and enrichment factor
==========================

How many times more true positives than in a random list of the same size; screening calls it
the enrichment factor.

Function: :func:`rankeval_pd.plotting.lift`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.lift(enrichment=0.05)
