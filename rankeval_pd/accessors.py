"""The accessors ``df.rankeval`` and ``ds.rankeval``: they hold data and roles, and forward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import association, plotting
from rankeval_pd.chance import bounds, crossovers, distribution, envelope, tests
from rankeval_pd.chance.bounds import random_bound as q_random_bound
from rankeval_pd.chance.crossovers import crossovers as q_crossovers
from rankeval_pd.chance.distribution import random_cdf as q_random_cdf
from rankeval_pd.chance.envelope import random_envelope as q_random_envelope
from rankeval_pd.curves import areas, references, shapes
from rankeval_pd.curves.references import isolines as q_isolines
from rankeval_pd.curves.references import random_band as q_random_band
from rankeval_pd.curves.shapes import det as q_det
from rankeval_pd.curves.shapes import gain as q_gain
from rankeval_pd.curves.shapes import lift as q_lift
from rankeval_pd.curves.shapes import precision_recall as q_precision_recall
from rankeval_pd.curves.shapes import roc as q_roc
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import CUTTING, AnyRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.forwarding import method
from rankeval_pd.nbest import (
    acceptance_precision,
    bands,
    comparison,
    local_precision,
    mean_difference,
    odds_ratios,
    precision,
    ranges,
    regions,
    repetition,
    tie_sensitivity,
)
from rankeval_pd.nbest.bands import precision_band as q_precision_band
from rankeval_pd.nbest.comparison import compare as q_compare
from rankeval_pd.nbest.precision import nbest_precision as q_nbest_precision
from rankeval_pd.nbest.repetition import repetition as q_repetition
from rankeval_pd.nbest.repetition import repetition_samples as q_repetition_samples
from rankeval_pd.overview import overview
from rankeval_pd.systems import calibration, paired_tests, ranks, sizes, thresholds
from rankeval_pd.systems.calibration import PAPER_BINS
from rankeval_pd.systems.calibration import calibration as q_calibration
from rankeval_pd.systems.paired_tests import Families
from rankeval_pd.systems.paired_tests import paired_bootstrap as q_paired_bootstrap
from rankeval_pd.systems.ranks import system_ranks as q_system_ranks
from rankeval_pd.systems.sizes import gain_by_size as q_gain_by_size
from rankeval_pd.systems.thresholds import gain_threshold as q_gain_threshold

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class Accessor(Generic[Data]):
    """The methods of ``.rankeval``: those of the functions with the data filled in.

    Calling the accessor returns a new one with roles filled in for a chain:
    ``df.rankeval(gold="tp").compare("G2", "X2")``.
    """

    def __init__(self, data: Data) -> None:
        self._data: Data = data
        self._roles: Mapping[str, Any] = {}

    @with_roles
    def __call__(self, **roles: Unpack[AnyRoles]) -> Self:
        """Return an accessor of the same data with these roles filled in.

        Parameters
        ----------
        **roles
            Which column is what, see the page "Roles of the columns".
        """
        Roles.of(roles)
        configured = type(self)(self._data)
        configured._roles = {**self._roles, **roles}
        return configured

    def __repr__(self) -> str:
        return overview(self._data, self._roles)

    @property
    def plot(self) -> Plots[Data]:
        """The plots of the methods' results."""
        return Plots(self._data, self._roles)

    nbest_precision = method(precision.nbest_precision)
    acceptance_precision = method(acceptance_precision.acceptance_precision)
    local_precision = method(local_precision.local_precision)
    precision_band = method(bands.precision_band)
    compare = method(comparison.compare)
    significant_ranges = method(ranges.significant_ranges)
    difference_band = method(bands.difference_band)
    mean_difference = method(mean_difference.mean_difference)
    odds_ratios = method(odds_ratios.odds_ratios)
    tie_sensitivity = method(tie_sensitivity.tie_sensitivity)
    difference_region = method(regions.difference_region)
    repetition_samples = method(repetition.repetition_samples)
    repetition = method(repetition.repetition)
    random_bound = method(bounds.random_bound)
    random_cdf = method(distribution.random_cdf)
    random_envelope = method(envelope.random_envelope)
    random_test = method(tests.random_test)
    crossovers = method(crossovers.crossovers)
    roc = method(shapes.roc)
    precision_recall = method(shapes.precision_recall)
    det = method(shapes.det)
    gain = method(shapes.gain)
    lift = method(shapes.lift)
    random_band = method(references.random_band)
    isolines = method(references.isolines)
    area = method(areas.area)
    compare_area = method(areas.compare_area)
    with_association_measures = method(association.with_association_measures)
    paired_bootstrap = method(paired_tests.paired_bootstrap)
    paired_permutation = method(paired_tests.paired_permutation)
    system_ranks = method(ranks.system_ranks)
    gain_by_size = method(sizes.gain_by_size)
    population_calibration = method(calibration.population_calibration)
    gain_threshold = method(thresholds.gain_threshold)
    calibration = method(calibration.calibration)


