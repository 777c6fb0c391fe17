"""
Do ties matter?
===============

The plot shows how p-values vary between random orders of equal scores.

Function: :func:`rankeval_pd.plotting.tie_sensitivity`.
"""

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

ax = rankings.plot.tie_sensitivity("G2", "f", [200, 400, 800, 1200, 1600], n_keys=50)

# %%
# **How to read it.** Each bar shows the range of p-values over random orders of equal
# scores. If a bar crosses the line, significance depends on the order.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A stricter significance level:

rankings.plot.tie_sensitivity(
    "G2", "f", [200, 400, 800, 1200, 1600], n_keys=50, alpha=0.01
)

# %%
# Another pair:

rankings.plot.tie_sensitivity("t", "f", [200, 400, 800, 1200, 1600], n_keys=50)

# %%
# A logarithmic axis:

rankings.plot.tie_sensitivity(
    "G2", "f", [100, 200, 400, 800, 1600], n_keys=50, log=True
)
