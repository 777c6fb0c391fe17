"""What ``attrs`` say about every table: the method, the data and the options that were used."""

from __future__ import annotations

import inspect
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest

from rankeval_pd.accessors import methods_of
from rankeval_pd.options import can
from tests.test_options import DATA, QUESTIONS, ROLES, asked, forms

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

NAMES = [x for x in QUESTIONS if x not in ("with_association_measures", "summary")]
LIMITS = ("ci_low", "band_low")
#: tables whose rows have numbers of candidates of their own, or that come from drawn samples
OWN_NUMBERS = (
    "annotator_agreement per_query plan_annotation repetition repetition_samples unpaired_area"
).split()


def tables(name: str) -> list[pd.DataFrame]:
    """Return the full tables of a method for DataFrames."""
    args, variants = asked(name)
    answers = []
    for form, accessor in forms(name):
        if form not in ("frame", "by"):
            continue
        for keywords in variants:
            try:
                answer: Any = getattr(accessor, name)(*args, **keywords, details=True)
            except (TypeError, ValueError, AttributeError):
                continue  # this form has no such method, or needs other arguments
            answers.append(answer)
    return answers


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
            assert table.attrs.get("n_candidates") == len(DATA)
        assert facts <= {*table.attrs}, facts - {*table.attrs}
        assert table.attrs["method"] == name


def test_numbers_of_the_record_are_those_of_the_data():
    frame = DATA.rankeval(**ROLES, by="query")
    groups = DATA["query"].nunique()
    for table in (frame.nbest_precision(3), frame.area(), frame.compare("a", "b", 3)):
        assert table.attrs["n_candidates"] == len(DATA)
        assert table.attrs["n_rankings"] == groups
    alone = DATA.rankeval(**ROLES).nbest_precision(3)
    assert alone.attrs["n_candidates"] == len(DATA)
    assert "n_rankings" not in alone.attrs
    lazy = dd.from_pandas(DATA, npartitions=3).rankeval(**ROLES, by="query")
    assert lazy.nbest_precision(3).attrs == frame.nbest_precision(3).attrs
