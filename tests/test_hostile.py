"""What only a hostile or unlucky caller gives: an answer, or an error that says what to do."""

from __future__ import annotations

import enum
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import errors
from rankeval_pd.stats.bootstrap import DrawnSum, SignedSum

LABELS = {
    "categorical": pd.CategoricalIndex(list("abcdef")),
    "time zone": pd.date_range("2020", periods=6, tz="Europe/Berlin"),
    "period": pd.period_range("2020", periods=6, freq="D"),
    "interval": pd.interval_range(0, 6),
    "Int64": pd.Index([1, 2, 3, 4, 5, 6], dtype="Int64"),
    "text": pd.Index(list("abcdef")),
}

HUGE = pd.Series([10**400, 0] * 20, dtype=object)  # a list, older pandas cannot take


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def batches(**sizes: int) -> xr.Dataset:
    """Return random rankings of these sizes."""
    rng = np.random.default_rng(1)
    shape = tuple(sizes.values())
    scores = {name: (tuple(sizes), rng.random(shape)) for name in ("x", "y")}
    return xr.Dataset(scores | {"gold": (tuple(sizes), rng.random(shape) < 0.5)})


def test_the_order_of_items_changes_no_calibration(items):
    def asked(data):
        return data.rankeval.population_calibration(20, n_test_sets=4, n_resamples=100)

    pd.testing.assert_frame_equal(asked(items.sample(frac=1, random_state=1)), asked(items))


def test_the_order_of_items_with_labels_of_several_types_changes_no_calibration():
    rng = np.random.default_rng(0)
    labels = pd.Index([f"c{k}" if k % 2 else k for k in range(40)], dtype=object)
    items = pd.DataFrame(rng.random((40, 4)), index=labels)

    def asked(data):
        return data.rankeval.population_calibration(
            20, n_test_sets=3, n_resamples=20, bins=[0.0, 0.1, 0.2, 0.5]
        )

    pd.testing.assert_frame_equal(asked(items.sample(frac=1, random_state=1)), asked(items))


def test_beyond_one_half_the_interpolated_band_ends(df):
    band = df.rankeval.random_band(bound="interpolated", p=0.5)
    for name in ("fpr", "tpr"):
        values = band[name].dropna()
        assert values.between(0.0, 1.0).all()


@pytest.mark.parametrize("least", [1e-300, 1e-306, 1e-310, 1e-320, 5e-324])
def test_levels_down_to_the_last_number(df, least):
    bound = df.rankeval.random_bound(least)
    envelope = df.rankeval.random_envelope(least)
    most = np.minimum(bound["n"], df["gold"].sum())
    assert (bound["critical"] == most + 1).all()
    assert not bound["attainable"].any()
    assert not envelope["attainable"].any()  # all forty in one order: 1.6e-11 at least


def test_a_p_value_is_at_most_one(df):
    table = df.assign(x=1.0).rankeval.random_test([5, 39], ties="expected", measures="x")
    assert table["p_value"].le(1.0).all()


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


@pytest.mark.parametrize("n", [b"1", bytearray(b"2"), "3"])
def test_text_is_no_size(df, n):
    with pytest.raises(TypeError, match="pass a whole number of at least 1"):
        df.rankeval.nbest_precision(n)


@pytest.mark.parametrize(
    "n", [2**64, 10**30, np.uint64(2**63), np.array([2**63], dtype=np.uint64), [1, 2**70]]
)
def test_sizes_that_no_memory_has(df, n):
    with pytest.raises(ValueError, match="exceeds any possible number of candidates"):
        df.rankeval.nbest_precision(n)


@pytest.mark.parametrize("method", ["nbest_precision", "random_bound", "compare"])
def test_a_range_that_no_memory_holds(df, method):
    arguments = {"nbest_precision": (), "random_bound": (0.05,), "compare": ("x", "y")}[method]
    with pytest.raises(ValueError, match=r"999,999,999,999 lists .*None for every n"):
        getattr(df.rankeval, method)(*arguments, n=range(1, 10**12))


@pytest.mark.parametrize(
    "method", ["compare", "significant_ranges", "difference_region", "tie_sensitivity"]
)
def test_a_measure_is_not_compared_with_itself(df, method):
    sizes = () if method == "significant_ranges" else (5,)
    with pytest.raises(ValueError, match="a and b both name 'x'"):
        getattr(df.rankeval, method)("x", "x", *sizes)


def test_flags_of_the_users_frame(df, items):
    flagged = df.assign(q=[0, 1] * 20).set_flags(allows_duplicate_labels=False)
    for ask in (
        lambda data: data.rankeval(by="q").nbest_precision([3, 5]),
        lambda data: data.rankeval(by="q").compare("x", "y", [3, 5]),
        lambda data: data.rankeval(by="q").roc(),
    ):
        pd.testing.assert_frame_equal(
            ask(flagged), ask(flagged.set_flags(allows_duplicate_labels=True)), check_flags=False
        )
    assert not flagged.flags.allows_duplicate_labels
    domains = items.assign(d=[0, 1] * 30).set_flags(allows_duplicate_labels=False)
    assert len(domains.rankeval(by="d", measures=list("abc")).paired_permutation()) == 6


