"""Which gain is worth reporting? Gain against confidence (Berg-Kirkpatrick et al. 2012, §§3, 4)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from rankeval_pd.candidates import Data
from rankeval_pd.errors import check_choice, check_share, listed, unknown_name
from rankeval_pd.items import check_items, item_roles, label_order, role_column, system_scores
from rankeval_pd.resampling import Families, paired_bootstrap
from rankeval_pd.roles import RoleKeywords, Roles, as_names
from rankeval_pd.stats import resamples, studies
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals import clopper_pearson
from rankeval_pd.stats.metrics import METRICS
from rankeval_pd.tables import as_rows, check_names

THRESHOLD_COLUMNS = (
    "relation", "threshold", "threshold_low", "threshold_high", "n_pairs", "threshold_all_pairs",
)  # fmt: skip
CALIBRATION_COLUMNS = (
    "p_low", "p_high", "n_pairs", "agreement", "ci_low", "ci_high", "expected_agreement",
)  # fmt: skip
PAPER_BINS = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
_MOST = 1e15  # items, beyond which a number of items is none
_NEEDED = ("system_a", "system_b", "gain", "gain_se", "p_value", "n_items")


# ---------------------------------------------------------------------------------- the threshold


def gain_threshold(
    data: Data,
    *,
    window: tuple[float, float] = (0.04, 0.06),
    quantile: float = 0.95,
    relation: Hashable = None,
    n_items: int | None = None,
    ci: str = "order",
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Data:
    """Return the gain that is probably significant, from the pairs that just are.

    Parameters
    ----------
    data : DataFrame or Dataset
        The table of pairs, of :func:`paired_bootstrap`, :func:`paired_permutation` or
        :func:`gain_by_size`, pairs ordered so that gain ≥ 0.
    window : (float, float)
        Pairs whose p_value lies between these two are borderline significant.
    quantile : float
        The share of their gains that is below the threshold.
    relation : label, optional
        Only the pairs of this relation. None: a row per relation, of all pairs if there is no
        column ``relation``.
    n_items : int, optional
        For a test set of so many items of the same kind: thresholds times the square root of the
        ratio of the sizes.
    ci : {"order", "systems"}
        Interval of the threshold: two order statistics, whatever the distribution, pairs taken as
        independent; or percentiles over systems drawn with replacement, because pairs share
        systems.
    level : float
        Confidence level of the interval.
    n_resamples, rng
        For ci="systems".

    Returns
    -------
    DataFrame or Dataset
        One row per relation (and group of the table; Dataset: dimension row):

        * ``relation``: NaN if the table has none;
        * ``threshold``: the quantile of the gains in the window (linear between neighbours), NaN if
          it is empty; ``threshold_low``, ``threshold_high``: its interval, inf where so few pairs
          set no upper limit; ``n_pairs``: pairs in the window;
        * ``threshold_all_pairs``: z times the same quantile of ``gain_se``, z being the normal
          quantile of the middle of the window: from all pairs, no window.

    Notes
    -----
    A 95 % interval of the 95th percentile has an upper limit from 72 pairs on; with the paper's 47
    pairs it has none. A threshold is of one test set, one metric, and systems like these.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 3.1.1.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.66, 20)
    >>> df = pd.DataFrame(rng.random((400, 20)) < skill).add_prefix("s")
    >>> pairs = df.rankeval.paired_bootstrap()
    >>> pairs.rankeval.gain_threshold().drop(columns="relation").round(3)
       threshold  threshold_low  threshold_high  n_pairs  threshold_all_pairs
    0      0.062           0.06             inf       14                0.058
    """
    low, high = _window(window)
    share = check_share("quantile", quantile)
    check_choice("ci", ci, ("order", "systems"))
    level = check_share("level", level)
    seed = resamples.entropy(Roles.of({"rng": rng}).rng)
    table, groups = _pairs_table(data)
    if relation is not None:
        known = table["relation"].unique().tolist() if "relation" in table else []
        if relation not in known:
            raise unknown_name("relation", relation, known)
        table = table[table["relation"] == relation]
    if n_items is not None:
        _check_numbers("n_items", n_items, 0.0, above=True)
    scale = np.ones(len(table)) if n_items is None else np.sqrt(table["n_items"] / n_items)
    table = table.assign(gain=table["gain"] * scale, gain_se=table["gain_se"] * scale)
    rows: list[list[Any]] = []
    for keys, name, part in _related(table, groups):
        inside = part[part["p_value"].between(low, high)]
        gains = inside["gain"].to_numpy(dtype=float)
        limits: tuple[float, float] = (np.nan, np.nan)
        if gains.size and ci == "order":
            limits = studies.order_limits(gains, share, level)
        elif gains.size:
            weights = studies.pair_weights(_numbers(inside), n_resamples, seed)
            drawn = studies.weighted_quantiles(gains, weights, share)
            limits = studies.percentile_limits(drawn, level)
        errors = part["gain_se"].dropna().to_numpy(dtype=float)
        z = studies.normal_quantile((low + high) / 2.0)
        found = [name, _quantile(gains, share), *limits, len(inside), z * _quantile(errors, share)]
        rows.append(keys + found)
    attrs = {"window": (low, high), "quantile": share, "ci": ci, "level": level}
    return _left(data, rows, groups, table, THRESHOLD_COLUMNS, attrs)


def _quantile(values: FloatArray, share: float) -> float:
    return float(np.quantile(values, share)) if values.size else np.nan


def _window(window: Any) -> tuple[float, float]:
    low, high = (check_share("window", value) for value in window)
    if not low < high:
        raise ValueError(f"window={window!r}: give two p-values, the smaller first.")
    return low, high


def _pairs_table(data: Any) -> tuple[pd.DataFrame, list[Hashable]]:
    """Return the table of pairs as a frame, and the columns that name its groups."""
    check_items(data)
    if isinstance(data, xr.Dataset):
        missing = [name for name in _NEEDED if name not in data.variables]
        if not missing:
            groups = [d for d in data["gain"].dims if d != "pair"]
            table = data.to_dataframe().reset_index().drop(columns="pair")
            return table, groups
    else:
        missing = [name for name in _NEEDED if name not in data.columns]
        if not missing:
            return data, list(data.columns[: list(data.columns).index("system_a")])
    raise ValueError(
        f"data has no columns {listed(missing)}: this is asked of the table of pairs that"
        " paired_bootstrap returns, as by df.rankeval.paired_bootstrap().rankeval."
    )


def _related(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], Any, pd.DataFrame]]:
    """Yield the keys of the group, the relation, and the pairs of each."""
    for keys, part in _grouped(table, groups):
        if "relation" not in part:
            yield keys, np.nan, part
            continue
        for name in part["relation"].drop_duplicates():
            yield keys, name, part[part["relation"] == name]


def _grouped(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], pd.DataFrame]]:
    if not groups:
        yield [], table
        return
    for keys, part in table.groupby(groups, sort=False, observed=True):
        yield list(keys), part


def _numbers(pairs: pd.DataFrame) -> IntArray:
    """Return the pairs as numbers of systems."""
    names = pd.concat([pairs["system_a"], pairs["system_b"]])
    number, _ = pd.factorize(names, sort=False)
    return np.asarray(number.reshape(2, -1).T, dtype=np.int64)


def _left(
    data: Data,
    rows: list[list[Any]],
    groups: list[Hashable],
    table: pd.DataFrame,
    columns: Sequence[str],
    attrs: dict[str, Any],
) -> Data:
    """Return rows as a frame with the keys' dtypes, or as a Dataset along ``row``."""
    check_names("by=", groups, columns)
    found = pd.DataFrame(rows, columns=pd.Index([*groups, *columns], tupleize_cols=False))
    dtypes: dict[Any, Any] = {name: table[name].dtype for name in groups}
    if "relation" in columns:
        dtypes["relation"] = table["relation"].dtype if "relation" in table else float
    for name in columns:
        if name != "relation":
            dtypes[name] = np.int64 if name == "n_pairs" else float
    found = found.astype(dtypes)
    if isinstance(data, xr.Dataset):
        return as_rows(found, attrs=attrs)
    found.attrs.update(attrs)
    return found


