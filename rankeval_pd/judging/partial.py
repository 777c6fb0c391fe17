"""What do the judged candidates say about lists of which a part is not judged?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, hushed
from rankeval_pd.forms.choices import ListSizes
from rankeval_pd.forms.columns import find_gold, frame_column
from rankeval_pd.forms.rankings import Data, check_data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.forms.values import gold_values
from rankeval_pd.nbest.comparison import compare
from rankeval_pd.nbest.precision import nbest_precision
from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.intervals.finite import difference_limits, hypergeometric_limits

UNJUDGED = ("estimate", "bounds")
PRECISION_COLUMNS = ("n_judged", "tp_judged", "precision", "ci_low", "ci_high")
DIFFERENCE_COLUMNS = (
    "n_only", "n_judged_a", "n_judged_b", "tp_judged_a", "tp_judged_b", "difference", "ci_low",
    "ci_high",
)  # fmt: skip


@with_roles
def judged_precision(
    data: Data,
    n: ListSizes,
    *,
    unjudged: str = "estimate",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the precision of n-best lists of which only a part of the candidates is judged.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, missing where a candidate was not
        judged. A Dataset is not padded.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    unjudged : {"estimate", "bounds"}
        "estimate": in each list, those judged are a random sample. "bounds": nothing is known of
        the others; the limits are the precision if none, and if all of them are true positives.
    level : float
        Confidence level of the interval of "estimate".
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``n_judged`` and ``tp_judged``: judged candidates in the list, and true positives among
        them; ``precision``: of the judged ones, NaN where there is none; ``ci_low``, ``ci_high``:
        limits of the precision of the whole list.

    Notes
    -----
    The interval is the exact one of a finite population, from the hypergeometric law: with every
    candidate judged it is the precision itself, as :func:`nbest_precision` has it. It says what is
    not known for want of judgements, not how the list would vary with other candidates. To drop
    the candidates that were not judged changes the rankings and is no estimate of anything: of
    the list of 500 of Evert's data it gives 19.8 % where the precision is 30.4 %.

    A sample that is random in the whole data is so in each list; one that was drawn from the pool
    of several lists is so in each as long as each candidate of the pool had the same chance.
    Cost: as :func:`nbest_precision` twice, and a search over the counts.

    References
    ----------
    J. P. Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations.

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> rankeval_pd.judged_precision(partly, 100).round(2)
      measure    n  n_judged  tp_judged  precision  ci_low  ci_high
    0    good  100        30         17       0.57    0.41     0.71
    1    fair  100        32         10       0.31    0.19     0.46
    """
    check_choice("unjudged", unjudged, UNJUDGED)
    level = check_share("level", level)
    known, true = _asked_twice(data, roles, lambda part, given: nbest_precision(part, n, **given))

    def columns(judged: AnyArray, tp: AnyArray, size: AnyArray) -> tuple[AnyArray, ...]:
        if unjudged == "bounds":
            low, high = tp / size, (tp + size - judged) / size
        else:
            low, high = (x / size for x in hypergeometric_limits(tp, judged, size, level))
        return judged, tp, _share(tp, judged), low, high

    result: Data = _answered(
        true, ("measure", "n"), PRECISION_COLUMNS, columns, (known["tp"], true["tp"], true["n"]),
        {"unjudged": unjudged, "level": level},
    )  # fmt: skip
    return result