@pytest.mark.full
@pytest.mark.parametrize("name", ["n", "tp", "score", "present", "measure", "share", "rank"])
@pytest.mark.parametrize("lazy", [False, True])
def test_scalar_coordinates_of_any_name(name, lazy):
    plain = batches(q=2, candidate=60)
    data = plain.assign_coords({name: 5})
    data = data.chunk() if lazy else data
    for ask in (
        lambda ds: ds.rankeval.nbest_precision([3, 5])["precision"],
        lambda ds: ds.rankeval.compare("x", "y", 3)["p_value"],
        lambda ds: ds.rankeval.roc()["tpr"],
        lambda ds: ds.rankeval.area()["area"],
    ):
        np.testing.assert_array_equal(ask(data).to_numpy(), ask(plain).to_numpy())


@pytest.mark.parametrize("lazy", [False, True])
def test_no_batch_and_no_candidate(lazy):
    none, empty = batches(q=0, candidate=5), batches(q=2, candidate=0)
    if lazy:
        none, empty = none.chunk(), empty.chunk()
    assert none.rankeval.nbest_precision(2).sizes == {"q": 0, "measure": 2, "n": 1}
    assert none.rankeval.compare("x", "y", 2).sizes["q"] == 0
    assert none.rankeval.difference_region("x", "y", 2).sizes == {"row": 0}
    assert empty.rankeval.nbest_precision().sizes == {"q": 2, "measure": 2, "n": 0}


@pytest.mark.parametrize("lazy", [False, True])
def test_lists_longer_than_some_batches(lazy):
    data = batches(q=2, candidate=6)
    data["gold"] = data["gold"].astype(float)
    data["gold"][1, 4:] = data["x"][1, 4:] = data["y"][1, 4:] = np.nan
    asked = data.chunk() if lazy else data
    table = asked.rankeval.nbest_precision([3, 6]).compute()
    assert np.isnan(table["precision"].to_numpy()).tolist() == [
        [[False] * 2] * 2,
        [[False, True]] * 2,
    ]
    with pytest.raises(ValueError, match="n=9 exceeds the number of candidates, 6"):
        asked.rankeval.nbest_precision([3, 9])


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_difference_regions_of_candidates_with_any_labels(labels):
    data = batches(q=2, candidate=6)
    plain = data.assign_coords(candidate=np.arange(6)).rankeval.difference_region("x", "y", 3)
    table = data.assign_coords(candidate=labels).rankeval(rng=0).difference_region("x", "y", 3)
    assert table["candidate"].to_index().equals(labels[plain["candidate"].to_numpy()])
    xr.testing.assert_equal(table.drop_vars("candidate"), plain.drop_vars("candidate"))


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([pd.NaT] * 40, r"contains missing \(40\)"),
        ([[1]] * 40, r"contains \[1\] \(40\)"),
        ([""] * 40, r"contains '' \(40\)"),
        ([5, 7] * 20, r"contains 5 \(20\), 7 \(20\).*min_grade"),
        ([np.inf, 1.0] * 20, r"contains 1.0 \(20\), inf \(20\)"),
    ],
)
def test_what_is_no_gold_label(df, gold, message):
    data = df.assign(gold=gold)
    with pytest.raises(ValueError, match=message):
        data.rankeval(gold="gold").nbest_precision(2)
    assert "%" not in repr(data.rankeval(gold="gold"))


@pytest.mark.parametrize(
    "labels", [[Colour.BLUE, Colour.RED], [[1], [2]], [{1}, {2}], [frozenset({1}), frozenset({2})]]
)
def test_groups_whose_labels_cannot_be_sorted(df, items, labels):
    with pytest.raises(TypeError, match=r"'q' of type .*data\['q'\].astype\(str\)"):
        df.assign(q=labels * 20).rankeval(by="q").nbest_precision(2)
    domains = items.assign(q=labels * 30).rankeval(by="q", measures=list("abc"))
    with pytest.raises(TypeError, match=r"of type .*data\['q'\].astype\(str\)"):
        domains.paired_permutation()


def test_groups_without_a_name(df):
    with pytest.raises(ValueError, match="by='q' has 20 missing values"):
        df.assign(q=[pd.NA, "a"] * 20).rankeval(by="q").nbest_precision(2)


def test_no_measure_at_all(df, items):
    with pytest.raises(ValueError, match="measures"):
        df.rankeval(measures=[]).nbest_precision(2)
    with pytest.raises(
        ValueError, match=r"measures=\[\] contains no names \(systems: 'a', 'b', 'c'\)"
    ):
        items.rankeval(measures=[]).paired_bootstrap()