# -------------------------------------------------------------------------------------- calibration


def calibration(
    data: Data,
    other: pd.DataFrame | xr.Dataset,
    *,
    bins: Sequence[float] = PAPER_BINS,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    n_resamples: int = 1000,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return how often a gain keeps its sign on other data, by the p-value that it had.

    Parameters
    ----------
    data : DataFrame or Dataset
        The table of pairs, of :func:`paired_bootstrap`, ordered so that gain ≥ 0.
    other : DataFrame or Dataset
        The items of the same systems on other data.
    bins : sequence of float
        Edges of the bins of p_value; a bin holds its upper edge. The paper's unless given.
    ci : {"clopper-pearson", "systems"}
        Interval of the agreement: exact binomial, pairs taken as independent; or percentiles over
        systems drawn with replacement, because pairs share systems.
    level : float
        Confidence level of the interval.
    n_resamples : int
        For ci="systems".
    **roles
        ``metric``, ``higher_is_better``: of the other items; the table's own (its ``attrs``) unless
        given, and a metric that is a function has to be given again. ``dim``: of the other items.
        ``rng``: for ci="systems".

    Returns
    -------
    DataFrame or Dataset
        One row per bin (and group of the table; Dataset: dimension row): ``p_low``, ``p_high``,
        ``n_pairs``, ``agreement``: the share of pairs with a gain above 0 on the other data,
        ``ci_low``, ``ci_high``, ``expected_agreement``: what :func:`expected_agreement` gives if
        the other items are of the same distribution, the mean over the pairs of the bin.

    Raises
    ------
    ValueError
        If the better scores are the higher ones in the table, and the lower ones in what is asked.

    Notes
    -----
    An agreement below 1 − p is no sign of another distribution: the other items are a sample too.
    Compare with ``expected_agreement``. Pairs without a gain (0, or undefined) are left out.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 4.2, table 1.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.70, 20)
    >>> here, there = (pd.DataFrame(rng.random((400, 20)) < skill) for _ in range(2))
    >>> pairs = here.rankeval.paired_bootstrap()
    >>> found = pairs.rankeval.calibration(there, bins=[0.01, 0.05, 0.2])
    >>> found[["p_low", "p_high", "n_pairs", "agreement", "expected_agreement"]].round(2)
       p_low  p_high  n_pairs  agreement  expected_agreement
    0   0.01    0.05       36       0.94                0.91
    1   0.05    0.20       57       0.74                0.79
    """
    check_choice("ci", ci, ("clopper-pearson", "systems"))
    level = check_share("level", level)
    edges = _bins(bins)
    seed = resamples.entropy(Roles.of(roles).rng)
    table, groups = _pairs_table(data)
    scores, n_other = system_scores(other, item_roles(_as_in_pairs(data.attrs, roles)))
    for name in pd.concat([table["system_a"], table["system_b"]]).drop_duplicates():
        if name not in scores:
            raise unknown_name("other", name, scores)
    table = table[table["gain"] > 0.0]
    there = np.array([scores[a] - scores[b] for a, b in _named(table)], dtype=float)
    expected = studies.agreement(table["p_value"], table["n_items"], n_other)
    table = table.assign(agrees=there > 0.0, expected=expected)[~np.isnan(there)]
    rows = [
        keys + row
        for keys, part in _grouped(table, groups)
        for row in _calibrated(part, edges, ci, level, n_resamples, seed)
    ]
    return _left(data, rows, groups, table, CALIBRATION_COLUMNS, {"ci": ci, "level": level})


def _as_in_pairs(attrs: Mapping[Any, Any], roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles with the metric and the direction of the table of pairs, if it says them."""
    better, metric = attrs.get("higher_is_better"), attrs.get("metric")
    chosen = dict(roles)
    if better is None:
        return chosen
    if chosen.get("metric") is None:
        if metric not in METRICS:
            raise ValueError(
                f"the table of pairs is of a metric that is a {metric}: give it for the other items"
                " too, metric=..."
            )
        chosen["metric"] = metric
    asked = chosen["metric"]
    if chosen.get("higher_is_better") is None:
        other = isinstance(asked, str) and asked in METRICS and asked != metric
        chosen["higher_is_better"] = METRICS[asked].higher_is_better if other else better
    if bool(chosen["higher_is_better"]) != better:
        words = {True: "higher", False: "lower"}
        raise ValueError(
            f"metric={asked!r}, higher_is_better={chosen['higher_is_better']!r}: in the table of"
            f" pairs ({metric!r}) {words[better]} is better, and every sign would be turned. Give"
            f" higher_is_better={better!r}, or a metric of that direction."
        )
    return chosen


