"""Roles: what each does in every method, which columns are found, and types of their names."""

from __future__ import annotations

import datetime
import inspect
import itertools
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import ttest_rel
from sklearn.metrics import ndcg_score

import rankeval_pd
from rankeval_pd.errors import UnknownNameError
from rankeval_pd.options import can
from rankeval_pd.roles import MEANINGS, AnyRoles, check_types, usual_roles
from tests.questions import ASKED, FRAME
from tests.walks import (
    ITEMS,
    MEASURES,
    RANKED,
    RANKING,
    answered,
    data_of,
    ignored,
    keywords,
    parameters,
    some,
    without,
)

SAID = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
BASE = {"gold": "gold", "measures": ["a", "b", "c"]}
HOLED = FRAME.assign(a=FRAME["a"].where(FRAME["a"] != 6))
LABELS = FRAME["gold"].astype(float).where(np.arange(len(FRAME)) % 3 > 0)
UNJUDGED = FRAME.assign(gold=LABELS)
NAMED = (
    "tie_sensitivity",
    "difference_region",
    "judged_difference",
    "plan_annotation",
    "annotation_sheet",
)
ROLES = {
    "gold": "other",
    "agreement": "any",
    "measures": ["b", "a"],
    "by": "query",
    "key": "ident",
    "lower_is_better": "a",
    "ties": "error",
    "missing": "drop",
    "rng": 7,
    "dim": "row",
    "details": False,
    "progress": False,
    "label": "ident",
    "exclude": "a",
    "positive": [True, False],
    "min_grade": 2,
    "metric": "sum",
    "groups": "query",
    "strata": "query",
    "average": "micro",
    "seeds": "query",
    "seed_variance": "pooled",
    "weight": "group",
    "higher_is_better": False,
    "unjudged": "skip",
    "system": "query",
    "measure": "query",
    "score": "a",
    "item": "ident",
}

# ----------------------------------------------------------------------- every role of every method


