"""
Better than chance?
===================

The plot compares precision with pointwise and simultaneous bounds for a random
ranking.

Function: :func:`rankeval_pd.plotting.random_bound`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.random_bound([0.05, 0.001], range(20, 1501), measures=["G2", "t"])

# %%
# **How to read it.** The gray area shows the range for random orders. At each n, a
# measure above the area is better than chance.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A single level:

rankings.plot.random_bound(0.05, range(20, 1501), measures=["G2", "t"])

# %%
# All measures:

rankings.plot.random_bound(0.001, range(20, 1501))

# %%
# The top of the lists:

rankings.plot.random_bound(0.001, range(5, 201), measures=["G2", "t"])
