"""Rows that belong together: size, coverage, warnings and width of what takes ``groups``."""

from itertools import product

import numpy as np

from rankeval_pd.curves import area_differences
from rankeval_pd.curves.areas import of_precision_gap, precision_gap, spread_of
from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.decisions.verdicts import OF_CLUSTERS
from rankeval_pd.lists import groups as lists
from rankeval_pd.stats import areas as area_values
from rankeval_pd.stats.clusters import effective_size, packed
from rankeval_pd.stats.item_gains import moves_with_size
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import Size, up_to_ranks
from tests.simulations import study

SAMPLES, MORE = 2_000, 12_000


def summed_up(call, setting, found, truth):
    """Return a row, from estimate, limits, p-value and warning of every sample."""
    value, low, high, p, *warned = np.array(found, dtype=float).T
    just = study.just(value, low, high, truth)
    factor = np.quantile(just[~np.isnan(just)], 0.95)
    return (call, setting, study.covers(low, high, truth).mean(), np.mean(p <= 0.05),
            1.0 / max(factor, 1e-12), np.mean(warned or np.nan), len(found))  # fmt: skip


def gains(gain, cluster, factors=None, weight=1.0):
    return study.of_mean(np.stack([gain, np.zeros(gain.size)]), cluster, weight, factors=factors)


def tested(items, seed, told):
    """Return the gain of two systems, its limits and p-value, and whether a warning comes."""
    row = bootstrapped_pairs(items, study.PAIR, study.options(seed=seed))
    return *(row[x][0] for x in ("gain", "ci_low", "ci_high", "p_value")), told


def sizes_of(rng, kind, groups):
    if kind == "equal":
        return np.full(groups, 10)
    if kind == "lognormal":
        return np.maximum(np.rint(np.exp(rng.normal(2.0, 1.0, groups))), 1).astype(int)
    size = rng.integers(3, 51, groups)
    if kind == "a third in one":
        size[0] = size[1:].sum() // 2
    return size


def systems():
    unequal = (("3 to 50", False), ("3 to 50", True), ("a third in one", False))
    for groups in (10, 20, 50, 100):
        yield _of_systems(groups, "equal", False, "item")
        for (kind, moving), weight in product(unequal, ("item", "group")):
            yield _of_systems(groups, kind, moving, weight)
    for groups, moving, weight in product((10, 20, 50, 160), (False, True), ("item", "group")):
        yield _of_systems(groups, "lognormal", moving, weight)


def _of_systems(groups, kind, moving, weight):
    rng, found = np.random.default_rng(7), []
    every = sizes_of(np.random.default_rng(1), kind, 100_000).astype(float)
    center = (every**2).sum() / every.sum() if weight == "item" else every.mean()
    for k in range(SAMPLES):
        size = sizes_of(rng, kind, groups)
        cluster = np.repeat(np.arange(groups), size)
        shared = np.sqrt(0.3) * rng.normal(size=groups) + moving * (size - center) / every.mean()
        gain = shared[cluster] + np.sqrt(0.7) * rng.normal(size=cluster.size)
        items = gains(gain, cluster, weight=1.0 if weight == "item" else (1.0 / size)[cluster])
        found.append(tested(items, k, weight == "item" and moves_with_size(items, study.PAIR)))
    setting = f"{groups} groups, {kind}{', moving' * moving}, weight {weight}"
    return summed_up("paired_bootstrap", setting, found, 0.0)


FACTORS = ((5, 40), (10, 30), (40, 40))


def crossed():
    shares = ((0.2, 0.2), (0.0, 0.4), (0.4, 0.0), (0.0, 0.0))
    for (one, other), parts in product(FACTORS, shares):
        both, cells = np.divmod(np.arange(one * other), other), np.arange(one * other)
        rng, found, alone = np.random.default_rng(3), [], []
        for k in range(SAMPLES):
            gain = sum(
                np.sqrt(part) * rng.normal(size=levels.max() + 1)[levels]
                for part, levels in zip(parts, both, strict=True)
            ) + np.sqrt(1.0 - sum(parts)) * rng.normal(size=cells.size)
            found.append(tested(gains(gain, cells, both), k, one < 10))
            if parts == (0.2, 0.2):
                alone.append(tested(gains(gain, both[1]), k, False))
        setting = f"{one} x {other}, shares {parts[0]} and {parts[1]}"
        yield summed_up("paired_bootstrap, two factors", setting, found, 0.0)
        if alone:
            yield summed_up("paired_bootstrap, the longer factor alone", setting, alone, 0.0)


