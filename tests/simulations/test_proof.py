"""The pages of the proof are what their commands make, and lead to what they name."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.simulations.proof import accuracy, coverage
from tests.simulations.proof.pages import NAMES, ROOT, TEXTS, command, place

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="an installed package has no docs"
)
TESTS = ROOT / "tests"
TOLD = ("comparison", "simultaneous")


def rows(text):
    """Return the cells of all tables of a page, heads and edges left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    edges = {k for k, row in enumerate(cells) if all(set(x.strip()) <= {"-", ":"} for x in row)}
    heads = {k - 1 for k in edges}
    return [
        [x.strip() for x in row] for k, row in enumerate(cells) if k not in edges and k not in heads
    ]


def exact_numbers():
    """Return the pages of accuracy without the counts of peers' cases."""
    more = place("accuracy/more").read_text("utf-8").partition("## Test cases")[0]
    return place("accuracy").read_text("utf-8") + more


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_its_command_and_is_found(name):
    assert f"`{command(name)}`" in place(name).read_text("utf-8")
    assert f"\n{name}\n" in (ROOT / "docs" / "validation" / "index.md").read_text("utf-8")
    assert f"(docs/validation/{name}.md)" in (ROOT / "README.md").read_text("utf-8")


def test_accuracy_has_a_row_for_each_check():
    shown = [row[0] for row in rows(exact_numbers())]
    assert shown == [check.statistic.replace("|", "\\|") for check in accuracy.checks()]


def test_accuracy_is_of_tests_that_there_are():
    for check in accuracy.checks():
        file, function = check.test.split("::")
        assert f"def {function}(" in (TESTS / file).read_text("utf-8"), check


def test_no_statistic_is_further_from_its_reference_than_it_may_be():
    errors = {row[0]: float(row[1]) for row in rows(exact_numbers())}
    # the logarithm of 1e-609138 has no more digits
    far = {name: error for name, error in errors.items() if error > 1e-10}
    assert far.keys() <= {"Poisson tail"}
    assert all(error < 1e-9 for error in far.values())


def test_differences_are_noted():
    recorder = accuracy.Recorder(now="a::b", logs=frozenset({"a::log"}))
    recorder.found["a::b"] = recorder.found["a::log[1]"] = accuracy.Compared()
    recorder.values([1.0, 2.0, 0.0, math.nan], [1.0, 2.0 * (1 + 1e-6), 0.0, math.nan])
    recorder.now = "a::log[1]"
    recorder.values(-1000.0, -1000.5)
    assert recorder.found["a::b"].errors == pytest.approx([0.0, 1e-6, 0.5], rel=1e-5)
    assert recorder.found["a::b"].sizes[-1] == pytest.approx(-1000.5 / math.log(10))


def test_coverage_is_what_the_committed_simulations_give():
    assert coverage.page() == place("coverage").read_text("utf-8")
    for name, text in coverage.topics().items():
        assert text == place(f"coverage/{name}").read_text("utf-8"), name


def test_every_question_has_a_topic_and_a_text():
    asked = dict.fromkeys(claim.question for claim in coverage.claims())
    listed = [question for topic in coverage.TOPICS.values() for question in topic["questions"]]
    assert sorted(listed) == sorted(asked)


@pytest.mark.full
def test_every_procedure_and_every_shortfall_is_on_a_page_of_coverage():
    table, topics = coverage.every_setting(), "".join(coverage.topics().values())
    for _, mine in table.groupby(["question", "procedure", "promise", "source"]):
        worst = mine.loc[mine["lacking"].idxmax()]
        name = worst["procedure"]
        lines = [x for x in topics.splitlines() if f"* {name}:" in x or f"| {name} |" in x]
        shown = f"{worst['promise']} {coverage._share(worst['simulated'])} "
        assert any(shown in line for line in lines), worst
        if worst["short"] and worst["use"] == "option":
            assert any(worst["setting"] in line for line in lines), worst
    counts = rows(topics)
    assert sum(int(row[3]) for row in counts) == table["short"].sum()
    quiet = sum(int(x) for x in re.findall(r"; (\d+) far$", topics, re.MULTILINE))
    assert sum(int(row[4]) for row in counts) + quiet == coverage.far(table).sum()
    named = rows(place("coverage").read_text("utf-8"))
    fails = coverage.short(table, "default")
    together, is_far = ["procedure", "promise"], coverage.far(fails)
    shown = (is_far | (fails["promise"] == "width")).groupby([fails[x] for x in together])
    assert sum(int(row[2]) for row in named) == shown.transform("any").sum()
    distant = fails[is_far].groupby(["question", *together]).head(1)
    assert {row[4] for row in named} >= set(distant["setting"])


