"""Is A better than B? Difference regions and their test (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.candidates import Data, answer
from rankeval_pd.errors import (
    check_at_least_one,
    check_choice,
    check_count,
    check_n,
    check_share,
    unknown_name,
    warn,
)
from rankeval_pd.pairs import Pair, PairRanks, ask_pairs, only_pair, pair_names, sides, with_names
from rankeval_pd.precision import TARGETS
from rankeval_pd.progress import drawing_bar, progress_bar
from rankeval_pd.roles import RoleKeywords, Roles
from rankeval_pd.stats import bands, ranking, swaps
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.adjust import ADJUSTMENTS, step_down
from rankeval_pd.stats.adjust import adjust as adjusted
from rankeval_pd.stats.fisher import ALTERNATIVES, fisher_test
from rankeval_pd.stats.intervals import DIFFERENCE_INTERVALS, delta_method
from rankeval_pd.stats.mcnemar import mcnemar_test
from rankeval_pd.stats.odds_ratio import sample_odds_ratio
from rankeval_pd.stats.unconditional import barnard, boschloo
from rankeval_pd.thresholds import asked_thresholds

_REGIONS: dict[str, type] = {
    "precision_a": float, "precision_b": float, "difference": float, "ci_low": float,
    "ci_high": float, "overlap": np.int64, "n_only_a": np.int64, "n_only_b": np.int64,
    "tp_only_a": np.int64, "tp_only_b": np.int64, "odds_ratio": float, "p_value": float,
    "p_mid": float,
}  # fmt: skip
_DECIDED = ("p_adjusted", "significant", "better")
NBEST_COLUMNS = ("measure_a", "measure_b", "n", *_REGIONS, *_DECIDED)
THRESHOLD_COLUMNS = (
    "measure_a", "measure_b", "n_a", "n_b", *_REGIONS, *_DECIDED, "recall_a", "recall_b",
)  # fmt: skip

OTHER_TESTS = ("mcnemar", "boschloo", "barnard")
TESTS = ("fisher", "midp", *OTHER_TESTS)
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
    n_resamples: int = 999,
    level: float = 0.95,
    ci: str = "newcombe",
    target: str = "region",
    phi: float = 1.0,
    progress: bool | None = None,
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
    test : {"fisher", "midp", "mcnemar", "boschloo", "barnard"}
        What ``p_value`` is. Fisher's exact test is the paper's; its size is below the level, far
        below where the regions are small. Mid-p is closer to it, and may exceed it slightly.
        Boschloo's and Barnard's tests are exact and more powerful than Fisher's; they take
        milliseconds for each n, which must be given. McNemar's asks which measure is right more
        often, whether it accepts or rejects; it has little power where positives are rare.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better than b.
    alpha : float
        A row is significant where p <= alpha.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment for the number of tests: all rows (pairs and n) of one group. "max-t" holds for
        all n asked for together and knows that neighbouring n are nearly the same test: the labels
        of the two rankings are swapped at random, candidate by candidate, and what counts is the
        largest difference over all n. Over the pairs, Holm's step-down is put on top.
    n_resamples : int
        Number of swaps of "max-t".
    level : float
        Confidence level of the interval of the difference.
    ci : {"newcombe", "agresti-caffo", "miettinen-nurminen"}
        Interval of the difference of the two regions, times n_only / n. With ``threshold`` the
        delta method is used.
    target : {"region", "nbest"}
        What the interval is one of. "region" is the paper's: the two lists are acceptance regions
        with fixed thresholds. "nbest" adds the variance of the thresholds, and takes the normal
        approximation of :func:`difference_band` in place of ``ci``.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`: how many times as much as binomial
        counts the true positives vary. It widens the interval; p-values are not changed.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
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
    every n of 100,000 candidates. Errors are below 1e-11 relative. "max-t" takes O(N) for each
    swap and pair, half a second for 999 swaps of 5,000 candidates. Its null hypothesis is that,
    given the gold label, the two ranks of every candidate may be exchanged. The draws are the same
    for all pairs and groups, and for the same ``rng`` whatever the order of the rows.

    References
    ----------
    Evert (2004), section 3.3, figure 3, footnote 13. R. G. Newcombe (1998), Interval estimation
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
    options = _Options.of(
        test=test, alternative=alternative, ci=ci, level=level, target=target, phi=phi,
        adjust=adjust, alpha=alpha, n_resamples=n_resamples, progress=progress, seed=0,
    )  # fmt: skip
    if test in ("boschloo", "barnard") and n is None and threshold is None:
        raise ValueError(
            f"test={test!r} and n=None: this test takes milliseconds for each n. Give the n that"
            " matter, or take test='midp', which is nearly as powerful."
        )
    if threshold is not None:
        _check_threshold(n, threshold, options)
        threshold = _of_pair(data, threshold, a, b)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    options = options._replace(seed=chosen.draws if adjust == "max-t" else 0)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        if threshold is None:
            result = _compare_lists(inner, pairs, sizes, chosen.ties, options)
        else:
            result = _compare_sets(inner, pairs, threshold, options)
        return _decide(result, options)

    return answer(
        data,
        only_pair(data, a, b, roles),
        question,
        NBEST_COLUMNS if threshold is None else THRESHOLD_COLUMNS,
        n=sizes,
        cuts_lists=threshold is None,
        attrs=options.noted(),
    )


class _Options(NamedTuple):
    """How the comparison is made."""

    test: str
    alternative: str
    ci: str
    level: float
    target: str
    phi: float
    adjust: str | None
    alpha: float
    n_resamples: int
    progress: bool | None
    seed: int

    @classmethod
    def of(cls, **given: Any) -> _Options:
        check_choice("test", given["test"], TESTS)
        check_choice("alternative", given["alternative"], ALTERNATIVES)
        check_choice("adjust", given["adjust"], (None, *ADJUSTMENTS, "max-t"))
        check_choice("ci", given["ci"], DIFFERENCE_INTERVALS)
        check_choice("target", given["target"], TARGETS)
        for name in ("alpha", "level"):
            given[name] = check_share(name, given[name])
        given["phi"] = check_at_least_one("phi", given["phi"])
        given["n_resamples"] = check_count("n_resamples", given["n_resamples"])
        return cls(**given)

    def noted(self) -> dict[str, Any]:
        """Return what the readers of the table, and the plots, need to know."""
        kept = self._asdict()
        del kept["seed"], kept["progress"]
        if self.adjust != "max-t":
            del kept["n_resamples"]
        return kept


def _check_threshold(n: Any, threshold: Any, options: _Options) -> None:
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
    if options.adjust == "max-t":
        raise ValueError(
            "adjust='max-t' and threshold: the swaps keep the ranks, not the scores, so that they"
            " hold for n-best lists only. Give n=..., or adjust='holm'."
        )


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


def _compare_lists(
    inner: xr.Dataset,
    pairs: list[Pair],
    n: IntArray | None,
    ties: str,
    options: _Options,
) -> xr.Dataset:
    columns = {**_REGIONS, "leaning": float}
    if options.adjust != "max-t":
        return ask_pairs(
            inner, pairs, _list_columns, columns, n=n, ties=ties, options={"options": options}
        )
    _check_enough(len(pairs), options)
    draws = len(pairs) * options.n_resamples
    with drawing_bar(inner, options.progress, draws=draws, what="swapping labels") as advance:
        return ask_pairs(
            inner,
            pairs,
            _swapped_columns,
            {**columns, "p_swaps": float},
            n=n,
            ties=ties,
            options={"options": options, "advance": advance},
        )


def _check_enough(n_pairs: int, options: _Options) -> None:
    """Raise a ValueError where no statistic could be significant with so few draws."""
    needed = int(np.ceil(n_pairs / options.alpha * (1.0 - 1e-12))) - 1
    if options.n_resamples < needed:
        raise ValueError(
            f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g}: the smallest"
            f" p-value of {n_pairs} pair{'s'[: n_pairs > 1]} is {n_pairs}/(n_resamples + 1). Give"
            f" n_resamples={needed} or more."
        )


def _list_columns(lists: PairRanks, n: IntArray, *, options: _Options) -> tuple[AnyArray, ...]:
    r = ranking.nbest_regions(lists.a, lists.b, lists.gold, n)
    only = n - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    difference = (tp_only_a - tp_only_b) / n
    if options.target == "nbest":
        low, high = _nbest_limits(lists, n, only, (tp_only_a, tp_only_b), difference, options)
    else:
        tp_a, tp_b, size = (x / options.phi for x in (tp_only_a, tp_only_b, only))
        low, high = DIFFERENCE_INTERVALS[options.ci](tp_a, size, tp_b, size, options.level)
        low, high = low * (only / n), high * (only / n)
    low, high = (np.where(only == 0, 0.0, limit) for limit in (low, high))
    tested = _tested(tp_only_a, only, tp_only_b, only, options, lists.exists)
    precision = r.tp_a / n, r.tp_b / n
    counts = r.overlap, only, only, tp_only_a, tp_only_b
    return (*precision, difference, low, high, *counts, *tested, np.sign(difference))


def _nbest_limits(
    lists: PairRanks,
    n: IntArray,
    only: IntArray,
    tp_only: tuple[IntArray, IntArray],
    difference: FloatArray,
    options: _Options,
) -> tuple[FloatArray, FloatArray]:
    """Return difference -+ z se, the thresholds of both lists being as random as the labels."""
    from scipy import special

    spread = bands.difference_spread(lists.a, lists.b, lists.gold, lists.present, n, only, tp_only)
    margin = (
        -float(special.ndtri((1.0 - options.level) / 2.0))
        * np.sqrt(options.phi * spread.variance)
        / n
    )
    return np.maximum(difference - margin, -1.0), np.minimum(difference + margin, 1.0)


def _swapped_columns(
    lists: PairRanks, n: IntArray, *, options: _Options, advance: Callable[[int], object]
) -> tuple[AnyArray, ...]:
    """Return the columns and the p-values that hold for all n of a pair together."""
    p_swaps = np.full((*lists.a.shape[:-1], n.size), np.nan)
    for row in np.ndindex(lists.a.shape[:-1]):
        asked = lists.exists[row]
        if not asked.any():
            continue
        a, b, gold = lists.of(row)
        drawn = swaps.largest_statistics(
            a, b, gold, n[asked], options.alternative,
            n_resamples=options.n_resamples, seed=options.seed, advance=advance,
        )  # fmt: skip
        observed = swaps.region_statistic(ranking.nbest_regions(a, b, gold, n[asked]), n[asked])
        p_swaps[(*row, asked)] = swaps.exceedance(swaps.sided(observed, options.alternative), drawn)
    return (*_list_columns(lists, n, options=options), p_swaps)


def _tested(
    tp_a: IntArray,
    n_a: IntArray,
    tp_b: IntArray,
    n_b: IntArray,
    options: _Options,
    exists: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return odds ratio, p-value and mid-p of two difference regions."""
    regions = np.clip(tp_a, 0, n_a), n_a, np.clip(tp_b, 0, n_b), n_b  # of lists that do not exist
    exact = fisher_test(*regions, options.alternative)
    p_value = exact.p_mid if options.test == "midp" else exact.p_value
    if options.test in OTHER_TESTS:
        p_value = np.full(np.shape(tp_a), np.nan)
        there = np.broadcast_to(exists, p_value.shape)
        of_a, of_b = ((t[there], n[there]) for t, n in (regions[:2], regions[2:]))
        p_value[there] = _other_test(*of_a, *of_b, options)
    return sample_odds_ratio(tp_a, n_a, tp_b, n_b), p_value, exact.p_mid


