"""How many candidates must be judged? Plans, the sheets to judge, and back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from rankeval_pd.errors import check_count, check_share, listed, warn
from rankeval_pd.forms.rankings.values import gold_values
from rankeval_pd.forms.roles.columns import find_gold, frame_column, with_columns
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles, with_roles_but
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.forms.roles.roles import RankingRoles, Roles, as_names
from rankeval_pd.judging.judged_lists import judged_difference
from rankeval_pd.judging.samples import JudgingScheme, check_frame, quietly, read_sample
from rankeval_pd.nbest.difference_regions import difference_region
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.hypergeometric import log_pmf
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.fisher import fisher_test

# --------------------- How many candidates must be judged to know which of two measures is better?

_DRAWS = 4_000
_RARE = 1e-9  # counts less probable than this change no power
_TEETH = 24  # judgements before a plan that may have its power too


@Capabilities(rankings="What to judge next?", short="measure_a measure_b n n_judged n_more power")
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
    **roles: Unpack[RankingRoles],
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
        Precisions of the two difference regions to plan with: the share of true positives that is
        hoped for among the candidates that only the list of a has, and among those that only that
        of b has (not the precisions of the lists, which :func:`needed_candidates` takes). None
        estimates them from those that are judged there.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame
        One row per group: ``measure_a``, ``measure_b``, ``n``; in details ``n_region``, the
        candidates in both regions, ``region_share``, their share of the union of the lists, and
        ``precision_a``, ``precision_b`` of the regions; ``n_judged``: judgements that exist;
        ``n_more``: judgements needed, half in each region if possible; ``power`` with them. If both
        regions are too small, n_more is all that is left.

    Notes
    -----
    The power is that of the test of all judgements, those that are there and those to come: the
    regions have as many true positives in all as the precisions say, and of those left a random
    sample is drawn. All samples are counted, each with its probability, so that the power is exact
    where the precisions are right; it is at most a step above what was asked for, because the
    judgements are whole. With t true positives among m judged of a region, its others are taken to
    be true at a rate of (t + 1/2) / (m + 1). Estimated precisions are as sure as their judgements
    are many: where a few judgements show a small difference by chance, all are asked for. n_more is
    the least number near which the power is first reached (it rises in a saw-tooth). Which
    candidates to judge: :func:`annotation_sheet`; the test of those judged: :func:`compare_for`, as
    :func:`judged_difference` says. A RankevalWarning says where all there is to judge has less
    power than asked for, and where no outcome of a budget would be significant. A second where the
    regions have hundreds of candidates.

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
    >>> plan
      measure_a measure_b    n  n_judged  n_more     power
    0      good      fair  100         0      69  0.803587
    """
    check_frame(candidates)
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
            more = _first(partial(state.power, alpha), power, left)
        planned = state.power(alpha, more)
        _warn_of_little(planned, power if most is None else None, more, left, state, alpha)
        rows.append({
            **{name: row[name] for name in groups},
            "measure_a": a, "measure_b": b, "n": n, "n_region": 2 * state.size,
            "region_share": 2 * state.size / (n + state.size),
            "precision_a": state.precisions[0], "precision_b": state.precisions[1],
            "n_judged": sum(state.judged), "n_more": more, "power": planned,
        })  # fmt: skip
    return pd.DataFrame(rows)


def _warn_of_little(
    planned: float, power: float | None, more: int, left: int, state: _State, alpha: float
) -> None:
    """Say that all there is to judge shows too little, or a budget nothing."""
    if state.size == 0:
        warn("a and b: both lists have the same candidates, so that there is nothing to judge.")
    elif left and power is not None and planned < power:
        warn(
            f"power={power:g} is not reached: all {2 * state.size} candidates that only one of the"
            f" lists has, judged, give {planned:.2g}: {state.in_all()}. Take longer lists, n=...,"
            " or plan for a larger difference: precisions= are those of the candidates that only"
            " one list has, which differ by more than the precisions of the lists."
        )
    elif left and planned == 0.0:
        do = "Judge more, or take" if state.power(alpha, left) > 0.0 else "Take"
        warn(
            f"power is 0: with {more} more judgements no outcome that the precisions planned with"
            f" allow is significant at alpha={alpha:g}. {do} longer lists, n=..."
        )


