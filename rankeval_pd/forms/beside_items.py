"""What is known of test items beside what systems did on them: clusters, strata, training seeds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.metrics import Metric
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.resampling import factors
from rankeval_pd.stats.resampling.asked import Items
from rankeval_pd.stats.resampling.metrics import Score


class Beside(NamedTuple):
    """What is known of the items beside their statistics."""

    cluster: IntArray | None  #: the number of each item's cluster
    strata: IntArray | None  #: the number of each item's stratum
    average: str  #: how strata make one score
    seeds: list[Hashable] | None  #: the labels of the training seeds
    missing: str

    @classmethod
    def of_roles(
        cls,
        roles: Roles,
        cluster: IntArray | None,
        strata: IntArray | None,
        seeds: list[Hashable] | None = None,
    ) -> Beside:
        """Return what the roles say; ``seeds`` are labels, if there is a role of that name."""
        known = None if roles.seeds is None else seeds
        return cls(cluster, strata, roles.average or "macro", known, roles.missing)

    @property
    def inner(self) -> list[str]:
        """The dimensions of the statistics."""
        return ["system", *([] if self.seeds is None else ["seed"]), "item", "statistic"]

    def of(self, member: IntArray) -> Beside:
        """Return what is known of some of the items."""
        cluster = None if self.cluster is None else self.cluster[member]
        strata = None if self.strata is None else self.strata[member]
        return self._replace(cluster=cluster, strata=strata)


def crossed(
    values: FloatArray,
    there: BoolArray,
    metric: Metric,
    systems: list[Hashable],
    cluster: IntArray | None,
    beside: Beside,
) -> Items:
    """Return items from (system, seed, item, statistic): one score of strata, one of seeds.

    Of means and sums, strata are weights of items and seeds are averaged. The sums of every other
    metric are kept apart for each stratum and seed.
    """
    score, linear = metric.score, metric.linear
    strata = beside.strata
    if strata is not None:
        strata = np.unique(strata, return_inverse=True)[1]
        _check_strata(strata, cluster)
    if strata is not None and beside.average == "macro":
        sizes = np.bincount(strata)
        complete = bool((values[there][..., 1:] == 1.0).all())
        if linear == "mean" and cluster is None and complete:
            values = values.copy()
            values[..., 0] *= (strata.size / (sizes.size * sizes))[strata]
        else:
            score, linear = factors.mean_of_strata(score, sizes.size), None
            values = factors.in_strata(values, strata)
    if beside.seeds is None:
        return Items(values[:, 0], cluster, score, metric.sign, linear, strata)
    seeds = _seeds(values, there, metric, systems, score)
    if linear is not None and bool((values[there][..., 1:] == 1.0).all()):
        averaged = np.where(there[..., np.newaxis, np.newaxis], values, 0.0).sum(axis=1)
        averaged /= there.sum(axis=1)[:, np.newaxis, np.newaxis]
        return Items(averaged, cluster, score, metric.sign, linear, strata, seeds)
    apart = factors.mean_of_seeds(score, there.shape[1])
    return Items(factors.in_seeds(values, there), cluster, apart, metric.sign, None, strata, seeds)


def _check_strata(strata: IntArray, cluster: IntArray | None) -> None:
    """Raise a ValueError where a stratum has nothing to be drawn from, or cuts a cluster."""
    drawn, what = strata, "items"
    if cluster is not None:
        pairs = np.unique(np.stack([cluster, strata]), axis=1)
        if pairs.shape[1] > cluster.max() + 1:
            raise ValueError(
                "strata and groups: a group lies in several strata, and is drawn whole. Groups have"
                " to lie within strata: give one of the two, or finer groups."
            )
        drawn, what = pairs[1], "groups"
    sizes = np.bincount(drawn)
    if sizes.min() < 2:
        raise ValueError(
            f"strata: {int((sizes < 2).sum())} of {sizes.size} strata have one of the {what}, and"
            " drawing within a stratum needs two at least. Join small strata, or leave them out."
        )


def _seeds(
    values: FloatArray,
    there: BoolArray,
    metric: Metric,
    systems: list[Hashable],
    score: Score,
) -> factors.Seeds:
    """Return how far the scores of trainings vary, or say what one training cannot show."""
    alone = [systems[k] for k in np.flatnonzero(there.sum(axis=1) < 2)]
    if alone:
        raise ValueError(
            f"seeds: there is one training of {listed(alone)}, and one cannot show how far others"
            " would lie. Train them with two seeds or more (five say much more than two), or leave"
            " seeds out: the test is then about these very trainings, and finds two equal ways of"
            " training different far too often."
        )
    result = np.full(there.shape, np.nan)
    result[there] = score(values[there].sum(axis=1))
    if np.isnan(result[there]).any():
        k = int(np.isnan(np.where(there, result, 0.0)).any(axis=1).argmax())
        raise ValueError(
            f"seeds: metric {metric.name!r} is undefined for a training of system"
            f" {shown(systems[k])}. Leave this system out: exclude=..."
        )
    return factors.seeds_of(result)
