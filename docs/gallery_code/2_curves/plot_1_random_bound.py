"""
Better than chance?
===================

What a random ranking reaches at each n, and at all n together, with the measures' own
precision.

Function: :func:`rankeval_pd.plotting.random_bound`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.random_bound([0.05, 0.001], range(20, 1501), measures=["G2", "t"])

# %%
# **How to read it.** The gray field contains what random orders reach. A measure above
# the field is better than chance at this n.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# One level:

rankings.plot.random_bound(0.05, range(20, 1501), measures=["G2", "t"])

# %%
# All measures:

rankings.plot.random_bound(0.001, range(20, 1501))

# %%
# The head of the lists:

rankings.plot.random_bound(0.001, range(5, 201), measures=["G2", "t"])
