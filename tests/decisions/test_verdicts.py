"""No row contradicts itself: intervals, p-values and names agree with what decides."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import rankeval_pd
from rankeval_pd import in_words
from rankeval_pd.decisions import SWAPPED
from rankeval_pd.stats.differences import corrected_score
from rankeval_pd.stats.items import ADJUSTMENTS
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.decisions.random_tables import ALTERNATIVES, SEEDS, check, options, random_candidates

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
REFERENCE = Path(__file__).parents[1] / "simulations"
EDGE = 1e-9  # relative: a p-value on alpha may be rounded to either side


# ----------------------------------------------------------------------- Interval and test of lists


def _tables(size: int) -> tuple[np.ndarray, ...]:
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    return a, np.full(a.shape, size), b, np.full(a.shape, size)


@pytest.mark.parametrize("size", [2, 12, 5])
def test_least_coverage_by_enumeration(size):
    grid = np.array([0.001, 0.02, 0.1, 0.3, 0.45, 0.5, 0.62, 0.8, 0.97, 0.999])
    tables = _tables(size)
    p = fisher_test(*tables, "two-sided").p_value
    low, high = agree_with_test(*corrected_score(*tables, 0.95), p, "two-sided", 0.95)
    for a, b in itertools.product(grid, grid):
        law = np.outer(*(stats.binom.pmf(range(size + 1), size, share) for share in (a, b)))
        held = (low <= a - b + 1e-12) & (a - b - 1e-12 <= high)
        assert law[held].sum() >= 0.95


def test_the_committed_enumeration():
    table = pd.read_csv(REFERENCE / "differences.csv")
    assert (table["least"] >= table["level"]).all()
    assert table[["without_0_not_rejected", "with_0_rejected"]].eq(0).all(axis=None)


def test_a_p_value_of_one_in_twenty_is_significant():
    """Three true candidates against three others: Fisher's p is 1/20 one-sided, 1/10 two-sided."""
    ranks = np.arange(6.0)
    df = pd.DataFrame({"a": -ranks, "b": ranks, "gold": ranks < 3})
    for asked in ({"alternative": "greater"}, {"alpha": 0.1, "level": 0.9}):
        row = df.rankeval(details=True).compare("a", "b", 3, **asked)
        assert row.loc[0, "significant"]
        assert row.loc[0, "ci_low"] > 0.0
        assert re.search(r"p = 0\.(050|10);? ?.*The difference is significant", in_words(row))


# ------------------------------------------------------------------------------- Monte-Carlo errors


def test_error_of_the_swaps():
    df = rankeval_pd.datasets.simulate_candidates(400)
    found = df.rankeval.compare("good", "fair", range(20, 200, 20), adjust="max-t", n_resamples=999)
    behind = ["tie_decides", "p_stderr", "leaning", "ci_low_alone", "ci_high_alone"]
    assert list(found.columns[-5:]) == behind
    p = found["p_adjusted"]
    np.testing.assert_allclose(found["p_stderr"], np.sqrt(p * (1 - p) / 999), rtol=1e-12)
    assert "p_stderr" not in df.rankeval.compare("good", "fair", 20)


def test_draws_have_a_stream_of_their_own():
    roles = rankeval_pd.roles.Roles(rng=3)
    assert roles.swaps != roles.seed
    assert roles.swaps == rankeval_pd.roles.Roles(rng=3).swaps
    assert roles.swaps != rankeval_pd.roles.Roles(rng=4).swaps


# --------------------------------------------------------------------- Random tables of comparisons


