"""Sets of candidates that a threshold accepts, and the choice of the threshold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import doors, errors, stats
from rankeval_pd.decisions import (
    OF_CLUSTERS,
    OF_F1,
    OF_ONLY,
    OF_PAIRED,
    OF_SETS,
    PAIR,
    Rows,
    decide,
    decision_columns,
)
from rankeval_pd.doors import Answer, Candidates, Data, tabulate
from rankeval_pd.lists.groups import (
    OTHER_TEST,
    ListMembers,
    cluster_numbers,
    in_rows,
    list_weights,
    moved,
    p_of_gap,
    set_weights,
    warn_of_few,
)
from rankeval_pd.lists.precision import IntervalKind, rates_of
from rankeval_pd.lists.regions import REGION_COLUMNS, Comparison
from rankeval_pd.options import Capabilities, can, with_roles_but
from rankeval_pd.roles import (
    Adjustment,
    Alternative,
    ComparedRate,
    ListsAdjustOver,
    ListSizes,
    Names,
    ProportionInterval,
    RankingRoles,
    Roles,
    SetTest,
)
from rankeval_pd.stats import FloatArray, IntArray, Ranking, areas, ranks
from rankeval_pd.tables import Columns

# ---- Evaluate acceptance sets, defined by thresholds (Evert 2004, section 2)

ACCEPTANCE_COLUMNS = tuple(
    "measure threshold n_accepted tp fn tn precision recall lift ci_low ci_high recall_low "
    "recall_high specificity spec_low spec_high npv npv_low npv_high f1 f1_low f1_high "
    "youden youden_low youden_high".split()
)


@Capabilities(
    rankings="How good is each list?",
    ends=True,
    by_groups=True,
    clusters=True,
    short="measure n threshold n_accepted tp precision recall ci_low ci_high",
    details="fn tn lift recall_low recall_high specificity spec_low spec_high npv npv_low npv_high"
    " f1 f1_low f1_high youden youden_low youden_high",
    layout={"": "measure cut", "n": "measure n"},
    quantity="precision",
)
@with_roles_but("key", "label", "ties", "rng")
def acceptance_precision(
    data: Data,
    threshold: float | Sequence[float] | Mapping[Hashable, Any] | None = None,
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
    data
    threshold : float, sequence of float or mapping
        A number or a list for all measures, or a mapping from measure to a number or a list. A
        candidate is accepted if its score is at least the threshold (at most the threshold for
        measures in ``lower_is_better``). The threshold is compared in the dtype of the scores, so
        0.7 accepts a float32 score of 0.7. Candidates without a score count as rejected, unless
        ``missing="drop"`` omits them from all counts.
    n : int, float, sequence or range, optional
        Use the score of the n-th candidate as the threshold. A float below 1 is a fraction of the
        candidates. All candidates with this score are accepted.
    ci
    level
    phi
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and threshold (Dataset: dimensions measure and cut): ``measure``,
        ``threshold``, ``n_accepted``, ``tp``, ``precision``, ``recall``, ``ci_low``, ``ci_high``.
        For an empty set, precision is NaN and the interval is (0, 1). ``details=True`` adds ``fn``
        and ``tn``, the numbers of positives and negatives that are rejected; ``lift``;
        ``specificity``, the proportion of negatives that are rejected; ``npv``, the proportion of
        negatives among rejected candidates; ``f1``; ``youden`` = recall + specificity - 1; and
        limits such as ``recall_low``, ``recall_high`` and ``spec_low``. If you pass ``n``, the
        result includes a column ``n`` (Dataset: dimensions measure and n).

    Notes
    -----
    The limits for F1 = 2 s / (1 + s) come from the interval ``ci`` for the proportion s = tp / (tp
    + fp + fn). Youden's J is a difference between two independent proportions, with Miettinen and
    Nurminen's limits (see :func:`compare`). With ``groups``, each rate is a ratio of sums over
    independent groups, with Korn and Graubard's effective size as in :func:`nbest_precision`. J + 1
    is twice the area under the ROC curve of a score with two values, accepted and rejected, so
    :func:`area` with ``groups`` gives its limits, after the variance is reduced for ties.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 2, defines the acceptance set
    of a threshold.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.acceptance_precision({"G2": [3.3, 100]})
      measure  threshold  n_accepted  tp  precision  recall    ci_low   ci_high
    0      G2        3.3           3   2   0.666667     1.0  0.094299  0.991596
    1      G2      100.0           0   0        NaN     0.0  0.000000  1.000000
    """
    clustered = Roles.of(roles).groups is not None
    if clustered and phi != 1.0:
        raise ValueError("phi: the overdispersion is estimated from the groups. Omit phi.")
    kind = IntervalKind.of(ci, level, phi=phi, clustered=clustered)
    errors.check_one(threshold=threshold, n=n)
    sizes = doors.check_n(n)
    able, attrs = can(acceptance_precision), kind._asdict()
    attrs["interval_youden"] = {True: "newcombe", False: "miettinen-nurminen"}[clustered]
    if sizes is not None:
        columns = ("measure", "n", *ACCEPTANCE_COLUMNS[1:])
        question = partial(doors.measure_rows, kernel=_sets_at, kind=kind)
        return tabulate(data, roles, question, columns, able, n=sizes, attrs=attrs)
    # the head contains the counts for these thresholds
    able = replace(able, heads=not clustered)
    of_thresholds = partial(
        _sets_of_thresholds, threshold=threshold, kind=kind, data=doors.below_door(data)
    )
    return tabulate(data, roles, of_thresholds, ACCEPTANCE_COLUMNS, able, attrs=attrs)


