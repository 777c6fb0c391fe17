"""Paired tests of systems: p-values, groups, what is undefined; enumeration, loops, SciPy."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import differences
from rankeval_pd.stats.items import Items
from rankeval_pd.stats.two_by_two import paired_tails
from tests.systems.conftest import EVENTS, OF_PAIRS, counts_of, errors_of, f1, loop

pytestmark = pytest.mark.filterwarnings("ignore:.*No interval:rankeval_pd.errors.RankevalWarning")

# ------------------------------------------------------------------------------------- exact values


@pytest.mark.parametrize(
    ("event", "p"),
    [("recentred", 0.2642286), ("strict", 0.0784277), ("zero", 0.3641697)],
)
def test_one_win_in_fifty_items(one_win, event, p):
    row = one_win.rankeval.paired_bootstrap(event=event).iloc[0]
    assert row["p_one_sided"] == pytest.approx(p, abs=5e-8)
    assert (row["exact"], row["p_stderr"], row["n_resamples"]) == (True, 0.0, 0)
    drawn = one_win.rankeval.paired_bootstrap(
        event=event, method="monte-carlo", n_resamples=50_000
    ).iloc[0]
    assert not drawn["exact"]
    assert drawn["n_resamples"] == 50_000
    assert abs(drawn["p_one_sided"] - row["p_one_sided"]) < 4 * drawn["p_stderr"]


def test_one_win_never_becomes_a_loss_and_the_sign_flip_is_a_half(one_win):
    """P(δ* < 0) = 0: turned round, all resampled gains are at most 0."""
    ask = {"event": "zero", "alternative": "greater"}
    row = one_win.rankeval.paired_bootstrap("old", "new", **ask).iloc[0]
    assert row["gain"] == -0.02
    assert row["p_value"] == pytest.approx(1.0, abs=1e-14)
    assert one_win.rankeval.paired_permutation()["p_one_sided"][0] == 0.5


def test_identical_systems_have_p_one():
    data = pd.DataFrame({"x": [1, 0, 1, 1] * 6, "y": [1, 0, 1, 1] * 6})
    for method in ("auto", "monte-carlo"):
        ask = {"method": method, "n_resamples": 500}
        for test in (data.rankeval.paired_bootstrap, data.rankeval.paired_permutation):
            row = test(**ask, adjust="max-t").iloc[0]
            assert row[["p_value", "p_two_sided", "p_adjusted"]].tolist() == [1.0, 1.0, 1.0]
            assert row[["gain", "gain_se"]].tolist() == [0.0, 0.0]
        other = (data * 0.5).rankeval.paired_bootstrap(**ask).iloc[0]
        assert other[["ci_low", "ci_high"]].isna().all()  # what else could happen is not known


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:. items. differences are skewed:rankeval_pd.RankevalWarning")
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5),
    st.sampled_from(["mean", "sum"]),
    st.sampled_from([1.0, 0.1, 1 / 3]),
)
def test_the_exact_bootstrap_is_full_enumeration(items, metric, step):
    """All n^n resamples of up to five items."""
    data = pd.DataFrame(items, columns=["a", "b"])
    difference = (data["a"] - data["b"]).to_numpy()
    n = len(data)
    drawn = difference[list(itertools.product(range(n), repeat=n))].sum(axis=1)
    for event, happened in EVENTS.items():
        found = (data * step).rankeval.paired_bootstrap(
            "a", "b", metric=metric, event=event, alternative="greater"
        )
        assert found["exact"][0]
        p = happened(drawn, difference.sum()).mean()
        if p == 0.0 and event != "strict":
            p = 2.0**-n  # no p-value is 0
        assert found["p_value"][0] == pytest.approx(p, rel=1e-10)
        size = step if metric == "sum" else step / n
        assert found["gain_se"][0] == pytest.approx(size * drawn.std(), abs=1e-12)


@given(st.integers(2, 300), st.integers(0, 2**32))
def test_the_exact_sign_flip_is_mcnemars_test(n, seed):
    """scipy.stats.binomtest for the items that only one system answers correctly."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n)) < rng.random((2, 1))
    ask = pd.DataFrame({"a": a, "b": b}).rankeval.paired_permutation
    found, greater = (ask("a", "b", alternative=x).iloc[0] for x in ("two-sided", "greater"))
    less = ask("b", "a", alternative="less").iloc[0]
    wins, losses = int((a & ~b).sum()), int((b & ~a).sum())
    if wins + losses:
        one = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
        two = stats.binomtest(wins, wins + losses).pvalue
    else:
        one = two = 1.0
    assert found["exact"]
    assert greater["p_value"] == less["p_value"] == pytest.approx(one, rel=1e-10)
    assert found["p_value"] == found["p_two_sided"] == pytest.approx(two, rel=1e-10)
    np.testing.assert_equal([less["ci_low"], less["ci_high"]],
                            [-greater["ci_high"], -greater["ci_low"]])  # fmt: skip


