"""
Do gains keep their sign on other data?
=======================================

The plot shows how often a gain on one half of the items keeps its sign on the other
half.

Function: :func:`rankeval_pd.plotting.calibration`.
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

pairs = items[::2].rankeval(metric="accuracy").paired_bootstrap()

# %%

ax = pairs.rankeval.plot.calibration(items[1::2], n_resamples=99)

# %%
# **How to read it.** Pairs are binned by p-value. Dots show the proportion of gains
# that keep their sign on the other half. The line shows the expected proportion.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# Fewer bins:

pairs.rankeval.plot.calibration(items[1::2], n_resamples=99, bins=[0.00125, 0.01, 0.08])

# %%
# 99% intervals:

pairs.rankeval.plot.calibration(items[1::2], n_resamples=99, level=0.99)

# %%
# A title:

pairs.rankeval.plot.calibration(items[1::2], n_resamples=99, title="Digits")
