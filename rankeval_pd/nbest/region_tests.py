"""How two difference regions are tested, and what is asked of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import (
    check_at_least_one,
    check_choice,
    check_count,
    check_share,
)
from rankeval_pd.nbest.precision_intervals import TARGETS
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.intervals.odds_ratio import sample_odds_ratio
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES, fisher_test
from rankeval_pd.stats.significance.mcnemar import mcnemar_test
from rankeval_pd.stats.significance.unconditional import barnard, boschloo

REGION_TYPES: dict[str, type] = {
    "precision_a": float, "precision_b": float, "difference": float, "ci_low": float,
    "ci_high": float, "overlap": np.int64, "n_only_a": np.int64, "n_only_b": np.int64,
    "tp_only_a": np.int64, "tp_only_b": np.int64, "odds_ratio": float, "p_value": float,
    "p_mid": float,
}  # fmt: skip
DECIDED = ("p_adjusted", "significant", "better")

OTHER_TESTS = ("mcnemar", "boschloo", "barnard")
TESTS = ("fisher", "midp", *OTHER_TESTS)


class Options(NamedTuple):
    """How the comparison is made."""

    test: str
    alternative: str
    ci: str
    level: float
    target: str
    phi: float
    adjust: str | None
    alpha: float
    n_resamples: int
    progress: bool | None
    seed: int

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Return the options, checked."""
        check_choice("test", given["test"], TESTS)
        check_choice("alternative", given["alternative"], ALTERNATIVES)
        check_choice("adjust", given["adjust"], (None, *ADJUSTMENTS, "max-t"))
        check_choice("ci", given["ci"], DIFFERENCE_INTERVALS)
        check_choice("target", given["target"], TARGETS)
        for name in ("alpha", "level"):
            given[name] = check_share(name, given[name])
        given["phi"] = check_at_least_one("phi", given["phi"])
        given["n_resamples"] = check_count("n_resamples", given["n_resamples"])
        return cls(**given)

    def noted(self) -> dict[str, Any]:
        """Return what the readers of the table, and the plots, need to know."""
        kept = self._asdict()
        del kept["seed"], kept["progress"]
        if self.adjust != "max-t":
            del kept["n_resamples"]
        return kept


def tested(
    tp_a: IntArray,
    n_a: IntArray,
    tp_b: IntArray,
    n_b: IntArray,
    options: Options,
    exists: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return odds ratio, p-value and mid-p of two difference regions."""
    regions = np.clip(tp_a, 0, n_a), n_a, np.clip(tp_b, 0, n_b), n_b  # of lists that do not exist
    exact = fisher_test(*regions, options.alternative)
    p_value = exact.p_mid if options.test == "midp" else exact.p_value
    if options.test in OTHER_TESTS:
        p_value = np.full(np.shape(tp_a), np.nan)
        there = np.broadcast_to(exists, p_value.shape)
        of_a, of_b = ((t[there], n[there]) for t, n in (regions[:2], regions[2:]))
        p_value[there] = _other_test(*of_a, *of_b, options)
    return sample_odds_ratio(tp_a, n_a, tp_b, n_b), p_value, exact.p_mid


def _other_test(
    tp_a: IntArray, n_a: IntArray, tp_b: IntArray, n_b: IntArray, options: Options
) -> FloatArray:
    if options.test == "mcnemar":
        return mcnemar_test(tp_a, n_a, tp_b, n_b, options.alternative)
    test = boschloo if options.test == "boschloo" else barnard

    def shown(cells: Iterable[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
        tables = list(cells)
        with progress_bar(
            options.progress, total=len(tables), what=f"{options.test}'s test", unit="tables"
        ) as advance:
            for table in tables:
                yield table
                advance(1)

    return test(tp_a, n_a, tp_b, n_b, options.alternative, shown)
