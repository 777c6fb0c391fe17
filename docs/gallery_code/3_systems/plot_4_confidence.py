"""
Gain and confidence
===================

The gain of each pair of systems against its confidence, 1 - p.

Function: :func:`rankeval_pd.plotting.confidence`.
"""

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import rankeval_pd

X, y = load_digits(return_X_y=True)
models = {f"{k} neighbors": KNeighborsClassifier(k) for k in range(1, 40, 3)}
items = pd.DataFrame(
    {name: cross_val_predict(x, X, y) == y for name, x in models.items()}
)
systems = items.rankeval(metric="accuracy")

# %%

ax = systems.plot.confidence()

# %%
# **How to read it.** Each dot is a pair of systems. Dots above the line are
# significant. Larger gains have more confidence, and the scatter shows how much the
# confidence of pairs with equal gains varies.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The system with 1 neighbor against each other:

systems.plot.confidence("1 neighbors")

# %%
# Six of the systems:

systems.plot.confidence(measures=[f"{k} neighbors" for k in (1, 4, 10, 16, 25, 37)])

# %%
# A title:

systems.plot.confidence(title="Accuracy on digits")
