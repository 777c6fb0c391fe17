"""The accessors forward: same signature, same docstring, same result."""

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
from tests.questions import FRAME
from tests.walks import METHODS, OF_FRAMES

ACCESSORS = [DatasetAccessor, FrameAccessor]


def test_every_function_of_data_is_a_method_of_a_form():
    functions = {
        name
        for name in rankeval_pd.__all__
        if inspect.isfunction(function := getattr(rankeval_pd, name))
        and next(iter(inspect.signature(function).parameters)) == "data"
    }
    functions.remove("rankeval")  # it returns the accessor itself
    assert functions == {*METHODS} - {*OF_FRAMES}
    assert {name for form in QUESTIONS for name in methods_of(form)} == {*METHODS}
    plots = {name for name in dir(Plots) if not name.startswith("_")}
    assert {name for group in PLOTS.values() for name in group} == plots
    assert plots == set(plotting.__all__) - {"caption", "shared_legend"}
    assert dir(rankeval_pd) == sorted(rankeval_pd.__all__)
    assert dir(plotting) == sorted(plotting.__all__)


@pytest.mark.parametrize("accessor", ACCESSORS)
def test_a_method_has_the_signature_and_the_docstring_of_its_function(accessor):
    for name in METHODS:
        method, function = getattr(accessor, name), getattr(rankeval_pd, name)
        one, other = (
            [(p.name, p.kind, p.default) for p in inspect.signature(x).parameters.values()][1:]
            for x in (method, function)
        )
        assert one == other, name
        found, wanted = inspect.getdoc(method), inspect.getdoc(function)
        assert found.splitlines()[0] == wanted.splitlines()[0]
        assert "Examples\n--------" in found, name
        _, *described = found.split("Parameters\n")
        described = "".join(described).split("Returns\n")[0]
        data = next(iter(inspect.signature(function).parameters))
        assert not re.search(rf"(?m)^{data}\b", described), name
        for role, *_ in one:
            assert re.search(rf"(?m)^(.*, )?{role}\b", described), (name, role)


def _assert_same(found, wanted):
    if isinstance(wanted, xr.Dataset):
        xr.testing.assert_identical(found, wanted)
    else:
        pd.testing.assert_frame_equal(found, wanted)
        assert found.attrs == wanted.attrs


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


def test_plans_and_sheets_are_methods_of_frames(frame):
    data = frame.rename(columns={"gold": "tp"}).assign(flag=True)
    data["tp"] = data["tp"].astype(float).where(np.arange(len(data)) % 3 > 0)
    chain = data.rankeval(gold="tp", measures=["a", "b"], rng=4)
    ask = {"gold": "tp", "measures": ["a", "b"], "rng": 4}
    sheet = chain.annotation_sheet("a", "b", 9)
    _assert_same(sheet, rankeval_pd.annotation_sheet(data, "a", "b", 9, **ask))
    ds = xr.Dataset.from_dataframe(frame)
    with pytest.raises(TypeError, match=r"of type Dataset: .* candidates.to_dataframe\(\)"):
        ds.rankeval.plan_annotation("a", "b", 9)


def test_the_typed_door_is_the_accessor():
    data = FRAME[["a", "b", "gold"]]
    ds = data.rename_axis("candidate").to_xarray()
    door = rankeval_pd.rankeval(data, gold="gold", measures="a")
    assert isinstance(door, rankeval_pd.FrameAccessor)
    pd.testing.assert_frame_equal(
        door.nbest_precision(5), data.rankeval(gold="gold", measures="a").nbest_precision(5)
    )
    assert isinstance(rankeval_pd.rankeval(ds), rankeval_pd.DatasetAccessor)
    assert rankeval_pd.rankeval(ds).area().identical(ds.rankeval.area())
    with pytest.raises(TypeError, match="goald"):
        rankeval_pd.rankeval(data, goald="gold")


def test_the_typed_door_of_dask_frames():
    dd = pytest.importorskip("dask.dataframe")
    ddf = dd.from_pandas(FRAME[["a", "gold"]], npartitions=2)
    found = rankeval_pd.rankeval(ddf, gold="gold").nbest_precision(5)
    assert found["tp"].tolist() == FRAME[["a", "gold"]].rankeval.nbest_precision(5)["tp"].tolist()