def _other_test(
    tp_a: IntArray, n_a: IntArray, tp_b: IntArray, n_b: IntArray, options: _Options
) -> FloatArray:
    if options.test == "mcnemar":
        return mcnemar_test(tp_a, n_a, tp_b, n_b, options.alternative)
    test = boschloo if options.test == "boschloo" else barnard

    def shown(cells: Iterable[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
        tables = list(cells)
        with progress_bar(
            options.progress, total=len(tables), what=f"{options.test}'s test", unit="tables"
        ) as advance:
            for table in tables:
                yield table
                advance(1)

    return test(tp_a, n_a, tp_b, n_b, options.alternative, shown)


def _compare_sets(
    inner: xr.Dataset,
    pairs: list[Pair],
    threshold: Mapping[Hashable, Any],
    options: _Options,
) -> xr.Dataset:
    cuts_a, cuts_b = _paired_cuts(inner, pairs, threshold)
    signs = sides(inner["sign"], pairs)
    core = ["candidate"]
    types = {
        "n_a": np.int64, "n_b": np.int64, **_REGIONS, "leaning": float, "recall_a": float,
        "recall_b": float, "exists": bool,
    }  # fmt: skip
    found = xr.apply_ufunc(
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
    return with_names(xr.Dataset(dict(zip(types, found, strict=True))), pairs)


def _paired_cuts(
    inner: xr.Dataset, pairs: list[Pair], threshold: Mapping[Hashable, Any]
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
    options: _Options,
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
            options.level,
            phi=options.phi,
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
    tested = _tested(tp_only_a, only_a, tp_only_b, only_b, options, exists)
    counts = r.overlap, only_a, only_b, tp_only_a, tp_only_b
    sizes, precision = (r.n_a, r.n_b), (precision_a, precision_b)
    return (
        *sizes, *precision, difference, low, high, *counts, *tested, leaning, *recall, exists
    )  # fmt: skip


def _decide(result: xr.Dataset, options: _Options) -> xr.Dataset:
    """Add the adjusted p-value, whether it is significant, and which measure is better."""
    p_value = result["p_value"].where(result["exists"])
    if options.adjust is None:
        p_adjusted, decisive = xr.full_like(p_value, np.nan), p_value
    else:
        simultaneous = options.adjust == "max-t"
        given = result["p_swaps"] if simultaneous else p_value
        family = [d for d in p_value.dims if d in ("pair", "n", "cut")]
        single = given.chunk(dict.fromkeys(family, -1)) if given.chunks else given
        p_adjusted = xr.apply_ufunc(
            step_down if simultaneous else _adjust_family,
            single,
            kwargs={} if simultaneous else {"method": options.adjust},
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
    significant = decisive <= options.alpha
    return result.assign(p_adjusted=p_adjusted, significant=significant, better=better)


def _adjust_family(p_values: FloatArray, *, method: str) -> FloatArray:
    flat = p_values.reshape(*p_values.shape[:-2], -1)
    return adjusted(flat, method).reshape(p_values.shape)


def _better(leaning: FloatArray, pair: IntArray, *, a: AnyArray, b: AnyArray) -> AnyArray:
    names = np.where(leaning > 0, a[pair], b[pair]).astype(object)
    names[~(np.abs(leaning) > 0)] = np.nan
    return names
