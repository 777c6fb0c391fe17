"""Define the accessors for Dask DataFrames and for ranking heads."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pandas as pd

from rankeval_pd.accessors import Accessor, FrameAccessor, described, methods_of
from rankeval_pd.curves import areas
from rankeval_pd.doors import HeadFrame, Shares, check_n, dask, only_pair
from rankeval_pd.doors.heads import ROWS, Head
from rankeval_pd.errors import argument_check, check_count, checked_call, listed
from rankeval_pd.lists import regions
from rankeval_pd.options import as_asked, can, declared, session_defaults, with_order
from rankeval_pd.overview import SYNONYMS, not_there
from rankeval_pd.roles import (
    SCORED,
    RankingRoles,
    Roles,
    find_gold,
    find_measures,
    with_roles_of,
)
from rankeval_pd.stats import ADJUSTMENTS

QUESTIONS = declared(Accessor)
METHODS = list(dict.fromkeys([*methods_of("rankings"), *methods_of("items")]))
HEAD_METHODS = tuple(name for name, (_, able) in QUESTIONS.items() if able.heads)
_ROLES = RankingRoles.__annotations__ | {"ties": None}
_NO_PLOT = "plots require a head in memory. Call the plot methods of ddf.rankeval.head(n_max)"

# ----------------------------------------------------------------- The accessor for Dask DataFrames


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

    _check_roles = staticmethod(Roles.of)
    __call__ = Accessor.__call__

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
        with _files_named():
            head = _head(self._data, self._roles, n_max, n_keys)
        return HeadAccessor(head)(**_roles_of_head(head, self._roles))

    def __repr__(self) -> str:
        meta, roles = self._data._meta, Roles.of(self._roles)
        if roles.label is ROWS:
            roles = Roles.of({**self._roles, "label": None})
        gold = find_gold(meta, roles)
        taken = with_roles_of(gold, roles, meta.columns)
        return (
            "<rankings in a Dask DataFrame>\n"
            f"  partitions  {self._data.npartitions:,} (lazy data; rows are not counted)\n"
            f"  gold        {gold!r}\n"
            f"  measures    {listed(find_measures(meta, roles, taken, needed=True))}\n"
            f"  methods     {', '.join(dir(self))}"
        )

    def __dir__(self) -> list[str]:
        return ["head", *(name for name in vars(type(self)) if name in METHODS)]

    def __getattr__(self, name: str) -> Any:
        if name in METHODS or name == "plot":
            why = QUESTIONS[name][1].dask if name != "plot" else _NO_PLOT
            raise AttributeError(
                f"{name} does not exist for a Dask DataFrame: {why}. Call one of"
                f" {', '.join(dir(self))}."
            )
        raise AttributeError(not_there(name, "method", METHODS, SYNONYMS))


@contextmanager
def _files_named() -> Iterator[None]:
    """Explain how to find a file that pyarrow cannot read."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("pyarrow"):
            raise
        raise ValueError(
            f"A partition of data cannot be read: {error} To find the partition, run `for part"
            " in ddf.partitions: part.compute()`, then rewrite its file."
        ) from error


def _method(question: Callable[..., Any]) -> Callable[..., pd.DataFrame]:
    """Return a method that reduces the data, and then calls the function."""
    signature = inspect.signature(question)
    data = next(iter(signature.parameters))
    check = argument_check(question, closed=True)

    def forwarded(self: Any, *args: Any, **keywords: Any) -> pd.DataFrame:
        longest = keywords.pop("n_max", None)
        keywords = {**self._roles, **keywords}
        check((None, *args), keywords)
        options = signature.bind(None, *args, **keywords).arguments
        del options[data]
        roles = {name: value for name, value in keywords.items() if name in _ROLES}
        options = {name: value for name, value in options.items() if name not in _ROLES}
        options = {**session_defaults(question), **options}
        with _files_named():
            if can(question).sums:
                return cast(pd.DataFrame, question(self._data, *args, **keywords))
            if roles.get("by") is not None:
                return _answer_by_groups(self._data, question, options, roles)
            reduce = _OWN.get(question.__name__, _rows_of_head)
            return reduce(self._data, question, options, roles, longest)

    n_max = inspect.Parameter("n_max", inspect.Parameter.KEYWORD_ONLY, default=None)
    method: Callable[..., pd.DataFrame] = described(
        forwarded, question, *[n_max] * can(question).heads
    )
    method.__doc__ = f"{method.__doc__}{_NOTES.get(question.__name__, '')}"
    return method


