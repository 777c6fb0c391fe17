"""Find out which column of the data has which role."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, get_args

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.types import is_bool_dtype

from rankeval_pd.errors import (
    check_choice,
    check_count,
    check_flag,
    check_known,
    check_number,
    choices_of,
    is_known,
    listed,
    refuse_combinations,
    shown,
    unknown_keyword,
    unknown_name,
    warn,
)
from rankeval_pd.stats import FloatArray
from rankeval_pd.tables import FrameOrDataset, Keywords, Options, is_missing, listed_in

# -------------------------------------------------------------------------------------------------
# Define column roles and the allowed values of options.

# --------------------------------------------------------- The roles of columns, and their defaults

Ties = Literal["shared", "trec", "expected", "best", "worst", "error"]
Missing = Literal["raise", "last", "drop", "absent", "ratio"]
Average = Literal["macro", "micro"]
CUTTING = ("shared", "trec", "error")  # every method supports these values
Agreement = Literal["majority", "any", "all", "each"]
ANNOTATOR = "annotator"  # the vote dimension in a Dataset, and the column for "each"
MARGINS = "margins"  # the attribute that names the counts used by association measures
CONTINGENCY = ("O11", "O12", "O21", "O22", "E11", "R1", "R2", "C1", "C2", "N")

# roles for a long frame with one row per score
LONG = ("system", "measure", "score", "item")

SCORED = ("measures", "lower_is_better")  # roles of scores, which some methods do not read

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
    progress: bool | None
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
QueryTies = Literal["trec", "expected"]
QueryMissing = Literal["absent"]
Unjudged = Literal["negative", "skip"]
PartlyJudged = Literal["estimate", "bounds"]


class QueryRoles(_Shared, total=False):
    """Define the roles of columns for queries with graded documents and runs."""

    gold: Hashable | None
    key: Hashable | None
    lower_is_better: Names
    ties: QueryTies
    missing: QueryMissing
    measure: Hashable
    min_grade: float
    unjudged: Unjudged


class AnyRoles(_Rankings, ItemRoles, total=False):
    """Define the roles of rankings, systems scored on items, and queries."""

    ties: Ties | QueryTies
    unjudged: Unjudged | PartlyJudged


MEANINGS: dict[str, str] = {
    "gold": "The column that marks true positives, with the values True and False, or 1 and 0. The"
    " default is a column named gold, or the only boolean column. For several annotators, pass a"
    " list of columns. gold, key, label, by and groups can also name an index level.",
    "agreement": "How the votes of several annotators are combined: majority (ties are excluded,"
    " with a warning), any, all, or each (one row per annotator).",
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
    "ties": "How equal scores are treated: shared, trec, expected, best, worst or error."
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
    "seeds": "The column level, or the column of a long frame, that names the training seed.",
    "seed_variance": "The variance between seeds. By default, each system has its own variance;"
    " pooled uses one variance for all systems.",
    "higher_is_better": "Whether a higher score is better. The default depends on the metric.",
    "details": "True returns all columns. The default is a short table (:func:`set_options`).",
    "progress": "Whether to show a progress bar. By default, the bar appears after two seconds.",
    "unjudged": "How unlabeled candidates are treated: negative or skip (excluded). The default is"
    " an error. For methods that support partly judged candidates, pass estimate or bounds.",
}
"""The description of each role for docstrings, before wrapping."""


def default_of(role: str, *, items: bool) -> Any:
    """Return a role's default for rankings or for systems scored on items."""
    if items and role == "dim":
        return "item"
    return getattr(Roles(), role)


_TWICE = [("positive", "min_grade", "Both define the true positives: pass only one of them.")]


