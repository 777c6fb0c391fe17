"""
Interpolated precision at eleven recall levels
==============================================

The plot shows the interpolated precision at recall levels 0, 0.1, ..., 1, averaged over
queries.

Function: :func:`rankeval_pd.plotting.interpolated_precision`.
"""

import rankeval_pd

found = rankeval_pd.datasets.load_docstring_search()

# %%

ax = found.rankeval.plot.interpolated_precision(n_resamples=999)

# %%
# **How to read it.** Interpolated precision is the highest precision at or above a
# given recall level. A line that stays high on the right indicates a system that finds
# nearly all relevant documents early.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# 99% intervals:

found.rankeval.plot.interpolated_precision(n_resamples=999, level=0.99)

# %%
# A title:

found.rankeval.plot.interpolated_precision(n_resamples=999, title="Docstring search")

# %%
# One system in color:

found.rankeval.plot.interpolated_precision(n_resamples=999, highlight="bm25")
