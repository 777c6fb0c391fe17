"""Families of pairs and of groups: adjusted p-values, how many draws decide, no contradiction."""

from __future__ import annotations

import itertools
import os
from functools import partial
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import rankeval_pd
from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.roles import Event
from rankeval_pd.stats.items import ADJUSTMENTS
from tests.simulations import study
from tests.systems.conftest import errors_of, null_domains

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
ADJUST = (None, *ADJUSTMENTS, "max-t", "max-t-stepdown")
# RANKEVAL_PD_TABLES=2000 asks of as many random tables; .ci/run has ten minutes for everything
TABLES = int(os.environ.get("RANKEVAL_PD_TABLES", "40"))
MANY = pytest.param(range(12, 12 + TABLES), marks=pytest.mark.full, id="many")
# ------------------------------------------------------------------------------ adjusted p-values


def stepped_down(t: list[float], t_star: list[np.ndarray], *, added: int) -> np.ndarray:
    """Return the adjusted p-values of Romano and Wolf, one pair after the other."""
    order = np.argsort(-np.abs(np.array(t)), kind="stable")
    p, last = np.empty(len(t)), 0.0
    for place, k in enumerate(order):
        rest = np.max([np.abs(t_star[j]) for j in order[place:]], axis=0)
        hits = np.count_nonzero(rest >= abs(t[k]) - 1e-10)
        last = p[k] = max(last, (hits + added) / (rest.size + added))
    return p


