"""Files of TREC: what is read, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
import warnings
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_pd import RankevalWarning, read_trec, write_trec
from rankeval_pd.queries import trec_files
from tests.conftest import examples

RUN = "1 Q0 d1 1 3.5 bm25\n1 Q0 NA 2 2.5 bm25\n001 Q0 null 1 1e-3 bm25\n"
QRELS = "1 0 NA 2\n1 0 d9 -1\n001 0 null 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


@pytest.fixture(params=["pandas", "pyarrow"])
def parser(request, monkeypatch):
    """Both ways in which lines are parted into words."""
    if request.param == "pandas":
        monkeypatch.setattr(trec_files, "_by_arrow", lambda *_: None)


# ---------------------------------------------------------------------------------------- reading


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


@pytest.mark.usefixtures("parser")
def test_any_white_space_parts_words(folder):
    expected = read_trec(folder / "a.run", folder / "qrels.txt")
    for between, end in ((" ", "\n"), ("\t", "\n"), ("   ", "\n"), (" ", " \n\n"), (" ", "\r\n")):
        text = RUN.replace(" ", between).replace("\n", end)
        for content in (text, text.rstrip()):
            (folder / "b.run").write_bytes(content.encode())
            found = read_trec(folder / "b.run", folder / "qrels.txt")
            pd.testing.assert_frame_equal(found, expected)


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
    halves = [frame[:1].drop(columns="tag"), frame[1:].drop(columns="tag")]
    for runs in ({"bm25": halves}, folder):  # a run in several parts, and the runs of a folder
        found = read_trec(runs, folder / "qrels.txt")
        pd.testing.assert_frame_equal(found, expected)
    assert "grade" not in read_trec(folder / "a.run").columns


@pytest.mark.filterwarnings("ignore:Some of the 4 judged queries:rankeval_pd.RankevalWarning")
def test_lines_in_any_order_and_from_files_and_frames_are_one_table(tmp_path):
    """A row for each pair, by outer joins of pandas."""
    rng, keys = np.random.default_rng(1), ["query", "document"]
    pairs = [(str(q), f"d{d}") for q in (9, 10, 2, 301) for d in range(12)]
    pool = pd.DataFrame(pairs, columns=keys)
    shuffled = [pool.sample(frac=0.5, random_state=k) for k in range(4)]
    for parts in (shuffled, [part.sort_index() for part in shuffled]):
        *runs, judged = (x.assign(score=rng.integers(0, 3, 24).astype(float)) for x in parts)
        rows = runs[0].itertuples(index=False)
        path = tmp_path / "a.run"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} a\n" for q, d, s in rows), encoding="utf-8")
        expected = judged = judged.rename(columns={"score": "grade"}).astype({"grade": "Int64"})
        found = read_trec({"a": path, "b": runs[1], "c": runs[2]}, [judged[:9], judged[9:]])
        for name, run in zip("abc", runs, strict=True):
            expected = expected.merge(run.rename(columns={"score": name}), on=keys, how="outer")
        assert found["query"].is_monotonic_increasing
        pd.testing.assert_frame_equal(
            found.sort_values(keys, ignore_index=True),
            expected[found.columns].sort_values(keys, ignore_index=True),
            check_dtype=False,
        )


def test_a_run_that_found_nothing_has_no_documents(tmp_path):
    (tmp_path / "qrels.txt").write_text("# topics of 2024\n1 0 a 1\n1 0 b 0\n2 0 c 1 by hand\n")
    (tmp_path / "r.run").write_text("#made today\n1 Q0 a 1 2.0 r\n2 Q0 b 2 1.0 r some more words\n")
    (tmp_path / "none.run").write_text("")
    with pytest.warns(RankevalWarning, match=r"no documents in 'none' \(2: '1', '2'\)"):
        both = read_trec([tmp_path / "none.run", tmp_path / "r.run"], tmp_path / "qrels.txt")
    assert both["none"].isna().all()
    assert both["r"].dropna().tolist() == [2.0, 1.0]
    values = both.rankeval.per_query("AP").set_index(["measure", "query"])["value"]
    assert values["none"].tolist() == [0.0, 0.0]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"], ids=["crlf", "cr", "lf"])
def test_comments_are_no_data(tmp_path, end):
    qrels, run = ["1 0 a 1", "1 0 b#2 0"], ["1 Q0 a 1 2.0 r#1", "1 Q0 b#2 2 1.0 r#1"]
    for comment in ("# topics judged: 2", "#a b c d e f", " \t# 1 0 9", "#"):
        for mark in ("", "\ufeff"):
            for path, lines in (("q", qrels), ("r", run)):
                text = end.join([comment, lines[0], comment, comment, "", lines[1], comment])
                (tmp_path / path).write_bytes((mark + text).encode())
            found = read_trec(tmp_path / "r", tmp_path / "q")
            assert found.to_numpy().tolist() == [["1", "a", 2.0, 1], ["1", "b#2", 1.0, 0]]
        (tmp_path / "q").write_bytes(end.join([comment, "1 0 a 1", comment, "1 0 b"]).encode())
        with pytest.raises(ValueError, match=r"q, line 4: 3 words"):
            read_trec(tmp_path / "r", tmp_path / "q")


def test_whole_numbers_and_strings_are_the_same_identifiers():
    run = pd.DataFrame({"query": [1, 1], "document": [7, "8"], "score": [2.0, 1.0]})
    judged = pd.DataFrame({"query": ["1"], "document": ["7"], "grade": [1]})
    found = read_trec({"a": run}, judged)
    assert found["document"].tolist() == ["7", "8"]
    assert found["grade"].tolist() == [1, pd.NA]
    with pytest.raises(ValueError, match=r"'7' already appear together"):
        read_trec({"a": run.assign(document=[7, "7"])}, judged)


# ------------------------------------------------------------------- what is refused, or said


@pytest.mark.usefixtures("parser")
def test_a_wrong_line_is_named(folder):
    for line, message in (
        ("1 Q0 d5 3 2.0", r"x\.run, line 4: 5 words"),
        ("1 Q0 d5 3 high bm25", r"x\.run, line 4: the score 'high' is not a number"),
        ("1 Q0 d1 3 1.0 bm25", r"x\.run, line 4: the query '1' and the document 'd1'.*line 1"),
        ("1 Q0 d7 3 1.0 other", r"several tags, 'bm25', 'other'"),
        ("1 Q0 d\xff 3 1.0 bm25", r"line 4: .* is not encoded as UTF-8"),
    ):
        (folder / "x.run").write_bytes((RUN + line + "\n").encode("latin-1"))
        with pytest.raises(ValueError, match=message):
            read_trec(folder / "x.run", folder / "qrels.txt")
    for line, message in (
        ("1 0 d5", r"q\.txt, line 4: 3 words"),
        ("1 0 d5 good", r"q\.txt, line 4: the grade 'good' is not a whole number"),
        ("1 0 d5 0.5", r"q\.txt, line 4: the grade '0.5' is not a whole number"),
        ("1 0 NA 1", r"q\.txt, line 4: the query '1' and the document 'NA' .*line 1"),
    ):
        (folder / "q.txt").write_text(QRELS + line + "\n")
        with pytest.raises(ValueError, match=message):
            read_trec(folder / "a.run", folder / "q.txt")
    (folder / "x.run").write_text("\n" + RUN + "\n\n1 Q0 d1 3 1.0 bm25\n")  # empty lines count
    with pytest.raises(ValueError, match=r"x\.run, line 7: .*x\.run, line 2"):
        read_trec(folder / "x.run")


SCORED = namedtuple("ScoredDoc", "query_id doc_id score")  # as in ir_measures


def test_files_as_trec_eval_has_them_are_read_or_refused(folder):
    """Comments, # within names, tabs, and no end of the last line; no preferences."""
    (folder / "a.run").write_text("# mine\n301\tQ0\tD1\t1\t 2.1\tS\n# and\n301 Q0 A#6 2 1.5 S")
    (folder / "b.qrels").write_text(
        "# a comment\n301   00  D1   1\n# a name\n301 0 A#6 0\n301 0 D2 1"
    )
    found = read_trec(folder / "a.run", folder / "b.qrels")
    assert found["document"].tolist() == ["D1", "A#6", "D2"]
    assert found["grade"].tolist() == [1, 0, 1]
    for line in ("301 0 D1 1.1.11", "301 0 D1 0x37", "2.EC.A 0 0 FR94 1", "1.EC F:Ret F:Rn FR94 1"):
        (folder / "b.qrels").write_text(f"# a comment\n{line}\n")
        with pytest.raises(ValueError, match=r"line 2: the grade .* is not a whole number"):
            read_trec(folder / "a.run", folder / "b.qrels")