def _answer(name: str, **roles: object) -> object:
    """Return the answer as text, or the error."""
    positional, keywords = ASKED[name]
    frame = HOLED if "missing" in roles else UNJUDGED if "unjudged" in roles else FRAME
    try:
        found = getattr(rankeval_pd, name)(frame, *positional, **{**BASE, **keywords, **roles})
    except (ValueError, TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return found.round(9).to_csv()  # sums in another order differ in their last digits


@cache
def _plain_answer(name: str) -> object:
    return _answer(name)


@SAID
@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_used_refused_or_said_to_have_no_effect(role):
    with_holes = {"missing": "raise", "unjudged": "negative"}
    for name in ASKED:
        function = getattr(rankeval_pd, name)
        if role == "groups" and name.startswith("judged_"):
            continue  # with all judged nothing varies: test_groups.py asks of a part
        before = _plain_answer(name)
        if role in with_holes:
            before = _answer(name, **{role: with_holes[role]})
        after = _answer(name, **{role: ROLES[role]})
        assert not before.startswith(("ValueError", "TypeError", "KeyError")) or role in with_holes
        if role == "measures" and name in NAMED:  # two are named: no other is asked
            assert after == before, name
            assert _answer(name, measures=["a", "b", "nope"]).startswith("UnknownNameError")
            assert _answer(name, measures=["a", "c"]).startswith("UnknownNameError")
        elif role == "unjudged" and role not in inspect.signature(function).parameters:
            # what has no label is what it is about; a plan asks a method with its own meaning
            assert after == before or name == "plan_annotation", name
        else:
            short = role == "details" and not can(function).short
            unchanged = short or role == "progress" or role in ignored(name)
            if (name, role) == ("repetition", "rng"):  # so few tables are enumerated
                unchanged = True
            assert (after == before) == unchanged, name


def test_the_walk_holds_every_method_and_role():
    rankings = {
        name
        for name in rankeval_pd.__all__
        if re.search(
            "(Ranking|Judged)Roles", str(getattr(getattr(rankeval_pd, name), "__annotations__", {}))
        )
    }
    assert rankings == set(ASKED)
    assert set(ROLES) == {*AnyRoles.__annotations__}
    assert set(MEANINGS) == set(ROLES)


# ------------------------------------------------ which columns are the gold label and the measures


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


def test_a_frame_without_gold(df):
    for method in ("nbest_precision", "random_bound", "compare", "area"):
        with pytest.raises(ValueError, match=r"gold is not given.*'x', 'y'.*paired_bootstrap"):
            getattr(df.drop(columns="gold").rankeval, method)()


@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_several_possible_gold_columns(df, form):
    data = df.rename(columns={"gold": "x", "x": "s", "y": "t"}).assign(y=True)
    data = data if form == "frame" else xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    with pytest.raises(
        ValueError, match=r"gold is not given, and it could be any of 'x', 'y'.*gold=\.\.\."
    ):
        data.rankeval.nbest_precision()


def test_no_measure(df, items):
    with pytest.raises(ValueError, match=r"measures=\[\] contains no names\. Pass"):
        items.rankeval(measures=[]).paired_bootstrap()
    with pytest.raises(ValueError, match=r"measures: every numeric column has another role"):
        df[["gold"]].rankeval.nbest_precision()
    with pytest.raises(ValueError, match=r"Call \.rankeval\.with_association_measures\(\)"):
        rankeval_pd.datasets.load_terms().rankeval.nbest_precision()
    assert len(df[["gold"]].rankeval.random_bound()) == 40


def test_an_unknown_column_is_answered_by_the_nearest_name_or_the_known_ones(df):
    with pytest.raises(KeyError) as caught:
        df.rankeval.nbest_precision(by="query")
    # plain text, no quotes around it
    assert str(caught.value) == "by: no column 'query'. The known names are 'x', 'y', 'gold'."
    many = df.assign(**{f"m{k}": 1.0 for k in range(20)}, G2=1.0)
    with pytest.raises(UnknownNameError) as error:
        many.rankeval.nbest_precision(2, measures="g2")
    assert str(error.value) == "measures: no column 'g2'. Did you mean 'G2'?"
    with pytest.raises(KeyError, match=r"'zzz'\. The known names are 'x', .*\(24 in all\)\.$"):
        many.rankeval.nbest_precision(2, measures="zzz")


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
    wanted = frame.rankeval.random_bound(n=5)
    pd.testing.assert_frame_equal(frame.rankeval(ties="expected").random_bound(n=5), wanted)


# ------------------------------------------------------ roles are names of columns or index levels

ROWS = RANKING.reset_index(drop=True).assign(freq=np.arange(48) % 20)
ROWS = ROWS.drop(columns="partly")


def test_a_column_is_added_beside_two_levels_as_the_error_says():
    """Patients make a one-level column and one of two levels the same groups."""
    patient = np.arange(40) // 2
    truth, guess = patient % 2, np.random.default_rng(0).integers(0, 2, (2, 40))
    data = rankeval_pd.from_predictions(truth, {"a": guess[0], "b": guess[1]}, "recall")
    with pytest.raises(TypeError, match="beside two-level columns"):
        data.rankeval(metric="recall", groups=pd.Series(patient))
    data["part", ""] = patient
    found = data.rankeval(metric="recall", groups="part").paired_bootstrap("a", "b")
    assert found["n_groups"].item() == 20


@pytest.mark.parametrize("role", ["gold", "key", "label", "by", "groups", "strata", "seeds", "dim"])
@pytest.mark.parametrize("values", [ROWS["gold"], ROWS["gold"].to_numpy(), pd.NA, {"a": 1}])
def test_values_for_a_role_are_refused_in_every_form(role, values):
    if isinstance(values, dict) and role in ("by", "label"):
        return  # names of several columns
    told = rf"{role}=.* is not the name of .*data\['part'\] = \.\.\. .*, and pass {role}='part'\.$"
    data = xr.Dataset.from_dataframe(ROWS.rename_axis("candidate"))
    for form in (ROWS, data, data.chunk()):
        with pytest.raises(TypeError, match=told) as error:
            rankeval_pd.compare(form, n=[5], **{role: values})
        assert len(str(error.value)) <= 250
    if role in ("by", "groups", "strata"):
        long = ROWS.melt("ident", ["a", "b"], var_name="system", value_name="score")
        with pytest.raises(TypeError, match=told):
            long.rankeval.paired_bootstrap(
                system="system", score="score", item="ident", **{role: values}
            )


def test_roles_that_are_index_levels(frame):
    plain, fold = frame.drop(columns="gold"), np.arange(30) % 3
    wanted = frame.assign(fold=fold).rankeval(by="fold").nbest_precision(4)
    level = frame.set_index(pd.Index(fold, name="fold"), append=True)
    pd.testing.assert_frame_equal(
        level.rankeval(by="fold", label="candidate").nbest_precision(4), wanted
    )
    level = plain.set_index([frame.index, pd.Index(frame["gold"], name="true")])
    found = level.rankeval(gold="true", label="candidate").compare(n=[5, 9])
    pd.testing.assert_frame_equal(found, frame.rankeval.compare(n=[5, 9]))


@pytest.mark.parametrize("least", ["x", True, np.nan])
def test_the_lowest_grade_is_a_number_in_every_form(frame, least):
    data = xr.Dataset.from_dataframe(frame)
    said = set()
    for form in (frame, data, data.chunk()):
        with pytest.raises((TypeError, ValueError), match=f"min_grade={least!r}") as error:
            rankeval_pd.nbest_precision(form, 3, gold="gold", min_grade=least)
        said.add(str(error.value))
    assert len(said) == 1


# -------------------------------- names of several types: 7 and "7" are never two groups in silence

DOC = [*range(12), "113b", *map(str, range(12)), "113b"]  # two files joined
RNG = np.random.default_rng(49)
SCORED = pd.DataFrame({"new": RNG.random(26) + 0.2, "old": RNG.random(26), "doc": DOC})
UNIQUE = [str(k) if k % 3 else k for k in range(48)]
MIXED = r"^{}='doc' mixes names of types int, str: 7 and '7' would be two"


def test_documents_of_two_files_are_thirteen_groups():
    with pytest.raises(TypeError, match=MIXED.format("groups")):
        SCORED.rankeval(groups="doc").paired_bootstrap()
    found = SCORED.assign(doc=SCORED["doc"].astype(str)).rankeval(groups="doc", details=True)
    row = found.paired_bootstrap(event="wild").iloc[0]
    assert row["n_groups"] == 13
    # all 8,192 signs of the 13 documents' gains, enumerated here
    gains = (SCORED["new"] - SCORED["old"]).groupby(list(map(str, DOC))).sum().to_numpy()
    assert gains.size == 13
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=13)))
    wanted = (np.abs(signs @ gains) >= abs(gains.sum()) * (1 - 1e-12)).mean()
    assert row["p_value"] == pytest.approx(wanted, abs=1e-12)


