"""What only a hostile or unlucky caller gives: an answer, or an error that says what to do."""

from __future__ import annotations

import enum
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd.forms import memory

LABELS = {
    "categorical": pd.CategoricalIndex(list("abcdef")),
    "time zone": pd.date_range("2020", periods=6, tz="Europe/Berlin"),
    "period": pd.period_range("2020", periods=6, freq="D"),
    "interval": pd.interval_range(0, 6),
    "Int64": pd.Index([1, 2, 3, 4, 5, 6], dtype="Int64"),
    "text": pd.Index(list("abcdef")),
}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.fixture
def df() -> pd.DataFrame:
    """Forty candidates, two measures."""
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.random((40, 2)), columns=["x", "y"])
    return scores.assign(gold=rng.random(40) < 0.4)


@pytest.fixture
def items() -> pd.DataFrame:
    """Sixty items, three systems, right or wrong."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(0, 2, size=(60, 3)), columns=list("abc"))


def batches(**sizes: int) -> xr.Dataset:
    """Return random rankings of these sizes."""
    rng = np.random.default_rng(1)
    shape = tuple(sizes.values())
    scores = {name: (tuple(sizes), rng.random(shape)) for name in ("x", "y")}
    return xr.Dataset(scores | {"gold": (tuple(sizes), rng.random(shape) < 0.5)})


def test_the_order_of_items_changes_no_calibration(items):
    def asked(data):
        return data.rankeval.population_calibration(20, n_test_sets=4, n_resamples=100)

    with pytest.warns(rankeval_pd.RankevalWarning):
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
    with pytest.raises(TypeError, match=r"metric=<lambda> returned .* a score is a real number"):
        items.rankeval(metric=metric).paired_bootstrap()


@pytest.mark.parametrize("n", [b"1", bytearray(b"2"), "3"])
def test_text_is_no_size(df, n):
    with pytest.raises(TypeError, match="the size of a list is a whole number"):
        df.rankeval.nbest_precision(n)


@pytest.mark.parametrize(
    "n", [2**64, 10**30, np.uint64(2**63), np.array([2**63], dtype=np.uint64), [1, 2**70]]
)
def test_sizes_that_no_memory_has(df, n):
    with pytest.raises(ValueError, match="above the number of candidates that any data have"):
        df.rankeval.nbest_precision(n)


@pytest.mark.parametrize("method", ["nbest_precision", "random_bound", "compare"])
def test_a_range_that_no_memory_holds(df, method):
    arguments = {"nbest_precision": (), "random_bound": (0.05,), "compare": ("x", "y")}[method]
    with pytest.raises(ValueError, match=r"999,999,999,999 lists .*every n there is"):
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
    with pytest.raises(ValueError, match="n=9 is above the number of candidates, 6"):
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
        ([pd.NaT] * 40, r"holds missing \(40\)"),
        ([[1]] * 40, r"holds \[1\] \(40\)"),
        ([""] * 40, r"holds '' \(40\)"),
        ([5, 7] * 20, r"holds 5 \(20\), 7 \(20\).*min_grade"),
        ([np.inf, 1.0] * 20, r"holds 1.0 \(20\), inf \(20\)"),
    ],
)
def test_what_is_no_gold_label(df, gold, message):
    data = df.assign(gold=gold)
    with pytest.raises(ValueError, match=message):
        data.rankeval(gold="gold").nbest_precision(2)
    assert "%" not in repr(data.rankeval(gold="gold"))


@pytest.mark.parametrize("labels", [[Colour.BLUE, Colour.RED], [[1], [2]], [{1}, {2}]])
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
    with pytest.raises(ValueError, match=r"measures=\[\] names no system; there are 'a', 'b', 'c'"):
        items.rankeval(measures=[]).paired_bootstrap()


def test_what_no_memory_holds_is_said_before_it_is_tried(items, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"3 pairs ask for 50,000 .* 2 MB .* 1 MB .*n_resamples"):
        items.rankeval.paired_permutation(n_resamples=50_000, method="monte-carlo")
    many = pd.DataFrame(np.random.default_rng(0).random((2_000, 12))).assign(
        gold=[True, False] * 1_000
    )
    with pytest.raises(MemoryError, match=r"66 pairs of measures at 2,000 n .* 132,000 rows"):
        many.rankeval.compare()
    with pytest.raises(MemoryError, match=r"12 measures at 2,001 n .* 24,012 rows.*n=\.\.\."):
        many.rankeval.roc()
    with pytest.raises(MemoryError, match=r"distribution functions of 2,000 lists"):
        many.rankeval.random_cdf(None)
    assert len(many.rankeval.nbest_precision(10)) == 12
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert len(items.rankeval.paired_permutation(n_resamples=50_000)) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_free_memory_knows_the_limit_of_the_process():
    code = (
        "import resource; from rankeval_pd.forms.memory import free_memory\n"
        "assert free_memory() > 0\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "assert 0 < free_memory() < 2**31"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
