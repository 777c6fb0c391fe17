"""Coverage and size where candidates come in clusters: what takes groups, and what does not."""

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.curves.areas import spread_of
from rankeval_pd.lists import groups as lists
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import swaps
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import mix, nbest_spread
from tests.simulations import study
from tests.simulations.dependence import summed_up

SAMPLES = 2_000


def sample(rng, n_clusters, sizes, icc, strength, gain=0.0):
    """Return candidates of clusters, two measures, and 25% true positives.

    ``gain`` is by how much the true positives' scores are higher under the first measure.
    """
    size = np.full(n_clusters, 5) if sizes == "5" else rng.integers(1, 51, n_clusters)
    cluster = np.repeat(np.arange(n_clusters), size)
    gold = study.upper_quarter(study.together(rng, cluster, icc))
    common = study.together(rng, cluster, icc)
    scores = {}
    for name, more in (("a", gain), ("b", 0.0)):
        own = study.together(rng, cluster, icc)
        scores[name] = (strength + more) * gold + np.sqrt(0.6) * common + np.sqrt(0.4) * own
    return pd.DataFrame({**scores, "gold": gold, "cluster": cluster})


def setting(n_clusters, sizes, icc, strength, swaps_too):
    rng = np.random.default_rng(2026)
    mean_size = 5 if sizes == "5" else 25.5
    n = np.array([max(2, round(share * n_clusters * mean_size)) for share in (0.1, 0.2, 0.3)])
    drawing = {"n_resamples": 299, "seed": 1}
    points, rows, ratios = [], [], []
    for _ in range(SAMPLES):
        data = sample(rng, n_clusters, sizes, icc, strength)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if len(data) < n[-1] or not 1 < gold.sum() < len(data) - 1:
            continue
        a, b = (
            lists.ListMembers.of(study.ranking(data[name].to_numpy(), gold), (), cluster)
            for name in "ab"
        )
        counts = np.concatenate([[0], np.cumsum(gold[np.argsort(a.rank)])])
        points.append(counts[n] / n)
        size = nbest_spread(counts, n[1:2], np.array(gold.size)).effective(n[1:2])
        pair = lists.ListPair(a.rank, b.rank, gold, np.unique(cluster), None, cluster)
        found = lists.difference(pair, n)
        p = lists.p_of_gap(found.value, found.error, found.spread.freedom, "two-sided")[1]
        half = lists.margins(pair, n, [0.95], each=False, **drawing)[0]
        ratios.append(ratio(a, n[1:2]))
        rows.append({
            "region": single(a, n[1:2], "region"), "nbest": single(a, n[1:2], "nbest"),
            "difference": p > 0.05, "band": lists.band(a, n, 0.95, **drawing),
            "difference_band": (np.abs(found.value / n) <= half + 1e-12).all(),
            "max_t": found_by_swaps(a, b, n) if swaps_too else np.nan,
            "independent": INTERVALS["clopper-pearson"](size * points[-1][1], size, 0.95),
        })  # fmt: skip
    truth = np.mean(points, axis=0)
    wanted = {"region": truth[1:2], "nbest": truth[1:2], "independent": truth[1:2], "band": truth}
    shares = [
        np.mean(
            [
                study.covers(*row[name], wanted[name]).all() if name in wanted else row[name]
                for row in rows
            ]
        )
        for name in rows[0]
    ]
    shares += [np.median(ratios), np.mean(np.array(ratios) > 1.5)]
    shown = np.round(np.array(shares, dtype=float), 3).tolist()
    return [n_clusters, sizes, icc, strength, n[1], round(truth[1], 3), len(rows), *shown]


def single(ranked, n, target):
    _, found, precision = lists.list_spread(ranked, n, target)
    size = cluster_totals.effective_size(n, precision, found, 0.95)
    tp = np.cumsum(ranked.gold[np.argsort(ranked.rank)])[n - 1]
    return INTERVALS["wilson"](size * tp / n, size, 0.95)


def ratio(ranked, n):
    """Return how many times as much as a region's the precision of the list varies."""
    nbest, region = (lists.list_spread(ranked, n, target)[1] for target in ("nbest", "region"))
    return (nbest.variance / region.variance)[0]


