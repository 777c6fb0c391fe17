"""Estimate gain thresholds, and gains on test sets of several sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_choice, check_share, unknown_name
from rankeval_pd.forms.items.item_roles import check_items, item_order, item_roles, role_column
from rankeval_pd.forms.items.items import roles_of_systems
from rankeval_pd.forms.items.pair_tables import (
    as_frame,
    check_sizes,
    made_by,
    numbers_of,
    pairs_table,
    related,
)
from rankeval_pd.forms.out.tables import keys_apart
from rankeval_pd.forms.rankings.candidates import Data, above_door, below_door
from rankeval_pd.forms.rankings.values import group_numbers
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    Draw,
    Event,
    FamilyAdjustment,
    GainInterval,
    ItemRoles,
    LawMethod,
    Roles,
    ThresholdInterval,
    as_names,
)
from rankeval_pd.forms.roles.roles import Alternative as Sided
from rankeval_pd.memory import check_draws
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling import pair_studies, resamples
from rankeval_pd.systems.item_planning import SIDES, Alternative, check_numbers
from rankeval_pd.systems.paired_tests import paired_bootstrap
from rankeval_pd.systems.system_ranks import Families

# -------------------------------------------------------------------------------------------------
# Relation between gain and confidence (Berg-Kirkpatrick et al. 2012, §§3, 4).

THRESHOLD_COLUMNS = (
    "relation", "threshold", "threshold_low", "threshold_high", "n_pairs", "threshold_all_pairs",
)  # fmt: skip


@Capabilities(pairs="Which gain is worth reporting?", layout="row")
def gain_threshold(
    data: Data,
    *,
    window: tuple[float, float] = (0.04, 0.06),
    quantile: float = 0.95,
    alternative: Alternative = "greater",
    relation: Hashable = None,
    n_items: int | None = None,
    ci: ThresholdInterval = "order",
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
    alternative : {"greater", "two-sided"}
        "greater", as in Berg-Kirkpatrick et al. (2012), uses the one-sided p-value. The threshold
        is then valid only if the direction was fixed beforehand, because tables of all pairs list
        the better system first. A one-sided p of 0.05 then corresponds to a two-sided p of 0.10.
        "two-sided" uses ``p_two_sided``.
    relation : label, optional
        Use only pairs with this relation. By default, the result has one row per relation, or a
        single row if there are no relations.
    n_items : int, optional
        Size of a similar test set, to which thresholds are scaled by the square-root law.
    ci : {"order", "systems"}
        Kind of interval for the threshold. "order" uses distribution-free order statistics for
        independent pairs. "systems" resamples systems because pairs share systems. This interval
        is never narrower.
    level : float
        Confidence level of the interval.
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
        * ``threshold_all_pairs``: z times the same quantile of ``gain_se`` over all pairs. z is the
          normal quantile for the middle of the window (half of the middle for two-sided tests).

    Notes
    -----
    The upper limit of a 95% interval for the 95th percentile is finite for 72 or more pairs.
    Berg-Kirkpatrick et al. (2012) had 47 pairs. If the window contains few pairs, report
    ``threshold_all_pairs``. A threshold is valid only for one test set, one metric and similar
    systems.

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
    >>> pairs.rankeval.gain_threshold()
       relation  threshold  threshold_low  threshold_high  n_pairs
    0       NaN     0.0625         0.0625             inf       13

    Use the two-sided p-value unless the direction was fixed beforehand:

    >>> pairs.rankeval.gain_threshold(alternative="two-sided")["threshold"].round(3).tolist()
    [0.073]
    """
    check_choice("alternative", alternative, SIDES)
    low, high = _window(window)
    share = check_share("quantile", quantile)
    check_choice("ci", ci, ("order", "systems"))
    level = check_share("level", level)
    n_resamples = check_draws("n_resamples", n_resamples)
    seed = resamples.entropy(Roles.of({"rng": rng}).rng)
    needed = []
    if n_items is not None:
        needed.append("n_items")
    table, groups = pairs_table(data, *needed)
    if relation is not None:
        known = table["relation"].unique().tolist() if "relation" in table else []
        if relation not in known:
            raise unknown_name("relation", relation, known)
        table = table[table["relation"] == relation]
    if n_items is not None:
        check_numbers("n_items", n_items, 0.0, above=True, missing=False)
        if np.ndim(n_items) or n_items % 1:
            raise TypeError(f"n_items={n_items!r}: pass one whole number.")
    table = table.assign(gain=table["gain"].abs())
    if n_items is not None:
        scale = np.sqrt(table["n_items"].to_numpy() / n_items)
        for name in table.columns.intersection(["gain", "gain_se"]):
            table[name] = table[name] * scale
    rows: list[list[Any]] = []
    if alternative == "two-sided":
        table["p_value"] = np.minimum(1.0, 2.0 * table["p_value"])
    columns: tuple[str, ...] = THRESHOLD_COLUMNS
    if "gain_se" not in table:
        columns = columns[:-1]
    for keys, name, part in related(table, groups):
        inside = part[part["p_value"].between(low, high) & part["gain"].notna()]
        gains = inside["gain"].to_numpy(dtype=float)
        limits: tuple[float, float] = (np.nan, np.nan)
        if gains.size:
            limits = pair_studies.order_limits(gains, share, level)
        if gains.size and ci == "systems":
            weights = pair_studies.pair_weights(numbers_of(inside), n_resamples, seed)
            drawn = pair_studies.weighted_quantiles(gains, weights, share)
            limits = pair_studies.wider(pair_studies.percentile_limits(drawn, level), limits)
        listed = [name, _quantile(gains, share), *limits, len(inside)]
        if "gain_se" in part:
            errors = part["gain_se"].dropna().to_numpy(dtype=float)
            z = pair_studies.normal_quantile((low + high) / 2.0 / SIDES[alternative])
            listed.append(z * _quantile(errors, share))
        rows.append(keys + listed)
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


