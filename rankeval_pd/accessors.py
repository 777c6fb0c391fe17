"""Define the accessors ``df.rankeval`` and ``ds.rankeval`` and their plots."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Never, Protocol, Unpack, overload

import pandas as pd
import xarray as xr

from rankeval_pd import association, plotting
from rankeval_pd.chance import bounds, random_tests
from rankeval_pd.chance import crossovers as crossings
from rankeval_pd.curves import (
    area_differences,
    curve_references,
    curve_shapes,
    early_retrieval,
    ranking_areas,
    unpaired_areas,
)
from rankeval_pd.doors.heads import is_dask_frame
from rankeval_pd.errors import checked_call
from rankeval_pd.forms.rankings.candidates import Data, check_data
from rankeval_pd.forms.roles.columns import form_of
from rankeval_pd.forms.roles.declarations import with_roles
from rankeval_pd.forms.roles.roles import AnyRoles, Roles
from rankeval_pd.forwarding import frame_method, method, plot_method
from rankeval_pd.judging import (
    annotation_plans,
    annotation_sheets,
    annotator_agreement,
    judged_lists,
)
from rankeval_pd.nbest import (
    acceptance_sets,
    comparison,
    difference_regions,
    odds_ratios,
    precision,
    precision_bands,
    ranges,
    recall,
    summary,
    threshold_choice,
    tie_sensitivity,
)
from rankeval_pd.nbest import measure_verdicts as nbest_ranks
from rankeval_pd.nbest import repetition as repetitions
from rankeval_pd.overview import (
    PLOT_SYNONYMS,
    SYNONYMS,
    Listing,
    not_there,
    overview,
    overview_html,
)
from rankeval_pd.queries import per_query
from rankeval_pd.systems import calibration, gain_studies, paired_tests, system_ranks

if TYPE_CHECKING:
    from typing import Self


# -------------------------------------------------------------------------------------------------
# The accessors ``df.rankeval`` and ``ds.rankeval``, which store the data and call the functions


class Accessor(Generic[Data]):
    """Provide the public functions as methods with the data filled in.

    Call the accessor to set column roles for a chain of calls:
    ``df.rankeval(gold="tp").compare("G2", "X2")``.
    """

    @checked_call
    def __init__(self, data: Data) -> None:
        self._data: Data = data
        self._roles: Mapping[str, Any] = {}

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
        Roles.configured(roles)
        configured = type(self)(self._data)
        configured._roles = {**self._roles, **roles}
        return configured

    def __repr__(self) -> str:
        return overview(self._data, self._roles, LISTING)

    def _repr_html_(self) -> str:
        return overview_html(self._data, self._roles, LISTING)

    def __dir__(self) -> list[str]:
        return [*LISTING.methods_of(form_of(self._data, self._roles), self._roles), "plot"]

    if not TYPE_CHECKING:  # hidden from type checkers, so that they see only the methods

        def __getattr__(self, name: str) -> Any:
            known = [*methods_of("rankings"), *methods_of("items"), *methods_of("pairs")]
            raise AttributeError(not_there(name, "method", known, SYNONYMS))

    @property
    def plot(self) -> Plots[Data]:
        """Draw the results of the methods."""
        return Plots(self._data, self._roles)

    # the methods follow the order of the overview
    nbest_precision = method(precision.nbest_precision)
    acceptance_precision = method(acceptance_sets.acceptance_precision)
    local_precision = method(precision_bands.local_precision)
    nbest_recall = method(recall.nbest_recall)
    recall_band = method(recall.recall_band)
    enrichment = method(early_retrieval.enrichment)
    bedroc = method(early_retrieval.bedroc)
    summary = method(summary.summary)
    measure_ranks = method(nbest_ranks.measure_ranks)
    compare = method(comparison.compare)
    significant_ranges = method(ranges.significant_ranges)
    mean_difference = method(ranges.mean_difference)
    odds_ratios = method(odds_ratios.odds_ratios)
    judged_precision = method(judged_lists.judged_precision)
    judged_difference = method(judged_lists.judged_difference)
    judged_recall = method(judged_lists.judged_recall)
    judged_average_precision = method(judged_lists.judged_average_precision)
    annotator_agreement = method(annotator_agreement.annotator_agreement)
    plan_annotation = frame_method(annotation_plans.plan_annotation)
    annotation_sheet = frame_method(annotation_sheets.annotation_sheet)
    with_judgements = frame_method(annotation_sheets.with_judgements)
    choose_threshold = method(threshold_choice.choose_threshold)
    precision_band = method(precision_bands.precision_band)
    difference_band = method(precision_bands.difference_band)
    difference_region = method(difference_regions.difference_region)
    tie_sensitivity = method(tie_sensitivity.tie_sensitivity)
    repetition = method(repetitions.repetition)
    repetition_samples = method(repetitions.repetition_samples)
    random_test = method(random_tests.random_test)
    crossovers = method(crossings.crossovers)
    random_bound = method(bounds.random_bound)
    random_envelope = method(crossings.random_envelope)
    random_cdf = method(bounds.random_cdf)
    area = method(ranking_areas.area)
    compare_area = method(area_differences.compare_area)
    unpaired_area = method(unpaired_areas.unpaired_area)
    partial_area = method(early_retrieval.partial_area)
    roc = method(curve_shapes.roc)
    precision_recall = method(curve_shapes.precision_recall)
    det = method(curve_shapes.det)
    lift = method(curve_shapes.lift)
    gain = method(curve_shapes.gain)
    random_band = method(curve_references.random_band)
    isolines = method(curve_references.isolines)
    per_query = method(per_query.per_query)
    with_association_measures = method(association.with_association_measures)
    paired_bootstrap = method(paired_tests.paired_bootstrap)
    paired_permutation = method(paired_tests.paired_permutation)
    system_ranks = method(system_ranks.system_ranks)
    gain_by_size = method(gain_studies.gain_by_size)
    population_calibration = method(calibration.population_calibration)
    gain_threshold = method(gain_studies.gain_threshold)
    calibration = method(calibration.calibration)


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
        found = import_module("rankeval_pd.dask_accessors").DaskAccessor(data)
    else:
        check_data(data)
        found = DatasetAccessor(data) if isinstance(data, xr.Dataset) else FrameAccessor(data)
    return found(**roles) if roles else found


# -------------------------- The accessor ``.rankeval.plot``, which stores data and roles


class Plots(Generic[Data]):
    """Provide the functions of :mod:`rankeval_pd.plotting` with the data filled in."""

    __slots__ = ("_data", "_roles")

    def __init__(self, data: Data, roles: Mapping[str, Any]) -> None:
        self._data: Data = data
        self._roles = roles

    def __repr__(self) -> str:
        return "\n".join(
            ["<plots of a rankeval accessor>", *(f"  .{name}()" for name in dir(self))]
        )

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
    recall_band = plot_method(plotting.recall_band)
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
    critical_difference = plot_method(plotting.critical_difference)
    odds_ratios = plot_method(plotting.odds_ratios)
    tie_sensitivity = plot_method(plotting.tie_sensitivity)
    mean_difference = plot_method(plotting.mean_difference)


LISTING = Listing.of(Accessor, Plots)
QUESTIONS, PLOTS = LISTING.questions, LISTING.plots
methods_of = LISTING.methods_of
