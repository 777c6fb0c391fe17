"""Read and write the files of TREC."""

from __future__ import annotations

import glob
import gzip
import io
import re
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.doors import QueryOptions, grade_values
from rankeval_pd.errors import (
    check_kind,
    check_known,
    check_memory,
    checked_call,
    listed,
    no_table,
    shown,
    warn,
)
from rankeval_pd.roles import frame_column
from rankeval_pd.stats import BoolArray, FloatArray, IntArray
from rankeval_pd.tables import Options

# ---- Read and check the lines of TREC files with pyarrow or pandas


class FileKind(NamedTuple):
    """Store the columns of a TREC file type, and its numeric column."""

    columns: tuple[str, ...]
    number: str
    numbers: str  #: description of the numbers


RUN = FileKind(("query", "Q0", "document", "rank", "score", "tag"), "score", "a number")
QRELS = FileKind(("query", "iteration", "document", "grade"), "grade", "a whole number")


Strings = Any
"""An array of strings of pandas."""


class TrecLines(NamedTuple):
    """Store the lines of a file, or the rows of a frame."""

    query: Strings
    document: Strings
    number: FloatArray  #: scores or grades
    tag: Strings | None
    where: str  #: name of the source in messages
    files: tuple[tuple[str, int], ...]  #: path and number of rows of each file
    name: str = ""  #: of the run

    def place(self, row: int) -> str:
        """Describe where a row came from."""
        for path, size in self.files:
            if row < size:
                lines = enumerate(_content(path).splitlines(), 1)
                full = [number for number, line in lines if _line_words(line)]
                return f"{path}, line {full[row]}"
            row -= size
        return f"{self.where}, row {row}"


# Files

_COMMENTS = re.compile(rb"(?:^|[\r\n])[ \t\v\f]*#[^\r\n]*")


def _content(path: str | Path) -> bytes:
    """Return the text of a file, plain or gzipped, without a byte order mark."""
    content = Path(path).read_bytes()
    _check_size(path, len(content))
    if content[:2] == b"\x1f\x8b":  # the first bytes of gzip files
        try:
            content = _unpacked(path, content)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(
                f"{path} is not a complete gzip file: {error}. Copy it again."
            ) from None
    return content.removeprefix(b"\xef\xbb\xbf")


_PIECE = 1 << 24  # bytes
_COPIES = 8  # bytes in memory per byte of text (7 measured): the text, its columns, their labels


def _unpacked(path: str | Path, content: bytes) -> bytes:
    """Return the text of a gzip file. The text can be a thousand times longer than the file."""
    pieces = []
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            _check_size(path, sum(map(len, pieces)))
    return b"".join(pieces)


def _check_size(path: str | Path, size: int) -> None:
    what = f"{path} contains {size / 1e6:,.0f} MB of text or more"
    check_memory(_COPIES * size / 8, what, "Split the file by query, and read one part at a time.")


def _lines_of_file(source: str | Path, kind: FileKind) -> TrecLines:
    """Read the lines of a file with pyarrow if possible, otherwise with pandas.

    As in trec_eval, lines that begin with # are comments, and extra words are ignored.
    """
    path = str(source)
    content = _content(source)
    text = content
    if b"#" in content:
        text = _COMMENTS.sub(b"\n", content).lstrip()
    try:
        if b"\0" in text:
            raise ValueError("the file has NUL bytes")
        columns = _by_arrow(text, kind) or _by_pandas(text, kind)
    except ValueError as error:
        raise _malformed(content, path, kind, str(error)) from None
    number = columns[kind.number]
    if wrong_numbers(number, kind).any():
        raise _malformed(content, path, kind, f"a {kind.number} is not a number")
    query, document, tag = (columns.get(name) for name in ("query", "document", "tag"))
    return TrecLines(query, document, number, tag, path, ((path, number.size),))


def _line_words(line: bytes) -> list[bytes]:
    """Split a line into words, or return an empty list for a comment."""
    if line.lstrip().startswith(b"#"):
        return []
    return line.split()


