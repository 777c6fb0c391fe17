"""Show how the accessor interpreted the data, and which methods to use."""

from __future__ import annotations

import difflib
import html
import math
import textwrap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.types import is_numeric_dtype

from rankeval_pd.capabilities import declared
from rankeval_pd.doors.candidates import one_label
from rankeval_pd.doors.candidates import read_frame as read_frame_of_candidates
from rankeval_pd.doors.columns import maybe_gold, with_given_dataset, with_given_frame
from rankeval_pd.doors.datasets import frame_of
from rankeval_pd.doors.item_tables import frame_as_items, item_roles, read_items
from rankeval_pd.doors.queries import QueryOptions, read_queries
from rankeval_pd.errors import listed
from rankeval_pd.roles import (
    Form,
    Roles,
    are_queries,
    are_values,
    as_names,
    awaits_measures,
    find_gold,
    find_measures,
    form_of,
    frame_column,
    header_of,
    widened,
    with_roles_of,
)

# --------------------------------------------------------- How the accessor interpreted the data,
# as text


class Overview(NamedTuple):
    """Store how the data were interpreted."""

    kind: str  #: either "DataFrame" or "Dataset"
    form: Form
    facts: list[tuple[str, str]]
    runs: bool  #: whether rows are documents that runs retrieved for queries


def overview(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any], listing: Listing) -> str:
    """Describe the data and list the methods, without computing lazy data."""
    kind, form, facts, runs = understood(data, keywords)
    lines = [f"<rankeval accessor of a {kind}>", *_in_columns((f"{x}:", text) for x, text in facts)]
    rows, plots = listing.fitting(form, keywords)
    rows = [*rows, ("Pictures (plot.)", ", ".join(plots))]
    if runs:
        rows = [*OF_RUNS]
    return "\n".join([*lines, "Methods", *_in_columns(rows)])


def _in_columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return two columns of text, with the second column wrapped."""
    lines = []
    for name, text in rows:
        first, *more = textwrap.wrap(text, 88, break_long_words=False) or [""]
        lines += [f"  {name:<30} {first}", *(f"  {'':<30} {line}" for line in more)]
    return lines


def overview_html(
    data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any], listing: Listing
) -> str:
    """Return the overview as a small HTML table that uses the page's colors."""
    kind, form, facts, runs = understood(data, keywords)
    questions, plots = listing.fitting(form, keywords)
    rows = [*questions, ("Pictures (plot.)", ", ".join(plots))]
    if runs:
        rows = [*OF_RUNS]
    return "".join(
        [
            '<div class="rankeval-overview">',
            f"<strong>rankeval</strong> accessor of a {html.escape(kind)}",
            _html_table(facts),
            "<details><summary>Methods</summary>",
            _html_table(rows),
            "</details></div>",
        ]
    )


