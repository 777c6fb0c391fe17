"""Plans of annotation: the power by SciPy, and the number of judgments by trying each."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import stats

import rankeval_pd
from rankeval_pd.judging.annotation import (
    _TEETH,
    _bisected_sample,
    _sample_sizes,
    _shares_of_regions,
    _smallest_sample,
    _State,
)

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def test_judgements_are_spread_evenly_beside_those_there_are():
    """Of two regions of 20: none is taken back, and none is larger than its region."""
    for more, judged, wanted in (
        (0, [9, 1], (9, 1)), (4, [9, 1], (9, 5)), (12, [9, 1], (11, 11)), (11, [9, 1], (11, 10)),
        (0, [1, 9], (1, 9)), (4, [1, 9], (5, 9)), (30, [0, 0], (15, 15)), (39, [1, 0], (20, 20)),
    ):  # fmt: skip
        assert _sample_sizes(more, judged, 20) == wanted


def test_a_plan_at_alpha_rejects():
    """Three true candidates against three others: Fisher's p is 1/10."""
    state = _State(3, (0, 0), (0, 0), (0.99, 0.01))
    assert (state.power(0.1, 6), state.power(0.0999, 6)) == (1.0, 0.0)


@pytest.mark.full
def test_a_plan_is_the_first_of_the_teeth():
    """Among all numbers of judgments near it, by trying each."""
    later = 0
    for shares in ((0.5, 0.2), (0.6, 0.3), (0.7, 0.35)):
        reached = partial(_State(60, (0, 0), (0, 0), shares).power, 0.05)
        found, halved = _smallest_sample(reached, 0.8, 120), _bisected_sample(reached, 0.8, 120)
        assert reached(found) >= 0.8
        assert all(reached(more) < 0.8 for more in range(max(halved - _TEETH, 0), found))
        later += found < halved
    assert later


@pytest.mark.full
def test_lists_to_plan_with_share_candidates_of_their_mean_precision():
    """(.4 - .5 x .35) / .5 and (.3 - .5 x .35) / .5; the power by SciPy's laws and Fisher test."""
    found = rankeval_pd.needed_candidates(0.4, 0.3, 0.5, 60).iloc[0]
    assert found["n_judgements"] == 60
    count = np.arange(31)
    law = np.outer(stats.binom.pmf(count, 30, 0.45), stats.binom.pmf(count, 30, 0.25))
    rejected = [
        [stats.fisher_exact([[i, 30 - i], [j, 30 - j]]).pvalue <= 0.05 for j in count]
        for i in count
    ]
    assert found["power"] == pytest.approx((law * rejected).sum(), abs=0.02)
    assert _shares_of_regions(0.6, 0.2, 0.2) == pytest.approx((0.65, 0.15))
    high = rankeval_pd.needed_candidates(0.9, 0.5, 0.6, 50).iloc[0]  # those of both lists: 0.83
    assert high["power"] == pytest.approx(1.0, abs=1e-3)


def test_a_sheet_has_the_odd_one_of_the_first_list(four_measures):
    region = four_measures.rankeval.difference_region("w", "z", 40)
    blank = four_measures.assign(gold=np.nan)
    sheet = rankeval_pd.annotation_sheet(blank, "w", "z", 40, size=5)
    assert region.loc[sheet.index, "list"].value_counts().to_dict() == {"a": 3, "b": 2}


def test_plans_warn_only_of_what_is_left(four_measures):
    """Not where all is judged and the test finds nothing, nor where the power is just reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged = rankeval_pd.plan_annotation(four_measures, "w", "x", 40).iloc[0]
        assert (judged["n_more"], judged["power"]) == (0, 0.0)
        blank, shares = four_measures.assign(gold=np.nan), (0.9, 0.1)
        plan = rankeval_pd.plan_annotation(blank, "w", "z", 40, precisions=shares).iloc[0]
        again = rankeval_pd.plan_annotation(
            blank, "w", "z", 40, precisions=shares, power=float(plan["power"])
        ).iloc[0]
        assert again["power"] >= plan["power"]
