"""
Detection error trade-off (DET)
===============================

The plot shows false negative and false positive rates on a normal quantile scale.

Function: :func:`rankeval_pd.plotting.det`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.det()

# %%
# **How to read it.** A lower curve misses fewer terms at the same false positive rate.
# Normally distributed scores produce a straight line.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Linear axes:

rankings.plot.det(log=False)

# %%
# Logarithmic axes:

rankings.plot.det(log=True)

# %%
# Lists with 100 and 1,000 candidates:

rankings.plot.det(isolines=[100, 1000])
