"""Rankings judged in part whose candidates belong together: coverage of what ``groups`` gives.

A population has 30 or 60 groups of 20 candidates, or of 3 to 50. The labels and scores of a group
share ``icc`` of their variance. Judged are all candidates of some groups, drawn at random, or a
third of the candidates of every group. Intervals are of the best fifth of the population: of its
precision and recall, and of the difference of precision. A setting has 100 populations of 20
samples each. ``covers`` is the share of samples whose 95% interval contains the
population's value, ``without`` the same for intervals that assume independent candidates, ``wide``
how many times as wide intervals are as those that would just cover. An hour; settings that are
named, as "60 groups, equal, icc 0.8", are made alone.
"""

from itertools import product

import numpy as np

from rankeval_pd.judging import judged as judged_lists
from rankeval_pd.stats.judged import Design
from tests.simulations import study

FORM = {"digits": None, "float_format": "%.4g", "keys": ["call", "setting"]}
POPULATIONS, SAMPLES = 100, 20
HOW = ("10 groups", "20 groups", "a third of each")
DESIGN = Design(1, "estimate", "ratio", 0.95)
NAMES = ["call", "setting", "covers", "without", "wide", "samples"]


def population(groups, kind, icc, rng):
    """Return labels, two rows of scores, and groups."""
    size = np.full(groups, 20) if kind == "equal" else rng.integers(3, 51, groups)
    cluster = np.repeat(np.arange(groups), size)
    gold, common, a, b = (study.together(rng, cluster, icc) for _ in range(4))
    gold = study.upper_quarter(gold)
    return gold, np.stack([common + a + gold, common + b + 0.6 * gold]), cluster


def answers(gold, score, cluster, judged, n):
    """Return estimates and limits, (3, sample); without clusters candidates are independent.

    ``judged`` is (sample, candidate).
    """
    label = gold & judged
    rankings = [study.ranking(np.broadcast_to(x, label.shape), label) for x in score]
    judgments = judged_lists.Judgments(
        judged=judged, probability=np.ones(gold.size), cluster=cluster, design=DESIGN, n=n,
        stratum=np.zeros(gold.size, dtype=np.int64), asked=n,
    )  # fmt: skip
    found = {
        name: judged_lists.judged_list_columns(rankings[0], judgments, name)
        for name in ("precision", "recall")
    }
    found["difference"] = judged_lists.region_columns(*rankings, judgments)
    return {
        f"judged_{name}": np.array([columns[x][..., 0] for x in (name, "ci_low", "ci_high")])
        for name, columns in found.items()
    }


def rows(*named):
    for groups, kind, icc in product((30, 60), ("equal", "3 to 50"), (0.3, 0.8)):
        there = f"{groups} groups, {kind}, icc {icc}"
        if named and there not in named:
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
            just = np.quantile(np.nan_to_num(study.just(value, low, high, truth)), 0.95)
            covers, without = (np.mean(study.covers(*x, truth)) for x in ((low, high), alone))
            setting = f"{there}, judged {how}"
            yield name, setting, covers, without, 1.0 / max(float(just), 1e-12), truth.size


def _drawn(how, cluster, rng):
    """Return who is judged of one sample."""
    if how == "a third of each":
        return np.asarray(rng.random(cluster.size) < 1.0 / 3.0)
    drawn = rng.choice(int(cluster.max()) + 1, int(how.split()[0]), replace=False)
    return np.isin(cluster, drawn)
