"""What was promised of classifiers and campaigns, in the tables of their simulations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REFERENCE = Path(__file__).parent / "simulations"


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(REFERENCE / f"{name}.csv")


def above(level: float, samples) -> np.ndarray:
    """Return two Monte-Carlo errors above a level that holds."""
    return level + 2.0 * np.sqrt(level * (1.0 - level) / np.asarray(samples))


def test_ratios_hold_their_level_and_their_power():
    found = table("ratios")
    assert (found["samples"] >= 2_000).all()
    sizes = found.dropna(subset="size")
    assert len(sizes) >= 90
    assert (sizes["size"] <= above(0.06, sizes["samples"])).all()
    assert (found["coverage"] >= 0.93).all()
    power = found.dropna(subset="power")  # of McNemar's exact test for recall, else of Fisher's
    assert set(power["metric"]) == {"precision", "recall"}
    assert (power["power"] >= power["peer"] - 0.05).all()
    # F1 of 5 to 9 guesses is warned of by its own rule: nobody knows the test's level there
    often = found[found["warned"] > 0.1]
    assert (often["metric"] == "f1").all()
    assert often["setting"].str.startswith("100 items").all()


def test_differences_of_areas_cover_and_are_nearly_as_narrow_as_they_can_be():
    found = table("area_laws").query("what == 'difference'")
    assert (found["samples"] >= 2_000).all()
    assert (found["coverage"] >= 0.93).all()
    # DeLong's, widened until it holds in the settings that the same data cannot tell apart
    beside = found["beside"]
    assert np.allclose(beside, found["width"] / found["least"].clip(lower=1.0), atol=0.001)
    wide = found[beside > 1.3]
    assert len(wide) <= 10 < len(found) / 9
    assert (
        wide["setting"].str.contains("areas 0.983 and 0.983") | (beside < 1.33)[wide.index]
    ).all()
    many = found["positive"] == 100
    assert (found[many]["width"] <= 1.4).all()
    assert (found[many & (found["width"] > 1.3)]["setting"].str.count("0.983") == 2).all()


def test_tests_of_areas_have_the_power_of_their_peers():
    found = table("area_laws")
    rule = found.query("what == 'two scores'")  # Mann and Whitney's
    power = rule.dropna(subset="power")
    assert (power["power"] >= power["peer"] - 0.05).all()
    assert (rule["size"].dropna() <= above(0.06, 2_000)).all()
    two = found.query("what == 'difference'")
    assert (two["size"].dropna() <= 0.06).all()
    two = two.dropna(subset="power")
    gap = two["peer"] - two["power"]
    assert (gap[two["positive"] >= 30] <= 0.05).all()
    assert (gap[two["positive"] == 20] <= 0.08).all()
    # with 10 positives DeLong's test is no valid peer
    sizes = table("areas").query("what == 'size' and positive == 10 and by == 'delong'")
    assert sizes["share"].max() > 0.08


@pytest.mark.parametrize("name", ["curve_bands", "thresholds"])
def test_bands_and_intervals_at_a_threshold_cover(name):
    found = table(name)
    assert (found["samples"] >= 1_990).all()  # a few samples have no place for a band
    assert (found["band" if name == "curve_bands" else "coverage"] >= 0.93).all()


def test_tests_at_a_threshold_hold_their_level_and_their_power():
    found = table("thresholds")
    sizes = found.dropna(subset="size")
    assert (sizes["size"] <= 0.06).all()
    assert (sizes["warned"] <= 0.1).all()
    # McNemar's exact test is the default of error rates; its mid-p has more power and is valid too
    rates = found[found["of"].isin(["recall", "specificity"])]
    assert (rates.dropna(subset="size")["peer"] <= above(0.06, 2_000)).all()
    assert (rates["peer"] >= rates["power"].fillna(0.0)).all()


def test_plans_keep_what_they_promise_and_pilots_taken_as_true_do_not():
    found = table("assurance")
    assured = found[found["kind"] == "assurance"]
    assert ((assured["power"] - assured["simulated"]).abs() <= 0.03).all()
    assert (assured["in_range"].dropna() >= 0.93).all()
    naive = found[found["kind"] == "naive"]
    assert (naive["power"] - naive["simulated"]).max() > 0.09
