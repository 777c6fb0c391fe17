"""
Do ties matter?
===============

The p-values of a comparison over random orders of equal scores. Where the bars cross the line,
the verdict depends on the order.

Function: :func:`rankeval_pd.plotting.tie_sensitivity`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

rankings.plot.tie_sensitivity("G2", "f", [500, 1000, 2000, 3000, 4000], n_keys=50)