def _named(pairs: pd.DataFrame) -> Iterator[tuple[Any, Any]]:
    return zip(pairs["system_a"], pairs["system_b"], strict=True)


def _bins(bins: Sequence[float]) -> list[float]:
    edges = [float(edge) for edge in bins]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise ValueError(f"bins={bins!r}: give two p-values or more, rising: the bins' edges.")
    if edges[0] < 0.0 or edges[-1] > 1.0:
        raise ValueError(f"bins={bins!r}: p-values lie between 0 and 1.")
    return edges


def _calibrated(
    part: pd.DataFrame,
    edges: list[float],
    ci: str,
    level: float,
    n_resamples: int,
    seed: resamples.Seed,
) -> Iterator[list[Any]]:
    """Yield the row of each bin."""
    for low, high in pairwise(edges):
        inside = part[(part["p_value"] > low) & (part["p_value"] <= high)]
        agrees = inside["agrees"].to_numpy(dtype=float)
        count = len(inside)
        if not count:
            yield [low, high, 0, np.nan, 0.0, 1.0, np.nan]
            continue
        if ci == "systems":
            weights = studies.pair_weights(_numbers(inside), n_resamples, seed)
            with np.errstate(invalid="ignore"):
                drawn = weights @ agrees / weights.sum(axis=1)
            limits = studies.percentile_limits(drawn, level)
        else:
            tp, n = np.array([agrees.sum()]), np.array([count])
            below, above = clopper_pearson(tp, n, level)
            limits = float(below[0]), float(above[0])
        yield [low, high, count, agrees.mean(), *limits, float(inside["expected"].mean())]


