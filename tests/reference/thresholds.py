"""Size, power and coverage of ``compare(threshold=...)``, default calls, with 2,000 samples each.

Two classifiers score the same candidates; latent scores are normal and correlate by .6 within a
class. ``of`` is compared at thresholds with these true sensitivities and specificities. "peer" is
the share of samples that McNemar's mid-p test rejects (of recall and specificity), or Kosinski's
(of precision; its default is Fisher's test of the regions). ``warned`` is the share of samples in
which the call warns: the sets differ by more than a tenth in size, and the test rejects.

Run: python tests/reference/thresholds.py
"""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

import rankeval_pd

SAMPLES = 2_000
RHO = 0.6
RATES = (  # sensitivity and specificity of a, then of b
    ((0.8, 0.8), (0.8, 0.8)),
    ((0.6, 0.95), (0.6, 0.95)),
    ((0.9, 0.7), (0.7, 0.7)),
    ((0.8, 0.9), (0.8, 0.75)),
    ((0.85, 0.9), (0.7, 0.8)),
)
ASKED = {
    "recall": {"of": "recall"}, "specificity": {"of": "specificity"}, "npv": {"of": "npv"},
    "precision": {}, "precision, kosinski": {"test": "kosinski"},
}  # fmt: skip


def drawn(rng, n: int, positive: int, rates) -> xr.Dataset:
    """Return samples of two scores of which those above 0 are accepted."""
    gold = np.arange(n) < positive
    common = rng.standard_normal((SAMPLES, n))
    scores = {}
    for name, (sensitivity, specificity) in zip("ab", rates, strict=True):
        mean = np.where(gold, stats.norm.ppf(sensitivity), -stats.norm.ppf(specificity))
        own = rng.standard_normal(common.shape)
        scores[name] = (("sample", "candidate"), mean + RHO**0.5 * common + (1 - RHO) ** 0.5 * own)
    return xr.Dataset({**scores, "gold": ("candidate", gold)})


def truth(of: str, rates, prevalence: float) -> float:
    """Return the true difference of a and b."""

    def value(sensitivity: float, specificity: float) -> float:
        tp, fp = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
        tn, fn = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
        values = {"recall": sensitivity, "specificity": specificity, "npv": tn / (tn + fn)}
        return values.get(of, tp / (tp + fp))

    return value(*rates[0]) - value(*rates[1])


def main() -> None:
    """Write the table."""
    rows = []
    settings = product(((120, 12), (120, 40), (400, 40), (400, 200)), RATES)
    for number, ((n, positive), rates) in enumerate(settings):
        ds = drawn(np.random.default_rng([32, number]), n, positive, rates)
        cuts = {"a": 0.0, "b": 0.0}
        found = {
            name: ds.rankeval.compare("a", "b", threshold=cuts, **asked).isel(pair=0, cut=0)
            for name, asked in ASKED.items()
        }
        for name, table in found.items():
            true = truth(name, rates, positive / n)
            p = table["p_value"].to_numpy()
            peer = table["p_mid"] if name in ("recall", "specificity") else None
            if name.startswith("precision"):
                peer = found["precision, kosinski"]["p_value"]
            held = (table["ci_low"] <= true + 1e-12) & (true - 1e-12 <= table["ci_high"])
            unequal = np.abs(table["n_a"] - table["n_b"]) > 0.1 * np.maximum(
                table["n_a"], table["n_b"]
            )
            rejected = float((p <= 0.05).mean())
            equal = abs(true) < 1e-12
            rows.append({
                "of": name, "setting": f"{n} candidates, {positive} positives, rates {rates}",
                "size": rejected if equal else None, "power": None if equal else rejected,
                "peer": None if peer is None else float((peer <= 0.05).mean()),
                "coverage": float(held.mean()),
                "warned": float((unequal & (p <= 0.05)).mean()) if name == "precision" else 0.0,
                "samples": SAMPLES,
            })  # fmt: skip
            print(rows[-1], flush=True)
    pd.DataFrame(rows).round(4).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
    main()
