"""Comparisons: the paper's figures, and difference regions counted and tested by hand."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom, norm

import rankeval_pd
from rankeval_pd import RankevalWarning, datasets

KRENN = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq", "freq"]}
EQUAL = 1e-7  # tables whose probabilities differ by less, relatively, are equally likely


# ------------------------------------------------------------------------------------- the paper


def test_krenn_difference_regions(krenn):
    found = krenn.rankeval(**KRENN).compare("log.like", "chisq", [500, 1250]).set_index("n")
    regions = found[["tp_only_a", "n_only_a", "tp_only_b", "n_only_b"]]
    assert regions.to_numpy().tolist() == [[63, 192, 34, 192], [44, 157, 26, 157]]
    assert found["p_value"].map("{:.4g}".format).tolist() == ["0.0009496", "0.02075"]
    assert found["better"].tolist() == ["log.like"] * 2
    assert found["significant"].all()
    exact = [fisher_exact([[63, 129], [34, 158]]), fisher_exact([[44, 113], [26, 131]])]
    assert found["p_value"].tolist() == pytest.approx([x.pvalue for x in exact], rel=1e-10)
    assert found["odds_ratio"].tolist() == pytest.approx([x.statistic for x in exact], rel=1e-14)


def test_krenn_t_score_against_log_like(krenn):
    found = krenn.rankeval(**KRENN).compare("t.score", "log.like", 800).loc[0]
    assert f"{found['p_value']:.5g}" == "0.22665"
    assert not found["significant"]
    assert found["leaning"] == "t.score"
    assert pd.isna(found["better"])


def test_krenn_significant_ranges(krenn):
    sizes = range(100, 2001)
    table = krenn.rankeval(**KRENN).compare("log.like", "chisq", sizes)
    significant = table.loc[table["p_value"] < 0.05, "n"].tolist()
    assert significant == [*range(100, 1269), 1366, 1367]
    found = krenn.rankeval(**KRENN).significant_ranges("log.like", "chisq", sizes)
    runs = found[["better", "n_first", "n_last", "n_tests"]].to_numpy().tolist()
    assert runs == [["log.like", 100, 1268, 1169], ["log.like", 1366, 1367, 2]]
    p = table.set_index("n")["p_value"]
    assert found["p_max"].tolist() == [p.loc[100:1268].max(), p.loc[1366:1367].max()]


def test_krenn_a_measure_is_not_better_than_its_copy(krenn):
    twin = krenn.assign(copy=krenn["freq"])
    found = twin.rankeval(gold="is.colloc").compare("freq", "copy")
    assert len(found) == 5102
    assert found[["difference", "ci_low", "ci_high", "n_only_a"]].eq(0).all(axis=None)
    assert found[["p_value", "p_mid"]].eq(1).all(axis=None)
    assert found["odds_ratio"].isna().all()
    assert found[["better", "leaning"]].isna().all(axis=None)
    assert not found["significant"].any()
    assert twin.rankeval(gold="is.colloc").significant_ranges("freq", "copy").empty


# ----------------------------------------------------------------------------------------- by hand


def _p_values(tp_a: int, n_a: int, tp_b: int, n_b: int, alternative: str) -> tuple[float, float]:
    """Return Fisher's p-value and its mid-p, by SciPy and by adding up all tables."""
    if n_a == 0 or n_b == 0 or tp_a + tp_b in (0, n_a + n_b):
        return 1.0, 1.0
    exact = fisher_exact([[tp_a, n_a - tp_a], [tp_b, n_b - tp_b]], alternative)
    law = hypergeom(n_a + n_b, tp_a + tp_b, n_a)
    counts = np.arange(max(0, tp_a + tp_b - n_b), min(n_a, tp_a + tp_b) + 1)
    p, seen = law.pmf(counts), law.pmf(tp_a)
    if alternative == "two-sided":
        equal = np.abs(p - seen) <= EQUAL * seen
        mid = p[(p < seen) & ~equal].sum() + p[equal].sum() / 2
    else:
        further = counts > tp_a if alternative == "greater" else counts < tp_a
        mid = p[further].sum() + seen / 2
    return exact.pvalue, mid


