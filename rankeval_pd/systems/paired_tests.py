"""Is the gain of a system real? Paired tests over test items (Berg-Kirkpatrick et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_count
from rankeval_pd.forms.items.item_answers import Finish, ItemQuestion, answer_items
from rankeval_pd.forms.lazy.item_sums import ItemNeeds
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities, check_memory, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    Event,
    FamilyAdjustment,
    GainInterval,
    ItemRoles,
    LawMethod,
)
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling import paired_gains, resamples
from rankeval_pd.stats.resampling.bootstrap_tests import DUAL, EVENTS, INTERVALS
from rankeval_pd.stats.resampling.gain_tables import Pairs, is_undecided
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions
from rankeval_pd.systems.system_ranks import (
    Families,
    TableNotes,
    check_size,
    of_all_groups,
    options_of,
    relation_of,
    resampling_bar,
    seed_of,
)

PAIR_COLUMNS = (
    "system_a", "system_b", "score_a", "score_b", "gain", "gain_se", "ci_low", "ci_high",
    "p_value", "p_two_sided", "p_stderr", "p_adjusted", "confidence", "undecided", "exact",
    "n_items", "n_resamples",
)  # fmt: skip

_PAIR_DTYPES = (bool, *[float] * 11, bool, bool, *[np.int64] * 3, *[float] * 3)


@Capabilities(items="Is the gain of a system real?", sums=True)
@with_roles
def paired_bootstrap(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test by the paired bootstrap whether a system is better than another, for all pairs at once.

    Parameters
    ----------
    data : DataFrame or Dataset
        One row per test item and one column per system, or two-level columns (system, statistic);
        a Dataset with the dimensions item and system and one variable per statistic. Also a Dask
        DataFrame, and a lazy Dataset in chunks of items, whose workers add up the items that they
        have: the numbers are the same, bit for bit.
    a, b : names of systems, optional
        Both: this pair, in this order. ``a`` alone: a and each other system. Neither: all pairs.
    baseline : name of a system, optional
        Each other system against this one, which is system_b in every row: gain is above 0 where
        the other is better, and p_value small. Instead of ``a`` and ``b``.
    n_resamples : int, optional
        b, the number of resamples. None: as many as the family of tests, ``adjust``, ``alpha`` and
        ``level`` need, at least 10,000; the paper's is a million.
    event : {"wild", "recentred", "strict", "zero", "bias-corrected", "studentised"}
        What ``p_value`` is the chance of. "wild": the wild bootstrap, its null hypothesis imposed:
        what each item (with ``groups`` each cluster) adds to the gain gets a random sign, and the
        gain is reached. The others draw items with replacement and count resampled gains δ*, δ
        being the gain. The paper's: "recentred" δ* ≥ 2δ; "strict" δ* > 2δ, figure 1 to the letter;
        "zero" δ* ≤ 0; "bias-corrected" δ* − mean δ* ≥ δ, for metrics whose resampled gains are not
        centred at δ (of means and sums without ``groups`` the mean δ* is known to be δ, and not
        estimated). "studentised": (δ* − δ)/se* ≥ δ/se, for skewed differences.
    method : {"auto", "exact", "monte-carlo"}
        "auto" computes the distribution itself where it can, and draws elsewhere.
    ci : {None, "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"}
        Interval of the gain. None is the one that agrees with ``event``: it leaves out 0 where
        p_two_sided ≤ 1 − level. For "wild" these are the gains that the test does not reject; of
        items that are right or wrong (0 or 1, without ``groups``) Tango's score interval, with 0 in
        it where the exact test does not reject 0. Any other interval may contradict p_two_sided.
        "tango" and "newcombe" are score intervals of paired proportions, of 0 and 1 only.
    families : mapping, sequence or callable, optional
        A label per system (by name, or in the order of the systems): pairs are "same" or
        "different" in the column ``relation``. Or a function of two names that gives the relation.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment of ``p_two_sided`` for the number of pairs. "max-t" resamples always, in rows
        that are ``exact`` too.
    adjust_over : {"all", "group"}
        Whether the pairs of all groups (of ``by``; in a Dataset of all batch dimensions) are one
        family, or those of each group. "max-t" holds for the pairs of a group, and over the groups
        a step-down in Holm's way is put on top, since each has items of its own.
    alpha : float
        The level at which ``undecided`` is judged, and for which ``n_resamples`` is chosen.
    level : float
        Confidence level of the intervals, that of the Monte-Carlo error too.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
    **roles
        ``metric``, and the statistics per item that it takes: mean (default), sum, rouge: one
        column; ratio: numerator, denominator; accuracy: correct[, total]; precision: correct,
        guess; recall: correct, gold; f1: correct, guess, gold; aer: sure, guess, correct_sure,
        correct_possible; bleu: sys_len, ref_len, correct_1 … correct_4, total_1 … total_4; chrf:
        hyp_i, ref_i, match_i of each order i; or a function f(S) of statistics summed over items,
        in the order of the columns, S[..., statistic] → [...], inf and NaN being undefined.
        ``higher_is_better``: None takes the metric's own. ``groups``: column or index level of the
        clusters (documents) that are drawn whole. ``by``: domains, each tested alone. ``measures``:
        the systems meant. ``rng``: seed. ``dim``: in a Dataset the dimension of the items.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair, coordinates system_a and system_b), ordered so
        that gain ≥ 0 unless both names or a baseline are given:

        * ``system_a``, ``system_b``, ``score_a``, ``score_b``;
        * ``gain``: improvement of system_a over system_b, the sign turned where lower is better;
        * ``gain_se``: its standard error, by linearisation; of the paper's events the standard
          deviation of δ*; ``ci_low``, ``ci_high``: interval of the gain, infinite where so few
          items set no limit, NaN where nothing varies;
        * ``p_value``: one-sided, of the pair in its order; ``p_two_sided`` = min(1, 2 p_value),
          p_value being that of the better system first, whichever was named first; ``p_stderr``:
          Monte-Carlo standard error of p_value; ``p_adjusted``: of p_two_sided, NaN without
          ``adjust``;
        * ``confidence`` = 1 − p_value;
        * ``undecided``: the Monte-Carlo interval of the p-value that decides, ``p_adjusted`` or
          without ``adjust`` ``p_two_sided``, holds alpha: draw more resamples;
        * ``exact``: p_value is computed from its distribution and has no Monte-Carlo error. That
          says nothing of the level of the test: the distribution may be the wrong one for few
          items;
        * ``n_items``; ``n_resamples``: draws behind p_value, 0 where exact;
        * ``relation``, with ``families``; ``n_groups``, with ``groups``.

    Warns
    -----
    RankevalWarning
        With fewer than 30 items, or 20 groups; where nothing varies and there is no interval.

    Raises
    ------
    ValueError
        If an item is missing for a system; if there is one system or one item; if a count is
        negative; if ``method="exact"`` and there is no exact distribution; if no adjusted p-value
        could reach alpha with so few resamples.

    Notes
    -----
    "wild" holds its level at any number of items or groups, equal or not, if differences are
    symmetric: random signs then have the right distribution. The price is that n items allow no
    two-sided p below 2^(1−n): with five items or groups nothing is significant at .05. Of skewed
    differences it is too liberal, below 100 items clearly; "studentised" is less so, and worse for
    0/1 metrics and long tails. The paper's events are too liberal for few items, and far too
    liberal for few groups. The docs' page on paired tests tables the sizes.

    The score is linearised for "wild": exact for means, sums and accuracy; every other metric by
    its derivatives at the sums. All pairs share the same signs, and all events but "wild" one
    matrix of counts, :func:`resample_counts` of the same seed, whose columns are the items (with
    ``groups`` the clusters) in the order of their labels: the order of the rows changes no number.
    Monte-Carlo p-values are (s + 1)/(b + 1), those of "strict" s/b, which can be 0; an exact p that
    would be 0 is 2^−n; two gains are equal if they differ by no more than 1e-12 of the scores'
    scale (linearised: 1e-8). A resample in which the metric is undefined (a denominator of 0)
    counts against the claim: as one in which the event happened, and as beyond both limits.

    Exact distributions exist for mean, sum and accuracy, where the items' differences are whole
    multiples of one step and their sum has at most a million values, relative error below 1e-10: of
    "wild" always, of the paper's events without ``groups``. Of up to 16 items or groups (20 with
    method="exact"), "wild" looks at all signs, whatever the metric. "studentised" resamples always.

    "max-t" is the step-down method of Romano and Wolf with t statistics: of "wild" with the same
    signs for all pairs, of the other events with the standard error of every resample.

    Pairs ordered by their gain make the one-sided p a half of a two-sided one: under the null
    hypothesis of two equal systems, p_value ≤ .05 happens at 10 %. Use p_two_sided unless the
    direction was known before.

    Cost: of a block of 1,000 resamples a matrix product, items x systems (but for "wild" x
    statistics), twice that where items are not small whole numbers; counts take some 7 ns a draw,
    signs far less. 8 bytes per resample and system are kept, and per pair where standard errors of
    resamples are needed. Of a Dask DataFrame a worker holds its items up to three times, and 32 MB
    of counts for each thread; ``groups``, ``strata``, ``seeds``, ``by``, "studentised", "bca" and
    max-t of draws are refused there.

    References
    ----------
    T. Berg-Kirkpatrick, D. Burkett, D. Klein (2012), figure 1, section 2.2 and footnotes 2 to 5.
    C. F. J. Wu (1986), Jackknife, bootstrap and other resampling methods in regression analysis.
    A. C. Cameron, J. Gelbach, D. Miller (2008), Bootstrap-based improvements for inference with
    clustered errors. J. Hartigan (1969), Using subsample values as typical values. T. Tango (1998).
    R. G. Newcombe (1998), Improved confidence intervals for the difference between binomial
    proportions based on paired data, method 10.
    B. Phipson, G. Smyth (2010), Permutation p-values should never be zero. B. Efron (1987), Better
    bootstrap confidence intervals. J. Romano, M. Wolf (2005), Exact and approximate stepdown
    methods for multiple hypothesis testing.

    Examples
    --------
    One win in fifty items:

    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_bootstrap()[["system_a", "system_b", "gain", "p_value", "exact"]]
      system_a system_b  gain  p_value  exact
    0      new      old  0.02      0.5   True
    >>> df.rankeval.paired_bootstrap(event="recentred")[["gain", "p_value", "exact"]]
       gain   p_value  exact
    0  0.02  0.264229   True
    """
    check_choice("event", event, EVENTS)
    check_choice("ci", ci, (None, *INTERVALS))
    options = options_of(
        roles, n_resamples, method=method, adjust=adjust, alpha=alpha, level=level,
        event=event, ci=_agreeing(event, ci), keep_order=not (b is None and baseline is None),
    )  # fmt: skip
    said = ("event", "method", "ci", "adjust", "alpha", "level")
    return _ask_pairs(
        paired_gains.paired_bootstrap, data, a, b, options, adjust_over, families, progress, roles,
        said, baseline,
    )  # fmt: skip


