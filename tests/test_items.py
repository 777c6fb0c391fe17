"""The second door: which columns are systems, and what is refused with a text that helps."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import rankeval_pd

METHODS = ["paired_bootstrap", "paired_permutation", "system_ranks"]
RANKINGS = {"nbest_precision": (), "compare": (), "random_test": (), "random_bound": ()}


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


def ask(data, name="paired_bootstrap", /, **keywords):
    return getattr(rankeval_pd, name)(data, **{"n_resamples": 50, **keywords})


def same(found, wanted):
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


# --------------------------------------------------------------------------------- what is a system


def test_systems_are_the_numeric_columns_without_a_role(df):
    wanted = ask(df)
    extra = df.assign(text="x", when=pd.Timestamp("2020"), doc=list("aabbcc"))
    same(ask(extra), wanted)
    found = ask(extra.assign(doc=[1, 1, 2, 2, 3, 3]), groups="doc")
    assert found[["system_a", "system_b"]].to_numpy().tolist() == [["new", "old"]]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "float32", "Int64", "Float64", "int64[pyarrow]", "object"]
)
def test_dtypes(df, dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    same(ask(df.astype(dtype)), ask(df))


def test_booleans_are_zero_and_one(df):
    right = df > 2
    for dtype in ("bool", "boolean", "int64"):
        same(ask(right.astype(dtype)), ask(right))
    assert ask(right, metric="accuracy")["score_a"][0] == right.mean().max()


@pytest.mark.parametrize("order", [("system", "statistic"), ("statistic", "system")])
@pytest.mark.parametrize("named", ["both", "system", "none"])
def test_a_two_level_header_in_either_order(parts, order, named):
    data = parts.reorder_levels([0, 1], axis=1)
    data.columns.names = ["system", None if named == "system" else "statistic"]
    if order[0] == "statistic":
        data = data.swaplevel(axis=1)
    if named == "none":  # without names the first level is the systems'
        if order[0] == "statistic":
            return
        data.columns.names = [None, None]
    same(ask(data, metric="f1"), ask(parts, metric="f1"))


def test_a_pivot_is_taken_as_it_is(parts):
    stacked = parts.stack(level=0, future_stack=True)  # noqa: PD013
    long = stacked.rename_axis(["segment", "system"]).reset_index()
    pivoted = long.pivot(index="segment", columns="system")  # noqa: PD010
    same(ask(pivoted, metric="f1"), ask(parts, metric="f1"))
    with pytest.raises(ValueError, match=r"column 'system'.*system='system', score='...', item="):
        ask(long)
    roles = {"system": "system", "score": ["correct", "guess", "gold"], "item": "segment"}
    same(ask(long, metric="f1", **roles), ask(parts, metric="f1"))


def test_measures_choose_the_systems(df):
    data = df.assign(third=[1, 2, 3, 4, 5, 6])
    assert len(ask(data)) == 3
    same(ask(data, measures=["new", "old"]), ask(df))
    ranks = data.rankeval(measures=["third", "new"]).system_ranks(n_resamples=20)
    assert ranks["system"].tolist() == ["third", "new"]


def test_a_callable_gets_the_statistics_in_the_order_of_the_columns(parts):
    seen = []

    def metric(sums):
        seen.append(sums.shape)
        return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    # the tests of ratios are those of the metrics by name, not of a function
    plain = {"skewness": False}
    same(ask(parts, metric=metric, **plain), ask(parts, metric="f1", **plain))
    assert all(shape[-1] == 3 for shape in seen)


@pytest.mark.parametrize("method", METHODS)
def test_a_callable_of_one_statistic(df, method):
    found = ask(df, method, metric=lambda S: S[..., 0])
    wanted = ask(df, method, metric="sum")
    shown = [name for name in found if name.startswith(("system", "score", "value", "rank"))]
    same(found[shown], wanted[shown])
    if method != "system_ranks":
        assert found["exact"].tolist() == [True]  # few items: all swaps, all signs
        with pytest.raises(
            ValueError, match="exact distribution exists for the metrics mean, sum and accuracy"
        ):
            rankeval_pd.paired_bootstrap(
                df, metric=lambda S: S[..., 0], method="exact", event="recentred"
            )


def test_the_statistics_may_stand_in_any_order(parts):
    shuffled = parts[[("old", "gold"), ("new", "guess"), ("old", "correct"), ("new", "gold"),
                      ("new", "correct"), ("old", "guess")]]  # fmt: skip
    found = ask(shuffled, metric="f1")
    columns = [name for name in found if not name.startswith("system")]
    same(found[columns], ask(parts, metric="f1")[columns])


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
    renamed = ds.rename(item="segment")
    again = ask(renamed, metric="f1", dim="segment")
    xr.testing.assert_identical(again, ask(ds, metric="f1"))


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("method", METHODS)
def test_missing_items_are_named(df, method):
    data = df.astype(float)
    data.loc[["item 2", "item 4"], "old"] = np.nan
    message = r"system 'old' has no score for 2 of 6 items: 'item 2', 'item 4'.*do not fill in 0"
    with pytest.raises(ValueError, match=message):
        ask(data, method)
    with pytest.raises(ValueError, match="'item 2', 'item 4'"):
        ask(data.astype("Float64"), method)
    ds = xr.Dataset({"x": (("item", "system"), data)}, {"system": list(data), "item": data.index})
    with pytest.raises(ValueError, match=message):
        ask(ds, method)


def test_different_items_for_two_systems():
    a = pd.DataFrame({"item": [1, 2, 3], "system": "a", "x": 1.0})
    b = pd.DataFrame({"item": [1, 2, 4], "system": "b", "x": 0.0})
    data = pd.concat([a, b]).pivot(index="item", columns="system", values="x")  # noqa: PD010
    with pytest.raises(ValueError, match=r"system 'a' has no score for 1 of 4 items: 4"):
        ask(data)


@pytest.mark.parametrize("method", METHODS)
def test_infinite_numbers(df, method):
    data = df.astype(float)
    data.iloc[0, 0] = np.inf
    with pytest.raises(ValueError, match="'new' has infinite scores for 1 of 6 items: 'item 0'"):
        ask(data, method)


@pytest.mark.parametrize("role", ["groups", "by"])
def test_a_role_that_names_no_column(df, role):
    with pytest.raises(KeyError, match=f"{role}: no column 'nope'"):
        ask(df, **{role: "nope"})


@pytest.mark.parametrize("method", METHODS)
def test_one_system_one_item_no_item(df, method):
    with pytest.raises(ValueError, match=r"one system, 'new'.*needs two"):
        ask(df[["new"]], method)
    with pytest.raises(ValueError, match=r"one item, 'item 0', but resampling needs at least two"):
        ask(df.iloc[:1], method)
    with pytest.raises(ValueError, match="no item"):
        ask(df.iloc[:0], method)
    with pytest.raises(ValueError, match="no numeric or boolean column"):
        ask(df[[]].assign(text="x"), method)
    with pytest.raises(ValueError, match="one item"):
        ask(df.assign(domain=list("aaaaab")), method, by="domain")
    with pytest.raises(ValueError, match="there is only one group, but resampling"):
        ask(df.assign(doc="a"), method, groups="doc")


def test_missing_keys(df):
    data = df.assign(doc=["a", None, "b", "b", "c", "c"])
    for role in ("groups", "by"):
        with pytest.raises(ValueError, match=rf"{role}='doc' has 1 missing values"):
            ask(data, **{role: "doc"})
        with pytest.raises(KeyError, match=r"no column 'dok'.*Did you mean 'doc'"):
            ask(data, **{role: "dok"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({("new", "correct"): -1}, r"system 'new' has a negative 'correct' at item 'item 0'"),
        ({("old", "guess"): 0}, r"system 'old' has more 'correct' than 'guess'"),
    ],
)
def test_impossible_counts(parts, change, message):
    data = parts.copy()
    for column, value in change.items():
        data[column] = value
    with pytest.raises(ValueError, match=message):
        ask(data, metric="f1")


def test_accuracy_above_one(df):
    with pytest.raises(ValueError, match=r"more 'correct' than 'total'"):
        ask(df, metric="accuracy")
    assert ask(-df)["gain"][0] > 0  # a mean may be negative


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("blue", r"metric='blue' is not a known metric. Did you mean 'bleu'.*or a function"),
        (
            "comet",
            r"metric='comet' is not a known metric. If the columns contain per-item scores",
        ),
        (3, r"metric=3 is not a known metric"),
        ("f1", r"needs the statistics 'correct', 'guess', 'gold'.*one column per system"),
        ("bleu", r"metric='bleu' needs the statistics 'sys_len'"),
        (lambda s: 1.0, r"shape \(\) instead of \(2,\)"),
        (lambda s: s, r"shape \(2, 1\)"),
        (lambda s: s.sum(), r"returned shape \(\)"),
    ],
    ids=["misspelt", "scores", "number", "f1", "bleu", "constant", "no reduction", "over all"],
)
def test_metrics_that_do_not_fit(df, metric, message):
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


def test_a_scorer_of_texts_leads_to_the_statistics(df):
    class Chrf:
        """Not callable, as sacrebleu's metrics are not."""

    class Scorer:
        """A function of sums by another name."""

        def __call__(self, sums):
            return sums[..., 0]

    for metric, given in ((Chrf(), r"Chrf\(\)"), (Chrf, "Chrf")):
        with pytest.raises(
            ValueError, match=rf"metric={given} scores text or labels.*metric='chrf'.*'hyp_1'"
        ):
            ask(df, metric=metric)
    with pytest.raises(ValueError, match=r"metric=Scorer scores text or labels.*name of a metric"):
        ask(df, metric=Scorer)
    same(ask(df, metric=Scorer()), ask(df, metric=lambda s: s[..., 0]))
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU()
    with pytest.raises(ValueError, match=r"metric=BLEU\(\) .*metric='bleu'.*'sys_len', 'ref_len'"):
        ask(df, metric=bleu)


