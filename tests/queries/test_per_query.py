"""Metrics of each query, equal to trec_eval's to the last bit, and summaries of runs."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import ndcg_score

import rankeval_pd
from rankeval_pd import RankevalWarning, paired_bootstrap, per_query, summary, system_ranks
from rankeval_pd.queries.per_query import parse_metrics, query_summary
from tests.conftest import examples
from tests.queries.conftest import as_dataset, collection, ours

EXACT = [
    "P@1", "P@5", "P@10", "P@100", "R@5", "R@100", "Success@1", "Success@5", "AP", "AP@5", "AP@50",
    "RR", "nDCG", "nDCG@3", "nDCG@10", "nDCG@100", "Rprec", "Bpref", "P(rel=2)@5",
    "AP(rel=2)", "Bpref(rel=2)", "Rprec(rel=2)", "IPrec@0.0", "IPrec@0.1",
    "IPrec@0.5", "IPrec@1.0", "IPrec(rel=2)@0.3",
]  # fmt: skip


def by_peer(frame: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Return what ir_measures says, a row per query."""
    ir_measures = pytest.importorskip("ir_measures")

    def by_query(column: str, kind: type) -> dict[str, dict[str, int | float]]:
        return {
            query: {d: kind(x) for d, x in zip(rows["document"], rows[column], strict=True)}
            for query, rows in frame.dropna(subset=column).groupby("query")
        }

    qrels, run = by_query("grade", int), by_query("run", float)
    asked = {ir_measures.parse_measure(name): name for name in metrics}
    found = {
        (m.query_id, asked[m.measure]): m.value for m in ir_measures.iter_calc(asked, qrels, run)
    }
    return pd.Series(found).unstack()[metrics]  # noqa: PD010


# ---------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    "seeds", [pytest.param(range(4, 200), marks=pytest.mark.full), range(4)], ids=["rest", "four"]
)
def test_equal_to_trec_eval_to_the_last_bit(seeds):
    """trec_eval through ir_measures, on 200 collections."""
    for seed in seeds:
        frame = collection(seed)
        np.testing.assert_array_equal(ours(frame, EXACT), by_peer(frame, EXACT))


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_ir_measures_without_ties(seed):
    # of ties, its RR@k and Judged@k take the smaller document first, unlike trec_eval; and its
    # Judged@k counts grades below 0
    frame = collection(seed, ties=False)
    for data, metrics in (
        (frame, ["RR@3", "RR@10"]),
        (frame.assign(grade=frame["grade"].abs()), ["Judged@5", "Judged@20"]),
    ):
        np.testing.assert_allclose(ours(data, metrics), by_peer(data, metrics), rtol=1e-12)
    judged = frame.assign(run=frame["run"].where(frame["grade"] >= 0))
    np.testing.assert_array_equal(
        ours(frame, EXACT[:17], unjudged="skip"), by_peer(judged, EXACT[:17])
    )


def defined(grades: list[float], n_positive: int, ideal: list[float]) -> dict[str, float]:
    """Return metrics of one list of grades by their definitions, rank by rank."""
    hits = [g >= 1 for g in grades]
    stop = [(2.0 ** max(g, 0.0) - 1) / 16 for g in grades]
    going = np.cumprod([1.0, *(1 - r for r in stop)])
    gain = sum((2.0 ** max(g, 0.0) - 1) / math.log2(i + 2) for i, g in enumerate(grades[:10]))
    best = sum(
        (2.0**g - 1) / math.log2(i + 2) for i, g in enumerate(sorted(ideal, reverse=True)[:10])
    )
    return {
        "F1@4": 2 * sum(hits[:4]) / (4 + n_positive),
        "RBP": sum(0.2 * 0.8**i for i, hit in enumerate(hits) if hit),
        "RBP(p=0.5)@3": sum(0.5 * 0.5**i for i, hit in enumerate(hits[:3]) if hit),
        "ERR@8": sum(going[i] * stop[i] / (i + 1) for i in range(min(8, len(grades)))),
        "nDCG(dcg='exp-log2')@10": gain / best if best else 0.0,
    }


@pytest.mark.parametrize("seed", range(3))
def test_metrics_that_trec_eval_lacks_are_their_definitions(seed):
    frame = collection(seed, ties=False)
    names = [*defined([], 1, [1.0])]
    found = ours(frame, names)
    for query, rows in frame.groupby("query"):
        listed = rows.dropna(subset="run").sort_values("run", ascending=False)["grade"]
        grades = rows["grade"].dropna().clip(lower=0.0).tolist()
        positive = sum(g >= 1 for g in grades)
        expected = defined(listed.fillna(0).tolist(), positive, grades)
        np.testing.assert_allclose(found.loc[query], [expected[x] for x in names], rtol=1e-12)


