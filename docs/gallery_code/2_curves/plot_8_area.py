"""
Areas with intervals
====================

The area under each ROC curve (AUC), its interval, and what chance reaches.

Function: :func:`rankeval_pd.plotting.area`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.area()
