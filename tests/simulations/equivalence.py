"""Size at the margin of the tests of non-inferiority, of which equivalence takes two."""

from itertools import groupby, product

import numpy as np
from scipy import special, stats
from scipy.stats import binom

from rankeval_pd.curves import area_differences
from rankeval_pd.curves.areas import of_precision_gap, precision_gap
from rankeval_pd.lists.groups import ListPair, difference
from rankeval_pd.stats import two_by_two
from rankeval_pd.stats.differences import (
    corrected_score,
    difference_score,
    paired_p,
    paired_score,
    region_p,
)
from rankeval_pd.stats.gains import margin_p
from rankeval_pd.stats.items import METRICS, Items, Seeds
from rankeval_pd.stats.proportions import INTERVALS, agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.simulations import study
from tests.simulations.areas import truth
from tests.simulations.paired_sizes import f1_statistics

ALPHA = 0.05
Z = special.ndtri(1 - ALPHA)
AT_ONCE, PARTS = 10_000, 4
LISTS = 2_000


def paired(n, margin):
    """Return the sizes of the exact test and of Tango's, over all shares of discordant items."""
    x, y = np.array([(x, y) for y in range(n + 1) for x in range(n - y + 1)]).T
    exact = np.array([paired_p(*t, n, margin) for t in zip(x, y, strict=True)]) <= ALPHA
    with np.errstate(all="ignore"):
        tango = paired_score(x, y, float(n), -margin) >= Z
    q = np.linspace(margin, (1.0 + margin) / 2.0, 2001)[:, np.newaxis]
    p = q - margin
    rest = np.maximum(1.0 - p - q, 0.0)
    choose = special.gammaln(n + 1) - sum(special.gammaln(k + 1) for k in (x, y, n - x - y))
    chance = np.exp(
        choose + special.xlogy(x, p) + special.xlogy(y, q) + special.xlogy(n - x - y, rest)
    )
    return float((chance @ exact).max()), float((chance @ tango).max())


def regions(m, margin):
    """Return the sizes of the exact test and of the score test, over all precisions."""
    x, y = (k.ravel() for k in np.indices((m + 1, m + 1)))
    exact = np.array([region_p(int(a), m, int(b), m, margin) for a, b in zip(x, y, strict=True)])
    score = difference_score(x, m, y, m, -margin) >= Z
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


def sizes_of(items, gain, n):
    """Return the sizes for systems 2k and 2k + 1, whose true gain this is; margin is its size."""
    score = items.score(items.totals)
    pairs = np.arange(items.n_systems).reshape(-1, 2)
    p = margin_p(items, pairs, score[::2] - score[1::2], -gain, "greater", ALPHA)
    drawn = items.drawn[::2, :, 0] - items.drawn[1::2, :, 0]
    t = (drawn.mean(axis=1) - gain) / stats.sem(drawn, axis=1)
    return float((p <= ALPHA).mean()), float((special.stdtr(n - 1.0, -t) <= ALPHA).mean())


def means(rng, law, tail, n):
    noise = LAWS[law](rng, (AT_ONCE, n)) * (1.0 if tail == "right" else -1.0)
    base = rng.normal(size=noise.shape)
    return sizes_of(study.of_mean(study.in_pairs(base + noise - 0.3, base)), -0.3, n)


def f1(rng, n):
    """Return the size for F1 of a system that finds .55 and one that finds .65 of the gold."""
    score, share = METRICS["f1"].score, np.array([0.55, 0.65])[:, np.newaxis]
    true = score(f1_statistics(rng, 1, 2_000_000, share).sum(axis=1))
    items = Items(f1_statistics(rng, AT_ONCE, n, share), None, score, 1.0, None)
    return sizes_of(items, float(true[0] - true[1]), n)


def groups(rng, n):
    cluster = np.repeat(np.arange(n), np.tile([1, 3, 5, 9], n)[:n])
    shared = rng.normal(size=(AT_ONCE, n))[:, cluster]
    base, noise = rng.normal(size=(2, *shared.shape))
    values = study.in_pairs(base + noise + shared - 0.3, base)
    return sizes_of(study.of_mean(values, cluster), -0.3, n)


