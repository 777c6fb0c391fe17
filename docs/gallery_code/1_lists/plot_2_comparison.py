"""
Is one measure better than another?
===================================

The plot shows the precision of two measures, the list sizes with a significant
difference, and the difference with a simultaneous band.

Function: :func:`rankeval_pd.plotting.comparison`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.comparison("G2", "t", range(50, 1501))

# %%
# **How to read it.** The top panel shows the precision of both measures. The strip
# marks significant differences, pale in separate tests and dark in a joint test. The
# bottom panel shows the difference. If the band excludes 0, one measure is better.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# All pairs of measures, each in a row of the strip:

rankings.plot.comparison(n=range(50, 1501))

# %%
# Tests at the 1% level:

rankings.plot.comparison("G2", "t", range(50, 1501), alpha=0.01)

# %%
# Separate tests and intervals only, each valid at a single list size:

rankings.plot.comparison("G2", "t", range(50, 1501), simultaneous=False)
