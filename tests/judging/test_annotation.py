"""Plans, pilots and sheets of judgments, and annotators who agree: SciPy, published examples."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.judging.annotation import (
    _TEETH,
    _bisected_sample,
    _sample_sizes,
    _shares_of_regions,
    _smallest_sample,
    _State,
)
from rankeval_pd.stats.clusters import fleiss_kappa
from rankeval_pd.stats.two_by_two import Pilot, drawn_laws, fisher_power, fisher_test
from tests.conftest import examples
from tests.judging.conftest import THREE, along_annotators, voted

QUIET = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

# ---------------------------------------------------------------------------------------- plans


@pytest.mark.full
def test_plan_is_kept(whole):
    """The power that was planned, simulated anew from sheets of that size."""
    region = whole.rankeval.difference_region("good", "fair", 100)
    shares = tuple(region.groupby("list")["gold"].mean())
    ask = whole.assign(gold=np.nan).rankeval.plan_annotation
    plan = ask("good", "fair", 100, precisions=shares).iloc[0]
    assert plan["n_region"] == len(region)
    assert plan["region_share"] == len(region) / (100 + len(region) / 2)
    rng, more = np.random.default_rng(5), int(plan["n_more"])
    cells = []
    for side, judged in (("a", more - more // 2), ("b", more // 2)):
        gold = region.loc[region["list"] == side, "gold"]
        cells += [rng.hypergeometric(gold.sum(), (~gold).sum(), judged, 10_000), judged]
    hits = (fisher_test(*cells, "two-sided").p_value <= 0.05).mean()
    assert hits == pytest.approx(0.8, abs=0.03)
    assert plan["power"] == pytest.approx(hits, abs=0.02)


def test_the_power_of_a_plan_is_exact():
    """All samples of two small regions, a start judged already, by SciPy's laws and Fisher test."""
    found = pd.Series(
        {"n_judged_a": 3, "n_judged_b": 2, "tp_judged_a": 2, "tp_judged_b": 0, "n_only": 14}
    )
    state = _State.of(found, (10 / 14, 2 / 14))
    new_a, new_b = 5, 6
    total = 0.0
    for i in range(new_a + 1):
        for j in range(new_b + 1):
            law = stats.hypergeom.pmf(i, 11, 8, new_a) * stats.hypergeom.pmf(j, 12, 2, new_b)
            table = [[2 + i, 6 - i], [j, 8 - j]]
            total += law * (stats.fisher_exact(table).pvalue <= 0.05) if law else 0.0
    assert state.power(0.05, new_a + new_b) == pytest.approx(total, abs=1e-7)
    estimated = _State.of(found, None).precisions
    assert estimated == pytest.approx(((2 + 11 * 2.5 / 4) / 14, (12 * 0.5 / 3) / 14))


def test_plans_where_nothing_is_left(whole):
    plan = whole.rankeval.plan_annotation("good", "fair", 100).iloc[0]
    assert (plan["n_more"], plan["power"]) == (0, 1.0)
    region = whole.rankeval.difference_region("good", "fair", 100)
    shares = region.groupby("list")["gold"].mean()
    assert [plan["precision_a"], plan["precision_b"]] == pytest.approx(shares.tolist())
    with pytest.warns(rankeval_pd.RankevalWarning, match="both lists contain the same candidates"):
        same = whole.assign(again=whole["good"]).rankeval.plan_annotation("good", "again", 100)
    assert (same["n_region"][0], same["n_more"][0], same["power"][0]) == (0, 0, 0.0)


def test_plans_that_show_nothing_say_so(whole):
    """With 4 and 4 judged, not even all against none is rare: p = 1/35 at an alpha of .01."""
    plan = whole.assign(gold=np.nan).rankeval.plan_annotation
    ask = {"precisions": (0.9, 0.1), "alpha": 0.01}
    few = "power is 0: no outcome of 8 additional .*Use longer lists"
    with pytest.warns(rankeval_pd.RankevalWarning, match=few):
        assert plan("good", "fair", 100, budget=8, **ask)["power"][0] == 0.0
    assert plan("good", "fair", 100, budget=12, **ask)["power"][0] > 0
    out_of_reach = "power=0.8 is out of reach: judging all 126 .* gives a power of 0. Use longer"
    with pytest.warns(rankeval_pd.RankevalWarning, match=out_of_reach):
        row = plan("good", "fair", 100, precisions=(0.4, 0.3)).iloc[0]
    # 25 against 19 of 63 each, whoever they are
    assert (row["power"], row["n_more"]) == (0, 126)


