"""Coverage of intervals of average precision, and the size of its paired test, by simulation.

Scores are normal, those of positives higher by ``quality``; with ``step`` they are rounded to its
multiples, and equal scores are one block, or ``equal`` = "mean". The truth is the average precision
of the population with this prevalence, ``mean`` that of samples of this size, which is higher where
positives are few. ``logit`` is the interval of ``area("ap")``, ``plain`` its part around the value
alone, ``normal`` value -+ z se, ``bootstrap`` the percentiles of 200 resamples of positives and
others, on their own. ``test_errs``: the paired test of two equally good measures at 5%;
``difference_covers``: its interval where the other measure's quality is .5 higher. ``variance`` is
the mean of the estimated variance by the true one, that of AP over the samples. ``..._without`` is
the same without the factor N+ / (N+ - 1) of the influences, up to 100 positives. Writes
average_precision.csv beside itself; twenty CPU minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy import special, stats

from rankeval_pd.curves.areas import of_precision_gap, precision_columns, precision_gap
from rankeval_pd.stats import areas as ap
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats.ranking import Ranking

Z = special.ndtri(0.975)
AT_ONCE = 2_000_000
MOST = 100  # positives, of more of which the factor is 1.01 and less


def truth(quality: float, prevalence: float, step: float = 0.0, equal: str = "block") -> float:
    """Return the mean precision at the scores of positives, from fine cells or from blocks."""
    edges = np.arange(quality + 9.0, -9.0, -(step or 1e-3)) + step / 2.0
    tp, fp = prevalence * special.ndtr(quality - edges), (1 - prevalence) * special.ndtr(-edges)
    part = np.array([1.0]) if step and equal == "block" else (np.arange(64) + 0.5) / 64.0
    inner = [(x[:-1, np.newaxis] + part * np.diff(x)[:, np.newaxis]) for x in (tp, fp)]
    precision = (inner[0] / (inner[0] + inner[1])).mean(axis=1)
    return float((np.diff(tp) * precision).sum() / np.diff(tp).sum())


def bootstrap(score, gold, rng, ties, draws=200):
    """Return percentile limits of resampled positives and others, on their own."""
    parts = [np.flatnonzero(gold == label) for label in (True, False)]
    rows = np.hstack([rng.choice(part, (draws, part.size)) for part in parts])
    values = ap.influences(
        Ranking.of(score[rows], gold[rows], np.ones(rows.shape, bool)), ties=ties
    ).value
    return np.quantile(values, [0.025, 0.975])


def without(where="rankeval_pd.curves.areas.influences"):
    """Let influences be those without the factor N+ / (N+ - 1)."""
    factored = ap.influences

    def plain(*args, **kwargs):
        found = factored(*args, **kwargs)
        positive = found.gold.sum(axis=-1, keepdims=True)
        return found._replace(influence=found.influence * (positive - 1) / positive)

    return mock.patch(where, plain)


def run(positives, prevalence, quality, step, equal, repetitions, resampled, seed=1):
    rng = np.random.default_rng(seed)
    total = round(positives / prevalence)
    gold, here = np.arange(total) < positives, np.ones(total, bool)
    wanted, better = (truth(q, positives / total, step, equal) for q in (quality, quality + 0.5))
    ties = {"block": "blocks", "mean": "expected"}[equal]
    found = []
    for start in range(0, repetitions, max(1, AT_ONCE // total)):
        size = min(max(1, AT_ONCE // total), repetitions - start)
        common = rng.normal(size=(size, total))
        a, b, c = (
            gold * q + np.sqrt(0.5) * (common + rng.normal(size=(size, total)))
            for q in (quality, quality, quality + 0.5)
        )
        if step:
            a, b, c = (step * np.round(x / step) for x in (a, b, c))
        one = ap.influences(Ranking.of(a, gold, here), ties=ties)
        error = np.sqrt(roc_areas.area_spread(one.influence, one.gold, one.present).variance)
        freedom = np.full(size, min(positives, total - positives) - 1)
        given = error, freedom, np.full(size, positives), 0.95
        low, high = ap.ap_limits(one.value, one.corrected, *given)
        plain = ap.ap_limits(one.value, one.value, *given)
        options = {"level": 0.95, "ties": ties}

        def pairs_of(a, b, c, options=options):
            rankings = [Ranking.of(score, gold, here) for score in (a, b, c)]
            same, other = (
                precision_gap(rankings[0], x, alternative="two-sided", ties=ties)
                for x in rankings[1:]
            )
            differ, interval = wanted - better, of_precision_gap()
            columns = (other[name] for name in interval.columns)
            low, high = interval.limits(*columns, level=options["level"])
            return same["p_value"] <= 0.05, (low <= differ) & (differ <= high)

        tested, differs = pairs_of(a, b, c)
        of_factor = {}
        if positives <= MOST:
            with without():
                tested_without, differs_without = pairs_of(a, b, c)
                without_factor = precision_columns(Ranking.of(a, gold, here), **options)
                below, above = without_factor["ci_low"], without_factor["ci_high"]
            of_factor = {
                "variance": error**2, "without": (below <= wanted) & (wanted <= above),
                "test_without": tested_without, "difference_without": differs_without,
            }  # fmt: skip
        row = {
            "value": one.value, "low": low, "high": high, "plain": (plain[0] <= wanted)
            & (wanted <= plain[1]), "normal": np.abs(one.value - wanted) <= Z * error,
            "test": tested, "difference": differs, **of_factor,
        }  # fmt: skip
        drawn = np.full(size, np.nan)
        for k in range(max(0, min(size, resampled - start))):
            ends = bootstrap(a[k], gold, rng, ties)
            drawn[k] = ends[0] <= wanted <= ends[1]
        found.append(pd.DataFrame({**row, "bootstrap": drawn}))
    table = pd.concat(found)
    low, high, mean = table["low"], table["high"], table["value"].mean()
    result = {
        "positives": positives, "prevalence": prevalence, "quality": quality, "step": step,
        "equal": equal, "repetitions": repetitions, "truth": wanted, "mean": mean,
        "logit_covers": ((low <= wanted) & (wanted <= high)).mean(),
        "logit_covers_mean": ((low <= mean) & (mean <= high)).mean(),
        "plain_covers": table["plain"].mean(), "normal_covers": table["normal"].mean(),
        "bootstrap_covers": table["bootstrap"].mean(), "test_errs": table["test"].mean(),
        "difference_covers": table["difference"].mean(),
    }  # fmt: skip
    if positives <= MOST:
        ratio = table["variance"].mean() / table["value"].var()
        result |= {
            "variance": ratio, "variance_without": ratio * ((positives - 1) / positives) ** 2,
            "logit_covers_without": table["without"].mean(),
            "test_errs_without": table["test_without"].mean(),
            "difference_covers_without": table["difference_without"].mean(),
        }  # fmt: skip
    return result


def main() -> None:
    settings = [
        (positives, prevalence, quality, 0.0, "block")
        for positives in (2, 3, 5, 10, 30, 100, 1_000)
        for prevalence in (0.01, 0.1, 0.5)
        for quality in (1.0, 2.0)
    ]
    settings += [
        (positives, prevalence, quality, 0.0, "block")
        for positives in (3, 5, 8, 15, 30)
        for prevalence in (0.01, 0.1, 0.5)
        for quality in ((0.5, 1.0, 2.0) if positives in (8, 15) else (0.5,))
    ]
    settings.sort()
    settings += [
        (positives, prevalence, 1.0, 0.5, equal)
        for positives in (10, 100)
        for prevalence in (0.1, 0.5)
        for equal in ("block", "mean")
    ]
    rows = []
    for setting in settings:
        size = setting[0] / setting[1]
        repetitions = 4_000 if size <= 3_000 else 1_500 if size <= 10_000 else 600
        rows.append(run(*setting, repetitions, 200 if size <= 1_000 else 0))
        print(rows[-1], flush=True, file=sys.stderr)
    table = pd.DataFrame(rows).round(4)
    table.insert(
        6, "se", stats.binom(table["repetitions"], 0.95).std().round(4) / table["repetitions"]
    )
    table["se"] = table["se"].round(4)
    table.to_csv(Path(__file__).with_name("average_precision.csv"), index=False)


if __name__ == "__main__":
    main()