def test_what_no_memory_holds_is_said_before_it_is_tried(items, monkeypatch):
    monkeypatch.setattr(errors, "free_memory", lambda: 2**20)
    with pytest.raises(
        MemoryError, match=r"3 pairs each require 50,000 .* 2 MB .* 1 MB .*n_resamples"
    ):
        items.rankeval.paired_permutation(n_resamples=50_000, method="monte-carlo")
    many = pd.DataFrame(np.random.default_rng(0).random((2_000, 12))).assign(
        gold=[True, False] * 1_000
    )
    with pytest.raises(
        MemoryError, match=r"66 pairs of measures at 2,000 list sizes .* 132,000 rows"
    ):
        many.rankeval.compare()
    with pytest.raises(
        MemoryError, match=r"12 measures at 2,001 values of n .* 24,012 rows.*n=\.\.\."
    ):
        many.rankeval.roc()
    with pytest.raises(MemoryError, match=r"distribution functions of 2,000 lists"):
        many.rankeval.random_cdf(None)
    assert len(many.rankeval.nbest_precision(10)) == 12
    monkeypatch.setattr(errors, "free_memory", lambda: None)
    assert len(items.rankeval.paired_permutation(n_resamples=50_000)) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_free_memory_knows_the_limit_of_the_process():
    code = (
        "import resource; from rankeval_pd.errors import free_memory\n"
        "assert free_memory() > 0\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "assert 0 < free_memory() < 2**31"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df: df.rankeval(measures=[["x"]]).nbest_precision(1), "is not a column name"),
        (lambda df: df.rankeval(ties=pd.NA).nbest_precision(1), "ties="),
        (
            lambda df: df.rankeval.with_association_measures(cells=None),
            "pass the columns that contain O11",
        ),
        (
            lambda df: df.rankeval.with_association_measures(cells=4),
            "pass the columns that contain O11",
        ),
        (lambda df: df.rankeval.nbest_precision(1, level=10**400), "outside"),
        (
            lambda df: df.assign(k=[[1]] * 40).rankeval(key="k").nbest_precision(1),
            "cannot be distinguished",
        ),
        (lambda df: df.assign(gold=HUGE).rankeval.nbest_precision(1), "gold='gold'"),
    ],
)
def test_odd_options_of_rankings_are_named(df, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(df)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rankeval_pd.expected_agreement(0.1, [1, 2, 3], [1, 2]), "do not broadcast"),
        (lambda: rankeval_pd.detectable_gain([1.0, 2.0], [1, 2, 3]), "do not broadcast"),
        (lambda: rankeval_pd.needed_items([1.0, 2.0], 1.0, [1, 2, 3]), "do not broadcast"),
        (lambda: rankeval_pd.needed_items(1e-300, 1e300, 5), "requires more than"),
        (lambda: rankeval_pd.dispersion_for(0.1, 0.1, np.inf), "n_samples=inf"),
        (lambda: rankeval_pd.datasets.true_precision("x", quality=1.0), "share='x'"),
        (lambda: rankeval_pd.datasets.true_precision(0.1, quality=np.inf), "quality=inf"),
        (lambda: rankeval_pd.datasets.simulate_candidates("x"), "n_candidates='x'"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, rng=1.5), "rng=1.5"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, correlation="x"), "correlation='x'"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality=3), "quality=3"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality={"A": "x"}), "quality"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, decimals=1.5), "decimals=1.5"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, decimals=400), "at most 300"),
    ],
)
def test_odd_numbers_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_numbers_of_any_size_agree():
    many = rankeval_pd.expected_agreement(0.1, 10**30, 10**30)
    assert many == pytest.approx(rankeval_pd.expected_agreement(0.1, 5, 5), rel=1e-12)
    assert rankeval_pd.dispersion_for(1e200, 1e-200, 5).phi == np.inf
    assert rankeval_pd.datasets.true_precision(0.1, quality=1e300) == pytest.approx(1.0)


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


def test_names_that_are_equal_to_nothing(df, items):
    named = df.set_axis(pd.Index([pd.NA, "y", "gold"], dtype=object), axis=1)
    assert len(named.rankeval.nbest_precision(3, measures="y")) == 1
    assert len(named.rankeval(measures=[pd.NA, "y"]).nbest_precision(3)) == 2
    assert len(named.rankeval.nbest_precision(3)) == 2
    systems = items.set_axis(pd.Index(["a", pd.NA, pd.NaT], dtype=object), axis=1)
    assert len(systems.rankeval.paired_permutation()) == 3


def test_sparse_scores_with_gaps(df):
    sparse = df.assign(x=pd.arrays.SparseArray(df["x"].to_numpy()))
    pd.testing.assert_frame_equal(
        sparse.rankeval.nbest_precision(3), df.rankeval.nbest_precision(3)
    )


def test_columns_of_two_levels_in_no_order(items):
    header = pd.MultiIndex.from_tuples([(s, x) for x in ("correct", "total") for s in "cab"])
    wide = pd.concat([items[list("cab")], items[list("cab")] * 0 + 1], axis=1).set_axis(
        header, axis=1
    )
    with pytest.raises(KeyError, match="by: no column 'zz'"):
        wide.rankeval(metric="accuracy", by="zz").paired_permutation()
    with pytest.raises(ValueError, match="2 columns named"):
        wide.rankeval(metric="accuracy", groups="b").paired_permutation()


def test_scores_near_the_largest_float(df):
    far = df.assign(id=np.where(df["gold"], 1.7e308, -1.7e308))
    assert far.rankeval.area(measures=["id"])["area"].tolist() == [1.0]
    with pytest.warns(rankeval_pd.RankevalWarning, match="'id'"):
        far.rankeval.area()


