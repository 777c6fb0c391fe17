"""Write results as sentences, with the methods that were used."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_attrs, check_flag, checked_call, listed, no_table
from rankeval_pd.stats import WRITTEN, rejects
from rankeval_pd.tables import listed_in, rows_in

# ---- Format numbers, nouns and sentences for papers

PERCENT_METRICS = ("accuracy", "precision", "recall", "f1")
#: columns with proportions, which are shown in percent
SHARES = (
    "precision recall tpr fpr fnr power power_low power_high agreement specificity npv share"
    " expected_agreement"
).split()
_DIGITS = 3  # largest number of significant digits

Attrs = Mapping[Any, Any]


class Unit(NamedTuple):
    """Store the format of a column: percent or plain numbers, and decimals."""

    percent: bool
    decimals: int

    def number(self, value: float) -> str:
        """Return a number without a unit."""
        if not math.isfinite(value):
            return {math.inf: "∞", -math.inf: "−∞"}.get(value, "–")
        if self.percent:
            value *= 100.0
        text = f"{value:.{self.decimals}f}"
        if not float(text):
            return text.replace("-", "")
        return text.replace("-", "−")

    def value(self, value: float) -> str:
        """Return a value with a unit."""
        return self.number(value) + "%" * self.percent

    def limits(self, low: float, high: float) -> str:
        """Return an interval with a unit. One-sided intervals have one limit."""
        if math.isinf(high):
            return f"at least {self.value(low)}"
        if math.isinf(low):
            return f"at most {self.value(high)}"
        return f"{self.value(low)} to {self.value(high)}"

    def gap(self, difference: float) -> str:
        """Return the size of a difference with a unit."""
        return self.number(abs(difference)) + " points" * self.percent

    def gaps(self, low: float, high: float) -> str:
        """Return the interval for a difference."""
        plain = self.limits(low, high).replace("%", "")
        return plain + " points" * self.percent


def unit_of(
    values: Iterable[Any], widths: Iterable[Any], *, percent: bool, digits: int | None = None
) -> Unit:
    """Return the unit of a column, with a last decimal place of at least width / 40.

    Numbers have at most three significant digits, or exactly three if there are no intervals.
    """
    if digits is not None:
        return Unit(bool(percent), digits)
    factor = {True: 100.0, False: 1.0}[percent]
    known, wide = (factor * np.abs(np.asarray(x, dtype=float)) for x in (values, widths))
    known, wide = known[np.isfinite(known)], wide[np.isfinite(wide) & (wide > 0.0)]
    largest = known.max(initial=0.0) or wide.max(initial=0.0) or 1.0
    decimals = most = max(0, _DIGITS - 1 - math.floor(math.log10(largest)))
    if wide.size:
        decimals = math.ceil(-math.log10(float(np.median(wide)) / 40.0))
    return Unit(bool(percent), min(max(decimals, 0), most))


def column_unit(
    frame: pd.DataFrame, name: Any, low: str, *, percent: bool, digits: int | None = None
) -> Unit:
    """Return the unit of a column, given the column with its lower limits, or ""."""
    widths: Any = []
    if low:
        widths = frame[low.removesuffix("low") + "high"] - frame[low]
    return unit_of(frame[name], widths, percent=percent, digits=digits)


def p_text(p: float, *, least: float = 0.0, alpha: float = 0.05) -> str:
    """Return "p = 0.003", "p < 0.001", or "p ≤ 0.0002" if p cannot be smaller."""
    if math.isnan(p):
        return "no test"
    if least > 0.0 and p <= least * (1.0 + 1e-9):
        return f"p ≤ {_bound_text(least)}"
    if p < 0.001:
        return "p < 0.001"
    decimals = 2 + (p < 0.1)
    while rejects(float(f"{p:.{decimals}f}"), alpha) != rejects(p, alpha) and decimals < 12:
        decimals += 1
    text = f"{p:.{decimals}f}"
    if float(text) >= 1.0 > p + 1e-9:
        return "p > 0.99"
    return f"p = {text}"


def _bound_text(p: float) -> str:
    """Round a bound up to one or two significant digits, whichever is closer."""
    place = -math.floor(math.log10(p))
    if math.ceil(p * 10.0**place * (1.0 - 1e-9)) > 1.01 * p * 10.0**place:
        place += 1
    rounded = math.ceil(p * 10.0**place * (1.0 - 1e-9)) / 10.0**place
    return f"{rounded:.{place}f}".rstrip("0")


def p_cell(p: float, *, least: float = 0.0) -> str:
    """Format a p-value for a column with the header p."""
    if math.isnan(p):
        return ""
    return p_text(p, least=least).removeprefix("p ").removeprefix("= ")


def least_p(attrs: Attrs) -> float:
    """Return the smallest possible p-value for the number of draws, or 0."""
    draws = attrs.get("n_resamples")
    drawn = str(attrs.get("adjust", "")).startswith("max-t") or "event" in attrs
    if not draws or not drawn:
        return 0.0
    return 1.0 / (float(draws) + 1.0)


def margin_words(row: Mapping[Any, Any], a: Any, b: Any, *, percent: bool, attrs: Attrs) -> str:
    """Return a sentence about the margin for two names, or ""."""
    name = first_of(row, ("p_equivalence", "p_noninferior"))
    if not name or pd.isna(row[name]):
        return ""
    within = f"{attrs['margin']:.6g}"
    if percent:
        within = f"{100.0 * attrs['margin']:.6g}"
        within += agree(float(within), " point", " points")
    alpha = alpha_of(attrs)
    if name == "p_equivalence":
        text = f"{a} and {b} are equivalent within {within}"
    else:
        if attrs.get("alternative") == "less":
            a, b = b, a
        text = f"{a} is not worse than {b} by {within} or more"
    if not rejects(row[name], alpha):
        text = f"The data do not show that {text}"
    return f" {text} ({p_text(row[name], alpha=alpha)})."


def percent_of(share: float) -> str:
    """Return a level as a percentage, such as 95% or 99.9%."""
    return f"{100.0 * share:.7g}%"


def alpha_of(attrs: Attrs) -> float:
    """Return the significance level of the tests in a table."""
    return float(attrs.get("alpha", 1.0 - attrs.get("level", 0.95)))


def level_of(attrs: Attrs) -> str:
    """Return the confidence level of the intervals in a table."""
    return percent_of(attrs.get("level", 0.95))


def join(names: Iterable[Any], last: str = "and", *, most: int = 6, noun: str = "others") -> str:
    """Join names for a sentence, or return a count and a noun if there are many."""
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{len(texts)} {noun}"
    if len(texts) < 3:
        return f" {last} ".join(texts)
    return f"{', '.join(texts[:-1])}, {last} {texts[-1]}"


def is_lower_better(attrs: Attrs) -> bool:
    """Return whether the metric in a table is better if it is lower."""
    return bool(attrs.get("higher_is_better") == 0)


def extreme_of(attrs: Attrs) -> str:
    """Return "highest" or "lowest", whichever describes the best value."""
    return {True: "lowest", False: "highest"}[is_lower_better(attrs)]


def agree(count: float, singular: str, plural: str) -> str:
    """Return the form of a word that agrees with a count."""
    if count == 1:
        return singular
    return plural


ADJUSTED = {
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "bh": "the method of Benjamini and Hochberg",
    "by": "the method of Benjamini and Yekutieli",
    "max-t": "the single-step max-t method",
    "max-t-stepdown": "the step-down max-t method",
    "envelope": "a simultaneous envelope",
}
TESTS = {
    "fisher": "Fisher's exact test",
    "midp": "the mid-p version of Fisher's test",
    "mcnemar": "McNemar's exact test",
    "score": "the score test",
    "kosinski": (
        "Kosinski's weighted generalized score test, with half counts and an allowance for skewness"
    ),
    "stratified": "the exact Cochran–Mantel–Haenszel test",
    "cluster": "a cluster-robust t test",
    "groups": "Student's t test over the groups",
    "t": "the paired t test",
    "welch": "Welch's t test",
    "delong": "DeLong's test",
    "hypergeometric": "hypergeometric tests",
    "pearson": "Pearson's chi-squared test given the total of true positives",
    "swaps": "random swaps of the candidates that are in only one of the two lists",
    "permutation": "approximate randomization",
    "unconditional": "an unconditional exact test of the items that only one system gets right",
    "hall": "random signs of the paired differences, with Hall's correction for skewness",
    "proportions": "the distribution of a difference between two dependent proportions",
    "wilcoxon": (
        "Wilcoxon's signed-rank test, with Hodges–Lehmann estimates and limits for the gains"
    ),
    "wild": "a wild bootstrap (random signs of the paired differences)",
    "recentred": "the paired bootstrap of Berg-Kirkpatrick et al. (2012)",
    "strict": "the paired bootstrap as written in Berg-Kirkpatrick et al. (2012, figure 1)",
    "zero": "a paired bootstrap (share of gains below 0)",
    "crossed": "a t test with a variance for each of two crossed factors",
    "seeds": "a t test with separate variances for items and training seeds (Welch and Cochran)",
}
_DRAWN = "permutation wild hall recentred strict zero".split()
HANDLED = {
    "groups": "Rows with the same {} were treated as a cluster.",
    "weight": "Each {} has the same weight.",
    "ties": "Ties were handled with the option {!r}.",
    "missing": "Missing scores were handled with the option {!r}.",
    "unjudged": "Unjudged candidates were handled with the option {!r}.",
    "undefined": "Undefined metrics were handled with the option {!r}.",
}
INTERVALS = {
    "clopper-pearson": "Clopper–Pearson",
    "wilson": "Wilson",
    "jeffreys": "Jeffreys",
    "newcombe": "Newcombe",
    "delong": "DeLong",
    "wild": "wild bootstrap",
    "gaffke": "Gaffke",
    "hall": "Hall",
    "percentile": "percentile bootstrap",
    "basic": "basic bootstrap",
    "tango": "Tango",
    "hodges-lehmann": "Hodges–Lehmann",
    "student": "Student's t",
    "korn-graubard": "Korn-Graubard",
    "order": "order-statistic",
    "systems": "system bootstrap",
}
#: what the intervals of n-best lists cover
TARGETS = {
    "region": "for fixed thresholds",
    "nbest": "for n-best lists",
    "both": "for fixed thresholds and n-best lists (the wider limits)",
}
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
    if str(method).startswith("max-t") and _of_lists(attrs) and "1 pair" not in family:
        over = {"max-t": "Bonferroni"}.get(method, "step-down")
        return f"adjusted{family} by max-t within each pair and {over} across pairs"
    return f"adjusted{family} by {ADJUSTED.get(method, method)}"


def _of_lists(attrs: Attrs) -> bool:
    """Return whether swaps are drawn separately for each pair of n-best lists."""
    listed = ("compare", "summary", "measure_ranks", "significant_ranges")
    of_systems = "n_items" in attrs or "n_queries" in attrs
    return attrs.get("method") in listed and not of_systems and "kind" not in attrs


def intervals_of(attrs: Attrs, *, gaps: bool) -> str:
    """Return the name of the intervals for values or differences, or ""."""
    kind = join(INTERVALS.get(x, x) for x in str(attrs.get("interval", "")).split(", ") if x)
    if not gaps:
        return f"{attrs.get('intervals', '')} {kind}".strip()
    if not adjustment(attrs):
        return kind * ("baseline" not in attrs)
    method = str(attrs["adjust"])
    if method.startswith("max-t"):
        return "simultaneous"
    what = "adjusted (false coverage rate)"
    if method in ("holm", "bonferroni"):
        what = "simultaneous"
    return f"{what} {kind * ('baseline' not in attrs)}".rstrip()


def letter_sets(letters: Iterable[Any]) -> list[set[str]]:
    """Return the letters for each row of a compact letter display."""
    texts = [str(text) for text in letters]
    if any(" " in text or len({*text}) < len(text) for text in texts):  # aa ab, ... after z
        return [{*text.split()} for text in texts]
    return [{*text} for text in texts]


_AREAS = {
    "ap": "average precision",
    "roc": "area under the ROC curve",
    "bedroc": "BEDROC",
    "partial_area": "standardized partial area under the ROC curve",
}


def called(attrs: Attrs) -> tuple[str, bool]:
    """Return the name of the compared quantity, and whether to use percent."""
    metric, weight = attrs.get("metric"), attrs.get("weight")
    if area := _AREAS.get(attrs.get("kind", attrs.get("method"))):
        return area, False
    if metric is None:
        of = str(attrs.get("of", "precision"))
        if "event" in attrs:
            of = "score"
        return of, of not in ("lift", "score")
    text = WRITTEN.get(metric, str(metric))
    if metric == "mean":
        text = f"mean {attrs.get('of', 'score')}"
        if weight is not None:
            text += f" over {weight}s"
    elif weight == "group":
        text += " with equal group weights"
    return text, metric in PERCENT_METRICS


_OTHER_LIMITS = ("rank_low", "p_low", "phi_low", "icc_low")
_TESTED = {
    "area": "Areas were tested against one half with",
    "random_test": "True-positive counts were tested against a random ranking using",
    "repetition": "Variation between samples was tested with",
}


def methods_section(frame: pd.DataFrame, attrs: Attrs) -> str:
    """Describe how a table was computed."""
    check_attrs(attrs)
    method = str(attrs["method"])
    made = f"The table was made with `{method}` of rankeval_pd {attrs.get('version', '')}"
    if "n" in frame:
        made += f" at n = {sizes_text(frame['n'].tolist())}"
    sentences = [f"{made}."]
    if known(frame, ("p_value", "p_adjusted", "rank_low", "p_max", "p_dispersion")):
        side = attrs.get("alternative", "two-sided")
        what = _TESTED.get(method, "Differences were tested with")
        if method in ("random_test", "repetition"):
            side = "more"
        sentences.append(f"{what} {_test_of(attrs)}.")
        if side != "two-sided":
            side = f"one-sided ({side})"
        how = adjustment(attrs) or "unadjusted"
        level = f"with a significance level of {percent_of(alpha_of(attrs))}"
        sentences.append(f"The tests were {side} and {how}, {level}.")
    if "margin" in attrs:
        what = {"two-sided": "Equivalence"}.get(attrs.get("alternative", ""), "Non-inferiority")
        margin = f"with a margin of {attrs['margin']:g}, without adjustment"
        sentences.append(f"{what} was tested {margin}.")
    limits = [str(x) for x in frame if str(x).endswith("_low") and x not in _OTHER_LIMITS]
    if "level" in attrs and limits:
        gaps = bool(known(frame, ("difference", "gain"))) and limits != ["ci_low", "value_low"]
        name = f"{intervals_of(attrs, gaps=gaps)} intervals".lstrip()
        if not attrs.get("average"):
            name = f"{name} {TARGETS.get(str(attrs.get('target')), '')}".rstrip()
        name = f"{name[0].upper()}{name[1:]}"
        sentences.append(f"{name} have a confidence level of {level_of(attrs)}.")
    if attrs.get("n_resamples"):
        drawn = f"{attrs['n_resamples']:,} resamples were drawn"
        if _of_lists(attrs):  # the number differs between pairs
            drawn = f"Up to {drawn}"
        if "seed" in attrs:
            drawn += f" (seed {attrs['seed']})"
        sentences.append(f"{drawn}.")
    for role, text in HANDLED.items():
        if attrs.get(role) is not None:
            sentences.append(text.format(" or ".join(map(str, listed_in(attrs, role)))))
    return " ".join(sentences)


def _test_of(attrs: Attrs) -> str:
    """Return the name of the test for the differences in a table."""
    method, drawn = attrs["method"], bool(attrs.get("n_resamples"))
    if method == "unpaired_area":
        test = "welch"
    elif "test" in attrs:
        test = attrs["test"]
    elif "kind" in attrs:
        test = "delong"
    elif attrs.get("average"):
        test = "groups"
    elif attrs.get("combine"):
        test = "stratified"
    elif drawn:
        test = "swaps"
    else:
        test = "fisher"
    exactly = ", computed exactly" * (not drawn)
    names = [TESTS[name] + exactly * (name in _DRAWN) for name in test.split(", ")]
    return " or ".join(names)


def sizes_text(sizes: Sequence[int]) -> str:
    """Format list sizes for a sentence, or give a count and a range if there are many."""
    ordered = sorted(dict.fromkeys(sizes))
    if len(ordered) > 6:
        return f"{len(ordered):,} sizes from {ordered[0]:,} to {ordered[-1]:,}"
    return join(f"{size:,}" for size in ordered)


def known(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the names that are columns in the table."""
    return [name for name in names if name in frame.columns]


