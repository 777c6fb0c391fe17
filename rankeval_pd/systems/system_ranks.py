"""Rank systems, and define options for tables from resampled items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd.decisions.gains import FAMILY, ranks_over_groups
from rankeval_pd.decisions.verdicts import GROUP, Rows
from rankeval_pd.doors.dask import ItemNeeds
from rankeval_pd.doors.items import resampling_bar, tabulate_items
from rankeval_pd.doors.rankings import rows_at
from rankeval_pd.errors import check_choice, check_count, check_share, listed, unknown_name
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    Alternative,
    FamilyAdjustment,
    ItemRoles,
    MeanTest,
    RankKind,
    Roles,
    ScoreInterval,
)
from rankeval_pd.memory import check_memory
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.rankings.rank_tests import RANKS, SCORE_INTERVALS
from rankeval_pd.stats.rankings.rank_tests import system_ranks as system_ranks_of
from rankeval_pd.stats.resampling import resamples, swapped_gains
from rankeval_pd.stats.resampling.gain_tables import METHODS
from rankeval_pd.stats.resampling.t_tests import t_ranks
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, studentises
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.systems.table_notes import GroupFacts, TableNotes

# -------------------------------------------- Ranks of systems

RANK_COLUMNS = (
    "system", "value", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "p_best",
    "tied_for_best", "letters", "undecided", "ci_low_alone", "ci_high_alone",
)  # fmt: skip


@Capabilities(
    items="Who is best?",
    clusters=True,
    sums=True,
    short="system value ci_low ci_high rank_low rank_high letters",
    layout="system",
)
@with_roles
def system_ranks(
    data: Data,
    *,
    test: MeanTest = "bootstrap",
    n_resamples: int | None = None,
    ranks: RankKind = "simultaneous",
    ci: ScoreInterval | None = None,
    adjust: FamilyAdjustment | Literal["auto"] | None = "auto",
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Rank systems and quantify the uncertainty due to the choice of test items.

    Parameters
    ----------
    data, n_resamples, progress, **roles
        As in :func:`paired_bootstrap`.
    test : {"bootstrap", "t"}
        Test for all pairs. "t" is the paired t test with t intervals for scores and needs no draws.
    ranks : {"simultaneous", "percentile"}
        Kind of limits for ``rank_low`` and ``rank_high``. "simultaneous" uses the tests of all
        pairs and is valid jointly for all systems. "percentile" uses percentiles of each system's
        resampled ranks. These limits miss the true rank of nearly equal systems far too often.
    ci : {None, "wild", "clopper-pearson", "bca", "percentile", "basic"}
        Kind of interval for the score. The default is "clopper-pearson" (exact binomial) for 0/1
        items without ``groups``, and "wild" otherwise. A "wild" interval contains the scores not
        rejected by a random-sign test of the items or by Hall's (1992) t test.
    adjust : {"auto", None, "holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment for testing all pairs. "auto" means "max-t", or "holm" with ``test="t"``. With
        None, "bh" or "by", rank limits are not simultaneous. "max-t-stepdown" has more power than
        "max-t".
    adjust_over : {"all", "group"}
        Whether ranks are simultaneous across all groups or within each group.
    alpha : float
        Significance level of the tests. The rank limits have a simultaneous confidence level of 1 -
        alpha.
    level : float
        Confidence level for score intervals and percentile ranks.

    Returns
    -------
    DataFrame or Dataset
        One row per system, sorted by rank (Dataset: dimension system, in the order of the data):
        ``system``, ``value`` (the score); ``ci_low``, ``ci_high``: interval for the score,
        simultaneous for all systems (max-t for "wild", otherwise Bonferroni); ``ci_low_alone``,
        ``ci_high_alone``: the unadjusted interval; ``rank``: 1 for the best system, equal scores
        share the better rank, and undefined scores (NaN) are last; ``rank_low``: 1 + the number of
        significantly better systems; ``rank_high``: the number of systems minus the number of
        significantly worse systems; ``p_best``: proportion of resamples in which the system is
        best, with ties divided equally; ``tied_for_best``: True if no system is significantly
        better; ``letters``: two systems share a letter if and only if they do not differ
        significantly; ``undecided``: whether more draws could change a decision about the system;
        ``n_groups``: only with ``groups``.

    Warns
    -----
    RankevalWarning
        In the same situations as :func:`paired_bootstrap`, or if a score has no interval.

    Notes
    -----
    :func:`paired_bootstrap` tests all pairs with the same ``adjust``. A system ranks above another
    system if ``p_adjusted`` ≤ alpha. With probability at least 1 - alpha, all true ranks lie
    between ``rank_low`` and ``rank_high`` (Mogstad et al.). Without ``n_resamples``, drawing
    continues until no pair is undecided, up to eight times the initial number of resamples or 33
    million gains in total. Only decisions about pairs whose p-value is within about 0.002 of alpha
    then depend on the seed, and ``undecided`` marks these pairs. The limits are wide with few items
    and for similar systems. ``p_best`` is not the probability that the system is best in the
    population. For 100,000 items or more, ``p_best`` uses the draws from the tests instead of
    resamples. The cost equals the paired bootstrap's (doubled for fewer than 100,000 items), plus
    systems² x resamples comparisons.

    References
    ----------
    M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm (2024), Inference for ranks with applications to
    mobility across neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> right = {"x": [1] * 36 + [0] * 4, "y": [1] * 35 + [0] * 4 + [1], "z": [0] * 30 + [1] * 10}
    >>> df = pd.DataFrame(right)
    >>> df.rankeval.system_ranks()
      system  value    ci_low   ci_high  rank_low  rank_high letters
    0      x   0.90  0.731280  0.979935         1          2       a
    1      y   0.90  0.731280  0.979935         1          2       a
    2      z   0.25  0.107394  0.446622         3          3       b
    """
    check_choice("ci", ci, (None, *SCORE_INTERVALS))
    check_choice("ranks", ranks, RANKS)
    check_choice("test", test, get_args(MeanTest))
    options = options_of(
        roles,
        n_resamples,
        method="auto",
        adjust=adjustment_of(test, adjust),
        alpha=alpha,
        level=level,
        event="wild",
        ci=ci or "",
        keep_order=True,
    )
    more: dict[str, Any] = {"ranks": ranks, "intervals": "simultaneous"}
    if ci is not None:
        more["ci"] = ci
    if test == "t":
        more["test"] = test
    notes = TableNotes(options, roles, ("event", "adjust", "alpha", "level"), adjust_over, more)
    with resampling_bar(data, progress, options.n_resamples) as step:
        return tabulate_items(
            data,
            roles,
            partial(_ranks_of_group, notes=notes, test=test, ranks=ranks, step=step),
            notes.columns(RANK_COLUMNS),
            record=notes.record,
            finish=partial(_by_rank, notes=notes, ranks=ranks),
            needs=partial(_sums_for_ranks, notes),
        )


