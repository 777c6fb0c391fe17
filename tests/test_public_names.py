"""Every public function is where a user, and the next developer, looks for it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

import rankeval_pd
from rankeval_pd import roles
from rankeval_pd.chance import random_tests as published_chance
from rankeval_pd.decisions import SWAPPED
from rankeval_pd.errors import choices_of
from rankeval_pd.lists import acceptance as acceptance_sets
from rankeval_pd.lists import measure_ranks as rank_criteria
from rankeval_pd.stats.items import ADJUSTMENTS
from rankeval_pd.stats.proportions import INTERVALS

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
    assert _lacking(FUNCTIONS, _text("docs", "explanation") + _text("docs", "howto")) == []


def test_the_changelog_names_every_function():
    assert _lacking(FUNCTIONS, _text("CHANGELOG.md")) == []


def test_every_public_name_has_an_example():
    named = {name: getattr(rankeval_pd, name) for name in rankeval_pd.__all__}
    for module in ("datasets", "plotting"):
        part = getattr(rankeval_pd, module)
        named |= {f"{module}.{name}": getattr(part, name) for name in part.__all__}
    lacking = [
        name
        for name, thing in named.items()
        if callable(thing) and ">>> " not in (inspect.getdoc(thing) or "")
    ]
    assert lacking == []


def test_choices_are_those_of_the_tables():
    """What type checkers know of an option is what it takes at run time."""
    wanted = {
        roles.Adjustment: ADJUSTMENTS,
        roles.FamilyAdjustment: (*ADJUSTMENTS, *SWAPPED),
        roles.EachAdjustOver: rank_criteria.OVER_EACH,
        roles.ComparedRate: acceptance_sets._TESTS,
        roles.ProportionInterval: INTERVALS,
        roles.SetTest: {*acceptance_sets._LAWS} - {"cluster"},  # which groups choose
        roles.TailMethod: published_chance.TAIL_METHODS,
    }
    for known, table in wanted.items():
        assert set(get_args(known)) == set(table), known


def test_the_choices_of_a_docstring_are_those_that_are_declared():
    lists = re.compile(r"(?m)^    (\w+(?:, \w+)*) : \{([^}]*)\}")
    seen = 0
    for name in FUNCTIONS:
        function = getattr(rankeval_pd, name)
        declared = choices_of(inspect.unwrap(function))
        for options, values in lists.findall(function.__doc__):
            for option in options.split(", "):
                if option in declared and (name, option) != ("summary", "adjust_over"):
                    texts = [f'"{x}"' if isinstance(x, str) else str(x) for x in declared[option]]
                    assert sorted(values.split(", ")) == sorted(texts), f"{name}: {option}"
                    seen += 1
    assert seen > 50
