"""Random options of a method: values that are allowed, now and then one that is not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd import accessors
from tests.tools.fuzz.data import Case, Rng, pick

# whose options, or data, are none that a random case has
LEFT_OUT = {
    "nbest_recall", "judged_recall", "plan_annotation", "annotation_sheet", "with_judgements",
    "summary", "repetition_samples", "unpaired_area", "partial_area", "bedroc", "enrichment",
    "per_query", "with_association_measures",
}  # fmt: skip
RANKING = [name for name in accessors.methods_of("rankings") if name not in LEFT_OUT]
ITEMS = [name for name in accessors.methods_of("items") if name not in LEFT_OUT]
SHARES = ("level", "alpha", "p")
CHOICES: dict[str, list[str]] = {
    "ties": ["shared", "shared", "expected", "error"],
    "missing": ["raise", "last", "drop"],
    "alternative": ["two-sided", "greater", "less"],
    "population": ["finite", "infinite"],
    "adjust": ["holm", "bonferroni", "bh"],
    "kind": ["roc", "ap"],
}
NUMBERS: dict[str, list[Any]] = {
    "n_resamples": [19, 99, 200],
    "n_test_sets": [2, 3],
    "n_items": [2, 10, 50],
    "contiguous": [1, 2, 5],
    "window": [2, 4, 400],
    "phi": [1.0, 1.7, 1e6],
    "rng": [0, 7, 2**64, None],
}
ROLES = ("by", "ties", "missing", "rng")
REFUSED: list[Any] = [
    "x", 3.25, np.nan, pd.NA, [["x"]], {}, (), 1j, -1, 10**400, 2**63, True, object(),
    np.array([[1, 2]]), b"1", float("inf"), pd.NaT,
]  # fmt: skip


class Asked:
    """A method and its options, the name of the one that is not allowed, if any."""

    def __init__(self, rng: Rng, case: Case) -> None:
        methods = RANKING if case.form == "ranking" else ITEMS
        self.method = pick(rng, methods)
        held = inspect.signature(getattr(accessors.FrameAccessor, self.method)).parameters
        self.options: dict[str, Any] = {}
        self.refused: str | None = None
        known = [name for name in held if name not in ("self", "roles")]
        for name in known:
            needed = held[name].default is inspect.Parameter.empty
            wanted = 0.95 if name in ("n_resamples", "sizes") else 0.6 if name == "n" else 0.25
            allowed = values(name, case)
            if allowed and (needed or rng.random() < wanted):
                self.options[name] = pick(rng, allowed)
        for name in ROLES:
            role = [case.by] if name == "by" else values(name, case)
            if role != [None] and rng.random() < (0.7 if name == "by" else 0.2):
                self.options[name] = pick(rng, role)
        if "b" in self.options and self.options.get("a") is None:
            del self.options["b"]
        if case.form == "items":
            for name in ("ties", "missing"):
                self.options.pop(name, None)
        if rng.random() < 0.15:
            self.refused = pick(rng, [*known, *ROLES, "gold", "measures", "nonsense"])
            self.options[self.refused] = pick(rng, REFUSED)

    @property
    def drawn_anew(self) -> bool:
        """Whether each call draws other numbers."""
        return self.options.get("rng", 0) is None

    def __repr__(self) -> str:
        return f"{self.method}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


def values(name: str, case: Case) -> list[Any]:
    """Return values of an option that are allowed, none where nothing is known of it."""
    size = max(case.size, 1)
    if name == "n":
        return [1, size, max(1, size // 2), [1, size], range(1, size + 1), np.uint8(1), (1,)]
    if name in ("a", "b"):
        return case.names[:1] if name == "a" else case.names[1:2]
    if name == "sizes":
        return [[2], [max(2, size)]]
    if name == "threshold":
        return [{case.names[0]: 1.0}] if case.names else []
    if name in SHARES:
        return [0.05, 0.5, 0.95, 1e-9, 1e-300, 5e-324, 1 - 1e-16, np.float32(0.9)]
    return [*CHOICES.get(name, []), *NUMBERS.get(name, [])]
