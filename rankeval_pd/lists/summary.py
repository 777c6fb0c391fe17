"""Summarize values, ranks, differences and chance tests in one table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any, Literal, Unpack

import pandas as pd

from rankeval_pd.doors import Data, above_door, below_door, check_data, is_share, item_roles
from rankeval_pd.errors import check_known, check_share, listed, shown, warn
from rankeval_pd.lists.comparison import with_verdicts
from rankeval_pd.lists.measure_ranks import VERDICT, rank_options, ranked
from rankeval_pd.options import Capabilities, with_roles
from rankeval_pd.queries.per_query import GAINS, OverMetrics, Undefined, query_summary
from rankeval_pd.roles import (
    AnyRoles,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    MeanTest,
    Roles,
    find_gold,
    form_of,
    frame_column,
    measures_of,
)
from rankeval_pd.systems.tests import adjustment_of, mean_test, system_ranks
from rankeval_pd.tables import Keywords, Options


@Capabilities(
    rankings="Which measure is best?",
    items="Who is best?",
    heads=True,
    clusters=True,
    short={
        "": "measure system metric n value ci_low ci_high rank_low rank_high letters",
        "baseline": "measure system metric n value difference difference_low difference_high"
        " p_adjusted",
    },
    details="difference difference_low difference_high difference_low_alone"
    " difference_high_alone p_value p_adjusted tied_for_best better_than_chance wins"
    " ties losses tied ci_low_alone ci_high_alone n_tied value_low value_high"
    " judged n_lacking n_undefined depth",
    layout={"": "measure n", "items": "row", "queries": "metric measure"},
)
@with_roles
def summary(
    data: Data,
    n: ListSizes | str | Iterable[str] = None,
    *,
    baseline: Hashable = None,
    test: MeanTest = "bootstrap",
    adjust: FamilyAdjustment | Literal["auto"] | None = "auto",
    adjust_over: EachAdjustOver | OverMetrics = "n",
    undefined: Undefined = "zero",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    level: float = 0.95,
    **roles: Unpack[AnyRoles],
) -> Data:
    """Return values, ranks, differences and tests against chance in one table.

    Parameters
    ----------
    data
        Candidates with a score for each measure and a gold label, or systems scored on test items.
    n : int, sequence of int or range, or names of metrics, optional
        For candidates, the list sizes at which precision is compared. None compares the average
        precision of whole rankings. For queries, pass metrics as in :func:`per_query`, for example
        ``summary(["nDCG@10", "AP"])``. Data from :func:`read_trec` need no roles.
    baseline : name, optional
        Measure or system to compare with. By default each row is compared with the best measure or
        system. For queries, no comparison is made by default.
    test
        Test for systems and queries, as in :func:`system_ranks`. "t" is the paired t test.
    adjust
        Adjustment for the tests of all pairs, or for the comparisons with ``baseline``. "auto"
        means "max-t", or "holm" with ``test="t"``. The ranks always come from tests of all pairs.
    adjust_over : {"n", "group"}, for queries {"metrics", "all"}
        For candidates, whether each n is a separate family or all n form one family. Each group in
        ``by`` is a separate family for candidates. For systems, all groups form one family.
    undefined
        Value to use for an undefined query metric. See :func:`per_query`.
    alpha : float
        Significance level of the tests for ``tied_for_best`` with queries.
    n_resamples
    level : float
        Simultaneous confidence level for all values, and for all ranks and differences.
    **roles
        Column roles. See the page "Roles of the columns".

    Returns
    -------
    DataFrame or Dataset
        One row per measure or system (and n), best first: ``measure`` or ``system``, and ``n``;
        ``value`` (precision, average precision, or the score from the metric) with ``ci_low``,
        ``ci_high``, simultaneous for all rows in a family; ``rank_low``: one plus the number of
        significantly better rows; ``rank_high``: the number of rows minus the number of
        significantly worse rows; ``letters``: two rows share a letter if and only if they do not
        differ significantly. With ``baseline``, ``difference`` with ``difference_low`` and
        ``difference_high``, and ``p_adjusted``, take the place of ranks and letters.

        ``details=True`` adds ``tied_for_best``: whether no other row is significantly better;
        ``better_than_chance``: for candidates, whether the ranking is significantly better than a
        random order, with Bonferroni's correction for measures and n; ``tied``: excluded candidates
        tied with the last candidate of a list; and unadjusted p-values and intervals.

        For queries, the result has one row per measure and metric (Dataset: dimensions metric and
        measure), in the requested order. ``value`` is the mean over queries, and ``wins``, ``ties``
        and ``losses`` are numbers of queries with a value above, equal to or below the baseline.
        ``details=True`` adds the mean for the best and worst order of equal scores, the proportion
        of judged documents (``judged``), and how many lists are empty, tied or without a value.
        For a Dataset of candidates, the result has the batch dimensions, with measures in the
        original order. For a Dataset of items, the result has a row dimension.

    Warns
    -----
    RankevalWarning
        If lists contain significantly fewer true positives than random lists (you may need
        ``lower_is_better``), or if n is None and a class has fewer than 10 candidates.

    Notes
    -----
    Intervals for differences exclude 0 only if p_adjusted is significant. Without ``baseline``, the
    best measure is selected from the data, so the family contains all pairs. For stars at 0.001,
    pass at least 999 times the number of pairs as ``n_resamples``.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.summary(100)
      measure    n  value    ci_low   ci_high  rank_low  rank_high letters
    0    good  100   0.49  0.360304  0.620673         1          1       a
    1    fair  100   0.32  0.217449  0.436831         2          2       b
    """
    check_data(data)
    check_share("alpha", alpha)
    auto = adjust == "auto"
    options: Options = {
        "adjust": adjustment_of(test, adjust, roles.get("groups")),
        "n_resamples": n_resamples,
        "level": level,
        **roles,
    }
    if _are_metrics(n):
        metrics: Any = n
        over: Any = adjust_over
        if over == "n":
            over = "metrics"
        own = {"adjust_over": over, "undefined": undefined, "alpha": alpha}
        return query_summary(data, metrics, baseline=baseline, test=test, **own, **options)
    if form_of(data, roles) == "items":
        if n is not None:
            item_roles(roles)
            raise ValueError(
                f"n={shown(n)}: systems scored on test items have no n-best lists. Omit n, or pass"
                " the gold label if the rows are candidates: gold=..."
            )
        return _of_items(data, baseline, test, options)
    if n is None and roles.get("gold") is None and isinstance(data, pd.DataFrame):
        _warn_of_only_flag(data, roles)
    if test == "t":
        raise ValueError(
            "test='t' applies only to systems scored on items and to query metrics, as in"
            " summary(['nDCG@10'], test='t'). For n-best lists, omit test to use exact tests."
        )

    kind = None
    if n is None:
        kind = "ap"
    if auto and Roles.configured(roles).ties == "expected":  # swaps need lists of whole candidates
        options["adjust"] = "holm"
    how = rank_options(n, kind, options["adjust"], n_resamples, level, baseline, over=adjust_over)
    summarize = partial(ranked, data, how, VERDICT)
    result = with_verdicts(summarize(roles), data, roles, summarize)
    _warn_of_many_groups(result)
    return result


def _warn_of_only_flag(data: pd.DataFrame, roles: Keywords) -> None:
    """Warn if the only boolean column, taken as the gold label, may be a system."""
    gold, measures = find_gold(data, Roles.of(roles)), measures_of(data, roles)
    if gold != "gold" and all(is_share(frame_column(data, x, "measures")) for x in measures):
        warn(
            f"{gold!r}, the only boolean column, is taken as the gold label of rankings. Pass"
            f" gold={gold!r}; if it is a system scored on test items, convert it to 0 and 1."
        )


_MANY = 100  # few users want separate results for so many groups


def _warn_of_many_groups(result: Any) -> None:
    """Warn about many groups if users probably want one overall result."""
    groups = list(result.columns[: list(result.columns).index("measure")])
    if not groups:
        return
    many = int((~result.duplicated(groups)).sum())
    if many > _MANY:
        warn(
            f"by={listed(groups)}: the table has a separate verdict for each of {many:,} groups,"
            " not adjusted for the number of groups. For one verdict, call compare(...,"
            " average='macro') or, for queries, summary(['P@10'])."
        )


def _are_metrics(n: object) -> bool:
    """Return whether n contains metric names instead of list sizes."""
    return isinstance(n, str) or (isinstance(n, Iterable) and any(isinstance(x, str) for x in n))


def _of_items(data: Data, baseline: Hashable, test: MeanTest, options: Options) -> Data:
    level = options["level"]
    options["alpha"] = round(1.0 - level, 12)
    scores = below_door(system_ranks(data, test=test, **options))
    if "rank" not in scores and baseline is None:
        return above_door(scores, data)
    pairs = mean_test(test)(data, baseline=baseline, **options)
    groups: list[Any] = list(scores.columns[: list(scores.columns).index("system")])
    parts: list[Any] = [((), scores)]
    if groups:
        parts = list(scores.groupby(groups, sort=False, observed=True))
    listed = []
    for keys, part in parts:
        of_group = pairs
        for name, key in zip(groups, keys, strict=True):
            of_group = of_group[of_group[name] == key]
        listed.append(_with_differences(part, of_group, baseline))
    table = pd.concat(listed, ignore_index=True)
    columns = [*groups, "system", *(name for name in VERDICT if name != "better_than_chance")]
    if baseline is None:
        columns.append("letters")
    columns += "p_value difference_low_alone difference_high_alone ci_low_alone".split()
    columns.append("ci_high_alone")
    attrs: Options = {str(k): v for k, v in pairs.attrs.items()}
    attrs |= {"level": level, "adjust": options["adjust"]}
    attrs |= {name: scores.attrs[name] for name in ("interval", "intervals")}
    result = table[[name for name in columns if name in table]]
    result.attrs.update(attrs)
    return above_door(result, data)


def _with_differences(
    scores: pd.DataFrame, pairs: pd.DataFrame, baseline: Hashable
) -> pd.DataFrame:
    """Return the systems, best first, with gains over a baseline."""
    scores = scores.sort_values("rank", kind="stable")
    names = scores["system"].tolist()
    if baseline is not None:
        check_known("baseline", [baseline], names)
    reference = baseline
    if reference is None:
        reference = names[0]
    forth = pairs[pairs["system_b"] == reference]
    back = pairs[pairs["system_a"] == reference]
    turned = back.assign(
        system_a=back["system_b"],
        gain=-back["gain"],
        ci_low=-back["ci_high"],
        ci_high=-back["ci_low"],
    )
    if "ci_low_alone" in back:
        turned["ci_low_alone"] = -back["ci_high_alone"]
        turned["ci_high_alone"] = -back["ci_low_alone"]
    pair = pd.concat([forth, turned]).set_index("system_a").reindex(names)
    itself = [name == reference for name in names]
    for column, own in GAINS.items():
        if own in pair:
            scores[column] = pair[own].to_numpy()
            if own.startswith(("gain", "ci_")):
                scores.loc[itself, column] = 0.0
    return scores
