"""Find a threshold that accepts n candidates on average in data that is read in chunks."""

from __future__ import annotations

import numpy as np
import xarray as xr

from rankeval_pd.stats._types import FloatArray


def top_scores(inner: xr.Dataset, most: int) -> list[FloatArray]:
    """Return the best scores in some samples: one more than the accepted number."""
    score, present = xr.broadcast(inner["score"], inner["present"])
    usable = [
        one.to_numpy()[there.to_numpy()]
        for one, there in zip(
            score.transpose("measure", ...), present.transpose("measure", ...), strict=True
        )
    ]
    return [_top(scores[~np.isnan(scores)], most + 1) for scores in usable]


def top_of_all(parts: list[list[FloatArray]], most: int) -> list[FloatArray]:
    """Combine the best scores from several parts."""
    return [_top(np.concatenate(scores), most + 1) for scores in zip(*parts, strict=True)]


def _top(scores: FloatArray, count: int) -> FloatArray:
    if scores.size <= count:
        return scores
    return np.partition(scores, scores.size - count)[-count:].copy()  # lower scores are dropped


def least_scores(tops: list[FloatArray], most: int, n: int) -> FloatArray:
    """Return the threshold for each measure from the best scores in all samples."""
    return np.array([least_score(scores, most, n) for scores in tops])


def accepted(inner: xr.Dataset, least: FloatArray) -> xr.Dataset:
    """Count accepted candidates and accepted true positives in each sample."""
    cuts = xr.DataArray(least, dims="measure")
    accepted = inner["present"] & (inner["score"] >= cuts)  # NaN is not accepted
    return xr.Dataset(
        {"sizes": accepted.sum("candidate"), "tp": (accepted & inner["gold"]).sum("candidate")}
    )


def least_score(scores: FloatArray, most: int, n: int) -> float:
    """Return the lowest score that at most ``count`` candidates reach."""
    falling = np.sort(scores)[::-1]
    if most >= falling.size:
        if most > falling.size:
            raise ValueError(
                f"n={n} exceeds the mean number of candidates per sample. Pass a smaller n."
            )
        return float(falling[-1])
    higher = falling[falling > falling[most]]
    if not higher.size:
        raise ValueError(
            f"n={n}: more than {n} candidates per sample share the best score, so no threshold"
            f" accepts only {n}. Pass a larger n."
        )
    return float(higher[-1])
