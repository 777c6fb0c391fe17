"""The plots of ``.rankeval.plot``: they hold data and roles, and forward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic

from rankeval_pd import plotting
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.recognised import form_of
from rankeval_pd.forwarding import plot_method
from rankeval_pd.guide import PLOT_SYNONYMS, PLOTS, not_there


class Plots(Generic[Data]):
    """The plots of ``.rankeval.plot``: those of :mod:`rankeval_pd.plotting`, the data filled in."""

    __slots__ = ("_data", "_roles")

    def __init__(self, data: Data, roles: Mapping[str, Any]) -> None:
        self._data: Data = data
        self._roles = roles

    def __repr__(self) -> str:
        return "\n".join(
            ["<plots of a rankeval accessor>", *(f"  .{name}()" for name in dir(self))]
        )

    def __dir__(self) -> list[str]:
        return list(PLOTS[form_of(self._data, self._roles)])

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            known = dict.fromkeys(plot for plots in PLOTS.values() for plot in plots)
            raise AttributeError(not_there(name, "plot", known, PLOT_SYNONYMS))

    precision = plot_method(plotting.precision)
    comparison = plot_method(plotting.comparison)
    repetition = plot_method(plotting.repetition)
    random_bound = plot_method(plotting.random_bound)
    random_cdf = plot_method(plotting.random_cdf)
    roc = plot_method(plotting.roc)
    precision_recall = plot_method(plotting.precision_recall)
    det = plot_method(plotting.det)
    lift = plot_method(plotting.lift)
    gain = plot_method(plotting.gain)
    confidence = plot_method(plotting.confidence)
    pairs = plot_method(plotting.pairs)
    system_ranks = plot_method(plotting.system_ranks)
    gain_by_size = plot_method(plotting.gain_by_size)
    calibration = plot_method(plotting.calibration)
    area = plot_method(plotting.area)
    measure_ranks = plot_method(plotting.measure_ranks)
    odds_ratios = plot_method(plotting.odds_ratios)
    tie_sensitivity = plot_method(plotting.tie_sensitivity)
    mean_difference = plot_method(plotting.mean_difference)
    paired_differences = plot_method(plotting.paired_differences)
    critical_difference = plot_method(plotting.critical_difference)
