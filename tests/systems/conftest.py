"""Systems that several files of this room test: counts of F1, errors, trainings, tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.systems.tests import OF_FAMILY, PAIR_COLUMNS

OF_PAIRS = [name for name in PAIR_COLUMNS if name not in OF_FAMILY]  # without adjust=
EVENTS = {  # of a resampled gain, at a gain
    "recentred": lambda drawn, gain: drawn >= 2 * gain,
    "strict": lambda drawn, gain: drawn > 2 * gain,
    "zero": lambda drawn, gain: drawn <= 0,
}


@pytest.fixture
def one_win() -> pd.DataFrame:
    """One system is right once, the other never."""
    return pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})


def counts_of(seed: int, items: int, systems: int = 3) -> pd.DataFrame:
    """Return correct, guess and gold of some systems, two-level columns (system, statistic)."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 9, items)
    parts = {}
    for k in range(systems):
        guess = np.maximum(gold + rng.integers(-2, 3, items), 0)
        correct = rng.binomial(np.minimum(gold, guess), 0.6 + 0.05 * k)
        parts[f"s{k}"] = pd.DataFrame({"correct": correct, "guess": guess, "gold": gold})
    return pd.concat(parts, axis=1, names=["system", None])


def f1(sums):
    return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])


def errors_of(items: int = 40, systems: int = 4) -> pd.DataFrame:
    """Return the 0/1 errors of some systems, the last one the best."""
    rng = np.random.default_rng(3)
    found = rng.random((items, systems)) < np.linspace(0.45, 0.15, systems)
    return pd.DataFrame(found.astype(float), columns=[f"s{k}" for k in range(systems)])


def trained(seeds: int = 3, systems: int = 3, n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Return systems of several trainings, columns (system, seed)."""
    rng = np.random.default_rng(seed)
    columns = pd.MultiIndex.from_product(
        [[f"s{k}" for k in range(systems)], range(seeds)], names=["system", "seed"]
    )
    own = np.repeat(rng.normal(size=(n, systems)) + np.arange(systems) / 2.0, seeds, axis=1)
    return pd.DataFrame(own + 0.1 * rng.normal(size=systems * seeds), columns=columns)


def loop(data: pd.DataFrame, score, a: str, b: str, resamples: int, rng: int = 0):
    """Return the gain and the resampled gains, by a plain loop over the counts."""
    values = {name: data[name].to_numpy(dtype=float) for name in (a, b)}
    counts = rankeval_pd.resample_counts(len(data), resamples, rng=rng)
    gain = score(values[a].sum(axis=0)) - score(values[b].sum(axis=0))
    drawn = [score(row @ values[a]) - score(row @ values[b]) for row in counts]
    return gain, np.array(drawn)


def agrees(row: pd.Series, level: float = 0.95) -> bool:
    """Return whether the interval leaves out 0 exactly where the p-value is significant."""
    outside = row["ci_low"] > 0.0 or row["ci_high"] < 0.0
    return outside == (row["p_two_sided"] <= (1.0 - level) * (1.0 + 1e-12))


def null_domains(seed: int, domains: int = 50, items: int = 40) -> pd.DataFrame:
    """Return three equal systems in many domains."""
    scores = np.random.default_rng(seed).normal(size=(domains * items, 3))
    names = [f"d{i:02d}" for i in range(domains)]
    return pd.DataFrame(scores, columns=list("xyz")).assign(domain=np.repeat(names, items))
