"""
Lift and enrichment factor
==========================

How many times more true positives than in a random list of the same size; screening
calls it the enrichment factor.

Function: :func:`rankeval_pd.plotting.lift`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.lift(enrichment=0.05)

# %%
# **How to read it.** A lift of 1 is a random order. The vertical line marks the first
# 5% of the candidates, and the key shows the enrichment factors there.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The first 1%, with log-likelihood and frequency alone:

rankings.plot.lift(enrichment=0.01, measures=["G2", "f"])

# %%
# The bounds of chance:

rankings.plot.lift(bands=0.05)

# %%
# One measure in color:

rankings.plot.lift(enrichment=0.05, highlight="MI")
