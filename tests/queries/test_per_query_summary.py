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
    per_query,
    summary,
    system_ranks,
)
from rankeval_pd.queries.per_query import query_summary
from tests.queries.conftest import as_dataset

METRICS = ["nDCG@5", "AP", "P@3"]


FACTS = ["n_tied", "value_low", "value_high", "judged", "n_lacking", "n_undefined", "depth"]


def experiment(n_queries: int = 40, seed: int = 0) -> pd.DataFrame:
    """Return three runs, each better than the one before."""
    rng = np.random.default_rng(seed)
    grade = rng.choice([0, 0, 0, 1, 2], 12 * n_queries)
    query, document = np.divmod(np.arange(12 * n_queries), 12)
    runs = {"bm25": 0.5, "dense": 1.0, "both": 1.2}
    scores = {x: weight * grade + rng.standard_normal(grade.size) for x, weight in runs.items()}
    return pd.DataFrame({"query": query, "document": document, **scores, "grade": grade})


def search(seed: int, queries: int = 60, documents: int = 40) -> pd.DataFrame:
    """Return three runs of some queries, the third with tied scores."""
    rng = np.random.default_rng(seed)
    size = queries * documents
    query, document = np.divmod(np.arange(size), documents)
    frame = pd.DataFrame({"query": query, "document": document})
    relevant = rng.random(size) < 0.25
    frame["grade"] = np.where(rng.random(size) < 0.9, relevant, np.nan)
    frame["r1"] = np.where(rng.random(size) < 0.7, rng.normal(size=size) + 0.8 * relevant, np.nan)
    frame["r2"] = np.where(rng.random(size) < 0.7, rng.normal(size=size) + 0.4 * relevant, np.nan)
    frame["r3"] = np.round(rng.normal(size=size) + 0.6 * relevant, 2)
    return frame


def test_a_row_per_run_and_metric_from_the_public_functions():
    frame = experiment()
    found = frame.rankeval.summary(METRICS, baseline="both")
    assert list(found.columns) == [
        "measure", "metric", "value", "ci_low", "ci_high", "rank_low", "rank_high", "difference",
        "difference_low", "difference_high", "p_adjusted", "tied_for_best", "wins", "ties",
        "losses", "p_value", "difference_low_alone", "difference_high_alone", "undecided",
        "ci_low_alone", "ci_high_alone", *FACTS,
    ]  # fmt: skip
    assert found["metric"].tolist() == [m for m in METRICS for _ in range(3)]
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows, items = found[found["metric"] == metric].set_index("measure"), wide[metric]
        np.testing.assert_allclose(rows["value"], items.mean())
        ranks = system_ranks(items).set_index("system")
        for name in ("ci_low", "ci_high", "ci_low_alone", "rank_low", "rank_high", "tied_for_best"):
            assert rows[name].tolist() == ranks[name].loc[rows.index].tolist()
        assert rows.loc["both", ["difference", "p_adjusted", "wins"]].isna().all()
        for pair in paired_bootstrap(items, "both", adjust="max-t").itertuples():
            a_is_baseline = pair.system_a == "both"
            row = rows.loc[pair.system_b if a_is_baseline else pair.system_a]
            sign = -1 if a_is_baseline else 1
            assert row["difference"] == sign * pair.gain
            limits = sorted([sign * pair.ci_low, sign * pair.ci_high])
            assert row[["difference_low", "difference_high"]].tolist() == limits
            assert row["p_adjusted"] == pair.p_adjusted
        over = items.sub(items["both"], axis=0)[["bm25", "dense"]]
        others = rows.loc[["bm25", "dense"]]
        assert others.loc["bm25", "difference"] < 0  # of the worse run
        assert others["wins"].tolist() == (over > 1e-12).sum().tolist()
        assert others["losses"].tolist() == (over < -1e-12).sum().tolist()
        assert (others[["wins", "ties", "losses"]].sum(axis=1) == 40).all()


def test_without_a_baseline_there_is_no_difference():
    found = summary(experiment(), "AP")
    assert found[["difference", "p_adjusted", "wins"]].isna().all(axis=None)
    assert found["tied_for_best"].any()


@pytest.mark.parametrize("adjust", ["max-t", None, "holm"])
def test_letters_are_those_of_each_metric_and_families_are_named(adjust):
    frame = experiment()
    found = summary(frame, METRICS, adjust=adjust)
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows = found[found["metric"] == metric].set_index("measure")
        ranks = system_ranks(wide[metric], adjust=adjust).set_index("system").loc[rows.index]
        for column in ("letters", "undecided"):
            assert rows[column].tolist() == ranks[column].tolist()
    assert ("p_adjusted" in found) == (adjust is not None)
    assert found.attrs.get("family") == (None if adjust is None else "all 3 pairs for each metric")
    assert "letters" not in summary(frame, "AP", baseline="both", adjust=adjust)


