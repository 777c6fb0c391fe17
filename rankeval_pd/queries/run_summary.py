"""Summarize a search experiment in one table of means, ranks and differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd.decisions.families import family_of
from rankeval_pd.errors import check_choice, unknown_name, warn
from rankeval_pd.forms.queries.documents import QueryOptions, with_query_roles
from rankeval_pd.forms.rankings.candidates import Data, above_door, below_door, check_data
from rankeval_pd.forms.roles.roles import FamilyAdjustment, MeanTest, QueryRoles
from rankeval_pd.queries.metric_names import NamedMetric, parse_metrics
from rankeval_pd.queries.per_query import (
    FrameValues,
    Undefined,
    frame_values,
    metrics_asked,
    resolve_undefined,
    wide_form,
)
from rankeval_pd.stats._types import AnyArray
from rankeval_pd.systems.paired_tests import mean_test
from rankeval_pd.systems.system_ranks import adjustment_of, system_ranks

_EQUAL = 1e-12  # smaller differences within a query count as ties
OverMetrics = Literal["metrics", "all"]
_METRIC = "_metric"  # the label of the metric in the query index
_RANKED = {
    name: name
    for name in (
        "value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best", "letters",
        "undecided", "ci_low_alone", "ci_high_alone",
    )
}  # fmt: skip
_COMPARED = {
    "difference": "gain", "difference_low": "ci_low", "difference_high": "ci_high",
    "p_adjusted": "p_adjusted", "p_value": "p_value", "difference_low_alone": "ci_low_alone",
    "difference_high_alone": "ci_high_alone", "undecided": "undecided",
}  # fmt: skip
_COLUMNS = (
    "value", "ci_low", "ci_high", "rank_low", "rank_high", "difference", "difference_low",
    "difference_high", "p_adjusted", "tied_for_best", "wins", "ties", "losses", "letters",
    "p_value", "difference_low_alone", "difference_high_alone", "undecided", "ci_low_alone",
    "ci_high_alone",
)  # fmt: skip
_ADJUSTED = ("p_adjusted", "difference_low_alone", "difference_high_alone")
_NOTED = ("event", "level", "n_resamples", "seed", "test")


@with_query_roles
def query_summary(
    data: Data,
    metrics: str | Iterable[Any],
    *,
    baseline: Hashable = None,
    test: MeanTest = "bootstrap",
    adjust: FamilyAdjustment | Literal["auto"] | None = "auto",
    adjust_over: OverMetrics = "metrics",
    undefined: Undefined = "zero",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    level: float = 0.95,
    **roles: Unpack[QueryRoles],
) -> Data:
    """Return the mean, rank and difference from the baseline per run and metric.

    Parameters
    ----------
    data, metrics, undefined, **roles
        As in :func:`per_query`. Data from :func:`read_trec` need no roles.
    baseline : name of a measure, optional
        Measure against which all others are compared. By default, differences are NaN.
    test : {"bootstrap", "t"}
        Bootstrap test with random signs or paired t test, as in :func:`system_ranks`.
    adjust : {"auto", "max-t", "max-t-stepdown", "holm", "bonferroni", "bh", "by", None}
        Adjustment for the number of comparisons with the baseline. "auto" means "max-t", or "holm"
        with ``test="t"``. Ranks, ``tied_for_best`` and ``letters`` are adjusted for all pairs.
    adjust_over : {"metrics", "all"}
        Whether each metric is a separate family, or all metrics form one family.
    alpha : float
        Significance level of the tests for ``tied_for_best``.
    n_resamples : int, optional
        Number of draws of random signs, as in :func:`paired_bootstrap`.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    DataFrame or Dataset
        One row per metric and measure (Dataset: dimensions metric and measure). Metrics are in the
        requested order, and measures in column order.

        * ``measure``, ``metric``; ``value``: the mean over queries; ``ci_low``, ``ci_high``:
          interval for the mean, simultaneous for all measures of the metric;
        * ``rank_low``, ``rank_high``: confidence limits for the rank (1 is the best rank);
        * ``difference``: value minus the value of the baseline; ``difference_low``,
          ``difference_high``: interval that agrees with ``p_adjusted``; ``p_adjusted``: only with
          ``adjust``, two-sided;
        * ``tied_for_best``: whether no measure is significantly better;
        * ``wins``, ``ties``, ``losses``: numbers of queries with a value above, equal to (within
          1e-12), or below the value of the baseline;
        * ``letters``: only without ``baseline``, two measures share a letter if and only if they do
          not differ significantly in this metric; ``p_value``, ``difference_low_alone``,
          ``difference_high_alone``: unadjusted results; ``undecided``: whether more draws could
          change the decision about the difference (without ``baseline``: about a pair with this
          measure).

        ``details=True`` adds ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval;
        ``n_tied``: queries whose list ends inside a tie; ``value_low``, ``value_high``: the mean
        for the worst and best tie-breaking order; ``judged``: mean proportion of judged documents
        up to k; ``n_lacking``: queries without retrieved documents; ``n_undefined``: queries whose
        undefined value counts as 0; ``depth``: documents in the longest list.

    Warns
    -----
    RankevalWarning
        If the proportions of judged documents differ by more than 0.1 between runs, if only some
        runs reach the cutoff, or if the order of equal scores changes a mean by more than half of
        its interval.

    Raises
    ------
    ValueError
        If a metric is undefined for a query and you do not pass ``undefined``, or if there is only
        one query.

    Notes
    -----
    The table combines ``per_query(wide=True)`` with :func:`system_ranks` and
    :func:`paired_bootstrap` for each metric, with default options. Queries are a sample, while
    documents and judgments are fixed. The cost is one paired bootstrap per metric.

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
    >>> df.rankeval.summary("RR", baseline="old")
      measure metric     value  difference  difference_low  difference_high  p_adjusted
    0     old     RR  0.666667         NaN             NaN              NaN         NaN
    1     new     RR  0.833333    0.166667       -0.049699         0.383032     0.10059
    """
    check_data(data)
    rng: Any = roles.get("rng", 0)
    check_choice("undefined", undefined, get_args(Undefined))
    chosen = QueryOptions.of(roles)
    asked = metrics_asked(metrics, chosen)
    found = frame_values(below_door(data), chosen, asked, wide=True, ranges=True)
    value = resolve_undefined(found.numbers.metrics, asked, undefined, found.keys)
    table = wide_form(found.keys, value, found.measures, asked, undefined)
    if table.columns.nlevels == 1:
        table = pd.concat({asked[0].label: table}, axis=1)
    if baseline is not None and baseline not in table.columns.unique(level=1):
        raise unknown_name("baseline", baseline, table.columns.unique(level=1))
    if table.isna().to_numpy().any():
        raise ValueError(
            "a metric is undefined for some queries, and a mean needs all values. Pass"
            " undefined='skip' to leave these queries out, or undefined='zero' to count them as 0,"
            " as in trec_eval."
        )
    check_choice("adjust_over", adjust_over, get_args(OverMetrics))
    adjusted = adjustment_of(test, adjust)
    over = "all" if adjust_over == "all" else "group"
    options = {
        "by": _METRIC, "n_resamples": n_resamples, "adjust": adjusted, "adjust_over": over,
        "alpha": alpha, "level": level, "rng": rng,
    }  # fmt: skip
    result = _of_metrics(table, baseline, test, options)
    result = _with_facts(result, assumed(found, asked, undefined))
    result.attrs.update(n_queries=len(table), baseline=baseline, adjust=adjusted, alpha=alpha)
    if adjusted is not None:
        result.attrs["adjust_over"] = adjust_over
    return above_door(result, data)


def assumed(found: FrameValues, asked: Sequence[NamedMetric], undefined: Undefined) -> pd.DataFrame:
    """Return an array (metric and measure, fact) that describes the means."""
    numbers, rows = found.numbers, []
    if undefined == "skip":  # omitted queries do not count
        numbers = numbers.only(np.asarray(~np.isnan(numbers.metrics).any(axis=(1, 2))))
    deepest = numbers.n_retrieved.max(axis=0, initial=0)
    for k, one in enumerate(asked):
        for place, measure in enumerate(found.measures):
            here = np.s_[:, place, k]
            rows.append(
                {
                    "metric": one.label,
                    "measure": measure,
                    "n_tied": int((numbers.tied[here] > 0).sum()),
                    "value_low": np.nan_to_num(numbers.low[here]).mean(),
                    "value_high": np.nan_to_num(numbers.high[here]).mean(),
                    "judged": pd.Series(numbers.judged[here]).mean(),
                    "n_lacking": int((numbers.n_retrieved[:, place] == 0).sum()),
                    "n_undefined": int(np.isnan(numbers.metrics[here]).sum()),
                    "depth": int(deepest[place]),
                    "cutoff": one.request.cutoff or 0,
                }
            )
    return pd.DataFrame(rows)


def _with_facts(result: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Add columns that describe the means, and warn about misleading comparisons."""
    _warn_of_facts(result, facts)
    keyed = facts.drop(columns="cutoff").set_index(["metric", "measure"])
    keys = pd.MultiIndex.from_frame(result[["metric", "measure"]])
    table = pd.concat([result, keyed.reindex(keys).reset_index(drop=True)], axis=1)
    table.attrs = {
        **result.attrs, "n_lacking": int(facts["n_lacking"].max()),
        "n_undefined": int(facts["n_undefined"].max()), "n_tied": int(facts["n_tied"].max()),
        "depth_low": int(facts["depth"].min()), "depth_high": int(facts["depth"].max()),
    }  # fmt: skip
    cut = facts[facts["cutoff"] > 0]
    if len(cut) and cut["judged"].notna().any():
        shares = float(cut["judged"].min()), float(cut["judged"].max())
        table.attrs |= dict(zip(("judged_low", "judged_high"), shares, strict=True))
    return table


