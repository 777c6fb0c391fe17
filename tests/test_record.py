"""What ``attrs`` say about every table: the method, the data and the options that were used."""

from __future__ import annotations

import inspect
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from rankeval_pd.accessors import methods_of
from rankeval_pd.options import can
from tests.walks import METHODS, QUESTIONS, RANKING, answered, parameters

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

NAMES = [x for x in METHODS if x not in ("with_association_measures", "summary")]
ROLES = {"gold": "gold", "measures": ["a", "b", "c"]}
LIMITS = ("ci_low", "band_low")
#: tables whose rows have numbers of candidates of their own, or that come from drawn samples
OWN_NUMBERS = (
    "annotator_agreement per_query plan_annotation repetition repetition_samples unpaired_area"
).split()


def tables(name: str) -> list[pd.DataFrame]:
    """Return the full tables of a method for DataFrames."""
    found = []
    for form in ({}, {"by": "query"}):
        for adjust in [{}, {"adjust": "holm"}] if "adjust" in parameters(name) else [{}]:
            answer: Any = answered(name, **form, **adjust, details=True)
            if isinstance(answer, pd.DataFrame):
                found.append(answer)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_record_says_what_was_done(name):
    walked = tables(name)
    assert walked
    for table in walked:
        if can(QUESTIONS[name]).own_rows:  # rows of the user, with the user's attrs
            assert "method" not in table.attrs
            continue
        facts = {"method", "version"}
        if "p_value" in table:
            parameters = inspect.signature(QUESTIONS[name]).parameters
            facts |= {"test"} | ({"alternative", "alpha"} & {*parameters})
        if any(x in table for x in LIMITS):
            facts |= {"interval", "level"}
        if "p_adjusted" in table:
            facts |= {"adjust", "family"}
        if name in methods_of("rankings") and name not in OWN_NUMBERS:
            facts |= {"n_candidates"}
            assert table.attrs.get("n_candidates") == len(RANKING)
        assert facts <= {*table.attrs}, facts - {*table.attrs}
        assert table.attrs["method"] == name


def test_numbers_of_the_record_are_those_of_the_data():
    frame = RANKING.rankeval(**ROLES, by="query")
    groups = RANKING["query"].nunique()
    for table in (frame.nbest_precision(3), frame.area(), frame.compare("a", "b", 3)):
        assert table.attrs["n_candidates"] == len(RANKING)
        assert table.attrs["n_rankings"] == groups
    alone = RANKING.rankeval(**ROLES).nbest_precision(3)
    assert alone.attrs["n_candidates"] == len(RANKING)
    assert "n_rankings" not in alone.attrs
    lazy = dd.from_pandas(RANKING, npartitions=3).rankeval(**ROLES, by="query")
    assert lazy.nbest_precision(3).attrs == frame.nbest_precision(3).attrs


def test_a_lazy_dataset_records_no_interval_that_depends_on_its_values():
    values = np.random.default_rng(0).normal(size=(2, 30, 2))
    coords = {"system": ["a", "b"], "batch": [0, 1]}
    data = xr.Dataset({"score": (("batch", "item", "system"), values)}, coords)
    assert data.rankeval.gain_by_size([20]).attrs["interval"] == "wild"
    assert "interval" not in data.chunk(batch=1).rankeval.gain_by_size([20]).attrs
