"""Forty calls through the typed door, which mypy strict and pyright accept as they stand.

Nothing here is run.
"""

from matplotlib.axes import Axes
from pandas import DataFrame
from xarray import Dataset

import rankeval_pd
from rankeval_pd import in_words, paper_table, rankeval

df, ds = DataFrame(), Dataset()
door = rankeval(df, gold="gold", measures=["G2", "t"])
of_dataset = rankeval(ds, gold="gold")

# rankings: a frame gives a frame
tables: list[DataFrame] = [
    door.nbest_precision([10, 100], ci="wilson"),
    door.nbest_recall(100),
    door.acceptance_precision({"G2": 10.8}),
    door.compare("G2", "t", [100, 500], test="midp", adjust="holm"),
    door.significant_ranges("G2", "t"),
    door.summary([50, 100]),
    door.measure_ranks(100),
    door.choose_threshold(precision=0.5),
    door.precision_band([100]),
    door.repetition(None, 15),
    door.random_test([10, 20]),
    door.random_bound(0.05),
    door.crossovers(0.05),
    door.area("ap"),
    door.compare_area(kind="roc"),
    door.partial_area(fpr=0.1),
    door.enrichment(0.01),
    door.roc(),
    door.judged_precision(100),
    door.plan_annotation("G2", "t", 100),
    door.per_query(["AP", "nDCG@10"]),
    door(by="query").compare("G2", "t", 10, average="macro"),
]
# systems scored on items
items = rankeval(df)
tables += [
    items.paired_bootstrap("new", "old", metric="f1", groups="doc"),
    items.paired_permutation(baseline="old"),
    items.system_ranks(),
    rankeval(items.paired_bootstrap()).gain_threshold(),
]
# a Dataset gives a Dataset
datasets: list[Dataset] = [of_dataset.compare("G2", "t", 10), of_dataset.area()]
# plots give Axes
axes: list[Axes] = [
    door.plot.precision([10, 100]),
    door.plot.comparison("G2", "t"),
    door.plot.roc(bands=0.05),
    door.plot.precision_recall(),
    door.plot.gain(log=True),
    door.plot.random_bound(0.05),
    items.plot.system_ranks(),
    rankeval_pd.plotting.area(door.area()),
]
# words and tables
text: str = in_words(tables[0])
latex: str = paper_table(tables[0], "latex")