@SAID
@pytest.mark.parametrize("role", ["strata", "groups", "label", "key", "by"])
def test_names_that_mix_text_and_numbers_are_refused_by_every_method(role):
    """Where text is answered, a mix is refused; what refuses the role does so for both."""
    refused = 0
    for name in some(without(RANKED + ITEMS, "per_query"), 3):
        if role not in parameters(name) or role in keywords(name):
            continue
        groups = (np.arange(48) // 24) if role in ("by", "strata") else np.arange(48) // 2
        places = np.arange(48) if role in ("label", "key") else groups
        mixed = [str(x) if k % 3 else x for k, x in enumerate(places.tolist())]
        data = data_of(name).assign(doc=mixed)
        given = {} if name in RANKED else {"measures": MEASURES}
        text = answered(name, data.assign(doc=data["doc"].astype(str)), **given, **{role: "doc"})
        found = answered(name, data, **given, **{role: "doc"})
        if isinstance(text, Exception):
            assert str(found) == str(text) or "mixes names" in str(found), name
        elif role not in ignored(name):
            said = "index" if role == "label" and name in ITEMS else role
            assert isinstance(found, TypeError), name
            assert re.match(MIXED.format(said), str(found)), name
            refused += 1
    assert refused > 2


@pytest.mark.parametrize("role", ["groups", "strata"])
def test_items_in_other_forms(role):
    level = SCORED.set_index("doc")
    with pytest.raises(TypeError, match="='doc' mixes names"):
        level.rankeval.paired_bootstrap(**{role: "doc"})
    with pytest.raises(TypeError, match="index='doc' mixes names"):
        level.rankeval.paired_bootstrap()
    tall = pd.concat({"f": level, "g": level}, axis=1).swaplevel(axis=1).reset_index()
    with pytest.raises(TypeError, match=rf"^{role}=.*'doc'.* mixes names"):
        tall.rankeval.paired_bootstrap(metric="mean", **{role: "doc"})
    data = xr.Dataset(
        {"hit": (("item", "system"), SCORED[["new", "old"]]), "doc": ("item", SCORED["doc"])},
        {"system": ["new", "old"]},
    )
    for form in (data, data.chunk({"item": 10})):
        with pytest.raises(TypeError, match=MIXED.format(role)):
            form.rankeval.paired_bootstrap(**{role: "doc"}).compute()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("role", ["groups", "label", "key"])
def test_mixed_names_in_a_dataset(role, lazy):
    data = xr.Dataset.from_dataframe(ROWS[["a", "b", "gold"]].rename_axis("candidate"))
    data["doc"] = ("candidate", np.array(UNIQUE, dtype=object))
    data = data.chunk({"candidate": 20}) if lazy else data
    with pytest.raises(TypeError, match=MIXED.format(role)):
        data.rankeval(**{role: "doc"}).compare(n=[5]).compute()


def test_mixed_names_of_queries():
    data = ROWS.rename(columns={"gold": "grade"})[["a", "grade", "query"]].assign(doc=UNIQUE)
    with pytest.raises(TypeError, match=MIXED.format("by")):
        data.rankeval.per_query("AP", by="doc", key="query")
    with pytest.raises(TypeError, match=MIXED.format("by")):
        data.rankeval.per_query("AP", by=["query", "doc"])
    with pytest.raises(TypeError, match=MIXED.format("key")):
        data.rankeval.per_query("AP", key="doc")


@pytest.mark.parametrize("role", ["item", "system", "by", "groups", "seeds"])
def test_mixed_names_in_long_frames(role):
    long = SCORED.assign(item=range(26)).melt(["item", "doc"], var_name="system", value_name="f")
    roles = {"system": "system", "item": "item", "score": "f", role: "doc"}
    with pytest.raises(TypeError, match=MIXED.format(role)):
        long.rankeval(**roles).paired_bootstrap()
    if role == "item":  # by default, the index identifies the items
        with pytest.raises(TypeError, match=MIXED.format("item")):
            long.set_index("doc").rankeval(system="system", score="f").paired_bootstrap()


@SAID
@pytest.mark.parametrize("role", ["groups", "label", "key", "by"])
def test_partitions_of_different_types(role):
    """Each partition has one type: only all of them together show the mix."""
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    pytest.importorskip("rankeval_pd.dask")
    half = ROWS[["a", "b", "gold"]].iloc[:24].reset_index(drop=True)
    half = half.assign(doc=[k // 6 for k in range(24)] if role in ("groups", "by") else range(24))

    def asked(*parts):
        with dask.config.set({"dataframe.convert-string": False}):
            meta = parts[0].astype({"doc": object}).head(0)
            ddf = dd.from_delayed([dask.delayed(x) for x in parts], meta=meta, verify_meta=False)
            table = ddf.rankeval(**{role: "doc"}).nbest_precision([5])
            return table if isinstance(table, pd.DataFrame) else table.compute()

    text = half.assign(doc=half["doc"].astype(str)).set_axis(range(24, 48), axis=0)
    plain = half.astype({"doc": object})
    with pytest.raises(TypeError, match=MIXED.format(role)):
        asked(plain, text)
    wanted = text if role in ("groups", "by") else text.assign(doc="x" + text["doc"])
    wanted = wanted.set_axis(half.index, axis=0)
    one = asked(wanted, text)
    whole = pd.concat([wanted, text]).rankeval(**{role: "doc"}).nbest_precision([5])
    pd.testing.assert_frame_equal(one, whole, check_dtype=False)


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2.0, True, np.int8(3), np.nan], ["a", None, np.str_("b")], [(1, "a"), ("1", 2)],
        [datetime.date(2020, 1, 1), None], pd.Series(["a", None], dtype="string"),
        pd.Series(["a"]).astype(pd.CategoricalDtype(["a", 1])), [None, None], [],
    ],
)  # fmt: skip
def test_labels_that_are_of_one_kind(labels):
    check_types(pd.Series(labels, dtype=getattr(labels, "dtype", object)), "groups", "x")


