"""Metrics as functions of summed statistics, and the columns that hold these."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.resampling.metrics import METRICS, Formula, Score, chrf_formula

_ONE_COLUMN = ("mean", "sum", "rouge")
_COUNTED = ("mean", "rouge", "accuracy")  # the second statistic is 1 per item unless given


class Metric(NamedTuple):
    """A metric and the statistics of the data that it takes."""

    name: str
    score: Score
    chosen: list[Hashable]  #: the statistics of the data, in the formula's order
    ones: bool  #: whether the number of items is the last statistic
    names: tuple[str, ...]  #: what the formula calls them
    parts: tuple[tuple[str, str], ...]
    counts: bool  #: whether the statistics are counts
    sign: float
    linear: str | None


def find_metric(roles: Roles, statistics: list[Hashable], *, one_level: bool) -> Metric:
    """Return the metric that is asked for, and the statistics that it takes.

    ``statistics`` are those that the data have, [None] where there is a column per system.
    """
    asked = "mean" if roles.metric is None else roles.metric
    _check_no_scorer(asked)
    if callable(asked):
        better = True if roles.higher_is_better is None else roles.higher_is_better
        name = getattr(asked, "__name__", type(asked).__name__)
        return Metric(
            name, _vectorised(asked, name), statistics, False, (), (), False,
            1.0 if better else -1.0, None,
        )  # fmt: skip
    if not isinstance(asked, str) or asked not in METRICS:
        raise ValueError(
            f"metric={shown(asked)} is not one of {listed(METRICS)}. Give one of these, or a"
            " function of summed statistics, f(S[..., statistic])."
        )
    formula = _formula(asked, statistics)
    chosen, ones = _chosen(asked, formula, statistics, one_level=one_level)
    better = formula.higher_is_better if roles.higher_is_better is None else roles.higher_is_better
    linear = "sum" if asked == "sum" else "mean" if asked in _COUNTED else None
    return Metric(
        asked, formula.score, chosen, ones, formula.statistics, formula.parts,
        asked not in (*_ONE_COLUMN, "ratio", "ter"), 1.0 if better else -1.0, linear,
    )  # fmt: skip


def _check_no_scorer(asked: Any) -> None:
    """Raise a ValueError where the metric is an object that scores texts or labels, or a class."""
    is_class = isinstance(asked, type)
    if isinstance(asked, str) or (callable(asked) and not is_class):
        return
    kind = asked if is_class else type(asked)
    name = next((x for x in METRICS if kind.__name__.lower().startswith(x)), None)
    if name is None and not is_class:
        return
    known = "the name of a metric"
    if name is not None:
        known = f"metric={name!r} and the statistics {listed(METRICS[name].statistics)}"
    raise ValueError(
        f"metric={kind.__name__}{'' if is_class else '()'} makes scores of texts or labels, and a"
        f" paired test needs what they are made of, item by item. Give {known} as two-level columns"
        " (system, statistic), or a function of summed statistics, f(S[..., statistic])."
    )


def _formula(metric: str, statistics: list[Hashable]) -> Formula:
    """Return the formula; chrF has as many orders as the data have statistics for."""
    if metric != "chrf":
        return METRICS[metric]
    orders = 0
    while all(f"{kind}_{orders + 1}" in statistics for kind in ("hyp", "ref", "match")):
        orders += 1
    return chrf_formula(max(orders, 1))


def _chosen(
    metric: str, formula: Formula, statistics: list[Hashable], *, one_level: bool
) -> tuple[list[Hashable], bool]:
    """Return the statistics of the data that the metric takes, and whether 1 per item is added."""
    single = metric in _ONE_COLUMN or (metric == "accuracy" and "correct" not in statistics)
    if single and len(statistics) == 1:
        return statistics, metric in _COUNTED
    if metric in _ONE_COLUMN:
        raise ValueError(
            f"metric={metric!r} takes one column per system, and data has the statistics"
            f" {listed(statistics)}. Choose one of them, as by data.xs({statistics[0]!r}, axis=1,"
            " level=...), or give a metric that takes these, as metric='f1' or 'bleu'."
        )
    needed = [
        name
        for name in formula.statistics
        if name in statistics or (metric, name) != ("accuracy", "total")
    ]
    missing = [name for name in needed if name not in statistics]
    if missing:
        have = "one column per system" if one_level else f"the statistics {listed(statistics)}"
        raise ValueError(
            f"metric={metric!r} needs the statistics {listed(needed)}, and data has {have}:"
            f" {listed(missing)} missing. Give two-level columns (system, statistic), or another"
            " metric."
        )
    return list(needed), metric == "accuracy" and "total" not in needed


def _kind(returned: AnyArray) -> str:
    return type(returned.item()).__name__ if returned.ndim == 0 else f"dtype {returned.dtype}"


def _vectorised(function: Callable[[AnyArray], Any], name: str) -> Score:
    """Return the user's function with the shape of what it returns checked, NaN for infinite."""

    def score(sums: AnyArray) -> FloatArray:
        try:
            with np.errstate(all="ignore"):
                scores = np.asarray(function(np.asarray(sums, dtype=float)))
        except Exception as error:
            raise ValueError(
                f"metric={name} raised {type(error).__name__}: {error}. It was given the sums of"
                f" {sums.shape[-1]} statistics as an array of shape {sums.shape}, and is to return"
                f" one score for each of {sums.shape[:-1]}: write it with S[..., 0], S[..., 1], and"
                " so on."
            ) from error
        if scores.dtype.kind not in "biuf":
            raise TypeError(
                f"metric={name} returned {_kind(scores)}, and a score is a real number. Return one"
                f" for each of {sums.shape[:-1]}."
            )
        found = scores.astype(float)
        if found.shape != sums.shape[:-1]:
            raise ValueError(
                f"metric={name}: for sums of shape {sums.shape} it returned shape {found.shape},"
                f" and {sums.shape[:-1]} is needed: a score for all leading axes, the statistics"
                " being the last. Write it with S[..., 0], S[..., 1], and so on."
            )
        return np.where(np.isfinite(found), found, np.nan)  # x/0 is undefined, as 0/0 is

    return score
