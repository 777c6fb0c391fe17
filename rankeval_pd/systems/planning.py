"""Plan test sets, and compare published accuracies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankeval_pd import stats
from rankeval_pd.errors import (
    AnyFunction,
    check_choice,
    check_count,
    check_number,
    check_numbers,
    check_shapes,
    check_share,
    shown,
    warn,
)
from rankeval_pd.options import with_options
from rankeval_pd.roles import Alternative as Alternative_of_roles
from rankeval_pd.stats import AnyArray, IntArray
from rankeval_pd.tables import Columns
from rankeval_pd.words.vocabulary import RATES

# ---- Plan test set sizes and numbers of seeds, and compute detectable gains

Alternative = Literal["two-sided", "greater"]
SIDES = {"two-sided": 2.0, "greater": 1.0}
PlannedMetric = Literal[
    "accuracy", "mean", "precision", "recall", "specificity", "npv", "f1", "youden"
]
#: rates at a threshold that can be planned, and the names of their limits
_RATES = {"precision": "ci", "recall": "recall", **RATES}
_ROWS = (pd.Series, pd.DataFrame, Mapping)
#: columns of a plan, and the smallest number in each
_LEAST = {"gain_se": 0.0, "n_items": 0.0, "n_groups": 2.0, "gain_se_seeds": 0.0, "n_seeds": 2.0}
_MOST, _MOST_SEEDS = 1e15, 1e6  # largest numbers of items and seeds in a plan
_FEWEST = 2.0  # smallest number of items or groups in a plan
_HALVINGS = 50  # the gain lies between a number and its double: to a relative 1e-15


class _Plan(NamedTuple):
    """Store the variance of one gain for the current items and seeds."""

    items: float  #: variance due to items
    n_items: float
    n_drawn: float  #: number of clusters or items
    seeds: float  #: variance due to seeds
    n_seeds: float
    pooled: float  #: number of systems with a common seed variance, or 0 for separate variances
    #: proportion of items on which only one system is right, or NaN for other metrics
    differ: float
    pairs: float  #: variance due to pairs of items, which has the square of n_items as divisor


@with_options
def detectable_gain(
    gain_se: Any,
    n_items: ArrayLike | None = None,
    *,
    n_seeds: ArrayLike | None = None,
    metric: PlannedMetric | None = None,
    power: float | None = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Any:
    """Return the smallest gain that a test can detect with a given power.

    Parameters
    ----------
    gain_se : float, array, row, table or mapping
        A table from :func:`paired_bootstrap`, :func:`area`, :func:`compare_area` or
        :func:`acceptance_precision` with ``details=True``, a row from this table, a mapping with
        columns of the first, or a standard error. For areas and rates, items are candidates, with
        the same share of positives. Without a pilot, pass an assumed AUC, such as ``{"area": 0.8,
        "prevalence": 0.1}``.
    n_items : float or array
        Size of the test set from which the number ``gain_se`` was computed. With a row or table,
        the planned size, by default the current size.
    n_seeds : float or array, optional
        Planned number of seeds per system, for a table made with ``seeds``. By default, the current
        number.
    metric
        Pass "accuracy" to plan the exact test for 0/1 items without groups or seeds. For
        :func:`acceptance_precision`, pass the rate, by default "precision". Other tables know
        their metric.
    power : float or None
        Power of the test, by default 0.8. With None, the gain is half the expected width of the
        interval with confidence 1 - alpha.
    alpha
    alternative
        "two-sided", or "greater" for a one-sided test whose direction was fixed beforehand.

    Returns
    -------
    float or array
        The detectable gain in the same units as gain_se, for each row of a table, in its order.

    Notes
    -----
    Power is computed for the t test. The degrees of freedom are the number of items, clusters or
    seeds minus 1; the plan assumes the same mean cluster size. Variances are treated as known, so
    results for two or three seeds are rough. For an assumed AUC, Hanley and McNeil's formula for
    exponential scores gives the variance. Rates at a threshold use the width of the pilot's
    interval.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143.

    Examples
    --------
    >>> import rankeval_pd
    >>> pilot = {"gain_se": 0.27, "n_items": 2000}
    >>> round(rankeval_pd.detectable_gain(pilot, 4000), 3)
    0.535

    The standard deviation is 0.5 between items and 0.03 between the three seeds of each system:

    >>> pilot = {"gain_se": 0.5 / 400**0.5, "n_items": 400}
    >>> seeds = {"gain_se_seeds": 0.03 * (2 / 3) ** 0.5, "n_seeds": 3}
    >>> round(rankeval_pd.detectable_gain(pilot | seeds), 3)
    0.123
    """
    test = _PlannedTest(power, alpha, alternative)
    plans = _plans(gain_se, n_items, metric)
    items = _planned(plans, "n_items", n_items)
    seeds = _planned(plans, "n_seeds", n_seeds)
    return _for_each_plan(plans, test.gain, n_items=items, n_seeds=seeds)


@with_options
def needed_items(
    gain: ArrayLike,
    gain_se: Any,
    n_items: ArrayLike | None = None,
    *,
    n_seeds: ArrayLike | None = None,
    metric: PlannedMetric | None = None,
    power: float | None = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Any:
    """Return the number of items needed to detect a gain with a given power.

    Parameters
    ----------
    gain : float or array
        The gain to detect, greater than 0, in the units of the score: 0.01 is one point of
        accuracy. With ``power=None``, half the width of an interval.
    gain_se, n_items, n_seeds, metric, power, alpha, alternative
        As in :func:`detectable_gain`. ``n_items`` only belongs to a number.

    Returns
    -------
    int or array of int
        For a table, one number per row in the order of the rows: ``table.assign(items=...)``.

    Notes
    -----
    ``gain_se`` of :func:`paired_bootstrap` divides the variance by the number of items n of the
    pilot. With the divisor n - 1, the plan is n / (n - 1) times as large, which matters for small
    pilots. Plans for several metrics are one call per metric, each with its own table.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.needed_items(0.5, 0.27, 2000)
    4581
    >>> rankeval_pd.needed_items(0.5, 0.27, 2000, alternative="greater")
    3609

    A sensitivity (or precision) near 0.9 has a standard deviation of √(0.9 · 0.1) between positives
    (or accepted candidates). For a 95% interval of 0.9 ± 0.05:

    >>> rankeval_pd.needed_items(0.05, (0.9 * 0.1) ** 0.5, 1, power=None)
    142

    For an AUC of 0.8 ± 0.05, if a fifth of the cases are positives:

    >>> rankeval_pd.needed_items(0.05, {"area": 0.8, "prevalence": 0.2}, power=None)
    602
    """
    test = _PlannedTest(power, alpha, alternative)
    _check_gain(gain, gain_se, metric)
    if n_items is not None and isinstance(gain_se, _ROWS):
        raise ValueError("gain_se is a row or table, which contains n_items. Omit n_items.")
    plans = _plans(gain_se, n_items, metric)
    seeds = _planned(plans, "n_seeds", n_seeds)
    return _for_each_plan(plans, test.items, gain=gain, n_seeds=seeds)


@with_options
def needed_seeds(
    gain: ArrayLike,
    gain_se: Any,
    n_items: ArrayLike | None = None,
    *,
    power: float | None = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Any:
    """Return the number of seeds per system needed to detect a gain.

    Parameters
    ----------
    gain : float or array
        The gain to detect, greater than 0.
    gain_se : row, table or mapping
        From a table made with ``seeds`` and ``details=True``.
    n_items, power, alpha, alternative
        As in :func:`detectable_gain`.

    Returns
    -------
    int or array of int
        At least two.

    Examples
    --------
    >>> import rankeval_pd
    >>> seeds = {"gain_se_seeds": 0.03 * (2 / 3) ** 0.5, "n_seeds": 3}
    >>> rankeval_pd.needed_seeds(0.1, {"gain_se": 0.5 / 400**0.5, "n_items": 400} | seeds)
    5
    """
    test = _PlannedTest(power, alpha, alternative)
    _check_gain(gain, gain_se, None)
    plans = _plans(gain_se, n_items, None)
    items = _planned(plans, "n_items", n_items)
    if any(not plan.seeds for plan in plans.flat):
        raise ValueError(
            "the variance between seeds is missing. Pass a row from a table made with seeds=, with"
            " gain_se_seeds and n_seeds."
        )
    return _for_each_plan(plans, test.seeds, gain=gain, n_items=items)


class _PlannedTest:
    """Store the level and the power of a planned test."""

    def __init__(self, power: float | None, alpha: float, alternative: str) -> None:
        self._width = power is None  # half the width of the interval instead of a test
        if power is None:
            power = 0.5
        alpha, self.power = check_share("alpha", alpha), check_share("power", power)
        if power <= alpha:
            raise ValueError(
                f"power={power!r}, alpha={alpha!r}: power must exceed alpha. Pass a larger power,"
                " such as 0.8."
            )
        self._tails = int(SIDES[alternative])
        self._tail = alpha / SIDES[alternative]

    def power_of(self, plan: _Plan, n_items: float, n_seeds: float) -> Callable[[float], float]:
        """Return the power for each gain with these items and seeds."""
        tail, tails = self._tail, self._tails
        if not np.isnan(plan.differ) and not self._width:
            return lambda gain: stats.accuracy_power(
                gain, min(max(plan.differ, gain), 1.0), round(n_items), tail, tails
            )
        ratio = plan.n_items / n_items
        drawn = max(plan.n_drawn / ratio, _FEWEST)
        items = (plan.items + plan.pairs * ratio) * ratio * drawn / (drawn - 1.0)
        parts = stats.Parts(items, drawn - 1.0)
        if plan.seeds:
            freedom = (n_seeds - 1.0) * (plan.pooled or 1.0)
            seeds = plan.seeds * plan.n_seeds / n_seeds
            parts = stats.Parts(items, drawn - 1.0, seeds, freedom, plan.pooled > 0.0)
        edges = parts.edges(tail)
        if self._width:
            half = float(edges[0] @ edges[1])
            return lambda gain: float(gain >= half)
        return lambda gain: parts.power(gain, edges, tails)

    def detects(self, plan: _Plan, gain: float, items: float, seeds: float) -> bool:
        """Return whether the test has enough power for this gain."""
        return self.power_of(plan, items, seeds)(gain) >= self.power

    def gain(self, plan: _Plan, items: float, seeds: float) -> float:
        """Return the smallest detectable gain."""
        power_of = self.power_of(plan, items, seeds)
        low = 0.0
        high = float(np.sqrt(plan.items + plan.seeds))
        if not high:
            return 0.0
        most = 1.0
        if np.isnan(plan.differ):
            most = _MOST * high
        while power_of(high) < self.power:
            if high >= most:
                return np.nan  # too few items for significance
            low = high
            high = min(2.0 * high, most)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            if power_of(middle) >= self.power:
                high = middle
            else:
                low = middle
        return high

    def items(self, plan: _Plan, gain: float, seeds: float) -> int:
        """Return the smallest number of items for this gain."""
        enough = partial(self.detects, plan, gain, seeds=seeds)
        if plan.seeds and not enough(_MOST):
            can = self.gain(plan, _MOST, seeds)
            fewest = _smallest_sufficient(
                partial(self.detects, plan, gain, _MOST), 2.0, _MOST_SEEDS
            )
            raise ValueError(
                f"gain={gain:.4g}: with {seeds:g} seeds, no test set can detect gains below"
                f" {can:.3g}. Plan at least {fewest or _MOST_SEEDS:,.0f} seeds, n_seeds=..."
            )
        number = _smallest_sufficient(enough, 2.0 * plan.n_items / plan.n_drawn, _MOST)
        if number is None:
            raise ValueError(
                f"gain={gain!r}: detecting this gain requires more than {_MOST:.0e} items. Pass "
                "a larger gain, in the same units as the score."
            )
        return number

    def seeds(self, plan: _Plan, gain: float, items: float) -> int:
        """Return the smallest number of seeds for this gain."""
        enough = partial(self.detects, plan, gain, items)
        number = _smallest_sufficient(enough, 2.0, _MOST_SEEDS)
        if number is None:
            enough = partial(self.detects, plan, gain, seeds=_MOST_SEEDS)
            fewest = _smallest_sufficient(enough, 2.0 * plan.n_items / plan.n_drawn, _MOST)
            raise ValueError(
                f"gain={gain:.4g}: with {items:g} items, no number of seeds is sufficient."
                f" Plan more than {fewest or _MOST:,.0f} items, n_items=..."
            )
        return number


def _smallest_sufficient(enough: Callable[[float], bool], first: float, most: float) -> int | None:
    """Return the smallest sufficient integer, or None."""
    low = first - 1.0
    high = first
    while not enough(high):
        if high >= most:
            return None
        low = high
        high = min(2.0 * high, most)
    low, high = np.floor(low), np.ceil(high)
    while high - low > 1.0:
        middle = np.floor((low + high) / 2.0)
        if enough(middle):
            high = middle
        else:
            low = middle
    return int(high)


def _for_each_plan(plans: AnyArray, ask: AnyFunction, **more: Any) -> Any:
    _, *arguments = check_shapes(gain_se=np.zeros(plans.shape), **more)
    result = np.frompyfunc(ask, 1 + len(more), 1)(plans, *arguments)
    if not isinstance(result, np.ndarray):
        return result
    if result.size and all(isinstance(x, int) for x in result.flat):
        return result.astype(np.int64)
    return result.astype(float)


def _check_gain(gain: ArrayLike, gain_se: Any, metric: str | None) -> None:
    check_numbers("gain", gain, 0.0, above=True)
    attrs = getattr(gain_se, "attrs", {})
    metric = metric or attrs.get("metric", attrs.get("quantity"))
    if isinstance(gain_se, Mapping) and "area" in gain_se:
        metric = "area"
    most = np.inf
    if metric == "area" or metric in _RATES:
        most = 1.0
    elif metric in stats.METRICS:
        most = stats.METRICS[str(metric)].most
    if np.max(gain) >= most:
        raise ValueError(
            f"gain={shown(gain)}: {metric} ranges from 0 to {most:g}, so that one point is"
            f" {most / 100.0:g}. Pass a gain below {most:g}."
        )
    if not isinstance(gain_se, _ROWS):
        check_numbers("gain_se", gain_se, 0.0, above=True)


def _planned(plans: AnyArray, name: str, new: Any) -> Any:
    """Check and return the planned numbers of items or seeds, by default the current numbers."""
    current = np.reshape([getattr(plan, name) for plan in plans.flat], plans.shape)
    if new is None and name == "n_items" and any(plan.pairs for plan in plans.flat):
        raise TypeError("n_items is missing. Pass the number of candidates to plan for.")
    if new is None:
        return current
    if (current < _LEAST[name]).any():
        raise ValueError(
            f"{name}={shown(new)}, but gain_se has no variance between seeds. Omit {name}, or pass"
            " a row of a table made with seeds=, or a mapping with gain_se_seeds and n_seeds."
        )
    check_numbers(name, new, _LEAST[name], above=name == "n_items")
    return new


def _plans(gain_se: Any, n_items: Any, metric: str | None) -> AnyArray:
    """Return a plan for each gain, from a row, a table or numbers."""
    attrs = getattr(gain_se, "attrs", {})
    if not isinstance(gain_se, _ROWS):
        if n_items is None:
            raise TypeError(
                "n_items is missing. Pass the number of items from which gain_se was computed."
            )
        gain_se = {"gain_se": gain_se, "n_items": n_items}
    if isinstance(gain_se, Mapping) and {"area", "ap"} & {*gain_se}:
        return _plans_of_area(gain_se)
    if attrs.get("method") == "acceptance_precision":
        gain_se = _pilot_of_rate(gain_se, attrs, metric or "precision")
    if "se" in gain_se and "n_candidates" in attrs:  # areas
        gain_se = {"gain_se": gain_se["se"], "n_items": attrs["n_candidates"]}
    if "gain_se" not in gain_se:
        raise ValueError(
            "gain_se: the row or table has no column gain_se or, for areas, se. Pass a table made"
            " with details=True."
        )
    family = str(attrs.get("family", "1 pair"))
    if "adjust" in attrs and not family.startswith("1 "):
        warn(
            f"gain_se: the table is adjusted for {family}, but the plan is for a single test or"
            " interval at the level alpha. For several, pass alpha divided by their number."
        )
    for name, least in _LEAST.items():
        if name in gain_se:
            check_numbers(name, gain_se[name], least, above=name == "n_items")
    names = ("gain", "gain_se_items", *_LEAST)
    given = {name: np.asarray(gain_se[name], dtype=float) for name in names if name in gain_se}
    parts = dict(zip(given, check_shapes(**given), strict=True))
    parts["gain_se"] = parts.pop("gain_se_items", parts["gain_se"])
    drawn = parts.get("n_groups", parts["n_items"])
    # the standard error of this test assumes a gain of 0
    if attrs.get("method") == "paired_permutation":
        parts["gain_se"] = np.sqrt(parts["gain_se"] ** 2 - parts["gain"] ** 2 / drawn)
    pooled = 0.0
    if attrs.get("seed_variance") == "pooled":
        pooled = attrs.get("n_systems", 0.0)
    plain = not {"n_groups", "n_seeds"} & {*parts} and "strata" not in attrs
    accuracy = plain and (metric or attrs.get("metric")) == "accuracy"
    return _plan_of_parts(parts, accuracy=accuracy, pooled=pooled)


def _plans_of_area(assumed: Any) -> AnyArray:
    """Return a plan for each assumed AUC, for one candidate (Hanley and McNeil 1982)."""
    if "area" not in assumed or "prevalence" not in assumed:
        raise ValueError(
            "gain_se: only an AUC can be assumed, as {'area': 0.8, 'prevalence': 0.1}. For average"
            " precision, pass a row of a pilot: area('ap', details=True)."
        )
    for name in ("area", "prevalence"):
        for value in np.ravel(assumed[name]).tolist():
            check_share(name, value)
    area, share = check_shapes(area=assumed["area"], prevalence=assumed["prevalence"])
    alone = area * (1.0 - area)
    of_positive = area / (2.0 - area) - area**2  # of two positives, both above the same negative
    of_negative = 2.0 * area**2 / (1.0 + area) - area**2
    parts = {
        "gain_se": np.sqrt(of_positive / (1.0 - share) + of_negative / share),
        "n_items": np.ones(area.shape),
        "pairs": (alone - of_positive - of_negative) / (share * (1.0 - share)),
    }
    return _plan_of_parts(parts, accuracy=False, pooled=0.0)


def _pilot_of_rate(table: Any, attrs: Mapping[Any, Any], metric: str) -> Columns:
    """Return the standard error of a rate at a threshold, from the width of its interval."""
    check_choice("metric", metric, [*_RATES])
    ends = [f"{_RATES[metric]}_{end}" for end in ("low", "high")]
    if ends[1] not in table:
        return {}
    low, high = (np.asarray(table[name], dtype=float) for name in ends)
    pilot = {"gain_se": (high - low) / 2.0 / stats.z_of(attrs["level"])}
    pilot["n_items"] = np.full(low.shape, float(attrs["n_candidates"]))
    if "groups" in attrs:
        pilot["n_groups"] = np.full(low.shape, float(attrs["n_groups"]))
    return pilot


def _plan_of_parts(parts: Columns, *, accuracy: bool, pooled: float) -> AnyArray:
    """Return a plan for each element of the broadcast parts."""
    error, n = parts["gain_se"], parts["n_items"]
    differ = np.nan
    if accuracy:
        differ = np.minimum(n * error**2 + parts.get("gain", 0.0) ** 2, 1.0)
    # after an overflow, no test set is large enough, and an error is raised
    with np.errstate(over="ignore"):
        square = error**2
    drawn = parts.get("n_groups", n)
    n_seeds = parts.get("n_seeds", 1.0)
    of_seeds = parts.get("gain_se_seeds", 0.0) ** 2
    pairs = parts.get("pairs", 0.0)
    fields = np.broadcast_arrays(square, n, drawn, of_seeds, n_seeds, pooled, differ, pairs)
    result = np.empty(fields[0].shape, dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = _Plan(*(float(x[place]) for x in fields))
    return result


# ---- Compare published accuracies on the same items

_ROUNDING = 1e-9  # tolerance for a printed rate in addition to half a unit in the last digit
_MOST_COUNTS = 200  # largest number of counts to try for one printed rate
_MOST_DIGITS = 15


@with_options
def compare_accuracies(
    correct_a: float,
    correct_b: float,
    n_items: int,
    *,
    both: float | None = None,
    decimals: int | None = None,
    alternative: Alternative_of_roles = "two-sided",
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the possible p-values for two published accuracies on the same items.

    Parameters
    ----------
    correct_a, correct_b : int or float
        Number of correct items for each system. A float below 1 is interpreted as a printed rate.
    n_items : int
        Number of test items, the same for both systems.
    both : int or float, optional
        Number or proportion of items that both systems answer correctly. By default, the function
        considers every possible number.
    decimals : int, optional
        Number of decimal places in printed rates, such as 3 for 0.840 or 84.0%. By default, the
        number comes from the rate, such as 2 for 0.84.
    alternative
        "greater" means that a is better than b.
    level

    Returns
    -------
    DataFrame
        One row: ``gain`` of a over b, as a proportion of the items; ``ci_low``, ``ci_high``:
        smallest and largest limits of Tango's intervals; ``p_low``, ``p_high``: smallest and
        largest p-values of the unconditional exact test of :func:`paired_bootstrap`, which are
        equal if you pass counts and ``both``.

    See Also
    --------
    compare_for : Compare two published n-best lists.

    Notes
    -----
    The same gain can be significant if the systems disagree on twelve items, and not significant
    if all errors are on different items. The p-value increases with the number of items on which
    the systems disagree, so the smallest and largest possible numbers give bounds for the p-value.
    All counts that round to the printed rate are considered.

    References
    ----------
    * Suissa and Shuster (1991), Biometrics 47.
    * Tango (1998), Statistics in Medicine 17,
      https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C891::AID-SIM780%3E3.0.CO;2-B.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.compare_accuracies(356, 344, 500).round(4)
        gain  ci_low  ci_high   p_low  p_high
    0  0.024 -0.0439   0.0917  0.0003  0.5335
    >>> rankeval_pd.compare_accuracies(0.712, 0.688, 500, both=340).round(4)
        gain  ci_low  ci_high   p_low  p_high
    0  0.024  0.0072   0.0443  0.0075  0.0075
    """
    n = check_count("n_items", n_items)
    level = check_share("level", level)
    a = _possible_counts("correct_a", correct_a, n, decimals)
    b = _possible_counts("correct_b", correct_b, n, decimals)
    one, other = (x.ravel() for x in np.meshgrid(a, b, indexing="ij"))
    least = np.maximum(0, one + other - n)
    most = np.minimum(one, other)
    if both is not None:
        shared = _possible_counts("both", both, n, decimals)
        inside = (shared.max() >= least) & (shared.min() <= most)
        if not inside.any():
            raise ValueError(
                f"both={both!r}: if two systems answer {_count_range(a)} and {_count_range(b)} of"
                f" {n} items correctly, they have {least.min()} to {most.max()} correct items in"
                " common. Check the counts."
            )
        one, other, least, most = (x[inside] for x in (one, other, least, most))
        least = np.maximum(least, shared.min())
        most = np.minimum(most, shared.max())
    only_a, only_b = (np.concatenate([x - least, x - most]) for x in (one, other))
    up = stats.paired_tails(only_a, only_b, n)
    down = stats.paired_tails(only_b, only_a, n)
    p_values = stats.one_or_two_sided(up, down, alternative)
    tails = SIDES.get(alternative, 1.0)
    low, high = stats.paired_limits(only_a, only_b, n, 1.0 - 2.0 / tails * (1.0 - level))
    low = np.where(alternative == "less", -np.inf, low)
    high = np.where(alternative == "greater", np.inf, high)
    gain = (float((a[0] + a[-1]) / 2.0) - float((b[0] + b[-1]) / 2.0)) / n
    row = gain, low.min(), high.max(), p_values.min(), p_values.max()
    columns = pd.Index(["gain", "ci_low", "ci_high", "p_low", "p_high"])
    result = pd.DataFrame([row], columns=columns)
    result.attrs = {
        "metric": "accuracy",
        "test": "unconditional",
        "ci": "tango",
        "n_items": n,
        "alpha": 1.0 - level,
        "level": level,
        "alternative": alternative,
    }
    return result


