"""Dask DataFrames: every number is that of pandas, bit for bit, however the rows are spread."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankeval_pd

pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
import dask  # noqa: E402

import rankeval_pd.dask  # noqa: E402
from rankeval_pd.dask import HEAD_METHODS, METHODS  # noqa: E402
from rankeval_pd.dask import QUESTIONS as ON_FRAMES  # noqa: E402
from tests.questions import LONG, QUESTIONS, RANKED, N  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning"),
    # pandas 2.2, where Dask puts an empty file beside others: it silences this, but not in threads
    pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning"),
]

ALL = {**QUESTIONS, **RANKED}
OF_COUNTS = ("random_bound", "random_envelope", "random_cdf", "random_band", "isolines")


def candidates(size: int = 2_000, seed: int = 0) -> pd.DataFrame:
    """Scores of four dtypes with heavy ties, some of them missing."""
    rng = np.random.default_rng(seed)
    gold = rng.random(size) < 0.2
    a = np.round(rng.normal(size=size) + gold, 1)
    return pd.DataFrame(
        {
            "a": np.where(rng.random(size) < 0.95, a, np.nan),
            "b": np.where(rng.random(size) < 0.05, np.nan, rng.normal(size=size) * 2 + gold),
            "c": (rng.integers(0, 6, size) + gold).astype("int8"),
            "d": (-np.round(rng.normal(size=size) + gold, 2)).astype("float32"),
            "gold": gold,
            "id": [f"w{i}" for i in rng.permutation(size)],
        }
    )


def stored(df: pd.DataFrame, folder: Path, files: int, seed: int = 1) -> Path:
    """Write files of different lengths, some of them empty, each with an index from 0."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, len(df), files - 1))
    if files > 3:
        cuts[1] = cuts[0]  # nothing between the two
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(np.arange(len(df)), cuts)):
        df.iloc[part].reset_index(drop=True).to_parquet(folder / f"part{number:03d}.parquet")
    return folder


@pytest.fixture(scope="module")
def df() -> pd.DataFrame:
    return candidates()


@pytest.fixture(scope="module")
def stores(df, tmp_path_factory) -> dict[int, Path]:
    return {
        files: stored(df, tmp_path_factory.mktemp(f"files{files}"), files) for files in (1, 7, 60)
    }


ROLES = {"lower_is_better": "d", "exclude": "id"}


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Of a block that goes on behind a head, what both rankings share of it is estimated."""
    ends = [x for x in ORDERS if x in expected]
    pd.testing.assert_frame_equal(found[ends], expected[ends], rtol=0.2, atol=0.03)
    exact = [x.drop(columns=ends) for x in (found, expected)]
    pd.testing.assert_frame_equal(*exact, check_exact=True)
    assert found.attrs == expected.attrs


ORDERS = ("tie_low", "tie_high", "p_tie_low", "p_tie_high")


# one head answers all of them in every run; these are those that collect what they need
OWN_HEADS = ("compare with one", "random_bound", "tie_sensitivity")


def at_length(parameters: object, kept: Collection[object]) -> list[object]:
    """Mark all but a few as long tests."""
    return [x if x in kept else pytest.param(*x, marks=pytest.mark.full) for x in parameters]


SPREAD = [
    *((7, name) for name in ALL),
    *((files, name) for files in (1, 60) for name in ("compare by swaps", "tie_sensitivity")),
]


@pytest.mark.parametrize(
    ("files", "name"),
    at_length(SPREAD, [*((7, name) for name in OWN_HEADS), (60, "compare by swaps")]),
)
def test_the_numbers_of_pandas(df, stores, name, files):
    roles, ask = {**ROLES, "missing": "last"}, ALL[name]
    ddf = dd.read_parquet(stores[files])
    with dask.config.set(scheduler="threads"):
        found = ask(ddf.rankeval(**roles))
    assert type(found) is pd.DataFrame
    same(found, ask(df.rankeval(**roles)))


def test_every_method_of_a_head_is_asked_here():
    in_up_to_n_max = {"local_precision", "crossovers"}
    assert set(HEAD_METHODS) == {name.split()[0] for name in ALL} | in_up_to_n_max


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_there_or_says_what_to_do(df, name):
    accessor, able = dd.from_pandas(df, npartitions=2).rankeval, ON_FRAMES[name][1]
    if able.heads or able.by_groups or able.sums:
        assert name in dir(accessor)
    elif name not in dir(accessor):
        with pytest.raises(AttributeError, match=re.escape(f"Dask DataFrame: {able.dask}")):
            getattr(accessor, name)


@pytest.mark.full
def test_lists_that_end(df, stores):
    roles = {**ROLES, "missing": "absent", "label": "id"}
    few = df.assign(a=df["a"].where(df["a"] > 1.8))  # fewer scores than the longest list
    assert 20 < few["a"].count() < LONG
    ddf = dd.from_pandas(few, npartitions=7)
    head = ddf.rankeval(**roles).head(LONG)
    for name, ask in QUESTIONS.items():
        if name in ("compare by swaps", *OF_COUNTS):  # with a seed of its own
            continue
        same_but_for_bands(ask(head), ask(few.rankeval(**roles)))
    for name in ("compare by swaps", "nbest_precision of blocks"):
        ask = QUESTIONS[name]
        same_but_for_bands(ask(ddf.rankeval(**roles)), ask(few.rankeval(**roles)))


def same_but_for_bands(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Of max-t, intervals are of bands that are drawn for the candidates at hand."""
    if expected.attrs.get("adjust") == "max-t" and "ci_low" in expected:
        limits = ["ci_low", "ci_high"]
        pd.testing.assert_frame_equal(found[limits], expected[limits], rtol=0.05, atol=0.02)
        attrs = found.attrs, expected.attrs
        found, expected = (x.drop(columns=limits) for x in (found, expected))
        found.attrs, expected.attrs = attrs
    same(found, expected)


