# pyright: reportUnnecessaryTypeIgnoreComment=true
"""Deliberate mistakes, each of which a type checker refuses.

Both mypy and pyright are told that these lines are wrong; where one of them finds nothing wrong,
it complains that it was told so. Nothing here is run.
"""

import pandas as pd
import xarray as xr

import rankeval_pd

df = pd.DataFrame()
ds = xr.Dataset()
frame = rankeval_pd.FrameAccessor(df)
dataset = rankeval_pd.DatasetAccessor(ds)

# a method that is not there
frame.compaer()  # type: ignore[attr-defined]
frame.plot.compare()  # type: ignore[attr-defined]

# a keyword that is not there
frame.compare("a", "b", levle=0.9)  # type: ignore[call-arg]
rankeval_pd.compare(df, levle=0.9)  # type: ignore[call-arg]
frame.plot.roc(golds="tp")  # type: ignore[call-arg]
frame(golds="tp")  # type: ignore[call-arg]

# a role of the other form
frame.nbest_precision(metric="f1")  # type: ignore[call-arg]
rankeval_pd.nbest_precision(df, metric="f1")  # type: ignore[call-arg]
frame.paired_bootstrap(gold="tp")  # type: ignore[call-arg]

# a choice that is not one
frame.compare(ties="no")  # type: ignore[arg-type]
frame.compare(test="fischer")  # type: ignore[arg-type]
frame.nbest_precision(ci="wald")  # type: ignore[arg-type]
frame.nbest_precision("10")  # type: ignore[arg-type]
frame.area("auc")  # type: ignore[arg-type]

# a frame gives a frame, a Dataset a Dataset
wrong: xr.Dataset = frame.compare()  # type: ignore[assignment]
other: pd.DataFrame = dataset.compare()  # type: ignore[assignment]

# and what is right
right: pd.DataFrame = frame(gold="tp").compare("a", "b", n=[100, 500], test="midp", by="query")
also: xr.Dataset = dataset.nbest_precision(range(1, 10), ci="wilson", dim="word", ties="expected")
ax = frame.plot.roc(bands=0.05, gold="tp", ax=None, title="curves")
items: pd.DataFrame = frame.paired_bootstrap("new", "old", metric="f1", groups="doc")
pairs: pd.DataFrame = items.rankeval.gain_threshold()
