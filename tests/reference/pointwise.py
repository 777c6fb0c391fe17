"""What becomes of intervals and tests of single n that are read as one statement about all n?

Run as ``python tests/reference/pointwise.py > tests/reference/pointwise.csv``, in the settings of
``simultaneous.py``. Counted is how often the pointwise Clopper-Pearson intervals have the whole
true curve in them, and how often Fisher's test calls two equally good measures different at some n.
"""

import numpy as np

from rankeval_pd import datasets

REPETITIONS = 300


def main() -> None:
    """Print a row for each setting with two equally good measures."""
    from simultaneous import SETTINGS  # the script beside this one

    print(
        "n_candidates,baseline,quality,correlation,n_first,n_last,repetitions,"
        "pointwise_covers,pointwise_se,fisher_errs,fisher_se"
    )
    for number, setting in enumerate(SETTINGS):
        lift, other = setting.quality
        if lift != other:
            continue
        truth = datasets.true_precision(
            np.array(setting.n) / setting.n_candidates, quality=lift, baseline=setting.baseline
        )
        covered, erred = [], []
        for r in range(REPETITIONS):
            df = datasets.simulate_candidates(
                setting.n_candidates, baseline=setting.baseline, quality={"a": lift, "b": lift},
                correlation=setting.correlation, rng=10_000 * number + r,
            )  # fmt: skip
            table = df.rankeval.nbest_precision(setting.n, measures="a")
            covered.append(((table["ci_low"] <= truth) & (truth <= table["ci_high"])).all())
            erred.append(df.rankeval.compare("a", "b", setting.n)["significant"].any())
        cells = [
            setting.n_candidates, setting.baseline, lift, setting.correlation, setting.first,
            setting.last, REPETITIONS,
        ]  # fmt: skip
        for values in (covered, erred):
            rate = float(np.mean(values))
            cells += [f"{rate:.3f}", f"{np.sqrt(rate * (1 - rate) / REPETITIONS):.3f}"]
        print(*cells, sep=",")


if __name__ == "__main__":
    main()
