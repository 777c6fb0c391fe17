"""Association measures against SciPy, published examples, the UCS toolkit, fractions and mpmath."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.contingency import MEASURES, Cells, minus, product, quotient, root
from tests.stats import exact

REFERENCE = Path(__file__).parents[1] / "simulations" / "ucs.csv"
TABLES = [  # O11, O12, O21, O22
    (10, 20, 30, 400),
    (1, 50, 60, 3),
    (0, 20, 30, 400),
    (5, 0, 3, 12),
    (7, 0, 0, 9),
    (0, 4, 6, 0),
    (30, 1000, 2000, 10**6),
    (123, 4567, 8901, 234_567),
]


def score(name, table):
    """Return the score of a table, or of the tables of four arrays."""
    return MEASURES[name](Cells(*np.array(table, dtype=float)))


def excess(o11, o12, o21, o22):
    """Return O11 - E11 as a fraction."""
    return Fraction(o11 * o22 - o12 * o21, o11 + o12 + o21 + o22)


# ---- Values of other programs and of papers


@pytest.mark.parametrize(("name", "kind"), [("G2", "log-likelihood"), ("X2", "pearson")])
@pytest.mark.parametrize("table", TABLES)
def test_against_scipy(name, kind, table):
    """scipy.stats.chi2_contingency without correction, with the sign of O11 - E11."""
    found = stats.chi2_contingency(np.reshape(table, (2, 2)), correction=False, lambda_=kind)
    wanted = found.statistic if excess(*table) > 0 else -found.statistic
    assert_allclose(score(name, table), wanted, rtol=1e-10)


@pytest.mark.parametrize("table", [t for t in TABLES if 0 not in t] + [(3, 5, 4, 7)])
def test_yates_against_scipy(table):
    """scipy.stats.chi2_contingency with correction; z is the contribution of the first cell."""
    statistic = stats.chi2_contingency(np.reshape(table, (2, 2)), correction=True).statistic
    sign = 1 if excess(*table) > 0 else -1
    assert_allclose(score("X2_yates", table), sign * statistic, rtol=1e-10)
    o11, o12, o21, o22 = table
    share = Fraction((o21 + o22) * (o12 + o22), (o11 + o12 + o21 + o22) ** 2)
    assert_allclose(score("z_yates", table) ** 2, statistic * float(share), rtol=1e-10)
    statistic = stats.chi2_contingency(np.reshape(table, (2, 2)), correction=False).statistic
    assert_allclose(score("z", table) ** 2, statistic * float(share), rtol=1e-10)


@pytest.mark.parametrize(
    "table",
    [
        (2000, 10, 12, 10**6),
        (9000, 500, 4000, 10**7),
        (0, 40, 20, 10**6),
        (900, 2800, 8800, 20_200),
    ],
)
def test_p_values_far_out(table):
    """-log10 of both p-values in mpmath with 50 digits, from 1e4 down to 1e-20."""
    o11, row, column, total = table[0], table[0] + table[1], table[0] + table[2], sum(table)
    p_values = {
        "neglog10_fisher": exact.big_hypergeometric_tail(o11, total, row, column),
        "neglog10_poisson": exact.big_poisson_tail(o11, Fraction(row * column, total)),
    }
    for name, p in p_values.items():
        with mpmath.workdps(60):
            expected_score = float(-mpmath.log10(p))
        assert_allclose(score(name, table), expected_score, rtol=1e-10)


# of the UCS toolkit's columns: our name, and how many of our units make one of theirs
LOG2, LN = 1 / np.log10(2), np.log(10)

UCS = {
    "am.Dice": ("dice", 1), "am.Jaccard": ("jaccard", 1), "am.gmean": ("gmean", 1),
    "am.MS": ("min_sensitivity", 1), "am.MI": ("MI", LOG2), "am.MI2": ("MI2", LOG2),
    "am.MI3": ("MI3", LOG2), "am.local.MI": ("local_MI", LOG2),
    "am.log.likelihood": ("G2", 1), "am.chi.squared": ("X2", 1), "am.t.score": ("t", 1),
    "am.z.score": ("z", 1), "am.Fisher.pv": ("neglog10_fisher", 1),
    "am.Poisson.pv": ("neglog10_poisson", 1), "am.Poisson.Stirling": ("poisson_stirling", LN),
    "am.odds.ratio.disc": ("log_odds_ratio_discounted", LN),
    "am.relative.risk": ("log_relative_risk", LN),
}  # fmt: skip


def ucs_tables():
    """Return the toolkit's scores and the cells of their tables."""
    scores = pd.read_csv(REFERENCE, comment="#")
    f, f1, f2, n = (scores[name].to_numpy(dtype=float) for name in ("f", "f1", "f2", "N"))
    return scores, (f, f1 - f, f2 - f, n - f1 - f2 + f)


