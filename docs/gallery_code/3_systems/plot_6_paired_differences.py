"""
Gain query by query
===================

The plot shows the sorted differences between two search systems, query by query, and
the mean difference.

Function: :func:`rankeval_pd.plotting.paired_differences`.
"""

import rankeval_pd

found = rankeval_pd.datasets.load_docstring_search()
ndcg = found.rankeval.per_query("nDCG@10", wide=True)

# %%

ax = ndcg.rankeval.plot.paired_differences("bm25", "tfidf")

# %%
# **How to read it.** Each bar is a query. Bars above 0 favor the first system. Labels
# mark the queries with the largest differences. The mean and its interval are on the
# right.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Average precision instead of nDCG:

ap = found.rankeval.per_query("AP", wide=True)
ap.rankeval.plot.paired_differences("bm25", "tfidf")

# %%
# A 99% interval:

ndcg.rankeval.plot.paired_differences("bm25", "tfidf", level=0.99)

# %%
# A title:

ndcg.rankeval.plot.paired_differences("bm25", "tfidf", title="nDCG@10")
