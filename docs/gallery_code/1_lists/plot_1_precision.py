"""
Precision of n-best lists
=========================

How good is the list of the n best candidates, for every n? The bars are confidence intervals at
a few n.

Function: :func:`rankeval_pd.plotting.precision`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.precision(range(50, 2001), measures=["X2", "f"])
