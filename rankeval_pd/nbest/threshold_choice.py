"""Which threshold promises a precision, a recall or Youden's J, after a search over all of them?"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_flag, check_share, warn
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import RankingRoles, Roles
from rankeval_pd.nbest.clustered_lists import set_weights
from rankeval_pd.nbest.grouped_lists import ListMembers
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import rank_tests
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import level_of_each

COLUMNS = ("measure", "threshold", "n_accepted", "tp", "precision", "recall", "ci_low")
_TYPES = (float, np.int64, np.int64, float, float, float)


@Capabilities(rankings="Which threshold to take?", any_ties=True, by_groups=True, clusters=True)
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
    """Choose the threshold that promises a precision, a recall or Youden's J.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    precision : float, optional
        The precision that the accepted candidates are to have: the lowest threshold is chosen of
        which that can be said, so that most are accepted.
    recall : float, optional
        In its place, the share of the true positives that is to be accepted: the highest threshold
        is chosen of which that can be said.
    youden : bool
        In their place, the threshold with the largest J = sensitivity + specificity - 1. What is
        promised is a lower limit of its J in the population.
    level : float
        Confidence with which the promises hold for the chosen thresholds of all measures together.
    **roles
        Which column is what, see :func:`nbest_precision`. Thresholds do not cut equal scores,
        whatever ``ties`` is.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``, ``threshold``: accepted is
        what has this score or a better one; ``n_accepted``, ``tp``, ``precision`` and ``recall`` in
        the data; ``ci_low``: lower limit of the promised one, at the level that the search leaves
        for it; with ``youden`` of J, which is the last column, ``youden``. Where no threshold can
        be promised to hold, ``threshold`` is NaN and nothing is accepted.

    Warns
    -----
    RankevalWarning
        If nothing can be promised, with the reason.

    Notes
    -----
    To take the last threshold whose own interval is above the precision asked for is to choose
    among many: it promises too much. Here the sets are tested in a sequence that is fixed
    beforehand. It starts with the smallest set that could pass (29 candidates for .9 at 95%),
    tests each at the same level, and ends with the first that fails. Small sets rarely pass, so
    sequences also start at sets of twice, four times, ... the size, and the K of them share
    1 - level (multi-start fixed-sequence testing). The precision of larger sets that are reached by
    passing every one before is then known with the confidence of all together. Recall rises with
    every candidate accepted, so one sequence suffices and ci_low is the ordinary one-sided limit.
    Several measures share 1 - level (Bonferroni), for you may take the one that looks best; in
    ``attrs["family"]``. Name a single one in ``measures`` if it was chosen beforehand.
    No threshold, and so not the chosen one either, has a J that is more than
    sqrt(log(1 / (1 - level)) / 2) times sqrt(1/N+ + 1/(N - N+)) below its J in the data
    (Smirnov's law for two samples).
    What this costs is power: it takes some dozens of candidates, or more, that are better than the
    precision asked for. How often the promise was broken in simulations, beside the plain choice,
    is in ``tests/reference/choose_threshold.csv``. O(N log N) per measure.

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
            f"precision={precision!r}, recall={recall!r}, youden={youden!r}: give one of the three,"
            " the share that the accepted candidates are to reach, or youden=True."
        )
    aim = "youden" if youden else "precision" if recall is None else "recall"
    given = precision if recall is None else recall
    if youden and Roles.of(roles).groups is not None:
        raise ValueError(
            "youden=True with groups: its limit takes candidates as independent. Ask for"
            " precision=... or recall=..., which know groups."
        )
    wanted = 0.0 if youden else check_share(aim, given)
    level = check_share("level", level)

    attrs: dict[str, Any] = {"precision": precision, "recall": recall, "level": level}
    names, types = (
        (*COLUMNS, *(("youden",) if youden else ())),
        (*_TYPES, *((float,) if youden else ())),
    )

    def question(inner: xr.Dataset, _: AnyArray) -> xr.Dataset:
        count = inner.sizes["measure"]
        attrs["family"] = f"{count} measure{'s' * (count > 1)}"
        each = level_of_each(level, count)
        result = ask_measures(
            inner, _columns, dict(zip(names[1:], types, strict=True)),
            beside=[inner[name] for name in ("sign", "cluster") if name in inner],
            options={"wanted": wanted, "level": each, "aim": aim},
        )  # fmt: skip
        return result.assign(exists=xr.ones_like(result["threshold"], dtype=bool))

    return answer(data, roles, question, names, can(choose_threshold), attrs=attrs)


def _columns(
    ranking: Ranking, sign: FloatArray, cluster: IntArray | None = None, *, wanted: float,
    level: float, aim: str,
) -> tuple[AnyArray, ...]:  # fmt: skip
    shape = ranking.score.shape[:-1]
    signs = np.broadcast_to(sign, shape)
    columns = [np.zeros(shape, dtype=dtype) for dtype in _TYPES]
    index, reasons = np.full(shape, np.nan), []
    for row in np.ndindex(shape):
        sets = rank_tests.sets_of(ranking.row(row))
        if cluster is not None and sets.n.size:
            members = ListMembers.of(ranking, row, cluster)
            sets = set_weights(members, sets, of_recall=aim == "recall")
        found = _PROMISES[aim](sets, wanted, level)
        chosen, low = found.chosen, found.low
        values: tuple[float, ...] = (np.nan, 0, 0, np.nan, np.nan, np.nan)
        if chosen is not None:
            tp, n = int(sets.tp[chosen]), int(sets.n[chosen])
            threshold = float(sets.threshold[chosen] * signs[row]) + 0.0
            values = (threshold, n, tp, tp / n, tp / max(sets.positive, 1), low)
            index[row] = tp / max(sets.positive, 1) - (n - tp) / max(sets.others, 1)
        else:
            reasons.append(found.why)
        for column, value in zip(columns, values, strict=True):
            column[row] = value
    if reasons:
        more = f" ({len(reasons)} rankings; the first)" if len(reasons) > 1 else ""
        aimed = "a J above 0" if aim == "youden" else f"the {aim} {wanted:g}"
        warn(f"no threshold can be promised {aimed}{more}: {reasons[0]}.")
    return (*columns, index) if aim == "youden" else tuple(columns)


_PROMISES = {
    "precision": rank_tests.precision, "recall": rank_tests.recall, "youden": rank_tests.youden
}  # fmt: skip
