"""How a table of resampled items comes about, and how pairs of systems are related."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_count, check_share, listed, unknown_name, warn
from rankeval_pd.forms.items.item_answers import Relate
from rankeval_pd.forms.lazy.frame_heads import is_dask_frame
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.tables import OVER, adjusted_together
from rankeval_pd.forms.roles.call_costs import check_memory
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling import paired_gains, resamples
from rankeval_pd.stats.resampling.gain_tables import METHODS
from rankeval_pd.stats.resampling.item_draws import studentises
from rankeval_pd.stats.resampling.test_items import AnyItems, Options, quiet
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, settled

# -------------------------------------------------------------------------------------------------
# How a table of resampled items is made: options, memory, bar, family, and what is to be said.

FEW_ITEMS, FEW_GROUPS = 30, 20  # below these, a warning
_ADJUSTMENTS = (None, *ADJUSTMENTS, "max-t")


def seed_of(roles: Mapping[str, Any]) -> resamples.Seed:
    """Return the entropy of the draws."""
    chosen = Roles.of({"rng": roles.get("rng", 0)})
    return resamples.entropy(chosen.rng)


def options_of(
    roles: Mapping[str, Any],
    n_resamples: int | None,
    *,
    method: str,
    adjust: str | None,
    alpha: float,
    level: float,
    event: str,
    ci: str,
    keep_order: bool,
) -> Options:
    """Return the options, checked."""
    check_choice("method", method, METHODS)
    check_choice("adjust", adjust, _ADJUSTMENTS)
    return Options(
        0 if n_resamples is None else check_count("n_resamples", n_resamples),
        event, method, ci, adjust,
        check_share("alpha", alpha), check_share("level", level), seed_of(roles), keep_order,
    )  # fmt: skip


def check_size(test: Callable[..., Any], items: AnyItems, pairs: int, options: Options) -> None:
    """Raise a MemoryError where the draws of every pair, or of every system, cannot be held."""
    every = test is paired_gains.paired_permutation or studentises(options)
    rows, what = (pairs, "pairs") if every else (items.n_systems, "systems")
    check_memory(
        2 * rows * options.n_resamples,
        f"{rows:,} {what} ask for {options.n_resamples:,} numbers each",
        "Compare with one system, baseline=..., name fewer, measures=..., or draw fewer"
        " resamples, n_resamples=...; a larger alpha needs fewer.",
    )


def of_all_groups(
    results: Sequence[xr.Dataset], name: str, options: Options, batch: Sequence[Hashable]
) -> list[xr.DataArray]:
    """Return the p-values of this name, adjusted as one family."""
    assert options.adjust is not None
    p_values = [result[name] for result in results]
    return adjusted_together(p_values, options.adjust, batch=batch, over="all")


@contextmanager
def resampling_bar(
    data: object, progress: bool | None, draws: int, what: str
) -> Iterator[Callable[[int], object]]:
    """Give the function that moves a progress bar, or one that does nothing.

    ``draws`` is 0 where it is not known yet how many they will be. Of lazy data nothing is drawn
    yet, and where it will be, no bar can be moved.
    """
    if is_dask_frame(data) or (isinstance(data, xr.Dataset) and data.chunks):
        yield quiet
        return
    with progress_bar(progress, total=draws or None, what=what, unit="draws") as step:
        yield step


class Made:
    """How a table was made, and what has to be said of that: its attrs, and one warning a call."""

    def __init__(
        self,
        options: Options,
        roles: Mapping[str, Any],
        said: Sequence[str],
        adjust_over: str,
    ) -> None:
        check_choice("adjust_over", adjust_over, OVER)
        self.attrs: dict[str, Any] = {name: getattr(options, name) for name in said}
        self.attrs["adjust_over"] = adjust_over
        self.over_all = options.adjust is not None and adjust_over == "all"
        self._groups = roles.get("groups")
        self.attrs["seed"] = options.seed
        if options.n_resamples:
            self.attrs["n_resamples"] = options.n_resamples
        if self.attrs.get("ci") == "":
            del self.attrs["ci"]
        self._alpha = options.alpha
        self._signs = "event" not in said or options.event == "wild"
        self._fewest = np.iinfo(np.int64).max
        self._flat = False
        self._late = False

    def settled(self, options: Options, n_pairs: int, groups: int) -> Options:
        """Return the options with as many resamples as the family of tests needs."""
        alike = groups if self.over_all else 1
        return settled(options._replace(n_alike=alike), n_pairs)

    def columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, the number of groups last where there are groups."""
        return (*columns, *(["n_groups"] if self._groups is not None else []))

    def see(self, items: AnyItems, options: Options, flat: AnyArray) -> None:
        """Note the size of what was drawn, and whether an interval was not to be had."""
        self.attrs["n_resamples"] = options.n_resamples
        self._fewest = min(self._fewest, items.n_drawn)
        self._flat = self._flat or bool(np.any(flat))
        if self._late:
            self.warn()

    def see_interval(self, kind: str) -> None:
        """Note which interval it was; several where groups differ in what their items are."""
        seen = {*self.attrs.get("ci", kind).split(", "), kind}
        self.attrs["ci"] = ", ".join(sorted(seen))

    def warn(self) -> None:
        """Warn where there are few items or groups, or nothing varies; lazy data, when computed."""
        self._late = True
        said = [text for text in (self._about_size(), self._about_intervals()) if text]
        if said:
            warn(" ".join(said))

    def _about_size(self) -> str:
        few, what = FEW_ITEMS, "items"
        if self._groups is not None:
            few, what = FEW_GROUPS, f"groups of {self._groups!r}"
        if self._fewest >= few:
            return ""
        least = 2.0 ** (1 - self._fewest)
        never = ""
        if self._signs and least > self._alpha:
            never = f" No two-sided p-value can be below {least:.3g} here: nothing is significant."
        return (
            f"{self._fewest} {what}: with fewer than {few}, tests hold their level only where"
            f" differences are symmetric, and find little.{never} Take more, or read the docs of"
            " paired tests, where sizes are tabled."
        )

    def _about_intervals(self) -> str:
        if not self._flat:
            return ""
        return (
            "No interval (NaN) where all items are equal, or differ by the same: they do not say"
            " how far others would differ. For right and wrong, 0 and 1, give metric='accuracy'"
            " without groups: these have one."
        )


