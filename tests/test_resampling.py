"""Paired tests of systems: enumeration, plain loops over the counts, SciPy, sacrebleu."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.systems.tests import OF_FAMILY, PAIR_COLUMNS, RANK_COLUMNS

OF_PAIRS = [name for name in PAIR_COLUMNS if name not in OF_FAMILY]  # without adjust=

pytestmark = pytest.mark.filterwarnings("ignore:.*No interval:rankeval_pd.errors.RankevalWarning")

ONE_WIN = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
EVENTS = {
    "recentred": lambda drawn, gain: drawn >= 2 * gain,
    "strict": lambda drawn, gain: drawn > 2 * gain,
    "zero": lambda drawn, gain: drawn <= 0,
    "bias-corrected": lambda drawn, gain: drawn - drawn.mean() >= gain,
}


def counts_of(seed: int, items: int, systems: int = 3) -> pd.DataFrame:
    """Return correct, guess and gold of some systems, two-level columns (system, statistic)."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 9, items)
    parts = {}
    for k in range(systems):
        guess = np.maximum(gold + rng.integers(-2, 3, items), 0)
        correct = rng.binomial(np.minimum(gold, guess), 0.6 + 0.05 * k)
        parts[f"s{k}"] = pd.DataFrame({"correct": correct, "guess": guess, "gold": gold})
    return pd.concat(parts, axis=1, names=["system", None])


def f1(sums):
    return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])


def loop(data: pd.DataFrame, score, a: str, b: str, resamples: int, rng: int = 0):
    """Return the gain and the resampled gains, by a plain loop over the counts."""
    values = {name: data[name].to_numpy(dtype=float) for name in (a, b)}
    counts = rankeval_pd.resample_counts(len(data), resamples, rng=rng)
    gain = score(values[a].sum(axis=0)) - score(values[b].sum(axis=0))
    drawn = [score(row @ values[a]) - score(row @ values[b]) for row in counts]
    return gain, np.array(drawn)


# ------------------------------------------------------------------------------------- exact values


@pytest.mark.parametrize(
    ("event", "p"),
    [("recentred", 0.2642286), ("strict", 0.0784277), ("zero", 0.3641697),
     ("bias-corrected", 0.2642286)],
)  # fmt: skip
def test_one_win_in_fifty_items(event, p):
    row = ONE_WIN.rankeval.paired_bootstrap(event=event).iloc[0]
    assert row["p_one_sided"] == pytest.approx(p, abs=5e-8)
    assert (row["exact"], row["p_stderr"], row["n_resamples"]) == (True, 0.0, 0)
    drawn = ONE_WIN.rankeval.paired_bootstrap(
        event=event, method="monte-carlo", n_resamples=200_000
    ).iloc[0]
    assert not drawn["exact"]
    assert drawn["n_resamples"] == 200_000
    assert abs(drawn["p_one_sided"] - row["p_one_sided"]) < 4 * drawn["p_stderr"]


def test_one_win_never_becomes_a_loss_and_the_sign_flip_is_a_half():
    """P(δ* < 0) = 0: turned round, all resampled gains are at most 0."""
    turned = ONE_WIN.rankeval.paired_bootstrap(
        "old", "new", event="zero", alternative="greater"
    ).iloc[0]
    assert turned["gain"] == -0.02
    assert turned["p_value"] == pytest.approx(1.0, abs=1e-14)
    assert ONE_WIN.rankeval.paired_permutation()["p_one_sided"][0] == 0.5


@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
@pytest.mark.parametrize("test", ["paired_bootstrap", "paired_permutation"])
def test_identical_systems_have_p_one(test, method):
    data = pd.DataFrame({"x": [1, 0, 1, 1] * 6, "y": [1, 0, 1, 1] * 6})
    row = getattr(data.rankeval, test)(method=method, n_resamples=500, adjust="max-t").iloc[0]
    assert row[["p_value", "p_two_sided", "p_adjusted"]].tolist() == [1.0, 1.0, 1.0]
    assert row[["gain", "gain_se"]].tolist() == [0.0, 0.0]
    other = (data * 0.5).rankeval.paired_bootstrap(method=method, n_resamples=500).iloc[0]
    assert other[["ci_low", "ci_high"]].isna().all()  # what else could have happened is not known


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
        # the mean of all resamples is the gain itself, free of rounding in whole numbers
        wanted = happened(drawn, difference.sum()) if event != "bias-corrected" else (
            drawn >= 2 * difference.sum()
        )  # fmt: skip
        p = wanted.mean()
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


def test_accuracy_with_totals():
    rng = np.random.default_rng(4)
    correct = pd.DataFrame(rng.integers(0, 5, (40, 2)), columns=["x", "y"])
    same = pd.concat({"correct": correct, "total": correct * 0 + 4}, axis=1).swaplevel(axis=1)
    found = same.rankeval(metric="accuracy").paired_bootstrap("x", "y").iloc[0]
    plain = (correct / 4).rankeval.paired_bootstrap("x", "y").iloc[0]
    assert found["exact"]
    pd.testing.assert_series_equal(found, plain, rtol=1e-10)
    varied = same.copy()
    varied[("x", "total")] += np.arange(40) % 2
    assert not varied.rankeval(metric="accuracy").paired_bootstrap(
        n_resamples=99, event="recentred"
    )["exact"][0]
    with pytest.raises(ValueError, match=r"method='exact'.*if every item has the same total"):
        varied.rankeval(metric="accuracy").paired_bootstrap(method="exact", event="recentred")