def test_wilson_without_a_level():
    low, high = rankeval_pd.precision_interval([0, 3], [5, 5], ci="wilson", level=5e-324)
    assert low.tolist() == pytest.approx([0.0, 0.6])
    assert high.tolist() == pytest.approx([0.0, 0.6])


def test_averages_over_all_orders_have_no_p_above_one():
    data = pd.DataFrame({"x": [1.0] * 15, "gold": [True, False, False] * 5})
    table = data.rankeval.random_test(ties="expected")
    assert table["p_value"].le(1.0).all()
    assert table["log10_p"].le(0.0).all()


def test_a_coordinate_with_the_name_of_a_column():
    data = batches(q=2, candidate=6).assign_coords(ci_low=("q", [1, 2]))
    assert data.rankeval.nbest_precision([3])["by_ci_low"].to_numpy().tolist() == [1, 2]
    assert "ci_low" in data.coords
    assert batches(q=2, candidate=6).assign_coords(year=("q", [1, 2])).rankeval.roc()["year"].size


@pytest.mark.parametrize("alpha", [5e-324, 1e-320])
def test_no_small_alpha_overflows(df, items, alpha):
    with pytest.raises(ValueError, match="a resampling test would need"):
        df.rankeval.compare("x", "y", [3], adjust="max-t", alpha=alpha)
    with pytest.raises(MemoryError, match="n_resamples"):
        items.rankeval.paired_bootstrap(alpha=alpha)


@pytest.mark.parametrize("least", [1e-300, 5e-324])
def test_bounds_of_every_n_at_the_last_levels(least):
    data = pd.DataFrame({"gold": [True] * 300 + [False] * 300})
    every, some = data.rankeval.random_bound(least), data.rankeval.random_bound(least, n=[200, 290])
    at = every.set_index("n").loc[[200, 290], "critical"]
    assert at.tolist() == some["critical"].tolist()


def test_dimensions_with_labels_beside_a_scalar(items):
    data = batches(q=2, candidate=6).assign_coords(q=["a", "b"], n=5)
    for ask in (
        lambda ds: ds.rankeval.random_cdf([3]),
        lambda ds: ds.rankeval.det(),
        lambda ds: ds.rankeval.random_envelope(0.05),
        lambda ds: ds.rankeval.random_band(p=0.05),
    ):
        xr.testing.assert_equal(ask(data), ask(data.drop_vars("n")))
    values = np.random.default_rng(0).integers(0, 2, (2, 40, 2))
    systems = xr.Dataset({"v": (("q", "item", "system"), values)}, {"q": ["a", "b"], "pair": 5})
    assert systems.rankeval.paired_permutation().sizes == {"q": 2, "pair": 1}


def test_no_items_in_groups(items):
    with pytest.raises(ValueError, match="data has no item"):
        items.assign(q="a").iloc[:0].rankeval(by="q", measures=list("ab")).paired_permutation()


def test_other_odd_values_are_named(df, items):
    with pytest.raises(MemoryError, match="resamples of"):
        rankeval_pd.resample_counts(10**12, 10**12)
    with pytest.raises(ValueError, match="families=nan"):
        items.rankeval.paired_permutation(families=np.nan)
    with pytest.raises(ValueError, match="do not broadcast"):
        rankeval_pd.precision_interval([1, 2, 3], [4, 5])
    with pytest.raises(ValueError, match="do not broadcast"):
        rankeval_pd.coverage_for([1, 2], [], 0.5)
    with pytest.raises(ValueError, match="n="):
        df.rankeval.nbest_precision(range(-(2**70), -(2**70) + 2))
    assert np.isnan(batches(q=0, candidate=5).rankeval.isolines([2])["tpr"].to_numpy()).all()
    with pytest.raises(KeyError, match="cells"):
        df.rankeval.with_association_measures(cells=[["O11"], "O12", "O21", "O22"])


def test_flags_of_items_that_are_drawn(items):
    flagged = items.set_flags(allows_duplicate_labels=False)
    table = flagged.rankeval.population_calibration(20, n_test_sets=2, n_resamples=50)
    assert len(table) > 0


def test_names_that_are_equal_to_nothing_in_pairs(df):
    named = df.set_axis(pd.Index([pd.NA, "y", "gold"], dtype=object), axis=1)
    assert len(named.rankeval.compare("y", n=3)) == 1
    if pd.NA not in named.columns:  # older pandas finds it
        with pytest.raises(KeyError, match="b: no column <NA>"):
            named.rankeval.compare("y", pd.NA, 3)
        with pytest.raises(KeyError, match="threshold: no column <NA>"):
            named.rankeval.acceptance_precision({pd.NA: 0.5})
    with pytest.raises(ValueError, match="min_grade="):
        df.rankeval(min_grade=10**400).nbest_precision(3)


def test_no_batch_of_partly_judged_candidates():
    none = batches(q=0, candidate=5)
    assert none.rankeval.judged_difference("x", "y", 2).sizes["q"] == 0
    assert none.rankeval.judged_precision(2).sizes["q"] == 0


