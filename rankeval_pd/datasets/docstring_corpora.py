"""Candidates, and a search experiment, from the docstrings of installed packages."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.datasets.docstrings import cached_content, sentences, source_trees
from rankeval_pd.errors import check_count
from rankeval_pd.stats._types import FloatArray

# -------------------------------------------------------------------- Word pairs with a gold label

_EDITION = 3  # of the cached corpus: raise it when the reading of docstrings changes
# the default least frequency: candidates at least as frequent are cached as a table
_CACHED_FREQUENCY = 10
_Pair = tuple[str, str]


class Corpus(NamedTuple):
    """The prose of each file, and the word pairs that are adjacent in a public name."""

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
    least = _check_count(
        "min_frequency", min_frequency, 4 if samples is not None else _CACHED_FREQUENCY
    )
    parts = None if samples is None else _check_count("samples", samples, 1)
    if parts is None and least >= _CACHED_FREQUENCY:
        usual = _cached_candidates(progress)
        return usual[usual["O11"] >= least].reset_index(drop=True)
    corpus = _corpus(progress)
    if parts is None:
        return _candidates((run for file in corpus.files for run in file), corpus.names, least)
    # cut the files, in random order, into parts of about the same number of words
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


# Reading and caching


def _cached_candidates(progress: bool | None) -> pd.DataFrame:
    """Return the candidates of the default frequency, cached: counting words takes a second."""

    def counted() -> dict[Any, list[Any]]:
        corpus = _corpus(progress)
        runs = (run for file in corpus.files for run in file)
        return _candidates(runs, corpus.names, _CACHED_FREQUENCY).to_dict("list")

    found = cached_content("docstring_candidates", _EDITION, counted)
    return pd.DataFrame(found) if found["O11"] else _candidates((), set(), _CACHED_FREQUENCY)


def _corpus(progress: bool | None) -> Corpus:
    found = cached_content("docstring_terms", _EDITION, lambda: _read_terms(progress))
    files = [[run.split() for run in file] for file in found["files"]]
    return Corpus(files, {(a, b) for a, b in found["names"]})


def _read_terms(progress: bool | None) -> dict[str, list[Any]]:
    """Return the corpus in a form that JSON can hold."""
    files, names = [], set[_Pair]()
    for _, path, tree in source_trees(progress):
        nodes = list(_nodes(tree))
        runs = [run for text in _docstrings(nodes) for runs in sentences(text) for run in runs]
        files.append([" ".join(run) for run in runs if len(run) > 1])
        for identifier in {*_public_names(nodes), path.stem}:
            names.update(pairwise_words(identifier))
    return {"files": files, "names": sorted(names)}


def _nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node in the order of ``ast.walk``, in a third of its time."""
    # level by level, breadth first, without looking up the fields of each type of node
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
    """Yield the names in the source except those that start with an underscore."""
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


# words of an identifier: capitals, a capitalized or lower-case word; and what is neither
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z_]+")


def pairwise_words(identifier: str) -> Iterator[_Pair]:
    """Yield the pairs of adjacent words in a name, split at underscores or at capitals."""
    words = [word.lower() for word in _PARTS.findall(identifier)]
    for first, second in pairwise(words):
        if first.isalpha() and second.isalpha():
            yield first, second


# --------------------------------------------------------- A search experiment: runs and judgments

_SEARCH_EDITION = 2  # of the cached docstrings: raise it when their reading changes
_LEAST_LINKS = 2  # links that a docstring needs to be a query


class Docstring(NamedTuple):
    """A public function, method or class."""

    name: str  #: with its module and class
    text: str  #: without the section "See Also"
    links: list[str]  #: the names in that section, as written


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
    corpus = _search_corpus(progress)
    links = _linked_documents(corpus)
    asked = [k for k, result in enumerate(links) if len(result) >= _LEAST_LINKS]
    runs = {name: _best_documents(scores, asked, depth) for name, scores in _scores(corpus, asked)}
    return _search_frame(corpus, links, asked, runs)


Run = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], FloatArray]  # query, document, score


def _search_frame(
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
    texts = [f"{_name_words(one.name)} {one.text}" for one in corpus]
    queries = [
        f"{_name_words(corpus[k].name)} {corpus[k].text.partition(chr(10))[0]}" for k in asked
    ]
    counter = CountVectorizer(stop_words="english")
    found: Any = counter.fit_transform(texts)
    words: Any = counter.transform(queries)
    # BM25 as a sparse matrix (document, word), changed in place; k1 = 1.2, b = 0.75
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
    """Return the best documents of each query except its own, with scores rounded as in runs."""
    scores = scores.tocsr()
    found = []
    for number, start, end in zip(asked, scores.indptr, scores.indptr[1:], strict=False):
        document, score = scores.indices[start:end], np.round(scores.data[start:end], 6)
        score = np.where(document == number, 0.0, score)
        # sort only the documents that may be among the best
        edge = np.partition(score, -depth)[-depth] if score.size > depth else 0.0
        near = (score >= edge) & (score > 0.0)
        document, score = document[near], score[near]
        order = np.lexsort((document, -score))[:depth]
        found.append((np.full(order.size, number), document[order], score[order]))
    query, document, score = (np.concatenate(column) for column in zip(*found, strict=True))
    return query, document, score


# words of a name that is searched for: digits count as well
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _name_words(name: str) -> str:
    """Return the words of a name without those of its package."""
    return " ".join(word.lower() for word in _WORDS.findall(name.partition(".")[2]))


def _linked_documents(corpus: list[Docstring]) -> list[list[int]]:
    """Return the documents that each docstring links to, found by the ends of their names."""
    # every end of every name: ("numpy", "linalg.norm"), ("numpy", "norm"), ...
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
            # the only match in the same module or class, else the only one in the package
            near = [k for k in candidates if corpus[k].name.split(".")[1:-1] == home[:-1]]
            for documents in (near, candidates):
                if len(documents) == 1 and documents[0] != number:
                    linked.append(documents[0])
                    break
        listed.append(list(dict.fromkeys(linked)))
    return listed


# Reading and caching


def _search_corpus(progress: bool | None) -> list[Docstring]:
    return [
        Docstring(*one)
        for one in cached_content(
            "docstring_search", _SEARCH_EDITION, lambda: _read_search(progress)
        )
    ]


def _read_search(progress: bool | None) -> list[Docstring]:
    by_name: dict[str, Docstring] = {}
    for package, path, tree in source_trees(progress):
        # private modules, as in numpy/_core/fromnumeric.py, are not part of a public name
        public = [part for part in (*path.parts[:-1], path.stem) if not part.startswith("_")]
        for one in _search_docstrings(tree, ".".join([package, *public])):
            by_name.setdefault(one.name, one)
    return [by_name[name] for name in sorted(by_name)]


def _search_docstrings(tree: ast.Module | ast.ClassDef, within: str) -> Iterator[Docstring]:
    """Yield the docstrings of public functions and classes, and of the methods of these."""
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
    """Return a docstring without its section "See Also", and the names in that section."""
    section = _SEE_ALSO.search(text)
    if section is None:
        return text, []
    names = []
    for line in section[1].splitlines():
        if line and not line[0].isspace():  # indented lines are descriptions
            before = line if ":`" in line else line.partition(" : ")[0]
            names += [(role or plain).strip(".") for role, plain in _LINKED.findall(before)]
    return text[: section.start()] + text[section.end() :], [name for name in names if name]