@pytest.mark.parametrize("column", UCS)
def test_against_the_ucs_toolkit(column):
    """Scores that Evert's own programme computed; its logarithms are to base 10."""
    scores, cells = ucs_tables()
    name, unit = UCS[column]
    # the toolkit's G2 is a sum of terms that nearly cancel
    close = {"rtol": 1e-10, "atol": 5e-11 if name == "G2" else 0.0}
    assert_allclose(score(name, cells), scores[column] * unit, **close)


def test_where_the_ucs_toolkit_differs():
    """Its average MI has no sign, its Yates correction goes past 0, its infinity is a number."""
    scores, cells = ucs_tables()
    average = np.abs(score("average_MI", cells))
    assert_allclose(average, scores["am.average.MI"] * LOG2, rtol=1e-10, atol=5e-11)
    beyond = np.abs(cells[0] - Cells(*cells).expected) > 0.5
    for name, column in [("X2_yates", "am.chi.squared.corr"), ("z_yates", "am.z.score.corr")]:
        found = score(name, cells)
        assert_allclose(found[beyond], scores[column][beyond], rtol=1e-10)
        assert_array_equal(found[~beyond], 0.0)
    odds = score("log_odds_ratio", cells)
    finite = scores["am.odds.ratio"].to_numpy() < 1e7
    assert_allclose(odds[finite], scores["am.odds.ratio"][finite] * LN, rtol=1e-10)
    assert_array_equal(odds[~finite], np.inf)


def new_york_times(frequency_1, frequency_2, together):
    """Return the table of a word pair in Manning and Schuetze's corpus of 14,307,668 words."""
    first, second = frequency_1 - together, frequency_2 - together
    return [together, first, second, 14_307_668 - first - second - together]


def test_manning_and_schuetze():
    """Manning and Schuetze (1999), section 5.3: new companies, tables 5.6 and 5.14."""
    new_companies = new_york_times(15_828, 4675, 8)
    assert new_companies == [8, 15_820, 4667, 14_287_173]
    assert round(float(score("t", new_companies)), 6) == 0.999932
    assert round(float(score("X2", new_companies)), 2) == 1.55
    published = {  # frequencies; t, with the digits after the fourth cut off; MI
        (42, 20): (4.4721, 18.38),
        (41, 27): (4.4721, 17.98),
        (30, 117): (4.4720, 16.31),
        (14_907, 9017): (2.3714, 1.09),
        (13_484, 10_570): (2.2446, 1.01),
        (14_734, 13_478): (1.3685, 0.53),
        (14_093, 14_776): (1.2176, 0.46),
        (15_019, 15_629): (0.8036, 0.29),
    }
    tables = np.transpose([new_york_times(*frequencies, 20) for frequencies in published])
    t, mi = np.transpose([*published.values()])
    assert_array_equal(np.floor(score("t", tables) * 1e4) / 1e4, t)
    assert_array_equal(np.round(score("MI", tables), 2), mi)


def test_dunning():
    """Dunning (1993), the table of -2 log lambda: the swiss, can be, previous year, at the, ..."""
    tables = [(110, 2442, 111, 29_114), (29, 13, 123, 31_612), (31, 23, 139, 31_584)]
    tables += [(76, 104, 2476, 29_121), (16, 0, 865, 30_896)]
    found = score("G2", np.transpose(tables))
    assert_array_equal(np.round(found, 2), [270.72, 263.90, 256.84, 157.21, 115.02])


