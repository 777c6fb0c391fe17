"""Areas of two samples of candidates, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def _placed(frame: pd.DataFrame) -> tuple[float, list[float], list[int]]:
    """Return the area, and the variance that either class gives it, with its size."""
    s, gold = frame["z"].to_numpy(), frame["gold"].to_numpy()
    wins = np.sign(s[gold][:, np.newaxis] - s[~gold]) / 2 + 0.5
    parts = [wins.mean(axis=1), wins.mean(axis=0)]
    return wins.mean(), [x.var(ddof=1) / x.size for x in parts], [x.size for x in parts]


def test_two_samples_have_the_normal_law_or_welchs_by_hand(four_measures):
    """The model's variance with the normal law where it is larger, else DeLong's with Student's."""
    laws = set()
    for split, spread in [(60, 1.0), (150, 1.0), (190, 9.0), (100, 9.0)]:
        part = np.arange(300) < split
        wide = four_measures["z"] * np.where(four_measures["gold"], spread, 1.0)
        frame = four_measures.assign(part=part, z=wide)
        found = frame.rankeval(by="part", details=True, measures="z").unpaired_area().iloc[0]
        a, b = (_placed(frame[frame["part"] == x]) for x in (False, True))
        gap = a[0] - b[0]
        assert found["difference"] == pytest.approx(gap)
        variance = [*a[1], *b[1]]
        freedom = sum(variance) ** 2 / sum(
            v**2 / (n - 1) for v, n in zip(variance, [*a[2], *b[2]], strict=True)
        )
        error = np.sqrt(sum(variance))
        model = gap / found["z"] > error * (1 + 1e-9)
        laws.add(bool(model))
        law: Any = stats.norm if model else stats.t(freedom)
        assert found["p_value"] == pytest.approx(2 * law.sf(abs(found["z"])), rel=1e-6)
        # Zou and Donner's limits of independent areas, widened to what the test does not reject
        alone = frame.rankeval(by="part", measures="z").area().set_index("part")
        half = law.ppf(0.975) * abs(gap / found["z"])
        low, high = (
            gap
            + sign * np.hypot(alone.loc[False, f"ci_{x}"] - a[0], alone.loc[True, f"ci_{y}"] - b[0])
            for sign, x, y in ((-1, "low", "high"), (1, "high", "low"))
        )
        if found["p_value"] > 0.05:
            assert found["ci_low"] == pytest.approx(min(low, gap - half), rel=1e-6)
            assert found["ci_high"] == pytest.approx(max(high, gap + half), rel=1e-6)
    assert laws == {True, False}


def test_limits_of_two_average_precisions_hold_those_of_each(four_measures):
    """Zou and Donner's, of samples with much the same number of positives."""
    for split in (130, 134, 142):
        parts = four_measures.assign(part=np.arange(300) < split)
        counts = parts.groupby("part")["gold"].sum()
        assert counts.max() <= 1.2 * counts.min()
        call = parts.rankeval(by="part", measures="z")
        found = call.unpaired_area(kind="ap", details=True).iloc[0]
        first, second = call.area("ap").set_index("part").sort_index().to_dict("records")
        low, high = (
            sign * np.hypot(first[f"ci_{x}"] - first["area"], second[f"ci_{y}"] - second["area"])
            for sign, x, y in ((-1, "low", "high"), (1, "high", "low"))
        )
        assert found["p_value"] > 0.05
        assert found["ci_low"] <= found["difference"] + low + 1e-12
        assert found["ci_high"] >= found["difference"] + high - 1e-12
