"""Format numbers, nouns and sentences for papers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_attrs
from rankeval_pd.forms.out.tables import listed_in
from rankeval_pd.stats.resampling.metric_sums import WRITTEN
from rankeval_pd.stats.significance.adjust import rejects

PERCENT_METRICS = ("accuracy", "precision", "recall", "f1")
SHARES = (
    "precision", "recall", "tpr", "fpr", "fnr", "power", "power_low", "power_high", "agreement",
    "specificity", "npv",
)  # fmt: skip
_DIGITS = 3  # largest number of significant digits


class Unit(NamedTuple):
    """Store the format of a column: percent or plain numbers, and decimals."""

    percent: bool
    decimals: int

    def number(self, value: float) -> str:
        """Return a number without a unit."""
        if not math.isfinite(value):
            return "–" if math.isnan(value) else ("−∞" if value < 0.0 else "∞")
        text = f"{100.0 * value if self.percent else value:.{self.decimals}f}"
        return text.replace("-", "−") if float(text) else text.replace("-", "")

    def value(self, value: float) -> str:
        """Return a value with a unit."""
        return f"{self.number(value)}%" if self.percent else self.number(value)

    def limits(self, low: float, high: float) -> str:
        """Return an interval with a unit. One-sided intervals have one limit."""
        return self._limits(low, high, "%" if self.percent else "")

    def gap(self, difference: float) -> str:
        """Return the size of a difference with a unit."""
        return f"{self.number(abs(difference))}{' points' if self.percent else ''}"

    def gaps(self, low: float, high: float) -> str:
        """Return the interval for a difference."""
        return self._limits(low, high, " points" if self.percent else "")

    def _limits(self, low: float, high: float, unit: str) -> str:
        if math.isinf(high):
            return f"at least {self.number(low)}{unit}"
        if math.isinf(low):
            return f"at most {self.number(high)}{unit}"
        return f"{self.number(low)}{unit if unit == '%' else ''} to {self.number(high)}{unit}"


def unit_of(
    values: Iterable[Any], widths: Iterable[Any], *, percent: bool, digits: int | None = None
) -> Unit:
    """Return the unit of a column, with enough decimals for the intervals.

    For an interval of width w, the last decimal place is at least w / 40. Numbers have at most
    three significant digits, or exactly three if there are no intervals.
    """
    if digits is not None:
        return Unit(percent, digits)
    factor = 100.0 if percent else 1.0
    known = [factor * abs(float(x)) for x in values if pd.notna(x) and math.isfinite(x)]
    wide = [factor * float(x) for x in widths if pd.notna(x) and 0.0 < x < math.inf]
    largest = max(known, default=0.0) or (max(wide, default=1.0) or 1.0)
    most = max(0, _DIGITS - 1 - math.floor(math.log10(largest)))
    needed = math.ceil(-math.log10(float(np.median(wide)) / 40.0)) if wide else most
    return Unit(percent, min(max(needed, 0), most))


def p_text(p: float, *, least: float = 0.0, alpha: float = 0.05) -> str:
    """Return "p = 0.003", "p < 0.001", or "p ≤ 0.0002" if p cannot be smaller."""
    if math.isnan(p):
        return "no test"
    if least > 0.0 and p <= least * (1.0 + 1e-9):
        return f"p ≤ {_rounded_up(least)}"
    if p < 0.001:
        return "p < 0.001"
    decimals = 2 if p >= 0.1 else 3
    while rejects(float(f"{p:.{decimals}f}"), alpha) != rejects(p, alpha) and decimals < 12:
        decimals += 1
    text = f"{p:.{decimals}f}"
    return "p > 0.99" if float(text) >= 1.0 > p + 1e-9 else f"p = {text}"


def _rounded_up(p: float) -> str:
    """Round a bound up to one or two significant digits, whichever is closer."""
    place = -math.floor(math.log10(p))
    one = math.ceil(p * 10.0**place * (1.0 - 1e-9))
    if one > 1.01 * p * 10.0**place:
        place += 1
        one = math.ceil(p * 10.0**place * (1.0 - 1e-9))
    return f"{one / 10.0**place:.{place}f}".rstrip("0")


def p_cell(p: float, *, least: float = 0.0) -> str:
    """Format a p-value for a column with the header p."""
    return "" if math.isnan(p) else p_text(p, least=least).removeprefix("p ").removeprefix("= ")


def least_p(attrs: Mapping[Any, Any]) -> float:
    """Return the smallest possible p-value for the number of draws, or 0."""
    draws = attrs.get("n_resamples")
    drawn = str(attrs.get("adjust", "")).startswith("max-t") or "event" in attrs
    return 1.0 / (float(draws) + 1.0) if draws and drawn else 0.0


def margin_words(
    row: Mapping[Any, Any], a: Any, b: Any, *, percent: bool, attrs: Mapping[Any, Any]
) -> str:
    """Return a sentence about the margin for two names, or ""."""
    name = next((x for x in ("p_equivalence", "p_noninferior") if x in row), None)
    if name is None or pd.isna(row[name]):
        return ""
    size = float(f"{attrs['margin'] * (100.0 if percent else 1.0):.6g}")
    within = f"{size:g}{' point' if percent else ''}{'s' if percent and size != 1.0 else ''}"
    alpha = alpha_of(attrs)
    shown, p = rejects(row[name], alpha), p_text(row[name], alpha=alpha)
    if name == "p_equivalence":
        text = f"{a} and {b} are equivalent within {within}"
    else:
        a, b = (b, a) if attrs.get("alternative") == "less" else (a, b)
        text = f"{a} is not worse than {b} by {within} or more"
    return f" {text} ({p})." if shown else f" The data do not show that {text} ({p})."


def percent_of(share: float) -> str:
    """Return a level as a percentage, such as 95% or 99.9%."""
    return f"{100.0 * share:.7g}%"


def alpha_of(attrs: Mapping[Any, Any]) -> float:
    """Return the significance level of the tests in a table."""
    return float(attrs.get("alpha", 1.0 - attrs.get("level", 0.95)))


def level_of(attrs: Mapping[Any, Any]) -> str:
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


ADJUSTED = {
    "holm": "Holm's method", "bonferroni": "Bonferroni's method",
    "bh": "the method of Benjamini and Hochberg", "by": "the method of Benjamini and Yekutieli",
    "max-t": "the single-step max-t method", "max-t-stepdown": "the step-down max-t method",
    "envelope": "a simultaneous envelope",
}  # fmt: skip
TESTS = {
    "fisher": "Fisher's exact test", "midp": "the mid-p version of Fisher's test",
    "mcnemar": "McNemar's test", "boschloo": "Boschloo's test", "barnard": "Barnard's test",
    "score": "the score test", "cluster": "a cluster-robust t test", "t": "a t test",
    "votes": "a t test of the candidates' mean votes",
    "delong": "DeLong's test", "swaps": "random swaps of the labels",
}  # fmt: skip
TESTED = {
    "compare": "Fisher's exact test", "compare_area": "a t test", "unpaired_area": "Welch's t test",
    "paired_permutation": "approximate randomization", "mean_difference": (
        "random swaps of the labels"
    ),
    "random_test": "hypergeometric tests", "measure_ranks": "Fisher's exact test",
    "summary": "Fisher's exact test",
}  # fmt: skip
EVENTS = {
    "wild": "a wild bootstrap (random signs of the paired differences)",
    "recentred": "the paired bootstrap of Berg-Kirkpatrick et al. (2012)",
    "strict": "the paired bootstrap as written in Berg-Kirkpatrick et al. (2012, figure 1)",
    "zero": "a paired bootstrap (share of gains below 0)", "studentised": "a bootstrap t test",
    "bias-corrected": "a bias-corrected paired bootstrap",
    "crossed": "a t test with a variance for each of two crossed factors",
    "seeds": "a t test with separate variances for items and training seeds (Welch and Cochran)",
}  # fmt: skip
HANDLED = {
    "groups": "Rows with the same {} were treated as a cluster.",
    "weight": "Each {} has the same weight.",
    "ties": "Ties were handled with the option {!r}.",
    "missing": "Missing scores were handled with the option {!r}.",
    "unjudged": "Unjudged candidates were handled with the option {!r}.",
    "undefined": "Undefined metrics were handled with the option {!r}.",
}  # fmt: skip
INTERVALS = {
    "clopper-pearson": "Clopper–Pearson", "wilson": "Wilson", "jeffreys": "Jeffreys",
    "midp": "mid-p", "blaker": "Blaker", "newcombe": "Newcombe", "score": "score",
    "agresti-caffo": "Agresti–Caffo", "miettinen-nurminen": "Miettinen–Nurminen",
    "delong": "DeLong", "logit": "logit", "delta": "delta-method", "wild": "wild bootstrap",
    "bca": "BCa bootstrap", "percentile": "percentile bootstrap", "basic": "basic bootstrap",
    "studentised": "studentized bootstrap", "tango": "Tango", "student": "Student's t",
    "korn-graubard": "Korn-Graubard", "votes": "Student's t",
    "order": "order-statistic", "systems": "system bootstrap",
}  # fmt: skip


#: matches a family with a single test
_ALONE = re.compile(
    r"1 pair( (at|in|for) each \w+)*|1 comparison with (?!.* (sizes|every n|all \d+))\S.*"
)


def adjustment(attrs: Mapping[Any, Any], *, brief: bool = False) -> str:
    """Describe the adjustment (unless brief) and the family of p-values, or return ""."""
    method = attrs.get("adjust")
    if method is None or _ALONE.fullmatch(str(attrs.get("family"))):
        return ""
    family = f" for {attrs['family']}" if "family" in attrs else ""
    if brief and family:
        return f"adjusted{family}"
    if str(method).startswith("max-t") and _of_lists(attrs) and "1 pair" not in family:
        over = "Bonferroni" if method == "max-t" else "step-down"
        return f"adjusted{family} by max-t within each pair and {over} across pairs"
    return f"adjusted{family} by {ADJUSTED.get(method, method)}"


def _of_lists(attrs: Mapping[Any, Any]) -> bool:
    """Return whether swaps are drawn separately for each pair of n-best lists."""
    listed = ("compare", "summary", "measure_ranks", "significant_ranges")
    of_systems = "n_items" in attrs or "n_queries" in attrs
    return attrs.get("method") in listed and not of_systems and "kind" not in attrs


def intervals_of(attrs: Mapping[Any, Any], *, gaps: bool) -> str:
    """Return the name of the intervals for values or differences, or ""."""
    kind = join(INTERVALS.get(x, x) for x in str(attrs.get("ci", "")).split(", ") if x)
    if not gaps:
        return f"{attrs.get('intervals', '')} {kind}".strip()
    if not adjustment(attrs):
        return "" if "baseline" in attrs else kind
    method = str(attrs["adjust"])
    if method.startswith("max-t"):
        return "simultaneous"
    what = "simultaneous" if method in ("holm", "bonferroni") else "adjusted (false coverage rate)"
    return what if "baseline" in attrs or not kind else f"{what} {kind}"


_LIMITING = 1.2  # seeds are mentioned if they widen intervals by this factor


def design(attrs: Mapping[Any, Any]) -> Iterator[str]:
    """Describe strata, clusters, and a small number of training seeds."""
    if attrs.get("strata") is not None:
        count = f"{attrs['n_strata']} " if "n_strata" in attrs else ""
        text = (
            f"The score is the {attrs['average']} average over {count}strata ({attrs['strata']})."
        )
        groups = attrs.get("groups")
        yield text + ("" if groups is None else f" The items are clustered by {groups}.")
    elif attrs.get("weight") is not None:
        yield f"The items are clustered by {attrs['groups']}."
    if attrs.get("seed_widening", 1.0) >= _LIMITING:
        yield (
            f"With {attrs['n_seeds']} training seeds, the intervals for gains are"
            f" {attrs['seed_widening']:.1f} times as wide as intervals from the items alone."
        )
    if attrs.get("seed_variance") == "pooled":
        yield f"The variance between seeds is pooled over all {attrs['n_systems']} systems."


def letter_sets(letters: Iterable[Any]) -> list[set[str]]:
    """Return the letters for each row of a compact letter display.

    With more than 26 groups, the letters are aa, ab, ..., separated by spaces.
    """
    texts = [str(text) for text in letters]
    spaced = any(" " in text or len({*text}) < len(text) for text in texts)
    return [{*text.split()} if spaced else {*text} for text in texts]


def called(attrs: Mapping[Any, Any]) -> tuple[str, bool]:
    """Return the name of the compared quantity, and whether to use percent."""
    metric, kind = attrs.get("metric"), attrs.get("kind")
    if attrs.get("method") == "bedroc":
        return "BEDROC", False
    if kind in ("ap", "roc"):
        return {"ap": "average precision", "roc": "area under the ROC curve"}[str(kind)], False
    if "area" in str(attrs.get("method")):
        part = "standardized partial " if attrs["method"] == "partial_area" else ""
        return f"{part}area under the ROC curve", False
    if metric is not None:
        text = f"mean {attrs.get('of', 'score')}"
        if metric != "mean":
            text = WRITTEN.get(metric, str(metric))
        if attrs.get("weight") is not None and metric == "mean":
            text = f"{text} over {attrs['weight']}s"
        elif attrs.get("weight") == "group":
            text = f"{text} with equal group weights"
        return text, metric in PERCENT_METRICS
    of = attrs.get("of", "precision")
    if "event" in attrs or attrs.get("method") in ("paired_bootstrap", "paired_permutation"):
        return "score", False
    return str(of), of != "lift"


def methods_section(frame: pd.DataFrame, attrs: Mapping[Any, Any]) -> str:
    """Describe how a table was computed."""
    check_attrs(attrs)
    method = str(attrs["method"])
    sizes = f" at n = {sizes_text(frame['n'].tolist())}" if "n" in frame else ""
    made = f"`{method}` of rankeval_pd {attrs.get('version', '')}"
    sentences = [f"The table was made with {made}{sizes}."]
    if known(frame, ("p_value", "p_adjusted", "rank_low", "p_max")):
        side = attrs.get("alternative", "two-sided")
        what = "Differences were tested with"
        if method == "random_test":
            what, side = "True-positive counts were tested against a random ranking using", "more"
        sentences.append(f"{what} {_test_of(frame, attrs)}.")
        side = side if side == "two-sided" else f"one-sided ({side})"
        how = adjustment(attrs) or "unadjusted"
        level = f"with a significance level of {percent_of(alpha_of(attrs))}"
        sentences.append(f"The tests were {side} and {how}, {level}.")
    if "margin" in attrs:
        what = {"two-sided": "Equivalence"}.get(attrs.get("alternative", ""), "Non-inferiority")
        sentences.append(
            f"{what} was tested with a margin of {attrs['margin']:g}, without adjustment."
        )
    limits = [str(x) for x in frame if str(x).endswith("_low") and x not in ("rank_low", "p_low")]
    if "level" in attrs and limits:
        gaps = bool(known(frame, ("difference", "gain"))) and limits != ["ci_low", "value_low"]
        name = f"{intervals_of(attrs, gaps=gaps)} intervals".lstrip()
        text = f"{name[0].upper()}{name[1:]} have a confidence level of {level_of(attrs)}."
        sentences.append(text)
    if attrs.get("n_resamples"):
        seed = f" (seed {attrs['seed']})" if "seed" in attrs else ""
        count = f"{attrs['n_resamples']:,}"
        count = f"Up to {count}" if _of_lists(attrs) else count  # the number differs between pairs
        sentences.append(f"{count} resamples were drawn{seed}.")
    for role, text in HANDLED.items():
        if attrs.get(role) is not None:
            sentences.append(text.format(" or ".join(map(str, listed_in(attrs, role)))))
    return " ".join(sentences)


def _test_of(frame: pd.DataFrame, attrs: Mapping[Any, Any]) -> str:
    """Return the name of the test for the differences in a table."""
    method = str(attrs["method"])
    drawn = bool(attrs.get("n_resamples"))
    if attrs.get("test") == "t":
        return "the paired t test"
    if method == "paired_bootstrap" and not drawn and attrs.get("ci") == "tango":
        return "McNemar's exact test (unconditional for up to 200 items)"
    if "event" in attrs or (method in ("summary", "system_ranks") and "measure" not in frame):
        event = str(attrs.get("event", "wild"))
        return EVENTS[event] + (
            "" if drawn or event in ("crossed", "seeds") else ", computed exactly"
        )
    if "metric" in frame and "n" not in frame:
        return EVENTS["wild"]
    if attrs.get("test") == "wilcoxon":
        return "Wilcoxon's signed-rank test, with Hodges–Lehmann estimates and limits for the gains"
    if method == "paired_permutation":
        return TESTED[method] + ("" if drawn else ", computed exactly")
    swapped = str(attrs.get("adjust", "")).startswith("max-t") and "kind" not in attrs
    if method in ("summary", "measure_ranks") and "kind" in attrs:
        return TESTS["delong"]
    if swapped and (method in ("summary", "measure_ranks") or "measure_a" in frame):
        return "random swaps of the candidates that are in only one of the two lists"
    return TESTS.get(str(attrs.get("test")), TESTED.get(method, "the test of this method"))


def sizes_text(sizes: Sequence[int]) -> str:
    """Format list sizes for a sentence, or give a count and a range if there are many."""
    ordered = sorted(dict.fromkeys(sizes))
    if len(ordered) > 6:
        return f"{len(ordered):,} sizes from {ordered[0]:,} to {ordered[-1]:,}"
    return join(f"{size:,}" for size in ordered)


def known(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the names that are columns in the table."""
    return [name for name in names if name in frame.columns]