def test_grades_without_a_gain_keep_their_grade_as_in_ir_measures():
    for seed, gains in enumerate(("{1: 4}", "{1: 4, 3: 0}", "{0: 1, 1: 4}", "{2: 7}", "{5: 9}")):
        metrics = [f"nDCG(gains={gains}){at}" for at in ("@10", "@3", "")]
        frame = collection(seed)
        np.testing.assert_array_equal(ours(frame, metrics), by_peer(frame, metrics))


@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_gains_of_two_documents_by_hand(ties):
    """The values of ir_measures 0.4.3; a grade below 0 is no grade of 0."""

    def value(grades: list[int], metric: str) -> float:
        run = -1.0 * np.arange(len(grades))
        frame = pd.DataFrame({"query": 1, "document": -run.astype(int), "run": run})
        return per_query(frame.assign(grade=grades), metric, ties=ties)["value"].item()

    assert value([-1, 1], "nDCG(gains={0: 1, 1: 4})") == pytest.approx(1.0 / math.log2(3))
    assert value([0, 1], "nDCG(gains={0: 1, 1: 4})") == pytest.approx(0.7609096232928763)
    assert value([-1, 1], "nDCG(gains={-1: 1, 1: 4})") == pytest.approx(0.7609096232928763)
    assert value([2, 1], "nDCG(gains={1: 4})") == pytest.approx(0.8597186998521972)
    # large gains: the share of 2^1000 beside 2^999, and sums that no float can hold
    half = (0.5 + 1.0 / math.log2(3)) / (1.0 + 0.5 / math.log2(3))
    assert value([999, 1000], "nDCG(dcg='exp-log2')") == pytest.approx(half)
    for grade, metric in (
        (1024, "nDCG(dcg='exp-log2')"), (1024, "DCG(dcg='exp-log2')@5"),
        (1023, "nDCG(dcg='exp-log2')@1"), (1, "nDCG(gains={1: 1e308})"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"too large for a sum.*gold contains {grade}\."):
            value([grade, 0, grade], metric)


def test_metrics_of_one_short_list_by_hand():
    frame = pd.DataFrame({"query": 1, "document": range(6), "run": [6, 5, 4, 3, 2, 1.0]})
    for grades, metric, wanted in (
        ([1, 0, 2, 0, 0, 0], "DCG@5", 1.0 + 2.0 / math.log2(4)),
        ([1, 0, 1, 1, 1, 1], "AP@2", 1 / 5),
        ([1, 0, 1, 1, 1, 1], "AP(norm='min')@2", 1 / 2),  # as recommenders have it
        ([-1, 1, 0, 0, 0, 0], "Judged@2", 1 / 2),  # a grade below 0 is no judgment
    ):
        found = per_query(frame.assign(grade=grades), metric)["value"].item()
        assert found == pytest.approx(wanted), metric


# ------------------------------------------------------------------------------------------ ties
CLOSED = [
    "P@2", "R@3", "Success@1", "Success@3", "F1@3", "AP", "AP@3", "RR", "RR@2", "nDCG", "nDCG@3",
    "nDCG(dcg='exp-log2')@4", "Rprec", "RBP", "RBP@3", "Judged@3",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:measures. in")  # the same query many times
@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([None, 0, 1, 2])), min_size=1, max_size=6)
)
def test_expected_ties_are_the_mean_over_all_orders(rows):
    score, grade = np.array(rows, dtype=float).T
    grade[0] = 1.0
    frame = pd.DataFrame({"query": "q", "score": score, "grade": grade})
    found = ours(frame, CLOSED, ties="expected").loc["q"]
    every = [
        pd.DataFrame({"query": k, "score": -np.arange(len(rows)), "grade": grade[list(order)]})
        for k, order in enumerate(itertools.permutations(range(len(rows))))
        if (np.diff(score[list(order)]) <= 0).all()
    ]
    mean = ours(pd.concat(every, ignore_index=True), CLOSED).mean()
    np.testing.assert_allclose(found, mean, rtol=1e-12, atol=1e-15)


def test_a_long_block_of_ties_keeps_its_digits():
    grade = np.zeros(5000)
    grade[[7, 99, 4000]] = 1
    frame = pd.DataFrame({"query": "q", "score": 1.0, "grade": grade})
    found = ours(frame, ["RR", "AP", "Success@10"], ties="expected").loc["q"]
    m, r = 5000, 3
    ways = math.comb(m, r)
    chance = [Fraction(math.comb(m - t, r - 1), ways) for t in range(1, m - r + 2)]
    reciprocal = math.fsum(float(p / t) for t, p in enumerate(chance, 1))
    precision = math.fsum((1 + (i - 1) * (r - 1) / (m - 1)) / i for i in range(1, m + 1)) / m
    wanted = [reciprocal, precision, float(sum(chance[:10]))]
    assert found.tolist() == pytest.approx(wanted, rel=1e-11)


