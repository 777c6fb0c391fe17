"""What random calls of random data found: an answer, or an error that says what to do."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy
import xarray as xr

import rankeval_pd
from rankeval_pd.stats.proportions import t_of

HUGE = 10**160


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.difference_band(n_resamples=HUGE), MemoryError, "draws in memory at once"),
        (lambda d: d.random_band(simultaneous=pd.NA), TypeError, "simultaneous"),
        (lambda d: d.judged_precision(5, judged_with=[["x"]]), KeyError, "judged_with"),
        (lambda d: d.compare(groups=np.array([[1, 2]])), (KeyError, ValueError), "groups"),
    ],
    ids=["draws", "flag", "judged_with", "groups"],
)
def test_odd_options_of_rankings(df, call, error, message):
    with pytest.raises(error, match=message):
        call(df.rankeval)


@pytest.mark.parametrize(
    "groups", [np.array([[1, 2]]), np.zeros((2, 2), dtype=object)], ids=["numbers", "objects"]
)
def test_groups_that_are_no_name(items, groups):
    with pytest.raises((KeyError, ValueError), match="groups"):
        items.rankeval.paired_bootstrap(groups=groups)


def test_draws_beyond_all_floats(items):
    with pytest.raises(MemoryError, match="each require"):
        items.rankeval.paired_permutation(n_resamples=HUGE * HUGE)


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh"])
def test_no_groups_and_one_measure_have_no_pairs(df, adjust):
    """No batch, and no pair."""
    ds = xr.Dataset(
        {name: (("query", "candidate"), np.zeros((0, 5))) for name in ("x", "y")}
    ).assign(gold=(("query", "candidate"), np.zeros((0, 5), dtype=bool)))
    assert ds.rankeval.measure_ranks([1, 2], adjust=adjust, n_resamples=99)["rank"].size == 0
    found = df.rankeval.measure_ranks([5], measures=["x"], adjust=adjust, n_resamples=99)
    assert found["rank"].tolist() == [1]


@pytest.mark.parametrize(
    ("given", "message"),
    [({"n": [10, 20, 30], "n_positive": [5, 6]}, "n of shape .3,., n_positive of shape .2,.")],
)
def test_published_lists_of_several_lengths(given, message):
    with pytest.raises(ValueError, match=message):
        rankeval_pd.random_pvalue(2, **{"n_candidates": 100, **given})


def test_a_mean_of_more_queries_than_memory_holds():
    with pytest.raises(MemoryError, match="queries"):
        rankeval_pd.random_pvalue_mean(
            1.0, 5, n_candidates=10, n_positive=5, n_queries=10**30, decimals=1
        )


@pytest.mark.parametrize("name", ["relation", "system_b", "gain"])
def test_tables_of_pairs_with_a_column_twice(items, name):
    pairs = items.rankeval.paired_bootstrap(n_resamples=99).assign(relation="")
    twice = pd.concat([pairs, pairs[[name]]], axis=1)
    twice.attrs = pairs.attrs
    with pytest.raises(ValueError, match=f"2 columns named '{name}'"):
        twice.rankeval.calibration(items)


def test_an_overview_of_a_table_with_a_name_twice(df):
    twice = pd.concat([df.drop(columns="gold"), df[["x"]]], axis=1)
    assert "several columns named 'x'" in repr(twice.rankeval)


def test_systems_named_by_what_is_equal_to_nothing():
    values = xr.DataArray(
        np.random.default_rng(0).random((20, 2)),
        dims=("item", "system"),
        coords={"system": np.array([pd.NA, "a"], dtype=object)},
    )
    with pytest.raises(KeyError, match="measures"):
        values.to_dataset(name="score").rankeval.paired_bootstrap(
            n_resamples=99, measures=["b"], dim="item"
        )


def test_numbers_in_the_other_order_of_bytes(df):
    swapped = df.assign(x=df["x"].to_numpy().astype(df["x"].dtype.newbyteorder("S")))
    found = swapped.rankeval.difference_region("x", "y", 10)
    pd.testing.assert_frame_equal(found, df.rankeval.difference_region("x", "y", 10))


def test_a_gold_label_along_the_measures():
    ds = xr.Dataset(
        {
            "score": (("candidate", "measure"), np.zeros((4, 2))),
            "gold": (("candidate", "measure"), np.zeros((4, 2), dtype=bool)),
        },
        coords={"measure": ["x", "y"]},
    )
    with pytest.raises(ValueError, match="dimension 'measure'"):
        ds.rankeval.nbest_precision(1)


@pytest.mark.parametrize("lazy", [False, True])
def test_complex_gold_labels(lazy):
    """Named values are as good as any; else they are refused, and nothing else is said."""
    gold = ("candidate", np.array([1, 0, 1, 0], dtype=complex))
    ds = xr.Dataset({"x": ("candidate", np.arange(4.0)), "gold": gold})
    ds = ds.chunk(candidate=2) if lazy else ds
    with pytest.raises(ValueError, match="complex"):
        ds.rankeval.random_bound(0.05)
    named = ds.rankeval.nbest_precision(2, positive=1 + 0j).compute()
    assert named["tp"].to_numpy().tolist() == [[1]]
    assert "candidates" in repr(ds.rankeval)


@pytest.mark.parametrize("method", ["random_envelope", "random_bound", "isolines"])
def test_labels_that_break_no_ties_where_scores_play_no_part(method):
    """A frame with them is answered: so is a Dataset."""
    labels = np.empty(4, dtype=object)
    labels[:] = [frozenset({k}) for k in range(4)]
    values = {"x": np.arange(4.0), "gold": np.array([True, False, True, False])}
    ds = xr.Dataset(
        {name: ("candidate", column) for name, column in values.items()},
        coords={"candidate": labels},
    )
    found = getattr(ds.rankeval, method)(n=[1, 2]).to_dataframe().reset_index()
    wanted = getattr(pd.DataFrame(values, index=labels).rankeval, method)(n=[1, 2])
    names = [name for name in wanted if name in found]
    pd.testing.assert_frame_equal(found[names], wanted[names], check_dtype=False)


def test_joined_groups_none_of_which_has_a_list_so_long():
    """Lazily, divisions are of when it is computed."""
    rng = np.random.default_rng(0)
    padding = np.where(np.arange(30) < np.array([[20], [9]]), 0.0, np.nan)
    ds = xr.Dataset(
        {
            name: (("query", "candidate"), values + padding)
            for name, values in (
                ("x", rng.random((2, 30))),
                ("y", rng.random((2, 30))),
                ("gold", (rng.random((2, 30)) < 0.4).astype(float)),
            )
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        found = ds.chunk(query=1).rankeval.compare(combine=True).compute()
    assert np.isnan(found["precision_a"].sel(n=[25, 30])).all()
    assert (~np.isnan(found["precision_a"].sel(n=9))).all()


@pytest.mark.parametrize("ci", ["midp", "clopper-pearson", "jeffreys", "wilson"])
def test_parts_of_a_success_have_the_limits_that_floats_can_tell(ci):
    """0.000001 of a million: half of the mass of Beta(1e-6, 1e6) is below 2^-1,000,000."""
    found = rankeval_pd.precision_interval([1, 2, 3], 10**12, ci=ci, level=0.5, phi=1e6)
    assert (np.diff(found.ci_low) >= 0).all()
    if ci in ("midp", "clopper-pearson"):
        assert found.ci_low.tolist() == [0.0] * 3
    turned = rankeval_pd.precision_interval(10**6 - 1, 10**6, ci=ci, level=0.95, phi=1e6)
    assert 0.0 <= turned.ci_low < turned.ci_high <= 1.0


@pytest.mark.parametrize("level", [1e-300, 1e-17, 0.5, 1 - 1e-16])
@pytest.mark.parametrize("n", [100, 10**6, 10**12])
@pytest.mark.parametrize("phi", [1.0, 1e6])
def test_wilson_limits_have_the_share_between_them(n, level, phi):
    """No last digit that would put the lower one above the upper one, or above 1."""
    tp = np.array([0, 1, 3, n // 2, n - 3, n - 1, n])
    found = rankeval_pd.precision_interval(tp, n, ci="wilson", level=level, phi=phi)
    share = tp / n
    assert (found.ci_low <= share * (1 + 1e-15)).all()
    assert (found.ci_high >= share * (1 - 1e-15)).all()
    assert (found.ci_low <= found.ci_high).all()
    assert (found.ci_high <= 1.0).all()


@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 1e-6, 1 - 1e-12, 1 - 1e-16])
@pytest.mark.parametrize("freedom", [1, 2.5, 30, 1e6])
def test_quantiles_of_student_close_to_a_level_of_one(freedom, level):
    tail = (1 - mpmath.mpf(level)) / 2
    with mpmath.workdps(40):
        t = mpmath.mpf(float(t_of(freedom, level)))
        share = freedom / (freedom + t * t)
        found = mpmath.betainc(mpmath.mpf(freedom) / 2, 0.5, 0, share, regularized=True) / 2
        slope = freedom if t > 5 * freedom else 1 + t * t  # of log tail by log t, at the most
        # SciPy's quantile errs by up to 1e-11 in its lowest version that is allowed
        exact = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
        assert abs(found / tail - 1) < (1e-13 if exact else 1e-10) * slope


@pytest.mark.parametrize("level", [1 - 1e-12, 1 - 1e-16])
def test_areas_of_one_block_at_a_level_close_to_one(level):
    """What is all one block does not vary: its limits do not depend on the level."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.random(50), "y": 2.5, "gold": rng.random(50) < 0.5})
    found = df.rankeval.compare_area("x", "y", kind="ap", level=level)
    assert (
        -1.0 <= found.loc[0, "ci_low"] < found.loc[0, "difference"] < found.loc[0, "ci_high"] <= 1
    )


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


