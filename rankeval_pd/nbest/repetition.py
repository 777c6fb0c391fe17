"""Study precision in repeated samples (Evert 2004, section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_count, check_flag, check_share, listed
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.annotators import refuse_each
from rankeval_pd.forms.rankings.candidates import (
    Data,
    check_data,
    read_frame,
)
from rankeval_pd.forms.rankings.values import asked_thresholds
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles_but
from rankeval_pd.forms.roles.roles import ProportionInterval, RankingRoles, Roles, as_names
from rankeval_pd.nbest.repetition_parts import (
    least_score,
)
from rankeval_pd.progress import drawing_bar, nothing_moves
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.significance import dispersion
from rankeval_pd.stats.significance.dispersion import failures

_STUDY: dict[str, type] = {
    "threshold": float, "n_samples": np.int64, "n_mean": float, "precision": float,
    "sd_expected": float, "sd_observed": float, "sd_ratio": float, "phi": float, "phi_low": float,
    "phi_high": float, "p_dispersion": float, "ks_statistic": float, "p_ks": float,
    "ci_failures": np.int64, "ci_failures_expected": float, "p_coverage": float,
}  # fmt: skip
COLUMNS = ("measure", *_STUDY)
_SAMPLE: dict[str, type] = {
    "threshold": float, "n_accepted": np.int64, "tp": np.int64, "precision": float,
    "ci_low": float, "ci_high": float, "covered": bool,
}  # fmt: skip
SAMPLE_COLUMNS = ("measure", *_SAMPLE)
_BOOTSTRAP = 999  # number of draws for the goodness-of-fit test


@Capabilities(
    rankings="Would it happen again?",
    short="measure n_samples n_mean precision sd_observed sd_expected phi p_dispersion",
    layout="measure",
    pooled=True,
)
@with_roles_but("key", "label", "ties")
def repetition(
    data: Data,
    threshold: float | Mapping[Hashable, float] | None = None,
    n: int | None = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the variation of precision over samples with the binomial model.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates from several samples. ``by`` names the column that identifies samples. In a
        Dataset, samples are the batch dimension.
    threshold : float or mapping, optional
        The acceptance threshold for all samples: a number for a single measure, or a mapping from
        measure to a number.
    n : int, optional
        Largest average number of accepted candidates per sample. Pass ``n`` instead of
        ``threshold`` to use the lowest threshold that accepts at most n candidates on average.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval for which failures are counted.
    level : float
        Confidence level of the intervals for precision and for phi.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure):

        * ``threshold``; ``n_samples``: samples with accepted candidates; ``n_mean``: average number
          of accepted candidates across all samples; ``precision``: precision of the pooled samples;
        * ``sd_expected``, ``sd_observed``, ``sd_ratio``: expected and observed standard deviations
          of the precision across samples, and their ratio;
        * ``phi``, ``phi_low``, ``phi_high``, ``p_dispersion``: overdispersion (ratio of observed to
          binomial variance) with an interval, and the probability of at least this much variation
          under the model. Pass ``phi=`` to functions that compute intervals;
        * ``ks_statistic``, ``p_ks``: Kolmogorov distance from the model's normal distribution, and
          the p-value of the distance;
        * ``ci_failures``: samples whose interval excludes the precision of all other samples;
          ``ci_failures_expected``: expected number of failures if all samples had the same average
          precision; ``p_coverage``: exact probability of at least this many failures given the
          pooled precision.

    Raises
    ------
    ValueError
        If there are fewer than two samples, or if you do not pass exactly one of ``threshold`` and
        ``n``.

    Notes
    -----
    The expected standard deviation is Eq. 4 with the harmonic mean of the sizes. phi is Pearson's
    statistic divided by its degrees of freedom and uses the size of each sample. p_ks comes from a
    parametric bootstrap with 999 draws. The Kolmogorov test has little power, so prefer
    p_dispersion. The failure rate of Clopper-Pearson intervals is below 1 - level. With few
    samples, intervals fail more often because the precision of the other samples varies. p_coverage
    accounts for both effects. phi includes differences between parts of one corpus (topic, author),
    so a test of phi = 1 requires samples drawn under the same conditions.

    The cost is O(N log N), plus 999 draws per sample and one transform per sample size. A measure
    with 20,000 samples takes about three seconds.

    References
    ----------
    Evert (2004), section 4, Eqs 3 and 4, figure 4, footnote 15. In Eqs 3 and 4, read "average
    number of TPs" as the average number of candidates.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> samples = pd.concat(
    ...     {s: rankeval_pd.datasets.simulate_candidates(500, rng=s) for s in range(40)},
    ...     names=["sample", "candidate"],
    ... )
    >>> samples.rankeval(by="sample", measures="good").repetition(n=50)
      measure  n_samples  n_mean  precision  sd_observed  sd_expected       phi  p_dispersion
    0    good         40    50.0      0.472     0.065876     0.071231  0.811921      0.791708
    """
    check_flag("progress", progress, none=True)
    study = _Study.of(threshold, n, ci, level, roles)._replace(progress=progress)
    result = study.ask(data, _study_columns, _STUDY)
    computed: Any = tables.as_frame(result, COLUMNS)
    computed.attrs.update(study.noted())
    answered: Data = computed
    return answered