def population_calibration(
    data: Data,
    n_items: int,
    *,
    n_test_sets: int = 10,
    bins: Sequence[float] = (0.04, 0.06),
    n_resamples: int = 1000,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return how often a test on a sample of the items finds the sign that all of them show.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items, all of which are taken as the population.
    n_items : int
        Size of the test sets, drawn with replacement; the paper's is 1,600.
    n_test_sets : int
    bins : sequence of float
        Edges of the bins of p_value; a bin holds its upper edge.
    n_resamples : int
        Of each paired bootstrap; where the exact law exists it is taken.
    ci, level
        As in :func:`calibration`.
    **roles
        As in :func:`paired_bootstrap`; ``by`` and ``groups`` are not possible here.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`calibration`; ``n_pairs`` counts each pair once per test set, and
        ``expected_agreement`` is the mean of 1 − p_value.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 4.2: 869 of 942 tests with p between .04 and .06 agreed.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame(rng.random((5000, 8)) < np.linspace(0.60, 0.64, 8))
    >>> found = df.rankeval.population_calibration(400, bins=[0.02, 0.10])
    >>> found[["n_pairs", "agreement", "expected_agreement"]].round(2)
       n_pairs  agreement  expected_agreement
    0       57       0.93                0.95
    """
    chosen = item_roles(roles)
    for name in ("by", "groups"):
        if getattr(chosen, name) is not None:
            raise ValueError(
                f"{name}={getattr(chosen, name)!r}: test sets are drawn item by item from one"
                " population. Leave it out, or choose one domain."
            )
    check_choice("ci", ci, ("clopper-pearson", "systems"))
    edges, level = _bins(bins), check_share("level", level)
    scores, total = system_scores(data, chosen)
    size, sets = _sizes([n_items], None)[0], _sizes([n_test_sets], None, least=1)[0]
    seed = resamples.entropy(chosen.rng)
    order = label_order(_labels(data, chosen))
    tables = []
    for number in range(sets):
        child = np.random.SeedSequence(seed, spawn_key=(number, 3))
        rows = order[np.random.default_rng(child).integers(0, total, size)]
        sample = _take(data, np.sort(rows), chosen)
        pairs, _ = _pairs_table(paired_bootstrap(sample, n_resamples=n_resamples, **roles))
        tables.append(pairs[pairs["gain"] > 0.0])
    table = pd.concat(tables, ignore_index=True)
    agrees = np.array([scores[a] > scores[b] for a, b in _named(table)], dtype=bool)
    table = table.assign(agrees=agrees, expected=1.0 - table["p_value"])
    rows_found = list(_calibrated(table, edges, ci, level, 1000, seed))
    return _left(data, rows_found, [], table, CALIBRATION_COLUMNS, {"ci": ci, "level": level})


def _labels(data: Any, roles: Roles) -> pd.Index:
    if isinstance(data, pd.DataFrame):
        return data.index
    found = data.indexes.get(roles.dim)
    return pd.RangeIndex(data.sizes[roles.dim]) if found is None else found


def _take(data: Data, rows: IntArray, roles: Roles) -> Data:
    """Return these items, numbered anew: some may stand there several times."""
    if isinstance(data, pd.DataFrame):
        return data.iloc[rows].reset_index(drop=True)
    return data.isel({roles.dim: rows}).drop_vars([roles.dim], errors="ignore")


# ------------------------------------------------------------------------------------ test-set size


def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: str = "prefix",
    n_resamples: int = 10_000,
    event: str = "recentred",
    method: str = "auto",
    ci: str = "bca",
    families: Families | None = None,
    adjust: str | None = None,
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Test all pairs on test sets of several sizes, parts of the one at hand.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items.
    sizes : sequence of int
        Numbers of items.
    draw : {"prefix", "random"}
        "prefix": the first items, in the order of the rows, as in the paper. "random": a random
        subset, the smaller contained in the larger; prefixes are random samples only if the rows
        are in random order.
    n_resamples, event, method, ci, families, adjust, alpha, level, progress, **roles
        As in :func:`paired_bootstrap`. With ``by``, so many items of each domain: figure 11 is one
        size with ``by``. A domain with fewer items has no rows for that size.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap` for each size, with the size in the column ``size``
        before them (Dataset: dimension size, which comes first).
        ``.rankeval.gain_threshold()`` gives a threshold for each size.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 4.1, figures 9 to 11.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.gain_by_size([100, 400])[["size", "gain", "p_value", "n_items"]].round(4)
       size  gain  p_value  n_items
    0   100  0.08   0.1272      100
    1   400  0.15   0.0000      400
    """
    check_choice("draw", draw, ("prefix", "random"))
    check_items(data)
    chosen = item_roles(roles)
    by_size = isinstance(data, xr.Dataset)
    by = as_names(chosen.by, getattr(data, "columns", ()))
    check_names("by=", by, ("size",))
    places = _domains(data, by, chosen, draw)
    whole = _sizes(sizes, max((len(rows) for rows in places), default=0))
    found = []
    for size in whole:
        rows = np.sort(np.concatenate([p[:size] for p in places if len(p) >= size]))
        part = data.iloc[rows] if isinstance(data, pd.DataFrame) else data.isel({chosen.dim: rows})
        found.append(
            paired_bootstrap(
                part, n_resamples=n_resamples, event=event, method=method, ci=ci,
                families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
                **roles,
            )
        )  # fmt: skip
    joined: Data = _along_size(found, whole) if by_size else _one_by_one(found, whole, by)
    return joined


def _one_by_one(found: list[Any], sizes: list[int], by: list[Hashable]) -> Any:
    """Return the tables of all sizes in one, the rows of a domain together."""
    for size, table in zip(sizes, found, strict=True):
        table.insert(len(by), "size", size)
    joined = pd.concat(found, ignore_index=True)
    joined.attrs = dict(found[0].attrs)
    if by:
        number = joined.groupby(by, sort=True, observed=True).ngroup().to_numpy()
        joined = joined.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
    return joined


def _along_size(found: list[Any], sizes: list[int]) -> Any:
    plain = [part.reset_coords(["system_a", "system_b"]) for part in found]
    joined = xr.concat(plain, pd.Index(sizes, name="size"), data_vars="all", coords="minimal",
                       compat="override", join="override", combine_attrs="override")  # fmt: skip
    order = [name for name in joined["gain"].dims if name != "size"]
    return joined.transpose("size", *order).set_coords(["system_a", "system_b"])


def _domains(data: Any, by: list[Hashable], roles: Roles, draw: str) -> list[IntArray]:
    """Return the rows of each domain in the order in which they are taken."""
    labels = _labels(data, roles)
    number = np.zeros(len(labels), dtype=np.int64)
    if by:
        keys = pd.concat(
            [role_column(data, name, "by").reset_index(drop=True) for name in by], axis=1
        )
        groups = keys.groupby(list(keys.columns), sort=True, observed=True)
        number = np.asarray(groups.ngroup(), dtype=np.int64)
    order = np.arange(len(labels))
    if draw == "random":
        order = label_order(labels)
        child = np.random.SeedSequence(resamples.entropy(roles.rng), spawn_key=(0, 2))
        order = order[np.random.default_rng(child).permutation(len(labels))]
    return [order[number[order] == group] for group in range(int(number.max(initial=0)) + 1)]


def _sizes(sizes: Any, largest: int | None, *, least: int = 2) -> list[int]:
    """Return whole numbers, each once, or say what is allowed."""
    values = list(sizes) if np.iterable(sizes) and not isinstance(sizes, str) else [sizes]
    if not values:
        raise ValueError("sizes is empty: give one number of items or more.")
    upper = "" if largest is None else f" to {largest}, the number of items there are"
    for value in values:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"sizes: {value!r} is no whole number. Give numbers of items.")
        if value < least or (largest is not None and value > largest):
            raise ValueError(f"sizes: {value!r}: give whole numbers from {least}{upper}.")
    return list(dict.fromkeys(int(value) for value in values))