@dataclass(frozen=True)
class Roles:
    """Store the column roles, with defaults filled in."""

    gold: Any = None
    agreement: Agreement = "majority"
    measures: Names = None
    exclude: Names = None
    by: Names = None
    positive: Any = None
    min_grade: float | None = None
    key: Hashable | None = None
    label: Names = None
    lower_is_better: Names | bool = ()
    ties: Ties = "shared"
    missing: Missing = "raise"
    rng: int | np.random.Generator | None = 0
    dim: Hashable = "candidate"
    groups: Names = None
    weight: Weight | None = None
    strata: Hashable | None = None
    average: Average | None = None
    seeds: Hashable | None = None
    seed_variance: SeedVariance | None = None
    metric: str | Callable[[Any], Any] | None = None
    higher_is_better: bool | None = None
    unjudged: Unjudged | None = None
    details: bool | None = None
    progress: bool | None = None
    system: Hashable | None = None
    measure: Hashable | None = None
    score: Names = None
    item: Names = None

    @classmethod
    def configured(cls, keywords: Keywords) -> Roles:
        """Return the checked roles of an accessor, including roles of partly judged rankings."""
        roles = {name: x for name, x in keywords.items() if name not in LONG}
        unjudged = roles.get("unjudged")
        if isinstance(unjudged, str) and unjudged in get_args(PartlyJudged):
            del roles["unjudged"]
        return cls.of(roles)

    @classmethod
    def of(cls, keywords: Keywords) -> Roles:
        """Check the roles without data, and fill in defaults."""
        for name, value in keywords.items():
            if name not in cls.__dataclass_fields__:
                raise unknown_keyword(name, list(cls.__dataclass_fields__))
            if name in LONG and value is not None:
                raise ValueError(
                    f"{name}={value!r}: a long frame must be in memory for this method. Call"
                    " data.compute() first, or pass a column for each measure or system."
                )
            check_names(name, value)
        roles = cls(**keywords)
        check_flag("details", roles.details, none=True)
        check_flag("progress", roles.progress, none=True)
        for name, choices in choices_of(cls.__init__).items():
            check_choice(name, getattr(roles, name), choices)
        refuse_combinations(keywords, _TWICE)
        if roles.min_grade is not None:
            check_number("min_grade", roles.min_grade)
        ordered = roles.by is not None and roles.key is not None
        if ordered and "ties" not in keywords and roles.ends:
            roles = replace(roles, ties="trec")  # the default for retrieval runs
        _ = roles.seed
        return roles

    @property
    def factors(self) -> list[Any]:
        """Return the names in ``groups``, which are at most two crossed factors."""
        if self.groups is None:
            return []
        if isinstance(self.groups, list):
            return self.groups
        return [self.groups]

    def check_groups(self, *, crossed: bool = False) -> None:
        """Raise a ValueError if the method does not support clusters of candidates.

        If ``crossed`` is true, the method supports one factor but not two crossed factors.
        """
        if self.groups is None or (crossed and len(self.factors) < 2):
            return
        advice = (
            "this method assumes independent candidates. Print df.rankeval(groups=...) to list"
            " others."
        )
        if self.by is not None:
            advice += " For clustered queries, test per_query(metric, wide=True) with groups=..."
        if crossed:
            advice = (
                "two crossed factors are supported only by nbest_precision, compare and"
                " significant_ranges without resampling, and by paired_bootstrap and system_ranks."
                " Pass the factor with fewer levels; if the other one has an effect, the result is"
                " overconfident."
            )
        raise ValueError(f"groups={shown(self.groups)}: {advice}")

    def lower(self, measures: Iterable[Hashable], columns: Any) -> list[Hashable]:
        """Return the measures whose small values rank first, and reject unknown names."""
        if self.lower_is_better is True:
            return list(measures)
        if self.lower_is_better is False:
            return []
        names = as_names(self.lower_is_better, columns)
        check_known("lower_is_better", names, columns)
        return names

    @property
    def ends(self) -> bool:
        """Return whether a measure's list ends with the last scored candidate."""
        return self.missing == "absent"

    def check_ties(self) -> None:
        """Raise a ValueError if the method does not support this value of ``ties``."""
        if self.ties not in CUTTING:
            raise ValueError(
                f"ties={self.ties!r} is supported only by nbest_precision and the curves"
                " (roc, precision_recall, det, lift, gain); 'expected' also works in"
                " compare, significant_ranges, measure_ranks and summary. Pass one of"
                f" {listed(CUTTING)}."
            )

    @property
    def seed(self) -> int:
        """Return the seed of the tie key: ``rng`` if it is an int, otherwise 0."""
        if self.draws_differ:
            return 0
        return check_count("rng", self.rng, least=0)

    @property
    def draws_differ(self) -> bool:
        """Return whether each call draws anew, because ``rng`` is no number."""
        return self.rng is None or isinstance(self.rng, np.random.Generator)

    @property
    def swaps(self) -> int:
        """Return the seed for draws that must be independent of the tie key."""
        return int(np.random.SeedSequence([self.draws, 1]).generate_state(1, np.uint64)[0])

    @property
    def noted_seed(self) -> dict[str, int]:
        """Return the attribute that stores the seed of a table's draws, if it is a number."""
        if self.draws_differ:
            return {}
        return {"seed": self.seed}

    @property
    def draws(self) -> int:
        """Return the seed for random draws: an int ``rng``, or a number from ``rng``."""
        if self.draws_differ:
            return int(np.random.default_rng(self.rng).integers(2**63))
        return self.seed


def are_values(given: Any) -> bool:
    """Return whether a role is an array of values instead of a name."""
    return isinstance(
        given, np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray | xr.DataArray
    )


#: roles that name columns, and those of them in which a list can name several
_SEVERAL = frozenset("gold by label groups score item".split())
_NAMING = _SEVERAL.union("key dim strata seeds system measure".split())