def test_what_equal_scores_leave_open_is_in_the_details():
    """All orders of the tied documents, enumerated."""
    run, grade = [9, 5, 5, 5, 5, 1, np.nan], [1, 1, 0, 2, np.nan, 1, 2]
    frame = pd.DataFrame({"query": 1, "document": [*"abcdefg"], "run": run, "grade": grade})
    metrics = ["P@3", "AP", "nDCG@4", "RR", "Success@2", "ERR@5"]
    found = per_query(frame, metrics, details=True).set_index("metric")
    values = []
    for order in itertools.permutations(range(4)):
        untied = frame["run"].to_numpy(copy=True)
        untied[1:5] -= np.array(order) / 10
        values.append(per_query(frame.assign(run=untied), metrics)["value"])
    np.testing.assert_allclose(found["value_low"], np.min(values, axis=0), rtol=1e-14)
    np.testing.assert_allclose(found["value_high"], np.max(values, axis=0), rtol=1e-14)
    assert found["tied"].tolist() == [2, 0, 1, 0, 3, 0]
    assert found.loc["nDCG@4", "judged"] == 0.75
    assert not found["undefined"].any()


@pytest.mark.parametrize("unjudged", ["negative", "skip"])
def test_lists_of_runs_are_those_of_trec_eval(unjudged):
    frame = search(1)
    frame[["r1", "r2"]] = frame[["r1", "r2"]].round(0)
    roles = {"gold": "grade", "min_grade": 1, "by": "query", "missing": "absent"}
    lists = frame.rankeval(**roles, key="document", unjudged=unjudged).nbest_precision(5)
    assert lists.attrs["ties"] == "trec"
    wide = frame.rankeval.per_query("P@5", wide=True, unjudged=unjudged)
    found = lists.set_index(["query", "measure"])["precision"].to_xarray().to_pandas()
    pd.testing.assert_frame_equal(found, wide, check_names=False)
    alone = {**roles, "by": None, "exclude": "query"}
    with pytest.raises(ValueError, match="Pass the document column as key="):
        frame.rankeval(**alone, ties="trec", unjudged="skip").area()
    with pytest.raises(ValueError, match=r"unjudged='negative' \(a lower bound for precision\)"):
        frame.rankeval(**roles, key="document").nbest_precision(5)


# -------------------------------------------------------------------------- names, forms and tables


def test_names_of_other_tools_are_understood():
    known = {
        "ndcg@10": "nDCG@10", "ndcg_cut_10": "nDCG@10", "NDCG@10": "nDCG@10", "precision@5": "P@5",
        "P_5": "P@5", "recall_100": "R@100", "recall@9": "R@9", "mrr": "RR", "MRR@10": "RR@10",
        "recip_rank": "RR", "map": "AP", "MAP@7": "AP@7", "map_cut_7": "AP@7",
        "success_5": "Success@5", "HitRate@5": "Success@5", "hit_rate@5": "Success@5",
        "hits@5": "Success@5", "bpref": "Bpref", "r-precision": "Rprec",
        "iprec_at_recall_0.10": "IPrec@0.1", "f1@3": "F1@3", "dcg@3": "DCG@3",
        "rbp": "RBP", "err@5": "ERR@5", "ndcg_cut.10": "nDCG@10", "P.10": "P@10",
        "recall.100": "R@100", "map_cut.7": "AP@7", "iprec_at_recall.0.10": "IPrec@0.1",
    }  # fmt: skip
    frame = collection(1)
    found, meant = ours(frame, [*known]), ours(frame, [*{*known.values()}])
    for name, own in known.items():
        np.testing.assert_array_equal(found[name], meant[own])


def test_names_of_metrics_may_come_from_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    frame = collection(1)
    asked = [ir_measures.nDCG @ 10, ir_measures.MAP, ir_measures.P(rel=2) @ 5]
    found = per_query(frame, asked)
    assert found["metric"].unique().tolist() == ["nDCG@10", "AP", "P(rel=2)@5"]
    assert parse_metrics(["MAP"], 1)[0][:-1] == parse_metrics(["AP"], 1)[0][:-1]


