"""Write the tutorials as Jupyter notebooks, with their outputs, to the ``examples`` folder.

    python docs/notebooks.py

The pages in ``docs/tutorials`` are the source: the site executes and displays them. Each notebook
has the same cells, so that users can run and change them, and the outputs that ``outputs.py``
computes.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import outputs  # noqa: E402

TUTORIALS, EXAMPLES = DOCS / "tutorials", DOCS.parent / "examples"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.S | re.M)
DOWNLOAD = re.compile(r"^\{download\}.*\n\n?", re.M)
LINK = re.compile(r"\[([^\]]*)\]\(([^):]+\.md)([^)]*)\)")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def pages() -> list[Path]:
    """Return the notebook pages."""
    found = sorted(TUTORIALS.glob("*.md"))
    return [path for path in found if path.read_text("utf-8").startswith("---\nfile_format: myst")]


def notebook(page: Path, computed: bool = True) -> str:
    """Return the notebook source for a page, with outputs if these are computed."""
    text = page.read_text("utf-8").split("---\n", 2)[2]
    cells = [
        _cell(number, kind, source)
        for number, (kind, source) in enumerate(_parts(DOWNLOAD.sub("", text), page))
    ]
    if computed:
        run = [cell for cell in cells if cell["cell_type"] == "code"]
        found = outputs.outputs(["".join(cell["source"]) for cell in run])
        for number, (cell, output) in enumerate(zip(run, found, strict=True), start=1):
            cell["execution_count"] = number
            cell["outputs"] = _outputs(output, number)
    made = {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _outputs(output: outputs.Output, number: int) -> list[dict[str, Any]]:
    """Return what a notebook stores of an output."""
    streams = {"stderr": output.warned, "stdout": output.printed}
    stored: list[dict[str, Any]] = [
        {"output_type": "stream", "name": name, "text": text.splitlines(keepends=True)}
        for name, text in streams.items()
        if text
    ]
    for drawn in output.pictures:
        data = {"image/png": base64.b64encode(drawn).decode()}
        stored.append({"output_type": "display_data", "metadata": {}, "data": data})
    if output.value:
        shown = {"output_type": "execute_result", "metadata": {}, "execution_count": number}
        stored.append(shown | {"data": {"text/plain": output.value.splitlines(keepends=True)}})
    return stored


def stripped(source: str) -> str:
    """Return a notebook's source without its outputs."""
    made = json.loads(source)
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _parts(text: str, page: Path) -> Iterator[tuple[str, str]]:
    """Yield the code cells and the text between them."""
    end = 0
    for found in CELL.finditer(text):
        yield "markdown", _linked(text[end : found.start()], page)
        yield "code", found[1]
        end = found.end()
    yield "markdown", _linked(text[end:], page)


def _linked(text: str, page: Path) -> str:
    """Return the text with links from the examples folder to the pages, labeled by page title."""

    def linked(found: re.Match[str]) -> str:
        target = (page.parent / found[2]).resolve()
        title = found[1] or next(
            line[2:] for line in target.read_text("utf-8").splitlines() if line.startswith("# ")
        )
        return f"[{title}](../{target.relative_to(DOCS.parent.resolve()).as_posix()}{found[3]})"

    return LINK.sub(linked, text)


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    lines = source.strip().splitlines(keepends=True)
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": lines}


def main() -> None:
    """Write all notebooks."""
    for page in pages():
        place = EXAMPLES / f"{page.stem}.ipynb"
        place.write_text(notebook(page), encoding="utf-8")
        print(place)


if __name__ == "__main__":
    main()
