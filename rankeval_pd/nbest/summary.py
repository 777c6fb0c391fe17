"""All results for a verdict in one table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, Unpack, cast, get_args

import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, listed, unknown_name, warn
from rankeval_pd.forms.items.item_roles import item_roles
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data, check_data
from rankeval_pd.forms.roles.columns import form_of
from rankeval_pd.forms.roles.copies import likely_gold
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.roles import (
    AnyRoles,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    MeanTest,
)
from rankeval_pd.nbest.annotator_verdicts import with_verdicts
from rankeval_pd.nbest.measure_verdicts import best_first, ranked
from rankeval_pd.nbest.rank_criteria import VERDICT, RankCriterion
from rankeval_pd.queries.per_query import Undefined
from rankeval_pd.queries.run_summary import OverMetrics, query_summary
from rankeval_pd.systems.paired_tests import mean_test
from rankeval_pd.systems.system_ranks import adjustment_of, system_ranks

_ALONE = ("difference_low_alone", "difference_high_alone")
_OF_PAIRS = {
    "difference": "gain", "difference_low": "ci_low", "difference_high": "ci_high",
    "p_adjusted": "p_adjusted", "p_value": "p_value", _ALONE[0]: "ci_low_alone",
    _ALONE[1]: "ci_high_alone",
}  # fmt: skip


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
    progress: bool | None = None,
    **roles: Unpack[AnyRoles],
) -> Data:
    """Return values, ranks, differences and tests against chance in one table.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or systems over test items.
    n : int, sequence of int or range, or names of metrics, optional
        For candidates: sizes of the lists whose precision is the value; None means the average
        precision of the whole ranking. For queries: metrics as in :func:`per_query`,
        ``summary(["nDCG@10", "AP"])``; data from :func:`read_trec` need no roles.
    baseline : name, optional
        Measure or system that the others are compared with. None means the best one, or for queries
        no differences.
    test : {"bootstrap", "t"}
        For systems and queries: "t" is the paired t test, as in :func:`system_ranks`.
    adjust : {"auto", "max-t", "max-t-stepdown", "holm", "bonferroni", "bh", "by", None}
        Adjustment of the tests of all pairs, as in :func:`measure_ranks`; with ``baseline``, of the
        comparisons shown. "auto" is "max-t", or "holm" with ``test="t"``. The ranks follow from the
        tests of all pairs.
    adjust_over : {"n", "group"}, for queries {"metrics", "all"}
        For candidates: whether the tests at each n are one family, or the tests at all n together.
        Each group of ``by`` is a family of its own; for systems, all groups are one family.
    undefined : {"zero", "skip", "raise"}
        For queries: value of an undefined metric, see :func:`per_query`.
    alpha : float
        For queries: level of the tests behind ``tied_for_best``.
    n_resamples : int, optional
        Number of swaps, or of draws from the joint distribution (for systems and queries: of
        signs), behind p_adjusted. By default as many as :func:`measure_ranks` or
        :func:`system_ranks` take: enough to decide at 5%, and more for pairs near the level. The
        smallest p_adjusted of n-best lists, pairs / (n_resamples + 1), may then be 0.005; for
        smaller ones (stars at 0.001) pass 999 times the number of pairs or more.
    level : float
        Confidence level of the intervals of all values together, and of all ranks and differences
        together.
    progress : bool, optional
        Whether to show a progress bar. By default one appears after two seconds.
    **roles
        Column roles, see the page "Roles of the columns".

    Returns
    -------
    DataFrame or Dataset
        One row per measure or system (and n), the best first:

        * ``measure`` or ``system``, and ``n`` if it was given;
        * ``value`` (precision, average precision, or the score of the metric) with ``ci_low``,
          ``ci_high``, simultaneous for all rows of a family; ``ci_low_alone``, ``ci_high_alone``,
          the unadjusted interval; ``rank_low``, ``rank_high`` as in :func:`measure_ranks`;
        * ``difference`` to the best or to the baseline (for systems the gain), with its interval
          ``difference_low``, ``difference_high``, adjusted for the family; with ``adjust`` its
          ``p_adjusted``, NaN for a difference to itself;
        * ``tied_for_best``: no other row is significantly better;
        * ``better_than_chance``, for candidates only: better than a random order, with Bonferroni's
          correction for measures and n; by hypergeometric tests of lists, or the one-sided test of
          :func:`area` for the whole ranking;
        * ``tied``, for n-best lists: excluded candidates with the last score;
        * ``letters``, without ``baseline``: two measures share a letter if and only if the tests do
          not distinguish them; the unadjusted ``p_value``, ``difference_low_alone``,
          ``difference_high_alone``; ``undecided``, see :func:`measure_ranks`.

        A Dataset of candidates keeps its dimensions and the order of the measures; a Dataset of
        items becomes rows.

        For queries, one row per measure and metric (Dataset: dimensions metric and measure):
        ``measure``, ``metric``; ``value``, the mean over queries, with its interval; ranks,
        ``difference`` to the baseline (NaN without one), ``p_adjusted``, adjusted within each
        metric for the comparisons with the baseline only; ``tied_for_best`` as above, from all
        pairs; ``wins``, ``ties``, ``losses``: queries with a value above, equal to, below the
        baseline's. Metrics keep the requested order, runs the order of the columns.

    Warns
    -----
    RankevalWarning
        If lists have significantly fewer true positives than random lists: ``lower_is_better`` may
        be missing. Without n, if a class has fewer than 10 candidates.

    Notes
    -----
    No interval of a difference excludes 0 unless p_adjusted rejects. Without ``baseline`` the
    differences are to the best measure, which was chosen from the data, so the family is all pairs.
    :func:`rankeval_pd.in_words` turns the table into sentences. Cost: as for :func:`measure_ranks`,
    or for :func:`system_ranks` and :func:`paired_bootstrap`.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.summary(100)
      measure    n  value    ci_low   ci_high  rank_low  rank_high letters
    0    good  100   0.49  0.375184  0.605582         1          1       a
    1    fair  100   0.32  0.218978  0.434852         2          2       b
    """
    check_data(data)
    check_choice("test", test, get_args(MeanTest))
    adjust = cast("FamilyAdjustment | None", adjustment_of(test, adjust))
    if _are_metrics(n):
        of_queries: Any = roles
        metrics: Any = n
        over: Any = "metrics" if adjust_over == "n" else adjust_over
        return query_summary(
            data, metrics, baseline=baseline, test=test, adjust=adjust, adjust_over=over,
            undefined=undefined, alpha=alpha, n_resamples=n_resamples, level=level, **of_queries,
        )  # fmt: skip
    if form_of(data, roles) == "items":
        if n is not None:
            item_roles(roles)
            label = found[1] if (found := likely_gold(data)) else "gold=..."
            raise ValueError(
                f"n={n!r}: systems over test items have no n-best lists. Leave n out, or for "
                f"candidates name the label: {label}."
            )
        return _of_items(data, baseline, test, adjust, n_resamples, level, progress, roles)
    if test == "t":
        raise ValueError(
            "test='t' is for systems over items or metrics of queries, as in summary(['nDCG@10'],"
            " test='t'). For n-best lists, omit test to use exact tests."
        )

    def ask(roles: Mapping[str, Any]) -> Data:
        asked = RankCriterion.of(
            n, "ap" if n is None else None, adjust, n_resamples, level, progress, baseline,
            over=adjust_over,
        )  # fmt: skip
        return best_first(ranked(data, asked, VERDICT, roles))

    result = with_verdicts(ask(roles), data, roles, ask)
    _warn_of_many_groups(result)
    return result


_MANY = 100  # a verdict on each of so many groups is hardly intended


def _warn_of_many_groups(result: Any) -> None:
    """Warn of verdicts on many groups if a single one on all is probably wanted."""
    if not isinstance(result, pd.DataFrame):
        return
    groups = list(result.columns[: list(result.columns).index("measure")])
    many = int((~result.duplicated(groups)).sum()) if groups else 0
    if many > _MANY:
        warn(
            f"by={listed(groups)}: the table has a separate verdict for each of {many:,} groups,"
            " not adjusted for the number of groups. For one verdict, call compare(...,"
            " average='macro') or, for queries, summary(['P@10'])."
        )


def _are_metrics(n: object) -> bool:
    """Return whether n names metrics of queries rather than sizes of lists."""
    return isinstance(n, str) or (isinstance(n, Iterable) and any(isinstance(x, str) for x in n))


def _of_items(
    data: Data,
    baseline: Hashable,
    test: MeanTest,
    adjust: str | None,
    n_resamples: int | None,
    level: float,
    progress: bool | None,
    roles: Mapping[str, Any],
) -> Data:
    options: dict[str, Any] = {
        "adjust": adjust, "n_resamples": n_resamples, "level": level, "progress": progress, **roles
    }  # fmt: skip
    options["alpha"] = round(1.0 - level, 12)
    scores = _as_frame(system_ranks(data, test=test, **options))
    pairs = _as_frame(mean_test(test)(data, baseline=baseline, **options))
    groups: list[Any] = list(scores.columns[: list(scores.columns).index("system")])
    listed = []
    for keys, part in _parts(scores, groups):
        of_group = pairs
        for name, key in zip(groups, keys, strict=True):
            of_group = of_group[of_group[name] == key]
        listed.append(_with_differences(part, of_group, baseline))
    table = pd.concat(listed, ignore_index=True)
    columns = [*groups, "system", *(name for name in VERDICT if name != "better_than_chance")]
    columns += [*(["letters"] if baseline is None else []), "p_value", *_ALONE, "undecided"]
    columns += ["ci_low_alone", "ci_high_alone"]
    attrs: dict[str, Any] = {str(k): v for k, v in pairs.attrs.items()}
    attrs |= {"level": level, "adjust": adjust}
    attrs |= {
        name: scores.attrs[name] for name in ("ranks", "ci", "intervals") if name in scores.attrs
    }
    result: Any = table[[name for name in columns if name in table]]
    result.attrs.update(attrs)
    answered: Any = tables.as_rows(result, attrs=attrs) if isinstance(data, xr.Dataset) else result
    return cast("Data", answered)


def _as_frame(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    frame: pd.DataFrame = table.to_dataframe().reset_index().drop(columns="pair", errors="ignore")
    frame.attrs.update(table.attrs)
    return frame


def _parts(table: pd.DataFrame, groups: list[Any]) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    if not groups:
        return [((), table)]
    return [
        (keys if isinstance(keys, tuple) else (keys,), part)
        for keys, part in table.groupby(groups, sort=False, observed=True)
    ]


def _with_differences(
    scores: pd.DataFrame, pairs: pd.DataFrame, baseline: Hashable
) -> pd.DataFrame:
    """Return the systems, best first, with their gains over one of them."""
    scores = scores.sort_values("rank", kind="stable")
    names = scores["system"].tolist()
    if baseline is not None and baseline not in names:
        raise unknown_name("baseline", baseline, names)
    reference = names[0] if baseline is None else baseline
    forth, back = pairs[pairs["system_b"] == reference], pairs[pairs["system_a"] == reference]
    turned = back.assign(
        system_a=back["system_b"], gain=-back["gain"], ci_low=-back["ci_high"],
        ci_high=-back["ci_low"],
    )  # fmt: skip
    if "ci_low_alone" in back:
        turned["ci_low_alone"] = -back["ci_high_alone"]
        turned["ci_high_alone"] = -back["ci_low_alone"]
    pair = pd.concat([forth, turned]).set_index("system_a").reindex(names)
    itself = [name == reference for name in names]
    for column, own in _OF_PAIRS.items():
        if own in pair:
            scores[column] = pair[own].to_numpy()
            if own.startswith(("gain", "ci_")):
                scores.loc[itself, column] = 0.0
    if baseline is not None:
        scores["undecided"] = (pair["undecided"] == 1).to_numpy()
    return scores
