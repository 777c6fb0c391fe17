"""Columns beside systems, measures and runs: recognized, said, or refused, in every form."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.doors.columns import reason_of, warn_of_identifiers

N = 60
NAMES = [
    "qid", "query_id", "topic", "docno", "doc_id", "pid", "item", "item_id", "user", "SID", "label",
    "relevance", "rank", "length", "len", "year", "prompt", "judge", "cv_fold", "seed", "docId",
    "doc_length", "session id", "sentence number", "level_0", "Unnamed: 0", "Index", "rep", "rel",
]  # fmt: skip
RNG = np.random.default_rng(33)
SCORES = pd.DataFrame({"a": RNG.random(N), "b": RNG.random(N)})
FORMS = {
    "rankings": SCORES.assign(gold=RNG.random(N) < 0.4),
    "items": SCORES,
    "search": SCORES.assign(
        query=np.repeat(np.arange(6), 10), document=np.tile([f"d{k}" for k in range(10)], 6),
        grade=RNG.integers(0, 3, N),
    ),
}  # fmt: skip
WHOLE = RNG.integers(0, 12, N)


@pytest.fixture
def two() -> pd.DataFrame:
    return pd.DataFrame({"new": RNG.random(40) < 0.7, "old": RNG.random(40) < 0.5}).astype(int)


def ask(form, data, **roles):
    if form == "items":
        return data.rankeval.system_ranks(n_resamples=99, adjust=None, **roles)["system"]
    if form == "search":
        return data.rankeval.summary("AP", **roles)["measure"]
    return data.rankeval.nbest_precision(10, **roles)["measure"]


# -------------------------------------------------------------------- what looks like an identifier


def test_names_of_identifiers():
    for name in NAMES:
        assert reason_of(name, pd.Series([0, 1, 1, 0])) == "by its name"
        assert reason_of(name, pd.Series([0.0, 1.0, np.nan])) == "by its name"
        fractions = name in ("rank", "length", "len", "year", "doc_length")  # others are scores
        assert (reason_of(name, pd.Series([0.5, 1.0])) is not None) == fractions, name
        label = name in ("label", "relevance", "rel")
        assert (reason_of(name, pd.Series([True, False])) is not None) == label, name


def test_names_of_systems_and_measures():
    for name in ("new", "n_rank", "bm25", "run 3", "seed 1", "grid", "valid", "t", 0, ("a", "id")):
        assert reason_of(name, pd.Series([0, 1, 1, 0])) is None, name


def test_numbers_of_identifiers():
    distinct = pd.Series(RNG.permutation(50) * 7)
    assert reason_of("x", distinct) == "whole numbers that are all distinct"
    assert reason_of("x", distinct.astype("Int64").mask(distinct == 7)) is not None
    assert reason_of("x", distinct.head(9)) is None  # by chance
    assert reason_of("x", pd.concat([distinct, distinct.head(1)])) is None
    assert reason_of("x", distinct + 0.5) is None
    blocks = pd.Series(np.repeat(np.arange(12), 3))
    assert reason_of("x", blocks) == "whole numbers that count up from row to row"
    assert reason_of("x", blocks.sample(frac=1, random_state=0)) is None
    assert reason_of("x", pd.Series(np.repeat(np.arange(5), 9))) is None  # sorted ratings
    assert reason_of("x", pd.Series([], dtype=int)) is None
    assert reason_of("x", pd.Series([np.inf, 1.0])) is None
    assert reason_of("x", pd.Series([None, 3, 4], dtype=object)) is None


def test_one_value_in_each_group():
    group = np.repeat(np.arange(6), 4)
    size = pd.Series([3, 3, 5, 2, 9, 4])[group].reset_index(drop=True)
    assert reason_of("x", size, {"by": group}) == "one value in each group of by"
    assert reason_of("x", size) is None
    other = size.copy()
    other[5] = 7
    assert reason_of("x", other, {"by": group}) is None
    assert reason_of("x", size * 0, {"by": group}) is None  # a score that never differs
    assert reason_of("x", (size > 3).astype(int), {"by": group}) is None  # 0/1 may do so by chance
    assert reason_of("x", size, {"by": np.arange(24)}) is None  # groups of one row


def test_one_warning_names_all_and_the_way_out():
    columns = {name: pd.Series(range(20)) for name in ["id", *"abcdefgh"]}
    message = (
        r"used as measures.*'id' \(by its name\); 'a' \(whole.*3 more.*exclude=\['id'.*\.\.\.\]"
    )
    with pytest.warns(RankevalWarning, match=message) as found:
        warn_of_identifiers(columns, taken_as="measures")
    assert len(found) == 1
    warn_of_identifiers({"a": pd.Series([0.1, 0.2])}, taken_as="measures")  # none


# --------------------------------------------------------------- identifiers are said in every form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["length", "item_id", "qid"])
def test_a_number_with_the_name_of_an_identifier_is_said(name, form):
    for values in (WHOLE, WHOLE.astype(float)):
        data = FORMS[form].assign(**{name: values})
        with pytest.warns(RankevalWarning, match=rf"'{name}' \(.*exclude='{name}'") as found:
            ask(form, data)
        ours = [x for x in found if "look like identifiers" in str(x.message)]
        assert [x.filename for x in ours] == [__file__]
        assert sorted(ask(form, data, exclude=name)) == ["a", "b"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            named = [*"ab", name]
            assert sorted(ask(form, data, measures=named)) == sorted(named)  # named: meant
    holed = FORMS[form].assign(**{name: np.where(WHOLE > 8, np.nan, WHOLE)})
    if form == "search":
        with pytest.warns(RankevalWarning, match=rf"'{name}' \("):
            ask(form, holed)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=f"'{name}'"):
                ask(form, holed)


@pytest.mark.parametrize("form", FORMS)
def test_text_with_the_name_of_an_identifier_is_none_in_silence(form):
    for name, text in zip(
        ("qid", "label", "rank"),
        (WHOLE.astype(str), [f"x{k}.5" for k in WHOLE], [f"{k}.5" for k in WHOLE]),
        strict=True,
    ):
        assert sorted(ask(form, FORMS[form].assign(**{name: text}))) == ["a", "b"]


@pytest.mark.parametrize(
    ("form", "name", "role"),
    [
        ("items", "SID", "groups='SID'"), ("items", "seed", "seeds='seed'"),
        ("items", "prompt", "groups='prompt'"), ("items", "judge", "groups='judge'"),
        ("items", "label", r"by=\.\.\., groups=\.\.\.\. If"), ("rankings", "topic", "by='topic'"),
        ("rankings", "docno", "label='docno'"), ("rankings", "relevance", "gold='relevance'"),
        ("search", "docno", "key='docno'"), ("search", "label", "gold='label'"),
    ],
)  # fmt: skip
def test_the_warning_names_the_role(form, name, role):
    with pytest.warns(RankevalWarning, match=role):
        ask(form, FORMS[form].assign(**{name: WHOLE}))


def test_a_dataset_of_systems_is_looked_at_too():
    values = np.stack([SCORES["a"], SCORES["b"], WHOLE.astype(float)])
    data = {"score": (("system", "item"), values)}
    dataset = xr.Dataset(data, {"system": ["a", "b", "length"], "item": np.arange(N)})
    with pytest.warns(RankevalWarning, match="used as systems.*'length' .by its name"):
        dataset.rankeval.paired_bootstrap("a", "b", n_resamples=99, measures=None)
    named = dataset.rankeval.system_ranks(measures=["a", "b"], n_resamples=99, adjust=None)
    without = dataset.rankeval.system_ranks(exclude="length", n_resamples=99, adjust=None)
    assert named["system"].to_numpy().tolist() == without["system"].to_numpy().tolist()


# ------------------------------------------------------------------------ columns that are excluded


def test_exclude(two):
    data = two.assign(doc=np.arange(40) // 4, gold=1)
    found = data.rankeval(exclude=["doc", "gold"]).paired_bootstrap()
    pd.testing.assert_frame_equal(found, two.rankeval.paired_bootstrap())
    with pytest.raises(KeyError, match=r"exclude: no column 'dok'.*Did you mean 'doc'"):
        data.rankeval.paired_bootstrap(exclude="dok")
    with pytest.raises(ValueError, match=r"measures and exclude both contain 'new'"):
        data.rankeval.paired_bootstrap(exclude="new", measures=["new", "old"])
    repr(data.drop(columns="gold").rankeval(metric="mean"))  # understood, and silent


def test_exclude_below_two_levels(two):
    parts = pd.concat({"correct": two, "guess": two + 1, "gold": two + 1}, axis=1).swaplevel(axis=1)
    wanted = parts.rankeval(metric="f1").paired_bootstrap(n_resamples=99)
    odd = parts.copy()
    odd["doc", ""] = 1
    with pytest.raises(ValueError, match="'doc' has no column for the statistic"):
        odd.rankeval(metric="f1").paired_bootstrap(n_resamples=99)
    found = odd.rankeval(metric="f1", exclude="doc").paired_bootstrap(n_resamples=99)
    pd.testing.assert_frame_equal(found, wanted)


def test_a_table_that_lies_on_its_side(two):
    with pytest.warns(
        RankevalWarning, match=r"systems \(40\) than items \(2\).*transpose with data\.T"
    ) as w:
        two.T.rankeval.system_ranks(n_resamples=50, adjust=None)
    assert sum("transpose with" in str(x.message) for x in w) == 1
    wide = two.T.rankeval(measures=list(two.T))
    wide.system_ranks(n_resamples=50, adjust=None)  # meant
    three = two.assign(third=1).head(3)
    three.rankeval.paired_bootstrap()  # as many


# ----------------------------------------------------------------------------------- scores as text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text",
    [
        [f"{k}.25" for k in WHOLE],
        [f"{k}.25" if k else "n/a" for k in WHOLE],
        pd.Series([f"{k}.25" for k in WHOLE], dtype="string"),
        pd.Series([k + 0.5 if k else None for k in WHOLE], dtype=object).fillna("-"),
    ],
)
def test_a_score_of_text_is_an_error(form, text):
    data = FORMS[form].assign(bm25=text)
    with pytest.raises(
        ValueError, match=r"'bm25' contains scores as text.*pd\.to_numeric.*exclude"
    ):
        ask(form, data)
    assert sorted(ask(form, data, exclude="bm25")) == ["a", "b"]
    with pytest.raises((ValueError, TypeError, KeyError), match="bm25"):
        ask(form, data, measures=["a", "bm25"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text",
    [
        ["a question?"] * N, ["7187158"] * N, ["positive", "negative"] * 30,
        ["12.5", *["words"] * (N - 1)], [None] * N, WHOLE.astype(str),
    ],
)  # fmt: skip
def test_other_text_is_no_score(form, text):
    assert sorted(ask(form, FORMS[form].assign(other=text))) == ["a", "b"]


# ----------------------------------------------------------------------------- right or wrong alone


def test_a_frame_of_booleans_without_gold_is_systems():
    y_true = pd.Series(RNG.integers(0, 3, N))
    predictions = pd.DataFrame({"old": y_true, "new": y_true, "base": y_true})
    for name, errors in (("old", 20), ("new", 10), ("base", 40)):
        predictions.loc[: errors - 1, name] += 1
    right = predictions.eq(y_true, axis=0)
    assert "systems" in repr(right.rankeval)
    assert "system_ranks" in dir(right.rankeval)
    assert right.rankeval.summary()["system"].tolist() == ["new", "old", "base"]
    noted = right.assign(question="what?").rankeval.summary()  # text beside is no matter
    assert noted["system"].tolist() == ["new", "old", "base"]
    with pytest.raises(ValueError, match=r"If the columns are systems .* call system_ranks"):
        right.rankeval.nbest_precision(5)


def test_one_boolean_is_gold_and_two_beside_scores_are_asked_about():
    one = SCORES.assign(right=RNG.random(N) < 0.5)
    assert one.rankeval.nbest_precision(5)["measure"].tolist() == ["a", "b"]
    two = one.assign(other=RNG.random(N) < 0.5)
    with pytest.raises(ValueError, match="could be any of"):
        two.rankeval.nbest_precision(5)
    assert rankeval_pd.system_ranks(two, n_resamples=99, adjust=None)["system"].size == 4
