"""The vocabulary of a record: names of quantities, tests, intervals and families."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from rankeval_pd.stats import WRITTEN
from rankeval_pd.tables import Attrs, listed_in
from rankeval_pd.words.numbers import agree, join, percent_of

Row = dict[Any, Any]

PERCENT_METRICS = "accuracy precision recall specificity f1 macro_f1 balanced_accuracy".split()

#: columns with proportions, which are shown in percent
SHARES = (
    "precision recall tpr fpr fnr power power_low power_high agreement specificity npv f1 share"
    " expected_agreement"
).split()
SPREADS = ("sd_observed", "sd_expected")  # in points
IN_PERCENT = (*SHARES, *SPREADS)

#: rates at a threshold with limits of their own, and the start of the names of the limits
RATES = {x: x for x in ("npv", "f1", "youden")} | {"specificity": "spec"}

#: the words of a record: a heading, and the words for each value, method or role; a role with a
#: value has a sentence for this value only
_WORDS = """\
adjust
    holm: Holm's method
    bonferroni: Bonferroni's method
    bh: the method of Benjamini and Hochberg
    by: the method of Benjamini and Yekutieli
    max-t: the single-step max-t method
    max-t-stepdown: the step-down max-t method
    envelope: a simultaneous envelope
test
    fisher: Fisher's exact test
    midp: the mid-p version of Fisher's test
    mcnemar: McNemar's exact test
    score: the score test
    kosinski: Kosinski's weighted generalized score test, with half counts and an allowance for
        skewness
    stratified: the exact Cochran–Mantel–Haenszel test
    cluster: a cluster-robust t test
    groups: Student's t test over the groups
    t: the paired t test
    linearized: a t test with linearized variances of the positives and of the negatives
    welch: Welch's t test
    delong: DeLong's test
    hypergeometric: hypergeometric tests
    binomial: binomial tests
    pearson: Pearson's chi-squared test given the total of true positives
    swaps: random swaps of the candidates that are in only one of the two lists
    permutation: approximate randomization
    unconditional: an unconditional exact test of two paired proportions
    hall: random signs of the paired differences, with Hall's correction for skewness
    proportions: the distribution of a difference between two dependent proportions
    wilcoxon: Wilcoxon's signed-rank test, with Hodges–Lehmann estimates and limits for the gains
    wild: a wild bootstrap (random signs of the paired differences)
    recentred: the paired bootstrap of Berg-Kirkpatrick et al. (2012)
    strict: the paired bootstrap as written in Berg-Kirkpatrick et al. (2012, figure 1)
    zero: a paired bootstrap (share of gains below 0)
    crossed: a t test with a variance for each of two crossed factors
    seeds: a t test with separate variances for items and seeds (Welch and Cochran)
interval
    clopper-pearson: Clopper–Pearson
    wilson: Wilson
    jeffreys: Jeffreys
    newcombe: Newcombe
    miettinen-nurminen: Miettinen–Nurminen
    delong: DeLong
    wild: wild bootstrap
    gaffke: Gaffke
    hall: Hall
    percentile: percentile bootstrap
    basic: basic bootstrap
    tango: Tango
    student: Student's t
    t: Student's t
    korn-graubard: Korn-Graubard
    order: order-statistic
    order-count: order-statistic and count
    mover: MOVER (Zou and Donner)
    hypergeometric: exact hypergeometric
    sup-t: simultaneous sup-t
    cluster: cluster-robust
    jackknife: jackknife
    hodges-lehmann: Hodges–Lehmann
    smirnov: Smirnov
    systems: system bootstrap
    proportions: dependent-proportions
    inverted-t: inverted t-test
    logit-arcsine: logit or arcsine Student's t
target
    region: for fixed thresholds
    nbest: for n-best lists (with the variance of the threshold)
    unjudged: for the unjudged candidates of these lists
    both: (the wider of the limits for fixed thresholds and for n-best lists)
tested
    calibration: The p-values are from
    gain_threshold: The p-values are from
    population_calibration: The p-values are from
    needed_candidates: The power is computed for
    plan_annotation: The power is computed for
    area: Areas were tested against one half with
    compare_accuracies: The p-values are bounds for
    random_test: True-positive counts were tested against a random ranking using
    repetition: Variation between samples was tested with
