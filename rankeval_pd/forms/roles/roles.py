"""Define column roles and the allowed values of options."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypedDict, get_args

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import (
    check_choice,
    check_flag,
    check_number,
    listed,
    unknown_keyword,
    unknown_name,
)

# --------------------------------------------------------- The roles of columns, and their defaults

Ties = Literal["shared", "trec", "blocks", "expected", "best", "worst", "error"]
Missing = Literal["raise", "last", "drop", "absent", "ratio"]
Average = Literal["macro", "micro"]
TIES: tuple[Ties, ...] = get_args(Ties)
CUTTING = ("shared", "trec", "blocks", "error")  # every method supports these values
MISSING: tuple[Missing, ...] = get_args(Missing)
Agreement = Literal["majority", "any", "all", "mean", "each"]
AGREEMENTS: tuple[Agreement, ...] = get_args(Agreement)
ANNOTATOR = "annotator"  # the vote dimension in a Dataset, and the column for "each"
MARGINS = "margins"  # the attribute that names the counts used by association measures
CONTINGENCY = ("O11", "O12", "O21", "O22", "E11", "R1", "R2", "C1", "C2", "N")

# roles for a long frame with one row per score
LONG = ("system", "measure", "score", "item")

Names = Hashable | Sequence[Hashable] | None
Seed = int | np.random.Generator | None


class _Shared(TypedDict, total=False):
    """Define the roles shared by rankings and systems scored on items."""

    measures: Names
    exclude: Names
    by: Names
    rng: Seed
    dim: Hashable
    details: bool | None
    score: Names
    item: Names


class _Rankings(_Shared, total=False):
    """Define the roles of rankings except ``ties``."""

    measure: Hashable
    gold: Names
    agreement: Agreement
    positive: Any
    min_grade: float | None
    key: Hashable | None
    label: Names
    groups: Names
    lower_is_better: Names | bool
    missing: Missing


class JudgedRoles(_Rankings, total=False):
    """Define the roles of columns for partly judged rankings."""

    ties: Ties


class RankingRoles(JudgedRoles, total=False):
    """Define the roles of columns for rankings of candidates with a gold label."""

    unjudged: Unjudged | None


class ItemRoles(_Shared, total=False):
    """Define the roles of columns for systems scored on test items."""

    system: Hashable
    metric: str | Callable[[Any], Any] | None
    groups: Names
    weight: Weight | None
    strata: Hashable | None
    average: Average | None
    seeds: Hashable | None
    seed_variance: SeedVariance | None
    missing: Missing
    higher_is_better: bool | None


Weight = Literal["item", "group"]
SeedVariance = Literal["each", "pooled"]
QueryTies = Literal["trec", "shared", "expected"]
QueryMissing = Literal["absent", "raise"]
Unjudged = Literal["negative", "skip", "raise"]
PartlyJudged = Literal["estimate", "bounds"]


class QueryRoles(TypedDict, total=False):
    """Define the roles of columns for queries with graded documents and runs."""

    gold: Hashable | None
    measures: Names
    exclude: Names
    by: Names
    key: Hashable | None
    lower_is_better: Names
    ties: QueryTies
    missing: QueryMissing
    rng: Seed
    dim: Hashable
    details: bool | None
    measure: Hashable
    score: Names
    item: Names
    min_grade: float
    unjudged: Unjudged


class AnyRoles(_Rankings, ItemRoles, total=False):
    """Define the roles of rankings, systems scored on items, and queries."""

    ties: Ties | QueryTies
    unjudged: Unjudged | PartlyJudged


MEANINGS: dict[str, str] = {
    "gold": "The column that marks true positives, with the values True and False, or 1 and 0. The"
    " default is a column named gold, or the only boolean column. For several annotators, pass a"
    " list of columns. You can pass gold, key, label, by and groups as a column, an index level, a"
    " Series or an array.",
    "agreement": "How the votes of several annotators are combined: majority (ties are excluded,"
    " with a warning), any, all, mean (proportion of votes, only for compare), or each (one row"
    " per annotator).",
    "positive": "The value or values of gold that mark true positives.",
    "min_grade": "The lowest grade of a true positive, if gold contains grades.",
    "measures": "The columns to rank or compare. The default is every numeric column without"
    " another role.",
    "system": "The system column in a long frame, which has one row per score.",
    "measure": "The measure or run column in a long frame.",
    "score": "The score column in a long frame. For systems, you can pass a list of a metric's"
    " statistics.",
    "item": "The column(s) that identify items or candidates in a long frame. The default is the"
    " index, or document for runs.",
    "exclude": "Columns to ignore, such as identifiers.",
    "by": "The column(s) that name the query, sample or domain of each row. A column named n"
    " becomes by_n if the result also has a column n.",
    "key": "The column that breaks ties, in ascending order. The default is a hash of the label.",
    "label": "The column(s) or index level(s) that identify a candidate. A hash of the label"
    " breaks ties. The default is the index.",
    "lower_is_better": "The measures whose small values rank first. True means all measures.",
    "ties": "How equal scores are treated: shared, trec, blocks, expected, best, worst or error."
    " The default for retrieval runs (by, key and missing='absent') is trec.",
    "missing": "How missing scores are treated: raise, last, drop or absent (not retrieved). For"
    " systems scored on test items, pass raise or ratio (the score on the available items).",
    "rng": "The seed for ties and resampling. The same seed gives the same results.",
    "dim": "The row dimension of a Dataset.",
    "metric": "The metric: a name, or a function of summed statistics.",
    "groups": "The column that names each row's cluster, if rows are dependent. Pass a list of two"
    " names for crossed factors.",
    "weight": "How items are weighted in the mean if the data have groups: item (default) gives"
    " every item equal weight, and group gives every group equal weight.",
    "strata": "The column that names each item's stratum, such as a task or domain. Items are"
    " resampled within strata.",
    "average": "How strata are combined into one score: macro (default) averages over strata, and"
    " micro pools all items.",
    "seeds": "The column or column level that names the training seed of each score.",
    "seed_variance": "The variance between seeds. By default, each system has its own variance;"
    " pooled uses one variance for all systems.",
    "higher_is_better": "Whether a higher score is better. The default depends on the metric.",
    "details": "True returns all columns. The default is a short table (:func:`set_options`).",
    "unjudged": "How unlabeled candidates are treated: negative, skip (excluded) or raise. For"
    " methods that support partly judged candidates, pass estimate or bounds.",
}
"""The description of each role for docstrings, before wrapping."""


def default_of(role: str, *, items: bool) -> Any:
    """Return a role's default for rankings or for systems scored on items."""
    return "item" if items and role == "dim" else getattr(Roles(), role)


