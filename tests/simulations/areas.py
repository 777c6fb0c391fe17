"""How often intervals of ROC areas cover, and tests of two areas reject, with few candidates."""

import itertools
from typing import Any, NamedTuple
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
from rankeval_pd.curves.early_retrieval import bedroc_columns, partial_columns
from rankeval_pd.stats import areas as ap
from tests.simulations import study

REPEATED = 2000
SIZES = ((2, 50), (3, 100), (5, 95), (10, 90), (10, 1000), (20, 100), (30, 30), (50, 200))


def scores(rng, n, shift, sd, rho, repeated):
    common = rng.standard_normal((repeated, n))
    return [
        m + sd * (np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((repeated, n)))
        for m in shift
    ]


def experiments(rng, positive, negative, areas, sd, rho):
    repeated = REPEATED // (1 + (positive + negative) // 500)
    shift = [stats.norm.ppf(area) * np.sqrt(1 + sd * sd) for area in areas]
    true = scores(rng, positive, shift, sd, rho, repeated)
    others = scores(rng, negative, (0.0, 0.0), 1.0, rho, repeated)
    both = [np.concatenate(x, axis=1) for x in zip(true, others, strict=True)]
    return study.dataset(dict(zip("ab", both, strict=True)), np.arange(both[0].shape[1]) < positive)


def share(holds):
    p = float(np.mean(holds))
    return p, study.error(p, np.size(holds))


def rows():
    rng = np.random.default_rng(20)
    for sizes, area, sd in itertools.product(SIZES, (0.5, 0.75, 0.9, 0.95, 0.983), (1.0, 2.0, 0.5)):
        ds = experiments(rng, *sizes, (area, area), sd, 0.5)
        setting = *sizes, area, area, sd, 0.5
        for ci in ("newcombe", "delong"):
            found = ds.rankeval.area(ci=ci, measures="a").isel(measure=0)
            held = study.covers(found["ci_low"], found["ci_high"], area)
            yield "area", *setting, ci, *share(held)
        for test in ("t", "delong"):
            p = ds.rankeval.compare_area("a", "b", test=test)["p_value"]
            yield "size", *setting, test, *share(p <= 0.05)
    for sizes, (a, b), (rho, sd) in itertools.product(
        SIZES, ((0.9, 0.7), (0.983, 0.9)), ((0.5, 1.0), (0.9, 1.0), (0.5, 2.0))
    ):
        ds = experiments(rng, *sizes, (a, b), sd, rho)
        for test in ("t", "delong"):
            found = ds.rankeval.compare_area("a", "b", test=test)
            held = study.covers(found["ci_low"], found["ci_high"], a - b)
            yield "difference", *sizes, a, b, sd, rho, test, *share(held)


SAMPLES = 2_000
FEW = ((10, 90), (20, 100), (30, 30), (100, 400))


def labels(positive, negative):
    return np.arange(positive + negative) < positive


def factor(found, true):
    """Return how many times as wide the intervals must be to hold the true value in .93."""
    away = np.abs(found["difference"] - true)
    half = 0.5 * (found["ci_high"] - found["ci_low"])
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(away <= 1e-12, 0.0, away / half)
    return float(np.quantile(needed, 0.93, method="higher"))


def further_apart(number, sizes, areas, rho, error):
    """Return the larger factor of two settings whose areas are one error further apart."""
    a, b = areas
    higher = min(a + 0.5 * error, 0.5 * (1.0 + a))
    lower = b - 0.5 * error
    found = []
    for spread in (1.0, 2.0):
        rng = np.random.default_rng([1, number, len(found)])
        shifts = stats.norm.ppf([higher, lower]) * (1.0 + spread**2) ** 0.5
        ds = study.correlated(rng, labels(*sizes), SAMPLES, shifts, rho, spread)
        found.append(factor(ds.rankeval.compare_area("a", "b", test="delong"), higher - lower))
    return max(found)