@pytest.mark.full
@pytest.mark.parametrize("files", [7])
def test_one_head_answers_all(df, stores, files):
    roles = {**ROLES, "missing": "last", "label": "id"}
    head = dd.read_parquet(stores[files]).rankeval(**roles).head(LONG, n_keys=5)
    for name, ask in ALL.items():
        if name != "compare by swaps":  # with a seed of its own
            same(ask(head), ask(df.rankeval(**roles)))
    assert (head.n_candidates, head.n_positive) == (len(df), df["gold"].sum())


@pytest.mark.parametrize(
    ("role", "pair"),
    at_length(
        [(role, pair) for role in ("label", "key", "rows") for pair in ("ab", "ca", "cd")],
        [("label", "ca"), ("key", "ab"), ("rows", "cd")],
    ),
)
def test_who_is_in_one_list_only(df, stores, role, pair):
    roles = {**ROLES, "missing": "last", **({} if role == "rows" else {role: "id"})}
    found = dd.read_parquet(stores[7]).rankeval(**roles).difference_region(*pair, 100)
    found = found.astype({"id": object})
    expected = df.astype({"id": object}).rankeval(**roles).difference_region(*pair, 100)
    if role != "rows":  # the index is that of the files
        found, expected = found.reset_index(drop=True), expected.reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert (expected[["rank_a", "rank_b"]].max() > 700).any()


def test_any_order_of_the_rows(df, tmp_path):
    roles = {**ROLES, "missing": "last", "label": "id"}
    shuffled = df.sample(frac=1.0, random_state=3)
    ddf = dd.read_parquet(stored(shuffled, tmp_path / "shuffled", 7))
    for ask in (RANKED["tie_sensitivity"], QUESTIONS["compare by swaps"], RANKED["precision_band"]):
        same(ask(ddf.rankeval(**roles)), ask(df.rankeval(**roles)))


def test_a_key(df, stores):
    roles = {**ROLES, "missing": "last", "key": "id"}
    head = dd.read_parquet(stores[7]).rankeval(**roles).head(LONG, n_keys=5)
    for name in ("nbest_precision", "compare by many swaps", "tie_sensitivity"):
        same(ALL[name](head), ALL[name](df.rankeval(**roles)))


