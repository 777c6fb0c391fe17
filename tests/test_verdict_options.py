"""What options change in a verdict: values from outside, and by hand."""

from __future__ import annotations

import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import rankeval_pd
from rankeval_pd import in_words
from rankeval_pd.judging.annotation import (
    _TEETH,
    _bisected_sample,
    _sample_sizes,
    _shares_of_regions,
    _smallest_sample,
    _State,
)
from rankeval_pd.lists.measure_ranks import PAIRS, pairs_tested, rank_options
from rankeval_pd.stats import areas as early
from rankeval_pd.stats.ranking import Ranking
from rankeval_pd.words import alpha_of, join, least_p, p_text, unit_of
from tests.questions import noted

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
    assert {"difference_low_alone", "letters"} <= {*table}
    assert "letters" not in candidates.rankeval(details=True).summary([20], baseline="w")


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
    asked = rank_options([20, 40], None, "holm", None, 0.95)
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


def test_limits_of_two_average_precisions_hold_those_of_each(candidates):
    """Zou and Donner's, of samples with much the same number of positives."""
    for split in (130, 134, 142):
        parts = candidates.assign(part=np.arange(300) < split)
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


# ------------------------------------------------------------------------------ Words, by hand


def _compared(**columns: Any) -> pd.DataFrame:
    size = max(len(x) for x in columns.values() if isinstance(x, list))
    frame = pd.DataFrame({"measure_a": "a", "measure_b": [f"b{k}" for k in range(size)], "n": 10})
    frame = frame.assign(**columns)
    frame.attrs = {"method": "compare", "alpha": 0.05, "level": 0.95}
    return frame


def test_a_p_value_on_the_level_is_significant():
    one = _compared(difference=[0.2], ci_low=[0.0], ci_high=[0.4], p_value=[0.05])
    told = in_words(one)
    assert "p = 0.050" in told
    assert "The difference is significant at the 5% level." in told
    assert told.endswith("because the interval is more conservative than the test.")
    many = _compared(
        difference=[0.1, 0.2, -0.3, *[0.0] * 6], p_value=[0.05, 0.2, np.nan, *[1.0] * 6]
    )
    told = in_words(many)
    assert told.startswith("Of 8 comparisons, 1 is significant at the 5% level (unadjusted).")
    assert "The largest difference is between a and b1: " in told
    many["p_value"] = many["p_value"].fillna(0.5)
    told = in_words(many)
    assert "Of 9 comparisons" in told
    assert "between a and b2: at n = 10, the precision is 30.0 points higher for b2 than" in told


def test_sides_of_one_sided_comparisons():
    row = {"difference": [-0.2], "ci_low": [-0.31], "ci_high": [0.12], "p_value": [0.3]}
    for side, limit in (("greater", "at least −31"), ("less", "at most 12")):
        frame = _compared(**row)
        frame.attrs["alternative"] = side
        told = in_words(frame)
        assert "the precision is 20 points lower for a than for b0" in told
        assert f"one-sided 95% limit: {limit} points" in told
    frame.attrs |= {"alternative": "greater", "metric": "mean", "higher_is_better": False}
    lower = frame.rename(columns={"measure_a": "system_a", "measure_b": "system_b"})
    lower = lower.rename(columns={"difference": "gain"})
    lower.attrs = frame.attrs
    assert "the mean score is 0.20 higher for a than for b0" in in_words(lower)


def test_ties_and_single_sizes():
    table = pd.DataFrame({
        "measure": ["a", "b"], "n": 10, "value": [0.4, 0.3], "ci_low": 0.1, "ci_high": 0.6,
        "rank_low": 1, "rank_high": 2, "letters": "a", "tied": [1, 0],
        "better_than_chance": [True, False],
    })  # fmt: skip
    told = in_words(noted(table, "summary"))
    assert "The list of a ends inside a tie: 1 candidate with the last score is excluded." in told
    assert "b is not shown to be better than chance." in told
    ranges = pd.DataFrame({
        "measure_a": "a", "measure_b": "b", "better": ["b", "a"], "n_first": [3, 5],
        "n_last": [3, 7], "n_tests": [1, 3], "p_max": [0.01, 0.0004],
    })  # fmt: skip
    first, second = in_words(noted(ranges, "significant_ranges")).split("\n\n")
    assert first.startswith("b is significantly better than a at n = 3 (largest p = 0.010;")
    assert second.startswith("a is significantly better than b at all 3 tested sizes from n = 5 to")


