"""Differences of areas: R, all pairs by hand, SciPy, resamples, coverage."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from scipy import stats
from sklearn import metrics

import rankeval_pd
from tests.conftest import examples
from tests.curves.conftest import QUIET, SCORED

REFERENCE = Path(__file__).parents[1] / "simulations"


@pytest.fixture(scope="module")
def df():
    """Return two versions of a model, and another one."""
    rng = np.random.default_rng(7)
    gold = np.arange(1_000) < 150
    score = rng.normal(size=1_000) + 1.5 * gold
    return pd.DataFrame(
        {"first": score, "second": score + 0.05 * rng.normal(size=1_000),
         "other": rng.normal(size=1_000) + 1.2 * gold, "tp": gold}
    )  # fmt: skip


# ---------------------------------------------------------------------------------------- ROC areas


def test_delongs_test_of_r(simulated):
    """R: DeLong's covariance from all candidate pairs."""
    found = simulated.rankeval.compare_area(test="delong")
    pairs = pd.read_csv(REFERENCE / "delong.csv", comment="#")
    pairs = pairs[pairs["measure_a"] != pairs["measure_b"]]
    for column in ("measure_a", "measure_b"):
        assert found[column].tolist() == pairs[column].tolist()
    for column in ("area_a", "area_b", "z", "p_value"):
        np.testing.assert_allclose(found[column], pairs[column], rtol=1e-11)
    np.testing.assert_allclose(found["difference"], pairs["area_a"] - pairs["area_b"], rtol=1e-12)
    half = stats.norm.ppf(0.975) * found["difference"] / found["z"]
    np.testing.assert_allclose(found["ci_low"], found["difference"] - half, rtol=1e-12)
    np.testing.assert_allclose(found["ci_high"], found["difference"] + half, rtol=1e-12)
    assert "p_adjusted" not in found
    p = found["p_value"]
    held = simulated.rankeval.compare_area(test="delong", adjust="holm")
    assert held["p_adjusted"].to_numpy() == pytest.approx(
        [2 * p[0], 3 * p[1], max(2 * p[0], p[2])], rel=1e-14
    )


def _agrees(row) -> None:
    """The interval holds 0 where, and only where, the test does not reject."""
    assert (row["ci_low"] <= 0 <= row["ci_high"]) == (row["p_value"] > 0.05)
    assert -1 <= row["ci_low"] <= row["difference"] <= row["ci_high"] <= 1


