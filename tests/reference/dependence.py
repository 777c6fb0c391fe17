"""Rows that belong together: size, coverage, warnings and width of what takes ``groups``.

Systems over items: groups of 3 to 50 items, equal, lognormal, or one a third of all; the gain of
an item has a part that its group shares (.3 of its variance), and "moving" is one that grows with
the size of the group, the mean that is tested being truly 0. Two crossed factors: levels of either
share .2 of the variance each, and cells have one item. Rankings: label and scores of a group share
``icc`` of their variance. In "unequal measures", the positives of the first measure score one
standard deviation of the noise higher. Of 10 lognormal groups whose gain moves, .70 of samples
are warned of: of a test at the .1 level, which is as often as those may be warned of whose gain
does not move, the power is .87 at most (Student's of the weighted slope, the most powerful unbiased
one). ``covers`` is the share of samples whose 95% interval has the truth, ``errs`` the share in
which a true hypothesis is rejected at 5%, ``wide`` how many times as wide intervals are as those
that would just cover, ``warned`` the share of samples with a warning. Rankings whose share of 2,000
samples is beyond its limit are drawn 12,000 times instead, as are rows wider than 1.3.
Writes dependence.csv beside itself; an hour.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.curves import area_differences
from rankeval_pd.curves.areas import of_precision_gap, precision_gap, spread_of
from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.decisions.verdicts import OF_CLUSTERS
from rankeval_pd.lists import groups as lists
from rankeval_pd.lists.groups import (
    ListMembers,
    ListPair,
    band,
    difference,
    list_spread,
    moved,
    p_of_gap,
)
from rankeval_pd.stats import areas as early
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import item_gains as item_draws
from rankeval_pd.stats.items import METRICS, Items, PairOptions
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import Ranking, Size, up_to_ranks

SAMPLES, MORE = 2_000, 12_000
PAIR = np.array([[0, 1]])
Row = tuple[str, str, float | None, float | None, float | None, float | None, int]


def summed_up(call: str, setting: str, found: list[tuple[Any, ...]], truth: float) -> Row:
    """Return a row, from estimate, limits, p-value and warning of every sample."""
    value, low, high, p, *warned = np.array(found, dtype=float).T
    side = np.where(value > truth, value - low, high - value)
    just = np.abs(value - truth) / np.maximum(side, 1e-12)
    factor = np.quantile(just[~np.isnan(just)], 0.95)
    covers = ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean()
    return (call, setting, covers, np.mean(p <= 0.05), 1.0 / max(factor, 1e-12),
            np.mean(warned or np.nan), len(found))  # fmt: skip


def options(seed: int) -> PairOptions:
    return PairOptions(
        999, "wild", "auto", "", None, 0.05, 0.95, seed, keep_order=True, skewness=True
    )


def gains(gain: np.ndarray, cluster: Any, factors: Any = None, weight: Any = None) -> Items:
    """Return two systems that differ by the gain."""
    values = np.zeros((2, gain.size, 2))
    values[0, :, 0], values[..., 1] = gain, 1.0
    if weight is not None:
        values *= weight[:, np.newaxis]
    score, linear = METRICS["mean"].score, "mean"
    return Items(values, cluster, score, 1.0, linear, factors=factors)


def sizes_of(rng: Any, kind: str, groups: int) -> np.ndarray:
    if kind == "equal":
        return np.full(groups, 10)
    if kind == "lognormal":
        return np.maximum(np.rint(np.exp(rng.normal(2.0, 1.0, groups))), 1).astype(int)
    size = rng.integers(3, 51, groups)
    if kind == "a third in one":
        size[0] = size[1:].sum() // 2
    return size


def systems() -> Iterator[Row]:
    for groups in (10, 20, 50, 100):
        yield _of_systems(groups, "equal", False, "item")
        for kind, moving in (("3 to 50", False), ("3 to 50", True), ("a third in one", False)):
            for weight in ("item", "group"):
                yield _of_systems(groups, kind, moving, weight)
    for groups in (10, 20, 50, 160):
        for moving in (False, True):
            for weight in ("item", "group"):
                yield _of_systems(groups, "lognormal", moving, weight)


def _of_systems(groups: int, kind: str, moving: bool, weight: str) -> Row:
    rng, found = np.random.default_rng(7), []
    every = sizes_of(np.random.default_rng(1), kind, 100_000).astype(float)
    center = (every**2).sum() / every.sum() if weight == "item" else every.mean()
    for k in range(SAMPLES):
        size = sizes_of(rng, kind, groups)
        cluster = np.repeat(np.arange(groups), size)
        shared = np.sqrt(0.3) * rng.normal(size=groups) + moving * (size - center) / every.mean()
        gain = shared[cluster] + np.sqrt(0.7) * rng.normal(size=cluster.size)
        items = gains(gain, cluster, weight=(1.0 / size)[cluster] if weight == "group" else None)
        told = weight == "item" and item_draws.moves_with_size(items, PAIR)
        row = bootstrapped_pairs(items, PAIR, options(k))
        found.append((row["gain"][0], row["ci_low"][0], row["ci_high"][0], row["p_value"][0], told))
    setting = f"{groups} groups, {kind}{', moving' * moving}, weight {weight}"
    return summed_up("paired_bootstrap", setting, found, 0.0)


def crossed() -> Iterator[Row]:
    for one, other in ((5, 40), (10, 30), (40, 40)):
        first, second = np.divmod(np.arange(one * other), other)
        cells = np.arange(one * other)
        for parts in ((0.2, 0.2), (0.0, 0.4), (0.4, 0.0), (0.0, 0.0)):
            rng, found, alone = np.random.default_rng(3), [], []
            for k in range(SAMPLES):
                gain = sum(
                    np.sqrt(part) * rng.normal(size=levels.max() + 1)[levels]
                    for part, levels in zip(parts, (first, second), strict=True)
                ) + np.sqrt(1.0 - sum(parts)) * rng.normal(size=cells.size)
                row = bootstrapped_pairs(gains(gain, cells, (first, second)), PAIR, options(k))
                found.append(
                    (
                        row["gain"][0],
                        row["ci_low"][0],
                        row["ci_high"][0],
                        row["p_value"][0],
                        one < 10,
                    )
                )
                if parts == (0.2, 0.2):
                    row = bootstrapped_pairs(gains(gain, second), PAIR, options(k))
                    limits = row["ci_low"][0], row["ci_high"][0]
                    alone.append((row["gain"][0], *limits, row["p_value"][0], False))
            setting = f"{one} x {other}, shares {parts[0]} and {parts[1]}"
            yield summed_up("paired_bootstrap, two factors", setting, found, 0.0)
            if alone:
                yield summed_up("paired_bootstrap, the longer factor alone", setting, alone, 0.0)


def rankings() -> Iterator[Row]:
    for groups in (10, 20, 50, 100):
        for kind in ("equal", "3 to 50", "a third in one"):
            for icc in (0.3, 0.8):
                rows = list(_ranked(groups, kind, icc, SAMPLES))
                if any((row[2] or 1.0) < 0.93 or (row[3] or 0.0) > 0.06 for row in rows):
                    rows = list(_ranked(groups, kind, icc, MORE))
                elif any((row[4] or 1.0) > 1.3 for row in rows):
                    again = zip(rows, _ranked(groups, kind, icc, MORE), strict=True)
                    rows = [more if (row[4] or 1.0) > 1.3 else row for row, more in again]
                yield from rows


def _ranked(groups: int, kind: str, icc: float, samples: int) -> Iterator[Row]:
    rng, setting = np.random.default_rng(5), f"{groups} groups, {kind}, icc {icc}"
    other = np.random.default_rng(6)
    found: dict[str, list[tuple[Any, ...]]] = {}
    bands = []
    for _ in range(samples):
        size = sizes_of(rng, kind, groups)
        cluster = np.repeat(np.arange(groups), size)

        def together(rng: np.random.Generator = rng, cluster: Any = cluster) -> np.ndarray:
            shared = rng.normal(size=groups)[cluster]
            return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)

        gold = together() > stats.norm.ppf(0.75)
        common, random = together(), together()
        positive, here = int(gold.sum()), np.ones(gold.size, dtype=bool)
        if not 1 < positive < gold.size - 1:
            continue
        n = np.array([max(2, round(0.2 * gold.size))])
        whole = [
            Ranking.of(score, gold, here)
            for score in (common + together() + gold, common + together() + gold, random)
        ]
        a, b, r = (ListMembers.of(one, (), cluster) for one in whole)
        tp = up_to_ranks(a.rank, gold)[n]
        for call, worth, size in (
            ("nbest_recall", lists.recall_sizes(a, n, 0.95, fixed=False)[0], positive),
            ("nbest_precision", list_sizes(a, n), n[0]),
        ):
            low, high = INTERVALS["wilson"](worth * tp / size, worth, 0.95)
            row = (tp[0] / size, low[0], high[0], 1.0, clusters_warned(a))
            found.setdefault(call, []).append(row)
        p = lists.random_p(r, n, (), size=Size(np.array(gold.size), np.array(positive)))[0][0]
        found.setdefault("random_test", []).append((0.0, 0.0, 0.0, p, clusters_warned(r)))
        better = Ranking.of(common + together(other) + 2.0 * gold, gold, here)
        for call, one in (
            ("compare, summary and measure_ranks", a),
            (f"compare{UNEQUAL}", ListMembers.of(better, (), cluster)),
        ):
            row = compared(one, b, gold, cluster, n)
            found.setdefault(call, []).append((*row, clusters_warned(a)))
        for call, row in areas(whole[0], cluster).items():
            found.setdefault(call, []).append((*row, clusters_warned(a)))
        for one, unequal in ((whole[0], ""), (better, UNEQUAL)):
            for call, row in compared_areas(one, whole[1], cluster).items():
                found.setdefault(call + unequal, []).append((*row, clusters_warned(a)))
        lists_at = np.maximum(2, np.rint(gold.size * np.array([0.1, 0.2, 0.3]))).astype(int)
        limits = band(a, lists_at, 0.95, n_resamples=299, seed=1)
        shares = up_to_ranks(a.rank, gold)[lists_at] / lists_at
        bands.append((shares, *limits, np.full(3, clusters_warned(a))))
    out = summed_up("precision_band", setting, *of_bands(bands))
    yield (*out[:3], None, *out[4:])
    for call, rows in found.items():
        alone = call in ONE or call.endswith(UNEQUAL)
        truth = np.nanmean([row[0] for row in rows]) if alone else 0.0
        out = summed_up(call, setting, rows, truth)
        covers = None if call == "random_test" else out[2]
        wide = None if call == "random_test" else out[4]
        yield (*out[:2], covers, None if alone else out[3], wide, *out[5:])


def compared(
    a: ListMembers, b: ListMembers, gold: np.ndarray, cluster: np.ndarray, n: np.ndarray
) -> tuple[float, ...]:
    """Return the difference of precision of two lists, its limits and p-value."""
    keys = np.arange(gold.size, dtype=np.uint64)
    gap = difference(ListPair(a.rank, b.rank, gold, keys, None, cluster), n)
    parts = gap.value / n, gap.error / n, gap.spread.freedom, np.ones(1)
    low, high = OF_CLUSTERS[0](*parts, np.full(1, moved(gold, cluster, None)), level=0.95)
    p = p_of_gap(gap.value, gap.error, gap.spread.freedom, "two-sided")
    return gap.value[0] / n[0], low[0], high[0], p[0]


def of_bands(found: list[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], float]:
    """Return the list of each band that is the farthest from its truth, about a truth of 0."""
    share, low, high, told = np.moveaxis(np.array(found, dtype=float), 1, 0)
    truth = share.mean(axis=0)
    side = np.where(share > truth, share - low, high - share)
    worst = (np.abs(share - truth) / np.maximum(side, 1e-12)).argmax(axis=1)[:, np.newaxis]
    share, low, high = (
        np.take_along_axis(x - truth, worst, axis=1)[:, 0] for x in (share, low, high)
    )
    rows = zip(share, low, high, np.full(share.size, np.nan), told[:, 0], strict=True)
    return list(rows), 0.0


UNEQUAL = ", unequal measures"
ONE = ("nbest_recall", "nbest_precision", "area", "area and summary, kind='ap'")


def list_sizes(ranked: ListMembers, n: Any) -> Any:
    """Return the size of the list's interval, of the target "nbest"."""
    _, spread, near = list_spread(ranked, n, "nbest")
    return cluster_totals.effective_size(n, near, spread, 0.95)


