"""
Precision of n-best lists
=========================

The plot shows the precision of the n best candidates for every n.

Function: :func:`rankeval_pd.plotting.precision`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.precision(range(50, 1501), measures=["G2", "t"])

# %%
# **How to read it.** Each line is the precision of the first n candidates. The gray
# line is the expected precision of a random order. Bars are pointwise intervals at
# selected list sizes.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# One measure with a simultaneous band:

rankings.plot.precision(range(50, 1501), measures="G2")

# %%
# A logarithmic axis for the top of the lists:

rankings.plot.precision(range(10, 1501), measures=["G2", "t"], log=True)

# %%
# One measure in color:

rankings.plot.precision(range(50, 1501), highlight="MI")