def test_four_wins_without_a_loss():
    """The unconditional test is below the sign test, and its interval agrees."""
    data = pd.DataFrame({"new": [1] * 4 + [0] * 16, "old": [0] * 20})
    row = data.rankeval(metric="accuracy").paired_bootstrap().iloc[0]
    assert row["p_two_sided"] == pytest.approx(2 * float(paired_tails(4, 0, 20)), rel=1e-14)
    permuted = data.rankeval(metric="accuracy").paired_permutation().iloc[0]
    assert permuted["p_two_sided"] == pytest.approx(1 / 8, rel=1e-14)  # the sign test
    assert 0.05 < row["p_two_sided"] < 1 / 8
    assert row["ci_low"] == 0.0
    assert row["ci_high"] == pytest.approx(
        differences.tango_limits(np.array([4]), np.array([0]), 20, 0.95)[1][0]
    )


def test_accuracy_with_totals_is_exact_if_all_are_the_same():
    rng = np.random.default_rng(4)
    correct = pd.DataFrame(rng.integers(0, 5, (40, 2)), columns=["x", "y"])
    same = pd.concat({"correct": correct, "total": correct * 0 + 4}, axis=1).swaplevel(axis=1)
    found = same.rankeval(metric="accuracy").paired_bootstrap("x", "y").iloc[0]
    plain = (correct / 4).rankeval.paired_bootstrap("x", "y").iloc[0]
    assert found["exact"]
    pd.testing.assert_series_equal(found, plain, rtol=1e-10)
    same[("x", "total")] += np.arange(40) % 2
    varied = partial(rankeval_pd.paired_bootstrap, same, metric="accuracy", event="recentred")
    assert not varied(n_resamples=99)["exact"][0]


def test_pairs_of_one_table_are_exact_where_they_can_be():
    data = pd.DataFrame(np.random.default_rng(5).integers(0, 3, (40, 2)), columns=["x", "y"])
    data["z"] = 3.0 * np.random.default_rng(6).random(40)
    found = data.rankeval.paired_bootstrap(n_resamples=500)
    whole = ~found[["system_a", "system_b"]].isin(["z"]).any(axis=1)
    assert (found["exact"] == whole).all()
    assert (found["n_resamples"] == np.where(whole, 0, 500)).all()
    for pair, row in found.iterrows():
        alone = data.rankeval.paired_bootstrap(row["system_a"], row["system_b"], n_resamples=500)
        pd.testing.assert_frame_equal(alone, found.iloc[[pair]].reset_index(drop=True))


@pytest.mark.parametrize("event", EVENTS)
def test_items_that_all_differ_by_the_same(event):
    """Resampling sees no variation: no p-value but the paper's own is 0, and no interval."""
    ask = pd.DataFrame({"a": [3.0, 2.0, 5.0], "b": [2.0, 1.0, 4.0]}).rankeval
    with pytest.warns(RankevalWarning, match="No interval"):
        row = ask.paired_bootstrap(event=event).iloc[0]
    assert row[["gain", "gain_se"]].tolist() == [1, 0]
    assert row[["ci_low", "ci_high"]].isna().all()
    assert row["p_one_sided"] == (0.0 if event == "strict" else 1 / 8)
    drawn = ask.paired_bootstrap(event=event, method="monte-carlo", n_resamples=99)
    assert drawn["p_one_sided"][0] == (0.0 if event == "strict" else 0.01)
    for flipped in (ask.paired_permutation(), ask.paired_bootstrap()):
        assert flipped["p_one_sided"][0] == pytest.approx(1 / 8, rel=1e-14)


