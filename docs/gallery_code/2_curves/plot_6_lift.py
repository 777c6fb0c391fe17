"""
Lift and enrichment factor
==========================

The plot shows lift, the precision divided by the precision of a random list. In
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
# **How to read it.** A random order has a lift of 1. The vertical line marks the first
# 5% of the candidates. The legend shows the enrichment factors there.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The first 1%, for log-likelihood and frequency only:

rankings.plot.lift(enrichment=0.01, measures=["G2", "f"])

# %%
# Chance bounds:

rankings.plot.lift(bands=0.05)

# %%
# One measure in color:

rankings.plot.lift(enrichment=0.05, highlight="MI")
