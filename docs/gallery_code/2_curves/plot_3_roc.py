"""
ROC curves and their areas (AUC)
================================

The plot shows the ROC curve and the area for each measure. Marks show the lists with
100 and 500 candidates.

Function: :func:`rankeval_pd.plotting.roc`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.roc(bands=0.05, isolines=[100, 500])

# %%
# **How to read it.** A curve near the upper left corner finds many terms with few
# errors. The diagonal represents a random order, with bounds in gray. A thin line
# connects lists of equal length.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A confidence band for one measure:

rankings.plot.roc(interval="simultaneous", measures="G2")

# %%
# Logarithmic axes for the top of the lists:

rankings.plot.roc(log=True)

# %%
# One measure in color:

rankings.plot.roc(highlight="MI")