def test_every_swap_is_looked_at_for_few_items():
    data = counts_of(3, 9, 2)
    a, b = (data[name].to_numpy(dtype=float) for name in ("s1", "s0"))
    gain = f1(a.sum(axis=0)) - f1(b.sum(axis=0))
    every = []
    for flips in itertools.product((False, True), repeat=9):
        where = np.array(flips)[:, np.newaxis]
        every.append(f1(np.where(where, b, a).sum(axis=0)) - f1(np.where(where, a, b).sum(axis=0)))
    found = data.rankeval(metric="f1").paired_permutation("s1", "s0").iloc[0]
    assert (found["exact"], found["n_resamples"]) == (True, 0)
    assert found["p_one_sided"] == np.mean(np.array(every) >= gain - 1e-12)
    assert found["gain_se"] == pytest.approx(np.std(every), rel=1e-10)
    drawn = data.rankeval(metric="f1").paired_permutation("s1", "s0", method="monte-carlo").iloc[0]
    assert abs(drawn["p_one_sided"] - found["p_one_sided"]) < 4 * drawn["p_stderr"]


# ----------------------------------------------------------------------------------------- signs


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


def test_the_t_test_of_a_worse_first_system_is_that_of_scipy():
    rng = np.random.default_rng(1)
    df = pd.DataFrame(rng.normal([0.3, 0.05], size=(40, 2)), columns=["a", "b"])
    for alternative in ("two-sided", "greater", "less"):
        expected = stats.ttest_rel(df["b"], df["a"], alternative=alternative).pvalue
        [row] = df.rankeval.paired_permutation("b", "a", test="t", alternative=alternative).to_dict(
            "records"
        )
        assert row["p_value"] == pytest.approx(expected, rel=1e-12)


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


# ------------------------------------------------------------------------------------ Monte Carlo


@pytest.mark.parametrize("event", EVENTS)
def test_p_values_are_those_of_a_plain_loop(event):
    data = counts_of(1, 60)
    found = data.rankeval(metric="f1").paired_bootstrap(event=event, n_resamples=1_700, rng=9)
    assert not found["exact"].any()
    for row in found.itertuples():
        gain, drawn = loop(data, f1, row.system_a, row.system_b, 1_700, rng=9)
        hits = EVENTS[event](drawn, gain).sum()
        p = hits / 1_700 if event == "strict" else (hits + 1) / 1_701
        assert row.gain == pytest.approx(gain, rel=1e-12)
        assert row.gain >= 0
        assert row.p_one_sided == p
        assert row.p_two_sided == min(1.0, 2 * p)
        assert row.confidence == 1 - p
        assert row.p_stderr == pytest.approx(2 * np.sqrt(p * (1 - p) / 1_700), rel=1e-12)
        assert row.gain_se == pytest.approx(drawn.std(), rel=1e-10)


@pytest.mark.full
def test_bleu_of_wmt22_is_sacrebleus_and_its_p_values_those_of_a_loop(wmt22):
    sacre = pytest.importorskip("sacrebleu.metrics").BLEU
    names = [f"{kind}_{k}" for kind in ("correct", "total") for k in (1, 2, 3, 4)]
    counts = np.vstack([np.ones(len(wmt22), dtype=int), rankeval_pd.resample_counts(1984, 200)])

    def bleu(sums) -> float:
        values = [int(x) for x in sums]
        return sacre.compute_bleu(values[:4], values[4:8], *values[8:], "exp").score

    scores = {}  # of all segments, and of each resample
    for system in wmt22["sys_len"]:
        parts = wmt22.xs(system, axis=1, level="system")[[*names, "sys_len", "ref_len"]]
        scores[system] = np.array([bleu(sums) for sums in counts @ parts.to_numpy()])
    found = wmt22.rankeval(metric="bleu").paired_bootstrap(n_resamples=200, event="recentred")
    assert len(found) == 36
    for row in found.itertuples():
        a, b = scores[row.system_a], scores[row.system_b]
        assert (row.score_a, row.score_b) == pytest.approx((a[0], b[0]), rel=1e-12)
        hits = np.count_nonzero((a - b)[1:] >= 2 * row.gain - 1e-10)
        assert row.p_one_sided == (hits + 1) / 201
        assert row.gain_se == pytest.approx((a - b)[1:].std(), rel=1e-9)


def folded(z: float) -> float:
    """Return p of the rule that takes |difference| before centring, for a normal gain."""
    law = stats.foldnorm(abs(z))
    return law.sf(law.mean() + abs(z))