@Capabilities(items="Is the gain of a system real?", sums=True)
@with_roles
def paired_permutation(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n_resamples: int | None = None,
    method: LawMethod = "auto",
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs of systems by approximate randomization: swap what they did on random items.

    Parameters
    ----------
    data, a, b, baseline, n_resamples, families, adjust, adjust_over, alpha, level, progress
        As in :func:`paired_bootstrap`.
    **roles
        As in :func:`paired_bootstrap`; with ``groups`` whole clusters are swapped.
    method : {"auto", "exact", "monte-carlo"}
        "auto" is exact where it can be: for mean, sum and accuracy whose differences are whole
        multiples of one step, and for any metric with at most 20 items (or clusters), when all
        swaps are looked at.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap`, with its warnings. ``p_value`` is the chance of a
        gain at least as large as the observed one if the two systems are exchangeable on each item;
        ``gain_se`` the standard deviation of the gain under swaps, as if the true gain were 0;
        ``ci_low`` and ``ci_high`` the gain less the quantiles of the gain under swaps. Both hold 0
        or not as the test says, and are the wider the larger the gain is beside its spread (of a
        gain that all items show, many times): an interval to be quoted, and the standard error for
        :func:`needed_items`, are those of :func:`paired_bootstrap`.

    Notes
    -----
    The test is exact, at any number of items, for the sharp null hypothesis that the two systems'
    outputs are exchangeable on these very items; it says nothing of other items (Riezler and
    Maxwell 2005; footnote 1 of Berg-Kirkpatrick et al.). For 0/1 metrics it is McNemar's exact
    test. Monte-Carlo p-values are (s + 1)/(b + 1); the swaps are the same for all pairs.

    Cost: of a block of 1,000 trials a matrix product, and two scores per pair and trial; 8 bytes
    per trial and pair are kept.

    References
    ----------
    E. Noreen (1989), Computer intensive methods for hypothesis testing. A. Yeh (2000). S. Riezler,
    J. Maxwell (2005).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"new": [1] + [0] * 49, "old": [0] * 50})
    >>> df.rankeval.paired_permutation()[["gain", "p_value", "exact"]]
       gain  p_value  exact
    0  0.02      0.5   True
    """
    options = options_of(
        roles, n_resamples, method=method, adjust=adjust, alpha=alpha, level=level,
        event="recentred", ci="basic", keep_order=not (b is None and baseline is None),
    )  # fmt: skip
    said = ("method", "adjust", "alpha", "level")
    return _ask_pairs(
        paired_gains.paired_permutation, data, a, b, options, adjust_over, families, progress,
        roles, said, baseline,
    )  # fmt: skip


def resample_counts(
    n_items: int, n_resamples: int = 10_000, *, rng: int | np.random.Generator | None = 0
) -> IntArray:
    """Return how often each item is in each resample: the very counts that every method uses.

    Parameters
    ----------
    n_items : int
        The number of items; with ``groups``, of clusters.
    n_resamples : int
    rng : int, Generator or None
        The seed, as in every method.

    Returns
    -------
    array of int (n_resamples, n_items)
        Each row sums to n_items. The columns are the items in the order of their labels.

    Notes
    -----
    Drawn in blocks of 1,000, each from its own child of ``SeedSequence(rng)``: more resamples of
    the same seed begin with the same ones, whatever chunks, threads or workers use them. Some 7 ns
    a draw, n_items x n_resamples of them; 8 bytes per count here, and a byte in the methods, which
    keep 32 MB of them at a time.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), footnote 5: the counts that all pairs share.

    Examples
    --------
    >>> import rankeval_pd
    >>> counts = rankeval_pd.resample_counts(4, 3)
    >>> counts.shape, counts.sum(axis=1)
    ((3, 4), array([4, 4, 4]))
    """
    for name, value in (("n_items", n_items), ("n_resamples", n_resamples)):
        check_count(name, value)
    check_memory(
        float(n_items) * float(n_resamples),
        f"{n_resamples:,} resamples of {n_items:,} items",
        "Draw fewer, n_resamples=..., some at a time with other seeds, rng=...",
    )
    return resamples.all_counts(int(n_items), int(n_resamples), seed_of({"rng": rng}))


def _agreeing(event: str, ci: str | None) -> str:
    """Return the interval asked for, or the event's own; "" where that depends on the items."""
    if ci is not None:
        return ci
    return "" if event == "wild" else DUAL[event]


def _ask_pairs(
    test: Callable[..., Pairs],
    data: Data,
    a: Hashable,
    b: Hashable,
    options: PairOptions,
    adjust_over: str,
    families: Families | None,
    progress: bool | None,
    roles: Mapping[str, Any],
    said: Sequence[str],
    baseline: Hashable,
) -> Data:
    columns = PAIR_COLUMNS if families is None else (*PAIR_COLUMNS, "relation")
    made = TableNotes(options, roles, said, adjust_over)
    with resampling_bar(data, progress, options.n_resamples, "resampling items") as step:

        def ask(items: AnyItems, pairs: IntArray, groups: int) -> Sequence[AnyArray]:
            settled = made.settled(options, len(pairs), groups)
            check_size(test, items, len(pairs), settled)
            computed = test(items, pairs, settled, step)
            made.see(items, settled, np.isfinite(computed.gain) & np.isnan(computed.ci_low))
            if "ci" in said:
                own = "tango" if items.binary else DUAL[options.event]
                made.see_interval(options.ci or own)
            return computed

        finish = _over_groups(options) if made.over_all else None
        question = ItemQuestion(
            ask, Pairs._fields, _PAIR_DTYPES, "pair", finish=finish,
            spread=lambda n_pairs: _spread(test, made.settled(options, n_pairs, 1)),
        )  # fmt: skip
        relate = None if families is None else relation_of(families)
        result: Data = answer_items(
            data, roles, question, made.columns(columns), a=a, b=b, baseline=baseline,
            relate=relate, attrs=made.attrs,
        )  # fmt: skip
    made.warn()
    return result


def _spread(test: Callable[..., Pairs], options: PairOptions) -> ItemNeeds:
    """Return what the test needs of items that are spread over workers."""
    if test is paired_gains.paired_permutation:
        return ItemNeeds(options, swaps=True)
    return ItemNeeds(options, signs="wild" in (options.event, options.ci))


def _over_groups(options: PairOptions) -> Finish:
    """Return what adjusts the tests of all groups as one family."""

    def finish(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        computed = (
            of_all_groups(results, name, options, batch)
            for name in ("family_p", "family_low", "family_high")
        )
        return [
            result.assign(p_adjusted=p, undecided=is_undecided(low, high, options.alpha))
            for result, p, low, high in zip(results, *computed, strict=True)
        ]

    return finish