def test_numbers_in_messages_are_plain(df):
    numbered = df.set_axis([0, 1], axis=1).set_axis(range(6), axis=0)
    labels = numbered.columns.to_numpy()
    for keywords in ({"a": labels[0], "b": labels[0]}, {"a": labels[1] + 2}, {"b": labels[1]}):
        with pytest.raises((ValueError, KeyError), match=r"\d") as caught:
            ask(numbered, **keywords)
        assert "np." not in str(caught.value)
    for call in (
        lambda: ask(numbered, n_resamples=np.int64(0)),
        lambda: ask(numbered, alpha=np.float64(3)),
        lambda: ask(numbered.iloc[:1]),
        lambda: ask(numbered, metric=np.int64(3)),
        lambda: numbered.rankeval.gain_by_size(np.array([1])),
        lambda: rankeval_pd.needed_items(np.float64(0), 1, 9),
        lambda: ask(pd.concat({"correct": -numbered}, axis=1).swaplevel(axis=1), metric="accuracy"),
    ):
        with pytest.raises(ValueError, match=r"\d") as caught:
            call()
        assert "np." not in str(caught.value)


def test_several_statistics_and_a_metric_of_one(parts):
    with pytest.raises(
        ValueError, match=r"takes one column per system.*'correct', 'guess', 'gold'"
    ):
        ask(parts)
    with pytest.raises(ValueError, match=r"system 'old' has no column for the statistic 'gold'"):
        ask(parts.drop(columns=[("old", "gold")]), metric="f1")


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"event": "above"}, ValueError, r"event='above' is not one of 'wild', 'recentred'"),
        ({"ci": "wald"}, ValueError, r"ci='wald'"),
        ({"method": "magic"}, ValueError, r"method='magic' is not one of 'auto', 'exact'"),
        ({"adjust": "max-T"}, ValueError, r"adjust='max-T' is not one of None, 'holm'"),
        ({"alpha": 5}, ValueError, r"alpha=5 is outside \(0, 1\)"),
        ({"level": 95}, ValueError, r"level=95 is outside"),
        ({"n_resamples": 0}, ValueError, r"n_resamples=0: pass a whole number of at least 1"),
        ({"n_resamples": 1e4}, TypeError, r"n_resamples=10000.0 is of type float"),
        ({"a": "newer"}, KeyError, r"a: no column 'newer'.*Did you mean 'new'"),
        ({"a": "new", "b": "new"}, ValueError, r"the same system"),
        ({"b": "new"}, ValueError, r"b='new' without a"),
        ({"families": {"new": 1}}, KeyError, r"families: no column 'old'"),
        ({"families": ["x"]}, ValueError, r"a label for each of the 2 systems"),
        ({"rng": -1}, ValueError, r"rng=-1"),
        ({"higher_is_better": "yes"}, TypeError, r"higher_is_better='yes'"),
        ({"golds": "new"}, TypeError, r"Unknown keyword 'golds'"),
        ({"dim": "item2"}, ValueError, r"names a dimension of a Dataset"),
    ],
)
def test_bad_options(df, keywords, error, message):
    with pytest.raises(error, match=message):
        ask(df, **keywords)


