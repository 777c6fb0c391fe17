"""Paired tests where data are few, clustered or many: what holds, what agrees, what is said."""

from __future__ import annotations

import importlib.util
import itertools
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import rankeval_pd
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import differences
from rankeval_pd.stats.items import Items
from rankeval_pd.stats.two_by_two import paired_boschloo
from tests.test_resampling import counts_of, f1

REFERENCE = Path(__file__).parent / "simulations"
_spec = importlib.util.spec_from_file_location("paired_sizes", REFERENCE / "paired_sizes.py")
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)


def agrees(row: pd.Series, level: float = 0.95) -> bool:
    """Return whether the interval leaves out 0 exactly where the p-value is significant."""
    outside = row["ci_low"] > 0.0 or row["ci_high"] < 0.0
    return outside == (row["p_two_sided"] <= (1.0 - level) * (1.0 + 1e-12))


# ------------------------------------------------------------------------------------------- signs


def test_random_signs_by_enumeration():
    """The p-value and the interval of seven items, all signs, and every shift tried."""
    rng = np.random.default_rng(4)
    d = rng.normal(0.9, 1.0, 7)
    data = pd.DataFrame({"a": d, "b": 0.0})
    row = data.rankeval.paired_bootstrap("a", "b", skewness=False).iloc[0]
    signs = np.array(list(itertools.product((1, -1), repeat=7)))

    def p_value(shift: float, side: int) -> float:
        moved = side * (d - shift)
        return float(np.mean(signs @ moved >= moved.sum() - 1e-12))

    assert row["p_one_sided"] == p_value(0.0, 1)
    for name, side in (("ci_low", 1), ("ci_high", -1)):
        limit = row[name]
        assert p_value(limit, side) > 0.025
        assert p_value(limit - side * 1e-9, side) <= 0.025
    assert row["exact"]
    assert row["gain_se"] == pytest.approx(d.std() / np.sqrt(7), rel=1e-12)


def test_clusters_get_one_sign():
    """Whole clusters of unequal sizes, under every shift of every item by the same."""
    rng = np.random.default_rng(6)
    sizes = [1, 2, 3, 5, 8, 13, 21]
    data = pd.DataFrame(
        {"a": rng.normal(0.8, 1.0, 53), "b": 0.0, "doc": np.repeat(range(7), sizes)}
    )
    grouped = data.rankeval(groups="doc", measures=["a", "b"])
    row = grouped.paired_bootstrap("a", "b", skewness=False).iloc[0]
    signs = np.array(list(itertools.product((1, -1), repeat=7)))

    def p_value(shift: float) -> float:
        totals = (data["a"] - shift).groupby(data["doc"]).sum().to_numpy()
        return float(np.mean(signs @ totals >= totals.sum() - 1e-12))

    assert row["p_one_sided"] == p_value(0.0)
    assert p_value(row["ci_low"]) > 0.025 >= p_value(row["ci_low"] - 1e-9)
    assert row["n_groups"] == 7


def test_contributions_of_any_metric_are_its_influences():
    """F1 is linearised: what an item adds is near what the score loses without it."""
    data = counts_of(5, 300, 2)
    values = np.stack([data[name].to_numpy(dtype=float) for name in ("s0", "s1")])
    items = Items(values, None, f1, 1.0, None)
    parts = bootstrap_tests.contributions(items)
    added = np.asarray(parts[0])
    np.testing.assert_allclose(added.sum(axis=1), f1(values.sum(axis=1)), rtol=1e-9)
    total = values.sum(axis=1)
    for k in range(2):
        lost = f1(total[k]) - f1(total[k] - values[k])
        own = added[k] - f1(total[k]) / 300
        np.testing.assert_allclose(lost, own, rtol=0.05, atol=1e-6)


