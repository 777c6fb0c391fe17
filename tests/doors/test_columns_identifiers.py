"""Columns beside systems, measures and runs: said to be identifiers, or excluded."""

from __future__ import annotations

import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import rankeval_pd.dask
from rankeval_pd import RankevalWarning
from rankeval_pd.doors.columns import identifier_reason

N = 60
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
DISTINCT = RNG.permutation(N) * 7


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


def reason(values, groups=None):
    return identifier_reason(pd.Series(values), groups or {})


def test_integers_that_are_all_distinct():
    assert reason(DISTINCT) == "whole numbers that are all distinct"
    assert reason(pd.Series(DISTINCT, dtype="Int64")) is not None
    assert reason(DISTINCT[:9]) is None  # by chance
    assert reason([*DISTINCT, DISTINCT[0]]) is None
    assert reason(DISTINCT + 0.5) is None
    assert reason(pd.Series([], dtype=int)) is None


def test_one_value_in_each_group_as_a_join_gives_it():
    group = np.repeat(np.arange(6), 4)
    size = np.array([3, 3, 5, 2, 9, 4])[group]
    assert reason(size, {"by": group}) == "one value in each group of by"
    assert reason(size) is None
    other = size.copy()
    other[5] = 7
    assert reason(other, {"by": group}) is None
    assert reason(size * 0, {"by": group}) is None  # a score that never differs
    assert reason((size > 3).astype(int), {"by": group}) is None  # 0/1 may do so by chance
    assert reason(np.repeat([3, 5], 12), {"by": np.arange(24)}) is None  # groups of one row
    data = FORMS["rankings"].assign(topic=np.repeat(np.arange(6), 10), length=0)
    data["length"] = data["topic"].map({0: 5, 1: 9, 2: 4, 3: 4, 4: 7, 5: 2})
    with pytest.warns(RankevalWarning, match=r"'length' \(one value in each group of by"):
        data.rankeval.nbest_precision(3, by="topic")


@pytest.mark.parametrize("form", FORMS)
def test_one_warning_names_all_and_the_way_out(form):
    data = FORMS[form].assign(code=DISTINCT, row=np.arange(N))
    if form == "items":  # whole numbers beside scores from 0 to 1 are asked about
        data[["a", "b"]] *= 100.0
    message = r"'code' \(whole numbers .*; 'row' .*exclude=\['code', 'row'\].*measures=\[\.\.\.\]"
    with pytest.warns(RankevalWarning, match=message) as found:
        ask(form, data)
    ours = [x for x in found if "look like identifiers" in str(x.message)]
    assert [x.filename for x in ours] == [__file__]
    assert sorted(ask(form, data, exclude=["code", "row"])) == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = ["a", "b", "code", "row"]
        assert sorted(ask(form, data, measures=named)) == named  # named: meant


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("odd", ["qid", "item_id", "fold"])
def test_numbers_named_like_identifiers_are_asked_about(form, odd):
    data = FORMS[form].assign(**{odd: np.arange(N) % 7})
    with pytest.raises(ValueError, match=f"'{odd}' can hardly be scores.*by=.*exclude='{odd}'"):
        ask(form, data)
    assert sorted(ask(form, data, exclude=odd)) == ["a", "b"]
    assert sorted(ask(form, data, measures=["a", odd])) == sorted(["a", odd])


def test_whole_numbers_beside_shares_are_asked_about(two):
    data = two.assign(age=RNG.integers(20, 80, 40))
    lazy = dask.dataframe.from_pandas(data, npartitions=2).rankeval
    for ask_for in (data.rankeval.system_ranks, data.rankeval.summary, lazy.paired_bootstrap):
        with pytest.raises(ValueError, match=r"'age' can hardly be scores like the other columns"):
            ask_for()
    assert two.mul(5).assign(age=data["age"]).rankeval.system_ranks()["system"].size == 3


@pytest.mark.parametrize("form", ["rankings", "items"])
def test_text_that_repeats_for_each_item_is_asked_about(form):
    wide = FORMS[form].drop(columns="gold", errors="ignore").rename_axis(index="place")
    long = wide.reset_index().melt("place", var_name="model", value_name="score")
    if form == "rankings":
        long["gold"] = long["place"] % 3 == 0
    role = "system" if form == "items" else "measure"
    message = f"each combination of 'model' and 'place'.*{role}='model'"
    with pytest.raises(ValueError, match=message):
        ask(form, long)
    found = ask(form, long, score="score", item="place", **{role: "model"})
    assert sorted(found) == ["a", "b"]
    rows = long.drop(columns="place").sample(frac=1.0, random_state=1)  # no item is known
    assert sorted(ask(form, rows.assign(other=rows["score"] + 1.0))) == ["other", "score"]


def test_the_only_boolean_beside_shares_may_be_a_system():
    data = SCORES.assign(c=RNG.random(N) < 0.5)
    with pytest.warns(RankevalWarning, match="'c', the only boolean column, is taken as the gold"):
        data.rankeval.summary()
    data.rankeval.summary(gold="c")
    data.rankeval.summary(5)


@pytest.mark.parametrize("form", FORMS)
def test_text_is_no_score(form):
    assert sorted(ask(form, FORMS[form].assign(other="12.5"))) == ["a", "b"]


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
    with pytest.raises(ValueError, match=r"could be any of 'old', .*call paired_bootstrap"):
        right.rankeval.nbest_precision(5)


def test_one_boolean_is_gold_and_two_beside_scores_are_asked_about():
    one = SCORES.assign(right=RNG.random(N) < 0.5)
    assert one.rankeval.nbest_precision(5)["measure"].tolist() == ["a", "b"]
    two = one.assign(other=RNG.random(N) < 0.5)
    with pytest.raises(ValueError, match="could be any of"):
        two.rankeval.nbest_precision(5)
    assert rankeval_pd.system_ranks(two, n_resamples=99, adjust=None)["system"].size == 4
