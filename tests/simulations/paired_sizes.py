"""Size and coverage of the paired tests of systems, by seeded simulation."""

import itertools
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtr

from rankeval_pd.decisions.gains import bootstrapped_pairs, ranked_systems, ranks_of
from rankeval_pd.stats import bootstrap
from rankeval_pd.stats.bootstrap import DrawnSum, SignedSum
from rankeval_pd.stats.item_gains import draws_of
from rankeval_pd.stats.items import METRICS, Items, WholeColumns, count_chunks, quiet, swap_chunks
from rankeval_pd.tables import GROUP
from tests.simulations import study

PAGE = Path(__file__).parents[2] / "docs" / "validation" / "paired_tests.md"
MARKS = "<!-- table: tests/simulations/paired_sizes.py -->", "<!-- end of table -->"
B, BLOCK = 999, 50
ITEMS = (5, 10, 30, 100, 300)
GROUPS = (2, 3, 5, 10, 20, 50)
SYSTEMS = (2, 8, 24)
PROCEDURES = {"default": "wild", "paper": "recentred"}
KINDS = (
    "normal", "t with 2 df", "0/1, 2% differ", "0/1, 10% differ", "0/1, 30% differ",
    "0/1, 10% differ, gain 0.05", "F1", "long right tail", "long left tail",
)  # fmt: skip
SKEWED = ("long right tail", "long left tail", "0/1, 10% differ, gain 0.05")


def options(procedure, seed, adjust=None):
    skewness = procedure == "default"
    event = PROCEDURES[procedure]
    return study.options(event, "", adjust, seed, n_resamples=B, skewness=skewness)


def f1_statistics(rng, sets, n, share):
    """Return correct, guessed and gold of systems 2k and 2k + 1, which find this share."""
    gold = rng.integers(1, 9, (sets, 1, n)).repeat(2, axis=1)
    guess = np.maximum(gold + rng.integers(-2, 3, gold.shape), 0)
    correct = rng.binomial(np.minimum(gold, guess), share)
    return np.stack([correct, guess, gold], axis=-1).reshape(2 * sets, n, 3).astype(float)


def two_systems(rng, kind, n, sets):
    """Return test sets of n items, two systems each: systems 2k and 2k + 1."""
    shape = (sets, n)
    if kind == "F1":
        return Items(f1_statistics(rng, sets, n, 0.6), None, METRICS["f1"].score, 1.0, None)
    if kind.startswith("0/1"):
        share = float(kind.split()[1].rstrip("%")) / 100.0
        cell = rng.random(shape)
        right = rng.random(shape) < 0.6
        only_a = cell < (share + gain_of(kind)) / 2.0
        only_b = cell > 1.0 - (share - gain_of(kind)) / 2.0
        a, b = (right | only_a) & ~only_b, (right | only_b) & ~only_a
        return study.of_mean(study.in_pairs(a, b).astype(float))
    tail = np.exp(rng.normal(size=shape)) - np.exp(0.5)
    drawn = {
        "normal": lambda: rng.normal(size=shape),
        "t with 2 df": lambda: rng.standard_t(2, size=shape),
        "long right tail": lambda: tail,
        "long left tail": lambda: -tail,
    }[kind]()
    return study.of_mean(study.in_pairs(drawn, np.zeros(shape)))


def gain_of(kind):
    return 0.05 if "gain" in kind else 0.0


def clustered(rng, groups, sets, *, equal):
    """Return test sets: half of the variance is of groups of ten items, or of about 2 to 50."""
    places = (np.arange(groups) + 0.5) / groups
    sizes = np.maximum(1, np.rint(2.0 * 25.0**places)).astype(int)
    cluster = np.repeat(np.arange(groups), 10 if equal else sizes)
    of_group = rng.normal(size=(sets, groups))[:, cluster]
    drawn = of_group + rng.normal(size=of_group.shape)
    return study.of_mean(study.in_pairs(drawn, np.zeros_like(drawn)), cluster)


