"""
Is one measure better than another?
===================================

The precision of two measures, the list sizes at which they differ significantly, and their
difference with a band for all n together.

Function: :func:`rankeval_pd.plotting.comparison`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.comparison("X2", "f", range(50, 2001))