P_VALUES = ("p_adjusted", "p_value")


def first_of(columns: Any, names: Iterable[str]) -> str:
    """Return the first of the names that is a column, or ""."""
    return next((name for name in names if name in columns), "")


#: columns of a table, and the sentence for its rows, indented; the first match is used
_SENTENCES = """\
statistic annotators value n_candidates
    {statistic} for {annotators} is {value} ({ci}), based on {n_candidates} candidates.
measure n precision ci_low n_judged
    With {n_judged} judged and {n_unjudged} unjudged candidates in the {n}-best list of {measure},
    the precision of the list is estimated at {precision} ({ci}).
measure n recall ci_low n_judged
    With {n_judged} judged and {n_unjudged} unjudged candidates in the {n}-best list of {measure},
    the recall of the list is estimated at {recall} ({ci}).
measure n tp precision ci_low_best
    The {n}-best list of {measure} contains {tp} true positives. The precision is {precision}
    ({ci}), {lift} times the chance level.
measure n tp recall lift
    The {n}-best list of {measure} contains {tp} true positives. The recall is {recall} ({ci}),
    {lift} times the chance level.
measure n tp precision lift
    The {n}-best list of {measure} contains {tp} true positives. The precision is {precision}
    ({ci}), {lift} times the chance level.
measure threshold n_accepted tp precision recall ci_high
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. The precision is {precision} ({ci}) and the recall is {recall}.
measure threshold n_accepted tp precision recall
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. The precision is {precision} and the recall is {recall}. With {level} confidence, the
    requested rate is at least {least}.
measure n_samples n_mean precision
    Over {n_samples} samples, {measure} accepts {n_mean} candidates on average with a precision of
    {precision}. The standard deviation between samples is {sd_observed}, compared with an expected
    {sd_expected} (φ = {phi}, intra-sample correlation {icc}, one-sided {p_dispersion}).
measure share n tp lift ci_low
    The top {share} of {measure} ({n} candidates) contain {tp} true positives, {lift} times as many
    as expected by chance ({ci}).
measure area chance
    The {noun} of {measure} is {area} ({ci}; chance level {chance}).
measure value chance
    The {noun} of {measure} is {value} ({ci}; chance level {chance}).
measure n tp expected lift p_value
    At n = {n}, {measure} has {tp} true positives, {lift} times the {expected} expected by chance
    ({p_value}).
p n expected critical
    At n = {n}, a random ranking has {expected} true positives on average. A count of {critical} or
    more has p ≤ {p}.
measure n precision
    At n = {n}, the precision of {measure} is {precision} ({ci}).
measure n recall
    At n = {n}, the recall of {measure} is {recall} ({ci}).
measure p n_first n_last
    {measure} is better than chance (p ≤ {p}) from n = {n_first} to n = {n_last}.
measure_a measure_b n_more power
    With {n_more} judgments added to the existing {n_judged}, the comparison of {measure_a} and
    {measure_b} at n = {n} has a power of {power}.
n n_judgements power_low
    With list size n = {n} and {n_judgements} judgments, the power is {power} on average over the
    precisions compatible with the pilot sample (from {power_low} to {power_high}).
n n_judgements power
    With list size n = {n} and {n_judgements} judgments, the power is {power}.
measure_a measure_b n p_min p_median p_max
    At n = {n}, the p-value for {measure_a} against {measure_b} over random orders of equal scores
    lies between {p_min} and {p_max} (median {p_median}).
threshold n_pairs threshold_all_pairs
    The requested quantile of the {n_pairs} gains with {side} p-values in the window is {threshold}
    ({ci}), and the threshold from all pairs is {threshold_all_pairs}.
threshold n_pairs
    The requested quantile of the {n_pairs} gains with {side} p-values in the window is {threshold}
    ({ci}).
p_low p_high n_pairs agreement
    Of {n_pairs} pairs with one-sided p between {p_low} and {p_high}, {agreement} keep the sign of
    the gain ({ci}; {expected_agreement} expected).
gain p_low p_high
    The gain is {gain} ({ci}). The p-value lies between {p_low} and {p_high}, depending on the
    number of items that both systems answer correctly. {verdict}
measure metric value
    The mean {metric} of {measure} over {queries} queries is {value}.
"""
NOUNS = {
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "share": "share of candidates",
    "tp": "true positives",
    "p_value": "p-value",
}


