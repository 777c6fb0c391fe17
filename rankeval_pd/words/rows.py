"""Write a sentence for each row of a table."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.stats import rejects
from rankeval_pd.tables import Attrs
from rankeval_pd.words.numbers import (
    Unit,
    agree,
    column_unit,
    join,
    p_cell,
    p_text,
    percent_of,
)
from rankeval_pd.words.vocabulary import (
    COLUMNS,
    IN_PERCENT,
    MOST,
    NOUNS,
    P_VALUES,
    RATES,
    SPREADS,
    Row,
    adjustment,
    alpha_of,
    are_bounds,
    called,
    check_columns,
    first_of,
    level_of,
    side_of,
)

#: methods (and what the table or its record must have), and the sentence for a row; the first
#: that fits is used
_SENTENCES = """\
annotator_agreement
    {statistic} for {annotators} is {value} ({ci}), based on {n_candidates} candidates.
judged_precision judged_recall
    With {n_judged} judged and {n_unjudged} unjudged candidates in the {n}-best list of {measure},
    the {noun} of the list is estimated at {estimate} ({ci}).
nbest_precision nbest_recall: average
    For the {n}-best lists of {n_rankings} rankings, the {average} average of the {noun} of
    {measure} is {estimate} ({ci}).
area: average
    The {average} average of the {noun} of {measure} over {n_rankings} rankings is {estimate}
    ({ci}; chance level {chance}).
nbest_precision nbest_recall: tp
    The {n}-best list of {measure} contains {tp} true positives. The {noun} is {estimate} ({ci}),
    {lift} times the chance level.
nbest_precision nbest_recall precision_band precision_recall
    At n = {n}, the {noun} of {measure} is {estimate} ({ci}).
acceptance_precision: youden
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. The precision is {precision} ({ci}), the recall {recall} ({recall_ends}), the
    specificity {specificity} ({specificity_ends}), the negative predictive value {npv}
    ({npv_ends}), F1 {f1} ({f1_ends}), and the Youden index {youden} ({youden_ends}).
acceptance_precision
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. The precision is {precision} ({ci}) and the recall is {recall}.
choose_threshold: recall_low
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. With {level} confidence{together}, the {aim} is at least {least} and the recall
    is at least {recall_low}.
choose_threshold: specificity_low
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. With {level} confidence{together}, the {aim} is at least {least} and the specificity
    is at least {specificity_low}.
choose_threshold
    At a threshold of {threshold}, {measure} accepts {n_accepted} candidates, including {tp} true
    positives. The precision is {precision} and the recall is {recall}. With {level}
    confidence{together}, the {aim} is at least {least}.
repetition
    Over {n_samples} samples, {measure} accepts {n_mean} candidates on average with a precision of
    {precision}. The standard deviation between samples is {sd_observed}, compared with an expected
    {sd_expected} (φ = {phi}, intra-sample correlation {icc}, one-sided {p_dispersion}).
enrichment
    The top {share} of {measure} ({n} candidates) contain {tp} true positives, {lift} times as many
    as expected by chance ({ci}).
gain lift
    At n = {n} ({share} of the candidates), the {noun} of {measure} is {estimate} ({ci}).
area partial_area bedroc
    The {noun} of {measure} is {estimate} ({ci}; chance level {chance}).
random_test
    At n = {n}, {measure} has {tp} true positives, {lift} times the {expected} expected by chance
    (one-sided {p_value}).
random_bound: discrete
    At n = {n}, a random ranking has {expected} true positives on average. A count of {critical} or
    more has p ≤ {p}.
random_bound
    At n = {n}, a random ranking has {expected} true positives on average. The bound is {critical}:
    the probability that a random ranking reaches the bound at one or more n is at most {p}.
crossovers: critical
    In separate, unadjusted tests at each n, {measure} is better than chance (p ≤ {p}) from
    n = {n_first} to n = {n_last}.
crossovers
    {measure} reaches the {bound} bound for p = {p} at each n from n = {n_first} to n = {n_last}.
plan_annotation
    With {n_more} judgments added to the existing {n_judged}, the comparison of {measure_a} and
    {measure_b} at n = {n} has a power of {power} on average over the precisions compatible with the
    judged candidates (from {power_low} to {power_high}).
