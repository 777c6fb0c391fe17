"""Rankings judged in part whose candidates belong together: coverage of what ``groups`` gives.

A population has 30 or 60 groups of 20 candidates, or of 3 to 50. The labels and scores of a group
share ``icc`` of their variance. Judged are all candidates of some groups, drawn at random, or a
third of the candidates of every group. Intervals are of the best fifth of the population: of its
precision and recall, and of the difference of precision; or of average precision. A setting has 100
populations of 20 samples each. ``covers`` is the share of samples whose 95% interval contains the
population's value, ``without`` the same for intervals that assume independent candidates, ``wide``
how many times as wide intervals are as those that would just cover. Writes judged_clusters.csv, or
into it the rows of the settings that are named, as "60 groups, equal, icc 0.8"; an hour.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.judging.judged import (
    Judgments,
    average_columns,
    judged_list_columns,
    region_columns,
)
from rankeval_pd.stats.judged import Design
from rankeval_pd.stats.ranking import Ranking

POPULATIONS, SAMPLES = 100, 20
HOW = ("10 groups", "20 groups", "a third of each")
DESIGN = Design(1, "estimate", "ratio", 0.95)


def population(groups: int, kind: str, icc: float, rng: Any) -> tuple[np.ndarray, ...]:
    """Return labels, two rows of scores, and groups."""
    size = np.full(groups, 20) if kind == "equal" else rng.integers(3, 51, groups)
    cluster = np.repeat(np.arange(groups), size)

    def together() -> np.ndarray:
        shared = rng.normal(size=groups)[cluster]
        return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)

    gold, common = together() > stats.norm.ppf(0.75), together()
    return gold, np.stack([common + together() + gold, common + together() + 0.6 * gold]), cluster


def answers(gold: Any, score: Any, cluster: Any, judged: Any, n: Any) -> dict[str, np.ndarray]:
    """Return estimates and limits, (3, sample); without clusters candidates are independent.

    ``judged`` is (sample, candidate).
    """
    label = gold & judged
    here = np.ones(label.shape, dtype=bool)
    rankings = [Ranking.of(np.broadcast_to(x, label.shape), label, here) for x in score]
    stratum = np.zeros(gold.size, dtype=np.int64)
    known: dict[str, Any] = {
        "judged": judged,
        "probability": np.ones(gold.size),
        "stratum": stratum,
    }
    judgments = Judgments(**known, cluster=cluster, design=DESIGN, n=n, asked=n)
    limits = ("ci_low", "ci_high")
    found = {}
    for name in ("precision", "recall"):
        columns = judged_list_columns(rankings[0], judgments, name)
        found[f"judged_{name}"] = np.array([columns[x][..., 0] for x in (name, *limits)])
    columns = region_columns(*rankings, judgments)
    found["judged_difference"] = np.array([columns[x][..., 0] for x in ("difference", *limits)])
    columns = average_columns(rankings[0], judgments)
    names = ("average_precision", *limits)
    found["judged_average_precision"] = np.array([columns[x] for x in names])
    return found


def rows() -> Iterator[tuple[Any, ...]]:
    for groups, kind in ((30, "equal"), (30, "3 to 50"), (60, "equal"), (60, "3 to 50")):
        for icc in (0.3, 0.8):
            if sys.argv[1:] and f"{groups} groups, {kind}, icc {icc}" not in sys.argv[1:]:
                continue
            rng, found = np.random.default_rng(3), {}
            for _ in range(POPULATIONS):
                gold, score, cluster = population(groups, kind, icc, rng)
                n, every = np.array([round(0.2 * gold.size)]), np.ones((1, gold.size), dtype=bool)
                true = answers(gold, score, None, every, n)
                for how in HOW:
                    judged = np.array([_drawn(how, cluster, rng) for _ in range(SAMPLES)])
                    both = [answers(gold, score, x, judged, n) for x in (cluster, None)]
                    for name, truth in true.items():
                        parts = [np.broadcast_to(truth[:1], (1, SAMPLES)), *(x[name] for x in both)]
                        found.setdefault((name, how), []).append(np.concatenate(parts))
            for (name, how), parts in found.items():
                truth, value, low, high, _, *alone = np.concatenate(parts, axis=1)
                side = np.where(value > truth, value - low, high - value)
                just = np.nan_to_num(np.abs(value - truth) / np.maximum(side, 1e-12))
                covers, without = (
                    np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12))
                    for low, high in ((low, high), alone)
                )
                factor = max(float(np.quantile(just, 0.95)), 1e-12)
                setting = f"{groups} groups, {kind}, icc {icc}, judged {how}"
                yield name, setting, covers, without, 1.0 / factor, truth.size


def _drawn(how: str, cluster: Any, rng: Any) -> np.ndarray:
    """Return who is judged of one sample."""
    if how == "a third of each":
        return np.asarray(rng.random(cluster.size) < 1.0 / 3.0)
    drawn = rng.choice(int(cluster.max()) + 1, int(how.split()[0]), replace=False)
    return np.isin(cluster, drawn)


def main() -> None:
    warnings.simplefilter("ignore")
    table = []
    for row in rows():
        table.append(row)
        print(*row, flush=True)
    names = ["call", "setting", "covers", "without", "wide", "samples"]
    path, result = Path(__file__).with_suffix(".csv"), pd.DataFrame(table, columns=names)
    if sys.argv[1:]:
        old = pd.read_csv(path)
        result = pd.concat([old[~old["setting"].isin(result["setting"])], result])
    result.to_csv(path, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