def _html_table(rows: Sequence[tuple[str, str]]) -> str:
    """Return rows of two cells without colors, for light and dark pages."""
    left = 'style="text-align: left; font-weight: normal; opacity: 0.75"'
    lines = [
        f"<tr><th {left}>{html.escape(name)}</th>"
        f'<td style="text-align: left">{html.escape(text)}</td></tr>'
        for name, text in rows
    ]
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def understood(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> Overview:
    """Return the form of the data, and details of how it was read."""
    kind = "DataFrame" if isinstance(data, pd.DataFrame) else "Dataset"
    form = form_of(data, keywords)
    try:
        data, keywords = widened(data, keywords)
    except (ValueError, TypeError, KeyError) as error:
        return Overview(kind, form, [("not yet clear", str(error))], False)
    runs = form == "rankings" and isinstance(data, pd.DataFrame) and are_queries(data, keywords)
    try:
        if form == "pairs":
            facts = _pair_facts(data)
        elif form == "items":
            facts = _item_facts(data, keywords)
        elif awaits_measures(data, keywords):
            facts = _cell_facts(cast("pd.DataFrame", data))
        elif runs and isinstance(data, pd.DataFrame):
            facts = _query_facts(data, keywords)
        else:
            facts = _facts(data, Roles.configured(keywords))
    except (ValueError, TypeError, KeyError) as error:
        facts = [("not yet clear", str(error))]
    return Overview(kind, form, facts, runs)


def _query_facts(data: pd.DataFrame, keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
    known = {field.name for field in fields(QueryOptions)}
    options = QueryOptions.of({name: x for name, x in keywords.items() if name in known})
    table = read_queries(data, options)
    judged = int((~np.isnan(table.grade)).sum())
    return [
        ("rows (query, document)", f"{len(data):,}, {judged:,} judged"),
        ("queries", f"{len(table.keys):,}"),
        ("runs", listed(table.measures)),
        ("ties, unjudged, missing", f"{options.ties!r}, {options.unjudged!r}, {options.missing!r}"),
    ]


def _pair_facts(data: pd.DataFrame | xr.Dataset) -> list[tuple[str, str]]:
    rows = len(data) if isinstance(data, pd.DataFrame) else data["gain"].size
    facts = [("pairs of systems", f"{rows:,}")]
    if "metric" in data.attrs:
        better = "higher is better"
        if not data.attrs.get("higher_is_better", True):
            better = "lower is better"
        facts.append(("metric", f"{data.attrs['metric']!r}, {better}"))
    return [*facts, ("methods", "gain_threshold, calibration, plot.calibration")]


def _cell_facts(data: pd.DataFrame) -> list[tuple[str, str]]:
    return [
        ("rows (pairs of words)", f"{len(data):,}"),
        ("frequencies", "O11, O12, O21 and O22 of one 2x2 table per row"),
        (
            "first",
            ("with_association_measures(['G2', 't', 'MI', ...]) adds a column for each measure"),
        ),
        (
            "then",
            (
                "add a gold label for the methods below (annotation_sheet selects candidates to"
                " judge)"
            ),
        ),
    ]


def _item_facts(
    data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]
) -> list[tuple[str, str]]:
    frame, named = frame_of(data, keywords, "items")
    roles = item_roles(named)
    table = read_items(frame, roles)
    metric, systems = table.metric, table.systems
    each = [len(rows) for rows in table.members]
    if roles.seeds is not None:  # one row for each seed
        each = [table.items(rows).statistics.shape[1] for rows in table.members]
    items = f"{sum(each):,}"
    by = as_names(roles.by, frame.columns)
    beside = ("domains", "none")
    if by:
        beside = ("domains", f"{len(table.keys):,} of {listed(by)}")
    if isinstance(data, xr.Dataset):
        items = f"{data.sizes[keywords.get('dim', 'item')]:,} along {keywords.get('dim', 'item')!r}"
        beside = ("batch dimensions", ", ".join(map(str, by)) or "none")
    better, statistics = "higher", "one column per system"
    if metric.sign <= 0:
        better = "lower"
    if metric.chosen != [None]:
        statistics = listed(metric.chosen)
    drawn = []
    if roles.strata is not None:
        drawn.append(("strata", f"{roles.strata!r}, their {roles.average or 'macro'} average"))
    if roles.seeds is not None:
        drawn.append(("seeds", repr(roles.seeds)))
    return [
        ("test items", items),
        ("systems", listed(systems)),
        ("metric", f"{metric.name!r}, {better} is better"),
        ("statistics", statistics),
        *_groups_and_rest(data, roles, systems),
        *drawn,
        beside,
        *maybe_gold(data, keywords),
    ]


def _groups_and_rest(
    data: pd.DataFrame | xr.Dataset, roles: Roles, systems: list[Any]
) -> list[tuple[str, str]]:
    """Return group columns, a likely group column, and unused text columns."""
    out: list[Hashable] = []
    if isinstance(data, pd.DataFrame) and data.columns.nlevels == 1 and data.columns.is_unique:
        named = as_names(roles.by, data.columns) + as_names(roles.label, data.columns)
        known = {*systems, *named, *roles.factors, roles.strata, roles.seeds}
        if frame_as_items(data) is data:  # except for long tables from per_query
            out = [x for x in data if x not in known and not is_numeric_dtype(data[x].dtype)]
    groups = "none"
    if roles.groups is not None:
        groups = repr(roles.groups)
    again = (x for x in out if 1 < data[x].astype(str).nunique() <= len(data[x]) / 2)
    if roles.groups is None and (name := next(again, None)) is not None:
        groups += (
            f" ({name!r} has repeated values; if such rows are dependent, pass groups={name!r})"
        )
    facts = [("groups", groups)]
    if out:
        facts.append(("unused columns", listed(out, most=4)))
    return facts


def _facts(data: pd.DataFrame | xr.Dataset, roles: Roles) -> list[tuple[str, str]]:
    labels, configured = _label_facts(data, roles), roles
    if isinstance(data, xr.Dataset):
        data, roles = with_given_dataset(data, roles)
        frame = header_of(data, roles)
        others: list[Hashable] = list(data.data_vars)
    else:
        frame, roles = with_given_frame(data, roles)
        others = list(frame.columns)
    frame, roles = one_label(frame, roles)[:2]
    gold = find_gold(frame, roles)
    taken = with_roles_of(gold, roles, frame.columns)
    measures = find_measures(frame, roles, taken, needed=True)
    for name in measures:  # a column name that occurs twice is not a measure
        frame_column(frame, name, "measures")
    lower = roles.lower(measures, frame.columns)
    shown = listed(f"{m} (lower is better)" if m in lower else m for m in measures)
    others = [name for name in others if name not in (*measures, *taken)]
    ties = {"shared": "broken by a hash of the label, the same for all measures"}
    if roles.key is not None:
        ties["shared"] = f"broken by {roles.key!r} in ascending order"
    ties["trec"] = (
        f"as in trec_eval: scores in single precision, then {roles.key!r} in descending order"
    )
    ties["blocks"] = "lists end where a block of equal scores ends"
    ties["expected"] = "the mean over all tie-breaking orders"
    ties["best"] = "true positives first"
    ties["worst"] = "true positives last"
    ties["error"] = "an error if a list ends inside a tie"
    if isinstance(data, xr.Dataset):
        counts = _candidate_counts(data, roles, gold)
    else:
        counts = _frame_counts(data, configured)
    unlabeled = labels[0][1].startswith(("none", "repeated"))
    facts = [*counts, ("gold", repr(gold)), ("measures", shown)]
    if others:
        facts.append(("unused columns", listed(others)))
    if roles.groups is not None:
        facts.append(("clusters", repr(roles.groups)))
    if roles.key is None and unlabeled:
        facts = [*labels, *facts]
    elif roles.key is None:
        facts += labels
    facts.append(("ties", f"{roles.ties!r}, {ties[roles.ties]}"))
    if roles.missing != "raise":
        facts.append(("missing scores", repr(roles.missing)))
    return facts


def _label_facts(data: pd.DataFrame | xr.Dataset, roles: Roles) -> list[tuple[str, str]]:
    """Return a note if only row numbers identify the candidates."""
    if roles.label is not None:
        named = repr(roles.label)
        if are_values(roles.label):
            named = "given"
        return [("labels", named)]
    index = data.index if isinstance(data, pd.DataFrame) else data.indexes.get(roles.dim)
    if index is None or isinstance(index, pd.RangeIndex):
        return [("labels", "none; set an index, because otherwise the row order breaks ties")]
    again = int(index.duplicated().sum())
    if again:
        return [("labels", f"repeated in {again:,} rows of the index")]
    return [("labels", "the index")]


def _frame_counts(data: pd.DataFrame, roles: Roles) -> list[tuple[str, str]]:
    groups = read_frame_of_candidates(data, roles, scored=False)
    total, positive = groups.number.size, int(groups.columns["gold"].sum())
    by = as_names(roles.by, data.columns)
    facts = [("candidates", f"{total:,}"), *_positive_facts(total, positive)]
    if by:
        facts.append(("groups", f"{len(groups.keys):,} of {listed(by)}"))
    return facts


def _positive_facts(total: int, positive: int) -> list[tuple[str, str]]:
    text = f"{positive:,}"
    if total:
        text += f", baseline precision {positive / total:.2%}"
    return [("true positives", text)]


def _candidate_counts(data: xr.Dataset, roles: Roles, gold: Any) -> list[tuple[str, str]]:
    batch = [f"{d} ({size:,})" for d, size in data.sizes.items() if d not in (roles.dim, "measure")]
    facts = [("candidates", f"{data.sizes[roles.dim]:,} along {roles.dim!r}")]
    if gold not in data.variables:
        facts.append(("true positives", "not counted because the votes are not yet combined"))
    elif data[gold].chunks is not None:
        facts.append(("true positives", "not counted because the data are lazy"))
    else:
        known = data[gold]
        if known.ndim:
            known = known.to_series().dropna()
        if known.size != data[gold].size:
            facts.append(("labeled", f"{known.size:,} (the rest is padding)"))
        try:
            total = math.inf
            if known.dtype.kind != "c":
                total = float(known.astype(float).sum())
        except OverflowError:  # an integer too large for a float is not a label
            total = math.inf
        if math.isfinite(total):
            facts += _positive_facts(int(known.size), int(total))
    return [*facts, ("batch dimensions", ", ".join(batch) or "none")]


# -------------------------------------------------------------------------------------------------
# The methods for each question and type of data, and their names in other packages.

# the order of the headings; each method declares its heading
HEADINGS: Mapping[Form, tuple[str, ...]] = {
    "rankings": (
        "How good is each list?",
        "Which measure is best?",
        "Is A better than B?",
        "What holds for all n?",
        "Is it better than chance?",
        "Would it happen again?",
        "How good is it overall?",
        "What to judge, and how?",
        "Queries, 2x2 tables",
    ),
    "items": (
        "Is a system's gain real?",
        "Who is best?",
        "Which gain is worth reporting?",
    ),
    "pairs": ("Which gain is worth reporting?", "Does a gain replicate on other data?"),
}
# for runs and judgments from read_trec
OF_RUNS: tuple[tuple[str, str], ...] = (
    ("How good is each run?", "summary(['nDCG@10', ...], baseline=...), per_query"),
    ("Is a run's gain real?", "table = per_query('nDCG@10', wide=True), then on table:"),
    ("", "paired_bootstrap, paired_permutation, system_ranks, summary"),
    ("How does it look?", "plot.interpolated_precision; on table: plot.paired_differences,"),
    ("", "plot.queries, plot.system_ranks, plot.pairs"),
    (
        "Documents as candidates",
        "df.rankeval(gold='grade', min_grade=1, by='query', key='document',",
    ),
    ("", "missing='absent', unjudged='negative'): nbest_precision, compare, random_test, ..."),
)
# name in other packages, in lowercase without underscores: call in this package
SYNONYMS: Mapping[str, str] = {
    "ap": 'area("ap")',
    "auc": "area()",
    "auroc": "area()",
    "aucroc": "area()",
    "averageprecision": 'area("ap")',
    "averageprecisionscore": 'area("ap")',
    "rocauc": "area()",
    "rocaucscore": "area()",
    "auprc": 'area("ap")',
    "comparebedroc": "bedroc()",
    "compareenrichment": 'compare(n=share, of="lift")',
    "bands": "precision_band()",
    "binomtest": "random_test()",
    "elo": "system_ranks()",
    "f1": "acceptance_precision(threshold)",
    "gini": "area()",
    "ks": "choose_threshold(youden=True)",
    "sensitivity": "acceptance_precision(threshold)",
    "specificity": "acceptance_precision(threshold)",
    "tnr": "acceptance_precision(threshold)",
    "tolatex": 'rankeval_pd.paper_table(table, "latex")',
    "tpr": "acceptance_precision(threshold)",
    "bootstrap": "paired_bootstrap()",
    "boschloo": 'compare(test="boschloo")',
    "classificationreport": "acceptance_precision(threshold)",
    "confidenceinterval": "nbest_precision()",
    "confusionmatrix": "acceptance_precision(threshold)",
    "cumulativegain": "gain()",
    "curve": "roc()",
    "delong": "compare_area()",
    "detcurve": "det()",
    "ef": "enrichment(share)",
    "enrichmentfactor": "enrichment(share)",
    "mcclish": "partial_area(fpr)",
    "pauc": "partial_area(fpr)",
    "partialauc": "partial_area(fpr)",
    "rie": "bedroc()",
    "fisher": "compare()",
    "fisherexact": "compare()",
    "leaderboard": "system_ranks()",
    "mcnemar": 'compare(test="mcnemar")',
    "mi": 'with_association_measures("MI")',
    "npmi": 'with_association_measures("MI")',
    "patk": "nbest_precision()",
    "permutation": "paired_permutation()",
    "permutationtest": "paired_permutation()",
    "pk": "nbest_precision()",
    "pmi": 'with_association_measures("MI")',
    "pr": "precision_recall()",
    "prcurve": "precision_recall()",
    "precision": "nbest_precision()",
    "precisionrecallcurve": "precision_recall()",
    "roccurve": "roc()",
    "precisionatk": "nbest_precision()",
    "pvalue": "compare()",
    "rank": "system_ranks()",
    "ranking": "system_ranks()",
    "recall": "nbest_recall()",
    "recallatk": "nbest_recall()",
    "significance": "compare()",
    "test": "compare()",
    "ttest": "paired_bootstrap()",
    "wilcoxon": "paired_permutation()",
}
PER_QUERY: Mapping[str, str] = {
    "dcg": "DCG@10",
    "dcgscore": "DCG@10",
    "err": "ERR@10",
    "map": "AP",
    "meanreciprocalrank": "RR",
    "mrr": "RR",
    "ndcg": "nDCG@10",
    "ndcgatk": "nDCG@10",
    "ndcgscore": "nDCG@10",
    "rbp": "RBP",
    "rprec": "Rprec",
    "hitrate": "Success@10",
    "success": "Success@10",
}
# scikit-learn's metrics for predictions, except metrics for probabilities and classes
OF_PREDICTIONS: Mapping[str, str] = {
    f"{metric}score": metric for metric in ("accuracy", "precision", "recall", "f1")
}
OUTSIDE = (
    "brierscoreloss",
    "calibrationcurve",
    "logloss",
    "matthewscorrcoef",
    "decisioncurve",
    "mcc",
)
TABLES = "rankeval_pd.from_scores(y_true, scores) makes a DataFrame with the accessor .rankeval."
PLOT_SYNONYMS: Mapping[str, str] = {
    "acceptance": "precision()",
    "ap": "precision_recall()",
    "area": "roc()",
    "auc": "roc()",
    "bootstrap": "confidence()",
    "bound": "random_bound()",
    "cdf": "random_cdf()",
    "chance": "random_bound()",
    "compare": "comparison()",
    "curve": "precision()",
    "enrichment": "lift()",
    "envelope": "random_bound()",
    "heatmap": "pairs()",
    "leaderboard": "system_ranks()",
    "nbestprecision": "precision()",
    "pairedbootstrap": "confidence()",
    "pr": "precision_recall()",
    "prcurve": "precision_recall()",
    "randomenvelope": "random_bound()",
    "randomtest": "random_bound()",
    "ranks": "system_ranks()",
    "recall": "gain()",
    "roccurve": "roc()",
    "samples": "repetition()",
    "scatter": "confidence()",
    "significantranges": "comparison()",
    "thresholds": "confidence()",
}


class Listing(NamedTuple):
    """List the methods and plots for each question and type of data."""

    questions: Mapping[Form, tuple[tuple[str, str], ...]]
    plots: Mapping[Form, tuple[str, ...]]
    refusing: frozenset[str]  #: methods that reject groups=

    @classmethod
    def of(cls, methods: type, plots: type) -> Listing:
        """Return the methods and plots in definition order."""
        return cls(
            {
                form: tuple((text, ", ".join(_under(methods, form, text))) for text in headings)
                for form, headings in HEADINGS.items()
            },
            {form: tuple(_under(plots, form, "Pictures")) for form in HEADINGS},
            frozenset(
                before + name
                for before, accessor in (("", methods), ("plot.", plots))
                for name, (_, able) in declared(accessor).items()
                if not able.clusters
            ),
        )

    def fitting(
        self, form: Form, keywords: Mapping[str, Any]
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the questions, methods and plots available for these roles."""
        out: frozenset[str] = frozenset()
        if keywords.get("groups") is not None:
            out = self.refusing
        rows = [
            (text, ", ".join(name for name in names.split(", ") if name not in out))
            for text, names in self.questions[form]
        ]
        plots = [name for name in self.plots[form] if f"plot.{name}" not in out]
        return [(text, names) for text, names in rows if names], plots

    def methods_of(self, form: Form, keywords: Mapping[str, Any] | None = None) -> list[str]:
        """Return the methods available for this type of data and these roles."""
        rows, _ = self.fitting(form, keywords or {})
        return [name for _, names in rows for name in names.split(", ")]


def _under(accessor: type, form: Form, heading: str) -> list[str]:
    return [name for name, (_, x) in declared(accessor).items() if getattr(x, form) == heading]


def not_there(name: str, what: str, there: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return the error text for an unknown method, and suggest the nearest name."""
    plain = name.lower().replace("_", "")
    known = list(there)
    if plain in PER_QUERY:
        meant = (
            f"Call .per_query({PER_QUERY[plain]!r}, wide=True) for values per query, and"
            " .rankeval.paired_bootstrap() on the result for tests."
        )
    elif plain in OF_PREDICTIONS:
        metric = repr(OF_PREDICTIONS[plain])
        meant = (
            f"items = rankeval_pd.from_predictions(y_true, predictions, {metric}) makes a table of"
            f" items, and items.rankeval(metric={metric}).paired_bootstrap() tests the differences."
        )
    elif plain in OUTSIDE:
        meant = "Use scikit-learn for this metric."
    elif plain in synonyms:
        call = synonyms[plain]
        if not call.startswith("rankeval_pd"):
            call = f".{call}"
        meant = f"Did you mean {call}?"
    else:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        inside = [other for other in known if plain in other.replace("_", "")]
        meant = "Print the accessor to list all methods."
        if near or inside:
            meant = f"Did you mean .{[*near, *inside][0]}()?"
    return f"There is no {what} {name!r}. {meant}"
