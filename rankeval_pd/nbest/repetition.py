"""Study precision in repeated samples (Evert 2004, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.decisions.verdicts import GROUP
from rankeval_pd.doors.rankings import leave_table
from rankeval_pd.errors import check_choice, check_count, check_flag, check_share, listed
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.annotators import refuse_each
from rankeval_pd.forms.rankings.candidates import (
    Data,
    above_door,
    below_door,
    check_data,
    read_frame,
)
from rankeval_pd.forms.rankings.values import asked_thresholds, cut_scores
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles_but
from rankeval_pd.forms.roles.roles import ProportionInterval, RankingRoles, Roles, as_names
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.significance import dispersion
from rankeval_pd.stats.significance.dispersion import failures

COLUMNS = (
    "measure",
    "threshold",
    "n_samples",
    "n_mean",
    "precision",
    "sd_expected",
    "sd_observed",
    "sd_ratio",
    "phi",
    "phi_low",
    "phi_high",
    "p_dispersion",
    "ks_statistic",
    "p_ks",
    "ci_failures",
    "ci_failures_expected",
    "p_coverage",
)
SAMPLE_COLUMNS = (
    "measure",
    "threshold",
    "n_accepted",
    "tp",
    "precision",
    "ci_low",
    "ci_high",
    "covered",
)
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
    study = _Study.of(threshold, n, ci, level, roles)
    counts = SampleCounts.of(below_door(data), study)
    total = len(counts.measures) * _BOOTSTRAP
    with progress_bar(progress, total=total, what="testing the fit", unit="draws") as advance:
        rows = [
            _study_row(sizes, tp, study, advance)
            for sizes, tp in zip(counts.sizes, counts.tp, strict=True)
        ]
    columns = {name: np.array([row[name] for row in rows]) for name in COLUMNS[2:]}
    place = np.arange(len(rows))
    table = {GROUP: 0 * place, "measure": place, "threshold": counts.threshold, **columns}
    nothing = pd.DataFrame(index=[0])
    result = leave_table(table, nothing, COLUMNS, counts.measures, study.noted())
    return above_door(result, data)


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
    counts = SampleCounts.of(below_door(data), study)
    sizes, tp = counts.sizes.T, counts.tp.T  # (sample, measure)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = tp / sizes
    low, high = INTERVALS[ci](tp.astype(float), sizes.astype(float), study.level)
    place: AnyArray = np.indices(sizes.shape)
    columns: dict[str, AnyArray] = {
        GROUP: place[0],
        "measure": place[1],
        "threshold": np.broadcast_to(counts.threshold, sizes.shape),
        "n_accepted": sizes,
        "tp": tp,
        "precision": precision,
        "ci_low": low,
        "ci_high": high,
        "covered": _covered(sizes, tp, study),
    }
    table = {name: values.ravel() for name, values in columns.items()}
    keys = tables.keys_apart(counts.keys, SAMPLE_COLUMNS)
    result = leave_table(table, keys, SAMPLE_COLUMNS, counts.measures, study.noted())
    return above_door(result, data)


class _Study(NamedTuple):
    """Store the options for a repetition study."""

    threshold: Any
    n: int | None
    ci: str
    level: float
    roles: Roles
    seed: int  #: draws for the goodness-of-fit test

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
        """Return attrs that describe the study for readers and plots."""
        return {"ci": self.ci, "level": self.level}

    def thresholds(self, measures: Sequence[Hashable]) -> FloatArray:
        """Return the threshold for each measure, or NaN if the user passes n."""
        if self.threshold is None:
            return np.full(len(measures), np.nan)
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
        return cuts[:, 0]


class SampleCounts(NamedTuple):
    """Store the accepted candidates in every sample."""

    keys: pd.DataFrame  #: one row per sample
    measures: list[Hashable]
    threshold: FloatArray  #: (measure)
    sizes: IntArray  #: accepted candidates: (measure, sample)
    tp: IntArray  #: accepted true positives: (measure, sample)

    @classmethod
    def of(cls, data: pd.DataFrame, study: _Study) -> SampleCounts:
        """Count the candidates that each measure accepts in each sample."""
        check_data(data)
        refuse_each(study.roles, "samples")
        if not as_names(study.roles.by, data.columns):
            raise ValueError(
                "by is missing. Pass the sample column, for example by='sample'; a Dataset needs a"
                " sample dimension."
            )
        groups = read_frame(data, study.roles)
        samples = len(groups.keys)
        if samples < 2:
            raise ValueError(
                "variation between samples needs at least two samples, but the number of samples is"
                f" {samples}. Pass the sample column: by=..."
            )
        measures = list(groups.measures)
        threshold = study.thresholds(measures)
        least = cut_scores(threshold, groups.dtypes) * groups.signs
        score, gold = groups.columns["score"], groups.columns["gold"]
        usable = groups.columns["present"] & ~np.isnan(score)
        if study.n is not None:
            most = study.n * samples
            least = np.array(
                [
                    least_score(x[ranked], most, study.n)
                    for x, ranked in zip(score, usable, strict=True)
                ]
            )
            threshold = least * groups.signs + 0.0
        accepted = usable & (score >= least[:, np.newaxis])  # (measure, candidate)
        sizes, tp = (
            np.stack([np.bincount(groups.number[rows], minlength=samples) for rows in chosen])
            for chosen in (accepted, accepted & gold)
        )
        return cls(groups.keys, measures, threshold, sizes, tp)


def least_score(scores: FloatArray, most: int, n: int) -> float:
    """Return the lowest score that at most ``most`` candidates reach."""
    falling = np.sort(scores)[::-1]
    if most >= falling.size:
        if most > falling.size:
            raise ValueError(
                f"n={n} exceeds the mean number of candidates per sample. Pass a smaller n."
            )
        return float(falling[-1])
    higher = falling[falling > falling[most]]
    if not higher.size:
        raise ValueError(
            f"n={n}: more than {n} candidates per sample share the best score, so no threshold"
            f" accepts only {n}. Pass a larger n."
        )
    return float(higher[-1])


def _study_row(
    sizes: IntArray, tp: IntArray, study: _Study, advance: Callable[[int], object]
) -> dict[str, Any]:
    """Return the columns for one measure from its sizes and true positives: (sample)."""
    some = sizes > 0
    n, t = sizes[some], tp[some]
    row: dict[str, Any] = dict.fromkeys(COLUMNS[2:], np.nan)
    row |= {"n_samples": int(n.size), "n_mean": sizes.mean(), "ci_failures": 0}
    if n.size < 2:
        return row
    share = t.sum() / n.sum()
    sd_expected, sd_observed = float(dispersion.model_sd(share, n)), float((t / n).std(ddof=1))
    phi = dispersion.overdispersion(dispersion.pearson(t, n), n.size - 1, study.level)
    fit = dispersion.goodness_of_fit(t, n, n_resamples=_BOOTSTRAP, seed=study.seed, advance=advance)
    missed = int(np.count_nonzero(~_covered(n, t, study)))
    as_many = failures(n, t, missed, study.ci, study.level)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.float64(sd_observed) / sd_expected
    row |= {
        "precision": share,
        "sd_expected": sd_expected,
        "sd_observed": sd_observed,
        "sd_ratio": ratio,
        "ci_failures": missed,
    }
    row |= dict(zip(("phi", "phi_low", "phi_high", "p_dispersion"), phi, strict=True))
    row |= dict(zip(("ks_statistic", "p_ks"), fit, strict=True))
    return row | dict(zip(("ci_failures_expected", "p_coverage"), as_many, strict=True))


def _covered(n: IntArray, tp: IntArray, study: _Study) -> BoolArray:
    """Return whether each interval contains the precision of all other samples, the first axis."""
    others = (tp.sum(axis=0) - tp) / np.maximum(n.sum(axis=0) - n, 1)
    low, high = INTERVALS[study.ci](tp.astype(float), n.astype(float), study.level)
    return np.asarray((low <= others) & (others <= high))
