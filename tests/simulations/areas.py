"""How often intervals of ROC areas cover, and tests of two areas reject, with few candidates."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from rankeval_pd.curves.early_retrieval import bedroc_columns, partial_columns
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
        for ci in ("newcombe", "delong", "logit"):
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


# ---------------------------------------------------------------------------------------- Area laws

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


def early():
    kinds = (
        {"kind": "partial", "fpr": 0.1}, {"kind": "partial", "fpr": (0.1, 0.3)},
        {"kind": "partial", "tpr": 0.8}, {"kind": "bedroc"}, {"kind": "enrichment", "share": 0.1},
    )  # fmt: skip
    for number, (sizes, shift, rho) in enumerate(
        itertools.product(FEW[:3], (1.0, 2.0), (0.0, 0.9))
    ):
        rng = np.random.default_rng([3, number])
        ds = study.correlated(rng, labels(*sizes), SAMPLES, (shift, shift), rho)
        for asked in kinds:
            found = ds.rankeval.compare_area("a", "b", **asked)
            named = " ".join(str(x) for x in asked.values())
            yield {
                "what": "early", "positive": sizes[0], "negative": sizes[1],
                "setting": f"{named}, shift {shift:g}, correlation {rho:g}",
                "size": study.rejected(found), "coverage": study.held(found, 0.0),
            }  # fmt: skip


def area_laws_rows():
    """Areas of two-valued scores, differences of correlated areas, and tests of early shares."""
    for row in itertools.chain(two_scores(), differences(), early()):
        yield {**row, "samples": SAMPLES}


# -------------------------------------------------------------------------------------------- Early


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
        found = partial_columns(ranking, limits=(0.0, asked), turned=False, level=0.95)
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
