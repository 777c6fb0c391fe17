"""Hall's (1992) transformation: against its formula in many digits, and in simulations."""

import itertools

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rankeval_pd.stats.families import simultaneous_limits
from rankeval_pd.stats.proportions import held_back_t, transformed, untransformed
from tests.simulations import skewness as study

LEAN = st.floats(-0.99, 0.99)  # one item that differs from all others has a lean of 1
T = st.floats(-30.0, 30.0)


@given(T, LEAN)
def test_the_statistic_and_its_inverse(t, lean):
    """Hall (1992) writes the cubic as ((1 + a t/3)³ − 1)/a + a/6."""
    found = transformed(np.array(t), np.array(lean))
    with mpmath.workdps(700):  # a may be as small as floats are
        a = mpmath.mpf(lean)
        cube = ((1 + a * t / 3) ** 3 - 1) / a if lean else mpmath.mpf(t)
        assert float(abs(found - cube - a / 6)) <= 1e-10 * max(1.0, abs(float(cube)))
    back = untransformed(found, np.array(lean))  # the cubic is flat at t = -3/a
    assert_allclose(transformed(back, np.array(lean)), found, rtol=1e-9, atol=1e-9)
    assert transformed(np.array(-t), np.array(-lean)) == -found


@given(T, LEAN, st.booleans())
def test_the_statistic_that_rejects_less(t, lean, two_sided):
    found = float(held_back_t(np.array(t), np.array(lean), two_sided=two_sided))
    hall = float(transformed(np.array(t), np.array(lean)))
    if not two_sided:
        assert found == min(t, hall)
    elif np.sign(t) != np.sign(hall):
        assert found == 0.0
    else:
        assert found == np.sign(t) * min(abs(t), abs(hall))


def _row(differences, **keywords):
    data = pd.DataFrame({"a": differences, "b": 0.0})
    keywords = {"details": True, **keywords}
    return data.rankeval.paired_bootstrap("a", "b", **keywords).iloc[0]


@pytest.mark.filterwarnings("ignore:.*differences are skewed:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("seed", range(6))
def test_the_p_value_is_the_larger_one_and_the_interval_holds_both(seed):
    """Twelve items: all signs are enumerated, and SciPy has the skewness and the t distribution."""
    rng = np.random.default_rng(seed)
    d = rng.exponential(size=12) - 0.3 * rng.random()
    row = _row(d)
    signs = np.array(list(itertools.product((1, -1), repeat=12)))

    def p_value(shift: float, side: int) -> float:
        moved = side * (d - shift)
        by_signs = np.mean(signs @ moved >= moved.sum() - 1e-12)
        t = scipy.stats.ttest_1samp(moved, 0.0).statistic
        a = scipy.stats.skew(moved) / np.sqrt(12)
        hall = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
        return float(max(by_signs, scipy.stats.t.sf(hall, 11)))

    assert row["p_one_sided"] == pytest.approx(p_value(0.0, 1), rel=1e-10)
    assert row["p_value"] == pytest.approx(min(1.0, 2.0 * row["p_one_sided"]), rel=1e-12)
    for name, side in (("ci_low", 1), ("ci_high", -1)):
        assert p_value(row[name] + side * 1e-9, side) > 0.025 - 1e-8
        assert p_value(row[name] - side * 1e-9, side) <= 0.025 + 1e-8


def test_what_is_right_or_wrong_needs_no_allowance():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.random(40) < p for name, p in (("a", 0.95), ("b", 0.7))})
    for test in ("paired_bootstrap", "paired_permutation"):
        ask = getattr(data.rankeval(metric="accuracy"), test)
        pd.testing.assert_frame_equal(ask(), ask(skewness=False))
    wins, losses = (data["a"] & ~data["b"]).sum(), (data["b"] & ~data["a"]).sum()
    exact = scipy.stats.binomtest(int(wins), int(wins + losses)).pvalue
    assert ask()["p_value"].item() == pytest.approx(exact, rel=1e-10)


