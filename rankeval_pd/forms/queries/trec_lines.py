"""Read and check the lines of TREC files with pyarrow or pandas."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray


class FileKind(Enum):
    """Store the columns of a TREC file type."""

    RUN = ("query", "Q0", "document", "rank", "score", "tag")
    QRELS = ("query", "iteration", "document", "grade")

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of a line."""
        return tuple(self.value)

    @property
    def number(self) -> str:
        """Return the name of the numeric column."""
        return "score" if self is FileKind.RUN else "grade"


Strings = Any
"""An array of strings: NumPy objects, or pyarrow strings if pyarrow read the file."""


class TrecLines(NamedTuple):
    """Store the lines of a file, or the rows of a frame."""

    query: Strings
    document: Strings
    number: FloatArray  #: scores or grades
    tag: Strings | None
    where: str  #: name of the source in messages
    files: tuple[tuple[str, int], ...]  #: path and number of rows of each file

    def place(self, row: int) -> str:
        """Describe where a row came from."""
        for path, size in self.files:
            if row < size:
                return f"{path}, line {_line_number(_content(path), row)}"
            row -= size
        return f"{self.where}, row {row}"


def _line_number(content: bytes, row: int) -> int:
    """Return the line number of a row, counting empty lines and comments."""
    full = (i for i, line in enumerate(content.splitlines(), 1) if _words(line))
    return next(x for k, x in enumerate(full) if k == row)


def read_lines(source: str | Path | pd.DataFrame, kind: FileKind) -> TrecLines:
    """Read the lines of a file, or the columns of a frame."""
    if isinstance(source, pd.DataFrame):
        return _of_frame(source, kind)
    return _of_text(_content(source), str(source), kind)


# Files

_COMMENTS = re.compile(rb"(?:^|[\r\n])[ \t\v\f]*#[^\r\n]*")
_PACKED = re.compile(rb"BZh[1-9]1AY&SY|\xfd7zXZ|PK\x03\x04|\x28\xb5\x2f\xfd")
"""The first bytes of bzip2, xz, zip and zstd files."""


def _content(path: str | Path) -> bytes:
    """Return the text of a file, plain or compressed, without a byte order mark."""
    content = Path(path).read_bytes()
    if content[:2] == b"\x1f\x8b":  # the first bytes of gzip files
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(
                f"{path} is not a complete gzip file: {error}. Copy it again."
            ) from None
    if _PACKED.match(content):
        raise ValueError(
            f"{path} is a bzip2, xz, zip or zstd file. Decompress the file, or compress it with"
            " gzip."
        )
    return content.removeprefix(b"\xef\xbb\xbf")


def _of_text(content: bytes, path: str, kind: FileKind) -> TrecLines:
    """Read the lines of a file with pyarrow if possible, otherwise with pandas.

    As in trec_eval, lines that begin with # are comments, and extra words are ignored.
    """
    text = _COMMENTS.sub(b"\n", content).lstrip() if b"#" in content else content
    try:
        if b"\0" in text:
            raise ValueError("the file has NUL bytes")
        columns = _by_arrow(text, kind) or _by_pandas(text, kind)
    except ValueError as error:
        raise _malformed(content, path, kind, str(error)) from None
    number = columns[kind.number]
    if wrong_numbers(number, kind).any():
        raise _malformed(content, path, kind, f"a {kind.number} is not a number")
    return TrecLines(
        columns["query"], columns["document"], number, columns.get("tag"), path,
        ((path, number.size),),
    )  # fmt: skip


def _words(line: bytes) -> list[bytes]:
    """Split a line into words, or return an empty list for a comment."""
    words = line.split()
    return [] if words and words[0].startswith(b"#") else words


def _by_arrow(content: bytes, kind: FileKind) -> dict[str, Any] | None:
    """Read lines separated by single spaces or tabs, or return None."""
    head = content[: content.find(b"\n")]
    between = b"\t" if b"\t" in head else b" "
    other = b" " if between == b"\t" else b"\t"
    if other in content or 2 * between in content or not content:
        return None
    try:
        import pyarrow as pa
        import pyarrow.compute

        pc: Any = pyarrow.compute
        from pyarrow import csv
    except ImportError:
        return None
    few = pa.dictionary(pa.int32(), pa.string())  # dtype for columns with few distinct values
    types = {"query": few, "document": pa.string(), kind.number: pa.float64(), "tag": few}
    types = {name: types[name] for name in kind.columns if name in types}
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(column_names=list(kind.columns), use_threads=False, block_size=1 << 26),
            csv.ParseOptions(delimiter=between.decode(), quote_char=False, double_quote=False),
            csv.ConvertOptions(
                include_columns=list(types), column_types=types, strings_can_be_null=False,
                null_values=[], check_utf8=True,
            ),
        )  # fmt: skip
    except pa.ArrowInvalid:
        return None  # the slower reader reads the file or finds the malformed line
    by_name: dict[str, Any] = {}
    for name in types:
        column = table[name]
        if name == kind.number:
            by_name[name] = column.to_numpy()
            continue
        by_name[name] = words = column.unify_dictionaries().combine_chunks()
        known = words.dictionary if types[name] == few else words
        if pc.any(pc.equal(known, "")).as_py():
            return None
    return by_name


