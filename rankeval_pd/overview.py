"""Show how the accessor interpreted the data, and which methods to use."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.types import is_numeric_dtype

from rankeval_pd import doors
from rankeval_pd.doors import QueryOptions, frame_of
from rankeval_pd.errors import hushed, listed
from rankeval_pd.options import declared
from rankeval_pd.roles import (
    Form,
    Roles,
    are_queries,
    as_names,
    awaits_measures,
    find_gold,
    find_measures,
    form_of,
    frame_column,
    header_of,
    usual_roles,
    widened,
    with_roles_of,
    with_usual_roles,
)
from rankeval_pd.tables import FrameOrDataset, Keywords

# ---- How the accessor interpreted the data, as text

Facts = list[tuple[str, str]]


def overview(data: FrameOrDataset, keywords: Keywords, listing: Listing) -> str:
    """Describe the data and list the methods, without computing lazy data."""
    kind = "DataFrame" if isinstance(data, pd.DataFrame) else "Dataset"
    facts, methods = understood(data, keywords, listing)
    lines = [f"<rankeval accessor of a {kind}>", *_in_columns((f"{x}:", text) for x, text in facts)]
    return "\n".join([*lines, "Methods", *_in_columns(methods)])


def _in_columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return two columns of text, with the second column wrapped."""
    lines = []
    for name, text in rows:
        first, *more = textwrap.wrap(text, 88, break_long_words=False) or [""]
        lines += [f"  {name:<30} {first}", *(f"  {'':<30} {line}" for line in more)]
    return lines


def understood(data: Any, keywords: Keywords, listing: Listing) -> tuple[Facts, Facts]:
    """Return details of how the data were read, and the methods for them."""
    form = form_of(data, keywords)
    methods, plots = listing.fitting(form, keywords)
    methods.append(("Pictures (plot.)", ", ".join(plots)))
    long = [f"{column!r} as {role}" for role, column in usual_roles(data, keywords).items()]
    try:
        with hushed("long frame"):
            data, keywords = widened(*with_usual_roles(data, keywords))
        if form == "pairs":
            facts = _pair_facts(data)
        elif form == "items":
            facts = _item_facts(data, keywords)
        elif awaits_measures(data, keywords):
            facts = [("rows (pairs of words)", f"{len(data):,}"), *_OF_CELLS]
        elif isinstance(data, pd.DataFrame) and are_queries(data, keywords):
            methods = [*OF_RUNS]  # rows are documents that runs retrieved for queries
            facts = _query_facts(data, keywords)
        else:
            facts = _facts(data, Roles.configured(keywords))
    except (ValueError, TypeError, KeyError) as error:
        facts = [("not yet clear", str(error))]
    if long:
        facts = [("read as a long frame", ", ".join(long)), *facts]
    return facts, methods


_OF_CELLS = (
    ("frequencies", "O11, O12, O21 and O22 of one 2x2 table per row"),
    ("first", "with_association_measures(['G2', 't', 'MI', ...]) adds a column for each measure"),
    (
        "then",
        "add a gold label for the methods below (annotation_sheet selects candidates to judge)",
    ),
)


def _query_facts(data: pd.DataFrame, keywords: Keywords) -> Facts:
    known = {field.name for field in fields(QueryOptions)}
    options = QueryOptions.of({name: x for name, x in keywords.items() if name in known})
    table = doors.read_queries(data, options)
    judged = int((~np.isnan(table.grade)).sum())
    return [
        ("rows (query, document)", f"{len(data):,}, {judged:,} judged"),
        ("queries", f"{len(table.keys):,}"),
        ("runs", listed(table.measures)),
        ("ties, unjudged, missing", f"{options.ties!r}, {options.unjudged!r}, {options.missing!r}"),
    ]


