"""Areas of two-valued scores, differences of correlated areas, and tests of early shares."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from sklearn.metrics import roc_auc_score

import rankeval_pd


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


def test_the_interval_of_two_versions_is_of_the_size_of_its_error(df):
    """It was five times as wide as DeLong's."""
    asked = {"gold": "tp", "details": True}
    ours = df.rankeval(gold="tp").compare_area("first", "second", details=True)
    delong = rankeval_pd.compare_area(df, "first", "second", test="delong", **asked)
    widths = [(x["ci_high"] - x["ci_low"]).item() for x in (ours, delong)]
    assert widths[1] <= widths[0] <= 1.3 * widths[1]
    assert ours["se"].item() == pytest.approx(delong["se"].item())


def test_it_still_covers_where_areas_are_near_1():
    rng = np.random.default_rng(11)
    gold = np.arange(100) < 10
    common = rng.normal(size=(400, 100))
    # areas of .99 and .98 of the same, nearly the same scores
    shift = stats.norm.ppf([0.99, 0.98]) * np.sqrt(2.0)
    scores = [
        0.95 * common + np.sqrt(1 - 0.95**2) * rng.normal(size=(400, 100)) + s * gold for s in shift
    ]
    dims = ("sample", "candidate")
    ds = xr.Dataset({"a": (dims, scores[0]), "b": (dims, scores[1]), "tp": ("candidate", gold)})
    found = ds.rankeval(gold="tp").compare_area("a", "b")
    plain = ds.rankeval(gold="tp").compare_area("a", "b", test="delong")
    covers = [
        float(((x["ci_low"] <= 0.01) & (x["ci_high"] >= 0.01)).mean()) for x in (found, plain)
    ]
    assert covers[0] >= 0.93
    assert covers[1] < 0.9


def test_it_covers_where_scores_of_few_positives_spread_more():
    """Few candidates have a small variance by chance, which shortened the interval: .86 held."""
    rng = np.random.default_rng(3)
    gold, covered = np.arange(510) < 10, []
    shift, dims = stats.norm.ppf([0.983, 0.9]) * np.sqrt(5.0), ("sample", "candidate")
    for _ in range(4):
        common, *own = rng.normal(size=(3, 100, 510))
        a, b = (
            s * gold + np.where(gold, 2.0, 1.0) * (np.sqrt(0.9) * common + np.sqrt(0.1) * x)
            for s, x in zip(shift, own, strict=True)
        )
        ds = xr.Dataset({"a": (dims, a), "b": (dims, b), "tp": ("candidate", gold)})
        found = ds.rankeval(gold="tp").compare_area("a", "b")
        covered.append(((found["ci_low"] <= 0.083) & (found["ci_high"] >= 0.083)).mean().item())
    assert np.mean(covered) >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / 400)


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


def test_the_law_of_a_difference_is_normal_near_1():
    """With few positives Student's t had .08 less power than DeLong's test."""
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


@pytest.mark.parametrize(("sure", "wrong"), [(0.6, 0.3), (0.3, 0.1), (0.5, 0.5)])
def test_two_scores_have_mann_whitneys_test(sure, wrong):
    rng = np.random.default_rng(5)
    gold = np.arange(120) < 20
    for _ in range(20):
        score = (rng.random(120) < np.where(gold, sure, wrong)) * 1.0
        if len(set(score[gold])) < 2:
            continue
        with warnings.catch_warnings():  # that the rule may be meant the other way round
            warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
            table = pd.DataFrame({"rule": score, "tp": gold}).rankeval(gold="tp").area(details=True)
        plain = stats.mannwhitneyu(
            score[gold], score[~gold], method="asymptotic", use_continuity=False
        )
        p, low, high = (table[x].item() for x in ("p_value", "ci_low", "ci_high"))
        assert p == pytest.approx(plain.pvalue, rel=1e-9)
        assert (p <= 0.05) == (low > 0.5 or high < 0.5)


def test_ties_reduce_the_variance_of_one_half_as_mann_whitneys():
    """Where DeLong's variance is the smaller one, p is that of Mann and Whitney with ties."""
    gold = np.r_[np.ones(30), np.zeros(30)].astype(bool)
    score = np.r_[np.repeat([3, 2, 1], [12, 10, 8]), np.repeat([3, 2, 1], [8, 10, 12])] * 1.0
    table = pd.DataFrame({"rule": score, "tp": gold}).rankeval(gold="tp").area(details=True)
    plain = stats.mannwhitneyu(score[gold], score[~gold], method="asymptotic", use_continuity=False)
    assert table["p_value"].item() >= plain.pvalue * (1 - 1e-9)
    assert table["p_value"].item() == pytest.approx(plain.pvalue, rel=0.05)


