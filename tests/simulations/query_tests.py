"""Size of the paired tests of search: t, swaps and random signs, on values as queries have."""

from itertools import islice, product

import numpy as np
import pandas as pd

from rankeval_pd import per_query
from rankeval_pd.stats import clusters
from tests.simulations import study

METRICS = ("AP", "nDCG@10", "P@10", "RR")
TESTS = {
    "t": lambda rows: rows.paired_permutation(test="t"),
    "swaps": lambda rows: rows.paired_permutation(),
    "wild": lambda rows: rows.paired_bootstrap(),
}
DOCUMENTS = 60
WARNED = 100  # samples that are asked alone
AT_ONCE = 20_000  # queries in memory together


def values_of(count, seed):
    """Return the values of two equal runs: a row per query, columns of two levels."""
    rng = np.random.default_rng(seed)
    parts = [_some(min(AT_ONCE, count - start), rng) for start in range(0, count, AT_ONCE)]
    return pd.concat(parts, ignore_index=True)


def _some(count, rng):
    shape = (count, DOCUMENTS)
    rate = rng.beta(0.6, 9.0, (count, 1))  # few relevant documents, in some queries none
    grade = rng.random(shape) < rate
    ease = rng.normal(1.0, 0.8, (count, 1))
    shared = rng.normal(size=shape) + ease * grade
    frame = pd.DataFrame({
        "query": np.repeat(np.arange(count), DOCUMENTS),
        "document": np.tile(np.arange(DOCUMENTS), count),
        "grade": grade.ravel().astype(int),
        **{run: (shared + rng.normal(size=shape)).ravel() for run in "ab"},
    })  # fmt: skip
    return frame.rankeval.per_query(METRICS, wide=True)


def rows(samples=1_000):
    for queries in (10, 25, 50, 100, 250):
        values = values_of(samples * queries, queries)
        sample = np.arange(len(values)) // queries
        for metric, (name, ask) in product(METRICS, TESTS.items()):
            table = values[metric].assign(sample=sample)
            found = ask(table.rankeval(by="sample", measures=["a", "b"]))
            each = (one.rankeval(measures=["a", "b"]) for _, one in table.groupby("sample"))
            size = study.rejected(found)
            yield {
                "metric": metric, "queries": queries, "test": name, "size": size,
                "error": study.error(size, samples),
                "warned": study.warned(lambda x=x, ask=ask: ask(x) for x in islice(each, WARNED)),
            }  # fmt: skip


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


def query_means_rows():
    """Do macro intervals hold their level? Samples of queries from a population of 20,000."""
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