def _by_arrow(content: bytes, kind: FileKind) -> Options | None:
    """Read lines separated by single spaces or tabs, or return None."""
    between, other = b" ", b"\t"
    if b"\t" in content[: content.find(b"\n")]:
        between, other = other, between
    if other in content or 2 * between in content or not content:
        return None
    try:
        import pyarrow as pa
        from pyarrow import compute, csv
    except ImportError:
        return None
    types = {"query": pa.string(), "document": pa.string(), kind.number: pa.float64()}
    if kind is RUN:
        types["tag"] = pa.string()
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(column_names=list(kind.columns), use_threads=False, block_size=1 << 26),
            csv.ParseOptions(delimiter=between.decode(), quote_char=False, double_quote=False),
            csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                strings_can_be_null=False,
                null_values=[],
                check_utf8=True,
            ),
        )
    except pa.ArrowInvalid:
        return None  # the slower reader reads the file or finds the malformed line
    kernels: Any = compute
    for name in types.keys() - {kind.number}:
        if kernels.any(kernels.equal(table[name], "")).as_py():
            return None
    words = {name: table[name].to_pandas().array for name in types}
    return {**words, kind.number: table[kind.number].to_numpy()}


def _by_pandas(content: bytes, kind: FileKind) -> Options:
    """Read lines separated by any whitespace; ``usecols`` ignores extra words."""
    if not content.strip():
        none = pd.Series(dtype=str).array
        return {**dict.fromkeys(("query", "document", "tag"), none), kind.number: np.zeros(0)}
    table = pd.read_csv(
        io.BytesIO(content),
        sep=r"\s+",
        header=None,
        names=kind.columns,
        usecols=kind.columns,
        index_col=False,
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        quoting=3,
        engine="c",
    )
    if table.isna().to_numpy().any():
        raise ValueError("a line has too few words")
    numbers = np.array([*map(_file_number, table[kind.number])])
    by_name = {str(name): table[name].array for name in table}
    return {**by_name, kind.number: numbers}


def _file_number(word: str) -> float:
    """Return the number that a word spells; Python also reads "1_0" and digits beyond ASCII."""
    if "_" in word or not word.isascii():
        raise ValueError(f"{word!r} is not a number")
    return float(word)


def wrong_numbers(numbers: FloatArray, kind: FileKind) -> BoolArray:
    """Return which numbers cannot be scores, or cannot be grades, which are whole numbers."""
    if kind is RUN:
        return np.isnan(numbers)
    return np.asarray(~(np.abs(numbers) < 2.0**53) | (numbers != np.floor(numbers)))


def _malformed(content: bytes, path: str, kind: FileKind, why: str) -> ValueError:
    """Return an error that shows the first malformed line."""
    wanted = " ".join(kind.columns)
    place = kind.columns.index(kind.number)
    for number, line in enumerate(content.splitlines(), 1):
        try:
            words = [word.decode("utf-8") for word in _line_words(line.replace(b"\0", b"\xff"))]
        except UnicodeDecodeError:
            return ValueError(
                f"{path}, line {number}: {line[:80]!r} is not encoded as UTF-8. Convert or"
                " decompress the file; only gzip is read."
            )
        if words and len(words) < len(kind.columns):
            problem = f"{len(words)} words instead of {wanted!r}"
        elif words:
            try:
                read = np.array(_file_number(words[place]))
            except ValueError:
                read = np.array(np.nan)
            if not wrong_numbers(read, kind).any():
                continue
            below = " below 2^53" * (kind is QRELS)
            problem = f"the {kind.number} {words[place]!r} is not {kind.numbers}{below}"
        else:
            continue
        return ValueError(
            f"{path}, line {number}: {problem}. The line reads {' '.join(words)[:80]!r}."
        )
    return ValueError(f"{path} cannot be read as lines of {wanted!r}: {why}.")


# Frames

_COLUMN_ALIASES = {
    "query": ("query", "query_id", "qid"),
    "document": ("document", "doc_id", "docno", "docid"),
    "score": ("score",),
    "grade": ("grade", "relevance", "label"),
    "tag": ("tag", "run"),
}


def _lines_of_frame(frame: pd.DataFrame, kind: FileKind) -> TrecLines:
    what = {RUN: "a DataFrame of runs", QRELS: "the DataFrame of judgments"}[kind]
    by_name = {}
    for name in ("query", "document", kind.number, "tag"):
        column = next((x for x in _COLUMN_ALIASES[name] if x in frame.columns), None)
        if column is not None:
            by_name[name] = frame[column]
        elif name != "tag":
            raise ValueError(
                f"{what} has no column {' or '.join(map(repr, _COLUMN_ALIASES[name]))} (columns:"
                f" {listed(frame.columns)}). Rename the column: frame.rename(columns={{...}})."
            )
    number = by_name[kind.number]
    values = pd.to_numeric(number, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = wrong_numbers(values, kind)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{what}, row {row}: the {kind.number} is {shown(number.iloc[row])}, but every row"
            f" needs {kind.numbers}. Drop or fix this row."
        )
    tag = None
    if kind is RUN and "tag" in by_name:
        tag = identifiers(by_name["tag"], "tag")
    query, document = (identifiers(by_name[name], name) for name in ("query", "document"))
    return TrecLines(query, document, values, tag, what, ())


