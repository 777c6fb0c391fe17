"""How good is each n-best list? Precision with its interval (Evert 2004, sections 2 and 3.2)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import ListSizes, ProportionInterval, Target
from rankeval_pd.forms.measures import ask_measures
from rankeval_pd.forms.n import check_n, those
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.nbest.clustered import weights
from rankeval_pd.nbest.joined_groups import check_joined
from rankeval_pd.nbest.precision_intervals import (
    LEAST,
    IntervalKind,
    intervals_unread,
    shares_of,
    warn_of_thresholds,
)
from rankeval_pd.queries.averages import Average, of_lists
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

_NBEST_TYPES: dict[str, type] = {
    "threshold": float, "tp": np.int64, "precision": float, "recall": float, "lift": float,
    "ci_low": float, "ci_high": float, "tied": np.int64,
}  # fmt: skip
AVERAGED_COLUMNS = (
    "measure", "n", "tp", "precision", "recall", "lift", "ci_low", "ci_high", "n_queries",
    "n_missing",
)  # fmt: skip


@with_roles
def nbest_precision(
    data: Data,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    target: Target = "region",
    phi: float = 1.0,
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return precision, recall and lift of the n-best lists, with intervals.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval of precision, see :func:`precision_interval`.
    level : float
        Confidence level of the interval at each n. It holds for each n alone, not for all
        together.
    target : {"region", "nbest"}
        What the interval is one of. "region" is the paper's: the acceptance region whose threshold
        is the score of the n-th candidate, and stays. "nbest" adds the variance of this threshold,
        which for good rankers, at n near the number of true positives, is many times as large.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`; it widens the interval.
    average : {None, "macro", "micro"}
        One row for all groups of ``by`` (of a Dataset, all batch dimensions) that have n
        candidates: "macro" has the means over groups (of recall and lift over those with
        positives), "micro" sums of true positives over sums of n. The interval is Student's over
        the groups: another sample of queries.
    **roles
        ``gold``, ``measures``, ``by``, ``key``, ``lower_is_better``, ``ties``, ``missing``,
        ``rng``, ``dim``: which column is what, see the page "Roles of the columns".

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n); none where a group, or with
        ``missing="drop"`` a measure, has fewer than n candidates:

        * ``measure``, ``n``: the measure and the size of the list;
        * ``threshold``: score of the n-th candidate;
        * ``tp``: true positives in the list;
        * ``precision``: tp / n; ``recall``: tp / N+; ``lift``: precision / (N+ / N), NaN without
          true positives;
        * ``ci_low``, ``ci_high``: confidence limits of precision;
        * ``tied``: candidates left out although their score is the threshold; the share of lists
          that cut a tie is the mean of ``tied > 0``;
        * ``tp_sd``, under ``ties="expected"`` only: the standard deviation of the true positives
          over the orders of equal scores, whose mean ``tp`` then is;
        * ``n_groups``, with ``groups`` only: the groups that the list has candidates of.

        With ``average`` there is no ``threshold`` and no ``tied``; ``tp`` is the sum, and
        ``n_queries``, ``n_missing`` count the groups with and without a list of n. Under
        ``missing="absent"`` a list that ends early is filled up with what is not relevant, as
        search does, so that every group has one; :func:`per_query` says where runs end early.

    Warns
    -----
    RankevalWarning
        With target="region", if the precision of a list asked for, of 10 candidates or more,
        varies more than 1.5 times as much as that of a region with its threshold. With ``groups``,
        also if a list has candidates of fewer than 20 of them.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a role cannot be filled, a score is missing without leave, n is not a size of a list.

    Notes
    -----
    With ``groups``, whole groups of candidates are taken as independent, and no single candidates:
    the interval is that of a region as much smaller as the variance between groups is larger than
    binomial, with Student's t in the place of the normal distribution (Korn and Graubard), and
    costs O(groups) for each n.

    The cost is that of sorting each measure, O(N log N), and about a microsecond for each
    interval: a second for every n of a million candidates is the intervals'.

    References
    ----------
    Evert (2004), Eq. 1 (whose text has "numerator" for denominator), section 3.2, figures 1, 2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.nbest_precision([1, 2])[["measure", "n", "tp", "precision", "recall", "lift"]]
      measure  n  tp  precision  recall  lift
    0      G2  1   1        1.0     0.5   2.0
    1      G2  2   1        0.5     0.5   1.0
    """
    kind = IntervalKind.of(ci=ci, level=level, target=target, phi=phi)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    ties = chosen.ties
    clustered = chosen.groups is not None
    if clustered and kind.phi > 1.0:
        raise ValueError(
            f"phi={phi:g} with groups: groups find out from the data how much more than binomial"
            " the true positives vary. Leave one of the two out."
        )
    types: dict[str, type] = {
        **_NBEST_TYPES,
        **({"tp": float, "tp_sd": float} if ties == "expected" else {}),
        **({"n_groups": np.int64} if clustered else {}),
    }
    columns: tuple[str, ...] = ("measure", "n", *types)
    if average is not None:
        only = {"ci": (ci, "clopper-pearson"), "target": (target, "region"), "phi": (phi, 1.0)}
        check_joined(False, average, sizes, only)
        columns = AVERAGED_COLUMNS

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        result = ask_measures(
            inner, _nbest_columns, {**types, "exists": bool}, along={"n": asked},
            beside=[inner[name] for name in ("sign", "cluster") if name in inner],
            options={
                "n": those(sizes, asked), "kind": kind, "ties": ties,
                "ends": inner.attrs["ends"], "whole": inner.attrs["whole"],
            },
        )  # fmt: skip
        if average is not None:
            here = inner["present"].sum("candidate"), (inner["gold"] & inner["present"])
            result = result.assign(total=here[0], positive=here[1].sum("candidate"))
        return result

    averaged = {} if average is None else {"average": average, "ci": "student"}
    # of an average the intervals of the lists are not read
    with nullcontext() if average is None else intervals_unread():
        return answer(
            data,
            roles,
            question,
            columns,
            n=sizes,
            cuts_lists=True,
            any_ties=True,
            any_ends=True,
            any_groups=average is None,
            any_heads=True,
            combine=None if average is None else of_lists(average, kind.level),
            attrs={**kind._asdict(), "ties": ties, **averaged},
        )


