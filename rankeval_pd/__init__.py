"""Honest statistics for rankings: a ``.rankeval`` accessor for DataFrames and Datasets.

``import rankeval_pd`` registers the accessor; the same methods are functions here, with the data
as their first argument.
"""

from __future__ import annotations

import pandas as pd
import xarray as xr

from rankeval_pd import datasets, plotting
from rankeval_pd.accessors import DatasetAccessor, FrameAccessor
from rankeval_pd.areas import area, compare_area
from rankeval_pd.association import with_association_measures
from rankeval_pd.bands import difference_band, precision_band
from rankeval_pd.comparison import compare
from rankeval_pd.crossings import crossovers
from rankeval_pd.curves import (
    det,
    gain,
    isolines,
    lift,
    precision_recall,
    random_band,
    roc,
)
from rankeval_pd.effects import odds_ratios
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.gains import (
    calibration,
    detectable_gain,
    expected_agreement,
    gain_by_size,
    gain_threshold,
    needed_items,
    population_calibration,
)
from rankeval_pd.mean_difference import mean_difference
from rankeval_pd.precision import (
    acceptance_precision,
    local_precision,
    nbest_precision,
    precision_interval,
)
from rankeval_pd.random_model import (
    random_bound,
    random_bound_for,
    random_cdf,
    random_envelope,
    random_pvalue,
    random_pvalue_mean,
    random_test,
)
from rankeval_pd.ranges import significant_ranges
from rankeval_pd.regions import difference_region
from rankeval_pd.repetition import coverage_for, dispersion_for, repetition, repetition_samples
from rankeval_pd.resampling import (
    paired_bootstrap,
    paired_permutation,
    resample_counts,
    system_ranks,
)
from rankeval_pd.synthetic import synthetic_systems
from rankeval_pd.ties import tie_sensitivity

__version__ = "0.1.0"

__all__ = [
    "DatasetAccessor",
    "FrameAccessor",
    "RankevalWarning",
    "acceptance_precision",
    "area",
    "calibration",
    "compare",
    "compare_area",
    "coverage_for",
    "crossovers",
    "datasets",
    "det",
    "detectable_gain",
    "difference_band",
    "difference_region",
    "dispersion_for",
    "expected_agreement",
    "gain",
    "gain_by_size",
    "gain_threshold",
    "isolines",
    "lift",
    "local_precision",
    "mean_difference",
    "nbest_precision",
    "needed_items",
    "odds_ratios",
    "paired_bootstrap",
    "paired_permutation",
    "plotting",
    "population_calibration",
    "precision_band",
    "precision_interval",
    "precision_recall",
    "random_band",
    "random_bound",
    "random_bound_for",
    "random_cdf",
    "random_envelope",
    "random_pvalue",
    "random_pvalue_mean",
    "random_test",
    "repetition",
    "repetition_samples",
    "resample_counts",
    "roc",
    "significant_ranges",
    "synthetic_systems",
    "system_ranks",
    "tie_sensitivity",
    "with_association_measures",
]

pd.api.extensions.register_dataframe_accessor("rankeval")(FrameAccessor)
xr.register_dataset_accessor("rankeval")(DatasetAccessor)
