"""Identifiers that mix text with other types: 7 and "7" are never two groups in silence."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.roles import check_types
from tests.questions import ASKED, FRAME

SAID = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
DOC = [*range(12), "113b", *map(str, range(12)), "113b"]  # two files joined
RNG = np.random.default_rng(49)
ITEMS = pd.DataFrame({"new": RNG.random(26) + 0.2, "old": RNG.random(26), "doc": DOC})
ROWS = FRAME.reset_index(drop=True).assign(doc=np.arange(48) // 2)
ROWS["doc"] = [str(x) if k % 3 else x for k, x in enumerate(ROWS["doc"])]
UNIQUE = [str(k) if k % 3 else k for k in range(48)]
EXCLUDED = ["other", "half", "ident"]
MIXED = r"^{}='doc' mixes names of types int, str: 7 and '7' would be two"

OF_ITEMS = {
    "paired_bootstrap": {"n_resamples": 99},
    "paired_permutation": {"n_resamples": 99},
    "system_ranks": {"n_resamples": 99},
    "gain_by_size": {"sizes": [2], "n_resamples": 99},
}


def test_documents_of_two_files_are_thirteen_groups():
    with pytest.raises(TypeError, match=MIXED.format("groups")):
        ITEMS.rankeval(groups="doc").paired_bootstrap()
    found = ITEMS.assign(doc=ITEMS["doc"].astype(str)).rankeval(groups="doc", details=True)
    row = found.paired_bootstrap(event="wild").iloc[0]
    assert row["n_groups"] == 13
    # all 8,192 signs of the 13 documents' gains, enumerated here
    gains = (ITEMS["new"] - ITEMS["old"]).groupby(list(map(str, DOC))).sum().to_numpy()
    assert gains.size == 13
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=13)))
    wanted = (np.abs(signs @ gains) >= abs(gains.sum()) * (1 - 1e-12)).mean()
    assert row["p_value"] == pytest.approx(wanted, abs=1e-12)


@SAID
@pytest.mark.parametrize("role", ["groups", "strata", "by", "label", "seeds"])
@pytest.mark.parametrize("name", OF_ITEMS)
def test_items(name, role):
    def ask(data):
        return getattr(rankeval_pd, name)(data, **OF_ITEMS[name], **{role: "doc"})

    if (name, role) == ("gain_by_size", "seeds"):
        pytest.skip("has no seeds in a column")
    said = MIXED.format("index" if role == "label" else role)
    for dtype in (object, "category"):
        with pytest.raises(TypeError, match=said):
            ask(ITEMS.assign(doc=pd.Series(DOC, dtype=object).astype(dtype)))
    if role != "seeds" and (name, role) != ("gain_by_size", "strata"):  # need more items
        ask(ITEMS.assign(doc=ITEMS["doc"].astype(str).str[:1]))


@pytest.mark.parametrize("role", ["groups", "strata"])
def test_items_in_other_forms(role):
    level = ITEMS.set_index("doc")
    with pytest.raises(TypeError, match="='doc' mixes names"):
        level.rankeval.paired_bootstrap(**{role: "doc"})
    with pytest.raises(TypeError, match="index='doc' mixes names"):
        level.rankeval.paired_bootstrap()
    tall = pd.concat({"f": level, "g": level}, axis=1).swaplevel(axis=1).reset_index()
    with pytest.raises(TypeError, match=rf"^{role}=.*'doc'.* mixes names"):
        tall.rankeval.paired_bootstrap(metric="mean", **{role: "doc"})
    data = xr.Dataset(
        {"hit": (("item", "system"), ITEMS[["new", "old"]]), "doc": ("item", ITEMS["doc"])},
        {"system": ["new", "old"]},
    )
    for form in (data, data.chunk({"item": 10})):
        with pytest.raises(TypeError, match=MIXED.format(role)):
            form.rankeval.paired_bootstrap(**{role: "doc"}).compute()


@SAID
@pytest.mark.parametrize("role", ["by", "groups", "label", "key"])
@pytest.mark.parametrize("name", ASKED)
def test_rankings(name, role):
    """Where text is answered, a mix is refused; what refuses the role does so for both."""
    positional, keywords = ASKED[name]
    if name in ("with_judgements", "annotation_sheet") or role in keywords:
        pytest.skip("has a test of its own, or needs the role")
    data = ROWS.assign(doc=UNIQUE if role in ("label", "key") else ROWS["doc"])
    if role == "by":
        data["doc"] = [str(k % 2) if k % 5 else k % 2 for k in range(48)]
    keywords = {"gold": "gold", "exclude": EXCLUDED, **keywords, role: "doc"}
    if isinstance(keywords["gold"], pd.Series):
        keywords["gold"] = keywords["gold"].to_numpy()

    def ask(frame):
        return getattr(rankeval_pd, name)(frame, *positional, **keywords)

    refusal = None
    try:
        ask(data.assign(doc=data["doc"].astype(str)))
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        with pytest.raises((TypeError, ValueError)) as refused:
            ask(data)
        assert str(refused.value) == refusal or "mixes names" in str(refused.value)
        return
    if name == "annotator_agreement" and role != "by":
        return  # the order and the groups of candidates change nothing
    with pytest.raises(TypeError, match=MIXED.format(role)):
        ask(data)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("role", ["groups", "label", "key"])
def test_datasets(role, lazy):
    values = UNIQUE if role != "groups" else ROWS["doc"].to_numpy()
    data = xr.Dataset.from_dataframe(ROWS[["a", "b", "gold"]].rename_axis("candidate"))
    data["doc"] = ("candidate", np.array(values, dtype=object))
    data = data.chunk({"candidate": 20}) if lazy else data
    with pytest.raises(TypeError, match=MIXED.format(role)):
        data.rankeval(**{role: "doc"}).compare(n=[5]).compute()
    queries = data.rename(gold="grade").expand_dims(query=2)
    if role == "key":
        with pytest.raises(TypeError, match=MIXED.format("key")):
            queries.rankeval(key="doc").per_query("AP").compute()


def test_queries():
    data = ROWS.rename(columns={"gold": "grade"})[["a", "grade", "query", "doc"]]
    with pytest.raises(TypeError, match=MIXED.format("by")):
        data.rankeval.per_query("AP", by="doc", key="query")
    with pytest.raises(TypeError, match=MIXED.format("by")):
        data.rankeval.per_query("AP", by=["query", "doc"])
    with pytest.raises(TypeError, match=MIXED.format("key")):
        data.assign(doc=UNIQUE).rankeval.per_query("AP", key="doc")


@pytest.mark.parametrize("role", ["item", "system", "by", "groups", "seeds"])
def test_long_frames(role):
    long = ITEMS.assign(item=range(26)).melt(["item", "doc"], var_name="system", value_name="f")
    roles = {"system": "system", "item": "item", "score": "f", role: "doc"}
    with pytest.raises(TypeError, match=MIXED.format(role)):
        long.rankeval(**roles).paired_bootstrap()
    if role == "item":  # by default, the index identifies the items
        with pytest.raises(TypeError, match=MIXED.format("item")):
            long.set_index("doc").rankeval(system="system", score="f").paired_bootstrap()


@SAID
@pytest.mark.parametrize("role", ["groups", "label", "key", "by"])
def test_partitions_of_different_types(role):
    """Each partition has one type: only all of them together show the mix."""
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    pytest.importorskip("rankeval_pd.dask")
    half = ROWS[["a", "b", "gold"]].iloc[:24].reset_index(drop=True)
    half = half.assign(doc=[k // 6 for k in range(24)] if role in ("groups", "by") else range(24))

    def asked(*parts):
        with dask.config.set({"dataframe.convert-string": False}):
            meta = parts[0].astype({"doc": object}).head(0)
            ddf = dd.from_delayed([dask.delayed(x) for x in parts], meta=meta, verify_meta=False)
            table = ddf.rankeval(**{role: "doc"}).nbest_precision([5])
            return table if isinstance(table, pd.DataFrame) else table.compute()

    text = half.assign(doc=half["doc"].astype(str)).set_axis(range(24, 48), axis=0)
    plain = half.astype({"doc": object})
    with pytest.raises(TypeError, match=MIXED.format(role)):
        asked(plain, text)
    wanted = text if role in ("groups", "by") else text.assign(doc="x" + text["doc"])
    wanted = wanted.set_axis(half.index, axis=0)
    one = asked(wanted, text)
    whole = pd.concat([wanted, text]).rankeval(**{role: "doc"}).nbest_precision([5])
    pd.testing.assert_frame_equal(one, whole, check_dtype=False)


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2.0, True, np.int8(3), np.nan], ["a", None, np.str_("b")], [(1, "a"), ("1", 2)],
        [datetime.date(2020, 1, 1), None], pd.Series(["a", None], dtype="string"),
        pd.Series(["a"]).astype(pd.CategoricalDtype(["a", 1])), [None, None], [],
    ],
)  # fmt: skip
def test_labels_that_are_of_one_kind(labels):
    check_types(pd.Series(labels, dtype=getattr(labels, "dtype", object)), "groups", "x")


@pytest.mark.parametrize(
    "other", [7, 7.0, np.int64(7), True, b"7", pd.Timestamp("2020"), datetime.date(2020, 1, 1), ()]
)
def test_text_beside_anything_else(other):
    for dtype in (object, "category"):
        with pytest.raises(TypeError, match=r"groups='x' mixes names of types .*str") as error:
            check_types(pd.Series(["7", None, other], dtype=object).astype(dtype), "groups", "x")
        assert len(str(error.value)) <= 250
