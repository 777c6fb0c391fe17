"""What candidates are, which are true, which are retrieved: labels, gold, missing scores."""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_pd import RankevalWarning
from rankeval_pd.doors.columns import label_hashes, label_order
from tests.conftest import examples

# ------------------------------------------------------------------------- the hash of a label

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
    assert label_hashes(_index([decimal.Decimal("1.0"), fractions.Fraction(2)])).tolist() == wanted
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
    assert label_order(label_hashes(words), 0, group)[0].tolist() == WORDS
    assert label_order(label_hashes(pd.Index(range(6))), 0, group)[0].tolist() == NUMBERS
    levels = pd.MultiIndex.from_arrays([words, range(6)])
    assert label_order(label_hashes(levels), 3, group)[0].tolist() == LEVELS


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
    before = df.rankeval.nbest_precision(range(1, 200))
    for odd in (0.5, np.nan, 1e300):
        df.index = pd.Index([*range(299), odd])
        pd.testing.assert_frame_equal(df.rankeval.nbest_precision(range(1, 200)), before)


# --------------------------------------------------------------------------------- the role label


def test_label_is_what_identifies_a_candidate(frame):
    """A column, columns, an index level or values: as if they were the index."""
    named = frame.reset_index()
    wanted = frame.rankeval.nbest_precision(measures=["a", "b"])
    for data, label in (
        (named, "candidate"),
        (named.drop(columns="candidate"), frame.index),
        (named.drop(columns="candidate"), named["candidate"].to_numpy()),
        (frame.set_index("c", append=True), "candidate"),
        (named.sample(frac=1, random_state=1), ["candidate"]),
    ):
        found = data.rankeval(label=label).nbest_precision(measures=["a", "b"], gold="gold")
        pd.testing.assert_frame_equal(found, wanted)
    two = frame.set_index("c", append=True).rankeval.nbest_precision(measures=["a", "b"])
    found = named.rankeval(label=["candidate", "c"]).nbest_precision(measures=["a", "b"])
    pd.testing.assert_frame_equal(found, two)


def test_label_in_a_dataset(frame):
    wanted = frame.rankeval.nbest_precision(measures=["a", "b"])
    data = xr.Dataset.from_dataframe(frame).reset_index("candidate").reset_coords()
    found = data.rankeval(label="candidate").nbest_precision(measures=["a", "b"])
    found = found.to_dataframe().reset_index()
    assert found["tp"].tolist() == wanted["tp"].tolist()


def test_a_label_is_no_measure(frame):
    data = frame.assign(number=np.arange(30) * 1.5).rankeval(label="number")
    assert "number" not in data.nbest_precision(1)["measure"].tolist()


def test_repeated_labels_are_said(frame):
    twice = pd.concat([frame, frame])
    with pytest.warns(RankevalWarning, match=r"30 of 60 rows repeat the label .* groups="):
        twice.rankeval.nbest_precision(3)
    sample = np.repeat([0, 1], 30)
    with pytest.warns(RankevalWarning, match=r"by='fold': 60 of 60 .* in another group"):
        twice.assign(fold=sample).rankeval(by="fold").nbest_precision(3)
    with pytest.warns(RankevalWarning, match=r"within one group of by=\['query'\]"):
        twice.assign(query="q", doc=twice.index).rankeval(by="query", label="doc").compare(n=3)


# --------------------------------------------------------------------------------------- the gold

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
    with pytest.raises(ValueError, match="Pass only one of them"):
        GRADES.rankeval(gold="rel", positive=1, min_grade=1)
    with pytest.raises(TypeError, match="min_grade='x'"):
        GRADES.rankeval(gold="rel", min_grade="x")
    with pytest.raises(ValueError, match="which are not grades"):
        GRADES.assign(rel="x").rankeval(gold="rel", min_grade=1).nbest_precision()


def test_missing_gold_is_not_advised_away():
    data = GRADES.assign(rel=[1.0, np.nan, 0, 1, np.nan]).rankeval(gold="rel")
    with pytest.raises(ValueError, match=r"missing for 2 of 5 .*lower bound.*optimistic"):
        data.nbest_precision()


