"""How good is what a threshold accepts, and which threshold keeps a promise? (Evert 2004)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, is_known, unknown_name, warn
from rankeval_pd.forms.lazy.heads import refuse_head
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import (
    Pair,
    ask_measures,
    only_pair,
    pair_names,
    sides,
    with_names,
)
from rankeval_pd.forms.rankings.values import asked_thresholds
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import Names, ProportionInterval, RankingRoles
from rankeval_pd.nbest.clustered_lists import set_weights
from rankeval_pd.nbest.difference_regions import (
    REGION_TYPES,
    SET_INTERVALS,
    SWAPPED,
    RegionOptions,
    region_tests,
)
from rankeval_pd.nbest.grouped_lists import ListMembers
from rankeval_pd.nbest.precision import IntervalKind, shares_of
from rankeval_pd.nbest.region_intervals import decide, decision_columns, family_attr, of_sets
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import rank_tests
from rankeval_pd.stats.rankings.ranking import Accepted, Ranking, Whole, accepted_regions
from rankeval_pd.stats.significance.adjust import level_of_each

# ----------------------------------- How good is what a threshold accepts? (Evert 2004, section 2)

ACCEPTANCE_COLUMNS = (
    "measure", "threshold", "n_accepted", "tp", "precision", "recall", "lift", "ci_low", "ci_high",
)  # fmt: skip


@Capabilities(
    rankings="How good is each n-best list?",
    ends=True,
    by_groups=True,
    short="measure threshold n_accepted tp precision recall ci_low ci_high",
)
@with_roles_but("key", "label", "ties", "rng")
def acceptance_precision(
    data: Data,
    threshold: float | Mapping[Hashable, Any],
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return precision, recall and lift of the sets that thresholds accept.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    threshold : float or mapping
        A number where one measure is evaluated, else a mapping from measure to a number or a
        list of numbers. A candidate is accepted if its score is at least the threshold; where
        lower is better, at most. A missing score is never accepted.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval of precision, see :func:`precision_interval`.
    level : float
        Confidence level of each interval.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`; it widens the interval.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and threshold (Dataset: dimensions measure and cut): ``measure``,
        ``threshold``, ``n_accepted``, ``tp``, ``precision``, ``recall``, ``lift``, ``ci_low``,
        ``ci_high``. An empty set has precision NaN and the interval (0, 1).

    Notes
    -----
    O(N log N) for each measure, whatever the number of thresholds.

    References
    ----------
    Evert (2004), section 2: the acceptance set of a threshold.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.acceptance_precision({"G2": [3.3, 100]})
      measure  threshold  n_accepted  tp  precision  recall    ci_low   ci_high
    0      G2        3.3           3   2   0.666667     1.0  0.094299  0.991596
    1      G2      100.0           0   0        NaN     0.0  0.000000  1.000000
    """
    kind = IntervalKind.of(ci=ci, level=level, phi=phi)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        cuts = asked_thresholds(threshold, inner.indexes["measure"].tolist())
        asked = xr.DataArray(cuts, dims=("measure", "cut"))
        taken = np.flatnonzero(~np.isnan(cuts).all(axis=1))
        chosen, asked = inner.isel(measure=taken), asked.isel(measure=taken)
        if not taken.size:
            chosen = chosen.compute()  # Dask does not broadcast nothing
        names = ACCEPTANCE_COLUMNS[2:]
        whole: Whole | None = inner.attrs["whole"]
        if whole is not None and (whole.accepted is None or cuts.shape != whole.accepted.shape[1:]):
            refuse_head(data)
        columns = xr.apply_ufunc(
            _acceptance_columns,
            chosen["score"],
            chosen["gold"],
            chosen["present"],
            asked * chosen["sign"].drop_vars("measure"),
            kwargs={"kind": kind, "whole": None if whole is None else whole.of(taken)},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], ["cut"]],
            output_core_dims=[["cut"]] * len(names),
            dask="parallelized",
            output_dtypes=[np.int64, np.int64, *[float] * 5],
        )
        result = tables.as_columns(names, columns)
        exists = xr.ones_like(result["tp"], dtype=bool) & asked.notnull()  # noqa: PD004
        return result.assign(threshold=asked.broadcast_like(exists), exists=exists)

    able = can(acceptance_precision, heads=True)  # a head that was counted for these thresholds
    return answer(data, roles, question, ACCEPTANCE_COLUMNS, able, attrs=kind._asdict())