_JUDGED_APART = 0.1  # difference in judged proportions that could explain a difference between runs


def _warn_of_facts(result: pd.DataFrame, facts: pd.DataFrame) -> None:
    """Warn if judged proportions, depths or ties could explain differences."""
    open_ties: list[str] = []
    known: Any = result.set_index(["metric", "measure"])
    for metric, part in facts.groupby("metric", sort=False):
        cutoff, shares = int(part["cutoff"].iloc[0]), part.set_index("measure")["judged"].dropna()
        if cutoff and len(shares) > 1 and shares.max() - shares.min() > _JUDGED_APART:
            warn(
                f"{metric}: up to rank {cutoff}, {shares.max():.0%} of the documents in"
                f" {shares.idxmax()!r} are judged but only {shares.min():.0%} in"
                f" {shares.idxmin()!r}, and unjudged documents count as not relevant. Also"
                " compare the runs with unjudged='skip'."
            )
        depth = part.set_index("measure")["depth"]
        if cutoff and depth.min() < min(cutoff, depth.max()):
            warn(
                f"{metric}: {depth.idxmin()!r} retrieved at most {depth.min():,} documents per"
                f" query, but {depth.idxmax()!r} retrieved {depth.max():,}. Choose a cutoff that"
                " all runs reach."
            )
        ends = known.loc[metric, ["ci_low", "ci_high"]]
        widths = dict(zip(ends.index, np.diff(ends.to_numpy(), axis=1).ravel(), strict=True))
        row: Any
        for row in part.itertuples():
            if row.value_high - row.value_low > widths[row.measure] / 2.0:
                open_ties.append(
                    f"{metric} of {row.measure!r} ({row.value_low:.3g} to {row.value_high:.3g})"
                )
    if open_ties:
        warn(
            f"ties: the order of equal scores strongly affects {', '.join(open_ties[:3])}. Pass"
            " ties='expected' to average over all tie-breaking orders."
        )


