"""Define the accessors ``df.rankeval`` and ``ds.rankeval``, their plots and their methods."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Never,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import pandas as pd
import xarray as xr

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.doors import Data, check_data, is_dask_frame
from rankeval_pd.errors import checked_call, unknown_keyword
from rankeval_pd.options import as_written, with_roles
from rankeval_pd.overview import (
    PLOT_SYNONYMS,
    Listing,
    not_there,
    overview,
    synonyms_for,
)
from rankeval_pd.roles import AnyRoles, Roles, form_of
from rankeval_pd.tables import Keywords

if TYPE_CHECKING:
    from typing import Self

# -------------------------------------------------------------------------------------------------
# Turn a function into a method with data and roles filled in. The method keeps the signature,
# types and docstring.

Held = TypeVar("Held", pd.DataFrame, xr.Dataset)
Held_co = TypeVar("Held_co", pd.DataFrame, xr.Dataset, covariant=True)
P = ParamSpec("P")
Drawn_co = TypeVar("Drawn_co", covariant=True)


class Holder(Protocol[Held_co]):
    """Store data and the roles of their columns."""

    @property
    def _data(self) -> Held_co: ...

    @property
    def _roles(self) -> Keywords: ...


class Question(Protocol[P]):
    """Describe a function that returns a result of the data's type."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Data:
        """Return the answer."""
        ...


class Method(Protocol[P]):
    """Describe the result of :func:`method` to type checkers."""

    def __get__(self, accessor: Holder[Held], owner: Any = None) -> Callable[P, Held]: ...


class Picture(Protocol[P, Drawn_co]):
    """Describe a function that draws data."""

    def __call__(self, data: Data, /, *args: P.args, **kwargs: P.kwargs) -> Drawn_co:
        """Return the axes."""
        ...


class FixedMethod(Protocol[P, Drawn_co]):
    """Describe a method to type checkers that returns one type for all data."""

    def __get__(self, plots: Holder[Held], owner: Any = None) -> Callable[P, Drawn_co]: ...


def method(question: Question[P]) -> Method[P]:
    """Turn the function into an accessor method."""
    return cast(Method[P], _forwarding(question))


def frame_method(
    question: Callable[Concatenate[pd.DataFrame, P], pd.DataFrame],
) -> FixedMethod[P, pd.DataFrame]:
    """Turn a function for DataFrames into a method. The function rejects Datasets."""
    return cast(FixedMethod[P, pd.DataFrame], _forwarding(question))


def plot_method(picture: Picture[P, Drawn_co]) -> FixedMethod[P, Drawn_co]:
    """Turn a plot into a method of an accessor's plots."""
    return cast(FixedMethod[P, Drawn_co], _forwarding(picture))


def _forwarding(function: Any) -> Any:
    takes = [*inspect.signature(function).parameters][1:]

    def forwarded(self: Holder[Any], *args: Any, **kwargs: Any) -> Any:
        held = self._roles
        if "metric" not in takes and "gold" not in takes:  # the function accepts only some roles
            held = {name: value for name, value in held.items() if name in takes}
        if "average" in held and "average" not in takes:
            more = f" {function.__name__} has no such role: omit it in rankeval(average=...)."
            raise unknown_keyword("average", takes, more)
        return function(self._data, *args, **{**held, **kwargs})

    return described(forwarded, function)


def described(forwarded: Any, function: Any) -> Any:
    """Return the method with the description of the function, without its data."""
    functools.update_wrapper(forwarded, function, updated=())
    signature = inspect.signature(function)
    data, *others = signature.parameters.values()
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    forwarded.__signature__ = signature.replace(parameters=[itself, *others])
    forwarded.__doc__ = without_parameter(function.__doc__, data.name)
    forwarded.__annotations__ = {
        name: given for name, given in function.__annotations__.items() if name != data.name
    }
    return forwarded


def without_parameter(text: str | None, name: str) -> str | None:
    """Remove one parameter from a NumPy docstring."""
    if text is None:
        return None
    text = re.sub(rf"(?m)^(    ){name}, (?=\S)", r"\1", as_written(text), count=1)
    return re.sub(rf"(?m)^    {name}( :.*)?\n(?:        .*\n|\n(?=        ))*", "", text, count=1)


# -------------------------------------------------------------------------------------------------
# The accessors ``df.rankeval`` and ``ds.rankeval``, which store the data and call the functions