def _acceptance_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    threshold: FloatArray,
    *,
    kind: IntervalKind,
    whole: Whole | None,
) -> tuple[AnyArray, ...]:
    ranking = Ranking.of(score, gold, present, whole=whole)
    sets = ranking.accepted(threshold)
    if whole is not None and whole.accepted is not None:
        sets = Accepted(*(np.broadcast_to(x, sets.size.shape) for x in whole.accepted))
    every = np.ones(sets.size.shape, dtype=bool)
    return (sets.size, sets.tp, *shares_of(sets.tp, sets.size, ranking.size, kind, exists=every))


# ------------------------------------ Is what one threshold accepts better than what another does?

THRESHOLD_COLUMNS = (
    "measure_a", "measure_b", "n_a", "n_b", *REGION_TYPES, "recall_a", "recall_b",
)  # fmt: skip
_COUNTED = {name: kind for name, kind in REGION_TYPES.items() if name not in ("ci_low", "ci_high")}
_UNEQUAL = 0.1  # lists that differ by more in size are not compared in precision alone


def check_threshold(n: Any, threshold: Any, options: RegionOptions) -> None:
    """Raise a ValueError for what acceptance sets cannot be asked."""
    if n is not None:
        raise ValueError(
            f"n={n!r} and threshold={threshold!r}: give the sizes of n-best lists, or thresholds"
            " of acceptance sets, not both."
        )
    if options.target == "nbest":
        raise ValueError(
            "target='nbest' and threshold: an acceptance set has a fixed threshold, whose variance"
            " is none. Leave target out, or compare n-best lists: n=..."
        )
    check_choice("ci", options.ci, SET_INTERVALS)
    if options.adjust in SWAPPED:
        raise ValueError(
            f"adjust={options.adjust!r} and threshold: the swaps keep the ranks, not the scores, so"
            " that they hold for n-best lists only. Give n=..., or adjust='holm'."
        )


def _of_pair(
    data: Any, threshold: Mapping[Hashable, Any], a: Hashable, b: Hashable
) -> Mapping[Hashable, Any]:
    """Return the thresholds of the two measures compared: one mapping may serve several pairs."""
    if b is None or not isinstance(threshold, Mapping):
        return threshold
    columns = data.columns if isinstance(data, pd.DataFrame) else data.variables
    meant = [a, *(b if isinstance(b, list) else [b])]
    others = [name for name in threshold if not is_known(name, meant)]
    for name in others:
        if name not in columns:
            raise unknown_name("threshold", name, columns)
    return {name: given for name, given in threshold.items() if is_known(name, meant)}


def compare_thresholds(
    data: Data, a: Hashable, b: Names, threshold: Mapping[Hashable, Any], options: RegionOptions,
    roles: Mapping[str, Any], able: Capabilities,
) -> Data:  # fmt: skip
    """Compare the sets that the thresholds of each pair accept."""
    meant = _of_pair(data, threshold, a, b)
    noted = options.noted()

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        result = _compare_sets(inner, pairs, meant, options)
        noted.update(family_attr(options, pairs, inner, a, b, result.sizes["cut"]))
        return result

    finish = partial(
        decide, how=options, interval=of_sets(options.ci, options.phi), towards="towards"
    )
    return answer(
        data, only_pair(data, a, b, roles), question,
        _columns_of(options), able,
        finish=finish, attrs=noted,
    )  # fmt: skip


def _columns_of(options: RegionOptions) -> tuple[str, ...]:
    decision, ending = decision_columns(options)
    return (*THRESHOLD_COLUMNS[:-2], *decision, *THRESHOLD_COLUMNS[-2:], *ending)


def _compare_sets(
    inner: xr.Dataset,
    pairs: list[Pair],
    threshold: Mapping[Hashable, Any],
    options: RegionOptions,
) -> xr.Dataset:
    """Return the columns (pair, cut)."""
    cuts_a, cuts_b = _paired_cuts(inner, pairs, threshold)
    signs = sides(inner["sign"], pairs)
    core = ["candidate"]
    types = {
        "n_a": np.int64, "n_b": np.int64, **_COUNTED, "towards": float, "recall_a": float,
        "recall_b": float, "tp_overlap": np.int64, "exists": bool,
    }  # fmt: skip
    columns = xr.apply_ufunc(
        _set_columns,
        *sides(inner["score"], pairs),
        *sides(inner["present"], pairs),
        inner["gold"],
        xr.DataArray(cuts_a, dims=("pair", "cut")) * signs[0],
        xr.DataArray(cuts_b, dims=("pair", "cut")) * signs[1],
        kwargs={"options": options},
        input_core_dims=[*[core] * 5, ["cut"], ["cut"]],
        output_core_dims=[["cut"]] * len(types),
        dask="parallelized",
        output_dtypes=[*types.values()],
    )
    return with_names(tables.as_columns(types, columns), pairs)


