"""One row for each question in each table: a new question adds its rows here, and is then tested.

The walks over the tables, most of them in ``walks.py``, fail where a question has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

# -------------------------------------------------------------------------------------------------
# Arguments, by position and by keyword, of methods that ASKED below has not.

CELLS = {"O11": 30, "O12": 20, "O21": 10, "O22": 940}

OTHER = pd.DataFrame({"a": [1, 2, 3], "b": [0, 2, 2], "c": [3, 0, 1]})

ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "per_query": ((["P@3", "AP"],), {"undefined": "skip", "ties": "shared"}),
    "with_association_measures": ((["G2", "t"],), {"cells": list(CELLS)}),
    "paired_bootstrap": (
        ("a", "b"),
        {"n_resamples": 50, "event": "zero", "method": "monte-carlo", "ci": "basic",
         "families": ["x", "x", "y"], "adjust": "max-t", "adjust_over": "group",
         "alpha": 0.1, "level": 0.9, "progress": False, "rng": 3},
    ),
    "paired_permutation": (
        ("a",),
        {"n_resamples": 50, "method": "monte-carlo", "families": ["x", "x", "y"],
         "adjust": "holm", "adjust_over": "group", "alpha": 0.1, "level": 0.9,
         "progress": False, "rng": 3},
    ),
    "system_ranks": (
        (),
        {"n_resamples": 50, "adjust": "bh",
         "adjust_over": "group", "alpha": 0.3, "level": 0.9, "progress": False, "rng": 3},
    ),
    "gain_by_size": (
        ([10, 30],),
        {"n_resamples": 99, "event": "zero", "method": "monte-carlo",
         "ci": "basic", "families": ["x", "x", "y"], "adjust": "holm",
         "adjust_over": "group", "alpha": 0.1, "level": 0.9, "progress": False, "rng": 3},
    ),
    "population_calibration": (
        (12,),
        {"n_test_sets": 4, "bins": [0.1, 0.9], "n_resamples": 50, "ci": "systems", "level": 0.9,
         "rng": 3},
    ),
    "gain_threshold": (
        (),
        {"window": (0.01, 0.99), "quantile": 0.5, "ci": "systems", "level": 0.9,
         "n_resamples": 50, "rng": 3},
    ),
    "calibration": (
        (OTHER,),
        {"bins": [0.01, 0.99], "ci": "systems", "level": 0.9, "n_resamples": 50, "rng": 3},
    ),
}  # fmt: skip

# -------------------------------------------------------------------------------------------------
# Arguments with which every role can be seen to change the answer.


def noted(table: pd.DataFrame, method: str, **attrs: Any) -> pd.DataFrame:
    """Return a table made by hand, with the attrs of a method's result."""
    table.attrs = {"method": method, "quantity": "precision", **attrs}
    return table