# ------------------------------------------------------------------------------ planning a test set


def expected_agreement(p: ArrayLike, n_items: ArrayLike, n_items_other: ArrayLike) -> Any:
    """Return how often a gain with this p-value keeps its sign on other items of the same kind.

    Parameters
    ----------
    p : float or array
        One-sided p-value of the gain.
    n_items : float or array
        Size of the test set on which it was found.
    n_items_other : float or array
        Size of the other test set; inf is the population.

    Returns
    -------
    float or array
        Φ(z_p / √(1 + n/n')), z_p being the normal quantile of 1 − p.

    Notes
    -----
    The gain on either test set is normal around the population's, of which nothing else is known
    (a flat prior). Against the population it is 1 − p. It assumes that the other items come from
    the same distribution: what is observed below it is the shift of the distribution. Taking only
    gains that are positive, as tables of pairs do, changes nothing in this formula.

    References
    ----------
    For the reading of table 1 of Berg-Kirkpatrick et al. (2012).

    Examples
    --------
    Sections 23 (2,416 sentences) and 22 (1,700) of the Wall Street Journal, p of about .0283:

    >>> import rankeval_pd
    >>> round(rankeval_pd.expected_agreement(0.0283, 2416, 1700), 3)
    0.89
    """
    _check_numbers("p", p, 0.0, 1.0)
    _check_numbers("n_items", n_items, 0.0, above=True)
    _check_numbers("n_items_other", n_items_other, 0.0, above=True, infinite=True)
    found = studies.agreement(p, n_items, n_items_other)
    return float(found) if found.ndim == 0 else found


