"""Coverage and size where candidates come in clusters: what takes groups, and what does not."""

from itertools import islice, product

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd import per_query
from rankeval_pd.curves import area_differences
from rankeval_pd.curves.areas import of_precision_gap, precision_gap, spread_of
from rankeval_pd.decisions.gains import bootstrapped_pairs
from rankeval_pd.decisions.verdicts import OF_CLUSTERS
from rankeval_pd.lists import groups as lists
from rankeval_pd.stats import areas as area_values
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats import clusters, swaps
from rankeval_pd.stats.clusters import effective_size, packed
from rankeval_pd.stats.item_gains import moves_with_size
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import Size, mix, nbest_spread, up_to_ranks
from tests.simulations import study

SAMPLES = 2_000


def sample(rng, n_clusters, sizes, icc, strength, gain=0.0):
    """Return candidates of clusters, 25% positives, whose first scores are higher by a gain."""
    size = np.full(n_clusters, 5) if sizes == "5" else rng.integers(1, 51, n_clusters)
    cluster = np.repeat(np.arange(n_clusters), size)
    gold = study.upper_quarter(study.together(rng, cluster, icc))
    common = study.together(rng, cluster, icc)
    scores = {}
    for name, more in (("a", gain), ("b", 0.0)):
        own = study.together(rng, cluster, icc)
        scores[name] = (strength + more) * gold + np.sqrt(0.6) * common + np.sqrt(0.4) * own
    return pd.DataFrame({**scores, "gold": gold, "cluster": cluster})


def setting(n_clusters, sizes, icc, strength, swaps_too):
    rng = np.random.default_rng(2026)
    mean_size = 5 if sizes == "5" else 25.5
    n = np.array([max(2, round(share * n_clusters * mean_size)) for share in (0.1, 0.2, 0.3)])
    drawing = {"n_resamples": 299, "seed": 1}
    points, rows = [], []
    for _ in range(SAMPLES):
        data = sample(rng, n_clusters, sizes, icc, strength)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if len(data) < n[-1] or not 1 < gold.sum() < len(data) - 1:
            continue
        a, b = (
            lists.ListMembers.of(study.ranking(data[name].to_numpy(), gold), (), cluster)
            for name in "ab"
        )
        counts = np.concatenate([[0], np.cumsum(gold[np.argsort(a.rank)])])
        points.append(counts[n] / n)
        size = nbest_spread(counts, n[1:2], np.array(gold.size)).effective(n[1:2])
        pair = lists.ListPair(a.rank, b.rank, gold, np.unique(cluster), None, cluster)
        found = lists.difference(pair, n)
        p = lists.p_of_gap(found.value, found.error, found.spread.freedom, "two-sided")[1]
        half = lists.margins(pair, n, [0.95], each=False, **drawing)[0]
        rows.append({
            "region": single(a, n[1:2], "region"), "nbest": single(a, n[1:2], "nbest"),
            "difference": p > 0.05, "band": lists.band(a, n, 0.95, **drawing),
            "difference_band": (np.abs(found.value / n) <= half + 1e-12).all(),
            "max_t": found_by_swaps(a, b, n) if swaps_too else np.nan,
            "independent": INTERVALS["clopper-pearson"](size * points[-1][1], size, 0.95),
        })  # fmt: skip
    truth = np.mean(points, axis=0)
    wanted = {"region": truth[1:2], "nbest": truth[1:2], "independent": truth[1:2], "band": truth}
    shares = [
        np.mean(
            [
                study.covers(*row[name], wanted[name]).all() if name in wanted else row[name]
                for row in rows
            ]
        )
        for name in rows[0]
    ]
    shown = np.round(np.array(shares, dtype=float), 3).tolist()
    return [n_clusters, sizes, icc, strength, n[1], round(truth[1], 3), len(rows), *shown]


def single(ranked, n, target):
    size = list_sizes(ranked, n, target)
    return INTERVALS["wilson"](size * up_to_ranks(ranked.rank, ranked.gold)[n] / n, size, 0.95)


def found_by_swaps(a, b, n):
    keys = mix(a.cluster.astype(np.uint64))
    drawing = {"n_resamples": 199, "seed": 1, "keys": keys}
    found = swaps.swap_tests(a.rank, b.rank, a.gold, n, "two-sided", **drawing)
    return (found.together <= 0.05).any()


def rows():
    for setting_of in study.settings("clusters", "clusters", "sizes", "icc", "strength"):
        n_clusters, sizes = setting_of[:2]
        yield setting(*setting_of, swaps_too=sizes == "5" and n_clusters <= 50)