def test_sacrebleus_p_value_counted_in_the_same_resamples():
    significance = pytest.importorskip("sacrebleu.significance")
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(0.06, 1.0, 120), "b": 0.0})
    drawn = rankeval_pd.resample_counts(120, 4000, rng=5) @ data["a"].to_numpy() / 120
    sizes = np.abs(drawn)
    theirs = significance._compute_p_value(sizes - sizes.mean(), abs(data["a"].mean()))
    row = data.rankeval.paired_bootstrap(
        "a", "b", n_resamples=4000, rng=5, event="recentred", method="monte-carlo"
    ).iloc[0]
    for one_sided, shown in ((0.298, 0.207), (0.5, 0.425), (0.1, 0.084), (0.01, 0.010)):
        assert folded(stats.norm.isf(one_sided)) == pytest.approx(shown, abs=6e-4)
    error = 4 * np.sqrt(0.25 / 4000)
    z = stats.norm.isf(row["p_one_sided"])
    assert theirs == pytest.approx(folded(z), abs=error)
    assert row["p_one_sided"] - theirs > 0.03


# ------------------------------------------------------------------ direction, order of a and b


def test_the_mirror_image_of_errors_has_the_same_ranks_and_calibration():
    errors, fewer = errors_of(), errors_of().rankeval(higher_is_better=False)
    ask, twice = {"adjust": "max-t", "n_resamples": 300}, 2.0 * errors  # neither is 0 or 1
    found = twice.rankeval(higher_is_better=False).system_ranks(**ask)
    wanted = (-twice).rankeval.system_ranks(**ask)
    for name in ("", "_alone"):
        limits = -found[[f"ci_high{name}", f"ci_low{name}"]].to_numpy()
        found[[f"ci_low{name}", f"ci_high{name}"]] = limits
    found["value"] = -found["value"]
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9, atol=1e-12)
    assert found["tied_for_best"].tolist() != [True] * 4
    ask = {"n_items": 30, "n_test_sets": 5, "bins": [0.0, 0.1, 1.0]}
    # 0 and -1 are not right or wrong, and allow for skewness: 1 - errors
    pd.testing.assert_frame_equal(
        fewer.population_calibration(**ask), (1.0 - errors).rankeval.population_calibration(**ask)
    )


@pytest.mark.parametrize("event", [*EVENTS, "swaps"])
def test_two_sides_do_not_depend_on_which_system_is_named_first(event):
    named = ["p_value", "p_two_sided", "p_one_sided"]
    for method, adjust in (("auto", None), ("monte-carlo", "holm"), ("monte-carlo", "max-t")):
        ask = {"method": method, "adjust": adjust, "n_resamples": 400}
        ask |= {} if event == "swaps" else {"event": event}
        test = "paired_permutation" if event == "swaps" else "paired_bootstrap"
        for data, metric in ((errors_of(), "mean"), (counts_of(2, 60, 2), "f1")):
            tests = getattr(data.rankeval(metric=metric), test)
            if adjust == "max-t" and event not in ("wild", "swaps"):
                continue  # max-t draws random signs
            rows = (tests(*names, **ask).iloc[0] for names in (("s0", "s1"), ("s1", "s0")))
            first, second = sorted(rows, key=lambda row: row["gain"])
            assert first["gain"] == -second["gain"] < 0
            assert second["p_two_sided"] == min(1.0, 2 * second["p_one_sided"])
            for name in named + (["p_adjusted"] if adjust else []):
                assert first[name] == pytest.approx(second[name], rel=1e-12)


def test_named_pairs_keep_their_order():
    ask = counts_of(1, 30, 4).rankeval(metric="f1").paired_bootstrap
    one = ask("s0", "s3", n_resamples=50).iloc[0]
    assert (one["system_a"], one["system_b"], one["leaning"]) == ("s0", "s3", "s3")
    assert one["gain"] < 0
    some = ask("s0", n_resamples=50)
    assert len(some) == 3
    assert (some[["system_a", "system_b"]] == "s0").any(axis=1).all()
    assert (some["gain"] >= 0).all()


