"""Long frames, a row for each score: the answers of the frame with a column for each system."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd import RankevalWarning

RNG = np.random.default_rng(8)
SYSTEMS = ["large", "base", "small"]
TASKS = np.repeat(["qa", "nli"], [30, 20])


@pytest.fixture
def wide() -> pd.DataFrame:
    right = pd.DataFrame(RNG.random((50, 3)) < [0.8, 0.7, 0.5], columns=SYSTEMS)
    return right.assign(doc=np.arange(50), task=TASKS, passage=np.arange(50) // 5)


def long_of(wide: pd.DataFrame, beside: list[str]) -> pd.DataFrame:
    melted = wide.melt(id_vars=beside, var_name="model", value_name="acc")
    return melted.sample(frac=1, random_state=2).sort_values(
        "model", key=lambda x: x.map(SYSTEMS.index)
    )


LONG = {"system": "model", "score": "acc", "item": "doc"}


@pytest.mark.parametrize(
    "ask",
    [
        lambda x, **k: x.rankeval(**k).paired_bootstrap(),
        lambda x, **k: x.rankeval.paired_permutation(**k),
        lambda x, **k: x.rankeval(**k).system_ranks(n_resamples=99, adjust=None),
        lambda x, **k: rankeval_pd.summary(x, **{"metric": "mean", **k}),
        lambda x, **k: rankeval_pd.summary(data=x, baseline="base", **{"metric": "mean", **k}),
        lambda x, **k: x.rankeval.gain_by_size([10, 20], **k),
        lambda x, **k: x.rankeval.population_calibration(20, n_test_sets=2, **k),
    ],
)  # fmt: skip
@pytest.mark.parametrize("roles", [{}, {"strata": "task"}, {"groups": "passage"}, {"by": "task"}])
def test_items_as_those_of_columns(wide, ask, roles):
    columns = wide.set_index("doc").drop(columns={"task", "passage"} - set(roles.values()))
    long = long_of(wide, ["doc", "task", "passage"])
    try:
        wanted = ask(columns, **roles)
    except ValueError as error:  # by and strata do not hold for all
        with pytest.raises(ValueError, match=re.escape(str(error))):
            ask(long, **LONG, **roles)
        return
    pd.testing.assert_frame_equal(ask(long, **LONG, **roles), wanted)


@pytest.mark.filterwarnings("ignore:seeds. two training runs:rankeval_pd.RankevalWarning")
def test_seeds(wide):
    parts = {s: pd.DataFrame(RNG.random((50, 3)) < 0.6, columns=SYSTEMS) for s in range(3)}
    trained = pd.concat(parts, axis=1, names=["seed", "system"]).swaplevel(axis=1)
    wanted = trained.rankeval(metric="accuracy").paired_bootstrap(seeds="seed")
    long = pd.concat(
        [x.assign(doc=range(50), seed=s).melt(["doc", "seed"], var_name="model", value_name="acc")
         for s, x in parts.items()]
    )  # fmt: skip
    found = long.rankeval(**LONG, metric="accuracy", seeds="seed").paired_bootstrap()
    pd.testing.assert_frame_equal(found, wanted)
    with pytest.raises(ValueError, match=r"'doc', 'model' is not unique.*rows: 300.*seeds="):
        long.rankeval(**LONG).paired_bootstrap()
    fewer = long[(long["seed"] < 2) | (long["model"] != "small")]  # a system with two seeds
    pairs = fewer.rankeval(**LONG, metric="accuracy", seeds="seed").paired_bootstrap()
    kept = trained.drop(columns=("small", 2)).rankeval(metric="accuracy")
    pd.testing.assert_frame_equal(pairs, kept.paired_bootstrap(seeds="seed"))


def test_statistics_of_a_metric():
    counts = {
        (s, x): RNG.integers(0, 4, 30) for s in ("new", "old") for x in ("correct", "guess", "gold")
    }
    table = pd.DataFrame(counts).rename_axis(columns=["system", "statistic"])
    table = table + 1
    table = table.T.groupby(level=[0, 1]).sum().T
    for s in ("new", "old"):
        table[s, "guess"] += table[s, "correct"]
        table[s, "gold"] = 9
    wanted = table.rankeval(metric="f1").paired_bootstrap(n_resamples=99)
    long = (
        pd.concat({s: table[s] for s in ("new", "old")}, names=["system"])
        .swaplevel()
        .rename_axis(["text", "system"])
        .reset_index()
    )
    found = long.rankeval(
        system="system", score=["correct", "guess", "gold"], item="text", metric="f1"
    ).paired_bootstrap(n_resamples=99)
    pd.testing.assert_frame_equal(found, wanted)


def test_items_named_by_the_index_or_by_several_columns(wide):
    long = long_of(wide, ["doc", "task", "passage"])
    roles = {"system": "model", "score": "acc"}
    wanted = long.rankeval(**LONG).paired_bootstrap()
    indexed = long.set_index("doc").rankeval(**roles).paired_bootstrap()
    pd.testing.assert_frame_equal(indexed, wanted)
    numbered = long.assign(number=long["doc"] - 30 * (long["task"] == "nli"))  # anew in each task
    several = numbered.rankeval(**roles, item=["task", "number"]).paired_bootstrap()
    pd.testing.assert_frame_equal(several[["system_a", "gain"]], wanted[["system_a", "gain"]])
    strata = numbered.rankeval(**roles, item="number", strata="task").paired_bootstrap()
    told = long.rankeval(
        **LONG, strata="task"
    ).paired_bootstrap()  # draws in another order of items
    pd.testing.assert_frame_equal(strata[["system_a", "gain"]], told[["system_a", "gain"]])


def test_what_is_understood(wide):
    long = long_of(wide, ["doc", "task", "passage"])
    said = repr(long.rankeval(**LONG, metric="accuracy", strata="task"))
    assert "'large', 'base', 'small'" in said
    assert "50" in said
    assert "not yet clear" in repr(long.rankeval(system="model"))
    assert "system_ranks" in dir(long.rankeval(**LONG))
    ax = long.rankeval(**LONG).plot.system_ranks()
    assert [x.get_text() for x in ax.get_yticklabels()] != []


def test_holes_and_repeats(wide):
    long = long_of(wide, ["doc", "task", "passage"])
    fewer = long[~((long["model"] == "base") & long["doc"].isin([3, 7]))]
    with pytest.raises(
        ValueError, match=r"'base' has no score for 2 of 50 items.*example 3\..*ratio"
    ):
        fewer.rankeval(**LONG).paired_bootstrap()
    holed = wide[SYSTEMS].astype(float)
    holed.loc[[3, 7], "base"] = np.nan
    wanted = holed.rankeval(missing="ratio", metric="mean").paired_bootstrap(n_resamples=99)
    found = fewer.rankeval(**LONG, missing="ratio").paired_bootstrap(n_resamples=99)
    pd.testing.assert_frame_equal(found, wanted)
    twice = pd.concat([long, long.head(1)])
    with pytest.raises(ValueError, match=r"'doc', 'model' is not unique.*rows: 1.*groupby"):
        twice.rankeval(**LONG).paired_bootstrap()


@pytest.mark.parametrize(
    ("roles", "error", "match"),
    [
        ({"system": "model"}, ValueError, r"system='model': a long frame.*score='...'"),
        ({"score": "acc"}, ValueError, r"score='acc': a long frame"),
        ({**LONG, "measure": "model"}, ValueError, r"a long frame with one row per score"),
        ({**LONG, "system": "modle"}, KeyError, r"Did you mean 'model'"),
        ({**LONG, "item": "dok"}, KeyError, r"item: no column 'dok'"),
        ({**LONG, "item": "model"}, ValueError, r"no column identifies the items"),
        ({"system": "model", "score": "acc"}, ValueError, r"item=None: no column identifies"),
        ({**LONG, "score": "task"}, ValueError, r"score='task' is of type"),
        ({**LONG, "groups": "pasage"}, KeyError, r"groups: no column 'pasage'"),
        ({**LONG, "by": np.zeros(150)}, ValueError, r"by contains values"),
    ],
)  # fmt: skip
def test_wrong_roles(wide, roles, error, match):
    with pytest.raises(error, match=match):
        long_of(wide, ["doc", "task", "passage"]).rankeval(**roles).paired_bootstrap()


def test_wrong_data(wide):
    long = long_of(wide, ["doc", "task", "passage"])
    with pytest.raises(TypeError, match=r"data is empty"):
        long.head(0).rankeval(**LONG).paired_bootstrap()
    with pytest.raises(TypeError, match=r"data is a Dataset"):
        rankeval_pd.paired_bootstrap(long.to_xarray(), **LONG)
    for name in ("doc", "model"):
        holed = long.astype({"doc": float}).assign(**{name: long[name].where(long["doc"] != 4)})
        with pytest.raises(ValueError, match=rf"'{name}' has 3 missing values"):
            holed.rankeval(**LONG).paired_bootstrap()
    with pytest.raises(ValueError, match=r"'system'.*system='system', score="):
        long.rename(columns={"model": "system"})[["system", "acc"]].rankeval.paired_bootstrap()
    with pytest.raises(ValueError, match=r"one system, 'acc'.*if a column names the systems"):
        long[["model", "acc"]].rankeval.paired_bootstrap()


def test_long_frames_of_dask_are_refused(wide):
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    ddf = dd.from_pandas(long_of(wide, ["doc", "task", "passage"]), npartitions=2)
    with pytest.raises(ValueError, match=r"in memory"):
        ddf.rankeval(**LONG).paired_bootstrap()
    with pytest.raises(ValueError, match=r"in memory"):
        ddf.rankeval(measure="model", score="acc", item="doc", gold="passage").nbest_precision(3)


# -------------------------------------------------------------------------------- rankings and runs


@given(st.integers(0, 2**32 - 1))
def test_rankings_as_those_of_columns(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (30, 2)) / 2.0
    wide = pd.DataFrame(scores, columns=["G2", "t"]).assign(
        gold=rng.permutation(np.arange(30) < 12), pair=[f"w{k}" for k in range(30)], size=7.0
    )
    long = wide.melt(["pair", "gold", "size"], var_name="by", value_name="score")
    long = long.sample(frac=1, random_state=seed % 1000)
    roles = {"measure": "by", "score": "score", "item": "pair"}
    wanted = wide.set_index("pair").rankeval(measures=["G2", "t"]).nbest_precision([5, 20])
    found = long.rankeval(**roles).nbest_precision([5, 20]).sort_values("measure", kind="stable")
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted)


def test_rankings_in_groups_and_their_holes():
    frame = rankeval_pd.datasets.simulate_candidates(200).assign(
        part=np.arange(200) % 2, word=np.arange(200) // 2
    )
    names = [x for x in frame if x not in ("gold", "part", "word")]
    long = frame.melt(["gold", "part", "word"], var_name="m", value_name="s")
    roles = {"measure": "m", "score": "s", "item": "word", "by": "part"}
    wanted = frame.set_index("word").rankeval(by="part", measures=names).compare(n=[20])
    pd.testing.assert_frame_equal(long.rankeval(**roles).compare(n=[20]), wanted)
    with pytest.raises(ValueError, match=r"missing='raise'"):
        long.iloc[3:].rankeval(**roles).compare(n=[20])
    long.iloc[3:].rankeval(**roles, missing="absent").compare(n=[20])
    torn = long.assign(gold=long["gold"].where(long.index != 0, ~long["gold"]))
    with pytest.raises(ValueError, match=r"'gold' has several values for one candidate"):
        torn.rankeval(**roles).compare(n=[20])
    with pytest.raises(ValueError, match=r"is not unique.*by=\.\.\."):
        long.rankeval(measure="m", score="s", item="word").compare(n=[20])
    named = long.assign(**{names[0]: 1.0})
    with pytest.raises(ValueError, match=r"a measure and a column have this name"):
        named.rankeval(**roles).compare(n=[20])


def test_runs_with_documents_that_no_run_retrieved():
    wide = pd.DataFrame(
        {
            "query": np.repeat(["q1", "q2", "q3"], 4), "document": list("abcd") * 3,
            "grade": [1, 0, 2, 0] * 3, "bm25": [3.0, 2, 1, 0.5] * 3, "dense": RNG.random(12),
        }
    )  # fmt: skip
    wide.loc[[2, 6], ["bm25", "dense"]] = np.nan
    wide.loc[5, "dense"] = np.nan
    wanted = wide.rankeval.per_query(["AP", "P@2"])
    long = wide.melt(["query", "document", "grade"], var_name="run", value_name="score").dropna()
    lost = wide.loc[[2, 6], ["query", "document", "grade"]]  # judged, in no list: no name, no score
    runs = pd.concat([long, lost]).sample(frac=1, random_state=1)
    found = runs.rankeval(measure="run", score="score").per_query(["AP", "P@2"])
    by = ["query", "measure", "metric"]
    pd.testing.assert_frame_equal(
        found.sort_values(by, ignore_index=True), wanted.sort_values(by, ignore_index=True)
    )
    named = runs.rename(columns={"query": "topic", "document": "docno"})
    again = named.rankeval(measure="run", score="score", by="topic", item="docno").per_query("AP")
    assert again["value"].sum() == pytest.approx(wanted.query("metric == 'AP'")["value"].sum())
    with pytest.warns(RankevalWarning, match="4 items|with fewer"):
        runs.rankeval(measure="run", score="score").summary("AP")


def test_what_names_the_items_of_a_column_for_each_system_is_no_system():
    """``label`` was taken as a system until now, with a warning."""
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.random((30, 2)), columns=["a", "b"], index=rng.permutation(30))
    given = plain.rename_axis("seg_id").reset_index()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = given.rankeval(label="seg_id").system_ranks()
    pd.testing.assert_frame_equal(found, plain.rankeval.system_ranks())
    assert list(given.columns) == ["seg_id", "a", "b"]
    with pytest.raises(ValueError, match="label='seg_id' if each system has a separate column"):
        given.rankeval(item="seg_id").system_ranks()
