"""Collect attributes and warnings for tables from resampled items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.decisions.families import OVER, family_of
from rankeval_pd.errors import check_choice, warn
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling.item_draws import draws_of, moves_with_size, skewed
from rankeval_pd.stats.resampling.ratio_gains import FEW_ANSWERS, LEAST_ANSWERS, RatioGains
from rankeval_pd.stats.resampling.seed_gains import SeedGains
from rankeval_pd.stats.resampling.test_items import AnyItems, Items, PairOptions, quiet
from rankeval_pd.stats.significance.adjust import with_resamples

FEW_ITEMS, FEW_GROUPS, FEW_LEVELS = 30, 20, 10  # a warning is issued below these numbers


class GroupFacts(NamedTuple):
    """Describe the items and the tests of one group."""

    n_items: int
    n_drawn: int  #: items, or clusters
    n_resamples: int
    interval: str  #: kind of interval, or "" if the table does not name it
    flat: bool  #: whether an interval is undefined because there is no variation
    skewed: bool
    moves_with_size: bool  #: whether gains depend on the sizes of clusters
    answers: float  #: fewest guesses made by any system, or inf for other metrics
    n_strata: int  #: 0 without strata
    n_seeds: int  #: seeds of the system with the fewest, or 0 without seeds
    seed_widening: float  #: how much seeds widen intervals for gains
    n_systems: int


@dataclass(frozen=True)
class TableNotes:
    """Collect a table's attrs, and issue one warning per call."""

    options: PairOptions
    roles: Mapping[str, Any]
    named: Sequence[str]  #: the options that become attrs
    adjust_over: str
    more: Mapping[str, Any] = field(default_factory=dict)  #: further attrs
    one: Any = None  #: the system that is compared with all other systems

    def __post_init__(self) -> None:
        """Check the family of tests."""
        check_choice("adjust_over", self.adjust_over, OVER)

    @property
    def over_all(self) -> bool:
        """Whether the tests of all groups are one family."""
        return self.options.adjust is not None and self.adjust_over == "all"

    @property
    def _signs(self) -> bool:
        """Whether the tests draw random signs."""
        return "event" not in self.named or self.options.event == "wild"

    @property
    def _crossed(self) -> bool:
        """Whether two factors group the items."""
        return isinstance(self.roles.get("groups"), list)

    def settled(self, n_pairs: int, groups: int) -> PairOptions:
        """Return options with enough resamples for the family of tests."""
        options = self.options
        if self.over_all:
            options = options._replace(n_alike=groups)
        return with_resamples(options, n_pairs)

    def columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, followed by the number of groups if any."""
        if self.roles.get("groups") is None:
            return tuple(columns)
        return (*columns, "n_groups")

    def facts(
        self,
        items: AnyItems,
        pairs: IntArray,
        options: PairOptions,
        n_resamples: AnyArray,
        flat: AnyArray,
        interval: str = "",
    ) -> GroupFacts:
        """Return the facts of a group, given the draws of its tests and the kind of interval."""
        drawn = options._replace(n_resamples=int(n_resamples.max(initial=0)))
        own = draws_of(items, pairs, drawn, quiet).parametric
        answers, lopsided, seeds = np.inf, False, (0, 1.0, 0)
        if isinstance(own, RatioGains):
            answers = float(own.answers[pairs].min())
        else:
            lopsided = skewed(items, pairs, drawn)
        if isinstance(own, SeedGains):
            seeds = own.fewest, round(own.widening(options.level), 2), own.n_systems
        if interval == "wild" and (self._crossed or (seeds[0] and self._signs)):
            interval = "student"
        n_strata = 0
        if isinstance(items, Items) and items.strata is not None:
            n_strata = int(items.strata.max()) + 1
        by_item = self.roles.get("weight") != "group"
        return GroupFacts(
            n_items=items.n_items,
            n_drawn=items.n_drawn,
            n_resamples=drawn.n_resamples,
            interval=interval,
            flat=bool(np.any(flat)),
            skewed=lopsided,
            moves_with_size=by_item and moves_with_size(items, pairs),
            answers=answers,
            n_strata=n_strata,
            n_seeds=seeds[0],
            seed_widening=seeds[1],
            n_systems=seeds[2],
        )

    def record(self, facts: Sequence[GroupFacts], n_pairs: int) -> dict[str, Any]:
        """Warn about few items or groups, or no variation, and return the attrs."""
        options = self.options
        attrs = {name: getattr(options, name) for name in self.named}
        if options.adjust is not None:
            attrs["adjust_over"] = self.adjust_over
        attrs |= {"seed": options.seed, **self.more}
        attrs["n_resamples"] = max(x.n_resamples for x in facts) or None  # exact: no draws
        if attrs.get("ci") == "":
            del attrs["ci"]
        if self._crossed:
            attrs["event"] = "crossed"
        if facts[-1].n_strata:
            attrs["n_strata"] = facts[-1].n_strata
        sizes = {x.n_items for x in facts}
        attrs["n_items"] = None  # each row shows the number for its group
        if len(sizes) == 1:
            attrs["n_items"] = sizes.pop()
        if facts[-1].n_seeds:
            attrs["n_seeds"] = min(x.n_seeds for x in facts)
            attrs["seed_widening"] = max(1.0, *(x.seed_widening for x in facts))
            attrs["n_systems"] = facts[-1].n_systems
            if self._signs:
                attrs["event"] = "seeds"
        intervals = {x.interval for x in facts if x.interval}
        if intervals:
            if "ci" in attrs:
                intervals.add(attrs["ci"])
            attrs["ci"] = ", ".join(sorted(intervals))
        if options.adjust is not None:
            over = [self.adjust_over]
            attrs["family"] = family_of(n_pairs, self.one, groups=len(facts), over=over)
        self._warn(facts)
        return attrs

    def _warn(self, facts: Sequence[GroupFacts]) -> None:
        """Warn once about few items, guesses or seeds, missing intervals, and large groups."""
        texts = (
            self._about_size(min(x.n_drawn for x in facts), any(x.skewed for x in facts)),
            _about_guesses(min(x.answers for x in facts)),
            _about_intervals(any(x.flat for x in facts)),
            self._about_weight(any(x.moves_with_size for x in facts)),
            _about_seeds(min(x.n_seeds for x in facts)),
        )
        warnings = [text for text in texts if text]
        if warnings:
            warn(" ".join(warnings))

    def _about_size(self, fewest: int, is_skewed: bool) -> str:
        few, what, groups = FEW_ITEMS, "items", self.roles.get("groups")
        if groups is not None:
            few, what = FEW_GROUPS, f"groups of {groups!r}"
        alpha = self.options.alpha
        needed = int(np.ceil(1.0 - np.log2(alpha)))  # two-sided p is at least 2^(1-n)
        if self._crossed:
            if fewest >= FEW_LEVELS:
                return ""
            why = f"with fewer than {FEW_LEVELS} groups, intervals are wide and only approximate"
        elif self._signs and fewest < needed:
            why = (
                f"with fewer than {needed} {what}, no two-sided test can be significant at"
                f" {alpha:g}"
            )
        elif is_skewed:
            why = (
                "differences are skewed, or all scores of a system are equal, so tests may be"
                " unreliable"
            )
        elif not self._signs and fewest < few:
            why = (
                f"with fewer than {few} {what}, resampled gains vary too little, so tests are too"
                " liberal"
            )
        else:
            return ""
        return f"{fewest} {what}: {why}. Use more data; see the page on paired tests."

    def _about_weight(self, dominated: bool) -> str:
        if not dominated:
            return ""
        return (
            f"groups: the gain depends on group size in {self.roles['groups']!r}, and a few"
            " large groups dominate, so the test and the interval may be unreliable. Pass"
            " weight='group' for the mean over groups, or split large groups."
        )


def _about_seeds(n_seeds: int) -> str:
    if n_seeds == 0 or n_seeds > 2:
        return ""
    return (
        "seeds: two training runs give a poor estimate of the variation between runs, so only"
        " large gains can be significant. Train with five seeds; needed_seeds returns the"
        " number for a given gain."
    )


def _about_guesses(answers: float) -> str:
    if answers >= FEW_ANSWERS - 1e-9:
        return ""
    why = f"with fewer than {FEW_ANSWERS}, the test may be unreliable"
    if answers < LEAST_ANSWERS:
        why = f"with fewer than {LEAST_ANSWERS}, there is no test and p_value is NaN"
    return (
        f"A system's ratio is based on only {answers:.3g} guesses (or answers): {why}."
        " Use more items, or a system that guesses more often."
    )


def _about_intervals(undefined: bool) -> str:
    if not undefined:
        return ""
    return (
        "No interval (NaN): all items are equal or have the same difference, so the variation"
        " between items is unknown. For items scored 0 or 1, pass metric='accuracy' without"
        " groups to obtain an interval."
    )
