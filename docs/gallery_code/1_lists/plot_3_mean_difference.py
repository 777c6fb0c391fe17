"""
Mean difference over a range of n
=================================

The plot shows the mean difference between two precision curves.

Function: :func:`rankeval_pd.plotting.mean_difference`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.mean_difference("G2", "t", range(100, 1001, 10), n_resamples=999)

# %%
# **How to read it.** The dot is the mean difference in precision over the range of n,
# with a single interval and test. The ticks show the difference at each n. If the
# interval excludes 0, one measure is better over the range.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# One measure compared with all other measures:

rankings.plot.mean_difference(
    "G2", ["t", "MI", "f"], range(100, 1001, 10), n_resamples=999
)

# %%
# Only the top of the lists:

rankings.plot.mean_difference("G2", "t", range(50, 301, 10), n_resamples=999)

# %%
# Full names:

rankings.plot.mean_difference(
    "G2",
    "t",
    range(100, 1001, 10),
    n_resamples=999,
    labels={"G2": "log-likelihood", "t": "t-score"},
)
