"""The plots, loaded at first use: type checkers and completion read them here."""

from .canvas import caption as caption
from .canvas import shared_legend as shared_legend
from .curves import det as det
from .curves import gain as gain
from .curves import lift as lift
from .curves import precision_recall as precision_recall
from .curves import roc as roc
from .forests import area as area
from .forests import measure_ranks as measure_ranks
from .forests import repetition as repetition
from .forests import system_ranks as system_ranks
from .lists import comparison as comparison
from .lists import precision as precision
from .lists import random_bound as random_bound
from .lists import random_cdf as random_cdf
from .lists import tie_sensitivity as tie_sensitivity
from .systems import calibration as calibration
from .systems import confidence as confidence
from .systems import gain_by_size as gain_by_size
from .systems import interpolated_precision as interpolated_precision
from .systems import paired_differences as paired_differences
from .systems import pairs as pairs
from .systems import queries as queries

__all__: list[str]
