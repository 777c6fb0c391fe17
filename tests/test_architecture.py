"""Who may know whom: the imports of the package, read and not run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import rankeval_pd

ROOT = Path(rankeval_pd.__file__).parent
ROOMS = (
    "precision",
    "bands",
    "comparison",
    "crossings",
    "curves",
    "areas",
    "ranges",
    "regions",
    "mean_difference",
    "effects",
    "ties",
    "repetition",
    "random_model",
    "association",
    "items",
    "resampling",
    "gains",
    "synthetic",
)


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
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _walk(child, "function")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, "types")
        else:
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


def test_the_walk_sees_the_package():
    assert {f"rankeval_pd.{room}" for room in ROOMS} <= set(IMPORTS)
    assert "rankeval_pd.stats.ranking" in _ours("rankeval_pd.precision")
    assert any(x.where == "types" for x in IMPORTS["rankeval_pd.accessors"])


@pytest.mark.parametrize("module", [m for m in IMPORTS if m.startswith("rankeval_pd.stats")])
def test_stats_knows_only_stats(module):
    assert all(name.startswith("rankeval_pd.stats") for name in _ours(module))
    others = {x.module.split(".")[0] for x in IMPORTS[module]} - {"rankeval_pd"}
    assert others <= {*sys.stdlib_module_names, "numpy", "scipy"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_know_neither_plots_nor_accessors_nor_private_names(room):
    module = f"rankeval_pd.{room}"
    for name in _ours(module):
        assert not name.startswith(("rankeval_pd.plotting", "rankeval_pd.accessors")), name
        assert name != "rankeval_pd", "a room does not import from the package's front"
        assert name == "rankeval_pd.stats._types" or not name.split(".")[-1].startswith("_")
    private = [
        x
        for x in IMPORTS[module]
        if x.module.startswith("rankeval_pd") and (x.name or "").startswith("_")
    ]
    assert not private


def test_rooms_take_no_private_attribute_of_a_module_of_ours():
    for room in ROOMS:
        tree = ast.parse((ROOT / f"{room}.py").read_text("utf-8"))
        modules = {x.name for x in IMPORTS[f"rankeval_pd.{room}"] if x.name}
        taken = [
            ast.unparse(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
            and not node.value.id[0].isupper()
        ]
        assert not taken, room


def test_only_the_front_imports_accessors():
    users = {m for m in IMPORTS if "rankeval_pd.accessors" in _ours(m)}
    assert users == {"rankeval_pd"}


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


@pytest.mark.parametrize("heavy", ["matplotlib", "dask", "tqdm", "platformdirs", "pooch"])
def test_heavy_packages_are_imported_inside_functions(heavy):
    at_import = [
        (module, x)
        for module, imports in IMPORTS.items()
        for x in imports
        if x.module.split(".")[0] == heavy and x.where == "module"
    ]
    assert not at_import


def test_import_leaves_heavy_packages_alone():
    code = (
        "import sys, rankeval_pd\n"
        "heavy = ('matplotlib', 'scipy.stats', 'scipy.special', 'dask')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