def seeds(rng, n):
    """Return the size where trainings vary by as much as the mean over items does."""
    trained = rng.normal(size=(2 * AT_ONCE, 3)) * (1.0 / np.sqrt(n))
    base, noise = rng.normal(size=(2, AT_ONCE, n))
    values = study.in_pairs(base + noise - 0.3, base) + trained.mean(axis=1, keepdims=True)
    count = len(trained)
    error = trained.std(axis=1, ddof=1) / np.sqrt(3)
    of_seeds = Seeds(error, np.full(count, 2.0), np.full(count, 3))
    return sizes_of(study.of_mean(values, seeds=of_seeds), -0.3, n)


def areas(
    rng, kind, two, n, others,
    correlation,
):  # fmt: skip
    gold = np.broadcast_to(np.arange(n + others) < n, (AT_ONCE, n + others))
    quality = np.sqrt(2.0) * special.ndtri(two)
    shared, own = rng.normal(size=(2, *gold.shape))
    a = shared + gold * quality[0]
    b = correlation * shared + np.sqrt(1.0 - correlation**2) * own + gold * quality[1]
    rankings = [study.ranking(score, gold) for score in (a, b)]
    if kind == "roc":
        margin = two[1] - two[0]
        found = area_differences.roc_gap(*rankings, test="t", alternative="greater")
        interval = area_differences.OF_ROC_GAP
    else:
        margin = -np.subtract(*(truth(q, n / (n + others)) for q in quality))
        found = precision_gap(*rankings, alternative="greater")
        interval = of_precision_gap()
    # above the margin where p is at most ALPHA
    low, _ = interval.limits(*(found[x] for x in interval.columns), level=1.0 - 2.0 * ALPHA)
    t = special.stdtr(found["freedom"], -(found["difference"] + margin) / found["se"])
    return float((low > -margin).mean()), float((t <= ALPHA).mean())


def lists(rng, n_clusters):
    cluster = np.repeat(np.arange(n_clusters), 5)
    n, found = np.array([round(1.5 * n_clusters)]), []
    for _ in range(LISTS):
        gold, common = (study.together(rng, cluster, 0.3) for _ in range(2))
        gold = study.upper_quarter(gold)
        ranks = [
            study.ranking(q * gold + 0.77 * common + 0.63 * own, gold).ranks
            for q, own in ((q, study.together(rng, cluster, 0.3)) for q in (1.0, 1.5))
        ]
        one = difference(ListPair(*ranks, gold, np.unique(cluster), None, cluster), n)
        found.append((one.value[0] / n[0], one.error[0] / n[0], float(one.spread.freedom[0])))
    value, error, freedom = np.array(found).T
    return float((special.stdtr(freedom, -(value - value.mean()) / error) <= ALPHA).mean())


def in_parts(size_of, *setting):
    return np.mean([size_of(*setting) for _ in range(PARTS)], axis=0)


def rows():
    for kind, size_of, sizes, margins in (
        ("paired", paired, (10, 20, 30, 50), (0.05, 0.1, 0.2)),
        ("regions", regions, (5, 10, 20, 40), (0.1, 0.2, 0.4)),
    ):
        for n, margin in product(sizes, margins):
            size, other = size_of(n, margin)
            yield {"kind": kind, "n": n, "margin": margin, "size": size, "other": other}
    rng = np.random.default_rng(2026)
    sizes, samples = (20, 30, 50, 100), PARTS * AT_ONCE
    for law in LAWS:
        for tail, n in product(("right", "left") if law[0] in "se" else ("right",), sizes):
            size, other = in_parts(means, rng, law, tail, n)
            setting = law if law[0] not in "se" else f"{law}, {tail} tail"
            yield {"kind": "mean", "setting": setting, "n": n, "samples": samples,
                   "size": size, "other": other}  # fmt: skip
    for (kind, size_of), n in product((("F1", f1), ("groups", groups), ("seeds", seeds)), sizes):
        size = in_parts(size_of, rng, n)[0]
        yield {"kind": kind, "n": n, "samples": samples, "size": size}
    sizes = ((10, 10), (10, 100), (20, 50), (50, 200))
    for number, (kind, two, (n, others), correlation) in enumerate(
        product(("roc", "ap"), ((0.75, 0.8), (0.93, 0.98)), sizes, (0.0, 0.5, 0.9))
    ):
        own = np.random.default_rng([2026, number])
        size, other = areas(own, kind, two, n, others, correlation)
        yield {
            "kind": kind, "setting": f"{two[0]} against {two[1]}", "n": n, "others": others,
            "correlation": correlation, "samples": AT_ONCE, "size": size, "other": other,
        }  # fmt: skip
    for n in (20, 40, 100):
        yield {"kind": "list", "n": n, "samples": LISTS, "size": lists(rng, n)}


