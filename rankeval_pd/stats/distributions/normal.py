"""The normal distribution."""

from __future__ import annotations


def z_of(level: float) -> float:
    """Return how many standard deviations either side of the mean hold this share."""
    from scipy import special

    return -float(special.ndtri((1.0 - level) / 2.0))
