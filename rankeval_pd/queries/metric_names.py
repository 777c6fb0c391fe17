"""The names of metrics as ir_measures writes them: ``nDCG@10``, ``P(rel=2)@5``, ``RBP(p=0.9)``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from rankeval_pd.errors import check_count, listed
from rankeval_pd.stats.rankings.query_metrics import METRICS, Request

_ALSO = {
    "MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "Precision": "P", "Recall": "R", "BPref": "Bpref",
    "RPrec": "Rprec", "InfAP": "infAP",
}  # fmt: skip
_WITH_CUTOFF = ("P", "R", "Success", "F1")
_NO_CUTOFF = ("Rprec", "Bpref", "infAP", "AUC")
_BINARY = tuple(name for name in METRICS if name not in ("nDCG", "ERR", "Judged"))
_FORM = re.compile(r"(\w+?)(?:\((.*)\))?(?:@(\d+))?")


class Named(NamedTuple):
    """A metric as it was asked for."""

    label: str
    request: Request


def parse_metrics(given: Any, min_grade: float) -> list[Named]:
    """Return the metrics that are meant, in the order asked for, each once."""
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    if not several:
        raise ValueError("metrics is empty: name a metric, as 'nDCG@10', or several.")
    names = dict.fromkeys(str(x) for x in several)
    return [Named(name, _parsed(name, min_grade)) for name in names]


def _parsed(text: str, min_grade: float) -> Request:
    result = _FORM.fullmatch(text.strip())
    name = result[1] if result else text
    name = _ALSO.get(name, name)
    if result is None or name not in METRICS:
        hint = _near_miss(name, result[3] if result else None)
        raise ValueError(
            f"metrics: {text!r} is not one of {listed(METRICS, most=20)}, with @k where it is cut"
            f" at k, as 'nDCG@10'.{hint}"
        )
    cutoff = None if result[3] is None else check_count(f"metrics: k of {text!r}", int(result[3]))
    if cutoff is None and name in _WITH_CUTOFF:
        raise ValueError(f"metrics: {text!r} needs the length of the list, as '{name}@10'.")
    if cutoff is not None and name in _NO_CUTOFF:
        raise ValueError(f"metrics: {text!r}: {name} takes no @k. Give {name!r}.")
    return _with_options(Request(name, cutoff, float(min_grade)), result[2] or "", text)


def _near_miss(name: str, cutoff: str | None) -> str:
    """Return a hint at the name that is nearest, with the cut-off that was asked for."""
    plain = {"hits": "Success"} | {known.lower(): known for known in METRICS}
    plain |= {also.lower(): known for also, known in _ALSO.items()}
    near = difflib.get_close_matches(name.lower(), plain, n=1, cutoff=0.3)
    if not near:
        return ""
    meant = plain[near[0]]
    at = "" if cutoff is None or meant in _NO_CUTOFF else f"@{cutoff}"
    return f" Did you mean '{meant}{at}'?"


def _with_options(request: Request, options: str, text: str) -> Request:
    """Return the request with what stands in parentheses."""
    name = request.metric
    allowed = {
        **({"rel": "the least grade of a positive"} if name in _BINARY else {}),
        **({"dcg": "'log2' or 'exp-log2'"} if name == "nDCG" else {}),
        **({"p": "a number in (0, 1)"} if name == "RBP" else {}),
        **({"max_rel": "the highest grade"} if name == "ERR" else {}),
    }
    for part in filter(None, (x.strip() for x in options.split(","))):
        option, _, value = (x.strip().strip("'\"") for x in part.partition("="))
        if option not in allowed:
            judged = (
                " For judged documents only give unjudged='skip'." if "judged" in option else ""
            )
            raise ValueError(
                f"metrics: {text!r}: {name} has no option {option!r}; it has {listed(allowed)}."
                f" Leave it out.{judged}"
            )
        try:
            request = _with_option(request, option, value)
        except ValueError:
            raise ValueError(
                f"metrics: {text!r}: {option}={value!r}, and it is {allowed[option]}. Correct it."
            ) from None
    return request


def _with_option(request: Request, option: str, value: str) -> Request:
    if option == "dcg":
        if value not in ("log2", "exp-log2"):
            raise ValueError
        return request._replace(exponential=value == "exp-log2")
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
