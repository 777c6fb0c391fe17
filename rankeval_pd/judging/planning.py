"""How many candidates must be judged to know which of two measures is better?"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_count, check_share
from rankeval_pd.forms.roles import Roles
from rankeval_pd.judging.partial import judged_difference
from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.significance.fisher import fisher_test

_DRAWS = 4_000


def plan_annotation(
    candidates: pd.DataFrame,
    a: Hashable,
    b: Hashable,
    n: int,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    budget: int | None = None,
    precisions: tuple[float, float] | None = None,
    **roles: Any,
) -> pd.DataFrame:
    """Say how many more candidates to judge before the difference of two lists shows.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a score for each measure and a gold label, missing where a candidate was not
        judged.
    a, b : names of measures
    n : int
        Size of both lists.
    power : float
        Probability that Fisher's test of the judged candidates of the two difference regions is to
        have of finding the difference, two-sided at ``alpha``.
    alpha : float
    budget : int, optional
        Most judgements there can be; the power is then that of as many.
    precisions : pair of float, optional
        Precisions of the two difference regions to plan with; None takes those of the candidates
        that are judged there.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame
        One row: ``measure_a``, ``measure_b``, ``n``; ``n_region``: candidates in the two regions
        together; ``region_share``: their share of the union of the lists, outside of which nothing
        need be judged; ``precision_a``, ``precision_b`` of the regions, as planned with;
        ``n_judged``: judged there already; ``n_more``: judgements needed besides, half in each
        region as far as they reach; ``power``: that these give. Where all of the regions is not
        enough, n_more is all that is left and power what that gives.

    Notes
    -----
    The power is simulated: in regions whose numbers of true positives are those of the precisions,
    4,000 samples of the size asked for are drawn without replacement and tested. The size is found
    by halving. Which candidates to judge: :func:`annotation_sheet`. Some tenths of a second.

    References
    ----------
    S. Evert and B. Krenn (2005), Using small random samples for the manual evaluation of
    statistical association measures.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> partly = df.assign(gold=float("nan"))
    >>> plan = rankeval_pd.plan_annotation(partly, "good", "fair", 100, precisions=(0.5, 0.2))
    >>> plan[["n_region", "region_share", "n_judged", "n_more", "power"]].round(2)
       n_region  region_share  n_judged  n_more  power
    0       126          0.77         0      69   0.81
    """
    power, alpha = check_share("power", power), check_share("alpha", alpha)
    result = judged_difference(candidates, a, b, n, **roles).iloc[0]
    size = int(result["n_only"])
    judged = [int(result["n_judged_a"]), int(result["n_judged_b"])]
    shares = _planned(result, precisions)
    left = 2 * size - sum(judged)
    most = left if budget is None else min(check_count("budget", budget, 0), left)
    seed = Roles.of(roles).draws

    def reached(more: int) -> float:
        samples = _spread(more, judged, size)
        return _power_of_regions(samples, size, shares, alpha, seed)

    more = most if budget is not None else _least(reached, power, most)
    union = n + size
    return pd.DataFrame(
        {
            "measure_a": [a], "measure_b": [b], "n": [n], "n_region": [2 * size],
            "region_share": [2 * size / union], "precision_a": [shares[0]],
            "precision_b": [shares[1]], "n_judged": [sum(judged)], "n_more": [more],
            "power": [reached(more)],
        }
    )  # fmt: skip


def _planned(found: pd.Series, precisions: tuple[float, float] | None) -> tuple[float, float]:
    """Return the precisions of the regions: given, or of those judged, half a candidate added."""
    if precisions is not None:
        first, second = (check_share("precisions", x) for x in precisions)
        return first, second
    if not (found["n_judged_a"] and found["n_judged_b"]):
        raise ValueError(
            "precisions=None: in one of the difference regions nothing is judged yet, so that there"
            " is nothing to plan with. Judge some (annotation_sheet), or give precisions=(of the"
            " candidates that only a has, that only b has)."
        )
    first, second = (
        float((found[f"tp_judged_{side}"] + 0.5) / (found[f"n_judged_{side}"] + 1.0))
        for side in "ab"
    )
    return first, second


def _spread(more: int, judged: list[int], size: int) -> tuple[int, int]:
    """Return the judged candidates of either region after so many more, as even as they reach."""
    total = sum(judged) + more
    first = min(max(total - total // 2, total - size, judged[0]), size, total - judged[1])
    return first, total - first


def _least(reached: Callable[[int], float], power: float, most: int) -> int:
    """Return the least number of judgements with this power, or all there are."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if reached(middle) >= power:
            high = middle
        else:
            low = middle + 1
    return low


