"""Association measures of frames: values of SciPy and R, cells, margins, number types."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import chi2_contingency, fisher_exact

from rankeval_pd.stats.contingency import MEASURES
from tests.stats import exact

CELLS = ["O11", "O12", "O21", "O22"]
MARGINS = ("f", "f1", "f2", "N")
ALL = ["G2", "X2", "t", "MI", "f"]
EVERY = list(MEASURES)


@pytest.fixture
def tables() -> pd.DataFrame:
    """40 tables of words that attract and that repel each other."""
    rng = np.random.default_rng(3)
    cells = rng.integers(1, [40, 200, 300, 5000], size=(40, 4))
    return pd.DataFrame(cells, columns=CELLS, index=[f"pair {i}" for i in range(40)])


# ----------------------------------------------------------------------------------------- scores


def test_brown_bigrams(brown):
    """Fisher's test of SciPy where p is a float, mpmath where it underflows; chi2_contingency."""
    scored = brown.rankeval.with_association_measures()
    assert len(scored) == 24_167
    assert not scored[EVERY].isna().any(axis=None)
    finite = [name for name in EVERY if name not in ("log_odds_ratio", "log_relative_risk")]
    assert np.isfinite(scored[finite]).all(axis=None)
    for row in scored.iloc[::400].itertuples():
        square = np.array([[row.O11, row.O12], [row.O21, row.O22]])
        p = fisher_exact(square, alternative="greater").pvalue
        assert p < 1e-300 or 10**-row.neglog10_fisher == pytest.approx(p, rel=1e-8)
        # SciPy adds four terms that nearly cancel
        g2 = chi2_contingency(square, correction=False, lambda_="log-likelihood").statistic
        assert pytest.approx(np.sign(row.z) * g2, rel=1e-10, abs=1e-8) == row.G2
        x2 = chi2_contingency(square, correction=True).statistic
        assert row.X2_yates == pytest.approx(np.sign(row.z) * x2, rel=1e-9, abs=1e-12)
    underflowing = scored[scored["neglog10_fisher"] > 300]
    assert len(underflowing) > 50
    for row in underflowing.itertuples():
        cells = [int(x) for x in (row.O11, row.O12, row.O21, row.O22)]
        margins = sum(cells), cells[0] + cells[1], cells[0] + cells[2]
        p = exact.big_hypergeometric_tail(cells[0], *margins)
        assert row.neglog10_fisher == pytest.approx(-exact.log(p) / math.log(10), rel=1e-12)
        p = exact.big_poisson_tail(cells[0], Fraction(margins[1] * margins[2], margins[0]))
        assert row.neglog10_poisson == pytest.approx(-exact.log(p) / math.log(10), rel=1e-12)


def test_independent_words_score_zero_and_a_pair_that_never_occurs_comes_last():
    tables = pd.DataFrame([[2, 48, 38, 912], [0, 5, 5, 90], [0, 0, 5, 90]], columns=CELLS)
    found = tables.rankeval.with_association_measures(["t", "MI", "G2", "X2"])
    assert found.loc[0, ["t", "MI", "G2", "X2"]].tolist() == [0.0] * 4
    assert found.loc[1, ["t", "MI"]].tolist() == [-math.inf, -math.inf]
    assert (found.loc[1, ["G2", "X2"]] < 0).all()
    assert found.loc[2, ["t", "MI"]].isna().all()  # undefined
    assert found.loc[2, ["G2", "X2"]].tolist() == [0.0, 0.0]


def test_scores_of_sketch_engine_bouma_and_gries():
    """Values worked out by hand, of a table with f = 8, f1 = 16, f2 = 16, N = 1024."""
    frame = pd.DataFrame({"f": [8], "f1": [16], "f2": [16], "N": [1024]})
    found = frame.rankeval.with_association_measures(margins=MARGINS).iloc[0]
    assert (found["logDice"], found["MI3"]) == (
        13.0,
        11.0,
    )  # 14 + log2(2 * 8 / 32), log2(8^3 / 0.25)
    assert found["NPMI"] == 5 / 7  # log2(8 / 0.25) / -log2(8 / 1024)
    assert found["deltaP_forward"] == pytest.approx(8 / 16 - 8 / 1008, rel=1e-14)
    assert found["deltaP_backward"] == found["liddell"]
    tables = pd.DataFrame(
        [[0, 5, 5, 90], [5, 0, 0, 95], [5, 45, 5, 45], [0, 0, 5, 95]], columns=CELLS
    )
    ends = tables.rankeval.with_association_measures()
    assert ends["min_sensitivity"][2] == 0.1  # of 5 / 50 and 5 / 10
    assert ends["NPMI"].tolist()[:3] == [-1.0, 1.0, 0.0]
    assert ends[["NPMI", "LRC"]].iloc[3].isna().all()
    assert ends["logDice"].tolist()[:2] == [-np.inf, 14.0]
    assert ends["LRC"][2] == 0.0
    assert ends["deltaP_forward"].tolist()[1:3] == [1.0, 0.0]