@pytest.mark.parametrize("metric", ["f1", f1])
def test_signs_and_draws_have_nearly_the_same_error(metric):
    data = counts_of(7, 400)
    signs = data.rankeval(metric=metric).paired_bootstrap()
    drawn = data.rankeval(metric=metric).paired_bootstrap(event="recentred")
    np.testing.assert_allclose(signs["gain_se"], drawn["gain_se"], rtol=0.03)
    for side in ("ci_low", "ci_high"):
        assert (np.abs(signs[side] - drawn[side]) < 0.12 * 4 * drawn["gain_se"]).all()


@pytest.mark.full
@given(
    st.integers(2, 60),
    st.integers(0, 2**32),
    st.sampled_from(["right", "grade", "score", "f1", "equal"]),
    st.sampled_from(["auto", "monte-carlo"]),
)
@pytest.mark.filterwarnings("ignore:.*No interval:UserWarning")
def test_a_row_agrees_with_itself_and_no_p_value_is_zero(n, seed, kind, method):
    rng = np.random.default_rng(seed)
    data = {
        "right": lambda: rng.random((n, 2)) < rng.random(2),
        "grade": lambda: rng.integers(0, 4, (n, 2)) + np.array([rng.integers(0, 3), 0]),
        "score": lambda: rng.normal([rng.normal(), 0.0], size=(n, 2)),
        "f1": lambda: counts_of(seed, n, 2),
        "equal": lambda: np.ones((n, 1)) * [rng.integers(-1, 2), 0],
    }[kind]()
    data = data if kind == "f1" else pd.DataFrame(np.asarray(data, dtype=float), columns=["a", "b"])
    found = data.rankeval(
        metric="f1" if kind == "f1" else "accuracy" if kind == "right" else "mean"
    )
    for test in (found.paired_bootstrap, found.paired_permutation):
        row = test(n_resamples=199, method=method, rng=seed % 1000).iloc[0]
        if kind == "f1" and np.isnan(row["p_value"]):  # below five guesses nothing is tested
            assert data.xs("guess", axis=1, level=1).sum().min() < 5
            continue
        assert row["p_one_sided"] > 0.0
        assert row["p_two_sided"] > 0.0
        if np.isnan(row["ci_low"]):
            assert row["gain_se"] == 0.0
        else:
            assert agrees(row)
            assert row["ci_low"] <= row["gain"] <= row["ci_high"]


@pytest.mark.full
def test_no_row_of_nearly_equal_classifiers_contradicts_itself():
    """The limits of an exact law are sums that round: 1e-18 leaves 0 out."""
    rng = np.random.default_rng(6)
    hard = rng.random((300, 1))
    right = hard + 0.1 * rng.normal(size=(300, 24)) < np.linspace(0.86, 0.95, 24)
    ask = pd.DataFrame(right).rankeval(metric="accuracy")
    tables = [ask.paired_bootstrap(), ask.paired_permutation()]
    tables += [ask.paired_bootstrap(event=event) for event in ("recentred", "zero")]
    for found in tables:
        assert found.apply(agrees, axis=1).all()
        assert 0.1 < (found["p_two_sided"] <= 0.05).mean() < 0.9


@pytest.mark.parametrize("by", ["auto", "monte-carlo"])
def test_no_row_of_wmt22_contradicts_itself(wmt22, by):
    for metric in ("bleu", lambda S: S[..., 0] / S[..., 1]):
        found = wmt22.rankeval(metric=metric).paired_bootstrap(method=by)
        assert found.apply(agrees, axis=1).all()


def test_four_wins_without_a_loss():
    """The unconditional test is below the sign test, and 0 is in the interval."""
    data = pd.DataFrame({"new": [1] * 4 + [0] * 46, "old": [0] * 50})
    row = data.rankeval(metric="accuracy").paired_bootstrap().iloc[0]
    assert row["p_two_sided"] == pytest.approx(2 * paired_boschloo(4, 0, 50), rel=1e-14)
    permuted = data.rankeval(metric="accuracy").paired_permutation().iloc[0]
    assert permuted["p_two_sided"] == pytest.approx(1 / 8, rel=1e-14)  # the sign test
    assert 0.05 < row["p_two_sided"] < 1 / 8
    assert row["ci_low"] == 0.0
    assert row["ci_high"] == pytest.approx(differences.tango((0, 4, 0, 46), 0.95)[1])
    bca = data.rankeval(metric="accuracy").paired_bootstrap(event="recentred", ci="bca").iloc[0]
    assert agrees(bca)  # it reaches to 0, as the p-value says
    assert bca["ci_low"] == 0.0 < 0.05 < bca["p_value"]