@Capabilities(rankings="Would it happen again?", layout="row")
@with_roles_but("key", "label", "ties", "rng")
def repetition_samples(
    data: Data,
    threshold: float | Mapping[Hashable, float] | None = None,
    n: int | None = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the precision in every sample of a repetition study.

    Parameters
    ----------
    data, threshold, n, ci, level, **roles
        As in :func:`repetition`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and sample (Dataset: dimension row). The columns of ``by`` come first,
        followed by ``measure``, ``threshold``, ``n_accepted``, ``tp``, ``precision`` (NaN without
        accepted candidates), ``ci_low``, ``ci_high``, and ``covered`` (whether the interval
        contains the precision of all other samples).

    Notes
    -----
    Lazy Datasets are computed because the number of rows is unknown. The cost is O(N log N).

    References
    ----------
    Evert (2004), section 4, figure 4.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "G2": [9.0, 8.0, 7.0, 9.5, 7.5, 1.0],
    ...         "gold": [True, False, True, True, True, False],
    ...         "part": [1, 1, 1, 2, 2, 2],
    ...     }
    ... )
    >>> df.rankeval(by="part", measures="G2").repetition_samples(threshold=7.5)
       part measure  threshold  n_accepted  tp  precision    ci_low   ci_high  covered
    0     1      G2        7.5           2   1        0.5  0.012579  0.987421    False
    1     2      G2        7.5           2   2        1.0  0.158114  1.000000     True
    """
    study = _Study.of(threshold, n, ci, level, roles)
    result = study.ask(data, _sample_columns, _SAMPLE, per_sample=True).compute()
    keys = tables.keys_apart(study.keys(data), SAMPLE_COLUMNS)
    rows = result.rename(sample=tables.GROUP).transpose(tables.GROUP, "measure")
    rows = rows.assign_coords({tables.GROUP: np.arange(len(keys))})
    table: Any = tables.leave_frame([rows], keys, SAMPLE_COLUMNS, attrs=study.noted())
    answered: Data = table
    return answered


class _Study(NamedTuple):
    """Store the options for a repetition study."""

    threshold: Any
    n: int | None
    ci: str
    level: float
    roles: Roles
    seed: int  #: draws for the goodness-of-fit test
    progress: bool | None = False
    advance: Callable[[int], object] = nothing_moves  #: reports the progress of these draws

    @classmethod
    def of(cls, threshold: Any, n: Any, ci: str, level: float, roles: Mapping[str, Any]) -> _Study:
        check_choice("ci", ci, INTERVALS)
        chosen = Roles.of(roles)
        chosen.check_ties()
        chosen.check_groups()
        if (threshold is None) == (n is None):
            raise ValueError(
                f"threshold={threshold!r}, n={n!r}: pass either a score, threshold=..., or the"
                " average number of accepted candidates, n=..."
            )
        size = None if n is None else check_count("n", n)
        return cls(threshold, size, ci, check_share("level", level), chosen, chosen.draws)

    def noted(self) -> dict[str, Any]:
        return {"ci": self.ci, "level": self.level}

    def ask(
        self, data: Any, columns: Any, types: Mapping[str, type], *, per_sample: bool = False
    ) -> xr.Dataset:
        """Compute the columns for every measure from the candidates in all samples."""
        check_data(data)
        inner, samples = self._all_samples(data)
        cuts = self._cuts(inner)
        core = [*samples, "candidate"]
        out = [["sample"] if per_sample else []] * len(types)
        size = int(np.prod([inner.sizes[d] for d in samples]))
        draws = inner.sizes["measure"] * _BOOTSTRAP
        with drawing_bar(
            inner, self.progress, draws=draws, what="testing the fit", whole=True
        ) as advance:
            computed = xr.apply_ufunc(
                self._replace(advance=advance)._of_measures,
                inner["score"],
                inner["gold"],
                inner["present"],
                inner["sign"],
                cuts,
                kwargs={"columns": columns},
                input_core_dims=[core, core, core, [], []],
                output_core_dims=out,
                dask="parallelized",
                dask_gufunc_kwargs={"output_sizes": {"sample": size}} if per_sample else {},
                output_dtypes=[*types.values()],
            )
        result = tables.as_columns(types, computed)
        return result.assign(exists=xr.ones_like(result["threshold"], dtype=bool))

    def _cuts(self, inner: xr.Dataset) -> xr.DataArray:
        """Return the threshold for each measure, or NaN if the user passes n."""
        measures = inner.indexes["measure"].tolist()
        if self.threshold is None:
            return xr.DataArray(np.full(len(measures), np.nan), dims="measure")
        if not isinstance(self.threshold, Mapping) and len(measures) > 1:
            raise ValueError(
                f"threshold={self.threshold!r}: a single number requires a single measure, but"
                f" there are {listed(measures)}. Pass a mapping from each measure to a number, or"
                " the average number of accepted candidates, n=..."
            )
        cuts = asked_thresholds(self.threshold, measures)
        if cuts.shape[1] != 1 or np.isnan(cuts).any():
            raise ValueError(
                f"threshold={self.threshold!r}: pass one number for each of the measures"
                f" {measures!r}, or name fewer measures with measures=..."
            )
        return xr.DataArray(cuts[:, 0], dims="measure")

    def _all_samples(self, data: Any) -> tuple[xr.Dataset, list[Hashable]]:
        """Return the internal form of the padded samples, and the sample dimensions."""
        refuse_each(self.roles, "samples")
        if not as_names(self.roles.by, data.columns):
            raise ValueError(
                "by is missing. Pass the sample column, for example by='sample', or add a sample"
                " dimension to the Dataset."
            )
        groups = read_frame(data, self.roles)
        if len(groups.keys) < 2:
            raise _too_few(len(groups.keys))
        parts = [part.drop_vars("row").rename({tables.GROUP: "sample"}) for part in groups.members]
        width = max(part.sizes["candidate"] for part in parts)
        padded = [
            part.drop_vars("sign").pad(
                candidate=(0, width - part.sizes["candidate"]),
                constant_values={"score": np.nan, "gold": False, "present": False},
            )
            for part in parts
        ]
        whole = xr.concat(padded, "sample").sortby("sample").drop_vars("sample")
        return whole.assign(sign=parts[0]["sign"]), ["sample"]

    def keys(self, data: Any) -> pd.DataFrame:
        """Return the sample labels with one row per sample."""
        return read_frame(data, self.roles).keys.reset_index(drop=True)

    def _of_measures(
        self,
        score: FloatArray,
        gold: BoolArray,
        present: BoolArray,
        sign: FloatArray,
        cut: FloatArray,
        *,
        columns: Any,
    ) -> tuple[AnyArray, ...]:
        """Return each measure's columns from the scores in all samples."""
        score, gold, present = (
            x.reshape(score.shape[0], math.prod(score.shape[1:-1]), score.shape[-1])
            for x in np.broadcast_arrays(score, gold, present)
        )
        if score.shape[1] < 2:
            raise _too_few(score.shape[1])
        result = []
        for row in range(score.shape[0]):
            usable = present[row] & ~np.isnan(score[row])
            least = sign[row] * cut[row]
            if self.n is not None:
                least = least_score(score[row][usable], self.n * len(score[row]), self.n)
            listed = usable & (score[row] >= least)
            sizes, tp = listed.sum(axis=-1), (listed & gold[row]).sum(axis=-1)
            result.append(columns(sizes, tp, least * sign[row] + 0.0, self))
        return tuple(np.array(column) for column in zip(*result, strict=True))


