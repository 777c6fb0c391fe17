"""Count the ``load_terms`` word pairs in the docstrings of the installed packages.

    python docs/terms_data.py counts.csv

The table has one row for each pair of content words that occurs at least 9 times. Each row
gives the counts of the pair and of each word in every package. With the versions
listed in ``load_terms``, the table equals the bundled file without the judgments.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pandas as pd
from search_data import PACKAGES, source_trees

LEAST = 9  # how often a pair occurs
FUNCTION_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "across",
        "after",
        "again",
        "against",
        "all",
        "almost",
        "along",
        "already",
        "also",
        "although",
        "always",
        "am",
        "among",
        "an",
        "and",
        "another",
        "any",
        "anyone",
        "anything",
        "are",
        "aren't",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "behind",
        "being",
        "below",
        "beside",
        "besides",
        "between",
        "beyond",
        "both",
        "but",
        "by",
        "can",
        "can't",
        "cannot",
        "cf",
        "could",
        "despite",
        "did",
        "do",
        "does",
        "doesn't",
        "doing",
        "don't",
        "done",
        "down",
        "during",
        "e",
        "each",
        "eg",
        "eight",
        "either",
        "else",
        "etc",
        "even",
        "ever",
        "every",
        "everyone",
        "everything",
        "except",
        "few",
        "fewer",
        "fewest",
        "five",
        "for",
        "four",
        "from",
        "furthermore",
        "g",
        "had",
        "has",
        "have",
        "having",
        "he",
        "hence",
        "her",
        "here",
        "him",
        "himself",
        "his",
        "how",
        "however",
        "i",
        "i.e",
        "ie",
        "if",
        "in",
        "instead",
        "into",
        "is",
        "isn't",
        "it",
        "it's",
        "its",
        "itself",
        "just",
        "least",
        "less",
        "let",
        "let's",
        "like",
        "many",
        "may",
        "maybe",
        "me",
        "might",
        "mine",
        "more",
        "moreover",
        "most",
        "much",
        "must",
        "my",
        "near",
        "nearly",
        "neither",
        "never",
        "nine",
        "no",
        "none",
        "nor",
        "not",
        "nothing",
        "now",
        "of",
        "off",
        "often",
        "on",
        "once",
        "one",
        "ones",
        "oneself",
        "only",
        "onto",
        "or",
        "other",
        "others",
        "otherwise",
        "our",
        "out",
        "over",
        "own",
        "per",
        "perhaps",
        "quite",
        "rather",
        "s",
        "same",
        "seven",
        "several",
        "shall",
        "she",
        "should",
        "since",
        "six",
        "so",
        "some",
        "someone",
        "something",
        "sometimes",
        "still",
        "such",
        "t",
        "ten",
        "than",
        "that",
        "that's",
        "the",
        "their",
        "them",
        "themselves",
        "then",
        "there",
        "there's",
        "therefore",
        "these",
        "they",
        "they're",
        "third",
        "this",
        "those",
        "though",
        "three",
        "through",
        "thus",
        "till",
        "to",
        "too",
        "toward",
        "towards",
        "twice",
        "two",
        "under",
        "unless",
        "unlike",
        "until",
        "up",
        "upon",
        "us",
        "usually",
        "very",
        "via",
        "vs",
        "was",
        "we",
        "we're",
        "well",
        "were",
        "what",
        "when",
        "whenever",
        "where",
        "wherever",
        "whether",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "within",
        "without",
        "won't",
        "would",
        "yes",
        "yet",
        "you",
        "you're",
        "your",
        "yours",
        "yourself",
    ]
)


def counts() -> pd.DataFrame:
    """Return the candidates with their counts in each package, most frequent first."""
    pairs = {package: Counter[tuple[str, str]]() for package in PACKAGES}
    for package, runs in _distinct_sentences():
        for run in runs:
            pairs[package].update(pairwise(run))
    together = sum(pairs.values(), Counter())
    kept = [pair for pair, n in together.items() if n >= LEAST and _is_content(*pair)]
    kept.sort(key=lambda pair: (-together[pair], pair))
    table = pd.DataFrame(kept, columns=["word1", "word2"])
    for package, found in pairs.items():
        first, second = Counter[str](), Counter[str]()
        for (word1, word2), n in found.items():
            first[word1] += n
            second[word2] += n
        table[f"{package}_pair"] = [found[pair] for pair in kept]
        table[f"{package}_first"] = [first[word] for word, _ in kept]
        table[f"{package}_second"] = [second[word] for _, word in kept]
    seconds = Counter[str]()
    for (_, word), n in together.items():
        seconds[word] += n
    table.insert(2, "head", [_singular(word, seconds) for _, word in kept])
    return table


def _distinct_sentences() -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each distinct sentence once per package, because docstrings repeat text."""
    seen = set()
    for package, _, tree in source_trees():
        for text in _docstrings(tree):
            for runs in sentences(text):
                key = (package, tuple(map(tuple, runs)))
                if key not in seen:
                    seen.add(key)
                    yield package, runs