def test_all_metrics_may_be_one_family():
    frame, ask = experiment(), {"baseline": "both", "adjust": "max-t", "n_resamples": 9_999}
    each, together = (
        query_summary(frame, METRICS, adjust_over=over, **ask) for over in ("metrics", "all")
    )
    alone, family = (x["p_adjusted"].dropna() for x in (each, together))
    np.testing.assert_allclose(family, np.minimum(1.0, 3 * alone))
    assert together.attrs["family"] == "2 comparisons with both for all 3 metrics"
    assert (together["difference_low"].dropna() <= each["difference_low"].dropna()).all()
    with pytest.raises(ValueError, match="adjust_over"):
        query_summary(frame, METRICS, adjust_over="n")


def test_discounted_gain_is_no_share():
    frame = search(6)
    frame["grade"] = 3.0 * frame["grade"]
    table = frame.rankeval.summary("DCG@10", test="t", details=True)
    assert (table["ci_high"] > table["value"]).all()
    assert (table["value"] > 1.0).all()


# ------------------------------------------------------------------------------- the paired tests


def test_the_paired_t_test_is_scipys():
    frame = search(1)
    wide = frame.rankeval.per_query("nDCG@10", wide=True)
    pairs = wide.rankeval.paired_permutation(test="t", baseline="r2", details=True)
    asked = {"test": "t", "baseline": "r2", "adjust": None}
    shown = ["difference", "difference_low", "difference_high", "p_value"]
    tables = (
        pairs.set_index("system_a")[["gain", "ci_low", "ci_high", "p_value"]],
        frame.rankeval.summary("nDCG@10", **asked).set_index("measure")[shown],
        wide.rankeval.summary(**asked).set_index("system")[shown],
    )
    for run in ("r1", "r3"):
        test = stats.ttest_rel(wide[run], wide["r2"])
        limits, gain = test.confidence_interval(), (wide[run] - wide["r2"]).mean()
        for table in tables:
            wanted = [gain, limits.low, limits.high, test.pvalue]
            assert table.loc[run].tolist() == pytest.approx(wanted, rel=1e-10)
    error = stats.sem(wide["r1"] - wide["r2"])
    assert pairs["gain_se"][0] == pytest.approx(error, rel=1e-12)


def test_t_tests_have_no_least_p_value():
    frame = search(2, queries=200)
    frame["r1"] = frame["r1"] + 3 * frame["grade"].fillna(0)
    table = frame.rankeval.summary("nDCG@10", baseline="r2", test="t")
    assert table.set_index("measure").loc["r1", "p_adjusted"] < 1e-20
    assert "p < 0.001" in rankeval_pd.in_words(table)
    assert table.attrs["adjust"] == "holm"
    assert "the paired t test" in rankeval_pd.in_words(table, methods=True)


