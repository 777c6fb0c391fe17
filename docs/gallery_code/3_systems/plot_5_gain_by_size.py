"""
Required gain by test set size
==============================

The plot shows the gain required for significance in test sets of different sizes.

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
# **How to read it.** Each dot is the gain for a pair of systems on the first items of
# the test set. The line is the required gain at each size, with an interval. The
# required gain falls roughly with the square root of the number of items.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Fewer sizes:

systems.plot.gain_by_size([100, 400, 1600])

# %%
# Random subsets instead of the first items:

shuffled = items.sample(frac=1, random_state=1).rankeval(metric="accuracy")
shuffled.plot.gain_by_size([50, 100, 200, 400, 800, 1600])

# %%
# Fewer pairs, using every other system:

part = items.iloc[:, ::2].rankeval(metric="accuracy")
part.plot.gain_by_size([100, 200, 400, 800, 1600])