def clusters_warned(ranked: ListMembers) -> bool:
    """Return whether a warning of few groups comes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranked.warn_of_few()
    return bool(caught)


def areas(a: Ranking, cluster: Any) -> dict[str, tuple[float, ...]]:
    """Return area and average precision with their limits, and 1 for the p-value."""
    roc, ap = roc_areas.placements(a), early.influences(a)
    one = spread_of(roc, cluster, warned="", alone=True)
    limits = roc_areas.newcombe_limits(roc.value, one, 0.95)
    result = {"area": (float(roc.value), *map(float, limits), 1.0)}
    one = spread_of(ap, cluster, warned="", alone=True)
    own = one.error, one.least_freedom, one.positive
    limits = early.ap_limits(ap.value, ap.corrected, *own, 0.95)
    result["area and summary, kind='ap'"] = (float(ap.value), *map(float, limits), 1.0)
    return result


def compared_areas(a: Ranking, b: Ranking, cluster: Any) -> dict[str, tuple[float, ...]]:
    """Return the differences of area and average precision, their limits and p-values."""
    roc = area_differences.roc_gap(a, b, cluster, test="t", alternative="two-sided")
    ap = precision_gap(a, b, cluster, alternative="two-sided", ties="blocks")
    result = {}
    for call, found, interval in (
        ("compare_area", roc, area_differences.OF_ROC_GAP),
        ("compare_area and summary, kind='ap'", ap, of_precision_gap(clustered=True)),
    ):
        low, high = interval.limits(*(found[x] for x in interval.columns), level=0.95)
        values = found["difference"], low, high, found["p_value"]
        result[call] = tuple(float(x) for x in values)
    return result


def crossed_lists() -> Iterator[Row]:
    for one, other in ((5, 40), (10, 30), (40, 40)):
        first, second = np.divmod(np.arange(one * other), other)
        cells = cluster_totals.packed(first, second)
        rng, gaps, shares = np.random.default_rng(9), [], []
        for _ in range(SAMPLES):

            def together(rng: Any = rng, both: Any = (first, second)) -> np.ndarray:
                shared = sum(rng.normal(size=levels.max() + 1)[levels] for levels in both)
                return np.sqrt(0.2) * shared + np.sqrt(0.6) * rng.normal(size=both[0].size)

            gold = together() > stats.norm.ppf(0.75)
            if not 1 < gold.sum() < gold.size - 1:
                continue
            common, here = together(), np.ones(gold.size, dtype=bool)
            a, b = (
                ListMembers.of(Ranking.of(common + together() + gold, gold, here), (), cells)
                for _ in range(2)
            )
            n = np.array([round(0.2 * gold.size)])
            gaps.append((*compared(a, b, gold, cells, n), clusters_warned(a)))
            tp, worth = up_to_ranks(a.rank, gold)[n], list_sizes(a, n)
            low, high = INTERVALS["wilson"](worth * tp / n, worth, 0.95)
            shares.append(((tp / n)[0], low[0], high[0], 1.0, clusters_warned(a)))
        setting = f"{one} x {other}, shares 0.2 and 0.2"
        row = summed_up("compare, two factors", setting, gaps, 0.0)
        yield row
        truth = float(np.mean([row[0] for row in shares]))
        row = summed_up("nbest_precision, two factors", setting, shares, truth)
        yield (*row[:3], None, *row[4:])


def main() -> None:
    warnings.simplefilter("ignore")
    names = ["call", "setting", "covers", "errs", "wide", "warned", "samples"]
    parts = {f.__name__: f for f in (systems, crossed, rankings, crossed_lists)}
    rows = []
    for name in sys.argv[1:] or parts:
        for row in parts[name]():
            rows.append(row)
            print(*row, flush=True)
    path = Path(__file__).with_suffix(".csv")
    table = pd.DataFrame(rows, columns=names)
    if sys.argv[1:] and path.exists():
        old = pd.read_csv(path)
        mine = old.set_index(["call", "setting"]).index.isin(
            table.set_index(["call", "setting"]).index
        )
        table = pd.concat([old[~mine], table], ignore_index=True)
    table.to_csv(path, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