def _odds(tp_a: int, n_a: int, tp_b: int, n_b: int) -> float:
    above, below = tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b
    return above / below if below else math.inf if above else math.nan


def _newcombe(tp_a: int, tp_b: int, n: int, level: float) -> tuple[float, float]:
    if n == 0:
        return 0.0, 0.0
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    return proportion.confint_proportions_2indep(
        tp_a, n, tp_b, n, method="newcomb", compare="diff", alpha=1 - level
    )


def _lists(rows: list[dict], measure: str) -> list[str]:
    ranked = sorted(rows, key=lambda r: (-r[measure], r["id"]))
    return [r["id"] for r in ranked]


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("alternative", "test", "level"),
    [("two-sided", "fisher", 0.95), ("greater", "midp", 0.9), ("less", "fisher", 0.8)],
)
def test_every_list_of_every_pair(tied, alternative, test, level):
    roles = {"measures": ["b", "a", "c"], "key": "id"}
    found = rankeval_pd.compare(
        tied, alternative=alternative, test=test, level=level, ci="newcombe", alpha=0.7, **roles
    )
    lists = rankeval_pd.compare(
        tied, alternative=alternative, test=test, level=level, target="nbest", alpha=0.7, **roles
    )
    rows = tied.to_dict("records")
    gold = {r["id"]: r["gold"] for r in rows}
    ranked = {m: _lists(rows, m) for m in "abc"}
    pairs = [("b", "a"), ("b", "c"), ("a", "c")]
    wanted = [(*pair, n) for pair in pairs for n in range(1, len(rows) + 1)]
    assert list(found[["measure_a", "measure_b", "n"]].itertuples(index=False, name=None)) == wanted
    for row, of_list in zip(found.to_dict("records"), lists.to_dict("records"), strict=True):
        n = row["n"]
        a, b = (set(ranked[row[side]][:n]) for side in ("measure_a", "measure_b"))
        tp_a, tp_b = (sum(gold[i] for i in only) for only in (a - b, b - a))
        only = len(a - b)
        assert row["overlap"] == len(a & b)
        assert (row["n_only_a"], row["n_only_b"]) == (only, only)
        assert (row["tp_only_a"], row["tp_only_b"]) == (tp_a, tp_b)
        assert row["precision_a"] == pytest.approx(sum(gold[i] for i in a) / n, rel=1e-14)
        assert row["precision_b"] == pytest.approx(sum(gold[i] for i in b) / n, rel=1e-14)
        assert row["difference"] == pytest.approx((tp_a - tp_b) / n, rel=1e-14)
        odds = _odds(tp_a, only, tp_b, only)
        assert row["odds_ratio"] == pytest.approx(odds, rel=1e-14, nan_ok=True)
        fisher, mid = _p_values(tp_a, only, tp_b, only, alternative)
        assert row["p_mid"] == pytest.approx(mid, rel=1e-10)
        p_value = fisher if test == "fisher" else mid
        assert row["p_value"] == pytest.approx(p_value, rel=1e-10)
        assert row["significant"] == (row["p_value"] <= 0.7)
        two_sided = alternative == "two-sided"
        own = level if two_sided else 2 * level - 1
        low, high = np.multiply(_newcombe(tp_a, tp_b, only, own), only / n)
        if p_value > (1 - level) * (
            1 + 1e-9
        ):  # the interval reaches to 0 where the test does not reject
            low, high = min(low, 0.0), max(high, 0.0)
        if not two_sided and only:  # and ends where the range does
            low, high = (low, 1.0) if alternative == "greater" else (-1.0, high)
        if only < 10:  # small regions have the outer limits of theirs and of the lists'
            low, high = min(low, of_list["ci_low"]), max(high, of_list["ci_high"])
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], rel=1e-10, abs=1e-15)
        leaning = row["measure_a"] if tp_a > tp_b else row["measure_b"]
        assert row["leaning"] == leaning if tp_a != tp_b else pd.isna(row["leaning"])
        shown = row["leaning"] if row["significant"] else np.nan
        assert row["better"] == shown or (pd.isna(row["better"]) and pd.isna(shown))
    assert "p_adjusted" not in found
    assert {True, False} == set(found["significant"])


