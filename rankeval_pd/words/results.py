"""Write comparisons, ranges of list sizes, and verdicts on all measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.stats import rejects
from rankeval_pd.tables import Attrs
from rankeval_pd.words.numbers import (
    Unit,
    agree,
    capitalized,
    column_unit,
    join,
    letter_sets,
    p_text,
    percent_of,
)
from rankeval_pd.words.vocabulary import (
    MARGIN_P,
    MOST,
    P_VALUES,
    Row,
    adjustment,
    alpha_of,
    are_bounds,
    called,
    check_columns,
    extreme_of,
    first_of,
    is_lower_better,
    least_p,
    level_of,
    listed_of,
    margin_of,
    noun_of,
    over_of,
    scope_of,
)


def margin_words(row: Mapping[Any, Any], a: Any, b: Any, *, percent: bool, attrs: Attrs) -> str:
    """Return a sentence about the margin for two names, or ""."""
    name = first_of(row, MARGIN_P)
    if not name or pd.isna(row[name]):
        return ""
    within = margin_of(attrs, percent=percent)
    alpha = alpha_of(attrs)
    shown = "" if rejects(row[name], alpha) else "not shown to be "
    claim = f"{a} and {b} are {shown}equivalent"
    if name == "p_noninferior":
        if attrs.get("alternative") == "less":
            a, b = b, a
        claim = f"{a} is {shown}non-inferior to {b}"
    return f" {claim} with a margin of {within} ({p_text(row[name], alpha=alpha)})."


WIDER = "The interval, which was not computed from this test, contains 0."


def p_of(p: float, attrs: Attrs) -> str:
    """Return a p-value of a table, with the bound that its draws set."""
    return p_text(p, least=least_p(attrs), alpha=alpha_of(attrs))


_GAPS = ("difference", "gain")


def comparison_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the difference for each pair, or a summary of many pairs."""
    sides = (f"measure_{x}/system_{x}/sample_{x}" for x in "ab")
    check_columns(frame, *sides, "difference/gain")
    gap, p = first_of(frame, _GAPS), first_of(frame, P_VALUES)
    how = adjustment(attrs) or "unadjusted" * (len(frame) > 1 and p == "p_value")
    low = first_of(frame, ("ci_low", "band_low"))
    unit = column_unit(frame, gap, low, percent=called(attrs)[1])
    if len(frame) <= MOST:
        for row in frame.to_dict("records"):
            yield _compared(row, how, unit, attrs)
            if how == adjustment(attrs):
                how = ""
        return
    if not p:
        largest = frame.iloc[int(frame[gap].abs().fillna(-1.0).to_numpy().argmax())].to_dict()
        yield f"The largest of {len(frame):,} differences: {_compared(largest, how, unit, attrs)}"
        return
    # the number of significant comparisons, and the largest difference
    alpha = alpha_of(attrs)
    every = len(frame)
    frame = frame[frame[p].notna()]
    if frame.empty:
        yield f"None of the {every:,} comparisons could be tested."
        return
    sure = rejects(frame[p], alpha)
    told = f"{sure.sum():,} {agree(sure.sum(), 'is', 'are')}"
    if not sure.any():
        told = "none is"
    text = f"Of {len(frame):,} comparisons, {told} significant at the {percent_of(alpha)} level"
    text += f" ({how})."
    if "tie_decides" in frame and (count := int(frame["tie_decides"].sum())):
        text += f" The order of equal scores determines the results of {count:,} of these tests."
    if frame[gap].notna().any():
        place = int(frame[gap].abs().to_numpy().argmax())
        text += (
            f" The largest difference: {_compared(frame.iloc[place].to_dict(), '', unit, attrs)}"
        )
    yield text


