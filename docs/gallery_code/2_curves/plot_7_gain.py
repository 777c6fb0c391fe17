"""
Cumulative gain
===============

The plot shows the proportion of true positives found against the proportion of
candidates.

Function: :func:`rankeval_pd.plotting.gain`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.gain()

# %%
# **How to read it.** The diagonal represents a random order. The upper gray line
# represents an ideal order with all terms first.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A band for one measure:

rankings.plot.gain(interval="simultaneous", measures="G2")

# %%
# Chance bounds:

rankings.plot.gain(bands=0.05)

# %%
# One measure in color:

rankings.plot.gain(highlight="MI")