def test_with_a_baseline_no_test_of_the_baseline_is_none_of_the_best():
    table = pd.DataFrame({
        "measure": ["a", "b", "c"], "value": [0.5, 0.4, 0.1], "ci_low": 0.1, "ci_high": 0.6,
        "rank_low": [1, 1, 3], "rank_high": [2, 2, 3], "difference": [0.1, 0.0, -0.3],
        "difference_low": [-0.1, 0.0, -0.5], "difference_high": [0.3, 0.0, -0.1],
        "p_value": [0.4, np.nan, 0.05],
    })  # fmt: skip
    noted(table, "summary", baseline="b", kind="ap", level=0.95, alpha=0.05)
    told = in_words(table)
    assert "It does not differ significantly from b (unadjusted tests)." in told
    assert "It is significantly better than c." in told
    assert "c is significantly lower than b, by 0.30 (95% interval 0.10 to 0.50, p = 0.050)" in told
    assert "a does not differ significantly from b: it is 0.10 higher (95% interval −0.10" in told
    del table["p_value"]
    del table["rank_low"]
    told = in_words(table)
    assert "a is 0.10 higher than b (95% interval −0.10 to 0.30)." in told
    assert "signific" not in told


def _rows(count: int) -> pd.DataFrame:
    rows = pd.DataFrame({
        "measure": ["a"] * (count - 3) + ["b"] * 3, "n": range(1, count + 1), "tp": 1,
        "expected": 0.5, "lift": 2.0, "p_value": 0.005,
    })  # fmt: skip
    return noted(rows, "random_test")


def test_up_to_eight_rows_have_a_sentence_each():
    told = in_words(_rows(8)).split("\n\n")
    assert len(told) == 9
    assert told[0] == (
        "At n = 1, a has 1 true positive, 2.00 times the 0.50 expected by chance (p = 0.005)."
    )
    assert told[-1] == "The p-values are unadjusted."
    told = in_words(_rows(9)).split("\n\n")
    assert [x.split(",")[0] for x in told[:4]] == [f"At n = {n}" for n in (1, 6, 7, 9)]
    assert told[4] == "The table has 5 more rows."
    assert in_words(_rows(8).iloc[:1]).endswith("(p = 0.005).")
    bins = pd.DataFrame({"p_low": [0.0, 0.01], "p_high": [0.01, 1.0], "n_pairs": [0, 4],
                         "agreement": [np.nan, 0.75], "expected_agreement": 0.8})  # fmt: skip
    assert in_words(noted(bins, "calibration")).startswith(
        "Of 4 pairs with p between 0.01 and 1, 75.0% keep the sign"
    )


@pytest.mark.parametrize(
    ("p", "asked", "written"),
    [
        (0.0009999, {}, "p < 0.001"),
        (0.001, {}, "p = 0.001"),
        (0.0094, {}, "p = 0.009"),
        (0.0512, {}, "p = 0.051"),
        (0.0996, {}, "p = 0.100"),
        (0.1, {}, "p = 0.10"),
        (0.05, {}, "p = 0.050"),
        (0.0501, {}, "p = 0.0501"),
        (0.0499, {}, "p = 0.050"),
        (0.2049, {"alpha": 0.2}, "p = 0.205"),
        (0.9951, {}, "p > 0.99"),
        (1.0, {}, "p = 1.00"),
        (1 / 5_000, {"least": 1 / 5_000}, "p ≤ 0.0002"),
        (2 / 5_000, {"least": 1 / 5_000}, "p < 0.001"),
        (1 / 850, {"least": 1 / 850}, "p ≤ 0.0012"),
        (1 / 1_000, {"least": 1 / 1_000}, "p ≤ 0.001"),
    ],
)
def test_p_values_as_journals_print_them(p, asked, written):
    assert p_text(p, **asked) == written