needed_candidates: power_low
    With list size n = {n} and {n_judgements} judgments, the power is {power} on average over the
    precisions compatible with the pilot sample (from {power_low} to {power_high}).
needed_candidates
    With list size n = {n} and {n_judgements} judgments, the power is {power}.
tie_sensitivity
    At n = {n}, the p-value for {measure_a} against {measure_b} over random orders of equal scores
    lies between {p_min} and {p_max} (median {p_median}). {verdict}
gain_threshold: threshold_all_pairs
    The {quantile:g} quantile of the {n_pairs} gains with {side} p-values in {window} is {threshold}
    ({ci}), and the threshold from all pairs is {threshold_all_pairs}.
gain_threshold
    The {quantile:g} quantile of the {n_pairs} gains with {side} p-values in {window} is {threshold}
    ({ci}).
population_calibration
    On {n_test_sets} random test sets of {size} items, there are {n_pairs} gains with one-sided p
    between {p_low} and {p_high}, of which {agreement} have the same sign on all items ({ci};
    {expected_agreement} expected).
calibration
    Of {n_pairs} pairs with one-sided p between {p_low} and {p_high}, {agreement} keep the sign of
    the gain ({ci}; {expected_agreement} expected).
compare_accuracies
    The gain is {gain} ({ci}). The p-value lies between {p_low} and {p_high}, depending on the
    rounding of the accuracies and on the number of items that both systems answer correctly.
    {verdict}
per_query
    The mean {metric} of {measure} over {queries} queries is {value}.
"""


# ---- Write a sentence for each row of a table


def row_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write a sentence for each row of a table, or the range of a long table."""
    if attrs["method"] == "per_query":
        check_columns(frame, "metric", "measure", "value")
        means = frame.groupby(["metric", "measure"], sort=False, observed=True)["value"]
        frame = means.agg(["mean", "count"]).reset_index()
        frame = frame.rename(columns={"mean": "value", "count": "queries"})
    if "n_pairs" in frame:
        frame = frame[frame["n_pairs"] > 0]
    if not len(frame):
        yield "The table has no rows with data."
        return
    shown, estimate = frame.iloc[:MOST], _estimate(frame, attrs)[0]
    has_ranges = len(frame) > MOST and estimate in frame
    if has_ranges:
        yield from _ranges(frame, attrs)
        shown = _extremes(frame, estimate)
    # the group columns stand before the names
    names = [*frame]
    before = names[: names.index(first_of(frame, ("measure_a", "measure")) or names[0])]
    sentence = _sentence_of(frame, attrs)
    units = {name: _row_unit(frame, name, attrs) for name in frame.select_dtypes("number")}
    for row in shown.to_dict("records"):
        where = "".join(f"For {name} {row[name]}: " for name in before if name != "metric")
        yield where + _row(row, units, sentence, attrs)
    left = frame.iloc[MOST:]
    if len(left) and not has_ranges:
        of = ""
        if "measure" in left:
            of = f" (for {join(left['measure'].unique(), most=MOST)})"
        yield f"The table has {len(left):,} more {agree(len(left), 'row', 'rows')}{of}."
    if "p_value" in frame and frame["p_value"].count() > 1 and "adjust" not in attrs:
        yield "The p-values are unadjusted."


def _sentence_of(frame: pd.DataFrame, attrs: Attrs) -> str:
    """Return the sentence for rows of the method in the record, or ""."""
    for methods, text in re.findall(r"(?m)^(\S.*)\n((?: +.*\n)+)", _SENTENCES):
        names, _, needed = methods.partition(": ")
        told = {*frame, *attrs, attrs.get("bound")}
        if attrs["method"] in names.split() and {*needed.split()} <= told:
            return " ".join(text.split())
    return ""


