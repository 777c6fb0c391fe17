"""Define the accessors for Dask DataFrames and for ranking heads."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Unpack, cast

import pandas as pd

from rankeval_pd.accessors import Accessor, FrameAccessor, methods_of
from rankeval_pd.chance import random_tests
from rankeval_pd.curves import curve_shapes, ranking_areas
from rankeval_pd.errors import check_count, checked_call, listed
from rankeval_pd.forms.lazy.frame_heads import ROWS, collect_head
from rankeval_pd.forms.lazy.heads import Head, HeadFrame
from rankeval_pd.forms.lazy.outlines import outlines, ranks_of
from rankeval_pd.forms.rankings.kernel_calls import only_pair
from rankeval_pd.forms.rankings.values import Shares, check_n
from rankeval_pd.forms.roles.columns import find_gold, find_measures, with_roles_of
from rankeval_pd.forms.roles.declarations import can, declared, with_roles
from rankeval_pd.forms.roles.options import as_asked, session_defaults, with_order
from rankeval_pd.forms.roles.roles import AnyRoles, AreaKind, RankingRoles, Roles
from rankeval_pd.forwarding import by_groups, dask_method, of_turns
from rankeval_pd.nbest import acceptance_sets, difference_regions
from rankeval_pd.overview import SYNONYMS, not_there
from rankeval_pd.stats._types import IntArray

# ----------------------------- The accessors for Dask DataFrames

QUESTIONS = declared(Accessor)
METHODS = list(dict.fromkeys([*methods_of("rankings"), *methods_of("items")]))
_NO_PLOT = "plots require a head in memory. Call the plot methods of ddf.rankeval.head(n_max)"


class DaskAccessor:
    """Evaluate a Dask DataFrame with one row per candidate or test item.

    The data can be larger than memory. Methods for n-best lists collect the head of the ranking, up
    to the largest n, in one pass over the data. If you call several methods, collect the head once
    with ``head = ddf.rankeval.head(n_max)``. In paired tests of systems, the workers sum over
    items. All methods return DataFrames.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._roles: Mapping[str, Any] = {}

    @with_roles
    def __call__(self, **roles: Unpack[AnyRoles]) -> DaskAccessor:
        """Return an accessor for the same data with these roles filled in.

        Parameters
        ----------
        **roles
            Column roles. See the page "Roles of the columns".
        """
        Roles.of(roles)
        configured = type(self)(self._data)
        configured._roles = {**self._roles, **roles}
        return configured

    @checked_call
    def head(self, n_max: int, *, n_keys: int = 1) -> HeadAccessor:
        """Collect the best candidates of each measure for lists up to n_max.

        Parameters
        ----------
        n_max : int
            Size of the longest list to request.
        n_keys : int
            Number of tie-breaking orders to request from
            :func:`rankeval_pd.tie_sensitivity`. Increase ``n_keys`` only if many candidates are
            tied at the end of the head.

        Returns
        -------
        HeadAccessor
            An accessor with the usual methods. The head contains the candidates in the first n_max
            ranks of each measure, and some additional candidates for bands and swapped labels. The
            head also stores N, N+ and the number of candidates tied with the last rank. Results are
            bit-for-bit identical to results from all candidates.

        Raises
        ------
        ValueError
            If two of the best candidates have the same label, if scores are missing and ``missing``
            does not allow missing scores, if a gold label is missing, or if gold labels are text
            without ``positive``.

        Notes
        -----
        A hash of ``label`` (a column or the index) breaks ties. The index must not restart in every
        file. Parquet's default index does restart, so pass ``label=rankeval_pd.dask.ROWS`` to use
        row numbers across all partitions.

        The method makes one pass over the required columns. If rows must be numbered, the method
        makes a second pass over the gold label. A worker keeps a partition and up to sixteen heads
        in memory. Each head has at most about ``n_max`` rows per measure.

        Examples
        --------
        >>> import dask.dataframe as dd, rankeval_pd.dask
        >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
        >>> head = dd.from_pandas(df, npartitions=4).rankeval.head(100)
        >>> head.nbest_precision(100)
          measure    n  tp  precision    ci_low   ci_high      lift  tied
        0    good  100  49       0.49  0.388644  0.591964  5.505618     0
        1    fair  100  32       0.32  0.230220  0.420767  3.595506     0
        """
        return self._collected(n_max, n_keys)

    def _collected(self, n_max: int, n_keys: int, columns: Sequence[Hashable] = ()) -> HeadAccessor:
        roles = Roles.of(self._roles)
        largest, orders = check_count("n_max", n_max), check_count("n_keys", n_keys)
        collected = collect_head(self._data, roles, largest, n_keys=orders, columns=columns)
        total = collected.known.whole.total
        if largest > total:
            raise ValueError(
                f"n_max={largest} exceeds the number of candidates, {total}. Pass a whole number"
                f" from 1 to {total}."
            )
        return self._as_head(collected)

    @checked_call
    def difference_region(
        self, a: Hashable, b: Hashable, n: int, **roles: Unpack[RankingRoles]
    ) -> pd.DataFrame:
        """Return the candidates found in only one of two n-best lists.

        The result matches :func:`rankeval_pd.difference_region` with all columns. The method
        counts the ranks in a second pass over the data.
        """
        asked = self(**only_pair(self._data._meta, a, b, {**self._roles, **roles}))
        columns = list(self._data.columns)
        head = asked._up_to(n, None, 1, columns)

        def ranks(few: pd.DataFrame) -> IntArray:
            return ranks_of(self._data, head._head.request, few)

        region = difference_regions.region_of_head(head._frame, a, b, n, ranks, **head._roles)
        return region[[*columns, "list", "rank_a", "rank_b"]]

    def area(self, kind: AreaKind = "roc", **options: Any) -> pd.DataFrame:
        """Return the area under each measure's ROC curve with an interval.

        Without ``by``, the method computes :func:`rankeval_pd.area` for the whole ranking in two
        passes over the data. The first pass collects the scores of the true positives, and the
        second pass counts the false positives between these scores. The area is identical to the
        area from pandas. ``se`` and the limits can differ in the last digits. Average precision
        requires ``by``.

        Examples
        --------
        >>> import dask.dataframe as dd, rankeval_pd.dask
        >>> df = rankeval_pd.datasets.simulate_candidates(300)
        >>> dd.from_pandas(df, npartitions=4).rankeval.area(measures="good")
          measure     area    ci_low   ci_high  chance
        0    good  0.89424  0.815954  0.939748     0.5
        """
        keywords = {**self._roles, **options}
        roles = Roles.of({k: x for k, x in keywords.items() if k in RankingRoles.__annotations__})
        if roles.by is not None:
            found: pd.DataFrame = _area_of_groups(self, kind, **options)
            return found
        own = {k: x for k, x in keywords.items() if k not in RankingRoles.__annotations__}
        own = {**session_defaults(ranking_areas.area), **own}
        if kind != "roc":
            raise ValueError(
                f"kind={kind!r}: the chance level of this area requires the whole ranking in"
                " memory. Pass kind='roc', or pass the group columns with by=..."
            )
        roles.check_groups()
        found_outlines = outlines(self._data, roles)
        of_all = ranking_areas.area_of_outlines(
            found_outlines.request.measures, found_outlines.outlines, **own
        )
        return as_asked(of_all, "area", can(ranking_areas.area).short, keywords, self._data)

    def acceptance_precision(
        self, threshold: float | Mapping[Hashable, Any] | None = None, **options: Any
    ) -> pd.DataFrame:
        """Return precision, recall and lift for candidates accepted at each threshold.

        The result matches :func:`rankeval_pd.acceptance_precision`. The data are read once.
        """
        keywords = {**self._roles, **options}
        if keywords.get("by") is not None:
            found: pd.DataFrame = _sets_of_groups(self, threshold, **options)
            return found
        if threshold is None:
            raise ValueError(
                "threshold=None requires the ranking to be in memory. Pass threshold=...;"
                " ddf.rankeval.nbest_precision(n) returns the score of the n-th candidate."
            )
        known = RankingRoles.__annotations__
        given = {k: x for k, x in keywords.items() if k in known and k not in ("label", "key")}
        own = {k: x for k, x in keywords.items() if k not in known}
        asked = type(self)(self._data)(**given)
        counted = collect_head(self._data, Roles.of(given), 1, threshold=threshold)
        result = acceptance_sets.acceptance_precision(
            counted, threshold, **own, **asked._as_head(counted)._roles
        )
        return with_order(result, self._data, keywords)

    def _as_head(self, collected: HeadFrame) -> HeadAccessor:
        """Return the head with only the required columns, and the roles for this head."""
        kept = {name: collected.known.roles[name] for name in ("label", "lower_is_better")}
        roles = {**self._roles, **kept, "exclude": None}
        return HeadAccessor(collected, {k: x for k, x in roles.items() if x is not None})

    def _counts(self) -> HeadAccessor:
        return self._as_head(collect_head(self._data, Roles.of(self._roles), 1, scored=False))

    def _up_to(
        self, n: Any, n_max: int | None, n_keys: int, columns: Sequence[Hashable] = ()
    ) -> HeadAccessor:
        """Return the head for lists of these sizes."""
        sizes = check_n(n)
        if n_max is not None:
            return self._collected(n_max, n_keys, columns)
        if sizes is None:
            raise ValueError(
                "n=None needs all ranks in memory. Pass list sizes, n=..., or the largest size,"
                " n_max=... For all ranks, call gain, precision_recall, roc, random_test or area."
            )
        if isinstance(sizes, Shares):
            sizes = sizes.of(len(self._data))
        return self._collected(int(sizes.max(initial=1)), n_keys, columns)

    def __repr__(self) -> str:
        meta, roles = self._data._meta, Roles.of(self._roles)
        plain = roles if roles.label is not ROWS else Roles.of({**self._roles, "label": None})
        gold = find_gold(meta, plain)
        taken = with_roles_of(gold, plain, meta.columns)
        return "\n".join(
            [
                "<rankings in a Dask DataFrame>",
                (f"  partitions  {self._data.npartitions:,} (lazy data; rows are not counted)"),
                f"  gold        {gold!r}",
                f"  measures    {listed(find_measures(meta, plain, taken, needed=True))}",
                f"  methods     {', '.join(dir(self))}",
            ]
        )

    def __dir__(self) -> list[str]:
        return ["head", *(name for name in vars(type(self)) if name in METHODS)]

    def __getattr__(self, name: str) -> Any:
        if name in METHODS or name == "plot":
            why = _NO_PLOT if name == "plot" else QUESTIONS[name][1].dask
            raise AttributeError(
                f"{name} does not exist for a Dask DataFrame: {why}. Call one of"
                f" {', '.join(dir(self))}."
            )
        raise AttributeError(not_there(name, "method", METHODS, SYNONYMS))

    # curves and the test against chance use all ranks, but change only at certain list sizes
    random_test = of_turns(random_tests.random_test, random_tests.random_test_of_turns, {})
    roc = of_turns(curve_shapes.roc, curve_shapes.curve_of_turns("roc"), curve_shapes.DEFAULTS)
    precision_recall = of_turns(
        curve_shapes.precision_recall,
        curve_shapes.curve_of_turns("precision_recall"),
        curve_shapes.DEFAULTS,
    )
    det = of_turns(curve_shapes.det, curve_shapes.curve_of_turns("det"), curve_shapes.DEFAULTS)
    gain = of_turns(curve_shapes.gain, curve_shapes.curve_of_turns("gain"), curve_shapes.DEFAULTS)
    lift = of_turns(curve_shapes.lift, curve_shapes.curve_of_turns("lift"), curve_shapes.DEFAULTS)


