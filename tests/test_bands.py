"""Bands and max-t for all n together: the figures on Krenn's data, exact cases, and coverage."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import rankeval_pd
from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.stats.ranking import edge_precision
from tests.conftest import examples

N = range(100, 2001)


@pytest.fixture(scope="module")
def call(krenn):
    names = {"log.like": "G2", "chisq": "X2", "t.score": "t", "freq": "f"}
    labeled = krenn.set_index(["PP", "verb"]).rename(columns=names)
    return labeled.rankeval(gold="is.colloc", measures=["G2", "X2", "t", "f"])


def _inside(values: pd.Series, *ranges: tuple[int, int]) -> bool:
    found = set(values)
    return all(set(range(first, last + 1)) <= found for first, last in ranges)


SURE = (190, 230), (250, 430), (530, 1180)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_krenn_max_t(call):
    found = call.compare("G2", "X2", N, adjust="max-t")
    significant = found.loc[found["significant"], "n"]
    assert _inside(significant, *SURE)
    assert not significant.between(470, 485).any()
    assert (significant <= 1230).all()
    assert (found.loc[found["significant"], "better"] == "G2").all()
    smallest = (found["p_adjusted"] * 1000).round(9)
    assert (smallest == smallest.round()).all()
    assert found["p_adjusted"].min() == 1 / 1000
    # the critical value of the largest statistic
    positive = found["tp_only_a"] + found["tp_only_b"]
    statistic = (found["tp_only_a"] - found["tp_only_b"]).abs() / np.sqrt(
        np.maximum(positive * (1 - positive / (2 * found["n_only_a"])), 1)
    )
    edge = statistic[found["significant"]].min(), statistic[~found["significant"]].max()
    assert edge[1] < edge[0]
    assert edge[0] == pytest.approx(3.33, abs=0.06)


def test_krenn_difference_band(call):
    found = call.difference_band("G2", "X2", N)
    outside = found.loc[found["band_low"] > 0, "n"]
    assert _inside(outside, *SURE)
    assert not outside.between(470, 485).any()
    assert (outside <= 1230).all()
    assert (found["band_high"] > 0).all()


def test_krenn_t_is_not_better_at_800(call):
    found = call.compare("t", "G2", 800)
    assert found["p_value"].round(5).tolist() == [0.22665]
    assert found["leaning"].tolist() == ["t"]
    assert not found["significant"].any()


@pytest.mark.full
def test_krenn_pairs_step_down(call):
    """A p-value counts for all pairs that have a larger one somewhere, itself among them."""
    n = range(100, 2001, 50)
    every = call.compare(n=n, adjust="max-t", n_resamples=999)
    alone = pd.concat(
        [
            call.compare(a, b, n, adjust="max-t", n_resamples=999)
            for a, b in every[["measure_a", "measure_b"]].drop_duplicates().itertuples(index=False)
        ],
        ignore_index=True,
    )
    pair = alone.groupby(["measure_a", "measure_b"], sort=False).ngroup()
    largest = alone.groupby(pair)["p_adjusted"].transform("max")
    reached, wanted = 0.0, pd.Series(np.nan, index=alone.index)
    for row, p in alone["p_adjusted"].sort_values(kind="stable").items():
        reached = max(reached, p * pair[largest >= p].nunique())
        wanted[row] = min(reached, 1.0)
    assert every["p_adjusted"].to_numpy() == pytest.approx(wanted.to_numpy(), rel=1e-12)
    assert (every["p_adjusted"] >= alone["p_adjusted"]).all()


def test_too_few_swaps(call):
    with pytest.raises(ValueError, match=r"n_resamples=18 cannot reach alpha=0.05.*n_resamples=19"):
        call.compare("G2", "t", 500, adjust="max-t", n_resamples=18)
    assert call.compare("G2", "t", 500, adjust="max-t", n_resamples=19)["p_adjusted"].notna().all()
    with pytest.raises(ValueError, match=r"6 pairs.*n_resamples=119 or more"):
        call.compare(n=500, adjust="max-t", n_resamples=118)


def test_swaps_hold_for_lists_only(frame):
    with pytest.raises(ValueError, match=r"adjust='max-t' and threshold"):
        frame.rankeval.compare("a", "b", threshold={"a": 1, "b": 1}, adjust="max-t")
    with pytest.raises(ValueError, match=r"target='nbest' with threshold"):
        frame.rankeval.compare("a", "b", threshold={"a": 1, "b": 1}, target="nbest")


CALLS = {
    "compare": lambda r: r.compare(
        "a", "b", [5, 9, 20], adjust="max-t", adjust_over="group", n_resamples=99
    ),
    "precision_band": lambda r: r.precision_band([5, 9, 20], n_resamples=99),
    "difference_band": lambda r: r.difference_band("a", "b", [5, 9, 20], n_resamples=99),
    "mean_difference": lambda r: r.mean_difference("a", "b", [5, 9, 20], n_resamples=99),
    "tie_sensitivity": lambda r: r.tie_sensitivity("a", "b", [5, 9, 20], n_keys=4),
}


@pytest.mark.parametrize("ask", CALLS.values(), ids=CALLS)
class TestDraws:
    def test_order_of_rows(self, frame, ask):
        first = ask(frame.rankeval)
        pd.testing.assert_frame_equal(ask(frame.sample(frac=1, random_state=3).rankeval), first)

    def test_seeds(self, frame, ask):
        def drawn(rng):
            return ask(frame.rankeval(rng=rng)).select_dtypes("number").to_numpy()

        np.testing.assert_array_equal(drawn(1), drawn(1))
        np.testing.assert_array_equal(
            drawn(np.random.default_rng(5)), drawn(np.random.default_rng(5))
        )

    def test_dataset(self, frame, ask):
        wanted = ask(frame.rankeval)
        found = ask(xr.Dataset.from_dataframe(frame).rankeval).to_dataframe().reset_index()
        pd.testing.assert_frame_equal(
            found[wanted.columns.tolist()], wanted, check_dtype=False, check_like=False
        )


def test_a_generator_goes_on(frame):
    """The same lists, other draws; None is fresh entropy."""
    generator = np.random.default_rng(5)
    bands = [
        frame.rankeval(rng=rng).precision_band([5, 9, 20], n_resamples=99)
        for rng in (generator, generator, None, None)
    ]
    assert len({tuple(band["band_high"]) for band in bands}) == 4
    assert len({tuple(band["precision"]) for band in bands}) == 1


def test_groups_are_those_of_single_frames(ragged):
    """A group's numbers do not depend on the others; groups without a list have no row."""
    n = [3, 8]
    found = ragged.rankeval(by="query").difference_band("a", "c", n, n_resamples=60)
    assert found.groupby("query")["n"].agg(list).to_dict() == {"q1": n, "q2": n, "q3": [3]}
    for query, rows in found.groupby("query"):
        alone = ragged[ragged["query"] == query].drop(columns="query")
        wanted = alone.rankeval.difference_band("a", "c", rows["n"].tolist(), n_resamples=60)
        pd.testing.assert_frame_equal(rows.drop(columns="query").reset_index(drop=True), wanted)
    means = ragged.rankeval(by="query").mean_difference("a", "c", n, n_resamples=60)
    assert means["query"].tolist() == ["q1", "q2"]
    assert means[["n_first", "n_last"]].to_numpy().tolist() == [[3, 8]] * 2


