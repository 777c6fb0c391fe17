"""Enrichment, BEDROC and partial areas: RDKit, scikit-learn, enumeration, resamples, coverage."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn import metrics

from rankeval_pd.stats import areas as early
from rankeval_pd.stats.ranking import Ranking
from tests.curves.conftest import QUIET, SCORED

REFERENCE = Path(__file__).parents[1] / "simulations"


# ------------------------------------------------------------------------------------- enrichment


def test_enrichment_is_recall_by_the_share(simulated):
    found = simulated.rankeval.enrichment([0.05, 1.0, 0.1])
    assert found.columns.tolist()[:3] == ["measure", "share", "n"]
    assert found["share"].tolist() == [0.05, 1.0, 0.1] * 3
    assert found["n"].tolist() == [15, 300, 30] * 3
    recall = simulated.rankeval.nbest_recall([15, 300, 30])
    times = 300 / found["n"]
    for ours, theirs in (("lift", "recall"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
        np.testing.assert_allclose(found[ours], recall[theirs] * times, rtol=1e-12)
    dataset = xr.Dataset.from_dataframe(simulated.rename_axis("candidate"))
    assert dataset.rankeval.enrichment([0.05, 0.1])["lift"].dims == ("measure", "share")


@QUIET
def test_enrichment_is_at_most_one_over_the_lowest_plausible_prevalence():
    """N = 60 and N+ = 30; the lower Clopper-Pearson limit is a quantile of Beta(30, 31)."""
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"a": -np.arange(60.0), "b": rng.normal(size=60), "gold": np.arange(60) < 30})
    most = 1 / stats.beta.ppf(0.025, 30, 31)
    row = df.rankeval(measures="a").enrichment(0.1).loc[0]
    assert (row["lift"], row["ci_high"]) == (2, pytest.approx(most))
    curve = df.rankeval(measures="a").lift([0.05], interval="pointwise").loc[0]
    assert curve["ci_high"] == pytest.approx(most)
    grouped = df.assign(q=np.arange(60) // 5).rankeval(measures="a", groups="q").enrichment(0.1)
    assert grouped.loc[0, "ci_high"] >= most


# ----------------------------------------------------------------------------------------- BEDROC


@QUIET
def test_bedroc_and_enrichment_of_rdkit():
    """RDKit's CalcBEDROC and CalcEnrichment."""
    rdkit = pd.read_csv(REFERENCE / "bedroc.csv", comment="#", dtype={"labels": str})
    for row in rdkit.itertuples():
        gold = np.array([x == "1" for x in row.labels])
        df = pd.DataFrame({"a": -np.arange(gold.size), "gold": gold})
        found = df.rankeval.bedroc(row.alpha).loc[0]
        assert found["value"] == pytest.approx(row.bedroc, rel=1e-11, abs=1e-13)
        assert 0 <= found["ci_low"] <= found["value"] <= found["ci_high"] <= 1
        factor = df.rankeval.enrichment(0.05).loc[0]
        assert factor["lift"] == pytest.approx(row.ef_5, rel=1e-13)


def test_the_formula_of_truchon_and_bayly(simulated):
    """Equation 36, as it is printed."""
    untied = simulated.assign(good=simulated["good"].rank(method="first"))
    gold, total = untied["gold"], len(untied)
    share, rank = gold.mean(), untied["good"].rank(ascending=False)[gold]
    for alpha in (0.5, 20.0, 400.0):
        times = share * np.sinh(alpha / 2)
        times /= np.cosh(alpha / 2) - np.cosh(alpha / 2 - alpha * share)
        every = (1 - np.exp(-alpha)) / (np.exp(alpha / total) - 1) / total
        rie = np.exp(-alpha * rank / total).mean() / every
        wanted = rie * times + 1 / (1 - np.exp(alpha * (1 - share)))
        found = untied.rankeval(measures="good").bedroc(alpha)["value"]
        assert found[0] == pytest.approx(wanted, rel=1e-9)


@QUIET
@given(SCORED, st.sampled_from([0.3, 5.0, 50.0]))
def test_bedroc_of_ties_is_the_mean_over_orders_and_chance_that_over_labels(rows, alpha):
    score, gold = (np.array(x) for x in zip(*rows[:6], strict=True))
    found = pd.DataFrame({"a": score, "gold": gold}).rankeval.bedroc(alpha).loc[0]
    if gold.all() or not gold.any():
        assert found[1:].isna().all()
        return

    def of(labels):
        ranking = Ranking.of(-np.arange(labels.size) * 1.0, labels, np.ones(labels.size, bool))
        return float(early.bedroc_influence(ranking, alpha).value)

    orders = [list(x) for x in itertools.permutations(range(gold.size))]
    orders = [x for x in orders if (np.diff(score[x]) <= 0).all()]
    assert found["value"] == pytest.approx(np.mean([of(gold[x]) for x in orders]), abs=1e-12)
    labels = set(itertools.permutations(gold.tolist()))
    wanted = np.mean([of(np.array(x)) for x in labels])
    assert found["chance"] == pytest.approx(wanted, abs=1e-12)


