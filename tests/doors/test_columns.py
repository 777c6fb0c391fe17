"""The values of columns: scores, gold labels, sizes, groups, labels and keys."""

from __future__ import annotations

import datetime
import enum
import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import example, given
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.doors import columns
from rankeval_pd.doors.columns import (
    check_n,
    few_or,
    label_hashes,
    label_keys,
    least_n,
    sorted_in_groups,
)
from tests.questions import tied_candidates


def assert_same(found, wanted):
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


@pytest.fixture
def six() -> pd.DataFrame:
    """Six candidates, two measures."""
    return pd.DataFrame(
        {
            "G2": [6.0, 5, 4, 3, 2, 1],
            "t.score": [1.0, 2, 3, 4, 5, 6],
            "gold": [True, True, False, True, False, False],
        }
    )


# ------------------------------------------------------------------------------------------- scores


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    "dtype",
    [
        "int64", "int8", "uint64", "float32", "Int64", "UInt8", "Float32", "int32[pyarrow]",
        "uint8[pyarrow]", "double[pyarrow]", "object", "bool", "boolean",
    ],
)  # fmt: skip
def test_dtypes_of_scores(frame, dtype):
    scores = frame["a"].astype(bool).astype(float) if "bool" in dtype else frame["a"]
    roles = {"measures": ["a", "b", "c"], "gold": "gold", "lower_is_better": "a"}
    other = frame.assign(a=scores.astype(int).astype(dtype))
    plain = frame.assign(a=scores)
    for method in ("nbest_precision", "compare", "random_test"):
        found, wanted = (getattr(x.rankeval, method)(**roles) for x in (other, plain))
        assert_same(found, wanted)


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


def test_scores_near_the_largest_float(df):
    far = df.assign(id=np.where(df["gold"], 1.7e308, -1.7e308))
    assert far.rankeval.area(measures=["id"])["area"].tolist() == [1.0]


def test_ordered_categories_are_measures(frame):
    """pROC's aSAH has a grade wfns of five ordered categories."""
    grade = pd.Categorical(list("IIVIVIIIIV"[:10]) * 3, categories=["I", "V"], ordered=True)
    data = frame.assign(wfns=grade)
    assert "wfns" in data.rankeval.nbest_precision(1)["measure"].tolist()
    codes = frame.assign(wfns=grade.codes * 0.5)
    pd.testing.assert_frame_equal(data.rankeval.area(), codes.rankeval.area())
    plain = frame.assign(wfns=pd.Categorical(list("xyz") * 10))
    assert "wfns" not in plain.rankeval.area()["measure"].tolist()


def test_scores_of_the_wrong_type(six):
    for values in (list("abcdef"), pd.Categorical([1, 2, 3, 1, 2, 3]), [1j] * 6):
        with pytest.raises(TypeError, match=r"measures: 'x' has dtype .*scores must be numbers"):
            six.assign(x=values).rankeval.nbest_precision(measures="x")


def test_swapped_bytes_beside_attributes_that_are_arrays(df):
    swapped = df.assign(x=df["x"].to_numpy().astype(df["x"].dtype.newbyteorder("S")))
    swapped.attrs = {"array": np.arange(3)}
    found = swapped.rankeval.difference_region("x", "y", 10)
    pd.testing.assert_frame_equal(found, df.rankeval.difference_region("x", "y", 10))


