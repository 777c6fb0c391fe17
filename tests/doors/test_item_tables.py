"""The door of systems: what is a system, a statistic, an item; long frames; what is refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import RankevalWarning

METHODS = ["paired_bootstrap", "paired_permutation", "system_ranks"]
SYSTEMS = ["large", "base", "small"]
LONG = {"system": "model", "score": "acc", "item": "doc"}


@pytest.fixture
def df() -> pd.DataFrame:
    """Six items, two systems."""
    return pd.DataFrame(
        {"new": [3, 5, 2, 4, 4, 1], "old": [2, 5, 1, 4, 3, 2]},
        index=[f"item {k}" for k in range(6)],
    )


@pytest.fixture
def parts(df) -> pd.DataFrame:
    """The same as correct of guess of gold, columns (system, statistic)."""
    return pd.concat({"correct": df, "guess": df + 1, "gold": df + 2}, axis=1).swaplevel(axis=1)


@pytest.fixture
def wide() -> pd.DataFrame:
    """What three systems get right of 50 items of two tasks."""
    right = np.random.default_rng(8).random((50, 3)) < [0.8, 0.7, 0.5]
    frame = pd.DataFrame(right, columns=SYSTEMS)
    task = np.repeat(["qa", "nli"], [30, 20])
    return frame.assign(doc=np.arange(50), task=task, passage=np.arange(50) // 5)


@pytest.fixture
def long(wide) -> pd.DataFrame:
    """The same with a row for each score, the items shuffled."""
    melted = wide.melt(id_vars=["doc", "task", "passage"], var_name="model", value_name="acc")
    shuffled = melted.sample(frac=1, random_state=2)
    return shuffled.sort_values("model", key=lambda x: x.map(SYSTEMS.index))


def ask(data, name="paired_bootstrap", /, **keywords):
    return getattr(rankeval_pd, name)(data, **{"n_resamples": 50, **keywords})


def same(found, wanted):
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


# ------------------------------------------------------------------------ systems and statistics


def test_systems_are_the_numeric_columns_without_a_role(df):
    wanted = ask(df)
    extra = df.assign(text="x", when=pd.Timestamp("2020"), doc=list("aabbcc"))
    same(ask(extra), wanted)
    found = ask(extra.assign(doc=[1, 1, 2, 2, 3, 3]), groups="doc")
    assert found[["system_a", "system_b"]].to_numpy().tolist() == [["new", "old"]]


def test_a_two_level_header_in_either_order(parts):
    for names in [("system", "statistic"), ("system", None), (None, None)]:
        data = parts.rename_axis(columns=names)
        same(ask(data, metric="f1"), ask(parts, metric="f1"))
        if names[0] is not None:  # without names the first level is the systems'
            same(ask(data.swaplevel(axis=1), metric="f1"), ask(parts, metric="f1"))


def test_a_pivot_is_taken_as_it_is(parts):
    stacked = parts.stack(level=0, future_stack=True)  # noqa: PD013
    long = stacked.rename_axis(["segment", "system"]).reset_index()
    pivoted = long.pivot(index="segment", columns="system")  # noqa: PD010
    same(ask(pivoted, metric="f1"), ask(parts, metric="f1"))
    with pytest.raises(ValueError, match=r"has 'system'.*system='system', score='...' and item="):
        ask(long)


def test_a_callable_gets_the_statistics_in_the_order_of_the_columns(parts):
    def metric(sums):
        assert sums.shape[-1] == 3
        return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    # the tests of ratios are those of the metrics by name, not of a function
    plain = {"skewness": False}
    same(ask(parts, metric=metric, **plain), ask(parts, metric="f1", **plain))


def test_a_callable_of_one_statistic_is_exact_with_few_items(df):
    for method in METHODS:
        found, wanted = (ask(df, method, metric=m) for m in (lambda S: S[..., 0], "sum"))
        shown = [name for name in found if name.startswith(("system", "score", "value", "rank"))]
        same(found[shown], wanted[shown])
        assert method == "system_ranks" or found["exact"].tolist() == [True]


def test_the_statistics_of_a_metric_may_stand_in_any_order(parts):
    shuffled = parts.iloc[:, [5, 1, 3, 2, 0, 4]]
    found, wanted = (ask(x, metric="f1").filter(regex="^(?!system)") for x in (shuffled, parts))
    same(found, wanted)


def test_datasets_with_shared_statistics(parts):
    """The gold size is that of the items, the same for all systems."""
    ds = xr.Dataset(
        {k: (("item", "system"), parts.xs(k, axis=1, level=1)) for k in ("correct", "guess")},
        {"system": ["new", "old"]},
    ).assign(gold=("item", parts["new", "gold"]))
    data = parts.copy()
    data["old", "gold"] = data["new", "gold"]
    found = ask(ds, metric="f1").to_dataframe().reset_index()
    wanted = ask(data, metric="f1")
    same(found[list(wanted.columns)], wanted)
    again = ask(ds.rename(item="segment"), metric="f1", dim="segment")
    xr.testing.assert_identical(again, ask(ds, metric="f1"))


def test_a_name_that_hides_a_column(df):
    found = ask(df.assign(gain=list("aabbcc")), by="gain")
    assert found["by_gain"].tolist() == ["a", "b", "c"]


def test_names_of_systems_that_are_equal_to_nothing(items):
    systems = items.set_axis(pd.Index(["a", pd.NA, pd.NaT], dtype=object), axis=1)
    assert len(systems.rankeval.paired_permutation()) == 3


# ---------------------------------------------------------------------------------- what is refused


def test_missing_and_infinite_scores_are_named(df):
    data = df.astype(float)
    data.loc[["item 2", "item 4"], "old"] = np.nan
    ds = xr.Dataset({"x": (("item", "system"), data)}, {"system": list(data), "item": data.index})
    message = (
        r"system 'old' has no score for 2 of 6 items: 'item 2', 'item 4'.*long frame.*fill in 0"
    )
    for given_as in (data, data.astype("Float64"), ds):
        with pytest.raises(ValueError, match=message):
            ask(given_as)
    data = df.astype(float)
    data.iloc[0, 0] = np.inf
    with pytest.raises(ValueError, match="'new' has infinite scores for 1 of 6 items: 'item 0'"):
        ask(data)


@pytest.mark.parametrize("method", METHODS)
def test_too_few_systems_items_or_groups_are_refused(df, method):
    for data, keywords, message in (
        (df.iloc[:1], {}, r"1 items 'item 0', but a paired test needs at least two"),
        (df.iloc[:0], {}, "0 items"),
        (df[[]].assign(text="x"), {}, "no numeric or boolean column"),
        (df.assign(domain=list("aaaaab")), {"by": "domain"}, "1 items"),
        (df.assign(doc="a"), {"groups": "doc"}, "there is only one group, but a paired test"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(data, method, **keywords)
    if method != "system_ranks":  # which gives the score of a single system
        with pytest.raises(ValueError, match=r"the systems 'new', but .* at least two systems"):
            ask(df[["new"]], method)


def test_frames_that_are_no_scores_of_systems_are_refused(df, parts):
    holed = df.assign(doc=["a", None, "b", "b", "c", "c"])
    negative, more = parts.copy(), parts.copy()
    negative["new", "correct"], more["old", "guess"] = -1, 0
    for data, keywords, message in (
        (holed, {"groups": "doc"}, "groups='doc' has 1 missing values"),
        (holed, {"by": "doc"}, "by='doc' has 1 missing values"),
        (holed, {"by": "dok"}, "no column 'dok'.*Did you mean 'doc'"),
        (pd.concat({"x": parts}, axis=1), {}, "header of data has 3 levels"),
        (pd.concat([df, df[["new"]]], axis=1), {}, "several columns named 'new'"),
        (parts, {}, "needs one column per system.*'correct', 'guess', 'gold'"),
        (parts.drop(columns=[("old", "gold")]), {"metric": "f1"}, "'old' has no column for the"),
        (negative, {"metric": "f1"}, "'new' has a negative 'correct' at item 'item 0'"),
        (more, {"metric": "f1"}, "system 'old' has more 'correct' than 'guess'"),
        (df, {"metric": "accuracy"}, "more 'correct' than 'total'"),
    ):
        with pytest.raises((ValueError, KeyError), match=message):
            ask(data, **keywords)
    assert ask(-df)["gain"][0] > 0  # a mean may be negative


def test_systems_that_are_not_there():
    for sizes in ((2, 5, 0), (0, 4, 2)):
        none = xr.Dataset({"value": (("domain", "item", "system"), np.zeros(sizes))})
        with pytest.raises(ValueError, match="data has no group, measure or system along"):
            none.rankeval.paired_permutation()
    with pytest.raises(ValueError, match="no dimension 'sentence'"):
        none.rankeval.gain_by_size([2], dim="sentence")


def test_metrics_that_do_not_fit(df):
    for metric, message in [
        ("blue", r"metric='blue' is not a known metric. Did you mean 'bleu'.*or a function"),
        ("comet", "'comet' is not a known metric. Omit metric to compare mean scores"),
        (3, r"metric=3 is not a known metric"),
        ("f1", r"needs the statistics 'correct', 'guess', 'gold'.*one column per system"),
        ("bleu", r"metric='bleu' needs the statistics 'sys_len'"),
        (lambda s: 1.0, r"dtype float64 and shape \(\) for sums of shape \(2, 1\)"),
        (lambda s: s, r"must return scores of shape \(2,\)"),
        (lambda s: s[..., 0] * 1j, r"metric=<lambda> returned an array of dtype complex128"),
        (lambda s: None, r"metric=<lambda> returned an array of dtype object"),
    ]:
        with pytest.raises(ValueError, match=message):
            ask(df, metric=metric)


def test_an_exception_of_a_metric_is_said_to_be_its_own(df):
    def ratio(sums):
        return sums[..., 0] / sums[..., 1]

    message = r"metric=ratio raised IndexError: index 1 .* sums of 1 statistics .* shape \(2, 1\)"
    for method in METHODS:
        with pytest.raises(ValueError, match=message) as caught:
            ask(df, method, metric=ratio)
        assert isinstance(caught.value.__cause__, IndexError)


def test_a_metric_may_be_an_object_that_is_called(df):
    class Scorer:
        def __call__(self, sums):
            return sums[..., 0]

    ask(df, metric=Scorer())
    for metric in (Scorer, object()):  # as metrics of texts are
        with pytest.raises(ValueError, match="is not a known metric"):
            ask(df, metric=metric)


def test_roles_that_do_not_fit_systems(df):
    for keywords, error, message in [
        ({"a": "newer"}, KeyError, r"a: no column 'newer'.*Did you mean 'new'"),
        ({"a": "new", "b": "new"}, ValueError, r"a and b both name 'new'"),
        ({"b": "new"}, ValueError, r"b='new' without a"),
        ({"families": {"new": 1}}, KeyError, r"families: no column 'old'"),
        ({"families": ["x"]}, TypeError, r"pass a mapping from each system"),
        ({"higher_is_better": "yes"}, TypeError, r"higher_is_better='yes'"),
        ({"dim": "item2"}, ValueError, r"names a dimension of a Dataset"),
        ({"gold": "new"}, ValueError, r"'new' applies only to rankings.*call compare"),
    ]:
        with pytest.raises(error, match=message):
            ask(df, **keywords)


def test_where_predictions_and_labels_are_brought_the_way_is_said():
    truth = pd.Series([True, False] * 30)
    predictions = pd.DataFrame({"old": truth, "new": ~truth, "gold": truth})
    with pytest.raises(ValueError, match=r"gold='gold' applies only to rankings.*from_predictions"):
        predictions.rankeval(metric="f1", gold="gold").paired_bootstrap()


def test_lower_is_better_says_what_is_meant(df):
    for name in ("new", "nobody", True):  # a system, no column, all
        with pytest.raises(ValueError, match=rf"lower_is_better={name!r}.*Pass higher_is_better="):
            ask(df, lower_is_better=name)
    with pytest.raises(TypeError, match="higher_is_better='new': pass True, False or None"):
        ask(df, higher_is_better="new")
    ranking = df.assign(gold=[True, False] * 3)
    with pytest.raises(ValueError, match=r"higher_is_better=False.*small values.*lower_is_better="):
        ranking.rankeval.nbest_precision([1], higher_is_better=False)


def test_the_wrong_form_says_so(df):
    for method in ("nbest_precision", "compare", "random_test", "random_bound"):
        with pytest.raises(ValueError, match="paired_bootstrap"):
            getattr(df.rankeval, method)()
        with pytest.raises(ValueError, match=r"metric='f1' applies only to systems.*paired_"):
            getattr(df.assign(gold=True).rankeval(metric="f1"), method)()
    ranking = df.assign(gold=[True, False] * 3)
    for method in METHODS:
        with pytest.raises(ValueError, match=r"has 'gold'.*call compare"):
            ask(ranking, method)
    with pytest.raises(ValueError, match=r"no dimension 'item'"):
        ask(xr.Dataset.from_dataframe(ranking.rename_axis("candidate")))
    with pytest.raises(TypeError, match="data is of type list"):
        ask([[1, 0]])


def test_what_float64_cannot_tell_apart_is_refused():
    data = pd.DataFrame({"a": [2**53, 2**53 + 1, 3, 4], "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"'a' has .*cannot be distinguished as .*Subtract"):
        data.rankeval.paired_bootstrap()
    items = xr.Dataset({"x": (("system", "item"), data.to_numpy(dtype=np.int64).T)})
    with pytest.raises(ValueError, match="0 has whole numbers of 2"):  # the first system
        items.rankeval.paired_bootstrap()


@pytest.mark.filterwarnings("ignore:3 items:UserWarning")
def test_numbers_are_refused_only_if_their_squares_are_lost():
    for size in (1e300, -1e151, 1e-151):
        data = pd.DataFrame({"a": [size, 0.0, 0.0], "b": [1.0, 2.0, 3.0]})
        with pytest.raises(ValueError, match=r"for system 'a', the largest.*Divide the scores of"):
            data.rankeval.paired_permutation()
    data = pd.DataFrame({"a": [3.0, 1.0, 2.0], "b": [1.0, 2.0, 1.0]})
    p_value = data.rankeval.paired_permutation()["p_value"]
    for size in (1e140, 1e-140):
        scaled = (data * size).rankeval.paired_permutation()
        assert scaled["gain"].item() == pytest.approx(2 / 3 * size, rel=1e-12)
        pd.testing.assert_series_equal(scaled["p_value"], p_value)


# ------------------------------------------------------------------------- a row for each score


@pytest.mark.filterwarnings("ignore:.*skewed:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    "ask",
    [
        lambda x, **k: x.rankeval(**k).system_ranks(n_resamples=99, adjust=None),
        lambda x, **k: x.rankeval.gain_by_size([10, 20], **k),
        lambda x, **k: rankeval_pd.summary(data=x, baseline="base", **{"metric": "mean", **k}),
        lambda x, **k: x.rankeval.paired_permutation(**k),
        lambda x, **k: x.rankeval.population_calibration(20, n_test_sets=2, **k),
    ],
)  # fmt: skip
def test_a_long_frame_is_the_frame_with_a_column_for_each_system(wide, long, ask):
    for roles in ({}, {"strata": "task"}, {"groups": "passage"}, {"by": "task"}):
        columns = wide.set_index("doc").drop(columns={"task", "passage"} - set(roles.values()))
        try:
            wanted = ask(columns, **roles)
        except ValueError as error:  # by and strata do not hold for all
            with pytest.raises(ValueError, match=re.escape(str(error))):
                ask(long, **LONG, **roles)
            continue
        pd.testing.assert_frame_equal(ask(long, **LONG, **roles), wanted)


@pytest.mark.filterwarnings("ignore:seeds. two training runs:rankeval_pd.RankevalWarning")
def test_seeds_of_a_long_frame():
    rng = np.random.default_rng(9)
    parts = {s: pd.DataFrame(rng.random((50, 3)) < 0.6, columns=SYSTEMS) for s in range(3)}
    trained = pd.concat(parts, axis=1, names=["seed", "system"]).swaplevel(axis=1)
    wanted = trained.rankeval(metric="accuracy").paired_bootstrap(seeds="seed")
    long = pd.concat(
        [x.assign(doc=range(50), seed=s).melt(["doc", "seed"], var_name="model", value_name="acc")
         for s, x in parts.items()]
    )  # fmt: skip
    found = long.rankeval(**LONG, metric="accuracy", seeds="seed").paired_bootstrap()
    pd.testing.assert_frame_equal(found, wanted)
    with pytest.raises(ValueError, match=r"unique.*rows: 300.*seeds=.*item=.*groups='doc'"):
        long.rankeval(**LONG).paired_bootstrap()
    fewer = long[(long["seed"] < 2) | (long["model"] != "small")]  # a system with two seeds
    pairs = fewer.rankeval(**LONG, metric="accuracy", seeds="seed").paired_bootstrap()
    kept = trained.drop(columns=("small", 2)).rankeval(metric="accuracy")
    pd.testing.assert_frame_equal(pairs, kept.paired_bootstrap(seeds="seed"))


def test_the_statistics_of_a_long_frame(parts):
    wanted = ask(parts, metric="f1")
    stacked = parts.stack(level=0, future_stack=True)  # noqa: PD013
    long = stacked.rename_axis(["text", "system"]).reset_index()
    roles = {"system": "system", "score": ["correct", "guess", "gold"], "item": "text"}
    pd.testing.assert_frame_equal(ask(long, metric="f1", **roles), wanted)


def test_items_named_by_the_index_or_by_several_columns(long):
    roles = {"system": "model", "score": "acc"}
    wanted = long.rankeval(**LONG).paired_bootstrap()
    indexed = long.set_index("doc").rankeval(**roles).paired_bootstrap()
    pd.testing.assert_frame_equal(indexed, wanted)
    numbered = long.assign(number=long["doc"] - 30 * (long["task"] == "nli"))  # anew in each task
    several = numbered.rankeval(**roles, item=["task", "number"]).paired_bootstrap()
    pd.testing.assert_frame_equal(several[["system_a", "gain"]], wanted[["system_a", "gain"]])
    strata = numbered.rankeval(**roles, item="number", strata="task").paired_bootstrap()
    told = long.rankeval(**LONG, strata="task").paired_bootstrap()  # draws in another order
    pd.testing.assert_frame_equal(strata[["system_a", "gain"]], told[["system_a", "gain"]])


def test_the_accessor_says_what_is_understood_of_a_long_frame(long):
    assert "'large', 'base', 'small'" in repr(long.rankeval(**LONG, metric="accuracy"))
    assert "not yet clear" in repr(long.rankeval(system="model"))
    assert "system_ranks" in dir(long.rankeval(**LONG))


def test_holes_and_repeats_of_a_long_frame(wide, long):
    fewer = long[~((long["model"] == "base") & long["doc"].isin([3, 7]))]
    with pytest.raises(ValueError, match=r"'base' has no score for 2 of 50 items: 3, 7\..*ratio"):
        fewer.rankeval(**LONG).paired_bootstrap()
    holed = wide[SYSTEMS].astype(float)
    holed.loc[[3, 7], "base"] = np.nan
    wanted = holed.rankeval(missing="ratio", metric="mean").paired_bootstrap(n_resamples=99)
    found = fewer.rankeval(**LONG, missing="ratio").paired_bootstrap(n_resamples=99)
    pd.testing.assert_frame_equal(found, wanted)
    with pytest.raises(ValueError, match="in a long frame, see the page on missing scores"):
        fewer.dropna().rankeval(**LONG).paired_bootstrap()
    count = fewer.groupby("doc")["model"].transform("size")  # as on this page
    complete = fewer[count == fewer["model"].nunique()]
    assert complete["doc"].nunique() == 48
    complete.rankeval(**LONG).paired_bootstrap()
    twice = pd.concat([long, long.head(1)])
    with pytest.raises(ValueError, match=r"'doc', 'model' is not unique.*rows: 1.*groupby"):
        twice.rankeval(**LONG).paired_bootstrap()


def test_wrong_roles_of_a_long_frame(long):
    for roles, error, match in [
        ({"system": "model"}, ValueError, r"system='model': a long frame.*score='...'"),
        ({"score": "acc"}, ValueError, r"score='acc': a long frame"),
        ({**LONG, "measure": "model"}, ValueError, r"a long frame is an in-memory DataFrame"),
        ({**LONG, "system": "modle"}, KeyError, r"Did you mean 'model'"),
        ({**LONG, "item": "model"}, ValueError, r"no column identifies the items"),
        ({"system": "model", "score": "acc"}, ValueError, r"item=None: no column identifies"),
        ({**LONG, "score": "task"}, ValueError, r"no numeric or boolean column"),
    ]:  # fmt: skip
        with pytest.raises(error, match=match):
            long.rankeval(**roles).paired_bootstrap()


def test_no_long_frame(long):
    for data in (long.head(0), long.to_xarray()):
        with pytest.raises(ValueError, match=r"a long frame is an in-memory DataFrame"):
            rankeval_pd.paired_bootstrap(data, **LONG)
    for name in ("doc", "model"):
        holed = long.astype({"doc": float}).assign(**{name: long[name].where(long["doc"] != 4)})
        with pytest.raises(ValueError, match=rf"'{name}' has 3 missing values"):
            holed.rankeval(**LONG).paired_bootstrap()
    with pytest.raises(ValueError, match=r"'system'.*system='system', score="):
        long.rename(columns={"model": "system"})[["system", "acc"]].rankeval.paired_bootstrap()
    with pytest.raises(ValueError, match=r"the systems 'acc', .*If a column names the systems"):
        long[["model", "acc"]].rankeval.paired_bootstrap()


@pytest.mark.full
def test_long_frames_of_dask_are_refused(long):
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    ddf = dd.from_pandas(long, npartitions=2)
    with pytest.raises(ValueError, match=r"in memory"):
        ddf.rankeval(**LONG).paired_bootstrap()
    with pytest.raises(ValueError, match=r"in memory"):
        ddf.rankeval(measure="model", score="acc", item="doc", gold="passage").nbest_precision(3)


# ---------------------------------------------------------- rankings and runs, a row for each score


def test_rankings_in_groups_and_their_holes():
    frame = rankeval_pd.datasets.simulate_candidates(200).assign(
        part=np.arange(200) % 2, word=np.arange(200) // 2
    )
    names = [x for x in frame if x not in ("gold", "part", "word")]
    long = frame.melt(["gold", "part", "word"], var_name="m", value_name="s")
    roles = {"measure": "m", "score": "s", "item": "word", "by": "part"}
    wanted = frame.set_index("word").rankeval(by="part", measures=names).compare(n=[20])
    pd.testing.assert_frame_equal(long.rankeval(**roles).compare(n=[20]), wanted)
    with pytest.raises(ValueError, match=r"missing='raise'"):
        long.iloc[3:].rankeval(**roles).compare(n=[20])
    long.iloc[3:].rankeval(**roles, missing="absent").compare(n=[20])
    torn = long.assign(gold=long["gold"].where(long.index != 0, ~long["gold"]))
    with pytest.raises(ValueError, match=r"'gold' has several values for one candidate"):
        torn.rankeval(**roles).compare(n=[20])
    with pytest.raises(ValueError, match=r"is not unique.*by=\.\.\."):
        long.rankeval(measure="m", score="s", item="word").compare(n=[20])
    named = long.assign(**{names[0]: 1.0})
    with pytest.raises(ValueError, match=rf"data has a column '{names[0]}'"):
        named.rankeval(**roles).compare(n=[20])


def test_runs_with_documents_that_no_run_retrieved():
    wide = pd.DataFrame(
        {
            "query": np.repeat(["q1", "q2", "q3"], 4), "document": list("abcd") * 3,
            "grade": [1, 0, 2, 0] * 3, "bm25": [3.0, 2, 1, 0.5] * 3,
            "dense": np.random.default_rng(8).random(12),
        }
    )  # fmt: skip
    wide.loc[[2, 6], ["bm25", "dense"]] = np.nan
    wide.loc[5, "dense"] = np.nan
    wanted = wide.rankeval.per_query(["AP", "P@2"])
    long = wide.melt(["query", "document", "grade"], var_name="run", value_name="score").dropna()
    lost = wide.loc[[2, 6], ["query", "document", "grade"]]  # judged, in no list: no name, no score
    runs = pd.concat([long, lost]).sample(frac=1, random_state=1)
    found = runs.rankeval(measure="run", score="score").per_query(["AP", "P@2"])
    by = ["query", "measure", "metric"]
    pd.testing.assert_frame_equal(
        found.sort_values(by, ignore_index=True), wanted.sort_values(by, ignore_index=True)
    )
    named = runs.rename(columns={"query": "topic", "document": "docno"})
    again = named.rankeval(measure="run", score="score", by="topic", item="docno").per_query("AP")
    assert again["value"].sum() == pytest.approx(wanted.query("metric == 'AP'")["value"].sum())
    with pytest.warns(RankevalWarning, match="4 items|with fewer"):
        runs.rankeval(measure="run", score="score").summary("AP")


def test_what_names_the_items_of_a_column_for_each_system_is_no_system():
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.random((30, 2)), columns=["a", "b"], index=rng.permutation(30))
    given = plain.rename_axis("seg_id").reset_index()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = given.rankeval(label="seg_id").system_ranks()
    pd.testing.assert_frame_equal(found, plain.rankeval.system_ranks())
    assert list(given.columns) == ["seg_id", "a", "b"]
    with pytest.raises(ValueError, match="for one column per system, omit them or pass label"):
        given.rankeval(item="seg_id").system_ranks()


def test_categories_of_flags_are_right_or_wrong():
    right = pd.DataFrame(np.random.default_rng(0).random((30, 2)) < 0.6, columns=["a", "b"])
    wanted = right.rankeval.paired_bootstrap()
    pd.testing.assert_frame_equal(right.astype("category").rankeval.paired_bootstrap(), wanted)


def test_no_items_and_no_names_are_said():
    data = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with pytest.raises(ValueError, match="has 0 items, but"):
        data.iloc[:0].rankeval.paired_bootstrap()
    for empty in ([], (), {}):
        with pytest.raises(ValueError, match=r"measures=.* contains no names"):
            data.rankeval.paired_bootstrap(measures=empty)
