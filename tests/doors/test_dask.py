"""Dask DataFrames: every number is that of pandas, bit for bit, however the rows are spread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.stats import items as resamples
from tests.questions import LONG, QUESTIONS, RANKED, N

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

import rankeval_pd.dask  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning"),
    # pandas 2.2, where Dask puts an empty file beside others: it silences this, but not in threads
    pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning"),
]

Ask = Callable[[Any], Any]
LISTS: dict[str, Ask] = {
    **QUESTIONS,
    **RANKED,
    "summary": lambda r: r.summary([20, 64], baseline="b"),
}
ROLES = {"lower_is_better": "d", "exclude": "id"}
ENDS = ("tie_low", "tie_high", "p_tie_low", "p_tie_high")


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


def stored(df: pd.DataFrame, folder: Path, files: int) -> Path:
    """Write files of different lengths, some of them empty, each with an index from 0."""
    cuts = np.sort(np.random.default_rng(1).integers(0, len(df), files - 1))
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
def complete(df) -> pd.DataFrame:
    return df.fillna({"a": 0.0, "b": 0.0})


@pytest.fixture(scope="module")
def stores(df, tmp_path_factory) -> dict[int, Path]:
    return {
        files: stored(df, tmp_path_factory.mktemp(f"files{files}"), files) for files in (1, 7, 60)
    }


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Of a block that goes on behind a head, what both rankings share of it is estimated."""
    ends = [x for x in ENDS if x in expected]
    pd.testing.assert_frame_equal(found[ends], expected[ends], rtol=0.2, atol=0.03)
    exact = [x.drop(columns=ends) for x in (found, expected)]
    pd.testing.assert_frame_equal(*exact, check_exact=True)
    known = {name: x for name, x in expected.attrs.items() if name in found.attrs}
    assert found.attrs == known
    assert {*expected.attrs} - {*known} <= {"n_groups"}  # of all candidates


# ------------------------------------------------------------------------------- heads of rankings


@pytest.mark.full
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_a_dask_frame_are_those_of_its_frame(df, stores, name):
    roles = {**ROLES, "missing": "last"}
    found = LISTS[name](dd.read_parquet(stores[7]).rankeval(**roles))
    assert type(found) is pd.DataFrame
    same(found, LISTS[name](df.rankeval(**roles)))


@pytest.mark.parametrize("files", [1, 60, 7])
def test_the_numbers_do_not_depend_on_the_partitions(df, stores, files):
    roles = {**ROLES, "missing": "last"}
    head = dd.read_parquet(stores[files]).rankeval(**roles).head(LONG)
    for name in ("compare", "nbest_precision of blocks", "precision_band"):
        same(LISTS[name](head), LISTS[name](df.rankeval(**roles)))
    assert (head.n_candidates, head.n_positive) == (len(df), df["gold"].sum())


def test_the_numbers_do_not_depend_on_the_order_of_the_rows(df, tmp_path):
    roles = {**ROLES, "missing": "last", "label": "id"}
    shuffled = df.sample(frac=1.0, random_state=3)
    ddf = dd.read_parquet(stored(shuffled, tmp_path / "shuffled", 7))
    for name in ("nbest_precision of lists", "compare lists"):
        same(LISTS[name](ddf.rankeval(**roles)), LISTS[name](df.rankeval(**roles)))


def test_lists_that_end_before_the_head(df):
    roles = {**ROLES, "missing": "absent", "label": "id"}
    few = df.assign(a=df["a"].where(df["a"] > 1.8))  # fewer scores than the longest list
    assert 20 < few["a"].count() < LONG
    head = dd.from_pandas(few, npartitions=7).rankeval(**roles).head(LONG)
    for name in ("nbest_precision", "random_test"):
        same(LISTS[name](head), LISTS[name](few.rankeval(**roles)))


def test_a_key_orders_equal_scores(df, stores):
    roles = {**ROLES, "missing": "last", "key": "id"}
    head = dd.read_parquet(stores[7]).rankeval(**roles).head(LONG)
    for name in ("nbest_precision", "compare a pair"):
        same(LISTS[name](head), LISTS[name](df.rankeval(**roles)))