def _pair_facts(data: FrameOrDataset) -> Facts:
    facts = [("pairs of systems", f"{data['gain'].size:,}")]
    if "metric" in data.attrs:
        better = "higher" if data.attrs.get("higher_is_better", True) else "lower"
        facts.append(("metric", f"{data.attrs['metric']!r}, {better} is better"))
    return [*facts, ("methods", "gain_threshold, calibration, plot.calibration")]


def _item_facts(data: FrameOrDataset, keywords: Keywords) -> Facts:
    frame, named = frame_of(data, keywords, "items")
    roles = doors.item_roles(named)
    table = doors.read_items(frame, roles)
    metric, systems = table.metric, table.systems
    items = f"{sum(map(len, table.members)):,}"
    by = as_names(roles.by, frame.columns)
    beside = ("domains", "none")
    if by:
        beside = ("domains", f"{len(table.keys):,} of {listed(by)}")
    if isinstance(data, xr.Dataset):
        items = f"{data.sizes[keywords.get('dim', 'item')]:,} along {keywords.get('dim', 'item')!r}"
        beside = ("batch dimensions", ", ".join(map(str, by)) or "none")
    better = "higher" if metric.sign > 0 else "lower"
    statistics = listed(metric.chosen) if metric.chosen != [None] else "one column per system"
    facts = [
        ("test items", items),
        ("systems", listed(systems)),
        ("metric", f"{metric.name!r}, {better} is better"),
        ("statistics", statistics),
        *_groups_and_rest(data, roles, systems),
    ]
    if roles.strata is not None:
        facts.append(("strata", f"{roles.strata!r}, their {roles.average or 'macro'} average"))
    if roles.seeds is not None:
        facts.append(("seeds", repr(roles.seeds)))
    return [*facts, beside]


def _groups_and_rest(data: FrameOrDataset, roles: Roles, systems: list[Any]) -> Facts:
    """Return group columns, and unused text columns."""
    out = []
    if isinstance(data, pd.DataFrame) and data.columns.nlevels == 1 and data.columns.is_unique:
        named = as_names(roles.by, data.columns) + as_names(roles.label, data.columns)
        known = {*systems, *named, *roles.factors, roles.strata, roles.seeds}
        out = [x for x in data if x not in known and not is_numeric_dtype(data[x].dtype)]
    facts = [("groups", "none")]
    if roles.groups is not None:
        facts = [("groups", repr(roles.groups))]
    if out:
        facts.append(("unused columns", listed(out, most=4)))
    return facts


def _facts(data: FrameOrDataset, roles: Roles) -> Facts:
    labels = _label_fact(data, roles)
    configured = roles
    if isinstance(data, xr.Dataset):
        frame = header_of(data, roles)
        others = list(data.data_vars)
    else:
        frame = doors.with_levels(data, roles)
        others = list(frame.columns)
    frame, roles = doors.one_label(frame, roles)[:2]
    gold = find_gold(frame, roles)
    taken = with_roles_of(gold, roles, frame.columns)
    measures = find_measures(frame, roles, taken, needed=True)
    for name in measures:  # a column name that occurs twice is not a measure
        frame_column(frame, name, "measures")
    lower = roles.lower(measures, frame.columns)
    shown = listed(f"{m} (lower is better)" if m in lower else m for m in measures)
    others = [name for name in others if name not in (*measures, *taken)]
    if isinstance(data, xr.Dataset):
        batch = [f"{d} ({n:,})" for d, n in data.sizes.items() if d not in (roles.dim, "measure")]
        facts = [
            ("candidates", f"{data.sizes[roles.dim]:,} along {roles.dim!r}"),
            ("batch dimensions", ", ".join(batch) or "none"),
        ]
    else:
        groups = doors.read_frame(data, configured, scored=False)
        total = groups.number.size
        positive = int(groups.columns["gold"].sum())
        told = f"{positive:,}"
        if total:
            told += f", baseline precision {positive / total:.2%}"
        facts = [("candidates", f"{total:,}"), ("positives", told)]
        if by := as_names(configured.by, data.columns):
            facts.append(("groups", f"{len(groups.keys):,} of {listed(by)}"))
    facts += [("gold", repr(gold)), ("measures", shown)]
    if others:
        facts.append(("unused columns", listed(others)))
    if roles.groups is not None:
        facts.append(("clusters", repr(roles.groups)))
    if roles.key is None:
        place = 0 if labels.startswith(("none", "repeated")) else len(facts)
        facts.insert(place, ("labels", labels))
    how = _TIES[roles.ties].format(roles.key)
    if roles.ties == "shared" and roles.key is not None:
        how = f"broken by {roles.key!r} in ascending order"
    facts.append(("ties", f"{roles.ties!r}, {how}"))
    if roles.missing != "raise":
        facts.append(("missing scores", repr(roles.missing)))
    return facts