def check_names(role: str, given: Any) -> None:
    """Raise an error if a role that names columns is given as values, or names no column."""
    if role in ("gold", "measures") and isinstance(given, list | tuple | Mapping) and not given:
        raise ValueError(f"{role}={given!r} contains no names. Pass one or more, or omit {role}.")
    if given is None or role not in _NAMING:
        return
    parts = [given]
    if isinstance(given, list) and role in _SEVERAL and (role != "groups" or len(given) == 2):
        parts = given
    for part in parts:
        several = type(part).__hash__ is None and role not in ("by", "label", "score", "item")
        if are_values(part) or several or part is pd.NA or (isinstance(part, tuple) and not part):
            raise TypeError(
                f"{role}={told_role(part)} is not the name of one column or dimension. Pass a name;"
                f" for values, add a column, data['part'] = ... (data['part', ''] = ... beside"
                f" two-level columns), and pass {role}='part'."
            )


def told_role(given: Any) -> str:
    """Return a role as text, without values."""
    if are_values(given):
        return f"<{type(given).__name__}>"
    return shown(given)


def as_names(names: Names, columns: Any) -> list[Hashable]:
    """Return names as a list. A tuple that labels a column counts as one name."""
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        return [names]
    if isinstance(names, tuple) and names and is_known(names, columns):
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
    if roles.exclude is None:
        return []
    out = as_names(roles.exclude, names)
    check_known("exclude", out, names)
    for name in as_names(roles.measures, names):
        if name in set(out):
            raise ValueError(
                f"measures and exclude both contain {name!r}. Omit exclude, which is unnecessary"
                " with measures=..."
            )
    return out


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
AgreementKind = Literal["nominal", "linear", "quadratic"]
Alternative = Literal["two-sided", "greater", "less"]
AreaInterval = Literal["newcombe", "delong"]
AreaKind = Literal["roc", "ap"]
AreaTest = Literal["t", "delong"]
Bound = Literal["critical", "discrete", "interpolated", "parametric"]
CalibrationInterval = Literal["clopper-pearson", "systems"]
ComparedShare = Literal["precision", "recall", "lift"]
ComparedRate = Literal["precision", "recall", "specificity", "npv", "f1"]
Event = Literal["wild", "recentred", "strict", "zero"]
GainInterval = Literal["wild", "percentile", "basic", "tango"]
LawMethod = Literal["auto", "monte-carlo"]
CurveInterval = Literal["pointwise", "simultaneous"]
MeanTest = Literal["bootstrap", "t"]
PermutationTest = Literal["swaps", "t", "wilcoxon"]
PopulationKind = Literal["finite", "infinite"]
ProportionInterval = Literal["clopper-pearson", "wilson", "jeffreys"]
BandOf = Literal["precision", "recall"]
RegionTest = Literal["fisher", "midp", "mcnemar"]
SetTest = Literal["kosinski", "fisher", "unconditional", "proportions"]
Space = Literal["roc", "precision_recall", "det", "lift", "gain"]
TailMethod = Literal["discrete", "interpolated", "parametric"]
Target = Literal["region", "nbest"]
TargetOfPair = Literal["both", "region", "nbest"]
TextMetric = Literal["bleu", "chrf", "ter"]
ThresholdInterval = Literal["order", "systems"]


# -------------------------------------------------------------------------------------------------
# Refuse labels that mix text with other types, because 7 and "7" would be two labels.

#: the roles whose columns identify or group rows
IDENTIFYING = frozenset("by groups strata seeds key label item system measure".split())


def check_types(labels: pd.Series | pd.Index, role: str, name: Hashable) -> None:
    """Raise a TypeError if labels mix text with other types."""
    if isinstance(labels.dtype, pd.CategoricalDtype) and labels.dtype.categories.dtype == object:
        labels = labels.drop_duplicates().astype(object)  # unused categories are no labels
    if labels.dtype == object and pd.api.types.infer_dtype(labels) != "string":
        check_kinds({type(x) for x in labels.dropna()}, role, name)


def check_kinds(kinds: AbstractSet[type], role: str, name: Hashable) -> None:
    """Raise a TypeError if the types of the labels are text and others."""
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        raise TypeError(
            f"{role}={name!r} mixes names of types {', '.join(sorted(x.__name__ for x in kinds))}:"
            " 7 and '7' would be two. Convert the names to one type, data[...].astype(str), or read"
            f" them as text: pd.read_csv(..., dtype={{{name!r}: str}})."
        )


def check_levels(labels: pd.Index) -> None:
    """Raise a TypeError if a named level of an index mixes text with other types."""
    for level, name in enumerate(labels.names):
        if name is not None:
            check_types(labels.get_level_values(level), "index", name)


# -------------------------------------------------------------------------------------------------
# Warn about duplicate measures, and refuse missing names.


def refuse_taken(added: Iterable[Hashable], taken: Iterable[Hashable]) -> None:
    """Raise a ValueError if the data have a column that the result adds."""
    for name in added:
        if name in taken:
            raise ValueError(
                f"data has a column {name!r}, but the result adds a column of the same name."
                f" Rename the column: data.rename(columns={{{name!r}: ...}})."
            )


def check_pair(a: Hashable, b: Sequence[Hashable]) -> None:
    """Raise a ValueError unless ``a`` is passed with ``b``, and differs from ``b``."""
    if b and a is None:
        raise ValueError(f"b={shown(b[0])} without a: pass both, a= and b=.")
    if is_known(a, b):
        raise ValueError(f"a and b both name {shown(a)}: pass two different names.")


