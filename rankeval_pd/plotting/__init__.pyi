"""The plots, loaded when first asked for: type checkers and completion read them here."""

from .chance import random_bound as random_bound
from .chance import random_cdf as random_cdf
from .cutoffs import det as det
from .cutoffs import gain as gain
from .cutoffs import lift as lift
from .cutoffs import precision_recall as precision_recall
from .cutoffs import roc as roc
from .differences import critical_difference as critical_difference
from .differences import paired_differences as paired_differences
from .drawing.canvas import shown as shown
from .drawing.legends import shared_legend as shared_legend
from .estimates import area as area
from .estimates import mean_difference as mean_difference
from .estimates import odds_ratios as odds_ratios
from .estimates import tie_sensitivity as tie_sensitivity
from .paired import calibration as calibration
from .paired import confidence as confidence
from .paired import gain_by_size as gain_by_size
from .paired import pairs as pairs
from .paired import system_ranks as system_ranks
from .rankings import comparison as comparison
from .rankings import precision as precision
from .rankings import repetition as repetition
from .ranks import measure_ranks as measure_ranks

__all__: list[str]
