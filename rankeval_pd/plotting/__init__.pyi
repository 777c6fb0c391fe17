"""The plots, loaded at first use: type checkers and completion read them here."""

from .canvas import caption as caption
from .chance import area as area
from .chance import mean_difference as mean_difference
from .chance import odds_ratios as odds_ratios
from .chance import random_bound as random_bound
from .chance import random_cdf as random_cdf
from .chance import recall_band as recall_band
from .chance import tie_sensitivity as tie_sensitivity
from .cutoffs import det as det
from .cutoffs import gain as gain
from .cutoffs import lift as lift
from .cutoffs import precision_recall as precision_recall
from .cutoffs import roc as roc
from .item_differences import critical_difference as critical_difference
from .item_differences import paired_differences as paired_differences
from .legends import shared_legend as shared_legend
from .measures import comparison as comparison
from .measures import measure_ranks as measure_ranks
from .measures import precision as precision
from .measures import repetition as repetition
from .queries import interpolated_precision as interpolated_precision
from .queries import queries as queries
from .systems_over_items import calibration as calibration
from .systems_over_items import confidence as confidence
from .systems_over_items import gain_by_size as gain_by_size
from .systems_over_items import pairs as pairs
from .systems_over_items import system_ranks as system_ranks
from .tables import shown as shown

__all__: list[str]