# ------------------------------------------------------------------------ conservative log ratio

# f, f2 and LRC of words in log-ratio-gold.tsv of pandas-association-measures 0.3.2, computed in R
# by the author of the measure: 599 words, f1 = 168329, N = 19720567, level 95%, Bonferroni
GOLD = [
    (1189, 2157, 6.910068549501856), (49, 88, 5.941562136184079), (22, 33, 5.7600897023524364),
    (1178, 4564, 5.141828566151466), (15, 18, 5.991330482867978), (249, 1196, 4.513587650180367),
    (7, 10, 4.0603178799231285), (5, 7, 3.219920584278789), (124, 779, 3.870614479615809),
    (302, 2562, 3.5951034470928094), (6, 17, 2.3253480725220195), (5, 24, 0.975708228231368),
    (577, 13484, 2.127643233227812), (234, 7125, 1.5839752475408215), (5, 141, 0.0),
    (23, 1914, 0.0), (2166, 429001, -0.6415905032796787), (31, 3036, 0.0),
]  # fmt: skip


def test_lrc_is_the_published_gold():
    rows = GOLD + [(1, 1, np.nan)] * (599 - len(GOLD))
    data = pd.DataFrame(rows, columns=["f", "f2", "gold"]).assign(f1=168329, N=19720567)
    found = data.rankeval.with_association_measures("LRC", margins=MARGINS, alpha=0.05)
    known = len(GOLD)
    np.testing.assert_allclose(found["LRC"][:known], data["gold"][:known], rtol=1e-12, atol=0)
    alone = data[:known].rankeval.with_association_measures(
        "LRC", margins=MARGINS, alpha=0.05 / 599, adjust=None
    )
    np.testing.assert_array_equal(alone["LRC"], found["LRC"][:known])
    lazy = data.drop(columns="gold").rename_axis("candidate").to_xarray().chunk(candidate=100)
    lazy = lazy.rankeval.with_association_measures("LRC", margins=MARGINS, alpha=0.05)
    np.testing.assert_array_equal(lazy["LRC"].to_numpy(), found["LRC"])
    for wrong in ({"alpha": 0}, {"adjust": "holm"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            data.rankeval.with_association_measures("LRC", margins=MARGINS, **wrong)


# ------------------------------------------------------------------------------- names and columns


def test_none_is_every_measure_and_names_have_their_order(tables):
    found = tables.rankeval.with_association_measures()
    assert list(found.columns) == CELLS + EVERY
    assert set(found.dtypes[EVERY].astype(str)) == {"float64"}
    some = tables.rankeval.with_association_measures(["t", "G2"])
    pd.testing.assert_frame_equal(some, found[[*CELLS, "t", "G2"]])
    ds = tables.rename_axis("candidate").to_xarray().assign_attrs(source="here")
    lazy = ds.chunk(candidate=20).rankeval.with_association_measures()
    assert lazy["neglog10_fisher"].chunks
    assert lazy.attrs == {"source": "here"}
    pd.testing.assert_frame_equal(lazy.to_dataframe()[EVERY], found[EVERY], check_names=False)


def test_its_columns_are_measures_and_the_cells_are_not(tables):
    scored = tables.assign(gold=tables["O11"] > 20).rankeval.with_association_measures(["G2", "t"])
    assert scored.rankeval.nbest_precision(5)["measure"].tolist() == ["G2", "t"]


def test_margins_are_cells(tables):
    o11, o12, o21, _ = (tables[name] for name in CELLS)
    sizes = tables.assign(f=o11, f1=o11 + o12, f2=o11 + o21, N=tables.sum(axis=1))
    names = [name for name in EVERY if name != "f"]
    wanted = tables.rankeval.with_association_measures(names)[names]
    found = sizes.rankeval.with_association_measures(margins=MARGINS)
    pd.testing.assert_frame_equal(found[names], wanted)
    assert list(found.columns) == [*sizes.columns, *names]
    of_dataset = xr.Dataset.from_dataframe(sizes).rankeval.with_association_measures(
        "G2", margins=MARGINS
    )
    assert of_dataset["G2"].to_numpy().tolist() == wanted["G2"].tolist()
    for margins, error, message in (
        (("g", "f1", "f2", 10), KeyError, "margins: no column 'g'"),
        (("f", "f1"), ValueError, "pass the columns that contain f, f1 and f2"),
        (("f", "f1", "f2", 1), ValueError, "'O22 of margins' is negative"),
    ):
        with pytest.raises(error, match=message):
            sizes.rankeval.with_association_measures("MI", margins=margins)


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict.fromkeys(CELLS, 0), r"all four cells are 0 in 1 of 1 tables"),
        ({"O22": np.inf}, r"'O22' is negative or not finite in 1 of 1"),
        ({"O21": np.nan}, r"'O21' is negative or not finite in 1 of 1"),
        ({"O12": -1}, r"'O12' is negative or not finite in 1 of 1 tables, for example -1.0"),
    ],
)
def test_impossible_tables(change, message):
    data = pd.DataFrame([[1, 2, 3, 4]], columns=CELLS).assign(**change)
    for form in (data, xr.Dataset.from_dataframe(data)):
        with pytest.raises(ValueError, match=message):
            form.rankeval.with_association_measures("G2")