@pytest.mark.usefixtures("parser")
def test_numbers_that_are_none(folder):
    grades = ("1e300", "-1e17", "9007199254740993", "inf", "1_0", "nan", "\u0661")
    kinds = [("grade", x) for x in grades]
    kinds += [("score", x) for x in ("1_0", "nan", "0x10", "\u0661", "1,5")]
    for more in ("", " and seven more words than a line has"):
        for kind, number in kinds:
            path = folder / ("qrels.txt" if kind == "grade" else "a.run")
            start, end, whole = (
                ("1 0 d5", "", QRELS) if kind == "grade" else ("1 Q0 d5 3", " bm25", RUN)
            )
            path.write_text(f"{start} {number}{end}{more}\n{whole}", encoding="utf-8")
            with pytest.raises(ValueError, match=rf"line 1: the {kind} '{number}' is not"):
                read_trec(folder / "a.run", folder / "qrels.txt")
            path.write_text(whole, encoding="utf-8")


def test_runs_need_names_and_queries_of_their_own(folder):
    qrels, one, other = folder / "qrels.txt", folder / "a.run", folder / "b.run"
    for runs, message in (
        ([one, one], r"'bm25' is the name of another run"),
        ({"grade": one}, r"'grade' is the name of .* a column of every result"),
        (folder / "*.nothing", r"no file has this name"),
        ([], r"runs is empty"),
        (
            {"q1": {"d1": 0.1}},
            r"runs is of type dict: .* pd.DataFrame\(\[\(q, d, x\)",
        ),  # as in ranx
        ([SCORED("1", "A", 1.2)], r"runs is of type .*ScoredDoc: .*pd.DataFrame"),
        (folder / "zscores", r"line 1: 3 words instead of 'query Q0"),
        (folder / "run.json", r"line 1: 1 words instead of"),
        ("x" * 10_000, r"^runs=.xxx.{44}\.\.\.: no file has this name"),
    ):
        (folder / "zscores").write_text("301 map 0.2\n301 P_10 0.1\n")
        (folder / "run.json").write_text('{"q1":{"d1":0.1}}')
        with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
            read_trec(runs, qrels)
    other.write_text("MB1 Q0 d7 1 9 dense\n")
    with pytest.raises(ValueError, match=r"'dense' has no judged queries.*'MB1'"):
        read_trec(other, qrels)
    other.write_text("1 Q0 d7 1 9 dense\nX Q0 d7 1 9 dense\n")
    with (
        pytest.warns(RankevalWarning, match=r"judgments from the runs \(1: 'X'\)"),
        pytest.warns(RankevalWarning, match=r"no documents in 'dense' \(1: '001'\)"),
    ):
        read_trec([one, other], qrels)