# ------------------------------------------------------------------------- few items, few clusters


@pytest.mark.parametrize("groups", [2, 3, 4, 5])
def test_up_to_five_groups_nothing_is_significant_and_that_is_said(groups):
    rng = np.random.default_rng(groups)
    data = pd.DataFrame({
        "a": rng.normal(5.0, 0.1, 20 * groups), "b": rng.normal(0.0, 0.1, 20 * groups),
        "doc": np.repeat(np.arange(groups), 20),
    })  # fmt: skip
    with pytest.warns(RankevalWarning, match=rf"{groups} groups of 'doc'.*no two-sided test"):
        row = data.rankeval(groups="doc").paired_bootstrap("a", "b").iloc[0]
    assert row["p_two_sided"] == 2.0 ** (1 - groups)
    assert (row["ci_low"], row["ci_high"]) == (-np.inf, np.inf)
    assert row["n_groups"] == groups


@pytest.mark.parametrize("test", ["paired_bootstrap", "paired_permutation", "system_ranks"])
def test_few_items_that_are_skewed_are_said_once(test):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(29, 3)), columns=list("abc"))
    ask = getattr(data.rankeval, test)
    ask(n_resamples=99)  # few items that are not skewed need no warning
    wide = data.assign(a=data["b"] + 5.0 * (np.arange(29) > 26))
    ask_wide = getattr(wide.rankeval(measures=["a", "b"]), test)
    ask_wide(n_resamples=99)  # nor do few that differ much, where the others are equal
    skewed = data.assign(a=10.0 * (np.arange(29) > 26) - 1.0)
    with pytest.warns(RankevalWarning, match="29 items: differences are skewed") as said:
        getattr(skewed.rankeval, test)(n_resamples=99)
    assert len(said) == 1
    failed_nowhere = 1.0 - (rng.random((29, 3)) < 0.2) * rng.random((29, 3))
    failed_nowhere[:, 0] = 1.0
    with pytest.warns(RankevalWarning, match="all scores of a system are equal"):
        getattr(pd.DataFrame(failed_nowhere).rankeval, test)(n_resamples=99)
    grouped = data.assign(doc=np.arange(29) % 7)
    found = getattr(grouped.rankeval(groups="doc"), test)(n_resamples=99)
    assert found.columns[-1] == "n_groups"
    assert (found["n_groups"] == 7).all()
    assert "n_groups" not in ask(n_resamples=99)


def test_few_items_of_the_papers_events_are_said():
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(29, 2)), columns=list("ab"))
    with pytest.warns(RankevalWarning, match="29 items: with fewer than 30 items, resampled gains"):
        data.rankeval.paired_bootstrap(event="recentred")


def test_lazy_data_are_warned_of_when_they_are_computed():
    pytest.importorskip("dask")
    import xarray as xr

    values = np.random.default_rng(0).normal(size=(5, 2))
    ds = xr.Dataset({"score": (("item", "system"), values)}, {"system": ["a", "b"]}).chunk()
    lazy = ds.rankeval.paired_bootstrap()
    with pytest.warns(RankevalWarning, match="5 items"):
        lazy.compute(scheduler="synchronous")


@pytest.mark.parametrize("kind", ["normal", "t with 2 df", "0/1, 30% differ", "F1"])
def test_the_default_keeps_its_level_and_covers_at_ten_items(kind):
    items = study.two_systems(np.random.default_rng(3), kind, 10, 400)
    found = study.judged(items, "default", 0)
    assert found["size"].mean() < 0.06 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert found["coverage"].mean() > 0.93 - 3 * np.sqrt(0.05 * 0.95 / 400)
    assert not found["contradictions"].any()
    if kind == "normal":
        before = study.judged(items, "paper", 0)
        assert before["size"].mean() > 0.07
        assert before["contradictions"].any()


