"""
Precision and recall
====================

What a list finds, and what it costs. The hairlines join points of equal F1.

Function: :func:`rankeval_pd.plotting.precision_recall`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.precision_recall(f_scores=[0.2, 0.4, 0.6])

# %%
# **How to read it.** From left to right the list grows: recall increases and precision
# falls toward the share of terms among all candidates.
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
# The bounds of chance:

rankings.plot.precision_recall(bands=0.05)
