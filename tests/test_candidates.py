"""The door: what is understood of the data, and what must not change a number."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

# every method that ranks, with arguments that suit the frames with measures a, b and c
CUTS = {"a": [0, 2, 4], "b": 1, "c": [0.25, -0.3]}
METHODS = {
    "nbest_precision": {},
    "acceptance_precision": {"threshold": CUTS},
    "compare": {},
    "significant_ranges": {"alpha": 0.9},
    "random_bound": {"p": [0.05, 0.5]},
    "random_test": {},
}
REGION = {"a": "a", "b": "b", "n": 4}
SETS = {"a": "a", "b": "b", "threshold": {"a": [1, 3], "b": [-1, -3]}, "lower_is_better": "b"}


def ask(data: Any, method: str, **keywords: Any) -> Any:
    return getattr(data.rankeval, method)(**{**METHODS.get(method, {}), **keywords})


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame, **options: Any) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, **options)


# ------------------------------------------------------------------------------- roles by default


@pytest.mark.parametrize(
    "columns",
    [
        {"gold": [1, 0, 1], "x": [True, False, False]},  # a name goes before a dtype
        {"x": [True, False, True]},
        {"x": pd.array([True, False, True], dtype="boolean")},
        {"x": pd.array([True, False, True], dtype="bool[pyarrow]")},
    ],
)
def test_gold_by_name_or_the_only_boolean(columns):
    found = pd.DataFrame({"a": [3.0, 2, 1], **columns}).rankeval.nbest_precision(measures="a")
    assert found["tp"].tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int64", "int8", "uint8", "float64", "float32", "boolean", "Int64", "UInt8",
        "Float64", "bool[pyarrow]", "int32[pyarrow]", "double[pyarrow]", "object", "category",
    ],
)  # fmt: skip
def test_dtypes_of_gold(frame, dtype):
    whole = dtype not in {"bool", "boolean", "bool[pyarrow]", "object", "category"}
    gold = frame["gold"].astype(int if whole else bool).astype(dtype)
    found = frame.assign(gold=gold).rankeval(measures=["a", "b", "c"], gold="gold")
    assert_same(found.compare(), frame.rankeval.compare())


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    "dtype",
    [
        "int64", "int8", "uint8", "uint64", "float32", "Int64", "UInt8", "Float64", "Float32",
        "int32[pyarrow]", "uint8[pyarrow]", "double[pyarrow]", "object", "bool", "boolean",
    ],
)  # fmt: skip
@pytest.mark.parametrize("lower", [(), "a"])
def test_dtypes_of_scores(frame, dtype, lower):
    scores = frame["a"].astype(bool).astype(float) if "bool" in dtype else frame["a"]
    roles = {"measures": ["a", "b", "c"], "gold": "gold", "lower_is_better": lower}
    other = frame.assign(a=scores.astype(int).astype(dtype))
    plain = frame.assign(a=scores)
    for method in ("nbest_precision", "compare", "random_test"):
        assert_same(ask(other, method, **roles), ask(plain, method, **roles))


def test_default_measures_in_the_order_of_columns():
    cells = ["O11", "O12", "O21", "O22", "E11", "R1", "R2", "C1", "C2", "N"]
    df = pd.DataFrame(
        {
            "z": [1.0, 2.0],
            **dict.fromkeys(cells, 1),
            "word": ["x", "y"],
            "flag": [True, True],
            "when": pd.Timestamp("2020"),
            "a": [2, 1],
            "ident": [0, 1],
            "part": [7, 7],
            "nullable": pd.array([1, 2], dtype="Int64"),
            "complex": [1j, 2j],
            "gold": [1, 0],
        }
    )
    found = df.rankeval.nbest_precision(1, by="part", key="ident")
    assert found["measure"].tolist() == ["z", "a", "nullable"]
    # what is left out by default can be asked for, and keeps the order asked for
    found = df.rankeval.nbest_precision(1, measures=["a", "N", "flag", "a"])
    assert found["measure"].tolist() == ["a", "N", "flag"]
    assert df.rankeval.nbest_precision(1, measures="z")["measure"].tolist() == ["z"]


@pytest.mark.parametrize(
    "names", [[0, 1, 2], [("s", "a"), ("s", "b"), ("g", "c")], [np.nan, "b", 3]]
)
def test_names_are_the_labels_of_the_columns(frame, names):
    columns = [*names, ("l", "gold") if isinstance(names[0], tuple) else "gold"]
    other = frame.set_axis(
        pd.MultiIndex.from_tuples(columns) if isinstance(names[0], tuple) else columns, axis=1
    )
    found, plain = other.rankeval.compare(n=[4, 9]), frame.rankeval.compare(n=[4, 9])
    labels = dict(zip("abc", names, strict=True))
    for column in ("measure_a", "measure_b"):
        wanted = [labels[name] for name in plain[column]]
        assert all(
            x == y or (x != x and y != y) for x, y in zip(found[column], wanted, strict=True)
        )
    numbers = plain.columns.drop(["measure_a", "measure_b", "better", "leaning"])
    assert_same(found[numbers], plain[numbers])


# --------------------------------------------------------------------------- ties and row order


@st.composite
def scored(draw: st.DrawFn) -> tuple[pd.DataFrame, list[int]]:
    """Draw a frame of few scores and unique labels, and another order of its rows."""
    size = draw(st.integers(1, 12))
    label = draw(
        st.sampled_from([st.integers(-50, 50), st.text(max_size=3), st.floats(allow_nan=False)])
    )
    labels = draw(st.lists(label, min_size=size, max_size=size, unique=True))
    column = st.lists(st.integers(0, 2).map(float), min_size=size, max_size=size)
    gold = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    frame = pd.DataFrame({name: draw(column) for name in "abc"} | {"gold": gold}, index=labels)
    return frame, draw(st.permutations(range(size)))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:taken as measures.*gold label:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@settings(max_examples=examples(15))
@given(scored())
def test_the_order_of_rows_changes_no_number(drawn):
    frame, rows = drawn
    for method in METHODS:
        assert_same(ask(frame.iloc[rows], method), ask(frame, method))
    n = min(4, len(frame))
    found = ask(frame.iloc[rows], "difference_region", **{**REGION, "n": n})
    wanted = ask(frame, "difference_region", **{**REGION, "n": n})
    assert_same(found.sort_index(), wanted.sort_index())


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:taken as measures.*gold label:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:.*rows repeat the label:rankeval_pd.RankevalWarning")
@settings(max_examples=examples(15))
@given(scored(), st.data())
def test_nor_with_repeated_labels_of_identical_rows(drawn, data):
    frame, _ = drawn
    repeats = data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1, max_size=8))
    frame = frame.iloc[sorted([*range(len(frame)), *repeats])]
    rows = data.draw(st.permutations(range(len(frame))))
    for method in METHODS:
        assert_same(ask(frame.iloc[rows], method), ask(frame, method))


INDEXES = {
    "range": pd.RangeIndex(30),
    "steps": pd.RangeIndex(90, 0, -3),
    "strings": pd.Index([f"w{i % 7}{i}" for i in range(30)]),
    "float": pd.Index(np.linspace(-1, 1, 30)),
    "datetime": pd.date_range("2020", periods=30, tz="Europe/Vienna"),
    "timedelta": pd.timedelta_range("1s", periods=30),
    "period": pd.period_range("2020-01", periods=30, freq="M"),
    "interval": pd.interval_range(0, 30),
    "categorical": pd.CategoricalIndex([f"w{i}" for i in range(30)]),
    "multi": pd.MultiIndex.from_product([["x", "y", "z"], range(10)]),
    "tuples": pd.Index([(i, "x") for i in range(30)], tupleize_cols=False),
    "mixed": pd.Index([*range(15), *"abcdefghijklmno"], dtype=object),
    "nullable": pd.Index(range(30), dtype="Int64"),
    "arrow": pd.Index([f"w{i}" for i in range(30)], dtype="string[pyarrow]"),
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


@pytest.mark.parametrize(
    "dtype",
    ["int32", "int8", "uint16", "uint64", "float64", "float32", "Int64", "object", "category"],
)
def test_the_dtype_of_the_index_changes_no_tie(frame, dtype):
    labels = pd.Index(np.random.default_rng(5).permutation(30))
    wanted = frame.set_axis(labels, axis=0).rankeval.compare()
    assert_same(frame.set_axis(labels.astype(dtype), axis=0).rankeval.compare(), wanted)


@pytest.mark.parametrize("dtype", ["object", "string", "string[pyarrow]", "category"])
def test_nor_that_of_strings(frame, dtype):
    other = frame.set_axis(frame.index.astype(dtype), axis=0)
    assert_same(other.rankeval.compare(), frame.rankeval.compare())


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
    tables = [unique.rankeval.nbest_precision(rng=seed) for seed in range(6)]
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
    assert len(strict.acceptance_precision(2)) == 1
    assert len(strict.random_bound()) == 30


# ------------------------------------------------------------------------------------------ groups


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", METHODS)
def test_by_is_each_group_alone(ragged, method):
    found = ask(ragged, method, by="query")
    assert found.columns[0] == "query"
    assert found["query"].is_monotonic_increasing
    for query, part in ragged.groupby("query"):
        alone = ask(part.drop(columns="query"), method)
        rows = found[found["query"] == query].drop(columns="query").reset_index(drop=True)
        assert_same(rows, alone)
    assert_same(ask(ragged.sample(frac=1, random_state=2), method, by="query"), found)


def test_groups_smaller_than_n_have_no_row(ragged):
    found = ragged.rankeval.nbest_precision([10, 4, 7, 4], by="query", measures="a")
    rows = list(zip(found["query"], found["n"], strict=True))
    assert rows == [("q1", 10), ("q1", 4), ("q1", 7), ("q2", 4), ("q2", 7), ("q3", 4)]
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


# --------------------------------------------------------------------- direction, missing, infinite


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", METHODS)
def test_lower_is_better_is_the_negated_column(frame, method):
    turned = frame.assign(a=-frame["a"], c=-frame["c"])
    turn = {"a": [0, -2, -4], "b": 1, "c": [-0.25, 0.3]}
    keywords = {"threshold": turn} if method == "acceptance_precision" else {}
    found = ask(turned, method, lower_is_better=["a", "c"], **keywords)
    wanted = ask(frame, method)
    if "threshold" in wanted:
        wanted["threshold"] *= np.where(wanted["measure"].isin(["a", "c"]), -1.0, 1.0)
    assert_same(found, wanted)


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
@pytest.mark.parametrize("keywords", [{}, {"threshold": {"a": [1, 3], "c": [0.2, 0.7]}}])
@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
def test_missing_drop_compares_what_both_score(holed, keywords):
    found = holed.rankeval.compare("a", "c", missing="drop", **keywords)
    both = holed.dropna(subset=["a", "c"])
    assert_same(found, both.rankeval.compare("a", "c", **keywords))
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


def test_infinite_scores_are_legal():
    df = pd.DataFrame(
        {"a": [0.0, np.inf, -np.inf, 5.0, np.inf], "gold": [False, True, True, False, True]}
    )
    found = df.rankeval.nbest_precision()
    assert found["threshold"].tolist() == [np.inf, np.inf, 5.0, 0.0, -np.inf]
    assert found["tp"].tolist() == [1, 2, 2, 2, 3]
    assert found["tied"].tolist() == [1, 0, 0, 0, 0]
    found = df.rankeval.nbest_precision(lower_is_better="a")
    assert found["threshold"].tolist() == [-np.inf, 0.0, 5.0, np.inf, np.inf]
    found = df.assign(a=df["a"].replace(0.0, np.nan)).rankeval.nbest_precision(missing="last")
    assert found["threshold"].tolist()[:4] == [np.inf, np.inf, 5.0, -np.inf]
    assert np.isnan(found["threshold"].iloc[4])


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        (np.array([0, 255, 3], dtype=np.uint8), [0, 2, 1]),
        (np.array([-128, 127, 0], dtype=np.int8), [0, 2, 1]),
        (np.array([0, 2**53 - 1, 2**53 - 2], dtype=np.uint64), [0, 2, 1]),
        (np.array([-(2**53) + 1, 2**53 - 1, -(2**53) + 2]), [0, 2, 1]),
    ],
)
def test_unsigned_and_extreme_integers(scores, order):
    df = pd.DataFrame({"a": scores, "gold": [True, False, False]})
    low = df.rankeval.nbest_precision(lower_is_better="a")
    assert low["threshold"].tolist() == [float(scores[i]) for i in order]
    assert low["tied"].tolist() == [0, 0, 0]
    high = df.rankeval.nbest_precision()
    assert high["threshold"].tolist() == [float(scores[i]) for i in order[::-1]]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64"])
def test_integers_that_float64_cannot_tell_apart(dtype):
    df = pd.DataFrame({"a": np.array([2**53, 2**53 + 1]), "gold": [True, False]})
    with pytest.raises(ValueError, match=r"'a' has whole numbers of 2\*\*53 or more.*rank"):
        df.astype({"a": dtype}).rankeval.nbest_precision()


# ------------------------------------------------------------------------------- the user's object


def _everything(data: Any) -> None:
    for method in METHODS:
        ask(data, method)
    ask(data, "difference_region", **REGION)
    ask(data, "nbest_precision", lower_is_better=["a", "b", "c"], missing="last")
    ask(data, "random_test", missing="drop")
    repr(data.rankeval)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_the_frame_is_unchanged(frame):
    data = frame.assign(
        word=frame.index, b=frame["b"].astype("Int64"), part=pd.Categorical(["x", "y"] * 15)
    )[["part", "gold", "c", "b", "word", "a"]]
    data.attrs["source"] = ["here"]
    before = data.copy(deep=True)
    _everything(data)
    ask(data, "nbest_precision", by="part")
    pd.testing.assert_frame_equal(data, before, check_exact=True)
    assert data.attrs == {"source": ["here"]}


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_read_only_arrays(frame):
    values = frame.astype(float).to_numpy()
    values.flags.writeable = False
    data = pd.DataFrame(values, columns=frame.columns, index=frame.index, copy=False)
    assert not data["a"].to_numpy().flags.writeable
    _everything(data)
    assert_same(data.rankeval.compare(), frame.rankeval.compare())
    ds = xr.Dataset({name: ("candidate", values[:, i]) for i, name in enumerate(frame.columns)})
    assert not ds["a"].to_numpy().flags.writeable
    _everything(ds)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_the_dataset_is_unchanged(frame):
    ds = xr.Dataset.from_dataframe(frame).assign_attrs(source="here")
    ds["a"].attrs["unit"] = "bit"
    before = ds.copy(deep=True)
    _everything(ds)
    xr.testing.assert_identical(ds, before)


def test_results_do_not_share_memory_with_the_data(frame):
    data = frame.copy()
    region = data.rankeval.difference_region("a", "b", 4)
    region["c"] = 0.0
    region.iloc[:, 0] = -1.0
    assert_same(data, frame)


# ---------------------------------------------------------------------------------------- datasets


def as_table(result: xr.Dataset, columns: list[str]) -> pd.DataFrame:
    found = result.to_dataframe().reset_index()
    assert set(columns) <= set(found.columns) <= {*columns, "pair", "cut", "row"}
    return found[columns]


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", [*METHODS, "sets", "holm"])
def test_a_dataset_equals_the_frame(frame, method):
    keywords = {
        "sets": SETS,
        "holm": {"adjust": "holm", "n": [9, 4], "alternative": "greater"},
        "nbest_precision": {"lower_is_better": ["c"], "ci": "wilson"},
        "acceptance_precision": {"threshold": {"a": [0, 4], "b": [1, 2], "c": [0.1, 0.2]}},
    }.get(method, {})
    if method == "sets":
        frame = frame.assign(b=-frame["a"].sample(frac=1, random_state=3).to_numpy())
    method = {"sets": "compare", "holm": "compare"}.get(method, method)
    ds = xr.Dataset.from_dataframe(frame)
    wanted = ask(frame, method, **keywords)
    found = ask(ds, method, **keywords)
    assert isinstance(found, xr.Dataset)
    table = as_table(found, list(wanted.columns))
    assert_same(table, wanted, check_dtype=False)
    for name in wanted:  # the same dtypes but those of names
        if wanted[name].dtype.kind in "bif":
            assert table[name].dtype == wanted[name].dtype, name
    assert json.loads(found.attrs.pop("columns")) == [*found.variables]
    counted = {"n_candidates", "n_rankings"}  # a lazy Dataset does not know them
    assert found.attrs == {k: x for k, x in wanted.attrs.items() if k not in counted}


def test_acceptance_sets_of_list_sizes_lie_along_n(frame):
    found = xr.Dataset.from_dataframe(frame).rankeval.acceptance_precision(n=[4, 9])
    assert found.sizes["n"] == 2
    assert "cut" not in found.sizes
    assert found["n"].to_numpy().tolist() == [4, 9]


def test_thresholds_of_different_numbers_in_a_dataset(frame):
    wanted = frame.rankeval.acceptance_precision(CUTS)
    ds = xr.Dataset.from_dataframe(frame).rankeval.acceptance_precision(CUTS)
    found = as_table(ds, list(wanted.columns)).dropna(subset=["threshold"]).reset_index(drop=True)
    assert_same(found, wanted, check_dtype=False)


def test_the_difference_region_of_a_dataset(frame):
    wanted = frame.rankeval.difference_region("a", "b", 6)
    found = xr.Dataset.from_dataframe(frame).rankeval.difference_region("a", "b", 6)
    table = found.to_dataframe().reset_index().set_index("candidate")[wanted.columns]
    assert_same(table, wanted, check_dtype=False, check_index_type=False)
    assert list(found.dims) == ["row"]


@pytest.mark.filterwarnings("ignore:by=.*the same label and scores:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_dimensions_of_results(frame):
    ds = xr.Dataset.from_dataframe(frame).expand_dims(query=["q", "r"])
    sizes = {
        "nbest_precision": ({"n": [3, 9]}, "tp", ("query", "measure", "n")),
        "acceptance_precision": ({}, "tp", ("query", "measure", "cut")),
        "compare": ({"n": [3, 9]}, "p_value", ("query", "pair", "n")),
        "random_bound": ({"n": [3, 9]}, "critical", ("query", "p", "n")),
        "random_test": ({"n": [3, 9]}, "p_value", ("query", "measure", "n")),
        "significant_ranges": ({}, "p_max", ("row",)),
    }
    for method, (keywords, name, dims) in sizes.items():
        found = ask(ds, method, **keywords)
        assert found[name].dims == dims, method
    compared = ask(ds, "compare", n=3)
    assert compared["measure_a"].dims == compared["measure_b"].dims == ("pair",)
    assert {"measure_a", "measure_b"} <= set(compared.coords)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_a_dimension_measure_is_split(frame):
    ds = xr.Dataset.from_dataframe(frame)
    scores = xr.concat([ds[m] for m in "abc"], dim=pd.Index(list("abc"), name="measure"))
    stacked = xr.Dataset({"score": scores.transpose("candidate", "measure"), "gold": ds["gold"]})
    for method in METHODS:
        xr.testing.assert_identical(ask(stacked, method), ask(ds, method))


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_the_name_of_the_dimension(frame):
    ds = xr.Dataset.from_dataframe(frame)
    found = ds.rename(candidate="document").rankeval(dim="document")
    for method in METHODS:
        xr.testing.assert_identical(ask_on(found, method), ask(ds, method))
    with pytest.raises(ValueError, match=r"dim='candidate' is not a dimension.*'document'"):
        ds.rename(candidate="document").rankeval.nbest_precision()
    with pytest.raises(ValueError, match=r"dim='document' names a dimension of a Dataset"):
        frame.rankeval.nbest_precision(dim="document")


def ask_on(accessor: Any, method: str) -> Any:
    return getattr(accessor, method)(**METHODS[method])


def test_without_a_coordinate_the_label_is_the_position(frame):
    ds = xr.Dataset.from_dataframe(frame).drop_vars("candidate")
    wanted = frame.reset_index(drop=True).rankeval.compare()
    assert_same(as_table(ds.rankeval.compare(), list(wanted.columns)), wanted, check_dtype=False)


def _padded(ragged: pd.DataFrame) -> xr.Dataset:
    """Return the queries as a dimension: what a query lacks has no gold and no scores."""
    indexed = ragged.astype({"gold": float}).set_index("query", append=True).swaplevel()
    return xr.Dataset.from_dataframe(indexed)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_padded_batch_equals_groups(ragged, method):
    ds = _padded(ragged)
    assert ds["a"].count() < ds["a"].size
    keywords = {"n": [9, 2, 5]} if method != "acceptance_precision" else {}
    wanted = ask(ragged, method, by="query", **keywords)
    found = ask(ds, method, **keywords).to_dataframe().reset_index()
    # a row that a query lacks is NaN, and this column is NaN nowhere else
    exists = {
        "nbest_precision": "precision",
        "acceptance_precision": "threshold",
        "significant_ranges": "p_max",
        "random_bound": "expected",
    }
    found = found.dropna(subset=[exists.get(method, "p_value")])[wanted.columns]
    assert_same(found.reset_index(drop=True), wanted, check_dtype=False)


@pytest.mark.parametrize("labels", [pd.Categorical(["x", "y"]), pd.array([1, None], dtype="Int64")])
def test_the_difference_region_beside_labels_of_an_extension_dtype(ragged, labels):
    data = _padded(ragged).isel(query=slice(2)).assign_coords(kind=("query", labels))
    found = data.isel(query=1).rankeval.difference_region("a", "b", 6)
    assert found["kind"].dims == ("row",)
    kinds = pd.Series(found["kind"].variable.data, dtype=object)
    wanted = pd.Series([labels[1]] * found.sizes["row"], dtype=object)
    pd.testing.assert_series_equal(kinds, wanted)
    beside = data.assign(kind=("o", labels), o=pd.CategoricalIndex(["p", "q"]))
    found = beside.rankeval.difference_region("a", "b", 6)
    assert found["kind"].dims == ("row", "o")
    assert found["o"].to_numpy().tolist() == ["p", "q"]


def test_the_padded_difference_region(ragged):
    wanted = ragged.rankeval.difference_region("a", "b", 6, by="query")
    found = _padded(ragged).rankeval.difference_region("a", "b", 6).to_dataframe().reset_index()
    columns = ["query", "candidate", "list", "rank_a", "rank_b"]
    order = {"by": ["query", "candidate"], "ignore_index": True}
    assert_same(
        found[columns].sort_values(**order),
        wanted.reset_index()[columns].sort_values(**order),
        check_dtype=False,
    )


@pytest.mark.parametrize("key", [False, True])
def test_gold_may_lack_the_batch(frame, key):
    others = frame.assign(**{m: frame[m].sample(frac=1, random_state=5).to_numpy() for m in "abc"})
    ds = xr.concat(
        [xr.Dataset.from_dataframe(x.drop(columns="gold")) for x in (frame, others)],
        dim=pd.Index(["q", "r"], name="query"),
    ).assign(gold=("candidate", frame["gold"]))
    ident = np.arange(30)[::-1]
    ds, frame, others = (
        ds.assign(ident=("candidate", ident)),
        frame.assign(ident=ident),
        others.assign(ident=ident),
    )
    roles = {"measures": ["a", "b", "c"], "key": "ident" if key else None}
    found = ds.rankeval.compare(**roles).to_dataframe().reset_index()
    both = pd.concat([frame.assign(query="q"), others.assign(query="r")])
    wanted = both.rankeval.compare(by="query", **roles)
    assert_same(found[wanted.columns], wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("gold", "score"),
    [
        ("boolean", "Float64"),
        ("Int64", "Int64"),
        ("bool[pyarrow]", "double[pyarrow]"),
        ("float", "float"),
    ],
)
def test_nullable_columns_in_a_dataset(frame, gold, score):
    plain = frame.assign(a=frame["a"].round(), b=frame["b"].round(), c=(frame["c"] * 10).round())
    data = plain.astype({"gold": int}).astype({"gold": gold, **dict.fromkeys("abc", score)})
    if gold == "bool[pyarrow]":
        data["gold"] = plain["gold"].astype(gold)
    found = xr.Dataset.from_dataframe(data).rankeval(measures=["a", "b", "c"], gold="gold")
    wanted = plain.rankeval.compare()
    assert_same(as_table(found.compare(), list(wanted.columns)), wanted, check_dtype=False)


@pytest.mark.parametrize("gold", ["boolean", "Int64", "bool[pyarrow]", "float", "object"])
def test_padding_of_nullable_columns(gold):
    data = pd.DataFrame({"a": [3.0, 2.0, 1.0], "gold": [True, False, True]})
    frame = pd.DataFrame(
        {"a": [3.0, 2.0, np.nan], "gold": pd.Series([1, 0, None], dtype="Int64")},
        index=pd.Index(range(3), name="candidate"),
    )
    if gold in {"boolean", "bool[pyarrow]", "object"}:
        frame["gold"] = frame["gold"].astype("boolean")
    frame["gold"] = frame["gold"].astype(gold)
    found = xr.Dataset.from_dataframe(frame).rankeval(gold="gold", measures="a").nbest_precision()
    wanted = data.iloc[:2].rankeval.nbest_precision()
    table = as_table(found, list(wanted.columns))
    assert_same(table.iloc[:2], wanted, check_dtype=False)
    assert table.iloc[2].drop(["measure", "n"]).isna().all()


# -------------------------------------------------------------------------------------------- dask


@pytest.mark.parametrize("method", [m for m in METHODS if m != "significant_ranges"])
def test_a_lazy_dataset_stays_lazy_and_gives_the_same(ragged, method):
    dask = pytest.importorskip("dask")
    eager = _padded(ragged)
    lazy = eager.chunk({"candidate": 3, "query": 1})

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("computed while the graph was built")

    with dask.config.set(scheduler=refuse):
        found = ask(lazy, method)
    with dask.config.set(scheduler="synchronous"):
        xr.testing.assert_identical(found.compute(), ask(eager, method))


def test_what_is_seen_in_values_raises_when_computed():
    dask = pytest.importorskip("dask")
    ds = xr.Dataset({"a": ("candidate", [1.0, 2.0]), "gold": ("candidate", [0, 2])}).chunk()
    lazy = ds.rankeval.nbest_precision()
    holed = ds.assign(gold=ds["gold"] > 0, a=ds["a"].where(ds["a"] > 1)).rankeval.nbest_precision()
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match=r"gold='gold' contains 0 \(1\), 2 \(1\)"):
            lazy.compute()
        with pytest.raises(ValueError, match=r"missing='raise'"):
            holed.compute()
