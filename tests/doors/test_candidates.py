"""Candidates of a frame: order of rows, ties, groups, missing scores, lists that end, few rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.dask import HEAD_METHODS
from rankeval_pd.doors import candidates
from tests.walks import some

CUTS = {"a": [0, 2, 4], "b": 1, "c": [0.25, -0.3]}
METHODS = {
    "nbest_precision": {},
    "acceptance_precision": {"threshold": CUTS},
    "compare": {},
    "significant_ranges": {"alpha": 0.9},
    "random_bound": {"p": [0.05, 0.5]},
    "random_test": {},
}


def ask(data: Any, method: str, **keywords: Any) -> Any:
    return getattr(data.rankeval, method)(**{**METHODS.get(method, {}), **keywords})


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame, **options: Any) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, **options)


# ----------------------------------------------------------------------- ties and the order of rows


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:.*rows repeat the label:rankeval_pd.RankevalWarning")
def test_repeated_labels_of_identical_rows_have_no_order(tied):
    data = tied.drop(columns="id")
    data = data.iloc[[*range(len(data)), 3, 3, 11]]
    shuffled = pd.concat([tied.iloc[[11, 3]], tied[::-1], tied.iloc[[3]]]).drop(columns="id")
    for method in METHODS:
        assert_same(ask(shuffled, method), ask(data, method))


INDEXES = {
    "range": pd.RangeIndex(30),
    "strings": pd.Index([f"w{i % 7}{i}" for i in range(30)]),
    "float": pd.Index(np.linspace(-1, 1, 30)),
    "datetime": pd.date_range("2020", periods=30, tz="Europe/Vienna"),
    "period": pd.period_range("2020-01", periods=30, freq="M"),
    "interval": pd.interval_range(0, 30),
    "categorical": pd.CategoricalIndex([f"w{i}" for i in range(30)]),
    "multi": pd.MultiIndex.from_product([["x", "y", "z"], range(10)]),
    "tuples": pd.Index([(i, "x") for i in range(30)], tupleize_cols=False),
    "mixed": pd.Index([*range(15), *"abcdefghijklmno"], dtype=object),
    "nullable": pd.Index(range(30), dtype="Int64"),
    "one missing": pd.Index([*range(29), np.nan]),
    "missing category": pd.CategoricalIndex([*range(29), np.nan]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_any_index(frame, name):
    data = frame.set_axis(INDEXES[name], axis=0)
    shuffled = data.sample(frac=1, random_state=1)
    found = data.rankeval.nbest_precision()
    assert_same(shuffled.rankeval.nbest_precision(), found)
    assert isinstance(found.index, pd.RangeIndex)
    assert len(found) == 90


@pytest.mark.filterwarnings("ignore:.*rows repeat the label:rankeval_pd.RankevalWarning")
def test_a_duplicated_index(frame):
    data = frame.set_axis([0] * 15 + ["x"] * 15, axis=0)
    found = data.rankeval.nbest_precision()
    assert len(found) == 90
    assert found.loc[found["n"] == 30, "tp"].tolist() == [data["gold"].sum()] * 3
    region = data.rankeval.difference_region("a", "b", 4)
    assert len(region) == 2 * data.rankeval.compare("a", "b", 4).loc[0, "n_only_a"]


def test_ties_follow_the_key(frame):
    for key in (np.arange(30), -np.arange(30.0), [f"{i:02d}" for i in range(30)]):
        data = frame.assign(ident=key)
        rows = data.assign(a=-data["a"]).sort_values(["a", "ident"])
        found = data.rankeval.nbest_precision(key="ident", measures="a")
        assert found["tp"].tolist() == rows["gold"].cumsum().tolist()


def test_a_key_may_repeat_in_another_group(ragged):
    data = ragged.assign(ident=ragged.groupby("query").cumcount())
    assert data["ident"].duplicated().any()
    found = data.rankeval.nbest_precision(key="ident", by="query", measures="a")
    for query, part in data.groupby("query"):
        ranked = part.assign(a=-part["a"]).sort_values(["a", "ident"])
        assert found.loc[found["query"] == query, "tp"].tolist() == ranked["gold"].cumsum().tolist()


def test_seeds_change_ties_and_nothing_else(frame):
    unique = frame.assign(a=np.random.default_rng(1).permutation(30) + 0.5)
    tables = [  # intervals for n-best lists also depend on the candidates around the end
        unique.rankeval.nbest_precision(rng=seed, target="region") for seed in range(6)
    ]
    a, b = ([t[t["measure"] == m].reset_index(drop=True) for t in tables] for m in "ab")
    for one, other in zip(a, b, strict=True):
        assert_same(one, a[0])
        fixed = ["n", "threshold", "tied"]
        assert_same(other[fixed], b[0][fixed])
        blocks = other["tied"] == 0
        assert_same(other[blocks], b[0][blocks])
    assert len({tuple(t["tp"]) for t in b}) > 1


def test_a_generator_changes_no_tie(frame):
    wanted = frame.rankeval.compare()
    rng = np.random.default_rng(99)
    state = rng.bit_generator.state
    for given_rng in (0, np.int64(0), None, rng, np.random.default_rng(1)):
        assert_same(frame.rankeval.compare(rng=given_rng), wanted)
    assert rng.bit_generator.state == state


def test_the_label_of_the_truth_has_no_say_in_ties(frame):
    found = frame.assign(gold=~frame["gold"]).rankeval.nbest_precision()
    wanted = frame.rankeval.nbest_precision()
    assert (found["tp"] + wanted["tp"]).tolist() == wanted["n"].tolist()


def test_ties_error(frame):
    tied = frame.rankeval(measures="a").nbest_precision()
    whole = tied.loc[tied["tied"] == 0, "n"].tolist()
    strict = frame.rankeval(measures="a", ties="error")
    assert_same(strict.nbest_precision(whole), tied[tied["tied"] == 0].reset_index(drop=True))
    cut = min(set(tied["n"]) - set(whole))
    for method in ("nbest_precision", "random_test"):
        with pytest.raises(ValueError, match=rf"ties='error'.*first at n={cut}\b"):
            getattr(strict, method)()
    for method in ("compare", "difference_region", "significant_ranges"):
        with pytest.raises(ValueError, match=rf"ties='error'.*first at n={cut}\b"):
            getattr(frame.rankeval(ties="error"), method)("a", "c", n=cut)
    assert len(strict.random_bound()) == 30


# ------------------------------------------------------------------------------------------- groups


def test_groups_smaller_than_n_have_no_row(ragged):
    with pytest.warns(RankevalWarning, match="2 of 3 groups have fewer than n=10 candidates"):
        found = ragged.rankeval.nbest_precision([10, 4, 7, 4], by="query", measures="a")
    rows = list(zip(found["query"], found["n"], strict=True))
    assert rows == [("q1", 10), ("q1", 4), ("q1", 7), ("q2", 4), ("q2", 7), ("q3", 4)]
    with pytest.warns(RankevalWarning, match="1 of 3 groups have fewer than n=9 candidates"):
        assert set(ragged.rankeval.random_bound(n=9, by="query")["query"]) == {"q1", "q2"}
    with pytest.raises(ValueError, match=r"n=13 exceeds the number of candidates, 12"):
        ragged.rankeval.nbest_precision([4, 13], by="query")


def test_by_two_columns(frame):
    data = frame.assign(x=["v", "u"] * 15, y=pd.Categorical(["k", "k", "j"] * 10, list("kji")))
    found = data.rankeval.nbest_precision(2, by=["y", "x"], measures="a")
    groups = list(zip(found["y"], found["x"], strict=True))
    assert groups == [("k", "u"), ("k", "v"), ("j", "u"), ("j", "v")]
    assert list(found.columns[:3]) == ["y", "x", "measure"]
    assert found.dtypes[["y", "x"]].equals(data.dtypes[["y", "x"]])
    for (y, x), row in zip(groups, found.to_dict("records"), strict=True):
        alone = data[(data["y"] == y) & (data["x"] == x)].rankeval.nbest_precision(2, measures="a")
        assert row["tp"] == alone.loc[0, "tp"]


# ----------------------------------------------------------------------------------- missing scores


@pytest.fixture
def holed(frame):
    """Return the frame without some scores of a and of c."""
    data = frame.copy()
    data.iloc[[2, 5, 11, 29], 0] = np.nan
    data.iloc[[5, 7], 2] = np.nan
    return data


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_missing_last_is_a_block_after_every_score(holed):
    last = holed.fillna({"a": -1e9, "c": -1e9})
    cuts = {"a": [2], "b": [1], "c": [0]}
    for method in METHODS:
        keywords = {"threshold": cuts} if method == "acceptance_precision" else {}
        found = ask(holed, method, missing="last", **keywords)
        wanted = ask(last, method, **keywords)
        if "threshold" in wanted:
            wanted["threshold"] = wanted["threshold"].where(wanted["threshold"] > -1e9)
        assert_same(found, wanted)
    assert holed.rankeval.nbest_precision(27, missing="last").loc[0, "tied"] == 3
    lower = holed.rankeval.nbest_precision(27, missing="last", lower_is_better=["a"])
    assert lower.loc[0, ["threshold", "tied"]].isna().tolist() == [True, False]


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", ["nbest_precision", "acceptance_precision", "random_test"])
def test_missing_drop_is_dropna_for_each_measure(holed, method):
    found = ask(holed, method, missing="drop")
    for measure in "abc":
        threshold = {"threshold": CUTS[measure]} if method == "acceptance_precision" else {}
        if isinstance(threshold.get("threshold"), list):
            threshold["threshold"] = {measure: CUTS[measure]}
        rest = holed.dropna(subset=[measure])
        alone = ask(rest, method, measures=measure, **threshold)
        rows = found[found["measure"] == measure].reset_index(drop=True)
        best = [x for x in alone if x.endswith("_best")]  # these hold for all measures shown
        assert_same(rows.drop(columns=best), alone.drop(columns=best))
    assert (found["measure"].value_counts() > 0).all()


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
def test_missing_drop_compares_what_both_score(holed):
    cuts, both = {"a": [1, 3], "c": [0.2, 0.7]}, holed.dropna(subset=["a", "c"])
    for method, asked in (("compare", None), ("compare_thresholds", cuts)):
        found = getattr(holed.rankeval, method)("a", "c", asked, missing="drop")
        assert_same(found, getattr(both.rankeval, method)("a", "c", asked))
    region = holed.rankeval.difference_region("a", "c", 6, missing="drop")
    assert_same(region, both.rankeval.difference_region("a", "c", 6))


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
def test_missing_drop_asks_ties_of_what_both_score():
    # among the four that both score, a ties the first two
    df = pd.DataFrame({"a": [5.0, 4, 4, 2, 1], "b": [np.nan, 1, 2, 3, 4], "gold": [True] * 5})
    strict = df.rankeval(missing="drop", ties="error")
    assert strict.compare("a", "b", 2).loc[0, "overlap"] == 0
    with pytest.raises(ValueError, match=r"first at n=1\b"):
        strict.compare("a", "b", 1)
    with pytest.raises(ValueError, match=r"first at n=1\b"):
        strict.difference_region("a", "b", 1)


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_drop_above_what_both_score(holed):
    with pytest.raises(ValueError, match=r"n=26 exceeds the number of available candidates"):
        holed.rankeval.compare("a", "c", 26, missing="drop")


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_drop_has_no_one_random_bound(holed):
    with pytest.raises(ValueError, match=r"measures score different.*Pass one measure at a time"):
        holed.rankeval.random_bound(missing="drop")
    found = holed.rankeval.random_bound(missing="drop", measures="a")
    assert_same(found, holed.dropna(subset=["a"]).rankeval.random_bound())


@pytest.mark.parametrize("method", ["roc", "area", "compare", "nbest_precision"])
def test_missing_scores(df, method):
    holed = df.assign(y=df["y"].where(df.index > 1))
    with pytest.raises(
        ValueError,
        match=r"40 candidates have no score in 'y' \(2\).*missing='absent'.*'last'.*'drop'",
    ):
        ask(holed, method)
    with pytest.raises(ValueError, match=r"no score in 'x' \(all\), 'y' \(2\)"):
        ask(holed.assign(x=np.nan), method)
    assert len(ask(holed, "nbest_precision", measures="x")) == 40


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_a_measure_without_any_score(df):
    holed = df.assign(x=np.nan)
    found = holed.rankeval.nbest_precision(missing="drop")
    assert set(found["measure"]) == {"y"}
    with pytest.raises(ValueError, match=r"n=1 exceeds the number of candidates, 0"):
        holed.rankeval.nbest_precision(1, missing="drop", measures="x")
    last = holed.rankeval.nbest_precision(2, missing="last", measures="x").loc[0]
    assert (np.isnan(last["threshold"]), last["tied"]) == (True, 38)


def test_dropping_says_what_it_took_from_whom():
    with pytest.warns(RankevalWarning, match=r"'short' without 5 of 8 candidates \(2 of 4 true"):
        RUNS.rankeval(missing="drop").nbest_precision(2)
    with pytest.raises(ValueError, match=r"'absent'.*'last'.*'drop'"):
        RUNS.rankeval.nbest_precision(2)


# -------------------------------------------------------------------- lists that end: not retrieved

RUNS = pd.DataFrame(
    {
        "short": [9.0, 8, 7, np.nan, np.nan, np.nan, np.nan, np.nan],
        "long": [1.0, 2, np.nan, 9, 8, 7, 6, 5],
        "gold": [True, False, True, True, False, False, True, False],
    },
    index=pd.Index(list("abcdefgh"), name="document"),
)


def _counted(run, gold, n):
    """Precision and recall by hand: retrieved documents, in order, cut at n."""
    listed = run.dropna().sort_values(ascending=False).index[:n]
    tp = int(gold[listed].sum())
    return tp, tp / n, tp / gold.sum()


@pytest.mark.parametrize("ties", ["shared", "best", "worst", "error", "expected"])
def test_a_list_ends_where_a_measure_retrieves_no_more(ties):
    found = RUNS.rankeval(missing="absent", ties=ties).nbest_precision()
    for row in found.itertuples():
        wanted = _counted(RUNS[row.measure], RUNS["gold"], row.n)
        assert (row.tp, row.precision, row.recall) == pytest.approx(wanted)
        assert row.tied == 0
        assert np.isnan(row.threshold) == (row.n > RUNS[row.measure].count())
    assert len(found) == 16


@pytest.mark.filterwarnings("ignore:area:rankeval_pd.RankevalWarning")  # few positives
def test_average_precision_is_that_of_trec_eval():
    """The sum over the retrieved positives, by all positives; checked by hand."""
    found = RUNS.rankeval(missing="absent").area("ap").set_index("measure")["area"]
    assert found["short"] == pytest.approx((1 / 1 + 2 / 3) / 4)
    assert found["long"] == pytest.approx((1 / 1 + 2 / 4 + 3 / 7) / 4)
    whole = RUNS.drop(columns="gold").fillna(-1.0)
    tied = RUNS.assign(**whole).rankeval.area("ap").set_index("measure")["area"]
    assert (tied >= found).all()  # what is not retrieved earns nothing


def test_curves_end_too():
    found = RUNS.rankeval(missing="absent").precision_recall()
    assert found.groupby("measure")["n"].max().to_dict() == {"short": 3, "long": 7}
    roc = RUNS.rankeval(missing="absent").roc()
    assert roc.groupby("measure")["tpr"].max().to_dict() == {"short": 0.5, "long": 0.75}


def test_compare_lists_that_end():
    found = RUNS.rankeval(missing="absent").compare("short", "long").set_index("n")
    precision = RUNS.rankeval(missing="absent").nbest_precision().set_index(["measure", "n"])
    for side, measure in (("a", "short"), ("b", "long")):
        assert (found[f"precision_{side}"] == precision.loc[measure]["precision"]).all()
    assert (found["n_only_a"] == found["n_only_b"]).all()
    assert (found["n_only_a"] + found["overlap"] == found.index).all()
    # at n = 8: c only short, d to h only long, one place that both leave empty
    last = found.loc[8]
    assert (last["tp_only_a"], last["tp_only_b"], last["n_only_a"]) == (1, 2, 5)
    from scipy.stats import fisher_exact

    assert last["p_value"] == pytest.approx(fisher_exact([[1, 4], [2, 3]])[1])
    swapped = RUNS.rankeval(missing="absent").compare("short", "long", [2, 5], adjust="max-t")
    assert swapped["p_adjusted"].between(0.0, 1.0).all()


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_absent_is_last_where_nothing_is_missing(tied):
    for method in ("nbest_precision", "compare", "random_test", "roc", "area"):
        asked = tied.drop(columns="id").rankeval
        one, other = (getattr(asked(missing=how), method)() for how in ("absent", "last"))
        assert_same(one, other)


@pytest.mark.full
def test_absent_in_a_dataset():
    data = xr.Dataset.from_dataframe(RUNS.rename_axis("candidate"))
    wanted = RUNS.rankeval(missing="absent").compare()
    for form in (data, data.chunk()):
        found = form.rankeval(missing="absent").compare().compute().to_dataframe().reset_index()
        assert found[["n", "tp_only_a", "p_value"]].to_numpy() == pytest.approx(
            wanted[["n", "tp_only_a", "p_value"]].to_numpy()
        )


def test_absent_is_refused_where_it_has_no_meaning():
    with pytest.raises(ValueError, match="missing='absent' is supported only for"):
        RUNS.rankeval(missing="absent").precision_band()


# ---------------------------------------------------------------------------------- pairs and names


@pytest.mark.parametrize(
    "method", ["significant_ranges", "difference_region", "tie_sensitivity", "compare"]
)
def test_a_measure_is_not_compared_with_itself(df, method):
    sizes = () if method == "significant_ranges" else (5,)
    with pytest.raises(ValueError, match="a and b both name 'x'"):
        getattr(df.rankeval, method)("x", "x", *sizes)


def test_a_comparison_needs_two(df):
    with pytest.raises(ValueError, match=r"there is only one measure, 'x', but a comparison"):
        df.rankeval(measures="x").compare()
    with pytest.raises(ValueError, match=r"b='x' without a"):
        df.rankeval.compare(b="x")


def test_columns_that_are_no_measures_are_told_if_only_one_is_left(df):
    for other in (df["x"] > 0, "text", 1j):
        with pytest.raises(ValueError, match=r"text and complex numbers are skipped"):
            df[["x", "gold"]].assign(other=other).rankeval.compare(n=3)


def test_a_name_of_two_columns_is_refused_where_it_is_asked(df):
    twice = df.assign(id=range(40), other=range(40)).rename(columns={"other": "id"})
    for role in ("by", "key", "gold"):
        with pytest.raises(ValueError, match=rf"{role}: data has 2 columns named 'id'"):
            twice.rankeval.nbest_precision(measures="x", **{role: "id"})
    assert len(twice.rankeval.nbest_precision(measures="x")) == 40
    with pytest.raises(ValueError, match=r"measures: data has 2 columns named 'x'.*duplicated"):
        df.rename(columns={"y": "x"}).rankeval.nbest_precision()


@pytest.mark.parametrize(
    "names", [[0, 1, 2], [("s", "a"), ("s", "b"), ("g", "c")], [np.nan, "b", 3]]
)
def test_names_are_the_labels_of_the_columns(frame, names):
    columns = [*names, ("l", "gold") if isinstance(names[0], tuple) else "gold"]
    other = frame.set_axis(
        pd.MultiIndex.from_tuples(columns) if isinstance(names[0], tuple) else columns, axis=1
    )
    found, plain = other.rankeval.compare(n=[4, 9]), frame.rankeval.compare(n=[4, 9])
    for column in ("measure_a", "measure_b"):
        wanted = plain[column].map(dict(zip("abc", names, strict=True)))
        pd.testing.assert_series_equal(found[column], wanted, check_dtype=False)
    numbers = plain.columns.drop(["measure_a", "measure_b", "better", "leaning"])
    assert_same(found[numbers], plain[numbers])


def test_names_that_are_equal_to_nothing_in_pairs(df):
    named = df.set_axis(pd.Index([pd.NA, "y", "gold"], dtype=object), axis=1)
    assert len(named.rankeval.compare("y", n=3)) == 1
    if pd.NA not in named.columns:  # older pandas finds it
        with pytest.raises(KeyError, match="b: no column <NA>"):
            named.rankeval.compare("y", pd.NA, 3)
        with pytest.raises(KeyError, match="threshold: no column <NA>"):
            named.rankeval.acceptance_precision({pd.NA: 0.5})


def test_a_header_of_two_levels_gets_full_names():
    """Shorter ones are deprecated."""
    rng = np.random.default_rng(0)
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("gold", "")])
    df = pd.DataFrame(rng.random((20, 3)), columns=names)
    df.isetitem(2, rng.random(20) < 0.5)
    found = df.rankeval.difference_region(("a", 1), ("a", 2), 5, gold=("gold", ""))
    assert found.columns.tolist()[3:] == [("list", ""), ("rank_a", ""), ("rank_b", "")]
    flat = df.set_axis(["x", "y", "gold"], axis=1).rankeval.difference_region("x", "y", 5)
    assert found.to_numpy().tolist() == flat.to_numpy().tolist()
    unjudged = df.copy()
    unjudged.isetitem(2, np.full(20, np.nan))
    sheet = rankeval_pd.annotation_sheet(unjudged, ("a", 1), ("a", 2), 5, size=3, gold=("gold", ""))
    assert sheet.shape == (3, 1)


def test_results_do_not_share_memory_with_the_data(frame):
    data = frame.copy()
    region = data.rankeval.difference_region("a", "b", 4)
    region["c"] = 0.0
    region.iloc[:, 0] = -1.0
    assert_same(data, frame)


# ------------------------------------------------------------------------ few or no rows, one class


@pytest.fixture
def significant() -> pd.DataFrame:
    """Return two measures that differ significantly, so that no table is empty."""
    gold = [True] * 12 + [False] * 28
    rising = np.arange(40) + 0.5
    return pd.DataFrame({"G2": -rising, "t.score": rising, "gold": gold})


@pytest.mark.parametrize("by", ["query", None])
@pytest.mark.parametrize(
    "method", ["random_test", "random_bound", "significant_ranges", "compare", "nbest_precision"]
)
def test_an_empty_frame_gives_an_empty_table(significant, method, by):
    data = significant.assign(query="q")
    full, empty = ask(data, method, by=by), ask(data.iloc[:0], method, by=by)
    assert len(full)
    assert empty.empty
    assert list(empty.columns) == list(full.columns)
    assert empty.drop(columns="better", errors="ignore").dtypes.equals(
        full.drop(columns="better", errors="ignore").dtypes
    )


def test_acceptance_sets_of_an_empty_frame(df):
    empty = df.iloc[:0].rankeval.acceptance_precision({"x": 2}).loc[0]
    assert empty[["n_accepted", "tp"]].tolist() == [0, 0]
    assert empty[["precision", "recall", "lift"]].isna().all()
    assert empty[["ci_low", "ci_high"]].tolist() == [0.0, 1.0]
    # no groups, no rows
    grouped = df.assign(query="q").iloc[:0].rankeval(by="query")
    assert grouped.acceptance_precision({"x": 2}).empty


@pytest.mark.parametrize("kind", ["roc", "ap"])
def test_areas_of_an_empty_frame_are_warned_of(significant, kind):
    for method in ("area", "compare_area"):
        with pytest.warns(RankevalWarning, match="there are no candidates, so no area is known"):
            table = ask(significant.iloc[:0], method, kind=kind)
        assert table.filter(regex="area|difference").isna().all(axis=None)


def test_an_empty_frame_has_no_list_of_ten(df):
    for method in ("nbest_precision", "random_bound", "compare"):
        with pytest.raises(ValueError, match=r"n=10 exceeds the number of candidates, 0"):
            ask(df.iloc[:0], method, n=10)


def test_a_frame_without_columns():
    with pytest.raises(ValueError, match=r"gold is not given.*\(columns: none\)"):
        pd.DataFrame().rankeval.nbest_precision()


def test_one_candidate():
    df = pd.DataFrame({"a": [1.0], "b": [2.0], "gold": [True]})
    one = df.rankeval.nbest_precision().iloc[0]
    assert one[["tp", "precision", "recall", "lift", "tied"]].tolist() == [1, 1.0, 1.0, 1.0, 0]
    compared = df.rankeval.compare().loc[0]
    names = ["overlap", "difference", "ci_low", "ci_high", "p_value", "p_mid"]
    assert compared[names].tolist() == [1, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert df.rankeval.random_test()["p_value"].tolist() == [1.0, 1.0]
    assert df.rankeval.significant_ranges().empty


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("positive", [False, True])
def test_no_or_only_positives(df, positive):
    data = df.head(6).assign(gold=positive)
    found = data.rankeval.nbest_precision()
    assert found["precision"].eq(float(positive)).all()
    assert found["recall"].isna().all() != positive
    assert found["lift"].isna().all() != positive
    test = data.rankeval.random_test()
    assert test["p_value"].eq(1).all()
    assert test["p_mid"].to_numpy() == pytest.approx([0.5] * 12, rel=1e-14)
    assert test["log10_p"].eq(0).all()
    assert test["lift"].isna().all() != positive
    compared = data.rankeval.compare()
    assert compared[["p_value", "p_mid"]].eq(1).all(axis=None)
    assert compared["odds_ratio"].isna().all()
    assert compared["better"].isna().all()
    assert data.rankeval.significant_ranges().empty
    bound = data.rankeval.random_bound(0.05)
    assert bound["expected"].tolist() == [n * float(positive) for n in range(1, 7)]
    assert bound["critical"].tolist() == [n * positive + 1 for n in range(1, 7)]
    accepted = data.rankeval.acceptance_precision({"x": 0.1})
    assert accepted["recall"].isna().all() != positive


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh"])
def test_one_measure_has_no_pairs(df, adjust):
    found = df.rankeval.measure_ranks([5], measures=["x"], adjust=adjust, n_resamples=99)
    assert found["rank"].tolist() == [1]


# ------------------------------------ short lists of many: a partition finds what a sort would find

MANY = 4_000
SIZES = [1, 7, 20]
ASKED = {
    "nbest_precision": lambda r: r.nbest_precision(SIZES),
    "nbest_recall": lambda r: r.nbest_recall(SIZES),
    "compare": lambda r: r.compare(n=SIZES),
    "compare recall": lambda r: r.compare(n=SIZES, of="recall", details=True),
    "compare lift": lambda r: r.compare(n=SIZES, of="lift", margin=0.1, details=True),
    "compare by swaps": lambda r: r.compare("a", "b", SIZES, adjust="max-t", n_resamples=500),
    "compare the n-best": lambda r: r.compare("a", n=SIZES, target="nbest", adjust="holm"),
    "summary": lambda r: r.summary(20),
    "measure_ranks": lambda r: r.measure_ranks(20),
    "random_test": lambda r: r.random_test(SIZES),
    "tie_sensitivity": lambda r: r.tie_sensitivity("a", "b", SIZES, n_keys=3),
    "precision_band": lambda r: r.precision_band(SIZES),
    "difference_band": lambda r: r.difference_band("a", "b", SIZES),
    "band of the recall": lambda r: r.precision_band(SIZES, of="recall"),
    "significant_ranges": lambda r: r.significant_ranges("a", "b", range(1, 21)),
    "crossovers": lambda r: r.crossovers(0.05, range(1, 21)),
    "expected ties": lambda r: r.compare("a", "b", SIZES, ties="expected"),
}


def many(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    gold = rng.random(MANY) < 0.2
    score = gold[:, np.newaxis] * [1.0, 0.8, 0.3] + rng.normal(size=(MANY, 3))
    df = pd.DataFrame(score, columns=list("abc"), index=[f"w{k}" for k in rng.permutation(MANY)])
    if kind == "ties":
        df = df.round(0).assign(a=(df.a > 0).astype(float))
    if kind == "blocks":
        df = df.round(1)
    if kind == "missing":
        df["b"] = df["b"].where(rng.random(MANY) < 0.9)
    return df.assign(gold=gold, key=rng.permutation(MANY), part=rng.integers(0, 40, MANY))


def told(ask, df, roles):
    """Return the answer, or its error, and what was warned of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = ask(df.rankeval(gold="gold", measures=["a", "b", "c"], **roles))
        except Exception as error:
            return type(error), str(error)
    return found, sorted(str(x.message) for x in seen)


