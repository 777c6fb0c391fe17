"""Coverage and size where candidates come in clusters: what takes groups, and what does not.

``python tests/reference/clusters.py > tests/reference/clusters.csv`` takes half an hour. A
cluster has 5 candidates, or 1 to 50; label and scores of its candidates share ``icc`` of their
variance. Two measures are equally good. Every share is one of ``reps`` samples, about 2,000:

* ``region``, ``nbest``: intervals of ``nbest_precision`` that have the mean precision at n, 95%;
* ``difference``: intervals of ``compare`` that have 0, as its test does not reject, 95%;
* ``band``, ``difference_band``: bands over three n that have all means, 95%;
* ``max_t``: samples in which ``compare(adjust="max-t")`` finds a difference, 5%; of few settings;
* ``independent``: as ``nbest``, of the interval that takes candidates for independent;
* ``ratio``: median of how many times as much the precision of the list varies as the region's;
* ``warned``: samples in which ``nbest_precision`` says that it is more than 1.5 times.
"""

from __future__ import annotations

import csv
import sys
import warnings

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.lists.groups import ListMembers, band, difference, list_spread, margins, p_values
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import ranking as swap_draws
from rankeval_pd.stats import swaps
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import Ranking, nbest_spread

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

    def together():
        shared = rng.normal(size=n_clusters)[cluster]
        return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)

    gold = together() > stats.norm.ppf(0.75)
    common = together()
    scores = {
        name: (strength + more) * gold + np.sqrt(0.6) * common + np.sqrt(0.4) * together()
        for name, more in (("a", gain), ("b", 0.0))
    }
    return pd.DataFrame({**scores, "gold": gold, "cluster": cluster})


def setting(n_clusters, sizes, icc, strength, reps, swaps_too):
    """Return a row of the table."""
    rng = np.random.default_rng(2026)
    mean_size = 5 if sizes == "5" else 25.5
    n = np.array([max(2, round(share * n_clusters * mean_size)) for share in (0.1, 0.2, 0.3)])
    points, rows = [], []
    for _ in range(reps):
        data = sample(rng, n_clusters, sizes, icc, strength)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if len(data) < n[-1] or not 1 < gold.sum() < len(data) - 1:
            continue
        here = np.ones(len(data), dtype=bool)
        scores = data["a"].to_numpy(), data["b"].to_numpy()
        a, b = (ListMembers.of(Ranking.of(score, gold, here), (), cluster) for score in scores)
        points.append(np.cumsum(gold[np.argsort(a.rank)])[n - 1] / n)
        row = [single(a, n[1:2], target) for target in ("region", "nbest")]
        row.append(band(a, n, 0.95, n_resamples=299, seed=1))
        alone = nbest_spread(
            np.concatenate([[0], np.cumsum(gold[np.argsort(a.rank)])]), n[1:2], np.array(gold.size)
        )
        size = alone.effective(n[1:2])
        row.append(INTERVALS["clopper-pearson"](size * points[-1][1], size, 0.95))
        found = difference(a.rank, b.rank, gold, cluster, n)
        drawing = {"each": False, "n_resamples": 299, "seed": 1}
        half = margins(a.rank, b.rank, gold, cluster, n, [0.95], None, **drawing)[0]
        p = p_values(found, "two-sided")[1]
        row += [p > 0.05, (np.abs(found.value / n) <= half + 1e-12).all()]
        row.append(found_by_swaps(a, b, n) if swaps_too else np.nan)
        row.append(ratio(a, n[1:2]))
        rows.append(row)
    truth = np.mean(points, axis=0)
    middle = truth[1:2]
    shares = [
        np.mean([inside(row[0], middle) for row in rows]),
        np.mean([inside(row[1], middle) for row in rows]),
        np.mean([row[4] for row in rows]),
        np.mean([inside(row[2], truth) for row in rows]),
        np.mean([row[5] for row in rows]),
        np.mean([row[6] for row in rows]),
        np.mean([inside(row[3], middle) for row in rows]),
        np.median([row[7] for row in rows]),
        np.mean([row[7] > 1.5 for row in rows]),
    ]
    shown = np.round(np.array(shares, dtype=float), 3).tolist()
    return [n_clusters, sizes, icc, strength, n[1], round(middle[0], 3), len(rows), *shown]


def inside(limits, wanted):
    """Return whether intervals have what they are of."""
    low, high = limits
    return bool(((low <= wanted) & (wanted <= high)).all())


def single(ranked, n, target):
    """Return the interval of nbest_precision at one n."""
    _, found, precision = list_spread(ranked, n, target)
    size = cluster_totals.effective_size(n, precision, found, 0.95)
    tp = np.cumsum(ranked.gold[np.argsort(ranked.rank)])[n - 1]
    return INTERVALS["wilson"](size * tp / n, size, 0.95)


def ratio(ranked, n):
    """Return how many times as much as a region's the precision of the list varies."""
    lists, region = (list_spread(ranked, n, target)[1] for target in ("nbest", "region"))
    return (lists.variance / region.variance)[0]


def found_by_swaps(a, b, n):
    """Return whether max-t finds a difference at one of the n."""
    found = swaps.swap_tests(
        a.rank,
        b.rank,
        a.gold,
        n,
        "two-sided",
        n_resamples=199,
        seed=1,
        keys=swap_draws.mix(a.cluster.astype(np.uint64)),
    )
    return (found.together <= 0.05).any()


def main():
    """Write the table."""
    warnings.simplefilter("ignore")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(NAMES)
    for n_clusters in (10, 20, 50, 100):
        for sizes in ("5", "1-50"):
            for icc, strength in ((0.95, 1.0), (0.5, 1.0), (0.5, 3.0)):
                swaps = sizes == "5" and n_clusters <= 50
                out.writerow(setting(n_clusters, sizes, icc, strength, 2_000, swaps))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
