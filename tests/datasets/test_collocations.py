"""Krenn's data, the bundled terms and how they are counted, and the cache."""

import hashlib
import http.server
import importlib.util
import sys
import threading
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import datasets
from rankeval_pd.datasets import collocations

SCRIPT = Path(__file__).parents[2] / "docs" / "terms_data.py"
needs_docs = pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")

# ------------------------------------------------------------------------------------- Krenn's data

SMALL = pd.DataFrame(
    {
        "PP": ["in:Jahr", "zu:Verfügung"],
        "verb": ["abbauen", "stellen"],
        "is.colloc": [False, True],
        "is.SVC": [False, True],
        "is.figur": [False, False],
        "freq": [50, 44],
        **{name: [0.5, 2.25] for name in collocations._COLUMNS[np.float64].split()},
    }
)


@pytest.fixture
def rda(tmp_path) -> bytes:
    pytest.importorskip("pooch")
    rdata = pytest.importorskip("rdata")
    path = tmp_path / "made.rda"
    frame = SMALL.astype({"PP": object, "verb": object})
    rdata.write_rda(path, {"KrennPPV": frame})
    return path.read_bytes()


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A local server: what it answers is set by ``server.content`` and ``server.length``."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests += 1
            self.send_response(200)
            self.send_header("Content-Length", str(self.server.length or len(self.server.content)))
            self.end_headers()
            self.wfile.write(self.server.content)

        def log_message(self, *_):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.content, found.length, found.requests = b"", None, 0
    found.cache = tmp_path / "cache"
    threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr(
        collocations, "URL", f"http://127.0.0.1:{found.server_address[1]}/KrennPPV.rda"
    )
    monkeypatch.setattr("pooch.os_cache", lambda _: found.cache)
    monkeypatch.delenv("RANKEVAL_PD_DATA", raising=False)
    yield found
    found.shutdown()
    found.server_close()


def test_both_ways_give_the_same_frame(server, rda, tmp_path, monkeypatch):
    server.content = rda
    monkeypatch.setattr(collocations, "SHA256", hashlib.sha256(rda).hexdigest())
    downloaded = datasets.load_krenn_ppv()
    pd.testing.assert_frame_equal(datasets.load_krenn_ppv(), downloaded)
    assert server.requests == 1  # the second came from the cache
    SMALL.to_csv(tmp_path / "krenn_ppv.csv", index=False)
    monkeypatch.setenv("RANKEVAL_PD_DATA", str(tmp_path))
    read = datasets.load_krenn_ppv()
    pd.testing.assert_frame_equal(read, downloaded)
    assert list(read) == list(SMALL)
    assert read["PP"].tolist() == SMALL["PP"].tolist()
    assert read.dtypes.astype(str).tolist()[2:] == ["bool"] * 3 + ["int64"] + ["float64"] * 8


@pytest.mark.parametrize(
    ("fault", "reason"), [("wrong checksum", "hash"), ("no server", ""), ("cut off half-way", "")]
)
def test_a_download_that_fails_leads_to_the_ways_out(server, rda, monkeypatch, fault, reason):
    server.content = rda  # which is not the published file
    if fault == "cut off half-way":
        server.content, server.length = rda[: len(rda) // 2], len(rda)
        monkeypatch.setattr(collocations, "SHA256", hashlib.sha256(rda).hexdigest())
    elif fault == "no server":
        monkeypatch.setattr(collocations, "URL", "http://127.0.0.1:9/KrennPPV.rda")
    ways = "pip install pooch rdata.*RANKEVAL_PD_DATA to a folder that contains krenn_ppv.csv"
    with pytest.raises(OSError, match=f"(?s){reason}.*{ways}"):
        datasets.load_krenn_ppv()
    assert not server.cache.exists() or not any(server.cache.iterdir())


def test_the_real_data(krenn):
    """What the documentation says of them."""
    df = datasets.load_krenn_ppv()
    assert len(df) == 5102
    assert df["is.colloc"].sum() == 566
    pd.testing.assert_series_equal(df["log.like"], krenn["log.like"])


# -------------------------------------------------------------------------------------------- terms


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


# ---------------------------------------------------------------------------- how terms are counted


def terms_data():
    """Return the script that counts the terms, as a module."""
    sys.path.insert(0, str(SCRIPT.parent))  # it reads the source files as search_data.py does
    spec = importlib.util.spec_from_file_location("terms_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_docs
@pytest.mark.full
def test_the_counts_are_made_by_the_command(terms):
    """With the versions of the file."""
    versions = {"numpy": "2.4.6", "scipy": "1.17.1", "pandas": "3.1.1", "xarray": "2026.9.0"}
    versions["matplotlib"] = "3.11.2"
    if any(metadata.version(name) != at for name, at in versions.items()):
        pytest.skip("other versions of the packages")
    file = Path(datasets.__file__).parent / "terms.csv"
    bundled = pd.read_csv(file, keep_default_na=False)
    made = terms_data().counts()
    pd.testing.assert_frame_equal(bundled[list(made)], made)


# -------------------------------------------------------------------------------------- the folders


def test_the_home_folder_may_be_a_tilde(monkeypatch):
    monkeypatch.setenv("RANKEVAL_PD_DATA", "~/given")
    assert collocations.data_folder() == Path.home() / "given"