@SEEDS
def test_rows_of_comparisons_agree_with_themselves(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        df, asked = random_candidates(rng), options(rng, swapped=True)
        asked["alpha"] = round(1 - asked["level"], 12)
        kind = rng.choice(["n", "threshold", "by", "combine", "macro", "micro", "groups"])
        if kind == "threshold":
            asked["thresholds"] = [0.0, 1.0]
            if asked["adjust"] in SWAPPED:
                asked["adjust"] = "holm"
                del asked["n_resamples"]
        elif kind in ("combine", "macro", "micro"):
            asked |= {"combine": True} if kind == "combine" else {"average": str(kind)}
            if asked["adjust"] in SWAPPED:
                asked["adjust"] = "by"
                del asked["n_resamples"]
        else:
            asked["target"] = str(rng.choice(["region", "nbest"]))
            asked["of"] = str(rng.choice(["precision", "recall", "lift"]))
            if kind == "n" and asked["adjust"] not in SWAPPED:
                asked["test"] = str(rng.choice(["fisher", "midp", "mcnemar"]))
        if asked["adjust"] is not None:
            asked["adjust_over"] = str(rng.choice(["all", "n", "group"]))
        roles: dict[str, Any] = {"measures": ["a", "b", "c"]}
        if kind == "groups":
            roles["groups"] = "group"
        elif kind in ("by", "combine", "macro", "micro"):
            roles["by"] = "group"
        n, least = np.unique(rng.integers(1, 9, 3)).tolist(), df.groupby("group").size().min()
        n = n if roles.get("by") is None else [x for x in n if x <= least] or [1]
        call = df.rankeval(**roles)
        if kind == "threshold":
            found = call.compare_thresholds(**asked)
        else:
            found = call.compare(n=n, **asked)
        check(found, asked, ("difference", "ci_low", "ci_high"))


@SEEDS
def test_rows_of_areas_agree_with_themselves(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        df, asked = random_candidates(rng), options(rng, swapped=False)
        asked["kind"] = str(rng.choice(["roc", "ap"]))
        roles: dict[str, Any] = {"measures": ["a", "b", "c"]}
        roles |= {"by": "group"} if rng.random() < 0.3 else {}
        df.loc[df.groupby("group").head(2).index, "gold"] = True
        over = {"adjust_over": str(rng.choice(["all", "group"]))} if asked["adjust"] else {}
        test = {"test": "delong"} if asked["kind"] == "roc" and rng.random() < 0.3 else {}
        found = df.rankeval.compare_area(**asked, **roles, **over, **test)
        check(found, asked, ("difference", "ci_low", "ci_high"))
        if df["group"].max() > 0:
            del asked["kind"]
            found = df.rankeval.unpaired_area(measures=["a", "b"], by="group", **asked)
            check(found, asked, ("difference", "ci_low", "ci_high"))


@SEEDS
def test_ranges_agree_with_the_comparisons(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        df = random_candidates(rng).drop(columns="group")
        alpha, side = float(rng.choice([0.01, 0.05, 0.2])), str(rng.choice(ALTERNATIVES))
        n, drawn = range(2, int(rng.integers(6, 20))), {"n_resamples": 999, "rng": seed}
        adjust = [None, *ADJUSTMENTS, *SWAPPED][rng.integers(7)]
        ask: dict[str, Any] = {"alpha": alpha, "adjust": adjust, "alternative": side}
        ask |= drawn if adjust in SWAPPED else {}
        ranges = df.rankeval.significant_ranges("a", "b", n, **ask)
        rows = df.rankeval.compare("a", "b", n, level=1 - alpha, **ask)
        inside = np.zeros(len(rows), dtype=bool)
        for row in ranges.itertuples():
            own = rows["n"].between(row.n_first, row.n_last)
            assert (rows.loc[own, "better"] == row.better).all(), (seed, ask)
            p = rows.loc[own, "p_value" if adjust is None else "p_adjusted"]
            assert row.p_max == pytest.approx(p.max(), rel=1e-12)
            inside |= own.to_numpy()
        assert rows.loc[~inside, "better"].isna().all(), (seed, ask)


# --------------------------------------------- Random tables of one measure, of chance and of bands


def drawn(seed: int, stream: int) -> tuple[np.random.Generator, pd.DataFrame, list[int], float]:
    """Return a table, the sizes of some of its lists, and a level."""
    rng = np.random.default_rng([seed, stream])
    df = random_candidates(rng)
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


@SEEDS
def test_an_area_excludes_one_half_where_it_is_tested_apart_from_it(seeds):
    for seed in seeds:
        rng, df, _, level = drawn(seed, 1)
        if rng.random() < 0.5:  # few of the smaller class
            small = df["gold"] == (df["gold"].sum() <= len(df) / 2)
            df = df.drop(df.index[small][int(rng.integers(2, 8)) :])
        asked: dict[str, Any] = {"measures": ["a", "b", "c"], "level": level, "details": True}
        asked |= [{}, {"by": "group"}, {"groups": "part"}][rng.integers(3)]
        df["part"] = rng.integers(0, int(rng.integers(2, 12)), len(df))
        for ci in ("newcombe", "delong"):
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


@SEEDS
def test_four_tables_of_chance_agree(seeds):
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
        envelope = call.random_bound(alpha, n, simultaneous=True, details=True)["critical"]
        beyond = found["p_adjusted"] <= alpha * (1 + EDGE)
        assert (beyond == (found["tp"] >= count(envelope, 3))).all()
        for run in call.crossovers(alpha).itertuples():
            own = (found["measure"] == run.measure) & found["n"].between(run.n_first, run.n_last)
            assert found["tp"][own].iloc[0] == run.tp_first
            assert sure[own].all()
        groups = df.rankeval(measures=["a", "b"], by="group").random_test(
            [1, 2], combine=True, details=True
        )
        assert (groups["p_strict"] <= groups["p_mid"] * (1 + EDGE)).all()
        assert (groups["p_mid"] <= groups["p_value"] * (1 + EDGE)).all()


@SEEDS
def test_bands_agree_with_intervals_and_swaps(seeds):
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


@SEEDS
def test_p_values_over_orders_of_ties_hold_that_of_compare(seeds):
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
