"""Compare lists and estimate overdispersion from published numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd.errors import (
    brief,
    check_choice,
    check_count,
    check_share,
    check_together,
    checked_call,
)
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.forms.roles.roles import Alternative
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.distributions import binomial
from rankeval_pd.stats.significance import dispersion
from rankeval_pd.stats.significance.fisher import ALTERNATIVES, fisher_test

# ------------------------------------------------- Comparisons of published lists

_ROUNDING = 1e-6  # tolerance for counts computed as a rate times a size
_BLOCK = 200_000  # number of 2x2 tables that are tested in one step


@checked_call
def compare_for(
    tp_a: float,
    n_a: int,
    tp_b: float,
    n_b: int,
    *,
    overlap: int | tuple[int, int] | None = None,
    alternative: Alternative = "two-sided",
) -> pd.DataFrame:
    """Return the possible p-values from :func:`compare` for two published lists.

    Parameters
    ----------
    tp_a, tp_b : number
        Number of true positives in each list. You can pass products such as ``.42 * 100``, which
        are integers up to floating-point error.
    n_a, n_b : int
        Sizes of the lists.
    overlap : int or pair of int, optional
        Number of candidates in both lists, or a pair with the numbers of shared candidates and
        shared true positives. By default every possible overlap is tried.
    alternative : {"two-sided", "greater", "less"}
        "greater" tests whether a is better than b.

    Returns
    -------
    DataFrame
        One row: ``difference`` = tp_a / n_a - tp_b / n_b, and ``p_low`` and ``p_high``, the
        smallest and largest p-values from Fisher's exact test on the two difference regions.
        ``p_low`` and ``p_high`` are equal if ``overlap`` is a pair or 0.

    See Also
    --------
    compare_accuracies : Compare two published accuracies on the same test items.

    Notes
    -----
    The test excludes shared candidates, so the p-value depends on the numbers of shared candidates
    and shared true positives. If p_high is at most the level, the difference is significant for
    every overlap. If p_low is above the level, the difference is not significant for any overlap.
    Testing all possible tables (up to n_a tp_a) takes a few seconds for lists of 1,000 candidates.

    References
    ----------
    Evert (2004), section 3.3.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.compare_for(0.3 * 50, 50, 9, 50)
       difference     p_low    p_high
    0        0.12  0.002165  0.241424
    >>> rankeval_pd.compare_for(42, 100, 30, 100, overlap=(60, 20))
       difference     p_low    p_high
    0        0.12  0.011506  0.011506
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    n_a, n_b = check_count("n_a", n_a), check_count("n_b", n_b)
    true_a, true_b = _whole("tp_a", tp_a, n_a), _whole("tp_b", tp_b, n_b)
    low, high = np.inf, -np.inf
    for both, true in _overlaps(true_a, n_a, true_b, n_b, overlap):
        regions = true_a - true, n_a - both, true_b - true, n_b - both
        p_value = fisher_test(*regions, alternative).p_value
        low, high = min(low, p_value.min()), max(high, p_value.max())
    difference = true_a / n_a - true_b / n_b
    return pd.DataFrame({"difference": [difference], "p_low": [low], "p_high": [high]})


def _whole(name: str, value: Any, size: int) -> int:
    """Return a count of true positives, rounding values that are nearly integers."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{name}={value!r} is of type {type(value).__name__}: pass the number of true "
            "positives in the list."
        )
    nearest = round(float(value)) if np.isfinite(value) else -1
    if abs(nearest - value) > _ROUNDING or not 0 <= nearest <= size:
        raise ValueError(
            f"{name}={value!r}: pass a whole number from 0 to {size}, the size of the list, or a"
            " rate times this size. A printed rate such as 42.3% may correspond to several counts:"
            " try each count."
        )
    return nearest


def _overlaps(
    tp_a: int, n_a: int, tp_b: int, n_b: int, overlap: Any
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield blocks of possible overlaps and shared true positives."""
    pair = isinstance(overlap, (tuple, list))
    if pair and len(overlap) != 2:
        raise ValueError(
            f"overlap={overlap!r}: pass the number of shared candidates, or a pair with the numbers"
            " of shared candidates and shared true positives."
        )
    given = None if overlap is None else check_count("overlap", overlap[0] if pair else overlap, 0)
    sizes = range(min(n_a, n_b) + 1) if given is None else [given]
    listed: list[tuple[IntArray, IntArray]] = []
    for size in sizes:
        least = max(0, size - (n_a - tp_a), size - (n_b - tp_b))
        true = np.arange(least, min(size, tp_a, tp_b) + 1)
        if pair:
            true = true[true == check_count("overlap", overlap[1], 0)]
        listed.append((np.full(true.size, size), true))
        if sum(block.size for _, block in listed) >= _BLOCK:
            yield _joined(listed)
            listed = []
    if not sum(block.size for _, block in listed) and given is not None:
        raise ValueError(
            f"overlap={overlap!r}: lists of {n_a} and {n_b} candidates with {tp_a} and {tp_b} true"
            " positives cannot have this overlap. Check the counts."
        )
    if listed:
        yield _joined(listed)