@pytest.mark.parametrize("label", ["column", "index", "rows", "columns", "level"])
def test_what_identifies_a_candidate(complete, label):
    whole = complete.assign(half=complete["id"].str[:2])
    if label in ("index", "level"):
        whole = whole.set_index("id")
    rows = whole.set_index("id") if label == "rows" else whole
    names = {"column": "id", "level": "id", "columns": ["half", "id"], "rows": None, "index": None}
    lazy = rankeval_pd.dask.ROWS if label == "rows" else names[label]
    ddf = dd.from_pandas(rows, npartitions=5, sort=False)
    found, expected = (
        data.rankeval(measures=["a", "b", "c"], label=given).nbest_precision(N)
        for data, given in ((ddf, lazy), (whole, names[label]))
    )
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_candidates_that_belong_together(df):
    roles = {**ROLES, "missing": "last", "label": "id", "groups": "doc", "measures": ["a", "b"]}
    together = df.assign(doc=np.arange(len(df)) // 3 % 700)
    head = dd.from_pandas(together, npartitions=7).rankeval(**roles).head(LONG)
    for target in ("region", "nbest"):
        for name in ("nbest_precision", "compare"):
            found, expected = (
                getattr(r, name)(n=N, target=target) for r in (head, together.rankeval(**roles))
            )
            assert found.attrs.pop("order") == '["a", "b"]'  # a head has the columns in use alone
            assert expected.attrs.pop("order") == '["a", "b", "c", "d"]'
            same(found, expected)
    with pytest.raises(ValueError, match="needs all 2,000 candidates"):
        head.precision_band(N)


def test_every_n_up_to_the_end_of_the_head(df, stores):
    roles = {**ROLES, "missing": "last"}
    whole = df.rankeval(**roles)
    head = dd.read_parquet(stores[7]).rankeval(**roles).head(LONG)
    same(head.nbest_precision(), whole.nbest_precision(range(1, LONG + 1)))
    same(head.compare("a", "b"), whole.compare("a", "b", range(1, LONG + 1)))
    expected = whole.crossovers([0.05, 0.001])
    expected = expected[expected["n_first"] < LONG].reset_index(drop=True)
    expected["n_last"] = expected["n_last"].clip(upper=LONG)
    same(head.crossovers([0.05, 0.001]), expected)


def test_lists_of_all_candidates(complete):
    few = complete.head(40)
    head = dd.from_pandas(few, npartitions=3).rankeval(**ROLES).head(40)
    for ask in (
        lambda r: r.nbest_precision(),
        lambda r: r.compare("a", "b", [3, 40]),
        lambda r: r.difference_region("a", "b", 10),
    ):
        found, expected = ask(head), ask(few.rankeval(**ROLES))
        same(found, expected[[*found]])  # a head has the columns in use alone


def test_gold_labels_of_other_kinds(complete):
    graded = complete.assign(gold=np.where(complete["gold"], "yes", "no"), grade=complete["c"] % 4)
    ddf = dd.from_pandas(graded, npartitions=5)
    for roles in ({"gold": "gold", "positive": "yes"}, {"gold": "grade", "min_grade": 2}):
        given = {**roles, "measures": ["a", "b"]}
        same(ddf.rankeval(**given).compare(n=N), graded.rankeval(**given).compare(n=N))


def test_gold_labels_that_became_text():
    mixed = pd.DataFrame({"a": range(40), "gold": pd.Series([True, False] * 20, dtype=object)})
    ddf = dd.from_pandas(mixed, npartitions=2)
    if ddf["gold"].dtype != object:
        with pytest.raises(ValueError, match="Dask converts objects to text"):
            ddf.rankeval.head(5)
    found = ddf.rankeval(gold="gold", positive="True").nbest_precision(5)
    same(found, mixed.rankeval(gold="gold").nbest_precision(5))


@pytest.mark.parametrize("rank", ["all alike", "rising", "falling"])
def test_the_bound_of_the_first_partitions(df, rank):
    """All in one block; the best in the last partitions; the best in the first ones."""
    scores = {"all alike": np.zeros(2_000), "rising": np.arange(2_000), "falling": -np.arange(2000)}
    few = pd.DataFrame({"a": scores[rank], "c": df["c"], "gold": df["gold"]})
    ddf = dd.from_pandas(few, npartitions=20)
    for name in ("compare", "nbest_precision of blocks"):
        same(*(LISTS[name](data.rankeval) for data in (ddf, few)))


@pytest.mark.parametrize("missing", ["last", "absent"])
def test_the_sets_that_thresholds_accept(df, stores, missing):
    roles = {**ROLES, "missing": missing}
    cuts = {"a": [1.0, 2.5, 99.0], "d": -1.0, "c": [3]}
    lazy, whole = (x.rankeval(**roles) for x in (dd.read_parquet(stores[7]), df))
    same(
        lazy.acceptance_precision(cuts, ci="wilson"), whole.acceptance_precision(cuts, ci="wilson")
    )
    same(*(r(measures="b").acceptance_precision(1.5) for r in (lazy, whole)))
    with pytest.raises(ValueError, match="needs all 2,000 candidates"):
        lazy.head(20).acceptance_precision(cuts)
    with pytest.raises(KeyError, match="nope"):
        lazy.acceptance_precision({"nope": 1})


@pytest.mark.full
def test_many_candidates(tmp_path):
    df = candidates(400_000, seed=5)
    ddf = dd.read_parquet(stored(df, tmp_path / "many", 12))
    n = [10, 1_000, 20_000]
    for missing, options in {"last": {"adjust": "max-t"}, "absent": {}}.items():
        roles = {**ROLES, "missing": missing}
        head, whole = ddf.rankeval(**roles).head(20_000), df.rankeval(**roles)
        same(head.nbest_precision(n, target="nbest"), whole.nbest_precision(n, target="nbest"))
        same(head.compare(n=n, **options), whole.compare(n=n, **options))


REFUSED: dict[str, Ask] = {
    "n=None needs all ranks in memory": lambda r: r.nbest_precision(),
    "'x'": lambda r: r.compare("a", "x", n=5),
    "n=5000 exceeds .* 2000": lambda r: r.nbest_precision(5_000),
    "a head contains one ranking": lambda r: r(by="id").head(5),
    "among the best candidates": lambda r: r(label="c").head(50),
    "contains text": lambda r: r(gold="id").head(50),
    "n=51 exceeds the longest list of this head, 50": lambda r: r.head(50).nbest_precision(51),
    "needs all 2,000 candidates": lambda r: r.head(50).roc(),
    "made with rng=0": lambda r: r.head(50).nbest_precision(5, rng=1),
    "made with key=None": lambda r: r.head(5).nbest_precision(5, key="id"),
    "only one measure": lambda r: r(measures="a").head(5).compare(n=5),
    "'c'": lambda r: r(measures=["a", "b"]).head(5).nbest_precision(5, measures="c"),
    "ranks of some candidates.*Compute": lambda r: r.head(50).difference_region("a", "b", 5),
    "choose_threshold requires all": lambda r: r(label="id").choose_threshold(recall=0.5),
    "roc requires all candidates": lambda r: r.roc(),
    "cells of two crossed factors": lambda r: r(groups=["c", "id"]).nbest_precision(5),
    r"no candidate has the value 'si'": lambda r: r(gold="id", positive=["w1", "si"]).head(5),
    "only average=None": lambda r: r.area(average="macro"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_rankings_that_are_refused_say_why(complete, message):
    with pytest.raises((ValueError, KeyError), match=message):
        REFUSED[message](dd.from_pandas(complete, npartitions=5).rankeval)


def test_missing_values_are_refused_as_in_pandas(df):
    ddf = dd.from_pandas(df, npartitions=5)
    for change in (lambda d: d, lambda d: d.fillna(0.0).assign(gold=d["gold"].where(d["a"] < 1))):
        messages = []
        for data in (change(df), change(ddf)):
            with pytest.raises(ValueError, match="missing") as caught:
                data.rankeval(measures=["a", "c"]).nbest_precision(5)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    for ask in (lambda r: r.head(50), lambda r: r.area()):
        with pytest.raises(ValueError, match="missing='drop'"):
            ask(ddf.rankeval(missing="drop"))


# ------------------------------------------------------------------------------------------ groups

OF_GROUPS: dict[str, Ask] = {
    "every n": lambda r: r.nbest_precision(),
    "shares": lambda r: r.nbest_precision([0.1, 0.5]),
    "compare with a margin": lambda r: r.compare(n=[5, 10], adjust="holm", margin=0.2),
    "compare by swaps": lambda r: r.compare(
        "a", "b", n=[5, 10], adjust="max-t", adjust_over="group", n_resamples=99
    ),
    "compare, bh": lambda r: r.compare("a", n=[5], adjust="bh", alternative="greater"),
    "compare_area": lambda r: r.compare_area(adjust="bh"),
    "compare a pair": lambda r: r.compare("b", "a", n=[5]),
}
OF_QUERIES = {"lower_is_better": "d", "label": "id", "by": "query", "exclude": "domain"}


@pytest.fixture(scope="module")
def queries(complete) -> pd.DataFrame:
    """Groups of 12 to 59 candidates, one after the other."""
    sizes = np.random.default_rng(7).choice([12, 31, 59], 20)
    number = np.repeat(np.arange(20), sizes)
    return complete.head(number.size).assign(
        query=[f"q{i:03d}" for i in number], domain=np.where(number % 3, "news", "law")
    )


@pytest.mark.parametrize("name", OF_GROUPS)
def test_every_group_is_answered_as_a_whole(queries, name):
    """Options of the session reach the workers."""
    rows = queries.sample(frac=1.0, random_state=0).reset_index(drop=True)
    ddf = dd.from_pandas(rows, npartitions=5)
    with rankeval_pd.set_options(level=0.8, alpha=0.4):
        found, expected = (OF_GROUPS[name](x.rankeval(**OF_QUERIES)) for x in (ddf, queries))
    same(found.astype({"query": expected["query"].dtype}), expected)


def test_groups_of_several_columns(queries, tmp_path):
    roles = {"by": ["domain", "query"], "measures": ["a", "b"]}
    ddf = dd.read_parquet(stored(queries, tmp_path / "groups", 7))
    found = ddf.rankeval(**roles).compare(n=[5])  # labels: the numbers of the rows
    expected = queries.rankeval(**roles).compare(n=[5])
    same(found.astype({name: expected[name].dtype for name in ("domain", "query")}), expected)


GROUPS_REFUSED: dict[str, Ask] = {
    "adjust_over='group'": lambda r: r.compare("a", "b", n=[5], adjust="max-t"),
    "combine= cannot stand beside by=": lambda r: r.compare("a", "b", n=[5], combine=True),
    "average= cannot stand beside by=": lambda r: r.nbest_precision([5], average="macro"),
    "n=1000 exceeds": lambda r: r.nbest_precision([5, 1_000]),
    "'nothing'": lambda r: r(by="nothing").nbest_precision(5),
    "one ranking": lambda r: r.head(5),
}


@pytest.mark.parametrize("message", GROUPS_REFUSED)
def test_groups_that_are_refused_say_why(queries, message):
    with pytest.raises((ValueError, KeyError), match=message):
        GROUPS_REFUSED[message](dd.from_pandas(queries, npartitions=5).rankeval(**OF_QUERIES))


def test_a_missing_group_is_refused(queries):
    missing = queries.assign(query=queries["query"].where(queries["a"] < 2.0))
    with pytest.raises(ValueError, match="by='query' has"):
        dd.from_pandas(missing, npartitions=5).rankeval(**OF_QUERIES).area()


# -------------------------------------------------------------------------- areas of whole rankings


@pytest.mark.parametrize(
    ("missing", "ci"), [("raise", "delong"), ("absent", None), ("last", "newcombe")]
)
def test_the_roc_area_of_all_candidates(df, stores, missing, ci):
    roles = {**ROLES, "missing": missing, "label": "id"}
    if missing == "raise":
        roles["measures"] = ["c", "d"]
    found = dd.read_parquet(stores[7]).rankeval(**roles).area(ci=ci, level=0.9)
    expected = df.rankeval(**roles).area(ci=ci, level=0.9)
    pd.testing.assert_series_equal(found["area"], expected["area"], check_exact=True)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-11)
    assert found.attrs == expected.attrs


@pytest.mark.parametrize(("missing", "files"), [("last", (1, 7, 60)), ("absent", (7,))])
def test_the_average_precision_of_all_candidates(df, stores, missing, files):
    roles = {**ROLES, "missing": missing, "label": "id"}
    expected = df.rankeval(**roles).area("ap", level=0.9)
    lazy = [dd.read_parquet(stores[number]).rankeval(**roles) for number in files]
    tables = [accessor.area("ap", level=0.9) for accessor in lazy]
    pd.testing.assert_frame_equal(tables[0], expected, rtol=1e-11)
    assert tables[0].attrs == expected.attrs
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other, tables[0], check_exact=True)


@pytest.mark.parametrize("gold", [[0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1], [0] * 4, [1, 1, 0, 0]])
def test_the_areas_of_few_candidates(gold):
    few = pd.DataFrame({"a": [4, 3, 2, 1], "b": [1, 1, 1, 1], "gold": gold})
    for kind in ("roc", "ap"):
        found = dd.from_pandas(few, npartitions=2).rankeval.area(kind)
        pd.testing.assert_frame_equal(found, few.rankeval.area(kind), rtol=1e-11)


# ----------------------------------------------------------------------------- systems over items

ITEMS = 150
DRAWS = {"n_resamples": 1_100}  # two blocks of resamples


def smoothed(sums: np.ndarray) -> np.ndarray:
    """Return a metric that is none of ours."""
    return sums[..., 0] / (sums[..., 1] + 1.0)


@functools.cache
def items(kind: str) -> pd.DataFrame:
    """Real scores, also growing ones; right and wrong; sevenths, on a lattice; counts of F1."""
    rng = np.random.default_rng(0)
    if kind == "f1":
        right = rng.integers(0, 4, (ITEMS, 3))
        more = [right + rng.integers(0, 3, right.shape) for _ in range(2)]
        values = np.stack([right, *more], axis=-1).reshape(ITEMS, -1)
        columns = pd.MultiIndex.from_product([list("abc"), ["correct", "guess", "gold"]])
        return pd.DataFrame(values, columns=columns)
    values = {
        "real": lambda: rng.normal([0.0, 0.1, 0.2, 0.2], size=(ITEMS, 4)),
        "right": lambda: (rng.random((ITEMS, 4)) < [0.5, 0.55, 0.6, 0.6]).astype("int8"),
        # the largest are in the last block
        "growing": lambda: rng.normal(size=(ITEMS, 4)) * np.logspace(0, 9, ITEMS)[:, np.newaxis],
        "sevenths": lambda: rng.integers(0, 50, (ITEMS, 4)) / 7,
    }
    return pd.DataFrame(values[kind](), columns=list("abcd"))


KIN = {"a": "x", "b": "x", "c": "y", "d": "y"}
OF_ITEMS: dict[str, tuple[str, Ask]] = {
    "signs together": ("real", lambda r: r.paired_bootstrap(**DRAWS, adjust="max-t")),
    "strict": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="strict", ci="percentile")),
    "draws and signs": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="zero", ci="wild")),
    "a pair": ("real", lambda r: r.paired_bootstrap("a", "c", **DRAWS, ci="basic")),
    "families": (
        "real",
        lambda r: r.paired_permutation(**DRAWS, families=KIN),
    ),
    "sums": ("real", lambda r: r(metric="sum").paired_bootstrap(**DRAWS, rng=3)),
    "errors": ("real", lambda r: r(higher_is_better=False).system_ranks(**DRAWS)),
    "exact draws": ("right", lambda r: r.paired_bootstrap(event="recentred")),
    "ranks by draws": ("right", lambda r: r.system_ranks(**DRAWS)),
    "growing": ("growing", lambda r: r.paired_bootstrap(**DRAWS, event="recentred")),
    "off a lattice": ("sevenths", lambda r: r.paired_bootstrap(**DRAWS, method="monte-carlo")),
    "f1 swapped": ("f1", lambda r: r(metric="f1").paired_permutation(**DRAWS)),
    "a function": ("f1", lambda r: r(metric=smoothed).paired_bootstrap(**DRAWS)),
    "signs": ("real", lambda r: r.paired_bootstrap(**DRAWS)),
    "draws": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="recentred", adjust="holm")),
    "exact": ("right", lambda r: r.paired_bootstrap()),
    "a lattice": ("sevenths", lambda r: r.paired_permutation(**DRAWS, adjust="max-t")),
    "f1": ("f1", lambda r: r(metric="f1").paired_bootstrap(**DRAWS)),
    "f1 ranked": ("f1", lambda r: r(metric="f1").system_ranks(**DRAWS, adjust="holm")),
}


