"""Coverage of the bands and intervals of curves, in 2,000 samples of each setting."""

import numpy as np
from scipy.stats import norm

from rankeval_pd.curves.shapes import lists_of
from rankeval_pd.stats import bands as curve_bands
from tests.simulations import study

SAMPLES = 2000
SETTINGS = study.settings("curve_bands", "candidates", "prior", "shift", "steps")
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
        for space in SPACES:
            inside = curve_bands.covered(space, lists)
            if inside.any():
                some, at = lists.chosen(inside), truth[space][inside]
                level = curve_bands.band_level(space, some, 0.95, sample)
                low, high = curve_bands.curve_limits(space, some, level)
                each = study.covers(*curve_bands.curve_limits(space, some, 0.95), at).mean()
                held = float(study.covers(low, high, at).all())
                found[space].append((held, float(each), float(np.mean(high - low))))
    for space, known in found.items():
        band, each, width = np.mean(known, axis=0).round(4)
        yield {
            "candidates": size, "prior": prior, "shift": shift, "steps": steps, "curve": space,
            "samples": len(known), "band": band, "each": each, "width": width,
        }  # fmt: skip


def rows():
    for setting in SETTINGS:
        yield from one(*setting)