@pytest.mark.parametrize(
    "role", [{"gold": "new"}, {"key": "new"}, {"ties": "error"}, {"missing": "drop"}], ids=str,
)  # fmt: skip
@pytest.mark.parametrize("method", METHODS)
def test_roles_of_rankings_are_refused(df, method, role):
    with pytest.raises(
        ValueError, match=r"applies only to rankings.*call compare|applies only to rankings"
    ):
        ask(df, method, **role)


@pytest.mark.parametrize(
    ("metric", "what"),
    [("f1", r"three columns.*'correct'.*how-to 'F1 from predictions'"),
     ("accuracy", r"predictions\.eq\(y_true, axis=0\)")],
)  # fmt: skip
def test_of_predictions_the_way_is_said(metric, what):
    """Where predictions and true labels are brought: the values themselves are not repeated."""
    truth = pd.Series([True, False] * 30)
    predictions = pd.DataFrame({"old": truth, "new": ~truth})
    with pytest.raises(ValueError, match=rf"gold=<Series> applies only to rankings.*{what}"):
        predictions.rankeval(metric=metric, gold=truth).paired_bootstrap()
    with pytest.raises(ValueError, match=rf"a column 'gold'.*{what}"):
        predictions.assign(gold=truth).rankeval(metric=metric).paired_permutation()


