"""The accessors of Dask DataFrames and of heads: their methods, reasons, texts and registration."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rankeval_pd

dd = pytest.importorskip("dask.dataframe")

import rankeval_pd.dask  # noqa: E402
from rankeval_pd.dask import HEAD_METHODS, METHODS, QUESTIONS  # noqa: E402
from tests.questions import QUESTIONS as LISTS  # noqa: E402
from tests.questions import RANKED  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


@pytest.fixture
def ddf():
    return dd.from_pandas(rankeval_pd.datasets.simulate_candidates(200), npartitions=2)


def test_every_method_exists_or_says_what_to_do(ddf):
    for name in METHODS:
        able = QUESTIONS[name][1]
        if able.heads or able.by_groups or able.sums:
            assert name in dir(ddf.rankeval)
            continue
        with pytest.raises(AttributeError, match=re.escape(f"Dask DataFrame: {able.dask}")):
            getattr(ddf.rankeval, name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("difference_region", r"needs all data in memory. Compute the columns that you use"),
        ("repetition", "repetition does not exist for a Dask DataFrame"),
        ("gain_by_size", r"ddf.sample\(frac=...\)"),
        ("plot", "plots require a head"),
        ("nbest", "difference_region"),
    ],
)
def test_a_method_that_does_not_exist_says_why(ddf, name, message):
    with pytest.raises(AttributeError, match=message):
        getattr(ddf.rankeval, name)


def test_functions_want_data_in_memory(ddf):
    with pytest.raises(TypeError, match=r"Import rankeval_pd\.dask"):
        rankeval_pd.nbest_precision(ddf, 5)
    with pytest.raises(TypeError, match="pandas DataFrame"):
        rankeval_pd.gain_by_size(ddf, [20])


def test_every_method_of_a_head_is_compared_with_pandas():
    """The calls of ``tests/questions.py`` are compared in ``tests/doors/test_dask.py``."""
    up_to_n_max = {"crossovers"}
    assert set(HEAD_METHODS) == {name.split()[0] for name in {**LISTS, **RANKED}} | up_to_n_max


def test_a_head_is_small_and_leaves_as_a_frame():
    df = rankeval_pd.datasets.simulate_candidates(2_000)
    ddf = dd.from_pandas(df, npartitions=7)
    head = ddf.rankeval(label=rankeval_pd.dask.ROWS).head(20)
    assert type(head.candidates) is pd.DataFrame
    assert len(head.candidates) < 500
    assert (head.n_candidates, head.n_positive) == (2_000, df["gold"].sum())
    assert "precision" in dir(head.plot)
    again = pickle.loads(pickle.dumps(head))
    pd.testing.assert_frame_equal(again.compare(n=20), head.compare(n=20))


def test_the_accessors_describe_themselves(ddf):
    head = ddf.rankeval.head(20)
    assert "200, " in repr(head)
    assert "up to n = 20" in repr(head)
    assert "compare" in dir(head)
    text = repr(ddf.rankeval(label=rankeval_pd.dask.ROWS))
    assert "partitions  2" in text
    assert "paired_bootstrap" in text
    assert pickle.loads(pickle.dumps(rankeval_pd.dask.ROWS)) is rankeval_pd.dask.ROWS


def test_roles_and_options_of_the_session_are_those_of_frames(ddf):
    df = ddf.compute()
    with rankeval_pd.set_options(details=False, level=0.8):
        for ask in (
            lambda data: data.rankeval(measures="good").nbest_precision([5, 10]),
            lambda data: data.rankeval(measures=["fair", "good"]).compare(n=[5], details=True),
            lambda data: data.rankeval.random_bound(0.05, [5]),
        ):
            found, expected = ask(ddf), ask(df)
            pd.testing.assert_frame_equal(found, expected)
            assert found.attrs == expected.attrs
        found, expected = (x.rankeval.area() for x in (ddf, df))
        pd.testing.assert_frame_equal(found, expected, rtol=1e-11)
        assert found.attrs == expected.attrs


def test_measures_do_not_matter_where_only_labels_are_counted(ddf):
    scores = ddf.assign(fair=ddf["fair"].where(ddf["fair"] > 0, np.nan))
    roles = {"gold": "gold", "measures": ["good", "fair"]}
    found = scores.rankeval(**roles).random_cdf([3, 9])
    pd.testing.assert_frame_equal(found, scores.compute().rankeval(**roles).random_cdf([3, 9]))


@pytest.mark.full
@pytest.mark.parametrize("first", ["rankeval_pd", "dask.dataframe"])
def test_the_plain_import_registers_the_accessor_if_dask_is_imported(first):
    code = (
        f"import {first}, sys, rankeval_pd\n"
        "print('dask' in sys.modules, 'rankeval_pd.doors' in sys.modules)\n"
        "import dask.dataframe as dd\n"
        "print(hasattr(dd.DataFrame, 'rankeval'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = first == "dask.dataframe"
    assert done.stdout.split() == [str(loaded), "False", str(loaded)]