def _too_few(samples: int) -> ValueError:
    return ValueError(
        "variation between samples needs at least two samples, but the number of samples is"
        f" {samples}. Pass the sample column: by=..."
    )


def _study_columns(
    sizes: IntArray, tp: IntArray, threshold: float, study: _Study
) -> tuple[Any, ...]:
    some = sizes > 0
    n, t = sizes[some], tp[some]
    samples = int(n.size)
    if samples < 2:
        nothing = [np.nan] * 5
        return (threshold, samples, sizes.mean(), *nothing, *nothing, 0, np.nan, np.nan)
    share = t.sum() / n.sum()
    sd_expected, sd_observed = float(dispersion.model_sd(share, n)), float((t / n).std(ddof=1))
    freedom = samples - 1
    spread = dispersion.overdispersion(dispersion.pearson(t, n), freedom, study.level)
    fit = dispersion.goodness_of_fit(
        t, n, n_resamples=_BOOTSTRAP, seed=study.seed, advance=study.advance
    )
    missed = int(np.count_nonzero(~_covered(n, t, study)))
    as_many = failures(n, t, missed, study.ci, study.level)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.float64(sd_observed) / sd_expected
    return (
        threshold, samples, sizes.mean(), share, sd_expected, sd_observed, ratio, *spread, *fit,
        missed, *as_many,
    )  # fmt: skip


def _covered(n: IntArray, tp: IntArray, study: _Study) -> BoolArray:
    """Return whether each interval contains the precision of all other samples."""
    others = (tp.sum() - tp) / np.maximum(n.sum() - n, 1)
    low, high = INTERVALS[study.ci](tp.astype(float), n.astype(float), study.level)
    return np.asarray((low <= others) & (others <= high))


def _sample_columns(
    sizes: IntArray, tp: IntArray, threshold: float, study: _Study
) -> tuple[AnyArray, ...]:
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = tp / sizes
    low, high = INTERVALS[study.ci](tp.astype(float), sizes.astype(float), study.level)
    covered = _covered(sizes, tp, study)
    return np.full(sizes.size, threshold), sizes, tp, precision, low, high, covered
