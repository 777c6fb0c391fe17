"""Keep the outputs of the pages that README links, so that they can be read in the repository.

    python docs/outputs.py

A page of code cells shows its outputs only on the site. Below each cell of a page that README
links, this script writes what the cell prints and draws: text, and pictures in
``_static/outputs``. The site leaves the kept outputs out and shows its own (``_ext/kept_outputs``).
``docs/notebooks.py`` keeps the outputs of the notebooks in the same way.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")
os.environ["TQDM_DISABLE"] = "1"

import matplotlib.pyplot as plt
import pandas as pd

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from kept_outputs import KEPT  # noqa: E402

PICTURES = DOCS / "_static" / "outputs"
WIDTH = 88
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```\n", re.S | re.M)
LOOK = {"figure.figsize": (6, 3.6), "figure.dpi": 80, "font.size": 9}
SHOWN = ("display.width", WIDTH, "display.max_columns", None, "display.max_rows", 20)


class Output(NamedTuple):
    """What a cell prints, its warnings, its value as text, and its pictures."""

    printed: str
    warned: str
    value: str
    pictures: list[bytes]


def linked_pages() -> list[Path]:
    """Return the pages of code cells that README links."""
    text = (DOCS.parent / "README.md").read_text("utf-8")
    places = sorted({DOCS.parent / name for name in re.findall(r"\((docs/[\w/]+\.md)", text)})
    return [place for place in places if CELL.search(place.read_text("utf-8"))]


def outputs(cells: list[str]) -> Iterator[Output]:
    """Run the cells of a page, one after the other, and yield the output of each."""
    names: dict[str, Any] = {"__name__": "page"}
    with plt.rc_context(LOOK), pd.option_context(*SHOWN):
        for code in cells:
            yield _output(code, names)


def _output(code: str, names: dict[str, Any]) -> Output:
    tree = ast.parse(re.sub(r"^:tags:.*\n", "", code))
    silent, value = code.rstrip().endswith(";"), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
        warnings.simplefilter("default")
        exec(compile(tree, "page", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "page", "eval"), names)
    known = [w for w in warned if w.category.__name__ == "RankevalWarning"]
    said = "\n".join(f"RankevalWarning: {w.message}" for w in known)
    pictures = [_picture(number) for number in plt.get_fignums()]
    plt.close("all")
    if value is None or silent or (pictures and isinstance(value, plt.Axes)):
        return Output(printed.getvalue(), said, "", pictures)
    return Output(printed.getvalue(), said, repr(value), pictures)


def _picture(number: int) -> bytes:
    file = io.BytesIO()
    # without the name and version of the program, which would change the file
    plt.figure(number).savefig(file, bbox_inches="tight", metadata={"Software": None})
    return file.getvalue()


def kept(page: Path) -> tuple[str, dict[Path, bytes]]:
    """Return the text of a page with its outputs, and its pictures."""
    text = KEPT.sub("", page.read_text("utf-8"))
    cells = list(CELL.finditer(text))
    pictures: dict[Path, bytes] = {}
    parts, end = [], 0
    for cell, output in zip(cells, outputs([cell[1] for cell in cells]), strict=True):
        section = re.findall(r"^#+ (.*)", text[: cell.start()], re.M)[-1]
        shown = _shown(output, page, section, pictures)
        parts.append(text[end : cell.end()])
        parts.append("".join(f"\n{part}\n" for part in shown))
        end = cell.end()
    return "".join(parts) + text[end:], pictures


def _shown(output: Output, page: Path, section: str, pictures: dict[Path, bytes]) -> list[str]:
    text = "\n".join(x.rstrip() for x in (output.warned, output.printed, output.value) if x)
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
    if any(len(line) > WIDTH for line in text.splitlines()):
        text = "\n".join(lines)
    parts = [f"```text output\n{text}\n```"] if text else []
    for drawn in output.pictures:
        place = PICTURES / f"{page.parent.name}_{page.stem}_{len(pictures) + 1}.png"
        pictures[place] = drawn
        parts.append(f"![{section}](../_static/outputs/{place.name})")
    return parts


def main() -> None:
    """Write the outputs into the pages."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    for page in linked_pages():
        text, pictures = kept(page)
        page.write_text(text, "utf-8")
        for place, drawn in pictures.items():
            place.write_bytes(drawn)
        print(page)


if __name__ == "__main__":
    main()
