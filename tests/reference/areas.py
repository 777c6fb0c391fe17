"""How often intervals of ROC areas cover, and tests of two areas reject, with few candidates.

Normal scores: those of the positives have another mean, and ``sd`` times the spread of the others;
two measures correlate by ``rho`` within a class. Writes areas.csv: for each setting and each
interval or test the share of seeded experiments whose interval holds the true area, or difference,
and for two equal areas the size of the test at 5%; with Monte-Carlo standard errors.
"""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

import rankeval_pd

REPEATED = 2000
SIZES = ((2, 50), (3, 100), (5, 95), (10, 90), (10, 1000), (20, 100), (30, 30), (50, 200))


def scores(rng, n, shift, sd, rho, repeated):
    """Return the scores of one class by two measures."""
    common = rng.standard_normal((repeated, n))
    return [
        m + sd * (np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((repeated, n)))
        for m in shift
    ]


def experiments(rng, positive, negative, areas, sd, rho):
    """Return a Dataset of repeated experiments."""
    repeated = REPEATED // (1 + (positive + negative) // 500)
    shift = [stats.norm.ppf(area) * np.sqrt(1 + sd * sd) for area in areas]
    true = scores(rng, positive, shift, sd, rho, repeated)
    others = scores(rng, negative, (0.0, 0.0), 1.0, rho, repeated)
    dims = ("sample", "candidate")
    both = [(dims, np.concatenate(x, axis=1)) for x in zip(true, others, strict=True)]
    gold = ("candidate", np.arange(positive + negative) < positive)
    return xr.Dataset({"a": both[0], "b": both[1], "gold": gold})


def share(holds) -> tuple[float, float]:
    """Return a share and its standard error."""
    p = float(np.mean(holds))
    return round(p, 4), round(float(np.sqrt(p * (1 - p) / np.size(holds))), 4)


def main() -> None:
    rows = []
    rng = np.random.default_rng(20)
    for (positive, negative), area, sd in itertools.product(
        SIZES, (0.5, 0.75, 0.9, 0.95, 0.983), (1.0, 2.0, 0.5)
    ):
        ds = experiments(rng, positive, negative, (area, area), sd, 0.5)
        for ci in ("newcombe", "delong", "logit"):
            found = ds.rankeval.area(ci=ci, measures="a").isel(measure=0)
            held = (found["ci_low"] <= area) & (area <= found["ci_high"])
            rows.append(("area", positive, negative, area, area, sd, 0.5, ci, *share(held)))
        for test in ("t", "delong"):
            p = ds.rankeval.compare_area("a", "b", test=test)["p_value"]
            rows.append(("size", positive, negative, area, area, sd, 0.5, test, *share(p <= 0.05)))
    for (positive, negative), (a, b), (rho, sd) in itertools.product(
        SIZES, ((0.9, 0.7), (0.983, 0.9)), ((0.5, 1.0), (0.9, 1.0), (0.5, 2.0))
    ):
        ds = experiments(rng, positive, negative, (a, b), sd, rho)
        for test in ("t", "delong"):
            found = ds.rankeval.compare_area("a", "b", test=test)
            held = (found["ci_low"] <= a - b + 1e-12) & (a - b - 1e-12 <= found["ci_high"])
            rows.append(("difference", positive, negative, a, b, sd, rho, test, *share(held)))
    names = ["what", "positive", "negative", "area_a", "area_b", "sd", "rho", "by", "share", "se"]
    pd.DataFrame(rows, columns=names).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
    main()