@pytest.mark.parametrize("groups", [3, 10])
def test_the_default_keeps_its_level_with_few_unequal_groups(groups):
    items = study.clustered(np.random.default_rng(5), groups, 400, equal=False)
    found = study.judged(items, "default", 0)
    assert found["size"].mean() < 0.06 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert found["coverage"].mean() > 0.93 - 3 * np.sqrt(0.05 * 0.95 / 400)
    assert study.judged(items, "paper", 0)["size"].mean() > 0.12


@pytest.mark.full
@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_all_pairs_of_equal_systems_together_err_in_five_percent(procedure):
    rng = np.random.default_rng(11)
    wrong = sum(
        study.families(rng, np.zeros(8), 20, procedure, seed)["family-wise error"]
        for seed in range(40)
    )
    assert wrong / 40 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


# ----------------------------------------------------------------------------- many pairs, decided


@pytest.mark.full
def test_as_many_resamples_as_the_family_needs():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(0.15 * np.arange(24), 1.0, (60, 24)))
    with pytest.raises(ValueError, match=r"adjust='holm'.*276 pairs is 552/.*n_resamples=11039 or"):
        data.rankeval.paired_bootstrap(adjust="holm", n_resamples=10_000)
    with pytest.raises(ValueError, match=r"n_resamples=19 or more"):
        data.rankeval.paired_bootstrap(adjust="max-t", n_resamples=18)
    found = data.rankeval.paired_bootstrap(adjust="holm")
    assert found["n_resamples"].unique().tolist() == [110_400]
    assert found.attrs["n_resamples"] == 110_400
    assert (found["p_adjusted"] <= 0.05).any()
    few = data.iloc[:, :3].rankeval
    assert few.paired_bootstrap(adjust="max-t")["n_resamples"].tolist() == [10_000] * 3
    assert few.paired_bootstrap(level=0.9999)["n_resamples"].tolist() == [200_000] * 3
    flips = (data > 1).rankeval.paired_bootstrap(adjust="holm", n_resamples=50)
    assert flips["exact"].all()  # nothing is drawn: any number will do


def test_undecided_judges_the_p_value_that_decides():
    """The two-sided p-value is .05, and no seed may call that decided."""
    rng = np.random.default_rng(0)
    d = rng.normal(size=100)
    d = (d - d.mean()) / d.std()

    def shift(tail: float) -> float:
        """Return where the mean of the hundred is the quantile of its law under random signs."""
        z = stats.norm.isf(tail)
        return z / np.sqrt(100 - z**2)

    data = pd.DataFrame({"a": d + shift(0.025), "b": 0.0})
    for seed in range(3):
        row = data.rankeval.paired_bootstrap(n_resamples=2_000, rng=seed).iloc[0]
        assert 0.03 < row["p_two_sided"] < 0.07
        assert row["undecided"]
    sure = data.assign(a=data["a"] + 0.2)
    assert not sure.rankeval.paired_bootstrap(n_resamples=2_000)["undecided"][0]
    # one-sided .05 is two-sided .1: decided, whatever twice alpha would say
    tenth = pd.DataFrame({"a": d + shift(0.05), "b": 0.0})
    assert not tenth.rankeval.paired_bootstrap(n_resamples=2_000)["undecided"][0]
    assert tenth.rankeval.paired_bootstrap(n_resamples=2_000, alpha=0.1, rng=1)["undecided"][0]


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh", "max-t"])
def test_undecided_of_adjusted_p_values(adjust):
    """More draws decide: where few were sure, many say the same."""
    rng = np.random.default_rng(7)
    data = pd.DataFrame(rng.normal(0.15 * np.arange(5), 1.0, (60, 5)))
    few = data.rankeval.paired_bootstrap(adjust=adjust, n_resamples=1_000)
    many = data.rankeval.paired_bootstrap(adjust=adjust, n_resamples=50_000, rng=5)
    sure = ~few["undecided"]
    assert 0 < few["undecided"].sum() < len(few) / 2
    np.testing.assert_array_equal(few["p_adjusted"][sure] <= 0.05, many["p_adjusted"][sure] <= 0.05)
    near = (many["p_adjusted"] - 0.05).abs() < 0.003
    assert few["undecided"][near].all()


