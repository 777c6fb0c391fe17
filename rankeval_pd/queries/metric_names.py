"""Parse metric names from ir_measures, trec_eval and recommender systems."""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import check_count, listed
from rankeval_pd.stats.rankings.query_metrics import (
    QUERY_METRICS,
    Judgments,
    MetricRequest,
    gains,
)

_METRIC_ALIASES = {
    "map": "AP", "averageprecision": "AP", "rprecision": "Rprec", "mrr": "RR", "reciprank": "RR",
    "precision": "P", "recall": "R", "hitrate": "Success", "hits": "Success", "mapcut": "AP",
    "iprecatrecall": "IPrec",
    "ndcgcut": "nDCG", **{name.lower(): name for name in QUERY_METRICS},
}  # fmt: skip
"""Metric names in lowercase without underscores or hyphens."""
_WITH_CUTOFF = ("P", "R", "Success", "F1", "IPrec")
_NO_CUTOFF = ("Rprec", "Bpref", "infAP", "AUC")
# metrics with binary relevance; the option "rel" sets the lowest positive grade
_BINARY = tuple(name for name in QUERY_METRICS if name not in ("nDCG", "DCG", "ERR", "Judged"))
# name, (options), and a cutoff such as @10, or _10 in trec_eval
_METRIC_PATTERN = re.compile(r"([A-Za-z][\w-]*?)(?:\((.*)\))?(?:[@_]([\d.]+))?")


class NamedMetric(NamedTuple):
    """Store a metric and the name that the user passed."""

    label: str
    request: MetricRequest

    @property
    def is_binary(self) -> bool:
        """Return whether the metric uses binary relevance."""
        return self.request.metric in _BINARY


def parse_metrics(given: Any, min_grade: float) -> list[NamedMetric]:
    """Return the distinct metrics for these names in order."""
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    if not several:
        raise ValueError("metrics is empty. Pass one or more names, such as 'nDCG@10'.")
    names = dict.fromkeys(str(x) for x in several)
    return [NamedMetric(name, _parse_metric(name, min_grade)) for name in names]


def _parse_metric(text: str, min_grade: float) -> MetricRequest:
    result = _METRIC_PATTERN.fullmatch(text.strip())
    name = result[1] if result else text
    name = _METRIC_ALIASES.get(name.replace("_", "").replace("-", "").lower(), name)
    if result is None or name not in QUERY_METRICS:
        hint = _near_miss(name, result[3] if result else None)
        raise ValueError(
            f"metrics: {text!r} is not one of {listed(QUERY_METRICS, most=20)}, with @k for a"
            f" cutoff, as in 'nDCG@10'.{hint}"
        )
    cutoff, level = _cutoff(name, result[3], text)
    if result[3] is None and name in _WITH_CUTOFF:
        what, as_in = ("the lowest recall", 0.1) if name == "IPrec" else ("the list length", 10)
        raise ValueError(f"metrics: {text!r} needs {what}, such as '{name}@{as_in}'.")
    if cutoff is not None and name in _NO_CUTOFF:
        raise ValueError(f"metrics: {text!r}: {name} takes no @k. Pass {name!r}.")
    request = MetricRequest(name, cutoff, float(min_grade), level=level)
    return _with_options(request, result[2] or "", text)


def _cutoff(name: str, given: str | None, text: str) -> tuple[int | None, float]:
    """Return the cutoff of the list, or the recall level of IPrec."""
    if given is None:
        return None, 0.0
    number = float(given) if given.replace(".", "", 1).isdigit() else math.nan
    if name == "IPrec":
        if not 0.0 <= number <= 1.0:
            raise ValueError(f"metrics: {text!r}: pass a recall from 0 to 1, as in 'IPrec@0.1'.")
        return None, number
    if not number.is_integer():
        raise ValueError(f"metrics: {text!r}: pass a whole number for k, as in '{name}@10'.")
    return check_count(f"metrics: k of {text!r}", int(number)), 0.0


