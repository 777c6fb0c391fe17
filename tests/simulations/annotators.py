"""Five annotators: size and coverage of comparisons, and coverage of coefficients of agreement."""

import numpy as np

from rankeval_pd.stats import clusters as agreement
from tests.simulations import study

SAMPLES, MORE = 2_000, 10_000
CALLS = 50
N = [20, 50, 100]


def drawn(kappa, base, size, rng, samples, annotators=5):
    """Return votes (sample, annotator, candidate) and the standardized probability of each."""
    a, b = base * (1 - kappa) / kappa, (1 - base) * (1 - kappa) / kappa
    probability = rng.beta(a, b, size=(samples, size))
    votes = rng.random((samples, annotators, size)) < probability[:, np.newaxis]
    return votes, (probability - base) / np.sqrt(base * (1 - base) * kappa)


def rankings(kappa, base, qualities, samples, size=500):
    rng = np.random.default_rng(1)
    votes, latent = drawn(kappa, base, size, rng, samples)
    found = study.alike(rng, latent.shape, [quality * latent for quality in qualities])
    scores = {f"m{k}": score for k, score in enumerate(found)}
    gold = ("sample", "annotator", "candidate"), votes
    return study.dataset(scores, votes[:, 0]).assign(gold=gold)


def compared(kappa, base, qualities, samples=SAMPLES):
    data = rankings(kappa, base, qualities, samples)
    table = data.rankeval.compare("m0", "m1", N).isel(pair=0)
    width = (table["ci_high"] - table["ci_low"]).mean("sample") / table["difference"].std("sample")
    equal = qualities[0] == qualities[1]
    each = (data.isel(sample=k).rankeval for k in range(CALLS))
    warned = study.warned(lambda x=x: x.compare("m0", "m1", N) for x in each)
    for n in N:
        row = table.sel(n=n)
        yield {
            "what": "compare, majority", "setting": f"base rate {base}, qualities {qualities}",
            "kappa": kappa, "n": n, "samples": samples,
            "size": study.rejected(row) if equal else np.nan,
            "coverage": study.held(row, 0.0 if equal else float(row["difference"].mean())),
            "width": float(width.sel(n=n) / 3.92),
            "warned": warned,
        }  # fmt: skip


def coefficients(kappa, base, size, samples=SAMPLES):
    votes, _ = drawn(kappa, base, size, np.random.default_rng(1), samples)
    answers = {}
    for sample in votes.astype(np.int64):
        counts = np.stack([(sample == k).sum(axis=0) for k in (0, 1)], axis=1)
        for name, found in (
            ("Cohen's kappa", agreement.cohen_kappa(sample[0], sample[1], 0.95)),
            ("Fleiss' kappa", agreement.fleiss_kappa(counts, 0.95)),
            ("Krippendorff's alpha", agreement.krippendorff_alpha(counts, 0.95)),
        ):
            if not np.isnan(found.ci_low):
                answers.setdefault(name, []).append((found.value, found.ci_low, found.ci_high))
    for name, known in answers.items():
        value, low, high = np.array(known).T
        yield {
            "what": name, "setting": f"base rate {base}", "kappa": kappa, "n": size,
            "samples": len(known), "size": np.nan,
            "coverage": float(study.covers(low, high, kappa).mean()),
            "width": 1.0 / np.quantile(study.just(value, low, high, kappa), 0.95), "warned": 0.0,
        }  # fmt: skip


def rows(samples=SAMPLES):
    for kappa in (0.4, 0.6, 0.8):
        for qualities in ((0.7, 0.7), (1.0, 0.5)):
            found = list(compared(kappa, 0.3, qualities, samples))
            if any(row["coverage"] < 0.93 or row["size"] > 0.06 for row in found):
                found = list(compared(kappa, 0.3, qualities, MORE))
            yield from found
    for base in (0.5, 0.2, 0.1):
        for kappa in (0.4, 0.6, 0.8):
            for size in (30, 100, 400):
                yield from coefficients(kappa, base, size, samples)