@with_roles
def judged_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    unjudged: str = "estimate",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the difference of the precisions of two lists of which only a part is judged.

    Parameters
    ----------
    data, unjudged, level, **roles
        As in :func:`judged_precision`; "estimate" takes those judged in each difference region for
        a random sample of it.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``n_only``: candidates in each difference region; ``n_judged_a``, ``n_judged_b``,
        ``tp_judged_a``, ``tp_judged_b``: judged ones in either, and true positives among them;
        ``difference`` of the precisions of the two lists, with ``ci_low``, ``ci_high``.

    Notes
    -----
    A candidate in both lists, or in neither, says nothing about the difference: with T_a and T_b
    true positives in the regions it is (T_a - T_b) / n, estimated from those judged there. The
    interval puts the exact intervals of T_a and T_b together (MOVER, Zou and Donner 2008); all
    judged, it is the difference itself. In simulations with a fifth of Evert's data judged,
    intervals of precision and difference covered as promised
    (``tests/reference/partly_judged.csv``).

    Examples
    --------
    >>> import numpy as np, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> judged = np.random.default_rng(1).random(1_000) < 0.3
    >>> partly = df.assign(gold=df["gold"].astype(float).where(judged))
    >>> found = rankeval_pd.judged_difference(partly, "good", "fair", 100)
    >>> found[["n", "n_only", "difference", "ci_low", "ci_high"]].round(2)
         n  n_only  difference  ci_low  ci_high
    0  100      63        0.24    0.08     0.37
    """
    check_choice("unjudged", unjudged, UNJUDGED)
    level = check_share("level", level)
    known, true = _asked_twice(data, roles, lambda part, given: compare(part, a, b, n, **given))

    def columns(
        judged_a: AnyArray, judged_b: AnyArray, tp_a: AnyArray, tp_b: AnyArray, only: AnyArray,
        size: AnyArray,
    ) -> tuple[AnyArray, ...]:  # fmt: skip
        if unjudged == "bounds":
            limits_a, limits_b = (
                (t, t + only - m) for t, m in ((tp_a, judged_a), (tp_b, judged_b))
            )
            point = _share(tp_a, judged_a) * only - _share(tp_b, judged_b) * only
            low, high = limits_a[0] - limits_b[1], limits_a[1] - limits_b[0]
        else:
            point, low, high = difference_limits((tp_a, tp_b), (judged_a, judged_b), only, level)
        point = np.where(only == 0, 0.0, point)
        return only, judged_a, judged_b, tp_a, tp_b, point / size, low / size, high / size

    values = (
        known["tp_only_a"], known["tp_only_b"], true["tp_only_a"], true["tp_only_b"],
        true["n_only_a"], true["n"],
    )  # fmt: skip
    result: Data = _answered(
        true, ("measure_a", "measure_b", "n"), DIFFERENCE_COLUMNS, columns, values,
        {"unjudged": unjudged, "level": level},
    )  # fmt: skip
    return result


def _share(tp: AnyArray, judged: AnyArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.true_divide(tp, judged), dtype=float)


def split_gold(data: Data, roles: Mapping[str, Any]) -> tuple[Data, Data, Hashable]:
    """Return the data with "is judged" and with "is judged and true" in the place of gold."""
    check_data(data)
    chosen = Roles.of(roles)
    if chosen.groups is not None:
        raise ValueError(
            f"groups={chosen.groups!r}: what is judged is taken for a random sample of single"
            " candidates, not of groups. Leave groups out if that is so."
        )
    name = find_gold(data, chosen)
    parts: list[Any] = []
    if isinstance(data, pd.DataFrame):
        truth = gold_values(
            frame_column(data, name, "gold"), name, chosen.positive, chosen.min_grade
        )
        for label in (~np.isnan(truth), truth == 1.0):
            held = data.copy()
            held[name] = label
            parts.append(held)
    else:
        variable = data[name]
        truth = gold_values(
            pd.Series(variable.to_numpy().ravel()), name, chosen.positive, chosen.min_grade
        ).reshape(variable.shape)
        parts = [
            data.assign({name: (variable.dims, label)})
            for label in (~np.isnan(truth), truth == 1.0)
        ]
    return cast("Data", parts[0]), cast("Data", parts[1]), name


def _asked_twice(
    data: Data, roles: Mapping[str, Any], question: Callable[[Any, dict[str, Any]], Any]
) -> tuple[Any, Any]:
    """Ask how many are judged, and how many are judged true."""
    known, true, name = split_gold(data, roles)
    given = {key: value for key, value in roles.items() if key not in ("positive", "min_grade")}
    given["gold"] = name
    return quietly(lambda: question(known, given)), quietly(lambda: question(true, given))


def quietly(question: Callable[[], Any]) -> Any:
    """Ask without a warning of labels that are all alike: all or none may be judged."""
    with hushed():
        return question()


def _answered(
    table: Any,
    before: tuple[str, ...],
    names: tuple[str, ...],
    columns: Callable[..., tuple[AnyArray, ...]],
    values: tuple[Any, ...],
    attrs: dict[str, Any],
) -> Any:
    """Return a table like the one given, with other columns behind those that say what a row is."""
    if isinstance(table, xr.Dataset):
        arrays = xr.broadcast(*values)
        computed = columns(*(array.to_numpy() for array in arrays))
        kept = {name: (arrays[0].dims, x) for name, x in zip(names, computed, strict=True)}
        result = xr.Dataset(kept, table.coords, attrs)
        return result.transpose(*table[next(iter(table.data_vars))].dims)
    groups = list(table.columns[: list(table.columns).index(before[0])])
    computed = columns(*(np.asarray(column) for column in values))
    frame = table[[*groups, *before]].assign(**dict(zip(names, computed, strict=True)))
    frame.attrs = attrs
    return frame
