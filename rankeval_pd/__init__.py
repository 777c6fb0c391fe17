"""Honest statistics for rankings: a ``.rankeval`` accessor for DataFrames and Datasets.

``import rankeval_pd`` registers the accessor; the same methods are functions here, with the data
as their first argument.
"""

from __future__ import annotations

import pandas as pd
import xarray as xr

from rankeval_pd import datasets, plotting
from rankeval_pd.accessors import DatasetAccessor, FrameAccessor
from rankeval_pd.association import with_association_measures
from rankeval_pd.chance.bounds import random_bound
from rankeval_pd.chance.crossovers import crossovers
from rankeval_pd.chance.distribution import random_cdf
from rankeval_pd.chance.envelope import random_envelope
from rankeval_pd.chance.published import random_bound_for, random_pvalue, random_pvalue_mean
from rankeval_pd.chance.tests import random_test
from rankeval_pd.curves.areas import area, compare_area
from rankeval_pd.curves.references import isolines, random_band
from rankeval_pd.curves.shapes import det, gain, lift, precision_recall, roc
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.judging.partial import judged_difference, judged_precision
from rankeval_pd.judging.planning import needed_candidates, plan_annotation
from rankeval_pd.judging.sheets import annotation_sheet, with_judgements
from rankeval_pd.nbest.acceptance_precision import acceptance_precision
from rankeval_pd.nbest.bands import difference_band, precision_band
from rankeval_pd.nbest.choose_threshold import choose_threshold
from rankeval_pd.nbest.comparison import compare
from rankeval_pd.nbest.local_precision import local_precision
from rankeval_pd.nbest.mean_difference import mean_difference
from rankeval_pd.nbest.odds_ratios import odds_ratios
from rankeval_pd.nbest.precision import nbest_precision
from rankeval_pd.nbest.precision_intervals import precision_interval
from rankeval_pd.nbest.published_comparison import compare_for
from rankeval_pd.nbest.published_repetition import coverage_for, dispersion_for
from rankeval_pd.nbest.ranges import significant_ranges
from rankeval_pd.nbest.ranks import measure_ranks
from rankeval_pd.nbest.regions import difference_region
from rankeval_pd.nbest.repetition import repetition, repetition_samples
from rankeval_pd.nbest.summary import summary
from rankeval_pd.nbest.tie_sensitivity import tie_sensitivity
from rankeval_pd.queries.per_query import per_query
from rankeval_pd.queries.trec_files import read_trec, write_trec
from rankeval_pd.systems.calibration import calibration, population_calibration
from rankeval_pd.systems.paired_tests import paired_bootstrap, paired_permutation, resample_counts
from rankeval_pd.systems.planning import detectable_gain, expected_agreement, needed_items
from rankeval_pd.systems.ranks import system_ranks
from rankeval_pd.systems.sizes import gain_by_size
from rankeval_pd.systems.synthetic import synthetic_systems
from rankeval_pd.systems.thresholds import gain_threshold
from rankeval_pd.words import in_words

__version__ = "0.1.0"

__all__ = [
    "DatasetAccessor",
    "FrameAccessor",
    "RankevalWarning",
    "acceptance_precision",
    "annotation_sheet",
    "area",
    "calibration",
    "choose_threshold",
    "compare",
    "compare_area",
    "compare_for",
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
    "in_words",
    "isolines",
    "judged_difference",
    "judged_precision",
    "lift",
    "local_precision",
    "mean_difference",
    "measure_ranks",
    "nbest_precision",
    "needed_candidates",
    "needed_items",
    "odds_ratios",
    "paired_bootstrap",
    "paired_permutation",
    "per_query",
    "plan_annotation",
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
    "read_trec",
    "repetition",
    "repetition_samples",
    "resample_counts",
    "roc",
    "significant_ranges",
    "summary",
    "synthetic_systems",
    "system_ranks",
    "tie_sensitivity",
    "with_association_measures",
    "with_judgements",
    "write_trec",
]

pd.api.extensions.register_dataframe_accessor("rankeval")(FrameAccessor)
xr.register_dataset_accessor("rankeval")(DatasetAccessor)


def __dir__() -> list[str]:
    return sorted(__all__)
