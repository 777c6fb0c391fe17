"""Comparisons of lists that cut blocks of equal scores: size, coverage, width and warnings."""

import numpy as np

from tests.simulations import study

SAMPLES, CALLS, POSITIVE, TOTAL, SIZES = 2_000, 200, 120, 400, [20, 60, 150]


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


def drawn(qualities, kinds):
    rng = np.random.default_rng(1)
    gold = np.arange(TOTAL) < POSITIVE
    common = rng.normal(size=(SAMPLES, TOTAL))
    scores = {}
    for k, (quality, kind) in enumerate(zip(qualities, kinds, strict=True)):
        fine = (common + rng.normal(size=common.shape)) / np.sqrt(2.0) + quality * gold
        scores[f"m{k}"] = COARSER[kind](fine).astype(float)
    return study.dataset(scores, gold)


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
    drawing = {"ties": "expected", "n_resamples": 999}
    for kind in COARSER:
        cases = [((1.0, 1.0), kind), ((1.5, 0.8), kind), ((1.0, 1.0), "no ties")]
        for qualities, other in cases[: 2 if kind == "no ties" else 3]:
            data = drawn(qualities, (kind, other))
            beside = "both measures" if kind == other else "the other without ties"
            setting = f"{kind}, qualities {qualities[0]:g} and {qualities[1]:g}, {beside}"
            for call, ties in (("compare()", "shared"), ("compare(ties='expected')", "expected")):
                found = data.rankeval.compare("m0", "m1", SIZES, ties=ties)
                yield from rows_of(call, setting, found, data)
        ask = drawn([1.0] * 3, [kind] * 3).rankeval
        found = ask.compare("m0", "m1", SIZES, adjust="max-t", adjust_over="group", **drawing)
        some = found["significant"].any("n").isel(pair=0).to_numpy()
        call = "compare(ties='expected', adjust='max-t')"
        yield call, f"{kind}, equal measures, 3 n", "size", 0.05, float(some.mean()), np.nan
        for adjust in ("holm", "max-t"):
            found = ask.measure_ranks(60, adjust=adjust, **drawing)
            some = (found["rank_low"] > 1).any("measure").to_numpy()
            call = f"measure_ranks(ties='expected', adjust={adjust!r})"
            there = f"{kind}, three equal measures, n 60"
            yield call, there, "size", 0.05, float(some.mean()), np.nan


def rows():
    for row in settings():
        yield *row, SAMPLES
