"""Tables of one measure, of chance and of bands contradict neither themselves nor each other.

`bedroc`, `partial_area`, `enrichment`, the bands and `judged_difference` have no p-value: their
intervals hold what they are intervals of. `significant_ranges` stands in `test_one_verdict`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from tests.test_one_verdict import FAST, MANY, candidates

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
EDGE = 1e-9  # relative: a p-value on alpha may be rounded to either side


def drawn(seed: int, stream: int) -> tuple[np.random.Generator, pd.DataFrame, list[int], float]:
    """Return a table, the sizes of some of its lists, and a level."""
    rng = np.random.default_rng([seed, stream])
    df = candidates(rng)
    n = np.unique(rng.integers(1, len(df), int(rng.integers(1, 7)))).tolist()
    return rng, df, n, float(rng.choice([0.8, 0.95, 0.99]))


def check_dual(found: pd.DataFrame, p: pd.Series, level: float, null: float) -> None:
    """Assert that an interval excludes the null value where, and only where, p rejects it."""
    alpha, outside = 1 - level, (found["ci_low"] > null) | (found["ci_high"] < null)
    assert not (outside & (p > alpha * (1 + EDGE))).any(), found[outside].T
    assert not (~outside & (p < alpha * (1 - EDGE))).any(), found[~outside].T


def levels(level: float, p: float) -> list[float]:
    """Return this level, and two at which a test with this p-value just rejects, and just not."""
    return [level, *(1 - x * p for x in (1.001, 0.999) if 1e-6 < p < 0.99)]


def check_inside(found: pd.DataFrame, of: str, low: str = "ci_low", high: str = "ci_high") -> None:
    """Assert that the intervals hold what they are intervals of."""
    known = found[low].notna()
    inside = (found[low] - 1e-9 <= found[of]) & (found[of] <= found[high] + 1e-9)
    assert inside[known].all(), found[known & ~inside].T


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_areas_against_chance(seeds):
    for seed in seeds:
        rng, df, _, level = drawn(seed, 1)
        if rng.random() < 0.5:  # few of the smaller class
            small = df["gold"] == (df["gold"].sum() <= len(df) / 2)
            df = df.drop(df.index[small][int(rng.integers(2, 8)) :])
        asked: dict[str, Any] = {"measures": ["a", "b", "c"], "level": level, "details": True}
        asked |= [{}, {"by": "group"}, {"groups": "part"}][rng.integers(3)]
        df["part"] = rng.integers(0, int(rng.integers(2, 12)), len(df))
        for ci in ("newcombe", "delong", "logit"):
            p = df.rankeval.area(ci=ci, **asked)["p_value"]
            for near in levels(level, p.iloc[0]):
                found = df.rankeval.area(ci=ci, **{**asked, "level": near})
                check_dual(found[p.notna()], p.dropna(), near, 0.5)
                check_inside(found, "area")
            assert (found["chance"].dropna() == 0.5).all()
            untested = found[found["p_value"].isna() & found["ci_low"].notna()]
            assert (untested["se"] == 0).all()
            assert ci != "newcombe" or untested.empty
        found = df.rankeval.area("ap", **asked)
        assert found["p_value"].isna().all()
        check_inside(found, "area")


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_early_retrieval(seeds):
    for seed in seeds:
        _, df, n, level = drawn(seed, 2)
        call, asked = df.rankeval(measures=["a", "b", "c"]), {"level": level, "details": True}
        tables = {
            "value": [call.bedroc(float(n[0]), **asked)],
            "area": [call.partial_area(**x, **asked) for x in ({"fpr": 0.3}, {"tpr": 0.6})],
        }
        for of, found in ((of, x) for of, listed in tables.items() for x in listed):
            check_inside(found, of)
            assert "p_value" not in found
        whole = call.partial_area(fpr=1.0, **asked)
        assert_allclose(whole["area"], call.area(details=True)["area"], rtol=1e-12)
        rich, share = call.enrichment([x / len(df) for x in n], **asked), np.tile(n, 3) / len(df)
        recall = call.nbest_recall(n, **asked)
        check_inside(rich, "lift")
        for ours, theirs in (("lift", "recall"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
            most = np.inf
            if ours == "ci_high":  # no lift exceeds one over the prevalence
                positive = df["gold"].sum()
                others = len(df) - positive
                most = 1.0 / stats.beta.ppf(0.5 - 0.5 * level, positive, others + 1)
            assert_allclose(rich[ours], np.minimum(recall[theirs] / share, most), rtol=1e-11)
        assert_allclose(rich["lift"], call.random_test(n)["lift"], rtol=1e-12)


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_odds_ratios_and_the_test_of_the_same_regions(seeds):
    for seed in seeds:
        _, df, n, level = drawn(seed, 3)
        tested = df.rankeval.compare("a", "b", n, details=True)
        for near in levels(level, tested["p_value"].iloc[-1]):
            found = df.rankeval.odds_ratios("a", "b", n, level=near)
            check_dual(found, tested["p_value"], near, 1.0)
        check_inside(found[found["odds_ratio_mle"].notna()], "odds_ratio_mle")
        assert_array_equal(found["odds_ratio"], tested["odds_ratio"])
        known = found["odds_ratio_mle"].notna()
        side = np.sign(np.log(found["odds_ratio_mle"].where(known, 1.0).clip(1e-300)).round(9))
        assert (side == np.sign(tested["difference"]))[known].all()


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_chance_in_four_tables(seeds):
    for seed in seeds:
        rng, df, _, _ = drawn(seed, 4)
        alpha, n = float(rng.choice([0.01, 0.05, 0.2])), list(range(1, len(df)))
        call = df.rankeval(measures=["a", "b", "c"])
        found = call.random_test(n, adjust="envelope", details=True)
        p, count = found["p_value"], np.tile
        assert (found["p_strict"] <= found["p_mid"] * (1 + EDGE)).all()
        assert (found["p_mid"] <= p * (1 + EDGE)).all()
        assert (p <= found["p_adjusted"] * (1 + EDGE)).all()
        assert ((found["lift"] > 1) == (found["tp"] > found["expected"])).all()
        sure = p <= alpha * (1 + EDGE)
        assert (found["lift"][sure] > 1).all()
        bound = call.random_bound(alpha, n, details=True)
        assert (sure == (found["tp"] >= count(bound["critical"], 3))).all()
        envelope = call.random_envelope(alpha, n, details=True)["envelope"]
        beyond = found["p_adjusted"] <= alpha * (1 + EDGE)
        assert (beyond == (found["tp"] >= count(envelope, 3))).all()
        inside = np.zeros(len(found), dtype=bool)
        for run in call.crossovers(alpha, contiguous=1).itertuples():
            own = (found["measure"] == run.measure) & found["n"].between(run.n_first, run.n_last)
            assert found["tp"][own].iloc[0] == run.tp_first
            inside |= own.to_numpy()
        assert_array_equal(inside, sure)
        mean = call.random_test(n, details=True, ties="expected")
        assert (mean["p_strict"] <= mean["p_value"] * (1 + EDGE)).all()
        groups = df.rankeval(measures=["a", "b"], by="group").random_test(
            [1, 2], combine=True, details=True
        )
        assert (groups["p_strict"] <= groups["p_mid"] * (1 + EDGE)).all()
        assert (groups["p_mid"] <= groups["p_value"] * (1 + EDGE)).all()


@pytest.mark.parametrize("seeds", [range(4), MANY])
def test_bands(seeds):
    """A band of a difference is no interval of the swaps: it excludes 0 where they nearly do."""
    for seed in seeds:
        _, df, n, level = drawn(seed, 5)
        draws: dict[str, Any] = {"n_resamples": 1_999}
        band = df.rankeval.difference_band("a", "b", n, level=level, **draws)
        check_inside(band, "difference", "band_low", "band_high")
        tested = df.rankeval.compare(
            "a", "b", n, adjust="max-t", level=level, target="nbest", details=True, **draws
        )
        assert_allclose(band["difference"], tested["difference"], atol=1e-12)
        outside = (band["band_low"] > 0) | (band["band_high"] < 0)
        assert (tested["p_adjusted"][outside] <= 2 * (1 - level)).all(), tested[outside].T
        own = df.rankeval.precision_band(n, measures="a", level=level, **draws)
        alone = df.rankeval.nbest_precision(
            n, measures="a", level=level, target="nbest", details=True
        )
        check_inside(own, "precision", "band_low", "band_high")
        assert (own["band_low"] <= alone["ci_low"] + 1e-9).all()
        assert (own["band_high"] >= alone["ci_high"] - 1e-9).all()


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_orders_of_ties(seeds):
    for seed in seeds:
        _, df, n, _ = drawn(seed, 6)
        found = df.rankeval.tie_sensitivity("a", "b", n, n_keys=6)
        tested = df.rankeval.compare("a", "b", n, details=True)
        low, middle, high = (found[f"p_{x}"] for x in ("min", "median", "max"))
        for smaller, larger in ((low, middle), (middle, high), (low, tested["p_value"])):
            assert (smaller <= larger * (1 + EDGE)).all()
        assert (tested["p_value"] <= high * (1 + EDGE)).all()
        assert_array_equal(found["cuts_tie"], tested["cuts_tie"])
        assert_allclose(low[~found["cuts_tie"]], high[~found["cuts_tie"]], rtol=1e-12)


@pytest.mark.parametrize("seeds", [FAST, MANY])
def test_differences_of_lists_judged_in_part(seeds):
    for seed in seeds:
        rng, df, n, level = drawn(seed, 7)
        truth = df.rankeval.compare("a", "b", n, details=True)
        judged = rng.random(len(df)) < rng.uniform(0.2, 0.9)
        judged[df.groupby("gold").head(1).index] = True
        partly = df.assign(gold=df["gold"].astype(float).where(judged))
        found = partly.rankeval.judged_difference("a", "b", n, level=level, details=True)
        bounds = partly.rankeval.judged_difference("a", "b", n, unjudged="bounds", details=True)
        check_inside(found[found["difference"].notna()], "difference")
        for table in (found, bounds):
            assert (table["n_judged"] + table["n_unjudged"] == 2 * table["n_only"]).all()
            assert "p_value" not in table
        assert (bounds["ci_low"] <= truth["difference"] + 1e-12).all()
        assert (truth["difference"] <= bounds["ci_high"] + 1e-12).all()
        known = found["ci_low"].notna()
        assert (found["ci_low"] >= bounds["ci_low"] - 1e-9)[known].all()
        assert (found["ci_high"] <= bounds["ci_high"] + 1e-9)[known].all()
        every = df.rankeval.judged_difference("a", "b", n, level=level, details=True)
        for name in ("difference", "ci_low", "ci_high"):
            assert_allclose(every[name], truth["difference"], atol=1e-12)
