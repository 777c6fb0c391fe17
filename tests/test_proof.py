"""The pages of the proof are what their commands make, and lead to what they name."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests.proof import accuracy, coverage
from tests.proof.pages import NAMES, ROOT, command, place

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="an installed package has no docs"
)
TESTS = Path(__file__).parent


def rows(text: str) -> list[list[str]]:
    """Return the cells of all tables of a page, heads and edges left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    edges = {k for k, row in enumerate(cells) if all(set(x.strip()) <= {"-", ":"} for x in row)}
    heads = {k - 1 for k in edges}
    return [
        [x.strip() for x in row] for k, row in enumerate(cells) if k not in edges and k not in heads
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_its_command_and_is_found(name):
    assert f"`{command(name)}`" in place(name).read_text("utf-8")
    assert f"../{name}\n" in (ROOT / "docs" / "methods" / "index.md").read_text("utf-8")
    assert f"(docs/{name}.md)" in (ROOT / "README.md").read_text("utf-8")


def test_accuracy_has_a_row_for_each_check():
    shown = [row[0] for row in rows(place("accuracy").read_text("utf-8"))]
    assert shown == [check.statistic.replace("|", "\\|") for check in accuracy.checks()]


def test_accuracy_is_of_tests_that_there_are():
    for check in accuracy.checks():
        file, function = check.test.split("::")
        assert f"def {function}(" in (TESTS / file).read_text("utf-8"), check


def test_no_statistic_is_further_from_its_reference_than_it_may_be():
    errors = {row[0]: float(row[1]) for row in rows(place("accuracy").read_text("utf-8"))}
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


def test_every_simulation_is_on_the_page_of_coverage():
    """But for tables of values, and of what is expected of gains."""
    tables = {path.stem for path in (TESTS / "reference").glob("*.csv")}
    values = {"bedroc", "delong", "regions", "simulated", "ucs", "agreement"}
    assert tables - values <= {claim.source for claim in coverage.claims()}


def test_performance_has_all_its_tables():
    performance = pytest.importorskip("tests.proof.performance", reason="needs the peers")
    text = place("performance").read_text("utf-8")
    assert all(f"\n## {title}\n" in text for title in performance.TABLES)
    assert len(rows(text)) > 20


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_papers_has_every_number(krenn):
    from tests.proof import papers

    found = [number.where for paper in papers.PAPERS.values() for number in paper()]
    shown = [row[0] for row in rows(place("papers").read_text("utf-8"))[len(papers.PAPERS) :]]
    assert sorted(shown) == sorted(found)