def _nbest_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    sign: FloatArray,
    cluster: IntArray | None = None,
    *,
    n: IntArray | None,
    kind: IntervalKind,
    ties: str,
    ends: bool,
    whole: Whole | None,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, n, ties, ends=ends, whole=whole)
    asked = ranking.every(score.shape[-1], whole) if n is None else n
    size = ranking.size(gold, present, whole)
    sizes = np.broadcast_to(asked, lists.tp.shape)
    weight: FloatArray | float = 1.0
    groups: tuple[IntArray, ...] = ()
    if cluster is not None:
        weight, n_groups, ratio = weights(
            score, gold, present, cluster, asked, lists.exists,
            target=kind.target, level=kind.level, ends=ends, whole=whole,
        )  # fmt: skip
        groups = (n_groups,)
    else:
        tp = ranking.cumulated(score, gold, present, ties, ends=ends, whole=whole)
        spread = bands.nbest_spread(tp, asked, size.total)
        if kind.target == "nbest":
            weight = spread.effective(sizes) / sizes
        ratio = spread.ratio
    if kind.target == "region":
        long = lists.exists & (sizes >= LEAST)
        warn_of_thresholds(ratio, sizes, long, "precision of the n-best list")
    shares = shares_of(lists.tp, sizes, size, kind, exists=lists.exists, weight=weight)
    threshold = lists.threshold * sign[..., np.newaxis] + 0.0
    varied = (lists.block.tp_sd(asked),) if ties == "expected" else ()
    return (threshold, lists.tp, *shares, lists.tied, *varied, *groups, lists.exists)
