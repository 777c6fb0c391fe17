"""Sentences of small tables made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import in_words
from rankeval_pd.words.numbers import join, p_text, unit_of
from rankeval_pd.words.vocabulary import alpha_of, least_p
from tests.questions import noted


def _compared(**columns: Any) -> pd.DataFrame:
    size = max(len(x) for x in columns.values() if isinstance(x, list))
    frame = pd.DataFrame({"measure_a": "a", "measure_b": [f"b{k}" for k in range(size)], "n": 10})
    frame = frame.assign(**columns)
    frame.attrs = {"method": "compare", "quantity": "precision", "alpha": 0.05, "level": 0.95}
    return frame


def test_a_p_value_on_the_level_is_significant():
    one = _compared(difference=[0.2], ci_low=[0.0], ci_high=[0.4], p_value=[0.05])
    told = in_words(one)
    assert "p = 0.050" in told
    assert "The difference is significant at the 5% level." in told
    assert told.endswith("The interval, which was not computed from this test, contains 0.")
    many = _compared(
        difference=[0.1, 0.2, -0.3, *[0.0] * 6], p_value=[0.05, 0.2, np.nan, *[1.0] * 6]
    )
    told = in_words(many)
    assert told.startswith("Of 8 comparisons, 1 is significant at the 5% level (unadjusted).")
    assert "The largest difference: At n = 10, the precision is 20.0 points higher for a " in told
    many["p_value"] = many["p_value"].fillna(0.5)
    told = in_words(many)
    assert "Of 9 comparisons" in told
    assert "At n = 10, the precision is 30.0 points higher for b2 than" in told


def test_sides_of_one_sided_comparisons():
    row = {"difference": [-0.2], "ci_low": [-0.31], "ci_high": [0.12], "p_value": [0.3]}
    sides = (("greater", "20.0", "at least −31.0"), ("less", "20", "at most 12"))
    for side, gap, limit in sides:
        frame = _compared(**row)
        frame.attrs["alternative"] = side
        told = in_words(frame)
        assert f"the precision is {gap} points lower for a than for b0" in told
        assert f"one-sided 95% limit for a minus b0: {limit} points" in told


def test_ties_and_single_sizes():
    table = pd.DataFrame({
        "measure": ["a", "b"], "n": 10, "value": [0.4, 0.3], "ci_low": 0.1, "ci_high": 0.6,
        "rank_low": 1, "rank_high": 2, "letters": "a", "tied": [1, 0],
        "better_than_chance": [True, False],
    })  # fmt: skip
    told = in_words(noted(table, "summary"))
    assert "The list of a ends inside a tie." in told
    assert "b is not shown to be better than chance." in told
    ranges = pd.DataFrame({
        "measure_a": "a", "measure_b": "b", "better": ["b", "a"], "n_first": [3, 5],
        "n_last": [3, 7], "n_tests": [1, 3], "p_max": [0.01, 0.0004],
    })  # fmt: skip
    first, second = in_words(noted(ranges, "significant_ranges")).split("\n\n")
    assert first.startswith("b is significantly better than a at n = 3 (largest p = 0.010;")
    assert second.startswith("a is significantly better than b at all 3 tested sizes from n = 5 to")
    gaps = in_words(noted(ranges.assign(n_gaps=[0, 2]), "significant_ranges")).split("\n\n")[1]
    assert gaps.startswith("a is significantly better than b at 3 of 5 tested sizes from n = 5 to")


def test_with_a_baseline_each_difference_from_it_is_said():
    table = pd.DataFrame({
        "measure": ["a", "b", "c"], "value": [0.5, 0.4, 0.1], "ci_low": 0.1, "ci_high": 0.6,
        "rank_low": [1, 1, 3], "rank_high": [2, 2, 3], "difference": [0.1, 0.0, -0.3],
        "difference_low": [-0.1, 0.0, -0.5], "difference_high": [0.3, 0.0, -0.1],
        "p_value": [0.4, np.nan, 0.05],
    })  # fmt: skip
    noted(table, "summary", baseline="b", kind="ap", level=0.95, alpha=0.05)
    told = in_words(table)
    assert "is 0.30 higher for b than for c (95% interval 0.10 to 0.50; p = 0.050; un" in told
    assert (
        "is 0.10 higher for a than for b (95% interval −0.10 to 0.30; p = 0.40; unadjusted)" in told
    )
    del table["p_value"]
    told = in_words(table)
    assert "is 0.10 higher for a than for b (95% interval −0.10 to 0.30)." in told
    assert "signific" not in told


def _rows(count: int) -> pd.DataFrame:
    rows = pd.DataFrame({
        "measure": ["a"] * (count - 3) + ["b"] * 3, "n": range(1, count + 1), "tp": 1,
        "expected": 0.5, "lift": 2.0, "p_value": 0.005,
    })  # fmt: skip
    return noted(rows, "random_test")


def test_up_to_eight_rows_have_a_sentence_each():
    told = in_words(_rows(8)).split("\n\n")
    assert len(told) == 9
    assert told[0] == (
        "At n = 1, a has 1 true positive, 2.00 times the 0.50 expected by chance"
        " (one-sided p = 0.005)."
    )
    assert told[-1] == "The p-values are unadjusted."
    long = noted(pd.DataFrame({"measure": "a", "n": range(1, 10), "precision": [0.5] * 8 + [0.9]}),
                 "precision_band")  # fmt: skip
    assert in_words(long) == ("The precision of a ranges from 50.0% to 90.0% (9 rows).")
    assert in_words(_rows(8).iloc[:1]).endswith("(one-sided p = 0.005).")
    tested = _rows(9).assign(measure="a", tp=range(9), p_value=[0.2, *[0.01] * 4, 0.3, *[0.01] * 3])
    tested.attrs["quantity"] = "true-positives"
    assert in_words(tested) == (
        "The true positives of a range from 0 to 8 (9 rows). Of 9 p-values, 7 are at most 0.05,"
        " from n = 2 to n = 9, but not at 1 size between these.\n\nThe p-values are unadjusted."
    )
    many = long.assign(measure=[*"abcdefghi"], n=5)
    many["precision"] = np.arange(9) / 10
    assert in_words(noted(many, "precision_band")) == (
        "The precision of all rows ranges from 0.0% to 80.0% (9 rows).\n\n"
        "At n = 5, the precision of i is 80.0%.\n\nAt n = 5, the precision of a is 0.0%."
    )
    reached = pd.DataFrame({"measure": [*"aaaaaaaabb"], "p": 0.05, "n_first": 2, "n_last": 9})
    told = in_words(noted(reached, "crossovers")).split("\n\n")
    assert told[-1] == "The table has 2 more rows (for b)."


def test_the_p_values_of_tie_orders_have_a_conclusion():
    rows = pd.DataFrame({
        "measure_a": "a", "measure_b": "b", "n": [1, 2, 3, 4], "p_min": [0.01, 0.01, 0.2, np.nan],
        "p_median": [0.02, 0.05, 0.3, np.nan], "p_max": [0.03, 0.2, 0.4, np.nan],
    })  # fmt: skip
    told = in_words(noted(rows, "tie_sensitivity")).split("\n\n")
    assert told[0].endswith("The difference is significant at the 5% level in all of these orders.")
    assert told[1].endswith(
        "The order determines whether the difference is significant at the 5% level."
    )
    assert told[2].endswith(
        "The difference is not significant at the 5% level in any of these orders."
    )
    assert "level" not in told[3]
    bins = pd.DataFrame({"p_low": [0.0, 0.01], "p_high": [0.01, 1.0], "n_pairs": [0, 4],
                         "agreement": [np.nan, 0.75], "expected_agreement": 0.8})  # fmt: skip
    assert in_words(noted(bins, "calibration")).startswith(
        "Of 4 pairs with one-sided p between 0.01 and 1, 75.0% keep the sign"
    )


@pytest.mark.parametrize(
    ("p", "asked", "written"),
    [
        (0.0996, {}, "p = 0.100"),
        (0.2049, {"alpha": 0.2}, "p = 0.205"),
        (1 / 5_000, {"least": 1 / 5_000}, "p ≤ 0.0002"),
        (2 / 5_000, {"least": 1 / 5_000}, "p < 0.001"),
        (1 / 850, {"least": 1 / 850}, "p ≤ 0.0012"),
        (1 / 1_000, {"least": 1 / 1_000}, "p ≤ 0.001"),
    ],
)
def test_p_values_as_journals_print_them(p, asked, written):
    assert p_text(p, **asked) == written


def test_the_least_p_value_names_and_decimals():
    assert least_p({"n_resamples": 999, "adjust": "max-t"}) == 1 / 1_000
    assert least_p({"n_resamples": 999, "test": "wild"}) == 1 / 1_000
    assert least_p({"n_resamples": 999, "adjust": "holm"}) == 0.0
    assert join("abcdef") == "a, b, c, d, e, and f"
    assert join("abcdefg") == "7 others"
    assert (join("ab", "or"), join("abc", "or")) == ("a or b", "a, b, or c")
    assert alpha_of({"level": 0.99}) == pytest.approx(0.01)
    assert unit_of([0.4567], [], percent=True).decimals == 1
