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

from rankeval_pd.registration import register_with_dask, registered

__version__ = "0.1.0"

_HOMES = {
    "association": "with_association_measures",
    "chance.bounds": "crossovers random_bound random_cdf",
    "chance.random_tests": "random_bound_for random_pvalue random_test",
    "curves.area_differences": "compare_area",
    "curves.areas": "area unpaired_area",
    "curves.early_retrieval": "bedroc enrichment partial_area",
    "curves.shapes": "det gain isolines lift precision_recall random_band roc",
    "errors": "RankevalWarning",
    "judging.annotation": (
        "annotation_sheet annotator_agreement needed_candidates plan_annotation with_judgements"
    ),
    "judging.judged": "judged_difference judged_precision judged_recall",
    "lists.acceptance": "acceptance_precision choose_threshold compare_thresholds",
    "lists.comparison": "compare",
    "lists.measure_ranks": "measure_ranks",
    "lists.precision": "difference_band nbest_precision precision_band precision_interval",
    "lists.ranges": "significant_ranges",
    "lists.recall": "nbest_recall",
    "lists.regions": "difference_region tie_sensitivity",
    "lists.repetition": "compare_for coverage_for dispersion_for repetition repetition_samples",
    "lists.summary": "summary",
    "options": "set_options",
    "paper_tables": "paper_table",
    "queries.per_query": "per_query",
    "queries.trec_files": "read_trec write_trec",
    "systems.planning": "compare_accuracies detectable_gain needed_items needed_seeds",
    "systems.sources": (
        "from_predictions from_sacrebleu from_scores resample_counts synthetic_systems"
    ),
    "systems.studies": (
        "calibration expected_agreement gain_by_size gain_threshold population_calibration"
    ),
    "systems.tests": "paired_bootstrap paired_permutation system_ranks",
    "words": "in_words",
}
_public, _, __all__ = lazy_loader.attach(
    __name__, {"datasets", "plotting"}, {home: names.split() for home, names in _HOMES.items()}
)
_ACCESSORS = ["DatasetAccessor", "FrameAccessor", "rankeval"]  # their methods are the functions
__all__ = sorted([*__all__, *_ACCESSORS])


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


def __getattr__(name: str) -> Any:
    """Import and return a public name or a module of this package."""
    if name not in __all__ and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    if name in _ACCESSORS:
        return getattr(import_module(f"{__name__}.accessors"), name)
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
    register_with_dask()