def _sets_at(
    ranking: Ranking, candidates: Candidates, *, n: IntArray | None, kind: IntervalKind
) -> Columns:
    """Return the columns of sets with at least the n-th score: (group, measure, n)."""
    lists = ranking.nbest(n)
    columns = _shares_of_sets(ranking, ranking.accepted(lists.threshold), kind, candidates.clusters)
    columns["threshold"] = lists.threshold * candidates.sign[:, np.newaxis] + 0.0
    return {**columns, "exists": lists.exists}


def _sets_of_thresholds(
    candidates: Candidates,
    _: IntArray | None,
    *,
    threshold: Any,
    kind: IntervalKind,
    data: pd.DataFrame,
) -> Rows:
    """Return the sets of the measures that have thresholds."""
    cuts = doors.asked_thresholds(threshold, candidates.measures)  # (measure, cut)
    whole = candidates.whole
    if whole is not None and (whole.accepted is None or cuts.shape != whole.accepted.shape[1:]):
        doors.refuse_head(data)
    measures = np.flatnonzero(~np.isnan(cuts).all(axis=1))
    scores = doors.cut_scores(cuts, candidates.dtypes) * candidates.sign[:, np.newaxis]
    ranking = candidates.rankings(measures)
    sets = ranking.accepted(scores[measures])
    if ranking.whole is not None and ranking.whole.accepted is not None:
        sets = stats.Accepted(
            *(np.broadcast_to(x, sets.size.shape) for x in ranking.whole.accepted)
        )
    columns = _shares_of_sets(ranking, sets, kind, candidates.clusters)
    columns["threshold"] = np.broadcast_to(cuts[measures], sets.size.shape)
    columns["exists"] = ~np.isnan(columns["threshold"])
    along = {"cut": np.arange(cuts.shape[1])}
    return doors.rows_of(columns, candidates, "measure", measures, along)


def _shares_of_sets(
    ranking: Ranking, sets: stats.Accepted, kind: IntervalKind, clusters: IntArray | None
) -> Columns:
    """Return counts, proportions and confidence limits of acceptance sets."""
    every = np.ones(sets.size.shape, dtype=bool)
    total, positive = (np.broadcast_to(x[..., np.newaxis], every.shape) for x in ranking.size)
    tp, others = sets.tp, total - positive
    fp = sets.size - tp
    tn, either = others - fp, positive + fp
    columns: Columns = {
        "n_accepted": sets.size,
        "tp": tp,
        "fn": positive - tp,
        "tn": tn,
        **rates_of(tp, sets.size, ranking.size, ranking.size),
    }
    weights: Columns = dict.fromkeys(("ci", "recall", "spec", "npv", "f1"), np.ones(every.shape))
    if clusters is not None:
        weights = _weights_of_sets(ranking, sets.size, clusters, kind.level)
    for name, right, of, defined in (
        ("ci", tp, sets.size, every),
        ("recall", tp, positive, positive > 0),
        ("spec", tn, others, others > 0),
        ("npv", tn, total - sets.size, every),
        ("f1", tp, either, either > 0),
    ):
        with stats.silent_division():
            columns[name] = np.true_divide(right, of)
        limits = kind.columns(right * weights[name], of * weights[name], defined)
        columns[f"{name}_low"], columns[f"{name}_high"] = limits["ci_low"], limits["ci_high"]
    columns["specificity"] = columns.pop("spec")
    for end in ("", "_low", "_high"):
        share = columns[f"f1{end}"]
        columns[f"f1{end}"] = 2.0 * share / (1.0 + share)
    columns["youden"] = columns["recall"] + columns["specificity"] - 1.0
    a, n_a, b, n_b = (x / kind.phi for x in (tp, positive, fp, others))
    low, high = stats.corrected_score(a, n_a, b, n_b, kind.level)
    if clusters is not None:  # recall and specificity of one group are not independent
        low, high = _youden_limits(ranking, sets.size, clusters, kind.level)
    columns["youden_low"], columns["youden_high"] = low, high
    return columns