def test_plans_of_groups(partly):
    both = pd.concat([partly, partly.iloc[:500]], keys=["all", "half"], names=["part", "item"])
    ask = {"precisions": (0.6, 0.2), "budget": 20}
    table = both.rankeval.plan_annotation("good", "fair", 100, by="part", **ask)
    alone = partly.rankeval.plan_annotation("good", "fair", 100, **ask)
    assert table["part"].tolist() == ["all", "half"]
    pd.testing.assert_frame_equal(table.iloc[:1].drop(columns="part"), alone)


def test_published_figures_to_plan_with():
    n = rankeval_pd.needed_candidates(0.6, 0.2, 0.5)["n"][0]
    of, fewer = (rankeval_pd.needed_candidates(0.6, 0.2, 0.5, n=int(x)) for x in (n, 0.8 * n))
    assert of["power"][0] >= 0.8 > fewer["power"][0]
    # without overlap: two binomial samples, against all tables
    n, p = 40, (0.5, 0.2)
    law = [stats.binom.pmf(np.arange(n + 1), n, x) for x in p]
    exact = sum(
        law[0][a] * law[1][b]
        for a in range(n + 1)
        for b in range(n + 1)
        if law[0][a] * law[1][b] > 1e-6
        and stats.fisher_exact([[a, n - a], [b, n - b]]).pvalue <= 0.05
    )
    assert rankeval_pd.needed_candidates(*p, 0.0, n=n)["power"][0] == pytest.approx(exact, abs=0.02)
    with pytest.raises(ValueError, match="are equal"):
        rankeval_pd.needed_candidates(0.4, 0.4, 0.5)
    with pytest.raises(ValueError, match="cannot have precisions"):
        rankeval_pd.needed_candidates(0.9, 0.1, 0.5)


def test_judgements_are_spread_evenly_beside_those_there_are():
    """Of two regions of 20: none is taken back, and none is larger than its region."""
    for more, judged, wanted in (
        (0, [9, 1], (9, 1)), (4, [9, 1], (9, 5)), (12, [9, 1], (11, 11)), (11, [9, 1], (11, 10)),
        (0, [1, 9], (1, 9)), (4, [1, 9], (5, 9)), (30, [0, 0], (15, 15)), (39, [1, 0], (20, 20)),
    ):  # fmt: skip
        assert _sample_sizes(more, judged, 20) == wanted


def test_a_plan_at_alpha_rejects():
    """Three true candidates against three others: Fisher's p is 1/10."""
    state = _State(3, (0, 0), (0, 0), (0.99, 0.01))
    assert (state.power(0.1, 6), state.power(0.0999, 6)) == (1.0, 0.0)


@QUIET
@pytest.mark.full
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
    """(.6 - .2 x .4) / .8 and (.2 - .2 x .4) / .8."""
    assert _shares_of_regions(0.6, 0.2, 0.2) == pytest.approx((0.65, 0.15))
    high = rankeval_pd.needed_candidates(0.9, 0.5, 0.6, 50).iloc[0]  # those of both lists: 0.83
    assert (high["n_judgements"], high["power"]) == (40, pytest.approx(1.0, abs=1e-3))


