"""Plans, pilots and sheets of judgments, and annotators who agree: SciPy, published examples."""

from __future__ import annotations

import itertools
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import fisher_exact
from sklearn.metrics import cohen_kappa_score

import rankeval_pd
from rankeval_pd import RankevalWarning
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


@pytest.mark.parametrize(
    "labels",
    [range(60), range(100, 160), [f"{k:03d}" for k in range(60)], [f'a,"{k}' for k in range(60)],
     pd.date_range("2024-01-01", periods=60), np.arange(60) + 0.5],
)  # fmt: skip
def test_a_sheet_that_is_written_is_equal_when_read(tmp_path, labels):
    rng = np.random.default_rng(0)
    candidates = pd.DataFrame({"a": rng.random(60), "b": rng.random(60)}, index=pd.Index(labels))
    candidates["gold"] = pd.array([None] * 60, dtype="boolean")
    sheet = rankeval_pd.annotation_sheet(candidates, "a", "b", 20)
    sheet["gold"] = np.arange(len(sheet)) % 3 == 0
    wanted = rankeval_pd.with_judgements(candidates, sheet)
    sheet.to_csv(tmp_path / "sheet.csv")
    read = pd.read_csv(tmp_path / "sheet.csv", index_col=0)
    if labels[1] == "001":  # which pandas reads as 1
        with pytest.raises(ValueError, match=r"unknown candidates: .*its type.*index_col=0"):
            rankeval_pd.with_judgements(candidates, read)
        read = pd.read_csv(tmp_path / "sheet.csv", dtype={0: str}).set_index("Unnamed: 0")
    read.index = read.index.astype(candidates.index.dtype)
    pd.testing.assert_frame_equal(rankeval_pd.with_judgements(candidates, read), wanted)
    numbered = read.reset_index(drop=True)  # as if written without its index
    if candidates.index[0] == 0:
        with pytest.warns(RankevalWarning, match=r"sheet: the index numbers the \d+ rows from 0"):
            rankeval_pd.with_judgements(candidates, numbered)


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
    shown = rankeval_pd.paper_table(table)  # a coefficient is no share of agreements
    assert "coefficient" in shown
    assert shown["coefficient"].iloc[-1].startswith("0.74 [")
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
    unjudged = data.astype(dict.fromkeys(THREE, float))
    unjudged.loc[unjudged.index[:50], THREE] = np.nan  # no votes at all
    voted_on = data.iloc[50:].rankeval(gold=THREE).annotator_agreement()
    pd.testing.assert_frame_equal(
        unjudged.rankeval(gold=THREE).annotator_agreement(), voted_on, check_like=False
    )
    unjudged.iloc[60, unjudged.columns.get_loc("a2")] = np.nan  # two votes instead of three
    text = rankeval_pd.in_words(unjudged.rankeval(gold=THREE).annotator_agreement())
    assert "Fleiss' kappa for a1, a2, a3 is not available for these votes." in text
    rare = data.assign(a1=(np.arange(400) < 3).astype(int), a2=(np.arange(400) < 4).astype(int))
    found = rare.rankeval(gold=["a1", "a2"]).annotator_agreement()
    assert (found["ci_low"] < 0.5).all()
    assert (found["ci_high"] > found["value"]).all()


def test_plans_that_nobody_can_carry_out_end_soon():
    for pilot, most in ((None, "1,048,576"), (50, "16,384")):
        with pytest.raises(ValueError, match=rf"n=10+: the power of more than {most} judgments"):
            rankeval_pd.needed_candidates(0.5, 0.4, 0.5, 10**9, n_judged=pilot)
    with pytest.raises(ValueError, match=r"n is missing: every n up to 100,000,000 gives too many"):
        rankeval_pd.random_bound_for(0.05, n_candidates=10**8, n_positive=10**6)
    with pytest.raises(ValueError, match=r"n_a=10+: pass the size of a list, at most 1e\+18"):
        rankeval_pd.compare_for(1, 10**19, 1, 10)


# ------------------------------------------------------------------------------ agreement of grades


@pytest.mark.parametrize("kind", ["linear", "quadratic"])
def test_weighted_kappa_is_scikit_learns(kind):
    """Krippendorff's alpha: all pairs of votes, by its definition."""
    rng = np.random.default_rng(11)
    first = rng.integers(0, 4, 60)
    votes = [np.clip(first + rng.integers(-1, 2, 60), 0, 3) for _ in range(3)]
    data = pd.DataFrame({f"a{k}": x.astype(float) for k, x in enumerate(votes)})
    data.loc[[3, 7], "a2"] = np.nan
    names = ["a0", "a1", "a2"]
    found = data.rankeval(gold=names).annotator_agreement(kind=kind)
    value = found.set_index("annotators")["value"]
    for pair in itertools.combinations(names, 2):
        both = data[list(pair)].dropna()
        wanted = cohen_kappa_score(*both.astype(int).to_numpy().T, weights=kind)
        assert value[", ".join(pair)] == pytest.approx(wanted)
    power = {"linear": 1, "quadratic": 2}[kind]
    rows = [row[~np.isnan(row)] for row in data.to_numpy()]
    every = np.concatenate(rows)
    observed = sum(
        (np.abs(np.subtract.outer(x, x)) ** power).sum() / (len(x) - 1) for x in rows
    ) / len(every)
    expected = (np.abs(np.subtract.outer(every, every)) ** power).sum()
    expected /= len(every) * (len(every) - 1)
    assert value[", ".join(names)] == pytest.approx(1 - observed / expected)
    assert found["statistic"].str.endswith(f"with {kind} weights").all()
    assert found["ci_low"].lt(found["value"]).all()
    assert found["ci_high"].gt(found["value"]).all()
    parts = data.assign(part=np.arange(60) % 2, gold=1).rankeval(gold=names, by="part")
    assert len(parts.annotator_agreement(kind=kind)) == 2 * len(found)


