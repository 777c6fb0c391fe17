"""Repeated samples and published figures: formulas written out, and all counts enumerated."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import fisher_exact, norm

import rankeval_pd
from rankeval_pd.lists import repetition
from rankeval_pd.stats import proportions
from rankeval_pd.stats.proportions import INTERVALS
from tests.conftest import examples

# -------------------------------------------------------------------------------- Published figures


def test_the_papers_dispersion():
    """R: pchisq(79 * phi, 79, lower = FALSE) and 79 * phi / qchisq(c(.975, .025), 79)."""
    found = rankeval_pd.dispersion_for(0.057, 0.044, 80)
    assert found.phi == pytest.approx(1.678, abs=5e-4)
    assert (round(found.phi_low, 2), round(found.phi_high, 2)) == (1.26, 2.35)
    assert f"{found.p_dispersion:.1e}" == "1.5e-04"
    other = rankeval_pd.dispersion_for([0.057, 0.066], [0.044, 0.047], 80)
    assert other.phi[0] == found.phi
    assert other.phi[1] == pytest.approx(1.972, abs=5e-4)
    assert (round(other.phi_low[1], 2), round(other.phi_high[1], 2)) == (1.48, 2.77)
    assert f"{other.p_dispersion[1]:.1e}" == "5.9e-07"


def test_the_papers_coverage():
    assert rankeval_pd.coverage_for(9, 80, 0.0401) == pytest.approx(0.0047, abs=1e-4)
    assert rankeval_pd.coverage_for(12, 80, 0.0425) == pytest.approx(1.4e-4, abs=5e-6)
    # R: binom.test(12, 80, .05, "greater"), binom.test(9, 80, .05, "greater")
    found = rankeval_pd.coverage_for([12, 9], 80, 0.05)
    assert found == pytest.approx([stats.binom.sf(11, 80, 0.05), stats.binom.sf(8, 80, 0.05)])
    assert rankeval_pd.coverage_for(0, 80, 0.05) == 1.0
    assert rankeval_pd.coverage_for(80, 80, 1e-4) == pytest.approx(1e-320, rel=1e-2)


def test_true_failure_rates_of_the_papers_intervals():
    """Of Clopper-Pearson at 100 candidates, by adding up the counts that fail."""
    share = np.array([0.2625, 0.3294])
    t = np.arange(101.0)
    low, high = INTERVALS["clopper-pearson"](t, np.full(101, 100.0), 0.95)
    found = [stats.binom.pmf(t, 100, p)[(p < low) | (high < p)].sum() for p in share]
    assert np.round(found, 4).tolist() == [0.0401, 0.0425]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rankeval_pd.dispersion_for(-1, 0.1, 80), r"sd_observed=-1: pass numbers of at"),
        (lambda: rankeval_pd.dispersion_for(0.1, 0.0, 80), r"sd_expected=0.0: pass numbers above"),
        (lambda: rankeval_pd.dispersion_for(0.1, 0.1, 1), "n_samples=1: pass whole numbers"),
        (lambda: rankeval_pd.coverage_for(81, 80, 0.05), "failures=81: .* from 0 to 80"),
        (lambda: rankeval_pd.coverage_for(1.5, 80, 0.05), r"failures=1.5"),
        (lambda: rankeval_pd.coverage_for(1, 80, 5), r"failure_rate=5: pass numbers from 0 to 1"),
    ],
)
def test_wrong_published_figures(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------ Tests of the model, given the total


def _varied(tp, n, seed=0, n_resamples=9_999, ci="clopper-pearson"):
    options = {"n_resamples": n_resamples, "seed": seed}
    return proportions.variation(np.array(tp), np.array(n), ci, 0.95, **options)


def _every_table(n, positive, ci):
    """Return Pearson's and Kolmogorov's statistics, failures and probabilities, one by one."""
    law = stats.multivariate_hypergeom(n, positive)
    found, share, n = [], positive / sum(n), np.array(n)
    for counts in product(*(range(size + 1) for size in n)):
        t = np.array(counts)
        if t.sum() != positive:
            continue
        chi2 = stats.chi2_contingency([t, n - t], correction=False).statistic
        sd = np.sqrt(share * (1 - share) / n.mean())
        distance = stats.kstest(t / n, stats.norm(share, sd).cdf).statistic
        each = zip(counts, n.tolist(), strict=True)
        limits = [stats.binomtest(*one).proportion_ci(method=ci) for one in each]
        low, high = np.transpose(limits)
        others = (positive - t) / (n.sum() - n)
        found.append((chi2, distance, ((others < low) | (high < others)).sum(), law.pmf(t)))
    return np.array(found).T


@pytest.mark.parametrize(("ci", "of_scipy"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
@pytest.mark.parametrize("tp", [(3, 6, 0, 1), (0, 0, 5, 1), (2, 4, 3, 2)])
def test_few_tables_are_enumerated(tp, ci, of_scipy):
    """All possible tables, with statistics and probabilities from SciPy."""
    n = (5, 6, 9, 4)
    *every, weight = _every_table(n, sum(tp), of_scipy)
    found = _varied(tp, n, ci=ci)
    own = found.phi * 3, found.distance, found.failures
    p = [weight[x >= at * (1 - 1e-9)].sum() for x, at in zip(every, own, strict=True)]
    assert (found.p_dispersion, found.p_distance, found.p_failures) == pytest.approx(p, rel=1e-10)
    assert found.failures_expected == pytest.approx(every[2] @ weight, rel=1e-10)
    assert own[0] == pytest.approx(
        stats.chi2_contingency([tp, np.subtract(n, tp)], correction=False).statistic
    )


def test_drawn_tables_are_those_that_r_simulates():
    """As R's chisq.test(simulate.p.value = TRUE), which SciPy offers as random tables."""
    rng = np.random.default_rng(3)
    n = rng.integers(4, 60, 12)
    tp = rng.binomial(n, rng.beta(9, 21, 12))
    found = _varied(tp, n)
    tables = stats.random_table(n, [tp.sum(), (n - tp).sum()]).rvs(20_000, random_state=1)
    chi2 = proportions.pearson(tables[..., 0], n)
    peer = np.mean(chi2 >= found.phi * 11 * (1 - 1e-9))
    assert 0.001 < peer < 0.5
    error = np.sqrt(peer * (1 - peer) * (1 / 9_999 + 1 / 20_000))
    assert abs(found.p_dispersion - peer) < 4 * error
    assert found.phi_low == pytest.approx(found.phi * 11 / np.quantile(chi2, 0.975), rel=0.05)
    assert found.phi_high == pytest.approx(found.phi * 11 / np.quantile(chi2, 0.025), rel=0.05)


