"""
Recall of n-best lists
======================

The plot shows the recall of n-best lists with a simultaneous band.

Function: :func:`rankeval_pd.plotting.recall_band`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2"])
rankings = df.rankeval(gold="gold", measures="G2")

# %%

ax = rankings.plot.recall_band()

# %%
# **How to read it.** The line is the proportion of all terms found among the first n
# candidates. The band is valid simultaneously for all n. The gray line represents
# a random order.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A 99% band:

rankings.plot.recall_band(level=0.99)

# %%
# The top of the list:

rankings.plot.recall_band(range(20, 501))

# %%
# A logarithmic axis:

rankings.plot.recall_band(range(10, 1501), log=True)