def detectable_gain(
    gain_se: ArrayLike,
    n_items: ArrayLike,
    *,
    power: float = 0.8,
    n_items_new: ArrayLike | None = None,
    alpha: float = 0.05,
) -> Any:
    """Return the least gain that a one-sided test finds with this power.

    Parameters
    ----------
    gain_se : float or array
        Standard error of a gain, as in the table of pairs.
    n_items : float or array
        Size of the test set that it is of.
    power : float
        Probability of finding the gain.
    n_items_new : float or array, optional
        Size of the test set that is planned; that at hand unless given.
    alpha : float
        Level of the one-sided test.

    Returns
    -------
    float or array
        (z_α + z_power) gain_se √(n_items / n_items_new), in the unit of gain_se.

    Examples
    --------
    >>> import rankeval_pd
    >>> round(rankeval_pd.detectable_gain(0.27, 2000, n_items_new=4000), 3)
    0.475
    """
    factor = studies.power_factor(check_share("alpha", alpha), check_share("power", power))
    _check_numbers("gain_se", gain_se, 0.0)
    _check_numbers("n_items", n_items, 0.0, above=True)
    if n_items_new is not None:
        _check_numbers("n_items_new", n_items_new, 0.0, above=True)
    new = n_items if n_items_new is None else n_items_new
    found = factor * np.asarray(gain_se) * np.sqrt(np.true_divide(n_items, new))
    return float(found) if found.ndim == 0 else found