def test_gold_key_and_by_as_values(frame):
    truth = frame["gold"].to_numpy()
    plain = frame.drop(columns="gold")
    wanted = frame.rankeval.compare()
    for gold in (truth, frame["gold"], frame["gold"].sample(frac=1, random_state=1), truth * 1.0):
        pd.testing.assert_frame_equal(plain.rankeval(gold=gold).compare(), wanted)
    key = np.random.default_rng(0).permutation(30)
    keyed = frame.assign(id=key).rankeval(key="id")
    for given_key in (key, pd.Series(key, index=frame.index)):
        pd.testing.assert_frame_equal(
            frame.rankeval(key=given_key).compare(), keyed.compare(measures=["a", "b", "c"])
        )
    fold = np.arange(30) % 3
    found = frame.rankeval(by=pd.Series(fold, frame.index, name="fold")).nbest_precision(4)
    wanted = frame.assign(fold=fold).rankeval(by="fold").nbest_precision(4)
    pd.testing.assert_frame_equal(found, wanted)
    assert frame.rankeval(by=fold).nbest_precision(4)["by"].tolist() == wanted["fold"].tolist()
    level = frame.set_index(pd.Index(fold, name="fold"), append=True)
    pd.testing.assert_frame_equal(
        level.rankeval(by="fold", label="candidate").nbest_precision(4), wanted
    )
    level = plain.set_index([frame.index, pd.Index(truth, name="true")])
    found = level.rankeval(gold="true", label="candidate").compare()
    pd.testing.assert_frame_equal(found, frame.rankeval.compare())


def test_values_that_do_not_fit(frame):
    with pytest.raises(
        ValueError, match=r"gold has values of shape \(29,\) for 30 candidates"
    ) as told:
        frame.rankeval(gold=frame["gold"].to_numpy()[1:]).compare()
    assert len(str(told.value)) < 200
    with pytest.raises(ValueError, match="whose index differs from the data's index"):
        frame.rankeval(gold=frame["gold"].reset_index(drop=True)).compare()


def test_a_dataset_takes_values_too(frame):
    data = xr.Dataset.from_dataframe(frame)
    wanted = data.rankeval.nbest_precision()
    for gold in (frame["gold"].to_numpy(), frame["gold"], data["gold"]):
        xr.testing.assert_identical(
            data.drop_vars("gold").rankeval(gold=gold).nbest_precision(), wanted
        )


def test_one_class_is_said(frame):
    for value, told in ((True, "every candidate"), (False, "no true positive")):
        with pytest.warns(RankevalWarning, match=told):
            frame.assign(gold=value).rankeval.nbest_precision(3)


# ------------------------------------------------------------------------------- not retrieved

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


@pytest.mark.parametrize("ties", ["shared", "blocks", "expected", "best", "worst", "error"])
def test_a_list_ends_where_a_measure_retrieves_no_more(ties):
    found = RUNS.rankeval(missing="absent", ties=ties).nbest_precision()
    for row in found.itertuples():
        wanted = _counted(RUNS[row.measure], RUNS["gold"], row.n)
        assert (row.tp, row.precision, row.recall) == pytest.approx(wanted)
        assert row.tied == 0
        assert np.isnan(row.threshold) == (row.n > RUNS[row.measure].count())
    assert len(found) == 16


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


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
@settings(max_examples=examples(15))
@given(st.integers(0, 10_000))
def test_absent_is_last_where_nothing_is_missing(seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {"a": rng.integers(0, 4, 12) / 2 + 0.25, "b": rng.integers(0, 4, 12) / 2 + 0.25}
    ).assign(gold=np.arange(12) % 3 == 0)
    for ask in ("nbest_precision", "compare", "random_test", "roc", "area"):
        one, other = (getattr(df.rankeval(missing=how), ask)() for how in ("absent", "last"))
        pd.testing.assert_frame_equal(one, other)


def test_absent_in_a_dataset():
    data = xr.Dataset.from_dataframe(RUNS.rename_axis("candidate"))
    wanted = RUNS.rankeval(missing="absent").compare()
    for form in (data, data.chunk()):
        found = form.rankeval(missing="absent").compare().compute().to_dataframe().reset_index()
        assert found[["n", "tp_only_a", "p_value"]].to_numpy() == pytest.approx(
            wanted[["n", "tp_only_a", "p_value"]].to_numpy()
        )


def test_absent_is_refused_where_it_has_no_meaning():
    for ask in ("precision_band", "local_precision"):
        with pytest.raises(ValueError, match="missing='absent' is supported only for"):
            getattr(RUNS.rankeval(missing="absent"), ask)()


def test_dropping_says_what_it_took_from_whom():
    with pytest.warns(RankevalWarning, match=r"'short' without 5 of 8 candidates \(2 of 4 true"):
        RUNS.rankeval(missing="drop").nbest_precision(2)
    with pytest.raises(ValueError, match=r"'absent'.*'last'.*'drop'"):
        RUNS.rankeval.nbest_precision(2)