# --------------------------------------------------------------------------- degenerate, 0 and 1


def test_equal_items_have_no_interval_and_that_is_said():
    data = pd.DataFrame({"a": [2.5] * 40, "b": [1.5] * 40, "c": [1.5] * 40})
    with pytest.warns(RankevalWarning, match="No interval"):
        found = data.rankeval.paired_bootstrap()
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)
    assert found["p_one_sided"].tolist() == pytest.approx([2.0**-40, 2.0**-40, 1.0])
    with pytest.warns(RankevalWarning, match="No interval"):
        ranks = data.rankeval.system_ranks(n_resamples=99)
    assert ranks[["ci_low", "ci_high"]].isna().all(axis=None)


def test_what_is_right_or_wrong_has_exact_limits_at_the_edge():
    data = pd.DataFrame({"all": [1] * 200, "same": [1] * 200, "some": [1, 0] * 100})
    ranks = data.rankeval(metric="accuracy").system_ranks(n_resamples=99).set_index("system")
    for name, right in (("all", 200), ("some", 100)):
        for kind, level in (("", 1 - 0.05 / 3), ("_alone", 0.95)):  # three systems: Bonferroni
            limits = list(stats.binomtest(right, 200).proportion_ci(level))
            found = ranks.loc[name, [f"ci_low{kind}", f"ci_high{kind}"]].tolist()
            assert found == pytest.approx(limits)
    row = data.rankeval(metric="accuracy").paired_bootstrap("all", "same").iloc[0]
    assert -0.03 < row["ci_low"] < -0.01
    assert row["ci_high"] == pytest.approx(-row["ci_low"])
    assert row["p_one_sided"] == 1.0
    wrong = 1 - data
    turned = wrong.rankeval(higher_is_better=False).system_ranks(n_resamples=99)
    limits = turned.set_index("system").loc["all", ["ci_low", "ci_high"]]
    assert limits.tolist() == pytest.approx([0.0, 1 - ranks.loc["all", "ci_low"]])


CELLS = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda cells: sum(cells) >= 2)


@given(CELLS, st.sampled_from([0.8, 0.95, 0.99]))
def test_tangos_limits_are_where_the_score_test_rejects(cells, level):
    """The most likely share is sought numerically."""
    _, wins, losses, _ = cells
    n = sum(cells)
    z = stats.norm.isf((1 - level) / 2)

    def score(delta: float) -> float:
        def unlikely(share: float) -> float:
            parts = (share + delta, share, 1 - delta - 2 * share)
            counts = (wins, losses, n - wins - losses)
            return -sum(k * np.log(max(p, 1e-300)) for k, p in zip(counts, parts, strict=True))

        low, high = max(0.0, -delta), (1 - delta) / 2
        share = optimize.minimize_scalar(
            unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        ends = [x for x in (low, high) if unlikely(x) <= unlikely(share)]
        share = min(ends, key=unlikely) if ends else share
        return (wins - losses - n * delta) / np.sqrt(n * (2 * share + delta - delta**2))

    low, high = differences.tango(cells, level)
    assert -1 <= low <= (wins - losses) / n <= high <= 1
    if low > -0.999:
        assert score(low) == pytest.approx(z, abs=2e-3)
    if high < 0.999:
        assert score(high) == pytest.approx(-z, abs=2e-3)
    turned = differences.tango((cells[0], losses, wins, cells[3]), level)
    assert turned == pytest.approx((-high, -low), abs=1e-12)


def test_newcombes_limits_are_the_published_ones():
    """Newcombe (1998), table III: methods 10 and 8's neighbour, Tango's score interval (1998)."""
    assert differences.paired_newcombe((36, 12, 2, 0), 0.95) == pytest.approx(
        (0.0569, 0.3404), abs=5e-5
    )


def test_newcombes_correlation_is_corrected_for_continuity():
    """Newcombe's method 10, with statsmodels' Wilson limits, for counts 20, 12, 2 and 16."""
    (low_a, high_a), (low_b, high_b) = (
        proportion_confint(right, 50, method="wilson") for right in (32, 22)
    )
    phi = (20 * 16 - 12 * 2 - 50 / 2) / math.sqrt(32 * 18 * 22 * 28)
    wanted = [
        0.2 + sign * math.sqrt(x**2 - 2 * phi * x * y + y**2)
        for sign, x, y in ((-1, 0.64 - low_a, high_b - 0.44), (1, high_a - 0.64, 0.44 - low_b))
    ]
    found = differences.paired_newcombe((20, 12, 2, 16), 0.95)
    assert found == pytest.approx(wanted, rel=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 200))
