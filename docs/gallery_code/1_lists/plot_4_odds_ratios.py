"""
Odds ratios over n
==================

How many times more likely is a true positive among the candidates that only one list has?

Function: :func:`rankeval_pd.plotting.odds_ratios`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.odds_ratios("X2", "f", [100, 200, 500, 1000, 2000])
