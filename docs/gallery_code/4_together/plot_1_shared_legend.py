"""
Several pictures, one legend
============================

A figure of four panels for a paper.

Function: :func:`rankeval_pd.plotting.shared_legend`.
"""

import matplotlib.pyplot as plt

import rankeval_pd

terms = rankeval_pd.datasets.load_docstring_terms(progress=False)
df = terms.rankeval.with_association_measures(["G2", "t", "X2", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "X2", "f"])

# %%

figure, axes = plt.subplots(2, 2, figsize=(7.5, 6), layout="constrained")
rankings.plot.precision(range(50, 2001), ax=axes[0, 0], simultaneous=False)
rankings.plot.roc(ax=axes[0, 1], area=False)
rankings.plot.gain(ax=axes[1, 0])
rankings.plot.lift(ax=axes[1, 1])
rankeval_pd.plotting.shared_legend(figure)
