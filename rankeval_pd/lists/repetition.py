"""Repeat an evaluation on random parts, and check published lists."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd import doors, errors, stats, tables
from rankeval_pd.chance.random_tests import number_or_array
from rankeval_pd.decisions import GROUP, Rows
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_count, check_numbers, listed, shown
from rankeval_pd.options import Capabilities, with_options, with_roles_but
from rankeval_pd.roles import Alternative, ProportionInterval, RankingRoles, Roles, as_names
from rankeval_pd.stats import FloatArray, IntArray, proportions
from rankeval_pd.tables import Keywords

# ---- Study precision in repeated samples (Evert 2004, section 4)

COLUMNS = tuple(
    "measure threshold n_samples n_mean precision sd_expected sd_observed sd_ratio phi "
    "phi_low phi_high icc icc_low icc_high p_dispersion ks_statistic p_ks ci_failures "
    "ci_failures_expected p_coverage".split()
)
SAMPLE_COLUMNS = tuple("measure threshold n_accepted tp precision ci_low ci_high covered".split())
_DRAWS = 9_999  # number of tables that are drawn for the tests of the model
_UNLIKE = 3  # sizes differ more than this many times: phi depends on the mix of sizes


@Capabilities(
    rankings="Would it happen again?",
    short="measure n_samples n_mean precision sd_observed sd_expected phi icc p_dispersion",
    details="threshold sd_ratio phi_low phi_high icc_low icc_high ks_statistic p_ks ci_failures"
    " ci_failures_expected p_coverage",
    layout="measure",
    pooled=True,
    quantity="precision",
    test="pearson",
)
@with_roles_but("key", "label", "ties")
def repetition(
    data: Data,
    threshold: float | Mapping[Hashable, float] | None = None,
    n: int | None = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the variation of precision over samples with the binomial model.

    Parameters
    ----------
    data
        Candidates from several samples, which ``by`` names (Dataset: the batch dimension).
    threshold : float or mapping, optional
        The acceptance threshold for all samples: a number for a single measure, or a mapping from
        measure to a number.
    n : int, optional
        Largest average number of accepted candidates per sample. Pass ``n`` instead of
        ``threshold`` to use the lowest threshold that accepts at most n candidates on average.
    ci
    level
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure):

        * ``n_samples``: samples with accepted candidates; ``n_mean``: average number of accepted
          candidates; ``precision``: precision of the pooled samples; ``sd_observed``,
          ``sd_expected``: standard deviations of the precision, weighted by sample size; ``phi`` =
          (sd_observed / sd_expected)²: overdispersion; ``icc``: correlation of labels in a sample;
          ``p_dispersion``: probability of at least this much variation under the model;
        * with ``details=True``, ``threshold``; ``sd_ratio``; limits for phi and icc;
          ``ks_statistic``, ``p_ks``: Kolmogorov distance from the model's normal distribution, and
          its p-value; ``ci_failures``: samples whose interval excludes the precision of all other
          samples; ``ci_failures_expected`` and ``p_coverage``: their expected number, and the exact
          probability of at least this many failures, if all samples had the same average precision.

    Warns
    -----
    RankevalWarning
        If sample sizes differ by a factor of more than three.

    Notes
    -----
    p_dispersion belongs to Pearson's chi-squared test given the total of true positives, as in R's
    ``chisq.test(simulate.p.value=TRUE)``: exact for up to 20,000 tables, otherwise from 9,999
    draws, as are p_ks and the limits. The Kolmogorov test has little power.

    phi belongs to these sample sizes. For n candidates, pass ``phi=1 + (n - 1) * icc`` to
    :func:`nbest_precision`, with ``icc_high`` if n exceeds these sizes. phi includes differences
    between parts of one corpus (topic, author), so a test of phi = 1 requires samples drawn under
    the same conditions.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 4, Eqs 3 and 4, figure 4,
    footnote 15. In Eqs 3 and 4, read "average number of TPs" as the average number of candidates.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> samples = pd.concat(
    ...     {s: rankeval_pd.datasets.simulate_candidates(500, rng=s) for s in range(40)},
    ...     names=["sample", "candidate"],
    ... )
    >>> samples.rankeval(by="sample", measures="good").repetition(n=50)
      measure  n_samples  n_mean  precision  ...  sd_expected       phi      icc  p_dispersion
    0    good         40    50.0      0.472  ...       0.0706  0.811921 -0.00384        0.7933
    """
    samples = Samples.of(data, threshold, n, ci, level, roles)
    each = list(zip(samples.sizes, samples.tp, strict=True))
    _warn_of_sizes(samples.sizes)
    rows = [_study_row(sizes, tp, samples) for sizes, tp in each]
    columns = {name: np.array([row[name] for row in rows]) for name in COLUMNS[2:]}
    place = np.arange(len(rows))
    table = {GROUP: 0 * place, "measure": place, "threshold": samples.threshold, **columns}
    found = samples.table(table, pd.DataFrame(index=[0]), COLUMNS)
    found.attrs["alternative"] = "greater"
    if not all(proportions.are_few(*counts) for counts in each):
        found.attrs |= {"n_resamples": _DRAWS, **Roles.of(roles).noted_seed}
    return doors.above_door(found, data)