def _by_pandas(content: bytes, kind: FileKind) -> dict[str, Any]:
    """Read lines separated by any whitespace; ``usecols`` ignores extra words."""
    if not content.strip():
        none = np.zeros(0, dtype=object)
        return {**dict.fromkeys(("query", "document", "tag"), none), kind.number: np.zeros(0)}
    names = list(kind.columns)
    table = pd.read_csv(
        io.BytesIO(content), sep=r"\s+", header=None, names=names, usecols=names, index_col=False,
        dtype=object, keep_default_na=False, na_values=[""], quoting=3, engine="c",
    )  # fmt: skip
    if table.isna().to_numpy().any():
        raise ValueError("a line has too few words")
    by_name: dict[str, Any] = {kind.number: np.array([*map(_number, table[kind.number])])}
    for name in ("query", "document", "tag"):
        if name in table:
            by_name[name] = table[name].to_numpy()
    return by_name


def _number(word: str) -> float:
    """Return the number that a word spells; Python also reads "1_0" and digits beyond ASCII."""
    if "_" in word or not word.isascii():
        raise ValueError(f"{word!r} is not a number")
    return float(word)


def wrong_numbers(numbers: FloatArray, kind: FileKind) -> BoolArray:
    """Return which numbers cannot be scores, or cannot be grades, which are whole numbers."""
    if kind is FileKind.RUN:
        return np.isnan(numbers)
    return np.asarray(~(np.abs(numbers) < 2.0**53) | (numbers != np.floor(numbers)))


def _malformed(content: bytes, path: str, kind: FileKind, why: str) -> ValueError:
    """Return an error that shows the first malformed line."""
    wanted = " ".join(kind.columns)
    place = kind.columns.index(kind.number)
    for number, line in enumerate(content.splitlines(), 1):
        try:
            words = [word.decode("utf-8") for word in _words(line.replace(b"\0", b"\xff"))]
        except UnicodeDecodeError:
            return ValueError(
                f"{path}, line {number}: {line[:80]!r} is not encoded as UTF-8. Convert the file."
            )
        if words and len(words) < len(kind.columns):
            problem = f"{len(words)} words instead of {wanted!r}"
        elif words and not _is_number(words[place], kind):
            whole = "a whole number below 2^53" if kind is FileKind.QRELS else "a number"
            problem = f"the {kind.number} {words[place]!r} is not {whole}"
        else:
            continue
        return ValueError(
            f"{path}, line {number}: {problem}. The line reads {' '.join(words)[:80]!r}."
        )
    return ValueError(f"{path} cannot be read as lines of {wanted!r}: {why}.")


def _is_number(word: str, kind: FileKind) -> bool:
    try:
        return not wrong_numbers(np.array(_number(word)), kind).any()
    except ValueError:
        return False


# Frames

_COLUMN_ALIASES = {
    "query": ("query", "query_id", "qid"),
    "document": ("document", "doc_id", "docno", "docid"),
    "score": ("score",),
    "grade": ("grade", "relevance", "label"),
    "tag": ("tag", "run"),
}


def _of_frame(frame: pd.DataFrame, kind: FileKind) -> TrecLines:
    what = "a DataFrame of runs" if kind is FileKind.RUN else "the DataFrame of judgments"
    by_name = {}
    for name in ("query", "document", kind.number):
        column = next((x for x in _COLUMN_ALIASES[name] if x in frame.columns), None)
        if column is None:
            raise ValueError(
                f"{what} has no column {' or '.join(map(repr, _COLUMN_ALIASES[name]))} (columns:"
                f" {listed(frame.columns)}). Rename the column: frame.rename(columns={{...}})."
            )
        by_name[name] = frame[column]
    number = by_name[kind.number]
    api = pd.api.types
    if not api.is_numeric_dtype(number.dtype) or api.is_bool_dtype(number.dtype):
        raise TypeError(
            f"{what}: {number.name!r} has dtype {number.dtype}, but must be numeric. Convert the"
            " column, for example with pd.to_numeric."
        )
    values = number.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = wrong_numbers(values, kind)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{what}, row {row}: the {kind.number} is {values[row]:g}, but every row needs"
            f" {'a whole number' if kind is FileKind.QRELS else 'a number'}. Drop or fix this row."
        )
    tag = next(
        (x for x in _COLUMN_ALIASES["tag"] if kind is FileKind.RUN and x in frame.columns), None
    )
    return TrecLines(
        identifiers(by_name["query"], "query"),
        identifiers(by_name["document"], "document"),
        values,
        None if tag is None else identifiers(frame[tag], "tag"),
        what,
        (),
    )