@pytest.mark.parametrize("metric", [np.array([1, 2]), pd.Series(["f1", "accuracy"])], ids=type)
def test_metrics_that_are_values_lead_nowhere(df, metric):
    with pytest.raises(ValueError, match=r"gold='old' applies only to rankings.*call compare\.$"):
        df.rankeval(metric=metric, gold="old").paired_bootstrap()


@pytest.mark.parametrize("method", METHODS)
def test_lower_is_better_says_what_is_meant(df, method):
    for name in ("new", "nobody", True):  # a system, no column, all
        with pytest.raises(
            ValueError, match=rf"lower_is_better={name!r}.*pass higher_is_better=False"
        ):
            ask(df, method, lower_is_better=name)
    with pytest.raises(TypeError, match="higher_is_better='new': pass False if lower scores"):
        ask(df, method, higher_is_better="new")
    ranking = df.assign(gold=[True, False] * 3)
    with pytest.raises(ValueError, match=r"higher_is_better=False.*small values.*lower_is_better="):
        ranking.rankeval.nbest_precision([1], higher_is_better=False)


def test_the_wrong_form_says_so(df):
    for method, arguments in RANKINGS.items():
        with pytest.raises(ValueError, match="paired_bootstrap"):
            getattr(df.rankeval, method)(*arguments)
        with pytest.raises(
            ValueError, match=r"metric='f1' applies only to systems.*paired_bootstrap"
        ):
            getattr(df.assign(gold=True).rankeval(metric="f1"), method)(*arguments)
    ranking = df.assign(gold=[True, False] * 3)
    for method in METHODS:
        with pytest.raises(ValueError, match=r"column 'gold'.*call compare"):
            ask(ranking, method)
    with pytest.raises(ValueError, match=r"no dimension 'item'.*call compare"):
        ask(xr.Dataset.from_dataframe(ranking.rename_axis("candidate")))
    with pytest.raises(TypeError, match="data is of type list"):
        ask([[1, 0]])


def test_headers_that_mean_nothing(df, parts):
    deep = pd.concat({"x": parts}, axis=1)
    with pytest.raises(ValueError, match="header of data has 3 levels"):
        ask(deep)
    twice = pd.concat([df, df[["new"]]], axis=1)
    with pytest.raises(ValueError, match="several columns named 'new'"):
        ask(twice)


