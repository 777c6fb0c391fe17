"""One row for all groups: averages and combined tests, beside numbers from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import roc_auc_score

from rankeval_pd import (
    compare,
    nbest_precision,
    precision_recall,
    roc,
)
from rankeval_pd.curves.areas import area
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import two_by_two as strata

ROLES = {"by": "query", "measures": ["a", "b"]}


def collection(n_queries: int = 12, seed: int = 1, least: int = 8, most: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, most, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    gold = rng.random(query.size) < 0.3
    return pd.DataFrame(
        {"query": query, "a": gold + rng.standard_normal(query.size),
         "b": rng.standard_normal(query.size), "gold": gold}
    )  # fmt: skip


def limits_by_hand(values):
    """SciPy's beta quantiles for as many candidates as the queries are worth."""
    mean, count = np.mean(values), len(values)
    worth = mean * (1 - mean) * count / np.var(values, ddof=1)
    worth *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, count - 1)) ** 2
    tp, fp = mean * worth, (1 - mean) * worth
    return stats.beta.ppf(0.025, tp, fp + 1), stats.beta.ppf(0.975, tp + 1, fp)


# -------------------------------------------------------------------------------- Averages of lists


@pytest.mark.filterwarnings("ignore:.* groups have fewer than n:rankeval_pd.RankevalWarning")
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


@pytest.mark.filterwarnings("ignore:.* groups have fewer than n:rankeval_pd.RankevalWarning")
def test_macro_recall_is_the_mean_over_queries_with_positives():
    frame = collection()
    each = frame.rankeval(**ROLES).nbest_recall([5, 15])
    found = frame.rankeval(**ROLES).nbest_recall([5, 15], average="macro", details=True)
    for row in found.itertuples():
        rows = each[(each["measure"] == row.measure) & (each["n"] == row.n)]
        assert row.recall == pytest.approx(rows["recall"].mean())
        assert (row.ci_low, row.ci_high) == pytest.approx(limits_by_hand(rows["recall"].dropna()))
    assert found.attrs["quantity"] == "recall"
    with pytest.raises(ValueError, match="average= cannot stand beside target="):
        frame.rankeval(**ROLES).nbest_recall(5, average="macro", target="region")


@pytest.mark.filterwarnings("ignore:area. a class has only:rankeval_pd.RankevalWarning")
def test_averages_of_lifts_and_of_recalls_by_hand():
    """Three queries of 10, 20 and 30 candidates with 5, 4 and 0 positives."""
    parts = []
    for q, (size, positive) in enumerate([(10, 5), (20, 4), (30, 0)]):
        gold = np.zeros(size, dtype=bool)
        gold[: 2 * positive : 2] = True
        parts.append(pd.DataFrame({"q": q, "a": -np.arange(size), "gold": gold}))
    call = pd.concat(parts, ignore_index=True).rankeval(by="q", details=True)
    tp = np.array([2.0, 2.0, 0.0])  # among the first four
    micro, macro = (call.nbest_precision(4, average=x).iloc[0] for x in ("micro", "macro"))
    assert micro["lift"] == pytest.approx(4.0 / (4 * 5 / 10 + 4 * 4 / 20))
    assert macro["lift"] == pytest.approx(np.mean([tp[0] / 2.0, tp[1] / 0.8]))
    assert micro["recall"] == pytest.approx(4 / 9)
    assert macro["recall"] == pytest.approx((2 / 5 + 2 / 4) / 2)
    assert micro["precision"] == macro["precision"] == pytest.approx(4 / 12)
    assert (micro["n_queries"], micro["n_missing"], micro["tp"]) == (3, 0, 4)
    assert call.nbest_precision(15, average="macro").loc[0, "n_missing"] == 1
    area = call.area("ap", average="micro").iloc[0]  # weights: five and four positives
    each = call.area("ap").dropna(subset="area")
    for name in ("area", "chance"):
        assert area[name] == pytest.approx(np.average(each[name], weights=[5, 4]))


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


def test_intervals_of_few_and_of_equal_queries():
    """Precision at 5 of skewed queries: Student's interval covers .80 at 5 queries."""
    rng = np.random.default_rng(0)
    x = rng.binomial(5, rng.beta(0.3, 3.0, (2_000, 5))) / 5
    found = cluster_totals.query_ratio(x, np.ones(x.shape))
    low, high = cluster_totals.query_share_limits(found.value, found.se, found.n, 0.95)
    assert ((low <= 1 / 11) & (high >= 1 / 11)).mean() >= 0.95
    none, one = (
        cluster_totals.query_share_limits(*map(np.array, (1.0, 0.0, k)), 0.95) for k in (6, 1)
    )
    assert 0.3 < none[0] < none[1] == 1.0
    assert np.isnan(one).all()


def test_equal_differences_have_the_p_value_of_equal_signs():
    found = cluster_totals.query_ratio(np.full((1, 10), 0.3), np.ones((1, 10)))
    assert found.se == 0.0
    assert cluster_totals.t_test(found, "greater") == pytest.approx(2.0**-10)
    assert cluster_totals.t_test(found, "two-sided") == pytest.approx(2.0**-9)
    none = cluster_totals.query_ratio(np.zeros((1, 10)), np.ones((1, 10)))
    assert cluster_totals.t_test(none, "two-sided") == 1.0