def test_pages_on_lists_say_what_their_simulations_give():
    pages = [(ROOT / f"docs/explanation/{x}.md").read_text("utf-8") for x in TOLD]
    found = pd.read_csv(Path(__file__).with_name("fisher_power.csv"))
    some = found[found["boschloo"].between(0.3, 0.9)]
    less = (some["boschloo"] - some["fisher"]).quantile([0.0, 1.0, 0.5])
    assert "lower by {:.2f} to {:.2f}, and by {:.2f} in the median".format(*less) in pages[0]
    lists = pd.read_csv(Path(__file__).with_name("lists.csv")).query("of == 'precision'")
    for name, said in (("region", "{:.0%} to {:.0%} of samples"), ("covers", "{:.0%} to {:.0%}.")):
        assert said.format(lists[name].min(), lists[name].max()) in pages[1]


def test_every_simulation_is_on_the_page_of_coverage():
    """But for tables of values, and of what is expected of gains."""
    tables = {path.stem for path in Path(__file__).parent.glob("*.csv")}
    values = {"bedroc", "delong", "fisher_power", "regions", "simulated", "ucs", "agreement"}
    assert tables - values <= {claim.source for claim in coverage.claims()}


@pytest.mark.full
def test_performance_has_all_its_tables():
    performance = pytest.importorskip(
        "tests.simulations.proof.performance", reason="needs the peers"
    )
    pages = ["performance", *(f"performance/{name}" for name in TEXTS["performance"]["beside"])]
    text = "".join(place(name).read_text("utf-8") for name in pages)
    assert all(f"\n## {title}\n" in text for title in performance.TABLES)
    assert len(rows(text)) > 20
    for name, made in performance.topics().items():
        assert made == place(f"performance/{name}").read_text("utf-8")


def test_the_readme_counts_the_numbers_of_the_papers():
    counts = [[int(x) for x in row[1:]] for row in rows(place("papers").read_text("utf-8"))[:3]]
    same, other, closed = (sum(column) for column in zip(*counts, strict=True))
    text = (ROOT / "README.md").read_text("utf-8")
    assert f"[{same + other + closed} results]" in text
    assert f"reproduces {same} and explains {other} that differ" in text
    assert f"The data for the other {closed} were not published" in text


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_papers_has_every_number(krenn):
    from tests.simulations.proof import papers

    found = [number for paper in papers.PAPERS.values() for number in paper()]
    names = ("papers", *(f"papers/{name}" for name in TEXTS["papers"]["beside"]))
    text = "".join(place(name).read_text("utf-8") for name in names)
    shown = [row[0] for row in rows(text)[len(papers.PAPERS) :]]
    calibration = (ROOT / "docs" / "explanation" / "gains.md").read_text("utf-8")
    for head, line in re.findall(r"^\* \*\*(.+?)\*\*: (.*)$", text, re.MULTILINE):
        if counted := re.fullmatch(r"(\d+) numbers", line):
            here = [x for x in found if x.where.startswith(f"{head}, ")]
            same = [x for x in here if x.ours in (x.printed, "–")]
            assert len(same) == int(counted[1]) > papers.CELLS
            elsewhere = [f"{x.printed[:-1]:0>2}" for x in same if x.ours == "–"]
            assert all(f" 0.{share} |" in calibration for share in elsewhere)
            shown += [x.where for x in same]
            continue
        for part in line.split("; "):
            rest, _, printed = part.rpartition(": ")
            shown.append(f"{head}, {rest}" if rest else head)
            printed = re.sub(r" \(.*\)$", "", printed or part)
            assert printed in {x.printed for x in found if x.where == shown[-1]}, part
    assert sorted(shown) == sorted(number.where for number in found)
