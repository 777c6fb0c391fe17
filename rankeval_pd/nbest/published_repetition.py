"""Repeated samples, from published figures (Evert 2004, section 4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankeval_pd.errors import brief, check_share, check_together
from rankeval_pd.stats._types import AnyArray
from rankeval_pd.stats.distributions import binomial
from rankeval_pd.stats.significance import dispersion


class Dispersion(NamedTuple):
    """How many times as much as binomial counts the true positives vary: floats, or arrays."""

    phi: Any
    phi_low: Any
    phi_high: Any
    p_dispersion: Any


def dispersion_for(
    sd_observed: npt.ArrayLike,
    sd_expected: npt.ArrayLike,
    n_samples: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Dispersion:
    """Return the overdispersion that published standard deviations amount to.

    Parameters
    ----------
    sd_observed, sd_expected : float or array
        Standard deviation of the precision over samples, and the one that the model expects.
    n_samples : int or array of int
        Number of samples, 2 or more.
    level : float
        Confidence level of the interval of phi.

    Returns
    -------
    Dispersion
        A named tuple ``(phi, phi_low, phi_high, p_dispersion)``: phi = (sd_observed /
        sd_expected)^2, its interval, and the probability of as much variation or more if the
        binomial model holds; floats for scalars. Give phi, where it is above 1, to ``phi=`` of the
        intervals.

    Notes
    -----
    (n_samples - 1) phi is taken as chi-squared with n_samples - 1 degrees of freedom.

    References
    ----------
    Evert (2004), section 4, whose figures the example has. The paper calls them "a little more
    variation than expected".

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
    with np.errstate(over="ignore"):  # more than float64 holds: infinitely more than expected
        chi2 = freedom * (observed / expected) ** 2
    result = dispersion.overdispersion(chi2, freedom, level)
    return Dispersion(*(float(x) if x.ndim == 0 else x for x in map(np.asarray, result)))


def coverage_for(
    failures: npt.ArrayLike, n_samples: npt.ArrayLike, failure_rate: npt.ArrayLike
) -> Any:
    """Return the probability that as many intervals fail, or more, if they hold what they promise.

    Parameters
    ----------
    failures : int or array of int
        Number of samples whose interval leaves out the true precision.
    n_samples : int or array of int
        Number of samples.
    failure_rate : float or array
        How often an interval fails if the model holds. For a Clopper-Pearson interval this is less
        than 1 - level: :func:`repetition` gives ``ci_failures_expected / n_samples``.

    Returns
    -------
    float or array
        P(X >= failures) of the binomial distribution.

    References
    ----------
    Evert (2004), section 4, compares 12 failures of 80 with 5 %, where 95 % intervals of 100
    candidates fail in 4.0 % and 4.3 %; the paper's 9 failures are significant too.

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
        raise ValueError(f"failures={brief(failures)}: give whole numbers from 0 to n_samples.")
    if rate.dtype.kind not in "iuf" or not ((rate >= 0) & (rate <= 1)).all():
        raise ValueError(f"failure_rate={brief(rate)}: give a probability, from 0 to 1.")
    p_value = np.exp(binomial.tails(failures, samples, rate).ge)
    return float(p_value) if p_value.ndim == 0 else p_value


def check_positive(argument: str, values: AnyArray, *, zero: bool) -> None:
    """Raise a ValueError unless these are finite numbers above 0, or from 0 on."""
    kind = values.dtype.kind in "iuf"
    if not kind or not (np.isfinite(values) & ((values >= 0) if zero else (values > 0))).all():
        least = "of 0 or more" if zero else "above 0"
        raise ValueError(f"{argument}={brief(values)}: give finite numbers {least}.")


def check_samples(samples: AnyArray, least: int) -> None:
    """Raise a ValueError unless these are numbers of samples."""
    whole = (
        samples.dtype.kind in "iuf"
        and (np.isfinite(samples) & (samples == np.floor(samples))).all()
    )
    if not whole or (samples < least).any():
        raise ValueError(f"n_samples={brief(samples)}: give whole numbers of {least} or more.")