def test_what_has_no_t_test():
    frame = search(3)
    wide = frame.rankeval.per_query("AP", wide=True)
    lists = frame.assign(gold=frame["grade"] == 1).rankeval(
        gold="gold", missing="last", measures=["r1", "r3"]
    )
    clustered = wide.reset_index().rankeval(groups="query", measures=["r1", "r2"])
    for ask, message in (
        (lambda: frame.rankeval.summary("AP", test="t", adjust="max-t"),
         "the largest of several t statistics has no known distribution"),
        (lambda: lists.summary(10, test="t"),
         "test='t' applies only to systems scored on items and"),
        (lambda: wide.rankeval.system_ranks(test="t", ranks="percentile"),
         "test='t' with ranks='percentile'"),
        (lambda: clustered.paired_permutation(test="t"), "test='t' supports only items in memory"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            ask()


def test_flat_differences_are_no_evidence():
    frame = pd.DataFrame({"a": [0.5] * 20, "b": [0.25] * 20, "c": np.linspace(0, 1, 20)})
    with pytest.warns(RankevalWarning):
        found = frame.rankeval.paired_permutation("a", "b", test="t")
    assert found["p_value"].tolist() == [1.0]
    assert found["ci_low"].isna().all()


# --------------------------------------------------------------------------- what means rest on


def test_means_say_what_they_rest_on():
    frame = search(4)
    frame.loc[frame["query"] < 3, "r1"] = np.nan
    frame.loc[frame["query"] == 5, "grade"] = 0.0
    whole, metrics = frame.rankeval.summary(["P@10", "R@10"], details=True), ["P@10", "R@10"]
    table = whole.set_index(["metric", "measure"])
    long = frame.rankeval.per_query(metrics, details=True)
    by = long.groupby(["metric", "measure"])
    assert table["n_lacking"].tolist() == [3, 0, 0] * 2
    assert table["n_undefined"].tolist() == [0] * 3 + [1] * 3
    for fact in ("value_low", "value_high"):
        expected = by[fact].apply(lambda x: x.fillna(0.0).mean())
        assert table[fact].to_dict() == pytest.approx(expected.to_dict())
    assert table["n_tied"].to_dict() == by["tied"].apply(lambda x: (x > 0).sum()).to_dict()
    depths = long.groupby("measure")["n_retrieved"].max()
    assert table.loc["P@10", "depth"].to_dict() == depths.to_dict()
    said = rankeval_pd.in_words(whole)
    for fact in (
        "A query for which a run retrieved nothing counts as 0 (up to 3 queries).",
        "of the documents up to the cutoff are judged.",
        "A query without a value counts as 0 (up to 1 query).",
    ):
        assert fact in said
    cut = frame.assign(r1=frame["r1"].where(frame["document"] < 20))
    said = rankeval_pd.in_words(cut.rankeval.summary("P@10"))
    assert re.search(r"The longest lists in the runs contain \d+ to 40 documents\.", said)
    # and so does a Dataset
    data = as_dataset(frame)
    both = data.rankeval.summary(metrics, details=True)
    assert dict(both.sizes) == {"metric": 2, "measure": 3}
    rows = both[FACTS].to_dataframe().loc[table.index, FACTS]
    pd.testing.assert_frame_equal(rows, table[FACTS], check_dtype=False, check_index_type=False)
    assert rankeval_pd.in_words(both) == rankeval_pd.in_words(whole)
    found = data.rankeval.per_query(metrics, details=True)
    rows = long.set_index(["query", "measure", "metric"])
    for fact in ("tied", "value_low", "value_high", "judged", "undefined"):
        values = found[fact].to_series().rename_axis(rows.index.names)
        assert values.loc[rows.index].tolist() == pytest.approx(rows[fact].tolist(), nan_ok=True)


def test_what_is_undefined_is_asked_for_and_may_be_left_out():
    frame = experiment()
    frame.loc[frame["query"] == 3, "grade"] = 0
    with pytest.raises(ValueError, match="undefined='skip'"):
        summary(frame, "AUC")
    with pytest.warns(RankevalWarning, match="1 of 40 queries are left out"):
        found = summary(frame, ["AUC", "R@5"], undefined="skip", details=True)
    assert found.attrs["n_queries"] == 39
    assert (found["n_undefined"] == 0).all()
    assert "without a value" not in rankeval_pd.in_words(found)
    np.testing.assert_allclose(found["value_low"], found["value"])
    with pytest.raises(KeyError, match="baseline: no column 'bm52'"):
        summary(frame, "AP", baseline="bm52")


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


def test_a_verdict_on_each_of_many_users_is_warned_of():
    rng = np.random.default_rng(0)
    for users in (100, 101):
        df = pd.DataFrame(rng.random((4 * users, 2)), columns=["a", "b"])
        df = df.assign(user=np.arange(4 * users) // 4, gold=rng.random(4 * users) < 0.5)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            df.rankeval(by="user").summary(2, n_resamples=99)
        texts = [str(x.message) for x in said]
        many = [x for x in texts if "not adjusted for the number of groups" in x]
        assert len(many) == (users > 100)
        assert all("average='macro'" in x for x in many)


# --------------------------------------------------------------------------------------- roles


def test_an_accessor_is_configured_with_the_roles_of_queries():
    frame = experiment(seed=5)
    frame.loc[frame.index % 3 == 0, "grade"] = np.nan
    judged = frame.rankeval(unjudged="skip", ties="trec")
    found, other = (x.per_query("P@5", wide=True) for x in (judged, frame.rankeval))
    same = frame.rankeval.per_query("P@5", unjudged="skip", wide=True)
    pd.testing.assert_frame_equal(found, same)
    assert not found.equals(other)
    text = repr(judged)
    for fact in ("320 judged", "'bm25', 'dense', 'both'", "'trec', 'skip', 'absent'"):
        assert fact in text
    assert "nbest_precision" in text


def test_items_refuse_the_roles_of_queries():
    wide = experiment(seed=5).rankeval.per_query("AP", wide=True)
    for name, given in (("unjudged", "skip"), ("ties", "trec")):
        told = f"{name}={given!r} applies only to rankings, but data contains test items"
        with pytest.raises(ValueError, match=told):
            wide.rankeval(**{name: given}).paired_bootstrap()


def test_methods_of_rankings_say_where_the_grades_are():
    frame = pd.DataFrame({"query": ["1"], "document": ["d"], "run": [1.0], "grade": [2]})
    with pytest.raises(
        ValueError, match=r"'grade' may contain it. Pass gold='grade' and.*min_grade=1"
    ):
        frame.rankeval.nbest_precision(1)
    twice = pd.concat([frame, frame.assign(query="2")]).rename(columns={"grade": "gold"})
    with pytest.raises(ValueError, match=r"pass the query column as by=\.\.\."):
        twice.rankeval.nbest_precision(1, min_grade=1, key="document", measures="run")