@pytest.mark.parametrize("label", ["column", "index", "rows", "columns", "level"])
def test_what_identifies_a_candidate(df, stores, label):
    df = df.fillna({"a": 0.0, "b": 0.0}).assign(half=df["id"].str[:2])
    plain, given, ddf = df, {}, dd.from_pandas(df, npartitions=5)
    if label == "column":
        given = {"label": "id"}
    elif label == "index":
        plain = df.set_index("id")
        ddf = dd.from_pandas(plain, npartitions=5, sort=False)
    elif label == "level":
        plain = df.set_index("id")
        ddf, given = dd.from_pandas(plain, npartitions=5, sort=False), {"label": "id"}
    elif label == "columns":
        given = {"label": ["half", "id"]}
    else:
        ddf = dd.from_pandas(df.set_index("id"), npartitions=5, sort=False)
        given = {"label": rankeval_pd.dask.ROWS}
    measures = ["a", "b", "c"]
    found = ddf.rankeval(measures=measures, **given).nbest_precision(N)
    given = {} if label == "rows" else given
    same(found, plain.rankeval(measures=measures, **given).nbest_precision(N))


def test_candidates_that_belong_together(df, stores):
    roles = {**ROLES, "missing": "last", "label": "id", "groups": "doc", "measures": ["a", "b"]}
    together = df.assign(doc=np.arange(len(df)) // 3 % 700)
    head = dd.from_pandas(together, npartitions=7).rankeval(**roles).head(LONG)
    for target in ("region", "nbest"):
        for ask in (
            lambda r, target=target: r.nbest_precision(N, target=target),
            lambda r, target=target: r.compare(n=N, target=target),
        ):
            found, expected = ask(head), ask(together.rankeval(**roles))
            assert found.attrs.pop("order") == '["a", "b"]'  # a head has the columns in use alone
            assert expected.attrs.pop("order") == '["a", "b", "c", "d"]'
            same(found, expected)
    with pytest.raises(ValueError, match="needs all 2,000 candidates"):
        head.precision_band(N)


def test_up_to_n_max(df, stores):
    roles = {**ROLES, "missing": "last"}
    ddf, whole = dd.read_parquet(stores[7]), df.rankeval(**roles)
    head = ddf.rankeval(**roles).head(LONG)
    same(head.nbest_precision(), whole.nbest_precision(range(1, LONG + 1)))
    same(head.compare("a", "b"), whole.compare("a", "b", range(1, LONG + 1)))
    expected = whole.local_precision(50)
    expected = expected[expected["n"] <= LONG - 25].reset_index(drop=True)
    same(ddf.rankeval(**roles).local_precision(50, n_max=LONG), expected)
    expected = whole.crossovers([0.05, 0.001])
    expected = expected[expected["n_first"] < LONG].reset_index(drop=True)
    expected["n_last"] = expected["n_last"].clip(upper=LONG)
    same(head.crossovers([0.05, 0.001]), expected)


def test_few_lists_that_end(df):
    roles = {**ROLES, "missing": "absent", "label": "id"}
    few = df.assign(a=df["a"].where(df["a"] > 1.8))
    head = dd.from_pandas(few, npartitions=3).rankeval(**roles).head(LONG)
    for name in ("nbest_precision", "compare", "nbest_precision of blocks", "random_test"):
        same(QUESTIONS[name](head), QUESTIONS[name](few.rankeval(**roles)))


def test_lists_of_everyone(df):
    few = df.head(40).fillna(0.0)
    head = dd.from_pandas(few, npartitions=3).rankeval(**ROLES).head(40)
    for ask in (lambda r: r.nbest_precision(), lambda r: r.compare(adjust="max-t")):
        same(ask(head), ask(few.rankeval(**ROLES)))


def test_gold_in_other_words(df):
    graded = df.fillna(0.0).assign(gold=np.where(df["gold"], "yes", "no"), grade=df["c"] % 4)
    ddf = dd.from_pandas(graded, npartitions=5)
    measures = ["a", "b"]
    for roles in ({"gold": "gold", "positive": "yes"}, {"gold": "grade", "min_grade": 2}):
        ask = {**roles, "measures": measures}
        same(ddf.rankeval(**ask).compare(n=N), graded.rankeval(**ask).compare(n=N))
    with pytest.raises(ValueError, match="no candidate has the value 'si'"):
        ddf.rankeval(gold="gold", positive=["yes", "si"], measures=measures).head(10)


@pytest.mark.parametrize("rank", ["all alike", "rising", "falling"])
def test_the_bound_of_the_first_partitions(df, rank):
    """All in one block; the best in the last partitions; the best in the first ones."""
    scores = {"all alike": np.zeros(2_000), "rising": np.arange(2_000), "falling": -np.arange(2000)}
    few = pd.DataFrame({"a": scores[rank], "c": df["c"], "gold": df["gold"]})
    ddf = dd.from_pandas(few, npartitions=20)
    same(*(QUESTIONS["compare"](x.rankeval) for x in (ddf, few)))
    same(*(QUESTIONS["nbest_precision of blocks"](x.rankeval) for x in (ddf, few)))


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda d: d.rankeval.nbest_precision(), ValueError, "n=None needs all ranks in memory"),
        (lambda d: d.rankeval.compare("a", "b"), ValueError, "n=None needs all ranks in memory"),
        (lambda d: d.rankeval.compare("a", "x", n=5), KeyError, "x"),
        (
            lambda d: d.rankeval.nbest_precision(5_000),
            ValueError,
            "exceeds the number",
        ),
        (lambda d: d.rankeval(by="id").head(5), ValueError, "a head contains one ranking"),
        (lambda d: d.rankeval(key=np.arange(9)).head(5), ValueError, "given as values"),
        (
            lambda d: d.rankeval.repetition(n=5),
            AttributeError,
            "repetition does not exist for a Dask DataFrame",
        ),
        (lambda d: d.rankeval.plot, AttributeError, "plots require a head"),
        (lambda d: d.rankeval.nbest(5), AttributeError, "nbest_precision"),
        (lambda d: d.rankeval(label="c").head(50), ValueError, "among the best candidates"),
        (lambda d: d.rankeval(gold="id").head(50), ValueError, "contains text"),
        (lambda d: d.rankeval(missing="drop").head(50), None, ""),
        (lambda d: d.rankeval.head(50).nbest_precision(51), ValueError, "longest list"),
        (lambda d: d.rankeval.head(50).roc(), ValueError, "needs all 2,000 candidates"),
        (lambda d: d.rankeval.head(50).nbest_precision(5, rng=1), ValueError, "with the seed 0"),
        (lambda d: d.rankeval.head(5).nbest_precision(5, key="id"), ValueError, "made with key"),
        (lambda d: d.rankeval(measures="a").head(5).compare(n=5), ValueError, "two"),
        (
            lambda d: d.rankeval(measures=["a", "b"]).head(5).nbest_precision(5, measures="c"),
            KeyError,
            "c",
        ),
        (
            lambda d: d.rankeval.head(150).tie_sensitivity("a", "c", 150),
            ValueError,
            "n_keys=20",
        ),
        (lambda d: rankeval_pd.nbest_precision(d, 5), TypeError, "Import rankeval_pd.dask"),
    ],
)
def test_what_cannot_be_asked_says_why(df, ask, error, message):
    ddf = dd.from_pandas(df.fillna({"a": 0.0, "b": 0.0}), npartitions=5)
    if error is None:
        ask(ddf)
        return
    with pytest.raises(error, match=message):
        ask(ddf)