def test_queries_documents_and_grades_are_columns_index_levels_or_values():
    frame = collection(8)
    expected = per_query(frame, EXACT)
    named = frame.rename(columns={"query": "q", "document": "d", "grade": "g"})
    found = per_query(named, EXACT, by="q", key="d", gold="g")
    pd.testing.assert_frame_equal(found.rename(columns={"q": "query"}), expected)
    level = frame.set_index(["query", "document"])
    pd.testing.assert_frame_equal(per_query(level, EXACT), expected)


def test_the_wide_table_is_what_the_paired_tests_take():
    frame = collection(1)
    frame["other"] = -frame["run"]
    one, wide, several = (
        per_query(frame, metrics, wide=is_wide)
        for metrics, is_wide in (("AP", False), ("AP", True), (["AP", "P@5"], True))
    )
    assert wide.index.name == "query"
    assert list(wide.columns) == ["run", "other"]
    assert several.columns.names == ["metric", "system"]
    pd.testing.assert_frame_equal(several["AP"], wide)
    for name in ("paired_bootstrap", "system_ranks", "paired_permutation"):
        ask = getattr(rankeval_pd, name)
        ask(wide)
        with pytest.raises(ValueError, match=r"each row must be one query.*wide=True"):
            ask(one)


def test_the_metric_stays_with_its_values():
    frame = collection(1)
    frame["other"] = -frame["run"]
    several, wide = (per_query(frame, x, wide=True) for x in (["AP", "P@3"], "AP"))
    data = per_query(as_dataset(frame), "AP").rename(query="item", measure="system")
    for table in (wide, several[["AP"]], data[["AP"]]):
        found = rankeval_pd.paired_bootstrap(table, n_resamples=99)
        assert found.attrs["of"] == "AP"
        assert "mean AP is" in rankeval_pd.in_words(found)
    ranks = rankeval_pd.system_ranks(several[["AP"]], n_resamples=99)
    assert "highest mean AP" in rankeval_pd.in_words(ranks)
    assert rankeval_pd.plotting.system_ranks(ranks).get_xlabel() == "mean AP"
    told = r"metrics 'AP', 'P@3'.*Select one metric: data\[\['AP'\]\]"
    for ask in (rankeval_pd.paired_bootstrap, rankeval_pd.plotting.paired_differences):
        with pytest.raises(ValueError, match=told):
            ask(several)
    pictures = [rankeval_pd.plotting.paired_differences(x) for x in (wide, several[["AP"]])]
    heights, same = ([bar.get_height() for bar in axes.patches] for axes in pictures)
    assert heights == same


def test_runs_are_no_systems_over_items():
    frame = collection(1).assign(other=1.0)
    for ask in ("paired_bootstrap", "system_ranks", "paired_permutation"):
        with pytest.raises(ValueError, match=r"'query', 'document', but .*per_query\('nDCG@10'"):
            getattr(frame.rankeval, ask)()
    with pytest.raises(ValueError, match=r"per_query\('nDCG@10', wide"):
        frame.rankeval.plot.pairs()


def test_the_overview_of_runs_leads_to_their_questions_with_a_recipe_that_runs():
    frame = search(1)
    text = repr(frame.rankeval)
    assert "per_query('nDCG@10', wide=True)" in text
    assert "tie_sensitivity" not in text
    recipe = text[text.index("df.rankeval(gold") : text.index("): nbest_precision") + 1]
    assert "unjudged='negative'" in recipe
    accessor = eval(" ".join(recipe.split()), {"df": frame})
    for ask in ("nbest_precision", "compare", "random_test"):
        assert len(getattr(accessor, ask)(n=5))
    assert "as in trec_eval" in repr(accessor)
    assert "tie_sensitivity" in repr(frame.rankeval(gold="grade", by="query"))


# ------------------------------------------------------------- undefined, unjudged, missing


def test_a_query_without_positives_per_metric():
    frame = pd.DataFrame(
        {"query": [*"1122"], "document": [*"abab"], "run": [2.0, 1.0] * 2, "grade": [1, 0, 0, 0]}
    )
    undefined = ["R@2", "AP", "AP@5", "nDCG", "nDCG@5", "Rprec", "Bpref"]
    known = ["P@2", "RR", "Success@2", "F1@2", "RBP", "ERR@2", "Judged@2"]
    found = ours(frame, [*undefined, *known])
    assert (found.loc["2", undefined] == 0.0).all()
    skipped = per_query(frame, [*undefined, *known], undefined="skip")
    second = skipped[skipped["query"] == "2"]
    assert second["metric"].tolist() == known
    assert second["value"].tolist() == [0.0] * 6 + [1.0]
    with pytest.warns(RankevalWarning, match=r"1 of 2 queries are left out"):
        wide = per_query(frame, ["AP", "P@2"], undefined="skip", wide=True)
    assert wide.index.tolist() == ["1"]


