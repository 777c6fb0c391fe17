"""Evaluate and compare acceptance sets, defined by thresholds (Evert 2004)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors.heads import refuse_head
from rankeval_pd.errors import check_choice, is_known, unknown_name, warn
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
from rankeval_pd.forms.rankings.values import asked_thresholds, check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import ListSizes, Names, ProportionInterval, RankingRoles
from rankeval_pd.nbest.difference_regions import (
    REGION_TYPES,
    SET_INTERVALS,
    SWAPPED,
    TESTS,
    RegionOptions,
    region_tests,
)
from rankeval_pd.nbest.precision import IntervalKind, shares_of
from rankeval_pd.nbest.region_intervals import (
    decide,
    decision_columns,
    family_attr,
    of_paired,
    of_sets,
)
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.differences import corrected_score
from rankeval_pd.stats.rankings.ranking import (
    Accepted,
    AcceptedRegions,
    Ranking,
    Whole,
    accepted_regions,
)
from rankeval_pd.stats.significance.fisher import sample_odds_ratio
from rankeval_pd.stats.significance.predictive_values import discordant_test, kosinski_test

# ----------------------------------- Precision of acceptance sets (Evert 2004, section 2)

ACCEPTANCE_COLUMNS = (
    "measure", "threshold", "n_accepted", "tp", "precision", "recall", "lift", "ci_low", "ci_high",
    "recall_low", "recall_high", "specificity", "spec_low", "spec_high", "npv", "npv_low",
    "npv_high", "f1", "f1_low", "f1_high", "youden", "youden_low", "youden_high",
)  # fmt: skip


@Capabilities(
    rankings="How good is each list?",
    ends=True,
    by_groups=True,
    short="measure n threshold n_accepted tp precision recall ci_low ci_high",
)
@with_roles_but("key", "label", "ties", "rng")
def acceptance_precision(
    data: Data,
    threshold: float | Mapping[Hashable, Any] | None = None,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return precision, recall and lift for candidates accepted at thresholds.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    threshold : float or mapping
        A number for a single measure, or a mapping from measure to a number or list of numbers. A
        candidate is accepted if its score is at least the threshold (at most the threshold for
        measures in ``lower_is_better``). Candidates without a score are never accepted.
    n : int, float, sequence or range, optional
        Use the score of the n-th candidate as the threshold. A float below 1 is a fraction of the
        candidates. All candidates with this score are accepted.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval for each proportion. See :func:`precision_interval`.
    level : float
        Confidence level of each individual interval.
    phi : float
        Overdispersion from :func:`repetition`, at least 1. Larger values widen the interval.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and threshold (Dataset: dimensions measure and cut): ``measure``,
        ``threshold``, ``n_accepted``, ``tp``, ``precision``, ``recall``, ``lift``, ``ci_low``,
        ``ci_high``. For an empty set, precision is NaN and the interval is (0, 1). ``details=True``
        adds ``specificity``, the proportion of negatives that are rejected; ``npv``, the proportion
        of negatives among rejected candidates; ``f1``; ``youden`` = recall + specificity - 1; and
        confidence limits such as ``recall_low``, ``recall_high`` and ``spec_low``. If you pass
        ``n``, the result includes a column ``n`` (Dataset: dimensions measure and n).

    Notes
    -----
    The limits for F1 = 2 s / (1 + s) come from the interval ``ci`` for the proportion s = tp / (tp
    + fp + fn). Youden's J is a difference between two independent proportions, with Miettinen and
    Nurminen's limits (see :func:`compare`). The cost is O(N log N) per measure for any number of
    thresholds.

    References
    ----------
    Evert (2004), section 2, defines the acceptance set of a threshold.

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
    if (threshold is None) == (n is None):
        raise ValueError(
            f"threshold={threshold!r}, n={n!r}: pass either the lowest accepted score,"
            " threshold=..., or the number of accepted candidates, n=..."
        )
    sizes = check_n(n)
    names: tuple[str, ...] = ACCEPTANCE_COLUMNS[2:]
    types = [np.int64, np.int64, *[float] * (len(names) - 2)]

    def of_sizes(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        columns = {"threshold": float, **dict(zip(names, types, strict=True)), "exists": bool}
        return ask_measures(
            inner, _columns_at, columns, along={"n": asked}, beside=[inner["sign"]],
            options={"n": asked, "kind": kind},
        )  # fmt: skip

    if sizes is not None:
        columns = ("measure", "n", *ACCEPTANCE_COLUMNS[1:])
        able = can(acceptance_precision)
        return answer(data, roles, of_sizes, columns, able, n=sizes, attrs=kind._asdict())

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        cuts = asked_thresholds(threshold, inner.indexes["measure"].tolist())
        asked = xr.DataArray(cuts, dims=("measure", "cut"))
        taken = np.flatnonzero(~np.isnan(cuts).all(axis=1))
        chosen, asked = inner.isel(measure=taken), asked.isel(measure=taken)
        if not taken.size:
            chosen = chosen.compute()  # Dask cannot broadcast empty arrays
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
            output_dtypes=types,
        )
        result = tables.as_columns(names, columns)
        exists = xr.ones_like(result["tp"], dtype=bool) & asked.notnull()  # noqa: PD004
        return result.assign(threshold=asked.broadcast_like(exists), exists=exists)

    # the head contains the counts for these thresholds
    able = can(acceptance_precision, heads=True)
    return answer(data, roles, question, ACCEPTANCE_COLUMNS, able, attrs=kind._asdict())


def _acceptance_columns(
    score: FloatArray, gold: BoolArray, present: BoolArray, threshold: FloatArray, *,
    kind: IntervalKind, whole: Whole | None,
) -> tuple[AnyArray, ...]:  # fmt: skip
    ranking = Ranking.of(score, gold, present, whole=whole)
    sets = ranking.accepted(threshold)
    if whole is not None and whole.accepted is not None:
        sets = Accepted(*(np.broadcast_to(x, sets.size.shape) for x in whole.accepted))
    return _shares_of_sets(ranking, sets, kind)


def _columns_at(
    ranking: Ranking, sign: FloatArray, *, n: IntArray, kind: IntervalKind
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(n)
    columns = _shares_of_sets(ranking, ranking.accepted(lists.threshold), kind)
    return (lists.threshold * sign[..., np.newaxis] + 0.0, *columns, lists.exists)


def _shares_of_sets(ranking: Ranking, sets: Accepted, kind: IntervalKind) -> tuple[AnyArray, ...]:
    """Return counts, proportions and confidence limits of acceptance sets."""
    every = np.ones(sets.size.shape, dtype=bool)
    shares = shares_of(sets.tp, sets.size, ranking.size, kind, exists=every)
    total, positive = (np.broadcast_to(x[..., np.newaxis], every.shape) for x in ranking.size)
    tp, others = sets.tp, total - positive
    fp = sets.size - tp
    tn = others - fp
    counts = (tp, positive), (tn, others), (tn, total - sets.size), (tp, positive + fp)
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, specificity, npv, jaccard = (np.true_divide(*count) for count in counts)
    limits = [
        np.where(n > 0, kind.limits(x, n), np.nan) if k != 2 else np.array(kind.limits(x, n))
        for k, (x, n) in enumerate(counts)
    ]
    f1, f1_limits = (2.0 * x / (1.0 + x) for x in (jaccard, limits[3]))
    a, n_a, b, n_b = (x / kind.phi for x in (tp, positive, fp, others))
    youden = corrected_score(a, n_a, b, n_b, kind.level)
    return (
        sets.size, tp, *shares, *limits[0], specificity, *limits[1], npv, *limits[2], f1,
        *f1_limits, recall + specificity - 1.0, *youden,
    )  # fmt: skip


# ------------------------------------ Comparison of two acceptance sets

THRESHOLD_COLUMNS = (
    "measure_a", "measure_b", "n_a", "n_b", *REGION_TYPES, "recall_a", "recall_b",
)  # fmt: skip
_COUNTED = {name: kind for name, kind in REGION_TYPES.items() if name not in ("ci_low", "ci_high")}
_UNEQUAL = 0.1  # the largest relative size difference for comparing two sets by precision


OF_SETS = ("precision", "recall", "specificity", "npv")
_PAIRED = ("recall", "specificity")  # quantities with the same denominator in both sets


def check_threshold(n: Any, threshold: Any, of: str, options: RegionOptions) -> RegionOptions:
    """Return the options with the default test, and reject options for n-best lists."""
    check_choice("of", of, OF_SETS)
    tests = {"precision": (*TESTS, "kosinski"), "npv": ("kosinski",)}.get(of, ("mcnemar", "midp"))
    if of != "precision":
        if options.test != "fisher" and options.test not in tests:
            raise ValueError(
                f"test={options.test!r} with of={of!r}: for this rate, the paired test must be"
                f" {' or '.join(map(repr, tests))}. Omit test."
            )
        if options.phi != 1.0 or (of in _PAIRED and options.ci == "delta"):
            raise ValueError(f"of={of!r} supports neither phi nor ci='delta'. Omit phi and ci.")
        options = options._replace(test=options.test if options.test in tests else tests[0])
    if n is not None:
        raise ValueError(
            f"n={n!r} and threshold={threshold!r}: pass n= for n-best lists or threshold= for "
            "acceptance sets, not both."
        )
    if options.target == "nbest":
        raise ValueError(
            "target='nbest' with threshold: the threshold of an acceptance set is fixed and has no"
            " variance. Omit target, or compare n-best lists with n=..."
        )
    check_choice("ci", options.ci, SET_INTERVALS)
    if options.adjust in SWAPPED:
        raise ValueError(
            f"adjust={options.adjust!r} and threshold: label swaps apply only to n-best lists, not"
            " to acceptance sets. Pass n=... or adjust='holm'."
        )
    return options


def _of_pair(
    data: Any, threshold: Mapping[Hashable, Any], a: Hashable, b: Hashable
) -> Mapping[Hashable, Any]:
    """Select the thresholds for two measures from a mapping for all pairs."""
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
    data: Data, a: Hashable, b: Names, threshold: Mapping[Hashable, Any], of: str,
    options: RegionOptions, roles: Mapping[str, Any], able: Capabilities,
) -> Data:  # fmt: skip
    """Compare the acceptance sets for each pair of measures."""
    meant = _of_pair(data, threshold, a, b)
    noted = {**options.noted(), **({} if of == "precision" else {"of": of})}

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        result = _compare_sets(inner, pairs, meant, of, options)
        noted.update(family_attr(options, pairs, inner, a, b, result.sizes["cut"]))
        return result

    interval = of_paired() if of in _PAIRED else of_sets(options.ci, options.phi)
    finish = partial(decide, how=options, interval=interval, towards="towards")
    return answer(
        data, only_pair(data, a, b, roles), question,
        _columns_of(of, options), able,
        finish=finish, attrs=noted,
    )  # fmt: skip


def _columns_of(of: str, options: RegionOptions) -> tuple[str, ...]:
    decision, ending = decision_columns(options)
    compared = [name.replace("precision", of) for name in THRESHOLD_COLUMNS[:-2]]
    recall = () if of == "recall" else THRESHOLD_COLUMNS[-2:]
    return (*compared, *decision, *recall, *ending)


def _compare_sets(
    inner: xr.Dataset, pairs: list[Pair], threshold: Mapping[Hashable, Any], of: str,
    options: RegionOptions,
) -> xr.Dataset:  # fmt: skip
    """Return the columns of the comparison as arrays (pair, cut)."""
    cuts_a, cuts_b = _paired_cuts(inner, pairs, threshold)
    signs = sides(inner["sign"], pairs)
    core = ["candidate"]
    types = {
        "n_a": np.int64, "n_b": np.int64,
        **{name.replace("precision", of): kind for name, kind in _COUNTED.items()},
        "towards": float, **({} if of == "recall" else {"recall_a": float, "recall_b": float}),
        "tp_overlap": np.int64, "of_all": np.int64, "exists": bool,
    }  # fmt: skip
    columns = xr.apply_ufunc(
        _set_columns,
        *sides(inner["score"], pairs),
        *sides(inner["present"], pairs),
        inner["gold"],
        xr.DataArray(cuts_a, dims=("pair", "cut")) * signs[0],
        xr.DataArray(cuts_b, dims=("pair", "cut")) * signs[1],
        kwargs={"of": of, "options": options},
        input_core_dims=[*[core] * 5, ["cut"], ["cut"]],
        output_core_dims=[["cut"]] * len(types),
        dask="parallelized",
        output_dtypes=[*types.values()],
    )
    return with_names(tables.as_columns(types, columns), pairs)


def _paired_cuts(
    inner: xr.Dataset, pairs: list[Pair], threshold: Mapping[Hashable, Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds for the two measures (pair, cut), padded with NaN."""
    measures = inner.indexes["measure"].tolist()
    place = {name: k for k, name in enumerate(measures)}  # pd.NA does not equal itself
    cuts = asked_thresholds(threshold, measures, unique=False)
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for pair in pairs:
        rows = [row[~np.isnan(row)] for row in (cuts[place[name]] for name in pair)]
        longest = max(row.size for row in rows)
        if not all(row.size for row in rows):
            name = pair[0] if not rows[0].size else pair[1]
            raise ValueError(
                f"threshold={threshold!r} has no entry for {name!r}. Pass a threshold for each"
                " measure, or name two measures: compare(a, b, threshold=...)."
            )
        for side, name, row in zip(sides, pair, rows, strict=True):
            if row.size not in (1, longest):
                raise ValueError(
                    f"threshold: {pair[0]!r} has {rows[0].size} thresholds and {pair[1]!r} has"
                    f" {rows[1].size}, but thresholds are compared in pairs. Pass {longest}"
                    f" thresholds for {name!r}, or a single threshold."
                )
            side.append(np.broadcast_to(row, longest))
    width = max(row.size for row in sides[0])
    a, b = (
        np.array([np.pad(row, (0, width - row.size), constant_values=np.nan) for row in side])
        for side in sides
    )
    return a, b