def _compared(row: Row, how: str, unit: Unit, attrs: Attrs) -> str:
    """Write a comparison as sentences."""
    first = first_of(row, ("measure_a", "system_a", "sample_a"))
    a, b, value = row[first], row[f"{first[:-1]}b"], row[first_of(row, _GAPS)]
    if "sample_a" in row:
        a, b = (f"{row['measure']} in {x}" for x in (a, b))
    keys = [*row][: [*row].index(first)]
    where = "".join(f"For {k} {row[k]}, " for k in keys if k not in ("size", "measure", "n"))
    if "n_a" in row and attrs["method"] == "compare_thresholds":
        where += f"with {row['n_a']:,} candidates accepted by {a} and {row['n_b']:,} by {b}, "
    if "size" in row:
        where += f"With {row['size']:,} items, "
    if "n" in row:
        where += f"at n = {row['n']:,}"
        where += f" in each {listed_of(attrs, 'by')}" * bool(attrs.get("combine")) + ", "
    if pd.isna(value):
        text = f"{where}{a} and {b} cannot be compared because a value is missing."
        return capitalized(text, (a, b))
    limits = first_of(row, ("band_low", "ci_low")).removesuffix("low")
    ends = [row.get(f"{limits}{x}", math.nan) for x in ("low", "high")]
    side = attrs.get("alternative", "two-sided")
    turned = value < 0.0 and side == "two-sided"
    if turned:
        a, b, ends = b, a, [-ends[1], -ends[0]]
    noun, beside = called(attrs)[0], []
    if "average" in attrs and "strata" not in attrs:
        noun = f"{over_of(attrs)} of the {noun}"
    is_less = (value < 0.0 and not turned) != is_lower_better(attrs)
    comparative = {True: "lower", False: "higher"}[is_less]
    text = f"the {noun} is {unit.gap(value)} {comparative} for {a} than for {b}"
    if value == 0.0:
        text = f"{a} and {b} have the same {noun}"
    elif attrs.get("test") == "wilcoxon":
        text = f"{a} scores {unit.gap(value)} {comparative} than {b}"
        beside.append("Hodges–Lehmann estimate")
    if not any(map(math.isnan, ends)):
        start = {"band_": "simultaneous"}.get(limits, scope_of(attrs))
        interval = {"band_": "band"}.get(limits, "interval")
        if side != "two-sided":
            start, interval = f"one-sided {start}", f"limit for {a} minus {b}:"
        named = [*start.split(), level_of(attrs), interval]
        if are_bounds(attrs):
            named = ["with any labels,"]
        beside.append(" ".join([*named, unit.gaps(*ends)]))
    if "n_queries" in row and attrs.get("average"):
        over = listed_of(attrs, "by") or "query"
        beside.append(f"{attrs['average']} average over {row['n_queries']:,} groups of {over}")
    verdict = ""
    p = first_of(row, P_VALUES)
    if p and pd.isna(row[p]):
        verdict = " No test was possible."
    elif p:
        sure = rejects(row[p], alpha_of(attrs))
        adjusted = "adjusted " * (p == "p_adjusted" and bool(adjustment(attrs)))
        beside += filter(None, [f"{adjusted}{p_of(row[p], attrs)}", how])
        if side != "two-sided":
            beside.append(f"alternative: {side}")
        verdict = f" The difference is {'not ' * (not sure)}significant at the"
        verdict += f" {percent_of(alpha_of(attrs))} level."
        if sure and ends[0] <= 0.0 <= ends[1]:
            verdict += f" {WIDER}"
    if "n_unjudged" in row:
        judged, both = row["n_judged"], row["n_judged"] + row["n_unjudged"]
        verdict += f" Of {both:,.0f} candidates in only one list, {judged:,.0f} are judged."
    verdict += margin_words(row, a, b, percent=unit.percent, attrs=attrs)
    if beside:
        text += f" ({'; '.join(beside)})"
    text = f"{where}{text}.{verdict}{_cut_words(row, unit, attrs, turned=turned)}"
    return capitalized(text, (a, b))


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


def range_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
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
        left = len(frame) - MOST
        yield f"The table has {left:,} more {agree(left, 'range', 'ranges')}."


