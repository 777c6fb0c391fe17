"""Compute the recall of n-best lists, with intervals and bands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd import doors
from rankeval_pd.decisions import GROUP, PAIR, Average, Rows
from rankeval_pd.doors import Candidates, Data
from rankeval_pd.lists import precision
from rankeval_pd.lists.groups import of_rows, recall_sizes
from rankeval_pd.lists.precision import IntervalKind
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import ListSizes, ProportionInterval, RankingRoles, Roles, Target
from rankeval_pd.stats import (
    NEARLY,
    IntArray,
    Ranking,
    allow_for_positives,
    bands,
    edge_precision,
    silent_division,
)
from rankeval_pd.tables import Columns, Keywords


@Capabilities(
    rankings="How good is each list?",
    any_ties=True,
    ends=True,
    clusters=True,
    short="measure n tp recall ci_low ci_high lift tied",
    details="threshold precision",
    layout="measure n",
    quantity="recall",
)
@with_roles
def nbest_recall(
    data: Data,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    target: Target = "nbest",
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the recall of n-best lists, with intervals.

    Parameters
    ----------
    data
    n
    ci
    level
    target
        The quantity that the interval covers. "nbest" means the recall of the best n / N of the
        candidates, a list whose threshold varies between samples. "region" means the recall of all
        candidates above a fixed threshold, the score of the n-th candidate.
    average
        One row for all groups of ``by``, as in :func:`nbest_precision`, with limits of the recall.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``, ``tp``,
        ``recall`` = tp / N+, its limits ``ci_low`` and ``ci_high`` (NaN without true positives),
        ``lift`` and ``tied``. ``details=True`` adds ``threshold`` and ``precision``, as in
        :func:`nbest_precision`.

    Warns
    -----
    RankevalWarning
        If there are fewer than 10 ``groups``.

    Notes
    -----
    With "nbest", the interval uses an effective number of true positives (at most 2 N+) that
    matches the variance of the list's recall. For short lists, this variance is smaller than with a
    fixed threshold; for good rankings with n near N+, it is larger. If at least 90% of the list are
    true positives, the recall is nearly n / N+, and ``ci_high`` is at least the recall times the
    prevalence, over the lower limit of the prevalence. In simulations, the coverage of
    95% intervals was 0.943 or more (``tests/simulations/lists.csv``).

    References
    ----------
    * Jiang and Zhao (2015), J. of the American Statistical Association 110.
    * Ash and Hughes-Oliver (2022), J. of Cheminformatics 14,
      https://doi.org/10.1186/s13321-022-00629-0.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.nbest_recall([50, 200], measures="good")
      measure    n  tp    recall    ci_low   ci_high      lift  tied
    0    good   50  32  0.359551  0.284890  0.439583  7.191011     0
    1    good  200  64  0.719101  0.620155  0.804586  3.595506     0
    """
    chosen = Roles.of(roles)
    clustered = chosen.groups is not None
    kind = IntervalKind.of(ci, level, target=target, clustered=clustered)
    sizes = doors.check_n(n)
    precision.refuse_options(sizes, kind, average, chosen)
    if average is not None:
        return precision.averaged_lists(data, sizes, kind, average, roles, nbest_recall)
    return recall_of_lists(data, sizes, kind, precision.LIST_COLUMNS, roles)


def recall_of_lists(
    data: Data,
    sizes: doors.Sizes,
    kind: IntervalKind,
    columns: tuple[str, ...],
    roles: Keywords,
    *,
    of_lift: bool = False,
) -> Data:
    """Return the columns for n-best lists, with limits for recall or lift."""
    ties = Roles.of(roles).ties
    return doors.tabulate(
        data,
        roles,
        partial(doors.measure_rows, kernel=_recall_columns, kind=kind, ties=ties, of_lift=of_lift),
        columns,
        can(nbest_recall),
        n=sizes,
        attrs={**kind._asdict(), "ties": ties},
    )