@functools.cache
def expected(name: str) -> pd.DataFrame:
    kind, ask = OF_ITEMS[name]
    return ask(items(kind).rankeval)


def same_of_items(name: str, **options: Any) -> None:
    """Items in the order of their labels, or in any other, have the numbers of pandas."""
    kind, ask = OF_ITEMS[name]
    rows = items(kind) if options.get("sort", True) else items(kind).sample(frac=1, random_state=1)
    with dask.config.set(scheduler="synchronous"):
        same(ask(dd.from_pandas(rows, **options).rankeval), expected(name))


@pytest.mark.full
@pytest.mark.parametrize("name", OF_ITEMS)
def test_tests_of_items_are_those_of_pandas(name):
    same_of_items(name, npartitions=1)
    same_of_items(name, npartitions=7)
    same_of_items(name, npartitions=4, sort=False)


def test_main_tests_of_items_are_those_of_pandas():
    same_of_items("draws", npartitions=3, sort=False)
    same_of_items("f1", npartitions=3)


def test_counts_of_many_items_are_drawn_step_by_step(monkeypatch):
    """More items than two bytes tell apart, a few resamples at a time."""
    n = 66_000
    df = pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2)), columns=["x", "y"])
    wanted = df.rankeval.paired_bootstrap(n_resamples=7, event="recentred")
    monkeypatch.setattr(resamples, "_DRAWN_BYTES", 2 * n)
    ddf = dd.from_pandas(df, npartitions=3)
    same(ddf.rankeval.paired_bootstrap(n_resamples=7, event="recentred"), wanted)


