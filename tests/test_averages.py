"""One row for all groups: averages and combined tests, beside numbers from elsewhere."""

from __future__ import annotations

import fractions
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from rankeval_pd import (
    RankevalWarning,
    compare,
    nbest_precision,
    precision_recall,
    random_bound,
    random_test,
    roc,
)
from rankeval_pd.curves.areas import area
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import two_by_two as fisher


def collection(n_queries: int = 12, seed: int = 1, least: int = 8, most: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, most, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    gold = rng.random(query.size) < 0.3
    return pd.DataFrame(
        {"query": query, "a": gold + rng.standard_normal(query.size),
         "b": rng.standard_normal(query.size), "gold": gold}
    )  # fmt: skip


ROLES = {"by": "query", "measures": ["a", "b"]}


def limits_by_hand(values):
    """SciPy's beta quantiles for as many candidates as the queries are worth."""
    mean, count = np.mean(values), len(values)
    worth = mean * (1 - mean) * count / np.var(values, ddof=1)
    worth *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, count - 1)) ** 2
    tp, fp = mean * worth, (1 - mean) * worth
    return stats.beta.ppf(0.025, tp, fp + 1), stats.beta.ppf(0.975, tp + 1, fp)


def test_macro_precision_is_the_mean_over_queries():
    frame = collection()
    each = nbest_precision(frame, [5, 15], **ROLES)
    found = nbest_precision(frame, [5, 15], average="macro", **ROLES)
    assert list(found.columns[-2:]) == ["n_queries", "n_missing"]
    for row in found.itertuples():
        rows = each[(each["measure"] == row.measure) & (each["n"] == row.n)]
        assert row.precision == pytest.approx(rows["precision"].mean())
        assert row.recall == pytest.approx(rows["recall"].mean())
        assert row.tp == rows["tp"].sum()
        assert (row.ci_low, row.ci_high) == pytest.approx(limits_by_hand(rows["precision"]))
        assert (row.n_queries, row.n_missing) == (len(rows), 12 - len(rows))
    assert found["n_missing"].max() > 0


def test_intervals_of_few_and_of_equal_queries():
    """Precision at 5 of skewed queries: Student's interval covers .80 at 5, and .87 at 10."""
    rng = np.random.default_rng(0)
    for count, nominal in ((5, 0.95), (10, 0.95), (20, 0.94)):
        x = rng.binomial(5, rng.beta(0.3, 3.0, (2_000, count))) / 5
        found = cluster_totals.query_ratio(x, np.ones(x.shape))
        low, high = cluster_totals.query_share_limits(found.value, found.se, found.n, 0.95)
        assert ((low <= 1 / 11) & (high >= 1 / 11)).mean() >= nominal
    none, one = (
        cluster_totals.query_share_limits(*map(np.array, (1.0, 0.0, k)), 0.95) for k in (6, 1)
    )
    assert 0.3 < none[0] < none[1] == 1.0
    assert np.isnan(one).all()


def test_micro_is_a_ratio_of_sums():
    frame = collection()
    each = nbest_precision(frame, 10, **ROLES).groupby("measure")
    found = nbest_precision(frame, 10, average="micro", **ROLES).set_index("measure")
    np.testing.assert_allclose(found["precision"], each["tp"].sum() / (10 * each.size()))
    sizes = frame.groupby("query")["gold"].agg(["sum", "size"])
    positives = sizes.loc[sizes["size"] >= 10, "sum"].sum()
    np.testing.assert_allclose(found["recall"], each["tp"].sum() / positives)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_areas_of_queries(average):
    frame = collection(least=12)
    found = area(frame, average=average, **ROLES).set_index("measure")
    for measure in "ab":
        parts = [
            (roc_auc_score(rows["gold"], rows[measure]), rows["gold"].sum() * (~rows["gold"]).sum())
            for _, rows in frame.groupby("query")
            if 0 < rows["gold"].sum() < len(rows)
        ]
        values, pairs = np.transpose(parts)
        expected = values.mean() if average == "macro" else (values * pairs).sum() / pairs.sum()
        assert found.loc[measure, "area"] == pytest.approx(expected)
        assert found.loc[measure, "n_queries"] == len(parts)
        assert found.loc[measure, "ci_low"] < expected < found.loc[measure, "ci_high"]


