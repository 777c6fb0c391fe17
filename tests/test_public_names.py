"""Every public function is where a user, and the next developer, looks for it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import rankeval_pd

ROOT = Path(rankeval_pd.__file__).parent.parent
FUNCTIONS = [name for name in rankeval_pd.__all__ if inspect.isfunction(getattr(rankeval_pd, name))]


def _text(*parts: str) -> str:
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip("an installed package has no docs")
    pages = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    return "\n".join(page.read_text("utf-8") for page in pages)


def _lacking(names: list[str], text: str) -> list[str]:
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_the_api_page_lists_every_function():
    listed = re.findall(r"(?m)^   (\w+)$", _text("docs", "api", "index.md"))
    assert sorted(set(FUNCTIONS) - set(listed)) == []


def test_every_function_stands_on_a_methods_page():
    assert _lacking(FUNCTIONS, _text("docs", "methods")) == []


def test_the_changelog_names_every_function():
    assert _lacking(FUNCTIONS, _text("CHANGELOG.md")) == []


def test_every_function_has_an_example():
    for name in FUNCTIONS:
        assert ">>> " in inspect.getdoc(getattr(rankeval_pd, name)), name