def differences():
    areas = ((0.75, 0.75), (0.9, 0.9), (0.983, 0.983), (0.9, 0.7), (0.983, 0.9), (0.99, 0.98),
             (0.99, 0.93), (0.995, 0.95))  # fmt: skip
    number = itertools.count()
    for sizes in FEW:
        found = {
            (pair, rho): _difference(next(number), sizes, pair, rho)
            for pair, rho in itertools.product(areas, (0.5, 0.9, 0.99))
        }
        for (pair, rho), here in found.items():
            near = [
                other.own for (areas_there, rho_there), other in found.items()
                if rho_there == rho
                and (np.abs(np.subtract(areas_there, pair)) <= here.errors).all()
            ]  # fmt: skip
            least = round(max(here.further, *near, here.own), 3)
            width = round(here.row["width"] / max(least, 1.0), 3)
            yield here.row | {"least": least, "beside": width}


class Difference(NamedTuple):
    row: dict[str, Any]
    errors: np.ndarray  #: standard errors of both areas
    own: float  #: the factor by which DeLong's must be widened here
    further: float  #: the factor if the areas are one standard error further apart


def _difference(number, sizes, areas, rho):
    """Return the row of a setting, without ``least``, and what this needs."""
    (a, b), rng = areas, np.random.default_rng([1, number])
    shifts = stats.norm.ppf([a, b]) * 2**0.5
    ds = study.correlated(rng, labels(*sizes), SAMPLES, shifts, rho)
    ours, delong = (ds.rankeval.compare_area("a", "b", test=x) for x in ("t", "delong"))
    widths = (ours.ci_high - ours.ci_low) / (delong.ci_high - delong.ci_low)
    row = {
        "what": "difference", "positive": sizes[0], "negative": sizes[1],
        "setting": f"areas {a:g} and {b:g}, correlation {rho:g}",
        "coverage": study.held(ours, a - b), "delong": study.held(delong, a - b),
        "width": round(float(widths.median()), 3),
        "size" if a == b else "power": study.rejected(ours), "peer": study.rejected(delong),
    }  # fmt: skip
    further = further_apart(number, sizes, areas, rho, float(ours.difference.std()))
    errors = np.array([float(ours[x].std()) for x in ("area_a", "area_b")])
    return Difference(row, errors, factor(delong, a - b), further)


def two_scores():
    rates = ((0.5, 0.5), (0.3, 0.3), (0.1, 0.1), (0.7, 0.4), (0.6, 0.3), (0.3, 0.1), (0.9, 0.1))
    for number, (sizes, (sure, wrong)) in enumerate(itertools.product(FEW, rates)):
        rng, gold = np.random.default_rng([2, number]), labels(*sizes)
        said = (rng.random((SAMPLES, gold.size)) < np.where(gold, sure, wrong)) * 1.0
        found = study.dataset({"rule": said}, gold).rankeval.area(details=True)
        peer = stats.mannwhitneyu(
            said[:, gold], said[:, ~gold], axis=1, method="asymptotic", use_continuity=False
        ).pvalue
        yield {
            "what": "two scores", "positive": sizes[0], "negative": sizes[1],
            "setting": f"a rule finds {sure:g} of the positives, {wrong:g} of the others",
            "coverage": study.held(found, 0.5 + 0.5 * (sure - wrong)),
            "size" if sure == wrong else "power": study.rejected(found),
            "peer": float((peer <= 0.05).mean()),
        }  # fmt: skip


def area_laws_rows():
    """Areas of two-valued scores, and differences of correlated areas."""
    for row in itertools.chain(two_scores(), differences()):
        yield {**row, "samples": SAMPLES}


def partial_truth(quality, most):
    """Return the partial area over false positive rates up to ``most``, McClish's form."""
    fpr = (np.arange(20_000) + 0.5) / 20_000 * most
    mean = float(special.ndtr(quality + special.ndtri(fpr)).mean())
    return 0.5 * (1.0 + (mean - 0.5 * most) / (1.0 - 0.5 * most))


def bedroc_truth(quality, prevalence, alpha):
    """Return the mean weight of the positives of a population, from none to the best."""
    score = quality + special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    share = sum(study.beyond(score, quality, prevalence))
    best = -np.expm1(-alpha * prevalence) / (alpha * prevalence)
    worst = best * np.exp(-alpha * (1.0 - prevalence))
    return float((np.exp(-alpha * share).mean() - worst) / (best - worst))


