"""
Significant differences between pairs
=====================================

The plot shows which pairs of systems differ significantly.

Function: :func:`rankeval_pd.plotting.pairs`.
"""

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import rankeval_pd

X, y = load_digits(return_X_y=True)
models = {
    "Bayes": GaussianNB(),
    "linear": LinearDiscriminantAnalysis(),
    "Bernoulli": BernoulliNB(),
    "1 neighbor": KNeighborsClassifier(1),
    "5 neighbors": KNeighborsClassifier(5),
    "tree": DecisionTreeClassifier(random_state=0),
}
items = pd.DataFrame(
    {name: cross_val_predict(x, X, y) == y for name, x in models.items()}
)
systems = items.rankeval(metric="accuracy")

# %%

ax = systems.plot.pairs()

# %%
# **How to read it.** Each square compares the system in the row with the system in the
# column. If the difference is significant, the color shows the gain. Otherwise, the
# square is pale gray.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# With one-sixth of the items, fewer pairs differ significantly:

items[::6].rankeval(metric="accuracy").plot.pairs()

# %%
# A stricter significance level:

systems.plot.pairs(alpha=0.001)

# %%
# Three of the systems:

systems.plot.pairs(measures=["linear", "Bayes", "tree"])
