"""What options change in a verdict: values from outside, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from rankeval_pd.nbest.measure_verdicts import pairs_tested
from rankeval_pd.nbest.rank_criteria import PAIRS, RankCriterion

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    rng = np.random.default_rng(14)
    gold = rng.random(300) < 0.25
    common = rng.normal(size=300)
    scores = {
        name: quality * gold + common + rng.normal(size=300)
        for name, quality in zip("wxyz", (0.1, 0.5, 0.9, 1.4), strict=True)
    }
    return pd.DataFrame({**scores, "gold": gold})


# ------------------------------------------------------------------------------ Ranks of measures


def test_the_family_is_that_of_each_n_or_of_all(candidates):
    """Bonferroni's factor: six pairs at each n, or at three n together."""
    for over, tests in (("n", 6), ("group", 18)):
        table = candidates.rankeval(details=True).summary(
            [20, 40, 80], adjust="bonferroni", adjust_over=over
        )
        known = table["p_value"].notna()
        assert known.sum() == 9
        expected = np.minimum(1.0, tests * table["p_value"][known])
        np.testing.assert_allclose(table["p_adjusted"][known], expected, rtol=1e-12)
        assert table.attrs["adjust_over"] == over
    plain = candidates.rankeval(details=True).summary([20], adjust=None)
    assert "adjust_over" not in plain.attrs
    assert "p_adjusted" not in plain
    assert "undecided" not in table
    assert "difference_low_alone" in table


def test_so_many_draws_as_a_pair_needs(candidates):
    """Six pairs need 119 draws, 6 / 120 being .05."""
    call = candidates.rankeval(details=True)
    assert "undecided" in call.measure_ranks(20, n_resamples=119)
    with pytest.raises(ValueError, match="n_resamples=118 cannot reach level"):
        call.measure_ranks(20, n_resamples=118)
    assert call.measure_ranks(kind="ap").attrs["n_resamples"] >= 9_999


def test_better_than_chance_is_scipys_tail_for_all_measures_and_sizes(candidates):
    n = [10, 20, 30, 60]
    table = candidates.rankeval(details=True).summary(n, adjust="holm")
    total, positive = len(candidates), candidates["gold"].sum()
    tp = (table["value"] * table["n"]).round()
    p = stats.hypergeom.sf(tp - 1, total, positive, table["n"])
    assert table["better_than_chance"].tolist() == (p * 16 <= 0.05).tolist()
    # the tables of the other corrections, and of more than tp, would differ
    for other in (p * 4, stats.hypergeom.sf(tp, total, positive, table["n"]) * 16):
        assert ((other <= 0.05) != (p * 16 <= 0.05)).any()


def test_a_pair_of_average_precisions_has_students_law(candidates):
    few = candidates.iloc[np.r_[np.flatnonzero(candidates["gold"])[:12], 40:200]]
    few = few.drop_duplicates().assign(gold=lambda x: x["gold"] & (x.index < 60))
    table = few.rankeval(details=True).summary().set_index("measure")
    best = table.index[0]
    pairs = few.rankeval(details=True).compare_area(best, kind="ap").set_index("measure_b")
    freedom = min(few["gold"].sum(), (~few["gold"]).sum()) - 1
    p = 2 * stats.t.sf((pairs["difference"] / pairs["se"]).abs(), freedom)
    np.testing.assert_allclose(table["p_value"][pairs.index], p, rtol=1e-10)


def test_the_pairs_behind_the_ranks(candidates):
    asked = RankCriterion.of([20, 40], None, "holm", None, 0.95, False, None)
    pairs = pairs_tested(candidates, asked, {})
    assert set(PAIRS) <= set(pairs)
    np.testing.assert_allclose(pairs["difference"], pairs["value_a"] - pairs["value_b"])
    values = candidates.rankeval.nbest_precision([20, 40]).set_index(["measure", "n"])["precision"]
    for row in pairs.itertuples():
        assert row.value_a == values[row.measure_a, row.n]


# ------------------------------------------------------------------------------- Early retrieval


def test_limits_are_the_outer_ones_with_pairs_at_both_ends(candidates):
    """By hand: a tied pair of both classes at either end, and Student's t on the logit."""
    few = candidates.iloc[np.r_[np.flatnonzero(candidates["gold"])[:6], 100:170]].drop_duplicates()
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


def test_a_missing_score_is_the_worst_from_either_side(candidates):
    holes = candidates.assign(z=candidates["z"].where(np.arange(300) % 7 > 0))
    filled = holes.assign(z=holes["z"].fillna(-99.0))
    for asked in ({"tpr": 0.6}, {"fpr": 0.3}):
        found, same = (
            frame.rankeval(measures="z", missing="last", details=True).partial_area(**asked)
            for frame in (holes, filled)
        )
        for name in ("area", "se"):  # the limits' added pairs stand before missing scores
            assert found[name].tolist() == same[name].tolist()
    found = candidates.rankeval.enrichment(0.1)
    assert found.columns.tolist()[:3] == ["measure", "share", "n"]


# ------------------------------------------------------------------------------ Two samples


def _placed(frame: pd.DataFrame) -> tuple[float, list[float], list[int]]:
    """Return the area, and the variance that either class gives it, with its size."""
    s, gold = frame["z"].to_numpy(), frame["gold"].to_numpy()
    wins = np.sign(s[gold][:, np.newaxis] - s[~gold]) / 2 + 0.5
    parts = [wins.mean(axis=1), wins.mean(axis=0)]
    return wins.mean(), [x.var(ddof=1) / x.size for x in parts], [x.size for x in parts]


def test_two_samples_have_the_normal_law_or_welchs_by_hand(candidates):
    """The model's variance with the normal law where it is larger, else DeLong's with Student's."""
    laws = set()
    for split, spread in [(60, 1.0), (150, 1.0), (190, 9.0), (100, 9.0)]:
        part = np.arange(300) < split
        wide = candidates["z"] * np.where(candidates["gold"], spread, 1.0)
        frame = candidates.assign(part=part, z=wide)
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
