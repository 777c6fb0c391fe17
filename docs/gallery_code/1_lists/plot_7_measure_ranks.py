"""
Which measures are tied for first?
==================================

The plot shows the precision and the range of possible ranks for all measures at one n.

Function: :func:`rankeval_pd.plotting.measure_ranks`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "X2", "f"])

# %%

ax = rankings.plot.measure_ranks(500)

# %%
# **How to read it.** Measures are sorted by precision, and intervals are simultaneous.
# The rank column shows the possible ranks. A bar on the right connects tied measures.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The area under the ROC curve as the criterion:

rankings.plot.measure_ranks(kind="roc")

# %%
# Shorter lists:

rankings.plot.measure_ranks(100)

# %%
# 99% intervals:

rankings.plot.measure_ranks(500, level=0.99)