P_VALUES = {
    "fisher": lambda *table: two_by_two.fisher_test(*table).p_value,
    "midp": lambda *table: two_by_two.fisher_test(*table).p_mid,
    "mcnemar": two_by_two.mcnemar_test,
}
SIZES = (5, 10, 20, 50, 100, 500)
REGIONS = (5, 10, 20, 50)
PRECISIONS = np.linspace(0.005, 0.995, 199)


def coverage(ci, n, level):
    """Return the coverage of an interval at each precision, from all counts of n."""
    tp = np.arange(n + 1)
    low, high = INTERVALS[ci](tp, n, level)
    p = PRECISIONS[:, np.newaxis]
    return (stats.binom.pmf(tp, n, p) * ((low <= p) & (p <= high))).sum(axis=1)


def size(test, n):
    """Return how often two regions of n are found different, from all pairs of counts."""
    tp = np.arange(n + 1)
    a, b = (x.ravel() for x in np.meshgrid(tp, tp, indexing="ij"))
    p_value = np.asarray(P_VALUES[test](a, n, b, n, "two-sided")).reshape(n + 1, n + 1)
    law = stats.binom.pmf(tp, n, PRECISIONS[:, np.newaxis])
    return np.einsum("ki,ij,kj->k", law, p_value <= 0.05, law)


def paired_outcomes(n):
    """Return all outcomes (only a right, only b right, the rest), and the p-values of the tests."""
    outcomes = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    one_sided = {
        "paired_bootstrap": two_by_two.paired_tails(*outcomes[:, :2].T, n),
        "paired_permutation": stats.binom.sf(outcomes[:, 0] - 1, n - outcomes[:, 2], 0.5),
    }
    return outcomes, {test: 2.0 * np.asarray(p) for test, p in one_sided.items()}


def chance(outcomes, only_a, only_b, n):
    law = stats.multinomial(n, [only_a, only_b, 1.0 - only_a - only_b])
    return float(law.pmf(outcomes).sum())


def enumerated_rows():
    """Coverage of intervals of a proportion, and sizes of tests of two, by enumeration."""
    for ci, n, level in product(INTERVALS, SIZES, (0.9, 0.95, 0.99)):
        found = coverage(ci, n, level)
        yield "interval", ci, n, level, found.min(), found.mean()
    for test, n in product(P_VALUES, REGIONS):
        found = size(test, n)
        yield "test", test, n, 0.95, found.max(), found.mean()
    for n, a, b in ((30, 0.8, 0.5), (50, 0.75, 0.5), (100, 0.68, 0.5)):
        outcomes, p_values = paired_outcomes(n)
        for test, p in p_values.items():
            rejected = outcomes[p <= 0.05]
            found = [2.0 * chance(rejected, d / 2, d / 2, n) for d in PRECISIONS]
            yield "paired", test, n, 0.95, max(found), np.mean(found)
            found = chance(rejected, a * (1 - b), b * (1 - a), n)
            yield "power", test, n, 0.95, found, found


#: items, share of discordant items: as an audit asked, and harder ones
ASKED = (
    *product((20, 30, 45, 60, 80, 120, 200), (0.08, 0.2, 0.4)),
    *product((300, 500, 1_000), (0.02, 0.08)),
    *((1_500, 0.01), (2_100, 0.002)),
)
SHARES = np.sin(np.linspace(0.0, np.pi / 2, 1_500))[:, np.newaxis] ** 2