class _State(NamedTuple):
    """What is known of the two difference regions."""

    size: int  #: of each
    judged: tuple[int, int]
    tp: tuple[int, int]
    precisions: tuple[float, float]  #: of the whole regions, as planned with

    @classmethod
    def of(cls, found: pd.Series, precisions: tuple[float, float] | None) -> _State:
        """Return what a row of judged_difference says, with the precisions to plan with."""
        judged, tp = (
            (int(found[f"{name}_a"]), int(found[f"{name}_b"])) for name in ("n_judged", "tp_judged")
        )
        size = int(found["n_only"])
        if precisions is not None:
            first, second = (check_share("precisions", x) for x in precisions)
            return cls(size, judged, tp, (first, second))
        if size == 0:  # one list
            return cls(size, judged, tp, (np.nan, np.nan))
        if not all(judged):
            raise ValueError(
                "precisions=None: in one of the difference regions nothing is judged yet, so that"
                " there is nothing to plan with. Judge some (annotation_sheet), or give precisions="
                "(of the candidates that only a has, that only b has)."
            )
        # of those that are left half a candidate more, and half a candidate less, than judged
        first, second = (
            (t + (size - m) * (t + 0.5) / (m + 1.0)) / size for t, m in zip(tp, judged, strict=True)
        )
        return cls(size, judged, tp, (first, second))

    def in_all(self) -> str:
        """Say what all judgements of both regions would show, and Fisher's p-value of it."""
        true = [round(share * self.size) for share in self.precisions]
        first, second, size = (np.array([x]) for x in (*true, self.size))
        p_value = fisher_test(first, size, second, size, "two-sided").p_value[0]
        return f"{true[0]} of {self.size} true against {true[1]}, p = {p_value:.2g}"

    def power(self, alpha: float, more: int) -> float:
        """Return how probable it is that Fisher's test of so many more judgements rejects."""
        samples = _spread(more, list(self.judged), self.size)
        laws, counts = [], []
        for sample, judged, tp, share in zip(
            samples, self.judged, self.tp, self.precisions, strict=True
        ):
            law = self._new(judged, tp, sample - judged, share)
            added = np.flatnonzero(law > _RARE)
            laws.append(law[added])
            counts.append(tp + added)
        tp_a, tp_b = (x.ravel() for x in np.meshgrid(*counts, indexing="ij"))
        n_a, n_b = (np.full(tp_a.size, sample) for sample in samples)
        p_value = fisher_test(tp_a, n_a, tp_b, n_b, "two-sided").p_value
        return float(np.outer(*laws).ravel()[rejects(p_value, alpha)].sum())

    def _new(self, judged: int, tp: int, more: int, share: float) -> FloatArray:
        """Return how probable each number of true positives is among so many more of a region."""
        law = np.zeros(more + 1)
        if more == 0:
            return law + 1.0
        left = self.size - judged
        true = min(max(round(share * self.size) - tp, 0), left)
        possible = np.arange(max(0, more - (left - true)), min(more, true) + 1)
        given = (np.asarray(x, dtype=float) for x in (possible, left, true, more))
        law[possible] = np.exp(log_pmf(*given))
        return law


