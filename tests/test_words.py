"""Sentences of tables: every number is the table's, and no claim goes further."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd import in_words, paper_table
from rankeval_pd.words.numbers import Unit, join, p_text, unit_of
from rankeval_pd.words.vocabulary import adjustment
from tests.questions import FRAME, noted
from tests.test_tables import ITEMS, OF_ITEMS, RESULTS, of_rankings

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    quality = {"G_2": 1.5, "t": 1.4, "X2": 0.9, "f": 0.7}
    return rankeval_pd.datasets.simulate_candidates(1_000, quality=quality)


# ------------------------------------------------------------------------------------ every table


def check_words(text: str) -> None:
    """Raise unless these are sentences, without words of the interface."""
    assert text.endswith(".")
    assert "nan" not in text.lower().split()
    assert " %" not in text
    assert not re.search(r"\b(?!G_2)[a-z]+_[a-z]+", text)


@pytest.mark.parametrize("details", [True, False])
def test_every_table_has_words_and_a_table_of_a_paper(details):
    tables = {name: of_rankings(name, details=details) for name in RESULTS}
    tables |= {name: ask(ITEMS.rankeval(details=details)) for name, ask in OF_ITEMS.items()}
    for name, table in tables.items():
        check_words(in_words(table))
        methods = in_words(table, methods=True)
        assert f"`{table.attrs['method']}` of rankeval_pd {rankeval_pd.__version__}" in methods
        if len(table):
            stars = name in OF_ITEMS and "p_value" in table
            assert len(paper_table(table, stars=stars)) <= len(table), name
            assert paper_table(table, "latex").count(r"\\") >= 2, name


def test_sentences_of_tables_without_attrs_are_refused(tmp_path):
    """A merged summary against t called G2 higher than MI; adjusted tests became unadjusted."""
    frame = FRAME[["a", "b", "c", "gold"]]
    against = frame.rankeval.summary([5, 10], baseline="a")
    compared = frame.rankeval.compare(n=[5, 10], adjust="holm")
    kinds = pd.DataFrame({"measure": ["a", "b", "c"], "kind": ["x", "y", "z"]})
    compared.to_csv(tmp_path / "compared.csv", index=False)
    for table, lost in [
        (against, against.merge(kinds)),
        (against, pd.concat([against, frame.rankeval.summary([20], baseline="b")])),
        (compared, pd.read_csv(tmp_path / "compared.csv")),
        (compared, pd.DataFrame(compared.to_dict("list")).to_xarray()),
    ]:
        for write in (in_words, paper_table):
            with pytest.raises(ValueError, match=r"lost its attrs.*x\.attrs = table\.attrs"):
                write(lost)
            lost.attrs = table.attrs
            assert write(lost) is not None
            lost.attrs = {}
    again = pd.read_csv(tmp_path / "compared.csv")
    again.attrs = compared.attrs
    assert in_words(again) == in_words(compared)


# ---------------------------------------------------------------------------------------- verdicts


def test_a_verdict_in_words(candidates):
    table = candidates.rankeval.summary([50, 100], details=False)
    texts = in_words(table).split("\n\n")
    for n, text in zip((50, 100), texts, strict=True):
        best, *others = table[table["n"] == n].to_dict("records")
        assert text.startswith(
            f"{best['measure']} has the highest precision at n = {n} ({100 * best['value']:.1f}%,"
            f" simultaneous 95% interval {100 * best['ci_low']:.1f}% to"
            f" {100 * best['ci_high']:.1f}%)."
        )
        tied = [x["measure"] for x in others if {*x["letters"]} & {*best["letters"]}]
        worse = [x["measure"] for x in others if not {*x["letters"]} & {*best["letters"]}]
        assert f"It does not differ significantly from {join(tied, 'or')} (" in text
        assert (f"It is significantly better than {join(worse)}." in text) == bool(worse)
        assert "(adjusted for all 6 pairs at each n)" in text
    methods = in_words(table, methods=True)
    assert "all 6 pairs at each n by max-t within each pair and Bonferroni across pairs" in methods


def test_a_baseline_in_words(candidates):
    table = candidates.rankeval.summary(100, baseline="f", details=False)
    text = in_words(table)
    for row in table.dropna().to_dict("records"):
        low, high = (
            f"{100 * row[f'difference_{x}']:.1f}".replace("-", "−") for x in ("low", "high")
        )
        gap = f"{100 * row['difference']:.1f}"
        told = f"the precision is {gap} points higher for {row['measure']} than for f ("
        assert told.capitalize().replace("g_2", "G_2").replace("x2", "X2") in text
        end = text[text.index(f"for {row['measure']} than") :].partition("level.")[0]
        assert ("difference is significant" in end) == (row["p_adjusted"] <= 0.05)
        assert f"95% interval {low} to {high} points" in text


def test_a_leaderboard_of_many_systems_is_no_page_of_names():
    right = np.random.default_rng(4).random((300, 30)) < np.linspace(0.5, 0.9, 30)
    call = pd.DataFrame(right).add_prefix("model-").rankeval(metric="accuracy")
    table = call.system_ranks(n_resamples=999)
    told = in_words(table)
    assert told.count(". ") <= 2
    assert told.count("model-") <= 8
    assert len(told) < 500
    assert len(repr(call)) < 2000
    cells = paper_table(table)
    assert cells.shape == (30, 1)
    for text, letters in zip(cells.iloc[:, 0], table["letters"], strict=True):
        assert text.endswith(f"] {letters}")  # to copy


def test_words_say_no_more_than_the_table():
    table = pd.DataFrame({
        "measure": ["a", "b", "c", "d"], "n": 100, "value": [0.4, 0.4, 0.3, 0.1],
        "ci_low": [0.3, 0.3, 0.2, 0.0], "ci_high": [0.5, 0.5, 0.4, 0.2], "rank_low": [1, 1, 1, 4],
        "rank_high": [3, 4, 4, 4], "letters": ["a", "a", "a", "b"],
    })  # fmt: skip
    with pytest.raises(ValueError, match="no attrs that record how it was made"):
        in_words(table, methods=True)
    assert in_words(noted(table, "summary")) == (
        "a and b have the highest precision at n = 100 (40.0%, 95% interval 30.0% to 50.0%). They"
        " do not differ significantly from c (unadjusted tests), which is not evidence of equality."
        " They are significantly better than d."
    )
    with pytest.raises(ValueError, match="lost its attrs"):
        in_words(pd.DataFrame({"x": [1]}))
    rows = FRAME.rankeval.difference_region("a", "b", 5)  # never had a record
    told = (
        r"^table has no attrs .* Rows of your data, as from difference_region, have none: .*pandas"
    )
    for write in (in_words, paper_table):
        with pytest.raises(ValueError, match=told) as error:
            write(rows)
        assert len(str(error.value)) <= 250
    with pytest.raises(TypeError, match="of type int"):
        in_words(3)


def test_not_all_of_the_best_may_be_better():
    table = pd.DataFrame({
        "measure": ["Q0", "Q1", "Q2"], "value": [0.9, 0.9, 0.4], "ci_low": 0.3, "ci_high": 0.95,
        "rank_low": [1, 1, 2], "rank_high": [2, 3, 3], "letters": ["a", "ab", "b"],
    })  # fmt: skip
    assert in_words(noted(table, "summary")).endswith(
        "some of the best measures are significantly better than Q2 (unadjusted tests)."
    )
    assert "significant" not in in_words(table.drop(columns="letters"))


@pytest.mark.parametrize(("decimals", "told"), [(3, False), (0, True)])
def test_a_list_that_ends_in_a_tie_is_said(candidates, decimals, told):
    tied = candidates.assign(t=candidates["t"].round(decimals))
    assert ("inside a tie" in in_words(tied.rankeval.summary(50, details=False))) == told


# ------------------------------------------------------------------------------------- comparisons


def test_comparisons_in_words(candidates):
    table = candidates.rankeval.compare(n=[50], adjust="holm", details=False)
    for text, row in zip(in_words(table).split("\n\n"), table.itertuples(), strict=True):
        a, b = (row.measure_a, row.measure_b)[:: -1 if row.difference < 0 else 1]
        assert "the precision is " in text.lower()
        assert f" points higher for {a} than for {b} (simultaneous 95% interval " in text
        assert ("is significant at the 5% level" in text) == (row.p_adjusted <= 0.05)
        assert f"{p_text(row.p_adjusted)}" in text
    assert "adjusted for all 6 pairs by Holm's method" in in_words(table)
    alone = candidates.rankeval.compare(n=[50, 100], measures=["t", "f"])
    assert in_words(alone).count("unadjusted") == 2
    assert "adjusted" not in in_words(candidates.rankeval.compare("t", "f", 100))
    less = candidates.rankeval.compare("f", "t", 100, alternative="greater")
    assert (
        "the precision is 18.0 points lower for f than for t (one-sided 95% limit for "
        "f minus t: at least " in in_words(less)
    )
    assert "alternative: greater" in in_words(less)
    every = candidates.rankeval.compare(n=range(1, 200), adjust="bh")
    assert in_words(every).startswith("Of 1,194 comparisons, ")
    none = candidates.assign(gold=False).rankeval.compare_area()
    assert "cannot be compared because a value is missing." in in_words(none)


def test_an_adjusted_pair_is_called_adjusted(candidates):
    table = candidates.rankeval.compare("t", "f", [50, 100], adjust="holm", details=False)
    assert in_words(table).count("adjusted p = ") + in_words(table).count("adjusted p < ") == 2
    assert "adjusted for 1 pair at 2 sizes by Holm's method" in in_words(table, methods=True)
    caption = paper_table(table).attrs["caption"]
    assert caption.startswith("Difference in precision (points) at n = 50 and 100, with 95% simul")
    assert caption.endswith("tests adjusted for 1 pair at 2 sizes by Holm's method.")


def test_a_family_of_one_test_is_not_adjusted():
    several = ("1 pair at 3 sizes", "1 pair at every n", "1 pair in all 3 groups", "all 3 pairs",
               "1 comparison with bm25 for all 3 metrics")  # fmt: skip
    for family in several:
        assert adjustment({"adjust": "holm", "family": family})
    for family in ("1 pair", "1 pair in each group", "1 comparison with bm25 for each metric"):
        assert not adjustment({"adjust": "holm", "family": family})


def test_a_loss_is_higher_where_less_is_better():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"Q0": rng.normal(1.0, 0.2, 60), "Q1": rng.normal(0.5, 0.2, 60)})
    told = in_words(df.rankeval(metric="mean", higher_is_better=False).summary(baseline="Q0"))
    assert "Q1 has the lowest mean score" in told
    assert "lower for Q1 than for Q0 (" in told


def test_methods_name_the_test_the_family_and_the_seed(candidates):
    table = candidates.rankeval(rng=5).compare(n=[50, 100], adjust="max-t")
    text = in_words(table, methods=True)
    assert "at n = 50 and 100" in text
    assert "with random swaps of the candidates that are in only one of the two lists." in text
    assert "The tests were two-sided and adjusted for all 6 pairs at 2 sizes by max-t" in text
    assert f"{table.attrs['n_resamples']:,} resamples were drawn" in text
    signs = (ITEMS.median() < ITEMS).rankeval.paired_bootstrap("a", "b")
    exact = in_words(signs, methods=True)
    assert "with an unconditional exact test of two paired proportions." in exact
    assert "drawn" not in exact


# ------------------------------------------------------------------------------ p-values and digits


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.214, "p = 0.21"), (0.0312, "p = 0.031"), (0.0004, "p < 0.001"), (0.003, "p = 0.003"),
        (0.04999, "p = 0.050"), (1.0, "p = 1.00"), (0.9999, "p > 0.99"), (0.0, "p < 0.001"),
        (0.05001, "p = 0.05001"),
    ],
)  # fmt: skip
def test_p_values(p, text):
    assert p_text(p) == text


@given(st.floats(1e-6, 1.0), st.floats(0.001, 0.2))
def test_a_written_p_value_is_on_the_side_of_alpha(p, alpha):
    text = p_text(p, alpha=alpha)
    if text.startswith("p = "):
        assert (float(text.removeprefix("p = ")) <= alpha) == (p <= alpha)


@pytest.mark.parametrize(("draws", "least"), [(80_000, "0.000013"), (4_999, "0.0002")])
def test_the_least_p_value_is_said_to_be_the_least(draws, least):
    clear = pd.DataFrame({"a": np.arange(40.0) + 9.0, "b": np.arange(40.0)})
    clear["a"] += np.random.default_rng(0).normal(size=40)
    table = clear.rankeval.paired_bootstrap(adjust="max-t", n_resamples=draws)
    assert f"p ≤ {least}" in in_words(table)


def test_an_average_over_folds_is_called_one(candidates):
    folds = candidates.assign(fold=range(len(candidates)))
    folds["fold"] %= 4
    table = folds.rankeval(by="fold", measures=["t", "f"]).compare_area("t", "f", average="macro")
    told = in_words(table)
    assert told.startswith("The macro average over fold of the area under the ROC curve is "), told


def test_areas_name_the_clusters_of_both_classes(candidates):
    patients = candidates.assign(patient=[k // 4 for k in range(len(candidates))])
    rarer = patients.groupby("patient")["gold"].any().sum()
    table = patients.rankeval(groups="patient").area()
    told = in_words(table, methods=True)
    assert "The data contain 250 clusters." in told
    assert told.endswith(f"The class that occurs in fewer clusters occurs in {rarer} clusters.")
    table.loc[0, "n_groups"] = 7
    assert f"occurs in 7 to {rarer} clusters." in in_words(table, methods=True)


def test_bounds_of_p_values_and_thresholds_that_are_not_reached():
    bound = pd.DataFrame({"gain": [0.2], "p_low": [2.956e-59], "p_high": [0.0312]})
    told = in_words(noted(bound, "compare_accuracies", metric="accuracy"))
    assert told.startswith("The gain is 20.0 points. The p-value lies between 3e-59 and 0.031,")
    frame = pd.DataFrame({"measure": ["Q0"], "threshold": [np.nan], "n_accepted": 0, "tp": 0,
                          "precision": np.nan, "recall": np.nan, "ci_low": np.nan})  # fmt: skip
    for record, wanted in (
        ({"aim": "youden"}, "a Youden index above 0"),
        ({"aim": "precision", "precision": 0.9}, "a precision of at least 90%"),
        (
            {"aim": "npv", "also": "specificity", "npv": 0.95, "specificity": 0.9},
            "a negative predictive value of at least 95% and a specificity of at least 90%",
        ),
    ):
        told = in_words(noted(frame, "choose_threshold", **record))
        assert told == f"No threshold for Q0 guarantees {wanted} with 95% confidence."


@pytest.mark.parametrize(
    ("value", "width", "percent", "text"),
    [
        (0.304, 0.082, True, "30.4%"), (0.489, 0.6, True, "49%"), (0.8942, 0.12, False, "0.894"),
        (35.21, 1.2, False, "35.2"), (-0.05, 0.1, True, "−5.0%"), (-1e-9, 0.1, True, "0.0%"),
        (123.4, 20.0, False, "123"), (np.inf, 0.1, False, "∞"), (0.0031, 0.002, False, "0.00310"),
    ],
)  # fmt: skip
def test_digits_go_by_the_width_of_the_interval(value, width, percent, text):
    assert unit_of([value], [width], percent=percent).value(value) == text


def test_one_sided_intervals():
    assert Unit(percent=True, decimals=0).gaps(0.02, np.inf) == "at least 2 points"
    assert Unit(percent=False, decimals=2).limits(-np.inf, 0.5) == "at most 0.50"


def test_renamed_and_narrowed_results_are_refused_by_name():
    df = rankeval_pd.datasets.simulate_candidates(200)
    table, summary = df.rankeval.compare(n=[20, 50]), df.rankeval.summary(50)
    many, ranges = df.rankeval.compare(n=range(20, 60)), df.rankeval.significant_ranges()
    area = df.rankeval.compare_area()
    for result, lacking in (
        (table.rename(columns={"measure_a": "model"}), "measure_a/system_a/sample_a, which"),
        (many[["n", "difference"]], r"measure_a/\S+, measure_b/\S+, which"),
        (table[["measure_a", "difference"]], "measure_b/system_b/sample_b, which"),
        (many.drop(columns="difference"), "difference/gain, which"),
        (table.iloc[0].to_frame(), "measure_a/"),
        (area.drop(columns="ci_high"), "ci_high, which"),
        (ranges.drop(columns="n_first"), "n_first, which"),
        (summary.rename(columns={"measure": "model"}), "measure/system, which"),
        (summary.drop(columns="value"), "value, which"),
    ):
        with pytest.raises(
            ValueError, match=rf"^table has no column {lacking}.*iloc\[\[0\]\]"
        ) as e:
            in_words(result)
        assert len(str(e.value)) <= 250
    for one in (table.iloc[0], [table.iloc[0]]):
        with pytest.raises(TypeError, match=r"of type Series.*a row.*result\.iloc\[\[0\]\]\.$"):
            in_words(one)
    assert in_words(table.iloc[[0]]).startswith("At n = 20")


def test_bounds_are_not_said_to_be_an_interval():
    """With any labels of the unjudged candidates: no level, no law of an interval."""
    gold = np.tile([1.0, 0.0, np.nan, 1.0], 25)
    frame = pd.DataFrame({"a": -np.arange(100.0), "b": np.arange(100.0), "gold": gold})
    call = frame.astype({"gold": object}).rankeval(unjudged="bounds", positive=1.0)
    for table in (call.judged_precision(20), call.judged_difference("a", "b", 20)):
        text = in_words(table, methods=True) + in_words(table) + paper_table(table, "latex")
        assert "with any labels," in text
        assert "the limits for any labels of the unjudged candidates" in text
        for wrong in ("95", "ypergeometric", "MOVER"):
            assert wrong not in text
