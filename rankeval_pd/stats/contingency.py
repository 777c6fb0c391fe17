"""Association in 2x2 tables of frequencies, exact where tables are large."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import FloatArray, silent_division
from rankeval_pd.stats.distributions import deviance
from rankeval_pd.stats.proportions import BetaTail, beta_logits

# --------------- Products, differences and quotients with twice the digits of a float (Dekker 1971)
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


def minus(a: Exact, b: Exact) -> Exact:
    """Return a - b, whose leading digits can cancel."""
    high = a.high - b.high
    part = high - a.high
    low = ((a.high - (high - part)) - (b.high + part)) + (a.low - b.low)
    return Exact(high + low, low - ((high + low) - high))


def root(x: Exact) -> Exact:
    """Return the square root of a positive number, or 0."""
    near = np.sqrt(x.high)
    rest = minus(x, product(near, near)).high
    return Exact(near, rest / np.where(near > 0.0, 2.0 * near, 1.0))


def quotient(above: FloatArray | Exact, below: FloatArray | Exact) -> FloatArray:
    """Return above / below, which is NaN for 0/0 and infinite for any other number / 0."""
    above = product(above)
    below = product(below)
    with silent_division():
        near = above.high / below.high
        rest = minus(above, product(below, near)).high / below.high
    return np.where(np.isfinite(near), near + rest, near)


# -------------- Association measures for 2x2 contingency tables, from the four observed frequencies
#
# The formulas follow Evert's (2004) online repository of association measures. R1 and C1 are the
# frequencies of the first and second words, and E11 = R1 C1 / N. Scores are high if the two words
# occur together more often than expected. A score of 0/0 is undefined and returned as NaN.
#
# Products of counts are exact before the only division, so scores that are equal as fractions are
# equal floats, also if the two words are swapped.


class Cells(NamedTuple):
    """Frequencies of the four cells of 2x2 tables."""

    o11: FloatArray
    o12: FloatArray
    o21: FloatArray
    o22: FloatArray

    @property
    def r1(self) -> FloatArray:
        """The frequency of the first word."""
        return self.o11 + self.o12

    @property
    def r2(self) -> FloatArray:
        """The frequency of the other first words."""
        return self.o21 + self.o22

    @property
    def c1(self) -> FloatArray:
        """The frequency of the second word."""
        return self.o11 + self.o21

    @property
    def c2(self) -> FloatArray:
        """The frequency of the other second words."""
        return self.o12 + self.o22

    @property
    def total(self) -> FloatArray:
        """N. Fractional counts also have the same sum if the words are swapped."""
        return (self.o11 + self.o22) + (self.o12 + self.o21)

    @property
    def expected(self) -> FloatArray:
        """E11, the frequency of the pair if its words were independent."""
        return quotient(product(self.r1, self.c1), self.total)

    def excess(self, *, yates: bool = False) -> Exact:
        """Return N (O11 - E11), with O11 moved toward E11 by at most 1/2 if ``yates``."""
        excess = minus(product(self.o11, self.o22), product(self.o12, self.o21))
        if not yates:
            return excess
        sign = np.sign(excess.high)
        less = minus(product(excess, sign), Exact(0.5 * self.total))
        return product(less, np.where(less.high > 0.0, sign, 0.0))


Measure = Callable[..., FloatArray]


def log_likelihood(t: Cells, unit: float = 1.0) -> FloatArray:
    """Return Dunning's G2 with the sign of O11 - E11: four deviances, as the O - E add up to 0."""
    total = t.total
    excess = quotient(t.excess(), total)
    both, first, second, neither = (
        deviance(cell, quotient(product(row, column), total), gap)
        for cell, row, column, gap in (
            (t.o11, t.r1, t.c1, excess),
            (t.o12, t.r1, t.c2, -excess),
            (t.o21, t.r2, t.c1, -excess),
            (t.o22, t.r2, t.c2, excess),
        )
    )
    result = (both + neither) + (first + second)
    return (np.copysign(2.0 * result, excess) + 0.0) / unit


def chi_squared(t: Cells, *, yates: bool = False) -> FloatArray:
    """Return Pearson's X2 with the sign of O11 - E11; 0 if a margin is 0.

    The excess is the same in all cells, so X2 is excess^2 N / (R1 R2 C1 C2).
    """
    excess = t.excess(yates=yates)
    margins = product(product(t.r1, t.r2), product(t.c1, t.c2))
    statistic = quotient(product(excess, excess, t.total), margins)
    return np.where(margins.high > 0, np.copysign(statistic, excess.high) + 0.0, 0.0)


def t_score(t: Cells) -> FloatArray:
    """Return (O11 - E11) / sqrt(O11)."""
    return quotient(t.excess(), root(product(t.o11, t.total, t.total)))


def z_score(t: Cells, *, yates: bool = False) -> FloatArray:
    """Return (O11 - E11) / sqrt(E11), with or without Yates's correction."""
    return quotient(t.excess(yates=yates), root(product(t.r1, t.c1, t.total)))


def _log(x: FloatArray, log: Measure = np.log) -> FloatArray:
    """Return log x, which is -inf for 0."""
    with np.errstate(divide="ignore"):
        return log(x)


def _over_expected(t: Cells, power: int) -> FloatArray:
    """Return O11^power / E11."""
    return quotient(product(*[t.o11] * power, t.total), product(t.r1, t.c1))


def mutual_information(t: Cells, power: int = 1) -> FloatArray:
    """Return log2(O11^power / E11)."""
    return _log(_over_expected(t, power), np.log2)


def local_mutual_information(t: Cells) -> FloatArray:
    """Return O11 log2(O11 / E11), which is 0 if only O11 is 0."""
    return _times_pairs(t, mutual_information(t))