def tied_candidates(seed: int = 4, size: int = 48) -> pd.DataFrame:
    """Return candidates with ties, two labels, a key, and three groups of one size."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.integers(0, 7, size).astype(float),
            "b": rng.integers(0, 4, size).astype(float),
            "c": rng.normal(size=size),
            "gold": rng.random(size) < 0.5,
            "other": rng.random(size) < 0.4,
            "query": np.repeat(["x", "y", "z"], size // 3),
            "half": np.arange(size) % 2,
            "ident": rng.permutation(size),
        },
        index=[f"w{i}" for i in range(size)],
    )


FRAME = tied_candidates()
PARTLY = FRAME["gold"].astype(float).where(np.arange(len(FRAME)) % 5 > 1)
FRAME["partly"] = PARTLY.astype(object)  # not a measure

ASKED = {
    "nbest_precision": ((), {}),
    "nbest_recall": (([5, 10],), {}),
    "acceptance_precision": (({"a": 3, "b": 2, "c": 0.5},), {}),
    "precision_band": (([8, 12],), {"n_resamples": 20}),
    "compare": ((), {"n": [5, 10]}),
    "compare_thresholds": ((), {"thresholds": {"a": 3, "b": 2, "c": 0.5}}),
    "annotator_agreement": ((), {"gold": ["gold", "other"]}),
    "judged_precision": (([5, 10],), {}),
    "judged_recall": (([5, 10],), {}),
    "judged_difference": (("a", "b", [5, 10]), {}),
    "plan_annotation": (("a", "b", 10), {"gold": "partly", "alpha": 0.6}),
    "annotation_sheet": (("a", "b", 10), {"gold": "partly"}),
    "with_judgements": ((FRAME[["gold"]][:3],), {}),
    "choose_threshold": ((), {"recall": 0.5}),
    "measure_ranks": (([5, 10],), {"n_resamples": 99}),
    "significant_ranges": ((), {"n": range(1, 16), "alpha": 0.99}),
    "difference_band": ((), {"n": [8, 12], "n_resamples": 20}),
    "tie_sensitivity": (("a", "b", [5, 10, 20]), {"n_keys": 8}),
    "difference_region": (("a", "b", 10), {}),
    "repetition": ((None, 12), {"by": "half"}),
    "repetition_samples": ((None, 12), {"by": "half"}),
    "random_bound": ((), {"n": [3, 9]}),
    "random_cdf": (([3, 9],), {}),
    "random_test": ((), {}),
    "crossovers": ((0.6,), {}),
    "roc": ((), {}),
    "precision_recall": ((), {}),
    "det": ((), {}),
    "gain": ((), {}),
    "lift": ((), {}),
    "random_band": ((), {"n": [3, 9]}),
    "isolines": ((), {"n": [3, 9]}),
    "area": ((), {}),
    "compare_area": ((), {}),
    "unpaired_area": ((), {"by": "half"}),
    "partial_area": ((), {"fpr": 0.4}),
    "bedroc": ((), {}),
    "enrichment": (([0.1, 0.5],), {}),
}

# -------------------------------------------------------------------------------------------------
# Questions of lists, as a head and a Dask DataFrame are asked: the numbers are those of pandas.

N = [1, 7, 20, 64, 150]
LONG = 150

# what lists decide: how it is asked, of a frame and of a Dask DataFrame
QUESTIONS = {
    "nbest_precision": lambda r: r.nbest_precision(N),
    "nbest_precision of lists": lambda r: r.nbest_precision(N, target="nbest", ci="wilson"),
    "nbest_precision of blocks": lambda r: r.nbest_precision(N, ties="expected"),
    "nbest_precision at best": lambda r: r.nbest_precision(N, ties="best"),
    "nbest_precision at worst": lambda r: r.nbest_precision(N, ties="worst"),
    "nbest_precision of shares": lambda r: r.nbest_precision([0.001, 0.02]),
    "nbest_precision of one": lambda r: r.nbest_precision(N, measures="c"),
    "compare": lambda r: r.compare(n=N),
    "compare a pair": lambda r: r.compare("a", "c", n=N, test="midp", adjust="holm"),
    "compare with one": lambda r: r.compare("b", n=N, test="mcnemar", alternative="greater"),
    "compare lists": lambda r: r.compare(n=N, target="nbest"),
    "compare by swaps": lambda r: r.compare(n=N, adjust="max-t", rng=3, n_resamples=199),
    "compare by many swaps": lambda r: r.compare("a", "b", n=range(1, LONG + 1), adjust="max-t"),
    "significant_ranges": lambda r: r.significant_ranges("a", "b", n=range(1, LONG + 1)),
    "random_test": lambda r: r.random_test(N[:3], adjust="envelope"),
    "random_bound": lambda r: r.random_bound([0.05, 0.001], N),
    "random_bound of many n": lambda r: r.random_bound(0.05, N[:3], simultaneous=True),
    "random_cdf": lambda r: r.random_cdf([7, 64]),
    "random_band": lambda r: r.random_band("roc", 0.05, N),
    "isolines": lambda r: r.isolines([7, 64]),
}
RANKED = {  # what a list that ends early has no answer to
    "precision_band": lambda r: r.precision_band(N, n_resamples=99),
    "difference_band": lambda r: r.difference_band(n=N, n_resamples=99),
    "measure_ranks": lambda r: r.measure_ranks(N, n_resamples=199),
    "summary": lambda r: r.summary(N, baseline="b"),
}

# -------------------------------------------------------------------------------------------------
# Every plot, small: of so many measures or systems.

NAMES = [
    "G2", "_z", "$MI^3$", "log-likelihood", "90 % odds", "t", "chi-squared", "frequency",
    "Dice", "Poisson", "Jaccard", "cosine", "random", "length", "tf-idf", "PMI", "LogDice",
    "delta P", "Ochiai", "Fager",
]  # fmt: skip


def candidates(size: int = 300, names: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    gold = rng.random(size) < 0.2
    quality = [max(2.0 - 0.3 * k, 0.2) for k in range(names)]
    scores = {NAMES[k]: rng.normal(size=size) + quality[k] * gold for k in range(names)}
    return pd.DataFrame({**scores, "gold": gold})


def items(systems: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    right = rng.random((200, systems)) < np.linspace(0.9, 0.6, systems)
    return pd.DataFrame(right, columns=[f"system {k}" for k in range(systems)])


def runs(names: Sequence[str]) -> pd.DataFrame:
    """Return runs and judgments of 40 queries, 12 documents each."""
    rng = np.random.default_rng(5)
    grade = (rng.random(480) < 0.3).astype(int)
    scores = {x: rng.normal(size=480) + (1.5 - 0.1 * k) * grade for k, x in enumerate(names)}
    place = {"query": np.repeat(np.arange(40), 12), "document": np.tile(np.arange(12), 40)}
    return pd.DataFrame({**place, "grade": grade, **scores})


B = {"n_resamples": 200, "ci": "percentile"}
_PAIR, _FEW = ("G2", "_z"), {"n_resamples": 50}
OF_RANKINGS: dict[str, Callable[[Any, Any], Any]] = {
    "precision": lambda plot, ax: plot.precision(**_FEW, target="nbest", ax=ax),
    "precision of one": lambda plot, ax: plot.precision(highlight="G2", **_FEW, ax=ax),
    "precision of few n": lambda plot, ax: plot.precision([20, 50, 90], ax=ax),
    "comparison": lambda plot, ax: plot.comparison(*_PAIR, n_resamples=99, ax=ax),
    "random_bound": lambda plot, ax: plot.random_bound([0.05, 0.001], ax=ax),
    "random_cdf": lambda plot, ax: plot.random_cdf(20, [0.5, 0.05], ax=ax),
    "roc": lambda plot, ax: plot.roc(bands=0.05, ax=ax),
    "precision_recall": lambda plot, ax: plot.precision_recall(ax=ax),
    "det": lambda plot, ax: plot.det(ax=ax),
    "lift": lambda plot, ax: plot.lift(ax=ax),
    "gain": lambda plot, ax: plot.gain(log=True, ax=ax),
    "area": lambda plot, ax: plot.area(ax=ax),
    "measure_ranks": lambda plot, ax: plot.measure_ranks(kind="roc", n_resamples=999, ax=ax),
}
OF_ITEMS: dict[str, Callable[[Any, Any], Any]] = {
    "confidence": lambda plot, ax: plot.confidence(**B, ax=ax),
    "pairs": lambda plot, ax: plot.pairs(adjust="holm", **B, ax=ax),
    "system_ranks": lambda plot, ax: plot.system_ranks(n_resamples=200, ax=ax),
    "gain_by_size": lambda plot, ax: plot.gain_by_size([20, 50, 100], **B, ax=ax),
    "paired_differences": lambda plot, ax: plot.paired_differences(*_PAIR, **B, ax=ax),
    "queries": lambda plot, ax: plot.queries(*_PAIR, ax=ax),
}
PLOTS = [
    *OF_RANKINGS, *OF_ITEMS, "comparison of all", "tie_sensitivity", "calibration",
    "interpolated_precision", "repetition",
]  # fmt: skip


def drawn(name: str, ax: Any, count: int = 5) -> Any:
    """Draw a plot of PLOTS on an Axes."""
    if name in OF_RANKINGS:
        return OF_RANKINGS[name](candidates(names=count).rankeval.plot, ax)
    right = items(count).set_axis(NAMES[:count], axis=1)
    right.index = pd.Index([f"query {n} of the collection" for n in right.index])
    if name in OF_ITEMS:
        return OF_ITEMS[name](right.rankeval.plot, ax)
    if name == "comparison of all":
        few = candidates(names=min(count, 6))
        return few.rankeval.plot.comparison(simultaneous=False, ax=ax)
    if name == "tie_sensitivity":
        tied = candidates(names=count).round(1)
        return tied.rankeval.plot.tie_sensitivity(*_PAIR, [20, 90], n_keys=4, ax=ax)
    if name == "calibration":
        pairs = right.rankeval.paired_bootstrap(**B, details=True).rankeval
        bins = [0.001, 0.01, 0.1, 0.5]
        return pairs.plot.calibration(right[::-1], bins=bins, n_resamples=20, ax=ax)
    if name == "interpolated_precision":
        return runs(NAMES[:count]).rankeval.plot.interpolated_precision(n_resamples=99, ax=ax)
    samples = candidates(names=1).assign(part=np.arange(300) % 12).rankeval(by="part")
    return samples.plot.repetition(n=10, ax=ax)