def test_macro_difference_is_the_paired_t_test():
    """scipy.stats.ttest_rel for per-query precision."""
    frame = collection()
    each = nbest_precision(frame, 5, **ROLES).pivot_table(
        index="query", columns="measure", values="precision"
    )
    for alternative in ("two-sided", "greater", "less"):
        found = compare(frame, "a", "b", 5, average="macro", alternative=alternative, **ROLES)
        reference = stats.ttest_rel(each["a"], each["b"], alternative=alternative)
        assert found["p_value"][0] == pytest.approx(reference.pvalue)
        interval = reference.confidence_interval()
        wanted = max(interval.low, -1.0), min(interval.high, 1.0)
        assert (found["ci_low"][0], found["ci_high"][0]) == pytest.approx(wanted)


@pytest.mark.full
@pytest.mark.parametrize("chunks", [None, {"query": 3}], ids=["dataset", "dask"])
@pytest.mark.parametrize("options", [{"average": "macro"}, {"average": "micro"}, {"combine": True}])
def test_a_dataset_says_the_same(options, chunks):
    frame = collection(least=20, most=21)
    candidate = frame.groupby("query").cumcount()
    data = frame.assign(candidate=candidate).set_index(["query", "candidate"]).to_xarray()
    data = data if chunks is None else data.chunk(chunks)
    roles = {"key": "k"}
    frame = frame.assign(k=candidate)
    data = data.assign(k=("candidate", np.arange(20)))
    expected = compare(frame, "a", "b", [5, 10], **options, **ROLES, **roles)
    found = compare(data, "a", "b", [5, 10], measures=["a", "b"], **options, **roles)
    back = found.compute().to_dataframe().reset_index()[expected.columns]
    pd.testing.assert_frame_equal(back, expected, check_dtype=False)
    if "average" in options:
        expected = nbest_precision(frame, [5, 10], **options, **ROLES, **roles)
        found = nbest_precision(data, [5, 10], measures=["a", "b"], **options, **roles)
        back = found.compute().to_dataframe().reset_index()[expected.columns]
        pd.testing.assert_frame_equal(back, expected, check_dtype=False)


# Curves


def rates_of(gold, score, n):
    """Return the true and other candidates in the n-best lists of one query, as far as it goes."""
    found = gold[np.argsort(-score)].cumsum()
    n = np.minimum(n, gold.size)
    tp = np.where(n > 0, found[np.maximum(n, 1) - 1], 0)
    return tp, n


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_curve_of_all_queries_is_the_average_at_each_n(average):
    frame = collection().assign(gold=lambda x: x["gold"] & (x["query"] != 3))
    curve = roc(frame, average=average, **ROLES)
    exact = precision_recall(frame, average=average, **ROLES)
    assert list(curve.columns) == [
        "measure", "n", "fpr", "tpr", "ci_low", "ci_high", "n_queries", "n_missing",
    ]  # fmt: skip
    largest = frame.groupby("query").size().max()
    n = np.arange(largest + 1)
    for measure in "ab":
        rows = curve[curve["measure"] == measure]
        assert rows["n"].tolist() == n.tolist()
        parts = {"tp": [], "n": [], "positive": [], "others": []}
        for _, query in frame.groupby("query"):
            gold = query["gold"].to_numpy()
            tp, size = rates_of(gold, query[measure].to_numpy(), n)
            for name, value in zip(parts, (tp, size, gold.sum(), (~gold).sum()), strict=True):
                parts[name].append(np.broadcast_to(value, n.shape).astype(float))
        x = {name: np.array(values) for name, values in parts.items()}
        known = x["positive"][:, 0] > 0
        for name, above, below, where in (
            ("tpr", x["tp"], x["positive"], known),
            ("fpr", x["n"] - x["tp"], x["others"], known),
        ):
            above, below = above[where], below[where]
            ratios = (above / below).mean(axis=0)
            expected = ratios if average == "macro" else above.sum(axis=0) / below.sum(axis=0)
            np.testing.assert_allclose(rows[name], expected, atol=1e-15)
            assert (np.diff(rows[name]) >= -1e-15).all()
        assert (rows["n_queries"] == known.sum()).all()
        assert (rows["n_missing"] == (~known).sum()).all()
        if average == "macro":
            tpr = x["tp"][known, 5] / x["positive"][known, 5]
            at = rows.set_index("n").loc[5]
            assert (at["ci_low"], at["ci_high"]) == pytest.approx(limits_by_hand(tpr))
        assert (rows["n_queries"] == area(frame, average=average, **ROLES)["n_queries"][0]).all()
        there = exact[exact["measure"] == measure]
        below = x["n"][:, 1:]
        above = x["tp"][:, 1:]
        ratios = (above / below).mean(axis=0)
        expected = ratios if average == "macro" else above.sum(axis=0) / below.sum(axis=0)
        np.testing.assert_allclose(there["precision"], expected)
        np.testing.assert_allclose(there["recall"], rows["tpr"].iloc[1:])
        assert (there["n_missing"] == 0).all()


