"""Leaderboards: power of plans, and size of ranks of systems with a few training seeds.

Writes boards.csv. ``power`` is the share of samples whose gain, as large as ``detectable_gain``
says or on as many items or seeds as ``needed_items`` or ``needed_seeds`` say, is significant at 5%;
.80 is promised. ``size`` is the share of samples of equal systems in which ``system_ranks``, or a
test of one pair, tells any two apart. ``warned`` is the share of 20 calls that warn. Seeds differ
by so many standard errors of a gain that the items bring; unequal ones by three times as much for
half of the systems. A quarter of an hour.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.decisions.gains import bootstrapped_pairs, ranked_systems, ranks_by_draws
from rankeval_pd.doors.item_tables import ItemDesign, crossed, find_metric
from rankeval_pd.roles import Roles
from rankeval_pd.stats.items import Items, PairOptions
from rankeval_pd.tables import GROUP

SAMPLES, CALLS = 2_000, 20
OPTIONS = PairOptions(999, "wild", "auto", "", None, 0.05, 0.95, 0, keep_order=True, skewness=True)
METRIC = find_metric(Roles(), [None], one_level=True)
Row = tuple[str, str, str, float, float, float]


def items(values: np.ndarray, cluster=None, *, seeds: bool = False, pooled: bool = False) -> Items:
    """Return the inner form of scores (system, seed, item)."""
    full = np.stack([values, np.ones_like(values)], axis=-1)
    labels = list(range(values.shape[1])) if seeds else None
    beside = ItemDesign(cluster, None, "macro", labels, "raise", pooled=pooled)
    names = list(range(len(values)))
    return crossed(full, np.ones(values.shape[:2], bool), METRIC, names, cluster, beside)


def found(data: Items) -> float:
    """Return in which share of samples, each of two systems, the default test is significant."""
    options = replace(OPTIONS, ci="" if data.binary else "wild")
    pairs = np.arange(data.n_systems).reshape(-1, 2)
    return float(np.mean(bootstrapped_pairs(data, pairs, options)["p_value"] <= 0.05))


def trained(rng, systems, seeds, n, sds, gain=0.0, item_sd=0.5) -> np.ndarray:
    """Return scores (system, seed, item): gains of two systems differ by item with this sd."""
    own = item_sd / np.sqrt(2.0) * rng.normal(size=(systems, 1, n))
    own[0] += gain
    return own + np.reshape(sds, (-1, 1, 1)) * rng.normal(size=(systems, seeds, 1))


def plans(samples: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)

    def share(draw, **how) -> float:
        return found(items(np.concatenate([draw() for _ in range(samples)]), **how))

    for n in (30, 400):
        error = 0.5 / np.sqrt(n)
        gain = rankeval_pd.detectable_gain(error, n)
        power = share(lambda n=n, gain=gain: trained(rng, 2, 1, n, [0, 0], gain))
        yield "detectable_gain", f"{n} items", "power", 0.8, power, np.nan
        needed = rankeval_pd.needed_items(0.1, error, n)
        power = share(lambda n=needed: trained(rng, 2, 1, n, [0, 0], 0.1))
        yield "needed_items", f"{needed} items from {n}", "power", 0.8, power, np.nan
    for seeds in (2, 3, 5):
        parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / seeds), "n_seeds": seeds}
        gain = rankeval_pd.detectable_gain(0.5 / 20.0, 400, **parts)
        power = share(
            lambda r=seeds, gain=gain: trained(rng, 2, r, 400, [0.03] * 2, gain), seeds=True
        )
        yield "detectable_gain", f"400 items, {seeds} seeds", "power", 0.8, power, np.nan
    parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / 3.0), "n_seeds": 3}
    needed = rankeval_pd.needed_items(0.15, 0.5 / 20.0, 400, **parts)
    power = share(lambda: trained(rng, 2, 3, needed, [0.03] * 2, 0.15), seeds=True)
    yield "needed_items", f"{needed} items, 3 seeds", "power", 0.8, power, np.nan
    needed = rankeval_pd.needed_seeds(0.1, 0.5 / 20.0, 400, **parts)
    power = share(lambda: trained(rng, 2, needed, 400, [0.03] * 2, 0.1), seeds=True)
    yield "needed_seeds", f"400 items, {needed} seeds", "power", 0.8, power, np.nan
    for groups in (12, 40):
        cluster = np.repeat(np.arange(groups), 10)
        error = np.sqrt((0.25 + 0.25 / 10) / groups)  # clusters' and items' sd of .5
        gain = rankeval_pd.detectable_gain(error, 10 * groups, n_groups=groups)

        def clustered(cluster=cluster, gain=gain, groups=groups) -> np.ndarray:
            values = trained(rng, 2, 1, cluster.size, [0, 0], gain)
            return values + 0.5 / np.sqrt(2.0) * rng.normal(size=(2, 1, groups))[..., cluster]

        power = share(clustered, cluster=cluster)
        yield "detectable_gain", f"{groups} clusters of 10", "power", 0.8, power, np.nan
    for n, differ, gain in ((100, 0.3, 0.12), (1_000, 0.1, 0.03), (1_000, 0.4, 0.05)):
        error = np.sqrt((differ - gain**2) / n)
        needed = rankeval_pd.needed_items(gain, error, n, metric="accuracy")
        least = rankeval_pd.detectable_gain(error, n, metric="accuracy")
        for call, size, true in (("needed_items", needed, gain), ("detectable_gain", n, least)):

            def right(size=size, true=true, differ=differ) -> np.ndarray:
                u = rng.random(size)
                ends = 0.5 * (differ + true), differ
                return np.stack([u < ends[0], (u >= ends[0]) & (u < ends[1])])[:, None] * 1.0

            power = share(right)
            yield call, f"accuracy, {size} items, {differ:g} differ", "power", 0.8, power, np.nan


def ranks(samples: int) -> Iterator[Row]:
    n, systems = 60, 4
    for seeds in (2, 3, 5):
        for unequal in (False, True):
            for part in (0.5, 2.0):
                rng = np.random.default_rng(seeds)
                sds = part * np.sqrt(seeds) / np.sqrt(n) / 2.0 * np.array([1.0] * systems)
                sds[systems // 2 :] *= 3.0 if unequal else 1.0
                options = replace(OPTIONS, adjust="max-t", n_resamples=499, ci="wild")
                told, warned = [], 0
                for k in range(samples):
                    data = items(trained(rng, systems, seeds, n, sds), seeds=True)
                    rows = ranks_by_draws(data, replace(options, seed=k), "simultaneous")
                    rows[GROUP] = np.zeros(data.n_systems, dtype=int)
                    table = ranked_systems(rows, how=options, over_all=False)
                    told.append(bool((table["rank_low"] > 1).any()))
                for _ in range(CALLS):
                    warned += warns(trained(rng, systems, seeds, n, sds))
                pairs = [trained(rng, 2, seeds, n, sds[1:3]) for _ in range(samples)]
                one = found(items(np.concatenate(pairs), seeds=True))
                setting = f"{seeds} seeds, {'unequal' if unequal else 'equal'}, {part:g} errors"
                yield "system_ranks", setting, "size", 0.05, np.mean(told), warned / CALLS
                yield "paired_bootstrap", setting, "size", 0.05, one, np.nan


def warns(values: np.ndarray) -> bool:
    """Return whether a call of system_ranks warns."""
    systems, seeds, n = values.shape
    columns = pd.MultiIndex.from_product([range(systems), range(seeds)], names=["system", "seed"])
    frame = pd.DataFrame(values.reshape(-1, n).T, columns=columns)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        frame.rankeval(seeds="seed").system_ranks(n_resamples=199, progress=False)
    return bool(said)


def main(samples: int = SAMPLES, part: str = "") -> None:
    """Write the table, or a part of it into a file of its own: "plans" or "ranks"."""
    rows = [row for ask in (plans, ranks) if part in ask.__name__ for row in ask(samples)]
    columns = ["call", "setting", "what", "promised", "found", "warned"]
    table = pd.DataFrame(rows, columns=columns).assign(samples=samples)
    path = Path(__file__).with_suffix(".csv")
    table.round(4).to_csv(path.with_stem(path.stem + part), index=False)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