@QUIET
@given(SCORED)
def test_tests_by_hand_from_all_pairs(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    other = (score * 7) % 5
    df = pd.DataFrame({"a": score, "b": other, "gold": gold})
    found = df.rankeval.compare_area("a", "b", test="delong").loc[0]
    if gold.sum() < 2 or (~gold).sum() < 2:
        assert np.isnan(found["p_value"])
        return
    kernels = [
        np.array(
            [[Fraction(int(p > q)) + Fraction(int(p == q), 2) for q in x[~gold]] for p in x[gold]]
        )
        for x in (score, other)
    ]
    k = kernels[0] - kernels[1]
    difference = k.mean()
    variance, weighted = Fraction(0), Fraction(0)
    for parts in (k.mean(axis=1), k.mean(axis=0)):
        mean = sum(parts) / len(parts)
        part = sum((x - mean) ** 2 for x in parts) / (len(parts) - 1) / len(parts)
        variance, weighted = variance + part, weighted + part**2 / (len(parts) - 1)
    assert found["difference"] == pytest.approx(float(difference), abs=1e-14)
    if variance == 0:
        assert found["z"] == 0 if difference == 0 else np.isnan(found["z"])
        assert found["p_value"] == 1 if difference == 0 else np.isnan(found["p_value"])
        return
    z = float(difference) / float(variance) ** 0.5
    assert found["z"] == pytest.approx(z, rel=1e-9, abs=1e-12)
    assert found["p_value"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
    least = min(k.shape) - 1  # of fewer than 5 candidates
    freedom = least if least < 4 else float(variance**2 / weighted)
    for side, p in (
        ("two-sided", 2 * stats.t.sf(abs(z), freedom)),
        ("greater", stats.t.sf(z, freedom)),
        ("less", stats.t.cdf(z, freedom)),
    ):
        student = df.rankeval.compare_area("a", "b", alternative=side).loc[0]
        assert student["p_value"] == pytest.approx(p, rel=1e-9)
        assert student["se"] == pytest.approx(float(variance) ** 0.5, rel=1e-9)
    _agrees(df.rankeval.compare_area("a", "b").loc[0])


def test_a_measure_and_its_copy(simulated):
    df = simulated[["good", "gold"]].assign(copy=simulated["good"] * 3 + 1)
    found = df.rankeval.compare_area("good", "copy").loc[0]
    assert found[["difference", "ci_low", "ci_high", "z"]].tolist() == [0, 0, 0, 0]
    assert found["p_value"] == 1
    gold = np.arange(500) < 70  # nor is there a variance of many equal differences
    flat = pd.DataFrame({"a": np.where(gold, 3, 1), "b": 1, "gold": gold})
    assert np.isnan(flat.rankeval(measures=["a", "b"]).compare_area().loc[0, "z"])


def test_equal_areas_differ_by_exactly_zero():
    """One positive moves up past a negative, and another moves down past one."""
    rng = np.random.default_rng(0)
    for positives, negatives in itertools.product((9, 15, 22), (9, 13, 29, 37)):
        order = rng.permutation(np.repeat([True, False], [positives, negatives]))
        gold = np.r_[[True, False], order, [False, True]]
        other = np.r_[[False, True], order, [True, False]]
        score = np.arange(gold.size, dtype=float)
        second = np.empty(gold.size)
        for label in (True, False):
            second[gold == label] = score[other == label]
        data = pd.DataFrame({"a": score, "b": second, "gold": gold})
        found = data.rankeval.compare_area(measures=["a", "b"], details=True).iloc[0]
        assert found["area_a"] == found["area_b"]
        assert found["difference"] == found["z"] == 0.0
        assert found["p_value"] == 1.0


def test_limits_of_a_difference_solve_their_equation():
    """(x - D)^2 = t^2 (V + K x / (x - D)); 0 is outside if and only if the test rejects it."""
    rng = np.random.default_rng(4)
    gold = np.arange(60) < 15
    common, dims = rng.normal(size=(50, 60)), ("sample", "candidate")
    a, b = (x * gold + common + rng.normal(size=(50, 60)) for x in (2.0, 1.0))
    ds = xr.Dataset({"a": (dims, a), "b": (dims, b), "tp": ("candidate", gold)}).rankeval(gold="tp")
    alone = ds.area(ci="delong", details=True)["se"] ** 2
    for level in (0.8, 0.95, 0.999):
        found = ds.compare_area("a", "b", level=level).isel(pair=0)
        gap, variance, p = found["difference"], found["se"] ** 2, found["p_value"]
        assert ((p <= 1 - level) == ((found["ci_low"] > 0) | (found["ci_high"] < 0))).all()
        unseen = (0.4 / 15 + 0.4 / 45) ** 2 * (variance + 2 / 675**2)
        unseen = unseen / (alone.sum("measure") + 2 / 675**2)
        # t from the limit above: the other end, by the same t, is then the limit below
        up, down = found["ci_high"] - gap, found["ci_low"] - gap
        t = up**2 / (variance + unseen * (1 + gap / up))
        kept = (found["ci_low"] < 0) & (found["ci_high"] > 0) & (found["ci_high"] < 1)
        assert kept.any() or level < 0.9
        np.testing.assert_allclose(
            (down**2).where(kept, 1.0),
            (t * (variance + unseen * (1 + gap / down))).where(kept, 1.0),
            rtol=1e-9,
        )


def test_limits_of_one_block_do_not_depend_on_the_level():
    """What is all one block does not vary."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.random(50), "y": 2.5, "gold": rng.random(50) < 0.5})
    found = df.rankeval.compare_area("x", "y", kind="ap", level=1 - 1e-16).iloc[0]
    assert -1.0 <= found["ci_low"] < found["difference"] < found["ci_high"] <= 1.0


def test_the_law_of_a_difference_is_normal_near_1():
    rng = np.random.default_rng(6)
    gold, dims = np.arange(120) < 20, ("sample", "candidate")
    for shift in (0.7, 3.5):
        a, b = shift * gold + rng.normal(size=(2, 40, 120))
        ds = xr.Dataset({"a": (dims, a), "b": (dims, b), "tp": ("candidate", gold)})
        found = ds.rankeval(gold="tp").compare_area("a", "b").isel(pair=0)
        normal = 2 * stats.norm.sf(np.abs(found["z"]))
        near = 0.5 * (found["area_a"] + found["area_b"]) >= 0.95
        assert near.any() == (shift > 1.0)
        np.testing.assert_allclose(
            found["p_value"].where(near, 0), np.where(near, normal, 0), atol=1e-6
        )
        far = 0.5 * (found["area_a"] + found["area_b"]) <= 0.85
        assert (found["p_value"] > normal).where(far & (found["z"] != 0), True).all()


# --------------------------------------------------------------------------- averages over groups


@pytest.mark.parametrize(
    ("kind", "area"),
    [("roc", metrics.roc_auc_score), ("ap", metrics.average_precision_score)],
)
def test_an_average_over_groups_is_a_paired_t_test_of_their_areas(df, kind, area):
    """scikit-learn's areas of each group, and SciPy's test of their means."""
    data = df.assign(user=np.arange(1_000) % 9)
    found = data.rankeval(by="user").compare_area(
        "first", "other", kind=kind, average="macro", details=True
    )
    areas = pd.DataFrame(
        [[area(x["tp"], x[name]) for name in ("first", "other")] for _, x in data.groupby("user")]
    )
    wanted = stats.ttest_rel(areas[0], areas[1])
    [row] = found.to_dict("records")
    assert [row["area_a"], row["area_b"]] == pytest.approx(areas.mean().tolist())
    assert [row["z"], row["p_value"]] == pytest.approx([wanted.statistic, wanted.pvalue])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([*wanted.confidence_interval()])
    assert (row["n_queries"], row["n_missing"]) == (9, 0)
    one_sided = data.rankeval(by="user").compare_area(
        "first", "other", kind=kind, average="macro", alternative="less", margin=0.01
    )
    less = stats.ttest_rel(areas[0], areas[1], alternative="less").pvalue
    shifted = stats.ttest_rel(areas[0] - areas[1], 0.0 * areas[1] + 0.01, alternative="less")
    assert one_sided.loc[0, "p_value"] == pytest.approx(less)
    if kind == "roc":
        assert one_sided.loc[0, "p_noninferior"] == pytest.approx(shifted.pvalue, rel=1e-4)


def test_averages_are_those_of_area(df):
    """Also micro averages, groups of one class, equal rankings, and families."""
    number = np.arange(1_000)
    data = df.assign(user=np.where(number < 900, number % 6, 6))  # the last group has no positive
    roles = data.rankeval(by="user", measures=["first", "second", "other"])
    areas = roles.area(average="micro", details=True).set_index("measure")
    found = roles.compare_area(average="micro", adjust="holm", details=True)
    assert found["area_a"].to_numpy() == pytest.approx(areas["area"][found["measure_a"]].to_numpy())
    assert found["n_missing"].tolist() == [1] * 3
    assert found.attrs["family"] == "all 3 pairs"
    same = data.assign(second=data["first"]).rankeval(by="user")
    [equal] = same.compare_area("first", "second", average="macro").to_dict("records")
    assert [equal["ci_low"], equal["ci_high"], equal["p_value"]] == [0, 0, 1]


@pytest.mark.parametrize("method", ["area", "compare_area", "nbest_precision", "compare"])
def test_folds_are_no_sample(df, method):
    data = df.assign(cv_fold=np.arange(1_000) % 5).rankeval(by="cv_fold")
    asked = {"n": 20} if method in ("nbest_precision", "compare") else {}
    with pytest.warns(rankeval_pd.RankevalWarning, match="by='cv_fold': folds share"):
        getattr(data, method)(average="macro", **asked)


def test_an_average_without_groups_or_by_delong_is_refused(df):
    with pytest.raises(ValueError, match="there are none"):
        df.rankeval.compare_area(average="macro")
    with pytest.raises(ValueError, match="average='macro' with test='delong'"):
        df.rankeval(by="tp", gold="tp").compare_area(average="macro", test="delong")


# ------------------------------------------------------------------------------- average precision


@QUIET
@given(SCORED)
@settings(max_examples=examples(20))
def test_a_comparison_of_average_precision_agrees_with_itself(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "b": (score * 7) % 5, "gold": gold})
    row = df.rankeval.compare_area("a", "b", kind="ap").loc[0]
    if not np.isnan(row["p_value"]):
        _agrees(row)


def test_what_does_not_fit_is_refused(df):
    for asked, match in (
        ({"kind": "bedroc"}, "kind='bedroc' is not one of 'roc', 'ap'"),
        ({"fpr": 0.1}, r"Unknown keyword 'fpr'."),
        ({"kind": "ap", "test": "delong"}, "test='delong' requires kind='roc'"),
    ):
        with pytest.raises((TypeError, ValueError), match=match):
            df.rankeval(gold="tp").compare_area("first", "other", **asked)


@pytest.mark.parametrize(
    ("test", "laws"), [("t", "linearized inverted-t"), ("delong", "delong delong")]
)
def test_the_record_names_the_test_and_the_interval_that_ran(df, test, laws):
    attrs = df.rankeval(gold="tp").compare_area("first", "other", test=test).attrs
    assert [attrs["test"], attrs["interval"]] == laws.split()
