"""Which gain is worth reporting? Gain against confidence (Berg-Kirkpatrick et al. 2012, §§3, 4)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankeval_pd.errors import check_choice, check_share, unknown_name
from rankeval_pd.forms.choices import ThresholdInterval
from rankeval_pd.forms.memory import check_draws
from rankeval_pd.forms.pairs import as_came, made_by, numbers_of, pairs_table, related, two_sided
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.resampling import resamples, studies
from rankeval_pd.systems.planning import SIDES, Alternative, check_numbers

THRESHOLD_COLUMNS = (
    "relation", "threshold", "threshold_low", "threshold_high", "n_pairs", "threshold_all_pairs",
)  # fmt: skip


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
    """Return the gain that is probably significant, from the pairs that just are.

    Parameters
    ----------
    data : DataFrame or Dataset
        The table of pairs, of :func:`paired_bootstrap`, :func:`paired_permutation` or
        :func:`gain_by_size`, pairs ordered so that gain ≥ 0.
    window : (float, float)
        Pairs whose p-value lies between these two are borderline significant.
    quantile : float
        The share of their gains that is below the threshold.
    alternative : {"greater", "two-sided"}
        Whose p-value: "greater", the paper's, takes ``p_value``, one-sided. Tables of all pairs put
        the better system first, so that .05 there is .10 two-sided: a gain above this threshold is
        probably significant if the direction was fixed before. "two-sided" takes ``p_two_sided``.
    relation : label, optional
        Only the pairs of this relation. None: a row per relation, of all pairs if there is no
        column ``relation``.
    n_items : int, optional
        For a test set of so many items of the same kind: thresholds times the square root of the
        ratio of the sizes.
    ci : {"order", "systems"}
        Interval of the threshold: two order statistics, whatever the distribution, pairs taken as
        independent; or percentiles over systems drawn with replacement, because pairs share
        systems, and never narrower than it.
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
          set no upper limit; ``n_pairs``: pairs in the window that have a gain;
        * ``threshold_all_pairs``: z times the same quantile of ``gain_se``, z being the normal
          quantile of the middle of the window (two-sided: of its half): from all pairs, no window.

    Notes
    -----
    A 95 % interval of the 95th percentile has an upper limit from 72 pairs on; with the paper's 47
    pairs it has none. With few pairs in the window quote ``threshold_all_pairs``. A threshold is of
    one test set, one metric, and systems like these.

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
    0      0.062          0.062             inf       13                0.058

    Most authors would not have fixed beforehand which system is the better one:

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
    table, groups = pairs_table(data)
    if relation is not None:
        known = table["relation"].unique().tolist() if "relation" in table else []
        if relation not in known:
            raise unknown_name("relation", relation, known)
        table = table[table["relation"] == relation]
    if n_items is not None:
        check_numbers("n_items", n_items, 0.0, above=True, missing=False)
        if np.ndim(n_items) or n_items % 1:
            raise TypeError(f"n_items={n_items!r}: give one whole number.")
    scale = np.ones(len(table)) if n_items is None else np.sqrt(table["n_items"] / n_items)
    table = table.assign(gain=table["gain"] * scale, gain_se=table["gain_se"] * scale)
    rows: list[list[Any]] = []
    if alternative == "two-sided":
        table = table.assign(p_value=two_sided(table), gain=table["gain"].abs())
    for keys, name, part in related(table, groups):
        inside = part[part["p_value"].between(low, high) & part["gain"].notna()]
        gains = inside["gain"].to_numpy(dtype=float)
        limits: tuple[float, float] = (np.nan, np.nan)
        if gains.size:
            limits = studies.order_limits(gains, share, level)
        if gains.size and ci == "systems":
            weights = studies.pair_weights(numbers_of(inside), n_resamples, seed)
            drawn = studies.weighted_quantiles(gains, weights, share)
            limits = studies.wider(studies.percentile_limits(drawn, level), limits)
        errors = part["gain_se"].dropna().to_numpy(dtype=float)
        z = studies.normal_quantile((low + high) / 2.0 / SIDES[alternative])
        listed = [name, _quantile(gains, share), *limits, len(inside), z * _quantile(errors, share)]
        rows.append(keys + listed)
    attrs = {
        **made_by(data), "window": (low, high), "quantile": share, "alternative": alternative,
        "ci": ci, "level": level,
    }  # fmt: skip
    return as_came(data, rows, groups, table, THRESHOLD_COLUMNS, attrs)


def _quantile(values: FloatArray, share: float) -> float:
    return float(np.quantile(values, share)) if values.size else np.nan


def _window(window: Any) -> tuple[float, float]:
    if isinstance(window, str) or not isinstance(window, Sequence) or len(window) != 2:
        raise TypeError(f"window={window!r}: give two p-values, the smaller first.")
    low, high = (check_share("window", value) for value in window)
    if not low < high:
        raise ValueError(f"window={window!r}: give two p-values, the smaller first.")
    return low, high
