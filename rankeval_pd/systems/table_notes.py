"""Collect attributes and warnings for tables from resampled items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, warn
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.tables import OVER
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling.item_draws import draws_of, moves_with_size, skewed
from rankeval_pd.stats.resampling.ratio_gains import FEW_ANSWERS, LEAST_ANSWERS, RatioGains
from rankeval_pd.stats.resampling.seed_gains import SeedGains
from rankeval_pd.stats.resampling.test_items import AnyItems, Items, PairOptions, quiet
from rankeval_pd.stats.significance.adjust import with_resamples

FEW_ITEMS, FEW_GROUPS, FEW_LEVELS = 30, 20, 10  # a warning is issued below these numbers


class TableNotes:
    """Collect a table's attrs, and issue one warning per call."""

    def __init__(
        self,
        options: PairOptions,
        roles: Mapping[str, Any],
        said: Sequence[str],
        adjust_over: str,
    ) -> None:
        check_choice("adjust_over", adjust_over, OVER)
        self.attrs: dict[str, Any] = {name: getattr(options, name) for name in said}
        if options.adjust is not None:
            self.attrs["adjust_over"] = adjust_over
        self.over_all = options.adjust is not None and adjust_over == "all"
        self._groups, self._by_item = roles.get("groups"), roles.get("weight") != "group"
        self.attrs["seed"] = options.seed
        self._drawn = 0
        if options.n_resamples:
            self.attrs["n_resamples"] = options.n_resamples
        if self.attrs.get("ci") == "":
            del self.attrs["ci"]
        self._alpha = options.alpha
        self._signs = "event" not in said or options.event == "wild"
        self._fewest = np.iinfo(np.int64).max
        self._flat = self._skewed = self._sized = False
        self._answers = np.inf  # fewest guesses made by any system
        self._late, self._seeds = False, np.iinfo(np.int64).max

    def settled(self, options: PairOptions, n_pairs: int, groups: int) -> PairOptions:
        """Return options with enough resamples for the family of tests."""
        alike = groups if self.over_all else 1
        return with_resamples(options._replace(n_alike=alike), n_pairs)

    def family(self, pairs: IntArray, groups: int, one: Any = None) -> dict[str, str]:
        """Return a description of the family of tests."""
        if self.attrs.get("adjust") is None:
            return {}
        over = () if self.over_all else ("group",)
        return {"family": tables.family_of(len(pairs), one, groups=groups, over=over)}

    def columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, followed by the number of groups if any."""
        return (*columns, *(["n_groups"] if self._groups is not None else []))

    def see(self, items: AnyItems, pairs: IntArray, options: PairOptions, flat: AnyArray) -> None:
        """Record the number of draws, skewness, and missing intervals."""
        if isinstance(self._groups, list):
            self.attrs["event"] = "crossed"
        if isinstance(items, Items) and items.strata is not None:
            self.attrs["n_strata"] = int(items.strata.max()) + 1
        self._sized = self._sized or (self._by_item and moves_with_size(items, pairs))
        own = draws_of(items, pairs, options, quiet).parametric
        if isinstance(own, RatioGains):
            self._answers = min(self._answers, float(own.answers[pairs].min()))
        else:
            self._skewed = self._skewed or skewed(items, pairs, options)
        if isinstance(own, SeedGains):
            self._note_seeds(own, options)
        self._drawn = max(self._drawn, options.n_resamples)
        self.attrs["n_resamples"] = self._drawn or None  # exact distributions need no draws
        if self._fewest == np.iinfo(np.int64).max:
            self.attrs["n_items"] = items.n_items
        elif self.attrs.get("n_items") != items.n_items:
            self.attrs["n_items"] = None  # each row shows the number for its group
        self._fewest = min(self._fewest, items.n_drawn)
        self._flat = self._flat or bool(np.any(flat))
        if self._late:
            self.warn()

    def _note_seeds(self, own: SeedGains, options: PairOptions) -> None:
        """Record the number of seeds, and how much seeds widen intervals for gains."""
        attrs, count = self.attrs, own.fewest
        self._seeds = count = min(count, attrs.get("n_seeds", count))
        wider = max(attrs.get("seed_widening", 1.0), own.widening(options.level))
        attrs |= {"n_seeds": count, "seed_widening": round(wider, 2), "n_systems": own.n_systems}
        if "event" not in attrs or attrs["event"] == "wild":
            attrs["event"] = "seeds"

    def see_interval(self, kind: str) -> None:
        """Record the kinds of intervals, which can differ between groups."""
        several = isinstance(self._groups, list) or self.attrs.get("event") == "seeds"
        kind = "student" if several and kind == "wild" else kind
        seen = {*self.attrs.get("ci", kind).split(", "), kind}
        self.attrs["ci"] = ", ".join(sorted(seen))

    def warn(self) -> None:
        """Warn about few items or groups, or no variation; delay warnings for lazy data."""
        self._late = True
        every = (
            self._about_size(), self._about_guesses(), self._about_intervals(),
            self._about_weight(), self._about_seeds(),
        )  # fmt: skip
        said = [text for text in every if text]
        if said:
            warn(" ".join(said))

    def finished(self, table: Data) -> Data:
        """Issue the warnings and return the table with its attrs."""
        if isinstance(table, xr.Dataset):
            table.attrs.pop("n_items", None)
        self.warn()
        return table

    def _about_size(self) -> str:
        few, what = FEW_ITEMS, "items"
        if self._groups is not None:
            few, what = FEW_GROUPS, f"groups of {self._groups!r}"
        needed = int(np.ceil(1.0 - np.log2(self._alpha)))  # two-sided p is at least 2^(1-n)
        if isinstance(self._groups, list):
            if self._fewest >= FEW_LEVELS:
                return ""
            found = f"with fewer than {FEW_LEVELS} groups, intervals are wide and only approximate"
        elif self._signs and self._fewest < needed:
            found = (
                f"with fewer than {needed} {what}, no two-sided test can be significant at"
                f" {self._alpha:g}"
            )
        elif self._skewed:
            found = (
                "differences are skewed, or all scores of a system are equal, so tests may be"
                " unreliable"
            )
        elif not self._signs and self._fewest < few:
            found = (
                f"with fewer than {few} {what}, resampled gains vary too little, so tests are too"
                " liberal"
            )
        else:
            return ""
        return f"{self._fewest} {what}: {found}. Use more data; see the page on paired tests."

    def _about_weight(self) -> str:
        if not self._sized:
            return ""
        return (
            f"groups: the gain depends on group size in {self._groups!r}, and a few"
            " large groups dominate, so the test and the interval may be unreliable. Pass"
            " weight='group' for the mean over groups, or split large groups."
        )

    def _about_seeds(self) -> str:
        if self._seeds > 2:
            return ""
        return (
            "seeds: two training runs give a poor estimate of the variation between runs, so only"
            " large gains can be significant. Train with five seeds; needed_seeds returns the"
            " number for a given gain."
        )

    def _about_guesses(self) -> str:
        if self._answers >= FEW_ANSWERS - 1e-9:
            return ""
        found = f"with fewer than {FEW_ANSWERS}, the test may be unreliable"
        if self._answers < LEAST_ANSWERS:
            found = f"with fewer than {LEAST_ANSWERS}, there is no test and p_value is NaN"
        return (
            f"A system's ratio is based on only {self._answers:.3g} guesses (or answers): {found}."
            " Use more items, or a system that guesses more often."
        )

    def _about_intervals(self) -> str:
        if not self._flat:
            return ""
        return (
            "No interval (NaN): all items are equal or have the same difference, so the variation"
            " between items is unknown. For items scored 0 or 1, pass metric='accuracy' without"
            " groups to obtain an interval."
        )