def test_the_least_p_value_names_and_decimals():
    assert least_p({"n_resamples": 999, "adjust": "max-t"}) == 1 / 1_000
    assert least_p({"n_resamples": 999, "event": "wild"}) == 1 / 1_000
    assert least_p({"n_resamples": 999, "adjust": "holm"}) == 0.0
    assert join("abcdef") == "a, b, c, d, e, and f"
    assert join("abcdefg") == "7 others"
    assert (join("ab", "or"), join("abc", "or")) == ("a or b", "a, b, or c")
    assert alpha_of({"level": 0.99}) == pytest.approx(0.01)
    # a width of .2 leaves decimals that are worth .005 or more
    assert unit_of([0.4567], [0.2], percent=False).decimals == 3
    assert unit_of([0.4567], [0.4], percent=False).decimals == 2
    assert unit_of([0.4567], [0.4], percent=True).decimals == 0
    assert unit_of([0.4567], [], percent=True).decimals == 1


# -------------------------------------------------------------------- Kernels of early retrieval


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


# ------------------------------------------------------------------------------------- Plans


def test_judgements_are_spread_evenly_beside_those_there_are():
    """Of two regions of 20: none is taken back, and none is larger than its region."""
    for more, judged, wanted in (
        (0, [9, 1], (9, 1)), (4, [9, 1], (9, 5)), (12, [9, 1], (11, 11)), (11, [9, 1], (11, 10)),
        (0, [1, 9], (1, 9)), (4, [1, 9], (5, 9)), (30, [0, 0], (15, 15)), (39, [1, 0], (20, 20)),
    ):  # fmt: skip
        assert _sample_sizes(more, judged, 20) == wanted


def test_a_p_value_of_one_in_twenty_is_significant():
    """Three true candidates against three others: Fisher's p is 1/20 one-sided, 1/10 two-sided."""
    ranks = np.arange(6.0)
    df = pd.DataFrame({"a": -ranks, "b": ranks, "gold": ranks < 3})
    for asked in ({"alternative": "greater"}, {"alpha": 0.1, "level": 0.9}):
        row = df.rankeval(details=True).compare("a", "b", 3, **asked)
        assert row.loc[0, "significant"]
        assert row.loc[0, "ci_low"] > 0.0
        assert re.search(r"p = 0\.(050|10);? ?.*The difference is significant", in_words(row))
    state = _State(3, (0, 0), (0, 0), (0.99, 0.01))
    assert (state.power(0.1, 6), state.power(0.0999, 6)) == (1.0, 0.0)


def test_a_plan_is_the_first_of_the_teeth():
    """Among all numbers of judgments near it, by trying each."""
    later = 0
    for shares in ((0.5, 0.2), (0.6, 0.3), (0.7, 0.35)):
        reached = partial(_State(60, (0, 0), (0, 0), shares).power, 0.05)
        found, halved = _smallest_sample(reached, 0.8, 120), _bisected_sample(reached, 0.8, 120)
        assert reached(found) >= 0.8
        assert all(reached(more) < 0.8 for more in range(max(halved - _TEETH, 0), found))
        later += found < halved
    assert later