@pytest.mark.parametrize("table", [t for t in TABLES if 0 not in t])
def test_formulas_of_coefficients(table):
    """Textbook formulas in fractions and mpmath."""
    o11, o12, o21, o22 = table
    r1, c1, c2, n = o11 + o12, o11 + o21, o12 + o22, sum(table)
    e11 = Fraction(r1 * c1, n)
    risk = Fraction(o11, c1) / Fraction(o12, c2)
    odds = Fraction(o11 * o22, o12 * o21)
    discounted = Fraction((2 * o11 + 1) * (2 * o22 + 1), (2 * o12 + 1) * (2 * o21 + 1))
    with mpmath.workdps(40):

        def log(x):
            return mpmath.log(mpf(x.numerator) / x.denominator)

        wanted = {
            "MI2": log(Fraction(o11**2) / e11) / mpmath.log(2),
            "local_MI": o11 * log(Fraction(o11) / e11) / mpmath.log(2),
            "poisson_stirling": o11 * (log(Fraction(o11) / e11) - 1),
            "log_odds_ratio": log(odds),
            "log_odds_ratio_discounted": log(discounted),
            "log_relative_risk": log(risk),
            "dice": Fraction(2 * o11, r1 + c1),
            "gmean": o11 / mpmath.sqrt(r1 * c1),
            "deltaP_backward": Fraction(o11, c1) - Fraction(o12, c2),
            "logDice": 14 + log(Fraction(2 * o11, r1 + c1)) / mpmath.log(2),
            "NPMI": log(Fraction(o11) / e11) / -log(Fraction(o11, n)),
        }
    for name, value in wanted.items():
        assert_allclose(score(name, table), float(value), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "table",
    [
        (10_100, 990_000, 990_000, 98_009_900),
        (1001, 10**4, 10**4, 10**5),
        (2500, 2499, 2501, 2500),
        (3, 2 * 10**8, 10, 7 * 10**8),
    ],
)
def test_close_to_independence(table):
    """2 sum O log(O/E) in mpmath with 50 digits, where terms nearly cancel."""
    with mpmath.workdps(50):
        a, b, c, d = (mpf(x) for x in table)
        n = a + b + c + d
        cells = ((a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d))
        g2 = float(2 * sum(o * mpmath.log(o * n / (row * column)) for o, row, column in cells))
        x2 = float((a * d - b * c) ** 2 * n / ((a + b) * (c + d) * (a + c) * (b + d)))
    assert_allclose(np.abs(score("G2", table)), g2, rtol=1e-10)
    assert_allclose(np.abs(score("X2", table)), x2, rtol=1e-10)


# ---- Edges and relations


ZEROS = {  # O11, O12, O21, O22 with zeros, or independent; the scores by name
    (0, 5, 7, 90): {
        "t": -np.inf, "MI": -np.inf, "MI2": -np.inf, "MI3": -np.inf, "log_odds_ratio": -np.inf,
        "log_relative_risk": -np.inf, "local_MI": 0, "poisson_stirling": 0, "dice": 0,
        "jaccard": 0, "gmean": 0, "min_sensitivity": 0, "neglog10_fisher": 0,
        "neglog10_poisson": 0, "z": -np.sqrt(35 / 102), "f": 0,
    },
    (5, 0, 0, 90): {
        "log_odds_ratio": np.inf, "log_relative_risk": np.inf, "dice": 1, "jaccard": 1, "gmean": 1,
        "min_sensitivity": 1, "liddell": 1,
    },
    (5, 0, 7, 90): {"log_odds_ratio": np.inf, "log_relative_risk": np.inf},
    (5, 7, 0, 90): {"log_odds_ratio": np.inf, "log_relative_risk": np.log(97 / 7)},
    (0, 0, 7, 90): {
        **dict.fromkeys(["t", "z", "z_yates", "MI", "MI2", "MI3", "local_MI"], np.nan),
        **dict.fromkeys(["poisson_stirling", "log_odds_ratio", "log_relative_risk"], np.nan),
        **dict.fromkeys(["gmean", "min_sensitivity"], np.nan),
        **dict.fromkeys(["G2", "X2", "X2_yates", "average_MI", "liddell", "dice", "jaccard"], 0),
        **dict.fromkeys(["neglog10_fisher", "neglog10_poisson", "f"], 0),
    },
    (0, 7, 0, 90): {"log_relative_risk": np.nan, "liddell": np.nan, "min_sensitivity": np.nan},
    (10, 20, 30, 60): {"G2": 0, "X2": 0},  # independent
    (3, 4, 0, 0): {"G2": 0, "X2": 0},
    (5, 0, 7, 0): {"G2": 0, "X2": 0, "z": 0, "liddell": np.nan, "log_relative_risk": np.nan},
    (9, 0, 0, 0): {"G2": 0, "X2": 0, "dice": 1, "MI": 0, "log_odds_ratio": np.nan},
    (0, 0, 0, 9): {"G2": 0, "X2": 0, "dice": np.nan, "jaccard": np.nan, "neglog10_fisher": 0},
}  # fmt: skip