def refuse_missing(values: pd.Series, role: str, name: Hashable) -> None:
    """Raise a ValueError if a column that identifies or groups rows has missing values."""
    if missing := int(values.isna().sum()):
        raise ValueError(
            f"{role}={name!r} has {missing} missing values, but every row needs one. Fill in these"
            f" values, or drop the rows: data.dropna(subset=[{name!r}])."
        )


def warn_of_same_order(measures: Sequence[Hashable], same: Sequence[int]) -> None:
    """Warn about measures that rank all candidates identically."""
    sets = [
        [measures[k] for k in range(len(same)) if same[k] == first] for first in dict.fromkeys(same)
    ]
    alike = [names for names in sets if len(names) > 1]
    told = "; ".join(listed(names) for names in alike[:4])
    copies = [name for names in alike for name in names[1:]]
    warn(
        f"measures: {told} rank all candidates identically and count as one measure when p-values"
        f" are adjusted. Exclude the copies, exclude={copies!r}, or list your measures,"
        " measures=[...]."
    )


# -------------------------------------------------------------------------------------------------
# Find the gold label, measures and other roles, and the form of the data.

# ----------------------------------------------- Find the gold label and the measures


def native(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with numbers in native byte order, which pandas requires."""
    result = frame
    for place, (_, column) in enumerate(frame.items()):
        if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
            if result is frame:
                result = frame.copy(deep=False)
            result.isetitem(place, column.to_numpy().astype(column.dtype.newbyteorder("=")))
    return result


def with_columns(frame: pd.DataFrame, columns: Keywords) -> pd.DataFrame:
    """Add columns to a frame, which can have a multi-level header."""
    if frame.columns.nlevels == 1:
        return frame.assign(**columns)
    result = frame.copy(deep=False)
    for name, values in columns.items():
        result[name, *[""] * (frame.columns.nlevels - 1)] = values
    return result


def frame_column(frame: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return a column by label, or an index level by name."""
    columns = frame.columns
    result: Any = None
    if isinstance(columns, pd.MultiIndex) and name not in set(columns):
        # the columns below the name, without a sorting warning from pandas
        result = [place for place, label in enumerate(columns) if name in {label[0]}]
        if len(result) < 2:
            result = next(iter(result), None)
    else:
        with suppress(KeyError, TypeError, pd.errors.InvalidIndexError):
            result = columns.get_loc(name)
    if result is None:
        if role in ("by", "groups", "strata", "seeds") and is_known(name, frame.index.names):
            level = list(frame.index.names).index(name)
            return frame.index.get_level_values(level).to_series(index=frame.index)
        known = [*frame.columns]
        if role not in ("measures", "cells"):
            known += [level for level in frame.index.names if level is not None]
        raise unknown_name(role, name, known)
    if not isinstance(result, int):
        times = np.arange(frame.shape[1])[result].size
        raise ValueError(
            f"{role}: data has {times} columns named {name!r}. Rename or drop all but one of them;"
            " data.columns.duplicated() shows repeated names."
        )
    column = frame.iloc[:, result]
    if role in IDENTIFYING:
        check_types(column, role, name)
    return column


def variables_by_column(
    data: xr.Dataset, dim: Hashable, golds: Sequence[Hashable]
) -> dict[Hashable, tuple[Hashable, xr.Variable]]:
    """Return the variables along ``dim`` by column, with their names in the data.

    A variable along ``measure`` is one column for each measure, and a gold label along
    ``annotator`` one for each annotator.
    """
    columns: dict[Hashable, tuple[Hashable, xr.Variable]] = {}
    for name, variable in data.data_vars.items():
        if dim not in variable.dims:
            continue
        parts = {name: (name, variable.variable)}
        along = ANNOTATOR if name in golds else "measure"
        if along in variable.dims:
            labels = enumerate(data[along].to_numpy().tolist())
            parts = {x: (name, variable.variable.isel({along: k})) for k, x in labels}
        if twice := [x for x in parts if x in columns or (x != name and x in data.data_vars)]:
            raise ValueError(
                f"measures: the Dataset has several measures named {twice[0]!r}, as variables or"
                " along the dimension 'measure'. Rename or drop all but one of them."
            )
        columns |= parts
    return columns


def header_of(data: xr.Dataset, roles: Roles) -> pd.DataFrame:
    """Return a frame without rows, whose columns are the variables of a Dataset."""
    columns = {}
    for name, (_, variable) in variables_by_column(data, roles.dim, ()).items():
        columns[name] = variable.dtype
    for name in (roles.gold, roles.key, *roles.factors):
        if isinstance(name, Hashable) and name in data.coords:
            columns[name] = data[name].dtype
    header = pd.DataFrame({k: pd.Series(dtype=x) for k, x in enumerate(columns.values())})
    header.columns = pd.Index(list(columns), tupleize_cols=False)
    header.attrs = data.attrs
    return header


def is_score(dtype: Any) -> bool:
    """Return whether a column of this dtype can contain scores."""
    api = pd.api.types
    return (
        api.is_numeric_dtype(dtype)
        and not api.is_bool_dtype(dtype)
        and not api.is_complex_dtype(dtype)
    ) or (isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered))


