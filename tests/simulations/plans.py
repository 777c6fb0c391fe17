"""Plans of judgments for Evert's data, and the power that they have. Seconds.

Needs the environment variable RANKEVAL_PD_DATA. The precisions of the regions are the true ones,
and the power is that of sheets as long as planned, drawn 20,000 times and tested by Fisher's test;
"start" judgments are there already, one draw of them for each row.
"""

from itertools import product

import numpy as np

import rankeval_pd
from rankeval_pd.stats.two_by_two import fisher_test

FORM = {"digits": 3}
MEASURES = {"G2": "log.like", "chi2": "chisq", "t": "t.score", "MI": "MI"}
PAIRS = [("G2", "chi2"), ("G2", "MI"), ("chi2", "t")]
DRAWS = 20_000


def rows():
    krenn = rankeval_pd.datasets.load_krenn_ppv()
    whole = krenn[[*MEASURES.values(), "is.colloc"]].set_axis([*MEASURES, "gold"], axis=1)
    whole = whole.reset_index(drop=True)
    rng = np.random.default_rng(1)
    for (a, b), n in product(PAIRS, (100, 500, 1_000)):
        region = whole.rankeval.difference_region(a, b, n)
        sides = [region[region["list"] == side] for side in "ab"]
        shares = tuple(side["gold"].mean() for side in sides)
        for start in (0, 20):
            chosen = [rng.permutation(side.index)[: start // 2] for side in sides]
            gold = whole["gold"].astype(float).where(whole.index.isin(np.concatenate(chosen)))
            partly = whole.assign(gold=gold)
            plan = rankeval_pd.plan_annotation(partly, a, b, n, precisions=shares).iloc[0]
            yield {
                "pair": f"{a}, {b}", "n": n, "n_region": plan["n_region"],
                "region_share": plan["region_share"], "start": start,
                "n_more": plan["n_more"], "power": plan["power"],
                "simulated": _power(rng, sides, chosen, int(plan["n_more"])),
            }  # fmt: skip


def _power(rng, sides, chosen, more):
    """Return how often the judgments of a sheet of this length are significant."""
    left = [len(side) - len(start) for side, start in zip(sides, chosen, strict=True)]
    new = [min(max(more - more // 2, more - left[1]), left[0])]
    new.append(more - new[0])
    counts = []
    for side, start, count in zip(sides, chosen, new, strict=True):
        seen = int(side.loc[start, "gold"].sum())
        true = int(side["gold"].sum()) - seen
        rest = len(side) - len(start) - true
        tp = seen + rng.hypergeometric(true, rest, count, DRAWS)
        counts += [tp, len(start) + count]
    return float((fisher_test(*counts, "two-sided").p_value <= 0.05).mean())
