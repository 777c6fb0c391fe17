"""The pages lead to what there is, in the words that people bring."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.overview import PER_QUERY, PLOT_SYNONYMS, SYNONYMS
from tests.questions import runs

ROOT = Path(rankeval_pd.__file__).parent.parent
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@pytest.mark.parametrize("known", [SYNONYMS, PER_QUERY, PLOT_SYNONYMS])
def test_the_words_that_errors_know_stand_where_search_finds_them(known):
    folders = [DOCS / name for name in ("start", "explanation", "howto")]
    text = _plain("".join(p.read_text("utf-8") for x in folders for p in x.glob("*.md")))
    went = {"infap", "randompvaluemean"}  # pages say what is, not what was
    assert [word for word in known if word not in text and word not in went] == []


def test_words_of_the_search_and_of_the_glossary_lead_to_what_there_is():
    pytest.importorskip("sphinx")
    words = _module(DOCS / "_ext" / "search_words.py").table()
    assert len(words) >= 60
    assert [page for page in words.values() if not (DOCS / f"{page}.md").exists()] == []
    glossary = (DOCS / "start" / "glossary.md").read_text("utf-8").splitlines()
    linked = _module(DOCS / "_ext" / "glossary_links.py").UNMISTAKABLE
    assert [word for word in linked if word not in glossary] == []


def test_every_plot_has_a_page_of_the_gallery_with_its_parts():
    rows = _module(DOCS / "_ext" / "api_links.py").table()
    seen = set()
    for page in (DOCS / "gallery_code").rglob("plot_*.py"):
        text = page.read_text("utf-8")
        assert text.count("# **How to read it.**") == 1, page.name
        assert text.count("print(rankeval_pd.plotting.caption(ax") == 1, page.name
        assert text.count("\n# %%\n") >= 5, page.name  # the picture, its text, three variations
        (drawn,) = re.findall(r"^Function: :func:`rankeval_pd\.([\w.]+)`\.$", text, re.M)
        assert rows[drawn]["gallery"] == f"{page.parent.name}/{page.stem}", page.name
        seen |= {*re.findall(r"rankeval_pd\.plotting\.(\w+)`", text)}
    assert set(rankeval_pd.plotting.__all__) - {"caption"} <= seen


def _site() -> Path | None:
    """Return the built site: RANKEVAL_PD_SITE, or where the guide builds it."""
    place = Path(os.environ.get("RANKEVAL_PD_SITE", DOCS / "_build"))
    return place if (place / "searchindex.js").exists() else None


@pytest.mark.skipif(_site() is None, reason="the site is not built")
@pytest.mark.skipif(shutil.which("node") is None, reason="the search runs in node")
def test_the_search_gives_the_page_that_answers_first():
    """The site's own script searches its own index; build all pages (-a -E) first."""
    words = _module(DOCS / "_ext" / "search_words.py").table()
    script = Path(__file__).with_name("search.js")
    ran = subprocess.run(
        ["node", script, _site()],
        input=json.dumps(list(words)),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(ran.stdout)
    wrong = {word: found[word] for word, page in words.items() if found[word][:1] != [page]}
    assert wrong == {}


def test_lines_of_code_fit_into_their_box():
    long, scripts = [], (DOCS / "gallery_code").rglob("plot_*.py")
    for page in [ROOT / "README.md", *DOCS.rglob("*.md"), *scripts]:
        text = page.read_text("utf-8")
        fenced = r"^```(?:\{code-cell\}[^\n]*|\w+)\n(.*?)^```"
        code = re.findall(fenced, text, re.S | re.M) if page.suffix == ".md" else [text]
        lines = [line for block in code for line in block.splitlines()]
        long += [(page.name, line) for line in lines if len(line) > 88]
    assert long == []


def _public_names() -> list[str]:
    api = (DOCS / "api" / "index.md").read_text("utf-8")
    return re.findall(r"^   ([A-Za-z_]\w*(?:\.\w+)?)$", api.replace("   roles\n", ""), re.M)


def test_every_public_name_has_a_page_of_the_api():
    modules = {"plotting": rankeval_pd.plotting.__all__, "datasets": rankeval_pd.datasets.__all__}
    public = [name for name in rankeval_pd.__all__ if name not in modules]
    public += [f"{module}.{name}" for module, names in modules.items() for name in names]
    assert sorted(_public_names()) == sorted(set(public))


def test_every_page_of_the_api_leads_to_a_how_to_an_explanation_and_the_gallery():
    rows = _module(DOCS / "_ext" / "api_links.py").table()
    assert sorted(rows) == sorted(_public_names())
    for name, row in rows.items():
        assert row["howto"].startswith("howto/"), name
        # a topic with one page has it in howto
        assert row["explanation"].startswith(("explanation/", "howto/")), name
        for page in (row["howto"], row["explanation"]):
            assert (DOCS / f"{page}.md").exists(), (name, page)
        assert row["gallery"] or not name.startswith("plotting."), name
        if row["gallery"]:
            assert (DOCS / "gallery_code" / f"{row['gallery']}.py").exists(), (name, row["gallery"])


def test_pages_of_the_api_link_to_the_roles_and_name_each_there():
    module = _module(DOCS / "_ext" / "api_links.py")
    lines = str(inspect.getdoc(rankeval_pd.compare)).splitlines()
    heading = next(line for line in lines if line.endswith(": roles, optional"))
    before = len(lines)
    module.before_numpydoc(None, "function", "compare", rankeval_pd.compare, None, lines)
    assert lines[lines.index(heading) + 1].strip() == module.ROLES
    assert len(lines) < before - 20
    start, short, more, _ = lines[lines.index("Returns") + 2 :][:4]
    assert start == "DataFrame or Dataset"
    assert short.startswith(
        "    Columns of the short table, where they apply: ``measure_a``, ``mea"
    )
    assert more.startswith("    ``details=True`` adds, where they apply: ``precision_a``, ``precis")
    parts = [":Parameters:", ".. rubric:: Examples", "..", "The mark of numpydoc."]
    module.examples_first(parts)
    assert parts[0] == ".. rubric:: Examples"
    parts = [":Parameters:", "", "    **data** : x", "", "    **level** : y", "", ":Returns:"]
    module.group_parameters(parts)
    assert [x for x in parts if x] == [
        ":Parameters:", "    **data** : x", ":Interval:", "    **level** : y", ":Returns:"
    ]  # fmt: skip
    module.on_this_page(parts, "compare")
    assert "`Interval <compare-interval_>`__" in parts[1]
    assert parts[parts.index(":Returns:") - 2] == ".. _compare-returns:"
    assert module.short_signature(rankeval_pd.compare) == "(data, a, b, n, *, of, test, ...)"
    roles = (DOCS / "api" / "roles.md").read_text("utf-8")
    assert [r for r in heading.split(":")[0].strip().split(", ") if f"`{r}`" not in roles] == []


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
        source = place.read_text("utf-8")
        assert notebooks.stripped(source) == notebooks.notebook(page, computed=False), page.name
        assert '"text/plain"' in source
        assert '"image/png"' in source
        assert f"<../../examples/{place.name}>" in page.read_text("utf-8")


NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# what these pages print depends on the versions of SciPy and of the documented packages
OF_VERSIONS = {"sacrebleu.md", "search.ipynb", "terms.ipynb", "retrieval.ipynb"}


def _same(found: str, computed: str, name: str) -> None:
    """Compare texts but for spaces, and numbers up to rounding."""
    plain = [NUMBER.sub("#", text).split() for text in (found, computed)]
    numbers = [[float(x.replace(",", "")) for x in NUMBER.findall(y)] for y in (found, computed)]
    if name not in OF_VERSIONS:
        assert plain[0] == plain[1], name
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-4, abs=1e-9), name


