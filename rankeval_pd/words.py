"""Write tables as sentences for a results or methods section."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_attrs, check_flag, checked_call, listed, no_table
from rankeval_pd.forms.out.phrases import (
    Unit,
    adjustment,
    alpha_of,
    called,
    design,
    join,
    known,
    least_p,
    letter_sets,
    level_of,
    margin_words,
    methods_section,
    p_text,
    percent_of,
    unit_of,
)
from rankeval_pd.forms.out.row_sentences import MOST, Attrs, Row, ends_of, row_sentences
from rankeval_pd.forms.out.tables import listed_in, rows_in
from rankeval_pd.stats.significance.adjust import rejects


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
    good has the highest precision at n = 100 (49.0%, simultaneous 95% interval 37.5% to
    60.6%). It is significantly better than fair.
    >>> compared = df.rankeval.compare("good", "fair", 100)
    >>> print(rankeval_pd.in_words(compared))
    At n = 100, the precision is 17.0 points higher for good than for fair (95% interval 6.6 to
    26.8 points; p = 0.002). The difference is significant at the 5% level.
    >>> print(rankeval_pd.in_words(compared, methods=True))
    The table was made with `compare` of rankeval_pd 0.1.0 at n = 100. Differences were tested
    with Fisher's exact test. The tests were two-sided and unadjusted, with a significance level
    of 5%. Score intervals have a confidence level of 95%.
    """
    check_flag("methods", methods)
    frame, attrs = as_frame(table), table.attrs
    if methods:
        return methods_section(frame, attrs)
    for needed, write in _KINDS:
        if all(any(x in frame for x in name.split("|")) for name in needed.split()):
            check_attrs(attrs)
            beside = _ties, _grid, _annotators, _pool, _queries, design
            told = [*write(frame, attrs), *(text for say in beside for text in say(attrs))]
            return "\n\n".join(told) or "The table has no rows."
    raise ValueError(
        f"table has the columns {listed(frame.columns)}, but no method returns a table with these"
        " columns. Pass the result of a .rankeval method, or rows from the result."
    )


def _ties(attrs: Attrs) -> Iterator[str]:
    """Write how many lists end inside a tie."""
    count = attrs.get("n_ending_in_tie", 0)
    if count:
        rows = f"{count:,} rows describe lists that end"
        rows = "One row describes a list that ends" if count == 1 else rows
        yield f"{rows} inside a tie; `details=True` shows which lists."


def _grid(attrs: Attrs) -> Iterator[str]:
    """Describe results that are not exact at every n."""
    if attrs.get("p_adjusted") == "rounded up":
        yield "Adjusted p-values are exact, or rounded up to the next exact p-value."
    if count := attrs.get("n_grid"):
        yield (
            f"There are too many candidates to compute every n. The results are for {count:,}"
            " values of n; above n = 70, consecutive values differ by at most about 1%."
        )


def _annotators(attrs: Attrs) -> Iterator[str]:
    """Write whether the conclusion is the same for all annotators."""
    if names := listed_in(attrs, "annotators"):
        differ = listed_in(attrs, "annotators_differ")
        yield (
            f"The conclusion differs for {join(differ, noun='annotators')}."
            if differ
            else f"The conclusion is the same for each of the {len(names)} annotators."
        )


def _pool(attrs: Attrs) -> Iterator[str]:
    """Describe the pool of the random baseline, unless it contains all candidates."""
    pool = attrs.get("pool", "all")
    if pool == "retrieved":
        yield (
            "The chance level is the value for a random order of the candidates that each measure"
            " retrieved."
        )
    elif pool != "all":
        yield (
            f"The chance level is the value for a random draw from a collection of {int(pool):,}"
            " candidates in each group."
        )


