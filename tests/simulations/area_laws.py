"""Areas of two-valued scores, differences of correlated areas, and tests of early shares.

For differences: the coverage of the default interval and of DeLong's, and how many times as wide it
is (``width``, medians). ``least`` is the factor by which DeLong's must at least be widened to cover
.93 in this setting and in those that a sample of this size cannot exclude: the areas are one
standard error of their difference further apart, and the scores of the positives spread as the
others' or twice as much; or each area is within one of its standard errors (the other areas of the
table). ``beside`` is the width beside DeLong's widened so. ``size`` and ``power`` belong to the
default test, ``peer`` to DeLong's. For two-valued scores: coverage of the default interval, size or
power of its test, and that of Mann and Whitney. For early shares: size and coverage. Scores are
normal; two measures correlate by rho within a class.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tests.simulations import study

FORM = {"digits": None}
SAMPLES = 2_000
SIZES = ((10, 90), (20, 100), (30, 30), (100, 400))
NAMES = ["what", "setting", "positive", "negative", "coverage", "delong", "width", "least",
         "beside", "size", "power", "peer", "samples"]  # fmt: skip


def labels(positive, negative):
    return np.arange(positive + negative) < positive


def rejected(found):
    return float((found["p_value"] <= 0.05).mean())


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
    for sizes in SIZES:
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
        "size" if a == b else "power": rejected(ours), "peer": rejected(delong),
    }  # fmt: skip
    further = further_apart(number, sizes, areas, rho, float(ours.difference.std()))
    errors = np.array([float(ours[x].std()) for x in ("area_a", "area_b")])
    return Difference(row, errors, factor(delong, a - b), further)


def two_scores():
    rates = ((0.5, 0.5), (0.3, 0.3), (0.1, 0.1), (0.7, 0.4), (0.6, 0.3), (0.3, 0.1), (0.9, 0.1))
    for number, (sizes, (sure, wrong)) in enumerate(itertools.product(SIZES, rates)):
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
            "size" if sure == wrong else "power": rejected(found),
            "peer": float((peer <= 0.05).mean()),
        }  # fmt: skip


def early():
    kinds = (
        {"kind": "partial", "fpr": 0.1}, {"kind": "partial", "fpr": (0.1, 0.3)},
        {"kind": "partial", "tpr": 0.8}, {"kind": "bedroc"}, {"kind": "enrichment", "share": 0.1},
    )  # fmt: skip
    for number, (sizes, shift, rho) in enumerate(
        itertools.product(SIZES[:3], (1.0, 2.0), (0.0, 0.9))
    ):
        rng = np.random.default_rng([3, number])
        ds = study.correlated(rng, labels(*sizes), SAMPLES, (shift, shift), rho)
        for asked in kinds:
            found = ds.rankeval.compare_area("a", "b", **asked)
            named = " ".join(str(x) for x in asked.values())
            yield {
                "what": "early", "positive": sizes[0], "negative": sizes[1],
                "setting": f"{named}, shift {shift:g}, correlation {rho:g}",
                "size": rejected(found), "coverage": study.held(found, 0.0),
            }  # fmt: skip


def rows():
    for row in itertools.chain(two_scores(), differences(), early()):
        yield {**row, "samples": SAMPLES}