def test_missing_values_are_refused_as_in_pandas(df):
    ddf = dd.from_pandas(df, npartitions=5)
    for change in (lambda d: d, lambda d: d.fillna(0.0).assign(gold=d["gold"].where(d["a"] < 1))):
        messages = []
        for data in (change(df), change(ddf)):
            with pytest.raises(ValueError, match="missing") as caught:
                data.rankeval(measures=["a", "c"]).nbest_precision(5)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    with pytest.raises(ValueError, match="missing='drop'"):
        ddf.rankeval(missing="drop").head(50)


def test_objects_that_became_text():
    mixed = pd.DataFrame({"a": range(40), "gold": pd.Series([True, False] * 20, dtype=object)})
    ddf = dd.from_pandas(mixed, npartitions=2)
    if ddf["gold"].dtype != object:
        with pytest.raises(ValueError, match="Dask converts objects to text"):
            ddf.rankeval.head(5)
    same(
        ddf.rankeval(gold="gold", positive="True").nbest_precision(5),
        mixed.rankeval(gold="gold").nbest_precision(5),
    )


def test_the_head_is_small_and_leaves_as_a_frame(df, stores):
    ddf = dd.read_parquet(stores[7]).fillna({"a": 0.0, "b": 0.0})
    head = ddf.rankeval(label="id").head(20)
    assert type(head.candidates) is pd.DataFrame
    assert len(head.candidates) < 1_000 < len(df)
    assert "2,000, " in repr(head)
    assert "compare" in dir(head)
    assert "partitions" in repr(ddf.rankeval(label="id"))
    assert head.n_max == 20
    assert head.plot.precision(range(1, 21)).get_xlabel()


