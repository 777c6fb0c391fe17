"""
How much do the best lists find?
================================

The recall of n-best lists with a band that holds for all n together, and the recall of a random
order.

Function: :func:`rankeval_pd.plotting.recall_band`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2"])
rankings = df.rankeval(gold="gold", measures="G2")

# %%

rankings.plot.recall_band()
