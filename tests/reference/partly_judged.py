"""A fifth of Evert's data judged at random: estimates and intervals. Writes partly_judged.csv.

Needs the environment variable RANKEVAL_PD_DATA. The truth is what the whole of the data has.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.stats.intervals.finite import difference_limits, hypergeometric_limits

SIZES = [100, 500, 1_000]


def main(repetitions: int = 2_000) -> None:
    candidates = rankeval_pd.datasets.load_krenn_ppv()[["log.like", "chisq", "is.colloc"]]
    whole = candidates.rename(columns={"is.colloc": "gold"})
    pairs = [rankeval_pd.difference_region(whole, "log.like", "chisq", n) for n in SIZES]
    gold = whole["gold"].to_numpy()
    rows = []
    for n, region in zip(SIZES, pairs, strict=True):
        best = rankeval_pd.difference_region(whole.assign(last=-whole["log.like"]), "log.like",
                                             "last", n)  # fmt: skip
        of_list = whole.index.get_indexer(best.index[best["list"] == "a"])
        only = [whole.index.get_indexer(region.index[region["list"] == side]) for side in "ab"]
        rng = np.random.default_rng(1)
        judged = rng.random((repetitions, gold.size)) < 0.2
        m, t = ((judged & label)[:, of_list].sum(axis=1) for label in (True, gold))
        low, high = hypergeometric_limits(t, m, n, 0.95)
        rows.append(_row("precision of G2", n, gold[of_list].mean(), t / m, low / n, high / n))
        m, t = (
            tuple((judged & label)[:, side].sum(axis=1) for side in only) for label in (True, gold)
        )
        size = only[0].size
        truth = (gold[only[0]].sum() - gold[only[1]].sum()) / n
        point, low, high = (x / n for x in difference_limits(t, m, size, 0.95))
        rows.append(_row("G2 - chi2", n, truth, point, low, high))
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_name("partly_judged.csv"), index=False)
    print(table.to_string())


def _row(what, n, truth, point, low, high):
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return {
        "what": what, "n": n, "truth": truth, "mean": np.nanmean(point),
        "se_of_mean": np.nanstd(point) / np.sqrt(point.size), "covers": inside.mean(),
        "width": (high - low).mean(),
    }  # fmt: skip


if __name__ == "__main__":
    main()