title
    acceptance_precision: results at thresholds
    annotator_agreement: coefficients of agreement between annotators
    calibration: agreement of the sign of gains with other data, by one-sided p-value
    choose_threshold: chosen thresholds, with lower {level:.0%} limits for the {aim}
    compare_accuracies: difference of two accuracies
    crossovers: list sizes that reach the {bound} bound
    det: error rates of lists
    gain: true positive rates of lists
    gain_threshold: gains that correspond to a range of p-values
    isolines: possible points of lists
    needed_candidates: judgments and power, for a comparison of two precisions
    plan_annotation: planned judgments and power, for a comparison of two lists
    population_calibration: agreement of the sign of gains with all items, by one-sided p-value
    precision_recall: precision and recall of lists
    random_band: points that random rankings reach with probability p
    random_bound: true positives in random rankings
    random_cdf: distribution of true positives in random rankings
    random_test: tests against a random ranking
    repetition: variation of precision between samples
    roc: true and false positive rates of lists
    significant_ranges: list sizes with significant differences
    tie_sensitivity: p-values over orders of equal scores
handled
    agreement=majority: The label of a candidate is the majority vote of the annotators.
    agreement=any: A candidate is a true positive if any annotator says so.
    agreement=all: A candidate is a true positive if all annotators say so.
    agreement=each: Each annotator's labels were evaluated separately.
    n_tied_votes: Candidates with tied votes were omitted ({n_tied_votes:,}).
    groups: Rows with the same {} were treated as a cluster.
    n_groups: The data contain {n_groups:,} clusters.
    n_levels: The data contain {n_levels}.
    n_test_sets: The pairs are from {n_test_sets:,} random test sets of {size:,} items.
    strata: Scores are {average} averages over strata ({0}).
    weight: Each {} has the same weight.
    min_grade: Grades of at least {min_grade:g} count as relevant.
    seeds: Each system has several runs with different seeds (column {}).
    signature: The signature of sacrebleu is {signature}.
    ties=shared: Equal scores were ordered at random, in the same order for all measures.
    ties=trec: Equal scores were ordered by document name, as in trec_eval.
    ties=expected: Results are averages over all orders of equal scores.
    ties=best: Among equal scores, true positives were ranked first.
    ties=worst: Among equal scores, true positives were ranked last.
    missing=last: Candidates without a score were ranked last.
    missing=drop: Candidates without a score were omitted.
    missing=absent: Candidates without a score were not retrieved.
    missing=ratio: Scores are means over the items that have a score.
    unjudged=negative: Candidates without a label were treated as negatives.
    unjudged=skip: Candidates without a label were omitted.
    unjudged=estimate: The labels of unjudged candidates were estimated from judged candidates.
    unjudged=bounds: The limits allow for any labels of the unjudged candidates.
    undefined=zero: A metric counts as 0 for a query in which it is undefined.
    undefined=skip: Queries in which a metric is undefined are omitted from its mean.
    aim=precision: Thresholds are the lowest with a guaranteed precision of {precision:g}.
    aim=recall: Thresholds are the highest with a guaranteed recall of {recall:g}.
    aim=specificity: Thresholds are the lowest with a guaranteed specificity of {specificity:g}.
    aim=npv: Thresholds are the highest with a guaranteed negative predictive value of {npv:g}.
    also=recall: They are also guaranteed a recall of {recall:g}.
    also=specificity: They are also guaranteed a specificity of {specificity:g}.
    aim=youden: Thresholds maximize the Youden index.
    bound=discrete: Counts were compared with the {bound} bound of Macskassy (2005).
    bound=interpolated: Counts were compared with the {bound} bound of Macskassy (2005).
    bound=parametric: Counts were compared with the {bound} bound of Macskassy (2005).
    bound=critical: Counts were compared with the smallest count that is significant at p, in a
        separate test at each n, without adjustment.
    p: The nominal level of the bounds is p = {}.
    simultaneous=0: Each bound applies to a single n.
    simultaneous=1: The bounds apply jointly to all n in the table.
    population=finite: True positives in random rankings follow a hypergeometric distribution.
    population=infinite: True positives in random rankings follow a binomial distribution.
    n_keys: The p-values are from {n_keys:,} random orders of equal scores.
    power: The requested power is {power:g}.
    budget: The number of judgments was limited to {budget:,}.
    precisions: The plan is for precisions of {} in the two difference regions.
    overlap: The plan is for lists with precisions of {precision_a:g} and {precision_b:g} and an
        overlap of {overlap:g}.
    n_judged: The precisions are estimates from {n_judged:,} judged candidates for each list.
