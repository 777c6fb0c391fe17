"""The bundled terms, what counts as prose in a docstring, and the cache."""

import gzip
import importlib.util
import os
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.datasets import collocations as krenn
from rankeval_pd.datasets import docstrings
from rankeval_pd.datasets.collocations import cache_folder

SCRIPT = Path(__file__).parents[1] / "docs" / "terms_data.py"
needs_docs = pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")

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


def terms_data():
    """Return the script that counts the terms, as a module."""
    spec = importlib.util.spec_from_file_location("terms_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def runs(text: str) -> list[str]:
    return [" ".join(run) for sentence in terms_data().sentences(text) for run in sentence]


@needs_docs
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


@pytest.fixture(scope="module")
def terms() -> pd.DataFrame:
    return datasets.load_terms()


def test_terms(terms):
    cells = ["O11", "O12", "O21", "O22"]
    assert list(terms) == ["word1", "word2", "head", *cells, "pass_1", "pass_2", "gold"]
    assert set(terms[["pass_1", "pass_2", "gold"]].dtypes.astype(str)) == {"bool"}
    assert (terms["O11"] >= 9).all()
    assert (terms[cells] >= 0).all(axis=None)
    assert terms["O11"].is_monotonic_decreasing
    assert not terms.duplicated(["word1", "word2"]).any()
    assert (terms[cells].sum(axis=1) == 629_020).all()
    # a third pass decided only where the two differ
    agreed = terms["pass_1"] == terms["pass_2"]
    assert (terms["gold"] == terms["pass_1"])[agreed].all()
    gold = terms.set_index(["word1", "word2"])["gold"]
    assert gold["random", "variable"]
    assert not gold["following", "table"]


def test_a_packages_counts_are_parts_of_the_whole(terms):
    every = datasets.load_terms(per_package=True)
    assert next(iter(every)) == "package"
    assert (every["O11"] > 0).all()
    pair = ["word1", "word2"]
    summed = every.groupby(pair)["O11"].sum()
    pd.testing.assert_series_equal(summed, terms.set_index(pair)["O11"].sort_index())
    totals = every[["O11", "O12", "O21", "O22"]].sum(axis=1).groupby(every["package"]).unique()
    assert sum(len(total) for total in totals) == 5
    assert sum(total[0] for total in totals) == 629_020


def test_the_files_of_terms_are_small_and_read_without_the_network(terms):
    file = Path(datasets.__file__).parent / "terms.csv"
    assert file.stat().st_size < 300_000


@needs_docs
@pytest.mark.parametrize(
    ("word", "head"),
    [("variables", "variable"), ("axes", "axis"), ("matrices", "matrix"), ("series", "series"),
     ("hypotheses", "hypothesis"), ("boxes", "box"), ("fisher's", "fisher"), ("basis", "basis")],
)  # fmt: skip
def test_heads_are_singular(word, head):
    seconds = dict.fromkeys(["variable", "axis", "matrix", "hypothesis", "box"], 5)
    assert terms_data()._singular(word, Counter(seconds)) == head


@needs_docs
@pytest.mark.full
def test_the_counts_are_made_by_the_command(terms):
    """With the versions of the file."""
    versions = {"numpy": "2.4.6", "scipy": "1.17.1", "pandas": "3.1.1", "xarray": "2026.9.0"}
    versions["matplotlib"] = "3.11.2"
    if any(docstrings.metadata.version(name) != at for name, at in versions.items()):
        pytest.skip("other versions of the packages")
    file = Path(datasets.__file__).parent / "terms.csv"
    bundled = pd.read_csv(file, keep_default_na=False)
    made = terms_data().counts()
    pd.testing.assert_frame_equal(bundled[list(made)], made)


def test_measures_find_terms(terms):
    scored = terms.rankeval.with_association_measures(["G2", "X2", "f"])
    found = scored.rankeval.nbest_precision(500).set_index("measure")["precision"]
    assert found["X2"] > found["f"] > terms["gold"].mean()


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    """Without pooch, which knows the user's cache folder, and no folder named."""
    monkeypatch.delenv("RANKEVAL_PD_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert cache_folder() is None
    made = iter(["first", "second", "third"])
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "first"
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(tmp_path))
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "second"
    assert docstrings.cached_content("words", 1, lambda: next(made)) == "second"
    assert docstrings.cached_content("words", 2, lambda: next(made)) == "third"


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


def test_package_that_is_not_there(monkeypatch):
    with pytest.raises(ModuleNotFoundError, match="pip install no_such_package"):
        list(docstrings.source_files("no_such_package"))