def _ranks_of_group(
    items: AnyItems,
    pairs: IntArray,
    n_groups: int,
    *,
    notes: TableNotes,
    test: str,
    ranks: str,
    step: Step,
) -> tuple[Rows, GroupFacts]:
    """Return one row per system, and the facts of the group."""
    kernel, interval = system_ranks_of, "wild"
    if test == "t":
        kernel, interval = t_ranks, "t"
    elif items.binary:
        interval = "clopper-pearson"
    options = notes.settled(len(pairs), n_groups)
    check_size(kernel, items, len(pairs), options)
    table = kernel(items, options, ranks, step)
    flat = np.isfinite(table.value) & np.isnan(table.ci_low)
    interval = notes.options.ci or interval
    facts = notes.facts(items, pairs, options, table.n_resamples, flat, interval)
    return {"system": np.arange(items.n_systems), **table._asdict()}, facts


def _sums_for_ranks(notes: TableNotes, n_pairs: int) -> ItemNeeds:
    """Return which sums the ranks need when items are distributed across workers."""
    return ItemNeeds(notes.settled(n_pairs, 1), signs=True, ranked=True)


def _by_rank(rows: Rows, *, notes: TableNotes, ranks: str) -> Rows:
    """Rank the systems of all groups, and sort the systems of each group by rank."""
    if notes.over_all:
        rows = ranks_over_groups(rows, how=notes.options, simultaneous=ranks == "simultaneous")
    of_systems = {name: values for name, values in rows.items() if name not in FAMILY}
    return rows_at(of_systems, np.lexsort([rows["rank"], rows[GROUP]]))