# -------------------------------------------------------------------------------------- gold labels


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "uint8", "float32", "Int64", "UInt8", "Float64", "bool[pyarrow]",
        "int32[pyarrow]", "double[pyarrow]", "object", "category", "boolean",
    ],
)  # fmt: skip
def test_dtypes_of_gold(frame, dtype):
    whole = dtype not in {"bool", "boolean", "bool[pyarrow]", "object", "category"}
    gold = frame["gold"].astype(int if whole else bool).astype(dtype)
    found = frame.assign(gold=gold).rankeval(measures=["a", "b", "c"], gold="gold")
    assert_same(found.compare(), frame.rankeval.compare())


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (
            [0, 1, 2, 0, 1, 2],
            r"gold='gold' contains 0 \(2\), 1 \(2\), 2 \(2\), but a gold label",
        ),
        ([0.5, 0, 1, 0, 0, 0], r"contains 0.0 \(4\), 0.5 \(1\), 1.0 \(1\)"),
        (list("ynynyn"), r"contains 'n' \(3\), 'y' \(3\).*positive=\.\.\."),
        ([True, False, "yes", True, True, True], r"contains True \(4\), False \(1\), 'yes' \(1\)"),
        (pd.date_range("2020", periods=6), r"gold='gold' contains Timestamp"),
        ([1j] * 6, r"contains (1j|complex numbers)"),
        ([True, None, True, True, np.nan, True], r"is missing for 2 of 6.*unjudged='negative'"),
        ([[1]] * 6, r"contains \[1\] \(6\)"),
        ([5, 7] * 3, r"contains 5 \(3\), 7 \(3\).*min_grade"),
        ([1, 0, np.nan, 0, 1, 1], r"is missing for 1 of 6.*lower bound.*optimistic"),
        (pd.array([True, pd.NA] * 3, dtype="boolean"), r"is missing for 3 of 6"),
    ],
)
@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_gold_that_is_no_gold(six, gold, message, form):
    data = six.assign(gold=gold)
    data = data if form == "frame" else xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    with pytest.raises(ValueError, match=message):
        data.rankeval.nbest_precision(gold="gold", measures="G2")


GRADES = pd.DataFrame({"s": [5.0, 4, 3, 2, 1], "rel": [2, 0, 1, 3, 0]}, index=list("abcde"))


def test_grades_are_not_guessed():
    with pytest.raises(
        ValueError, match=r"0 \(2\), 1 \(1\), 2 \(1\), 3 \(1\).*positive=.*min_grade"
    ):
        GRADES.rankeval(gold="rel").nbest_precision()
    words = GRADES.assign(rel=["active", "inactive", "active", None, "inactive"])
    with pytest.raises(
        ValueError, match=r"'active' \(2\), 'inactive' \(2\), missing \(1\)"
    ) as told:
        words.rankeval(gold="rel").nbest_precision()
    assert "==" not in str(told.value)


@pytest.mark.parametrize(
    ("roles", "tp"),
    [
        ({"min_grade": 1}, [1, 1, 2, 3, 3]),
        ({"min_grade": 2}, [1, 1, 1, 2, 2]),
        ({"positive": 3}, [0, 0, 0, 1, 1]),
        ({"positive": [1, 2]}, [1, 1, 2, 2, 2]),
    ],
)
def test_positive_and_least_grade(roles, tp):
    found = GRADES.rankeval(gold="rel", **roles).nbest_precision()
    assert found["tp"].tolist() == tp
    data = xr.Dataset.from_dataframe(GRADES.rename_axis("candidate"))
    for lazy in (data, data.chunk(candidate=2)):
        found = lazy.rankeval(gold="rel", **roles).nbest_precision()
        assert found["tp"].to_numpy().ravel().tolist() == tp


def test_what_is_positive_must_occur():
    with pytest.raises(ValueError, match=r"no candidate has the value '1'.*Pass values that occur"):
        GRADES.rankeval(gold="rel", positive="1").nbest_precision()
    with pytest.raises(ValueError, match="pass only one of them"):
        GRADES.rankeval(gold="rel", positive=1, min_grade=1)
    with pytest.raises(TypeError, match="min_grade='x'"):
        GRADES.rankeval(gold="rel", min_grade="x")
    with pytest.raises(ValueError, match="which are not grades"):
        GRADES.assign(rel="x").rankeval(gold="rel", min_grade=1).nbest_precision()


def test_one_class_is_said(frame):
    for value, told in ((True, "every candidate"), (False, "no true positive")):
        with pytest.warns(RankevalWarning, match=told):
            frame.assign(gold=value).rankeval.nbest_precision(3)


# ------------------------------------------------------------------------ list sizes and thresholds


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, ValueError, r"n=0 is no size of a list"),
        ([2, -3], ValueError, r"n=-3 is no size of a list"),
        (2.0, ValueError, r"n=2.0: pass integers"),
        (2.5, ValueError, r"n=2.5: pass integers of at least 1, or only shares"),
        (np.nan, ValueError, r"n=nan: pass integers"),
        (np.array([1.0]), ValueError, r"n=1.0: pass integers"),
        (True, TypeError, r"n=True is of type bool"),
        ("all", TypeError, r"n='all' is of type str"),
        ([[1]], TypeError, r"n=\[1\] is of type list"),
        (7, ValueError, r"n=7 exceeds the number of candidates, 6.*from 1 to 6"),
        ([1, 2**70], ValueError, "is no size of a list"),
        ([1, 7, 9], ValueError, r"n=9 exceeds the number of candidates, 6"),
    ],
)
def test_n(six, n, error, message):
    with pytest.raises(error, match=message):
        six.rankeval.random_test(n)