def test_averaged_precision_and_recall_are_those_of_the_lists():
    frame = collection(least=20, most=21)
    lists = nbest_precision(frame, range(1, 21), average="macro", **ROLES)
    curve = precision_recall(frame, average="macro", ties="shared", **ROLES)
    for name in ("precision", "recall", "ci_low", "ci_high", "n_queries"):
        np.testing.assert_allclose(curve[name], lists[name], rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("chunks", [None, {"query": 3}], ids=["dataset", "dask"])
@pytest.mark.parametrize("question", [roc, precision_recall])
def test_a_curve_of_a_dataset_is_that_of_the_frame(question, chunks):
    frame = collection(least=20, most=21)
    candidate = frame.groupby("query").cumcount()
    data = frame.assign(candidate=candidate).set_index(["query", "candidate"]).to_xarray()
    data = data if chunks is None else data.chunk(chunks)
    expected = question(frame, average="macro", **ROLES)
    found = question(data, average="macro", measures=["a", "b"])
    back = found.compute().to_dataframe().reset_index()[expected.columns]
    pd.testing.assert_frame_equal(back, expected, check_dtype=False)


def test_a_curve_that_ends_stays_at_its_end():
    frame = collection(least=20, most=21)
    frame.loc[frame.index[frame["gold"]][:2], "a"] = np.nan  # true positives of the first query
    found = roc(frame, average="macro", measures="a", by="query", missing="absent")
    assert (np.diff(found["tpr"]) >= 0).all()
    assert found["tpr"].iloc[-1] < 1.0


def test_curves_refuse_what_has_no_average():
    frame = collection()
    with pytest.raises(ValueError, match=r"blocks of equal scores end at different list"):
        roc(frame, average="macro", ties="blocks", **ROLES)
    with pytest.raises(ValueError, match=r"combine=True combine groups, but there are none"):
        roc(frame, average="macro", measures=["a", "b"])
    with pytest.raises(ValueError, match=r"average='mean' is not one of"):
        precision_recall(frame, average="mean", **ROLES)
    with pytest.raises(ValueError, match="groups"):
        roc(frame.assign(g=0), average="macro", groups="g", **ROLES)


# The exact test within strata


def enumerated(x, y, m, alternative):
    """Return p-values from all tables with these margins, in whole numbers."""
    from math import comb

    law = {0: 1}
    for k, size in zip(np.add(x, y).tolist(), m, strict=True):
        part = {i: comb(size, i) * comb(size, k - i) for i in range(min(size, k) + 1)}
        law = {
            s: sum(law.get(s - i, 0) * w for i, w in part.items())
            for s in range(max(law) + max(part) + 1)
        }
    total, observed, center = sum(law.values()), sum(x), sum(np.add(x, y)) / 2
    far = {
        "greater": lambda s: s - observed, "less": lambda s: observed - s,
        "two-sided": lambda s: abs(s - center) - abs(observed - center),
    }[alternative]  # fmt: skip
    ge = sum(w for s, w in law.items() if far(s) >= 0)
    gt = sum(w for s, w in law.items() if far(s) > 0)
    return ge / total, (ge + gt) / 2 / total


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(15))
def test_the_exact_test_is_that_of_all_tables(alternative, seed):
    """All tables of all groups enumerated in integers."""
    rng = np.random.default_rng(seed)
    m = rng.integers(0, 7, rng.integers(1, 7))
    x, y = rng.binomial(m, 0.6), rng.binomial(m, rng.choice([0.1, 0.6]))
    found = fisher.stratified_exact_test(x, y, m, alternative)
    expected = enumerated(x, y, m.tolist(), alternative)
    if not 0 < (x + y).sum() < 2 * m.sum():
        expected = (1.0, 1.0)  # nothing is random: as for a single table
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_one_stratum_is_fishers_test():
    for alternative in ("two-sided", "greater", "less"):
        found = fisher.stratified_exact_test(*map(np.array, ([9], [3], [12])), alternative)
        reference = stats.fisher_exact([[9, 3], [3, 9]], alternative=alternative)
        assert found.p_value == pytest.approx(reference.pvalue, rel=1e-12)


def test_a_far_tail_keeps_its_digits():
    m = np.full(40, 20)
    found = fisher.stratified_exact_test(m, np.zeros(40, dtype=int), m, "greater")
    mpmath = pytest.importorskip("mpmath")
    assert found.p_value == pytest.approx(float(mpmath.binomial(40, 20) ** -40), rel=1e-10)