@pytest.mark.full
def test_a_million(tmp_path):
    df = candidates(1_000_000, seed=5)
    n = [10, 1_000, 20_000]
    ddf = dd.read_parquet(stored(df, tmp_path / "million", 12))
    for missing, asked in {
        "last": (
            lambda r: r.nbest_precision(n, target="nbest"),
            lambda r: r.compare(n=n, adjust="max-t", target="nbest"),
            lambda r: r.random_test(n),
        ),
        "absent": (lambda r: r.compare(n=n, target="nbest"),),
    }.items():
        roles = {**ROLES, "missing": missing}
        head = ddf.rankeval(**roles).head(20_000)
        for ask in asked:
            same(ask(head), ask(df.rankeval(**roles)))


OF_GROUPS = {
    "nbest_precision": lambda r: r.nbest_precision([5, 10, 30]),
    "every n": lambda r: r.nbest_precision(),
    "shares": lambda r: r.nbest_precision([0.1, 0.5]),
    "compare": lambda r: r.compare(n=[5, 10, 30]),
    "compare a pair": lambda r: r.compare("b", "a", n=[5], test="midp", adjust="holm"),
    "compare by swaps": lambda r: r.compare(
        "a", "b", n=[5, 10], adjust="max-t", adjust_over="group", n_resamples=99
    ),
    "significant_ranges": lambda r: r.significant_ranges("a", "d", alpha=0.3),
    "random_test": lambda r: r.random_test([5, 10]),
    "random_bound": lambda r: r.random_bound(0.05, [5, 10]),
    "area": lambda r: r.area(),
    "compare_area": lambda r: r.compare_area(adjust="bh"),
    "roc": lambda r: r.roc(),
    "lift": lambda r: r.lift([0.1, 0.5]),
    "acceptance_precision": lambda r: r.acceptance_precision({"a": [1.0, 2.0]}, measures="a"),
    "tie_sensitivity": lambda r: r.tie_sensitivity("a", "c", [5, 10], n_keys=3),
}


@pytest.fixture(scope="module")
def queries(df) -> pd.DataFrame:
    """Groups of 12 to 59 candidates, one after the other."""
    rng = np.random.default_rng(7)
    sizes = rng.choice([12, 31, 59], 20)  # the cost is that of the sizes that there are
    number = np.repeat(np.arange(20), sizes)
    whole = df.head(number.size).fillna({"a": 0.0, "b": 0.0})
    return whole.assign(
        query=[f"q{i:03d}" for i in number], domain=np.where(number % 3, "news", "law")
    )


@pytest.mark.parametrize(
    ("order", "name"),
    at_length(
        [(order, name) for name in OF_GROUPS for order in ("in turn", "shuffled")],
        [
            *(("in turn", x) for x in ("compare", "compare by swaps", "every n", "random_bound")),
            *(("shuffled", x) for x in ("tie_sensitivity", "nbest_precision")),
        ],
    ),
)
def test_every_group_is_asked_as_a_whole(queries, name, order):
    ask = OF_GROUPS[name]
    roles = {"lower_is_better": "d", "label": "id", "by": "query", "exclude": "domain"}
    rows = queries if order == "in turn" else queries.sample(frac=1.0, random_state=0)
    ddf = dd.from_pandas(rows.reset_index(drop=True), npartitions=5)
    found, expected = ask(ddf.rankeval(**roles)), ask(queries.rankeval(**roles))
    same(found.astype({"query": expected["query"].dtype}), expected)


