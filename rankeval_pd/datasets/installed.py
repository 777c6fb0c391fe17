"""The source files of installed packages: parsed, not imported, and what was read of them kept."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterator
from importlib import metadata, util
from pathlib import Path
from typing import Any

from rankeval_pd.datasets.cache import cache_folder, keep, kept
from rankeval_pd.progress import progress_bar

PACKAGES = ("numpy", "scipy", "pandas", "xarray", "matplotlib")


def once(what: str, edition: int, make: Callable[[], Any]) -> Any:
    """Return what was made before of the same versions of the packages, else make and keep it.

    ``make`` returns what JSON can say; ``edition`` is another number when it returns other things.
    """
    folder = cache_folder()
    if folder is None:
        return make()
    made_of = [edition, {package: metadata.version(package) for package in PACKAGES}]
    stamp = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    path = folder / f"{what}-{stamp[:16]}.json.gz"
    before = kept(path)
    if before is not None:
        return before["content"]
    content = make()
    keep(path, {"made of": made_of, "content": content})
    return content


def parsed(progress: bool | None) -> Iterator[tuple[str, Path, ast.Module]]:
    """Yield each source file: its package, its path within the package, and what it says."""
    files = [(package, root, path) for package in PACKAGES for root, path in source_files(package)]
    with progress_bar(
        progress, total=len(files), what="reading docstrings", unit="files"
    ) as advance:
        for package, root, path in files:
            yield package, path.relative_to(root), ast.parse(path.read_bytes())
            advance(1)


def source_files(package: str) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of an installed package and a source file in it, without the tests."""
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"{package} is not installed as source files, and its docstrings are part of the"
            f" corpus. Install it: pip install {package}."
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    for path in sorted(root.rglob("*.py")):
        folders = path.relative_to(root).parts[:-1]
        if not ({"tests", "testing", "_examples"} & {*folders} or path.stem == "conftest"):
            yield root, path
