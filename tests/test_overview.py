"""The overview of an accessor says what it understood and what can be asked."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.accessors import PLOTS, Plots, methods_of
from rankeval_pd.overview import OF_FORM, PER_QUERY, PLOT_SYNONYMS, SYNONYMS
from rankeval_pd.queries.per_query import parse_metrics
from tests.walks import METHODS


def _items(size: int, seed: int) -> pd.DataFrame:
    """Return what three systems did on some items."""
    found = np.random.default_rng(seed).integers(0, 4, (size, 3))
    return pd.DataFrame(found, columns=pd.Index(list("abc"), name="system"))


def _facts(accessor) -> dict[str, str]:
    return dict(re.findall(r"^  (\S.*?): +(.*)$", repr(accessor), flags=re.MULTILINE))


@pytest.fixture(params=["rankings", "items", "pairs"])
def form(request) -> str:
    """The form of data that is asked."""
    return request.param


def _data(form: str) -> pd.DataFrame:
    """Return data of a form."""
    if form == "rankings":
        return pd.DataFrame({"G2": [3.0, 1.0, 2.0], "gold": [True, False, True]})
    items = pd.DataFrame({"new": [1, 0, 1], "old": [0, 0, 1], "third": [1, 1, 1]})
    return items if form == "items" else items.rankeval.paired_bootstrap()


# ------------------------------------------------------------------------------ what was understood


def test_repr_says_what_it_understood(ragged):
    found = _facts(ragged.rankeval(by="query", lower_is_better="c", ties="error"))
    positive = int(ragged["gold"].sum())
    assert found["candidates"] == "26"
    assert found["positives"] == f"{positive}, baseline precision {positive / 26:.2%}"
    assert found["groups"].startswith("3 of")
    assert "'query'" in found["groups"]
    assert all(f"'{name}" in found["measures"] for name in "abc")
    assert "query" not in found["measures"]
    assert "lower is better" in found["measures"]
    assert found["ties"].startswith("'error'")


def test_repr_of_a_table_of_pairs():
    items = pd.DataFrame({"a": [1, 0, 1, 1], "b": [0, 0, 1, 0], "c": [1, 1, 1, 0]})
    pairs = items.rankeval.paired_bootstrap(higher_is_better=False)
    wanted = {
        "pairs of systems": "3",
        "metric": "'mean', lower is better",
        "methods": "gain_threshold, calibration, plot.calibration",
    }
    assert _facts(pairs.rankeval).items() >= wanted.items()
    ds = xr.Dataset({"x": (("item", "system"), items)}, {"system": list(items)})
    assert _facts(ds.rankeval(higher_is_better=False).paired_bootstrap().rankeval) == wanted
    lazy = ds.chunk({"item": 2}).rankeval.paired_bootstrap()
    assert _facts(lazy.rankeval)["pairs of systems"] == "3"


def test_repr_counts_nothing_lazy(frame):
    pytest.importorskip("dask.array")
    import dask

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    lazy = xr.Dataset.from_dataframe(frame).chunk({"candidate": 10})
    with dask.config.set(scheduler=refuse):
        assert _facts(lazy.rankeval)["candidates"] == "30 along 'candidate'"


def test_repr_of_items():
    data = pd.concat({"f": _items(9, 0), "correct": _items(9, 1)}, axis=1)
    found = _facts(data.rankeval(metric=lambda sums: sums[..., 1], higher_is_better=False))
    assert found["test items"] == "9"
    assert found["systems"] == "'a', 'b', 'c'"
    assert found["statistics"] == "'f', 'correct'"
    assert found["metric"].endswith("lower is better")
    assert {"strata", "seeds"}.isdisjoint(found)
    task = pd.Index(["t", "u"] * 2, name="task")
    header = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["system", "seed"])
    many = pd.DataFrame(np.arange(16).reshape(4, 4), index=task, columns=header)
    found = _facts(many.rankeval(strata="task", seeds="seed"))
    assert found["strata"] == "'task', their macro average"
    assert found["seeds"] == "'seed'"
    assert found["test items"] == "4"
    micro = many.rankeval(strata="task", average="micro", seeds="seed")
    assert _facts(micro)["strata"].endswith("micro average")
    ds = xr.Dataset({"hits": (("item", "system"), _items(9, 0))}, {"system": list("abc")})
    found = _facts(ds.rankeval)
    assert found["test items"].startswith("9 along")
    assert found["metric"] == "'mean', higher is better"


def test_an_overview_of_systems_says_which_columns_are_left_out():
    """Text without a role, and at most a few names."""
    frame = pd.DataFrame(
        {"a": np.arange(6) / 7, "b": np.arange(6) / 5, "source": [*"uvwxyz"], "doc": [*"ddeeff"]}
    )
    found = _facts(frame.rankeval)
    assert found["unused columns"] == "'source', 'doc'"
    assert found["groups"] == "none"
    found = _facts(frame.rankeval(groups="doc"))
    assert (found["groups"], found["unused columns"]) == ("'doc'", "'source'")
    assert "unused columns" not in _facts(frame[["a", "b"]].rankeval)
    wide = frame.assign(**{f"text{k}": list("uvwxyz") for k in range(40)}, lists=[[1]] * 6)
    assert "(43 in all)" in _facts(wide.rankeval)["unused columns"]
    assert len(repr(wide.rankeval).splitlines()) <= 25


def test_cells_of_tables_lead_to_their_measures():
    cells = pd.DataFrame({"id": [1, 2, 3], **{f"O{k}": [8, 6, 4] for k in (11, 12, 21, 22)}})
    text = repr(cells.rankeval)
    assert "with_association_measures(['G2', 't', 'MI', ...])" in text
    assert "systems" not in text
    labeled = cells.rankeval.with_association_measures(["G2", "t"]).assign(gold=[True, False, True])
    assert "'G2', 't'" in repr(labeled.rankeval)


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


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame(),
        pd.DataFrame({"bleu": [0.1, 0.2]}),
        pd.DataFrame({"a": [1.0], "x": [True], "y": [False]}),
        pd.DataFrame({"a": [1.0, 2.0], "gold": [0, 2]}),
        pd.DataFrame({"a": [1.0, np.nan], "gold": [True, None]}),
        pd.DataFrame({"gold": [True, False]}),
        pd.DataFrame({"a": ["x", "y"], "gold": ["yes", "no"]}),
        pd.DataFrame([[1.0, 2.0, True]], columns=["a", "a", "gold"]),
        pd.DataFrame([[1.0, True, True]], columns=["a", "gold", "gold"]),
        pd.DataFrame({"a": pd.Series([], dtype=float), "gold": pd.Series([], dtype=bool)}),
        pd.DataFrame([[1.0, True]], columns=pd.MultiIndex.from_tuples([("s", "a"), ("s", "g")])),
        xr.Dataset(),
        xr.Dataset({"a": ("candidate", [1.0])}),
        xr.Dataset({"a": ("candidate", [1.0]), "gold": ("candidate", ["yes"])}),
        xr.Dataset({"a": ("candidate", [1.0]), "gold": True}),
        xr.Dataset({"a": ("document", [1.0]), "gold": ("document", [True])}),
        xr.Dataset({"a": ("candidate", [1.0]), "gold": ("candidate", [np.nan])}),
    ],
)
def test_repr_never_raises(data):
    text = repr(data.rankeval)
    assert "nbest_precision" in text or "paired_bootstrap" in text
    assert dir(data.rankeval)
    assert repr(data.rankeval(by="nowhere", key="nothing", measures=["a", "zz"]))
    assert repr(data.rankeval(gold="absent"))


# -------------------------------------------------------------------------------- what can be asked


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\b", text) is not None


def test_tab_and_repr_show_what_the_form_can_be_asked(form):
    accessor = _data(form).rankeval
    assert dir(accessor) == sorted([*methods_of(form), "plot"])
    assert dir(accessor.plot) == sorted(PLOTS[form])
    text = repr(accessor)
    assert len(text.splitlines()) <= 25
    for name in methods_of(form):
        assert _is_named(name, text.split("Pictures")[0]), name
    for name in PLOTS[form]:
        assert _is_named(name, text.split("Pictures")[1]), name
    others = {*METHODS} - set(methods_of(form))
    named = " ".join(line[32:] for line in text.split("Methods\n")[1].splitlines()).split()
    assert not others & {name.strip(",") for name in named}
    assert [f".{name}()" in repr(accessor.plot) for name in PLOTS[form]]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("precision", "nbest_precision"), ("auc", "area"),
     ("pmi", "with_association_measures"), ("compaer", "compare"), ("P_at_k", "nbest_precision"),
     ("ndcg", "paired_bootstrap"), ("zzz", "Print"), ("det_curve", "det"), ("gini", "area"),
     ("f1", "acceptance_precision"), ("tpr", "acceptance_precision"), ("to_latex", "paper_table"),
     ("ks", "choose_threshold"), ("elo", "system_ranks"), ("hit_rate", r"Success@10"),
     ("average_precision_score", "area")],
)  # fmt: skip
def test_a_near_miss_names_the_method_that_is_meant(name, meant):
    with pytest.raises(AttributeError, match=rf"no method '{name}'.*\b{meant}\b"):
        getattr(_data("rankings").rankeval, name)
    assert not hasattr(_data("rankings").rankeval, "_anything")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("compare", "comparison"), ("auc", "roc"), ("nbest_precision", "precision"), ("rocc", "roc")],
)
def test_a_near_miss_names_the_plot_that_is_meant(name, meant):
    with pytest.raises(AttributeError, match=rf"no plot '{name}'.*\.{meant}\("):
        getattr(_data("rankings").rankeval.plot, name)


@pytest.mark.parametrize(
    ("form", "name", "meant"),
    [("items", "mcnemar", "paired_permutation()"), ("items", "significance", "paired_bootstrap()"),
     ("items", "top", "system_ranks()"), ("items", "power", "rankeval_pd.needed_items("),
     ("rankings", "bootstrap", "compare()"), ("rankings", "mcnemar", 'compare(test="mcnemar")'),
     ("rankings", "significance", "compare()"), ("rankings", "map", 'area("ap")'),
     ("rankings", "mrr", 'per_query("RR", by=...)'), ("rankings", "top", "nbest_precision()"),
     ("rankings", "power", "rankeval_pd.needed_candidates("),
     ("items", "bleu", "rankeval_pd.from_sacrebleu("),
     ("items", "bootstrap", "paired_bootstrap()")],
)  # fmt: skip
def test_a_near_miss_names_the_method_that_fits_the_form(form, name, meant):
    accessor = _data(form).rankeval
    with pytest.raises(AttributeError, match=rf"Did you mean \.?{re.escape(meant)}"):
        getattr(accessor, name)
    assert "rankeval_pd" in meant or hasattr(accessor, meant.partition("(")[0])
    queries = _data("rankings").assign(query="q").rankeval
    with pytest.raises(AttributeError, match=r"Call \.per_query\('AP', wide=True\)"):
        queries.map  # noqa: B018


def test_metrics_that_are_suggested_for_queries_are_known():
    assert len(parse_metrics(PER_QUERY.values(), 1)) == len({*PER_QUERY.values()})


def test_synonyms_lead_to_what_is_there():
    forms = [(table, METHODS) for table in OF_FORM.values()]
    for table, known in ((SYNONYMS, METHODS), (PLOT_SYNONYMS, dir(Plots)), *forms):
        for name, meant in table.items():
            function = meant.removeprefix("rankeval_pd.")
            there = known if function == meant else rankeval_pd.__all__
            assert re.match(r"\w+", function)[0] in there, name
            assert name == name.lower().replace("_", "")