def needed_items(
    gain: ArrayLike,
    gain_se: ArrayLike,
    n_items: ArrayLike,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Any:
    """Return how many items a test set needs for a gain to be found with this power.

    Parameters
    ----------
    gain : float or array
        The gain to be found, above 0.
    gain_se, n_items : float or array
        Standard error of a gain on a test set of n_items items.
    power, alpha : float
        As in :func:`detectable_gain`.

    Returns
    -------
    int or array of int

    Raises
    ------
    ValueError
        If a gain is not above 0, or so small that no test set would do.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.needed_items(0.5, 0.27, 2000)
    3606
    """
    _check_numbers("gain", gain, 0.0, above=True)
    ratio = detectable_gain(gain_se, n_items, power=power, alpha=alpha) / np.asarray(gain)
    needed = np.ceil(np.asarray(n_items) * ratio**2)
    if not np.all(needed < _MOST):
        raise ValueError(
            f"gain={gain!r}, gain_se={gain_se!r}: no test set of up to {_MOST:.0e} items is"
            " enough. Give a larger gain; both are in the unit of the score."
        )
    found = np.asarray(needed, dtype=np.int64)
    return int(found) if found.ndim == 0 else found


def _check_numbers(
    argument: str,
    given: object,
    least: float,
    most: float = np.inf,
    *,
    above: bool = False,
    infinite: bool = False,
) -> None:
    """Raise a ValueError unless all numbers lie between these two; NaN is let through.

    ``above``: the least itself is not allowed.
    """
    allowed = f"numbers above {least:g}" if above else f"numbers of {least:g} or more"
    if most < np.inf:
        allowed = f"numbers of {least:g} to {most:g}"
    elif infinite:
        allowed += ", or inf"
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{argument}={given!r}: give {allowed}.") from None
    wrong = (values <= least if above else values < least) | (values > most)
    if not infinite:
        wrong |= np.isinf(values)
    if wrong.any():
        raise ValueError(f"{argument}={given!r}: give {allowed}.")
