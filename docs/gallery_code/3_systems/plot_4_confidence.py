"""
Gain and confidence
===================

The plot shows the confidence (1 - p) and the gain for each pair of systems.

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
# **How to read it.** Each dot is one pair of systems. Pairs above the line differ
# significantly. Confidence increases with the gain, but varies between pairs with
# similar gains.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# The system with 1 neighbor compared with all other systems:

systems.plot.confidence("1 neighbors")

# %%
# Six of the systems:

systems.plot.confidence(measures=[f"{k} neighbors" for k in (1, 4, 10, 16, 25, 37)])

# %%
# A title:

systems.plot.confidence(title="Accuracy on digits")