def test_items_of_files_that_begin_their_index_anew(tmp_path):
    """The rows are numbered over all files."""
    for number in range(4):
        part = items("real").iloc[40 * number : 40 * (number + 1)]
        part.reset_index(drop=True).to_parquet(tmp_path / f"part{number}.parquet")
    ddf = dd.read_parquet(tmp_path)
    same(ddf.rankeval.paired_bootstrap(**DRAWS), expected("signs"))


def test_text_labels_of_items():
    df = items("real").set_axis([f"doc {k % 7}, item {k}" for k in range(ITEMS)])
    ddf = dd.from_pandas(df, npartitions=3, sort=False)
    same(ddf.rankeval.system_ranks(**DRAWS), df.rankeval.system_ranks(**DRAWS))


@pytest.mark.parametrize("n", [2, 64])
def test_all_signs_of_few_items_are_enumerated(n):
    df = items("real")[:n]
    found = dd.from_pandas(df, npartitions=2).rankeval.paired_bootstrap(**DRAWS)
    same(found, df.rankeval.paired_bootstrap(**DRAWS))


def test_a_column_that_is_no_system():
    df = items("real").assign(segment_id=np.arange(ITEMS), text="said")
    ddf = dd.from_pandas(df, npartitions=3)
    with pytest.warns(rankeval_pd.RankevalWarning, match="segment_id"):
        ddf.rankeval.paired_bootstrap("a", "b", n_resamples=9)
    same(ddf.rankeval(exclude="segment_id").paired_bootstrap(**DRAWS), expected("signs"))


