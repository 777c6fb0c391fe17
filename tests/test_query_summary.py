"""An experiment in one table: the numbers are those of the functions that it is made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankeval_pd import paired_bootstrap, paired_permutation, per_query, summary, system_ranks
from rankeval_pd.queries.run_summary import query_summary

METRICS = ["nDCG@5", "AP", "P@3"]


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
        "ci_low_alone", "ci_high_alone",
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
    for fact in ("320 of them judged", "'bm25', 'dense', 'both'", "'trec', 'skip', 'absent'"):
        assert fact in text
    assert "nbest_precision" in text


@pytest.mark.parametrize("role", [{"unjudged": "skip"}, {"ties": "trec"}])
def test_what_has_no_such_answer_refuses_the_roles_of_queries(role):
    frame = experiment(seed=5)
    configured = frame.rankeval(gold="grade", min_grade=1, by="query", **role)
    [(name, given)] = role.items()
    for ask in (
        lambda: configured.nbest_precision(5),
        lambda: configured.random_bound(0.05, 5),
        lambda: configured.summary(5),
        lambda: configured.plot.precision(),
        lambda: frame.rankeval.per_query("AP", wide=True).rankeval(**role).paired_bootstrap(),
    ):
        with pytest.raises(ValueError, match=f"{name}={given!r} holds for the metrics of queries"):
            ask()
    with pytest.raises(ValueError, match=f"{name}='no' is not one of"):
        frame.rankeval(**{name: "no"})


def test_methods_of_rankings_say_where_the_grades_are():
    frame = pd.DataFrame({"query": ["1"], "document": ["d"], "run": [1.0], "grade": [2]})
    with pytest.raises(ValueError, match=r"'grade' may hold it: gold='grade' and.*min_grade=1"):
        frame.rankeval.nbest_precision(1)
    twice = pd.concat([frame, frame.assign(query="2")]).rename(columns={"grade": "gold"})
    with pytest.raises(ValueError, match=r"name the column of the queries: by=\.\.\."):
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
