"""Candidates judged in part, in groups: errors by hand, what is possible, and coverage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd import RankevalWarning
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import judged as judged_sums
from rankeval_pd.stats.judged import Design, JudgedClusters, JudgedSample, cluster_share_limits
from rankeval_pd.stats.proportions import INTERVALS
from tests.conftest import examples

QUESTIONS = {
    "judged_precision": ([40, 80],),
    "judged_recall": ([40, 80],),
    "judged_difference": ("a", "b", [40, 80]),
}


def judged_in_groups(seed, share=0.4, size=5):
    """Return candidates of 40 groups, of which whole groups are judged; and all labels."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(40), size)
    topic = rng.normal(size=40)[group]
    gold = topic + rng.normal(size=group.size) > 0.8
    rows = pd.DataFrame({x: gold + topic + rng.normal(size=group.size) for x in "ab"})
    judged = (rng.random(40) < share)[group]
    rows = rows.assign(gold=pd.Series(gold.astype(float)).where(judged), doc=group)
    return rows.rename_axis("candidate"), gold


def sample_of(rows):
    """Return what is judged, the labels, the groups, and the sums of whole groups."""
    judged, gold = rows["gold"].notna().to_numpy(), rows["gold"].fillna(0).to_numpy() == 1.0
    group, everyone = rows["doc"].to_numpy(), np.ones(len(rows), dtype=bool)
    sample = JudgedSample(judged, gold, np.ones(len(rows)), np.zeros(len(rows), dtype=int))
    part = JudgedClusters.of(sample, group, everyone, Design(1, "estimate", 0.95))
    return judged, gold, group, part


def test_the_error_of_judged_groups_is_that_of_their_totals_by_hand():
    rows, _ = judged_in_groups(1)
    judged, gold, group, part = sample_of(rows)
    rank = np.argsort(np.argsort(-rows["a"].to_numpy())) + 1
    n = 60
    inside = judged & (rank <= n)
    error, seen = part.totals([(1.0, np.where(rank <= n, 0, 1))], 1)
    share, left = gold[inside].mean(), 1.0 - inside.sum() / n
    each = n / inside.sum() * np.sqrt(left) * (gold[inside] - share)
    assert_allclose(error[0], np.bincount(group[inside], each, minlength=40), atol=1e-12)
    assert seen[0].tolist() == np.bincount(group[inside], minlength=40).tolist()
    h = seen[0] / seen[0].sum()
    typical = (seen[0] ** 2).sum() / seen[0].sum()
    near = (gold[inside].sum() + 2) / (inside.sum() + 4)
    added = 0.1 * (near**2 + (1 - near) ** 2) * left * typical / inside.sum() ** 2
    variance = ((error[0] / n) ** 2 / (1 - h)).sum() + added
    pairs = (seen[0] * (seen[0] - 1)).sum()
    freedom = min(inside.sum() * (inside.sum() - 1) / pairs, (seen[0] > 0).sum()) - 1
    wider = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
    worth = near * (1 - near) / max(variance, near * (1 - near) * left / inside.sum()) / wider**2
    found = rows.rankeval(measures=["a"], groups="doc").judged_precision(n).iloc[0]
    limits = INTERVALS["wilson"](np.array([share * worth]), np.array([worth]), 0.95)
    assert_allclose(found["precision"], share, rtol=1e-12)
    assert_allclose(found[["ci_low", "ci_high"]].astype(float), np.ravel(limits), rtol=1e-9)


def test_the_error_of_recall_is_that_of_both_parts_of_the_ranking():
    rows, _ = judged_in_groups(1)
    judged, gold, group, part = sample_of(rows)
    listed = np.argsort(np.argsort(-rows["a"].to_numpy())) < 60
    estimates = [gold[judged & x].mean() * x.sum() for x in (listed, ~listed)]
    recall, positive = estimates[0] / sum(estimates), np.bincount(group[gold & judged])
    inside, outside = (part.totals([(1.0, np.where(x, 0, 1))], 1)[0] for x in (listed, ~listed))
    error = ((1.0 - recall) * inside - recall * outside) / sum(estimates)
    share, seen = np.array([recall]), np.array([(judged & listed).sum()], dtype=float)
    wanted = cluster_share_limits(
        share, error, np.array([np.pad(positive, (0, 40 - positive.size))], dtype=float),
        np.array([1.0 - judged.mean()]), 0.95, 1.0,
        alone=part._fixed_sizes(np.where(listed, 0, 1), seen, share),
    )  # fmt: skip
    found = rows.rankeval(measures=["a"], groups="doc").judged_recall(60).iloc[0]
    assert found["recall"] == pytest.approx(recall)
    assert_allclose(found[["ci_low", "ci_high"]].astype(float), np.ravel(wanted), rtol=1e-9)