def with_roles_of(gold: Hashable, roles: Roles, columns: Any) -> list[Hashable]:
    """Return the names of columns with a role other than measure."""
    named = [gold, *as_names(roles.by, columns)]
    if roles.key is not None:
        named.append(roles.key)
    return [*named, *as_names(roles.groups, columns), *as_names(roles.label, columns)]


_ITEMS = "Omit {0}, or call paired_bootstrap, paired_permutation, system_ranks or gain_by_size."
#: roles that only systems scored on test items have, and what to do with a ranking
_OF_SYSTEMS_ALONE = {
    "higher_is_better": "Pass the measures whose small values rank first as lower_is_better=...",
    **dict.fromkeys(("metric", "strata", "seeds", "average", "weight", "seed_variance"), _ITEMS),
}


def refuse_foreign(given: Keywords, foreign: Mapping[str, str], kind: str) -> None:
    """Raise a ValueError for a role of another kind of data; ``foreign`` says what to do."""
    for role, advice in foreign.items():
        if given.get(role) is not None:
            raise ValueError(
                f"{role}={told_role(given[role])} applies only to {kind}. {advice.format(role)}"
            )


def find_gold(data: pd.DataFrame, roles: Roles) -> Hashable:
    """Return the gold label: the role, column ``gold``, or the only boolean column."""
    refuse_foreign(vars(roles), _OF_SYSTEMS_ALONE, "systems scored on test items")
    check_choice("missing", roles.missing, get_args(Missing)[:-1])
    columns = dict.fromkeys(data.columns)
    if isinstance(roles.gold, list):  # votes are combined earlier if data are in memory
        raise ValueError(
            f"gold={shown(roles.gold)} names several annotators, but data is lazy. First compute a"
            " label per candidate, for example ddf.assign(gold=ddf[['a1', 'a2',"
            " 'a3']].mean(axis=1) > 0.5)."
        )
    if roles.gold is not None:
        gold: Hashable = roles.gold
        check_known("gold", [gold], columns)
        return gold
    if "gold" in columns:
        return "gold"
    dtypes = data.dtypes[~data.columns.duplicated()]
    flags = [name for name, dtype in dtypes.items() if is_bool_dtype(dtype)]
    if len(flags) == 1:
        return flags[0]
    told = f"no column is boolean or named 'gold' (columns: {listed(columns, most=6)})"
    advice = "or for systems scored on test items, call paired_bootstrap"
    if flags:
        told = f"it could be any of {listed(flags, most=6)}"
    elif "grade" in columns:
        advice = "such as gold='grade' with min_grade=1, or call per_query('AP')"
    raise ValueError(
        f"gold is not given, and {told}. Pass the column that marks true positives as gold=...,"
        f" {advice}."
    )


def measures_of(data: FrameOrDataset, options: Keywords, *, every: bool = True) -> list[Hashable]:
    """Return the measures, or an empty list if the measures are unclear."""
    known = {}
    for role in Roles.__dataclass_fields__:
        if role in options and not (every and role == "measures"):
            known[role] = options[role]
    try:
        roles = Roles.of(known)
        if isinstance(roles.gold, list):
            out = [*as_names(roles.exclude, ()), *roles.gold[1:]]
            roles = replace(roles, gold=roles.gold[0], exclude=out)
        if isinstance(data, xr.Dataset):
            data = header_of(data, roles)
        taken = with_roles_of(find_gold(data, roles), roles, data.columns)
        found = find_measures(data, roles, taken, needed=True)
    except (ValueError, TypeError, KeyError):  # the called method raises the error
        return []
    for place, name in enumerate(found):
        if is_missing(name):  # tables contain missing names as NaN
            found[place] = np.nan
    return found


def find_measures(
    data: pd.DataFrame, roles: Roles, taken: list[Hashable], *, needed: bool
) -> list[Hashable]:
    """Return the measures, by default every numeric column without a role.

    If the function needs no measure, the list is empty unless unscored candidates are dropped.
    """
    columns = dict.fromkeys(data.columns)
    out = excluded_names(roles, columns)
    if roles.measures is not None:
        names = as_names(roles.measures, columns)
        check_known("measures", names, columns)
        if is_known(taken[0], names):
            raise ValueError(
                f"measures: {taken[0]!r} is the gold label and cannot be a measure. Omit it."
            )
    else:
        beside = {*taken, *out, *CONTINGENCY}
        if MARGINS in data.attrs:
            beside.update(listed_in(data.attrs, MARGINS))
        kept: dict[Hashable, bool] = {}
        for name, dtype in zip(data.columns, data.dtypes, strict=True):
            if name not in beside:  # of columns with the same name, all must be scores
                kept[name] = kept.get(name, True) and is_score(dtype)
        names = list(filter(kept.get, kept))
    if not needed and roles.missing != "drop":
        return []
    if needed and not names:
        advice = "Add a column with the scores of each measure"
        if "O11" in columns:
            advice = "Call .rankeval.with_association_measures() to add scores"
        raise ValueError(
            f"measures: every numeric column has another role (columns: {listed(columns)})."
            f" {advice}, or pass the columns as measures=..."
        )
    return names