def rankings():
    kinds = ("equal", "3 to 50", "a third in one")
    for groups, kind, icc in product((10, 20, 50, 100), kinds, (0.3, 0.8)):
        rows = list(_ranked(groups, kind, icc, SAMPLES))
        if any((row[2] or 1.0) < 0.93 or (row[3] or 0.0) > 0.06 for row in rows):
            rows = list(_ranked(groups, kind, icc, MORE))
        elif any((row[4] or 1.0) > 1.3 for row in rows):
            again = zip(rows, _ranked(groups, kind, icc, MORE), strict=True)
            rows = [more if (row[4] or 1.0) > 1.3 else row for row, more in again]
        yield from rows


UNEQUAL = ", unequal measures"
ONE = ("nbest_recall", "nbest_precision", "area", "area and summary, kind='ap'")


def _ranked(groups, kind, icc, samples):
    rng, other = np.random.default_rng(5), np.random.default_rng(6)
    setting = f"{groups} groups, {kind}, icc {icc}"
    found = {}
    bands = []
    for _ in range(samples):
        cluster = np.repeat(np.arange(groups), sizes_of(rng, kind, groups))
        gold, common, random = (study.together(rng, cluster, icc) for _ in range(3))
        gold = study.upper_quarter(gold)
        positive = int(gold.sum())
        if not 1 < positive < gold.size - 1:
            continue
        n = np.array([max(2, round(0.2 * gold.size))])
        scores = [common + study.together(rng, cluster, icc) + gold for _ in "ab"]
        scores += [common + study.together(other, cluster, icc) + 2.0 * gold, random]
        whole = [study.ranking(score, gold) for score in scores]
        a, b, better, r = (lists.ListMembers.of(one, (), cluster) for one in whole)
        few, few_random = (study.warned([x.warn_of_few]) for x in (a, r))
        tp = up_to_ranks(a.rank, gold)[n]
        for call, worth, size in (
            ("nbest_recall", lists.recall_sizes(a, n, 0.95, fixed=False)[0], positive),
            ("nbest_precision", list_sizes(a, n), n[0]),
        ):
            low, high = INTERVALS["wilson"](worth * tp / size, worth, 0.95)
            found.setdefault(call, []).append((tp[0] / size, low[0], high[0], 1.0, few))
        p = lists.random_p(r, n, (), size=Size(np.array(gold.size), np.array(positive)))[0][0]
        found.setdefault("random_test", []).append((0.0, 0.0, 0.0, p, few_random))
        rows = {
            "compare, summary and measure_ranks": compared(a, b, gold, cluster, n),
            f"compare{UNEQUAL}": compared(better, b, gold, cluster, n),
            **areas(whole[0], cluster),
            **compared_areas(whole[0], whole[1], cluster, ""),
            **compared_areas(whole[2], whole[1], cluster, UNEQUAL),
        }
        for call, row in rows.items():
            found.setdefault(call, []).append((*row, few))
        lists_at = np.maximum(2, np.rint(gold.size * np.array([0.1, 0.2, 0.3]))).astype(int)
        limits = lists.band(a, lists_at, 0.95, n_resamples=299, seed=1)
        shares = up_to_ranks(a.rank, gold)[lists_at] / lists_at
        bands.append((shares, *limits, np.full(3, few)))
    out = summed_up("precision_band", setting, of_bands(bands), 0.0)
    yield (*out[:3], None, *out[4:])
    for call, rows in found.items():
        alone = call in ONE or call.endswith(UNEQUAL)
        truth = np.nanmean([row[0] for row in rows]) if alone else 0.0
        _, _, covers, errs, wide, *rest = summed_up(call, setting, rows, truth)
        if call == "random_test":
            covers = wide = None
        yield (call, setting, covers, None if alone else errs, wide, *rest)


