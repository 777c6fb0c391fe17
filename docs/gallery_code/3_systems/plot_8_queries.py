"""
Scatter plot of two search systems
==================================

The plot shows the scores of two search systems for each query. Labels mark the queries
with the largest differences.

Function: :func:`rankeval_pd.plotting.queries`.
"""

import rankeval_pd

found = rankeval_pd.datasets.load_docstring_search()
ndcg = found.rankeval.per_query("nDCG@10", wide=True)

# %%

ax = ndcg.rankeval.plot.queries("bm25", "tfidf")

# %%
# **How to read it.** Each dot is a query. Dots above the diagonal favor the system on
# the y axis, and dots below the diagonal favor the system on the x axis.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Average precision instead of nDCG:

ap = found.rankeval.per_query("AP", wide=True)
ap.rankeval.plot.queries("bm25", "tfidf")

# %%
# Full names:

ndcg.rankeval.plot.queries("bm25", "tfidf", labels={"bm25": "BM25"})

# %%
# A title:

ndcg.rankeval.plot.queries("bm25", "tfidf", title="nDCG@10")