def _queries(attrs: Attrs) -> Iterator[str]:
    """Write caveats about means over queries."""
    lacking, undefined, tied = (attrs.get(f"n_{x}", 0) for x in ("lacking", "undefined", "tied"))
    counted = "A query {} counts as 0 (up to {:,} quer{})."
    if lacking:
        end = "y" if lacking == 1 else "ies"
        yield counted.format("for which a run retrieved nothing", lacking, end)
    if undefined:
        yield counted.format("without a value", undefined, "y" if undefined == 1 else "ies")
    if tied:
        yield f"Up to {tied:,} lists per run end inside a tie; `details=True` shows the range."
    if attrs.get("judged_low", 1.0) < 1.0:
        low, high = (f"{attrs[f'judged_{x}']:.0%}" for x in ("low", "high"))
        share = low if low == high else f"{low} to {high}"
        yield f"{share} of the documents up to the cutoff are judged."
    if attrs.get("depth_low", 0) < attrs.get("depth_high", 0):
        low, high = (f"{attrs[f'depth_{x}']:,}" for x in ("low", "high"))
        yield f"The longest lists in the runs contain {low} to {high} documents."


def as_frame(table: Any) -> pd.DataFrame:
    """Return a result as a frame, stacking the batches of a Dataset."""
    if isinstance(table, xr.Dataset):
        frame = rows_in(table).drop(columns=["row", "pair", "cut"], errors="ignore")
        return frame[sorted(frame, key=lambda name: name in table.data_vars)].dropna(how="all")
    if not isinstance(table, pd.DataFrame):
        raise no_table("table", table, "the result of a method")
    return table


# ----------------------------------------------------------------------------------- tables that
# rank measures