# ---- Write a sentence for each row of a table

MOST = 8  # largest number of rows for which each row gets a sentence

Row = dict[Any, Any]


def row_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write a sentence for each row of a table, and shorten long tables."""
    if {"measure", "metric", "value"} <= {*frame}:
        means = frame.groupby(["metric", "measure"], sort=False, observed=True)["value"]
        frame = means.agg(["mean", "count"]).reset_index()
        frame = frame.rename(columns={"mean": "value", "count": "queries"})
    if "n_pairs" in frame:
        frame = frame[frame["n_pairs"] > 0]
    if not len(frame):
        yield "The table has no rows with data."
        return
    # the group columns stand before the names
    names = [*frame]
    before = names[: names.index(first_of(frame, ("measure_a", "measure")) or names[0])]
    sentences = re.findall(r"(?m)^(\S.*)\n((?: +.*\n)+)", _SENTENCES)
    fitting = (text for needed, text in sentences if {*needed.split()} <= {*frame})
    sentence = " ".join(next(fitting, "").split())
    units = {name: _row_unit(frame, name, attrs) for name in frame.select_dtypes("number")}
    shown = first_and_last(frame)
    for row in shown.to_dict("records"):
        where = "".join(f"For {name} {row[name]}: " for name in before if name not in units)
        yield where + _row(row, units, sentence, attrs)
    left = len(frame) - len(shown)
    if left:
        yield f"The table has {left:,} more rows."
    if "p_value" in frame and frame["p_value"].count() > 1 and "adjust" not in attrs:
        yield "The p-values are unadjusted."


def _row_unit(frame: pd.DataFrame, name: Any, attrs: Attrs) -> Unit:
    """Return the unit of a column, with enough decimals for the interval."""
    if pd.api.types.is_integer_dtype(frame[name]):
        return Unit(percent=False, decimals=0)
    if name == "expected":
        return Unit(percent=False, decimals=2)
    estimate, limits = _estimate(frame)
    two_sided = name == estimate and f"{limits}_high" in frame
    percent = name in (*SHARES, "sd_observed", "sd_expected")
    percent |= name in ("difference", "gain") and called(attrs)[1]
    return column_unit(frame, name, f"{limits}_low" * two_sided, percent=percent)


_ESTIMATES = "area value gain agreement precision recall lift threshold".split()


def _estimate(columns: Any) -> tuple[str, str]:
    """Return the first estimate among columns, and the start of the names of its limits, or ""."""
    name = first_of(columns, _ESTIMATES)
    return name, next((x for x in (name, "ci", "band") if f"{x}_low" in columns), "")


def _row(row: Row, units: Mapping[Any, Unit], sentence: str, attrs: Attrs) -> str:
    """Write a row as a sentence, or as a list of labeled numbers."""
    texts = dict(row)
    for name, unit in units.items():
        texts[name] = _number(row, name, unit)
    estimate, limits = _estimate(row)
    if estimate and limits:
        ends, unit = (row[f"{limits}_low"], row.get(f"{limits}_high", math.inf)), units[estimate]
        shown = unit.limits(*ends)
        if estimate == "gain":
            shown = unit.gaps(*ends)
        if math.isnan(ends[0]):
            shown = _NONE
        texts["least"] = unit.value(ends[0])
        texts["ci"] = f"{level_of(attrs)} interval {shown}"
        if limits == "band":
            texts["ci"] = f"simultaneous {level_of(attrs)} band {shown}"
    if "gain" in row and "p_low" in row:
        texts["verdict"] = _bounded(row, alpha_of(attrs))
    side = {"greater": "one-sided"}.get(str(attrs.get("alternative")), "two-sided")
    texts |= {"noun": called(attrs)[0], "level": level_of(attrs), "side": side}
    end = " The list ends inside a tie." * bool(row.get("tied"))
    if row.get("threshold_high") == math.inf:
        end = " With so few gains, this quantile tends to be too low: report the other threshold."
    if "n_accepted" in row and texts.get("threshold") == _NONE:
        return f"No threshold for {row['measure']} reaches the requested value."
    if sentence:
        text = _ONE.sub(r"1 \1", sentence.format_map(defaultdict(lambda: _NONE, texts))) + end
        for unknown, told in _UNKNOWN:
            text = re.sub(unknown, told, text)
        return text
    parts = []
    for name in units:
        if not str(name).endswith(("_low", "_high")):
            part = f"{NOUNS.get(name, str(name).replace('_', ' '))} = {texts[name]}"
            parts.append(part + f" ({texts.get('ci')})" * (name == estimate and bool(limits)))
    text = f"{join(parts, most=12)}.{end}"
    if "measure" in row:
        return f"{row['measure']}: {text}"
    return text


def _number(row: Row, name: Any, unit: Unit) -> str:
    """Write a number of a row as its column is printed."""
    value = row[name]
    plain = {True: ("p", "alpha", "p_low", "p_high"), False: ("p", "alpha", "threshold")}
    if name in ("p_value", "p_dispersion"):
        return p_text(value)
    if math.isnan(value):
        return _NONE
    if name in plain["n_pairs" in row]:
        return f"{value:.4g}"
    if str(name).startswith("p_") and name != "p_stderr":
        return p_cell(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if name in ("difference", "gain"):
        return unit.value(value).replace("%", " points")
    return unit.value(value)


_ONE = re.compile(r"\b1 ((?:judged )?(?:true positive|candidate|gain|judgment|pair|sample))s\b")


def _bounded(row: Row, alpha: float) -> str:
    """Return the conclusion that the bounds on a p-value allow."""
    at = f"significant at the {percent_of(alpha)} level"
    if row["p_low"] == row["p_high"]:
        return f"The gain is {'not ' * bool(row['p_high'] > alpha)}{at}."
    if row["p_high"] <= alpha:
        return f"The gain is {at} in both cases."
    if row["p_low"] > alpha:
        return f"The gain cannot be {at}."
    return f"This number determines whether the gain is {at}."


_NONE = "not available"
#: text to omit if the estimate is missing
_UNKNOWN = (
    (rf" \({_NONE}\)", ""),
    (rf"is estimated at {_NONE}( \([^)]*\))?", "cannot be estimated"),
    (rf"({_NONE}) \(\d[^)]*\)", r"\1"),
    (
        r"The p-value lies between (\S+) and \1, depending on the number of items .* correctly",
        r"The p-value is \1",
    ),
    (rf", {_NONE} times( the chance level| as many as expected by chance \([^)]*\))", ""),
)


def first_and_last(frame: pd.DataFrame) -> pd.DataFrame:
    """Return all rows, or for long tables the first and last rows for a few measures."""
    if len(frame) <= MOST:
        return frame
    names = known(frame, ("measure", "measure_a", "measure_b", "system_a", "system_b", "metric"))
    if not names:
        return frame.iloc[[0, -1]]
    number = frame.groupby(names, sort=False, observed=True).ngroup()
    ends = frame[~number.duplicated() | ~number.duplicated(keep="last")]
    return ends.iloc[:MOST]


# ---- Write tables as sentences for a results or methods section


@checked_call
def in_words(table: pd.DataFrame | xr.Dataset, *, methods: bool = False) -> str:
    """Write the result of a method as sentences.

    Parameters
    ----------
    table : DataFrame or Dataset
        The result of any method, or some of its rows, with the default or all columns.
    methods : bool
        Whether to describe the methods instead of the results. The description uses the table's
        ``attrs``.

    Returns
    -------
    str
        One paragraph per group and list size for tables that rank measures, and one or two
        sentences per row for other tables. For long tables, the text describes only the first and
        last rows for each measure. If there are several unadjusted p-values, the text says so.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> print(rankeval_pd.in_words(df.rankeval.summary(100)))
    good has the highest precision at n = 100 (49.0%, simultaneous 95% interval 36.0% to
    62.1%). It is significantly better than fair.
    >>> compared = df.rankeval.compare("good", "fair", 100)
    >>> print(rankeval_pd.in_words(compared))
    At n = 100, the precision is 17.0 points higher for good than for fair (95% interval 6.6 to
    27.4 points; p = 0.002). The difference is significant at the 5% level.
    >>> print(rankeval_pd.in_words(compared, methods=True))
    The table was made with `compare` of rankeval_pd 0.1.0 at n = 100. Differences were tested
    with Fisher's exact test. The tests were two-sided and unadjusted, with a significance level
    of 5%. Score and normal intervals for fixed thresholds and n-best lists (the wider limits)
    have a confidence level of 95%.
    """
    check_flag("methods", methods)
    frame, attrs = result_frame(table), table.attrs
    if methods:
        return methods_section(frame, attrs)
    for needed, write in _KINDS:
        if all(any(x in frame for x in name.split("|")) for name in needed.split()):
            check_attrs(attrs)
            told = [*write(frame, attrs), *_caveats(attrs)]
            return "\n\n".join(told) or "The table has no rows."
    raise ValueError(
        f"table has the columns {listed(frame.columns)}, but no method returns a table with these"
        " columns. Pass the result of a .rankeval method, or rows from the result."
    )


_LIMITING = 1.2  # seeds are mentioned if they widen intervals by this factor


#: an attr that is a count, or an attr and its value: the sentence, for a count of 1 and others
_CAVEATS = {
    "n_ending_in_tie": (
        "One row describes a list that ends inside a tie; `details=True` shows which lists.",
        "{n_ending_in_tie:,} rows describe lists that end inside a tie; `details=True` shows which"
        " lists.",
    ),
    "p_adjusted rounded up": (
        "Adjusted p-values are exact, or rounded up to the next exact p-value.",
    ),
    "n_grid": (
        "There are too many candidates to compute every n. The results are for {n_grid:,} values of"
        " n; above n = 70, consecutive values differ by at most about 1%.",
    ),
    "pool retrieved": (
        "The chance level is the value for a random order of the candidates that each measure"
        " retrieved.",
    ),
    "pool": (
        "The chance level is the value for a random draw from a collection of {pool:,} candidates"
        " in each group.",
    ),
    "n_lacking": (
        "A query for which a run retrieved nothing counts as 0 (up to 1 query).",
        "A query for which a run retrieved nothing counts as 0 (up to {n_lacking:,} queries).",
    ),
    "n_undefined": (
        "A query without a value counts as 0 (up to 1 query).",
        "A query without a value counts as 0 (up to {n_undefined:,} queries).",
    ),
    "n_tied": ("Up to {n_tied:,} lists per run end inside a tie; `details=True` shows the range.",),
    "seed_variance pooled": ("The variance between seeds is pooled over all {n_systems} systems.",),
}


def _caveats(attrs: Attrs) -> Iterator[str]:
    """Describe what all rows share: ties, skipped sizes, annotators, chance level and design."""
    for key, texts in _CAVEATS.items():
        name, _, value = key.partition(" ")
        given = attrs.get(name, 0)
        if given == value or (not value and isinstance(given, int) and given > 0):
            yield agree(given, texts[0], texts[-1]).format_map(attrs)
    names, differ = listed_in(attrs, "annotators"), listed_in(attrs, "annotators_differ")
    if names and differ:
        yield f"The conclusion differs for {join(differ, noun='annotators')}."
    elif names:
        yield f"The conclusion is the same for each of the {len(names)} annotators."
    if attrs.get("judged_low", 1.0) < 1.0:
        shares = dict.fromkeys(f"{attrs[f'judged_{x}']:.0%}" for x in ("low", "high"))
        yield f"{' to '.join(shares)} of the documents up to the cutoff are judged."
    if attrs.get("depth_low", 0) < attrs.get("depth_high", 0):
        ends = " to ".join(f"{attrs[f'depth_{x}']:,}" for x in ("low", "high"))
        yield f"The longest lists in the runs contain {ends} documents."
    if attrs.get("strata") is not None:
        count = attrs.get("n_strata", "")
        strata = f"{count} strata ({attrs['strata']})".lstrip()
        text = f"The score is the {attrs['average']} average over {strata}."
        if attrs.get("groups") is not None:
            text += f" The items are clustered by {attrs['groups']}."
        yield text
    elif attrs.get("weight") is not None:
        yield f"The items are clustered by {attrs['groups']}."
    if attrs.get("seed_widening", 1.0) >= _LIMITING:
        yield (
            f"With {attrs['n_seeds']} training seeds, the intervals for gains are"
            f" {attrs['seed_widening']:.1f} times as wide as intervals from the items alone."
        )


def result_frame(table: Any) -> pd.DataFrame:
    """Return a result as a frame, stacking the batches of a Dataset."""
    if isinstance(table, xr.Dataset):
        frame = rows_in(table).drop(columns=["row", "pair", "cut"], errors="ignore")
        return frame[sorted(frame, key=lambda name: name in table.data_vars)].dropna(how="all")
    if not isinstance(table, pd.DataFrame):
        raise no_table("table", table, "the result of a method")
    return table


# ---- tables that rank measures


def _best_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the best rows, all rows tied with the best, and the differences."""
    name = first_of(frame, ("measure", "system"))
    keys = list(frame.columns[: list(frame.columns).index(name)])
    keys += [x for x in ("metric", "n") if x in frame and x not in keys]
    parts: Iterable[tuple[Any, pd.DataFrame]] = [((), frame)]
    if keys:
        parts = frame.groupby(keys, sort=False, observed=True)
    for values, part in parts:
        where = dict(zip(keys, values, strict=True))
        yield " ".join(_verdict(part, name, where, attrs))


