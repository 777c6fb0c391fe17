"""Size of the paired tests of search: t, swaps and random signs, on values like those of queries.

Two runs of equal quality for the same queries. Documents of a query have scores that both runs
see with noise of their own; the values are the package's own AP, nDCG@10, P@10 and RR. Some
queries have no relevant document near the top: many values are 0.

    python tests/reference/query_tests.py [samples]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd

METRICS = ("AP", "nDCG@10", "P@10", "RR")
TESTS = {
    "t": lambda rows: rows.paired_permutation(test="t", progress=False),
    "swaps": lambda rows: rows.paired_permutation(progress=False),
    "wild": lambda rows: rows.paired_bootstrap(progress=False),
}
DOCUMENTS = 60


AT_ONCE = 20_000  # queries in memory together


def values_of(count: int, seed: int) -> pd.DataFrame:
    """Return the values of two equal runs: a row per query, columns of two levels."""
    rng = np.random.default_rng(seed)
    parts = [_some(min(AT_ONCE, count - start), rng) for start in range(0, count, AT_ONCE)]
    return pd.concat(parts, ignore_index=True)


def _some(count: int, rng: np.random.Generator) -> pd.DataFrame:
    shape = (count, DOCUMENTS)
    rate = rng.beta(0.6, 9.0, (shape[0], 1))  # few relevant documents, in some queries none
    grade = rng.random(shape) < rate
    ease = rng.normal(1.0, 0.8, (shape[0], 1))
    shared = rng.normal(size=shape) + ease * grade
    frame = pd.DataFrame(
        {
            "query": np.repeat(np.arange(shape[0]), DOCUMENTS),
            "document": np.tile(np.arange(DOCUMENTS), shape[0]),
            "grade": grade.ravel().astype(int),
            **{run: (shared + rng.normal(size=shape)).ravel() for run in "ab"},
        }
    )
    return frame.rankeval.per_query(METRICS, wide=True)


def main(samples: int) -> None:
    """Simulate every setting, and write the table beside this script."""
    rows = []
    for queries in (10, 25, 50, 100, 250):
        values = values_of(samples * queries, queries)
        sample = np.arange(len(values)) // queries
        for metric in METRICS:
            table = values[metric].assign(sample=sample)
            for name, ask in TESTS.items():
                with warnings.catch_warnings(record=True):
                    warnings.simplefilter("always")
                    found = ask(table.rankeval(by="sample", measures=["a", "b"]))
                warned = 0
                for _, one in list(table.groupby("sample"))[:100]:
                    with warnings.catch_warnings(record=True) as seen:
                        warnings.simplefilter("always")
                        ask(one.rankeval(measures=["a", "b"]))
                    warned += bool(seen)
                size = float((found["p_value"] <= 0.05).mean())
                rows.append(
                    {
                        "metric": metric, "queries": queries, "test": name, "size": size,
                        "error": (size * (1 - size) / samples) ** 0.5, "warned": warned / 100,
                    }
                )  # fmt: skip
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    assert rankeval_pd
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
