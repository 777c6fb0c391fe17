"""
Detection error trade-off (DET)
===============================

Both kinds of error on the scale of normal quantiles.

Function: :func:`rankeval_pd.plotting.det`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.det()
