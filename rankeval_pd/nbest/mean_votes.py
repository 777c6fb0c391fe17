"""Compare lists by the mean votes from several annotators (agreement="mean")."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankeval_pd.decisions.families import compared_with, family_note
from rankeval_pd.decisions.intervals import OF_ERROR
from rankeval_pd.decisions.verdicts import decide, decision_columns
from rankeval_pd.doors.pairs import PairRanks, only_pair
from rankeval_pd.doors.rankings import (
    Candidates,
    Rows,
    distinct_tests,
    pair_names,
    pair_rows,
    tabulate,
)
from rankeval_pd.errors import is_known
from rankeval_pd.forms.rankings.annotators import with_shares
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import Sizes
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Names, Roles
from rankeval_pd.nbest.difference_regions import RegionOptions
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import QueryMean, t_test
from rankeval_pd.stats.rankings.list_votes import vote_difference

_COLUMNS = (
    "precision_a",
    "precision_b",
    "difference",
    "overlap",
    "n_only_a",
    "n_only_b",
    "tp_only_a",
    "tp_only_b",
    "p_value",
)


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

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        tests = distinct_tests(candidates, pairs, options.alternative)
        noted.update(family_note(options, tests, candidates, n, compared_with(a, b)))
        # codes for vote proportions replace the groups; each candidate keeps its code
        assert candidates.votes is not None
        shares, number = np.unique(candidates.votes, return_inverse=True)
        coded = replace(candidates, cluster=number.reshape(candidates.gold.shape))
        kernel = partial(_vote_columns, shares=shares, alternative=options.alternative)
        return pair_rows(coded, pairs, kernel, n, ties=ties, alternative=options.alternative)

    return tabulate(
        data,
        with_shares(only_pair(data, a, b, roles)),
        question,
        _columns_of_votes(options),
        able,
        n=sizes,
        finish=partial(decide, how=options, interval=OF_ERROR),
        attrs=noted,
    )


def _columns_of_votes(options: RegionOptions) -> tuple[str, ...]:
    """Return the ordered column names of the table."""
    decision, ending = decision_columns(options)
    front = ("measure_a", "measure_b", "n", *_COLUMNS[:3], "ci_low", "ci_high")
    return (*front, *_COLUMNS[3:], *decision, "cuts_tie", *ending)


def _vote_columns(
    lists: PairRanks, n: IntArray, *, shares: FloatArray, alternative: str
) -> dict[str, AnyArray]:
    """Return the columns (group, pair, n) of the lists' mean votes."""
    shape = lists.exists.shape
    columns = {name: np.full(shape, np.nan) for name in (*_COLUMNS, "error", "freedom")}
    for name in ("overlap", "n_only_a", "n_only_b"):
        columns[name] = np.zeros(shape, dtype=np.int64)
    for row in np.ndindex(shape[:-1]):
        exists, number = lists.exists[row], lists.clusters_of(row)
        if not exists.any() or number is None:
            continue
        # the padding in a short list forms a separate group without votes
        label = np.append(shares, 0.0)[np.minimum(number, shares.size)]
        sizes = n[exists]
        r = vote_difference(*lists.of(row)[:2], label, sizes)
        gap = (r.total_a - r.total_b) / sizes
        units = (np.maximum(r.freedom, 1.0) + 1.0).astype(np.int64)
        tested = t_test(QueryMean(gap, r.error, units), alternative)
        values = {
            "precision_a": r.total_a / sizes,
            "precision_b": r.total_b / sizes,
            "difference": gap,
            "overlap": r.overlap,
            "n_only_a": sizes - r.overlap,
            "n_only_b": sizes - r.overlap,
            "tp_only_a": r.total_only_a,
            "tp_only_b": r.total_only_b,
            "p_value": np.where(r.freedom > 0.0, tested, 1.0),
            "error": r.error,
            "freedom": r.freedom,
        }
        for name, value in values.items():
            columns[name][(*row, exists)] = value
    reach = np.ones(shape)
    return {**columns, "reach": reach, "cuts_tie": lists.a.cuts_tie(n) | lists.b.cuts_tie(n)}