def found_by_swaps(a, b, n):
    keys = mix(a.cluster.astype(np.uint64))
    drawing = {"n_resamples": 199, "seed": 1, "keys": keys}
    found = swaps.swap_tests(a.rank, b.rank, a.gold, n, "two-sided", **drawing)
    return (found.together <= 0.05).any()


def rows():
    for setting_of in study.settings("clusters", "clusters", "sizes", "icc", "strength"):
        n_clusters, sizes = setting_of[:2]
        yield setting(*setting_of, swaps_too=sizes == "5" and n_clusters <= 50)


# ------------------------------------------------------------------------------------ Cluster areas


def drawn(n_clusters, sizes, icc, strength, gain=0.0):
    """Return area, variance, freedom, class sizes and ``moved``: (which, number, sample).

    Which is the first area, alone and for a difference, the second, and the difference.
    """
    rng = np.random.default_rng(7)
    parts = []
    while len(parts) < SAMPLES:
        data = sample(rng, n_clusters, sizes, icc, strength, gain)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if not 1 < gold.sum() < len(data) - 1:
            continue
        a, b = (roc_areas.placements(study.ranking(data[name].to_numpy(), gold)) for name in "ab")
        found = [
            spread_of(values, cluster, warned="", alone=alone)
            for values, alone in ((a, True), (a, False), (b, False), (a.minus(b), False))
        ]
        parts.append([
            (area, x.variance, x.freedom, x.positive, x.negative, x.moved)
            for area, x in zip((a.value, a.value, b.value, a.value - b.value), found, strict=True)
        ])  # fmt: skip
    return np.moveaxis(np.array(parts, dtype=float), 0, 2)


def students(which):
    return stats.t.ppf(0.975, np.maximum(which[3, 2], 1.0)) * np.sqrt(which[3, 1])


def least_factor(which, truth):
    """Return by how much Student's intervals must be widened to cover .95, and how many cover."""
    away = np.abs(which[3, 0] - truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(away < 1e-12, 0.0, away / students(which))
    return np.quantile(needed, 0.95, method="higher"), np.mean(needed <= 1.0)


def beside_students(which, limits, wide, *at):
    if wide <= 1.3:
        return "", "", wide
    error, trial = which[3, 0].std(), 0.5
    gained = drawn(*at, gain=trial)[3, 0].mean()
    other = drawn(*at, gain=trial * min(error / gained, 3.0))
    factor, plain = least_factor(other, other[3, 0].mean())
    least, varies = max(factor, least_factor(which, 0.0)[0], 1.0), which[3, 1] > 0.0
    width = np.median(((limits[1] - limits[0]) / (2.0 * students(which)))[varies])
    return plain, least, width / least


def area_setting(n_clusters, sizes, icc, strength):
    at = n_clusters, sizes, icc, strength
    which = drawn(*at)
    groups, none = np.full(SAMPLES, n_clusters), np.full(SAMPLES, np.nan)
    own, a, b, gap = (roc_areas.AreaSpread(*x[1:5], n_groups=groups) for x in which)
    areas = which[0, 0], which[2, 0]
    alone = areas[0], *roc_areas.newcombe_limits(areas[0], own, 0.95), none
    counts = tuple(roc_areas.unseen_counts(x, n_clusters) for x in which[3, 3:5])
    variances = a.variance, b.variance, gap.variance
    limits = roc_areas.area_difference_limits(
        areas, variances, gap.freedom, counts, 0.95, which[3, 5]
    )
    t = np.abs(which[3, 0]) / np.maximum(np.sqrt(gap.variance), 1e-300)
    p = 2.0 * stats.t.sf(t, np.maximum(gap.freedom, 1.0))
    mean = float(np.mean(areas[0]))
    area = summed_up("", "", list(zip(*alone, strict=True)), mean)
    gap = summed_up("", "", list(zip(which[3, 0], *limits, p, strict=True)), 0.0)
    last = beside_students(which, limits, gap[4], *at)
    shares = [
        x if isinstance(x, str) else f"{x:.4g}"
        for x in (mean, area[2], area[4], gap[3], gap[2], gap[4], *last)
    ]
    return [*at, SAMPLES, *shares]


def cluster_areas_rows():
    """Yield the coverage of the intervals of ROC areas, from the same samples."""
    for at in study.settings("cluster_areas", "clusters", "sizes", "icc", "strength"):
        yield area_setting(*at)
