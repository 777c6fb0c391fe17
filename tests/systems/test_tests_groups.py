"""Items in groups: means over groups, and items that several annotators judge."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rankeval_pd import RankevalWarning, in_words

REFERENCE = Path(__file__).parents[1] / "simulations"


def moving(rng, groups):
    """Return a gain that grows with the size of its group, its mean over items truly 0."""
    size = np.maximum(np.rint(np.exp(rng.normal(2.0, 1.0, groups))), 1).astype(int)
    cluster = np.repeat(np.arange(groups), size)
    gain = (size[cluster] - 33.6) / 12.2 + rng.normal(size=cluster.size)
    return pd.DataFrame({"new": gain, "old": 0.0, "doc": cluster})


def test_a_gain_that_moves_with_the_size_of_groups_is_said():
    items = moving(np.random.default_rng(1), 40)
    asked = items.rankeval(measures=["new", "old"], groups="doc")
    with pytest.warns(RankevalWarning, match="depends on group size in .*weight='group'"):
        asked.paired_bootstrap()
    found = asked.paired_bootstrap("new", "old", weight="group")  # no warning
    means = items.groupby("doc")["new"].mean()
    assert_allclose(found["gain"], means.mean(), rtol=1e-12)
    assert "mean score over groups is" in in_words(found)
    equal = items.assign(doc=np.arange(len(items)) // 5)
    assert "mean score over items is" in in_words(
        equal.rankeval(measures=["new", "old"], groups="doc").paired_bootstrap("new", "old")
    )


def test_weight_is_refused_where_it_has_no_meaning(frame):
    with pytest.raises(ValueError, match="weight='group' applies only to systems scored on test"):
        frame.rankeval.compare("a", "b", 5, weight="group")
    items = moving(np.random.default_rng(1), 40)
    for roles in ({}, {"groups": "doc", "metric": "sum"}):
        with pytest.raises(ValueError, match="the mean over groups needs"):
            items.rankeval(measures=["new", "old"], weight="group", **roles).paired_bootstrap()


def test_items_that_several_judge_are_not_taken_for_independent_without_a_word():
    rng, rejected = np.random.default_rng(8), {"alone": 0, "both": 0}
    item, annotator = np.divmod(np.arange(30 * 12), 12)
    for _ in range(30):
        gain = rng.normal(size=30)[item] + rng.normal(size=12)[annotator]
        rows = pd.DataFrame({"new": gain + rng.normal(size=360), "old": 0.0})
        rows["annotator"], rows.index = annotator, pd.Index(item, name="item")
        asked = rows.rankeval(measures=["new", "old"])
        for name, groups in (("alone", "item"), ("both", ["item", "annotator"])):
            found = asked.paired_bootstrap("new", "old", groups=groups, n_resamples=199)
            rejected[name] += bool(found["p_value"][0] <= 0.05)
    assert rejected["both"] <= 4 < rejected["alone"]
    with pytest.warns(
        RankevalWarning, match=r"330 repeated labels.*groups=\['item', 'annotator'\]"
    ):
        asked.paired_bootstrap("new", "old")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked.paired_bootstrap("new", "old", groups="item")


def test_the_committed_simulations_of_gains_that_move_with_lognormal_sizes():
    rows = pd.read_csv(REFERENCE / "dependence.csv").set_index("setting")
    rows = rows.filter(like="lognormal", axis=0)
    moving = rows.filter(like="moving, weight item", axis=0)
    assert len(moving) == 4
    assert (moving.drop("10 groups, lognormal, moving, weight item")["warned"] >= 0.9).all()
    assert moving.loc["10 groups, lognormal, moving, weight item", "warned"] > 0.6
    assert (rows[~rows.index.str.contains("moving")]["warned"] <= 0.1).all()
    # the mean over groups holds from 20 on; of 10 it rejects in .07, and nothing is said
    by_group = rows.filter(like="moving, weight group", axis=0)["errs"]
    most = 0.06 + 2 * np.sqrt(0.06 * 0.94 / 2_000)
    assert (by_group.drop("10 groups, lognormal, moving, weight group") <= most).all()