@pytest.mark.filterwarnings("ignore:by=.*the same label and scores:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("ask", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("batched", ["gold", "scores", "both"])
def test_batches_are_those_of_single_frames(frame, ask, batched):
    """Two annotators of the same scores, two runs of the same gold label, or both."""
    other = frame.assign(
        gold=~frame["gold"] if batched != "scores" else frame["gold"],
        a=frame["b"] if batched != "gold" else frame["a"],
    )
    both = [xr.Dataset.from_dataframe(x) for x in (frame, other)]
    ds = xr.concat(both, "run")
    if batched != "both":
        ds["c"] = both[0]["c"]
        ds["b"] = both[0]["b"]
    if batched == "gold":
        ds["a"] = both[0]["a"]
    if batched == "scores":
        ds["gold"] = both[0]["gold"]
    found = ask(ds.rankeval)
    for run, single in enumerate((frame, other)):
        wanted = ask(single.rankeval)
        table = found.isel(run=run).to_dataframe().reset_index()
        pd.testing.assert_frame_equal(
            table[list(wanted.columns)], wanted, check_dtype=False, check_names=False
        )


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_scores_leave_the_pair(frame):
    lacking = frame.assign(a=frame["a"].where(frame["c"] > -1))
    rest = frame[frame["c"] > -1]
    for ask in (
        lambda r: r.compare("a", "b", [5, 9], adjust="max-t", n_resamples=99),
        lambda r: r.difference_band("a", "b", [5, 9], n_resamples=60),
        lambda r: r.mean_difference("a", "b", [5, 9], n_resamples=60),
        lambda r: r.tie_sensitivity("a", "b", [5, 9], n_keys=3),
    ):
        pd.testing.assert_frame_equal(ask(lacking.rankeval(missing="drop")), ask(rest.rankeval))


def test_equal_rankings(frame):
    twins = frame.assign(d=frame["a"])
    band = twins.rankeval.difference_band("a", "d", n_resamples=50)
    assert band[["difference", "band_low", "band_high"]].eq(0).all(axis=None)
    compared = twins.rankeval.compare("a", "d", adjust="max-t", n_resamples=19)
    assert (compared["p_adjusted"] == 1).all()
    mean = twins.rankeval.mean_difference("a", "d", [3, 9], n_resamples=30)
    assert mean[["difference", "ci_low", "ci_high"]].eq(0).all(axis=None)
    assert mean["p_value"].tolist() == [1.0]


@pytest.mark.full
@given(seed=st.integers(0, 10_000), size=st.integers(1, 12), share=st.sampled_from([0, 0.3, 1]))
@settings(max_examples=examples(30))
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_any_frame(seed, size, share):
    """One candidate, no or only positives, n = N: the band is around the precision, in [0, 1]."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "a": rng.integers(0, 4, size).astype(float),
            "b": rng.normal(size=size),
            "gold": rng.random(size) < share,
        }
    )
    single = df.rankeval.precision_band(n_resamples=20)
    assert len(single) == 2 * size
    assert (single["band_low"] <= single["precision"]).all()
    assert (single["precision"] <= single["band_high"]).all()
    assert single["band_low"].between(0, 1).all()
    assert single["band_high"].between(0, 1).all()
    pair = df.rankeval.difference_band("a", "b", n_resamples=20)
    assert (pair["band_low"] <= pair["difference"]).all()
    assert (pair["difference"] <= pair["band_high"]).all()
    assert (pair.loc[pair["n"] == size, ["band_low", "band_high"]] == 0).all(axis=None)
    tested = df.rankeval.compare("a", "b", adjust="max-t", n_resamples=19)
    assert tested["p_adjusted"].between(0.05, 1).all()
    mirrored = df.rankeval.compare("b", "a", adjust="max-t", n_resamples=19)
    assert tested["p_adjusted"].to_numpy() == pytest.approx(mirrored["p_adjusted"].to_numpy())


def test_precise_lists_give_a_warning():
    df = datasets.simulate_candidates(400, baseline=0.4, quality={"a": 3.0, "b": 2.5})
    with pytest.warns(
        RankevalWarning, match=r"precision reaches .* coverage of the band may be too low"
    ):
        df.rankeval.precision_band([20, 100])
    with pytest.warns(
        RankevalWarning, match=r"precision reaches .* coverage of the band may be too low"
    ):
        df.rankeval.difference_band("a", "b", [20, 100])


def test_lists_without_true_positives():
    """The band is never narrower than an interval at each n; nor is the mean difference's."""
    df = pd.DataFrame({"a": np.arange(300, 0, -1.0), "gold": False})
    df.loc[220:250, "gold"] = True
    df["b"] = df["a"].where(df["a"] < 200, df["a"] % 100)  # a head of other candidates
    n = [10, 20, 50]
    band = df.rankeval.precision_band(n, measures="a")
    interval = df.rankeval.nbest_precision(n, measures="a", target="nbest")
    assert (band["band_low"] == 0).all()
    assert (band["band_high"] > interval["ci_high"] * (1 - 1e-9)).all()
    pair = df.rankeval.difference_band("a", "b", n)
    compared = df.rankeval.compare("a", "b", n, target="nbest")
    assert (pair["band_high"] >= compared["ci_high"] * (1 - 1e-9)).all()
    mean = df.rankeval.mean_difference("a", "b", [20], n_resamples=99)
    alone = df.rankeval.compare("a", "b", 20, target="nbest")
    assert mean["ci_high"][0] == pytest.approx(alone["ci_high"][0], rel=0.05)


@pytest.mark.full
def test_rare_positives_are_covered():
    """20 of 1,000 candidates with a baseline of 1 %: many lists have no true positive."""
    truth = datasets.true_precision(0.02, quality=1.0, baseline=0.01)
    covered = 0
    for r in range(150):
        df = datasets.simulate_candidates(1_000, baseline=0.01, quality={"a": 1.0}, rng=r)
        row = df.rankeval.precision_band(20, n_resamples=99).iloc[0]
        covered += row["band_low"] <= truth <= row["band_high"]
    assert covered >= 0.95 * 150 - 3.5 * np.sqrt(150 * 0.95 * 0.05)


def test_too_few_draws(frame):
    for ask in (
        lambda **o: frame.rankeval.precision_band([20], **o),
        lambda **o: frame.rankeval.difference_band("a", "b", [20], **o),
    ):
        with pytest.raises(
            ValueError, match=r"n_resamples=18 is too small for level=0.95.*=19 or more"
        ):
            ask(n_resamples=18)
        with pytest.raises(ValueError, match=r"level=0.9999: .* n_resamples=9999 or more"):
            ask(level=0.9999)


@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
def test_differences_stay_between_their_limits(frame):
    for found in (
        frame.rankeval.difference_band("a", "b", [1], n_resamples=19),
        frame.rankeval.mean_difference("a", "b", [1], n_resamples=19),
        frame.rankeval.compare("a", "b", [1], target="nbest", phi=9),
    ):
        limits = found.filter(regex="_low$|_high$").to_numpy()
        assert (np.abs(limits) <= 1).all()


def test_one_list_is_a_pointwise_interval():
    """With a single n, the band is the interval of the n-best list at the level asked for."""
    df = datasets.simulate_candidates(2_000, rng=1)
    band = df.rankeval.precision_band(300, n_resamples=40_000, measures="good")
    interval = df.rankeval.nbest_precision(300, target="nbest", measures="good")
    for side in ("low", "high"):
        assert band[f"band_{side}"][0] == pytest.approx(interval[f"ci_{side}"][0], abs=1.5e-3)
    pair = df.rankeval.difference_band("good", "fair", 300, n_resamples=40_000)
    compared = df.rankeval.compare("good", "fair", 300, target="nbest")
    for side in ("low", "high"):
        assert pair[f"band_{side}"][0] == pytest.approx(compared[f"ci_{side}"][0], abs=1.5e-3)


def in_one_frame(samples: dict[int, pd.DataFrame]) -> pd.DataFrame:
    """Return the samples, whose candidates have labels, and so draws, of their own."""
    return pd.concat(samples, names=["sample", None]).reset_index("sample").reset_index(drop=True)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.full
def test_small_simulation_of_size_and_coverage():
    """Errors of max-t and of both bands, seeded: the large one is in tests/simulations.

    Limits are three and a half Monte-Carlo standard errors around .05 and below .95.
    """
    repetitions, n = 150, range(40, 401, 4)
    share = np.array(n) / 800
    truth = datasets.true_precision(share, quality=0.9, baseline=0.15)
    samples = {
        r: datasets.simulate_candidates(
            800, baseline=0.15, quality={"a": 0.9, "b": 0.9}, correlation=0.8, rng=r
        )
        for r in range(repetitions)
    }
    call = in_one_frame(samples).rankeval(by="sample")
    single = call.precision_band(n, n_resamples=199, measures="a").set_index(["sample", "n"])
    of_n = single.index.get_level_values("n").map(dict(zip(n, truth, strict=True)))
    pair = call.difference_band("a", "b", n, n_resamples=199).set_index(["sample", "n"])
    tested = call.compare("a", "b", n, adjust="max-t", adjust_over="group", n_resamples=99)
    always = (
        (single["band_low"] <= of_n) & (of_n <= single["band_high"]),
        (pair["band_low"] <= 0) & (pair["band_high"] >= 0),
        ~tested.set_index(["sample", "n"])["significant"],
    )
    kept = np.column_stack([column.groupby("sample").all() for column in always])
    assert kept.shape == (repetitions, 3)
    margin = 3.5 * np.sqrt(0.95 * 0.05 / repetitions)
    assert (kept.mean(axis=0) >= 0.95 - margin).all()
    # something is wrong if nothing ever goes wrong
    assert (kept[:, 1:].mean(axis=0) < 1).all()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_pointwise_intervals_of_the_list_cover():
    """target="nbest" covers the average precision of n-best lists, target="region" less often."""
    truth = datasets.true_precision(0.1, quality=1.5)
    samples = {
        r: datasets.simulate_candidates(1_000, quality={"a": 1.5}, rng=r) for r in range(400)
    }
    call = in_one_frame(samples).rankeval(by="sample")
    covered = {}
    for target in ("region", "nbest"):
        found = call.nbest_precision(100, target=target, ci="midp")
        assert len(found) == 400
        covered[target] = ((found["ci_low"] <= truth) & (truth <= found["ci_high"])).sum()
    assert covered["nbest"] >= 400 * 0.95 - 3.5 * np.sqrt(400 * 0.95 * 0.05)
    assert covered["region"] <= covered["nbest"]


@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
def test_overdispersion_widens_every_interval(frame):
    call = frame.rankeval
    for ask in (
        lambda phi: call.nbest_precision([5, 9], phi=phi),
        lambda phi: call.acceptance_precision({"a": 2, "b": 1}, phi=phi),
        lambda phi: call.compare("a", "b", [5, 9], phi=phi),
        lambda phi: call.compare("a", "b", [5, 9], phi=phi, target="nbest"),
        lambda phi: call.compare("a", "c", threshold={"a": 4, "c": 0.6}, phi=phi),
    ):
        narrow, wide = ask(1), ask(2.5)
        assert (wide["ci_high"] - wide["ci_low"] > narrow["ci_high"] - narrow["ci_low"]).all()
        rest = [c for c in narrow if not c.startswith(("ci_", "p_", "significant"))]
        rest = [c for c in rest if not c.endswith(("_low", "_high"))]  # of the other rates of a set
        pd.testing.assert_frame_equal(narrow[rest], wide[rest])
        if "p_value" in narrow:
            assert (wide["p_value"] >= narrow["p_value"]).all()
            assert wide["p_mid"].isna().all()
    low, high = rankeval_pd.precision_interval(40, 100, phi=2.0)
    assert (low, high) == rankeval_pd.precision_interval(20, 50)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_interval_of_a_list_holds_0_where_its_test_does_not_reject(alternative):
    df = datasets.simulate_candidates(1_000, quality={"a": 2.0, "b": 1.7, "c": 1.3}, rng=3)
    found = df.rankeval.compare(target="nbest", alternative=alternative)
    kept = found[found["p_value"] > 0.05]
    above, below = (kept["ci_low"] > 0).sum(), (kept["ci_high"] < 0).sum()
    assert above == 0 or alternative == "less"
    assert below == 0 or alternative == "greater"
    # moved, some of them: to 0, and not further
    assert (kept["ci_low"] == 0).any() or (kept["ci_high"] == 0).any()


def test_root_phi_in_the_difference_of_nbest_lists():
    """A variance is phi times as large, a standard error its root."""
    df = datasets.simulate_candidates(1_000, quality={"a": 2.5, "b": 0.5}, rng=1)
    narrow, wide = (
        df.rankeval.compare("a", "b", [50, 100], target="nbest", phi=phi) for phi in (1.0, 4.0)
    )
    assert (wide["p_value"] < 0.05).all()  # so that no limit is moved to 0
    assert (wide[["ci_low", "ci_high"]].abs() < 1.0).all(axis=None)
    width = wide["ci_high"] - wide["ci_low"]
    np.testing.assert_allclose(width, 2.0 * (narrow["ci_high"] - narrow["ci_low"]), rtol=1e-12)


def test_the_error_of_the_mean_difference_is_centred():
    """Where all candidates but a few are in both lists, the mean influence is what matters."""
    rng = np.random.default_rng(4)
    gold = rng.random(400) < 0.5
    a, b = (gold * shift + rng.normal(size=400) for shift in (2.0, 0.5))
    df = pd.DataFrame({"a": a, "b": b, "gold": gold})
    n = np.array([300, 350])
    found = df.rankeval.mean_difference("a", "b", n.tolist(), n_resamples=99).loc[0]
    influence, added = np.zeros(400), 0.0
    for sign, score in ((1, a), (-1, b)):
        rank = stats.rankdata(-score, method="ordinal")
        tp = np.concatenate([[0], np.cumsum(gold[np.argsort(-score)])])
        edge = edge_precision(tp, n, np.array([400]))
        inside = rank[:, np.newaxis] <= n
        influence += sign * ((gold[:, np.newaxis] - edge) * inside / n).mean(axis=1)
        each = [((label - edge) / n).mean() for label in (0, 1)]
        added += sum(x**2 for x in each)
    assert abs(influence.mean()) > 0.3 * influence.std()
    half = stats.norm.ppf(0.975) * np.sqrt(400 * influence.var() + added)
    assert found["ci_high"] - found["difference"] == pytest.approx(half, rel=1e-9)


def test_where_the_threshold_matters_is_said():
    """A good ranker at n near N+: the region's interval covers far less than the list's."""
    rng = np.random.default_rng(6)
    runs, size, positive = 400, 1000, 100
    gold = rng.random((runs, size)) < positive / size
    score = rng.normal(size=gold.shape) + 4.0 * gold
    dims = ("run", "candidate")
    ds = xr.Dataset({"a": (dims, score), "gold": (dims, gold)})
    cut = optimize.brentq(lambda x: 0.1 * stats.norm.sf(x - 4) + 0.9 * stats.norm.sf(x) - 0.1, 0, 5)
    true = 0.1 * stats.norm.sf(cut - 4) / 0.1
    covered = {}
    for target in ("region", "nbest"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = ds.rankeval.nbest_precision(100, target=target)
        assert [x.category for x in caught] == [RankevalWarning] * (target == "region")
        held = (found["ci_low"] <= true) & (true <= found["ci_high"])
        covered[target] = float(held.mean())
    assert "target='nbest'" in str(caught[0].message) if caught else True
    assert covered["region"] < 0.75
    assert covered["nbest"] > 0.9


def test_interval_and_test_of_the_mean_difference_agree():
    """Short lists: the swaps do not reject where a normal interval alone leaves out 0."""
    reached = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        gold = np.arange(24) < 10
        df = pd.DataFrame({"a": 2 * gold + rng.normal(size=24), "b": rng.normal(size=24)})
        found = df.assign(gold=gold).rankeval.mean_difference(
            "a", "b", [2, 3], n_resamples=99, level=0.8
        )
        low, high, p = (found[name][0] for name in ("ci_low", "ci_high", "p_value"))
        if p > 0.2:
            assert low <= 0.0 <= high
        reached += low == 0.0 or high == 0.0
    assert reached