def _youden_limits(
    ranking: Ranking, sizes: IntArray, clusters: IntArray, level: float
) -> stats.Limits:
    """Return limits for J = 2 A - 1; A is the area under the ROC curve of the score "accepted"."""
    limits = np.full((2, *sizes.shape), np.nan)
    for cut in range(sizes.shape[-1]):
        accepted = np.where(ranking.ranks <= sizes[..., [cut]], 1.0, 0.0)
        found = areas.placements(Ranking.of(accepted, ranking.gold, ranking.eligible))
        given = found.influence, found.gold, found.present
        spread = areas.cluster_spread(*given, clusters, alone=True)._replace(untied=found.untied)
        limits[..., cut] = areas.newcombe_limits(found.value, spread, level)
    low, high = 2.0 * limits - 1.0
    return low, high


def _weights_of_sets(
    ranking: Ranking, sizes: IntArray, clusters: IntArray, level: float
) -> Columns:
    """Return a candidate's weight in each rate, a ratio of sums over clusters, for its interval."""
    names = ("ci", "recall", "spec", "npv", "f1")
    weights: Columns = {name: np.ones(sizes.shape) for name in names}
    for row in np.ndindex(sizes.shape[:-1]):
        members = ListMembers.of(ranking, row, clusters)
        members.warn_of_few()
        gold = members.gold
        for cut, size in enumerate(sizes[row]):
            accepted = members.rank <= size
            rates = (
                (gold, accepted),
                (accepted, gold),
                (~accepted, ~gold),
                (~gold, ~accepted),
                (accepted & gold, accepted | gold),
            )
            for name, (right, of) in zip(names, rates, strict=True):
                if of.any():  # the candidates of the denominator are the list
                    rank = np.argsort(np.argsort(~of, kind="stable"), kind="stable") + 1
                    listed, n = members._replace(gold=right, rank=rank), np.array([of.sum()])
                    found = list_weights(listed, n, row, target="region", levels=[level])
                    weights[name][*row, cut] = found[0][0]
    return weights


# ---- Comparison of two acceptance sets

_UNEQUAL = 0.1  # the largest relative size difference for comparing two sets by precision
_PAIRED = ("recall", "specificity")  # quantities with the same denominator in both sets
_OF_REJECTED = ("npv", "specificity")  # quantities of the rejected candidates
_TESTS = {  # the tests of each quantity, the default first
    "precision": ("kosinski", "fisher"),
    "npv": ("kosinski",),
    "f1": ("proportions",),
    **dict.fromkeys(_PAIRED, ("unconditional",)),
}
_LAWS = {  # the interval of each test, and its name
    "kosinski": (OF_SETS, "score"),
    "fisher": (OF_ONLY, "score"),
    "unconditional": (OF_PAIRED, "tango"),
    "proportions": (OF_F1, "proportions"),
    "cluster": (OF_CLUSTERS, "cluster"),
}