def test_weighted_kappa_of_two_labels_is_kappa_and_words_are_refused():
    data = pd.DataFrame({"a": [1, 1, 0, 0, 1, 0, 1, 1], "b": [1, 0, 0, 0, 1, 1, 1, 1]})
    plain = data.rankeval(gold=["a", "b"]).annotator_agreement()
    for scale in (1, 7):  # distances are relative
        scaled = (data * scale).rankeval(gold=["a", "b"])
        found = scaled.annotator_agreement(kind="quadratic")
        for name in ("value", "ci_low", "ci_high"):
            wanted = plain.loc[plain["statistic"] != "Fleiss' kappa", name].to_numpy()
            assert found[name].to_numpy() == pytest.approx(wanted)
    same = data.assign(b=data["a"]).rankeval(gold=["a", "b"]).annotator_agreement(kind="linear")
    assert same["value"].tolist() == [1, 1]
    words = data.replace({1: "good", 0: "bad"}).rankeval(gold=["a", "b"])
    with pytest.raises(ValueError, match="kind='linear' needs grades, but the labels"):
        words.annotator_agreement(kind="linear")
    with pytest.raises(ValueError, match="kind='cubic' is not one of"):
        data.rankeval(gold=["a", "b"]).annotator_agreement(kind="cubic")


def test_the_p_value_of_judged_candidates_is_fishers(whole, partly):
    """SciPy's; without one for bounds, known probabilities and groups."""
    rankings = partly.rankeval(measures=["good", "fair"])
    found = rankings.judged_difference("good", "fair", [50, 100], details=True)
    for row in found.to_dict("records"):
        table = [
            [row[f"tp_judged_{x}"], row[f"n_judged_{x}"] - row[f"tp_judged_{x}"]] for x in "ab"
        ]
        assert row["p_value"] == pytest.approx(fisher_exact(table).pvalue)
    words = rankeval_pd.in_words(rankings.judged_difference("good", "fair", 100))
    judged, left = found.loc[1, ["n_judged", "n_unjudged"]]
    assert f"Of {judged + left} candidates in only one list, {judged} are judged." in words
    bounds = rankings.judged_difference("good", "fair", 100, unjudged="bounds")
    assert "p_value" not in bounds
    assert "Fisher" not in rankeval_pd.in_words(bounds, methods=True)
    none = partly.assign(gold=np.nan).rankeval(measures=["good", "fair"])
    assert none.judged_difference("good", "fair", 100)["p_value"].isna().all()


# -------------------------------------------------------------------- several measures and sizes


def test_plans_of_several_pairs_and_sizes_are_the_single_ones():
    data = rankeval_pd.datasets.simulate_candidates(500, quality={"x": 1.5, "y": 1.0, "z": 0.8})
    data = data.assign(gold=np.nan)
    found = data.rankeval.plan_annotation(n=[30, 60], precisions=(0.6, 0.2), details=True)
    for row in found.to_dict("records"):
        one = data.rankeval.plan_annotation(
            *(row["measure_a"], row["measure_b"], row["n"]), precisions=(0.6, 0.2), details=True
        )
        pd.testing.assert_frame_equal(one, pd.DataFrame([row]), check_dtype=False)
    some = data.rankeval.plan_annotation("x", ["y", "z"], 30, precisions=(0.6, 0.2))
    assert some[["measure_a", "measure_b"]].to_numpy().tolist() == [["x", "y"], ["x", "z"]]


def test_a_sheet_of_several_pairs_and_sizes_samples_the_union_of_their_regions():
    data = rankeval_pd.datasets.simulate_candidates(300, quality={"x": 1.5, "y": 1.0, "z": 0.8})
    data = data.assign(gold=np.nan)
    ranks = data[["x", "y", "z"]].rank(ascending=False)
    union = set()
    for n, (a, b) in itertools.product([20, 40], itertools.combinations("xyz", 2)):
        union |= set(data.index[(ranks[a] <= n) != (ranks[b] <= n)])
    sheet = data.rankeval.annotation_sheet(n=[20, 40])
    assert sheet.index.is_unique
    assert set(sheet.index) == union
    part = data.rankeval.annotation_sheet(n=[20, 40], size=15, rng=2)
    assert len(part) == 15
    assert set(part.index) < union
    seen = pd.Series(0, index=sorted(union))  # every candidate has the same chance
    for rng in range(60):
        seen[data.rankeval.annotation_sheet(n=[20, 40], size=15, rng=rng).index] += 1
    assert stats.chisquare(seen).pvalue > 1e-3
    for method in ("plan_annotation", "annotation_sheet"):
        with pytest.raises(ValueError, match="n=None: pass the size"):
            getattr(data.rankeval, method)("x", "y")
