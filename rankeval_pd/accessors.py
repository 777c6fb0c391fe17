"""The accessors ``df.rankeval`` and ``ds.rankeval``: they hold data and roles, and forward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Unpack

import pandas as pd
import xarray as xr

from rankeval_pd import association
from rankeval_pd.chance import bounds, crossovers, distribution, envelope, tests
from rankeval_pd.curves import area_pairs, areas, early, references, shapes, unpaired
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.recognised import form_of
from rankeval_pd.forms.roles import AnyRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.forwarding import frame_method, method
from rankeval_pd.guide import SYNONYMS, methods_of, not_there
from rankeval_pd.judging import partial, planning, sheets
from rankeval_pd.nbest import (
    acceptance_precision,
    bands,
    choose_threshold,
    comparison,
    local_precision,
    mean_difference,
    odds_ratios,
    precision,
    ranges,
    recall,
    regions,
    repetition,
    summary,
    tie_sensitivity,
)
from rankeval_pd.nbest import ranks as nbest_ranks
from rankeval_pd.overview import overview, overview_html
from rankeval_pd.plot_accessor import Plots
from rankeval_pd.queries import per_query
from rankeval_pd.systems import calibration, paired_tests, ranks, sizes, thresholds

if TYPE_CHECKING:
    from typing import Self


class Accessor(Generic[Data]):
    """The methods of ``.rankeval``: those of the functions with the data filled in.

    Calling the accessor returns a new one with roles filled in for a chain:
    ``df.rankeval(gold="tp").compare("G2", "X2")``.
    """

    def __init__(self, data: Data) -> None:
        self._data: Data = data
        self._roles: Mapping[str, Any] = {}

    @with_roles
    def __call__(self, **roles: Unpack[AnyRoles]) -> Self:
        """Return an accessor of the same data with these roles filled in.

        Parameters
        ----------
        **roles
            Which column is what, see the page "Roles of the columns".
        """
        Roles.configured(roles)
        configured = type(self)(self._data)
        configured._roles = {**self._roles, **roles}
        return configured

    def __repr__(self) -> str:
        return overview(self._data, self._roles)

    def _repr_html_(self) -> str:
        return overview_html(self._data, self._roles)

    def __dir__(self) -> list[str]:
        return [*methods_of(form_of(self._data, self._roles)), "plot"]

    if not TYPE_CHECKING:  # a type checker is to see what is there, and nothing else

        def __getattr__(self, name: str) -> Any:
            known = [*methods_of("rankings"), *methods_of("items"), *methods_of("pairs")]
            raise AttributeError(not_there(name, "method", known, SYNONYMS))

    @property
    def plot(self) -> Plots[Data]:
        """The plots of the methods' results."""
        return Plots(self._data, self._roles)

    nbest_precision = method(precision.nbest_precision)
    acceptance_precision = method(acceptance_precision.acceptance_precision)
    choose_threshold = method(choose_threshold.choose_threshold)
    local_precision = method(local_precision.local_precision)
    nbest_recall = method(recall.nbest_recall)
    recall_band = method(recall.recall_band)
    precision_band = method(bands.precision_band)
    compare = method(comparison.compare)
    significant_ranges = method(ranges.significant_ranges)
    difference_band = method(bands.difference_band)
    judged_precision = method(partial.judged_precision)
    judged_recall = method(partial.judged_recall)
    judged_average_precision = method(partial.judged_average_precision)
    judged_difference = method(partial.judged_difference)
    plan_annotation = frame_method(planning.plan_annotation)
    annotation_sheet = frame_method(sheets.annotation_sheet)
    with_judgements = frame_method(sheets.with_judgements)
    measure_ranks = method(nbest_ranks.measure_ranks)
    summary = method(summary.summary)
    mean_difference = method(mean_difference.mean_difference)
    odds_ratios = method(odds_ratios.odds_ratios)
    tie_sensitivity = method(tie_sensitivity.tie_sensitivity)
    difference_region = method(regions.difference_region)
    repetition_samples = method(repetition.repetition_samples)
    repetition = method(repetition.repetition)
    random_bound = method(bounds.random_bound)
    random_cdf = method(distribution.random_cdf)
    random_envelope = method(envelope.random_envelope)
    random_test = method(tests.random_test)
    crossovers = method(crossovers.crossovers)
    roc = method(shapes.roc)
    precision_recall = method(shapes.precision_recall)
    det = method(shapes.det)
    gain = method(shapes.gain)
    lift = method(shapes.lift)
    random_band = method(references.random_band)
    isolines = method(references.isolines)
    area = method(areas.area)
    compare_area = method(area_pairs.compare_area)
    unpaired_area = method(unpaired.unpaired_area)
    partial_area = method(early.partial_area)
    bedroc = method(early.bedroc)
    enrichment = method(early.enrichment)
    with_association_measures = method(association.with_association_measures)
    per_query = method(per_query.per_query)
    paired_bootstrap = method(paired_tests.paired_bootstrap)
    paired_permutation = method(paired_tests.paired_permutation)
    system_ranks = method(ranks.system_ranks)
    gain_by_size = method(sizes.gain_by_size)
    population_calibration = method(calibration.population_calibration)
    gain_threshold = method(thresholds.gain_threshold)
    calibration = method(calibration.calibration)


class FrameAccessor(Accessor[pd.DataFrame]):
    """Evaluate rankings: one row per candidate, one column of scores per measure, a gold label.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval(gold="gold", measures=["good"]).nbest_precision(50)["tp"].tolist()
    [26]
    """


class DatasetAccessor(Accessor[xr.Dataset]):
    """Evaluate rankings: one variable of scores per measure along a dimension of candidates.

    Examples
    --------
    >>> import rankeval_pd
    >>> ds = rankeval_pd.datasets.simulate_candidates(500).rename_axis("candidate").to_xarray()
    >>> ds.rankeval(measures="good").nbest_precision(50)["tp"].values.tolist()
    [[26]]
    """
