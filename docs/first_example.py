"""Run the first example of the README: ``python docs/first_example.py``.

Writes the printed output below the code and draws the figure.
"""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

DOCS = Path(__file__).parent
EXAMPLE = re.compile(r"(```python\n)(.*?)(```\n+```text\n)(.*?)(```)", re.S)


def main() -> None:
    page = DOCS.parent / "README.md"
    text = page.read_text("utf-8")
    found = EXAMPLE.search(text)
    printed = io.StringIO()
    names: dict[str, object] = {}
    with (
        plt.rc_context({"figure.figsize": (7, 4), "font.size": 9}),
        contextlib.redirect_stdout(printed),
    ):
        exec(compile(found[2], page.name, "exec"), names)
    lines = [textwrap.fill(line, 88) for line in printed.getvalue().splitlines()]
    page.write_text(text[: found.start(4)] + "\n".join(lines) + "\n" + text[found.end(4) :])
    print(page)
    picture = DOCS / "_static" / "first_picture.png"
    names["ax"].figure.savefig(picture, dpi=110, bbox_inches="tight")
    print(picture)


if __name__ == "__main__":
    main()