noun
    tpr: true positive rate
    fpr: false positive rate
    fnr: false negative rate
    share: share of candidates
    tp: true positives
    p_value: p-value
    youden: Youden index
    npv: negative predictive value
    f1: F1
    enrichment: lift
area
    ap: average precision
    roc: area under the ROC curve
    bedroc: BEDROC (α = {alpha:g})
    partial_area: standardized partial area under the ROC curve (up to an FPR of {fpr:g})
heading
    ci_low: lower limit
    measure_a: A
    measure_b: B
    system_a: A
    system_b: B
    tp: true positives
    p_value: p
    p_adjusted: adjusted p
    p_equivalence: p (equivalence)
    p_noninferior: p (non-inferiority)
    tpr: TPR
    fpr: FPR
    fn: false negatives
    tn: true negatives
    npv: NPV
    f1: F1
    youden: Youden index
    recall_low: lower limit of the recall
    specificity_low: lower limit of the specificity
column
    enrichment: lift
    bedroc: value
    coefficient: value
    probability: agreement
    true-positives: tp
    gain_threshold: threshold
    per_query: value
    compare_accuracies: gain
caveat
    target=unjudged: The intervals allow only for the unjudged candidates of these lists. Tests, and
        intervals for lists that are judged completely, generalize to other samples of candidates.
    n_tied_votes: Candidates with tied votes of the annotators were omitted ({n_tied_votes:,}).
    n_outside_bins=1: One pair has a p-value outside the bins.
    n_outside_bins: {n_outside_bins:,} pairs have p-values outside the bins.
    n_ending_in_tie=1: In one row, a list ends inside a tie.
    n_ending_in_tie: In {n_ending_in_tie:,} rows, a list ends inside a tie.
    p_adjusted=rounded up: Adjusted p-values are exact, or rounded up to the next exact p-value.
    n_grid: There are too many candidates to compute every n. The results are for {n_grid:,} values
        of n; above n = 70, consecutive values differ by at most about 1%.
    pool=retrieved: The chance level is the value for a random order of the candidates that each
        measure retrieved.
    pool: The chance level is the value for a random draw from a collection of {pool:,} candidates
        in each group.
    n_lacking=1: If a run retrieved no documents for a query, its value is 0 (up to 1 query).
    n_lacking: If a run retrieved no documents for a query, its value is 0 (up to {n_lacking:,}
        queries).
    n_undefined=1: A metric that is undefined for a query, such as recall if no document is
        relevant, counts as 0 (up to 1 query).
    n_undefined: A metric that is undefined for a query, such as recall if no document is
        relevant, counts as 0 (up to {n_undefined:,} queries).
    n_tied=1: One list per run ends inside a tie.
    n_tied: Up to {n_tied:,} lists per run end inside a tie.
    judged_low: In the run with the fewest judgments, {judged_low:.0%} of the documents up to the
        cutoff are judged.
    depth_low: The longest lists in the runs contain {depth_low:,} to {depth_high:,} documents.
    seed_variance=pooled: The variance between seeds is pooled over all {n_systems} systems.
