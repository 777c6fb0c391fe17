"""Write the verdicts of a table that ranks measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.words.comparisons import comparison_sentences
from rankeval_pd.words.numbers import (
    agree,
    capitalized,
    column_unit,
    join,
    letter_sets,
)
from rankeval_pd.words.vocabulary import (
    P_VALUES,
    Attrs,
    Row,
    adjustment,
    called,
    extreme_of,
    first_of,
    is_lower_better,
    level_of,
    noun_of,
)


def verdict_sentences(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
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
        yield capitalized(f"{place}the {noun} of {best[name]}{at} is {shown} ({interval}).")
        return
    if interval:
        shown += f", {interval}"
    have, best_is = agree(len(first), "has", "have"), extreme_of(attrs)
    yield f"{place}{join(first[name], noun=many)} {have} the {best_is} {noun}{at} ({shown})."
    others = part.drop(first.index)
    if "letters" in part and len(others):
        yield from _rank_sentences(first, others, name, attrs)
    if "difference" in part and "baseline" in attrs:
        yield from _differences(part, name, {**attrs, **where})
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
    elif (
        "n_candidates" in attrs and "metric" not in others
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
