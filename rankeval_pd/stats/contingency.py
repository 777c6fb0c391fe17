"""Association in 2x2 tables of frequencies, exact where tables are large."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions import deviance
from rankeval_pd.stats.proportions import BetaTail, beta_logits

# -------------------------------------------------------------------------------------------------
# Products, differences and quotients with twice the digits of a float (Dekker 1971).
#
# Rounded once at the end, the results do not depend on the order of the factors, and equal
# quotients of different counts are equal floats.

_SPLITTER = 2.0**27 + 1.0  # splits a float into two halves of at most 26 bits


class Exact(NamedTuple):
    """A number as the sum of a float and its rounding error."""

    high: FloatArray
    low: FloatArray | float = 0.0


def product(*factors: FloatArray | Exact) -> Exact:
    """Return the product of floats and other products."""
    result, *others = (x if isinstance(x, Exact) else Exact(x) for x in factors)
    for other in others:
        high = result.high * other.high
        (a, b), (c, d) = _halves(result.high), _halves(other.high)
        low = ((a * c - high) + a * d + b * c) + b * d
        low = low + (result.high * other.low + result.low * other.high)
        result = Exact(high + low, low - ((high + low) - high))
    return result


def _halves(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = _SPLITTER * x
    upper = scaled - (scaled - x)
    return upper, x - upper


def difference(a: Exact, b: Exact) -> Exact:
    """Return a - b, whose leading digits can cancel."""
    high = a.high - b.high
    part = high - a.high
    low = ((a.high - (high - part)) - (b.high + part)) + (a.low - b.low)
    return Exact(high + low, low - ((high + low) - high))


def root(x: Exact) -> Exact:
    """Return the square root of a positive number, or 0."""
    near = np.sqrt(x.high)
    rest = difference(x, product(near, near)).high
    return Exact(near, rest / np.where(near > 0.0, 2.0 * near, 1.0))


def quotient(above: FloatArray | Exact, below: FloatArray | Exact) -> FloatArray:
    """Return above / below, which is NaN for 0/0 and infinite for any other number / 0."""
    above, below = product(above), product(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = above.high / below.high
        rest = difference(above, product(below, near)).high / below.high
    return np.where(np.isfinite(near), near + rest, near)


# -------------------------------------------------------------------------------------------------
# Association measures for 2x2 contingency tables, from the four observed frequencies.
#
# The formulas follow Evert's (2004) online repository of association measures. R1 and C1 are the
# frequencies of the first and second words, and E11 = R1 C1 / N. Scores are high if the two words
# occur together more often than expected. A score of 0/0 is undefined and returned as NaN.
#
# Products of counts are exact before the only division, so scores that are equal as fractions are
# equal floats, also if the two words are swapped.

Measure = Callable[..., FloatArray]  # frequencies of the four cells


def expected(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return E11, the frequency of the pair if its words were independent."""
    return quotient(product(o11 + o12, o11 + o21), _total(o11, o12, o21, o22))


