"""Short tables and records: columns, printed whole at 100 characters; attrs that files can hold."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.options import can
from rankeval_pd.tables import _IF_TRUE
from tests import walks
from tests.questions import ASKED, FRAME, OTHER, runs

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

ITEMS = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
PAIRS = "system_a system_b score_a score_b gain ci_low ci_high p_value"
RANKS = "value ci_low ci_high rank_low rank_high letters"
BEHIND = "value difference difference_low difference_high p_adjusted"

OF_ITEMS = {
    "one-sided": lambda r: r.paired_bootstrap("a", "b", alternative="greater"),
    "paired_bootstrap": lambda r: r.paired_bootstrap(),
    "paired_permutation": lambda r: r.paired_permutation(),
    "gain_by_size": lambda r: r.gain_by_size([20, 60]),
    "system_ranks": lambda r: r.system_ranks(),
    "summary": lambda r: r(metric="mean").summary(),
    "baseline": lambda r: r(metric="mean").summary(baseline="a"),
    "gain_threshold": lambda r: r.paired_bootstrap().rankeval.gain_threshold(window=(0.01, 0.99)),
    "calibration": lambda r: r.paired_bootstrap().rankeval.calibration(OTHER, bins=[0.01, 0.99]),
    "adjusted": lambda r: r.paired_bootstrap(adjust="max-t"),
}
OWN_ROWS = {"difference_region", "annotation_sheet", "with_judgements"}  # rows of the data
RESULTS = sorted({*ASKED} - OWN_ROWS)


def of_rankings(name: str, **keywords: object) -> pd.DataFrame:
    arguments, more = ASKED[name]
    roles = {} if "by" in more or "gold" in more else {"gold": "gold", "measures": ["a", "b", "c"]}
    table: pd.DataFrame = getattr(FRAME.rankeval(**roles), name)(*arguments, **more, **keywords)
    return table


# -------------------------------------------------------------------------------------- the columns


@pytest.mark.parametrize("name", RESULTS)
def test_a_table_prints_whole(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    short, whole = (of_rankings(name, details=flag) for flag in (False, True))
    assert printed(short)
    assert len(short.columns) <= 9
    if name == "significant_ranges":  # the short table joins rows
        return
    assert {*short.columns} <= {*whole.columns}
    assert (len(short.columns) < len(whole.columns)) <= bool(can(getattr(rankeval_pd, name)).short)
    pd.testing.assert_frame_equal(short, whole[short.columns])


def printed(table: pd.DataFrame) -> bool:
    """Return whether a terminal of 100 columns shows every column of the table."""
    with pd.option_context("display.width", 100, "display.max_columns", 0):
        text = repr(table.head(5))
    return "..." not in text and max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("name", "columns"),
    [("paired_bootstrap", PAIRS), ("paired_permutation", PAIRS), ("gain_by_size", f"size {PAIRS}"),
     ("system_ranks", f"system {RANKS}"), ("summary", f"system {RANKS}"),
     ("baseline", f"system {BEHIND}"), ("adjusted", f"{PAIRS} p_adjusted")],
)  # fmt: skip
def test_tables_of_systems_are_short(name, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    found = OF_ITEMS[name](ITEMS.rankeval(details=False))
    assert list(found.columns) == columns.split()
    assert printed(found)


def test_what_a_keyword_adds_has_its_columns():
    ask = FRAME.rankeval(gold="gold", measures=["a", "b", "c"], details=False)
    assert list(ask.summary([5, 10])) == ["measure", "n", *RANKS.split()]
    assert list(ask.summary([5, 10], baseline="a")) == ["measure", "n", *BEHIND.split()]
    adjusted = ask.compare(n=[5, 10], adjust="holm")
    assert list(adjusted)[-3:] == ["p_value", "p_adjusted", "better"]
    sets = ask.compare_thresholds("a", "b", {"a": 3, "b": 2})
    assert list(sets)[2:4] == ["n_a", "n_b"]
    assert list(ask.nbest_precision([0.1, 0.5]))[-1] == "share"
    grouped = ask(by="query")
    assert list(grouped.nbest_precision(5))[:2] == ["query", "measure"]
    assert "n_queries" in grouped.nbest_precision(5, average="macro").columns
    kin = {"a": "x", "b": "x", "c": "y"}
    families = ITEMS.rankeval.paired_bootstrap(families=kin, details=False)
    assert list(families)[-1] == "relation"


SEEDS = pd.MultiIndex.from_product([range(12), range(4)], names=["item", "seed"])
WITH = {  # options that add columns
    "compare": [{"of": "recall"}, {"of": "lift"}, {"adjust": "max-t", "margin": 0.5}],
    "compare_thresholds": [{"of": "npv"}, {"of": "f1"}, {"of": "specificity"}, {"adjust": "holm"}],
    "compare_area": [{"adjust": "holm"}],
    "unpaired_area": [{"adjust": "holm"}],
    "random_test": [{"by": "query", "combine": True}],
    "random_bound": [{"simultaneous": True}],
    "paired_bootstrap": [{"adjust": "max-t"}, {"seeds": "seed"}],
    "paired_permutation": [{"adjust": "max-t"}],
    "gain_by_size": [{"adjust": "max-t"}, {"seeds": "seed"}],
}


@pytest.mark.parametrize("name", [x for x in walks.METHODS if can(getattr(rankeval_pd, x)).short])
def test_the_declared_columns_are_those_of_the_short_table_and_those_that_details_add(name):
    added, data = set(), walks.data_of(name)
    for options in ({}, *WITH.get(name, ())):
        if "seeds" in options:
            data = data[walks.MEASURES].set_axis(SEEDS).unstack()  # noqa: PD010
        short, whole = (walks.ask(name, data, **options, details=x) for x in (False, True))
        added |= {*whole} - {*short} - {*_IF_TRUE}
    if name == "summary":
        found = runs(["one", "two"]).rankeval(details=True).summary("AP", baseline="one")
        added |= {*found.loc[:, "tied_for_best":]}
    assert added == {*can(getattr(rankeval_pd, name)).details.split()}


def test_a_column_that_a_short_table_leaves_out_leads_to_details():
    table = FRAME[["a", "b", "gold"]].rankeval.compare(n=[5, 10], details=False)
    for some in (table, table[table["n"] > 5], table.sort_values("n"), table.copy(),
                 pickle.loads(pickle.dumps(table)), pd.concat([table, table])):  # fmt: skip
        for key in ("significant", ["n", "significant"]):
            with pytest.raises(KeyError, match=r"^'significant' .* compare\(.*, details=True\)"):
                some[key]
    for key in ("significance", ["n", "significance"]):
        with pytest.raises(KeyError, match="significance'") as error:
            table[key]
        assert "details" not in str(error.value)
    table.attrs = {}
    with pytest.raises(KeyError, match=r"^'significant'$"):
        table["significant"]
    assert table.assign(significant=True)["significant"].all()


def test_queries_are_short_and_a_wide_table_is_whole():
    ask = runs(["run"]).rankeval(details=False)
    assert list(ask.per_query("AP")) == ["query", "measure", "metric", "value"]
    assert list(ask.per_query("AP", wide=True)) == ["run"]


def test_a_dataset_has_all_variables():
    ds = FRAME[["a", "gold"]].rename_axis("candidate").to_xarray()
    assert "threshold" in ds.rankeval.nbest_precision(5, details=False)


# -------------------------------------------------------------------------------------- the record


@pytest.mark.parametrize("name", ["system_ranks", "paired_permutation", *RESULTS])
def test_attrs_name_the_method_and_are_plain(name):
    table = of_rankings(name) if name in ASKED else OF_ITEMS[name](ITEMS.rankeval)
    attrs = table.attrs
    assert attrs["method"] == name
    assert attrs["version"] == rankeval_pd.__version__
    for value in attrs.values():  # lists are texts: netCDF 3 has none, netCDF 4 not all
        assert isinstance(value, str | int | float)
        assert not isinstance(value, bool)
    assert pd.concat([table, table]).attrs == attrs