def _verdicts(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the best rows, all rows tied with the best, and the differences."""
    name = "measure" if "measure" in frame else "system"
    before = list(frame.columns[: list(frame.columns).index(name)])
    keys = [*before, *(x for x in ("metric", "n") if x in frame and x not in before)]
    parts = frame.groupby(keys, sort=False, observed=True) if keys else [((), frame)]
    for values, part in parts:
        where = dict(zip(keys, values if isinstance(values, tuple) else (values,), strict=True))
        yield " ".join(_verdict(part, name, where, attrs))


def _verdict(part: pd.DataFrame, name: str, where: Row, attrs: Attrs) -> Iterator[str]:
    lower, many = attrs.get("higher_is_better") == 0, f"{name}s"
    unknown = part.loc[part["value"].isna(), name]
    part = part.dropna(subset="value").sort_values("value", ascending=lower, kind="stable")
    noun, percent = called({**attrs, **where})
    noun = f"mean {noun}" if "metric" in where else noun
    limits = known(part, ("ci_low", "difference_low"))[:1]
    width: Any = part[limits[0].replace("low", "high")] - part[limits[0]] if limits else []
    unit = unit_of(part["value"], width, percent=percent)
    at = f" at n = {where['n']:,}" if "n" in where else ""
    place = "".join(f"For {k} {v}, " for k, v in where.items() if k not in ("metric", "n"))
    if len(unknown):
        has = "has" if len(unknown) == 1 else "have"
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
    have = "have" if len(first) > 1 else "has"
    yield (
        f"{place}{join(first[name], noun=many)} {have} the"
        f" {'lowest' if lower else 'highest'} {noun}{at} ({shown})."
    )
    others = part.drop(first.index)
    if "rank_low" in part and len(others):
        yield from _ranks(first, others, name, attrs)
    if "difference" in part:
        yield from _differences(part, first, name, unit, attrs)
    if "better_than_chance" in part:
        lacking = part.loc[~part["better_than_chance"].astype(bool), name]
        all_are = {1: "It is", 2: "Both are"}.get(len(part), "All are")
        yield (
            f"{join(lacking, noun=many)} {'is' if len(lacking) == 1 else 'are'}"
            " not shown to be better than chance."
            if len(lacking)
            else f"{all_are} better than chance."
        )
    if "tie_decides" in part and part["tie_decides"].any():
        yield (
            "The order of equal scores determines the results of the tests for"
            f" {join(part.loc[part['tie_decides'].astype(bool), name], noun=many)}."
        )
    if "tied" in part and (part["tied"] > 0).any():
        cut = part[part["tied"] > 0]
        one, few = len(cut) == 1, len(cut) <= 6
        counts = join(f"{count:,}" for count in cut["tied"]) if few else "some"
        are = ("candidate", "is") if counts == "1" else ("candidates", "are")
        yield (
            f"The {'list' if one else 'lists'} of {join(cut[name], noun=many)}"
            f" {'ends' if one else 'end'} inside a tie: {counts} {are[0]} with the last score"
            f" {are[1]} excluded."
        )


def _ranks(first: pd.DataFrame, others: pd.DataFrame, name: str, attrs: Attrs) -> Iterator[str]:
    """Describe rows tied with the best row, and rows that are worse."""
    if "letters" in others:
        sets = letter_sets([*first["letters"], *others["letters"]])
        shares = np.array([[bool(a & b) for a in sets[: len(first)]] for b in sets[len(first) :]])
        alike, apart = shares.all(axis=1), ~shares.any(axis=1)
        mixed = ~alike & ~apart
    else:  # either no row is significantly better, or every row with a higher value is better
        ahead = [len(first) + int((others["value"] != x).cumprod().sum()) for x in others["value"]]
        alike, apart = ((others["rank_low"] == x).to_numpy() for x in (1, np.array(ahead) + 1))
        mixed = np.zeros(len(others), dtype=bool)
    untested = np.zeros(len(others), dtype=bool)
    p = next((x for x in ("p_adjusted", "p_value") if x in others), None)
    if p is not None and "baseline" not in attrs and others["difference"].notna().any():
        untested = others[p].isna().to_numpy()
    elif name == "measure" and "metric" not in others:  # too few rows for an interval and a test
        untested = others["ci_low"].isna().to_numpy()
    they, are, do = ("They", "are", "do") if len(first) > 1 else ("It", "is", "does")
    unadjusted = " (unadjusted tests)" if len(first) + len(others) > 2 else ""
    how = f" ({adjustment(attrs, brief=True)})" if adjustment(attrs) else unadjusted
    texts: tuple[tuple[str, Any, str], ...] = (
        (f"{they} {do} not differ significantly from", alike & ~untested, "or"),
        (f"{they} {are} significantly better than", apart, "and"),
        (f"Only some of the best {name}s are significantly better than", mixed & ~untested, "and"),
    )
    for text, mask, last in texts:
        which = np.asarray(mask, dtype=bool)
        if which.any():
            open_ = last == "or" and "difference" not in others
            end = ", which is not evidence of equality" if open_ else ""
            yield f"{text} {join(others[name][which], last)}{how}{end}."
            how = ""
    untested = np.asarray(untested, dtype=bool)
    if untested.any():
        yield (
            f"{they} {'were' if len(first) > 1 else 'was'} not tested against"
            f" {join(others[name][untested], 'or')}."
        )


def _differences(
    part: pd.DataFrame, first: pd.DataFrame, name: str, unit: Unit, attrs: Attrs
) -> Iterator[str]:
    """Write the differences from the baseline, or from the best."""
    base, how, lower = attrs.get("baseline"), adjustment(attrs), attrs.get("higher_is_better") == 0
    said = f"; {how}" if how else ""
    p_name = next((x for x in ("p_adjusted", "p_value") if x in part), "")
    compared = part[part["difference"].notna() & (part[name] != base)]
    if base is None:
        compared = compared.drop(first.index, errors="ignore").iloc[:1]
        base = join(first[name].iloc[:1])
    elif len(compared) > MOST and p_name:
        alpha, compared = alpha_of(attrs), compared[compared[p_name].notna()]
        sure = compared[rejects(compared[p_name], alpha)]
        up = int(((sure["difference"] > 0.0) != lower).sum())
        yield (
            f"Of {len(compared)} {name}s, {up} are significantly higher than {base} and"
            f" {len(sure) - up} significantly lower ({how or 'unadjusted'})."
        )
        compared, said = compared.iloc[:1], ""
    for row in compared.iloc[:MOST].to_dict("records"):
        gap, p = row["difference"], row.get(p_name, math.nan)
        ends = [row.get(x, math.nan) for x in ("difference_low", "difference_high")]
        ends = [-ends[1], -ends[0]] if gap < 0.0 else ends
        told = [] if math.isnan(sum(ends)) else [f"{level_of(attrs)} interval {unit.gaps(*ends)}"]
        told += [f"{'adjusted ' if how else ''}{_p(p, attrs)}"] if p_name else []
        beside = f"({', '.join(told)}{said})" if told else ""
        said = ""
        by, side = unit.gap(gap), "higher" if (gap > 0.0) != lower else "lower"
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


# -------------------------------------------------------------------------------------- comparisons

_GAPS = {"measure": "difference", "system": "gain", "sample": "difference"}


def _comparisons(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the difference for each pair, or a summary of many pairs."""
    kind = next(x for x in _GAPS if f"{x}_a" in frame)
    gap = _GAPS[kind] if _GAPS[kind] in frame else "odds_ratio"
    p = next((x for x in ("p_adjusted", "p_value") if x in frame), None)
    several = len(frame) > 1
    how = adjustment(attrs) or ("unadjusted" if several and p == "p_value" else "")
    if len(frame) > MOST and p is not None:
        yield _many(frame, kind, gap, p, how, attrs)
        return
    noun, percent = called(attrs)
    ends = next((x for x in ("ci", "band") if f"{x}_low" in frame), None)
    widths: Any = [] if ends is None else frame[f"{ends}_high"] - frame[f"{ends}_low"]
    unit = unit_of(frame[gap], widths, percent=percent and gap != "odds_ratio")
    for row in ends_of(frame).to_dict("records"):
        yield _compared(row, kind, gap, p, how, noun, unit, attrs)
        how = "" if several and how == adjustment(attrs) else how


def _compared(
    row: Row, kind: str, gap: str, p: str | None, how: str, noun: str, unit: Unit, attrs: Attrs
) -> str:
    keys = [*row][: [*row].index(f"{kind}_a")]
    where = "".join(f"For {k} {row[k]}, " for k in keys if k not in ("size", "measure", "n"))
    where += f"With {row['size']:,} items, " if "size" in keys else ""
    where += f"{'at' if where else 'At'} n = {row['n']:,}, " if "n" in row else ""
    if "n_first" in row:
        where = f"From n = {row['n_first']:,} to {row['n_last']:,}, "
    a, b, value = row[f"{kind}_a"], row[f"{kind}_b"], row[gap]
    if kind == "sample":
        a, b = (f"{row['measure']} in {x}" for x in (a, b))
    if pd.isna(value):
        return f"{where}{a} and {b} cannot be compared because a value is missing."
    ends = [row.get(x, math.nan) for x in ("ci_low", "ci_high")]
    ends = [row.get(x, y) for x, y in zip(("band_low", "band_high"), ends, strict=True)]
    turned = gap != "odds_ratio" and value < 0.0 and attrs.get("alternative") in (None, "two-sided")
    if turned:
        a, b, ends = b, a, [-ends[1], -ends[0]]
    side = attrs.get("alternative", "two-sided")
    ends = {"greater": [ends[0], math.inf], "less": [-math.inf, ends[1]]}.get(side, ends)
    told = []
    if not any(math.isnan(x) for x in ends):
        start, end = ("simultaneous ", "band") if "band_low" in row else ("", "interval")
        if math.isinf(ends[0]) or math.isinf(ends[1]):
            start, end = f"one-sided {start}", "limit:"
        told.append(f"{start}{level_of(attrs)} {end} {unit.gaps(*ends)}")
    sure = p is not None and rejects(row[p], alpha_of(attrs))
    if p is not None and pd.notna(row[p]):
        told.append(
            f"{'adjusted ' * (p == 'p_adjusted' and bool(adjustment(attrs)))}{_p(row[p], attrs)}"
        )
        told += [how] if how else []
        told += [f"alternative: {side}"] if side != "two-sided" else []
    if gap == "odds_ratio":
        text = f"the odds ratio between {a} and {b} is {unit.number(value)}"
    elif value == 0.0:
        text = f"{a} and {b} have the same {noun}"
    else:
        lower = attrs.get("higher_is_better") == 0
        comparative = "lower" if (value < 0.0 and not turned) != lower else "higher"
        text = f"the {noun} is {unit.gap(value)} {comparative} for {a} than for {b}"
        if attrs.get("test") == "wilcoxon":
            text = f"{a} scores {unit.gap(value)} {comparative} than {b}"
            told = ["Hodges–Lehmann estimate", *told]
    text = where + text if where else text[0].upper() + text[1:]
    verdict = ""
    if p is not None and pd.notna(row[p]):
        verdict = f" The difference is {'' if sure else 'not '}significant at the"
        verdict += f" {percent_of(alpha_of(attrs))} level"
        shown = not sure and gap != "odds_ratio" and all(math.isfinite(x) for x in ends)
        span = f"; the data are compatible with differences of {unit.gaps(*ends)}" if shown else ""
        verdict += f"{span}."
    elif p is not None:
        verdict = " No test was possible."
    if sure and ends[0] <= 0.0 <= ends[1] and gap != "odds_ratio":
        verdict += f" {_WIDER}"
    verdict += margin_words(row, a, b, percent=unit.percent, attrs=attrs)
    cut = _cut_words(row, unit, attrs, sign=-1.0 if turned else 1.0)
    beside = f" ({'; '.join(told)})" if told else ""
    return f"{text}{beside}.{verdict}{cut}"


def _cut_words(row: Row, unit: Unit, attrs: Attrs, *, sign: float) -> str:
    """Return the sentence about lists that end inside a tie, or ""."""
    if row.get("tie_decides"):
        text = " The order of equal scores determines this"
        if "tie_low" not in row:
            return f"{text} result: other orders lead to a different conclusion."
        ends = sorted(sign * row[x] for x in ("tie_low", "tie_high"))
        p = [p_text(row[x], alpha=alpha_of(attrs)) for x in ("p_tie_low", "p_tie_high")]
        p = p if ends[0] == sign * row["tie_low"] else p[::-1]
        return (
            f"{text} result: over random tie-breaking orders, the difference is {unit.gaps(*ends)}"
            f" ({' to '.join(p)})."
        )
    if not row.get("cuts_tie"):
        return ""
    if attrs.get("ties") == "expected":
        return " A list ends inside a tie; the results are means over all tie-breaking orders."
    return " A list ends inside a tie."


def _many(frame: pd.DataFrame, kind: str, gap: str, p: str, how: str, attrs: Attrs) -> str:
    """Write the number of significant comparisons and the largest difference."""
    alpha = alpha_of(attrs)
    noun, percent = called(attrs)
    sure = frame[rejects(frame[p], alpha)]
    frame = frame[frame[p].notna()]
    text = (
        f"Of {len(frame):,} comparisons, {len(sure):,} {'is' if len(sure) == 1 else 'are'}"
        f" significant at the {percent_of(alpha)} level ({how})."
    )
    if "tie_decides" in frame and (count := int(frame["tie_decides"].sum())):
        text += f" The order of equal scores determines the results of {count:,} of these tests."
    if not len(frame[gap].dropna()):
        return text
    row: Row = frame.to_dict("records")[int(frame[gap].abs().to_numpy().argmax())]
    widths: Any = frame["ci_high"] - frame["ci_low"] if "ci_low" in frame else []
    unit = unit_of(frame[gap], widths, percent=percent)
    largest = _compared(row, kind, gap, p, "", noun, unit, attrs)
    left = frame[~rejects(frame[p], alpha)]
    pairs = [f"{a} and {b}" for a, b in zip(left[f"{kind}_a"], left[f"{kind}_b"], strict=True)]
    rest = (
        f" These pairs do not differ significantly: {'; '.join(pairs)}."
        if 0 < len(pairs) < 7
        else ""
    )
    between = f"{row[f'{kind}_a']} and {row[f'{kind}_b']}"
    largest = f"{largest[0].lower()}{largest[1:]}"
    return f"{text}{rest} The largest difference is between {between}: {largest}"


# ------------------------------------------------------------------------------- ranges of sizes


def _ranges(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the range of n in which one measure is significantly better."""
    how = adjustment(attrs) or "each size tested separately, unadjusted"
    if not len(frame):
        yield f"No difference is significant at any requested size ({how})."
    for row in frame.iloc[:MOST].to_dict("records"):
        other = row["measure_b"] if row["better"] == row["measure_a"] else row["measure_a"]
        size = f"n = {row['n_first']:,}"
        if row["n_last"] > row["n_first"]:
            tested = row["n_tests"] + row.get("n_gaps", 0)
            many = (
                f"{row['n_tests']:,} of {tested:,}" if row.get("n_gaps", 0) else f"all {tested:,}"
            )
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
    ("system|measure value rank_low rank_high", _verdicts),
    ("system|measure value difference", _verdicts),
    ("measure_a|system_a|sample_a measure_b|system_b|sample_b difference|gain|odds_ratio",
     _comparisons),
    ("measure|system|n|threshold|p_low|power|alpha|p|statistic", row_sentences),
)  # fmt: skip
