"""Who may know whom: the imports of the package, read and not run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

ROOT = Path(rankeval_pd.__file__).parent
QUESTIONS = ("lists", "chance", "curves", "judging", "systems", "queries", "association")
#: what every room may know
MESSAGES = ("errors",)
ROOT_FILES = {
    "__init__",
    "accessors",
    "association",
    "dask",
    "errors",
    "options",
    "overview",
    "paper_tables",
    "registration",
    "roles",
    "tables",
}


class Import(NamedTuple):
    module: str
    name: str | None
    where: str  # "module", "function" or "types" (under TYPE_CHECKING)


def _walk(node: ast.AST, where: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, None, where) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative import"
            yield from (Import(child.module or "", alias.name, where) for alias in child.names)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _walk(child, "function")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, "types")
        elif not isinstance(child, ast.expr):  # no expression imports
            yield from _walk(child, where)


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


IMPORTS = {
    _name(path): list(_walk(ast.parse(path.read_text("utf-8")), "module"))
    for path in sorted(ROOT.rglob("*.py"))
}


def _ours(module: str) -> set[str]:
    """Return the modules of ours that a module imports, ``from package import module`` resolved."""
    found = set()
    for imported in IMPORTS[module]:
        inner = f"{imported.module}.{imported.name}"
        found.add(inner if inner in IMPORTS else imported.module)
    return {name for name in found if name.split(".")[0] == "rankeval_pd"}


def _of(folder: str) -> list[str]:
    front = f"rankeval_pd.{folder}"
    return [module for module in IMPORTS if module == front or module.startswith(f"{front}.")]


ASKED = [module for folder in QUESTIONS for module in _of(folder)]


def test_the_walk_sees_the_package():
    assert {f"rankeval_pd.{folder}" for folder in QUESTIONS} <= set(IMPORTS)
    assert "rankeval_pd.stats" in _ours("rankeval_pd.lists.precision")
    assert "rankeval_pd.lists.precision" in ASKED


def test_the_root_is_the_face():
    assert {path.stem for path in ROOT.glob("*.py")} == ROOT_FILES


@pytest.mark.parametrize("module", _of("stats"))
def test_stats_knows_only_stats(module):
    assert all(name.startswith("rankeval_pd.stats") for name in _ours(module))
    others = {x.module.split(".")[0] for x in IMPORTS[module]} - {"rankeval_pd"}
    assert others <= {*sys.stdlib_module_names, "numpy", "scipy"}


def _knows_only(module: str, rooms: tuple[str, ...]) -> bool:
    """Return whether a module of ours imports only from these rooms and messages."""
    known = {*rooms, *MESSAGES}
    return all(name.split(".")[1] in known for name in _ours(module))


@pytest.mark.parametrize("module", _of("decisions"))
def test_decisions_know_neither_doors_nor_questions(module):
    assert _knows_only(module, ("stats", "decisions", "roles", "tables"))


@pytest.mark.parametrize("module", _of("doors"))
def test_doors_know_no_question(module):
    rooms = ("stats", "decisions", "doors", "roles", "options", "tables")
    assert _knows_only(module, rooms)


@pytest.mark.parametrize("module", ASKED)
def test_questions_know_neither_plots_nor_accessors_nor_private_names(module):
    for name in _ours(module):
        assert name != "rankeval_pd", "a question does not import from the package's front"
        assert name == "rankeval_pd.stats._types" or not name.split(".")[-1].startswith("_")
    rooms = ("stats", "decisions", "doors", "roles", "options", "tables")
    assert _knows_only(module, (*rooms, "words", *QUESTIONS))


@pytest.mark.parametrize("module", ["words", "paper_tables"])
def test_words_know_no_question(module):
    assert _knows_only(f"rankeval_pd.{module}", ("stats", "tables", "words"))


@pytest.mark.parametrize("module", IMPORTS)
def test_no_private_name_of_another_file(module):
    private = [
        x
        for x in IMPORTS[module]
        if x.module.startswith("rankeval_pd")
        and (x.name or "").startswith("_")
        and x.name != "_types"
    ]
    assert not private


@pytest.mark.parametrize("module", [*ASKED, *_of("forms"), *_of("plotting")])
def test_no_private_attribute_of_a_module_of_ours(module):
    path = ROOT.parent / (module.replace(".", "/") + ".py")
    if not path.exists():
        return
    modules = {x.name for x in IMPORTS[module] if x.name}
    taken = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not node.value.id[0].isupper()
    ]
    assert not taken


def test_only_the_front_imports_accessors():
    users = {m for m in IMPORTS if "rankeval_pd.accessors" in _ours(m)}
    assert users == {"rankeval_pd.dask"}  # and registration, when first asked


def test_no_import_cycle():
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path, module])
        if module not in done:
            for name in _ours(module):
                visit(name, (*path, module))
            done.add(module)

    for module in IMPORTS:
        visit(module, ())
    assert done == set(IMPORTS)


#: a subclass needs its base when it is defined; functions alone import this module
DRAWN_LATE = "rankeval_pd.plotting.names"


@pytest.mark.parametrize("heavy", ["matplotlib", "dask", "tqdm", "pooch"])
def test_heavy_packages_are_imported_inside_functions(heavy):
    at_import = [
        (module, x)
        for module, imports in IMPORTS.items()
        for x in imports
        if x.where == "module" and (x.module.split(".")[0] == heavy or x.module == DRAWN_LATE)
        if module != DRAWN_LATE
    ]
    assert not at_import


def _printed(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_import_loads_next_to_nothing_of_ours():
    code = (
        "import sys, rankeval_pd\n"
        "print(*sorted(name for name in sys.modules if name.startswith('rankeval_pd')))"
    )
    assert _printed(code) == "rankeval_pd rankeval_pd.registration"


def test_modules_are_there_without_an_import_of_their_own():
    code = (
        "import rankeval_pd\n"
        "print(rankeval_pd.stats.__name__, rankeval_pd.accessors.Plots.__name__)\n"
        "print(hasattr(rankeval_pd, 'nothing'))"
    )
    assert _printed(code) == "rankeval_pd.stats Plots\nFalse"


def test_the_whole_package_leaves_heavy_packages_alone():
    code = (
        "import sys, rankeval_pd, pandas\n"
        "pandas.DataFrame.rankeval.compare\n"
        "heavy = ('matplotlib', 'scipy.stats', 'scipy.special', 'dask')\n"
        "print('rankeval_pd.plotting.lists' in sys.modules)\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert _printed(code, EAGER_IMPORT="1") == "True\n[]"


def test_what_is_registered_looks_like_the_accessor():
    assert pd.DataFrame.rankeval.compare is rankeval_pd.FrameAccessor.compare
    assert dir(xr.Dataset.rankeval) == dir(rankeval_pd.DatasetAccessor)
    assert repr(xr.Dataset.rankeval) == repr(rankeval_pd.DatasetAccessor)


def test_the_page_names_what_exists():
    page = (ROOT.parent / "docs" / "development" / "architecture.md").read_text("utf-8")
    lines = [line for line in page.split("## Where to look")[1].splitlines() if ".py" in line]
    assert lines
    for line in lines:
        file = None
        for quoted in re.findall(r"`([^`]+)`", line):
            path, _, name = quoted.partition(": ")
            if path.endswith(".py"):
                file = ROOT / path
            elif "/" in quoted:  # a page
                continue
            else:
                name = quoted.split(".")[-1]
            if name and file is not None:
                texts = [file.read_text("utf-8"), (ROOT / "options.py").read_text("utf-8")]
                assert any(re.search(rf"\b{name}\b", text) for text in texts), (file.name, name)
