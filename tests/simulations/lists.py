"""Intervals of n-best lists, default calls: precision, recall and lift, and their differences."""

from itertools import product

import numpy as np
import xarray as xr
from scipy import optimize, special, stats

from tests.simulations import study

SAMPLES = 2_000
AT_ONCE = 1_000_000  # candidates in memory
SHARES = (0.25, 0.5, 1.0, 1.5, 3.0)  # n / N+ of the audit

#: N, prevalence, quality and spread of the positives, shares n / N+, and whether N+ is fixed
AUDITED = [
    (total, prevalence, *quality, SHARES, False)
    for total, prevalence, quality in product(
        (300, 1_200, 4_000), (0.05, 0.15, 0.4),
        ((0.7, 1.0), (1.4, 1.0), (2.2, 1.0), (3.2, 1.0), (1.2, 2.0)),
    )
]  # fmt: skip
#: near-perfect rankings, in which all positives fit into the list, or only they do
PERFECT = [
    (total, prevalence, quality, 1.0, (share,), fixed)
    for fixed, (total, prevalence, quality, share) in product(
        (False, True),
        (
            (1_000, 0.02, 6.0, 1.0), (1_000, 0.02, 4.0, 1.0), (1_000, 0.02, 3.0, 1.0),
            (1_000, 0.1, 6.0, 1.0), (1_000, 0.1, 4.0, 1.0), (5_000, 0.01, 5.0, 1.0),
            (400, 0.3, 5.0, 1.0), (400, 0.3, 5.0, 1.1), (1_000, 0.02, 6.0, 1.5),
            (1_000, 0.1, 6.0, 0.8), (1_000, 0.1, 4.0, 1.2),
        ),
    )
]  # fmt: skip
HARDER = [
    (200, 0.05, 5.0, 1.0, (1.0,), False), (2_000, 0.005, 6.0, 1.0, (1.0,), False),
    (400, 0.1, 8.0, 1.0, (1.0,), False), (1_000, 0.5, 6.0, 1.0, (1.0,), False),
    (500, 0.1, 5.0, 1.0, (0.7, 1.4), False), (100, 0.3, 2.0, 1.0, (0.2, 1.0), False),
    (1_000, 0.01, 2.0, 1.0, (0.5, 2.0), False), (400, 0.2, 2.5, 0.3, (0.5, 1.0), False),
]  # fmt: skip
#: N, prevalence, two qualities, their correlation, and shares n / N+
DIFFERENCES = [
    *(
        (total, prevalence, *pair, (0.3, 1.0, 2.0))
        for total, prevalence, pair in product(
            (400, 1_500), (0.08, 0.25),
            (
                (1.0, 1.0, 0.5), (1.2, 0.8, 0.5), (2.2, 2.2, 0.3), (2.4, 1.8, 0.7),
                (3.2, 3.2, 0.5), (3.4, 2.6, 0.5), (2.0, 0.3, 0.2),
            ),
        )
    ),
    (1_000, 0.02, 2.5, 0.8, 0.3, (1.0,)), (1_000, 0.02, 3.0, 1.5, 0.3, (2.0,)),
    (500, 0.04, 2.5, 0.5, 0.3, (1.0,)), (1_000, 0.1, 2.5, 1.0, 0.3, (0.6,)),
    (300, 0.1, 3.0, 1.0, 0.3, (1.0,)), (2_000, 0.03, 3.0, 0.5, 0.3, (1.0,)),
]  # fmt: skip
HARDER_DIFFERENCES = [
    (2_000, 0.02, 4.0, 1.0, 0.3, (0.75,)), (2_000, 0.02, 5.0, 1.0, 0.3, (1.0, 1.5)),
    (400, 0.05, 4.0, 0.0, 0.5, (0.5,)), (1_000, 0.1, 5.0, 4.0, 0.5, (0.8,)),
    (200, 0.5, 2.5, 1.0, 0.3, (0.8,)), (1_000, 0.01, 2.5, 0.5, 0.3, (2.0,)),
    (400, 0.05, 1.0, 2.5, 0.2, (2.0,)), (1_000, 0.05, 2.0, 0.0, 0.0, (4.0,)),
]  # fmt: skip


def recall_of(share, prevalence, quality, spread=1.0):
    """Return the recall of the best candidates of the population, which are this share."""

    def excess(cut):
        true = prevalence * special.ndtr((quality - cut) / spread)
        return true + (1.0 - prevalence) * special.ndtr(-cut) - share

    return special.ndtr((quality - optimize.brentq(excess, -12.0, 30.0)) / spread)


