"""Plan annotations, write and read annotation sheets, and measure the agreement of annotators."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from rankeval_pd import doors, stats
from rankeval_pd.doors import Data
from rankeval_pd.errors import (
    check_count,
    check_kind,
    check_number,
    check_share,
    listed,
    shown,
    warn,
)
from rankeval_pd.judging.judged import check_frame, judged_difference, read_sample
from rankeval_pd.lists.regions import difference_region
from rankeval_pd.options import Capabilities, with_options, with_roles, with_roles_but
from rankeval_pd.roles import (
    AgreementKind,
    JudgedRoles,
    ListSizes,
    Names,
    Roles,
    as_names,
    find_gold,
    frame_column,
    is_score,
    measures_of,
    native,
    refuse_dim,
    with_columns,
)
from rankeval_pd.stats import FloatArray, Pilot
from rankeval_pd.tables import apart, as_list

# ---- Plan how many candidates to judge when you compare two measures

_TEETH = 24  # number of smaller plans for which the power is checked
_LARGEST = 4_096  # largest region size in plans based on a pilot
# largest region sizes whose power takes a few seconds, with and without a pilot
_MOST_COMPUTED = (2**14, 2**20)
_MOST_JUDGED = 2**16  # largest region size in other plans: nobody judges more by hand
_OUTSIDE = (0.025, 0.975)  # quantiles for the range of the power


@Capabilities(
    rankings="What to judge, and how?",
    short="measure_a measure_b n n_judged n_more power power_low power_high",
    details="n_region region_share precision_a precision_b",
)
@with_roles
def plan_annotation(
    candidates: pd.DataFrame,
    a: Hashable = None,
    b: Names = None,
    n: ListSizes = None,
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
        Candidates. Unjudged candidates have a missing gold label.
    a
    b : name or list of names, optional
        Second measure, or several.
    n : int or sequence of int
        Sizes of the lists.
    power : float
        Required power of Fisher's two-sided test on the judged candidates in the two difference
        regions.
    alpha
    budget : int, optional
        Number of judgments that you can afford, for which the plan gives the power.
    precisions : pair of float, optional
        Assumed precisions in the two difference regions: of the candidates found only in the list
        for a, and only in the list for b. By default, judged candidates serve as a pilot sample.
        For the precisions of whole lists, use :func:`needed_candidates`.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame
        One row per group, pair and n: ``measure_a``, ``measure_b``, ``n``; ``n_judged``: existing
        judgments; ``n_more``: additional judgments needed, half in each region if possible, or all
        remaining candidates; ``power``: the resulting power; ``power_low``, ``power_high``: 95%
        range of the power given the pilot, NaN with ``precisions``. ``details=True`` adds
        ``n_region``: total size of the two regions; ``region_share``: proportion of the candidates
        in either list that are in a region; ``precision_a``, ``precision_b``: precisions in the
        regions.

    Notes
    -----
    The planned test is Fisher's test on all existing and new judgments. After a pilot, ``power`` is
    the assurance: the average power over the posterior distribution of the precisions, with
    Jeffreys's prior for each region. With ``precisions``, new judgments are a sample without
    replacement from regions with the assumed precisions. Power is a sawtooth function of the sample
    size, so ``n_more`` is only approximately the smallest number that provides this power. A
    RankevalWarning reports a pilot that is not a random sample from the regions, a power that
    cannot be reached, or a budget too small for any significant result.

    References
    ----------
    Evert and Krenn (2005), Computer Speech and Language 19,
    https://www.sciencedirect.com/science/article/pii/S0885230805000082.

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
    power = check_share("power", power)
    alpha = check_share("alpha", alpha)
    _check_sizes(n)
    if budget is not None:
        budget = check_count("budget", budget, 0)
    judged = pd.concat(
        [judged_difference(candidates, *x, n, **roles) for x in _pairs(candidates, a, b, roles)]
    )
    groups = judged.columns[: list(judged.columns).index("measure_a")]
    rows = []
    for _, row in judged.iterrows():
        state = _State.of(row, precisions)
        left = 2 * state.size - sum(state.judged)
        reached = partial(state.power, alpha)
        if budget is not None:
            more = min(budget, left)
        elif state.pilot:  # power averaged over a pilot is not a sawtooth function
            more = _bisected_sample(reached, power, left)
        else:
            more = _smallest_sample(reached, power, left)
        planned = reached(more)
        ends = state.power_range(alpha, more)
        if state.size == 0:
            warn("a and b: both lists contain the same candidates, so there is nothing to judge.")
        elif left:
            _warn_of_power(more, planned, power, state, budget)
        rows.append(
            {
                **row[groups],
                **row[["measure_a", "measure_b", "n"]],
                "n_region": 2 * state.size,
                "region_share": 2 * state.size / (row["n"] + state.size),
                "precision_a": state.precisions[0],
                "precision_b": state.precisions[1],
                "n_judged": sum(state.judged),
                "n_more": more,
                "power": planned,
                "power_low": ends[0],
                "power_high": ends[1],
            }
        )
    result = pd.DataFrame(rows)
    result.attrs = {"test": "fisher", "alpha": alpha, "budget": budget}
    if budget is None:
        result.attrs["power"] = power
    if precisions is not None:
        result.attrs["precisions"] = list(precisions)
    return result


def _pairs(
    candidates: pd.DataFrame, a: Hashable, b: Names, roles: JudgedRoles
) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of measures, as in :func:`compare`."""
    if b is not None:
        return [(a, other) for other in doors.others_of(b)]
    return doors.pair_names(measures_of(candidates, roles) or [None], a, None)


