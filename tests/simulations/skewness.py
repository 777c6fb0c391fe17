"""Tests, ranks and intervals of skewed scores: how often do they err, and what does it cost?"""

from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.decisions.gains import bootstrapped_pairs, pairs_tested_once, ranks_by_draws
from rankeval_pd.stats import bootstrap
from rankeval_pd.stats.gains import swapped_tests
from rankeval_pd.stats.item_gains import draws_of, skewed
from rankeval_pd.stats.items import quiet
from tests.simulations import study
from tests.simulations.study import of_mean

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

#: scores of one system, and their mean
SCORES = {
    "85% ones": (lambda rng, shape: np.where(rng.random(shape) < 0.85, 1, rng.random(shape)), .925),
    "80% zeros": (lambda rng, shape: np.where(rng.random(shape) < 0.8, 0, rng.random(shape)), 0.1),
    "lognormal": (lambda rng, shape: np.exp(rng.normal(size=shape)), float(np.exp(0.5))),
    "as average precision": (lambda rng, shape: rng.beta(0.5, 1.5, size=shape), 0.25),
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
}  # fmt: skip


def asked(seed, *, skewness, event="wild", adjust=None):
    ci = "wild" if event == "wild" else "basic"
    return study.options(event, ci, adjust, seed, n_resamples=B, skewness=skewness)


def rejections(d, seed):
    """Return which samples (sample, item) each procedure finds different from 0."""
    items, pairs = of_mean(study.in_pairs(d, np.zeros_like(d))), np.arange(2 * len(d))
    pairs = pairs.reshape(-1, 2)
    found = {"t test": np.abs(stats.ttest_1samp(d, 0.0, axis=1).pvalue) <= 0.05}
    for name, skewness in (("default", True), ("signs", False)):
        tested = bootstrapped_pairs(items, pairs, asked(seed, skewness=skewness))
        found[f"paired_bootstrap, {name}"] = tested["p_value"] <= 0.05
        options = asked(seed, skewness=skewness, event="recentred")
        swapped = pairs_tested_once(swapped_tests, items, pairs, options)
        found[f"paired_permutation, {name}"] = swapped["p_value"] <= 0.05
    return found


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


EIGHT = {"4 risky, 4 steady": 4, "8 steady": 0}


def eight(rng, n, risky):
    """Return scores (system, item) of eight equally good systems, some of them risky."""
    values = 0.9 + 0.05 * rng.normal(size=(8, n))
    if risky:
        values[:risky] = rng.random((risky, n)) < 0.9
    return values


def ranks(samples):
    """Yield how often eight equally good systems, four of them risky, get a false rank."""
    pairs = study.every_pair(8)
    for n, (kind, risky) in product(ITEMS, EIGHT.items()):
        wrong = {"default": 0, "signs": 0}
        for sample in range(samples):
            rng = np.random.default_rng([8, n, sample, risky == 0])
            items = of_mean(eight(rng, n, risky))
            for name in wrong:
                options = asked(sample, skewness=name == "default", adjust="max-t")
                draws = draws_of(items, pairs, options, quiet)
                found = bootstrapped_pairs(items, pairs, options, draws=draws)
                wrong[name] += bool((found["p_adjusted"] <= 0.05).any())
        for name, count in wrong.items():
            yield "false rank", f"system_ranks, {name}", kind, n, count / samples, samples


def scores(samples):
    """Yield how often the interval of a score holds the mean: alone, and of eight together."""
    for n, (number, (kind, (draw, mean))) in product(ITEMS[:2], enumerate(SCORES.items())):
        held = {"alone": [], "signs": [], "of eight together": []}
        for sample in range(samples // 8):
            rng = np.random.default_rng([9, n, number, sample])
            items = of_mean(draw(rng, (8, n)))
            options = asked(sample, skewness=True, adjust="max-t")
            found = ranks_by_draws(items, options, "simultaneous")
            missed = _misses(found["ci_low_alone"], found["ci_high_alone"], mean)
            held["alone"] += (~missed).tolist()
            missed = _misses(found["ci_low"], found["ci_high"], mean)
            held["of eight together"].append(not missed.any())
            draws = draws_of(items, study.PAIR, options, quiet)
            low, high = bootstrap.limits(
                draws.subsets.values, draws.subsets.weights, draws.student_factor, every=False,
                level=0.95, room=np.zeros(8),
            )  # fmt: skip
            held["signs"] += (~_misses(low, high, mean)).tolist()
        for name, listed in held.items():
            yield "coverage", f"score, {name}", kind, n, float(np.mean(listed)), len(listed)


def warned(samples):
    """Yield how often few items are found to be skewed, in two systems and in eight."""
    for n in (10, 20, 30):
        for number, (kind, draw) in enumerate(DIFFERENCES.items()):
            rng = np.random.default_rng([10, n, number])
            drawn = draw(rng, (samples, n))
            if kind.startswith("0/1, p"):  # which both systems have
                continue
            told = [
                skewed(of_mean(np.stack([d, np.zeros(n)])), study.PAIR, asked(0, skewness=True))
                for d in drawn
            ]
            yield "warned", "paired_bootstrap, default", kind, n, np.mean(told), samples
        for kind, risky in EIGHT.items():
            rng = np.random.default_rng([11, n, risky])
            options = asked(0, skewness=True, adjust="max-t")
            told = [
                skewed(of_mean(eight(rng, n, risky)), study.every_pair(8), options)
                for _ in range(samples)
            ]
            yield "warned", "system_ranks, default", kind, n, np.mean(told), samples


def _misses(low, high, mean):
    """Return where an interval excludes the mean; no interval (NaN) is no claim."""
    return (low > mean + EQUAL) | (high < mean - EQUAL)


def rows(samples=4_000):
    yield from paired(samples)
    yield from ranks(samples // 2)
    yield from scores(samples)
    yield from warned(samples // 2)
