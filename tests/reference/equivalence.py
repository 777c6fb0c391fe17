"""Size at the margin of the tests of non-inferiority, of which equivalence takes two.

The true difference is -margin, and the size is the share of samples with p <= .05, one-sided. It is
an upper bound of the size of the test of equivalence. ``python tests/reference/equivalence.py``
writes equivalence.csv beside itself; half an hour. ``kind``:

* "paired", "regions": ``size`` is the largest size over all values of the nuisance parameter, all
  tables enumerated; ``other`` that of the score test of Tango, or of Farrington and Manning;
* "mean": 40,000 samples of items with this law of differences, its tail to the right or the left;
  ``other`` is the size of Student's t. "F1", "groups", "seeds": the same, of a ratio of sums,
  of clusters of 1 to 9 items, of 3 training seeds of each system;
* "roc", "ap": 10,000 samples of ``n`` positives and ``others``, normal scores, areas .75 against .8
  or .93 against .98; ``other`` is the size of Student's t with DeLong's error;
* "list": 2,000 samples of n clusters of 5 candidates, lists of 30% of them.
"""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from average_precision import truth
from scipy import special, stats

from rankeval_pd.curves import area_differences
from rankeval_pd.curves import areas as ranking_areas
from rankeval_pd.lists import groups as grouped_lists
from rankeval_pd.stats import differences
from rankeval_pd.stats.differences import paired_p, region_p
from rankeval_pd.stats.gains import margin_p
from rankeval_pd.stats.items import METRICS, Items, Seeds
from rankeval_pd.stats.ranking import Ranking

ALPHA = 0.05
AT_ONCE, PARTS = 10_000, 4


def paired(n: int, margin: float) -> tuple[float, float]:
    """Return the sizes of the exact test and of Tango's, over all shares of discordant items."""
    tables = [(x, y) for y in range(n + 1) for x in range(n - y + 1)]
    x, y = np.array(tables).T
    exact = np.array([paired_p(*t, n, margin) for t in tables]) <= ALPHA
    with np.errstate(all="ignore"):
        tango = differences.paired_score(x, y, float(n), -margin) >= special.ndtri(1 - ALPHA)
    q = np.linspace(margin, (1.0 + margin) / 2.0, 2001)[:, np.newaxis]
    p = q - margin
    rest = np.maximum(1.0 - p - q, 0.0)
    choose = special.gammaln(n + 1) - sum(special.gammaln(k + 1) for k in (x, y, n - x - y))
    chance = np.exp(
        choose + special.xlogy(x, p) + special.xlogy(y, q) + special.xlogy(n - x - y, rest)
    )
    return float((chance @ exact).max()), float((chance @ tango).max())


def regions(m: int, margin: float) -> tuple[float, float]:
    """Return the sizes of the exact test and of the score test, over all precisions."""
    x, y = (k.ravel() for k in np.indices((m + 1, m + 1)))
    exact = np.array([region_p(int(a), m, int(b), m, margin) for a, b in zip(x, y, strict=True)])
    score = differences.difference_score(x, m, y, m, -margin) >= special.ndtri(1 - ALPHA)
    q = np.linspace(margin, 1.0, 2001)[:, np.newaxis]
    chance = stats.binom.pmf(x, m, np.maximum(q - margin, 0.0)) * stats.binom.pmf(y, m, q)
    return float((chance @ (exact <= ALPHA)).max()), float((chance @ score).max())


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t with 5 df": lambda rng, shape: rng.standard_t(5, size=shape),
    "skewness .7": lambda rng, shape: (rng.gamma(8.0, size=shape) - 8.0) / np.sqrt(8.0),
    "skewness 1": lambda rng, shape: (rng.gamma(4.0, size=shape) - 4.0) / 2.0,
    "skewness 1.4": lambda rng, shape: (rng.gamma(2.0, size=shape) - 2.0) / np.sqrt(2.0),
    "exponential": lambda rng, shape: rng.gamma(1.0, size=shape) - 1.0,
}


