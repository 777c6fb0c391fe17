"""Describe how a table was computed, from its record."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from rankeval_pd.tables import Attrs
from rankeval_pd.words.numbers import percent_of, sizes_text
from rankeval_pd.words.vocabulary import (
    DRAWN,
    HANDLED,
    PAIRED,
    TARGETS,
    TESTED,
    TESTS,
    adjustment,
    alpha_of,
    called,
    first_of,
    handled,
    intervals_of,
    known,
    level_of,
    listed_of,
)


def methods_section(frame: pd.DataFrame, attrs: Attrs) -> str:
    """Describe how a table was computed: one sentence for each part of the record."""
    made = f"The table was made with `{attrs['method']}` of rankeval_pd {attrs.get('version', '')}"
    if "n" in frame:
        made += f" at n = {sizes_text(frame['n'].tolist())}"
    return " ".join(
        [
            f"{made}.",
            *_tests(frame, attrs),
            *_intervals(frame, attrs),
            *_draws(attrs),
            *_data(attrs),
        ]
    )


#: columns that show the result of a test
_SHOWN = ("p_value", "p_adjusted", "p_max", "rank_low", "significant", "better", "p_dispersion")


def _tests(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the tests, their family and their level."""
    if "test" in attrs and known(frame, _SHOWN):
        exactly = ", computed exactly" * (not attrs.get("n_resamples"))
        tests = [TESTS[name] + exactly * (name in DRAWN) for name in attrs["test"].split(", ")]
        what = TESTED.get(attrs["method"], "Differences were tested with")
        yield f"{what} {' or '.join(tests)}."
        side = attrs.get("alternative", "two-sided")
        if attrs["method"] in ("random_test", "repetition"):
            side = "more"
        if side != "two-sided":
            side = f"one-sided ({side})"
        how = adjustment(attrs) or "unadjusted"
        level = f"with a significance level of {percent_of(alpha_of(attrs))}"
        yield f"The tests were {side} and {how}, {level}."
    if "margin" in attrs:
        what = {"two-sided": "Equivalence"}.get(attrs.get("alternative", ""), "Non-inferiority")
        yield f"{what} was tested with a margin of {attrs['margin']:g}, without adjustment."


def _intervals(frame: pd.DataFrame, attrs: Attrs) -> Iterator[str]:
    """Describe the intervals and their level."""
    if "interval" in attrs and "level" in attrs:
        shown = first_of(frame, ("ci_low", "difference_low"))
        gaps = attrs["method"] in PAIRED or shown == "difference_low"
        name = f"{intervals_of(attrs, gaps=gaps)} intervals".lstrip()
        if not attrs.get("average"):
            name = f"{name} {TARGETS.get(str(attrs.get('target')), '')}".rstrip()
        yield f"{name[0].upper()}{name[1:]} have a confidence level of {level_of(attrs)}."


def _draws(attrs: Attrs) -> Iterator[str]:
    """Describe the resamples."""
    if attrs.get("n_resamples"):
        drawn = f"{attrs['n_resamples']:,} resamples were drawn"
        if attrs.get("test") == "swaps":  # the number differs between pairs
            drawn = f"Up to {drawn}"
        if "seed" in attrs:
            drawn += f" (random seed {attrs['seed']})"
        yield f"{drawn}."


def _data(attrs: Attrs) -> Iterator[str]:
    """Describe how groups, strata, ties and missing scores were treated."""
    if attrs.get("average") and "strata" not in attrs:
        over = listed_of(attrs, "by") or "query"
        yield f"The {called(attrs)[0]} is the {attrs['average']} average over {over}."
    if attrs.get("combine"):
        yield f"The groups of {listed_of(attrs, 'by')} are combined."
    yield from handled(attrs, HANDLED)