@Capabilities(rankings="Would it happen again?", layout="row", quantity="precision")
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

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 4, figure 4.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.0, 8.0, 7.0, 9.5, 7.5, 1.0], "part": [1, 1, 1, 2, 2, 2]})
    >>> df["gold"] = [True, False, True, True, True, False]
    >>> df.rankeval(by="part", measures="G2").repetition_samples(threshold=7.5)
       part measure  threshold  n_accepted  tp  precision    ci_low   ci_high  covered
    0     1      G2        7.5           2   1        0.5  0.012579  0.987421    False
    1     2      G2        7.5           2   2        1.0  0.158114  1.000000     True
    """
    samples = Samples.of(data, threshold, n, ci, level, roles)
    sizes, tp = samples.sizes.T, samples.tp.T  # (sample, measure)
    with stats.silent_division():
        precision = tp / sizes
    low, high, covered = samples.covered(sizes, tp)
    place = np.indices(sizes.shape)
    columns = {
        GROUP: place[0],
        "measure": place[1],
        "threshold": np.broadcast_to(samples.threshold, sizes.shape),
        "n_accepted": sizes,
        "tp": tp,
        "precision": precision,
        "ci_low": low,
        "ci_high": high,
        "covered": covered,
    }
    table = {name: values.ravel() for name, values in columns.items()}
    keys = tables.keys_apart(samples.keys, SAMPLE_COLUMNS)
    return doors.above_door(samples.table(table, keys, SAMPLE_COLUMNS), data)


class Samples(NamedTuple):
    """Store the accepted candidates in every sample, and the options of the study."""

    keys: pd.DataFrame  #: one row per sample
    measures: list[Hashable]
    threshold: FloatArray  #: (measure)
    sizes: IntArray  #: accepted candidates: (measure, sample)
    tp: IntArray  #: accepted true positives: (measure, sample)
    ci: str
    level: float
    seed: int  #: draws for the tests of the model

    @classmethod
    def of(
        cls, data: Data, threshold: Any, n: Any, ci: str, level: float, roles: Keywords
    ) -> Samples:
        """Check the options, and count the candidates that each measure accepts per sample."""
        chosen = Roles.of(roles)
        chosen.check_ties()
        chosen.check_groups()
        errors.check_one(threshold=threshold, n=n)
        if n is not None:
            n = check_count("n", n)
        level = errors.check_share("level", level)
        seed = chosen.draws
        frame = doors.below_door(data)
        doors.check_data(frame)
        doors.refuse_each(chosen, "samples")
        if not as_names(chosen.by, frame.columns):
            raise ValueError(
                "by is missing. Pass the sample column, for example by='sample'; a Dataset needs a"
                " sample dimension."
            )
        groups = doors.read_frame(frame, chosen)
        count = len(groups.keys)
        measures = list(groups.measures)
        if count < 2:
            raise ValueError(
                "variation between samples needs at least two samples, but the number of samples is"
                f" {count}. Pass the sample column: by=..."
            )
        score, gold = groups.columns["score"], groups.columns["gold"]
        usable = groups.columns["present"] & ~np.isnan(score)
        if n is None:
            cuts = _one_threshold_each(threshold, measures)
            least = doors.cut_scores(cuts, groups.dtypes) * groups.signs
        else:
            ranked = zip(score, usable, strict=True)
            least = np.array([least_score(x[there], n * count, n) for x, there in ranked])
            cuts = least * groups.signs + 0.0
        accepted = usable & (score >= least[:, np.newaxis])  # (measure, candidate)
        sizes, tp = (
            np.stack([np.bincount(groups.number[rows], minlength=count) for rows in some])
            for some in (accepted, accepted & gold)
        )
        return cls(groups.keys, measures, cuts, sizes, tp, ci, level, seed)

    def covered(self, n: IntArray, tp: IntArray) -> tuple[FloatArray, FloatArray, stats.BoolArray]:
        """Return intervals, and whether they contain the precision of all other samples.

        The samples are the first axis.
        """
        others = (tp.sum(axis=0) - tp) / np.maximum(n.sum(axis=0) - n, 1)
        low, high = stats.INTERVALS[self.ci](tp.astype(float), n.astype(float), self.level)
        return low, high, (low <= others) & (others <= high)

    def table(self, rows: Rows, keys: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
        """Return the rows as a table."""
        return doors.leave_table(
            rows, keys, columns, self.measures, {"ci": self.ci, "level": self.level}
        )


def _one_threshold_each(threshold: Any, measures: Sequence[Hashable]) -> FloatArray:
    """Return the threshold for each measure."""
    if not isinstance(threshold, Mapping) and len(measures) > 1:
        raise ValueError(
            f"threshold={threshold!r}: a single number requires a single measure, but"
            f" there are {listed(measures)}. Pass a mapping from each measure to a number, or"
            " the average number of accepted candidates, n=..."
        )
    cuts = doors.asked_thresholds(threshold, measures)
    if cuts.shape[1] != 1 or np.isnan(cuts).any():
        raise ValueError(
            f"threshold={threshold!r}: pass one number for each of the measures"
            f" {measures!r}, or name fewer measures with measures=..."
        )
    return cuts[:, 0]


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


def _warn_of_sizes(sizes: IntArray) -> None:
    """Warn if a measure's samples differ so much in size that phi depends on their mix."""
    least = np.where(sizes > 0, sizes, np.inf).min(axis=1)
    most = sizes.max(axis=1)
    if (most > _UNLIKE * least).any():
        worst = np.argmax(most / least)
        errors.warn(
            f"the samples contain {least[worst]:,.0f} to {most[worst]:,} accepted candidates, and"
            " phi describes only this mix of sizes. For n candidates, pass"
            " phi=1 + (n - 1) * icc_high, with icc_high from details=True."
        )


