"""What every method refuses, walked from its declared options and roles: by one clear error."""

from __future__ import annotations

import inspect
import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import datasets
from rankeval_pd.errors import UnknownNameError
from tests.tools.fuzz.__main__ import is_clear
from tests.tools.fuzz.calls import example_of, literals
from tests.walks import (
    CELLED,
    ITEMS,
    METHODS,
    OF_FRAMES,
    PAIRS,
    QUESTIONS,
    RANKINGS,
    answered,
    call,
    data_of,
    ignored,
    keywords,
    parameters,
    some,
    without,
)

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def refusal(name: str, data: Any = None, **options: Any) -> Exception:
    """Return the error of a call: one of a check of ours, in 250 characters."""
    found = answered(name, data, **options)
    assert isinstance(found, Exception), f"{name}({options}) was answered"
    assert is_clear(found), f"{name}({options}): {found!r}"
    assert 20 < len(str(found)) <= 250, f"{name}({options}): {found}"
    return found


# ------------------------------------------------------------------------------------ the options

SPELLED_OUT = {"pool": "pass 'retrieved', 'all'", "kind": "pass exactly one of n="}


def test_a_choice_that_is_not_one_of_its_values_is_refused_with_those_that_are():
    for name in some(without(METHODS, "summary"), 0):  # which is of lists and of metrics
        for option in parameters(name):
            values = [x for x in literals(option, QUESTIONS[name]) if isinstance(x, str)]
            if not values or option == "n":
                continue
            error = refusal(name, **{option: "nonsense"})
            assert isinstance(error, ValueError), name
            assert f"{option}='nonsense'" in str(error), name
            if option not in SPELLED_OUT:
                assert "is not one of" in str(error), name
                shown = [x for x in values if f"'{x}'" in str(error)]
                assert len(shown) >= min(2, len(values)), str(error)
            for value in (2.5, ["nonsense"]):
                assert option in str(refusal(name, **{option: value})), name


@pytest.mark.full
def test_every_value_of_a_choice_is_answered_or_refused_clearly():
    """What does not go with the other options is said."""
    tables = 0
    for name in METHODS:
        for option in parameters(name):
            for value in literals(option, QUESTIONS[name]):
                found = answered(name, **{option: value})
                refused = isinstance(found, Exception)
                assert not refused or is_clear(found), f"{name}({option}={value!r}): {found!r}"
                tables += not refused
    assert tables > 900


FLAGS = ("details", "progress", "simultaneous", "skewness", "wide", "youden", "combine")


def test_a_flag_that_is_not_true_or_false_is_refused():
    for name in some(METHODS, 1):
        for option in {*FLAGS} & {*parameters(name)}:
            for value in (pd.NA, "yes", 2):
                error = refusal(name, **{option: value})
                assert isinstance(error, TypeError), name
                assert f"{option}=" in str(error), name


SHARES = ("level", "alpha", "quantile", "power")


def test_a_share_outside_of_zero_and_one_is_refused():
    for name in some(without(METHODS, "bedroc", "summary"), 2):
        for option in {*SHARES} & {*parameters(name)}:
            for value in (0, -0.1, 1.5, 95, np.nan, np.inf):
                error = refusal(name, **{option: value})
                assert isinstance(error, ValueError), (name, option)
                assert f"{option}=" in str(error), (name, option)
            assert "95% is 0.95" in str(refusal(name, **{option: 95})), (name, option)
            for value in (True, "0.95", None, 1j):
                error = refusal(name, **{option: value})
                assert isinstance(error, TypeError), (name, option)
                assert f"{option}={value!r}" in str(error), (name, option)


COUNTS = ("n_resamples", "n_keys", "size")


def test_a_count_that_is_no_whole_number_of_at_least_one_is_refused():
    for name in METHODS:
        for option in {*COUNTS} & {*parameters(name)}:
            for value in (-1, 1.5, True, "3", np.nan, [2, 3]):
                error = refusal(name, **{option: value})
                assert isinstance(error, (ValueError, TypeError)), (name, option)
                assert f"{option}=" in str(error), (name, option)


def test_a_list_size_that_no_ranking_has_is_refused():
    sized = [name for name in RANKINGS if "n" in parameters(name)]
    assert len(sized) > 20
    for name in some(without(sized, "acceptance_precision"), 0):
        for value in (0, -1, 1.5, True, b"1", [3, 0], 10**30, [1, 2**70], []):
            error = refusal(name, n=value)
            assert isinstance(error, (ValueError, TypeError)), name
            assert re.search(r"\bn\b", str(error)), name
        assert re.search("n=49|candidates", str(refusal(name, n=49))), name


# ------------------------------------------------------------------------------ roles and arguments

COLUMNS = (
    "gold", "measures", "exclude", "by", "key", "label", "lower_is_better", "groups", "strata",
    "seeds", "a", "baseline",
)  # fmt: skip


def test_a_column_that_is_not_there_is_refused_by_the_name_of_its_role():
    for name in without(METHODS, CELLED, "summary", "population_calibration", *OF_FRAMES):
        for role in without_ignored(name):
            error = refusal(name, **{role: "nowhere"})
            if role in ("groups", "seeds") or name == "annotator_agreement":
                continue  # which have no meaning in some methods
            assert isinstance(error, UnknownNameError), (name, role, str(error))
            assert re.search(rf"\b{role}\b.*'nowhere'|^a: ", str(error)), (name, role)


def without_ignored(name: str) -> list[str]:
    """Return the roles of columns that a method uses."""
    return [x for x in COLUMNS if x in parameters(name) and x not in ignored(name)]


