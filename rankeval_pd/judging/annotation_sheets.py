"""Create sheets of candidates to judge, and read the judgments."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from rankeval_pd.errors import check_count, listed
from rankeval_pd.forms.rankings.values import gold_values
from rankeval_pd.forms.roles.columns import find_gold, frame_column, with_columns
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles_but
from rankeval_pd.forms.roles.roles import JudgedRoles, Roles, as_names
from rankeval_pd.judging.samples import JudgingScheme, check_frame, quietly, read_sample
from rankeval_pd.nbest.difference_regions import difference_region


@Capabilities(rankings="What to judge, and how?", own_rows=True)
@with_roles_but("positive", "min_grade")
def annotation_sheet(
    candidates: pd.DataFrame,
    a: Hashable,
    b: Hashable,
    n: int,
    *,
    size: int | None = None,
    show: list[Hashable] | None = None,
    **roles: Unpack[JudgedRoles],
) -> pd.DataFrame:
    """Return a sheet of candidates to judge for the comparison of two lists.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a score for each measure and a gold label. Unjudged candidates have a
        missing label.
    a, b : names of measures
    n : int
        Size of both lists.
    size : int, optional
        Number of candidates to judge, for example from :func:`plan_annotation`. None means all
        unjudged candidates.
    show : list of names, optional
        Columns to show to the judges. None shows only the index.
    **roles
        Column roles. See :func:`nbest_precision`. ``rng`` seeds the random order.

    Returns
    -------
    DataFrame
        One row per candidate in random order, with the input index, the columns to show and an
        empty gold column. Scores and lists are not shown, so judges cannot see which measure found
        a candidate.

    Notes
    -----
    Only candidates found in exactly one list can distinguish the measures. The sheet is a random
    sample from the two difference regions, with equal numbers from each region if possible.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> partly = df.assign(gold=float("nan"))
    >>> rankeval_pd.annotation_sheet(partly, "good", "fair", 100, size=3)
         gold
    824  <NA>
    258  <NA>
    403  <NA>
    """
    check_frame(candidates)
    chosen = Roles.of(roles)
    chosen.check_groups()
    sample = read_sample(candidates, roles, JudgingScheme("estimate", None, None, "ratio", 0.95))
    gold, judged = sample.gold, sample.judged
    numbered = with_columns(sample.data, {"_place": np.arange(judged.size)})
    place = numbered.columns[-1]
    numbered[gold] = judged
    region: pd.DataFrame = quietly(
        gold, partial(difference_region, numbered, a, b, n, **sample.roles)
    )
    left = region[~region[gold].astype(bool)]
    rng = np.random.default_rng(chosen.rng)
    places = [left.loc[left["list"] == side, place].to_numpy(copy=True) for side in "ab"]
    sides = [rng.permutation(x) for x in places]
    total = sum(side.size for side in sides)
    wanted = total if size is None else check_count("size", size, 0)
    if wanted > total:
        raise ValueError(
            f"size={size!r}: the difference regions have {total} unjudged candidates. Pass at most"
            f" {total}, or None for all."
        )
    from_a = min(max(wanted - wanted // 2, wanted - sides[1].size), sides[0].size)
    rows = rng.permutation(np.concatenate([sides[0][:from_a], sides[1][: wanted - from_a]]))
    sheet = candidates.iloc[rows][list(show or [])].copy()
    sheet[gold] = pd.array([pd.NA] * len(sheet), dtype="boolean")
    return sheet


@Capabilities(rankings="What to judge, and how?", own_rows=True, clusters=True)
@with_roles_but(
    "agreement",
    "measures",
    "exclude",
    "by",
    "rng",
    "dim",
    "key",
    "label",
    "groups",
    "lower_is_better",
    "missing",
    "ties",
)
def with_judgements(
    candidates: pd.DataFrame, sheet: pd.DataFrame, **roles: Unpack[JudgedRoles]
) -> pd.DataFrame:
    """Return the candidates with the judgments from a sheet.

    Parameters
    ----------
    candidates : DataFrame
        Candidates with a unique index.
    sheet : DataFrame
        A sheet from :func:`annotation_sheet` with a completed gold column (True and False, 1 and 0,
        or values named in ``positive``). Missing values are ignored. To read a saved sheet with its
        index, use ``pandas.read_csv("sheet.csv", index_col=0)``.
    **roles
        ``gold`` is the judgment column in both tables. ``positive`` and ``min_grade`` define which
        words or grades count as true.

    Returns
    -------
    DataFrame
        A copy of the candidates with nullable booleans in the gold column.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"m": [2, 1], "gold": [None, None]}, index=["x", "y"])
    >>> sheet = pd.DataFrame({"gold": [True]}, index=["y"])
    >>> rankeval_pd.with_judgements(df, sheet)["gold"].tolist()
    [<NA>, True]
    """
    check_frame(candidates)
    chosen = Roles.of(roles)
    gold = find_gold(candidates, chosen)
    for name, frame in (("candidates", candidates), ("sheet", sheet)):
        if gold not in frame.columns:
            raise ValueError(
                f"gold={gold!r}: {name} has no such column. Pass the judgment column: gold=..."
            )
        if not frame.index.is_unique:
            raise ValueError(
                f"{name} has repeated labels in its index, so judgments are ambiguous. Give each"
                " candidate a unique label: call reset_index(drop=True) before you make the sheet."
            )
    unknown = sheet.index.difference(candidates.index)
    if len(unknown):
        raise ValueError(
            f"sheet has unknown candidates: {listed(unknown[:5])}. Keep the index of the sheet."
        )
    judged = _as_boolean(sheet, gold, chosen).dropna()
    before = _as_boolean(candidates, gold, chosen)
    contradicted = before.reindex(judged.index).dropna()
    other = contradicted.index[(contradicted != judged[contradicted.index])]
    if len(other):
        raise ValueError(
            f"sheet contradicts earlier judgments of {len(other)} candidates, {listed(other[:5])}."
            " Resolve these contradictions first."
        )
    before[judged.index] = judged
    result = candidates.copy()
    result[gold] = before
    return result


def _as_boolean(frame: pd.DataFrame, gold: Hashable, roles: Roles) -> pd.Series:
    """Convert judgments to nullable booleans, and reject other values."""
    column = frame_column(frame, gold, "gold")
    words = as_names(roles.positive, ())
    # earlier judgments are numbers
    if is_bool_dtype(column.dtype) and not {True, False} & {*words}:
        roles = replace(roles, positive=None)
    truth = gold_values(column, gold, roles.positive, roles.min_grade, all_there=False)
    return pd.Series(truth, index=frame.index).astype("boolean")