def _study_row(sizes: IntArray, tp: IntArray, samples: Samples) -> dict[str, Any]:
    """Return the columns for one measure from its sizes and true positives: (sample)."""
    some = sizes > 0
    n, t = sizes[some], tp[some]
    row: dict[str, Any] = dict.fromkeys(COLUMNS[2:], np.nan)
    row |= {"n_samples": int(n.size), "n_mean": sizes.mean(), "ci_failures": 0}
    if n.size < 2:
        return row
    share = t.sum() / n.sum()
    observed = np.sqrt(np.average(np.square(t / n - share), weights=n) * n.size / (n.size - 1))
    found = proportions.variation(
        t, n, samples.ci, samples.level, n_resamples=_DRAWS, seed=samples.seed
    )
    values = (share, proportions.model_sd(share, n), observed, np.sqrt(found.phi), *found)
    return row | dict(zip(COLUMNS[4:], values, strict=True))


# ---- Comparisons of published lists

_LONGEST = 10**18  # list whose counts fit into 64 bits
_ROUNDING = 1e-6  # tolerance for counts computed as a rate times a size
# the p-values of all overlaps of up to 200 candidates are computed, then those of twice 10,000
_GRID, _FINER, _KEPT, _TESTED = 200, 8, 200, 10_000


@errors.checked_call
def compare_for(
    tp_a: float,
    n_a: int,
    tp_b: float,
    n_b: int,
    *,
    overlap: int | tuple[int, int] | None = None,
    alternative: Alternative = "two-sided",
) -> pd.DataFrame:
    """Return the possible p-values from :func:`compare` for two published lists.

    Parameters
    ----------
    tp_a, tp_b : number
        Number of true positives in each list. You can pass products such as ``.42 * 100``, which
        are integers up to floating-point error.
    n_a, n_b : int
        Sizes of the lists.
    overlap : int or pair of int, optional
        Number of candidates in both lists, or a pair with the numbers of shared candidates and
        shared true positives. By default every possible overlap is tried.
    alternative

    Returns
    -------
    DataFrame
        One row: ``difference`` = tp_a / n_a - tp_b / n_b, and ``p_low`` and ``p_high``, the
        smallest and largest p-values from Fisher's exact test on the two difference regions.
        ``p_low`` and ``p_high`` are equal if ``overlap`` is a pair or 0.

    See Also
    --------
    compare_accuracies : Compare two published accuracies on the same test items.

    Notes
    -----
    The test excludes shared candidates, so the p-value depends on the numbers of shared candidates
    and shared true positives. If p_high is at most the level, the difference is significant for
    every overlap. If p_low is above the level, the difference is not significant for any overlap.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.3.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.compare_for(0.3 * 50, 50, 9, 50)
       difference     p_low    p_high
    0        0.12  0.002165  0.241424
    >>> rankeval_pd.compare_for(42, 100, 30, 100, overlap=(60, 20))
       difference     p_low    p_high
    0        0.12  0.011506  0.011506
    """
    n_a, n_b = _size("n_a", n_a), _size("n_b", n_b)
    true_a = _true_positives("tp_a", tp_a, n_a)
    true_b = _true_positives("tp_b", tp_b, n_b)
    lists = _Lists(true_a, n_a, true_b, n_b)
    regions = lists.regions(_likely(lists, _overlaps(lists, overlap), alternative))
    p_value = stats.fisher_test(*regions, alternative).p_value
    low, high = p_value.min(), p_value.max()
    difference = true_a / n_a - true_b / n_b
    return pd.DataFrame({"difference": [difference], "p_low": [low], "p_high": [high]})