def test_frames_that_do_not_fit():
    run = pd.DataFrame({"query": ["1"], "document": ["7"], "score": [2.0]})
    judged = run.rename(columns={"score": "grade"})
    for runs, qrels, message in (
        ({"a": run.drop(columns="score")}, None, r"no column 'score'"),
        (run, None, r"no column 'tag'"),
        ({"a": run.assign(score="high")}, None, r"row 0: the score is 'high', .* needs a number"),
        ({"a": run.assign(score=np.nan)}, None, r"row 0: the score is nan"),
        ({"a": run.assign(document="d 1")}, None, r"whitespace"),
        ({"a": run.assign(document=7.0)}, None, r"7\.0 is not a whole number .*astype\('Int64'\)"),
        ({"a": run.assign(document=None)}, None, r"the identifier nan is not"),
        ({"a": run}, judged[:0], r"qrels is empty"),
        *(({"a": run}, judged.assign(grade=x), r"row 0: the grade is .* needs a whole number")
          for x in (np.inf, 1e300, 0.5)),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=message):
            read_trec(runs, qrels)


def test_other_packed_files_and_binary_files(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("r", RUN)
    zstd = b"\x28\xb5\x2f\xfd\x00"
    packings = bz2.compress(RUN.encode()), lzma.compress(RUN.encode()), archive.getvalue(), zstd
    texts = RUN.encode("utf-16"), RUN.encode("utf-16-le"), b"\n1 Q0 d\0 1 1.0 t\n"
    for content in (*packings, *texts):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(ValueError, match=r"r, line [12]: .* is not encoded as UTF-8"):
            read_trec(tmp_path / "r")


# ---------------------------------------------------------------------------------------- writing
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


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(WORDS, WORDS, SCORES, SCORES, GRADES), max_size=4), NAMES, st.booleans()
)  # fmt: skip
def test_what_is_written_is_equal_when_read(rows, name, arrow):
    frame = pd.DataFrame(rows, columns=pd.Index(["query", "document", "a", name, "grade"]))
    frame = frame.astype({"a": float, name: float, "grade": float})
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder, qrels = Path(place, "out"), Path(place, "qrels.txt")
        if not arrow:
            patch.setattr(trec_files, "_by_arrow", lambda *_: None)
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


