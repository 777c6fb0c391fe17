"""Tables of a paper: cells, letters, stars and captions; LaTeX and Markdown."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import in_words, paper_table
from rankeval_pd.words.numbers import p_text
from tests.questions import noted, runs
from tests.test_tables import ITEMS

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    quality = {"G_2": 1.5, "t": 1.4, "X2": 0.9, "f": 0.7}
    return rankeval_pd.datasets.simulate_candidates(1_000, quality=quality)


@pytest.fixture(scope="module")
def table(candidates) -> pd.DataFrame:
    return candidates.rankeval.summary([50, 100], details=False)


def renamed(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table.replace({"measure": {"t": name}})


def test_a_significant_difference_whose_interval_contains_0_has_a_note():
    told = "An interval that contains 0 was not computed from the test."
    rows = pd.DataFrame({
        "measure_a": "a", "measure_b": ["b", "c"], "difference": 0.2, "ci_low": [-0.01, 0.1],
        "ci_high": 0.4, "p_value": [0.04, 0.01],
    })  # fmt: skip
    compared = noted(rows, "compare_area")
    for stars in (True, False):
        assert told in paper_table(compared, stars=stars).attrs["note"]
    assert told not in paper_table(compared.assign(p_value=[0.06, 0.01])).attrs.get("note", "")
    assert told not in paper_table(compared.iloc[1:]).attrs.get("note", "")


def test_cells_of_a_verdict(table):
    cells = paper_table(table)
    assert list(cells.columns) == ["n = 50", "n = 100"]
    for row in table.to_dict("records"):
        wanted = "{:.1f} [{:.1f}, {:.1f}] {}".format(
            *(100 * row[x] for x in ("value", "ci_low", "ci_high")), row["letters"]
        )
        assert cells.loc[row["measure"], f"n = {row['n']}"] == wanted
    assert cells.attrs["caption"].startswith("Precision (%) at n = 50 and 100, with 95% simul")
    assert "share a letter" in cells.attrs["note"]
    assert paper_table(table, percent=False, digits=2).iloc[0, 0].startswith("0.64 [0.44, 0.81]")


def test_every_best_value_of_a_table_is_bold_but_for_rounding():
    best = pd.DataFrame({"system": list("abc"), "value": [0.906, 0.9059999999999999, 0.906]})
    assert r"\textbf" not in paper_table(noted(best, "system_ranks"), "latex")  # nothing is worse
    best.loc[3] = ["d", 0.8]
    assert paper_table(noted(best, "system_ranks"), "latex").count(r"\textbf") == 3


def test_runs_by_metrics_and_pairs_are_one_call_each():
    metrics = ["AP", "P@5", "RR"]
    cells = paper_table(runs(["one", "two"]).rankeval.summary(metrics, n_resamples=999))
    assert list(cells.columns) == metrics
    assert sorted(cells.index) == ["one", "two"]
    pairs = paper_table(ITEMS.rankeval.paired_bootstrap(adjust="holm"))
    assert list(pairs.columns) == ["gain", "p"]
    assert pairs.index[0].count(" vs. ") == 1


def test_a_baseline_at_several_sizes_shows_differences_or_stars(candidates):
    table = candidates.rankeval.summary([50, 100], baseline="f", details=False)
    cells = paper_table(table)
    assert (cells.filter(like="difference").loc["f"] == "–").all()
    for row in table[table["measure"] != "f"].to_dict("records"):
        gap, low, high = (
            f"{100 * row[x]:.1f}".replace("-", "−")
            for x in ("difference", "difference_low", "difference_high")
        )
        column = f"n = {row['n']}, difference (points)"
        assert cells.loc[row["measure"], column] == f"{gap} [{low}, {high}]"
        assert cells.loc[row["measure"], f"n = {row['n']}"] == f"{100 * row['value']:.1f}"
    assert "intervals of the differences" in cells.attrs["caption"]
    starred = paper_table(table, stars=True)
    assert "[" in starred["n = 50, difference (points)"]["G_2"]
    assert "*" in starred["n = 100"]["G_2"]
    assert "for the difference from f (random swaps" in starred.attrs["note"]


def test_stars_go_by_the_adjusted_p_value(candidates, table):
    compared = candidates.rankeval.compare(n=[50, 100], adjust="holm", details=False)
    cells = paper_table(compared)
    for row in compared.to_dict("records"):
        text = cells.loc[f"{row['measure_a']} vs. {row['measure_b']}", f"n = {row['n']}"]
        assert text.count("*") == sum(row["p_adjusted"] <= level for level in (0.05, 0.01, 0.001))
    with pytest.raises(ValueError, match="stars=True needs a column"):
        paper_table(table, stars=True)
    with pytest.raises(ValueError, match="table has no rows"):
        paper_table(compared.iloc[:0])
    with pytest.raises(ValueError, match="to='pdf' is not one of"):
        paper_table(compared, "pdf")


@pytest.mark.parametrize(
    ("side", "tested"),
    [(None, "equivalence"), ("greater", "non-inferiority"), ("less", "non-inferiority")],
)
def test_a_margin_has_its_p_value_and_one_sided_limits_their_digits(candidates, side, tested):
    """The open end of a one-sided interval decides no digits, and a margin has its own test."""
    asked = {"alternative": side} if side else {}
    cuts = {"G_2": 1.0, "t": 1.0}
    compared = candidates.rankeval.compare_thresholds(
        "G_2", "t", cuts, of="recall", margin=0.05, **asked
    )
    row, cells = compared.iloc[0], paper_table(compared)
    assert list(cells.columns) == ["difference (points)", "p", f"p ({tested})"]
    ends = [f"{100 * row[x]:.1f}".replace("-", "−") for x in ("difference", "ci_low", "ci_high")]
    ends[1:] = {"greater": [ends[1], "∞)"], "less": ["(−∞", ends[2]]}.get(side, ends[1:])
    found = cells["difference (points)"].iloc[0]
    assert re.findall(r"[(−]*[\d.∞]+\)?", found) == [x.strip("[]") for x in ends]
    p = row["p_equivalence" if side is None else "p_noninferior"]
    assert cells[f"p ({tested})"].iloc[0] == p_text(p).removeprefix("p ").removeprefix("= ")
    assert cells.attrs["caption"].endswith("; margin of 5 points.")
    several = candidates.rankeval.compare("G_2", "t", [50, 100], margin=0.1, **asked)
    assert f"n = 50, p ({tested})" in paper_table(several)
    areas = candidates.rankeval.compare_area("G_2", "t", margin=0.02, **asked)
    assert paper_table(areas).attrs["caption"].endswith("; margin of 0.02.")
    assert f"p ({tested})" in paper_table(areas)


@pytest.mark.parametrize(
    ("groups", "laws"),
    [
        (None, "Clopper–Pearson intervals (Miettinen–Nurminen for the Youden index)"),
        ("patient", "Wilson intervals (Newcombe for the Youden index)"),
    ],
)
def test_rates_at_a_threshold_have_their_limits_and_their_names(candidates, groups, laws):
    df = candidates.assign(patient=range(len(candidates))).rankeval(groups=groups)
    table = df.acceptance_precision({"G_2": 1.0, "t": 1.2}, details=True)
    cells = paper_table(table)
    assert cells.attrs["caption"].startswith(f"Results at thresholds, with 95% {laws}")
    assert f"{laws} for fixed thresholds" in in_words(table, methods=True)
    names = ["precision (%)", "recall (%)", "specificity (%)", "NPV (%)", "F1 (%)", "Youden index"]
    assert not {*names, "false negatives", "true negatives"} - {*cells.columns}
    for label, text in zip(cells.index, in_words(table).split("\n\n"), strict=False):
        for name in names:
            low, high = cells.loc[label, name].split(" [")[1].strip("]").split(", ")
            ends = f"{low}% to {high}%" if "%" in name else f"{low} to {high}"
            assert f"{ends})" in text, name
    counts = table[["tp", "fn", "tn", "n_accepted"]].astype(int)
    assert (counts["tp"] + counts["fn"] == candidates["gold"].sum()).all()
    assert (counts["n_accepted"] + counts["fn"] + counts["tn"] == len(candidates)).all()
    rejected = candidates["G_2"] < 1.0
    assert counts["tn"].iloc[0] == (rejected & ~candidates["gold"]).sum()
    assert "[" in paper_table(candidates.rankeval.nbest_recall(100)).iloc[0, 0]


def test_areas_say_how_many_candidates_they_rank(candidates):
    partly = candidates.assign(t=candidates["t"].where(candidates["t"] < 2))
    call = partly.rankeval(measures=["t", "f"], missing="drop")
    for table in (call.area(), call.compare_area()):
        told = paper_table(table).attrs["caption"]
        assert "; 1,000 candidates (those without a score omitted)" in told
    assert (
        paper_table(candidates.rankeval.area(details=False))
        .attrs["caption"]
        .endswith("; 1,000 candidates.")
    )
    both = partly.dropna().rankeval.area(measures=["t", "f"], details=True)["area"]
    row = call.compare_area("t", "f", details=True).iloc[0]
    assert row[["area_a", "area_b"]].tolist() == pytest.approx(both.tolist())


def test_latex_is_escaped_and_whole(table):
    named = renamed(table, "a&b_{c}%$#~^\\")
    text = paper_table(named, "latex")
    assert "x$|$y" in paper_table(renamed(table, "x|y"), "latex")  # OT1 shows a dash for |
    assert r"a\&b\_\{c\}\%\$\#\textasciitilde{}\textasciicircum{}\textbackslash{}" in text
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{table}", r"\end{table}")
    body = [line for line in lines if line.endswith(r"\\")]
    assert len(body) == 5
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {2}
    assert r"\textbf{64.0 [43.9, 81.1]}\textsuperscript{a}" in text
    assert not re.search(r"[^\x00-\x7f]", text.replace("–", ""))
    assert paper_table(named, "latex", caption="").startswith(r"\begin{tabular}{lrr}")


def test_markdown_is_escaped(table):
    lines = paper_table(renamed(table, "x|y*<b>"), "markdown").splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:]} == {4}
    assert r"x\|y\*\<b\>" in "\n".join(lines)