@pytest.mark.parametrize("name", ["neglog10_fisher", "neglog10_poisson"])
def test_p_values_need_counts(tables, name):
    broken = tables.astype(float)
    broken.iloc[[3, 5], 1] += 0.5
    message = r"in 2 of 40 tables, for example [\d.]+5, but 'neglog10_"
    with pytest.raises(ValueError, match=message):
        broken.rankeval.with_association_measures(["G2", name])
    others = [x for x in EVERY if not x.startswith("neglog10")]
    assert not broken.rankeval.with_association_measures(others)[others].isna().any(axis=None)


def test_unknown_names_and_names_that_are_taken(tables):
    ask = tables.rankeval.with_association_measures
    message = r"^measures='Dice' is not a known measure. Did you mean 'dice'\?$"
    with pytest.raises(ValueError, match=message):
        ask(["G2", "Dice"])
    for theirs, ours in (("PMI", "MI"), ("log-likelihood", "G2"), ("chi2", "X2")):
        with pytest.raises(ValueError, match=f"This measure is called '{ours}' here"):
            ask(theirs)
    with pytest.raises(KeyError, match=r"cells: no column 'O12'.*The known names are 'O11', 'O13'"):
        tables.rename(columns={"O12": "O13"}).rankeval.with_association_measures("G2")
    taken = tables.assign(G2=1.0)
    for data in (taken, xr.Dataset.from_dataframe(taken)):
        with pytest.raises(ValueError, match=r"has a column 'G2'"):
            data.rankeval.with_association_measures(["t", "G2"])


# ----------------------------------------------------------------- number types: each is float64

COUNTS = {"f": [8, 2], "f1": [16, 100], "f2": [16, 120], "N": [1024, 300]}


def scored(data, margins=MARGINS):
    names = ["G2", "X2", "MI", "t", "dice"]
    return data.rankeval.with_association_measures(names, margins=margins)[names]


@pytest.mark.parametrize("dtype", ["float16", "UInt8", "double[pyarrow]", "int8"])
def test_margins_of_any_number_type(dtype):
    """Narrow counts beside a large N, and impossible margins that must not wrap around."""
    if dtype.endswith("[pyarrow]"):
        pytest.importorskip("pyarrow")
    counts = pd.DataFrame(COUNTS)
    narrow = counts.astype(dict.fromkeys(["f", "f1", "f2"], dtype))
    for size in ("N", 10**9, np.int64(10**12)):
        margins = ("f", "f1", "f2", size)
        pd.testing.assert_frame_equal(scored(narrow, margins), scored(counts, margins))
    assert scored(narrow)["MI"][0] == 5.0  # log2(8 * 1024 / 16**2)
    with pytest.raises(ValueError, match=r"'O12 of margins' is negative .* example -8.0"):
        scored(narrow, ("f1", "f", "f2", "N"))
    with pytest.raises(ValueError, match=r"'O22 of margins' is negative .* N is too small"):
        scored(narrow, ("f", "f1", "f2", 20))


@pytest.mark.parametrize("dtype", ["category", "datetime64[ns]", "str"])
def test_margins_and_cells_that_are_no_numbers(dtype):
    data = pd.DataFrame(COUNTS).astype({"f1": dtype})
    with pytest.raises(TypeError, match=r"margins: 'f1' has dtype .*must be numbers"):
        scored(data)
    ds = data.astype({"f1": object}).rename_axis("candidate").to_xarray()
    with pytest.raises(TypeError, match=r"margins: 'f1' has dtype (object|date)"):
        scored(ds)
    cells = data.set_axis(CELLS, axis=1)
    with pytest.raises(TypeError, match=r"'O12' has dtype .*frequencies must be numbers"):
        cells.rankeval.with_association_measures("MI")


def test_a_size_that_is_no_number():
    for size in (None, np.nan, [1024], True):
        with pytest.raises((TypeError, ValueError), match="margins: N="):
            scored(pd.DataFrame(COUNTS), ("f", "f1", "f2", size))


def test_a_missing_nullable_cell_and_a_name_of_two_columns(tables):
    holed = tables.astype("Int64")
    holed.iloc[3, 1] = pd.NA
    with pytest.raises(ValueError, match=r"'O12' is negative or not finite in 1 of 40"):
        holed.rankeval.with_association_measures("G2")
    twice = pd.DataFrame({**COUNTS, "g": [1, 1]}).rename(columns={"g": "f"})
    with pytest.raises(ValueError, match="margins: data has 2 columns named 'f'"):
        scored(twice)
