"""Groups may be named as they are: a column ``by_n`` where the result has an n of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.tables import apart
from tests.questions import OTHER
from tests.walks import (
    ITEMS,
    RANKED,
    SCORES,
    ask,
    data_of,
    dataset,
    keywords,
    queries,
    some,
    without,
)

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

INSIDE = ("row", "pair", "cut")
UNGROUPED = ("repetition", "unpaired_area", "difference_region", "population_calibration")


def test_groups_of_every_method_have_any_name():
    for name in some(some(without(RANKED + ITEMS, *UNGROUPED), 2), 0):
        by = "half" if "by" in keywords(name) and name != "per_query" else "query"
        data = data_of(name)
        usual = ask(name, by=by)
        first = [*usual].index(by)
        own = [*usual][first + 1 :]
        for other in dict.fromkeys(("pair", "n", own[0], own[-1])):
            table = ask(name, data.rename(columns={by: other}), by=other)
            found = table.columns[first]
            assert found in (other, f"by_{other}"), name
            assert found != other or other not in (*own, *INSIDE), name
            pd.testing.assert_frame_equal(table.rename(columns={found: by}), usual, obj=name)


def test_groups_of_pairs_have_any_name():
    domains = SCORES.assign(n_pairs=np.repeat(["x", "y"], 24))
    pairs = domains.rankeval(by="n_pairs", measures=list("abc")).paired_bootstrap(n_resamples=50)
    found = pairs.rankeval.gain_threshold(window=(0.01, 0.99))
    assert list(found.columns[:2]) == ["by_n_pairs", "relation"]
    assert "n_pairs" in found
    table = pairs.rename(columns={"n_pairs": "p_low"}).rankeval.calibration(
        OTHER, bins=[0.01, 0.99]
    )
    assert list(table.columns[:2]) == ["by_p_low", "p_low"]


def test_names_stay_apart():
    assert apart(["n", "by_n"], ["n"]) == ["by_by_n", "by_n"]
    assert apart(["by_n", "n"], ["n", "by_n"]) == ["by_by_n", "by_by_by_n"]
    assert apart(["q", ("n", 1), 3], ["n"]) == ["q", ("n", 1), 3]


def test_words_and_tables_of_such_groups(frame):
    data = frame.assign(n=np.arange(30) % 3)
    found = data.rankeval(by="n").compare("a", "b", 5)
    assert list(found.columns[:4]) == ["by_n", "measure_a", "measure_b", "n"]
    assert "For by_n 0, at n = 5" in rankeval_pd.in_words(found)
    assert next(iter(rankeval_pd.paper_table(found))) == "by_n = 0, n = 5"


@pytest.mark.parametrize("chunked", [True, False])
def test_dimensions_have_any_name(chunked):
    for name in some(["compare", "random_test", "area", "roc", "nbest_precision"], 1):
        data = dataset(name, queries(name))
        data = data.chunk(query=1) if chunked else data
        usual = ask(name, data).compute()
        for other in ("score", "pair", "row", *[*usual.data_vars][:3]):
            table = ask(name, data.rename(query=other)).compute()
            found = other if other == "score" else f"by_{other}"
            xr.testing.assert_equal(table.rename({found: "query"}), usual)


def test_dimensions_of_systems_and_metrics_have_any_name():
    of = xr.Dataset(
        {"right": (("gain", "item", "system"), SCORES.to_numpy().reshape(2, 24, 3))},
        coords={"gain": ["x", "y"], "system": list("abc")},
    )
    usual = of.rename(gain="half").rankeval.paired_bootstrap()
    xr.testing.assert_equal(of.rankeval.paired_bootstrap().rename(by_gain="half"), usual)
    runs = dataset("per_query", queries("per_query", short=False))
    usual = runs.rankeval(measures=["a"]).per_query("P@3")
    found = runs.rename(query="n_judged").rankeval(measures=["a"]).per_query("P@3")
    xr.testing.assert_equal(found.rename(by_n_judged="query"), usual)
