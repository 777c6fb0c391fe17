"""
A leaderboard with ranks
========================

The plot shows the score of each system and its range of possible ranks.

Function: :func:`rankeval_pd.plotting.system_ranks`.
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

ax = systems.plot.system_ranks()

# %%
# **How to read it.** The best system is at the top. The rank column shows the possible
# ranks. A bar on the right connects tied systems.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# 99% confidence:

systems.plot.system_ranks(level=0.99)

# %%
# Three of the systems:

systems.plot.system_ranks(measures=["linear", "Bayes", "tree"])

# %%
# Highlight one system:

systems.plot.system_ranks(highlight="linear")