def test_delong_of_unpaired_areas_is_the_normal_test_of_both_variances(df):
    data = df.assign(corpus=np.arange(1_000) % 2)
    one = data.rankeval(gold="tp", by="corpus", measures="first").area(ci="delong", details=True)
    found = rankeval_pd.unpaired_area(
        data, gold="tp", by="corpus", measures="first", test="delong", details=True
    )
    (a, b), (se_a, se_b) = one["area"], one["se"]
    error = np.hypot(se_a, se_b)
    z = (a - b) / error
    assert found["z"].item() == pytest.approx(z, rel=1e-10)
    assert found["p_value"].item() == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-10)
    assert found["ci_low"].item() == pytest.approx(a - b - stats.norm.ppf(0.975) * error, rel=1e-9)
    with pytest.raises(ValueError, match="kind='ap'"):
        rankeval_pd.unpaired_area(data, gold="tp", by="corpus", kind="ap", test="delong")


@pytest.mark.parametrize(
    ("asked", "alone"),
    [
        ({"kind": "partial", "fpr": 0.1}, lambda x: x.partial_area(fpr=0.1)["area"]),
        ({"kind": "partial", "fpr": (0.1, 0.3)}, lambda x: x.partial_area(fpr=(0.1, 0.3))["area"]),
        ({"kind": "partial", "tpr": 0.8}, lambda x: x.partial_area(tpr=0.8)["area"]),
        ({"kind": "bedroc"}, lambda x: x.bedroc()["value"]),
        ({"kind": "enrichment", "share": 0.05}, lambda x: x.enrichment(0.05)["lift"]),
    ],
)
def test_early_shares_are_compared(df, asked, alone):
    accessor = df.rankeval(gold="tp", measures=["first", "other"])
    found = accessor.compare_area("first", "other", details=True, **asked)
    values = alone(accessor)
    assert found["area_a"].item() == pytest.approx(values[0])
    assert found["difference"].item() == pytest.approx(values[0] - values[1])
    low, high, p = (found[x].item() for x in ("ci_low", "ci_high", "p_value"))
    assert low <= found["difference"].item() <= high
    assert (p <= 0.05) == (low > 0 or high < 0)
    # the error is that of the bootstrap within both classes
    rng, gaps = np.random.default_rng(1), []
    whole = df.assign(first=df["first"].rank(), other=df["other"].rank())
    for _ in range(60):
        parts = [x.sample(frac=1.0, replace=True, random_state=rng) for _, x in whole.groupby("tp")]
        drawn = pd.concat(parts, ignore_index=True)
        jitter = 1e-6 * rng.random(len(drawn))
        drawn = drawn.assign(first=drawn["first"] + jitter, other=drawn["other"] + jitter)
        one = alone(drawn.rankeval(gold="tp", measures=["first", "other"]))
        gaps.append(one[0] - one[1])
    assert found["se"].item() == pytest.approx(np.std(gaps), rel=0.35)


def test_a_range_is_the_difference_of_two_partial_areas(df):
    accessor = df.rankeval(gold="tp", measures="other")
    whole = roc_auc_score(df["tp"], df["other"])
    assert accessor.partial_area(fpr=(0.0, 1.0))["area"].item() == pytest.approx(whole)
    raw = []  # from McClish's scale to areas
    for low, high in ((0.0, 0.3), (0.0, 0.1), (0.1, 0.3)):
        value = accessor.partial_area(fpr=(low, high))["area"].item()
        least = 0.5 * (low + high)
        raw.append((high - low) * (least + (2 * value - 1) * (1 - least)))
    assert raw[0] - raw[1] == pytest.approx(raw[2], rel=1e-10)


def test_one_sided_limits_of_lifts_end_where_lifts_do(df):
    found = rankeval_pd.compare_area(
        df, "first", "other", gold="tp", kind="enrichment", share=0.05, alternative="greater"
    )
    assert found["ci_high"].item() == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"kind": "partial"}, "pass the largest false positive rate"),
        ({"kind": "partial", "fpr": (0.3, 0.1)}, "a lower and an upper limit"),
        ({"kind": "roc", "fpr": 0.1}, "applies only to kind='partial'"),
        ({"kind": "enrichment"}, "pass the share"),
        ({"kind": "bedroc", "bedroc_alpha": -1.0}, "bedroc_alpha"),
        ({"kind": "bedroc", "test": "delong"}, "test='delong' requires"),
    ],
)
def test_what_does_not_fit_is_refused(df, asked, match):
    with pytest.raises(ValueError, match=match):
        rankeval_pd.compare_area(df, "first", "other", gold="tp", **asked)