def test_limits_of_the_difference_of_judged_groups_by_hand():
    """Distances of the regions' limits, added as squares, and only then made possible."""
    rows, _ = judged_in_groups(2)
    judged, gold, _, part = sample_of(rows)
    n, every = np.array([30]), np.ones(200, dtype=bool)
    ranks = tuple(np.argsort(np.argsort(-rows[x].to_numpy())) + 1 for x in "ab")
    lists = [rank <= n[0] for rank in ranks]
    only = [lists[0] & ~lists[1], lists[1] & ~lists[0]]
    shares = tuple(np.array([gold[x & judged].mean()]) for x in only)
    size = only[0].sum()
    lists = [(rank, every) for rank in ranks]
    whole = np.array([size])
    limits = [
        part.limits(x, n, y, whole) for x, y in zip((lists, lists[::-1]), shares, strict=True)
    ]
    (low_a, high_a), (low_b, high_b) = ((size * low[0], size * high[0]) for low, high in limits)
    a, b = (size * x[0] for x in shares)
    wanted = (a - b - np.hypot(a - low_a, high_b - b), a - b + np.hypot(high_a - a, b - low_b))
    true, open_ = ([(x & y).sum() for x in only] for y in (judged & gold, ~judged))
    wanted = np.clip(wanted, true[0] - true[1] - open_[1], true[0] + open_[0] - true[1])
    found = rows.rankeval(measures=["a", "b"], groups="doc").judged_difference("a", "b", 30)
    assert_allclose(found[["ci_low", "ci_high"]].astype(float).to_numpy()[0], wanted / 30)


def test_candidates_beside_judged_ones_of_their_group_are_single_candidates():
    """If some of each group are judged, single candidates have this error, with more t."""
    group = np.repeat(np.arange(6), 4)
    whole, some = group < 3, np.arange(24) % 4 == 0
    assert judged_sums.apart_share(whole, group) == 1.0
    assert judged_sums.apart_share(some, group) == 0.0
    assert judged_sums.apart_share(np.where(group < 5, some, False), group) == 4 / 19
    seen, error = np.array([[3.0, 1.0, 1.0, 5.0]]), np.array([[0.3, -0.1, -0.1, -0.1]])
    share, left = np.array([0.4]), np.array([0.7])
    near = (0.4 * 10 + 2) / 14
    wider = stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975)
    worth = np.array([10 / 0.7 / wider**2])
    assert_allclose(
        cluster_share_limits(share, error, seen, left, 0.95, 0.0),
        INTERVALS["wilson"](share * worth, worth, 0.95), rtol=1e-9,
    )  # fmt: skip
    h = seen / 10
    added = cluster_totals.rare_label(near, 6) * (near**2 + (1 - near) ** 2) * 0.7 * 36 / 1_000
    variance = ((error**2 / (1 - h)).sum() + added) * 0.5
    freedom = min(2.0 * (cluster_totals.simpson_number(seen) - 1), 9)
    wider = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
    worth = near * (1 - near) / variance / wider**2
    assert_allclose(
        cluster_share_limits(share, error, seen, left, 0.95, 0.5),
        INTERVALS["wilson"](share * worth, worth, 0.95), rtol=1e-9,
    )  # fmt: skip


@pytest.mark.full
@pytest.mark.filterwarnings(
    "ignore:The judged candidates are not a random:rankeval_pd.RankevalWarning"
)
@given(st.integers(0, 1000))
@example(116)
@settings(max_examples=examples(15))
def test_judged_groups_are_within_what_is_possible_and_exact_at_the_end(seed):
    rows, gold = judged_in_groups(seed, share=0.7)
    for name, asked in QUESTIONS.items():
        here = rows.rankeval(measures=["a", "b"], groups="doc")
        found, bounds = (getattr(here, name)(*asked, unjudged=x) for x in ("estimate", "bounds"))
        assert (found["ci_low"] >= bounds["ci_low"] - 1e-9).all()
        assert (found["ci_high"] <= bounds["ci_high"] + 1e-9).all()
        whole = rows.assign(gold=gold).rankeval(measures=["a", "b"], groups="doc")
        every = getattr(whole, name)(*asked)
        assert_allclose(every["ci_low"], every["ci_high"], atol=1e-9)


def test_every_design_of_judged_groups_has_limits_and_few_are_said():
    rows, _ = judged_in_groups(2)
    few = rows.assign(gold=(np.arange(200) % 3 == 0) * 1.0)
    few["gold"] = few["gold"].where(few["doc"] < 9)
    for name, asked in QUESTIONS.items():
        for rates in (2, 200):
            known = rows.assign(rate=0.4 + 0.001 * (np.arange(200) % rates))
            found = getattr(known.rankeval(measures=["a", "b"], groups="doc"), name)(
                *asked, judged_with="rate"
            )
            assert (found["ci_low"] <= found["ci_high"]).all()
        crossed = rows.assign(other=1).rankeval(measures=["a", "b"], groups=["doc", "other"])
        with pytest.raises(ValueError, match="crossed"):
            getattr(crossed, name)(*asked)
        with pytest.warns(RankevalWarning, match="there are 9 groups"):
            getattr(few.rankeval(measures=["a", "b"], groups="doc"), name)(*asked)