def test_the_difference_is_mantel_haenszels():
    x, y, m = np.array([4, 0, 7]), np.array([1, 2, 3]), np.array([5, 3, 10])
    weight = m * m / (2 * m)
    expected = (weight * (x / m - y / m)).sum() / weight.sum()
    value, error = fisher.mantel_haenszel_difference(x, y, m)
    assert value == pytest.approx(expected)
    # T. Sato (1989): stratum by stratum, for samples of any size
    p = (m**2 * y - m**2 * x + m * m * (m - m) / 2) / (2 * m) ** 2
    q = (x * (m - y) + y * (m - x)) / (2 * 2 * m)
    se = np.sqrt((expected * p.sum() + q.sum()) / weight.sum() ** 2)
    assert error == pytest.approx(se)


def test_combined_groups_are_the_strata():
    frame = collection()
    each = compare(frame, "a", "b", 5, **ROLES)
    found = compare(frame, "a", "b", 5, combine=True, **ROLES)
    counts = [each[name].to_numpy() for name in ("tp_only_a", "tp_only_b", "n_only_a")]
    assert found["p_value"][0] == fisher.stratified_exact_test(*counts, "two-sided").p_value
    assert found["difference"][0] == pytest.approx(each["difference"].mean())
    assert found["n_groups"][0] == 12
    assert found["n_left_out"][0] == 0
    first, rows = frame["query"].iloc[0], frame.groupby("query").cumcount()
    short = frame[(frame["query"] != first) | (rows < 4)]  # no list of 5 of the first
    found_of_the_rest = compare(short, "a", "b", [4, 5], combine=True, **ROLES)
    assert found_of_the_rest[["n_groups", "n_left_out"]].to_numpy().tolist() == [[12, 0], [11, 1]]
    assert found["n_only_a"][0] == counts[2].sum()
    significant = found["p_value"][0] <= 0.05
    assert significant == (not found["ci_low"][0] <= 0.0 <= found["ci_high"][0])


@pytest.mark.full
def test_the_exact_test_keeps_its_level():
    rng = np.random.default_rng(0)
    m = np.full(15, 8)
    rejected = 0
    for _ in range(1000):
        chance = rng.beta(1, 3, 15)
        x, y = rng.binomial(m, chance), rng.binomial(m, chance)
        rejected += fisher.stratified_exact_test(x, y, m, "two-sided").p_value <= 0.05
    assert 15 <= rejected <= 60  # at most 50 are expected, and a discrete test has fewer


# Intervals over queries


@pytest.mark.parametrize(("queries", "low", "high"), [(20, 0.94, 0.975), (250, 0.935, 0.965)])
def test_macro_intervals_hold_their_level(queries, low, high):
    rng = np.random.default_rng(queries)
    chance = rng.beta(1.2, 3.0, (4000, queries))
    values = rng.binomial(10, chance) / 10
    found = cluster_totals.query_ratio(values, np.ones_like(values))
    lowest, highest = cluster_totals.query_share_limits(found.value, found.se, found.n, 0.95)
    covered = ((lowest <= 1.2 / 4.2) & (highest >= 1.2 / 4.2)).mean()
    assert low <= covered <= high


