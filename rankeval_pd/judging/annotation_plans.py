"""Plan how many candidates to judge when you compare two measures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_count, check_share, warn
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.forms.roles.roles import JudgedRoles
from rankeval_pd.judging.judged_lists import judged_difference
from rankeval_pd.judging.samples import check_frame
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions.populations import binomial_laws
from rankeval_pd.stats.significance.fisher import fisher_test
from rankeval_pd.stats.significance.fisher_power import Pilot, drawn_laws, fisher_power

_TEETH = 24  # number of smaller plans for which the power is checked
_LARGEST = 4_096  # largest region size in plans based on a pilot
_OUTSIDE = (0.025, 0.975)  # quantiles for the range of the power


@Capabilities(
    rankings="What to judge, and how?",
    short="measure_a measure_b n n_judged n_more power power_low power_high",
)
@with_roles
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
    **roles: Unpack[JudgedRoles],
) -> pd.DataFrame:
    """Plan how many more candidates to judge when you compare two lists.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a score for each measure and a gold label. Unjudged candidates have a
        missing label.
    a, b : names of measures
    n : int
        Size of each list.
    power : float
        Required power of Fisher's two-sided test at level ``alpha`` on the judged candidates in the
        two difference regions.
    alpha : float
    budget : int, optional
        Largest number of judgments that you can afford. The plan then gives the power for this
        budget.
    precisions : pair of float, optional
        Assumed precisions in the two difference regions. The first region contains the candidates
        found only in the list for a, and the second region contains the candidates found only in
        the list for b. For the precisions of whole lists, use :func:`needed_candidates`. By
        default, judged candidates in the regions serve as a pilot sample.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame
        One row per group: ``measure_a``, ``measure_b``, ``n``; ``n_judged``: existing judgments;
        ``n_more``: additional judgments needed, half in each region if possible, or all remaining
        candidates; ``power``: the resulting power; ``power_low``, ``power_high``: 95% range of the
        power given the pilot, NaN with ``precisions``. ``details=True`` adds ``n_region``: total
        size of the two regions; ``region_share``: proportion of the candidates in either list that
        are in a region; ``precision_a``, ``precision_b``: precisions in the regions.

    Notes
    -----
    The planned test is Fisher's test on all existing and new judgments. After a pilot, ``power`` is
    the assurance: the average power over the posterior distribution of the precisions, with
    Jeffreys's prior for each region. After a small pilot, the requested power can be unattainable.
    ``n_more`` then equals the number of remaining candidates, and you should judge a larger pilot
    first. With ``precisions``, new judgments are a sample without replacement from regions with the
    assumed precisions. Power is a sawtooth function of the sample size, so ``n_more`` is only
    approximately the smallest number that provides this power. Power is computed as a sum over all
    outcomes. Use :func:`annotation_sheet` to draw the candidates to judge. See
    :func:`judged_difference` for a test on the judged candidates. A RankevalWarning reports a pilot
    that is not a random sample from the regions, a power that cannot be reached, or a budget too
    small for any significant result.

    References
    ----------
    S. Evert and B. Krenn (2005), Using small random samples for the manual evaluation of
    statistical association measures.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> partly = df.assign(gold=float("nan"))
    >>> plan = partly.rankeval.plan_annotation("good", "fair", 100, precisions=(0.5, 0.2))
    >>> plan[["n_judged", "n_more", "power"]]
       n_judged  n_more     power
    0         0      69  0.803587
    """
    check_frame(candidates)
    if roles.get("groups") is not None:
        raise ValueError(
            "groups: plans assume a random sample of candidates. Omit groups, or keep one"
            " candidate per group."
        )
    power, alpha = check_share("power", power), check_share("alpha", alpha)
    n = check_count("n", n)
    most = None if budget is None else check_count("budget", budget, 0)
    found = judged_difference(candidates, a, b, n, **roles)
    groups = found.columns[: list(found.columns).index("measure_a")]
    rows = []
    for _, row in found.iterrows():
        state = _State.of(row, precisions)
        left = 2 * state.size - sum(state.judged)
        if most is not None:
            more = min(most, left)
        else:
            # power averaged over a pilot is not a sawtooth function
            search = _least if state.pilot else _first
            more = search(partial(state.power, alpha), power, left)
        planned = state.power(alpha, more)
        _warn_of_little(planned, power if most is None else None, more, left, state, alpha)
        rows.append({
            **{name: row[name] for name in groups},
            "measure_a": a, "measure_b": b, "n": n, "n_region": 2 * state.size,
            "region_share": 2 * state.size / (n + state.size),
            "precision_a": state.precisions[0], "precision_b": state.precisions[1],
            "n_judged": sum(state.judged), "n_more": more, "power": planned,
            **dict(zip(("power_low", "power_high"), state.power_range(alpha, more), strict=True)),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _warn_of_little(
    planned: float, power: float | None, more: int, left: int, state: _State, alpha: float
) -> None:
    """Warn that the budget, or even judging all candidates, is insufficient."""
    if state.size == 0:
        warn("a and b: both lists contain the same candidates, so there is nothing to judge.")
    elif left and power is not None and planned < power:
        if state.pilot:
            low, high = state.power_range(alpha, more)
            shows = f" on average ({low:.2g} to {high:.2g}, depending on the true precisions)"
            do = "Judge more candidates first, or use longer lists, n=..."
        else:
            shows = f" ({state.in_all()})"
            do = (
                "Use longer lists, n=..., or plan for a larger difference: precisions= refers to"
                " candidates found in only one list, which differ more in precision than the whole"
                " lists."
            )
        warn(
            f"power={power:g} is out of reach: judging all {2 * state.size} candidates that only"
            f" one list contains gives a power of {planned:.2g}{shows}. {do}"
        )
    elif left and planned == 0.0:
        do = "Judge more candidates, or use" if state.power(alpha, left) > 0.0 else "Use"
        warn(
            f"power is 0: no outcome of {more} additional judgments is significant at"
            f" alpha={alpha:g}. {do} longer lists, n=..."
        )


class _State(NamedTuple):
    """Store the judgments and precisions of the two difference regions."""

    size: int  #: size of each region
    judged: tuple[int, int]
    tp: tuple[int, int]
    precisions: tuple[float, float]  #: planned precisions in the full regions
    pilot: bool = False  #: whether the precisions come only from the pilot

    @classmethod
    def of(cls, found: pd.Series, precisions: tuple[float, float] | None) -> _State:
        """Return the state, given planned precisions and a row from judged_difference."""
        judged, tp = (
            (int(found[f"{name}_a"]), int(found[f"{name}_b"])) for name in ("n_judged", "tp_judged")
        )
        size = int(found["n_only"])
        if precisions is not None:
            first, second = (check_share("precisions", x) for x in precisions)
            return cls(size, judged, tp, (first, second))
        if size == 0:  # the two lists are identical
            return cls(size, judged, tp, (np.nan, np.nan))
        if not all(judged):
            raise ValueError(
                "precisions=None: one of the difference regions has no judged candidates. Judge"
                " candidates in both regions (annotation_sheet), or pass precisions=(p_a, p_b) for"
                " the two regions."
            )
        # half a candidate is added to each class
        first, second = (
            (t + (size - m) * (t + 0.5) / (m + 1.0)) / size for t, m in zip(tp, judged, strict=True)
        )
        return cls(size, judged, tp, (first, second), pilot=True)

    def in_all(self) -> str:
        """Describe the expected result of judging all candidates in the two regions."""
        true = [round(share * self.size) for share in self.precisions]
        first, second, size = (np.array([x]) for x in (*true, self.size))
        p_value = fisher_test(first, size, second, size, "two-sided").p_value[0]
        return (
            f"expected: {true[0]} and {true[1]} true positives among {self.size} candidates"
            f" each, p = {p_value:.2g}"
        )

    def power(self, alpha: float, more: int) -> float:
        """Return the power of Fisher's test after ``more`` additional judgments."""
        return float(self._powers(alpha, more, of_pilot=False)[0, 0])

    def power_range(self, alpha: float, more: int) -> tuple[float, float]:
        """Return the range of the power given the pilot."""
        if not self.pilot:
            return np.nan, np.nan
        return _range(self._powers(alpha, more, of_pilot=True))

    def _powers(self, alpha: float, more: int, *, of_pilot: bool) -> FloatArray:
        """Return the average power, or the power for each possible precision."""
        samples = _spread(more, list(self.judged), self.size)
        laws = []
        for sample, judged, tp, share in zip(
            samples, self.judged, self.tp, self.precisions, strict=True
        ):
            new, left, pilot = sample - judged, self.size - judged, Pilot(tp, judged)
            if of_pilot:
                law = pilot.laws_of_totals(new, left)
            elif self.pilot:
                law = pilot.law(new)[np.newaxis]
            else:
                true = min(max(round(share * self.size) - tp, 0), left) if left else 0
                law = drawn_laws(new, left, np.array([float(true)]))
            laws.append(np.pad(law, ((0, 0), (tp, judged - tp))))
        return fisher_power(laws[0], samples[0], laws[1], samples[1], alpha)


