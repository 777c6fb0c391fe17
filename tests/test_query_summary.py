"""An experiment in one table: the numbers are those of the functions that it is made of."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rankeval_pd
from rankeval_pd import (
    RankevalWarning,
    paired_bootstrap,
    paired_permutation,
    per_query,
    summary,
    system_ranks,
)
from rankeval_pd.queries.per_query import query_summary

METRICS = ["nDCG@5", "AP", "P@3"]
FACTS = ["n_tied", "value_low", "value_high", "judged", "n_lacking", "n_undefined", "depth"]


def experiment(n_queries: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    grade = rng.choice([0, 0, 0, 1, 2], (n_queries, 12))
    rows = {
        "query": np.repeat(np.arange(n_queries), 12),
        "document": np.tile(np.arange(12), n_queries),
    }
    for name, weight in {"bm25": 0.5, "dense": 1.0, "both": 1.2}.items():
        rows[name] = (weight * grade + rng.standard_normal(grade.shape)).ravel()
    return pd.DataFrame({**rows, "grade": grade.ravel()})


def test_a_row_per_run_and_metric_from_the_public_functions():
    frame = experiment()
    found = frame.rankeval.summary(METRICS, baseline="bm25")
    assert list(found.columns) == [
        "measure", "metric", "value", "ci_low", "ci_high", "rank_low", "rank_high", "difference",
        "difference_low", "difference_high", "p_adjusted", "tied_for_best", "wins", "ties",
        "losses", "p_value", "difference_low_alone", "difference_high_alone", "undecided",
        "ci_low_alone", "ci_high_alone", *FACTS,
    ]  # fmt: skip
    assert found["metric"].tolist() == [m for m in METRICS for _ in range(3)]
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows = found[found["metric"] == metric].set_index("measure")
        items = wide[metric]
        np.testing.assert_allclose(rows["value"], items.mean())
        ranks = system_ranks(items).set_index("system")
        for name in ("ci_low", "ci_high", "ci_low_alone", "rank_low", "rank_high", "tied_for_best"):
            assert rows[name].tolist() == ranks[name].loc[rows.index].tolist()
        assert rows.loc["bm25", ["difference", "p_adjusted", "wins"]].isna().all()
        pairs = paired_bootstrap(items, "bm25", adjust="max-t")
        for pair in pairs.itertuples():
            other = pair.system_b if pair.system_a == "bm25" else pair.system_a
            sign = -1 if pair.system_a == "bm25" else 1
            assert rows.loc[other, "difference"] == sign * pair.gain
            limits = sorted([sign * pair.ci_low, sign * pair.ci_high])
            assert rows.loc[other, ["difference_low", "difference_high"]].tolist() == limits
            assert rows.loc[other, "p_adjusted"] == pair.p_adjusted
        over = items.sub(items["bm25"], axis=0)[["dense", "both"]]
        others = rows.loc[["dense", "both"]]
        assert others["wins"].tolist() == (over > 1e-12).sum().tolist()
        assert others["losses"].tolist() == (over < -1e-12).sum().tolist()
        assert (others[["wins", "ties", "losses"]].sum(axis=1) == 40).all()


def test_a_worse_run_has_its_interval_the_right_way_round():
    found = summary(experiment(), "AP", baseline="both")
    rows = found[found["measure"] == "bm25"]
    assert (rows["difference"] < 0).all()
    assert (rows["difference_low"] < rows["difference"]).all()
    assert (rows["difference"] < rows["difference_high"]).all()


def test_a_dataset_says_the_same():
    frame = experiment()
    expected = frame.rankeval.summary(METRICS, baseline="bm25")
    data = frame.set_index(["query", "document"]).to_xarray().rename(document="candidate")
    found = data.rankeval.summary(METRICS, baseline="bm25")
    assert dict(found.sizes) == {"metric": 3, "measure": 3}
    back = found.to_dataframe().reset_index()[expected.columns]
    pd.testing.assert_frame_equal(back, expected, check_dtype=False)


def test_without_a_baseline_there_is_no_difference():
    found = summary(experiment(), "AP")
    assert found[["difference", "p_adjusted", "wins"]].isna().all(axis=None)
    assert found["tied_for_best"].any()


def test_what_is_undefined_is_asked_for():
    frame = experiment()
    frame.loc[frame["query"] == 3, "grade"] = 0
    with pytest.raises(ValueError, match="undefined='skip'"):
        summary(frame, "AUC")
    with pytest.warns(match="1 of 40 queries are left out"):
        found = summary(frame, "AUC", undefined="skip")
    assert found.attrs["n_queries"] == 39
    with pytest.raises(KeyError, match="baseline: no column 'bm52'"):
        summary(frame, "AP", baseline="bm52")


@pytest.mark.parametrize("metric", ["P@3", "AP"])
def test_paired_tests_of_queries_are_those_of_scipy(metric):
    items = per_query(experiment(30), metric, wide=True)
    found = paired_permutation(items, "dense", "bm25", n_resamples=100_000, method="auto")
    reference = stats.permutation_test(
        (items["dense"], items["bm25"]), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=40_000, alternative="greater",
        rng=np.random.default_rng(4),
    )  # fmt: skip
    p = found["p_value"][0]
    error = np.sqrt(p * (1 - p) * (1 / 40_000 + 1 / 100_000))
    assert abs(reference.pvalue - p) < 4 * error + 1 / 40_000


def test_an_accessor_is_configured_with_the_roles_of_queries():
    frame = experiment(seed=5)
    frame.loc[frame.index % 3 == 0, "grade"] = np.nan
    judged = frame.rankeval(unjudged="skip", ties="trec")
    found = judged.per_query("P@5", wide=True)
    pd.testing.assert_frame_equal(
        found, frame.rankeval.per_query("P@5", unjudged="skip", wide=True)
    )
    assert not found.equals(frame.rankeval.per_query("P@5", wide=True))
    pd.testing.assert_frame_equal(
        judged.summary(["P@5", "AP"]), frame.rankeval.summary(["P@5", "AP"], unjudged="skip")
    )
    text = repr(judged)
    for fact in ("320 judged", "'bm25', 'dense', 'both'", "'trec', 'skip', 'absent'"):
        assert fact in text
    assert "nbest_precision" in text


@pytest.mark.parametrize("role", [{"unjudged": "skip"}, {"ties": "trec"}])
def test_what_has_no_such_answer_refuses_the_roles_of_queries(role):
    frame = experiment(seed=5)
    [(name, given)] = role.items()
    with pytest.raises(
        ValueError, match=f"{name}={given!r} applies only to rankings, but data contains test items"
    ):
        frame.rankeval.per_query("AP", wide=True).rankeval(**role).paired_bootstrap()
    with pytest.raises(ValueError, match=f"{name}='no' is not one of"):
        frame.rankeval(**{name: "no"})


def test_methods_of_rankings_say_where_the_grades_are():
    frame = pd.DataFrame({"query": ["1"], "document": ["d"], "run": [1.0], "grade": [2]})
    with pytest.raises(
        ValueError, match=r"'grade' may contain it. Pass gold='grade' and.*min_grade=1"
    ):
        frame.rankeval.nbest_precision(1)
    twice = pd.concat([frame, frame.assign(query="2")]).rename(columns={"grade": "gold"})
    with pytest.raises(ValueError, match=r"pass the query column as by=\.\.\."):
        twice.rankeval.nbest_precision(1, min_grade=1, key="document", measures="run")


@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
def test_letters_are_those_of_each_metric_and_families_are_named(adjust):
    frame = experiment()
    found = summary(frame, METRICS, adjust=adjust)
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows = found[found["metric"] == metric].set_index("measure")
        ranks = system_ranks(wide[metric], adjust=adjust).set_index("system")
        assert rows["letters"].tolist() == ranks["letters"].loc[rows.index].tolist()
        assert rows["undecided"].tolist() == ranks["undecided"].loc[rows.index].tolist()
    assert ("p_adjusted" in found) == (adjust is not None)
    assert found.attrs.get("family") == (None if adjust is None else "all 3 pairs for each metric")
    assert "letters" not in summary(frame, METRICS, baseline="both", adjust=adjust)


def test_all_metrics_may_be_one_family():
    frame = experiment()
    each, together = (
        query_summary(frame, METRICS, baseline="both", adjust="max-t", adjust_over=over,
                      n_resamples=9_999)
        for over in ("metrics", "all")
    )  # fmt: skip
    alone, family = (x["p_adjusted"].dropna() for x in (each, together))
    np.testing.assert_allclose(family, np.minimum(1.0, 3 * alone))
    assert together.attrs["family"] == "2 comparisons with both for all 3 metrics"
    assert (together["difference_low"].dropna() <= each["difference_low"].dropna()).all()
    with pytest.raises(ValueError, match="adjust_over"):
        query_summary(frame, METRICS, adjust_over="n")


# The paired t test, and what means rest on


def search(seed, queries=60, documents=40):
    """Return three runs of some queries, the third with tied scores."""
    rng = np.random.default_rng(seed)
    size = queries * documents
    frame = pd.DataFrame(
        {
            "query": np.repeat(np.arange(queries), documents),
            "document": [*range(documents)] * queries,
        }
    )
    relevant = rng.random(size) < 0.25
    frame["grade"] = np.where(rng.random(size) < 0.9, relevant, np.nan)
    frame["r1"] = np.where(rng.random(size) < 0.7, rng.normal(size=size) + 0.8 * relevant, np.nan)
    frame["r2"] = np.where(rng.random(size) < 0.7, rng.normal(size=size) + 0.4 * relevant, np.nan)
    frame["r3"] = np.round(rng.normal(size=size) + 0.6 * relevant, 2)
    return frame


@pytest.mark.parametrize("ask", ["permutation", "summary", "items"])
def test_the_paired_t_test_is_scipys(ask):
    from scipy import stats

    frame = search(1)
    wide = frame.rankeval.per_query("nDCG@10", wide=True)
    known = {x: stats.ttest_rel(wide[x], wide["r2"]) for x in ("r1", "r3")}
    if ask == "permutation":
        found = wide.rankeval.paired_permutation(test="t", baseline="r2", details=True)
        found = found.set_index("system_a")
        columns = ("gain", "ci_low", "ci_high", "p_value")
        assert found.loc["r1", "gain_se"] == pytest.approx(
            stats.sem(wide["r1"] - wide["r2"]), rel=1e-12
        )
    else:
        given = (wide, {}) if ask == "items" else (frame, {"n": "nDCG@10"})
        found = given[0].rankeval.summary(**given[1], test="t", baseline="r2", adjust=None)
        found = found.set_index("system" if ask == "items" else "measure")
        columns = ("difference", "difference_low", "difference_high", "p_value")
        if ask == "summary":
            found = frame.rankeval.summary(
                "nDCG@10", test="t", baseline="r2", adjust=None, details=True
            ).set_index("measure")
    for run, test in known.items():
        limits = test.confidence_interval()
        wanted = ((wide[run] - wide["r2"]).mean(), limits.low, limits.high, test.pvalue)
        assert found.loc[run, list(columns)].tolist() == pytest.approx(wanted, rel=1e-10)


def test_t_tests_have_no_least_p_value():
    frame = search(2, queries=200)
    frame["r1"] = frame["r1"] + 3 * frame["grade"].fillna(0)
    table = frame.rankeval.summary(["nDCG@10"], baseline="r2", test="t").set_index("measure")
    assert table.loc["r1", "p_adjusted"] < 1e-20
    assert "p < 0.001" in rankeval_pd.in_words(table.reset_index())
    assert table.attrs["adjust"] == "holm"
    assert "the paired t test" in rankeval_pd.in_words(
        frame.rankeval.summary(["nDCG@10"], test="t"), methods=True
    )


def test_what_has_no_t_test():
    frame = search(3)
    with pytest.raises(
        ValueError, match="the largest of several t statistics has no known distribution"
    ):
        frame.rankeval.summary("AP", test="t", adjust="max-t")
    with pytest.raises(ValueError, match="test='t' applies only to systems scored on items and"):
        frame.assign(gold=frame["grade"] == 1).rankeval(
            gold="gold", missing="last", measures=["r1", "r3"]
        ).summary(10, test="t")
    wide = frame.rankeval.per_query("AP", wide=True)
    with pytest.raises(ValueError, match="test='t' with ranks='percentile'"):
        wide.rankeval.system_ranks(test="t", ranks="percentile")
    clustered = wide.reset_index().rankeval(groups="query", measures=["r1", "r2"])
    with pytest.raises(ValueError, match="test='t' supports only items in memory"):
        clustered.paired_permutation(test="t")


def test_flat_differences_are_no_evidence():
    frame = pd.DataFrame({"a": [0.5] * 20, "b": [0.25] * 20, "c": np.linspace(0, 1, 20)})
    with pytest.warns(RankevalWarning):
        found = frame.rankeval.paired_permutation("a", "b", test="t")
    assert found["p_value"].tolist() == [1.0]
    assert found["ci_low"].isna().all()


def test_means_say_what_they_rest_on():
    frame = search(4)
    frame.loc[frame["query"] < 3, "r1"] = np.nan
    frame.loc[frame["query"] == 5, "grade"] = 0.0
    table = frame.rankeval.summary(["P@10", "R@10"], details=True).set_index(["metric", "measure"])
    long = frame.rankeval.per_query(["P@10", "R@10"], details=True)
    by = long.groupby(["metric", "measure"])
    assert table["n_lacking"].tolist() == [3, 0, 0] * 2
    assert table["n_undefined"].tolist() == [0] * 3 + [1] * 3
    for fact, own in (("value_low", "value_low"), ("value_high", "value_high")):
        expected = by[own].apply(lambda x: x.fillna(0.0).mean())
        pd.testing.assert_series_equal(
            table[fact].sort_index(), expected.sort_index(), check_names=False
        )
    assert table["n_tied"].to_dict() == by["tied"].apply(lambda x: (x > 0).sum()).to_dict()
    depths = long.groupby("measure")["n_retrieved"].max()
    assert table.loc["P@10", "depth"].to_dict() == depths.to_dict()
    text = rankeval_pd.in_words(frame.rankeval.summary("P@10"))
    assert "A query for which a run retrieved nothing counts as 0 (up to 3 queries)." in text
    assert "of the documents up to the cutoff are judged." in text
    size = frame.groupby("query").cumcount()
    data = frame.assign(candidate=size).set_index(["query", "candidate"]).to_xarray()
    both = rankeval_pd.summary(data, ["P@10", "R@10"], details=True)
    rows = both[FACTS].to_dataframe().loc[table.index, FACTS]
    pd.testing.assert_frame_equal(rows, table[FACTS], check_dtype=False, check_index_type=False)
    whole = frame.rankeval.summary(["P@10", "R@10"])
    said = rankeval_pd.in_words(both)
    assert said == rankeval_pd.in_words(whole)
    assert "A query without a value counts as 0 (up to 1 query)." in said
    cut = frame.assign(r1=frame["r1"].where(frame["document"] < 20))
    said = rankeval_pd.in_words(cut.rankeval.summary("P@10"))
    assert re.search(r"The longest lists in the runs contain \d+ to 40 documents\.", said)
    for one in (data, data.chunk({"query": 7})):
        found = rankeval_pd.per_query(one, ["P@10", "R@10"], details=True).compute()
        for fact in ("tied", "value_low", "value_high", "judged", "undefined"):
            values = found[fact].to_series().rename_axis(["query", "measure", "metric"])
            rows = long.set_index(["query", "measure", "metric"])[fact]
            assert values.loc[rows.index].tolist() == pytest.approx(rows.tolist(), nan_ok=True)


def test_ordinary_collections_raise_no_warning():
    for seed in range(10):
        search(seed).rankeval.summary(["nDCG@10", "P@5", "AP"], test="t")  # warnings are errors


def test_shares_judged_depths_and_ties_that_may_decide_are_warned_of():
    frame = search(5)
    poorly = frame.assign(r2=frame["r2"].where(frame["grade"].isna() | (frame["document"] < 8)))
    with pytest.warns(
        RankevalWarning, match=r"P@10: up to rank 10, \d+% of the documents in 'r\d'"
    ):
        poorly.rankeval.summary("P@10")
    short = frame.assign(r1=frame["r1"].where(frame["document"] < 6))
    with pytest.warns(RankevalWarning, match=r"R@30: 'r1' retrieved at most \d+ documents"):
        short.rankeval.summary("R@30")
    tied = frame.assign(r3=np.sign(frame["r3"]))
    with pytest.warns(RankevalWarning, match="order of equal scores strongly affects P@5 of 'r3'"):
        tied.rankeval.summary("P@5")


def test_discounted_gain_is_no_share():
    frame = search(6)
    frame["grade"] = 3.0 * frame["grade"]
    table = frame.rankeval.summary("DCG@10", test="t", details=True)
    assert (table["ci_high"] > table["value"]).all()
    assert (table["value"] > 1.0).all()


def test_queries_that_are_left_out_count_as_nothing():
    frame = search(4)
    frame.loc[frame["query"] == 5, "grade"] = 0.0
    with pytest.warns(RankevalWarning, match="1 of 60 queries are left out"):
        table = frame.rankeval.summary("R@10", undefined="skip", details=True)
    assert (table["n_undefined"] == 0).all()
    assert "without a value" not in rankeval_pd.in_words(table)
    untied = table["measure"] != "r3"
    np.testing.assert_allclose(table["value_low"][untied], table["value"][untied])


@pytest.mark.parametrize("users", [100, 101])
def test_a_verdict_on_each_of_many_users_is_warned_of(users):
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"user": np.repeat(np.arange(users), 4), "gold": rng.random(4 * users) < 0.5})
    df = df.assign(a=rng.random(4 * users), b=rng.random(4 * users))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        df.rankeval(by="user").summary(2, n_resamples=99)
    many = [
        str(one.message)
        for one in said
        if "not adjusted for the number of groups" in str(one.message)
    ]
    assert len(many) == (users > 100)
    assert all("average='macro'" in one for one in many)