def asked(rng, total, prevalence, measures, correlation=0.0, spread=1.0, *, fixed=False):
    """Yield accessors of samples whose measures have these qualities, some at once."""
    each = max(1, AT_ONCE // total)
    for start in range(0, SAMPLES, each):
        shape = (min(each, SAMPLES - start), total)
        gold = rng.random(shape) < prevalence
        if fixed:
            gold = np.broadcast_to(np.arange(total) < round(total * prevalence), shape)
        shared, scores = rng.standard_normal(shape), {}
        for name, quality in zip("ab", measures, strict=False):
            own = rng.standard_normal(shape)
            noise = correlation**0.5 * shared + (1.0 - correlation) ** 0.5 * own
            scores[name] = np.where(gold, quality + spread * noise, noise)
        yield study.dataset(scores, gold).rankeval(gold="gold", measures=[*scores], dim="candidate")


def shares_of(tables, truth):
    """Return, for each n, how often intervals hold the truth, and their median width."""
    found = xr.concat(tables, "sample")
    held = study.covers(found["ci_low"], found["ci_high"], xr.DataArray(truth, dims="n"))
    rows = held.mean("sample"), (found["ci_high"] - found["ci_low"]).median("sample")
    return [x.squeeze().values.reshape(-1) for x in rows]


def sizes_of(total, prevalence, shares):
    """Return the list sizes of 10 or more candidates, up to nine tenths of all."""
    sizes = {max(10, round(total * prevalence * share)) for share in shares}
    return sorted(n for n in sizes if n <= 0.9 * total)


def rows():
    yield from of_lists()
    yield from of_differences()


def of_lists():
    for number, (total, prevalence, quality, spread, shares, fixed) in enumerate(
        [*AUDITED, *PERFECT, *HARDER]
    ):
        n = sizes_of(total, prevalence, shares)
        recall = np.array([recall_of(x / total, prevalence, quality, spread) for x in n])
        precision = recall * prevalence * total / np.array(n)
        tables = {"precision": [], "region": [], "recall": []}
        rng = np.random.default_rng(number)
        for call in asked(rng, total, prevalence, [quality], spread=spread, fixed=fixed):
            tables["precision"].append(call.nbest_precision(n))
            tables["region"].append(call.nbest_precision(n, target="region"))
            tables["recall"].append(call.nbest_recall(n))
        (held, width), (paper, plain) = (
            shares_of(tables[x], precision) for x in ("precision", "region")
        )
        setting = (total, prevalence, quality, spread, "", "fixed" * fixed)
        for k, size in enumerate(n):
            yield "precision", *setting, size, precision[k], held[k], paper[k], width[k] / plain[k]
        held, width = shares_of(tables["recall"], recall)
        for k, size in enumerate(n):
            yield "recall", *setting, size, recall[k], held[k], "", ""


def of_differences():
    for number, (total, prevalence, a, b, correlation, shares) in enumerate(
        [*DIFFERENCES, *HARDER_DIFFERENCES]
    ):
        n = sizes_of(total, prevalence, shares)
        first, second = (
            np.array([recall_of(x / total, prevalence, quality) for x in n]) for quality in (a, b)
        )
        tables = {"precision": [], "region": [], "recall": []}
        rng = np.random.default_rng(1_000 + number)
        for call in asked(rng, total, prevalence, [a, b], correlation):
            tables["precision"].append(call.compare("a", "b", n))
            tables["region"].append(call.compare("a", "b", n, target="region"))
            tables["recall"].append(call.compare("a", "b", n, of="recall"))
        truth = {"recall": first - second}
        truth["precision"] = truth["region"] = truth["recall"] * prevalence * total / np.array(n)
        found = {name: shares_of(tables[name], truth[name]) for name in tables}
        for of, k in product(("precision", "recall"), range(len(n))):
            row = [f"difference of {of}", total, prevalence, a, b, correlation, "", n[k]]
            row += [truth[of][k], found[of][0][k], "", ""]
            if of == "precision":
                (_, width), (paper, plain) = found[of], found["region"]
                row[-2:] = paper[k], width[k] / plain[k]
            yield row


def fisher_power_rows():
    """Power of the tests of two difference regions of equal size, by enumeration."""
    for size in (13, 20, 30, 47):
        counts = np.arange(size + 1)
        a, b = np.meshgrid(counts, counts, indexing="ij")
        fisher = np.minimum(2.0 * np.minimum(*tails(a, b, size)), 1.0)
        nuisance = stats.binom.pmf(counts, size, np.linspace(0.001, 0.999, 999)[:, np.newaxis])
        # Boschloo's test rejects up to the largest p of Fisher's test at which its size is .05
        cut = 0.0
        for p in np.unique(fisher.round(12)):
            reject = (fisher <= p + 1e-9).astype(float)
            if np.einsum("px,xy,py->p", nuisance, reject, nuisance, optimize=True).max() > 0.05:
                break
            cut = p
        for low, gap in product((0.05, 0.1, 0.2, 0.35, 0.5), (0.15, 0.25, 0.35, 0.45)):
            laws = [stats.binom.pmf(counts, size, share) for share in (low + gap, low)]
            power = [float(laws[0] @ (fisher <= p + 1e-9) @ laws[1]) for p in (0.05, cut)]
            yield size, round(low + gap, 2), low, *power


def tails(a, b, size):
    """Return the probabilities of at least, and of at most, a true positives of a + b."""
    law = stats.hypergeom(2 * size, a + b, size)
    return law.sf(a - 1), law.cdf(a)