def _of_metrics(
    table: pd.DataFrame, baseline: Hashable, test: MeanTest, options: Mapping[str, Any]
) -> pd.DataFrame:
    """Convert the wide form to one row per metric and measure."""
    metrics, measures = (table.columns.unique(level=k).tolist() for k in (0, 1))
    parts = {m: pd.DataFrame(table[m])[measures] for m in metrics}
    items = pd.concat(parts, names=[_METRIC])
    keys = pd.MultiIndex.from_product([metrics, measures])
    named: Any = {**options, "measures": measures}  # the names of the measures are known
    ranks = system_ranks(items, test=test, **named)
    tested = ranks
    columns = _of_systems(ranks, "system", keys, _RANKED)
    if baseline is not None:
        tested = mean_test(test)(items, baseline=baseline, **named)
        columns |= _of_systems(tested, "system_a", keys, _COMPARED)
        over = {m: part.sub(part[baseline], axis=0) for m, part in parts.items()}
        columns |= _counted(pd.concat(over, names=[_METRIC]), keys, baseline)
        columns["undecided"] = columns["undecided"] == 1
    kept = [x for x in _COLUMNS if baseline is None or x != "letters"]
    if options["adjust"] is None:
        kept = [x for x in kept if x not in _ADJUSTED]
    rows = {name: columns.get(name, np.full(len(keys), np.nan)) for name in kept}
    gains = [one.label for one in parse_metrics(metrics, 1.0) if one.request.metric == "DCG"]
    most = np.where(keys.get_level_values(0).isin(gains), np.inf, 1.0)
    for name in (x for x in kept if "_low" in x or "_high" in x):
        if not name.startswith("rank"):  # all metrics except discounted gain are between 0 and 1
            rows[name] = np.clip(rows[name], 0.0 if name.startswith("ci") else -most, most)
    names = {"measure": keys.get_level_values(1), "metric": keys.get_level_values(0)}
    result = pd.DataFrame({**names, **rows})
    result.attrs = {name: tested.attrs[name] for name in _NOTED if name in tested.attrs}
    result.attrs |= {"intervals": "simultaneous"}
    result.attrs["family"] = _family(measures, metrics, baseline, options)
    return result


