"""Read judged samples and probabilities, and test samples for randomness."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from rankeval_pd.doors.rankings import Candidates
from rankeval_pd.errors import (
    check_choice,
    check_count,
    check_share,
    hushed,
    no_table,
    unknown_name,
    warn,
)
from rankeval_pd.forms.rankings.annotators import one_label, refuse_each
from rankeval_pd.forms.rankings.candidates import check_data
from rankeval_pd.forms.rankings.values import gold_values
from rankeval_pd.forms.roles.columns import find_gold, frame_column
from rankeval_pd.forms.roles.given_values import with_given_frame
from rankeval_pd.forms.roles.roles import PartlyJudged, Roles, are_values
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.judged_sums import MOST_STRATA, Design, windows_of
from rankeval_pd.stats.significance.fisher import fisher_test

# ------------ The sample of partly judged data, with probabilities and strata

ESTIMATORS = ("ratio", "horvitz-thompson")


class JudgingScheme(NamedTuple):
    """Store how candidates were selected for judging."""

    unjudged: str
    judged_with: Any
    windows: int | Sequence[int] | None
    estimator: str
    level: float

    def checked(self) -> JudgingScheme:
        """Return the checked options."""
        check_choice("unjudged", self.unjudged, get_args(PartlyJudged))
        check_choice("estimator", self.estimator, ESTIMATORS)
        level = check_share("level", self.level)
        if self.judged_with is not None and self.windows is not None:
            raise ValueError(
                f"windows={self.windows!r} with judged_with: both define judging rates. Pass only"
                " one of them."
            )
        if self.estimator == "horvitz-thompson" and self.judged_with is None:
            raise ValueError(
                "estimator='horvitz-thompson' divides by known judging probabilities. Pass"
                " the probability column, judged_with=..., or one rate for all candidates, such as"
                " judged_with=0.2."
            )
        windows = self.windows
        if windows is not None:
            windows = sorted({check_count("windows", end) for end in self.ends})
        return self._replace(level=level, windows=windows)

    @property
    def ends(self) -> list[Any]:
        """Return the ranks at which the windows end."""
        if self.windows is None:
            return []
        return list(self.windows) if isinstance(self.windows, Iterable) else [self.windows]

    @property
    def attrs(self) -> dict[str, Any]:
        """Return attrs that describe the judging scheme."""
        return {"unjudged": self.unjudged, "estimator": self.estimator, "level": self.level}

    def design(self, strata: int, heaviest: float = 0.0) -> Design:
        """Return the sampling design for this number of strata."""
        return Design(strata, self.unjudged, self.estimator, self.level, heaviest)


@dataclass(frozen=True, eq=False)
class Sample:
    """Store data with the gold label "judged and true", and who was judged."""

    data: pd.DataFrame
    roles: dict[str, Any]
    gold: Hashable
    judged: BoolArray  #: (row)
    probability: FloatArray  #: (row): of being selected for judging
    scheme: JudgingScheme

    @property
    def is_taken_for_random(self) -> bool:
        """Return whether judged candidates are treated as a random sample.

        The result is False if all candidates are judged, or if groups of candidates were sampled.
        """
        known = (self.scheme.judged_with, self.scheme.windows, self.roles.get("groups"))
        if self.scheme.unjudged != "estimate" or any(x is not None for x in known):
            return False
        return not self.judged.all()

    @cached_property
    def kinds(self) -> FloatArray:
        """Return the distinct probabilities."""
        return np.unique(self.probability)

    def design(self) -> Design:
        """Return the design, with strata if there are few distinct probabilities."""
        if self.scheme.judged_with is None:
            return self.scheme.design(len(self.scheme.ends) + 1)
        strata = self.kinds.size if self.kinds.size <= MOST_STRATA else 0
        unjudged = self.probability[~self.judged]
        heaviest = 1.0 / float(unjudged.min()) if unjudged.size else 0.0
        return self.scheme.design(strata, heaviest)

    def of(self, candidates: Candidates) -> Judgments:
        """Return what is known about the judgments of the candidates."""
        probability = self.probability[candidates.row]
        if self.scheme.windows is not None:
            ends = np.array(self.scheme.ends)
            stratum = windows_of(candidates.score, candidates.present, ends)
        else:
            stratum = np.searchsorted(self.kinds, probability)
        return Judgments(
            judged=self.judged[candidates.row][:, np.newaxis],
            probability=probability[:, np.newaxis],
            stratum=stratum[:, np.newaxis],
            cluster=candidates.clusters,
        )


@dataclass(frozen=True, eq=False)
class Judgments:
    """Store who was judged, the same for all measures: (group, 1, candidate)."""

    judged: BoolArray
    probability: FloatArray  #: of being selected for judging
    stratum: IntArray
    cluster: IntArray | None = None


def read_sample(data: Any, roles: Mapping[str, Any], scheme: JudgingScheme) -> Sample:
    """Return the data with the gold label "judged and true", and the sample."""
    check_data(data)
    scheme = scheme.checked()
    chosen = Roles.of(roles)
    frame, chosen = with_given_frame(data, chosen)
    refuse_each(chosen, "candidates judged in part")
    label = one_label(frame, chosen)
    frame, chosen = label.data, label.roles
    gold = find_gold(frame, chosen)
    truth = gold_values(frame_column(frame, gold, "gold"), gold, chosen.positive, chosen.min_grade)
    judged = ~np.isnan(truth)
    frame, probability = _with_probability(frame, scheme)
    frame = frame.copy()
    frame[gold] = truth == 1.0
    settled = replace(chosen, gold=gold, agreement="majority", positive=None, min_grade=None)
    named = {field.name: getattr(settled, field.name) for field in fields(Roles)}
    kept = {name: value for name, value in named.items() if name in {*roles, "gold"}}
    if scheme.judged_with is not None:
        _check_probability(judged, probability)
    return Sample(frame, kept, gold, judged, probability, scheme)


def _with_probability(data: pd.DataFrame, scheme: JudgingScheme) -> tuple[pd.DataFrame, FloatArray]:
    """Separate the probabilities from the data."""
    rate = scheme.judged_with
    if rate is None:
        return data, np.ones(len(data))
    if isinstance(rate, int | float | np.integer | np.floating) and not isinstance(rate, bool):
        return data, np.full(len(data), check_share("judged_with", rate, one=True))
    if are_values(rate):
        if isinstance(rate, pd.Series) and rate.index.is_unique:
            rate = rate.reindex(data.index)
        if np.ndim(rate) != 1:
            raise ValueError(
                f"judged_with has values of shape {np.shape(rate)}: pass one probability per "
                "candidate, or the name of a column."
            )
        return data, np.asarray(rate, dtype=float)
    if not isinstance(rate, Hashable) or rate not in data.columns:
        raise unknown_name("judged_with", rate, data.columns)
    column = frame_column(data, rate, "judged_with")
    return data.drop(columns=rate), column.to_numpy(dtype=float, na_value=np.nan)


def _check_probability(judged: BoolArray, probability: FloatArray) -> None:
    """Raise a ValueError for invalid or contradictory probabilities."""
    if probability.size != judged.size:
        raise ValueError(
            f"judged_with has values of shape {probability.shape} for {judged.size}"
            " candidates: pass one value per candidate, the name of a column, or one rate for all."
        )
    wrong = ~((probability > 0.0) & (probability <= 1.0))
    if wrong.any():
        raise ValueError(
            f"judged_with: {int(wrong.sum())} candidates have no judging probability in (0, 1]. If"
            " these candidates could not be judged, pass unjudged='bounds' without judged_with."
        )
    sure = ~judged & (probability == 1.0)
    if sure.any():
        raise ValueError(
            f"judged_with: {int(sure.sum())} candidates with judging probability 1 have no"
            " judgment. Judge these candidates, or pass the true probabilities."
        )


def check_frame(candidates: object) -> None:
    """Raise a TypeError unless the candidates are a DataFrame."""
    if hasattr(candidates, "data_vars"):
        raise TypeError(
            "candidates is a Dataset, but plans and sheets need a DataFrame with one row per "
            "candidate. Convert the Dataset: data.to_dataframe().reset_index()."
        )
    if not isinstance(candidates, pd.DataFrame):
        raise no_table("candidates", candidates, "a pandas DataFrame with one row per candidate")


def quietly(gold: Hashable, question: Callable[[], Any]) -> Any:
    """Suppress the warning about equal labels, which are valid in samples."""
    with hushed(f"gold={gold!r}"):
        return question()


def counts_of(sums: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Count the candidates, judged candidates and true positives in a set."""
    size, judged, tp = (np.rint(sums[..., k]).astype(np.int64) for k in range(3))
    return size, judged, tp


