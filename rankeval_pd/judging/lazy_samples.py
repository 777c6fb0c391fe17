"""Lazy rankings of which a part is judged: who is judged is found chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.forms.lazy.batches import find_batches
from rankeval_pd.forms.rankings.candidates import check_data, read_part
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.judging.samples import Asked, Sample, by_name, read_sample
from rankeval_pd.stats.rankings.judged_sums import Design

BESIDE = {"judged": bool, "probability": float, "stratum": np.int64}


class LazySample(NamedTuple):
    """Lazy data as they came in, of which no probability is named."""

    data: xr.Dataset
    roles: dict[str, Any]
    gold: Hashable
    asked: Asked

    def design(self) -> Design:
        """Return how the sums are put together."""
        return self.asked.design(len(self.asked.ends) + 1)

    def beside(self, inner: xr.Dataset) -> list[xr.DataArray]:
        """Return judged, probability and stratum of the candidates in the inner form.

        They came in with each chunk; what stands for all chunks has none.
        """
        gold = inner["gold"]
        return [inner.get(name, xr.zeros_like(gold, dtype=kind)) for name, kind in BESIDE.items()]

    def reader(self) -> Callable[..., xr.Dataset]:
        """Return what brings a chunk in: it goes with every task, and holds no data."""
        return partial(_read_part, asked=self.asked)


def _read_part(part: xr.Dataset, roles: Roles, *, scored: bool, asked: Asked) -> xr.Dataset:
    """Bring a chunk into the inner form, and beside it who is judged."""
    sample = read_sample(part, by_name(roles), asked)
    inner = read_part(sample.data, Roles.of(sample.roles), scored=scored)
    return inner.assign(dict(zip(BESIDE, sample.beside(inner), strict=True)))


def find_sample(
    data: Any, roles: Mapping[str, Any], asked: Asked, *, in_chunks: bool = True
) -> Sample | LazySample:
    """Return what is judged: of lazy rankings in chunks when they are computed, else now.

    Of probabilities that differ, the strata are known when all of them are.
    """
    check_data(data)
    if in_chunks and isinstance(data, xr.Dataset) and asked.judged_with is None:
        chosen = Roles.of(roles)
        batches = find_batches(data, chosen, partial(read_part, scored=True), scored=True)
        if batches is not None and chosen.groups is None:
            gold: Hashable = batches.roles.gold
            return LazySample(data, {**roles, "gold": gold}, gold, asked.checked())
    return read_sample(data, roles, asked)