def test_a_header_of_two_levels_gets_full_names():
    """Shorter ones are deprecated."""
    rng = np.random.default_rng(0)
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("gold", "")])
    df = pd.DataFrame(rng.random((20, 3)), columns=names)
    df.isetitem(2, rng.random(20) < 0.5)
    found = df.rankeval.difference_region(("a", 1), ("a", 2), 5, gold=("gold", ""))
    assert found.columns.tolist()[3:] == [("list", ""), ("rank_a", ""), ("rank_b", "")]
    flat = df.set_axis(["x", "y", "gold"], axis=1).rankeval.difference_region("x", "y", 5)
    assert found.to_numpy().tolist() == flat.to_numpy().tolist()
    unjudged = df.copy()
    unjudged.isetitem(2, np.full(20, np.nan))
    sheet = rankeval_pd.annotation_sheet(unjudged, ("a", 1), ("a", 2), 5, size=3, gold=("gold", ""))
    assert sheet.shape == (3, 1)


def test_association_measures_below_a_header_of_two_levels():
    cells = [(name, "") for name in ("O11", "O12", "O21", "O22")]
    df = pd.DataFrame([[1, 2, 3, 4]], columns=pd.MultiIndex.from_tuples(cells))
    found = rankeval_pd.with_association_measures(df, ["MI"], cells=cells)
    assert found.columns[-1] == ("MI", "")


