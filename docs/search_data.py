"""Make the search experiment that is bundled with the package.

    python docs/search_data.py rankeval_pd/datasets/search.csv.gz

The documents are the docstrings of the public functions, methods and classes of the installed
packages, without the "See Also" sections. A query is a public name and the first line of its
docstring. Relevant are the documents that its "See Also" section names.
"""

from __future__ import annotations

import ast
import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

# ---- Parse the source files of installed packages

PACKAGES = ("numpy", "scipy", "pandas", "xarray", "matplotlib")
ASKED = ("xarray", "matplotlib")  # packages whose docstrings become queries


def source_trees() -> Iterator[tuple[str, Path, ast.Module]]:
    """Yield the package, the relative path and the syntax tree of each source file."""
    for package in PACKAGES:
        for root, path in source_files(package):
            yield package, path.relative_to(root), ast.parse(path.read_bytes())


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


# ---- Build a search experiment from the docstrings of installed packages

_LEAST_LINKS = 2  # a docstring with at least this many links becomes a query


class Docstring(NamedTuple):
    """Store the docstring of a public function, method or class."""

    name: str  #: name with module and class
    text: str  #: text without the "See Also" section
    links: list[str]  #: names in the "See Also" section, as written


def experiment(depth: int = 50) -> pd.DataFrame:
    """Return the queries about xarray and Matplotlib, both runs, and the linked documents."""
    corpus = read_corpus()
    links = _linked_documents(corpus)
    asked = []
    for number, linked in enumerate(links):
        if corpus[number].name.startswith(ASKED) and len(linked) >= _LEAST_LINKS:
            asked.append(number)
    runs = {
        name: _best_documents(scores, asked, depth) for name, scores in _run_scores(corpus, asked)
    }
    # a row for each query and retrieved or linked document
    names = np.array([one.name for one in corpus], dtype=object)
    table = pd.DataFrame(
        [(query, document) for query in asked for document in links[query]],
        columns=["query", "document"],
    ).assign(grade=1)
    for name, (query, document, score) in runs.items():
        run = pd.DataFrame({"query": query, "document": document, name: score})
        table = table.merge(run, on=["query", "document"], how="outer")
    table = table.astype({"grade": "Int64"})
    for name in ("query", "document"):
        table[name] = names[table[name].to_numpy()].tolist()
    table = table[["query", "document", *runs, "grade"]]
    return table.sort_values(["query", "document"], ignore_index=True)


Run = tuple[
    np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]
]  # query, document, score


def _run_scores(corpus: list[Docstring], asked: list[int]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the sparse scores (query, document) of each run."""
    texts = [f"{_name_words(one.name)} {one.text}" for one in corpus]
    queries = [
        f"{_name_words(corpus[k].name)} {corpus[k].text.partition(chr(10))[0]}" for k in asked
    ]
    counter = CountVectorizer(stop_words="english")
    found: Any = counter.fit_transform(texts)
    words: Any = counter.transform(queries)
    # compute BM25 in place in a sparse matrix (document, word); k1 = 1.2, b = 0.75
    counts = found.tocsr().astype(float)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log1p((len(corpus) - frequency + 0.5) / (frequency + 0.5))
    row = np.repeat(np.arange(len(corpus)), np.diff(counts.indptr))
    norm = 1.2 * (1.0 - 0.75 + 0.75 * lengths[row] / lengths.mean())
    counts.data = counts.data * 2.2 / (counts.data + norm) * rarity[counts.indices]
    yield "bm25", (words > 0).astype(float) @ counts.T
    weights = TfidfTransformer(sublinear_tf=True)
    documents: Any = weights.fit_transform(found)
    yield "tfidf", weights.transform(words) @ documents.T


def _best_documents(scores: Any, asked: list[int], depth: int) -> Run:
    """Return the best documents for each query and their rounded scores."""
    scores = scores.tocsr()
    found = []
    for number, start, end in zip(asked, scores.indptr, scores.indptr[1:], strict=False):
        document, score = scores.indices[start:end], np.round(scores.data[start:end], 4)
        score = np.where(document == number, 0.0, score)
        # sort only documents that may be among the best
        edge = np.partition(score, -depth)[-depth] if score.size > depth else 0.0
        near = (score >= edge) & (score > 0.0)
        document, score = document[near], score[near]
        order = np.lexsort((document, -score))[:depth]
        found.append((np.full(order.size, number), document[order], score[order]))
    query, document, score = (np.concatenate(column) for column in zip(*found, strict=True))
    return query, document, score


# words in a query's name, including digits
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _name_words(name: str) -> str:
    """Return the words in a name, without the package name."""
    return " ".join(word.lower() for word in _WORDS.findall(name.partition(".")[2]))


def _linked_documents(corpus: list[Docstring]) -> list[list[int]]:
    """Return the documents that each docstring links to."""
    # all suffixes of every name: ("numpy", "linalg.norm"), ("numpy", "norm"), ...
    ends: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(corpus):
        package, *parts = one.name.split(".")
        for start in range(len(parts)):
            ends[package, ".".join(parts[start:])].append(number)
    listed = []
    for number, one in enumerate(corpus):
        package, *home = one.name.split(".")
        linked = []
        for link in one.links:
            candidates = ends.get((package, link.removeprefix(f"{package}.")), [])
            # take a unique match in the same module or class, or otherwise in the package
            near = [k for k in candidates if corpus[k].name.split(".")[1:-1] == home[:-1]]
            for documents in (near, candidates):
                if len(documents) == 1 and documents[0] != number:
                    linked.append(documents[0])
                    break
        listed.append(list(dict.fromkeys(linked)))
    return listed


def read_corpus() -> list[Docstring]:
    """Return the docstrings of public names in all packages."""
    by_name: dict[str, Docstring] = {}
    for package, path, tree in source_trees():
        # private modules, as in numpy/_core/fromnumeric.py, are not part of a public name
        public = [part for part in (*path.parts[:-1], path.stem) if not part.startswith("_")]
        for one in _search_docstrings(tree, ".".join([package, *public])):
            by_name.setdefault(one.name, one)
    return [by_name[name] for name in sorted(by_name)]


def _search_docstrings(tree: ast.Module | ast.ClassDef, within: str) -> Iterator[Docstring]:
    """Yield the docstrings of public functions, classes and methods."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        if text:
            yield Docstring(f"{within}.{node.name}", *_split_see_also(text))
        if isinstance(node, ast.ClassDef):
            yield from _search_docstrings(node, f"{within}.{node.name}")


_SEE_ALSO = re.compile(r"(?ms)^See Also\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)")
_LINKED = re.compile(r":\w+:`~?\.?([\w.]+)`|([\w.]+)")


def _split_see_also(text: str) -> tuple[str, list[str]]:
    """Split a docstring into its text and the names in its "See Also" section."""
    section = _SEE_ALSO.search(text)
    if section is None:
        return text, []
    names = []
    for line in section[1].splitlines():
        if line and not line[0].isspace():  # indented lines are descriptions
            before = line if ":`" in line else line.partition(" : ")[0]
            names += [(role or plain).strip(".") for role, plain in _LINKED.findall(before)]
    return text[: section.start()] + text[section.end() :], [name for name in names if name]


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(experiment().to_csv(index=False).encode())