def _range(powers: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(powers, _OUTSIDE)
    return float(low), float(high)


def _spread(more: int, judged: list[int], size: int) -> tuple[int, int]:
    """Distribute additional judgments evenly, and return the judged count per region."""
    total = sum(judged) + more
    first = min(max(total - total // 2, total - size, judged[0]), size, total - judged[1])
    return first, total - first


def _first(reached: Callable[[int], float], power: float, most: int) -> int:
    """Return the smallest number of judgments for this power, or all candidates.

    Power is a sawtooth function of the sample size, so bisection is not sufficient. The function
    therefore checks smaller numbers as well.
    """
    place = _least(reached, power, most)
    if reached(place) < power:
        return place
    near = range(max(place - _TEETH, 0), place)
    return next((more for more in near if reached(more) >= power), place)


def _least(reached: Callable[[int], float], power: float, most: int) -> int:
    """Use bisection to find a number of judgments that provides this power."""
    return bisect_left(range(most), True, key=lambda more: reached(more) >= power)


@with_options
def needed_candidates(
    precision_a: float,
    precision_b: float,
    overlap: float,
    n: int | None = None,
    *,
    n_judged: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Plan the list size for a comparison, or return the power for a given size.

    Parameters
    ----------
    precision_a, precision_b : float
        Published, expected or pilot precisions of the two lists.
    overlap : float
        Proportion of each list shared with the other list, at least 0 and below 1.
    n : int, optional
        Size of the lists. By default, the function finds the smallest size that reaches ``power``.
    n_judged : int, optional
        Number of candidates in each list that were judged to estimate the precisions. By default
        the precisions are treated as exact.
    power, alpha : float
        Power and level of Fisher's two-sided test on the difference regions.

    Returns
    -------
    DataFrame
        One row with ``n``; ``n_judgements``, the number of candidates to judge in the two regions;
        and ``power``. With ``n_judged``, ``power`` is an average over the posterior distribution
        given the pilot, and the range is ``power_low`` to ``power_high``, as in
        :func:`plan_annotation`.

    Notes
    -----
    The precision of shared candidates is assumed to be the mean of the two precisions, or as close
    to the mean as possible. Numbers of true positives in the regions are binomial, or beta-binomial
    given a pilot. The power is computed as a sum over all outcomes. If regions of 4,096 candidates
    do not provide this power, a RankevalWarning reports that the pilot is too small.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.needed_candidates(0.4, 0.3, 0.5)
         n  n_judgements     power
    0  195           196  0.802368
    >>> rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=50)
        n  n_judgements   power  power_low  power_high
    0  30            30  0.8005   0.320682    0.995885
    """
    given = {"precision_a": precision_a, "precision_b": precision_b}
    first, second = (check_share(name, value) for name, value in given.items())
    power, alpha = check_share("power", power), check_share("alpha", alpha)
    if isinstance(overlap, bool) or not 0.0 <= overlap < 1.0:
        raise ValueError(
            f"overlap={overlap!r}: pass the share of candidates that the two lists"
            " have in common, in [0, 1)."
        )
    if n is None and n_judged is None and first == second:
        raise ValueError(
            f"precision_a={first!r} and precision_b={second!r} are equal, so there is no difference"
            " to detect. Pass the expected precisions."
        )
    shares = _of_regions(first, second, overlap)
    seen = None if n_judged is None else (1.0 - overlap) * check_count("n_judged", n_judged)
    pilots = None if seen is None else [Pilot(share * seen, seen) for share in shares]

    def size_of(length: int) -> int:
        return max(round((1.0 - overlap) * length), 1)

    def reached(length: int) -> float:
        size = size_of(length)
        if pilots is None:
            laws = [np.exp(binomial_laws(np.array([float(size)]), np.array([x]))) for x in shares]
        else:
            laws = [pilot.law(size)[np.newaxis] for pilot in pilots]
        return float(fisher_power(laws[0], size, laws[1], size, alpha)[0, 0])

    if n is None:
        most = 2
        while reached(most) < power and (pilots is None or size_of(most) < _LARGEST):
            most *= 2
        length = _least(reached, power, most)
    else:
        length = check_count("n", n)
    size, planned = size_of(length), reached(length)
    row = {"n": length, "n_judgements": 2 * size, "power": planned}
    if pilots is not None:
        open_a, open_b = (pilot.laws_of_rates(size) for pilot in pilots)
        limits = _range(fisher_power(open_a, size, open_b, size, alpha))
        row |= dict(zip(("power_low", "power_high"), limits, strict=True))
        if n is None and planned < power:
            warn(
                f"power={power:g} cannot be reached with {length:,} candidates per list: the pilot,"
                f" n_judged={n_judged}, is too small to distinguish the precisions. Judge a larger"
                " pilot sample."
            )
    return pd.DataFrame([row])


def _of_regions(first: float, second: float, overlap: float) -> tuple[float, float]:
    """Return the precisions in the two regions, given the precisions of the lists."""
    shared = 0.5 * (first + second)
    lowest = max(0.0, (max(first, second) - (1.0 - overlap)) / overlap) if overlap else 0.0
    highest = min(1.0, min(first, second) / overlap) if overlap else 1.0
    if lowest > highest:
        raise ValueError(
            f"overlap={overlap!r}: lists with this overlap cannot have precisions of {first:g} and"
            f" {second:g}. Pass precisions that differ by at most 1 - overlap."
        )
    shared = float(np.clip(shared, lowest, highest))
    return (first - overlap * shared) / (1.0 - overlap), (second - overlap * shared) / (
        1.0 - overlap
    )