@Capabilities(
    rankings="Is A better than B?",
    ends=True,
    clusters=True,
    short="measure_a measure_b n_a n_b difference ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior better",
    details="threshold_a threshold_b precision_a precision_b recall_a recall_b specificity_a"
    " specificity_b npv_a npv_b f1_a f1_b overlap n_only_a n_only_b tp_only_a tp_only_b odds_ratio"
    " significant leaning"
    " ci_low_alone ci_high_alone",
    layout="pair cut",
    quantity="precision",
)
@with_roles_but("key", "label", "ties", "rng")
def compare_thresholds(
    data: Data,
    a: Hashable = None,
    b: Names = None,
    thresholds: float | Sequence[float] | Mapping[Hashable, Any] | None = None,
    *,
    of: ComparedRate = "precision",
    test: SetTest | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    adjust: Adjustment | None = None,
    adjust_over: ListsAdjustOver = "all",
    margin: float | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the candidates that the thresholds of two measures accept.

    Parameters
    ----------
    data
    a, b : names of measures, optional
        As in :func:`compare`.
    thresholds : float, sequence of float or mapping
        The lowest accepted scores (the highest for measures in ``lower_is_better``): a number or a
        list for all measures, or a mapping from each measure to a number or a list. Lists are
        compared in pairs.
    of
        Quantity to compare in the accepted candidates, or for "specificity" and "npv" in the
        rejected ones.
    test
        None means "kosinski" for "precision" and "npv", a weighted generalized score test of the
        printed difference, and "unconditional" for "recall" and "specificity", as for systems on
        right-or-wrong items. For "f1", "proportions" is the law of :func:`paired_bootstrap` for
        ratios; p-values are NaN for fewer than 5 accepted or positive candidates. "fisher" tests
        another hypothesis: candidates that only ``a`` accepts
        are as precise as those that only ``b`` accepts. ``difference`` and its interval are then
        of these two regions. Pass it for sets of about equal size.
    alternative
    alpha
    adjust
    adjust_over
        Rows that form a family: all rows, the rows for each place in the lists of thresholds, or
        the rows for each group in ``by``.
    margin : float, optional
        Smallest difference that matters. Adds ``p_equivalence`` or, for one-sided alternatives,
        ``p_noninferior``, the smallest level at which the interval stays within the margin.
    level
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair of measures and thresholds (Dataset: dimensions pair and cut):
        ``measure_a``, ``measure_b``; ``n_a``, ``n_b``: accepted candidates; ``difference``,
        ``ci_low``, ``ci_high``, ``p_value``, ``p_adjusted`` and ``better`` as in :func:`compare`.
        ``details=True`` adds the two thresholds, the two rates such as ``precision_a``, the counts
        of the regions, ``odds_ratio``, ``significant``, ``recall_a``, ``recall_b``, ``leaning``,
        and the unadjusted interval. With ``groups``, it adds ``n_groups``: groups with candidates
        in only one of the sets.

    Warns
    -----
    RankevalWarning
        If Fisher's test rejects for acceptance sets that differ in size by more than 10%, in which
        case "better" and "leaning" are NaN (Evert's footnote 13).

    Notes
    -----
    Kosinski's test is too liberal for sets that differ in few candidates, or of very different
    sizes. Half a true and half a false positive are therefore added to each region, and the gamma
    approximation allows for skewness; the larger p-value, with or without, is reported. The
    interval contains the differences that this test does not reject. For recall and specificity,
    the interval is Tango's. With ``groups``, every rate is a ratio of sums over independent groups,
    with the t test and interval of :func:`compare` for clusters.

    References
    ----------
    * Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.3, footnote 13.
    * Kosinski (2013), Statistics in Medicine 32, https://doi.org/10.1002/sim.5587.
    * Tango (1998), Statistics in Medicine 17,
      https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C891::AID-SIM780%3E3.0.CO;2-B.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [6, 5, 4, 3, 2, 1], "t": [1, 2, 3, 4, 5, 6]})
    >>> df["gold"] = [True, True, True, False, False, False]
    >>> df.rankeval.compare_thresholds("G2", "t", 4)
      measure_a measure_b  n_a  n_b  difference    ci_low  ci_high   p_value better
    0        G2         t    3    3         1.0  0.058224      1.0  0.033895     G2
    """
    errors.check_choice(f"of={of!r}: test", test, (None, *_TESTS[of]))
    errors.refuse_combinations({"groups": Roles.of(roles).groups, "test": test}, [OTHER_TEST])
    used: str = test or _TESTS[of][0]
    if Roles.of(roles).groups is not None:
        used = "cluster"
    if margin is not None:  # Fisher's test is of other regions than the sets
        margin = errors.check_margin(margin, **{"test='fisher'": test == "fisher"})
    how = Comparison.of_options(
        a=a,
        b=b,
        of=of,
        test=used,
        ci=_LAWS[used][1],
        alternative=alternative,
        alpha=alpha,
        adjust=adjust,
        adjust_over=adjust_over,
        level=level,
        margin=margin,
    )
    paired = doors.only_pair(data, a, b, roles)
    if b is not None and isinstance(thresholds, Mapping):  # a mapping for all pairs
        meant: list[Hashable] = [*doors.others_of(b), a]
        errors.check_known("thresholds", thresholds, [*data.columns, *meant])
        thresholds = {
            name: cuts for name, cuts in thresholds.items() if errors.is_known(name, meant)
        }
    noted = how.noted()
    del noted["target"]
    if how.test == "fisher":
        noted |= {"of": "precision in the difference region", "unit": "proportion"}
    decided = decision_columns(how)
    columns = ["measure_a", "measure_b", "threshold_a", "threshold_b", "n_a", "n_b"]
    columns += [name.replace("precision", of) for name in REGION_COLUMNS if name != "p_mid"]
    columns += decided[0]
    if of != "recall":
        columns += ("recall_a", "recall_b")
    if used == "cluster":
        columns += ("n_groups",)
    columns += decided[1]
    return tabulate(
        data,
        paired,
        partial(_rows_of_sets, thresholds=thresholds, how=how),
        columns,
        can(compare_thresholds),
        finish=partial(decide, how=how, interval=_LAWS[how.test][0], towards="towards"),
        attrs=noted,
    )


def _rows_of_sets(
    candidates: Candidates,
    n: IntArray | None,
    *,
    thresholds: Any,
    how: Comparison,
) -> Answer:
    """Return one row per pair and pair of thresholds, and the facts about the family."""
    pairs = doors.pair_names(candidates.measures, how.a, how.b)
    cuts = _paired_cuts(candidates, pairs, thresholds)
    places = np.arange(cuts.shape[-1])
    facts = how.family(candidates, pairs, places)[1]
    columns = _set_columns(candidates, candidates.sides(pairs).T, cuts, how)
    rows = doors.rows_of(columns, candidates, PAIR, range(len(pairs)), {"cut": places})
    return doors.with_pairs(rows, candidates, pairs, how.alternative), facts


def _paired_cuts(candidates: Candidates, pairs: list[doors.Pair], thresholds: Any) -> FloatArray:
    """Return the thresholds for the two measures: (side, pair, cut), padded with NaN."""
    if not isinstance(thresholds, Mapping):
        thresholds = dict.fromkeys(candidates.measures, thresholds)
    cuts = doors.asked_thresholds(thresholds, candidates.measures, unique=False)
    cuts = doors.cut_scores(cuts, candidates.dtypes)
    paired = np.full((2, len(pairs), cuts.shape[1]), np.nan)
    for number, (pair, sides) in enumerate(zip(pairs, candidates.sides(pairs), strict=True)):
        rows = [row[~np.isnan(row)] for row in cuts[sides]]
        longest = max(row.size for row in rows)
        for side, (name, row) in enumerate(zip(pair, rows, strict=True)):
            if row.size not in (1, longest) or not row.size:
                raise ValueError(
                    f"thresholds: {name!r} has {row.size}, but {longest} are compared in pairs."
                    f" Pass as many for {name!r}, or one."
                )
            paired[side, number, :longest] = row
    return paired


def _set_columns(
    candidates: Candidates, sides: IntArray, cuts: FloatArray, how: Comparison
) -> Columns:
    """Return the columns (group, pair, cut) for two sets, in the candidates with both scores."""
    of, gold = how.of, candidates.gold[:, np.newaxis]
    a, b = sides
    both = candidates.present[:, a] & candidates.present[:, b]
    cut_a, cut_b = cuts * candidates.sign[sides][..., np.newaxis]
    r = stats.accepted_regions(
        candidates.score[:, a], candidates.score[:, b], gold, both, cut_a, cut_b
    )
    exists = np.broadcast_to(~np.isnan(cut_a) & ~np.isnan(cut_b), r.n_a.shape)
    total, positive = (x.sum(axis=-1)[..., np.newaxis] for x in (both, gold & both))
    sets, of_all = r, positive
    if of in _OF_REJECTED:  # compare the rejected sets, and the negatives in these sets
        fp_a, fp_b, of_all = r.n_a - r.tp_a, r.n_b - r.tp_b, total - positive
        sets = stats.AcceptedRegions(
            total - r.n_a,
            total - r.n_b,
            total - r.n_a - r.n_b + r.overlap,
            of_all - fp_a,
            of_all - fp_b,
            of_all - fp_a - fp_b + r.overlap - r.tp_overlap,
        )
    below = sets.n_a, sets.n_b
    if of in _PAIRED:  # both denominators are N+ for recall and N - N+ for specificity
        sets = sets._replace(n_a=sets.tp_a, n_b=sets.tp_b, overlap=sets.tp_overlap)
        below = of_all, of_all
    only_a, only_b = sets.n_a - sets.overlap, sets.n_b - sets.overlap
    tp_only_a, tp_only_b = sets.tp_a - sets.tp_overlap, sets.tp_b - sets.tp_overlap
    table = tp_only_a, only_a, tp_only_b, only_b
    odds_ratio = stats.sample_odds_ratio(*table)
    with stats.silent_division():
        recall = r.tp_a / positive, r.tp_b / positive
        share_a, share_b = sets.tp_a / below[0], sets.tp_b / below[1]
        if of == "f1":
            share_a, share_b = 2 * r.tp_a / (r.n_a + positive), 2 * r.tp_b / (r.n_b + positive)
        difference = share_a - share_b
        if of in _PAIRED:
            odds_ratio = np.true_divide(tp_only_a, tp_only_b)
        if how.test == "fisher":
            difference = tp_only_a / only_a - tp_only_b / only_b
    towards, clustered = np.sign(difference), {}
    if how.test == "cluster":
        of_pair = partial(_spreads_of_pair, candidates, sides, np.stack([cut_a, cut_b]), of)
        names = ("error", "freedom", "moved")
        clustered = in_rows(exists, names, of_pair, ("n_groups",))
        error, freedom = clustered["error"], clustered["freedom"]
        p_value = p_of_gap(difference, error, freedom, how.alternative)
        clustered["reach"] = np.ones(exists.shape)
    elif how.test == "fisher":
        p_value = stats.fisher_test(*table, how.alternative).p_value
        towards = _unless_unequal(towards, r.n_a, r.n_b, exists & (p_value <= how.alpha))
    elif how.test == "kosinski":
        counts = (sets.tp_overlap, tp_only_a, tp_only_b), (sets.overlap, only_a, only_b)
        p_value = stats.one_or_two_sided(*stats.set_tails(*counts), how.alternative)
    elif of == "f1":
        regions = sets.tp_overlap, tp_only_a, tp_only_b, sets.overlap, only_a, only_b, of_all
        p_value = stats.one_or_two_sided(*stats.f1_law(*regions), how.alternative)
        if (np.isnan(p_value) & exists & (difference != 0.0)).any():
            errors.warn(
                "of='f1': with fewer than five accepted candidates or positives, there is no test."
                " Compare the precision instead."
            )
    else:
        greater = stats.paired_tails(tp_only_a, tp_only_b, of_all)
        less = stats.paired_tails(tp_only_b, tp_only_a, of_all)
        p_value = stats.one_or_two_sided(greater, less, how.alternative)
    return {
        "recall_a": recall[0],
        "recall_b": recall[1],
        "threshold_a": np.broadcast_to(cuts[0], exists.shape),
        "threshold_b": np.broadcast_to(cuts[1], exists.shape),
        "n_a": r.n_a,
        "n_b": r.n_b,
        f"{of}_a": share_a,
        f"{of}_b": share_b,
        "difference": difference,
        "overlap": sets.overlap,
        "n_only_a": only_a,
        "n_only_b": only_b,
        "tp_only_a": tp_only_a,
        "tp_only_b": tp_only_b,
        "odds_ratio": odds_ratio,
        "p_value": p_value,
        "towards": towards,
        "tp_overlap": sets.tp_overlap,
        "of_all": np.broadcast_to(of_all, exists.shape),
        "exists": exists,
        **clustered,
    }


def _spreads_of_pair(
    candidates: Candidates,
    sides: IntArray,
    cuts: FloatArray,
    of: str,
    row: tuple[int, ...],
    there: stats.BoolArray,
) -> Columns:
    """Return the spread over clusters of the differences for two measures."""
    group, pair = row
    both = candidates.present[group, sides[:, pair]].all(axis=0)
    score = candidates.score[group, sides[:, pair]][:, both]
    gold, cluster = (np.asarray(x)[group, both] for x in (candidates.gold, candidates.cluster))
    cluster = cluster_numbers(cluster)
    spreads = []
    for cut in cuts[:, pair, there].T:
        sums = _sums_of_rate(score >= cut[:, np.newaxis], gold, of)
        spreads.append(stats.ratio_gap_spread(*sums, cluster, paired=of in _PAIRED))
    warn_of_few(spreads[0].clusters)
    return {
        "error": np.sqrt([x.variance for x in spreads]),
        "freedom": np.array([x.freedom for x in spreads]),
        "n_groups": np.array([x.n_groups for x in spreads]),
        "moved": np.full(len(spreads), moved(gold, cluster, None)),
    }


def _sums_of_rate(
    accepted: stats.BoolArray, gold: stats.BoolArray, of: str
) -> tuple[FloatArray, FloatArray]:
    """Return the numerators and denominators of which a rate is the ratio: (side, candidate)."""
    if of in _OF_REJECTED:
        accepted, gold = ~accepted, ~gold
    right, below = (accepted & gold).astype(float), accepted.astype(float)
    if of in _PAIRED:
        below = np.broadcast_to(gold.astype(float), right.shape)
    if of == "f1":
        return 2.0 * right, below + gold
    return right, below


def _unless_unequal(
    towards: FloatArray, n_a: IntArray, n_b: IntArray, sure: stats.BoolArray
) -> FloatArray:
    """Return the better measure, or NaN if the set sizes differ too much."""
    unequal = np.abs(n_a - n_b) > _UNEQUAL * np.maximum(n_a, n_b)
    if (unequal & sure).any():
        first = tuple(np.argwhere(unequal & sure)[0])
        errors.warn(
            f"acceptance sets of {n_a[first]} and {n_b[first]} candidates differ by more than 10%"
            " in size, which favors the smaller set (Evert 2004, footnote 13), so 'better' is NaN."
            " Omit test='fisher', or compare recall or n-best lists."
        )
    return np.where(unequal, np.nan, towards)


# ---- Choose thresholds with a guarantee that accounts for the search

COLUMNS = tuple("measure threshold n_accepted tp precision recall ci_low".split())
# the aim that chooses comes first; a threshold that guarantees one of the last two does so for all
# larger sets (recall), or for all smaller sets (specificity)
_AIMS = ("precision", "npv", "recall", "specificity")
_MOST_REASONS = 5  # largest number of measures that get a warning each


@Capabilities(
    rankings="What to judge, and how?",
    any_ties=True,
    by_groups=True,
    clusters=True,
    layout="measure",
    quantity="threshold",
    interval="clopper-pearson",
)
@with_roles_but("key", "label", "ties", "rng")
def choose_threshold(
    data: Data,
    *,
    precision: float | None = None,
    recall: float | None = None,
    of: Mapping[str, float] | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Choose a threshold with guaranteed rates, or with the largest Youden's J.

    Parameters
    ----------
    data
    precision : float, optional
        Required precision of the accepted candidates. The function returns the lowest threshold
        that guarantees this precision, to accept as many candidates as possible.
    recall : float, optional
        Required recall (sensitivity) of the accepted candidates. The function returns the highest
        threshold that guarantees this recall. By default, the function maximizes J = sensitivity +
        specificity - 1, with a guaranteed lower limit for J in the population.
    of : mapping, optional
        One or two requirements: "precision", "recall", "specificity" (by the lowest threshold) or
        "npv" (by the highest), such as ``{"specificity": 0.9, "npv": 0.95}``. Two requirements
        share the error rate 1 - level; "precision" and "npv" cannot be combined.
    level
        Probability that the guarantees for all measures are correct simultaneously.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``, ``threshold``, the cutoff
        score for acceptance; ``n_accepted``, ``tp``, ``precision`` and ``recall`` in the data;
        ``ci_low``: lower limit for the guaranteed quantity, adjusted for the search; ``youden``: J,
        without requirements. ``specificity`` or ``npv`` are added if required, and with two
        requirements the limit for the second, such as ``recall_low``. If no threshold satisfies the
        guarantee, ``threshold`` is NaN and no candidate is accepted.

    Warns
    -----
    RankevalWarning
        If no threshold satisfies the guarantee. The warning gives the reason.

    Notes
    -----
    Choosing the last threshold whose individual interval exceeds the required precision does not
    account for the number of thresholds tried. Instead, this function tests acceptance sets in a
    fixed sequence, which starts with the smallest set that could pass and ends with the first
    failure. Additional sequences start at twice the size, four times the size, and so on, and the
    error rate 1 - level is divided among the sequences (multi-start fixed-sequence testing). Recall
    never decreases as you accept more candidates, so one sequence is enough, and ci_low is the
    usual one-sided limit. With several measures, 1 - level is divided among the measures because
    you can pick the best measure; if you chose one beforehand, name it in ``measures``. For
    Youden's J, the limit holds for all thresholds simultaneously (Smirnov's two-sample
    distribution). ``tests/simulations/choose_threshold.csv`` compares failure rates with and
    without the guarantee. The cost is O(N log N) per measure.

    References
    ----------
    * Angelopoulos, Bates, Candès, Jordan and Lei (2021), Learn then test,
      https://arxiv.org/abs/2110.01052.
    * Youden (1950), Cancer 3,
      https://doi.org/10.1002/1097-0142(1950)3:1%3C32::AID-CNCR2820030106%3E3.0.CO;2-3.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(2_000)
    >>> df.rankeval.choose_threshold(recall=0.8)
      measure  threshold  n_accepted   tp  precision    recall    ci_low
    0    good   0.255544         924  180   0.194805  0.857143  0.802384
    1    fair  -0.157297        1203  180   0.149626  0.857143  0.802384

    Two requirements share the error rate:

    >>> aims = {"recall": 0.7, "specificity": 0.6}
    >>> table = df.rankeval.choose_threshold(of=aims, measures="good")
    >>> table[["threshold", "recall", "ci_low", "specificity", "specificity_low"]]
       threshold    recall    ci_low  specificity  specificity_low
    0   0.622622  0.766667  0.703527     0.730726         0.600551
    """
    wanted: dict[str, float] = _required({"precision": precision, "recall": recall}, of)
    aims: list[str] = [*wanted]
    ci = "clopper-pearson"
    if not wanted and Roles.of(roles).groups is not None:
        raise ValueError(
            "groups: the lower limit of J assumes independent candidates. Pass precision=, recall="
            " or of= with specificity or npv, which support groups."
        )
    names = [*COLUMNS, *(name for name in _OF_REJECTED if name in wanted)]
    names += [f"{name}_low" for name in aims[1:]]
    if not wanted:
        aims, ci = ["youden"], "smirnov"
        names = [*COLUMNS, "youden"]
    level = errors.check_share("level", level)
    return tabulate(
        data,
        roles,
        partial(_rows_of_choices, wanted=wanted or {"youden": 0.0}, level=level),
        names,
        can(choose_threshold),
        attrs={
            "aim": aims[0],
            "also": "".join(aims[1:]) or None,
            "ci": ci,
            "precision": None,
            "recall": None,
            **wanted,
            "level": level,
        },
    )