@pytest.mark.full
def test_pages_that_readme_links_keep_their_outputs():
    """``python docs/outputs.py`` writes them."""
    outputs = _module(DOCS / "outputs.py")
    pages = outputs.linked_pages()
    assert len(pages) > 10
    drawn = set()
    for page in pages:
        found = page.read_text("utf-8")
        with rankeval_pd.set_options(details=False):
            text, pictures = outputs.kept(page)
        assert len(outputs.KEPT.findall(found)) == len(outputs.KEPT.findall(text)) > 0, page.name
        _same(found, text, page.name)
        drawn |= pictures.keys()
    assert {*outputs.PICTURES.glob("*.png")} == drawn


@pytest.mark.full
def test_notebooks_keep_their_outputs():
    notebooks = _module(DOCS / "notebooks.py")
    for page in notebooks.pages():
        place = ROOT / "examples" / f"{page.stem}.ipynb"
        with rankeval_pd.set_options(details=False):
            sources = (place.read_text("utf-8"), notebooks.notebook(page))
        cells = [json.loads(source)["cells"] for source in sources]
        texts = ["\n".join(_kept_text(cell) for cell in found) for found in cells]
        _same(*texts, place.name)


def _kept_text(cell: dict) -> str:
    """Return what a cell of a notebook prints and shows as text."""
    texts = [x.get("text") or x["data"].get("text/plain", "") for x in cell.get("outputs", [])]
    return "".join("".join(text) for text in texts)