def _possible_counts(argument: str, given: Any, n: int, decimals: int | None) -> IntArray:
    value = check_number(argument, given)
    whole = value >= 1.0 or isinstance(given, (int, np.integer))
    nearest = min(max(round(value), 0), n)
    if value < 0.0 or (whole and abs(nearest - value) > _ROUNDING * n):
        raise ValueError(
            f"{argument}={given!r}: pass a whole number from 0 to {n}, or a rate below 1 (84.2% is"
            " 0.842)."
        )
    if whole:
        return np.array([nearest])
    text = np.format_float_positional(value, trim="-")
    digits = min(len(text.partition(".")[2]), _MOST_DIGITS) or 1
    if decimals is not None:
        digits = check_count("decimals", decimals)
    half = 0.5 * 10.0**-digits + _ROUNDING / n
    low = int(np.ceil((value - half) * n))
    high = int(np.floor((value + half) * n))
    low = max(low, 0)
    high = min(high, n)
    if low > high:
        nearest = min(max(round(value * n), 0), n)
        raise ValueError(
            f"{argument}={given!r}: no count out of {n} items gives this rate; the nearest is"
            f" {nearest}, {nearest / n:.6g}. Check n_items, or pass decimals=, the number of"
            " printed decimal places."
        )
    if high - low < _MOST_COUNTS:
        return np.arange(low, high + 1)
    return np.unique(np.linspace(low, high, _MOST_COUNTS).round().astype(np.int64))


def _count_range(counts: IntArray) -> str:
    if counts.size == 1:
        return str(counts[0])
    return f"{counts[0]} to {counts[-1]}"
