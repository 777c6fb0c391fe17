"""Every role x every method: it changes the answer, or is refused, or is said to have no effect."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.forms.roles.roles import MEANINGS, AnyRoles


def _candidates() -> pd.DataFrame:
    """Return candidates with ties, missing scores in one measure, two labels and a key."""
    rng = np.random.default_rng(4)
    size = 48
    return pd.DataFrame(
        {
            "a": rng.integers(0, 7, size).astype(float),
            "b": rng.integers(0, 4, size).astype(float),
            "c": rng.normal(size=size),
            "gold": rng.random(size) < 0.5,
            "other": rng.random(size) < 0.4,
            "query": np.repeat(["x", "y", "z"], 16),
            "half": np.arange(size) % 2,
            "ident": rng.permutation(size),
        },
        index=[f"w{i}" for i in range(size)],
    )


FRAME = _candidates()
BASE = {"gold": "gold", "measures": ["a", "b", "c"]}
HOLED = FRAME.assign(a=FRAME["a"].where(FRAME["a"] != 6))
PARTLY = FRAME["gold"].astype(float).where(np.arange(len(FRAME)) % 5 > 1)
NAMED = (
    "mean_difference",
    "odds_ratios",
    "tie_sensitivity",
    "difference_region",
    "judged_difference",
    "plan_annotation",
    "annotation_sheet",
)
ASKED = {
    "nbest_precision": ((), {}),
    "nbest_recall": (([5, 10],), {}),
    "recall_band": (([8, 12],), {"n_resamples": 20}),
    "acceptance_precision": (({"a": 3, "b": 2, "c": 0.5},), {}),
    "local_precision": ((6,), {}),
    "precision_band": (([8, 12],), {"n_resamples": 20}),
    "compare": ((), {"n": [5, 10]}),
    "judged_precision": (([5, 10],), {}),
    "judged_recall": (([5, 10],), {}),
    "judged_average_precision": ((), {"level": 0.9, "windows": [4]}),
    "judged_difference": (("a", "b", [5, 10]), {}),
    "plan_annotation": (("a", "b", 10), {"gold": PARTLY, "alpha": 0.6}),
    "annotation_sheet": (("a", "b", 10), {"gold": PARTLY}),
    "with_judgements": ((FRAME[["gold"]][:3],), {}),
    "choose_threshold": ((), {"recall": 0.5}),
    "measure_ranks": (([5, 10],), {"n_resamples": 99}),
    "significant_ranges": ((), {"n": range(1, 16), "alpha": 0.99}),
    "difference_band": ((), {"n": [8, 12], "n_resamples": 20}),
    "mean_difference": (("a", "b", [5, 10]), {"n_resamples": 50}),
    "odds_ratios": (("a", "b", [5, 10]), {}),
    "tie_sensitivity": (("a", "b", [5, 10, 20]), {"n_keys": 8}),
    "difference_region": (("a", "b", 10), {}),
    "repetition": ((None, 12), {"by": "half"}),
    "repetition_samples": ((None, 12), {"by": "half"}),
    "random_bound": ((), {"n": [3, 9]}),
    "random_cdf": (([3, 9],), {}),
    "random_envelope": ((), {"n": [3, 9]}),
    "random_test": ((), {}),
    "crossovers": ((0.6,), {"contiguous": 1}),
    "roc": ((), {}),
    "precision_recall": ((), {}),
    "det": ((), {}),
    "gain": ((), {}),
    "lift": ((), {}),
    "random_band": ((), {"n": [3, 9]}),
    "isolines": ((), {"n": [3, 9]}),
    "area": ((), {}),
    "compare_area": ((), {}),
    "unpaired_area": ((), {"by": "half"}),
    "partial_area": ((), {"fpr": 0.4}),
    "bedroc": ((), {}),
    "enrichment": (([0.1, 0.5],), {}),
}
ROLES = {
    "gold": "other",
    "measures": ["b", "a"],
    "by": "query",
    "key": "ident",
    "lower_is_better": "a",
    "ties": "blocks",
    "missing": "drop",
    "rng": 7,
    "dim": "row",
    "label": "ident",
    "exclude": "a",
    "positive": [True, False],
    "min_grade": 2,
    "metric": "sum",
    "groups": "query",
    "strata": "query",
    "average": "micro",
    "seeds": "query",
    "higher_is_better": False,
    "unjudged": "skip",
}


def _idle(name: str) -> list[str]:
    """Return the roles that have no effect, as the docstring says."""
    return re.findall(r"\* ``(\w+)``: no effect here", getattr(rankeval_pd, name).__doc__)


def _answer(name: str, **roles: object) -> object:
    """Return the answer as text, or the error."""
    positional, keywords = ASKED[name]
    frame = HOLED if "missing" in roles else FRAME
    try:
        found = getattr(rankeval_pd, name)(frame, *positional, **{**BASE, **keywords, **roles})
    except (ValueError, TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return found.round(9).to_csv()  # sums in another order differ in their last digits


@cache
def _plain_answer(name: str) -> object:
    return _answer(name)


@pytest.mark.filterwarnings("ignore:missing=.drop. judges:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:groups. a row rests on:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:power:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision is .* at one of the n:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:(unpaired_)?area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ASKED)
def test_every_role_is_used_refused_or_said_to_have_no_effect(name, role):
    before = _answer(name, missing="raise") if role == "missing" else _plain_answer(name)
    after = _answer(name, **{role: ROLES[role]})
    assert not before.startswith(("ValueError", "TypeError", "KeyError")) or role == "missing"
    if role == "measures" and name in NAMED:  # two are named: no other is asked
        assert after == before
        assert _answer(name, measures=["a", "b", "nope"]).startswith("UnknownNameError")
        assert _answer(name, measures=["a", "c"]).startswith("UnknownNameError")
    else:
        assert (after == before) == (role in _idle(name))


def test_the_walk_holds_every_method_and_role():
    rankings = {
        name
        for name in rankeval_pd.__all__
        if "RankingRoles" in str(getattr(getattr(rankeval_pd, name), "__annotations__", {}))
    }
    assert rankings == set(ASKED)
    assert set(ROLES) == {*AnyRoles.__annotations__}
    assert set(MEANINGS) == set(ROLES)