def test_max_t_of_signs_by_hand():
    """Twelve items, all signs: t tests of every pair with the same signs."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal([0, 0.3, 0.6, 1.5], size=(12, 4)), columns=list("abcd"))
    found = data.rankeval.paired_bootstrap(adjust="max-t-stepdown", skewness=False)
    single = data.rankeval.paired_bootstrap(adjust="max-t", skewness=False)
    signs = np.array(list(itertools.product((1, -1), repeat=12)))
    t, t_star, centered = [], [], []
    for row in found.itertuples():
        d = (data[row.system_a] - data[row.system_b]).to_numpy()
        drawn = signs * d
        t.append(d.mean() / d.std(ddof=1))
        t_star.append(drawn.mean(axis=1) / drawn.std(axis=1, ddof=1))
        about = d - d.mean()
        centered.append(signs @ about / np.sqrt((about**2).sum()))
        one = np.count_nonzero(t_star[-1] >= t[-1] - 1e-12) / 4096
        assert row.p_one_sided == pytest.approx(one, rel=1e-12)
    wanted = stepped_down(t, t_star, added=0)
    assert len(set(wanted)) > 3
    np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
    largest, around = (np.abs(x).max(axis=0) for x in (t_star, centered))
    for each, size, own in zip(single.itertuples(), t, t_star, strict=True):
        share = np.sqrt(12 * size**2 / (size**2 + 11 / 12))  # the sum over the root of squares
        wanted = np.mean(largest >= abs(size) - 1e-12), np.mean(around >= share - 1e-12)
        assert each.p_adjusted == max(wanted)
        assert each.p_value == np.mean(np.abs(own) >= abs(size) - 1e-12)
        # the interval has 0 in it if and only if the p-value is above 1 - level
        assert (each.ci_low <= 0.0 <= each.ci_high) == (each.p_adjusted > 0.05)
    assert (found["ci_low"] == single["ci_low"]).all()
    assert found["exact"].all()


def test_a_step_down_is_between_its_pair_and_the_single_step():
    """And a pair alone has the p-value of the test without adjustment, but for draws."""
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal([0.0, 0.3, 0.5, 0.6], 1.0, size=(60, 4)), columns=list("abcd"))
    ask: dict[str, Any] = {"n_resamples": 20_000, "details": True}
    alone, single, down = (
        data.rankeval.paired_bootstrap(adjust=how, **ask)
        for how in (None, "max-t", "max-t-stepdown")
    )
    np.testing.assert_allclose(single["p_value"], alone["p_value"], atol=0.015)
    np.testing.assert_array_equal(single["p_value"], down["p_value"])
    assert (down["p_value"] <= down["p_adjusted"]).all()
    assert (down["p_adjusted"] <= single["p_adjusted"] + 1e-12).all()
    assert (down["p_adjusted"] > 1.2 * down["p_value"]).sum() >= 4
    assert (down["p_adjusted"] < single["p_adjusted"]).sum() >= 3


def test_a_pair_without_an_item_that_differs_has_an_interval_of_the_family():
    right = np.random.default_rng(0).random((40, 3)) < 0.6
    data = pd.DataFrame(right, columns=list("abc")).assign(d=right[:, 0])
    found = data.rankeval.paired_bootstrap(adjust="max-t", details=True)
    row = found[(found["gain"] == 0.0) & (found["gain_se"] == 0.0)].iloc[0]
    z = 2.6382572735  # the normal quantile of 1 - 0.05 / 12, for six pairs
    assert row["ci_high"] == pytest.approx(z**2 / (40 + z**2), rel=1e-8)  # Tango (1998), b = c = 0
    assert row["ci_low"] == -row["ci_high"]


def test_max_t_is_resampled_in_exact_rows_too():
    found = errors_of().rankeval.paired_bootstrap(adjust="max-t", n_resamples=99)
    assert not found["exact"].any()
    for name in ("p_value", "p_adjusted"):
        assert np.isclose(found[name] * 100, (found[name] * 100).round()).all()
    assert (found["p_adjusted"] >= found["p_value"]).all()


# ---------------------------------------------------------------------------- how many draws decide


def test_as_many_resamples_as_the_family_needs():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(0.15 * np.arange(8), 1.0, (60, 8)))
    ask = data.rankeval.paired_bootstrap
    with pytest.raises(ValueError, match=r"adjust='holm'.*28 tests. Pass n_resamples=1119 or"):
        ask(adjust="holm", n_resamples=1_000)
    with pytest.raises(ValueError, match=r"n_resamples=19 or more"):
        ask(adjust="max-t", n_resamples=18)
    found = ask(adjust="holm")
    assert found["n_resamples"].unique().tolist() == [11_200]
    assert found.attrs["n_resamples"] == 11_200
    assert (found["p_adjusted"] <= 0.05).any()
    few = data.iloc[:, :3].rankeval
    assert few.paired_bootstrap(adjust="max-t")["n_resamples"].tolist() == [10_000] * 3
    assert few.paired_bootstrap(level=0.9999)["n_resamples"].tolist() == [200_000] * 3
    flips = (data > 1).rankeval.paired_bootstrap(adjust="holm", n_resamples=50)
    assert flips["exact"].all()  # nothing is drawn: any number will do


def test_a_p_value_at_alpha_asks_for_more_draws():
    """The two-sided p-value is .05, and no seed may call that decided."""
    rng = np.random.default_rng(0)
    d = rng.normal(size=100)
    d = (d - d.mean()) / d.std()

    def shift(tail: float) -> float:
        """Return where the mean of the hundred is the quantile of its law under random signs."""
        z = stats.norm.isf(tail)
        return z / np.sqrt(100 - z**2)

    near = pd.DataFrame({"a": d + shift(0.025), "b": 0.0}).rankeval
    tenth = pd.DataFrame({"a": d + shift(0.05), "b": 0.0}).rankeval
    for seed in range(3):
        with pytest.warns(rankeval_pd.RankevalWarning, match="alpha=0.05 depends on the 10,000"):
            row = near.paired_bootstrap(rng=seed).iloc[0]
        assert 0.03 < row["p_two_sided"] < 0.07
    # one-sided .05 is two-sided .1: decided, whatever twice alpha would say
    tenth.paired_bootstrap()
    with pytest.warns(rankeval_pd.RankevalWarning, match="Pass n_resamples=100000 or more"):
        tenth.paired_bootstrap(alpha=0.1, rng=1)


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh", "max-t"])
def test_adjusted_p_values_near_alpha_are_undecided(adjust):
    """More draws decide: where few were sure, many say the same."""
    rng = np.random.default_rng(7)
    items = study.of_mean(rng.normal(0.15 * np.arange(5), 1.0, (60, 5)).T)
    few, many = (
        bootstrapped_pairs(
            items, study.every_pair(5), study.options(adjust=adjust, seed=seed, n_resamples=draws)
        )
        for draws, seed in ((1_000, 0), (50_000, 5))
    )
    assert 0 < few["undecided"].sum() < few["undecided"].size / 2
    sure = ~few["undecided"]
    np.testing.assert_array_equal(few["p_adjusted"][sure] <= 0.05, many["p_adjusted"][sure] <= 0.05)
    assert few["undecided"][np.abs(many["p_adjusted"] - 0.05) < 0.003].all()


def test_draws_go_on_until_a_pair_near_alpha_is_decided():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal([0.0, 0.37, 0.6], 1.0, size=(60, 3)), columns=list("abc"))
    once = data.rankeval.paired_bootstrap(adjust="max-t", n_resamples=10_000, details=True)
    near = float(once["p_adjusted"].iloc[np.argmin(np.abs(once["p_adjusted"] - 0.2))])
    assert 0.001 < near < 0.999
    close = data.rankeval.paired_bootstrap(adjust="max-t", alpha=near, details=True)
    assert close["n_resamples"].max() == 80_000  # the limit: eight times as many
    easy = data.rankeval.paired_bootstrap(adjust="max-t", alpha=near / 3, details=True)
    assert easy["n_resamples"].max() <= 20_000
    ranks = data.rankeval.system_ranks(alpha=near, details=True)
    assert ranks.attrs["n_resamples"] == 80_000


# ------------------------------------------------------------------------- one family of all groups


@pytest.mark.parametrize(
    ("adjust", "name"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh"), ("by", "fdr_by")],
)
def test_adjusted_p_values_of_all_domains_are_those_of_statsmodels(adjust, name):
    """statsmodels' multipletests."""
    data = null_domains(2, 4, 60)
    data.loc[data["domain"] == "d01", "x"] += 0.6
    ask = data.rankeval(by="domain")
    for found in (ask.paired_bootstrap(adjust=adjust), ask.paired_permutation(adjust=adjust)):
        wanted = multipletests(found["p_two_sided"], method=name)[1]
        np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
        assert 0 < (found["p_adjusted"] <= 0.05).sum() < len(found)
        assert found.attrs["adjust_over"] == "all"


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