def identifiers(values: pd.Series, name: str) -> Strings:
    """Convert whole numbers to strings, and reject identifiers that are not one word of a line."""
    codes, unique = pd.factorize(values.astype(object).to_numpy(), use_na_sentinel=False)
    for x in unique:
        whole = isinstance(x, int | np.integer) and not isinstance(x, bool)
        if not whole and not (isinstance(x, str) and is_word(x)):
            raise ValueError(
                f"{name}: the identifier {x!r} is not a whole number or a word, without whitespace"
                " and in UTF-8. Replace it; if missing values turned 7 into 7.0, use"
                f" frame[{name!r}].astype('Int64')."
            )
    return pd.Series([str(x) for x in unique], dtype=str).array.take(codes)


def is_word(text: str) -> bool:
    """Return whether a UTF-8 file gives the text back as one word."""
    words = text.encode("utf-8", "ignore").decode("utf-8-sig").split()
    return words == [text] and "\0" not in text


# Several


def runs_by_tag(lines: TrecLines) -> Iterator[TrecLines]:
    """Yield the lines of each run in a file or frame."""
    stem = Path(lines.where).name.removesuffix(".gz")
    if lines.tag is None:
        if not lines.files:
            raise ValueError(
                "runs: a DataFrame has no column 'tag' that names the run. Pass a run name: "
                "read_trec({'name': frame})."
            )
        yield lines._replace(name=Path(stem).stem)
        return
    (codes,), names = share_codes([lines.tag])
    tags = [*names] or [Path(stem).stem]
    if len(tags) == 1:
        yield lines._replace(name=tags[0])
        return
    if lines.files:
        raise ValueError(
            f"{lines.where}: the lines have several tags, {listed(tags, most=4)}, but a file must"
            " contain only one run. Pass a run name, read_trec({'name': 'path'}), or split the file"
            " into one file per run."
        )
    for code, name in enumerate(tags):
        rows = codes == code
        query, document, number = (x[rows] for x in lines[:3])
        where = f"run {name!r} of {lines.where}"
        yield TrecLines(query, document, number, None, where, (), name)


def concatenate(parts: Sequence[Strings]) -> Strings:
    """Concatenate the strings of all parts."""
    return pd.concat([pd.Series(part, dtype=str) for part in parts], ignore_index=True).array


class SharedCodes(NamedTuple):
    """Store strings as codes that are shared by all parts."""

    codes: list[IntArray]
    names: Strings


def share_codes(parts: Sequence[Strings]) -> SharedCodes:
    """Encode strings with the same codes in every part."""
    codes, names = pd.Series(concatenate(parts)).factorize()
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return SharedCodes(np.split(codes, ends), pd.Index(names).array)


# ---- Read and write runs and relevance judgments in TREC files

Source = str | Path | pd.DataFrame
_COLUMNS = ("query", "document", "grade")  # columns of the result, so no names of runs


