"""Do max-t and the bands keep their promise? Repeated experiments whose truth is known.

Of every setting, candidates are drawn again and again (binormal scores, ``simulate_candidates``);
counted is how often the band has the true curve in it at every n, and how often max-t calls two
equally good measures different at some n. A quarter of an hour.
"""

from dataclasses import dataclass

import numpy as np

from rankeval_pd import datasets
from tests.simulations import study

FORM = {"digits": None}
NAMES = ["n_candidates", "baseline", "quality_a", "quality_b", "correlation", "n_first", "n_last",
         "highest_precision", "repetitions", "precision_band_covers", "precision_band_se",
         "difference_band_covers", "difference_band_se", "max_t_errs", "max_t_se"]  # fmt: skip
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


SETTINGS = (
    Setting(2000, 0.11, (1.0, 1.0), 0.9, 100, 1000, 1000),
    Setting(2000, 0.11, (0.8, 0.5), 0.9, 100, 1000, 1000),
    Setting(1000, 0.10, (1.0, 1.0), 0.7, 10, 500, 1000),
    Setting(5102, 0.11, (0.9, 0.9), 0.9, 100, 2000, 600),
    # precision above .9: known to fall short
    Setting(2000, 0.30, (2.0, 2.0), 0.7, 50, 1000, 300),
    Setting(1000, 0.50, (1.5, 1.5), 0.7, 30, 500, 300),
)


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
        yield cells + [""] * (len(NAMES) - len(cells))