def _required(
    shares: Mapping[str, float | None], of: Mapping[str, float] | None
) -> dict[str, float]:
    """Check and return the required shares, in the order of ``_AIMS``."""
    if not isinstance(of, Mapping | None):
        raise TypeError(f"of={errors.shown(of)}: pass a mapping, such as {{'specificity': 0.9}}.")
    pairs = [(name, x) for name, x in shares.items() if x is not None]
    pairs += (of or {}).items()
    for name, _ in pairs:
        errors.check_choice("of", name, _AIMS)
    wanted = {name: errors.check_share(str(name), x) for name, x in pairs}
    if len(pairs) > 2 or len(wanted) < len(pairs) or {*wanted} == {"precision", "npv"}:
        raise ValueError(
            f"{errors.listed([name for name, _ in pairs])} are required: pass one or two different"
            " requirements, and not precision with npv."
        )
    return {name: wanted[name] for name in _AIMS if name in wanted}


def _rows_of_choices(
    candidates: Candidates, n: IntArray | None, *, wanted: Mapping[str, float], level: float
) -> Answer:
    """Return one row per measure, and the fact how many thresholds are guaranteed together."""
    count = len(candidates.measures)
    how = {"wanted": wanted, "level": stats.level_of_each(level, count * len(wanted))}
    family = f"{count} measure{'s' * (count > 1)}"
    return doors.measure_rows(candidates, n, _chosen_thresholds, {}, **how), {"family": family}


