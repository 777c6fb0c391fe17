"""Tables as sentences of a results section, and how they were made as a methods section."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_flag, listed
from rankeval_pd.forms.out.phrases import (
    NOUNS,
    SENTENCES,
    SHARES,
    Unit,
    adjustment,
    alpha_of,
    called,
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

_MOST = 8  # rows that get a sentence each

Attrs = Mapping[Any, Any]
Row = dict[Any, Any]


def in_words(table: pd.DataFrame | xr.Dataset, *, methods: bool = False) -> str:
    """Write a table that a method returned as sentences.

    Parameters
    ----------
    table : DataFrame or Dataset
        The result of any method, with all columns or the short ones; or some of its rows.
    methods : bool
        Whether to write how the table was made instead, from its ``attrs``.

    Returns
    -------
    str
        A paragraph per group and list size for verdicts, a sentence or two per row for other
        tables. Of long tables only the ends of each measure are written. Several p-values without
        an adjustment are called unadjusted.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> print(rankeval_pd.in_words(df.rankeval.summary(100)))
    good has the highest precision at n = 100 (49.0%, 95% interval 38.9% to 59.2%). It is
    significantly better than fair.
    >>> compared = df.rankeval.compare("good", "fair", 100)
    >>> print(rankeval_pd.in_words(compared))
    At n = 100, the precision of good is 17.0 points higher than that of fair (95% interval 6.6
    to 26.8 points; p = 0.002). The difference is significant at the 5% level.
    >>> print(rankeval_pd.in_words(compared, methods=True))
    The table was made with `compare` of rankeval_pd 0.1.0 at n = 100. Differences were tested
    by Fisher's exact test. The tests were two-sided and unadjusted, with a significance level
    of 5%. Score intervals have a confidence level of 95%.
    """
    check_flag("methods", methods)
    frame, attrs = as_frame(table), table.attrs
    if methods:
        return methods_section(frame, attrs)
    for needed, write in _KINDS:
        if all(any(x in frame for x in name.split("|")) for name in needed.split()):
            return "\n\n".join([*write(frame, attrs), *_ties(attrs)]) or "The table has no rows."
    raise ValueError(
        f"table has the columns {listed(frame.columns)}, which no method returns together. Give the"
        " result of a method of .rankeval, or some of its rows."
    )


def _ties(attrs: Attrs) -> Iterator[str]:
    """Write what a short table leaves out."""
    count = attrs.get("n_ending_in_tie", 0)
    if count:
        yield (
            f"{'One row is' if count == 1 else f'{count:,} rows are'} of lists that end inside a"
            " tie; `details=True` shows which."
        )


def as_frame(table: Any) -> pd.DataFrame:
    """Return a result as a frame, the rows of a Dataset's batches under each other."""
    if isinstance(table, xr.Dataset):
        frame = table.to_dataframe().reset_index()
        frame = frame.drop(columns=["row", "pair", "cut"], errors="ignore")
        return frame[sorted(frame, key=lambda name: name in table.data_vars)].dropna(how="all")
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table is of type {type(table).__name__}: give the result of a method.")
    return table


# ----------------------------------------------------------------------------------- verdict tables


