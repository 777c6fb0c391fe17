"""Compare lists by the mean votes from several annotators (agreement="mean")."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.errors import is_known
from rankeval_pd.forms.rankings.annotators import SHARE, with_shares
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import PairRanks, ask_pairs, only_pair, pair_names
from rankeval_pd.forms.rankings.values import Sizes, those
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Names, Roles
from rankeval_pd.nbest.difference_regions import RegionOptions
from rankeval_pd.nbest.region_intervals import OF_ERROR, decide, decision_columns, family_attr
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import QueryMean, t_test
from rankeval_pd.stats.rankings.list_votes import vote_difference

_TYPES: dict[str, type] = {
    "precision_a": float, "precision_b": float, "difference": float, "overlap": np.int64,
    "n_only_a": np.int64, "n_only_b": np.int64, "tp_only_a": float, "tp_only_b": float,
    "p_value": float, "cuts_tie": bool, "error": float, "freedom": float,
}  # fmt: skip


def check_votes(options: RegionOptions, **others: tuple[Any, Any]) -> None:
    """Raise a ValueError if an option in ``others`` requires integer counts."""
    for name, (given, usual) in others.items():
        if given is not usual and not is_known(given, [usual]):
            raise ValueError(
                f"agreement='mean' with {name}={given!r}: mean votes are compared with a t test,"
                f" but {name} needs counts of true positives. Omit {name}, or pass"
                " agreement='majority'."
            )
    if options.swapped:
        raise ValueError(
            f"agreement='mean' with adjust={options.adjust!r}: label swaps need true positives."
            " Pass adjust='holm', or agreement='majority'."
        )


def compare_votes(
    data: Data,
    a: Hashable,
    b: Names,
    sizes: Sizes,
    options: RegionOptions,
    roles: Mapping[str, Any],
    able: Capabilities,
) -> Data:
    """Compare the mean votes in n-best lists, and return one row per pair and n."""
    options = options._replace(test="votes", ci="votes", target="nbest")
    noted, ties = options.noted(), Roles.of(roles).ties

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        pairs, n = pair_names(inner, a, b), those(sizes, asked)
        noted.update(family_attr(options, pairs, inner, a, b, 0 if n is None else n.size))
        # codes for vote proportions replace the groups; each candidate keeps its code
        shares, number = np.unique(inner[SHARE].to_numpy(), return_inverse=True)
        numbered = inner[SHARE].copy(data=number.reshape(inner[SHARE].shape))
        kernel = partial(_columns, shares=shares, alternative=options.alternative)
        return ask_pairs(
            inner.assign(cluster=numbered), pairs, kernel, _TYPES, n=n, ties=ties
        ).assign(reach=1.0)

    return answer(
        data, with_shares(only_pair(data, a, b, roles)), question,
        _names(options), able, n=sizes,
        finish=partial(decide, how=options, interval=OF_ERROR), attrs=noted,
    )  # fmt: skip


def _names(options: RegionOptions) -> tuple[str, ...]:
    """Return the ordered column names of the table."""
    decision, ending = decision_columns(options)
    names = [*_TYPES][:-3]
    front = ("measure_a", "measure_b", "n", *names[:3], "ci_low", "ci_high")
    return (*front, *names[3:], *decision, "cuts_tie", *ending)


def _columns(
    lists: PairRanks, n: IntArray, *, shares: FloatArray, alternative: str
) -> tuple[AnyArray, ...]:
    shape = lists.exists.shape
    found = np.full((len(_TYPES), *shape), np.nan)
    for row in np.ndindex(shape[:-1]):
        asked, number = lists.exists[row], lists.clusters_of(row)
        if not asked.any() or number is None:
            continue
        # the padding in a short list forms a separate group without votes
        label = np.append(shares, 0.0)[np.minimum(number, shares.size)]
        sizes = n[asked]
        r = vote_difference(*lists.of(row)[:2], label, sizes)
        gap, only = (r.total_a - r.total_b) / sizes, sizes - r.overlap
        units = (np.maximum(r.freedom, 1.0) + 1.0).astype(np.int64)
        tested = t_test(QueryMean(gap, r.error, units), alternative)
        p = np.where(r.freedom > 0.0, tested, 1.0)
        found[(slice(None), *row, asked)] = np.array([
            r.total_a / sizes, r.total_b / sizes, gap, r.overlap, only, only, r.total_only_a,
            r.total_only_b, p, np.zeros(asked.sum()), r.error, r.freedom,
        ])  # fmt: skip
    columns = [
        np.nan_to_num(x).astype(kind) if kind is np.int64 else x
        for x, kind in zip(found, _TYPES.values(), strict=True)
    ]
    columns[list(_TYPES).index("cuts_tie")] = lists.a.cuts_tie(n) | lists.b.cuts_tie(n)
    return tuple(columns)