@pytest.mark.parametrize(
    "n", [3, np.int32(3), np.uint8(3), [3], (3,), {3}, range(3, 4), np.array([3]), pd.Series([3])]
)
def test_forms_of_n(six, n):
    pd.testing.assert_frame_equal(
        six.rankeval.nbest_precision(n),
        six.rankeval.nbest_precision().iloc[[2, 8]].reset_index(drop=True),
    )


@pytest.mark.parametrize("n", [None, [1, 2], []])
def test_a_difference_region_has_one_n(six, n):
    message = r"n=\[\] is no size" if n == [] else r"pass the size of the lists as one whole"
    with pytest.raises(ValueError, match=message):
        six.rankeval.difference_region("G2", "t.score", n)


def test_a_range_that_no_memory_holds(df):
    with pytest.raises(MemoryError, match=r"999,999,999,999 lists .*None for every n"):
        df.rankeval.compare("x", "y", n=range(1, 10**12))


@pytest.mark.parametrize(
    ("threshold", "error", "message"),
    [
        ("high", TypeError, r"'high' for 'G2' is of type str, .* Pass numbers"),
        ({"G3": 1}, KeyError, r"threshold: no column 'G3'. Did you mean 'G2'"),
        ({"G2": "high"}, TypeError, r"'high' for 'G2' is of type str, .* Pass numbers"),
        ({"G2": [1, None]}, TypeError, r"None for 'G2' is of type NoneType"),
        ({"G2": True}, TypeError, r"True for 'G2' is of type bool"),
        ({"G2": [1, np.nan]}, TypeError, r"nan for 'G2' is of type float"),
    ],
)
def test_thresholds(six, threshold, error, message):
    with pytest.raises(error, match=message):
        six.rankeval.acceptance_precision(threshold)
    if isinstance(threshold, dict):  # one number serves all measures
        with pytest.raises(error, match=message):
            six.rankeval.compare_thresholds(thresholds=threshold)


def test_thresholds_of_a_comparison(six):
    with pytest.raises(ValueError, match=r"'t.score' has 0, but 1 are compared"):
        six.rankeval.compare_thresholds("G2", "t.score", {"G2": 1})
    with pytest.raises(KeyError, match=r"thresholds: no column 'G3'"):
        six.rankeval.compare_thresholds("G2", "t.score", {"G3": 1})


# ----------------------------------------------------------------- list sizes: shares of candidates

SHARES = [0.1, 0.25, 0.07]


@given(st.integers(1, 10_000), st.integers(1, 100_000))
@example(700, 100)  # 0.07 * 100 is 7.000000000000001
def test_the_least_n_of_a_share(part, total):
    """In whole numbers: n is the least with 10,000 n >= part * total."""
    part = min(part, 9_999)
    wanted = max(-(-part * total // 10_000), 1)
    assert least_n(part / 10_000, total) == wanted


def test_shares_are_the_n_that_they_mean(frame):
    call = frame.rankeval
    asks = {
        "random_bound": {},
        "precision_band": {"n_resamples": 50},
        "tie_sensitivity": {"a": "a", "b": "b", "n_keys": 2},
        "isolines": {},
        "compare": {},
    }
    for method, given_too in asks.items():
        wanted = getattr(call, method)(n=[3, 8], **given_too)
        found = getattr(call, method)(n=SHARES, **given_too)  # 0.1 and 0.07 of 30: lists of 3
        assert list(found.columns) == [*wanted.columns, "share"]
        for share, n in zip(SHARES, (3, 8, 3), strict=True):
            rows = found[found["share"] == share].drop(columns="share").reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, wanted[wanted["n"] == n].reset_index(drop=True))


@pytest.mark.parametrize("method", ["nbest_precision", "random_bound", "compare"])
def test_shares_are_of_each_group(ragged, method):
    found = getattr(ragged.rankeval(by="query"), method)(n=0.25)
    sizes = {"q1": 3, "q2": 3, "q3": 2}  # of 12, 9 and 5
    assert (found["n"] == found["query"].map(sizes)).all()
    for query, n in sizes.items():
        one = ragged[ragged["query"] == query].drop(columns="query")
        wanted = getattr(one.rankeval, method)(n=n)
        rows = found[found["query"] == query].drop(columns=["query", "share"])
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), wanted)


