"""The docstring corpus: what counts as prose, what as a name, the tables, the cache."""

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.datasets import docstring_corpora, docstrings, krenn
from rankeval_pd.datasets.docstrings import sentences
from rankeval_pd.datasets.krenn import cache_folder

DOCSTRING = """Fit a random variable to the data, if possible.

The null hypothesis, which is tested here, needs ``some code`` and :func:`a.role` or `x_value`.
A t-test of floating-point numbers gives 3.5 or more (not less) values_in_code in [1]_ results.

Parameters
----------
first_name : array of int
    The first sample. Missing values
    are dropped.
other : float, optional
    See https://example.org/some/page for it.

See Also
--------
other_function : Words that stand here are cross references.

Examples
--------
>>> plain words inside code
plain words of output

Some words after code::

    literal block words

.. code-block:: python

    more literal words

.. note::

    Notes are prose.

- one item
- another item

======  =======
column  another
======  =======
a cell  b cell
======  =======

References
----------
.. [1] Some Author, Some title of a paper.
"""


def runs(text: str) -> list[str]:
    return [" ".join(run) for sentence in sentences(text) for run in sentence]


def test_prose_and_nothing_else():
    found = runs(DOCSTRING)
    assert found == [
        "fit a random variable to the data",
        "if possible",
        "the null hypothesis",
        "which is tested here",
        "needs",
        "and",
        "or",
        "a",  # "t-test": a single letter is a sign
        "of floating point numbers gives",
        "or more",
        "not less",
        "in",
        "results",
        "the first sample",
        "missing values are dropped",
        "see",
        "for it",
        "some words after code",
        "notes are prose",
        "one item",
        "another item",
    ]


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("fill_value", [("fill", "value")]),
        ("boundingBox", [("bounding", "box")]),
        ("HTTPServerError", [("http", "server"), ("server", "error")]),
        ("null_hypothesis_test", [("null", "hypothesis"), ("hypothesis", "test")]),
        ("log2_value", []),
        ("median", []),
    ],
)
def test_words_of_names(name, pairs):
    assert list(docstring_corpora.pairwise_words(name)) == pairs


def test_tables_of_a_small_corpus():
    """By hand: the pairs are a b, b a, a b, b c; a stands first twice, before b."""
    table = docstring_corpora._candidates([["a", "b", "a", "b", "c"]], {("b", "c")}, 1)
    expected = pd.DataFrame(
        {
            "word1": ["a", "b", "b"],
            "word2": ["b", "a", "c"],
            "O11": [2, 1, 1],
            "O12": [0, 1, 1],
            "O21": [0, 0, 0],
            "O22": [2, 2, 2],
            "gold": [False, False, True],
        }
    )
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)


@pytest.fixture(scope="module")
def terms() -> pd.DataFrame:
    return datasets.load_docstring_terms(progress=False)


@pytest.mark.slow
def test_corpus(terms):
    assert list(terms) == ["word1", "word2", "O11", "O12", "O21", "O22", "gold"]
    assert terms["gold"].dtype == bool
    assert (terms["O11"] >= 10).all()
    assert terms["O11"].is_monotonic_decreasing
    assert not terms.duplicated(["word1", "word2"]).any()
    totals = terms[["O11", "O12", "O21", "O22"]].sum(axis=1)
    assert totals.min() == totals.max()
    assert 6_000 < len(terms) < 15_000
    assert 0.05 < terms["gold"].mean() < 0.15
    gold = terms.set_index(["word1", "word2"])["gold"]
    assert gold["fill", "value"]
    assert not gold["of", "the"]


@pytest.mark.slow
def test_least_frequency(terms):
    pd.testing.assert_frame_equal(
        datasets.load_docstring_terms(50, progress=False),
        terms[terms["O11"] >= 50].reset_index(drop=True),
    )


@pytest.mark.slow
def test_samples(terms):
    parts = datasets.load_docstring_terms(samples=20, progress=False)
    assert next(iter(parts)) == "sample"
    assert sorted(parts["sample"].unique()) == list(range(20))
    assert (parts["O11"] >= 4).all()
    sizes = parts.groupby("sample")[["O11", "O12", "O21", "O22"]].first().sum(axis=1)
    whole = terms[["O11", "O12", "O21", "O22"]].iloc[0].sum()
    assert sizes.sum() == whole  # contiguous parts, nothing lost
    assert sizes.max() < 1.02 * sizes.min() + 100
    again = datasets.load_docstring_terms(samples=20, progress=False)
    pd.testing.assert_frame_equal(parts, again)
    other = datasets.load_docstring_terms(samples=20, rng=1, progress=False)
    assert not parts.equals(other)


def test_nothing_is_imported_and_cache_is_used(tmp_path, monkeypatch):
    """A package of one module that would fail if it were imported."""
    package = tmp_path / "tinypkg"
    package.mkdir()
    (package / "__init__.py").write_text(
        '"""A tiny package with a good name. The good name is here."""\n'
        "raise RuntimeError\n"
        "def good_name(): ...\n"
    )
    (package / "tests").mkdir()
    (package / "tests" / "test_it.py").write_text('"""Words of tests do not count."""')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(docstrings, "PACKAGES", ("tinypkg",))
    monkeypatch.setattr(docstrings.metadata, "version", lambda name: "1.0")
    folder = tmp_path / "cache"
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(folder))

    def load():
        return datasets.load_docstring_terms(1, progress=False)

    first = load()
    assert first.loc[first["gold"], ["word1", "word2"]].to_numpy().tolist() == [["good", "name"]]
    (kept,) = folder.iterdir()
    (package / "__init__.py").write_text('"""Changed without a new version."""')
    pd.testing.assert_frame_equal(load(), first)  # from the cache
    kept.write_bytes(kept.read_bytes()[:50])  # cut off: it is made anew, not trusted
    assert "changed" in set(load()["word1"])
    with gzip.open(kept, "rt") as file:
        assert json.loads(file.readlines()[1])["made of"][1] == {"tinypkg": "1.0"}
    monkeypatch.setattr(docstrings.metadata, "version", lambda name: "2.0")
    load()
    assert len(list(folder.iterdir())) == 2


