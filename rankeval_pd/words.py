"""A table of verdicts, said in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.stats.resampling.metric_sums import WRITTEN

_COMPARED = (("measure", "difference", "p_value"), ("system", "gain", "p_two_sided"))
_NEEDED = ("value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best")


def in_words(table: pd.DataFrame | xr.Dataset) -> str:
    """Say a table of verdicts, or of comparisons, in sentences.

    Parameters
    ----------
    table : DataFrame or Dataset
        What :func:`summary`, :func:`measure_ranks` or :func:`system_ranks` returns, or
        :func:`compare`, :func:`compare_area`, :func:`paired_bootstrap`,
        :func:`paired_permutation`; or some of its groups or rows.

    Returns
    -------
    str
        Of verdicts three or four sentences per group and n, of comparisons two per row, a paragraph
        each. Every number is the table's; of several p-values it is the adjusted one, and of
        swapped systems no interval is given, because theirs is not one to be quoted.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> print(rankeval_pd.in_words(df.rankeval.summary(100)))
    good has the highest precision at n = 100 (49.0 %, 95 % interval 38.9 to 59.2 %). It is
    significantly better than fair. fair is 17.0 points behind (p = 0.002). Both are better than
    chance.
    >>> print(rankeval_pd.in_words(df.rankeval.compare("good", "fair", 100)))
    At n = 100 the precision of good is 49.0 %, that of fair 32.0 %: 17.0 points more (95 % interval
    6.6 to 26.8 points, p = 0.0016). The difference is significant at 5 %.
    """
    frame = _frame(table)
    if any(gap in frame and f"{name}_b" in frame for name, gap, _ in _COMPARED):
        return "\n\n".join(_comparison(row, table.attrs) for row in frame.to_dict("records"))
    name = next((x for x in ("measure", "system") if x in frame), None)
    frame = frame.rename(columns={"score": "value"})
    missing = [column for column in _NEEDED if column not in frame]
    if name is None or missing:
        raise ValueError(
            f"table has no columns {', '.join(missing) or 'measure'}: give the table that summary,"
            " measure_ranks, system_ranks, compare, compare_area, paired_bootstrap or"
            " paired_permutation returns."
        )
    before: list[Any] = list(frame.columns[: list(frame.columns).index(name)])
    before += [x for x in ("metric", "n") if x in frame and x not in before]
    parts = frame.groupby(before, sort=False, observed=True) if before else [((), frame)]
    return "\n\n".join(
        " ".join(_sentences(part, name, dict(zip(before, _keys(keys), strict=True)), table.attrs))
        for keys, part in parts
    )


def _frame(table: Any) -> pd.DataFrame:
    if isinstance(table, xr.Dataset):
        frame = table.to_dataframe().reset_index()
        frame = frame.drop(columns=["row", "pair", "cut"], errors="ignore")
        return frame[sorted(frame, key=lambda name: name in table.data_vars)]
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table is of type {type(table).__name__}: give a table of summary.")
    return table


def _keys(keys: Any) -> tuple[Any, ...]:
    return keys if isinstance(keys, tuple) else (keys,)


def _sentences(
    part: pd.DataFrame, name: str, keys: dict[Any, Any], attrs: dict[Any, Any]
) -> Iterator[str]:
    part = part.sort_values(
        "value", ascending=attrs.get("higher_is_better") is False, kind="stable"
    )
    best = part.iloc[0]
    metric, size = keys.pop("metric", None), keys.pop("n", None)
    scale = _Scale(size, attrs if metric is None else {**attrs, "metric": f"mean {metric}"})
    where = "".join(f"In {key} {value}, " for key, value in keys.items())
    level = f"{100 * attrs['level']:g} % interval" if "level" in attrs else "interval"
    shown = part[["value", "ci_low", "ci_high"]].astype(float)
    first = part[(shown.fillna(np.inf) == shown.iloc[0].fillna(np.inf)).all(axis=1)]
    several = len(first) > 1
    limits = shown.iloc[0, 1:]
    known = f"{level} {scale.limits(*limits)}" if np.isfinite(limits).all() else f"no {level}"
    yield (
        f"{where}{_listed(first[name], 'and')} {'have' if several else 'has'} the {scale.what}"
        f" ({scale.value(best['value'])}, {known})."
    )
    others = part.drop(first.index)
    tied, worse = others[others["rank_low"] == 1], others[others["rank_low"] > 1]
    if len(tied):
        they = "They" if several else "It"
        yield f"{they} cannot be told apart from {_listed(tied[name], 'or')}."
    if len(worse) and (first["rank_high"] == len(first)).all():
        yield (
            f"{'They are' if several else 'It is'} significantly better than"
            f" {_listed(worse[name], 'and')}."
        )
    elif len(worse):
        yield (
            f"{_listed(worse[name], 'and')} {'is' if len(worse) == 1 else 'are each'} significantly"
            " worse than at least one other."
        )
    least = _least(part, name, attrs)
    yield from _of_difference(part, first, name, scale, attrs.get("baseline"), least)
    if "better_than_chance" in part:
        yield _of_chance(part, name)
    if "tied" in part and (part["tied"] > 0).any():
        yield _of_ties(part[part["tied"] > 0], name)


def _of_difference(
    part: pd.DataFrame, first: pd.DataFrame, name: str, scale: _Scale, baseline: Any, least: float
) -> Iterator[str]:
    """Say how far the next is behind, or of a baseline how far the best is ahead."""
    if "difference" not in part or len(part) < 2:
        return
    itself = part["p_adjusted"].isna() & (part["difference"] == 0)
    itself |= part["difference"].isna() & (part[name] == baseline)  # of queries
    if not itself.any():
        return
    reference = part[itself].iloc[0]
    of_queries = bool(pd.isna(reference["difference"]))
    of_best = reference[name] in set(first[name])
    behind = part.drop(first.index)
    if of_best and behind.empty:
        return
    row = behind.iloc[0] if of_best else part.iloc[0]
    gap = scale.gap(abs(row["difference"]))
    ahead = "behind" if of_best else f"ahead of {reference[name]}"
    own = of_queries and len(part) > 2  # a family without the pairs that decide the ranks
    of = f", of the comparisons with {reference[name]} alone" if own else ""
    yield f"{row[name]} is {gap} {ahead} ({_p(row['p_adjusted'], least)}{of})."


def _of_chance(part: pd.DataFrame, name: str) -> str:
    lacking = part.loc[~part["better_than_chance"].astype(bool), name]
    if len(lacking):
        return f"Not shown to be better than chance: {_listed(lacking, 'and')}."
    if len(part) < 3:
        return "Both are better than chance." if len(part) == 2 else "It is better than chance."
    return f"All {len(part)} are better than chance."


def _of_ties(cut: pd.DataFrame, name: str) -> str:
    """Say which lists end among equal scores, and how many candidates that leaves out."""
    counts = _listed([f"{count:,}" for count in cut["tied"]], "and")
    many = "candidate is" if cut["tied"].sum() == 1 else "candidates are"
    return (
        f"{'Lists cut' if len(cut) > 1 else 'A list cuts'} equal scores"
        f" ({_listed(cut[name], 'and')}): {counts} {many} left out with the score of the last."
    )


class _Scale:
    """How a value is called and written."""

    def __init__(self, size: Any, attrs: dict[Any, Any]) -> None:
        self.share = size is not None
        kinds = {"ap": "highest average precision", "roc": "largest area under the ROC curve"}
        lower = attrs.get("higher_is_better") is False
        self.what = (
            f"highest precision at n = {size}"
            if self.share
            else kinds.get(attrs.get("kind", ""), "lowest score" if lower else "highest score")
        )
        if not self.share and attrs.get("metric") is not None:
            metric = WRITTEN.get(attrs["metric"], attrs["metric"])
            self.what = f"{'lowest' if lower else 'highest'} {metric}"

    def value(self, value: float) -> str:
        return f"{100 * value:.1f} %" if self.share else f"{value:.4g}"

    def limits(self, low: float, high: float) -> str:
        if self.share:
            return f"{100 * low:.1f} to {100 * high:.1f} %"
        return f"{low:.4g} to {high:.4g}"

    def gap(self, difference: float) -> str:
        return f"{100 * difference:.1f} points" if self.share else f"{difference:.4g}"

    def gaps(self, low: float, high: float) -> str:
        if self.share:
            return f"{100 * low:.1f} to {100 * high:.1f} points"
        return f"{low:.4g} to {high:.4g}"


def _comparison(row: dict[Any, Any], attrs: dict[Any, Any]) -> str:
    """Say how much better one of a pair is, and whether that is chance."""
    name, gap, tested = next(x for x in _COMPARED if x[1] in row and f"{x[0]}_b" in row)
    what = next((x for x in ("precision", "recall", "lift", "area") if f"{x}_a" in row), "score")
    scale = _Scale(0 if what in ("precision", "recall") else None, {})
    turned = row[gap] < 0 and attrs.get("alternative", "two-sided") == "two-sided"
    sides = "ba" if turned else "ab"
    before = [*row][: [*row].index(f"{name}_a")]
    where = "".join(f"In {key} {row[key]}, " for key in before if key != "n")
    where += f"{'at' if where else 'At'} n = {row['n']} " if "n" in row else ""
    first, second = (row[f"{name}_{side}"] for side in sides)
    if pd.isna(row[gap]):
        return f"{where}{first} and {second} cannot be compared: one of them has no value."
    values = [scale.value(row[f"{what}_{side}"]) for side in sides]
    more = scale.gap(abs(row[gap]))
    if name == "system":
        more = f"a gain of {more}"
    elif row[gap] == 0:
        more = f"a difference of {more}"
    else:
        more = f"{more} {'more' if turned or row[gap] > 0 else 'less'}"
    p = row[tested] if pd.isna(row["p_adjusted"]) else row["p_adjusted"]
    told = [] if pd.isna(p) else [_p_and_how(row, float(p), attrs)]
    swapped = name == "system" and "event" not in attrs
    low, high = (-row["ci_high"], -row["ci_low"]) if turned else (row["ci_low"], row["ci_high"])
    if not swapped and np.isfinite([low, high]).all():
        level = f"{100 * attrs['level']:g} % " if "level" in attrs else ""
        told.insert(0, f"{level}interval {scale.gaps(low, high)}")
    alpha = attrs.get("alpha", 1.0 - attrs.get("level", 0.95))
    return (
        f"{where}{'the' if where else 'The'} {_called(what, attrs)} of {first} is {values[0]}, that"
        f" of {second} {values[1]}: {more} ({', '.join(told)}). The difference is"
        f" {'' if p <= alpha else 'not '}significant at {100 * alpha:.3g} %."
    )


def _called(what: str, attrs: dict[Any, Any]) -> str:
    """Return the words for what the two of a pair are compared by."""
    if what == "area":
        return {"ap": "average precision", "roc": "area under the ROC curve"}.get(
            attrs.get("kind", ""), what
        )
    metric = attrs.get("metric")
    return WRITTEN.get(metric, str(metric)) if what == "score" and metric is not None else what


def _p_and_how(row: dict[Any, Any], p: float, attrs: dict[Any, Any]) -> str:
    adjusted = not pd.isna(row["p_adjusted"])
    least = 1.0 / (attrs["n_resamples"] + 1.0) if adjusted and "n_resamples" in attrs else 0.0
    how = f" adjusted ({attrs['adjust']})" if adjusted and attrs.get("adjust") else ""
    alternative = attrs.get("alternative", "two-sided")
    side = "" if alternative == "two-sided" else f" one-sided ({alternative})"
    return _p(p, least) + how + side


def _least(part: pd.DataFrame, name: str, attrs: dict[Any, Any]) -> float:
    """Return the least p-value that as many swaps can show, adjusted for all pairs of measures."""
    draws = attrs.get("n_resamples")
    if name != "measure" or attrs.get("kind") is not None or not draws:
        return 0.0
    return len(part) * (len(part) - 1) / 2.0 / (float(draws) + 1.0)


def _p(value: float, least: float) -> str:
    if value <= least * (1.0 + 1e-9):
        return f"p ≤ {value:.2g}"
    return "p > 0.99" if 0.99 < value < 1.0 else f"p = {value:.2g}"


def _listed(names: Any, last: str) -> str:
    texts = [str(name) for name in names]
    if len(texts) == 1:
        return texts[0]
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"
