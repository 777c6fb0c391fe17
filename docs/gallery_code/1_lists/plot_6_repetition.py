"""
Would it happen again?
======================

Precision at one n over many samples, beside what the model expects.

Function: :func:`rankeval_pd.plotting.repetition`.
"""

import rankeval_pd

parts = rankeval_pd.datasets.load_docstring_terms(samples=80, progress=False)
parts = parts.rankeval.with_association_measures(["G2", "t"])
rankings = parts.rankeval(by="sample", measures=["G2", "t"])

# %%

rankings.plot.repetition(n=100)
