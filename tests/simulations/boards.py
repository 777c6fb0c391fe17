"""Leaderboards: power of plans, and size of ranks of systems with a few training seeds."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

import rankeval_pd
from rankeval_pd.decisions.gains import (
    bootstrapped_pairs,
    pairs_tested_once,
    ranked_systems,
    ranks_of,
)
from rankeval_pd.doors.item_tables import ItemDesign, crossed, find_metric
from rankeval_pd.roles import Roles
from rankeval_pd.stats.gains import swapped_tests
from rankeval_pd.stats.item_gains import draws_of, skewed
from rankeval_pd.stats.items import quiet
from rankeval_pd.stats.ranks import level_of_each, scores_with_limits
from rankeval_pd.tables import GROUP
from tests.simulations import study
from tests.simulations.study import PAIR, of_mean

SAMPLES, CALLS = 2_000, 20
METRIC = find_metric(Roles(), [None], one_level=True)


def items(values, cluster=None, strata=None, average="macro", *, seeds=False):
    """Return the inner form of scores (system, seed, item)."""
    full = np.stack([values, np.ones_like(values)], axis=-1)
    labels = list(range(values.shape[1])) if seeds else None
    beside = ItemDesign(cluster, strata, labels, Roles(average=average))
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
    known = {"gain_se": 0.5 / 20.0, "n_items": 400}
    for seeds in (2, 3, 5):
        parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / seeds), "n_seeds": seeds}
        power = share(trained, 2, seeds, 400, [0.03] * 2, gain_of(known | parts), seeds=True)
        yield "detectable_gain", f"400 items, {seeds} seeds", power
    parts = {"gain_se_seeds": 0.03 * np.sqrt(2.0 / 3.0), "n_seeds": 3}
    needed = items_for(0.15, known | parts)
    power = share(trained, 2, 3, needed, [0.03] * 2, 0.15, seeds=True)
    yield "needed_items", f"{needed} items, 3 seeds", power
    needed = rankeval_pd.needed_seeds(0.1, known | parts)
    power = share(trained, 2, needed, 400, [0.03] * 2, 0.1, seeds=True)
    yield "needed_seeds", f"400 items, {needed} seeds", power
    for groups in (12, 40):
        error = np.sqrt((0.25 + 0.25 / 10) / groups)  # clusters' and items' sd of .5
        gain = gain_of({"gain_se": error, "n_items": 10 * groups, "n_groups": groups})
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
            rows = ranks_of(data, replace(options, seed=k))
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


B = 999
ITEMS = (30, 50, 100)
AT_ONCE = 50  # samples that share their draws
EQUAL = 1e-9


def _rare(share, noise):
    return lambda rng, shape: noise * rng.normal(size=shape) + (rng.random(shape) < share) - share


def _against(noise):
    return lambda rng, shape: (rng.random(shape) < 0.9) - 0.9 - noise * rng.normal(size=shape)


def _zero_one(p, q):
    return lambda rng, shape: (rng.random(shape) < p) * 1.0 - (rng.random(shape) < q)


#: differences of two systems; those of mean 0 are of equal systems
DIFFERENCES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t with 3 df": lambda rng, shape: rng.standard_t(3, size=shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1.0,
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)) - np.exp(0.5),
    "rare gains (5%), noise .3": _rare(0.05, 0.3),
    "rare gains (5%), noise .2": _rare(0.05, 0.2),
    "rare gains (5%), noise .1": _rare(0.05, 0.1),
    "rare gains (5%), noise .05": _rare(0.05, 0.05),
    "0/1 (p = .9) against scores near .9, noise .1": _against(0.1),
    "0/1 (p = .9) against scores near .9, noise .02": _against(0.02),
    "0/1, p = .2": _zero_one(0.2, 0.2),
    "0/1, p = .5": _zero_one(0.5, 0.5),
    "0/1, p = .8": _zero_one(0.8, 0.8),
}
RARE = {name: float(name.split(".")[-1]) / 10 ** len(name.split(".")[-1])
        for name in DIFFERENCES if name.startswith("rare")}  # fmt: skip

#: the same with a better system, by so many standard errors, where tests have much power
BETTER = {
    "normal, better": (lambda rng, shape: rng.normal(size=shape), 2.8),
    "Laplace, better": (lambda rng, shape: rng.laplace(size=shape), 2.8 * 2.0**0.5),
    "uniform, better": (lambda rng, shape: rng.uniform(-1, 1, size=shape), 2.8 / 3.0**0.5),
}


def asked_skewed(seed, *, skewness, event="wild", adjust=None):
    ci = "wild" if event == "wild" else "basic"
    return study.options(event, ci, adjust, seed, n_resamples=B, skewness=skewness)


def rejections(d, seed):
    """Return which samples (sample, item) each procedure finds different from 0."""
    items, pairs = of_mean(study.in_pairs(d, np.zeros_like(d))), np.arange(2 * len(d))
    pairs = pairs.reshape(-1, 2)
    found = {"t test": np.abs(stats.ttest_1samp(d, 0.0, axis=1).pvalue) <= 0.05}
    for name, skewness in (("default", True), ("signs", False)):
        tested = bootstrapped_pairs(items, pairs, asked_skewed(seed, skewness=skewness))
        found[f"paired_bootstrap, {name}"] = tested["p_value"] <= 0.05
    found["paired_permutation, default"] = swaps_reject(items, pairs, seed)
    return found


def swaps_reject(items, pairs, seed):
    options = asked_skewed(seed, skewness=False, event="recentred")
    return pairs_tested_once(swapped_tests, items, pairs, options)["p_value"] <= 0.05


def paired(samples):
    kinds = {**{name: (draw, 0.0) for name, draw in DIFFERENCES.items()}, **BETTER}
    for n, (number, (kind, (draw, lead))) in product(ITEMS, enumerate(kinds.items())):
        parts = []
        for block in range(samples // AT_ONCE):
            rng = np.random.default_rng([7, n, number, block])
            d = draw(rng, (AT_ONCE, n)) + lead / np.sqrt(n)
            parts.append(pd.DataFrame(rejections(d, block)))
        for procedure, share in pd.concat(parts).mean().items():
            yield "power" if lead else "size", procedure, kind, n, share, samples
        if kind in RARE:
            yield "bound", "any test", kind, n, _bound(n, RARE[kind]), 0


def _bound(n, noise):
    """Return the chance of no rare gain, times the power of the t test where there is none."""
    shift = min(0.05 / noise * np.sqrt(n), 8.0)  # where the power is 1
    reach = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(reach, n - 1, shift) + stats.nct.cdf(-reach, n - 1, shift)
    return float(0.95**n * power)


#: differences of equal systems: as the audit of the tests drew them, and eight harder ones
SWAPPED = {
    **{name: DIFFERENCES[name] for name in list(DIFFERENCES)[:5]},
    "gamma (2)": lambda rng, shape: rng.gamma(2.0, size=shape) - 2.0,
    "20% large": lambda rng, shape: np.where(
        rng.random(shape) < 0.2, rng.gamma(2.0, 0.5, shape), 0.1 * rng.normal(size=shape)) - 0.2,
    "two beta": lambda rng, shape: rng.beta(0.5, 1.5, shape) - rng.beta(1.0, 3.0, shape),
    "t with 2 df": lambda rng, shape: rng.standard_t(2, size=shape),
    "normal, 10% tenfold": lambda rng, shape: rng.normal(
        size=shape) * np.where(rng.random(shape) < 0.1, 10.0, 1.0),
    "gamma (4)": lambda rng, shape: rng.gamma(4.0, size=shape) - 4.0,
    "lognormal (.5)": lambda rng, shape: np.exp(0.5 * rng.normal(size=shape)) - np.exp(0.125),
    "rare gains (5%), noise .1": DIFFERENCES["rare gains (5%), noise .1"],
    "0/1 (p = .9), noise .1": DIFFERENCES["0/1 (p = .9) against scores near .9, noise .1"],
    "70% zeros": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.3),
    "precision at 10": lambda rng, shape: np.subtract(*rng.binomial(10, 0.3, (2, *shape))) / 10,
}  # fmt: skip


def swaps_rows(samples=5_000):
    """Yield the size of swaps of each kind, how often skewness is said, and should be at least."""
    for n, (number, (kind, draw)) in product((10, 25, 50, 100), enumerate(SWAPPED.items())):
        rejected, options = [], asked_skewed(0, skewness=False)
        for block in range(samples // 500):
            rng = np.random.default_rng([12, n, number, block])
            d, base = draw(rng, (500, n)), rng.normal(size=(500, n))
            items, pairs = of_mean(study.in_pairs(base + d, base)), np.arange(1_000)
            rejected.append(swaps_reject(items, pairs.reshape(-1, 2), block))
        told = [
            skewed(draws_of(of_mean(np.stack(x)), study.PAIR, options, quiet))
            for x in zip(base + d, base, strict=True)
        ]
        size, least = float(np.mean(rejected)), 0.9 if n >= 50 else 0.5
        yield kind, n, size, samples, np.mean(told), least, len(told)


EIGHT = {"4 risky, 4 steady": 4, "8 steady": 0}


def eight(rng, n, risky):
    """Return scores (system, item) of eight equally good systems, some of them risky."""
    values = 0.9 + 0.05 * rng.normal(size=(8, n))
    if risky:
        values[:risky] = rng.random((risky, n)) < 0.9
    return values


def false_ranks(samples):
    """Yield how often eight equally good systems, four of them risky, get a false rank."""
    pairs = study.every_pair(8)
    for n, (kind, risky) in product(ITEMS, EIGHT.items()):
        wrong = {"default": 0, "signs": 0}
        for sample in range(samples):
            rng = np.random.default_rng([8, n, sample, risky == 0])
            items = of_mean(eight(rng, n, risky))
            for name in wrong:
                options = asked_skewed(sample, skewness=name == "default", adjust="max-t")
                draws = draws_of(items, pairs, options, quiet)
                found = bootstrapped_pairs(items, pairs, options, draws=draws)
                wrong[name] += bool((found["p_adjusted"] <= 0.05).any())
        for name, count in wrong.items():
            yield "false rank", f"system_ranks, {name}", kind, n, count / samples, samples


def warned(samples):
    """Yield how often few items are found to be skewed, in two systems and in eight."""
    for n in (10, 20, 30):
        for number, (kind, draw) in enumerate(DIFFERENCES.items()):
            rng = np.random.default_rng([10, n, number])
            drawn = draw(rng, (samples, n))
            if kind.startswith("0/1, p"):  # which both systems have
                continue
            options, each = asked_skewed(0, skewness=True), (np.stack([d, 0.0 * d]) for d in drawn)
            told = [skewed(draws_of(of_mean(x), study.PAIR, options, quiet)) for x in each]
            yield "warned", "paired_bootstrap, default", kind, n, np.mean(told), samples
        for kind, risky in EIGHT.items():
            rng = np.random.default_rng([11, n, risky])
            options = asked_skewed(0, skewness=True, adjust="max-t")
            told = [
                skewed(draws_of(of_mean(eight(rng, n, risky)), study.every_pair(8), options, quiet))
                for _ in range(samples)
            ]
            yield "warned", "system_ranks, default", kind, n, np.mean(told), samples


def skewness_rows(samples=4_000):
    """Tests and ranks of skewed scores: how often do they err, and what does it cost?"""
    yield from paired(samples)
    yield from false_ranks(samples // 2)
    yield from warned(samples // 2)


# ---- intervals of scores


def _inflated(share, draw):
    return lambda rng, shape: np.where(rng.random(shape) < share, draw(rng, shape), 0.0)


def _in_tenths(draw):
    return lambda rng, shape: rng.binomial(10, draw(rng, shape)) / 10.0


def _beta(a, b):
    return lambda rng, shape: rng.beta(a, b, shape)


def _alike(rng, shape):
    """Return difficulties, beta(.5, 2), of (samples, systems, items) that systems share."""
    shared = 0.9 * rng.normal(size=(shape[0], 1, shape[2]))
    return stats.beta.ppf(stats.norm.cdf(shared + np.sqrt(0.19) * rng.normal(size=shape)), 0.5, 2.0)


#: scores, their mean, and the end of the range, if it is known
SCORES = {
    "P@10, mostly 0": (_in_tenths(_inflated(0.35, _beta(1, 2.5))), 0.1, 1.0),
    "P@10": (_in_tenths(_beta(1, 1.5)), 0.4, 1.0),
    "P@10 of like systems": (_in_tenths(_alike), 0.2, 1.0),
    "AP": (_beta(0.4, 1.6), 0.2, 1.0),
    "RR": (lambda rng, x: 1.0 / rng.geometric(0.25, x), np.log(4.0) / 3.0, 1.0),
    "high nDCG": (_beta(6, 1), 6 / 7, 1.0),
    "rare .9": (_inflated(0.05, lambda rng, x: np.full(x, 0.9)), 0.045, 1.0),
    "85% ones": (lambda rng, x: 1.0 - _inflated(0.15, _beta(1, 1))(rng, x), 0.925, np.inf),
    "80% zeros": (_inflated(0.2, _beta(1, 1)), 0.1, np.inf),
    "beta(.5, 1.5)": (_beta(0.5, 1.5), 0.25, np.inf),
    "normal": (lambda rng, x: rng.normal(size=x), 0.0, np.inf),
    "exponential": (lambda rng, x: rng.exponential(size=x), 1.0, np.inf),
    "lognormal": (lambda rng, x: rng.lognormal(size=x), float(np.exp(0.5)), np.inf),
}  # fmt: skip
AUDITED = ("P@10, mostly 0", "P@10", "AP", "RR", "high nDCG")
INDEPENDENT = [
    *((kind, n, 2) for kind in AUDITED for n in (10, 25, 50)),
    *(("P@10 of like systems", n, m) for m, n in ((10, 25), (20, 25), (10, 12))),
    *((kind, n, 8) for kind in list(SCORES)[-6:] for n in (30, 50) if kind != "exponential"),
    # harder: rare values, many systems, more items than Gaffke's limits take, skewed without range
    ("rare .9", 25, 4), ("high nDCG", 100, 20), ("rare .9", 100, 4), ("exponential", 20, 4),
]  # fmt: skip
SIZES_OF_GROUPS = {
    "8 equal groups": np.full(8, 10),
    "12 lognormal groups": np.exp(1.5 + stats.norm.ppf((np.arange(12) + 0.5) / 12)).astype(int),
    "20 groups, one a third": np.array([95] + [10] * 19),
}
STRATA = {
    "strata of 5, 12, 3": (5, 12, 3), "10 strata of 5": (5,) * 10,
    "strata of 12, 12, 12, 3": (12, 12, 12, 3), "strata of 30, 30, 3": (30, 30, 3),
    "strata of 30, 30, 4": (30, 30, 4), "10 strata of 3": (3,) * 10,
}  # fmt: skip


def _of_groups(rng, shape, sizes, right):
    """Return scores of groups that share .3 of the variance: right or wrong (.9), or normal."""
    group = np.repeat(np.arange(sizes.size), sizes)
    if right:
        rate = rng.beta(0.9 * 7 / 3, 0.1 * 7 / 3, (*shape, sizes.size))
        return (rng.random((*shape, group.size)) < rate[..., group]) * 1.0, group
    shared = rng.normal(size=(*shape, sizes.size))[..., group]
    own = rng.normal(size=(*shape, group.size))
    return np.sqrt(0.3) * shared + np.sqrt(0.7) * own, group


def score_cases(samples):
    """Yield setting, items, scores (sample, system, item), their mean, the range, the rest."""
    for number, (kind, n, m) in enumerate(INDEPENDENT):
        draw, mean, most = SCORES[kind]
        yield kind, n, draw(np.random.default_rng([9, number]), (samples, m, n)), mean, most, {}
    for number, (name, sizes) in enumerate(SIZES_OF_GROUPS.items()):
        for right in (False, True):
            rng = np.random.default_rng([10, number, right])
            values, group = _of_groups(rng, (samples, 4), sizes, right)
            kind = f"{'right or wrong' if right else 'normal'}, {name}"
            yield (
                kind,
                group.size,
                values,
                0.9 * right,
                1.0 if right else np.inf,
                {"cluster": group},
            )
    for number, (name, sizes) in enumerate(STRATA.items()):
        rng = np.random.default_rng([11, number])
        strata, rate = np.repeat(np.arange(len(sizes)), sizes), np.linspace(0.95, 0.7, len(sizes))
        values = (rng.random((samples, 4, strata.size)) < rate[strata]) * 1.0
        yield f"right or wrong, {name}", strata.size, values, rate.mean(), 1.0, {"strata": strata}


def board(values, most, beside):
    """Rank the systems (system, item) by the public call."""
    frame = pd.DataFrame(values.T).add_prefix("system ")
    if np.isfinite(most):
        frame.attrs["metric"] = "P@10"  # a metric from 0 to 1
    roles = {{"cluster": "groups"}.get(name, name): name for name in beside}
    ask = frame.assign(**beside).rankeval(measures=list(frame), **roles)
    return ask.system_ranks(n_resamples=199)


def scores_rows(samples=1_000):
    """How often do intervals of scores hold the mean, alone and together, and how wide are they?"""
    for kind, n, values, mean, most, beside in score_cases(samples):
        shape = values.shape[:2]
        told = study.warned(partial(board, x, most, beside) for x in values[: 3 * CALLS])
        # all samples are systems of one set of items, at the level of the systems of one sample
        found = items(values.reshape(-1, 1, values.shape[-1]), **beside)
        found.most = most
        for name, count in (("alone", 1), ("together", shape[1])):
            options = replace(study.options(), level=level_of_each(0.95, count))
            limits = scores_with_limits(draws_of(found, PAIR, options, quiet), "bootstrap")
            ends = np.array([limits.theta, *limits.alone]).reshape(3, *shape)
            value, low, high = ends.clip(-most if np.isinf(most) else 0.0, most)
            low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
            held = study.covers(low, high, mean).reshape(-1, count).all(axis=1)
            more = study.just(value, low, high, mean).reshape(-1, count).max(axis=1)
            wide = 1.0 / np.quantile(more, 0.95)
            yield kind, n, shape[1], name, held.mean(), wide, told, held.size