@pytest.mark.parametrize("table", [*ZEROS][::-1])
def test_zeros(table):
    """0/0 is NaN, a number over 0 and log 0 are infinite, 0 log 0 is 0; and no warning."""
    for name, wanted in ZEROS[table].items():
        assert_allclose(score(name, table), wanted, rtol=1e-12, atol=1e-12, err_msg=name)
    for name in ("log_odds_ratio_discounted", "G2", "X2", "X2_yates", "average_MI", "f"):
        assert np.isfinite(score(name, table)), name


ONE_SIDED = ("log_relative_risk", "liddell", "deltaP_forward", "deltaP_backward", "LRC")
SYMMETRIC = [x for x in MEASURES if x not in ONE_SIDED]


@given(st.tuples(st.integers(0, 300), *[st.integers(1, 300)] * 2, st.integers(1, 10**5)))
def test_more_together_scores_higher(table):
    """With the same margins, a pair that occurs once more has the higher score, but for two."""
    o11, o12, o21, o22 = (np.float64(x) for x in table)
    before, after = (o11, o12, o21, o22), (o11 + 1, o12 - 1, o21 - 1, o22 + 1)
    for name in MEASURES:
        low, high = score(name, before), score(name, after)
        if name in ("local_MI", "poisson_stirling"):
            if o11 > Cells(*before).expected:
                assert high > low
        elif name in ("X2_yates", "z_yates", "LRC"):  # 0 where nothing is sure
            assert high >= low
        elif name.startswith("neglog10"):
            assert high > low or high < 1e-12
        else:
            assert high > low, name


# ---- Scores that are equal stay equal


def random_tables(whole: bool = True) -> tuple[np.ndarray, ...]:
    """Return the cells of 3,000 tables of corpora of up to 1e12 words."""
    rng = np.random.default_rng(8)
    cells = rng.integers(0, 10 ** rng.integers(1, [5, 6, 6, 13], (3000, 4))).astype(float).T
    cells[0] += 1.0
    return tuple(cells if whole else cells + rng.random(cells.shape))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_swapped_words_have_the_same_float(name, whole):
    o11, o12, o21, o22 = random_tables(whole)
    if name.startswith("neglog10"):  # counts only, and the cost grows with them
        o11, o12, o21, o22 = (np.floor(x) for x in (o11 % 1e3, o12 % 1e3, o21 % 1e3, o22))
    found = score(name, (o11, o12, o21, o22))
    assert_array_equal(score(name, (o11, o21, o12, o22)), found)


TURNING = ["log_odds_ratio", "log_odds_ratio_discounted", "G2", "X2", "X2_yates", "average_MI"]


@pytest.mark.parametrize("name", TURNING)
def test_exchanged_rows_only_turn_the_sign(name):
    o11, o12, o21, o22 = random_tables()
    found = score(name, (o11, o12, o21, o22))
    room = 1e-13 if name.startswith("log") else 0.0
    assert_allclose(score(name, (o21, o22, o11, o12)), -found, rtol=room, atol=room)


def x2(a, b, c, d):
    gap = a * d - b * c
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    return Fraction(gap * abs(gap) * (a + b + c + d), margins)