@checked_call
def read_trec(
    runs: Source | Sequence[Source] | Mapping[str, Source],
    qrels: Source | Sequence[Source] | None = None,
) -> pd.DataFrame:
    """Read runs and relevance judgments into one frame.

    Parameters
    ----------
    runs : path, DataFrame, sequence of these, or mapping
        Files with lines ``query Q0 document rank score tag``, plain or gzipped. Paths can contain
        ``*``, ``?`` and ``[...]``, and a folder stands for its files ``*.run``. You can also pass
        DataFrames with the columns query (or query_id, qid), document (or doc_id, docno) and score.
        A frame with several runs must also have the column tag. Use a mapping to name the runs. The
        default name is the tag, or the file name for runs without a tag.
    qrels : path, DataFrame or sequence of these, optional
        Files with lines ``query iteration document grade``, or DataFrames with the columns query,
        document and grade (or relevance, label). Without qrels, the result has no ``grade`` column.

    Returns
    -------
    DataFrame
        One row for each query and document in any run or in the judgments, sorted by query:

        * ``query``, ``document``: strings as in the files ("NA", "001");
        * one column per run: the score, NaN if the run did not retrieve the document;
        * ``grade``: nullable integers, missing for unjudged documents. Grades below 0 are kept,
          because TREC uses such grades for pooled but unjudged documents.

    Raises
    ------
    ValueError
        If a line is malformed, a run or the judgments repeat a query-document pair (the message
        contains the file and line), two runs have the same name, or a run has no judged query.

    Warns
    -----
    RankevalWarning
        If queries have no judgments, or if judged queries are missing from a run.

    Notes
    -----
    As in trec_eval, ranks in files are ignored, and scores determine the ranking. A million lines
    take about half a second. Memory is 8 bytes for each row and run.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> run = pd.DataFrame({"query": ["1", "1"], "document": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> judged = pd.DataFrame({"query": ["1", "1"], "document": ["d2", "d3"], "grade": [1, 0]})
    >>> rankeval_pd.read_trec({"bm25": run}, judged)
      query document  bm25  grade
    0     1       d2   1.0      1
    1     1       d3   NaN      0
    2     1       d1   2.0   <NA>
    """
    parts = _named_runs(runs)
    names = [*_COLUMNS, *(part.name for part in parts)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"runs: {name!r} is the name of another run, or of a column of every result. Pass"
                " other names: read_trec({'name': 'path', ...})."
            )
    lines = [*parts]
    if qrels is not None:
        lines.insert(0, _joined(_files_of(qrels, "qrels", QRELS)))
        if not lines[0].number.size:
            raise ValueError("qrels is empty. Pass a file with judgments.")
    # number the queries, then the query-document pairs, with one row per pair
    queries = share_codes([x.query for x in lines])
    if qrels is not None:
        _compare_queries(queries, parts)
    order = np.asarray(queries.names.argsort())
    rank = np.argsort(order, kind="stable")
    pairs = _number_pairs([rank[codes] for codes in queries.codes], [x.document for x in lines])
    size = pairs.query.size
    for rows, read in zip(pairs.places, lines, strict=True):
        _refuse_repeated_pairs(rows, size, read)
    columns = {
        "query": queries.names.take(order).take(pairs.query),
        "document": pairs.names.take(pairs.document),
    }
    for part, rows in zip(parts, pairs.places[len(lines) - len(parts) :], strict=True):
        scores = np.full(size, np.nan)
        scores[rows] = part.number
        columns[part.name] = scores
    if qrels is not None:
        grades = np.zeros(size, dtype=np.int64)
        missing = np.ones(size, dtype=bool)
        grades[pairs.places[0]], missing[pairs.places[0]] = lines[0].number, False
        columns["grade"] = pd.arrays.IntegerArray(grades, missing)
    return pd.DataFrame(columns)


class _QueryDocuments(NamedTuple):
    """Store distinct query-document pairs, sorted by query."""

    query: IntArray
    document: IntArray  #: index of the document's name in ``names``
    names: Strings
    places: list[IntArray]  #: for each part, the index of the pair on each line