def _set_columns(
    score_a: FloatArray, score_b: FloatArray, present_a: BoolArray, present_b: BoolArray,
    gold: BoolArray, cut_a: FloatArray, cut_b: FloatArray, *, of: str, options: RegionOptions,
) -> tuple[AnyArray, ...]:  # fmt: skip
    both = present_a & present_b
    r = accepted_regions(score_a, score_b, gold, both, cut_a, cut_b)
    exists = ~np.isnan(cut_a) & ~np.isnan(cut_b) & np.ones(r.n_a.shape, dtype=bool)
    total, positive = (x.sum(axis=-1)[..., np.newaxis] for x in (both, gold & both))
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = r.tp_a / positive, r.tp_b / positive
    if of in ("npv", "specificity"):  # compare the rejected sets, and the negatives in these sets
        right = r.n_a - r.tp_a, r.n_b - r.tp_b, r.overlap - r.tp_overlap
        others = total - positive
        sets = AcceptedRegions(
            total - r.n_a, total - r.n_b, total - r.n_a - r.n_b + r.overlap, others - right[0],
            others - right[1], others - right[0] - right[1] + right[2],
        )  # fmt: skip
        of_all = others
    else:
        sets, of_all = r, positive
    if of in _PAIRED:  # both denominators are N+ for recall and N - N+ for specificity
        sets = sets._replace(n_a=sets.tp_a, n_b=sets.tp_b, overlap=sets.tp_overlap)
    only_a, only_b = sets.n_a - sets.overlap, sets.n_b - sets.overlap
    tp_only_a, tp_only_b = sets.tp_a - sets.tp_overlap, sets.tp_b - sets.tp_overlap
    below = (of_all, of_all) if of in _PAIRED else (sets.n_a, sets.n_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        share_a, share_b = sets.tp_a / below[0], sets.tp_b / below[1]
        difference = share_a - share_b
        towards = np.sign(difference)
        if options.test not in ("kosinski", "mcnemar", "midp") or of == "precision":
            towards = np.sign(tp_only_a / only_a - tp_only_b / only_b)
    if of in _PAIRED:
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.true_divide(tp_only_a, tp_only_b)
        exact, middle = discordant_test(tp_only_a, tp_only_b, options.alternative)
        p_values = odds, middle if options.test == "midp" else exact, middle
    elif options.test == "kosinski":
        counts = (sets.tp_overlap, tp_only_a, tp_only_b), (sets.overlap, only_a, only_b)
        odds = sample_odds_ratio(tp_only_a, only_a, tp_only_b, only_b)
        p_value = kosinski_test(*counts, options.alternative)
        towards = np.sign(difference)
        p_values = odds, p_value, np.full(p_value.shape, np.nan)
    else:
        p_values = region_tests(tp_only_a, only_a, tp_only_b, only_b, options, exists)
        sure = exists & (p_values[1] <= options.alpha)
        towards = _unless_unequal(towards, r.n_a, r.n_b, sure)
    counts_of = sets.overlap, only_a, only_b, tp_only_a, tp_only_b
    return (
        r.n_a, r.n_b, share_a, share_b, difference, *counts_of, *p_values, towards,
        *(() if of == "recall" else recall), sets.tp_overlap,
        np.broadcast_to(of_all, exists.shape), exists,
    )  # fmt: skip


def _unless_unequal(
    towards: FloatArray, n_a: IntArray, n_b: IntArray, sure: BoolArray
) -> FloatArray:
    """Return the better measure, or NaN if the set sizes differ too much."""
    unequal = np.abs(n_a - n_b) > _UNEQUAL * np.maximum(n_a, n_b)
    if (unequal & sure).any():
        first = tuple(np.argwhere(unequal & sure)[0])
        warn(
            f"acceptance sets of {n_a[first]} and {n_b[first]} candidates differ by more than 10%"
            " in size, which favors the smaller set (Evert 2004, footnote 13), so 'better' is NaN."
            " Compare predictive values (test='kosinski'), recall, or n-best lists."
        )
    return np.where(unequal, np.nan, towards)
