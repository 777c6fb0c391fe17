"""Sizes of the paired tests: the committed study against enumeration, another study, and itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REFERENCE = Path(__file__).parent / "simulations"
_spec = importlib.util.spec_from_file_location("sizes", REFERENCE / "sizes.py")
sizes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sizes)

# an independent study: 4,000 test sets (BCa, bootstrap-t, and t of 0/1 metrics: 2,000)
OTHER = {
    "normal, 30 items": [0.058, 0.058, 0.059, 0.059, 0.051, 0.050, 0.048, 0.070],
    "right skew, 30 items": [0.021, 0.021, 0.029, 0.029, 0.021, 0.019, 0.040, 0.056],
    "left skew, 30 items": [0.134, 0.134, 0.114, 0.114, 0.112, 0.113, 0.070, 0.072],
    "0/1, 100 items, 10% discordant": [
        0.0707, 0.0364, 0.0904, 0.0425, 0.0234, 0.048, 0.064, 0.051,
    ],
    "0/1, 200 items, 2% discordant": [
        0.0771, 0.0242, 0.1774, 0.0488, 0.0084, 0.051, 0.108, 0.055,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """The committed study, differences by rules."""
    return pd.read_csv(REFERENCE / "sizes.csv").set_index(["differences", "rule"])


@pytest.mark.full
@pytest.mark.parametrize("kind", sizes.DISCORDANT)
def test_sizes_for_0_1_metrics_are_enumerated(table, kind):
    found = sizes.enumerated(sizes.KINDS[kind][0], sizes.DISCORDANT[kind])
    for rule, published in zip(sizes.RULES[:5], OTHER[kind], strict=False):
        assert round(found[rule], 4) == published
        assert table.loc[(kind, rule), "size"] == pytest.approx(found[rule], rel=1e-5)
        assert table.loc[(kind, rule), "error"] == 0


@pytest.mark.parametrize("kind", OTHER)
def test_both_studies_agree_within_three_standard_errors(table, kind):
    for rule, size in zip(sizes.RULES, OTHER[kind], strict=True):
        row = table.loc[(kind, rule)]
        if row["repetitions"]:
            few = rule in ("studentised", "bca") or (rule == "t" and kind in sizes.DISCORDANT)
            error = np.hypot(row["error"], np.sqrt(size * (1 - size) / (2_000 if few else 4_000)))
            assert abs(row["size"] - size) < 3 * error


@pytest.mark.full
@pytest.mark.parametrize("kind", sizes.KINDS)
def test_a_small_study_agrees_with_the_large_one(table, kind):
    found = sizes.simulated(kind, 120, seed=7).mean()
    for rule in sizes.RULES:
        size = table.loc[(kind, rule), "size"]
        assert found[rule] == pytest.approx(size, abs=4 * np.sqrt(size * (1 - size) / 120))