def test_a_name_that_hides_a_column(df):
    found = ask(df.assign(gain=list("aabbcc")), by="gain")
    assert found["by_gain"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("size", [0, 2.5, True, "many"])
def test_counts_of_nothing(size):
    with pytest.raises((ValueError, TypeError), match="n_items="):
        rankeval_pd.resample_counts(size)


@pytest.mark.filterwarnings("ignore:.*with fewer than:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("as_coordinate", [True, False])
@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_a_dataset_with_groups_and_chosen_systems_is_its_frame(method, lazy, as_coordinate):
    """Clusters along the items, systems in another order, items in another than their labels'."""
    rng = np.random.default_rng(5)
    items = pd.Index([f"i{k}" for k in rng.permutation(40)], name="item")
    frame = pd.DataFrame(rng.integers(0, 9, (40, 4)), index=items, columns=list("abcd"))
    docs = pd.Series([f"d{k % 11}" for k in range(40)], index=items, name="doc")
    ds = xr.Dataset(
        {"score": (("item", "system"), frame), "doc": ("item", docs.to_numpy(dtype=object))},
        {"item": items, "system": list(frame)},
    )
    ds = ds.set_coords("doc") if as_coordinate else ds
    ds = ds.chunk(item=7) if lazy else ds
    roles = {"groups": "doc", "measures": ["d", "a", "c"], "rng": 3}
    wanted = ask(frame.assign(doc=docs), method, n_resamples=200, **roles)
    found = ask(ds, method, n_resamples=200, **roles).compute().to_dataframe().reset_index()
    if method == "system_ranks":  # a Dataset keeps the order of its systems
        found = found.sort_values("rank", kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(found[list(wanted)], wanted, check_dtype=False)
    with pytest.raises(KeyError, match="measures: no column 'nope'"):
        ask(ds, method, **{**roles, "measures": ["a", "nope"]})
    with pytest.raises(KeyError, match="groups: no column 'nope'"):
        ask(ds, method, **{**roles, "groups": "nope"})


@pytest.mark.parametrize(
    "numbers",
    [
        [2**53, 2**53 + 1, 3, 4],
        np.array([1, 1 + np.finfo(np.longdouble).eps, 2, 3], dtype=np.longdouble),
        pd.array(
            [Decimal(1), Decimal("1.00000000000000000001"), Decimal(2), Decimal(3)],
            dtype=pd.ArrowDtype(pa.decimal128(30, 20)),
        ),
    ],
)
def test_what_float64_cannot_tell_apart_is_refused(numbers):
    data = pd.DataFrame({"a": numbers, "b": [1.0, 2.0, 3.0, 4.0]})
    if np.finfo(np.longdouble).eps == np.finfo(float).eps and data["a"].dtype == np.longdouble:
        pytest.skip("long double is double here")
    with pytest.raises(ValueError, match=r"'a' has .*cannot be distinguished as float64.*Subtract"):
        data.rankeval.paired_bootstrap()
    with pytest.raises(ValueError, match=r"'a' has .*cannot be distinguished as float64.*rank"):
        data.assign(gold=[True, False, True, False]).rankeval.nbest_precision(1)
    if data["a"].dtype == np.int64:
        items = xr.Dataset({"x": (("system", "item"), data.to_numpy(dtype=np.int64).T)})
        with pytest.raises(ValueError, match="0 has whole numbers of 2"):  # the first system
            items.rankeval.paired_bootstrap()


@pytest.mark.parametrize("size", [1e300, -1e151, 1e-151])
def test_numbers_whose_squares_are_lost_are_refused(size):
    data = pd.DataFrame({"a": [size, 0.0, 0.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(
        ValueError, match=r"for system 'a', the largest.*Divide the scores of all systems"
    ):
        data.rankeval.paired_permutation()


@pytest.mark.filterwarnings("ignore:3 items:UserWarning")
def test_numbers_that_are_large_or_small_are_taken():
    data = pd.DataFrame({"a": [3.0, 1.0, 2.0], "b": [1.0, 2.0, 1.0]})
    p_value = data.rankeval.paired_permutation()["p_value"]
    for size in (1e140, 1e-140):
        scaled = (data * size).rankeval.paired_permutation()
        assert scaled["gain"].item() == pytest.approx(2 / 3 * size, rel=1e-12)
        pd.testing.assert_series_equal(scaled["p_value"], p_value)