def test_plans_warn_only_of_what_is_left(four_measures):
    """Not where all is judged and the test finds nothing, nor where the power is just reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged = rankeval_pd.plan_annotation(four_measures, "w", "x", 40).iloc[0]
        assert (judged["n_more"], judged["power"]) == (0, 0.0)
        blank, shares = four_measures.assign(gold=np.nan), (0.9, 0.1)
        plan = rankeval_pd.plan_annotation(blank, "w", "z", 40, precisions=shares).iloc[0]
        again = rankeval_pd.plan_annotation(
            blank, "w", "z", 40, precisions=shares, power=float(plan["power"])
        ).iloc[0]
        assert again["power"] >= plan["power"]


# ------------------------------------------------------------------------- plans from a pilot


def _pilot(tp_a: int, tp_b: int, seen: int = 10, size: int = 200, *, top: bool = False):
    """Return two lists that share nothing, a few of each judged at random or from the top."""
    rng = np.random.default_rng(3)
    gold = np.full((2, size), np.nan)
    for side, tp in enumerate((tp_a, tp_b)):
        where = np.arange(seen)[:: 1 - 2 * side] if top else rng.permutation(size)[:seen]
        gold[side, size - 1 - where if top and side else where] = np.arange(seen) < tp
    score = np.sqrt(np.arange(2.0 * size))
    return pd.DataFrame({"a": -score, "b": score, "gold": gold.ravel()})


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 60))
def test_new_true_positives_are_beta_binomial(tp, fp, n):
    wanted = stats.betabinom.pmf(np.arange(n + 1), n, tp + 0.5, fp + 0.5)
    assert Pilot(tp, tp + fp).law(n) == pytest.approx(wanted, abs=1e-10)


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from([0.01, 0.05, 0.3]))
@settings(max_examples=examples(20))
def test_each_outcome_is_rejected_as_by_scipys_test(n_a, n_b, alpha):
    found = fisher_power(np.eye(n_a + 1), n_a, np.eye(n_b + 1), n_b, alpha)
    for i, j in np.ndindex(found.shape):
        p_value = stats.fisher_exact([[i, n_a - i], [j, n_b - j]]).pvalue
        if abs(p_value - alpha) > 1e-9:
            assert found[i, j] == (p_value < alpha)


def test_the_assurance_is_the_mean_of_the_power_over_the_posterior():
    """By SciPy's beta-binomial laws."""
    state, more = _State(14, (3, 2), (2, 0), (0.5, 0.5), pilot=True), 11
    law_a = stats.betabinom.pmf(np.arange(6), 5, 2.5, 1.5)
    law_b = stats.betabinom.pmf(np.arange(7), 6, 0.5, 2.5)
    total = sum(
        law_a[i] * law_b[j]
        for i in range(6)
        for j in range(7)
        if stats.fisher_exact([[2 + i, 6 - i], [j, 8 - j]]).pvalue <= 0.05
    )
    assert state.power(0.05, more) == pytest.approx(total, abs=1e-7)
    assert drawn_laws(5, 11, np.array([8.0]))[0] == pytest.approx(
        stats.hypergeom.pmf(np.arange(6), 11, 8, 5), abs=1e-12
    )


@QUIET
@pytest.mark.parametrize("tp", [(5, 2), (0, 0), (7, 4)])
def test_no_pilot_promises_a_power_for_certain(tp):
    for budget in (None, 60):
        row = _pilot(*tp).rankeval.plan_annotation("a", "b", 200, budget=budget).iloc[0]
        assert 0.0 < row["power"] < 1.0
        assert row["power_low"] < row["power"] < row["power_high"]


def test_a_small_pilot_of_like_precisions_says_that_it_cannot_promise():
    with pytest.warns(rankeval_pd.RankevalWarning, match="Judge more candidates first"):
        row = _pilot(4, 3, size=25).rankeval.plan_annotation("a", "b", 25).iloc[0]
    assert row["n_more"] == 30
    assert row["power"] < 0.8
    given_precisions = _pilot(4, 3, size=60).rankeval.plan_annotation(
        "a", "b", 60, precisions=(0.9, 0.1)
    )
    assert given_precisions[["power_low", "power_high"]].isna().all(axis=None)
    assert "power" in rankeval_pd.paper_table(given_precisions, "markdown")


def test_lists_planned_from_a_pilot_need_no_certainty():
    sure = rankeval_pd.needed_candidates(0.6, 0.3, 0.5)
    assert list(sure) == ["n", "n_judgements", "power"]
    plan = partial(rankeval_pd.needed_candidates, 0.6, 0.3, 0.5, 40)
    pilots = [plan(n_judged=m) for m in (20, 200, 20_000)]
    power, exact = [x["power"][0] for x in pilots], plan()["power"][0]
    assert power[0] < power[1] < power[2]
    assert power[2] == pytest.approx(exact, abs=0.005)
    width = [(x["power_high"] - x["power_low"])[0] for x in pilots]
    assert width[0] > width[1] > width[2]
    # by SciPy's laws: a fifth of 20 is shared in truth, so that the regions have 10 each
    laws = [stats.betabinom.pmf(np.arange(21), 20, x + 0.5, 10.5 - x) for x in (7.5, 1.5)]
    wanted = fisher_power(laws[0][np.newaxis], 20, laws[1][np.newaxis], 20, 0.05)[0, 0]
    assert power[0] == pytest.approx(wanted, abs=1e-10)
    with pytest.raises(ValueError, match="n_judged"):
        rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=0)


