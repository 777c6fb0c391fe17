"""
Odds ratios by list length
==========================

The plot compares two lists by the odds of a true positive among the candidates unique
to each list.

Function: :func:`rankeval_pd.plotting.odds_ratios`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.odds_ratios("G2", "t", [100, 200, 500, 1000, 1500])

# %%
# **How to read it.** An odds ratio above 1 favors the first measure, and a ratio below
# 1 favors the second. If the interval at n excludes 1, the difference is significant.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Log-likelihood compared with frequency:

rankings.plot.odds_ratios("G2", "f", [100, 200, 500, 1000, 1500])

# %%
# 99% intervals:

rankings.plot.odds_ratios("G2", "t", [100, 200, 500, 1000, 1500], level=0.99)

# %%
# A title:

rankings.plot.odds_ratios("G2", "t", [100, 200, 500, 1000, 1500], title="G2 against t")