def drawn(n_clusters, sizes, icc, strength, gain=0.0):
    """Return area, variance, freedom, class sizes and ``moved``: (which, number, sample).

    Which is the first area, alone and for a difference, the second, and the difference.
    """
    rng = np.random.default_rng(7)
    parts = []
    while len(parts) < SAMPLES:
        data = sample(rng, n_clusters, sizes, icc, strength, gain)
        gold, cluster = data["gold"].to_numpy(), data["cluster"].to_numpy()
        if not 1 < gold.sum() < len(data) - 1:
            continue
        a, b = (roc_areas.placements(study.ranking(data[name].to_numpy(), gold)) for name in "ab")
        apart = a._replace(value=a.value - b.value, influence=a.influence - b.influence)
        found = [
            spread_of(values, cluster, warned=False, alone=alone)
            for values, alone in ((a, True), (a, False), (b, False), (apart, False))
        ]
        parts.append([
            (area, x.variance, x.freedom, x.positive, x.negative, x.moved)
            for area, x in zip((a.value, a.value, b.value, a.value - b.value), found, strict=True)
        ])  # fmt: skip
    return np.moveaxis(np.array(parts, dtype=float), 0, 2)


def students(which):
    return stats.t.ppf(0.975, np.maximum(which[3, 2], 1.0)) * np.sqrt(which[3, 1])


