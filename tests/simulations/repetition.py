"""Samples of one measure, and thresholds of gains: tests, correlations and intervals."""

from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import proportions
from rankeval_pd.stats.proportions import clopper_pearson
from tests.simulations import study

SAMPLES = TABLES = 1_000
KINDS = {  # of sizes: a function of a generator and the number of samples
    "100": lambda rng, count: np.full(count, 100),
    "60 to 140": lambda rng, count: rng.integers(60, 141, count),
    "3 to 3,000": lambda rng, count: np.clip(np.exp(rng.normal(3.5, 1.6, count)), 3, 3000),
    "many of 1 to 5, few of 500": lambda rng, count: np.r_[
        rng.integers(1, 6, count - count // 6), rng.integers(300, 700, count // 6)
    ],
    "20": lambda rng, count: np.full(count, 20),
    "500": lambda rng, count: np.full(count, 500),
    "1 to 5": lambda rng, count: rng.integers(1, 6, count),
    "one of 5,000, others of 5": lambda rng, count: np.r_[5_000, np.full(count - 1, 5)],
}
AUDITED = [*KINDS][:4]
SETTINGS = [  # sizes, number of samples, correlation in a sample, precision
    *((kind, count, 0.0, pi) for kind in AUDITED for count in (10, 40, 80) for pi in (0.03, 0.3)),
    *((kind, 40, *both) for kind in AUDITED for both in ((0.02, 0.3), (0.01, 0.1))),
    # harder: few samples, long ways to other sizes, and sizes that share no order of magnitude
    ("100", 5, 0.02, 0.3), ("20", 40, 0.02, 0.3), ("500", 10, 0.1, 0.5),
    ("60 to 140", 20, 0.002, 0.3), ("many of 1 to 5, few of 500", 10, 0.02, 0.3),
    ("3 to 3,000", 10, 0.01, 0.1), ("1 to 5", 80, 0.0, 0.03),
    ("one of 5,000, others of 5", 80, 0.0, 0.03),
]  # fmt: skip


def shares(rng, correlation, precision, count):
    """Return the precision of each sample."""
    if not correlation:
        return np.full(count, precision)
    total = 1 / correlation - 1
    return rng.beta(precision * total, (1 - precision) * total, count)


def of_other_size(rng, n, correlation, precision, effects):
    """Return whether intervals of a new sample of n candidates hold the precision."""
    tp = rng.binomial(n, shares(rng, correlation, precision, len(effects)))
    effects = np.maximum(effects, 1.0)
    return study.covers(*clopper_pearson(tp / effects, n / effects, 0.95), precision).mean()


def rows():
    for number, (kind, count, correlation, precision) in enumerate(SETTINGS):
        rng = np.random.default_rng([53, number])
        found, chi2, sizes = [], [], []
        for seed in range(SAMPLES):
            n = KINDS[kind](rng, count).astype(int)
            tp = rng.binomial(n, shares(rng, correlation, precision, count))
            if not 0 < tp.sum() < n.sum():
                continue
            found.append(proportions.variation(tp, n, "wilson", 0.95, n_resamples=199, seed=seed))
            chi2.append(stats.chi2.sf(found[-1].phi * (count - 1), count - 1))
            sizes.append(n.max() > 3 * n.min())
        table = pd.DataFrame(found)
        rejected = float((table["p_dispersion"] <= 0.05).sum() / SAMPLES)
        row = {
            "sizes": kind, "samples": count, "correlation": correlation, "precision": precision,
            "size": None if correlation else rejected, "power": rejected if correlation else None,
            "chi2": float((np.array(chi2) <= 0.05).sum() / SAMPLES),
            "icc": study.covers(table["icc_low"], table["icc_high"], correlation).mean(),
        }  # fmt: skip
        for n in (20, 100, 1_000):
            for name in ("icc", "icc_high"):
                effect = 1 + (n - 1) * table[name]
                row[f"{name}_{n}"] = of_other_size(rng, n, correlation, precision, effect)
            row[f"phi_{n}"] = of_other_size(rng, n, correlation, precision, table["phi"])
        yield {**row, "warned": np.mean(sizes), "repetitions": SAMPLES}


STUDIES = [  # systems, items, spreads of their scores, and the spread of their qualities
    *((systems, 400, 0.3, 1.5, 0.08) for systems in (12, 25, 45, 90)),
    # harder: few items, spreads alike or very different, few or many gains near 0
    (45, 50, 0.3, 1.5, 0.08), (90, 50, 0.3, 1.5, 0.2), (45, 400, 1.0, 1.0, 0.08),
    (90, 400, 1.0, 1.0, 0.02), (45, 400, 0.1, 3.0, 0.08), (90, 400, 0.1, 3.0, 0.02),
    (25, 1_000, 0.3, 1.5, 0.3), (120, 100, 0.3, 1.5, 0.08),
]  # fmt: skip


def pairs_of(rng, systems, n, least, most, quality):
    """Return a table of pairs of systems that share items, tested by Student's t."""
    spread, skill = rng.uniform(least, most, systems), rng.normal(0, quality, systems)
    x = rng.standard_normal((n, 1)) + skill + spread * rng.standard_normal((n, systems))
    mean, covariance, (a, b) = x.mean(axis=0), np.cov(x.T), np.triu_indices(systems, 1)
    variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    gain, se = np.abs(mean[a] - mean[b]), np.sqrt(variance / n)
    table = pd.DataFrame({"system_a": a, "system_b": b, "gain": gain, "gain_se": se, "n_items": n})
    table["p_value"] = stats.t.sf(gain / se, n - 1)
    table.attrs["alternative"] = "greater"
    return table


def gain_threshold_rows():
    names = ("systems", "items", "least", "most", "quality")
    for number, setting in enumerate(STUDIES):
        rng = np.random.default_rng([54, number])
        whole = pd.concat([pairs_of(rng, 90, *setting[1:]) for _ in range(300)])
        near = whole.loc[whole["p_value"].between(0.04, 0.06), "gain"]
        truth = near.quantile(0.95)
        tables = [pairs_of(rng, *setting) for _ in range(TABLES)]
        found = pd.concat([rankeval_pd.gain_threshold(table) for table in tables])
        ordered = pd.concat([rankeval_pd.gain_threshold(table, ci="order") for table in tables])
        held = [
            study.covers(x["threshold_low"], x["threshold_high"], truth)[x["n_pairs"] > 0].mean()
            for x in (found, ordered)
        ]
        yield {
            **dict(zip(names, setting, strict=True)),
            "pairs": found["n_pairs"].median(), "threshold": found["threshold"].median() / truth,
            "all_pairs": found["threshold_all_pairs"].median() / truth,
            "low": (found["threshold"] < 0.9 * truth).mean(),
            "all_low": (found["threshold_all_pairs"] < 0.9 * truth).mean(),
            "covers": held[0], "order_covers": held[1],
            "warned": study.warned(partial(rankeval_pd.gain_threshold, x) for x in tables[:40]),
            "repetitions": TABLES,
        }  # fmt: skip
