"""
Gain query by query
===================

The difference of two search systems on each query, sorted, and their mean difference.

Function: :func:`rankeval_pd.plotting.paired_differences`.
"""

import rankeval_pd

found = rankeval_pd.datasets.load_docstring_search(progress=False)
ndcg = found.rankeval.per_query("nDCG@10", wide=True)

# %%

ndcg.rankeval.plot.paired_differences("bm25", "tfidf")