# ------------------------------------------------------------------------------ the wrong columns


def test_ordered_categories_are_measures(frame):
    """pROC's aSAH has a grade wfns of five ordered categories."""
    grade = pd.Categorical(list("IIVIVIIIIV"[:10]) * 3, categories=["I", "V"], ordered=True)
    data = frame.assign(wfns=grade)
    assert "wfns" in data.rankeval.nbest_precision(1)["measure"].tolist()
    codes = frame.assign(wfns=grade.codes * 0.5)
    pd.testing.assert_frame_equal(data.rankeval.area(), codes.rankeval.area())
    plain = frame.assign(wfns=pd.Categorical(list("xyz") * 10))
    assert "wfns" not in plain.rankeval.area()["measure"].tolist()


def test_identifiers_among_measures_are_said(frame):
    data = frame.assign(qid=np.repeat([3, 1, 2], 10))
    with pytest.warns(RankevalWarning, match="used as measures.*'qid'.*exclude='qid'"):
        data.rankeval.nbest_precision(2)
    data.rankeval(exclude="qid").nbest_precision(2)
    data.rankeval(by="qid").nbest_precision(2)


def test_the_overview_says_what_labels_there_are_and_what_is_left_out(frame):
    def facts(data, **roles):
        return repr(data.rankeval(**roles))

    assert "the index" in facts(frame)
    numbered = frame.reset_index()
    assert "none; set an index" in facts(numbered)
    assert "none; set an index" not in facts(numbered, label="candidate")
    assert "repeated in 30 rows" in facts(pd.concat([frame, frame]))
    assert re.search(r"unused columns: +'candidate', 'note'", facts(numbered.assign(note="x")))
    assert "unused columns" not in facts(frame)
    assert "clusters" in facts(numbered, groups="candidate")
    bare = xr.Dataset.from_dataframe(frame).drop_vars("candidate")
    assert "none; set an index" in facts(bare)


# ---------------------------------------------------------------------- what users wrote, and meant


def test_what_is_meant_is_done(frame):
    several = frame.rankeval.compare("a", ["b", "c"], 5)
    pd.testing.assert_frame_equal(several, frame.rankeval.compare("a", n=5))
    accepted = frame.rankeval.acceptance_precision([1, 3], measures="a")
    pd.testing.assert_frame_equal(accepted, frame.rankeval.acceptance_precision({"a": [1, 3]}))
    falling = frame.rankeval(lower_is_better=True).nbest_precision()
    wanted = frame.rankeval(lower_is_better=["a", "b", "c"]).nbest_precision()
    pd.testing.assert_frame_equal(falling, wanted)
    plain = frame.rankeval(lower_is_better=False).nbest_precision()
    pd.testing.assert_frame_equal(plain, frame.rankeval.nbest_precision())
    for ask in ("random_bound", "random_envelope"):
        wanted = getattr(frame.rankeval, ask)(n=5)
        pd.testing.assert_frame_equal(getattr(frame.rankeval(ties="expected"), ask)(n=5), wanted)
    tables = pd.DataFrame({"k": [30], "w": [20], "v": [10], "rest": [940]})
    names = {"O11": "k", "O12": "w", "O21": "v", "O22": "rest"}
    found = tables.rankeval.with_association_measures("G2", cells=names)
    wanted = tables.rankeval.with_association_measures("G2", cells=list(names.values()))
    pd.testing.assert_frame_equal(found, wanted)


def test_what_is_meant_is_named(frame):
    with pytest.raises(TypeError, match=r"Unknown keyword 'golds'. Did you mean 'gold'\?"):
        frame.rankeval(golds="gold").compare()
    tables = pd.DataFrame({"O11": [30], "O12": [20], "O21": [10], "O22": [940]})
    with pytest.raises(ValueError, match=r"Did you mean 'G2'\?"):
        tables.rankeval.with_association_measures(["g2"])
    with pytest.raises(KeyError, match=r"Did you mean 'a'\?"):
        frame.rankeval(measures="A").compare()
    with pytest.raises(KeyError, match="'candidate'"):
        frame.rankeval(by="nobody").compare()
    with pytest.raises(ValueError, match="cells contains 'O11'"):
        tables.rankeval.with_association_measures("G2", cells={"O11": "O11"})
    assert "2 columns named" in repr(pd.concat([frame, frame["a"]], axis=1).rankeval)
