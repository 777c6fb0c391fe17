"""What becomes of intervals and tests of single n that are read as one statement about all n?

In the settings of ``simultaneous.py`` with equal measures, counted is how often the pointwise
Clopper-Pearson intervals have the whole true curve in them, and how often Fisher's test calls two
equally good measures different at some n.
"""

from tests.simulations.simultaneous import SETTINGS, inside, shares

FORM = {"digits": None}
REPETITIONS = 300
NAMES = ["n_candidates", "baseline", "quality", "correlation", "n_first", "n_last", "repetitions",
         "pointwise_covers", "pointwise_se", "fisher_errs", "fisher_se"]  # fmt: skip


def rows():
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
