"""Find and test difference regions (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.decisions.families import OVER_LISTS
from rankeval_pd.doors.heads import HeadFrame, head_of
from rankeval_pd.doors.pairs import only_pair
from rankeval_pd.doors.rankings import Candidates, Rows, concatenated, rows_at, stacks
from rankeval_pd.errors import check_at_least_one, check_choice, check_share, unknown_name
from rankeval_pd.forms.rankings.candidates import (
    Data,
    above_door,
    below_door,
    check_data,
    read_frame,
)
from rankeval_pd.forms.rankings.values import Shares, check_n, check_not_above
from rankeval_pd.forms.roles.columns import native, with_columns
from rankeval_pd.forms.roles.declarations import NO_CONCLUSION, Capabilities, with_roles_but
from rankeval_pd.forms.roles.roles import RankingRoles, Roles
from rankeval_pd.memory import check_draws
from rankeval_pd.nbest.precision import TARGETS
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import (
    ALTERNATIVES,
    fisher_test,
    mcnemar_test,
    sample_odds_ratio,
)
from rankeval_pd.stats.significance.unconditional import barnard, boschloo, score_test

# ----------- The difference region (Evert 2004, section 3.3)


@Capabilities(rankings="Is A better than B?", own_rows=True, clusters=True, layout="data")
@with_roles_but("gold", "positive", "min_grade", groups=NO_CONCLUSION)
def difference_region(
    data: Data, a: Hashable, b: Hashable, n: int, **roles: Unpack[RankingRoles]
) -> Data:
    """Return the candidates found in only one of two n-best lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int
        Size of each list.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        The rows found in only one list, with their original order and index (Dataset: dimension
        row). The column ``list`` contains "a" or "b", and ``rank_a`` and ``rank_b`` contain the
        1-based ranks in the two rankings.

    References
    ----------
    Evert (2004), section 3.3, defines the regions D1 and D2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [3.0, 2.0, 1.0], "t": [1.0, 2.0, 3.0], "gold": [True, False, False]},
    ...     index=["kick bucket", "take place", "be there"],
    ... )
    >>> df.rankeval.difference_region("G2", "t", 1)
                  G2    t   gold list  rank_a  rank_b
    kick bucket  3.0  1.0   True    a       1       3
    be there     1.0  3.0  False    b       3       1
    """
    head = head_of(data)
    if head is not None and head.whole.reach < head.whole.total:
        raise ValueError(
            "a head does not contain the ranks of some candidates that are in only one list."
            " Call ddf.rankeval.difference_region(a, b, n), which counts these candidates."
        )
    return above_door(_region_of(below_door(data), a, b, n, roles), data)


def region_of_head(
    data: HeadFrame,
    a: Hashable,
    b: Hashable,
    n: int,
    ranks: Callable[[pd.DataFrame], IntArray],
    **roles: Unpack[RankingRoles],
) -> pd.DataFrame:
    """Return the difference region from a head, given ranks in the full ranking.

    ``ranks`` (measure, candidate) follows the order of the head's measures.
    """
    table = _region_of(data, a, b, n, roles)
    of_measures = ranks(table.drop(columns=[*_ADDED]))
    measures = data.known.measures
    return table.assign(
        rank_a=of_measures[measures.index(a)], rank_b=of_measures[measures.index(b)]
    )


def _region_of(
    data: pd.DataFrame, a: Hashable, b: Hashable, n: int, roles: RankingRoles
) -> pd.DataFrame:
    """Return the difference region, with ranks among the candidates in the data."""
    check_data(data)
    sizes = check_n(n)
    if sizes is None or np.size(sizes) != 1:
        raise ValueError(f"n={n!r}: pass the size of the lists as one whole number or fraction.")
    chosen = Roles.of(only_pair(data, a, b, roles, one=True))
    chosen.check_ties()
    for name in _ADDED:
        if name in data.columns:
            raise ValueError(
                f"data has a column {name!r}, but the result adds a column of the same name."
                f" Rename the column: data.rename(columns={{{name!r}: ...}})."
            )
    groups = read_frame(data, chosen)
    check_not_above(sizes, groups.largest, groups.whole)
    parts = [_only_one_list(part, a, b, sizes, chosen.ties) for part in stacks(groups)]
    if not parts:
        return with_columns(native(data).iloc[:0], {name: [] for name in _ADDED})
    table = concatenated(parts)
    table = rows_at(table, np.argsort(table["row"]))
    return with_columns(native(data).iloc[table["row"]], {name: table[name] for name in _ADDED})


_ADDED = ("list", "rank_a", "rank_b")


def _only_one_list(
    candidates: Candidates, a: Hashable, b: Hashable, n: Shares | IntArray, ties: str
) -> Rows:
    """Return the candidates found in only one list, as columns ``row`` and ``_ADDED``."""
    measures = list(candidates.measures)
    places = {name: k for k, name in enumerate(measures)}  # pd.NA does not equal itself
    for role, name in (("a", a), ("b", b)):
        if name not in places:
            raise unknown_name(role, name, measures)
    pair = [places[a], places[b]]
    size = n.of(candidates.total) if isinstance(n, Shares) else n
    score = candidates.score[:, pair]  # (group, list, candidate)
    both = candidates.present[:, pair].all(axis=1, keepdims=True)
    whole = candidates.whole and candidates.whole.of(np.array(pair))
    ranking = Ranking.of(
        score, candidates.gold[:, np.newaxis], np.broadcast_to(both, score.shape), whole=whole
    )
    ranking.nbest(size, ties)  # this check rejects lists that end inside a tie
    rows = both
    if candidates.ends:
        rows = both & ~np.isnan(score)
    in_a, in_b = np.moveaxis((ranking.ranks <= size) & rows, 1, 0)
    only = (in_a != in_b) & (size <= both.sum(axis=-1))
    return {
        "row": candidates.row[only],
        "list": np.where(in_a, "a", "b").astype(object)[only],
        "rank_a": ranking.ranks[:, 0][only],
        "rank_b": ranking.ranks[:, 1][only],
    }


# ------------------------ Tests of two difference regions, and the options for a comparison
REGION_COLUMNS = (
    "precision_a",
    "precision_b",
    "difference",
    "ci_low",
    "ci_high",
    "overlap",
    "n_only_a",
    "n_only_b",
    "tp_only_a",
    "tp_only_b",
    "odds_ratio",
    "p_value",
    "p_mid",
)

SWAPPED = ("max-t", "max-t-stepdown")  # adjustments that use random swaps
OTHER_TESTS = ("mcnemar", "boschloo", "barnard")
TESTS = ("fisher", "midp", *OTHER_TESTS, "score")
SET_INTERVALS = ("score", "delta")


class RegionOptions(NamedTuple):
    """Store the options for the comparison."""

    test: str
    alternative: str
    ci: str
    level: float
    target: str
    phi: float
    adjust: str | None
    adjust_over: str
    alpha: float
    n_resamples: int | None
    progress: bool | None
    seed: int
    margin: float | None

    @classmethod
    def of(cls, **options: Any) -> RegionOptions:
        """Check and return the options."""
        check_choice("test", options["test"], (None, *TESTS, "kosinski"))
        check_choice("alternative", options["alternative"], ALTERNATIVES)
        check_choice("adjust", options["adjust"], (None, *ADJUSTMENTS, *SWAPPED))
        check_choice("adjust_over", options["adjust_over"], OVER_LISTS)
        check_choice("target", options["target"], TARGETS)
        for name in ("alpha", "level"):
            options[name] = check_share(name, options[name])
        options["phi"] = check_at_least_one("phi", options["phi"])
        if options["n_resamples"] is not None:
            options["n_resamples"] = check_draws("n_resamples", options["n_resamples"])
        options["test"] = _test_with(options["phi"], options["test"], options["adjust"])
        return cls(**options)

    def noted(self) -> dict[str, Any]:
        """Return attrs that describe the comparison for readers and plots."""
        kept = {k: x for k, x in self._asdict().items() if k not in ("seed", "progress")}
        if self.swapped or self.means:
            kept["test"] = "swaps" if self.swapped else "score"
        if not self.swapped:
            del kept["n_resamples"]
        if self.adjust is None:
            del kept["adjust_over"]
        return kept

    @property
    def swapped(self) -> bool:
        """Return whether the tests use random swaps."""
        return self.adjust in SWAPPED

    @property
    def means(self) -> bool:
        """Return whether the comparison uses means over orders of tied candidates."""
        return self.test == "expected"


def _test_with(phi: float, test: str | None, adjust: str | None) -> str:
    """Return the test, and reject tests that assume binomial counts."""
    if phi > 1.0 and test not in (None, "score"):
        raise ValueError(
            f"phi={phi:g} with test={test!r}: exact tests assume binomial counts. Omit test, or"
            " pass test='score'."
        )
    if phi > 1.0 and adjust in SWAPPED:
        raise ValueError(
            f"phi={phi:g} with adjust={adjust!r}: label swaps assume independent candidates. Pass"
            " another adjustment, such as adjust='holm', or omit phi."
        )
    return test or ("fisher" if phi == 1.0 else "score")


def region_tests(
    tp_a: IntArray,
    n_a: IntArray,
    tp_b: IntArray,
    n_b: IntArray,
    options: RegionOptions,
    exists: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the odds ratio, p-value and mid-p for two difference regions."""
    regions = (
        np.clip(tp_a, 0, n_a),
        n_a,
        np.clip(tp_b, 0, n_b),
        n_b,
    )  # includes missing lists
    exact = fisher_test(*regions, options.alternative)
    p_value = exact.p_mid if options.test == "midp" else exact.p_value
    if options.test == "score":
        a, n, b, m = (x / options.phi for x in regions)
        p_value = score_test(a, n, b, m, options.alternative)
    if options.test in OTHER_TESTS:
        p_value = np.full(np.shape(tp_a), np.nan)
        there = np.broadcast_to(exists, p_value.shape)
        of_a, of_b = ((t[there], n[there]) for t, n in (regions[:2], regions[2:]))
        p_value[there] = _other_test(*of_a, *of_b, options)
    # mid-p assumes binomial counts and could contradict the test in the row
    p_mid = exact.p_mid if options.phi == 1.0 else np.full_like(exact.p_mid, np.nan)
    return sample_odds_ratio(tp_a, n_a, tp_b, n_b), p_value, p_mid


def _other_test(
    tp_a: IntArray, n_a: IntArray, tp_b: IntArray, n_b: IntArray, options: RegionOptions
) -> FloatArray:
    if options.test == "mcnemar":
        return mcnemar_test(tp_a, n_a, tp_b, n_b, options.alternative)
    test = {"boschloo": boschloo, "barnard": barnard}[options.test]
    return test(tp_a, n_a, tp_b, n_b, options.alternative, partial(_with_bar, options))


def _with_bar(
    options: RegionOptions, cells: Iterable[tuple[int, int, int, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the tables of a slow test, and advance a progress bar."""
    tables = list(cells)
    with progress_bar(
        options.progress, total=len(tables), what=f"{options.test}'s test", unit="tables"
    ) as advance:
        for table in tables:
            yield table
            advance(1)