def _chosen_thresholds(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    wanted: Mapping[str, float],
    level: float,
) -> Columns:
    """Return the chosen threshold and its set: (group, measure)."""
    shape, clusters = ranking.score.shape[:-1], candidates.clusters
    signs = np.broadcast_to(candidates.sign, shape)
    counts = {name: np.zeros(shape, dtype=np.int64) for name in ("n_accepted", "tp")}
    rates = (*COLUMNS[1:], "youden", *_OF_REJECTED, "recall_low", "specificity_low")
    columns: Columns = {name: np.full(shape, np.nan) for name in rates} | counts
    reasons: dict[Hashable, list[str]] = {}
    for row in np.ndindex(shape):
        members = None
        if clusters is not None:
            members = ListMembers.of(ranking, row, clusters)
        sets = ranks.sets_of(ranking.row(row))
        each = {aim: _promise(sets, members, aim, x, level) for aim, x in wanted.items()}
        found, cuts = [*each.values()], sets.threshold * signs[row] + 0.0
        chosen, why = _place_of_all(each, sets.n, cuts)
        if chosen is None:
            reasons.setdefault(candidates.measures[row[-1]], []).append(why)
            continue
        tp, accepted = int(sets.tp[chosen]), int(sets.n[chosen])
        rejected = sets.positive + sets.others - accepted
        right = sets.others - accepted + tp
        recall, specificity = tp / max(sets.positive, 1), right / max(sets.others, 1)
        values = {
            "threshold": float(cuts[chosen]),
            "n_accepted": accepted,
            "tp": tp,
            "precision": tp / accepted,
            "recall": recall,
            "specificity": specificity,
            "npv": right / max(rejected, 1),
            "ci_low": found[0].lows[chosen] if len(found) > 1 else found[0].low,
            "youden": recall + specificity - 1.0,
        }
        values |= {f"{aim}_low": x.low for aim, x in zip([*wanted][1:], found[1:], strict=True)}
        for name, value in values.items():
            columns[name][row] = value
    aimed = " and ".join(f"{aim} ≥ {x:g}" for aim, x in wanted.items())
    if "youden" in wanted:
        aimed = "a J above 0"
    for measure, found_why in [*reasons.items()][:_MOST_REASONS]:
        count = len(found_why)
        where = f" in {count} groups (with the reason for the first)" * (count > 1)
        told = f"{errors.shown(measure)} guarantees {aimed}{where}"
        errors.warn(f"no threshold for {told}: {found_why[0]}.")
    if (left := len(reasons) - _MOST_REASONS) > 0:
        errors.warn(
            f"no threshold for {left} other measures guarantees {aimed}. Name them in measures to"
            " see the reasons."
        )
    return columns


