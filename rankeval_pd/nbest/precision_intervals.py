"""The interval of precision (Evert 2004, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankeval_pd.errors import (
    brief,
    check_at_least_one,
    check_choice,
    check_share,
    check_together,
    hushed,
    warn,
)
from rankeval_pd.forms.choices import ProportionInterval
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.rankings import ranking

TARGETS = ("region", "nbest")
LEAST = 10  # candidates of a list, of fewer of which the variance is a mere guess
_RATIO = 1.5  # of variances, from which on the interval of the region misleads about the list


class Interval(NamedTuple):
    """A confidence interval of precision: floats, or arrays of one shape."""

    ci_low: Any
    ci_high: Any


class IntervalKind(NamedTuple):
    """Which interval."""

    ci: str
    level: float
    phi: float = 1.0
    target: str = "region"

    @classmethod
    def of(cls, *, ci: str, level: float, phi: float = 1.0, target: str = "region") -> IntervalKind:
        """Return the kind of interval, checked."""
        check_choice("ci", ci, INTERVALS)
        check_choice("target", target, TARGETS)
        return cls(ci, check_share("level", level), check_at_least_one("phi", phi), target)

    def limits(self, tp: AnyArray, n: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return the limits of precision; a list that varies more counts as a shorter one."""
        return INTERVALS[self.ci](tp / self.phi, n / self.phi, self.level)


def precision_interval(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
) -> Interval:
    """Return the confidence interval of precision for published numbers.

    Parameters
    ----------
    tp : int or array of int
        True positives among the accepted candidates.
    n : int or array of int
        Accepted candidates; broadcasts with ``tp``.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval. Clopper-Pearson is the paper's; its coverage is never below the level,
        nor is that of Blaker's, which is shorter. The coverage of the others is close to the
        level on average.
    level : float
        Confidence level, between 0 and 1.
    phi : float
        Overdispersion, 1 or more, as :func:`repetition` and :func:`dispersion_for` give it: the
        interval is that of tp / phi of n / phi.

    Returns
    -------
    Interval
        A named tuple ``(ci_low, ci_high)``, floats for scalars. An empty list, n = 0, has (0, 1).

    Raises
    ------
    ValueError
        If a count is negative, not whole, or if tp is above n.

    Notes
    -----
    The interval is one of the average precision of a *fixed* acceptance region; see Evert's last
    paragraph of section 3.2 for the difference to the n-best list. Errors are below 1e-12
    relative to the limit, for lists of more than a hundred million candidates below 1e-11. About a
    microsecond for each interval.

    References
    ----------
    Evert (2004), section 3.2 and footnote 12, which gives 35.7 % to 44.4 % for this example.

    Examples
    --------
    >>> import rankeval_pd
    >>> low, high = rankeval_pd.precision_interval(200, 500)
    >>> print(f"{low:.12f} {high:.12f}")
    0.356761372060 0.444428200757
    """
    kind = IntervalKind.of(ci=ci, level=level, phi=phi)
    check_together(tp=tp, n=n)
    tp, n = np.broadcast_arrays(tp, n)
    for name, values in (("tp", tp), ("n", n)):
        if (
            values.dtype.kind not in "iuf"
            or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all()
        ):
            raise ValueError(f"{name}={brief(values)}: give counts, whole numbers of 0 or more.")
    most = 10**12 if ci == "blaker" else 2**53  # of as many steps; all that float64 tells apart
    if (n >= most).any():
        raise ValueError(f"n={brief(n)}: with ci={ci!r} lists hold fewer than {most:,} candidates.")
    if (tp > n).any():
        raise ValueError(
            f"tp={brief(tp)} is above n={brief(n)}: no list has more true positives than"
            " candidates. Is it tp first, then n?"
        )
    low, high = kind.limits(tp, n)
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def shares_of(
    tp: FloatArray | IntArray,
    n: IntArray,
    size: ranking.Size,
    kind: IntervalKind,
    *,
    exists: BoolArray,
    weight: FloatArray | float = 1.0,
) -> tuple[FloatArray, ...]:
    """Return precision, recall, lift and the limits of precision; NaN is what is undefined.

    ``weight`` is what a candidate of the list counts for in the limits.
    """
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.true_divide(tp, n)
        recall = np.true_divide(tp, positive)
        lift = precision / np.true_divide(positive, total)
    weight = np.broadcast_to(weight, n.shape)[exists]
    limits = np.full((2, *n.shape), np.nan)
    limits[:, exists] = kind.limits(tp[exists] * weight, n[exists] * weight)
    return precision, recall, lift, *limits


def warn_of_thresholds(ratio: FloatArray, n: IntArray, exists: BoolArray, what: str) -> None:
    """Say where n-best lists vary far more than regions with a fixed threshold do."""
    if (ratio[exists] > _RATIO).any():
        worst = int(np.argmax(np.where(exists, ratio, 0.0)))
        warn(
            f"target='region': at n={int(n.ravel()[worst])} the {what} varies"
            f" {ratio.ravel()[worst]:.2g} times as much as that of a region with a fixed threshold,"
            f" which is what the interval is of (more than {_RATIO:g} times at"
            f" {int((ratio[exists] > _RATIO).sum())} of {int(exists.sum())} lists). For the list,"
            " give target='nbest'."
        )


def warn_of_reversed(worse: BoolArray) -> None:
    """Say that lists are worse than chance: their measures may be meant the other way round."""
    if worse.any():
        warn(
            f"{int(worse.sum())} of {worse.size} lists have fewer true positives than random ones,"
            " by more than chance: such a measure ranks the true positives last. If its small"
            " values are the better ones, name it in lower_is_better, or take it out there."
        )


@contextmanager
def intervals_unread() -> Iterator[None]:
    """Ask a question for its tests alone: without what is said of its intervals."""
    with hushed("target='region'"):
        yield