@dataclass(frozen=True)
class Roles:
    """Store the column roles, with defaults filled in."""

    gold: Any = None
    agreement: str = "majority"
    measures: Names = None
    exclude: Names = None
    by: Names = None
    positive: Any = None
    min_grade: float | None = None
    key: Hashable | None = None
    label: Names = None
    lower_is_better: Names | bool = ()
    ties: str = "shared"
    missing: str = "raise"
    rng: int | np.random.Generator | None = 0
    dim: Hashable = "candidate"
    groups: Names = None
    weight: str | None = None
    strata: Hashable | None = None
    average: str | None = None
    seeds: Hashable | None = None
    seed_variance: str | None = None
    metric: str | Callable[[Any], Any] | None = None
    higher_is_better: bool | None = None
    unjudged: str | None = None
    details: bool | None = None
    system: Hashable | None = None
    measure: Hashable | None = None
    score: Names = None
    item: Names = None

    @classmethod
    def configured(cls, keywords: Mapping[str, Any]) -> Roles:
        """Return the checked roles of an accessor, including roles of queries.

        If ``ties`` is not set, queries use a separate default.
        """
        given = {name: x for name, x in keywords.items() if name not in LONG}
        unjudged = given.get("unjudged")
        if unjudged in get_args(PartlyJudged):
            del given["unjudged"]
        known = (None, *get_args(Unjudged), *get_args(PartlyJudged))
        check_choice("unjudged", unjudged, known)
        return cls.of(given)

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Roles:
        """Check the roles without data, and fill in defaults."""
        _refuse_those_of_queries(keywords)
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in known:
                raise unknown_keyword(name, known)
        for name in (name for name in LONG if keywords.get(name) is not None):
            raise ValueError(
                f"{name}={keywords[name]!r}: a long frame must be in memory for this method. Call"
                " data.compute() first, or pass a column for each measure or system."
            )
        roles = replace(cls(), **keywords)
        for name in ("gold", "key", "dim", "groups", "strata", "seeds"):
            given = getattr(roles, name)
            named = name in ("dim", "strata", "seeds")
            several = isinstance(given, list)  # several annotators, or two crossed factors
            if several and (name == "gold" or (name == "groups" and len(given) == 2)):
                given = next((x for x in given if type(x).__hash__ is None), None)
            if type(given).__hash__ is None and (named or not are_values(given)):
                raise TypeError(f"{name}={given!r}: pass the name of one column, not several.")
        for name in ("gold", "key", "dim", "groups", "strata", "seeds", "by", "label"):
            if getattr(roles, name) is pd.NA:
                raise TypeError(f"{name}=<NA> is not a name. Pass the name of a column.")
        check_flag("details", roles.details, none=True)
        check_choice("agreement", roles.agreement, (*AGREEMENTS, "shares"))
        check_choice("ties", roles.ties, TIES)
        check_choice("unjudged", roles.unjudged, (None, *get_args(Unjudged)))
        check_choice("missing", roles.missing, MISSING)
        if roles.ends and roles.by is not None and roles.key is not None and "ties" not in keywords:
            roles = replace(roles, ties="trec")  # the default for retrieval runs
        _check_positive(roles.positive, roles.min_grade)
        check_choice("average", roles.average, (None, *get_args(Average)))
        check_choice("weight", roles.weight, (None, *get_args(Weight)))
        check_choice("seed_variance", roles.seed_variance, (None, *get_args(SeedVariance)))
        _ = roles.seed
        return roles

    @property
    def factors(self) -> list[Any]:
        """Return the names in ``groups``, which are at most two crossed factors."""
        several = self.groups if isinstance(self.groups, list) else [self.groups]
        return [] if self.groups is None else several

    def check_groups(self, *, crossed: bool = False) -> None:
        """Raise a ValueError if the method does not support clusters of candidates.

        If ``crossed`` is true, the method supports one factor but not two crossed factors.
        """
        if len(self.factors) > 1 and crossed:
            raise ValueError(
                f"groups={self.groups!r}: only paired_bootstrap supports two crossed factors with"
                " resampling; only nbest_precision, compare and significant_ranges support them"
                " without it. Pass the factor with fewer levels; if the other factor also has an"
                " effect, the result is overconfident."
            )
        if self.groups is not None and not crossed:
            raise ValueError(
                "groups: this method assumes independent candidates. Print df.rankeval(groups=...)"
                " to list the methods for clusters, none of which supports by= with average=. For"
                " clustered queries, test the result of per_query(metric, wide=True) with"
                " groups=..."
            )

    def check_ends(self) -> None:
        """Raise a ValueError if the method does not support lists that end early."""
        if self.ends:
            raise ValueError(
                "missing='absent' is supported only for n-best lists (nbest_precision, compare,"
                " significant_ranges, odds_ratios, random_test), acceptance sets, curves and"
                " areas. Pass missing='last' to rank candidates without a score at the end."
            )

    def lower(self, measures: Iterable[Hashable], columns: Any) -> list[Hashable]:
        """Return the measures whose small values rank first, and reject unknown names."""
        if isinstance(self.lower_is_better, bool):
            return list(measures) if self.lower_is_better else []
        names = as_names(self.lower_is_better, columns)
        for unknown in (name for name in names if name not in columns):
            raise unknown_name("lower_is_better", unknown, columns)
        return names

    @property
    def ends(self) -> bool:
        """Return whether a measure's list ends with the last scored candidate."""
        return self.missing == "absent"

    def check_ties(self) -> None:
        """Raise a ValueError if the method does not support this value of ``ties``."""
        if self.ties not in CUTTING:
            raise ValueError(
                f"ties={self.ties!r} is supported only by nbest_precision, random_test and the"
                " curves (roc, precision_recall, det, lift, gain); 'expected' also works in"
                " compare, significant_ranges, measure_ranks and summary. Pass one of"
                f" {listed(CUTTING)}."
            )

    @property
    def seed(self) -> int:
        """Return the seed of the tie key: ``rng`` if it is an int, otherwise 0."""
        rng = self.rng
        if rng is None or isinstance(rng, np.random.Generator):
            return 0
        if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer)):
            raise TypeError(
                f"rng={rng!r} is of type {type(rng).__name__}: pass a whole number (a seed), a"
                " numpy.random.Generator, or None for fresh entropy."
            )
        if rng < 0:
            raise ValueError(f"rng={rng!r}: a seed must be 0 or more. Pass another whole number.")
        return int(rng)

    @property
    def swaps(self) -> int:
        """Return the seed for draws that must be independent of the tie key."""
        return int(np.random.SeedSequence([self.draws, 1]).generate_state(1, np.uint64)[0])

    @property
    def noted_seed(self) -> dict[str, int]:
        """Return the attribute that stores the seed of a table's draws, if it is a number."""
        fresh = self.rng is None or isinstance(self.rng, np.random.Generator)
        return {} if fresh else {"seed": int(self.seed)}

    @property
    def draws(self) -> int:
        """Return the seed for random draws: an int ``rng``, or a number from ``rng``."""
        if self.rng is None or isinstance(self.rng, np.random.Generator):
            return int(np.random.default_rng(self.rng).integers(2**63))
        return self.seed


