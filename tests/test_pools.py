"""What a random list is drawn from: what a run retrieved, all candidates, or a collection."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import RankevalWarning

ROLES = {
    "gold": "grade", "min_grade": 1, "by": "query", "key": "document", "missing": "absent",
}  # fmt: skip


def runs(seed, depths, queries=4, documents=9):
    """Return judged documents, and runs that retrieve as many of them as ``depths`` says."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(q, f"d{d}") for q in range(queries) for d in range(documents)],
        columns=["query", "document"],
    )
    rows["grade"] = (rng.random(len(rows)) < 0.4).astype(int)
    rows.loc[rows["document"] == "d0", "grade"] = 1
    for name, depth in depths.items():
        score = np.full((queries, documents), np.nan)
        for q in range(queries):
            chosen = rng.permutation(documents)[: max(1, depth - q % 2)]
            score[q, chosen] = rng.random(chosen.size)
        rows[name] = score.ravel()
    return rows


def enumerated(frame, run, n):
    """Return P(tp of all queries >= the run's) over all orders of what it retrieved."""
    law, observed = {0: Fraction(1)}, 0
    for _, rows in frame.groupby("query"):
        ranked = rows[rows[run].notna()].sort_values(run, ascending=False)
        observed += int(ranked["grade"].head(n).sum())
        grades = ranked["grade"].tolist()
        lists = [sum(c) for c in itertools.combinations(grades, min(n, len(grades)))]
        fresh = {}
        for (tp, p), more in itertools.product(law.items(), lists):
            fresh[tp + more] = fresh.get(tp + more, 0) + p / len(lists)
        law = fresh
    return float(sum(p for tp, p in law.items() if tp >= observed))


def asked(frame, n, **options):
    return frame.rankeval(**ROLES).random_test(n, combine=True, details=True, **options)


@pytest.mark.parametrize("seed", range(100))
def test_orders_of_what_was_retrieved_are_enumerated(seed):
    """Two runs in each of 100 collections, whose depths differ."""
    deep, other = np.random.default_rng(seed).permutation(np.arange(4, 10))[:2]
    frame = runs(seed, {"deep": int(deep), "other": int(other)})
    for n in (1, 2, 3):
        found = asked(frame, n).set_index("measure")
        for run in ("deep", "other"):
            assert found.loc[run, "p_value"] == pytest.approx(enumerated(frame, run, n), rel=1e-10)


@pytest.mark.parametrize("seed", range(200))
def test_who_else_is_in_the_frame_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    depths = {"a": int(rng.integers(4, 9)), "b": int(rng.integers(3, 9)), "c": 9}
    every = runs(seed, depths, queries=int(rng.integers(1, 6)))
    alone = every[every["a"].notna() | (every["grade"] > 0)][["query", "document", "grade", "a"]]
    n = int(rng.integers(1, 3))
    for pool in (None, 5000):
        together = asked(every, n, pool=pool).set_index("measure").loc["a"]
        itself = asked(alone, n, pool=pool).iloc[0]
        for column in ("tp", "expected", "p_value", "p_mid", "p_strict", "log10_p"):
            assert itself[column] == pytest.approx(together[column], rel=1e-12), column


@pytest.mark.parametrize("seed", range(100))
def test_large_pools_equal_a_convolution(seed):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"query": np.repeat(np.arange(12), 400), "document": [*range(400)] * 12})
    rows["grade"] = (rng.random(len(rows)) < 0.1).astype(int)
    depth, gain = rng.uniform(0.3, 0.9), rng.uniform(0.0, 1.0)
    rows["run"] = np.where(
        rng.random(len(rows)) < depth, rng.random(len(rows)) + gain * rows["grade"], np.nan
    )
    found = asked(rows, 20).iloc[0]
    law = np.array([1.0])
    for _, group in rows[rows["run"].notna()].groupby("query"):
        size, positive = len(group), int(group["grade"].sum())
        ways = [
            math.comb(positive, k) * math.comb(size - positive, 20 - k) / math.comb(size, 20)
            for k in range(21)
        ]
        law = np.convolve(law, ways)
    assert found["p_value"] == pytest.approx(law[int(found["tp"]) :].sum(), rel=1e-10)