def judged(items, procedure, seed, truth=0.0):
    """Return for each test set whether it errs, covers, contradicts itself."""
    pairs = np.arange(items.n_systems).reshape(-1, 2)
    found = bootstrapped_pairs(items, pairs, options(procedure, seed))
    low, high = found["ci_low"], found["ci_high"]
    rejected = found["p_two_sided"] <= 0.05
    size = rejected if truth == 0.0 else np.full(rejected.size, np.nan)
    if procedure != "default":
        return pd.DataFrame({"size": size})
    return pd.DataFrame({
        "size": size,
        "coverage": ~((low > truth + study.ROOM) | (high < truth - study.ROOM)),
        "contradictions": rejected != ((low > 0.0) | (high < 0.0)),
    })  # fmt: skip


def pairs_of_systems(repetitions):
    blocks = range(repetitions // BLOCK)
    for n, (number, kind), procedure in product(ITEMS, enumerate(KINDS), PROCEDURES):
        rng = np.random.default_rng([1, n, number])
        parts = [
            judged(two_systems(rng, kind, n, BLOCK), procedure, k, gain_of(kind)) for k in blocks
        ]
        yield from rows_of("items", n, kind, procedure, pd.concat(parts))
    for groups, equal, procedure in product(GROUPS, (True, False), PROCEDURES):
        rng = np.random.default_rng([2, groups, equal])
        parts = [judged(clustered(rng, groups, BLOCK, equal=equal), procedure, k) for k in blocks]
        kind = "equal groups" if equal else "unequal groups"
        yield from rows_of("groups", groups, kind, procedure, pd.concat(parts))


def rows_of(part, n, kind, procedure, found):
    for name in found:
        values = found[name].astype(float).dropna()
        if len(values):
            share = float(values.mean())
            yield {
                "part": part, "n": n, "kind": kind, "procedure": procedure, "figure": name,
                "share": share, "error": study.error(share, len(values)),
                "repetitions": len(values),
            }  # fmt: skip


TRUTHS = {
    "all equal": lambda systems: np.zeros(systems),
    "half equal": lambda systems: np.where(
        np.arange(systems) < systems // 2, 0.0, 0.3 * np.arange(systems)
    ),
    "near-equal": lambda systems: 0.03 * np.arange(systems),
}


def many_systems(repetitions):
    """Yield the rows for all pairs of several systems, and for their ranks."""
    for systems, (number, kind), n in product(SYSTEMS, enumerate(TRUTHS), (10, 20, 50)):
        rng = np.random.default_rng([3, systems, n, number])
        times = repetitions // 10 if systems < 24 else repetitions // 20
        truth = TRUTHS[kind](systems)
        found = [families(rng, truth, n, k) for k in range(times)]
        yield from rows_of(f"{systems} systems", n, kind, "default", pd.DataFrame(found))


def families(rng, truth, n, seed):
    """Return whether any true hypothesis is rejected, and whether all ranks are covered."""
    shared = rng.normal(size=(1, n))
    items = study.of_mean(truth[:, np.newaxis] + shared + rng.normal(size=(truth.size, n)))
    asked = options("default", seed, "max-t")
    pairs = study.every_pair(truth.size)
    tested = bootstrapped_pairs(items, pairs, replace(asked, ci="percentile"))
    equal = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    wrong = tested["p_adjusted"][equal] <= 0.05
    rows = ranks_of(items, asked)
    rows[GROUP] = np.zeros(items.n_systems, dtype=int)
    ranked = ranked_systems(rows, how=asked, over_all=False)
    rank = 1 + (truth[:, np.newaxis] < truth).sum(axis=1)
    inside = (ranked["rank_low"] <= rank) & (rank <= ranked["rank_high"])
    return {
        "family-wise error": float(wrong.any()) if equal.any() else np.nan,
        "ranks, all": float(inside.all()),
        "rank of the best": float(inside[np.argmax(truth)]),
    }


def as_table(found):
    """Return the tables of the page: the default by n, the other at its worst."""
    lines = []
    for part in ("items", "groups"):
        wide = _wide(found[found["part"] == part])
        sizes = list(dict.fromkeys(wide["n"]))
        lines += [
            f"| differences | {' | '.join(f'{n} {part}' for n in sizes)} | `recentred` |",
            "|---" * (len(sizes) + 2) + "|",
        ]
        for kind, rows in wide.groupby("kind", sort=False):
            nothing = bool(rows["default size"].isna().all())  # a true gain: coverage in its place
            shown = rows["default coverage" if nothing else "default size"]
            marked = shown < 0.93 if nothing else shown > 0.06
            cells = [
                f"**{_share(x)}**" if m else _share(x) for x, m in zip(shown, marked, strict=True)
            ]
            cells.append(_share(rows["paper size"].max()))
            lines.append(f"| {kind}{' (coverage)' * nothing} | {' | '.join(cells)} |")
        lines.append("")
    lines += [
        "| systems | errors of max-t | all ranks | best rank |",
        "|---" * 4 + "|",
    ]
    wide = _wide(found[found["part"].str.endswith("systems")])
    for part, rows in wide.groupby("part", sort=False):
        cells = [
            rows["default family-wise error"].max(),
            *(rows[f"default {x}"].min() for x in ("ranks, all", "rank of the best")),
        ]
        lines.append(f"| {part.split()[0]} | {' | '.join(map(_share, cells))} |")
    return "\n".join(lines)


def _wide(found):
    """Return a row for each part, n and kind, with all figures of both procedures."""
    figures = ("size", "coverage", "family-wise error", "ranks, all", "rank of the best")
    wide = found.assign(column=found["procedure"] + " " + found["figure"]).pivot_table(
        index=["part", "n", "kind"], columns="column", values="share", sort=False
    )
    columns = [f"{procedure} {figure}" for procedure in PROCEDURES for figure in figures]
    return wide.reindex(columns=columns).reset_index()


def _share(value):
    return "–" if np.isnan(value) else f"{value:.3f}"


def rows(repetitions=3_000):
    found = [*pairs_of_systems(repetitions), *many_systems(repetitions)]
    text = PAGE.read_text("utf-8")
    first, last = (text.index(mark) for mark in MARKS)
    table = as_table(pd.DataFrame(found))
    PAGE.write_text(f"{text[:first]}{MARKS[0]}\n\n{table}\n\n{text[last:]}", "utf-8")
    yield from found


LEVEL = 0.05
RULES = ("strict", "recentred", "below 0", "zero", "sign-flip", "t")
DISCORDANT = {"0/1, 100 items, 10% discordant": 0.10, "0/1, 200 items, 2% discordant": 0.02}
ONE_SIDED = {
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
    hits = {
        event: bootstrap.happened(gains, gain, event, scale)
        for event in ("strict", "recentred", "zero")
    }
    swaps = np.unpackbits(np.concatenate(list(swap_chunks(n, B, seed))), axis=1, count=n)
    flipped = d.mean() - 2.0 * (swaps @ d) / n
    hits["sign-flip"] = np.count_nonzero(flipped >= gain - 1e-12 * scale)
    p = {event: (count + 1) / (B + 1) for event, count in hits.items()}
    p["strict"] = hits["strict"] / B
    p["below 0"] = np.count_nonzero(gains < -1e-12 * scale) / B
    sd = d.std(ddof=1)
    p["t"] = stats.t.sf(gain / (sd / np.sqrt(n)), n - 1) if sd > 0 else 1.0
    return {rule: bool(p[rule] <= LEVEL) for rule in p}


def simulated(kind, repetitions, seed):
    n, draw = ONE_SIDED[kind]
    number = list(ONE_SIDED).index(kind)
    rng = np.random.default_rng([seed, number])
    found = [decisions(draw(rng, n), [seed, number, k]) for k in range(repetitions)]
    return pd.DataFrame(found)[list(RULES)]


def sizes_rows(repetitions=10_000):
    """Sizes of one-sided paired tests at 5%, by enumeration and by seeded simulation."""
    for kind, (n, _) in ONE_SIDED.items():
        size = simulated(kind, repetitions, 1).mean()
        exact = enumerated(n, DISCORDANT[kind]) if kind in DISCORDANT else {}
        for rule in RULES:
            if rule in exact:
                yield kind, rule, exact[rule], 0.0, 0
            else:
                yield kind, rule, size[rule], study.error(size[rule], repetitions), repetitions


SCORES = ("normal", "0/1", "[0, 1]")


class Setting(NamedTuple):
    systems: int
    items: int
    scores: str  #: "normal", "0/1" or "[0, 1]"
    correlation: float  #: of two systems' latent scores
    spread: float  #: best less worst skill, in sd of the latent difference of two


class Found(NamedTuple):
    covered: float  #: all true gains lie within their intervals
    errs: float  #: of samples in which some pair of equal systems is significant
    contradicting: int  #: rows whose interval excludes 0 while p_adjusted is above alpha


def settings():
    """Return all settings; of 0/1 at 30 items equal systems only. SKEWED_SCORES come last."""
    every = itertools.product((8, 20), (30, 300), SCORES, (0.3, 0.6, 0.9), (0.0, 0.5))
    return [
        *(x for x in map(Setting._make, every) if x[1:3] != (30, "0/1") or not x.spread),
        *SKEWED_SCORES,
    ]


#: few items, at the end of the scale for the best systems alone: skewed differences
SKEWED_SCORES = [Setting(systems, 30, "[0, 1]", 0.9, 1.1) for systems in (8, 20)]


def drawn(setting, rng):
    """Return scores (system, item) and their expectations (system,)."""
    best = setting.spread * np.sqrt(2.0 - 2.0 * setting.correlation)
    skill = np.linspace(0.0, best, setting.systems)
    shared = rng.standard_normal(setting.items) * np.sqrt(setting.correlation)
    own = rng.standard_normal((setting.systems, setting.items))
    latent = skill[:, np.newaxis] + shared + own * np.sqrt(1.0 - setting.correlation)
    if setting.scores == "normal":
        return latent, skill
    if setting.scores == "0/1":
        return (latent > 0.0).astype(float), ndtr(skill)
    return ndtr(1.5 * latent), ndtr(1.5 * skill / np.sqrt(1.0 + 1.5**2))


def simulate(setting, samples):
    """Return how often all intervals hold the true gain, and how often a true null is rejected."""
    rng = np.random.default_rng([0, *map(ord, repr(setting))])
    pairs = study.every_pair(setting.systems)
    covered = errs = contradicting = 0
    for _ in range(samples):
        scores, mean = drawn(setting, rng)
        options = study.options(
            adjust="max-t", seed=int(rng.integers(2**31)), n_resamples=499, method="monte-carlo"
        )
        items = study.of_mean(scores)
        draws = draws_of(items, pairs, options, quiet)  # given: no intervals of each pair alone
        found = bootstrapped_pairs(items, pairs, options, draws=draws)
        gain = mean[pairs[:, 0]] - mean[pairs[:, 1]]
        holds = (found["ci_low"] <= gain) & (gain <= found["ci_high"])
        # a limit may end at a gain of 0 that the test rejects: that is not covered
        covered += bool((holds & ~((gain == 0.0) & (found["p_adjusted"] <= 0.05))).all())
        errs += bool((found["p_adjusted"][gain == 0.0] <= 0.05).any())
        outside = (found["ci_low"] > 0.0) | (found["ci_high"] < 0.0)
        contradicting += int((outside & (found["p_adjusted"] > 0.05)).sum())
    return Found(covered / samples, errs / samples, contradicting)


def family_intervals_rows(samples=2_000):
    """Simultaneous intervals and the family-wise error of max-t for all pairs of systems."""
    for setting in settings():
        yield [*setting, *simulate(setting, samples), samples]