def are_values(given: Any) -> bool:
    """Return whether a role is an array of values instead of a name."""
    return isinstance(
        given, np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray | xr.DataArray
    )


def _refuse_those_of_queries(keywords: Mapping[str, Any]) -> None:
    """Raise a ValueError if ``unjudged`` requires partly judged candidates."""
    given = keywords.get("unjudged")
    if isinstance(given, str) and given in get_args(PartlyJudged):
        raise ValueError(
            f"unjudged={keywords['unjudged']!r} is supported only by judged_precision,"
            " judged_recall, judged_average_precision and judged_difference. Call one of these."
        )


def _check_positive(positive: Any, min_grade: Any) -> None:
    """Raise an error for an invalid grade, or if positive and min_grade are both set."""
    if min_grade is None:
        return
    if positive is not None:
        raise ValueError(
            f"positive={positive!r} with min_grade={min_grade!r}: both define the true positives."
            " Pass only one of them."
        )
    if isinstance(min_grade, (bool, np.bool_)) or not isinstance(
        min_grade, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"min_grade={min_grade!r} is of type {type(min_grade).__name__}. Pass a number, the"
            " lowest grade of a true positive; for other values, pass positive=..."
        )
    check_number("min_grade", min_grade)


def as_names(names: Names, columns: Any) -> list[Hashable]:
    """Return names as a list. A tuple that labels a column counts as one name."""
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        return [names]
    if isinstance(names, tuple) and _is_column(names, columns):
        return [names]
    try:
        return list(dict.fromkeys(names))
    except TypeError:
        raise TypeError(
            f"{names!r} is not a column name. Pass a name (text, a number or a tuple), or a list"
            " of names."
        ) from None