def _joined(found: list[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    sizes, true = zip(*found, strict=True)
    return np.concatenate(sizes), np.concatenate(true)


# -------------------------------- Repeated samples with published numbers (Evert 2004, section 4)


class Dispersion(NamedTuple):
    """Store the overdispersion of true positives relative to binomial counts."""

    phi: Any
    phi_low: Any
    phi_high: Any
    p_dispersion: Any


@with_options
def dispersion_for(
    sd_observed: npt.ArrayLike,
    sd_expected: npt.ArrayLike,
    n_samples: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Dispersion:
    """Estimate overdispersion from published standard deviations.

    Parameters
    ----------
    sd_observed, sd_expected : float or array
        Observed and expected standard deviations of precision across samples.
    n_samples : int or array of int
        Number of samples, 2 or more.
    level : float
        Confidence level of the interval for phi.

    Returns
    -------
    Dispersion
        A named tuple ``(phi, phi_low, phi_high, p_dispersion)`` of floats or arrays. phi is
        (sd_observed / sd_expected)^2, and ``p_dispersion`` is the probability of at least this much
        variation under the binomial model. If phi is above 1, pass ``phi=`` to functions that
        compute intervals.

    Notes
    -----
    Under the binomial model, (n_samples - 1) phi follows a chi-squared distribution with n_samples
    - 1 degrees of freedom. If the counts in all samples are equal, phi_high is inf.

    References
    ----------
    Evert (2004), section 4, is the source of the example: "a little more variation than expected".

    Examples
    --------
    >>> import rankeval_pd
    >>> found = rankeval_pd.dispersion_for(0.057, 0.044, 80)
    >>> print(f"{found.phi:.3f} ({found.phi_low:.2f} to {found.phi_high:.2f})")
    1.678 (1.26 to 2.35)
    >>> print(f"{found.p_dispersion:.1e}")
    1.5e-04
    """
    level = check_share("level", level)
    check_together(sd_observed=sd_observed, sd_expected=sd_expected, n_samples=n_samples)
    observed, expected, samples = np.broadcast_arrays(sd_observed, sd_expected, n_samples)
    check_positive("sd_observed", observed, zero=True)
    check_positive("sd_expected", expected, zero=False)
    check_samples(samples, 2)
    freedom = samples - 1.0
    with np.errstate(over="ignore"):  # values too large for float64 become infinite
        chi2 = freedom * (observed / expected) ** 2
    result = dispersion.overdispersion(chi2, freedom, level)
    return Dispersion(*(float(x) if x.ndim == 0 else x for x in map(np.asarray, result)))


@checked_call
def coverage_for(
    failures: npt.ArrayLike, n_samples: npt.ArrayLike, failure_rate: npt.ArrayLike
) -> Any:
    """Return the probability that valid intervals fail at least this often.

    Parameters
    ----------
    failures : int or array of int
        Number of samples whose intervals exclude the true precision.
    n_samples : int or array of int
        Number of samples.
    failure_rate : float or array
        Failure rate of an interval under the model. For Clopper-Pearson intervals, the failure rate
        is below 1 - level. Use ``ci_failures_expected / n_samples`` from :func:`repetition`.

    Returns
    -------
    float or array
        P(X >= failures) under the binomial distribution.

    References
    ----------
    Evert (2004), section 4, compares 12 failures in 80 samples with an expected rate of 5%.
    However, 95% intervals for 100 candidates have failure rates of 4.0% and 4.3%, so even Evert's 9
    failures are significant.

    Examples
    --------
    >>> import rankeval_pd
    >>> print(f"{rankeval_pd.coverage_for(9, 80, 0.0401):.4f}")
    0.0048
    """
    check_together(failures=failures, n_samples=n_samples, failure_rate=failure_rate)
    failures, samples, rate = np.broadcast_arrays(failures, n_samples, failure_rate)
    check_samples(samples, 1)
    if (
        failures.dtype.kind not in "iuf"
        or not ((failures >= 0) & (failures <= samples) & (failures == np.floor(failures))).all()
    ):
        raise ValueError(f"failures={brief(failures)}: pass whole numbers from 0 to n_samples.")
    if rate.dtype.kind not in "iuf" or not ((rate >= 0) & (rate <= 1)).all():
        raise ValueError(f"failure_rate={brief(rate)}: pass a probability, from 0 to 1.")
    p_value = np.exp(binomial.tails(failures, samples, rate).ge)
    return float(p_value) if p_value.ndim == 0 else p_value


def check_positive(argument: str, values: AnyArray, *, zero: bool) -> None:
    """Raise a ValueError if a number is not finite and positive."""
    kind = values.dtype.kind in "iuf"
    if not kind or not (np.isfinite(values) & ((values >= 0) if zero else (values > 0))).all():
        least = "of at least 0" if zero else "above 0"
        raise ValueError(f"{argument}={brief(values)}: pass finite numbers {least}.")


def check_samples(samples: AnyArray, least: int) -> None:
    """Raise a ValueError unless the numbers are valid sample counts."""
    whole = (
        samples.dtype.kind in "iuf"
        and (np.isfinite(samples) & (samples == np.floor(samples))).all()
    )
    if not whole or (samples < least).any():
        raise ValueError(f"n_samples={brief(samples)}: pass whole numbers of at least {least}.")
