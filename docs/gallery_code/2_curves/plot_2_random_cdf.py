"""
True positives in a random list
===============================

The plot shows the distribution of the number of true positives in a random list.

Function: :func:`rankeval_pd.plotting.random_cdf`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.random_cdf(100, [0.5, 0.05])

# %%
# **How to read it.** Each curve is a cumulative distribution under one of three models.
# The legend lists the bounds from each model at each level p.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A longer list:

rankings.plot.random_cdf(500, [0.5, 0.05])

# %%
# Stricter levels:

rankings.plot.random_cdf(100, [0.05, 0.001])

# %%
# Candidates drawn from an infinite population:

rankings.plot.random_cdf(100, [0.5, 0.05], population="infinite")
