"""The search experiment from docstrings: what is a document, a link, a run; and the cache."""

from __future__ import annotations

import gzip
import re
import sys

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import datasets, per_query
from rankeval_pd.datasets import docstrings

CODE = '''
"""A module."""
class Frame:
    """A table of data, with rows and columns.

    See Also
    --------
    Series : One column of data.
    read_table : Read a table.
    """
    def mean(self):
        """Return the mean of each column.

        See Also
        --------
        Frame.median : Return the median.
        Series.mean, Series.median

        Notes
        -----
        These words stay.
        """
    def median(self):
        """Return the median of each column."""
    def _private(self):
        """Return what nobody sees."""
class Series:
    """One column of data."""
    def mean(self):
        """Return the mean of a column."""
    def median(self):
        """Return the median of a column."""
def read_table(path):
    """Read a table of rows and columns from a file.

    See Also
    --------
    :func:`~tinysearch.Frame` : The table.
    elsewhere.nothing : No document.
    Series
        One column.
    """
'''


@pytest.fixture
def load(tmp_path, monkeypatch):
    package = tmp_path / "tinysearch"
    (package / "_inner").mkdir(parents=True)
    (package / "__init__.py").write_text('"""A package."""')
    (package / "_inner" / "_code.py").write_text(CODE)
    (package / "tests").mkdir()
    (package / "tests" / "test_code.py").write_text('def test_it():\n    """Test the mean."""')
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(docstrings, "PACKAGES", ("tinysearch",))
    monkeypatch.setattr(docstrings.metadata, "version", lambda name: "1.0")
    pytest.importorskip("sklearn")
    yield lambda **options: datasets.load_docstring_search(progress=False, **options)
    sys.modules.pop("tinysearch", None)


def test_documents_links_and_runs(load):
    found = load()
    assert list(found.columns) == ["query", "document", "bm25", "tfidf", "grade"]
    linked = found[found["grade"] == 1]
    pairs = set(zip(linked["query"], linked["document"], strict=True))
    name = "tinysearch"
    assert pairs == {
        (f"{name}.Frame", f"{name}.Series"), (f"{name}.Frame", f"{name}.read_table"),
        (f"{name}.Frame.mean", f"{name}.Frame.median"),
        (f"{name}.Frame.mean", f"{name}.Series.mean"),
        (f"{name}.Frame.mean", f"{name}.Series.median"),
        (f"{name}.read_table", f"{name}.Frame"), (f"{name}.read_table", f"{name}.Series"),
    }  # fmt: skip
    assert (found["query"] != found["document"]).all()
    assert found[["bm25", "tfidf"]].notna().any(axis=1).sum() > len(pairs) / 2
    assert (found[["bm25", "tfidf"]].min() > 0.0).all()
    assert found["grade"].dtype == "Int64"
    values = per_query(found, ["AP", "R@10"])
    assert values["value"].between(0.0, 1.0).all()
    assert values["n_positive"].max() == 3


def test_the_depth_of_the_runs(load):
    found = load(depth=1)
    assert (found.groupby("query")["bm25"].count() <= 1).all()
    with pytest.raises(ValueError, match="depth=0"):
        load(depth=0)


def test_bm25_is_its_formula(load):
    found = load().set_index(["query", "document"])["bm25"]
    corpus = docstrings._search_corpus()
    stop = pytest.importorskip("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS

    def words(text):
        return [w for w in re.findall(r"(?u)\b\w\w+\b", text.lower()) if w not in stop]

    texts = {one.name: words(f"{docstrings._name_words(one.name)} {one.text}") for one in corpus}
    assert all("Series :" not in one.text for one in corpus)  # links are no part of a document
    assert any("These words stay." in one.text for one in corpus)
    mean = np.mean([len(x) for x in texts.values()])
    one = next(x for x in corpus if x.name == "tinysearch.Frame.mean")
    query = set(words(f"{docstrings._name_words(one.name)} {one.text.splitlines()[0]}"))
    for name, text in texts.items():
        total = 0.0
        for word in query & set(text):
            holding = sum(word in other for other in texts.values())
            rarity = np.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            count = text.count(word)
            total += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) / mean))
        if name != one.name and total > 0:
            assert found[one.name, name] == pytest.approx(total, abs=1e-6)


def test_the_corpus_is_kept(load, tmp_path, monkeypatch):
    first = load()
    with monkeypatch.context() as patched:
        patched.setattr(docstrings, "_read_search", lambda: pytest.fail("read again"))
        pd.testing.assert_frame_equal(load(), first)
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    of_others = gzip.compress(b'[["a name", "a text", []]]')
    for broken in (b"no gzip", whole[:50], of_others):
        kept.write_bytes(broken)
        pd.testing.assert_frame_equal(load(), first)
        assert gzip.decompress(kept.read_bytes()) == gzip.decompress(whole)


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    """Without pooch, which knows the user's cache folder, and no folder named."""
    monkeypatch.delenv("RANKEVAL_PD_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    made = iter(["first", "second", "third"])
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "first"
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(tmp_path))
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "second"
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "second"
    assert docstrings.cached_content("words", 2, lambda: next(made)) == "third"


def test_a_package_that_is_not_there_is_named():
    with pytest.raises(ModuleNotFoundError, match="pip install no_such_package"):
        list(docstrings.source_files("no_such_package"))
