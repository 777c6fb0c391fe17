"""Copies of a ranking, which count once in a family; and margins, which are no measures."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from rankeval_pd import RankevalWarning, in_words

MARGINS = ("f", "f1", "f2", 10**6)


@pytest.fixture
def raw() -> pd.DataFrame:
    """Return pairs of words with their frequencies."""
    rng = np.random.default_rng(5)
    first, second = (rng.integers(20, 300, 400) for _ in range(2))
    both = rng.binomial(np.minimum(first, second), rng.uniform(0.05, 0.5, 400)) + 1
    gold = rng.random(400) < both / np.maximum(first, second)
    return pd.DataFrame({"f": both, "f1": first, "f2": second, "gold": gold})


@pytest.fixture
def both(raw):
    """Return measures of which two rank alike."""
    names = ["t", "dice", "MI", "logDice"]
    return raw.rankeval.with_association_measures(names, margins=MARGINS)


def test_margins_are_roles_once_measures_are_computed_from_them(raw):
    scored = raw.rankeval.with_association_measures(["G2", "t"], margins=MARGINS)
    assert scored.attrs["margins"] == '["f1", "f2"]'
    assert "margins" not in raw.attrs
    assert scored.rankeval.nbest_precision(20)["measure"].tolist() == ["f", "G2", "t"]
    assert scored.rankeval(measures=["f1", "t"]).area()["measure"].tolist() == ["f1", "t"]
    data = xr.Dataset.from_dataframe(raw).rename(index="candidate")
    found = data.rankeval.with_association_measures(["G2"], margins=MARGINS)
    assert found.rankeval.area()["measure"].to_numpy().tolist() == ["f", "G2"]


COPIES = r"measures: 'dice', 'logDice' rank all candidates identically.*exclude=\['logDice'\]"
FAMILIES = {
    "holm": lambda r: r.compare(n=[50, 84], adjust="holm", details=True),
    "max-t": lambda r: r.compare(n=[50, 84], adjust="max-t", n_resamples=999, details=True),
    "bh by n": lambda r: r.compare(n=[50, 84], adjust="bh", adjust_over="n", details=True),
    "areas": lambda r: r.compare_area(adjust="bonferroni", details=True),
    "greater": lambda r: r.compare(n=50, adjust="bonferroni", alternative="greater", details=True),
}


def as_of_all(family):
    """Return the words for a family without copies, from those that count both."""
    family = re.sub(r"^the (\d+) different tests of \d+ (pairs)", r"all \1 \2", family)
    return re.sub(r"^the (\d+) different tests of \d+ (comparisons)", r"\1 \2", family)


@pytest.mark.parametrize("family", FAMILIES)
def test_copies_of_a_ranking_count_once_in_a_family(family, both):
    with pytest.warns(RankevalWarning, match=COPIES) as found:
        table = FAMILIES[family](both.rankeval)
    assert len(found) == 1
    once = FAMILIES[family](both.rankeval(exclude="logDice"))
    keys = [x for x in ("measure_a", "measure_b", "n") if x in table]
    shared = table.set_index(keys).loc[once.set_index(keys).index]
    if family == "greater":  # a reversed pair is another test
        assert table.attrs["family"] == "the 7 different tests of 10 pairs"
    else:
        columns = ["p_value", "p_adjusted", "ci_low", "ci_high"]
        pd.testing.assert_frame_equal(shared[columns], once.set_index(keys)[columns], rtol=1e-9)
        assert as_of_all(table.attrs["family"]) == once.attrs["family"]
        assert "the 6 different tests of 10 pairs" in in_words(table)
    pair = table[(table["measure_a"] == "dice") & (table["measure_b"] == "logDice")]
    assert (pair["p_adjusted"] == 1.0).all()
    assert (pair["ci_low"] == 0.0).all() or family in ("greater", "areas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both.rankeval.nbest_precision(20)  # no family, no warning


@pytest.mark.parametrize("options", [{"baseline": "t"}, {}, {"n": None}, {"adjust": "holm"}])
def test_copies_of_a_ranking_count_once_in_the_ranks(options, both):
    ask = {"n": 60, **options, "details": True}
    with pytest.warns(RankevalWarning, match=COPIES) as found:
        table = both.rankeval.summary(**ask).set_index("measure")
    assert len(found) == 1
    once = both.rankeval(exclude="logDice").summary(**ask).set_index("measure")
    shown = ["p_adjusted", "difference_low", "difference_high"]
    for name in once.index:
        if "n" not in options:  # areas are drawn jointly, with one dimension more
            np.testing.assert_allclose(
                table.loc[name, shown].astype(float), once.loc[name, shown].astype(float)
            )
    assert as_of_all(table.attrs["family"]) == once.attrs["family"]
    rows = table.loc[["dice", "logDice"], ["rank_low", "value", "p_adjusted"]]
    assert rows.iloc[0].equals(rows.iloc[1].rename("dice")) or "n" in options
    with pytest.warns(RankevalWarning, match=COPIES):
        to_dice = both.rankeval.summary(**{**ask, "baseline": "dice"}).set_index("measure")
    copy = to_dice.loc["logDice", ["difference", "difference_low", "difference_high", "p_adjusted"]]
    assert copy.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert (to_dice["p_adjusted"] < 1.0).any() or "n" in ask
