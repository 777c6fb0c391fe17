"""Krenn's data: the named file, the download and the cache give one frame; failures say why."""

import hashlib
import http.server
import threading

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import datasets
from rankeval_pd.datasets import collocations as module

rdata = pytest.importorskip("rdata")
pytest.importorskip("pooch")

SMALL = pd.DataFrame(
    {
        "PP": ["in:Jahr", "zu:Verfügung"],
        "verb": ["abbauen", "stellen"],
        "is.colloc": [False, True],
        "is.SVC": [False, True],
        "is.figur": [False, False],
        "freq": [50, 44],
        **{name: [0.5, 2.25] for name in module._COLUMNS[np.float64].split()},
    }
)


@pytest.fixture
def rda(tmp_path) -> bytes:
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
    threading.Thread(target=found.serve_forever, daemon=True).start()
    monkeypatch.setattr(module, "URL", f"http://127.0.0.1:{found.server_address[1]}/KrennPPV.rda")
    monkeypatch.setenv("RANKEVAL_PD_CACHE", str(found.cache))
    monkeypatch.delenv("RANKEVAL_PD_DATA", raising=False)
    yield found
    found.shutdown()
    found.server_close()


def test_both_ways_give_the_same_frame(server, rda, tmp_path, monkeypatch):
    server.content = rda
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(rda).hexdigest())
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


WAYS_OUT = "pip install pooch rdata.*RANKEVAL_PD_DATA to a folder that contains krenn_ppv.csv"


def nothing_is_kept(server) -> bool:
    return not server.cache.exists() or not any(server.cache.iterdir())


def test_wrong_checksum(server, rda):
    server.content = rda  # not the published file
    with pytest.raises(OSError, match=f"(?s)hash.*{WAYS_OUT}"):
        datasets.load_krenn_ppv()
    assert nothing_is_kept(server)


def test_cut_off_half_way(server, rda, monkeypatch):
    server.content, server.length = rda[: len(rda) // 2], len(rda)
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(rda).hexdigest())
    with pytest.raises(OSError, match=f"(?s){WAYS_OUT}"):
        datasets.load_krenn_ppv()
    assert nothing_is_kept(server)


def test_no_server(server, monkeypatch):
    monkeypatch.setattr(module, "URL", "http://127.0.0.1:9/KrennPPV.rda")
    with pytest.raises(OSError, match=f"(?s){WAYS_OUT}"):
        datasets.load_krenn_ppv()
    assert nothing_is_kept(server)


def test_the_real_data(krenn):
    """What the documentation says of them."""
    df = datasets.load_krenn_ppv()
    assert len(df) == 5102
    assert df["is.colloc"].sum() == 566
    pd.testing.assert_series_equal(df["log.like"], krenn["log.like"])
