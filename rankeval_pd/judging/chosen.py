"""Were the judged candidates of a list chosen at random, as an estimate takes them to be?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.errors import warn
from rankeval_pd.judging.samples import Sample
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.significance.fisher import fisher_test

_LEVEL = 1e-3  # of all the tables of a call together
_NEAR = 2.5  # standard deviations; what is nearer to its mean is far from the level
_LISTS = 8  # of a long series of n as many are looked at
_TOPS = (2, 10)  # a half and a tenth of the list


class _Table(NamedTuple):
    """Judged candidates, and all, of a part of each list and of what is left of it."""

    part: str  #: what the part is
    judged: IntArray  #: (..., measure), or (..., measure, other measure)
    size: IntArray
    judged_else: IntArray
    size_else: IntArray
    n: int

    @classmethod
    def of(cls, part: str, counts: Sequence[AnyArray], n: int) -> _Table:
        """Return the table of four counts: judged and all of the part, judged and all else."""
        judged, size, judged_else, size_else = (x.astype(np.int64) for x in counts)
        return cls(part, judged, size, judged_else, size_else, n)

    def p_values(self) -> AnyArray:
        """Return Fisher's p-value of every table that is far enough from its mean, else 1."""
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
) -> None:
    """Warn where those judged of a list are plainly no random sample of it, or of the rest.

    Looked at are data in memory of which the caller says nothing else; n is None for all.
    """
    if not isinstance(sample, Sample) or not sample.is_taken_for_random:
        return
    arrays = (beside[0], inner["score"], inner["present"])
    if any(x.chunks is not None for x in arrays) or not inner.sizes["measure"]:
        return
    judged, score, present = xr.broadcast(*arrays)
    last = ("measure", "candidate")
    seen, scores, there = (x.transpose(..., *last).to_numpy() for x in (judged, score, present))
    tables = [*_tables(seen & there, scores, there, n, rest)]
    found = [table.p_values() for table in tables]
    number = sum(x.size for x in found)
    worst = [float(x.min(initial=1.0)) for x in found]
    if not worst or min(worst) * number >= _LEVEL:
        return
    table, p_values = tables[int(np.argmin(worst))], found[int(np.argmin(worst))]
    warn(_message(table, p_values, inner["measure"].to_numpy()))


def _tables(
    judged: BoolArray, score: AnyArray, present: BoolArray, n: IntArray | None, rest: bool
) -> Iterator[_Table]:
    """Yield what to compare: a list's top with what is below, what others have with what not."""
    rank = ranking.restricted_ranks(ranking.order(score, present), present)
    total = present.sum(axis=-1)
    whole = int(total.max(initial=0))
    sizes = np.array([whole]) if n is None else n[n <= whole]
    if sizes.size > _LISTS:
        sizes = sizes[np.unique(np.geomspace(1, sizes.size, _LISTS).astype(int)) - 1]
    if not rest and n is not None:  # below the longest list nothing is looked at
        near = (rank <= sizes.max(initial=0)).reshape(-1, rank.shape[-1]).any(axis=0)
        judged, score = judged[..., near], score[..., near]
        present, rank = present[..., near], rank[..., near]
    for size in sizes.tolist():
        listed = present & (rank <= size)
        for part in _TOPS:
            yield _of_top(judged, rank, listed, size, size // part, "of the best {}")
        if rest:
            after = present & ~listed
            middle = (size + whole) // 2
            yield _of_top(judged, rank, after, size, middle, "not in it of rank {} at most")
        if score.shape[-2] > 1:
            yield _of_shared(judged, listed, size)


def _of_top(
    judged: BoolArray, rank: IntArray, listed: BoolArray, n: int, end: int, part: str
) -> _Table:
    inside = listed & (rank <= end)
    below = listed & ~inside
    counts = [x.sum(axis=-1) for x in (inside & judged, inside, below & judged, below)]
    return _Table.of(part.format(end), counts, n)


def _of_shared(judged: BoolArray, listed: BoolArray, n: int) -> _Table:
    """Compare what each list shares with every other with what it does not."""
    inside = listed.astype(float)
    size, seen = (np.rint(x @ inside.swapaxes(-1, -2)) for x in (inside, inside * judged))
    own, own_seen = (x.sum(axis=-1, keepdims=True) for x in (listed, listed & judged))
    counts = [seen, size, own_seen - seen, own - size]
    return _Table.of("that {} has in its list too", counts, n)


def _message(table: _Table, p_values: AnyArray, measures: AnyArray) -> str:
    place = np.unravel_index(int(p_values.argmin()), p_values.shape)
    of_pairs = "{}" in table.part
    own: Hashable = measures[place[-2] if of_pairs else place[-1]]
    part = table.part.format(repr(measures[place[-1]])) if of_pairs else table.part
    judged, size, other, left = (
        int(x[place]) for x in (table.judged, table.size, table.judged_else, table.size_else)
    )
    return (
        f"unjudged='estimate' takes those judged for a random sample of each list, and of that of"
        f" {own!r} at n = {table.n} they are none: judged are {judged} of the {size} candidates"
        f" {part}, and {other} of the other {left}. The estimate can be far off, its interval too."
        " Of a sheet for two lists ask judged_difference; if others were judged at other rates, say"
        " so by windows=[...] or judged_with=...; unjudged='bounds' assumes nothing."
    )
