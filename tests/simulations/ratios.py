"""Precision, recall and F1 of predictions: how often do the paired tests of two systems err?"""

import itertools
from collections.abc import Callable

import numpy as np
from scipy import stats

from rankeval_pd.decisions.gains import bootstrapped_pairs, pairs_tested_once
from rankeval_pd.stats.gains import swapped_tests
from rankeval_pd.stats.item_gains import FEW_ANSWERS, draws_of, uneven
from rankeval_pd.stats.items import METRICS, Items, quiet
from tests.simulations import study
from tests.simulations.study import PAIR

SAMPLES, MORE = 2_000, 20_000
SWAPPED = 600  # samples that are also swapped
SIZES = ((10, 10), (10, 100), (10, 500), (30, 30), (30, 500), (100, 100), (100, 500), (500, 500))
Sample = Callable[[np.random.Generator], np.ndarray]  # statistics (system, item, statistic)


def asked(event):
    return study.options(event, "wild" if event == "wild" else "basic", seed=1)


def guesses(n_a, n_b, shared, share_a, share_b):
    """Return guesses of fixed numbers, of which some are those of both systems."""
    a = np.repeat([1.0, 0.0, 1.0], [n_a - shared, n_b - shared, shared])
    b = np.repeat([0.0, 1.0, 1.0], [n_a - shared, n_b - shared, shared])

    def draw(rng):
        u = rng.random(a.size)
        right = u < np.where(b > 0.0, share_b, share_a)
        return np.stack([np.stack([right * a, a], 1), np.stack([(u < share_b) * b, b], 1)])

    return draw


def scattered(only_a, only_b, both, items, p_a, p):
    """Return guesses at random items, p of those of both right, p_a of those of the first alone."""
    share = (only_a * p_a + both * p) / (only_a + both)
    p_b = (share * (only_b + both) - both * p) / only_b

    def draw(rng):
        rest = 1.0 - only_a - only_b - both
        cell = rng.choice(4, size=items, p=[only_a, only_b, both, rest])
        right = rng.random(items) < np.array([p_a, p_b, p, 0.0])[cell]
        a, b = (np.isin(cell, x) * 1.0 for x in ((0, 2), (1, 2)))
        return np.stack([np.stack([right * a, a], 1), np.stack([right * b, b], 1)])

    return draw


def of_f1(items, gold, found_a, false_a, found_b):
    """Return predictions with the same true F1: of the second with its own share of gold found."""
    score = 2 * gold * found_a / (gold * found_a + (1 - gold) * false_a + gold)
    false_b = (2 * gold * found_b / score - gold - gold * found_b) / (1 - gold)

    def draw(rng):
        true, u = rng.random(items) < gold, rng.random((2, items))
        rates = ((found_a, false_a), (found_b, false_b))
        said = np.array([u[k] < np.where(true, *rates[k]) for k in (0, 1)])
        return np.stack([said & true, said, np.broadcast_to(true, said.shape)], axis=2) * 1.0

    return draw


def sentences(items, mean_a, mean_b, share):
    def draw(rng):
        easy = rng.beta(4.0 * share, 4.0 * (1.0 - share), items)
        said = rng.poisson([[mean_a], [mean_b]], (2, items))
        return np.stack([rng.binomial(said, easy), said], axis=2) * 1.0

    return draw


def recalls(n, share_a, share_b):
    def draw(rng):
        found = rng.random((2, n)) < [[share_a], [share_b]]
        return np.stack([found, np.ones((2, n))], axis=2) * 1.0

    return draw


