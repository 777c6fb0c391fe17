"""
Required gain by size of the test set
=====================================

The plot shows the gains of all pairs on growing parts of the test set, and the gain
required for significance.

Function: :func:`rankeval_pd.plotting.gain_by_size`.
"""

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import rankeval_pd

X, y = load_digits(return_X_y=True)
models = {f"{k} neighbors": KNeighborsClassifier(k) for k in range(1, 40, 3)}
items = pd.DataFrame({k: cross_val_predict(x, X, y) == y for k, x in models.items()})
systems = items.rankeval(metric="accuracy")

# %%

ax = systems.plot.gain_by_size([50, 100, 200, 400, 800, 1600])

# %%
# **How to read it.** Each dot is a pair on the first items of the test set. The line is
# the gain worth reporting at each size, with an interval. This gain falls roughly with
# the square root of the number of items. The line shows how many items your gain needs.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Fewer sizes:

systems.plot.gain_by_size([100, 400, 1600])

# %%
# Random parts instead of the first items:

systems.plot.gain_by_size([50, 100, 200, 400, 800, 1600], draw="random")

# %%
# Every second system, for fewer pairs:

part = items.iloc[:, ::2].rankeval(metric="accuracy")
part.plot.gain_by_size([100, 200, 400, 800, 1600])
