"""Collections of search: judged documents, and the runs that retrieved them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankeval_pd import per_query


def collection(seed: int, *, ties: bool = True, unjudged: bool = True) -> pd.DataFrame:
    """Return a small random collection; some judged queries are in no run."""
    rng = np.random.default_rng(seed)
    parts = []
    for query in range(int(rng.integers(2, 9))):
        size = int(rng.integers(2, 60))
        score = rng.integers(0, 12, size) * 0.1 if ties else rng.permutation(size) + 0.5
        score = score + (rng.random(size) < 0.2) * 1e-10 * ties  # equal as float32 only
        absent = rng.random(size) < rng.choice([0.0, 0.3, 1.0], p=[0.3, 0.6, 0.1])
        grade = rng.choice([-1, 0, 0, 1, 2, 3], size).astype(float)
        if unjudged:
            grade[rng.random(size) < rng.random()] = np.nan
        grade[0] = rng.integers(0, 3)
        document = [f"d{x}" for x in rng.permutation(900)[:size]]
        columns = {"document": document, "run": np.where(absent, np.nan, score), "grade": grade}
        parts.append(pd.DataFrame({"query": str(query), **columns}))
    return pd.concat(parts, ignore_index=True)


def as_dataset(frame: pd.DataFrame):
    size = frame.groupby("query").cumcount()
    return frame.assign(candidate=size).set_index(["query", "candidate"]).to_xarray()


def ours(frame: pd.DataFrame, metrics: list[str], **roles) -> pd.DataFrame:
    """Return the value of each query and metric."""
    table = per_query(frame, metrics, **roles)
    return table.set_index(["query", "metric"])["value"].unstack()[metrics]  # noqa: PD010