def _delta(rows: list[dict], a: set, b: set, level: float) -> tuple[float, float]:
    """Return the limits of tp_a/n_a - tp_b/n_b; the three regions are independent binomials."""
    gold = {r["id"]: r["gold"] for r in rows}
    variance = 0.0
    weights = 1 / len(a) - 1 / len(b), 1 / len(a), 1 / len(b)
    for weight, region in zip(weights, (a & b, a - b, b - a), strict=True):
        if region:
            share = sum(gold[i] for i in region) / len(region)
            variance += weight**2 * len(region) * share * (1 - share)
    difference = sum(gold[i] for i in a) / len(a) - sum(gold[i] for i in b) / len(b)
    margin = norm.ppf((1 + level) / 2) * math.sqrt(variance)
    return difference - margin, difference + margin


@pytest.mark.parametrize("lower", [False, True])
def test_every_pair_of_acceptance_sets(tied, lower):
    cuts_a, cuts_c = zip(*itertools.product([0, 1, 2, 3, 4, 5], [-1, -0.4, 0, 0.5]), strict=True)
    data = tied.assign(c=-tied["c"]) if lower else tied
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "acceptance sets of", RankevalWarning)
        call = data.rankeval(lower_is_better="c" if lower else ())
        cuts = {"a": cuts_a, "c": [-x if lower else x for x in cuts_c]}
        found, scored = (
            call.compare("a", "c", threshold=cuts, ci=ci, level=0.9) for ci in ("delta", "score")
        )
    rows = tied.to_dict("records")
    gold = {r["id"]: r["gold"] for r in rows}
    positive = sum(gold.values())
    assert list(found.columns[:4]) == ["measure_a", "measure_b", "n_a", "n_b"]
    assert list(found.columns[-3:]) == ["recall_a", "recall_b", "leaning"]
    assert len(found) == len(cuts_a)
    compared = 0
    tables = found.to_dict("records"), scored.to_dict("records")
    for row, score, cut_a, cut_c in zip(*tables, cuts_a, cuts_c, strict=True):
        a = {r["id"] for r in rows if r["a"] >= cut_a}
        b = {r["id"] for r in rows if r["c"] >= cut_c}
        counts = len(a), len(b), len(a & b), len(a - b), len(b - a)
        names = ["n_a", "n_b", "overlap", "n_only_a", "n_only_b"]
        assert tuple(row[name] for name in names) == counts
        tp_a, tp_b = (sum(gold[i] for i in x) for x in (a, b))
        only_a, only_b = (sum(gold[i] for i in x) for x in (a - b, b - a))
        assert (row["tp_only_a"], row["tp_only_b"]) == (only_a, only_b)
        assert row["recall_a"] == pytest.approx(tp_a / positive, rel=1e-14)
        assert row["recall_b"] == pytest.approx(tp_b / positive, rel=1e-14)
        odds = _odds(only_a, len(a - b), only_b, len(b - a))
        assert row["odds_ratio"] == pytest.approx(odds, rel=1e-14, nan_ok=True)
        fisher, mid = _p_values(only_a, len(a - b), only_b, len(b - a), "two-sided")
        assert row["p_value"] == pytest.approx(fisher, rel=1e-10)
        assert row["p_mid"] == pytest.approx(mid, rel=1e-10)
        if a and b:
            difference = tp_a / len(a) - tp_b / len(b)
            assert row["difference"] == pytest.approx(difference, rel=1e-12, abs=1e-15)
            limits = _delta(rows, a, b, 0.9)
            if limits[0] == limits[1] and a != b:  # nothing varies: the score interval
                limits = score["ci_low"], score["ci_high"]
                assert limits[0] < difference < limits[1]
            if fisher > 0.1 * (1 + 1e-9) and (a - b or b - a):
                limits = min(limits[0], 0.0), max(limits[1], 0.0)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(limits, rel=1e-10, abs=1e-15)
        else:
            assert math.isnan(row["difference"])
        small, large = sorted([len(a), len(b)])
        if large - small > 0.1 * large or not (a - b and b - a):
            assert pd.isna(row["leaning"])
        else:
            compared += 1
            lean = np.sign(only_a / len(a - b) - only_b / len(b - a))
            wanted = {1: "a", -1: "c", 0: None}[lean]
            assert row["leaning"] == wanted if wanted else pd.isna(row["leaning"])
        shown = row["leaning"] if row["significant"] else np.nan
        assert row["better"] == shown or (pd.isna(row["better"]) and pd.isna(shown))
    assert compared


