"""What readers of runs are told before a number misleads them."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import RankevalWarning

RUNS = ["bm25", "dense"]


def search(queries: int = 8, documents: int = 30) -> pd.DataFrame:
    """Return runs that retrieve some of the documents of each query, which are partly judged."""
    rng = np.random.default_rng(5)
    rows = queries * documents
    frame = pd.DataFrame(
        {
            "query": np.repeat([f"Q{k}" for k in range(queries)], documents),
            "document": [f"D{x}" for x in rng.permutation(rows)],
            "bm25": rng.random(rows).round(1),
            "dense": rng.random(rows),
            "grade": rng.integers(0, 3, rows).astype(float),
        }
    )
    for name, share in (("bm25", 0.3), ("dense", 0.3), ("grade", 0.4)):
        frame[name] = frame[name].mask(rng.random(rows) < share)
    return frame


AS_LISTS = {"gold": "grade", "min_grade": 1, "missing": "absent", "unjudged": "negative"}


# ---------------------------------------------------------------- Queries that would be one list


@pytest.mark.parametrize("form", ["columns", "levels", "other names"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("nbest_precision", (5,)),
        ("compare", ("dense", "bm25", 5)),
        ("difference_region", ("dense", "bm25", 5)),
        ("judged_difference", ("dense", "bm25", 5)),
        ("roc", ()),
        ("random_bound", (0.05,)),
    ],
)
def test_queries_are_not_one_list_unless_it_is_said(form, method, options):
    frame, query, document = search(), "query", "document"
    if form == "levels":
        frame = frame.set_index(["query", "document"])
    elif form == "other names":
        query, document = "qid", "docno"
        frame = frame.rename(columns={"query": query, "document": document})
    roles = {**AS_LISTS, "measures": RUNS}
    if method == "judged_difference":
        del roles["unjudged"]
    for data in (frame, frame.iloc[::-1]):
        with pytest.raises(ValueError, match=rf"Pass by='{query}'") as error:
            getattr(data.rankeval(**roles), method)(*options)
        assert f"key='{document}'" in str(error.value)
        assert len(str(error.value)) <= 250
    getattr(frame.rankeval(**roles, by=query), method)(*options)
    getattr(frame.rankeval(**roles, exclude=query), method)(*options)


def test_the_advice_of_the_messages_leads_to_the_numbers_of_trec_eval():
    frame = search()
    steps = [{}, {"by": "query", "key": "document"}, {"gold": "grade", "min_grade": 1}]
    advice = [
        r"by='query', key='document'",
        r"gold='grade' with min_grade=1",
        "unjudged='negative'",
    ]
    roles = {}
    for step, told in zip(steps, advice, strict=True):
        roles |= step
        with pytest.raises(ValueError, match=told):
            frame.rankeval(**roles).nbest_precision(10)
    roles |= {"unjudged": "negative"}
    with pytest.raises(ValueError, match="missing='absent'"):
        frame.rankeval(**roles).nbest_precision(10)
    found = frame.rankeval(**roles, missing="absent").nbest_precision(10, average="macro")
    wanted = frame.rankeval.summary("P@10")
    assert found["precision"].to_numpy() == pytest.approx(wanted["value"].to_numpy())
    assert "by='query', key='document'" in str(frame.rankeval(gold="grade"))


def test_a_query_that_is_constant_in_a_group_or_names_each_row_is_no_list():
    frame = search()
    text = frame.assign(query="the text of " + frame["query"], topic=frame["query"])
    roles = {**AS_LISTS, "key": "document"}
    found = text.rankeval(**roles, by="topic").nbest_precision(5)
    wanted = frame.rankeval(**roles, by="query").nbest_precision(5)
    assert found["tp"].tolist() == wanted["tp"].tolist()
    names = frame.dropna().assign(query=lambda x: "query " + x["document"])
    names.rankeval(**AS_LISTS).nbest_precision(5)
    one = frame[frame["query"] == "Q3"]
    one.rankeval(**AS_LISTS).nbest_precision(5)
    part = frame.assign(part=frame["query"] < "Q4")
    with pytest.raises(ValueError, match=r"Pass by=\['part', 'query'\]"):
        part.rankeval(**AS_LISTS, by="part").nbest_precision(5)


# ------------------------------------------------------------------------- Collections that collide


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("level", [False, True])
def test_queries_of_two_collections_with_one_id_are_not_merged(shared, level):
    news = search()
    web = news[news["query"] < "Q3"]
    if not shared:
        web = web.assign(document="W" + web["document"])
    if level:
        both = pd.concat({"news": news, "web": web}, names=["collection"])
    else:
        both = pd.concat([news.assign(collection="news"), web.assign(collection="web")])
    told = r"'collection' has several values in each of 3 queries.*by=\['collection', 'query'\]"
    for call in ("summary", "per_query"):
        with pytest.raises(ValueError, match=told):
            getattr(both.rankeval, call)("nDCG@10")
    assert "'collection' has several values" in str(both.rankeval)
    apart = both.rankeval(by=["collection", "query"]).per_query("nDCG@10", wide=True)
    assert len(apart) == 11
    assert len(both.loc[["news"]].rankeval.per_query("P@5", wide=True) if level else news) > 0
    if not shared:
        merged = both.rankeval(exclude="collection").per_query("nDCG@10", wide=True)
        assert len(merged) == 8


def test_repeated_documents_may_be_those_of_several_collections():
    frame = search()
    with pytest.raises(ValueError, match=r"as by=\['collection', 'query'\] and key=.*drop"):
        pd.concat([frame, frame]).rankeval.per_query("P@5")


# ----------------------------------------------------------------- Documents that were not judged


def test_queries_that_were_not_judged_are_told_where_they_count_as_zero():
    frame = search()
    lost = frame["query"] == "Q6"
    frame["grade"] = frame["grade"].mask(lost)
    roles = {**AS_LISTS, "by": "query", "key": "document"}
    with pytest.warns(RankevalWarning, match=r"1 of 8 groups of by=\['query'\] have no label"):
        whole = frame.rankeval(**roles).nbest_precision(5, average="macro")
    kept = frame[~lost].rankeval(**roles).nbest_precision(5, average="macro")
    with pytest.warns(RankevalWarning, match=r"Queries without judgments are left out \(1: 'Q6'\)"):
        wanted = frame.rankeval.per_query("P@5", wide=True).mean()
    assert kept["precision"].to_numpy() == pytest.approx(wanted.to_numpy())
    assert (whole["precision"] * 8 / 7).to_numpy() == pytest.approx(kept["precision"].to_numpy())


def test_missing_grades_of_a_single_list_are_told():
    data = search(1, 40).drop(columns=["query", "document"]).dropna(subset=RUNS)
    count = int(data["grade"].isna().sum())
    told = rf"gold='grade' is missing for {count} of {len(data)} candidates"
    with pytest.warns(RankevalWarning, match=told):
        found = data.rankeval.per_query("nDCG@5")
    settled = data.rankeval(unjudged="negative").per_query("nDCG@5")
    assert found["value"].tolist() == settled["value"].tolist()
    skipped = data.rankeval(unjudged="skip").per_query("nDCG@5")["value"].tolist()
    full = data.dropna().rankeval.per_query("nDCG@5")["value"].tolist()
    assert skipped == pytest.approx(full)
    with pytest.raises(ValueError, match=r"two or more judged queries.*per_query\('nDCG@5'\)"):
        data.rankeval(unjudged="negative").summary("nDCG@5")


def test_sentences_about_queries_without_a_value_are_plain():
    frame = search()
    frame["dense"] = frame["dense"].mask(frame["query"] == "Q1")
    frame["grade"] = frame["grade"].where(frame["query"] != "Q2", 0.0)
    told = rankeval_pd.in_words(frame.rankeval.summary("AP"))
    assert "If a run retrieved no documents for a query, its value is 0 (up to 1 query)." in told
    assert "such as recall if no document is relevant, counts as 0 (up to 1 query)." in told


# ------------------------------------------------------------------------- Lists and their parts


def test_a_document_that_a_run_did_not_retrieve_has_no_rank():
    frame = search()
    roles = {"by": "query", "key": "document", "missing": "absent"}
    found = frame.rankeval(**roles).difference_region("dense", "bm25", 5)
    for side, name in (("a", "dense"), ("b", "bm25")):
        rank = found[f"rank_{side}"]
        assert (rank.isna() == found[name].isna()).all()
        assert rank.isna().any() or name == "dense"
        retrieved = frame[name].notna().groupby(frame["query"]).sum()
        assert (rank.dropna() <= found["query"].map(retrieved)[rank.notna()]).all()
    last = frame.rankeval(**{**roles, "missing": "last"}).difference_region("dense", "bm25", 5)
    assert last["rank_b"].dtype.kind == "i"
    # a part of the queries has the rows of all queries, with the same roles
    one = frame[frame["query"] == "Q5"].rankeval(**roles).difference_region("dense", "bm25", 5)
    pd.testing.assert_frame_equal(one, found[found["query"] == "Q5"])


def test_bounds_of_a_mean_difference_are_the_means_of_the_bounds():
    """All unjudged documents relevant in one list and not in the other, counted by hand."""
    frame = search()
    roles = {"gold": "grade", "min_grade": 1, "by": "query", "key": "document"}
    asked = frame.rankeval(**roles, missing="absent")
    found = asked.judged_difference("dense", "bm25", 5, unjudged="bounds")
    ends = []
    for best in ("dense", "bm25"):
        gaps = []
        for _, part in frame.groupby("query"):
            part = part.astype({"bm25": "float32", "dense": "float32"})
            lists = {
                x: part.dropna(subset=x).sort_values([x, "document"], ascending=False).head(5)
                for x in RUNS
            }
            both = set(lists["dense"]["document"]) & set(lists["bm25"]["document"])
            tp = {
                x: (rows["grade"].fillna(float(x == best)) >= 1)[~rows["document"].isin(both)].sum()
                for x, rows in lists.items()
            }
            gaps.append((tp["dense"] - tp["bm25"]) / 5)
        ends.append(np.mean(gaps))
    assert ends == pytest.approx([found["ci_high"].mean(), found["ci_low"].mean()])


def test_no_significant_comparison_is_told_as_none():
    frame = search(14)
    roles = {"gold": "grade", "min_grade": 1, "by": "query", "key": "document"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)  # clearly no random sample
        found = frame.rankeval(**roles, missing="absent").judged_difference("dense", "bm25", 5)
    said = rankeval_pd.in_words(found)
    assert re.match(r"Of \d+ comparisons, none is significant at the 5% level \(unadj", said)


# --------------------------------------------------------------------------------- Long frames


def as_long(frame: pd.DataFrame, runs: list[str]) -> pd.DataFrame:
    """Return a row per retrieved document and run."""
    named = frame.rename(columns={"query": "qid", "document": "docno", "grade": "label"})
    rows = named.melt(["qid", "docno", "label"], runs, var_name="model", value_name="score")
    return rows.dropna(subset="score").reset_index(drop=True)


@pytest.mark.parametrize("runs", [RUNS, RUNS[:1]])
@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_long_frame_has_the_numbers_of_its_runs_or_warns(runs, missing):
    frame = search()
    long, metrics = as_long(frame, runs), ["nDCG@10", "AP"]
    wanted = frame[["query", "document", *runs, "grade"]].rankeval.per_query(metrics, wide=True)
    with pytest.warns(RankevalWarning, match="without 'model' and score"):
        found = long.rankeval.per_query(metrics, wide=True)
    assert (found["AP"] > wanted["AP"]).any(axis=None)
    # with the rest of the judged documents, as the page on runs says
    judged = frame.loc[frame[runs].isna().all(axis=1), ["query", "document", "grade"]].dropna()
    judged.columns = ["qid", "docno", "label"]
    whole = pd.concat([long, judged])  # without a model and a score
    if missing is None:
        whole = whole.astype({"score": object}).where(whole.notna(), None)
    found = whole.rankeval.per_query(metrics, wide=True)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert list(found["AP"]) == runs
    shown = repr(whole.rankeval)
    assert "'model' as measure" in shown
    assert "not yet clear" not in repr(long.rankeval)  # without a warning
    told = {"measure": "model", "score": "score", "by": "qid", "item": "docno", "gold": "label"}
    again = whole.rankeval(**told).per_query(metrics, wide=True)
    np.testing.assert_array_equal(again, found)


def test_candidates_that_all_runs_score_need_no_other_rows():
    frame = search().dropna()
    long = as_long(frame, RUNS)
    found = long.rankeval.per_query("AP", wide=True)
    np.testing.assert_array_equal(found, frame.rankeval.per_query("AP", wide=True))


def test_a_query_column_with_another_usual_name_is_named_in_the_error():
    one = as_long(search(), RUNS[:1]).drop(columns="model")
    with pytest.raises(ValueError, match="Pass the query column, by='qid', key='docno'"):
        one.rankeval(gold="label").per_query("AP")
    roles = {"gold": "label", "by": "qid", "key": "docno"}
    assert len(one.rankeval(**roles).per_query("AP", wide=True)) == 8


# -------------------------------------------------------------------- A run that did not change

RECIPE = Path(__file__).parents[2] / "docs" / "howto" / "ci.md"


@pytest.mark.parametrize(
    ("change", "passes"), [(0.0, True), (0.001, True), (-0.5, False)], ids=["same", "few", "worse"]
)
def test_the_recipe_for_builds_passes_an_unchanged_run_and_prints_valid_json(
    change, passes, monkeypatch, capsys
):
    data = rankeval_pd.datasets.load_docstring_search()
    rng = np.random.default_rng(0)
    other = data["bm25"] + abs(change) * rng.normal(size=len(data)) * data["bm25"].std()
    if change < 0.0:
        other = -data["bm25"]
    frame = data.assign(tfidf=data["bm25"], bm25=other)
    monkeypatch.setattr(rankeval_pd.datasets, "load_docstring_search", lambda: frame)
    [cell] = re.findall(r"^```\{code-cell\}\n(.*?)^```", RECIPE.read_text("utf-8"), re.M | re.S)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)  # no interval, or a reversed run
        exec(cell, {})
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["passed"] is passes
    if not change:
        assert found == {"passed": True, "gain": 0.0}