def sizes_of(items: Items, gain: float, freedom: float) -> tuple[float, float]:
    """Return the sizes for systems 2k and 2k + 1, whose true gain this is; margin is its size."""
    score = items.score(items.totals)
    pairs = np.arange(items.n_systems).reshape(-1, 2)
    p = margin_p(items, pairs, score[::2] - score[1::2], -gain, "greater", ALPHA)
    drawn = items.drawn[::2, :, 0] - items.drawn[1::2, :, 0]
    t = (drawn.mean(axis=1) - gain) / stats.sem(drawn, axis=1)
    return float((p <= ALPHA).mean()), float((special.stdtr(freedom, -t) <= ALPHA).mean())


def means(rng: np.random.Generator, law: str, tail: str, n: int, sets: int) -> tuple[float, float]:
    noise = LAWS[law](rng, (sets, n)) * (1.0 if tail == "right" else -1.0)
    base = rng.normal(size=(sets, n))
    values = np.stack([base + noise - 0.3, base], axis=1).reshape(2 * sets, n)
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    return sizes_of(Items(statistics, None, METRICS["mean"].score, 1.0, "mean"), -0.3, n - 1.0)


def f1(rng: np.random.Generator, n: int, sets: int) -> float:
    """Return the size for F1 of a system that finds .55 and one that finds .65 of the gold."""

    def drawn(sets: int, n: int) -> np.ndarray:
        gold = rng.integers(1, 9, (sets, 1, n)).repeat(2, axis=1)
        guess = np.maximum(gold + rng.integers(-2, 3, gold.shape), 0)
        correct = rng.binomial(np.minimum(gold, guess), np.array([0.55, 0.65])[:, np.newaxis])
        return np.stack([correct, guess, gold], axis=-1).reshape(2 * sets, n, 3).astype(float)

    true = METRICS["f1"].score(drawn(1, 2_000_000).sum(axis=1))
    items = Items(drawn(sets, n), None, METRICS["f1"].score, 1.0, None)
    return sizes_of(items, float(true[0] - true[1]), n - 1.0)[0]


def groups(rng: np.random.Generator, n: int, sets: int) -> float:
    sizes = np.tile([1, 3, 5, 9], n)[:n]
    cluster = np.repeat(np.arange(n), sizes)
    shared = rng.normal(size=(sets, n))[:, cluster]
    base, noise = rng.normal(size=(2, sets, cluster.size))
    values = np.stack([base + noise + shared - 0.3, base], axis=1).reshape(2 * sets, -1)
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    return sizes_of(Items(statistics, cluster, METRICS["mean"].score, 1.0, "mean"), -0.3, n - 1.0)[
        0
    ]


def seeds(rng: np.random.Generator, n: int, sets: int) -> float:
    """Return the size where trainings vary by as much as the mean over items does."""
    error = 1.0 / np.sqrt(n)
    trained = rng.normal(size=(2 * sets, 3)) * error
    base, noise = rng.normal(size=(2, sets, n))
    values = np.stack([base + noise - 0.3, base], axis=1).reshape(2 * sets, n)
    values += trained.mean(axis=1, keepdims=True)
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    of_seeds = Seeds(
        trained.std(axis=1, ddof=1) / np.sqrt(3), np.full(2 * sets, 2.0), np.full(2 * sets, 3)
    )
    items = Items(statistics, None, METRICS["mean"].score, 1.0, "mean", seeds=of_seeds)
    return sizes_of(items, -0.3, n - 1.0)[0]


def areas(
    rng: np.random.Generator, kind: str, areas: tuple[float, float], n: int, others: int,
    correlation: float, sets: int,
) -> tuple[float, float]:  # fmt: skip
    gold, here = np.arange(n + others) < n, np.ones((sets, n + others), bool)
    quality = np.sqrt(2.0) * special.ndtri(areas)
    shared, own = rng.normal(size=(2, sets, n + others))
    a = shared + gold * quality[0]
    b = correlation * shared + np.sqrt(1.0 - correlation**2) * own + gold * quality[1]
    rankings = [Ranking.of(score, gold, here) for score in (a, b)]
    if kind == "roc":
        margin = areas[1] - areas[0]
        found = area_differences.roc_gap(*rankings, test="t", alternative="greater")
        interval = area_differences.OF_ROC_GAP
    else:
        margin = -np.subtract(*(truth(q, n / (n + others)) for q in quality))
        found = ranking_areas.precision_gap(*rankings, alternative="greater", ties="blocks")
        interval = ranking_areas.of_precision_gap()
    # above the margin where p is at most ALPHA
    low, _ = interval.limits(*(found[x] for x in interval.columns), level=1.0 - 2.0 * ALPHA)
    t = special.stdtr(found["freedom"], -(found["difference"] + margin) / found["se"])
    return float((low > -margin).mean()), float((t <= ALPHA).mean())


