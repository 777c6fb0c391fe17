"""The docstrings of installed packages, read from their source files, and the prose in them."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from importlib import metadata, util
from pathlib import Path
from typing import Any

from rankeval_pd.datasets.krenn import cache_folder, read_cache, write_cache
from rankeval_pd.progress import progress_bar

# ------------------------------------------------------------------------- The prose of docstrings
#
# Markup, code and cross-references are taken out.

# Directives with prose; others contain code, plots, tables or lists of names
_PROSE_DIRECTIVES = frozenset(
    ["note", "warning", "important", "tip", "hint", "caution", "attention", "admonition",
     "deprecated", "versionadded", "versionchanged", "rubric", "topic"]
)  # fmt: skip
# Sections that consist of cross-references
_REFERENCE_SECTIONS = frozenset(["see also", "references"])
# Sections that define names: an unindented line is a name with its type, not a sentence
_DEFINING_SECTIONS = frozenset(
    ["parameters", "other parameters", "returns", "yields", "receives", "raises", "warns",
     "warnings", "attributes", "methods", "keyword arguments"]
)  # fmt: skip

_RULE = re.compile(r"^([=\-~^*#+\"'`.:_])\1{2,}\s*$")
_TABLE_RULE = re.compile(r"^\s*[=\-]{2,}(\s+[=\-]{2,})+\s*$|^\s*\+[-=+]+\+\s*$")
_DIRECTIVE = re.compile(r"^\s*\.\.\s+([\w-]+)::")
_EXPLICIT = re.compile(r"^\s*\.\.(\s|$)")  # comments, footnotes, link targets, substitutions
_FIELD = re.compile(r"^\s*:[\w\s*]+:(\s|$)")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\(?(?:\d+|[a-zA-Z#])[.)])\s+")
_DEFINITION = re.compile(r"^\S.*\s:(\s|$)|^[\w.*, ]+:\s*$")

# Within a line, anything that is not prose becomes a mark, which separates the words around it
_BREAK = " | "
_INLINE = re.compile(
    r"``.+?``"  # literal
    r"|:[\w:+-]+:`[^`]*`"  # role
    r"|`[^`]*`_{0,2}"  # reference, or name of a parameter
    r"|\|[^|\s][^|]*\|"  # substitution
    r"|\$[^$]+\$"  # mathematics
    r"|\[[\w*#]+\]_"  # footnote
    r"|\w+://\S+|www\.\S+|\S+@\S+"  # addresses
    r"|%\([\w ]+\)s|\{[\w!.]*\}"  # placeholders
)
_SENTENCE_END = re.compile(r"[.!?:;]+(?=\s|$)")
_TOKEN = re.compile(r"[^\s|]+|\|")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_SHORT_WORDS = frozenset("aAI")


def sentences(docstring: str) -> Iterator[list[list[str]]]:
    """Yield the sentences of a docstring, each as runs of adjacent words.

    Words are in lower case. A hyphen joins two words as a space does; punctuation inside a
    sentence, numbers, markup and code end a run.
    """
    for paragraph in _paragraphs(docstring):
        text = _INLINE.sub(_BREAK, " ".join(paragraph)).replace("**", "").replace("*", "")
        for sentence in _SENTENCE_END.split(text):
            runs = _runs(sentence)
            if runs:
                yield runs


def _runs(sentence: str) -> list[list[str]]:
    """Return the runs of adjacent words of a sentence; brackets and commas end a run as well."""
    runs: list[list[str]] = [[]]
    for token in _TOKEN.findall(sentence):
        bare = token.strip("\"'“”‘’")
        opens, closes = bare[:1] in "([", bare[-1:] in ",)]"
        bare = bare.strip("()[],\"'“”‘’")
        parts = bare.split("-") if bare else []
        if not parts or not all(map(_is_word, parts)):
            runs.append([])  # code, a number or a sign: the words around it are not adjacent
            continue
        if opens:
            runs.append([])
        runs[-1].extend(part.lower() for part in parts)
        if closes:
            runs.append([])
    return [run for run in runs if run]


def _is_word(part: str) -> bool:
    return bool(_WORD.fullmatch(part)) and (len(part) > 1 or part in _SHORT_WORDS)


def _paragraphs(docstring: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph of prose; a list item is a paragraph of its own."""
    paragraph: list[str] = []
    for line in _prose_lines(docstring.expandtabs().splitlines()):
        if not line.strip() or _BULLET.match(line):
            if paragraph:
                yield paragraph
            paragraph = []
            line = _BULLET.sub("", line)
        if line.strip():
            paragraph.append(line.strip())
    if paragraph:
        yield paragraph


def _prose_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines that are prose, and an empty line in place of everything else."""
    section, skipping = "", None  # skipping: the indentation of a block that is left out
    in_doctest = in_table = False
    for number, line in enumerate(lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if not text:
            in_doctest = in_table = False
            yield ""
            continue
        if skipping is not None:
            if indent > skipping:
                continue
            skipping = None
        if _RULE.match(following) and not _RULE.match(text) and len(following) >= 3:
            section = text.lower()  # a heading; its underline is a rule and falls below
            yield ""
            continue
        in_doctest = in_doctest or text.startswith((">>>", "In ["))
        in_table = in_table or bool(_TABLE_RULE.match(line))
        directive = _DIRECTIVE.match(line)
        if directive or _EXPLICIT.match(line):
            if not (directive and directive[1] in _PROSE_DIRECTIVES):
                skipping = indent
            yield ""
            continue
        if (
            in_doctest
            or in_table
            or section in _REFERENCE_SECTIONS
            or (section in _DEFINING_SECTIONS and (indent == 0 or _DEFINITION.match(text)))
            or _RULE.match(text)
            or _FIELD.match(line)
            or text.startswith(("|", "+--"))
            or re.search(r"\S {3,}\S", text)
        ):
            yield ""
            continue
        if text.endswith("::"):
            skipping = indent  # a literal block follows
        yield line
        if text.endswith("::"):
            yield ""


# -------------------------------------------------------------- Source files of installed packages
#
# They are parsed, not imported, and the result is cached.

PACKAGES = ("numpy", "scipy", "pandas", "xarray", "matplotlib")


def cached_content(what: str, edition: int, make: Callable[[], Any]) -> Any:
    """Return content from the cache of the same package versions, or make it and cache it.

    ``make`` returns what JSON can hold. Raise ``edition`` whenever ``make`` returns something else.
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
    """Yield each source file: its package, its path within the package, and its syntax tree."""
    files = [(package, root, path) for package in PACKAGES for root, path in source_files(package)]
    with progress_bar(
        progress, total=len(files), what="reading docstrings", unit="files"
    ) as advance:
        for package, root, path in files:
            yield package, path.relative_to(root), ast.parse(path.read_bytes())
            advance(1)


def source_files(package: str) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of an installed package with each of its source files but tests."""
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