# -------------------------------------------------------------------------------------------------
# Which two systems are related? Labels for pairs, from the families of the systems.

Families = Mapping[Hashable, Any] | Sequence[Any] | Callable[[Any, Any], Any]


def relation_of(families: Families) -> Relate:
    """Return the function that gives the relation of each pair of systems."""

    def relate(systems: list[Hashable], pairs: IntArray) -> AnyArray:
        if callable(families) and not isinstance(families, Mapping):
            return tables.labels([families(systems[i], systems[j]) for i, j in pairs])
        label = _family_of(families, systems, {systems[k] for k in np.unique(pairs)})
        same = [label[systems[i]] == label[systems[j]] for i, j in pairs]
        return tables.labels(["same" if x else "different" for x in same])

    return relate


def _family_of(
    families: Mapping[Hashable, Any] | Sequence[Any],
    systems: list[Hashable],
    needed: set[Hashable],
) -> Mapping[Hashable, Any]:
    """Return the family of each system, by name."""
    if isinstance(families, pd.Series):
        families = families.to_dict()
    if isinstance(families, Mapping):
        for name in systems:
            if name in needed and name not in families:
                raise unknown_name("families", name, families)
        return families
    if isinstance(families, str) or not np.iterable(families) or len(families) != len(systems):
        raise ValueError(
            f"families={families!r}: give a label for each of the {len(systems)} systems"
            f" {listed(systems)}, as a mapping or in this order, or a function of two names."
        )
    return dict(zip(systems, families, strict=True))