def _power_of_regions(
    samples: tuple[int, int], size: int, shares: tuple[float, float], alpha: float, seed: int
) -> float:
    """Return how often samples without replacement of two regions differ significantly."""
    rng = np.random.default_rng(seed)
    drawn = []
    for sample, share in zip(samples, shares, strict=True):
        true = round(share * size)
        drawn.append(rng.hypergeometric(true, size - true, sample, _DRAWS))
    return _significant(drawn[0], samples[0], drawn[1], samples[1], alpha)


def _significant(tp_a: IntArray, n_a: int, tp_b: IntArray, n_b: int, alpha: float) -> float:
    """Return the share of the pairs of counts that Fisher's test calls different."""
    pairs, count = np.unique(np.stack([tp_a, tp_b]), axis=1, return_counts=True)
    sizes = (np.full(count.size, n) for n in (n_a, n_b))
    first, second = sizes
    p_value = fisher_test(pairs[0], first, pairs[1], second, "two-sided").p_value
    return float(count[p_value <= alpha].sum() / count.sum())


def needed_candidates(
    precision_a: float,
    precision_b: float,
    overlap: float,
    n: int | None = None,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Say how long two lists must be for a hoped-for difference to show, or what power one has.

    Parameters
    ----------
    precision_a, precision_b : float
        Precisions of the two lists, published or hoped for.
    overlap : float
        Share of each list that is in the other too, from 0 to below 1.
    n : int, optional
        Size of the lists; None is the least with this power.
    power, alpha : float
        Of Fisher's test of the difference regions, two-sided.

    Returns
    -------
    DataFrame
        One row: ``n``; ``n_judgements``: candidates in the two regions, all to be judged;
        ``power``.

    Notes
    -----
    The candidates in both lists are taken to have the mean of the two precisions, as far as the
    regions can make up for it. True positives of the regions are drawn as binomial, 4,000 times.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.needed_candidates(0.4, 0.3, 0.5)
         n  n_judgements    power
    0  202           202  0.80425
    """
    given = {"precision_a": precision_a, "precision_b": precision_b}
    first, second = (check_share(name, value) for name, value in given.items())
    power, alpha = check_share("power", power), check_share("alpha", alpha)
    if isinstance(overlap, bool) or not 0.0 <= overlap < 1.0:
        raise ValueError(f"overlap={overlap!r}: give the share of a list in the other, in [0, 1).")
    if n is None and first == second:
        raise ValueError(
            f"precision_a={first!r} and precision_b={second!r} are equal: no list shows a"
            " difference. Give the precisions that are hoped for."
        )
    shares = _of_regions(first, second, overlap)

    def reached(length: int) -> float:
        size = max(round((1.0 - overlap) * length), 1)
        rng = np.random.default_rng(0)
        drawn = [rng.binomial(size, share, _DRAWS) for share in shares]
        return _significant(drawn[0], size, drawn[1], size, alpha)

    if n is None:
        most = 2
        while reached(most) < power:
            most *= 2
        length = _least(reached, power, most)
    else:
        length = check_count("n", n)
    regions = 2 * max(round((1.0 - overlap) * length), 1)
    return pd.DataFrame({"n": [length], "n_judgements": [regions], "power": [reached(length)]})


def _of_regions(first: float, second: float, overlap: float) -> tuple[float, float]:
    """Return the precisions of the two regions, those in both lists having the mean of the two."""
    shared = 0.5 * (first + second)
    lowest = max(0.0, (max(first, second) - (1.0 - overlap)) / overlap) if overlap else 0.0
    highest = min(1.0, min(first, second) / overlap) if overlap else 1.0
    if lowest > highest:
        raise ValueError(
            f"overlap={overlap!r}: lists that share so much cannot have precisions of {first:g} and"
            f" {second:g}. The difference is at most 1 - overlap."
        )
    shared = float(np.clip(shared, lowest, highest))
    listed = [float((x - overlap * shared) / (1.0 - overlap)) for x in (first, second)]
    return listed[0], listed[1]