def test_an_unknown_keyword_is_refused_with_the_one_that_is_meant():
    for name in without(METHODS, CELLED, *PAIRS):
        meant = "goold" if name in RANKINGS and "gold" in parameters(name) else "detials"
        error = refusal(name, **{meant: "gold"})
        assert isinstance(error, TypeError), name
        assert f"Unknown keyword '{meant}'. Did you mean" in str(error), name


def test_data_that_are_no_table_are_refused():
    for name in METHODS:
        args, options = call(name)
        for data in ([1, 2], None, np.ones((2, 2)), pd.Series([1.0])):
            message = rf"(data|pairs|candidates|items) is of type {type(data).__name__}: pass"
            with pytest.raises(TypeError, match=message):
                getattr(rankeval_pd, name)(data, *args, **options)
        if name not in PAIRS:
            for labels in (np.ones(569), [1.0] * 569):  # as scikit-learn takes them
                with pytest.raises(TypeError, match=r"is of type (ndarray|list): .*from_scores"):
                    getattr(rankeval_pd, name)(labels, labels)


LARGE = {
    "numbers": np.linspace(0.123456, 0.9, 1000),
    "list": [0.123456] * 1000,
    "series": pd.Series(np.linspace(0.123456, 0.9, 1000)),
    "text": "x" * 10_000,
    "names": [f"name{k}" for k in range(1000)],
    "frame": pd.DataFrame(np.ones((100, 10))),
}
#: an error of another argument, or of the labels, which the data are
OTHERS = {
    *(("summary", x) for x in parameters("summary")),
    *((name, "measures") for name in METHODS),  # then a is none of them
    ("from_scores", "y_true"),
}
FUNCTIONS = {
    **{name: getattr(rankeval_pd, name) for name in rankeval_pd.__all__ if name not in METHODS},
    **{f"datasets.{x}": getattr(datasets, x) for x in datasets.__all__ if x != "true_precision"},
}


@pytest.mark.parametrize("kind", LARGE)
def test_no_argument_of_any_function_is_printed_in_an_error(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [(name, partial(answered, name), parameters(name)) for name in some(METHODS, 3)]
    for name, function in FUNCTIONS.items():
        if inspect.isfunction(function) and name != "synthetic_systems":  # whose data are its own
            given = partial(caught, function, {} if "." in name else example_of(name))
            asked.append((name, given, inspect.signature(function).parameters))
    seen = 0
    for name, ask, options in asked:
        for option, parameter in options.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            error = ask(**{option: LARGE[kind]})
            if not isinstance(error, Exception) or isinstance(error, OSError):
                continue
            seen += 1
            assert (name, option) in OTHERS or is_clear(error), f"{name}({option}): {error!r}"
            assert len(str(error)) <= 250, f"{name}({option}): {error}"
            assert "\n" not in str(error), f"{name}({option}): {error}"
            assert str(error).count("0.1234") <= 6, f"{name}({option}): {error}"
            if kind == "text":
                assert option.removesuffix("s") in str(error) or (name, option) in OTHERS, (
                    f"{name}: {error}"
                )
    assert seen > 300


def caught(function: Any, example: dict[str, Any], **given: Any) -> Any:
    """Return the answer of a function, or its error."""
    try:
        return function(**{**example, **given})
    except Exception as error:  # the errors are what is looked at
        return error


def test_an_argument_that_is_missing_is_named_and_one_too_many_is_refused():
    for name in METHODS:
        known = parameters(name)
        needed = [x for x, p in known.items() if p.default is p.empty]
        method = getattr(data_of(name).rankeval, name)
        for gone in needed:
            options = {x: value for x, value in keywords(name).items() if x != gone}
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                method(**options)
        unnamed = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in known.values())
        with pytest.raises(TypeError, match=rf"^17 must be passed by keyword: call {name}\("):
            method(*[5] * unnamed, 17)


# --------------------------------------------------------------------------------------- odd data


def floats(data: pd.DataFrame, to: Any) -> pd.DataFrame:
    """Return the frame with its columns of floats in another form."""
    return data.assign(**{x: to(c) for x, c in data.items() if c.dtype.kind == "f"})


ODD = {
    "no columns": lambda data: data[[]],
    "no rows": lambda data: data.iloc[:0],
    "one row": lambda data: data.iloc[:1],
    "two rows": lambda data: data.iloc[:2],
    "infinite": lambda data: floats(data, lambda x: x.where(x > x.iloc[0], np.inf)),
    "lists": lambda data: floats(data, lambda x: pd.Series([[1.0]] * len(x), x.index)),
    "text": lambda data: floats(data, lambda x: x.astype(str)),
    "missing": lambda data: floats(data, lambda x: x.where(x != x.iloc[0])),
}


@pytest.mark.parametrize("kind", ODD)
def test_data_with_little_or_odd_things_are_answered_or_refused_clearly(kind):
    """No error of another package, and no warning of one: warnings are errors."""
    for name in METHODS:
        data = ODD[kind](data_of(name))
        data.attrs = data_of(name).attrs
        found = answered(name, data)
        assert isinstance(found, pd.DataFrame) or is_clear(found), f"{name}: {found!r}"


@pytest.mark.parametrize("role", ["gold", "ties", "unjudged"])
def test_roles_of_rankings_are_refused_by_questions_of_systems(role):
    value = {"gold": "gold", "ties": "expected", "unjudged": "skip"}[role]
    for name in ITEMS:
        assert re.search(rf"\b{role}\b", str(refusal(name, **{role: value}))), name