def test_groups_of_several_columns(queries, tmp_path):
    roles = {"by": ["domain", "query"], "measures": ["a", "b"]}
    ddf = dd.read_parquet(stored(queries, tmp_path / "groups", 7))
    found = ddf.rankeval(**roles).compare(n=[5])  # labels: the numbers of the rows
    expected = queries.rankeval(**roles).compare(n=[5])
    same(found.astype({name: expected[name].dtype for name in ("domain", "query")}), expected)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.compare("a", "b", n=[5], adjust="max-t"), "adjust_over='group'"),
        (lambda r: r.compare("a", "b", n=[5], combine=True), "combine=True requires all groups"),
        (lambda r: r.nbest_precision([5], average="macro"), "average='macro' requires all groups"),
        (lambda r: r.nbest_precision([5, 1_000]), "n=1000 exceeds"),
        (lambda r: r.head(5), "one ranking"),
    ],
)
def test_groups_that_cannot_be_asked(queries, ask, message):
    ddf = dd.from_pandas(queries, npartitions=5)
    with pytest.raises(ValueError, match=message):
        ask(ddf.rankeval(by="query", label="id", exclude="domain"))
    missing = queries.assign(query=queries["query"].where(queries["a"] < 2.0))
    lacking = dd.from_pandas(missing, npartitions=5)
    with pytest.raises(ValueError, match="by='query' has"):
        lacking.rankeval(by="query", exclude="domain", label="id").area()
    with pytest.raises(ValueError, match="choose_threshold requires all candidates"):
        ddf.rankeval(label="id").choose_threshold(recall=0.5)


@pytest.mark.parametrize(
    ("missing", "ci"), [("last", "newcombe"), ("raise", "delong"), ("absent", "logit")]
)
def test_the_area_of_all_candidates(df, stores, missing, ci):
    roles = {**ROLES, "missing": missing, "label": "id"}
    if missing == "raise":
        roles["measures"] = ["c", "d"]
    files = 60 if missing == "raise" else 7
    found = dd.read_parquet(stores[files]).rankeval(**roles).area(ci=ci, level=0.9)
    expected = df.rankeval(**roles).area(ci=ci, level=0.9)
    pd.testing.assert_series_equal(found["area"], expected["area"], check_exact=True)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-11)
    assert found.attrs == expected.attrs


@pytest.mark.parametrize("gold", [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1], [0] * 4])
def test_the_area_of_few(gold):
    few = pd.DataFrame({"a": [4, 3, 2, 1], "b": [1, 1, 1, 1], "gold": gold})
    found = dd.from_pandas(few, npartitions=2).rankeval.area()
    pd.testing.assert_frame_equal(found, few.rankeval.area(), rtol=1e-11)


@pytest.mark.parametrize("missing", ["last", "absent"])
def test_the_average_precision_of_all_candidates(df, stores, missing):
    roles = {**ROLES, "missing": missing, "label": "id"}
    expected = df.rankeval(**roles).area("ap", level=0.9)
    tables = [dd.read_parquet(stores[files]).rankeval(**roles) for files in (1, 7, 60)]
    tables = [table.area("ap", level=0.9) for table in tables]
    pd.testing.assert_frame_equal(tables[0], expected, rtol=1e-11)
    assert tables[0].attrs == expected.attrs
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other, tables[0], check_exact=True)


@pytest.mark.parametrize("gold", [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1], [0] * 4])
def test_the_average_precision_of_few(gold):
    few = pd.DataFrame({"a": [4, 3, 2, 1], "b": [1, 1, 1, 1], "gold": gold})
    found = dd.from_pandas(few, npartitions=2).rankeval.area("ap")
    pd.testing.assert_frame_equal(found, few.rankeval.area("ap"), rtol=1e-11)


@pytest.mark.parametrize("options", [{"average": "macro"}, {"equal": "mean"}])
def test_areas_that_cannot_be_asked(df, options):
    ddf = dd.from_pandas(df, npartitions=3)
    with pytest.raises(ValueError, match=r"compute the columns that you use"):
        ddf.rankeval(**ROLES, missing="last").area("ap", **options)