def identifiers(values: pd.Series, name: str) -> AnyArray:
    """Convert whole numbers to strings, and reject other types of identifiers."""
    if values.isna().any():
        raise ValueError(
            f"{name}: {int(values.isna().sum())} identifiers are missing, but every row needs a"
            f" {name}. Fill in the identifiers, or drop these rows."
        )
    whole = (str, int, np.integer)
    plain = values.astype(object).to_numpy()
    if not pd.api.types.is_integer_dtype(values.dtype):
        wrong = [
            x
            for x in pd.unique(plain)
            if not isinstance(x, whole) or isinstance(x, (bool, np.bool_))
        ]
        if wrong:
            raise TypeError(
                f"{name}: the identifier {wrong[0]!r} is of type {type(wrong[0]).__name__}. Pass"
                " strings or whole numbers; if missing values turned 7 into 7.0, use"
                f" frame[{name!r}].astype('Int64')."
            )
    codes, unique = pd.factorize(plain)
    text = np.array([str(x) for x in unique], dtype=object)
    spaced = [x for x in text if not is_word(x)]
    if spaced:
        raise ValueError(
            f"{name}: the identifier {spaced[0]!r} is empty or contains whitespace, which separates"
            " the fields of a line, or is not UTF-8. Replace this identifier."
        )
    return np.asarray(text[codes])


def is_word(text: str) -> bool:
    """Return whether a UTF-8 file gives the text back as one word."""
    words = text.encode("utf-8", "ignore").decode("utf-8-sig").split()
    return words == [text] and "\0" not in text


# Several


def runs_by_tag(lines: TrecLines) -> Iterator[tuple[str, TrecLines]]:
    """Yield the name and the lines of each run in a file or frame."""
    stem = Path(lines.where).name.removesuffix(".gz")
    if lines.tag is None:
        if not lines.files:
            raise ValueError(
                "runs: a DataFrame has no column 'tag' that names the run. Pass a run name: "
                "read_trec({'name': frame})."
            )
        yield Path(stem).stem, lines
        return
    (codes,), names = share_codes([lines.tag])
    tags = as_list(names)
    if len(tags) <= 1:
        yield (tags[0] if tags else Path(stem).stem), lines
        return
    if lines.files:
        raise ValueError(
            f"{lines.where}: the lines have several tags, {listed(tags, most=4)}, but a file must"
            " contain only one run. Pass a run name, read_trec({'name': 'path'}), or split the file"
            " into one file per run."
        )
    for code, name in enumerate(tags):
        rows = codes == code
        yield name, lines._replace(
            query=lines.query[rows], document=lines.document[rows], number=lines.number[rows],
            tag=None, where=f"run {name!r} of {lines.where}",
        )  # fmt: skip


def join_lines(parts: Sequence[TrecLines]) -> TrecLines:
    """Join the lines of several files."""
    if len(parts) == 1:
        return parts[0]
    return TrecLines(
        concatenate([part.query for part in parts]),
        concatenate([part.document for part in parts]),
        np.concatenate([part.number for part in parts]),
        None,
        listed(part.where for part in parts),
        tuple(x for part in parts for x in part.files),
    )


def concatenate(parts: Sequence[Strings]) -> Strings:
    """Concatenate the strings of all parts."""
    if any(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.asarray(part, dtype=object) for part in parts])
    import pyarrow as pa

    return pa.concat_arrays(list(parts))


def reorder(strings: Strings, order: IntArray) -> Strings:
    """Reorder strings, avoiding a copy if the order is unchanged."""
    if (order[1:] > order[:-1]).all():
        return strings
    return strings[order] if isinstance(strings, np.ndarray) else strings.take(order)


class SharedCodes(NamedTuple):
    """Store strings as codes that are shared by all parts."""

    codes: list[IntArray]
    names: Strings


def share_codes(parts: Sequence[Strings]) -> SharedCodes:
    """Encode strings with the same codes in every part."""
    every = concatenate(parts)
    if isinstance(every, np.ndarray):
        codes, names = pd.factorize(every)
    else:
        codes, names = _arrow_codes(every)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return SharedCodes(np.split(codes, ends), names)


def _arrow_codes(every: Any) -> tuple[IntArray, Any]:
    """Encode pyarrow strings as integer codes."""
    import pyarrow as pa

    encoded = every if pa.types.is_dictionary(every.type) else every.dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def as_strings(names: Strings, codes: IntArray) -> Any:
    """Return a column of the strings that the codes represent."""
    if isinstance(names, np.ndarray):
        return pd.Series(names.tolist(), dtype=None if len(names) else object).array.take(codes)
    return names.take(codes).to_pandas().array


def as_list(names: Strings, codes: IntArray | None = None) -> list[str]:
    """Return names as a list of strings."""
    return [str(x) for x in (names if codes is None else names.take(codes))]


def write_lines(path: Path, columns: Sequence[Any]) -> None:
    """Write one line per row. A column passed as a single word is repeated in every row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(dict(enumerate(columns)))
    # with mtime=0, equal content gives identical files
    compression: Any = {"method": "gzip", "mtime": 0} if path.suffix == ".gz" else None
    frame.to_csv(
        path, sep=" ", header=False, index=False, compression=compression, quoting=3,
        lineterminator="\n",
    )  # fmt: skip
