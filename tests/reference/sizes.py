"""Sizes of one-sided paired tests at 5%, by enumeration and by seeded simulation.

Writes sizes.csv: for each kind of differences and each rule, how often equal systems are declared
different, the standard error of that share (0: enumerated), and the number of simulated test sets.
"""

import sys
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats.bootstrap import DrawnSum, SignedSum
from rankeval_pd.stats.items import METRICS

B = 999
LEVEL = 0.05
RULES = ("strict", "recentred", "below 0", "zero", "sign-flip", "t", "studentised", "bca")
KINDS = {
    "normal, 30 items": (30, lambda rng, n: rng.normal(size=n)),
    "right skew, 30 items": (30, lambda rng, n: rng.exponential(size=n) - 1.0),
    "left skew, 30 items": (30, lambda rng, n: 1.0 - rng.exponential(size=n)),
    "0/1, 100 items, 10% discordant": (100, lambda rng, n: signs(rng, n, 0.10)),
    "0/1, 200 items, 2% discordant": (200, lambda rng, n: signs(rng, n, 0.02)),
}
DISCORDANT = {"0/1, 100 items, 10% discordant": 0.10, "0/1, 200 items, 2% discordant": 0.02}


def signs(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    """Return differences of two 0/1 metrics: as many wins as losses are expected."""
    return rng.choice([-1.0, 0.0, 1.0], n, p=[share / 2, 1 - share, share / 2])


def enumerated(n: int, share: float) -> dict[str, float]:
    """Return the exact sizes of the first five rules for 0/1 metrics: all wins and losses."""
    size = dict.fromkeys(RULES[:5], 0.0)
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            chance = (
                comb(n, wins) * comb(n - wins, losses)
                * (share / 2) ** (wins + losses) * (1 - share) ** (n - wins - losses)
            )  # fmt: skip
            if chance < 1e-14:
                continue
            d = np.repeat([1, -1, 0], [wins, losses, n - wins - losses])
            drawn, turned, gain = DrawnSum(d), DrawnSum(-d), wins - losses
            p = {
                "strict": drawn.tail(2 * gain + 1),
                "recentred": drawn.tail(2 * gain),
                "below 0": turned.tail(1),
                "zero": turned.tail(0),
                "sign-flip": SignedSum(d).tail(gain),
            }
            for rule, found in p.items():
                size[rule] += chance * (found <= LEVEL)
    return size


def decisions(d: np.ndarray, seed: list[int]) -> dict[str, bool]:
    """Return which rules declare the first system better, from one matrix of counts."""
    n = d.size
    values = np.stack([np.stack([d, np.ones(n)], axis=1), np.stack([0.0 * d, np.ones(n)], axis=1)])
    score = METRICS["mean"].score
    scores, errors = [], []
    pair = np.array([[0, 1]])
    flat = resamples.WholeColumns(np.moveaxis(values, 1, 0).reshape(n, -1), n)
    for weights in resamples.count_chunks(n, B, seed):
        sums = flat.floats(flat.sums(weights)).reshape(-1, 2, 2)
        scores.append(score(sums))
        errors.append(bootstrap_tests.standard_errors(weights, sums, values, score, pair)[0])
    drawn = np.concatenate(scores)
    gains, gain = drawn[:, 0] - drawn[:, 1], float(d.mean())
    scale = max(float(np.abs(drawn).max()), abs(gain))
    own = bootstrap_tests.standard_errors(
        np.ones((1, n)), values.sum(axis=1)[None], values, score, pair
    )
    limits = {
        kind: bootstrap_tests.interval(
            kind, gain, gains, level=1 - 2 * LEVEL, scale=scale,
            without=(d.sum() - d) / (n - 1), student=(float(own[0, 0]), np.concatenate(errors)),
        )[0]
        for kind in ("studentised", "bca")
    }  # fmt: skip
    hits = {
        event: bootstrap_tests.happened(gains, gain, event, scale, centered=True)
        for event in ("strict", "recentred", "zero")
    }
    hits["below 0"] = int(np.count_nonzero(gains < -1e-12 * scale))
    p = {
        event: hits[event] / B if event in ("strict", "below 0") else (hits[event] + 1) / (B + 1)
        for event in hits
    }
    swaps = np.concatenate(list(resamples.swap_chunks(n, B, seed)))
    flipped = d.mean() - 2.0 * (swaps @ d) / n
    p["sign-flip"] = (1 + np.count_nonzero(flipped >= gain - 1e-12 * scale)) / (B + 1)
    sd = d.std(ddof=1)
    p["t"] = stats.t.sf(gain / (sd / np.sqrt(n)), n - 1) if sd > 0 else 1.0
    found = {rule: bool(p[rule] <= LEVEL) for rule in p}
    return {**found, **{kind: bool(limit > 0.0) for kind, limit in limits.items()}}


def simulated(kind: str, repetitions: int, seed: int) -> pd.DataFrame:
    """Return the decisions of all rules on many simulated test sets."""
    n, draw = KINDS[kind]
    number = list(KINDS).index(kind)
    rng = np.random.default_rng([seed, number])
    rows = [decisions(draw(rng, n), [seed, number, k]) for k in range(repetitions)]
    return pd.DataFrame(rows)[list(RULES)]


def main(repetitions: int = 10_000) -> None:
    """Write the table."""
    parts = []
    for kind in KINDS:
        found = simulated(kind, repetitions, 1)
        size = found.mean()
        error = np.sqrt(size * (1 - size) / repetitions)
        exact = enumerated(KINDS[kind][0], DISCORDANT[kind]) if kind in DISCORDANT else {}
        for rule in RULES:
            known = rule in exact
            parts.append((
                kind, rule, exact[rule] if known else size[rule], 0.0 if known else error[rule],
                0 if known else repetitions,
            ))  # fmt: skip
        print(kind, "done", file=sys.stderr)
    table = pd.DataFrame(parts, columns=["differences", "rule", "size", "error", "repetitions"])
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False, float_format="%.6g")


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
