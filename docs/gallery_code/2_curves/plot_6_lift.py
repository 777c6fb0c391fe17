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

ax = rankings.plot.lift()

# %%
# **How to read it.** A random order has a lift of 1. The lift of a list with 5% of the
# candidates is the enrichment factor at 5%.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A logarithmic axis, for log-likelihood and frequency only:

rankings.plot.lift(log=True, measures=["G2", "f"])

# %%
# Chance bounds:

rankings.plot.lift(bands=0.05)

# %%
# One measure in color:

rankings.plot.lift(highlight="MI")
