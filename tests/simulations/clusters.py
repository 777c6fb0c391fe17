"""Coverage and size where candidates come in clusters: what takes groups, and what does not.

A cluster has 5 candidates, or 1 to 50; label and scores of its candidates share ``icc`` of their
variance. Two measures are equally good. Every share is one of ``reps`` samples, about 2,000:

* ``region``, ``nbest``: intervals of ``nbest_precision`` that have the mean precision at n, 95%;
* ``difference``: intervals of ``compare`` that have 0, as its test does not reject, 95%;
* ``band``, ``difference_band``: bands over three n that have all means, 95%;
* ``max_t``: samples in which ``compare(adjust="max-t")`` finds a difference, 5%; of few settings;
* ``independent``: as ``nbest``, of the interval that takes candidates for independent;
* ``ratio``: median of how many times as much the precision of the list varies as the region's;
* ``warned``: samples in which ``nbest_precision`` says that it is more than 1.5 times.

Half an hour.
"""

from itertools import product

import numpy as np
import pandas as pd

from rankeval_pd.lists import groups as lists
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import swaps
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import mix, nbest_spread
from tests.simulations import study

FORM = {"digits": None, "na_rep": "nan"}
SAMPLES = 2_000
NAMES = (
    "clusters", "sizes", "icc", "strength", "n", "precision", "reps", "region", "nbest",
    "difference", "band", "difference_band", "max_t", "independent", "ratio", "warned",
)  # fmt: skip


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
    points, rows = [], []
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
        rows.append({
            "region": single(a, n[1:2], "region"), "nbest": single(a, n[1:2], "nbest"),
            "band": lists.band(a, n, 0.95, **drawing),
            "independent": INTERVALS["clopper-pearson"](size * points[-1][1], size, 0.95),
            "difference": p > 0.05,
            "difference_band": (np.abs(found.value / n) <= half + 1e-12).all(),
            "max_t": found_by_swaps(a, b, n) if swaps_too else np.nan,
            "ratio": ratio(a, n[1:2]),
        })  # fmt: skip
    truth = np.mean(points, axis=0)
    wanted = {"region": truth[1:2], "nbest": truth[1:2], "independent": truth[1:2], "band": truth}
    shares = [
        np.mean([inside(row[name], wanted[name]) if name in wanted else row[name] for row in rows])
        for name in NAMES[7:14]
    ]
    ratios = np.array([row["ratio"] for row in rows])
    shares += [np.median(ratios), np.mean(ratios > 1.5)]
    shown = np.round(np.array(shares, dtype=float), 3).tolist()
    return [n_clusters, sizes, icc, strength, n[1], round(truth[1], 3), len(rows), *shown]


def inside(limits, wanted):
    low, high = limits
    return bool(((low <= wanted) & (wanted <= high)).all())


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
    for n_clusters, sizes, (icc, strength) in product(
        (10, 20, 50, 100), ("5", "1-50"), ((0.95, 1.0), (0.5, 1.0), (0.5, 3.0))
    ):
        swaps_too = sizes == "5" and n_clusters <= 50
        yield setting(n_clusters, sizes, icc, strength, swaps_too)