def test_pairs_of_one_table_are_exact_where_they_can_be():
    data = pd.DataFrame(np.random.default_rng(5).integers(0, 3, (40, 2)), columns=["x", "y"])
    data["z"] = np.random.default_rng(6).random(40)
    found = data.rankeval.paired_bootstrap(n_resamples=500)
    whole = ~found[["system_a", "system_b"]].isin(["z"]).any(axis=1)
    assert (found["exact"] == whole).all()
    assert (found["n_resamples"] == np.where(whole, 0, 500)).all()
    for pair, row in found.iterrows():
        alone = data.rankeval.paired_bootstrap(row["system_a"], row["system_b"], n_resamples=500)
        pd.testing.assert_frame_equal(alone, found.iloc[[pair]].reset_index(drop=True))
    with pytest.raises(ValueError, match=r"at least one pair are not multiples of a common step"):
        data.rankeval.paired_bootstrap(method="exact")


@pytest.mark.parametrize("event", EVENTS)
def test_items_that_all_differ_by_the_same(event):
    """Resampling sees no variation: no p-value but the paper's own is 0, and no interval."""
    data = pd.DataFrame({"a": [3.0, 2.0, 5.0], "b": [2.0, 1.0, 4.0]})
    row = data.rankeval.paired_bootstrap(event=event).iloc[0]
    assert row[["gain", "gain_se"]].tolist() == [1, 0]
    assert row[["ci_low", "ci_high"]].isna().all()
    assert row["p_one_sided"] == (0.0 if event == "strict" else 1 / 8)
    drawn = data.rankeval.paired_bootstrap(event=event, method="monte-carlo", n_resamples=99)
    assert drawn["p_one_sided"][0] == (0.0 if event == "strict" else 0.01)
    for flipped in (data.rankeval.paired_permutation(), data.rankeval.paired_bootstrap()):
        assert flipped["p_one_sided"][0] == pytest.approx(1 / 8, rel=1e-14)


def test_the_standard_error_of_a_mean_is_the_textbooks():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal([0.5, 0.0], 1.0, (60, 2)), columns=["a", "b"])
    wanted = stats.sem(data["a"] - data["b"], ddof=0)
    found = data.rankeval.paired_bootstrap(n_resamples=99)
    assert found["gain_se"][0] == pytest.approx(wanted, rel=1e-12)


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


# ------------------------------------------------------------------------------------- Monte Carlo


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
        low, high = stats.binomtest(int(hits), 1_700).proportion_ci(0.95)
        assert row.undecided == (2 * low < 0.05 < 2 * high)  # of the p-value that decides


def test_bleu_of_wmt22_is_sacrebleus_and_its_p_values_those_of_a_loop(wmt22):
    sacre = pytest.importorskip("sacrebleu.metrics").BLEU
    names = [f"{kind}_{k}" for kind in ("correct", "total") for k in (1, 2, 3, 4)]
    systems = list(wmt22["sys_len"])

    def bleu(sums: pd.Series) -> float:
        values = [int(sums[name]) for name in names]
        return sacre.compute_bleu(
            values[:4], values[4:], int(sums["sys_len"]), int(sums["ref_len"]), "exp"
        ).score

    statistics = {s: wmt22.xs(s, axis=1, level="system") for s in systems}
    found = wmt22.rankeval(metric="bleu").paired_bootstrap(n_resamples=200, event="recentred")
    assert len(found) == 36
    score = {s: bleu(statistics[s].sum()) for s in systems}
    for row in found.itertuples():
        assert row.score_a == pytest.approx(score[row.system_a], rel=1e-12)
        assert row.score_b == pytest.approx(score[row.system_b], rel=1e-12)
    drawn = {s: [] for s in systems}
    for counts in rankeval_pd.resample_counts(len(wmt22), 200):
        for s in systems:
            drawn[s].append(bleu(statistics[s].mul(counts, axis=0).sum()))
    for row in found.itertuples():
        gains = np.array(drawn[row.system_a]) - np.array(drawn[row.system_b])
        hits = np.count_nonzero(gains >= 2 * row.gain - 1e-10)
        assert row.p_one_sided == (hits + 1) / 201
        assert row.gain_se == pytest.approx(gains.std(), rel=1e-9)


def test_the_order_of_rows_changes_no_number():
    data = counts_of(2, 45)
    data.index = [f"doc {k % 7}, item {k}" for k in range(45)]
    shuffled = data.sample(frac=1, random_state=1)
    for test in ("paired_bootstrap", "paired_permutation", "system_ranks"):
        first, again = (
            getattr(x.rankeval(metric="f1"), test)(n_resamples=300) for x in (data, shuffled)
        )
        pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_another_seed_gives_other_numbers_and_a_generator_fresh_ones():
    data = counts_of(2, 45, 2)
    ask = data.rankeval(metric="f1").paired_bootstrap

    def p(rng):
        return ask(n_resamples=2_000, rng=rng, skewness=False)["ci_low"][0]

    assert p(0) == p(0) != p(1)
    generator = np.random.default_rng(0)
    assert p(generator) != p(generator)
    assert p(np.random.default_rng(0)) == p(np.random.default_rng(0))
    assert p(None) != p(None)


@pytest.mark.full
def test_threads_change_no_number():
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from tests.test_resampling import counts_of\n"
        "t = counts_of(5, 400).rankeval(metric='f1').paired_bootstrap(n_resamples=1500)\n"
        "print(t.to_csv())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