def test_the_data_count_as_one_of_the_draws():
    """A statistic beyond all draws has p = 1 / (draws + 1), and not 0."""
    found = _varied([0, 0, 0, 40, 40, 40], [40] * 6, n_resamples=49)
    assert (found.p_dispersion, found.p_distance, found.p_failures) == pytest.approx((0.02,) * 3)


def test_equal_precisions_have_no_upper_limit():
    found = _varied([10, 20, 30], [20, 40, 60])
    assert (found.phi, found.phi_low, found.phi_high) == (0.0, 0.0, np.inf)
    assert (found.p_dispersion, found.icc_high) == (1.0, 1.0)


@given(st.lists(st.integers(2, 300), min_size=2, max_size=8), st.integers(0, 99))
@settings(max_examples=examples(40), deadline=None)
def test_one_variation_in_three_ways(n, seed):
    """phi, the sds and the intra-sample correlation (one-way anova's size) are one statement."""
    n = np.array(n)
    tp = np.random.default_rng(seed).binomial(n, 0.4)
    found = _varied(tp, n, n_resamples=99)
    if not 0 < tp.sum() < n.sum():
        assert np.isnan([found.phi, found.icc, found.p_dispersion, found.p_distance]).all()
        return
    share = tp.sum() / n.sum()
    deviance = np.square(tp / n - share) @ n / (n.size - 1)
    size = (n.sum() - np.square(n).sum() / n.sum()) / (n.size - 1)
    assert found.phi == pytest.approx(deviance / (share * (1 - share)))
    assert 1 + (size - 1) * found.icc == pytest.approx(found.phi)
    assert found.phi_low <= found.phi <= found.phi_high
    assert found.icc_low <= found.icc <= found.icc_high <= 1
    assert 0 < found.p_dispersion <= 1


