"""Make tables of items from predictions, translations and trained models."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from rankeval_pd.doors import true_values
from rankeval_pd.errors import check_count, check_memory, checked_call, listed, shown, warn
from rankeval_pd.roles import Roles, TextMetric
from rankeval_pd.stats import (
    METRICS,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    all_counts,
    chrf_formula,
    entropy,
)
from rankeval_pd.tables import Keywords

# ---- Translation statistics for paired tests

#: metrics of sacrebleu, and the defaults that the formulas of this package assume
SCORERS: Mapping[str, Keywords] = {
    "bleu": {"smooth_method": "exp", "max_ngram_order": 4, "effective_order": False},
    "chrf": {"beta": 2, "eps_smoothing": False},
    "ter": {},
}


@checked_call
def from_sacrebleu(
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str | None]],
    metric: TextMetric = "bleu",
    **options: Any,
) -> pd.DataFrame:
    """Return segment statistics for sacrebleu's BLEU, chrF or TER.

    Parameters
    ----------
    hypotheses : mapping or DataFrame
        The segments of each system, by system name. All systems must have the same number of
        segments.
    references : sequence of str, or of sequences of str
        One reference per segment, or several such sequences as in sacrebleu, with None for missing
        references.
    metric : {"bleu", "chrf", "ter"}
    **options
        Options for ``sacrebleu.metrics.BLEU``, ``CHRF`` or ``TER`` such as ``tokenize="zh"`` or
        ``word_order=2`` (chrF++), if the formula stays the same.

    Returns
    -------
    DataFrame
        One row per segment and two-level columns (system, statistic). Pass the same ``metric`` to
        the methods. For TER, lower is better, and the numerator is 100 times the number of edits,
        so scores are percentages as in sacrebleu. ``attrs["signature"]`` is sacrebleu's signature,
        which results, captions and methods sentences repeat.

    See Also
    --------
    paired_bootstrap, system_ranks

    Notes
    -----
    The corpus score, computed from summed statistics, equals sacrebleu's score with the same
    options. sacrebleu's paired tests use the same statistics. With several references, chrF
    uses the best-scoring reference for each segment.

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.from_sacrebleu(
    ...     {"a": ["the cat sat", "a dog ran"], "b": ["the cat sat down", "dogs run"]},
    ...     ["the cat sat down", "the dog ran"],
    ...     "ter",
    ... )
    >>> table
    system         a                     b
    statistic numerator denominator numerator denominator
    segment
    0             100.0         4.0       0.0         4.0
    1             100.0         3.0     300.0         3.0
    """
    if not hasattr(hypotheses, "items") or not len(hypotheses):
        raise TypeError(
            f"hypotheses={shown(hypotheses)}: pass a mapping from system names to segments, such as"
            " {'system A': lines}."
        )
    for name, known in SCORERS[metric].items():
        if options.get(name, known) != known:
            raise ValueError(
                f"{name}={shown(options[name])} changes the formula of metric={metric!r}, which"
                f" paired tests compute with {name}={known!r}. Omit this option."
            )
    streams = _streams(references)
    size = len(streams[0])
    alone = np.flatnonzero([{*of} == {None} for of in zip(*streams, strict=True)])
    if alone.size:
        raise ValueError(
            f"references: segment {alone[0]} (counted from 0) has no reference. Add a reference."
        )
    scorer, statistics = _scorer(metric, options)
    tables = {}
    for system, texts in hypotheses.items():
        _check_segments(texts, f"hypotheses[{shown(system)}]", size)
        # the sums that sacrebleu resamples in its own paired tests
        rows = scorer._extract_corpus_statistics(texts, streams)
        tables[system] = pd.DataFrame(rows, columns=statistics, dtype=float)
        if metric == "ter":
            tables[system]["numerator"] *= 100.0
    joined = pd.concat(tables, axis=1, names=["system", "statistic"])
    scorer.num_refs = len(streams)
    joined.attrs["signature"] = str(scorer.get_signature())
    return joined.rename_axis(index="segment")


def _streams(references: Any) -> list[Sequence[str | None]]:
    """Return the sequences of references, all of the same length."""
    _check_listed("references", references, "a reference for each segment, or lists of them")
    streams: list[Any] = list(references)
    if all(isinstance(x, str) for x in streams):
        streams = [streams]
    _check_listed("references[0]", streams[0], "segments")
    for place, stream in enumerate(streams):
        _check_segments(stream, f"references[{place}]", len(streams[0]), optional=True)
    return streams


def _check_listed(name: str, values: Any, what: str) -> None:
    no_list = isinstance(values, str | bytes) or hasattr(values, "nnz")  # text, or sparse
    if no_list or not hasattr(values, "__len__") or not len(values):
        raise TypeError(f"{name}={shown(values)}: pass a list with {what}.")


def _check_segments(texts: Any, name: str, size: int, *, optional: bool = False) -> None:
    _check_listed(name, texts, "segments")
    if len(texts) != size:
        raise ValueError(
            f"{name} has {len(texts)} segments, and the references have {size}. Align the segments,"
            " and check for an empty line at the end of a file."
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str) and not (optional and text is None):
            raise TypeError(
                f"{name}: segment {row} (counted from 0) is of type {type(text).__name__}. Pass "
                "text; an empty output is ''."
            )


def _scorer(metric: str, options: Keywords) -> tuple[Any, list[str]]:
    """Return sacrebleu's metric, and the names of its statistics."""
    try:
        import sacrebleu.metrics
    except ImportError as error:
        raise ImportError("from_sacrebleu needs sacrebleu: pip install sacrebleu.") from error
    scorer = getattr(sacrebleu.metrics, metric.upper())(**options)  # checks the options
    if metric == "chrf":
        return scorer, list(chrf_formula(scorer.char_order + scorer.word_order).statistics)
    return scorer, list(METRICS[metric].statistics)


