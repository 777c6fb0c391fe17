"""Measures of early retrieval: enrichment factors, BEDROC and partial areas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Unpack

import numpy as np

from rankeval_pd.curves.areas import Columns, area_rows, spread_of
from rankeval_pd.doors import Data, Shares, tabulate
from rankeval_pd.errors import check_number, check_share, check_shares
from rankeval_pd.lists.precision import IntervalKind
from rankeval_pd.lists.recall import recall_of_lists
from rankeval_pd.options import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.roles import ProportionInterval, RankingRoles, Roles
from rankeval_pd.stats import IntArray, Ranking, areas

_ENRICHED = ("tp", "lift", "ci_low", "ci_high", "tied")
BEDROC_COLUMNS = ("measure", "value", "chance", "ci_low", "ci_high", "se")
PARTIAL_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high", "se")


@Capabilities(
    rankings="How good is each list?", clusters=True, layout="measure share", quantity="enrichment"
)
@with_roles
def enrichment(
    data: Data,
    share: float | Sequence[float],
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return enrichment factors for given fractions of the candidates, with intervals.

    Parameters
    ----------
    data, **roles
        As in :func:`nbest_precision`.
    share : float or list of float
        Fractions of the candidates, above 0 and at most 1. Each list is the smallest list
        that contains at least this fraction of the candidates.
    ci, level
        As in :func:`nbest_recall`, for the interval at each fraction.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and ``share`` (Dataset: dimensions measure and share). ``n`` is the size
        of the list, and ``tp`` is the number of true positives. ``lift`` = (tp / n) / (N+ / N) is
        the enrichment factor, with the confidence limits ``ci_low`` and ``ci_high``; all three are
        NaN if the data contain no true positives. ``tied`` is the number of excluded candidates
        that tie with the last candidate in the list.

    Warns
    -----
    RankevalWarning
        If an interval for the lift lies below 1. You may have to pass ``lower_is_better``.

    Notes
    -----
    The lift is recall divided by n / N, and the limits for the lift are the limits for recall
    (:func:`nbest_recall`) divided by n / N. No lift exceeds one over the prevalence, so ``ci_high``
    is at most one over the lower limit for the prevalence. To test the difference between two
    measures, use ``compare(n=share, of="lift")``. The cost is O(N log N).

    References
    ----------
    Jiang and Zhao (2015), J. of the American Statistical Association 110.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.enrichment([0.01, 0.05], measures="good")
      measure  share   n  tp      lift    ci_low    ci_high  tied
    0    good   0.01  10   8  8.988764  5.225404  13.873000     0
    1    good   0.05  50  32  7.191011  5.697795   8.791656     0
    """
    shares = Shares(check_shares("share", share, one=True))
    kind = IntervalKind.of(ci, level, target="nbest")
    columns: tuple[str, ...] = ("measure", "n", *_ENRICHED)
    if Roles.of(roles).groups is not None:
        columns += ("n_groups",)
    table = recall_of_lists(data, shares, kind, columns, roles, of_lift=True)
    names = [name for name in table.columns if name != "share"]
    names.insert(names.index("measure") + 1, "share")
    return table[names]


