"""A search experiment from the docstrings of installed packages: runs and judgements."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.datasets.installed import once, parsed
from rankeval_pd.errors import check_count
from rankeval_pd.stats._types import FloatArray

_EDITION = 2  # of what is kept; another number when the reading changes
_LEAST = 2  # links that make a docstring a query


class Docstring(NamedTuple):
    """A public function, method or class."""

    name: str  #: of its module, its class and itself
    text: str  #: without the section "See Also"
    links: list[str]  #: names in that section, as they stand there


def load_docstring_search(depth: int = 100, *, progress: bool | None = None) -> pd.DataFrame:
    """Return a search experiment: public names look for the docstrings that they link to.

    Documents are the docstrings of the public functions, methods and classes of numpy, scipy,
    pandas, xarray and matplotlib as they are installed, without their sections "See Also". A query
    is a public name and the first line of its docstring; relevant are the docstrings of the same
    package that its section "See Also" links to, two at least. Two runs: ``bm25`` ranks by BM25
    (k1 = 1.2, b = 0.75), ``tfidf`` by the cosine of TF-IDF vectors, both over words.

    Parameters
    ----------
    depth : int
        Documents that each run retrieves for a query.
    progress : bool, optional
        Whether to show a progress bar; by default where the reading takes more than two seconds.

    Returns
    -------
    DataFrame
        As :func:`read_trec` returns it: ``query`` and ``document``, public names; ``bm25``,
        ``tfidf``: scores, NaN where the run did not retrieve the document; ``grade``: 1 for a
        link, missing elsewhere, for nobody judged the others.

    Raises
    ------
    ModuleNotFoundError
        Without scikit-learn, ``pip install "rankeval_pd[search]"``.

    Notes
    -----
    Source files are parsed, not imported; the result depends on the versions of the packages.
    What was read is cached like the corpus of :func:`load_docstring_terms`. The first reading
    takes some twenty seconds, the two runs a few seconds each time.

    The judgements are mechanical: authors link to what they think of, and what is not linked may
    be as good an answer.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> found = datasets.load_docstring_search()  # doctest: +SKIP
    >>> list(found.columns)  # doctest: +SKIP
    ['query', 'document', 'bm25', 'tfidf', 'grade']
    >>> found.rankeval.summary(["nDCG@10", "AP", "R@100"], baseline="bm25")  # doctest: +SKIP
    """
    depth = check_count("depth", depth)
    corpus = _corpus(progress)
    links = _resolved(corpus)
    asked = [k for k, result in enumerate(links) if len(result) >= _LEAST]
    runs = {name: _best(scores, asked, depth) for name, scores in _scores(corpus, asked)}
    return _frame(corpus, links, asked, runs)


Run = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], FloatArray]  # query, document, score


def _frame(
    corpus: list[Docstring], links: list[list[int]], asked: list[int], runs: dict[str, Run]
) -> pd.DataFrame:
    """Return a row for each query and document that a run retrieved or that is linked."""
    names = np.array([one.name for one in corpus], dtype=object)
    gold = pd.DataFrame(
        [(query, document) for query in asked for document in links[query]],
        columns=["query", "document"],
    ).assign(grade=1)
    table = gold
    for name, (query, document, score) in runs.items():
        run = pd.DataFrame({"query": query, "document": document, name: score})
        table = table.merge(run, on=["query", "document"], how="outer")
    table = table.astype({"grade": "Int64"})
    spelled = {
        name: pd.Series(names[table[name].to_numpy()].tolist()) for name in ("query", "document")
    }
    result = table.assign(**spelled)[["query", "document", *runs, "grade"]]
    return result.sort_values(["query", "document"], ignore_index=True)


def _scores(corpus: list[Docstring], asked: list[int]) -> Iterator[tuple[str, Any]]:
    """Yield the runs: the name, and the sparse scores (query, document)."""
    try:
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "load_docstring_search ranks documents with scikit-learn, which is not installed:"
            ' pip install "rankeval_pd[search]".'
        ) from None
    texts = [f"{_spoken(one.name)} {one.text}" for one in corpus]
    queries = [f"{_spoken(corpus[k].name)} {corpus[k].text.partition(chr(10))[0]}" for k in asked]
    counter = CountVectorizer(stop_words="english")
    found: Any = counter.fit_transform(texts)
    words: Any = counter.transform(queries)
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


def _best(scores: Any, asked: list[int], depth: int) -> Run:
    """Return the best documents of each query but the query's own, rounded as runs are."""
    scores = scores.tocsr()
    found = []
    for number, start, end in zip(asked, scores.indptr, scores.indptr[1:], strict=False):
        document, score = scores.indices[start:end], np.round(scores.data[start:end], 6)
        score = np.where(document == number, 0.0, score)
        # only what may be among the best is sorted
        edge = np.partition(score, -depth)[-depth] if score.size > depth else 0.0
        near = (score >= edge) & (score > 0.0)
        document, score = document[near], score[near]
        order = np.lexsort((document, -score))[:depth]
        found.append((np.full(order.size, number), document[order], score[order]))
    query, document, score = (np.concatenate(column) for column in zip(*found, strict=True))
    return query, document, score


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _spoken(name: str) -> str:
    """Return the words of a name without those of its package."""
    return " ".join(word.lower() for word in _WORDS.findall(name.partition(".")[2]))


def _resolved(corpus: list[Docstring]) -> list[list[int]]:
    """Return the documents that each docstring links to: by the longest end of their names."""
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
            near = [k for k in candidates if corpus[k].name.split(".")[1:-1] == home[:-1]]
            for documents in (near, candidates):
                if len(documents) == 1 and documents[0] != number:
                    linked.append(documents[0])
                    break
        listed.append(list(dict.fromkeys(linked)))
    return listed


# Reading, and keeping what was read


def _corpus(progress: bool | None) -> list[Docstring]:
    return [Docstring(*one) for one in once("docstring_search", _EDITION, lambda: _read(progress))]


def _read(progress: bool | None) -> list[Docstring]:
    by_name: dict[str, Docstring] = {}
    for package, path, tree in parsed(progress):
        # numpy/_core/fromnumeric.py is where numpy's functions are written, not their name
        public = [part for part in (*path.parts[:-1], path.stem) if not part.startswith("_")]
        for one in _docstrings(tree, ".".join([package, *public])):
            by_name.setdefault(one.name, one)
    return [by_name[name] for name in sorted(by_name)]


def _docstrings(tree: ast.Module | ast.ClassDef, within: str) -> Iterator[Docstring]:
    """Yield the docstrings of public functions and classes, and of the methods of these."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        if text:
            yield Docstring(f"{within}.{node.name}", *_parted(text))
        if isinstance(node, ast.ClassDef):
            yield from _docstrings(node, f"{within}.{node.name}")


_SEE_ALSO = re.compile(r"(?ms)^See Also\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)")
_LINKED = re.compile(r":\w+:`~?\.?([\w.]+)`|([\w.]+)")


def _parted(text: str) -> tuple[str, list[str]]:
    """Return a docstring without its section "See Also", and the names in that section."""
    section = _SEE_ALSO.search(text)
    if section is None:
        return text, []
    names = []
    for line in section[1].splitlines():
        if line and not line[0].isspace():  # what is indented describes
            before = line if ":`" in line else line.partition(" : ")[0]
            names += [(role or plain).strip(".") for role, plain in _LINKED.findall(before)]
    return text[: section.start()] + text[section.end() :], [name for name in names if name]