# --------------------------------------------------------------------------------------- intervals


def skewed(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.exponential(1.0, n) + 0.3, "b": rng.normal(0.8, 0.1, n)})


@pytest.mark.parametrize("kind", ["percentile", "basic", "BCa"])
def test_intervals_are_scipys(kind):
    data = skewed(3)
    d = (data["a"] - data["b"]).to_numpy()
    found = data.rankeval.paired_bootstrap("a", "b", ci=kind.lower(), n_resamples=40_000).iloc[0]
    wanted = stats.bootstrap(
        (d,), np.mean, n_resamples=40_000, method=kind, rng=np.random.default_rng(0)
    ).confidence_interval
    width = wanted.high - wanted.low
    assert found["ci_low"] == pytest.approx(wanted.low, abs=0.03 * width)
    assert found["ci_high"] == pytest.approx(wanted.high, abs=0.03 * width)


@pytest.mark.parametrize("kind", ["percentile", "basic", "bca"])
def test_the_exact_law_and_resamples_give_the_same_interval(kind):
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.integers(0, 7, 80)})
    exact, drawn = (
        data.rankeval.paired_bootstrap(
            "a", "b", event="recentred", ci=kind, method=m, n_resamples=50_000
        ).iloc[0]
        for m in ("exact", "monte-carlo")
    )
    width = exact["ci_high"] - exact["ci_low"]
    assert drawn["ci_low"] == pytest.approx(exact["ci_low"], abs=0.03 * width)
    assert drawn["ci_high"] == pytest.approx(exact["ci_high"], abs=0.03 * width)
    mirrored = data.rankeval.paired_bootstrap("b", "a", ci=kind, method="exact").iloc[0]
    assert mirrored["ci_low"] == pytest.approx(-exact["ci_high"], rel=1e-12)


def test_studentised_intervals_by_a_plain_loop():
    data = skewed(4)
    d = (data["a"] - data["b"]).to_numpy()
    t = []
    for counts in rankeval_pd.resample_counts(40, 999):
        again = np.repeat(d, counts)
        t.append((again.mean() - d.mean()) / (again.std() / np.sqrt(40)))
    low, high = np.quantile(t, [0.05, 0.95])
    found = data.rankeval.paired_bootstrap(
        "a", "b", ci="studentised", n_resamples=999, level=0.9
    ).iloc[0]
    error = d.std() / np.sqrt(40)
    assert found["ci_low"] == pytest.approx(d.mean() - high * error, rel=1e-6)
    assert found["ci_high"] == pytest.approx(d.mean() - low * error, rel=1e-6)


def test_standard_errors_of_any_metric_are_near_those_of_resampling():
    data = counts_of(7, 400)
    found = data.rankeval(metric="f1").paired_bootstrap(ci="studentised", n_resamples=4_000)
    other = data.rankeval(metric="f1").paired_bootstrap(ci="bca", n_resamples=4_000)
    width = (other["ci_high"] - other["ci_low"]).to_numpy()
    for side in ("ci_low", "ci_high"):
        np.testing.assert_array_less(np.abs(found[side] - other[side]) / width, 0.06)


def test_lower_is_better_turns_the_sign_of_the_gain_only():
    data = counts_of(8, 50)
    up, down = (
        data.rankeval(metric="f1", higher_is_better=b).paired_bootstrap("s0", "s2", n_resamples=400)
        for b in (True, False)
    )
    assert down["gain"][0] == -up["gain"][0]
    np.testing.assert_array_equal(down[["score_a", "score_b"]], up[["score_a", "score_b"]])
    np.testing.assert_allclose(down["ci_low"], -up["ci_high"], rtol=1e-9)
    ordered = data.rankeval(metric="f1", higher_is_better=False).paired_bootstrap(n_resamples=50)
    assert (ordered["score_a"] <= ordered["score_b"]).all()


def errors_of(items: int = 40, systems: int = 4) -> pd.DataFrame:
    """Return the 0/1 errors of some systems, the last one the best."""
    rng = np.random.default_rng(3)
    found = rng.random((items, systems)) < np.linspace(0.45, 0.15, systems)
    return pd.DataFrame(found.astype(float), columns=[f"s{k}" for k in range(systems)])


def mirrored(ask, signed: bool, **keywords):
    """Return the answers of errors, the fewer the better, and of their mirror image."""
    errors = errors_of()
    image = -errors if signed else 1.0 - errors
    return ask(errors, higher_is_better=False, **keywords), ask(image, **keywords)