def test_swapped_bytes_beside_attributes_that_are_arrays(df):
    swapped = df.assign(x=df["x"].to_numpy().astype(df["x"].dtype.newbyteorder("S")))
    swapped.attrs = {"array": np.arange(3)}
    found = swapped.rankeval.difference_region("x", "y", 10)
    pd.testing.assert_frame_equal(found, df.rankeval.difference_region("x", "y", 10))


def test_swapped_bytes_in_several_chunks():
    """Ties at the end of a part's head, one of which is kept."""
    scores = np.repeat([1.0, 2.0], 25).astype(">f8")
    ds = xr.Dataset(
        {"x": ("candidate", scores), "gold": ("candidate", np.arange(50) % 3 == 0)},
        coords={"candidate": [f"c{k}" for k in range(50)]},
    )
    found = ds.chunk(candidate=30).rankeval.random_test([1]).compute()
    xr.testing.assert_allclose(found, ds.rankeval.random_test([1]))


@pytest.mark.parametrize("kind", ["intervals", "texts"])
def test_groups_that_dask_does_not_know(kind):
    names = pd.interval_range(0, 6) if kind == "intervals" else [f"c{k}" for k in range(6)]
    rng = np.random.default_rng(0)
    ds = xr.Dataset(
        {
            "x": (("query", "doc"), rng.random((3, 6))),
            "gold": (("query", "doc"), rng.random((3, 6)) < 0.5),
        },
        coords={"doc": ("doc", pd.Index(names, dtype=None if kind == "intervals" else object))},
    )
    roles = {"dim": "doc", "groups": "doc"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        found = ds.chunk(query=1).rankeval.nbest_precision([2], **roles).compute()
        xr.testing.assert_identical(found, ds.rankeval.nbest_precision([2], **roles))


@pytest.mark.parametrize("name", [pd.NA, "d"])
def test_domains_named_by_what_is_equal_to_nothing(name):
    names = [("x", "correct"), ("x", "guess"), ("y", "correct"), ("y", "guess"), (np.nan, "")]
    index = pd.Index(["c0"], name="candidate")
    df = pd.DataFrame([[4, 4, 1, 1, 0]], index=index, columns=pd.MultiIndex.from_tuples(names))
    with pytest.raises(KeyError, match="by: no column"):
        df.rankeval.gain_by_size([1], metric="precision", by=[name], measures=["x", "y"])


@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [(0, ValueError, "alpha=0"), ("x", TypeError, "alpha='x'"), (5e-324, MemoryError, "draws")],
)
def test_pictures_at_impossible_levels(df, alpha, error, message):
    with pytest.raises(error, match=message):
        df.rankeval.plot.comparison("x", "y", [5], alpha=alpha)