def _window(window: Any) -> tuple[float, float]:
    if isinstance(window, str) or not isinstance(window, Sequence) or len(window) != 2:
        raise TypeError(f"window={window!r}: pass two p-values, the smaller one first.")
    low, high = (check_share("window", value) for value in window)
    if not low < high:
        raise ValueError(f"window={window!r}: pass two p-values, the smaller one first.")
    return low, high


# ----------------------- Gains for several test set sizes


@Capabilities(
    items="Which gain is worth reporting?",
    clusters=True,
    dask=(
        "the method draws subsets of the items. Draw subsets one at a time with"
        " ddf.sample(frac=...)"
    ),
    short="size system_a system_b score_a score_b gain ci_low ci_high p_value p_adjusted",
    layout="size pair",
)
@with_roles
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: Draw = "prefix",
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    alternative: Sided = "two-sided",
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs on subsets of several sizes.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems scored on test items.
    sizes : sequence of int
        Numbers of items.
    draw : {"prefix", "random"}
        "prefix" takes the first rows, as in Berg-Kirkpatrick et al. (2012). The first rows are a
        random sample only if the rows are shuffled. "random" draws nested random subsets.
    n_resamples, event, method, ci, families, baseline, alternative, adjust, adjust_over, alpha
        As in :func:`paired_bootstrap`. Each size is a separate family.
    level, progress
        As in :func:`paired_bootstrap`.
    **roles
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
    Berg-Kirkpatrick et al. (2012), section 4.1, figures 9 to 11.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.gain_by_size([100, 400])
       size system_a system_b  score_a  score_b  gain    ci_low   ci_high   p_value
    0   100        x        y   0.6700   0.5900  0.08 -0.050842  0.208436  0.271253
    1   400        x        y   0.7275   0.5775  0.15  0.086094  0.212924  0.000007
    """
    check_choice("draw", draw, ("prefix", "random"))
    check_items(data)
    chosen = item_roles(roles)
    frame = below_door(data)
    by = as_names(chosen.by, frame.columns)
    places = _domains(frame, by, chosen, draw)
    whole = check_sizes(sizes, max((len(rows) for rows in places), default=0))
    systems = roles_of_systems(frame, roles)
    listed = []
    for size in whole:
        rows = np.sort(np.concatenate([p[:size] for p in places if len(p) >= size]))
        table = paired_bootstrap(
            frame.iloc[rows],
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
            progress=progress,
            **systems,
        )
        listed.append(keys_apart(table, ("size",), len(by)))
    return above_door(_one_by_one(listed, whole, len(by)), data)


def _one_by_one(listed: list[pd.DataFrame], sizes: list[int], n_keys: int) -> pd.DataFrame:
    """Combine the tables for all sizes, and group the rows by domain."""
    by = list(listed[0].columns[:n_keys])
    for size, table in zip(sizes, listed, strict=True):
        table.insert(n_keys, "size", size)
    joined = pd.concat(listed, ignore_index=True)
    joined.attrs = dict(listed[0].attrs)
    joined.attrs.pop("n_items", None)  # n_items differs between sizes
    if by:
        number = joined.groupby(by, sort=True, observed=True).ngroup().to_numpy()
        joined = joined.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
    return joined


def _domains(data: pd.DataFrame, by: list[Hashable], roles: Roles, draw: str) -> list[IntArray]:
    """Return each domain's rows in the order in which subsets use them."""
    number = np.zeros(len(data), dtype=np.int64)
    if by:
        number = group_numbers([role_column(data, name, "by") for name in by], by, len(data))[1]
    order = np.arange(len(data))
    if draw == "random":
        order = item_order(data.index)
        child = np.random.SeedSequence(resamples.entropy(roles.rng), spawn_key=(0, 2))
        order = order[np.random.default_rng(child).permutation(len(data))]
    return [order[number[order] == group] for group in range(int(number.max(initial=0)) + 1)]
