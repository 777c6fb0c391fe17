"""Systems from labels, predictions, scores, texts and resampled training sets; resamples."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics
from sklearn.metrics import roc_auc_score

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.stats.items import METRICS

SCORES = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
}


def _drawn(seed: int = 0, size: int = 120) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    y_true = rng.random(size) < 0.2
    return y_true, {f"m{k}": y_true ^ (rng.random(size) < 0.1 * k) for k in (1, 2, 3)}


# ---------------------------------------------------------------------------------- predictions


def test_the_scores_of_predictions_are_scikit_learn_s():
    y_true, models = _drawn()
    for metric, score in SCORES.items():
        items = rankeval_pd.from_predictions(y_true, models, metric).rankeval(metric=metric)
        table = items.system_ranks().set_index("system")["value"]
        for name, labels in models.items():
            assert table[name] == pytest.approx(score(y_true, labels), abs=1e-10)
        tested = items.paired_permutation("m1", "m2")
        assert "m1" in rankeval_pd.paper_table(tested, "markdown")
        assert "m1" in rankeval_pd.in_words(tested)


CLASS_MEANS = {
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "macro_f1": partial(metrics.f1_score, average="macro"),
    "accuracy": metrics.accuracy_score,
}


@pytest.mark.parametrize("metric", CLASS_MEANS)
def test_means_over_classes_are_scikit_learn_s(metric):
    rng = np.random.default_rng(3)
    y_true = rng.choice(["a", "b", "c", "d"], 300, p=[0.5, 0.3, 0.15, 0.05])
    models = {f"m{k}": np.where(rng.random(300) < 0.2 * k, "a", y_true) for k in (1, 2, 3)}
    items = rankeval_pd.from_predictions(y_true, models, metric).rankeval(metric=metric)
    ranked = items.system_ranks()
    table = ranked.set_index("system")
    for name, labels in models.items():
        assert table["value"][name] == pytest.approx(CLASS_MEANS[metric](y_true, labels), abs=1e-10)
    row = items.paired_bootstrap("m1", "m2", ci="percentile", n_resamples=2000).iloc[0]
    drawn = rng.integers(0, 300, (2000, 300))
    score = CLASS_MEANS[metric]
    gains = [score(y_true[x], models["m1"][x]) - score(y_true[x], models["m2"][x]) for x in drawn]
    low, high = np.quantile(gains, [0.025, 0.975])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=0.015)
    written = metric.replace("_", " ").replace("f1", "F1")
    assert (
        written in rankeval_pd.in_words(ranked) + rankeval_pd.paper_table(ranked).attrs["caption"]
    )


@given(st.data())
def test_classes_that_only_one_model_predicts(data):
    labels, size = st.sampled_from("abc"), data.draw(st.integers(1, 12))
    draw = st.lists(labels, min_size=size, max_size=size)
    y_true, *predicted = data.draw(draw), data.draw(draw), data.draw(draw)
    for metric, score in CLASS_MEANS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = {"one": predicted[0], "other": predicted[1]}
            items = rankeval_pd.from_predictions(y_true, models, metric)
            expected = [score(y_true, x) for x in predicted]
            for name, value in zip(models, expected, strict=True):
                sums = items[[name]].sum().to_numpy(dtype=float)
                found = METRICS[metric].score(sums) if metric != "accuracy" else sums / size
                assert found == pytest.approx(value, abs=1e-10)


def test_specificity_is_the_recall_of_the_other_class():
    y_true, models = _drawn()
    items = rankeval_pd.from_predictions(y_true, models, "specificity")
    table = items.rankeval(metric="specificity").system_ranks().set_index("system")["value"]
    for name, labels in models.items():
        expected = metrics.recall_score(y_true, labels, pos_label=0)
        assert table[name] == pytest.approx(expected, abs=1e-10)
    turned = rankeval_pd.from_predictions(y_true, models, "recall", positive=0)
    a = items.rankeval(metric="specificity").paired_bootstrap("m1", "m2")
    b = turned.rankeval(metric="recall").paired_bootstrap("m1", "m2")
    assert a[["gain", "p_value"]].to_numpy().tolist() == b[["gain", "p_value"]].to_numpy().tolist()


def test_the_correct_of_one_class_is_no_accuracy():
    y_true, models = [1, 1, 0, 0] * 10, {"a": [1, 1, 0, 0] * 10, "b": [1, 0, 0, 1] * 10}
    for metric in ("f1", "precision", "recall", "specificity"):
        items = rankeval_pd.from_predictions(y_true, models, metric)
        assert items.rankeval(metric=metric).system_ranks()["value"].max() == 1.0
        for ask in (rankeval_pd.system_ranks, rankeval_pd.paired_permutation):
            with pytest.raises(ValueError, match=r'Call from_predictions\(\.\.\., "accuracy"\)'):
                ask(items, metric="accuracy")
    items = rankeval_pd.from_predictions(y_true, models, "f1")
    for metric in ("precision", "recall"):  # of the same columns
        assert items.rankeval(metric=metric).system_ranks()["value"].max() == 1.0
    for name in models:  # whoever adds totals means all items
        items[name, "total"] = 2
    assert items.rankeval(metric="accuracy").system_ranks()["value"].max() == 0.25


@pytest.mark.parametrize("metric", ["balanced_accuracy", "macro_f1"])
def test_advice_for_an_interval_can_be_followed(metric):
    y_true = [1, 1, 0, 0] * 10
    items = rankeval_pd.from_predictions(y_true, {"a": y_true, "b": y_true}, metric)
    with pytest.warns(RankevalWarning, match=r"as from_predictions\(\.\.\., 'accuracy'\) does"):
        row = items.rankeval(metric=metric).paired_bootstrap(n_resamples=99).iloc[0]
    assert np.isnan(row["ci_low"])
    right = rankeval_pd.from_predictions(y_true, {"a": y_true, "b": y_true}, "accuracy")
    row = right.rankeval(metric="accuracy").paired_bootstrap(n_resamples=99).iloc[0]
    assert row["ci_low"] < 0.0 < row["ci_high"]


def test_labels_that_never_occur_are_warned_of():
    with pytest.warns(RankevalWarning, match="'B' never occur in y_true"):
        items = rankeval_pd.from_predictions(["a", "b"], {"m": ["a", "B"]}, "accuracy")
    assert items["m"].tolist() == [True, False]
    with pytest.raises(ValueError, match="metric='macro_f1' has no positive class"):
        rankeval_pd.from_predictions(["a", "b"], {"m": ["a", "b"]}, "macro_f1", positive="a")


@given(st.data())
def test_any_labels_give_scikit_learn_s_f1_of_the_positive_class(data):
    labels = data.draw(st.sampled_from([(0, 1), ("no", "yes"), ("a", "b", "c"), (False, True)]))
    size = data.draw(st.integers(1, 30))
    draw = st.lists(st.sampled_from(labels), min_size=size, max_size=size)
    y_true, y_pred, positive = data.draw(draw), data.draw(draw), data.draw(st.sampled_from(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)  # of labels that never occur
        if positive not in [*y_true, *y_pred]:
            with pytest.raises(ValueError, match="is not one of the labels"):
                rankeval_pd.from_predictions(y_true, y_pred, "f1", positive=positive)
            return
        table = rankeval_pd.from_predictions(y_true, y_pred, "f1", positive=positive)
    sums = table["model"].sum()
    found = 2.0 * sums["correct"] / (sums["guess"] + sums["gold"])
    truth, guess = (np.array([x == positive for x in y]) for y in (y_true, y_pred))
    assert found == pytest.approx(metrics.f1_score(truth, guess), abs=1e-10)


def test_the_index_is_kept_and_never_mixed_up():
    y_true = pd.Series([1, 0, 1], index=["x", "y", "z"])
    models = pd.DataFrame({"a": [1, 0, 0]})  # the rows' numbers are no labels
    assert rankeval_pd.from_predictions(y_true, models, "accuracy").index.tolist() == [*"xyz"]
    turned = y_true.iloc[::-1]
    for make in (
        lambda: rankeval_pd.from_predictions(y_true, {"a": turned}, "f1"),
        lambda: rankeval_pd.from_scores(y_true, {"a": turned}),
    ):
        with pytest.raises(ValueError, match="the index differs"):
            make()


# --------------------------------------------------------------------------------------- scores


def test_areas_of_scores_are_scikit_learn_s():
    y_true, _ = _drawn()
    score = 1.0 / (1.0 + np.exp(-np.random.default_rng(1).normal(y_true)))
    for scores in (
        {"score": score.tolist()}, pd.DataFrame({"score": score}), score.tolist(),
        pd.Series(score, name="score"), score[:, np.newaxis],
    ):  # fmt: skip
        data = rankeval_pd.from_scores(y_true.astype(int), scores)
        assert list(data) == ["score", "gold"]
        for kind, wanted in (("roc", roc_auc_score), ("ap", metrics.average_precision_score)):
            found = data.rankeval.area(kind)["area"][0]
            assert found == pytest.approx(wanted(y_true, score), abs=1e-10)


@pytest.mark.filterwarnings("ignore:the area is significantly below 0.5")
def test_the_positive_class_is_named_and_never_guessed():
    rng = np.random.default_rng(3)
    grade, score = rng.integers(0, 10, 200), rng.random(200)
    guess = np.where(rng.random(200) < 0.7, grade, rng.integers(0, 10, 200))
    for labels, guesses in (
        (grade, guess), (grade % 2 + 1, guess % 2 + 1), (grade % 2 * 2 - 1, grade % 2 * 2 - 1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"positive is missing.* labels are .*positive="):
            rankeval_pd.from_scores(labels, score)
        with pytest.raises(ValueError, match=r"positive is missing.* labels are .*positive="):
            rankeval_pd.from_predictions(labels, guesses, "f1")
        assert len(rankeval_pd.from_predictions(labels, guesses, "accuracy")) == 200
    for positive in (1, [1, 2], {1, 2}, np.array([1, 2])):
        among = [*positive] if np.iterable(positive) else [positive]
        truth, found = np.isin(grade, among), np.isin(guess, among)
        area = rankeval_pd.from_scores(grade, score, positive=positive).rankeval.area()["area"]
        assert area[0] == pytest.approx(roc_auc_score(truth, score), abs=1e-10)
        sums = rankeval_pd.from_predictions(grade, guess, "f1", positive=positive)["model"].sum()
        f1 = 2.0 * sums["correct"] / (sums["guess"] + sums["gold"])
        assert f1 == pytest.approx(metrics.f1_score(truth, found), abs=1e-10)


def test_what_is_no_prediction_is_refused():
    for arguments, options, error, text in [
        (([1, 0], {"a": [1]}, "f1"), {}, ValueError, "has 1 values, but y_true has 2"),
        (([1, 0], {"a": [0.3, 0.9]}, "f1"), {}, ValueError, "or pass scores to from_scores"),
        (([1, 0], {"a": ["1", "0"]}, "accuracy"), {}, ValueError, "the same labels"),
        (([1, None], {"a": [1, 0]}, "f1"), {}, ValueError, "no label for 1 of 2"),
        (([1, 0], {"a": [1, 0]}, "mcc"), {}, ValueError, "metric='mcc' is not one of"),
        (([1, 0], {}, "f1"), {}, ValueError, "contains no models"),
        (([1, 0], {"a": "10"}, "f1"), {}, TypeError, "='10': pass a list with"),
        ((sparse.csr_array([[1, 0]]), {"a": [1, 0]}, "f1"), {}, TypeError, "y_true=<csr_array"),
        ((["n", "y"], {"a": ["n", "y"]}, "f1"), {}, ValueError, "missing.*'n', 'y'.*positive="),
        (([1, 0], {"gold": [1, 0]}), {}, ValueError, "named 'gold', which is reserved"),
        (([1, 0], {"a": ["x", "y"]}), {}, TypeError, "not numbers.*from_predictions"),
        (([1, 0], np.ones((2, 2))), {}, ValueError, r"shape \(2, 2\): pass one .*proba\[:, 1\]"),
        (([0, 0], [0.2, 0.1]), {}, ValueError, "no item is positive: .* labels are 0. Check"),
        (([0, 0], {"a": [0, 0]}, "f1"), {}, ValueError, "no item is positive: .* are 0. Check"),
        (([1, 2], [0.2, 0.1]), {"positive": [1, 7]}, ValueError, "positive=7 is not one of"),
        (([1, 2], [0.2, 0.1]), {"positive": []}, ValueError, r"positive=\[\] is not one of"),
    ]:  # fmt: skip
        make = rankeval_pd.from_predictions if len(arguments) == 3 else rankeval_pd.from_scores
        with pytest.raises(error, match=text):
            make(*arguments, **options)


def test_names_of_scikit_learn_lead_to_the_call():
    for name, meant in [
        ("roc_auc_score", r"\.area\(\).*from_scores"),
        ("average_precision_score", r'\.area\("ap"\)'),
        ("roc_curve", r"\.roc\(\)"), ("precision_recall_curve", r"\.precision_recall\(\)"),
        ("confusion_matrix", r"\.acceptance_precision\("), ("det_curve", r"\.det\(\)"),
        ("f1_score", r"from_predictions\(y_true, predictions, 'f1'\)"),
        ("accuracy_score", "'accuracy'"), ("precision_score", "'precision'"),
        ("recall_score", "'recall'"), ("ndcg_score", "nDCG@10"),
        ("brier_score_loss", "Use scikit-learn"), ("matthews_corrcoef", "Use scikit-learn")
    ]:  # fmt: skip
        with pytest.raises(AttributeError, match=meant):
            getattr(rankeval_pd, name)
        data = rankeval_pd.from_scores([1, 0, 1], [3, 2, 1])
        with pytest.raises(AttributeError, match=meant.split(".*")[0]):
            getattr(data.rankeval, name)
        assert not hasattr(rankeval_pd, name)


# ------------------------------------------------------------- systems from resampled training sets


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


def test_a_system_for_each_training_set_named_by_its_size(data):
    model = Mean()
    found = rankeval_pd.synthetic_systems(
        {"mean": model, "other": Mean()}, *data, sizes=[10, 10, 50]
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


def test_the_seed_chooses_the_training_sets(data):
    def ask(rng, models):
        return rankeval_pd.synthetic_systems(models, *data, sizes=[20] * 3, rng=rng)

    named = {"Mean": Mean()}
    pd.testing.assert_frame_equal(ask(1, named), ask(1, named))
    assert not ask(1, named).equals(ask(2, named))


def test_estimators_of_scikit_learn_get_seeds_and_frames(data):
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    X, y, X_test, y_test = data
    test_frame = pd.DataFrame(X_test, index=[f"t{k}" for k in range(100)])
    frames = (pd.DataFrame(X), pd.Series(y), test_frame)
    ask = {"sizes": [40, 40]}
    models = {"tree": tree(max_features=1, splitter="random")}
    first, again = (rankeval_pd.synthetic_systems(models, *frames, y_test, **ask) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert first.index[3] == "t3"
    plain = rankeval_pd.synthetic_systems(models, *data, **ask)
    np.testing.assert_array_equal(first, plain)


def test_wrong_estimators_and_sizes_are_refused(data):
    for change, error, message in [
        ({"estimators": Mean()}, TypeError, "pass a mapping"),
        ({"estimators": []}, TypeError, "pass a mapping"),
        ({"estimators": {"m": Mean}}, TypeError, r"estimators\['m'\] is .* Pass an instance"),
        ({"estimators": {"m": "mean"}}, TypeError, r"is 'mean'. Pass an instance with fit"),
        ({"sizes": [10, 0]}, ValueError, "sizes=0: pass"),
        ({"y_test": [1]}, ValueError, "X_test has 100 rows and y_test has 1"),
    ]:
        X, y, X_test, y_test = data
        arguments = {"X": X, "y": y, "X_test": X_test, "y_test": y_test}
        arguments |= {"estimators": {"m": Mean()}, "sizes": 10, **change}
        with pytest.raises(error, match=message):
            rankeval_pd.synthetic_systems(**arguments)


# ------------------------------------------------------------------------------------------- texts

WORDS = ["the", "cat", "(sat)", "down,", "Dog", "ran", "x", "...", "über", "can't", "a.b"]
SCORERS = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
ROLES = {
    "bleu": {"metric": "bleu"},
    "chrf": {"metric": "chrf"},
    "ter": {"metric": "ratio", "higher_is_better": False},
}


@pytest.fixture(scope="module")
def sacrebleu():
    return pytest.importorskip("sacrebleu.metrics")


def _texts(seed: int, size: int = 40) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0 if seed else 4, 12))) for _ in range(size)]


def _near(texts: list[str], seed: int) -> list[str]:
    """Return the texts with some words exchanged."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < 0.2 else word for word in text.split())
        for text in texts
    ]


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("ter", {}), ("ter", {"normalized": True, "case_sensitive": True}), ("bleu", {}),
        ("bleu", {"tokenize": "char", "lowercase": True}), ("bleu", {"tokenize": "none"}),
        ("chrf", {}), ("chrf", {"char_order": 3, "whitespace": True, "lowercase": True}),
        ("chrf", {"word_order": 2}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("several", [False, True])
def test_the_score_is_that_of_sacrebleu(sacrebleu, metric, options, several):
    """sacrebleu's corpus_score, with one or several references."""
    first = _texts(0)
    hypotheses = {"near": _near(first, 1), "far": _texts(2)}
    streams = [first, _near(first, 3), _texts(4)] if several else [first]
    table = rankeval_pd.from_sacrebleu(hypotheses, streams if several else first, metric, **options)
    scorer = getattr(sacrebleu, SCORERS[metric])(**options)
    ours = table.rankeval(**ROLES[metric]).system_ranks(n_resamples=99)
    ours = ours.set_index("system")["value"]
    for system, texts in hypotheses.items():
        wanted = scorer.corpus_score(texts, streams).score
        assert ours[system] == pytest.approx(wanted, rel=1e-12), system


@given(
    st.lists(st.tuples(*[st.text("ab .,(C", max_size=12)] * 3), min_size=1, max_size=6),
    st.sampled_from(["bleu", "chrf", "ter"]),
)
def test_sums_of_any_texts_make_the_score(sacrebleu, rows, metric):
    texts, *streams = (list(column) for column in zip(*rows, strict=True))
    table = rankeval_pd.from_sacrebleu({"a": texts}, streams, metric)["a"]
    scorer = getattr(sacrebleu, SCORERS[metric])()
    sums = table.sum()
    if metric == "ter":
        lengths = sums["denominator"]
        ours = sums["numerator"] / lengths if lengths else 100.0 * (sums["numerator"] > 0)
    else:
        ours = METRICS[metric].score(sums.to_numpy())
    assert ours == pytest.approx(scorer.corpus_score(texts, streams).score, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_the_signature_of_sacrebleu_travels_with_results(sacrebleu, metric):
    hypotheses, references = ["a b c d e", "f g h i"] * 5, [["a b c d f", "f g h j"] * 5] * 2
    scorer = getattr(sacrebleu, metric.upper())()
    scorer.corpus_score(hypotheses, references)
    items = rankeval_pd.from_sacrebleu({"x": hypotheses, "y": hypotheses[::-1]}, references, metric)
    table = items.rankeval(metric=metric).paired_permutation(n_resamples=99)
    signature = str(scorer.get_signature())
    assert items.attrs["signature"] == table.attrs["signature"] == signature
    assert signature in rankeval_pd.in_words(table, methods=True)
    assert signature in rankeval_pd.paper_table(table).attrs["caption"]


@pytest.mark.usefixtures("sacrebleu")
def test_a_reference_may_be_missing_in_a_stream():
    texts = ["a b c d", "the cat sat down"]
    streams = [["a b c d", "the cat sat"], [None, "the cat sat down"]]
    sums = rankeval_pd.from_sacrebleu({"a": texts}, streams)["a"].sum()
    assert METRICS["bleu"].score(sums.to_numpy()) == pytest.approx(100.0)


@pytest.mark.usefixtures("sacrebleu")
def test_a_frame_of_texts_is_taken():
    first = _texts(0, 5)
    frame = pd.DataFrame({"a": first, "b": _near(first, 1)})
    table = rankeval_pd.from_sacrebleu(frame, pd.Series(first), "chrf")
    assert list(table.columns.levels[0]) == ["a", "b"]
    alone = rankeval_pd.from_sacrebleu({"a": first}, first, "chrf")
    pd.testing.assert_frame_equal(table["a"], alone["a"])


@pytest.mark.usefixtures("sacrebleu")
def test_texts_that_cannot_be_meant_are_refused():
    for arguments, options, error, said in [
        ((["a"], ["a"]), {}, TypeError, r"hypotheses=\['a'\]: pass a mapping"),
        (({}, ["a"]), {}, TypeError, "hypotheses={}: pass"),
        (({"s": "a"}, ["a"]), {}, TypeError, "pass a list with segments"),
        (({"s": ["a"]}, "a"), {}, TypeError, "references='a': pass a list with a reference"),
        (({"s": ["a"]}, []), {}, TypeError, r"references=\[\]: pass"),
        (({"s": ["a", ""]}, ["a"]), {}, ValueError, "an empty line at the end"),
        (({"s": ["a"]}, [["a"], ["b", "c"]]), {}, ValueError, r"references\[1\] has 2"),
        (({"s": [None]}, ["a"]), {}, TypeError, "an empty output is ''"),
        (({"s": ["a"]}, [[None]]), {}, ValueError, "segment 0 .* has no reference"),
        (({"s": ["a"]}, ["a"], "BLEU"), {}, ValueError, "not one of"),
        (({"s": ["a"]}, ["a"]), {"smooth_method": "floor"}, ValueError, "changes the formula"),
        (({"s": ["a"]}, ["a"], "chrf"), {"beta": 1}, ValueError, "beta=2"),
    ]:
        with pytest.raises(error, match=said):
            rankeval_pd.from_sacrebleu(*arguments, **options)


def test_the_number_of_items_to_resample_is_checked():
    for size in (0, 2.5, True, "many"):
        with pytest.raises((ValueError, TypeError), match="n_items="):
            rankeval_pd.resample_counts(size)
