"""Systems, items and pairs of odd names, orders and values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.stats.bootstrap import DrawnSum, SignedSum

# -------------------------------------------------------------------------------- systems and items


def test_the_order_of_items_with_labels_of_several_types_changes_no_calibration():
    rng = np.random.default_rng(0)
    labels = pd.Index([f"c{k}" if k % 2 else k for k in range(40)], dtype=object)
    items = pd.DataFrame(rng.random((40, 4)), index=labels)

    def asked(data):
        return data.rankeval.population_calibration(
            20, n_test_sets=3, n_resamples=20, bins=[0.0, 0.1, 0.2, 0.5]
        )

    pd.testing.assert_frame_equal(asked(items.sample(frac=1, random_state=1)), asked(items))


@pytest.mark.parametrize(
    "metric",
    [
        lambda sums: sums[..., 0] * 1j,
        lambda sums: sums[..., 0].astype(str),
        lambda sums: {"a": 1},
        lambda sums: None,
    ],
)
def test_a_metric_that_returns_no_numbers(items, metric):
    with pytest.raises(TypeError, match=r"metric=<lambda> returned .* scores must be real numbers"):
        items.rankeval(metric=metric).paired_bootstrap()


def test_systems_that_are_not_there(items):
    with pytest.raises(ValueError, match="data has no system, but a comparison needs two"):
        xr.Dataset({"value": (("item", "system"), np.zeros((5, 0)))}).rankeval.paired_bootstrap()
    values = np.zeros((0, 4, 2))
    none = xr.Dataset({"value": (("domain", "item", "system"), values)})
    for adjust in (None, "holm"):
        table = none.rankeval.paired_permutation(adjust=adjust, adjust_over="group")
        assert table.sizes == {"domain": 0, "pair": 1}
    assert none.rankeval.system_ranks(n_resamples=99).sizes["domain"] == 0
    with pytest.raises(ValueError, match="no dimension 'sentence'"):
        none.rankeval.gain_by_size([2], dim="sentence")


def test_columns_of_two_levels_in_no_order(items):
    header = pd.MultiIndex.from_tuples([(s, x) for x in ("correct", "total") for s in "cab"])
    wide = pd.concat([items[list("cab")], items[list("cab")] * 0 + 1], axis=1).set_axis(
        header, axis=1
    )
    with pytest.raises(KeyError, match="by: no column 'zz'"):
        wide.rankeval(metric="accuracy", by="zz").paired_permutation()
    with pytest.raises(ValueError, match="2 columns named"):
        wide.rankeval(metric="accuracy", groups="b").paired_permutation()


def test_names_of_systems_that_are_equal_to_nothing(items):
    systems = items.set_axis(pd.Index(["a", pd.NA, pd.NaT], dtype=object), axis=1)
    assert len(systems.rankeval.paired_permutation()) == 3


@pytest.mark.parametrize("name", [pd.NA, "d"])
def test_domains_named_by_what_is_equal_to_nothing(name):
    names = [("x", "correct"), ("x", "guess"), ("y", "correct"), ("y", "guess"), (np.nan, "")]
    index = pd.Index(["c0"], name="candidate")
    df = pd.DataFrame([[4, 4, 1, 1, 0]], index=index, columns=pd.MultiIndex.from_tuples(names))
    with pytest.raises(KeyError, match="by: no column"):
        df.rankeval.gain_by_size([1], metric="precision", by=[name], measures=["x", "y"])


def test_more_items_than_there_can_be(items):
    with pytest.raises(MemoryError, match=r"n_items=9223372036854775808 requires.*Pass a smaller"):
        items.rankeval.population_calibration(2**63, n_test_sets=2, n_resamples=20)
    with pytest.raises(MemoryError, match=r"n_test_sets=10{400} requires.*Pass a smaller"):
        items.rankeval.population_calibration(2, n_test_sets=10**400, n_resamples=20)
    with pytest.raises(TypeError, match=r"n_items=1.5: pass one whole number"):
        items.rankeval.gain_by_size([20]).rankeval.gain_threshold(n_items=1.5)


# -------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples=0"),
        ({"n_resamples": True}, "n_resamples=True"),
        ({"n_items": [2, 3]}, "pass one whole number"),
        ({"n_items": np.nan}, "n_items=nan"),
        ({"window": "ab"}, "pass two p-values"),
        ({"window": 0.05}, "pass two p-values"),
        ({"quantile": 10**400}, "quantile="),
    ],
)
def test_odd_options_of_thresholds_are_named(items, options, message):
    pairs = items.rankeval.paired_bootstrap(n_resamples=20)
    with pytest.raises((TypeError, ValueError), match=message):
        pairs.rankeval.gain_threshold(**options)


def test_odd_tables_of_pairs_are_named(items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=20)
    with pytest.raises(TypeError, match=r"'gain' in .* has dtype .*, but must be numeric"):
        pairs.assign(gain="x").rankeval.gain_threshold()
    pd.testing.assert_frame_equal(
        pairs.convert_dtypes().rankeval.gain_threshold(window=(0.01, 0.9)),
        pairs.rankeval.gain_threshold(window=(0.01, 0.9)),
    )
    with pytest.raises(TypeError, match="higher_is_better=<NA>"):
        pairs.rankeval.calibration(items, higher_is_better=pd.NA)
    with pytest.raises(TypeError, match="bins"):
        items.rankeval.population_calibration(5, bins=[[0.1, 0.2]])


@pytest.mark.parametrize("name", ["relation", "system_b", "gain"])
def test_tables_of_pairs_with_a_column_twice(items, name):
    pairs = items.rankeval.paired_bootstrap(n_resamples=99).assign(relation="")
    twice = pd.concat([pairs, pairs[[name]]], axis=1)
    twice.attrs = pairs.attrs
    with pytest.raises(ValueError, match=f"2 columns named '{name}'"):
        twice.rankeval.calibration(items)


def test_thresholds_of_pairs_without_a_gain(items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=99)
    wide = {"window": (1e-9, 0.999)}
    lacking = pairs.assign(gain=np.nan).rankeval.gain_threshold(**wide).loc[0]
    assert lacking["n_pairs"] == 0
    assert lacking[["threshold", "threshold_low", "threshold_high"]].isna().all()
    gains = pairs["gain"].where(np.arange(len(pairs)) > 0)
    some = pairs.assign(gain=gains).rankeval.gain_threshold(**wide)
    pd.testing.assert_frame_equal(
        some.drop(columns="threshold_all_pairs"),
        pairs.iloc[1:].rankeval.gain_threshold(**wide).drop(columns="threshold_all_pairs"),
    )


def test_errors_of_pairs_with_repeated_labels(items):
    """Their errors were taken several times each."""
    pairs = items.rankeval.paired_bootstrap(n_resamples=50)
    twice = pairs.set_axis([0, 0, 1])
    pd.testing.assert_frame_equal(
        twice.rankeval.gain_threshold(window=(0.01, 0.99)),
        pairs.rankeval.gain_threshold(window=(0.01, 0.99)),
    )


# --------------------------------------------------------------------- intervals at the last levels


def test_no_tail_of_signs_is_above_one():
    """Transforms of laws add up to one and a little."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        numbers = rng.integers(-3, 4, 200)
        for law in (SignedSum(numbers), DrawnSum(numbers)):
            lowest = int(law.values[0])  # noqa: PD011
            for edge in range(lowest, lowest + 60):
                assert law.tail(edge) <= 1.0