@QUIET
@pytest.mark.parametrize("alpha", [0.5, 160.9, 20.0])
def test_the_ends_of_bedroc_are_0_and_1(alpha):
    for total, positive in ((4, 2), (20, 2), (20, 18), (100, 10), (1_000, 10), (1_000, 500)):
        gold = np.arange(total) < positive
        df = pd.DataFrame({"a": -np.arange(total), "b": np.arange(total), "gold": gold})
        tied = df.assign(a=1.0 * gold, b=-1.0 * gold)
        for data in (df, tied):
            best, worst = (data.rankeval.bedroc(alpha).loc[k] for k in (0, 1))
            assert (best["value"], best["ci_high"]) == (1.0, 1.0)
            assert (worst["value"], worst["ci_low"]) == (0.0, 0.0)
            assert 1e-6 < best["ci_low"] < 1
            assert 0 < worst["ci_high"] < 1 - 1e-6


@QUIET
def test_limits_near_1_do_not_reach_0():
    """One exchanged pair: the logit scale turned a small error into [0, 1]."""
    for levels, place, alpha in itertools.product((200, 20, 5), (50, 75, 99), (20.0, 80.5)):
        gold = np.arange(200) < 100
        gold[[place, 100]] = False, True
        df = pd.DataFrame({"a": -(np.arange(200) * levels // 200), "gold": gold})
        row = df.rankeval.bedroc(alpha).loc[0]
        assert 0.01 < row["ci_low"] < row["value"] <= row["ci_high"] <= 1


# ---------------------------------------------------------------------------------- partial areas


@QUIET
@given(SCORED, st.sampled_from([0.05, 0.3, 0.77, 1.0]))
def test_partial_areas_of_scikit_learn(rows, fpr):
    """scikit-learn's roc_auc_score(max_fpr=...)."""
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    found = df.rankeval.partial_area(fpr).loc[0]
    if gold.all() or not gold.any():
        assert np.isnan([found["area"], found["chance"], found["ci_low"]]).all()
        return
    wanted = metrics.roc_auc_score(gold, score, max_fpr=fpr)
    assert found["area"] == pytest.approx(wanted, abs=1e-12)
    if gold.sum() > 1 and (~gold).sum() > 1:
        assert found["ci_low"] - 1e-12 <= found["area"] <= found["ci_high"] + 1e-12


def test_whole_area_is_the_roc_area_with_delongs_error(simulated):
    found = simulated.rankeval.partial_area(fpr=1)
    wanted = simulated.rankeval.area()
    for column in ("area", "se"):
        np.testing.assert_allclose(found[column], wanted[column], rtol=1e-12)


@pytest.mark.full
def test_standard_errors_are_those_of_resamples(simulated):
    score, gold = simulated["good"].to_numpy(), simulated["gold"].to_numpy()
    rng = np.random.default_rng(3)
    parts = [np.flatnonzero(gold), np.flatnonzero(~gold)]
    rows = np.hstack([rng.choice(part, (3_000, part.size)) for part in parts])
    drawn = Ranking.of(score[rows], gold[rows], np.ones(rows.shape, bool))
    call = simulated.rankeval(measures="good")
    error = early.area_up_to(drawn, 0.2).value.std() * 0.5 / 0.9
    assert call.partial_area(fpr=0.2).loc[0, "se"] == pytest.approx(error, rel=0.07)
    error = early.bedroc_influence(drawn, 20.0).value.std()
    assert call.bedroc().loc[0, "se"] == pytest.approx(error, rel=0.07)


def test_a_partial_area_needs_a_rate(simulated):
    for fpr, message in ((None, "fpr=None is of type"), (1.2, r"fpr=1.2 is outside \(0, 1\]")):
        with pytest.raises((TypeError, ValueError), match=message):
            simulated.rankeval.partial_area(fpr)


# ------------------------------------------------------------------- errors and limits, by hand


@QUIET
def test_limits_are_the_outer_ones_with_pairs_at_both_ends(four_measures):
    """By hand: a tied pair of both classes at either end, and Student's t on both scales."""
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
            half = stats.t.ppf(0.975, freedom) * row["se"] * np.array([-1.0, 1.0])
            room = value * (1 - value)
            logit = special.expit(special.logit(value) + half / room)
            angle = np.arcsin(value**0.5) + 0.5 * half / room**0.5
            arcsine = np.sin(np.clip(angle, 0.0, 0.5 * np.pi)) ** 2
            limits.append((max(logit[0], arcsine[0]), min(logit[1], arcsine[1])))
        low, high = np.array(limits).T
        assert found["ci_low"] == pytest.approx(low.min(), rel=1e-9)
        assert found["ci_high"] == pytest.approx(high.max(), rel=1e-9)


@QUIET
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


@QUIET
def test_limits_of_the_best_and_the_worst_share_are_clopper_and_pearsons():
    nothing = np.zeros(2)
    low, high = early.early_limits(np.array([1.0, 0.0]), nothing, 4, 5, 0.95)
    alone = 0.025**0.2
    assert low.tolist() == pytest.approx([alone, 0.0])
    assert high.tolist() == pytest.approx([1.0, 1.0 - alone])
    best = pd.DataFrame({"z": -np.arange(30.0), "gold": np.arange(30) < 5})
    found = best.rankeval(details=True).bedroc().iloc[0]
    assert found["ci_low"] <= alone
    assert found["ci_high"] == 1.0