def _of_systems(
    table: pd.DataFrame, role: str, keys: pd.MultiIndex, names: Mapping[str, str]
) -> dict[str, AnyArray]:
    """Return columns by metric and name; missing rows are NaN."""
    found = table.set_index(pd.MultiIndex.from_arrays([table[_METRIC], table[role]])).reindex(keys)
    return {name: found[own].to_numpy() for name, own in names.items() if own in found}


def _counted(over: pd.DataFrame, keys: pd.MultiIndex, baseline: Hashable) -> dict[str, AnyArray]:
    """Count wins, ties and losses of each measure; the baseline's counts are NaN."""
    counted = {"wins": over > _EQUAL, "ties": over.abs() <= _EQUAL, "losses": over < -_EQUAL}
    itself = keys.get_level_values(1) == baseline
    result = {}
    for name, there in counted.items():
        total = there.groupby(level=_METRIC, sort=False).sum().to_numpy(dtype=float)
        result[name] = np.where(itself, np.nan, total.ravel())
    return result


def _family(
    measures: list[Any], metrics: list[Any], baseline: Hashable, options: Mapping[str, Any]
) -> str | None:
    """Return a description of the family of tests."""
    if options["adjust"] is None:
        return None
    count = len(measures) - 1
    who = family_of(count if baseline is not None else count * (count + 1) // 2, baseline)
    together = options["adjust_over"] == "all" and len(metrics) > 1
    return f"{who} for all {len(metrics)} metrics" if together else f"{who} for each metric"
