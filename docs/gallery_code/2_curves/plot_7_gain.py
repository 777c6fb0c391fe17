"""
Cumulated gain
==============

Which share of all true positives is found in which share of the candidates.

Function: :func:`rankeval_pd.plotting.gain`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.gain()
