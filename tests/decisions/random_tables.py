"""Random tables, options at random, and what must hold of each row of their answers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankeval_pd.decisions import SWAPPED
from rankeval_pd.stats.items import ADJUSTMENTS

ALTERNATIVES = ("two-sided", "greater", "less")
FAST = range(3)
# RANKEVAL_PD_TABLES=2000 asks of as many random tables; .ci/run has ten minutes for everything
TABLES = int(os.environ.get("RANKEVAL_PD_TABLES", "40"))
MANY = pytest.param(range(3, 3 + TABLES), marks=pytest.mark.full, id="many")
SEEDS = pytest.mark.parametrize("seeds", [MANY, FAST])


def random_candidates(rng: np.random.Generator) -> pd.DataFrame:
    """Return measures of any quality, with ties or without, in groups of several sizes."""
    size = int(rng.integers(24, 90))
    gold = rng.random(size) < rng.uniform(0.15, 0.8)
    gold[:2], gold[2:4] = True, False
    common = rng.normal(size=size)
    scores = {}
    for name in "abc":
        score = rng.uniform(-0.5, 2.5) * gold + common + rng.exponential() * rng.normal(size=size)
        scores[name] = score.round(int(rng.integers(0, 4)))
    if rng.random() < 0.1:
        scores["c"] = scores["a"]
    group = np.sort(rng.integers(0, int(rng.integers(1, 4)), size))
    return pd.DataFrame({**scores, "group": group, "gold": gold})


def check(found: pd.DataFrame, asked: dict[str, Any], names: tuple[str, str, str]) -> None:
    """Assert that the rows of a table of tests agree with themselves."""
    gap, low, high = names
    level, alternative = asked.get("level", 0.95), asked.get("alternative", "two-sided")
    adjusted = asked.get("adjust") is not None
    assert ("p_adjusted" in found) == ("ci_low_alone" in found) == adjusted, asked
    p = found["p_adjusted" if adjusted else "p_value"]
    apart = (found[low] > 0) | (found[high] < 0)
    edge = (1 - level) * (1 + 1e-9)  # a p-value on it may be rounded to either side
    assert not (apart & (p > edge)).any(), (asked, found[apart & (p > edge)].T)
    if adjusted:
        assert (found["p_adjusted"] >= found["p_value"]).to_numpy()[p.notna()].all(), asked
        alone = (found["ci_low_alone"] > 0) | (found["ci_high_alone"] < 0)
        assert not (alone & (found["p_value"] > edge)).any(), asked
        assert not (found[low] > found["ci_low_alone"] + 1e-12).any(), asked
        assert not (found[high] < found["ci_high_alone"] - 1e-12).any(), asked
        assert "family" in found.attrs
    inside = (found[low] - 1e-9 <= found[gap]) & (found[gap] <= found[high] + 1e-9)
    assert inside[found[gap].notna() & found[low].notna()].all(), asked
    if alternative != "two-sided":  # the other end is where the range ends
        varies = (found[low] != 0) | (found[high] != 0)
        end = found[high if alternative == "greater" else low][varies].dropna().abs()
        assert (end == 1).all() or asked.get("of", "precision") != "precision", asked
    if "leaning" in found:
        assert found["leaning"].isna().equals((found[gap] == 0) | found[gap].isna()) or (
            "thresholds" in asked
        )
        sure = p <= asked.get("alpha", 1 - level) * (1 + 1e-12)
        same = found["better"].astype(object).where(sure & found["leaning"].notna(), None)
        wanted = found["leaning"].astype(object).where(sure & found["leaning"].notna(), None)
        assert same.tolist() == wanted.tolist(), asked
        assert found["better"].isna().equals(~sure | found["leaning"].isna()), asked


def options(rng: np.random.Generator, *, swapped: bool) -> dict[str, Any]:
    """Return an adjustment, a level and a side."""
    kinds = [None, *ADJUSTMENTS, *(SWAPPED if swapped else ())]
    asked: dict[str, Any] = {
        "adjust": kinds[rng.integers(len(kinds))], "level": float(rng.choice([0.8, 0.95, 0.99])),
        "alternative": str(rng.choice(ALTERNATIVES)),
    }  # fmt: skip
    if asked["adjust"] in SWAPPED:
        asked["n_resamples"] = 3_999
    if asked["adjust"] is None and rng.random() < 0.5:
        del asked["alternative"]
    return asked