def _spread(more: int, judged: list[int], size: int) -> tuple[int, int]:
    """Return the judged candidates of either region after so many more, as even as they reach."""
    total = sum(judged) + more
    first = min(max(total - total // 2, total - size, judged[0]), size, total - judged[1])
    return first, total - first


def _first(reached: Callable[[int], float], power: float, most: int) -> int:
    """Return the first number of judgements with this power, or all there are.

    The power rises in a saw-tooth: from where halving ends, the first one of the teeth is sought.
    """
    place = _least(reached, power, most)
    if reached(place) < power:
        return place
    near = range(max(place - _TEETH, 0), place)
    return next((more for more in near if reached(more) >= power), place)


def _least(reached: Callable[[int], float], power: float, most: int) -> int:
    """Return a number of judgements with this power, found by halving, or all there are."""
    return bisect_left(range(most), True, key=lambda more: reached(more) >= power)


def _significant(tp_a: IntArray, n_a: int, tp_b: IntArray, n_b: int, alpha: float) -> float:
    """Return the share of the pairs of counts that Fisher's test calls different."""
    pairs, count = np.unique(np.stack([tp_a, tp_b]), axis=1, return_counts=True)
    first, second = (np.full(count.size, n) for n in (n_a, n_b))
    p_value = fisher_test(pairs[0], first, pairs[1], second, "two-sided").p_value
    return float(count[rejects(p_value, alpha)].sum() / count.sum())


@with_options
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
        One row: ``n``; ``n_judgements``: candidates in the two regions to judge; ``power``.

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
    return (first - overlap * shared) / (1.0 - overlap), (second - overlap * shared) / (
        1.0 - overlap
    )


# --------------------------------------------------------- Sheets of candidates to judge, and back


@Capabilities(rankings="What to judge next?", own_rows=True)
@with_roles_but("positive", "min_grade")
def annotation_sheet(
    candidates: pd.DataFrame,
    a: Hashable,
    b: Hashable,
    n: int,
    *,
    size: int | None = None,
    show: list[Hashable] | None = None,
    **roles: Unpack[RankingRoles],
) -> pd.DataFrame:
    """Return the candidates to judge for the difference of two n-best lists, scores hidden.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a score for each measure and a gold label, missing where a candidate was not
        judged.
    a, b : names of measures
    n : int
        Size of both lists.
    size : int, optional
        How many candidates to judge, as from :func:`plan_annotation`; None is all that are not.
    show : list of names, optional
        Columns that the judges see; None is none but the index.
    **roles
        Which column is what, see :func:`nbest_precision`; ``rng`` seeds the order.

    Returns
    -------
    DataFrame
        One row per candidate in a random order, with the index of the input, the columns to show
        and an empty gold column. Neither scores nor lists are there: a judge cannot tell which
        measure found a candidate.

    Notes
    -----
    A candidate in both lists or in neither says nothing about the difference, so that only the
    difference regions are drawn from, as evenly from both as the unjudged allow, each at random.

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
    sample = read_sample(candidates, roles, JudgingScheme("estimate", None, None, "ratio", 0.95))
    gold, judged = sample.gold, sample.judged.to_numpy()
    numbered = with_columns(sample.data, {"_place": np.arange(judged.size)})
    place = numbered.columns[-1]
    numbered[gold] = judged
    region: pd.DataFrame = quietly(
        gold, lambda: difference_region(numbered, a, b, n, **sample.roles)
    )
    left = region[~region[gold].astype(bool)]
    rng = np.random.default_rng(chosen.rng)
    sides = [rng.permutation(left.loc[left["list"] == side, place].to_numpy()) for side in "ab"]
    total = sum(side.size for side in sides)
    wanted = total if size is None else check_count("size", size, 0)
    if wanted > total:
        raise ValueError(
            f"size={size!r}: the difference regions have {total} candidates that are not judged."
            f" Give {total} or less, or None for all."
        )
    from_a = min(max(wanted - wanted // 2, wanted - sides[1].size), sides[0].size)
    rows = rng.permutation(np.concatenate([sides[0][:from_a], sides[1][: wanted - from_a]]))
    sheet = candidates.iloc[rows][[] if show is None else list(show)].copy()
    sheet[gold] = pd.array([pd.NA] * len(sheet), dtype="boolean")
    return sheet


@Capabilities(rankings="What to judge next?", own_rows=True, clusters=True)
@with_roles_but(
    "agreement", "measures", "exclude", "by", "rng", "dim", "key", "label", "groups",
    "lower_is_better", "missing", "ties",
)  # fmt: skip
def with_judgements(
    candidates: pd.DataFrame, sheet: pd.DataFrame, **roles: Unpack[RankingRoles]
) -> pd.DataFrame:
    """Return the candidates with the judgements of a sheet put back.

    Parameters
    ----------
    candidates : DataFrame
        Candidates, their index without repetitions.
    sheet : DataFrame
        From :func:`annotation_sheet`, its gold column filled in (True and False, 1 and 0, or what
        ``positive`` names); what is still missing there stays as it is. Of a sheet that was saved
        read the index too: ``pandas.read_csv("sheet.csv", index_col=0)``.
    **roles
        ``gold`` is the column of judgements in both; ``positive`` and ``min_grade`` say which of
        its values are true, where they are words or grades.

    Returns
    -------
    DataFrame
        A copy with the gold column as nullable booleans.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"m": [2, 1], "gold": [None, None]}, index=["x", "y"])
    >>> sheet = pd.DataFrame({"gold": [True]}, index=["y"])
    >>> rankeval_pd.with_judgements(df, sheet)["gold"].tolist()
    [<NA>, True]
    """
    check_frame(candidates)
    chosen = Roles.of(roles)
    gold = find_gold(candidates, chosen)
    for name, frame in (("candidates", candidates), ("sheet", sheet)):
        if gold not in frame.columns:
            raise ValueError(f"gold={gold!r}: {name} has no such column. Name it: gold=...")
        if not frame.index.is_unique:
            raise ValueError(
                f"{name} has repeated labels in its index, so that a judgement has no one place."
                " Give each candidate a label of its own: reset_index(drop=True) before the sheet."
            )
    unknown = sheet.index.difference(candidates.index)
    if len(unknown):
        raise ValueError(
            f"sheet has candidates that are not there: {listed(unknown[:5])}. Was its index kept?"
        )
    judged = _as_boolean(sheet, gold, chosen).dropna()
    before = _as_boolean(candidates, gold, chosen)
    contradicted = before.reindex(judged.index).dropna()
    other = contradicted.index[(contradicted != judged[contradicted.index])]
    if len(other):
        raise ValueError(
            f"sheet judges {len(other)} candidates otherwise than before, {listed(other[:5])}."
            " Settle these first."
        )
    before[judged.index] = judged
    result = candidates.copy()
    result[gold] = before
    return result


def _as_boolean(frame: pd.DataFrame, gold: Hashable, roles: Roles) -> pd.Series:
    """Return the judgements as nullable booleans, or say which values are none."""
    column = frame_column(frame, gold, "gold")
    words = as_names(roles.positive, ())
    if is_bool_dtype(column.dtype) and not {True, False} & {*words}:  # judged before, in no words
        roles = replace(roles, positive=None)
    truth = gold_values(column, gold, roles.positive, roles.min_grade, all_there=False)
    return pd.Series(truth, index=frame.index).astype("boolean")