def _paired_cuts(
    inner: xr.Dataset, pairs: list[Pair], threshold: Mapping[Hashable, Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds of both measures (pair, cut), NaN where a pair has fewer."""
    measures = inner.indexes["measure"].tolist()
    place = {name: k for k, name in enumerate(measures)}  # pd.NA is equal to nothing
    cuts = asked_thresholds(threshold, measures, unique=False)
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for pair in pairs:
        rows = [row[~np.isnan(row)] for row in (cuts[place[name]] for name in pair)]
        longest = max(row.size for row in rows)
        if not all(row.size for row in rows):
            name = pair[0] if not rows[0].size else pair[1]
            raise ValueError(
                f"threshold={threshold!r} has none for {name!r}, which is compared. Give each"
                " measure a threshold, or name the two measures: compare(a, b, threshold=...)."
            )
        for side, name, row in zip(sides, pair, rows, strict=True):
            if row.size not in (1, longest):
                raise ValueError(
                    f"threshold: {pair[0]!r} has {rows[0].size} thresholds and {pair[1]!r}"
                    f" {rows[1].size}, and they are compared one by one. Give each measure as"
                    f" many, or a single one; {name!r} needs {longest}."
                )
            side.append(np.broadcast_to(row, longest))
    width = max(row.size for row in sides[0])
    a, b = (
        np.array([np.pad(row, (0, width - row.size), constant_values=np.nan) for row in side])
        for side in sides
    )
    return a, b


def _set_columns(
    score_a: FloatArray,
    score_b: FloatArray,
    present_a: BoolArray,
    present_b: BoolArray,
    gold: BoolArray,
    cut_a: FloatArray,
    cut_b: FloatArray,
    *,
    options: RegionOptions,
) -> tuple[AnyArray, ...]:
    both = present_a & present_b
    r = accepted_regions(score_a, score_b, gold, both, cut_a, cut_b)
    only_a, only_b = r.n_a - r.overlap, r.n_b - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    positive = (gold & both).sum(axis=-1)[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision_a, precision_b = r.tp_a / r.n_a, r.tp_b / r.n_b
        recall = r.tp_a / positive, r.tp_b / positive
        towards = np.sign(tp_only_a / only_a - tp_only_b / only_b)
        difference = precision_a - precision_b
    exists = ~np.isnan(cut_a) & ~np.isnan(cut_b) & np.ones(r.n_a.shape, dtype=bool)
    p_values = region_tests(tp_only_a, only_a, tp_only_b, only_b, options, exists)
    unequal = np.abs(r.n_a - r.n_b) > _UNEQUAL * np.maximum(r.n_a, r.n_b)
    if (unequal & exists).any():
        first = tuple(np.argwhere(unequal & exists)[0])
        warn(
            f"acceptance sets of {r.n_a[first]} and {r.n_b[first]} candidates are compared: where"
            " sizes differ by more than 10 %, the smaller set often has the higher precision"
            " whatever the measure (Evert 2004, footnote 13), and 'better' is NaN. Look at recall"
            " too, or compare n-best lists."
        )
    towards = np.where(unequal, np.nan, towards)
    counts = r.overlap, only_a, only_b, tp_only_a, tp_only_b
    sizes, precision = (r.n_a, r.n_b), (precision_a, precision_b)
    return (
        *sizes, *precision, difference, *counts, *p_values, towards, *recall, r.tp_overlap, exists
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------
# Which threshold promises a precision, or a recall, after all thresholds have been looked at?

COLUMNS = ("measure", "threshold", "n_accepted", "tp", "precision", "recall", "ci_low")
_TYPES = (float, np.int64, np.int64, float, float, float)


@Capabilities(rankings="Which threshold to take?", any_ties=True, by_groups=True, clusters=True)
@with_roles_but("key", "label", "ties", "rng")
def choose_threshold(
    data: Data,
    *,
    precision: float | None = None,
    recall: float | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Choose the threshold that promises a precision or a recall.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    precision : float, optional
        The precision that the accepted candidates are to have: the lowest threshold is chosen of
        which that can be said, so that most are accepted.
    recall : float, optional
        In its place, the share of the true positives that is to be accepted: the highest threshold
        is chosen of which that can be said.
    level : float
        Confidence with which the promises hold for the chosen thresholds of all measures together.
    **roles
        Which column is what, see :func:`nbest_precision`. Thresholds do not cut equal scores,
        whatever ``ties`` is.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``, ``threshold``: accepted is
        what has this score or a better one; ``n_accepted``, ``tp``, ``precision`` and ``recall`` in
        the data; ``ci_low``: lower limit of the promised one, at the level that the search leaves
        for it. Where no threshold can be promised to hold, ``threshold`` is NaN and nothing is
        accepted.

    Notes
    -----
    To take the last threshold whose own interval is above the precision asked for is to choose
    among many: it promises too much. Here the sets are tested in a sequence that is fixed
    beforehand, from the smallest set that could pass (29 candidates for .9 at 95 %) on, each at
    the same level, and the first that fails ends it; since a small set rarely passes, sequences
    also start at sets of twice, four times, ... the size, and the K of them share 1 - level
    (multi-start fixed-sequence testing). The precision of larger sets that are reached by passing
    every one before is then known with the confidence of all together. Recall rises with every
    candidate accepted, so one sequence suffices and ci_low is the ordinary one-sided limit.
    Several measures share 1 - level (Bonferroni), for you may take the one that looks best; in
    ``attrs["family"]``. Name a single one in ``measures`` if it was chosen beforehand.
    With ``groups`` the limits are those of :func:`nbest_precision`, and sequences start at so many
    groups. What this costs is power: it takes some dozens of candidates, or more, that are better
    than the precision asked for. How often the promise was broken in simulations is in
    ``tests/reference/choose_threshold.csv``. O(N log N) per measure.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei (2021), Learn then test.
    C. J. Clopper and E. S. Pearson (1934).

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(2_000)
    >>> df.rankeval.choose_threshold(recall=0.8)
      measure  threshold  n_accepted   tp  precision    recall    ci_low
    0    good   0.255544         924  180   0.194805  0.857143  0.802384
    1    fair  -0.157297        1203  180   0.149626  0.857143  0.802384
    """
    if (precision is None) == (recall is None):
        raise ValueError(
            f"precision={precision!r}, recall={recall!r}: give one of the two, the share that the"
            " accepted candidates are to reach."
        )
    wanted = check_share(*(("precision", precision) if recall is None else ("recall", recall)))
    level = check_share("level", level)

    attrs: dict[str, Any] = {"precision": precision, "recall": recall, "level": level}

    def question(inner: xr.Dataset, _: AnyArray) -> xr.Dataset:
        count = inner.sizes["measure"]
        attrs["family"] = f"{count} measure{'s' * (count > 1)}"
        each = level_of_each(level, count)
        result = ask_measures(
            inner, _columns, dict(zip(COLUMNS[1:], _TYPES, strict=True)),
            beside=[inner[name] for name in ("sign", "cluster") if name in inner],
            options={"wanted": wanted, "level": each, "of_recall": recall is not None},
        )  # fmt: skip
        return result.assign(exists=xr.ones_like(result["threshold"], dtype=bool))

    return answer(data, roles, question, COLUMNS, can(choose_threshold), attrs=attrs)


def _columns(
    ranking: Ranking,
    sign: FloatArray,
    cluster: IntArray | None = None,
    *,
    wanted: float,
    level: float,
    of_recall: bool,
) -> tuple[AnyArray, ...]:
    shape = ranking.score.shape[:-1]
    signs = np.broadcast_to(sign, shape)
    columns = [np.zeros(shape, dtype=dtype) for dtype in _TYPES]
    for row in np.ndindex(shape):
        sets = rank_tests.sets_of(ranking.row(row))
        if cluster is not None and sets.n.size:
            sets = set_weights(ListMembers.of(ranking, row, cluster), sets, of_recall=of_recall)
        promised = rank_tests.recall if of_recall else rank_tests.precision
        chosen, low = promised(sets, wanted, level)
        values: tuple[float, ...] = (np.nan, 0, 0, np.nan, np.nan, np.nan)
        if chosen is not None:
            tp, n = int(sets.tp[chosen]), int(sets.n[chosen])
            threshold = float(sets.threshold[chosen] * signs[row]) + 0.0
            values = (threshold, n, tp, tp / n, tp / max(sets.positive, 1), low)
        for column, value in zip(columns, values, strict=True):
            column[row] = value
    return tuple(columns)
