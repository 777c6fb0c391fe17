"""Drawn calls of every method and function: data in every form, and options that are allowed.

The options come from the signatures, the ``Literal`` of their annotations, and ``tests.questions``.
One call in five is one of the fuzzer.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import rankeval_pd
from tests.questions import ARGUMENTS, ASKED, CELLS, runs, tied_candidates
from tests.tools.fuzz import data as fuzzed

MEASURES = ["a", "b", "c"]
SMALLEST = 16  # candidates of a query
DATASETS = ("Dataset", "batches", "chunked")
ROLES = {
    "gold", "agreement", "positive", "min_grade", "measures", "exclude", "key", "label", "groups",
    "lower_is_better", "ties", "missing", "rng", "strata", "weight", "average", "seed_variance",
    "higher_is_better", "unjudged", "details",
}  # fmt: skip
PAIRS = ("gain_threshold", "calibration")
FORMS = ("frame", "function", "by", "Dataset", "batches", "chunked", "Dask", "head")
FORMS_OF = {"cells": FORMS[:2], "pairs": FORMS[:2], "frames": FORMS[:3]}
READERS = ("in_words", "paper_table")
LEFT_OUT = (*READERS, "rankeval", "write_trec", "synthetic_systems", "from_sacrebleu")
Y = [0, 1, 1, 0, 1, 0, 1, 1]
FUNCTIONS: dict[str, dict[str, Any]] = {
    "compare_accuracies": {"correct_a": 356, "correct_b": 344, "n_items": 500},
    "compare_for": {"tp_a": 40, "n_a": 100, "tp_b": 28, "n_b": 100},
    "coverage_for": {"failures": 3, "n_samples": 50, "failure_rate": 0.05},
    "detectable_gain": {"gain_se": 0.025, "n_items": 400},
    "dispersion_for": {"sd_observed": 0.4, "sd_expected": 0.2, "n_samples": 20},
    "expected_agreement": {"p": [0.05, 0.5], "n_items": 100, "n_items_other": 60},
    "from_predictions": {"y_true": Y, "predictions": {"m": Y[::-1], "o": Y}, "metric": "f1"},
    "from_scores": {"y_true": Y, "scores": {"m": [0.1, 0.8, 0.6, 0.3, 0.3, 0.1, 0.9, 0.2]}},
    "needed_candidates": {"precision_a": 0.6, "precision_b": 0.3, "overlap": 0.5},
    "needed_items": {"gain": 0.03, "gain_se": 0.025, "n_items": 400},
    "needed_seeds": {
        "gain": 0.1, "gain_se": 0.025, "n_items": 400, "gain_se_seeds": 0.02, "n_seeds": 3,
    },
    "precision_interval": {"tp": [12, 1], "n": 30},
    "random_bound_for": {
        "p": [0.05, 0.01], "n": [5, 20], "n_candidates": 200, "n_positive": 40,
    },
    "random_pvalue": {"tp": 7, "n": 20, "n_candidates": 200, "n_positive": 40},
    "random_pvalue_mean": {
        "mean_tp": 3.4, "n": 10, "n_candidates": 100, "n_positive": 20, "n_queries": 12,
    },
    "read_trec": {"runs": {"r": runs(["score"])[["query", "document", "score"]]}},
    "resample_counts": {"n_items": 12, "n_resamples": 30},
}  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "groups": ["half"], "key": ["ident"], "label": ["ident"], "lower_is_better": ["b", True],
    "exclude": [["c", "half", "ident"]], "gold": ["other", ["gold", "other"]], "strata": ["half"],
    "measures": ["a", ["a", "b"], MEASURES], "baseline": ["a"], "margin": [0.05, 0.2],
    "rng": [0, 7], "n_resamples": [19, 99], "positive": [1], "min_grade": [1], "n_keys": [4],
    "windows": [4, [5, 10]], "pool": ["all", 10], "n_seeds": [3], "n_judged": [50],
    "ties": ["shared", "expected", "trec", "best", "worst", "error"],
    "missing": ["raise", "last", "drop", "absent"], "undefined": ["zero", "skip"],
    "n_items_new": [900], "power": [0.5, 0.9], "overlap": [10, 0.4],
    "decimals": [2, 3],
}  # fmt: skip


class Call(NamedTuple):
    """A question, from which each revision makes the same data and the same call."""

    number: int
    method: str
    form: str
    kind: str  #: of the data
    options: dict[str, Any]
    session: dict[str, Any]  #: of ``set_options``
    then: str  #: the function that reads the answer, if any

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r:.60}" for name, value in self.options.items())
        session = f" within {self.session}" if self.session else ""
        then = f", then {self.then}" if self.then else ""
        return f"{self.method}({options}) of {self.kind}{session}{then}  [--case {self.number}]"


# ------------------------------------------------------------------------------- what is asked


def literals(name: str, function: Any, known: Mapping[str, Any]) -> list[Any]:
    """Return the values that the annotation of an option spells out."""
    parameter = inspect.signature(function).parameters[name]
    held = {**known, **inspect.unwrap(function).__globals__}
    try:
        kind = eval(str(parameter.annotation), held)  # text of our own sources
    except (NameError, SyntaxError):
        return []
    kinds = [kind, *typing.get_args(kind)]
    values = [x for k in kinds if typing.get_origin(k) is typing.Literal for x in k.__args__]
    values += [True, False] if bool in kinds else []
    return [*values, None] if values and type(None) in kinds else values


def aliases() -> dict[str, Any]:
    """Return the names of types that any module of the package defines."""
    known: dict[str, Any] = {}
    for module in pkgutil.walk_packages(rankeval_pd.__path__, "rankeval_pd."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if typing.get_args(value) and isinstance(name, str):
                known.setdefault(name, value)
    return known


class Planner:
    """Draw calls of the methods and functions of the package that is imported."""

    def __init__(self, seed: int, only: str | None) -> None:
        import dask.dataframe

        importlib.import_module("rankeval_pd.dask")
        self.seed, self.known = seed, aliases()
        lazy = dask.dataframe.from_pandas(tied_candidates(), npartitions=1).rankeval
        head = dir(lazy.head(9))
        self.on_dask = {x: FORMS[6:] if x in head else FORMS[6:7] for x in dir(lazy)}
        accessor = rankeval_pd.FrameAccessor
        names = [name for x in accessor.__mro__ for name in vars(x) if name[0] != "_"]
        self.methods = {x: getattr(accessor, x) for x in dict.fromkeys(names) if x != "plot"}
        public = {name: getattr(rankeval_pd, name) for name in rankeval_pd.__all__}
        self.functions = {
            name: x
            for name, x in public.items()
            if inspect.isfunction(x) and name not in self.methods and name not in LEFT_OUT
        }
        lacking = set(self.functions) - set(FUNCTIONS)
        assert not lacking, f"FUNCTIONS has no arguments of {sorted(lacking)}"
        if only is not None:
            self.methods = {only: self.methods[only]} if only in self.methods else {}
            self.functions = {only: self.functions[only]} if not self.methods else {}

    def call(self, number: int) -> Call:
        """Return the call of a number."""
        from tests.tools.fuzz.options import REFUSED, Asked  # of the new package only

        rng = np.random.default_rng([self.seed, number])
        if number % 5 == 0 and len(self.methods) > 1:
            asked = Asked(rng, odd_case(rng))
            drawn_anew = {"rng": 0} if asked.drawn_anew else {}
            options = {k: x for k, x in asked.options.items() if type(x) is not object}
            return Call(number, asked.method, "odd", "odd", options | drawn_anew, {}, "")
        if not self.methods or (number % 12 == 1 and self.functions):
            method = fuzzed.pick(rng, [*self.functions])
            return Call(number, method, "function", "none", self.of_function(rng, method), {}, "")
        method = fuzzed.pick(rng, [*self.methods])
        parameters = inspect.signature(self.methods[method]).parameters
        kind = kind_of(rng, method, parameters)
        forms = FORMS_OF.get(kind, [*FORMS[:6], *self.on_dask.get(method, ())])
        form = fuzzed.pick(rng, forms)
        options = self.of_method(rng, method, kind, form)
        if rng.random() < 0.06:
            refused = fuzzed.pick(rng, [*list(parameters)[1:], "nonsense"])
            options[refused] = fuzzed.pick(rng, [x for x in REFUSED if type(x) is not object])
        session = {"level": 0.9, "alpha": 0.4} if rng.random() < 0.08 else {}
        then = fuzzed.pick(rng, READERS) if rng.random() < 0.15 else ""
        return Call(number, method, form, kind, options, session, then)

    def of_function(self, rng: fuzzed.Rng, method: str) -> dict[str, Any]:
        options = dict(FUNCTIONS[method])
        for name, value in options.items():
            if type(value) in (int, float) and rng.random() < 0.3:
                options[name] = int(rng.integers(2 * value + 2)) if value >= 1 else rng.random()
        return options | self.others(rng, self.functions[method], options, 0.3)

    def of_method(self, rng: fuzzed.Rng, method: str, kind: str, form: str) -> dict[str, Any]:
        function = self.methods[method]
        parameters = inspect.signature(function).parameters
        args, options = ASKED.get(method) or ARGUMENTS.get(method, ((), {}))
        options = {**dict(zip([*parameters][1:], args, strict=False)), **options}
        needed = [name for name, p in parameters.items() if p.default is p.empty]
        if kind in ("items", "pairs", "queries"):
            kept = [*needed, "cells"]
            options = {k: x for k, x in options.items() if k in kept or rng.random() < 0.2}
            options.pop("families", None)
        options |= self.others(rng, function, [*options, "by"], 0.2)
        if "n_resamples" in parameters:
            options.setdefault("n_resamples", fuzzed.pick(rng, VALUES["n_resamples"]))
        if "details" in parameters and rng.random() < 0.5:
            options["details"] = True
        grouped = form == "by" or (form == "Dask" and rng.random() < 0.5) or method == "per_query"
        if grouped and "by" in parameters:
            options["by"] = "query"
        if "measures" in parameters and kind != "cells" and "exclude" not in options:
            options.setdefault("measures", MEASURES)
        return fitting(options, kind, form)

    def others(self, rng: fuzzed.Rng, function: Any, taken: Any, share: float) -> dict[str, Any]:
        """Return values of some options that are not taken; roles are rarer."""
        from tests.tools.fuzz.options import values

        case = fuzzed.Case(None, "", [*MEASURES], 16, None, plain=True)
        chosen = {}
        for name in [*inspect.signature(function).parameters]:
            taken_up = name in taken or name == "progress"  # walked by the tests of options
            if taken_up or rng.random() > (0.04 if name in ROLES else share):
                continue
            allowed = VALUES.get(name) or literals(name, function, self.known)
            if allowed := allowed or values(name, case):
                chosen[name] = fuzzed.pick(rng, allowed)
        return chosen


def fitting(options: dict[str, Any], kind: str, form: str) -> dict[str, Any]:
    """Return options that go together, so that few calls are refused."""
    if kind == "frames":
        options["gold"] = "gold"
    elif "agreement" in options:
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
    apart = ["by", "label"]
    if kind == "items":
        apart += ["measures", "groups", "strata", "weight", "average"]
    gone = apart if form in DATASETS else []
    return {name: x for name, x in options.items() if name not in gone}


def kind_of(rng: fuzzed.Rng, method: str, parameters: Mapping[str, Any]) -> str:
    """Return the kind of data that a method asks for."""
    if method == "with_association_measures":
        return "cells"
    if method in PAIRS:
        return "pairs"
    if method in ("plan_annotation", "annotation_sheet", "with_judgements"):
        return "frames"
    if method.startswith("judged"):
        return "partly"
    if "metric" in parameters:
        return "items" if "gold" not in parameters or rng.random() < 0.4 else "candidates"
    return "candidates"


# ------------------------------------------------------------------------------------ the data


def odd_case(rng: fuzzed.Rng) -> fuzzed.Case:
    """Return data as the fuzzer draws them."""
    return fuzzed.ranking(rng) if rng.random() < 0.75 else fuzzed.items(rng)


def data_of(call: Call, seed: int) -> Any:
    """Return the data of a call, in its form."""
    rng = np.random.default_rng([seed, call.number])
    if call.kind == "odd":
        return odd_case(rng).data
    size = int(fuzzed.pick(rng, [48, 48, 96]))
    frame = tied_candidates(int(rng.integers(50)), size)
    if call.kind == "cells":
        return pd.DataFrame({k: x + rng.integers(0, 9, 6) for k, x in CELLS.items()})
    if call.kind in ("partly", "frames"):
        frame["gold"] = frame["gold"].astype(float).where(rng.random(size) < 0.7)
    if call.kind in ("items", "pairs"):
        most = fuzzed.pick(rng, [1, 1, 4])
        frame[MEASURES] = rng.integers(0, most + 1, (size, 3)) / most
        frame = frame[[*MEASURES, "query", "half"]]
    if call.kind == "pairs":
        return frame.rankeval.paired_bootstrap(n_resamples=50, measures=MEASURES, by="query")
    return in_form(frame, call.form, items=call.kind == "items")


def in_form(frame: pd.DataFrame, form: str, *, items: bool) -> Any:
    """Return a frame with three queries as a Dataset, or on Dask."""
    if form in ("Dask", "head"):
        import dask.dataframe

        return dask.dataframe.from_pandas(frame, npartitions=3)
    if form in ("frame", "function", "by"):
        return frame
    if items:
        held = ("query", "item", "system")
        values = frame[MEASURES].to_numpy().reshape(3, -1, 3)
        result = xr.Dataset({"x": (held, values)}, {"system": MEASURES, "query": ["x", "y", "z"]})
    else:
        columns = frame.drop(columns="query")
        arrays = {
            k: (("query", "candidate"), x.to_numpy().reshape(3, -1)) for k, x in columns.items()
        }
        result = xr.Dataset(arrays, {"query": ["x", "y", "z"]})
    if form == "Dataset":
        return result.isel(query=0, drop=True)
    return result.chunk(query=1) if form == "chunked" else result
