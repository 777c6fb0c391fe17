"""Fisher's exact test of two difference regions (Evert 2004, section 3.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.search import first_true

_AS_LIKELY = 1e-7  # two tables are equally likely up to this relative difference, as in R

ALTERNATIVES = ("two-sided", "greater", "less")


class FisherTest(NamedTuple):
    """P-values of Fisher's test."""

    p_value: FloatArray  #: the exact p-value
    p_mid: FloatArray  #: P(less likely tables) + P(equally likely tables) / 2


def fisher_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FisherTest:
    """Test whether tp_a of n_a and tp_b of n_b come from the same proportion.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of whole numbers
        True positives and sizes of the two regions; they broadcast.
    alternative : {"two-sided", "greater", "less"}
        "greater": the proportion in a is the larger one.

    Notes
    -----
    Regions of equal size make the null distribution symmetric: the two-sided test is then twice
    the smaller tail, one series per table. Otherwise the tables that are at most as likely as
    the observed one are found by bisection on either side of the mode.
    An empty region, or regions with no or only true positives, have p = 1.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    if alternative == "less":
        tp_a, n_a, tp_b, n_b = tp_b, n_b, tp_a, n_a
    total, positive = n_a + n_b, tp_a + tp_b
    if alternative != "two-sided":
        one = hypergeometric.tails(tp_a, total, positive, n_a)
        p_value, p_mid = np.exp(one.ge), np.exp(one.mid)
    elif np.array_equal(n_a, n_b):
        p_value, p_mid = _symmetric(np.maximum(tp_a, tp_b), total, positive, n_a)
    else:
        p_value, p_mid = _two_sided(tp_a, total, positive, n_a)
    uninformative = (n_a == 0) | (n_b == 0) | (positive == 0) | (positive == total)
    return FisherTest(
        np.where(uninformative, 1.0, np.minimum(p_value, 1.0)),
        np.where(uninformative, 1.0, np.minimum(p_mid, 1.0)),
    )


def _symmetric(
    larger: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and mid-p of two regions of equal size, ``larger`` being the larger count.

    A count and its mirror image are equally likely, and all further from the middle are less.
    """
    upper = hypergeometric.tails(larger, total, positive, n)
    middle = larger * 2.0 == positive
    p_value = np.where(middle, 1.0, 2.0 * np.exp(upper.ge))
    p_mid = np.where(middle, 1.0 - 0.5 * np.exp(upper.pmf), 2.0 * np.exp(upper.mid))
    return p_value, p_mid


def _two_sided(
    i: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and mid-p of the tables at most as likely as the count i, for any margins."""
    observed = hypergeometric.log_pmf(i, np.maximum(total, 1.0), positive, n)
    at_most = _tail_mass(observed + _AS_LIKELY, total, positive, n)
    less = _tail_mass(observed - _AS_LIKELY, total, positive, n)
    return at_most, 0.5 * (at_most + less)


def _tail_mass(
    limit: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> FloatArray:
    """Return the probability of all counts whose log probability is at most ``limit``."""
    lowest, highest = hypergeometric.support(total, positive, n)
    mode = np.clip(hypergeometric.mode(total, positive, n), lowest, highest)

    def unlikely(count: FloatArray) -> BoolArray:
        inside = np.clip(count, lowest, highest)
        low: BoolArray = (
            hypergeometric.log_pmf(inside, np.maximum(total, 1.0), positive, n) <= limit
        )
        return low | (count < lowest) | (count > highest)

    right = first_true(unlikely, mode, highest + 1.0)
    left = -first_true(lambda count: unlikely(-count), 1.0 - mode, 1.0 - lowest)
    upper = np.exp(hypergeometric.tails(right, total, positive, n).ge)
    # P(X <= left) is the upper tail of the candidates outside the list
    lower = np.exp(hypergeometric.tails(positive - left, total, positive, total - n).ge)
    return upper + lower
