"""The accessors forward: same signature, same result, and a text that says what they see."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import DatasetAccessor, FrameAccessor, plotting
from rankeval_pd.accessors import PLOTS, QUESTIONS, Plots, methods_of
from rankeval_pd.overview import PER_QUERY, PLOT_SYNONYMS, SYNONYMS
from rankeval_pd.queries.per_query import parse_metrics
from tests.questions import ARGUMENTS, CELLS, OTHER, RANKING, VALUES

ACCESSORS = [FrameAccessor, DatasetAccessor]


OF_FRAMES = ("plan_annotation", "annotation_sheet", "with_judgements")


def _methods(accessor: type) -> list[str]:
    names = [name for name in dir(accessor) if not name.startswith("_") and name != "plot"]
    return [name for name in names if name not in OF_FRAMES]


def _plots() -> list[str]:
    return [name for name in dir(Plots) if not name.startswith("_")]


WALK = [(accessor, name) for accessor in ACCESSORS for name in _methods(accessor)]

OF_ITEMS = (
    "paired_bootstrap", "paired_permutation", "system_ranks", "gain_by_size",
    "population_calibration",
)  # fmt: skip
OF_PAIRS = ("gain_threshold", "calibration")


def _items(size: int, seed: int) -> pd.DataFrame:
    """Return what three systems did on some items."""
    found = np.random.default_rng(seed).integers(0, 4, (size, 3))
    return pd.DataFrame(found, columns=pd.Index(list("abc"), name="system"))


def _of_items(name: str, form: str) -> pd.DataFrame | xr.Dataset:
    """Return items or pairs, whatever the method is for."""
    data = _items(30, 1).rename_axis(index="item")
    if form == "dataset":
        data = xr.Dataset({"hits": (("item", "system"), data)}, {"system": list("abc")})
    return data if name in OF_ITEMS else data.rankeval.paired_bootstrap(families=["x", "x", "y"])


OF_QUERIES = ("per_query",)
SAMPLES = ("repetition", "repetition_samples", "unpaired_area", *OF_QUERIES)


def _asked(frame, name, form):
    """Return data for the method, and the roles that its samples need."""
    if name in (*OF_ITEMS, *OF_PAIRS):
        return _of_items(name, form), {}
    frame = frame.assign(**CELLS)
    if name not in SAMPLES:
        return (frame, {}) if form == "frame" else (xr.Dataset.from_dataframe(frame), {})
    parts = [frame, frame.assign(gold=~frame["gold"]), frame.assign(a=frame["b"])]
    if form == "frame":
        return pd.concat(parts, keys=range(3), names=["part", "candidate"]), {"by": "part"}
    return xr.concat([xr.Dataset.from_dataframe(part) for part in parts], "part"), {}


@pytest.mark.parametrize("accessor", ACCESSORS)
def test_every_function_of_data_is_a_method(accessor):
    functions = {
        name
        for name in rankeval_pd.__all__
        if inspect.isfunction(function := getattr(rankeval_pd, name))
        and next(iter(inspect.signature(function).parameters)) == "data"
    }
    functions.remove("rankeval")  # it returns the accessor itself
    assert functions == set(_methods(accessor)) == set(ARGUMENTS)


@pytest.mark.parametrize("name", VALUES)
def test_values_by_hand(name):
    ask, wanted = VALUES[name]
    for column, values in wanted.items():
        assert ask(RANKING.rankeval)[column].tolist() == pytest.approx(values), column


@pytest.mark.parametrize(("accessor", "name"), WALK)
def test_same_signature(accessor, name):
    def shape(function):
        found = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in found][1:]

    assert shape(getattr(accessor, name)) == shape(getattr(rankeval_pd, name))


@pytest.mark.parametrize(("accessor", "name"), WALK)
def test_docstring_is_the_functions_without_the_data(accessor, name):
    found = inspect.getdoc(getattr(accessor, name))
    wanted = inspect.getdoc(getattr(rankeval_pd, name))
    assert found.splitlines()[0] == wanted.splitlines()[0]
    assert "Examples\n--------" in found
    described = (
        found.split("Parameters\n")[1].split("Returns\n")[0] if "Parameters" in found else ""
    )
    assert not re.search(r"(?m)^data\b", described)
    for role in inspect.signature(getattr(accessor, name)).parameters:
        assert role == "self" or re.search(rf"(?m)^(.*, )?{role}\b", described), role


def _assert_same(found, wanted):
    if isinstance(wanted, xr.Dataset):
        xr.testing.assert_identical(found, wanted)
    else:
        pd.testing.assert_frame_equal(found, wanted)
        assert found.attrs == wanted.attrs


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_same_result(frame, name, form):
    data, roles = _asked(frame, name, form)
    positional, keywords = ARGUMENTS[name]
    keywords = {**keywords, **roles}
    method, function = getattr(data.rankeval, name), getattr(rankeval_pd, name)
    _assert_same(method(*positional, **keywords), function(data, *positional, **keywords))
    # the same by keyword, so that no two arguments change places on the way
    names = list(inspect.signature(method).parameters)
    named = {**dict(zip(names, positional, strict=False)), **keywords}
    _assert_same(method(**named), function(data, *positional, **keywords))


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:.*with fewer than:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_lazy_is_the_same(frame, name):
    """Every method of a lazy Dataset, in several chunks, gives what the Dataset in memory gives."""
    pytest.importorskip("dask.array")
    data, roles = _asked(frame, name, "dataset")
    positional, keywords = ARGUMENTS[name]
    method = getattr(rankeval_pd, name)
    lazy = data.chunk({d: max(1, size // 2) for d, size in data.sizes.items()})
    found = method(lazy, *positional, **keywords, **roles).compute()
    wanted = method(data, *positional, **keywords, **roles)
    if name in OF_ITEMS:  # how many were drawn, 0 of an exact law, is known when it is computed
        for table in (found, wanted):
            table.attrs.pop("n_resamples", None)
    _assert_same(found, wanted)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_data_of_another_type_are_refused(name):
    positional, keywords = ARGUMENTS[name]
    with pytest.raises(TypeError, match=r"data is of type list: pass"):
        getattr(rankeval_pd, name)([1, 2], *positional, **keywords)
    with pytest.raises(TypeError, match=r"golds"):
        getattr(rankeval_pd, name)(OTHER, *positional, **keywords, golds="tp")


NO_RANKINGS = ("with_association_measures", *OF_ITEMS, *OF_PAIRS, *OF_QUERIES)
OF_RANKINGS = [n for n in ARGUMENTS if n not in NO_RANKINGS]


@pytest.mark.parametrize("name", OF_ITEMS)
def test_roles_of_items_in_the_call_and_in_the_chain(name):
    data = _of_items(name, "frame").assign(doc=[k // 3 for k in range(30)])
    roles = {"metric": "sum", "higher_is_better": False, "measures": ["c", "a", "b"], "rng": 8}
    if name != "population_calibration":
        roles["groups"] = "doc"
    positional, keywords = ARGUMENTS[name]
    keywords = {k: v for k, v in keywords.items() if k != "rng"}
    wanted = getattr(rankeval_pd, name)(data, *positional, **keywords, **roles)
    _assert_same(getattr(data.rankeval(**roles), name)(*positional, **keywords), wanted)
    chained = data.rankeval(metric="mean", rng=1)(**{**roles, "metric": "rouge"})
    _assert_same(getattr(chained, name)(*positional, **keywords, metric="sum"), wanted)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", OF_RANKINGS)
def test_roles_of_the_call_and_of_the_chain(frame, name):
    data, by = _asked(frame, name, "frame")
    data = data.rename(columns={"gold": "tp"})
    data = data.assign(flag=True, ident=range(len(data), 0, -1))
    roles = {"gold": "tp", "key": "ident", "lower_is_better": "a", "measures": ["a", "b", "c"]}
    roles.update(by)
    positional, keywords = ARGUMENTS[name]
    if "gold" in keywords:  # of several annotators
        roles["gold"] = ["tp", "a"]
        keywords = {option: x for option, x in keywords.items() if option != "gold"}
    wanted = getattr(rankeval_pd, name)(data, *positional, **keywords, **roles)
    _assert_same(getattr(data.rankeval(**roles), name)(*positional, **keywords), wanted)
    chained = data.rankeval(gold="flag", key="ident", **by)(
        lower_is_better="a", measures=["a", "b", "c"]
    )
    _assert_same(getattr(chained, name)(*positional, **keywords, gold=roles["gold"]), wanted)


@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_calling_leaves_the_old_accessor_unchanged(frame, form):
    data = frame if form == "frame" else xr.Dataset.from_dataframe(frame)
    old = data.rankeval
    before, text = old.nbest_precision(5), repr(old)
    new = old(measures="b")
    assert type(new) is type(old)
    assert new is not old
    again = new(lower_is_better="b")
    _assert_same(old.nbest_precision(5), before)
    assert repr(old) == text
    _assert_same(new.nbest_precision(5), rankeval_pd.nbest_precision(data, 5, measures="b"))
    wanted = rankeval_pd.nbest_precision(data, 5, measures="b", lower_is_better="b")
    _assert_same(again.nbest_precision(5), wanted)


@pytest.mark.filterwarnings("ignore:power=0.8 is out of reach:rankeval_pd.RankevalWarning")
def test_plans_and_sheets_are_methods_of_frames(frame):
    data = frame.rename(columns={"gold": "tp"}).assign(flag=True)
    data["tp"] = data["tp"].astype(float).where(np.arange(len(data)) % 3 > 0)
    chain = data.rankeval(gold="tp", measures=["a", "b"], rng=4)
    ask = {"gold": "tp", "measures": ["a", "b"], "rng": 4}
    plan = {"precisions": (0.7, 0.2)}
    wanted = rankeval_pd.plan_annotation(data, "a", "b", 9, **plan, **ask)
    found = chain.plan_annotation("a", "b", 9, **plan)
    _assert_same(found, wanted)
    sheet = chain.annotation_sheet("a", "b", 9)
    _assert_same(sheet, rankeval_pd.annotation_sheet(data, "a", "b", 9, **ask))
    back = chain.with_judgements(sheet.assign(tp=True))
    _assert_same(back, rankeval_pd.with_judgements(data, sheet.assign(tp=True), gold="tp"))
    assert back.loc[sheet.index, "tp"].all()
    ds = xr.Dataset.from_dataframe(frame)
    with pytest.raises(TypeError, match=r"a Dataset, but plans and sheets .*to_dataframe"):
        ds.rankeval.plan_annotation("a", "b", 9)
    for name in OF_FRAMES:
        assert inspect.getdoc(getattr(FrameAccessor, name)).startswith(
            inspect.getdoc(getattr(rankeval_pd, name)).splitlines()[0]
        )


def test_calling_with_an_unknown_role(frame):
    with pytest.raises(TypeError, match=r"Unknown keyword 'golds'. Did you mean 'gold'\?"):
        frame.rankeval(golds="gold")


def _facts(accessor) -> dict[str, str]:
    return dict(re.findall(r"^  (\S.*?): +(.*)$", repr(accessor), flags=re.MULTILINE))


def test_repr_says_what_it_understood(ragged):
    found = _facts(ragged.rankeval(by="query", lower_is_better="c", ties="error"))
    positive = int(ragged["gold"].sum())
    assert found["candidates"] == "26"
    assert found["true positives"] == f"{positive}, baseline precision {positive / 26:.2%}"
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


def test_repr_of_a_dataset(frame):
    ds = xr.Dataset.from_dataframe(frame)
    found = _facts(ds.rankeval)
    assert found["candidates"].startswith("30")
    assert found["true positives"].split(",")[0] == str(int(frame["gold"].sum()))
    assert found["measures"] == "'a', 'b', 'c'"
    assert found["ties"].startswith("'shared'")


def test_repr_counts_nothing_lazy(frame):
    pytest.importorskip("dask.array")
    import dask

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    lazy = xr.Dataset.from_dataframe(frame).chunk({"candidate": 10})
    with dask.config.set(scheduler=refuse):
        assert "lazy" in _facts(lazy.rankeval)["true positives"]


FORMS = {
    "rankings": pd.DataFrame({"G2": [3.0, 1.0, 2.0], "gold": [True, False, True]}),
    "items": pd.DataFrame({"new": [1, 0, 1], "old": [0, 0, 1], "third": [1, 1, 1]}),
}
FORMS["pairs"] = FORMS["items"].rankeval.paired_bootstrap()


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\b", text) is not None


@pytest.mark.parametrize("form", FORMS)
def test_tab_and_repr_show_what_the_form_can_be_asked(form):
    accessor = FORMS[form].rankeval
    assert dir(accessor) == sorted([*methods_of(form), "plot"])
    assert dir(accessor.plot) == sorted(PLOTS[form])
    text, page = repr(accessor), accessor._repr_html_()
    assert len(text.splitlines()) <= 25
    for name in methods_of(form):
        assert _is_named(name, text.split("Pictures")[0]), name
        assert _is_named(name, page.split("Pictures")[0]), name
    for name in PLOTS[form]:
        assert _is_named(name, text.split("Pictures")[1]), name
        assert _is_named(name, page.split("Pictures")[1]), name
    others = {name for other in FORMS for name in methods_of(other)} - set(methods_of(form))
    named = " ".join(line[32:] for line in text.split("Methods\n")[1].splitlines()).split()
    assert not others & {name.strip(",") for name in named}
    assert [f".{name}()" in repr(accessor.plot) for name in PLOTS[form]]


def test_every_method_and_plot_belongs_to_a_form():
    known = {*_methods(FrameAccessor), *OF_FRAMES}
    assert {name for form in QUESTIONS for name in methods_of(form)} == known
    assert {name for plots in PLOTS.values() for name in plots} == set(_plots())
    assert set(_plots()) == set(plotting.__all__) - {"caption", "shown", "shared_legend"}


def test_the_html_is_escaped_and_has_no_colour_of_its_own():
    frame = pd.DataFrame({"<b>G2</b>": [1.0, 2.0], "gold": [True, False]})
    page = frame.rankeval._repr_html_()
    assert "&lt;b&gt;G2&lt;/b&gt;" in page
    assert "<b>G2" not in page
    assert "color" not in page


@pytest.mark.parametrize(
    ("name", "meant"),
    [("precision", "nbest_precision"), ("auc", "area"), ("bootstrap", "paired_bootstrap"),
     ("pmi", "with_association_measures"), ("compaer", "compare"), ("P_at_k", "nbest_precision"),
     ("ndcg", "paired_bootstrap"), ("zzz", "Print"), ("det_curve", "det"), ("gini", "area"),
     ("f1", "acceptance_precision"), ("tpr", "acceptance_precision"), ("to_latex", "paper_table"),
     ("ks", "choose_threshold"), ("elo", "system_ranks"), ("hit_rate", r"Success@10"),
     ("mrr", r"per_query\('RR"),
     ("average_precision_score", "area")],
)  # fmt: skip
def test_a_near_miss_names_the_method_that_is_meant(name, meant):
    with pytest.raises(AttributeError, match=rf"no method '{name}'.*\b{meant}\b"):
        getattr(FORMS["rankings"].rankeval, name)
    assert not hasattr(FORMS["rankings"].rankeval, "_anything")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("compare", "comparison"), ("auc", "roc"), ("nbest_precision", "precision"), ("rocc", "roc")],
)
def test_a_near_miss_names_the_plot_that_is_meant(name, meant):
    with pytest.raises(AttributeError, match=rf"no plot '{name}'.*\.{meant}\("):
        getattr(FORMS["rankings"].rankeval.plot, name)


def test_metrics_that_are_suggested_for_queries_are_known():
    assert len(parse_metrics(PER_QUERY.values(), 1)) == len({*PER_QUERY.values()})


def test_synonyms_lead_to_what_is_there():
    for table, known in ((SYNONYMS, _methods(FrameAccessor)), (PLOT_SYNONYMS, _plots())):
        for name, meant in table.items():
            function = meant.removeprefix("rankeval_pd.")
            there = known if function == meant else rankeval_pd.__all__
            assert re.match(r"\w+", function)[0] in there, name
            assert name == name.lower().replace("_", "")


def test_the_package_shows_its_public_names():
    assert dir(rankeval_pd) == sorted(rankeval_pd.__all__)
    assert dir(plotting) == sorted(plotting.__all__)


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
    assert data.rankeval._repr_html_()
    assert dir(data.rankeval)
    assert repr(data.rankeval(by="nowhere", key="nothing", measures=["a", "zz"]))
    assert repr(data.rankeval(gold="absent"))


def test_repr_of_items():
    data = pd.concat({"f": _items(9, 0), "correct": _items(9, 1)}, axis=1)
    found = _facts(data.rankeval(metric=lambda sums: sums[..., 1], higher_is_better=False))
    assert found["test items"] == "9"
    assert found["systems"] == "'a', 'b', 'c'"
    assert found["statistics"] == "'f', 'correct'"
    assert found["metric"].endswith("lower is better")
    assert {"strata", "seeds"}.isdisjoint(found)
    many = pd.DataFrame(
        {"a": range(8), "b": range(8), "task": ["t", "u"] * 4, "seed": [1, 1, 1, 1, 2, 2, 2, 2]},
        index=[*"wxyz", *"wxyz"],
    )
    found = _facts(many.rankeval(strata="task", seeds="seed"))
    assert found["strata"] == "'task', their macro average"
    assert found["seeds"] == "'seed'"
    assert found["test items"] == "4"
    assert _facts(many.rankeval(strata="task", average="micro"))["strata"].endswith("micro average")
    ds = xr.Dataset({"hits": (("item", "system"), _items(9, 0))}, {"system": list("abc")})
    found = _facts(ds.rankeval)
    assert found["test items"].startswith("9 along")
    assert found["metric"] == "'mean', higher is better"


def test_repr_of_a_frame_without_gold_says_so():
    text = repr(pd.DataFrame({"bleu": [0.1, 0.2]}).rankeval)
    assert "gold is not given" in text
    assert "paired_bootstrap" in text


def test_an_overview_of_systems_says_what_may_be_a_gold_label():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"svm": rng.normal(size=30), "forest": rng.normal(size=30)})
    number = frame.assign(y_true=np.arange(30) % 2)
    assert "'y_true' has two values: rankeval(gold='y_true')" in repr(number.rankeval)
    word = frame.assign(verdict=["yes"] * 10 + ["no"] * 20)
    assert "rankeval(gold='verdict', positive='yes')" in repr(word.rankeval)
    right = pd.DataFrame(rng.integers(0, 2, (30, 3)), columns=["a", "b", "c"])
    for systems in (frame, right, number.rankeval(metric="mean")):
        assert "gold label" not in repr(getattr(systems, "rankeval", systems))


def test_an_overview_of_systems_says_which_columns_are_left_out():
    """Text without a role, at most a few names, and a hint at the one that repeats its values."""
    frame = pd.DataFrame(
        {"a": np.arange(6) / 7, "b": np.arange(6) / 5, "source": [*"uvwxyz"], "doc": [*"ddeeff"]}
    )
    found = _facts(frame.rankeval)
    assert found["unused columns"] == "'source', 'doc'"
    assert found["groups"].startswith("none ('doc' has repeated values")
    assert found["groups"].endswith("pass groups='doc')")
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
