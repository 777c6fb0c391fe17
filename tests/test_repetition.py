"""Repeated samples: the paper's figures, formulas written out, sizes by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import proportions as dispersion
from rankeval_pd.stats.proportions import INTERVALS


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


def _all_counts(n: list[int], positive: int, ci: str) -> dict[int, float]:
    """Return the law of the number of failures, from all counts with this sum, one by one."""
    law: dict[int, float] = {}
    ways = math.comb(sum(n), positive)
    for counts in itertools.product(*(range(size + 1) for size in n)):
        if sum(counts) != positive:
            continue
        chance = math.prod(math.comb(size, k) for size, k in zip(n, counts, strict=True)) / ways
        failed = 0
        for size, k in zip(n, counts, strict=True):
            low, high = INTERVALS[ci](np.array([k + 0.0]), np.array([size + 0.0]), 0.8)
            others = (positive - k) / (sum(n) - size)
            failed += not low[0] <= others <= high[0]
        law[failed] = law.get(failed, 0.0) + chance
    return law


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson"])
@pytest.mark.parametrize(("n", "positive"), [([9, 5, 7], 8), ([12, 12], 11), ([3, 4, 2, 6], 6)])
def test_failures_of_all_counts(n, positive, ci):
    """All assignments of positives to samples."""
    law = _all_counts(n, positive, ci)
    tp = np.array([positive] + [0] * (len(n) - 1))  # the law is of the total alone
    for observed in range(len(n) + 1):
        found = dispersion.failures(np.array(n), tp, observed, ci, 0.8)
        assert found.expected == pytest.approx(sum(k * p for k, p in law.items()), rel=1e-10)
        wanted = sum(p for k, p in law.items() if k >= observed)
        assert found.p_value == pytest.approx(wanted, rel=1e-10, abs=1e-15)


def _added(n: np.ndarray, positive: int, ci: str) -> np.ndarray:
    """Return the law of the number of failures, one sample after the other, nothing left out."""
    total = int(n.sum())
    law = np.ones((1, 1))  # failures, true positives so far
    for size in n.tolist():
        k = np.arange(min(size, positive) + 1.0)
        low, high = INTERVALS[ci](k, np.full(k.size, size + 0.0), 0.95)
        others = (positive - k) / (total - size)
        weight = stats.binom.pmf(k, size, positive / total)
        parts = [np.where((low <= others) & (others <= high), weight, 0.0)]
        parts.append(weight - parts[0])
        more = np.zeros((law.shape[0] + 1, min(law.shape[1] + k.size - 1, positive + 1)))
        for failed, part in enumerate(parts):
            for number, row in enumerate(law):
                more[number + failed] += np.convolve(row, part)[: more.shape[1]]
        law = more
    return law[:, positive] / law[:, positive].sum()


@pytest.mark.parametrize("ci", ["clopper-pearson", "wilson"])
@pytest.mark.parametrize(("samples", "sizes"), [(40, (60, 61)), (30, (5, 90)), (120, (10, 11))])
def test_failures_of_many_samples(samples, sizes, ci):
    """From likely numbers to all of them, at probabilities below 1e-50."""
    rng = np.random.default_rng(samples)
    n = rng.integers(*sizes, samples)
    tp = rng.binomial(n, 0.3)
    law = _added(n, int(tp.sum()), ci)
    for observed in (1, 2, 3, 5, 8, 13, 21, 30):
        found = dispersion.failures(n, tp, observed, ci, 0.95)
        assert found.p_value == pytest.approx(law[observed:].sum(), rel=1e-10, abs=0.0)
    assert found.expected == pytest.approx(np.arange(samples + 1) @ law, rel=1e-10)
    assert law[30:].sum() < 1e-15


def test_failures_of_twenty_thousand_samples():
    """As many as should: the law is near the normal one of independent samples."""
    rng = np.random.default_rng(0)
    n = rng.choice([10, 25], 20_000)
    tp = rng.binomial(n, 0.3)
    expected = dispersion.failures(n, tp, 0, "clopper-pearson", 0.95).expected
    p = [dispersion.failures(n, tp, round(expected + k), "clopper-pearson", 0.95).p_value
         for k in (-40, 0, 40)]  # fmt: skip
    normal = stats.norm(expected, np.sqrt(expected * (1 - expected / 20_000)))
    wanted = normal.sf([round(expected + k) - 0.5 for k in (-40, 0, 40)])
    np.testing.assert_allclose(p, wanted, atol=0.01)


@given(st.data())
def test_more_failures_are_less_likely(data):
    n = np.array(data.draw(st.lists(st.integers(1, 40), min_size=2, max_size=12)))
    tp = np.array([data.draw(st.integers(0, int(size))) for size in n])
    law = [dispersion.failures(n, tp, k, "wilson", 0.9) for k in range(n.size + 1)]
    p = np.array([x.p_value for x in law])
    assert p[0] == 1.0
    assert (np.diff(p) <= 1e-12).all()
    assert (p >= 0.0).all()
    assert p[1:].sum() == pytest.approx(law[0].expected, rel=1e-9, abs=1e-12)


def test_failures_of_two_large_samples():
    """The count of one is hypergeometric, given the total, and says all: SciPy's law of it."""
    n, positive = np.array([3000, 2000]), 1500
    counts = np.arange(positive + 1)
    chance = stats.hypergeom(5000, positive, 3000).pmf(counts)
    failed = np.zeros(counts.size, dtype=int)
    for size, k in ((3000, counts), (2000, positive - counts)):
        inside = np.minimum(k, size)
        low = np.where(inside > 0, stats.beta.ppf(0.025, inside, size - inside + 1), 0.0)
        high = np.where(inside < size, stats.beta.ppf(0.975, inside + 1, size - inside), 1.0)
        others = (positive - k) / (5000 - size)
        failed += (others < low) | (high < others)
    for observed in (1, 2):
        found = dispersion.failures(n, np.array([positive, 0]), observed, "clopper-pearson", 0.95)
        assert found.expected == pytest.approx((chance * failed).sum(), rel=1e-9)
        assert found.p_value == pytest.approx(chance[failed >= observed].sum(), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_distance_from_the_normal_law_is_kolmogorovs(seed):
    """scipy.stats.kstest; the largest distance is above the law or below it."""
    rng = np.random.default_rng(seed)
    n = rng.integers(20, 90, 6)
    tp = rng.binomial(n, 0.4)
    law = stats.norm(tp.sum() / n.sum(), dispersion.model_sd(tp.sum() / n.sum(), n))
    found = float(dispersion.normal_distance(tp, n))
    assert found == pytest.approx(stats.kstest(tp / n, law.cdf).statistic, rel=1e-12)


def test_no_failures_where_all_labels_are_one():
    n = np.array([5, 9, 4])
    for tp in (n * 0, n):
        assert dispersion.failures(n, tp, 0, "clopper-pearson", 0.95) == (0.0, 1.0)
        assert dispersion.failures(n, tp, 2, "clopper-pearson", 0.95) == (0.0, 0.0)


@pytest.mark.full
@pytest.mark.parametrize(("samples", "size"), [(3, 100), (20, 100), (40, 60)])
def test_failures_are_those_of_simulated_samples(samples, size):
    """The other samples vary too: with three, twice as many intervals fail as miss pi."""
    rng = np.random.default_rng(samples)
    tp = rng.binomial(size, 0.3, size=(4000, samples))
    n = np.full(samples, size)
    others = (tp.sum(axis=1, keepdims=True) - tp) / (size * (samples - 1))
    low, high = INTERVALS["clopper-pearson"](tp.astype(float), np.full(tp.shape, size + 0.0), 0.95)
    failed = ((others < low) | (high < others)).sum(axis=1)
    seen = float(np.median(failed[failed > 0]))
    law = [dispersion.failures(n, row, int(seen), "clopper-pearson", 0.95) for row in tp[:60]]
    error = failed.std() / 4000**0.5
    assert np.mean([x.expected for x in law]) == pytest.approx(failed.mean(), abs=5 * error)
    share = (failed >= seen).mean()
    error = (share * (1 - share) / 4000) ** 0.5
    assert np.mean([x.p_value for x in law]) == pytest.approx(share, abs=5 * error)


def _samples(seed: int, n_samples: int = 30, size: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame(
            {"a": rng.normal(size=m), "b": rng.integers(0, 9, m) + 0.0, "gold": rng.random(m) < 0.3}
        ).assign(part=s)
        for s, m in enumerate(rng.integers(size // 2, size, n_samples))
    ]
    return pd.concat(parts, ignore_index=True)


def test_formulas_written_out():
    df = _samples(1)
    found = df.rankeval(by="part", measures="a").repetition(threshold=0.5).iloc[0]
    accepted = df[df["a"] >= 0.5].groupby("part")["gold"].agg(["size", "sum"])
    n, t = accepted["size"].to_numpy(), accepted["sum"].to_numpy()
    share = t.sum() / n.sum()
    assert found["n_samples"] == len(n)
    assert found["n_mean"] == pytest.approx(n.sum() / 30)
    assert found["precision"] == pytest.approx(share)
    harmonic = stats.hmean(n)
    assert found["sd_expected"] == pytest.approx(np.sqrt(share * (1 - share) / harmonic))
    assert found["sd_observed"] == pytest.approx(np.std(t / n, ddof=1))
    assert found["sd_ratio"] == pytest.approx(found["sd_observed"] / found["sd_expected"])
    table = np.array([t, n - t])
    chi2 = stats.chi2_contingency(table, correction=False)
    assert found["phi"] == pytest.approx(chi2.statistic / chi2.dof)
    assert found["p_dispersion"] == pytest.approx(chi2.pvalue, rel=1e-10)
    limits = chi2.statistic / stats.chi2.ppf([0.975, 0.025], chi2.dof)
    assert [found["phi_low"], found["phi_high"]] == pytest.approx(limits.tolist())
    distance = stats.kstest(t / n, "norm", (share, found["sd_expected"])).statistic
    assert found["ks_statistic"] == pytest.approx(distance)
    others = (t.sum() - t) / (n.sum() - n)
    low, high = INTERVALS["clopper-pearson"](t, n, 0.95)
    failed = (others < low) | (others > high)
    assert found["ci_failures"] == failed.sum()
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(n, t.sum(), size=4000, method="marginals")
    rest = (t.sum() - drawn) / (n.sum() - n)
    low, high = INTERVALS["clopper-pearson"](drawn.astype(float), n + 0.0 * drawn, 0.95)
    missed = ((rest < low) | (rest > high)).sum(axis=1)
    assert found["ci_failures_expected"] == pytest.approx(missed.mean(), abs=0.1)
    assert found["p_coverage"] == pytest.approx((missed >= failed.sum()).mean(), abs=0.04)


def test_samples_one_by_one():
    df = _samples(2, 5)
    call = df.rankeval(by="part", measures=["b", "a"])
    found = call.repetition_samples(threshold={"a": 0.5, "b": 4})
    assert list(found.columns) == [
        "part", "measure", "threshold", "n_accepted", "tp", "precision", "ci_low", "ci_high",
        "covered",
    ]  # fmt: skip
    assert found["part"].tolist() == [s for s in range(5) for _ in range(2)]
    assert found["measure"].tolist() == ["b", "a"] * 5
    wanted = call.acceptance_precision({"a": 0.5, "b": 4})
    same = ["part", "measure", "n_accepted", "tp", "precision", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(found[same], wanted[same])
    failures = call.repetition(threshold={"a": 0.5, "b": 4})["ci_failures"]
    assert (~found["covered"]).groupby(found["measure"], sort=False).sum().tolist() == (
        failures.tolist()
    )


@pytest.mark.full
@given(st.integers(0, 1000), st.integers(1, 30))
@settings(max_examples=25)
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


def test_lower_is_better():
    df = _samples(3)
    turned = df.assign(a=-df["a"])
    first = df.rankeval(by="part", measures="a").repetition(n=10)
    second = turned.rankeval(by="part", measures="a", lower_is_better="a").repetition(n=10)
    assert second["threshold"].tolist() == [-first["threshold"][0]]
    columns = [c for c in first if c != "threshold"]
    pd.testing.assert_frame_equal(first[columns], second[columns])


def test_dataset_of_samples():
    df = _samples(4, 6)
    within = df.groupby("part").cumcount()
    wide = df.assign(candidate=within).set_index(["part", "candidate"])
    ds = wide.astype({"gold": float}).to_xarray()
    wanted = df.rankeval(by="part").repetition(n=10)
    found = ds.rankeval(missing="raise").repetition(n=10)
    assert dict(found.sizes) == {"measure": 2}
    table = found.to_dataframe().reset_index()[list(wanted.columns)]
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)
    rows = ds.rankeval.repetition_samples(n=10)
    assert dict(rows.sizes) == {"row": 12}
    wanted = df.rankeval(by="part").repetition_samples(n=10)
    pd.testing.assert_frame_equal(
        rows.to_dataframe().reset_index()[list(wanted.columns)], wanted, check_dtype=False
    )


@pytest.mark.full
def test_size_of_the_tests_and_power_against_overdispersion():
    """p_dispersion and p_ks reject a true model in about 5 %, and find phi = 2.6."""
    rng = np.random.default_rng(0)
    rejected = {"true": np.zeros(2), "clumped": np.zeros(2)}
    phi = []
    for _ in range(200):
        n = rng.integers(80, 120, 40)
        for name, share in (("true", np.full(40, 0.3)), ("clumped", rng.beta(18, 42, 40))):
            tp = rng.binomial(n, share)
            spread = dispersion.overdispersion(dispersion.pearson(tp, n), 39, 0.95)
            fit = dispersion.goodness_of_fit(tp, n, n_resamples=199, seed=1)
            rejected[name] += [spread.p_value <= 0.05, fit.p_value <= 0.05]
            if name == "clumped":
                phi.append(float(spread.phi))
    margin = 3.5 * np.sqrt(0.05 * 0.95 / 200)
    assert (np.abs(rejected["true"] / 200 - 0.05) < margin).all()
    assert rejected["clumped"][0] > 0.9 * 200
    assert np.mean(phi) == pytest.approx(1 + 99 / 61, rel=0.05)


def test_widened_intervals_close_the_loop():
    """With phi from the study, as many intervals fail as should."""
    rng = np.random.default_rng(5)
    n = np.full(4000, 100)
    tp = rng.binomial(n, rng.beta(18, 42, 4000))
    phi = float(dispersion.overdispersion(dispersion.pearson(tp, n), 3999, 0.95).phi)
    failed = {}
    for name, factor in (("plain", 1.0), ("widened", phi)):
        low, high = rankeval_pd.precision_interval(tp, n, phi=factor)
        failed[name] = np.mean((low > 0.3) | (high < 0.3))
    assert failed["plain"] > 0.15
    assert failed["widened"] < 0.055


@pytest.mark.full
def test_draws_of_the_test_of_fit():
    """The same for a seed; a Generator goes on, and so does p_ks."""
    call = _samples(5).rankeval(by="part", measures="a")
    generator = np.random.default_rng(1)
    found = [call.repetition(n=10, rng=rng)["p_ks"][0] for rng in (0, 0, *[generator] * 6)]
    assert found[0] == found[1]
    assert len(set(found[2:])) > 1


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
        ({}, ValueError, r"threshold=None, n=None: pass either"),
        ({"threshold": 1, "n": 3}, ValueError, r"threshold=1, n=3: pass either"),
        ({"n": 0}, ValueError, r"n=0: pass a whole number of at least 1"),
        ({"n": 2.5}, TypeError, r"n=2.5 is of type float"),
        ({"n": 10_000}, ValueError, r"n=10000 exceeds the mean number of candidates"),
        ({"threshold": {"a": [1, 2]}}, ValueError, r"pass one number for each of the measures"),
        ({"threshold": {"z": 1}}, KeyError, r"threshold: no column 'z'"),
        ({"n": 5, "by": None}, ValueError, r"by is missing. Pass the sample column"),
        ({"n": 5, "ci": "wald"}, ValueError, r"ci='wald' is not one of"),
        ({"n": 5, "ties": "expected"}, ValueError, r"ties='expected' is supported only by"),
    ],
)
@pytest.mark.parametrize("method", ["repetition", "repetition_samples"])
def test_wrong_questions(method, options, error, message):
    df = _samples(8, 3)
    with pytest.raises(error, match=message):
        getattr(df.rankeval(by="part", measures="a"), method)(**options)


def test_one_sample():
    df = _samples(9, 3)
    for data in (df.assign(part=0), df.iloc[:0]):
        with pytest.raises(ValueError, match="needs at least two samples"):
            data.rankeval(by="part", measures="a").repetition(n=5)
    ds = xr.Dataset.from_dataframe(df.drop(columns="part").rename_axis("candidate"))
    with pytest.raises(ValueError, match="needs a sample dimension"):
        ds.rankeval.repetition(n=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rankeval_pd.dispersion_for(-1, 0.1, 80), r"sd_observed=-1: pass finite numbers"),
        (lambda: rankeval_pd.dispersion_for(0.1, 0.0, 80), r"sd_expected=0.0: .* above 0"),
        (
            lambda: rankeval_pd.dispersion_for(0.1, 0.1, 1),
            r"n_samples=1: pass whole numbers of at",
        ),
        (lambda: rankeval_pd.coverage_for(81, 80, 0.05), r"failures=81: pass whole numbers from 0"),
        (lambda: rankeval_pd.coverage_for(1.5, 80, 0.05), r"failures=1.5"),
        (lambda: rankeval_pd.coverage_for(1, 80, 5), r"failure_rate=5: pass a probability"),
    ],
)
def test_wrong_published_figures(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_draws_in_blocks_are_the_same_draws(monkeypatch):
    tp, n = np.array([3, 9, 2, 14, 8]), np.array([20, 40, 30, 50, 40])
    whole = dispersion.goodness_of_fit(tp, n, n_resamples=99, seed=3)
    monkeypatch.setattr(dispersion, "_COUNTS_AT_ONCE", 35)
    assert dispersion.goodness_of_fit(tp, n, n_resamples=99, seed=3) == whole


def test_the_data_count_as_one_of_the_draws():
    """A distance beyond all draws has p = 1 / (draws + 1), and not 0."""
    tp, n = np.array([0, 0, 0, 40, 40, 40]), np.full(6, 40)
    fit = dispersion.goodness_of_fit(tp, n, n_resamples=49, seed=0)
    assert fit.p_value == pytest.approx(1 / 50)
