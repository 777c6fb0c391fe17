"""Define ``.rankeval`` for Dask DataFrames, for rankings larger than memory.

``import rankeval_pd.dask`` registers the accessor. If you import ``dask.dataframe`` first, ``import
rankeval_pd`` also registers the accessor.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pandas as pd

from rankeval_pd.accessors import Accessor, FrameAccessor, described, methods_of
from rankeval_pd.curves import areas
from rankeval_pd.doors import HeadFrame, Shares, check_n, dask, only_pair
from rankeval_pd.doors.dask import ROWS, Head
from rankeval_pd.errors import (
    COMPUTE,
    AnyFunction,
    argument_check,
    check_count,
    checked_call,
    listed,
    refuse_combinations,
)
from rankeval_pd.options import Capabilities, as_asked, can, declared, leaving, session_defaults
from rankeval_pd.overview import SYNONYMS, not_there
from rankeval_pd.registration import register_with_dask
from rankeval_pd.roles import SCORED, RankingRoles, Roles
from rankeval_pd.stats import ADJUSTMENTS
from rankeval_pd.tables import Keywords, Options

__all__ = ["ROWS"]

QUESTIONS = declared(Accessor)
METHODS = list(dict.fromkeys([*methods_of("rankings"), *methods_of("items")]))
HEAD_METHODS = tuple(name for name, (_, able) in QUESTIONS.items() if able.heads)
_ROLES = RankingRoles.__annotations__ | {"ties": None}
_REASONS = {name: able.dask for name, (_, able) in QUESTIONS.items()}
_REASONS["plot"] = "plots require a head. Call the plot methods of ddf.rankeval.head(n_max)"

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
        self._roles: Keywords = {}

    _check_roles = staticmethod(Roles.of)
    __call__ = Accessor.__call__

    @checked_call
    def head(self, n_max: int) -> HeadAccessor:
        """Collect the best candidates of each measure for lists up to n_max.

        Parameters
        ----------
        n_max : int
            Size of the longest list to request.

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
            If two of the best candidates have the same label, or if labels or scores are missing.

        Notes
        -----
        A hash of ``label`` (a column or the index) breaks ties. If the index restarts in every
        file, or with ``label=rankeval_pd.dask.ROWS``, row numbers across all partitions are the
        labels, which takes a second pass over the gold label. A worker keeps a partition and up to
        sixteen heads in memory. Each head has at most about ``n_max`` rows per measure.

        Examples
        --------
        >>> import dask.dataframe as dd, rankeval_pd.dask
        >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
        >>> head = dd.from_pandas(df, npartitions=4).rankeval.head(100)
        >>> head.nbest_precision(100)
          measure    n  tp  precision    ci_low   ci_high      lift  tied
        0    good  100  49       0.49  0.375322  0.605455  5.505618     0
        1    fair  100  32       0.32  0.228834  0.422514  3.595506     0
        """
        n_max = check_count("n_max", n_max)
        with _files_named():
            head = dask.collect_head(self._data, Roles.of(self._roles), n_max)
        return HeadAccessor(head)(**_roles_of_head(head, self._roles))

    def __repr__(self) -> str:
        return (
            "<rankings or items in a Dask DataFrame>\n"
            f"  partitions  {self._data.npartitions:,} (lazy data; rows are not counted)\n"
            f"  columns     {listed(self._data.columns)}\n"
            f"  methods     {', '.join(dir(self))}"
        )

    def __dir__(self) -> list[str]:
        return ["head", *(name for name in vars(type(self)) if name in METHODS)]

    def __getattr__(self, name: str) -> Any:
        if name not in _REASONS:
            raise AttributeError(not_there(name, "method", METHODS, SYNONYMS))
        raise AttributeError(
            f"{name} does not exist for a Dask DataFrame: {_REASONS[name]}. Call one of"
            f" {', '.join(dir(self))}."
        )


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


def _method(question: AnyFunction) -> Callable[..., pd.DataFrame]:
    """Return a method that reduces the data, and then calls the function."""
    signature = inspect.signature(question)
    data = next(iter(signature.parameters))
    check = argument_check(question, closed=True)

    def forwarded(self: Any, *args: Any, **keywords: Any) -> pd.DataFrame:
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
            if question.__name__ == "area":
                return _area(self._data, question, options, roles)
            return _answer_of_head(self._data, question, options, roles)

    method: Callable[..., pd.DataFrame] = described(forwarded, question)
    return method


# ------------------------------------------------------------- Rankings as heads, counts and areas


def _roles_of_head(head: HeadFrame, roles: Keywords) -> Options:
    """Return the roles for a head, which has only the required columns."""
    fixed = head.known.request.roles
    own = {name: getattr(fixed, name) for name in ("label", "key", "lower_is_better")}
    return {name: x for name, x in {**roles, **own, "exclude": None}.items() if x is not None}


def _answer_of_head(
    ddf: Any, question: AnyFunction, options: Options, roles: Options
) -> pd.DataFrame:
    """Call the function for the head, or for the counts N and N+."""
    able = can(question)
    name = question.__name__
    threshold = None if able.heads else options.get("threshold")
    if threshold is None and not able.heads:
        raise ValueError(
            f"{name} requires all candidates of a ranking in memory. {COMPUTE}, or pass by=... for"
            " groups that each fit on one worker."
        )
    reading = roles
    if "a" in options and "b" in options:
        reading = only_pair(ddf._meta, options["a"], options["b"], roles)
    pooled = "pool" in inspect.signature(question).parameters and roles.get("missing") == "absent"
    if threshold is not None:
        head = dask.collect_head(ddf, Roles.of(reading), threshold=threshold)
    elif able.scores or pooled:
        longest = _longest(ddf, options.get("n"), name)
        head = dask.collect_head(ddf, Roles.of(reading), longest)
    else:
        reading = {role: x for role, x in reading.items() if role not in SCORED}
        head = dask.collect_head(ddf, Roles.of(reading), scored=False)
    table = question(head, **options, **_roles_of_head(head, reading))
    whole: pd.DataFrame = leaving(table, Capabilities(), roles, ddf, details=True)
    return whole


def _longest(ddf: Any, n: Any, method: str) -> int:
    """Return the size of the longest list."""
    sizes = check_n(n)
    if sizes is None:
        raise ValueError(
            "n=None needs all ranks in memory. Pass list sizes, n=..., or call"
            f" ddf.rankeval.head(n_max).{method}(...). For the whole ranking, call area."
        )
    if isinstance(sizes, Shares):
        sizes = sizes.of(len(ddf))
    return int(sizes.max(initial=1))


def _area(ddf: Any, question: AnyFunction, options: Options, roles: Options) -> pd.DataFrame:
    """Return the areas of whole rankings from their outlines."""
    chosen = Roles.of(roles)
    chosen.check_groups()
    for name, plain in (("average", None), ("equal", "block")):
        if options.pop(name, plain) != plain:
            raise ValueError(
                f"the area of a whole Dask DataFrame supports only {name}={plain!r}. {COMPUTE}."
            )
    table = areas.area_of_outlines(
        dask.outlines_of(ddf, chosen),
        functools.partial(dask.inverse_ends, ddf, chosen),
        ends=chosen.ends,
        **options,
    )
    return as_asked(table, question, roles, ddf)


# ---------------------------------------------------------------------------------------- By groups

_APART = (
    ("average", "by", "Groups are on several workers: average the group rows."),
    ("combine", "by", "Groups are on several workers: average the group rows."),
)


def _answer_by_groups(
    ddf: Any, question: AnyFunction, options: Options, roles: Options
) -> pd.DataFrame:
    """Call the function for the groups in ``by``, which the workers answer."""
    refuse_combinations(
        {"by": roles["by"], **options, "combine": options.get("combine") or None}, _APART
    )
    # a family is one group or all groups, but ranks are always compared within a group
    usual = inspect.signature(question).parameters.get("adjust_over")
    adjust = options.get("adjust")
    over = options.get("adjust_over", usual and usual.default)
    across = adjust is not None and usual is not None and usual.default == "all" and over != "group"
    if across and (over != "all" or adjust not in ADJUSTMENTS):
        raise ValueError(
            f"adjust={adjust!r}, adjust_over={over!r} require all groups on one worker. Pass"
            " adjust_over='group', or adjust='holm' in compare."
        )
    groups = dask.frame_of_groups(ddf, Roles.of(roles))
    plain = {name: value for name, value in roles.items() if value is not ROWS}
    table: pd.DataFrame = question(groups, **options, **plain)
    return table


for _name, (_question, _able) in QUESTIONS.items():
    if _able.heads or _able.by_groups or _able.sums:
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
        share = self.n_positive / max(self.n_candidates, 1)
        return (
            "<the head of a ranking>\n"
            f"  candidates          {self.n_candidates:,}, {len(self._data):,} of them kept\n"
            f"  true positives      {self.n_positive:,}\n"
            f"  baseline precision  {share:.4%}\n"
            f"  measures            {listed(self._head.request.measures)}\n"
            f"  lists               up to n = {self._head.whole.asked:,}\n"
            f"  methods             {', '.join(HEAD_METHODS)}"
        )

    def __dir__(self) -> list[str]:
        return [*HEAD_METHODS, "candidates", "n_candidates", "n_positive", "plot"]


register_with_dask()
