"""Study gains by test size, thresholds for gains, and the calibration of p-values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from rankeval_pd.doors import (
    Data,
    Families,
    above_door,
    as_frame,
    below_door,
    check_items,
    check_sizes,
    group_numbers,
    grouped,
    item_order,
    item_roles,
    made_by,
    numbers_of,
    pairs_table,
    roles_of_systems,
    system_scores,
)
from rankeval_pd.errors import (
    check_count,
    check_draws,
    check_flag,
    check_known,
    check_memory,
    check_numbers,
    check_shapes,
    check_share,
    checked_call,
    progress_bar,
    shown,
    warn,
)
from rankeval_pd.options import Capabilities, with_roles
from rankeval_pd.roles import (
    AdjustOver,
    Alternative,
    CalibrationInterval,
    Event,
    FamilyAdjustment,
    GainInterval,
    ItemRoles,
    LawMethod,
    Roles,
    ThresholdInterval,
    as_names,
)
from rankeval_pd.stats import (
    DIRECTED_METRICS,
    METRICS,
    FloatArray,
    clopper_pearson,
    items,
)
from rankeval_pd.stats import gains as pair_studies
from rankeval_pd.systems.planning import SIDES
from rankeval_pd.systems.planning import Alternative as Alternative_of_planning
from rankeval_pd.systems.tests import paired_bootstrap
from rankeval_pd.tables import Keywords, Options, keys_apart

# ---- Relation between gain and confidence (Berg-Kirkpatrick et al. 2012, §§3, 4)

THRESHOLD_COLUMNS = (
    "relation", "threshold", "threshold_low", "threshold_high", "n_pairs",
    "threshold_all_pairs",
)  # fmt: skip


@Capabilities(
    pairs="Which gain is worth reporting?",
    layout="row",
    quantity="gain",
)
def gain_threshold(
    data: Data,
    *,
    window: tuple[float, float] = (0.04, 0.06),
    quantile: float = 0.95,
    alternative: Alternative_of_planning = "greater",
    ci: ThresholdInterval = "systems",
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Data:
    """Use borderline pairs to estimate the gain needed for significance.

    Parameters
    ----------
    data : DataFrame or Dataset
        Table of pairs from :func:`paired_bootstrap`, :func:`paired_permutation` or
        :func:`gain_by_size` with gain ≥ 0 in every row.
    window : (float, float)
        Range of borderline p-values.
    quantile : float
        Quantile of the borderline gains that defines the threshold.
    alternative
        "greater", as in Berg-Kirkpatrick et al. (2012), uses the one-sided p-value. The threshold
        is then valid only if the direction was fixed beforehand, because tables of all pairs list
        the better system first. "two-sided" uses ``p_two_sided``.
    ci
        Kind of interval for the threshold. "systems" resamples systems because pairs share systems.
        "order" uses distribution-free order statistics for independent pairs, and is never wider.
    level
    n_resamples, rng
        Number of draws and seed for ci="systems".

    Returns
    -------
    DataFrame or Dataset
        One row per relation and table group (Dataset: dimension row):

        * ``relation``: NaN if the table has no relations;
        * ``threshold``: quantile of the gains in the window (linear interpolation), NaN for an
          empty window; ``threshold_low``, ``threshold_high``: interval for the threshold, with an
          infinite upper limit if there are few pairs; ``n_pairs``: number of pairs in the window
          with a gain;
        * ``threshold_all_pairs``, if the table of pairs has ``gain_se`` (``details=True``): z times
          the same quantile of ``gain_se`` over all pairs. z is the normal quantile for the middle
          of the window (half of the middle for two-sided tests).

    Warns
    -----
    RankevalWarning
        If the window contains too few pairs for an upper limit: 72 are needed for a 95% interval
        for the 95th percentile. ``threshold`` tends to be too low. Report ``threshold_all_pairs``.

    Notes
    -----
    Berg-Kirkpatrick et al. (2012) had 47 pairs. A threshold is valid only for one test set, one
    metric and similar systems. For a similar test set of another size, multiply it by
    √(n / other n).

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    section 3.1.1.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.68, 50)
    >>> df = pd.DataFrame(rng.normal(size=(400, 50)) + skill).add_prefix("s")
    >>> pairs = df.rankeval.paired_bootstrap(details=True)
    >>> near = {"window": (0.03, 0.07), "quantile": 0.9}
    >>> pairs.rankeval.gain_threshold(**near).drop(columns="relation")
       threshold  threshold_low  threshold_high  n_pairs  threshold_all_pairs
    0   0.126124       0.117475        0.130339       85             0.120503

    Use the two-sided p-value unless the direction was fixed beforehand:

    >>> found = pairs.rankeval.gain_threshold(**near, alternative="two-sided")
    >>> found[["threshold", "threshold_all_pairs"]].round(3).values.tolist()
    [[0.152, 0.144]]
    """
    low, high = _p_values("window", window, 2)
    share = check_share("quantile", quantile)
    level = check_share("level", level)
    n_resamples = check_draws("n_resamples", n_resamples)
    seed = items.entropy(Roles.of({"rng": rng}).rng)
    table, groups = pairs_table(data)
    table = table.assign(gain=table["gain"].abs())
    if alternative == "two-sided":
        table["p_value"] = np.minimum(1.0, 2.0 * table["p_value"])
    columns: tuple[str, ...] = THRESHOLD_COLUMNS
    if "gain_se" not in table:
        columns = columns[:-1]
    parts: list[tuple[list[Any], Any, pd.DataFrame]] = []
    for keys, part in grouped(table, groups):
        if "relation" in part:
            names = part["relation"].drop_duplicates()
            parts += [(keys, name, part[part["relation"] == name]) for name in names]
        else:
            parts.append((keys, np.nan, part))
    from scipy import special

    rows: list[list[Any]] = []
    few: list[int] = []
    for keys, name, part in parts:
        inside = part[part["p_value"].between(low, high) & part["gain"].notna()]
        gains = inside["gain"].to_numpy(dtype=float)
        limits: tuple[float, float] = (np.nan, np.nan)
        if gains.size:
            limits = pair_studies.order_limits(gains, share, level)
        if gains.size and ci == "systems":
            weights = pair_studies.pair_weights(numbers_of(inside), n_resamples, seed)
            drawn = pair_studies.weighted_quantiles(gains, weights, share)
            limits = pair_studies.wider(pair_studies.percentile_limits(drawn, level), limits)
        if not limits[1] < np.inf:
            few.append(len(inside))
        listed = [name, _quantile(gains, share), *limits, len(inside)]
        if "gain_se" in part:
            errors = part["gain_se"].dropna().to_numpy(dtype=float)
            z = -float(special.ndtri((low + high) / 2.0 / SIDES[alternative]))
            listed.append(z * _quantile(errors, share))
        rows.append(keys + listed)
    if few:
        source = " from a table of pairs made with details=True" * ("gain_se" not in table)
        warn(
            f"the window contains {min(few)} pairs, too few for an upper limit, and threshold tends"
            f" to be too low. Report threshold_all_pairs{source}."
        )
    attrs = {
        **made_by(below_door(data)),
        "window": (low, high),
        "quantile": share,
        "alternative": alternative,
        "ci": ci,
        "level": level,
    }
    return above_door(as_frame(rows, groups, table, columns, attrs), data)


def _quantile(values: FloatArray, share: float) -> float:
    if not values.size:
        return np.nan
    return float(np.quantile(values, share))


# ---- Gains for several test set sizes


@Capabilities(
    items="Which gain is worth reporting?",
    clusters=True,
    dask=(
        "the method draws subsets of the items. Draw subsets one at a time with"
        " ddf.sample(frac=...)"
    ),
    short="size system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted",
    details="gain_se gain_se_items gain_se_seeds n_seeds p_one_sided p_two_sided p_stderr"
    " confidence exact leaning n_items n_resamples ci_low_alone"
    " ci_high_alone",
    layout="size pair",
    quantity="gain",
)
@with_roles
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    alternative: Alternative = "two-sided",
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs on subsets of several sizes.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items, taken from the first rows as in Berg-Kirkpatrick et al. (2012). These rows
        are a random sample only if all rows are in random order; ``df.sample(frac=1)`` shuffles
        them.
    n_resamples, event, method, ci, families, baseline, alternative, adjust, adjust_over, alpha
        As in :func:`paired_bootstrap`. Each size is a separate family.
    data, level, **roles
        As in :func:`paired_bootstrap`. With ``by``, each size is the number of items per domain, as
        in figure 11. Sizes larger than a domain produce no rows for that domain.

    Returns
    -------
    DataFrame or Dataset
        The column ``size`` (Dataset: first dimension size) and the columns of
        :func:`paired_bootstrap` for each size. Call ``.rankeval.gain_threshold()`` on the result to
        get a threshold for each size.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    section 4.1, figures 9 to 11.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.gain_by_size([100, 400])
       size system_a system_b  score_a  score_b  gain    ci_low   ci_high   p_value
    0   100        x        y   0.6700   0.5900  0.08 -0.050842  0.208436  0.249750
    1   400        x        y   0.7275   0.5775  0.15  0.086094  0.212924  0.000005
    """
    check_items(data)
    chosen = item_roles(roles)
    frame = below_door(data)
    by = as_names(chosen.by, frame.columns)
    number = group_numbers(frame, by)[1]
    place = pd.Series(number).groupby(number).cumcount()
    count = np.bincount(number)
    whole = check_sizes(sizes, int(count.max(initial=0)))
    systems = roles_of_systems(frame, roles)
    listed = []
    for size in whole:
        rows = (place < size).to_numpy() & (count[number] >= size)
        table = paired_bootstrap(
            frame.iloc[np.flatnonzero(rows)],
            n_resamples=n_resamples,
            event=event,
            method=method,
            ci=ci,
            families=families,
            baseline=baseline,
            alternative=alternative,
            adjust=adjust,
            adjust_over=adjust_over,
            alpha=alpha,
            level=level,
            **systems,
        )
        listed.append(keys_apart(table, ("size",), len(by)))
        listed[-1].insert(len(by), "size", size)
    joined = pd.concat(listed, ignore_index=True)
    joined.attrs = dict(listed[0].attrs)
    joined.attrs.pop("n_items", None)  # n_items differs between sizes
    joined.attrs["n_resamples"] = max(x.attrs.get("n_resamples", 0) for x in listed) or None
    if by:  # group the rows by domain
        keys = list(joined.columns[: len(by)])
        domain = joined.groupby(keys, observed=True).ngroup().to_numpy()
        joined = joined.iloc[np.argsort(domain, kind="stable")].reset_index(drop=True)
    return above_door(joined, data)