# ------------------------------------------------------------------------------- Samples of a frame


def _samples(seed: int, n_samples: int = 30, size: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame(
            {"a": rng.normal(size=m), "b": rng.integers(0, 9, m) + 0.0, "gold": rng.random(m) < 0.3}
        ).assign(part=s)
        for s, m in enumerate(rng.integers(size // 2, size, n_samples))
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_study_has_the_written_out_dispersion_and_fit():
    df = _samples(1)
    found = df.rankeval(by="part", measures="a").repetition(threshold=0.5).iloc[0]
    accepted = df[df["a"] >= 0.5].groupby("part")["gold"].agg(["size", "sum"])
    n, t = accepted["size"].to_numpy(), accepted["sum"].to_numpy()
    share = t.sum() / n.sum()
    assert found["n_samples"] == len(n)
    assert found["n_mean"] == pytest.approx(n.sum() / 30)
    assert found["precision"] == pytest.approx(share)
    assert found["sd_expected"] == pytest.approx(np.sqrt(share * (1 - share) / n.mean()))
    wide = np.cov(t / n, fweights=n, ddof=0) * len(n) / (len(n) - 1)
    assert found["sd_observed"] == pytest.approx(np.sqrt(wide))
    assert found["sd_ratio"] == pytest.approx(found["sd_observed"] / found["sd_expected"])
    chi2 = stats.chi2_contingency([t, n - t], correction=False)
    assert found["phi"] == pytest.approx(chi2.statistic / chi2.dof)
    assert found["phi"] == pytest.approx(found["sd_ratio"] ** 2)
    assert found["p_dispersion"] == pytest.approx(chi2.pvalue, abs=0.03)
    limits = chi2.statistic / stats.chi2.ppf([0.975, 0.025], chi2.dof)
    assert [found["phi_low"], found["phi_high"]] == pytest.approx(limits.tolist(), rel=0.03)
    law = proportions.variation(t, n, "clopper-pearson", 0.95, n_resamples=9_999, seed=0)
    names = ["phi", "icc", "icc_high", "p_dispersion", "ks_statistic", "p_ks", "ci_failures"]
    wanted = law[0], law.icc, law.icc_high, law.p_dispersion, law.distance, law[8], law.failures
    assert found[names].tolist() == list(wanted)
    assert (found["ci_failures_expected"], found["p_coverage"]) == law[-2:]


def test_samples_of_very_different_sizes_are_warned_of():
    """phi is the design effect of these sizes alone; p_dispersion stays what it is."""
    df = pd.concat([_samples(3, 1, 400), *(_samples(k, 1, 20).assign(part=k) for k in range(1, 9))])
    call = df.rankeval(by="part", measures="a")
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"1 \+ \(n - 1\) \* icc_high"):
        call.repetition(threshold=-9.0)
    ordinary = _samples(4).rankeval(by="part", measures="a").repetition(threshold=-9.0)
    assert ordinary.attrs["test"] == "pearson"
    told = rankeval_pd.in_words(ordinary, methods=True)
    assert "Pearson's chi-squared test given the total" in told


def test_samples_one_by_one_are_those_of_acceptance_precision():
    df = _samples(2, 5)
    call = df.rankeval(by="part", measures=["b", "a"])
    found = call.repetition_samples(threshold={"a": 0.5, "b": 4})
    assert found["part"].tolist() == [s for s in range(5) for _ in range(2)]
    assert found["measure"].tolist() == ["b", "a"] * 5
    wanted = call.acceptance_precision({"a": 0.5, "b": 4})
    same = ["part", "measure", "n_accepted", "tp", "precision", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(found[same], wanted[same])
    failures = call.repetition(threshold={"a": 0.5, "b": 4})["ci_failures"]
    assert (~found["covered"]).groupby(found["measure"], sort=False).sum().tolist() == (
        failures.tolist()
    )


@pytest.mark.filterwarnings("ignore:.*phi describes only this mix:rankeval_pd.RankevalWarning")
@given(st.integers(0, 1000), st.integers(1, 30))
@settings(max_examples=examples(25))
def test_threshold_for_a_mean_size(seed, n):
    """The lowest threshold among the scores that accepts no more than n on average."""
    df = _samples(seed, 4, 40)
    top = (df["b"] == df["b"].max()).sum()
    call = df.rankeval(by="part", measures="b")
    if top > 4 * n:
        with pytest.raises(ValueError, match="share the best score"):
            call.repetition(n=n)
        return
    if 4 * n > len(df):
        with pytest.raises(ValueError, match="exceeds the mean number of candidates"):
            call.repetition(n=n)
        return
    found = call.repetition(n=n).iloc[0]
    accepted = (df["b"] >= found["threshold"]).sum()
    assert found["n_mean"] == pytest.approx(accepted / 4)
    assert accepted <= 4 * n
    lower = df["b"][df["b"] < found["threshold"]]
    if len(lower):
        assert (df["b"] >= lower.max()).sum() > 4 * n


def test_samples_that_accept_nothing():
    df = _samples(6, 4)
    df.loc[df["part"] == 2, "a"] = -9.0
    call = df.rankeval(by="part", measures="a")
    found = call.repetition(threshold=0).iloc[0]
    assert found["n_samples"] == 3
    assert np.isfinite(found["phi"])
    rows = call.repetition_samples(threshold=0)
    assert rows["precision"].isna().tolist() == [False, False, True, False]
    assert rows[["ci_low", "ci_high"]].to_numpy().tolist()[2] == [0.0, 1.0]
    nothing = call.repetition(threshold=100).iloc[0]
    assert (nothing["n_samples"], nothing["n_mean"]) == (0, 0.0)
    undefined = ["precision", "sd_observed", "phi", "p_ks", "p_coverage"]
    assert nothing[undefined].isna().all()


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
def test_no_or_only_true_positives():
    for label in (False, True):
        df = _samples(7, 4).assign(gold=label)
        found = df.rankeval(by="part", measures="a").repetition(threshold=0).iloc[0]
        assert (found["sd_expected"], found["sd_observed"]) == (0, 0)
        assert np.isnan([found["sd_ratio"], found["phi"], found["p_dispersion"]]).all()
        assert found["ci_failures"] == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, r"threshold=None, n=None: pass exactly one"),
        ({"threshold": 1, "n": 3}, ValueError, r"threshold=1, n=3: pass exactly one"),
        ({"n": 0}, ValueError, r"n=0: pass a whole number of at least 1"),
        ({"n": 10_000}, ValueError, r"n=10000 exceeds the mean number of candidates"),
        ({"threshold": {"a": [1, 2]}}, ValueError, r"pass one number for each of the measures"),
        ({"n": 5, "by": None}, ValueError, r"by is missing. Pass the sample column"),
        ({"n": 5, "ties": "expected"}, ValueError, r"ties='expected' is supported only by"),
    ],
)
def test_a_study_without_threshold_size_or_samples_is_refused(options, error, message):
    call = _samples(8, 3).rankeval(by="part", measures="a")
    for ask in (call.repetition, call.repetition_samples):
        with pytest.raises(error, match=message):
            ask(**options)


