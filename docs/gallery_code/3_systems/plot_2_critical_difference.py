"""
Critical differences
====================

The plot shows which systems differ significantly.

Function: :func:`rankeval_pd.plotting.critical_difference`.
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

ax = systems.plot.critical_difference()

# %%
# **How to read it.** Systems are positioned by score. A bar on the right connects
# systems that do not differ significantly.
#
# The caption for a paper:

print(rankeval_pd.plotting.caption(ax))

# %%
# A stricter significance level:

systems.plot.critical_difference(alpha=0.001)

# %%
# With one-sixth of the items, fewer systems differ significantly:

items[::6].rankeval(metric="accuracy").plot.critical_difference()

# %%
# Association measures compared by precision at one n:

terms = rankeval_pd.datasets.load_terms()
df = terms.rankeval.with_association_measures(["G2", "t", "MI", "f"])
rankings = df.rankeval(gold="gold", measures=["G2", "t", "MI", "f"])
rankings.plot.critical_difference(n=500)
