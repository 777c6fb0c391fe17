"""The pages lead to what there is, in the words that people bring."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import rankeval_pd
from rankeval_pd.overview import PER_QUERY, PLOT_SYNONYMS, SYNONYMS

ROOT = Path(rankeval_pd.__file__).parent.parent
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _tabs() -> list[str]:
    tree = re.search(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.S)
    assert tree is not None
    return [line for line in tree[1].splitlines() if line and not line.startswith(":")]


def test_there_are_at_most_six_tabs():
    assert 1 < len(_tabs()) <= 6


@pytest.mark.parametrize("known", [SYNONYMS, PER_QUERY, PLOT_SYNONYMS])
def test_the_words_that_errors_know_stand_where_search_finds_them(known):
    pages = [p.read_text("utf-8") for p in (DOCS / "start").glob("*.md")]
    pages += [p.read_text("utf-8") for p in (DOCS / "methods").glob("*.md")]
    text = _plain("".join(pages))
    assert [word for word in known if word not in text] == []


@pytest.mark.parametrize(
    "word",
    ["AUC", "PMI", "MRR", "enrichment factor", "bootstrap", "y_true", "cut-off", "TREC",
     "leaderboard", "LaTeX", "P@10", "nDCG", "BLEU", "F1", "Excel",
     "cross-validation", "power", "FDR"],
)  # fmt: skip
def test_a_word_that_people_bring_leads_to_a_page(word):
    rows = [
        line
        for line in (DOCS / "start" / "words.md").read_text("utf-8").splitlines()
        if line.startswith("|") and word in line.split("|")[1]
    ]
    assert any(re.search(r"\]\(.*\.md\)", row) for row in rows)


def test_every_plot_is_in_the_gallery():
    code = "\n".join(p.read_text("utf-8") for p in (DOCS / "gallery_code").rglob("plot_*.py"))
    plots = set(rankeval_pd.plotting.__all__) - {"caption", "shown"}
    lacking = [name for name in plots if f"rankeval_pd.plotting.{name}`" not in code]
    assert lacking == []


def _module(place: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_notebooks_are_the_tutorials():
    """``python docs/notebooks.py`` writes them; the site runs the same cells."""
    notebooks = _module(DOCS / "notebooks.py")
    pages = notebooks.pages()
    assert len(pages) > 5
    for page in pages:
        place = ROOT / "examples" / f"{page.stem}.ipynb"
        assert place.read_text("utf-8") == notebooks.notebook(page), page.name
        assert f"<../../examples/{place.name}>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("page", "line"),
    [("CITATION.cff", "\nversion: {}\n"), ("docs/start/citation.md", "Version {}}}")],
)
def test_the_citation_names_this_version(page, line):
    assert line.format(rankeval_pd.__version__) in (ROOT / page).read_text("utf-8")


def test_glossary_links_are_of_words_that_are_defined():
    pytest.importorskip("sphinx")
    module = _module(DOCS / "_ext" / "glossary_links.py")
    glossary = (DOCS / "start" / "glossary.md").read_text("utf-8").splitlines()
    assert [word for word in module.UNMISTAKABLE if word not in glossary] == []


class _Source(NamedTuple):
    source: str

    def astext(self) -> str:
        return self.source


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        (r"\tfrac12\left[s\right]", "<mn>1</mn> <mn>2</mn>"),
        (r"P + \tfrac12 P", "<mn>1</mn> <mn>2</mn>"),
        (r"\frac1N", "<mn>1</mn> <mi>N</mi>"),
        (r"\text{rank\_low}", "rank_low"),
    ],
)
def test_formulas_say_what_is_written(source, drawn):
    """docutils takes the digits of one half together, as 12, over what follows."""
    pytest.importorskip("sphinx")
    found = _module(DOCS / "_ext" / "mathml.py").mathml(_Source(source), inline=True)
    fraction = re.search(r"<mfrac>(.*?)</mfrac>", found, re.S)
    assert drawn in " ".join((fraction[1] if fraction else found).split())


def test_warnings_on_pages_do_not_name_the_machine():
    pytest.importorskip("sphinx")
    placed = _module(DOCS / "_ext" / "plain_warnings.py")._PLACED
    said = "/tmp/ipykernel_1/2.py:5: RankevalWarning: 5 groups of 'user': few.\n  pd.concat(\n"
    assert placed.sub(r"\1", said) == "RankevalWarning: 5 groups of 'user': few.\n"


@pytest.mark.filterwarnings("ignore:target='region'")
@pytest.mark.filterwarnings("ignore:ties='shared'")
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_lines_of_code_run(page, tmp_path, monkeypatch):
    """On simulated terms, so that no corpus has to be read."""
    code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    assert code is not None
    calls = [line for line in code[1].splitlines() if line and not line.startswith("import")]
    assert len(calls) <= 10
    names = {x.attr for x in ast.walk(ast.parse(code[1])) if isinstance(x, ast.Attribute)}
    assert {"nbest_precision", "compare", "random_test", "summary"} <= names
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rankeval_pd.datasets, "load_docstring_terms", _terms)
    exec(compile(code[1], page, "exec"), {})


def _terms():
    """Return the contingency tables of 2,100 pairs of words."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    gold = rng.random(2_100) < 0.1
    together = rng.poisson(np.where(gold, 30, 12)) + 5
    alone = rng.integers(50, 900, (2, 2_100))
    cells = {"O11": together, "O12": alone[0], "O21": alone[1]}
    others = 200_000 - together - alone.sum(axis=0)
    return pd.DataFrame(
        {**cells, "O22": others, "gold": gold}, index=[f"w{k}" for k in range(2_100)]
    )


def test_the_question_that_the_guide_adds_has_an_answer():
    page = (ROOT / "docs" / "adding_a_question.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    space = {"__name__": "guide"}
    exec(compile(code, "guide", "exec"), space)
    df = rankeval_pd.datasets.simulate_candidates(200)
    found = space["nbest_f1"](df, [20, 200])
    lists = df.rankeval.nbest_precision([20, 200])
    wanted = 2 * lists["precision"] * lists["recall"] / (lists["precision"] + lists["recall"])
    assert found["f1"].tolist() == pytest.approx(wanted.tolist())


def test_tables_of_pages_are_shown_as_they_are():
    """No column is picked by hand and nothing is rounded: the short tables are the point."""
    pages = [ROOT / "README.md", ROOT / "examples" / "quickstart.py", *DOCS.rglob("*.md")]
    picked = re.compile(
        r"^[\w.]+\(.*\)(\[\[.*\]\]|\.round\(.*\))|^\w+\[\[.*\]\]$|\.round\(\d\)$", re.M
    )
    for page in pages:
        text = page.read_text("utf-8")
        for code in re.findall(r"```(?:\{code-cell\}|python)\n(.*?)```", text, re.S) or [text]:
            assert not picked.search(code), page
