"""Groups may be named as they are: a column ``by_n`` where the result has an n of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.accessors import methods_of
from rankeval_pd.tables import apart
from tests.questions import ARGUMENTS, ASKED, FRAME, OTHER

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

ROLES = {"gold": "gold", "measures": ["a", "b", "c"]}
OWN_ROWS = (
    "with_judgements", "annotation_sheet", "plan_annotation", "with_association_measures",
    "difference_region",
)  # fmt: skip
# what has no column of the groups, and what takes the rows of the data, has no such names
RANKINGS = sorted({*methods_of("rankings")} - {*OWN_ROWS, "repetition", "unpaired_area"})
SYSTEMS = sorted({*methods_of("items")} - {"summary", "population_calibration"})
ITEMS = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)), columns=list("abc"))
OWN = {
    "per_query": ((["P@3", "AP"],), {}),
    "summary": (([5, 10],), {}),
    "tie_sensitivity": (("a", "b", [5]), {"n_keys": 4}),
}
INSIDE = ("row", "pair", "cut")


def asked(method: str, name: str, *, of: str = "rankings") -> pd.DataFrame:
    """Ask a question of groups whose column has this name."""
    if of != "rankings":
        args, options = ARGUMENTS[method]
        domains = ITEMS.assign(**{name: np.repeat(["x", "y"], 30)})
        ask = domains.rankeval(by=name, measures=[x for x in "abc" if x != name])
        return getattr(ask, method)(*args, **options)
    args, options = OWN.get(method) or ASKED[method]
    options = {**ROLES, **options, "by": name}
    data = FRAME[["a", "b", "c", "gold", "other"]]
    group = FRAME["half"] if method == "repetition_samples" else FRAME["query"]
    return getattr(data.assign(**{name: group}).rankeval, method)(*args, **options)


def check(method: str, of: str) -> None:
    """Raise unless each name of a column of the result may be that of the groups."""
    usual = asked(method, "query", of=of)
    first = list(usual.columns).index("query")
    own = [*usual.columns][first + 1 :]
    for name in dict.fromkeys((*INSIDE, "n", "tp", *own[:3], *own[-2:])):
        table = asked(method, name, of=of)
        found = table.columns[first]
        assert found in (name, f"by_{name}")
        assert found != name or name not in (*own, *INSIDE)
        pd.testing.assert_frame_equal(table.rename(columns={found: "query"}), usual, obj=name)


@pytest.mark.parametrize("method", RANKINGS)
def test_groups_of_rankings_have_any_name(method):
    check(method, "rankings")


@pytest.mark.parametrize("method", SYSTEMS)
def test_groups_of_items_have_any_name(method):
    check(method, "items")


def test_groups_of_pairs_have_any_name():
    domains = ITEMS.assign(n_pairs=np.repeat(["x", "y"], 30))
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


def cube(name: str) -> xr.Dataset:
    """Return rankings of a Dataset whose groups are along a dimension of this name."""
    frame = FRAME.assign(**{name: FRAME["query"]}) if name != "query" else FRAME
    frame = frame[["a", "b", "c", "gold", name]]
    place = frame.groupby(name, sort=False).cumcount().rename("candidate")
    return frame.set_index([name, place]).to_xarray()


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("method", ["nbest_precision", "compare", "random_test", "area", "roc"])
def test_dimensions_have_any_name(method, chunked):
    sizes = {"n": [2, 3]} if method in ("nbest_precision", "compare", "random_test") else {}

    def asked(name: str) -> xr.Dataset:
        data = cube(name).chunk({name: 1}) if chunked else cube(name)
        ask = data.rankeval(measures=["a", "b", "c"])
        result: xr.Dataset = getattr(ask, method)(**sizes)
        return result.compute()

    usual = asked("query")
    xr.testing.assert_equal(asked("score").rename(score="query"), usual)
    for name in ("pair", "row", *list(usual.data_vars)[:3]):
        found = asked(str(name))
        assert f"by_{name}" in found.dims
        xr.testing.assert_equal(found.rename({f"by_{name}": "query"}), usual)


def test_dimensions_of_systems_and_metrics_have_any_name():
    of = xr.Dataset(
        {"right": (("gain", "item", "system"), ITEMS.to_numpy().reshape(2, 30, 3))},
        coords={"gain": ["x", "y"], "system": list("abc")},
    )
    usual = of.rename(gain="half").rankeval.paired_bootstrap()
    xr.testing.assert_equal(of.rankeval.paired_bootstrap().rename(by_gain="half"), usual)
    queries = cube("n_judged").fillna(0.0)
    usual = queries.rename(n_judged="query").rankeval(measures=["a"]).per_query("P@3")
    found = queries.rankeval(measures=["a"]).per_query("P@3")
    xr.testing.assert_equal(found.rename(by_n_judged="query"), usual)