def _verdict(part: pd.DataFrame, name: str, where: Row, attrs: Attrs) -> Iterator[str]:
    lower, many = is_lower_better(attrs), f"{name}s"
    unknown = part.loc[part["value"].isna(), name]
    part = part.dropna(subset="value").sort_values("value", ascending=lower, kind="stable")
    noun, percent = called({**attrs, **where})
    if "metric" in where:
        noun = f"mean {noun}"
    low = first_of(part, ("ci_low", "difference_low"))
    unit = column_unit(part, "value", low, percent=percent)
    at = f" at n = {where['n']:,}" if "n" in where else ""
    place = "".join(f"For {k} {v}, " for k, v in where.items() if k not in ("metric", "n"))
    if len(unknown):
        has = agree(len(unknown), "has", "have")
        yield f"{place}{join(unknown, noun=many)} {has} no {noun}{at}."
    if not len(part):
        return
    best = part.iloc[0]
    first = part[part["value"] == best["value"]]
    shown = unit.value(best["value"])
    if "ci_low" in part and np.isfinite([best["ci_low"], best["ci_high"]]).any():
        interval = f"{attrs.get('intervals', '')} {level_of(attrs)} interval".strip()
        shown += f", {interval} {unit.limits(best['ci_low'], best['ci_high'])}"
    elif "ci_low" in part:
        shown += f", no {level_of(attrs)} interval"
    have, best_is = agree(len(first), "has", "have"), extreme_of(attrs)
    named = join(first[name], noun=many)
    if first_of(part, ("rank_low", "difference")):
        yield f"{place}{named} {have} the {best_is} {noun}{at} ({shown})."
    else:  # a single system
        yield f"{place}{named}: {noun} {shown}."
    others = part.drop(first.index)
    if "letters" in part and len(others):
        yield from _rank_sentences(first, others, name, attrs)
    if "difference" in part and "baseline" in attrs:
        yield from _differences(part, name, unit, attrs)
    if "better_than_chance" in part:
        lacking = part.loc[~part["better_than_chance"].astype(bool), name]
        if len(lacking):
            are = agree(len(lacking), "is", "are")
            yield f"{join(lacking, noun=many)} {are} not shown to be better than chance."
        else:
            all_are = {1: "It is", 2: "Both are"}.get(len(part), "All are")
            yield f"{all_are} better than chance."
    if "tie_decides" in part and part["tie_decides"].any():
        yield (
            "The order of equal scores determines the results of the tests for"
            f" {join(part.loc[part['tie_decides'].astype(bool), name], noun=many)}."
        )
    if "tied" in part and (part["tied"] > 0).any():
        cut = part[part["tied"] > 0]
        lists, end = agree(len(cut), "list", "lists"), agree(len(cut), "ends", "end")
        yield f"The {lists} of {join(cut[name], noun=many)} {end} inside a tie."