def settings():
    """Yield metric, setting, the true gain and what draws a sample."""
    for (n_a, n_b), p in itertools.product(SIZES, (0.1, 0.3, 0.5, 0.9)):
        if n_a >= 100 and p in (0.3, 0.9):
            continue
        for shared, said in ((0, "apart"), (n_a // 2, "half shared"), (n_a - 1, "nested")):
            if n_a == n_b and said == "nested":
                shared = round(0.9 * n_a)
            named = f"{n_a} and {n_b} guesses {said}, {p:g} right"
            yield "precision", named, 0.0, guesses(n_a, n_b, shared, p, p)
    for only_a, only_b, both, p_a, p in (
        (0.1, 0.1, 0.5, 0.3, 0.9), (0.2, 0.05, 0.3, 0.6, 0.8), (0.05, 0.3, 0.1, 0.5, 0.6),
    ):  # fmt: skip
        for items in (100, 500):
            named = f"{items} items, guessed by a {only_a}, by b {only_b}, by both {both}"
            yield "precision", named, 0.0, scattered(only_a, only_b, both, items, p_a, p)
    for items, gold, found_a, false_a, found_b in (
        (100, 0.3, 0.3, 0.02, 0.7), (600, 0.3, 0.3, 0.02, 0.7), (100, 0.3, 0.5, 0.1, 0.5),
        (600, 0.3, 0.5, 0.1, 0.5), (100, 0.5, 0.2, 0.0, 0.25), (600, 0.1, 0.2, 0.01, 0.5),
    ):  # fmt: skip
        named = f"{items} items, {gold:g} gold, found {found_a:g} and {found_b:g}"
        yield "f1", named, 0.0, of_f1(items, gold, found_a, false_a, found_b)
    for items, mean_a, mean_b, p in itertools.product((50, 200), (0.5, 2.5), (2.5,), (0.3, 0.8)):
        named = f"{items} sentences of {mean_a:g} and {mean_b:g} guesses, {p:g} right"
        yield "precision", named, 0.0, sentences(items, mean_a, mean_b, p)
    for n_a, n_b, p, q in ((10, 100, 0.8, 0.5), (30, 30, 0.9, 0.6), (30, 500, 0.3, 0.1),
                           (100, 100, 0.6, 0.4), (100, 500, 0.95, 0.85)):  # fmt: skip
        named = f"{n_a} and {n_b} guesses apart, {p:g} and {q:g} right"
        yield "precision", named, p - q, guesses(n_a, n_b, 0, p, q)
    for n, p, q in ((30, 0.8, 0.5), (100, 0.6, 0.45)):
        named = f"recall of {n}, {p:g} and {q:g} found"
        yield "recall", named, p - q, recalls(n, p, q)


def peer(values, metric):
    """Return McNemar's exact p-value of recall, and Boschloo's of guesses that are apart."""
    (right_a, n_a), (right_b, n_b) = values.sum(axis=1)
    if metric == "recall":
        only = [int((values[k, :, 0] > values[1 - k, :, 0]).sum()) for k in (0, 1)]
        return stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0
    return stats.fisher_exact([[right_a, n_a - right_a], [right_b, n_b - right_b]])[1]


def shares_of(values, metric, gain, *, swap):
    """Return of a sample: is it rejected, held, warned of, and rejected by swaps?"""
    items = Items(values, None, METRICS[metric].score, 1.0, None)
    draws = draws_of(items, PAIR, asked("wild"), quiet)
    few = bool(draws.parametric.answers.min() < FEW_ANSWERS)
    tails = draws.parametric.tails
    rejected = 2.0 * min(tails[0][0], tails[1][0]) <= 0.05 and not draws.parametric.few[0]
    held, swapped = not rejected, (np.nan, np.nan)  # without a gain, it holds 0 if p > .05
    if gain:
        row = bootstrapped_pairs(items, PAIR, asked("wild"))
        assert (row["p_value"][0] <= 0.05) == rejected
        held = bool(row["ci_low"][0] <= gain <= row["ci_high"][0])
    if swap:
        other = pairs_tested_once(swapped_tests, items, PAIR, asked("recentred"))
        swapped = bool(other["p_value"][0] <= 0.05), uneven(items, PAIR)
    return rejected, held, few, *swapped


def simulate(number, metric, gain, draw, samples=SAMPLES):
    """Return the shares of samples of one setting; samples of the same sums are asked once."""
    rng = np.random.default_rng([32, number])
    known = {}
    found, peers = [], []
    for sample in range(samples):
        values = draw(rng)
        columns = np.concatenate([*values, np.ones((values.shape[1], 1))], axis=1)
        key = (columns.T @ columns).tobytes()
        if key not in known:
            swap = sample < SWAPPED and values.shape[1] > 20
            known[key] = shares_of(values, metric, gain, swap=swap)
        found.append(known[key])
        if gain:
            peers.append(peer(values, metric) <= 0.05)
    rejected, held, few, *swapped = np.array(found, dtype=float).T
    swaps = [float(x[:SWAPPED].mean()) if len(values[0]) > 20 else None for x in swapped]
    size = float(rejected.mean())
    return {
        "size": None if gain else size, "power": size if gain else None,
        "peer": float(np.mean(peers)) if gain else None, "coverage": float(held.mean()),
        "warned": float(few.mean()), "samples": samples, "swapped": SWAPPED,
        "permutation": swaps[0], "uneven": swaps[1],
    }  # fmt: skip


def rows():
    for number, (metric, named, gain, draw) in enumerate(settings()):
        shares = simulate(number, metric, gain, draw)
        if not gain and shares["size"] > 0.06:
            shares = simulate(number, metric, gain, draw, MORE)
        yield {"metric": metric, "setting": named, **shares}
