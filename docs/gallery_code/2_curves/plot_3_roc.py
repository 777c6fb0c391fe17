"""
ROC curves and their areas (AUC)
================================

The curves of all measures, the area under each, and where the lists of 100 and 1,000 end.

Function: :func:`rankeval_pd.plotting.roc`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.roc(bands=0.05, isolines=[100, 1000])
