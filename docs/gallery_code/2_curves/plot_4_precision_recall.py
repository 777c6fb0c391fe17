"""
Precision and recall
====================

The plot shows precision against recall.

Function: :func:`rankeval_pd.plotting.precision_recall`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.precision_recall()

# %%
# **How to read it.** Lists grow from left to right. Recall increases, and precision
# falls toward the proportion of terms among all candidates.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# One measure in color:

rankings.plot.precision_recall(highlight="MI")

# %%
# A confidence band for one measure:

rankings.plot.precision_recall(interval="pointwise", measures="G2")

# %%
# Chance bounds:

rankings.plot.precision_recall(bands=0.05)