@pytest.mark.parametrize(
    "other", [7, 7.0, np.int64(7), True, b"7", pd.Timestamp("2020"), datetime.date(2020, 1, 1), ()]
)
def test_text_beside_anything_else(other):
    for dtype in (object, "category"):
        with pytest.raises(TypeError, match=r"groups='x' mixes names of types .*str") as error:
            check_types(pd.Series(["7", None, other], dtype=object).astype(dtype), "groups", "x")
        assert len(str(error.value)) <= 250


# ------------------------------------------------------- long frames whose columns have usual names


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """Return the rows of two runs, with the grades of their documents."""
    rng = np.random.default_rng(5)
    names = ["model", "qid", "docno"]
    rows = pd.MultiIndex.from_product([["x", "y"], range(9), list("abcdefgh")], names=names)
    data = rows.to_frame(index=False)
    data["label"] = np.tile(rng.integers(0, 3, 72), 2)
    return data.assign(score=data["label"] + rng.normal(size=len(data)), rank=1)


def test_runs_with_usual_names_are_read_as_read_trec_would(runs):
    """scikit-learn's ndcg_score of each query and run."""
    found = runs.rankeval.per_query("nDCG@5")
    wanted = [
        ndcg_score([part["label"]], [part["score"]], k=5)
        for _, part in runs.groupby(["qid", "model"])
    ]
    assert found["value"].to_numpy() == pytest.approx(wanted)
    for names in (
        {"model": "run", "qid": "query", "docno": "document", "label": "grade"},
        {"model": "tag", "qid": "query_id", "docno": "doc_id", "label": "relevance"},
        {"model": "name", "label": "gold"},
    ):
        other = runs.rename(columns=names)
        pd.testing.assert_frame_equal(other.rankeval.per_query("nDCG@5"), found)
        assert f"'{names['model']}' as measure" in repr(other.rankeval)
    roles = {"by": "query", "key": "document", "gold": "grade", "min_grade": 1}
    lists = runs.rankeval(**roles, missing="absent").nbest_precision(3)
    told = {"by": "qid", "item": "docno", "key": "docno", "gold": "label", "min_grade": 1}
    told |= {"measure": "model", "score": "score", "missing": "absent"}
    assert lists["tp"].tolist() == runs.rankeval(**told).nbest_precision(3)["tp"].tolist()
    assert "per_query" in dir(runs.rankeval)
    assert list(runs) == ["model", "qid", "docno", "label", "score", "rank"]  # unchanged


