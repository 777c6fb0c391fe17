"""Candidates of which all, or some, are judged, and candidates on which annotators vote."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

THREE, TWO = ["a1", "a2", "a3"], {"measures": ["f", "g"]}


def voted(size: int = 400) -> pd.DataFrame:
    """Return the votes a1 to a4, on words with the scores f and g."""
    rng = np.random.default_rng(3)
    chance = rng.beta(0.3, 0.5, size)
    votes = {f"a{k + 1}": (rng.random(size) < chance).astype(int) for k in range(4)}
    noisy = {name: rng.normal(size=size) + x * chance for name, x in (("f", 1.5), ("g", 0.8))}
    words = pd.Index([f"w{i}" for i in range(size)], name="w")
    return pd.DataFrame({**noisy, **votes}, index=words)


def as_dataset(frame: pd.DataFrame) -> xr.Dataset:
    return xr.Dataset.from_dataframe(frame).rename(w="candidate")


def along_annotators(frame: pd.DataFrame) -> xr.Dataset:
    data = as_dataset(frame)
    votes = xr.concat([data[name] for name in THREE], pd.Index(THREE, name="annotator"))
    return data[["f", "g"]].assign(gold=votes)


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return rankeval_pd.datasets.simulate_candidates(1_000)


@pytest.fixture(scope="module")
def partly(whole) -> pd.DataFrame:
    judged = np.random.default_rng(1).random(1_000) < 0.3
    return whole.assign(gold=whole["gold"].astype(float).where(judged))