def test_queries_without_judgments_are_left_out_and_said_once_a_call():
    frame = collection(2)
    more = pd.DataFrame({"query": ["x"], "document": ["a"], "run": [1.0], "grade": [np.nan]})
    both = pd.concat([frame, more])
    told = r"Queries without judgments.*\(1: 'x'\).*data\[~data\['query'\].isin\(\[...\]\)\]"
    for wide in (False, True):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found, expected = (per_query(x, ["AP", "P@2"], wide=wide) for x in (both, frame))
        pd.testing.assert_frame_equal(found, expected)
        assert sum(bool(re.search(told, str(x.message))) for x in said) == 1


@pytest.mark.parametrize("unjudged", ["negative", "skip"])
def test_a_run_of_unjudged_documents_only_is_said(unjudged):
    """Names with ".html" in one run: its 0.0 is told from a bad run's 0.0."""
    good = collection(3, unjudged=False).dropna(subset="run")
    other = good.assign(document=good["document"] + ".html", grade=np.nan)
    frame = pd.concat([good, other.rename(columns={"run": "other"})], ignore_index=True)
    told = rf"'other' retrieved {len(good)} documents, and none of them is judged"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        frame.rankeval(unjudged=unjudged).per_query("AP")
    assert sum(bool(re.search(told, str(x.message))) for x in said) == 1
    assert not any("'run' retrieved" in str(x.message) for x in said)
    # nothing is said if no judgment is positive, one document is judged, or the run is empty
    one = frame["other"].where(frame.index != frame.index[-1], np.nan)
    one.iloc[0] = 1.0
    for quiet in (
        frame.assign(grade=frame["grade"].clip(upper=0.0)), frame.assign(other=one),
        frame.assign(other=np.nan),
    ):  # fmt: skip
        quiet.rankeval(unjudged=unjudged).per_query("AP")


def test_a_run_whose_scores_fall_with_relevance_is_noticed():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"query": np.repeat(range(20), 15), "document": [*range(15)] * 20})
    frame["grade"] = (rng.random(len(frame)) < 0.3).astype(int)
    frame["distance"] = rng.random(len(frame)) - frame["grade"]
    frame["chance"] = rng.random(len(frame))
    with pytest.warns(RankevalWarning, match="of 20 queries, 'distance' ranks relev"):
        per_query(frame, "AP")
    per_query(frame, "AP", lower_is_better="distance")  # no warning


# -------------------------------------------------------------------------------------- bad input


def test_wrong_metrics():
    for asked, message in (
        ("nDGC@10", "'nDGC@10' is not one of .*Did you mean 'nDCG'"),
        ("AUC", r"is not one of .*The area of each query is area\(by=\.\.\.\)"),
        ("P", "P takes a whole number for k, 1 or more, as in 'P@10'"),
        ("IPrec", "a recall from 0 to 1, as in 'IPrec@0.1'"),
        ("IPrec@7", "a recall from 0 to 1"),
        ("P@2.5", "a whole number for k"),
        ("nDCG(gains={1: -1})@5", "a mapping such as"),
        ("nDCG(gains=7)@5", "a mapping such as"),
        ("AP(norm='min')", "'min' with @k"),
        ("P@0", "a whole number for k, 1 or more"),
        ("Rprec@5", "takes no @k"),
        ("P(depth=2)@5", "has no option 'depth'"),
        ("P(judged_only=True)@5", "unjudged='skip'"),
        ("RBP(p=1.5)", "a number in"),
        ("nDCG(dcg='ln')", "'log2' or 'exp-log2'"),
        ([], "metrics is empty"),
        ("ERR(max_rel=2)@5", "takes grades up to 2, but gold contains 3"),
    ):
        with pytest.raises(ValueError, match=message):
            per_query(collection(1), asked)


