"""Collocation candidates from the docstrings of installed packages, with a gold label."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.datasets.installed import once, parsed
from rankeval_pd.datasets.prose import sentences

_EDITION = 3  # of what is kept; another number when the reading of docstrings changes
_USUAL = 10  # the least frequency unless given: from it on, candidates are kept as a table
_Pair = tuple[str, str]


class Corpus(NamedTuple):
    """The prose of each file, and the word pairs that stand side by side in a public name."""

    files: list[list[list[str]]]  #: file, run of adjacent words, word
    names: set[_Pair]


def load_docstring_terms(
    min_frequency: int | None = None,
    *,
    samples: int | None = None,
    rng: int | np.random.Generator | None = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return word pairs from the docstrings of the installed scientific packages.

    The corpus is the prose of the docstrings of numpy, scipy, pandas, xarray and matplotlib as
    they are installed, about a million words. Candidates are pairs of adjacent words; a pair is a
    true positive if the two words stand side by side in a public identifier in the source of these
    packages, one without a leading underscore: ``random_variable``, ``BoundingBox``, a parameter
    ``fill_value``. The question is how well
    association measures find the technical terms among the pairs.

    Parameters
    ----------
    min_frequency : int, optional
        The least frequency of a pair: 10 unless given, 4 with ``samples``.
    samples : int, optional
        Cut the corpus into so many contiguous parts, files in random order, and return the
        candidates of each.
    rng : int, Generator or None
        Seed of the order of the files; used with ``samples`` only.
    progress : bool, optional
        Whether to show a progress bar; by default where the reading takes more than two seconds.

    Returns
    -------
    DataFrame
        ``word1``, ``word2``: the two words, in lower case; ``O11``, ``O12``, ``O21``, ``O22``: the
        frequency of the pair, of the first word before others, of the second after others, and of
        all other pairs; ``gold``: whether the pair is part of a public name. Frequent pairs come
        first. With ``samples``, a column ``sample``, from 0, comes first.

    Notes
    -----
    Source files are parsed, not imported; tests are left out. The result depends on the versions
    of the five packages. Reading takes some twenty seconds. What was read is kept, by these
    versions, in the folder that the environment variable ``RANKEVAL_PD_CACHE`` names, else in the
    user's cache folder if pooch is installed, as by ``pip install 'rankeval_pd[data]'``.

    The gold label is mechanical: it has gaps (a term that no name spells out) and accidents (two
    words that meet in a name without being a term).

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> terms = datasets.load_docstring_terms()
    >>> list(terms.columns)
    ['word1', 'word2', 'O11', 'O12', 'O21', 'O22', 'gold']
    >>> terms = terms.rankeval.with_association_measures(["G2", "t"])
    >>> best = terms.rankeval.nbest_precision(500)
    """
    least = _check_count("min_frequency", min_frequency, 4 if samples is not None else _USUAL)
    parts = None if samples is None else _check_count("samples", samples, 1)
    if parts is None and least >= _USUAL:
        usual = _usual(progress)
        return usual[usual["O11"] >= least].reset_index(drop=True)
    corpus = _corpus(progress)
    if parts is None:
        return _candidates((run for file in corpus.files for run in file), corpus.names, least)
    order = np.random.default_rng(rng).permutation(len(corpus.files))
    runs = [run for position in order for run in corpus.files[position]]
    ends = np.cumsum([len(run) for run in runs])
    if parts > len(runs):
        raise ValueError(
            f"samples={samples!r}: the corpus has {len(runs)} stretches of text. Give fewer."
        )
    cuts = np.searchsorted(ends, np.arange(1, parts) * (ends[-1] / parts)).tolist()
    frames = [
        _candidates(runs[start:stop], corpus.names, least)
        for start, stop in pairwise([0, *cuts, len(runs)])
    ]
    numbered = pd.concat(frames, keys=range(parts), names=["sample", None])
    return numbered.reset_index(level="sample").reset_index(drop=True)


def _check_count(argument: str, value: int | None, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{argument}={value!r}: give a whole number of 1 or more.")
    return int(value)


def _candidates(runs: Iterable[list[str]], names: set[_Pair], min_frequency: int) -> pd.DataFrame:
    """Return the contingency tables of the frequent pairs."""
    counts: Counter[_Pair] = Counter()
    for run in runs:
        counts.update(pairwise(run))
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (word1, word2), count in counts.items():
        first[word1] += count
        second[word2] += count
    total = counts.total()
    kept = sorted(
        (pair for pair, count in counts.items() if count >= min_frequency),
        key=lambda pair: (-counts[pair], pair),
    )
    o11 = np.array([counts[pair] for pair in kept], dtype=np.int64)
    o12 = np.array([first[pair[0]] for pair in kept], dtype=np.int64) - o11
    o21 = np.array([second[pair[1]] for pair in kept], dtype=np.int64) - o11
    return pd.DataFrame(
        {
            "word1": [pair[0] for pair in kept],
            "word2": [pair[1] for pair in kept],
            "O11": o11,
            "O12": o12,
            "O21": o21,
            "O22": total - o11 - o12 - o21,
            "gold": np.array([pair in names for pair in kept], dtype=bool),
        }
    )


# Reading, and keeping what was read


def _usual(progress: bool | None) -> pd.DataFrame:
    """Return the candidates of the usual frequency: kept, since to count words takes a second."""

    def counted() -> dict[Any, list[Any]]:
        corpus = _corpus(progress)
        runs = (run for file in corpus.files for run in file)
        return _candidates(runs, corpus.names, _USUAL).to_dict("list")

    found = once("docstring_candidates", _EDITION, counted)
    return pd.DataFrame(found) if found["O11"] else _candidates((), set(), _USUAL)


def _corpus(progress: bool | None) -> Corpus:
    found = once("docstring_terms", _EDITION, lambda: _read(progress))
    files = [[run.split() for run in file] for file in found["files"]]
    return Corpus(files, {(a, b) for a, b in found["names"]})


def _read(progress: bool | None) -> dict[str, list[Any]]:
    """Return the corpus as JSON can say it."""
    files, names = [], set[_Pair]()
    for _, path, tree in parsed(progress):
        nodes = list(_nodes(tree))
        runs = [run for text in _docstrings(nodes) for runs in sentences(text) for run in runs]
        files.append([" ".join(run) for run in runs if len(run) > 1])
        for identifier in {*_public_names(nodes), path.stem}:
            names.update(pairwise_words(identifier))
    return {"files": files, "names": sorted(names)}


def _nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node in the order of ``ast.walk``, in a third of its time."""
    level: list[ast.AST] = [tree]
    while level:
        yield from level
        below: list[Any] = []
        for node in level:
            for value in vars(node).values():
                if isinstance(value, list):
                    below += value
                else:
                    below.append(value)
        level = [value for value in below if isinstance(value, ast.AST)]


def _docstrings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the docstrings of a module, and the texts that it adds to compiled functions."""
    for node in nodes:
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


def _public_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names in the source, but for those that start with an underscore."""
    for node in nodes:
        name: str | None = None
        match node:
            case ast.Attribute():
                name = node.attr
            case ast.Name(ctx=ast.Store()):
                name = node.id
            case ast.arg() | ast.keyword():
                name = node.arg
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                name = node.name
        if name and not name.startswith("_"):
            yield name


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z_]+")


def pairwise_words(identifier: str) -> Iterator[_Pair]:
    """Yield the pairs of neighbouring words in a name: of underscores or of capitals."""
    words = [word.lower() for word in _PARTS.findall(identifier)]
    for first, second in pairwise(words):
        if first.isalpha() and second.isalpha():
            yield first, second
