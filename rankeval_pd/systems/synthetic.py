"""Pseudo-systems: one model trained on many resampled training sets (§3.2 of the paper)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats.resampling import resamples


def synthetic_systems(
    estimators: Mapping[Hashable, Any] | Sequence[Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    sizes: int | Sequence[int],
    n_each: int | Sequence[int],
    rng: int | np.random.Generator | None = 0,
    item_score: Callable[[Any, Any], Any] | None = None,
) -> pd.DataFrame:
    """Train each model on resampled training sets, and return what each did on the test items.

    Parameters
    ----------
    estimators : mapping or sequence
        From the name of a family to an estimator with ``fit(X, y)`` and ``predict(X)``, as
        scikit-learn's are; in a sequence, the names are those of the estimators' classes. They are
        copied, never changed.
    X, y : array, DataFrame, Series or sequence
        The training set.
    X_test, y_test : the same
        The test set. If X_test has an index, it names the items.
    sizes : int or sequence of int
        Sizes of the training sets, drawn with replacement from (X, y).
    n_each : int or sequence of int
        How many training sets of each size; one number for all sizes, or one per size.
    rng : int, Generator or None
        Seed of the training sets, and of every estimator that has a ``random_state`` of None.
    item_score : callable, optional
        From y_test and the predictions to a number per item. None: is the prediction right?

    Returns
    -------
    DataFrame
        One row per test item, one column per system, named "family size-number". ``attrs`` holds
        ``families``, from each column to its family, for ``paired_bootstrap(families=...)``.

    Notes
    -----
    The k-th training set of a size is the same for all families. Systems of one family come out
    alike, more so the larger the training sets; it is a rough picture of the small changes of a
    system under development. Cost: as many fits as there are columns.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 3.2.1.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> class Threshold:
    ...     def fit(self, X, y):
    ...         self.cut = (X[y == 1].mean() + X[y == 0].mean()) / 2
    ...
    ...     def predict(self, X):
    ...         return (X[:, 0] > self.cut).astype(int)
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 1)) + y[:, np.newaxis]
    >>> systems = rankeval_pd.synthetic_systems(
    ...     {"cut": Threshold()}, X[:200], y[:200], X[200:], y[200:], sizes=[20, 100], n_each=2
    ... )
    >>> systems.shape, list(systems)
    ((100, 4), ['cut 20-1', 'cut 20-2', 'cut 100-1', 'cut 100-2'])
    """
    named = _named(estimators)
    plan = _plan(sizes, n_each)
    total = len(y)
    if len(X) != total or len(X_test) != len(y_test):
        raise ValueError(
            f"X has {len(X)} rows and y {total}, X_test {len(X_test)} and y_test {len(y_test)}:"
            " give a label for each row."
        )
    seed = resamples.entropy(Roles.of({"rng": rng}).rng)
    columns: dict[str, Any] = {}
    families: dict[str, Hashable] = {}
    for family, estimator in named.items():
        for number, (size, repeat) in enumerate(plan):
            draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, 4)))
            rows = draws.integers(0, total, size)
            model = _fresh(estimator, int(draws.integers(0, 2**31)))
            model.fit(_taken(X, rows), _taken(y, rows))
            result = model.predict(X_test)
            name = f"{family} {size}-{repeat}"
            columns[name] = _scored(y_test, result, item_score)
            families[name] = family
    index = getattr(X_test, "index", None)
    table = pd.DataFrame(columns, index=index if isinstance(index, pd.Index) else None)
    table.attrs["families"] = families
    return table


def _named(estimators: Any) -> Mapping[Hashable, Any]:
    """Return the estimators by the names of their families."""
    if isinstance(estimators, (list, tuple)):
        for model in estimators:
            _check_model(model)
        named: Mapping[Hashable, Any] = {type(model).__name__: model for model in estimators}
        if len(named) < len(estimators):
            raise ValueError(
                f"estimators: two are of one class, {listed(type(x).__name__ for x in estimators)}."
                " Name the families: give a mapping from name to estimator."
            )
        estimators = named
    if not isinstance(estimators, Mapping) or not estimators:
        raise TypeError(
            f"estimators={estimators!r}: give a mapping from the name of a family to an estimator,"
            " as {'logistic': LogisticRegression()}."
        )
    for model in estimators.values():
        _check_model(model)
    return estimators


def _check_model(model: Any) -> None:
    """Raise a TypeError unless this is an estimator."""
    if isinstance(model, type):
        raise TypeError(
            f"estimators: {model.__name__} is a class, and an estimator is an instance of it. Give"
            f" {model.__name__}()."
        )
    for method in ("fit", "predict"):
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"estimators: {model!r} is of type {type(model).__name__}, which has no method"
                f" {method}. Give an estimator with fit(X, y) and predict(X)."
            )


def _plan(sizes: Any, n_each: Any) -> list[tuple[int, int]]:
    """Return the size of every training set, and its number among those of this size."""
    whole = [sizes] if not np.iterable(sizes) else list(sizes)
    times = [n_each] * len(whole) if not np.iterable(n_each) else list(n_each)
    for name, values in (("sizes", whole), ("n_each", times)):
        for value in values:
            if (
                isinstance(value, (bool, np.bool_))
                or not isinstance(value, (int, np.integer))
                or value < 1
            ):
                raise ValueError(f"{name}: {value!r}: give whole numbers, 1 or more.")
    if len(times) != len(whole) or len(set(whole)) != len(whole):
        raise ValueError(
            f"sizes={sizes!r}, n_each={n_each!r}: give each size once, and one number of training"
            " sets for all sizes or one for each."
        )
    return [(size, k + 1) for size, count in zip(whole, times, strict=True) for k in range(count)]


def _fresh(estimator: Any, seed: int) -> Any:
    """Return a copy of the estimator, seeded where it asks for a seed and has none."""
    model = copy.deepcopy(estimator)
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    unseeded = {
        name: seed
        for name, value in parameters.items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    if unseeded:
        model.set_params(**unseeded)
    return model


def _taken(data: Any, rows: Any) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else np.asarray(data)[rows]


def _scored(
    y_test: Any, found: Any, item_score: Callable[[Any, Any], Any] | None
) -> np.ndarray[Any, Any]:
    if item_score is None:
        return np.asarray(np.asarray(y_test) == np.asarray(found)).astype(np.int64)
    scores = np.asarray(item_score(y_test, found))
    if scores.shape != (len(y_test),):
        raise ValueError(
            f"item_score returned shape {scores.shape}: a number for each of the {len(y_test)}"
            " test items is needed."
        )
    return scores