def test_one_sample_is_no_study():
    df = _samples(9, 3)
    for data in (df.assign(part=0), df.iloc[:0]):
        with pytest.raises(ValueError, match="needs at least two samples"):
            data.rankeval(by="part", measures="a").repetition(n=5)
    ds = xr.Dataset.from_dataframe(df.drop(columns="part").rename_axis("candidate"))
    with pytest.raises(ValueError, match="needs a sample dimension"):
        ds.rankeval.repetition(n=5)


# -------------------------------------------------------------- Comparisons of published precisions


def _every(tp_a, n_a, tp_b, n_b, alternative="two-sided"):
    """The p-values of all overlaps, by SciPy."""
    return [
        fisher_exact(
            [[tp_a - t, n_a - o - tp_a + t], [tp_b - t, n_b - o - tp_b + t]],
            alternative=alternative,
        ).pvalue
        for o in range(min(n_a, n_b) + 1)
        for t in range(min(o, tp_a, tp_b) + 1)
        if o - t <= min(n_a - tp_a, n_b - tp_b)
    ]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("counts", [(5, 9, 2, 9), (4, 12, 3, 7), (0, 5, 0, 5), (6, 6, 1, 6)])
def test_published_precisions_have_the_p_values_of_every_overlap(counts, alternative):
    wanted = _every(*counts, alternative)
    found = rankeval_pd.compare_for(*counts, alternative=alternative).iloc[0]
    assert found["difference"] == pytest.approx(counts[0] / counts[1] - counts[2] / counts[3])
    assert found["p_low"] == pytest.approx(min(wanted), rel=1e-9)
    assert found["p_high"] == pytest.approx(max(wanted), rel=1e-9)