def _number_pairs(queries: list[IntArray], documents: list[Strings]) -> _QueryDocuments:
    """Assign numbers to query-document pairs."""
    shared = share_codes(documents)
    # a pair is one number, query times the number of names plus name; np.unique sorts by query
    width = max(len(shared.names), 1)
    pair = np.concatenate(queries) * width + np.concatenate(shared.codes)
    pairs, place = np.unique(pair, return_inverse=True)
    ends = np.cumsum([query.size for query in queries])[:-1]
    return _QueryDocuments(pairs // width, pairs % width, shared.names, np.split(place, ends))


def _named_runs(runs: Source | Sequence[Source] | Mapping[str, Source]) -> list[TrecLines]:
    if isinstance(runs, Mapping):
        return [
            _joined(_files_of(source, "runs", RUN))._replace(name=str(name))
            for name, source in runs.items()
        ]
    return [run for lines in _files_of(runs, "runs", RUN) for run in runs_by_tag(lines)]


_SOURCES = "a path, a DataFrame, or a list of these"
# pytrec_eval and ranx have nested mappings, and ir_measures has named tuples
_NESTED = "pd.DataFrame([(q, d, x) for q, of in runs.items() for d, x in of.items()]) makes one"


def _files_of(given: Source | Sequence[Source], argument: str, kind: FileKind) -> list[TrecLines]:
    """Read frames, files and the files that match a pattern; of a folder, all its runs."""
    if isinstance(given, pd.DataFrame):
        return [_lines_of_frame(given, kind)]
    if not isinstance(given, str | Path):
        check_kind(argument, given, Iterable, _SOURCES)
        if isinstance(given, Mapping) or hasattr(given, "_fields"):
            raise no_table(argument, given, f"{_SOURCES}; {_NESTED}")
        parts = [lines for one in given for lines in _files_of(one, argument, kind)]
        if not parts:
            raise ValueError(f"{argument} is empty: pass one or more files.")
        return parts
    path = Path(given)
    files = []
    with suppress(OSError):  # a text that is too long for a path
        if path.is_file():
            return [_lines_of_file(path, kind)]
        if path.is_dir():
            path = path / "*.run"
        files = sorted(glob.glob(str(path)))
    if not files:
        raise FileNotFoundError(
            f"{argument}={shown(str(path))}: no file has this name or matches this pattern. The"
            f" working directory is {str(Path.cwd())!r}."
        )
    return [_lines_of_file(file, kind) for file in files]


def _joined(parts: list[TrecLines]) -> TrecLines:
    """Return the lines of several files as those of one."""
    if len(parts) == 1:
        return parts[0]
    return TrecLines(
        query=concatenate([part.query for part in parts]),
        document=concatenate([part.document for part in parts]),
        number=np.concatenate([part.number for part in parts]),
        tag=None,
        where=listed(part.where for part in parts),
        files=tuple(x for part in parts for x in part.files),
    )


def _refuse_repeated_pairs(pair: IntArray, n_pairs: int, read: TrecLines) -> None:
    seen = np.zeros(n_pairs, dtype=bool)
    seen[pair] = True
    if np.count_nonzero(seen) == pair.size:
        return
    second = int(pd.Index(pair).duplicated().argmax())
    first = int((pair == pair[second]).argmax())
    query = str(read.query[second])
    document = str(read.document[second])
    raise ValueError(
        f"{read.place(second)}: the query {query!r} and the document {document!r} already"
        f" appear together in {read.place(first)}. Remove one of the lines."
    )


def _compare_queries(queries: SharedCodes, parts: list[TrecLines]) -> None:
    """Warn about queries found only in a run or only in the judgments."""
    numbers = np.arange(len(queries.names))
    judged, *of_runs = (np.isin(numbers, codes) for codes in queries.codes)
    unjudged = np.zeros_like(judged)
    lacking = []
    for part, asked in zip(parts, of_runs, strict=True):
        if asked.any() and not (asked & judged).any():  # empty runs are allowed
            raise ValueError(
                f"{part.where}: the run {part.name!r} has no judged queries: the run contains"
                f" the queries {_examples(queries.names, asked)}, but the judgments are for"
                f" {_examples(queries.names, judged)}. Pass matching ids or other judgments."
            )
        unjudged |= asked & ~judged
        without = judged & ~asked
        if without.any():
            names = _examples(queries.names, without)
            lacking.append(f"{part.name!r} ({int(without.sum())}: {names})")
    drop = "To compare only common queries, drop the others: data[~data['query'].isin([...])]."
    if unjudged.any():
        warn(
            f"per_query omits queries without judgments from the runs ({int(unjudged.sum())}:"
            f" {_examples(queries.names, unjudged)}). {drop}"
        )
    if lacking:
        runs = ", ".join(lacking[:6]) + f", ... ({len(lacking)} runs)" * (len(lacking) > 6)
        warn(
            f"Some of the {int(judged.sum())} judged queries have no documents in {runs}; per_query"
            f" uses empty lists for these queries. {drop}"
        )


def _examples(names: Any, which: Any) -> str:
    return listed(names.take(np.flatnonzero(which)[:3])) + ", ..." * bool(which.sum() > 3)


@checked_call
def write_trec(
    table: pd.DataFrame,
    runs: str | Path | Mapping[str, str | Path],
    qrels: str | Path | None = None,
    *,
    min_grade: float | None = None,
) -> None:
    """Write the runs and judgments in a frame to files for trec_eval.

    Parameters
    ----------
    table : DataFrame
        A frame like the result of :func:`read_trec`, with one row per query and document and
        one score column per run.
    runs : path or mapping
        A folder in which to write a file ``<name>.run`` for each numeric column, or a mapping from
        columns to paths. A missing folder is created. Paths that end in ``.gz`` are compressed.
    qrels : path, optional
        Path of the file with judgments.
    min_grade : float, optional
        Write grade 1 for this grade and above, and 0 for lower grades (grades below 0 stay). Pass
        it if grades are fractions.

    Raises
    ------
    ValueError
        If :func:`read_trec` could not read the files.

    Notes
    -----
    Scores are written at full precision, so the files contain exactly the same scores. trec_eval
    compares scores as float32.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd, tempfile
    >>> from pathlib import Path
    >>> df = pd.DataFrame({"query": ["1"], "document": ["d1"], "bm25": [0.1], "grade": [1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rankeval_pd.write_trec(df, folder, Path(folder, "qrels.txt"))
    ...     print(Path(folder, "bm25.run").read_text(), end="")
    1 Q0 d1 1 0.1 bm25
    """
    check_kind("table", table, pd.DataFrame, "a DataFrame like that of read_trec")
    queries, documents = (
        identifiers(frame_column(table, name, name), name) for name in ("query", "document")
    )
    for name in queries[[x.startswith("#") for x in queries]]:
        raise ValueError(
            f"query: the name {name!r} begins with #, which marks a comment. Replace this name."
        )
    known = [
        name
        for name, dtype in table.dtypes.items()
        if name not in _COLUMNS
        and pd.api.types.is_numeric_dtype(dtype)
        and not pd.api.types.is_bool_dtype(dtype)
    ]
    files: list[tuple[Path, list[Any]]] = []
    for name, path in _run_paths(runs, known).items():
        score = frame_column(table, name, "runs").to_numpy(dtype=float, na_value=np.nan)
        rows = np.flatnonzero(~np.isnan(score))
        rows = rows[np.lexsort((-score[rows], share_codes([queries[rows]]).codes[0]))]
        of = pd.Series(queries[rows])
        rank = of.groupby(of, sort=False).cumcount().to_numpy() + 1
        files.append((path, [of, "Q0", documents[rows], rank, score[rows], name]))
    if qrels is not None:
        grades = frame_column(table, "grade", "grade")
        rows = np.flatnonzero(grades.notna())
        values = grade_values(grades.iloc[rows], grades.name)
        if min_grade is not None:
            least = QueryOptions.of({"min_grade": min_grade}).min_grade
            positive = (grades.iloc[rows] >= least).to_numpy(dtype=bool)
            values = np.where(values < 0.0, values, positive)
        wrong = values[wrong_numbers(values, QRELS)]
        if wrong.size:
            raise ValueError(
                f"grade: {wrong.size:,} grades are not whole numbers below 2^53, such as"
                f" {wrong[0]:g}, but a file holds whole numbers. Pass min_grade=... to write grades"
                " of at least min_grade as 1, and lower grades as 0."
            )
        values = values.astype(np.int64)
        check_kind("qrels", qrels, str | Path, "a path")
        files.append((Path(qrels), [queries[rows], "0", documents[rows], values]))
    if len({path.resolve() for path, _ in files}) < len(files):
        raise ValueError("runs: two files have the same path. Pass one path per file.")
    for path, columns in files:
        pairs = pd.DataFrame({"query": columns[0], "document": columns[2]})
        for row in np.flatnonzero(pairs.duplicated())[:1]:
            raise ValueError(
                "{}: the query {!r} and the document {!r} appear together more than once. Drop the"
                " repeated rows.".format(path, *pairs.iloc[row])
            )
    options: Options = {"sep": " ", "header": False, "index": False, "quoting": 3}
    for path, columns in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        packed: Any = None
        if path.suffix == ".gz":  # with mtime=0, equal content gives identical files
            packed = {"method": "gzip", "mtime": 0}
        lines = pd.DataFrame(dict(enumerate(columns)))  # a single word is repeated in every row
        lines.to_csv(path, lineterminator="\n", compression=packed, **options)


def _run_paths(
    runs: str | Path | Mapping[str, str | Path], known: list[Hashable]
) -> dict[Hashable, Path]:
    """Return the path of each run; reject names that read_trec would not find."""
    paths: dict[Hashable, Path] = {}
    if isinstance(runs, Mapping):
        paths = {name: Path(path) for name, path in runs.items()}
    else:
        check_kind("runs", runs, str | Path, "a path or a mapping from columns to paths")
        paths = {name: Path(runs) / f"{name}.run" for name in known}
    check_known("runs", paths, known)
    for name in paths:
        text = str(name)
        lost = not isinstance(runs, Mapping) and ({*text} & {*"/\\*?"} or text.startswith("."))
        if lost or not is_word(text):
            raise ValueError(
                f"runs: {name!r} cannot name a file *.run, or is empty, contains whitespace or is"
                f" not UTF-8. Rename the column, or pass its path, runs={{{name!r}: 'a.run'}}."
            )
    return paths