def test_shares_are_a_dimension_of_a_dataset(frame, ragged):
    data = xr.Dataset.from_dataframe(frame)
    found = data.rankeval.nbest_precision(SHARES)
    assert dict(found.sizes) == {"measure": 3, "share": 3}
    assert found["n"].to_numpy().tolist() == [3, 8, 3]
    xr.testing.assert_identical(data.chunk().rankeval.nbest_precision(SHARES).compute(), found)
    padded = ragged.reset_index(names="candidate").set_index(["query", "candidate"]).to_xarray()
    with pytest.raises(ValueError, match=r"lazy Dataset, .* gold labels may be missing"):
        padded.chunk().rankeval.nbest_precision(0.25)


def test_shares_of_ranges_of_regions_and_of_a_number_of_candidates(frame):
    call = frame.rankeval
    region = call.difference_region("a", "b", 0.1)
    pd.testing.assert_frame_equal(region, call.difference_region("a", "b", 3))
    ranges, same = (
        call.significant_ranges("a", "b", n, alpha=0.99)["n_last"] for n in (SHARES, [3, 8])
    )
    assert ranges.tolist() == same.tolist()
    found = rankeval_pd.random_bound_for(0.05, [0.01, 0.07], n_candidates=100, n_positive=20)
    assert found[["n", "share"]].to_numpy().tolist() == [[1, 0.01], [7, 0.07]]


def test_what_is_no_share(frame, ragged):
    with pytest.raises(ValueError, match=r"n=0\.1: pass integers .*, or only shares"):
        frame.rankeval.nbest_precision([0.1, 5])
    for n in (1.0, 0.0, 5.5, -0.5, np.nan):
        with pytest.raises(ValueError, match=r"shares of the candidates \(floats between 0 and 1"):
            check_n(n)
    with pytest.raises(ValueError, match=r"combine=True with n=0\.1"):
        ragged.rankeval(by="query").random_test(0.1, combine=True)
    with pytest.raises(ValueError, match="needs a finite number of candidates"):
        rankeval_pd.random_bound_for(0.05, 0.1, prior=0.3, population="infinite")


# ------------------------------------------------------------- list sizes: grids of many candidates


@pytest.fixture
def many(monkeypatch):
    """Return 1,000 candidates, and call more than 100 of them many."""
    monkeypatch.setattr(columns, "_EVERY", 100)
    return rankeval_pd.datasets.simulate_candidates(1_000)


def test_a_grid_of_n_has_the_small_ones_and_the_last(many):
    grid, facts = few_or(None, np.arange(1, 1_000_001))
    assert grid[:50].tolist() == list(range(1, 51))
    assert grid[-1] == 1_000_000
    assert (np.diff(grid) > 0).all()
    assert (grid[1:] / grid[:-1])[200:].max() < 1.02
    assert facts == {"n_grid": grid.size}
    assert few_or(None, np.arange(1, 101)) == (None, {})
    every = np.arange(1, 1_001)
    assert few_or(np.array([3]), every) == (every, {})


