"""What the API pages add to docstrings, and in which order.

A page has links to its sections, and to a how-to, an explanation and the gallery, which lead back
to the page: ``api_links.csv`` has a row for each public name. The signature is short, the example
stands first, parameters are in groups, and the returned columns are those that the method declares.
The full list of column roles is on one page, and the API pages link to that page.
"""

from __future__ import annotations

import csv
import inspect
import re
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("api_links.csv")
NAMED = 2  # options that a short signature names
GROUPS = {
    "Test": "test alternative margin event method n_resamples skewness combine baseline",
    "Interval": "ci interval level target phi band",
    "Many tests": "adjust adjust_over alpha simultaneous",
}
SECTIONS = {
    ".. rubric:: Examples": "Examples",
    ":Parameters:": "Parameters",
    **{f":{group}:": group for group in GROUPS},
    ":Returns:": "Returns",
    ":Warns:": "Warnings",
    ".. rubric:: Notes": "Notes",
    ".. rubric:: References": "References",
}
CITED = "All references with their titles: :doc:`/start/citation`."
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
    group_parameters(lines)
    row = table().get(name.removeprefix("rankeval_pd."))
    if row is None:
        return
    if ".. rubric:: References" in lines:
        place = lines.index(".. rubric:: References") + 2
        lines[place:place] = [CITED, ""]
    on_this_page(lines, name.removeprefix("rankeval_pd.").replace(".", "-").lower())
    place = first_section(lines)
    lines[place:place] = ["", links(row), ""]


def group_parameters(lines: list[str]) -> None:
    """Set the options of tests, intervals and many tests apart from the other parameters."""
    if ":Parameters:" not in lines:
        return
    start = lines.index(":Parameters:") + 1
    end = next((k for k in range(start, len(lines)) if lines[k][:1].strip()), len(lines))
    group_of = {name: group for group, names in GROUPS.items() for name in names.split()}
    parts: dict[str, list[str]] = {"": [], **{group: [] for group in GROUPS}}
    group = ""
    for line in lines[start:end]:
        if named := re.match(r"    \*\*(\w+)", line):
            group = group_of.get(named[1], "")
        parts[group].append(line)
    found = [*parts[""], ""]
    for group in GROUPS:
        if parts[group]:
            found += [f":{group}:", "", *parts[group], ""]
    lines[start:end] = found


def on_this_page(lines: list[str], name: str) -> None:
    """Link the sections of a page at its start."""
    found = []
    for line, title in SECTIONS.items():
        if line in lines:
            label = f"{name}-{title.lower().replace(' ', '-')}".replace("_", "-")
            place = lines.index(line)
            lines[place:place] = [f".. _{label}:", ""]
            found.append(f"`{title} <{label}_>`__")
    if len(found) > 1:
        place = first_section(lines)
        lines[place:place] = ["", f"On this page: {' · '.join(found)}", ""]


def short_signature(function: Any) -> str:
    """Return the arguments by position and the first options, without defaults."""
    known = inspect.signature(function).parameters.values()
    names = [x.name for x in known if x.kind == x.POSITIONAL_OR_KEYWORD]
    options = [x.name for x in known if x.kind == x.KEYWORD_ONLY]
    if options:
        names += ["*", *options[:NAMED]] + ["..."] * (len(options) > NAMED)
    if any(x.kind == x.VAR_KEYWORD for x in known):
        names.append("**options")
    return f"({', '.join(names)})"


def shorten(_: Any, what: str, name: str, obj: Any, options: Any, *given: Any) -> Any:
    """Replace the signature of a function, which lists all column roles."""
    return (short_signature(obj), "") if what == "function" else None


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
    sections = (":Parameters:", ":Returns:", ":Yields:", ".. rubric::", ".. admonition::", ".. _")
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
    app.connect("autodoc-process-signature", shorten)
    app.connect("source-read", lead_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
