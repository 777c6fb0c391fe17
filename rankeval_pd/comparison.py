"""Is A better than B? Difference regions and their test (Evert 2004, section 3.3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import tables
from rankeval_pd.candidates import (
    Data,
    answer,
    check_data,
    check_not_above,
    read_dataset,
    read_frame,
)
from rankeval_pd.errors import check_choice, check_n, check_share, unknown_name, warn
from rankeval_pd.roles import RoleKeywords, Roles
from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.adjust import ADJUSTMENTS
from rankeval_pd.stats.adjust import adjust as adjusted
from rankeval_pd.stats.fisher import ALTERNATIVES, fisher_test
from rankeval_pd.stats.intervals import DIFFERENCE_INTERVALS, delta_method
from rankeval_pd.thresholds import asked_thresholds

_REGIONS = (
    "precision_a", "precision_b", "difference", "ci_low", "ci_high", "overlap", "n_only_a",
    "n_only_b", "tp_only_a", "tp_only_b", "odds_ratio", "p_value", "p_mid", "p_adjusted",
    "significant", "better",
)  # fmt: skip
NBEST_COLUMNS = ("measure_a", "measure_b", "n", *_REGIONS)
THRESHOLD_COLUMNS = ("measure_a", "measure_b", "n_a", "n_b", *_REGIONS, "recall_a", "recall_b")
RANGE_COLUMNS = ("measure_a", "measure_b", "better", "n_first", "n_last", "n_tests", "p_max")

TESTS = ("fisher", "midp")
_UNEQUAL = 0.1  # lists that differ by more in size are not compared in precision alone


def compare(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: Any = None,
    *,
    threshold: Mapping[Hashable, Any] | None = None,
    test: str = "fisher",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    adjust: str | None = None,
    level: float = 0.95,
    ci: str = "newcombe",
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Compare two measures, or all pairs, by the candidates that only one of them accepts.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair. ``a`` alone: a against each other measure. Neither: all pairs.
    n : int, sequence of int, range or None
        Sizes of the n-best lists; None is every n from 1 to the number of candidates.
    threshold : mapping, optional
        Compare acceptance sets instead: from each measure to a threshold, or to a list of them
        that are compared one by one.
    test : {"fisher", "midp"}
        What ``p_value`` is. Fisher's exact test is the paper's; its size is below the level, far
        below where the regions are small. Mid-p is closer to it, and may exceed it slightly.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better than b.
    alpha : float
        A row is significant where p <= alpha.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment for the number of tests: all rows (pairs and n) of one group.
    level : float
        Confidence level of the interval of the difference.
    ci : {"newcombe"}
        Interval of the difference of the two regions, times n_only / n. With ``threshold`` the
        delta method is used.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n, coordinates measure_a and
        measure_b):

        * ``measure_a``, ``measure_b``, ``n``;
        * ``precision_a``, ``precision_b``, ``difference`` = precision_a - precision_b, and its
          limits ``ci_low``, ``ci_high``;
        * ``overlap``: candidates in both lists; ``n_only_a``, ``n_only_b``: in one only (the
          difference regions); ``tp_only_a``, ``tp_only_b``: true positives among these;
        * ``odds_ratio``: (tp_only_a fp_only_b) / (fp_only_a tp_only_b), NaN for 0/0;
        * ``p_value``: of ``test``; ``p_mid``: Fisher's mid-p; ``p_adjusted``: NaN without
          ``adjust``;
        * ``significant``: p_adjusted, or without ``adjust`` p_value, is at most alpha;
        * ``better``: the measure that the difference favours, significant or not; NaN at 0.

        With ``threshold``, ``n_a`` and ``n_b`` replace ``n``, ``recall_a`` and ``recall_b`` come
        last (Dataset: dimensions pair and cut), and ``better`` follows the precision in the two
        difference regions.

    Warns
    -----
    RankevalWarning
        If acceptance sets differ in size by more than 10 %: "better" then has no meaning, and is
        NaN (Evert's footnote 13).

    Notes
    -----
    The two-sided test takes all tables that are at most as likely as the observed one, up to a
    relative 1e-7, as R does. n-best lists have difference regions of equal size, so that the test
    is twice one tail, at most 1. With an empty region, or with no or only true positives in both,
    p_value and p_mid are 1. The tests of neighbouring n are of nearly the same candidates: a run
    of significant n is not so many pieces of evidence.

    Cost: one sort per measure, O(N) counting per pair for every n together, and for each n a
    series of some standard deviations of the hypergeometric distribution; below a second for
    every n of 100,000 candidates. Errors are below 1e-11 relative.

    References
    ----------
    S. Evert (2004), section 3.3, figure 3, footnote 13. R. G. Newcombe (1998), Interval estimation
    for the difference between independent proportions, method 10.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "G2": [6, 5, 4, 3, 2, 1],
    ...         "t": [1, 2, 3, 4, 5, 6],
    ...         "gold": [True, True, True, False, False, False],
    ...     }
    ... )
    >>> found = df.rankeval.compare("G2", "t", n=3)
    >>> found[["measure_a", "measure_b", "n", "difference", "p_value", "better"]]
      measure_a measure_b  n  difference  p_value better
    0        G2         t  3         1.0      0.1     G2
    """
    check_choice("test", test, TESTS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    check_choice("ci", ci, DIFFERENCE_INTERVALS)
    alpha, level = check_share("alpha", alpha), check_share("level", level)
    options = {"test": test, "alternative": alternative, "ci": ci, "level": level}
    if threshold is not None and n is not None:
        raise ValueError(
            f"n={n!r} and threshold={threshold!r}: give the sizes of n-best lists, or thresholds"
            " of acceptance sets, not both."
        )
    strict = roles.get("ties") == "error"
    if threshold is not None:
        threshold = _of_pair(data, threshold, a, b)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        pairs = _pairs(inner.indexes["measure"].tolist(), a, b)
        if threshold is None:
            result = _compare_lists(inner, pairs, sizes, no_ties=strict, options=options)
        else:
            result = _compare_sets(inner, pairs, threshold, options=options)
        names = tables.labels([x for x, _ in pairs]), tables.labels([y for _, y in pairs])
        result = result.assign_coords(measure_a=("pair", names[0]), measure_b=("pair", names[1]))
        return _decide(result, alpha=alpha, method=adjust)

    return answer(
        data,
        _only(data, a, b, roles),
        question,
        NBEST_COLUMNS if threshold is None else THRESHOLD_COLUMNS,
        n=check_n(n),
        attrs={**options, "alpha": alpha, "adjust": adjust},
    )


def _only(data: Any, a: Hashable, b: Hashable, roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles with the two measures that are compared, if both are named."""
    if b is not None and a is None:
        raise ValueError(f"b={b!r} without a: name the measure it is compared with first.")
    if isinstance(data, pd.DataFrame):
        for role, name in (("a", a), ("b", b)):
            _check_measure(role, name, data.columns)
    return {**roles, "measures": [a, b]} if b is not None else dict(roles)


def _check_measure(role: str, name: Hashable, columns: pd.Index) -> None:
    """Raise an error, with a hint, where a size of lists stands in the place of a measure."""
    size = isinstance(name, (int, np.integer, range, list)) and not isinstance(name, bool)
    if name is None or (isinstance(name, Hashable) and name in columns):
        return
    if size:
        raise TypeError(
            f"{role}={name!r} is no measure. Is it the size of the lists? Write n={name!r}."
        )
    raise unknown_name(role, name, columns)


def _of_pair(
    data: Any, threshold: Mapping[Hashable, Any], a: Hashable, b: Hashable
) -> Mapping[Hashable, Any]:
    """Return the thresholds of the two measures compared: one mapping may serve several pairs."""
    if b is None or not isinstance(threshold, Mapping):
        return threshold
    columns = data.columns if isinstance(data, pd.DataFrame) else data.variables
    others = [name for name in threshold if name not in (a, b)]
    for name in others:
        if name not in columns:
            raise unknown_name("threshold", name, columns)
    return {name: given for name, given in threshold.items() if name not in others}


def _pairs(measures: list[Hashable], a: Hashable, b: Hashable) -> list[tuple[Hashable, Hashable]]:
    if a is None:
        pairs = list(itertools.combinations(measures, 2))
    elif a not in measures:
        raise unknown_name("a", a, measures)
    else:
        pairs = [(a, other) for other in ([m for m in measures if m != a] if b is None else [b])]
    if not pairs:
        raise ValueError(
            f"a={a!r}, b={b!r}: there is one measure, {measures[0]!r}, and a comparison needs two."
            " Add a column of scores of another measure."
        )
    return pairs


_BLOCK = 4_000_000  # ranks of a block of pairs are in memory together


def _compare_lists(
    inner: xr.Dataset,
    pairs: list[tuple[Hashable, Hashable]],
    n: IntArray,
    *,
    no_ties: bool,
    options: Mapping[str, Any],
) -> xr.Dataset:
    core = ["candidate"]
    order = xr.apply_ufunc(
        ranking.order,
        inner["score"],
        inner["present"],
        input_core_dims=[core] * 2,
        output_core_dims=[core],
        dask="parallelized",
        output_dtypes=[np.int64],
    )
    names = (*_REGIONS[:-3], "leaning", "exists")
    width = max(1, _BLOCK // max(1, inner["gold"].size))
    blocks = []
    for start in range(0, len(pairs), width):
        block = pairs[start : start + width]
        present = _sides(inner["present"], block)
        found = xr.apply_ufunc(
            _list_columns,
            *_sides(order, block),
            *present,
            inner["gold"],
            kwargs={"n": n, "options": options},
            input_core_dims=[core] * 5,
            output_core_dims=[["n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"n": n.size}},
            output_dtypes=[*[float] * 5, *[np.int64] * 5, *[float] * 4, bool],
        )
        columns = dict(zip(names, found, strict=True))
        if no_ties:
            columns["exists"] = xr.apply_ufunc(
                _uncut,
                columns["exists"],
                *_sides(inner["score"], block),
                *present,
                inner["gold"],
                kwargs={"n": n},
                input_core_dims=[["n"], *[core] * 5],
                output_core_dims=[["n"]],
                dask="parallelized",
                output_dtypes=[bool],
            )
        blocks.append(xr.Dataset(columns))
    result = xr.concat(blocks, "pair", coords="minimal", compat="override", join="override")
    return result.assign_coords(n=("n", n))


def _uncut(
    exists: BoolArray,
    score_a: FloatArray,
    score_b: FloatArray,
    present_a: BoolArray,
    present_b: BoolArray,
    gold: BoolArray,
    *,
    n: IntArray,
) -> BoolArray:
    """Return which lists exist, or refuse: a list of one of the measures cuts through ties."""
    both = present_a & present_b
    for score in (score_a, score_b):
        ranking.refuse_cut_ties(ranking.nbest(score, gold, both, n), n)
    return exists


def _sides(
    array: xr.DataArray, pairs: list[tuple[Hashable, Hashable]]
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the array for the first and for the second measure of each pair."""
    measures = array.indexes["measure"].tolist()
    bare = array.drop_vars("measure")
    a, b = (
        bare.isel(measure=xr.DataArray([measures.index(pair[side]) for pair in pairs], dims="pair"))
        for side in (0, 1)
    )
    return a, b


def _list_columns(
    order_a: IntArray,
    order_b: IntArray,
    present_a: BoolArray,
    present_b: BoolArray,
    gold: BoolArray,
    *,
    n: IntArray,
    options: Mapping[str, Any],
) -> tuple[AnyArray, ...]:
    both = present_a & present_b
    rank_a, rank_b = (
        ranking.ranks(order) if (both == present).all() else ranking.restricted_ranks(order, both)
        for order, present in ((order_a, present_a), (order_b, present_b))
    )
    r = ranking.nbest_regions(rank_a, rank_b, gold & both, both.sum(axis=-1), n)
    only = n - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    difference = (tp_only_a - tp_only_b) / n
    low, high = DIFFERENCE_INTERVALS[options["ci"]](
        tp_only_a, only, tp_only_b, only, options["level"]
    )
    share = only / n
    low, high = (np.where(only == 0, 0.0, limit * share) for limit in (low, high))
    tested = _tested(tp_only_a, only, tp_only_b, only, options)
    precision = r.tp_a / n, r.tp_b / n
    counts = r.overlap, only, only, tp_only_a, tp_only_b
    return (*precision, difference, low, high, *counts, *tested, np.sign(difference), r.exists)


def _tested(
    tp_a: IntArray, n_a: IntArray, tp_b: IntArray, n_b: IntArray, options: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return odds ratio, p-value and mid-p of two difference regions."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.true_divide(tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b)
    # impossible counts stand where a list does not exist
    exact = fisher_test(
        np.clip(tp_a, 0, n_a), n_a, np.clip(tp_b, 0, n_b), n_b, options["alternative"]
    )
    return odds, exact.p_mid if options["test"] == "midp" else exact.p_value, exact.p_mid


def _compare_sets(
    inner: xr.Dataset,
    pairs: list[tuple[Hashable, Hashable]],
    threshold: Mapping[Hashable, Any],
    *,
    options: Mapping[str, Any],
) -> xr.Dataset:
    cuts_a, cuts_b = _paired_cuts(inner, pairs, threshold)
    signs = _sides(inner["sign"], pairs)
    core = ["candidate"]
    names = ("n_a", "n_b", *_REGIONS[:-3], "leaning", "recall_a", "recall_b", "exists")
    found = xr.apply_ufunc(
        _set_columns,
        *_sides(inner["score"], pairs),
        *_sides(inner["present"], pairs),
        inner["gold"],
        xr.DataArray(cuts_a, dims=("pair", "cut")) * signs[0],
        xr.DataArray(cuts_b, dims=("pair", "cut")) * signs[1],
        kwargs={"options": options},
        input_core_dims=[*[core] * 5, ["cut"], ["cut"]],
        output_core_dims=[["cut"]] * len(names),
        dask="parallelized",
        output_dtypes=[np.int64] * 2 + [float] * 5 + [np.int64] * 5 + [float] * 6 + [bool],
    )
    return xr.Dataset(dict(zip(names, found, strict=True)))


def _paired_cuts(
    inner: xr.Dataset, pairs: list[tuple[Hashable, Hashable]], threshold: Mapping[Hashable, Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds of both measures (pair, cut), NaN where a pair has fewer."""
    measures = inner.indexes["measure"].tolist()
    cuts = asked_thresholds(threshold, measures, unique=False)
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for pair in pairs:
        rows = [row[~np.isnan(row)] for row in (cuts[measures.index(name)] for name in pair)]
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
    options: Mapping[str, Any],
) -> tuple[AnyArray, ...]:
    both = present_a & present_b
    r = ranking.accepted_regions(score_a, score_b, gold, both, cut_a, cut_b)
    only_a, only_b = r.n_a - r.overlap, r.n_b - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    positive = (gold & both).sum(axis=-1)[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision_a, precision_b = r.tp_a / r.n_a, r.tp_b / r.n_b
        recall = r.tp_a / positive, r.tp_b / positive
        leaning = np.sign(tp_only_a / only_a - tp_only_b / only_b)
        weights = 1.0 / r.n_a - 1.0 / r.n_b, 1.0 / r.n_a, -1.0 / r.n_b
        difference = precision_a - precision_b
        low, high = delta_method(
            (r.tp_overlap, tp_only_a, tp_only_b),
            (r.overlap, only_a, only_b),
            weights,
            difference,
            options["level"],
        )
    same = (only_a == 0) & (only_b == 0) & (r.overlap > 0)
    low, high = (np.where(same, 0.0, limit) for limit in (low, high))
    exists = ~np.isnan(cut_a) & ~np.isnan(cut_b) & np.ones(r.n_a.shape, dtype=bool)
    unequal = np.abs(r.n_a - r.n_b) > _UNEQUAL * np.maximum(r.n_a, r.n_b)
    if (unequal & exists).any():
        first = tuple(np.argwhere(unequal & exists)[0])
        warn(
            f"acceptance sets of {r.n_a[first]} and {r.n_b[first]} candidates are compared: where"
            " sizes differ by more than 10 %, the smaller set often has the higher precision"
            " whatever the measure (Evert 2004, footnote 13), and 'better' is NaN. Look at recall"
            " too, or compare n-best lists."
        )
    leaning = np.where(unequal, np.nan, leaning)
    tested = _tested(tp_only_a, only_a, tp_only_b, only_b, options)
    counts = r.overlap, only_a, only_b, tp_only_a, tp_only_b
    sizes, precision = (r.n_a, r.n_b), (precision_a, precision_b)
    return (
        *sizes, *precision, difference, low, high, *counts, *tested, leaning, *recall, exists
    )  # fmt: skip


def _decide(result: xr.Dataset, *, alpha: float, method: str | None) -> xr.Dataset:
    """Add the adjusted p-value, whether it is significant, and which measure is better."""
    p_value = result["p_value"].where(result["exists"])
    if method is None:
        p_adjusted, decisive = xr.full_like(p_value, np.nan), p_value
    else:
        family = [d for d in p_value.dims if d in ("pair", "n", "cut")]
        single = p_value.chunk(dict.fromkeys(family, -1)) if p_value.chunks else p_value
        p_adjusted = xr.apply_ufunc(
            _adjust_family,
            single,
            kwargs={"method": method},
            input_core_dims=[family],
            output_core_dims=[family],
            dask="parallelized",
            output_dtypes=[float],
        )
        decisive = p_adjusted
    better = xr.apply_ufunc(
        _better,
        result["leaning"],
        xr.DataArray(np.arange(result.sizes["pair"]), dims="pair"),
        kwargs={side: result[f"measure_{side}"].to_numpy() for side in "ab"},
        dask="parallelized",
        output_dtypes=[object],
    )
    return result.assign(p_adjusted=p_adjusted, significant=decisive <= alpha, better=better)


def _adjust_family(p_values: FloatArray, *, method: str) -> FloatArray:
    flat = p_values.reshape(*p_values.shape[:-2], -1)
    return adjusted(flat, method).reshape(p_values.shape)


def _better(leaning: FloatArray, pair: IntArray, *, a: AnyArray, b: AnyArray) -> AnyArray:
    names = np.where(leaning > 0, a[pair], b[pair]).astype(object)
    names[~(np.abs(leaning) > 0)] = np.nan
    return names


def significant_ranges(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: Any = None,
    *,
    test: str = "fisher",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    adjust: str | None = None,
    level: float = 0.95,
    ci: str = "newcombe",
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return the runs of list sizes at which one measure is significantly better.

    Parameters
    ----------
    data, a, b, n, test, alternative, alpha, adjust, level, ci, **roles
        As in :func:`compare`.

    Returns
    -------
    DataFrame or Dataset
        One row per run (Dataset: dimension row), in the order of pairs, then of n:
        ``measure_a``, ``measure_b``, ``better``, ``n_first``, ``n_last``, ``n_tests`` (how many n
        of those asked for are in the run), ``p_max`` (the largest p_adjusted in it, without
        ``adjust`` the largest p_value). Neighbours are neighbours among the n asked for.

    Notes
    -----
    Costs what :func:`compare` costs, and of a lazy Dataset computes it.

    References
    ----------
    S. Evert (2004), figure 3: "significant for all n-best lists up to n = 1250".

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.significant_ranges("G2", "t").round(3)
      measure_a measure_b better  n_first  n_last  n_tests  p_max
    0        G2         t     G2        4      36       33  0.029
    """
    table = compare(
        data, a, b, n, test=test, alternative=alternative, alpha=alpha, adjust=adjust, level=level,
        ci=ci, **roles,
    )  # fmt: skip
    if isinstance(table, pd.DataFrame):
        tables.check_names("by=", _groups(table), RANGE_COLUMNS)
        found = _runs(table)
        found.attrs = dict(table.attrs)
        return found
    frame = tables.as_frame(table, NBEST_COLUMNS)
    return xr.Dataset(
        {name: ("row", column.to_numpy()) for name, column in _runs(frame).items()},
        attrs=table.attrs,
    )


def _groups(table: pd.DataFrame) -> list[Hashable]:
    """Return the columns that name the group of each row: they stand before the measures."""
    return list(table.columns[: list(table.columns).index("measure_a")])


def _runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the maximal runs of neighbouring n that are significant for the same measure."""
    groups = _groups(table)
    pair = (
        table.groupby([*groups, "measure_a", "measure_b"], sort=False, dropna=False, observed=True)
        .ngroup()
        .to_numpy()
    )
    order = np.lexsort((table["n"].to_numpy(), pair))
    table, pair = table.iloc[order], pair[order]
    side = np.sign(table["difference"].to_numpy()) * table["significant"].to_numpy(dtype=bool)
    fresh = (np.diff(pair, prepend=-1) != 0) | (np.diff(side, prepend=2.0) != 0)
    run = np.cumsum(fresh)
    inside = np.abs(side) == 1.0
    table, run = table[inside], run[inside]
    p = "p_value" if table["p_adjusted"].isna().all() else "p_adjusted"
    first = np.flatnonzero(np.diff(run, prepend=0))
    last = np.append(first[1:], len(run))[: len(first)] - 1
    rows = table.iloc[first]
    found = rows[[*groups, "measure_a", "measure_b"]].reset_index(drop=True)
    return found.assign(
        better=found["measure_a"].where(rows["difference"].to_numpy() > 0, found["measure_b"]),
        n_first=rows["n"].to_numpy(),
        n_last=table["n"].to_numpy()[last],
        n_tests=last - first + 1,
        p_max=table[p].groupby(run).max().to_numpy(dtype=float),
    )


def difference_region(
    data: Data, a: Hashable, b: Hashable, n: int, **roles: Unpack[RoleKeywords]
) -> Data:
    """Return the candidates that only one of two n-best lists has.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int
        Size of both lists.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        The rows of the input that only one list accepts, in their order and with their index
        (Dataset: dimension row), and ``list`` ("a" or "b"), ``rank_a``, ``rank_b``: the ranks,
        from 1, in the two rankings.

    Notes
    -----
    O(N log N).

    References
    ----------
    S. Evert (2004), section 3.3: the regions D1 and D2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [3.0, 2.0, 1.0], "t": [1.0, 2.0, 3.0], "gold": [True, False, False]},
    ...     index=["kick bucket", "take place", "be there"],
    ... )
    >>> df.rankeval.difference_region("G2", "t", 1)[["gold", "list", "rank_a", "rank_b"]]
                  gold list  rank_a  rank_b
    kick bucket   True    a       1       3
    be there     False    b       3       1
    """
    check_data(data)
    sizes = check_n(n)
    if sizes is None or sizes.size != 1:
        raise ValueError(f"n={n!r}: give the size of the two lists, one whole number.")
    chosen = Roles.of(_only(data, a, b, roles))
    present = data.columns if isinstance(data, pd.DataFrame) else data.variables
    for name in ("list", "rank_a", "rank_b"):
        if name in present:
            raise ValueError(
                f"data has a column {name!r}, and so would the result. Rename it:"
                f" data.rename(columns={{{name!r}: ...}})."
            )
    region = partial(_region, a=a, b=b, n=sizes, no_ties=chosen.ties == "error")
    if isinstance(data, xr.Dataset):
        return _dataset_region(data, chosen, sizes, region)
    return _frame_region(data, chosen, sizes, region)


class _Region(NamedTuple):
    """The candidates that only one list has, in the order of the input."""

    rows: IntArray
    list: AnyArray
    rank_a: IntArray
    rank_b: IntArray


def _frame_region(
    data: pd.DataFrame, roles: Roles, n: IntArray, region: Callable[[xr.Dataset], _Region]
) -> pd.DataFrame:
    groups = read_frame(data, roles)
    check_not_above(n, groups.largest)
    found = [
        region(inner.isel({tables.GROUP: position}))
        for inner in groups.members
        for position in range(inner.sizes[tables.GROUP])
    ]
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *(x.rows for x in found)])
    order = np.argsort(rows)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(x, name) for x in found])[order] if found else []
        for name in _Region._fields[1:]
    }
    return data.iloc[rows[order]].assign(**columns)


def _dataset_region(
    data: xr.Dataset, roles: Roles, n: IntArray, region: Callable[[xr.Dataset], _Region]
) -> xr.Dataset:
    inner = read_dataset(data, roles).compute()
    check_not_above(n, inner.sizes["candidate"])
    batch = list(inner.attrs["batch"])
    parts = []
    for where in np.ndindex(*(data.sizes[d] for d in batch)):
        one = dict(zip(batch, where, strict=True))
        found = region(inner.isel({d: i for d, i in one.items() if d in inner.dims}))
        pick = {roles.dim: xr.DataArray(found.rows, dims="row")}
        part = data.isel({**one, **pick}).reset_coords()
        of_row = {name: ("row", getattr(found, name)) for name in _Region._fields[1:]}
        of_batch = {d: part[d].broadcast_like(part["row"]) for d in batch if d in data.coords}
        parts.append(part.assign({**of_batch, **of_row}))
    return xr.concat(
        parts, "row", data_vars="all", coords="minimal", compat="override", join="override"
    )


def _region(inner: xr.Dataset, *, a: Hashable, b: Hashable, n: IntArray, no_ties: bool) -> _Region:
    measures = inner.indexes["measure"].tolist()
    pair = inner.isel(measure=[measures.index(a), measures.index(b)])
    score = pair["score"].transpose("measure", "candidate").to_numpy()
    present = pair["present"].transpose("measure", "candidate").to_numpy()
    both = np.asarray(present.all(axis=0))
    if no_ties:
        ranking.refuse_cut_ties(ranking.nbest(score, inner["gold"].to_numpy(), both, n), n)
    rank_a, rank_b = ranking.restricted_ranks(ranking.order(score, both), both)
    in_a, in_b = (rank_a <= n) & both, (rank_b <= n) & both
    only = np.flatnonzero((in_a != in_b) & (n <= both.sum()))
    rows = inner["row"].to_numpy()[only]
    only = only[np.argsort(rows)]
    names = np.where(in_a, "a", "b").astype(object)
    return _Region(np.sort(rows), names[only], rank_a[only], rank_b[only])
