"""Leaderboards: power of plans, and size of ranks of systems with a few training seeds."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.decisions.gains import bootstrapped_pairs, ranked_systems, ranks_by_draws
from rankeval_pd.doors.item_tables import ItemDesign, crossed, find_metric
from rankeval_pd.roles import Roles
from rankeval_pd.tables import GROUP
from tests.simulations import study
from tests.simulations.study import PAIR

SAMPLES, CALLS = 2_000, 20
METRIC = find_metric(Roles(), [None], one_level=True)


def items(values, cluster=None, strata=None, average="macro", *, seeds=False):
    """Return the inner form of scores (system, seed, item)."""
    full = np.stack([values, np.ones_like(values)], axis=-1)
    labels = list(range(values.shape[1])) if seeds else None
    beside = ItemDesign(cluster, strata, average, labels, "raise")
    names = list(range(len(values)))
    return crossed(full, np.ones(values.shape[:2], bool), METRIC, names, cluster, beside)


def found(data):
    """Return in which share of samples, each of two systems, the default test is significant."""
    options = study.options(ci="" if data.binary else "wild")
    pairs = np.arange(data.n_systems).reshape(-1, 2)
    return float(np.mean(bootstrapped_pairs(data, pairs, options)["p_value"] <= 0.05))


def trained(rng, systems, seeds, n, sds, gain=0.0):
    """Return scores (system, seed, item): gains of two systems differ by item with an sd of .5."""
    own = 0.5 / np.sqrt(2.0) * rng.normal(size=(systems, 1, n))
    own[0] += gain
    return own + np.reshape(sds, (-1, 1, 1)) * rng.normal(size=(systems, seeds, 1))


def clustered(rng, groups, gain):
    """Return scores whose gains vary by cluster as much as by item."""
    cluster = np.repeat(np.arange(groups), 10)
    values = trained(rng, 2, 1, cluster.size, [0, 0], gain)
    return values + 0.5 / np.sqrt(2.0) * rng.normal(size=(2, 1, groups))[..., cluster]


def right(rng, n, differ, gain):
    u, ends = rng.random(n), (0.5 * (differ + gain), differ)
    return np.stack([u < ends[0], (u >= ends[0]) & (u < ends[1])])[:, None] * 1.0


def plans(samples):
    """Yield the power of plans: call, setting, power."""
    rng = np.random.default_rng(1)

    def share(draw, *asked, **how):
        return found(items(np.concatenate([draw(rng, *asked) for _ in range(samples)]), **how))

    gain_of, items_for = rankeval_pd.detectable_gain, rankeval_pd.needed_items
    for n in (30, 400):
        error = 0.5 / np.sqrt(n)
        power = share(trained, 2, 1, n, [0, 0], gain_of(error, n))
        yield "detectable_gain", f"{n} items", power
        needed = items_for(0.1, error, n)
        power = share(trained, 2, 1, needed, [0, 0], 0.1)
        yield "needed_items", f"{needed} items from {n}", power
    known = 0.5 / 20.0, 400
    for seeds in (2, 3, 5):
        parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / seeds), "n_seeds": seeds}
        power = share(trained, 2, seeds, 400, [0.03] * 2, gain_of(*known, **parts), seeds=True)
        yield "detectable_gain", f"400 items, {seeds} seeds", power
    parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / 3.0), "n_seeds": 3}
    needed = items_for(0.15, *known, **parts)
    power = share(trained, 2, 3, needed, [0.03] * 2, 0.15, seeds=True)
    yield "needed_items", f"{needed} items, 3 seeds", power
    needed = rankeval_pd.needed_seeds(0.1, *known, **parts)
    power = share(trained, 2, needed, 400, [0.03] * 2, 0.1, seeds=True)
    yield "needed_seeds", f"400 items, {needed} seeds", power
    for groups in (12, 40):
        error = np.sqrt((0.25 + 0.25 / 10) / groups)  # clusters' and items' sd of .5
        gain = gain_of(error, 10 * groups, n_groups=groups)
        power = share(clustered, groups, gain, cluster=np.repeat(np.arange(groups), 10))
        yield "detectable_gain", f"{groups} clusters of 10", power
    for n, differ, gain in ((100, 0.3, 0.12), (1_000, 0.1, 0.03), (1_000, 0.4, 0.05)):
        error = np.sqrt((differ - gain**2) / n)
        needed = items_for(gain, error, n, metric="accuracy")
        least = gain_of(error, n, metric="accuracy")
        for call, size, true in (("needed_items", needed, gain), ("detectable_gain", n, least)):
            power = share(right, size, differ, true)
            yield call, f"accuracy, {size} items, {differ:g} differ", power


def ranks(samples):
    """Yield the size of ranks and of tests: call, setting, size, warned."""
    n, systems = 60, 4
    options = study.options(adjust="max-t", n_resamples=499, ci="wild")
    for seeds, unequal, part in product((2, 3, 5), (False, True), (0.5, 2.0)):
        rng = np.random.default_rng(seeds)
        sds = part * np.sqrt(seeds) / np.sqrt(n) / 2.0 * np.ones(systems)
        sds[systems // 2 :] *= 3.0 if unequal else 1.0
        told = []
        for k in range(samples):
            data = items(trained(rng, systems, seeds, n, sds), seeds=True)
            rows = ranks_by_draws(data, replace(options, seed=k), "simultaneous")
            rows[GROUP] = np.zeros(data.n_systems, dtype=int)
            table = ranked_systems(rows, how=options, over_all=False)
            told.append(bool((table["rank_low"] > 1).any()))
        asked = [frame(trained(rng, systems, seeds, n, sds)) for _ in range(CALLS)]
        warned = study.warned(
            lambda x=x: x.rankeval(seeds="seed").system_ranks(n_resamples=199) for x in asked
        )
        pairs = [trained(rng, 2, seeds, n, sds[1:3]) for _ in range(samples)]
        one = found(items(np.concatenate(pairs), seeds=True))
        setting = f"{seeds} seeds, {'unequal' if unequal else 'equal'}, {part:g} errors"
        yield "system_ranks", setting, np.mean(told), warned
        yield "paired_bootstrap", setting, one, np.nan


def frame(values):
    """Return scores (system, seed, item) as users have them."""
    systems, seeds, n = values.shape
    columns = pd.MultiIndex.from_product([range(systems), range(seeds)], names=["system", "seed"])
    return pd.DataFrame(values.reshape(-1, n).T, columns=columns)


def rows(samples=SAMPLES):
    for call, setting, power in plans(samples):
        yield call, setting, "power", 0.8, power, np.nan, samples
    for call, setting, size, warned in ranks(samples):
        yield call, setting, "size", 0.05, size, warned, samples


# ------------------------------------------------------------------------------------------ Factors

N, SEED_SD, NOISE = 100, 0.07, 0.2
SIZES, EFFECTS = np.array([10, 20, 30, 40]), np.array([1.2, -0.6, 0.4, -0.3])
OPTIONS = study.options(ci="wild")


def asked(drawn, number, event):
    ci = "wild" if event == "wild" else "percentile"
    row = bootstrapped_pairs(drawn, PAIR, replace(OPTIONS, seed=number, event=event, ci=ci))
    return bool(row["p_two_sided"][0] <= 0.05), bool(row["ci_low"][0] <= 0.0 <= row["ci_high"][0])


def two_trained(rng, seeds):
    """Return scores (system, seed, item) of two ways of training that are equal."""
    shape = (2, seeds, N)
    return (
        rng.normal(size=(1, 1, N))
        + SEED_SD * rng.normal(size=(2, seeds, 1))
        + NOISE * rng.normal(size=(2, 1, N))
        + NOISE * rng.normal(size=shape)
    )


def of_seeds(rng, seeds, *, told):
    """Return a data set; ``told`` says whether the test knows of the seeds."""
    values = two_trained(rng, seeds)
    return items(values if told else values.mean(axis=1, keepdims=True), seeds=told)


def of_strata(rng, average, gain, *, told):
    """Return a data set whose strata differ, with a gain (0: none)."""
    strata = np.repeat(np.arange(SIZES.size), SIZES)
    weight = SIZES / SIZES.mean() if average == "micro" else np.ones(SIZES.size)
    noise = rng.normal(size=(2, 1, strata.size)) / np.sqrt(2.0)
    noise[0, 0] += (EFFECTS - (EFFECTS * weight).mean() + gain)[strata]
    return items(noise, strata=strata if told else None, average=average)


def factors_rows(samples=2_000):
    """How often tests at 5% find equal systems different, with training seeds and with strata."""
    for event in ("wild", "recentred"):
        cases = []
        for told, counts in ((False, (1, 5)), (True, (2, 3, 5, 10))):
            for seeds in counts:
                name = f"{seeds} seeds" + ("" if told else ", averaged, not said")
                cases.append((name, 0.0, 100 + seeds, partial(of_seeds, seeds=seeds, told=told)))
        for average, told in (("macro", True), ("micro", True), ("micro", False)):
            for gain in (0.0, 0.25):
                name = f"strata, {average if told else 'not said'}"
                draw = partial(of_strata, average=average, gain=gain, told=told)
                cases.append((name, gain, 7, draw))
        for name, gain, seed, draw in cases:
            rng = np.random.default_rng(seed)
            found = [asked(draw(rng), number, event) for number in range(samples)]
            yield event, name, gain, *map(float, np.mean(found, axis=0))