def test_where_the_exact_test_rejects_tangos_interval_leaves_out_zero(wins, losses, rest):
    p = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    if wins + losses + rest and p <= 0.05:
        low, high = differences.tango((rest, wins, losses, 0), 0.95)
        assert low > 0.0 or high < 0.0


def test_score_intervals_are_of_zero_and_one_only():
    rng = np.random.default_rng(3)
    right = pd.DataFrame(rng.random((50, 2)) < [0.7, 0.5], columns=["a", "b"])
    a, b = right.to_numpy().T
    cells = tuple(int(x.sum()) for x in (a & b, a & ~b, ~a & b, ~a & ~b))
    for kind in ("tango", "newcombe"):
        row = right.rankeval.paired_bootstrap("a", "b", ci=kind).iloc[0]
        wanted = getattr(differences, {"newcombe": "paired_newcombe"}.get(kind, kind))(cells, 0.95)
        assert row["p_value"] > 0.05  # where Newcombe's interval excludes 0
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((min(wanted[0], 0.0), wanted[1]))
        with pytest.raises(ValueError, match=f"ci='{kind}' is an interval for paired proportions"):
            (right * 2.5).rankeval.paired_bootstrap(ci=kind)
    with pytest.raises(ValueError, match="ci='clopper-pearson' is an interval for a proportion"):
        (right * 2.5).rankeval.system_ranks(ci="clopper-pearson")


# -------------------------------------------------------------------------------- many groups


def null_domains(seed: int, domains: int = 50, items: int = 40) -> pd.DataFrame:
    """Return three equal systems in many domains."""
    scores = np.random.default_rng(seed).normal(size=(domains * items, 3))
    names = [f"d{i:02d}" for i in range(domains)]
    return pd.DataFrame(scores, columns=list("xyz")).assign(domain=np.repeat(names, items))


def as_dataset(data: pd.DataFrame) -> xr.Dataset:
    """Return the domains along a dimension."""
    names = sorted(data["domain"].unique())
    scores = data[list("xyz")].to_numpy().reshape(len(names), -1, 3)
    coords = {"domain": names, "system": list("xyz")}
    return xr.Dataset({"score": (("domain", "item", "system"), scores)}, coords=coords)


@pytest.mark.full
@pytest.mark.parametrize("test", ["paired_bootstrap", "paired_permutation"])
def test_fifty_null_domains_are_one_family(test):
    """Adjusted within each domain, some 5 % of the domains err."""
    ask = getattr(null_domains(1).rankeval(by="domain"), test)
    for skewness, errs in ((False, 5), (True, 4)):
        alone = ask(adjust="max-t", adjust_over="group", skewness=skewness)
        assert (alone["p_adjusted"] <= 0.05).sum() == errs
    together = ask(adjust="max-t")
    assert not (together["p_adjusted"] <= 0.05).any()
    assert together.attrs["adjust_over"] == "all"


