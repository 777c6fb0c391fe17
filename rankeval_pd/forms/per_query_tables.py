"""The long tables that :func:`rankeval_pd.per_query` returns, as systems over items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, warn

COLUMNS = ("measure", "metric", "value", "n_positive", "n_retrieved", "n_judged")
_COUNTS = ("n_positive", "n_retrieved", "n_judged")


def as_items(data: pd.DataFrame | xr.Dataset) -> pd.DataFrame | xr.Dataset:
    """Return a result of :func:`per_query` as systems over items, a row per query.

    Other data are returned as they are.
    """
    if isinstance(data, xr.Dataset):
        if "measure" not in data.dims or not all(name in data for name in _COUNTS):
            return data
        metrics = [name for name in data.data_vars if name not in _COUNTS]
        _check_one_metric(metrics, f"data[{[metrics[0], *_COUNTS]}]")
        known = data[metrics[0]].where(data["n_judged"] > 0)
        flat: pd.DataFrame = known.to_series().unstack("measure")  # noqa: PD010
        return flat.reindex(columns=data["measure"].to_numpy()).dropna(how="all")
    return frame_as_items(data)


def frame_as_items(data: pd.DataFrame) -> pd.DataFrame:
    """Return a long table of :func:`per_query` with a row per query; others as they are."""
    if data.columns.nlevels > 1 or not all(name in data for name in COLUMNS):
        return data
    metrics = data["metric"].unique().tolist()
    _check_one_metric(metrics, f"data[data['metric'] == {metrics[0]!r}]" if metrics else "")
    queries = [name for name in data.columns if name not in COLUMNS]
    table = data.pivot(index=queries, columns="measure", values="value")  # noqa: PD010
    table = table[data["measure"].unique()].rename_axis(columns="system")
    lacking = int(table.isna().any(axis=1).sum())
    if lacking:
        warn(
            f"{lacking} of {len(table)} queries are left out, for which a measure has no value."
            " undefined='zero' of per_query keeps them, as trec_eval does."
        )
    return table.dropna()


def _check_one_metric(metrics: Sequence[Hashable], one: str) -> None:
    if len(metrics) != 1:
        raise ValueError(
            f"data has the metrics {listed(metrics)}, and systems over items have one score each."
            f" Give one metric: {one}."
        )
