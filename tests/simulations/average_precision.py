"""Coverage of intervals of average precision, and the size of its paired test, by simulation."""

from unittest import mock

import numpy as np
import pandas as pd
from scipy import special, stats

from rankeval_pd.curves.areas import (
    AreaOptions,
    compare_samples,
    of_precision_gap,
    precision_columns,
    precision_gap,
    sample_area,
)
from rankeval_pd.stats import areas as ap
from tests.simulations import study

Z = special.ndtri(0.975)
AT_ONCE = 2_000_000
MOST = 100  # positives, of more of which the factor is 1.01 and less
TIES = {"block": "blocks", "mean": "expected"}


def truth(quality, prevalence, step=0.0, equal="block"):
    """Return the mean precision at the scores of positives, from fine cells or from blocks."""
    edges = np.arange(quality + 9.0, -9.0, -(step or 1e-3)) + step / 2.0
    tp, fp = study.beyond(edges, quality, prevalence)
    part = np.array([1.0]) if step and equal == "block" else (np.arange(64) + 0.5) / 64.0
    inner = [(x[:-1, np.newaxis] + part * np.diff(x)[:, np.newaxis]) for x in (tp, fp)]
    precision = (inner[0] / (inner[0] + inner[1])).mean(axis=1)
    return float((np.diff(tp) * precision).sum() / np.diff(tp).sum())


def bootstrap(score, gold, rng, ties, draws=200):
    """Return percentile limits of resampled positives and others, on their own."""
    parts = [np.flatnonzero(gold == label) for label in (True, False)]
    rows = np.hstack([rng.choice(part, (draws, part.size)) for part in parts])
    values = ap.influences(study.ranking(score[rows], gold[rows]), ties=ties).value
    return np.quantile(values, [0.025, 0.975])


def without():
    """Let influences be those without the factor N+ / (N+ - 1)."""
    factored = ap.influences

    def plain(*args, **kwargs):
        found = factored(*args, **kwargs)
        positive = found.gold.sum(axis=-1, keepdims=True)
        return found._replace(influence=found.influence * (positive - 1) / positive)

    return mock.patch("rankeval_pd.stats.areas.influences", plain)


def paired(a, b, c, ties, differ):
    """Return where the test of a and b rejects, and the interval of a - c holds the difference."""
    same, other = (precision_gap(a, x, alternative="two-sided", ties=ties) for x in (b, c))
    interval = of_precision_gap()
    limits = interval.limits(*(other[name] for name in interval.columns), level=0.95)
    return same["p_value"] <= 0.05, study.covers(*limits, differ)


def some(rng, gold, scores, ties, wanted, differ):
    """Return what some samples (sample, candidate) of three measures come to."""
    positives = int(gold.sum())
    size, freedom = len(scores[0]), min(positives, gold.size - positives) - 1
    one, *others = (study.ranking(x, np.broadcast_to(gold, x.shape)) for x in scores)
    found = ap.influences(one, ties=ties)
    error = np.sqrt(ap.area_spread(found.influence, found.gold, found.present).variance)
    given = error, np.full(size, freedom), np.full(size, positives), 0.95
    low, high = ap.ap_limits(found.value, found.corrected, *given)
    plain = ap.ap_limits(found.value, found.value, *given)
    tested, differs = paired(one, *others, ties, differ)
    row = {
        "value": found.value, "low": low, "high": high, "plain": study.covers(*plain, wanted),
        "normal": np.abs(found.value - wanted) <= Z * error, "test": tested, "difference": differs,
    }  # fmt: skip
    if positives > MOST:
        return row
    with without():
        tested, differs = paired(one, *others, ties, differ)
        columns = precision_columns(one, level=0.95, ties=ties)
    limits = columns["ci_low"], columns["ci_high"]
    return row | {
        "variance": error**2, "without": study.covers(*limits, wanted),
        "test_without": tested, "difference_without": differs,
    }  # fmt: skip


