"""How many resamples do a family, its adjustment, alpha and level need?"""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats.resampling.asked import Options

LEAST = 10_000  # resamples, unless another number is given

_DECIDING = 10  # so many resamples are to be expected beyond the edge of a decision


def needed_resamples(options: Options, n_pairs: int) -> int:
    """Return the least number of resamples of which one p-value could be at most alpha."""
    if options.adjust == "max-t":
        return _whole(options.n_alike / options.alpha) - 1
    tests, family = 1.0, n_pairs * options.n_alike
    if options.adjust is not None:
        tests = float(family)
    if options.adjust == "by":
        tests *= float((1.0 / np.arange(1, family + 1)).sum())
    return _whole(2.0 * tests / options.alpha) - 1


def _whole(draws: float) -> int:
    """Return so many draws, rounding left aside; at most what no memory holds, and is refused."""
    return int(min(np.ceil(draws * (1.0 - 1e-12)), 2.0**62))


def settled(options: Options, n_pairs: int) -> Options:
    """Return the options with as many resamples as family, adjustment, alpha and level need."""
    if options.n_resamples:
        return options
    deciding = _DECIDING * (needed_resamples(options, n_pairs) + 1)
    limiting = int(np.ceil(_DECIDING * 2.0 / (1.0 - options.level) * (1.0 - 1e-12)))
    return options._replace(n_resamples=max(LEAST, deciding, limiting))


def check_enough(options: Options, n_pairs: int) -> None:
    """Raise a ValueError where no adjusted p-value could be significant with so few resamples."""
    needed = needed_resamples(options, n_pairs)
    if options.adjust is None or options.n_resamples >= needed:
        return
    alike = options.n_alike
    factor = f"{alike}" if options.adjust == "max-t" else f"{2 * n_pairs * alike}"
    in_groups = "" if alike == 1 else f" in each of {alike} groups (adjust_over='all')"
    if options.adjust == "by":
        factor += " (1 + 1/2 + ...)"
    raise ValueError(
        f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g} with"
        f" adjust={options.adjust!r}: the smallest adjusted p-value of {n_pairs}"
        f" pair{'s'[: n_pairs != 1]}{in_groups} is {factor}/(n_resamples + 1). Give"
        f" n_resamples={needed} or more, or None for as many as are needed."
    )