# ---- Check significance on other data (Berg-Kirkpatrick et al. 2012, section 4.2)

CALIBRATION_COLUMNS = (
    "p_low", "p_high", "n_pairs", "agreement", "ci_low", "ci_high", "expected_agreement",
)  # fmt: skip
PAPER_BINS = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)


@Capabilities(
    pairs="Does a gain replicate on other data?",
    layout="row",
    quantity="probability",
)
@with_roles
def calibration(
    data: Data,
    other: pd.DataFrame | xr.Dataset,
    *,
    bins: Sequence[float] = PAPER_BINS,
    ci: CalibrationInterval = "clopper-pearson",
    level: float = 0.95,
    n_resamples: int = 1000,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Return how often gains have the same sign on other data, by p-value.

    Parameters
    ----------
    data : DataFrame or Dataset
        Table of pairs from :func:`paired_bootstrap` with gain ≥ 0 in every row.
    other : DataFrame or Dataset
        Results for the same systems on other data, as an item-by-system table.
    bins : sequence of float
        Edges of the bins for the one-sided p-value, ``p_one_sided`` with ``details=True``. A bin
        includes its upper edge. By default, the bins match Berg-Kirkpatrick et al. (2012).
    ci
        Kind of interval for the agreement. "clopper-pearson" is exact for independent pairs.
        "systems" resamples systems because pairs share systems. This interval is never narrower.
    level
    n_resamples : int
        Number of draws for ci="systems".
    **roles
        ``metric`` and ``higher_is_better`` for the other items, by default from the table's
        ``attrs``. Pass both roles if the metric is a function, or if a merge dropped the ``attrs``.
        ``dim`` for the other items. ``rng`` for ci="systems".

    Returns
    -------
    DataFrame or Dataset
        One row per bin and table group (Dataset: dimension row): ``p_low``, ``p_high``,
        ``n_pairs``, ``agreement``: the proportion of pairs with a gain above 0 on the other data,
        ``ci_low``, ``ci_high``, ``expected_agreement``: mean of :func:`expected_agreement` over the
        pairs in the bin, for other items from the same distribution.

    Notes
    -----
    An agreement below 1 − p does not show that the distributions differ, because the other items
    are only a sample. Compare the agreement with ``expected_agreement``. Pairs whose gain is 0 or
    undefined are excluded.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    section 4.2, table 1.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.70, 20)
    >>> here, there = (pd.DataFrame(rng.random((400, 20)) < skill) for _ in range(2))
    >>> pairs = here.rankeval.paired_bootstrap()
    >>> pairs.rankeval.calibration(there, bins=[0.01, 0.05, 0.2])
       p_low  p_high  n_pairs  agreement    ci_low   ci_high  expected_agreement
    0   0.01    0.05       36   0.944444  0.813363  0.993200            0.913101
    1   0.05    0.20       45   0.711111  0.556855  0.836337            0.801599
    """
    level = check_share("level", level)
    edges = _p_values("bins", bins)
    seed = items.entropy(Roles.of(roles).rng)
    table, groups = pairs_table(data, "n_items")
    draws = check_draws("n_resamples", n_resamples, len(table) if ci == "systems" else 1)
    check_items(other, "other")
    scores, n_other = system_scores(below_door(other), item_roles(_as_in_pairs(data.attrs, roles)))
    check_known("other", pd.concat([table["system_a"], table["system_b"]]), scores)
    table = table[table["gain"].abs() > 0.0]
    systems = zip(table["system_a"], table["system_b"], strict=True)
    there = np.array([scores[a] - scores[b] for a, b in systems], dtype=float)
    there *= np.sign(table["gain"].to_numpy())
    expected = pair_studies.agreement(table["p_value"], table["n_items"], n_other)
    table = table.assign(agrees=there > 0.0, expected=expected)[~np.isnan(there)]
    attrs = {**made_by(below_door(data)), "ci": ci, "level": level, "alternative": "greater"}
    return above_door(_calibrated(table, groups, edges, draws, seed, attrs), data)


def _as_in_pairs(attrs: Mapping[Any, Any], roles: Keywords) -> Options:
    """Return roles with the metric and direction from the table of pairs."""
    check_flag("higher_is_better", roles.get("higher_is_better"), none=True)
    made = {}
    if attrs.get("metric") in METRICS:
        made["metric"] = attrs["metric"]
    if attrs.get("higher_is_better") in (0, 1):  # attrs store booleans as numbers
        made["higher_is_better"] = bool(attrs["higher_is_better"])
    chosen = {name: value for name, value in roles.items() if value is not None}
    metric = chosen.get("metric")
    if isinstance(metric, str) and metric in DIRECTED_METRICS:
        chosen.setdefault("higher_is_better", METRICS[metric].higher_is_better)
    chosen = made | chosen
    lacking = [x for x in ("metric", "higher_is_better") if x not in chosen]
    if lacking:
        raise ValueError(
            f"the table of pairs does not record {' and '.join(lacking)}, because the metric is a"
            " function or the table lost its attrs. Pass"
            f" {' and '.join(f'{name}=...' for name in lacking)} as in the tests of the pairs."
        )
    better = made.get("higher_is_better", chosen["higher_is_better"])
    if chosen["higher_is_better"] != better:
        words = {True: "higher", False: "lower"}
        raise ValueError(
            f"metric={chosen['metric']!r}, higher_is_better={chosen['higher_is_better']!r}, but in"
            f" the table of pairs {words[better]} scores are better. Pass"
            f" higher_is_better={better!r}, or a metric with the same direction."
        )
    return chosen


def _p_values(name: str, given: Sequence[float], count: int | None = None) -> list[float]:
    """Return increasing p-values, at least two or exactly ``count``."""
    wrong = f"{name}={shown(given)}: pass {count or 'two or more'} increasing p-values from 0 to 1."
    try:
        p = [float(value) for value in given]
    except (TypeError, ValueError):
        raise TypeError(wrong) from None
    inside = len(p) > 1 and p[0] >= 0.0 and p[-1] <= 1.0 and len(p) == (count or len(p))
    if not inside or not all(a < b for a, b in pairwise(p)):  # NaN is also rejected
        raise ValueError(wrong)
    return p


def _calibrated(
    table: pd.DataFrame,
    groups: list[Hashable],
    edges: list[float],
    n_resamples: int,
    seed: items.Seed,
    attrs: Options,
) -> pd.DataFrame:
    """Return the agreement of the pairs in each bin and group."""
    rows, level = [], attrs["level"]
    outside = (table["p_value"] <= edges[0]) | (table["p_value"] > edges[-1])
    attrs |= {"n_outside_bins": int(outside.sum()) or None}
    for keys, part in grouped(table, groups):
        for low, high in pairwise(edges):
            inside = part[(part["p_value"] > low) & (part["p_value"] <= high)]
            agrees = inside["agrees"].to_numpy(dtype=float)
            count = len(inside)
            if not count:
                rows.append([*keys, low, high, 0, np.nan, 0.0, 1.0, np.nan])
                continue
            below, above = clopper_pearson(np.array([agrees.sum()]), np.array([count]), level)
            limits = float(below[0]), float(above[0])
            if attrs["ci"] == "systems":
                weights = pair_studies.pair_weights(numbers_of(inside), n_resamples, seed)
                with np.errstate(invalid="ignore"):
                    drawn = weights @ agrees / weights.sum(axis=1)
                limits = pair_studies.wider(pair_studies.percentile_limits(drawn, level), limits)
            expected = float(inside["expected"].mean())
            rows.append([*keys, low, high, count, agrees.mean(), *limits, expected])
    return as_frame(rows, groups, table, CALIBRATION_COLUMNS, attrs)


_COLUMNS = 25  # number of columns in a table of pairs


@Capabilities(
    items="Which gain is worth reporting?",
    dask=(
        "the method draws test sets from all items. Compute the items first: ddf.compute().rankeval"
    ),
    layout="row",
    pooled=True,
    quantity="probability",
)
@with_roles
def population_calibration(
    data: Data,
    n_items: int,
    *,
    n_test_sets: int = 10,
    bins: Sequence[float] = (0.04, 0.06),
    n_resamples: int = 1000,
    ci: CalibrationInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Return how often gains on sampled items have the same sign as on all items.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems scored on test items. The items form the population.
    n_items : int
        Size of the test sets, which are drawn with replacement. Berg-Kirkpatrick et al. (2012) use
        1,600 items.
    n_test_sets : int
    n_resamples : int
        Number of resamples for each paired bootstrap. Exact distributions need no resamples.
    bins : sequence of float
        As in :func:`calibration`.
    ci, level
        As in :func:`calibration`.
    **roles
        As in :func:`paired_bootstrap`, except ``by`` and ``groups``.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`calibration`. ``n_pairs`` counts each pair once per test set.
        ``expected_agreement`` is the mean of 1 − p for the one-sided p.

    Notes
    -----
    If nothing is known about true gains, 1 − p_value is the probability that the sign is correct.
    For nearly equal systems, most significant gains are due to chance, and the agreement is far
    lower. For 16 systems with true gains of a quarter of a standard error, the agreement was 0.71
    at 1 − p_value = 0.95.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    section 4.2, report that 869 of 942 tests with p between 0.04 and 0.06 agreed.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame(rng.random((5000, 8)) < np.linspace(0.60, 0.64, 8))
    >>> df.rankeval.population_calibration(400, bins=[0.02, 0.10])
       p_low  p_high  n_pairs  agreement    ci_low   ci_high  expected_agreement
    0   0.02     0.1       53   0.924528  0.817892  0.979054            0.948731
    """
    chosen = item_roles(roles)
    for name in ("by", "groups"):
        if getattr(chosen, name) is not None:
            raise ValueError(
                f"{name}={shown(getattr(chosen, name))}: test sets are drawn item by item from one"
                f" population. Omit {name}, or select one domain."
            )
    edges = _p_values("bins", bins)
    level = check_share("level", level)
    frame = below_door(data)
    scores, total = system_scores(frame, chosen)
    size = check_count("n_items", n_items, 2)
    sets = check_count("n_test_sets", n_test_sets)
    check_memory(
        (2 + len(scores)) * size,  # the drawn items, the sorted items and their scores
        f"n_items={size} requires {size} items in memory for each test set",
        "Pass a smaller n_items=...",
    )
    check_memory(
        _COLUMNS * sets * len(scores) * (len(scores) - 1) // 2,
        f"n_test_sets={sets} requires a table of all pairs for each test set",
        "Pass a smaller n_test_sets=...",
    )
    seed = items.entropy(chosen.rng)
    order = item_order(frame.index)
    systems = roles_of_systems(frame, roles)
    tables = []
    with progress_bar(total=sets, what="drawing test sets", unit="sets") as advance:
        for number in range(sets):
            child = np.random.SeedSequence(seed, spawn_key=(number, 3))
            drawn = np.sort(np.random.default_rng(child).integers(0, total, size))
            sample = frame.set_flags(allows_duplicate_labels=True).iloc[order[drawn]]
            numbers: pd.Index = pd.RangeIndex(size)  # items can occur repeatedly
            stratum: Any = chosen.strata
            if stratum is not None and stratum in sample.index.names:
                strata = sample.index.get_level_values(stratum)
                numbers = pd.MultiIndex.from_arrays([numbers, strata])
            sample = sample.set_axis(numbers)
            result = paired_bootstrap(sample, n_resamples=n_resamples, **systems)
            pairs, _ = pairs_table(result, "n_items")
            tables.append(pairs[pairs["gain"] > 0.0])
            advance(1)
    table = pd.concat(tables, ignore_index=True)
    pairs_of = zip(table["system_a"], table["system_b"], strict=True)
    agrees = np.array([scores[a] > scores[b] for a, b in pairs_of], dtype=bool)
    expected = pair_studies.agreement(table["p_value"], table["n_items"], np.inf)
    table = table.assign(agrees=agrees, expected=expected)
    attrs = {**made_by(result), "ci": ci, "level": level, "alternative": "greater"}
    attrs |= {"size": size, "n_test_sets": sets}
    return above_door(_calibrated(table, [], edges, 1000, seed, attrs), data)


