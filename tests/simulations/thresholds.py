"""Size, power and coverage of ``compare_thresholds``, default calls and Fisher's test.

Harder than the audit's settings of two sets are nested sets, sets of 1 : 10 and 1 : 100, and sets
that differ in few candidates or in candidates that are nearly all alike: ``HARDER``.
"""

from itertools import product

import numpy as np
from scipy import optimize, special, stats

from rankeval_pd.decisions import OF_CLUSTERS
from rankeval_pd.lists import acceptance
from rankeval_pd.lists.groups import moved, p_of_gap
from rankeval_pd.lists.precision import IntervalKind
from rankeval_pd.stats import f1_law, level_of_each, ranks, ratio_gap_spread
from rankeval_pd.stats.differences import one_or_two_sided, set_difference, set_tails
from tests.simulations import study
from tests.simulations.clusters import sizes_of, summed_up

SAMPLES = 10_000
RHO = 0.6
RATES = (  # sensitivity and specificity of a, then of b
    ((0.8, 0.8), (0.8, 0.8)), ((0.6, 0.95), (0.6, 0.95)), ((0.9, 0.7), (0.7, 0.7)),
    ((0.8, 0.9), (0.8, 0.75)), ((0.85, 0.9), (0.7, 0.8)),
)  # fmt: skip
# an audit's: candidates, prevalence, quality and threshold of a, then of b (or equal precision)
AUDITED = (
    (700, 0.22, 1.7, 0.55, 1.0, None, 0.5), (500, 0.15, 2.2, 0.45, 1.4, None, 0.7),
    (800, 0.3, 1.5, 0.6, 1.3, None, 0.5), (600, 0.2, 1.5, 1.0, 1.5, 1.0, 0.5),
    (600, 0.15, 1.5, 0.4, 1.5, 1.3, 0.6), (400, 0.12, 1.2, 0.3, 1.2, 1.0, 0.8),
    (500, 0.2, 1.8, 1.1, 1.1, 0.9, 0.4),
)  # fmt: skip
ASKED = {
    "recall": {"of": "recall"}, "specificity": {"of": "specificity"}, "npv": {"of": "npv"},
    "precision": {}, "precision, fisher": {"test": "fisher"},
}  # fmt: skip


def truth(of, prevalence, sensitivity, specificity):
    tp, fp = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
    tn, fn = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
    values = {"recall": sensitivity, "specificity": specificity, "npv": tn / (tn + fn)}
    return values.get(of, tp / (tp + fp))


def of_regions(prevalence, rates, rho):
    """Return the difference in precision of what only a and what only b accepts."""
    accepted = []
    sensitive, specific = np.array(rates).T
    for likely, shares in ((prevalence, sensitive), (1 - prevalence, 1 - specific)):
        a, b = stats.norm.ppf(shares)
        both = stats.multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf([a, b])
        accepted.append(likely * (special.ndtr([a, b]) - both))
    precision = accepted[0] / (accepted[0] + accepted[1])
    return precision[0] - precision[1]


def settings():
    for (n, positive), rates in product(((120, 12), (120, 40), (400, 40), (400, 200)), RATES):
        text = f"{n} candidates, {positive} positives, rates {rates}"
        yield text, n, positive, positive / n, rates, RHO
    for n, prevalence, q_a, cut_a, q_b, cut_b, rho in AUDITED:
        if cut_b is None:  # both sets have the precision that stands for the first threshold
            cut_a, cut_b = (precision_cut(prevalence, q, cut_a) for q in (q_a, q_b))
        rates = tuple(
            (special.ndtr(q - c), special.ndtr(c)) for q, c in ((q_a, cut_a), (q_b, cut_b))
        )
        text = f"{n} candidates, share {prevalence}, quality {q_a} and {q_b},"
        yield f"{text} thresholds {cut_a:.2f} and {cut_b:.2f}", n, None, prevalence, rates, rho


def precision_cut(prevalence, quality, wanted):
    def gap(cut):
        return (
            truth("precision", prevalence, special.ndtr(quality - cut), special.ndtr(cut)) - wanted
        )

    return optimize.brentq(gap, -4, 6)


