"""What is asked for the table of every method, with defaults, and what peers are asked."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd import datasets

QUALITY = {"a": 0.02, "b": 0.01, "c": 0.0}
ROLES = {"items": {"metric": "mean"}, "queries": {"by": "query"}}


def data_of(of, size):
    """Return so many candidates of three measures, items of three systems, or queries of 100."""
    rng = np.random.default_rng(0)
    if of == "items":
        ability = rng.random(size)
        return pd.DataFrame({s: ability + q + 0.1 * rng.random(size) for s, q in QUALITY.items()})
    candidates = size if of == "candidates" else 100 * size
    data = datasets.simulate_candidates(
        candidates, quality={"good": 1.5, "fair": 1.0, "poor": 0.5}
    ).reset_index(drop=True)
    judged = np.random.default_rng(1).random(candidates) < 0.2  # not the draws of the scores
    data["judged"] = data["gold"].astype(float).where(judged)
    if of == "queries":
        data["query"] = np.arange(candidates) // 100
    return data


def _asking(of, columns, call):
    """Return what makes a call of ``calls.csv`` on these columns."""
    roles = {"gold": "judged"} if "judged" in columns.split() else ROLES.get(of, {})

    def ask(data):
        asked = data[columns.split()].rankeval(**roles)
        return eval(f"asked.{call}", {"asked": asked})

    return ask


CELLS = {"candidates": {}, "items": {}, "queries": {}}
for _of, _name, _columns, _call in pd.read_csv(Path(__file__).with_name("calls.csv")).to_numpy():
    CELLS[_of][_name] = _asking(_of, _columns, _call)


def _sklearn(name, **options):
    def ask(data):
        from sklearn import metrics

        for measure in ("good", "fair", "poor"):
            getattr(metrics, name)(data["gold"], data[measure], **options)

    return ask


def _polars(data):
    import polars as pl

    frame = pl.from_pandas(data[["good", "fair", "poor", "gold"]])
    for measure in ("good", "fair", "poor"):
        frame.top_k(1_000, by=measure)["gold"].cum_sum()


def _partition(data):
    gold = data["gold"].to_numpy()
    for measure in ("good", "fair", "poor"):
        score = -data[measure].to_numpy()
        best = np.argpartition(score, min(1_000, score.size - 1))[:1_000]
        gold[best[np.argsort(score[best])]].cumsum()


def _resampled(name, statistic, **options):
    def ask(data):
        gain = (data["a"] - data["b"]).to_numpy()
        getattr(stats, name)((gain,), statistic, n_resamples=1_000, batch=100, **options)

    return ask


_SKLEARN = {
    "precision_recall_curve": "precision_recall", "det_curve": "det", "roc_auc_score": "area",
    "average_precision_score": "area('ap')",
}  # fmt: skip
#: of each peer: the method of which it does at least a part, and its call
_PEERS = {
    "candidates": {
        "scikit-learn: roc_curve": ("roc", _sklearn("roc_curve", drop_intermediate=False)),
        **{f"scikit-learn: {name}": (method, _sklearn(name)) for name, method in _SKLEARN.items()},
        "polars: top_k, 3 n": ("nbest_precision, 3 n", _polars),
        "NumPy: argpartition, 3 n": ("nbest_precision, 3 n", _partition),
    },
    "items": {
        "SciPy: bootstrap, one pair, 1,000 resamples": (
            "paired_bootstrap", _resampled("bootstrap", np.mean, method="percentile"),
        ),
        "SciPy: permutation_test, one pair, 1,000 resamples": (
            "paired_permutation",
            _resampled(
                "permutation_test", lambda x, axis: np.mean(x, axis=axis),
                permutation_type="samples",
            ),
        ),
    },
    "queries": {},
}  # fmt: skip
PEERS = {of: {name: ask for name, (_, ask) in known.items()} for of, known in _PEERS.items()}
BESIDE = {name: method for known in _PEERS.values() for name, (method, _) in known.items()}
