"""What is asked for the table of every method, with defaults, and what peers are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd import datasets

Ask = Callable[[Any], object]
METRICS = ["nDCG@10", "AP", "P@10"]
FEW_N = [10, 100, 1_000]


def data_of(of: str, size: int) -> pd.DataFrame:
    """Return so many candidates of three measures, items of three systems, or queries of 100."""
    rng = np.random.default_rng(0)
    if of == "items":
        ability = rng.random(size)
        return pd.DataFrame({s: ability + q + 0.1 * rng.random(size) for s, q in _QUALITY.items()})
    candidates = size if of == "candidates" else 100 * size
    data = datasets.simulate_candidates(
        candidates, quality={"good": 1.5, "fair": 1.0, "poor": 0.5}
    ).reset_index(drop=True)
    judged = np.random.default_rng(1).random(candidates) < 0.2  # not the draws of the scores
    data["judged"] = data["gold"].astype(float).where(judged)
    if of == "queries":
        data["query"] = np.arange(candidates) // 100
    return data


_QUALITY = {"a": 0.02, "b": 0.01, "c": 0.0}


def _of(data: Any) -> Any:
    return data[["good", "fair", "poor", "gold"]].rankeval


def _judged(data: Any) -> Any:
    return data[["good", "fair", "poor", "judged"]].rankeval(gold="judged")


def _queries(data: Any) -> Any:
    return data[["good", "fair", "poor", "gold", "query"]].rankeval(by="query")


def _many(data: Any) -> Any:
    return data.rankeval(metric="mean")


_CANDIDATES: dict[str, Ask] = {
    "nbest_precision": lambda d: _of(d).nbest_precision(),
    "nbest_precision, 3 n": lambda d: _of(d).nbest_precision(FEW_N),
    "nbest_recall": lambda d: _of(d).nbest_recall(),
    "acceptance_precision": lambda d: _of(d).acceptance_precision({"good": 1.0, "fair": 1.0}),
    "choose_threshold": lambda d: _of(d).choose_threshold(recall=0.5),
    "local_precision": lambda d: _of(d).local_precision(),
    "precision_band": lambda d: _of(d).precision_band(),
    "recall_band": lambda d: _of(d).recall_band(),
    "difference_band": lambda d: _of(d).difference_band(),
    "compare": lambda d: _of(d).compare(),
    "compare, 3 n": lambda d: _of(d).compare(n=FEW_N),
    "significant_ranges": lambda d: _of(d).significant_ranges(),
    "mean_difference": lambda d: _of(d).mean_difference("good", "fair", None),
    "odds_ratios": lambda d: _of(d).odds_ratios("good", "fair", None),
    "tie_sensitivity": lambda d: _of(d).tie_sensitivity("good", "fair", None),
    "difference_region": lambda d: _of(d).difference_region("good", "fair", 1_000),
    "measure_ranks": lambda d: _of(d).measure_ranks(n=100),
    "summary": lambda d: _of(d).summary(100),
    "summary of the whole ranking": lambda d: _of(d).summary(),
    "random_test": lambda d: _of(d).random_test(),
    "random_test, 3 n": lambda d: _of(d).random_test(FEW_N),
    "random_test(adjust='envelope')": lambda d: _of(d).random_test(adjust="envelope"),
    "random_bound": lambda d: _of(d).random_bound(),
    "random_envelope": lambda d: _of(d).random_envelope(),
    "random_cdf": lambda d: _of(d).random_cdf(100),
    "crossovers": lambda d: _of(d).crossovers(),
    "area": lambda d: _of(d).area(),
    "area('ap')": lambda d: _of(d).area("ap"),
    "compare_area": lambda d: _of(d).compare_area(),
    "partial_area": lambda d: _of(d).partial_area(fpr=0.2),
    "bedroc": lambda d: _of(d).bedroc(),
    "enrichment": lambda d: _of(d).enrichment(0.01),
    "roc": lambda d: _of(d).roc(),
    "precision_recall": lambda d: _of(d).precision_recall(),
    "det": lambda d: _of(d).det(),
    "lift": lambda d: _of(d).lift(),
    "gain": lambda d: _of(d).gain(),
    "random_band": lambda d: _of(d).random_band(),
    "judged_precision": lambda d: _judged(d).judged_precision(None),
    "judged_recall": lambda d: _judged(d).judged_recall(None),
    "judged_difference": lambda d: _judged(d).judged_difference("good", "fair", None),
    "judged_average_precision": lambda d: _judged(d).judged_average_precision(),
    "plot.precision": lambda d: _of(d).plot.precision(),
    "plot.comparison": lambda d: _of(d).plot.comparison(),
    "plot.recall_band": lambda d: _of(d).plot.recall_band(),
    "plot.random_bound": lambda d: _of(d).plot.random_bound(),
    "plot.roc": lambda d: _of(d).plot.roc(),
    "plot.precision_recall": lambda d: _of(d).plot.precision_recall(),
    "plot.det": lambda d: _of(d).plot.det(),
    "plot.gain": lambda d: _of(d).plot.gain(),
    "plot.lift": lambda d: _of(d).plot.lift(),
    "plot.area": lambda d: _of(d).plot.area(),
    "plot.measure_ranks": lambda d: _of(d).plot.measure_ranks(100),
    "plot.odds_ratios": lambda d: _of(d).plot.odds_ratios("good", "fair", None),
    "plot.tie_sensitivity": lambda d: _of(d).plot.tie_sensitivity("good", "fair", None),
    "plot.mean_difference": lambda d: _of(d).plot.mean_difference("good", "fair", None),
}
_ITEMS: dict[str, Ask] = {
    "paired_bootstrap": lambda d: _many(d).paired_bootstrap(),
    "paired_bootstrap(event='studentised')": lambda d: _many(d[["a", "b"]]).paired_bootstrap(
        event="studentised"
    ),
    "paired_permutation": lambda d: _many(d).paired_permutation(),
    "system_ranks": lambda d: _many(d).system_ranks(),
    "summary": lambda d: _many(d).summary(),
    "plot.system_ranks": lambda d: _many(d).plot.system_ranks(),
    "plot.pairs": lambda d: _many(d).plot.pairs(),
    "plot.paired_differences": lambda d: _many(d).plot.paired_differences("a", "b"),
}
_QUERIES: dict[str, Ask] = {
    "per_query": lambda d: _queries(d).per_query(METRICS),
    "summary of metrics": lambda d: _queries(d).summary(METRICS),
    "nbest_precision": lambda d: _queries(d).nbest_precision([5, 10]),
    "nbest_precision(average='macro')": lambda d: _queries(d).nbest_precision(
        [5, 10], average="macro"
    ),
    "compare": lambda d: _queries(d).compare(n=[5, 10]),
    "compare(average='macro')": lambda d: _queries(d).compare(n=[5, 10], average="macro"),
    "area": lambda d: _queries(d).area(),
    "area('ap')": lambda d: _queries(d).area("ap"),
    "random_test": lambda d: _queries(d).random_test([5, 10]),
    "random_test(combine=True)": lambda d: _queries(d).random_test([5, 10], combine=True),
}
CELLS: Mapping[str, Mapping[str, Ask]] = {
    "candidates": _CANDIDATES, "items": _ITEMS, "queries": _QUERIES
}  # fmt: skip

# ----------------------------------------------------- what peers need for a part of the same work


def _sklearn(name: str, **options: Any) -> Ask:
    def ask(data: Any) -> None:
        from sklearn import metrics

        for measure in ("good", "fair", "poor"):
            getattr(metrics, name)(data["gold"], data[measure], **options)

    return ask


def _polars(data: Any) -> None:
    import polars as pl

    frame = pl.from_pandas(data[["good", "fair", "poor", "gold"]])
    for measure in ("good", "fair", "poor"):
        frame.top_k(max(FEW_N), by=measure)["gold"].cum_sum()


def _partition(data: Any) -> None:
    gold = data["gold"].to_numpy()
    for measure in ("good", "fair", "poor"):
        score = -data[measure].to_numpy()
        best = np.argpartition(score, min(FEW_N[-1], score.size - 1))[: FEW_N[-1]]
        gold[best[np.argsort(score[best])]].cumsum()


def _scipy_bootstrap(data: Any) -> None:
    from scipy import stats

    gain = (data["a"] - data["b"]).to_numpy()
    stats.bootstrap((gain,), np.mean, n_resamples=1_000, method="percentile", batch=100)


def _scipy_permutation(data: Any) -> None:
    from scipy import stats

    def mean(x: Any, axis: int) -> Any:
        return np.mean(x, axis=axis)

    gain = (data["a"] - data["b"]).to_numpy()
    stats.permutation_test((gain,), mean, permutation_type="samples", n_resamples=1_000, batch=100)


PEERS: Mapping[str, Mapping[str, Ask]] = {
    "candidates": {
        "scikit-learn: roc_curve": _sklearn("roc_curve", drop_intermediate=False),
        "scikit-learn: precision_recall_curve": _sklearn("precision_recall_curve"),
        "scikit-learn: det_curve": _sklearn("det_curve"),
        "scikit-learn: roc_auc_score": _sklearn("roc_auc_score"),
        "scikit-learn: average_precision_score": _sklearn("average_precision_score"),
        "polars: top_k, 3 n": _polars,
        "NumPy: argpartition, 3 n": _partition,
    },
    "items": {
        "SciPy: bootstrap, one pair, 1,000 resamples": _scipy_bootstrap,
        "SciPy: permutation_test, one pair, 1,000 resamples": _scipy_permutation,
    },
    "queries": {},
}  # fmt: skip
#: the method of which a peer does at least a part
BESIDE = {
    "scikit-learn: roc_curve": "roc",
    "scikit-learn: precision_recall_curve": "precision_recall",
    "scikit-learn: det_curve": "det",
    "scikit-learn: roc_auc_score": "area",
    "scikit-learn: average_precision_score": "area('ap')",
    "polars: top_k, 3 n": "nbest_precision, 3 n",
    "NumPy: argpartition, 3 n": "nbest_precision, 3 n",
    "SciPy: bootstrap, one pair, 1,000 resamples": "paired_bootstrap",
    "SciPy: permutation_test, one pair, 1,000 resamples": "paired_permutation",
}