# ------------------------------------------------------------------------------- Rankings as heads

Options = dict[str, Any]


def _head(
    ddf: Any, roles: Mapping[str, Any], n_max: int, n_keys: int, columns: Sequence[Hashable] = ()
) -> HeadFrame:
    n_max, n_keys = check_count("n_max", n_max), check_count("n_keys", n_keys)
    head = dask.collect_head(ddf, Roles.of(roles), n_max, n_keys=n_keys, columns=columns)
    total = head.known.whole.total
    if n_max > total:
        raise ValueError(
            f"n_max={n_max} exceeds the number of candidates, {total}. Pass a whole number"
            f" from 1 to {total}."
        )
    return head


def _roles_of_head(head: HeadFrame, roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles for a head, which has only the required columns."""
    fixed = head.known.request.roles
    own = {"label": fixed.label, "lower_is_better": fixed.lower_is_better, "exclude": None}
    return {name: value for name, value in {**roles, **own}.items() if value is not None}


def _longest(ddf: Any, n: Any, n_max: int | None) -> int:
    """Return the size of the longest list."""
    sizes = check_n(n)
    if n_max is not None:
        return n_max
    if sizes is None:
        raise ValueError(
            "n=None needs all ranks in memory. Pass list sizes, n=..., or the largest size,"
            " n_max=... For the whole ranking, call area."
        )
    if isinstance(sizes, Shares):
        sizes = sizes.of(len(ddf))
    return int(sizes.max(initial=1))


def _rows_of_head(
    ddf: Any, question: Callable[..., Any], options: Options, roles: Options, n_max: int | None
) -> pd.DataFrame:
    """Call the function for the head, or for the counts N and N+."""
    able, parameters = can(question), inspect.signature(question).parameters
    accepts = question.__name__ == "acceptance_precision"
    threshold = options.get("threshold")
    if accepts and threshold is None:
        raise ValueError(
            "threshold=None requires the ranking to be in memory. Pass threshold=...;"
            " ddf.rankeval.nbest_precision(n) returns the score of the n-th candidate."
        )
    if not (able.heads or accepts):
        raise ValueError(
            f"{question.__name__} requires all candidates of a ranking in memory. Compute the"
            " columns that you use, ddf[[...]].compute().rankeval, or pass by=... for groups that"
            " each fit on one worker."
        )
    reading = roles
    if "a" in options and "b" in options:
        reading = only_pair(ddf._meta, options["a"], options["b"], roles)
    pooled = "pool" in parameters and roles.get("missing") == "absent"
    if accepts:  # the accepted candidates are counted
        reading = {name: x for name, x in reading.items() if name not in ("label", "key")}
        head = dask.collect_head(ddf, Roles.of(reading), 1, threshold=threshold)
    elif able.scores or pooled:
        n_keys = 1
        if "n_keys" in parameters:
            n_keys = options.get("n_keys", parameters["n_keys"].default)
        head = _head(ddf, reading, _longest(ddf, options.get("n"), n_max), n_keys)
    else:
        reading = {name: x for name, x in reading.items() if name not in SCORED}
        head = dask.collect_head(ddf, Roles.of(reading), 1, scored=False)
    table: pd.DataFrame = question(head, **options, **_roles_of_head(head, reading))
    return with_order(table, ddf, roles)


# ---------------------------------------------- Rankings as counts, outlines and difference regions


def _difference_region(
    ddf: Any, _: Callable[..., Any], options: Options, roles: Options, __: int | None
) -> pd.DataFrame:
    """Return the candidates found in only one of two n-best lists, with all columns."""
    a, b, columns = options["a"], options["b"], list(ddf.columns)
    roles = only_pair(ddf._meta, a, b, roles)
    head = _head(ddf, roles, _longest(ddf, options["n"], None), 1, columns)
    ranks = functools.partial(dask.ranks_of, ddf, head.known.request)
    region = regions.region_of_head(
        head, a, b, options["n"], ranks, **cast(RankingRoles, _roles_of_head(head, roles))
    )
    return region[[*columns, "list", "rank_a", "rank_b"]]


def _area(
    ddf: Any, question: Callable[..., Any], options: Options, roles: Options, _: int | None
) -> pd.DataFrame:
    """Return the areas of whole rankings from their outlines."""
    chosen = Roles.of(roles)
    chosen.check_groups()
    for name, plain in (("average", None), ("equal", "block")):
        if options.pop(name, plain) != plain:
            raise ValueError(
                f"{name}: the area of a whole Dask DataFrame supports only {name}={plain!r}. Pass"
                " this value, or compute the columns that you use, ddf[[...]].compute().rankeval."
            )
    table = areas.area_of_outlines(
        dask.outlines_of(ddf, chosen),
        functools.partial(dask.inverse_ends, ddf, chosen),
        ends=chosen.ends,
        **options,
    )
    return as_asked(table, question, roles, ddf)


_OWN = {
    "difference_region": _difference_region,
    "acceptance_precision": _rows_of_head,
    "area": _area,
}
_NOTES = {
    "difference_region": """

For a Dask DataFrame, the method counts the ranks in a second pass over the data.
""",
    "area": """

For a whole Dask DataFrame, the method makes two passes over the data. The first pass collects the
scores of the true positives, and the second pass counts the false positives between these scores.
The area is identical to the area from pandas. The standard error and the limits can differ in the
last digits. Average precision also shuffles the distinct scores, to find the chance level.
""",
}

# ---------------------------------------------------------------------------------------- By groups


def _answer_by_groups(
    ddf: Any, question: Callable[..., Any], options: Options, roles: Options
) -> pd.DataFrame:
    """Call the function for the groups in ``by``, which the workers answer."""
    usual = inspect.signature(question).parameters.get("adjust_over")
    adjust, over = options.get("adjust"), options.get("adjust_over", usual and usual.default)
    for option in ("combine", "average"):
        if options.get(option):
            raise ValueError(
                f"{option}={options[option]!r} requires all groups on one worker. Omit"
                f" {option}, and average the group rows."
            )
    # a family is one group or all groups, but ranks are always compared within a group
    across = adjust is not None and usual is not None and usual.default == "all" and over != "group"
    if across and (over != "all" or adjust not in ADJUSTMENTS):
        raise ValueError(
            f"adjust={adjust!r}, adjust_over={over!r} require all groups on one worker. Pass"
            " adjust_over='group', or adjust='holm' in compare."
        )
    groups = dask.frame_of_groups(ddf, Roles.of(roles))
    if roles.get("label") is ROWS:
        roles = {**roles, "label": None}
    table: pd.DataFrame = question(groups, **options, **roles)
    return table


for _name, (_question, _able) in QUESTIONS.items():
    if _able.heads or _able.by_groups or _able.sums or _name in _OWN:
        setattr(DaskAccessor, _name, _method(_question))


# ------------------------------------------------------------------------- The accessor for heads


class HeadAccessor(FrameAccessor):
    """Evaluate n-best lists up to n_max from each measure's best candidates.

    The head also stores the counts of all candidates. Methods that need every candidate raise an
    error.
    """

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
    def _head(self) -> Head:
        return cast(Head, cast(HeadFrame, self._data).known)

    def __repr__(self) -> str:
        share = self.n_positive / self.n_candidates if self.n_candidates else float("nan")
        return (
            "<the head of a ranking>\n"
            f"  candidates          {self.n_candidates:,}, {len(self._data):,} of them kept\n"
            f"  true positives      {self.n_positive:,}\n"
            f"  baseline precision  {share:.4%}\n"
            f"  measures            {listed(self._head.request.measures)}\n"
            f"  lists               up to n = {self.n_max:,}\n"
            f"  methods             {', '.join(HEAD_METHODS)}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"

    def __dir__(self) -> list[str]:
        return [*HEAD_METHODS, "candidates", "n_candidates", "n_max", "n_positive", "plot"]