def test_the_usual_candidates_are_kept_as_they_were_counted(tmp_path, monkeypatch):
    package = tmp_path / "tinypkg"
    package.mkdir()
    text = "A good name is here. " * 12 + "Names are good names. " * 11
    (package / "__init__.py").write_text(f'"""{text}"""\ndef good_name(): ...\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(docstrings, "PACKAGES", ("tinypkg",))
    monkeypatch.setattr(docstrings.metadata, "version", lambda name: "1.0")
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(tmp_path / "cache"))
    every = datasets.load_docstring_terms(1, progress=False)
    first = datasets.load_docstring_terms(progress=False)
    monkeypatch.setattr(docstring_corpora, "_corpus", lambda _: pytest.fail("counted again"))
    for least in (None, 10, 12):
        wanted = every[every["O11"] >= (least or 10)].reset_index(drop=True)
        found = datasets.load_docstring_terms(least, progress=False)
        pd.testing.assert_frame_equal(found, wanted)
        assert len(found) > 1
    pd.testing.assert_frame_equal(first, datasets.load_docstring_terms(progress=False))


def test_where_nothing_can_be_kept_nothing_is(tmp_path, monkeypatch):
    """Without pooch, which knows the user's cache folder, and no folder named."""
    monkeypatch.delenv("RANKEVAL_PD_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert cache_folder() is None
    monkeypatch.setattr(docstrings, "PACKAGES", ("tqdm",))
    found = datasets.load_docstring_terms(1, progress=False)
    assert len(found) > 100
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(tmp_path))
    pd.testing.assert_frame_equal(datasets.load_docstring_terms(1, progress=False), found)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_kept_is_there_or_is_not(tmp_path):
    path = tmp_path / "deep" / "kept.json.gz"
    assert krenn.read_cache(path) is None
    krenn.write_cache(path, {"words": ["a", "b"]})
    assert krenn.read_cache(path) == {"words": ["a", "b"]}
    krenn.write_cache(path, ["other"])
    assert krenn.read_cache(path) == ["other"]
    assert [p.name for p in path.parent.iterdir()] == ["kept.json.gz"]


def test_a_flipped_bit_anywhere_is_seen(tmp_path):
    path = tmp_path / "kept.json.gz"
    krenn.write_cache(path, {"words": ["a", "b"]})
    whole = path.read_bytes()
    for position in range(len(whole)):
        for bit in (1, 128):
            broken = bytearray(whole)
            broken[position] ^= bit
            path.write_bytes(broken)
            assert krenn.read_cache(path) in (
                None,
                {"words": ["a", "b"]},
            )  # a header's bit may not count


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', "no\n[]", "\n", "\ud800\n{}"])
def test_another_file_of_the_name_is_not_trusted(tmp_path, text):
    path = tmp_path / "kept.json.gz"
    with gzip.open(path, "wb") as file:
        file.write(text.encode(errors="surrogatepass"))
    assert krenn.read_cache(path) is None


def test_a_full_disk_is_said_once_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(krenn.Path, "replace", full)
    with pytest.warns(RankevalWarning, match="No space left.*RANKEVAL_PD_CACHE"):
        krenn.write_cache(tmp_path / "kept.json.gz", [1])
    krenn.write_cache(tmp_path / "kept.json.gz", [1])  # said already
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_half_written(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(krenn.Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        krenn.write_cache(tmp_path / "kept.json.gz", [1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_is_kept_is_as_readable_as_the_umask_has_it(tmp_path):
    before = os.umask(0o027)
    try:
        krenn.write_cache(tmp_path / "kept.json.gz", [1])
    finally:
        os.umask(before)
    assert (tmp_path / "kept.json.gz").stat().st_mode & 0o777 == 0o640


def test_the_home_folder_may_be_a_tilde(monkeypatch):
    monkeypatch.setenv("RANKEVAL_PD_CACHE", "~/kept")
    monkeypatch.setenv("RANKEVAL_PD_DATA", "~/given")
    assert cache_folder() == Path.home() / "kept"
    assert krenn.data_folder() == Path.home() / "given"


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "10"])
@pytest.mark.parametrize("argument", ["min_frequency", "samples"])
def test_counts_are_checked(argument, value):
    with pytest.raises(ValueError, match=f"{argument}=.*whole number of 1 or more"):
        datasets.load_docstring_terms(**{argument: value})


@pytest.mark.slow
def test_too_many_samples():
    with pytest.raises(ValueError, match=r"samples=10000000: the corpus has .* Give fewer"):
        datasets.load_docstring_terms(samples=10_000_000, progress=False)


def test_package_that_is_not_there(monkeypatch):
    with pytest.raises(ModuleNotFoundError, match="pip install no_such_package"):
        list(docstrings.source_files("no_such_package"))


@pytest.mark.slow
def test_measures_find_terms(terms):
    """What the corpus is for: G2 and X2 are ahead of frequency."""
    scored = terms.rankeval.with_association_measures(["G2", "X2", "f"])
    found = scored.rankeval.nbest_precision(1000).set_index("measure")["precision"]
    assert found["X2"] > found["G2"] > found["f"] > terms["gold"].mean()
    assert np.isfinite(scored["G2"]).all()
