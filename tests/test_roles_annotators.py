"""Several annotators: one label, one ranking each, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import RankevalWarning
from tests.judging.conftest import THREE, TWO, along_annotators, as_dataset, voted

FOUR, DATA = ["a1", "a2", "a3", "a4"], voted()


def plain(table):
    """Return the numbers of a result, whatever the names of its roles."""
    return table.to_csv()


# ----------------------------------------------------------------------- one label from the votes
LABELS = {
    "majority": lambda votes: votes.mean(axis=1) > 0.5,
    "any": lambda votes: votes.any(axis=1),
    "all": lambda votes: votes.all(axis=1),
}
ASKED = [
    lambda r: r.nbest_precision([20, 50], details=True),
    lambda r: r.compare("f", "g", [20, 50], details=True),
    lambda r: r.area(details=True),
    lambda r: r.random_test([20, 50]),
    lambda r: r.difference_band("f", "g", [20, 50], n_resamples=50),
    lambda r: r.crossovers(),
    lambda r: r.judged_precision(20),
    lambda r: r.random_bound(n=[20, 50]),
]


@pytest.mark.filterwarnings("ignore:precision reaches ")
def test_the_votes_are_the_label_that_they_agree_on():
    for how, label in LABELS.items():
        by_hand = DATA[["f", "g"]].assign(gold=label(DATA[THREE].astype(bool))).rankeval(**TWO)
        for ask in ASKED if how == "majority" else ASKED[:2]:
            asked = DATA.rankeval(gold=THREE, agreement=how, **TWO)
            assert plain(ask(asked)) == plain(ask(by_hand))


def test_a_dataset_has_the_same_answers_by_names_and_by_a_dimension():
    for how in ("majority", "each"):
        frame = DATA.rankeval(gold=THREE, agreement=how, **TWO).compare("f", "g", 50, details=True)
        for data, roles in ((as_dataset(DATA), {"gold": THREE}), (along_annotators(DATA), {})):
            asked = data.rankeval(agreement=how, **TWO, **roles)
            found = asked.compare("f", "g", 50)
            assert ("annotator" in found.dims) == (how == "each")
            for name in ("difference", "ci_low", "p_value", "n_only_a"):
                np.testing.assert_allclose(found[name].to_numpy().ravel(), frame[name], rtol=1e-13)


def test_draws_are_left_out_and_said():
    told = r"gold: \d+ of 400 candidates are excluded because their votes are tied"
    share = DATA[FOUR].mean(axis=1)
    kept = DATA.loc[share != 0.5, ["f", "g"]].assign(gold=share > 0.5)
    expected = kept.rankeval.nbest_precision([20, 50])
    for data in (DATA, as_dataset(DATA)):
        with pytest.warns(RankevalWarning, match=told):
            found = data.rankeval(gold=FOUR, **TWO).nbest_precision([20, 50])
        np.testing.assert_array_equal(found["tp"].to_numpy().ravel(), expected["tp"])
    with pytest.warns(RankevalWarning, match=told):
        region = DATA.rankeval(gold=FOUR, **TWO).difference_region("f", "g", 20)
    assert list(region.columns[:2]) == ["f", "g"]
    assert region.index.isin(kept.index).all()
    pd.testing.assert_frame_equal(region[list(DATA)], DATA.loc[region.index])


def test_missing_votes_are_no_votes_and_candidates_without_any_are_refused():
    holes = DATA.astype(dict.fromkeys(THREE, float))
    holes.iloc[:40, 3] = np.nan  # a2
    share = holes[THREE].mean(axis=1)
    with pytest.warns(RankevalWarning, match="are excluded because"):
        found = holes.rankeval(gold=THREE, **TWO).nbest_precision(50)
    by_hand = holes[share != 0.5].assign(gold=share > 0.5)
    assert plain(found) == plain(by_hand.rankeval(gold="gold", **TWO).nbest_precision(50))
    with pytest.warns(RankevalWarning, match="40 of 1,200 votes are missing"):
        each = holes.rankeval(gold=THREE, agreement="each", **TWO).nbest_precision(50)
    own = each[each["annotator"] == "a2"].drop(columns="annotator").reset_index(drop=True)
    alone = holes.dropna(subset="a2").rankeval(gold="a2", **TWO).nbest_precision(50)
    assert plain(own) == plain(alone)
    holes.iloc[:3, 2:5] = np.nan
    with (
        pytest.raises(ValueError, match="majority of a1, a2, a3' is missing for 3 of"),
        pytest.warns(RankevalWarning, match="4 of 400 candidates are excluded"),
    ):
        holes.rankeval(gold=THREE, **TWO).nbest_precision(50)


def test_each_has_the_rows_of_every_annotator_first_and_never_combined():
    r = DATA.assign(half=np.arange(400) % 2).rankeval(gold=THREE, agreement="each", **TWO)
    table = r.nbest_precision([20, 50])
    assert table.columns[0] == "annotator"
    for name in THREE:
        own = table[table["annotator"] == name].drop(columns="annotator").reset_index(drop=True)
        assert plain(own) == plain(DATA.rankeval(gold=name, **TWO).nbest_precision([20, 50]))
    both = r.nbest_precision(20, by="half")
    assert list(both.columns[:2]) == ["annotator", "half"]
    assert len(both) == 12
    for ask in (
        lambda: r.compare("f", "g", 20, combine=True),
        lambda: r.nbest_precision(20, average="macro"),
        lambda: r.random_test(20, combine=True),
        lambda: r.repetition(n=20),
    ):
        with pytest.raises(ValueError, match=r"rankings are not independent.*agreement='majority'"):
            ask()


def test_errors_of_annotators_say_what_to_do():
    for roles, told in (
        ({"gold": ["a1"]}, "a list must name two or more annotators"),
        ({"gold": []}, "contains no names"),
        ({"gold": ["a1", "a1"]}, "each once"),
        ({"gold": "a1", "agreement": "any"}, "agreement='any' needs several annotators"),
        ({"gold": THREE, "agreement": "mean"}, "agreement='mean' is not one of 'majority'"),
        ({"gold": THREE, "measures": ["f", "a1"]}, "measures: no column 'a1'"),
        ({"gold": ["a1", "a9"]}, "gold: no column 'a9'"),
    ):
        with pytest.raises((ValueError, KeyError), match=told):
            DATA.rankeval(**{**TWO, **roles}).nbest_precision(20)


def test_each_refuses_a_column_of_its_own_name_and_annotators_are_no_measures():
    with pytest.raises(ValueError, match="data has a column 'annotator', but the result adds"):
        DATA.assign(annotator=1.5).rankeval(gold=THREE, agreement="each").nbest_precision(20)
    some = DATA.drop(columns="a4")
    assert some.rankeval(gold=THREE).nbest_precision(20)["measure"].tolist() == ["f", "g"]
    for data in (some, as_dataset(some)):
        assert "'majority of a1, a2, a3'" in repr(data.rankeval(gold=THREE))
        assert "'f', 'g'\n" in repr(data.rankeval(gold=THREE))


def test_grades_and_positive_values_are_votes_too():
    words = DATA.assign(**{name: DATA[name].map({0: "no", 1: "yes"}) for name in THREE})
    one = words.rankeval(gold=THREE, positive="yes", **TWO).nbest_precision(50)
    grades = DATA.assign(**{name: DATA[name] * 2 for name in THREE})
    two = grades.rankeval(gold=THREE, min_grade=2, **TWO).nbest_precision(50)
    expected = DATA.rankeval(gold=THREE, **TWO).nbest_precision(50)
    assert plain(one) == plain(two) == plain(expected)


def test_words_say_whether_the_verdict_holds_for_each_annotator():
    def verdict(**roles):
        return DATA.rankeval(**roles, **TWO).compare("f", "g", 50)

    own = {name: verdict(gold=name)["better"].item() for name in THREE}
    table = verdict(gold=THREE)
    differ = [name for name, better in own.items() if better != table["better"].item()]
    text = rankeval_pd.in_words(table)
    assert differ
    told = re.search("With the labels of (.*) alone, the conclusion differs.", text)
    assert told
    assert [name for name in THREE if name in told[1]] == differ
    sure = DATA.assign(f=DATA[THREE].sum(axis=1) + 0.1 * DATA["f"])
    for table in (
        sure.rankeval(gold=THREE, **TWO).compare("f", "g", [50, 80]),
        sure.rankeval(gold=THREE, **TWO).summary(80),
        as_dataset(sure).rankeval(gold=THREE, **TWO).compare("f", "g", 50),
    ):
        told = "The conclusion is the same with the labels of each of the 3 annotators."
        assert rankeval_pd.in_words(table).endswith(told)
    assert "verdict" not in rankeval_pd.in_words(verdict(gold=THREE, agreement="each"))
    text = rankeval_pd.in_words(DATA.rankeval(gold=THREE, **TWO).summary([50, 100]))
    assert text.endswith("With the labels of a1 or a3 alone, the conclusion differs.")
