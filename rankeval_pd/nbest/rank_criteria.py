"""Define criteria for ranking measures, with tests and columns."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from rankeval_pd.decisions.ranks import RankOptions
from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.rankings.values import Sizes, check_n
from rankeval_pd.memory import check_draws, check_needed
from rankeval_pd.nbest.difference_regions import SWAPPED
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, level_of_each

RANKED = ("value", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "tied_for_best")
VERDICT = (
    "value",
    "ci_low",
    "ci_high",
    "rank_low",
    "rank_high",
    "difference",
    "difference_low",
    "difference_high",
    "p_adjusted",
    "tied_for_best",
    "better_than_chance",
)
PAIRS = ("value_a", "value_b", "difference", "p_value", "p_adjusted")
KINDS = ("ap", "roc")
OVER_EACH = ("n", "group")


class RankCriterion(NamedTuple):
    """Store the criterion that ranks measures, and the tests of differences."""

    n: Sizes
    kind: str | None
    how: RankOptions
    n_resamples: int | None
    progress: bool | None
    baseline: Hashable

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
        how = RankOptions(adjust, over == "n", kind is not None, check_share("level", level))
        return cls(check_n(n), kind, how, draws, progress, baseline)

    def noted(self) -> dict[str, Any]:
        """Return attrs that describe the ranks for readers and plots."""
        noted: dict[str, Any] = {
            "kind": self.kind,
            "adjust": self.how.adjust,
            "level": self.how.level,
            "intervals": "simultaneous",
        }
        if self.how.adjust is not None:
            noted["adjust_over"] = self.over
        return noted

    @property
    def over(self) -> str:
        """Return the tests that form a family: "n" or "group"."""
        return "n" if self.how.each else "group"

    def together(self, measures: int, sizes: int) -> float:
        """Return the Bonferroni level for each interval in a family."""
        if self.how.each:
            sizes = 1
        return level_of_each(self.how.level, measures * sizes)

    def draws(self, pairs: int) -> int:
        """Return the number of draws needed for significant pairs."""
        alpha, swapped = 1.0 - self.how.level, self.how.swapped
        needed = swaps.least_swaps(pairs, alpha)
        if self.n_resamples is None:
            if self.kind:
                return 9_999
            most = swaps.enough_swaps(pairs, alpha)
            return check_needed(most, f"level={self.how.level!r}") if swapped else most
        if self.kind is None and swapped and self.n_resamples < needed:
            raise ValueError(
                f"n_resamples={self.n_resamples} cannot reach level={self.how.level:g}: the"
                f" smallest adjusted p-value for {pairs} pairs is {pairs}/(n_resamples + 1). Pass"
                f" n_resamples={needed} or more, or None for the required number."
            )
        return self.n_resamples

    def columns(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the fixed and optional column names for this call."""
        adjusted = self.how.adjust is not None
        columns = [name for name in wanted if adjusted or name != "p_adjusted"]
        if self.kind is None:
            columns += ["tied", "tie_decides"]
        if self.baseline is None:
            columns += ["letters"]
        if "difference" in wanted:
            columns += ["p_value"]
            if adjusted:
                columns += ["difference_low_alone", "difference_high_alone"]
        if self.how.swapped:
            columns += ["undecided"]
        return (*columns, "ci_low_alone", "ci_high_alone")