def test_equal_differences_have_the_p_value_of_equal_signs():
    found = cluster_totals.query_ratio(np.full((1, 10), 0.3), np.ones((1, 10)))
    assert found.se == 0.0
    assert cluster_totals.t_test(found, "greater") == pytest.approx(2.0**-10)
    assert cluster_totals.t_test(found, "two-sided") == pytest.approx(2.0**-9)
    assert (
        cluster_totals.t_test(
            cluster_totals.query_ratio(np.zeros((1, 10)), np.ones((1, 10))), "two-sided"
        )
        == 1.0
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "mean"}, "average='mean' is not one of"),
        ({"average": "macro", "combine": True}, "average='macro' with combine=True"),
        ({"combine": True, "test": "midp"}, "combine=True with test='midp'"),
        ({"average": "micro", "ci": "delta"}, "average='micro' with ci='delta'"),
        ({"combine": True, "n": 0.1}, "fractions of the candidates"),
        ({"combine": True, "by": None}, "there are none"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        compare(collection(), "a", "b", **{"n": 5, **ROLES, **options})


# Chance in a collection


@pytest.mark.parametrize("combine", [False, True])
def test_a_pool_is_drawn_from_its_collection(combine):
    frame = collection(3)
    found = random_test(frame, 5, n_candidates=1000, combine=combine, **ROLES)
    more = [
        pd.DataFrame({"query": q, "a": -1e9, "b": -1e9, "gold": False}, index=range(1000 - size))
        for q, size in frame.groupby("query").size().items()
    ]
    whole = pd.concat([frame, *more], ignore_index=True)
    expected = random_test(whole, 5, combine=combine, **ROLES)
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs["pool"] == 1000
    same = random_test(frame, 5, pool=1000, combine=combine, **ROLES)
    pd.testing.assert_frame_equal(found, same)


def test_a_collection_holds_its_pool():
    with pytest.raises(ValueError, match="pool=7 is smaller than the number of candidates"):
        random_test(collection(), 5, n_candidates=7, **ROLES)
    with pytest.raises(ValueError, match="size of a finite collection"):
        random_test(collection(), 5, n_candidates=700, population="infinite", **ROLES)


def test_bounds_of_many_groups_are_those_of_each():
    frame = collection(40)
    frame.loc[frame["query"] == 3, "gold"] = False
    frame.loc[frame["query"] == 4, "gold"] = True
    asked = [0.5, 0.05, 1.0]
    found = random_bound(frame, asked, [1, 5, 15], by="query")
    alone = [
        random_bound(rows, asked, [n for n in (1, 5, 15) if n <= len(rows)]).assign(query=q)
        for q, rows in frame.groupby("query")
    ]
    expected = pd.concat(alone, ignore_index=True)[found.columns]
    pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_bounds_of_pools_of_all_sizes_are_those_of_counting(level):
    """By counting with whole numbers, min{i: P(X >= i) <= p} and min{i: P(X > i) < p}."""
    sizes = [(N, k) for N in (1, 2, 7, 30, 31, 57) for k in {0, 1, N // 3, N}]
    rows = [(f"{i:02}", j < k) for i, (N, k) in enumerate(sizes) for j in range(N)]
    frame = pd.DataFrame(rows, columns=["query", "gold"]).sample(frac=1.0, random_state=1)
    found = random_bound(frame, level, [1, 5, 30], by="query")
    assert len(found) == sum(n <= N for N, _ in sizes for n in (1, 5, 30))
    for row in found.itertuples():
        N, positive = sizes[int(row.query)]
        ways = [
            math.comb(positive, i) * math.comb(N - positive, row.n - i) if i <= row.n else 0
            for i in range(positive + 1)
        ] + [0]
        tail = [fractions.Fraction(sum(ways[i:]), math.comb(N, row.n)) for i in range(len(ways))]
        least = next(i for i, p in enumerate(tail) if p <= level)
        assert row.critical == least
        assert row.attainable == (least <= min(row.n, positive))
        assert row.discrete == next(
            i for i in range(len(tail)) if (tail[i + 1] if i + 1 < len(tail) else 0) < level
        )
        assert row.expected == row.n * (positive / N)


def test_pools_of_many_sizes_count_what_each_measure_scores():
    frame = collection(6).drop(index=[3, 17])
    frame.loc[::7, "a"] = np.nan
    asked = {"by": "query", "missing": "drop", "n": [2, 5]}
    with pytest.warns(RankevalWarning, match="evaluates 'a' without"):
        found = random_bound(frame, 0.05, measures="a", **asked)
    expected = random_bound(frame.dropna(subset=["a"]), 0.05, [2, 5], by="query")
    pd.testing.assert_frame_equal(found, expected)
    with (
        pytest.warns(RankevalWarning, match="evaluates 'a' without"),
        pytest.raises(ValueError, match="the measures score different candidates"),
    ):
        random_bound(frame, 0.05, measures=["a", "b"], **asked)


@pytest.mark.full
def test_bounds_of_many_endless_supplies_are_those_of_each():
    frame = collection(40)
    frame.loc[frame["query"] == 3, "gold"] = False
    frame.loc[frame["query"] == 4, "gold"] = True
    asked = [0.5, 0.05, 1e-12, 1.0]
    found = random_bound(frame, asked, [1, 15, 60], by="query", population="infinite")
    path = [  # of many n, the bounds are walked from one n to the next
        random_bound(rows, asked, range(1, 101), population="infinite").assign(query=q)
        for q, rows in frame.groupby("query")
    ]
    expected = pd.concat(path, ignore_index=True)[found.columns]
    expected = expected[expected["n"].isin([1, 15, 60])].reset_index(drop=True)
    assert len(found) == 40 * 4 * 3
    pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-8, atol=1e-9)


def test_all_pairs_of_groups_and_measures_have_a_row():
    frame = collection().assign(c=lambda df: df["a"] + df["b"])
    found = compare(frame, n=[5], combine=True, by="query", adjust="holm")
    pairs = list(itertools.combinations("abc", 2))
    assert list(zip(found["measure_a"], found["measure_b"], strict=True)) == pairs
    assert (found["p_adjusted"] >= found["p_value"]).all()