class Accessor(Generic[Data]):
    """Provide the public functions as methods with the data filled in.

    Call the accessor to set column roles for a chain of calls:
    ``df.rankeval(gold="tp").compare("G2", "X2")``.
    """

    _check_roles = staticmethod(Roles.configured)

    @checked_call
    def __init__(self, data: Data) -> None:
        self._data: Data = data
        self._roles: Keywords = {}

    @with_roles
    def __call__(self, *unnamed: Never, **roles: Unpack[AnyRoles]) -> Self:
        """Return an accessor for the same data with these roles filled in.

        Parameters
        ----------
        **roles
            Column roles. See the page "Roles of the columns".
        """
        if unnamed:
            raise TypeError(
                f"{unnamed[0]!r} must be passed by keyword, with the name of a role,"
                " such as gold=..."
            )
        self._check_roles(roles)
        configured = type(self)(self._data)
        configured._roles = {**self._roles, **roles}
        return configured

    def __repr__(self) -> str:
        return overview(self._data, self._roles, LISTING)

    def __dir__(self) -> list[str]:
        return [*LISTING.methods_of(form_of(self._data, self._roles), self._roles), "plot"]

    if not TYPE_CHECKING:  # hidden from type checkers, so that they see only the methods

        def __getattr__(self, name: str) -> Any:
            known = [*methods_of("rankings"), *methods_of("items"), *methods_of("pairs")]
            if name.startswith("_"):  # before the data are there
                raise AttributeError(name)
            meant = synonyms_for(self._data, self._roles)
            raise AttributeError(not_there(name, "method", known, meant))

    @property
    def plot(self) -> Plots[Data]:
        """Draw the results of the methods."""
        return Plots(self._data, self._roles)

    # the methods follow the order of the overview
    nbest_precision = method(rankeval_pd.nbest_precision)
    acceptance_precision = method(rankeval_pd.acceptance_precision)
    nbest_recall = method(rankeval_pd.nbest_recall)
    enrichment = method(rankeval_pd.enrichment)
    bedroc = method(rankeval_pd.bedroc)
    summary = method(rankeval_pd.summary)
    measure_ranks = method(rankeval_pd.measure_ranks)
    compare = method(rankeval_pd.compare)
    compare_thresholds = method(rankeval_pd.compare_thresholds)
    significant_ranges = method(rankeval_pd.significant_ranges)
    judged_precision = method(rankeval_pd.judged_precision)
    judged_difference = method(rankeval_pd.judged_difference)
    judged_recall = method(rankeval_pd.judged_recall)
    annotator_agreement = method(rankeval_pd.annotator_agreement)
    plan_annotation = frame_method(rankeval_pd.plan_annotation)
    annotation_sheet = frame_method(rankeval_pd.annotation_sheet)
    with_judgements = frame_method(rankeval_pd.with_judgements)
    choose_threshold = method(rankeval_pd.choose_threshold)
    precision_band = method(rankeval_pd.precision_band)
    difference_band = method(rankeval_pd.difference_band)
    difference_region = method(rankeval_pd.difference_region)
    tie_sensitivity = method(rankeval_pd.tie_sensitivity)
    repetition = method(rankeval_pd.repetition)
    repetition_samples = method(rankeval_pd.repetition_samples)
    random_test = method(rankeval_pd.random_test)
    crossovers = method(rankeval_pd.crossovers)
    random_bound = method(rankeval_pd.random_bound)
    random_cdf = method(rankeval_pd.random_cdf)
    area = method(rankeval_pd.area)
    compare_area = method(rankeval_pd.compare_area)
    unpaired_area = method(rankeval_pd.unpaired_area)
    partial_area = method(rankeval_pd.partial_area)
    roc = method(rankeval_pd.roc)
    precision_recall = method(rankeval_pd.precision_recall)
    det = method(rankeval_pd.det)
    lift = method(rankeval_pd.lift)
    gain = method(rankeval_pd.gain)
    random_band = method(rankeval_pd.random_band)
    isolines = method(rankeval_pd.isolines)
    per_query = method(rankeval_pd.per_query)
    with_association_measures = method(rankeval_pd.with_association_measures)
    paired_bootstrap = method(rankeval_pd.paired_bootstrap)
    paired_permutation = method(rankeval_pd.paired_permutation)
    system_ranks = method(rankeval_pd.system_ranks)
    gain_by_size = method(rankeval_pd.gain_by_size)
    population_calibration = method(rankeval_pd.population_calibration)
    gain_threshold = method(rankeval_pd.gain_threshold)
    calibration = method(rankeval_pd.calibration)


class FrameAccessor(Accessor[pd.DataFrame]):
    """Evaluate rankings in a DataFrame with one row per candidate and a gold label.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval(gold="gold", measures=["good"]).nbest_precision(50)["tp"].tolist()
    [26]
    """


