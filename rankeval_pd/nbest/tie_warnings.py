"""Warn about decisions that depend on the order of equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.errors import warn
from rankeval_pd.stats.significance.adjust import rejects

TIE_TYPES: dict[str, type] = {
    "tie_low": float, "tie_high": float, "p_tie_low": float, "p_tie_high": float
}  # fmt: skip
DECIDES = "tie_decides"
BLOCKS: dict[str, type] = {"uncut_below": np.int64, "uncut_above": np.int64}
P_ENDS = ("p_tie_low", "p_tie_high")


def decides(
    result: xr.Dataset, p: xr.DataArray, ends: Sequence[xr.DataArray], alpha: float, towards: str
) -> xr.Dataset:
    """Add p-values at both limits, and whether either limit changes the decision."""
    own = np.sign(result[towards].fillna(0.0)) * rejects(p, alpha)
    differs: Any = False
    for name, at_end in zip(("tie_low", "tie_high"), ends, strict=True):
        differs = differs | (np.sign(result[name]) * rejects(at_end, alpha) != own)
    held = dict(zip(P_ENDS, ends, strict=True))
    return result.assign(held | {DECIDES: differs & result["cuts_tie"] & result["exists"]})


def warn_of_order(results: Sequence[xr.Dataset]) -> None:
    """Warn once if the order of equal scores can change a decision."""
    rows: list[tuple[Any, ...]] = []
    for result in results:
        if DECIDES not in result or result[DECIDES].chunks is not None:
            continue
        shape, none = result[DECIDES], xr.zeros_like(result[DECIDES], dtype=int)
        columns = [result.get(x, none).broadcast_like(shape).transpose(*shape.dims) for x in BLOCKS]
        for place in np.argwhere(shape.to_numpy()):
            at = dict(zip(shape.dims, place, strict=True))
            pair = [result[f"measure_{x}"].to_numpy()[at["pair"]] for x in "ab"]
            size = int(result["n"].to_numpy()[at["n"]])
            rows.append((*pair, size, *(int(x.to_numpy()[tuple(place)]) for x in columns)))
    warn_of_rows(rows, combined=any("n_left_out" in result for result in results))


def warn_of_rows(rows: Sequence[tuple[Any, ...]], *, combined: bool = False) -> None:
    """Warn about rows (two measures, n, nearest n that splits no tie)."""
    if not rows:
        return
    a, b, n, below, above = rows[0]
    more = "" if len(rows) == 1 else f" (and in {len(rows) - 1:,} more comparisons)"
    near = " or ".join(f"n={x}" for x in (below, above) if x)
    near = f", or {near}, at which no list ends inside a tie" if near else ""
    of = "average='macro' and " if combined else ""
    warn(
        f"ties='shared': at n={n}, the order of equal scores determines whether {a!r} and {b!r}"
        f" differ significantly{more}. Pass {of}ties='expected', which averages all orders{near}."
    )
