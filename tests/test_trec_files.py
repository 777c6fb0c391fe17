"""Files of TREC: what is read, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import RankevalWarning, read_trec, write_trec
from rankeval_pd.forms.queries import trec_lines
from rankeval_pd.queries import trec_files

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