_THEY = (("It", "They"), ("is", "are"), ("does", "do"), ("was", "were"))


def _rank_sentences(
    first: pd.DataFrame, others: pd.DataFrame, name: str, attrs: Attrs
) -> Iterator[str]:
    """Describe rows tied with the best row, and rows that are worse."""
    sets = letter_sets([*first["letters"], *others["letters"]])
    shares = np.array([[bool(a & b) for a in sets[: len(first)]] for b in sets[len(first) :]])
    alike, apart = shares.all(axis=1), ~shares.any(axis=1)
    untested = np.zeros(len(others), dtype=bool)
    p = first_of(others, P_VALUES)
    if p and others["difference"].notna().any():
        untested = others[p].isna().to_numpy()
    elif name == "measure" and "metric" not in others:  # too few rows for an interval and a test
        untested = others["ci_low"].isna().to_numpy()
    they, are, do, were = (agree(len(first), *words) for words in _THEY)
    how = " (unadjusted tests)" * (len(first) + len(others) > 2)
    if adjustment(attrs):
        how = f" ({adjustment(attrs, brief=True)})"
    texts: tuple[tuple[str, Any, str], ...] = (
        (f"{they} {do} not differ significantly from", alike & ~untested, "or"),
        (f"{they} {are} significantly better than", apart, "and"),
        (
            f"Only some of the best {name}s are significantly better than",
            ~(alike | apart | untested),
            "and",
        ),
    )
    named: Any = others[name]
    for text, which, last in texts:
        if which.any():
            no_proof = last == "or" and "difference" not in others
            end = ", which is not evidence of equality" * no_proof
            yield f"{text} {join(named[which], last)}{how}{end}."
            how = ""
    if untested.any():
        yield f"{they} {were} not tested against {join(others[name][untested], 'or')}."


