"""What the simulations share: draws whose truth is known, shares, and the table they write.

``python -m tests.simulations.areas`` writes ``areas.csv`` beside the script. A script with
``samples`` takes another number: ``python -m tests.simulations.areas 100``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import special, stats

import rankeval_pd
from rankeval_pd.stats.items import METRICS, Items, PairOptions
from rankeval_pd.stats.ranking import Ranking

ROOM = 1e-12  # of rounding
PAIR = np.array([[0, 1]])
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def write(
    script: str,
    rows: Callable[..., Iterable[Any]],
    names: Sequence[str] | None = None,
    *,
    digits: int | None = 4,
    keys: Sequence[str] = (),
    **form: Any,
) -> None:
    """Write the rows as the table beside the script, and show each when it is known.

    A number after the script's name is that of samples; other words choose parts, whose rows
    (by the columns ``keys``) replace those of the table.
    """
    warnings.simplefilter("ignore")
    rankeval_pd.set_options(progress=False, details=True)
    path, asked = Path(script).with_suffix(".csv"), sys.argv[1:]
    found = []
    for row in rows(*(int(x) if x.isdigit() else x for x in asked)):
        found.append(row)
        print(*(row.values() if isinstance(row, Mapping) else row), flush=True, file=sys.stderr)
    table = pd.DataFrame(found, columns=names)
    if keys and path.exists():
        table = _into(pd.read_csv(path), table, [*keys])
    table = table if digits is None else table.round(digits)
    table.to_csv(path, index=False, **form)


def _into(old: pd.DataFrame, table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the old table with the new rows in the places of those with the same keys."""
    known, again = (pd.MultiIndex.from_frame(x[keys]) for x in (old, table))
    both = pd.concat([old[~known.isin(again)], table])
    place = {key: k for k, key in enumerate(known)}
    order = [place.get(key, len(place)) for key in both[keys].itertuples(index=False, name=None)]
    return both.iloc[np.argsort(order, kind="stable")]


# ------------------------------------------------------------------------------------------ shares


def covers(low: Any, high: Any, truth: Any) -> Any:
    """Return where an interval holds the truth."""
    return (low <= truth + ROOM) & (truth - ROOM <= high)


def held(found: Any, truth: Any) -> float:
    """Return how often the intervals of a table hold the truth."""
    return float(covers(found["ci_low"], found["ci_high"], truth).mean())


def error(share: Any, count: Any) -> Any:
    """Return the standard error of a share."""
    return np.sqrt(share * (1 - share) / count)


def just(value: Any, low: Any, high: Any, truth: Any) -> Any:
    """Return how many times as wide each interval must be to hold the truth."""
    side = np.where(value > truth, value - low, high - value)
    return np.abs(value - truth) / np.maximum(side, ROOM)


def warned(calls: Iterable[Callable[[], object]]) -> float:
    """Return which share of the calls warns."""
    told = []
    for call in calls:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        told.append(bool(found))
    return float(np.mean(told))


# ------------------------------------------------------------------------------------------ scores


def together(rng: np.random.Generator, cluster: np.ndarray, icc: float) -> np.ndarray:
    """Return normal values of which a cluster shares this part of the variance."""
    shared = rng.normal(size=cluster.max() + 1)[cluster]
    return np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=cluster.size)


def upper_quarter(values: np.ndarray) -> np.ndarray:
    """Return which values are true positives: a quarter of the population."""
    return values > stats.norm.ppf(0.75)


def dataset(scores: Mapping[str, np.ndarray], gold: np.ndarray) -> xr.Dataset:
    """Return repeated samples: scores (sample, candidate), and labels, which may be the same."""
    dims = ("sample", "candidate")
    return xr.Dataset(
        {**{name: (dims, x) for name, x in scores.items()}, "gold": (dims[2 - gold.ndim :], gold)}
    )


def correlated(
    rng: np.random.Generator, gold: np.ndarray, samples: int, shifts: Any, rho: float,
    spread: float = 1.0,
) -> xr.Dataset:  # fmt: skip
    """Return samples of measures a, b: positives are shifted, and spread so much more."""
    common = rng.standard_normal((samples, gold.size))
    wide = np.where(gold, spread, 1.0)
    scores = {}
    for name, shift in zip("ab", shifts, strict=True):
        own = rng.standard_normal(common.shape)
        scores[name] = shift * gold + wide * (rho**0.5 * common + (1 - rho) ** 0.5 * own)
    return dataset(scores, gold)


def ranking(score: np.ndarray, gold: np.ndarray) -> Ranking:
    """Return the ranking of candidates, all of which are there."""
    return Ranking.of(score, gold, np.ones(gold.shape, dtype=bool))


def beyond(cut: Any, quality: float, prevalence: float) -> Any:
    """Return the share of true positives, and of others, above a score of the population."""
    return prevalence * special.ndtr(quality - cut), (1 - prevalence) * special.ndtr(-cut)


# ----------------------------------------------------------------------------------------- systems


def options(
    event: str = "wild", ci: str = "", adjust: str | None = None, seed: int = 0, *,
    n_resamples: int = 999, method: str = "auto", skewness: bool = True,
) -> PairOptions:  # fmt: skip
    """Return the options of the paired tests, of which the defaults are those of the package."""
    return PairOptions(
        n_resamples, event, method, ci, adjust, 0.05, 0.95, seed, keep_order=True,
        skewness=skewness,
    )  # fmt: skip


def of_mean(
    values: np.ndarray, cluster: np.ndarray | None = None, weight: Any = 1.0, **beside: Any
) -> Items:
    """Return items (system, item) with the mean as metric."""
    both = np.stack([values, np.ones_like(values)], axis=-1) * np.asarray(weight)[..., np.newaxis]
    return Items(both, cluster, METRICS["mean"].score, 1.0, "mean", **beside)


def in_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the values (set, item) of two systems as systems 2k and 2k + 1."""
    return np.stack([first, second], axis=1).reshape(2 * len(first), -1)


def every_pair(systems: int) -> np.ndarray:
    """Return all pairs of so many systems."""
    return np.stack(np.triu_indices(systems, 1), axis=1)
