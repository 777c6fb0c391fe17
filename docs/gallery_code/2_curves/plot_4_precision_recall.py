"""
Precision and recall
====================

What a list finds, and what it costs. The hairlines join points of equal F1.

Function: :func:`rankeval_pd.plotting.precision_recall`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.precision_recall(f_scores=[0.2, 0.4, 0.6])