def test_the_site_leaves_kept_outputs_out():
    pytest.importorskip("sphinx")
    source = (DOCS / "howto" / "tied_first.md").read_text("utf-8")
    texts = [source]
    _module(DOCS / "_ext" / "kept_outputs.py").without(None, "howto/tied_first", texts)
    assert "```text output" in source
    assert "_static/outputs/" in source
    assert "```text output" not in texts[0]
    assert "_static/outputs/" not in texts[0]
    assert texts[0].count("{code-cell}") == source.count("{code-cell}")


@pytest.mark.parametrize(
    ("page", "line"),
    [("CITATION.cff", "\nversion: {}\n"), ("docs/start/citation.md", "Version {}}}")],
)
def test_the_citation_names_this_version(page, line):
    assert line.format(rankeval_pd.__version__) in (ROOT / page).read_text("utf-8")


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
    node = SimpleNamespace(astext=lambda: source)
    found = _module(DOCS / "_ext" / "mathml.py").mathml(node, inline=True)
    fraction = re.search(r"<mfrac>(.*?)</mfrac>", found, re.S)
    assert drawn in " ".join((fraction[1] if fraction else found).split())


def test_warnings_on_pages_do_not_name_the_machine():
    pytest.importorskip("sphinx")
    placed = _module(DOCS / "_ext" / "plain_warnings.py")._PLACED
    said = "/tmp/ipykernel_1/2.py:5: RankevalWarning: 5 groups of 'user': few.\n  pd.concat(\n"
    assert placed.sub(r"\1", said) == "RankevalWarning: 5 groups of 'user': few.\n"


def test_the_first_example_prints_what_stands_below_it(tmp_path, monkeypatch, capsys):
    """And raises at most one warning."""
    code, printed = re.search(
        r"```python\n(.*?)```.*?```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S
    ).groups()
    assert len([line for line in code.splitlines() if line]) <= 10
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as said, rankeval_pd.set_options(details=False):
        warnings.simplefilter("always")
        exec(compile(code, "README", "exec"), {})
    assert len(said) <= 1
    assert capsys.readouterr().out.split() == printed.split()


@pytest.mark.full
def test_the_first_blocks_of_code_run_in_a_process_of_their_own(tmp_path):
    """README's example, and the start page's on files in the four layouts that it names."""
    rng = np.random.default_rng(0)
    terms = rankeval_pd.datasets.load_terms()
    scores = pd.DataFrame({"gold": terms["gold"], "a": rng.normal(size=len(terms))})
    scores["y_true"] = np.where(scores.pop("gold"), "yes", "no")
    scores["b"] = scores["a"] + rng.normal(size=len(terms))
    scores.to_csv(tmp_path / "scores.csv", index_label="id")
    o11, o12, o21, o22 = (terms[name] for name in ("O11", "O12", "O21", "O22"))
    margins = {"f": o11, "f1": o11 + o12, "f2": o11 + o21, "N": o11 + o12 + o21 + o22}
    pairs = terms[["word1", "word2", "gold"]].assign(**margins)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    items = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    items.to_csv(tmp_path / "items.csv", index_label="item")
    (tmp_path / "runs").mkdir()
    found = runs("ab")
    query, document = found["query"].astype(str), found["document"].astype(str)
    judged = query + " 0 " + document + " " + found["grade"].astype(str)
    (tmp_path / "qrels.txt").write_text("\n".join(judged))
    for run in "ab":
        rows = query + " Q0 " + document + " 1 " + found[run].astype(str) + " " + run
        (tmp_path / "runs" / f"{run}.run").write_text("\n".join(rows))
    pages = (ROOT / "README.md", DOCS / "index.md")
    texts = [page.read_text("utf-8") for page in pages]
    blocks = [code for text in texts for code in re.findall(r"```python\n(.*?)```", text, re.S)]
    assert len(blocks) == 2
    for code in blocks:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(".") >= 3
    assert re.search(r"area under the ROC curve is .*p = ", done.stdout)  # for classifiers