def test_lists_to_plan_with_share_candidates_of_their_mean_precision():
    """(.4 - .5 x .35) / .5 and (.3 - .5 x .35) / .5; the power by SciPy's laws and Fisher test."""
    found = rankeval_pd.needed_candidates(0.4, 0.3, 0.5, 60).iloc[0]
    assert found["n_judgements"] == 60
    count = np.arange(31)
    law = np.outer(stats.binom.pmf(count, 30, 0.45), stats.binom.pmf(count, 30, 0.25))
    rejected = [
        [stats.fisher_exact([[i, 30 - i], [j, 30 - j]]).pvalue <= 0.05 for j in count]
        for i in count
    ]
    assert found["power"] == pytest.approx((law * rejected).sum(), abs=0.02)
    assert _shares_of_regions(0.6, 0.2, 0.2) == pytest.approx((0.65, 0.15))
    high = rankeval_pd.needed_candidates(0.9, 0.5, 0.6, 50).iloc[0]  # those of both lists: 0.83
    assert high["power"] == pytest.approx(1.0, abs=1e-3)


def test_a_sheet_has_the_odd_one_of_the_first_list(candidates):
    region = candidates.rankeval.difference_region("w", "z", 40)
    blank = candidates.assign(gold=np.nan)
    sheet = rankeval_pd.annotation_sheet(blank, "w", "z", 40, size=5)
    assert region.loc[sheet.index, "list"].value_counts().to_dict() == {"a": 3, "b": 2}


def test_plans_warn_only_of_what_is_left(candidates):
    """Not where all is judged and the test finds nothing, nor where the power is just reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged = rankeval_pd.plan_annotation(candidates, "w", "x", 40).iloc[0]
        assert (judged["n_more"], judged["power"]) == (0, 0.0)
        blank, shares = candidates.assign(gold=np.nan), (0.9, 0.1)
        plan = rankeval_pd.plan_annotation(blank, "w", "z", 40, precisions=shares).iloc[0]
        again = rankeval_pd.plan_annotation(
            blank, "w", "z", 40, precisions=shares, power=float(plan["power"])
        ).iloc[0]
        assert again["power"] >= plan["power"]


# ------------------------------------------------------------------------- Sets and averages


def test_recall_of_sets_is_among_the_candidates_that_both_score(candidates):
    holes = candidates.assign(z=candidates["z"].where(np.arange(300) % 3 > 0))
    row = (
        holes.rankeval(missing="drop", details=True)
        .compare("y", "z", threshold={"y": 0.5, "z": 0.5})
        .iloc[0]
    )
    both = holes.dropna()
    for side, name in (("a", "y"), ("b", "z")):
        accepted = both[both[name] >= 0.5]["gold"]
        assert row[f"recall_{side}"] == pytest.approx(accepted.sum() / both["gold"].sum())


def test_averages_of_lifts_and_of_recalls_by_hand():
    """Three queries of 10, 20 and 30 candidates with 5, 4 and 0 positives."""
    parts = []
    for q, (size, positive) in enumerate([(10, 5), (20, 4), (30, 0)]):
        gold = np.zeros(size, dtype=bool)
        gold[: 2 * positive : 2] = True
        parts.append(pd.DataFrame({"q": q, "a": -np.arange(size), "gold": gold}))
    call = pd.concat(parts, ignore_index=True).rankeval(by="q", details=True)
    tp = np.array([2.0, 2.0, 0.0])  # among the first four
    micro, macro = (call.nbest_precision(4, average=x).iloc[0] for x in ("micro", "macro"))
    assert micro["lift"] == pytest.approx(4.0 / (4 * 5 / 10 + 4 * 4 / 20))
    assert macro["lift"] == pytest.approx(np.mean([tp[0] / 2.0, tp[1] / 0.8]))
    assert micro["recall"] == pytest.approx(4 / 9)
    assert macro["recall"] == pytest.approx((2 / 5 + 2 / 4) / 2)
    assert micro["precision"] == macro["precision"] == pytest.approx(4 / 12)
    assert (micro["n_queries"], micro["n_missing"], micro["tp"]) == (3, 0, 4)
    assert call.nbest_precision(15, average="macro").loc[0, "n_missing"] == 1
    area = call.area("ap", average="micro").iloc[0]  # weights: five and four positives
    each = call.area("ap").dropna(subset="area")
    for name in ("area", "chance"):
        assert area[name] == pytest.approx(np.average(each[name], weights=[5, 4]))