def plain_kosinski(both, only_a, only_b, n_both, n_only_a, n_only_b):
    """Return the p-value of Kosinski's test as other tools give it."""
    n_a, n_b = n_both + n_only_a, n_both + n_only_b
    with np.errstate(all="ignore"):
        share = (2 * both + only_a + only_b) / (n_a + n_b)
        shared = both * (1 - share) ** 2 + (n_both - both) * share**2
        variance = share * (1 - share) * (1 / n_a + 1 / n_b) - 2 * shared / (n_a * n_b)
        z = np.abs((both + only_a) / n_a - (both + only_b) / n_b) / np.sqrt(variance)
    return np.where(variance > 1e-15, 2 * special.ndtr(-z), 1.0)


def peer_of(of, table):
    """Return p-values of the plain Kosinski test, or of McNemar's mid-p test."""
    only = [table[f"tp_only_{side}"].to_numpy() for side in "ab"]
    if of in ("recall", "specificity"):
        most, total = np.maximum(*only), only[0] + only[1]
        return 2 * stats.binom.sf(most, total, 0.5) + stats.binom.pmf(most, total, 0.5)
    sizes = [table[name].to_numpy() for name in ("overlap", "n_only_a", "n_only_b")]
    with np.errstate(all="ignore"):
        both = np.round(np.nan_to_num(table[f"{of}_a"]) * (sizes[0] + sizes[1])) - only[0]
    return plain_kosinski(both, *only, *sizes)


