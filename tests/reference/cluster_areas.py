"""Coverage of the intervals of ROC areas with ``groups``, in more samples than clusters.csv has.

``python tests/reference/cluster_areas.py > tests/reference/cluster_areas.csv`` takes two minutes.
Settings and samples are those of ``clusters.py``, 1,500 each: ``area``, intervals of ``area`` that
have the mean area, 95%; ``test``: samples in which ``compare_area`` finds two equally good
measures different, 5%.
"""

from __future__ import annotations

import csv
import sys
import warnings

import numpy as np
from clusters import sample
from scipy import stats

from rankeval_pd.stats.rankings import roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking

SAMPLES = 1_500
NAMES = ("clusters", "sizes", "icc", "strength", "mean_area", "samples", "area", "test")


def setting(n_clusters, sizes, icc, strength):
    """Return a row of the table."""
    rng = np.random.default_rng(7)
    found, limits, rejected = [], [], []
    while len(found) < SAMPLES:
        data = sample(rng, n_clusters, sizes, icc, strength)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if not 1 < gold.sum() < len(data) - 1:
            continue
        here = np.ones(len(data), dtype=bool)
        a, b = (
            roc_areas.placements(Ranking.of(data[name].to_numpy(), gold, here)) for name in "ab"
        )
        found.append(a.area)
        limits.append(area_limits(a.placement, gold, here, cluster))
        spread = roc_areas.cluster_spread(a.placement - b.placement, gold, here, cluster).spread
        t = abs(a.area - b.area) / np.sqrt(spread.variance)
        rejected.append(2 * stats.t.sf(t, max(float(spread.freedom), 0.1)) <= 0.05)
    mean, (low, high) = np.mean(found), np.array(limits).T
    covered = np.mean((low <= mean) & (mean <= high))
    return [n_clusters, sizes, icc, strength, round(mean, 3), SAMPLES, round(covered, 3),
            round(np.mean(rejected), 3)]  # fmt: skip


def area_limits(placement, gold, here, cluster):
    """Return the interval of area()."""
    found = roc_areas.cluster_spread(placement, gold, here, cluster)
    sizes = gold.sum(), (~gold).sum()
    if not found.spread.variance > 0.0:
        sizes = tuple(found.effective)
    return roc_areas.newcombe_limits(placement[gold].mean(), found.spread, *sizes, 0.95)


def main():
    """Write the table."""
    warnings.simplefilter("ignore")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(NAMES)
    for n_clusters in (10, 20, 30, 50, 150, 500):
        for sizes in ("5", "1-50"):
            for icc, strength in ((0.95, 1.0), (0.5, 1.0), (0.5, 3.0)):
                if n_clusters < 500 or sizes == "5":
                    out.writerow(setting(n_clusters, sizes, icc, strength))
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