@pytest.mark.parametrize(
    ("kind", "roles"),
    [
        ("ties", {}), ("missing", {}), ("missing", {"key": "key"}), ("scores", {"groups": "part"}),
        ("blocks", {"key": "key"}), ("scores", {"missing": "last"}),
        ("blocks", {"lower_is_better": "c"}),
    ],
)  # fmt: skip
def test_the_best_alone_answer_as_all_do(kind, roles, monkeypatch):
    df, heads = many(kind), []
    if kind == "missing" and "missing" not in roles:
        roles = {**roles, "missing": "last"}
    head = candidates.Groups.head
    monkeypatch.setattr(candidates, "_LARGE", 100)
    monkeypatch.setattr(candidates.Groups, "head", lambda x, n: heads.append(y := head(x, n)) or y)
    names = some(list(ASKED), 0)
    short = {name: told(ASKED[name], df.copy(), roles) for name in names}
    monkeypatch.setattr(candidates, "_LARGE", np.inf)
    for name in names:
        found, said = told(ASKED[name], df.copy(), roles)
        if isinstance(found, pd.DataFrame):
            pd.testing.assert_frame_equal(short[name][0], found, check_exact=True)
            assert short[name][0].attrs == found.attrs, name
        else:
            assert short[name][0] == found, name
        assert short[name][1] == said, name
    few = [x for x in heads if x.whole is not None]
    assert bool(few) == (kind in ("scores", "blocks") and "groups" not in roles)


def test_every_method_of_lists_that_takes_a_head_is_asked():
    counted = {"acceptance_precision"}  # and of these no score is looked at:
    counted |= {"random_bound", "random_band", "random_cdf", "isolines"}
    assert {*HEAD_METHODS} - counted <= {*ASKED}