def _size(name: str, value: Any) -> int:
    """Return the size of a list."""
    size = check_count(name, value)
    if size > _LONGEST:
        raise ValueError(f"{name}={size}: pass the size of a list, at most {_LONGEST:g}.")
    return size


def _true_positives(name: str, value: Any, size: int) -> int:
    """Return a count of true positives, rounding values that are nearly integers."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{name}={shown(value)} is of type {type(value).__name__}: pass the number of true "
            "positives in the list."
        )
    nearest = -1
    if -1 < value < size + 1:
        nearest = round(value)
    if abs(nearest - value) > _ROUNDING or not 0 <= nearest <= size:
        raise ValueError(
            f"{name}={value!r}: pass a whole number from 0 to {size}, the size of the list, or a"
            " rate times this size. A printed rate such as 42.3% may correspond to several counts:"
            " try each count."
        )
    return nearest


class _Lists(NamedTuple):
    """Two published lists: true positives and sizes."""

    tp_a: int
    n_a: int
    tp_b: int
    n_b: int

    def shared_true(self, size: IntArray) -> tuple[IntArray, IntArray]:
        """Return the smallest and the largest number of true positives in overlaps of a size."""
        false = np.maximum(size - (self.n_a - self.tp_a), size - (self.n_b - self.tp_b))
        return np.maximum(false, 0), np.minimum(size, min(self.tp_a, self.tp_b))

    def regions(self, shared: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return tp_a, n_a, tp_b, n_b of the difference regions; ``shared`` is (2, overlap)."""
        size, true = shared
        return self.tp_a - true, self.n_a - size, self.tp_b - true, self.n_b - size

    def deviation(self, shared: IntArray, alternative: Alternative) -> FloatArray:
        """Return the true positives in region a, standardized; -inf if all tables are alike."""
        tp_a, size_a, tp_b, size_b = (x.astype(float) for x in self.regions(shared))
        size, true = size_a + size_b, tp_a + tp_b
        with stats.silent_division():
            part = size_a / size
            variance = true * (1.0 - true / size) * part * (1.0 - part) * size / (size - 1.0)
            z = (tp_a - true * part) / np.sqrt(variance)
        return np.where(variance > 0.0, stats.sided(z, alternative), -np.inf)


