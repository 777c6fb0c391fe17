"""How often intervals of ROC areas cover, and tests of two areas reject, with few candidates.

Normal scores: those of the positives have another mean, and ``sd`` times the spread of the others;
two measures correlate by ``rho`` within a class. For each setting and each interval or test: the
share of experiments whose interval holds the true area, or difference, and for two equal areas the
size of the test at 5%. Two minutes.
"""

import itertools

import numpy as np
from scipy import stats

from tests.simulations import study

REPEATED = 2000
SIZES = ((2, 50), (3, 100), (5, 95), (10, 90), (10, 1000), (20, 100), (30, 30), (50, 200))
NAMES = ["what", "positive", "negative", "area_a", "area_b", "sd", "rho", "by", "share", "se"]


def scores(rng, n, shift, sd, rho, repeated):
    common = rng.standard_normal((repeated, n))
    return [
        m + sd * (np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((repeated, n)))
        for m in shift
    ]


def experiments(rng, positive, negative, areas, sd, rho):
    repeated = REPEATED // (1 + (positive + negative) // 500)
    shift = [stats.norm.ppf(area) * np.sqrt(1 + sd * sd) for area in areas]
    true = scores(rng, positive, shift, sd, rho, repeated)
    others = scores(rng, negative, (0.0, 0.0), 1.0, rho, repeated)
    both = [np.concatenate(x, axis=1) for x in zip(true, others, strict=True)]
    return study.dataset(dict(zip("ab", both, strict=True)), np.arange(both[0].shape[1]) < positive)


def share(holds):
    p = float(np.mean(holds))
    return p, study.error(p, np.size(holds))


def rows():
    rng = np.random.default_rng(20)
    for sizes, area, sd in itertools.product(SIZES, (0.5, 0.75, 0.9, 0.95, 0.983), (1.0, 2.0, 0.5)):
        ds = experiments(rng, *sizes, (area, area), sd, 0.5)
        setting = *sizes, area, area, sd, 0.5
        for ci in ("newcombe", "delong", "logit"):
            found = ds.rankeval.area(ci=ci, measures="a").isel(measure=0)
            held = study.covers(found["ci_low"], found["ci_high"], area)
            yield "area", *setting, ci, *share(held)
        for test in ("t", "delong"):
            p = ds.rankeval.compare_area("a", "b", test=test)["p_value"]
            yield "size", *setting, test, *share(p <= 0.05)
    for sizes, (a, b), (rho, sd) in itertools.product(
        SIZES, ((0.9, 0.7), (0.983, 0.9)), ((0.5, 1.0), (0.9, 1.0), (0.5, 2.0))
    ):
        ds = experiments(rng, *sizes, (a, b), sd, rho)
        for test in ("t", "delong"):
            found = ds.rankeval.compare_area("a", "b", test=test)
            held = study.covers(found["ci_low"], found["ci_high"], a - b)
            yield "difference", *sizes, a, b, sd, rho, test, *share(held)
