"""Do macro intervals hold their level? Samples of queries from a population of 20,000.

Query difficulty and the number of positives vary; P@10 and AP of the whole population are known.
"""

import numpy as np
import pandas as pd

from rankeval_pd import per_query
from rankeval_pd.stats import clusters

TABLE = "query_means.txt"
NAMES = ["metric queries coverage below above (Monte-Carlo error .0015)"]
QUERIES, DEPTH, SAMPLES = 20_000, 40, 20_000


def population():
    rng = np.random.default_rng(14)
    chance = rng.beta(0.8, 4.0, (QUERIES, 1))
    gold = rng.random((QUERIES, DEPTH)) < chance
    score = gold * rng.gamma(1.5, 1.0, (QUERIES, 1)) + rng.standard_normal(gold.shape)
    frame = pd.DataFrame(
        {"query": np.repeat(np.arange(QUERIES), DEPTH), "a": score.ravel(), "gold": gold.ravel()}
    )
    return per_query(frame, ["P@10", "AP"], ties="shared", wide=True)


def rows():
    values = population()
    rng = np.random.default_rng(15)
    for metric in ("P@10", "AP"):
        every = values[metric]["a"].to_numpy()
        for size in (5, 10, 20, 50, 250):
            drawn = every[rng.integers(every.size, size=(SAMPLES, size))]
            found = clusters.query_ratio(drawn, np.ones_like(drawn))
            low, high = clusters.query_share_limits(found.value, found.se, found.n, 0.95)
            below, above = (high < every.mean()).mean(), (low > every.mean()).mean()
            shares = " ".join(f"{x:.4f}" for x in (1 - below - above, below, above))
            yield [f"{metric:6} {size:7} {shares}"]
