"""
Lift and enrichment factor
==========================

Lift is the number of true positives relative to a random list of the same size. In
screening, lift is called the enrichment factor.

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
# 5% of the candidates, and the key shows the enrichment factors at this line.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The first 1%, for log-likelihood and frequency only:

rankings.plot.lift(enrichment=0.01, measures=["G2", "f"])

# %%
# The bounds of chance:

rankings.plot.lift(bands=0.05)

# %%
# One measure in color:

rankings.plot.lift(enrichment=0.05, highlight="MI")