# all other methods are generated from the declared capabilities of the functions
for _name, (_question, _able) in QUESTIONS.items():
    if _name not in vars(DaskAccessor) and (_method := dask_method(_question, _able)):
        setattr(DaskAccessor, _name, _method)


def _naming_files(method: Any) -> Any:
    """Wrap the method to raise a helpful error for files that pyarrow cannot read."""

    @functools.wraps(method)
    def asked(self: DaskAccessor, *args: Any, **keywords: Any) -> Any:
        try:
            return method(self, *args, **keywords)
        except Exception as error:
            if not type(error).__module__.startswith("pyarrow"):
                raise
            raise ValueError(
                f"A partition of data cannot be read: {error} To find the partition, run `for part"
                " in ddf.partitions: part.compute()`, then rewrite its file."
            ) from error

    return asked


for _name in {*METHODS, "head"} & {*vars(DaskAccessor)}:
    setattr(DaskAccessor, _name, _naming_files(vars(DaskAccessor)[_name]))
_area_of_groups = by_groups(ranking_areas.area)
_sets_of_groups = by_groups(acceptance_sets.acceptance_precision)


# ------------------------------------------------------------------------- The accessor for heads

HEAD_METHODS = tuple(name for name, (_, able) in QUESTIONS.items() if able.heads)


