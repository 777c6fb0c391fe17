"""Simulate candidates with a known true precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd.errors import (
    check_count,
    check_number,
    check_numbers,
    check_share,
    checked_call,
    shown,
)
from rankeval_pd.roles import Roles

_QUALITY = {"good": 1.5, "fair": 1.0}
_DECIMALS = 300  # the largest power of 10 by which a score can be multiplied without overflow


@checked_call
def simulate_candidates(
    n_candidates: int = 5_000,
    *,
    baseline: float = 0.1,
    quality: Mapping[str, float] | None = None,
    correlation: float = 0.5,
    decimals: int | None = None,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Simulate candidates whose true positives score higher by a known amount.

    Each candidate is a true positive with probability ``baseline``. Negatives have standard normal
    scores. The scores of true positives are shifted upward by the measure's quality.

    Parameters
    ----------
    n_candidates : int
        Number of candidates, 1 or more.
    baseline : float
        Probability of a true positive, between 0 and 1.
    quality : mapping from str to float, optional
        Shift of the true positives' scores for each measure, in standard deviations. A shift of 0
        gives a random ranking. The default is ``{"good": 1.5, "fair": 1.0}``.
    correlation : float
        Correlation, from 0 to 1, between the scores of any two measures for candidates with the
        same label.
    decimals : int, optional
        Number of decimals for the scores. Rounding creates ties.
    rng : int, Generator or None
        Seed or Generator. None means a random seed.

    Returns
    -------
    DataFrame
        One float column per measure, in the order of ``quality``, and the column ``gold``.

    See Also
    --------
    true_precision : Return the expected precision in this experiment.

    Notes
    -----
    The experiment follows Evert (2004), section 3.1. Each candidate independently falls within
    a given range of scores and is either a true or a false positive. The cost is O(N) per measure.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.1.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> df = datasets.simulate_candidates(1000, quality={"A": 2.0, "B": 0.0}, decimals=1)
    >>> list(df.columns), len(df)
    (['A', 'B', 'gold'], 1000)
    """
    baseline = check_share("baseline", baseline)
    together = check_number("correlation", correlation)
    check_numbers("correlation", together, 0.0, 1.0)
    check_count("n_candidates", n_candidates)
    if quality is None:
        quality = _QUALITY
    if not isinstance(quality, Mapping) or "gold" in quality:
        raise TypeError(
            f"quality={shown(quality)}: pass a mapping from the names of measures, which cannot be"
            " 'gold', to numbers, such as {'good': 1.5}."
        )
    lifts = {name: check_number(f"quality[{name!r}]", lift) for name, lift in quality.items()}
    if decimals is not None:
        decimals = min(check_count("decimals", decimals, least=-_DECIMALS), _DECIMALS)
    # draw the labels first, then the shared noise, then the noise for each measure
    generator = np.random.default_rng(Roles.of({"rng": rng}).rng)
    gold = generator.random(n_candidates) < baseline
    shared = generator.normal(size=gold.size)
    columns = {}
    for name, lift in lifts.items():
        own = generator.normal(size=gold.size)
        noise = np.sqrt(together) * shared + np.sqrt(1.0 - together) * own
        score = noise + lift * gold
        columns[name] = score if decimals is None else np.round(score, decimals) + 0.0
    return pd.DataFrame({**columns, "gold": gold})


_HALVINGS = 120  # a bracket of length 80 shrinks to 6e-35, to neighboring floats except near 0


@checked_call
def true_precision(share: npt.ArrayLike, *, quality: float, baseline: float = 0.1) -> Any:
    """Return the expected precision in a score region of :func:`simulate_candidates`.

    Parameters
    ----------
    share : float or array of float
        Mean fraction of the candidates in the region, n / N, above 0 and at most 1.
    quality : float
        Quality of the measure.
    baseline : float
        Probability of a true positive.

    Returns
    -------
    float or array of float

    Notes
    -----
    A true positive has a score of at least t with probability Q(t - quality), and a negative with
    probability Q(t). Q is the upper tail of the standard normal distribution. The threshold t is
    found by bisection.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> round(datasets.true_precision(0.1, quality=1.5), 4)
    0.4732
    >>> datasets.true_precision(1.0, quality=1.5)
    0.1
    """
    from scipy import special

    baseline = check_share("baseline", baseline)
    quality = check_number("quality", quality)
    check_numbers("share", share, 0.0, 1.0, above=True)
    wanted = np.asarray(share, dtype=float)

    # bisection: the fraction with scores of at least t decreases from 1 to 0 as t increases
    low = np.full(wanted.shape, -40.0 - abs(quality))
    high = -low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        true = baseline * special.ndtr(quality - middle)
        false = special.ndtr(-middle)
        enough = true + (1.0 - baseline) * false >= wanted
        low = np.where(enough, middle, low)
        high = np.where(enough, high, middle)
    true = baseline * special.ndtr(quality - low)
    false = special.ndtr(-low)
    precision = true / (true + (1.0 - baseline) * false)
    precision = np.where(wanted == 1.0, baseline, precision)
    return float(precision) if precision.ndim == 0 else precision
