"""The plots, loaded at first use: type checkers and completion read them here."""

from .canvas import caption as caption
from .canvas import shared_legend as shared_legend
from .curves import det as det
from .curves import gain as gain
from .curves import lift as lift
from .curves import precision_recall as precision_recall
from .curves import roc as roc
from .items import calibration as calibration
from .items import confidence as confidence
from .items import critical_difference as critical_difference
from .items import gain_by_size as gain_by_size
from .items import interpolated_precision as interpolated_precision
from .items import paired_differences as paired_differences
from .items import pairs as pairs
from .items import queries as queries
from .items import system_ranks as system_ranks
from .panels import shown as shown
from .rankings import area as area
from .rankings import comparison as comparison
from .rankings import mean_difference as mean_difference
from .rankings import measure_ranks as measure_ranks
from .rankings import odds_ratios as odds_ratios
from .rankings import precision as precision
from .rankings import random_bound as random_bound
from .rankings import random_cdf as random_cdf
from .rankings import recall_band as recall_band
from .rankings import repetition as repetition
from .rankings import tie_sensitivity as tie_sensitivity

__all__: list[str]