_TIES = {
    "shared": "broken by a hash of the label, the same for all measures",
    "trec": "as in trec_eval: scores in single precision, then {!r} in descending order",
    "expected": "the mean over all tie-breaking orders",
    "best": "true positives first",
    "worst": "true positives last",
    "error": "an error if a list ends inside a tie",
}


def _label_fact(data: FrameOrDataset, roles: Roles) -> str:
    """Return what identifies the candidates."""
    if roles.label is not None:
        return repr(roles.label)
    index = data.index if isinstance(data, pd.DataFrame) else data.indexes.get(roles.dim)
    if index is None or isinstance(index, pd.RangeIndex):
        return "none; set an index, because otherwise the row order breaks ties"
    again = int(index.duplicated().sum())
    if again:
        return f"repeated in {again:,} rows of the index"
    return "the index"


# ---- The methods for each question and type of data, and their names in other packages

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


def _by_name(calls: Mapping[str, str]) -> dict[str, str]:
    return {name: call for call, names in calls.items() for name in names.split()}


# calls in this package, and their names in other packages, in lowercase without underscores
SYNONYMS: Mapping[str, str] = _by_name(
    {
        'area("ap")': "ap averageprecision averageprecisionscore auprc",
        "area()": "auc auroc aucroc rocauc rocaucscore gini",
        "bedroc()": "rie",
        'compare(n=share, of="lift")': "comparebedroc compareenrichment",
        "precision_band()": "bands",
        "random_bound(simultaneous=True)": "randomenvelope",
        'precision_band(of="recall")': "recallband",
        "random_test()": "binomtest",
        "rankeval_pd.random_pvalue(n_queries=...)": "randompvaluemean",
        "system_ranks()": "elo leaderboard rank ranking",
        "acceptance_precision(threshold)": (
            "f1 sensitivity specificity tnr tpr classificationreport confusionmatrix"
        ),
        "choose_threshold()": "ks youden",
        'rankeval_pd.paper_table(table, "latex")': "tolatex",
        "paired_bootstrap()": "bootstrap ttest",
        "rankeval_pd.from_sacrebleu(...)": "bleu chrf ter",
        "rankeval_pd.needed_candidates(...)": "power samplesize",
        "nbest_precision()": "top confidenceinterval localprecision patk pk precision precisionatk",
        "gain()": "cumulativegain",
        "roc()": "curve roccurve",
        "compare_area()": "delong",
        "compare(details=True)": "oddsratio oddsratios",
        'compare(adjust="max-t")': "meandifference",
        "judged_precision(n)": "judgedaverageprecision infap",
        "det()": "detcurve",
        "difference_region(n=100)": "nbest nbestlist",
        "enrichment(share)": "ef enrichmentfactor",
        "partial_area(fpr)": "mcclish pauc partialauc",
        "compare()": "boschloo fisher fisherexact pvalue significance test",
        'compare(test="mcnemar")': "mcnemar",
        'with_association_measures("MI")': "mi npmi pmi",
        "paired_permutation()": "permutation permutationtest wilcoxon",
        "precision_recall()": "pr prcurve precisionrecallcurve",
        "nbest_recall()": "recall recallatk",
    }
)
#: what these names mean for data of a form, which take precedence
OF_FORM: Mapping[str, Mapping[str, str]] = {
    "one list": _by_name(
        {
            'area("ap")': "map",
            "compare()": "bootstrap permutation permutationtest ttest wilcoxon",
            'per_query("RR", by=...)': "mrr meanreciprocalrank",
        }
    ),
    "items": _by_name(
        {
            "paired_bootstrap()": "compare pvalue significance test",
            "paired_permutation()": "exact fisher mcnemar",
            "rankeval_pd.needed_items(...)": "power samplesize",
            "system_ranks()": "top",
        }
    ),
}
PER_QUERY: Mapping[str, str] = _by_name(
    {
        "DCG@10": "dcg dcgscore",
        "ERR@10": "err",
        "AP": "map",
        "RR": "meanreciprocalrank mrr",
        "nDCG@10": "ndcg ndcgatk ndcgscore",
        "RBP": "rbp",
        "Rprec": "rprec",
        "Success@10": "hitrate success",
    }
)
# scikit-learn's metrics for predictions, except metrics for probabilities and classes
OF_PREDICTIONS: Mapping[str, str] = {
    f"{metric}score": metric for metric in ("accuracy", "precision", "recall", "f1")
} | {"balancedaccuracyscore": "balanced_accuracy", "macrof1": "macro_f1"}
OUTSIDE = "brierscoreloss calibrationcurve logloss matthewscorrcoef decisioncurve mcc".split()
TABLES = "rankeval_pd.from_scores(y_true, scores) makes a DataFrame with the accessor .rankeval."
PLOT_SYNONYMS: Mapping[str, str] = _by_name(
    {
        "precision()": "acceptance curve nbestprecision",
        "precision_recall()": "ap pr prcurve",
        "roc()": "area auc roccurve",
        "confidence()": "bootstrap pairedbootstrap scatter thresholds",
        "random_bound()": "bound chance envelope randomenvelope randomtest",
        "random_cdf()": "cdf",
        "comparison()": "compare significantranges",
        "lift()": "enrichment",
        "pairs()": "heatmap",
        "system_ranks()": "criticaldifference leaderboard ranks",
        "gain()": "recall",
        "repetition()": "samples",
    }
)


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

    def fitting(self, form: Form, keywords: Keywords) -> tuple[list[tuple[str, str]], list[str]]:
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

    def methods_of(self, form: Form, keywords: Keywords | None = None) -> list[str]:
        """Return the methods available for this type of data and these roles."""
        rows, _ = self.fitting(form, keywords or {})
        return [name for _, names in rows for name in names.split(", ")]


def _under(accessor: type, form: Form, heading: str) -> list[str]:
    return [name for name, (_, x) in declared(accessor).items() if getattr(x, form) == heading]


def synonyms_for(data: FrameOrDataset, keywords: Keywords) -> Mapping[str, str]:
    """Return the synonyms that fit the form of the data."""
    form: str = form_of(data, keywords)
    if form == "rankings" and keywords.get("by") is None and "query" not in data:
        form = "one list"
    return {**SYNONYMS, **OF_FORM.get(form, {})}


def not_there(name: str, what: str, there: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return the error text for an unknown method, and suggest the nearest name."""
    plain = name.lower().replace("_", "")
    known = list(there)
    if plain in synonyms:
        call = synonyms[plain]
        if not call.startswith("rankeval_pd"):
            call = f".{call}"
        meant = f"Did you mean {call}?"
    elif plain in PER_QUERY:
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
    else:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        inside = [other for other in known if plain in other.replace("_", "")]
        meant = "Print the accessor to list all methods."
        if near or inside:
            meant = f"Did you mean .{[*near, *inside][0]}()?"
    return f"There is no {what} {name!r}. {meant}"
