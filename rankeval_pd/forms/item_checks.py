"""Are the statistics of systems over items complete, and are counts counts?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.metrics import Metric
from rankeval_pd.stats._types import BoolArray, FloatArray


def check_complete(values: FloatArray, systems: list[Hashable], labels: pd.Index) -> None:
    """Raise a ValueError unless every system has a finite number for every item."""
    lacking: BoolArray = np.asarray(~np.isfinite(values).all(axis=2))
    if not lacking.any():
        return
    k = int(lacking.any(axis=1).argmax())
    infinite = labels[np.isinf(values[k]).any(axis=1)]
    if len(infinite):
        raise ValueError(
            f"system {shown(systems[k])} has an infinite number for {len(infinite)} of"
            f" {len(labels)} items: {listed(infinite, most=6)}. Sums over items need finite"
            " numbers: check how they were made, or drop these items for all systems."
        )
    items = labels[lacking[k]]
    raise ValueError(
        f"system {shown(systems[k])} has no number for {len(items)} of {len(labels)} items:"
        f" {listed(items, most=6)}. A paired test needs every system on every item. Drop these"
        " items for all systems, data.dropna(), or run the system on them; a missing run is no 0."
        " Ratings with holes: missing='ratio'."
    )


def check_size(sizes: FloatArray, systems: list[Hashable]) -> None:
    """Raise a ValueError where squares of numbers, which are summed, are infinite or 0.

    ``sizes`` are the largest absolute numbers of the systems.
    """
    for name, largest in zip(systems, sizes, strict=True):
        if largest > 1e150 or 0.0 < largest < 1e-150:
            raise ValueError(
                f"system {shown(name)} has {largest:.3g} as its largest number, and squares of it"
                " are beyond what float64 holds. Divide the numbers of all systems by the same"
                " one, or take their logarithms."
            )


def check_counts(
    values: FloatArray, metric: Metric, systems: list[Hashable], labels: pd.Index
) -> None:
    """Raise a ValueError where a count is negative, or a part is more than its whole."""

    def refuse(where: BoolArray, what: str) -> None:
        if where.any():
            k, item = (int(x) for x in np.argwhere(where)[0])
            raise ValueError(
                f"metric={metric.name!r}: system {shown(systems[k])} has {what} at item"
                f" {shown(labels[item])}. The statistics are counts: check how they were made."
            )

    places = {name: k for k, name in enumerate(metric.names)}
    for name, place in places.items():
        refuse(values[..., place] < 0.0, f"a negative {name!r}")
    for part, whole in metric.parts:
        above = values[..., places[part]] > values[..., places[whole]]
        refuse(above, f"more {part!r} than {whole!r}")