@pytest.mark.parametrize("counts", [(30, 70, 18, 70), (33, 70, 12, 55)])
def test_coarse_grids_find_the_extreme_p_values(counts, monkeypatch):
    monkeypatch.setattr(repetition, "_GRID", 6)
    monkeypatch.setattr(repetition, "_KEPT", 20)
    monkeypatch.setattr(repetition, "_TESTED", 50)
    wanted = _every(*counts)
    found = rankeval_pd.compare_for(*counts).iloc[0]
    assert_allclose([found["p_low"], found["p_high"]], [min(wanted), max(wanted)], rtol=1e-9)


@pytest.mark.parametrize("size", [10**7, 10**18])
def test_large_lists_have_the_extreme_p_values_of_equal_sizes(size):
    found = rankeval_pd.compare_for(size // 2 + 100, size, size // 2, size).iloc[0]
    # the regions are 100 true and 100 false positives, or the whole lists
    assert found["p_low"] == pytest.approx(2.0 / math.comb(200, 100), rel=1e-9)
    assert found["p_high"] == pytest.approx(2.0 * norm.sf(99.0 / np.sqrt(size / 2.0)), rel=1e-4)


def test_counts_of_narrow_dtypes_are_not_added_up_in_them():
    counts = (10, 250, 200, 250)
    found = rankeval_pd.compare_for(*np.array(counts, dtype=np.uint8))
    pd.testing.assert_frame_equal(found, rankeval_pd.compare_for(*counts))


def test_regions_that_are_known():
    df = rankeval_pd.datasets.simulate_candidates(1_000)
    row = df.rankeval.compare("good", "fair", 100).iloc[0]
    tp_a, tp_b = round(100 * row["precision_a"]), round(100 * row["precision_b"])
    shared = tp_a - row["tp_only_a"]
    found = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=(row["overlap"], shared))
    assert found["p_low"][0] == found["p_high"][0] == row["p_value"]
    around = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=int(row["overlap"])).iloc[0]
    assert around["p_low"] <= row["p_value"] <= around["p_high"]
    apart = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=0).iloc[0]
    assert apart["p_low"] == apart["p_high"]


def test_rates_are_counts_but_for_rounding():
    assert 0.57 * 100 != 57
    assert rankeval_pd.compare_for(0.57 * 100, 100, 57, 100)["difference"].tolist() == [0.0]
    for wrong in (42.3, -1, 101, float("nan")):
        with pytest.raises(ValueError, match="pass a whole number from 0 to 100"):
            rankeval_pd.compare_for(wrong, 100, 30, 100)
    for overlap in ((10, 11), 99):
        with pytest.raises(ValueError, match="cannot have this overlap"):
            rankeval_pd.compare_for(42, 100, 30, 100, overlap=overlap)
    with pytest.raises(ValueError, match="or a pair with the numbers of shared"):
        rankeval_pd.compare_for(42, 100, 30, 100, overlap=(1, 2, 3))