def run(positives, prevalence, quality, step, equal):
    rng = np.random.default_rng(1)
    total, ties = round(positives / prevalence), TIES[equal]
    size = positives / prevalence
    repetitions = 4_000 if size <= 3_000 else 1_500 if size <= 10_000 else 600
    resampled = 200 if size <= 1_000 else 0
    gold, most = np.arange(total) < positives, max(1, AT_ONCE // total)
    wanted, better = (truth(q, positives / total, step, equal) for q in (quality, quality + 0.5))
    found = []
    for start in range(0, repetitions, most):
        shape = min(most, repetitions - start), total
        scores = study.alike(rng, shape, [gold * q for q in (quality, quality, quality + 0.5)])
        if step:
            scores = [step * np.round(x / step) for x in scores]
        row = some(rng, gold, scores, ties, wanted, wanted - better)
        drawn = np.full(shape[0], np.nan)
        for k in range(max(0, min(shape[0], resampled - start))):
            drawn[k] = study.covers(*bootstrap(scores[0][k], gold, rng, ties), wanted)
        found.append(pd.DataFrame({**row, "bootstrap": drawn}))
    table = pd.concat(found)
    share, mean = table.mean(), table["value"].mean()
    result = {
        "positives": positives, "prevalence": prevalence, "quality": quality, "step": step,
        "equal": equal, "repetitions": repetitions,
        "se": stats.binom(repetitions, 0.95).std().round(4) / repetitions,
        "truth": wanted, "mean": mean,
        "logit_covers": study.covers(table["low"], table["high"], wanted).mean(),
        "logit_covers_mean": study.covers(table["low"], table["high"], mean).mean(),
        "plain_covers": share["plain"], "normal_covers": share["normal"],
        "bootstrap_covers": share["bootstrap"], "test_errs": share["test"],
        "difference_covers": share["difference"],
    }  # fmt: skip
    if positives > MOST:
        return result
    ratio = share["variance"] / table["value"].var()
    return result | {
        "variance": ratio, "variance_without": ratio * ((positives - 1) / positives) ** 2,
        "logit_covers_without": share["without"], "test_errs_without": share["test_without"],
        "difference_covers_without": share["difference_without"],
    }  # fmt: skip


def rows():
    names = "positives", "prevalence", "quality", "step", "equal"
    for setting in study.settings("average_precision", *names):
        yield run(*setting)


# ----------------------------------------------------------------------------------------- Unpaired


def unpaired(sizes, quality, kind, repetitions=4_000):
    options = AreaOptions(
        kind=kind, test="t", adjust=None, alternative="two-sided", alpha=0.05, level=0.95
    )
    first, second = sizes
    result = {"first": str(first), "second": str(second), "quality": quality, "kind": kind}

    def sample(rng, positive, negative, quality):
        gold = np.arange(positive + negative) < positive
        score = gold * quality + rng.normal(size=(repetitions, gold.size))
        return sample_area(study.ranking(score, gold), kind=kind)

    def wanted(positive, negative, quality):
        if kind == "roc":
            return float(special.ndtr(quality / np.sqrt(2.0)))
        return truth(quality, positive / (positive + negative))

    def asked(rng, name, better):
        a, b = sample(rng, *first, quality), sample(rng, *second, quality + better)
        cells = {column: np.stack([a[column], b[column]]) for column in a}
        found = compare_samples(cells, study.PAIR, ["first", "second"], options)
        truly = wanted(*first, quality) - wanted(*second, quality + better)
        result[f"covers{name}"] = study.held(found, truly)
        if not better:
            result[f"errs{name}"] = study.rejected(found)

    rng = np.random.default_rng(1)
    asked(rng, "", 0.0)
    asked(rng, "_other", 0.5)
    if kind == "ap":
        with without():
            asked(np.random.default_rng(1), "_without", 0.0)
    return result


def unpaired_rows():
    """Size of the test of the areas of two independent samples, and coverage of its interval."""
    for sizes in (
        ((5, 50), (5, 50)), ((10, 90), (10, 90)), ((10, 90), (50, 450)), ((30, 30), (30, 30)),
        ((50, 200), (20, 80)),
    ):  # fmt: skip
        for quality in (0.0, 1.0, 2.0):
            for kind in ("roc", "ap"):
                yield unpaired(sizes, quality, kind)