# --------- Tests of whether the judged candidates in a list are a random sample

_LEVEL = 1e-3  # joint level for all 2x2 tables in a call
_REFUSED = 1e-6  # level at which nonrandom samples raise an error
_NEAR = 2.5  # in standard deviations; tables closer to the mean cannot be significant
_LISTS = 8  # largest number of list sizes to test
_TOPS = (2, 10)  # the top half and the top tenth of a list


class _Table(NamedTuple):
    """Store judged and total counts for a part of each list and for the rest."""

    part: str  #: description of the part
    judged: IntArray  #: (..., measure), or (..., measure, other measure)
    size: IntArray
    judged_else: IntArray
    size_else: IntArray
    n: int

    @classmethod
    def of(cls, part: str, counts: Sequence[AnyArray], n: int) -> _Table:
        """Return judged and total counts for the part and for the rest."""
        judged, size, judged_else, size_else = (x.astype(np.int64) for x in counts)
        return cls(part, judged, size, judged_else, size_else, n)

    def p_values(self) -> AnyArray:
        """Return Fisher's p-value for tables far from the mean, and 1 for other tables."""
        result = np.ones(self.size.shape)
        far = self._deviation() > _NEAR
        if far.any():
            of_part = self.judged[far], self.size[far]
            of_rest = self.judged_else[far], self.size_else[far]
            result[far] = fisher_test(*of_part, *of_rest, "two-sided").p_value
        return result

    def _deviation(self) -> FloatArray:
        total, drawn = self.size + self.size_else, self.judged + self.judged_else
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.size / total
            spread = drawn * share * (1 - share) * (total - drawn) / (total - 1)
            away: FloatArray = np.abs(self.judged - drawn * share) / np.sqrt(spread)
        return np.nan_to_num(away)


