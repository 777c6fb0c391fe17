"""Which methods answer which question, for which form of data; and what the fields call them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from rankeval_pd.forms.recognised import Form

QUESTIONS: Mapping[Form, tuple[tuple[str, str], ...]] = {
    "rankings": (
        ("How good is each n-best list?", "nbest_precision, acceptance_precision, local_precision"),
        ("How much is found, how early?", "nbest_recall, recall_band, enrichment, bedroc"),
        ("Which measure is best?", "summary, measure_ranks"),
        ("Is A better than B?", "compare, significant_ranges, mean_difference, odds_ratios"),
        (
            "Only a part is judged",
            "judged_precision, judged_difference, judged_recall, judged_average_precision",
        ),
        ("What to judge next?", "plan_annotation, annotation_sheet, with_judgements"),
        ("Which threshold to take?", "choose_threshold"),
        ("What holds for all n together?", "precision_band, difference_band"),
        ("Which candidates make it?", "difference_region, tie_sensitivity"),
        ("Would it happen again?", "repetition, repetition_samples"),
        ("Is it better than chance?", "random_test, crossovers"),
        ("What does chance reach?", "random_bound, random_envelope, random_cdf"),
        ("How good is it as a whole?", "area, compare_area, unpaired_area, partial_area"),
        ("How does it look?", "roc, precision_recall, det, lift, gain, random_band, isolines"),
        ("And per query?", "per_query"),
        ("Scores of 2x2 tables", "with_association_measures"),
    ),
    "items": (
        ("Is the gain of a system real?", "paired_bootstrap, paired_permutation"),
        ("Who is best?", "summary, system_ranks"),
        ("Which gain is worth reporting?", "gain_by_size, population_calibration"),
    ),
    "pairs": (
        ("Which gain is worth reporting?", "gain_threshold"),
        ("Does it hold on other data?", "calibration"),
    ),
}
# of runs and judgements, as read_trec leaves them
OF_RUNS: tuple[tuple[str, str], ...] = (
    ("How good is each run?", "summary(['nDCG@10', ...], baseline=...), per_query"),
    ("Is the gain of a run real?", "table = per_query('nDCG@10', wide=True), and of that table:"),
    ("", "paired_bootstrap, paired_permutation, system_ranks, summary"),
    ("How does it look?", "of that table: plot.paired_differences, plot.system_ranks, plot.pairs"),
    (
        "Documents as candidates",
        "df.rankeval(gold='grade', min_grade=1, by='query', key='document',",
    ),
    ("", "missing='absent'), where all are judged: nbest_precision, compare, ..."),
)
PLOTS: Mapping[Form, tuple[str, ...]] = {
    "rankings": (
        "precision", "comparison", "repetition", "random_bound", "random_cdf", "roc",
        "precision_recall", "det", "lift", "gain", "area", "measure_ranks", "critical_difference",
        "pairs", "odds_ratios", "tie_sensitivity", "mean_difference",
    ),
    "items": (
        "confidence", "pairs", "system_ranks", "gain_by_size", "paired_differences",
        "critical_difference",
    ),
    "pairs": ("confidence", "pairs", "calibration", "critical_difference"),
}  # fmt: skip

# what the fields call it, without underscores and in lower case, and the call that is meant
SYNONYMS: Mapping[str, str] = {
    "ap": 'area("ap")', "auc": "area()", "auroc": "area()", "aucroc": "area()",
    "averageprecision": 'area("ap")', "rocauc": "area()", "rocaucscore": "area()",
    "auprc": 'area("ap")', "comparebedroc": "bedroc()",
    "compareenrichment": 'compare(n=share, of="lift")', "bands": "precision_band()",
    "binomtest": "random_test()",
    "bootstrap": "paired_bootstrap()", "boschloo": 'compare(test="boschloo")',
    "confidenceinterval": "nbest_precision()", "cumulativegain": "gain()",
    "curve": "roc()", "delong": "compare_area()", "ef": "enrichment(share)",
    "enrichmentfactor": "enrichment(share)", "mcclish": "partial_area(fpr)",
    "pauc": "partial_area(fpr)", "partialauc": "partial_area(fpr)", "rie": "bedroc()",
    "fisher": "compare()", "fisherexact": "compare()", "leaderboard": "system_ranks()",
    "mcnemar": 'compare(test="mcnemar")', "mi": 'with_association_measures("MI")',
    "npmi": 'with_association_measures("MI")', "patk": "nbest_precision()",
    "permutation": "paired_permutation()", "permutationtest": "paired_permutation()",
    "pk": "nbest_precision()", "pmi": 'with_association_measures("MI")',
    "pr": "precision_recall()", "prcurve": "precision_recall()", "precision": "nbest_precision()",
    "precisionatk": "nbest_precision()", "pvalue": "compare()", "rank": "system_ranks()",
    "ranking": "system_ranks()", "recall": "nbest_recall()", "recallatk": "nbest_recall()",
    "significance": "compare()", "test": "compare()", "ttest": "paired_bootstrap()",
    "wilcoxon": "paired_permutation()",
}  # fmt: skip
PER_QUERY = ("dcg", "err", "map", "meanreciprocalrank", "mrr", "ndcg", "ndcgatk", "rbp", "rprec")
PLOT_SYNONYMS: Mapping[str, str] = {
    "acceptance": "precision()", "ap": "precision_recall()", "area": "roc()", "auc": "roc()",
    "bootstrap": "confidence()", "bound": "random_bound()", "cdf": "random_cdf()",
    "chance": "random_bound()", "compare": "comparison()", "curve": "precision()",
    "enrichment": "lift()", "envelope": "random_bound()", "heatmap": "pairs()",
    "leaderboard": "system_ranks()", "nbestprecision": "precision()",
    "pairedbootstrap": "confidence()", "pr": "precision_recall()",
    "prcurve": "precision_recall()", "randomenvelope": "random_bound()",
    "randomtest": "random_bound()", "ranks": "system_ranks()", "recall": "gain()",
    "roccurve": "roc()", "samples": "repetition()", "scatter": "confidence()",
    "significantranges": "comparison()", "thresholds": "confidence()",
}  # fmt: skip


def methods_of(form: Form) -> list[str]:
    """Return the methods that data of this form can be asked."""
    return [name for _, names in QUESTIONS[form] for name in names.split(", ")]


def not_there(name: str, what: str, there: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return what to say of a name that is no method or plot: the one that is meant."""
    plain = name.lower().replace("_", "")
    known = list(there)
    if plain in PER_QUERY:
        meant = (
            "It is a metric per query: .per_query('nDCG@10', wide=True) is the table of queries by"
            " runs, and paired_bootstrap of it says whether the differences are real."
        )
    elif plain in synonyms:
        meant = f"Is it .{synonyms[plain]} that is meant?"
    else:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        inside = [other for other in known if plain in other.replace("_", "")]
        near = near or inside[:1]
        meant = f"Is it .{near[0]}() that is meant?" if near else f"There are {', '.join(known)}."
    return f"there is no {what} {name!r}. {meant}"
