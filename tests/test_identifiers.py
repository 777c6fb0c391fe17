"""Columns that were found and look like identifiers, and tables that lie on their side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.doors.columns import reason_of, warn_of_identifiers

RNG = np.random.default_rng(5)


@pytest.fixture
def df() -> pd.DataFrame:
    """Forty items, two systems, 0/1."""
    return pd.DataFrame({"new": RNG.random(40) < 0.7, "old": RNG.random(40) < 0.5}).astype(int)


# ---------------------------------------------------------------------------- what looks like one


@pytest.mark.parametrize(
    "name", ["id", "doc", "doc_id", "docId", "query", "qid", "Index", "Unnamed: 0", "level_0",
             "sentence number", "fold", "cv_fold", "rep", "SEED", "rel"],
)  # fmt: skip
def test_names_of_identifiers(name):
    assert reason_of(name, pd.Series([0, 1, 1, 0])) == "by its name"
    assert reason_of(name, pd.Series([0.0, 1.0, np.nan])) == "by its name"
    assert reason_of(name, pd.Series([0.5, 1.0])) is None  # no whole numbers: a score
    assert (reason_of(name, pd.Series([True, False])) is not None) == (name == "rel")  # a label


@pytest.mark.parametrize(
    "name",
    ["new", "bm25", "run 3", "seed 1", "grid", "valid", "documented", "t", "f", 0, ("a", "id")],
)
def test_names_of_systems_and_measures(name):
    assert reason_of(name, pd.Series([0, 1, 1, 0])) is None


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


# ------------------------------------------------------------------------ systems scored on items


@pytest.mark.parametrize(
    "ask",
    [
        lambda x, **k: x.rankeval.paired_bootstrap(**k),
        lambda x, **k: x.rankeval.paired_permutation(**k),
        lambda x, **k: x.rankeval.system_ranks(n_resamples=200, **k),
        lambda x, **k: x.rankeval.gain_by_size([20, 40], **k),
        lambda x, **k: x.rankeval.population_calibration(30, n_test_sets=2, **k),
    ],
)
def test_an_integer_doc_is_no_system_in_silence(df, ask):
    data = df.assign(doc=np.repeat(np.arange(10), 4))
    with pytest.warns(
        RankevalWarning, match=r"as systems.*'doc' \(by its name\).*exclude='doc'"
    ) as w:
        ask(data)
    ours = [x for x in w if "'doc' (" in str(x.message)]
    assert [x.filename for x in ours] == [__file__]  # once, where it was asked
    pd.testing.assert_frame_equal(ask(data, exclude="doc"), ask(df))
    ask(data, measures=["new", "old"])
    ask(data, measures=["new", "old", "doc"])  # named: meant


def test_exclude(df):
    data = df.assign(doc=np.arange(40) // 4, gold=1)
    found = data.rankeval(exclude=["doc", "gold"]).paired_bootstrap()
    pd.testing.assert_frame_equal(found, df.rankeval.paired_bootstrap())
    with pytest.raises(KeyError, match=r"exclude: no column 'dok'.*Did you mean 'doc'"):
        data.rankeval.paired_bootstrap(exclude="dok")
    with pytest.raises(ValueError, match=r"measures and exclude both contain 'new'"):
        data.rankeval.paired_bootstrap(exclude="new", measures=["new", "old"])
    repr(data.drop(columns="gold").rankeval(metric="mean"))  # understood, and silent


def test_exclude_below_two_levels_and_in_datasets(df):
    parts = pd.concat({"correct": df, "guess": df + 1, "gold": df + 1}, axis=1).swaplevel(axis=1)
    wanted = parts.rankeval(metric="f1").paired_bootstrap(n_resamples=99)
    odd = parts.copy()
    odd["doc", ""] = 1
    with pytest.raises(ValueError, match="'doc' has no column for the statistic"):
        odd.rankeval(metric="f1").paired_bootstrap(n_resamples=99)
    found = odd.rankeval(metric="f1", exclude="doc").paired_bootstrap(n_resamples=99)
    pd.testing.assert_frame_equal(found, wanted)
    ds = xr.Dataset(
        {"hit": (("item", "system"), df.assign(third=1)), "doc": ("item", np.arange(40))},
        {"system": ["new", "old", "third"]},
    )
    got = ds.rankeval.paired_bootstrap(exclude=["doc", "third"])
    table = got.to_dataframe().reset_index()
    plain = df.rankeval.paired_bootstrap()
    pd.testing.assert_frame_equal(table[list(plain)], plain, check_dtype=False)


def test_a_table_that_lies_on_its_side(df):
    with pytest.warns(
        RankevalWarning, match=r"systems \(40\) than items \(2\).*transpose with data\.T"
    ) as w:
        df.T.rankeval.system_ranks(n_resamples=50, adjust=None)
    assert sum("transpose with" in str(x.message) for x in w) == 1
    wide = df.T.rankeval(measures=list(df.T))
    wide.system_ranks(n_resamples=50, adjust=None)  # meant
    three = df.assign(third=1).head(3)
    three.rankeval.paired_bootstrap()  # as many


# ----------------------------------------------------------------------------------------- rankings


def test_exclude_of_rankings():
    data = pd.DataFrame(
        {"gold": RNG.random(30) < 0.5, "id": range(30), "s": RNG.random(30), "t": RNG.random(30)}
    )
    wanted = data.drop(columns="id").rankeval.nbest_precision([5])
    pd.testing.assert_frame_equal(data.rankeval(exclude="id").nbest_precision([5]), wanted)
    pd.testing.assert_frame_equal(data.rankeval.nbest_precision([5], exclude=["id"]), wanted)
    ds = xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    got = ds.rankeval.nbest_precision([5], exclude="id")
    assert got["measure"].to_numpy().tolist() == ["s", "t"]
    with pytest.raises(KeyError, match="exclude: no column 'it'"):
        data.rankeval.nbest_precision([5], exclude="it")
    with pytest.raises(ValueError, match="measures and exclude both contain 's'"):
        rankeval_pd.nbest_precision(data, [5], exclude="s", measures="s")