def _ranges(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the lowest and the highest estimate of each measure in a long table, and its tests."""
    estimate = _estimate(frame, attrs)[0]
    unit, noun = _row_unit(frame, estimate, attrs), called(attrs)[0]
    parts: Iterable[tuple[Any, pd.DataFrame]] = [("all rows", frame)]
    if "measure" in frame and frame["measure"].nunique() <= MOST:
        parts = frame.groupby("measure", sort=False, observed=True)
    for name, part in parts:
        low, high = part[estimate].min(), part[estimate].max()
        ends = f"{unit.value(low)} to {unit.value(high)}"
        range_ = f"range{'s' * (not noun.endswith('s'))}"  # true positives range
        text = f"The {noun} of {name} {range_} from {ends} ({len(part):,} rows)."
        yield text + _significant_rows(part, attrs)


def _extremes(frame: pd.DataFrame, estimate: str) -> pd.DataFrame:
    """Return the rows with the highest and lowest estimates if there are many measures."""
    if "measure" not in frame or frame["measure"].nunique() <= MOST:
        return frame.iloc[:0]
    ordered = frame.dropna(subset=estimate).sort_values(estimate, ascending=False, kind="stable")
    return ordered.iloc[[0, -1][: len(ordered)]]


def _significant_rows(part: pd.DataFrame, attrs: Attrs) -> str:
    """Return the number of significant rows, and the sizes of their lists, or ""."""
    p = first_of(part, P_VALUES)
    if not p:
        return ""
    sure = part[rejects(part[p], alpha_of(attrs))]
    how = f" ({adjustment(attrs)})" * bool(adjustment(attrs))
    text = f" Of {part[p].count():,} p-values{how}, {len(sure):,} are at most {alpha_of(attrs):.4g}"
    if "n" in part and part["n"].is_unique and len(sure):
        first, last = sure["n"].min(), sure["n"].max()
        text += f", from n = {first:,} to n = {last:,}"
        if between := int(part["n"].between(first, last).sum()) - len(sure):
            text += f", but not at {between:,} {agree(between, 'size', 'sizes')} between these"
    return f"{text}."


def _row_unit(frame: pd.DataFrame, name: Any, attrs: Attrs) -> Unit:
    """Return the unit of a column, with enough decimals for the interval."""
    if pd.api.types.is_integer_dtype(frame[name]):
        return Unit(percent=False, decimals=0)
    if name == "expected":
        return Unit(percent=False, decimals=2)
    estimate, limits = _estimate(frame, attrs)
    two_sided = name == estimate and f"{limits}_high" in frame
    percent = str(name).removesuffix("_low") in IN_PERCENT
    if name in ("difference", "gain", "threshold") and "metric" in attrs:
        percent = called(attrs)[1]
    return column_unit(frame, name, f"{limits}_low" * two_sided, percent=percent)


def estimate_of(attrs: Attrs) -> str:
    """Return the column of the quantity in a record."""
    quantity = str(attrs.get("quantity", ""))
    return COLUMNS.get(attrs["method"], COLUMNS.get(quantity, quantity))


def _estimate(columns: Any, attrs: Attrs) -> tuple[str, str]:
    """Return the column of the estimate, and the start of the names of its limits, or ""."""
    name = estimate_of(attrs)
    return name, next((x for x in (name, "ci", "band") if f"{x}_low" in columns), "")


def _row(row: Row, units: Mapping[Any, Unit], sentence: str, attrs: Attrs) -> str:
    """Write a row as a sentence, or as a list of labeled numbers."""
    texts = {**attrs, **row}
    aim = str(attrs.get("aim"))
    for name, unit in units.items():
        texts[name] = _number(row, name, unit)
    for name in ("recall", *RATES):
        start = RATES.get(name, name)
        if name in row and f"{start}_high" in row and not math.isnan(row[f"{start}_low"]):
            texts[f"{name}_ends"] = units[name].limits(row[f"{start}_low"], row[f"{start}_high"])
    estimate, limits = _estimate(row, attrs)
    texts["estimate"] = texts.get(estimate, _NONE)
    if estimate in row and limits:
        ends, unit = (row[f"{limits}_low"], row.get(f"{limits}_high", math.inf)), units[estimate]
        shown = unit.limits(*ends)
        if estimate == "gain":
            shown = unit.gaps(*ends)
        if math.isnan(ends[0]):
            shown = _NONE
        is_rate = aim != "youden"
        texts["least"] = Unit(is_rate, 2 - is_rate).value(ends[0])
        scope = str(attrs.get("intervals", "pointwise")).replace("pointwise", "")
        texts["ci"] = f"{scope} {level_of(attrs)} interval {shown}".lstrip()
        if are_bounds(attrs):
            texts["ci"] = f"with any labels, {shown}"
        if estimate == "gain" and side_of(attrs) != "two-sided":
            texts["ci"] = f"one-sided {level_of(attrs)} limit: {shown}"
        if limits == "band":
            texts["ci"] = f"simultaneous {level_of(attrs)} band {shown}"
    if attrs["method"] == "compare_accuracies":
        texts["verdict"] = _bounded(row, alpha_of(attrs))
    if attrs["method"] == "tie_sensitivity":
        texts["verdict"] = _decided(row, alpha_of(attrs))
    side = side_of(attrs).split(" ")[0]
    texts |= {"noun": called(attrs)[0], "level": level_of(attrs), "side": side}
    texts["aim"] = called({"quantity": aim})[0]
    family = str(attrs.get("family", "1 measure"))
    texts["together"] = f" for {family} together" * (family != "1 measure")
    end = " The list ends inside a tie." * bool(row.get("tied"))
    if row.get("threshold_high") == math.inf:
        end = " With so few gains, this quantile tends to be too low."
    if texts.get("threshold") == _NONE:
        return (
            f"No threshold for {row['measure']} guarantees {_requested(attrs)} with"
            f" {texts['level']} confidence{texts['together']}."
        )
    if row.get("critical", 0) > row.get("n", 0):
        sentence = "At n = {n}, no number of true positives is significant at p = {p}."
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


def _requested(attrs: Attrs) -> str:
    """Return what a chosen threshold should guarantee."""
    aims = [attrs[x] for x in ("aim", "also") if x in attrs]
    wanted = [
        f"a {called({'quantity': aim})[0]} of at least {percent_of(attrs[aim])}"
        for aim in aims
        if aim in attrs
    ]
    return join(wanted) or "a Youden index above 0"


def _number(row: Row, name: Any, unit: Unit) -> str:
    """Write a number of a row as its column is printed."""
    value = row[name]
    plain = {True: ("p", "alpha", "p_low", "p_high"), False: ("p", "alpha", "threshold")}
    if name in ("p_value", "p_dispersion"):
        return p_text(value)
    if math.isnan(value):
        return _NONE
    if name in plain["n_pairs" in row]:
        return f"{value:.4g}".replace("-", "−")
    if str(name).startswith("p_") and name != "p_stderr":
        if value < 0.001:
            return f"{value:.1g}"
        return p_cell(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if name in ("difference", "gain", *SPREADS):
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
    return f"The published numbers do not determine whether the gain is {at}."


def _decided(row: Row, alpha: float) -> str:
    """Return whether the order of equal scores determines the conclusion."""
    at = f"significant at the {percent_of(alpha)} level"
    if row["p_max"] <= alpha:
        return f"The difference is {at} in all of these orders."
    if row["p_min"] > alpha:
        return f"The difference is not {at} in any of these orders."
    if math.isnan(row["p_max"]):
        return ""
    return f"The order determines whether the difference is {at}."


_NONE = "not available"

#: text to omit if an estimate is missing, or there is no mean
_UNKNOWN = (
    (rf" \({_NONE}\)", ""),
    (rf" on average over the precisions .* \(from {_NONE} to {_NONE}\)", ""),
    (rf"is estimated at {_NONE}( \([^)]*\))?", "cannot be estimated"),
    (rf"({_NONE}) \(\d[^)]*\)", r"\1"),
    (rf"({_NONE}), based on 0 candidates", r"\1 for these votes"),
    (
        r"The p-value lies between (\S+) and \1, depending on the rounding .* correctly",
        r"The p-value is \1",
    ),
    (r" over random orders of equal scores lies between (\S+) and \1 \(median \1\)", r" is \1"),
    (r"^The mean (.*) over 1 queries", r"The \1"),  # a single list
    (rf", {_NONE} times( the chance level| as many as expected by chance \([^)]*\))", ""),
)
