"""Size, power and coverage of ``compare_thresholds``, default calls."""

from itertools import product

import numpy as np
from scipy import special, stats

from rankeval_pd.stats import ranks
from rankeval_pd.stats.differences import overlap_difference
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.simulations import study

SAMPLES = 2_000
RHO = 0.6
RATES = (  # sensitivity and specificity of a, then of b
    ((0.8, 0.8), (0.8, 0.8)), ((0.6, 0.95), (0.6, 0.95)), ((0.9, 0.7), (0.7, 0.7)),
    ((0.8, 0.9), (0.8, 0.75)), ((0.85, 0.9), (0.7, 0.8)),
)  # fmt: skip
ASKED = {
    "recall": {"of": "recall"}, "specificity": {"of": "specificity"}, "npv": {"of": "npv"},
    "precision": {}, "precision, kosinski": {"test": "kosinski"},
}  # fmt: skip


def truth(of, prevalence, sensitivity, specificity):
    tp, fp = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
    tn, fn = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
    values = {"recall": sensitivity, "specificity": specificity, "npv": tn / (tn + fn)}
    return values.get(of, tp / (tp + fp))


def rows():
    settings = product(((120, 12), (120, 40), (400, 40), (400, 200)), RATES)
    for number, ((n, positive), rates) in enumerate(settings):
        rng, gold = np.random.default_rng([32, number]), np.arange(n) < positive
        cuts = stats.norm.ppf([specificity for _, specificity in rates])
        shifts = cuts + stats.norm.ppf([sensitivity for sensitivity, _ in rates])
        ask = study.correlated(rng, gold, SAMPLES, shifts, RHO).rankeval.compare_thresholds
        above = dict(zip("ab", cuts, strict=True))
        found = {
            name: ask("a", "b", above, **asked).isel(pair=0, cut=0) for name, asked in ASKED.items()
        }
        for name, table in found.items():
            true = truth(name, positive / n, *rates[0]) - truth(name, positive / n, *rates[1])
            significant = table["p_value"] <= 0.05
            peer = table["p_mid"] if name in ("recall", "specificity") else None
            warned = 0.0
            if name.startswith("precision"):
                peer = found["precision, kosinski"]["p_value"]
            if name == "precision":
                most = np.maximum(table["n_a"], table["n_b"])
                unequal = np.abs(table["n_a"] - table["n_b"]) > 0.1 * most
                warned = float((unequal & significant).mean())
            rejected, equal = float(significant.mean()), abs(true) < 1e-12
            yield {
                "of": name, "setting": f"{n} candidates, {positive} positives, rates {rates}",
                "size": rejected if equal else None, "power": None if equal else rejected,
                "peer": None if peer is None else float((peer <= 0.05).mean()),
                "coverage": study.held(table, true), "warned": warned, "samples": SAMPLES,
            }  # fmt: skip


SETTINGS = study.settings(
    "choose_threshold", "n_candidates", "prevalence", "quality", "question", "wanted"
)


def plain(sets, wanted):
    low = stats.beta.ppf(0.05, sets.tp, sets.n - sets.tp + 1)
    passed = np.flatnonzero(low >= wanted)
    return int(passed[-1]) if passed.size else None


def reached_by(question, cut, quality, prevalence):
    """Return precision, recall or Youden's J of the population above a threshold."""
    tp, fp = study.beyond(cut, quality, prevalence)
    recall, fallout = special.ndtr(quality - cut), special.ndtr(-cut)
    return {"precision": tp / (tp + fp), "recall": recall, "youden": recall - fallout}[question]


def run(total, prevalence, quality, question, wanted, repetitions):
    rng = np.random.default_rng(2)
    broken, found = {"chosen": 0, "plain": 0}, 0
    for _ in range(repetitions):
        gold = rng.random(total) < prevalence
        score = rng.normal(size=total) + quality * gold
        sets = ranks.sets_of(study.ranking(score, gold))
        promise = getattr(ranks, f"guaranteed_{question}")(sets, wanted, 0.95)
        found += promise.chosen is not None
        places = {"chosen": promise.chosen}
        if question == "precision":
            places["plain"] = plain(sets, wanted)
        least = promise.low if question == "youden" else wanted
        for name, place in places.items():
            if place is not None:
                reached = reached_by(question, sets.threshold[place], quality, prevalence)
                broken[name] += reached < least
    plain_broken = broken["plain"] / repetitions if question == "precision" else np.nan
    return (
        question, wanted, total, prevalence, quality, repetitions, found / repetitions,
        broken["chosen"] / repetitions, plain_broken,
    )  # fmt: skip


def choose_threshold_rows(samples=2_000):
    """How often is the promise of a chosen threshold broken? By simulation."""
    for setting in SETTINGS:
        yield run(*setting, samples)


REPEATED = 20_000
LEVEL = 0.95
SETS = study.settings("sets", "both", "only_a", "only_b", "pi_both", "pi_a", "pi_b")


def sets_rows():
    """How often intervals of the difference of two acceptance sets cover."""
    rng = np.random.default_rng(12)
    for setting, sizes in product(SETS, ("fixed", "varies")):
        mean, rate = (np.array(x)[:, np.newaxis] for x in (setting[:3], setting[3:]))
        n = np.broadcast_to(mean, (3, REPEATED)).astype(np.int64)
        n = n if sizes == "fixed" else rng.poisson(n)
        n = n[:, (n[0] + n[1] >= 2) & (n[0] + n[2] >= 2) & (n[1] + n[2] > 0)]
        tp = rng.binomial(n, rate)
        weight = n if sizes == "fixed" else np.broadcast_to(mean, n.shape)
        true = of_sets(weight * rate, weight)
        p = fisher_test(tp[1], n[1], tp[2], n[2], "two-sided").p_value
        bare = overlap_difference(tuple(tp), tuple(n), LEVEL)
        kinds = {
            "together": bare,
            "score": agree_with_test(*bare, p, "two-sided", LEVEL),
        }
        for kind, (low, high) in kinds.items():
            held = float(study.covers(low, high, true).mean())
            yield *setting, sizes, kind, held, study.error(held, true.size)


def of_sets(tp, n):
    """Return the difference in precision of two sets: both, only a, only b."""
    return (tp[0] + tp[1]) / (n[0] + n[1]) - (tp[0] + tp[2]) / (n[0] + n[2])