@pytest.mark.filterwarnings("ignore:precision reaches:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("value", ["recall", "difference", "precision"])
def test_bands_say_their_grid(many, value):
    name = "difference_band" if value == "difference" else "precision_band"
    of = {"of": "recall"} if value == "recall" else {}
    found = getattr(many.rankeval, name)(n_resamples=99, **of)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    asked = getattr(many.rankeval, name)(n=n.tolist(), n_resamples=99, **of)
    assert "n_grid" not in asked.attrs
    assert (found[value] == asked[value]).all()
    # the same law, drawn otherwise: the quantile of 99 draws has some error
    widths = [(x["band_high"] - x["band_low"]).sum() for x in (found, asked)]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_judged_lists_have_the_grid_and_the_same_numbers(many):
    many = many.assign(gold=many["gold"].astype("boolean").where(np.arange(1_000) % 3 == 0))
    found = many.rankeval.judged_recall(None)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    pd.testing.assert_frame_equal(found, many.rankeval.judged_recall(n.tolist()))


# ------------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("values", [["q", None] * 3, [1, np.nan] * 3, pd.array([1, pd.NA] * 3)])
def test_missing_group(six, values):
    with pytest.raises(ValueError, match=r"by='query' has 3 missing values.*dropna"):
        six.assign(query=values).rankeval.nbest_precision(by="query", measures="G2")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "labels", [[Colour.BLUE, Colour.RED], [[1], [2]], [{1}, {2}], [frozenset({1}), frozenset({2})]]
)
def test_groups_whose_labels_cannot_be_sorted(df, items, labels):
    with pytest.raises(TypeError, match=r"'q' has labels of the types .*data\['q'\].astype\(str\)"):
        df.assign(q=labels * 20).rankeval(by="q").nbest_precision(2)
    domains = items.assign(q=labels * 30).rankeval(by="q", measures=list("abc"))
    with pytest.raises(TypeError, match=r"of the types .*data\['q'\].astype\(str\)"):
        domains.paired_permutation()


def test_labels_and_groups_of_lists():
    data = tied_candidates()[["a", "gold"]].assign(words=[[k % 9] for k in range(48)])
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"39 of 48 rows repeat .* \[0\], \[1\]"):
        found = data.rankeval(label="words").nbest_precision(5)
    assert len(found) == 1
    with pytest.raises(TypeError, match=r"groups='words' has labels .* 'list', .*astype\(str\)"):
        data.rankeval(groups="words").nbest_precision(5)


# ----------------------------------------------------------- labels, which break ties by their hash

WORDS = [4, 0, 5, 3, 2, 1]
NUMBERS = [0, 3, 1, 2, 4, 5]
LEVELS = [4, 5, 3, 0, 1, 2]
FAR = datetime.datetime(5000, 1, 1)
LABELS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.floats(allow_nan=True),
    st.sampled_from([1.0, 1, True, 0.0, -0.0, 2.0**63, 2**63, None, float("nan"), "", "a", "1"]),
    st.text(st.characters(codec="utf-8"), max_size=3),
    st.datetimes().filter(lambda x: x.year > 1),
    st.just(FAR),
    st.tuples(st.integers(0, 3), st.sampled_from(["a", None, 2.5])),
    st.decimals(allow_infinity=False, allow_nan=False, places=2),
)


def _index(values):
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return pd.Index(held, dtype=object, tupleize_cols=False)


@given(st.lists(LABELS, min_size=1, max_size=12), st.integers(0, 12))
def test_the_hash_is_the_same_for_every_split_of_an_index(values, cut):
    """Each part lets pandas choose the dtype that fits it."""
    whole = label_hashes(_index(values))
    parts = [values[:cut], values[cut:]]
    found = np.concatenate([label_hashes(pd.Index(part, tupleize_cols=False)) for part in parts])
    assert found.tolist() == whole.tolist()
    alone = [int(label_hashes(_index([value]))[0]) for value in values]
    assert alone == whole.tolist()


@given(st.lists(LABELS, min_size=2, max_size=12))
def test_labels_have_one_hash_exactly_if_they_are_equal(values):
    whole = label_hashes(_index(values)).tolist()
    for one, other in itertools.pairwise(values):
        missing = [pd.api.types.is_scalar(x) and pd.isna(x) for x in (one, other)]
        same = all(missing) or (not any(missing) and one == other)
        assert (whole[values.index(one)] == whole[values.index(other)]) == same or any(missing)


@pytest.mark.parametrize(
    "dtype",
    ["int64", "int8", "uint64", "float32", "float64", "object", "category", "Int64", "Float64",
     "uint8[pyarrow]", "double[pyarrow]"],
)  # fmt: skip
def test_one_and_one_point_zero_are_alike(dtype):
    wanted = label_hashes(pd.Index([3, 1, 2]))
    assert (label_hashes(pd.Index([3, 1, 2]).astype(dtype)) == wanted).all()