def test_families_name_the_relation():
    for families in (
        {"s0": "x", "s1": "y", "s2": "x"},
        pd.Series({"s0": "x", "s1": "y", "s2": "x"}),
        lambda a, b: "same" if {a, b} == {"s0", "s2"} else "different",
    ):
        ask = counts_of(1, 20).rankeval(metric="f1").paired_bootstrap
        found = ask(n_resamples=20, families=families)
        assert list(found.columns) == [*OF_PAIRS, "relation"]
        same = found[["system_a", "system_b"]].isin(["s0", "s2"]).all(axis=1)
        assert (found["relation"] == np.where(same, "same", "different")).all()


# ----------------------------------------------------------------------------------------- groups


def test_groups_are_drawn_whole():
    data = counts_of(11, 60, 2)
    data["doc", ""] = np.repeat(list("edcba"), 12)
    ask = {"groups": "doc", "n_resamples": 500, "event": "recentred"}
    found = data.rankeval(metric="f1").paired_bootstrap(**ask).iloc[0]
    summed = data.groupby(("doc", "")).sum()
    gain, drawn = loop(summed, f1, found["system_a"], found["system_b"], 500)
    assert found["p_one_sided"] == (1 + np.count_nonzero(drawn >= 2 * gain - 1e-13)) / 501
    assert found["gain_se"] == pytest.approx(drawn.std(), rel=1e-10)
    assert (found["n_items"], found["n_groups"]) == (60, 5)
    assert list(found.index) == [*OF_PAIRS, "n_groups"]


@pytest.mark.parametrize("event", ["swaps", "recentred", "zero"])
def test_limits_of_exact_laws_leave_out_0_where_it_is_rejected(event):
    """Fourteen wins and three losses: the lower limit is that of the same law drawn."""
    data = pd.DataFrame({"a": [0.5] * 14 + [0.0] * 26, "b": [0.0] * 37 + [0.5] * 3})
    ask, options = data.rankeval.paired_permutation, {}
    if event != "swaps":
        ask, options = data.rankeval.paired_bootstrap, {"event": event}
    exact, drawn = (ask(**options, method=m).iloc[0] for m in ("auto", "monte-carlo"))
    assert exact["exact"]
    assert exact["p_value"] <= 0.05
    assert exact["ci_low"] == pytest.approx(drawn["ci_low"], abs=1e-12)
    assert exact["ci_low"] > 0.0


def test_swapping_whole_groups():
    data = pd.DataFrame({"a": [1] * 6 + [0, 1], "b": [0] * 6 + [1, 1], "doc": list("xxxyyyzz")})
    found = data.rankeval(groups="doc").paired_permutation("a", "b").iloc[0]
    assert found["exact"]
    # x and y as they are, z loses one: 6 - 1, swapped 6 + 1
    assert found["p_one_sided"] == pytest.approx(2 / 8, rel=1e-12)


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


# ------------------------------------------------------------------------------ undefined scores


def test_undefined_resamples_count_against_the_claim():
    """Only three of eight items have a guess: in some resamples precision is 0/0."""
    data = pd.concat({
        "good": pd.DataFrame({"correct": [2, 2, 1, 0, 0, 0, 0, 0], "guess": [2, 2, 1] + [0] * 5}),
        "poor": pd.DataFrame({"correct": [1, 0, 0, 0, 0, 0, 0, 1], "guess": [2] * 8}),
    }, axis=1)  # fmt: skip

    def precision(sums):
        return sums[0] / sums[1] if sums[1] else np.nan

    ask = partial(data.rankeval(metric="precision").paired_bootstrap, event="recentred")
    found = ask(n_resamples=3_000).iloc[0]
    gain, drawn = loop(data, precision, "good", "poor", 3_000)
    undefined = np.isnan(drawn)
    assert undefined.any()
    hits = np.count_nonzero((drawn >= 2 * gain - 1e-12) | undefined)
    assert found["p_one_sided"] == (hits + 1) / 3_001
    assert found["gain_se"] == pytest.approx(np.nanstd(drawn), rel=1e-10)
    assert (found["ci_low"], found["ci_high"]) != (-np.inf, np.inf) or undefined.mean() > 0.025
    wide = ask(n_resamples=3_000, ci="percentile", level=0.99).iloc[0]
    assert (wide["ci_low"], wide["ci_high"]) == (-1.0, 1.0)  # no limit but the range's


