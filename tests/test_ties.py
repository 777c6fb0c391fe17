"""Ways of counting ties: enumeration over all orders, the figures on Krenn's data, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_pd import datasets
from rankeval_pd.stats.distributions import Finite, Infinite
from rankeval_pd.stats.random_model import averaged_tails

SINGLE = ("expected", "best", "worst")


@pytest.fixture(scope="module")
def freq(krenn):
    return krenn.set_index(["PP", "verb"]).rankeval(gold="is.colloc", measures="freq")


def test_krenn_frequency(freq):
    n = [500, 1000, 2000]
    found = freq(ties="expected").nbest_precision(n)
    assert found["tp"].round(3).tolist() == [114.5, 191.615, 324.182]
    assert found["tp_sd"].round(3).tolist() == [0.5, 0.677, 0.968]
    assert list(found.columns)[-3:] == ["tp_sd", "ci_low_best", "ci_high_best"]
    assert found["tp"].dtype == float
    assert freq(ties="best").nbest_precision(n)["tp"].tolist() == [115, 195, 326]
    assert freq(ties="worst").nbest_precision(n)["tp"].tolist() == [114, 191, 322]
    assert len(freq(ties="blocks").nbest_precision()) == 332
    cut = freq.nbest_precision(range(100, 2001))["tied"] > 0
    assert cut.mean() == pytest.approx(1 - freq(ties="blocks").nbest_precision()["n"].between(
        100, 2000).sum() / 1901)  # fmt: skip


def test_krenn_n_inside_a_block(freq):
    with pytest.raises(ValueError, match=r"n=1000 is inside a block .* between 996 and 1022"):
        freq(ties="blocks").nbest_precision(1000)
    assert freq(ties="blocks").nbest_precision([996, 1022])["tied"].tolist() == [0, 0]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=10)
def test_every_order_of_equal_scores(seed, size):
    """Means, extremes and interval limits over all permutations used as the key."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"a": rng.integers(0, 3, size).astype(float), "gold": rng.random(size) < 0.5})
    df["gold"] = df["gold"].astype(bool)
    orders = pd.concat(
        df.assign(id=np.array(order), number=number)
        for number, order in enumerate(permutations(range(size)))
    )
    keyed = orders.rankeval(key="id", measures="a", by="number").nbest_precision()
    counts = keyed["tp"].to_numpy().reshape(-1, size)
    for ties, wanted in (
        ("expected", counts.mean(axis=0)),
        ("best", counts.max(axis=0)),
        ("worst", counts.min(axis=0)),
    ):
        found = df.rankeval(ties=ties, measures="a").nbest_precision()
        assert found["tp"].to_numpy() == pytest.approx(wanted, abs=1e-12)
        assert found["precision"].to_numpy() == pytest.approx(wanted / found["n"], abs=1e-12)
    sd = df.rankeval(ties="expected", measures="a").nbest_precision()["tp_sd"]
    assert sd.to_numpy() == pytest.approx(counts.std(axis=0), abs=1e-7)
    uncut = df.rankeval(ties="blocks", measures="a").nbest_precision()
    assert uncut["n"].tolist() == [
        n for n in range(1, size + 1) if (df["a"].nlargest(n).iloc[-1] > df["a"]).sum() == size - n
    ]


def test_interval_of_an_average():
    """Beta quantiles of a count that is not whole."""
    from scipy.stats import beta

    df = pd.DataFrame({"a": [3, 2, 2, 2, 1.0], "gold": [True, True, False, False, False]})
    found = df.rankeval(ties="expected").nbest_precision(3).iloc[0]
    tp = 1 + 2 / 3
    assert found["tp"] == pytest.approx(tp)
    assert found["ci_low"] == pytest.approx(beta.ppf(0.025, tp, 3 - tp + 1), rel=1e-10)
    assert found["ci_high"] == pytest.approx(beta.ppf(0.975, tp + 1, 3 - tp), rel=1e-10)