def test_a_list_of_all_that_was_retrieved_says_nothing():
    """Ten documents for each query, 4.1 of them relevant in whatever order: p was 1e-134."""
    rng = np.random.default_rng(0)
    rows = []
    for query in range(50):
        for document in range(500):
            retrieved = document < 10
            grade = int(rng.random() < (0.41 if retrieved else 0.01))
            rows.append((query, document, grade, rng.random() if retrieved else np.nan))
    frame = pd.DataFrame(rows, columns=["query", "document", "grade", "run"])
    accessor = frame.rankeval(**ROLES)
    with pytest.warns(RankevalWarning, match="100% of the lists at n = 10 contain every retrieved"):
        table = accessor.random_test(10, combine=True)
    assert table["p_value"].tolist() == [1.0]
    assert table["lift"].tolist() == [pytest.approx(1.0)]
    assert (
        "The chance level is the value for a random order of the candidates that each measure"
        " retrieved." in rankeval_pd.in_words(table)
    )
    of_all = accessor.random_test(10, combine=True, pool="all", details=True)
    assert of_all["log10_p"].iloc[0] < -100
    assert of_all["n_pool"].iloc[0] == 25_000
    of_web = accessor.random_test(10, combine=True, pool=10**6)
    assert "a collection of 1,000,000 candidates" in rankeval_pd.in_words(of_web)
    with pytest.warns(RankevalWarning, match="contain every retrieved"):
        single = accessor.random_test([5, 10], adjust="envelope", details=True)
    assert (single.loc[single["n"] == 10, ["p_value", "p_adjusted"]] == 1.0).all(axis=None)
    assert single.attrs["pool"] == "retrieved"


def test_bounds_bands_and_envelopes_of_each_run():
    frame = runs(3, {"a": 8, "b": 5}, queries=1)
    accessor = frame.rankeval(**{**ROLES, "by": None, "exclude": "query"})
    bound = accessor.random_bound(0.3, [2, 3])
    assert [*accessor.random_bound(0.3, [2, 3], details=False)] == [
        "measure", "p", "n", "expected", "critical", "discrete", "interpolated", "parametric"
    ]  # fmt: skip
    for run, rows in bound.groupby("measure"):
        known = frame.loc[frame[run].notna(), ["document", "grade", run]]
        one = known.rankeval(gold="grade", min_grade=1, measures=run).random_bound(0.3, [2, 3])
        pd.testing.assert_frame_equal(
            rows.drop(columns="measure").reset_index(drop=True), one, check_dtype=False
        )
        alone = known.rankeval(gold="grade", min_grade=1, measures=run, key="document")
        for ask, options in (
            ("random_envelope", {"alpha": 0.3, "n": [2, 3]}),
            ("random_band", {"space": "roc", "p": 0.3, "n": [2, 3]}),
            ("crossovers", {"p": 0.5, "contiguous": 1}),
        ):
            mine = getattr(accessor, ask)(**options)
            mine = mine[mine["measure"] == run].reset_index(drop=True)
            its = getattr(alone, ask)(**options)
            pd.testing.assert_frame_equal(
                mine[[*its.columns]], its, check_dtype=False, obj=f"{ask} of {run}"
            )
    of_all = accessor.random_bound(0.3, [2, 3], pool="all")
    assert "measure" not in of_all
    assert accessor.random_bound(0.3, 2, pool=900)["expected"].iloc[0] == pytest.approx(
        2 * frame["grade"].sum() / 900
    )


def test_the_lift_of_a_run_has_the_chance_of_its_own_pool():
    frame = runs(4, {"a": 8, "b": 5}, queries=1)
    accessor = frame.rankeval(**{**ROLES, "by": None, "exclude": "query"})
    table = accessor.nbest_precision(2).set_index("measure")
    tested = accessor.random_test(2).set_index("measure")
    assert table["lift"].to_dict() == pytest.approx(tested["lift"].to_dict())
    assert accessor.nbest_recall(2).set_index("measure")["lift"].to_dict() == pytest.approx(
        tested["lift"].to_dict()
    )
    with pytest.raises(ValueError, match="of='lift' with missing='absent'"):
        accessor.compare("a", "b", 2, of="lift")


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ("mine", "pool='mine': pass 'retrieved'"),
        (3, "pool=3 is smaller than the number of candidates"),
        (2**53, "below 2\\*\\*53"),
    ],
)
def test_pools_that_are_none(pool, message):
    with pytest.raises(ValueError, match=message):
        runs(0, {"a": 5}).rankeval(**ROLES).random_test(2, pool=pool)


