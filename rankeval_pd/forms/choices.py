"""The choices of the options by name, and the type of list sizes: what type checkers know of them.

At run time the kernels' own tables say what there is; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

ListSizes = float | Sequence[float] | range | np.ndarray[Any, np.dtype[Any]] | None
"""Sizes of lists: whole numbers, shares between 0 and 1, several of one kind, None for every n."""

Adjustment = Literal["holm", "bonferroni", "bh", "by"]
FamilyAdjustment = Literal["holm", "bonferroni", "bh", "by", "max-t"]
AdjustOver = Literal["all", "group"]
Alternative = Literal["two-sided", "greater", "less"]
AreaInterval = Literal["newcombe", "delong", "logit"]
AreaKind = Literal["roc", "ap"]
AreaTest = Literal["t", "delong"]
Bound = Literal["critical", "discrete", "interpolated", "parametric"]
CalibrationInterval = Literal["clopper-pearson", "systems"]
ComparedShare = Literal["precision", "recall", "lift"]
DifferenceInterval = Literal["score", "newcombe", "agresti-caffo", "miettinen-nurminen", "delta"]
Draw = Literal["prefix", "random"]
EqualScores = Literal["block", "mean"]
Event = Literal["wild", "recentred", "strict", "zero", "bias-corrected", "studentised"]
GainInterval = Literal[
    "wild", "bca", "percentile", "basic", "studentised", "tango", "newcombe"
]  # fmt: skip
LawMethod = Literal["auto", "exact", "monte-carlo"]
PopulationKind = Literal["finite", "infinite"]
ProportionInterval = Literal["clopper-pearson", "wilson", "jeffreys", "midp", "blaker"]
RankKind = Literal["simultaneous", "percentile"]
RecallBand = Literal["clopper-pearson", "emproc", "emproc-plus"]
RegionTest = Literal["fisher", "midp", "mcnemar", "boschloo", "barnard", "score"]
ScoreInterval = Literal["wild", "clopper-pearson", "bca", "percentile", "basic"]
Space = Literal["roc", "precision_recall", "det", "lift", "gain"]
TailMethod = Literal["discrete", "interpolated", "parametric"]
Target = Literal["region", "nbest"]
TextMetric = Literal["bleu", "chrf", "ter"]
ThresholdInterval = Literal["order", "systems"]
Across = Literal["n", "share", "recall"]
