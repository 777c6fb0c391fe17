"""Evaluate rankings with a ``.rankeval`` accessor for DataFrames and Datasets.

``import rankeval_pd`` registers the accessor. Every method is also a function in this module, with
the data as its first argument. Functions are imported on first use. ``__init__.pyi`` lists the
functions for type checkers.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import lazy_loader
import pandas as pd
import xarray as xr

from rankeval_pd.registration import registered

__version__ = "0.1.0"

_HOMES = {
    "accessors": "DatasetAccessor FrameAccessor rankeval",
    "association": "with_association_measures",
    "chance.bounds": "random_bound random_cdf",
    "chance.crossovers": "crossovers random_envelope",
    "chance.published_chance": "random_bound_for random_pvalue random_pvalue_mean",
    "chance.random_tests": "random_test",
    "curves.area_differences": "compare_area",
    "curves.curve_references": "isolines random_band",
    "curves.curve_shapes": "det gain lift precision_recall roc",
    "curves.early_retrieval": "bedroc enrichment partial_area",
    "curves.ranking_areas": "area",
    "curves.unpaired_areas": "unpaired_area",
    "errors": "RankevalWarning",
    "forms.roles.options": "set_options",
    "judging.annotation_plans": "needed_candidates plan_annotation",
    "judging.annotation_sheets": "annotation_sheet with_judgements",
    "judging.annotator_agreement": "annotator_agreement",
    "judging.judged_lists": (
        "judged_average_precision judged_difference judged_precision judged_recall"
    ),
    "nbest.acceptance_sets": "acceptance_precision",
    "nbest.comparison": "compare",
    "nbest.difference_regions": "difference_region",
    "nbest.measure_verdicts": "measure_ranks",
    "nbest.odds_ratios": "odds_ratios",
    "nbest.precision": "nbest_precision precision_interval",
    "nbest.precision_bands": "difference_band local_precision precision_band",
    "nbest.published_lists": "compare_for coverage_for dispersion_for",
    "nbest.ranges": "mean_difference significant_ranges",
    "nbest.recall": "nbest_recall recall_band",
    "nbest.repetition": "repetition repetition_samples",
    "nbest.summary": "summary",
    "nbest.threshold_choice": "choose_threshold",
    "nbest.tie_sensitivity": "tie_sensitivity",
    "paper_tables": "paper_table",
    "queries.per_query": "per_query",
    "queries.trec_files": "read_trec write_trec",
    "systems.calibration": "calibration expected_agreement population_calibration",
    "systems.gain_studies": "gain_by_size gain_threshold",
    "systems.item_planning": "detectable_gain needed_items needed_seeds",
    "systems.item_sources": "from_sacrebleu resample_counts synthetic_systems",
    "systems.paired_tests": "paired_bootstrap paired_permutation",
    "systems.predictions": "from_predictions from_scores",
    "systems.published_accuracies": "compare_accuracies",
    "systems.system_ranks": "system_ranks",
    "words": "in_words",
}
_public, __dir__, __all__ = lazy_loader.attach(
    __name__, {"datasets", "plotting"}, {home: names.split() for home, names in _HOMES.items()}
)


def __getattr__(name: str) -> Any:
    """Import and return a public name or a module of this package."""
    if name not in __all__ and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    try:
        return _public(name)
    except AttributeError as error:
        if name.startswith("_") or name in __all__:
            raise
        overview = import_module(f"{__name__}.overview")
        said = overview.not_there(name, "public name", __all__, overview.SYNONYMS)
        said += f" {overview.TABLES}" if "Did you mean" in said else ""
        raise AttributeError(said, name=name) from error


pd.api.extensions.register_dataframe_accessor("rankeval")(registered("FrameAccessor"))
xr.register_dataset_accessor("rankeval")(registered("DatasetAccessor"))

if "dask.dataframe" in sys.modules:  # Dask is slow to import, so it is never imported here
    import_module("rankeval_pd.dask")