def _recall_columns(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    kind: IntervalKind,
    ties: str,
    of_lift: bool,
) -> Columns:
    """Return the columns (group, measure, n) of the lists, with limits for recall or lift."""
    lists = ranking.nbest(n, ties)
    if n is None:
        n = ranking.every
    columns = precision.columns_of_lists(
        lists, n, ranking.size, ranking.retrieved, candidates.sign, ties
    )
    total, positive = (x[..., np.newaxis] for x in ranking.size)
    inside = np.minimum(n, np.maximum(total, 1))
    edge = edge_precision(ranking.cumulated(ties), inside, total)
    spread = bands.spread(lists.tp, inside, total, positive, edge)
    exists = lists.exists & (positive > 0)
    fixed = kind.target == "region"
    if candidates.clusters is not None:
        of_clusters = of_rows(
            lambda ranked, n, _: recall_sizes(ranked, n, kind.level, kind.target),
            ranking,
            candidates.clusters,
            n,
            exists,
        )
        size, columns["n_groups"] = of_clusters["value"], of_clusters["n_groups"]
    elif fixed:
        size = np.broadcast_to(positive.astype(float), lists.tp.shape)
    else:
        size = spread.effective(positive)
    columns |= kind.columns(columns["recall"] * size, size, exists)
    weight: Any = 1.0
    if candidates.clusters is not None:
        weight = np.minimum(size / np.maximum(positive, 1), 1.0)
    with silent_division():
        if not fixed:
            rates = (columns["recall"], columns["precision"])
            whole = (total * weight, positive * weight)
            columns["ci_high"] = allow_for_positives(
                columns["ci_high"], *rates, whole, kind.limits, inverse=True
            )
        if of_lift:  # no lift exceeds one over the prevalence, here over its lower limit
            of_pool = [x[..., np.newaxis] for x in ranking.retrieved]
            least = kind.limits(of_pool[1] * weight, of_pool[0] * weight)[0]
            times = np.true_divide(positive * of_pool[0], n * of_pool[1])  # from recall to lift
            for name in ("ci_low", "ci_high"):
                columns[name] = np.minimum(columns[name] * times, 1.0 / least)
    if of_lift:
        precision.warn_of_reversed(columns["ci_high"][exists] < 1.0)
    return columns


def precision_as(table: Rows, candidates: Candidates, pairs: Sequence[doors.Pair], of: str) -> Rows:
    """Convert precision to recall or lift, using the factor ``times``.

    ``most`` is the difference in precision at which recall differs by 1.
    ``of_positives`` and ``shared`` are the variance of N+ and its covariance with n times the
    difference, divided by N+ squared and by n N+.
    """
    if of == "lift" and candidates.ends:
        raise ValueError(
            "of='lift' with missing='absent': the two measures retrieved different candidates, so"
            " their lifts have different baselines. Compare precision or recall."
        )
    total, positive = doors.common_counts(candidates, pairs)  # (group, pair)
    group = np.searchsorted(candidates.group, table[GROUP])
    pair, n = table[PAIR], table["n"]
    with_positives = np.where(positive > 0, positive, np.nan)[group, pair]
    above = n
    if of == "lift":
        above = total[group, pair]
    times = above / with_positives
    share = with_positives / total[group, pair]
    if "edge_a" in table:
        table["of_positives"] = (1.0 - share) / with_positives
        shared = []
        for side in "ab":
            value = table[f"precision_{side}"]
            edge = np.where(value >= NEARLY, 1.0, table[f"edge_{side}"])
            shared.append(value * (1.0 - share) - edge * (value - share))
        table["shared"] = (shared[0] - shared[1]) / with_positives
    for side in "ab":
        table[f"{of}_{side}"] = table.pop(f"precision_{side}") * times
    # no recall exceeds 1, but n / N+ varies
    table["times"], table["most"] = times, positive[group, pair] / n
    return table