def test_better_follows_the_difference_regions_of_acceptance_sets():
    # all of b's own candidates are true positives, and a's set has the higher precision
    gold = [True] * 5 + [False] * 5 + [True] * 10 + [True] * 8 + [False] * 80
    a = [1] * 28 + [0] * 80
    b = [0] * 10 + [1] * 18 + [0] * 80
    df = pd.DataFrame({"a": np.array(a) * 1.0, "b": np.array(b) * 1.0, "gold": gold})
    df.loc[28:35, "b"] = 1.0
    df.loc[28:35, "gold"] = True
    found = df.rankeval.compare("a", "b", threshold={"a": 1, "b": 1}).loc[0]
    assert (found["n_a"], found["n_b"]) == (28, 26)
    assert found["leaning"] == "b"


@pytest.mark.parametrize(("size", "warned"), [(18, False), (17, True)])
def test_sets_of_different_sizes_warn(size, warned):
    rank = np.arange(40)
    df = pd.DataFrame({"a": -rank * 1.0, "b": rank * 1.0, "gold": rank < 10})
    cuts = {"a": -19, "b": 40 - size}  # 20 candidates against size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = df.rankeval.compare("a", "b", threshold=cuts).loc[0]
    assert (found["n_a"], found["n_b"]) == (20, size)
    assert [x.category for x in caught] == [RankevalWarning] * warned
    assert pd.isna(found["leaning"]) == warned
    if warned:
        assert "20 and 17 candidates differ by more than 10%" in str(caught[0].message)


def test_thresholds_of_different_numbers():
    df = pd.DataFrame({"a": [3.0, 2, 1], "b": [1.0, 3, 2], "gold": [True, False, True]})
    found = df.rankeval.compare("a", "b", threshold={"a": [1, 2], "b": 2})
    assert found["leaning"].isna().tolist()[0]
    assert found[["n_a", "n_b"]].to_numpy().tolist() == [[3, 2], [2, 2]]
    with pytest.raises(
        ValueError, match=r"'a' has 3 thresholds and 'b' has 2.*Pass 3 thresholds for 'b'"
    ):
        df.rankeval.compare("a", "b", threshold={"a": [1, 2, 3], "b": [1, 2]})


# ------------------------------------------------------------------------------------- adjustment


ADJUSTMENTS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by"}


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_adjustment_is_that_of_statsmodels(tied, method):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    found = tied.rankeval(measures=["a", "b", "c"]).compare(n=range(2, 15), adjust=method)
    wanted = multitest.multipletests(found["p_value"], method=ADJUSTMENTS[method])[1]
    assert found["p_adjusted"].to_numpy() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_the_family_is_one_group(ragged, method):
    found = ragged.rankeval(by="query").compare(adjust=method, adjust_over="group", alpha=0.9)
    for query, part in ragged.groupby("query"):
        alone = part.drop(columns="query").rankeval.compare(adjust=method, alpha=0.9)
        rows = found[found["query"] == query].drop(columns="query").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, alone)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_significance_is_of_the_adjusted_p_value():
    df = pd.DataFrame({"a": range(40, 0, -1), "b": range(40), "gold": [True] * 12 + [False] * 28})
    bare = df.rankeval.compare("a", "b", alpha=0.01)
    found = df.rankeval.compare("a", "b", alpha=0.01, adjust="bonferroni")
    assert found["p_value"].equals(bare["p_value"])
    assert found["significant"].equals(found["p_adjusted"] <= 0.01)
    assert 0 < found["significant"].sum() < bare["significant"].sum()
    runs = df.rankeval.significant_ranges("a", "b", alpha=0.01, adjust="bonferroni")
    inside = found[found["significant"]]
    assert runs[["n_first", "n_last"]].to_numpy().tolist() == [
        [inside["n"].min(), inside["n"].max()]
    ]
    assert runs["p_max"].tolist() == [inside["p_adjusted"].max()]


