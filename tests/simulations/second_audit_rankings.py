"""Defaults for rankings where data are few, selected or pooled: size, coverage and warnings."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import judged as judged_sums
from tests.simulations import study
from tests.simulations.areas import truth

SAMPLES, CALLS = 2_000, 200
KEYS = ["call", "setting", "quantity", "nominal"]


def drawn(positive, negative, qualities, coarser=()):
    """Return samples of measures that share half of their variance, made coarser if so said."""
    gold = np.arange(positive + negative) < positive
    shifts = [quality * gold for quality in qualities]
    scores = study.alike(np.random.default_rng(1), (SAMPLES, gold.size), shifts)
    for k, rounded in enumerate(coarser):
        scores[k] = rounded(scores[k]).astype(float)
    return study.dataset({f"m{k}": score for k, score in enumerate(scores)}, gold)


def covers(table, true, ending=""):
    return study.covers(
        *(np.asarray(table[f"ci_{x}{ending}"]).squeeze() for x in ("low", "high")), true
    )


def areas():
    for sizes, quality in product(((3, 100), (3, 1_000), (4, 100), (10, 90)), (0.36, 0.95, 1.8)):
        table = drawn(*sizes, [quality] * 2).rankeval.compare_area("m0", "m1")
        setting = f"{sizes[0]} positives and {sizes[1]}, quality {quality:g}"
        for alpha in (0.05, 0.001):
            yield "compare_area", setting, "size", alpha, table["p_value"].to_numpy() <= alpha
    for positive in (3, 10, 30):
        data = drawn(positive, 10 * positive, [1.0] * 3)
        frames = (data.isel(sample=k).to_dataframe() for k in range(CALLS))
        found, *told = (
            lambda x=x: x.rankeval.measure_ranks(kind="roc", adjust="holm") for x in (data, *frames)
        )
        share = (found()["rank_low"] > 1).any("measure").to_numpy()
        setting = f"3 equal measures, {positive} positives of {11 * positive}"
        yield "measure_ranks(kind='roc')", setting, "size", 0.05, (share, study.warned(told))
    for (positive, negative), (quality, what) in product(
        ((5, 95), (10, 90)), ((0.0, "size"), (1.5, "power"), (2.0, "power"))
    ):
        better = drawn(positive, negative, [quality]).rankeval.summary()["better_than_chance"]
        setting = f"{positive} positives and {negative}, quality {quality:g}"
        yield "summary, better_than_chance", setting, what, 0.05, better.to_numpy()


def selected():
    n, quality = 60, 1.2
    for count in (8, 20):
        asked = drawn(100, 400, [quality] * count).rankeval
        scores = np.linspace(-8.0, 10.0, 200_001)  # the threshold of the share n / N
        cut = scores[np.argmin(np.abs(sum(study.beyond(scores, quality, 0.2)) - n / 500))]
        true = study.beyond(cut, quality, 0.2)[0] / (n / 500)
        setting = f"the best of {count} equal measures"
        table = asked.nbest_precision(n)
        best = table.isel(measure=table["precision"].argmax("measure"))
        held = covers(best, true, "_best" if "ci_low_best" in table else "")
        yield "nbest_precision", setting, "coverage", 0.95, held
        if count == 8:  # of 20 it takes minutes, and is the same
            best = table["precision"].argmax("measure")
            table = asked.measure_ranks(n, adjust=None).isel(measure=best)
            yield "measure_ranks", setting, "coverage", 0.95, covers(table, true)
        for kind in ("roc", "ap"):
            table = asked.measure_ranks(kind=kind, adjust=None)
            true = special.ndtr(quality / np.sqrt(2.0)) if kind == "roc" else truth(quality, 0.2)
            held = covers(table.isel(measure=table["value"].argmax("measure")), true)
            yield f"measure_ranks(kind={kind!r})", setting, "coverage", 0.95, held
    for count, (what, wanted) in product((8, 20), (("recall", 0.8), ("precision", 0.7))):
        data = drawn(90, 210, [1.5] * count)
        table = data.rankeval.choose_threshold(**{what: wanted})
        looks = table["precision" if what == "recall" else "n_accepted"]
        best = looks.fillna(-1.0).argmax("measure")
        cut = table["threshold"].isel(measure=best).to_numpy()
        recall, fallout = special.ndtr(1.5 - cut), special.ndtr(-cut)
        reached = recall if what == "recall" else 0.3 * recall / (0.3 * recall + 0.7 * fallout)
        setting = f"{what} {wanted:g}, the best-looking of {count}"
        yield "choose_threshold", setting, "size", 0.05, reached < wanted


def few():
    for n, qualities in product((7, 15), ((2.0, 1.0), (1.5, 1.5), (3.0, 1.0))):
        table = drawn(30, 270, qualities).rankeval.compare("m0", "m1", n).isel(pair=0, n=0)
        setting = f"30 positives of 300, n {n}, qualities {qualities[0]:g} and {qualities[1]:g}"
        held = covers(table, float(table["difference"].mean()))
        yield "compare", setting, "coverage", 0.95, held
    for name, a, b in (("even", 2.0, 2.0), ("rare", 0.5, 2.0), ("very rare", 0.3, 3.0)):
        for queries in (5, 10, 20, 50):
            rng = np.random.default_rng(1)
            each = rng.binomial(5, rng.beta(a, b, (SAMPLES, queries))) / 5.0
            found = cluster_totals.query_ratio(each, np.ones(each.shape))
            limits = cluster_totals.query_share_limits(found.value, found.se, found.n, 0.95)
            setting = f"P@5 of {queries} queries, {name} positives"
            held = study.covers(*limits, a / (a + b))
            yield "nbest_precision(average='macro')", setting, "coverage", 0.95, held


def judged():
    for size, shares, rate in ((5, (0.9, 0.1), 0.3), (10, (0.9, 0.1), 0.15), (20, (0.8, 0.3), 0.1)):
        rng = np.random.default_rng(1)
        true = rng.random((20 * SAMPLES, 2, size)) < np.array(shares)[:, np.newaxis]
        seen = rng.random(true.shape) < rate
        one = np.stack([np.full(seen.shape[:-1], size), seen.sum(-1), (seen & true).sum(-1)], -1)
        sums = np.concatenate([one, one], axis=-1).astype(float)
        design = judged_sums.Design(1, "estimate", "ratio", 0.95)
        found = judged_sums.total_difference(*(design.total(sums[:, k]) for k in (0, 1)))
        gap = true[:, 0].sum(-1) - true[:, 1].sum(-1)
        held = study.covers(found.low, found.high, gap)[np.isnan(found.estimate)]
        setting = f"regions of {size}, {rate:g} judged, none in one"
        yield "judged_difference", setting, "coverage", 0.95, held


def rows():
    known = pd.read_csv(Path(__file__).with_suffix(".csv")).set_index(KEYS)["before"]
    for part in (areas, selected, few, judged):
        for *key, found in part():
            share, told = found if isinstance(found, tuple) else (found, np.nan)
            count = SAMPLES if np.ndim(share) == 0 else np.size(share)
            yield *key, np.mean(share), told, count, known[tuple(key)]


POSITIVE, TOTAL, SIZES = 120, 400, [20, 60, 150]


def ranked(score):
    return score.argsort(axis=-1).argsort(axis=-1)


COARSER = {
    "no ties": lambda x: x,
    "ties that cut nothing": lambda x: np.digitize(ranked(x), [TOTAL - n for n in SIZES[::-1]]),
    "binary": lambda x: (x > 1.2).astype(float),
    "five values": lambda x: np.digitize(x, [-1.0, 0.0, 1.0, 2.0]),
    "integer counts": lambda x: np.floor(np.exp(np.clip(x, None, 6.0))),
    "half in one block": lambda x: np.digitize(ranked(x), [*range(180), *range(380, TOTAL)]),
}


def warns(data, n):
    frames = (data.isel(sample=k).to_dataframe() for k in range(CALLS))
    return study.warned(lambda x=x: x.rankeval.compare("m0", "m1", n) for x in frames)


def rows_of(call, setting, found, data):
    """Yield size, coverage and width of one pair, at each n."""
    for k, n in enumerate(found["n"].to_numpy()):
        row = found.isel(pair=0, n=k).transpose("sample")
        there = f"{setting}, n {n}"
        warned = warns(data, int(n)) if call == "compare()" else np.nan
        difference, equal = row["difference"].to_numpy(), "qualities 1 and 1, both" in setting
        true = 0.0 if equal else difference.mean()
        if equal:
            yield call, there, "size", 0.05, float(row["significant"].mean()), warned
        yield call, there, "coverage", 0.95, study.held(row, true), warned
        just = 2.0 * np.quantile(np.abs(difference - true), 0.95)
        width = row["ci_high"].to_numpy() - row["ci_low"].to_numpy()
        yield call, there, "width", 1.0, float(width.mean() / just), warned


def settings():
    for kind in COARSER:
        cases = [((1.0, 1.0), kind), ((1.5, 0.8), kind), ((1.0, 1.0), "no ties")]
        for qualities, other in cases[: 2 if kind == "no ties" else 3]:
            data = drawn(POSITIVE, TOTAL - POSITIVE, qualities, [COARSER[kind], COARSER[other]])
            beside = "both measures" if kind == other else "the other without ties"
            setting = f"{kind}, qualities {qualities[0]:g} and {qualities[1]:g}, {beside}"
            for call, ties in (("compare()", "shared"), ("compare(ties='expected')", "expected")):
                found = data.rankeval.compare("m0", "m1", SIZES, ties=ties)
                yield from rows_of(call, setting, found, data)
        equal = drawn(POSITIVE, TOTAL - POSITIVE, [1.0] * 3, [COARSER[kind]] * 3)
        ask = equal.rankeval
        found = ask.measure_ranks(60, adjust="holm", ties="expected")
        some = (found["rank_low"] > 1).any("measure").to_numpy()
        there = f"{kind}, three equal measures, n 60"
        call = "measure_ranks(ties='expected', adjust='holm')"
        yield call, there, "size", 0.05, float(some.mean()), np.nan


def tie_orders_rows():
    """Comparisons of lists that cut blocks of equal scores: size, coverage, width and warnings."""
    for row in settings():
        yield *row, SAMPLES
