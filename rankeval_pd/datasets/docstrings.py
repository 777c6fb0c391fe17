"""Parse the source files of installed packages, and cache the results."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterator
from importlib import metadata, util
from pathlib import Path
from typing import Any

from rankeval_pd.datasets.krenn import cache_folder, read_cache, write_cache
from rankeval_pd.progress import progress_bar

PACKAGES = ("numpy", "scipy", "pandas", "xarray", "matplotlib")


def cached_content(what: str, edition: int, make: Callable[[], Any]) -> Any:
    """Return cached content for these package versions, or cache new content.

    ``make`` returns JSON data. Increase ``edition`` whenever you change the result of ``make``.
    """
    folder = cache_folder()
    if folder is None:
        return make()
    made_of = [edition, {package: metadata.version(package) for package in PACKAGES}]
    stamp = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    path = folder / f"{what}-{stamp[:16]}.json.gz"
    before = read_cache(path)
    if before is not None:
        return before["content"]
    content = make()
    write_cache(path, {"made of": made_of, "content": content})
    return content


def source_trees(progress: bool | None) -> Iterator[tuple[str, Path, ast.Module]]:
    """Yield the package, the relative path and the syntax tree of each source file."""
    files = [(package, root, path) for package in PACKAGES for root, path in source_files(package)]
    with progress_bar(
        progress, total=len(files), what="reading docstrings", unit="files"
    ) as advance:
        for package, root, path in files:
            yield package, path.relative_to(root), ast.parse(path.read_bytes())
            advance(1)


def source_files(package: str) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of an installed package and each source file except test files."""
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"{package} is not installed as source files, but the corpus contains docstrings from"
            f" this package. Run pip install {package}."
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    for path in sorted(root.rglob("*.py")):
        folders = path.relative_to(root).parts[:-1]
        if not ({"tests", "testing", "_examples"} & {*folders} or path.stem == "conftest"):
            yield root, path
