"""Every role x every method: it changes the answer, or is refused, or is said to have no effect."""

from __future__ import annotations

import inspect
import re
from functools import cache

import numpy as np
import pytest

import rankeval_pd
from rankeval_pd.options import can
from rankeval_pd.roles import MEANINGS, AnyRoles
from tests.questions import ASKED, FRAME

BASE = {"gold": "gold", "measures": ["a", "b", "c"]}
HOLED = FRAME.assign(a=FRAME["a"].where(FRAME["a"] != 6))
LABELS = FRAME["gold"].astype(float).where(np.arange(len(FRAME)) % 3 > 0)
UNJUDGED = FRAME.assign(gold=LABELS)
NAMED = (
    "mean_difference",
    "odds_ratios",
    "tie_sensitivity",
    "difference_region",
    "judged_difference",
    "plan_annotation",
    "annotation_sheet",
)
ROLES = {
    "gold": "other",
    "agreement": "any",
    "measures": ["b", "a"],
    "by": "query",
    "key": "ident",
    "lower_is_better": "a",
    "ties": "blocks",
    "missing": "drop",
    "rng": 7,
    "dim": "row",
    "details": False,
    "progress": False,
    "label": "ident",
    "exclude": "a",
    "positive": [True, False],
    "min_grade": 2,
    "metric": "sum",
    "groups": "query",
    "strata": "query",
    "average": "micro",
    "seeds": "query",
    "seed_variance": "pooled",
    "weight": "group",
    "higher_is_better": False,
    "unjudged": "skip",
    "system": "query",
    "measure": "query",
    "score": "a",
    "item": "ident",
}


def _idle(name: str) -> list[str]:
    """Return the roles that have no effect, as the docstring says."""
    return re.findall(r"\* ``(\w+)``: Ignored", getattr(rankeval_pd, name).__doc__)


def _answer(name: str, **roles: object) -> object:
    """Return the answer as text, or the error."""
    positional, keywords = ASKED[name]
    frame = HOLED if "missing" in roles else UNJUDGED if "unjudged" in roles else FRAME
    try:
        found = getattr(rankeval_pd, name)(frame, *positional, **{**BASE, **keywords, **roles})
    except (ValueError, TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return found.round(9).to_csv()  # sums in another order differ in their last digits


@cache
def _plain_answer(name: str) -> object:
    return _answer(name)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:no threshold guarantees:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:groups. there are:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold. of .* candidates only:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:power:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:(unpaired_)?area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ASKED)
def test_every_role_is_used_refused_or_said_to_have_no_effect(name, role):
    with_holes = {"missing": "raise", "unjudged": "negative"}
    before = (
        _answer(name, **{role: with_holes[role]}) if role in with_holes else _plain_answer(name)
    )
    after = _answer(name, **{role: ROLES[role]})
    if role == "groups" and name.startswith("judged_"):
        return  # with all judged nothing varies: the walk of test_groups.py asks of a part
    assert not before.startswith(("ValueError", "TypeError", "KeyError")) or role in with_holes
    if role == "measures" and name in NAMED:  # two are named: no other is asked
        assert after == before
        assert _answer(name, measures=["a", "b", "nope"]).startswith("UnknownNameError")
        assert _answer(name, measures=["a", "c"]).startswith("UnknownNameError")
    elif (
        role == "unjudged" and role not in inspect.signature(getattr(rankeval_pd, name)).parameters
    ):
        # what has no label is what it is about; a plan asks a method that has its own meaning of it
        assert after == before or name == "plan_annotation"
    else:
        short = role == "details" and not can(getattr(rankeval_pd, name)).short
        unchanged = short or role == "progress" or role in _idle(name)
        assert (after == before) == unchanged


def test_the_walk_holds_every_method_and_role():
    rankings = {
        name
        for name in rankeval_pd.__all__
        if re.search(
            "(Ranking|Judged)Roles", str(getattr(getattr(rankeval_pd, name), "__annotations__", {}))
        )
    }
    assert rankings == set(ASKED)
    assert set(ROLES) == {*AnyRoles.__annotations__}
    assert set(MEANINGS) == set(ROLES)
