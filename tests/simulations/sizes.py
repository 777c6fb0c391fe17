"""Sizes of one-sided paired tests at 5%, by enumeration and by seeded simulation."""

from math import comb

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.stats import bootstrap
from rankeval_pd.stats.bootstrap import DrawnSum, SignedSum
from rankeval_pd.stats.items import METRICS, WholeColumns, count_chunks, swap_chunks
from tests.simulations import study

B = 999
LEVEL = 0.05
RULES = ("strict", "recentred", "below 0", "zero", "sign-flip", "t", "bca")
DISCORDANT = {"0/1, 100 items, 10% discordant": 0.10, "0/1, 200 items, 2% discordant": 0.02}
KINDS = {
    "normal, 30 items": (30, lambda rng, n: rng.normal(size=n)),
    "right skew, 30 items": (30, lambda rng, n: rng.exponential(size=n) - 1.0),
    "left skew, 30 items": (30, lambda rng, n: 1.0 - rng.exponential(size=n)),
    "0/1, 100 items, 10% discordant": (100, lambda rng, n: signs(rng, n, 0.10)),
    "0/1, 200 items, 2% discordant": (200, lambda rng, n: signs(rng, n, 0.02)),
}


def signs(rng, n, share):
    """Return differences of two 0/1 metrics: as many wins as losses are expected."""
    return rng.choice([-1.0, 0.0, 1.0], n, p=[share / 2, 1 - share, share / 2])


def enumerated(n, share):
    """Return the exact sizes of the first five rules for 0/1 metrics: all wins and losses."""
    size = dict.fromkeys(RULES[:5], 0.0)
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            differ = wins + losses
            ways = comb(n, wins) * comb(n - wins, losses)
            chance = ways * (share / 2) ** differ * (1 - share) ** (n - differ)
            if chance < 1e-14:
                continue
            d = np.repeat([1, -1, 0], [wins, losses, n - differ])
            drawn, turned, gain = DrawnSum(d), DrawnSum(-d), wins - losses
            p = (
                drawn.tail(2 * gain + 1), drawn.tail(2 * gain), turned.tail(1), turned.tail(0),
                SignedSum(d).tail(gain),
            )  # fmt: skip
            for rule, found in zip(size, p, strict=True):
                size[rule] += chance * (found <= LEVEL)
    return size


def decisions(d, seed):
    """Return which rules declare the first system better, from one matrix of counts."""
    n, gain, score = d.size, float(d.mean()), METRICS["mean"].score
    values = study.of_mean(np.stack([d, 0.0 * d])).statistics
    scores = []
    flat = WholeColumns(np.moveaxis(values, 1, 0).reshape(n, -1), n)
    for weights in count_chunks(n, B, seed):
        sums = flat.floats(flat.sums(weights)).reshape(-1, 2, 2)
        scores.append(score(sums))
    drawn = np.concatenate(scores)
    gains = drawn[:, 0] - drawn[:, 1]
    scale = max(float(np.abs(drawn).max()), abs(gain))
    low, _ = bootstrap.interval(
        "bca", gain, gains, level=1 - 2 * LEVEL, scale=scale, without=(d.sum() - d) / (n - 1)
    )
    hits = {
        event: bootstrap.happened(gains, gain, event, scale, centered=True)
        for event in ("strict", "recentred", "zero")
    }
    swaps = np.concatenate(list(swap_chunks(n, B, seed)))
    flipped = d.mean() - 2.0 * (swaps @ d) / n
    hits["sign-flip"] = np.count_nonzero(flipped >= gain - 1e-12 * scale)
    p = {event: (count + 1) / (B + 1) for event, count in hits.items()}
    p["strict"] = hits["strict"] / B
    p["below 0"] = np.count_nonzero(gains < -1e-12 * scale) / B
    sd = d.std(ddof=1)
    p["t"] = stats.t.sf(gain / (sd / np.sqrt(n)), n - 1) if sd > 0 else 1.0
    found = {rule: bool(p[rule] <= LEVEL) for rule in p}
    return {**found, "bca": bool(low > 0.0)}


def simulated(kind, repetitions, seed):
    n, draw = KINDS[kind]
    number = list(KINDS).index(kind)
    rng = np.random.default_rng([seed, number])
    found = [decisions(draw(rng, n), [seed, number, k]) for k in range(repetitions)]
    return pd.DataFrame(found)[list(RULES)]


def rows(repetitions=10_000):
    for kind, (n, _) in KINDS.items():
        size = simulated(kind, repetitions, 1).mean()
        exact = enumerated(n, DISCORDANT[kind]) if kind in DISCORDANT else {}
        for rule in RULES:
            if rule in exact:
                yield kind, rule, exact[rule], 0.0, 0
            else:
                yield kind, rule, size[rule], study.error(size[rule], repetitions), repetitions
