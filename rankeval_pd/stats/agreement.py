"""Combine the labels of several annotators, and measure their agreement.

Votes are indexed by (annotator, candidate). Counts are indexed by (candidate, category) and
contain the number of annotators who chose a label. Every coefficient is 1 - observed / expected
disagreement. Both disagreements are sums over candidates, so the jackknife over candidates is
exact and takes O(candidates) time.

References: J. Cohen (1960), A coefficient of agreement for nominal scales. J. L. Fleiss (1971),
Measuring nominal scale agreement among many raters. K. Krippendorff (2011), Computing
Krippendorff's alpha-reliability. E. G. Johnson and K. F. Rust (1992), Effective degrees of freedom
for variance estimates from a complex sample survey.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import alike_share
from rankeval_pd.stats.intervals.proportions import t_of


def agreed(votes: FloatArray, agreement: str) -> FloatArray:
    """Return one label per candidate from votes (..., annotator, candidate); NaN means no vote.

    With "majority", the label is NaN if the vote is tied. With "mean", the label is the mean of the
    votes. A candidate without votes gets NaN.
    """
    known = ~np.isnan(votes)
    count, positive = known.sum(axis=-2), np.where(known, votes, 0.0).sum(axis=-2)
    if agreement == "any":
        label = (positive > 0).astype(float)
    elif agreement == "all":
        label = (positive == count).astype(float)
    else:
        label = positive / np.maximum(count, 1)
        if agreement == "majority":
            label = np.where(2 * positive == count, np.nan, np.rint(label))
    return np.where(count > 0, label, np.nan)


class Agreement(NamedTuple):
    """A coefficient of agreement with its interval."""

    value: float
    ci_low: float
    ci_high: float
    n: int  #: number of candidates used


_RARE = 5.0
_NONE = Agreement(np.nan, np.nan, np.nan, 0)
Disagreement = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def cohen_kappa(a: IntArray, b: IntArray, level: float) -> Agreement:
    """Return Cohen's kappa for two annotators; labels start at 0, and -1 means no label."""
    both = (a >= 0) & (b >= 0)
    a, b = a[both], b[both]
    categories = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    one = np.eye(categories)
    sums = np.column_stack([a != b, one[a], one[b]]).astype(float)

    def disagreement(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = s[..., 1 : 1 + categories].sum(axis=-1)
        chance = (s[..., 1 : 1 + categories] * s[..., 1 + categories :]).sum(axis=-1) / n**2
        return s[..., 0] / n, 1.0 - chance

    counts = one[a] + one[b]
    alike = np.tile(_rarest(counts), 2)
    return _with_limits(sums, np.append(0.0, alike), counts, disagreement, level)


def fleiss_kappa(counts: IntArray, level: float) -> Agreement:
    """Return Fleiss' kappa; NaN if candidates differ in the number of votes or have only 1."""
    votes = counts.sum(axis=1)
    if not votes.size or votes[0] < 2 or (votes != votes[0]).any():
        return _NONE
    m = float(votes[0])

    def disagreement(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = s[..., 1:].sum(axis=-1)
        chance = ((s[..., 1:] / total[..., np.newaxis]) ** 2).sum(axis=-1)
        return s[..., 0] * m / total, 1.0 - chance

    alike = np.append(0.0, m * _rarest(counts))
    return _with_limits(_pairs_apart(counts, m * (m - 1.0)), alike, counts, disagreement, level)


def krippendorff_alpha(counts: IntArray, level: float) -> Agreement:
    """Return Krippendorff's alpha for nominal labels, from candidates with 2 or more votes."""
    counts = counts[counts.sum(axis=1) > 1]
    votes = counts.sum(axis=1)

    def disagreement(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = s[..., 1:].sum(axis=-1)
        pairs = total**2 - (s[..., 1:] ** 2).sum(axis=-1)
        return s[..., 0] / total, pairs / (total * (total - 1.0))

    alike = np.append(0.0, votes.max(initial=0) * _rarest(counts))
    return _with_limits(_pairs_apart(counts, votes - 1.0), alike, counts, disagreement, level)


def _rarest(counts: AnyArray) -> FloatArray:
    """Return 1.0 for the category with the fewest votes, and 0.0 for all other categories."""
    total = counts.sum(axis=0)
    return np.asarray(np.arange(total.size) == total.argmin() if total.size else total, dtype=float)


def _with_limits(
    per_candidate: FloatArray, alike: FloatArray, counts: AnyArray, of: Disagreement, level: float
) -> Agreement:
    """Return the coefficient with its interval, which is widened for a rare label.

    A label is rare if all labels but the most common one together have fewer votes than 5
    candidates do. In this case, a second interval is computed after adding a candidate to which all
    annotators give the rarest label. The outer limits of both intervals are returned.
    """
    found = _with_interval(per_candidate, of, level)
    share = counts.sum(axis=0).max(initial=0) / max(counts.sum(), 1)
    if np.isnan(found.ci_low) or (1.0 - share) * found.n >= _RARE:
        return found
    more = _with_interval(np.vstack([per_candidate, alike]), of, level)
    low, high = min(found.ci_low, more.ci_low), max(found.ci_high, more.ci_high)
    return found._replace(ci_low=low, ci_high=high)


def _pairs_apart(counts: IntArray, weight: FloatArray | float) -> FloatArray:
    """Return, for each candidate, the weighted number of disagreeing votes, and the counts."""
    apart = counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)
    return np.column_stack([apart / weight, counts]).astype(float)


def _with_interval(per_candidate: FloatArray, of: Disagreement, level: float) -> Agreement:
    """Return 1 - observed / expected, and its jackknife interval based on Student's t.

    The interval is computed on the scale of Fisher's z. The degrees of freedom come from the
    squared influences, because a few candidates with a rare label account for nearly all of the
    variance. Satterthwaite's degrees of freedom are too low for a jackknife (Johnson and Rust
    1992) and are therefore increased. Without any disagreement, the upper limit is 1, and the
    lower limit follows from an upper limit on the proportion of candidates with disagreement.
    """
    n = len(per_candidate)
    if n < 2:
        return _NONE._replace(n=n)
    total = per_candidate.sum(axis=0)
    observed, expected = of(total)
    if not expected > 0.0:
        return _NONE._replace(n=n)
    if not observed > 0.0:
        apart = 1.0 - float(alike_share(np.array(n), level))
        return Agreement(1.0, max(1.0 - apart / float(expected), -1.0), 1.0, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = of(total - per_candidate)
        ratio = left[0] / left[1]
    # dropping the only candidate with disagreement would leave none, so keep half of it
    known = np.isfinite(ratio) & (ratio > 0.0)
    z = _z(np.where(known, ratio, 0.5 * observed / expected))
    squares = (z - z.mean()) ** 2
    error = np.sqrt((n - 1.0) / n * squares.sum())
    freedom = 1.5 * squares.sum() ** 2 / max((squares**2).sum(), 1e-300) + 2.0
    margin = t_of(min(freedom, n - 1.0), level) * error
    middle = _z(observed / expected)
    low, high = (np.tanh(-0.5 * (middle + sign * margin)) for sign in (1.0, -1.0))
    return Agreement(float(1.0 - observed / expected), float(low), float(high), n)


def _z(ratio: FloatArray) -> FloatArray:
    """Return -2 times Fisher's z for the coefficient 1 - ratio."""
    return np.asarray(np.log(ratio / np.maximum(2.0 - ratio, 1e-12)))
