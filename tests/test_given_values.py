"""A role given as values equals the same role by name, and takes no column away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from tests.questions import ASKED, FRAME

SAID = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
ROWS = FRAME.reset_index(drop=True).assign(freq=np.arange(48) % 20)
#: values with the name of a column of the data, but other values
OTHER = {
    "gold": ROWS["a"] > 3,
    "by": ROWS["query"].replace("z", "y"),
    "groups": ROWS["query"].replace("z", "y"),
    "key": -ROWS["ident"],
    "label": ROWS["ident"] + 100,
}
SAME = {"gold": "gold", "by": "query"}


def _answer(name, data, role, given):
    positional, keywords = ASKED[name]
    exclude = ["other", "half", "ident", "freq"]
    keywords = {"gold": "gold", "exclude": exclude, **keywords, role: given}
    if name == "annotator_agreement":
        keywords["gold"] = ["gold", "other"]
    if isinstance(keywords["gold"], pd.Series) and role != "gold":
        keywords["gold"] = keywords["gold"].to_numpy()
    try:
        found = getattr(rankeval_pd, name)(data, *positional, **keywords)
    except (TypeError, ValueError) as error:
        return type(error)
    return found


def _assert_same(one, other):
    if isinstance(one, pd.DataFrame):
        assert isinstance(other, pd.DataFrame)
        pd.testing.assert_frame_equal(one, other)
    else:
        assert type(one) is type(other)
        assert isinstance(one, type) is isinstance(other, type)
        assert not isinstance(one, type) or one is other


@SAID
@pytest.mark.parametrize("role", OTHER)
@pytest.mark.parametrize("name", ASKED)
def test_every_role_of_every_method(name, role):
    if name in ("with_judgements", "annotation_sheet", "difference_region"):
        pytest.skip("returns the rows of the data")
    values = OTHER[role]
    before = ROWS.copy()
    named = ROWS.assign(**{f"{values.name}_given": values})
    wanted = _answer(name, named, role, f"{values.name}_given")
    _assert_same(_answer(name, ROWS, role, values), wanted)
    if role in ("gold", "by"):  # the column itself
        same = SAME[role]
        _assert_same(_answer(name, ROWS, role, ROWS[same]), _answer(name, ROWS, role, same))
    pd.testing.assert_frame_equal(ROWS, before)


def test_a_measure_that_gives_the_gold_label_stays_a_measure():
    data = ROWS[["a", "b", "freq"]]
    found = data.rankeval.compare(n=5, gold=data["freq"] > 5, adjust="holm")
    assert {*found["measure_a"], *found["measure_b"]} == {"a", "b", "freq"}
    assert len(found) == 3
    by_name = data.assign(g=data["freq"] > 5).rankeval.compare(n=5, gold="g", adjust="holm")
    pd.testing.assert_frame_equal(found, by_name)
    # the labels of the first five by freq, counted here
    lists = data.rankeval.nbest_precision([5], gold=data["freq"] > 5, details=True)
    own = lists.set_index("measure")["tp"]
    assert own["freq"] == (data["freq"] > 5)[data["freq"].nlargest(5).index].sum() == 5


@SAID
def test_letters_of_queries_do_not_take_the_queries_place():
    data = FRAME.reset_index(drop=True)[["a", "gold"]]
    data = data.assign(q=[f"{letter}{k}" for letter in "xy" for k in range(6) for _ in range(4)])
    found = data.rankeval(by=data["q"].str[0], groups="q", details=True).nbest_precision([20])
    assert found["n_groups"].tolist() == [6, 6]
    assert found["q_given"].tolist() == ["x", "y"]
    named = data.assign(first=data["q"].str[0]).rankeval(by="first", groups="q", details=True)
    wanted = named.nbest_precision([20]).rename(columns={"first": "q_given"})
    pd.testing.assert_frame_equal(found, wanted)
    level = data.set_index("q")  # the same if the queries are in the index
    letters = level.index.str[0].to_series(index=level.index).rename("q")
    again = level.rankeval(by=letters, groups="q", key=np.arange(48), details=True)
    assert again.nbest_precision([20])["n_groups"].tolist() == [6, 6]


@SAID
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("role", ["gold", "groups", "key", "label"])
def test_datasets(role, lazy):
    frame = ROWS[["a", "b", "freq", "ident", "gold"]].rename_axis("candidate")
    data = xr.Dataset.from_dataframe(frame.assign(half=np.arange(48) // 2))
    data = data.chunk({"candidate": -1}) if lazy else data
    values = {
        "gold": data["freq"] > 5, "groups": data["half"] // 2, "key": -data["ident"],
        "label": data["ident"] + 100,
    }[role]  # fmt: skip
    exclude = [x for x in ("half", "ident", "gold") if role == "gold" or x != "gold"]
    roles = {"exclude": exclude, **({} if role == "gold" else {"gold": "gold"})}
    for given in (values, *([] if lazy else [values.to_series()])):
        found = data.rankeval(**roles, **{role: given}).compare(n=[5]).compute()
        assert {*found["measure_a"].data} | {*found["measure_b"].data} == {"a", "b", "freq"}
        named = data.assign(x=values.variable)
        wanted = named.rankeval(**roles, **{role: "x"}).compare(n=[5]).compute()
        xr.testing.assert_equal(found, wanted)
    same = {"gold": "gold", "groups": "half", "key": "ident", "label": "ident"}[role]
    roles = {"measures": ["a", "b"], "gold": "gold"}
    one = data.rankeval(**{**roles, role: data[same]}).compare(n=[5]).compute()
    other = data.rankeval(**{**roles, role: same}).compare(n=[5]).compute()
    xr.testing.assert_equal(one, other)


def test_queries():
    data = ROWS.rename(columns={"gold": "grade"})[["a", "freq", "grade", "query", "ident"]]
    found = data.rankeval.per_query("AP", gold=data["freq"] % 3, key="ident", exclude="grade")
    named = data.assign(g=data["freq"] % 3)
    wanted = named.rankeval.per_query("AP", gold="g", key="ident", exclude="grade")
    pd.testing.assert_frame_equal(found, wanted)
    assert {*found["measure"]} == {"a", "freq"}


def test_annotators():
    data = ROWS[["a", "b", "c"]]
    votes = [data["a"] > 3, data["b"] > 1, data["c"] > 0]
    found = data.rankeval.nbest_precision([5], gold=votes)
    named = data.assign(x=votes[0], y=votes[1], z=votes[2])
    wanted = named.rankeval.nbest_precision([5], gold=["x", "y", "z"])
    pd.testing.assert_frame_equal(found, wanted)
    assert {*found["measure"]} == {"a", "b", "c"}


def test_a_column_that_has_the_name_of_a_role_stays():
    data = ROWS[["a", "b"]].assign(gold=ROWS["freq"])
    other = (ROWS["freq"] > 9).to_numpy()
    found = data.rankeval.nbest_precision([5], gold=other)
    assert {*found["measure"]} == {"a", "b", "gold"}
    same = ROWS[["a", "b", "gold"]]
    found = same.rankeval.nbest_precision([5], gold=same["gold"].to_numpy())
    pd.testing.assert_frame_equal(found, same.rankeval.nbest_precision([5]))