def test_wrong_frames_and_options():
    frame = collection(1)
    twice = pd.concat([frame, frame.head(1)])
    for data, options, message in (
        (twice, {}, r"occurs 2 times in a query"),
        (twice.assign(query="all"), {}, r"occurs 2 times in a query"),
        (frame.drop(columns="query"), {}, r"all columns that name a query or a document, as by="),
        (frame.assign(grade="good"), {}, r"contains 'good'"),
        (frame.assign(grade=np.inf), {}, r"infinite grades"),
        (frame.assign(query=[1] + ["2"] * (len(frame) - 1)), {}, r"mixes names of types"),
        (frame.head(2).assign(document=[7, "7"]), {}, r"key=.document. mixes names of types"),
        (frame, {"min_grade": 0}, r"a finite number above 0"),
        (frame, {"min_grade": "1"}, r"is of type str"),
        (frame, {"metrics": "Bpref", "ties": "expected"}, r"no closed form for 'Bpref'"),
        (as_dataset(frame), {"wide": True}, r"wide=True applies only to DataFrames"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            per_query(data, **{"metrics": "AP", **options})


@pytest.mark.parametrize("where", [0, 5_000, 79_998])
def test_a_document_that_stands_twice_is_found_in_any_query(where):
    """Queries are looked through in blocks, whose edges are at none of theirs."""
    query = np.repeat(np.arange(2000), 40)
    names = np.tile([f"d{x}" for x in range(40)], 2000)
    frame = pd.DataFrame({"query": query, "document": names, "run": 1.0, "grade": 1})
    assert len(per_query(frame, "P@1")) == 2000
    frame.loc[where, "document"] = frame.loc[where + 1, "document"]
    for data in (frame, frame.sample(frac=1.0, random_state=3)):
        with pytest.raises(ValueError, match=r"occurs 2 times in a query"):
            per_query(data, "P@1")


def test_fractional_grades_need_a_least_grade():
    frame = collection(1)
    frame["grade"] = frame["grade"].clip(0, 3) / 3
    with pytest.raises(ValueError, match=r"grades between 0 and 1.*'P@5'.*min_grade=0.333"):
        per_query(frame, ["nDCG", "P@5"])
    per_query(frame, "nDCG")
    known, same = per_query(frame, "P@5", min_grade=0.5), per_query(frame, "P(rel=0.5)@5")
    assert known["value"].tolist() == same["value"].tolist()


# ------------------------------------------------------------------------------- summary: its table

METRICS = ["nDCG@5", "AP", "P@3"]
FACTS = ["n_tied", "value_low", "value_high", "judged", "n_lacking", "n_undefined", "depth"]


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
    frame = search(1)
    found = frame.rankeval.summary(METRICS, baseline="r1")
    assert list(found.columns) == [
        "measure", "metric", "value", "ci_low", "ci_high", "rank_low", "rank_high", "difference",
        "difference_low", "difference_high", "p_adjusted", "tied_for_best", "wins", "ties",
        "losses", "p_value", "difference_low_alone", "difference_high_alone",
        "ci_low_alone", "ci_high_alone", *FACTS,
    ]  # fmt: skip
    assert found["metric"].tolist() == [m for m in METRICS for _ in range(3)]
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows, items = found[found["metric"] == metric].set_index("measure"), wide[metric]
        np.testing.assert_allclose(rows["value"], items.mean())
        ranks = system_ranks(wide[[metric]]).set_index("system")
        for name in ("ci_low", "ci_high", "ci_low_alone", "rank_low", "rank_high", "tied_for_best"):
            assert rows[name].tolist() == ranks[name].loc[rows.index].tolist()
        assert rows.loc["r1", ["difference", "p_adjusted", "wins"]].isna().all()
        for pair in paired_bootstrap(items, "r1", adjust="max-t").itertuples():
            a_is_baseline = pair.system_a == "r1"
            row = rows.loc[pair.system_b if a_is_baseline else pair.system_a]
            sign = -1 if a_is_baseline else 1
            assert row["difference"] == sign * pair.gain
            limits = sorted([sign * pair.ci_low, sign * pair.ci_high])
            assert row[["difference_low", "difference_high"]].tolist() == limits
            assert row["p_adjusted"] == pair.p_adjusted
        over = items.sub(items["r1"], axis=0)[["r2", "r3"]]
        others = rows.loc[["r2", "r3"]]
        assert others.loc["r2", "difference"] < 0  # of the worse run
        assert others["wins"].tolist() == (over > 1e-12).sum().tolist()
        assert others["losses"].tolist() == (over < -1e-12).sum().tolist()
        assert (others[["wins", "ties", "losses"]].sum(axis=1) == 60).all()


@pytest.mark.parametrize("adjust", [None, "holm"])
def test_letters_are_those_of_each_metric_and_families_are_named(adjust):
    frame = search(1)
    found = summary(frame, METRICS, adjust=adjust)
    wide = per_query(frame, METRICS, wide=True)
    for metric in METRICS:
        rows = found[found["metric"] == metric].set_index("measure")
        ranks = system_ranks(wide[metric], adjust=adjust).set_index("system").loc[rows.index]
        assert rows["letters"].tolist() == ranks["letters"].tolist()
    assert ("p_adjusted" in found) == (adjust is not None)
    assert found.attrs.get("family") == (None if adjust is None else "all 3 pairs for each metric")
    assert "letters" not in summary(frame, "AP", baseline="r1", adjust=adjust)


def test_all_metrics_may_be_one_family():
    frame, ask = search(1), {"baseline": "r1", "adjust": "max-t", "n_resamples": 999}
    each, together = (
        query_summary(frame, METRICS, adjust_over=over, **ask) for over in ("metrics", "all")
    )
    alone, family = (x["p_adjusted"].dropna() for x in (each, together))
    np.testing.assert_allclose(family, np.minimum(1.0, 3 * alone))
    assert together.attrs["family"] == "2 comparisons with r1 for all 3 metrics"
    assert (together["difference_low"].dropna() <= each["difference_low"].dropna()).all()


# ---------------------------------------------------------------------------- summary: paired tests


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
    lists = frame.assign(gold=frame["grade"] == 1).rankeval(
        gold="gold", missing="last", measures=["r1", "r3"]
    )
    with pytest.raises(ValueError, match="largest of several statistics has no known distribu"):
        frame.rankeval.summary("AP", test="t", adjust="max-t")
    with pytest.raises(ValueError, match="test='t' applies only to systems scored on items and"):
        lists.summary(10, test="t")


def test_flat_differences_are_no_evidence():
    frame = pd.DataFrame({"a": [0.5] * 20, "b": [0.25] * 20})
    with pytest.warns(RankevalWarning):
        found = frame.rankeval.paired_permutation("a", "b", test="t")
    assert found["p_value"].tolist() == [1.0]
    assert found["ci_low"].isna().all()


# ---------------------------------------------------------------------- summary: what means rest on


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
        "If a run retrieved no documents for a query, its value is 0 (up to 3 queries).",
        "of the documents up to the cutoff are judged.",
        "such as recall if no document is relevant, counts as 0 (up to 1 query).",
    ):
        assert fact in said
    assert re.search(r"The longest lists in the runs contain \d+ to 40 documents\.", said)
    both = as_dataset(frame).rankeval.summary(metrics, details=True)
    assert rankeval_pd.in_words(both) == rankeval_pd.in_words(whole)


def test_what_is_undefined_may_be_left_out():
    frame = search(1)
    frame.loc[frame["query"] == 3, "grade"] = 0
    with pytest.warns(RankevalWarning, match=r"some of the 60 queries, .*: R@5 \(1\)\. Keep"):
        found = summary(frame, ["R@5", "HitRate@5"], undefined="skip", details=True)
    assert (found.attrs["n_queries_low"], found.attrs["n_queries"]) == (59, 60)
    assert "on 60 queries (at least 59 for each metric)" in rankeval_pd.paper_table(
        found, "markdown"
    )
    hits = per_query(frame, "HitRate@5")  # queries without R@5 count for other metrics
    whole = found.set_index(["metric", "measure"])["value"]["HitRate@5"]
    assert whole.to_dict() == pytest.approx(hits.groupby("measure")["value"].mean().to_dict())
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
    df = pd.DataFrame(rng.random((404, 2)), columns=["a", "b"])
    df = df.assign(user=np.arange(404) // 4, gold=rng.random(404) < 0.5)
    many = "not adjusted for the number of groups.*average='macro'"
    for users, warned in ((100, False), (101, True)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            df[df["user"] < users].rankeval(by="user").summary(2, n_resamples=99)
        assert any(re.search(many, str(x.message)) for x in said) == warned


# ----------------------------------------------------------------------------------- summary: roles


def test_an_accessor_is_configured_with_the_roles_of_queries():
    frame = search(5)
    frame.loc[frame.index % 3 == 0, "grade"] = np.nan
    judged = frame.rankeval(unjudged="skip", ties="trec")
    found, other = (x.per_query("P@5", wide=True) for x in (judged, frame.rankeval))
    same = frame.rankeval.per_query("P@5", unjudged="skip", wide=True)
    pd.testing.assert_frame_equal(found, same)
    assert not found.equals(other)
    text = repr(judged)
    for fact in (f"{frame['grade'].count():,} judged", "'trec', 'skip', 'absent'"):
        assert fact in text


def test_items_refuse_the_roles_of_queries():
    wide = search(5).rankeval.per_query("AP", wide=True)
    for name, value in (("unjudged", "skip"), ("ties", "trec")):
        told = f"{name}={value!r} applies only to rankings. Omit {name}"
        with pytest.raises(ValueError, match=told):
            wide.rankeval(**{name: value}).paired_bootstrap()


def test_methods_of_rankings_say_where_the_grades_are():
    frame = pd.DataFrame({"query": ["1"], "document": ["d"], "run": [1.0], "grade": [2]})
    with pytest.raises(ValueError, match=r"'grade'\).*such as gold='grade' with min_grade=1"):
        frame.rankeval.nbest_precision(1)
    twice = pd.concat([frame, frame.assign(query="2")]).rename(columns={"grade": "gold"})
    with pytest.raises(ValueError, match=r"pass the query column as by=\.\.\."):
        twice.rankeval.nbest_precision(1, min_grade=1, key="document", measures="run")


@pytest.mark.parametrize("metrics", ["nDCG@5", ["P@5", "AP"]])
def test_no_judged_query_gives_an_empty_table(metrics):
    frame = pd.DataFrame({"query": ["q1", "q2"], "document": ["d", "d"], "a": [1.0, 2.0]})
    with pytest.warns(RankevalWarning, match=r"Queries without judgments are left out \(2: "):
        found = per_query(frame.assign(grade=np.nan), metrics, wide=True)
    assert found.empty
    assert per_query(frame.assign(grade=1).iloc[:0], metrics, wide=True).shape == found.shape


def test_several_collections_are_summarized_apart_or_with_equal_weight():
    """scikit-learn's ndcg_score in each collection, and its means."""
    rng = np.random.default_rng(2)
    rows = pd.MultiIndex.from_product([["x", "y"], range(12), range(15)])
    data = rows.to_frame(index=False, name=["collection", "query", "document"])
    data = data[(data["collection"] == "x") | (data["query"] < 8)]
    data = data.assign(grade=rng.integers(0, 3, len(data)))
    data = data.assign(**{name: data["grade"] + rng.normal(size=len(data)) for name in "ab"})
    keys = ["collection", "query"]
    values = data.rankeval(by=keys, measures=["a", "b"]).per_query("nDCG@5", wide=True)
    wanted = {
        (*key, name): ndcg_score([part["grade"]], [part[name]], k=5)
        for key, part in data.groupby(keys)
        for name in "ab"
    }
    means = pd.Series(wanted).groupby(level=[0, 2]).mean()
    apart = values.rankeval(by="collection").summary().set_index(["collection", "system"])
    assert apart["value"].to_dict() == pytest.approx(means.to_dict())
    macro = values.rankeval(strata="collection").summary().set_index("system")["value"]
    assert macro.to_dict() == pytest.approx(means.groupby(level=1).mean().to_dict())
    pooled = data.rankeval(by=keys, measures=["a", "b"]).summary(["nDCG@5"])
    every = pd.Series(wanted).groupby(level=2).mean()
    assert pooled.set_index("measure")["value"].to_dict() == pytest.approx(every.to_dict())


def test_a_single_list_of_grades_needs_no_query():
    """scikit-learn's ndcg_score, and pandas' mean of the grades in each list."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"grade": rng.integers(0, 4, 40)}, index=[f"c{k}" for k in range(40)])
    data = data.assign(a=data["grade"] + rng.normal(size=40), b=rng.normal(size=40))
    found = data.rankeval.per_query(["nDCG@10", "nDCG"])
    wanted = [
        ndcg_score([data["grade"]], [data[name]], k=k) for name in ("a", "b") for k in (10, None)
    ]
    assert found["value"].to_numpy() == pytest.approx(wanted)
    assert list(found)[:3] == ["measure", "metric", "value"]
    wide = data.rankeval.per_query("nDCG@10", wide=True)
    assert wide.to_numpy().ravel() == pytest.approx(wanted[::2])
    assert "The nDCG of a is" in rankeval_pd.in_words(found)
    for odd in (data.assign(qid=1), pd.concat([data, data])):
        with pytest.raises(ValueError, match=r"by is missing.*unique labels"):
            odd.rankeval(exclude="qid" if "qid" in odd else None).per_query("nDCG")
    with pytest.raises(ValueError, match="summary needs two or more judged queries"):
        data.rankeval.summary(["nDCG@10"])
    lists = data.rankeval.difference_region(n=12)
    pd.testing.assert_frame_equal(data.rankeval(gold="grade").difference_region(n=12), lists)
    means = lists[["measure", "grade"]].rankeval(by="measure", metric="mean").summary()
    tops = [data.nlargest(12, name)["grade"] for name in ("a", "b")]
    assert means["value"].tolist() == pytest.approx([x.mean() for x in tops])
    alone = [x.to_frame("grade").rankeval(metric="mean").summary(level=0.95) for x in tops]
    for one, row in zip(alone, means.to_dict("records"), strict=True):
        assert one.loc[0, "ci_low"] == pytest.approx(row["ci_low"], abs=0.3)
        assert row["ci_low"] < row["value"] < row["ci_high"]