def _total(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return N. Fractional counts also have the same sum if the words are swapped."""
    return (o11 + o22) + (o12 + o21)


def _excess(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> Exact:
    """Return N (O11 - E11) as O11 O22 - O12 O21."""
    return difference(product(o11, o22), product(o12, o21))


def log_likelihood(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return Dunning's G2 with the sign of O11 - E11.

    The sum of O log(O/E) is computed as the sum of four positive deviances. The two sums are equal
    because the differences O - E add up to 0.
    """
    total = _total(o11, o12, o21, o22)
    excess = quotient(_excess(o11, o12, o21, o22), total)
    both, first, second, neither = (
        deviance(cell, quotient(product(row, column), total), gap)
        for cell, row, column, gap in (
            (o11, o11 + o12, o11 + o21, excess),
            (o12, o11 + o12, o12 + o22, -excess),
            (o21, o21 + o22, o11 + o21, -excess),
            (o22, o21 + o22, o12 + o22, excess),
        )
    )
    result = (both + neither) + (first + second)
    return np.copysign(2.0 * result, excess) + 0.0


def chi_squared(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return Pearson's X2 with the sign of O11 - E11; 0 if a margin is 0."""
    return _signed_square(_excess(o11, o12, o21, o22), o11, o12, o21, o22)


def _signed_square(
    excess: Exact, o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return the sum over the cells of excess^2 / (N^2 E) with the sign of the excess.

    If the excess is the same in all cells, the result is excess^2 N / (R1 R2 C1 C2).
    """
    margins = product(product(o11 + o12, o21 + o22), product(o11 + o21, o12 + o22))
    statistic = quotient(product(excess, excess, _total(o11, o12, o21, o22)), margins)
    return np.where(margins.high > 0, np.copysign(statistic, excess.high) + 0.0, 0.0)


def chi_squared_yates(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return X2 with Yates's correction, which reduces abs(O11 - E11) by at most 1/2."""
    return _signed_square(_corrected(o11, o12, o21, o22), o11, o12, o21, o22)


def _corrected(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> Exact:
    """Return N (O11 - E11) with O11 moved toward E11 by at most 1/2 (Yates's correction)."""
    excess = _excess(o11, o12, o21, o22)
    sign = np.sign(excess.high)
    less = difference(product(excess, sign), Exact(0.5 * _total(o11, o12, o21, o22)))
    return product(less, np.where(less.high > 0.0, sign, 0.0))


def t_score(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return (O11 - E11) / sqrt(O11)."""
    total = _total(o11, o12, o21, o22)
    return quotient(_excess(o11, o12, o21, o22), root(product(o11, total, total)))


def z_score(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return (O11 - E11) / sqrt(E11)."""
    return _per_root(_excess(o11, o12, o21, o22), o11, o12, o21, o22)


def z_score_yates(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return the z-score with Yates's correction, which reduces abs(O11 - E11) by up to 1/2."""
    return _per_root(_corrected(o11, o12, o21, o22), o11, o12, o21, o22)


def _per_root(
    excess: Exact, o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return excess / (N sqrt(E11))."""
    margins = product(o11 + o12, o11 + o21)
    return quotient(excess, root(product(margins, _total(o11, o12, o21, o22))))


def _log(x: FloatArray, log: Measure = np.log) -> FloatArray:
    """Return log x, which is -inf for 0."""
    with np.errstate(divide="ignore"):
        return log(x)


def _over_expected(
    power: int, o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return O11^power / E11."""
    above = product(*[o11] * power, _total(o11, o12, o21, o22))
    return quotient(above, product(o11 + o12, o11 + o21))


def mutual_information(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log2(O11 / E11)."""
    return _log(_over_expected(1, o11, o12, o21, o22), np.log2)


def mutual_information_2(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log2(O11^2 / E11)."""
    return _log(_over_expected(2, o11, o12, o21, o22), np.log2)


def mutual_information_3(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log2(O11^3 / E11)."""
    return _log(_over_expected(3, o11, o12, o21, o22), np.log2)


def local_mutual_information(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return O11 log2(O11 / E11), which is 0 if only O11 is 0."""
    score = mutual_information(o11, o12, o21, o22)
    return np.where(np.isneginf(score), 0.0, o11 * np.where(np.isneginf(score), 0.0, score))


def average_mutual_information(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return the sum of O log2(O/E) with the sign of O11 - E11, a rescaled G2."""
    return log_likelihood(o11, o12, o21, o22) / (2.0 * math.log(2.0))


def dice(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return 2 O11 / (R1 + C1)."""
    return quotient(2.0 * o11, (o11 + o12) + (o11 + o21))


def jaccard(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return O11 / (O11 + O12 + O21)."""
    return quotient(o11, o11 + (o12 + o21))


def geometric_mean(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return O11 / sqrt(R1 C1), the geometric mean of O11/R1 and O11/C1."""
    return quotient(o11, root(product(o11 + o12, o11 + o21)))


def minimum_sensitivity(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return the smaller of O11/R1 and O11/C1."""
    return np.minimum(quotient(o11, o11 + o12), quotient(o11, o11 + o21))


def log_odds_ratio(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log(O11 O22 / (O12 O21)), the natural logarithm of the odds ratio."""
    return _log(quotient(product(o11, o22), product(o12, o21)))


def log_odds_ratio_discounted(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return the log odds ratio after adding 1/2 to every cell, so it is always finite."""
    return log_odds_ratio(o11 + 0.5, o12 + 0.5, o21 + 0.5, o22 + 0.5)


def log_relative_risk(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log((O11/C1) / (O12/C2)), the log relative risk of the first word given the second."""
    return _log(quotient(product(o11, o12 + o22), product(o12, o11 + o21)))


def liddell(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return (O11 O22 - O12 O21) / (C1 C2) = O11/C1 - O12/C2."""
    return quotient(_excess(o11, o12, o21, o22), product(o11 + o21, o12 + o22))


def poisson_stirling(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return O11 (log O11 - log E11 - 1), which is 0 if only O11 is 0."""
    score = _log(_over_expected(1, o11, o12, o21, o22)) - 1.0
    return np.where(np.isneginf(score), 0.0, o11 * np.where(np.isneginf(score), 0.0, score))


def neglog10_poisson(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return -log10 P(X >= O11) for X ~ Poisson(E11) and an integer O11."""
    return distributions.poisson_tails(o11, expected(o11, o12, o21, o22)).ge / -math.log(10.0) + 0.0


def neglog10_fisher(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return -log10 of Fisher's p-value, P(X >= O11) given the margins, for integer cells."""
    total, (less, more) = _total(o11, o12, o21, o22), np.sort([o11 + o12, o11 + o21], axis=0)
    return distributions.tails(o11, total, less, more).ge / -math.log(10.0) + 0.0


def log_dice(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return 14 + log2 of Dice's coefficient (Rychly 2008), which is -inf if O11 is 0."""
    return 14.0 + _log(dice(o11, o12, o21, o22), np.log2)


def normalised_mutual_information(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log(O11 / E11) / -log(O11 / N) (Bouma 2009), between -1 and 1."""
    information = mutual_information(o11, o12, o21, o22)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = information / np.log2(_total(o11, o12, o21, o22) / o11)
    return np.where(np.isneginf(information), -1.0, score)


def conservative_log_ratio(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray, *, tail: float = 0.025
) -> FloatArray:
    """Return the confidence limit closer to 0 for log2((O11/R1) / (O21/R2)).

    Given O11 + O21, O11 is binomial. Each Clopper-Pearson limit p, with probability ``tail`` on
    each side, gives a ratio p / (1 - p) R2 / R1 (Hardie 2014, Evert 2022). The result is 0 if the
    interval contains 0, and NaN if R1 or R2 is 0.
    """
    o11, o21, first, second = np.broadcast_arrays(o11, o21, o11 + o12, o21 + o22)
    known, attracted = (first > 0) & (second > 0), o11 * second >= o21 * first
    result = np.where(known, 0.0, np.nan)
    for side, shifts, count in ((1.0, (0.0, 1.0), o11), (-1.0, (1.0, 0.0), o21)):
        some = known & (attracted == (side > 0.0)) & (count > 0)
        limit = beta_logits(o11[some], o21[some], BetaTail((shifts,), tail, upper=side < 0.0))
        limit = limit / math.log(2.0) + np.log2(second[some] / first[some])
        result[some] = side * np.maximum(side * limit, 0.0)
    return result


def delta_p_forward(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return O11/R1 - O21/R2, the effect of the first word on the second."""
    return quotient(_excess(o11, o12, o21, o22), product(o11 + o12, o21 + o22))


def frequency(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return O11."""
    return o11 + 0.0


MEASURES: dict[str, Measure] = {
    "G2": log_likelihood,
    "X2": chi_squared,
    "X2_yates": chi_squared_yates,
    "t": t_score,
    "z": z_score,
    "z_yates": z_score_yates,
    "neglog10_poisson": neglog10_poisson,
    "neglog10_fisher": neglog10_fisher,
    "poisson_stirling": poisson_stirling,
    "MI": mutual_information,
    "MI2": mutual_information_2,
    "MI3": mutual_information_3,
    "local_MI": local_mutual_information,
    "average_MI": average_mutual_information,
    "dice": dice,
    "jaccard": jaccard,
    "gmean": geometric_mean,
    "min_sensitivity": minimum_sensitivity,
    "log_odds_ratio": log_odds_ratio,
    "log_odds_ratio_discounted": log_odds_ratio_discounted,
    "log_relative_risk": log_relative_risk,
    "liddell": liddell,
    "f": frequency,
    "logDice": log_dice,
    "NPMI": normalised_mutual_information,
    "LRC": conservative_log_ratio,
    "deltaP_forward": delta_p_forward,
    "deltaP_backward": liddell,
}
"""Association measures by name."""

COUNT_MEASURES = ("neglog10_poisson", "neglog10_fisher")
"""Measures that are probabilities of counts and require whole numbers in all cells."""
