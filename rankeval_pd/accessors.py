"""The accessors ``df.rankeval`` and ``ds.rankeval``: they hold data and roles, and forward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import (
    areas,
    association,
    bands,
    comparison,
    crossings,
    curves,
    effects,
    gains,
    mean_difference,
    plotting,
    precision,
    random_model,
    ranges,
    regions,
    repetition,
    resampling,
    ties,
)
from rankeval_pd.candidates import Data
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.overview import overview
from rankeval_pd.roles import CUTTING, RoleKeywords, Roles

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

    def __call__(self, **roles: Unpack[RoleKeywords]) -> Self:
        """Return an accessor of the same data with these roles filled in.

        Parameters
        ----------
        **roles
            ``gold``, ``measures``, ``by``, ``key``, ``lower_is_better``, ``ties``, ``missing``,
            ``rng``, ``dim``, and for systems over test items ``metric``, ``higher_is_better``,
            ``groups``: which column is what, see the page "Roles of the columns".
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

    def nbest_precision(
        self,
        n: Any = None,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        target: str = "region",
        phi: float = 1.0,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.nbest_precision`: precision of n-best lists, with intervals."""
        return precision.nbest_precision(
            self._data, n, ci=ci, level=level, target=target, phi=phi, **{**self._roles, **roles}
        )

    def acceptance_precision(
        self,
        threshold: float | Mapping[Hashable, Any],
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        phi: float = 1.0,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.acceptance_precision`: precision of what thresholds accept."""
        return precision.acceptance_precision(
            self._data, threshold, ci=ci, level=level, phi=phi, **{**self._roles, **roles}
        )

    def local_precision(
        self,
        window: int = 400,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.local_precision`: precision around each rank."""
        return precision.local_precision(
            self._data, window, ci=ci, level=level, **{**self._roles, **roles}
        )

    def precision_band(
        self,
        n: Any = None,
        *,
        level: float = 0.95,
        n_resamples: int = 1000,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.precision_band`: a band for all n together."""
        return bands.precision_band(
            self._data, n, level=level, n_resamples=n_resamples, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip

    def compare(
        self,
        a: Hashable = None,
        b: Hashable = None,
        n: Any = None,
        *,
        threshold: Mapping[Hashable, Any] | None = None,
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
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.compare`: is one measure better than another, or is it chance?"""
        return comparison.compare(
            self._data, a, b, n, threshold=threshold, test=test, alternative=alternative,
            alpha=alpha, adjust=adjust, n_resamples=n_resamples, level=level, ci=ci, target=target,
            phi=phi, progress=progress, **{**self._roles, **roles},
        )  # fmt: skip

    def significant_ranges(
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
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.significant_ranges`: at which n is one measure better?"""
        return ranges.significant_ranges(
            self._data, a, b, n, test=test, alternative=alternative, alpha=alpha, adjust=adjust,
            n_resamples=n_resamples, level=level, ci=ci, target=target, phi=phi, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip

    def difference_band(
        self,
        a: Hashable = None,
        b: Hashable = None,
        n: Any = None,
        *,
        level: float = 0.95,
        n_resamples: int = 1000,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.difference_band`: the difference of curves, all n together."""
        return bands.difference_band(
            self._data, a, b, n, level=level, n_resamples=n_resamples, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip

    def mean_difference(
        self,
        a: Hashable,
        b: Hashable,
        n: Any,
        *,
        alternative: str = "two-sided",
        n_resamples: int = 9999,
        level: float = 0.95,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.mean_difference`: one test over a range of n."""
        return mean_difference.mean_difference(
            self._data, a, b, n, alternative=alternative, n_resamples=n_resamples, level=level,
            progress=progress, **{**self._roles, **roles},
        )  # fmt: skip

    def odds_ratios(
        self,
        a: Hashable,
        b: Hashable,
        n: Any,
        *,
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.odds_ratios`: odds ratios with exact intervals."""
        return effects.odds_ratios(self._data, a, b, n, level=level, **{**self._roles, **roles})

    def tie_sensitivity(
        self,
        a: Hashable,
        b: Hashable,
        n: Any,
        *,
        n_keys: int = 20,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.tie_sensitivity`: does the order of equal scores matter?"""
        return ties.tie_sensitivity(self._data, a, b, n, n_keys=n_keys, **{**self._roles, **roles})

    def difference_region(
        self, a: Hashable, b: Hashable, n: int, **roles: Unpack[RoleKeywords]
    ) -> Data:
        """Call :func:`rankeval_pd.difference_region`: the candidates that only one list has."""
        return regions.difference_region(self._data, a, b, n, **{**self._roles, **roles})

    def repetition(
        self,
        threshold: float | Mapping[Hashable, float] | None = None,
        n: int | None = None,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.repetition`: does precision vary as the model says?"""
        return repetition.repetition(
            self._data, threshold, n, ci=ci, level=level, **{**self._roles, **roles}
        )

    def repetition_samples(
        self,
        threshold: float | Mapping[Hashable, float] | None = None,
        n: int | None = None,
        *,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.repetition_samples`: the precision of every sample."""
        return repetition.repetition_samples(
            self._data, threshold, n, ci=ci, level=level, **{**self._roles, **roles}
        )

    def random_bound(
        self,
        p: float | Sequence[float] = 0.05,
        n: Any = None,
        *,
        population: str = "finite",
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.random_bound`: what does a random ranking reach?"""
        return random_model.random_bound(
            self._data, p, n, population=population, **{**self._roles, **roles}
        )

    def random_cdf(
        self, n: Any, *, population: str = "finite", **roles: Unpack[RoleKeywords]
    ) -> Data:
        """Call :func:`rankeval_pd.random_cdf`: how are a random list's positives distributed?"""
        return random_model.random_cdf(
            self._data, n, population=population, **{**self._roles, **roles}
        )

    def random_envelope(
        self,
        alpha: float | Sequence[float] = 0.05,
        n: Any = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.random_envelope`: what does it reach at any n at all?"""
        return random_model.random_envelope(self._data, alpha, n, **{**self._roles, **roles})

    def random_test(
        self,
        n: Any = None,
        *,
        adjust: str | None = None,
        combine: bool = False,
        population: str = "finite",
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.random_test`: is a measure better than a random ranking?"""
        return random_model.random_test(
            self._data, n, adjust=adjust, combine=combine, population=population,
            **{**self._roles, **roles},
        )  # fmt: skip

    def crossovers(
        self,
        p: float | Sequence[float] = 0.05,
        *,
        contiguous: int = 2,
        bound: str = "critical",
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.crossovers`: from which n on is a measure above chance?"""
        return crossings.crossovers(
            self._data, p, contiguous=contiguous, bound=bound, **{**self._roles, **roles}
        )

    def roc(self, **roles: Unpack[RoleKeywords]) -> Data:
        """Call :func:`rankeval_pd.roc`: the ROC curve."""
        return curves.roc(self._data, **{**self._roles, **roles})

    def precision_recall(self, **roles: Unpack[RoleKeywords]) -> Data:
        """Call :func:`rankeval_pd.precision_recall`: the precision-recall curve."""
        return curves.precision_recall(self._data, **{**self._roles, **roles})

    def det(self, **roles: Unpack[RoleKeywords]) -> Data:
        """Call :func:`rankeval_pd.det`: both kinds of error against each other."""
        return curves.det(self._data, **{**self._roles, **roles})

    def gain(self, **roles: Unpack[RoleKeywords]) -> Data:
        """Call :func:`rankeval_pd.gain`: true positives found against candidates looked at."""
        return curves.gain(self._data, **{**self._roles, **roles})

    def lift(
        self,
        fractions: float | Sequence[float] | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.lift`: precision over that of a random choice."""
        return curves.lift(self._data, fractions, **{**self._roles, **roles})

    def random_band(
        self,
        space: str = "roc",
        p: float | Sequence[float] = 0.05,
        n: Any = None,
        *,
        simultaneous: bool = False,
        bound: str = "critical",
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.random_band`: what chance does not reach, beside a curve."""
        return curves.random_band(
            self._data, space, p, n, simultaneous=simultaneous, bound=bound,
            **{**self._roles, **roles},
        )  # fmt: skip

    def isolines(self, n: Any, space: str = "roc", **roles: Unpack[RoleKeywords]) -> Data:
        """Call :func:`rankeval_pd.isolines`: where all lists of n lie beside a curve."""
        return curves.isolines(self._data, n, space, **{**self._roles, **roles})

    def area(
        self, kind: str = "roc", *, level: float = 0.95, **roles: Unpack[RoleKeywords]
    ) -> Data:
        """Call :func:`rankeval_pd.area`: the area under the ROC curve, or average precision."""
        return areas.area(self._data, kind, level=level, **{**self._roles, **roles})

    def compare_area(
        self,
        a: Hashable = None,
        b: Hashable = None,
        *,
        adjust: str | None = None,
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.compare_area`: DeLong's test of two areas."""
        return areas.compare_area(
            self._data, a, b, adjust=adjust, level=level, **{**self._roles, **roles}
        )

    def with_association_measures(
        self,
        measures: str | Sequence[str] | None = None,
        cells: Sequence[str] = ("O11", "O12", "O21", "O22"),
    ) -> Data:
        """Call :func:`rankeval_pd.with_association_measures`: add scores of 2x2 tables."""
        return association.with_association_measures(self._data, measures, cells)

    # ------------------------------------------------------------------ systems over test items

    def paired_bootstrap(
        self,
        a: Hashable = None,
        b: Hashable = None,
        *,
        n_resamples: int = 10_000,
        event: str = "recentred",
        method: str = "auto",
        ci: str = "bca",
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.paired_bootstrap`: is the gain of a system real?"""
        return resampling.paired_bootstrap(
            self._data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
            families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip

    def paired_permutation(
        self,
        a: Hashable = None,
        b: Hashable = None,
        *,
        n_resamples: int = 10_000,
        method: str = "auto",
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.paired_permutation`: the same by approximate randomization."""
        return resampling.paired_permutation(
            self._data, a, b, n_resamples=n_resamples, method=method, families=families,
            adjust=adjust, alpha=alpha, level=level, progress=progress, **{**self._roles, **roles},
        )  # fmt: skip

    def system_ranks(
        self,
        *,
        n_resamples: int = 10_000,
        ci: str = "bca",
        adjust: str | None = "max-t",
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.system_ranks`: which system is best, and how sure is that?"""
        return resampling.system_ranks(
            self._data, n_resamples=n_resamples, ci=ci, adjust=adjust, alpha=alpha, level=level,
            progress=progress, **{**self._roles, **roles},
        )  # fmt: skip

    def gain_by_size(
        self,
        sizes: Sequence[int],
        *,
        draw: str = "prefix",
        n_resamples: int = 10_000,
        event: str = "recentred",
        method: str = "auto",
        ci: str = "bca",
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.gain_by_size`: all pairs on test sets of several sizes."""
        return gains.gain_by_size(
            self._data, sizes, draw=draw, n_resamples=n_resamples, event=event, method=method,
            ci=ci, families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip

    def population_calibration(
        self,
        n_items: int,
        *,
        n_test_sets: int = 10,
        bins: Sequence[float] = (0.04, 0.06),
        n_resamples: int = 1000,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.population_calibration`: does a sample show the right sign?"""
        return gains.population_calibration(
            self._data, n_items, n_test_sets=n_test_sets, bins=bins, n_resamples=n_resamples,
            ci=ci, level=level, **{**self._roles, **roles},
        )  # fmt: skip

    def gain_threshold(
        self,
        *,
        window: tuple[float, float] = (0.04, 0.06),
        quantile: float = 0.95,
        relation: Hashable = None,
        n_items: int | None = None,
        ci: str = "order",
        level: float = 0.95,
        n_resamples: int = 1000,
        rng: int | np.random.Generator | None = 0,
    ) -> Data:
        """Call :func:`rankeval_pd.gain_threshold`, of a table of pairs: what is significant?"""
        return gains.gain_threshold(
            self._data, window=window, quantile=quantile, relation=relation, n_items=n_items,
            ci=ci, level=level, n_resamples=n_resamples, rng=rng,
        )  # fmt: skip

    def calibration(
        self,
        other: pd.DataFrame | xr.Dataset,
        *,
        bins: Sequence[float] = gains.PAPER_BINS,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        n_resamples: int = 1000,
        **roles: Unpack[RoleKeywords],
    ) -> Data:
        """Call :func:`rankeval_pd.calibration`, of a table of pairs: do gains keep their sign?"""
        return gains.calibration(
            self._data, other, bins=bins, ci=ci, level=level, n_resamples=n_resamples,
            **{**self._roles, **roles},
        )  # fmt: skip


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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.nbest_precision` by :func:`rankeval_pd.plotting.precision`.

        ``simultaneous`` adds :func:`rankeval_pd.precision_band`, at the n that can be seen.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        table = precision.nbest_precision(
            self._data, n, ci=ci, level=level, target=target, phi=phi, **chosen
        )
        band = None
        if simultaneous and Roles.of(chosen).ties in CUTTING:
            band = _quietly(
                bands.precision_band, self._data, plotting.shown(table), level=level,
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
        **roles: Unpack[RoleKeywords],
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
        table = comparison.compare(self._data, a, b, n, adjust=adjust, **options)
        together = curves = None
        if simultaneous and adjust is None:
            shown = plotting.shown(table)
            together = comparison.compare(self._data, a, b, shown, adjust="max-t", **options)
        if x != "n" or reference:
            curves = precision.nbest_precision(self._data, n, **chosen)
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
        **roles: Unpack[RoleKeywords],
    ) -> Any:
        """Draw :func:`rankeval_pd.repetition` by :func:`rankeval_pd.plotting.repetition`."""
        chosen: dict[str, Any] = {**self._roles, **roles}
        asked = (self._data, threshold, n)
        return plotting.repetition(
            repetition.repetition(*asked, ci=ci, level=level, **chosen),
            repetition.repetition_samples(*asked, ci=ci, level=level, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.random_bound` by :func:`rankeval_pd.plotting.random_bound`.

        ``simultaneous`` adds :func:`rankeval_pd.random_envelope` at alpha = p, of a finite
        population.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        bound = random_model.random_bound(self._data, p, n, population=population, **chosen)
        within = None if population == "infinite" else n
        table = precision.nbest_precision(self._data, within, **chosen)
        envelope = None
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and population == "finite" and levels:
            envelope = random_model.random_envelope(self._data, levels, n, **chosen)
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.random_cdf` by :func:`rankeval_pd.plotting.random_cdf`.

        The bounds of :func:`rankeval_pd.random_bound` at p are marked.
        """
        chosen: dict[str, Any] = {**self._roles, **roles, "population": population}
        return plotting.random_cdf(
            random_model.random_cdf(self._data, n, **chosen),
            random_model.random_bound(self._data, p, n, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.roc` by :func:`rankeval_pd.plotting.roc`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.roc(
            curves.roc(self._data, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.precision_recall` as :meth:`roc` draws ROC curves.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.precision_recall(
            curves.precision_recall(self._data, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.det` by :func:`rankeval_pd.plotting.det`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.det(
            curves.det(self._data, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.lift` by :func:`rankeval_pd.plotting.lift`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.lift(
            curves.lift(self._data, fractions, **chosen),
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.gain` by :func:`rankeval_pd.plotting.gain`.

        ``bands`` are levels p of :func:`rankeval_pd.random_band`, each n alone and, with
        ``simultaneous``, all n together; ``isolines`` are n of :func:`rankeval_pd.isolines`;
        ``crossovers`` marks those of :func:`rankeval_pd.crossovers` at these p.
        """
        chosen: dict[str, Any] = {**self._roles, **roles}
        return plotting.gain(
            curves.gain(self._data, **chosen),
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
            found["bands"].append(curves.random_band(self._data, space, p, bound=bound, **chosen))
            if simultaneous:
                found["bands"].append(
                    curves.random_band(self._data, space, p, simultaneous=True, **chosen)
                )
            if crossovers:
                found["crossovers"] = crossings.crossovers(self._data, p, bound=bound, **chosen)
        if n is not None:
            found["isolines"] = curves.isolines(self._data, n, space, **chosen)
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
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.paired_bootstrap` by :func:`rankeval_pd.plotting.confidence`."""
        table = resampling.paired_bootstrap(
            self._data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
            families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.confidence(
            table,
            gains.gain_threshold(table),
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
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.paired_bootstrap` by :func:`rankeval_pd.plotting.pairs`."""
        table = resampling.paired_bootstrap(
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
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.system_ranks` by :func:`rankeval_pd.plotting.system_ranks`."""
        table = resampling.system_ranks(
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
        families: resampling.Families | None = None,
        adjust: str | None = None,
        alpha: float = 0.05,
        level: float = 0.95,
        progress: bool | None = None,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.gain_by_size` by :func:`rankeval_pd.plotting.gain_by_size`."""
        table = gains.gain_by_size(
            self._data, sizes, draw=draw, n_resamples=n_resamples, event=event, method=method,
            ci=ci, families=families, adjust=adjust, alpha=alpha, level=level, progress=progress,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.gain_by_size(
            table,
            gains.gain_threshold(table),
            ax=ax,
            line_kw=line_kw,
            band_kw=band_kw,
            marker_kw=marker_kw,
        )  # fmt: skip

    def calibration(
        self,
        other: pd.DataFrame | xr.Dataset,
        *,
        bins: Sequence[float] = gains.PAPER_BINS,
        ci: str = "clopper-pearson",
        level: float = 0.95,
        n_resamples: int = 1000,
        ax: Axes | None = None,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        marker_kw: Mapping[str, Any] | None = None,
        **roles: Unpack[RoleKeywords],
    ) -> Axes:
        """Draw :func:`rankeval_pd.calibration` by :func:`rankeval_pd.plotting.calibration`."""
        table = gains.calibration(
            self._data, other, bins=bins, ci=ci, level=level, n_resamples=n_resamples,
            **{**self._roles, **roles},
        )  # fmt: skip
        return plotting.calibration(
            table, ax=ax, line_kw=line_kw, band_kw=band_kw, marker_kw=marker_kw
        )
