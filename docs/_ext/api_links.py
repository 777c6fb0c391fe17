"""What the API pages add to docstrings, and in which order.

A page has links to a how-to, an explanation and the gallery, which lead back to the page:
``api_links.csv`` has a row for each public name. The example stands first, and the returned columns
are those that the method declares. The full list of column roles is on one page, and the API pages
link to that page.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("api_links.csv")
ROLES = "Column roles, described in :doc:`/api/roles`."


def table() -> dict[str, dict[str, str]]:
    """Return the row for each public name; names omit the package prefix."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def links(row: dict[str, str], gallery: bool = True) -> str:
    """Return a line of links to the pages in this row."""
    found = [f"How-to: :doc:`/{row['howto']}`"]
    if row["explanation"] != row["howto"]:
        found.append(f"Explanation: :doc:`/{row['explanation']}`")
    if gallery and row["gallery"]:
        found.append(f"Gallery: :doc:`/gallery/{row['gallery']}`")
    return " · ".join(found)


def shorten_roles(lines: list[str]) -> None:
    """Replace the list of roles in a docstring with a link to the page on roles."""
    start = next((k for k, line in enumerate(lines) if line.endswith(": roles, optional")), None)
    if start is None:
        return
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
        end += 1
    indent = re.match(r" *", lines[start])[0] + "    "  # type: ignore[index]
    lines[start + 1 : end] = [indent + ROLES, ""]


def columns(able: Any) -> list[str]:
    """Return the columns of the short table, and those that details=True adds."""
    short = able.short
    if not isinstance(short, str | dict):  # a function makes the short table
        short = ""
    if isinstance(short, str):
        short = {"": short}
    lines = []
    for keyword, names in short.items():
        beside = f" with ``{keyword}``" if keyword else ""
        if names:
            lines.append(f"Columns of the short table{beside}, where they apply: {_code(names)}.")
    if able.details:
        lines.append(f"``details=True`` adds, where they apply: {_code(able.details)}.")
    return lines


def _code(names: str) -> str:
    return ", ".join(f"``{name}``" for name in names.split())


def before_numpydoc(_: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    shorten_roles(lines)
    if hasattr(obj, "capabilities") and "Returns" in lines:
        place = lines.index("Returns") + 3  # after the type
        lines[place:place] = [f"    {line}" for line in (*columns(obj.capabilities), "")]


def after_numpydoc(_: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    examples_first(lines)
    row = table().get(name.removeprefix("rankeval_pd."))
    if row is None:
        return
    place = first_section(lines)
    lines[place:place] = ["", links(row), ""]


def examples_first(lines: list[str]) -> None:
    """Move the examples, the last section, before the others."""
    if ".. rubric:: Examples" in lines:
        start, end = lines.index(".. rubric:: Examples"), lines.index("..")  # numpydoc's mark
        examples = lines[start:end]
        del lines[start:end]
        place = first_section(lines)
        lines[place:place] = [*examples, ""]


def first_section(lines: list[str]) -> int:
    """Return the place of the first section of a docstring, after its text."""
    sections = (":Parameters:", ":Returns:", ":Yields:", ".. rubric::", ".. admonition::")
    return next((k for k, x in enumerate(lines) if x.startswith(sections)), len(lines))


def lead_back(_: Any, docname: str, source: list[str]) -> None:
    if not docname.startswith("gallery/"):
        return

    def line(match: re.Match[str]) -> str:
        row = table()[match[1]]
        return f"Function: :func:`rankeval_pd.{match[1]}` · {links(row, gallery=False)}"

    source[0] = re.sub(r"^Function: :func:`rankeval_pd\.([\w.]+)`\.$", line, source[0], flags=re.M)


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", before_numpydoc, priority=100)
    app.connect("autodoc-process-docstring", after_numpydoc, priority=900)
    app.connect("source-read", lead_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
