"""Defaults for rankings where data are few, selected or pooled: size, coverage and warnings.

Each row is a call, its setting, and a share: how often an interval covers, or a test rejects a true
hypothesis. ``before`` is the share of the version that an audit examined, ``now`` that of this one.
``warned`` is the share of single calls that warn, in the settings whose cure is a warning, and in
those where nothing is amiss. Scores are normal, those of positives higher by ``quality``, and
measures share half of their variance. Writes second_audit_rankings.csv beside itself, and keeps its
column ``before``; a quarter of an hour.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from average_precision import truth
from scipy import special
from unpaired import run as unpaired

import rankeval_pd
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import judged as judged_sums

SAMPLES = 2_000
Row = tuple[str, str, str, float, Any]


def drawn(positive, negative, qualities, samples=SAMPLES, seed=1) -> xr.Dataset:
    """Return repeated samples of candidates, with as many measures as qualities."""
    rng = np.random.default_rng(seed)
    gold = np.arange(positive + negative) < positive
    common = rng.normal(size=(samples, gold.size))
    scores = {
        f"m{k}": common + rng.normal(size=common.shape) + np.sqrt(2.0) * quality * gold
        for k, quality in enumerate(qualities)
    }
    dims = ("sample", "candidate")
    return xr.Dataset({**{k: (dims, x) for k, x in scores.items()}, "gold": ("candidate", gold)})


def warned(data: xr.Dataset, ask, calls=200) -> float:
    """Return in which share of single samples the call warns."""
    count = 0
    for k in range(calls):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ask(data.isel(sample=k).to_dataframe().rankeval)
        count += bool(found)
    return count / calls


def covers(low, high, true) -> np.ndarray:
    return (np.asarray(low) <= true + 1e-12) & (true - 1e-12 <= np.asarray(high))


def areas() -> Iterator[Row]:
    for sizes in ((10, 100), (5, 100), (10, 30)):
        for quality in (1.0, 2.0, 3.0):
            found = unpaired(tuple((p, 9 * p) for p in sizes), quality, "ap", SAMPLES)
            setting = f"{sizes[0]} and {sizes[1]} positives of 10%, quality {quality:g}"
            yield "unpaired_area(kind='ap')", setting, "size", 0.05, found["errs"]
            yield "unpaired_area(kind='ap')", setting, "coverage", 0.95, found["covers_other"]
    for positive, negative in ((3, 100), (3, 1_000), (4, 100), (10, 90)):
        for quality in (0.36, 0.95, 1.8):
            data = drawn(positive, negative, [quality] * 2)
            p = data.rankeval.compare_area("m0", "m1")["p_value"].to_numpy()
            setting = f"{positive} positives and {negative}, quality {quality:g}"
            for alpha in (0.05, 0.001):
                yield "compare_area", setting, "size", alpha, p <= alpha
    for positive in (3, 10, 30):
        data = drawn(positive, 10 * positive, [1.0] * 3)
        table = data.rankeval.measure_ranks(kind="roc", adjust="holm")
        share = (table["rank_low"] > 1).any("measure").to_numpy()
        told = warned(data, lambda x: x.measure_ranks(kind="roc", adjust="holm"))
        setting = f"3 equal measures, {positive} positives of {11 * positive}"
        yield "measure_ranks(kind='roc')", setting, "size", 0.05, (share, told)
    for positive, negative in ((5, 95), (10, 90)):
        for quality, what in ((0.0, "size"), (1.5, "power"), (2.0, "power")):
            better = drawn(positive, negative, [quality]).rankeval.summary()["better_than_chance"]
            setting = f"{positive} positives and {negative}, quality {quality:g}"
            yield "summary, better_than_chance", setting, what, 0.05, better.to_numpy()


def selected() -> Iterator[Row]:
    for count in (8, 20):
        data = drawn(100, 400, [1.2] * count)
        n, quality = 60, 1.2
        scores = np.linspace(-8.0, 10.0, 200_001)  # the threshold of the share n / N
        tail = 0.2 * special.ndtr(quality - scores) + 0.8 * special.ndtr(-scores)
        cut = scores[np.argmin(np.abs(tail - n / 500))]
        true = 0.2 * special.ndtr(quality - cut) / (n / 500)
        table = data.rankeval.nbest_precision(n)
        best = table["precision"].argmax("measure")
        ending = "_best" if "ci_low_best" in table else ""
        held = [table[f"ci_{x}{ending}"].isel(measure=best).squeeze() for x in ("low", "high")]
        setting = f"the best of {count} equal measures"
        yield "nbest_precision", setting, "coverage", 0.95, covers(*held, true)
        if count == 8:  # of 20 it takes minutes, and is the same
            table = data.rankeval.measure_ranks(n, adjust=None)
            held = [table[f"ci_{x}"].isel(measure=best).squeeze() for x in ("low", "high")]
            yield "measure_ranks", setting, "coverage", 0.95, covers(*held, true)
        for kind in ("roc", "ap"):
            table = data.rankeval.measure_ranks(kind=kind, adjust=None)
            best = table["value"].argmax("measure")
            held = [table[f"ci_{x}"].isel(measure=best) for x in ("low", "high")]
            true = special.ndtr(quality / np.sqrt(2.0)) if kind == "roc" else truth(quality, 0.2)
            yield f"measure_ranks(kind={kind!r})", setting, "coverage", 0.95, covers(*held, true)
    for count in (8, 20):
        for what, wanted in (("recall", 0.8), ("precision", 0.7)):
            data = drawn(90, 210, [1.5] * count)
            table = data.rankeval.choose_threshold(**{what: wanted})
            looks = table["precision" if what == "recall" else "n_accepted"]
            best = looks.fillna(-1.0).argmax("measure")
            cut = table["threshold"].isel(measure=best).to_numpy() / np.sqrt(2.0)
            recall, fallout = special.ndtr(1.5 - cut), special.ndtr(-cut)
            reached = recall if what == "recall" else 0.3 * recall / (0.3 * recall + 0.7 * fallout)
            setting = f"{what} {wanted:g}, the best-looking of {count}"
            yield "choose_threshold", setting, "size", 0.05, reached < wanted


def few() -> Iterator[Row]:
    for n in (7, 15):
        for qualities in ((2.0, 1.0), (1.5, 1.5), (3.0, 1.0)):
            data = drawn(30, 270, qualities)
            table = data.rankeval.compare("m0", "m1", n).isel(pair=0, n=0)
            held = covers(table["ci_low"], table["ci_high"], float(table["difference"].mean()))
            setting = f"30 positives of 300, n {n}, qualities {qualities[0]:g} and {qualities[1]:g}"
            yield "compare", setting, "coverage", 0.95, held
    for name, a, b in (("even", 2.0, 2.0), ("rare", 0.5, 2.0), ("very rare", 0.3, 3.0)):
        for queries in (5, 10, 20, 50):
            rng = np.random.default_rng(1)
            each = rng.binomial(5, rng.beta(a, b, (SAMPLES, queries))) / 5.0
            found = cluster_totals.query_ratio(each, np.ones(each.shape))
            limits = cluster_totals.query_share_limits(found.value, found.se, found.n, 0.95)
            setting = f"P@5 of {queries} queries, {name} positives"
            held = covers(*limits, a / (a + b))
            yield "nbest_precision(average='macro')", setting, "coverage", 0.95, held


def judged() -> Iterator[Row]:
    pools: list[tuple[str, Any, Any]] = [
        ("pool by depth, rates 1/.3/.05", [50, 200], (1, 0.3, 0.05))
    ]
    pools += [("pool to depth 100, then .2", [100], (1, 0.2))]
    plain = [
        (500, 20, 2.0, 0.2),
        (1_000, 100, 1.5, 0.04),
        (100, 8, 2.0, 0.5),
        (1_000, 100, 1.5, 0.3),
    ]
    settings = [
        (f"{name}, {positive} positives of {total}", total, positive, quality, ends, rates)
        for name, ends, rates in pools
        for total, positive, quality in ((1_000, 100, 1.5), (1_000, 50, 2.0))
    ]
    settings += [
        (f"{rate:g} of {total} judged, {round(rate * positive)} positives", total, positive,
         quality, [], (rate,))
        for total, positive, quality, rate in plain
    ]  # fmt: skip
    for setting, *how in settings:
        yield "judged_average_precision", setting, "coverage", 0.95, _judged_average(*how)
    for size, shares, rate in ((5, (0.9, 0.1), 0.3), (10, (0.9, 0.1), 0.15), (20, (0.8, 0.3), 0.1)):
        rng = np.random.default_rng(1)
        true = rng.random((20 * SAMPLES, 2, size)) < np.array(shares)[:, np.newaxis]
        seen = rng.random(true.shape) < rate
        one = np.stack([np.full(seen.shape[:-1], size), seen.sum(-1), (seen & true).sum(-1)], -1)
        sums = np.concatenate([one, one], axis=-1).astype(float)
        design = judged_sums.Design(1, "estimate", "ratio", 0.95)
        found = judged_sums.total_difference(*(design.total(sums[:, k]) for k in (0, 1)))
        none = np.isnan(found.estimate)
        gap = true[:, 0].sum(-1) - true[:, 1].sum(-1)
        setting = f"regions of {size}, {rate:g} judged, none in one"
        held = covers(found.low, found.high, gap)[none]
        yield "judged_difference", setting, "coverage", 0.95, held


def _judged_average(total, positive, quality, ends, rates) -> np.ndarray:
    rng, held = np.random.default_rng(1), []
    stratum = np.searchsorted(ends, np.arange(1, total + 1))
    rate = np.array(rates, dtype=float)[stratum]
    design = judged_sums.Design(len(rates), "estimate", "ratio", 0.95)
    while len(held) < SAMPLES:
        score = rng.normal(size=total) + quality * (np.arange(total) < positive)
        order = np.argsort(-score)
        gold, seen = order < positive, rng.random(total) < rate
        value, low, high = judged_sums.inferred_average_precision(
            score[order], judged_sums.JudgedSample(seen, gold & seen, rate, stratum), design
        )
        rank = np.flatnonzero(gold) + 1
        true = float((np.arange(1, positive + 1) / rank).mean())
        if not np.isnan(value):
            held.append(bool(covers(low, high, true)))
    return np.array(held)


def main() -> None:
    rows = []
    for part in (areas, selected, few, judged):
        for call, setting, quantity, nominal, found in part():
            share, told = found if isinstance(found, tuple) else (found, np.nan)
            count = SAMPLES if np.ndim(share) == 0 else np.size(share)
            rows.append([call, setting, quantity, nominal, np.mean(share), told, count])
            print(rows[-1], flush=True, file=sys.stderr)
    names = ["call", "setting", "quantity", "nominal", "now", "warned", "samples"]
    table = pd.DataFrame(rows, columns=names).round(4)
    file = Path(__file__).with_suffix(".csv")
    keys = ["call", "setting", "quantity", "nominal"]
    if file.exists():
        before = pd.read_csv(file)[[*keys, "before"]]
        table = table.merge(before, on=keys, how="left")
    else:
        table["before"] = table["now"]
    table.to_csv(file, index=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
    main()
