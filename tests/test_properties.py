"""Properties that hold for all methods: each test walks over every method that it can hold for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.options import can
from tests.walks import (
    CELLED,
    ITEMS,
    MEASURES,
    METHODS,
    OF_FRAMES,
    PAIRS,
    PARTLY_JUDGED,
    QUESTIONS,
    RANKED,
    SAMPLES,
    ask,
    assert_equal,
    call,
    data_of,
    dataset,
    keywords,
    of_session,
    parameters,
    queries,
    renamed,
    some,
    table_of,
    without,
)

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

OWN_ROWS = [name for name in METHODS if can(QUESTIONS[name]).own_rows]
GROUPED = without(RANKED + ITEMS, *SAMPLES, "per_query", "population_calibration")
OF_NAMES = (
    "measure", "measure_a", "measure_b", "system", "system_a", "system_b", "better", "leaning",
    "baseline",
)  # fmt: skip
UNSIZED = ("crossovers",)  # of all n
NAMES = {"a": "zeta", "b": "alpha", "c": "mu"}  # in another order of the alphabet


# ------------------------------------------------------------------- the same data in another form


def options_of_dataset(name: str) -> dict[str, Any]:
    """Return the options of a Dataset, whose systems lie along a dimension."""
    return {"measures": None} if name in ITEMS else {}


def test_a_dataset_is_answered_as_its_frame():
    for name in some(without(GROUPED, "difference_region"), 0):
        data = data_of(name).drop(columns="query")
        found = ask(name, dataset(name, data), **options_of_dataset(name))
        wanted = ask(name, data)
        assert_equal(table_of(found, wanted), wanted, of=name)


def test_a_padded_dataset_is_answered_as_the_groups_of_its_frame():
    for name in some(without(GROUPED, "difference_region"), 3):
        data = queries(name)
        found = ask(name, dataset(name, data), **options_of_dataset(name))
        wanted = ask(name, data, by="query")
        assert_equal(table_of(found, wanted), wanted, of=name)


@pytest.mark.full
def test_a_lazy_dataset_in_chunks_is_answered_as_the_whole():
    pytest.importorskip("dask.array")
    for name in GROUPED:
        # a share of an unknown number of candidates is refused
        whole = dataset(name, queries(name, short=name != "enrichment"))
        chunks = {x: max(1, size // 2) for x, size in whole.sizes.items()}
        options = options_of_dataset(name)
        found, wanted = (ask(name, x, **options) for x in (whole.chunk(chunks), whole))
        found = found.compute()
        if name in ITEMS:  # how many were drawn, and of what law, is seen in the values
            for table in (found, wanted):
                table.attrs = {x: table.attrs[x] for x in ("method", "alpha", "level", "columns")}
        xr.testing.assert_identical(found, wanted)


@pytest.mark.full
@pytest.mark.parametrize("by", [{"by": "query"}, {}], ids=["groups", "one ranking"])
def test_a_dask_frame_is_answered_as_its_frame(by):
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    answered = []
    for name in without(GROUPED, "difference_region", *([] if by else UNSIZED)):
        able = can(QUESTIONS[name])
        given = keywords(name)
        unsized = "n" in parameters(name) and "threshold" not in given and given.get("n") is None
        sizes = {"n": [5, 10]} if unsized else {}
        if not (able.by_groups or able.heads if by else able.heads or able.sums):
            continue
        data = data_of(name)
        lazy = dd.from_pandas(data, npartitions=3, sort=False)
        found, wanted = (ask(name, x, **by, **sizes) for x in (lazy, data))
        found = found.compute() if hasattr(found, "compute") else found
        if isinstance(found, xr.Dataset):
            found = table_of(found, wanted)
        assert_equal(found, wanted, of=name)
        answered.append(name)
    assert len(answered) >= 15


# ------------------------------------------------------------------------- groups, rows and columns


def test_groups_are_answered_as_each_group_alone():
    for name in some(GROUPED, 2):
        data = queries(name)
        family = {"adjust_over": "group"} if "adjust_over" in parameters(name) else {}
        found = ask(name, data, by="query", **family)
        assert found["query"].is_monotonic_increasing, name
        for query, part in data.groupby("query"):
            rows = found[found["query"] == query].drop(columns="query")
            rows = rows if name in OWN_ROWS else rows.reset_index(drop=True)
            alone = ask(name, part.drop(columns="query"), **family)
            assert_equal(rows[[*alone]], alone, of=name)


def test_the_order_of_rows_changes_no_number():
    for name in some(without(METHODS, "gain_by_size"), 0):  # which is of the first items
        data = data_of(name)
        shuffled = data.sample(frac=1, random_state=1)
        shuffled.attrs = data.attrs
        found, wanted = ask(name, shuffled), ask(name, data)
        assert_equal(found.loc[wanted.index], wanted, of=name)


def test_the_names_of_measures_change_no_number():
    for name in some(without(METHODS, *PAIRS, CELLED), 1):
        options = {x: renamed(value, NAMES) for x, value in keywords(name).items()}
        found = getattr(renamed(data_of(name), NAMES).rankeval, name)(**options)
        wanted = renamed(ask(name), NAMES)
        names = [x for x in wanted if x in OF_NAMES]
        wanted[names] = wanted[names].map(lambda x: NAMES.get(x, x))
        assert_equal(found, wanted, of=name)


def test_measures_that_are_not_named_are_as_columns_that_are_not_there():
    for name in some(without(RANKED + ITEMS, *OWN_ROWS, "judged_difference"), 0):
        options = keywords(name)
        more = data_of(name)
        columns = {*MEASURES, "gold", "partly", "query", "half", "other"}
        gold = options.get("gold")
        roles = [*(gold if isinstance(gold, list) else [gold]), options.get("by")]
        fewer = more[[x for x in more if x in MEASURES or x in roles]]
        excluded = [x for x in more if x not in fewer]
        assert columns >= {*fewer}
        del options["measures"]
        wanted = ask(name)
        assert_equal(getattr(fewer.rankeval, name)(**options), wanted, of=name)
        found = getattr(more.rankeval(exclude=excluded), name)(**options)
        assert_equal(found, wanted, of=name)


MIRRORED = ("difference", "gain", "z")
LIMITS = (("ci_low", "ci_high"), ("band_low", "band_high"), ("tie_low", "tie_high"))


def mirrored(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of a and b as that of b and a."""
    sides = {x: x[:-1] + {"a": "b", "b": "a"}[x[-1]] for x in table if str(x)[-2:] in ("_a", "_b")}
    found = table.rename(columns=sides)[[*table]]
    for name in MIRRORED:
        if name in table:
            found[name] = -table[name]
    for name in ("odds_ratio", "odds_ratio_mle"):
        if name in table:
            found[name] = 1.0 / table[name]
    for limits in LIMITS:
        if {*limits} <= {*table}:
            low, high = (table[x] for x in limits)
            turned = (-high, -low) if {*MIRRORED} & {*table} else (1.0 / high, 1.0 / low)
            found[limits[0]], found[limits[1]] = turned
    if "list" in table:
        found["list"] = table["list"].replace({"a": "b", "b": "a"})
    if "p_tie_low" in table:
        found["p_tie_low"], found["p_tie_high"] = table["p_tie_high"], table["p_tie_low"]
    return found


