"""The power that plans from a pilot promise, and the power that they have."""

import warnings
from functools import cache, partial
from itertools import islice, product

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.judging.annotation import _sample_sizes, _smallest_sample, _State
from rankeval_pd.stats.two_by_two import fisher_test

SAMPLES, IN_RANGE = 2_000, 400


def planned(call, *asked, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        row = call(*asked, **options).iloc[0]
    return row, bool(found)


def regions(size, seen, budget, kind):
    """Plan by plan_annotation, lists of which nothing is shared."""
    rng = np.random.default_rng(1)
    where = [rng.permutation(size)[:seen] for _ in range(2)]

    @cache
    def plan(tp_a, tp_b):
        if kind == "naive":
            state = _State(size, (seen, seen), (tp_a, tp_b), (tp_a / seen, tp_b / seen))
            reached = partial(state.power, 0.05)
            more = _smallest_sample(reached, 0.8, 2 * (size - seen)) if budget is None else budget
            return more, reached(more), np.nan, np.nan, False
        gold = np.full((2, size), np.nan)
        for side, tp in enumerate((tp_a, tp_b)):
            gold[side, where[side]] = np.arange(seen) < tp
        score = np.arange(2.0 * size)
        data = pd.DataFrame({"a": -score, "b": score, "gold": gold.ravel()})
        row, told = planned(data.rankeval.plan_annotation, "a", "b", size, budget=budget)
        return int(row["n_more"]), *row[["power", "power_low", "power_high"]], told

    rng = np.random.default_rng(2)
    true = rng.binomial(size, rng.beta(0.5, 0.5, (SAMPLES, 2)))
    pilot = rng.hypergeometric(true, size - true, seen)
    plans = [plan(*map(int, x)) for x in pilot]
    more, power, low, high, told = (np.array(x) for x in zip(*plans, strict=True))
    sizes = np.array([_sample_sizes(int(x), [seen, seen], size) for x in more])
    left = true - pilot
    tp = pilot + rng.hypergeometric(left, size - seen - left, sizes - seen)
    held = np.nan
    if kind != "naive":
        ends = zip(true.tolist(), pilot.tolist(), more.tolist(), low, high, strict=True)
        held = np.mean([
            x - 1e-9 <= _given(size, seen, tuple(t), tuple(s), k) <= y + 1e-9
            for t, s, k, x, y in islice(ends, IN_RANGE)
        ])  # fmt: skip
    asked = "power 0.8" if budget is None else f"budget {budget}"
    return {
        "what": "plan_annotation", "kind": kind, "size": size, "pilot": seen, "asked": asked,
        "power": power.mean(), "simulated": rejected(tp, sizes), "in_range": held,
        "warned": told.mean(), "median_n": np.median(more), "samples": SAMPLES,
    }  # fmt: skip


@cache
def _given(size, seen, true, pilot, k):
    """Return the power of k more judgments, given how many of the regions are true."""
    state = _State(size, (seen, seen), pilot, tuple(x / size for x in true))
    return state.power(0.05, k)


def lists(seen, n):
    """Plan by needed_candidates, lists of which half is shared; the pilot judged 2 * seen each."""

    @cache
    def plan(tp_a, tp_b):
        share = (tp_a + tp_b) / (2 * seen)
        both = [0.5 * share + 0.5 * x / seen for x in (tp_a, tp_b)]
        row, told = planned(rankeval_pd.needed_candidates, *both, 0.5, n, n_judged=2 * seen)
        return int(row["n_judgements"]) // 2, row["power"], told

    rng = np.random.default_rng(3)
    rate = rng.beta(0.5, 0.5, (4 * SAMPLES, 2))
    pilot = rng.binomial(seen, rate)
    proper = (pilot.sum(axis=1) > 0) & (pilot.sum(axis=1) < 2 * seen)  # precisions in (0, 1)
    rate, pilot = rate[proper][:SAMPLES], pilot[proper][:SAMPLES]
    plans = [plan(*map(int, x)) for x in pilot]
    size, power, told = (np.array(x) for x in zip(*plans, strict=True))
    sizes = np.stack([size, size], axis=1)
    return {
        "what": "needed_candidates", "kind": "assurance", "size": n // 2, "pilot": seen,
        "asked": f"n {n}", "power": power.mean(),
        "simulated": rejected(rng.binomial(sizes, rate), sizes), "warned": told.mean(),
        "median_n": np.median(2 * size), "samples": len(rate),
    }  # fmt: skip


def rejected(tp, sizes):
    test = fisher_test(tp[:, 0], sizes[:, 0], tp[:, 1], sizes[:, 1], "two-sided")
    return float((np.asarray(test.p_value) <= 0.05).mean())


def rows():
    for size, seen in ((60, 5), (60, 10), (200, 10)):
        yield regions(size, seen, None, "assurance")
        yield regions(size, seen, None, "naive")
        yield regions(size, seen, 40, "assurance")
    for seen in (10, 30):
        for n in (60, 200):
            yield lists(seen, n)


MEASURES = {"G2": "log.like", "chi2": "chisq", "t": "t.score", "MI": "MI"}
PAIRS = [("G2", "chi2"), ("G2", "MI"), ("chi2", "t")]
DRAWS = 20_000


def plans_rows():
    """Plans of judgments for Evert's data, and the power that they have. Seconds."""
    krenn = rankeval_pd.datasets.load_krenn_ppv()
    whole = krenn[[*MEASURES.values(), "is.colloc"]].set_axis([*MEASURES, "gold"], axis=1)
    whole = whole.reset_index(drop=True)
    rng = np.random.default_rng(1)
    for (a, b), n in product(PAIRS, (100, 500, 1_000)):
        region = whole.rankeval.difference_region(a, b, n)
        sides = [region[region["list"] == side] for side in "ab"]
        shares = tuple(side["gold"].mean() for side in sides)
        for start in (0, 20):
            chosen = [rng.permutation(side.index)[: start // 2] for side in sides]
            gold = whole["gold"].astype(float).where(whole.index.isin(np.concatenate(chosen)))
            partly = whole.assign(gold=gold)
            plan = rankeval_pd.plan_annotation(partly, a, b, n, precisions=shares).iloc[0]
            more = int(plan["n_more"])
            yield (
                f"{a}, {b}", n, plan["n_region"], plan["region_share"], start, more, plan["power"],
                _power(rng, sides, chosen, more),
            )  # fmt: skip


def _power(rng, sides, chosen, more):
    """Return how often the judgments of a sheet of this length are significant."""
    left = [len(side) - len(start) for side, start in zip(sides, chosen, strict=True)]
    new = [min(max(more - more // 2, more - left[1]), left[0])]
    new.append(more - new[0])
    counts = []
    for side, start, count in zip(sides, chosen, new, strict=True):
        seen = int(side.loc[start, "gold"].sum())
        true = int(side["gold"].sum()) - seen
        rest = len(side) - len(start) - true
        tp = seen + rng.hypergeometric(true, rest, count, DRAWS)
        counts += [tp, len(start) + count]
    return float((fisher_test(*counts, "two-sided").p_value <= 0.05).mean())
