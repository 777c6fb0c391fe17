"""Files of TREC: what is read, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd import RankevalWarning, read_trec, write_trec
from rankeval_pd.queries import trec_files
from rankeval_pd.queries import trec_files as trec_lines

RUN = "1 Q0 d1 1 3.5 bm25\n1 Q0 NA 2 2.5 bm25\n001 Q0 null 1 1e-3 bm25\n"
QRELS = "1 0 NA 2\n1 0 d9 -1\n001 0 null 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def test_a_row_per_query_and_document_of_any_run_or_judgement(folder):
    found = read_trec(folder / "a.run", folder / "qrels.txt")
    assert list(found.columns) == ["query", "document", "bm25", "grade"]
    rows = found.set_index(["query", "document"])
    assert set(rows.index) == {("1", "d1"), ("1", "NA"), ("001", "null"), ("1", "d9")}
    assert rows.loc[("1", "d1"), "bm25"] == 3.5
    assert np.isnan(rows.loc[("1", "d9"), "bm25"])
    assert rows.loc[("1", "d9"), "grade"] == -1
    assert rows.loc[("1", "d1"), "grade"] is pd.NA
    assert found["grade"].dtype == "Int64"
    assert found["query"].tolist() == ["001", "1", "1", "1"]


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "pandas"])
@pytest.mark.parametrize(
    "text",
    [RUN, RUN.replace(" ", "\t"), RUN.replace(" ", "   "), RUN.replace("\n", " \n\n"),
     RUN.replace("\n", "\r\n"), RUN.rstrip()],
    ids=["space", "tab", "spaces", "empty lines", "crlf", "no end"],
)  # fmt: skip
def test_any_white_space_parts_words(folder, text, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(trec_lines, "_by_arrow", lambda *_: None)
    (folder / "b.run").write_bytes(text.encode())
    expected = read_trec(folder / "a.run", folder / "qrels.txt")
    pd.testing.assert_frame_equal(read_trec(folder / "b.run", folder / "qrels.txt"), expected)


def test_compressed_files_patterns_mappings_and_frames_are_one(folder):
    expected = read_trec(folder / "a.run", folder / "qrels.txt")
    (folder / "packed.run.gz").write_bytes(gzip.compress(RUN.encode()))
    words = [line.split() for line in RUN.splitlines()]
    frame = pd.DataFrame(
        {"qid": [x[0] for x in words], "docno": [x[2] for x in words],
         "score": [float(x[4]) for x in words], "tag": "bm25"}
    )  # fmt: skip
    for runs in (
        folder / "packed.run.gz", str(folder / "pack*"), {"bm25": folder / "a.run"}, frame,
        {"bm25": frame.drop(columns="tag")},
    ):  # fmt: skip
        pd.testing.assert_frame_equal(read_trec(runs, folder / "qrels.txt"), expected)
    assert "grade" not in read_trec(folder / "a.run").columns


def test_several_runs_and_judgements_in_parts(folder):
    (folder / "b.run").write_text("1 Q0 d7 1 9 dense\n001 Q0 null 1 8 dense\n")
    (folder / "more.txt").write_text("1 0 d7 1\n")
    found = read_trec(str(folder / "*.run"), [folder / "qrels.txt", folder / "more.txt"])
    assert list(found.columns[2:]) == ["bm25", "dense", "grade"]
    row = found[(found["query"] == "1") & (found["document"] == "d7")]
    assert row["bm25"].isna().all()
    assert row["dense"].tolist() == [9.0]
    assert row["grade"].tolist() == [1]


def test_what_is_written_is_read_again(folder, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"query": np.repeat(["q1", "q2"], 20), "document": [f"d{i:02}" for i in range(40)],
         "a": rng.standard_normal(40), "b": np.where(rng.random(40) < 0.5, rng.random(40), np.nan),
         "grade": pd.array([0, 1, None, 2] * 10, dtype="Int64")}
    )  # fmt: skip
    before = frame.copy(deep=True)
    write_trec(frame, tmp_path / "out", tmp_path / "out" / "qrels.gz")
    pd.testing.assert_frame_equal(frame, before)
    again = read_trec(str(tmp_path / "out" / "*.run"), tmp_path / "out" / "qrels.gz")
    both = [x.set_index(["query", "document"]).sort_index() for x in (again, frame)]
    pd.testing.assert_frame_equal(*both, check_index_type=False, check_exact=True)


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "pandas"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 Q0 d5 3 2.0", r"x\.run, line 4: 5 words"),
        ("1 Q0 d5 3 high bm25", r"x\.run, line 4: the score 'high' is not a number"),
        ("1 Q0 d5 3 nan bm25", r"x\.run, line 4: the score 'nan' is not a number"),
        ("1 Q0 d1 3 1.0 bm25", r"x\.run, line 4: the query '1' and the document 'd1'.*line 1"),
        ("1 Q0 d7 3 1.0 other", r"several tags, 'bm25', 'other'"),
        ("1 Q0 d\xff 3 1.0 bm25", r"line 4: .* is not encoded as UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(folder, line, message, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(trec_lines, "_by_arrow", lambda *_: None)
    (folder / "x.run").write_bytes((RUN + line + "\n").encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_trec(folder / "x.run", folder / "qrels.txt")


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "pandas"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 d5", r"q\.txt, line 4: 3 words"),
        ("1 0 d5 good", r"q\.txt, line 4: the grade 'good' is not a whole number"),
        ("1 0 d5 0.5", r"q\.txt, line 4: the grade '0.5' is not a whole number"),
        ("1 0 NA 1", r"q\.txt, line 4: the query '1' and the document 'NA' .*line 1"),
    ],
)
def test_a_wrong_judgement_is_named(folder, line, message, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(trec_lines, "_by_arrow", lambda *_: None)
    (folder / "q.txt").write_text(QRELS + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_trec(folder / "a.run", folder / "q.txt")


def test_line_numbers_count_empty_lines(folder):
    (folder / "x.run").write_text("\n" + RUN + "\n\n1 Q0 d1 3 1.0 bm25\n")
    with pytest.raises(ValueError, match=r"x\.run, line 7: .*x\.run, line 2"):
        read_trec(folder / "x.run")


def test_runs_need_names_of_their_own(folder):
    with pytest.raises(ValueError, match=r"2 runs are named 'bm25'"):
        read_trec([folder / "a.run", folder / "a.run"], folder / "qrels.txt")
    with pytest.raises(ValueError, match=r"a run is named 'grade'"):
        read_trec({"grade": folder / "a.run"}, folder / "qrels.txt")
    with pytest.raises(FileNotFoundError, match=r"no file has this name"):
        read_trec(folder / "*.nothing")
    with pytest.raises(ValueError, match=r"is a folder"):
        read_trec(folder)


def test_a_run_without_a_query_of_the_judgements(folder):
    (folder / "b.run").write_text("MB1 Q0 d7 1 9 dense\n")
    with pytest.raises(ValueError, match=r"'dense' has no judged queries.*'MB1'"):
        read_trec(folder / "b.run", folder / "qrels.txt")


def test_queries_on_one_side_are_counted(folder):
    (folder / "b.run").write_text("1 Q0 d7 1 9 dense\nX Q0 d7 1 9 dense\n")
    with pytest.warns(
        rankeval_pd.RankevalWarning,
        match=r"judgments from the runs \(1: 'X'\).*\(1: '001'\)",
    ):
        read_trec([folder / "a.run", folder / "b.run"], folder / "qrels.txt")


def test_whole_numbers_and_strings_are_the_same_identifiers():
    run = pd.DataFrame({"query": [1, 1], "document": [7, "8"], "score": [2.0, 1.0]})
    judged = pd.DataFrame({"query": ["1"], "document": ["7"], "grade": [1]})
    found = read_trec({"a": run}, judged)
    assert found["document"].tolist() == ["7", "8"]
    assert found["grade"].tolist() == [1, pd.NA]
    with pytest.raises(ValueError, match=r"'7' already appear together"):
        read_trec({"a": run.assign(document=[7, "7"])}, judged)
    with pytest.raises(TypeError, match=r"7\.0 is of type float"):
        read_trec({"a": run.assign(document=[7.0, 8.0])}, judged)
    with pytest.raises(ValueError, match=r"identifiers are missing"):
        read_trec({"a": run.assign(document=[None, "8"])}, judged)


def test_frames_that_do_not_fit():
    run = pd.DataFrame({"query": ["1"], "document": ["7"], "score": [2.0]})
    with pytest.raises(ValueError, match=r"no column 'score'"):
        read_trec({"a": run.drop(columns="score")})
    with pytest.raises(ValueError, match=r"no column 'tag'"):
        read_trec(run)
    with pytest.raises(TypeError, match=r"must be numeric"):
        read_trec({"a": run.assign(score="high")})
    with pytest.raises(ValueError, match=r"row 0: the score is nan"):
        read_trec({"a": run.assign(score=np.nan)})
    with pytest.raises(ValueError, match=r"whitespace"):
        read_trec({"a": run.assign(document="d 1")})
    with pytest.raises(ValueError, match=r"qrels is empty"):
        read_trec({"a": run}, run.rename(columns={"score": "grade"}).iloc[:0])


def test_writing_refuses_what_cannot_be_read(tmp_path):
    frame = pd.DataFrame({"query": ["1"], "document": ["d 1"], "my run": [1.0]})
    with pytest.raises(ValueError, match=r"'d 1' is empty or contains whitespace"):
        write_trec(frame, tmp_path)
    with pytest.raises(ValueError, match=r"the name 'my run'"):
        write_trec(frame.assign(document="d1"), tmp_path)
    with pytest.raises(KeyError, match=r"no column 'other'"):
        write_trec(frame.assign(document="d1"), {"other": tmp_path / "x"})
    with pytest.raises(KeyError, match=r"no column 'grade'"):
        write_trec(frame.assign(document="d1")[["query", "document"]], tmp_path, tmp_path / "q")


@pytest.mark.parametrize("block", [1, 7, 2**15])
@pytest.mark.parametrize("shuffled", [False, True])
def test_lines_in_any_order_and_from_files_and_frames_are_one_table(
    tmp_path, monkeypatch, block, shuffled
):
    """A row for each pair, by outer joins of pandas, however many queries are numbered at once."""
    monkeypatch.setattr(trec_files, "_LINES_AT_ONCE", block)
    rng = np.random.default_rng(block)
    pool = pd.DataFrame(
        [(str(q), f"d{d}") for q in (9, 10, 2, 301) for d in range(12)],
        columns=["query", "document"],
    )
    parts = []
    for k in range(4):
        part = pool.sample(frac=0.5, random_state=k)
        part = part if shuffled else part.sort_index()
        parts.append(part.assign(number=rng.integers(0, 3, len(part))))
    runs = [part.rename(columns={"number": "score"}).astype({"score": float}) for part in parts]
    rows = zip(runs[0]["query"], runs[0]["document"], runs[0]["score"], strict=True)
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} a\n" for q, d, s in rows), encoding="utf-8")
    judged = parts[3].rename(columns={"number": "grade"})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some of the 4 judged queries", RankevalWarning)
        found = read_trec({"a": path, "b": runs[1], "c": runs[2]}, judged)
    expected = judged.astype({"grade": "Int64"})
    for name, run in zip("abc", runs[:3], strict=True):
        joined = run.rename(columns={"score": name})
        expected = expected.merge(joined, on=["query", "document"], how="outer")
    assert found["query"].is_monotonic_increasing
    keys = ["query", "document"]
    pd.testing.assert_frame_equal(
        found.sort_values(keys, ignore_index=True),
        expected[found.columns].sort_values(keys, ignore_index=True),
        check_dtype=False,
    )


def test_files_are_read_as_trec_eval_reads_them(tmp_path):
    """Comments, words beyond the last, and a run that found nothing."""
    (tmp_path / "qrels.txt").write_text("# topics of 2024\n1 0 a 1\n1 0 b 0\n2 0 c 1 by hand\n")
    (tmp_path / "r.run").write_text("#made today\n1 Q0 a 1 2.0 r\n2 Q0 b 2 1.0 r some more words\n")
    (tmp_path / "none.run").write_text("")
    found = read_trec([tmp_path / "r.run"], tmp_path / "qrels.txt")
    assert found[["query", "document", "r"]].to_numpy().tolist() == [
        ["1", "a", 2.0], ["1", "b", pytest.approx(np.nan, nan_ok=True)],
        ["2", "b", 1.0], ["2", "c", pytest.approx(np.nan, nan_ok=True)],
    ]  # fmt: skip
    with pytest.warns(RankevalWarning, match=r"no documents in 'none' \(2: '1', '2'\)"):
        both = read_trec([tmp_path / "none.run", tmp_path / "r.run"], tmp_path / "qrels.txt")
    assert both["none"].isna().all()
    values = both.rankeval.per_query("AP").set_index(["measure", "query"])["value"]
    assert values["none"].tolist() == [0.0, 0.0]
    (tmp_path / "bad.run").write_text("# one\n1 Q0 a 1 2.0 r\n1 Q0 b 2\n")
    with pytest.raises(ValueError, match=r"bad.run, line 3: 4 words"):
        read_trec([tmp_path / "bad.run"])


# Everything that is written is read again, or refused

ODD = " #\t\n\r\x0b\x0c\x1c\x85\xa0\u2028\ufeff\x00\"'\\,/.:*[]\u00e9\u65e5\U0001f600_1aN"
WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.text(ODD, max_size=3),
    st.sampled_from(["1", "NA", "nan", "null", "#1", "a#b", "..", ".a", "d_1"]),
)
NAMES = WORDS.filter(lambda name: name not in ("query", "document", "a"))
SCORES = st.one_of(st.floats(), st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 5e-324, 0.1]))
GRADES = st.one_of(
    st.none(), st.integers(-3, 4), st.sampled_from([0.5, np.inf, 1e300, 2.0**53, 2.0**53 - 1])
)


def read_again(folder: Path, qrels: Path | None) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)  # queries of the runs or judgments only
        return read_trec(str(folder / "*.run"), qrels)


def by_pair(frame: pd.DataFrame) -> pd.DataFrame:
    """Return scores and grades, without the rows that hold neither."""
    numbers = frame.set_index(["query", "document"]).astype(float)
    return numbers.sort_index(axis=1).dropna(how="all").sort_index()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(WORDS, WORDS, SCORES, SCORES, GRADES), max_size=4), NAMES, st.booleans()
)  # fmt: skip
def test_what_is_written_is_equal_when_read(rows, name, arrow):
    frame = pd.DataFrame(rows, columns=pd.Index(["query", "document", "a", name, "grade"]))
    frame = frame.astype({"a": float, name: float, "grade": float})
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder, qrels = Path(place, "out"), Path(place, "qrels.txt")
        if not arrow:
            patch.setattr(trec_lines, "_by_arrow", lambda *_: None)
        try:
            write_trec(frame, folder, qrels)
        except ValueError:
            assert not list(Path(place).iterdir())  # refused before anything is written
            return
        asked = [set(frame["query"][frame[x].notna()]) for x in ("grade", "a", name)]
        if not asked[0] or any(run and not run & asked[0] for run in asked[1:]):
            with pytest.raises(ValueError, match=r"qrels is empty|has no judged queries"):
                read_again(folder, qrels)
            frame, qrels = frame.drop(columns="grade"), None
        found = read_again(folder, qrels)
        pd.testing.assert_frame_equal(
            by_pair(found), by_pair(frame), check_exact=True,
            check_index_type=False, check_column_type=False,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["BAAI/bge-m3", "../x", "..", ".hidden", "a\\b", "*"])
def test_a_run_that_the_pattern_would_not_find(tmp_path, name):
    frame = pd.DataFrame({"query": ["1"], "document": ["d"], "b": [2.0], name: [1.0]})
    with pytest.raises(ValueError, match=r"would not match '\*\.run'.*runs=\{.*: 'a\.run'\}"):
        write_trec(frame, tmp_path / "out")
    assert not list(tmp_path.iterdir())
    write_trec(frame, {name: tmp_path / "out" / "a.run", "b": tmp_path / "out" / "b.run"})
    assert by_pair(read_trec(str(tmp_path / "out" / "*.run"))).equals(by_pair(frame))


def test_no_run_takes_the_place_of_another(tmp_path):
    pair = {"query": ["1"], "document": ["d"]}
    frame = pd.DataFrame({**pair, "a": [1.0], "b": [2.0], "grade": [1]})
    for runs, qrels in (
        ({"a": tmp_path / "x", "b": f"{tmp_path}/out/../x"}, None),
        (tmp_path, tmp_path / "b.run"),
    ):
        with pytest.raises(ValueError, match=r"two files have the same path"):
            write_trec(frame, runs, qrels)
    with pytest.raises(ValueError, match=r"two files have the same path"):
        write_trec(pd.DataFrame({**pair, 5: [1.0], "5": [2.0]}), tmp_path)
    with pytest.raises(ValueError, match=r"2 columns named 'a'"):
        write_trec(frame.set_axis([*pair, "a", "a", "grade"], axis=1), tmp_path)
    with pytest.raises(ValueError, match=r"'grade'.*is one of"):
        write_trec(frame.assign(rel=1), tmp_path, grade="rel")
    with pytest.raises(ValueError, match=r"appear together more than once"):
        write_trec(pd.concat([frame, frame]), tmp_path)
    assert not list(tmp_path.iterdir())
    write_trec(pd.DataFrame({**pair, 5: [1.0]}), tmp_path)
    assert read_trec(tmp_path / "5.run")["5"].tolist() == [1.0]


def test_fractions_are_no_grades_of_a_file(tmp_path):
    """Without min_grade= an error; with it, the grades that min_grade= of per_query gives."""
    frame = pd.DataFrame(
        {"query": "1", "document": [*"abcde"], "r": [5.0, 4.0, 3.0, 2.0, 1.0],
         "grade": [0.9, 0.5, 1.7, None, -1.0]}
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"3 grades are not whole.*such as 0\.9.*min_grade=\.\.\."):
        write_trec(frame, tmp_path, tmp_path / "q")
    with pytest.raises(ValueError, match=r"min_grade=0"):
        write_trec(frame, tmp_path, tmp_path / "q", min_grade=0)
    write_trec(frame, tmp_path, tmp_path / "q", min_grade=0.8)
    found = read_trec(tmp_path / "r.run", tmp_path / "q").sort_values("document")
    assert found["grade"].fillna(9).tolist() == [1, 0, 1, 9, -1]
    metrics = ["AP", "P@2", "Bpref"]
    pd.testing.assert_frame_equal(
        found.rankeval.per_query(metrics), frame.rankeval.per_query(metrics, min_grade=0.8)
    )
    narrow = frame.assign(grade=np.array([0.7, 0.5, 1.7, np.nan, -1.0], dtype=np.float32))
    write_trec(narrow, tmp_path, tmp_path / "q", min_grade=0.7)
    assert (tmp_path / "q").read_text() == "1 0 a 1\n1 0 b 0\n1 0 c 1\n1 0 e -1\n"
    with pytest.raises(ValueError, match=r"gold='grade' contains 'good'"):
        write_trec(frame.assign(grade="good"), tmp_path, tmp_path / "q")


# Comments, numbers and other files


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "pandas"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("comment", ["# topics judged: 2", "#a b c d e f", " \t# 1 0 9", "#"])
def test_comments_are_no_data(tmp_path, comment, end, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(trec_lines, "_by_arrow", lambda *_: None)
    qrels = ["1 0 a 1", "1 0 b#2 0"]
    run = ["1 Q0 a 1 2.0 r#1", "1 Q0 b#2 2 1.0 r#1"]
    for mark in ("", "\ufeff"):
        for path, lines in (("q", qrels), ("r", run)):
            text = end.join([comment, lines[0], comment, comment, "", lines[1], comment])
            (tmp_path / path).write_bytes((mark + text).encode())
        found = read_trec(tmp_path / "r", tmp_path / "q")
        assert found.to_numpy().tolist() == [["1", "a", 2.0, 1], ["1", "b#2", 1.0, 0]]
        assert found.rankeval.per_query("AP")["value"].tolist() == [1.0]
    (tmp_path / "q").write_bytes(end.join([comment, "1 0 a 1", comment, "1 0 b"]).encode())
    with pytest.raises(ValueError, match=r"q, line 4: 3 words"):
        read_trec(tmp_path / "r", tmp_path / "q")


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "pandas"])
@pytest.mark.parametrize("more", ["", " and seven more words than a line has"])
@pytest.mark.parametrize(
    ("kind", "number"),
    [("grade", x) for x in ("1e300", "-1e17", "9007199254740993", "inf", "1_0", "nan", "\u0661")]
    + [("score", x) for x in ("1_0", "nan", "0x10", "\u0661", "1,5")],
)  # fmt: skip
def test_numbers_that_are_none(folder, kind, number, more, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(trec_lines, "_by_arrow", lambda *_: None)
    line = f"1 0 d5 {number}{more}\n" if kind == "grade" else f"1 Q0 d5 3 {number} bm25{more}\n"
    path = folder / ("qrels.txt" if kind == "grade" else "a.run")
    path.write_text(line + path.read_text(), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"line 1: the {kind} '{number}' is not"):
        read_trec(folder / "a.run", folder / "qrels.txt")


def test_frames_of_grades_that_are_no_integers():
    run = pd.DataFrame({"query": ["1"], "document": ["7"], "score": [2.0]})
    for grade in (np.inf, 1e300, 0.5):
        with pytest.raises(ValueError, match=r"row 0: the grade is .* needs a whole number"):
            read_trec({"a": run}, run.drop(columns="score").assign(grade=grade))


@pytest.mark.parametrize("first", ["1 Q0 d1 1 2.0 t", "1 Q0 d1 1 2.0 t a b c d e f g"])
def test_words_beyond_the_last_are_ignored_on_every_line(tmp_path, first):
    (tmp_path / "r").write_text(f"{first}\n1 Q0 d2 2 1.0 t x\n1 Q0 d3 3 0.5 t x y z\n")
    assert read_trec(tmp_path / "r")["t"].tolist() == [2.0, 1.0, 0.5]


def test_other_packed_files_and_binary_files(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("r", RUN)
    zstd = b"\x28\xb5\x2f\xfd\x00"
    packings = bz2.compress(RUN.encode()), lzma.compress(RUN.encode()), archive.getvalue(), zstd
    for content in packings:
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(ValueError, match=r"r is a bzip2, xz, zip or zstd file"):
            read_trec(tmp_path / "r")
    for content in (RUN.encode("utf-16"), RUN.encode("utf-16-le"), b"\n1 Q0 d\0 1 1.0 t\n"):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(ValueError, match=r"r, line [12]: .* is not encoded as UTF-8"):
            read_trec(tmp_path / "r")
