"""Do max-t and the bands keep their promise? Repeated experiments whose truth is known."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats
from scipy.stats import norm

import rankeval_pd
from rankeval_pd import datasets, measure_ranks
from rankeval_pd.curves.shapes import lists_of
from rankeval_pd.stats import bands
from rankeval_pd.stats import bands as curve_bands
from rankeval_pd.stats.ranking import by_position
from tests.simulations import study
from tests.simulations.lists import recall_of

RESAMPLES = 499  # of the bands
SWAPS = 199  # of max-t: the level .05 is reached exactly


@dataclass(frozen=True)
class Setting:
    n_candidates: int
    baseline: float
    quality: tuple[float, float]
    correlation: float
    first: int
    last: int
    repetitions: int

    @property
    def n(self):
        return range(self.first, self.last + 1)

    def candidates(self, seed):
        return datasets.simulate_candidates(
            self.n_candidates, baseline=self.baseline, correlation=self.correlation, rng=seed,
            quality=dict(zip("ab", self.quality, strict=True)),
        )  # fmt: skip

    def truth(self, quality):
        share = np.array(self.n) / self.n_candidates
        return datasets.true_precision(share, quality=quality, baseline=self.baseline)


SETTINGS = [
    Setting(total, baseline, (a, b), *rest)
    for total, baseline, a, b, *rest in study.settings(
        "simultaneous", "n_candidates", "baseline", "quality_a", "quality_b", "correlation",
        "n_first", "n_last", "repetitions",
    )
]  # fmt: skip


def kept(setting, seed):
    """Return, for one experiment, what each promise came to."""
    a, b = map(setting.truth, setting.quality)
    call = setting.candidates(seed).rankeval(gold="gold", rng=seed)
    single = call(measures="a").precision_band(setting.n, n_resamples=RESAMPLES)
    both = call.difference_band("a", "b", setting.n, n_resamples=RESAMPLES)
    found = [inside(single, "band", a), inside(both, "band", a - b)]
    if setting.quality[0] == setting.quality[1]:
        pair = call.compare("a", "b", setting.n, adjust="max-t", n_resamples=SWAPS)
        found.append(bool(pair["significant"].any()))
    return found


def inside(table, limits, truth):
    return bool(((table[f"{limits}_low"] <= truth) & (truth <= table[f"{limits}_high"])).all())


def shares(found, digits):
    rates, count = np.mean(found, axis=0), len(found)
    return [f"{x:.{digits}f}" for p in rates for x in (p, study.error(p, count))]


def rows():
    for number, setting in enumerate(SETTINGS):
        found = [kept(setting, 10_000 * number + r) for r in range(setting.repetitions)]
        cells = [
            setting.n_candidates, setting.baseline, *setting.quality, setting.correlation,
            setting.first, setting.last, f"{setting.truth(setting.quality[0])[0]:.3f}",
            setting.repetitions, *shares(found, 4),
        ]  # fmt: skip
        yield cells if len(found[0]) == 3 else [*cells, "", ""]


REPETITIONS = 300


def pointwise_rows():
    """What becomes of intervals and tests of single n that are read as one statement?"""
    for number, setting in enumerate(SETTINGS):
        lift, other = setting.quality
        if lift != other:
            continue
        truth, found = setting.truth(lift), []
        for r in range(REPETITIONS):
            asked = setting.candidates(10_000 * number + r).rankeval
            table = asked.nbest_precision(setting.n, measures="a")
            pair = asked.compare("a", "b", setting.n)
            found.append([inside(table, "ci", truth), bool(pair["significant"].any())])
        yield [
            setting.n_candidates, setting.baseline, lift, setting.correlation, setting.first,
            setting.last, REPETITIONS, *shares(found, 3),
        ]  # fmt: skip


MEASURES = 12


def simulated(total, quality, rng):
    gold = rng.random(total) < 0.2
    found = study.alike(rng, total, [q * gold for q in quality])
    scores = {f"m{k}": score for k, score in enumerate(found)}
    return pd.DataFrame({**scores, "gold": gold})


def covered(table, quality):
    """Whether all ranks are: a measure has one from those better to those no worse."""
    value = table["measure"].map({f"m{k}": q for k, q in enumerate(quality)}).to_numpy()
    first = 1 + (value[np.newaxis] > value[:, np.newaxis]).sum(axis=-1)
    last = (value[np.newaxis] >= value[:, np.newaxis]).sum(axis=-1)
    return bool(((table["rank_low"] <= first) & (last <= table["rank_high"])).all())


def measure_ranks_rows(samples=400):
    """Joint coverage of the ranks of twelve nearly equal measures, by simulation."""
    kinds = (
        ({"kind": "ap"}, 5 * samples // 2), ({"kind": "roc"}, samples), ({"n": [100]}, samples // 4)
    )  # fmt: skip
    for spread, (asked, times) in product((0.0, 0.05), kinds):
        quality = 1.0 + spread * np.linspace(0, 1, MEASURES)
        rng = np.random.default_rng(5)
        right = [
            covered(measure_ranks(simulated(500, quality, rng), **asked), quality)
            for _ in range(times)
        ]
        rate = float(np.mean(right))
        error = stats.sem(right) if 0 < rate < 1 else 1 / times
        yield spread, str(asked), times, rate, round(float(error), 4)


SAMPLES = 2000
FEWER = 400  # for precision-recall curves
CURVES = study.settings("curve_bands", "candidates", "prior", "shift", "steps")
SPACES = ("roc", "gain", "precision_recall")


def population(shift, steps):
    """Return the shares of others and of true positives above each threshold, from the highest."""
    if not steps:
        cuts = np.linspace(12.0, -9.0, 40_001)
        return norm.sf(cuts), norm.sf(cuts - shift)
    cuts = norm.ppf(np.arange(1, steps) / steps)[::-1]
    return tuple(np.r_[0.0, norm.sf(cuts - mean), 1.0] for mean in (0.0, shift))


def one(size, prior, shift, steps):
    rng = np.random.default_rng(20261124)
    others, true = population(shift, steps)
    found = {space: [] for space in SPACES}
    for sample in range(SAMPLES):
        gold = rng.random(size) < prior
        score = rng.normal(size=size) + shift * gold
        if steps:
            score = np.digitize(score, norm.ppf(np.arange(1, steps) / steps)).astype(float)
        ties = "expected" if steps else "shared"
        lists = lists_of(study.ranking(score, gold), np.arange(1, size + 1), ties)
        recall = lists.tp / lists.positive
        fpr = (lists.n - lists.tp) / (size - lists.positive)
        above = np.interp(recall, true, others)
        truth = {
            "roc": np.interp(fpr, others, true),
            "gain": np.interp(lists.n / size, prior * true + (1 - prior) * others, true),
            "precision_recall": prior * recall / (prior * recall + (1 - prior) * above),
        }
        for space in SPACES if sample < FEWER else SPACES[:2]:
            inside = curve_bands.covered(space, lists)
            if inside.any():
                some, at = lists.chosen(inside), truth[space][inside]
                level = curve_bands.band_level(space, some, 0.95, sample)
                low, high = curve_bands.curve_limits(space, some, level, lists)
                each = study.covers(*curve_bands.curve_limits(space, some, 0.95, lists), at).mean()
                held = float(study.covers(low, high, at).all())
                found[space].append((held, float(each), float(np.mean(high - low))))
    for space, known in found.items():
        band, each, width = np.mean(known, axis=0).round(4)
        yield size, prior, shift, steps, space, len(known), band, each, width


def curve_bands_rows():
    """Coverage of the bands and intervals of curves, in 2,000 samples of each setting."""
    for setting in CURVES:
        yield from one(*setting)


POINTS = 1000
RESAMPLED = 150  # of these samples, with 200 resamples each
RECALLS = (0.1, 0.3, 0.6, 0.9, 0.97)


def resampled(gold, recalls, rng):
    """Return percentile limits for precision at recalls, from resampled candidates by rank."""
    times = rng.multinomial(gold.size, np.full(gold.size, 1.0 / gold.size), size=200)
    tp, n = np.cumsum(times * gold, axis=1), np.cumsum(times, axis=1)
    for recall in recalls:
        needed = np.maximum(1, np.ceil(recall * tp[:, -1:] - 1e-9))
        first = (tp >= needed).argmax(axis=1)[:, np.newaxis]
        more = np.take_along_axis(tp, first, axis=1) - needed  # copies of the last positive
        size = np.take_along_axis(n, first, axis=1) - more
        yield np.quantile(needed / size, [0.025, 0.975])


def points(positives, candidates, quality):
    """Return a row for each recall of which a list of true positives is possible."""
    rng = np.random.default_rng(1)
    wanted = sorted({max(1, round(positives * x)) for x in RECALLS} - {positives})
    recalls = np.array(wanted) / positives
    above = norm.sf(quality + norm.isf(recalls))
    prior = positives / candidates
    truth = prior * recalls / (prior * recalls + (1 - prior) * above)
    ours, peers = [], []
    for sample in range(POINTS):
        score = rng.normal(size=candidates)
        score[:positives] += quality
        gold = np.argsort(-score) < positives
        ranking = study.ranking(-np.arange(candidates), gold)
        every = lists_of(ranking, np.arange(1, candidates + 1), "shared")
        some = every.chosen(np.searchsorted(every.tp, wanted))
        ours.append(curve_bands.curve_limits("precision_recall", some, 0.95, every))
        if sample < RESAMPLED:
            peers.append(np.transpose([*resampled(gold, recalls, rng)]))
    covers, peer = (np.mean([study.covers(*x, truth) for x in y], axis=0) for y in (ours, peers))
    width = [np.median([x[1] - x[0] for x in y], axis=0) for y in (ours, peers)]
    for k, recall in enumerate(recalls):
        yield {
            "positives": positives, "candidates": candidates, "quality": quality,
            "recall": round(recall, 3), "samples": POINTS, "truth": truth[k],
            "covers": covers[k], "width": width[0][k], "bootstrap_covers": peer[k],
            "bootstrap_width": width[1][k],
            "wide": width[0][k] / width[1][k] if peer[k] >= 0.93 else np.nan,
        }  # fmt: skip


def curve_points_rows():
    """Coverage and width of single limits for precision at a recall."""
    for setting in study.settings("curve_points", "positives", "candidates", "quality"):
        yield from points(*setting)


BANDS = 400


def region(total, prevalence, quality, repetitions, rng):
    """Return the least coverage over n of intervals for a region, and their mean width."""
    gold = rng.random((repetitions, total)) < prevalence
    score = quality * gold + rng.normal(size=gold.shape)
    n = sorted({max(1, round(x * total)) for x in (0.01, 0.05, prevalence, 0.3)})
    wanted = [recall_of(x / total, prevalence, quality) for x in n]
    samples = study.dataset({"a": score}, gold)
    table = rankeval_pd.nbest_recall(samples, n, target="region").isel(measure=0)
    held = study.covers(table["ci_low"], table["ci_high"], xr.DataArray(wanted, dims="n"))
    return {
        "least_region": float(held.mean("sample").min()),
        "width_region": float((table["ci_high"] - table["ci_low"]).mean()),
    }


def band(total, prevalence, quality, repetitions, rng):
    """Return how often the band holds at 20 n together."""
    n = np.unique(np.round(total * np.geomspace(0.02, 0.9, 20)).astype(int))
    wanted = np.array([recall_of(x / total, prevalence, quality) for x in n])
    hits = 0
    keys, drawing = by_position(total), {"n_resamples": 192, "seed": 1, "advance": lambda _: None}
    for _ in range(repetitions):
        gold = rng.random(total) < prevalence
        score = quality * gold + rng.normal(size=total)
        order = np.argsort(-score)
        ranked = gold[order]
        limits = bands.recall_band(ranked, n, keys, 0.95, **drawing)
        hits += study.covers(*limits, wanted).all()
    return {"band_clopper-pearson": hits / repetitions}


def recall_rows():
    """Coverage of the intervals of recall for regions, and of its bands, by simulation."""
    populations = ((300, 0.1), (1_000, 0.03), (1_000, 0.3), (3_000, 0.02))
    for (total, prevalence), quality in product(populations, (0.7, 1.5, 3.0)):
        rng, of = np.random.default_rng(2), (total, prevalence, quality)
        few = 2_000 if total < 3_000 else 800
        yield {
            "total": total, "prevalence": prevalence, "quality": quality,
            **region(*of, few, rng), **band(*of, BANDS, rng),
        }  # fmt: skip