def early_run(positives, prevalence, quality, kind, asked, repetitions):
    rng = np.random.default_rng(1)
    total = round(positives / prevalence)
    gold = np.broadcast_to(np.arange(total) < positives, (repetitions, total))
    ranking = study.ranking(gold * quality + rng.normal(size=gold.shape), gold)
    if kind == "fpr":
        wanted = partial_truth(quality, asked)
        found = partial_columns(ranking, fpr=asked, level=0.95)
    else:
        wanted = bedroc_truth(quality, positives / total, asked)
        found = bedroc_columns(ranking, alpha=asked, level=0.95)
    value = found["area" if kind == "fpr" else "value"]
    low, high, error = (found[name] for name in ("ci_low", "ci_high", "se"))
    return (
        positives, prevalence, quality, f"{kind}={asked:g}", repetitions, wanted, value.mean(),
        study.covers(low, high, wanted).mean(), (low > wanted).mean(), (high < wanted).mean(),
        (np.abs(value - wanted) <= 1.96 * error).mean(),
    )  # fmt: skip


def early_rows():
    """Coverage of the intervals of partial areas and BEDROC, by simulation."""
    names = "positives", "prevalence", "quality", "asked", "repetitions"
    for *setting, asked, repetitions in study.settings("early", *names):
        kind, value = asked.split("=")
        yield early_run(*setting, kind, float(value), repetitions)


Z = special.ndtri(0.975)
AT_ONCE = 2_000_000
MOST = 100  # positives, of more of which the factor is 1.01 and less


def truth(quality, prevalence, step=0.0, spread=1.0):
    """Return the mean precision at the scores of positives, from fine cells or from blocks."""
    edges = np.arange(abs(quality) + 12.0, -12.0, -(step or 1e-3)) + step / 2.0
    tp = prevalence * special.ndtr((quality - edges) / spread)
    fp = study.beyond(edges, quality, prevalence)[1]
    part = np.array([1.0]) if step else (np.arange(64) + 0.5) / 64.0
    inner = [(x[:-1, np.newaxis] + part * np.diff(x)[:, np.newaxis]) for x in (tp, fp)]
    precision = (inner[0] / (inner[0] + inner[1])).mean(axis=1)
    return float((np.diff(tp) * precision).sum() / np.diff(tp).sum())


def bootstrap(score, gold, rng, draws=200):
    """Return percentile limits of resampled positives and others, on their own."""
    parts = [np.flatnonzero(gold == label) for label in (True, False)]
    rows = np.hstack([rng.choice(part, (draws, part.size)) for part in parts])
    values = ap.influences(study.ranking(score[rows], gold[rows])).value
    return np.quantile(values, [0.025, 0.975])


def with_influences(of):
    """Let the influences of rankings be these."""
    return mock.patch("rankeval_pd.stats.areas.influences", lambda ranking: of[id(ranking)])


def without(found):
    """Return influences without the factor N+ / (N+ - 1)."""
    positive = found.gold.sum(axis=-1, keepdims=True)
    return found._replace(influence=found.influence * (positive - 1) / positive)


def paired(a, b, c, differ):
    """Return where the test of a and b rejects, and the interval of a - c holds the difference."""
    same, other = (precision_gap(a, x, alternative="two-sided") for x in (b, c))
    interval = of_precision_gap()
    limits = interval.limits(*(other[name] for name in interval.columns), level=0.95)
    return same["p_value"] <= 0.05, study.covers(*limits, differ)


