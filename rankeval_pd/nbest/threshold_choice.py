"""Choose thresholds with a guarantee that accounts for the search."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd.doors.rankings import Candidates, Rows, measure_rows, tabulate
from rankeval_pd.errors import check_flag, check_share, warn
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import RankingRoles, Roles
from rankeval_pd.nbest.clustered_lists import set_weights
from rankeval_pd.nbest.grouped_lists import ListMembers
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.rankings import rank_tests
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import level_of_each

COLUMNS = ("measure", "threshold", "n_accepted", "tp", "precision", "recall", "ci_low")


@Capabilities(
    rankings="What to judge, and how?",
    any_ties=True,
    by_groups=True,
    clusters=True,
    layout="measure",
)
@with_roles_but("key", "label", "ties", "rng")
def choose_threshold(
    data: Data,
    *,
    precision: float | None = None,
    recall: float | None = None,
    youden: bool = False,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Choose a threshold with a guaranteed precision, recall or Youden's J.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    precision : float, optional
        Required precision of the accepted candidates. The function returns the lowest threshold
        that guarantees this precision, to accept as many candidates as possible.
    recall : float, optional
        Required recall of the accepted candidates, as an alternative to ``precision``. The function
        returns the highest threshold that guarantees this recall.
    youden : bool
        Whether to maximize J = sensitivity + specificity - 1 instead of requiring a precision or
        recall. The result contains a guaranteed lower limit for J in the population.
    level : float
        Probability that the guarantees for all measures are correct simultaneously.
    **roles
        Column roles. See :func:`nbest_precision`. ``ties`` has no effect because thresholds never
        separate equal scores.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``, ``threshold``, the cutoff
        score for acceptance; ``n_accepted``, ``tp``, ``precision`` and ``recall`` in the data;
        ``ci_low``: lower limit for the guaranteed quantity, adjusted for the search; ``youden``: J,
        only with ``youden=True``. If no threshold satisfies the guarantee, ``threshold`` is NaN and
        no candidate is accepted.

    Warns
    -----
    RankevalWarning
        If no threshold satisfies the guarantee. The warning gives the reason.

    Notes
    -----
    Choosing the last threshold whose individual interval exceeds the required precision does not
    account for the number of thresholds tried. Instead, this function tests acceptance sets in a
    fixed sequence. The sequence starts with the smallest set that could pass (29 candidates for 0.9
    at 95%), tests every set at the same level, and ends with the first failure. Small sets rarely
    pass, so additional sequences start at twice the size, four times the size, and so on. The error
    rate 1 - level is divided among the K sequences (multi-start fixed-sequence testing). Recall
    never decreases as you accept more candidates, so one sequence is enough, and ci_low is the
    usual one-sided limit. With several measures, 1 - level is divided among the measures
    (Bonferroni, see ``attrs["family"]``) because you can pick the best measure. If you chose a
    measure beforehand, name the measure in ``measures``. For Youden's J, the population value is at
    most sqrt(log(1 / (1 - level)) / 2) times sqrt(1/N+ + 1/(N - N+)) below the value in the data,
    for all thresholds simultaneously (Smirnov's two-sample distribution). The guarantee reduces
    power: only sets with dozens of candidates can reach the required precision.
    ``tests/reference/choose_threshold.csv`` compares failure rates with and without the guarantee
    in simulations. The cost is O(N log N) per measure.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei (2021), Learn then test.
    W. J. Youden (1950), Index for rating diagnostic tests.
    C. J. Clopper and E. S. Pearson (1934).

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(2_000)
    >>> df.rankeval.choose_threshold(recall=0.8)
      measure  threshold  n_accepted   tp  precision    recall    ci_low
    0    good   0.255544         924  180   0.194805  0.857143  0.802384
    1    fair  -0.157297        1203  180   0.149626  0.857143  0.802384
    """
    check_flag("youden", youden)
    if (precision is not None) + (recall is not None) + youden != 1:
        raise ValueError(
            f"precision={precision!r}, recall={recall!r}, youden={youden!r}: pass exactly one of"
            " these, a required precision, a required recall, or youden=True."
        )
    aim = "youden" if youden else "precision" if recall is None else "recall"
    given = precision if recall is None else recall
    if youden and Roles.of(roles).groups is not None:
        raise ValueError(
            "youden=True with groups: the lower limit of J assumes independent candidates. Pass"
            " precision=... or recall=..., which support groups."
        )
    wanted = 0.0 if youden else check_share(aim, given)
    level = check_share("level", level)

    attrs: dict[str, Any] = {"precision": precision, "recall": recall, "level": level}
    names = (*COLUMNS, "youden") if youden else COLUMNS

    def question(candidates: Candidates, _: IntArray | None) -> Rows:
        count = len(candidates.measures)
        attrs["family"] = f"{count} measure{'s' * (count > 1)}"
        kernel = partial(
            _chosen_thresholds, wanted=wanted, level=level_of_each(level, count), aim=aim
        )
        return measure_rows(candidates, kernel)

    return tabulate(data, roles, question, names, can(choose_threshold), attrs=attrs)


def _chosen_thresholds(
    ranking: Ranking, candidates: Candidates, *, wanted: float, level: float, aim: str
) -> dict[str, AnyArray]:
    """Return the chosen threshold and its set: (group, measure)."""
    shape = ranking.score.shape[:-1]
    signs = np.broadcast_to(candidates.sign, shape)
    columns: dict[str, AnyArray] = {name: np.full(shape, np.nan) for name in COLUMNS[1:]}
    columns |= {name: np.zeros(shape, dtype=np.int64) for name in ("n_accepted", "tp")}
    columns["youden"] = np.full(shape, np.nan)
    reasons = []
    for row in np.ndindex(shape):
        sets = rank_tests.sets_of(ranking.row(row))
        if candidates.cluster is not None and sets.n.size:
            members = ListMembers.of(ranking, row, candidates.cluster[:, np.newaxis])
            sets = set_weights(members, sets, of_recall=aim == "recall")
        promise = _PROMISES[aim](sets, wanted, level)
        if promise.chosen is None:
            reasons.append(promise.why)
            continue
        tp, n = int(sets.tp[promise.chosen]), int(sets.n[promise.chosen])
        recall = tp / max(sets.positive, 1)
        values = {
            "threshold": float(sets.threshold[promise.chosen] * signs[row]) + 0.0,
            "n_accepted": n,
            "tp": tp,
            "precision": tp / n,
            "recall": recall,
            "ci_low": promise.low,
            "youden": recall - (n - tp) / max(sets.others, 1),
        }
        for name, value in values.items():
            columns[name][row] = value
    if reasons:
        aimed = "a J above 0" if aim == "youden" else f"a {aim} of {wanted:g}"
        more = ""
        if len(reasons) > 1:
            more = f" for {len(reasons)} rankings (with the reason for the first ranking)"
        warn(f"no threshold guarantees {aimed}{more}: {reasons[0]}.")
    return columns


_PROMISES = {
    "precision": rank_tests.precision,
    "recall": rank_tests.recall,
    "youden": rank_tests.youden,
}
