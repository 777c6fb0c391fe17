"""
Critical differences
====================

Systems by their scores. Bars join systems that no test distinguishes.

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
    "1 neighbour": KNeighborsClassifier(1),
    "5 neighbours": KNeighborsClassifier(5),
    "tree": DecisionTreeClassifier(random_state=0),
}
items = pd.DataFrame({name: cross_val_predict(x, X, y) == y for name, x in models.items()})
systems = items.rankeval(metric="accuracy")

# %%

systems.plot.critical_difference()
