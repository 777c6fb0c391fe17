"""Numbers and claims in prose are computed or tested: see ``docs/claims.py``."""

from __future__ import annotations

import importlib.util
import inspect
import math
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.lists import repetition
from rankeval_pd.stats import bootstrap, item_gains, proportions

ROOT = Path(rankeval_pd.__file__).parent.parent
DOCS = ROOT / "docs"
SIMULATED = ROOT / "tests" / "simulations"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")


def _claims():
    spec = importlib.util.spec_from_file_location("claims", DOCS / "claims.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_every_claim_is_computed_or_tested():
    assert _claims().unfounded() == []


def test_every_known_claim_is_made_and_its_test_exists():
    claims = _claims()
    made = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in claims.pages()
        for _, text in claims.claims(path)
    }
    assert claims.known().keys() - made == set()
    for because in claims.known().values():
        if "::" in because:
            file, function = because.split("::")
            assert f"def {function}(" in _text(file), because


def test_claims_are_found(tmp_path, monkeypatch):
    claims = _claims()
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    monkeypatch.setattr(claims, "_without_sentences", lambda path, text: text)
    page = tmp_path / "page.md"
    page.write_text(
        "The coverage was 0.93. It needs SciPy 9.9.9, see `tests/none.py`. It has 71 settings, 12"
        " items and three plots, and lists all settings: `python -m tests.none`.\n\n"
        "```python\nitems(12)\n```\n"
    )
    kinds = [kind for kind, _ in claims.claims(page)]
    assert kinds == ["level", "version", "file", "count", "spelled count", "sweeping", "command"]


def test_the_bundled_pairs_are_as_counted():
    terms = rankeval_pd.datasets.load_terms()
    parts = rankeval_pd.datasets.load_terms(per_package=True)
    assert (len(terms), (terms["pass_1"] != terms["pass_2"]).sum()) == (1911, 91)
    assert parts["package"].nunique() == 5
    said = inspect.getdoc(rankeval_pd.datasets.load_terms)
    versions = re.search(r"docstrings of (.*?)\.\s+Repeated", said, re.S)[1]
    assert " ".join(versions.split()) in _text("docs/start/terms.md")


def test_the_quick_start_prints_and_draws_as_counted():
    code = _text("examples/quickstart.py")
    assert code.count("rankings.plot.") == 3
    assert code.count(".to_string(index=False)") == 5


def test_pages_name_the_lowest_python():
    lowest = tomllib.loads(_text("pyproject.toml"))["project"]["requires-python"]
    for name in ("docs/start/index.md", "docs/start/install.md"):
        named = re.findall(r"Python ([\d.]+\d) or newer", _text(name))
        assert named == [lowest.removeprefix(">=")], name


def test_the_wheel_has_the_name_of_this_version():
    assert f"rankeval_pd-{rankeval_pd.__version__}-py3-none-any.whl" in _text(
        "docs/howto/workers.md"
    )
    assert f"Version {rankeval_pd.__version__} is not released" in _text("README.md")


def test_numbers_that_follow_from_others():
    assert len(range(100, 1251)) == 1151  # the sizes of Evert's figure 3


def test_the_study_of_digits_is_as_counted():
    datasets = pytest.importorskip("sklearn.datasets")
    code = _text("docs/validation/digits_study.md")
    images = len(datasets.load_digits().target) - int(re.search(r"train_size=(\d+)", code)[1])
    systems = 3 * 3 * int(re.search(r"np.repeat\(\[200, 400, 800\], (\d+)\)", code)[1])
    assert (images, systems, math.comb(systems, 2)) == (997, 45, 990)


def test_simulations_are_as_large_as_said():
    gains = pd.read_csv(SIMULATED / "gain_threshold.csv").head(4)
    assert {*gains["items"]} == {400}
    assert {*gains["repetitions"]} == {1000}
    exact = pd.read_csv(SIMULATED / "unconditional.csv")
    assert (len(exact), exact["n"].min(), exact["n"].max()) == (29, 20, 2100)
    assert exact["size"].max() == pytest.approx(0.0499, abs=5e-5)
    script = (SIMULATED / "paired_sizes.py").read_text("utf-8")
    assert "def rows(repetitions=3_000)" in script
    assert "B, BLOCK = 999, 50" in script
    assert "ITEMS = (5, 10, 30, 100, 300)" in script


def test_limits_are_those_of_the_code():
    assert proportions._MOST_TABLES == 20_000
    assert repetition._DRAWS == 9_999
    assert item_gains._EVERY == 2**16
    most = max(n for n in range(2000) if n * (n + 1) / 2 <= bootstrap.MOST_POINTS)
    assert most == pytest.approx(1400, abs=20)