def test_a_score_that_is_undefined_has_no_gain():
    data = pd.concat({
        "none": pd.DataFrame({"correct": [0, 0, 0], "guess": [0, 0, 0]}),
        "some": pd.DataFrame({"correct": [1, 0, 1], "guess": [1, 1, 1]}),
    }, axis=1)  # fmt: skip
    for test in ("paired_bootstrap", "paired_permutation"):
        row = getattr(data.rankeval(metric="precision"), test)(n_resamples=50, adjust="max-t")
        undefined = ["gain", "gain_se", "ci_low", "ci_high", "p_value", "p_two_sided", "p_adjusted"]
        assert row[undefined].isna().all(axis=None)


@pytest.mark.filterwarnings("ignore:.*differences are skewed:rankeval_pd.RankevalWarning")
def test_an_infinite_score_is_undefined():
    """x/0 is what 0/0 is: a user's function gives what the metric of the same formula gives."""
    rng = np.random.default_rng(4)
    data = pd.concat({
        "few": pd.DataFrame({"numerator": rng.random(12), "denominator": [1, 1] + [0] * 10}),
        "all": pd.DataFrame({"numerator": rng.random(12), "denominator": [1] * 12}),
        "none": pd.DataFrame({"numerator": rng.random(12), "denominator": [0] * 12}),
    }, axis=1)  # fmt: skip
    for test in ("paired_bootstrap", "paired_permutation", "system_ranks"):
        found, wanted = (
            getattr(data.rankeval, test)(n_resamples=200, metric=metric, adjust="max-t")
            for metric in (lambda S: S[..., 0] / S[..., 1], "ratio")
        )
        pd.testing.assert_frame_equal(found, wanted)


# --------------------------------------------------------------------- what is said, what is noted


@pytest.mark.parametrize("test", ["paired_permutation", "system_ranks", "paired_bootstrap"])
def test_few_items_that_are_skewed_are_said_once(test):
    def ask(data, **keywords):
        return getattr(rankeval_pd, test)(pd.DataFrame(data), n_resamples=99, **keywords)

    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(29, 3)), columns=list("abc"))
    last = np.arange(29) > 26
    assert "n_groups" not in ask(data)  # few items that are not skewed need no warning
    ask(data.assign(a=data["b"] + 5.0 * last)[["a", "b"]])  # nor few differences, others equal
    with pytest.warns(RankevalWarning, match="29 items: scores or differences are skewed") as said:
        ask(data.assign(a=40.0 * last - 4.0))
    assert len(said) == 1
    failed_nowhere = 1.0 - (rng.random((29, 3)) < 0.2) * rng.random((29, 3))
    failed_nowhere[:, 0] = 1.0
    with pytest.warns(RankevalWarning, match="all scores of a system are equal"):
        ask(failed_nowhere)
    found = ask(data.assign(doc=np.arange(29) % 7), groups="doc")
    assert found.columns[-1] == "n_groups"
    assert (found["n_groups"] == 7).all()
    if test == "paired_bootstrap":
        with pytest.warns(RankevalWarning, match="29 items: with fewer than 30 items, resampled"):
            ask(data, event="recentred")


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
    assert (ranks["adjust"], ranks["interval"]) == ("max-t", "hall")
    right = (data[list("abc")] > 0.0).rankeval(metric="accuracy")
    assert right.paired_bootstrap().attrs["interval"] == "tango"
    assert right.system_ranks().attrs["interval"] == "clopper-pearson"
    mixed = pd.concat([data[list("abc")], (data[list("abc")] > 0.0).astype(float)])
    mixed["kind"] = ["score"] * 40 + ["right"] * 40
    assert mixed.rankeval(by="kind").paired_bootstrap().attrs["interval"] == "tango, wild"


def test_the_record_of_a_permutation_test_names_what_ran():
    right = pd.DataFrame(np.random.default_rng(0).random((40, 2)) < 0.6, columns=["a", "b"])
    scores = pd.DataFrame(np.random.default_rng(1).normal(size=(40, 2)), columns=["a", "b"])
    for data, asked, test, interval in (
        (right, {}, "mcnemar", "permutation"), (scores, {}, "permutation", "permutation"),
        (scores, {"test": "t"}, "t", "student"),
        (scores, {"test": "wilcoxon"}, "wilcoxon", "hodges-lehmann"),
    ):  # fmt: skip
        attrs = data.rankeval.paired_permutation(**asked).attrs
        assert (attrs["test"], attrs["interval"]) == (test, interval)
