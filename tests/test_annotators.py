"""Several annotators: one label, one ranking each, their agreement, and copies that are seen."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.stats import clusters as agreement
from rankeval_pd.stats.bands import vote_difference
from rankeval_pd.stats.ranking import again_in_groups, same_order, stands_for
from tests.questions import ASKED as METHODS
from tests.questions import FRAME
from tests.simulations.annotators import coefficients

THREE, FOUR = ["a1", "a2", "a3"], ["a1", "a2", "a3", "a4"]


def voted(size=400, seed=0, annotators=4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.3, 0.5, size)
    votes = {f"a{k + 1}": (rng.random(size) < chance).astype(int) for k in range(annotators)}
    scores = {"f": 1.5 * chance, "g": 0.8 * chance}
    noisy = {name: rng.normal(size=size) + x for name, x in scores.items()}
    return pd.DataFrame(
        {**noisy, **votes}, index=pd.Index([f"w{i}" for i in range(size)], name="w")
    )


DATA = voted(seed=3)
TWO = {"measures": ["f", "g"]}


def as_dataset(frame=DATA) -> xr.Dataset:
    return xr.Dataset.from_dataframe(frame).rename(w="candidate")


def along_annotators(frame=DATA, names=THREE) -> xr.Dataset:
    data = as_dataset(frame)
    votes = xr.concat([data[name] for name in names], pd.Index(names, name="annotator"))
    return data[["f", "g"]].assign(gold=votes)


def plain(table):
    """Return the numbers of a result, whatever the names of its roles."""
    return table.to_csv()


# ------------------------------------------------------------------------- one label from the votes

LABELS = {
    "majority": lambda votes: votes.mean(axis=1) > 0.5,
    "any": lambda votes: votes.any(axis=1),
    "all": lambda votes: votes.all(axis=1),
}
ASKED = {
    "nbest_precision": lambda r: r.nbest_precision([20, 50], details=True),
    "compare": lambda r: r.compare("f", "g", [20, 50], details=True),
    "summary": lambda r: r.summary(50, n_resamples=199),
    "area": lambda r: r.area(details=True),
    "random_test": lambda r: r.random_test([20, 50]),
    "difference_band": lambda r: r.difference_band("f", "g", [20, 50], n_resamples=50),
    "crossovers": lambda r: r.crossovers(),
    "roc": lambda r: r.roc(),
    "judged_precision": lambda r: r.judged_precision(20),
    "random_bound": lambda r: r.random_bound(n=[20, 50]),
}


@pytest.mark.filterwarnings("ignore:precision reaches ")
@pytest.mark.parametrize("how", LABELS)
@pytest.mark.parametrize("name", ASKED)
def test_the_votes_are_the_label_that_they_agree_on(name, how):
    by_hand = DATA[["f", "g"]].assign(gold=LABELS[how](DATA[THREE].astype(bool)))
    before = DATA.copy()
    answered = ASKED[name](DATA.rankeval(gold=THREE, agreement=how, **TWO))
    assert plain(answered) == plain(ASKED[name](by_hand.rankeval(**TWO)))
    pd.testing.assert_frame_equal(DATA, before)


@pytest.mark.parametrize("how", [*LABELS, "each"])
@pytest.mark.filterwarnings("ignore:target=.region")
def test_a_dataset_has_the_same_answers_by_names_and_by_a_dimension(how):
    frame = DATA.rankeval(gold=THREE, agreement=how, **TWO).compare("f", "g", 50, details=True)
    for data, roles in ((as_dataset(), {"gold": THREE}), (along_annotators(), {})):
        found = data.rankeval(agreement=how, **TWO, **roles).compare("f", "g", 50)
        assert ("annotator" in found.dims) == (how == "each")
        for name in ("difference", "ci_low", "p_value", "n_only_a"):
            np.testing.assert_allclose(found[name].to_numpy().ravel(), frame[name], rtol=1e-13)


def test_lazy_scores_and_votes_have_the_same_answer():
    data = as_dataset()
    here = data.rankeval(gold=THREE, **TWO).nbest_precision(50)
    lazy = data.assign({name: data[name].chunk(candidate=100) for name in "fg"})
    xr.testing.assert_allclose(lazy.rankeval(gold=THREE, **TWO).nbest_precision(50).compute(), here)
    lazy = data.chunk(candidate=100).rankeval(gold=THREE, **TWO).nbest_precision(50)
    xr.testing.assert_allclose(lazy.compute(), here)
    along = along_annotators()
    lazy = along.chunk(annotator=1).rankeval.nbest_precision(50).compute()
    xr.testing.assert_allclose(lazy, along.rankeval.nbest_precision(50))


def test_a_dask_dataframe_refuses_several_annotators():
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    with pytest.raises(ValueError, match=r"several annotators, but data is lazy.*ddf\.assign"):
        dd.from_pandas(DATA, npartitions=2).rankeval(gold=THREE, **TWO).nbest_precision(50)


def test_draws_are_left_out_and_said():
    told = r"gold: \d+ of 400 candidates are excluded because their votes are tied"
    share = DATA[FOUR].mean(axis=1)
    kept = DATA.loc[share != 0.5, ["f", "g"]].assign(gold=share > 0.5)
    expected = kept.rankeval.nbest_precision([20, 50])
    for data in (DATA, as_dataset()):
        with pytest.warns(RankevalWarning, match=told):
            found = data.rankeval(gold=FOUR, **TWO).nbest_precision([20, 50])
        tp = found["tp"].to_numpy().ravel()
        np.testing.assert_array_equal(tp, expected["tp"])
    with pytest.warns(RankevalWarning, match=told):
        region = DATA.rankeval(gold=FOUR, **TWO).difference_region("f", "g", 20)
    assert list(region.columns[:2]) == ["f", "g"]
    assert region.index.isin(kept.index).all()
    pd.testing.assert_frame_equal(region[list(DATA)], DATA.loc[region.index])


def test_missing_votes_are_no_votes_and_candidates_without_any_are_refused():
    holes = DATA.astype(dict.fromkeys(THREE, float))
    holes.iloc[:40, 3] = np.nan  # a2
    share = holes[THREE].mean(axis=1)
    with pytest.warns(RankevalWarning, match="are excluded because"):
        found = holes.rankeval(gold=THREE, **TWO).nbest_precision(50)
    by_hand = holes[share != 0.5].assign(gold=share > 0.5)
    assert plain(found) == plain(by_hand.rankeval(gold="gold", **TWO).nbest_precision(50))
    with pytest.warns(RankevalWarning, match="40 of 1,200 votes are missing"):
        each = holes.rankeval(gold=THREE, agreement="each", **TWO).nbest_precision(50)
    alone = holes.dropna(subset="a2").rankeval(gold="a2", **TWO).nbest_precision(50)
    assert plain(each[each["annotator"] == "a2"].drop(columns="annotator").reset_index(drop=True)) \
        == plain(alone)  # fmt: skip
    holes.iloc[:3, 2:5] = np.nan
    with (
        pytest.raises(ValueError, match="majority of a1, a2, a3' is missing for 3 of"),
        pytest.warns(RankevalWarning, match="4 of 400 candidates are excluded"),
    ):
        holes.rankeval(gold=THREE, **TWO).nbest_precision(50)


def test_each_has_the_rows_of_every_annotator_first_and_never_combined():
    r = DATA.assign(half=np.arange(400) % 2).rankeval(gold=THREE, agreement="each", **TWO)
    table = r.nbest_precision([20, 50])
    assert table.columns[0] == "annotator"
    for name in THREE:
        own = table[table["annotator"] == name].drop(columns="annotator").reset_index(drop=True)
        assert plain(own) == plain(DATA.rankeval(gold=name, **TWO).nbest_precision([20, 50]))
    both = r.nbest_precision(20, by="half")
    assert list(both.columns[:2]) == ["annotator", "half"]
    assert len(both) == 12
    for ask in (
        lambda: r.compare("f", "g", 20, combine=True),
        lambda: r.nbest_precision(20, average="macro"),
        lambda: r.random_test(20, combine=True),
        lambda: r.repetition(n=20),
    ):
        with pytest.raises(ValueError, match=r"rankings are not independent.*agreement='majority'"):
            ask()


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({"gold": ["a1"]}, "a list must name two or more annotators"),
        ({"gold": []}, "contains no names"),
        ({"gold": ["a1", "a1"]}, "each once"),
        ({"gold": "a1", "agreement": "any"}, "agreement='any' needs several annotators"),
        ({"gold": THREE, "agreement": "most"}, "agreement='most' is not one of 'majority'"),
        ({"gold": THREE, "agreement": "mean"}, "Call compare, which tests differences"),
        ({"gold": THREE, "measures": ["f", "a1"]}, "'a1' is an annotator's column"),
        ({"gold": ["a1", "a9"]}, "gold: no column 'a9'"),
    ],
)
def test_errors_say_what_to_do(roles, told):
    with pytest.raises((ValueError, KeyError), match=told):
        DATA.rankeval(**{**TWO, **roles}).nbest_precision(20)


def test_each_refuses_a_column_of_its_own_name_and_annotators_are_no_measures():
    taken = DATA.assign(annotator=1.5)
    with pytest.raises(ValueError, match="adds a column 'annotator', but data has a column"):
        taken.rankeval(gold=THREE, agreement="each").nbest_precision(20)
    found = DATA.drop(columns="a4").rankeval(gold=THREE).nbest_precision(20)
    assert found["measure"].tolist() == ["f", "g"]
    listing = repr(DATA.drop(columns="a4").rankeval(gold=THREE))
    assert "'majority of a1, a2, a3'" in listing
    assert "'f', 'g'" in listing


def test_grades_positive_values_and_arrays_are_votes_too():
    words = DATA.assign(**{name: DATA[name].map({0: "no", 1: "yes"}) for name in THREE})
    one = words.rankeval(gold=THREE, positive="yes", **TWO).nbest_precision(50)
    grades = DATA.assign(**{name: DATA[name] * 2 for name in THREE})
    two = grades.rankeval(gold=THREE, min_grade=2, **TWO).nbest_precision(50)
    arrays = [DATA[name].to_numpy() for name in THREE]
    three = DATA[["f", "g"]].rankeval(gold=arrays).nbest_precision(50)
    expected = DATA.rankeval(gold=THREE, **TWO).nbest_precision(50)
    assert plain(one) == plain(two) == plain(three) == plain(expected)


# ---------------------------------------------------------------------------- the mean of the votes


def by_hand(rank_a, rank_b, label, n):
    """Return the difference of the means and the sum of squared influences, candidate by candidate.

    Edges are the shares around rank n, as for the precision of lists.
    """
    half = max(20, int(0.5 * n**0.8))
    edges = []
    for rank in (rank_a, rank_b):
        near = (rank > max(n - half, 0)) & (rank <= n + half)
        edges.append((label[near].sum() + 1) / (near.sum() + 2))
    influence = np.zeros(label.size)
    for sign, rank, edge in ((1, rank_a, edges[0]), (-1, rank_b, edges[1])):
        influence += sign * (label - edge) * (rank <= n)
    added = sum(e * (1 - e) for e in edges)
    variance = ((influence - influence.mean()) ** 2).sum() + added
    gap = label[rank_a <= n].sum() - label[rank_b <= n].sum()
    return gap / n, np.sqrt(variance) / n


@given(st.integers(0, 10_000), st.integers(12, 60))
def test_the_mean_of_the_votes_by_hand(seed, size):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 6, size) / 5
    a, b = (rng.permutation(size) + 1 for _ in range(2))
    n = np.array([1, size // 3, size - 1, size])
    found = vote_difference(a, b, label, n)
    for k, asked in enumerate(n):
        only = int(((a <= asked) & (b > asked)).sum())
        gap, error = by_hand(a, b, label, asked)
        assert (found.total_a - found.total_b)[k] / asked == pytest.approx(gap, abs=1e-12)
        assert found.total_only_a[k] == pytest.approx(label[(a <= asked) & (b > asked)].sum())
        assert found.total_only_b[k] == pytest.approx(label[(b <= asked) & (a > asked)].sum())
        assert found.error[k] == pytest.approx(error if only else 0.0, rel=1e-9)
        assert found.freedom[k] == max(2 * only - 2, 0)


def test_the_rows_of_mean_votes():
    r = DATA.rankeval(gold=FOUR, agreement="mean", **TWO)
    table = r.compare("f", "g", [1, 50, 400], details=True).set_index("n")
    share = DATA[FOUR].mean(axis=1)
    top = share[DATA["f"].nlargest(50).index].mean()
    assert table.loc[50, "precision_a"] == pytest.approx(top, abs=1e-14)
    row = table.loc[50]
    freedom = 2 * row["n_only_a"] - 2
    t = -special.stdtrit(freedom, 0.025)
    error = (row["ci_high"] - row["difference"]) / t
    p = 2 * special.stdtr(freedom, -abs(row["difference"]) / error)
    assert row["p_value"] == pytest.approx(p, rel=1e-9)
    assert row["better"] == "f"
    one, every = table.loc[1], table.loc[400]
    assert (one["p_value"], one["ci_low"], one["ci_high"]) == (1.0, -1.0, 1.0)
    assert (every["p_value"], every["ci_low"], every["ci_high"]) == (1.0, 0.0, 0.0)
    data = as_dataset().rankeval(gold=FOUR, agreement="mean", **TWO)
    found = data.compare("f", "g", [1, 50, 400])
    np.testing.assert_allclose(found["p_value"].to_numpy().ravel(), table["p_value"], rtol=1e-12)
    ends = DATA.assign(f=DATA["f"].where(DATA["f"].rank(ascending=False) <= 60))
    early = ends.rankeval(gold=FOUR, agreement="mean", missing="absent", **TWO)
    of_100 = early.compare("f", "g", 100, details=True)
    assert of_100["precision_a"].item() == pytest.approx(share[ends["f"].notna()].sum() / 100)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"adjust": "max-t"}, "label swaps need true positives"),
        ({"test": "midp"}, "needs counts"),
        ({"ci": "newcombe"}, "needs counts"),
        ({"of": "recall"}, "needs counts"),
        ({"phi": 2.0}, "needs counts"),
        ({"groups": "a4"}, "needs counts"),
        ({"combine": True}, "counts true positives"),
    ],
)
def test_mean_votes_refuse_what_needs_whole_counts(options, told):
    with pytest.raises(ValueError, match=told):
        DATA.rankeval(gold=THREE, agreement="mean", **TWO).compare("f", "g", 20, **options)


# ------------------------------------------------------------------------------- for each annotator


@pytest.mark.filterwarnings("ignore:target=.region")
def test_words_say_whether_the_verdict_holds_for_each_annotator():
    own = {
        name: DATA.rankeval(gold=name, **TWO).compare("f", "g", 50)["better"].item()
        for name in THREE
    }
    for how in ("majority", "mean"):
        table = DATA.rankeval(gold=THREE, agreement=how, **TWO).compare("f", "g", 50)
        differ = [name for name, better in own.items() if better != table["better"].item()]
        text = rankeval_pd.in_words(table)
        assert differ
        for name in THREE:
            assert (f"{name} (not significant)" in text) == (name in differ)
        assert "The conclusion differs for " in text
    sure = DATA.assign(f=DATA[THREE].sum(axis=1) + 0.1 * DATA["f"])
    for table in (
        sure.rankeval(gold=THREE, **TWO).compare("f", "g", [50, 80]),
        sure.rankeval(gold=THREE, **TWO).summary(80),
        as_dataset(sure).rankeval(gold=THREE, **TWO).compare("f", "g", 50),
    ):
        told = "The conclusion is the same for each of the 3 annotators."
        assert rankeval_pd.in_words(table).endswith(told)
    each = sure.rankeval(gold=THREE, agreement="each", **TWO).compare("f", "g", 50)
    assert "verdict" not in rankeval_pd.in_words(each)
    text = rankeval_pd.in_words(DATA.rankeval(gold=THREE, **TWO).summary([50, 100]))
    assert "a1 (n = 50: f and g are best" in text


# ---------------------------------------------------------------------------------------- agreement

# Krippendorff (2011), section C: nominal data, two observers and more, missing values
RELIABILITY = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""
# Fleiss (1971), table 1: 30 patients, 6 psychiatrists, 5 diagnoses; kappa .430
FLEISS = """
0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6
"""


def test_published_examples():
    rows = [line.split() for line in RELIABILITY.strip().splitlines()]
    frame = pd.DataFrame(
        {f"o{k}": [None if x == "*" else x for x in r] for k, r in enumerate(rows)}
    )
    table = frame.rankeval(gold=["o0", "o1", "o2", "o3"]).annotator_agreement()
    alpha = table[table["statistic"] == "Krippendorff's alpha"].iloc[0]
    assert alpha["value"] == pytest.approx(0.743, abs=5e-4)
    assert alpha["n_candidates"] == 11
    assert np.isnan(table.loc[table["statistic"] == "Fleiss' kappa", "value"]).all()
    counts = np.array([
        list(map(int, cell.split()))
        for line in FLEISS.strip().splitlines()
        for cell in line.split("|")
    ])  # fmt: skip
    found = agreement.fleiss_kappa(counts, 0.95)
    assert found.value == pytest.approx(0.430, abs=5e-4)
    assert found.value == pytest.approx(fleiss_kappa(counts), abs=1e-12)


def alpha_of_pairs(codes):
    """Return alpha from all pairs of votes, as its definition says."""
    units = [column[column >= 0] for column in codes.T]
    units = [u for u in units if u.size > 1]
    observed = sum(
        sum(x != y for x, y in itertools.permutations(u, 2)) / (u.size - 1) for u in units
    )
    votes = np.concatenate(units)
    expected = sum(x != y for x, y in itertools.permutations(votes, 2)) / (votes.size - 1)
    return 1.0 - observed / expected


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_coefficients_equal_statsmodels_and_scikit_learn(seed, annotators, categories):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, 40)
    codes = np.where(
        rng.random((annotators, 40)) < 0.6, truth, rng.integers(0, categories, (annotators, 40))
    )
    counts = np.stack([(codes == k).sum(axis=0) for k in range(categories)], axis=1)
    cohen = agreement.cohen_kappa(codes[0], codes[1], 0.95)
    table = np.zeros((categories, categories))
    np.add.at(table, (codes[0], codes[1]), 1)
    assert cohen.value == pytest.approx(cohen_kappa_score(codes[0], codes[1]), abs=1e-12)
    assert cohen.value == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert agreement.fleiss_kappa(counts, 0.95).value == pytest.approx(
        fleiss_kappa(counts), abs=1e-12
    )
    holes = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    seen = np.stack([(holes == k).sum(axis=0) for k in range(categories)], axis=1)
    alpha = agreement.krippendorff_alpha(seen, 0.95)
    assert alpha.value == pytest.approx(alpha_of_pairs(holes), abs=1e-12)
    for found in (cohen, alpha):
        assert -1.0 <= found.ci_low <= found.value <= found.ci_high <= 1.0


@pytest.mark.parametrize("share", [0.4, 0.1])
def test_the_interval_is_the_jackknife_of_each_candidate_left_out(share):
    rng = np.random.default_rng(3)
    truth = rng.random(30) < share
    codes = np.where(rng.random((3, 30)) < 0.6 + 0.5 * share, truth, ~truth).astype(int)
    counts = np.stack([(codes == k).sum(axis=0) for k in (0, 1)], axis=1)
    found = agreement.krippendorff_alpha(counts, 0.9)
    left = np.array([agreement.krippendorff_alpha(np.delete(counts, k, 0), 0.9).value
                     for k in range(30)])  # fmt: skip
    squares = (np.arctanh(left) - np.arctanh(left).mean()) ** 2
    error = np.sqrt(29 / 30 * squares.sum())
    freedom = min(1.5 * squares.sum() ** 2 / (squares**2).sum() + 2.0, 29.0)
    half = -special.stdtrit(freedom, 0.05) * error
    z = np.arctanh(found.value)
    assert found.ci_low == pytest.approx(np.tanh(z - half), abs=1e-10)
    assert found.ci_high == pytest.approx(np.tanh(z + half), abs=1e-10)


def test_agreement_at_the_edges():
    same = np.array([0, 1] * 20)
    cohen = agreement.cohen_kappa(same, same, 0.95)
    assert (cohen.value, cohen.ci_high) == (1.0, 1.0)
    # no candidate of 40 apart: the share apart is below 1 - .025^(1/40)
    assert cohen.ci_low == pytest.approx(1 - (1 - 0.025 ** (1 / 40)) / 0.5, abs=1e-12)
    for found in (
        agreement.cohen_kappa(same * 0, same * 0, 0.95),
        agreement.cohen_kappa(same[:1], same[:1], 0.95),
        agreement.fleiss_kappa(np.array([[2, 0], [1, 0]]), 0.95),
        agreement.fleiss_kappa(np.zeros((0, 2), dtype=int), 0.95),
        agreement.krippendorff_alpha(np.zeros((0, 2), dtype=int), 0.95),
    ):
        assert np.isnan([found.value, found.ci_low, found.ci_high]).all()
    lone = same.copy()
    lone[0] = 1
    found = agreement.cohen_kappa(same, lone, 0.95)
    assert -1.0 < found.ci_low < found.value < found.ci_high < 1.0


def test_the_table_of_agreement():
    table = DATA.rankeval(gold=THREE).annotator_agreement()
    assert list(table) == [
        "statistic", "annotators", "value", "ci_low", "ci_high", "n_candidates"
    ]  # fmt: skip
    assert table["annotators"].tolist() == ["a1, a2", "a1, a3", "a2, a3", *["a1, a2, a3"] * 2]
    for data, roles in ((as_dataset(), {"gold": THREE}), (along_annotators(), {})):
        found = data.rankeval(**roles).annotator_agreement()
        np.testing.assert_array_equal(found["value"], table["value"])
    halves = DATA.assign(half=np.arange(400) % 2).rankeval(gold=THREE[:2], by="half")
    by_half = halves.annotator_agreement()
    assert by_half["half"].tolist() == [0, 0, 0, 1, 1, 1]
    own = DATA.iloc[::2].rankeval(gold=THREE[:2]).annotator_agreement()
    np.testing.assert_array_equal(by_half["value"][:3], own["value"])
    text = rankeval_pd.in_words(table)
    assert text.startswith("Cohen's kappa for a1, a2 is 0.")
    assert "), based on 400 candidates." in text
    with pytest.raises(ValueError, match="the label of one annotator"):
        DATA.rankeval(gold="a1").annotator_agreement()
    rare = DATA.assign(a1=(np.arange(400) < 3).astype(int), a2=(np.arange(400) < 4).astype(int))
    found = rare.rankeval(gold=["a1", "a2"]).annotator_agreement()
    assert (found["ci_low"] < 0.5).all()
    assert (found["ci_high"] > found["value"]).all()


def test_intervals_of_a_rare_label_hold():
    """Three true of 30: intervals of the jackknife alone cover .81 (kappa .4, of two)."""
    shares = pd.DataFrame(coefficients(0.4, 0.1, 30, samples=400)).set_index("what")["coverage"]
    assert (shares >= 0.93).all()


def test_draws_come_from_a_beta_binomial_whose_kappa_is_covered():
    rng = np.random.default_rng(1)
    kappa, covered = 0.6, []
    chance = rng.beta(0.5 * (1 - kappa) / kappa, 0.5 * (1 - kappa) / kappa, size=(300, 100))
    votes = rng.random((5, 300, 100)) < chance
    for k in range(300):
        positive = votes[:, k].sum(axis=0)
        found = agreement.fleiss_kappa(np.column_stack([5 - positive, positive]), 0.95)
        covered.append(found.ci_low <= kappa <= found.ci_high)
    assert np.mean(covered) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 300)


# ----------------------------------------------------------------------------- copies that are seen


def long(names=THREE) -> pd.DataFrame:
    return pd.concat(
        [DATA[["f", "g"]].assign(gold=DATA[name] == 1, annotator=name) for name in names]
    )


@pytest.mark.parametrize("index", ["labels", "numbers", "column"])
def test_one_candidate_under_several_annotators_is_no_further_evidence(index):
    frame = long() if index == "labels" else long().reset_index(drop=index == "numbers")
    roles = {"by": "annotator", **TWO, **({"label": "w"} if index == "column" else {})}
    told = r"by='annotator': 1,200 of 1,200 candidates have the same label and scores.*gold=\['a1'"
    with pytest.warns(RankevalWarning, match=told) as found:
        frame.rankeval(**roles).compare("f", "g", 50, combine=True)
    assert len(found) == 1
    if index == "column":  # named as what belongs together
        frame.rankeval(groups="w", **roles).compare("f", "g", 50)
    DATA.rankeval(gold=THREE, **TWO).compare("f", "g", 50)


def test_two_groups_with_the_same_candidates_are_copies():
    score = np.tile(np.random.default_rng(0).normal(size=(2, 40)), 2)
    number, label = np.repeat([0, 1], 40), np.tile(np.arange(40, dtype=np.uint64), 2)
    assert again_in_groups(score, number, label).all()
    assert again_in_groups(score, number, np.arange(80, dtype=np.uint64)).all()
    half = np.where(np.arange(80) < 60, score, score[:, ::-1] + 1.0)
    assert again_in_groups(half, number, label) is None


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 3]), st.integers(2, 30))
def test_queries_of_the_same_documents_are_no_copies(seed, decimals, queries):
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(queries), 20)
    score = rng.normal(size=(2, number.size)).round(decimals)
    label = np.tile(np.arange(20, dtype=np.uint64), queries)
    assert again_in_groups(score, number, label) is None
    alone = np.arange(number.size, dtype=np.uint64)
    assert again_in_groups(score, number, alone) is None
    assert again_in_groups(score * 0.0, number, label) is None


def test_a_function_of_the_gold_label_and_votes_are_no_measures():
    copy = DATA[["f", "g"]].assign(gold=DATA["a1"] == 1, seen=2.5 * DATA["a1"] - 1)
    told = r"'seen' \(a function of the gold label\).*exclude='seen'"
    for data in (copy, as_dataset(copy)):
        with pytest.warns(RankevalWarning, match=told):
            data.rankeval.nbest_precision(20)
        data.rankeval(exclude="seen").nbest_precision(20)
        data.rankeval(measures=["f", "seen"]).nbest_precision(20)
    counted = DATA.drop(columns="a3").assign(votes=DATA[THREE].sum(axis=1))
    told = r"'a2' \(votes, judging by the column's name\).*'votes'.*gold=\[\.\.\.\]"
    with pytest.warns(RankevalWarning, match=told):
        counted.rankeval(gold="a1").nbest_precision(20)
    counted.drop(columns=["votes", "a4"]).rankeval(gold=["a1", "a2"], agreement="any").area()
    noisy = copy.assign(seen=copy["seen"] + np.where(np.arange(400) == 7, 0.1, 0.0))
    noisy.rankeval.nbest_precision(20)
    DATA[["f"]].assign(gold=DATA["a1"] == 1, a2=DATA["f"].round(), j1=3).rankeval.area()


def counts(size=400, seed=5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(20, 300, size) for _ in range(2))
    both = rng.binomial(np.minimum(first, second), rng.uniform(0.05, 0.5, size)) + 1
    gold = rng.random(size) < both / np.maximum(first, second)
    return pd.DataFrame({"f": both, "f1": first, "f2": second, "gold": gold})


def test_margins_are_roles_once_measures_are_computed_from_them():
    raw = counts()
    scored = raw.rankeval.with_association_measures(["G2", "t"], margins=("f", "f1", "f2", 10**6))
    assert scored.attrs["margins"] == '["f1", "f2"]'
    assert "margins" not in raw.attrs
    assert scored.rankeval.nbest_precision(20)["measure"].tolist() == ["f", "G2", "t"]
    assert scored.rankeval(measures=["f1", "t"]).area()["measure"].tolist() == ["f1", "t"]
    data = xr.Dataset.from_dataframe(raw).rename(index="candidate")
    found = data.rankeval.with_association_measures(["G2"], margins=("f", "f1", "f2", 10**6))
    assert found.rankeval.area()["measure"].to_numpy().tolist() == ["f", "G2"]
    cells = pd.DataFrame({"x": [30, 2], "o": [20, 48], "y": [10, 38], "z": [940, 912]})
    named = cells.rankeval.with_association_measures(["G2"], cells=("x", "o", "y", "z"))
    assert named.attrs["margins"] == '["x", "o", "y", "z"]'


COPIES = r"measures: 'dice', 'logDice' rank all candidates identically.*exclude=\['logDice'\]"
FAMILIES = {
    "holm": lambda r: r.compare(n=[50, 84], adjust="holm", details=True),
    "max-t": lambda r: r.compare(n=[50, 84], adjust="max-t", n_resamples=999, details=True),
    "bh by n": lambda r: r.compare(n=[50, 84], adjust="bh", adjust_over="n", details=True),
    "areas": lambda r: r.compare_area(adjust="bonferroni", details=True),
    "greater": lambda r: r.compare(n=50, adjust="bonferroni", alternative="greater", details=True),
}


@pytest.mark.filterwarnings("ignore:target=.region")
@pytest.mark.parametrize("family", FAMILIES)
def test_copies_of_a_ranking_count_once_in_a_family(family):
    margins = ("f", "f1", "f2", 10**6)
    names = ["t", "dice", "MI", "logDice"]
    both = counts().rankeval.with_association_measures(names, margins=margins)
    with pytest.warns(RankevalWarning, match=COPIES) as found:
        table = FAMILIES[family](both.rankeval)
    assert len(found) == 1
    once = FAMILIES[family](both.rankeval(exclude="logDice"))
    keys = [x for x in ("measure_a", "measure_b", "n") if x in table]
    shared = table.set_index(keys).loc[once.set_index(keys).index]
    if family == "greater":  # a reversed pair is another test
        assert table.attrs["family"] == "all 7 pairs"
    else:
        columns = ["p_value", "p_adjusted", "ci_low", "ci_high"]
        pd.testing.assert_frame_equal(shared[columns], once.set_index(keys)[columns], rtol=1e-9)
        assert table.attrs["family"] == once.attrs["family"]
    pair = table[(table["measure_a"] == "dice") & (table["measure_b"] == "logDice")]
    assert (pair["p_adjusted"] == 1.0).all()
    assert (pair["ci_low"] == 0.0).all() or family in ("greater", "areas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both.rankeval.nbest_precision(20)  # no family, no warning


@pytest.mark.parametrize("options", [{}, {"baseline": "t"}, {"adjust": "holm"}, {"n": None}])
def test_copies_of_a_ranking_count_once_in_the_ranks(options):
    margins = ("f", "f1", "f2", 10**6)
    both = counts().rankeval.with_association_measures(["t", "dice", "MI", "logDice"],
                                                      margins=margins)  # fmt: skip
    ask = {"n": 60, **options, "details": True}
    with pytest.warns(RankevalWarning, match=COPIES) as found:
        table = both.rankeval.summary(**ask).set_index("measure")
    assert len(found) == 1
    once = both.rankeval(exclude="logDice").summary(**ask).set_index("measure")
    shown = ["p_adjusted", "difference_low", "difference_high"]
    for name in once.index:
        if "n" not in options:  # areas are drawn jointly, with one dimension more
            np.testing.assert_allclose(
                table.loc[name, shown].astype(float), once.loc[name, shown].astype(float)
            )
    assert table.attrs["family"] == once.attrs["family"]
    rows = table.loc[["dice", "logDice"], ["rank_low", "value", "p_adjusted"]]
    assert rows.iloc[0].equals(rows.iloc[1].rename("dice")) or "n" in options
    with pytest.warns(RankevalWarning, match=COPIES):
        to_dice = both.rankeval.summary(**{**ask, "baseline": "dice"}).set_index("measure")
    copy = to_dice.loc["logDice", ["difference", "difference_low", "difference_high", "p_adjusted"]]
    assert copy.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert (to_dice["p_adjusted"] < 1.0).any() or "n" in ask


@given(st.integers(0, 10_000), st.integers(10, 400))
def test_measures_rank_alike_only_if_every_pair_of_candidates_is_ordered_alike(seed, size):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 9, size).astype(float)
    one[:2] = 0, 1
    scores = np.stack([one, np.exp(one), 1.0 - one, one + 1e-15 * one, rng.normal(size=size)])
    np.testing.assert_array_equal(same_order(scores), [0, 0, 2, 0, 4])
    moved = np.exp(one)
    moved[0] = moved[1]
    assert same_order(np.stack([one, moved])).tolist() == [0, 1]
    assert same_order(np.stack([one * 0.0, one * 0.0])).tolist() == [0, 1]
    holes = np.where(rng.random(size) < 0.2, np.nan, one)
    holes[:3] = np.nan, 0, 1
    assert same_order(np.stack([holes, 2.0 * holes, one])).tolist() == [0, 0, 2]


def test_every_candidate_is_looked_at_before_two_measures_rank_alike():
    one = np.arange(2_000.0)
    swapped, tied, rounded = one.copy(), one.copy(), one.copy()
    swapped[[1, 2]] = swapped[[2, 1]]  # two that a look at every eighth candidate misses
    tied[1] = tied[2]
    rounded[1] = rounded[2] * (1.0 + 1e-15)
    assert same_order(np.stack([one, swapped, tied, rounded])).tolist() == [0, 1, 2, 2]


def test_a_pair_stands_for_those_with_the_same_two_rankings():
    a, b = np.array([0, 0, 1, 0, 1, 0]), np.array([1, 0, 0, 1, 2, 2])
    assert stands_for(a, b, ordered=False).tolist() == [0, -1, 0, 0, 4, 5]
    assert stands_for(a, b, ordered=True).tolist() == [0, -1, 2, 0, 4, 5]


# --------------------------------------------------------- agreement="mean": obeyed, or refused


OBEYING = {"compare", "significant_ranges"}  # and one looks at the annotators alone


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", sorted({*METHODS} - OBEYING - {"annotator_agreement"}))
def test_what_needs_true_positives_refuses_the_mean_of_the_votes(name):
    rng = np.random.default_rng(0)
    votes = {f"r{k}": rng.integers(0, 2, len(FRAME)) for k in range(3)}
    positional, keywords = METHODS[name]
    given = {**keywords, "gold": [*votes], "agreement": "mean"}
    given["exclude"] = ["other", "half", "ident", "gold"]
    way_out = "agreement='mean' .* Call compare.* pass agreement='majority', 'any', 'all'"
    if name == "with_judgements":  # it takes in labels, one for each candidate
        way_out = "names several annotators"
    with pytest.raises(ValueError, match=way_out):
        getattr(rankeval_pd, name)(FRAME.assign(**votes), *positional, **given)


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_ranges_obey_the_mean_of_the_votes():
    asked = DATA.rankeval(gold=FOUR, agreement="mean", **TWO)
    rows = asked.compare("f", "g", range(1, 101), details=True)
    ranges = asked.significant_ranges("f", "g", range(1, 101))
    sure = rows.loc[rows["significant"]]
    assert ranges["n_tests"].sum() == len(sure) > 0
    assert (ranges["n_first"].iloc[0], ranges["n_last"].iloc[-1]) == (*sure["n"].iloc[[0, -1]],)
    assert ranges["p_max"].max() == sure["p_value"].max()


def test_the_overview_of_a_dataset_names_the_combined_votes():
    votes = {x: ("candidate", [True, False, True, False]) for x in ("a1", "a2", "a3")}
    data = xr.Dataset({"score": ("candidate", [4.0, 3.0, 2.0, 1.0]), **votes})
    text = repr(data.rankeval(gold=["a1", "a2", "a3"]))
    assert "'majority of a1, a2, a3'" in text
    assert "measures:                      'score'\n" in text