def _differences(part: pd.DataFrame, name: str, unit: Unit, attrs: Attrs) -> Iterator[str]:
    """Write the differences from the baseline."""
    base, how, lower = attrs["baseline"], adjustment(attrs), is_lower_better(attrs)
    said = f"; {how}" * bool(how)
    p_name = first_of(part, P_VALUES)
    compared = part[part["difference"].notna() & (part[name] != base)]
    if len(compared) > MOST and p_name:
        compared = compared[compared[p_name].notna()]
        sure = compared[rejects(compared[p_name], alpha_of(attrs))]
        up = int(((sure["difference"] > 0.0) != lower).sum())
        yield (
            f"Of {len(compared)} {name}s, {up} are significantly higher than {base} and"
            f" {len(sure) - up} significantly lower ({how or 'unadjusted'})."
        )
        compared, said = compared.iloc[:1], ""
    for row in compared.iloc[:MOST].to_dict("records"):
        gap, p = row["difference"], row.get(p_name, math.nan)
        ends = [row.get(x, math.nan) for x in ("difference_low", "difference_high")]
        if gap < 0.0:
            ends = [-ends[1], -ends[0]]
        by, side = unit.gap(gap), {True: "higher", False: "lower"}[(gap > 0.0) != lower]
        evidence = []
        if not math.isnan(sum(ends)):
            evidence.append(f"{level_of(attrs)} interval {unit.gaps(*ends)}")
        if p_name:
            evidence.append("adjusted " * bool(how) + _p(p, attrs))
        beside = f"({', '.join(evidence)}{said})" * bool(evidence)
        said = ""
        if rejects(p, alpha_of(attrs)):
            yield f"{row[name]} is significantly {side} than {base}, by {by} {beside}."
            if ends[0] <= 0.0 <= ends[1]:
                yield _WIDER
        elif math.isnan(p):
            it = f"is {by} {side} than" if gap else "equals"
            yield f"{row[name]} {it} {base} {beside}".rstrip() + "."
        else:
            it = f"it is {by} {side}" if gap else "the difference is 0"
            yield f"{row[name]} does not differ significantly from {base}: {it} {beside}."