def signs_of(measures: list[Hashable], roles: Roles, columns: Any) -> FloatArray:
    """Return -1 for measures that rank small scores first, and 1 for other measures."""
    signs = dict.fromkeys(measures, 1.0)
    signs.update(dict.fromkeys(roles.lower(measures, columns), -1.0))
    return np.array(list(signs.values())[: len(measures)])


# ------------------------------------------------- Functions for rankings, items and queries


def refuse_dim(dim: Hashable, own: str) -> None:
    """Raise a ValueError if ``dim`` is passed with a DataFrame."""
    if dim != own:
        raise ValueError(
            f"dim={shown(dim)} names a dimension of a Dataset, but data is a DataFrame. Omit dim."
        )


def refuse_by(by: Any, dim: Hashable) -> None:
    """Raise a ValueError if ``by`` is passed with a Dataset."""
    if are_values(by) or as_names(by, ()):
        raise ValueError(
            f"by={told_role(by)} is for DataFrames, but a Dataset stores groups along dimensions"
            f" other than {dim!r}. Omit by; to add such a dimension, use data.groupby and unstack,"
            " which pad smaller groups with NaN."
        )


# -------------------------------------------------------------------------------------------------
# Detect rankings, systems scored on test items, pairs of systems, runs, and 2x2 tables.

Form = Literal["rankings", "items", "pairs"]


def form_of(data: FrameOrDataset, keywords: Keywords) -> Form:
    """Guess whether the data are rankings, systems scored on items, or system pairs."""
    if all(name in data for name in ("system_a", "system_b", "gain", "p_value")):
        return "pairs"
    keywords = {**usual_roles(data, keywords), **keywords}
    given = {role for role, value in keywords.items() if value is not None}
    if given & {"system", *_OF_SYSTEMS_ALONE}:
        return "items"
    if given & _OF_RANKINGS:
        return "rankings"
    if isinstance(data, xr.Dataset):
        items = "system" in data.dims and keywords.get("dim", "item") in data.dims
    elif data.columns.nlevels == 2:
        items = True
    else:  # several numbers, or several records of right and wrong answers, and no gold label
        numbers, flags = (sum(map(kind, data.dtypes)) for kind in (is_score, is_bool_dtype))
        several = (numbers > 1 and not flags) or (flags > 1 and not numbers)
        several |= data.columns.size == 1 + len(given & {"by", "groups"})  # a single system
        labeled = not {"gold", "grade"}.isdisjoint(data.columns)
        items = several and not labeled and not {*data.columns} >= _CELLS
    return "items" if items else "rankings"


#: roles that only rankings have; and 2x2 cell counts
_OF_RANKINGS = frozenset("gold key label positive min_grade measure".split())
_CELLS = frozenset({"O11", "O12", "O21", "O22"})


def are_queries(data: pd.DataFrame, keywords: Keywords) -> bool:
    """Return whether the data are runs and judgments from read_trec."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "by", "groups"))
    return not told and "grade" in data.columns and "query" in (*data.columns, *data.index.names)


def awaits_measures(data: FrameOrDataset, keywords: Keywords) -> bool:
    """Return whether the data have 2x2 cell counts and no gold label."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "min_grade"))
    if told or not isinstance(data, pd.DataFrame) or not {*data.columns} >= _CELLS:
        return False
    return "gold" not in data.columns and not any(map(is_bool_dtype, data.dtypes))


# -------------------------------------------------------------------------------------------------
# Reshape long frames to one column for each system or measure.

#: usual names of the columns of a long frame, by what they are
USUAL = {
    "query": ("query", "qid", "query_id", "user", "user_id"),
    "document": ("document", "docno", "doc_id", "docid", "item", "item_id"),
    "grade": ("gold", "grade", "label", "relevance"),
    "run": ("run", "model", "system", "measure", "name", "tag"),
}
_RENAMED = ("query", "document", "grade")