def same_but_for_scores(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    drop = [name for name in ("value", "score_a", "score_b") if name in found]
    pd.testing.assert_frame_equal(
        found.drop(columns=drop), wanted.drop(columns=drop), rtol=1e-9, atol=1e-12
    )


@pytest.mark.full
@pytest.mark.parametrize("named", [(), ("s0", "s3"), ("s3", "s0")])
@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
@pytest.mark.parametrize(
    "metric", ["mean", "accuracy", pytest.param("sum", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("event", list(EVENTS))
def test_the_mirror_image_of_errors_has_the_same_bootstrap(event, metric, method, named):
    for ci in ("bca", "percentile", "basic"):
        found, wanted = mirrored(
            lambda data, **keywords: data.rankeval.paired_bootstrap(*named, **keywords),
            signed=metric != "accuracy", event=event, metric=metric, method=method, ci=ci,
            n_resamples=300, adjust="holm" if method == "auto" else "max-t",
        )  # fmt: skip
        assert (found["exact"] == (method == "auto")).all()
        same_but_for_scores(found, wanted)


@pytest.mark.full
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
def test_the_mirror_image_of_errors_has_the_same_permutation_test(adjust, method, groups):
    def ask(data, **keywords):
        chosen = {"groups": "document"} if groups else {}
        data = data.assign(document=[f"d{k}" for k in np.arange(len(data)) // 2])
        return data.rankeval.paired_permutation(
            measures=["s0", "s1", "s2", "s3"], n_resamples=300, **chosen, **keywords
        )

    found, wanted = mirrored(ask, signed=False, adjust=adjust, method=method)
    same_but_for_scores(found, wanted)


@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
def test_the_mirror_image_of_errors_has_the_same_ranks_and_calibration(adjust):
    found, wanted = mirrored(
        lambda data, **keywords: data.rankeval.system_ranks(
            n_resamples=300, ci="wild", **keywords
        ),
        signed=True, adjust=adjust,
    )  # fmt: skip
    for name in ("", "_alone"):
        limits = -found[[f"ci_high{name}", f"ci_low{name}"]].to_numpy()
        found[[f"ci_low{name}", f"ci_high{name}"]] = limits
    same_but_for_scores(found, wanted)
    assert found["tied_for_best"].tolist() != [True] * 4
    calibrated = mirrored(
        lambda data, **keywords: data.rankeval.population_calibration(
            30, n_test_sets=5, bins=[0.0, 0.1, 1.0], **keywords
        ),
        signed=False,  # 0 and -1 are not right or wrong, and allow for skewness
    )
    pd.testing.assert_frame_equal(*calibrated)


def test_errors_in_numbers():
    """A gain of .15 in the errors of a hundred items: the numbers of what is right."""
    errors = pd.DataFrame({"old": [1] * 25 + [0] * 75, "new": [0] * 20 + [1] * 10 + [0] * 70})
    row = errors.rankeval.paired_bootstrap(
        "new", "old", event="recentred", ci="bca", higher_is_better=False
    ).iloc[0]
    drawn = stats.multinomial(100, [0.20, 0.05, 0.75])  # wins, losses, equal items
    wins, losses = np.meshgrid(np.arange(101), np.arange(101), indexing="ij")
    chance = drawn.pmf(np.stack([wins, losses, 100 - wins - losses], axis=-1))
    assert row["exact"]
    assert row["gain"] == pytest.approx(0.15)
    assert row["p_one_sided"] == pytest.approx(chance[wins - losses >= 30].sum(), rel=1e-9)
    assert 0.03 < row["ci_low"] < 0.08
    assert 0.2 < row["ci_high"] < 0.3


# ------------------------------------------------------------------------- many pairs, many systems


def stepped_down(t: list[float], t_star: list[np.ndarray], *, added: int) -> np.ndarray:
    """Return the adjusted p-values of Romano and Wolf, one pair after the other."""
    order = np.argsort(-np.abs(np.array(t)), kind="stable")
    p, last = np.empty(len(t)), 0.0
    for place, k in enumerate(order):
        rest = np.max([np.abs(t_star[j]) for j in order[place:]], axis=0)
        hits = np.count_nonzero(rest >= abs(t[k]) - 1e-10)
        last = p[k] = max(last, (hits + added) / (rest.size + added))
    return p


def test_max_t_by_hand():
    """Each resample has its own standard error: that of the metric linearised at its sums."""
    data = counts_of(9, 80, 4)
    counts = rankeval_pd.resample_counts(80, 600)
    found = data.rankeval(metric="f1").paired_bootstrap(
        n_resamples=600, adjust="max-t-stepdown", event="recentred"
    )
    t, moved = [], []
    once = np.ones(80, dtype=int)
    for row in found.itertuples():
        gain, drawn = loop(data, f1, row.system_a, row.system_b, 600)
        pair = [data[name].to_numpy(dtype=float) for name in (row.system_a, row.system_b)]
        errors = [f1_error(*pair, weights) for weights in (once, *counts)]
        t.append(gain / errors[0])
        moved.append((drawn - gain) / errors[1:])
    wanted = stepped_down(t, moved, added=1)
    np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
    assert (found["p_adjusted"] >= found["p_value"]).all()


def f1_error(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> float:
    """Return the standard error of the difference of two F1 by the delta method, by hand."""

    def influence(values):
        correct, guess, gold = weights @ values
        below = guess + gold
        return (2 * values[:, 0] - 2 * correct / below * (values[:, 1] + values[:, 2])) / below

    return np.sqrt(weights @ (influence(a) - influence(b)) ** 2)


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
    assert not found["undecided"].any()


def test_step_down_p_values_never_fall():
    """The less significant of two pairs has the larger p-value, whatever the draws of the two."""
    from rankeval_pd.stats.families import max_t

    small, large = np.zeros(99), np.zeros(99)
    large[:30] = 9.0  # the most significant pair alone has draws beyond it
    found = max_t(
        lambda k: np.array([large, small])[k], np.array([5.0, 4.0]), 99, level=0.95, two_sided=True
    )
    np.testing.assert_allclose(found.down, [0.31, 0.31])
    np.testing.assert_allclose(found.single, [0.31, 0.31])
    np.testing.assert_allclose(found.alone, [0.31, 0.01])
    assert found.critical == 9.0


@pytest.mark.parametrize("test", ["paired_bootstrap", "paired_permutation", "system_ranks"])
def test_large_differences_of_one_sign_on_a_fine_lattice(test):
    """Their sum has few values, that of their random signs more than any memory holds."""
    lower = np.arange(40) % 9 / 4
    scores = {"lower": lower, "upper": lower + 1e6 + np.arange(40) % 7 / 8}
    found = getattr(pd.DataFrame(scores).rankeval, test)(n_resamples=999)
    assert (found["p_value" if "p_value" in found else "p_best"] <= 1).all()


@pytest.mark.parametrize("method", ["holm", "bonferroni", "bh", "by"])
@pytest.mark.parametrize("test", ["paired_bootstrap", "paired_permutation"])
def test_adjustments_are_statsmodels(test, method):
    """statsmodels' multipletests."""
    from statsmodels.stats.multitest import multipletests

    names = {"bh": "fdr_bh", "by": "fdr_by"}
    data = counts_of(9, 80, 4)
    found = getattr(data.rankeval(metric="f1"), test)(n_resamples=600, adjust=method)
    wanted = multipletests(found["p_value"], method=names.get(method, method))[1]
    np.testing.assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)


@pytest.mark.full
def test_max_t_keeps_the_chance_of_any_false_positive():
    """Six equal systems, 15 pairs, 150 simulated test sets: 5 % +- 3 standard errors."""
    rng = np.random.default_rng(12)
    wrong = {"p_adjusted": 0, "p_two_sided": 0}
    for seed in range(150):
        data = pd.DataFrame(rng.normal(size=(40, 1)) + rng.normal(size=(40, 6)))
        found = data.rankeval.paired_bootstrap(
            n_resamples=199, adjust="max-t", ci="percentile", rng=seed
        )
        for column in wrong:
            wrong[column] += (found[column] <= 0.05).any()
    assert wrong["p_adjusted"] / 150 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert wrong["p_two_sided"] / 150 > 0.2


def test_ranks_by_hand():
    data = counts_of(10, 60, 4)
    names = list(data.columns.unique(0))
    values = np.stack([data[name].to_numpy() for name in names])
    counts = rankeval_pd.resample_counts(60, 800)
    scores = f1(np.einsum("bi,mik->bmk", counts, values))
    ranks = 1 + (scores[:, :, None] < scores[:, None, :]).sum(axis=2)
    found = data.rankeval(metric="f1").system_ranks(
        n_resamples=800, ci="percentile", ranks="percentile"
    )
    assert found["rank"].is_monotonic_increasing
    found = found.set_index("system").loc[names].reset_index()
    assert list(found.columns) == list(RANK_COLUMNS)
    np.testing.assert_allclose(found["p_best"], (ranks == 1).mean(axis=0), rtol=1e-12)
    for k, row in enumerate(found.itertuples()):
        assert (row.rank_low, row.rank_high) == (
            np.quantile(ranks[:, k], 0.025, method="inverted_cdf"),
            np.quantile(ranks[:, k], 0.975, method="inverted_cdf"),
        )
        assert ((ranks[:, k] >= row.rank_low) & (ranks[:, k] <= row.rank_high)).mean() >= 0.95
        assert (ranks[:, k] < row.rank_low).mean() <= 0.025
        assert (ranks[:, k] > row.rank_high).mean() <= 0.025
        limits = np.quantile(scores[:, k], [0.025, 0.975])
        assert (row.ci_low_alone, row.ci_high_alone) == pytest.approx(limits, rel=1e-10)
        limits = np.quantile(scores[:, k], [0.025 / 4, 1 - 0.025 / 4])  # four systems: Bonferroni
        assert (row.ci_low, row.ci_high) == pytest.approx(limits, rel=1e-10)
    assert found["p_best"].sum() == pytest.approx(1.0)
    pairs = data.rankeval(metric="f1").paired_bootstrap(n_resamples=800, adjust="max-t")
    for system, tied in zip(found["system"], found["tied_for_best"], strict=True):
        beaten = (pairs["system_b"] == system) & (pairs["p_adjusted"] <= 0.05)
        assert tied == (not beaten.any())


@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
def test_simultaneous_ranks_count_the_significant_pairs(adjust):
    data = counts_of(10, 90, 6)
    found = data.rankeval(metric="f1").system_ranks(adjust=adjust)
    pairs = data.rankeval(metric="f1").paired_bootstrap(adjust=adjust)
    p = pairs["p_two_sided" if adjust is None else "p_adjusted"]
    sure = pairs[p <= 0.05]
    assert 0 < len(sure) < 15
    for row in found.itertuples():
        assert row.rank_low == 1 + (sure["system_b"] == row.system).sum()
        assert row.rank_high == 6 - (sure["system_a"] == row.system).sum()
        assert row.rank_low <= row.rank <= row.rank_high
        assert row.tied_for_best == (row.rank_low == 1)
    assert found["rank"].is_monotonic_increasing


def test_one_win_in_fifty_items_makes_no_winner():
    found = ONE_WIN.rankeval.system_ranks()
    assert found[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert found["tied_for_best"].all()


@pytest.mark.full
def test_ranks_of_near_equal_systems_hold_together():
    """Eight systems, .05 standard deviations apart: all true ranks inside in 95 % of 60 tables."""
    rng = np.random.default_rng(8)
    truth = 0.05 * np.arange(8)
    rank = 8 - np.arange(8)
    covered = {"simultaneous": 0, "percentile": 0}
    for seed in range(60):
        data = pd.DataFrame(truth + rng.normal(size=(40, 8)))
        for kind in covered:
            found = data.rankeval.system_ranks(ranks=kind, ci="wild", n_resamples=199, rng=seed)
            found = found.set_index("system").loc[np.arange(8)]
            inside = (found["rank_low"] <= rank) & (rank <= found["rank_high"])
            covered[kind] += inside.all()
    assert covered["simultaneous"] / 60 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 60)
    assert covered["percentile"] / 60 < 0.8


def test_ranks_of_equal_systems_and_where_lower_is_better():
    data = pd.DataFrame({"x": [1, 0, 1] * 5, "y": [1, 0, 1] * 5, "z": [0] * 15})
    found = data.rankeval.system_ranks(n_resamples=200)
    assert found["rank"].tolist() == [1, 1, 3]
    assert found["p_best"].tolist()[:2] == [0.5, 0.5]
    assert found["tied_for_best"].tolist() == [True, True, False]
    turned = data.rankeval(higher_is_better=False).system_ranks(n_resamples=200)
    assert turned[["system", "rank"]].to_numpy().tolist() == [["z", 1], ["x", 2], ["y", 2]]
    assert (turned["ci_low"] <= turned["value"]).all()
    assert (turned["value"] <= turned["ci_high"]).all()


@pytest.mark.filterwarnings("ignore:A system's ratio is based on:rankeval_pd.RankevalWarning")
def test_a_system_without_a_score_ranks_last():
    none = pd.DataFrame({"correct": [0] * 6, "guess": [0] * 6})
    some = pd.DataFrame({"correct": [1, 0, 1, 1, 0, 1], "guess": [1] * 6})
    less = pd.DataFrame({"correct": [1, 0, 0, 1, 0, 0], "guess": [1] * 6})
    found = pd.concat({"none": none, "less": less, "some": some}, axis=1).rankeval.system_ranks(
        metric="precision", n_resamples=200
    )
    assert found["rank"].tolist() == [1, 2, 3]
    found = found.set_index("system").loc[["none", "less", "some"]].reset_index()
    assert (found["rank_low"] <= found["rank"]).all()
    assert (found["rank"] <= found["rank_high"]).all()
    assert found["p_best"][0] == 0.0
    assert found["p_best"].sum() == pytest.approx(1.0)
    assert not found["tied_for_best"][0]
    assert np.isnan(found["value"][0])
    all_of_them = pd.concat({"x": none, "y": none}, axis=1).rankeval.system_ranks(
        metric="precision", n_resamples=200
    )
    assert all_of_them[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 2]] * 2
    assert all_of_them["p_best"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
def test_items_that_all_differ_alike_have_a_standard_error_of_zero(method):
    data = pd.DataFrame({"a": [1] * 20, "b": [0] * 20, "c": [0] * 20})
    pairs = data.rankeval.paired_bootstrap(
        adjust="max-t", method=method, n_resamples=99, event="recentred"
    )
    assert pairs["gain_se"].tolist() == [0.0] * 3
    assert pairs["p_adjusted"].tolist() == pytest.approx([0.01, 0.01, 1.0])
    ranks = data.rankeval.system_ranks(n_resamples=200)
    assert ranks["rank"].tolist() == [1, 2, 2]
    assert ranks["tied_for_best"].tolist() == [True, False, False]


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


# ------------------------------------------------------------------------ groups, domains, families


def test_groups_are_drawn_whole():
    data = counts_of(11, 60, 2)
    data["doc", ""] = np.repeat(list("edcba"), 12)
    ask = data.rankeval(metric="f1", groups="doc").paired_bootstrap
    found = ask(n_resamples=500, event="recentred").iloc[0]
    summed = data.groupby(("doc", "")).sum()
    gain, drawn = loop(summed, f1, found["system_a"], found["system_b"], 500)
    assert found["p_one_sided"] == (1 + np.count_nonzero(drawn >= 2 * gain - 1e-13)) / 501
    assert found["gain_se"] == pytest.approx(drawn.std(), rel=1e-10)
    assert found["n_items"] == 60
    level = counts_of(11, 60, 2)
    level.index = pd.MultiIndex.from_arrays([range(60), data["doc", ""]], names=["item", "doc"])
    again = level.rankeval(metric="f1", groups="doc").paired_bootstrap(
        n_resamples=500, event="recentred"
    ).iloc[0]  # fmt: skip
    assert found["n_groups"] == 5
    assert list(found.index) == [*OF_PAIRS, "n_groups"]
    pd.testing.assert_series_equal(found, again)


def test_dependent_items_need_groups():
    """Items of a document are alike: the error of the mean is that of the documents' means."""
    rng = np.random.default_rng(13)
    document = rng.normal(size=60)
    data = pd.DataFrame({
        "a": np.repeat(document, 10) + rng.normal(0, 0.1, 600), "b": 0.0,
        "doc": np.repeat(np.arange(60), 10),
    })  # fmt: skip
    alone, together = (
        data.rankeval(groups=groups, measures=["a", "b"]).paired_bootstrap()["gain_se"][0]
        for groups in (None, "doc")
    )
    assert together == pytest.approx(document.std() / np.sqrt(60), rel=0.05)
    assert alone < 0.4 * together
    with pytest.raises(ValueError, match=r"method='exact': groups= draws clusters"):
        data[["a", "b"]].round().assign(doc=data["doc"]).rankeval(groups="doc").paired_bootstrap(
            method="exact", event="recentred"
        )


def test_swapping_whole_groups():
    data = pd.DataFrame({"a": [1] * 6 + [0, 1], "b": [0] * 6 + [1, 1], "doc": list("xxxyyyzz")})
    found = data.rankeval(groups="doc").paired_permutation("a", "b").iloc[0]
    assert found["exact"]
    # x and y as they are, z loses one: 6 - 1, swapped 6 + 1
    assert found["p_one_sided"] == pytest.approx(2 / 8, rel=1e-12)


def test_domains_are_tested_alone():
    data = counts_of(14, 40)
    data["domain", ""] = list("ba") * 20
    found = data.rankeval(metric="f1", by="domain").paired_bootstrap(n_resamples=300)
    assert list(found.columns) == ["domain", *OF_PAIRS]
    assert found["domain"].tolist() == ["a"] * 3 + ["b"] * 3
    for domain, part in found.groupby("domain"):
        alone = counts_of(14, 40)[(data["domain", ""] == domain).to_numpy()]
        wanted = alone.rankeval(metric="f1").paired_bootstrap(n_resamples=300)
        pd.testing.assert_frame_equal(part.drop(columns="domain").reset_index(drop=True), wanted)


@pytest.mark.parametrize(
    "families",
    [
        {"s0": "x", "s1": "y", "s2": "x"},
        ["x", "y", "x"],
        pd.Series({"s0": "x", "s1": "y", "s2": "x"}),
        lambda a, b: "same" if {a, b} == {"s0", "s2"} else "different",
    ],
    ids=["mapping", "list", "series", "callable"],
)
def test_families_name_the_relation(families):
    found = counts_of(1, 20).rankeval(metric="f1").paired_bootstrap(
        n_resamples=20, families=families
    )  # fmt: skip
    assert list(found.columns) == [*OF_PAIRS, "relation"]
    same = found[["system_a", "system_b"]].isin(["s0", "s2"]).all(axis=1)
    assert (found["relation"] == np.where(same, "same", "different")).all()


def test_named_pairs_keep_their_order():
    data = counts_of(1, 30, 4)
    ask = data.rankeval(metric="f1").paired_bootstrap
    worse, better = "s0", "s3"
    one = ask(worse, better, n_resamples=50)
    assert one[["system_a", "system_b"]].to_numpy().tolist() == [[worse, better]]
    assert one["gain"][0] < 0
    assert one["leaning"][0] == better
    mirrored = ask(better, worse, n_resamples=50)["p_value"][0]
    assert one["p_value"][0] == pytest.approx(mirrored, rel=1e-10)
    some = ask(worse, n_resamples=50)
    assert len(some) == 3
    assert (some[["system_a", "system_b"]] == worse).any(axis=1).all()
    assert (some["gain"] >= 0).all()


# --------------------------------------------------------------------------------- undefined scores


def test_the_known_mean_of_resampled_gains_is_not_estimated():
    """Of means it is the gain, so the fourth event is the first; of F1 it is that of the draws."""
    for method in ("auto", "monte-carlo"):
        first, fourth = (
            errors_of().rankeval.paired_bootstrap(event=event, method=method, n_resamples=300)
            for event in ("recentred", "bias-corrected")
        )
        pd.testing.assert_frame_equal(first, fourth)


def test_max_t_is_resampled_in_exact_rows_too():
    found = errors_of().rankeval.paired_bootstrap(adjust="max-t", n_resamples=99)
    assert not found["exact"].any()
    for name in ("p_value", "p_adjusted"):
        assert np.isclose(found[name] * 100, (found[name] * 100).round()).all()
    assert (found["p_adjusted"] >= found["p_value"]).all()


@pytest.mark.full
@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
@pytest.mark.parametrize("event", [*EVENTS, "swaps"])
def test_two_sides_do_not_depend_on_which_system_is_named_first(event, method, adjust):
    def both(data, **keywords):
        test = "paired_permutation" if event == "swaps" else "paired_bootstrap"
        keywords |= {} if event == "swaps" else {"event": event}
        for names in (("s0", "s1"), ("s1", "s0")):
            row = getattr(data.rankeval, test)(
                *names, method=method, adjust=adjust, n_resamples=400, **keywords
            ).iloc[0]
            yield row
            assert adjust is None or row["p_adjusted"] >= row["p_value"]

    for data, keywords in ((errors_of()[["s0", "s1"]], {}), (counts_of(2, 60, 2), {"metric": "f1"}),
                           (errors_of(12)[["s0", "s1"]], {})):  # fmt: skip
        first, second = sorted(both(data, **keywords), key=lambda row: row["gain"])
        assert first["gain"] == -second["gain"] < 0
        assert second["p_two_sided"] == min(1.0, 2 * second["p_one_sided"])
        for name in ("p_value", "p_two_sided", "p_one_sided", *(["p_adjusted"] if adjust else [])):
            assert first[name] == pytest.approx(second[name], rel=1e-12)


def test_a_table_of_all_pairs_and_one_of_named_pairs_have_the_same_two_sided_p():
    data = errors_of()
    for row in data.rankeval.paired_bootstrap().itertuples():
        for names in ((row.system_a, row.system_b), (row.system_b, row.system_a)):
            alone = data.rankeval.paired_bootstrap(*names).iloc[0]
            assert alone["p_two_sided"] == pytest.approx(row.p_two_sided, rel=1e-12)


def test_undefined_resamples_count_against_the_claim():
    """Only three of eight items have a guess: in some resamples precision is 0/0."""
    data = pd.concat({
        "good": pd.DataFrame({"correct": [2, 2, 1, 0, 0, 0, 0, 0], "guess": [2, 2, 1] + [0] * 5}),
        "poor": pd.DataFrame({"correct": [1, 0, 0, 0, 0, 0, 0, 1], "guess": [2] * 8}),
    }, axis=1)  # fmt: skip

    def precision(sums):
        return sums[0] / sums[1] if sums[1] else np.nan

    found = data.rankeval(metric="precision").paired_bootstrap(
        n_resamples=3_000, event="recentred"
    ).iloc[0]  # fmt: skip
    gain, drawn = loop(data, precision, "good", "poor", 3_000)
    undefined = np.isnan(drawn)
    assert undefined.any()
    hits = np.count_nonzero((drawn >= 2 * gain - 1e-12) | undefined)
    assert found["p_one_sided"] == (hits + 1) / 3_001
    assert found["gain_se"] == pytest.approx(np.nanstd(drawn), rel=1e-10)
    assert (found["ci_low"], found["ci_high"]) != (-np.inf, np.inf) or undefined.mean() > 0.025
    wide = data.rankeval(metric="precision").paired_bootstrap(
        n_resamples=3_000, event="recentred", ci="percentile", level=0.99
    ).iloc[0]  # fmt: skip
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
        assert not row["undecided"][0]


# ----------------------------------------------------------------------------------------- Datasets


def as_dataset(data: pd.DataFrame) -> xr.Dataset:
    systems = list(data.columns.unique(0))
    statistics = list(data.columns.unique(1))
    return xr.Dataset(
        {k: (("item", "system"), data.xs(k, axis=1, level=1).to_numpy()) for k in statistics},
        {"system": systems, "item": data.index.to_numpy()},
    )


ASK = {
    "paired_bootstrap": {"n_resamples": 200, "adjust": "max-t"},
    "paired_permutation": {"n_resamples": 200, "adjust": "holm"},
    "system_ranks": {"n_resamples": 200},
}


@pytest.mark.parametrize("test", ASK)
def test_datasets_give_the_same_numbers(test):
    data = counts_of(15, 30)
    wanted = getattr(data.rankeval(metric="f1"), test)(**ASK[test])
    found = getattr(as_dataset(data).rankeval(metric="f1"), test)(**ASK[test])
    over = "system" if test == "system_ranks" else "pair"
    assert dict(found.sizes) == {over: len(wanted)}
    table = found.to_dataframe().reset_index()[list(wanted.columns)]
    if over == "system":  # a Dataset keeps the order of its systems
        table = table.sort_values("rank", kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)
    if over == "pair":
        assert {"system_a", "system_b"} <= set(found.coords)


@pytest.mark.full
@pytest.mark.parametrize("test", ASK)
def test_batches_and_lazy_datasets(test):
    dask = pytest.importorskip("dask")
    parts = [counts_of(seed, 30) for seed in (20, 21, 22)]
    ds = xr.concat([as_dataset(x) for x in parts], pd.Index(list("uvw"), name="domain"))

    def refuse(*args, **kwargs):
        raise AssertionError("computed while the graph was built")

    ask = {"adjust_over": "group", **ASK[test]}
    eager = getattr(ds.rankeval(metric="f1"), test)(**ask)
    for chunks in ({"domain": 1}, {"item": 7}, {"system": 1, "domain": 2}):
        with dask.config.set(scheduler=refuse):
            lazy = getattr(ds.chunk(chunks).rankeval(metric="f1"), test)(**ask)
        assert lazy["p_best" if test == "system_ranks" else "p_value"].chunks is not None
        for scheduler in ("threads", "synchronous"):
            found = lazy.compute(scheduler=scheduler)
            # which interval it is depends on the items: lazy data do not say it
            later = {name: eager.attrs[name] for name in ("interval",) if name in eager.attrs}
            xr.testing.assert_identical(found.assign_attrs({**later, **found.attrs}), eager)
    assert eager[next(iter(eager.data_vars))].dims[0] == "domain"
    for name, part in zip("uvw", parts, strict=True):
        wanted = getattr(part.rankeval(metric="f1"), test)(**ask)
        found = eager.sel(domain=name).to_dataframe().reset_index()[list(wanted.columns)]
        if test == "system_ranks":
            found = found.sort_values("rank", kind="stable", ignore_index=True)
        pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_users_data_are_unchanged():
    data = counts_of(16, 12)
    data["doc", ""] = list("aab") * 4
    before = data.copy(deep=True)
    data.rankeval(metric="f1", groups="doc").paired_bootstrap(n_resamples=20)
    data.rankeval(metric="f1", groups="doc").paired_permutation(n_resamples=20)
    pd.testing.assert_frame_equal(data, before)


def test_progress_is_shown_on_request(capfd):
    data = counts_of(1, 20, 2)
    data.rankeval(metric="f1").paired_bootstrap(n_resamples=2_500, progress=True)
    assert "/2500" in capfd.readouterr().err
    data.rankeval(metric="f1").paired_bootstrap(n_resamples=2_500)
    data.rankeval(metric="f1").paired_bootstrap(n_resamples=2_500, progress=False)
    assert not capfd.readouterr().err