def _verdicts(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write who is best, who is tied with the best, and what the differences are."""
    name = "measure" if "measure" in frame else "system"
    before = list(frame.columns[: list(frame.columns).index(name)])
    keys = [*before, *(x for x in ("metric", "n") if x in frame and x not in before)]
    parts = frame.groupby(keys, sort=False, observed=True) if keys else [((), frame)]
    for values, part in parts:
        where = dict(zip(keys, values if isinstance(values, tuple) else (values,), strict=True))
        yield " ".join(_verdict(part, name, where, attrs))


def _verdict(part: pd.DataFrame, name: str, where: Row, attrs: Attrs) -> Iterator[str]:
    lower = attrs.get("higher_is_better") == 0
    part = part.sort_values("value", ascending=lower, kind="stable")
    noun, percent = called({**attrs, **where})
    noun = f"mean {noun}" if "metric" in where else noun
    limits = known(part, ("ci_low", "difference_low"))[:1]
    width: Any = part[limits[0].replace("low", "high")] - part[limits[0]] if limits else []
    unit = unit_of(part["value"], width, percent=percent)
    at = f" at n = {where['n']:,}" if "n" in where else ""
    place = "".join(f"In {k} {v}, " for k, v in where.items() if k not in ("metric", "n"))
    best = part.iloc[0]
    first = part[part["value"] == best["value"]]
    shown = unit.value(best["value"])
    if "ci_low" in part and np.isfinite([best["ci_low"], best["ci_high"]]).any():
        shown += f", {level_of(attrs)} interval {unit.limits(best['ci_low'], best['ci_high'])}"
    elif "ci_low" in part:
        shown += f", no {level_of(attrs)} interval"
    have = "have" if len(first) > 1 else "has"
    yield (
        f"{place}{join(first[name])} {have} the {'lowest' if lower else 'highest'} {noun}{at}"
        f" ({shown})."
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
            f"{join(lacking)} {'is' if len(lacking) == 1 else 'are'} not shown to be better than"
            " chance."
            if len(lacking)
            else f"{all_are} better than chance."
        )
    if "tied" in part and (part["tied"] > 0).any():
        cut = part[part["tied"] > 0]
        counts, one = join(f"{count:,}" for count in cut["tied"]), len(cut) == 1
        yield (
            f"The {'list' if one else 'lists'} of {join(cut[name])} {'ends' if one else 'end'}"
            f" inside a tie: {counts} candidates with the last score are excluded."
        )


def _ranks(first: pd.DataFrame, others: pd.DataFrame, name: str, attrs: Attrs) -> Iterator[str]:
    """Write who is not distinguished from the best, and who is significantly worse."""
    tied, worse = others[others["rank_low"] == 1], others[others["rank_low"] > 1]
    if "letters" in others:  # the table tells who is tied with the best, and not with some other
        own, *rest = letter_sets([first["letters"].iloc[0], *others["letters"]])
        shares = np.array([bool(own & x) for x in rest])
        tied, worse = others[shares], others[~shares]
    it = "They are" if len(first) > 1 else "It is"
    unadjusted = " (unadjusted tests)" if len(first) + len(others) > 2 else ""
    how = f" ({adjustment(attrs)})" if adjustment(attrs) else unadjusted
    if len(tied):
        do = "do" if len(first) > 1 else "does"
        it_does = f"{it.split()[0]} {do} not differ significantly"
        it_does += f" from {join(tied[name], 'or')}{how}"
        yield f"{it_does}{'' if 'difference' in others else ', which is not evidence of equality'}."
        how = ""
    if len(worse):
        yield f"{it} significantly better than {join(worse[name])}{how}."


def _differences(
    part: pd.DataFrame, first: pd.DataFrame, name: str, unit: Unit, attrs: Attrs
) -> Iterator[str]:
    """Write the differences from the baseline, or from the best."""
    base, how = attrs.get("baseline"), adjustment(attrs)
    said = f"; {how}" if how else ""
    compared = part[part["p_adjusted"].notna()] if "p_adjusted" in part else part.iloc[:0]
    if base is None:
        compared = compared.drop(first.index, errors="ignore").iloc[:1]
        base = join(first[name].iloc[:1])
    elif len(compared) > _MOST:
        alpha = alpha_of(attrs)
        sure = compared[compared["p_adjusted"] <= alpha]
        up = int((sure["difference"] > 0.0).sum())
        yield (
            f"Of {len(compared)} {name}s, {up} are significantly higher than {base} and"
            f" {len(sure) - up} significantly lower ({how or 'unadjusted'})."
        )
        compared, said = compared.iloc[:1], ""
    for row in compared.to_dict("records"):
        gap, p = row["difference"], row["p_adjusted"]
        ends = [row.get(x, math.nan) for x in ("difference_low", "difference_high")]
        ends = [-ends[1], -ends[0]] if gap < 0.0 else ends
        told = [] if math.isnan(sum(ends)) else [f"{level_of(attrs)} interval {unit.gaps(*ends)}"]
        told.append(f"{'adjusted ' if how else ''}{_p(p, attrs)}")
        beside = f"({', '.join(told)}{said})"
        said = ""
        by, side = unit.gap(gap), "higher" if gap > 0.0 else "lower"
        if p <= alpha_of(attrs):
            yield f"{row[name]} is significantly {side} than {base}, by {by} {beside}."
            if ends[0] <= 0.0 <= ends[1]:
                yield _WIDER
        else:
            it = f"it is {by} {side}" if gap else "the difference is 0"
            yield f"{row[name]} does not differ significantly from {base}: {it} {beside}."


_WIDER = "The interval is more conservative than the test and contains 0."


def _p(p: float, attrs: Attrs) -> str:
    return p_text(p, least=least_p(attrs), alpha=alpha_of(attrs))


# -------------------------------------------------------------------------------------- comparisons

_GAPS = {"measure": "difference", "system": "gain", "sample": "difference"}


def _comparisons(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write the difference of each pair, or of many pairs how many differ."""
    kind = next(x for x in _GAPS if f"{x}_a" in frame)
    gap = _GAPS[kind] if _GAPS[kind] in frame else "odds_ratio"
    p = next((x for x in ("p_adjusted", "p_value") if x in frame), None)
    several = len(frame) > 1
    how = adjustment(attrs) or ("unadjusted" if several and p == "p_value" else "")
    if len(frame) > _MOST and p is not None:
        yield _many(frame, kind, gap, p, how, attrs)
        return
    noun, percent = called(attrs)
    ends = next((x for x in ("ci", "band") if f"{x}_low" in frame), None)
    widths: Any = [] if ends is None else frame[f"{ends}_high"] - frame[f"{ends}_low"]
    unit = unit_of(frame[gap], widths, percent=percent and gap != "odds_ratio")
    for row in _ends(frame).to_dict("records"):
        yield _compared(row, kind, gap, p, how, noun, unit, attrs)
        how = "" if several and how == adjustment(attrs) else how


def _compared(
    row: Row, kind: str, gap: str, p: str | None, how: str, noun: str, unit: Unit, attrs: Attrs
) -> str:
    keys = [*row][: [*row].index(f"{kind}_a")]
    where = "".join(f"In {k} {row[k]}, " for k in keys if k not in ("size", "measure", "n"))
    where += f"With {row['size']:,} items, " if "size" in keys else ""
    where += f"{'at' if where else 'At'} n = {row['n']:,}, " if "n" in row else ""
    if "n_first" in row:
        where = f"From n = {row['n_first']:,} to {row['n_last']:,}, "
    a, b, value = row[f"{kind}_a"], row[f"{kind}_b"], row[gap]
    if kind == "sample":
        a, b = (f"{row['measure']} in {x}" for x in (a, b))
    if pd.isna(value):
        return f"{where}{a} and {b} cannot be compared: one of them has no value."
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
    sure = p is not None and row[p] <= alpha_of(attrs)
    if p is not None and pd.notna(row[p]):
        told.append(
            f"{'adjusted ' * (p == 'p_adjusted' and bool(adjustment(attrs)))}{_p(row[p], attrs)}"
        )
        told += [how] if how else []
        told += [f"alternative: {side}"] if side != "two-sided" else []
    if gap == "odds_ratio":
        text = f"the odds ratio of {a} and {b} is {unit.number(value)}"
    elif value == 0.0:
        text = f"{a} and {b} have the same {noun}"
    else:
        lower = attrs.get("higher_is_better") == 0
        comparative = "lower" if (value < 0.0 and not turned) != lower else "higher"
        text = f"the {noun} of {a} is {unit.gap(value)} {comparative} than that of {b}"
    text = where + text if where else text[0].upper() + text[1:]
    verdict = ""
    if p is not None and pd.notna(row[p]):
        verdict = f" The difference is {'' if sure else 'not '}significant at the"
        verdict += f" {percent_of(alpha_of(attrs))} level"
        shown = not sure and gap != "odds_ratio" and all(math.isfinite(x) for x in ends)
        verdict += f"; the data leave {unit.gaps(*ends)} open." if shown else "."
    if sure and ends[0] <= 0.0 <= ends[1] and gap != "odds_ratio":
        verdict += f" {_WIDER}"
    verdict += margin_words(row, a, b, percent=unit.percent, attrs=attrs)
    cut = " A list ends inside a tie." if row.get("cuts_tie") else ""
    beside = f" ({'; '.join(told)})" if told else ""
    return f"{text}{beside}.{verdict}{cut}"


def _many(frame: pd.DataFrame, kind: str, gap: str, p: str, how: str, attrs: Attrs) -> str:
    """Write how many of many comparisons are significant, and which difference is largest."""
    alpha = alpha_of(attrs)
    noun, percent = called(attrs)
    sure = frame[frame[p] <= alpha]
    text = (
        f"Of {len(frame):,} comparisons, {len(sure):,} are significant at the {percent_of(alpha)}"
        f" level ({how})."
    )
    if not len(frame[gap].dropna()):
        return text
    row: Row = frame.to_dict("records")[int(frame[gap].abs().to_numpy().argmax())]
    widths: Any = frame["ci_high"] - frame["ci_low"] if "ci_low" in frame else []
    unit = unit_of(frame[gap], widths, percent=percent)
    largest = _compared(row, kind, gap, p, "", noun, unit, attrs)
    left = frame[~(frame[p] <= alpha)]
    pairs = [f"{a} and {b}" for a, b in zip(left[f"{kind}_a"], left[f"{kind}_b"], strict=True)]
    rest = f" Not shown to differ: {'; '.join(pairs)}." if 0 < len(pairs) < 7 else ""
    between = f"{row[f'{kind}_a']} and {row[f'{kind}_b']}"
    largest = f"{largest[0].lower()}{largest[1:]}"
    return f"{text}{rest} The largest difference is between {between}: {largest}"


# ------------------------------------------------------------------------- rows, each in a sentence

_AS_P = ("p_value", "p_min", "p_median", "p_max", "p_dispersion")
_PLAIN = ("p", "alpha", "p_low", "p_high")  # options, as they were given


def _rows(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write each row, or of a long table the first and the last of each measure."""
    if {"measure", "metric", "value"} <= {*frame}:
        means = frame.groupby(["metric", "measure"], sort=False, observed=True)["value"]
        frame = means.agg(["mean", "count"]).reset_index()
        frame = frame.rename(columns={"mean": "value", "count": "queries"})
    if "n_pairs" in frame:
        frame = frame[frame["n_pairs"] > 0]
    if not len(frame):
        yield "The table has no rows with data."
        return
    sentence = next(
        (text for needed, text in SENTENCES
         if any({*columns.split()} <= {*frame} for columns in needed.split("|"))), None,
    )  # fmt: skip
    units = {name: _unit(frame, name, attrs) for name in frame if _is_number(frame[name])}
    own = next((x for x in reversed(_GROUPED) if x in frame), None)
    before = list(frame.columns[: list(frame.columns).index(own)]) if own else []
    shown = _ends(frame)
    for row in shown.to_dict("records"):
        where = "".join(f"In {name} {row[name]}: " for name in before if name not in units)
        yield where + _row(row, units, sentence, attrs)
    left = len(frame) - len(shown)
    if left:
        yield f"The table has {left:,} further rows."
    if len(frame) > 1 and "p_value" in frame and "adjust" not in attrs:
        yield "The p-values are unadjusted."


_GROUPED = ("measure", "measure_a")  # what follows the columns of groups


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _unit(frame: pd.DataFrame, name: Any, attrs: Attrs) -> Unit:
    """Return how a column is written: with the decimals of its interval if it has one."""
    if pd.api.types.is_integer_dtype(frame[name]):
        return Unit(percent=False, decimals=0)
    if name == "expected":
        return Unit(percent=False, decimals=2)
    low, high = _limits(frame, name)
    widths: Any = frame[high] - frame[low] if high in frame else []
    percent = name in (*SHARES, "share", "expected_agreement", "sd_observed", "sd_expected")
    percent |= name == "difference" and called(attrs)[1]
    return unit_of(frame[name], widths, percent=percent)


def _limits(columns: Any, name: Any) -> tuple[str, str]:
    """Return the columns of the limits of an estimate, "" where it has none."""
    estimates = [x for x in _ESTIMATES if x in columns]
    for start in (str(name), "ci", "band"):
        if f"{start}_low" in columns and name in estimates[:1]:
            return f"{start}_low", f"{start}_high"
    return "", ""


_ESTIMATES = (
    "average_precision", "area", "value", "agreement", "precision", "recall", "lift", "threshold",
)  # fmt: skip


def _row(row: Row, units: Mapping[Any, Unit], sentence: str | None, attrs: Attrs) -> str:
    """Write a row: the sentence with its numbers, or the numbers with their nouns."""
    texts: dict[Any, Any] = {name: value for name, value in row.items() if name not in units}
    for name, unit in units.items():
        whole = isinstance(row[name], int | np.integer)
        texts[name] = f"{row[name]:,}" if whole else unit.value(row[name])
        if name in _PLAIN or (name == "threshold" and "n_pairs" not in row):
            texts[name] = f"{row[name]:.4g}"
        if name in _AS_P:
            p = p_text(row[name])
            texts[name] = p if name in ("p_value", "p_dispersion") else p.removeprefix("p = ")
        low, high = _limits(row, name)
        if low:
            ends = (float(row[low]), float(row.get(high, math.inf)))
            limits = "not available" if math.isnan(ends[0]) else unit.limits(*ends)
            texts["least"] = unit.value(ends[0])
            texts["ci"] = f"{level_of(attrs)} interval {limits}"
            texts["band"] = f"simultaneous {level_of(attrs)} band {limits}"
    texts |= {"noun": called(attrs)[0], "level": level_of(attrs)}
    end = " The list ends inside a tie." if row.get("tied") else ""
    if sentence is not None:
        return _ONE.sub(r"1 \1", sentence.format_map(_Known(texts))) + end
    who = f"{row['measure']}: " if "measure" in row else ""
    parts = [
        f"{NOUNS.get(x, str(x).replace('_', ' '))} = {texts[x]}"
        + (f" ({texts['ci']})" if _limits(row, x)[0] else "")
        for x in units
        if not str(x).endswith(("_low", "_high"))
    ]
    return f"{who}{join(parts, most=12)}.{end}"


_ONE = re.compile(r"\b1 (true positive|candidate|gain|pair|sample|querie)s\b")


class _Known(dict[Any, Any]):
    """The numbers of a row; what a short table lacks is not available."""

    def __missing__(self, name: str) -> str:
        return "not available"


def _ends(frame: pd.DataFrame) -> pd.DataFrame:
    """Return all rows of a short table, else the first and last of each measure, the first few."""
    if len(frame) <= _MOST:
        return frame
    names = known(frame, ("measure", "measure_a", "measure_b", "system_a", "system_b", "metric"))
    if not names:
        return frame.iloc[[0, -1]]
    number = frame.groupby(names, sort=False, observed=True).ngroup()
    ends = frame[~number.duplicated() | ~number.duplicated(keep="last")]
    return ends.iloc[:_MOST]


def _ranges(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Write where one measure is significantly better."""
    how = adjustment(attrs) or "each size tested alone, unadjusted"
    if not len(frame):
        yield f"No difference is significant at any requested size ({how})."
    for row in frame.iloc[:_MOST].to_dict("records"):
        other = row["measure_b"] if row["better"] == row["measure_a"] else row["measure_a"]
        size = f"n = {row['n_first']:,}"
        if row["n_last"] > row["n_first"]:
            size = f"all {row['n_tests']:,} tested sizes from n = {row['n_first']:,} to"
            size += f" {row['n_last']:,}"
        yield (
            f"{row['better']} is significantly better than {other} at {size}"
            f" ({p_text(row['p_max']).replace('p', 'largest p', 1)}; {how})."
        )
    if len(frame) > _MOST:
        yield f"The table has {len(frame) - _MOST:,} further ranges."


Writer = Callable[[pd.DataFrame, Attrs], Iterator[str]]
#: tables by the columns that they have, the first that fits
_KINDS: tuple[tuple[str, Writer], ...] = (
    ("measure_a measure_b better n_first n_last n_tests", _ranges),
    ("system|measure value rank_low rank_high", _verdicts),
    ("system|measure value difference p_adjusted", _verdicts),
    ("measure_a|system_a|sample_a measure_b|system_b|sample_b difference|gain|odds_ratio",
     _comparisons),
    ("measure|system|n|threshold|p_low|power|alpha|p", _rows),
)  # fmt: skip