class DatasetAccessor(Accessor[xr.Dataset]):
    """Evaluate rankings in a Dataset with a candidate dimension and a gold label.

    Examples
    --------
    >>> import rankeval_pd
    >>> ds = rankeval_pd.datasets.simulate_candidates(500).rename_axis("candidate").to_xarray()
    >>> ds.rankeval(measures="good").nbest_precision(50)["tp"].values.tolist()
    [[26]]
    """


class LazyFrame(Protocol):
    """Describe a Dask DataFrame to type checkers."""

    @property
    def npartitions(self) -> int:
        """Return the number of partitions."""
        ...


@overload
def rankeval(data: pd.DataFrame, **roles: Unpack[AnyRoles]) -> FrameAccessor: ...
@overload
def rankeval(data: xr.Dataset, **roles: Unpack[AnyRoles]) -> DatasetAccessor: ...
@overload
def rankeval(data: LazyFrame, **roles: Unpack[AnyRoles]) -> Any: ...


@checked_call
def rankeval(data: Any, **roles: Unpack[AnyRoles]) -> Any:
    """Return the accessor ``df.rankeval`` with types for type checkers.

    Parameters
    ----------
    data : DataFrame, Dataset or Dask DataFrame
        Candidates, test items, or a table of pairs.
    **roles
        Column roles, for example ``gold="tp"`` as in ``df.rankeval(gold="tp")``.

    Returns
    -------
    FrameAccessor, DatasetAccessor or DaskAccessor
        ``data.rankeval`` with the roles filled in.

    Raises
    ------
    TypeError
        If the data are not a DataFrame, Dataset or Dask DataFrame. For a table from polars, DuckDB
        or Arrow, the message names the method that converts the table.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> rankeval_pd.rankeval(df, gold="gold").nbest_precision(50)["tp"].tolist()
    [26, 18]
    """
    found: Any
    if is_dask_frame(data):
        found = import_module("rankeval_pd.dask").DaskAccessor(data)
    else:
        check_data(data)
        found = DatasetAccessor(data) if isinstance(data, xr.Dataset) else FrameAccessor(data)
    return found(**roles)


# -------------------------- The accessor ``.rankeval.plot``, which stores data and roles


class Plots(Generic[Data]):
    """Provide the functions of :mod:`rankeval_pd.plotting` with the data filled in."""

    def __init__(self, data: Data, roles: Keywords) -> None:
        self._data: Data = data
        self._roles = roles

    def __repr__(self) -> str:
        return "\n".join(["<plots of a rankeval accessor>", *(f"  .{x}()" for x in dir(self))])

    def __dir__(self) -> list[str]:
        return LISTING.fitting(form_of(self._data, self._roles), self._roles)[1]

    if not TYPE_CHECKING:

        def __call__(self, *_: Any, **__: Any) -> Any:
            """Raise an error that suggests a plotting method."""
            raise TypeError(
                f"plot cannot be called. Call one of its methods, such as .plot.{dir(self)[0]}()."
            )

        def __getattr__(self, name: str) -> Any:
            known = dict.fromkeys(plot for plots in PLOTS.values() for plot in plots)
            raise AttributeError(not_there(name, "plot", known, PLOT_SYNONYMS))

    precision = plot_method(plotting.precision)
    comparison = plot_method(plotting.comparison)
    repetition = plot_method(plotting.repetition)
    random_bound = plot_method(plotting.random_bound)
    random_cdf = plot_method(plotting.random_cdf)
    roc = plot_method(plotting.roc)
    precision_recall = plot_method(plotting.precision_recall)
    det = plot_method(plotting.det)
    lift = plot_method(plotting.lift)
    gain = plot_method(plotting.gain)
    area = plot_method(plotting.area)
    measure_ranks = plot_method(plotting.measure_ranks)
    confidence = plot_method(plotting.confidence)
    pairs = plot_method(plotting.pairs)
    system_ranks = plot_method(plotting.system_ranks)
    gain_by_size = plot_method(plotting.gain_by_size)
    paired_differences = plot_method(plotting.paired_differences)
    queries = plot_method(plotting.queries)
    interpolated_precision = plot_method(plotting.interpolated_precision)
    calibration = plot_method(plotting.calibration)
    tie_sensitivity = plot_method(plotting.tie_sensitivity)


LISTING = Listing.of(Accessor, Plots)
QUESTIONS, PLOTS = LISTING.questions, LISTING.plots
methods_of = LISTING.methods_of