def test_b_and_a_are_the_mirror_of_a_and_b():
    pairs = [name for name in METHODS if "b" in parameters(name)]
    assert len(pairs) > 10
    for name in pairs:
        found, wanted = (ask(name, a=one, b=other) for one, other in ("ba", "ab"))
        if name in OWN_ROWS:
            found = found.loc[wanted.index]
        assert_equal(found, mirrored(wanted), of=name)


def test_lower_is_better_is_the_negated_column():
    turn = {"threshold": {"a": 3, "b": -2, "c": 0.5}}
    for name in some(without(RANKED, "difference_region", "compare_thresholds"), 2):
        data = data_of(name)
        options = turn if name == "acceptance_precision" else {}
        negated = data.assign(b=-data["b"])
        found, wanted = ask(name, negated, lower_is_better="b", **options), ask(name)
        if "threshold" in wanted:
            threshold = wanted["threshold"]
            wanted["threshold"] = threshold.where(wanted["measure"] != "b", -threshold)
        assert_equal(found, wanted, of=name)


# -------------------------------------------------------------------------- the same call otherwise


def test_a_function_is_its_method_and_keywords_are_arguments():
    for name in some(METHODS, 0):
        args, options = call(name)
        found = getattr(rankeval_pd, name)(data_of(name), *args, **options)
        wanted = ask(name)
        assert_equal(found, wanted, of=name, exact=True)
        assert found.attrs == wanted.attrs, name