# ------------------------------------------------------------------------------------------- pairs


def test_which_pairs(frame):
    def pairs(*names):
        found = frame.rankeval.compare(*names, n=5)
        return list(zip(found["measure_a"], found["measure_b"], strict=True))

    assert pairs() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs("b") == [("b", "a"), ("b", "c")]
    assert pairs("c", "a") == [("c", "a")]


def test_turning_a_pair_round(frame):
    there, back = frame.rankeval.compare("a", "c"), frame.rankeval.compare("c", "a")
    assert there["p_value"].equals(back["p_value"])
    assert there["difference"].equals(-back["difference"] + 0.0)
    assert there["ci_low"].to_numpy() == pytest.approx(-back["ci_high"], rel=1e-12, abs=1e-15)
    assert there["leaning"].equals(back["leaning"])
    greater = frame.rankeval.compare("a", "c", alternative="greater")
    less = frame.rankeval.compare("c", "a", alternative="less")
    assert greater["p_value"].to_numpy() == pytest.approx(less["p_value"], rel=1e-12)


# ------------------------------------------------------------------------------------------ ranges


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_ranges_are_the_runs_of_the_table(tied, alternative):
    options = {"alpha": 0.7, "alternative": alternative}
    table = tied.rankeval(measures=["a", "b", "c"]).compare(**options)
    wanted = []
    for (a, b), rows in table.groupby(["measure_a", "measure_b"], sort=False):
        state = rows["better"].where(rows["significant"]).fillna("")
        runs = itertools.groupby(
            zip(state, rows["n"], rows["p_value"], strict=True), lambda r: r[0]
        )
        for better, run in runs:
            _, n, p = zip(*run, strict=True)
            if better:
                wanted.append([a, b, better, n[0], n[-1], len(n), max(p)])
    found = tied.rankeval(measures=["a", "b", "c"]).significant_ranges(**options)
    assert found[found.columns[:7]].to_numpy().tolist() == wanted
    assert wanted


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_short_ranges_are_runs_joined_over_close_gaps(seed):
    """Every n printed 105 fragments; gaps that end within 1.05 times n are joined, and counted."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(rng.normal(size=(400, 3)).cumsum(axis=0) * 0.05, columns=list("abc"))
    df["gold"] = rng.random(400) < 0.3
    ask = {"n": range(40, 400, int(rng.integers(1, 4))), "alpha": 0.4}
    runs, short = (df.rankeval.significant_ranges(**ask, details=x) for x in (True, False))
    rows = df.rankeval.compare(**ask)
    assert short["n_tests"].sum() == runs["n_tests"].sum() == rows["significant"].sum()
    for one in short.itertuples():
        pair = (rows["measure_a"] == one.measure_a) & (rows["measure_b"] == one.measure_b)
        inside = rows[pair & rows["n"].between(one.n_first, one.n_last)]
        assert set(inside["better"].dropna()) == {one.better}
        counts = inside["significant"].sum(), (~inside["significant"]).sum()
        assert counts == (one.n_tests, one.n_gaps)
        assert one.p_max == inside.loc[inside["significant"], "p_value"].max()
    for one, two in itertools.pairwise(short.itertuples(index=False)):
        assert one[:3] != two[:3] or two.n_first > 1.05 * one.n_last
    starts = runs.iloc[1:][(runs[list(runs)[:3]] == runs[list(runs)[:3]].shift()).all(axis=1)[1:]]
    gaps = rows.groupby(["measure_a", "measure_b"])["n"].apply(list)
    for one in starts.itertuples():
        before = runs.loc[one.Index - 1, "n_last"]
        n = gaps[one.measure_a, one.measure_b]
        assert one.n_before == sum(before < x < one.n_first for x in n)


@pytest.mark.filterwarnings("ignore:ties=.shared:rankeval_pd.RankevalWarning")
def test_ranges_of_every_n_are_few(krenn):
    five = krenn.rankeval(gold="is.colloc", measures=[*KRENN["measures"], "MI"])
    runs, short = (five.significant_ranges(details=flag) for flag in (True, False))
    assert (len(runs), len(short)) == (99, 35)
    with_gaps = short[short["n_gaps"] > 0]
    one = with_gaps.iloc[0]
    words = f"{one['n_tests']:,} of {one['n_tests'] + one['n_gaps']:,} tested sizes from n ="
    assert words in rankeval_pd.in_words(with_gaps)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_neighbours_are_neighbours_among_the_n_asked_for():
    df = pd.DataFrame({"a": range(40, 0, -1), "b": range(40), "gold": [True] * 12 + [False] * 28})
    found = df.rankeval.significant_ranges("a", "b", [30, 5, 20, 39])
    assert found[["n_first", "n_last", "n_tests"]].to_numpy().tolist() == [[5, 30, 3]]
    for n in (2, 39):
        assert df.rankeval.significant_ranges("a", "b", n).empty


# ----------------------------------------------------------------------------- difference regions


def test_difference_region_lists_what_compare_counts(tied):
    rows = tied.to_dict("records")
    for n in (1, 6, len(tied)):
        found = tied.rankeval(key="id").difference_region("a", "c", n)
        a, c = _lists(rows, "a"), _lists(rows, "c")
        only = set(a[:n]) ^ set(c[:n])
        wanted = tied[tied["id"].isin(only)]
        pd.testing.assert_frame_equal(found[tied.columns], wanted)
        assert list(found.columns) == [*tied.columns, "list", "rank_a", "rank_b"]
        assert found["list"].tolist() == ["a" if i in a[:n] else "b" for i in found["id"]]
        assert found["rank_a"].tolist() == [a.index(i) + 1 for i in found["id"]]
        assert found["rank_b"].tolist() == [c.index(i) + 1 for i in found["id"]]
        counts = tied.rankeval(key="id").compare("a", "c", n).loc[0]
        assert (found["list"] == "a").sum() == counts["n_only_a"]
        assert found.loc[found["list"] == "b", "gold"].sum() == counts["tp_only_b"]


def test_difference_region_of_groups(ragged):
    found = ragged.rankeval(by="query").difference_region("a", "b", 6)
    assert set(found["query"]) == {"q1", "q2"}
    for query, part in ragged.groupby("query"):
        if len(part) >= 6:
            alone = part.rankeval.difference_region("a", "b", 6)
            pd.testing.assert_frame_equal(found[found["query"] == query], alone)


def test_difference_region_keeps_the_dtypes(frame):
    data = frame.assign(
        word=frame.index, when=pd.Timestamp("2020"), part=pd.Categorical(["x", "y"] * 15)
    )
    found = data.rankeval.difference_region("a", "b", 4)
    assert found.dtypes[data.columns].equals(data.dtypes)
    assert found.index.isin(data.index).all()


@pytest.mark.parametrize("name", ["list", "rank_a", "rank_b"])
def test_difference_region_does_not_hide_a_column(frame, name):
    for data in (frame.assign(**{name: 1}), xr.Dataset.from_dataframe(frame.assign(**{name: 1}))):
        with pytest.raises(ValueError, match=rf"data has a column '{name}'"):
            data.rankeval(measures=["a", "b"]).difference_region("a", "b", 4)


# ------------------------------------------------------------------------ other tests, effect sizes


PAIR = {"gold": "is.colloc", "measures": ["log.like", "chisq"]}


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_other_tests_of_krenn_regions(krenn, alternative):
    """The tests of SciPy on the regions that the table shows."""
    from scipy import stats

    call = krenn.rankeval(**PAIR)
    for test in ("mcnemar", "boschloo", "barnard"):
        found = call.compare(
            "log.like", "chisq", [200, 500], test=test, alternative=alternative, progress=False
        )
        for row in found.itertuples():
            a, b, d = row.tp_only_a, row.tp_only_b, row.n_only_a
            table = [[a, b], [d - a, d - b]]
            if test == "mcnemar":
                wanted = stats.binomtest(a + d - b, 2 * d, 0.5, alternative).pvalue
            elif test == "boschloo":
                wanted = stats.boschloo_exact(table, alternative).pvalue
            else:
                wanted = stats.barnard_exact(table, alternative).pvalue
            assert row.p_value == pytest.approx(wanted, rel=1e-4)


def test_the_briefs_mcnemar(krenn):
    found = krenn.rankeval(**PAIR).compare("log.like", "chisq", [500, 1250], test="mcnemar")
    assert found["p_value"].round(5).tolist() == [0.00357, 0.04808]


def test_a_bar_for_many_tables(krenn, capsys):
    call = krenn.rankeval(**PAIR)
    call.compare("log.like", "chisq", [200, 500], test="boschloo", progress=True)
    assert "boschloo's test" in capsys.readouterr().err
    call.compare("log.like", "chisq", [200, 500], test="boschloo", progress=False)
    call.compare("log.like", "chisq", [200, 500], adjust="max-t", n_resamples=19)
    assert capsys.readouterr().err == ""


def test_other_intervals_of_krenn_regions(krenn):
    """Those of the two regions, 63 and 34 of 192, times the share that they are of the list."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    limits = {
        "agresti-caffo": confint_proportions_2indep(
            63, 192, 34, 192, method="agresti-caffo", compare="diff"
        ),
        # by maximising the likelihood under each difference numerically, and bisection
        "miettinen-nurminen": (0.06468809, 0.23628431),
    }
    for ci, (low, high) in limits.items():
        row = krenn.rankeval(**PAIR).compare("log.like", "chisq", 500, ci=ci).iloc[0]
        assert row["ci_low"] == pytest.approx(low * 192 / 500, rel=1e-7)
        assert row["ci_high"] == pytest.approx(high * 192 / 500, rel=1e-7)


