"""Why sacrebleu's paired bootstrap has another p-value, as the page of the paired tests says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rankeval_pd


def folded(z: float) -> float:
    """Return p of the rule that takes |difference| before centring, for a normal gain."""
    law = stats.foldnorm(abs(z))
    return law.sf(law.mean() + abs(z))


@pytest.mark.parametrize(
    ("one_sided", "shown"), [(0.298, 0.207), (0.5, 0.425), (0.1, 0.084), (0.01, 0.010)]
)
def test_the_rule_for_normal_gains(one_sided, shown):
    assert folded(stats.norm.isf(one_sided)) == pytest.approx(shown, abs=6e-4)


def test_the_rule_counted_in_the_same_resamples():
    significance = pytest.importorskip("sacrebleu.significance")
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(0.06, 1.0, 120), "b": 0.0})
    drawn = rankeval_pd.resample_counts(120, 4000, rng=5) @ data["a"].to_numpy() / 120
    sizes = np.abs(drawn)
    theirs = significance._compute_p_value(sizes - sizes.mean(), abs(data["a"].mean()))
    row = data.rankeval.paired_bootstrap(
        "a", "b", n_resamples=4000, rng=5, event="recentred", method="monte-carlo"
    ).iloc[0]
    error = 4 * np.sqrt(0.25 / 4000)
    z = stats.norm.isf(row["p_one_sided"])
    assert theirs == pytest.approx(folded(z), abs=error)
    assert row["p_one_sided"] - theirs > 0.03
