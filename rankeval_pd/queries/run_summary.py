"""Which run is best, by how much, and how certain is it? A search experiment in one table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms.queries.documents import with_query_roles
from rankeval_pd.forms.rankings.candidates import Data, check_data
from rankeval_pd.forms.roles.roles import FamilyAdjustment, QueryRoles
from rankeval_pd.queries.per_query import Undefined, per_query
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.systems.paired_tests import paired_bootstrap
from rankeval_pd.systems.system_ranks import system_ranks

_EQUAL = 1e-12  # values of a query that differ by no more than this are a tie


@with_query_roles
def query_summary(
    data: Data,
    metrics: str | Iterable[Any],
    *,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = "max-t",
    undefined: Undefined = "zero",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    level: float = 0.95,
    **roles: Unpack[QueryRoles],
) -> Data:
    """Return a row per run and metric: its mean, its rank, and its difference to the baseline.

    Parameters
    ----------
    data, metrics, undefined, **roles
        As in :func:`per_query`; what :func:`read_trec` returns needs no role.
    baseline : name of a measure, optional
        What the others are compared with. Without it the columns of differences are NaN.
    adjust : {"max-t", "holm", "bonferroni", "bh", "by", None}
        Adjustment of the p-values for the number of runs that are compared with the baseline, each
        metric for itself; and of the tests behind ``tied_for_best``, of all pairs.
    alpha : float
        Level of the tests behind ``tied_for_best``.
    n_resamples : int, optional
        Number of signs drawn, as in :func:`paired_bootstrap`.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    DataFrame or Dataset
        Metrics in the order asked for, measures in that of the columns (Dataset: dimensions metric
        and measure):

        * ``measure``, ``metric``; ``value``: the mean over queries, ``ci_low``, ``ci_high`` its
          interval;
        * ``rank_low``, ``rank_high``: between them the measure's rank is, 1 being the best;
        * ``difference``: value less that of the baseline, with ``difference_low``,
          ``difference_high``; ``p_adjusted``: two-sided, after ``adjust``, without it as it is;
        * ``tied_for_best``: the paired test does not tell it apart from the best one;
        * ``wins``, ``ties``, ``losses``: queries where the value is above, equal to (1e-12), below
          that of the baseline.

    Raises
    ------
    ValueError
        If a metric is undefined for some query and nothing is said of it; if there is one query.

    Notes
    -----
    Nothing is computed here that other functions do not compute: ``per_query(wide=True)``, then
    :func:`system_ranks` and :func:`paired_bootstrap` of each metric, with their defaults. The
    population is that of the queries: another sample of queries, the same documents and
    judgements. Cost: that of the paired bootstrap, for each metric.

    References
    ----------
    M. Smucker, J. Allan, B. Carterette (2007), A comparison of statistical significance tests for
    information retrieval evaluation. N. Fuhr (2018), Some common mistakes in IR evaluation, and
    how they can be avoided.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "query": [k // 2 for k in range(60)],
    ...         "document": list("ab") * 30,
    ...         "old": [1.0, 2.0] * 20 + [2.0, 1.0] * 10,
    ...         "new": [2.0, 1.0] * 20 + [1.0, 2.0] * 10,
    ...         "grade": [1, 0] * 30,
    ...     }
    ... )
    >>> found = df.rankeval.summary("RR", baseline="old")
    >>> found[["measure", "metric", "value", "difference", "wins", "ties", "losses"]]
      measure metric     value  difference  wins  ties  losses
    0     old     RR  0.666667         NaN   NaN   NaN     NaN
    1     new     RR  0.833333    0.166667  20.0   0.0    10.0
    """
    check_data(data)
    rng: Any = roles.get("rng", 0)
    if isinstance(data, xr.Dataset):
        table = _of_dataset(data, metrics, undefined, roles)
    else:
        wide = per_query(data, metrics, undefined=undefined, wide=True, **roles)
        table = wide
        if wide.columns.nlevels == 1:
            named = [metrics] if isinstance(metrics, str) else list(metrics)
            table = pd.concat({str(named[0]): wide}, axis=1)
    if baseline is not None and baseline not in table.columns.unique(level=1):
        raise unknown_name("baseline", baseline, table.columns.unique(level=1))
    if table.isna().to_numpy().any():
        raise ValueError(
            "a metric is undefined for some queries, and a mean needs its value for each. Give"
            " undefined='skip' to leave these queries out, or 'zero' where trec_eval says 0."
        )
    parts = [
        _of_metric(
            pd.DataFrame(table[metric]), metric, baseline, adjust, alpha, n_resamples, level, rng
        )
        for metric in table.columns.unique(level=0)
    ]
    result = pd.concat(parts, ignore_index=True)
    result.attrs.update(
        n_queries=len(table), baseline=baseline, adjust=adjust, alpha=alpha, level=level
    )
    if isinstance(data, xr.Dataset):
        computed = result.set_index(["metric", "measure"]).to_xarray().assign_attrs(result.attrs)
        order = {"metric": table.columns.unique(level=0), "measure": table.columns.unique(level=1)}
        return computed.sel({name: labels.to_numpy() for name, labels in order.items()})
    return result


def _of_dataset(
    data: xr.Dataset, metrics: str | Iterable[Any], undefined: Undefined, roles: Any
) -> pd.DataFrame:
    """Return the wide form: a row per query, a column per metric and measure."""
    result = per_query(data, metrics, undefined=undefined, **roles).compute()
    known = (result["n_judged"] > 0).to_numpy().ravel()
    columns = {}
    for name in result.data_vars:
        if name in ("n_positive", "n_retrieved", "n_judged"):
            continue
        flat = result[name].to_numpy().reshape(-1, result.sizes["measure"])[known]
        columns[str(name)] = pd.DataFrame(flat, columns=result["measure"].to_numpy())
    table = pd.concat(columns, axis=1)
    return table.dropna() if undefined == "skip" else table


def _of_metric(
    items: pd.DataFrame,
    metric: str,
    baseline: Hashable,
    adjust: FamilyAdjustment | None,
    alpha: float,
    n_resamples: int | None,
    level: float,
    rng: Any,
) -> pd.DataFrame:
    result = system_ranks(
        items, n_resamples=n_resamples, adjust=adjust, alpha=alpha, level=level, rng=rng
    )
    ranks = result.set_index("system").loc[items.columns.tolist()].reset_index(names="system")
    table = pd.DataFrame(
        {
            "measure": ranks["system"], "metric": metric, "value": ranks["score"],
            "ci_low": ranks["ci_low"], "ci_high": ranks["ci_high"],
            "rank_low": ranks["rank_low"], "rank_high": ranks["rank_high"],
        }
    )  # fmt: skip
    differences = _differences(items, baseline, adjust, alpha, n_resamples, level, rng)
    order = ("difference", "difference_low", "difference_high", "p_adjusted")
    for name in order:
        table[name] = differences[name].reindex(items.columns).to_numpy()
    table["tied_for_best"] = ranks["tied_for_best"]
    for name in ("wins", "ties", "losses"):
        table[name] = differences[name].reindex(items.columns).to_numpy()
    return table


def _differences(
    items: pd.DataFrame,
    baseline: Hashable,
    adjust: FamilyAdjustment | None,
    alpha: float,
    n_resamples: int | None,
    level: float,
    rng: Any,
) -> pd.DataFrame:
    """Return the comparison of each system with the baseline, indexed by the system's name."""
    columns = [
        "difference", "difference_low", "difference_high", "p_adjusted", "wins", "ties", "losses",
    ]  # fmt: skip
    if baseline is None:
        return pd.DataFrame(columns=columns, dtype=float)
    pairs = paired_bootstrap(
        items, baseline, n_resamples=n_resamples, adjust=adjust, alpha=alpha, level=level, rng=rng
    )
    # pairs come in any order: turn those whose first system is the baseline
    turned = (pairs["system_a"] == baseline).to_numpy()
    gain, low, high = (pairs[name].to_numpy() for name in ("gain", "ci_low", "ci_high"))
    names = pairs["system_b"].where(turned, pairs["system_a"])
    values: FloatArray = items[names.tolist()].to_numpy()
    over = values - items[[baseline]].to_numpy()
    p = pairs["p_two_sided" if adjust is None else "p_adjusted"].to_numpy()
    by_name = {
        "difference": np.where(turned, -gain, gain), "difference_low": np.where(turned, -high, low),
        "difference_high": np.where(turned, -low, high), "p_adjusted": p,
        "wins": (over > _EQUAL).sum(axis=0).astype(float),
        "ties": (np.abs(over) <= _EQUAL).sum(axis=0).astype(float),
        "losses": (over < -_EQUAL).sum(axis=0).astype(float),
    }  # fmt: skip
    return pd.DataFrame(by_name, index=pd.Index(names.tolist(), tupleize_cols=False))[columns]