def test_a_family_of_domains_needs_more_resamples():
    ask = null_domains(5, 10, 30).rankeval(by="domain").paired_bootstrap
    with pytest.raises(ValueError, match=r"for 30 tests. Pass n_resamples=1199 or more"):
        ask(adjust="holm", n_resamples=1198)
    assert ask(adjust="holm").attrs["n_resamples"] == 12_000
    with pytest.raises(ValueError, match=r"Pass n_resamples=199 or more"):
        ask(adjust="max-t", n_resamples=198)
    with pytest.raises(ValueError, match="adjust_over='topic' is not one of 'all', 'group'"):
        ask(adjust="holm", adjust_over="topic")


# ------------------------------------------------------------------------ no row contradicts itself


def systems_over_items(rng: np.random.Generator) -> pd.DataFrame:
    """Return systems of any quality over few items, right or wrong, graded or real."""
    count, size = int(rng.integers(2, 6)), int(rng.integers(6, 40))
    scores = rng.normal(rng.uniform(0.0, 1.0, count), 1.0, (size, count))
    scores += rng.exponential() * rng.normal(size=(size, 1))
    kind = rng.integers(4)
    if kind == 0:
        scores = (scores > rng.normal()).astype(float)
    elif kind == 1:
        scores = scores.round(int(rng.integers(2)))
    if rng.random() < 0.1:
        scores[:, 1] = scores[:, 0]
    return pd.DataFrame(scores, columns=list("abcde")[:count])