@pytest.mark.parametrize("name", ["roc", "precision_recall", "det", "gain", "lift"])
def test_curves_of_all_candidates_say_what_to_do(df, name):
    ddf = dd.from_pandas(df, npartitions=3)
    with pytest.raises(ValueError, match=rf"{name} requires all candidates .*\.compute\(\)"):
        getattr(ddf.rankeval(**ROLES, missing="last"), name)()
    with pytest.raises(ValueError, match="n=None needs all ranks in memory"):
        ddf.rankeval(**ROLES, missing="last").random_test()


@pytest.mark.parametrize("kind", ["roc", "ap"])
@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"missing": "raise"}, "missing='raise'"),
        ({"missing": "drop"}, "missing='drop'"),
        ({"gold": "id", "positive": ["w1", "x"], "measures": "c"}, "the value 'x'"),
    ],
)
def test_areas_of_candidates_that_lack_something(df, kind, roles, message):
    ddf = dd.from_pandas(df, npartitions=3)
    with pytest.raises(ValueError, match=message):
        ddf.rankeval(**{"measures": ["a", "d"], **roles}).area(kind)


OF_OPTIONS = {
    "nbest_precision": lambda r: r.nbest_precision([5, 10]),
    "compare": lambda r: r.compare(n=[5, 10]),
    "compare, holm": lambda r: r.compare(n=[5, 10], adjust="holm"),
    "compare, bh": lambda r: r.compare("a", n=[5], adjust="bh", alternative="greater"),
    "compare with a margin": lambda r: r.compare(n=[5, 10], adjust="holm", margin=0.2),
    "compare_area": lambda r: r.compare_area(adjust="holm"),
    "area": lambda r: r.area("ap"),
}


@pytest.mark.parametrize("by", ["query", None])
@pytest.mark.parametrize("name", OF_OPTIONS)
def test_options_of_the_session_are_those_of_frames(queries, name, by):
    """Adjusted tests by groups took level and alpha from the defaults."""
    if by is None and name == "compare_area":
        return
    others = ["domain"] if by else ["domain", "query"]
    roles = {"lower_is_better": "d", "label": "id", "by": by, "exclude": others}
    ddf = dd.from_pandas(queries, npartitions=5)
    for options in ({"level": 0.8, "alpha": 0.4}, {"details": True, "alpha": 0.3, "level": 0.99}):
        with rankeval_pd.set_options(**options):
            found, expected = (OF_OPTIONS[name](x.rankeval(**roles)) for x in (ddf, queries))
        if by is not None:
            found = found.astype({"query": expected["query"].dtype})
        exact = {"rtol": 1e-11} if name == "area" and by is None else {"check_exact": True}
        pd.testing.assert_frame_equal(found, expected, **exact)
        assert found.attrs == expected.attrs


@pytest.mark.full
@pytest.mark.parametrize("first", ["rankeval_pd", "dask.dataframe"])
def test_the_plain_import_gives_the_accessor_where_dask_is_there_already(first):
    code = (
        f"import {first}, sys, rankeval_pd\n"
        "print('dask' in sys.modules, 'rankeval_pd.dask' in sys.modules)\n"
        "import dask.dataframe as dd\n"
        "print(hasattr(dd.DataFrame, 'rankeval'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = first == "dask.dataframe"
    assert done.stdout.split() == [str(loaded)] * 3


@pytest.mark.parametrize("missing", ["last", "absent"])
def test_the_sets_that_thresholds_accept(df, stores, missing):
    roles = {**ROLES, "missing": missing}
    cuts = {"a": [1.0, 2.5, 99.0], "d": -1.0, "c": [3]}
    ddf = dd.read_parquet(stores[7]).rankeval(**roles)
    whole = df.rankeval(**roles)
    same(ddf.acceptance_precision(cuts, ci="wilson"), whole.acceptance_precision(cuts, ci="wilson"))
    same(ddf(measures="b").acceptance_precision(1.5), whole(measures="b").acceptance_precision(1.5))
    with pytest.raises(ValueError, match="needs all 2,000 candidates"):
        ddf.head(20).acceptance_precision(cuts)
    with pytest.raises(KeyError, match="nope"):
        ddf.acceptance_precision({"nope": 1})