def usual_roles(data: Any, keywords: Keywords) -> dict[str, Any]:
    """Return the roles of a long frame whose columns have usual names, or {} if there is doubt.

    ``query``, ``document`` and ``grade`` are the columns of runs and judgments, which have these
    names then, so that other roles may name them.
    """
    if not isinstance(data, pd.DataFrame) or data.columns.nlevels > 1 or "score" not in data:
        return {}
    there = {kind: [x for x in names if x in data] for kind, names in USUAL.items()}
    found = {kind: names[0] for kind, names in there.items() if names}
    renamed = {*_RENAMED, *(found[x] for x in _RENAMED if x in found)}
    named = [keywords.get(x) for x in (*_NAMING, "measures", "exclude")]
    known = all(x is None or (isinstance(x, str) and x in renamed) for x in named)
    if not known or not data.columns.is_unique:
        return {}
    several = any(len(names) > 1 for names in there.values())
    dtypes = dict(data.infer_objects().dtypes)  # numbers beside None are objects
    numbers = {x for x in data if is_score(dtypes[x]) or is_bool_dtype(dtypes[x])}
    rest = numbers - {"score", "rank", *found.values()}
    run, grade = found.pop("run", None), found.get("grade")
    if several or rest or run is None or run in numbers or "score" not in numbers:
        return {}
    if grade is not None and (grade not in numbers or "document" not in found):
        return {}
    if grade is None and len(found) != 1:
        return {}
    items = [found[x] for x in ("query", "document") if x in found]
    again = bool(items) and not data.duplicated([*items, run]).any()
    long = again and (data.duplicated(items).any() or len(data[run].dropna().unique()) == 1)
    unnamed = data[run].isna()  # judged documents that no run retrieved
    if grade is not None:
        unnamed &= data["score"].notna()
    if not long or unnamed.any() or data[items].isna().any(axis=None):
        return {}
    role = "system"
    if grade is not None:
        role = "measure"
    usual = {role: run, "score": "score"}
    if len(items) == 2:
        return {**usual, **found}
    if grade is not None:
        usual["gold"] = grade
    return {**usual, "item": items[0]}


def with_usual_roles(
    data: Any, keywords: Keywords, taken: Iterable[str] = LONG
) -> tuple[Any, Keywords]:
    """Return a long frame whose columns have usual names with their roles; others as they are.

    ``taken`` are the roles that the function takes.
    """
    usual = usual_roles(data, keywords)
    if "measure" in usual and "measure" not in taken:
        raise ValueError(
            f"data is a long frame of rankings by {usual['measure']!r}, but this method compares"
            " systems scored on test items. For retrieved documents, call per_query('nDCG@10',"
            " wide=True) first; for items, pass system=, score= and item=."
        )
    names = {usual.pop(x): x for x in _RENAMED if x in usual}
    if names:
        data = data.rename(columns=names)
        told = {role: names.get(keywords.get(role)) for role in _NAMING}
        usual |= {role: name for role, name in told.items() if name is not None}
    return data, {**keywords, **usual}


_OF_ITEMS = ("by", "strata", "groups")
_OF_CANDIDATES = ("gold", "key", "label", "groups")


def widened(data: Any, roles: Keywords) -> tuple[Any, Options]:
    """Reshape data to one column per system or measure, and return the other roles.

    Data without roles for a long frame are returned unchanged.
    """
    given = {name: roles[name] for name in LONG if roles.get(name) is not None}
    rest = {name: x for name, x in roles.items() if name not in LONG}
    if not given:
        return data, rest
    if "system" in given and rest.get("gold") is not None:  # with labels, rankings
        given["measure"] = given.pop("system")
    told = ", ".join(f"{name}={shown(x, 20)}" for name, x in given.items())
    complete = len({"system", "measure"} & set(given)) == 1 and "score" in given
    table = isinstance(data, pd.DataFrame) and data.columns.nlevels == 1 and len(data) > 0
    if not complete or not table:
        raise ValueError(
            f"{told}: a long frame is an in-memory DataFrame with a row per score. Pass"
            " system='...' or measure='...', score='...', and item='...' unless the index names"
            " items; for one column per system, omit them or pass label=..."
        )
    frame = data
    levels = [x for x in data.index.names if x is not None and x not in data.columns]
    if levels:
        frame = data.reset_index(level=levels)
    named = {name: _names(name, x, frame) for name, x in {**rest, **given}.items()}
    if "system" in given:
        return _wide_by_system(frame, named, levels, rest)
    return _wide_by_measure(frame, named, levels, rest)