class HeadAccessor(FrameAccessor):
    """Evaluate n-best lists up to n_max from each measure's best candidates.

    The head also stores the counts of all candidates. Methods that need every candidate raise an
    error.
    """

    def __init__(self, data: pd.DataFrame, roles: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self._roles = roles or {}

    @property
    def candidates(self) -> pd.DataFrame:
        """Return the candidates in the head as a DataFrame, in the original order."""
        return pd.DataFrame(self._data)

    @property
    def n_max(self) -> int:
        """Return the size of the longest list that you can request."""
        return self._head.whole.asked

    @property
    def n_candidates(self) -> int:
        """Return the number N of all candidates."""
        return self._head.whole.total

    @property
    def n_positive(self) -> int:
        """Return the number N+ of all true positives."""
        return self._head.whole.positive

    @property
    def _frame(self) -> HeadFrame:
        return cast(HeadFrame, self._data)

    @property
    def _head(self) -> Head:
        return self._frame.known

    def __repr__(self) -> str:
        share = self.n_positive / self.n_candidates if self.n_candidates else float("nan")
        return "\n".join(
            [
                "<the head of a ranking>",
                f"  candidates          {self.n_candidates:,}, {len(self._data):,} of them kept",
                f"  true positives      {self.n_positive:,}",
                f"  baseline precision  {share:.4%}",
                f"  measures            {listed(self._head.measures)}",
                f"  lists               up to n = {self.n_max:,}",
                f"  methods             {', '.join(HEAD_METHODS)}",
            ]
        )

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"

    def __dir__(self) -> list[str]:
        return [*HEAD_METHODS, "candidates", "n_candidates", "n_max", "n_positive", "plot"]
