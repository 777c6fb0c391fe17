"""The bundled search experiment: its documents, links and runs, and the script that made it."""

from __future__ import annotations

import importlib.util
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest

from rankeval_pd import datasets

SCRIPT = Path(__file__).parents[2] / "docs" / "search_data.py"
VERSIONS = {
    "numpy": "2.4.6", "scipy": "1.17.1", "pandas": "3.1.1", "xarray": "2026.9.0",
    "matplotlib": "3.11.2",
}  # fmt: skip


def test_every_query_has_two_linked_documents_and_both_runs():
    found = datasets.load_docstring_search()
    assert list(found) == ["query", "document", "bm25", "tfidf", "grade"]
    assert found["grade"].dtype == "Int64"
    assert not found.duplicated(["query", "document"]).any()
    assert (found["query"] != found["document"]).all()
    assert found["query"].str.startswith(("xarray.", "matplotlib.")).all()
    linked = found["grade"] == 1
    assert linked.groupby(found["query"]).sum().min() >= 2
    retrieved = found[["bm25", "tfidf"]].notna()
    assert (retrieved.any(axis=1) | linked).all()
    assert retrieved.groupby(found["query"]).sum().max().max() <= 50
    assert (found[["bm25", "tfidf"]].min() > 0.0).all()


@pytest.mark.full
@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_the_bundled_experiment_is_made_by_the_script():
    """With the versions of the packages that it was made of."""
    pytest.importorskip("sklearn")
    if any(metadata.version(name) != version for name, version in VERSIONS.items()):
        pytest.skip("other versions of the packages")
    spec = importlib.util.spec_from_file_location("search_data", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    pd.testing.assert_frame_equal(script.experiment(), datasets.load_docstring_search())