def test_regions_of_which_the_top_was_judged_are_warned_of():
    """As judged_precision warns, of the difference and of the plan."""
    top = _pilot(20, 10, seen=40, top=True).rankeval
    for ask in (top.judged_difference, top.plan_annotation):
        with pytest.warns(rankeval_pd.RankevalWarning, match="not a random sample of the cand"):
            ask("a", "b", 200)
    with pytest.raises(ValueError, match="groups"):
        top.plan_annotation("a", "b", 200, groups="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _pilot(20, 10, seen=40).rankeval.judged_difference("a", "b", 200)


def test_tables_and_sentences_of_plans_show_the_range():
    table = rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=50)
    low, high = (100 * table[name][0] for name in ("power_low", "power_high"))
    assert f"(from {low:.1f}% to {high:.1f}%)" in rankeval_pd.in_words(table)
    assert f"| {low:.1f} | {high:.1f} |" in rankeval_pd.paper_table(table, "markdown")


# ------------------------------------------------------------------------------ sheets of judgments


def test_sheets_there_and_back(whole, partly):
    blank = whole.assign(gold=np.nan)
    sheet = partly.rankeval.annotation_sheet("good", "fair", 100, size=21)
    region = whole.rankeval.difference_region("good", "fair", 100)
    assert list(sheet.columns) == ["gold"]
    assert sheet["gold"].isna().all()
    assert partly.loc[sheet.index, "gold"].isna().all()
    assert region.loc[sheet.index, "list"].value_counts().to_dict() == {"a": 11, "b": 10}
    judged = sheet.assign(gold=whole.loc[sheet.index, "gold"])
    back = rankeval_pd.with_judgements(partly, judged)
    assert back.loc[sheet.index, "gold"].tolist() == whole.loc[sheet.index, "gold"].tolist()
    others = back.index.difference(sheet.index)
    assert back.loc[others, "gold"].isna().tolist() == partly.loc[others, "gold"].isna().tolist()
    every = blank.rankeval.annotation_sheet("good", "fair", 100)
    assert sorted(every.index) == sorted(region.index)
    every = every.assign(gold=whole.loc[every.index, "gold"])
    done = rankeval_pd.with_judgements(blank, every)
    found = done.rankeval.judged_difference("good", "fair", 100).iloc[0]
    today = whole.rankeval.compare("good", "fair", 100, target="region").iloc[0]
    assert found["ci_low"] == found["ci_high"] == pytest.approx(today["difference"])
    # with both regions judged, the test needs no more
    tested = done.fillna({"gold": False}).rankeval.compare("good", "fair", 100, target="region")
    columns = ["difference", "ci_low", "ci_high", "tp_only_a", "tp_only_b", "p_value"]
    assert tested.loc[0, columns].tolist() == today[columns].tolist()
    with pytest.raises(ValueError, match="unjudged candidates"):
        partly.rankeval.annotation_sheet("good", "fair", 100, size=500)
    wrong = pd.DataFrame({"gold": [not whole["gold"].iloc[0]]}, index=whole.index[:1])
    with pytest.raises(ValueError, match="judgments of 1 candidates"):
        rankeval_pd.with_judgements(whole, wrong)
    with pytest.raises(ValueError, match="unknown candidates"):
        rankeval_pd.with_judgements(whole, pd.DataFrame({"gold": [True]}, index=["nobody"]))


def test_judgements_in_words_and_numbers():
    before = pd.array([True, None, None], dtype="boolean")
    candidates = pd.DataFrame({"m": [3.0, 2, 1], "gold": before}, index=list("xyz"))
    for words in ([1, 0], [True, False], [1.0, 0.0], ["yes", "no"]):
        sheet = pd.DataFrame({"gold": words}, index=["y", "z"])
        said = {"positive": "yes"} if words[0] == "yes" else {}
        found = rankeval_pd.with_judgements(candidates, sheet, **said)
        assert found["gold"].tolist() == [True, True, False]
    with pytest.raises(ValueError, match=r"'no' \(1\), 'yes' \(1\).*positive="):
        rankeval_pd.with_judgements(candidates, sheet)