def _check_sizes(n: ListSizes) -> None:
    """Raise an error unless the sizes of the lists are given."""
    if doors.check_n(n) is None:
        raise ValueError("n=None: pass the size of the lists, or several, as in n=[100, 500].")


def _warn_of_power(
    more: int, planned: float, wanted: float, state: _State, budget: int | None
) -> None:
    """Warn if a plan does not reach the wanted power, or shows nothing within a budget."""
    do = "Use longer lists, n=..., or plan for a larger difference, precisions=..."
    if budget is not None and planned == 0.0:
        warn(f"power is 0: no outcome of {more} additional judgments is significant. {do}")
    if budget is None and planned < wanted:
        if state.pilot:
            do = "Judge more candidates first, or use longer lists, n=..."
        warn(
            f"power={wanted:g} is out of reach: judging all {2 * state.size} candidates that only"
            f" one list contains gives a power of {planned:.2g}. {do}"
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
        judged = int(found["n_judged_a"]), int(found["n_judged_b"])
        tp = int(found["tp_judged_a"]), int(found["tp_judged_b"])
        size = int(found["n_only"])
        if precisions is not None:
            if np.shape(precisions) != (2,):
                raise ValueError(f"precisions={shown(precisions)}: pass two, as in (0.6, 0.5).")
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

    def power(self, alpha: float, more: int) -> float:
        """Return the power of Fisher's test after ``more`` additional judgments."""
        return float(self._powers(alpha, more, of_pilot=False)[0, 0])

    def power_range(self, alpha: float, more: int) -> FloatArray:
        """Return the range of the power given the pilot."""
        if not self.pilot:
            return np.full(2, np.nan)
        return np.quantile(self._powers(alpha, more, of_pilot=True), _OUTSIDE)

    def _powers(self, alpha: float, more: int, *, of_pilot: bool) -> FloatArray:
        """Return the average power, or the power for each possible precision."""
        samples = _sample_sizes(more, list(self.judged), self.size)
        laws = []
        for sample, judged, tp, share in zip(
            samples, self.judged, self.tp, self.precisions, strict=True
        ):
            new = sample - judged
            left = self.size - judged
            pilot = Pilot(tp, judged)
            if of_pilot:
                law = pilot.laws_of_totals(new, left)
            elif self.pilot:
                law = pilot.law(new)[np.newaxis]
            else:
                true = min(max(round(share * self.size) - tp, 0), left) if left else 0
                law = stats.drawn_laws(new, left, np.array([float(true)]))
            laws.append(np.pad(law, ((0, 0), (tp, judged - tp))))
        return stats.fisher_power(laws[0], samples[0], laws[1], samples[1], alpha)


def _sample_sizes(more: int, judged: list[int], size: int) -> tuple[int, int]:
    """Distribute additional judgments evenly, and return the judged count per region."""
    total = sum(judged) + more
    first = min(max(total - total // 2, total - size, judged[0]), size, total - judged[1])
    return first, total - first


def _smallest_sample(reached: Callable[[int], float], power: float, most: int) -> int:
    """Return the smallest number of judgments for this power, or all candidates."""
    place = _bisected_sample(reached, power, most)
    if reached(place) < power:
        return place
    near = range(max(place - _TEETH, 0), place)  # power is a sawtooth function of the sample size
    return next((more for more in near if reached(more) >= power), place)


def _bisected_sample(reached: Callable[[int], float], power: float, most: int) -> int:
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
        and ``power``. With ``n_judged``, ``power`` is the assurance, with its range ``power_low``
        to ``power_high``, as in :func:`plan_annotation`.

    Notes
    -----
    The precision of shared candidates is assumed to be the mean of the two precisions, or as close
    to the mean as possible. Numbers of true positives in the regions are binomial, or beta-binomial
    given a pilot. The power is computed as a sum over all outcomes. A RankevalWarning reports a
    pilot with which regions of 4,096 candidates do not reach the power.

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
    first = check_share("precision_a", precision_a)
    second = check_share("precision_b", precision_b)
    power = check_share("power", power)
    alpha = check_share("alpha", alpha)
    overlap = check_number("overlap", overlap)
    if not 0.0 <= overlap < 1.0:
        raise ValueError(
            f"overlap={overlap!r}: pass the share of candidates that the two lists"
            " have in common, in [0, 1)."
        )
    if n is None and n_judged is None and first == second:
        raise ValueError(
            f"precision_a={first!r} and precision_b={second!r} are equal, so there is no difference"
            " to detect. Pass the expected precisions."
        )
    shares = _shares_of_regions(first, second, overlap)
    pilots, largest = None, _MOST_JUDGED
    if n_judged is not None:
        largest = _LARGEST
        seen = (1.0 - overlap) * check_count("n_judged", n_judged)
        pilots = [Pilot(share * seen, seen) for share in shares]
    reached = partial(_power_of_lists, overlap, shares, pilots, alpha)
    if n is None:
        most = 2
        while reached(most) < power and _region_size(overlap, most) < largest:
            most *= 2
        if pilots is None and reached(most) < power:
            raise ValueError(
                f"precision_a={first!r} and precision_b={second!r}: this difference requires more"
                f" than {_MOST_JUDGED:,} judgments in each list. Pass precisions that differ more."
            )
        length = _bisected_sample(reached, power, most)
    else:
        length = check_count("n", n)
    size = _region_size(overlap, length)
    most = _MOST_COMPUTED[pilots is None]
    if size > most:
        raise ValueError(
            f"n={n}: the power of more than {most:,} judgments in each list is not"
            " computed. Pass smaller n."
        )
    planned = reached(length)
    row = {"n": length, "n_judgements": 2 * size, "power": planned}
    if pilots is not None:
        open_a, open_b = (pilot.laws_of_rates(size) for pilot in pilots)
        low, high = np.quantile(stats.fisher_power(open_a, size, open_b, size, alpha), _OUTSIDE)
        row |= {"power_low": low, "power_high": high}
    if n is None and planned < power:
        warn(
            f"power={power:g} cannot be reached with {length:,} candidates per list. Judge a larger"
            " pilot sample, n_judged=..."
        )
    result = pd.DataFrame([row])
    result.attrs = {
        "test": "fisher",
        "alpha": alpha,
        "power": power,
        "precision_a": first,
        "precision_b": second,
        "overlap": overlap,
        "n_judged": n_judged,
    }
    return result


def _region_size(overlap: float, length: int) -> int:
    return max(round((1.0 - overlap) * length), 1)


def _power_of_lists(
    overlap: float,
    shares: tuple[float, float],
    pilots: list[Pilot] | None,
    alpha: float,
    length: int,
) -> float:
    """Return the power for lists of this length."""
    size = _region_size(overlap, length)
    if pilots is None:
        laws = [np.exp(stats.binomial_laws(np.array([float(size)]), np.array([x]))) for x in shares]
    else:
        laws = [pilot.law(size)[np.newaxis] for pilot in pilots]
    return float(stats.fisher_power(laws[0], size, laws[1], size, alpha)[0, 0])


def _shares_of_regions(first: float, second: float, overlap: float) -> tuple[float, float]:
    """Return the precisions in the two regions, given the precisions of the lists."""
    lowest, highest = 0.0, 1.0
    if overlap:
        lowest = max(0.0, (max(first, second) - (1.0 - overlap)) / overlap)
        highest = min(1.0, min(first, second) / overlap)
    if lowest > highest:
        raise ValueError(
            f"overlap={overlap!r}: lists with this overlap cannot have precisions of {first:g} and"
            f" {second:g}. Pass precisions that differ by at most 1 - overlap."
        )
    shared = overlap * min(max(0.5 * (first + second), lowest), highest)
    return (first - shared) / (1.0 - overlap), (second - shared) / (1.0 - overlap)


# ---- Create sheets of candidates to judge, and read the judgments


@Capabilities(rankings="What to judge, and how?", own_rows=True)
@with_roles_but("positive", "min_grade")
def annotation_sheet(
    candidates: pd.DataFrame,
    a: Hashable = None,
    b: Names = None,
    n: ListSizes = None,
    *,
    size: int | None = None,
    **roles: Unpack[JudgedRoles],
) -> pd.DataFrame:
    """Return a sheet of candidates to judge for the comparison of two lists.

    Parameters
    ----------
    candidates, a, b, n
        As in :func:`plan_annotation`.
    size : int, optional
        Number of candidates to judge, for example from :func:`plan_annotation`. None means all
        unjudged candidates.
    **roles
        Column roles. See :func:`nbest_precision`. ``rng`` seeds the random order.

    Returns
    -------
    DataFrame
        One row per candidate in random order, with the input index and an empty gold column. Join
        the columns that judges need, but not scores, so that judges cannot see which measure found
        a candidate: ``sheet.join(candidates[["text"]])``.

    Notes
    -----
    The sheet is a random sample from the two difference regions, whose candidates alone distinguish
    the measures, with equal numbers from each region if possible. For several pairs or sizes, it is
    a random sample from the union of their regions, in which each candidate occurs once.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> partly = df.assign(gold=float("nan"))
    >>> rankeval_pd.annotation_sheet(partly, "good", "fair", 100, size=3)
         gold
    824  <NA>
    258  <NA>
    403  <NA>
    """
    check_frame(candidates)
    chosen = Roles.of(roles)
    chosen.check_groups()
    sample = read_sample(candidates, roles)
    gold, judged = sample.gold, sample.judged
    numbered = with_columns(sample.data, {"_place": np.arange(judged.size)})
    place = numbered.columns[-1]
    numbered[gold] = judged
    _check_sizes(n)
    asked = itertools.product(_pairs(candidates, a, b, roles), as_list(n))
    regions = [difference_region(numbered, *pair, size, **sample.roles) for pair, size in asked]
    region = pd.concat(regions)
    if len(regions) > 1:
        region = region.drop_duplicates(place).assign(list="a")
    left = region[~region[gold].astype(bool)]
    rng = np.random.default_rng(chosen.rng)
    sides = []
    for side in "ab":
        places = left.loc[left["list"] == side, place]
        sides.append(rng.permutation(places.to_numpy(copy=True)))
    total = wanted = sum(side.size for side in sides)
    if size is not None:
        wanted = check_count("size", size, 0)
    if wanted > total:
        raise ValueError(
            f"size={size!r}: the difference regions have {total} unjudged candidates. Pass at most"
            f" {total}, or None for all."
        )
    from_a = min(max(wanted - wanted // 2, wanted - sides[1].size), sides[0].size)
    rows = rng.permutation(np.concatenate([sides[0][:from_a], sides[1][: wanted - from_a]]))
    sheet = native(sample.data[[]]).iloc[rows].copy()
    sheet[gold] = pd.array([pd.NA] * len(sheet), dtype="boolean")
    return sheet


@Capabilities(rankings="What to judge, and how?", own_rows=True, clusters=True)
@with_roles_but(
    *"agreement measures exclude by rng dim key label groups lower_is_better missing ties".split()
)
def with_judgements(
    candidates: pd.DataFrame, sheet: pd.DataFrame, **roles: Unpack[JudgedRoles]
) -> pd.DataFrame:
    """Return the candidates with the judgments from a sheet.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a unique index.
    sheet : DataFrame
        A sheet from :func:`annotation_sheet` with a completed gold column (True and False, 1 and 0,
        or values named in ``positive``), read with its index: ``pd.read_csv(path, index_col=0)``.
    **roles
        ``gold`` is the judgment column in both tables. ``positive`` and ``min_grade`` define which
        words or grades count as true.

    Returns
    -------
    DataFrame
        A copy of the candidates with nullable booleans in the gold column.

    Warns
    -----
    RankevalWarning
        If the index of the sheet numbers its rows, as in a file that was read without an index.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"m": [2, 1], "gold": [None, None]}, index=["x", "y"])
    >>> sheet = pd.DataFrame({"gold": [True]}, index=["y"])
    >>> rankeval_pd.with_judgements(df, sheet)["gold"].tolist()
    [<NA>, True]
    """
    check_frame(candidates)
    check_kind("sheet", sheet, pd.DataFrame, "a DataFrame with one row per judged candidate")
    chosen = Roles.of(roles)
    gold = find_gold(candidates, chosen)
    for name, frame in (("candidates", candidates), ("sheet", sheet)):
        if gold not in frame.columns:
            raise ValueError(
                f"gold={gold!r}: {name} has no such column. Pass the judgment column: gold=..."
            )
        if not frame.index.is_unique:
            raise ValueError(
                f"{name} has repeated labels in its index, so judgments are ambiguous. Give each"
                " candidate a unique label: call reset_index(drop=True) before you make the sheet."
            )
    unknown = sheet.index.difference(candidates.index)
    if len(unknown):
        raise ValueError(
            f"sheet has unknown candidates: {listed(unknown[:5])}. Keep the index of the sheet and"
            " its type, for example with pd.read_csv(..., index_col=0)."
        )
    numbered = pd.RangeIndex(len(sheet))
    if 1 < len(sheet) < len(candidates) and sheet.index.equals(numbered):
        warn(
            f"sheet: the index numbers the {len(sheet):,} rows from 0, as in a file without an"
            " index. Judgments belong to the first candidates only if the sheet lists these."
        )
    judged = _as_boolean(sheet, gold, chosen).dropna()
    before = _as_boolean(candidates, gold, chosen)
    contradicted = before.reindex(judged.index).dropna()
    other = contradicted.index[(contradicted != judged[contradicted.index])]
    if len(other):
        raise ValueError(
            f"sheet contradicts earlier judgments of {len(other)} candidates, {listed(other[:5])}."
            " Resolve these contradictions first."
        )
    before[judged.index] = judged
    result = candidates.copy()
    result[gold] = before
    return result


def _as_boolean(frame: pd.DataFrame, gold: Hashable, roles: Roles) -> pd.Series:
    """Convert judgments to nullable booleans, and reject other values."""
    words = as_names(roles.positive, ())
    # earlier judgments are numbers
    if is_bool_dtype(frame_column(frame, gold, "gold").dtype) and not {True, False} & {*words}:
        roles = replace(roles, positive=None)
    truth = doors.gold_values(frame, gold, roles, all_there=False)
    return pd.Series(truth, index=frame.index).astype("boolean")


# ---- Compute coefficients of agreement between annotators

_COLUMNS = ("statistic", "annotators", "value", "ci_low", "ci_high", "n_candidates")


@Capabilities(
    rankings="What to judge, and how?",
    scores=False,
    layout="row",
    quantity="coefficient",
    interval="jackknife",
)
@with_roles_but(*"agreement measures exclude key label lower_is_better ties missing rng".split())
def annotator_agreement(
    data: Data,
    *,
    kind: AgreementKind = "nominal",
    level: float = 0.95,
    **roles: Unpack[JudgedRoles],
) -> Data:
    """Return coefficients of agreement between annotators, with intervals.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a column of labels for each annotator, for example ``gold=["a1", "a2",
        "a3"]``. A label is missing if the annotator did not judge the candidate. In a Dataset, the
        gold label can have a dimension ``annotator`` instead.
    kind
        Disagreement of two labels. "nominal" treats every value as an unordered category. For
        grades, "linear" weights the disagreement by their distance, and "quadratic" by its square
        (weighted kappa; alpha for interval data).
    level
    **roles
        Column roles. With ``positive`` or ``min_grade``, labels are converted to true and false.

    Returns
    -------
    DataFrame or Dataset
        One row per coefficient (Dataset: dimension row): ``statistic``: "Cohen's kappa" for each
        pair, "Fleiss' kappa" and "Krippendorff's alpha" for all annotators; ``annotators``;
        ``value`` with ``ci_low`` and ``ci_high``; ``n_candidates``: candidates with votes from both
        annotators (Cohen), with any votes (Fleiss), or from at least two annotators (Krippendorff).
        Fleiss' kappa is NaN if the number of votes varies across these candidates, and omitted for
        grades. All coefficients are NaN if all labels are the same.

    Notes
    -----
    Intervals are jackknife intervals over candidates, computed with Student's t on Fisher's z
    scale. If fewer than 5 candidates have a label other than the most common label, they are
    widened by an extra candidate to which all annotators give the rare label. In simulations with
    30 to 400 candidates and a kappa of 0.4 to 0.8, coverage was 0.934 or more
    (``tests/simulations/annotators.csv``).

    References
    ----------
    * Cohen (1960), Educational and Psychological Measurement 20,
      https://doi.org/10.1177/001316446002000104.
    * Cohen (1968), Psychological Bulletin 70, https://doi.org/10.1037/h0026256: weighted kappa.
    * Fleiss (1971), Psychological Bulletin 76, https://doi.org/10.1037/h0031619.
    * Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> votes = [(1, 1)] * 8 + [(0, 0)] * 8 + [(1, 0)] * 2 + [(0, 1)] * 2
    >>> df = pd.DataFrame(votes, columns=["a1", "a2"])
    >>> df.rankeval(gold=["a1", "a2"]).annotator_agreement()[["statistic", "value"]]
                  statistic  value
    0         Cohen's kappa   0.60
    1         Fleiss' kappa   0.60
    2  Krippendorff's alpha   0.61
    >>> grades = pd.DataFrame({"a1": [0, 1, 2, 3, 3], "a2": [0, 1, 1, 3, 2]})
    >>> kappa = grades.rankeval(gold=["a1", "a2"]).annotator_agreement(kind="quadratic")
    >>> round(float(kappa["value"][0]), 4)
    0.8438
    """
    doors.check_data(data)
    level = check_share("level", level)
    chosen = Roles.of(roles)
    chosen.check_groups()
    names = doors.annotators_of(chosen)
    if not names:
        raise ValueError(
            f"gold={shown(chosen.gold)} is the label of one annotator. Pass several columns, "
            "for example gold=['a1', 'a2', 'a3']."
        )
    refuse_dim(chosen.dim, "candidate")
    frame = doors.below_door(data)
    return doors.above_door(_table_of_agreement(frame, chosen, names, kind, level), data)


def _table_of_agreement(
    data: pd.DataFrame, chosen: Roles, names: list[Hashable], kind: AgreementKind, level: float
) -> pd.DataFrame:
    """Return the coefficients of all groups."""
    frame = doors.with_levels(data, chosen)
    find_gold(frame, replace(chosen, gold=chosen.gold[0]))
    codes, values = _codes(frame, chosen)
    distances, how = _distances(values, kind), ""
    if kind != "nominal":
        how = f" with {kind} weights"
    by = as_names(chosen.by, frame.columns)
    keys, number = doors.group_numbers(frame, by)
    header = pd.Index([*apart(by, _COLUMNS), *_COLUMNS], tupleize_cols=False)
    parts = []
    for group, key in enumerate(keys.to_numpy(dtype=object).tolist()):
        labels = codes[:, number == group]
        every = ", ".join(map(str, names))
        categories = range(max(int(labels.max(initial=0)), 0) + 1)
        counts = np.stack([(labels == k).sum(axis=0) for k in categories], axis=1)
        here = distances
        if distances is not None:  # a group may lack the last labels
            here = distances[: counts.shape[1], : counts.shape[1]]
        rows = []
        for a, b in itertools.combinations(range(len(names)), 2):
            kappa = stats.cohen_kappa(labels[a], labels[b], level, here)
            rows.append((*key, f"Cohen's kappa{how}", f"{names[a]}, {names[b]}", *kappa))
        if here is None:
            rows.append((*key, "Fleiss' kappa", every, *stats.fleiss_kappa(counts, level)))
        alpha = stats.krippendorff_alpha(counts, level, here)
        rows.append((*key, f"Krippendorff's alpha{how}", every, *alpha))
        parts.append(pd.DataFrame(rows, columns=header))
    result = pd.concat(parts, ignore_index=True)
    result.attrs["level"] = level
    return result


def _distances(values: pd.Index, kind: AgreementKind) -> FloatArray | None:
    """Return the disagreement of each two labels, from 0 to 1, or None for unordered labels."""
    if kind == "nominal":
        return None
    grades = np.full(len(values), np.nan)
    if is_score(values.dtype) or is_bool_dtype(values.dtype):
        grades = values.to_numpy(dtype=float)
    if not np.isfinite(grades).all():
        raise ValueError(
            f"kind={kind!r} needs grades, but the labels in gold include {listed(values[:4])}. Pass"
            " kind='nominal', or convert the labels to numbers."
        )
    distances = np.abs(grades[:, np.newaxis] - grades) ** {"linear": 1, "quadratic": 2}[kind]
    return np.asarray(distances / max(distances.max(initial=0.0), 1e-300))


def _codes(frame: pd.DataFrame, roles: Roles) -> tuple[stats.IntArray, pd.Index]:
    """Return 0-based label codes (annotator, candidate), with -1 for missing labels, and labels."""
    if roles.positive is not None or roles.min_grade is not None:
        truth = [doors.gold_values(frame, name, roles, all_there=False) for name in roles.gold]
        return np.nan_to_num(truth, nan=-1.0).astype(np.int64), pd.Index([0, 1])
    columns = [frame_column(frame, name, "gold").astype(object) for name in roles.gold]
    codes, labels = pd.factorize(pd.concat(columns, ignore_index=True).infer_objects())
    return np.asarray(codes, dtype=np.int64).reshape(len(columns), -1), pd.Index(labels)