def test_the_same_labels_in_other_types():
    wanted = label_hashes(pd.Index([1, 2])).tolist()
    assert label_hashes(pd.Index([1, 2, np.nan]))[:2].tolist() == wanted
    days = pd.date_range("2024-01-01", periods=2)
    wanted = label_hashes(days).tolist()
    far = pd.DatetimeIndex(np.array([FAR], dtype="datetime64[us]"))
    for other in (days.as_unit("s"), days.astype(object), days.as_unit("us").append(far)[:2]):
        assert label_hashes(other).tolist() == wanted
    levels = pd.MultiIndex.from_arrays([[1, 2.5], ["a", "b"]])
    assert (
        label_hashes([levels.get_level_values(k) for k in (0, 1)]) == label_hashes(levels)
    ).all()


def test_the_order_is_that_of_the_first_edition_where_labels_are_words_or_whole_numbers():
    """Computed by the first edition, whose hashes of these kinds stay."""
    group = np.zeros(6, dtype=int)
    words = pd.Index(["kick", "take", "be", "go", "make", "do"])
    levels = pd.MultiIndex.from_arrays([words, range(6)])
    for labels, seed, order in (
        (words, 0, WORDS),
        (pd.RangeIndex(6), 0, NUMBERS),
        (levels, 3, LEVELS),
    ):
        keys, again = label_keys(labels, seed, group)
        assert sorted_in_groups(keys, group).tolist() == order
        assert not again.any()


@pytest.mark.parametrize("label", [frozenset("ab"), object(), (1, frozenset())])
def test_labels_without_a_stable_description_are_refused(label):
    df = pd.DataFrame({"a": [1.0, 2], "gold": [True, False]}, index=_index([label, "x"]))
    with pytest.raises(TypeError, match="whose text representation changes"):
        df.rankeval.nbest_precision()


def test_a_label_that_is_never_listed_moves_nothing():
    """The study's figure: tp at 50 went from 23 to 26 when one whole number became a fraction."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"a": np.repeat([2.0, 1.0, 0.0], 100), "gold": rng.random(300) < 0.5})
    df.index = pd.Index(range(300)).astype(float)
    before = df.rankeval.nbest_precision(range(1, 200), target="region")
    for odd in (0.5, np.nan, 1e300):
        df.index = pd.Index([*range(299), odd])
        after = df.rankeval.nbest_precision(range(1, 200), target="region")
        pd.testing.assert_frame_equal(after, before)


def test_label_is_what_identifies_a_candidate(frame):
    """A column, columns, or an index level: as if they were the index."""
    named = frame.reset_index()
    wanted = frame.rankeval.nbest_precision(measures=["a", "b"])
    for data, label in (
        (named, "candidate"),
        (frame.set_index("c", append=True), "candidate"),
        (named.sample(frac=1, random_state=1), ["candidate"]),
    ):
        found = data.rankeval(label=label).nbest_precision(measures=["a", "b"], gold="gold")
        pd.testing.assert_frame_equal(found, wanted)
    two = frame.set_index("c", append=True).rankeval.nbest_precision(measures=["a", "b"])
    found = named.rankeval(label=["candidate", "c"]).nbest_precision(measures=["a", "b"])
    pd.testing.assert_frame_equal(found, two)


def test_repeated_labels_are_said(frame):
    twice = pd.concat([frame, frame])
    with pytest.warns(RankevalWarning, match=r"30 of 60 rows repeat the label .* groups="):
        twice.rankeval.nbest_precision(3)
    with pytest.warns(RankevalWarning, match=r"within one group of by=\['query'\]"):
        twice.assign(query="q", doc=twice.index).rankeval(by="query", label="doc").compare(n=3)


# --------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("values", [[1, 2, 2, 3, 4, 5], list("abbcde")])
def test_repeated_keys(six, values):
    with pytest.raises(ValueError, match=r"key='id' has repeated values, (2|'b'): a key must be"):
        six.assign(id=values).rankeval.nbest_precision(key="id", measures="G2")


@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_missing_keys(six, form):
    data = six.assign(id=[1, 2, np.nan, 3, 4, 5]).rename_axis("candidate")
    data = data if form == "frame" else xr.Dataset.from_dataframe(data)
    with pytest.raises(ValueError, match=r"key='id' has 1 missing values"):
        data.rankeval.nbest_precision(key="id", measures="G2")


def test_keys_that_have_no_order(six):
    with pytest.raises(TypeError, match=r"key='id' mixes names of types int, str"):
        six.assign(id=[1, "a", 2, "b", 3, "c"]).rankeval.nbest_precision(key="id")