# ---------------- Tables from resampled items, and relations between systems

# -------------------------------------------------------------------------------------------------
# Options, memory, progress bar, family and notes for tables from resampled items.

_ADJUSTMENTS = (None, *ADJUSTMENTS, "max-t", "max-t-stepdown")


def adjustment_of(test: str | None, adjust: str | None) -> str | None:
    """Return the adjustment, by default max-t, or Holm's method for t tests."""
    if isinstance(adjust, str) and adjust == "auto":  # pd.NA is rejected with other invalid options
        adjust = "max-t"
        if test == "t":
            adjust = "holm"
    return adjust


def seed_of(roles: Mapping[str, Any]) -> resamples.Seed:
    """Return the entropy for random draws."""
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
    alternative: str = "two-sided",
    skewness: bool | None = None,
) -> PairOptions:
    """Check and return the options."""
    check_choice("method", method, METHODS)
    check_choice("alternative", alternative, get_args(Alternative))
    check_choice("adjust", adjust, _ADJUSTMENTS)
    return PairOptions(
        0 if n_resamples is None else check_count("n_resamples", n_resamples),
        event, method, ci, adjust,
        check_share("alpha", alpha), check_share("level", level), seed_of(roles), keep_order,
        alternative=alternative, skewness=event == "wild" if skewness is None else skewness,
    )  # fmt: skip


def check_size(test: Callable[..., Any], items: AnyItems, pairs: int, options: PairOptions) -> None:
    """Raise a MemoryError if draws for all pairs or systems do not fit in memory."""
    every = test is swapped_gains.paired_permutation or studentises(options)
    rows, what = (pairs, "pairs") if every else (items.n_systems, "systems")
    check_memory(
        2 * rows * options.n_resamples,
        f"{rows:,} {what} each require {options.n_resamples:,} numbers in memory",
        "Pass baseline=... to compare with one system, measures=... to select fewer systems, or a"
        " smaller n_resamples or larger alpha to draw fewer resamples.",
    )


# --------------- Relations between systems, determined by their families

Families = Mapping[Hashable, Any] | Sequence[Any] | Callable[[Any, Any], Any]


def relations(families: Families, systems: list[Hashable], pairs: IntArray) -> AnyArray:
    """Return the relation between the two systems of each pair."""
    if callable(families) and not isinstance(families, Mapping):
        return tables.labels([families(systems[i], systems[j]) for i, j in pairs])
    label = _family_of(families, systems, {systems[k] for k in np.unique(pairs)})
    words = {True: "same", False: "different"}
    same = [bool(label[systems[i]] == label[systems[j]]) for i, j in pairs]
    return tables.labels([words[x] for x in same])


def _family_of(
    families: Mapping[Hashable, Any] | Sequence[Any],
    systems: list[Hashable],
    needed: set[Hashable],
) -> Mapping[Hashable, Any]:
    """Return a mapping from system names to families."""
    if isinstance(families, pd.Series):
        families = families.to_dict()
    if isinstance(families, Mapping):
        for name in systems:
            if name in needed and name not in families:
                raise unknown_name("families", name, families)
        return families
    if isinstance(families, str) or not np.iterable(families) or len(families) != len(systems):
        raise ValueError(
            f"families={families!r}: pass a label for each of the {len(systems)} systems "
            f"{listed(systems)}, as a mapping or in this order, or a function of two names."
        )
    return dict(zip(systems, families, strict=True))