def some(rng, gold, scores, wanted, differ):
    """Return what some samples (sample, candidate) of three measures come to."""
    positives = int(gold.sum())
    one, *others = (study.ranking(x, np.broadcast_to(gold, x.shape)) for x in scores)
    known = {id(x): ap.influences(x) for x in (one, *others)}
    found = known[id(one)]
    by = ap.area_spread(found.influence, found.gold, found.present)
    error = by.error
    low, high = ap.ap_limits(*ap.precision_terms(found, by), level=0.95)
    plain = ap.ap_limits(*ap.precision_terms(found._replace(corrected=found.value), by), level=0.95)
    with with_influences(known):
        tested, differs = paired(one, *others, differ)
    row = {
        "value": found.value, "low": low, "high": high, "plain": study.covers(*plain, wanted),
        "normal": np.abs(found.value - wanted) <= Z * error, "test": tested, "difference": differs,
    }  # fmt: skip
    if positives > MOST:
        return row
    with with_influences({name: without(x) for name, x in known.items()}):
        tested, differs = paired(one, *others, differ)
        columns = precision_columns(one, level=0.95)
    limits = columns["ci_low"], columns["ci_high"]
    return row | {
        "variance": error**2, "without": study.covers(*limits, wanted),
        "test_without": tested, "difference_without": differs,
    }  # fmt: skip


def run(positives, prevalence, quality, step, spread):
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    total = round(positives / prevalence)
    size = positives / prevalence
    repetitions = 2_000 if size <= 10_000 else 400
    resampled = 200 if size <= 1_000 and prevalence <= 0.5 else 0
    gold, most = np.arange(total) < positives, max(1, AT_ONCE // total)
    wanted, better = (truth(q, positives / total, step, spread) for q in (quality, quality + 0.5))
    found = []
    for start in range(0, repetitions, most):
        shape = min(most, repetitions - start), total
        scores = study.alike(rng, shape, (0.0, 0.0, 0.0))
        for score, more in zip(scores, (0.0, 0.0, 0.5), strict=True):
            score[:, gold] = quality + more + spread * score[:, gold]
        if step:
            scores = [step * np.round(x / step) for x in scores]
        row = some(rng, gold, scores, wanted, wanted - better)
        drawn = np.full(shape[0], np.nan)
        for k in range(max(0, min(shape[0], resampled - start))):
            drawn[k] = study.covers(*bootstrap(scores[0][k], gold, other), wanted)
        found.append(pd.DataFrame({**row, "bootstrap": drawn}))
    table = pd.concat(found)
    share, mean = table.mean(), table["value"].mean()
    result = {
        "positives": positives, "prevalence": prevalence, "quality": quality, "step": step,
        "spread": spread, "repetitions": repetitions,
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


def average_precision_rows():
    """Coverage of intervals of average precision, and the size of its paired test."""
    names = "positives", "prevalence", "quality", "step", "spread"
    for setting in study.settings("average_precision", *names):
        yield run(*setting)


def unpaired(sizes, quality, repetitions=4_000):
    options = AreaOptions(
        kind="roc", test="t", adjust=None, alternative="two-sided", alpha=0.05, level=0.95
    )
    result = {"first": str(sizes[0]), "second": str(sizes[1]), "quality": quality}
    rng = np.random.default_rng(1)
    for name, better in (("", 0.0), ("_other", 0.5)):
        parts = []
        for number, ((positive, negative), more) in enumerate(
            zip(sizes, (0.0, better), strict=True)
        ):
            gold = np.arange(positive + negative) < positive
            score = gold * (quality + more) + rng.normal(size=(repetitions, gold.size))
            part = pd.DataFrame(sample_area(study.ranking(score, gold)))
            part.insert(0, "measure", np.arange(repetitions))
            part.insert(0, "sample", number)
            parts.append(part)
        found = compare_samples(pd.concat(parts, ignore_index=True), options)
        true = special.ndtr(np.array([quality, quality + better]) / np.sqrt(2.0))
        result[f"covers{name}"] = study.held(found, float(true[0] - true[1]))
        if not better:
            result["errs"] = study.rejected(found)
    return result


def unpaired_rows():
    """Size of the test of the areas of two independent samples, and coverage of its interval."""
    for sizes in (
        ((5, 50), (5, 50)), ((10, 90), (10, 90)), ((10, 90), (50, 450)), ((30, 30), (30, 30)),
        ((50, 200), (20, 80)),
    ):  # fmt: skip
        for quality in (0.0, 1.0, 2.0):
            yield unpaired(sizes, quality)
