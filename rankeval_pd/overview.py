"""What the accessor understood of the data, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed
from rankeval_pd.forms.columns import find_gold, find_measures
from rankeval_pd.forms.items import item_roles, read_dataset
from rankeval_pd.forms.items import read_frame as read_items
from rankeval_pd.forms.rankings import check_dim, read_frame
from rankeval_pd.forms.roles import Roles, as_names

QUESTIONS = (
    ("How good is each n-best list?", "nbest_precision, acceptance_precision, local_precision"),
    ("Is A better than B?", "compare, significant_ranges, mean_difference, odds_ratios"),
    ("What holds for all n together?", "precision_band, difference_band"),
    ("Which candidates make it?", "difference_region, tie_sensitivity"),
    ("Would it happen again?", "repetition, repetition_samples"),
    ("Is it better than chance?", "random_test, crossovers"),
    ("What does chance reach?", "random_bound, random_envelope, random_cdf"),
    ("How good is it as a whole?", "area, compare_area"),
    ("How does it look?", "roc, precision_recall, det, lift, gain; random_band, isolines"),
    ("Scores of 2x2 tables", "with_association_measures"),
    ("Is the gain of a system real?", "paired_bootstrap, paired_permutation, system_ranks"),
    ("Which gain is worth reporting?", "gain_by_size, population_calibration"),
    ("Of a table of pairs", "gain_threshold, calibration"),
    ("Pictures", "plot.precision, plot.comparison, plot.random_bound, plot.repetition"),
    ("", "plot.roc, plot.precision_recall, plot.det, plot.lift, plot.gain, plot.random_cdf"),
    ("Pictures of systems", "plot.confidence, plot.pairs, plot.system_ranks, plot.gain_by_size"),
    ("Pictures of a table of pairs", "plot.calibration"),
)


def overview(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> str:
    """Return what is understood of the data, and the methods, a line per question.

    What cannot be understood is said in place of it; nothing that is lazy is counted.
    """
    kind = "DataFrame" if isinstance(data, pd.DataFrame) else "Dataset"
    try:
        if _are_pairs(data):
            facts = _pair_facts(data)
        elif _are_items(data, keywords):
            facts = _item_facts(data, keywords)
        else:
            facts = _facts(data, Roles.of(keywords))
    except (ValueError, TypeError, KeyError) as error:
        facts = [("not yet clear", str(error))]
    lines = [f"<rankeval accessor of a {kind}>"]
    lines += [f"  {name + ':':<{width}} {text}" for width in [32] for name, text in facts]
    lines += ["Methods"]
    lines += [f"  {question:<32} {methods}" for question, methods in QUESTIONS]
    return "\n".join(lines)


def _are_pairs(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether this is a table of pairs of systems: by the columns that say so."""
    names = data.columns if isinstance(data, pd.DataFrame) else data.variables
    return all(name in names for name in ("system_a", "system_b", "gain", "p_value"))


def _pair_facts(data: pd.DataFrame | xr.Dataset) -> list[tuple[str, str]]:
    rows = len(data) if isinstance(data, pd.DataFrame) else data["gain"].size
    facts = [("pairs of systems", f"{rows:,}")]
    if "metric" in data.attrs:
        better = "higher" if data.attrs.get("higher_is_better", True) else "lower"
        facts.append(("metric", f"{data.attrs['metric']!r}, {better} is better"))
    return [*facts, ("methods for it", "gain_threshold, calibration, plot.calibration")]