def test_odds_ratios_of_krenn_regions(krenn):
    from scipy.stats.contingency import odds_ratio

    call = krenn.rankeval(**PAIR)
    found = call.odds_ratios("log.like", "chisq", [200, 500])
    regions = call.compare("log.like", "chisq", [200, 500])
    assert found["odds_ratio"].tolist() == regions["odds_ratio"].tolist()
    for row, region in zip(found.itertuples(), regions.itertuples(), strict=True):
        a, b, d = region.tp_only_a, region.tp_only_b, region.n_only_a
        wanted = odds_ratio([[a, d - a], [b, d - b]])
        interval = wanted.confidence_interval(0.95)
        assert row.odds_ratio_mle == pytest.approx(wanted.statistic, rel=1e-6)
        assert row.ci_low == pytest.approx(interval.low, rel=1e-6)
        assert row.ci_high == pytest.approx(interval.high, rel=1e-6)


def test_odds_ratios_of_equal_lists(frame):
    found = frame.assign(d=frame["a"]).rankeval.odds_ratios("a", "d", [3, 30])
    assert found[["odds_ratio", "odds_ratio_mle"]].isna().all(axis=None)
    assert found[["ci_low", "ci_high"]].to_numpy().tolist() == [[0, np.inf]] * 2


def test_lists_that_vary_far_more_than_regions_are_said():
    """A steep ranking beside a flat one, n near N+: the region's interval is not the lists'."""
    df = datasets.simulate_candidates(400, baseline=0.25, quality={"steep": 4.0, "flat": 1.0})
    with pytest.warns(RankevalWarning, match=r"difference of the n-best lists .* target='nbest'"):
        df.rankeval.compare("steep", "flat", 100)
    assert len(df.rankeval.compare("steep", "flat", 100, target="nbest")) == 1