def test_what_was_retrieved_is_known_where_lists_end():
    frame = runs(0, {"a": 9}).fillna(0.0)
    with pytest.raises(ValueError, match="Pass missing='absent'"):
        frame.rankeval(**{**ROLES, "missing": "raise"}).random_bound(0.05, 2, pool="retrieved")


def test_heads_and_lazy_data_draw_from_the_same_pools():
    pytest.importorskip("dask.dataframe")
    import dask.dataframe as dd

    import rankeval_pd.dask  # noqa: F401

    frame = runs(7, {"a": 8, "b": 6}, queries=1, documents=9)
    roles = {**ROLES, "by": None, "exclude": "query"}
    lazy = dd.from_pandas(frame, npartitions=3).rankeval(**roles)
    for ask, given in (("random_test", {"n": [2, 3]}), ("random_bound", {"p": 0.2, "n": [2, 3]})):
        here, there = (getattr(x, ask)(**given) for x in (frame.rankeval(**roles), lazy))
        pd.testing.assert_frame_equal(there, here, check_dtype=False)


# Runs as candidates: the conventions of search hold for every ranking method


def search(seed, queries=12, documents=20):
    """Return judged and unjudged documents, and runs with many equal scores."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(q, f"d{d:02}") for q in range(queries) for d in range(documents)],
        columns=["query", "document"],
    )
    rows["grade"] = np.where(rng.random(len(rows)) < 0.7, rng.integers(0, 3, len(rows)), np.nan)
    for run in ("a", "b"):
        score = rng.integers(0, 6, len(rows)) + 1e-12 * rng.random(len(rows))
        rows[run] = np.where(rng.random(len(rows)) < 0.8, score, np.nan)
    return rows


@pytest.mark.parametrize("unjudged", ["negative", "skip"])
@pytest.mark.parametrize("seed", range(5))
def test_lists_of_runs_are_those_of_trec_eval(seed, unjudged):
    frame = search(seed)
    lists = frame.rankeval(**ROLES, unjudged=unjudged)
    assert lists.nbest_precision(5).attrs["ties"] == "trec"
    wide = frame.rankeval.per_query("P@5", wide=True, unjudged=unjudged)
    found = lists.nbest_precision(5).set_index(["query", "measure"])["precision"]
    found = found.to_xarray().to_pandas()
    pd.testing.assert_frame_equal(found, wide, check_names=False)
    data = frame.set_index(["query", "document"]).to_xarray()
    data["name"] = ("document", data["document"].to_numpy())
    same = data.rename(document="candidate").rankeval(
        gold="grade", min_grade=1, key="name", missing="absent", ties="trec", unjudged=unjudged
    )
    precision = same.nbest_precision(5)["precision"].transpose("query", "measure", "n")[..., 0]
    np.testing.assert_allclose(precision, wide[["a", "b"]])


def test_the_recipe_of_the_overview_runs_as_printed():
    frame = search(1)
    text = repr(frame.rankeval)
    recipe = text[text.index("df.rankeval(gold") : text.index("): nbest_precision") + 1]
    assert "unjudged='negative'" in recipe
    accessor = eval(" ".join(recipe.split()), {"df": frame})
    for ask in ("nbest_precision", "compare", "random_test"):
        assert len(getattr(accessor, ask)(n=5))
    assert "as in trec_eval" in repr(accessor)


def test_ties_by_names_need_names():
    with pytest.raises(ValueError, match="Pass the document column as key="):
        search(1).rankeval(gold="grade", min_grade=1, ties="trec", unjudged="skip").area()
    with pytest.raises(ValueError, match=r"unjudged='negative' \(a lower bound for precision\)"):
        search(1).rankeval(**ROLES).nbest_precision(5)