def _are_items(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> bool:
    """Return whether these are systems over test items: by their roles, or by their form."""
    if any(keywords.get(role) is not None for role in ("metric", "groups", "higher_is_better")):
        return True
    if isinstance(data, xr.Dataset):
        return "system" in data.dims and keywords.get("dim", "item") in data.dims
    return data.columns.nlevels == 2


def _item_facts(
    data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]
) -> list[tuple[str, str]]:
    roles = item_roles(keywords)
    if isinstance(data, xr.Dataset):
        values, metric, systems, _, _ = read_dataset(data, roles)
        batch = [d for d in values.dims if d not in ("system", "item", "statistic")]
        items = f"{values.sizes['item']:,} along {roles.dim!r}"
        beside = ("batch dimensions", ", ".join(map(str, batch)) or "none")
    else:
        table = read_items(data, roles)
        metric, systems, items = table.metric, table.systems, f"{len(data):,}"
        by = as_names(roles.by, data.columns)
        beside = ("domains", f"{len(table.keys):,} of {listed(by)}" if by else "none")
    better = "higher" if metric.sign > 0 else "lower"
    return [
        ("test items", items),
        ("systems", listed(systems)),
        ("metric", f"{metric.name!r}, {better} is better"),
        ("statistics", _statistics(metric.chosen)),
        ("groups", "none" if roles.groups is None else repr(roles.groups)),
        beside,
    ]


def _statistics(chosen: list[Any]) -> str:
    return "one column per system" if chosen == [None] else listed(chosen)


def _facts(data: pd.DataFrame | xr.Dataset, roles: Roles) -> list[tuple[str, str]]:
    if isinstance(data, xr.Dataset):
        check_dim(data, roles)
    gold = find_gold(data, roles)
    taken = [gold, *as_names(roles.by, getattr(data, "columns", ()))]
    taken += [] if roles.key is None else [roles.key]
    lower = as_names(roles.lower_is_better, ())
    measures = find_measures(data, roles, taken, needed=True)
    shown = listed(f"{m} (lower is better)" if m in lower else m for m in measures)
    ties = {"shared": "broken by a hash of the label, the same for all measures"}
    if roles.key is not None:
        ties["shared"] = f"broken by {roles.key!r}, the smaller first"
    ties["blocks"] = "lists end where a block of equal scores ends"
    ties["expected"] = "the mean over all orders of equal scores"
    ties["best"] = "true positives first"
    ties["worst"] = "true positives last"
    ties["error"] = "an error where a list cuts through them"
    counts = (
        _frame_counts(data, roles) if isinstance(data, pd.DataFrame) else _counts(data, roles, gold)
    )
    return [
        *counts,
        ("gold", repr(gold)),
        ("measures", shown),
        ("ties", f"{roles.ties!r}: {ties[roles.ties]}"),
        ("missing scores", repr(roles.missing)),
    ]


def _frame_counts(data: pd.DataFrame, roles: Roles) -> list[tuple[str, str]]:
    groups = read_frame(data, roles, scored=False)
    total = len(data)
    positive = sum(int(inner["gold"].sum()) for inner in groups.members)
    by = as_names(roles.by, data.columns)
    return [
        ("candidates", f"{total:,}"),
        *_shares(total, positive),
        ("groups", f"{len(groups.keys):,} of {listed(by)}" if by else "none"),
    ]


def _shares(total: int, positive: int) -> list[tuple[str, str]]:
    baseline = f"{positive / total:.4%}" if total else "undefined"
    return [("true positives", f"{positive:,}"), ("baseline precision", baseline)]


def _counts(data: xr.Dataset, roles: Roles, gold: Any) -> list[tuple[str, str]]:
    batch = [f"{d} ({size:,})" for d, size in data.sizes.items() if d not in (roles.dim, "measure")]
    facts = [("candidates", f"{data.sizes[roles.dim]:,} along {roles.dim!r}")]
    if data[gold].chunks is not None:
        facts.append(("true positives", "not counted: the data are lazy"))
    else:
        known = data[gold].to_series().dropna() if data[gold].ndim else data[gold]
        if known.size != data[gold].size:
            facts.append(("labelled", f"{known.size:,}; the others are padding"))
        facts += _shares(int(known.size), int(known.astype(float).sum()))
    return [*facts, ("batch dimensions", ", ".join(batch) or "none")]
