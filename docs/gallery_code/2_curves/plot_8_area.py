"""
Areas with intervals
====================

The plot shows the area under each ROC curve (AUC) with an interval.

Function: :func:`rankeval_pd.plotting.area`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.area()

# %%
# **How to read it.** The best measure is at the top. The vertical line is the chance
# level. Each interval is valid for a single measure.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Average precision:

rankings.plot.area("ap")

# %%
# 99% intervals:

rankings.plot.area(level=0.99)

# %%
# One measure in color:

rankings.plot.area(highlight="MI")
