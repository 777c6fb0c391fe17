"""Statistics of texts: their sums make sacrebleu's scores of the corpus."""

from __future__ import annotations

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd.stats.items import METRICS

metrics = pytest.importorskip("sacrebleu.metrics")

WORDS = ["the", "cat", "(sat)", "down,", "Dog", "ran", "x", "...", "über", "can't", "a.b"]
SCORERS = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
ROLES = {
    "bleu": {"metric": "bleu"},
    "chrf": {"metric": "chrf"},
    "ter": {"metric": "ratio", "higher_is_better": False},
}
SETTINGS = [
    ("ter", {}),
    ("ter", {"normalized": True, "case_sensitive": True}),
    ("bleu", {}),
    ("bleu", {"tokenize": "char", "lowercase": True}),
    ("bleu", {"tokenize": "none"}),
    ("chrf", {}),
    ("chrf", {"char_order": 3, "whitespace": True, "lowercase": True}),
    ("chrf", {"word_order": 2}),
]


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


@pytest.mark.parametrize(("metric", "options"), SETTINGS)
@pytest.mark.parametrize("several", [False, True])
def test_the_score_is_that_of_sacrebleu(metric, options, several):
    """sacrebleu's corpus_score, with one or several references."""
    first = _texts(0)
    hypotheses = {"near": _near(first, 1), "far": _texts(2)}
    streams = [first, _near(first, 3), _texts(4)] if several else [first]
    table = rankeval_pd.from_sacrebleu(hypotheses, streams if several else first, metric, **options)
    scorer = getattr(metrics, SCORERS[metric])(**options)
    ours = table.rankeval(**ROLES[metric]).system_ranks(n_resamples=99)
    ours = ours.set_index("system")["value"]
    for system, texts in hypotheses.items():
        wanted = scorer.corpus_score(texts, streams).score
        assert ours[system] == pytest.approx(wanted, rel=1e-12), system


@hypothesis.given(
    st.lists(st.tuples(*[st.text("ab .,(C", max_size=12)] * 3), min_size=1, max_size=6),
    st.sampled_from(["bleu", "chrf", "ter"]),
)
def test_sums_of_any_texts_make_the_score(rows, metric):
    texts, *streams = (list(column) for column in zip(*rows, strict=True))
    table = rankeval_pd.from_sacrebleu({"a": texts}, streams, metric)["a"]
    scorer = getattr(metrics, SCORERS[metric])()
    sums = table.sum()
    if metric == "ter":
        lengths = sums["denominator"]
        ours = sums["numerator"] / lengths if lengths else 100.0 * (sums["numerator"] > 0)
    else:
        ours = METRICS[metric].score(sums.to_numpy())
    assert ours == pytest.approx(scorer.corpus_score(texts, streams).score, rel=1e-12, abs=1e-12)


def test_a_reference_may_be_missing_in_a_stream():
    texts = ["a b c d", "the cat sat down"]
    streams = [["a b c d", "the cat sat"], [None, "the cat sat down"]]
    sums = rankeval_pd.from_sacrebleu({"a": texts}, streams)["a"].sum()
    assert METRICS["bleu"].score(sums.to_numpy()) == pytest.approx(100.0)


def test_a_frame_of_texts_is_taken():
    first = _texts(0, 5)
    frame = pd.DataFrame({"a": first, "b": _near(first, 1)})
    table = rankeval_pd.from_sacrebleu(frame, pd.Series(first), "chrf")
    assert list(table.columns.levels[0]) == ["a", "b"]
    alone = rankeval_pd.from_sacrebleu({"a": first}, first, "chrf")
    pd.testing.assert_frame_equal(table["a"], alone["a"])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "said"),
    [
        ((["a"], ["a"]), {}, TypeError, "hypotheses is of type list"),
        (({}, ["a"]), {}, ValueError, "no system"),
        (({"s": "a"}, ["a"]), {}, TypeError, "pass a list of segments"),
        (({"s": ["a"]}, "a"), {}, TypeError, "references is of type str"),
        (({"s": ["a"]}, []), {}, ValueError, "references is empty"),
        (({"s": ["a", ""]}, ["a"]), {}, ValueError, "an empty line at the end"),
        (({"s": ["a"]}, [["a"], ["b", "c"]]), {}, ValueError, r"references\[1\] has 2"),
        (({"s": [None]}, ["a"]), {}, TypeError, "an empty output is ''"),
        (({"s": ["a"]}, [[None]]), {}, ValueError, "segment 0 .* has no reference"),
        (({"s": ["a"]}, ["a"], "BLEU"), {}, ValueError, "not one of"),
        (({"s": ["a"]}, ["a"]), {"smooth_method": "floor"}, ValueError, "changes the formula"),
        (({"s": ["a"]}, ["a"], "chrf"), {"beta": 1}, ValueError, "beta=2"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, options, error, said):
    with pytest.raises(error, match=said):
        rankeval_pd.from_sacrebleu(*arguments, **options)
