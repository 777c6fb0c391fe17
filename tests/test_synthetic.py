"""Pseudo-systems from resampled training sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankeval_pd


class Mean:
    """A model that predicts 1 above the mean of the training set."""

    def fit(self, X, y):
        self.cut = float(np.mean(np.asarray(X)))
        self.size = len(y)

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.cut).astype(int)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = (X[:, 0] + rng.normal(0, 0.5, 300) > 0).astype(int)
    return X[:200], y[:200], X[200:], y[200:]


def test_names_sizes_and_families(data):
    model = Mean()
    found = rankeval_pd.synthetic_systems(
        {"mean": model, "other": Mean()}, *data, sizes=[10, 50], n_each=[2, 1]
    )
    assert list(found) == ["mean 10-1", "mean 10-2", "mean 50-1",
                           "other 10-1", "other 10-2", "other 50-1"]  # fmt: skip
    assert found.attrs["families"] == {name: name.split()[0] for name in found}
    assert len(found) == 100
    assert set(np.unique(found)) <= {0, 1}
    assert not hasattr(model, "cut")  # it is copied
    np.testing.assert_array_equal(found["mean 10-1"], found["other 10-1"])  # one training set
    pairs = found.rankeval.paired_bootstrap(families=found.attrs["families"])
    assert (pairs["relation"] == "same").sum() == 6


def test_a_sequence_is_named_by_its_classes(data):
    ask = {"sizes": 20, "n_each": 2}
    found = rankeval_pd.synthetic_systems([Mean()], *data, **ask)
    pd.testing.assert_frame_equal(
        found, rankeval_pd.synthetic_systems({"Mean": Mean()}, *data, **ask)
    )


def test_seeds(data):
    def ask(rng):
        return rankeval_pd.synthetic_systems({"m": Mean()}, *data, sizes=20, n_each=3, rng=rng)

    pd.testing.assert_frame_equal(ask(1), ask(1))
    assert not ask(1).equals(ask(2))


def test_frames_scores_and_seeded_estimators(data):
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    X, y, X_test, y_test = data
    frames = (
        pd.DataFrame(X),
        pd.Series(y),
        pd.DataFrame(X_test, index=[f"t{k}" for k in range(100)]),
    )
    ask = {"sizes": 40, "n_each": 2}
    models = {"tree": tree(max_features=1, splitter="random")}
    first, again = (rankeval_pd.synthetic_systems(models, *frames, y_test, **ask) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert first.index[3] == "t3"
    plain = rankeval_pd.synthetic_systems(models, *data, **ask)
    np.testing.assert_array_equal(first, plain)
    scored = rankeval_pd.synthetic_systems(
        models, *data, **ask, item_score=lambda truth, guess: -np.abs(truth - guess)
    )
    np.testing.assert_array_equal(scored, plain - 1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimators": Mean()}, TypeError, "pass a mapping"),
        ({"estimators": []}, TypeError, "pass a mapping"),
        ({"estimators": {"m": Mean}}, TypeError, r"Mean is a class, .* Pass Mean\(\)"),
        ({"estimators": [Mean, type(None)]}, TypeError, "Mean is a class"),
        (
            {"estimators": {"m": "mean"}},
            TypeError,
            "'mean' is of type str, which has no",
        ),
        ({"estimators": [Mean(), Mean()]}, ValueError, "two estimators have the same class"),
        ({"sizes": [10, 10]}, ValueError, "each size once"),
        ({"sizes": 0}, ValueError, "sizes: 0"),
        ({"n_each": [1, 2]}, ValueError, "single number of training"),
        ({"y_test": [1]}, ValueError, "X_test has 100 rows and y_test has 1"),
        ({"item_score": lambda truth, guess: 1.0}, ValueError, r"returned shape \(\)"),
    ],
)
def test_bad_input(data, change, error, message):
    X, y, X_test, y_test = data
    arguments = {"estimators": {"m": Mean()}, "X": X, "y": y, "X_test": X_test, "y_test": y_test,
                 "sizes": 10, "n_each": 1, **change}  # fmt: skip
    with pytest.raises(error, match=message):
        rankeval_pd.synthetic_systems(**arguments)