def test_a_system_without_a_guess_has_no_precision():
    df = items("f1").copy()
    df[[("b", "correct"), ("b", "guess")]] = 0
    ask = functools.partial(rankeval_pd.system_ranks, metric="precision", **DRAWS)
    same(ask(dd.from_pandas(df, npartitions=3)), ask(df))


ITEMS_REFUSED: dict[str, dict[str, Any]] = {
    "Call this method for each domain": {"by": "d"},
    "First sum each cluster": {"groups": "d"},
    "Omit strata": {"strata": "d"},
    "Average each system over its seeds": {"seeds": "d"},
    r"ddf.dropna\(\)": {"missing": "ratio"},
    "max-t draws random signs": {"event": "recentred", "adjust": "max-t"},
    "baseline": {"a": "a", "baseline": "b"},
    "'z'": {"a": "z"},
    "two-level columns": {"metric": "f1"},
}


@pytest.mark.parametrize("message", ITEMS_REFUSED)
def test_tests_of_items_that_are_refused_say_why(message):
    ddf = dd.from_pandas(items("real"), npartitions=3)
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        ddf.rankeval.paired_bootstrap(n_resamples=9, **ITEMS_REFUSED[message])


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.inf, "infinite"), (1e200, "overflows"), (np.nan, "has no score for 1")],
)
def test_incomplete_items_are_refused_as_in_pandas(value, message):
    df = items("real").copy()
    df.loc[70, "c"] = value
    for data in (df, dd.from_pandas(df, npartitions=3)):
        with pytest.raises(ValueError, match=message):
            data.rankeval.paired_bootstrap(n_resamples=9)