@pytest.mark.full
def test_families_of_all_domains_err_in_five_percent():
    """Of 60 studies of eight null domains, as many as a binomial law allows."""
    errs = {"all": 0, "group": 0}
    for seed in range(60):
        for over in list(errs)[: 2 if seed < 20 else 1]:
            found = (
                null_domains(seed, 8, 30)
                .rankeval(by="domain")
                .paired_bootstrap(adjust="max-t", adjust_over=over, n_resamples=499)
            )
            errs[over] += bool((found["p_adjusted"] <= 0.05).any())
    assert errs["all"] <= stats.binom.ppf(0.999, 60, 0.05)
    assert errs["group"] >= 4  # of 20: 1 - .95^8 = .34


@pytest.mark.parametrize(
    ("adjust", "name"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh"), ("by", "fdr_by")],
)
def test_adjusted_p_values_of_all_domains_are_those_of_statsmodels(adjust, name):
    data = null_domains(2, 4, 60)
    data.loc[data["domain"] == "d01", "x"] += 0.6
    found = data.rankeval(by="domain").paired_bootstrap(adjust=adjust)
    wanted = multipletests(found["p_two_sided"], method=name)[1]
    np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
    assert 0 < (found["p_adjusted"] <= 0.05).sum() < len(found)


@pytest.mark.parametrize("adjust", ["max-t", "max-t-stepdown"])
def test_domains_on_top_of_max_t(adjust):
    data = null_domains(3, 4, 60)
    for number, name in enumerate(["d01", "d03"]):
        data.loc[data["domain"] == name, "x"] += 0.4 + 0.2 * number
    ask = partial(data.rankeval.paired_bootstrap, by="domain", adjust=adjust, n_resamples=20_000)
    alone = ask(adjust_over="group").set_index("domain")["p_adjusted"]
    together = ask().set_index("domain")["p_adjusted"]
    largest, reached = alone.groupby("domain").max(), 0.0
    for p, wanted in sorted(zip(alone, together, strict=True)):
        waiting = (largest >= p).sum()  # domains with a pair not yet rejected
        reached = max(reached, p * (len(largest) if adjust == "max-t" else waiting))
        assert wanted == pytest.approx(min(reached, 1.0), rel=1e-12, abs=0.0)


@pytest.mark.full
@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_datasets_lazy_or_not_have_one_family_too(adjust):
    data = null_domains(4, 6, 40)
    data.loc[data["domain"] == "d01", "x"] += 0.7
    wanted = data.rankeval(by="domain").paired_bootstrap(adjust=adjust)
    whole = as_dataset(data)
    for asked in (whole, whole.chunk({"domain": 2})):
        found = asked.rankeval.paired_bootstrap(adjust=adjust)
        values = found["p_adjusted"].to_numpy().ravel()
        np.testing.assert_allclose(values, wanted["p_adjusted"], rtol=1e-12)
        assert (found["undecided"].to_numpy().ravel() == wanted["undecided"]).all()
        ranks = asked.rankeval.system_ranks(adjust=adjust).compute()
        assert ranks["rank_low"].sel(domain="d01", system="y").item() == 2


@pytest.mark.full
def test_ranks_of_all_domains_hold_together():
    ask = partial(null_domains(1).rankeval(by="domain").system_ranks, n_resamples=2_000)
    assert (ask(adjust_over="group")["rank_low"] > 1).sum() == 4
    found = ask()
    assert (found["rank_low"] == 1).all()
    assert found["tied_for_best"].all()
    percentile = ask(ranks="percentile")
    assert percentile["tied_for_best"].all()
    assert (percentile["rank_high"] < 3).any()


def test_a_family_of_domains_needs_more_resamples():
    ask = null_domains(5, 10, 30).rankeval(by="domain").paired_bootstrap
    with pytest.raises(ValueError, match=r"in each of 10 groups .* Pass n_resamples=1199 or more"):
        ask(adjust="holm", n_resamples=1198)
    assert ask(adjust="holm").attrs["n_resamples"] == 12_000
    with pytest.raises(ValueError, match=r"is 10/.* Pass n_resamples=199 or more"):
        ask(adjust="max-t", n_resamples=198)
    with pytest.raises(ValueError, match="adjust_over='topic' is not one of 'all', 'group'"):
        ask(adjust="holm", adjust_over="topic")


# -------------------------------------------------------------------------------- how it was made


def test_tables_say_how_they_were_made():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(doc=list("wxyz") * 10)
    attrs = data.rankeval(groups="doc").paired_bootstrap(rng=7).attrs
    wanted = {
        "metric": "mean", "higher_is_better": True, "groups": "doc", "seed": 7,
        "event": "wild", "method": "paired_bootstrap", "alpha": 0.05,
        "level": 0.95, "interval": "wild",
    }  # fmt: skip
    assert {name: attrs[name] for name in wanted} == wanted
    assert "n_resamples" not in attrs  # the signs of four groups are all looked at
    paper = data.rankeval(groups="doc").paired_bootstrap(event="recentred", n_resamples=99).attrs
    assert (paper["event"], paper["interval"], paper["n_resamples"]) == ("recentred", "basic", 99)
    swaps = data.rankeval(groups="doc").paired_permutation().attrs
    assert (swaps["test"], swaps["interval"], "event" in swaps) == (*["permutation"] * 2, False)
    ranks = data.rankeval(groups="doc").system_ranks(n_resamples=99).attrs
    assert (ranks["ranks"], ranks["adjust"], ranks["interval"]) == ("simultaneous", "max-t", "wild")
    right = (data[list("abc")] > 0.0).rankeval(metric="accuracy")
    assert right.paired_bootstrap().attrs["interval"] == "tango"
    assert right.system_ranks().attrs["interval"] == "clopper-pearson"
    mixed = pd.concat([data[list("abc")], (data[list("abc")] > 0.0).astype(float)])
    mixed["kind"] = ["score"] * 40 + ["right"] * 40
    assert mixed.rankeval(by="kind").paired_bootstrap().attrs["interval"] == "tango, wild"


def test_the_matrix_of_pairs_and_the_ranks_tell_one_story():
    data = counts_of(10, 90, 5)
    ask = data.rankeval(metric="f1")
    p = ask.paired_bootstrap(adjust="max-t").set_index(["system_a", "system_b"])["p_adjusted"]
    for row in ask.system_ranks().itertuples():
        beaten = sum(p[pair] <= 0.05 for pair in p.index if pair[1] == row.system)
        assert row.rank_low == 1 + beaten
    import inspect

    default = {
        name: inspect.signature(getattr(rankeval_pd.plotting, name)).parameters["adjust"].default
        for name in ("pairs", "system_ranks")
    }
    assert default["pairs"] == default["system_ranks"] == "max-t"


# ---------------------------------------------------------------------------- the committed study


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    """The committed study."""
    return pd.read_csv(REFERENCE / "paired_sizes.csv")


def test_the_page_has_the_tables_of_the_committed_study(found):
    if not study.PAGE.exists():
        pytest.skip("an installed package has no docs")
    text = study.PAGE.read_text("utf-8")
    assert study.as_table(found) in text
    shown = study.as_table(found)
    default = found[found["procedure"] == "default"]
    short = (default["figure"] == "size") & (default["share"] > 0.06)
    assert shown.count("**") == 2 * short.sum()


def test_the_defaults_hold_where_no_warning_is_given(found):
    default = found[found["procedure"] == "default"]
    room = 2 * default["error"]
    symmetric = ~default["kind"].isin(study.SKEWED)
    enough = default["n"] >= np.where(default["part"] == "groups", 20, 30)
    for figure, limit, sign in (("size", 0.06, 1), ("coverage", 0.93, -1)):
        asked = default[(default["figure"] == figure) & symmetric & enough]
        assert len(asked) >= 15
        assert (sign * (asked["share"] - limit) <= room[asked.index]).all()
    families = default[(default["figure"] == "family-wise error") & (default["n"] >= 20)]
    assert (families["share"] - 0.06 <= room[families.index]).all()
    ranks = default[(default["figure"] == "ranks, all") & (default["n"] >= 20)]
    assert (ranks["share"] + room[ranks.index] >= 0.95).all()
    assert (default.loc[default["figure"] == "contradictions", "share"] == 0.0).all()
