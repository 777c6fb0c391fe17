"""A fifth of Evert's data judged at random: estimates and intervals. Writes partly_judged.csv.

Needs the environment variable RANKEVAL_PD_DATA. The truth is what the whole of the data has.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd

SIZES = [100, 500, 1_000]


def main(repetitions: int = 2_000) -> None:
    candidates = rankeval_pd.datasets.load_krenn_ppv()[["log.like", "chisq", "is.colloc"]]
    whole = candidates.rename(columns={"is.colloc": "gold"})
    rng = np.random.default_rng(1)
    ranks = {
        name: rankeval_pd.nbest_precision(whole, SIZES, measures=name)["precision"].to_numpy()
        for name in ("log.like", "chisq")
    }
    difference = ranks["log.like"] - ranks["chisq"]
    found = []
    for _ in range(repetitions):
        judged = rng.random(len(whole)) < 0.2
        partly = whole.assign(gold=whole["gold"].astype(float).where(judged))
        one = rankeval_pd.judged_precision(partly, SIZES, measures="log.like")
        two = rankeval_pd.judged_difference(partly, "log.like", "chisq", SIZES)
        found.append([x[["point", "ci_low", "ci_high"]].to_numpy() for x in (
            one.rename(columns={"precision": "point"}), two.rename(columns={"difference": "point"})
        )])  # fmt: skip
    values = np.array(found)  # (repetition, question, n, column)
    rows = []
    for number, (name, truth) in enumerate(
        [("precision of G2", ranks["log.like"]), ("G2 - chi2", difference)]
    ):
        point, low, high = (values[:, number, :, k] for k in range(3))
        for column, n in enumerate(SIZES):
            wanted = truth[column]
            inside = (low[:, column] <= wanted + 1e-12) & (wanted - 1e-12 <= high[:, column])
            rows.append(
                {"what": name, "n": n, "truth": wanted, "mean": np.nanmean(point[:, column]),
                 "se_of_mean": np.nanstd(point[:, column]) / np.sqrt(repetitions),
                 "covers": inside.mean(), "width": (high - low)[:, column].mean()}
            )  # fmt: skip
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_name("partly_judged.csv"), index=False)
    print(table.to_string())


if __name__ == "__main__":
    main()
