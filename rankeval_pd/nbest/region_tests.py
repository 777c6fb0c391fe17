"""How two difference regions are tested, and what is asked of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import (
    check_at_least_one,
    check_choice,
    check_share,
)
from rankeval_pd.forms.families import OVER
from rankeval_pd.forms.memory import check_draws
from rankeval_pd.nbest.precision_intervals import TARGETS
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.odds_ratio import sample_odds_ratio
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES, fisher_test
from rankeval_pd.stats.significance.mcnemar import mcnemar_test
from rankeval_pd.stats.significance.score import score_test
from rankeval_pd.stats.significance.unconditional import barnard, boschloo

REGION_TYPES: dict[str, type] = {
    "precision_a": float, "precision_b": float, "difference": float, "ci_low": float,
    "ci_high": float, "overlap": np.int64, "n_only_a": np.int64, "n_only_b": np.int64,
    "tp_only_a": np.int64, "tp_only_b": np.int64, "odds_ratio": float, "p_value": float,
    "p_mid": float,
}  # fmt: skip
DECIDED = ("p_adjusted", "significant", "better")

OTHER_TESTS = ("mcnemar", "boschloo", "barnard")
TESTS = ("fisher", "midp", *OTHER_TESTS, "score")
SET_INTERVALS = ("score", "delta")


class Options(NamedTuple):
    """How the comparison is made."""

    test: str
    alternative: str
    ci: str
    level: float
    target: str
    phi: float
    adjust: str | None
    adjust_over: str
    alpha: float
    n_resamples: int | None
    progress: bool | None
    seed: int

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Return the options, checked."""
        check_choice("test", given["test"], (None, *TESTS))
        check_choice("alternative", given["alternative"], ALTERNATIVES)
        check_choice("adjust", given["adjust"], (None, *ADJUSTMENTS, "max-t"))
        check_choice("adjust_over", given["adjust_over"], OVER)
        check_choice("target", given["target"], TARGETS)
        for name in ("alpha", "level"):
            given[name] = check_share(name, given[name])
        given["phi"] = check_at_least_one("phi", given["phi"])
        if given["n_resamples"] is not None:
            given["n_resamples"] = check_draws("n_resamples", given["n_resamples"])
        given["test"] = _test_with(given["phi"], given["test"], given["adjust"])
        return cls(**given)

    def noted(self) -> dict[str, Any]:
        """Return what the readers of the table, and the plots, need to know."""
        kept = self._asdict()
        del kept["seed"], kept["progress"]
        if self.adjust != "max-t":
            del kept["n_resamples"]
        return kept


def _test_with(phi: float, test: str | None, adjust: str | None) -> str:
    """Return the test that is meant, or refuse one that takes counts for binomial."""
    if phi > 1.0 and test not in (None, "score"):
        raise ValueError(
            f"phi={phi:g} with test={test!r}: an exact test takes the true positives for binomial,"
            " and has no version for counts that vary more. Leave test out, or give test='score'."
        )
    if phi > 1.0 and adjust == "max-t":
        raise ValueError(
            f"phi={phi:g} with adjust='max-t': the swaps take the candidates for independent."
            " Give another adjustment, as adjust='holm', or leave phi out."
        )
    return test or ("fisher" if phi == 1.0 else "score")


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
    if options.test == "score":
        a, n, b, m = (x / options.phi for x in regions)
        p_value = score_test(a, n, b, m, options.alternative)
    if options.test in OTHER_TESTS:
        p_value = np.full(np.shape(tp_a), np.nan)
        there = np.broadcast_to(exists, p_value.shape)
        of_a, of_b = ((t[there], n[there]) for t, n in (regions[:2], regions[2:]))
        p_value[there] = _other_test(*of_a, *of_b, options)
    # the mid-p of counts that are not binomial would say what the row's own test denies
    p_mid = exact.p_mid if options.phi == 1.0 else np.full_like(exact.p_mid, np.nan)
    return sample_odds_ratio(tp_a, n_a, tp_b, n_b), p_value, p_mid


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