def lists_or_refusal(named, name):
    try:
        return set(named.rankeval.difference_region(name, "y", 5)["list"])
    except KeyError as error:
        return str(error)


@pytest.mark.parametrize("name", [pd.NA, pd.NaT, np.nan])
def test_names_that_are_missing_in_a_difference_region_and_in_pairs(df, items, name):
    named = df.set_axis(pd.Index([name, "y", "gold"], dtype=object), axis=1)
    found = lists_or_refusal(named, name)
    # newer versions of xarray take NA as NaN
    assert found == {"a", "b"} or (name is pd.NA and "a: no column <NA>" in found)
    systems = items.set_axis(pd.Index([name, "b", "c"], dtype=object), axis=1)
    for ask in (
        lambda: systems.rankeval.population_calibration(20, n_test_sets=2),
        lambda: systems.rankeval.paired_bootstrap(n_resamples=999).rankeval.calibration(systems),
    ):
        with pytest.raises(ValueError, match="a system is named"):
            ask()


@pytest.mark.parametrize("draws", [2**63, 10**11, 10**30])
def test_draws_that_no_memory_holds(df, items, draws):
    pairs = items.rankeval.paired_bootstrap(n_resamples=999)
    for ask in (
        lambda: df.rankeval.precision_band(5, n_resamples=draws),
        lambda: df.rankeval.difference_band("x", "y", 5, n_resamples=draws),
        lambda: df.rankeval.recall_band(5, n_resamples=draws),
        lambda: df.rankeval.mean_difference("x", "y", 5, n_resamples=draws),
        lambda: df.rankeval.tie_sensitivity("x", "y", 5, n_keys=draws),
        lambda: df.rankeval.compare(n=5, adjust="max-t", n_resamples=draws),
        lambda: df.rankeval.measure_ranks(5, n_resamples=draws),
        lambda: items.rankeval.system_ranks(n_resamples=draws),
        lambda: pairs.rankeval.calibration(items, ci="systems", n_resamples=draws),
        lambda: pairs.rankeval.gain_threshold(n_resamples=draws),
    ):
        with pytest.raises(MemoryError, match=r"n_resamples|n_keys="):
            ask()


def test_a_level_that_needs_more_draws_than_memory_holds(items):
    with pytest.raises(MemoryError, match="or larger alpha"):
        items.rankeval.system_ranks(adjust="bonferroni", alpha=1e-9)


@pytest.mark.parametrize(
    ("call", "edge"),
    [
        (lambda d: d.measure_ranks(5, level=float(np.nextafter(1, 0))), "level=0.99999999"),
        (lambda d: d.compare(n=5, adjust="max-t", alpha=1e-13), "alpha=1e-13"),
        (lambda d: d.significant_ranges(n=[5, 9], adjust="max-t", alpha=1e-13), "alpha=1e-13"),
    ],
    ids=["ranks", "compare", "ranges"],
)
def test_swaps_that_a_level_needs_are_refused_before_they_are_drawn(df, call, edge):
    """They were drawn until no memory was left: 5e16 of them."""
    with pytest.raises(MemoryError, match=rf"{edge}\S* with n_resamples=None requires \d"):
        call(df.rankeval)


def test_a_region_of_variables_that_only_pandas_has():
    rng = np.random.default_rng(0)
    text = pd.array([f"c{k}" for k in range(12)], dtype="string")
    data = xr.Dataset({name: ("candidate", rng.random(12)) for name in ("x", "y")})
    data = data.assign(gold=("candidate", rng.random(12) < 0.5), word=("candidate", text))
    region = data.rankeval.difference_region("x", "y", 4)
    plain = data.assign(word=("candidate", np.arange(12))).rankeval.difference_region("x", "y", 4)
    assert list(region["word"].to_numpy()) == [f"c{k}" for k in plain["word"].to_numpy()]
    assert list(region.data_vars) == list(plain.data_vars)
    with pytest.raises(ValueError, match="data has a column 'row'"):
        data.rename(y="row").rankeval.difference_region("x", "row", 4)
    for other in (None, ["y"]):
        with pytest.raises(TypeError, match="b="):
            data.rankeval.difference_region("x", other, 4)


def test_a_region_of_text_in_arrow():
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    text = pd.array([f"c{k}" for k in range(12)], dtype="string[pyarrow]")
    data = xr.Dataset({name: ("candidate", rng.random(12)) for name in ("x", "y")})
    data = data.assign(gold=("candidate", rng.random(12) < 0.5)).assign_coords(candidate=text)
    region = data.rankeval.difference_region("x", "y", 4)
    assert set(region["candidate"].to_numpy()) <= set(text)


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson", "jeffreys", "midp", "blaker"])
@pytest.mark.parametrize("phi", [1.0, 1e4, 1e6])
@pytest.mark.parametrize("level", [1e-300, 0.05, 0.95, 1.0 - 1e-16])
def test_limits_stay_in_order_however_much_lists_vary(ci, phi, level):
    tp, n = np.array([0, 1, 5, 10, 300, 10**6]), np.array([10, 10, 10, 10, 1000, 10**12 - 1])
    low, high = rankeval_pd.precision_interval(tp, n, ci=ci, phi=phi, level=level)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()
    if ci == "wilson":  # it always holds the share itself
        np.testing.assert_array_less(low - 1e-12, tp / n)
        np.testing.assert_array_less(tp / n, high + 1e-12)


