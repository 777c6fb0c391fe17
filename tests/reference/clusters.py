"""Coverage and size where candidates come in clusters: what takes groups, and what does not.

``python tests/reference/clusters.py > tests/reference/clusters.csv`` takes some ten minutes. A
cluster has 5 candidates, or 1 to 50; label and scores of its candidates share ``icc`` of their
variance. Two measures are equally good. Every share is one of ``reps`` samples:

* ``region``, ``nbest``: intervals of ``nbest_precision`` that have the mean precision at n, 95 %;
* ``difference``: intervals of ``compare`` that have 0, as its test does not reject, 95 %;
* ``band``, ``difference_band``: bands over three n that have all means, 95 %;
* ``area``, ``area_difference``: intervals of the ROC area and of the difference, 95 %;
* ``max_t``: samples in which ``compare(adjust="max-t")`` finds a difference, 5 %; of few settings;
* ``independent``: as ``nbest``, of the interval that takes candidates for independent.
"""

from __future__ import annotations

import csv
import sys
import warnings

import numpy as np
import pandas as pd
from scipy import stats

NAMES = (
    "clusters", "sizes", "icc", "strength", "n", "precision", "reps", "region", "nbest",
    "difference", "band", "difference_band", "area", "area_difference", "max_t", "independent",
)  # fmt: skip


def sample(rng, n_clusters, sizes, icc, strength):
    """Return candidates of clusters, two equally good measures, and 25 % true positives."""
    size = np.full(n_clusters, 5) if sizes == "5" else rng.integers(1, 51, n_clusters)
    cluster = np.repeat(np.arange(n_clusters), size)

    def together():
        shared = rng.normal(size=n_clusters)[cluster]
        return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)

    gold = together() > stats.norm.ppf(0.75)
    common = together()
    scores = {
        name: strength * gold + np.sqrt(0.6) * common + np.sqrt(0.4) * together() for name in "ab"
    }
    return pd.DataFrame({**scores, "gold": gold, "cluster": cluster})


def held(table, wanted, low="ci_low", high="ci_high"):
    """Return the share of samples whose intervals all have what they are of."""
    inside = (table[low] <= wanted) & (wanted <= table[high])
    return inside.groupby(table["sample"]).all().mean()


def setting(n_clusters, sizes, icc, strength, reps, swaps):
    """Return a row of the table."""
    rng = np.random.default_rng(2026)
    mean_size = 5 if sizes == "5" else 25.5
    n = [max(2, round(share * n_clusters * mean_size)) for share in (0.1, 0.2, 0.3)]
    drawn = [sample(rng, n_clusters, sizes, icc, strength) for _ in range(reps)]
    drawn = [x for x in drawn if len(x) >= n[-1] and 1 < x["gold"].sum() < len(x) - 1]
    data = pd.concat(drawn, keys=range(len(drawn)), names=["sample", "candidate"])
    alone = data.rankeval(by="sample", measures=["a", "b"], gold="gold", label="candidate")
    ask = alone(groups="cluster")
    points = alone.nbest_precision(n)
    truth = points.groupby("n")["precision"].mean()
    middle = truth[n[1]]
    precision = {t: ask.nbest_precision(n[1], target=t, measures="a") for t in ("region", "nbest")}
    area = ask.area()
    band = ask.precision_band(n, n_resamples=299, measures="a")
    row = [
        held(precision["region"], middle),
        held(precision["nbest"], middle),
        1.0 - ask.compare("a", "b", n[1])["significant"].mean(),
        held(band, band["n"].map(truth), "band_low", "band_high"),
        held(ask.difference_band(n=n, n_resamples=299), 0.0, "band_low", "band_high"),
        held(area[area["measure"] == "a"], area["area"].mean()),
        held(ask.compare_area(), 0.0),
    ]
    max_t = np.nan
    if swaps:
        options = {"adjust": "max-t", "adjust_over": "group", "n_resamples": 199}
        table = ask.compare(n=n, **options)
        max_t = table.groupby("sample")["significant"].any().mean()
    row += [max_t, held(alone.nbest_precision(n[1], measures="a", target="nbest"), middle)]
    shares = np.round(np.array(row, dtype=float), 3).tolist()
    return [n_clusters, sizes, icc, strength, n[1], round(middle, 3), len(drawn), *shares]


def main():
    """Write the table."""
    warnings.simplefilter("ignore")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(NAMES)
    reps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for n_clusters in (5, 10, 20, 50, 150, 500):
        for sizes in ("5", "1-50"):
            for icc, strength in ((0.95, 1.0), (0.5, 1.0), (0.5, 3.0)):
                if n_clusters == 500 and (sizes, icc) != ("5", 0.95):
                    continue
                swaps = sizes == "5" and n_clusters <= 50
                out.writerow(setting(n_clusters, sizes, icc, strength, reps, swaps))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
