"""Read judged samples and probabilities, and test samples for randomness."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd
import xarray as xr

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
from rankeval_pd.forms.roles.columns import (
    find_gold,
    frame_column,
    with_given_frame,
)
from rankeval_pd.forms.roles.roles import PartlyJudged, Roles, are_values
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.judged_sums import MOST_STRATA, Design, windows_of
from rankeval_pd.stats.significance.fisher import fisher_test

# ------------ The sample of partly judged data, with probabilities and strata

ESTIMATORS = ("ratio", "horvitz-thompson")
_ROWS = "_rows"  # the candidate dimension in the input


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
            given = list(windows) if isinstance(windows, Iterable) else [windows]
            windows = sorted({check_count("windows", end) for end in given})
        return self._replace(level=level, windows=windows)

    @property
    def ends(self) -> list[int]:
        """Return the ranks at which the windows end."""
        return list(self.windows) if isinstance(self.windows, Iterable) else []

    @property
    def attrs(self) -> dict[str, Any]:
        """Return attrs that describe the judging scheme."""
        return {"unjudged": self.unjudged, "estimator": self.estimator, "level": self.level}

    def design(self, strata: int, heaviest: float = 0.0) -> Design:
        """Return the sampling design for this number of strata."""
        return Design(strata, self.unjudged, self.estimator, self.level, heaviest)


class Sample(NamedTuple):
    """Store data with the gold label "judged and true", and judged flags."""

    data: Any
    roles: dict[str, Any]
    gold: Hashable
    judged: xr.DataArray  #: (..., _rows)
    probability: xr.DataArray
    asked: JudgingScheme

    @property
    def is_taken_for_random(self) -> bool:
        """Return whether judged candidates are treated as a random sample.

        The result is False if all candidates are judged, or if groups of candidates were sampled.
        """
        said = self.asked.judged_with is not None or self.asked.windows is not None
        said = said or self.roles.get("groups") is not None
        return self.asked.unjudged == "estimate" and not said and not bool(self.judged.all())

    @property
    def kinds(self) -> FloatArray:
        """Return the distinct probabilities."""
        known = self.probability.to_numpy()
        return np.unique(known[~np.isnan(known)])

    def design(self) -> Design:
        """Return the design, with strata if there are few distinct probabilities."""
        if self.asked.judged_with is None:
            return self.asked.design(len(self.asked.ends) + 1)
        strata = self.kinds.size if self.kinds.size <= MOST_STRATA else 0
        unjudged = self.probability.where(~self.judged).to_numpy()
        unjudged = unjudged[~np.isnan(unjudged)]
        return self.asked.design(strata, 1.0 / float(unjudged.min()) if unjudged.size else 0.0)

    def beside(self, inner: xr.Dataset) -> list[xr.DataArray]:
        """Return judged flags, probabilities, strata, and optional groups."""
        judged, probability = _taken(self.judged, inner["row"]), self._per_candidate(inner)
        if self.asked.windows is not None:
            stratum = xr.apply_ufunc(
                windows_of,
                inner["score"],
                inner["present"],
                kwargs={"ends": np.array(self.asked.ends)},
                input_core_dims=[["measure", "candidate"]] * 2,
                output_core_dims=[["candidate"]],
                dask="parallelized",
                output_dtypes=[np.int64],
            )
        else:
            stratum = xr.apply_ufunc(
                np.searchsorted,
                self.kinds,
                probability,
                input_core_dims=[["_kind"], []],
                dask="parallelized",
                output_dtypes=[np.int64],
            )
        return [judged, probability, stratum, *(inner[x] for x in ("cluster",) if x in inner)]

    def _per_candidate(self, inner: xr.Dataset) -> xr.DataArray:
        """Return probabilities in the internal form; a constant rate is not broadcast."""
        known = not bool(np.isnan(self.probability).any())
        if known and self.probability.dims == (_ROWS,) and self.kinds.size == 1:
            return _of_all(self.kinds[0], inner.sizes["candidate"], "candidate")
        return _taken(self.probability, inner["row"])


def _of_all(rate: float, size: int, dim: str) -> xr.DataArray:
    return xr.DataArray(np.full(size, rate), dims=dim)


def _taken(values: xr.DataArray, row: xr.DataArray) -> xr.DataArray:
    """Return row values in the order of the internal form."""

    def take(given: AnyArray, rows: IntArray) -> AnyArray:
        batch = np.broadcast_shapes(given.shape[:-1], rows.shape[:-1])
        given = np.broadcast_to(given, (*batch, given.shape[-1]))
        rows = np.broadcast_to(rows, (*batch, rows.shape[-1]))
        return np.take_along_axis(given, rows, axis=-1)

    result: xr.DataArray = xr.apply_ufunc(
        take,
        values,
        row,
        input_core_dims=[[_ROWS], ["candidate"]],
        output_core_dims=[["candidate"]],
        dask="parallelized",
        output_dtypes=[values.dtype],
    )
    return result


def read_sample(data: Any, roles: Mapping[str, Any], asked: JudgingScheme) -> Sample:
    """Return the data with the gold label "judged and true", and the sample."""
    check_data(data)
    asked = asked.checked()
    chosen = Roles.of(roles)
    refuse_each(chosen, "candidates judged in part")
    found = one_label(*with_given_frame(data, chosen))
    data, chosen = found.data, found.roles
    gold = find_gold(data, chosen)
    values = frame_column(data, gold, "gold")
    truth = gold_values(values, gold, chosen.positive, chosen.min_grade)
    label = xr.DataArray(truth, dims=(_ROWS,))
    judged: xr.DataArray = ~np.isnan(label)  # type: ignore[assignment]
    data, probability = _with_probability(data, asked, judged)
    filled = label.fillna(0.0)
    data = data.copy()
    data[gold] = filled.to_numpy() == 1.0
    settled = replace(chosen, gold=gold, agreement="majority", positive=None, min_grade=None)
    given = {f.name for f in fields(Roles)} & {*roles, "gold"}
    kept = {name: x for name, x in by_name(settled).items() if name in given}
    if asked.judged_with is not None:
        _check_probability(judged, probability, filled)
    return Sample(data, kept, gold, judged, probability, asked)


def by_name(roles: Roles) -> dict[str, Any]:
    """Return a mapping from role names to values."""
    return {field.name: getattr(roles, field.name) for field in fields(roles)}


def _with_probability(
    data: Any, asked: JudgingScheme, judged: xr.DataArray
) -> tuple[Any, xr.DataArray]:
    """Separate the probabilities from the data."""
    given = asked.judged_with
    if given is None:
        return data, _of_all(1.0, judged.sizes[_ROWS], _ROWS)
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        rate = check_share("judged_with", given, one=True)
        return data, _of_all(rate, judged.sizes[_ROWS], _ROWS)
    if are_values(given):
        values: Any = given
        if isinstance(given, pd.Series):
            values = given.reindex(data.index) if given.index.is_unique else given
        if np.ndim(values) != 1:
            raise ValueError(
                f"judged_with has values of shape {np.shape(values)}: pass one probability per "
                "candidate, or the name of a column."
            )
        return data, xr.DataArray(np.asarray(values, dtype=float), dims=(_ROWS,))
    if not isinstance(given, Hashable) or given not in data.columns:
        raise unknown_name("judged_with", given, data.columns)
    column = frame_column(data, given, "judged_with")
    array = column.to_numpy(dtype=float, na_value=np.nan)
    return data.drop(columns=given), xr.DataArray(array, dims=(_ROWS,))


def _check_probability(
    judged: xr.DataArray, probability: xr.DataArray, filled: xr.DataArray
) -> None:
    """Raise a ValueError for invalid or contradictory probabilities."""
    if _ROWS not in probability.dims or probability.sizes[_ROWS] != judged.sizes[_ROWS]:
        raise ValueError(
            f"judged_with has values of shape {probability.shape} for {judged.sizes[_ROWS]}"
            " candidates: pass one value per candidate, the name of a column, or one rate for all."
        )
    here = ~np.isnan(filled)
    wrong = here & ~((probability > 0.0) & (probability <= 1.0))
    if bool(wrong.any()):
        raise ValueError(
            f"judged_with: {int(wrong.sum())} candidates have no judging probability in (0, 1]. If"
            " these candidates could not be judged, pass unjudged='bounds' without judged_with."
        )
    sure = here & ~judged & (probability == 1.0)
    if bool(sure.any()):
        raise ValueError(
            f"judged_with: {int(sure.sum())} candidates with judging probability 1 have no"
            " judgment. Judge these candidates, or pass the true probabilities."
        )


def check_frame(candidates: object) -> None:
    """Raise a TypeError unless the candidates are a DataFrame."""
    if isinstance(candidates, xr.Dataset):
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
    sample: object,
    inner: xr.Dataset,
    beside: Sequence[xr.DataArray],
    n: IntArray | None,
    *,
    rest: bool = False,
    regions: bool = False,
) -> xr.Dataset:
    """Warn if judged candidates are clearly not a random sample.

    The tests compare each list with the candidates below the list. With ``regions``, the tests
    compare the two difference regions. The function tests only in-memory data without a judging
    scheme. For average precision, n is None, and strong evidence against randomness raises an
    error. The function returns the internal form, including the order of ranked candidates.
    """
    if not isinstance(sample, Sample) or not sample.is_taken_for_random:
        return inner
    arrays = (inner["score"], inner["present"], beside[0])
    if any(x.chunks is not None for x in arrays) or not inner.sizes["measure"]:
        return inner
    last = ("measure", "candidate")
    score, present = (x.transpose(..., *last) for x in xr.broadcast(*arrays[:2]))
    order = score.copy(data=ranking.order(score.to_numpy(), present.to_numpy()))
    of_all = xr.broadcast(*arrays, order.rename(None))
    scores, there, seen, orders = (x.transpose(..., *last).to_numpy() for x in of_all)
    tables = [*_tables(seen & there, scores, there, orders, n, rest, regions)]
    found = [table.p_values() for table in tables]
    number = sum(x.size for x in found)
    worst = [float(x.min(initial=1.0)) for x in found]
    if worst and min(worst) * number < _LEVEL:
        table, p_values = tables[int(np.argmin(worst))], found[int(np.argmin(worst))]
        message = _message(table, p_values, inner["measure"].to_numpy(), regions=regions)
        if n is None and min(worst) * number < _REFUSED:
            raise ValueError(message)
        warn(message)
    return inner.assign(order=order.variable)


def _tables(
    judged: BoolArray, score: AnyArray, present: BoolArray, order: IntArray, n: IntArray | None,
    rest: bool, regions: bool,
) -> Iterator[_Table]:  # fmt: skip
    """Yield tables that compare top and lower ranks, or shared and other candidates."""
    rank = ranking.ranks(order)
    total = present.sum(axis=-1)
    whole = int(total.max(initial=0))
    sizes = np.array([whole]) if n is None else n[n <= whole]
    if sizes.size > _LISTS:
        sizes = sizes[np.unique(np.geomspace(1, sizes.size, _LISTS).astype(int)) - 1]
    if not rest and n is not None:  # do not test candidates below the longest list
        near = (rank <= sizes.max(initial=0)).reshape(-1, rank.shape[-1]).any(axis=0)
        judged, score = judged[..., near], score[..., near]
        present, rank = present[..., near], rank[..., near]
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
        if score.shape[-2] > 1 and not regions:
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


def _message(table: _Table, p_values: AnyArray, measures: AnyArray, *, regions: bool) -> str:
    place = np.unravel_index(int(p_values.argmin()), p_values.shape)
    of_pairs = "{}" in table.part
    own: Hashable = measures[place[-2] if of_pairs else place[-1]]
    part = table.part.format(repr(measures[place[-1]])) if of_pairs else table.part
    judged, size, other, left = (
        int(x[place]) for x in (table.judged, table.size, table.judged_else, table.size_else)
    )
    where = (
        f"the candidates found only in the list of {own!r}" if regions else f"the list of {own!r}"
    )
    do = "judge a random sheet (annotation_sheet)" if regions else "call judged_difference"
    return (
        f"The judged candidates are not a random sample of {where} at n = {table.n}: {judged} of"
        f" {size} candidates {part} are judged, compared with {other} of the other {left}."
        f" Estimates can be far off: {do}, or pass windows=[...], judged_with=... or"
        " unjudged='bounds'."
    )