def test_what_numbers_cannot_be(df, items):
    for phi in (1e300, 10**400):
        with pytest.raises(ValueError, match="phi="):
            rankeval_pd.precision_interval(1, 10, phi=phi)
    for n in (2**53, 2**63):
        with pytest.raises(ValueError, match="n must be below"):
            rankeval_pd.precision_interval(1, n)
    with pytest.raises(TypeError, match="n_items_other=None"):
        rankeval_pd.expected_agreement(0.05, 100, None)
    with pytest.raises(TypeError, match="prior=<NA>"):
        rankeval_pd.random_bound_for(0.05, 5, population="infinite", prior=pd.NA)
    with pytest.raises(ValueError, match="threshold: a whole number"):
        df.rankeval.acceptance_precision({"x": 10**400})
    with pytest.raises(ValueError, match="combine=True with ci=<NA>"):
        df.assign(q=1).rankeval.compare(n=3, by="q", combine=True, ci=pd.NA)
    with pytest.raises(ValueError, match="by='nothing'"):
        xr.Dataset({"v": (("item", "system"), items.to_numpy())}).rankeval.gain_by_size(
            [20], by="nothing"
        )
    low = rankeval_pd.dispersion_for(0, 0.3, 10**12, level=1.0 - 1e-16)
    assert (low.phi, low.phi_low, low.phi_high) == (0.0, 0.0, np.inf)


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_bars_move_as_far_as_they_say(df, items, capfd):
    many = df.assign(**{f"m{k}": df["x"] + k * df["y"] for k in range(4)})
    many.rankeval.compare(n=[3, 5], progress=True)
    many.rankeval.compare_area(progress=True)
    df.rankeval.random_envelope(progress=True)
    df.rankeval.random_cdf(5, progress=True)
    items.rankeval.population_calibration(30, n_test_sets=2, progress=True)
    df.rankeval.judged_recall([3, 5], progress=True)
    shown = capfd.readouterr().err
    for said in (
        "comparing lists", "comparing areas", "trying levels", "distribution functions",
        "drawing test sets", "lists judged in part",
    ):  # fmt: skip
        assert said in shown


def test_test_sets_beyond_memory_are_refused(items):
    with pytest.raises(
        MemoryError, match=r"n_test_sets=\d+ requires .* Pass a smaller n_test_sets="
    ):
        items.rankeval.population_calibration(30, n_test_sets=2**60)


def test_distributions_of_many_lists_are_those_of_each(df, monkeypatch):
    monkeypatch.setattr("rankeval_pd.chance.bounds._LISTS_AT_ONCE", 7)
    every = df.rankeval.random_cdf(range(1, 41)).set_index("n")
    for n in (1, 17, 40):
        alone = df.rankeval.random_cdf(n).set_index("n")
        pd.testing.assert_frame_equal(every.loc[[n]], alone, check_exact=True)


def test_odd_roles_and_flags(df, items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=999)
    for bins in ([np.nan, 0.5], [0.1, np.nan]):
        with pytest.raises(ValueError, match="bins="):
            pairs.rankeval.calibration(items, bins=bins)
    for role in ("dim", "key", "label", "by", "gold", "groups"):
        with pytest.raises(TypeError, match=f"{role}=<NA>"):
            df.rankeval.area(**{role: pd.NA})
    odd = np.array([[1, 2]])
    for ask in (df.rankeval.compare, df.rankeval.random_test):
        with pytest.raises(TypeError, match="combine="):
            ask(n=3, combine=odd)
    with pytest.raises(TypeError, match="progress=<NA>"):
        items.rankeval.paired_permutation(progress=pd.NA)
    for none in ([], {}, np.array([], dtype=int)):
        with pytest.raises(ValueError, match="requests no list"):
            batches(q=2, candidate=5).rankeval.random_bound(n=none)
    with pytest.raises(ValueError, match="judged_with has values of shape"):
        df.rankeval.judged_precision(3, judged_with=odd)
    named = df.set_axis(pd.Index([pd.NA, "y", "gold"], dtype=object), axis=1).assign(x=df["x"])
    table = named.rankeval.compare("x", "y", threshold={"x": 0.5, "y": 0.5, pd.NA: 0.5})
    assert len(table) == 1
    half = df.assign(word=np.arange(40, dtype="f2"))
    pd.testing.assert_frame_equal(
        half.rankeval(measures=["x"]).area(label="word"),
        half.assign(word=np.arange(40.0)).rankeval(measures=["x"]).area(label="word"),
    )
    lacking = batches(q=3, candidate=5).assign(x=lambda data: data["x"].where(data["x"] < 0.0))
    with (
        pytest.warns(rankeval_pd.RankevalWarning, match="evaluates 'x' without"),
        pytest.warns(rankeval_pd.RankevalWarning, match=r"n=3 exceeds.*in every batch.*NaN"),
    ):
        found = lacking.rankeval.nbest_precision([3], measures=["x"], missing="drop")
    assert np.isnan(found["precision"]).all()
    short = batches(q=3, candidate=5)
    short = short.assign(gold=short["gold"].where(short["candidate"] < 2).astype(float))
    with pytest.warns(rankeval_pd.RankevalWarning, match="n=3 exceeds"):
        compared = short.where(~np.isnan(short["gold"])).rankeval.compare("x", "y", n=[1, 3])
    assert not np.isnan(compared["difference"].sel(n=1)).any()
    assert np.isnan(compared["difference"].sel(n=3)).all()