class FrameAccessor(Accessor[pd.DataFrame]):
    """Evaluate rankings: one row per candidate, one column of scores per measure, a gold label."""


class DatasetAccessor(Accessor[xr.Dataset]):
    """Evaluate rankings: one variable of scores per measure along a dimension of candidates."""


def _quietly(function: Callable[..., Data], *asked: Any, **options: Any) -> Data:
    """Call without the warning that a band is too narrow: the legend of the picture says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)
        return function(*asked, **options)


class Plots(Generic[Data]):
    """The plots of ``.rankeval.plot``: a method's result, drawn by :mod:`rankeval_pd.plotting`."""

    __slots__ = ("_data", "_roles")

    def __init__(self, data: Data, roles: Mapping[str, Any]) -> None:
        self._data: Data = data
        self._roles = roles

    def precision(
        self,
        n: Any = None,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        target: str = "region",
        phi: float = 1.0,
        simultaneous: bool = True,
        n_resamples: int = 1000,
        x: str = "n",
        mark: Sequence[int] = (),
        relevant: float = 0.0,
        reference: str | Sequence[str] = ("random",),
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.nbest_precision` by :func:`rankeval_pd.plotting.precision`.

        ``simultaneous`` adds :func:`rankeval_pd.precision_band`, at the n that can be seen.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        table = q_nbest_precision(
            self._data, n, ci=ci, level=level, target=target, phi=phi, **chosen
        )
        band = None
        if simultaneous and Roles.of(chosen).ties in CUTTING:
            band = _quietly(
                q_precision_band, self._data, plotting.shown(table), level=level,
                n_resamples=n_resamples, **chosen,
            )  # fmt: skip
        return plotting.precision(
            table, band, x=x, mark=mark, relevant=relevant, reference=reference, ax=ax,
            line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def comparison(
        self,
        a: Hashable = None,
        b: Hashable = None,
        n: Any = None,
        *,
        test: str = "fisher",
        alternative: str = "two-sided",
        alpha: float = 0.05,
        adjust: str | None = None,
        n_resamples: int = 999,
        level: float = 0.95,
        ci: str = "newcombe",
        target: str = "region",
        phi: float = 1.0,
        progress: bool | None = None,
        simultaneous: bool = True,
        x: str = "n",
        mark: Sequence[int] = (),
        relevant: float = 0.0,
        reference: str | Sequence[str] = (),
        overlap: bool = False,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.compare` by :func:`rankeval_pd.plotting.comparison`.

        ``simultaneous`` adds the comparison adjusted by "max-t" where nothing is adjusted, at the n
        that can be seen.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        options: dict[str, Any] = {
            "test": test, "alternative": alternative, "alpha": alpha, "n_resamples": n_resamples,
            "level": level, "ci": ci, "target": target, "phi": phi, "progress": progress, **chosen,
        }  # fmt: skip
        table = q_compare(self._data, a, b, n, adjust=adjust, **options)
        together = curves = None
        if simultaneous and adjust is None:
            shown = plotting.shown(table)
            together = q_compare(self._data, a, b, shown, adjust="max-t", **options)
        if x != "n" or reference:
            curves = q_nbest_precision(self._data, n, **chosen)
        return plotting.comparison(
            table, together, curves, x=x, mark=mark, relevant=relevant, reference=reference,
            overlap=overlap, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def repetition(
        self,
        threshold: float | Mapping[Hashable, float] | None = None,
        n: int | None = None,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Any:
        """Draw :func:`rankeval_pd.repetition` by :func:`rankeval_pd.plotting.repetition`."""
        chosen: dict[str, Any] = {**self._roles, **roles}
        asked = (self._data, threshold, n)
        return plotting.repetition(
            q_repetition(*asked, ci=ci, level=level, **chosen),
            q_repetition_samples(*asked, ci=ci, level=level, **chosen),
            ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def random_bound(
        self,
        p: float | Sequence[float] = 0.05,
        n: Any = None,
        *,
        population: str = "finite",
        simultaneous: bool = True,
        log: bool = False,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.random_bound` by :func:`rankeval_pd.plotting.random_bound`.

        ``simultaneous`` adds :func:`rankeval_pd.random_envelope` at alpha = p, of a finite
        population.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        bound = q_random_bound(self._data, p, n, population=population, **chosen)
        within = None if population == "infinite" else n
        table = q_nbest_precision(self._data, within, **chosen)
        envelope = None
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and population == "finite" and levels:
            envelope = q_random_envelope(self._data, levels, n, **chosen)
        return plotting.random_bound(
            bound, table, envelope, log=log, ax=ax, line_kw=line_kw, band_kw=band_kw,
            marker_kw=marker_kw,
        )  # fmt: skip

    def random_cdf(
        self,
        n: int,
        p: float | Sequence[float] = 0.5,
        *,
        population: str = "finite",
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.random_cdf` by :func:`rankeval_pd.plotting.random_cdf`.

        The bounds of :func:`rankeval_pd.random_bound` at p are marked.
        """
        chosen: dict[str, Any] = {**self._roles, **roles, "population": population}
        return plotting.random_cdf(
            q_random_cdf(self._data, n, **chosen),
            q_random_bound(self._data, p, n, **chosen),
            ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def roc(
        self,
        *,
        bands: float | Sequence[float] | None = None,
        isolines: int | Sequence[int] | None = None,
        simultaneous: bool = True,
        bound: str = "critical",
        crossovers: bool = False,
        log: bool = False,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.roc` by :func:`rankeval_pd.plotting.roc`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.roc(
            q_roc(self._data, **chosen),
            **self._beside("roc", bands, isolines, simultaneous, bound, crossovers, chosen),
            log=log, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def precision_recall(
        self,
        *,
        bands: float | Sequence[float] | None = None,
        isolines: int | Sequence[int] | None = None,
        simultaneous: bool = True,
        bound: str = "critical",
        crossovers: bool = False,
        log: bool = False,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.precision_recall` as :meth:`roc` draws ROC curves.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.precision_recall(
            q_precision_recall(self._data, **chosen),
            **self._beside(
                "precision_recall", bands, isolines, simultaneous, bound, crossovers, chosen
            ),
            log=log, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def det(
        self,
        *,
        bands: float | Sequence[float] | None = None,
        isolines: int | Sequence[int] | None = None,
        simultaneous: bool = True,
        bound: str = "critical",
        crossovers: bool = False,
        log: bool = True,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.det` by :func:`rankeval_pd.plotting.det`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.det(
            q_det(self._data, **chosen),
            **self._beside("det", bands, isolines, simultaneous, bound, crossovers, chosen),
            log=log, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def lift(
        self,
        fractions: float | Sequence[float] | None = None,
        *,
        bands: float | Sequence[float] | None = None,
        isolines: int | Sequence[int] | None = None,
        simultaneous: bool = True,
        bound: str = "critical",
        crossovers: bool = False,
        log: bool = True,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.lift` by :func:`rankeval_pd.plotting.lift`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.lift(
            q_lift(self._data, fractions, **chosen),
            **self._beside("lift", bands, isolines, simultaneous, bound, crossovers, chosen),
            log=log, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def gain(
        self,
        *,
        bands: float | Sequence[float] | None = None,
        isolines: int | Sequence[int] | None = None,
        simultaneous: bool = True,
        bound: str = "critical",
        crossovers: bool = False,
        log: bool = False,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.gain` by :func:`rankeval_pd.plotting.gain`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.gain(
            q_gain(self._data, **chosen),
            **self._beside("gain", bands, isolines, simultaneous, bound, crossovers, chosen),
            log=log, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw,
        )  # fmt: skip

    def _beside(
        self,
        space: str,
        p: float | Sequence[float] | None,
        n: int | Sequence[int] | None,
        simultaneous: bool,
        bound: str,
        crossovers: bool,
        chosen: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the tables of what is drawn beside a curve."""
        if p is None and crossovers:
            raise ValueError(
                "crossovers=True without bands: name the levels at which a measure is to cross"
                " what chance reaches, bands=0.05."
            )
        found: dict[str, Any] = {"bands": []}
        if p is not None:
            found["bands"].append(q_random_band(self._data, space, p, bound=bound, **chosen))
            if simultaneous:
                found["bands"].append(
                    q_random_band(self._data, space, p, simultaneous=True, **chosen)
                )
            if crossovers:
                found["crossovers"] = q_crossovers(self._data, p, bound=bound, **chosen)
        if n is not None:
            found["isolines"] = q_isolines(self._data, n, space, **chosen)
        return found

    def confidence(
        self,
        a: Hashable = None,
        b: Hashable = None,
        *,
        n_resamples: int = 10_000,
        event: str = "recentred",
        method: str = "auto",
        ci: str = "bca",
        families: Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.paired_bootstrap` by :func:`rankeval_pd.plotting.confidence`."""
        table = q_paired_bootstrap(
            self._data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
            families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.confidence(
            table,
            q_gain_threshold(table),
            ax=ax,
            line_kw=line_kw,
            band_kw=band_kw,
            marker_kw=marker_kw,
        )  # fmt: skip

    def pairs(
        self,
        a: Hashable = None,
        b: Hashable = None,
        *,
        n_resamples: int = 10_000,
        event: str = "recentred",
        method: str = "auto",
        ci: str = "bca",
        families: Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.paired_bootstrap` by :func:`rankeval_pd.plotting.pairs`."""
        table = q_paired_bootstrap(
            self._data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
            families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.pairs(table, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw)

    def system_ranks(
        self,
        *,
        n_resamples: int = 10_000,
        ci: str = "bca",
        adjust: str | None = "max-t",
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.system_ranks` by :func:`rankeval_pd.plotting.system_ranks`."""
        table = q_system_ranks(
            self._data, n_resamples=n_resamples, ci=ci, adjust=adjust, alpha=alpha, level=level,
            progress=progress, **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.system_ranks(
            table, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw
        )

    def gain_by_size(
        self,
        sizes: Sequence[int],
        *,
        draw: str = "prefix",
        n_resamples: int = 10_000,
        event: str = "recentred",
        method: str = "auto",
        ci: str = "bca",
        families: Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.gain_by_size` by :func:`rankeval_pd.plotting.gain_by_size`."""
        table = q_gain_by_size(
            self._data, sizes, draw=draw, n_resamples=n_resamples, event=event, method=method,
            ci=ci, families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.gain_by_size(
            table,
            q_gain_threshold(table),
            ax=ax,
            line_kw=line_kw,
            band_kw=band_kw,
            marker_kw=marker_kw,
        )  # fmt: skip

    def calibration(
        self,
        other: pd.DataFrame | xr.Dataset,
        *,
        bins: Sequence[float] = PAPER_BINS,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        n_resamples: int = 1000,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[AnyRoles],
    ) -> Axes:
        """Draw :func:`rankeval_pd.calibration` by :func:`rankeval_pd.plotting.calibration`."""
        table = q_calibration(
            self._data, other, bins=bins, ci=ci, level=level, n_resamples=n_resamples,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.calibration(
            table, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw
        )