def _promise(
    sets: stats.Sets, members: ListMembers | None, aim: str, wanted: float, level: float
) -> ranks.Promise:
    """Return the set that an aim chooses, as its place among the accepted sets."""
    turned = aim in _OF_REJECTED
    if turned:  # the rejected candidates are a list, whose negatives are right
        sets = sets.rejected()
        members = members and members.turned()
    if members is not None and sets.n.size:
        sets = set_weights(members, sets, of_recall=aim in ("recall", "specificity"))
    promise = _PROMISES[aim](sets, wanted, level)
    if not turned:
        return promise
    if promise.chosen is None:
        why = promise.why.replace("true positive", "negative").replace("a lower recall", "less")
        return promise._replace(why=why.replace("a lower precision", "less"))
    last = sets.n.size - 1
    chosen, end = last - promise.chosen, last - promise.end
    return promise._replace(chosen=chosen, end=end, lows=promise.lows[::-1])


def _place_of_all(
    found: Mapping[str, ranks.Promise], sizes: IntArray, cuts: FloatArray
) -> tuple[int | None, str]:
    """Return the set nearest to the first aim's choice that satisfies all, or else the reason."""
    ends = {}
    for aim, promise in found.items():
        if promise.chosen is None:
            return None, f"for {aim}, " * (len(found) > 1) + promise.why
        ends[aim] = sorted((promise.chosen, promise.end))
    larger = max(ends, key=lambda aim: ends[aim][0])
    smaller = min(ends, key=lambda aim: ends[aim][1])
    least, most = ends[larger][0], ends[smaller][1]
    if least > most:
        return None, (
            f"{larger} needs {sizes[least]:,} accepted candidates (threshold {cuts[least]:.4g}) and"
            f" {smaller} at most {sizes[most]:,} (threshold {cuts[most]:.4g}, where {larger} ≥"
            f" {found[larger].lows[most]:.3g}). Request less"
        )
    return int(np.clip(next(iter(found.values())).chosen or 0, least, most)), ""


_PROMISES = {
    "precision": ranks.guaranteed_precision,
    "npv": ranks.guaranteed_precision,
    "recall": ranks.guaranteed_recall,
    "specificity": ranks.guaranteed_recall,
    "youden": ranks.guaranteed_youden,
}