# ---- The expected agreement


@checked_call
def expected_agreement(
    p: ArrayLike,
    n_items: ArrayLike,
    n_items_other: ArrayLike,
) -> Any:
    """Return how often a gain with this p-value has the same sign on similar items.

    Parameters
    ----------
    p : float or array
        One-sided p-value of the gain.
    n_items : float or array
        Size of the test set from which ``p`` was computed.
    n_items_other : float or array
        Size of the other test set. inf means the population.

    Returns
    -------
    float or array
        Φ(z_p / √(1 + n/n')), where z_p is the normal quantile of 1 − p.

    Notes
    -----
    Gains are assumed to be normally distributed around the population gain, about which nothing
    else is known. The agreement with the population is then 1 − p, which is overconfident for
    nearly equal systems. The formula assumes that both test sets come from the same distribution,
    so a lower observed agreement indicates a shift or nearly equal systems. The formula is also
    valid for tables that contain only positive gains.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein (2012), EMNLP-CoNLL, https://aclanthology.org/D12-1091,
    table 1.

    Examples
    --------
    The test set is section 23 (2,416 sentences) of the Wall Street Journal with p = 0.0283, and the
    other test set is section 22 (1,700 sentences):

    >>> import rankeval_pd
    >>> round(rankeval_pd.expected_agreement(0.0283, 2416, 1700), 3)
    0.89
    """
    check_numbers("p", p, 0.0, 1.0, missing=True)
    check_numbers("n_items", n_items, 0.0, above=True, missing=True)
    check_numbers("n_items_other", n_items_other, 0.0, above=True, infinite=True, missing=True)
    result = pair_studies.agreement(
        *check_shapes(p=p, n_items=n_items, n_items_other=n_items_other)
    )
    if result.ndim == 0:
        return float(result)
    return result