def test_the_readme_is_short():
    """One line sets up and runs the main job."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 80
    assert "&& python examples/quickstart.py" in text
    start = (DOCS / "index.md").read_text("utf-8")
    assert "index_col=0" not in start  # it would take a system's column for the names of the items


def test_the_start_page_does_not_repeat_the_readme():
    """No sentence of ten or more words stands on both."""
    texts = [(ROOT / "README.md").read_text("utf-8"), (DOCS / "index.md").read_text("utf-8")]
    prose = [re.sub(r"```.*?```|!\[.*?\]|^\|.*?$", "", text, flags=re.S | re.M) for text in texts]
    said = [{s for s in re.split(r"(?<=[.?!])\s", x) if len(s.split()) >= 10} for x in prose]
    assert said[0] & said[1] == set()


def test_the_readme_names_the_lowest_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lowest = dict(re.split(r"\[.*\]|>=", line)[:2] for line in project["dependencies"])
    lowest["python"] = project["requires-python"].removeprefix(">=")
    text = (ROOT / "README.md").read_text("utf-8")
    written = re.search(r"needs (.*?) or newer, and (.*?)\.", text)
    named = dict(re.findall(r"(\w+) ([\d.]+\d)", written[1]))
    assert {name.lower(): version for name, version in named.items()}.items() <= lowest.items()
    every = {*map(str.lower, named), *re.split(r", | and ", written[2].lower())}
    assert every == lowest.keys()


def test_the_question_that_the_guide_adds_has_an_answer():
    page = (ROOT / "docs" / "development" / "adding_a_question.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    space = {"__name__": "guide"}
    exec(compile(code, "guide", "exec"), space)
    df = rankeval_pd.datasets.simulate_candidates(200)
    found = space["nbest_f1"](df, [20, 200])
    lists = df.rankeval.nbest_precision([20, 200])
    wanted = 2 * lists["precision"] * lists["recall"] / (lists["precision"] + lists["recall"])
    assert found["f1"].tolist() == pytest.approx(wanted.tolist())


@pytest.mark.full
def test_the_sentences_quoted_in_the_readme_are_printed():
    found = rankeval_pd.datasets.load_docstring_search()
    cases = rankeval_pd.datasets.simulate_candidates(300)
    cases = cases.rename(columns={"good": "model_a", "fair": "model_b"})
    page = (DOCS / "howto" / "tied_first.md").read_text("utf-8")
    tied: dict = {}
    exec(re.search(r"^```\{code-cell\}\n(.*?)^```", page, re.S | re.M)[1], tied)
    tables = (
        found.rankeval.summary(["nDCG@10", "AP"]),
        cases.rankeval.compare_area("model_a", "model_b"),
        tied["table"],
    )
    quoted = re.findall(r': "([^"]*)" \|', (ROOT / "README.md").read_text("utf-8"))
    assert len(quoted) == 3
    for table, text in zip(tables, quoted, strict=True):
        start = re.escape(text.removesuffix(".").removesuffix(")"))
        if "nDCG" in text:  # the collection is the documentation of the installed packages
            start = re.sub(r"0\\\.\d+", r"0\\.\\d+", start)
        assert re.match(start, rankeval_pd.in_words(table)), text


def test_links_in_the_repository_lead_to_files_and_headings():
    """Where the code is hosted, no build checks them."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [p for p in DOCS.rglob("*.md") if not {"generated", "gallery"} & {*p.parts}]
    lost = []
    for page in pages:
        for place, anchor in re.findall(r"\]\((?!http)([^)#\s]*\.md)?(#[^)\s]+)?\)", _prose(page)):
            target = (page.parent / place).resolve() if place else page
            if not target.exists() or (anchor and anchor[1:] not in _anchors(target)):
                lost.append((page.name, place + anchor))
    assert lost == []


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them, and its labels."""
    text = _prose(page)
    heads = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", x) for x in re.findall(r"^#+ (.*)", text, re.M)
    ]
    plain = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    return plain | {*re.findall(r"^\(([\w-]+)\)=", text, re.M)}
