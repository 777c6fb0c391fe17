"""Create tables from true labels and classifier predictions or scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_choice, checked_call, listed, shown
from rankeval_pd.forms.rankings.values import true_values
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.resampling.metric_sums import METRICS

_METRICS = ("accuracy", "precision", "recall", "f1")


@checked_call
def from_predictions(
    y_true: Any,
    predictions: Any,
    metric: Literal["accuracy", "precision", "recall", "f1"],
    *,
    positive: Any = None,
) -> pd.DataFrame:
    """Return a table for testing classifiers' accuracy, precision, recall or F1.

    Parameters
    ----------
    y_true : sequence
        True label of each item, as a list, array or Series.
    predictions : mapping, DataFrame or sequence
        Predicted labels by model name, or the predicted labels of one model.
    metric : {"accuracy", "precision", "recall", "f1"}
    positive : label or sequence of labels, optional
        The positive class for precision, recall and F1. All other labels are negative. The default
        is 1 or True; labels other than True, False, 1 and 0 require ``positive``.

    Returns
    -------
    DataFrame
        One row per test item. For accuracy, each model has one column that marks correct
        predictions. Other metrics use two-level columns (system, statistic). Pass the same
        ``metric`` to the methods. The index comes from the data.

    Raises
    ------
    ValueError, TypeError
        If lengths or indexes differ, labels are missing, ``positive`` is required or not a label,
        or predictions are scores.

    See Also
    --------
    from_scores, paired_bootstrap, paired_permutation

    Notes
    -----
    Scores equal scikit-learn's ``accuracy_score``, and ``precision_score``, ``recall_score`` and
    ``f1_score`` for the positive class. The Matthews correlation coefficient and averages over
    classes are not supported.

    Examples
    --------
    >>> import rankeval_pd
    >>> items = rankeval_pd.from_predictions(
    ...     [1, 1, 0, 0], {"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}, "f1"
    ... )
    >>> items["new"].sum().to_dict()  # F1 = 2 * 2 / (3 + 2)
    {'correct': 2, 'guess': 3, 'gold': 2}
    """
    check_choice("metric", metric, _METRICS)
    truth, index = _labels(y_true, "y_true")
    models, index = _models(predictions, "predictions", truth.size, index)
    known = pd.unique(truth)
    guesses: dict[Hashable, AnyArray] = {}
    found: list[Any] = [*known]
    for name, values in models.items():
        guesses[name], _ = _labels(values, f"predictions[{shown(name)}]")
        predicted = pd.unique(guesses[name])
        _check_labels(name, predicted, known)
        found += [*predicted]
    if metric == "accuracy":
        right = {name: _equal(labels, truth) for name, labels in guesses.items()}
        return pd.DataFrame(right, index=index)
    among = _positive_labels(positive, found)
    columns: dict[Any, AnyArray] = {}
    for name, labels in guesses.items():
        counts = {"guess": _among(labels, among), "gold": _among(truth, among)}
        counts["correct"] = counts["guess"] & counts["gold"]
        columns |= {
            (name, part): counts[part].astype(np.int64) for part in METRICS[metric].statistics
        }
    return pd.DataFrame(columns, index=index).rename_axis(columns=["system", "statistic"])


@checked_call
def from_scores(y_true: Any, scores: Any, *, positive: Any = None) -> pd.DataFrame:
    """Return candidates with classifier scores as measures and a gold label.

    Parameters
    ----------
    y_true : sequence
        True label of each candidate, as a list, array or Series.
    scores : mapping, DataFrame, array or sequence
        Scores by model name, or the scores of one model. Larger scores indicate the positive
        class. You can pass sequences, or n x 2 arrays from ``predict_proba`` with classes sorted
        as in scikit-learn. For such arrays, the positive-class column is used. In a DataFrame of
        probabilities, the columns can be named after the classes in any order.
    positive : label or sequence of labels, optional
        The label of the positive class. All other labels are negative. The default is 1 or True;
        labels other than True, False, 1 and 0 require ``positive``.

    Returns
    -------
    DataFrame
        One row per candidate, with a column per model ("score" for a model without a name) and a
        column ``gold``.

    Raises
    ------
    ValueError, TypeError
        If lengths or indexes differ, labels are missing, ``positive`` is required or not a label, a
        score is not a number, or several columns are not probabilities of known classes.

    See Also
    --------
    from_predictions, area, compare_area, roc

    Examples
    --------
    >>> import rankeval_pd
    >>> y_score = {"old": [0.9, 0.3, 0.5, 0.2], "new": [0.8, 0.6, 0.1, 0.2]}
    >>> rankeval_pd.from_scores([1, 1, 0, 0], y_score)
       old  new   gold
    0  0.9  0.8   True
    1  0.3  0.6   True
    2  0.5  0.1  False
    3  0.2  0.2  False
    """
    truth, index = _labels(y_true, "y_true")
    known = [*pd.unique(truth)]
    among = _positive_labels(positive, known)
    models, index = _models(scores, "scores", truth.size, index, classes=known)
    if "gold" in models:
        raise ValueError(
            "scores: a model is named 'gold', which is reserved for the labels. Rename the model."
        )
    columns = {name: _scores(x, name, known, among) for name, x in models.items()}
    return pd.DataFrame({**columns, "gold": _among(truth, among)}, index=index)


def _labels(values: Any, name: str) -> tuple[AnyArray, pd.Index | None]:
    """Return labels as an array, and their index or None."""
    index = getattr(values, "index", None)
    index = index if isinstance(index, pd.Index) else None
    if isinstance(values, (str, bytes)) or not np.iterable(values):
        raise TypeError(f"{name} is of type {type(values).__name__}: pass a label for each item.")
    given: Any = values
    array = given.to_numpy() if hasattr(given, "to_numpy") else _array(values)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or not array.size:
        raise ValueError(
            f"{name} has shape {array.shape}: pass one label for each item. Pass several models as"
            " a mapping, {'model A': labels}, and test each label of multi-label data separately."
        )
    missing = int(np.asarray(pd.isna(array)).sum())
    if missing:
        raise ValueError(
            f"{name} has no label for {missing} of {array.size} items. Drop these items, or fill "
            "in the labels."
        )
    return array, index


def _equal(labels: AnyArray, other: Any) -> BoolArray:
    return np.asarray(labels.astype(object) == other, dtype=bool)


def _among(labels: AnyArray, among: list[Any]) -> BoolArray:
    """Return whether each label is in the positive class."""
    return np.asarray(np.any([_equal(labels, label) for label in among], axis=0), dtype=bool)


def _array(values: Any) -> AnyArray:
    """Return values as an array; keep mixed label types."""
    found = list(values) if not isinstance(values, np.ndarray) else values
    if isinstance(found, list) and len({isinstance(x, str) for x in found}) > 1:
        return np.array(found, dtype=object)
    return np.asarray(found)


def _models(
    given: Any, name: str, size: int, index: pd.Index | None, classes: list[Any] | None = None
) -> tuple[Mapping[Hashable, Any], pd.Index | None]:
    """Return each model's values, one per label, and the index of the values."""
    if (
        classes is not None
        and isinstance(given, pd.DataFrame)
        and _by_class(given, classes) is not None
    ):
        given = {"score": given}
    elif not isinstance(given, (Mapping, pd.DataFrame)):
        alone = getattr(given, "name", None)
        given = {("score" if classes is not None else "model") if alone is None else alone: given}
    if not len(given) or not len(given.keys()):
        raise ValueError(f"{name} contains no models. Pass a mapping, {{'model A': values}}.")
    models: dict[Hashable, Any] = {}
    for model, values in given.items():
        if model in models:
            raise ValueError(f"{name} has two models named {model!r}. Rename one of them.")
        if isinstance(values, (str, bytes)) or not np.iterable(values):
            raise TypeError(
                f"{name}[{shown(model)}] is of type {type(values).__name__}: pass a value for each "
                "item."
            )
        own = getattr(values, "index", None)
        index = _same(own, index, name) if isinstance(own, pd.Index) else index
        models[model] = values if hasattr(values, "__len__") else list(values)
        if len(models[model]) != size:
            raise ValueError(
                f"{name}[{shown(model)}] has {len(models[model])} values, but y_true has {size}."
                " Pass one value for each item, in the same order."
            )
    return models, index


def _same(own: pd.Index, index: pd.Index | None, name: str) -> pd.Index:
    """Return the common index; raise an error if the items differ."""
    if index is None or index.equals(own):
        return own
    numbered = [isinstance(x, pd.RangeIndex) and x.start == 0 for x in (own, index)]
    if any(numbered) and len(own.difference(index)):  # row numbers are not labels
        return index if numbered[0] else own
    raise ValueError(
        f"{name}: the index differs from the labels' index or another model's. Align the indexes"
        " with reindex, or pass .to_numpy() if the rows are in the same order."
    )


def _check_labels(name: Hashable, predicted: AnyArray, known: AnyArray) -> None:
    """Reject scores, and predictions that differ in type from the labels."""
    others = [x for x in predicted.tolist() if x not in {*known.tolist()}]
    if any(isinstance(x, float) and x % 1.0 for x in others):
        raise ValueError(
            f"predictions[{shown(name)}] contains {listed(others, 3)}, which are not labels in"
            " y_true. Convert scores to labels, for example scores >= 0.5, or pass scores to"
            " from_scores to evaluate rankings."
        )
    if len(others) == len(predicted) and len({isinstance(x, str) for x in [*others, *known]}) > 1:
        raise ValueError(
            f"predictions[{shown(name)}] contains {listed(others, 3)}, but y_true contains"
            f" {listed(known.tolist(), 3)}. Use the same labels in both."
        )


def _positive_labels(positive: Any, known: list[Any]) -> list[Any]:
    """Return the labels of the positive class, by default 1 or True."""
    among = [1] if positive is None else true_values(positive)
    labels = pd.unique(pd.Series(known, dtype=object)).tolist()
    lacking = [x for x in among if not any(bool(x == label) for label in labels)]
    advice = "Name the positive class, positive=..."
    if len(labels) > 12 and all(isinstance(x, float) for x in labels):
        advice = "These look like scores: pass y_true first, then the scores."
    if positive is None and not {*labels} <= {0, 1}:
        raise ValueError(
            f"positive=None: the labels are {listed(labels, 3)}, but only True and False, or 1 and"
            f" 0, show which class is positive. {advice}"
        )
    if lacking or not among:
        missing = shown(lacking[0] if lacking else positive)
        raise ValueError(
            f"positive={missing} is not one of the labels {listed(labels, 3)}. {advice}"
        )
    return among


def _by_class(values: Any, known: list[Any]) -> pd.DataFrame | None:
    """Return probabilities with a column per class, or None if these cannot be recognized."""
    columns = getattr(values, "columns", None)
    frame = pd.DataFrame(_array_of(values), columns=columns).infer_objects()
    numbered = isinstance(frame.columns, pd.RangeIndex)
    if not _are_probabilities(frame.to_numpy()) or (numbered and frame.shape[1] != 2):
        return None
    classes = sorted(known, key=lambda label: (isinstance(label, str), label))
    if len(classes) == 2 and {*frame} == {0, 1}:  # scikit-learn sorts the classes
        frame = frame.rename(columns=dict(enumerate(classes)))
    return frame if {*known} <= {*frame} else None


def _array_of(values: Any) -> AnyArray:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _are_probabilities(array: AnyArray) -> bool:
    """Return whether the rows contain probabilities of two or more classes."""
    if array.shape[1] < 2 or array.dtype.kind not in "fiub":
        return False
    rows = array.astype(float)
    return bool((np.abs(rows.sum(axis=1) - 1.0) < 1e-6).all() and (rows >= 0.0).all())


def _scores(values: Any, name: Hashable, known: list[Any], among: list[Any]) -> FloatArray:
    """Return one score per candidate; select the positive-class column."""
    array = _array_of(values)
    if array.ndim == 2:
        found = _by_class(values, known)
        if found is None:
            raise ValueError(
                f"scores[{shown(name)}] has shape {array.shape}, but its rows are not"
                " probabilities or its columns are not the classes. Name the columns after the"
                " classes, or pass one score for each candidate, such as proba[:, k]."
            )
        array = found.to_numpy()[:, [label in among for label in found]].sum(axis=1)
    if array.dtype.kind not in "fiub":
        try:
            array = pd.to_numeric(pd.Series(array)).to_numpy(dtype=float)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"scores[{shown(name)}] contains values that are not numbers. Pass scores, or call"
                " from_predictions for labels."
            ) from error
    return array.astype(float) if array.dtype.kind == "b" else array