def test_roles_of_a_chain_are_those_of_the_call():
    """The last accessor of a chain wins, and the call over all."""
    roles = {"measures": ["c", "a", "b"], "rng": 8}
    for name in some(without(RANKED + ITEMS, *OF_FRAMES), 1):
        more = {"gold": "other", "key": "ident", "lower_is_better": "a"}
        own = {**roles, **more} if name in RANKED else {**roles, "higher_is_better": False}
        options = keywords(name)
        if name in PARTLY_JUDGED or name == "annotator_agreement":
            own["gold"] = options["gold"]
        wanted = ask(name, **own)
        options = {x: value for x, value in options.items() if x not in own}
        chain = data_of(name).rankeval(measures="a", rng=1)(**own)
        assert_equal(getattr(chain, name)(**options), wanted, of=name, exact=True)
        first, last = own.popitem()
        found = getattr(data_of(name).rankeval(**own), name)(**options, **{first: last})
        assert_equal(found, wanted, of=name, exact=True)


SESSION = {"level": 0.7, "alpha": 0.4, "details": False}


def test_options_of_a_session_are_those_of_a_call():
    moved = []
    for name in some(without(METHODS, CELLED), 2):
        given = of_session(name, SESSION)
        options = {x: value for x, value in keywords(name).items() if x not in SESSION}
        method = getattr(data_of(name).rankeval, name)
        wanted, usual = method(**options, **given), method(**options)
        with rankeval_pd.set_options(**SESSION):
            found = method(**options)
        assert_equal(found, wanted, of=name, exact=True)
        assert found.attrs == wanted.attrs, name
        moved += [] if wanted.equals(usual) else [name]
    assert len(moved) > 5


# --------------------------------------------------------------------------------- the user's frame


def readonly(data: pd.DataFrame) -> pd.DataFrame:
    """Return the frame on arrays that may not be written."""
    columns = {}
    for name, column in data.items():
        values = column.to_numpy().copy()
        values.setflags(write=False)
        columns[name] = values
    return pd.DataFrame(columns, index=data.index, copy=False)


def cast(data: pd.DataFrame, kinds: str, to: Any) -> pd.DataFrame:
    """Return the frame with the columns of these kinds in another form."""
    return data.assign(**{x: to(c) for x, c in data.items() if c.dtype.kind in kinds})


ARROW = {"b": "bool[pyarrow]", "i": "int64[pyarrow]", "f": "double[pyarrow]"}
NULLABLE = {"b": "boolean", "i": "Int64", "f": "Float64"}
SAME = {
    "flags": lambda data: data.set_flags(allows_duplicate_labels=False),
    "Arrow": lambda data: cast(data, "bif", lambda x: x.astype(ARROW[x.dtype.kind])),
    "sparse": lambda data: cast(data, "f", lambda x: pd.arrays.SparseArray(x.to_numpy())),
    "float32": lambda data: cast(data, "i", lambda x: x.astype("f4")),
    "a view": lambda data: pd.concat([data, data])[: len(data)],
    "nullable": lambda data: cast(data, "bif", lambda x: x.astype(NULLABLE[x.dtype.kind])),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_values_in_another_form_have_the_same_answer(kind):
    """No other package warns of them, either: warnings are errors."""
    for name in some(METHODS, 1):
        data = SAME[kind](data_of(name))
        data.attrs = data_of(name).attrs
        found, wanted = ask(name, data), ask(name)
        if name not in OWN_ROWS:  # rows of the data are those that were given
            assert_equal(found, wanted, of=name, check_flags=False)
        assert [*found] == [*wanted], name


def test_no_method_changes_the_data_of_the_user():
    for name in some(METHODS, 3):
        data = readonly(data_of(name))
        data.attrs = {**data_of(name).attrs, "source": ["here"]}
        before, attrs = data.copy(deep=True), {**data.attrs}
        found = ask(name, data)
        assert_equal(found, ask(name), of=name, exact=True)
        assert_equal(data, before, of=name, exact=True)
        assert data.attrs == attrs, name


@pytest.mark.full
def test_no_method_changes_the_dataset_of_the_user():
    for name in GROUPED:
        data = dataset(name, queries(name)).assign_attrs(source="here")
        before = data.copy(deep=True)
        for variable in data.variables.values():
            if isinstance(variable.data, np.ndarray):
                variable.data.flags.writeable = False
        ask(name, data, **options_of_dataset(name))
        xr.testing.assert_identical(data, before)
