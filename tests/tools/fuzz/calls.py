"""Drawn calls of every method and function: options that are allowed, now and then one that is not.

The arguments are those of ``tests.walks``, or of the example of a function, and beside them what
the ``Literal`` of an annotation spells out, or ``VALUES``.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import typing
from contextlib import suppress
from functools import cache
from typing import Any
from unittest import mock

import dask.dataframe
import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd import accessors
from tests.questions import tied_candidates
from tests.tools.fuzz.data import MEASURES, Call, Case, Rng, odd_case, pick
from tests.walks import CELLED, METHODS, OF_FRAMES, PAIRS, QUESTIONS, keywords

SMALLEST = 16  # candidates of a query
TIED = Case(None, "", [*MEASURES], SMALLEST, "query", plain=True)  # the data of the equality
FORMS = ("frame", "function", "by", "Dataset", "batches", "chunked", "Dask", "head")
READERS = ("in_words", "paper_table")
LEFT_OUT = (*READERS, "rankeval", "write_trec", "synthetic_systems", "from_sacrebleu")
# whose options, or data, are none that a random case has
NEVER_ODD = (
    *OF_FRAMES, CELLED, "nbest_recall", "judged_recall", "summary", "repetition_samples",
    "unpaired_area", "partial_area", "bedroc", "enrichment", "per_query",
)  # fmt: skip
ROLES = {
    "gold", "agreement", "positive", "min_grade", "measures", "exclude", "key", "label", "groups",
    "lower_is_better", "ties", "missing", "rng", "strata", "weight", "average", "seed_variance",
    "higher_is_better", "unjudged", "details",
}  # fmt: skip
SHARES = [0.05, 0.5, 0.95, 1e-9, 1e-300, 5e-324, 1 - 1e-16, np.float32(0.9)]
COLUMNS: dict[str, list[Any]] = {  # of tied candidates
    "groups": ["half"], "key": ["ident"], "label": ["ident"], "lower_is_better": ["b", True],
    "exclude": [["c", "half", "ident"]], "gold": ["other", ["gold", "other"]], "strata": ["half"],
    "measures": ["a", ["a", "b"], MEASURES], "baseline": ["a"], "positive": [1], "min_grade": [1],
    "n_judged": [50], "margin": [0.05, 0.2], "pool": ["all", 10],
}  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "n_resamples": [19, 99, 200], "n_test_sets": [2, 3], "n_items": [2, 10, 50], "n_keys": [4],
    "window": [2, 4, 400], "n_seeds": [3],
    "phi": [1.0, 1.7, 1e6], "power": [0.5, 0.9], "overlap": [10, 0.4], "decimals": [2, 3],
    "rng": [0, 7, 2**64, None], "level": SHARES, "alpha": SHARES, "p": SHARES,
}  # fmt: skip
REFUSED: list[Any] = [
    "x", 3.25, np.nan, pd.NA, [["x"]], {}, (), 1j, -1, 10**400, 2**63, True, object(),
    np.array([[1, 2]]), b"1", float("inf"), pd.NaT,
]  # fmt: skip


# ------------------------------------------------------------------------------- what is allowed


@cache
def aliases() -> dict[str, Any]:
    """Return the names of types that any module of the package defines."""
    known: dict[str, Any] = {}
    for module in pkgutil.walk_packages(rankeval_pd.__path__, "rankeval_pd."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if typing.get_args(value) and isinstance(name, str):
                known.setdefault(name, value)
    return known


@cache
def literals(name: str, function: Any) -> list[Any]:
    """Return the values that the annotation of an option spells out."""
    parameter = inspect.signature(function).parameters[name]
    held = {**aliases(), **inspect.unwrap(function).__globals__}
    try:
        kind = eval(str(parameter.annotation), held)  # text of our own sources
    except (NameError, SyntaxError):
        return []
    kinds = [kind, *typing.get_args(kind)]
    values = [x for k in kinds if typing.get_origin(k) is typing.Literal for x in k.__args__]
    values += [True, False] if bool in kinds else []
    return [*values, None] if values and type(None) in kinds else values


def values(name: str, function: Any, case: Case) -> list[Any]:
    """Return values of an option that are allowed, none where nothing is known of it."""
    size = max(case.size, 1)
    if name == "n":
        return [1, size, max(1, size // 2), [1, size], range(1, size + 1), np.uint8(1), (1,)]
    if name in ("a", "b"):
        return case.names[:1] if name == "a" else case.names[1:2]
    if name == "sizes":
        return [[2], [max(2, size)]]
    if name == "threshold":
        numbers = [1.0, np.float32(0.7), 0.7, np.uint8(3), np.float16(0.1)]
        return [{case.names[0]: x} for x in numbers] if case.names else []
    of_columns = COLUMNS.get(name) if case is TIED else None
    return of_columns or VALUES.get(name) or literals(name, function)


def drawn(rng: Rng, function: Any, case: Case, *taken: str) -> dict[str, Any]:
    """Return values of some options that are not taken; roles are rarer."""
    chosen = {}
    for name, parameter in inspect.signature(function).parameters.items():
        wanted = {"n_resamples": 0.95, "sizes": 0.95, "n": 0.6}.get(name, 0.2)
        if parameter.default is parameter.empty:
            wanted = 1.0
        elif name in ROLES:
            wanted = 0.05
        if name in (*taken, "by", "progress") or rng.random() > wanted:
            continue
        if allowed := values(name, function, case):
            chosen[name] = pick(rng, allowed)
    return chosen


def example_of(name: str) -> dict[str, Any]:
    """Return the arguments of a function in the first example of its docstring."""
    function = getattr(rankeval_pd, name)
    examples = doctest.DocTestParser().get_examples(function.__doc__)
    asking = mock.patch.object(rankeval_pd, name, side_effect=StopIteration)
    with asking as asked, suppress(StopIteration):
        exec("".join(x.source for x in examples), {})  # text of our own sources
    args, options = asked.call_args
    return inspect.signature(function).bind(*args, **options).arguments


# --------------------------------------------------------------------------------- what is asked


def odd_call(rng: Rng, number: int, case: Case) -> Call:
    """Return a call of a random case, in which one option may be refused."""
    methods = [
        name
        for name in accessors.methods_of("rankings" if case.form == "ranking" else "items")
        if name not in NEVER_ODD
    ]
    method = pick(rng, methods)
    options = drawn(rng, QUESTIONS[method], case, "data")
    if case.by is not None and rng.random() < 0.7:
        options["by"] = case.by
    if options.get("a") is None:
        options.pop("b", None)
    if case.form == "items":
        options = {name: x for name, x in options.items() if name not in ("ties", "missing")}
    refused = ""
    if rng.random() < 0.15:
        known = [*inspect.signature(QUESTIONS[method]).parameters][1:]
        refused = pick(rng, [*known, "nonsense"])
        options[refused] = pick(rng, REFUSED)
    return Call(number, method, "odd", "odd", options, {}, "", refused)


class Planner:
    """Draw calls of the methods and functions of the package that is imported."""

    def __init__(self, seed: int, only: str | None) -> None:
        importlib.import_module("rankeval_pd.dask")
        self.seed, self.only = seed, only
        lazy = dask.dataframe.from_pandas(tied_candidates(), npartitions=1).rankeval
        head = dir(lazy.head(9))
        self.on_dask = {x: FORMS[6:] if x in head else FORMS[6:7] for x in dir(lazy)}
        functions = [
            name
            for name in rankeval_pd.__all__
            if inspect.isfunction(getattr(rankeval_pd, name)) and name not in (*METHODS, *LEFT_OUT)
        ]
        self.methods, self.functions = (
            [name for name in names if only in (None, name)] for names in (METHODS, functions)
        )

    def call(self, number: int) -> Call:
        """Return the call of a number."""
        rng = np.random.default_rng([self.seed, number])
        if number % 5 == 0 and self.only is None:
            call = odd_call(rng, number, odd_case(rng))
        elif not self.methods or (number % 12 == 1 and self.functions):
            name = pick(rng, self.functions)
            call = Call(number, name, "function", "none", self.of_function(rng, name), {})
        else:
            call = self.of_method(rng, number, pick(rng, self.methods))
        return call._replace(options=call.options | {"rng": 0}) if call.drawn_anew else call

    def of_function(self, rng: Rng, name: str) -> dict[str, Any]:
        options = example_of(name)
        for option, value in options.items():
            if type(value) in (int, float) and rng.random() < 0.3:
                options[option] = int(rng.integers(2 * value + 2)) if value >= 1 else rng.random()
        return options | drawn(rng, getattr(rankeval_pd, name), TIED, *options)

    def of_method(self, rng: Rng, number: int, method: str) -> Call:
        parameters = [*inspect.signature(QUESTIONS[method]).parameters][1:]
        kind = kind_of(rng, method, parameters)
        forms = (*FORMS[:6], *self.on_dask.get(method, ()))
        if kind in ("cells", "pairs"):
            forms = FORMS[:2]
        elif method in OF_FRAMES:
            forms = FORMS[:3]
        form = pick(rng, forms)
        options = keywords(method)
        options |= drawn(rng, QUESTIONS[method], TIED, "data", *options)
        if (form == "by" or (form == "Dask" and rng.random() < 0.5)) and "by" in parameters:
            options["by"] = "query"
        options = fitting(options, kind, form)
        if rng.random() < 0.06:
            options[pick(rng, [*parameters, "nonsense"])] = pick(rng, REFUSED)
        session = {"level": 0.9, "alpha": 0.4} if rng.random() < 0.08 else {}
        then = pick(rng, READERS) if rng.random() < 0.15 else ""
        return Call(number, method, form, kind, options, session, then)


def kind_of(rng: Rng, method: str, parameters: list[str]) -> str:
    """Return the kind of data that a method asks for."""
    if method == CELLED:
        return "cells"
    if method in PAIRS:
        return "pairs"
    of_items = "metric" in parameters and ("gold" not in parameters or rng.random() < 0.4)
    return "items" if of_items else "candidates"


def fitting(options: dict[str, Any], kind: str, form: str) -> dict[str, Any]:
    """Return options that go together, so that few calls are refused."""
    if "agreement" in options:
        options["gold"] = ["gold", "other"]
    if "weight" in options:
        options["groups"] = "half"
    if kind == "items" and "average" in options:
        options["strata"] = "half"
    if isinstance(options.get("n"), list):
        options["n"] = [x for x in options["n"] if x <= SMALLEST] or [SMALLEST]
    if options.get("threshold") is not None:
        options.pop("n", None)
    if "b" in options:
        options.setdefault("a", "a")
    gone = ["by", "label"]
    if kind == "items":
        gone += ["measures", "groups", "strata", "weight", "average"]
    of_dataset = form in ("Dataset", "batches", "chunked")
    return {name: x for name, x in options.items() if not (of_dataset and name in gone)}
