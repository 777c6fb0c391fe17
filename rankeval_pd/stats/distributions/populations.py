"""The two random models of Macskassy (2005): a finite set of candidates, or an endless one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray
from rankeval_pd.stats.distributions import binomial, hypergeometric
from rankeval_pd.stats.distributions.tails import Tails


@dataclass(frozen=True)
class Finite:
    """A random order of ``total`` candidates with ``positive`` true positives: hypergeometric."""

    total: float
    positive: float

    @property
    def prior(self) -> float:
        """The share of positives, N+/N; 0 where there is no candidate."""
        return self.positive / self.total if self.total else 0.0

    @property
    def opposite(self) -> Finite:
        """The same candidates with negatives in the place of positives."""
        return Finite(self.total, self.total - self.positive)

    def at(self, where: BoolArray) -> Finite:
        """Return the candidates of some of the lists: of all lists they are the same."""
        return self

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return hypergeometric.support(self.total, self.positive, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of n."""
        return hypergeometric.tails(i, self.total, self.positive, n)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(the next candidate is positive | i of n were): Macskassy, Eq 12."""
        chance: FloatArray = (self.positive - i) / np.maximum(self.total - n, 1.0)
        return chance

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(the next candidate is negative | i of n were positive): Macskassy, Eq 13."""
        chance: FloatArray = (self.total - self.positive - n + i) / np.maximum(self.total - n, 1.0)
        return chance


@dataclass(frozen=True)
class FiniteEach:
    """Candidates of its own for each list: ``total`` and ``positive`` are arrays as the n are."""

    total: FloatArray
    positive: FloatArray

    @property
    def prior(self) -> FloatArray:
        """The share of positives, N+/N."""
        return self.positive / np.maximum(self.total, 1.0)

    def at(self, where: BoolArray) -> FiniteEach:
        """Return the candidates of some of the lists."""
        return FiniteEach(self.total[where], self.positive[where])

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return hypergeometric.support(self.total, self.positive, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of n."""
        return hypergeometric.tails(i, self.total, self.positive, n)


@dataclass(frozen=True)
class InfiniteEach:
    """A supply of its own for each list: ``prior`` is an array as the n are."""

    prior: FloatArray

    def at(self, where: BoolArray) -> InfiniteEach:
        """Return the supplies of some of the lists."""
        return InfiniteEach(self.prior[where])

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return np.where(self.prior == 1.0, n, 0.0), np.where(self.prior == 0.0, 0.0, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of n."""
        return binomial.tails(i, n, self.prior)


@dataclass(frozen=True)
class Infinite:
    """An endless supply of candidates with a share ``prior`` of positives: binomial."""

    prior: float

    @property
    def opposite(self) -> Infinite:
        """The same supply with negatives in the place of positives."""
        return Infinite(1.0 - self.prior)

    def at(self, where: BoolArray) -> Infinite:
        """Return the supply of some of the lists: of all lists it is the same."""
        return self

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        n = np.asarray(n, dtype=float)
        return (
            n.copy() if self.prior == 1.0 else np.zeros_like(n),
            np.zeros_like(n) if self.prior == 0.0 else n.copy(),
        )

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of n."""
        return binomial.tails(i, n, self.prior)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the chance of a positive (Macskassy, Eq 17)."""
        return np.full(np.broadcast(i, n).shape, self.prior)

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the chance of a negative (Macskassy, Eq 18)."""
        return np.full(np.broadcast(i, n).shape, 1.0 - self.prior)


Population = Finite | Infinite