# ---- Synthetic systems (Berg-Kirkpatrick et al. 2012, §3.2)


@checked_call
def synthetic_systems(
    estimators: Mapping[Hashable, Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    sizes: int | Sequence[int],
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Train models on resampled training sets, and mark the items they predict correctly.

    Parameters
    ----------
    estimators : mapping
        Estimators with ``fit(X, y)`` and ``predict(X)``, as in scikit-learn, by family name.
        Estimators are copied and never modified.
    X, y : array, DataFrame, Series or sequence
        The training set.
    X_test, y_test : the same
        The test set. If X_test has an index, the index provides the item names.
    sizes : int or sequence of int
        The size of each training set, which is drawn with replacement from (X, y). A size that
        occurs k times, as in ``[200] * k``, gives k training sets.
    rng : int, Generator or None
        Seed for drawing training sets, and for estimators with ``random_state=None``.

    Returns
    -------
    DataFrame
        One row per test item and one column per system, named "family size-number".
        ``attrs["families"]`` maps columns to families for ``paired_bootstrap(families=...)``.

    Notes
    -----
    The k-th training set of a given size is the same for all families. Like versions of a system
    under development, systems in the same family are similar, especially if the training sets are
    large. Each column requires one model fit.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    section 3.2.1.

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
    ...     {"cut": Threshold()}, X[:200], y[:200], X[200:], y[200:], sizes=[20, 20, 100, 100]
    ... )
    >>> systems.shape, list(systems)
    ((100, 4), ['cut 20-1', 'cut 20-2', 'cut 100-1', 'cut 100-2'])
    """
    _check_estimators(estimators)
    plan = _training_sets(sizes)
    total = len(y)
    if len(X) != total or len(X_test) != len(y_test):
        raise ValueError(
            f"X has {len(X)} rows and y has {total}; X_test has {len(X_test)} rows and y_test has"
            f" {len(y_test)}. Pass one label for each row."
        )
    seed = entropy(Roles.of({"rng": rng}).rng)
    columns = {}
    families = {}
    for family, estimator in estimators.items():
        for number, (size, repeat) in enumerate(plan):
            draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, 4)))
            rows = draws.integers(0, total, size)
            model = _fresh(estimator, int(draws.integers(0, 2**31)))
            model.fit(_training_rows(X, rows), _training_rows(y, rows))
            name = f"{family} {size}-{repeat}"
            families[name] = family
            right = np.asarray(np.asarray(y_test) == np.asarray(model.predict(X_test)))
            columns[name] = right.astype(np.int64)
    table = pd.DataFrame(columns, index=_index_of(X_test))
    table.attrs["families"] = families
    return table


def _check_estimators(estimators: Any) -> None:
    if not isinstance(estimators, Mapping) or not estimators:
        raise TypeError(
            f"estimators={shown(estimators)}: pass a mapping from family names to estimators, "
            "such as {'logistic': LogisticRegression()}."
        )
    for family, model in estimators.items():
        usable = callable(getattr(model, "fit", None)) and callable(getattr(model, "predict", None))
        if isinstance(model, type) or not usable:
            raise TypeError(
                f"estimators[{shown(family)}] is {shown(model)}. Pass an instance with fit(X, y)"
                " and predict(X), such as LogisticRegression()."
            )


def _training_sets(sizes: Any) -> list[tuple[int, int]]:
    """Return each training set's size, and its number among the sets of that size."""
    plan = []
    met: Counter[int] = Counter()
    for value in np.atleast_1d(np.array(sizes, dtype=object)).tolist():
        size = check_count("sizes", value)
        met[size] += 1
        plan.append((size, met[size]))
    return plan


def _fresh(estimator: Any, seed: int) -> Any:
    """Return a copy of the estimator, seeded if random_state is None."""
    model = copy.deepcopy(estimator)
    if not hasattr(model, "get_params"):
        return model
    for name, value in model.get_params().items():
        if name.split("__")[-1] == "random_state" and value is None:
            model.set_params(**{name: seed})
    return model


def _training_rows(data: Any, rows: Any) -> Any:
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return np.asarray(data)[rows]


@checked_call
def resample_counts(
    n_items: int, n_resamples: int = 10_000, *, rng: int | np.random.Generator | None = 0
) -> IntArray:
    """Return how often each bootstrap resample contains each item.

    Parameters
    ----------
    n_items : int
        Number of items, or number of clusters with ``groups``.
    n_resamples : int
    rng : int, Generator or None
        The seed, as in other methods.

    Returns
    -------
    array of int (n_resamples, n_items), with items in label order

    Notes
    -----
    All bootstrap methods use these counts. Each block of 1,000 resamples uses a separate child of
    ``SeedSequence(rng)``. If you increase ``n_resamples``, the first resamples stay the same for
    all chunks, threads and workers. Each count takes 7 ns and 8 bytes.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    footnote 5, use the same counts for all pairs.

    Examples
    --------
    >>> import rankeval_pd
    >>> counts = rankeval_pd.resample_counts(4, 3)
    >>> counts.shape, counts.sum(axis=1)
    ((3, 4), array([4, 4, 4]))
    """
    check_count("n_items", n_items)
    check_count("n_resamples", n_resamples)
    seed = entropy(Roles.of({"rng": rng}).rng)
    check_memory(
        float(n_items) * float(n_resamples),
        f"{n_resamples:,} resamples of {n_items:,} items",
        "Draw the resamples in several calls, each with a smaller n_resamples and a different rng.",
    )
    return all_counts(int(n_items), int(n_resamples), seed)


# ---- Create tables from true labels and classifier predictions or scores


@checked_call
def from_predictions(
    y_true: Any,
    predictions: Any,
    metric: Literal[
        "accuracy", "precision", "recall", "f1", "specificity", "balanced_accuracy", "macro_f1"
    ],
    *,
    positive: Any = None,
) -> pd.DataFrame:
    """Return a table for testing classifiers' accuracy, F1 and other metrics.

    Parameters
    ----------
    y_true : sequence
        True label of each item, as a list, array or Series.
    predictions : mapping, DataFrame or sequence
        Predicted labels by model name, or the predicted labels of one model.
    metric : str
        "accuracy", "balanced_accuracy" or "macro_f1" of all classes, or "precision", "recall",
        "specificity" or "f1" of the positive class.
    positive : label or sequence of labels, optional
        The positive class for precision, recall, specificity and F1. All other labels are negative.
        The default is 1 or True; labels other than True, False, 1 and 0 require ``positive``.

    Returns
    -------
    DataFrame
        One row per test item. For accuracy, each model has one column that marks correct
        predictions. Other metrics use two-level columns (system, statistic). Pass the same
        ``metric`` to the methods. The index comes from the data. Add clusters to two-level columns
        as ``items["patient", ""] = patients``, and pass ``groups="patient"``. For means
        over classes, such as macro F1, the counts of the sorted classes are numbered:
        ``correct_1``, ``correct_2``, ...

    Warns
    -----
    RankevalWarning
        If a predicted label never occurs in ``y_true``, as after an error in a mapping of labels.

    See Also
    --------
    from_scores, paired_bootstrap, paired_permutation

    Notes
    -----
    Scores equal scikit-learn's ``accuracy_score``, ``balanced_accuracy_score``, ``f1_score`` with
    ``average="macro"``, and ``precision_score``, ``recall_score`` and ``f1_score`` for the positive
    class. Specificity is the recall of all other labels. The Matthews correlation coefficient is
    not supported.

    Examples
    --------
    >>> import rankeval_pd
    >>> items = rankeval_pd.from_predictions(
    ...     [1, 1, 0, 0], {"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}, "f1"
    ... )
    >>> items["new"].sum().to_dict()  # F1 = 2 * 2 / (3 + 2)
    {'correct': 2, 'guess': 3, 'gold': 2}
    """
    truth, index = _label_array(y_true, "y_true")
    models, index = _models(predictions, "predictions", truth.size, index)
    known = pd.unique(truth)
    guesses = {}
    found = [*known]
    for name, values in models.items():
        guesses[name], _ = _label_array(values, f"predictions[{shown(name)}]")
        predicted = pd.unique(guesses[name])
        _check_labels(name, predicted, known)
        found += [*predicted]
    if metric == "accuracy":
        right = {name: _label_equals(labels, truth) for name, labels in guesses.items()}
        return pd.DataFrame(right, index=index)
    if metric in ("balanced_accuracy", "macro_f1"):
        if positive is not None:
            raise ValueError(
                f"positive={shown(positive)}: metric={metric!r} has no positive class."
            )
        classes = [[x] for x in sorted({*found}, key=lambda x: (str(type(x)), x))]
    else:
        classes = [_positive_labels(positive, found)]
    columns: dict[Any, AnyArray] = {}
    for name, labels in guesses.items():
        for number, among in enumerate(classes, start=1):
            counts = {"guess": _is_positive(labels, among), "gold": _is_positive(truth, among)}
            if metric == "specificity":
                counts = {part: ~x for part, x in counts.items()}
            counts["correct"] = counts["guess"] & counts["gold"]
            for part in METRICS[metric].statistics:
                kind, _, numbered = part.partition("_")
                column = f"{kind}_{number}" if numbered else kind
                columns[name, column] = counts[kind].astype(np.int64)
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
        class. Of ``predict_proba``, pass the column of the positive class, ``proba[:, 1]``.
    positive
        As in :func:`from_predictions`.

    Returns
    -------
    DataFrame
        One row per candidate, with a column per model ("score" for a model without a name) and a
        column ``gold``.

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
    truth, index = _label_array(y_true, "y_true")
    among = _positive_labels(positive, [*pd.unique(truth)])
    models, index = _models(scores, "scores", truth.size, index)
    if "gold" in models:
        raise ValueError(
            "scores: a model is named 'gold', which is reserved for the labels. Rename the model."
        )
    columns = {name: _classifier_scores(x, name) for name, x in models.items()}
    return pd.DataFrame({**columns, "gold": _is_positive(truth, among)}, index=index)


def _label_array(values: Any, name: str) -> tuple[AnyArray, pd.Index | None]:
    """Return labels as an array, and their index or None."""
    _check_listed(name, values, "a label for each item")
    array = _array(values)
    if array.ndim != 1:
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
    return array, _index_of(values)


def _index_of(values: Any) -> pd.Index | None:
    """Return the pandas index, but not the ``index`` method of a list."""
    index = getattr(values, "index", None)
    if isinstance(index, pd.Index):
        return index
    return None


def _label_equals(labels: AnyArray, other: Any) -> BoolArray:
    return np.asarray(labels.astype(object) == other, dtype=bool)


def _is_positive(labels: AnyArray, among: list[Any]) -> BoolArray:
    return np.asarray(np.any([_label_equals(labels, label) for label in among], axis=0), dtype=bool)


def _array(values: Any) -> AnyArray:
    """Return values as an array, and a single column as a vector; keep mixed label types."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if hasattr(values, "__array__"):
        array = np.asarray(values)
    else:
        labels = list(values)
        array = np.asarray(labels)
        if len({isinstance(x, str) for x in labels}) > 1:
            array = np.array(labels, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    return array


def _models(
    given: Any, name: str, size: int, index: pd.Index | None
) -> tuple[Mapping[Hashable, Any], pd.Index | None]:
    """Return each model's values, one per label, and the index of the values."""
    if not isinstance(given, (Mapping, pd.DataFrame)):
        own_name = getattr(given, "name", None)
        if own_name is None:
            own_name = {"predictions": "model", "scores": "score"}[name]
        given = {own_name: given}
    if not len(given) or not len(given.keys()):
        raise ValueError(f"{name} contains no models. Pass a mapping, {{'model A': values}}.")
    models = {}
    for model, values in given.items():
        if model in models:
            raise ValueError(f"{name} has two models named {model!r}. Rename one of them.")
        _check_listed(f"{name}[{shown(model)}]", values, "a value for each item")
        own = _index_of(values)
        if own is not None:
            index = _common_index(own, index, name)
        models[model] = values
        if len(models[model]) != size:
            raise ValueError(
                f"{name}[{shown(model)}] has {len(models[model])} values, but y_true has {size}."
                " Pass one value for each item, in the same order."
            )
    return models, index


def _common_index(own: pd.Index, index: pd.Index | None, name: str) -> pd.Index:
    """Return the common index; raise an error if the items differ."""
    if index is None or index.equals(own):
        return own
    numbered = [isinstance(x, pd.RangeIndex) and x.start == 0 for x in (own, index)]
    if any(numbered) and len(own.difference(index)):  # row numbers are not labels
        if numbered[0]:
            return index
        return own
    raise ValueError(
        f"{name}: the index differs from the labels' index or another model's. Align the indexes"
        " with reindex, or pass .to_numpy() if the rows are in the same order."
    )


def _check_labels(name: Hashable, predicted: AnyArray, known: AnyArray) -> None:
    """Reject scores, and predictions that differ in type from the labels."""
    others = [x for x in predicted.tolist() if x not in {*known.tolist()}]
    scores = any(isinstance(x, float) and x % 1.0 for x in others)
    mixed = len({isinstance(x, str) for x in [*others, *known]}) > 1
    if scores or (mixed and len(others) == len(predicted)):
        raise ValueError(
            f"predictions[{shown(name)}] contains {listed(others, 3)}, but y_true contains"
            f" {listed(known.tolist(), 3)}. Use the same labels in both, or pass scores to"
            " from_scores."
        )
    if others:
        warn(
            f"predictions[{shown(name)}]: {listed(others, 3)} never occur in y_true, so these"
            " predictions are wrong. Check how the labels were mapped."
        )


def _positive_labels(positive: Any, known: list[Any]) -> list[Any]:
    """Return the labels of the positive class, by default 1 or True."""
    among = [1] if positive is None else true_values(positive)
    labels = pd.unique(pd.Series(known, dtype=object)).tolist()
    lacking = [x for x in among if not any(bool(x == label) for label in labels)]
    if positive is None and not {*labels} <= {0, 1}:
        raise ValueError(
            f"positive is missing, and the labels are {listed(labels, 3)}. Name the positive class,"
            " positive=..., which is 1 or True by default."
        )
    if positive is None and lacking:
        raise ValueError(
            "no item is positive: the positive class is 1 or True by default, and the labels are"
            f" {listed(labels, 3)}. Check the labels, or name another class, positive=..."
        )
    if lacking or not among:
        raise ValueError(
            f"positive={shown([*lacking, positive][0])} is not one of the labels"
            f" {listed(labels, 3)}. Name a class that occurs."
        )
    return among


def _classifier_scores(values: Any, name: Hashable) -> FloatArray:
    """Return one score per candidate."""
    array = _array(values)
    if array.ndim == 2:
        raise ValueError(
            f"scores[{shown(name)}] has shape {array.shape}: pass one score for each candidate,"
            " such as proba[:, 1] for the second class of predict_proba."
        )
    if array.dtype.kind not in "fiub":
        try:
            array = pd.to_numeric(pd.Series(array)).to_numpy(dtype=float)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"scores[{shown(name)}] contains values that are not numbers. Pass scores, or call"
                " from_predictions for labels."
            ) from error
    if array.dtype.kind == "b":
        return array.astype(float)
    return array