def _near_miss(name: str, cutoff: str | None) -> str:
    """Return a hint with the nearest metric name, including the cutoff."""
    near = difflib.get_close_matches(name.lower(), _METRIC_ALIASES, n=1, cutoff=0.3)
    if not near:
        return ""
    meant = _METRIC_ALIASES[near[0]]
    at = "" if cutoff is None or meant in _NO_CUTOFF else f"@{cutoff}"
    return f" Did you mean '{meant}{at}'?"


def _with_options(request: MetricRequest, options: str, text: str) -> MetricRequest:
    """Return the metric with the options in parentheses."""
    name = request.metric
    allowed = {
        **({"rel": "the lowest grade of a positive document"} if name in _BINARY else {}),
        **({"dcg": "'log2' or 'exp-log2'"} if name in ("nDCG", "DCG") else {}),
        **({"gains": "a mapping such as {1: 1, 2: 5}"} if name in ("nDCG", "DCG") else {}),
        **({"norm": "'min' with @k, or 'all'"} if name == "AP" else {}),
        **({"p": "a number in (0, 1)"} if name == "RBP" else {}),
        **({"max_rel": "the highest grade"} if name == "ERR" else {}),
    }
    for part in filter(None, (x.strip() for x in _COMMA.split(options))):
        option, _, value = (x.strip().strip("'\"") for x in part.partition("="))
        if option not in allowed:
            judged = (
                " To use only judged documents, pass unjudged='skip'." if "judged" in option else ""
            )
            raise ValueError(
                f"metrics: {text!r}: {name} has no option {option!r}, only {listed(allowed)}. "
                f"Omit this option.{judged}"
            )
        try:
            request = _with_option(request, option, value)
        except ValueError:
            raise ValueError(
                f"metrics: {text!r}: {option}={value!r} is not {allowed[option]}. Fix this value."
            ) from None
    return request


def _with_option(request: MetricRequest, option: str, value: str) -> MetricRequest:
    """Return the metric with one option; raise a ValueError for invalid values."""
    if option == "dcg":
        if value not in ("log2", "exp-log2"):
            raise ValueError
        return request._replace(exponential=value == "exp-log2")
    if option == "norm":
        if value not in ("all", "min") or (value == "min" and request.cutoff is None):
            raise ValueError
        return request._replace(norm=value)
    if option == "gains":
        return request._replace(gains=_gains(value))
    if option == "max_rel":
        top = int(value)
        if not 1 <= top <= 1000:
            raise ValueError
        return request._replace(top=top)
    number = float(value)
    if not (0.0 < number < (1.0 if option == "p" else float("inf"))):
        raise ValueError
    if option == "p":
        return request._replace(persistence=number)
    return request._replace(least=number)


_COMMA = re.compile(r",(?![^{]*})")  # commas between options, but not within a mapping


def _gains(text: str) -> tuple[tuple[float, float], ...]:
    """Parse a mapping from grades to gains, or raise a ValueError."""
    try:
        given = ast.literal_eval(text)
        found = tuple((float(grade), float(gain)) for grade, gain in given.items())
    except (AttributeError, SyntaxError, TypeError):
        raise ValueError from None
    if not found or any(not 0.0 <= gain < math.inf for _, gain in found):
        raise ValueError
    return found


def check_grades(asked: Sequence[NamedMetric], judged: Judgments) -> None:
    """Raise a ValueError for grades above a metric's highest grade, or infinite gains."""
    top = judged.grade.max(initial=0.0)
    for one in asked:
        if one.request.metric == "ERR" and top > one.request.top:
            raise ValueError(
                f"metrics: {one.label!r} takes grades up to {one.request.top}, but gold "
                f"contains {top:g}. Pass the highest possible grade: 'ERR(max_rel={top:g})'."
            )
        if one.request.metric in ("nDCG", "DCG"):
            with np.errstate(over="ignore"):
                total = gains(one.request, judged.grade).sum()
            if not np.isfinite(total):
                raise ValueError(
                    f"metrics: the gains of {one.label!r} are too large for a sum, because gold"
                    f" contains {top:g}. Pass gains={{grade: gain, ...}}, or smaller grades."
                )
