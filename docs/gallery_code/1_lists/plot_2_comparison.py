"""
Is one measure better than another?
===================================

The plot shows the precision of two measures, the list sizes with a significant
difference, and the difference with a band for all n together.

Function: :func:`rankeval_pd.plotting.comparison`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.comparison("G2", "t", range(50, 1501))

# %%
# **How to read it.** Top: the precision of both measures. The strip marks n with a
# significant difference: pale in separate tests, full for all n together. Bottom: the
# difference with a band for all n together. If the band excludes 0, one measure is
# better.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Only differences of at least five points are marked:

rankings.plot.comparison("G2", "t", range(50, 1501), relevant=0.05)

# %%
# The proportion of candidates in both lists:

rankings.plot.comparison("G2", "t", range(50, 1501), overlap=True)

# %%
# Another pair, with the lists of 100 and 500 marked:

rankings.plot.comparison("t", "f", range(50, 1501), mark=[100, 500])
