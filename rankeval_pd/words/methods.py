"""Describe how a table was computed, from its record."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from rankeval_pd.tables import Attrs
from rankeval_pd.words.numbers import at_sizes, percent_of
from rankeval_pd.words.vocabulary import (
    DRAWN,
    TESTED,
    TESTS,
    adjustment,
    alpha_of,
    are_bounds,
    called,
    drawn_of,
    handled,
    intervals_of,
    known,
    level_of,
    listed_of,
    over_of,
    side_of,
    target_of,
    with_youden,
)


def methods_section(frame: pd.DataFrame, attrs: Attrs) -> str:
    """Describe how a table was computed: one sentence for each part of the record."""
    made = f"The table was made with `{attrs['method']}` of rankeval_pd {attrs.get('version', '')}"
    return " ".join(
        [
            f"{made}{at_sizes(frame)}.",
            *_tests(frame, attrs),
            *_intervals(frame, attrs),
            *_draws(attrs),
            *_data(attrs),
            *_rarer(frame, attrs),
        ]
    )


#: columns that show the result of a test
_SHOWN = (
    "p_value p_adjusted p_max rank_low significant better p_dispersion p_high threshold_low power"
).split()


_EXACTLY: dict[str, str] = dict.fromkeys(("hall", "wild"), ", over all patterns of signs")


def _tests(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the tests, their family and their level."""
    of_method = TESTED.get(attrs["method"])
    if "test" in attrs and known(frame, _SHOWN):
        tests = []
        for name in attrs["test"].split(", "):
            text = TESTS[name]
            if name in DRAWN and not attrs.get("n_resamples"):
                text += _EXACTLY.get(name, ", computed exactly")
            tests.append(text)
        yield f"{of_method or 'Differences were tested with'} {' or '.join(tests)}."
        level = ""
        if "alpha" in attrs or ("level" in attrs and not of_method):
            level = f", with a significance level of {percent_of(alpha_of(attrs))}"
        how = adjustment(attrs) or "unadjusted"
        yield f"The tests were {side_of(attrs)} and {how}{level}."
    if "margin" in attrs:
        how = "Non-inferiority was tested with a one-sided test"
        if side_of(attrs) == "two-sided":
            how = "Equivalence was tested with two one-sided tests"
        yield f"{how} and a margin of {attrs['margin']:g}, without adjustment."


#: columns with the lower limits of intervals
_LIMITS = "ci_low band_low difference_low threshold_low ci_failures".split()


def _intervals(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the intervals and their level."""
    noted = "interval" in attrs and "level" in attrs and not are_bounds(attrs)
    if noted and known(frame, _LIMITS):
        name = with_youden(f"{intervals_of(attrs)} intervals".lstrip(), frame, attrs)
        if "aim" in attrs:
            name = f"one-sided {name} for {attrs.get('family', '1 measure')}"
        name = f"{name} {target_of(attrs)}".rstrip()
        yield f"{name[0].upper()}{name[1:]} have a confidence level of {level_of(attrs)}."


def _draws(attrs: Attrs) -> Iterator[str]:
    """Describe the resamples."""
    if drawn := drawn_of(attrs):
        yield f"{drawn[0].upper()}{drawn[1:]}.".replace(" resamples", " resamples were drawn")


def _data(attrs: Attrs) -> Iterator[str]:
    """Describe how groups, strata, ties and missing scores were treated."""
    if (over := over_of(attrs)) and "strata" not in attrs:
        yield f"The {called(attrs)[0]} is the {over}."
    if attrs.get("combine"):
        yield f"The groups of {listed_of(attrs, 'by')} are combined."
    yield from handled(attrs)


def _rarer(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Count the clusters on which areas depend, in the class that occurs in fewer."""
    if attrs.get("quantity") == "area" and "n_groups" in frame:
        counts = [f"{x:,}" for x in sorted({frame["n_groups"].min(), frame["n_groups"].max()})]
        yield f"The class that occurs in fewer clusters occurs in {' to '.join(counts)} clusters."