"""


def _sections(text: str) -> Iterator[dict[str, str]]:
    """Return the entries under each heading."""
    entries: dict[str, str] = {}
    for line in text.replace("\n        ", " ").splitlines():
        name, colon, words = line.strip().partition(": ")
        if colon:
            entries[name] = words
        else:
            entries = {}
            yield entries


ADJUSTED, TESTS, INTERVALS, TARGETS, TESTED, TITLES, HANDLED, *_more = _sections(_WORDS)
NOUNS, _AREAS, HEADINGS, COLUMNS, CAVEATS = _more

DRAWN = "permutation wild hall recentred strict zero".split()  # exact laws if nothing was drawn

_NO_PERCENT = ("lift", "enrichment", "score", "gain", "area", "threshold", "coefficient")


def called(attrs: Attrs) -> tuple[str, bool]:
    """Return the name of the quantity in a record, and whether to use percent."""
    metric, weight = attrs.get("metric"), attrs.get("weight")
    quantity = str(attrs.get("quantity", "score"))
    area = _AREAS.get(str(attrs.get("kind", attrs.get("method"))))
    if area and quantity not in NOUNS:  # rather than a height of the ROC curve
        return area.format_map(attrs), False
    if metric is None:
        return NOUNS.get(quantity, quantity).replace("-", " "), quantity not in _NO_PERCENT
    text = WRITTEN.get(metric, str(metric))
    if metric == "mean":
        text = f"mean {attrs.get('of', 'score')}"
        if weight is not None:
            text += f" over {weight}s"
    elif weight == "group":
        text += " with equal group weights"
    return text, metric in PERCENT_METRICS


def noun_of(attrs: Attrs) -> str:
    """Return what a record calls the things that are ranked: measure, system or run."""
    return str(attrs.get("noun", "measure"))


def handled(attrs: Attrs, roles: Container[str] = ()) -> Iterator[str]:
    """Write a sentence for each of these roles in a record, or for all."""
    for role, text in HANDLED.items():
        name, _, value = role.partition("=")
        given = attrs.get(name)
        if (not roles or name in roles) and given is not None and value in ("", str(given)):
            if noun_of(attrs) == "run":
                text = text.replace("Candidates", "Documents").replace("negatives", "not relevant")
            last = {"groups": " or "}.get(name, " and ")  # rows of a cluster share one factor
            yield text.format(listed_of(attrs, name, last), **attrs)


def listed_of(attrs: Attrs, role: str, last: str = " and ") -> str:
    """Return the column, or the columns, of a role in a record, or ""."""
    return last.join(map(str, listed_in(attrs, role)))


def least_p(attrs: Attrs) -> float:
    """Return the smallest possible p-value for the number of draws, or 0."""
    draws = attrs.get("n_resamples")
    drawn = str(attrs.get("adjust", "")).startswith("max-t") or attrs.get("test") in DRAWN
    if not draws or not drawn:
        return 0.0
    return 1.0 / (float(draws) + 1.0)


def over_of(attrs: Attrs) -> str:
    """Return what an average is over, or ""."""
    if "average" not in attrs:
        return ""
    over = listed_of(attrs, "by") or "query"
    if "strata" in attrs:
        over = f"strata ({listed_of(attrs, 'strata')})"
    return f"{attrs['average']} average over {over}"


def drawn_of(attrs: Attrs) -> str:
    """Return the number of resamples and the seed in a record, or ""."""
    if not attrs.get("n_resamples"):
        return ""
    text = f"{attrs['n_resamples']:,} resamples"
    if attrs.get("test") == "swaps":  # the number differs between pairs
        text = f"up to {text}"
    return text + f" (random seed {attrs.get('seed')})" * ("seed" in attrs)


def alpha_of(attrs: Attrs) -> float:
    """Return the significance level of the tests in a table."""
    return float(attrs.get("alpha", 1.0 - attrs.get("level", 0.95)))


def level_of(attrs: Attrs) -> str:
    """Return the confidence level of the intervals in a table."""
    return percent_of(attrs.get("level", 0.95))


def is_lower_better(attrs: Attrs) -> bool:
    """Return whether the metric in a table is better if it is lower."""
    return bool(attrs.get("higher_is_better") == 0)


def extreme_of(attrs: Attrs) -> str:
    """Return "highest" or "lowest", whichever describes the best value."""
    return {True: "lowest", False: "highest"}[is_lower_better(attrs)]


#: matches a family with a single test
_ALONE = re.compile(
    r"1 pair( (at|in|for) each \w+)*|1 comparison with (?!.* (sizes|every n|all \d+))\S.*"
)


def adjustment(attrs: Attrs, *, brief: bool = False) -> str:
    """Describe the adjustment (unless brief) and the family of p-values, or return ""."""
    method = attrs.get("adjust")
    if method is None or _ALONE.fullmatch(str(attrs.get("family"))):
        return ""
    family = f" for {attrs.get('family')}" * ("family" in attrs)
    if brief and family:
        return f"adjusted{family}"
    if str(method).startswith("max-t") and attrs.get("test") == "swaps" and "1 pair" not in family:
        over = {"max-t": "Bonferroni"}.get(method, "step-down")
        return f"adjusted{family} by max-t within each pair and {over} across pairs"
    return f"adjusted{family} by {ADJUSTED.get(method, method)}"


#: methods whose rows are pairs, with intervals for differences
PAIRED = (
    "compare compare_thresholds compare_area unpaired_area judged_difference difference_band"
    " paired_bootstrap paired_permutation gain_by_size"
).split()

#: methods with intervals for differences
DIFFERENCES = (*PAIRED, "compare_accuracies")


def laws_of(attrs: Attrs) -> str:
    """Return the names of the laws of the intervals in a record, or ""."""
    names = str(attrs.get("interval") or "").split(", ")
    text = join(INTERVALS.get(name, name) for name in names)
    if attrs.get("phi", 1.0) != 1.0:
        text += f" (overdispersion {attrs['phi']:.3g})"
    return text


def side_of(attrs: Attrs) -> str:
    """Return whether the tests in a record are two-sided, or their alternative."""
    side = str(attrs.get("alternative", "two-sided"))
    if side == "two-sided":
        return side
    return f"one-sided ({side})"


def intervals_of(attrs: Attrs) -> str:
    """Return the name of the intervals, for values or else for differences, or ""."""
    kind = laws_of(attrs) * _has_laws(attrs)
    if attrs["method"] not in DIFFERENCES and "baseline" not in attrs:
        return f"{attrs.get('intervals', '')} {kind}".strip()
    side = "one-sided" * (side_of(attrs) != "two-sided")
    return " ".join(filter(None, [side, scope_of(attrs), kind]))


def _has_laws(attrs: Attrs) -> bool:
    """Return whether the intervals of a table follow the laws in its record."""
    if attrs.get("method") not in DIFFERENCES:
        return "baseline" not in attrs  # the record names the law of the values
    return scope_of(attrs) != "simultaneous" or attrs["adjust"] in ("holm", "bonferroni")


def target_of(attrs: Attrs) -> str:
    """Return what the intervals of lists cover, or ""."""
    if attrs.get("average"):
        return ""
    return TARGETS.get(str(attrs.get("target")), "") * _has_laws(attrs)


def are_bounds(attrs: Attrs) -> bool:
    """Return whether the limits allow for any labels, so that they have no confidence level."""
    return attrs.get("unjudged") == "bounds" and not attrs.get("average")


def with_youden(text: str, columns: Container[str], attrs: Attrs) -> str:
    """Add the law of the limits for the Youden index to the name of the other intervals."""
    law = INTERVALS.get(str(attrs.get("interval_youden")))
    return text + f" ({law} for the Youden index)" * bool(law and "youden_low" in columns)


def scope_of(attrs: Attrs) -> str:
    """Return whether the intervals of differences are adjusted, and how, or ""."""
    if not adjustment(attrs):
        return ""
    if attrs["adjust"] in ("bh", "by"):
        return "adjusted (false coverage rate)"
    return "simultaneous"


P_VALUES = ("p_adjusted", "p_value")
MARGIN_P = ("p_equivalence", "p_noninferior")


def margin_of(attrs: Attrs, *, percent: bool) -> str:
    """Return the margin in a record, in points if the difference is in percent."""
    if not percent:
        return f"{attrs['margin']:.6g}"
    within = f"{100.0 * attrs['margin']:.6g}"
    return within + agree(float(within), " point", " points")


def known(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the names that are columns in the table."""
    return [name for name in names if name in frame.columns]


def first_of(columns: Any, names: Iterable[str]) -> str:
    """Return the first of the names that is a column, or ""."""
    return next((name for name in names if name in columns), "")


def check_columns(frame: pd.DataFrame, *needed: str) -> None:
    """Raise an error unless a table has the columns, each under one of its names."""
    lacking = [names for names in needed if not first_of(frame, names.split("/"))]
    if lacking:
        raise no_columns(lacking)


def no_columns(names: Iterable[Any]) -> ValueError:
    """Return the error for a table without columns that sentences need."""
    return ValueError(
        f"table has no column {', '.join(map(str, names))}, which sentences need under this name."
        " Pass the result of a method, or rows of it with these columns: result.iloc[[0]]."
    )


MOST = 8  # largest number of rows for which each row gets a sentence
