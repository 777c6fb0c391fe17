"""How many items does a test set need, and which gain can it find?"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankeval_pd.errors import check_choice, check_shapes, check_share
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.stats.resampling import gain_tables

Alternative = Literal["two-sided", "greater"]
SIDES = {"two-sided": 2.0, "greater": 1.0}
_MOST = 1e15  # items, beyond which a number of items is none


def expected_agreement(
    p: ArrayLike,
    n_items: ArrayLike,
    n_items_other: ArrayLike,
    *,
    shrinkage: ArrayLike = 1.0,
) -> Any:
    """Return how often a gain with this p-value keeps its sign on other items of the same kind.

    Parameters
    ----------
    p : float or array
        One-sided p-value of the gain.
    n_items : float or array
        Size of the test set on which it was found.
    n_items_other : float or array
        Size of the other test set; inf is the population.
    shrinkage : float or array
        B, the part of the variance of gains between pairs that is of the true gains. 1 is the flat
        prior: nothing is known of the true gain. Systems that are nearly equal have B near 0.

    Returns
    -------
    float or array
        Φ(B z_p / √(B + n/n')), z_p being the normal quantile of 1 − p; ½ where B is 0.

    Notes
    -----
    The gain on either test set is normal around the population's. Of this nothing else is known
    under the flat prior, B = 1, and against the population the agreement is 1 − p; that is too much
    where systems are nearly equal. Otherwise true gains are normal around 0 with variance τ², and
    B = τ²/(τ² + gain_se²); :func:`calibration` with prior="estimated" finds τ² from the pairs. It
    assumes that the other items come from the same distribution: what is observed below it is the
    shift of the distribution. Taking only gains that are positive, as tables of pairs do, changes
    nothing in this formula.

    References
    ----------
    For the reading of table 1 of Berg-Kirkpatrick et al. (2012).

    Examples
    --------
    Sections 23 (2,416 sentences) and 22 (1,700) of the Wall Street Journal, p of about .0283:

    >>> import numpy as np, rankeval_pd
    >>> round(rankeval_pd.expected_agreement(0.0283, 2416, 1700), 3)
    0.89

    The same p-value where half of the variance between pairs is noise, against the population:

    >>> round(rankeval_pd.expected_agreement(0.0283, 2416, np.inf, shrinkage=0.5), 3)
    0.911
    """
    check_numbers("p", p, 0.0, 1.0)
    check_numbers("n_items", n_items, 0.0, above=True)
    check_numbers("n_items_other", n_items_other, 0.0, above=True, infinite=True)
    check_numbers("shrinkage", shrinkage, 0.0, 1.0, missing=False)
    result = gain_tables.agreement(
        *check_shapes(p=p, n_items=n_items, n_items_other=n_items_other, shrinkage=shrinkage)
    )
    return float(result) if result.ndim == 0 else result


@with_options
def detectable_gain(
    gain_se: ArrayLike,
    n_items: ArrayLike,
    *,
    power: float = 0.8,
    n_items_new: ArrayLike | None = None,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Any:
    """Return the least gain that a test finds with this power.

    Parameters
    ----------
    gain_se : float or array
        Standard error of a gain, as in the table of :func:`paired_bootstrap`;
        :func:`paired_permutation`'s is that of a gain of 0, and larger.
    n_items : float or array
        Size of the test set that it is of.
    power : float
        Probability of finding the gain, above alpha: so often a test finds what is not there.
    n_items_new : float or array, optional
        Size of the test set that is planned; that at hand unless given.
    alpha : float
        Level of the test.
    alternative : {"two-sided", "greater"}
        Whether the test is two-sided, as where the data say which system is the better one, or
        one-sided, the direction being known before.

    Returns
    -------
    float or array
        (z + z_power) gain_se √(n_items / n_items_new), in the unit of gain_se; z is the normal
        quantile of 1 − α/2 (one-sided: 1 − α).

    Notes
    -----
    The normal approximation: of fewer than 30 items it promises too much, and of clustered items
    gain_se and n_items are those of a table that was made with ``groups``.

    Examples
    --------
    >>> import rankeval_pd
    >>> round(rankeval_pd.detectable_gain(0.27, 2000, n_items_new=4000), 3)
    0.535
    """
    check_choice("alternative", alternative, SIDES)
    alpha, power = check_share("alpha", alpha), check_share("power", power)
    if power <= alpha:
        raise ValueError(
            f"power={power!r}, alpha={alpha!r}: a test of this level is significant so often where"
            " there is no gain. Give a power above alpha, as 0.8."
        )
    factor = gain_tables.power_factor(alpha / SIDES[alternative], power)
    check_numbers("gain_se", gain_se, 0.0, missing=False)
    check_numbers("n_items", n_items, 0.0, above=True, missing=False)
    if n_items_new is not None:
        check_numbers("n_items_new", n_items_new, 0.0, above=True, missing=False)
    new = n_items if n_items_new is None else n_items_new
    error, at_hand, planned = check_shapes(gain_se=gain_se, n_items=n_items, n_items_new=new)
    result = factor * error * np.sqrt(at_hand / planned)
    return float(result) if result.ndim == 0 else result


@with_options
def needed_items(
    gain: ArrayLike,
    gain_se: ArrayLike,
    n_items: ArrayLike,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Any:
    """Return how many items a test set needs for a gain to be found with this power.

    Parameters
    ----------
    gain : float or array
        The gain to be found, above 0.
    gain_se, n_items : float or array
        Standard error of a gain, above 0, on a test set of n_items items, as in the table of
        :func:`paired_bootstrap`. Of clustered items both are those of a table made with ``groups``.
    power, alpha, alternative
        As in :func:`detectable_gain`.

    Returns
    -------
    int or array of int

    Raises
    ------
    ValueError
        If a gain or standard error is not above 0 or missing; if a gain is so small that no test
        set would do; if power is not above alpha.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.needed_items(0.5, 0.27, 2000)
    4578
    >>> rankeval_pd.needed_items(0.5, 0.27, 2000, alternative="greater")
    3606
    """
    check_numbers("gain", gain, 0.0, above=True, missing=False)
    check_numbers("gain_se", gain_se, 0.0, above=True, missing=False)
    least = detectable_gain(gain_se, n_items, power=power, alpha=alpha, alternative=alternative)
    found, size, wanted = check_shapes(gain_se=least, n_items=n_items, gain=gain)
    with np.errstate(over="ignore"):  # no test set is enough then, which is said
        needed = np.ceil(size * (found / wanted) ** 2)
    if not np.all(needed < _MOST):
        raise ValueError(
            f"gain={gain!r}, gain_se={gain_se!r}: no test set of up to {_MOST:.0e} items is"
            " enough. Give a larger gain; both are in the unit of the score."
        )
    result = np.asarray(needed, dtype=np.int64)
    return int(result) if result.ndim == 0 else result


def check_numbers(
    argument: str,
    given: object,
    least: float,
    most: float = np.inf,
    *,
    above: bool = False,
    infinite: bool = False,
    missing: bool = True,
) -> None:
    """Raise a ValueError unless all numbers lie between these two; NaN where it may be missing.

    ``above``: the least itself is not allowed.
    """
    allowed = f"numbers above {least:g}" if above else f"numbers of {least:g} or more"
    if most < np.inf:
        allowed = f"numbers of {least:g} to {most:g}"
    elif infinite:
        allowed += ", or inf"
    given = given.item() if isinstance(given, np.generic) else given
    if given is None or isinstance(given, bool):
        raise TypeError(f"{argument}={given!r}: give {allowed}.")
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument}={given!r}: give {allowed}.") from None
    wrong = (values <= least if above else values < least) | (values > most)
    if not infinite:
        wrong |= np.isinf(values)
    if not missing and np.isnan(values).any():
        given = np.nan if values.ndim == 0 else f"{int(np.isnan(values).sum())} missing numbers"
        raise ValueError(f"{argument}={given}: give {allowed}; drop what is undefined.")
    if wrong.any():
        raise ValueError(f"{argument}={given!r}: give {allowed}.")