def test_more_than_there_can_be(df, items):
    with pytest.raises(
        ValueError, match=r"pool=10{80} is too large .* Pass a number below 2\*\*53"
    ):
        df.rankeval.random_test(2, n_candidates=10**80)
    with pytest.raises(MemoryError, match=r"n_items=9223372036854775808 requires.*Pass a smaller"):
        items.rankeval.population_calibration(2**63, n_test_sets=2, n_resamples=20)
    with pytest.raises(MemoryError, match=r"n_test_sets=10{400} requires.*Pass a smaller"):
        items.rankeval.population_calibration(2, n_test_sets=10**400, n_resamples=20)
    with pytest.raises(TypeError, match=r"n_items=1.5: pass one whole number"):
        items.rankeval.gain_by_size([20]).rankeval.gain_threshold(n_items=1.5)
    with pytest.raises(ValueError, match=r"n=\[-1, -1, .*\(100 in all\)\]: pass counts"):
        rankeval_pd.random_pvalue(1, np.full(100, -1), n_candidates=10, n_positive=5)


def test_no_tail_of_signs_is_above_one():
    """Transforms of laws add up to one and a little."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        numbers = rng.integers(-3, 4, 200)
        for law in (SignedSum(numbers), DrawnSum(numbers)):
            lowest = int(law.values[0])  # noqa: PD011
            for edge in range(lowest, lowest + 60):
                assert law.tail(edge) <= 1.0


def test_partly_judged_lists_of_nothing_and_of_no_name():
    data = batches(q=0, candidate=5).assign(rate=("candidate", np.full(5, 0.5)))
    data = data.assign(gold=data["gold"].astype(float))
    found = data.rankeval.judged_precision(2, judged_with="rate", measures=["x", "y"])
    assert found["precision"].size == 0
    with pytest.raises((TypeError, KeyError), match="NA"):
        batches(q=2, candidate=5).rankeval.judged_difference("x", pd.NA, 1)


def test_seeds_of_no_items(items):
    with pytest.raises(ValueError, match=r"seeds='.*': data has no item"):
        items.assign(seed=1)[:0].rankeval(seeds="seed").paired_bootstrap()


@pytest.mark.parametrize("window", [10**6, 2**62, 2**64, 10**30])
def test_windows_beyond_all_candidates(df, window):
    with pytest.raises(ValueError, match=f"window={window} exceeds the number of candidates"):
        df.rankeval.local_precision(window)


@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_measures_in_two_dimensions(missing):
    data = batches(q=2, candidate=5)
    with pytest.raises(TypeError, match=r"array\(\[\[1, 2\]\]\) is not a column name"):
        data.rankeval.judged_precision(1, measures=np.array([[1, 2]]), missing=missing)


def test_least_levels_of_intervals_by_signs():
    scores = np.random.default_rng(0).random((60, 3)) < 0.4
    for draws in (19, 20, 99):
        table = pd.DataFrame(scores + 0.5).rankeval.paired_bootstrap(
            n_resamples=draws, level=5e-324, adjust=None
        )
        assert (table["ci_low"] <= table["ci_high"]).all()


def test_what_is_no_name_or_names_nothing(df, items):
    with pytest.raises(KeyError, match=r"a: no column \{\}"):
        items.rankeval.paired_bootstrap({})
    with pytest.raises(KeyError, match=r"b: no column \{\}"):
        df.rankeval.difference_band("x", {}, 5)
    for data in (df, batches(q=0, candidate=5)):
        with pytest.raises(ValueError, match="contains no names"):
            data.rankeval.random_bound(measures=[])
    with pytest.raises(ValueError, match="is empty"):
        df.rankeval.with_association_measures({})
    with pytest.raises(TypeError, match="n_items=True"):
        items.rankeval.paired_bootstrap(n_resamples=999).rankeval.gain_threshold(n_items=True)


def test_lazy_scores_that_are_no_numbers_are_refused_at_once():
    pytest.importorskip("dask")
    data = batches(q=2, candidate=6)
    lazy = data.assign(x=data["x"] + 1j).chunk({"q": 1})
    with pytest.raises(TypeError, match="'x' has dtype complex128"):
        lazy.rankeval.nbest_precision(2, measures=["x"])
    none = data.chunk({"q": 1}).rankeval.acceptance_precision({"x": []}, measures=["x"])
    assert none["tp"].sizes["cut"] == 0


@pytest.mark.parametrize("how", [{"q": 1}, {"q": 2, "candidate": 7}])
def test_partly_judged_lists_of_lazy_batches(how):
    dask = pytest.importorskip("dask")
    data = batches(q=3, candidate=20)
    data = data.assign(gold=data["gold"].where(data["x"] < 0.7))
    lazy = data.chunk(how)
    for ask in (
        lambda x: x.rankeval.judged_difference("x", "y", [2, 5]),
        lambda x: x.rankeval.judged_precision([2, 5]),
        lambda x: x.rankeval.judged_precision(None, unjudged="bounds"),
        lambda x: x.rankeval.judged_recall([2, 5], windows=[3, 10]),
        lambda x: x.rankeval.judged_average_precision(),
    ):
        with dask.config.set(scheduler=_refused):  # nothing is computed before it is asked for
            found = ask(lazy)
        xr.testing.assert_identical(found.compute(), ask(data))
    for ask in (
        lambda x: x.rankeval.judged_precision([0.1, 0.5]),
        lambda x: x.rankeval.judged_precision([2, 5], judged_with=0.7),
        lambda x: x.rankeval.judged_precision(None, ties="blocks"),
    ):
        xr.testing.assert_identical(ask(lazy).compute(), ask(data))


def test_partly_judged_lists_of_padded_lazy_batches():
    pytest.importorskip("dask")
    data = batches(q=3, candidate=20).assign(size=("q", [20, 7, 13]))
    real = data["candidate"] < data["size"]
    judged = np.random.default_rng(0).random((3, 20)) < 0.5
    data = data.drop_vars("size").where(real)
    data = data.assign(gold=data["gold"].where(judged))
    for ask in (
        lambda x: x.rankeval.judged_precision([2, 10], measures=["x", "y"]),
        lambda x: x.rankeval.judged_recall([2, 10], measures="x"),
        lambda x: x.rankeval.judged_average_precision(measures=["x", "y"]),
        lambda x: x.rankeval.judged_difference("x", "y", [2, 10]),
    ):
        found, expected = ask(data.chunk(q=1)).compute(), ask(data)
        xr.testing.assert_identical(found, expected)
        assert {x: found[x].dtype for x in found} == {x: expected[x].dtype for x in expected}


def test_random_models_of_lazy_batches_count_labels():
    pytest.importorskip("dask")
    data = batches(q=4, candidate=20, r=2).transpose("q", "candidate", "r")
    real = xr.DataArray(np.arange(20), dims="candidate") < xr.DataArray([20, 7, 13, 1], dims="q")
    words = xr.where(data["gold"], "yes", "no").astype(object)
    forms = {
        "labels": (data, {}),
        "padded": (data.where(real), {}),
        "words": (data.assign(gold=words), {"positive": "yes"}),
        "grades": (data.assign(gold=data["gold"] * 3), {"min_grade": 2}),
        "dropped": (data.assign(x=data["x"].where(real)), {"missing": "drop", "measures": "x"}),
    }
    asked = (
        lambda x: x.random_bound([0.5, 0.01], [1, 7]),
        lambda x: x.random_band("roc", 0.1, [1, 7]),
        lambda x: x.random_envelope(0.1, [1, 7]),
        lambda x: x.isolines([1, 7]),
        lambda x: x.random_cdf([5]),
    )
    for name, (form, roles) in forms.items():
        for ask in asked:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
                found = ask(form.chunk(q=1, candidate=7).rankeval(**roles)).compute()
                expected = ask(form.rankeval(**roles))
            xr.testing.assert_identical(found, expected)
            assert {x: found[x].dtype for x in found} == {x: expected[x].dtype for x in found}, name


def _refused(*_args, **_how):
    raise AssertionError("computed")


@pytest.mark.parametrize(
    ("ask", "options"),
    [
        ("nbest_precision", {}),
        ("measure_ranks", {"adjust": "bonferroni", "n_resamples": 200}),
        ("compare", {}),
    ],
)
def test_a_level_as_near_1_as_a_float_has_limits(ask, options):
    df = rankeval_pd.datasets.simulate_candidates(60)
    found = getattr(df.rankeval, ask)(n=20, level=1.0 - 2.0**-53, details=True, **options)
    assert found.filter(regex="^ci_(low|high)").notna().all(axis=None)


@pytest.mark.parametrize("share", [np.array([[1, 2]]), np.array([0.1, 0.2])])
def test_a_share_that_is_an_array_is_refused(share):
    df = rankeval_pd.datasets.simulate_candidates(60)
    with pytest.raises((TypeError, ValueError), match="share="):
        df.rankeval.compare_area("good", "fair", kind="enrichment", share=share)
    with pytest.raises((TypeError, ValueError), match="share="):
        df.rankeval.compare_area("good", "fair", share=share)


@pytest.mark.parametrize("ask", ["system_ranks", "summary", "paired_bootstrap"])
def test_an_adjustment_that_is_missing_is_refused(ask):
    items = pd.DataFrame(np.eye(12, 3), columns=list("abc"))
    with pytest.raises(ValueError, match="adjust=<NA> is not one of"):
        getattr(items.rankeval, ask)(adjust=pd.NA)