def _overlaps(lists: _Lists, overlap: Any) -> IntArray:
    """Return the ranges of overlaps and of shared true positives: (size and true, both ends)."""
    pair = isinstance(overlap, (tuple, list))
    if pair and len(overlap) != 2:
        raise ValueError(
            f"overlap={shown(overlap)}: pass the number of shared candidates, or a pair with the"
            " numbers of shared candidates and shared true positives."
        )
    tp_a, n_a, tp_b, n_b = lists
    sizes = [0, min(n_a, n_b, n_a - tp_a + tp_b, n_b - tp_b + tp_a)]
    true = [0, min(tp_a, tp_b)]
    if pair:
        sizes, true = ([check_count("overlap", x, 0)] * 2 for x in overlap)
    elif overlap is not None:
        sizes = [check_count("overlap", overlap, 0)] * 2
    least, most = lists.shared_true(np.array(sizes[0]))
    if sizes[0] == sizes[1] and (true[1] < least or most < true[0]):
        raise ValueError(
            f"overlap={overlap!r}: lists of {n_a} and {n_b} candidates with {tp_a} and {tp_b} true"
            " positives cannot have this overlap. Check the counts."
        )
    return np.array([sizes, true])


def _likely(lists: _Lists, ranges: IntArray, alternative: Alternative) -> IntArray:
    """Return overlaps that include those with the smallest and the largest p-value.

    P-values decrease with the deviation, except for the steps of small counts. If there are too
    many overlaps, the largest and the smallest deviations are therefore located on finer and finer
    grids, and only the p-values near these deviations are computed.
    """
    step = (ranges[:, 1] - ranges[:, 0]) // _GRID + 1
    axes = [
        np.append(np.arange(least, most, by), most)
        for (least, most), by in zip(ranges, step, strict=True)
    ]
    shared = np.stack(np.meshgrid(*axes)).reshape(2, -1)
    around = np.stack(np.meshgrid(*[np.arange(-_FINER, _FINER + 1)] * 2)).reshape(2, -1, 1)
    while True:
        # clipping adds the outline, with regions that have no true positives, or no negatives
        least, most = lists.shared_true(shared[0])
        true = np.clip(shared[1], np.maximum(least, ranges[1, 0]), np.minimum(most, ranges[1, 1]))
        pairs = pd.DataFrame({"size": shared[0], "true": true}).drop_duplicates()
        shared = pairs.sort_values(["size", "true"]).to_numpy().T
        order = np.argsort(lists.deviation(shared, alternative), kind="stable")
        if (step == 1).all():
            return shared[:, np.union1d(order[:_TESTED], order[-_TESTED:])]
        step = -(-step // _FINER)
        chosen = shared[:, np.union1d(order[:_KEPT], order[-_KEPT:])]
        near = chosen[:, np.newaxis] + around * step[:, np.newaxis, np.newaxis]
        shared = np.clip(near.reshape(2, -1), ranges[:, :1], ranges[:, 1:])


# ---- Repeated samples with published numbers (Evert 2004, section 4)


class Dispersion(NamedTuple):
    """Store the overdispersion of true positives relative to binomial counts."""

    phi: Any
    phi_low: Any
    phi_high: Any
    p_dispersion: Any


@with_options
def dispersion_for(
    sd_observed: npt.ArrayLike,
    sd_expected: npt.ArrayLike,
    n_samples: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Dispersion:
    """Estimate overdispersion from published standard deviations.

    Parameters
    ----------
    sd_observed, sd_expected : float or array
        Observed and expected standard deviations of precision across samples.
    n_samples : int or array of int
        Number of samples, 2 or more.
    level

    Returns
    -------
    Dispersion
        A named tuple ``(phi, phi_low, phi_high, p_dispersion)`` of floats or arrays. phi is
        (sd_observed / sd_expected)^2, and ``p_dispersion`` is the probability of at least this much
        variation under the binomial model.

    Notes
    -----
    Under the binomial model, (n_samples - 1) phi follows a chi-squared distribution with n_samples
    - 1 degrees of freedom. If the counts in all samples are equal, phi_high is inf.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 4, is the source of the
    example: "a little more variation than expected".

    Examples
    --------
    >>> import rankeval_pd
    >>> found = rankeval_pd.dispersion_for(0.057, 0.044, 80)
    >>> print(f"{found.phi:.3f} ({found.phi_low:.2f} to {found.phi_high:.2f})")
    1.678 (1.26 to 2.35)
    >>> print(f"{found.p_dispersion:.1e}")
    1.5e-04
    """
    level = errors.check_share("level", level)
    errors.check_together(sd_observed=sd_observed, sd_expected=sd_expected, n_samples=n_samples)
    observed, expected, samples = np.broadcast_arrays(sd_observed, sd_expected, n_samples)
    observed = check_numbers("sd_observed", observed, 0)
    expected = check_numbers("sd_expected", expected, 0, above=True)
    samples = check_numbers("n_samples", samples, 2, whole=True)
    freedom = samples - 1.0
    with np.errstate(over="ignore"):  # values too large for float64 become infinite
        chi2 = freedom * (observed / expected) ** 2
    result = proportions.overdispersion(chi2, freedom, level)
    return Dispersion(*map(number_or_array, result))


@errors.checked_call
def coverage_for(
    failures: npt.ArrayLike, n_samples: npt.ArrayLike, failure_rate: npt.ArrayLike
) -> Any:
    """Return the probability that valid intervals fail at least this often.

    Parameters
    ----------
    failures : int or array of int
        Number of samples whose intervals exclude the true precision.
    n_samples : int or array of int
        Number of samples.
    failure_rate : float or array
        Failure rate of an interval under the model. For Clopper-Pearson intervals, the failure rate
        is below 1 - level. Use ``ci_failures_expected / n_samples`` from :func:`repetition`.

    Returns
    -------
    float or array
        P(X >= failures) under the binomial distribution.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 4, compares 12 failures in 80
    samples with an expected rate of 5%. However, 95% intervals for 100 candidates have failure
    rates of 4.0% and 4.3%, so even Evert's 9 failures are significant.

    Examples
    --------
    >>> import rankeval_pd
    >>> print(f"{rankeval_pd.coverage_for(9, 80, 0.0401):.4f}")
    0.0048
    """
    errors.check_together(failures=failures, n_samples=n_samples, failure_rate=failure_rate)
    failures, samples, rate = np.broadcast_arrays(failures, n_samples, failure_rate)
    check_numbers("n_samples", samples, 1, whole=True)
    check_numbers("failures", failures, 0, samples, whole=True)
    check_numbers("failure_rate", rate, 0, 1)
    p_value = np.exp(stats.tails_of_binomial(failures, samples, rate).ge)
    return number_or_array(p_value)