def test_items_and_candidates_with_usual_names(runs):
    items = runs[runs["docno"] == "a"].drop(columns=["docno", "label"])
    wide = items.set_index(["qid", "model"])["score"].unstack()  # noqa: PD010
    [found] = items.rankeval.paired_permutation(test="t").to_dict("records")
    assert found["p_value"] == pytest.approx(ttest_rel(wide["x"], wide["y"]).pvalue)
    assert "'model' as system, 'score' as score, 'qid' as item" in repr(items.rankeval)
    assert "system_ranks" in dir(items.rankeval)
    one = runs[runs["qid"] == 0].drop(columns="qid").assign(label=lambda x: x["label"] > 0)
    lists = one.rankeval.nbest_precision([1, 3])
    told = one.rankeval(measure="model", score="score", item="docno", gold="label")
    pd.testing.assert_frame_equal(lists, told.nbest_precision([1, 3]))


@pytest.mark.filterwarnings("ignore:9 items:rankeval_pd.RankevalWarning")
def test_roles_that_say_the_usual_change_nothing(runs):
    """Users as queries, one role named or all, and runs named as systems."""
    wanted = runs.rankeval.summary(["nDCG@2", "P@2"])
    data = runs.rename(columns={"qid": "user", "docno": "item", "label": "relevance"})
    every = {"score": "score", "by": "user", "item": "item", "gold": "relevance"}
    for told in (
        {},
        {"by": "user"},
        {"by": "user", "gold": "relevance"},
        {"measure": "model", **every},
        {"system": "model", **every},
    ):
        found = data.rankeval(**told).summary(["nDCG@2", "P@2"])
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted))


@pytest.mark.parametrize(
    "doubt",
    [
        {"bm25": 1.0},  # another number
        {"tag": "a"},  # two names of runs
        {"model": 1},  # a number
        {"label": "relevant"},  # words
        {"model": [None, *["x"] * 143]},
    ],
)
def test_doubtful_long_frames_need_roles(runs, doubt):
    data = runs.assign(**doubt)
    assert usual_roles(data, {}) == {}
    assert "read as a long frame" not in repr(data.rankeval)
    assert usual_roles(pd.concat([runs, runs]), {}) == {}  # repeated rows
    assert usual_roles(runs, {"by": "model"}) == {}
    assert usual_roles(runs, {"by": "qid"}) == usual_roles(runs, {})
    with pytest.raises(ValueError, match=r"a long frame of rankings by 'model'.*per_query"):
        runs.rankeval.paired_bootstrap()
