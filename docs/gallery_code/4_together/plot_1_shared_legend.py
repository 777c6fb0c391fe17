"""
Several panels with one legend
==============================

The figure has four panels and one shared legend.

Function: :func:`rankeval_pd.plotting.shared_legend`.
"""

import matplotlib.pyplot as plt

import rankeval_pd

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])

# %%

figure, axes = plt.subplots(2, 2, figsize=(7.5, 6), layout="constrained")
rankings.plot.precision(range(50, 1501), ax=axes[0, 0], simultaneous=False)
rankings.plot.roc(ax=axes[0, 1])
rankings.plot.gain(ax=axes[1, 0])
rankings.plot.lift(ax=axes[1, 1])
rankeval_pd.plotting.shared_legend(figure)

# %%
# **How to read it.** Each measure has the same color in all panels.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(axes))

# %%
# Two panels side by side:

figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.6), layout="constrained")
rankings.plot.roc(ax=axes[0])
rankings.plot.precision_recall(ax=axes[1])
rankeval_pd.plotting.shared_legend(figure)

# %%
# A single plot with an ordinary legend:

rankings.plot.roc(legend=True)

# %%
# Names outside the panel, without a legend:

rankings.plot.roc()