def excluded_names(roles: Roles, known: Iterable[Hashable]) -> list[Hashable]:
    """Return the names in ``exclude``, and reject unknown names."""
    names = dict.fromkeys(known)  # a dict finds pd.NA, which is not equal to itself
    out = as_names(roles.exclude, names)
    for unknown in (name for name in out if name not in names):
        raise unknown_name("exclude", unknown, names)
    for name in as_names(roles.measures, names):
        if name in set(out):
            raise ValueError(
                f"measures and exclude both contain {name!r}. Omit exclude, which is unnecessary"
                " with measures=..."
            )
    return out


def _is_column(name: Hashable, columns: Any) -> bool:
    try:
        return name in set(columns)
    except TypeError:
        return False


# -------------------------------------------------------------------------------------------------
# Types for type checkers: the choices for options, and list sizes.
# At run time, the choices come from tables in the kernels. A test compares the two.

ListSizes = float | Sequence[float] | range | np.ndarray[Any, np.dtype[Any]] | None
"""List sizes: whole numbers, fractions between 0 and 1, or None for every n."""

Adjustment = Literal["holm", "bonferroni", "bh", "by"]
FamilyAdjustment = Literal["holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"]
AdjustOver = Literal["all", "group"]
ListsAdjustOver = Literal["all", "n", "group"]
EachAdjustOver = Literal["n", "group"]
Alternative = Literal["two-sided", "greater", "less"]
AreaInterval = Literal["newcombe", "delong", "logit"]
AreaKind = Literal["roc", "ap"]
ComparedKind = Literal["roc", "ap", "partial", "bedroc", "enrichment"]
AreaTest = Literal["t", "delong"]
Bound = Literal["critical", "discrete", "interpolated", "parametric"]
CalibrationInterval = Literal["clopper-pearson", "systems"]
ComparedShare = Literal["precision", "recall", "lift", "specificity", "npv"]
DifferenceInterval = Literal["score", "newcombe", "agresti-caffo", "miettinen-nurminen", "delta"]
Draw = Literal["prefix", "random"]
EqualScores = Literal["block", "mean"]
Event = Literal["wild", "recentred", "strict", "zero", "bias-corrected", "studentised"]
GainInterval = Literal[
    "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"
]  # fmt: skip
LawMethod = Literal["auto", "exact", "monte-carlo"]
CurveInterval = Literal["pointwise", "simultaneous"]
MeanTest = Literal["bootstrap", "t"]
PermutationTest = Literal["swaps", "t", "wilcoxon"]
PopulationKind = Literal["finite", "infinite"]
ProportionInterval = Literal["clopper-pearson", "wilson", "jeffreys", "midp", "blaker"]
RankKind = Literal["simultaneous", "percentile"]
RecallBand = Literal["clopper-pearson", "emproc", "emproc-plus"]
RegionTest = Literal["fisher", "midp", "mcnemar", "boschloo", "barnard", "score", "kosinski"]
ScoreInterval = Literal["wild", "clopper-pearson", "bca", "percentile", "basic"]
Space = Literal["roc", "precision_recall", "det", "lift", "gain"]
TailMethod = Literal["discrete", "interpolated", "parametric"]
Target = Literal["region", "nbest"]
TextMetric = Literal["bleu", "chrf", "ter"]
ThresholdInterval = Literal["order", "systems"]
Across = Literal["n", "share", "recall"]
