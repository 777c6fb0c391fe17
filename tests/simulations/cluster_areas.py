"""Coverage of the intervals of ROC areas with ``groups``, in more samples than clusters.csv has.

Settings and samples come from ``clusters.py``, 2,000 each; ten minutes. ``area`` is the share of
95% intervals of ``area`` that contain the mean area. ``test`` is the share of samples in which
``compare_area`` finds two equally good measures different at 5%, ``difference`` the share of its
95% intervals that contain 0. ``wide`` and ``difference_wide`` are how many times as wide the
intervals are as those that would just cover. If the second is above 1.3, ``least`` is the factor by
which Student's interval must be widened to just cover in this setting, and if one measure is
better by one standard error of the difference, which the same data cannot exclude; ``plain`` is the
share of Student's intervals that cover there, and ``beside`` the width of the interval beside
Student's widened so (medians). Elsewhere ``beside`` is ``difference_wide``.
"""

from itertools import product

import numpy as np
from scipy import stats

from rankeval_pd.curves.areas import spread_of
from rankeval_pd.stats import areas as roc_areas
from tests.simulations import study
from tests.simulations.clusters import sample
from tests.simulations.dependence import summed_up

FORM = {"digits": None}
SAMPLES = 2_000
NAMES = (
    "clusters", "sizes", "icc", "strength", "samples", "mean_area", "area", "wide", "test",
    "difference", "difference_wide", "plain", "least", "beside",
)  # fmt: skip


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


def setting(n_clusters, sizes, icc, strength):
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


def rows():
    for n_clusters, sizes, (icc, strength) in product(
        (10, 20, 30, 50, 150, 500), ("5", "1-50"), ((0.95, 1.0), (0.5, 1.0), (0.5, 3.0))
    ):
        if n_clusters < 500 or sizes == "5":
            yield setting(n_clusters, sizes, icc, strength)