def least_factor(which, truth):
    """Return by how much Student's intervals must be widened to cover .95, and how many cover."""
    away = np.abs(which[3, 0] - truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(away < 1e-12, 0.0, away / students(which))
    return np.quantile(needed, 0.95, method="higher"), np.mean(needed <= 1.0)


def beside_students(which, limits, wide, *at):
    if wide <= 1.3:
        return "", "", wide
    error, trial = which[3, 0].std(), 0.5
    gained = drawn(*at, gain=trial)[3, 0].mean()
    other = drawn(*at, gain=trial * min(error / gained, 3.0))
    factor, plain = least_factor(other, other[3, 0].mean())
    least, varies = max(factor, least_factor(which, 0.0)[0], 1.0), which[3, 1] > 0.0
    width = np.median(((limits[1] - limits[0]) / (2.0 * students(which)))[varies])
    return plain, least, width / least


def area_setting(n_clusters, sizes, icc, strength):
    at = n_clusters, sizes, icc, strength
    which = drawn(*at)
    groups, none = np.full(SAMPLES, n_clusters), np.full(SAMPLES, np.nan)
    own, a, b, gap = (roc_areas.AreaSpread(*x[1:5], n_groups=groups) for x in which)
    areas = which[0, 0], which[2, 0]
    alone = areas[0], *roc_areas.newcombe_limits(areas[0], own, 0.95), none
    counts = tuple(np.minimum(x, np.sqrt(x * n_clusters)) for x in which[3, 3:5])
    variances = a.variance, b.variance, gap.variance
    limits = roc_areas.area_difference_limits(
        areas, variances, gap.freedom, counts, 0.95, which[3, 5]
    )
    t = np.abs(which[3, 0]) / np.maximum(np.sqrt(gap.variance), 1e-300)
    p = 2.0 * stats.t.sf(t, np.maximum(gap.freedom, 1.0))
    mean = float(np.mean(areas[0]))
    area = summed_up("", "", list(zip(*alone, strict=True)), mean)
    gap = summed_up("", "", list(zip(which[3, 0], *limits, p, strict=True)), 0.0)
    last = beside_students(which, limits, gap[4], *at)
    shares = [
        x if isinstance(x, str) else f"{x:.4g}"
        for x in (mean, area[2], area[4], gap[3], gap[2], gap[4], *last)
    ]
    return [*at, SAMPLES, *shares]


def cluster_areas_rows():
    """Yield the coverage of the intervals of ROC areas, from the same samples."""
    for at in study.settings("cluster_areas", "clusters", "sizes", "icc", "strength"):
        yield area_setting(*at)


MORE = 12_000


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


def of_factors(rng, both, parts=(0.2, 0.2)):
    """Return normal values of which the levels of two factors share these parts."""
    shared = sum(
        np.sqrt(part) * rng.normal(size=levels.max() + 1)[levels]
        for part, levels in zip(parts, both, strict=True)
    )
    return shared + np.sqrt(1.0 - sum(parts)) * rng.normal(size=both[0].size)


def crossed():
    shares = ((0.2, 0.2), (0.0, 0.4), (0.4, 0.0), (0.0, 0.0))
    for (one, other), parts in product(FACTORS, shares):
        both, cells = np.divmod(np.arange(one * other), other), np.arange(one * other)
        rng, found, alone = np.random.default_rng(3), [], []
        for k in range(SAMPLES):
            gain = of_factors(rng, both, parts)
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
            ("nbest_recall", lists.recall_sizes(a, n, 0.95, "nbest")[0], positive),
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


def list_sizes(ranked, n, target="nbest"):
    """Return the size of the list's interval."""
    _, spread, near = lists.list_spread(ranked, n, target)
    return effective_size(n, near, spread, 0.95)


def areas(a, cluster):
    """Return area and average precision with their limits, and 1 for the p-value."""
    roc, ap = area_values.placements(a), area_values.influences(a)
    one = spread_of(roc, cluster, warned=False, alone=True)
    limits = area_values.newcombe_limits(roc.value, one, 0.95)
    result = {"area": (float(roc.value), *map(float, limits), 1.0)}
    one = spread_of(ap, cluster, warned=False, alone=True)
    limits = area_values.ap_limits(*area_values.precision_terms(ap, one), level=0.95)
    result["area and summary, kind='ap'"] = (float(ap.value), *map(float, limits), 1.0)
    return result


def compared_areas(a, b, cluster, of):
    """Return the differences of area and average precision, their limits and p-values."""
    roc = area_differences.roc_gap(a, b, cluster, test="t", alternative="two-sided")
    ap = precision_gap(a, b, cluster, alternative="two-sided")
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

        for _ in range(SAMPLES):
            gold = study.upper_quarter(of_factors(rng, both))
            if not 1 < gold.sum() < gold.size - 1:
                continue
            common = of_factors(rng, both)
            a, b = (
                lists.ListMembers.of(
                    study.ranking(common + of_factors(rng, both) + gold, gold), (), cells
                )
                for _ in "ab"
            )
            n, few = np.array([round(0.2 * gold.size)]), study.warned([a.warn_of_few])
            gaps.append((*compared(a, b, gold, cells, n), few))
            (low,), (high,) = single(a, n, "nbest")
            shares.append(((up_to_ranks(a.rank, gold)[n] / n)[0], low, high, 1.0, few))
        setting = f"{one} x {other}, shares 0.2 and 0.2"
        yield summed_up("compare, two factors", setting, gaps, 0.0)
        truth = float(np.mean([row[0] for row in shares]))
        row = summed_up("nbest_precision, two factors", setting, shares, truth)
        yield (*row[:3], None, *row[4:])


PARTS = {part.__name__: part for part in (systems, crossed, rankings, crossed_lists)}


def dependence_rows(*parts):
    """Rows that belong together: size, coverage, warnings and width of what takes ``groups``."""
    for name in parts or PARTS:
        yield from PARTS[name]()


METRICS = ("AP", "nDCG@10", "P@10", "RR")
TESTS = {
    "t": lambda rows: rows.paired_permutation(test="t"),
    "swaps": lambda rows: rows.paired_permutation(),
    "wild": lambda rows: rows.paired_bootstrap(),
}
DOCUMENTS = 60
WARNED = 100  # samples that are asked alone
AT_ONCE = 20_000  # queries in memory together


def values_of(count, seed):
    """Return the values of two equal runs: a row per query, columns of two levels."""
    rng = np.random.default_rng(seed)
    parts = [_some(min(AT_ONCE, count - start), rng) for start in range(0, count, AT_ONCE)]
    return pd.concat(parts, ignore_index=True)


def _some(count, rng):
    shape = (count, DOCUMENTS)
    rate = rng.beta(0.6, 9.0, (count, 1))  # few relevant documents, in some queries none
    grade = rng.random(shape) < rate
    ease = rng.normal(1.0, 0.8, (count, 1))
    shared = rng.normal(size=shape) + ease * grade
    frame = pd.DataFrame({
        "query": np.repeat(np.arange(count), DOCUMENTS),
        "document": np.tile(np.arange(DOCUMENTS), count),
        "grade": grade.ravel().astype(int),
        **{run: (shared + rng.normal(size=shape)).ravel() for run in "ab"},
    })  # fmt: skip
    return frame.rankeval.per_query(METRICS, wide=True)


def query_tests_rows(samples=1_000):
    """Size of the paired tests of search: t, swaps and random signs, on values as queries have."""
    for queries in (10, 25, 50, 100, 250):
        values = values_of(samples * queries, queries)
        sample = np.arange(len(values)) // queries
        for metric, (name, ask) in product(METRICS, TESTS.items()):
            table = values[metric].assign(sample=sample)
            found = ask(table.rankeval(by="sample", measures=["a", "b"]))
            each = (one.rankeval(measures=["a", "b"]) for _, one in table.groupby("sample"))
            size = study.rejected(found)
            told = study.warned(lambda x=x, ask=ask: ask(x) for x in islice(each, WARNED))
            yield metric, queries, name, size, study.error(size, samples), told


QUERIES, DEPTH, DRAWN = 20_000, 40, 20_000


def population():
    rng = np.random.default_rng(14)
    chance = rng.beta(0.8, 4.0, (QUERIES, 1))
    gold = rng.random((QUERIES, DEPTH)) < chance
    score = gold * rng.gamma(1.5, 1.0, (QUERIES, 1)) + rng.standard_normal(gold.shape)
    frame = pd.DataFrame(
        {"query": np.repeat(np.arange(QUERIES), DEPTH), "a": score.ravel(), "gold": gold.ravel()}
    )
    return per_query(frame, ["P@10", "AP"], ties="expected", wide=True)


def query_means_rows():
    """Do macro intervals hold their level? Samples of queries from a population of 20,000."""
    values = population()
    rng = np.random.default_rng(15)
    for metric in ("P@10", "AP"):
        every = values[metric]["a"].to_numpy()
        for size in (5, 10, 20, 50, 250):
            drawn = every[rng.integers(every.size, size=(DRAWN, size))]
            found = clusters.query_ratio(drawn, np.ones_like(drawn))
            low, high = clusters.query_share_limits(found.value, found.se, found.n, 0.95)
            below, above = (high < every.mean()).mean(), (low > every.mean()).mean()
            shares = " ".join(f"{x:.4f}" for x in (1 - below - above, below, above))
            yield [f"{metric:6} {size:7} {shares}"]
