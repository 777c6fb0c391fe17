"""Define criteria for ranking measures, with tests and columns."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.rankings.values import Sizes, check_n
from rankeval_pd.forms.roles.declarations import check_draws, check_needed
from rankeval_pd.nbest.difference_regions import SWAPPED
from rankeval_pd.nbest.tie_warnings import DECIDES
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.rankings.measure_pairs import Decision
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, level_of_each

RANKED: dict[str, type] = {
    "value": float, "ci_low": float, "ci_high": float, "rank": np.int64, "rank_low": np.int64,
    "rank_high": np.int64, "tied_for_best": bool,
}  # fmt: skip
VERDICT: dict[str, type] = {
    "value": float, "ci_low": float, "ci_high": float, "rank_low": np.int64,
    "rank_high": np.int64, "difference": float, "difference_low": float, "difference_high": float,
    "p_adjusted": float, "tied_for_best": bool, "better_than_chance": bool,
}  # fmt: skip
OF_LISTS: dict[str, type] = {"tied": np.int64, DECIDES: bool}
_ALONE: dict[str, type] = {"difference_low_alone": float, "difference_high_alone": float}
_VALUES: dict[str, type] = {"ci_low_alone": float, "ci_high_alone": float}
_OTHERS: dict[str, type] = {
    "p_value": float, **_ALONE, "letters": object, "undecided": bool, **_VALUES
}  # fmt: skip
FOUND = {**RANKED, **VERDICT, **OF_LISTS, **_OTHERS}
PAIRS: dict[str, type] = {
    "value_a": float, "value_b": float, "difference": float, "p_value": float, "p_adjusted": float,
}  # fmt: skip
KINDS = ("ap", "roc")
OVER_EACH = ("n", "group")


class RankCriterion(NamedTuple):
    """Store the criterion that ranks measures, and the tests of differences."""

    n: Sizes
    kind: str | None
    how: Decision
    n_resamples: int | None
    progress: bool | None
    baseline: Hashable
    attrs: dict[str, Any]  #: table attrs for readers and plots

    @classmethod
    def of(
        cls,
        n: Any,
        kind: str | None,
        adjust: str | None,
        n_resamples: int | None,
        level: float,
        progress: bool | None,
        baseline: Hashable,
        *,
        over: str = "n",
    ) -> RankCriterion:
        """Check and return the options."""
        if (n is None) == (kind is None):
            raise ValueError(
                f"n={n!r}, kind={kind!r}: pass either list sizes, n=..., or a criterion, kind='ap'"
                " (average precision) or kind='roc' (area under the ROC curve)."
            )
        check_choice("kind", kind, (None, *KINDS))
        check_choice("adjust", adjust, (None, *SWAPPED, *ADJUSTMENTS))
        check_choice("adjust_over", over, OVER_EACH)
        draws = None if n_resamples is None else check_draws("n_resamples", n_resamples)
        level = check_share("level", level)
        attrs: dict[str, Any] = {"kind": kind, "adjust": adjust, "level": level}
        attrs["intervals"] = "simultaneous"
        attrs |= {} if adjust is None else {"adjust_over": over}
        how = Decision(adjust, over == "n", kind is not None, level)
        return cls(check_n(n), kind, how, draws, progress, baseline, attrs)

    @property
    def swapped(self) -> bool:
        """Return whether p-values come from random draws."""
        return self.how.adjust in SWAPPED

    def together(self, measures: int, sizes: int) -> float:
        """Return the Bonferroni level for each interval in a family."""
        return level_of_each(self.how.level, measures * (1 if self.how.each else sizes))

    def draws(self, pairs: int) -> int:
        """Return the number of draws needed for significant pairs."""
        alpha = 1.0 - self.how.level
        needed = swaps.least_swaps(pairs, alpha)
        if self.n_resamples is None:
            if self.kind:
                return 9_999
            most = swaps.enough_swaps(pairs, alpha)
            return check_needed(most, f"level={self.how.level!r}") if self.swapped else most
        if self.kind is None and self.swapped and self.n_resamples < needed:
            raise ValueError(
                f"n_resamples={self.n_resamples} cannot reach level={self.how.level:g}: the"
                f" smallest adjusted p-value for {pairs} pairs is {pairs}/(n_resamples + 1). Pass"
                f" n_resamples={needed} or more, or None for the required number."
            )
        return self.n_resamples

    def columns(self, wanted: dict[str, type]) -> dict[str, type]:
        """Return the fixed and optional column names for this call."""
        adjusted = self.how.adjust is not None
        kept = {name: kind for name, kind in wanted.items() if adjusted or name != "p_adjusted"}
        kept |= OF_LISTS if self.kind is None else {}
        kept |= {"letters": object} if self.baseline is None else {}
        if "difference" in wanted:
            kept |= {"p_value": float, **(_ALONE if adjusted else {})}
        return {**kept, **({"undecided": bool} if self.swapped else {}), **_VALUES}