def test_a_run_that_the_pattern_would_not_find(tmp_path):
    for k, name in enumerate(("BAAI/bge-m3", "../x", "..", ".hidden", "a\\b", "*")):
        frame = pd.DataFrame({"query": ["1"], "document": ["d"], "b": [2.0], name: [1.0]})
        out = tmp_path / str(k)
        with pytest.raises(ValueError, match=r"cannot name a file \*\.run.*runs=\{.*: 'a\.run'\}"):
            write_trec(frame, out)
        assert not out.exists()
        write_trec(frame, {name: out / "a.run", "b": out / "b.run"})
        assert by_pair(read_trec(str(out / "*.run"))).equals(by_pair(frame))


def test_writing_refuses_what_cannot_be_read_and_a_place_taken_twice(tmp_path):
    pair = {"query": ["1"], "document": ["d"]}
    frame = pd.DataFrame({**pair, "a": [1.0], "b": [2.0], "grade": [1]})
    numbers = pd.DataFrame({**pair, 5: [1.0], "5": [2.0]})
    same = r"two files have the same path"
    for data, to, message in (
        (frame, [{"a": tmp_path / "x", "b": f"{tmp_path}/out/../x"}], same),
        (frame, [tmp_path, tmp_path / "b.run"], same),
        (numbers, [tmp_path], same),
        (frame.set_axis([*pair, "a", "a", "grade"], axis=1), [tmp_path], "2 columns named 'a'"),
        (frame, [{"grade": tmp_path / "x"}], r"no column 'grade'"),
        (frame.assign(document="d 1"), [tmp_path], r"'d 1' is not a .*word"),
        (frame.assign(query="#1"), [tmp_path], r"'#1' begins with #"),
        (frame.rename(columns={"a": "my run"}), [tmp_path], r"'my run'.* contains whitespace"),
        (frame, [{"other": tmp_path / "x"}], r"no column 'other'"),
        (frame.drop(columns="grade"), [tmp_path, tmp_path / "q"], r"no column 'grade'"),
        (pd.concat([frame, frame]), [tmp_path], r"appear together more than once"),
    ):
        with pytest.raises((ValueError, KeyError), match=message):
            write_trec(data, *to)
    assert not list(tmp_path.iterdir())
    write_trec(numbers.drop(columns="5"), tmp_path)
    assert read_trec(tmp_path / "5.run")["5"].tolist() == [1.0]


def test_fractions_are_no_grades_of_a_file(tmp_path):
    """Without min_grade= an error; with it, the grades that min_grade= of per_query gives."""
    frame = pd.DataFrame({"query": "1", "document": [*"abcde"], "r": [5.0, 4.0, 3.0, 2.0, 1.0]})
    frame["grade"], qrels = [0.9, 0.5, 1.7, None, -1.0], tmp_path / "q"
    with pytest.raises(ValueError, match=r"3 grades are not whole.*such as 0\.9.*min_grade=\.\.\."):
        write_trec(frame, tmp_path, qrels)
    with pytest.raises(ValueError, match=r"min_grade=0"):
        write_trec(frame, tmp_path, qrels, min_grade=0)
    write_trec(frame, tmp_path, qrels, min_grade=0.8)
    found, metrics = read_trec(tmp_path / "r.run", qrels), ["AP", "P@2", "Bpref"]
    pd.testing.assert_frame_equal(
        found.rankeval.per_query(metrics), frame.rankeval.per_query(metrics, min_grade=0.8)
    )
    narrow = np.array([0.7, 0.5, 1.7, np.nan, -1.0], dtype=np.float32)
    write_trec(frame.assign(grade=narrow), tmp_path, qrels, min_grade=0.7)
    assert qrels.read_text() == "1 0 a 1\n1 0 b 0\n1 0 c 1\n1 0 e -1\n"
    with pytest.raises(ValueError, match=r"gold='grade' contains 'good'"):
        write_trec(frame.assign(grade="good"), tmp_path, qrels)
