"""One sort of scores for each measure and call: a Ranking is sorted once."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import rankeval_pd

SIZE = 12_007  # more than any number of lists, draws or groups below
MEASURES = ["G2", "t", "f"]


def _candidates() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    gold = rng.random(SIZE) < 0.3
    scores = {m: np.round(rng.normal(size=SIZE) + gold, 2) for m in MEASURES}
    return pd.DataFrame({**scores, "gold": gold, "group": rng.integers(0, 50, SIZE)})


@pytest.fixture
def sorts(monkeypatch):
    """Count the rows of scores that are sorted: float arrays of as many values as candidates."""
    rows = []

    def counting(name):
        plain = getattr(np, name)

        def counted(values, *args, **kwargs):
            for array in values if name == "lexsort" else [values]:
                array = np.asarray(array)
                if array.dtype.kind == "f" and array.ndim and array.shape[-1] >= SIZE:
                    rows.append(array.size // array.shape[-1])
            return plain(values, *args, **kwargs)

        monkeypatch.setattr(np, name, counted)

    for name in ("argsort", "sort", "lexsort", "partition", "argpartition"):
        counting(name)
    return rows


@pytest.mark.parametrize(
    ("name", "arguments", "each"),
    [
        ("nbest_precision", {"n": 100}, 1),
        ("nbest_precision", {"n": 100, "ties": "expected"}, 1),
        ("nbest_precision", {"n": 100, "groups": "group"}, 1),
        ("nbest_recall", {"n": 100}, 1),
        ("precision_band", {"n": 100, "n_resamples": 99}, 1),
        ("recall_band", {"n": 100, "n_resamples": 99, "ci": "emproc"}, 1),
        ("difference_band", {"n": 100, "n_resamples": 99}, 1),
        ("compare", {"n": 100}, 1),
        ("compare", {"n": 100, "adjust": "max-t"}, 1),
        ("compare", {"threshold": dict.fromkeys(MEASURES, 0.5)}, 0),
        ("mean_difference", {"a": "G2", "b": "t", "n": [100], "n_resamples": 99}, 1),
        ("measure_ranks", {"kind": "roc"}, 1),
        ("crossovers", {"p": 0.05}, 1),
        ("choose_threshold", {"recall": 0.5}, 1),
        ("roc", {}, 1),
        ("area", {"kind": "roc"}, 1),
        ("bedroc", {}, 1),
        ("judged_average_precision", {}, 1),
        ("judged_difference", {"a": "G2", "b": "t", "n": 100}, 1),
    ],
)
def test_scores_are_sorted_once(name, arguments, each, sorts):
    """Of each measure that is asked, whatever the lists, intervals, bands and pairs."""
    method = getattr(_candidates().rankeval, name)
    measures = ["G2", "t"] if "a" in arguments else MEASURES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        method(gold="gold", measures=measures, **arguments)
    assert sum(sorts) == each * len(measures)


@pytest.mark.parametrize("name", ["judged_precision", "judged_recall"])
def test_a_look_at_who_is_judged_sorts_no_more(name, sorts):
    """Who is judged is compared along the ranking, which the estimate then takes over."""
    df = _candidates()
    judged = np.random.default_rng(2).random(SIZE) < 0.5
    df["gold"] = df["gold"].astype(float).where(judged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        getattr(df.rankeval, name)(gold="gold", measures=MEASURES, n=100)
    assert sum(sorts) == len(MEASURES)