SHARES = {  # measures that depend only on proportions, as fractions
    "dice": lambda a, b, c, d: Fraction(2 * a, 2 * a + b + c),
    "jaccard": lambda a, b, c, d: Fraction(a, a + b + c),
    "min_sensitivity": lambda a, b, c, d: Fraction(a, a + max(b, c)),
    "liddell": lambda a, b, c, d: Fraction(a * d - b * c, (a + c) * (b + d)),
    "deltaP_forward": lambda a, b, c, d: Fraction(a * d - b * c, (a + b) * (c + d)),
}


@pytest.mark.parametrize("name", ["X2", *SHARES])
def test_shares_and_x2_are_the_nearest_floats(name):
    cells = tuple(x + 1.0 for x in random_tables())
    wanted = {"X2": x2, **SHARES}[name]
    fractions = [wanted(*(int(x) for x in table)) for table in zip(*cells, strict=True)]
    assert_array_equal(score(name, cells), [float(x) for x in fractions])


@pytest.mark.parametrize(
    "name",
    [*SHARES, "MI", "gmean", "log_odds_ratio", "log_relative_risk", "logDice", "NPMI"],
)
@pytest.mark.parametrize("times", [3.0, 7.0, 10.0])
def test_a_corpus_times_as_large_has_the_same_shares(name, times):
    cells = random_tables()
    larger = [times * x for x in cells]
    assert_array_equal(score(name, larger), score(name, cells))


@pytest.mark.parametrize("name", ["MI", "MI2", "MI3", "local_MI", "poisson_stirling", "z", "t"])
def test_equal_products_of_the_margins(name):
    """E11 of the margins (3 m, 35) and (5 m, 21) is the same fraction."""
    o11, m, total = np.arange(1.0, 21.0), np.arange(7.0, 27.0), 10.0**9 + 7.0
    one, other = (
        MEASURES[name](Cells(o11, k * m - o11, f2 - o11, total - k * m - f2 + o11))
        for k, f2 in ((3.0, 35.0), (5.0, 21.0))
    )
    assert_array_equal(one, other)


def test_measures_of_equal_margins_and_bounds():
    """With f1 = f2, the geometric mean is Dice's. NPMI is at most 1, X2 at most N."""
    o11, other, _, o22 = random_tables()
    same = (o11, other, other, o22)
    assert_array_equal(score("gmean", same), score("dice", same))
    assert_array_equal(score("min_sensitivity", same), score("dice", same))
    always = (o11, 0.0 * o11, 0.0 * o11, o22 + 1.0)
    assert_array_equal(score("NPMI", always), 1.0)
    assert_array_equal(score("X2", always), o11 + (o22 + 1.0))
    cells = random_tables()
    assert (score("NPMI", cells) <= 1.0).all()
    assert (np.abs(score("X2", cells)) <= (cells[0] + cells[3]) + (cells[1] + cells[2])).all()


def test_products_differences_quotients_and_roots_have_twice_the_digits():
    """Python's whole numbers, and roots in mpmath; a quotient is the float nearest to it."""
    rng = np.random.default_rng(5)
    exactly = rng.integers(1, 2 ** rng.integers(1, 50, 2000)).reshape(4, 500).astype(object)
    a, b, c, d = exactly.astype(float)
    found = minus(product(a, b), product(c, d))
    wanted = exactly[0] * exactly[1] - exactly[2] * exactly[3]
    assert [int(x) + int(y) for x, y in zip(found.high, found.low, strict=True)] == wanted.tolist()
    wanted = exactly[0] * exactly[1] ** 2 / (exactly[2] * exactly[3]) ** 2
    below = product(product(c, d), product(d, c))
    assert_array_equal(quotient(product(a, b, b), below), wanted.astype(float))
    with mpmath.workdps(60):
        roots = [mpmath.sqrt(x * y) for x, y in zip(exactly[1], exactly[2], strict=True)]
        wanted = [float(x / y) for x, y in zip(exactly[0], roots, strict=True)]
    assert_array_equal(quotient(a, root(product(b, c))), wanted)