def _enumerated(scores: list[int], gold: list[bool], n: int) -> tuple[Fraction, Fraction]:
    """Return P(mean count >= observed) and P(> observed) over all ways to place the labels."""

    def mean_count(true: set[int]) -> Fraction:
        last = sorted(scores, reverse=True)[n - 1]
        above = [i for i, s in enumerate(scores) if s > last]
        block = [i for i, s in enumerate(scores) if s == last]
        taken = n - len(above)
        inside = sum(i in true for i in block)
        return sum(i in true for i in above) + Fraction(taken * inside, len(block))

    observed = mean_count({i for i, g in enumerate(gold) if g})
    every = [mean_count(set(c)) for c in combinations(range(len(scores)), sum(gold))]
    at_least = Fraction(sum(x >= observed for x in every), len(every))
    return at_least, Fraction(sum(x > observed for x in every), len(every))


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@given(st.integers(0, 10_000), st.integers(2, 9))
@settings(max_examples=25)
def test_random_model_of_averaged_ties(seed, size):
    """The exact law against all placements of the labels, in fractions."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"a": rng.integers(0, 3, size), "gold": rng.random(size) < 0.5})
    df["gold"] = df["gold"].astype(bool)
    found = df.rankeval(ties="expected", measures="a").random_test()
    for row in found.itertuples():
        ge, gt = _enumerated(df["a"].tolist(), df["gold"].tolist(), row.n)
        assert row.p_value == pytest.approx(float(ge), rel=1e-11)
        assert row.p_strict == pytest.approx(float(gt), rel=1e-11, abs=1e-15)
        assert row.p_mid == pytest.approx(float(ge + gt) / 2, rel=1e-11)


def test_random_model_of_averaged_ties_in_an_infinite_population():
    """The sum over two independent binomials."""
    from scipy.stats import binom

    z, above, size, taken = 0.3, 4, 6, 3
    t0, t = np.meshgrid(np.arange(above + 1), np.arange(size + 1), indexing="ij")
    law = binom.pmf(t0, above, z) * binom.pmf(t, size, z)
    for tp_above, tp in ((0, 0), (2, 3), (4, 6), (1, 5)):
        observed = tp_above * size + taken * tp
        found = averaged_tails(above, tp_above, size, tp, np.array([taken]), Infinite(z))
        count = t0 * size + taken * t
        assert np.exp(found[0]) == pytest.approx(law[count >= observed].sum(), rel=1e-12)
        assert np.exp(found[1]) == pytest.approx(law[count > observed].sum(), rel=1e-12, abs=1e-16)


def test_averaged_ties_reach_far_tails():
    """Against exact fractions at 1e-100, and the plain law where the block is taken whole."""
    import math

    total, positive, above, size, taken = 2000, 200, 100, 30, 12
    tp_above, tp = 80, 20
    observed = tp_above * size + taken * tp
    exact = Fraction(0)
    for t in range(size + 1):
        for t0 in range(above + 1):
            rest = positive - t - t0
            if t0 * size + taken * t >= observed and rest >= 0:
                exact += (
                    math.comb(size, t)
                    * math.comb(above, t0)
                    * math.comb(total - size - above, rest)
                )
    exact /= math.comb(total, positive)
    found = averaged_tails(above, tp_above, size, tp, np.array([taken]), Finite(total, positive))
    log_exact = math.log(exact.numerator) - math.log(exact.denominator)
    assert log_exact < -150
    assert found[0] == pytest.approx(log_exact, abs=1e-10)
    whole = averaged_tails(above, tp_above, size, tp, np.array([size]), Finite(total, positive))
    plain = Finite(total, positive).tails(np.array([100.0]), np.array([130.0]))
    assert whole[0] == pytest.approx(plain.ge[0], rel=1e-11)


@pytest.mark.parametrize("model", [Finite(60.0, 17.0), Infinite(0.3)])
@pytest.mark.parametrize(
    ("above", "tp_above", "size", "tp"),
    [(0, 0, 60, 17), (9, 3, 40, 12), (20, 0, 7, 7), (5, 5, 12, 0)],
)
def test_all_lists_of_a_block_are_each_of_them(model, above, tp_above, size, tp):
    """Together the tails are looked up, and one list alone computes its own."""
    taken = np.arange(1, size + 1)
    together = averaged_tails(above, tp_above, size, tp, taken, model)
    for place, j in enumerate(taken):
        alone = averaged_tails(above, tp_above, size, tp, np.array([j]), model)
        assert together[0][place] == alone[0][0]
        assert together[1][place] == alone[1][0]


def test_uncut_lists_have_the_plain_p_value(tied):
    averaged = tied.rankeval(ties="expected", measures="a").random_test()
    shared = tied.rankeval(measures="a").random_test()
    uncut = tied.rankeval(measures="a").nbest_precision()["tied"] == 0
    columns = ["p_value", "p_mid", "p_strict", "log10_p"]
    pd.testing.assert_frame_equal(
        averaged.loc[uncut, columns], shared.loc[uncut, columns], rtol=1e-12
    )
    assert not uncut.all()


def test_best_and_worst_bound_the_p_value(tied):
    best, shared, worst = (
        tied.rankeval(ties=ties, measures="a").random_test()["p_value"]
        for ties in ("best", "shared", "worst")
    )
    assert (best <= shared * (1 + 1e-12)).all()
    assert (shared <= worst * (1 + 1e-12)).all()


# ------------------------------------------------------------------------------- blocks everywhere


def test_blocks_in_comparisons_end_in_both_lists(tied):
    found = tied.rankeval(ties="blocks").compare("a", "b")
    ends = {
        m: set(tied.rankeval(ties="blocks", measures=m).nbest_precision()["n"]) for m in ("a", "b")
    }
    assert found["n"].tolist() == sorted(ends["a"] & ends["b"])
    plain = tied.rankeval.compare("a", "b", found["n"].tolist())
    pd.testing.assert_frame_equal(found, plain)
    inside = min(ends["a"] - ends["b"], default=None)
    if inside is not None:
        with pytest.raises(ValueError, match=rf"ties='blocks': n={inside} is inside a block"):
            tied.rankeval(ties="blocks").compare("a", "b", inside)


@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.nbest_precision(),
        lambda r: r.random_test(),
        lambda r: r.compare("a", "b"),
        lambda r: r.compare("a", "b", adjust="max-t", n_resamples=99),
        lambda r: r.significant_ranges("a", "b", alpha=0.9),
        lambda r: r.precision_band(n_resamples=30),
        lambda r: r.difference_band("a", "b", n_resamples=30),
        lambda r: r.local_precision(6),
    ],
)
def test_blocks_of_a_dataset_are_rows(ask):
    df = datasets.simulate_candidates(40, baseline=0.4, quality={"a": 2, "b": 0.5}, decimals=0)
    wanted = ask(df.rankeval(ties="blocks"))
    found = ask(xr.Dataset.from_dataframe(df.rename_axis("candidate")).rankeval(ties="blocks"))
    assert found.sizes.keys() == {"row"}
    table = found.to_dataframe().reset_index()[list(wanted.columns)]
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)
    assert len(wanted) >= 1


def test_blocks_differ_by_group(ragged):
    found = ragged.rankeval(by="query", ties="blocks", measures="a").nbest_precision()
    for query, rows in found.groupby("query"):
        alone = ragged[ragged["query"] == query].drop(columns="query")
        wanted = alone.rankeval(ties="blocks", measures="a").nbest_precision()
        pd.testing.assert_frame_equal(rows.drop(columns="query").reset_index(drop=True), wanted)


@pytest.mark.parametrize("ties", SINGLE)
@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.difference_region("a", "b", 3),
        lambda r: r.difference_band("a", "b", 3),
        lambda r: r.mean_difference("a", "b", [3]),
        lambda r: r.tie_sensitivity("a", "b", 3),
        lambda r: r.precision_band(3),
        lambda r: r.local_precision(6),
        lambda r: r.acceptance_precision({"a": 1}),
    ],
)
def test_counting_of_single_lists_is_refused_elsewhere(tied, ties, ask):
    with pytest.raises(ValueError, match=rf"ties='{ties}' is supported only by nbest_precision"):
        ask(tied.rankeval(ties=ties))


def test_missing_scores_are_one_block():
    df = pd.DataFrame(
        {"a": [3.0, np.nan, np.nan, 2.0, np.nan], "gold": [True, True, False, False, True]}
    )
    call = df.rankeval(missing="last")
    assert call(ties="blocks").nbest_precision()["n"].tolist() == [1, 2, 5]
    found = call(ties="expected").nbest_precision([3, 4])
    assert found["tp"].tolist() == pytest.approx([1 + 2 / 3, 1 + 4 / 3])


# ------------------------------------------------------------------------------------- sensitivity


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:by='number'.*in another group:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_tie_sensitivity_spans_the_orders(tied):
    """With many orders, the least and the largest p-value of all orders; compare's is between."""
    small = tied.iloc[:5]
    found = small.rankeval.tie_sensitivity("a", "b", [2, 3], n_keys=500)
    orders = pd.concat(
        small.assign(id=np.array(order), number=number)
        for number, order in enumerate(permutations(range(5)))
    )
    roles = {"key": "id", "by": "number"}
    every = orders.rankeval(**roles).compare("a", "b", [2, 3]).groupby("n")["p_value"]
    assert found["p_min"].to_numpy() == pytest.approx(every.min().to_numpy())
    assert found["p_max"].to_numpy() == pytest.approx(every.max().to_numpy())
    own = small.rankeval.compare("a", "b", [2, 3])["p_value"]
    assert ((found["p_min"] <= own) & (own <= found["p_max"])).all()
    lists = small.rankeval.nbest_precision([2, 3], measures=["a", "b"]).groupby("n")["tied"].max()
    assert found["cuts_tie"].tolist() == (lists > 0).tolist()


def test_without_ties_nothing_depends_on_the_order():
    df = datasets.simulate_candidates(200)
    found = df.rankeval.tie_sensitivity("good", "fair", [20, 50])
    p_value = df.rankeval.compare("good", "fair", [20, 50])["p_value"]
    for name in ("p_min", "p_median", "p_max"):
        assert found[name].tolist() == p_value.tolist()
    assert not found["cuts_tie"].any()


def test_one_key_is_that_of_compare(tied):
    found = tied.rankeval.tie_sensitivity("a", "b", [5], n_keys=1)
    wanted = tied.rankeval.compare("a", "b", 5)["p_value"].tolist()
    assert found[["p_min", "p_median", "p_max"]].to_numpy().tolist() == [wanted * 3]
    with pytest.raises(ValueError, match="n_keys=0: pass a whole number of at least 1"):
        tied.rankeval.tie_sensitivity("a", "b", 5, n_keys=0)
