"""Name the compared pairs of measures, and store the two rankings of each pair."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import is_known, shown, unknown_name
from rankeval_pd.forms.rankings.candidates import check_data
from rankeval_pd.forms.roles.roles import Names, as_names
from rankeval_pd.stats._types import AnyArray, BoolArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Ranking, Regions, Whole
from rankeval_pd.stats.rankings.swap_draws import Keys, by_position


def only_pair(
    data: Any, a: Hashable, b: Names, roles: Mapping[str, Any], *, one: bool = False
) -> dict[str, Any]:
    """Return the roles with the compared measures. ``one`` allows only one pair."""
    check_data(data)
    if one and (b is None or isinstance(b, list)):
        raise TypeError(f"b={b!r}: pass one measure to compare with a.")
    if b is not None and a is None:
        raise ValueError(f"b={b!r} without a: pass both measures, a= and b=.")
    for role, name in (("a", a), *(("b", x) for x in (b if isinstance(b, list) else [b]))):
        if not is_known(name, [name]):  # names are hashable
            raise unknown_name(role, name, list(data.columns))
    _check_measure("a", a, data.columns)
    for name in others_of(b):
        _check_measure("b", name, data.columns)
    if b is None:
        return dict(roles)
    if a in set(others_of(b)):
        raise ValueError(f"a and b both name {shown(a)}: pass two different measures.")
    if roles.get("measures") is not None:
        meant = as_names(roles["measures"], data.columns)
        for role, name in (("a", a), *(("b", other) for other in others_of(b))):
            if not is_known(name, meant):
                raise unknown_name(role, name, meant)
        known = list(data.columns)
        for name in meant:
            if not is_known(name, known):
                raise unknown_name("measures", name, known)
    return {**roles, "measures": [a, *others_of(b)]}


def others_of(b: Names) -> list[Hashable]:
    """Return a list of the measures to compare with ``a``."""
    if isinstance(b, list):
        return list(dict.fromkeys(b))
    return [] if b is None else [b]


def _check_measure(role: str, name: Hashable, columns: pd.Index) -> None:
    """Raise an error with a hint if a list size is passed as a measure."""
    size = isinstance(name, (int, np.integer, range, list)) and not isinstance(name, bool)
    if name is None or (isinstance(name, Hashable) and name in columns):
        return
    if size:
        raise TypeError(f"{role}={name!r} is not a measure. For the list size, write n={name!r}.")
    raise unknown_name(role, name, columns)


class PairRanks(NamedTuple):
    """Store two rankings of the candidates that have both scores."""

    a: Ranking
    b: Ranking
    draws: Keys  #: the key for each candidate's random draws
    total: IntArray  #: the number of candidates that both measures rank
    exists: BoolArray  #: whether both lists of size n exist
    cluster: IntArray | None = None  #: the number of each candidate's group, or None

    @property
    def gold(self) -> BoolArray:
        """Return whether each candidate is a true positive that has both scores."""
        return self.a.gold

    @property
    def present(self) -> BoolArray:
        """Return whether each candidate has both scores."""
        return self.a.present

    @property
    def whole(self) -> Whole | None:
        """Return the counts of all candidates for heads."""
        return self.a.whole

    @property
    def ranks(self) -> tuple[IntArray, IntArray]:
        """Return the rank of each candidate in both rankings, starting at 1."""
        return self.a.ranks, self.b.ranks

    def regions(self, n: IntArray) -> Regions:
        """Return the difference regions of lists of size n, and their overlap."""
        return ranking.nbest_regions(*self.ranks, self.gold, n)

    def of(self, row: tuple[int, ...]) -> tuple[IntArray, IntArray, BoolArray]:
        """Return ranks and labels for one pair in one batch element."""
        here = self.present[row]
        return self.a.ranks[row][here], self.b.ranks[row][here], self.gold[row][here]

    def clusters_of(self, row: tuple[int, ...]) -> IntArray | None:
        """Return the candidate groups for one pair in one batch element."""
        return None if self.cluster is None else self.cluster[row][self.present[row]]

    def draws_of(self, row: tuple[int, ...]) -> Keys:
        """Return the keys for random draws, with one key per group."""
        result: Keys = self.draws[row][self.present[row]]
        together = self.clusters_of(row)
        return result if together is None else keys_of_clusters(result, together)


def keys_of_clusters(keys: Keys, cluster: IntArray) -> Keys:
    """Return one key per group, so that swaps affect whole groups."""
    numbers, own = np.unique(cluster, return_inverse=True)
    least = np.full(numbers.size, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, own, keys)
    return least[own]


def with_empty_places(lists: PairRanks) -> PairRanks:
    """Pad the rankings with empty places after the last score.

    Empty places count as false positives, so that precision refers to n. The two rankings share the
    empty places, so a place that is empty in both lists does not affect comparisons.
    """
    more = max(
        int((x.present & ~x.eligible).sum(axis=-1).max(initial=0)) for x in (lists.a, lists.b)
    )
    # a head is padded to the requested number of places
    more = more if lists.whole is None else lists.whole.reach

    def longer(values: AnyArray, filling: Any) -> AnyArray:
        empty = np.broadcast_to(filling, (*values.shape[:-1], more)).astype(values.dtype)
        return np.concatenate([values, empty], axis=-1)

    # new distinct scores, so that empty places are not tied
    steps = np.finfo(float).min * (1.0 - np.arange(1, more + 1) * np.finfo(float).eps)

    def with_places(side: Ranking) -> Ranking:
        last = side.eligible.sum(axis=-1)[..., np.newaxis]
        later = np.where(side.ranks > last, side.ranks + more, side.ranks)
        # (..., candidate) -> (..., candidate and place)
        ranks = np.concatenate([later, last + np.arange(1, more + 1)], axis=-1)
        return replace(
            side,
            score=longer(side.score, steps),
            gold=longer(side.gold, False),
            present=longer(side.present, True),
            positions=ranking.inverse(ranks),
        )

    return PairRanks(
        with_places(lists.a),
        with_places(lists.b),
        longer(lists.draws, by_position(more)),
        lists.total,
        lists.exists,
        None if lists.cluster is None else _apart(lists.cluster, more),
    )


def _apart(cluster: IntArray, more: int) -> IntArray:
    """Return the groups, with a separate group for each empty place."""
    own = cluster.max(initial=-1) + np.arange(1, more + 1)
    return np.concatenate([cluster, np.broadcast_to(own, (*cluster.shape[:-1], more))], axis=-1)