@Capabilities(
    rankings="How good is each list?",
    any_ties=True,
    clusters=True,
    short="measure value ci_low ci_high chance",
    details="se",
    layout="measure",
    quantity="bedroc",
    interval="logit-arcsine",
)
@with_roles_but("key", "label", "ties", "rng")
def bedroc(
    data: Data, alpha: float = 20.0, *, level: float = 0.95, **roles: Unpack[RankingRoles]
) -> Data:
    """Return BEDROC, the Boltzmann-enhanced discrimination of ROC, with an interval.

    Parameters
    ----------
    data, level
        As in :func:`area`.
    alpha : float
        Emphasis on early ranks. The candidate at rank r has a weight of exp(-alpha r / N). With
        alpha = 20, the first 8% of the candidates contribute 80% of the maximum.
    **roles
        Column roles (see :func:`nbest_precision`). ``ties`` has no effect, because candidates with
        equal scores get the mean of their weights.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure). ``value`` is BEDROC, which is 0 if all
        true positives are ranked last and 1 if all are ranked first. ``chance`` is the mean BEDROC
        over all rankings of the candidates. ``ci_low`` and ``ci_high`` are the confidence limits,
        and ``se`` is the standard error from influence values. All values are NaN if a class is
        empty. The interval and ``se`` are NaN if a class has only one candidate.

    Notes
    -----
    Without ties, the value equals RDKit's ``CalcBEDROC``. BEDROC depends on the prevalence, so
    compare only values for the same candidates. The limits are the outer limits of two intervals
    with Student's t: one for the ranking itself, and one with a positive and a negative added at
    each end. Each uses the logit or the arcsine scale, whichever limit is closer. In simulations,
    the coverage of 95% intervals was at least 0.954. The cost is O(N log N).

    References
    ----------
    Truchon and Bayly (2007), J. of Chemical Information and Modeling 47,
    https://doi.org/10.1021/ci600426e, equation 36.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.bedroc()
      measure     value    ci_low   ci_high    chance
    0    good  0.637122  0.536838  0.722995  0.107053
    1    fair  0.423112  0.325473  0.529158  0.107053
    """
    alpha = check_number("alpha", alpha)
    if alpha <= 0.0:
        raise ValueError(
            f"alpha={alpha:g}: pass a number above 0. Larger values emphasize earlier ranks; 20 is"
            " typical."
        )
    level = check_share("level", level)
    question = partial(area_rows, kernel=partial(bedroc_columns, alpha=alpha, level=level))
    columns = (*BEDROC_COLUMNS, "n_groups")
    attrs = {"alpha": alpha, "level": level}
    return tabulate(data, roles, question, columns, can(bedroc), attrs=attrs)


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    clusters=True,
    short="measure area ci_low ci_high chance",
    details="se",
    layout="measure",
    quantity="area",
    interval="logit-arcsine",
)
@with_roles_but("key", "label", "ties", "rng")
def partial_area(
    data: Data, fpr: float, *, level: float = 0.95, **roles: Unpack[RankingRoles]
) -> Data:
    """Return the standardized partial area under the ROC curve.

    Parameters
    ----------
    data, level
        As in :func:`area`.
    fpr : float
        Largest false positive rate, above 0 and at most 1.
    **roles
        Column roles (see :func:`nbest_precision`). ``ties`` has no effect, because the curve is a
        straight line within a block of equal scores.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure). ``area`` is the area A up to ``fpr``,
        standardized by McClish's formula (1 + (A - least) / (most - least)) / 2. Here *least* is
        the area of a random ranking, and *most* is the area of a perfect ranking. ``chance`` is one
        half. ``ci_low`` and ``ci_high`` are the confidence limits, and ``se`` is the standard error
        from influence values. Values are NaN under the same conditions as in :func:`area`.

    Notes
    -----
    The area equals scikit-learn's ``roc_auc_score(max_fpr=)``. The interval is computed from the
    mean true positive rate, as in :func:`bedroc`.

    References
    ----------
    * McClish (1989), Medical Decision Making 9, https://doi.org/10.1177/0272989X8900900307.
    * Dodd and Pepe (2003), Biometrics 59, https://doi.org/10.1111/1541-0420.00071.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.partial_area(fpr=0.1)
      measure      area    ci_low   ci_high  chance
    0    good  0.722201  0.669770  0.773332     0.5
    1    fair  0.617073  0.575875  0.665074     0.5
    """
    fpr = check_share("fpr", fpr, one=True)
    level = check_share("level", level)
    question = partial(area_rows, kernel=partial(partial_columns, fpr=fpr, level=level))
    columns = (*PARTIAL_COLUMNS, "n_groups")
    attrs = {"fpr": fpr, "level": level}
    return tabulate(data, roles, question, columns, can(partial_area), attrs=attrs)


def _early_columns(
    ranking: Ranking,
    statistic: Callable[[Ranking], areas.Influence],
    level: float,
    cluster: IntArray | None,
) -> Columns:
    """Return a value, its chance level, standard error, and limits.

    They are the outer limits of the sample with and without a pair of candidates at each end.
    """
    result = statistic(ranking)
    added = statistic(areas.with_end_pairs(ranking))
    longer = cluster
    if cluster is not None:
        cluster = np.broadcast_to(cluster, result.present.shape)
        own = np.broadcast_to(np.iinfo(np.int64).max - np.arange(4), (*cluster.shape[:-1], 4))
        longer = np.concatenate([own[..., :2], cluster, own[..., 2:]], axis=-1)
    by = spread_of(result, cluster, warned=cluster is not None)
    more = spread_of(added, longer, warned=False)
    low, high = areas.early_limits(result.value, by.error, by.least_freedom, by.positive, level)
    # with the added candidates, each class has four or more
    freedom = np.maximum(by.least_freedom, 3)
    lower, higher = areas.early_limits(added.value, more.error, freedom, more.positive, level)
    return {
        "value": result.value,
        "chance": result.chance,
        "ci_low": np.minimum(low, lower),
        "ci_high": np.maximum(high, higher),
        "se": np.where(np.isnan(result.value), np.nan, by.error),
        **by.counted,
    }


def bedroc_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, alpha: float, level: float
) -> Columns:
    """Return BEDROC, its chance level, confidence limits and standard error."""
    return _early_columns(ranking, partial(areas.bedroc_influence, alpha=alpha), level, cluster)


def partial_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, fpr: float, level: float
) -> Columns:
    """Return McClish's partial area, one half, confidence limits and standard error."""
    columns = _early_columns(ranking, partial(areas.area_up_to, most=fpr), level, cluster)
    least = 0.5 * fpr
    columns["area"] = columns["value"]
    for name in ("area", "ci_low", "ci_high"):
        columns[name] = 0.5 * (1.0 + (columns[name] - least) / (1.0 - least))
    columns["se"] = 0.5 * columns["se"] / (1.0 - least)
    return columns