def asked(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    """Return any options of a test of pairs."""
    chosen = {
        "adjust": ADJUST[rng.integers(len(ADJUST))],
        "alternative": ("two-sided", "greater", "less")[rng.integers(3)],
        "level": float(rng.choice([0.8, 0.95])),
        "n_resamples": 399,
        "rng": int(rng.integers(100)),
    }
    if rng.random() < 0.3:
        chosen["baseline"] = "a"
    return {**chosen, "alpha": 0.2, "details": True, **more}


def check(found: pd.DataFrame, asked: dict[str, Any]) -> None:
    """Assert that the rows of a table of pairs agree with themselves."""
    adjusted, level = asked["adjust"] is not None, asked["level"]
    for name in ("p_adjusted", "ci_low_alone", "ci_high_alone"):
        assert (name in found) == adjusted, asked
    p = found["p_adjusted" if adjusted else "p_value"]
    for low, high, decides in [
        ("ci_low", "ci_high", p),
        *([("ci_low_alone", "ci_high_alone", found["p_value"])] if adjusted else []),
    ]:
        outside = (found[low] > 0.0) | (found[high] < 0.0)
        assert not (outside & (decides > 1.0 - level + 1e-12)).any(), (asked, found.T)
        assert not (found[low] > found[high]).any(), asked
        ends = {"greater": found[high] >= 1.0, "less": found[low] <= -1.0}
        end = ends.get(asked["alternative"])
        assert end is None or end[found[low].notna()].all(), (asked, found.T)
    if adjusted:
        assert (found["p_adjusted"] >= found["p_value"]).all(), (asked, found.T)
        assert found.attrs["family"]
    assert (found["leaning"].isna() == (found["gain"] == 0.0)).all()
    favored = found["system_a"].where(found["gain"] > 0.0, found["system_b"])
    assert (found["leaning"] == favored)[found["gain"] != 0.0].all()
    if asked["alternative"] == "two-sided" and not str(asked["adjust"]).startswith("max-t"):
        two_sided = np.minimum(1.0, 2.0 * found["p_one_sided"])
        np.testing.assert_allclose(found["p_value"], two_sided, rtol=1e-12)


@pytest.mark.parametrize("seeds", [range(8), MANY])
def test_no_row_contradicts_itself(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        data = systems_over_items(rng)
        kinds, options = (None, "wild", "percentile", "basic"), asked(rng)
        if not str(options["adjust"]).startswith("max-t"):
            options["event"] = get_args(Event)[rng.integers(4)]
        options["ci"] = kinds[rng.integers(4)]
        check(data.rankeval.paired_bootstrap(**options), options)
        data, options = systems_over_items(rng), asked(rng)
        check(data.rankeval.paired_permutation(**options), options)


@pytest.mark.parametrize("seeds", [range(4), MANY])
def test_letters_ranks_and_pairs_say_the_same(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 3])
        data, adjust = systems_over_items(rng), ADJUST[rng.integers(len(ADJUST))]
        how: dict[str, Any] = {"adjust": adjust, "level": 0.8, "n_resamples": 399, "details": True}
        ranks = data.rankeval.system_ranks(alpha=0.2, **how).set_index("system")
        pairs = data.rankeval.paired_bootstrap(alpha=0.2, **how)
        verdict = data.rankeval(metric="mean").summary(**how)
        p = pairs["p_value" if adjust is None else "p_adjusted"]
        for row, decides in zip(pairs.itertuples(), p, strict=True):
            shared = {*ranks["letters"][row.system_a]} & {*ranks["letters"][row.system_b]}
            assert bool(shared) == (decides > 0.2), (how, pairs.T)
        apart = pairs[p <= 0.2]
        for name in ranks.index:
            assert ranks["rank_low"][name] == 1 + (apart["system_b"] == name).sum()
            assert ranks["rank_high"][name] == len(ranks) - (apart["system_a"] == name).sum()
        assert ranks["rank"].between(ranks["rank_low"], ranks["rank_high"]).all()
        assert (ranks["tied_for_best"] == (ranks["rank_low"] == 1)).all()
        assert ranks["rank"].is_monotonic_increasing
        assert verdict["letters"].tolist() == ranks["letters"].loc[verdict["system"]].tolist()
        outside = (verdict["difference_low"] > 0.0) | (verdict["difference_high"] < 0.0)
        of_difference = verdict["p_value" if adjust is None else "p_adjusted"]
        assert not (outside & (of_difference > 0.2 + 1e-12)).any()