# --------------------------------------------------------------------- Averages of areas and curves


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_areas_of_queries_are_averaged_by_query_or_by_pairs(average):
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


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_curve_of_all_queries_is_the_average_at_each_n(average):
    frame = collection().assign(gold=lambda x: x["gold"] & (x["query"] != 3))
    asked = {"measures": "a", "by": "query"}
    size, positive = frame.groupby("query")["gold"].agg(["size", "sum"]).to_numpy().T
    known = positive > 0
    curve, alone = (roc(frame, average=x, **asked) for x in (average, None))
    for name, counts in (("tpr", positive), ("fpr", size - positive)):
        each = alone.pivot(index="n", columns="query", values=name)  # noqa: PD010
        each = each.ffill().to_numpy()[:, known]
        weights = counts[known] if average == "micro" else None
        assert_allclose(curve[name], np.average(each, axis=1, weights=weights), atol=1e-15)
        if (name, average) == ("tpr", "macro"):
            found = curve.loc[curve["n"] == 5, ["ci_low", "ci_high"]].to_numpy()[0]
            assert_allclose(found, limits_by_hand(each[5]))
    assert (curve["n_queries"] == known.sum()).all()
    assert (curve["n_missing"] == (~known).sum()).all()
    exact, alone = (precision_recall(frame, average=x, **asked) for x in (average, None))
    each = alone.pivot(index="n", columns="query", values="precision").ffill()  # noqa: PD010
    listed = np.minimum(each.index.to_numpy()[:, np.newaxis], size)  # all, in a short query
    weights = listed if average == "micro" else None
    assert_allclose(exact["precision"], np.average(each, axis=1, weights=weights))
    assert_allclose(exact["recall"], curve["tpr"].iloc[1:])
    assert (exact["n_missing"] == 0).all()


def test_a_curve_that_ends_stays_at_its_end():
    frame = collection(least=20, most=21)
    frame.loc[frame.index[frame["gold"]][:2], "a"] = np.nan  # true positives of the first query
    found = roc(frame, average="macro", measures="a", by="query", missing="absent")
    assert (np.diff(found["tpr"]) >= 0).all()
    assert found["tpr"].iloc[-1] < 1.0


# --------------------------------------------------------------------- The exact test within strata


def enumerated(x, y, m, alternative):
    """Return p-values from all tables with these margins, in whole numbers."""
    law = {0: 1}
    for k, size in zip(np.add(x, y).tolist(), m, strict=True):
        part = {i: math.comb(size, i) * math.comb(size, k - i) for i in range(min(size, k) + 1)}
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


@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
def test_the_exact_test_is_that_of_all_tables(alternative):
    """All tables of all groups enumerated in integers."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        m = rng.integers(0, 7, rng.integers(1, 7))
        x, y = rng.binomial(m, 0.6), rng.binomial(m, rng.choice([0.1, 0.6]))
        found = strata.stratified_exact_test(x, y, m, alternative)
        expected = enumerated(x, y, m.tolist(), alternative)
        if not 0 < (x + y).sum() < 2 * m.sum():
            expected = (1.0, 1.0)  # nothing is random: as for a single table
        assert_allclose(found, expected, rtol=1e-11)


def test_a_far_tail_keeps_its_digits():
    m = np.full(40, 20)
    found = strata.stratified_exact_test(m, np.zeros(40, dtype=int), m, "greater")
    mpmath = pytest.importorskip("mpmath")
    assert found.p_value == pytest.approx(float(mpmath.binomial(40, 20) ** -40), rel=1e-10)


def test_the_difference_is_mantel_haenszels():
    x, y, m = np.array([4, 0, 7]), np.array([1, 2, 3]), np.array([5, 3, 10])
    weight = m * m / (2 * m)
    expected = (weight * (x / m - y / m)).sum() / weight.sum()
    value, error = strata.mantel_haenszel_difference(x, y, m)
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
    assert found["p_value"][0] == strata.stratified_exact_test(*counts, "two-sided").p_value
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


# ----------------------------------------------------------------------------------------- Refusals


def test_curves_refuse_what_has_no_average():
    frame = collection()
    with pytest.raises(ValueError, match=r"combine=True combine groups, but there are none"):
        roc(frame, average="macro", measures=["a", "b"])
    with pytest.raises(ValueError, match="groups"):
        roc(frame.assign(g=0), average="macro", groups="g", **ROLES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "macro", "combine": True}, "average= cannot stand beside combine="),
        ({"combine": True, "test": "midp"}, "combine= cannot stand beside test="),
        ({"average": "micro", "of": "lift"}, "average= cannot stand beside of="),
        ({"combine": True, "adjust": "max-t"}, "adjust='max-t' is not one of None, 'holm'"),
        ({"combine": True, "n": 0.1}, "combine= cannot stand beside n=.*whole numbers"),
        ({"combine": True, "by": None}, "there are none"),
    ],
)
def test_averages_refuse_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        compare(collection(), "a", "b", **{"n": 5, **ROLES, **options})