def chance_of(least, share, won):
    """Return how often one of two systems has at least these wins among the discordant items."""
    m = np.arange(least.size)
    tails = binom.sf(least - 1, m, won) + binom.cdf(m - least, m, won)
    return binom.pmf(m, least.size - 1, share) @ np.where(least <= m, tails, 0.0)


def peers(n):
    """Return the least wins of the tests of other orders that are valid at 5%."""
    m, wins = np.indices((n + 1, n + 1))
    exact = 2.0 * binom.sf(wins - 1, m, 0.5)
    score = 2.0 * special.ndtr((m - 2 * wins) / np.sqrt(np.maximum(m, 1)))
    for name, order in {
        "Boschloo": exact, "mid-p": exact - binom.pmf(wins, m, 0.5), "score": score,
    }.items():  # fmt: skip
        rows = np.where((2 * wins > m) & (wins <= m), order, 9.0 * (wins <= m))
        values = np.unique(rows[(rows > 0.0) & (rows < 0.2)].round(12))
        low, high = 0, values.size
        while high - low > 1:
            middle = (low + high) // 2
            least = (rows > values[middle] + 1e-12).sum(axis=1)
            valid = chance_of(least, SHARES, 0.5).max() <= ALPHA
            low, high = (middle, high) if valid else (low, middle)
        yield name, (rows > values[low] + 1e-12).sum(axis=1)


def unconditional_rows():
    """Size and power of the unconditional test, and the best valid peer, by enumeration."""
    for n, found in groupby(ASKED, lambda asked: asked[0]):
        mcnemar = binom.isf(ALPHA / 2, np.arange(n + 1), 0.5).astype(int) + 1
        own = two_by_two.critical_wins(n, ALPHA / 2)
        own = np.append(own, mcnemar[own.size :])
        tests = {"McNemar": mcnemar, **dict(peers(n))}
        size = chance_of(own, SHARES, 0.5).max()
        for _, differ in found:
            won = np.linspace(0.52, 0.999, 60)
            at = won[np.abs([chance_of(mcnemar, differ, x) - 0.5 for x in won]).argmin()]
            power = {name: chance_of(least, differ, at) for name, least in tests.items()}
            best = max(power, key=power.get)
            yield (
                n,
                differ,
                at,
                size,
                chance_of(own, differ, at),
                power["McNemar"],
                best,
                power[best],
            )


ENDS = np.array([0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.015, 0.025])
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), ENDS, 1.0 - ENDS]))
EQUAL_SIZES = (*range(1, 11), 12, 14, 17, 20, 25, 30, 40, 50, 60, 75, 100)


def limits(size, level):
    """Return the limits of all tables as compare has them, and Fisher's p-values."""
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    n = np.full(a.shape, size)
    p = fisher_test(a, n, b, n, "two-sided").p_value
    return *agree_with_test(*corrected_score(a, n, b, n, level), p, "two-sided", level), p


def pair_coverage(low, high, size):
    """Return the probability that the interval holds the difference, for each pair on the grid."""
    law = binom.pmf(np.arange(size + 1)[:, np.newaxis], size, GRID)
    found = np.empty((GRID.size, GRID.size))
    for i, a in enumerate(GRID):
        held = study.covers(low[..., np.newaxis], high[..., np.newaxis], a - GRID)
        found[i] = np.einsum("a,bg,abg->g", law[:, i], law, held, optimize=True)
    return found


def differences_rows():
    """Coverage of the interval of the difference of two regions of equal size, by enumeration."""
    for level, size in product((0.9, 0.95, 0.99), EQUAL_SIZES):
        low, high, p = limits(size, level)
        held = pair_coverage(low, high, size)
        a, b = np.unravel_index(held.argmin(), held.shape)
        zero, rejected = (low <= 0) & (high >= 0), p <= 1 - level
        yield (level, size, "score", held.min().round(4), GRID[a], GRID[b], held.mean().round(4),
               np.mean(high - low).round(4),
               int((~zero & ~rejected).sum()), int((zero & rejected).sum()))  # fmt: skip
