"""The power that plans from a pilot promise, and the power that they have. Writes assurance.csv.

The precisions of the two regions are drawn from Jeffreys's prior, then the candidates, a pilot, the
plan by a default call, the judgments that it asks for, and Fisher's test of all of them. "power"
is the mean of what 2,000 plans promise, "simulated" how often the tests reject, and "in_range" how
often, in the first 400, the power given the true precisions is in the range of the plan. "naive"
plans take the precisions of the pilot as true. ``warned`` is the share of plans that warn.
"""

from __future__ import annotations

import warnings
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.judging.annotation import _sample_sizes, _smallest_sample, _State
from rankeval_pd.stats.two_by_two import fisher_test

SAMPLES, IN_RANGE = 2_000, 400


def regions(size: int, seen: int, budget: int | None, kind: str) -> dict[str, object]:
    """Plan by plan_annotation, lists of which nothing is shared."""
    rng = np.random.default_rng(1)
    where = [rng.permutation(size)[:seen] for _ in range(2)]

    @cache
    def plan(tp_a: int, tp_b: int) -> tuple[int, float, float, float, bool]:
        gold = np.full((2, size), np.nan)
        for side, tp in enumerate((tp_a, tp_b)):
            gold[side, where[side]] = np.arange(seen) < tp
        score = np.arange(2.0 * size)
        data = pd.DataFrame({"a": -score, "b": score, "gold": gold.ravel()})
        if kind == "naive":
            state = _State(size, (seen, seen), (tp_a, tp_b), (tp_a / seen, tp_b / seen))
            reached = partial(state.power, 0.05)
            more = _smallest_sample(reached, 0.8, 2 * (size - seen)) if budget is None else budget
            return more, reached(more), np.nan, np.nan, False
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            row = data.rankeval.plan_annotation("a", "b", size, budget=budget).iloc[0]
        return int(row["n_more"]), *row[["power", "power_low", "power_high"]], bool(found)

    rng = np.random.default_rng(2)
    true = rng.binomial(size, rng.beta(0.5, 0.5, (SAMPLES, 2)))
    pilot = rng.hypergeometric(true, size - true, seen)
    plans = [plan(*map(int, x)) for x in pilot]
    more, power, low, high, told = (np.array(x) for x in zip(*plans, strict=True))
    sizes = np.array([_sample_sizes(int(x), [seen, seen], size) for x in more])
    left = true - pilot
    tp = pilot + rng.hypergeometric(left, size - seen - left, sizes - seen)
    rejected = _rejected(tp, sizes)
    given = cache(
        lambda totals, tps, k: _State(
            size, (seen, seen), tps, tuple(x / size for x in totals)
        ).power(0.05, k)
    )
    held = np.nan
    if kind != "naive":
        ends = zip(true.tolist(), pilot.tolist(), more.tolist(), low, high, strict=True)
        held = np.mean(
            [
                x - 1e-9 <= given(tuple(t), tuple(s), k) <= y + 1e-9
                for t, s, k, x, y in islice(ends, IN_RANGE)
            ]
        )
    return {
        "what": "plan_annotation", "kind": kind, "size": size, "pilot": seen,
        "asked": "power 0.8" if budget is None else f"budget {budget}",
        "power": power.mean(), "simulated": rejected.mean(), "in_range": held,
        "warned": told.mean(), "median_n": np.median(more), "samples": SAMPLES,
    }  # fmt: skip


def lists(seen: int, n: int) -> dict[str, object]:
    """Plan by needed_candidates, lists of which half is shared; the pilot judged 2 * seen each."""

    @cache
    def plan(tp_a: int, tp_b: int) -> tuple[int, float, bool]:
        share = (tp_a + tp_b) / (2 * seen)
        both = [0.5 * share + 0.5 * x / seen for x in (tp_a, tp_b)]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            row = rankeval_pd.needed_candidates(*both, 0.5, n, n_judged=2 * seen).iloc[0]
        return int(row["n_judgements"]) // 2, row["power"], bool(found)

    rng = np.random.default_rng(3)
    rate = rng.beta(0.5, 0.5, (4 * SAMPLES, 2))
    pilot = rng.binomial(seen, rate)
    proper = (pilot.sum(axis=1) > 0) & (pilot.sum(axis=1) < 2 * seen)  # precisions in (0, 1)
    rate, pilot = rate[proper][:SAMPLES], pilot[proper][:SAMPLES]
    size, power, told = (
        np.array(x) for x in zip(*(plan(*map(int, x)) for x in pilot), strict=True)
    )
    sizes = np.stack([size, size], axis=1)
    rejected = _rejected(rng.binomial(sizes, rate), sizes)
    return {
        "what": "needed_candidates", "kind": "assurance", "size": n // 2, "pilot": seen,
        "asked": f"n {n}", "power": power.mean(),
        "simulated": rejected.mean(), "in_range": np.nan, "warned": told.mean(),
        "median_n": np.median(2 * size), "samples": len(rate),
    }  # fmt: skip


def _rejected(tp: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    test = fisher_test(tp[:, 0], sizes[:, 0], tp[:, 1], sizes[:, 1], "two-sided")
    return np.asarray(test.p_value) <= 0.05


def main() -> None:
    rows = []
    for size, seen in ((60, 5), (60, 10), (200, 10)):
        for budget in (None, 40):
            for kind in ("assurance", "naive") if budget is None else ("assurance",):
                rows.append(regions(size, seen, budget, kind))
                print(rows[-1], flush=True)
    for seen in (10, 30):
        for n in (60, 200):
            rows.append(lists(seen, n))
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main()