_WIDER = "The interval contains 0 because the interval is more conservative than the test."


def _p(p: float, attrs: Attrs) -> str:
    return p_text(p, least=least_p(attrs), alpha=alpha_of(attrs))


# ---- comparisons

_GAPS = ("difference", "gain")


def _comparisons(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the difference for each pair, or a summary of many pairs."""
    gap, p = first_of(frame, _GAPS), first_of(frame, P_VALUES)
    how = adjustment(attrs) or "unadjusted" * (len(frame) > 1 and p == "p_value")
    low = first_of(frame, ("ci_low", "band_low"))
    unit = column_unit(frame, gap, low, percent=called(attrs)[1])
    if len(frame) <= MOST or not p:
        for row in first_and_last(frame).to_dict("records"):
            yield _compared(row, how, unit, attrs)
            if how == adjustment(attrs):
                how = ""
        return
    # the number of significant comparisons, and the largest difference
    alpha = alpha_of(attrs)
    frame = frame[frame[p].notna()]
    sure = rejects(frame[p], alpha)
    text = (
        f"Of {len(frame):,} comparisons, {sure.sum():,} {agree(sure.sum(), 'is', 'are')}"
        f" significant at the {percent_of(alpha)} level ({how})."
    )
    if "tie_decides" in frame and (count := int(frame["tie_decides"].sum())):
        text += f" The order of equal scores determines the results of {count:,} of these tests."
    if frame[gap].notna().any():
        pairs = [" and ".join(map(str, _names(row))) for row in frame.to_dict("records")]
        alike = [pair for pair, proven in zip(pairs, sure, strict=True) if not proven]
        if 0 < len(alike) < 7:
            text += f" These pairs do not differ significantly: {'; '.join(alike)}."
        place = int(frame[gap].abs().to_numpy().argmax())
        largest = _compared(frame.iloc[place].to_dict(), "", unit, attrs)
        largest = f"{largest[0].lower()}{largest[1:]}"
        text += f" The largest difference is between {pairs[place]}: {largest}"
    yield text


def _names(row: Row) -> tuple[Any, Any]:
    """Return the two names of a comparison."""
    a = first_of(row, ("measure_a", "system_a", "sample_a"))
    return row[a], row[f"{a[:-1]}b"]


def _compared(row: Row, how: str, unit: Unit, attrs: Attrs) -> str:
    """Write a comparison as sentences."""
    (a, b), value = _names(row), row[first_of(row, _GAPS)]
    if "sample_a" in row:
        a, b = (f"{row['measure']} in {x}" for x in (a, b))
    first = first_of(row, ("measure_a", "system_a", "sample_a"))
    keys = [*row][: [*row].index(first)]
    where = "".join(f"For {k} {row[k]}, " for k in keys if k not in ("size", "measure", "n"))
    if "size" in keys:
        where += f"With {row['size']:,} items, "
    if "n" in row:
        where += f"at n = {row['n']:,}, "
    if pd.isna(value):
        text = f"{where}{a} and {b} cannot be compared because a value is missing."
        return text[0].upper() + text[1:]
    limits = first_of(row, ("band_low", "ci_low")).removesuffix("low")
    ends = [row.get(f"{limits}{x}", math.nan) for x in ("low", "high")]
    side = attrs.get("alternative", "two-sided")
    turned = value < 0.0 and side == "two-sided"
    if turned:
        a, b, ends = b, a, [-ends[1], -ends[0]]
    ends = {"greater": [ends[0], math.inf], "less": [-math.inf, ends[1]]}.get(side, ends)
    noun, beside = called(attrs)[0], []
    is_less = (value < 0.0 and not turned) != is_lower_better(attrs)
    comparative = {True: "lower", False: "higher"}[is_less]
    text = f"the {noun} is {unit.gap(value)} {comparative} for {a} than for {b}"
    if value == 0.0:
        text = f"{a} and {b} have the same {noun}"
    elif attrs.get("test") == "wilcoxon":
        text = f"{a} scores {unit.gap(value)} {comparative} than {b}"
        beside.append("Hodges–Lehmann estimate")
    if not any(map(math.isnan, ends)):
        start = "simultaneous " * (limits == "band_")
        interval = {"band_": "band"}.get(limits, "interval")
        if any(map(math.isinf, ends)):
            start, interval = f"one-sided {start}", "limit:"
        beside.append(f"{start}{level_of(attrs)} {interval} {unit.gaps(*ends)}")
    verdict = ""
    p = first_of(row, P_VALUES)
    if p and pd.isna(row[p]):
        verdict = " No test was possible."
    elif p:
        sure = rejects(row[p], alpha_of(attrs))
        adjusted = "adjusted " * (p == "p_adjusted" and bool(adjustment(attrs)))
        beside += filter(None, [f"{adjusted}{_p(row[p], attrs)}", how])
        if side != "two-sided":
            beside.append(f"alternative: {side}")
        verdict = f" The difference is {'not ' * (not sure)}significant at the"
        verdict += f" {percent_of(alpha_of(attrs))} level"
        if not sure and all(map(math.isfinite, ends)):
            verdict += f"; the data are compatible with differences of {unit.gaps(*ends)}"
        verdict += "."
        if sure and ends[0] <= 0.0 <= ends[1]:
            verdict += f" {_WIDER}"
    verdict += margin_words(row, a, b, percent=unit.percent, attrs=attrs)
    if beside:
        text += f" ({'; '.join(beside)})"
    text = f"{where}{text}.{verdict}{_cut_words(row, unit, attrs, turned=turned)}"
    return text[0].upper() + text[1:]


def _cut_words(row: Row, unit: Unit, attrs: Attrs, *, turned: bool) -> str:
    """Return the sentence about lists that end inside a tie, or ""."""
    if row.get("tie_decides"):
        text = " The order of equal scores determines this result: "
        if "tie_low" not in row:
            return f"{text}other orders lead to a different conclusion."
        ends = [row["tie_low"], row["tie_high"]]
        p = [p_text(row[x], alpha=alpha_of(attrs)) for x in ("p_tie_low", "p_tie_high")]
        if turned:
            ends, p = [-ends[1], -ends[0]], p[::-1]
        return (
            f"{text}over random tie-breaking orders, the difference is {unit.gaps(*ends)}"
            f" ({' to '.join(p)})."
        )
    if not row.get("cuts_tie"):
        return ""
    if attrs.get("ties") == "expected":
        return " A list ends inside a tie; the results are means over all tie-breaking orders."
    return " A list ends inside a tie."


# ---- ranges of sizes


def _ranges(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the range of n in which one measure is significantly better."""
    how = adjustment(attrs) or "each size tested separately, unadjusted"
    if not len(frame):
        yield f"No difference is significant at any requested size ({how})."
    for row in frame.iloc[:MOST].to_dict("records"):
        other = row["measure_a"]
        if row["better"] == other:
            other = row["measure_b"]
        size = f"n = {row['n_first']:,}"
        if row["n_last"] > row["n_first"]:
            many = f"all {row['n_tests']:,}"
            if row.get("n_gaps", 0):
                many = f"{row['n_tests']:,} of {row['n_tests'] + row['n_gaps']:,}"
            size = f"{many} tested sizes from n = {row['n_first']:,} to {row['n_last']:,}"
        yield (
            f"{row['better']} is significantly better than {other} at {size}"
            f" ({p_text(row['p_max']).replace('p', 'largest p', 1)}; {how})."
        )
    if len(frame) > MOST:
        yield f"The table has {len(frame) - MOST:,} more ranges."


Writer = Callable[[pd.DataFrame, Attrs], Iterator[str]]
#: kinds of tables, recognized by column names; the first match is used
_KINDS: tuple[tuple[str, Writer], ...] = (
    ("measure_a measure_b better n_first n_last n_tests", _ranges),
    ("measure value rank_low|difference", _best_sentences),
    ("measure metric value ci_low", _best_sentences),
    ("system value", _best_sentences),
    (
        "measure_a|system_a|sample_a difference|gain",
        _comparisons,
    ),
    ("measure|system|n|threshold|p_low|power|alpha|p|statistic", row_sentences),
)