def _is_content(*words: str) -> bool:
    return all(len(word) > 1 and word not in FUNCTION_WORDS for word in words)


def _singular(word: str, seconds: Counter[str]) -> str:
    """Return the singular form of a word if the corpus contains it, or the word itself."""
    word = word.removesuffix("'s")
    if word == "axes":
        return "axis"
    endings = [
        (("ices",), 4, "ix"),
        (("ices",), 4, "ex"),
        (("ies",), 3, "y"),
        (("yses", "eses", "ases"), 2, "is"),
        (("ches", "shes", "sses", "xes"), 2, ""),
    ]
    forms = [word[:-cut] + end for ends, cut, end in endings if word.endswith(ends)]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.append(word[:-1])
    return next((form for form in forms if seconds[form] >= 5), word)


def _docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield a module's docstrings, including those it adds to compiled functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name.startswith("add_newdoc"):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield inspect.cleandoc(part.value)


# ------------------------------------------------------------------------- The prose of docstrings
#
# Markup, code and cross-references are removed.

# Directives with prose; others contain code, plots, tables or lists of names
_PROSE_DIRECTIVES = frozenset(
    ["note", "warning", "important", "tip", "hint", "caution", "attention", "admonition",
     "deprecated", "versionadded", "versionchanged", "rubric", "topic"]
)  # fmt: skip
# Sections that consist of cross-references
_REFERENCE_SECTIONS = frozenset(["see also", "references"])
# In sections that define names, an unindented line is a name with its type, not a sentence
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

# Within a line, each non-prose element is replaced by a mark that separates adjacent words
_BREAK = " | "
_INLINE = re.compile(
    r"``.+?``"  # literal
    r"|:[\w:+-]+:`[^`]*`"  # role
    r"|`[^`]*`_{0,2}"  # reference or parameter name
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
    """Yield each sentence in a docstring as runs of adjacent words.

    Words are lowercase. Hyphens count as spaces; punctuation inside a sentence,
    numbers, markup and code end a run.
    """
    for paragraph in _paragraphs(docstring):
        text = _INLINE.sub(_BREAK, " ".join(paragraph)).replace("**", "").replace("*", "")
        for sentence in _SENTENCE_END.split(text):
            runs = _runs(sentence)
            if runs:
                yield runs


def _runs(sentence: str) -> list[list[str]]:
    """Return the runs of adjacent words in a sentence; brackets and commas also end a run."""
    runs: list[list[str]] = [[]]
    for token in _TOKEN.findall(sentence):
        bare = token.strip("\"'“”‘’")
        opens, closes = bare[:1] in "([", bare[-1:] in ",)]"
        bare = bare.strip("()[],\"'“”‘’")
        parts = bare.split("-") if bare else []
        if not parts or not all(map(_is_word, parts)):
            runs.append([])  # code, a number or a symbol separates the words around it
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
    """Yield the lines of each prose paragraph; each list item is a separate paragraph."""
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
    """Yield the lines of prose, with all other lines replaced by empty lines."""
    section, skipping = "", None  # skipping: the indentation of a skipped block
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
            section = text.lower()  # a heading; its underline is skipped below
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


if __name__ == "__main__":
    counts().to_csv(Path(sys.argv[1]), index=False)
