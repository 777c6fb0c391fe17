"""Limits of BEDROC and of partial areas, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from rankeval_pd.stats import areas as early
from rankeval_pd.stats.ranking import Ranking

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def test_limits_are_the_outer_ones_with_pairs_at_both_ends(four_measures):
    """By hand: a tied pair of both classes at either end, and Student's t on the logit."""
    few = four_measures.iloc[
        np.r_[np.flatnonzero(four_measures["gold"])[:6], 100:170]
    ].drop_duplicates()
    few = few.assign(gold=lambda x: x["gold"] & (x.index < 100))[["z", "gold"]]
    ends = pd.DataFrame({"z": [99.0, 99.0, -99.0, -99.0], "gold": [True, False, True, False]})
    more = pd.concat([few, ends], ignore_index=True)
    freedom = few["gold"].sum() - 1
    assert 3 <= freedom <= 12
    for ask in (lambda r: r.bedroc(), lambda r: r.partial_area(fpr=1.0)):
        limits = []
        found = ask(few.rankeval(details=True)).iloc[0]
        for frame in (few, more):
            row = ask(frame.rankeval(details=True)).iloc[0]
            value = row["value" if "value" in row else "area"]
            half = stats.t.ppf(0.975, freedom) * row["se"] / (value * (1 - value))
            limits.append(special.expit(special.logit(value) + np.array([-half, half])))
        low, high = np.array(limits).T
        assert found["ci_low"] == pytest.approx(low.min(), rel=1e-9)
        assert found["ci_high"] == pytest.approx(high.max(), rel=1e-9)


def test_a_missing_score_is_the_worst_from_either_side(four_measures):
    holes = four_measures.assign(z=four_measures["z"].where(np.arange(300) % 7 > 0))
    filled = holes.assign(z=holes["z"].fillna(-99.0))
    for asked in ({"tpr": 0.6}, {"fpr": 0.3}):
        found, same = (
            frame.rankeval(measures="z", missing="last", details=True).partial_area(**asked)
            for frame in (holes, filled)
        )
        for name in ("area", "se"):  # the limits' added pairs stand before missing scores
            assert found[name].tolist() == same[name].tolist()
    found = four_measures.rankeval.enrichment(0.1)
    assert found.columns.tolist()[:3] == ["measure", "share", "n"]


def test_the_error_of_bedroc_is_that_of_its_candidates():
    """Each candidate is left out, and repeated; the error is the harmonic mean of both."""
    rng = np.random.default_rng(3)
    gold = rng.permutation(np.arange(36) < 9)  # in the order of the ranks

    def value(labels: np.ndarray) -> float:
        return float(np.exp(-20.0 * np.arange(1, labels.size + 1) / 36)[labels].sum() / 9)

    weights = np.exp(-20.0 * np.arange(1, 37) / 36)
    scale = weights[:9].mean() - weights[-9:].mean()
    errors = []
    for change in (lambda k: np.delete(gold, k), lambda k: np.insert(gold, k, gold[k])):
        slope = np.array([value(change(k)) - value(gold) for k in range(36)])
        slope *= np.where(gold, 9, 27)
        parts = [np.var(slope[x], ddof=1) / x.sum() for x in (gold, ~gold)]
        errors.append(np.sqrt(sum(parts)) / scale)
    error = 2.0 / (1.0 / errors[0] + 1.0 / errors[1])
    frame = pd.DataFrame({"z": -np.arange(36.0), "gold": gold})
    assert frame.rankeval(details=True).bedroc().loc[0, "se"] == pytest.approx(error, rel=1e-6)


def test_limits_of_the_best_and_the_worst_share_are_clopper_and_pearsons():
    nothing = np.zeros(2)
    low, high = early.logit_limits(np.array([1.0, 0.0]), nothing, 4, 5, 0.95)
    alone = 0.025**0.2
    assert low.tolist() == pytest.approx([alone, 0.0])
    assert high.tolist() == pytest.approx([1.0, 1.0 - alone])
    best = pd.DataFrame({"z": -np.arange(30.0), "gold": np.arange(30) < 5})
    found = best.rankeval(details=True).bedroc().iloc[0]
    assert found["ci_low"] <= alone
    assert found["ci_high"] == 1.0


def test_added_pairs_stand_before_missing_scores():
    score, gold = np.array([3.0, np.nan, 2.0]), np.array([False, True, True])
    ranking = Ranking.of(score, gold, np.ones(3, dtype=bool))
    added = early.with_end_pairs(ranking)
    assert added.order.tolist() == [0, 1, 2, 4, 5, 6, 3]
    assert added.ranks.tolist() == [1, 2, 3, 7, 4, 5, 6]
