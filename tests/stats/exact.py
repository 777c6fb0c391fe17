"""Reference values from outside: enumeration with fractions, series with mpmath at 50 digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from math import comb

import mpmath
from mpmath import mpf

Law = dict[int, Fraction]

precisely = mpmath.workdps(50)


def hypergeometric(total: int, positive: int, n: int) -> Law:
    """Return P(X = i) for every possible count i, by counting lists."""
    possible = range(max(0, n - (total - positive)), min(n, positive) + 1)
    lists = comb(total, n)
    return {i: Fraction(comb(positive, i) * comb(total - positive, n - i), lists) for i in possible}


def binomial(n: int, z: float) -> Law:
    """Return P(X = i) for every count i, z being the exact value of the float."""
    chance = Fraction(z)
    law = {i: comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)}
    return {i: p for i, p in law.items() if p}


def tail(law: Law, i: int) -> Fraction:
    """Return P(X >= i)."""
    return sum((p for j, p in law.items() if j >= i), Fraction(0))


def log(p: Fraction | mpf) -> float:
    """Return log p, -inf for 0, rounded once."""
    with mpmath.workdps(50):
        exact = mpf(p.numerator) / p.denominator if isinstance(p, Fraction) else p
        return float(mpmath.log(exact)) if exact else float("-inf")


def _log_choose(n: int, i: int) -> mpf:
    return mpmath.loggamma(n + 1) - mpmath.loggamma(i + 1) - mpmath.loggamma(n - i + 1)


def _series(ratios: Iterator[tuple[int, int]]) -> mpf:
    """Return 1 + r1 + r1 r2 + ... for falling ratios of integers, in fixed point."""
    term = total = one = 1 << 250
    for above, below in ratios:
        term = term * above // below
        total += term
        if term << 100 < total:
            break
    return mpf(total) / one


@precisely
def big_hypergeometric(i: int, total: int, positive: int, n: int) -> mpf:
    """Return P(X = i) from log-gammas."""
    return mpmath.exp(
        _log_choose(positive, i) + _log_choose(total - positive, n - i) - _log_choose(total, n)
    )


@precisely
def big_hypergeometric_tail(i: int, total: int, positive: int, n: int) -> mpf:
    """Return P(X >= i), summed on the shorter side."""
    rest = total - positive - n
    if i > min(positive, n):
        return mpf(0)
    if i * total > n * positive:
        up = (((positive - j) * (n - j), (j + 1) * (rest + j + 1)) for j in count(i))
        return big_hypergeometric(i, total, positive, n) * _series(up)
    if i <= max(0, -rest):
        return mpf(1)
    down = ((j * (rest + j), (positive - j + 1) * (n - j + 1)) for j in count(i - 1, -1))
    return 1 - big_hypergeometric(i - 1, total, positive, n) * _series(down)


@precisely
def big_binomial(i: int, n: int, z: float) -> mpf:
    """Return P(X = i) from log-gammas."""
    chance = mpf(z)
    return mpmath.exp(_log_choose(n, i) + i * mpmath.log(chance) + (n - i) * mpmath.log(1 - chance))


@precisely
def big_binomial_tail(i: int, n: int, z: float) -> mpf:
    """Return P(X >= i), summed on the shorter side."""
    odds = Fraction(z) / (1 - Fraction(z))
    yes, no = odds.numerator, odds.denominator
    if i > n:
        return mpf(0)
    if i > n * z:
        return big_binomial(i, n, z) * _series(((n - j) * yes, (j + 1) * no) for j in count(i))
    if i <= 0:
        return mpf(1)
    down = ((j * no, (n - j + 1) * yes) for j in count(i - 1, -1))
    return 1 - big_binomial(i - 1, n, z) * _series(down)


@precisely
def big_poisson_tail(i: int, mean: Fraction) -> mpf:
    """Return P(X >= i) for a Poisson count, summed on the shorter side."""
    above, below = mean.numerator, mean.denominator

    def pmf(j: int) -> mpf:
        m = mpf(above) / below
        return mpmath.exp(j * mpmath.log(m) - m - mpmath.loggamma(j + 1))

    if i > mean:
        return pmf(i) * _series((above, (j + 1) * below) for j in count(i))
    if i <= 0:
        return mpf(1)
    return 1 - pmf(i - 1) * _series((j * below, above) for j in count(i - 1, -1))


@precisely
def betainc(a: float | mpf, b: float | mpf, x: float | mpf) -> mpf:
    """Return I_x(a, b) from its series of positive terms, on the side where they fall faster."""
    a, b, x = mpf(a), mpf(b), mpf(x)
    if x * (a + b) > a or x > 0.999:
        return 1 - _beta_series(b, a, 1 - x)
    return _beta_series(a, b, x)


def _beta_series(a: mpf, b: mpf, x: mpf) -> mpf:
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    lead = mpmath.exp(a * mpmath.log(x) + b * mpmath.log(1 - x) - log_beta) / a
    one = 1 << 200
    first, step, below = (int(v * one) for v in ((a + b) * x, x, a + 1))
    return lead * _series((first + t * step, below + t * one) for t in count())


@precisely
def root_error(tail_at: Callable[[mpf], mpf], root: float, target: float | mpf) -> float:
    """Return the relative error of a root of ``tail_at`` = ``target``: residual over slope."""
    at, step = mpf(root), mpf("1e-15")
    value = tail_at(at)
    slope = (value - tail_at(at * (1 - step))) / step
    return float(abs((value - target) / slope))


def assert_within(error: float | mpf, limit: float, at: float = float("nan")) -> None:
    """Fail where the relative error of a number, about ``at``, is above a limit.

    The page of accuracies takes the error from here.
    """
    assert error <= limit, f"the relative error at {at} is {float(error):.2g}, above {limit}"


def fisher(tp_a: int, n_a: int, tp_b: int, n_b: int, alternative: str) -> tuple[Fraction, Fraction]:
    """Return the p-value and mid-p of Fisher's test by enumeration, equal to a relative 1e-7."""
    law = hypergeometric(n_a + n_b, tp_a + tp_b, n_a)
    if alternative == "two-sided":
        edge = law[tp_a]
        less = sum(p for p in law.values() if p < edge * (1 - Fraction(1, 10**7)))
        equal = sum(p for p in law.values() if abs(p - edge) <= edge / 10**7)
    else:
        sign = 1 if alternative == "greater" else -1
        less = sum(p for i, p in law.items() if sign * i > sign * tp_a)
        equal = law[tp_a]
    return Fraction(less + equal), less + Fraction(equal) / 2


@precisely
def big_fisher(tp_a: int, n_a: int, tp_b: int, n_b: int) -> tuple[mpf, mpf]:
    """Return the two-sided p-value and mid-p where tp_a is above expectation."""
    total, positive = n_a + n_b, tp_a + tp_b
    lowest = max(0, n_a - (total - positive))
    edge = equal = big_hypergeometric(tp_a, total, positive, n_a)
    left, right = lowest - 1, n_a * positive // total
    while left + 1 < right:  # left: the last count below the mode that is at most as likely
        middle = (left + right) // 2
        rare = big_hypergeometric(middle, total, positive, n_a) <= edge * (1 + mpf("1e-7"))
        left, right = (middle, right) if rare else (left, middle)
    p_value = big_hypergeometric_tail(tp_a, total, positive, n_a)
    if left >= lowest:
        p_value += big_hypergeometric_tail(positive - left, total, positive, n_b)
        mirror = big_hypergeometric(left, total, positive, n_a)
        equal += mirror if mirror >= edge * (1 - mpf("1e-7")) else 0
    return p_value, p_value - equal / 2
