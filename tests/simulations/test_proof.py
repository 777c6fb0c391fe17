"""The pages of the proof are what their commands make, and lead to what they name."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.simulations.proof import accuracy, coverage, elsewhere, sentences
from tests.simulations.proof.pages import NAMES, ROOT, TEXTS, command, place

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="an installed package has no docs"
)
TESTS = ROOT / "tests"


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
    """Return the page of accuracy without the counts of peers' cases."""
    return place("accuracy").read_text("utf-8").partition("## Test cases")[0]


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


def test_numbers_in_sentences_about_levels_are_those_of_the_tables():
    for sentence in sentences.sentences():
        text = (ROOT / sentence.file).read_text("utf-8")
        assert [list(found.groups()) for found in sentences.pattern(sentence).finditer(text)] == [
            sentences.numbers(sentence)
        ], sentence


# what a sentence about levels claims: a number, or that a level is reached
CLAIM = re.compile(
    r"\b(?:coverage|cover(?:s|ed)|error rates?|rejected at)\b[^.!?|`:]*?\b0\.\d|"
    r"(?:stay|remain|keep|is|are)s? below 5|at least the nominal|"
    r"(?:reach|maintain|keep)\w* (?:its|their|the) (?:nominal )?(?:coverage|level)"
)
MEANT = {"docs/start/glossary.md", "docs/validation/index.md"}  # what should be, or a question


def test_no_sentence_claims_a_level_that_no_table_gives():
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "rankeval_pd").rglob("*.py")]
    written = {place(name) for name in ("accuracy", "coverage", "elsewhere", "papers")}
    for path in [ROOT / "README.md", *files]:
        name = path.relative_to(ROOT).as_posix()
        if name in MEANT or path in written:
            continue
        text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        for sentence in sentences.sentences():
            if sentence.file == name:
                text = sentences.pattern(sentence).sub("", text)
        assert not CLAIM.findall(re.sub(r"\s+", " ", text)), name


def test_every_question_has_a_text():
    assert list(coverage.SIMULATED) == [*dict.fromkeys(coverage.SIMULATED)]
    assert {claim.question for claim in coverage.claims()} == coverage.SIMULATED.keys()
    assert [x for x in coverage.claims() if coverage.settings_of(x).empty] == []


def test_every_miss_is_listed_and_counted():
    """The sentence, the tables of procedures and the list of settings have the same sum."""
    table = coverage.every_setting()
    far = (table["promise"] == "coverage") & (table["simulated"] < table["nominal"] - 0.02 - 1e-9)
    far |= (table["promise"] == "size") & (table["simulated"] > table["nominal"] + 0.01 + 1e-9)
    miss = table[far | (table["lacking"] > coverage.ERRORS * table["error"])].assign(far=far)
    page = place("coverage").read_text("utf-8")
    start, _, rest = page.partition("## Precision of a list")
    counted, _, rest = rest.partition("## Settings that miss the target")
    counted, shown = rows(counted), rows(rest.partition("## Not simulated")[0])
    for use in ("default", "option"):
        mine, all_of_use = miss[miss["use"] == use], table[table["use"] == use]
        said = f"{len(mine)} of {len(all_of_use):,} settings miss the target"
        assert f"{said}, and {mine['far'].sum()} are far from it" in start
        listed = [row for row in shown if row[1] == use]
        assert sum(int(row[4]) for row in counted if row[1] == use) == len(listed) == len(mine) > 0
        assert sum(row[5] == "far" for row in listed) == mine["far"].sum()
        named = mine[["procedure", "setting"]].itertuples(index=False, name=None)
        assert {(row[0], row[2]) for row in listed} == {*named}
    assert sum(int(row[3]) for row in counted) == len(table)
    assert sum(int(row[5]) for row in counted) == miss["far"].sum()
    assert {row[0] for row in counted} == set(table["procedure"])


def test_what_no_row_names_is_said_not_to_be_simulated():
    methods, options = coverage.not_simulated()
    text = place("coverage").read_text("utf-8").split("## Not simulated")[1]
    assert [*re.findall(r"`[^`]+`", text)] == [*methods, *options]
    names, promising = {name.strip("`") for name in methods}, coverage.promising().keys()
    named = " ".join(x.procedure for x in coverage.claims() if x.use != "other")
    assert names == promising - set(re.findall(r"\w+", named))
    assert {"compare", "area", "paired_bootstrap", "bedroc"} <= promising
    assert "read_trec" not in promising


def test_every_simulation_is_on_the_page_of_coverage():
    """But for tables of values, and of what is expected of gains."""
    tables = {path.stem for path in Path(__file__).parent.glob("*.csv")}
    values = {"bedroc", "delong", "fisher_power", "regions", "simulated", "ucs", "agreement"}
    assert tables - values <= {claim.source for claim in coverage.claims()}


@pytest.mark.parametrize(
    "number", range(len(elsewhere.PAIRS)), ids=[pair["what"] for pair in elsewhere.PAIRS]
)
def test_numbers_elsewhere_are_the_same_or_differ_for_a_reason(number):
    pair = elsewhere.PAIRS[number]
    assert elsewhere.verdict(number) == pair["how"], elsewhere.results(number)
    assert ("why" in pair) == (pair["how"] == "other")
    assert ("draws" in pair) == (pair["how"] == "near")
    page = place("elsewhere").read_text("utf-8")
    group = page.split(f"## {elsewhere.HEADS[pair['how']]}\n")[1].split("\n## ")[0]
    assert all(pair[side].strip() in group for side in elsewhere.SIDES)


def test_other_numbers_are_not_called_the_same(monkeypatch):
    monkeypatch.setattr(elsewhere, "results", lambda _: np.array([[0.2], [0.2 + 1e-9]]))
    found = {"draws" in x: elsewhere.verdict(k) for k, x in enumerate(elsewhere.PAIRS)}
    assert found == {True: "near", False: "other"}
    monkeypatch.setattr(elsewhere, "results", lambda _: np.array([[0.2], [0.4]]))
    assert {elsewhere.verdict(k) for k in range(len(elsewhere.PAIRS))} == {"other"}


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
    shown = rows(place("papers").read_text("utf-8"))[len(papers.PAPERS) :]
    told = [(x.where, x.printed, x.ours, x.verdict, x.because) for x in found]
    assert sorted(map(tuple, shown)) == sorted(told)
    calibration = (ROOT / "docs" / "explanation" / "gains.md").read_text("utf-8")
    table = [x.printed for x in found if x.where.startswith("table 1, ")]
    assert all(f" 0.{share.removesuffix('%'):0>2} |" in calibration for share in table)
