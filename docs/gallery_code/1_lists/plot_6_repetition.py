"""
Repetition across samples
=========================

The plot shows whether precision varies more across five packages than the binomial
model predicts.

Function: :func:`rankeval_pd.plotting.repetition`.
"""

import rankeval_pd

parts = rankeval_pd.datasets.load_terms(per_package=True).query("O11 >= 3")
parts = parts.rankeval.with_association_measures(["G2", "t", "MI"])
rankings = parts.rankeval(by="package", measures=["G2", "t"])

# %%

ax = rankings.plot.repetition(n=100)

# %%
# **How to read it.** Each panel shows, for one measure, a histogram of precision by
# package. The gray curve is the binomial model for independent candidates. The colored
# curve has the observed standard deviation. If the colored curve is wider, an interval
# from one package understates the variation.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Longer lists:

rankings.plot.repetition(n=300)

# %%
# Another measure:

rankings.plot.repetition(n=100, measures=["MI"])

# %%
# A fixed threshold instead of an average list size:

rankings.plot.repetition(threshold={"G2": 50, "t": 3})