def lists(rng: np.random.Generator, n_clusters: int, sets: int) -> float:
    cluster = np.repeat(np.arange(n_clusters), 5)

    def together():
        shared = rng.normal(size=n_clusters)[cluster]
        return np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=cluster.size)

    n, found = np.array([round(1.5 * n_clusters)]), []
    for _ in range(sets):
        gold, common = together() > stats.norm.ppf(0.75), together()
        scores = (q * gold + 0.77 * common + 0.63 * together() for q in (1.0, 1.5))
        here = np.ones(cluster.size, bool)
        ranks = [Ranking.of(score, gold, here).ranks for score in scores]
        one = grouped_lists.difference(*ranks, gold, cluster, n, "region")
        found.append((one.value[0] / n[0], one.error[0] / n[0], float(one.spread.freedom[0])))
    value, error, freedom = np.array(found).T
    return float((special.stdtr(freedom, -(value - value.mean()) / error) <= ALPHA).mean())


def in_parts(size_of, *setting):
    """Return the mean of the sizes of some samples at a time."""
    return np.mean([size_of(*setting, AT_ONCE) for _ in range(PARTS)], axis=0)


def rows():
    """Yield the rows of the table."""
    for n in (10, 20, 30, 50):
        for margin in (0.05, 0.1, 0.2):
            size, other = paired(n, margin)
            yield {"kind": "paired", "n": n, "margin": margin, "size": size, "other": other}
    for m in (5, 10, 20, 40):
        for margin in (0.1, 0.2, 0.4):
            size, other = regions(m, margin)
            yield {"kind": "regions", "n": m, "margin": margin, "size": size, "other": other}
    rng = np.random.default_rng(2026)
    for law in LAWS:
        for tail in ("right", "left") if law[0] in "se" else ("right",):
            for n in (20, 30, 50, 100):
                size, other = in_parts(means, rng, law, tail, n)
                setting = law if law[0] not in "se" else f"{law}, {tail} tail"
                yield {"kind": "mean", "setting": setting, "n": n, "samples": PARTS * AT_ONCE,
                       "size": size, "other": other}  # fmt: skip
    for kind, size_of in (("F1", f1), ("groups", groups), ("seeds", seeds)):
        for n in (20, 30, 50, 100):
            yield {
                "kind": kind,
                "n": n,
                "samples": PARTS * AT_ONCE,
                "size": in_parts(size_of, rng, n),
            }
    sizes = ((10, 10), (10, 100), (20, 50), (50, 200))
    for number, (kind, two, (n, others), correlation) in enumerate(
        product(("roc", "ap"), ((0.75, 0.8), (0.93, 0.98)), sizes, (0.0, 0.5, 0.9))
    ):
        own = np.random.default_rng([2026, number])
        size, other = areas(own, kind, two, n, others, correlation, AT_ONCE)
        yield {
            "kind": kind, "setting": f"{two[0]} against {two[1]}", "n": n, "others": others,
            "correlation": correlation, "samples": AT_ONCE, "size": size, "other": other,
        }  # fmt: skip
    for n in (20, 40, 100):
        yield {"kind": "list", "n": n, "samples": 2_000, "size": lists(rng, n, 2_000)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    columns = [
        "kind",
        "setting",
        "n",
        "margin",
        "others",
        "correlation",
        "samples",
        "size",
        "other",
    ]
    table = pd.DataFrame(rows(), columns=columns)
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False, float_format="%.6g")