def test_least_levels_of_intervals_by_signs():
    scores = np.random.default_rng(0).random((60, 3)) < 0.4
    for draws in (19, 20, 99):
        table = pd.DataFrame(scores + 0.5).rankeval.paired_bootstrap(
            n_resamples=draws, level=5e-324, adjust=None
        )
        assert (table["ci_low"] <= table["ci_high"]).all()


def test_bca_limits_at_a_level_close_to_one():
    """The whole of what was drawn: tails of 1e-16 have no resample."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": [0.0, 1, 0.5, 0.75] * 5, "y": rng.random(20)})
    options = {"method": "monte-carlo", "n_resamples": 99}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        found, other = (
            df.rankeval.paired_bootstrap(ci=ci, level=1 - 1e-16, **options).loc[0]
            for ci in ("bca", "percentile")
        )
    limits = ["ci_low", "ci_high"]
    assert found[limits].tolist() == pytest.approx(other[limits].tolist(), rel=1e-12)


@pytest.mark.parametrize("level", [1 - 1e-16])
def test_areas_of_one_block_at_a_level_close_to_one(level):
    """What is all one block does not vary: its limits do not depend on the level."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.random(50), "y": 2.5, "gold": rng.random(50) < 0.5})
    found = df.rankeval.compare_area("x", "y", kind="ap", level=level)
    assert (
        -1.0 <= found.loc[0, "ci_low"] < found.loc[0, "difference"] < found.loc[0, "ci_high"] <= 1
    )