def poisson_stirling(t: Cells) -> FloatArray:
    """Return O11 (log O11 - log E11 - 1), which is 0 if only O11 is 0."""
    return _times_pairs(t, _log(_over_expected(t, 1)) - 1.0)


def _times_pairs(t: Cells, score: FloatArray) -> FloatArray:
    """Return O11 times a logarithm, which is 0 if the logarithm is -inf."""
    return np.where(np.isneginf(score), 0.0, t.o11 * np.where(np.isneginf(score), 0.0, score))


def dice(t: Cells) -> FloatArray:
    """Return 2 O11 / (R1 + C1)."""
    return quotient(2.0 * t.o11, t.r1 + t.c1)


def log_dice(t: Cells) -> FloatArray:
    """Return 14 + log2 of Dice's coefficient (Rychly 2008), which is -inf if O11 is 0."""
    return 14.0 + _log(dice(t), np.log2)


def jaccard(t: Cells) -> FloatArray:
    """Return O11 / (O11 + O12 + O21)."""
    return quotient(t.o11, t.o11 + (t.o12 + t.o21))


def geometric_mean(t: Cells) -> FloatArray:
    """Return O11 / sqrt(R1 C1), the geometric mean of O11/R1 and O11/C1."""
    return quotient(t.o11, root(product(t.r1, t.c1)))


def minimum_sensitivity(t: Cells) -> FloatArray:
    """Return the smaller of O11/R1 and O11/C1."""
    return np.minimum(quotient(t.o11, t.r1), quotient(t.o11, t.c1))


def log_odds_ratio(t: Cells) -> FloatArray:
    """Return log(O11 O22 / (O12 O21)), the natural logarithm of the odds ratio."""
    return _log(quotient(product(t.o11, t.o22), product(t.o12, t.o21)))


def log_odds_ratio_discounted(t: Cells) -> FloatArray:
    """Return the log odds ratio after adding 1/2 to every cell, so it is always finite."""
    return log_odds_ratio(Cells(t.o11 + 0.5, t.o12 + 0.5, t.o21 + 0.5, t.o22 + 0.5))


def log_relative_risk(t: Cells) -> FloatArray:
    """Return log((O11/C1) / (O12/C2)), the log relative risk of the first word given the second."""
    return _log(quotient(product(t.o11, t.c2), product(t.o12, t.c1)))


def liddell(t: Cells) -> FloatArray:
    """Return (O11 O22 - O12 O21) / (C1 C2) = O11/C1 - O12/C2."""
    return quotient(t.excess(), product(t.c1, t.c2))


def delta_p_forward(t: Cells) -> FloatArray:
    """Return O11/R1 - O21/R2, the effect of the first word on the second."""
    return quotient(t.excess(), product(t.r1, t.r2))


def neglog10_poisson(t: Cells) -> FloatArray:
    """Return -log10 P(X >= O11) for X ~ Poisson(E11) and an integer O11."""
    return distributions.poisson_tails(t.o11, t.expected).ge / -math.log(10.0) + 0.0


def neglog10_fisher(t: Cells) -> FloatArray:
    """Return -log10 of Fisher's p-value, P(X >= O11) given the margins, for integer cells."""
    less, more = np.sort([t.r1, t.c1], axis=0)
    return distributions.tails(t.o11, t.total, less, more).ge / -math.log(10.0) + 0.0


def normalised_mutual_information(t: Cells) -> FloatArray:
    """Return log(O11 / E11) / -log(O11 / N) (Bouma 2009), between -1 and 1."""
    information = mutual_information(t)
    with silent_division():
        score = information / np.log2(t.total / t.o11)
    return np.where(np.isneginf(information), -1.0, score)


def conservative_log_ratio(t: Cells, *, tail: float = 0.025) -> FloatArray:
    """Return the limit closer to 0 for log2((O11/R1) / (O21/R2)) (Hardie 2014, Evert 2022).

    Given O11 + O21, O11 is binomial; Clopper-Pearson limits p, with ``tail`` on each side, give
    ratios p / (1 - p) R2 / R1. It is 0 if the interval contains 0, and NaN if R1 or R2 is 0.
    """
    o11, o21, first, second = np.broadcast_arrays(t.o11, t.o21, t.r1, t.r2)
    known = (first > 0) & (second > 0)
    attracted = o11 * second >= o21 * first
    result = np.where(known, 0.0, np.nan)
    for side, shifts, count in ((1.0, (0.0, 1.0), o11), (-1.0, (1.0, 0.0), o21)):
        some = known & (attracted == (side > 0.0)) & (count > 0)
        wanted = BetaTail(shifts, tail, upper=side < 0.0)
        limit = beta_logits(o11[some], o21[some], wanted)
        limit = limit / math.log(2.0) + np.log2(second[some] / first[some])
        result[some] = side * np.maximum(side * limit, 0.0)
    return result


def frequency(t: Cells) -> FloatArray:
    """Return O11."""
    return t.o11 + 0.0


MEASURES: dict[str, Measure] = {
    "G2": log_likelihood,
    "X2": chi_squared,
    "X2_yates": partial(chi_squared, yates=True),
    "t": t_score,
    "z": z_score,
    "z_yates": partial(z_score, yates=True),
    "neglog10_poisson": neglog10_poisson,
    "neglog10_fisher": neglog10_fisher,
    "poisson_stirling": poisson_stirling,
    "MI": mutual_information,
    "MI2": partial(mutual_information, power=2),
    "MI3": partial(mutual_information, power=3),
    "local_MI": local_mutual_information,
    "average_MI": partial(log_likelihood, unit=2.0 * math.log(2.0)),  # the sum of O log2(O/E)
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