def compared(a, b, gold, cluster, n):
    """Return the difference of precision of two lists, its limits and p-value."""
    keys = np.arange(gold.size, dtype=np.uint64)
    gap = lists.difference(lists.ListPair(a.rank, b.rank, gold, keys, None, cluster), n)
    parts = gap.value / n, gap.error / n, gap.spread.freedom, np.ones(1)
    low, high = OF_CLUSTERS[0](*parts, np.full(1, lists.moved(gold, cluster, None)), level=0.95)
    p = lists.p_of_gap(gap.value, gap.error, gap.spread.freedom, "two-sided")
    return gap.value[0] / n[0], low[0], high[0], p[0]


def of_bands(found):
    """Return the list of each band that is the farthest from its truth, about a truth of 0."""
    share, low, high, told = np.moveaxis(np.array(found, dtype=float), 1, 0)
    truth = share.mean(axis=0)
    worst = study.just(share, low, high, truth).argmax(axis=1)[:, np.newaxis]
    share, low, high = (
        np.take_along_axis(x - truth, worst, axis=1)[:, 0] for x in (share, low, high)
    )
    return list(zip(share, low, high, np.full(share.size, np.nan), told[:, 0], strict=True))


def list_sizes(ranked, n):
    """Return the size of the list's interval, of the target "nbest"."""
    _, spread, near = lists.list_spread(ranked, n, "nbest")
    return effective_size(n, near, spread, 0.95)


def areas(a, cluster):
    """Return area and average precision with their limits, and 1 for the p-value."""
    roc, ap = area_values.placements(a), area_values.influences(a)
    one = spread_of(roc, cluster, warned="", alone=True)
    limits = area_values.newcombe_limits(roc.value, one, 0.95)
    result = {"area": (float(roc.value), *map(float, limits), 1.0)}
    one = spread_of(ap, cluster, warned="", alone=True)
    own = one.error, one.least_freedom, one.positive
    limits = area_values.ap_limits(ap.value, ap.corrected, *own, 0.95)
    result["area and summary, kind='ap'"] = (float(ap.value), *map(float, limits), 1.0)
    return result


def compared_areas(a, b, cluster, of):
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
        result[call + of] = tuple(float(x) for x in values)
    return result


def crossed_lists():
    for one, other in FACTORS:
        both = np.divmod(np.arange(one * other), other)
        cells = packed(*both)
        rng, gaps, shares = np.random.default_rng(9), [], []

        def together(rng=rng, both=both):
            shared = sum(rng.normal(size=levels.max() + 1)[levels] for levels in both)
            return np.sqrt(0.2) * shared + np.sqrt(0.6) * rng.normal(size=both[0].size)

        for _ in range(SAMPLES):
            gold = study.upper_quarter(together())
            if not 1 < gold.sum() < gold.size - 1:
                continue
            common = together()
            a, b = (
                lists.ListMembers.of(study.ranking(common + together() + gold, gold), (), cells)
                for _ in "ab"
            )
            n, few = np.array([round(0.2 * gold.size)]), study.warned([a.warn_of_few])
            gaps.append((*compared(a, b, gold, cells, n), few))
            tp, worth = up_to_ranks(a.rank, gold)[n], list_sizes(a, n)
            low, high = INTERVALS["wilson"](worth * tp / n, worth, 0.95)
            shares.append(((tp / n)[0], low[0], high[0], 1.0, few))
        setting = f"{one} x {other}, shares 0.2 and 0.2"
        yield summed_up("compare, two factors", setting, gaps, 0.0)
        truth = float(np.mean([row[0] for row in shares]))
        row = summed_up("nbest_precision, two factors", setting, shares, truth)
        yield (*row[:3], None, *row[4:])


PARTS = {part.__name__: part for part in (systems, crossed, rankings, crossed_lists)}


def rows(*parts):
    for name in parts or PARTS:
        yield from PARTS[name]()
