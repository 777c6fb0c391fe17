"""Coverage of intervals and bands of recall, and of differences of recall, by simulation."""

from itertools import product

import numpy as np
import xarray as xr
from scipy import optimize, special

import rankeval_pd
from rankeval_pd.stats import bands
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import by_position, edge_precision
from tests.simulations import study

BANDS = 400


def found(share, prevalence, quality):
    cut = optimize.brentq(lambda x: sum(study.beyond(x, quality, prevalence)) - share, -12.0, 12.0)
    return float(special.ndtr(quality - cut))


def pointwise(total, prevalence, quality, repetitions, rng):
    """Return the least coverage over n of "nbest" and "region", and the mean widths."""
    gold = rng.random((repetitions, total)) < prevalence
    order = np.argsort(-(quality * gold + rng.normal(size=gold.shape)), axis=1)
    ranked = np.take_along_axis(gold, order, axis=1)
    tp = np.concatenate([np.zeros((repetitions, 1), int), np.cumsum(ranked, axis=1)], axis=1)
    size, positive = np.full((repetitions, 1), total), tp[:, -1:]
    n = np.array([max(1, round(x * total)) for x in (0.01, 0.05, prevalence, 0.3)])
    wanted = np.array([found(x / total, prevalence, quality) for x in n])
    edge = edge_precision(tp, np.broadcast_to(n, (repetitions, n.size)), size)
    spread = bands.spread(tp[:, n], n, size, positive, edge)
    result = {}
    for name, counted in (("nbest", spread.effective(positive)), ("region", positive + 0.0 * edge)):
        low, high = INTERVALS["clopper-pearson"](tp[:, n] / positive * counted, counted, 0.95)
        result[f"least_{name}"] = study.covers(low, high, wanted).mean(axis=0).min()
        result[f"width_{name}"] = (high - low).mean()
    return result


def band(total, prevalence, quality, repetitions, rng):
    """Return how often the band holds at 20 n together."""
    n = np.unique(np.round(total * np.geomspace(0.02, 0.9, 20)).astype(int))
    wanted = np.array([found(x / total, prevalence, quality) for x in n])
    hits = 0
    keys, drawing = by_position(total), {"n_resamples": 192, "seed": 1, "advance": lambda _: None}
    for _ in range(repetitions):
        gold = rng.random(total) < prevalence
        score = quality * gold + rng.normal(size=total)
        order = np.argsort(-score)
        ranked = gold[order]
        counts = np.concatenate([[0], np.cumsum(ranked)])
        edge = edge_precision(counts, n, np.array(total))
        sup = bands.sup_t(ranked, n, edge, counts[n], keys, 0.95, added=2, **drawing)
        hits += study.covers(*bands.exact_band(sup, int(gold.sum())), wanted).all()
    return {"band_clopper-pearson": hits / repetitions}


def difference(total, prevalence, quality, repetitions, rng):
    """Return the least coverage over n of intervals of the difference of recalls."""
    n = [max(1, round(x * total)) for x in (0.05, 0.3)]
    wanted = [
        found(x / total, prevalence, quality) - found(x / total, prevalence, quality + 0.5)
        for x in n
    ]
    gold = rng.random((repetitions, total)) < prevalence
    scores = study.alike(rng, gold.shape, [quality * gold, (quality + 0.5) * gold])
    samples = study.dataset(dict(zip("ab", scores, strict=True)), gold)
    result = {}
    for target in ("region", "nbest"):
        table = rankeval_pd.compare(samples, "a", "b", n, of="recall", target=target)
        held = study.covers(table["ci_low"], table["ci_high"], xr.DataArray(wanted, dims="n"))
        result[f"difference_{target}"] = float(held.mean("sample").min())
    return result


def rows():
    populations = ((300, 0.1), (1_000, 0.03), (1_000, 0.3), (3_000, 0.02))
    for (total, prevalence), quality in product(populations, (0.7, 1.5, 3.0)):
        rng, of = np.random.default_rng(2), (total, prevalence, quality)
        few = 2_000 if total < 3_000 else 800
        yield {
            "total": total, "prevalence": prevalence, "quality": quality,
            **pointwise(*of, few, rng), **band(*of, BANDS, rng), **difference(*of, few, rng),
        }  # fmt: skip
