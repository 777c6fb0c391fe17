"""Find claims about levels, versions, files and counts that nothing computes or tests.

    python docs/claims.py

A claim is a number in prose: of a level that simulations reach, of a version, of counted things,
or the name of a file. It may stand there if a command writes the page, if ``sentences.csv`` of the
simulations computes the sentence, if code or output on the same page shows the number, if the
papers print it (``papers.csv``), or if ``claims.csv`` names the test that checks it, or the reason
why nothing can. The script prints all other claims, and a test fails if there are any.
"""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
KNOWN = DOCS / "claims.csv"
PROOF = ROOT / "tests" / "simulations" / "proof"
WRITTEN = {
    *(DOCS / "validation" / f"{name}.md" for name in ("accuracy", "coverage", "elsewhere")),
    *(DOCS / "validation" / f"{name}.md" for name in ("papers", "performance")),
    DOCS / "validation" / "performance" / "methods.md",
}
LEAST = 60  # smaller counts describe an example, not what was simulated or counted
LINKS = re.compile(r"\[10\.\d+/[^\]]*\]\([^)]*\)|\]\([^)]*\)|<http[^>]*>")  # a DOI is no version
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$", re.S | re.M)
NOUNS = (
    "word pairs|pairs|terms|results|numbers|settings|comparisons|functions|methods|measures|pages"
    "|tables|plots|tests|test sets|samples|packages|files|cases|candidates|systems|items|queries"
    "|documents|images|disagreements|thresholds|reviewers|resamples|seconds|minutes"
)
KINDS = {
    "level": re.compile(
        r"\b(?:coverage|cover(?:s|ed)|error rates?|rejected at)\b[^.!?|`:]*?\b0\.\d+|"
        r"(?:stay|remain|keep|is|are)s? below 5|at least the nominal|"
        r"(?:reach|maintain|keep)\w* (?:its|their|the) (?:nominal )?(?:coverage|level)"
    ),
    "version": re.compile(r"\b(?!1e)(?:[A-Z]\w+ )?\d+\.\d+\.\d+\b|\b[Pp]ython 3\.\d+"),
    "file": re.compile(r"`((?:tests|docs|examples|rankeval_pd|\.ci)/[\w./-]+)`"),
    "count": re.compile(rf"(?<![\d.,])(\d+(?:,\d{{3}})*) (?:[a-z-]+ )?(?:{NOUNS})\b"),
    "spelled count": re.compile(
        r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:[a-z]+ )?"
        r"(?:packages|pages|files|plots|fields|tutorials|notebooks|layouts|papers|columns)\b",
        re.IGNORECASE,
    ),
}
#: superlatives about everything that tables can refute
SWEEPING = re.compile(
    r"\b(?:all settings|every interval|every setting|never miss\w*|stays? below \d|"
    r"no other package)\b"
)


def pages() -> list[Path]:
    """Return the pages that people write."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if "generated" not in path.parts]
    start = [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")]
    return [*start, *(path for path in found if path not in WRITTEN)]


def claims(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each claim on a page that the page does not show."""
    text = path.read_text("utf-8")
    shown = {*_numbers(" ".join(found[0] for found in CODE.finditer(text)))} | printed_in_papers()
    prose = re.sub(r"\s+", " ", LINKS.sub("]", CODE.sub("", _without_sentences(path, text))))
    for kind, pattern in KINDS.items():
        for found in pattern.finditer(prose):
            if kind == "file" and (ROOT / found[1]).exists():
                continue
            if kind == "count":
                count = found[1].replace(",", "")
                if count in shown or int(count) < LEAST:
                    continue
            yield kind, found[0]
    for found in SWEEPING.finditer(prose):
        yield "sweeping", found[0]
    for name in re.findall(r"python -m (tests[\w.]*\w)", text):
        place = ROOT / name.replace(".", "/")
        if not (place.with_suffix(".py").exists() or (place / "__main__.py").exists()):
            yield "command", name


def _numbers(text: str) -> Iterator[str]:
    for number in re.findall(r"\d[\d,_]*", text):
        yield re.sub(r"[,_]", "", number)


def printed_in_papers() -> set[str]:
    """Return the large numbers that the papers print, which the page on the papers checks."""
    texts = [(PROOF / f"{name}.csv").read_text("utf-8") for name in ("papers", "closed")]
    return {number for number in _numbers(" ".join(texts)) if len(number) > 2}


def _without_sentences(path: Path, text: str) -> str:
    """Return the text without the sentences whose numbers are computed from simulations."""
    sys.path.insert(0, str(ROOT))
    sentences = importlib.import_module("tests.simulations.proof.sentences")
    name = path.relative_to(ROOT).as_posix()
    for sentence in sentences.sentences():
        if sentence.file == name:
            text = sentences.pattern(sentence).sub("", text)
    return text


def known() -> dict[tuple[str, str], str]:
    """Return the claims with a test, or a reason: by file and text."""
    with KNOWN.open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["claim"]): row["because"] for row in csv.DictReader(file)}


def unfounded() -> list[str]:
    """Return each claim that nothing computes or tests."""
    told = known()
    found = []
    for path in pages():
        name = path.relative_to(ROOT).as_posix()
        for kind, text in claims(path):
            if (name, text) not in told:
                found.append(f"{name}: {kind}: {text}")
    return found


if __name__ == "__main__":
    print("\n".join(unfounded()))