def _names(role: str, given: Any, frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns with a role, and reject unknown names."""
    if role not in (*LONG, *_OF_ITEMS, *_OF_CANDIDATES, "seeds"):
        return []
    check_names(role, given)
    names = as_names(given, frame.columns)
    for name in names:
        frame_column(frame, name, role)  # rejects unknown names and labels of several types
    return names


def _wide_by_system(
    frame: pd.DataFrame, named: Mapping[str, list[Hashable]], levels: Sequence[Hashable], rest: Any
) -> tuple[pd.DataFrame, Options]:
    """Return one column per system, statistic and seed, indexed by item."""
    columns = [*named["system"], *named.get("seeds", [])]
    items = named.get("item") or [x for x in levels if x not in columns]
    beside = [name for role in _OF_ITEMS for name in named.get(role, [])]
    rows = _row_labels(frame, items, "system", columns, beside)
    wide = _wide_scores(frame, rows, columns, named["score"], "system")
    header = [*columns]
    header[0] = "system"
    if len(named["score"]) > 1:
        wide = wide.swaplevel(0, 1, axis=1)
        header.insert(1, "statistic")
    else:
        wide = wide.droplevel(0, axis=1)
    wide.columns.names = header
    found = frame[columns[0]].drop_duplicates().tolist()
    return wide, _settled(rest, found)


def _wide_by_measure(
    frame: pd.DataFrame, named: Mapping[str, list[Hashable]], levels: Sequence[Hashable], rest: Any
) -> tuple[pd.DataFrame, Options]:
    """Return one column per measure or run, and the candidates' other columns."""
    [measure], by = named["measure"], named.get("by", [])
    by = by or [name for name in ("query",) if name in frame]
    items = named.get("item") or [x for x in ("document",) if x in frame] or list(levels)
    rows = _row_labels(frame, items, "measure", [measure], by)
    # a row without a measure name is a judged candidate that no list contains
    here = frame[frame[measure].notna()]
    wide = _wide_scores(here, rows, [measure], named["score"][:1], "measure").droplevel(0, axis=1)
    others = [name for name in frame if name not in (*rows, measure, *named["score"])]
    first = frame[~frame.duplicated(rows)].set_index(rows)
    # number the rows in the order of first appearance
    where = frame.groupby(rows, sort=False).ngroup().to_numpy()
    differ = {
        name for name in others if not first[name].iloc[where].array.equals(frame[name].array)
    }
    roles = {x for role in _OF_CANDIDATES for x in named.get(role, [])} | {"gold", "grade"}
    if lost := [name for name in others if name in differ & roles]:
        raise ValueError(
            f"{shown(lost[0])} has several values for one candidate ({listed(rows)}) in the long"
            " frame. Pass all columns that identify a candidate as item=['...', '...'] and by=...,"
            " or correct the values."
        )
    kept = first[[name for name in others if name not in differ]]
    refuse_taken(wide, kept)
    labels = {*named.get("gold", []), "gold", "grade"}
    graded = kept[[x for x in kept if x in labels and is_score(kept[x].dtype)]]
    ends = wide.isna().any(axis=None) or graded.isna().any(axis=None)
    if ends and graded.size and len(kept) == wide.notna().any(axis=1).sum():
        warn(
            "long frame: no row is a judged document that no run retrieved, so recall, AP and nDCG"
            " know only the relevant documents that were retrieved. Add a row for each of the"
            f" others, with its label and without {shown(measure)} and score."
        )
    return kept.join(wide), _settled(rest, list(wide))


def _row_labels(
    frame: pd.DataFrame,
    items: Sequence[Hashable],
    role: str,
    others: list[Hashable],
    beside: list[Hashable],
) -> list[Hashable]:
    """Return the columns that identify an item, and reject missing values."""
    if not items or set(items) & set(others):
        raise ValueError(
            f"{role}={shown(others[0])}, item={shown(list(items) or None)}: no column identifies"
            " the items. Pass one or more columns: item='...' or item=['...', '...']."
        )
    if role == "measure":
        rows = identifying = list(dict.fromkeys([*beside, *items]))
    else:
        rows = list(dict.fromkeys([*items, *beside]))
        identifying = [*rows, *others]
    for name in rows:
        check_types(frame[name], "item", name)
    for name in identifying:
        refuse_missing(frame[name], "item", name)
    return rows


def _settled(rest: Keywords, found: list[Hashable]) -> Options:
    """Return the roles with the names from a long frame as ``measures``."""
    out = as_names(rest.get("exclude"), found)
    kept = [name for name in found if name not in out]
    return {**rest, "measures": rest.get("measures") or kept, "exclude": None}


def _wide_scores(
    frame: pd.DataFrame,
    rows: list[Hashable],
    columns: list[Hashable],
    scores: list[Hashable],
    role: str,
) -> pd.DataFrame:
    """Return scores (item, (score, system, ...)) in order of appearance."""
    keys = [*rows, *columns]
    again = frame.duplicated(keys)
    if again.any():
        where = frame.loc[again.to_numpy(), keys].iloc[0].to_dict()
        more = "by=... for several lists"
        if role == "system":
            more = "seeds=... for several runs"
        raise ValueError(
            f"the combination of {listed(keys)} is not unique (repeated rows: {int(again.sum())},"
            f" for example {shown(where)}), but a {role} must have one score per item. Pass"
            f" {more}; item=[{rows[0]!r}, '...'], with groups={rows[0]!r} for repeated ratings;"
            " or, if none is lacking, average the scores,"
            f" data.groupby({keys!r}, as_index=False)[{scores!r}].mean()."
        )
    plain = frame.set_index(keys)[scores]
    order = frame[columns].drop_duplicates()
    if len(plain) < frame[rows].drop_duplicates().shape[0] * len(order):
        plain = plain.astype(float)
    wide: Any = plain.unstack(columns)  # noqa: PD010
    wanted = [(score, *x) for score in scores for x in order.itertuples(index=False)]
    result: pd.DataFrame = wide[wanted]
    return result