@pytest.mark.full
def test_pictures_of_lists_that_end_with_blocks():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ds = xr.Dataset(
        {"x": (("query", "candidate"), [[0.0]]), "gold": (("query", "candidate"), [[1]])}
    )
    pyplot.close(ds.rankeval.plot.precision(ties="blocks").figure)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_logarithmic_axes_with_nothing_to_stretch_over():
    """One gain of all but .1, no precision above 0, and counts from 0 on."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, places = pyplot.subplots(1, 3)
    for ax in places:
        ax.set_xscale("log")
        ax.set_yscale("log")
    systems = pd.DataFrame({"y": [0, 1], "id": [1.0, 0.2]})
    systems.rankeval.plot.gain_by_size([2], n_resamples=50, ax=places[0])
    lone = pd.DataFrame({"z": [2.5], "gold": [False]})
    lone.rankeval.plot.random_bound(ax=places[1])
    repeated = pd.DataFrame({"q": range(9), "gold": [True, False, True] * 3, "s": [0, 1, 2] * 3})
    repeated.rankeval.plot.repetition(n=2, measures=["q"], by="s", ax=places[2])
    figure.canvas.draw()
    assert all(0.0 < low < high for low, high in (ax.get_ylim() for ax in places))
    pyplot.close(figure)


@pytest.mark.full
def test_names_with_characters_that_no_font_has(df):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = df.rename(columns={"x": "a\x00b"}).rankeval.plot.roc()
    axes.figure.canvas.draw()
    pyplot.close(axes.figure)