def test_an_empty_cell_of_a_sheet_is_no_judgment():
    """Also where the sheet was read without missing values, as words like "nan" need it."""
    df = pd.DataFrame({"m": [4, 3, 2, 1], "gold": [None] * 4}, index=list("wxyz"))
    sheet = pd.DataFrame({"gold": ["yes", "", "no", " "]}, index=list("wxyz"))
    back = rankeval_pd.with_judgements(df, sheet, positive="yes")["gold"]
    assert back.isna().tolist() == [False, True, False, True]
    assert back.dropna().tolist() == [True, False]
    with pytest.raises(ValueError, match="missing"):
        df.assign(gold=sheet["gold"]).rankeval(positive="yes").nbest_precision(2)
    empty = df.assign(gold=["", "no", "no", "no"])
    assert empty.rankeval(positive="").nbest_precision(1)["tp"].tolist() == [1]


# -------------------------------------------------------------------------- agreement of annotators


# Krippendorff (2011), section C: nominal data, two observers and more, missing values
RELIABILITY = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""


# Fleiss (1971), table 1: 30 patients, 6 psychiatrists, 5 diagnoses; kappa .430
FLEISS = """
0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6
"""


def test_published_examples():
    rows = [line.split() for line in RELIABILITY.strip().splitlines()]
    frame = pd.DataFrame(
        {f"o{k}": [None if x == "*" else x for x in r] for k, r in enumerate(rows)}
    )
    table = frame.rankeval(gold=["o0", "o1", "o2", "o3"]).annotator_agreement()
    alpha = table[table["statistic"] == "Krippendorff's alpha"].iloc[0]
    assert alpha["value"] == pytest.approx(0.743, abs=5e-4)
    assert alpha["n_candidates"] == 11
    assert np.isnan(table.loc[table["statistic"] == "Fleiss' kappa", "value"]).all()
    counts = np.array([
        list(map(int, cell.split()))
        for line in FLEISS.strip().splitlines()
        for cell in line.split("|")
    ])  # fmt: skip
    assert fleiss_kappa(counts, 0.95).value == pytest.approx(0.430, abs=5e-4)


def test_the_table_of_agreement():
    data = voted()
    table = data.rankeval(gold=THREE).annotator_agreement()
    assert list(table) == [
        "statistic", "annotators", "value", "ci_low", "ci_high", "n_candidates"
    ]  # fmt: skip
    assert table["annotators"].tolist() == ["a1, a2", "a1, a3", "a2, a3", *["a1, a2, a3"] * 2]
    found = along_annotators(data).rankeval.annotator_agreement()
    np.testing.assert_array_equal(found["value"], table["value"])
    halves = data.assign(half=np.arange(400) % 2).rankeval(gold=THREE[:2], by="half")
    assert halves.annotator_agreement()["half"].tolist() == [0, 0, 0, 1, 1, 1]
    text = rankeval_pd.in_words(table)
    assert text.startswith("Cohen's kappa for a1, a2 is 0.")
    assert "), based on 400 candidates." in text
    with pytest.raises(ValueError, match="the label of one annotator"):
        data.rankeval(gold="a1").annotator_agreement()
    rare = data.assign(a1=(np.arange(400) < 3).astype(int), a2=(np.arange(400) < 4).astype(int))
    found = rare.rankeval(gold=["a1", "a2"]).annotator_agreement()
    assert (found["ci_low"] < 0.5).all()
    assert (found["ci_high"] > found["value"]).all()


def test_plans_that_nobody_can_carry_out_end_soon():
    with pytest.raises(ValueError, match=r"n=1000000000: the power of more than 1,048,576"):
        rankeval_pd.needed_candidates(0.5, 0.4, 0.5, 10**9)
    with pytest.raises(ValueError, match=r"n is missing: every n up to 100,000,000 gives too many"):
        rankeval_pd.random_bound_for(0.05, n_candidates=10**8, n_positive=10**6)
    with pytest.raises(ValueError, match=r"n_a=10+: pass the size of a list, at most 1e\+18"):
        rankeval_pd.compare_for(1, 10**19, 1, 10)


@pytest.mark.parametrize(
    ("function", "good", "name"),
    [
        (rankeval_pd.dispersion_for, (0.05, 0.04, 80), "sd_observed"),
        (rankeval_pd.coverage_for, (9, 80, 0.04), "failures"),
        (rankeval_pd.needed_items, (0.5, 0.27, 2000), "gain"),
        (rankeval_pd.compare_for, (5, 10, 3, 10), "tp_a"),
    ],
)
def test_published_numbers_are_numbers(function, good, name):
    function(*good)
    for odd in ("0.1", b"1", True, None, ["0.1"]):
        with pytest.raises(TypeError, match=f"^{name}="):
            function(odd, *good[1:])