def test_studentised_swaps_are_the_sign_test():
    """Konietschke and Pauly (2014) permute the t statistic: for pairs, the order is the same."""
    d = np.random.default_rng(3).exponential(size=(1, 12)) - 0.7
    drawn = np.array(list(itertools.product((1, -1), repeat=12))) * d
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1)
    for statistic, own in ((drawn.mean(axis=1), d.mean()), (t, d.mean() / d.std(ddof=1))):
        p = np.mean(np.abs(statistic) >= abs(own) - 1e-12)
        assert _row(d[0], skewness=False)["p_value"] == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("n", [50, 100])
def test_rare_failures_keep_the_level(n):
    """0/1 with p = .9 against scores near .9: random signs alone are wrong in a tenth."""
    rng = np.random.default_rng(n)
    draw = study.DIFFERENCES["0/1 (p = .9) against scores near .9, noise .02"]
    found = pd.concat(
        pd.DataFrame(study.rejections(draw(rng, (study.AT_ONCE, n)), block)) for block in range(20)
    ).mean()
    for test in ("paired_bootstrap", "paired_permutation"):
        assert found[f"{test}, default"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
        assert found[f"{test}, signs"] > found[f"{test}, default"]


def test_max_t_allows_for_skewness_and_its_interval_agrees():
    rng = np.random.default_rng(5)
    for _ in range(20):
        data = pd.DataFrame(0.9 + 0.05 * rng.normal(size=(40, 5)), columns=list("abcde"))
        data["a"] = (rng.random(40) < 0.8) * 1.0
        plain, found = (
            data.rankeval.paired_bootstrap(
                adjust="max-t", skewness=x, details=True, n_resamples=999
            )
            for x in (False, True)
        )
        assert (found["p_adjusted"] >= plain["p_adjusted"]).all()
        assert (found["p_adjusted"] >= found["p_value"]).all()
        excludes = (found["ci_low"] >= 0.0) | (found["ci_high"] <= 0.0)
        assert (excludes == (found["p_adjusted"] <= 0.05)).all()


def test_simultaneous_limits_allow_for_either_sign_of_the_skewness():
    """Roots of Hall's cubic by NumPy; a limit that excludes 0 ends there at most."""
    gain, error, t = np.array([9.0, -9.0, 0.1, 3.2]), np.ones(4), 3.0
    lean = np.array([0.2, 0.2, -0.3, 0.2])
    low, high = simultaneous_limits(gain, error, t, 0.0, lean)
    for k, a in enumerate(lean):

        def reached(value: float, a: float) -> float:
            roots = np.roots([a**2 / 27, a / 3, 1.0, a / 6 - value])
            return float(roots[np.abs(roots.imag) < 1e-9].real[0])

        ends = [reached(side * t, sign * a) for side in (1, -1) for sign in (1, -1)]
        wanted = gain[k] - max(t, *ends), gain[k] - min(-t, *ends)
        if k == 3:  # the own sign of the skewness keeps 0 out, the other one does not
            assert wanted[0] < 0.0 < gain[k] - max(t, reached(t, a))
            wanted = 0.0, wanted[1]
        assert_allclose((low[k], high[k]), wanted, rtol=1e-10, atol=1e-12)


def test_the_same_on_workers():
    pytest.importorskip("dask")
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.exponential(size=(60, 3)), columns=list("abc"))
    whole = data.to_xarray().to_array("system").transpose("index", "system").rename("score")
    ds = whole.rename(index="item").to_dataset()
    for test in ("paired_bootstrap", "paired_permutation", "system_ranks"):
        ask = [getattr(x.rankeval, test)(n_resamples=999) for x in (ds, ds.chunk(item=13))]
        for name in ("ci_low", "ci_high", "p_value" if "paired" in test else "ci_low_alone"):
            np.testing.assert_array_equal(ask[0][name], ask[1][name].compute())