#: selected by the columns in a table; the first match is used
SENTENCES = (
    ("statistic annotators value n_candidates",
     "{statistic} for {annotators} is {value} ({ci}), based on {n_candidates} candidates."),
    ("measure n precision ci_low n_judged",
     "With {n_judged} judged and {n_unjudged} unjudged candidates in the {n}-best list of"
     " {measure}, the precision of the list is estimated at {precision} ({ci})."),
    ("measure n recall ci_low n_judged",
     "With {n_judged} judged and {n_unjudged} unjudged candidates in the {n}-best list of"
     " {measure}, the recall of the list is estimated at {recall} ({ci})."),
    ("measure average_precision n_judged",
     "With {n_judged} judged candidates, the average precision of {measure} is estimated at"
     " {average_precision} ({ci})."),
    ("measure n tp recall lift tied",
     "The {n}-best list of {measure} contains {tp} true positives. The recall is {recall} ({ci}),"
     " {lift} times the chance level."),
    ("measure n tp precision lift",
     "The {n}-best list of {measure} contains {tp} true positives. The precision is {precision}"
     " ({ci}), {lift} times the chance level."),
    ("measure threshold n_accepted tp precision recall ci_high",
     "At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true"
     " positives. The precision is {precision} ({ci}) and the recall is {recall}."),
    ("measure threshold n_accepted tp precision recall",
     "At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true"
     " positives. The precision is {precision} and the recall is {recall}. With {level} confidence,"
     " the requested rate is at least {least}."),
    ("measure n_samples n_mean precision",
     "Over {n_samples} samples, {measure} accepts {n_mean} candidates on average with a "
     "precision of {precision}. The standard deviation between samples is {sd_observed}, "
     "compared with an expected {sd_expected} (φ = {phi}, {p_dispersion})."),
    ("measure n precision band_low",
     "At n = {n}, the precision of {measure} is {precision} ({band})."),
    ("measure n recall band_low",
     "At n = {n}, the recall of {measure} is {recall} ({band})."),
    ("measure n precision ci_low",
     "Around rank {n}, the precision of {measure} is {precision} ({ci})."),
    ("measure n precision",
     "At n = {n}, the precision of {measure} is {precision}."),
    ("measure share n tp lift ci_low",
     "The top {share} of {measure} ({n} candidates) contain {tp} true positives, {lift} times as"
     " many as expected by chance ({ci})."),
    ("measure area chance",
     "The {noun} of {measure} is {area} ({ci}; chance level {chance})."),
    ("measure value chance",
     "The {noun} of {measure} is {value} ({ci}; chance level {chance})."),
    ("measure n tp expected lift p_value",
     "At n = {n}, {measure} has {tp} true positives, {lift} times the {expected} expected by"
     " chance ({p_value})."),
    ("p n expected critical",
     "At n = {n}, a random ranking has {expected} true positives on average. A count of {critical}"
     " or more has p ≤ {p}."),
    ("alpha n envelope",
     "At n = {n}, a random ranking has {expected} true positives on average. The simultaneous limit"
     " is {envelope}: a random ranking reaches the limit at any of the requested sizes with a"
     " probability of at most {alpha}."),
    ("measure p n_first n_last",
     "{measure} is better than chance (p ≤ {p}) from n = {n_first} to n = {n_last}."),
    ("measure_a measure_b n_more power",
     "With {n_more} judgments added to the existing {n_judged}, the comparison of {measure_a}"
     " and {measure_b} at n = {n} has a power of {power}."),
    ("n n_judgements power_low",
     "With list size n = {n} and {n_judgements} judgments, the power is {power} on average over the"
     " precisions compatible with the pilot sample (from {power_low} to {power_high})."),
    ("n n_judgements power",
     "With list size n = {n} and {n_judgements} judgments, the power is {power}."),
    ("measure_a measure_b n p_min p_median p_max",
     "At n = {n}, the p-value for {measure_a} against {measure_b} over random orders of equal"
     " scores lies between {p_min} and {p_max} (median {p_median})."),
    ("threshold n_pairs",
     "The requested quantile of the {n_pairs} gains with p-values in the window is {threshold}"
     " ({ci})."),
    ("p_low p_high n_pairs agreement",
     "Of {n_pairs} pairs with p between {p_low} and {p_high}, {agreement} keep the sign of the gain"
     " ({ci}; {expected_agreement} expected)."),
    ("gain p_low p_high",
     "The gain is {gain} ({ci}). The p-value lies between {p_low} and {p_high}, depending on the"
     " number of items that both systems answer correctly. {verdict}"),
    ("difference p_low p_high",
     "The difference of {difference} has a p-value between {p_low} and {p_high}."),
    ("measure metric value",
     "The mean {metric} of {measure} over {queries} queries is {value}."),
)  # fmt: skip
NOUNS = {
    "tpr": "true positive rate", "fpr": "false positive rate", "fnr": "false negative rate",
    "share": "share of candidates", "tp": "true positives", "p_value": "p-value",
}  # fmt: skip