def rows():
    for number, (text, n, positive, prevalence, rates, rho) in enumerate(settings()):
        rng = np.random.default_rng([32, number])
        gold = np.arange(n) < positive if positive else rng.random((SAMPLES, n)) < prevalence
        cuts = stats.norm.ppf([specificity for _, specificity in rates])
        shifts = cuts + stats.norm.ppf([sensitivity for sensitivity, _ in rates])
        ask = study.correlated(rng, gold, SAMPLES, shifts, rho).rankeval.compare_thresholds
        above = dict(zip("ab", cuts, strict=True))
        for name, asked in ASKED.items():
            if positive is None and not name.startswith("precision"):
                continue  # the audit's settings are of precision
            table = ask("a", "b", above, **asked).isel(pair=0, cut=0)
            true = truth(name, prevalence, *rates[0]) - truth(name, prevalence, *rates[1])
            significant, peer, warned = table["p_value"] <= 0.05, None, 0.0
            if name.endswith("fisher"):
                true = of_regions(prevalence, rates, rho)
                most = np.maximum(table["n_a"], table["n_b"])
                unequal = np.abs(table["n_a"] - table["n_b"]) > 0.1 * most
                warned = float((unequal & significant).mean())
            else:
                peer = float((peer_of(name, table) <= 0.05).mean())
            rejected, equal = float(significant.mean()), abs(true) < 1e-6
            yield {
                "of": name, "setting": text,
                "size": rejected if equal else None, "power": None if equal else rejected,
                "peer": peer, "coverage": study.held(table, true), "warned": warned,
                "samples": SAMPLES,
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


# two requirements, and the quality with which a threshold just satisfies both (or none does)
AIMS = (
    ({"recall": 0.8, "specificity": 0.8}, 1.683), ({"recall": 0.8, "specificity": 0.8}, 1.5),
    ({"recall": 0.8, "specificity": 0.8}, 2.2), ({"recall": 0.9, "specificity": 0.5}, 1.282),
    ({"npv": 0.9, "specificity": 0.7}, 1.4), ({"npv": 0.9, "specificity": 0.7}, 2.0),
    ({"precision": 0.6, "recall": 0.6}, 1.2), ({"precision": 0.6, "recall": 0.6}, 2.0),
    ({"npv": 0.9, "recall": 0.7}, 1.0), ({"precision": 0.7, "specificity": 0.9}, 1.4),
)  # fmt: skip


def two_aims_rows(samples=1_000):
    """How often is one of two guarantees of a chosen threshold broken? By simulation."""
    level = level_of_each(0.95, 2)
    for total, prevalence, (aims, quality) in product((200, 1_000), (0.1, 0.3), AIMS):
        rng, broken, found = np.random.default_rng(3), 0, 0
        for _ in range(samples):
            gold = rng.random(total) < prevalence
            sets = ranks.sets_of(study.ranking(rng.normal(size=total) + quality * gold, gold))
            promises = [acceptance._promise(sets, None, *aim, level) for aim in aims.items()]
            place, _ = acceptance._place_of_all(promises)
            if place is not None:
                cut, found = sets.threshold[place], found + 1
                rates = special.ndtr([quality - cut, cut])
                true = {"recall": rates[0], **{x: truth(x, prevalence, *rates) for x in aims}}
                broken += any(true[aim] < wanted for aim, wanted in aims.items())
        text = ", ".join(f"{aim} {wanted}" for aim, wanted in aims.items())
        shares = found / samples, broken / samples
        yield text, total, prevalence, quality, samples, *shares


# numbers in both sets, only in a, only in b, and their precision; None makes both sets equal
EARLIER = (
    (0, 2, 2, 0.3, 0.5, 0.2), (2, 2, 2, 0.5, 0.3, 0.3), (2, 1, 1, 0.5, 0.9, 0.1),
    (1, 3, 3, 0.5, 0.9, 0.2), (0, 3, 3, 0.3, 0.3, 0.3), (10, 3, 3, 0.5, 0.4, 0.4),
    (10, 3, 3, 0.5, 0.9, 0.1), (10, 0, 6, 0.5, 0.4, 0.2), (10, 0, 30, 0.7, 0.4, 0.2),
    (20, 10, 30, 0.6, 0.3, 0.1), (20, 10, 30, 0.9, 0.5, 0.1), (20, 10, 60, 0.9, 0.5, 0.02),
    (100, 30, 30, 0.4, 0.2, 0.2), (100, 30, 80, 0.4, 0.3, 0.1), (100, 3, 5, 0.4, 0.3, 0.3),
    (3, 3, 20, 0.9, 0.9, 0.1), (0, 10, 40, 0.5, 0.3, 0.3), (4, 0, 4, 1.0, 0.5, 0.7),
    (30, 3, 3, 0.95, 0.95, 0.95), (200, 100, 400, 0.5, 0.2, 0.05),
)  # fmt: skip
OF_AUDIT = (
    (10, 20, 5, 0.5, 0.4, None), (10, 10, 10, 0.5, 0.5, None), (20, 40, 6, 0.6, 0.55, None),
    (0, 12, 12, 0.3, 0.3, None), (30, 10, 3, 0.9, 0.9, None), (60, 20, 5, 0.95, 0.95, None),
    (15, 8, 4, 0.1, 0.1, None), (5, 60, 20, 0.05, 0.05, None), (8, 40, 8, 0.9, 0.85, None),
    (50, 150, 10, 0.97, 0.95, None), (200, 30, 30, 0.95, 0.95, None),
    (100, 10, 5, 0.5, 0.5, None), (100, 40, 5, 0.8, 0.8, None), (70, 150, 25, 0.7, 0.4, 0.3),
    (40, 120, 10, 0.5, 0.2, 0.2), (100, 30, 30, 0.9, 0.6, 0.9), (20, 30, 10, 0.6, 0.3, 0.5),
    (200, 60, 20, 0.95, 0.8, 0.8), (60, 20, 5, 0.9, 0.5, 0.9),
)  # fmt: skip
HARDER = (
    (30, 30, 0, 0.9, 0.9, 0.9), (10, 90, 0, 0.97, 0.97, 0.97), (20, 180, 0, 0.02, 0.02, 0.02),
    (0, 100, 10, 0.98, 0.98, None), (2, 98, 8, 0.95, 0.95, None), (0, 50, 4, 0.9, 0.9, None),
    (0, 1000, 10, 0.99, 0.99, None), (90, 900, 10, 0.98, 0.98, None),
    (300, 20, 2, 0.97, 0.97, None), (10, 90, 0, 0.5, 0.8, 0.5), (0, 100, 10, 0.5, 0.9, 0.5),
    (0, 20, 20, 0.98, 0.98, 0.02),
)  # fmt: skip


REPEATED, INTERVALS = 20_000, 2_000  # the first of them get an interval


def equally_precise(both, only_a, only_b, pi_both, pi_a, pi_b):
    if pi_b is None:
        precision = (both * pi_both + only_a * pi_a) / (both + only_a)
        pi_b = (precision * (both + only_b) - both * pi_both) / only_b
    return both, only_a, only_b, pi_both, pi_a, pi_b


def sets_rows():
    """Size, power and coverage for the difference in precision of two acceptance sets."""
    rng = np.random.default_rng(12)
    for row, sizes in product((*EARLIER, *OF_AUDIT, *HARDER), ("fixed", "varies")):
        setting = equally_precise(*row)
        mean, rate = (np.array(x)[:, np.newaxis] for x in (setting[:3], setting[3:]))
        n = np.broadcast_to(mean, (3, REPEATED)).astype(np.int64)
        n = n if sizes == "fixed" else rng.poisson(n)
        n = n[:, (n[0] + n[1] >= 2) & (n[0] + n[2] >= 2) & (n[1] + n[2] > 0)]
        tp = rng.binomial(n, rate)
        true = of_sets(mean * rate, mean)[0]
        low, high = set_difference(*tp[:, :INTERVALS], *n[:, :INTERVALS], level=0.95)
        p = one_or_two_sided(*set_tails(tp, n), "two-sided")
        held, rejected = study.covers(low, high, true).mean(), (p <= 0.05).mean()
        size, power = (rejected, None) if abs(true) < 1e-9 else (None, rejected)
        plain = (plain_kosinski(*tp, *n) <= 0.05).mean()
        yield *setting, sizes, size, power, plain, held, n.shape[1], low.size


def of_sets(tp, n):
    """Return the difference in precision of two sets: both, only a, only b."""
    return (tp[0] + tp[1]) / (n[0] + n[1]) - (tp[0] + tp[2]) / (n[0] + n[2])


# candidates, prevalence, sensitivity and specificity of a, then of b, latent correlation
F1_HARDER = (
    (60, 0.1, (0.6, 0.9), (0.6, 0.9), 0.6), (60, 0.1, (0.8, 0.9), (0.5, 0.9), 0.6),
    (100, 0.05, (0.7, 0.95), (0.7, 0.95), 0.0), (200, 0.02, (0.8, 0.97), (0.8, 0.97), 0.6),
    (200, 0.5, (0.97, 0.97), (0.97, 0.97), 0.9), (200, 0.1, (0.3, 0.99), (0.9, 0.7), 0.6),
    (400, 0.1, (0.2, 0.98), (0.2, 0.98), 0.95), (300, 0.8, (0.9, 0.2), (0.6, 0.8), 0.3),
)  # fmt: skip
SWAPS = 999


def f1_of(prevalence, sensitivity, specificity):
    accepted = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return 2 * prevalence * sensitivity / (prevalence + accepted)


def f1_swapped(rng, tp, fp, positive):
    """Return p-values of approximate randomization: labels of both sets swapped at random."""
    both, discordant = np.stack([tp, fp])[:, 0], np.stack([tp, fp])[:, 1:].sum(1)
    to_a = rng.binomial(discordant, 0.5, (SWAPS, *discordant.shape))
    to_a = np.concatenate([np.stack([tp[1], fp[1]])[np.newaxis], to_a])  # (draws, label, sample)
    with np.errstate(invalid="ignore"):
        a, b = (
            2 * (both + x)[:, 0] / (positive + (both + x).sum(1)) for x in (to_a, discordant - to_a)
        )
    gain = np.abs(a - b)
    return (gain >= gain[0] - 1e-12).mean(0)


def f1_rows(samples=1_000):
    """Size, power and coverage for the difference in F1 of two acceptance sets."""
    audited = [(n, share, *rates, rho) for _, n, _, share, rates, rho in settings()]
    for number, (n, prevalence, a, b, rho) in enumerate((*audited, *F1_HARDER)):
        rng = np.random.default_rng([53, number])
        gold = rng.random((samples, n)) < prevalence
        shared = rng.standard_normal((samples, n)) * np.sqrt(rho)
        accepted = []
        for sensitivity, specificity in (a, b):
            cut = stats.norm.ppf(specificity)
            own = rng.standard_normal((samples, n)) * np.sqrt(1 - rho)
            accepted.append(shared + own + gold * (cut + stats.norm.ppf(sensitivity)) >= cut)
        regions = accepted[0] & accepted[1], accepted[0] & ~accepted[1], accepted[1] & ~accepted[0]
        tp, fp = (np.stack([(x & labels).sum(1) for x in regions]) for labels in (gold, ~gold))
        counts = *tp, *(tp + fp), gold.sum(1)
        p = one_or_two_sided(*f1_law(*counts), "two-sided")
        low, high = f1_law(*counts, level=0.95)
        true, tested = f1_of(prevalence, *a) - f1_of(prevalence, *b), np.isfinite(p)
        held = study.covers(low, high, true)[tested].mean()
        rejected, peer = (p <= 0.05).mean(), (f1_swapped(rng, tp, fp, counts[-1]) <= 0.05).mean()
        size, power = (rejected, None) if abs(true) < 1e-9 else (None, rejected)
        yield n, prevalence, *a, *b, rho, size, power, peer, held, tested.mean(), samples


GROUPED = {"precision": "ci", "recall": "recall", "specificity": "spec", "npv": "npv", "f1": "f1"}
CUT = 1.8  # of scores whose variance is 2: a specificity of .9
# the measures: what true positives score more, and the thresholds
MEASURES = {"equal": ((2.0, 2.0), (CUT, CUT)), "unequal": ((2.0, 1.3), (CUT, CUT)),
            "worthless, at 8% and 50%": ((0.0, 0.0), (2.0, 0.0))}  # fmt: skip


def rate_above(of, quality, cut):
    sensitivity, specificity = special.ndtr(np.array([quality - cut, cut]) / np.sqrt(2.0))
    if of == "f1":
        return f1_of(0.25, sensitivity, specificity)
    return truth(of, 0.25, sensitivity, specificity)


def cluster_rates_rows(samples=1_000):
    """Coverage and size of what takes ``groups`` at a threshold."""
    kinds = ("equal", "3 to 50", "a third in one")
    for number, (groups, kind, icc) in enumerate(product((10, 20, 50), kinds, (0.3, 0.8))):
        rng, found = np.random.default_rng([57, number]), {}
        for _ in range(samples):
            cluster = np.repeat(np.arange(groups), sizes_of(rng, kind, groups))
            gold, common, x, y = (study.together(rng, cluster, icc) for _ in range(4))
            gold, scores = study.upper_quarter(gold), common + np.stack([x, y])
            for key, row in grouped_rates(gold, scores, cluster):
                found.setdefault(key, []).append(row)
        setting = f"{groups} groups, {kind}, icc {icc}"
        for (call, of), every in found.items():
            covers, errs, wide = summed_up("", "", every, 0.0)[2:5]
            errs = errs if call.startswith("compare_thresholds") and "unequal" not in call else None
            yield call, of, setting, covers, errs, wide, len(every)


def grouped_rates(gold, scores, cluster):
    """Yield the deviation of each estimate from the truth, its limits and p-value."""
    ranking, kind = study.ranking(scores[0] + 2.0 * gold, gold), IntervalKind("wilson", 0.95, 1.0)
    sets = ranking.accepted(np.array([CUT]))
    shares = acceptance._shares_of_sets(ranking, sets, kind, cluster)
    for of, name in GROUPED.items():
        true, parts = rate_above(of, 2.0, CUT), [of, f"{name}_low", f"{name}_high"]
        value, low, high = (float(shares[x][0]) - true for x in parts)
        if np.isfinite(value):
            yield ("acceptance_precision", of), (value, low, high, 1.0)
    again = moved(gold, cluster, None)
    for measures, (qualities, cuts) in MEASURES.items():
        accepted = scores + np.multiply.outer(qualities, gold) >= np.reshape(cuts, (2, 1))
        for of in GROUPED if measures.endswith("equal") else ("precision", "npv"):
            above, below = acceptance._sums_of_rate(accepted, gold, of)
            if not below.sum(axis=1).all():
                continue
            paired, (a, b) = of in ("recall", "specificity"), above.sum(1) / below.sum(1)
            gap = ratio_gap_spread(above, below, cluster, paired=paired)
            error = np.sqrt(gap.variance)
            parts = [np.array([x]) for x in (a - b, error, gap.freedom, 1.0, again)]
            (low,), (high,) = OF_CLUSTERS.limits(*parts, level=0.95)
            p = p_of_gap(*parts[:3], "two-sided")[0]
            true = np.subtract(*(rate_above(of, *x) for x in zip(qualities, cuts, strict=True)))
            row = a - b - true, low - true, high - true, p
            yield (f"compare_thresholds, {measures}", of), row
