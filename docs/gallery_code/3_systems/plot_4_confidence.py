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
models = {f"{k} neighbours": KNeighborsClassifier(k) for k in range(1, 40, 3)}
items = pd.DataFrame({name: cross_val_predict(x, X, y) == y for name, x in models.items()})

# %%

items.rankeval(metric="accuracy").plot.confidence()
