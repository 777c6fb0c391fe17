"""The score test of two difference regions, whose counts may vary more than binomial ones."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray


def score_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Test whether tp_a of n_a and tp_b of n_b come from the same proportion.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array
        True positives and sizes of the two regions, divided by an overdispersion where there is
        one, so that they need not be whole; they broadcast.
    alternative : {"two-sided", "greater", "less"}
        "greater": the proportion in a is the larger one.

    Notes
    -----
    The difference less half of Yates' correction, (1/n_a + 1/n_b)/4, by its standard deviation if
    both proportions are the pooled one, with Miettinen and Nurminen's factor N/(N - 1): the test
    whose inversion the interval "score" nearly is. An empty region, or regions with no or only true
    positives, have p = 1.
    """
    from scipy import special

    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    total = n_a + n_b
    with np.errstate(divide="ignore", invalid="ignore"):
        share, sizes = (tp_a + tp_b) / total, 1.0 / n_a + 1.0 / n_b
        sd = np.sqrt(share * (1.0 - share) * sizes * total / (total - 1.0))
        difference = tp_a / n_a - tp_b / n_b
        signed = difference if alternative != "less" else -difference
        further = np.abs(difference) if alternative == "two-sided" else signed
        z = (further - 0.25 * sizes) / sd
    sides = 2.0 if alternative == "two-sided" else 1.0
    p_value = np.minimum(sides * special.ndtr(-z), 1.0)
    known = (n_a > 0) & (n_b > 0) & (total > 1.0) & (sd > 0.0)
    return np.where(known, p_value, 1.0)