def warn_if_chosen(
    sample: Sample,
    candidates: Candidates,
    n: IntArray | None,
    *,
    rest: bool = False,
    regions: bool = False,
) -> None:
    """Warn if judged candidates are clearly not a random sample.

    The tests compare each list with the candidates below the list. With ``regions``, the tests
    compare the two difference regions. Samples with a judging scheme are not tested. For average
    precision, n is None, and strong evidence against randomness raises an error.
    """
    if not sample.is_taken_for_random or not candidates.measures:
        return
    judged = sample.judged[candidates.row][:, np.newaxis] & candidates.present
    tables = [*_tables(candidates, judged, n, rest=rest, regions=regions)]
    tests = [table.p_values() for table in tables]
    number = sum(p.size for p in tests)
    smallest = [float(p.min(initial=1.0)) for p in tests]
    if not smallest or min(smallest) * number >= _LEVEL:
        return
    place = int(np.argmin(smallest))
    message = _message(tables[place], tests[place], candidates.measures, regions=regions)
    if n is None and min(smallest) * number < _REFUSED:
        raise ValueError(message)
    warn(message)


def _tables(
    candidates: Candidates, judged: BoolArray, n: IntArray | None, *, rest: bool, regions: bool
) -> Iterator[_Table]:
    """Yield tables that compare top and lower ranks, or shared and other candidates."""
    present, rank = candidates.present, ranking.ranks(candidates.order)
    total = present.sum(axis=-1)
    whole = int(total.max(initial=0))
    sizes = np.array([whole]) if n is None else n[n <= whole]
    if sizes.size > _LISTS:
        sizes = sizes[np.unique(np.geomspace(1, sizes.size, _LISTS).astype(int)) - 1]
    if not rest and n is not None:  # do not test candidates below the longest list
        near = (rank <= sizes.max(initial=0)).reshape(-1, rank.shape[-1]).any(axis=0)
        judged, present, rank = judged[..., near], present[..., near], rank[..., near]
    for size in sizes.tolist():
        listed = present & (rank <= size)
        if regions:
            listed = listed & ~listed[..., ::-1, :]
        for part in _TOPS:
            yield _of_top(judged, rank, listed, size, size // part, "of the best {}")
        if rest:
            after = present & ~listed
            middle = (size + whole) // 2
            yield _of_top(judged, rank, after, size, middle, "outside the list up to rank {}")
        if len(candidates.measures) > 1 and not regions:
            yield _of_shared(judged, listed, size)


def _of_top(
    judged: BoolArray, rank: IntArray, listed: BoolArray, n: int, end: int, part: str
) -> _Table:
    inside = listed & (rank <= end)
    below = listed & ~inside
    counts = [x.sum(axis=-1) for x in (inside & judged, inside, below & judged, below)]
    return _Table.of(part.format(end), counts, n)


def _of_shared(judged: BoolArray, listed: BoolArray, n: int) -> _Table:
    """Compare judging rates between shared and other candidates in pairs of lists."""
    inside = listed.astype(float)
    size, seen = (np.rint(x @ inside.swapaxes(-1, -2)) for x in (inside, inside * judged))
    own, own_seen = (x.sum(axis=-1, keepdims=True) for x in (listed, listed & judged))
    counts = [seen, size, own_seen - seen, own - size]
    return _Table.of("shared with the list of {}", counts, n)


def _message(
    table: _Table, p_values: AnyArray, measures: Sequence[Hashable], *, regions: bool
) -> str:
    place = tuple(map(int, np.unravel_index(int(p_values.argmin()), p_values.shape)))
    own, part = measures[place[-1]], table.part
    if "{}" in part:  # pairs of measures
        own, part = measures[place[-2]], part.format(repr(own))
    judged, size, other, left = (
        int(x[place]) for x in (table.judged, table.size, table.judged_else, table.size_else)
    )
    where, do = f"the list of {own!r}", "call judged_difference"
    if regions:
        where = f"the candidates found only in the list of {own!r}"
        do = "judge a random sheet (annotation_sheet)"
    return (
        f"The judged candidates are not a random sample of {where} at n = {table.n}: {judged} of"
        f" {size} candidates {part} are judged, compared with {other} of the other {left}."
        f" Estimates can be far off: {do}, or pass windows=[...], judged_with=... or"
        " unjudged='bounds'."
    )
