"""Quantiles of beta distributions for millions of counts: a polynomial in the place of tails.

The logit of a beta variable is the difference of the logarithms of two gamma variables. Its
cumulants are differences and sums of polygamma functions, and with

    σ² = 1/a + 1/b,    t = (b - a)/(a + b)

the m-th term of its Cornish-Fisher expansion at a fixed level is σ^(m + 1) times a polynomial in t
of degree m, with even powers only or odd ones. So the logit of a quantile is

    log(a/b) + σ P(σ², σ t)

with one polynomial P for all a and b of a level. Its coefficients are found from exact quantiles at
a grid of Chebyshev's points, and what is left there says how well it holds; where a and b are 100
or more, ten powers leave some 1e-14. Temme's uniform inversion (1992, Asymptotic inversion of
incomplete gamma functions; of the beta function in the same issue) has the same small parameter,
and its coefficients are functions of a/b that are much dearer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray

LEAST = 100.0  #: a and b from which on the polynomial holds
_DEGREE = 10
_POINTS = 16  # a side of the grid
_CLOSE = 2e-13  # what may be left of the logit, as an absolute error
_BLOCK = 1 << 14  # numbers that stay in the cache

Logits = Callable[[FloatArray, FloatArray], FloatArray]


class Expansion(NamedTuple):
    """The polynomial of one level: rows of powers of σ t, each with powers of σ²."""

    coefficients: tuple[tuple[float, ...], ...]

    def quantiles(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the quantiles of Beta(a, b), flat arrays."""
        result = np.empty(a.size)
        for start in range(0, a.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = self._block(a[part], b[part])
        return result

    def _block(self, a: FloatArray, b: FloatArray) -> FloatArray:
        square = 1.0 / a + 1.0 / b
        width = np.sqrt(square)
        slant = width * (b - a) / (a + b)
        result, row = np.zeros(a.size), np.empty(a.size)
        for powers in reversed(self.coefficients):
            row.fill(powers[-1])
            for value in reversed(powers[:-1]):
                row *= square
                row += value
            result *= slant
            result += row
        result *= -width
        np.exp(result, out=result)
        result *= b
        result += a
        quantiles: FloatArray = np.divide(a, result, out=result)
        return quantiles


def expansion(exact: Logits) -> Expansion | None:
    """Return the polynomial of a level, or None where it does not hold to 2e-13.

    ``exact`` gives the logits of the quantiles for arrays of a and b.
    """
    turn = np.cos((np.arange(_POINTS) + 0.5) * np.pi / _POINTS)
    t, part = (x.ravel() for x in np.meshgrid(turn, 0.5 * (1.0 + turn), indexing="ij"))
    # the largest σ at this t has the smaller of a and b at its least
    width = part * np.sqrt(2.0 / (LEAST * (1.0 + np.abs(t))))
    a, b = 2.0 / (width**2 * (1.0 + t)), 2.0 / (width**2 * (1.0 - t))
    wanted = exact(a, b) - np.log(a / b)
    powers = [(k, i) for k in range(_DEGREE + 1) for i in range((_DEGREE - k) // 2 + 1)]
    terms = np.stack([width ** (2 * i + 1) * (width * t) ** k for k, i in powers], axis=1)
    scale = np.abs(terms).max(axis=0)
    found = np.linalg.lstsq(terms / scale, wanted, rcond=None)[0]
    left = np.abs(terms / scale @ found - wanted).max()
    if not left <= _CLOSE:
        return None
    values = dict(zip(powers, (found / scale).tolist(), strict=True))
    return Expansion(
        tuple(
            tuple(values[k, i] for i in range((_DEGREE - k) // 2 + 1)) for k in range(_DEGREE + 1)
        )
    )