def verdict_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the best rows, all rows tied with the best, and the differences."""
    check_columns(frame, "measure/system", "value")
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
    lower, many = is_lower_better(attrs), f"{noun_of(attrs)}s"
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
    first = part[np.isclose(part["value"], best["value"], rtol=1e-12, atol=0.0)]
    shown, interval = unit.value(best["value"]), ""
    if "ci_low" in part and np.isfinite([best["ci_low"], best["ci_high"]]).any():
        interval = f"{attrs.get('intervals', '')} {level_of(attrs)} interval".strip()
        interval += f" {unit.limits(best['ci_low'], best['ci_high'])}"
    elif "ci_low" in part:
        interval = f"no {level_of(attrs)} interval"
    if len(part) + len(unknown) == 1:
        yield capitalized(
            f"{place}the {noun}{at} is {shown} for {first[name].iloc[0]} ({interval})."
        )
        return
    if interval and len(first[["ci_low", "ci_high"]].drop_duplicates()) == 1:
        shown += f", {interval}"
    have, best_is = agree(len(first), "has", "have"), extreme_of(attrs)
    yield f"{place}{join(first[name], noun=many)} {have} the {best_is} {noun}{at} ({shown})."
    others = part.drop(first.index)
    if "letters" in part and len(others):
        yield from _rank_sentences(first, others, name, attrs)
        leading = part.loc[part["rank_low"] == 1, name]
        several = 1 < len(leading) <= MOST and noun_of(attrs) == "system"
        if several and attrs.get("adjust") in TOGETHER:
            sure = percent_of(1.0 - alpha_of(attrs))
            yield f"With {sure} confidence, any of {join(leading, most=MOST)} could be first."
    if "difference" in part and "baseline" in attrs:
        yield from _differences(part, name, {**attrs, **where})
    if "better_than_chance" in part:
        lacking = part.loc[~part["better_than_chance"].astype(bool), name]
        if len(lacking):
            are = agree(len(lacking), "is", "are")
            yield f"{join(lacking, noun=many)} {are} not shown to be better than chance."
        else:
            yield "All are better than chance."
    if "tie_decides" in part and part["tie_decides"].any():
        decided = part.loc[part["tie_decides"].astype(bool), name]
        yield (
            "Another order of the equal scores in one of two compared lists can change the results"
            f" of tests that involve {join(decided, noun=many)}."
        )
    if "tied" in part and (part["tied"] > 0).any():
        cut = part[part["tied"] > 0]
        lists, end = agree(len(cut), "list", "lists"), agree(len(cut), "ends", "end")
        yield f"The {lists} of {join(cut[name], noun=many)} {end} inside a tie."


#: adjustments with which all ranks hold together
TOGETHER = ("max-t", "max-t-stepdown", "holm", "bonferroni")

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
    elif (
        "metric" not in attrs and "metric" not in others
    ):  # too few rows for an interval and a test
        untested = others["ci_low"].isna().to_numpy()
    many = f"other {noun_of(attrs)}s"
    they, are, do, were = (agree(len(first), *words) for words in _THEY)
    how = " (unadjusted tests)" * (len(first) + len(others) > 2)
    if adjustment(attrs):
        how = f" ({adjustment(attrs, brief=True)})"
    texts: tuple[tuple[str, Any, str], ...] = (
        (f"{they} {do} not differ significantly from", alike & ~untested, "or"),
        (f"{they} {are} significantly better than", apart, "and"),
        (
            f"Only some of the best {noun_of(attrs)}s are significantly better than",
            ~(alike | apart | untested),
            "and",
        ),
    )
    named: Any = others[name]
    for text, which, last in texts:
        if which.any():
            no_proof = last == "or" and "difference" not in others
            end = ", which is not evidence of equality" * no_proof
            yield f"{text} {join(named[which], last, noun=many)}{how}{end}."
            how = ""
    if untested.any():
        yield f"{they} {were} not tested against {join(others[name][untested], 'or', noun=many)}."


def _differences(part: pd.DataFrame, name: str, attrs: Attrs) -> Iterator[str]:
    """Write the differences from the baseline, as comparisons with it."""
    limits = {f"difference_{end}": f"ci_{end}" for end in ("low", "high")}
    own = ["difference", *limits, *P_VALUES]
    rows = part[[name, *(x for x in own if x in part)]].rename(columns={name: "system_a", **limits})
    rows.insert(1, "system_b", attrs["baseline"])
    compared = rows["difference"].notna() & (rows["system_a"] != attrs["baseline"])
    yield from comparison_sentences(rows[compared], attrs)
